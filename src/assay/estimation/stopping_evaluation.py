"""Stopping rules tried on a fully rated test set: how much they rate, how often they are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from assay.designs.base import find_design
from assay.designs.population import Population
from assay.designs.units import DesignUnits
from assay.engine.run import Workers, run
from assay.errors import InputError, OptionError
from assay.estimation.features import Predictors, make_features
from assay.estimation.kernels import adjusted_means
from assay.estimation.stopping import IN_A_ROW, look_sizes
from assay.stats.betting import betting_sequence
from assay.stats.bounds import hoeffding_bound
from assay.stats.random import Rng
from assay.stats.selection import interleaved_order
from assay.tables.ratings import Ratings
from assay.tables.test_set import TestSet

STOPPING_METHODS = ("interleaved", "interleaved, first look", "random + t", "hoeffding", "betting")


@dataclass(frozen=True, slots=True)
class StoppingRecord:
    """One method for one system: mean share of N rated at the stop, and coverage there."""

    system: str
    method: str
    share: float
    coverage: float
    draws: int


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    system: str
    method: str
    x: np.ndarray
    population: Population
    predictors: Predictors | None
    target: float
    level: float
    draws: int
    limits: tuple[float, float] | None


def evaluate_stopping(
    test_set: TestSet,
    ratings: Ratings,
    *,
    target: float,
    methods: Sequence[str] = ("interleaved", "random + t"),
    draws: int = 100,
    level: float = 0.95,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[StoppingRecord]:
    """Rate a fully rated test set again and again until the half-width is at most ``target``.

    ``interleaved`` is the rule of :func:`assay.monitor`; ``interleaved, first look`` stops at the
    first look that meets the target and states its own interval; ``random + t`` is the mean in
    random order; ``hoeffding`` and ``betting`` need ratings with a range.

    >>> import assay
    >>> world = assay.simulate(documents=40, systems=2, rng=1)
    >>> records = list(evaluate_stopping(world.test_set, world.rate(), target=0.8, draws=5, rng=1))
    >>> len(records), 0 < records[0].share <= 1
    (4, True)
    """
    for method in methods:
        if method not in STOPPING_METHODS:
            raise OptionError(
                "methods", method, "is not known", f"choose from {', '.join(STOPPING_METHODS)}"
            )
        if method in ("hoeffding", "betting") and ratings.range is None:
            raise InputError(f"{method} needs ratings with a stated range")
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of runs", "give 1 or more")
    if not 0 < target < float("inf"):
        raise OptionError("target", target, "is no half-width", "give a number above 0")
    scores = ratings.placed_in(test_set).matrix(test_set)
    if np.isnan(scores).any():
        raise InputError("stopping can be tried only where every output is rated")
    features = make_features(test_set)
    population, everywhere = Population(test_set), np.ones(scores.shape[1], dtype=bool)
    cells = [
        _Cell(
            name, method, scores[k], population,
            None if features is None else features.between(k, k, everywhere),
            target, level, draws, ratings.range,
        )
        for method in methods
        for k, name in enumerate(test_set.systems)
    ]  # fmt: skip
    return run(_try, cells, rng=rng, workers=workers)


def _try(cell: _Cell, rng: np.random.Generator) -> StoppingRecord:
    """All runs look at the same times; whoever has stopped is left out of the next look."""
    size, truth = len(cell.x), float(cell.x.mean())
    mixed = cell.method.startswith("interleaved")
    row = IN_A_ROW if cell.method == "interleaved" else 1
    order = np.stack([
        interleaved_order(cell.population.layout.document, rng) if mixed else rng.permutation(size)
        for _ in range(cell.draws)
    ])  # fmt: skip
    ends = _sequences(cell, order) if cell.method == "betting" else None
    share, right = np.ones(cell.draws), np.ones(cell.draws, dtype=bool)
    streak, going = np.zeros(cell.draws, dtype=np.int64), np.arange(cell.draws)
    for n in look_sizes(size, size):
        if ends is not None:
            low, high = ends[0][going, n - 1], ends[1][going, n - 1]
        else:
            low, high = _limits(cell, order[going, :n], mixed)
        streak[going] = np.where((high - low) / 2 <= cell.target, streak[going] + 1, 0)
        done = (streak[going] >= row) | (n == size)
        if row > 1:  # the fixed-width interval that monitor states
            middle = (low + high) / 2
            low, high = (
                np.minimum(low, middle - cell.target),
                np.maximum(high, middle + cell.target),
            )
        share[going[done]] = n / size
        right[going[done]] = ((low <= truth) & (truth <= high))[done]
        going = going[~done]
        if not len(going):
            break
    return StoppingRecord(
        cell.system, cell.method, float(share.mean()), float(right.mean()), cell.draws
    )


def _sequences(cell: _Cell, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the any-time interval: runs x numbers of ratings."""
    assert cell.limits is not None
    found = [betting_sequence(cell.x[one], len(cell.x), *cell.limits, cell.level) for one in order]
    return np.stack([low for low, _ in found]), np.stack([high for _, high in found])


def _limits(cell: _Cell, where: np.ndarray, mixed: bool) -> tuple[np.ndarray, np.ndarray]:
    """The ends of every run's interval from the ratings so far."""
    n, size = where.shape[1], len(cell.x)
    if cell.method == "hoeffding" and cell.limits is not None:
        width = cell.limits[1] - cell.limits[0]
        half, center = hoeffding_bound(n, size, width, cell.level), cell.x[where].mean(axis=1)
        return center - half, center + half
    drawn = np.zeros((len(where), size), dtype=bool)
    np.put_along_axis(drawn, where, True, axis=1)
    design = find_design("interleaved" if mixed else "segments")
    units = DesignUnits.of_plan(design, design.plan(cell.population, n), cell.population)
    method = "auto" if mixed else "mean"
    found = adjusted_means(cell.x, drawn, units, method, cell.predictors)
    half_width = special.stdtrit(found.degrees, 0.5 + cell.level / 2) * found.stderr
    half_width = np.nan_to_num(half_width, nan=np.inf)
    return found.center - half_width, found.center + half_width
