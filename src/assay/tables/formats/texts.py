"""Scores with their texts, in reading order: what campaigns of other tools are made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from assay.errors import OptionError, Problem
from assay.tables.formats.faults import stop
from assay.tables.raw import refuse
from assay.tables.test_set import TestSet, read_scores

SOURCE = "scores"


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment with its source and, by system, its translations."""

    doc: str | None
    seg: str
    source: str
    reference: str | None
    targets: dict[str, str]


def one_pair(frame: pl.DataFrame, lp: str | None, tool: str) -> tuple[TestSet, str | None]:
    """The scores of one language pair, checked, and the pair where it is known."""
    if "lp" in frame.columns and frame.height:
        pairs = [str(pair) for pair in frame["lp"].unique(maintain_order=True)]
        if lp is None and len(pairs) > 1:
            raise OptionError(
                "lp", "not given", f"but the table has {', '.join(pairs)}", f"{tool} takes one"
            )
        lp = lp or pairs[0]
        if lp not in pairs:
            raise OptionError(
                "lp", lp, "is not in the scores table", f"choose from {', '.join(pairs)}"
            )
        frame = frame.filter(pl.col("lp").cast(pl.String) == lp)
    return read_scores(frame, metrics=()), lp


def documents(test_set: TestSet, tool: str) -> Iterator[list[Segment]]:
    """The documents in order; without a ``doc`` column every segment is one by itself.

    Every segment needs a source and every row a target.
    """
    frame, segments = test_set.frame, test_set.segments
    missing = [name for name in ("source", "target") if name not in frame.columns]
    if missing:
        raise refuse(
            SOURCE,
            f"there is no {' and no '.join(missing)} column, and {tool} shows raters the texts;"
            " add it or map yours with --columns",
        )
    _need_texts(test_set, tool)
    targets: list[dict[str, str]] = [{} for _ in range(segments.height)]
    rows = zip(*test_set.positions, frame["target"], strict=True)
    for system, place, target in rows:
        targets[place][test_set.systems[system]] = target
    together: list[Segment] = []
    for row, translations in zip(segments.iter_rows(named=True), targets, strict=True):
        doc = row.get("doc")
        segment = Segment(doc, row["seg"], row["source"], row.get("reference"), translations)
        if together and (doc is None or together[-1].doc != doc):
            yield together
            together = []
        together.append(segment)
    if together:
        yield together


def _need_texts(test_set: TestSet, tool: str) -> None:
    problems = [
        Problem(f"has no text; {tool} needs a target in every row", row + 1, "target")
        for row in test_set.frame["target"].is_null().arg_true()
    ]
    bare = test_set.segments.filter(pl.col("source").is_null())
    problems += [
        Problem(f"segment '{seg}' has no text in any row; {tool} needs one", None, "source")
        for seg in bare["seg"]
    ]
    stop(SOURCE, problems, rows=test_set.frame.height)
