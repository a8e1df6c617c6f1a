"""Label Studio tasks from tables; :mod:`assay.tables.formats.label_studio` has the rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from assay.tables.formats import Options
from assay.tables.formats.jsonfile import write_json
from assay.tables.formats.rows import checked

Row = dict[str, Any]

SHOWN = {
    "ratings": ("lp", "system", "doc", "seg"),
    "errors": ("lp", "system", "doc", "seg"),
    "judgments": ("lp", "set", "doc", "seg", "left", "right"),
}
"""The columns that say what a rater saw: one task for each."""


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores, ratings, errors or judgments as tasks for import."""
    rows = checked(frame, kind).to_dicts()
    found: list[Row]
    if kind == "scores":
        found = [{"data": _plain(row)} for row in rows]
    else:
        found = [
            {"data": dict(shown), "annotations": _annotations(group, kind)}
            for shown, group in _grouped(rows, SHOWN[kind]).items()
        ]
    tasks = [{"id": number, **task} for number, task in enumerate(found, start=1)]
    return [write_json(tasks, path)]


def _plain(row: Row) -> Row:
    """A row as JSON can hold it: without empty cells, and without numbers that are none."""
    return {
        name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in row.items()
        if value is not None and value == value and value not in (float("inf"), -float("inf"))
    }


def _grouped(
    rows: Iterable[Row], names: tuple[str, ...]
) -> dict[tuple[tuple[str, Any], ...], list[Row]]:
    """The rows that agree in these columns, in the order of the first of them."""
    groups: dict[tuple[tuple[str, Any], ...], list[Row]] = {}
    for row in rows:
        key = tuple((name, row[name]) for name in names if row.get(name) is not None)
        groups.setdefault(key, []).append(row)
    return groups


def _annotations(rows: list[Row], kind: str) -> list[Row]:
    """What the raters said: an annotation per row, or per rater where errors are marked."""
    if kind == "errors":
        return [
            {
                **_completed_by(group[0].get("rater")),
                "result": [part for i, row in enumerate(group) for part in _error(row, i)],
            }
            for group in _grouped(rows, ("rater",)).values()
        ]
    result = _score if kind == "ratings" else _judgment
    return [{**_completed_by(row.get("rater")), **result(row)} for row in rows]


def _completed_by(rater: str | None) -> Row:
    """The rater as Label Studio names people: a number, or else an email."""
    if rater is None:
        return {}
    number = rater.isascii() and rater.isdigit() and len(rater) < 10 and str(int(rater)) == rater
    return {"completed_by": int(rater) if number else {"email": rater}}


def _score(row: Row) -> Row:
    time = {} if row.get("seconds") is None else {"lead_time": row["seconds"]}
    if row["score"] is None:
        return {"result": [], **time}
    value = {"number": row["score"]}
    result = {"from_name": "score", "to_name": "target", "type": "number", "value": value}
    return {"result": [result], **time}


def _judgment(row: Row) -> Row:
    shared = {"from_name": "winner", "to_name": "left,right"}
    if row["winner"] == "tie":
        return {"result": [{**shared, "type": "choices", "value": {"choices": ["tie"]}}]}
    return {"result": [{**shared, "type": "pairwise", "value": {"selected": row["winner"]}}]}


def _error(row: Row, number: int) -> list[Row]:
    """A region and its severity; an error without a place is a choice about the whole text."""
    place = {name: row[name] for name in ("start", "end") if row.get(name) is not None}
    shared = {"id": f"error{number + 1}", "to_name": row.get("side") or "text"}
    category, severity = [row["category"]], [row["severity"]]
    kind = "labels" if place else "choices"
    return [
        {**shared, "from_name": "category", "type": kind, "value": {**place, kind: category}},
        {**shared, "from_name": "severity", "type": "choices",
         "value": {**place, "choices": severity}},
    ]  # fmt: skip
