"""Comparisons as evalica reads them: CSV with ``left``, ``right`` and ``winner``.

The winner is ``left``, ``right`` or ``tie`` in any case, or evalica's ``Winner`` (``X``, ``Y``,
``Draw``) by name or number. Other columns are kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import choose_lp, need_columns, read_csv, write_text
from assay.tables.load import Findings, Raw

COLUMNS = ("left", "right", "winner")
WINNERS = {
    "left": "left", "right": "right", "tie": "tie",
    "x": "left", "y": "right", "draw": "tie",
    "winner.x": "left", "winner.y": "right", "winner.draw": "tie",
    "1": "left", "2": "right", "0": "tie",
}  # fmt: skip


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the judgments; a winner that evalica would pass over is reported."""
    raw = read_csv(path, expected=f"the header '{','.join(COLUMNS)}'")
    need_columns(raw.frame.columns, COLUMNS, raw.source)
    spelled = raw.frame["winner"]
    winner = spelled.str.strip_chars().str.to_lowercase().replace_strict(WINNERS, default=None)
    findings = Findings(raw)
    message = "'{}' is not a winner; expected left, right or tie (or X, Y, Draw)"
    findings.rows(spelled.is_not_null() & winner.is_null(), "winner", spelled, message)
    findings.stop()
    frame = raw.frame.with_columns(winner.cast(pl.String).alias("winner"))
    return choose_lp(replace(raw, frame=frame), options.lp)


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write the judgments, evalica's three columns first."""
    need_columns(frame.columns, COLUMNS, path)
    rest = [name for name in frame.columns if name not in COLUMNS]
    return write_text(path, frame.select(*COLUMNS, *rest).write_csv())


PROVIDES = (
    Format("evalica", "evalica CSV of comparisons",
           read, {"judgments": ("lp",)}, write, {"judgments": ()}),
)  # fmt: skip
