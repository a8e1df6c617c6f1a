"""Which systems to show next, going by the judgments so far.

Two goals, with what may be claimed of each (``benchmarks/best_system.py``):

- ``best``: find the best system. Thompson sampling: a system is shown as often as it may still be
  the best. Far fewer judgments than random sets; the rest is not ranked, weak systems are hardly
  shown.
- ``order``: put all systems in the right order. Those are shown together whose order is still open.
  A little fewer judgments for the same share of pairs in the wrong order.

Ordinary tests of judgments chosen so find too many differences: which pairs were compared depends
on how earlier ones came out. The verdicts of :func:`assay.monitor_judgments` hold all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from assay.errors import InputError, need_count, need_known
from assay.ranking.counts import (
    all_systems,
    check_per_set,
    effective_wins,
    normal_equations,
    screen_size,
    set_effect,
)
from assay.ranking.counts import count as count_judgments
from assay.results import Result, signature
from assay.stats.random import Rng, seeded
from assay.tables.judgments import Judgments

PRIOR_SD = 0.5
"""Standard deviation of strengths before any judgment; a win every time is a difference of 2."""


@dataclass(frozen=True, slots=True)
class SystemChance:
    """How likely a system is to be the ``best``."""

    system: str
    best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSets(Result, kind="next-sets"):
    """Sets of systems to show next, the best system so far, and how likely each is to be the best.

    The chances are those of a normal posterior of the pooled strengths.
    """

    sets: tuple[tuple[str, ...], ...]
    goal: Literal["best", "order"]
    best: str
    systems: tuple[SystemChance, ...]
    judgments: int
    per_set: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How the sets were chosen."""
        return signature(
            "next-sets", self.goal, n=len(self.systems), J=self.judgments, k=self.per_set,
            seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per system of each set."""
        rows = [(k + 1, name) for k, names in enumerate(self.sets) for name in names]
        return pl.DataFrame(rows, schema={"set": pl.Int64, "system": pl.String}, orient="row")


def next_sets(
    judgments: Judgments | None,
    *,
    goal: Literal["best", "order"] = "best",
    systems: Sequence[str] | None = None,
    per_set: int | None = None,
    count: int = 1,
    rng: Rng = None,
) -> NextSets:
    """Choose the next sets (``per_set=2``: pairs) to find the best system, or the order, soon.

    judgments: those so far; None before the first. systems: all that compete, where some have not
    been judged yet. per_set: systems on a screen; as many as the judgments so far show at once, if
    nothing is said, and five at first. Ties count as half a win each. See the module for what may
    and must not be claimed.

    >>> from assay.worlds.judgments import simulate_judgments
    >>> found = next_sets(simulate_judgments([0, 0, 0, 9, 10], 3000, rng=1), per_set=2, rng=1)
    >>> sorted(found.sets[0])
    ['S4', 'S5']
    """
    need_known("goal", goal, tuple(CHOICES))
    names, wins = _so_far(judgments, systems)
    shown = None if judgments is None else screen_size(judgments)
    size = check_per_set(shown if per_set is None else per_set, len(names))
    need_count("count", count, "sets")
    generator, seed = seeded(rng)
    mean, root = posterior(wins, shown or size)
    chosen = CHOICES[goal](mean, root, count, size, generator)
    drawn = mean + generator.standard_normal((4000, len(names))) @ root.T
    chances = np.bincount(drawn.argmax(axis=1), minlength=len(names)) / len(drawn)
    return NextSets(
        sets=tuple(tuple(names[i] for i in row) for row in chosen),
        goal=goal, best=names[int(mean.argmax())],
        systems=tuple(map(SystemChance, names, chances.tolist())),
        judgments=0 if judgments is None else len(judgments), per_set=size, seed=seed,
    )  # fmt: skip


def _so_far(
    judgments: Judgments | None, systems: Sequence[str] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """The systems that compete, and who won against whom how often."""
    if judgments is None:
        if systems is None:
            raise InputError("nothing is judged yet; give the systems that compete")
        names = all_systems((), systems)
        return names, np.zeros((len(names), len(names)))
    counts = count_judgments(judgments)
    names = all_systems(counts.systems, systems)
    place = np.array([names.index(name) for name in counts.systems])
    wins = np.zeros((len(names), len(names)))
    wins[np.ix_(place, place)] = effective_wins(counts.wins, counts.ties, "half")
    return names, wins


def posterior(wins: np.ndarray, per_set: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Mean (..., n) and a root of the covariance (..., n, n) of the pooled strengths.

    Least squares of y = +-1 with a normal prior. Pairs of one set of k are correlated: their
    differences have (k + 1) / 3 times the variance of independent ones.
    """
    noise = set_effect(per_set)
    laplacian, net = normal_equations(wins)
    cover = np.linalg.inv(laplacian / noise + np.eye(wins.shape[-1]) / PRIOR_SD**2)
    return (cover @ (net / noise)[..., None])[..., 0], np.linalg.cholesky(cover)


def thompson_sets(
    mean: np.ndarray, root: np.ndarray, count: int, per_set: int, rng: np.random.Generator
) -> np.ndarray:
    """``count`` sets for each posterior (..., n): (..., count, per_set).

    For every place of a set the strengths are drawn anew from the posterior, and the strongest
    system that is not yet in the set takes it.
    """
    lead, n = mean.shape[:-1], mean.shape[-1]
    free = np.ones((*lead, count, n), dtype=bool)
    chosen = np.empty((*lead, count, per_set), dtype=np.intp)
    for k in range(per_set):
        drawn = _draw(mean, root, count, rng)
        chosen[..., k] = np.where(free, drawn, -np.inf).argmax(axis=-1)
        np.put_along_axis(free, chosen[..., k, None], False, axis=-1)
    return chosen


def order_sets(
    mean: np.ndarray, root: np.ndarray, count: int, per_set: int, rng: np.random.Generator
) -> np.ndarray:
    """``count`` sets of systems whose order is open: (..., count, per_set).

    The first is chosen evenly, so that every system keeps being shown; the others are those that
    come nearest to it when strengths are drawn from the posterior.
    """
    lead, n = mean.shape[:-1], mean.shape[-1]
    drawn = _draw(mean, root, count, rng)
    first = rng.integers(n, size=(*lead, count, 1))
    distance = np.abs(drawn - np.take_along_axis(drawn, first, axis=-1))
    np.put_along_axis(distance, first, -1.0, axis=-1)
    return np.asarray(np.argsort(distance, axis=-1, kind="stable")[..., :per_set])


CHOICES = {"best": thompson_sets, "order": order_sets}
"""Goal to how the sets are chosen."""


def _draw(mean: np.ndarray, root: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Strengths from the posterior, ``count`` times."""
    z = rng.standard_normal((*mean.shape[:-1], count, mean.shape[-1]))
    return np.asarray(mean[..., None, :] + z @ np.swapaxes(root, -1, -2))
