"""Stopping rules tried on a fully rated test set: how much they rate, how often they are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.engine import run
from assay.errors import InputError, OptionError
from assay.estimation.adjust import Drawn, adjusted_mean
from assay.estimation.features import make_features
from assay.estimation.stopping import IN_A_ROW, look_sizes
from assay.stats.betting import betting_sequence
from assay.stats.bounds import hoeffding_bound
from assay.stats.intervals import t_interval
from assay.stats.random import Rng
from assay.stats.selection import interleaved_order
from assay.tables import Ratings, TestSet

__all__ = ["STOPPING_METHODS", "StoppingRecord", "evaluate_stopping"]

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
    features: np.ndarray | None
    metrics: int
    document: np.ndarray
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
    workers: int = 1,
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
    lengths = test_set.documents["segments"].to_numpy()
    document = np.repeat(np.arange(len(lengths)), lengths)
    cells = [
        _Cell(
            name, method, scores[k], None if features is None else features.values[k],
            0 if features is None else features.metrics, document, target, level, draws,
            ratings.range,
        )
        for method in methods
        for k, name in enumerate(test_set.systems)
    ]  # fmt: skip
    return run(_try, cells, rng=rng, workers=workers)


def _try(cell: _Cell, rng: np.random.Generator) -> StoppingRecord:
    stops = np.array([_stop(cell, rng) for _ in range(cell.draws)])
    share, coverage = stops.mean(axis=0)
    return StoppingRecord(cell.system, cell.method, float(share), float(coverage), cell.draws)


def _stop(cell: _Cell, rng: np.random.Generator) -> tuple[float, bool]:
    """The share rated in one run, and whether the interval stated there holds the truth."""
    x, truth = cell.x, float(cell.x.mean())
    size, streak = len(x), 0
    mixed = cell.method.startswith("interleaved")
    row = IN_A_ROW if cell.method == "interleaved" else 1
    order = interleaved_order(cell.document, rng) if mixed else rng.permutation(size)
    ends = None
    if cell.method == "betting" and cell.limits is not None:
        ends = betting_sequence(x[order], size, *cell.limits, cell.level)
    for n in look_sizes(size, size):
        if ends is not None:
            low, high = ends[0][n - 1], ends[1][n - 1]
        else:
            center, half = _interval(cell, order[:n], mixed)
            low, high = center - half, center + half
        streak = streak + 1 if (high - low) / 2 <= cell.target else 0
        if streak >= row:
            if row > 1:  # the fixed-width interval that monitor states
                middle = (low + high) / 2
                low, high = min(low, middle - cell.target), max(high, middle + cell.target)
            return n / size, bool(low <= truth <= high)
    return 1.0, True


def _interval(cell: _Cell, where: np.ndarray, mixed: bool) -> tuple[float, float]:
    """Center and half-width from the ratings so far."""
    n, size = len(where), len(cell.x)
    if cell.method == "hoeffding" and cell.limits is not None:
        width = cell.limits[1] - cell.limits[0]
        return float(cell.x[where].mean()), hoeffding_bound(n, size, width, cell.level)
    document = cell.document[where]
    drawn = Drawn(
        where, np.full(n, n / size), size, "strata" if mixed else "simple", document, None,
        document if mixed else None, np.bincount(cell.document) if mixed else None,
    )  # fmt: skip
    found = adjusted_mean(
        cell.x[where], cell.features, cell.metrics, drawn, "auto" if mixed else "mean"
    )
    interval = t_interval(found.center, found.stderr, found.degrees, cell.level)
    return found.center, interval.half_width
