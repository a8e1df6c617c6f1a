"""Segment scores of the WMT metrics task: a line per metric, system and segment.

Tab-separated, without a header: metric, lp, testset, refset, system, docid, segid, score. The
table has a column per metric, or per metric and reference set where a metric has several.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from assay.tables.check import Findings, to_number
from assay.tables.formats.lines import choose_lp, numbered, split_tabs
from assay.tables.raw import Raw, refuse
from assay.tables.schema import RESERVED

if TYPE_CHECKING:
    from assay.tables.formats import Options


FIELDS = ("metric", "lp", "testset", "refset", "system", "doc", "seg", "score")
REMARKS = ("ensemble", "available")
"""What some submissions have behind the score; nothing of it is about the segment."""
KEY = ("lp", "system", "doc", "seg")


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the scores: one row per output, one column per metric."""
    lines = numbered(path, expected=f"lines with the fields {', '.join(FIELDS)}")
    raw = split_tabs(lines, (*FIELDS, *REMARKS), path, at_least=len(FIELDS))
    raw = choose_lp(raw, options.lp)
    findings = Findings(raw)
    score = to_number(raw.frame["score"], findings, "score")
    missing = raw.frame["metric"].is_null()
    findings.rows(missing, "metric", raw.frame["metric"], "is empty; expected a metric's name")
    findings.stop()
    frame = raw.frame.with_columns(score.alias("score"), _column(raw.frame, raw.source))
    _refuse_repeated(frame, findings)
    return _pivot(frame, raw)


def _column(frame: pl.DataFrame, source: str) -> pl.Series:
    """Every line's column: the metric, with the reference set where one name is not enough."""
    variants = frame.select("metric", "refset").unique(maintain_order=True)
    several = variants.select(pl.len().over("metric") > 1).to_series()
    reserved = variants["metric"].is_in([*RESERVED, "testset"])
    full = pl.concat_str("metric", pl.col("refset").fill_null("none"), separator="-")
    named = variants.with_columns(
        pl.when(several | reserved).then(full).otherwise("metric").alias("_column")
    )
    if named["_column"].n_unique() < named.height:  # one metric is called like another's variant
        named = named.with_columns(full.alias("_column"))
    twice = named.filter(named["_column"].is_duplicated())["_column"]
    if len(twice):
        raise refuse(source, f"several metrics and reference sets read '{twice[0]}'; rename one")
    joined = frame.join(
        named, on=["metric", "refset"], how="left", maintain_order="left", nulls_equal=True
    )
    return joined["_column"]


def _refuse_repeated(frame: pl.DataFrame, findings: Findings) -> None:
    cell = [*KEY, "_column"]
    repeated = frame.select(~pl.struct(cell).is_first_distinct()).to_series()
    shown = frame.select(pl.concat_str(pl.col(cell).fill_null(""), separator=" / ")).to_series()
    message = "'{}' has a score in an earlier line already; remove one"
    findings.rows(repeated, "score", shown, message)
    findings.stop()


def _pivot(frame: pl.DataFrame, raw: Raw) -> Raw:
    """One row per output, in the order of the file; its line is the first that names it."""
    first = (
        frame.with_row_index("_row")
        .group_by(KEY, maintain_order=True)
        .agg(pl.col("_row").first(), pl.col("testset").unique(maintain_order=True))
    )
    rows = first["_row"].to_list()
    table = first.select(KEY)
    if first["testset"].list.len().max() == 1 and frame["testset"].n_unique() > 1:
        table = table.with_columns(first["testset"].list.first().alias("testset"))
    wide = frame.pivot(on="_column", index=list(KEY), values="score", maintain_order=True)
    table = table.join(wide, on=list(KEY), how="left", maintain_order="left", nulls_equal=True)
    if table["doc"].null_count() == table.height:
        table = table.drop("doc")
    remarks = any(frame[name].null_count() < frame.height for name in REMARKS)
    notes = (f"fields behind the score ({', '.join(REMARKS)}) are left out",) if remarks else ()
    return Raw(table, raw.source, lambda wanted: raw.lines([rows[row] for row in wanted]), notes)
