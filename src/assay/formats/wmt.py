"""Files of the WMT shared tasks: segment scores of metrics, and rankings.

**Segment scores** (``wmt-seg-scores``), a line per metric, system and segment: tab-separated,
without a header: metric, lp, testset, refset, system, docid, segid, score. The table has a column
per metric, or per metric and reference set where a metric has several.

**Rankings** are CSV files whose column names are compared in lower case (``judgeId``,
``judgeID``). Rank 1 is best, equal ranks are ties, and -1 is an output the judge left unranked.
Documents and segments may be -1, too, where the task did not use them.

- Up to 2014 (``wmt-rnk``) a line is a screen of up to five systems: ``srclang,trglang,srcIndex,
  documentId,segmentId,judgeId,system1Number,system1Id,..,system5Id,system1rank,..,system5rank``,
  sometimes with ``rankingID``. Every pair of ranked systems of a line is a judgment, in the order
  of the screen; the line is their ``set``.
- In 2015 and 2016 (``wmt15-rnk``) a line is a pair of outputs: ``srclang,trglang,srcIndex,
  segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID``. Systems with identical
  outputs were shown as one and are joined with ``+``: a line with joined systems is a judgment of
  each system on the one side against each on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import choose_lp, need_columns, numbered, read_csv, split_tabs, write_text
from assay.results import Note
from assay.tables.irregular_text import defused, restored
from assay.tables.load import Findings, Raw, need_distinct, refuse, to_number, to_text
from assay.tables.schemas import RESERVED

FIELDS = ("metric", "lp", "testset", "refset", "system", "doc", "seg", "score")
REMARKS = ("ensemble", "available")
"""What some submissions have behind the score; nothing of it is about the segment."""
KEY = ("lp", "system", "doc", "seg")

BLANK = -1
UNUSED = "-1"

SLOTS = range(1, 6)
PLACE = ("srclang", "trglang", "srcindex", "judgeid")
ABOUT = ("lp", "doc", "seg", "rater", "srcIndex")
"""What all judgments of one line share."""

Row = dict[str, Any]

PAIR_SYSTEMS = ("system1id", "system2id")
PAIR_RANKS = ("system1rank", "system2rank")
PAIR_COLUMNS = (*PLACE, *PAIR_SYSTEMS, *PAIR_RANKS, "rankingid")

HEADER = (
    "srclang", "trglang", "srcIndex", "documentId", "segmentId", "judgeId",
    *(f"system{k}{part}" for k in SLOTS for part in ("Number", "Id")),
    *(f"system{k}rank" for k in SLOTS), "rankingID",
)  # fmt: skip
"""The columns of a file that is written."""


def read_scores_file(path: Path, kind: str, options: Options) -> Raw:
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
    message = "'{}' already has a score in an earlier line; remove one"
    findings.rows(repeated, "score", shown, message)
    findings.stop()


def _pivot(frame: pl.DataFrame, raw: Raw) -> Raw:
    """One row per output, in the order of the file; its line is the first that names it."""
    outputs = frame.with_row_index("_row").group_by(KEY, maintain_order=True)
    first = outputs.agg(pl.col("_row").first(), pl.col("testset").unique(maintain_order=True))
    table = first.select(KEY)
    if first["testset"].list.len().max() == 1 and frame["testset"].n_unique() > 1:
        table = table.with_columns(first["testset"].list.first().alias("testset"))
    wide = frame.pivot(on="_column", index=list(KEY), values="score", maintain_order=True)
    table = table.join(wide, on=list(KEY), how="left", maintain_order="left", nulls_equal=True)
    if table["doc"].null_count() == table.height:
        table = table.drop("doc")
    remarks = any(frame[name].null_count() < frame.height for name in REMARKS)
    text = f"fields behind the score ({', '.join(REMARKS)}) are left out"
    notes = (Note("remarks-left-out", text),) if remarks else ()
    return Raw(table, raw.source, raw.lines_of(first["_row"]), notes)


def _rankings(path: Path, needed: Sequence[str]) -> Raw:
    """The table with lower-case names, refused where a column is missing or stands twice."""
    raw = restored(read_csv(path, expected="a header 'srclang,trglang,srcIndex,...'"))
    names = [name.lower() for name in raw.frame.columns]
    need_distinct(names, raw.source)
    need_columns(names, needed, raw.source)
    frame = raw.frame.rename(dict(zip(raw.frame.columns, names, strict=True)))
    return replace(raw, frame=frame)


def _ranks(raw: Raw, systems: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """The rank columns as whole numbers, -1 where nothing was ranked; all else is reported."""
    findings = Findings(raw)
    typed = []
    for system, column in zip(systems, columns, strict=True):
        words = raw.frame[column].str.strip_chars()
        number = words.cast(pl.Int64, strict=False)
        wrong = words.is_not_null() & ((number < 1) & (number != BLANK) | number.is_null())
        message = "'{}' is not a rank; expected a whole number from 1, or -1 for none"
        findings.rows(wrong, column, raw.frame[column], message)
        nameless = raw.frame[system].is_null() & (number >= 1)
        findings.rows(nameless, system, raw.frame[system], "is empty, but has a rank; name it")
        typed.append(number.fill_null(BLANK).alias(column))
    findings.stop()
    return pl.DataFrame(typed)


def _winner(left: str, right: str) -> pl.Expr:
    """Who won, by the ranks in two columns; the lower rank is better."""
    first, second = pl.col(left), pl.col(right)
    won = pl.when(first < second).then(pl.lit("left")).when(first > second).then(pl.lit("right"))
    return won.otherwise(pl.lit("tie")).alias("winner")


def _about(frame: pl.DataFrame, *, numbered: bool) -> list[pl.Series]:
    """What every line says of its judgments: language pair, screen, document, segment, judge.

    Where the file has no numbers of screens, every line is one, if ``numbered``. The index in the
    test set is kept where the segment has another name.
    """
    index = _used(frame, "srcindex")
    segment = _used(frame, "segmentid").fill_null(index)
    index = index.fill_null(segment)
    parts = pl.col("srclang", "trglang").replace("", None)
    pair = pl.concat_str(parts, separator="-", ignore_nulls=True).replace("", None)
    screen = _used(frame, "rankingid")
    if numbered and screen.null_count() == len(screen):
        screen = pl.Series(range(1, frame.height + 1), dtype=pl.Int64).cast(pl.String)
    columns = {
        "lp": frame.select(pair).to_series(), "set": screen, "doc": _used(frame, "documentid"),
        "seg": segment, "rater": _used(frame, "judgeid"),
    }  # fmt: skip
    if (index != segment).any():
        columns["srcIndex"] = index
    named = [values.alias(name) for name, values in columns.items()]
    return [values for values in named if values.null_count() < len(values)]


def _used(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        return pl.Series([None] * frame.height, dtype=pl.String)
    return frame[name].replace(UNUSED, None)


def _judgments(pairs: pl.DataFrame, raw: Raw, blanks: int, options: Options) -> Raw:
    """The table of pairs, each with the ``_row`` of the file it comes from, without blank ranks.

    ``_blank`` says which pairs have an output that was left unranked; ``blanks`` counts these
    outputs.
    """
    notes = list(raw.notes)
    dropped = int(pairs["_blank"].sum())
    if blanks and options.blanks == "best":
        text = f"{blanks:,} outputs were left unranked and count as ranked best"
        notes.append(Note("unranked-best", text))
    elif blanks:
        pairs = pairs.filter(~pl.col("_blank"))
        text = f"{blanks:,} outputs were left unranked; their {dropped:,} pairs are left out"
        notes.append(Note("unranked-dropped", text))
    lines = raw.lines_of(pairs["_row"].to_list())
    table = Raw(pairs.drop("_row", "_blank"), raw.source, lines, tuple(notes))
    return choose_lp(table, options.lp)


def read_screens(path: Path, kind: str, options: Options) -> Raw:
    """Read the judgments: all pairs of every line."""
    needed = [*PLACE, *(f"system{k}{part}" for k in (1, 2) for part in ("id", "rank"))]
    raw = _rankings(path, needed)
    slots = [k for k in SLOTS if {f"system{k}id", f"system{k}rank"} <= set(raw.frame.columns)]
    names = [f"system{k}id" for k in slots]
    columns = [f"system{k}rank" for k in slots]
    ranked = _ranks(raw, names, columns)
    about_line = _about(raw.frame, numbered=True)
    frame = pl.DataFrame([*about_line, *raw.frame.select(names), *ranked])
    shown = zip(names, columns, strict=True)
    blank = [(frame[n].is_not_null() & (frame[c] == BLANK)).sum() for n, c in shown]
    pairs = _pairs(frame.with_row_index("_row"), slots)
    return _judgments(pairs, raw, int(sum(blank)), options)


def _pairs(frame: pl.DataFrame, slots: list[int]) -> pl.DataFrame:
    """All pairs of systems of every line, line by line, in the order of the screen."""
    kept = [name for name in frame.columns if not name.startswith("system")]
    tables = []
    for order, (i, j) in enumerate(combinations(slots, 2)):
        ranks, systems = [f"system{i}rank", f"system{j}rank"], [f"system{i}id", f"system{j}id"]
        named = frame.drop_nulls(systems).rename(dict(zip(systems, ("left", "right"), strict=True)))
        blank = pl.any_horizontal(pl.col(ranks) == BLANK)
        pair = named.select(*kept, "left", "right", _winner(*ranks), _blank=blank)
        tables.append(pair.with_columns(_order=pl.lit(order)))
    return pl.concat(tables).sort("_row", "_order").drop("_order")


def write_screens(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write a line per set, or per judgment where the table has no sets.

    The judgments of a set must be those of one ranking of two to five systems.
    """
    need_columns(frame.columns, ("left", "right", "winner"), path)
    text = pl.DataFrame([to_text(frame[name]) for name in frame.columns])
    if "set" not in text.columns:
        numbers = pl.Series("set", range(1, text.height + 1), dtype=pl.Int64)
        text = text.with_columns(numbers.cast(pl.String))
    if "lp" not in text.columns and options.lp is not None:
        text = text.with_columns(pl.lit(options.lp).alias("lp"))
    screens: dict[str, list[Row]] = {}
    for row in text.with_row_index("_row").iter_rows(named=True):
        screens.setdefault(row["set"], []).append(row)
    records, findings = [], Findings(path)
    for name, screen in screens.items():
        try:
            records.append(_record(screen))
        except ValueError as fault:
            findings.add(f"set '{name}' {fault}", screen[0]["_row"] + 1, "set", name)
    findings.stop(rows=frame.height)
    lines = pl.DataFrame(records, schema=dict.fromkeys(HEADER, pl.String))
    return write_text(path, defused(lines).write_csv())


def _record(screen: list[Row]) -> dict[str, str | None]:
    """One line of the file; raises where the judgments of the screen are not a ranking."""
    one = {name: screen[0][name] for name in ABOUT if name in screen[0]}
    for name, value in one.items():
        if any(row[name] != value for row in screen):
            raise ValueError(f"has several values of {name}; give each screen its own set")
    ranking = _ranking([(row["left"], row["right"], row["winner"]) for row in screen])
    source, _, target = (one.get("lp") or "").partition("-")
    if "-".join(filter(None, (source, target))) != (one.get("lp") or ""):
        raise ValueError(f"has the language pair '{one['lp']}'; write it as SOURCE-TARGET")
    record = {
        "srclang": source, "trglang": target, "srcIndex": one.get("srcIndex") or one.get("seg"),
        "documentId": one.get("doc"), "segmentId": one.get("seg"), "judgeId": one.get("rater"),
        "rankingID": screen[0]["set"],
    }  # fmt: skip
    for k, (system, rank) in enumerate(ranking.items(), start=1):
        record |= {f"system{k}Id": system, f"system{k}rank": str(rank)}
    for k in range(len(ranking) + 1, SLOTS.stop):
        record[f"system{k}rank"] = str(BLANK)  # an empty slot, as readers of the format expect it
    return record


def _ranking(judged: list[tuple[str, str, str]]) -> dict[str, int]:
    """The systems in order of appearance with their ranks, if the judgments are one ranking."""
    systems = list(dict.fromkeys(name for left, right, _ in judged for name in (left, right)))
    if len(systems) > len(SLOTS):
        raise ValueError(f"has {len(systems)} systems, a line holds {len(SLOTS)}; split the set")
    seen = [frozenset(pair[:2]) for pair in judged]
    whole = len(systems) * (len(systems) - 1) // 2
    if len(set(seen)) < len(seen):
        raise ValueError("judges a pair of systems twice; give each screen its own set")
    if len(seen) != whole:
        raise ValueError(
            f"has {len(seen)} of the {whole} pairs of its {len(systems)} systems; add the others,"
            " or leave out the set column to write each judgment on its own line"
        )
    beaten = dict.fromkeys(systems, 0)
    for left, right, won in judged:
        if won != "tie":
            beaten[right if won == "left" else left] += 1
    order = sorted(set(beaten.values()))
    ranking = {system: order.index(count) + 1 for system, count in beaten.items()}
    for left, right, won in judged:
        implied = (ranking[left] > ranking[right]) - (ranking[left] < ranking[right])
        if implied != {"left": -1, "right": 1}.get(won, 0):
            raise ValueError(
                f"is not a ranking: '{left}' against '{right}' contradicts the other pairs;"
                " leave out the set column to write each judgment on its own line"
            )
    return ranking


def read_pairs(path: Path, kind: str, options: Options) -> Raw:
    """Read the judgments; those among systems with identical outputs were never made."""
    raw = _rankings(path, PAIR_COLUMNS)
    ranked = _ranks(raw, PAIR_SYSTEMS, PAIR_RANKS)
    about_line = _about(raw.frame, numbered=False)
    frame = pl.DataFrame([*about_line, *raw.frame.select(PAIR_SYSTEMS), *ranked])
    blank = pl.any_horizontal(pl.col(PAIR_RANKS) == BLANK).alias("_blank")
    pairs = (
        frame.with_row_index("_row")
        .with_columns(blank, _winner(*PAIR_RANKS), pl.col(PAIR_SYSTEMS).str.split("+"))
        .drop(PAIR_RANKS)
        .explode(PAIR_SYSTEMS[0])
        .explode(PAIR_SYSTEMS[1])
        .rename({"system1id": "left", "system2id": "right"})
        .with_columns(pl.col("left", "right").replace("", None))
    )
    shown = _shown(frame)
    blanks = shown.filter(pl.col("rank") == BLANK).height
    raw = replace(raw, notes=_joined(shown, frame.height, pairs.height))
    return _judgments(pairs, raw, blanks, options)


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Every output that was shown, once per screen, with its rank."""
    if "set" not in frame.columns:
        frame = frame.with_row_index("set")
    sides = [
        frame.select("set", pl.col(system).alias("systems"), pl.col(rank).alias("rank"))
        for system, rank in zip(PAIR_SYSTEMS, PAIR_RANKS, strict=True)
    ]
    return pl.concat(sides).unique()


def _joined(shown: pl.DataFrame, lines: int, judged: int) -> tuple[Note, ...]:
    count = shown["systems"].str.count_matches("+", literal=True).cast(pl.Int64) + 1
    same = int((count * (count - 1) // 2).sum())
    if not same:
        return ()
    text = (
        f"{int((count > 1).sum())} outputs shared by several systems: {lines:,} lines give"
        f" {judged:,} judgments, and the {same:,} pairs of identical outputs, which were"
        " never judged, are left out"
    )
    return (Note("identical-outputs", text),)


PROVIDES = (
    Format("wmt-seg-scores", "WMT metrics task seg.score file, a line per score",
           read_scores_file, {"scores": ("lp",)}),
    Format("wmt-rnk", "WMT ranking task CSV up to 2014, five systems a line",
           read_screens, {"judgments": ("lp", "blanks")}, write_screens, {"judgments": ("lp",)}),
    Format("wmt15-rnk", "WMT ranking task CSV of 2015 and 2016, a pair a line",
           read_pairs, {"judgments": ("lp", "blanks")}),
)  # fmt: skip
