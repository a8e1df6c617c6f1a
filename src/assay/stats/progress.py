"""How long work tells how far it is: the library reports, the command line draws a bar.

A sweep is a generator of records, which whoever reads it can count. Any other function that may
take more than two seconds has an argument ``progress`` and calls it as it goes.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told, under a label, how much of the work is done."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of the work called ``label``."""


def silent(label: str, done: int, total: int) -> None:
    """Nobody watches."""
