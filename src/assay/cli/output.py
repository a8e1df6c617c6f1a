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

__all__ = [
    "deliver",
    "note",
    "number",
    "print_json",
    "print_table",
    "save_json",
    "ticking",
    "track",
]

Item = TypeVar("Item")


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    sys.stdout.write(_text(result))


def save_json(result: Mapping[str, Any], path: Path) -> None:
    """Write the JSON object to a file, whole or not at all."""
    from assay.tables.raw import atomic

    with atomic(path) as temporary:
        temporary.write_text(_text(result), encoding="utf-8")


def _text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def deliver(
    content: Mapping[str, Any], output: Path | None, json: bool, show: Callable[[], None]
) -> None:
    """Save a result where it shall go, and print it as JSON or show it to a person."""
    if output is not None:
        save_json(content, output)
    if json:
        print_json(content)
        return
    show()
    if output is not None:
        print(f"written to {output}; assay report {output} makes a page of it")


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
    with Progress(*parts, console=_console(sys.stderr), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


def _console(stream: Any) -> Console:
    from rich.console import Console

    # Piped output must not wrap at an imagined 80 columns.
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False)
