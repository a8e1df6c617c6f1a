"""Table 5 of saldias2022: how often Hoeffding's and Bernstein's bounds hold, and how wide they are.

The bounds are computed for the mean of a simple random sample (*base*) and for the paper's best,
docs-prop+cv-knn (*best*), with the range R of MQM, 25, and with the range that the paper found to
fit, 4 and 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.designs.base import find_design
from assay.designs.population import Population
from assay.designs.units import DesignUnits
from assay.estimation.features import make_features
from assay.estimation.kernels import adjusted_means
from assay.papers.cells import Cell
from assay.papers.saldias2022_data import DEVELOPMENT, Data, Trial
from assay.papers.saldias2022_numbers import (
    ORACLE_RANGE,
    RATER_SIZES,
    SIMULATIONS,
    printed_bounds,
)
from assay.stats.bounds import bernstein_bound, hoeffding_bound

BOUND_SIZES = (0.1, 0.3, 0.5)
LEVEL = 0.95
RANGE = 25.0
"""The range of MQM scores."""
BOUNDS = ("Hoeffding oracle", "Hoeffding", "Bernstein", "Bernstein-Serfling")


@dataclass(frozen=True, slots=True, eq=False)
class BoundCell:
    """One rater and system, all ratings ``x`` known, at one size, by one estimator."""

    lp: str
    own: Population
    x: np.ndarray
    size: float
    estimator: str
    draws: int


@dataclass(frozen=True, slots=True)
class BoundRecord:
    """The share of draws in which a bound held, its mean slack and its mean, by bound."""

    lp: str
    estimator: str
    size: float
    cal: tuple[float, ...]
    slack: tuple[float, ...]
    t: tuple[float, ...]
    slack_noise: float


def bound_work(lp: str, trials: Sequence[Trial], draws: int) -> list[BoundCell]:
    """What :func:`try_bounds` has to do for a language pair."""
    return [
        BoundCell(lp, own, x, size, estimator, draws)
        for trial in trials
        for system, x in zip(trial.test_set.systems, trial.scores, strict=True)
        for own in [Population(trial.test_set).of_system(system)]
        for estimator in ("base", "best")
        for size in BOUND_SIZES
    ]


def bound_steps(trials: Sequence[Trial]) -> int:
    """The length of :func:`bound_work`."""
    return sum(len(trial.test_set.systems) for trial in trials) * 2 * len(BOUND_SIZES)


def try_bounds(cell: BoundCell, rng: np.random.Generator) -> BoundRecord:
    """Draw samples and compare the error of the estimate with every bound."""
    x = cell.x
    n, population = max(2, round(cell.size * len(x))), len(x)
    draw = _base if cell.estimator == "base" else _best
    estimates, samples = draw(cell, n, rng)
    errors = np.abs(estimates - x.mean())
    oracle = ORACLE_RANGE[cell.lp]
    t = np.stack([
        np.full(cell.draws, hoeffding_bound(n, population, oracle, LEVEL)),
        np.full(cell.draws, hoeffding_bound(n, population, RANGE, LEVEL)),
        np.array([bernstein_bound(v, population, RANGE, LEVEL) for v in samples]),
        np.array([bernstein_bound(v, population, RANGE, LEVEL, serfling=True) for v in samples]),
    ])  # fmt: skip
    return BoundRecord(
        cell.lp, cell.estimator, cell.size,
        tuple(map(float, (errors <= t).mean(axis=1))),
        tuple(map(float, (t - errors).mean(axis=1))),
        tuple(map(float, t.mean(axis=1))),
        float(errors.std() / np.sqrt(cell.draws)),
    )  # fmt: skip


def _base(cell: BoundCell, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Means of simple random samples, all draws at once, and the samples."""
    x = cell.x
    order = rng.random((cell.draws, len(x))).argsort(axis=1)[:, :n]
    return x[order].mean(axis=1), x[order]


def _best(cell: BoundCell, n: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """docs-prop+cv-knn, and its samples."""
    own, x = cell.own, cell.x
    design = find_design("docs-prop")
    plan, features = design.plan(own, n), make_features(own.test_set)
    units = DesignUnits.of_plan(design, plan, own)
    known = None if features is None else features.between(0, 0, own.test_set.present[0])
    drawn = plan.draw(rng, cell.draws).masks(len(x))
    return adjusted_means(x, drawn, units, "cv-knn", known).center, [x[row] for row in drawn]


def bound_cells(data: Data, records: Sequence[BoundRecord]) -> Iterator[Cell]:
    """Table 5, the printed bound and then those that are too wide."""
    for lp, percent, estimator, cal, slack, t in printed_bounds():
        source = next(source for source in DEVELOPMENT if source.name == lp)
        found = [
            r for r in records
            if (r.lp, r.estimator, round(100 * r.size)) == (lp, estimator, percent)
        ]  # fmt: skip
        row = f"{lp} {percent} % {estimator}"
        yield _printed_t(lp, percent, row, t)
        if not found:
            corpus = data.development.get(lp)
            lack = source.file if corpus is None else f"single ratings in {source.file}"
            yield Cell("Table 5", row, "cal", cal, None, note=f"needs {lack}", digits=0)
            yield Cell("Table 5", row, "slack", slack, None, note=f"needs {lack}", digits=2)
            continue
        yield from _oracle(row, found, cal, slack, t)
        yield from _wide(row, found)
    yield from _widths(records)


def _printed_t(lp: str, percent: int, row: str, t: float) -> Cell:
    """Hoeffding's bound at the paper's own sizes: the mean over the raters of Table 7."""
    sizes = [n for name, (n, _) in RATER_SIZES[lp].items() if name != "corpus"]
    width = ORACLE_RANGE[lp]
    ours = float(np.mean(
        [hoeffding_bound(round(percent / 100 * n), n, width, LEVEL) for n in sizes]
    ))  # fmt: skip
    return Cell("Table 5", row, "t", t, ours, None, abs(ours - t) < 0.005 + 1e-9,
                "at the sizes of Table 7", digits=2)  # fmt: skip


def _oracle(
    row: str, found: Sequence[BoundRecord], cal: float, slack: float, t: float
) -> Iterator[Cell]:
    held = np.array([100 * record.cal[0] for record in found])
    spread = _spread(held)
    both = spread * float(np.sqrt(1 + len(found) / SIMULATIONS))
    matches = bool(abs(held.mean() - cal) <= 2 * both + 0.5) if np.isfinite(spread) else None
    note = "" if matches else "further apart than two sets of simulations would be"
    yield Cell("Table 5", row, "cal", cal, float(held.mean()), _finite(spread), matches,
               note, digits=0)  # fmt: skip
    ours, here = (float(np.mean([getattr(r, name)[0] for r in found])) for name in ("slack", "t"))
    noise = float(np.sqrt(np.sum([r.slack_noise**2 for r in found])) / len(found))
    # Ours has other numbers of segments, hence another t, of which the slack is the larger part.
    gap = abs((ours - here) - (slack - t))
    close = gap <= 0.015 + 3 * noise + 0.01
    note = f"with t = {here:.3f} at our sizes"
    if row.startswith("ZhEn"):
        # The best has the lower error and yet the lower slack in print.
        note = f"{note}; base and best are probably exchanged in print"
    if not close:
        note = (
            f"{note}; the printed slack leaves an error of {t - slack:.2f}, ours {here - ours:.2f}"
        )
    yield Cell("Table 5", row, "slack", slack, ours, noise, close, note, digits=2)


def _wide(row: str, found: Sequence[BoundRecord]) -> Iterator[Cell]:
    """With R = 25 both bounds hold always, "about an order of magnitude" above the error."""
    for k, name in enumerate(BOUNDS[1:], 1):
        cal = float(100 * np.mean([record.cal[k] for record in found]))
        t = float(np.mean([record.t[k] for record in found]))
        error = t - float(np.mean([record.slack[k] for record in found]))
        said = name in ("Hoeffding", "Bernstein")
        yield Cell("Table 5", row, f"cal, {name} R=25", 100.0 if said else None, cal, None,
                   cal > 99.95 if said else None, digits=0)  # fmt: skip
        note = f"{t / error:.0f} times the error" if error > 0 else ""
        yield Cell("Table 5", row, f"t, {name} R=25", None, t, note=note, digits=2)


def _widths(records: Sequence[BoundRecord]) -> Iterator[Cell]:
    """Footnote 8: Bernstein's bound is the wider one on samples as small as these."""
    groups: dict[tuple[str, float], list[BoundRecord]] = {}
    for record in records:
        if record.estimator == "best":
            groups.setdefault((record.lp, record.size), []).append(record)
    for (lp, size), found in groups.items():
        hoeffding, bernstein = (float(np.mean([r.t[k] for r in found])) for k in (1, 2))
        yield Cell("Table 5", f"{lp} {size:.0%} Hoeffding narrower than Bernstein, R=25",
                   "ratio of t", None, bernstein / hoeffding, None, bernstein > hoeffding,
                   "the paper: Bernstein somewhat worse", digits=2)  # fmt: skip


def _spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
