"""The problems of a file, listed up to a limit and raised together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.errors import Problem, TableError
from assay.tables.raw import LISTED


def stop(source: str, problems: Iterable[Problem], *, rows: int = 0) -> None:
    """Raise if there are problems; of one column the first 1000 are listed, the rest counted."""
    listed: list[Problem] = []
    found: Counter[str | None] = Counter()
    for problem in problems:
        found[problem.column] += 1
        if found[problem.column] <= LISTED:
            listed.append(problem)
    listed += [
        Problem(f"{count - LISTED} more rows have such problems", None, column)
        for column, count in found.items()
        if count > LISTED
    ]
    if listed:
        raise TableError(source, listed, rows=rows)
