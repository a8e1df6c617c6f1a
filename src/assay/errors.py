"""Every exception Assay raises on purpose.

::

    AssayError
    ├── InputError            what the user gave cannot be used (exit code 2)
    │   ├── TableError        a table with problems, each with its line and remedy
    │   └── OptionError       an argument with a value that makes no sense
    ├── ClusterError          a cluster was lost, or its workers keep dying
    ├── ConvergenceError      an iteration did not reach its goal
    └── MissingExtraError     an optional dependency is not installed

``InputError`` is also a ``ValueError``, so that code which knows nothing of Assay can catch it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, Self, TypeAlias
from unicodedata import normalize

MAX_PROBLEMS_SHOWN = 20
"""How many problems the text of a :class:`TableError` shows; ``problems`` has them all."""


MAX_HINTED = 200
"""Longer names are not compared: they are pasted, not typed."""
MAX_COMPARED = 10
"""Of more names, only those that a faster comparison finds close."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint at the closest known word, or nothing.

    >>> did_you_mean("sytem", ["system", "seg"])
    " (did you mean 'system'?)"
    """
    from difflib import get_close_matches

    if len(word) > MAX_HINTED:
        return ""
    lowered = {name.lower(): name for name in known if len(name) <= MAX_HINTED}
    likely = list(lowered)
    if len(likely) > MAX_COMPARED:
        from rapidfuzz import fuzz, process

        near = process.extract(word.lower(), likely, scorer=fuzz.ratio, limit=MAX_COMPARED)
        likely = [name for name, *_ in near]
    close = get_close_matches(word.lower(), likely, n=1, cutoff=0.6)
    if (
        close
        and normalize("NFC", close[0]) == normalize("NFC", word.lower())
        and close[0] != word.lower()
    ):
        return " (it is there in other characters that look the same; write both in Unicode's NFC)"
    return f" (did you mean '{lowered[close[0]]}'?)" if close else ""


Naming: TypeAlias = Callable[[str], str | None]
"""The name of an argument for the reader of a message; None if it has no other."""


def rename_arguments(text: str, naming: Naming) -> str:
    """A message whose arguments, written in backticks, have the names that its reader knows.

    >>> rename_arguments("map it with `columns` (score=YOURS)", {"columns": "the mapping"}.get)
    'map it with the mapping (score=YOURS)'
    """
    return re.sub(r"`(\w+)`", lambda match: naming(match[1]) or match[0], text)


class AssayError(Exception):
    """The root of the tree; whole wherever it was raised, on another process or machine too."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    kind: type[AssayError], args: tuple[object, ...], state: dict[str, object]
) -> AssayError:
    """An unpickled error: its text is made already, so its own ``__init__`` is not called."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class InputError(AssayError, ValueError):
    """What the user gave cannot be used; the message says where, what and the remedy.

    Messages put the names of arguments in backticks; the command line shows the options instead.
    """

    def renamed(self, naming: Naming) -> Self:
        """Return the error with its arguments under the names that the reader knows."""
        other = copy(self)
        other.args = (rename_arguments(str(self), naming),)
        return other


class OptionError(InputError):
    """An argument has a value that makes no sense.

    >>> raise OptionError("budget", 900, "exceeds the 710 segments", "give at most 710")
    Traceback (most recent call last):
    ...
    assay.errors.OptionError: budget (900) exceeds the 710 segments; give at most 710
    """

    def __init__(self, argument: str, value: object, fault: str, remedy: str) -> None:
        self.argument = argument
        self.value = value
        self._rest = (fault, remedy)
        super().__init__(f"{argument} ({value}) {fault}; {remedy}")

    def renamed(self, naming: Naming) -> Self:
        """Return the error with its arguments under the names that the reader knows."""
        fault, remedy = (rename_arguments(part, naming) for part in self._rest)
        return type(self)(naming(self.argument) or self.argument, self.value, fault, remedy)


def similar_file(path: Path) -> str:
    """What to do about a file that is not there."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f"; the folder '{path.parent}' does not exist either"
    close = get_close_matches(path.name, [item.name for item in path.parent.iterdir()], n=1)
    return f"; did you mean '{close[0]}'?" if close else "; check the path"


def need_known(
    argument: str, name: str, known: Sequence[str], fault: str = "is not known", most: int = 50
) -> None:
    """Refuse a name that is not among those known, with the closest and the first of them.

    >>> need_known("kind", "rating", ["ratings", "edits"])
    Traceback (most recent call last):
    ...
    assay.errors.OptionError: kind (rating) is not known (did you mean 'ratings'?); choose from ...
    """
    if name not in known:
        more = f" and {len(known) - most} more" if len(known) > most else ""
        remedy = f"choose from {', '.join(known[:most])}{more}" if known else "there are none"
        raise OptionError(argument, name, fault + did_you_mean(str(name), known), remedy)


MOST_REPEATS = 1_000_000
"""Draws, resamples and the like: more only show digits that no campaign needs."""
USABLE_LEVELS = 0.01, 0.999999
"""Intervals of other levels have no width, or are wider than everything."""
MOST_THINGS = 1_000_000_000
"""Segments, systems, ratings: beyond any test set."""


def need_count(
    argument: str, value: object, what: str, least: int = 1, most: int = MOST_REPEATS
) -> None:
    """Refuse what is not a number of things, such as ``samples``, or far too many of them.

    >>> need_count("draws", 1_000_000_000, "samples")
    Traceback (most recent call last):
    ...
    assay.errors.OptionError: draws (1000000000) is too many; give at most 1,000,000
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise OptionError(argument, value, f"is not a number of {what}", f"give {least} or more")
    _need_at_most(argument, value, most)


def need_whole(argument: str, value: int, least: int, most: int = MOST_THINGS) -> None:
    """Refuse what is not a whole number from ``least`` on, or beyond what there can be."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        fault = f"is not a whole number from {least} on"
        raise OptionError(argument, value, fault, f"give at least {least}")
    _need_at_most(argument, value, most)


def _need_at_most(argument: str, value: int, most: int) -> None:
    if value > most:
        raise OptionError(argument, value, "is too many", f"give at most {most:,}")


LARGEST, SMALLEST = 1e50, 1e-75
"""Fourth powers of what is larger or smaller, but not 0, are no numbers any more."""


def need_positive(argument: str, value: float | None, example: str) -> None:
    """Refuse a number that is not positive, or too extreme; accept None."""
    if value is None:
        return
    if not (math.isfinite(value) and value > 0):
        raise OptionError(argument, value, "is not a positive number", f"give one like {example}")
    if not SMALLEST <= value <= LARGEST:
        fault = f"is not between {SMALLEST:g} and {LARGEST:g}"
        raise OptionError(argument, value, fault, f"give a number like {example}")


def need_share(argument: str, value: float, example: str, *, above: float = 0.0) -> None:
    """Refuse what does not lie between ``above`` and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < 1:
        fault = f"is not between {above:.3g} and 1"
        raise OptionError(argument, value, fault, f"give a number like {example}")


def need_level(level: float) -> None:
    """Refuse what is not a usable confidence level."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError("level", level, "is not a confidence level", "give a number like 0.95")
    low, high = USABLE_LEVELS
    if not low <= level <= high:
        remedy = f"give one from {low:g} to {high:.6g}"
        raise OptionError("level", level, "is too extreme a confidence level", remedy)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a table: its place, its value, and what to do.

    ``line`` is the line of a text file, the row of a sheet (the header is row 1) or the row of a
    frame or Parquet file (the first is 1); None where the problem is not in one line.
    """

    message: str
    line: int | None = None
    column: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        place = [f"line {self.line}"] if self.line is not None else []
        place += [f"column {self.column}"] if self.column is not None else []
        return f"{', '.join(place)}: {self.message}" if place else self.message


class TableError(InputError):
    """A table cannot be used; ``problems`` lists everything that is wrong with it."""

    def __init__(self, source: str, problems: Sequence[Problem], *, rows: int = 0) -> None:
        self.source = source
        self.problems = tuple(problems)
        self.rows = rows
        count = len(self.problems)
        lines = [f"{source}: {count} problem{'s' if count != 1 else ''}"]
        lines += [f"  {problem}" for problem in self.problems[:MAX_PROBLEMS_SHOWN]]
        if count > MAX_PROBLEMS_SHOWN:
            lines.append(f"  ... and {count - MAX_PROBLEMS_SHOWN} more")
        super().__init__("\n".join(lines))


class ClusterError(AssayError):
    """A cluster did not finish its work, for a reason that does not lie in the work."""


class ConvergenceError(AssayError):
    """An iteration did not reach its goal, so there is no honest number to return."""


class MissingExtraError(AssayError):
    """An optional dependency is not installed; the message has the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an extra: pip install 'mt-assay[{extra}]'")
