"""The WMT ranking task up to 2014: a CSV line per screen of up to five systems.

``srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,..,system5Id,
system1rank,..,system5rank``, sometimes with ``rankingID``. Every pair of ranked systems of a line
is a judgment, in the order of the screen; the line is their ``set``.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.errors import Problem
from assay.tables.check import to_text
from assay.tables.formats.faults import stop
from assay.tables.formats.lines import need_columns, read_csv, write_text
from assay.tables.formats.rnk import BLANK, about, clean_header, judgments, ranks, winner
from assay.tables.raw import Raw

if TYPE_CHECKING:
    from assay.tables.formats import Options


SLOTS = range(1, 6)
PLACE = ("srclang", "trglang", "srcindex", "judgeid")
ABOUT = ("lp", "doc", "seg", "rater", "srcIndex")
"""What all judgments of one line share."""

Row = dict[str, Any]


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the judgments: all pairs of every line."""
    needed = [*PLACE, *(f"system{k}{part}" for k in (1, 2) for part in ("id", "rank"))]
    raw = clean_header(read_csv(path, expected="a header 'srclang,trglang,srcIndex,...'"), needed)
    slots = [k for k in SLOTS if {f"system{k}id", f"system{k}rank"} <= set(raw.frame.columns)]
    names = [f"system{k}id" for k in slots]
    columns = [f"system{k}rank" for k in slots]
    ranked = ranks(raw, names, columns)
    about_line = about(raw.frame, numbered=True)
    frame = pl.DataFrame([*about_line, *raw.frame.select(names), *ranked])
    shown = zip(names, columns, strict=True)
    blank = [(frame[n].is_not_null() & (frame[c] == BLANK)).sum() for n, c in shown]
    pairs = _pairs(frame.with_row_index("_row"), slots)
    return judgments(pairs, raw, int(sum(blank)), options)


def _pairs(frame: pl.DataFrame, slots: list[int]) -> pl.DataFrame:
    """All pairs of systems of every line, line by line, in the order of the screen."""
    kept = [name for name in frame.columns if not name.startswith("system")]
    tables = []
    for order, (i, j) in enumerate(combinations(slots, 2)):
        left, right = f"system{i}rank", f"system{j}rank"
        pair = frame.filter(
            pl.col(f"system{i}id").is_not_null() & pl.col(f"system{j}id").is_not_null()
        )
        tables.append(
            pair.select(
                *kept,
                pl.col(f"system{i}id").alias("left"),
                pl.col(f"system{j}id").alias("right"),
                winner(left, right),
                ((pl.col(left) == BLANK) | (pl.col(right) == BLANK)).alias("_blank"),
                pl.lit(order).alias("_order"),
            )
        )
    return pl.concat(tables).sort("_row", "_order").drop("_order")


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write a line per set, or per judgment where the table has no sets.

    The judgments of a set must be those of one ranking of two to five systems.
    """
    need_columns(frame.columns, ("left", "right", "winner"), str(path))
    text = pl.DataFrame([to_text(frame[name]) for name in frame.columns])
    if "set" not in text.columns:
        numbers = pl.Series("set", range(1, text.height + 1), dtype=pl.Int64)
        text = text.with_columns(numbers.cast(pl.String))
    if "lp" not in text.columns and options.lp is not None:
        text = text.with_columns(pl.lit(options.lp).alias("lp"))
    screens: dict[str, list[Row]] = {}
    for row in text.with_row_index("_row").iter_rows(named=True):
        screens.setdefault(row["set"], []).append(row)
    records, problems = [], []
    for name, screen in screens.items():
        try:
            records.append(_record(screen))
        except ValueError as fault:
            problems.append(Problem(f"set '{name}' {fault}", screen[0]["_row"] + 1, "set", name))
    stop(str(path), problems, rows=frame.height)
    lines = pl.DataFrame(records, schema=dict.fromkeys(_header(), pl.String))
    return write_text(path, lines.write_csv())


def _header() -> list[str]:
    numbers = [f"system{k}{part}" for k in SLOTS for part in ("Number", "Id")]
    start = ["srclang", "trglang", "srcIndex", "documentId", "segmentId", "judgeId"]
    return [*start, *numbers, *(f"system{k}rank" for k in SLOTS), "rankingID"]


def _record(screen: list[Row]) -> dict[str, str | None]:
    """One line of the file; raises where the judgments of the screen are no ranking."""
    one = {name: screen[0][name] for name in ABOUT if name in screen[0]}
    for name, value in one.items():
        if any(row[name] != value for row in screen):
            raise ValueError(f"has several values of {name}; give each screen a set of its own")
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
        raise ValueError("judges a pair of systems twice; give each screen a set of its own")
    if len(seen) != whole:
        raise ValueError(
            f"has {len(seen)} of the {whole} pairs of its {len(systems)} systems; add the others,"
            " or leave out the set column to write every judgment by itself"
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
                f"is no ranking: '{left}' against '{right}' contradicts the other pairs;"
                " leave out the set column to write every judgment by itself"
            )
    return ranking
