"""The data of koehn2012: the rankings of WMT12.

``wmt12_rankings.parquet`` has one row per output on a screen: ``lp``, ``ranking`` (the screen),
``segment``, ``judge``, ``slot``, ``system`` and ``rank`` (1 is best, -1 was left blank).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.tables.answers import Judgments, read_judgments

FILE = "wmt12_rankings.parquet"
COLUMNS = ("lp", "ranking", "segment", "judge", "slot", "system", "rank")


@dataclass(frozen=True, eq=False)
class Campaign:
    """The judgments of one language pair: blanks as best, as the paper has them, and without."""

    lp: str
    judgments: Judgments
    without_blanks: Judgments
    blanks: int


def read_folder(folder: Path) -> dict[str, Campaign]:
    """The campaigns of the file, by language pair; none where there is no file."""
    if not folder.is_dir():
        raise InputError(f"data ({folder}) is no folder; give the one with {FILE}")
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: is no parquet file ({error})") from None
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(f"{path}: has no column {', '.join(missing)}; it needs them all")
    frame = frame.select(
        pl.col("lp", "judge", "system").cast(pl.String),
        pl.col("ranking", "segment", "slot", "rank").cast(pl.Int64, strict=False),
    )
    if frame.null_count().sum_horizontal().item():
        raise InputError(f"{path}: has empty cells or ranks that are no numbers; fill them")
    return {str(lp): _campaign(str(lp), own) for (lp,), own in sorted(frame.group_by("lp"))}


def _campaign(lp: str, frame: pl.DataFrame) -> Campaign:
    pairs = _pairs(frame)
    return Campaign(
        lp,
        _judgments(pairs),
        _judgments(pairs.filter((pl.col("rank") > 0) & (pl.col("rank_right") > 0))),
        int((frame["rank"] < 0).sum()),
    )


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Every pair of outputs of a screen once, in the order of their slots."""
    other = frame.select("ranking", "slot", "system", "rank")
    pairs = frame.join(other, on="ranking", suffix="_right")
    return pairs.filter(pl.col("slot") < pl.col("slot_right")).sort("ranking", "slot", "slot_right")


def _judgments(pairs: pl.DataFrame) -> Judgments:
    sign = np.sign(pairs["rank"].to_numpy() - pairs["rank_right"].to_numpy())
    return read_judgments(
        pl.DataFrame(
            {
                "set": pairs["ranking"].cast(pl.String),
                "seg": pairs["segment"].cast(pl.String),
                "rater": pairs["judge"],
                "left": pairs["system"],
                "right": pairs["system_right"],
                "winner": np.array(["left", "tie", "right"])[sign + 1],
            }
        )
    )
