"""The progress of a campaign along the order of its sample, and the gaps it waits for.

People finish easy work first: in logs of real campaigns the quick half of the answers scores up to
12 points better than the slow half. So only a complete beginning of the order counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.estimation.study import Study
from assay.results import Note
from assay.tables.tables import as_matrix

MOST_SKIPPED = 0.5
"""A look waits if a larger share of the segments since the last look has no rating."""
MOST_NAMED = 5
"""How many awaited segments a sentence names."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A segment that the next look waits for, its place in the order, and the missing systems."""

    segment: str
    place: int
    systems: tuple[str, ...]


class Item(NamedTuple):
    """A system (``i`` is ``j``) or a pair of systems."""

    what: str
    i: int
    j: int

    @property
    def pair(self) -> bool:
        """Whether it is a pair."""
        return self.i != self.j


def items_of(names: Sequence[str], goal: str) -> list[Item]:
    """What is monitored: every system, or for a ranking every pair."""
    if goal == "score":
        return [Item(name, i, i) for i, name in enumerate(names)]
    pairs = combinations(range(len(names)), 2)
    return [Item(f"{names[i]} - {names[j]}", i, j) for i, j in pairs]


class RatedOrder(NamedTuple):
    """The order of the sample, and which outputs (systems x places) are ``rated`` or ``done``.

    Done outputs are not waited for: rated or skipped. ``reach`` is the last place with a rating.
    """

    order: np.ndarray
    rated: np.ndarray
    done: np.ndarray
    reach: int

    def gaps(self, item: Item) -> np.ndarray:
        """The places in the order that wait for an output of the system or pair."""
        return np.asarray(~(self.done[item.i] & self.done[item.j]))

    def unbroken(self, item: Item) -> int:
        """The length of the complete beginning."""
        gaps = self.gaps(item)
        return int(gaps.argmax()) if gaps.any() else len(gaps)

    def complete(self, item: Item, sizes: Sequence[int]) -> int:
        """How many of the planned looks can take place.

        A look waits for gaps, except for a few that ratings have passed by a whole look: these
        count as skipped.
        """
        gaps, before = self.gaps(item), 0
        for k, n in enumerate(sizes):
            following = sizes[k + 1] if k + 1 < len(sizes) else len(gaps)
            passed = self.reach >= following and float(gaps[before:n].mean()) <= MOST_SKIPPED
            if gaps[before:n].any() and not passed:
                return k
            before = n
        return len(sizes)


def make_rated_order(study: Study, order: np.ndarray, per_output: int, strict: bool) -> RatedOrder:
    """The progress of a campaign; if ``strict``, skipped outputs are waited for like others."""
    test_set = study.test_set
    key = ["system", *test_set.key]
    counts = study.ratings.genuine.group_by(key).agg(
        pl.col("score").is_not_null().sum().cast(pl.Float64).alias("_given"),
        pl.col("score").is_null().any().cast(pl.Float64).alias("_skipped"),
    )
    rows = test_set.frame.select(key).join(counts, on=key, how="left", maintain_order="left")
    given, skipped = (
        np.nan_to_num(as_matrix(rows[name], test_set))[:, order] for name in ("_given", "_skipped")
    )
    done = (given >= per_output) | ~test_set.present[:, order]
    if not strict:
        done |= skipped > 0
    places = np.flatnonzero((given > 0).any(axis=0))
    return RatedOrder(order, given > 0, done, int(places[-1]) + 1 if len(places) else 0)


def find_awaited(
    study: Study, progress: RatedOrder, items: Sequence[Item], size: int
) -> tuple[Awaited, ...]:
    """The gaps before a look of this size that ratings have already passed."""
    test_set = study.test_set
    open_ = sorted({system for item in items for system in (item.i, item.j)})
    end = min(size, progress.reach)
    missing = ~progress.done[open_, :end]
    places = np.flatnonzero(missing.any(axis=0))
    keys = test_set.segments.select(test_set.key)[progress.order[places]].rows()
    return tuple(
        Awaited(
            "/".join(map(str, key)), int(place) + 1,
            tuple(test_set.systems[open_[k]] for k in np.flatnonzero(missing[:, place])),
        )
        for key, place in zip(keys, places, strict=True)
    )  # fmt: skip


def awaited_notes(
    progress: RatedOrder, awaited: Sequence[Awaited], size: int | None, ends: Sequence[int]
) -> list[Note]:
    """What a look (of no size: at will) waits for; ``ends`` are the systems' used beginnings."""
    if not awaited:
        return []
    outputs = sum(len(item.systems) for item in awaited)
    shown = [f"{item.segment} ({_named(item.systems)})" for item in awaited[:MOST_NAMED]]
    if len(awaited) > MOST_NAMED:
        shown.append(f"{len(awaited) - MOST_NAMED:,} more")
    what = "1 output" if outputs == 1 else f"{outputs:,} outputs"
    waits, rest = "looking any further waits", ""
    if size is not None:
        waits = f"the look at {size:,} segments waits"
        rest = ", or add a row without a score for each that will not come"
    text = f"{waits} for {what} in gaps of the order: segments {', '.join(shown)}; have them rated"
    lines = [Note("awaited", text + rest)]
    later = sum(int(row[end:].sum()) for row, end in zip(progress.rated, ends, strict=True))
    if later:
        text = "rated outputs after such a gap are not used yet, as easy ones are finished first"
        lines.append(Note("ratings-after-gap", f"{later:,} {text}"))
    return lines


def _named(systems: Sequence[str]) -> str:
    """Two names, or how many there are.

    >>> _named(["A", "B", "C", "D"])
    '4 systems'
    """
    return ", ".join(systems) if len(systems) <= 2 else f"{len(systems)} systems"
