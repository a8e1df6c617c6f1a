"""Estimators tried on a fully rated test set: how far off, how often right, how wide.

Every rated output is known, so samples can be drawn again and again and their estimates compared
with the truth (saldias2022, section 4). A *method* is a design and an estimator,
``docs-prop+cv-knn``; a design alone goes with the mean, an estimator alone with a simple random
sample, and ``baseline`` is both. ``docs-incr-human`` and ``docs-incr-metrics`` choose each segment
by the ratings before it and take the stratified mean; they have no interval. The estimator
``history`` is the regression that knows all ratings of all other systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy import special

from assay.designs.base import SamplingDesign, find_design
from assay.designs.population import Population
from assay.designs.units import DesignUnits
from assay.engine.run import Workers, run
from assay.errors import InputError, OptionError
from assay.estimation.features import Predictors, make_features
from assay.estimation.kernels import METHODS, Adjusted, adjusted_means, check_method
from assay.stats.incremental import incremental_order
from assay.stats.random import Rng
from assay.tables.history import add_history
from assay.tables.ratings import Ratings
from assay.tables.test_set import TestSet

INCREMENTAL = ("docs-incr-human", "docs-incr-metrics")
BLOCK = 250
"""Samples estimated at a time: enough for speed, few enough for memory."""


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
    """One method tried on one system, at all sizes."""

    population: Population
    predictors: Predictors | None
    x: np.ndarray
    method: str
    sizes: tuple[float, ...]
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
    workers: Workers = 1,
) -> Iterator[EvaluationRecord]:
    """Draw samples from a fully rated test set and estimate each system's score from them.

    Yields a record per method, system and size. Every method and system has random numbers of its
    own, so the records are the same on any number of workers.

    >>> import assay
    >>> world = assay.simulate(documents=15, systems=2, rng=1)
    >>> records = list(evaluate_estimators(world.test_set, world.rate(), methods=["baseline"],
    ...                                    sizes=[0.2], draws=20, rng=1))
    >>> [record.system for record in records], records[0].error > 0
    (['system-1', 'system-2'], True)
    """
    _check(draws, level, sizes)
    if not methods or not sizes:
        raise OptionError("methods and sizes", [], "are empty", "name at least one of each")
    scores = ratings.placed_in(test_set).matrix(test_set)
    lacking = int((np.isnan(scores) & test_set.present).sum())
    if lacking:
        raise InputError(
            f"{lacking} outputs have no rating; estimators can be tried only on"
            " a test set of which everything is rated"
        )
    beds = {False: test_set}
    if any(parse_method(method)[1] == "history" for method in methods):
        beds[True] = add_history(test_set, ratings)
    laid_out = {known: _by_system(bed) for known, bed in beds.items()}
    for method in methods:
        _check_metrics(method, laid_out[False][0][1])
    cells = [
        _Cell(*laid_out[parse_method(method)[1] == "history"][k],
              scores[k][test_set.present[k]], method, tuple(sizes), draws, level)
        for method in methods
        for k in range(len(scores))
    ]  # fmt: skip
    return chain.from_iterable(run(_try, cells, rng=rng, workers=workers))


def _by_system(test_set: TestSet) -> list[tuple[Population, Predictors | None]]:
    """Each system by itself, as if it were the only one: samples by its own metrics."""
    features, whole = make_features(test_set), Population(test_set)
    return [
        (
            whole.of_system(name),
            None if features is None else features.between(k, k, test_set.present[k]),
        )
        for k, name in enumerate(test_set.systems)
    ]


def _check(draws: int, level: float, sizes: Sequence[float]) -> None:
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of samples", "give 1 or more")
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    for size in sizes:
        if not 0 < size <= 1:
            raise OptionError("sizes", size, "is no share", "give numbers above 0, up to 1")


def _check_metrics(method: str, predictors: Predictors | None) -> None:
    names = () if predictors is None else predictors.names[: predictors.metrics]
    estimator = parse_method(method)[1]
    if estimator != "history":
        check_method(estimator, names)
    if not names and (
        estimator not in ("auto", "mean", "history") or method == "docs-incr-metrics"
    ):
        raise InputError(f"the method {method} needs metrics and the scores have none to use")


def parse_method(text: str) -> tuple[SamplingDesign, str]:
    """The design and the estimator that a method's name joins.

    >>> parse_method("docs-prop+cv-knn")[1], parse_method("cv-mean")[0].name
    ('cv-knn', 'segments')
    """
    if text == "baseline" or text in INCREMENTAL:
        return find_design("segments"), "mean"
    first, sign, second = text.partition("+")
    if not sign:
        known = first.partition(":")[0] in (*METHODS, "history")
        return find_design("segments" if known else first), first if known else "mean"
    if second.partition(":")[0] not in (*METHODS, "history"):
        raise OptionError(
            "methods", text, f"has no estimator '{second}'",
            f"choose from {', '.join(METHODS)}, history",
        )  # fmt: skip
    return find_design(first), second


def _try(cell: _Cell, rng: np.random.Generator) -> list[EvaluationRecord]:
    """Draw and estimate, again and again, at every size."""
    if cell.method in INCREMENTAL:
        return _try_incremental(cell, rng)
    design, estimator = parse_method(cell.method)
    estimator = "regression" if estimator == "history" else estimator
    records = []
    for size in cell.sizes:
        n = max(1, round(size * len(cell.x)))
        plan = design.plan(cell.population, n)
        units = DesignUnits.of_plan(design, plan, cell.population)
        parts = []
        for start in range(0, cell.draws, BLOCK):
            drawn = plan.draw(rng, min(BLOCK, cell.draws - start)).masks(len(cell.x))
            drawn = drawn[drawn.any(axis=1)]  # a sample of documents may come out empty
            parts.append(adjusted_means(cell.x, drawn, units, estimator, cell.predictors))
        records.append(_record(cell, size, n, parts))
    return records


def _record(cell: _Cell, size: float, n: int, parts: list[Adjusted]) -> EvaluationRecord:
    """How far the estimates of all samples are from the truth."""
    truth = float(cell.x.mean())
    center, stderr, degrees = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("center", "stderr", "degrees")
    )
    width = special.stdtrit(degrees, 0.5 + cell.level / 2) * stderr
    off = np.abs(center - truth)
    known = np.isfinite(width)  # a sample that shows no spread has no interval
    hits = (off <= width + 1e-12)[known]
    system = cell.population.test_set.systems[0]
    return EvaluationRecord(
        cell.method, system, size, n, cell.draws, float(off.mean()), float(off.std()),
        float((center - truth).mean()), float(hits.mean()) if known.any() else float("nan"),
        float(width[known].mean()) if known.any() else float("nan"),
    )  # fmt: skip


def _try_incremental(cell: _Cell, rng: np.random.Generator) -> list[EvaluationRecord]:
    """Incremental runs: the first n segments of a run are the sample of size n."""
    sizes = [max(1, round(size * len(cell.x))) for size in cell.sizes]
    document = cell.population.layout.document
    features = None
    if cell.method == "docs-incr-metrics" and cell.predictors is not None:
        features = cell.predictors.values[:, : cell.predictors.metrics]
    order = incremental_order(
        cell.x, document, max(sizes), rng, features=features, draws=cell.draws
    )
    lengths = np.bincount(document)
    truth, system = float(cell.x.mean()), cell.population.test_set.systems[0]
    records = []
    for size, n in zip(cell.sizes, sizes, strict=True):
        where = order[:, :n]
        index = (np.arange(len(order))[:, None] * len(lengths) + document[where]).ravel()
        shape = (len(order), len(lengths))
        count = np.bincount(index, minlength=shape[0] * shape[1]).reshape(shape)
        total = np.bincount(index, cell.x[where].ravel(), shape[0] * shape[1]).reshape(shape)
        means = total / np.maximum(count, 1)
        seen = np.where(count > 0, lengths, 0)  # eq. 1 over the documents that were visited
        off = (means * seen).sum(axis=1) / seen.sum(axis=1) - truth
        records.append(
            EvaluationRecord(
                cell.method,
                system,
                size,
                n,
                cell.draws,
                float(np.abs(off).mean()),
                float(np.abs(off).std()),
                float(off.mean()),
                float("nan"),
                float("nan"),
            )
        )
    return records
