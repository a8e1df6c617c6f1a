"""The cells of koehn2012: its numbers, ours, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.papers.cells import Cell
from assay.papers.koehn2012_data import FILE
from assay.papers.koehn2012_numbers import (
    CLUSTERS,
    ERRORS,
    JUDGMENTS,
    RANGES,
    SIGMA_ENDS,
    SIGMAS,
    SIZES,
    printed_needs,
    printed_ranking,
)
from assay.papers.koehn2012_work import LEVEL, VARIANTS, Real, uniform_distance

Pool = Mapping[tuple[object, ...], Mapping[str, np.ndarray]]
"""Values of all simulated campaigns, by the work that made them."""

WHAT = ("size", "violations %", "clusters", "cluster violations %")
PAPER_RUNS = 400
"""Campaigns behind Table 1; the paper's own numbers vary by that."""

TABLES = {"en-cs": "Table 2", "fr-en": "Table 3"}


def mean_error(values: np.ndarray) -> tuple[float, float | None]:
    """Mean over campaigns and its Monte-Carlo error."""
    if len(values) < 2:
        return float(values.mean()), None
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def range_cells(pool: Pool) -> Iterator[Cell]:
    """Table 1: ranges and clusters by both methods, and the bootstrap to the letter."""
    pairwise = pool["errors", 10.0]["pairwise"]
    ranges = pool["ranges", 10.0]
    yield from _ranges("Table 1", "pairwise", pairwise)
    yield from _ranges("Table 1", "bootstrap", ranges["bootstrap"])
    yield from _ranges("Table 1, literal", "bootstrap", ranges["literal"])


def _ranges(table: str, method: str, values: np.ndarray) -> Iterator[Cell]:
    printed = np.array(RANGES[method].split(), dtype=float).reshape(len(SIZES), len(WHAT))
    for k, size in enumerate(SIZES):
        for c, what in enumerate(WHAT):
            ours, error = mean_error(values[:, k, c])
            spread = values[:, k, c].std() * np.sqrt(1 / PAPER_RUNS + 1 / len(values))
            near = 0.05 + 2 * spread  # a decimal of rounding, and two errors of the difference
            if what == "size" or (method, what) == ("bootstrap", "clusters"):
                near = 0.05 if method == "pairwise" else 0.15
            paper = float(printed[k, c])
            yield Cell(
                table, f"{method} {size:,}", what, paper, ours, error,
                matches=bool(abs(ours - paper) <= near), digits=2,
            )  # fmt: skip


def ranking_cells(real: Mapping[str, Real]) -> Iterator[Cell]:
    """Tables 2 and 3: scores, ranges and clusters."""
    for lp, table in TABLES.items():
        found, lines = real.get(lp), printed_ranking(lp)
        if found is None or len(found.named.systems) != len(lines):
            note = f"needs {lp} in {FILE}" if found is None else f"other systems in {FILE}"
            for k, line in enumerate(lines):
                for name, value in zip(("score", "first", "last"), line, strict=True):
                    yield Cell(table, f"rank {k + 1}", name, float(value), None, note=note)
            yield Cell(table, lp, "clusters", CLUSTERS[lp], None, note=note)
            continue
        for reading, ranking in (("", found.named), (", literal", found.literal)):
            for item, line in zip(ranking.systems, lines, strict=True):
                row = f"{item.rank} {item.system}"
                if not reading:
                    close = abs(item.score - line.score) <= 0.0005
                    yield Cell(table, row, "score", line.score, item.score,
                               matches=close, digits=4)  # fmt: skip
                for name, paper, ours in (
                    ("first", line.low, item.low_rank), ("last", line.high, item.high_rank),
                ):  # fmt: skip
                    # A resample more or less moves an end by one.
                    note = "" if paper == ours else "within one rank" * (abs(paper - ours) == 1)
                    yield Cell(table + reading, row, name, paper, ours,
                               matches=abs(paper - ours) <= 1, note=note, digits=0)  # fmt: skip
            yield Cell(table + reading, lp, "clusters", CLUSTERS[lp], ranking.clusters,
                       matches=CLUSTERS[lp] == ranking.clusters, digits=0)  # fmt: skip
        yield Cell(table, lp, "judgments", JUDGMENTS[lp], found.named.judgments,
                   note="the paper: about", digits=0)  # fmt: skip


def share_cells(pool: Pool) -> Iterator[Cell]:
    """Table 4: the share reached at the paper's judgments, exact, and judgments for the share."""
    for n, sigma, share, judgments in printed_needs():
        found = pool["share", n, sigma, judgments]
        row, column = f"{n} systems, sigma {sigma:g}", f"{share:.0%}"
        ours = float(found["share"][0])
        near = 0.02 if share >= 0.8 else 0.06
        yield Cell("Table 4", row, column, share, ours, matches=abs(ours - share) <= near,
                   note=f"share at {judgments:,}", digits=3)  # fmt: skip
    for n, sigma, share, judgments in printed_needs():
        need = float(pool["share", n, sigma, judgments]["needed"][0])
        close = abs(need / judgments - 1) <= 0.2
        yield Cell("Table 4, judgments", f"{n} systems, sigma {sigma:g}", f"{share:.0%}", judgments,
                   need, matches=close, digits=0)  # fmt: skip


def error_cells(pool: Pool) -> Iterator[Cell]:
    """Figure 3: pairs in the wrong order by method, at both values of sigma."""
    for sigma in (20.0, 10.0):
        values = pool["errors", sigma]
        table = "Figure 3" if sigma == 20 else "Figure 3, sigma 10"
        for method in ("expected-win", "bojar", "lopez", "lopez, pairs counted"):
            for k, size in enumerate(SIZES):
                paper = ERRORS.get((method.partition(",")[0], size))
                ours, error = mean_error(values[method][:, k])
                close, note = _near(ours, paper, error)
                yield Cell(table, method, f"{size:,}", paper, ours, error, matches=close,
                           note=note, digits=2)  # fmt: skip


def _near(ours: float, paper: float | None, error: float | None) -> tuple[bool | None, str]:
    """Whether two numbers agree within .15; a wider mark would make few draws match more easily."""
    if paper is None:
        return None, ""
    off, spread = abs(ours - paper), float("inf") if error is None else 2 * error
    if off > 0.15 + spread:
        return False, ""
    if off <= 0.15 and spread <= 0.15:
        return True, ""
    return None, "too few draws to compare"


def sigma_cells(real: Mapping[str, Real]) -> Iterator[Cell]:
    """Figure 2: sigma by matching curves and, beside it, by maximum likelihood."""
    for lp in sorted({*real, *SIGMAS}):
        paper = SIGMAS.get(lp)
        found = real.get(lp)
        if found is None:
            yield Cell("Figure 2", lp, "by curve", paper, None, note=f"needs {lp} in {FILE}")
            continue
        ours = found.match.sigma
        close = None if paper is None else abs(ours - paper) <= 1
        apart = f"curves {100 * found.match.distance:.1f} points apart"
        yield Cell("Figure 2", lp, "by curve", paper, ours, matches=close, note=apart, digits=2)
        ends = found.fit.interval
        yield Cell("Figure 2", lp, "by likelihood", None, found.fit.sigma,
                   note=f"95 % interval {ends.low:.1f} to {ends.high:.1f}", digits=2)  # fmt: skip
    curves = [found.match.sigma for found in real.values()]
    for name, paper, choose in (("lowest", SIGMA_ENDS[0], min), ("highest", SIGMA_ENDS[1], max)):
        value = choose(curves) if len(curves) > 1 else None
        close = None if value is None else abs(value - paper) <= 1
        note = "" if value is not None else f"needs {FILE}"
        yield Cell("Figure 2", name, "by curve", paper, value, matches=close, note=note, digits=2)


def uniform_cells(pool: Pool, real: Mapping[str, Real]) -> Iterator[Cell]:
    """Figure 1: are win ratios uniform? Kolmogorov's test of those between the ends."""
    from scipy.stats import kstwo

    for lp, found in real.items():
        scores = np.array([item.score for item in found.named.systems])
        for name, own in (("all systems", scores), ("without the last", scores[:-1])):
            if len(own) >= 4:
                p = float(kstwo.sf(uniform_distance(own), len(own) - 2))
                yield Cell("Figure 1", lp, f"p of uniform, {name}", None, p, digits=3)
    distance = pool["errors", 10.0]["distance"]
    far = 100 * (distance > kstwo.isf(LEVEL, 13)).astype(float)
    yield Cell("Figure 1", "simulated, 50,000 judgments", "campaigns with p < .05, %", None,
               *mean_error(far), digits=2)  # fmt: skip


def win_ratio_cells(real: Mapping[str, Real]) -> Iterator[Cell]:
    """The points of Figure 1."""
    for lp, found in real.items():
        for item in found.named.systems:
            yield Cell("win ratios", lp, item.system, None, item.score, digits=3)


def curve_cells(real: Mapping[str, Real]) -> Iterator[Cell]:
    """The curves of Figure 2: significant pairs (%) by judgments."""
    for lp, found in real.items():
        match = found.match
        for size, share, model in zip(match.judgments, match.shares, match.model, strict=True):
            for name, value in (("actual", share), ("model", model)):
                yield Cell("curves", lp, f"{name} at {size:.0f}", None, 100 * value, digits=1)


def reading_cells(pool: Pool, real: Mapping[str, Real]) -> Iterator[Cell]:
    """What the readings rest on: the paper's numbers beside those of the other reading."""
    two = pool["errors", 10.0]["two-sided"]
    printed = np.array(RANGES["pairwise"].split(), dtype=float).reshape(len(SIZES), len(WHAT))
    for k, size in enumerate(SIZES):
        yield Cell("readings", "sign test two-sided, Table 1", f"size at {size:,}",
                   float(printed[k, 0]), *mean_error(two[:, k, 0]), digits=2)  # fmt: skip
    for n, sigma, share, judgments in printed_needs():
        if (n, sigma) == (15, 10.0):
            found = pool["share", n, float(np.sqrt(sigma)), judgments]["share"]
            yield Cell("readings", "sigma^2 = 10 as a variance, Table 4", f"share at {judgments:,}",
                       share, float(found[0]), digits=3)  # fmt: skip
    found = pool["share", 15, 10.0, 13_000]["share"]
    yield Cell("readings", "section 6, 15 systems, sigma 10", "share at 13,000", 0.7,
               float(found[0]), matches=abs(float(found[0]) - 0.7) <= 0.06, digits=3)  # fmt: skip
    yield from _equal_ends(real)
    for lp in TABLES:
        if lp in real:
            yield Cell("readings", f"{lp}, {real[lp].blanks} blanks dropped", "largest shift",
                       None, real[lp].shift, digits=4)  # fmt: skip


def _equal_ends(real: Mapping[str, Real]) -> Iterator[Cell]:
    """How many ends of rank ranges are exactly the paper's, by reading."""
    for name in ("named", "literal"):
        pairs = []
        for lp in TABLES:
            lines = printed_ranking(lp)
            if lp in real and len(real[lp].named.systems) == len(lines):
                ranking = getattr(real[lp], name)
                for item, line in zip(ranking.systems, lines, strict=True):
                    pairs += [(item.low_rank, line.low), (item.high_rank, line.high)]
        if pairs:
            same = sum(ours == paper for ours, paper in pairs)
            yield Cell("readings", f"Tables 2 and 3, {name}", f"equal ends of {len(pairs)}", None,
                       same, digits=0)  # fmt: skip


def beyond_cells(pool: Pool, sizes: Sequence[int]) -> Iterator[Cell]:
    """What the paper leaves open: sets of two, ties, qualities that are not uniform."""
    for size in sizes:
        for variant in VARIANTS:
            for name, values in pool["beyond", variant, size].items():
                yield Cell("beyond", f"{variant.name}, {size:,}", name, None, *mean_error(values),
                           digits=2)  # fmt: skip
