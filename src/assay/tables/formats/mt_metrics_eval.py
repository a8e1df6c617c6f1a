"""The folder of a WMT metrics task, as mt-metrics-eval lays it out, read.

Segments have no names there: line ``n`` of every file is about the same segment, and ``n`` is our
``seg``. The parts of the folder are in :mod:`~assay.tables.formats.eval_folder`, writing is in
:mod:`~assay.tables.formats.eval_folder_write`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.errors import OptionError, Problem
from assay.tables.check import did_you_mean
from assay.tables.formats.eval_folder import (
    RATING,
    SCORE,
    EvalFolder,
    open_folder,
    outputs_in,
    ratings_of,
    score_files,
    score_paths,
    scores_of,
)
from assay.tables.formats.faults import stop
from assay.tables.formats.mqm import NO_CATEGORY, NO_ERROR, NO_SEVERITY
from assay.tables.raw import Raw, refuse
from assay.tables.schema import RESERVED

if TYPE_CHECKING:
    from assay.tables.formats import Options


UNSAID = {"category": NO_CATEGORY, "severity": NO_SEVERITY}
LONGEST = 2**53
"""Offsets beyond this are no offsets."""

Row = dict[str, Any]


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read one language pair of the folder: the outputs with metrics, ratings, or errors."""
    folder = open_folder(path, options.lp)
    if kind == "scores":
        return _scores(folder)
    if kind == "ratings":
        return _ratings(folder, options.human)
    return _errors(folder, options.human)


def _scores(folder: EvalFolder) -> Raw:
    """One row per system and segment, with a column per metric."""
    files = score_files(folder.path / "metric-scores" / folder.lp, "", SCORE)
    tables = {name: scores_of(folder, file) for name, file in files.items()}
    systems = list(folder.outputs) or sorted({s for t in tables.values() for s in t.systems})
    size = folder.size or next((table.size for table in tables.values()), 0)
    if not systems or not size:
        needed = f"system-outputs/{folder.lp} or metric-scores/{folder.lp}"
        raise refuse(str(folder.path), f"has no outputs; expected text files in {needed}")
    uneven = [t for t in tables.values() if t.size != size]
    if uneven:
        message = f"{uneven[0].path} has {uneven[0].size} segments where {size} are expected"
        raise refuse(str(folder.path), message)
    segments = folder.segments(size)
    frame = pl.DataFrame({"system": systems}).join(
        segments, how="cross", maintain_order="left_right"
    )
    frame = frame.with_columns(pl.lit(folder.lp).alias("lp"))
    if folder.outputs:
        texts = [line or None for system in systems for line in folder.outputs[system]]
        frame = frame.with_columns(pl.Series("target", texts, dtype=pl.String))
    columns = _columns(list(files))
    for name, column in columns.items():
        values = tables[name].frame.rename({"score": column})
        frame = frame.join(values, on=["system", "seg"], how="left", maintain_order="left")
    kept, notes = _there(folder, frame, list(columns.values()), score_paths(folder)["human"])
    if not kept.any():
        raise refuse(str(folder.path), "has neither a text nor a score of any output")
    frame = frame.filter(kept)
    place = frame["seg"].cast(pl.Int64).to_list()
    found = (*folder.notes, *notes)
    return Raw(frame, str(folder.path), lambda rows: [place[row] for row in rows], found)


def _there(
    folder: EvalFolder, frame: pl.DataFrame, values: list[str], others: list[Path]
) -> tuple[pl.Series, tuple[str, ...]]:
    """Which rows are outputs that exist, and a note on those that are not.

    A row with a number in one of the columns ``values`` is one; for rows without, the texts and
    the ``others``, score files too, tell.
    """
    scored = frame.select(pl.any_horizontal(pl.lit(False), pl.col(values).is_not_null()))
    kept = scored.to_series() | outputs_in(folder, frame, [])
    if not kept.all():
        kept |= outputs_in(folder, frame, others)
    gone = int((~kept).sum())
    note = f"{gone} outputs have neither a text nor a score anywhere and do not exist"
    return kept, (note,) if gone else ()


def _columns(names: list[str]) -> dict[str, str]:
    """Columns of the metric files ``METRIC-REF``: METRIC, unless it has several references."""
    metrics = [name.rpartition("-")[0] or name for name in names]
    short = {
        name: name if metrics.count(metric) > 1 or metric in RESERVED else metric
        for name, metric in zip(names, metrics, strict=True)
    }
    return short if len(set(short.values())) == len(names) else {name: name for name in names}


def _ratings(folder: EvalFolder, human: str | None) -> Raw:
    """Segment scores of one kind of human evaluation; null is an output that nobody rated."""
    table = scores_of(folder, _human_file(folder, human, SCORE))
    size = folder.size or table.size
    segments = folder.segments(size).drop("source", "reference", "domain", strict=False)
    frame = table.frame.join(segments, on="seg", how="left", maintain_order="left")
    frame = frame.with_columns(pl.lit(folder.lp).alias("lp"))
    others = [path for part in score_paths(folder).values() for path in part if path != table.path]
    kept, notes = _there(folder, frame, ["score"], others)
    rows = kept.arg_true().to_list()
    sign = "scores keep the file's sign; in this format higher is better, MQM is negated"
    return Raw(
        frame.filter(kept),
        str(table.path),
        lambda wanted: table.lines([rows[row] for row in wanted]),
        (sign, *notes),
    )


def _human_file(folder: EvalFolder, human: str | None, ending: str) -> Path:
    """The file of the named human scores, or of the only ones."""
    place = folder.path / "human-scores"
    files = score_files(place, f"{folder.lp}.", ending)
    names = ", ".join(files)
    if human is None and len(files) == 1:
        return next(iter(files.values()))
    if human is None and not files:
        message = f"has no human scores of {folder.lp}; expected {place}/{folder.lp}.NAME{ending}"
        raise refuse(str(folder.path), message)
    if human is None:
        raise OptionError("human", human, f"leaves open which to read: {names}", "name one of them")
    if human not in files:
        fault = f"is not among the human scores of {folder.lp}{did_you_mean(human, list(files))}"
        raise OptionError("human", human, fault, f"choose from {names or 'none, as it has none'}")
    return files[human]


def _errors(folder: EvalFolder, human: str | None) -> Raw:
    """Marked errors; a rated output without any has a ``No-error`` row."""
    path = _human_file(folder, human, RATING)
    raw, place = ratings_of(folder, path)
    rows: list[Row] = []
    origin: list[int] = []
    problems: list[Problem] = []
    for number, (system, rating, rater) in enumerate(raw.frame.rows()):
        try:
            errors = _rating(rating)
        except ValueError as fault:
            found = Problem(str(fault), raw.lines([number])[0], "rating", (rating or "")[:80])
            problems.append(found)
            continue
        for error in errors:
            rows.append({"system": system, "seg": place[number], "rater": rater, **error})
            origin.append(number)
    stop(str(path), problems, rows=raw.frame.height)
    frame = _error_frame(rows, folder, path.name.removeprefix(f"{folder.lp}.").removesuffix(RATING))
    return Raw(frame, str(path), lambda wanted: raw.lines([origin[row] for row in wanted]))


def _error_frame(rows: list[Row], folder: EvalFolder, human: str) -> pl.DataFrame:
    text, whole = pl.String, pl.Int64
    schema = {
        "system": text, "seg": text, "rater": text, "category": text, "severity": text,
        "side": text, "start": whole, "end": whole, "weight": pl.Float64,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema).with_columns(pl.lit(folder.lp).alias("lp"))
    if folder.size:
        frame = frame.join(
            folder.segments(folder.size), on="seg", how="left", maintain_order="left"
        )
        frame = frame.drop("reference", "domain", strict=False)
    if folder.outputs:
        targets = [
            folder.outputs[system][int(seg) - 1] or None
            for system, seg in frame.select("system", "seg").rows()
        ]
        frame = frame.with_columns(pl.Series("target", targets, dtype=pl.String))
    for name in ("rater", "weight"):
        if frame[name].null_count() == frame.height:
            frame = frame.drop(name)
    # A rating without a rater belongs to the rater that the file is named for.
    return frame.with_columns(pl.col("rater").fill_null(human)) if "rater" in frame else frame


def _rating(text: str | None) -> list[Row]:
    """The errors of one rating; none where nobody rated. Raises where it is no rating."""
    if text == "None":
        return []
    expected = 'expected None or {"errors": [{"start", "end", "category", "severity"}, ...]}'
    try:
        rating = json.loads(text or "")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"is not JSON ({getattr(error, 'msg', 'nested too deep')}); {expected}"
        ) from None
    errors = rating.get("errors") if isinstance(rating, dict) else None
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise ValueError(f"is no rating; {expected}")
    if not errors:
        return [{"category": NO_ERROR, "severity": NO_ERROR}]
    return [_error(error) for error in errors]


def _error(error: dict[str, Any]) -> Row:
    row: Row = {"side": "source" if error.get("is_source_error") is True else "target"}
    for name in ("start", "end"):
        value = error.get(name)
        if value is not None and (type(value) is not int or not 0 <= value < LONGEST):
            raise ValueError(f"{name} is {str(value)[:40]!r} where a number of characters belongs")
        row[name] = value
    for name in UNSAID:
        value = error.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} is {str(value)[:40]!r} where a word belongs")
        row[name] = value or UNSAID[name]
        if row[name] != row[name].encode("utf-8", "replace").decode():
            raise ValueError(f"{name} has half a character (a lone surrogate), which is no text")
    weight = error.get("score")
    if weight is not None and type(weight) not in (int, float):
        raise ValueError(f"score is {str(weight)[:40]!r} where a number belongs")
    row["weight"] = None if weight is None else _float(weight)
    return row


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("score is too large for a number") from None
