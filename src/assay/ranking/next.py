"""Choose the systems to show next from the judgments so far.

There are two goals (measured by ``benchmarks/best_system.py``):

- ``best``: find the best system by Thompson sampling, which shows a system as often as it may still
  be the best. This takes far fewer judgments than random sets, but weak systems are hardly shown
  and not ranked.
- ``order``: order all systems by showing those together whose order is uncertain. This takes
  slightly fewer judgments for the same share of pairs in the wrong order.

Ordinary tests of such judgments find too many differences, because earlier results decide which
pairs are compared. The verdicts of :func:`assay.monitor_judgments` remain valid.
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
from assay.tables.answers import Judgments

PRIOR_SD = 0.5
"""Prior standard deviation of strengths, on a scale where certain wins are a difference of 2."""


@dataclass(frozen=True, slots=True)
class SystemChance:
    """The probability that a system is the ``best``."""

    system: str
    best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSets(Result, kind="next-sets"):
    """Sets of systems to show next, the best system so far, and each one's chance to be the best.

    The chances come from a normal posterior of the pooled strengths.
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
        """The settings behind the choice, in one line."""
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

    judgments: those so far; None before the first. systems: all competing systems, if some have not
    been judged yet. per_set: systems on a screen; by default as many as in the judgments so far, at
    first five. Ties count as half a win each. The module says which tests remain valid.

    >>> from assay import simulate_judgments
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
    """The competing systems and their matrix of wins."""
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
    """The posterior of the pooled strengths: mean (..., n) and root of the covariance (..., n, n).

    Least squares of y = +-1 with a normal prior, and with :func:`~assay.ranking.counts.set_effect`
    times the variance of independent judgments.
    """
    noise = set_effect(per_set)
    laplacian, net = normal_equations(wins)
    cover = np.linalg.inv(laplacian / noise + np.eye(wins.shape[-1]) / PRIOR_SD**2)
    return (cover @ (net / noise)[..., None])[..., 0], np.linalg.cholesky(cover)


def thompson_sets(
    mean: np.ndarray, root: np.ndarray, count: int, per_set: int, rng: np.random.Generator
) -> np.ndarray:
    """``count`` sets for each posterior (..., n): (..., count, per_set).

    Each place of a set goes to the strongest system not yet in it, in a new draw of strengths.
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
    """``count`` sets of systems whose order is uncertain: (..., count, per_set).

    The first system is drawn uniformly, so that every system keeps being shown; the others are the
    nearest to it in a draw of strengths from the posterior.
    """
    lead, n = mean.shape[:-1], mean.shape[-1]
    drawn = _draw(mean, root, count, rng)
    first = rng.integers(n, size=(*lead, count, 1))
    distance = np.abs(drawn - np.take_along_axis(drawn, first, axis=-1))
    np.put_along_axis(distance, first, -1.0, axis=-1)
    return np.asarray(np.argsort(distance, axis=-1, kind="stable")[..., :per_set])


CHOICES = {"best": thompson_sets, "order": order_sets}
"""The function that chooses the sets, by goal."""


def _draw(mean: np.ndarray, root: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw strengths from the posterior ``count`` times."""
    z = rng.standard_normal((*mean.shape[:-1], count, mean.shape[-1]))
    return np.asarray(mean[..., None, :] + z @ np.swapaxes(root, -1, -2))
