"""The simulations of saldias2022, and samples that no public function draws.

These are for the bounds of Table 5 and for other means than equation 1.

Table 5 says how often Hoeffding's and Bernstein's bounds hold, and how wide they are, for the mean
of a simple random sample (*base*) and for the paper's best, docs-prop+cv-knn (*best*), with the
range R of MQM, 25, and with the range that the paper found to fit, 4 and 7.

Methods that sample some documents more than others can be read in three ways. Equation 1 weights
the mean of every document by its length: over those of which something was drawn, as we read it, or
to the letter over all, so that the others count as 0. The plain mean weights nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from assay.designs.base import find_design
from assay.designs.population import Population
from assay.designs.units import DesignUnits
from assay.estimation.kernels import adjusted_means
from assay.estimation.results import EvaluationRecord
from assay.estimation.study import make_features
from assay.papers.compare import OurNumber, PrintedCell, beside, read_printed
from assay.papers.saldias2022.ratings import DEVELOPMENT, RaterTrial, RatingFile, RatingFolder
from assay.papers.saldias2022.tally import PAPER_SIMULATIONS, SIZES, Tally, TrialKey
from assay.stats.bounds import bernstein_bound, hoeffding_bound
from assay.stats.incremental import incremental_order

LEVEL = 0.95
"""How often the bounds of Table 5 hold at least."""
PRIOR, NEIGHBOURS = 2.0, 25
"""Pseudo-ratings of a document, and neighbours by metrics, of the incremental methods."""
BOUND_SIZES = (0.1, 0.3, 0.5)
RANGE = 25.0
"""The range of MQM scores."""
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
"""The ranges R that section 4.3 found to fit."""
BOUNDS = ("Hoeffding oracle", "Hoeffding", "Bernstein", "Bernstein-Serfling")
OTHER = {"base": "best", "best": "base"}
EXCHANGED = "ZhEn"
"""Where Table 5 prints the slack of base and best in each other's place: slack is the bound less
the error, the bound is the same for both, and best has the smaller error."""
UNEVEN = ("docs-opt", "docs-incr-metrics", "docs-incr-human")
"""Methods that sample some documents more than others."""
OTHER_MEANS = ("plain mean", "documents not drawn as 0")


class KnownSystem(NamedTuple):
    """One rater and system, all ratings ``x`` known."""

    lp: str
    rater: str
    population: Population
    x: np.ndarray

    @property
    def system(self) -> str:
        """Its name."""
        return self.population.test_set.systems[0]


class BoundWork(NamedTuple):
    """One estimator at one size."""

    known: KnownSystem
    size: float
    estimator: str
    draws: int


class BoundRecord(NamedTuple):
    """The share of draws in which a bound held, its mean slack and its mean, by bound."""

    lp: str
    estimator: str
    size: float
    draws: int
    cal: tuple[float, ...]
    slack: tuple[float, ...]
    t: tuple[float, ...]
    slack_noise: float


class MeanWork(NamedTuple):
    """One method at all sizes."""

    known: KnownSystem
    method: str
    sizes: tuple[float, ...]
    draws: int


class MeanRecord(NamedTuple):
    """The errors of other means of one system by one rater, a record per mean and size."""

    lp: str
    rater: str
    records: tuple[EvaluationRecord, ...]


class RaterRun(NamedTuple):
    """The simulations of one rater on one file."""

    source: RatingFile
    trial: RaterTrial
    methods: tuple[str, ...]

    @property
    def steps(self) -> int:
        """How many records it yields."""
        return len(self.methods) * len(self.trial.test_set.systems) * len(SIZES)


Step = tuple[RaterRun | None, EvaluationRecord | BoundRecord | MeanRecord]


class Tallies(NamedTuple):
    """All records: of single raters and of their means by language pair, of other years by file."""

    single: dict[str, Tally]
    means: dict[str, Tally]
    tests: dict[RatingFile, Tally]
    bounds: list[BoundRecord]

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Tallies:
        """The records sorted into their places."""
        found = cls({}, {}, {}, [])
        for run, record in steps:
            if isinstance(record, BoundRecord):
                found.bounds.append(record)
            elif isinstance(record, MeanRecord):
                tally = found.single.setdefault(record.lp, {})
                for item in record.records:
                    key = TrialKey(record.rater, item.system, item.size)
                    tally.setdefault(item.method, {})[key] = item
            else:
                assert run is not None
                key = TrialKey(run.trial.rater, record.system, record.size)
                found._of(run).setdefault(record.method, {})[key] = record
        return found

    def _of(self, run: RaterRun) -> Tally:
        if run.source.year != 20:
            return self.tests.setdefault(run.source, {})
        tallies = self.means if run.trial.rater == "mean" else self.single
        return tallies.setdefault(run.source.name, {})


def known_systems(lp: str, trials: Sequence[RaterTrial]) -> list[KnownSystem]:
    """Every rater and system of a language pair."""
    return [
        KnownSystem(lp, trial.rater, Population(trial.test_set).of_system(system), x)
        for trial in trials
        for system, x in zip(trial.test_set.systems, trial.scores, strict=True)
    ]


def bound_work(systems: Sequence[KnownSystem], draws: int) -> list[BoundWork]:
    """What :func:`try_bounds` has to do."""
    return [
        BoundWork(known, size, estimator, draws)
        for known in systems
        for estimator in OTHER
        for size in BOUND_SIZES
    ]


def mean_work(
    systems: Sequence[KnownSystem], sizes: tuple[float, ...], draws: int
) -> list[MeanWork]:
    """What :func:`try_means` has to do."""
    return [MeanWork(known, method, sizes, draws) for known in systems for method in UNEVEN]


def try_bounds(work: BoundWork, rng: np.random.Generator) -> BoundRecord:
    """Draw samples and compare the error of the estimate with every bound."""
    x = work.known.x
    n, population = max(2, round(work.size * len(x))), len(x)
    draw = _base if work.estimator == "base" else _best
    estimates, samples = draw(work.known, n, work.draws, rng)
    errors = np.abs(estimates - x.mean())
    oracle = ORACLE_RANGE[work.known.lp]
    t = np.stack([
        np.full(work.draws, hoeffding_bound(n, population, oracle, LEVEL)),
        np.full(work.draws, hoeffding_bound(n, population, RANGE, LEVEL)),
        np.array([bernstein_bound(v, population, RANGE, LEVEL) for v in samples]),
        np.array([bernstein_bound(v, population, RANGE, LEVEL, serfling=True) for v in samples]),
    ])  # fmt: skip
    return BoundRecord(
        work.known.lp, work.estimator, work.size, work.draws,
        tuple(map(float, (errors <= t).mean(axis=1))),
        tuple(map(float, (t - errors).mean(axis=1))),
        tuple(map(float, t.mean(axis=1))),
        float(errors.std() / np.sqrt(work.draws)),
    )  # fmt: skip


def _base(
    known: KnownSystem, n: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Means of simple random samples, all draws at once, and the samples."""
    x = known.x
    order = rng.random((draws, len(x))).argsort(axis=1)[:, :n]
    return x[order].mean(axis=1), x[order]


def _best(
    known: KnownSystem, n: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """docs-prop+cv-knn, and its samples."""
    population, x = known.population, known.x
    design = find_design("docs-prop")
    plan, features = design.plan(population, n), make_features(population.test_set)
    units = DesignUnits.of_plan(design, plan, population)
    known_of = None if features is None else features.between(0, 0, np.ones(len(x), dtype=bool))
    drawn = plan.draw(rng, draws).masks(len(x))
    return adjusted_means(x, drawn, units, "cv-knn", known_of).center, [x[row] for row in drawn]


def try_means(work: MeanWork, rng: np.random.Generator) -> MeanRecord:
    """Draw samples of every size and take other means than equation 1 over what was drawn."""
    x, document = work.known.x, work.known.population.layout.document
    sizes = [max(1, round(size * len(x))) for size in work.sizes]
    records = []
    for size, n, drawn in zip(work.sizes, sizes, _drawn(work, sizes, rng), strict=True):
        count = np.stack([np.bincount(document, row) for row in drawn])
        total = np.stack([np.bincount(document, row * x) for row in drawn])
        by_length = (total / np.maximum(count, 1)) @ np.bincount(document)
        means = (total.sum(axis=1) / count.sum(axis=1), by_length / len(x))
        records += [
            _mean_record(work, name, size, n, mean - x.mean())
            for name, mean in zip(OTHER_MEANS, means, strict=True)
        ]
    return MeanRecord(work.known.lp, work.known.rater, tuple(records))


def _drawn(work: MeanWork, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[np.ndarray]:
    """For every size, draws x segments: what a method draws."""
    x, population = work.known.x, work.known.population
    if work.method == "docs-opt":
        plans = [find_design(work.method).plan(population, n) for n in sizes]
        yield from (plan.draw(rng, work.draws).masks(len(x)) for plan in plans)
        return
    features, near = make_features(population.test_set), None
    if work.method == "docs-incr-metrics" and features is not None:
        near = features.values[0][:, : features.metrics]
    order = incremental_order(
        x, population.layout.document, max(sizes), rng, features=near, prior=PRIOR,
        neighbours=NEIGHBOURS, draws=work.draws,
    )  # fmt: skip
    for n in sizes:
        drawn = np.zeros((work.draws, len(x)), dtype=bool)
        np.put_along_axis(drawn, order[:, :n], values=True, axis=1)
        yield drawn


def _mean_record(
    work: MeanWork, name: str, size: float, n: int, off: np.ndarray
) -> EvaluationRecord:
    method, error = f"{work.method}, {name}", np.abs(off)
    return EvaluationRecord(
        method, work.known.system, size, n, work.draws, float(error.mean()), float(error.std()),
        float(off.mean()), float("nan"), float("nan"),
    )  # fmt: skip


def bound_numbers(data: RatingFolder, records: Sequence[BoundRecord]) -> dict[str, OurNumber]:
    """Table 5, and that with R = 25 the bounds always hold."""
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
    """Hoeffding's bound at the paper's own sizes: the mean over the raters of Table 7."""
    printed = [item for item in read_printed("saldias2022") if item.table == "Table 7"]
    rated = [
        int(item.value) for item in printed
        if item.row.startswith(f"{lp} rater") and item.column == "segs"
    ]  # fmt: skip
    bounds = [hoeffding_bound(round(size * n), n, ORACLE_RANGE[lp], LEVEL) for n in rated]
    return OurNumber(float(np.mean(bounds)), note="at the sizes of Table 7")


def _oracle(start: str, estimator: str, records: Sequence[BoundRecord]) -> dict[str, OurNumber]:
    """Calibration and slack with the range that fits; the slack is compared per t.

    Ours has other numbers of segments than the paper, hence another t, by which the slack scales.
    """
    cal = np.array([record.cal[0] for record in records])
    draws, simulations = records[0].draws, len(records)
    more = float(np.sqrt(simulations * draws / (100 * PAPER_SIMULATIONS)))
    # At least what one more draw that is not held would change.
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
    """With R = 25, "about an order of magnitude" above the error; footnote 8 on Bernstein's."""
    for (lp, percent, estimator), here in _grouped(records).items():
        row = f"{lp} {percent} % {estimator}"
        for k, name in enumerate(BOUNDS[1:], 1):
            cal = float(100 * np.mean([record.cal[k] for record in here]))
            t = float(np.mean([record.t[k] for record in here]))
            error = t - float(np.mean([record.slack[k] for record in here]))
            note = f"{t / error:.0f} times the error" if error > 0 else ""
            yield beside("Table 5", row, f"cal, {name} R=25", cal, digits=0)
            yield beside("Table 5", row, f"t, {name} R=25", t, note=note, digits=2)
        if estimator == "best":
            hoeffding, bernstein = (float(np.mean([r.t[k] for r in here])) for k in (1, 2))
            yield beside("Table 5", f"{lp} {percent}% Hoeffding narrower than Bernstein, R=25",
                         "ratio of t", bernstein / hoeffding, digits=2,
                         note="the paper: Bernstein somewhat worse")  # fmt: skip
