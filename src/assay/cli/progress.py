"""Progress bars on stderr, silent when that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from assay.stats.progress import Progress


Item = TypeVar("Item")


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
