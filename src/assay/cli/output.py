"""What all commands share on their way out: JSON, tables, notes and progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    from assay.results import Result
    from assay.stats.progress import Progress


Item = TypeVar("Item")


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    sys.stdout.write(_text(result))


def save_json(result: Mapping[str, Any], path: Path) -> None:
    """Write the JSON object to a file, whole or not at all."""
    from assay.tables.files import atomic

    with atomic(path) as temporary:
        temporary.write_text(_text(result), encoding="utf-8")


def _text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def deliver(
    result: Result | Mapping[str, Any],
    save: Path | None,
    json: bool,
    show: Callable[[], None] | None = None,
) -> None:
    """Save a result where it shall go, and print it as JSON or show it to a person."""
    content = result if isinstance(result, Mapping) else result.to_dict()
    if save is not None:
        save_json(content, save)
    if json:
        print_json(content)
        return
    if show is not None:
        show()
    elif not isinstance(result, Mapping):
        from assay.views.section import section_of
        from assay.views.section import show as print_section

        print_section(section_of(result))
    if save is not None:
        print(f"written to {save}; assay report {save} makes a page of it")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars on stderr for work that reports its progress, one for each label."""
    if not sys.stderr.isatty():
        from assay.stats.progress import silent

        yield silent
        return
    with _bars() as bars:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield advance


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a readable table on stdout: text left, numbers right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    listed = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(columns):
        cells = [row[position] for row in listed]
        words = any(isinstance(cell, str) and not _numeric(cell) for cell in cells)
        table.add_column(name, justify="left" if words else "right", overflow="fold")
    for row in listed:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = _console(sys.stdout)
    console.print(Text(title, style="bold"))
    console.print(table)


def _numeric(cell: str) -> bool:
    return not any(sign.isalpha() for sign in cell)


def number(value: float | None, digits: int = 3) -> str:
    """A number for a person; a dash where nothing is known."""
    if value is None or value != value or abs(value) == float("inf"):
        return "–"
    return f"{value:.{digits}f}"


def note(*lines: str) -> None:
    """Say something on stderr that is not the answer itself."""
    for line in lines:
        print(line, file=sys.stderr)


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Pass items on while a progress bar grows on stderr; silent when that is no terminal."""
    with ticking(total, label) as tick:
        for item in items:
            yield item
            tick()


@contextmanager
def ticking(total: int, label: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr that grows with every call; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with _bars() as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


def _bars() -> RichProgress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    parts = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*parts, console=_console(sys.stderr), transient=True)


def _console(stream: Any) -> Console:
    from rich.console import Console

    # Piped output must not wrap at an imagined 80 columns.
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False)
