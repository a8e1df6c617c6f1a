"""Estimators tried on a fully rated test set: how far off, how often right, how wide.

Every rated output is known, so samples can be drawn again and again and their estimates compared
with the truth (saldias2022, section 4). A *method* is a design and an estimator,
``docs-prop+cv-knn``; a design alone goes with the mean, an estimator alone with a simple random
sample, and ``baseline`` is both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.engine import run
from assay.errors import InputError, OptionError
from assay.estimation.adjust import METHODS, Drawn, adjusted_mean
from assay.estimation.coverage import KINDS
from assay.estimation.features import Features, make_features
from assay.sampling.designs import find_design, make_plan
from assay.sampling.population import Population
from assay.stats.intervals import t_interval
from assay.stats.random import Rng
from assay.tables import Design, Ratings, TestSet

__all__ = ["EvaluationRecord", "evaluate_estimators", "parse_method"]


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """One method for one system at one size, over all draws.

    ``error`` is the mean absolute error, ``sd`` its standard deviation, ``bias`` the mean error;
    ``coverage`` the share of intervals that hold the truth, ``half_width`` their mean half-width.
    """

    method: str
    system: str
    size: float
    n: int
    draws: int
    error: float
    sd: float
    bias: float
    coverage: float
    half_width: float


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    population: Population
    features: Features | None
    scores: np.ndarray
    system: int
    method: str
    design: Design
    estimator: str
    size: float
    draws: int
    level: float


def evaluate_estimators(
    test_set: TestSet,
    ratings: Ratings,
    *,
    methods: Sequence[str] = ("baseline", "docs-prop+cv-knn", "balanced+regression"),
    sizes: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
    draws: int = 100,
    level: float = 0.95,
    rng: Rng = None,
    workers: int = 1,
) -> Iterator[EvaluationRecord]:
    """Draw samples from a fully rated test set and estimate each system's score from them.

    Yields a record per method, system and size. Every cell has random numbers of its own, so the
    records are the same on any number of workers.

    >>> import assay
    >>> world = assay.simulate(documents=15, systems=2, rng=1)
    >>> records = list(evaluate_estimators(world.test_set, world.rate(), methods=["baseline"],
    ...                                    sizes=[0.2], draws=20, rng=1))
    >>> [record.system for record in records], records[0].error > 0
    (['system-1', 'system-2'], True)
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of samples", "give 1 or more")
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    for size in sizes:
        if not 0 < size <= 1:
            raise OptionError("sizes", size, "is no share", "give numbers above 0, up to 1")
    scores = ratings.placed_in(test_set).matrix(test_set)
    if np.isnan(scores).any():
        raise InputError(
            f"{int(np.isnan(scores).sum())} outputs have no rating; estimators can be tried only on"
            " a test set of which everything is rated"
        )
    # Each system is tried by itself, as if it were the only one: samples by its own metrics.
    features, whole = make_features(test_set), Population(test_set)
    own = [whole.of_system(name) for name in test_set.systems]
    cells = [
        _Cell(own[k], features, scores, k, method, *parse_method(method), size, draws, level)
        for method in methods
        for k in range(len(scores))
        for size in sizes
    ]
    return run(_try, cells, rng=rng, workers=workers)


def parse_method(text: str) -> tuple[Design, str]:
    """The design and the estimator that a method's name joins.

    >>> parse_method("docs-prop+cv-knn")[1], parse_method("cv-mean")[0].name
    ('cv-knn', 'segments')
    """
    if text == "baseline":
        return find_design("segments"), "mean"
    first, sign, second = text.partition("+")
    if not sign:
        known = first in METHODS
        return find_design("segments" if known else first), first if known else "mean"
    if second not in METHODS:
        raise OptionError(
            "methods", text, f"has no estimator '{second}'", f"choose from {', '.join(METHODS)}"
        )
    return find_design(first), second


def _try(cell: _Cell, rng: np.random.Generator) -> EvaluationRecord:
    """All draws of one method for one system at one size."""
    population, x = cell.population, cell.scores[cell.system]
    size = population.size
    n = max(1, round(cell.size * size))
    plan = make_plan(population, cell.design, n)
    pi, masks = plan.probabilities(), plan.draw(rng, cell.draws).masks(size)
    position = population.badness if cell.design.name == "balanced" else None
    stratum = getattr(plan, "stratum", None)
    kind = "strata" if stratum is not None else KINDS[cell.design.name]
    features = None if cell.features is None else cell.features.values[cell.system]
    metrics = 0 if cell.features is None else cell.features.metrics
    truth = float(x.mean())
    errors, widths, hits = [], [], 0
    for mask in masks:
        where = np.flatnonzero(mask)
        drawn = Drawn(
            where, pi[where], size, kind, population.layout.document[where],
            None if position is None else position[where],
            None if stratum is None else stratum[where],
            None if stratum is None else np.bincount(stratum),
        )  # fmt: skip
        found = adjusted_mean(x[where], features, metrics, drawn, cell.estimator)
        interval = t_interval(found.center, found.stderr, found.degrees, cell.level)
        errors.append(found.center - truth)
        widths.append(interval.half_width)
        hits += truth in interval
    off = np.abs(errors)
    return EvaluationRecord(
        cell.method, population.test_set.systems[0], cell.size, n, cell.draws,
        float(off.mean()), float(off.std()), float(np.mean(errors)), hits / cell.draws,
        float(np.mean(widths)),
    )  # fmt: skip
