"""Average MQM scores per segment, as published by Google beside the annotations.

A header line ``system mqm_avg_score seg_id``, then a line per system and segment, separated by
spaces or tabs (both occur in one file). Scores are negated MQM: 0 is perfect, lower is worse;
``None`` is an output that nobody rated.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.tables.formats.lines import choose_lp, need_columns, need_distinct, numbered, split_tabs
from assay.tables.raw import Raw

if TYPE_CHECKING:
    from assay.tables.formats import Options


COLUMNS = {"system": "system", "mqm_avg_score": "score", "seg_id": "seg"}
NOTE = "scores keep the file's sign: MQM negated, so higher is better and 0 is perfect"


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the ratings: one per system and segment, null where nobody rated."""
    lines = numbered(path, expected=f"the header '{' '.join(COLUMNS)}'", loose=True)
    header = lines["text"][0].split("\t")
    need_columns(header, list(COLUMNS), str(path), lines["line"][0])
    names = [COLUMNS.get(name, name) for name in header]
    need_distinct(names, str(path), lines["line"][0])
    raw = split_tabs(lines[1:], names, path)
    return choose_lp(Raw(raw.frame, raw.source, raw.lines, (NOTE,)), options.lp)
