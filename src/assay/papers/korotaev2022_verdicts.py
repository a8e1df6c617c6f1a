"""The hypotheses of korotaev2022, what its readings rest on, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.effort.results import Effort
from assay.papers.cells import Cell
from assay.papers.korotaev2022_data import SEGMENTS
from assay.papers.korotaev2022_numbers import DOCUMENTS, ENGINES, HUMAN, MEASURES, RELATIVE
from assay.papers.korotaev2022_tables import by_name
from assay.papers.korotaev2022_work import LEFT_OUT, Edited
from assay.planning.editors import plan_editors


def hypothesis_cells(edited: Edited | None) -> Iterator[Cell]:
    """H1 and H2 as the paper judges them (1: yes, 0: no), then the numbers ours rests on."""
    if edited is None:
        for table, row, paper in (
            ("H1", "proved", 0.0), ("H1", "rejected", 0.0), ("H2", "proved", 1.0),
        ):  # fmt: skip
            yield Cell(table, row, "1: yes", paper, None, note=f"needs {SEGMENTS}")
        return
    yield from _alike_cells(edited.result)
    yield from _human_cells(edited)
    for item in edited.result.differences:
        if {item.left, item.right} == set(ENGINES) - {HUMAN}:
            row = f"{item.left} less {item.right}, {MEASURES[item.measure]}"
            values = {
                "difference": item.difference, "p": item.p, "randomisation p": item.randomisation_p,
                "least without an editor": item.least, "most without an editor": item.most,
            }  # fmt: skip
            for column, value in values.items():
                yield Cell("section 4.3", row, column, None, value, digits=3, note=item.verdict)


def _alike_cells(result: Effort) -> Iterator[Cell]:
    shares = [share for item in result.documents for share in item.measures.values()]
    alike = sum(share.verdict == "alike" for share in shares)
    unlike = sum(share.verdict == "unlike" for share in shares)
    yield Cell("H1", "proved", "1: yes", 0.0, float(alike == len(shares)),
               matches=alike < len(shares), digits=0,
               note=f"{alike} of {len(shares)} documents and measures are shown alike")  # fmt: skip
    yield Cell("H1", "rejected", "1: yes", 0.0, float(unlike > 0), matches=unlike == 0, digits=0,
               note=f"{unlike} of {len(shares)} are shown unlike")  # fmt: skip
    for item in result.documents:
        for measure, share in item.measures.items():
            row = f"{DOCUMENTS[item.document]}, {MEASURES[measure]}"
            for column, value in (
                ("ratio", share.ratio), ("low, 90 %", share.low), ("high, 90 %", share.high),
                ("low, 83 %", share.low83), ("high, 83 %", share.high83),
            ):  # fmt: skip
                yield Cell("H1", row, column, None, value, digits=3, note=share.verdict)


def _human_cells(edited: Edited) -> Iterator[Cell]:
    result = edited.result
    against = [item for item in result.differences if HUMAN in (item.left, item.right)]
    shown = sum(item.verdict == f"{HUMAN} needs less effort" for item in against)
    yield Cell("H2", "proved", "1: yes", 1.0, float(shown == len(against)),
               matches=shown == len(against), digits=0,
               note=f"{shown} of {len(against)} differences are decided for it")  # fmt: skip
    first = next(item.inverse_places[0] for item in edited.places if item.system == HUMAN)
    editors = len(result.editors)
    yield Cell("H2", "least effort", "editors", 6.0, first, matches=first == editors == 6,
               paper_of=6, ours_of=editors, digits=0)  # fmt: skip
    for item in against:
        row = f"{item.left} less {item.right}, {MEASURES[item.measure]}"
        for column, value in (
            ("difference", item.difference), ("p", item.p),
            ("randomisation p", item.randomisation_p),
        ):  # fmt: skip
            yield Cell("H2", row, column, None, value, digits=3, note=item.verdict)
    own = next(item for item in result.systems if item.system == HUMAN)
    for measure, level in own.measures.items():
        yield Cell("H2", f"{HUMAN} against both, {MEASURES[measure]}", "randomisation p", None,
                   level.randomisation_p, digits=4,
                   note=f"{result.assignments} assignments of kits")  # fmt: skip


def reading_cells(edited: Edited | None) -> Iterator[Cell]:
    """What the readings rest on."""
    if edited is None:
        return
    plain = by_name(edited.unrounded)
    for name, printed in RELATIVE.items():
        yield Cell("readings", f"{name}, not rounded", "distance", printed[1],
                   plain[name, "distance"].pooled, digits=4)  # fmt: skip
    whole, without = by_name(edited.tables), by_name(edited.without)
    for row, rows in (("all editors", whole), (f"without {LEFT_OUT}", without)):
        for engine in ENGINES if rows else ():
            total = sum(rows[engine, measure].described for measure in MEASURES)
            yield Cell("readings", f"section 3.5, {row}", f"{engine}, sum", None, total, digits=3)
    for name in RELATIVE:
        for measure, column in MEASURES.items():
            yield Cell("T-scores", name, column, None, whole[name, measure].t_score, digits=1)


def chance_cells(values: Mapping[str, np.ndarray]) -> Iterator[Cell]:
    """How often chance alone gives what the paper saw: the two engines are equally good."""
    for name, found in values.items():
        share = 100 * found
        error = float(share.std(ddof=1) / len(share) ** 0.5)
        yield Cell("beyond", "six editors, engines equally good", name, None, float(share.mean()),
                   error, digits=1)  # fmt: skip


def beyond_cells(edited: Edited | None) -> Iterator[Cell]:
    """Power, parity, hours, traces of MT, and whether complexity tells effort."""
    if edited is None:
        return
    result = edited.result
    yield from _power_cells(result)
    for item in result.parity:
        row = f"{item.system} at most {item.margin:.0%} over {item.human}"
        yield Cell("beyond", row, MEASURES[item.measure], None, item.excess, digits=2,
                   note=f"more effort; {item.verdict}")  # fmt: skip
    for system in result.systems:
        yield Cell("beyond", system.system, "hours per 1,000 words", None,
                   system.hours_per_1000_words, digits=2)  # fmt: skip
    for trace in edited.traces:
        row = f"{HUMAN} against {trace.system}"
        yield Cell("beyond", row, "similarity", None, trace.similarity, digits=1)
        yield Cell("beyond", row, "nearly the same", None, len(trace.near), ours_of=trace.segments,
                   digits=0)  # fmt: skip
    for relation in edited.complexity:
        yield Cell("beyond", "LIX and effort of documents", MEASURES[relation.measure], None,
                   relation.correlation, digits=2, note=f"p {relation.p:.2f}")  # fmt: skip


def _power_cells(result: Effort) -> Iterator[Cell]:
    gaps: Sequence[float] = [
        abs(item.difference) for item in result.differences
        if item.measure == "distance" and HUMAN not in (item.left, item.right)
    ]  # fmt: skip
    for gap in gaps:
        if not gap > 0:
            continue
        plan = plan_editors(len(ENGINES), gap, pilot=result, sizes=[max(3, len(result.editors))])
        row = "the gap seen between the engines"
        yield Cell("beyond", row, "power of these editors", None, plan.points[0].power, digits=2)
        yield Cell("beyond", row, "editors for power .8", None, plan.needed, digits=0)
