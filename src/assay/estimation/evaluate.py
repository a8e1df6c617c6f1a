"""Try estimators and stopping rules on a fully rated test set.

Samples of it are drawn many times, and their estimates are compared with the truth (saldias2022,
section 4). A *method* joins a design and an estimator, as in ``docs-prop+cv-knn``. A design alone
goes with the mean, an estimator alone with a simple random sample; ``baseline`` is both.
``docs-incr-human`` and ``docs-incr-metrics`` choose each segment by the ratings before it and take
the stratified mean; they have no interval. The estimator ``history`` is the regression with all
ratings of all other systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import special

from assay.designs.base import DesignUnits, SamplingDesign, find_design
from assay.designs.population import Population
from assay.engine import Workers, run
from assay.errors import InputError, OptionError, need_count, need_known, need_level
from assay.estimation.kernels import (
    METHODS,
    Adjusted,
    Predictors,
    adjusted_means,
    check_method,
    make_features,
)
from assay.estimation.looks import look_sizes, usual_sizes
from assay.estimation.monitor import check_half_width
from assay.estimation.results import noted
from assay.estimation.trials import (
    CompositeRecord,
    Evaluation,
    EvaluationRecord,
    MethodEvaluation,
    StoppingRecord,
)
from assay.stats.betting import betting_sequence
from assay.stats.bounds import hoeffding_bound
from assay.stats.incremental import incremental_order
from assay.stats.intervals import LEVEL
from assay.stats.random import Rng
from assay.stats.selection import interleaved_order
from assay.tables.history import add_history
from assay.tables.tables import Ratings, TestSet

INCREMENTAL = ("docs-incr-human", "docs-incr-metrics")
INTERLEAVED = ("interleaved", "interleaved, first look")
STOPPING_METHODS = (*INTERLEAVED, "random + t", "hoeffding", "betting")
SAMPLES_AT_ONCE = 250
"""Samples estimated at a time, to limit memory."""


@dataclass(frozen=True, slots=True, eq=False)
class _SystemTrial:
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
    level: float = LEVEL,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[EvaluationRecord]:
    """Draw samples from a fully rated test set and estimate each system's score from them.

    Yields a record per method, system and size. Every method and system has its own random numbers,
    so the records are the same on any number of workers.

    >>> import assay
    >>> world = assay.simulate(documents=15, systems=2, rng=1)
    >>> records = list(evaluate_estimators(world.test_set, world.rate(), methods=["baseline"],
    ...                                    sizes=[0.2], draws=20, rng=1))
    >>> [record.system for record in records], records[0].error > 0
    (['system-1', 'system-2'], True)
    """
    check_trial(draws, level, sizes)
    if not methods or not sizes:
        raise OptionError("methods and sizes", [], "are empty", "name at least one of each")
    scores = all_scores(test_set, ratings)
    plain = _by_system(test_set)
    for method in methods:
        _check_metrics(method, plain[0][1])
    borrows = [parse_method(method)[1] == "history" for method in methods]
    informed = _by_system(add_history(test_set, ratings)) if any(borrows) else plain
    trials = [
        _SystemTrial(*(informed if history else plain)[k], scores[k][test_set.present[k]], method,
               tuple(sizes), draws, level)
        for method, history in zip(methods, borrows, strict=True)
        for k in range(len(scores))
    ]  # fmt: skip
    return chain.from_iterable(run(_try, trials, rng=rng, workers=workers))


def _by_system(test_set: TestSet) -> list[tuple[Population, Predictors | None]]:
    """Each system as if it were the only one: its samples depend on its own metrics."""
    features, whole = make_features(test_set), Population(test_set)
    return [
        (
            whole.of_system(name),
            None if features is None else features.between(k, k, test_set.present[k]),
        )
        for k, name in enumerate(test_set.systems)
    ]


def check_trial(draws: int, level: float, sizes: Sequence[float] = ()) -> None:
    """Refuse numbers of draws, levels and sizes that cannot be tried."""
    need_count("draws", draws, "samples")
    need_level(level)
    for size in sizes:
        if not 0 < size <= 1:
            raise OptionError("sizes", size, "is not a share", "give numbers above 0, up to 1")


def all_scores(test_set: TestSet, ratings: Ratings) -> np.ndarray:
    """The ratings as systems x segments; refused if an output has none."""
    scores = ratings.placed_in(test_set).matrix(test_set)
    lacking = int((np.isnan(scores) & test_set.present).sum())
    if lacking:
        raise InputError(
            f"{lacking:,} outputs have no rating; estimators and stopping rules can be tried only"
            " on a fully rated test set"
        )
    return scores


def _check_metrics(method: str, predictors: Predictors | None) -> None:
    names = () if predictors is None else predictors.names[: predictors.metrics]
    estimator = parse_method(method)[1]
    if estimator != "history":
        check_method(estimator, names)
    if not names and (
        estimator not in ("auto", "mean", "history") or method == "docs-incr-metrics"
    ):
        raise InputError(f"the method {method} needs metrics, but the scores have none")


def parse_method(text: str) -> tuple[SamplingDesign, str]:
    """The design and the estimator in the name of a method.

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
        remedy = f"choose from {', '.join(METHODS)}, history"
        raise OptionError("methods", text, f"has no estimator '{second}'", remedy)
    return find_design(first), second


def _try(trial: _SystemTrial, rng: np.random.Generator) -> list[EvaluationRecord]:
    """Draw samples and estimate from them, at every size."""
    if trial.method in INCREMENTAL:
        return _try_incremental(trial, rng)
    design, estimator = parse_method(trial.method)
    estimator = "regression" if estimator == "history" else estimator
    records = []
    for size in trial.sizes:
        n = max(1, round(size * len(trial.x)))
        plan = design.plan(trial.population, n)
        units = DesignUnits.of_plan(design, plan, trial.population)
        parts = []
        for start in range(0, trial.draws, SAMPLES_AT_ONCE):
            drawn = plan.draw(rng, min(SAMPLES_AT_ONCE, trial.draws - start)).masks(len(trial.x))
            drawn = drawn[drawn.any(axis=1)]  # a sample of documents may come out empty
            adjusted = adjusted_means(trial.x, drawn, units, estimator, trial.predictors)
            parts.append((adjusted.center, _half_width(adjusted, trial.level)))
        center, half_width = (np.concatenate(part) for part in zip(*parts, strict=True))
        records.append(_record(trial, size, n, center - trial.x.mean(), half_width))
    return records


def _half_width(adjusted: Adjusted, level: float) -> np.ndarray:
    return np.asarray(special.stdtrit(adjusted.degrees, 0.5 + level / 2) * adjusted.stderr)


def _record(
    trial: _SystemTrial, size: float, n: int, off: np.ndarray, half_width: np.ndarray
) -> EvaluationRecord:
    """A record of the errors of all samples."""
    known = np.isfinite(half_width)  # a sample that shows no spread has no interval
    hits = (np.abs(off) <= half_width + 1e-12)[known]
    return EvaluationRecord(
        trial.method, trial.population.test_set.systems[0], size, n, trial.draws,
        float(np.abs(off).mean()), float(np.abs(off).std()), float(off.mean()),
        float(hits.mean()) if known.any() else float("nan"),
        float(half_width[known].mean()) if known.any() else float("nan"),
    )  # fmt: skip


def _try_incremental(trial: _SystemTrial, rng: np.random.Generator) -> list[EvaluationRecord]:
    """Incremental runs: the first n segments of a run are its sample of size n."""
    sizes = [max(1, round(size * len(trial.x))) for size in trial.sizes]
    document = trial.population.layout.document
    features = None
    if trial.method == "docs-incr-metrics" and trial.predictors is not None:
        features = trial.predictors.values[:, : trial.predictors.metrics]
    order = incremental_order(
        trial.x, document, max(sizes), rng, features=features, draws=trial.draws
    )
    lengths = np.bincount(document)
    records = []
    for size, n in zip(trial.sizes, sizes, strict=True):
        where = order[:, :n]
        index = (np.arange(len(order))[:, None] * len(lengths) + document[where]).ravel()
        shape = (len(order), len(lengths))
        count = np.bincount(index, minlength=shape[0] * shape[1]).reshape(shape)
        total = np.bincount(index, trial.x[where].ravel(), shape[0] * shape[1]).reshape(shape)
        means = total / np.maximum(count, 1)
        seen = np.where(count > 0, lengths, 0)  # eq. 1 over the documents that were visited
        off = (means * seen).sum(axis=1) / seen.sum(axis=1) - trial.x.mean()
        unknown = np.full(len(off), np.nan)
        records.append(_record(trial, size, n, off, unknown))
    return records


def summarise_evaluation(
    records: Iterable[EvaluationRecord],
    *,
    seed: int | None = None,
    stopping: Iterable[StoppingRecord] = (),
    half_width: float | None = None,
    test_set: TestSet | None = None,
    composite: Iterable[CompositeRecord] = (),
) -> Evaluation:
    """Summarise records by method, compared with ``baseline`` if it is among them.

    ``stopping`` adds the records of :func:`evaluate_stopping` with their ``half_width``,
    ``composite`` those of :func:`evaluate_composite`, and ``test_set`` its metrics and notes.

    >>> record = EvaluationRecord("baseline", "A", .1, 10, 50, .2, .1, .0, .94, .5)
    >>> summarise_evaluation([record]).methods[0].gain
    0.0
    """
    listed = tuple(records)
    groups: dict[str, list[EvaluationRecord]] = {}
    for record in listed:
        groups.setdefault(record.method, []).append(record)
    base = groups.get("baseline")
    rows = tuple(_row(name, group, base) for name, group in groups.items())
    return Evaluation(
        methods=rows, records=listed, draws=listed[0].draws if listed else 0, seed=seed,
        stopping=tuple(stopping), half_width=half_width,
        metrics=() if test_set is None else test_set.metrics,
        notes=() if test_set is None else noted(test_set.notes), composite=tuple(composite),
    )  # fmt: skip


def _row(
    name: str, records: list[EvaluationRecord], base: list[EvaluationRecord] | None
) -> MethodEvaluation:
    errors = np.array([record.error for record in records])
    gain = gain_error = win = None
    scale = 1.0
    base_errors = np.array([record.error for record in base or ()])
    if base is not None and base_errors.any():  # where there is no error, nothing is gained
        scale, mean = float(base_errors.mean()), float(errors.mean())
        gain = 100 * (1 - mean / scale)
        noise = float(np.hypot(_noise(records), mean / scale * _noise(base))) / scale
        gain_error = 100 * noise if name != "baseline" else 0
        win = float((errors < base_errors).mean()) if name != "baseline" else None
    by_system: dict[str, list[float]] = {}
    for record in records:
        if np.isfinite(record.coverage):
            by_system.setdefault(record.system, []).append(record.coverage)
    return MethodEvaluation(
        method=name,
        error=float(errors.mean()),
        sd=float(np.mean([record.sd for record in records])),
        gain=None if gain is None else float(gain),
        gain_error=None if gain_error is None else float(gain_error),
        win=win,
        bias=float(np.mean([record.bias for record in records])) / scale,
        coverage=_mean([record.coverage for record in records]),
        worst_coverage=min((_mean(shares) for shares in by_system.values()), default=float("nan")),
        half_width=_mean([record.half_width for record in records]),
    )


def _mean(values: list[float]) -> float:
    """The mean of known values; incremental samples have no interval."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def _noise(records: list[EvaluationRecord]) -> float:
    """Monte-Carlo standard error of the mean absolute error over all records."""
    variances = [record.sd**2 / record.draws for record in records]
    return float(np.sqrt(np.sum(variances)) / len(records))


class _StoppingTrial(NamedTuple):
    """One stopping rule tried on one system."""

    system: str
    method: str
    x: np.ndarray
    population: Population
    predictors: Predictors | None
    half_width: float
    level: float
    draws: int
    limits: tuple[float, float] | None


def evaluate_stopping(
    test_set: TestSet,
    ratings: Ratings,
    *,
    half_width: float,
    methods: Sequence[str] = ("interleaved", "random + t"),
    draws: int = 100,
    level: float = LEVEL,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[StoppingRecord]:
    """Repeat the rating of a fully rated test set until intervals have this half-width.

    ``interleaved`` is the rule of :func:`assay.monitor`; ``interleaved, first look`` looks every
    1 % and states the interval of the first look that is narrow enough; ``random + t`` is the mean
    in random order; ``hoeffding`` and ``betting`` need ratings with a range.

    >>> import assay
    >>> world = assay.simulate(documents=40, systems=2, rng=1)
    >>> records = list(evaluate_stopping(world.test_set, world.rate(), half_width=0.8,
    ...                                  draws=5, rng=1))
    >>> len(records), 0 < records[0].share <= 1
    (4, True)
    """
    for method in methods:
        need_known("methods", method, STOPPING_METHODS)
        if method in ("hoeffding", "betting") and ratings.range is None:
            raise InputError(f"{method} needs the range of the ratings; give `range`")
    check_trial(draws, level)
    check_half_width(half_width)
    scores = all_scores(test_set, ratings)
    if not test_set.present.all():
        raise InputError("stopping rules can be tried only where every system has all segments")
    features = make_features(test_set)
    population, everywhere = Population(test_set), np.ones(scores.shape[1], dtype=bool)
    trials = [
        _StoppingTrial(
            name, method, scores[k], population,
            None if features is None else features.between(k, k, everywhere),
            half_width, level, draws, ratings.range,
        )
        for method in methods
        for k, name in enumerate(test_set.systems)
    ]  # fmt: skip
    return run(_try_stopping, trials, rng=rng, workers=workers)


def _try_stopping(trial: _StoppingTrial, rng: np.random.Generator) -> StoppingRecord:
    """All runs are looked at together; stopped ones are left out of later looks."""
    size, truth = len(trial.x), float(trial.x.mean())
    mixed, document = trial.method in INTERLEAVED, trial.population.layout.document
    planned = trial.method == INTERLEAVED[0]
    order = np.stack([
        interleaved_order(document, rng) if mixed else rng.permutation(size)
        for _ in range(trial.draws)
    ])  # fmt: skip
    ends = None
    if trial.method == "betting" and trial.limits is not None:
        given = size, *trial.limits, trial.level
        # Both ends of the any-time interval: runs x numbers of ratings.
        ends = np.stack([betting_sequence(trial.x[one], *given) for one in order], axis=1)
    share, right = np.ones(trial.draws), np.ones(trial.draws, dtype=bool)
    going = np.arange(trial.draws)
    for n in usual_sizes(size, "score") if planned else look_sizes(size, size):
        if ends is not None:
            low, high = ends[:, going, n - 1]
        else:
            low, high = _limits(trial, order[going, :n], mixed)
        done = ((high - low) / 2 <= trial.half_width) | (n == size)
        if planned:  # the fixed-width interval that monitor states
            middle = (low + high) / 2
            low = np.minimum(low, middle - trial.half_width)
            high = np.maximum(high, middle + trial.half_width)
        share[going[done]] = n / size
        right[going[done]] = ((low <= truth) & (truth <= high))[done]
        going = going[~done]
        if not len(going):
            break
    return StoppingRecord(
        trial.system, trial.method, float(share.mean()), float(right.mean()), trial.draws
    )


def _limits(trial: _StoppingTrial, where: np.ndarray, mixed: bool) -> tuple[np.ndarray, np.ndarray]:
    """The limits of every run's interval from the ratings so far."""
    n, size = where.shape[1], len(trial.x)
    if trial.method == "hoeffding" and trial.limits is not None:
        width = trial.limits[1] - trial.limits[0]
        half, center = hoeffding_bound(n, size, width, trial.level), trial.x[where].mean(axis=1)
        return center - half, center + half
    drawn = np.zeros((len(where), size), dtype=bool)
    np.put_along_axis(drawn, where, True, axis=1)
    design = find_design("interleaved" if mixed else "segments")
    units = DesignUnits.of_plan(design, design.plan(trial.population, n), trial.population)
    method = "auto" if mixed else "mean"
    adjusted = adjusted_means(trial.x, drawn, units, method, trial.predictors)
    half_width = np.nan_to_num(_half_width(adjusted, trial.level), nan=np.inf)
    return adjusted.center - half_width, adjusted.center + half_width
