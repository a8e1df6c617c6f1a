"""How much a file may hold; no honest file comes near these limits.

A file of a few kilobytes can unpack to gigabytes, or claim a billion rows. Every reader asks here
while it reads, and what is too much is refused with a sentence that names the limit and how to
raise it: :func:`limits` in Python, ``ASSAY_LIMITS`` in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from assay.errors import OptionError, need_known

VARIABLE = "ASSAY_LIMITS"


@dataclass(frozen=True, slots=True)
class FileLimits:
    """What a file may hold; everything is counted while it is read."""

    bytes: int = 4_000_000_000
    """Bytes of a file, unpacked; a Parquet file that is searched where it lies may have more."""
    ratio: int = 100
    """Bytes in memory for each byte of the file, from 64 MB on."""
    rows: int = 100_000_000
    columns: int = 5_000
    cells: int = 1_000_000_000
    """Rows times columns."""
    cell: int = 10_000_000
    """Bytes of one cell."""
    name: int = 5_000
    """Bytes of a name: of a system, segment, document, rater or column."""
    metrics: int = 200
    """Columns of the scores that are used as metrics."""
    nesting: int = 100
    """Levels of nested JSON values."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise OptionError(field.name, value, "is not a limit", "give a number from 1 on")


def parse_limits(text: str, argument: str = "limits") -> FileLimits:
    """The limits in a text such as ``rows=1e9,columns=20000``; all others are the usual ones.

    >>> parse_limits("rows=1e9, columns=20000").columns
    20000
    """
    changes = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        need_known(argument, name, [field.name for field in fields(FileLimits)], "is not a limit")
        if name in changes:
            raise OptionError(argument, part, "names it again", "name each limit once")
        try:
            changes[name] = int(float(value))
        except (ValueError, OverflowError):
            remedy = "write NAME=NUMBER, like rows=1e9"
            raise OptionError(argument, part, "is not a number", remedy) from None
    return replace(FileLimits(), **changes)


_TEXT = os.environ.get(VARIABLE)
LIMITS: ContextVar[FileLimits] = ContextVar(
    "limits", default=parse_limits(_TEXT, VARIABLE) if _TEXT else FileLimits()
)
"""The limits of what is being read."""


@contextmanager
def limits(wanted: FileLimits) -> Iterator[FileLimits]:
    """Use other limits for what is read inside the block.

    >>> import assay
    >>> with assay.limits(assay.FileLimits(columns=6_000)) as now:
    ...     now.columns, now.rows
    (6000, 100000000)
    """
    token = LIMITS.set(wanted)
    try:
        yield wanted
    finally:
        LIMITS.reset(token)
