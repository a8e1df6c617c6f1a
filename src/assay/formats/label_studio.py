"""Label Studio JSON: a list of tasks, each with its ``data`` and the ``annotations`` of raters.

``data`` names what was shown with Assay's column names: ``system``, ``seg`` and, where there are
documents, ``doc``; for judgments ``left`` and ``right``, the two systems. The annotations are
read by type: ``number`` and ``rating`` as scores, ``labels`` as errors (half-open offsets, in code
points or, where the marked ``text`` shows it, in UTF-16 units; the severity as a ``choices``
result of the same region, or as the label itself), ``pairwise`` as judgments, with ``choices``
for a tie. ``lead_time`` gives the seconds, ``completed_by`` the rater
(its number, or the email of the object). Cancelled annotations are left out and counted.

Places in messages are numbers of tasks, counted from 1: lines of a JSON file mean little.

Written are tasks for import: a scores table as tasks alone, with all its columns in ``data``;
the other tables with their annotations, rows about the same output in one task. Reading them
again gives the same table, columns of its kind only, with the rows of one task together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import (
    FileRows,
    Said,
    checked,
    is_number,
    is_whole,
    read_json,
    said_of,
    shown,
    write_json,
)  # fmt: skip
from assay.formats.mqm import NO_CATEGORY, NO_SEVERITY, from_utf16
from assay.results import Note
from assay.tables.load import Raw, refuse

SEVERITIES = ("neutral", "minor", "major", "critical")
"""Labels that say how bad an error is, not of what kind."""

TIES = ("tie", "equal", "same")
WANTED = {
    "ratings": ("number", "rating"), "errors": ("labels", "choices"),
    "judgments": ("pairwise", "choices"),
}  # fmt: skip
"""The types of result that make a file one of this kind."""

Row = dict[str, Any]

TASK_COLUMNS = {
    "ratings": ("lp", "system", "doc", "seg", "check", "repeat"),
    "errors": ("lp", "system", "doc", "seg"),
    "judgments": ("lp", "set", "doc", "seg", "left", "right"),
}
"""The columns that say what a rater saw: one task for each."""


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read an export as ratings, errors or judgments."""
    tasks = _tasks(path)
    rows = FileRows(path, kind)
    add = {"ratings": _add_score, "errors": _add_errors, "judgments": _add_judgment}[kind]
    types: set[str] = set()
    for number, task in enumerate(tasks, start=1):
        for annotation in _annotations(number, task, kind, rows):
            types.update(str(result.get("type")) for result in annotation.results)
            add(annotation, rows)
    rows.stop()
    if types and not types.intersection(WANTED[kind]):
        wanted = " or ".join(WANTED[kind])
        message = f"has no results of type {wanted}; found {', '.join(sorted(types))}"
        raise refuse(path, message)
    return rows.raw(nothing="the file has no annotations")


def _tasks(path: Path) -> list[Any]:
    tasks = read_json(path)
    if not isinstance(tasks, list):
        raise refuse(
            path, f"expected a list of tasks, found {shown(tasks)}; export as JSON", line=1
        )
    return tasks


@dataclass(frozen=True, slots=True)
class _Annotation:
    """What one rater said about one task: its number, its place in the table, its data."""

    number: int
    place: Row
    data: Row
    results: list[Row]
    seconds: Any
    ended: Any = None

    def values(self, kind: str) -> Iterator[tuple[Row, Any]]:
        return _values(self.results, kind)


def _annotations(number: int, task: Any, kind: str, rows: FileRows) -> Iterator[_Annotation]:
    """The finished annotations of a task."""
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        rows.fault("expected a task with data and annotations (export as JSON)", number, "data")
        return
    needed = ("left", "right") if kind == "judgments" else ("system", "seg")
    missing = [name for name in needed if data.get(name) is None]
    if missing:
        message = f"data has no {' and no '.join(missing)}; found {', '.join(data) or 'nothing'}"
        rows.fault(message, number, "data")
        return
    given = task.get("annotations")
    if given is None or given == []:
        rows.count("no-annotations", "tasks without annotations left out")
        return
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        rows.fault("expected a list of objects in annotations", number, "annotations", given)
        return
    place = {name: data.get(name) for name in TASK_COLUMNS[kind]}
    for item in given:
        results = item.get("result")
        if item.get("was_cancelled"):
            rows.count("cancelled", "cancelled annotations left out")
        elif not _are_results(results):
            rows.fault("expected a list of objects with value in result", number, "result", results)
        else:
            who = item.get("completed_by")
            rater = who.get("email") or who.get("id") if isinstance(who, dict) else who
            at = (item.get("lead_time"), item.get("updated_at") or item.get("created_at"))
            yield _Annotation(number, {**place, "rater": rater}, data, results, *at)


def read_said(path: Path, options: Options) -> tuple[list[Said], tuple[Note, ...]]:
    """Everything that raters said about every output: score, marks, comment, time."""
    rows, marks = FileRows(path, "ratings"), FileRows(path, "errors")
    said = []
    for number, task in enumerate(_tasks(path), start=1):
        for given in _annotations(number, task, "ratings", rows):
            if given.data.get("check") or given.data.get("repeat"):
                rows.count("second-showings", "checks and repeats left out")
                continue
            _add_score(given, rows)
            _add_errors(given, marks)
            words = [
                word for one in given.results if one.get("type") == "textarea"
                for word in _names(one.get("value", {}).get("text"))
            ]  # fmt: skip
            said.append(said_of(
                rows, marks, number, source=given.data.get("source"),
                target=given.data.get("target"), ended=_seconds(given, rows),
                comment="\n".join(words), lp=given.data.get("lp"),
            ))  # fmt: skip
    rows.stop()
    marks.stop()
    return said, rows.notes


def _seconds(given: _Annotation, rows: FileRows) -> float | None:
    """When an annotation was made, in seconds since 1970."""
    if given.ended is None:
        return None
    try:
        return datetime.fromisoformat(given.ended).timestamp()
    except (TypeError, ValueError):
        rows.fault(f"{shown(given.ended)} is not a time", given.number, "updated_at", given.ended)
        return None


def _are_results(results: Any) -> bool:
    return isinstance(results, list) and all(
        isinstance(result, dict) and isinstance(result.get("value", {}), dict) for result in results
    )


def _values(results: list[Row], kind: str) -> Iterator[tuple[Row, Any]]:
    """The results of this type, each with what its value holds under the type's name."""
    for result in results:
        if result.get("type") == kind:
            yield result, result.get("value", {}).get(kind)


def _add_score(given: _Annotation, rows: FileRows) -> None:
    scores = [*given.values("number"), *given.values("rating")]
    named = [pair for pair in scores if pair[0].get("from_name") == "score"]
    scores = named or scores
    if len(scores) > 1:
        names = ", ".join(str(result.get("from_name")) for result, _ in scores)
        message = f"an annotation has {len(scores)} scores ({names}); name the one to read 'score'"
        rows.fault(message, given.number, "result")
        return
    score = scores[0][1] if scores else None
    for column, value in (("score", score), ("lead_time", given.seconds)):
        if value is not None and not is_number(value):
            rows.fault(f"{shown(value)} is not a number", given.number, column, value)
            return
    rows.add(given.number, {**given.place, "score": score, "seconds": given.seconds})


def _add_errors(given: _Annotation, rows: FileRows) -> None:
    regions: dict[str, list[Row]] = {}
    for position, result in enumerate(given.results):
        if result.get("type") in ("labels", "choices"):
            regions.setdefault(str(result.get("id", position)), []).append(result)
    errors = [error for parts in regions.values() if (error := _error(parts, given.data))]
    if not errors:
        rows.add_no_error(given.number, given.place)
    for error in errors:
        places = {name: error[name] for name in ("start", "end") if error[name] is not None}
        wrong = {name: at for name, at in places.items() if not (is_whole(at) and at >= 0)}
        for name, at in wrong.items():
            rows.fault(f"{shown(at)} is not a place in a text", given.number, name, at)
        if not wrong:
            rows.add(given.number, {**given.place, **error})


def _error(parts: list[Row], data: Row) -> Row | None:
    """One error from the results of its region; None where they are about something else."""
    labels = [name for result, given in _values(parts, "labels") for name in _names(given)]
    choices = {str(result.get("from_name")): _names(given)
               for result, given in _values(parts, "choices")}  # fmt: skip
    marked = next((part for part in parts if part.get("type") == "labels"), None)
    if marked is None and "category" not in choices:
        return None
    severity = [*choices.get("severity", ())]
    if marked is not None and not severity:
        severity = next(iter(choices.values()), [])
        severity = severity or [name for name in labels if name.lower() in SEVERITIES]
        labels = [name for name in labels if name not in severity]
    category = labels if marked is not None else choices["category"]
    region = marked or parts[0]
    side = region.get("to_name")
    start, end = _offsets(region.get("value", {}), data.get(str(side)))
    return {
        "category": "/".join(category) or NO_CATEGORY,
        "severity": "/".join(severity) or NO_SEVERITY,
        "side": side if side in ("source", "target") else None, "start": start, "end": end,
    }  # fmt: skip


def _names(given: Any) -> list[str]:
    """The names in a labels or choices value; choices in a tree are lists of names."""
    listed = given if isinstance(given, list) else [given]
    return [name if isinstance(name, str) else shown(name) for name in listed if name is not None]


def _offsets(value: Row, text: Any) -> tuple[Any, Any]:
    """Start and end; where the marked text shows that UTF-16 units were counted, converted."""
    start, end, marked = value.get("start"), value.get("end"), value.get("text")
    if not (isinstance(text, str) and isinstance(marked, str)):
        return start, end
    if not (is_whole(start) and is_whole(end)) or text[max(start, 0) : max(end, 0)] == marked:
        return start, end
    first, last = from_utf16(text, start), from_utf16(text, end)
    if first is not None and last is not None and text[first:last] == marked:
        return first, last
    return start, end


def _add_judgment(given: _Annotation, rows: FileRows) -> None:
    chosen = [result.get("value", {}).get("selected") for result, _ in given.values("pairwise")]
    chosen += [name for _, value in given.values("choices") for name in _names(value)]
    words = [str(word).lower() for word in chosen if word is not None]
    winners = {"tie" if word in TIES else word for word in words} & {"left", "right", "tie"}
    if not words:
        rows.count("no-judgment", "annotations without a judgment left out")
    elif len(winners) != 1:
        message = f"expected left, right or tie, found {', '.join(words)}"
        rows.fault(message, given.number, "result", chosen)
    else:
        rows.add(given.number, {**given.place, "winner": winners.pop()})


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores, ratings, errors or judgments as tasks for import."""
    rows = checked(frame, kind).to_dicts()
    tasks: list[Row]
    if kind == "scores":
        tasks = [{"data": _plain(row)} for row in rows]
    else:
        tasks = [
            {"data": dict(shown), "annotations": _written_annotations(group, kind)}
            for shown, group in _grouped(rows, TASK_COLUMNS[kind]).items()
        ]
    listed = [{"id": number, **task} for number, task in enumerate(tasks, start=1)]
    return [write_json(listed, path)]


def _plain(row: Row) -> Row:
    """A row as JSON can hold it: without empty cells, and without numbers that are not finite."""
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


def _written_annotations(rows: list[Row], kind: str) -> list[Row]:
    """What the raters said: an annotation per row, or per rater where errors are marked."""
    if kind == "errors":
        return [
            {
                **_completed_by(group[0].get("rater")),
                "result": [part for i, row in enumerate(group) for part in _written_error(row, i)],
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


def _written_error(row: Row, number: int) -> list[Row]:
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


def write_said(said: Sequence[Said], path: Path, unsaid: Sequence[Row] = ()) -> list[Path]:
    """Write what raters said as tasks with annotations; ``unsaid`` are outputs without any."""
    groups: dict[tuple[Any, ...], list[Said]] = {}
    for one in said:
        place = (one.lp, one.doc, one.seg, one.system, one.again)
        groups.setdefault((*place, one.target), []).append(one)
    tasks = [
        {"data": _shown(group[0]), "annotations": [_annotation(one) for one in group]}
        for group in groups.values()
    ]
    tasks += [{"data": _plain(row)} for row in unsaid]
    return [write_json([{"id": k, **task} for k, task in enumerate(tasks, start=1)], path)]


def _shown(one: Said) -> Row:
    words = {"spoiled": {"check": "spoiled"}, "repeat": {"repeat": "yes"}}
    data = {
        "lp": one.lp, "system": one.system, "doc": one.doc, "seg": one.seg, "source": one.source,
        "target": one.target,
    }  # fmt: skip
    return _plain(data) | (words[one.again] if one.again else {})


def _annotation(one: Said) -> Row:
    found = _score({"score": one.score, "seconds": one.seconds})
    for number, mark in enumerate(one.marks):
        found["result"] += _written_error(
            asdict(mark) | {"category": mark.category or NO_CATEGORY,
                            "severity": mark.severity or NO_SEVERITY}, number
        )  # fmt: skip
    if one.comment:
        value = {"text": [one.comment]}
        found["result"].append(
            {"from_name": "comment", "to_name": "target", "type": "textarea", "value": value}
        )
    ended = {} if one.ended is None else {
        "updated_at": datetime.fromtimestamp(one.ended, UTC).isoformat()
    }  # fmt: skip
    return {**_completed_by(one.rater), **found, **ended}


PROVIDES = (
    Format("label-studio", "Label Studio JSON export or import",
           read, dict.fromkeys(WANTED, ()), write, dict.fromkeys(("scores", *WANTED), ())),
)  # fmt: skip
