"""Compute the numbers of korotaev2022: closest documents, relative effort, places of engines.

:data:`READINGS` lists how we read the paper where it leaves room; the result repeats those whose
data is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import special

import assay
from assay.papers.compare import (
    OurNumber,
    PaperRequest,
    PaperWork,
    PrintedCell,
    Reproduction,
    Values,
    compare,
    extra,
    mean_error,
    no_data_note,
    pool_values,
    printed_values,
    read_printed,
)
from assay.papers.korotaev2022.editing import (
    CONFIDENCE,
    CORPUS,
    DOCUMENTS,
    ENGINES,
    EPS,
    HUMAN,
    LEFT_OUT,
    MEASURES,
    SEGMENTS,
    Edited,
    Selection,
    list_tasks,
    read_folder,
)
from assay.results import Note

DRAWS, FEWEST_DRAWS = 200, 2
FEATURES = (
    "Flesch", "LIX", "Dale-Chall", "characters per word", "type-token ratio", "words per sentence",
    "words", "sentences", "paragraphs",
)  # fmt: skip
PLACE_NAMES = ("least", "middle", "most", "score")
KNEE = 0.2812415593714895
"""Printed by the authors' scripts, not in the paper."""
PIECES = (12, 24, 25)
"""Doc I-III among the pieces of the corpus, numbered from 0."""
OFF_BY = {
    "Doc I Flesch": "one syllable",
    "Doc II Dale-Chall": "one difficult word",
    "Doc II type-token ratio": "one type",
}
"""Numbers of Table 1 that our counting misses, and by how much."""
INTERVAL, POWER = 0.83, 0.8

READINGS = {
    SEGMENTS: (
        Note("reading-pooled", "reading: Tables 2 and 3 pool the editors before taking the ratio,"
             " and time is mean speed over speed; section 3.5 describes each editor's ratio to that"
             " editor's mean (tables 'as described')"),
        Note("reading-rounded", "reading: speeds of documents use the words of Table 1, speeds of"
             " engines the words of the edited segments; an editor's seconds per document were"
             " rounded to whole seconds, distances and shares to one decimal, before averaging"
             " (table 'readings': unrounded)"),
        Note("reading-places", "reading: Table 4 sums ratios with time as mean speed over speed"
             " ('Table 4, as described' has the ratio of section 3.5)"),
        Note("reading-interval", "reading: Figure 2's interval is that of the mean of three"
             " measures (t, 2 degrees of freedom); Figures 1 and 3 are the sums of Tables 2 and 3"),
    ),
    CORPUS: (
        Note("reading-knee", "reading: the knee is that of the distances to the nearest neighbour;"
             " the radius .14 is that of the authors' scripts"),
        Note("reading-closest", "reading: Table 1 shows the closest three pieces of all, without"
             " any limit on length or terms"),
        Note("reading-terms", "the list of everyday words behind 'frequent_words' was chosen with"
             " Doc I-III in view, so its vote on their terms is not independent"),
    ),
}  # fmt: skip

Numbers = dict[str, OurNumber]


class Korotaev2022(PaperWork):
    """The documents and edits behind the tables."""

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """Make the tables from the steps that :meth:`run` yielded."""
        done = list(steps)
        parts = dict(done)
        selection, edited = parts.get(("selection",)), parts.get(("edited",))
        lack = selection if isinstance(selection, str) else ""
        selection = None if lack else selection
        chances = pool_values(step for step in done if step[0] == ("chance",))
        ours = selection_numbers(selection, lack) | effort_numbers(edited)
        cells = [*_selection_cells(selection, figures=self.request.figures), *_edited_cells(edited)]
        cells += _chance_cells(chances.get(("chance",), {}))
        return compare("korotaev2022", ours, cells, notes=self._notes(), request=self.request)

    def _notes(self) -> tuple[Note, ...]:
        present = {CORPUS: self.data.corpus, SEGMENTS: self.data.edits}
        if not self.runs:
            return (no_data_note("korotaev2022"),)
        return tuple(
            note for file, notes in READINGS.items() if present[file] is not None for note in notes
        )


def list_work(request: PaperRequest) -> Korotaev2022:
    """Read the folder and list the tasks.

    ``draws`` campaigns of six editors and two equally good engines are simulated (200 by default),
    to see how often chance alone gives what the paper saw. The paper's own numbers need none.
    """
    data = read_folder(request.folder)
    return Korotaev2022(data, list_tasks(data, request.draws), request)


def selection_numbers(selection: Selection | None, lack: str) -> Numbers:
    """Table 1: readability and size of the closest pieces of all; section 3.2: the pieces."""
    if selection is None:
        first = [item for item in read_printed("korotaev2022") if item.needs == CORPUS]
        return {item.number: OurNumber(needs=lack) for item in first} if lack else {}
    pieces, ours = selection.found.pieces, {"pieces": OurNumber(len(selection.found.pieces))}
    kit = selection.free.kits[0].pieces if selection.free.kits else ()
    for name, number in zip(DOCUMENTS.values(), kit, strict=False):
        piece = pieces[number]
        sizes = (piece.words, piece.sentences, piece.last - piece.first + 1)
        values = (*piece.features.values(), sizes[0] / sizes[1], *sizes)
        for column, value in zip(FEATURES, values, strict=True):
            known = OFF_BY.get(f"{name} {column}", "") if kit == PIECES else ""
            reason = known or "another corpus or another kit"
            ours[f"{name} {column}"] = OurNumber(value, reason=reason)
    return ours


def effort_numbers(edited: Edited | None) -> Numbers:
    """Tables 2 and 3, relative effort; Table 4, places by aggregate effort."""
    if edited is None:
        return {}
    ours = {
        f"{name} {MEASURES[measure]}": OurNumber(row.pooled)
        for (name, measure), row in edited.tables.items()
    }
    for item in edited.places:
        values = (*item.inverse_places, item.inverse_score)
        for column, value in zip(PLACE_NAMES, values, strict=True):
            ours[f"{item.system} {column}"] = OurNumber(value)
    return ours


def _table(name: str) -> str:
    return "Table 3" if name in ENGINES else "Table 2"


def _selection_cells(selection: Selection | None, *, figures: bool) -> Iterator[PrintedCell]:
    """Section 3.2: knee, clusters, the closest kit, and which methods accept its terms."""
    if selection is None:
        return
    table, row = "section 3.2", f"DBSCAN, radius {EPS}"
    clusters, free = selection.clustered.clusters, selection.free.kits[0]
    yield extra(table, "corpus", "knee", selection.found.knee, paper=KNEE, digits=10,
                 note="the authors' scripts")  # fmt: skip
    yield extra(table, row, "clusters", len(clusters), paper=1.0, digits=0)
    inside = sum(len(cluster) for cluster in clusters)
    yield extra(table, row, "pieces in them", inside, paper=3.0, digits=0)
    yield extra(table, row, "are Doc I-III", float(clusters == (PIECES,)), paper=1.0, digits=0)
    row = "closest three of all"
    yield extra(table, row, "diameter", free.diameter, digits=4)
    yield extra(table, row, "diameter of the next", free.runner_up_diameter, digits=4)
    yield extra(table, row, "are Doc I-III", float(free.pieces == PIECES), digits=0)
    if selection.found.kits:
        yield from _term_cells(selection)
    if figures:
        yield from _piece_cells(selection)


def _term_cells(selection: Selection) -> Iterator[PrintedCell]:
    table, kit = "section 3.2", selection.found.kits[0]
    yield extra(table, "closest three within limits", "are Doc I-III",
                 float(kit.pieces == PIECES), digits=0,
                 note="depends on the list of everyday words")  # fmt: skip
    for check in kit.terms:
        row = f"terms by {check.method}"
        yield extra(table, row, "shared, worst pair", check.shared_terms, digits=3)
        yield extra(table, row, "occurrences, ratio", check.density_ratio, digits=2)
        yield extra(table, row, "accepts the kit", float(check.accepted), digits=0)
    accepted = sum(check.accepted for check in kit.terms)
    yield extra(table, "terms", "methods that accept the kit", accepted, ours_of=len(kit.terms),
                 note="the paper: most of seven", digits=0)  # fmt: skip


def _piece_cells(selection: Selection) -> Iterator[PrintedCell]:
    """Where every piece lies on two principal components, and the curve of the knee."""
    for number, piece in enumerate(selection.found.pieces):
        first, second = piece.place
        note = "kit" if any(number in kit.pieces for kit in selection.found.kits) else ""
        yield extra("pieces", str(number), "first", first, note=note, digits=3)
        yield extra("pieces", str(number), "second", second, note=note, digits=3)
    for number, distance in enumerate(selection.found.distances):
        yield extra("distances", str(number), "nearest", distance, digits=4)


def _edited_cells(edited: Edited | None) -> Iterator[PrintedCell]:
    if edited is not None:
        yield from _described_cells(edited)
        yield from _aggregate_cells(edited)
        yield from _alike_cells(edited.result)
        yield from _human_cells(edited)
        yield from _engine_cells(edited.result)
        yield from _reading_cells(edited)
        yield from _beyond_cells(edited)


def _described_cells(edited: Edited) -> Iterator[PrintedCell]:
    """Tables 2 to 4 as section 3.5 describes them."""
    printed = printed_values("korotaev2022")
    for (name, measure), row in edited.tables.items():
        column = MEASURES[measure]
        yield extra(f"{_table(name)}, as described", name, column, row.described, digits=4,
                     paper=printed[f"{name} {column}"])  # fmt: skip
    for item in edited.places:
        for column, value in zip(PLACE_NAMES, (*item.places, item.score), strict=True):
            yield extra("Table 4, as described", item.system, column, value, digits=0,
                         paper=printed[f"{item.system} {column}"])  # fmt: skip


def _aggregate_cells(edited: Edited) -> Iterator[PrintedCell]:
    """Figures 1 and 3 (sums), 2 (means with 83 % intervals) and 4 (every editor's documents)."""
    printed, rows = printed_values("korotaev2022"), edited.tables
    for figure, names in (("Figure 1", DOCUMENTS.values()), ("Figure 3", ENGINES)):
        for name in names:
            paper = sum(printed[f"{name} {column}"] for column in MEASURES.values())
            ours = sum(rows[name, measure].pooled for measure in MEASURES)
            yield extra(figure, name, "sum", ours, paper=paper, digits=4)
    ends = []
    for name in DOCUMENTS.values():
        paper = float(np.mean([printed[f"{name} {column}"] for column in MEASURES.values()]))
        mean, low, high = _interval([rows[name, measure].pooled for measure in MEASURES])
        ends.append((low, high))
        yield extra("Figure 2", name, "mean", mean, paper=paper, digits=4)
        yield extra("Figure 2", name, "low, 83 %", low, digits=4)
        yield extra("Figure 2", name, "high, 83 %", high, digits=4)
    touch = max(low for low, _ in ends) <= min(high for _, high in ends)
    yield extra("Figure 2", "all documents", "1: intervals overlap", float(touch), paper=1.0,
                 digits=0)  # fmt: skip
    for editor, doc, system, inverse, described in sorted(edited.aggregate):
        row = f"{editor}, {DOCUMENTS[doc]}, {system}"
        yield extra("Figure 4", row, "sum", inverse, digits=3)
        yield extra("Figure 4, as described", row, "sum", described, digits=3)


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean of the measures and the ends of its 83 % t interval."""
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(special.stdtrit(len(values) - 1, (1 + INTERVAL) / 2)) * spread / len(values) ** 0.5
    return mean, mean - half, mean + half


def _alike_cells(result: assay.Effort) -> Iterator[PrintedCell]:
    """H1 as the paper judges it (1: yes, 0: no), then the numbers ours rests on."""
    shares = [share for item in result.documents for share in item.measures.values()]
    alike = sum(share.verdict == "alike" for share in shares)
    unlike = sum(share.verdict == "unlike" for share in shares)
    yield extra("H1", "proved", "1: yes", float(alike == len(shares)), paper=0.0, digits=0,
                 note=f"{alike} of {len(shares)} ratios are shown alike")  # fmt: skip
    yield extra("H1", "rejected", "1: yes", float(unlike > 0), paper=0.0, digits=0,
                 note=f"{unlike} of {len(shares)} are shown unlike")  # fmt: skip
    for item in result.documents:
        for measure, share in item.measures.items():
            row = f"{DOCUMENTS[item.document]}, {MEASURES[measure]}"
            for column, value in (
                ("ratio", share.ratio), ("low, 90 %", share.low), ("high, 90 %", share.high),
                ("low, 83 %", share.low83), ("high, 83 %", share.high83),
            ):  # fmt: skip
                yield extra("H1", row, column, value, digits=3, note=share.verdict)


def _human_cells(edited: Edited) -> Iterator[PrintedCell]:
    """H2, likewise."""
    result = edited.result
    against = [item for item in result.differences if HUMAN in (item.left, item.right)]
    shown = sum(item.verdict == f"{HUMAN} needs less effort" for item in against)
    yield extra("H2", "proved", "1: yes", float(shown == len(against)), paper=1.0, digits=0,
                 note=f"{shown} of {len(against)} differences are decided for it")  # fmt: skip
    first = next(item.inverse_places[0] for item in edited.places if item.system == HUMAN)
    yield extra("H2", "least effort", "editors", first, paper=6.0, paper_of=6,
                 ours_of=len(result.editors), digits=0)  # fmt: skip
    for item in against:
        row = f"{item.left} less {item.right}, {MEASURES[item.measure]}"
        for column, value in (
            ("difference", item.difference), ("p", item.p),
            ("randomisation p", item.randomisation_p),
        ):  # fmt: skip
            yield extra("H2", row, column, value, digits=3, note=item.verdict)
    human = next(item for item in result.systems if item.system == HUMAN)
    for measure, level in human.measures.items():
        yield extra("H2", f"{HUMAN} against both, {MEASURES[measure]}", "randomisation p",
                     level.randomisation_p, digits=4,
                     note=f"{result.assignments} assignments of kits")  # fmt: skip


def _engine_cells(result: assay.Effort) -> Iterator[PrintedCell]:
    """Section 4.3: Amazon and Google."""
    for item in result.differences:
        if HUMAN not in (item.left, item.right):
            row = f"{item.left} less {item.right}, {MEASURES[item.measure]}"
            for column, value in (
                ("difference", item.difference), ("p", item.p),
                ("randomisation p", item.randomisation_p),
                ("least without an editor", item.least), ("most without an editor", item.most),
            ):  # fmt: skip
                yield extra("section 4.3", row, column, value, digits=3, note=item.verdict)


def _reading_cells(edited: Edited) -> Iterator[PrintedCell]:
    """What the readings rest on."""
    printed, plain = printed_values("korotaev2022"), edited.unrounded
    for (name, measure), row in plain.items():
        column = MEASURES[measure]
        yield extra("readings", f"{name}, not rounded", column, row.pooled, digits=4,
                     paper=printed[f"{name} {column}"])  # fmt: skip
    whole, without = edited.tables, edited.without
    for row_name, rows in (("all editors", whole), (f"without {LEFT_OUT}", without)):
        for engine in ENGINES if rows else ():
            total = sum(rows[engine, measure].described for measure in MEASURES)
            yield extra("readings", f"section 3.5, {row_name}", f"{engine}, sum", total, digits=3)
    for (name, measure), row in whole.items():
        yield extra("T-scores", name, MEASURES[measure], row.t_score, digits=1)


def _chance_cells(values: Values) -> Iterator[PrintedCell]:
    """How often chance alone gives what the paper saw: the two engines are equally good."""
    for name, hits in values.items():
        yield extra("beyond", "six editors, engines equally good", name, *mean_error(100 * hits),
                     digits=1)  # fmt: skip


def _beyond_cells(edited: Edited) -> Iterator[PrintedCell]:
    """Power, parity, hours, traces of MT, and whether complexity tells effort."""
    result = edited.result
    yield from _power_cells(result)
    for item in result.parity:
        row = f"{item.system} at most {item.margin:.0%} over {item.human}"
        yield extra("beyond", row, MEASURES[item.measure], item.excess, digits=2,
                     note=f"more effort; {item.verdict}")  # fmt: skip
    for system in result.systems:
        yield extra("beyond", system.system, "hours per 1,000 words", system.hours_per_1000_words,
                     digits=2)  # fmt: skip
    for trace in edited.traces:
        row = f"{HUMAN} against {trace.system}"
        yield extra("beyond", row, "similarity", trace.similarity, digits=1)
        yield extra("beyond", row, "nearly the same", len(trace.near), ours_of=trace.segments,
                     digits=0)  # fmt: skip
    for relation in edited.complexity:
        yield extra("beyond", "LIX and effort of documents", MEASURES[relation.measure],
                     relation.correlation, digits=2, note=f"p {relation.p:.2f}")  # fmt: skip


def _power_cells(result: assay.Effort) -> Iterator[PrintedCell]:
    for item in result.differences:
        gap = abs(item.difference)
        if item.measure != "distance" or HUMAN in (item.left, item.right) or not gap > 0:
            continue
        editors = [max(3, len(result.editors))]
        plan = assay.plan_editors(
            len(ENGINES), gap, measure="distance", pilot=result, place=False, sizes=editors,
            power=POWER, level=CONFIDENCE,
        )  # fmt: skip
        row = "the gap seen between the engines"
        yield extra("beyond", row, "power of these editors", plan.points[0].power, digits=2)
        yield extra("beyond", row, "editors for power .8", plan.needed, digits=0)
