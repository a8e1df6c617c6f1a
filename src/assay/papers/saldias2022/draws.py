"""Simulations of saldias2022 that need the samples themselves: error bounds and other means.

Table 5 says how often Hoeffding's and Bernstein's bounds hold, and how wide they are: for the mean
of a simple random sample (*base*) and for the paper's best method, docs-prop+cv-knn (*best*), with
the range R of MQM, 25, and with the ranges that the paper found to fit, 4 and 7.

Methods that sample some documents more than others can be read in three ways. Equation 1 weights
the mean of every document by its length: as we read it, over the documents with a drawn segment; to
the letter, over all documents, so that the others count as 0. The plain mean has no weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from assay.designs.base import DesignUnits, find_design
from assay.designs.population import Population
from assay.estimation.kernels import adjusted_means, make_features
from assay.papers.compare import OurNumber, PrintedCell, Task, extra, read_printed
from assay.papers.saldias2022.ratings import DEVELOPMENT, RaterTrial, RatingFile, RatingFolder
from assay.papers.saldias2022.tally import PAPER_SIMULATIONS, SIZES, MethodTrial, Tally, TrialKey
from assay.stats.bounds import bernstein_bound, hoeffding_bound
from assay.stats.incremental import incremental_order

LEVEL = 0.95
"""The least share of samples in which a bound must hold."""
PRIOR, NEIGHBOURS = 2.0, 25
"""Pseudo-ratings per document, and nearest neighbours by metrics, of the incremental methods."""
BOUND_SIZES = (0.1, 0.3, 0.5)
RANGE = 25.0
"""The range of MQM scores."""
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
"""The ranges R that section 4.3 found to fit."""
BOUNDS = ("Hoeffding oracle", "Hoeffding", "Bernstein", "Bernstein-Serfling")
OTHER = {"base": "best", "best": "base"}
EXCHANGED = "ZhEn"
"""Table 5 prints the slack of base and best exchanged for this pair: slack is the bound minus the
error, the bound is the same for both, and best has the smaller error."""
UNEVEN = ("docs-opt", "docs-incr-metrics", "docs-incr-human")
"""Methods that sample some documents more than others."""
OTHER_MEANS = ("plain mean", "documents not drawn as 0")


class KnownSystem(NamedTuple):
    """One rater and one system, with the ratings ``x`` of all segments."""

    lp: str
    rater: str
    population: Population
    x: np.ndarray

    @property
    def system(self) -> str:
        """The name of the system."""
        return self.population.test_set.systems[0]


class BoundRecord(NamedTuple):
    """By bound: the share of draws in which it held (``cal``), its mean slack, its mean ``t``."""

    lp: str
    estimator: str
    size: float
    draws: int
    cal: tuple[float, ...]
    slack: tuple[float, ...]
    t: tuple[float, ...]
    slack_noise: float


class RaterRun(NamedTuple):
    """The simulations of one rater on one file."""

    source: RatingFile
    trial: RaterTrial
    methods: tuple[str, ...]

    @property
    def steps(self) -> int:
        """The number of records that it yields."""
        return len(self.methods) * len(self.trial.test_set.systems) * len(SIZES)


MeanTrials = tuple[str, list[MethodTrial]]
"""The trials of other means, with their language pair."""
Step = tuple[RaterRun | None, MethodTrial | BoundRecord | MeanTrials]


class Tallies(NamedTuple):
    """All records, by language pair (single raters, means of raters) or by file (other years)."""

    single: dict[str, Tally]
    means: dict[str, Tally]
    tests: dict[RatingFile, Tally]
    bounds: list[BoundRecord]

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Tallies:
        """Sort the records of all steps into their tallies."""
        tallies = cls({}, {}, {}, [])
        for run, record in steps:
            if isinstance(record, BoundRecord):
                tallies.bounds.append(record)
            elif isinstance(record, MethodTrial):
                assert run is not None
                tallies._of(run).setdefault(record.method, {})[record.key] = record
            else:
                tally = tallies.single.setdefault(record[0], {})
                for item in record[1]:
                    tally.setdefault(item.method, {})[item.key] = item
        return tallies

    def _of(self, run: RaterRun) -> Tally:
        if run.source.year != 20:
            return self.tests.setdefault(run.source, {})
        tallies = self.means if run.trial.rater == "mean" else self.single
        return tallies.setdefault(run.source.name, {})


def known_systems(lp: str, trials: Sequence[RaterTrial]) -> list[KnownSystem]:
    """Every pair of a rater and a system of a language pair."""
    return [
        KnownSystem(lp, trial.rater, Population(trial.test_set).of_system(system), x)
        for trial in trials
        for system, x in zip(trial.test_set.systems, trial.scores, strict=True)
    ]


def bound_tasks(systems: Sequence[KnownSystem], draws: int) -> list[Task]:
    """A task for every system, size and estimator of Table 5."""
    return [
        Task((), partial(try_bounds, known, size, estimator, draws))
        for known in systems
        for estimator in OTHER
        for size in BOUND_SIZES
    ]


def mean_tasks(systems: Sequence[KnownSystem], draws: int) -> list[Task]:
    """A task for every system and method that samples unevenly."""
    return [
        Task((), partial(try_means, known, method, SIZES, draws))
        for known in systems
        for method in UNEVEN
    ]


def try_bounds(
    known: KnownSystem, size: float, estimator: str, draws: int, rng: np.random.Generator
) -> BoundRecord:
    """Draw samples and compare the error of the estimate with every bound."""
    x = known.x
    n, population = max(2, round(size * len(x))), len(x)
    estimates, samples = (_base if estimator == "base" else _best)(known, n, draws, rng)
    errors = np.abs(estimates - x.mean())
    t = np.stack([
        np.full(draws, hoeffding_bound(n, population, ORACLE_RANGE[known.lp], LEVEL)),
        np.full(draws, hoeffding_bound(n, population, RANGE, LEVEL)),
        np.array([bernstein_bound(v, population, RANGE, LEVEL) for v in samples]),
        np.array([bernstein_bound(v, population, RANGE, LEVEL, serfling=True) for v in samples]),
    ])  # fmt: skip
    cal, slack, bound = (tuple(part.mean(axis=1).tolist()) for part in (errors <= t, t - errors, t))
    noise = float(errors.std() / np.sqrt(draws))
    return BoundRecord(known.lp, estimator, size, draws, cal, slack, bound, noise)


def _base(
    known: KnownSystem, n: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The means of simple random samples, all drawn at once, and the samples."""
    x = known.x
    order = rng.random((draws, len(x))).argsort(axis=1)[:, :n]
    return x[order].mean(axis=1), x[order]


def _best(
    known: KnownSystem, n: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The estimates of docs-prop+cv-knn and their samples."""
    population, x = known.population, known.x
    design = find_design("docs-prop")
    plan, features = design.plan(population, n), make_features(population.test_set)
    units = DesignUnits.of_plan(design, plan, population)
    known_of = None if features is None else features.between(0, 0, np.ones(len(x), dtype=bool))
    drawn = plan.draw(rng, draws).masks(len(x))
    return adjusted_means(x, drawn, units, "cv-knn", known_of).center, [x[row] for row in drawn]


def try_means(
    known: KnownSystem, method: str, sizes: Sequence[float], draws: int, rng: np.random.Generator
) -> MeanTrials:
    """Draw samples of every size and take the other means of what was drawn."""
    x, document = known.x, known.population.layout.document
    counts = [max(1, round(size * len(x))) for size in sizes]
    trials = []
    drawn_by_size = _drawn(known, method, counts, draws, rng)
    for size, drawn in zip(sizes, drawn_by_size, strict=True):
        count = np.stack([np.bincount(document, row) for row in drawn])
        total = np.stack([np.bincount(document, row * x) for row in drawn])
        by_length = (total / np.maximum(count, 1)) @ np.bincount(document)
        means = (total.sum(axis=1) / count.sum(axis=1), by_length / len(x))
        for name, mean in zip(OTHER_MEANS, means, strict=True):
            off, error = mean - x.mean(), np.abs(mean - x.mean())
            trials.append(MethodTrial(
                TrialKey(known.rater, known.system, size), f"{method}, {name}", draws,
                float(error.mean()), float(error.std()), float(off.mean()),
            ))  # fmt: skip
    return known.lp, trials


def _drawn(
    known: KnownSystem, method: str, sizes: Sequence[int], draws: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """For every size the segments that a method draws (draws x segments)."""
    x, population = known.x, known.population
    if method == "docs-opt":
        plans = [find_design(method).plan(population, n) for n in sizes]
        yield from (plan.draw(rng, draws).masks(len(x)) for plan in plans)
        return
    features, near = make_features(population.test_set), None
    if method == "docs-incr-metrics" and features is not None:
        near = features.values[0][:, : features.metrics]
    order = incremental_order(
        x, population.layout.document, max(sizes), rng, features=near, prior=PRIOR,
        neighbours=NEIGHBOURS, draws=draws,
    )  # fmt: skip
    for n in sizes:
        drawn = np.zeros((draws, len(x)), dtype=bool)
        np.put_along_axis(drawn, order[:, :n], values=True, axis=1)
        yield drawn


def bound_numbers(data: RatingFolder, records: Sequence[BoundRecord]) -> dict[str, OurNumber]:
    """Table 5, and the claim that with R = 25 the bounds always hold."""
    ours: dict[str, OurNumber] = {}
    held = []
    for (lp, percent, estimator), here in _grouped(records).items():
        ours |= _oracle(f"{lp} {percent}", estimator, here)
        if estimator == "best":
            held += [100 * float(np.mean([r.cal[k] for r in here])) for k in (1, 2)]
    if held:
        ours["cal R=25"] = OurNumber(min(held), reason="a bound was exceeded")
    for source in DEVELOPMENT:
        for size in BOUND_SIZES if source.name in data.development else ():
            ours[f"{source.name} {100 * size:.0f} t"] = _printed_t(source.name, size)
            corpus = data.development[source.name]
            if not corpus.raters:
                lack = OurNumber(needs=f"single ratings in {source.file}")
                names = [f"{source.name} {100 * size:.0f} {e}" for e in OTHER]
                ours |= {f"{n} {what}": lack for n in names for what in ("cal", "slack")}
    return ours


def _grouped(
    records: Sequence[BoundRecord],
) -> dict[tuple[str, int, str], list[BoundRecord]]:
    groups: dict[tuple[str, int, str], list[BoundRecord]] = {}
    for record in records:
        key = record.lp, round(100 * record.size), record.estimator
        groups.setdefault(key, []).append(record)
    return groups


def _printed_t(lp: str, size: float) -> OurNumber:
    """The mean of Hoeffding's bound over the raters of Table 7, at the paper's own sizes."""
    printed = [item for item in read_printed("saldias2022") if item.table == "Table 7"]
    rated = [
        int(item.value) for item in printed
        if item.row.startswith(f"{lp} rater") and item.column == "segs"
    ]  # fmt: skip
    bounds = [hoeffding_bound(round(size * n), n, ORACLE_RANGE[lp], LEVEL) for n in rated]
    return OurNumber(float(np.mean(bounds)), note="at the sizes of Table 7")


def _oracle(start: str, estimator: str, records: Sequence[BoundRecord]) -> dict[str, OurNumber]:
    """Calibration and slack with the range that fits; the slack is compared per t.

    Our raters have other numbers of segments, hence another t, and the slack scales with t.
    """
    cal = np.array([record.cal[0] for record in records])
    draws, simulations = records[0].draws, len(records)
    more = float(np.sqrt(simulations * draws / (100 * PAPER_SIMULATIONS)))
    # At least what one more draw beyond the bound would change.
    noise = 100 * max(float(np.sqrt(np.sum(cal * (1 - cal)) / draws)), 1 / draws) / simulations
    slack, t = (float(np.mean([getattr(r, name)[0] for r in records])) for name in ("slack", "t"))
    slack_noise = float(np.sqrt(np.sum([r.slack_noise**2 for r in records])) / simulations)
    note = f"with t = {t:.3f} at our sizes"
    if start.startswith(EXCHANGED):
        note += f"; ours of {estimator}: base and best are exchanged in print"
    reason = "other raters, and half of the segments"
    return {
        f"{start} {estimator} cal": OurNumber(
            float(100 * cal.mean()), noise, noise * more, reason=reason
        ),
        f"{start} {estimator} slack": OurNumber(
            slack, slack_noise, slack_noise * more, per=t, reason=reason, note=note
        ),
    }


def bound_cells(records: Sequence[BoundRecord]) -> Iterator[PrintedCell]:
    """Table 5 with R = 25: bounds "about an order of magnitude" above the error; footnote 8."""
    for (lp, percent, estimator), here in _grouped(records).items():
        row = f"{lp} {percent} % {estimator}"
        for k, name in enumerate(BOUNDS[1:], 1):
            cal = float(100 * np.mean([record.cal[k] for record in here]))
            t = float(np.mean([record.t[k] for record in here]))
            error = t - float(np.mean([record.slack[k] for record in here]))
            note = f"{t / error:.0f} times the error" if error > 0 else ""
            yield extra("Table 5", row, f"cal, {name} R=25", cal, digits=0)
            yield extra("Table 5", row, f"t, {name} R=25", t, note=note, digits=2)
        if estimator == "best":
            hoeffding, bernstein = (float(np.mean([r.t[k] for r in here])) for k in (1, 2))
            yield extra("Table 5", f"{lp} {percent}% Hoeffding narrower than Bernstein, R=25",
                         "ratio of t", bernstein / hoeffding, digits=2,
                         note="the paper: Bernstein somewhat worse")  # fmt: skip
