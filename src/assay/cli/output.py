"""What all commands share on their way out: JSON, tables, notes and progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
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
    result: Result,
    save: Path | None,
    json: bool,
    show: Callable[[], None] | None = None,
) -> None:
    """Save a result where it shall go, and print it as JSON or show it to a person."""
    if save is not None:
        save_json(result.to_dict(), save)
    if json:
        print_json(result.to_dict())
        return
    if show is not None:
        show()
    else:
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

    from assay.views.section import console

    parts = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*parts, console=console(sys.stderr), transient=True)
