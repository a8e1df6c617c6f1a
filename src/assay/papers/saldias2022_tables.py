"""Tables 1-4 and 6 of saldias2022, the orderings of its methods, and what is beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from assay.papers.cells import Cell
from assay.papers.saldias2022_data import DEVELOPMENT, TESTS, Corpus, Data, Source
from assay.papers.saldias2022_numbers import (
    BEST,
    DRAWS,
    METHODS,
    RESULTS,
    SIMULATIONS,
    SIZES,
    TEST_RESULTS,
    Result,
    printed_results,
)
from assay.papers.saldias2022_tally import Summary, Tally, gap_noise, summarise

BEYOND = ("docs-prop+regression", "snippets+regression", "balanced+regression")
"""Designs and estimators that the paper has not."""
LITERAL = {
    "cv-single:BLEURT-20": "cv-single-literal:BLEURT-20",
    "cv-multi": "cv-multi-literal",
}
"""Control variates with the centred slope, and with E[XZ] in its place, as equations 3, 4 print."""
ROUNDED = {
    "docs-prop": "docs-prop|rounding:largest",
    "docs-opt": "docs-opt|rounding:largest",
}
"""Strata rounded at random, and to the nearest whole numbers, as section 2.1 says."""
TRIED = (
    "baseline",
    *METHODS.values(),
    "metrics-opt",
    *LITERAL.values(),
    *ROUNDED.values(),
    *BEYOND,
)
TEST_METHODS = ("baseline", BEST, "balanced+regression")
FIGURES = {
    "Figure 2": ("baseline", "docs-prop", "docs-opt", "metrics-prop"),
    "Figure 3": ("baseline", "cv-bleurt", "cv-mean", "cv-multi", "cv-knn"),
    "Figure 4": ("baseline", "docs-prop", "cv-knn", BEST),
}

CLOSE = 0.015
"""How far a mean error may be from the paper's, besides three Monte-Carlo errors: ours is of other
raters, or of half of the segments."""
GAIN = {"docs-prop": 3.0, "cv-bleurt": 3.0}
OTHER_GAIN = 5.0
"""How many points a gain may be off: more where it depends on metrics that the folder lacks."""
WITH_METRICS = "other metrics than the paper's ten"
SPREADS = "ours allocates by standard deviations; by variances, as the paper words it, it loses"
PRIOR = "ours has pseudo-ratings, so that no document is given up"


def ours_of(method: str) -> str:
    """Our name of a method of the paper."""
    return METHODS.get(method, method)


def tolerance(method: str) -> float:
    """By how many points a gain may differ from the paper's."""
    return GAIN.get(method, OTHER_GAIN)


def result_cells(data: Data, tallies: Mapping[str, Tally]) -> Iterator[Cell]:
    """Tables 1-4 on the ratings of single raters."""
    for table in RESULTS:
        base: dict[str, Result] = {}
        for lp, method, paper in printed_results(table):
            base.setdefault(lp, paper)
            found = summarise(tallies.get(lp, {}), ours_of(method))
            note = lacking(data, lp, ours_of(method)) if found is None else ""
            yield from _result(table, lp, method, paper, base[lp], found, note)
        if table == "Table 1":  # "not shown, as it is much worse"
            for source in DEVELOPMENT:
                found = summarise(tallies.get(source.name, {}), "metrics-opt")
                if found is not None:
                    yield from _result(table, source.name, "metrics-opt", None, None, found, "")


def _result(
    table: str,
    lp: str,
    method: str,
    paper: Result | None,
    base: Result | None,
    found: Summary | None,
    lack: str,
) -> Iterator[Cell]:
    row = f"{lp} {method}"
    if found is None:
        assert paper is not None
        yield Cell(table, row, "abs error", paper.error, None, note=lack, digits=3)
        yield Cell(table, row, "sdev", paper.sdev, None, note=lack, digits=3)
        if paper.win is not None:
            yield Cell(table, row, "gain %", paper_gain(paper, base), None, note=lack, digits=1)
            yield Cell(table, row, "win %", paper.win, None, note=lack, digits=1)
        return
    for column, printed, ours, noise in (
        ("abs error", paper.error if paper else None, found.error, found.error_noise),
        ("sdev", paper.sdev if paper else None, found.sdev, found.sdev_noise),
    ):
        matches = None if printed is None else abs(ours - printed) <= CLOSE + 3 * noise
        note = _reason(method) if matches is False else ""
        yield Cell(table, row, column, printed, ours, noise, matches, note, digits=3)
    if method == "baseline":
        return
    printed = paper_gain(paper, base)
    matches = None
    if printed is not None:
        matches = abs(found.gain - printed) <= tolerance(method) + 3 * found.gain_noise
    note = _reason(method) if matches is False else ""
    yield Cell(table, row, "gain %", printed, found.gain, found.gain_noise, matches, note, digits=1)
    yield _win(table, row, method, paper.win if paper else None, found)


def _win(table: str, row: str, method: str, paper: float | None, found: Summary) -> Cell:
    """Wins are compared over simulations: ours and the paper's are two sets of them."""
    spread = found.win_spread if np.isfinite(found.win_spread) else None
    matches, note = None, ""
    if paper is not None and found.draws != DRAWS:
        # The noisier the errors, the nearer to 50 % are the wins.
        note = f"of {found.draws} draws; the paper's are of {DRAWS}"
    elif paper is not None and spread is not None:
        both = spread * float(np.sqrt(1 + found.simulations / SIMULATIONS))
        matches = bool(abs(found.win - paper) <= 2 * both + 0.05)
        note = "" if matches else _reason(method)
    return Cell(table, row, "win %", paper, found.win, spread, matches, note, digits=1)


def _reason(method: str) -> str:
    """Why a number may differ from the paper's."""
    if "incr" in method:
        return f"{PRIOR}; {WITH_METRICS}" if "metrics" in method else PRIOR
    if method in ("baseline", "docs-prop"):
        return "further from the paper's than raters and draws explain"
    return f"{SPREADS}; {WITH_METRICS}" if method == "docs-opt" else WITH_METRICS


def paper_gain(paper: Result | None, base: Result | None) -> float | None:
    """The reduction of the mean error in percent, from the printed errors."""
    if paper is None or base is None:
        return None
    return 100 * (1 - paper.error / base.error)


def lacking(data: Data, lp: str, method: str) -> str:
    """Why there is no number of ours."""
    source = next(source for source in DEVELOPMENT if source.name == lp)
    corpus = data.development.get(lp)
    if corpus is None:
        return f"needs {source.file}"
    if not corpus.raters:
        return f"needs mqm_r1, mqm_r2, mqm_r3 in {source.file} or {source.raters_file}"
    if ":" in method:
        return f"needs {method.split(':')[1]} in {source.file}"
    return "not simulated"


def mean_cells(data: Data, tallies: Mapping[str, Tally]) -> Iterator[Cell]:
    """The same methods on the means of all raters, where only gains can be compared."""
    table, done = "means of raters", set()
    base: dict[str, Result] = {}
    for name in RESULTS:
        for lp, method, paper in printed_results(name):
            base.setdefault(lp, paper)
            if (lp, method) in done or lp not in data.development:
                continue
            done.add((lp, method))
            found = summarise(tallies.get(lp, {}), ours_of(method))
            if found is None:
                continue
            row = f"{lp} {method}"
            yield Cell(table, row, "abs error", paper.error, found.error, found.error_noise,
                       note="means of three raters vary less than single ratings",
                       digits=3)  # fmt: skip
            if method == "baseline":
                continue
            printed = paper_gain(paper, base[lp])
            assert printed is not None
            matches = abs(found.gain - printed) <= tolerance(method) + 3 * found.gain_noise
            yield Cell(table, row, "gain %", printed, found.gain, found.gain_noise, matches,
                       "" if matches else _reason(method), digits=1)  # fmt: skip


def ordering_cells(tallies: Mapping[str, Tally], table: str) -> Iterator[Cell]:
    """Which of two methods of a table has the lower error, by how much of the baseline's.

    Where the paper's two are closer than its rounding and its 100 draws can tell, or ours closer
    than two Monte-Carlo errors, there is nothing to compare.
    """
    done = set()
    for name in RESULTS:
        for source in DEVELOPMENT:
            lp = source.name
            rows = {method: paper for own, method, paper in printed_results(name) if own == lp}
            for one, two in combinations(rows, 2):
                if (lp, one, two) in done:
                    continue
                done.add((lp, one, two))
                cell = _ordering(table, lp, (one, two), rows, tallies.get(lp, {}))
                if cell is not None:
                    yield cell
    for lp, tally in tallies.items():
        worse, better = summarise(tally, "metrics-opt"), summarise(tally, "docs-opt")
        if worse is not None and better is not None:
            gap, noise = better.gain - worse.gain, gap_noise(worse, better)
            yield Cell(table, f"{lp} docs-opt before metrics-opt", "gap %", None, gap, noise,
                       gap > 2 * noise, "the paper: much worse, not shown", digits=1)  # fmt: skip


def _ordering(
    table: str, lp: str, pair: tuple[str, str], rows: Mapping[str, Result], tally: Tally
) -> Cell | None:
    best, second = sorted(pair, key=lambda method: rows[method].error)
    one, two = summarise(tally, ours_of(best)), summarise(tally, ours_of(second))
    if one is None or two is None:
        return None
    scale = rows["baseline"].error
    printed = 100 * (rows[second].error - rows[best].error) / scale
    sdevs = (rows[best].sdev, rows[second].sdev)
    own_noise = 100 * float(np.hypot(*sdevs)) / np.sqrt(SIMULATIONS * len(SIZES) * DRAWS) / scale
    gap, noise = one.gain - two.gain, gap_noise(one, two)
    matches: bool | None = gap > 0
    note = ""
    if printed <= 2 * own_noise + 100 * 0.001 / scale:
        matches, note = None, "as good as equal in the paper"
    elif abs(gap) <= 2 * noise:
        matches, note = None, "too close to tell"
    elif not matches:
        note = _reason(best if best not in ("baseline", "docs-prop") else second)
    return Cell(table, f"{lp} {best} before {second}", "gap %", printed, gap, noise, matches, note,
                digits=1)  # fmt: skip


def test_cells(data: Data, tallies: Mapping[Source, Tally]) -> Iterator[Cell]:
    """Table 6, and its protocol on other years."""
    for source in TESTS:
        printed = TEST_RESULTS.get(source.name, {}) if source.printed else {}
        for method in TEST_METHODS:
            paper = printed.get(method)
            found = summarise(tallies.get(source, {}), method)
            if found is None and paper is None:
                continue
            lack = f"needs {source.file}"
            base = printed.get("baseline")
            yield from _result("Table 6", source.name, method, paper, base, found, lack)


def literal_cells(tallies: Mapping[str, Tally], reading: str) -> Iterator[Cell]:
    """What the letter of the paper does beside our reading: gains at 5 % and over all sizes."""
    pairs = [(*pair, "centred", "E[XZ]") for pair in LITERAL.items()]
    pairs += [(*pair, "rounded at random", "rounded to nearest") for pair in ROUNDED.items()]
    for lp, tally in tallies.items():
        for ours, letter, *labels in pairs:
            name = ours.replace("single:BLEURT-20", "bleurt")
            for method, label in zip((ours, letter), labels, strict=True):
                for column, sizes in (("gain % at 5 %", SIZES[:1]), ("gain %", SIZES)):
                    found = summarise(tally, method, sizes)
                    if found is not None:
                        yield Cell("literal", f"{lp} {name} {label}, {reading}", column, None,
                                   found.gain, found.gain_noise, digits=1)  # fmt: skip


def beyond_cells(tallies: Mapping[str, Tally], reading: str) -> Iterator[Cell]:
    """The paper's best beside designs and estimators that it has not."""
    for lp, tally in tallies.items():
        for method in (BEST, *BEYOND):
            found = summarise(tally, method)
            if found is None:
                continue
            row = f"{lp} {method}, {reading}"
            for column, value, noise in (
                ("gain %", found.gain, found.gain_noise),
                ("win %", found.win, found.win_spread),
                ("bias, % of the baseline's error", found.bias, None),
                ("coverage of 95 % intervals", found.coverage, None),
            ):
                error = noise if noise is not None and np.isfinite(noise) else None
                yield Cell("beyond", row, column, None, value, error, digits=1)


def curve_cells(tallies: Mapping[str, Tally], tests: Mapping[Source, Tally]) -> Iterator[Cell]:
    """Figures 2-5: mean and standard deviation of the error by sample size."""
    for figure, methods in FIGURES.items():
        for lp, tally in tallies.items():
            yield from _curves(figure, lp, methods, tally)
    for source, tally in tests.items():
        yield from _curves("Figure 5", source.name, TEST_METHODS[:2], tally)


def _curves(figure: str, lp: str, methods: Sequence[str], tally: Tally) -> Iterator[Cell]:
    for method in methods:
        for size in SIZES:
            found = summarise(tally, ours_of(method), [size])
            if found is not None:
                for column, value, noise in (
                    ("abs error", found.error, found.error_noise),
                    ("sdev", found.sdev, found.sdev_noise),
                ):
                    yield Cell(figure, f"{lp} {method}", f"{column} at {size:.0%}", None, value,
                               noise, digits=3)  # fmt: skip


def methods_for(corpus: Corpus, methods: Sequence[str]) -> list[str]:
    """Those of the methods whose metric the file has."""
    return [m for m in methods if ":" not in m or m.split(":")[1] in corpus.metrics]
