"""Small parts that the sections share: checks of what was saved, words for numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.errors import InputError
from assay.report.document import Column, Show, Table

__all__ = ["cluster_lines", "need", "needed", "plural", "ranks", "table"]


def need(item: Any, **fields: type) -> None:
    """Refuse a part of a saved result that is not what a command writes.

    >>> need({"n": 3, "low": 1}, n=int, low=float)
    """
    for name, kind in fields.items():
        value = item.get(name) if isinstance(item, Mapping) else None
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits:
            raise InputError(
                f"the saved result is not complete: {name} is {value!r}, not a {kind.__name__};"
                " write it again with --json"
            )


def needed(result: Mapping[str, Any], key: str, **fields: type) -> list[Mapping[str, Any]]:
    """The rows under a key, checked one by one."""
    need(result, **{key: list})
    rows: list[Mapping[str, Any]] = result[key]
    for item in rows:
        need(item, **fields)
    return rows


def table(
    name: str,
    caption: str,
    columns: Mapping[str, tuple[str, Show]],
    rows: Iterable[Mapping[str, Any]],
    lines: frozenset[int] = frozenset(),
) -> Table:
    """A table from dicts: key to heading and way of showing. Columns that are all empty go."""
    listed = list(rows)
    kept = {
        key: (head, show)
        for key, (head, show) in columns.items()
        if not listed or any(row.get(key) is not None for row in listed)
    }
    return Table(
        name,
        caption,
        tuple(Column(head, show) for head, show in kept.values()),
        tuple(tuple(row.get(key) for key in kept) for row in listed),
        lines,
    )


def cluster_lines(systems: Sequence[Mapping[str, Any]]) -> frozenset[int]:
    """The rows after which a cluster ends."""
    after = itertools.pairwise(systems)
    return frozenset(k for k, (one, two) in enumerate(after) if one["cluster"] != two["cluster"])


def ranks(item: Mapping[str, Any]) -> str:
    """A rank range: ``3`` or ``3–6``."""
    low, high = item["low_rank"], item["high_rank"]
    return f"{low}" if low == high else f"{low}–{high}"


def plural(number: int, thing: str) -> str:
    """``1 system``, ``3 systems``.

    >>> plural(1, "system"), plural(1200, "pair")
    ('1 system', '1,200 pairs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
