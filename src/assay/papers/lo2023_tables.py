"""The tables of lo2023 from a folder's data and the records of simulated samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.designs.population import Population
from assay.papers.cells import Cell
from assay.papers.lo2023_data import Data, Scored
from assay.papers.lo2023_numbers import (
    COVERAGE,
    METRICS,
    RUNS,
    Count,
    Pair,
    pairs_of,
    printed_changes,
    printed_lengths,
)
from assay.sampling.stability import summarise_stability
from assay.sampling.summary import length_shares, metric_scores
from assay.sampling.trial import StabilityRecord
from assay.stats.orders import discordant

DESIGN_OF = {"Table 1": "SL", "Table 2": "WD", "Table 3": "DF"}
"""The design by which WMT sampled the pairs of a table."""

COVERAGE_TABLES = {"SL": "Table 6", "WD": "Table 7", "DF": "Table 8"}
PLANNED = "df_selected is the planned sample, not quite what was annotated"


class Run(NamedTuple):
    """One simulation: a metric under a design, at WMT's coverage of each pair or at a budget."""

    metric: str
    design: str
    matched: bool
    of: str
    year: int | None = None
    budget: str | None = None

    @property
    def label(self) -> str:
        """The design and whether all systems share the sample."""
        design = "DB ours" if self.design == "DB" else self.design
        return f"{design} {'matched' if self.matched else 'unmatched'}"


Records = Mapping[Run, Sequence[StabilityRecord]]


def usable(data: Data, run: Run) -> dict[Pair, Scored]:
    """The pairs whose data the simulation can use, of those that WMT sampled by ``run.of``."""
    found = {}
    for pair in pairs_of(run.of, run.year):
        item = data.find(pair, run.metric, whole=run.design == "WD")
        if item is not None and (run.design not in ("WD", "DF") or item.several_documents):
            found[pair] = item
    return found


def coverage_cells(data: Data) -> Iterator[Cell]:
    """Tables 6-8: the mean over systems of the share of segments annotated.

    The systems are those that a metric scores and WMT annotated; a segment counts once.
    """
    for design, printed in COVERAGE.items():
        for pair, paper in printed.items():
            share, note = _coverage(data, pair, design)
            matches = None if share is None else bool(abs(100 * share - paper) < 0.005 + 1e-9)
            if share is not None and not matches:
                note = PLANNED if design == "DF" else "other systems in the mean than the paper's"
            ours = None if share is None else 100 * share
            yield Cell(COVERAGE_TABLES[design], str(pair), "coverage", paper, ours, None, matches,
                       note)  # fmt: skip


def _coverage(data: Data, pair: Pair, design: str) -> tuple[float | None, str]:
    sources = [data.segments.get(pair), data.documents.get(pair)]
    for item in sources:
        annotated = None if item is None else item.annotated(design)
        if item is not None and annotated is not None:
            here = annotated[_kept(item, item.metrics[-1], annotated)]
            return float(here.mean()), ""
    if pair in data.segments:
        return None, f"needs what was annotated, in {pair.file}"
    return None, f"needs {pair.file}"


def _kept(item: Scored, metric: str, annotated: np.ndarray) -> np.ndarray:
    """Positions of the systems that the metric scores and that WMT annotated."""
    column = item.column(metric)
    assert column is not None
    systems, _, _ = metric_scores(item.test_set, column)
    scored = np.isin(item.test_set.systems, systems)
    return np.flatnonzero(scored & annotated.any(axis=1))


def real_change(item: Scored, metric: str, annotated: np.ndarray) -> bool:
    """Whether WMT's own sample ranks the systems otherwise than the whole test set."""
    column = item.column(metric)
    assert column is not None
    systems, scores, _ = metric_scores(item.test_set, column)
    kept = _kept(item, metric, annotated)
    rows = [systems.index(item.test_set.systems[k]) for k in kept]
    scores, drawn = scores[rows], annotated[kept]
    means = np.where(drawn, scores, 0.0).sum(axis=1) / drawn.sum(axis=1)
    return bool(discordant(means, scores.mean(axis=1)).any())


def change_cells(data: Data, records: Records, table: str) -> Iterator[Cell]:
    """Tables 1-3: in how many pairs the ranking changes."""
    design = DESIGN_OF[table]
    printed = list(printed_changes(table))
    for row, metric, count in printed:
        word, _, statistic = row.partition(" ")
        if statistic:
            linear = "DB-linear" if word == "DB" else word
            run = Run(metric, linear, matched=word not in ("SL", "WD"), of=design)
            yield _simulated(data, records, table, row, run, count, statistic)
        else:
            year = None if word == "total" else int(word.removeprefix("WMT"))
            yield _sampled(data, table, row, metric, count, pairs_of(design, year), design)
    for metric in METRICS:
        yield from _means(records, table, metric, design)


def _sampled(
    data: Data,
    table: str,
    row: str,
    metric: str,
    count: Count | None,
    pairs: Sequence[Pair],
    design: str,
) -> Cell:
    """What WMT's own samples did, on the pairs that are here."""
    if count is None:
        return Cell(table, row, metric, None, None, note="the paper has no number")
    pairs = [pair for pair in pairs if pair.year > 19 or metric != "COMET-20"]
    whole = design == "WD"
    changed, lacking = [], []
    for pair in pairs:
        item = data.find(pair, metric, whole=whole)
        annotated = None if item is None else item.annotated(design)
        if item is None:
            lacking.append(data.lacks(pair, metric, whole=whole))
        elif annotated is None:
            lacking.append(f"what was annotated in {pair.file}")
        else:
            changed.append(real_change(item, metric, annotated))
    if not changed:
        return Cell(table, row, metric, count.changed, None, note=_needs(lacking),
                    paper_of=count.of)  # fmt: skip
    ours = Count(sum(changed), len(changed))
    matches, note = _verdict(ours, count)
    if design == "DF":
        note = f"{note}; {PLANNED}".removeprefix("; ")
    return Cell(table, row, metric, count.changed, ours.changed, None, matches, note, count.of,
                ours.of)  # fmt: skip


def _verdict(ours: Count, paper: Count) -> tuple[bool | None, str]:
    """Whether a count agrees; on fewer pairs, whether the paper's leaves room for it.

    >>> _verdict(Count(9, 11), Count(13, 15))
    (None, '11 of 15 pairs present; the paper leaves 9 to 11 on these')
    """
    if ours.of == paper.of:
        same = ours.changed == paper.changed
        return same, "" if same else "differs with all pairs present"
    absent = paper.of - ours.of
    low, high = max(0, paper.changed - absent), min(paper.changed, ours.of)
    note = f"{ours.of} of {paper.of} pairs present; the paper leaves {low} to {high} on these"
    return (None if low <= ours.changed <= high else False), note


def _needs(lacking: Iterable[str]) -> str:
    """The files that would be needed, those of one year as one pattern.

    >>> _needs(["wmt19_metrics_de-cs.parquet", "wmt19_metrics_de-fr.parquet"])
    'needs wmt19_metrics_{de-cs,de-fr}.parquet'
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for text in lacking:
        head, _, tail = text.rpartition("_")
        lp, dot, ending = tail.partition(".")
        groups.setdefault((f"{head}_", dot + ending), []).append(lp)
    parts = [
        head + (found[0] if len(found) == 1 else f"{{{','.join(found)}}}") + tail
        for (head, tail), found in groups.items()
    ]
    return "needs " + ", ".join(parts)


def _simulated(
    data: Data,
    records: Records,
    table: str,
    row: str,
    run: Run,
    count: Count | None,
    statistic: str,
) -> Cell:
    """Best, median or worst of 13 runs; the error is the spread between sets of 13 runs."""
    assert count is not None
    found = records.get(run, ())
    if not found:
        whole = run.design == "WD"
        lacking = [data.lacks(pair, run.metric, whole=whole) for pair in pairs_of(run.of)
                   if pair.year > 19 or run.metric != "COMET-20"]  # fmt: skip
        return Cell(table, row, run.metric, count.changed, None, note=_needs(lacking),
                    paper_of=count.of)  # fmt: skip
    ours, error = _of_runs(found, statistic)
    matches, note = None, f"{len(found)} of {count.of} pairs present"
    if len(found) == count.of:
        # The paper's is one set of 13 runs as well, so both are as uncertain.
        gap = abs(ours - count.changed)
        matches = None if error is None else bool(gap <= 2 * 2**0.5 * error + 1e-9)
        note = "" if matches else "further apart than two sets of 13 runs would be"
        note = "too few draws for an error" if matches is None else note
    return Cell(table, row, run.metric, count.changed, ours, error, matches, note, count.of,
                len(found))  # fmt: skip


def _of_runs(records: Sequence[StabilityRecord], statistic: str) -> tuple[float, float | None]:
    """A statistic of the first 13 runs, and its standard deviation over all sets of 13."""
    totals = np.sum([record.changed for record in records], axis=0)
    share = {"best": 0.0, "median": 0.5, "worst": 1.0}[statistic]
    sets = len(totals) // RUNS
    values = np.quantile(totals[: sets * RUNS].reshape(sets, RUNS), share, axis=1)
    error = float(np.std(values, ddof=1)) if sets > 1 else None
    return float(np.quantile(totals[:RUNS], share)), error


def _means(records: Records, table: str, metric: str, design: str) -> Iterator[Cell]:
    """What the paper has not: means over all draws, and our own snippets beside the paper's."""
    unmatched = design in ("SL", "WD")
    for name, label in ((design, design), ("DB-linear", "DB"), ("DB", "DB ours")):
        run = Run(metric, name, matched=name != design or not unmatched, of=design)
        found = records.get(run, ())
        if not found:
            continue
        total = summarise_stability(found, metric=metric).designs[0]
        note = _short(found)
        if label == "DB ours":
            for statistic in ("best", "median", "worst"):
                ours, spread = _of_runs(found, statistic)
                yield Cell(table, f"{label} {statistic}", metric, None, ours, spread,
                           ours_of=len(found), note=note)  # fmt: skip
        error = _finite(total.changed_error)
        yield Cell(table, f"{label} mean", metric, None, total.changed, error,
                   ours_of=len(found), note=note)  # fmt: skip


def _short(records: Sequence[StabilityRecord]) -> str:
    """Where a design cannot spend its budget: fixed snippets of long documents."""
    short = [r for r in records if r.sizes.mean() < 0.95 * r.n]
    return ", ".join(f"{r.name}: {r.sizes.mean() / r.population:.0%} drawn of"
                     f" {r.n / r.population:.0%} wanted" for r in short)  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def length_cells(data: Data, records: Records) -> Iterator[Cell]:
    """Table 4: the shares of the data by the length of its documents."""
    simulated = {
        label: _by_pair(records, design)
        for label, design in (("DB", "DB-linear"), ("DB ours", "DB"), ("DF simulated", "DF"))
    }
    done: dict[str, None] = {}
    for number, (lp, sample, column, paper) in enumerate(printed_lengths()):
        pair, k = Pair(22, lp), number % 6
        ours, error, note = _length(data, simulated["DB"], pair, sample, k)
        wanted = 0.0 if paper is None else paper
        matches = None if ours is None else bool(abs(ours - wanted) <= 0.5 + 2 * (error or 0.0))
        if matches is False and sample == "DF":
            note = PLANNED
        if lp == "uk-cs" and sample == "DB" and k == 0:
            note = f"{note}; the paper's row adds up to 104 %".removeprefix("; ")
        yield Cell("Table 4", f"{lp} {sample}", column, paper, ours, error, matches, note)
        done[lp] = None
    for lp in done:
        for label in ("DB ours", "DF simulated"):
            record = simulated[label].get(str(Pair(22, lp)))
            if record is not None:
                for k, column in enumerate(("0-9", "10+", "20+", "30+", "40+", "50+")):
                    ours, error = _mean_share(record, k)
                    yield Cell("Table 4", f"{lp} {label}", column, None, ours, error)


def _by_pair(records: Records, design: str) -> dict[str, StabilityRecord]:
    """The records of a matched design on the DF pairs, by any metric: lengths are the same."""
    found: dict[str, StabilityRecord] = {}
    for run, listed in records.items():
        if run.of == "DF" and run.design == design and run.matched and run.budget is None:
            for record in listed:
                found.setdefault(record.name, record)
    return found


def _mean_share(record: StabilityRecord, k: int) -> tuple[float, float | None]:
    shares = 100 * record.length_shares[:, k]
    error = float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else None
    return float(shares.mean()), error


def _length(
    data: Data, simulated: Mapping[str, StabilityRecord], pair: Pair, sample: str, k: int
) -> tuple[float | None, float | None, str]:
    item = data.segments.get(pair)
    if item is None:
        return None, None, f"needs {pair.file}"
    if sample == "DB":
        return *_mean_share(simulated[str(pair)], k), ""
    annotated = item.annotated("DF")
    if sample == "DF" and annotated is None:
        return None, None, f"needs df_selected in {pair.file}"
    layout = Population(item.test_set).layout
    every = np.ones(layout.population, dtype=bool)
    drawn = every if annotated is None else np.asarray(annotated.any(axis=0))
    share = length_shares(layout, drawn)[k]
    return 100 * (share.sample if sample == "DF" else share.full), None, ""


def beyond_cells(records: Records, runs: Iterable[Run]) -> Iterator[Cell]:
    """Matching x design on the pairs that WMT20 sampled by whole documents."""
    for run in runs:
        everywhere = records.get(run._replace(year=None), ())
        found = records.get(run) or [r for r in everywhere if r.name.startswith(f"WMT{run.year}")]
        if not found:
            continue
        total = summarise_stability(found, metric=run.metric).designs[0]
        for column, value, error, of in (
            ("changed", total.changed, total.changed_error, len(found)),
            ("significant flips", total.significant_flips, total.significant_error, len(found)),
            ("discordant %", 100 * total.discordant_pairs, 100 * total.discordant_error, None),
        ):
            yield Cell("beyond", run.label, column, None, value, _finite(error), ours_of=of)


def budget_cells(records: Records, runs: Iterable[Run]) -> Iterator[Cell]:
    """The share of samples with a changed ranking by budget and design."""
    for run in runs:
        found = records.get(run, ())
        if found and run.budget is not None:
            total = summarise_stability(found, metric=run.metric).designs[0]
            yield Cell("budgets", run.label, run.budget, None, 100 * total.changed / len(found),
                       100 * total.changed_error / len(found))  # fmt: skip
