"""Progress of long work: the library reports it, the command line draws a bar.

A sweep is a generator of records, which the caller can count. Any other function that may take
more than two seconds calls its argument ``progress``.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A function that is told how much of the work is done."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of the work called ``label``."""


def silent(label: str, done: int, total: int) -> None:
    """Report nothing."""
