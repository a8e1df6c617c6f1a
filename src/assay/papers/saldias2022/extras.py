"""Cells of saldias2022 that are not counted: gains, other readings of the paper, other methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from assay.papers.compare import PrintedCell, extra, printed_values, read_printed
from assay.papers.saldias2022.description import description_cells
from assay.papers.saldias2022.draws import OTHER_MEANS, UNEVEN, Tallies, bound_cells
from assay.papers.saldias2022.ratings import RatingFile, RatingFolder
from assay.papers.saldias2022.tally import (
    BEST,
    BEYOND,
    FIGURES,
    LITERAL,
    METHODS,
    ROUNDED,
    SIZES,
    TABLES,
    TEST_METHODS,
    MethodSummary,
    Tally,
    gap_noise,
    summarise,
)


def extra_cells(data: RatingFolder, tallies: Tallies) -> Iterator[PrintedCell]:
    """All extra cells but the curves, which only figures show."""
    yield from _gain_cells(tallies)
    yield from _test_cells(tallies.tests)
    yield from _other_mean_cells(tallies.single)
    yield from bound_cells(tallies.bounds)
    yield from description_cells(data, tallies.single)
    yield from _mean_cells(tallies.means)
    yield from _ordering_cells(tallies.single, "orderings")
    yield from _ordering_cells(tallies.means, "orderings, means of raters")
    for make in (_literal_cells, _beyond_cells):
        yield from make(tallies.single, "single raters")
        yield from make(tallies.means, "means")


def _gain(
    table: str, row: str, summary: MethodSummary | None, paper: float | None = None,
    column: str = "gain %",
) -> Iterator[PrintedCell]:  # fmt: skip
    """The gain of a method, next to the paper's if there is one; nothing without records."""
    if summary is not None:
        yield extra(table, row, column, summary.gain, summary.gain_noise, paper=paper, digits=1)


def paper_gain(start: str, method: str) -> float | None:
    """The printed reduction of the mean error, in percent.

    >>> round(paper_gain("EnDe", "docs-prop+cv-knn"), 1)
    14.0
    """
    printed = printed_values("saldias2022")
    error = printed.get(f"{start} {method} error")
    return None if error is None else 100 * (1 - error / printed[f"{start} baseline error"])


def _rows(table: str) -> list[tuple[str, str]]:
    """The language pair and the method of every row of a table."""
    rows = [item.row for item in read_printed("saldias2022") if item.table == table]
    return [(row.split()[0], row.split()[1]) for row in dict.fromkeys(rows)]


def _gain_cells(tallies: Tallies) -> Iterator[PrintedCell]:
    """The gains of Tables 1-4, and metrics-opt, "not shown, as it is much worse"."""
    for table in TABLES:
        for lp, method in _rows(table):
            if method != "baseline":
                summary = _summary(tallies.single.get(lp, {}), method)
                yield from _gain(table, f"{lp} {method}", summary, paper_gain(lp, method))
    for lp, tally in tallies.single.items():
        yield from _method_cells("Table 1", lp, "metrics-opt", summarise(tally, "metrics-opt"))


def _summary(tally: Tally, method: str) -> MethodSummary | None:
    """The summary of a method by the paper's name."""
    return summarise(tally, METHODS.get(method, method))


def _method_cells(
    table: str, start: str, method: str, summary: MethodSummary | None
) -> Iterator[PrintedCell]:
    """All numbers of a method that the paper does not print."""
    if summary is None:
        return
    row = f"{start} {method}"
    yield extra(table, row, "abs error", summary.error, summary.error_noise, digits=3)
    yield extra(table, row, "sdev", summary.sdev, summary.sdev_noise, digits=3)
    if method != "baseline":
        yield from _gain(table, row, summary)
        yield extra(table, row, "win %", summary.win, summary.win_noise, digits=1)


def _test_cells(tallies: Mapping[RatingFile, Tally]) -> Iterator[PrintedCell]:
    """Table 6: gains on WMT21, and its protocol on other years."""
    for source, tally in tallies.items():
        for method in TEST_METHODS:
            summary = summarise(tally, method)
            start = f"WMT21 {source.name}" if source.printed else source.name
            gain = paper_gain(start, method) if source.printed else None
            if gain is None:
                yield from _method_cells("Table 6", start, method, summary)
            elif method != "baseline":
                yield from _gain("Table 6", f"{source.name} {method}", summary, gain)


def _other_mean_cells(tallies: Mapping[str, Tally]) -> Iterator[PrintedCell]:
    """Other means of what was drawn, next to equation 1."""
    for lp, tally in tallies.items():
        for method in UNEVEN:
            names = {"equation 1": method} | {name: f"{method}, {name}" for name in OTHER_MEANS}
            for label, name in names.items():
                row, summary = f"{lp} {method}, {label}", summarise(tally, name)
                yield from _gain("other means", row, summary, paper_gain(lp, method))


def _mean_cells(tallies: Mapping[str, Tally]) -> Iterator[PrintedCell]:
    """The same methods on the means of all raters, which vary less than single ratings."""
    printed = printed_values("saldias2022")
    for lp, tally in tallies.items():
        for method in ("baseline", *METHODS):
            summary = _summary(tally, method)
            if summary is None:
                continue
            row = f"{lp} {method}"
            yield extra("means of raters", row, "abs error", summary.error, summary.error_noise,
                        paper=printed[f"{row} error"], digits=3)  # fmt: skip
            if method != "baseline":
                yield from _gain("means of raters", row, summary, paper_gain(lp, method))


def _ordering_cells(tallies: Mapping[str, Tally], table: str) -> Iterator[PrintedCell]:
    """By how much of the baseline's error the better of two methods of a table is ahead."""
    for lp, tally in tallies.items():
        pairs = [
            pair
            for name in TABLES
            for pair in combinations([method for own, method in _rows(name) if own == lp], 2)
        ]
        for pair in dict.fromkeys(pairs):
            yield from _ordering(table, lp, pair, tally)
        worse, better = summarise(tally, "metrics-opt"), summarise(tally, "docs-opt")
        if worse is not None and better is not None:
            yield extra(table, f"{lp} docs-opt before metrics-opt", "gap %",
                         better.gain - worse.gain, gap_noise(worse, better),
                         note="the paper: much worse, not shown", digits=1)  # fmt: skip


def _ordering(table: str, lp: str, pair: tuple[str, str], tally: Tally) -> Iterator[PrintedCell]:
    printed = printed_values("saldias2022")
    best, second = sorted(pair, key=lambda method: printed[f"{lp} {method} error"])
    one, two = _summary(tally, best), _summary(tally, second)
    if one is not None and two is not None:
        errors = [printed[f"{lp} {method} error"] for method in (second, best, "baseline")]
        gap, noise = one.gain - two.gain, gap_noise(one, two)
        yield extra(table, f"{lp} {best} before {second}", "gap %", gap, noise, digits=1,
                     paper=100 * (errors[0] - errors[1]) / errors[2],
                     note="too close to tell" if abs(gap) <= 2 * noise else "")  # fmt: skip


def _literal_cells(tallies: Mapping[str, Tally], reading: str) -> Iterator[PrintedCell]:
    """The letter of the paper next to our reading: gains at 5 % and over all sizes."""
    pairs = [(*pair, "centred", "E[XZ]") for pair in LITERAL.items()]
    pairs += [(*pair, "rounded at random", "rounded to nearest") for pair in ROUNDED.items()]
    for lp, tally in tallies.items():
        for ours, letter, *labels in pairs:
            name = ours.replace("single:BLEURT-20", "bleurt")
            for method, label in zip((ours, letter), labels, strict=True):
                for column, sizes in (("gain % at 5 %", SIZES[:1]), ("gain %", SIZES)):
                    row = f"{lp} {name} {label}, {reading}"
                    yield from _gain("literal", row, summarise(tally, method, sizes), column=column)


def _beyond_cells(tallies: Mapping[str, Tally], reading: str) -> Iterator[PrintedCell]:
    """The paper's best method next to designs and estimators that it lacks."""
    for lp, tally in tallies.items():
        for method in (BEST, *BEYOND):
            summary = summarise(tally, method)
            if summary is None:
                continue
            for column, value, noise in (
                ("gain %", summary.gain, summary.gain_noise),
                ("win %", summary.win, summary.win_noise),
                ("bias, % of the baseline's error", summary.bias, None),
                ("coverage of 95 % intervals", summary.coverage, None),
            ):
                yield extra("beyond", f"{lp} {method}, {reading}", column, value, noise, digits=1)


def curve_cells(tallies: Tallies) -> Iterator[PrintedCell]:
    """The mean and the standard deviation of the error by sample size: Figures 2-5."""
    for figure, methods in FIGURES.items():
        for lp, tally in tallies.single.items():
            yield from _curves(figure, lp, methods, tally)
    for source, tally in tallies.tests.items():
        name = f"WMT21 {source.name}" if source.printed else source.name
        yield from _curves("Figure 5", name, TEST_METHODS[:2], tally)


def _curves(figure: str, lp: str, methods: Sequence[str], tally: Tally) -> Iterator[PrintedCell]:
    for method in methods:
        for size in SIZES:
            summary = summarise(tally, METHODS.get(method, method), [size])
            if summary is not None:
                for column, value, noise in (
                    ("abs error", summary.error, summary.error_noise),
                    ("sdev", summary.sdev, summary.sdev_noise),
                ):
                    yield extra(figure, f"{lp} {method}", f"{column} at {size:.0%}", value, noise,
                                 digits=3)  # fmt: skip
