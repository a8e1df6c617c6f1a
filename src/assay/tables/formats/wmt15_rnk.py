"""The WMT ranking task of 2015 and 2016: a CSV line per pair of outputs.

``srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID``.
Systems with identical outputs were shown as one and are joined with ``+``: a line with joined
systems is a judgment of each system on the one side against each on the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from assay.tables.formats.lines import read_csv
from assay.tables.formats.rnk import BLANK, about, clean_header, judgments, ranks, winner
from assay.tables.raw import Raw

if TYPE_CHECKING:
    from assay.tables.formats import Options


SYSTEMS = ("system1id", "system2id")
RANKS = ("system1rank", "system2rank")
NEEDED = ("srclang", "trglang", "srcindex", "judgeid", *SYSTEMS, *RANKS, "rankingid")


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the judgments; those among systems with identical outputs were never made."""
    raw = clean_header(read_csv(path, expected="a header 'srclang,trglang,srcIndex,...'"), NEEDED)
    ranked = ranks(raw, SYSTEMS, RANKS)
    frame = pl.DataFrame([*about(raw.frame, numbered=False), *raw.frame.select(SYSTEMS), *ranked])
    blank = pl.any_horizontal(pl.col(name) == BLANK for name in RANKS).alias("_blank")
    pairs = (
        frame.with_row_index("_row")
        .with_columns(blank, winner(*RANKS), *(pl.col(name).str.split("+") for name in SYSTEMS))
        .drop(RANKS)
        .explode(SYSTEMS[0])
        .explode(SYSTEMS[1])
        .rename({"system1id": "left", "system2id": "right"})
        .with_columns(pl.col("left", "right").replace("", None))
    )
    joined = _joined(frame, pairs.height)
    return judgments(pairs, Raw(raw.frame, raw.source, raw.lines, joined), _blanks(frame), options)


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Every output that was shown, once per screen, with its rank."""
    if "set" not in frame.columns:
        frame = frame.with_row_index("set")
    sides = [
        frame.select("set", pl.col(system).alias("systems"), pl.col(rank).alias("rank"))
        for system, rank in zip(SYSTEMS, RANKS, strict=True)
    ]
    return pl.concat(sides).unique()


def _blanks(frame: pl.DataFrame) -> int:
    return _shown(frame).filter(pl.col("rank") == BLANK).height


def _joined(frame: pl.DataFrame, judged: int) -> tuple[str, ...]:
    count = _shown(frame)["systems"].str.count_matches("+", literal=True).cast(pl.Int64) + 1
    same = int((count * (count - 1) // 2).sum())
    if not same:
        return ()
    return (
        f"{int((count > 1).sum())} outputs shared by several systems:"
        f" {frame.height} lines give {judged} judgments, and the {same} pairs of"
        " identical outputs, which nobody judged, are left out",
    )
