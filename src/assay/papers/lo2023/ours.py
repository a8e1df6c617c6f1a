"""Compute the numbers of lo2023: coverage, changed rankings by design, lengths of documents.

:data:`READINGS` lists how we read the paper where it leaves room; the result repeats them.
Simulated samples have the size that follows from the paper's coverage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

import assay
from assay.papers.compare import (
    OurNumber,
    PaperRequest,
    PaperWork,
    PrintedCell,
    PrintedNumber,
    Reproduction,
    compare,
    extra,
    mean_error,
    no_data_note,
    read_printed,
)
from assay.papers.lo2023.scores import (
    BEYOND,
    BUDGETS,
    COVERAGE_TABLES,
    DESIGN_OF,
    METRICS,
    LanguagePair,
    ScoredPair,
    ScoreFolder,
    StabilityRun,
    pairs_of,
    printed_coverage,
    read_folder,
    stability_runs,
    usable,
)
from assay.results import Note
from assay.sampling.stability import StabilityRecord

DRAWS, FEWEST_DRAWS = 1000, 1
RUNS = 13
"""The number of runs behind the paper's best, median and worst."""
LENGTHS = ("0-9", "10+", "20+", "30+", "40+", "50+")
"""The columns of Table 4."""
PLANNED = "df_selected is the planned sample, not quite what was annotated"
READINGS = (
    Note("reading-coverage", "reading: the coverage of a pair is the share of distinct segments"
         " annotated, averaged over the systems that chrF scores and WMT annotated"),
    Note("reading-changed", "reading: a ranking has changed if any two systems are in another"
         " order than on the whole test set; systems without metric values are left out"),
    Note("reading-windows", "reading: 'DB' in Tables 1-4 is a window anywhere in the document"
         " (DB-linear); 'DB ours' is the design snippets"),
)  # fmt: skip
Numbers = dict[str, OurNumber]
Records = Mapping[StabilityRun, Sequence[StabilityRecord]]


class Lo2023(PaperWork):
    """The simulated samples behind the tables."""

    @property
    def steps(self) -> int:
        """The number of steps that :meth:`run` yields."""
        return sum(len(usable(self.data, run)) for run in self.runs)

    def run(self) -> Iterator[tuple[StabilityRun, StabilityRecord]]:
        """Yield one record per simulation and language pair."""
        for run, rng in zip(self.runs, self.request.rng.spawn(len(self.runs)), strict=True):
            pairs = usable(self.data, run)
            shares = printed_coverage(run.of)
            budgets = {str(pair): run.budget or f"{shares[pair]}%" for pair in pairs}
            # One call per name of the metric's column; only COMET has several names.
            names = {str(pair): item.column(run.metric) or "" for pair, item in pairs.items()}
            for name in dict.fromkeys(names.values()):
                sets = {str(p): i.test_set for p, i in pairs.items() if names[str(p)] == name}
                records = assay.stability(
                    sets, designs=[run.design], budget=budgets, metric=name, held_out=None,
                    candidates=1, matched=run.matched, draws=self.request.draws, rng=rng,
                    workers=self.request.workers,
                )  # fmt: skip
                yield from ((run, record) for record in records)

    def finish(self, steps: Iterable[tuple[StabilityRun, StabilityRecord]]) -> Reproduction:
        """Make the tables from the steps that :meth:`run` yielded."""
        records: dict[StabilityRun, list[StabilityRecord]] = {}
        for run, record in steps:
            records.setdefault(run, []).append(record)
        ours = change_numbers(self.data, records) | length_numbers(self.data, records)
        ours |= coverage_numbers(self.data)
        cells = [*_mean_cells(records), *_length_cells(records), *_beyond_cells(records)]
        cells += _budget_cells(records, self.runs)
        present = self.data.segments or self.data.documents
        notes = (*READINGS, *self.data.notes, *_from_documents(self.data))
        return compare(
            "lo2023", ours, cells, notes=notes if present else (no_data_note("lo2023"),),
            request=self.request,
        )  # fmt: skip


def list_work(request: PaperRequest) -> Lo2023:
    """Read the folder and list the simulations; ``figures`` adds those of the stability figure.

    The paper ran everything 13 times with the seed 13. ``draws`` is 1000 by default, of which the
    first 13 give what the paper reports.
    """
    data = read_folder(request.folder)
    runs = stability_runs(BUDGETS if request.figures else ())
    return Lo2023(data, tuple(run for run in runs if usable(data, run)), request)


def coverage_numbers(data: ScoreFolder) -> Numbers:
    """Tables 6-8: the share of annotated segments, averaged over systems.

    The systems are those that a metric scores and WMT annotated; a segment counts once.
    """
    return {
        f"{table} {pair} coverage": _coverage(data, pair, design)
        for design, table in COVERAGE_TABLES.items()
        for pair in pairs_of(design)
    }


def _coverage(data: ScoreFolder, pair: LanguagePair, design: str) -> OurNumber:
    reason = PLANNED if design == "DF" else "other systems in the mean than the paper's"
    for item in (data.segments.get(pair), data.documents.get(pair)):
        annotated = None if item is None else item.annotated(design)
        if item is not None and annotated is not None:
            place, _ = item.scored(item.metrics[-1])
            here = annotated[place][annotated[place].any(axis=1)]
            return OurNumber(100 * float(here.mean()), reason=reason)
    what = "what was annotated, in " if pair in data.segments else ""
    return OurNumber(needs=f"{what}{pair.file}")


def real_change(item: ScoredPair, metric: str, annotated: np.ndarray) -> bool:
    """Whether WMT's own sample ranks the systems differently from the whole test set."""
    place, scores = item.scored(metric)
    kept = annotated[place].any(axis=1)
    scores, drawn = scores[kept], annotated[place][kept]
    means = np.where(drawn, scores, 0.0).sum(axis=1) / drawn.sum(axis=1)
    gaps = (np.sign(mean[:, None] - mean) for mean in (means, scores.mean(axis=1)))
    return not np.array_equal(*gaps)


def change_numbers(data: ScoreFolder, records: Records) -> Numbers:
    """Tables 1-3: the number of pairs whose ranking changes."""
    ours = {}
    for item in read_printed("lo2023"):
        design = DESIGN_OF.get(item.table)
        if design is None:
            continue
        word, _, statistic = item.row.partition(" ")
        if statistic:
            name = "DB-linear" if word == "DB" else word
            run = StabilityRun(item.column, name, matched=word not in ("SL", "WD"), of=design)
            ours[item.number] = _simulated(data, records, run, item, statistic)
        else:
            year = None if word == "total" else int(word.removeprefix("WMT"))
            ours[item.number] = _sampled(data, item, pairs_of(design, year), design)
    return ours


def _sampled(
    data: ScoreFolder, printed: PrintedNumber, pairs: Sequence[LanguagePair], design: str
) -> OurNumber:
    """The rankings that WMT's own samples change, of the pairs in the folder."""
    metric, whole = printed.column, design == "WD"
    changed, lacking = [], []
    for pair in _scored_by(pairs, metric):
        item = data.find(pair, metric, whole=whole)
        annotated = None if item is None else item.annotated(design)
        if item is None:
            lacking.append(data.lacks(pair, metric, whole=whole))
        elif annotated is None:
            lacking.append(f"what was annotated in {pair.file}")
        else:
            changed.append(real_change(item, metric, annotated))
    if not changed:
        return OurNumber(needs=listed(lacking))
    note = PLANNED if design == "DF" else ""
    return _counted(sum(changed), len(changed), printed, lacking, note)


def _scored_by(pairs: Iterable[LanguagePair], metric: str) -> list[LanguagePair]:
    """COMET-20 has no scores of WMT19."""
    return [pair for pair in pairs if pair.year > 19 or metric != "COMET-20"]


def _counted(
    changed: int, here: int, printed: PrintedNumber, lacking: Sequence[str], note: str
) -> OurNumber:
    """Compare a count over all pairs; over fewer, only if the paper's count rules ours out."""
    if not lacking:
        return OurNumber(changed, of=here, reason="differs with all pairs present", note=note)
    assert printed.of is not None
    absent, paper = printed.of - here, int(printed.value)
    low, high = max(0, paper - absent), min(paper, here)
    room = f"{here} of {printed.of} pairs present; the paper leaves {low} to {high} on these"
    note = f"{room}; {note}".removesuffix("; ")
    possible = low <= changed <= high
    return OurNumber(
        changed, of=here, needs=listed(lacking) if possible else "", reason=room, note=note
    )


def listed(lacking: Iterable[str]) -> str:
    """List the missing files, those of one year as one pattern.

    >>> listed(["wmt19_metrics_de-cs.parquet", "wmt19_metrics_de-fr.parquet"])
    'wmt19_metrics_{de-cs,de-fr}.parquet'
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for text in lacking:
        head, _, tail = text.rpartition("_")
        lp, dot, ending = tail.partition(".")
        groups.setdefault((f"{head}_", dot + ending), []).append(lp)
    return ", ".join(
        head + (lps[0] if len(lps) == 1 else f"{{{','.join(lps)}}}") + tail
        for (head, tail), lps in groups.items()
    )


def _simulated(
    data: ScoreFolder, records: Records, run: StabilityRun, printed: PrintedNumber, statistic: str
) -> OurNumber:
    """The best, median or worst of 13 runs; its error is the spread between sets of 13 runs."""
    present, whole = usable(data, run), run.design == "WD"
    lacking = [
        data.lacks(pair, run.metric, whole=whole)
        for pair in _scored_by(pairs_of(run.of), run.metric)
        if pair not in present
    ]
    if not records.get(run):
        return OurNumber(needs=listed(lacking))
    value, error = _of_runs(records[run], statistic)
    here = len(records[run])
    return OurNumber(
        value, error, error, of=here, needs=listed(lacking),
        reason="further apart than two sets of 13 runs would be",
        note=f"{here} of {printed.of} pairs present" if lacking else "",
    )  # fmt: skip


def _of_runs(records: Sequence[StabilityRecord], statistic: str) -> tuple[float, float]:
    """A statistic of the first 13 runs, and its standard deviation over all sets of 13."""
    totals = np.sum([record.changed for record in records], axis=0)
    share = {"best": 0.0, "median": 0.5, "worst": 1.0}[statistic]
    sets = len(totals) // RUNS
    values = np.quantile(totals[: sets * RUNS].reshape(sets, RUNS), share, axis=1)
    error = float(np.std(values, ddof=1)) if sets > 1 else float("nan")
    return float(np.quantile(totals[:RUNS], share)), error


def length_numbers(data: ScoreFolder, records: Records) -> Numbers:
    """Table 4: the shares of segments by the length of their document."""
    simulated = _by_pair(records, "DB-linear")
    return {
        item.number: _length(data, simulated, item)
        for item in read_printed("lo2023")
        if item.table == "Table 4"
    }


def _length(
    data: ScoreFolder, simulated: Mapping[str, StabilityRecord], printed: PrintedNumber
) -> OurNumber:
    lp, sample = printed.row.split()
    pair, k = LanguagePair(22, lp), LENGTHS.index(printed.column)
    item = data.segments.get(pair)
    if item is None:
        return OurNumber(needs=pair.file)
    if sample == "DB":
        shares = 100 * simulated[str(pair)].length_shares[:, k]
        return OurNumber(*mean_error(shares), reason="other lengths drawn")
    annotated = item.annotated("DF")
    if sample == "DF" and annotated is None:
        return OurNumber(needs=f"df_selected in {pair.file}")
    lengths = np.bincount(item.test_set.document)[item.test_set.document]
    if sample == "DF":
        lengths = lengths[np.asarray(annotated).any(axis=0)]
    share = 100 * float((np.minimum(lengths // 10, len(LENGTHS) - 1) == k).mean())
    return OurNumber(share, reason=PLANNED if sample == "DF" else "another test set")


def _by_pair(records: Records, design: str) -> dict[str, StabilityRecord]:
    """One record per DF pair of a matched design, by any metric: lengths do not depend on it."""
    by_name: dict[str, StabilityRecord] = {}
    for run, its in records.items():
        if run.of == "DF" and run.design == design and run.matched and run.budget is None:
            for record in its:
                by_name.setdefault(record.name, record)
    return by_name


def _length_cells(records: Records) -> Iterator[PrintedCell]:
    """Table 4 for our snippets, and for fixed snippets as the paper describes them."""
    simulated = {"DB ours": _by_pair(records, "DB"), "DF simulated": _by_pair(records, "DF")}
    printed = [item.row.split()[0] for item in read_printed("lo2023") if item.table == "Table 4"]
    for lp in dict.fromkeys(printed):
        for label, by_name in simulated.items():
            record = by_name.get(str(LanguagePair(22, lp)))
            if record is not None:
                for k, column in enumerate(LENGTHS):
                    found = mean_error(100 * record.length_shares[:, k])
                    yield extra("Table 4", f"{lp} {label}", column, *found)


def _mean_cells(records: Records) -> Iterator[PrintedCell]:
    """Means over all draws, and our snippets next to the paper's; the paper prints neither."""
    for table, design in DESIGN_OF.items():
        for metric in METRICS:
            for name, label in ((design, design), ("DB-linear", "DB"), ("DB", "DB ours")):
                matched = name != design or design == "DF"
                run = StabilityRun(metric, name, matched=matched, of=design)
                if records.get(run):
                    yield from _means(table, label, metric, records[run])


def _means(
    table: str, label: str, metric: str, records: Sequence[StabilityRecord]
) -> Iterator[PrintedCell]:
    note = _short(records)
    if label == "DB ours":
        for statistic in ("best", "median", "worst"):
            yield extra(table, f"{label} {statistic}", metric, *_of_runs(records, statistic),
                         ours_of=len(records), note=note, digits=0)  # fmt: skip
    total = assay.summarise_stability(records, metric=metric).designs[0]
    yield extra(table, f"{label} mean", metric, total.changed, total.changed_error,
                 ours_of=len(records), note=note, digits=2)  # fmt: skip


def _short(records: Sequence[StabilityRecord]) -> str:
    """The pairs in which a design cannot spend its budget (fixed snippets of long documents)."""
    short = [r for r in records if r.sizes.mean() < 0.95 * r.n]
    return ", ".join(f"{r.name}: {r.sizes.mean() / r.population:.0%} drawn of"
                     f" {r.n / r.population:.0%} wanted" for r in short)  # fmt: skip


def _beyond_cells(records: Records) -> Iterator[PrintedCell]:
    """Designs with and without matching, on the pairs that WMT20 sampled by whole documents."""
    for run in BEYOND:
        everywhere = records.get(run._replace(year=None), ())
        wanted = {str(pair) for pair in pairs_of(run.of, run.year)}
        here = records.get(run) or [record for record in everywhere if record.name in wanted]
        if not here:
            continue
        total = assay.summarise_stability(here, metric=run.metric).designs[0]
        for column, value, error, of in (
            ("changed", total.changed, total.changed_error, len(here)),
            ("significant flips", total.significant_flips, total.significant_error, len(here)),
            ("discordant %", 100 * total.discordant_pairs, 100 * total.discordant_error, None),
        ):
            yield extra("beyond", run.label, column, value, error, ours_of=of, digits=2)


def _budget_cells(records: Records, runs: Iterable[StabilityRun]) -> Iterator[PrintedCell]:
    """The share of samples with a changed ranking by budget and design."""
    for run in runs:
        here = records.get(run, ())
        if here and run.budget is not None:
            total = assay.summarise_stability(here, metric=run.metric).designs[0]
            yield extra("budgets", run.label, run.budget, 100 * total.changed / len(here),
                         100 * total.changed_error / len(here), digits=1)  # fmt: skip


def _from_documents(data: ScoreFolder) -> Iterator[Note]:
    """Note the metrics for which the folder has document scores only."""
    for metric in METRICS:
        pairs = [
            str(pair)
            for pair, item in data.documents.items()
            if metric in item.metrics and data.find(pair, metric) is None
        ]
        if pairs:
            yield Note(
                "documents-only",
                f"{metric}: {len(pairs)} pairs ({pairs[0]}, ...) have scores of documents only,"
                " which serve whole documents but not snippets",
            )
