"""The folder of a WMT metrics task, as mt-metrics-eval lays it out, for one language pair.

``sources/LP.txt``, ``documents/LP.docs`` (domain and document per line),
``references/LP.NAME.txt``, ``system-outputs/LP/SYSTEM.txt``: texts, a segment per line, as many in
each. ``human-scores/LP.NAME.seg.score`` and ``metric-scores/LP/METRIC-REF.seg.score``: system and
score per line, all segments of a system in a block. Any part may be missing.

Segments have no names there: line ``n`` of every file is about the same segment, and ``n`` is our
``seg``, so a table that is written must number them 1, 2, ... through the whole test set. There is
no place for raters of scores, seconds, words, costs and text columns of the user's own, which are
left out. Numeric columns are metrics; they are written as computed against the one reference
(``METRIC-ref``) or, without one, against the source (``METRIC-src``).

An output that is not in the table is an empty line and None in all scores. So is one that has
neither a text nor a metric: it comes back only if it has a rating. A folder is written whole or
not at all.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError, did_you_mean, need_known
from assay.formats.catalogue import Format, Options
from assay.formats.files import (
    BREAKS,
    need_columns,
    numbered,
    refuse_pattern,
    split_tabs,
    text_lines,
    write_text,
)
from assay.formats.mqm import NO_CATEGORY, NO_ERROR, NO_SEVERITY
from assay.results import Note
from assay.tables.load import Findings, Raw, lines_at, refuse, to_number, to_text
from assay.tables.schemas import RESERVED
from assay.tables.tables import rows_among

SCORE = ".seg.score"
RATING = ".seg.rating"
NOTHING = "-"
"""Stands for a missing document or domain; the format needs both."""
UNSAID = {"category": NO_CATEGORY, "severity": NO_SEVERITY}
MAX_OFFSET = 2**53
"""A larger number is not an offset."""

Row = dict[str, Any]
_OUTPUT = {"system": pl.String, "seg": pl.String}


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read one language pair of the folder: the outputs with metrics, ratings, or errors."""
    folder = open_folder(path, options.lp)
    if kind == "scores":
        return _scores(folder)
    if kind == "ratings":
        return _ratings(folder, options.human_scores)
    return _errors(folder, options.human_scores)


def _scores(folder: EvalFolder) -> Raw:
    """One row per system and segment, with a column per metric."""
    files = score_files(folder.path / "metric-scores" / folder.lp, "", SCORE)
    tables = {name: scores_of(folder, file) for name, file in files.items()}
    scored = {system for table in tables.values() for system in table.frame["system"].unique()}
    systems = list(folder.outputs) or sorted(scored)
    sizes = {table.source: table.frame["seg"].n_unique() for table in tables.values()}
    size = folder.size or next(iter(sizes.values()), 0)
    if not systems or not size:
        needed = f"system-outputs/{folder.lp} or metric-scores/{folder.lp}"
        raise refuse(folder.path, f"has no outputs; expected text files in {needed}")
    for path, count in sizes.items():
        if count != size:
            message = f"{path} has {count} segments where {size} are expected"
            raise refuse(folder.path, message)
    frame = outputs_of(systems, folder.segments(size)).with_columns(lp=pl.lit(folder.lp))
    if folder.outputs:
        texts = [line or None for system in systems for line in folder.outputs[system]]
        frame = frame.with_columns(pl.Series("target", texts, dtype=pl.String))
    columns = _columns(list(files))
    for name, column in columns.items():
        values = tables[name].frame.rename({"score": column})
        frame = frame.join(values, on=["system", "seg"], how="left", maintain_order="left")
    kept, notes = _there(folder, frame, list(columns.values()), human_files(folder))
    if not kept.any():
        raise refuse(folder.path, "has neither a text nor a score of any output")
    frame = frame.filter(kept)
    lines = lines_at(frame["seg"].cast(pl.Int64))
    return Raw(frame, str(folder.path), lines, (*folder.notes, *notes))


def outputs_of(systems: Sequence[str], segments: pl.DataFrame) -> pl.DataFrame:
    """A row for every segment of every system."""
    outputs = pl.DataFrame({"system": systems})
    return outputs.join(segments, how="cross", maintain_order="left_right")


def line_numbers(size: int) -> pl.Series:
    """The names of the segments: their lines."""
    return pl.Series("seg", range(1, size + 1), dtype=pl.Int64).cast(pl.String)


def _there(
    folder: EvalFolder, frame: pl.DataFrame, values: list[str], others: Sequence[Path]
) -> tuple[pl.Series, tuple[Note, ...]]:
    """Which rows are outputs that exist, and a note on those that are not.

    The format has a line for every segment of every system. Where a system has no output of a
    segment, its line of text is empty and all its scores are None; an empty line with a score is
    an empty translation. ``values`` are the columns with scores, ``others`` the other score files.
    """
    texts = [
        (system, str(number))
        for system, lines in folder.outputs.items()
        for number, line in enumerate(lines, start=1)
        if line
    ]
    scored = frame.select(pl.any_horizontal(pl.lit(False), pl.col(values).is_not_null()))
    kept = scored.to_series() | rows_among(frame, pl.DataFrame(texts, _OUTPUT, orient="row"))
    if not kept.all() and others:
        answered = pl.concat([_answered(folder, path) for path in others])
        kept |= rows_among(frame, answered.unique())
    gone = int((~kept).sum())
    text = f"{gone:,} outputs have neither a text nor a score in any file and are left out"
    return kept, (Note("absent-outputs", text),) if gone else ()


def _columns(names: list[str]) -> dict[str, str]:
    """Columns of the metric files ``METRIC-REF``: METRIC, unless it has several references."""
    metrics = [name.rpartition("-")[0] or name for name in names]
    short = {
        name: name if metrics.count(metric) > 1 or metric in RESERVED else metric
        for name, metric in zip(names, metrics, strict=True)
    }
    return short if len(set(short.values())) == len(names) else {name: name for name in names}


def _ratings(folder: EvalFolder, human: str | None) -> Raw:
    """Segment scores of one kind of human evaluation; null is an output that was not rated."""
    path = _human_file(folder, human, SCORE)
    table = scores_of(folder, path)
    size = folder.size or table.frame["seg"].n_unique()
    segments = folder.segments(size).drop("source", "reference", "domain", strict=False)
    frame = table.frame.join(segments, on="seg", how="left", maintain_order="left")
    frame = frame.with_columns(lp=pl.lit(folder.lp))
    metrics = score_files(folder.path / "metric-scores" / folder.lp, "", SCORE).values()
    others = [other for other in (*metrics, *human_files(folder)) if other != path]
    kept, notes = _there(folder, frame, ["score"], others)
    text = "scores keep the file's sign; in this format higher is better, MQM is negated"
    lines = table.lines_of(kept.arg_true())
    return Raw(frame.filter(kept), str(path), lines, (Note("negated-mqm", text), *notes))


def _human_file(folder: EvalFolder, human: str | None, ending: str) -> Path:
    """The file of the named human scores, or of the only ones."""
    place = folder.path / "human-scores"
    files = score_files(place, f"{folder.lp}.", ending)
    if human is not None:
        if human not in files:
            hint = did_you_mean(human, list(files))
            fault = f"is not among the human scores of {folder.lp}{hint}"
            remedy = f"choose from {', '.join(files) or 'none, as it has none'}"
            raise OptionError("human_scores", human, fault, remedy)
        return files[human]
    if not files:
        message = f"has no human scores of {folder.lp}; expected {place}/{folder.lp}.NAME{ending}"
        raise refuse(folder.path, message)
    if len(files) > 1:
        fault = f"is needed, as the folder has several: {', '.join(files)}"
        raise OptionError("human_scores", human, fault, "name one of them")
    return next(iter(files.values()))


def _errors(folder: EvalFolder, human: str | None) -> Raw:
    """Marked errors; a rated output without any has a ``No-error`` row."""
    path = _human_file(folder, human, RATING)
    raw, place = ratings_of(folder, path)
    rows: list[Row] = []
    origin: list[int] = []
    findings = Findings(path)
    for number, (system, rating, rater) in enumerate(raw.frame.rows()):
        try:
            errors = _rating(rating)
        except ValueError as fault:
            findings.add(str(fault), raw.lines([number])[0], "rating", (rating or "")[:80])
            continue
        for error in errors:
            rows.append({"system": system, "seg": place[number], "rater": rater, **error})
            origin.append(number)
    findings.stop(rows=raw.frame.height)
    frame = _error_frame(rows, folder, path.name.removeprefix(f"{folder.lp}.").removesuffix(RATING))
    return Raw(frame, str(path), raw.lines_of(origin))


def _error_frame(rows: list[Row], folder: EvalFolder, human: str) -> pl.DataFrame:
    texts = dict.fromkeys(("system", "seg", "rater", "category", "severity", "side"), pl.String())
    schema = {**texts, "start": pl.Int64(), "end": pl.Int64(), "weight": pl.Float64()}
    frame = pl.DataFrame(rows, schema=schema).with_columns(lp=pl.lit(folder.lp))
    if folder.size:
        segments = folder.segments(folder.size).drop("reference", "domain", strict=False)
        frame = frame.join(segments, on="seg", how="left", maintain_order="left")
    if folder.outputs:
        places = frame.select("system", "seg").rows()
        targets = [folder.outputs[system][int(seg) - 1] or None for system, seg in places]
        frame = frame.with_columns(pl.Series("target", targets, dtype=pl.String))
    for name in ("rater", "weight"):
        if frame[name].null_count() == frame.height:
            frame = frame.drop(name)
    # A rating without a rater belongs to the rater that the file is named for.
    return frame.with_columns(pl.col("rater").fill_null(human)) if "rater" in frame else frame


def _rating(text: str | None) -> list[Row]:
    """The errors of one rating, none for an output that was not rated; raises for anything else."""
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
        raise ValueError(f"is not a rating; {expected}")
    if not errors:
        return [{"category": NO_ERROR, "severity": NO_ERROR}]
    return [_error(error) for error in errors]


def _error(error: dict[str, Any]) -> Row:
    row: Row = {"side": "source" if error.get("is_source_error") is True else "target"}
    for name in ("start", "end"):
        value = error.get(name)
        if value is not None and (type(value) is not int or not 0 <= value < MAX_OFFSET):
            raise ValueError(f"{name} is {str(value)[:40]!r}, not a number of characters")
        row[name] = value
    for name in UNSAID:
        value = error.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} is {str(value)[:40]!r}, not a word")
        row[name] = value or UNSAID[name]
        if row[name] != row[name].encode("utf-8", "replace").decode():
            raise ValueError(f"{name} has half a character (a lone surrogate), which is not text")
    weight = error.get("score")
    if weight is not None and type(weight) not in (int, float):
        raise ValueError(f"score is {str(weight)[:40]!r}, not a number")
    try:
        row["weight"] = None if weight is None else float(weight)
    except OverflowError:
        raise ValueError("score is too large for a number") from None
    return row


@dataclass(frozen=True)
class EvalFolder:
    """One language pair of a folder: its texts, by line; ``size`` is None without any."""

    path: Path
    lp: str
    size: int | None
    columns: dict[str, list[str | None]] = field(default_factory=dict)
    """What is known of the segments: doc, domain, source, reference."""
    outputs: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def segments(self, size: int) -> pl.DataFrame:
        """One row per line: ``seg``, and what the folder has of doc, domain, source, reference."""
        known = [pl.Series(n, values, dtype=pl.String) for n, values in self.columns.items()]
        return pl.DataFrame([line_numbers(size), *known])

    def blocks(self, raw: Raw, systems: pl.Series) -> list[str]:
        """The segment of every line of a score file; refuses blocks of the wrong length."""
        frame = pl.DataFrame([systems.alias("system")])
        place = frame.select(pl.int_range(1, pl.len() + 1).over("system")).to_series()
        blocks = frame.with_row_index("row").group_by("system", maintain_order=True)
        sizes = blocks.agg(pl.len().alias("count"), pl.col("row").first())
        size = self.size if self.size is not None else sizes["count"][0]
        findings = Findings(raw.source)
        for system, count, row in sizes.rows():
            line = raw.lines([row])[0]
            if self.outputs and system not in self.outputs:
                message = f"system '{system}' has no file in system-outputs/{self.lp}"
                message += did_you_mean(str(system), list(self.outputs))
                findings.add(message, line, "system", system)
            if count != size:
                message = f"system '{system}' has {count} lines where {size} are expected"
                findings.add(f"{message}, one per segment", line, "system", system)
        findings.stop(rows=frame.height)
        return place.cast(pl.String).to_list()


def language_pairs(path: Path) -> list[str]:
    """The language pairs that some part of the folder names."""
    pairs = set(score_files(path / "sources", "", ".txt"))
    pairs |= set(score_files(path / "documents", "", ".docs"))
    for part in ("system-outputs", "metric-scores"):
        pairs |= {item.name for item in _items(path / part) if item.is_dir()}
    for part in ("references", "human-scores"):
        named = [item.name.partition(".") for item in _items(path / part)]
        pairs |= {lp for lp, _, rest in named if rest}
    return sorted(pairs)


def score_files(place: Path, beginning: str, ending: str) -> dict[str, Path]:
    """Files of a folder by the part of their names between ``beginning`` and ``ending``."""
    names = re.compile(f"{re.escape(beginning)}(.+){re.escape(ending)}", re.DOTALL)
    matches = [(names.fullmatch(item.name), item) for item in _items(place)]
    return {match[1]: item for match, item in matches if match and item.is_file()}


def _items(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    try:
        items = sorted(item for item in place.iterdir() if not item.name.startswith("."))
    except OSError as error:
        raise refuse(place, f"cannot be read: {error.strerror}") from None
    for item in items:
        if item.name != item.name.encode("utf-8", "replace").decode():  # no table can hold it
            raise refuse(place, f"the file name {item.name!r} is not UTF-8; rename it")
    return items


def open_folder(path: Path, lp: str | None) -> EvalFolder:
    """The texts of one language pair, checked to have the same number of lines."""
    if not path.is_dir():
        fault = "is a file, not a folder" if path.exists() else "there is no such folder"
        raise refuse(path, f"{fault}; name the folder of a test set, with sources/ in it")
    lp = _choose(path, lp)
    source, documents = path / "sources" / f"{lp}.txt", path / "documents" / f"{lp}.docs"
    references = score_files(path / "references", f"{lp}.", ".txt")
    outputs = score_files(path / "system-outputs" / lp, "", ".txt")
    files = [file for file in (source, documents) if file.is_file()]
    lines = {file: text_lines(file) for file in (*files, *references.values(), *outputs.values())}
    size = same_length(path, lines)
    columns = documents_of(lines[documents], documents) if documents in lines else {}
    named = {name: lines[file] for name, file in references.items()}
    texts, notes = text_columns(lines.get(source), named)
    systems = {name: lines[file] for name, file in outputs.items()}
    return EvalFolder(path, lp, size, columns | texts, systems, notes)


def text_columns(
    source: list[str] | None, references: Mapping[str, list[str]]
) -> tuple[dict[str, list[str | None]], tuple[Note, ...]]:
    """The source and the first reference as columns; a note names the other references."""
    texts = {} if source is None else {"source": source}
    if not references:
        return {name: [line or None for line in lines] for name, lines in texts.items()}, ()
    first, *others = references
    texts["reference"] = references[first]
    text = f"reference is {first}; left out: {', '.join(others)}"
    notes = (Note("other-references", text),) if others else ()
    return {name: [line or None for line in lines] for name, lines in texts.items()}, notes


def _choose(path: Path, lp: str | None) -> str:
    pairs = language_pairs(path)
    if not pairs:
        parts = "sources/LP.txt, documents/LP.docs, system-outputs/LP or human-scores"
        raise refuse(path, f"is not an mt-metrics-eval folder; expected {parts} in it")
    if lp is None and len(pairs) > 1:
        fault = f"is needed, as the folder has {len(pairs)}: {', '.join(pairs)}"
        raise OptionError("lp", lp, fault, "name one of them")
    need_known("lp", lp or pairs[0], pairs, f"is not in {path}", most=len(pairs))
    return lp or pairs[0]


def same_length(path: Path, files: dict[Path, list[str]]) -> int | None:
    """The number of segments, which the first file has and all others must have."""
    sizes = {file: len(lines) for file, lines in files.items()}
    if not sizes:
        return None
    first, size = next(iter(sizes.items()))
    model, findings = first.relative_to(path), Findings(path)
    for file, lines in sizes.items():
        if lines != size:
            message = f"has {lines} lines where {size} are expected, as in {model}"
            findings.add(f"{file.relative_to(path)} {message}", min(lines, size) + 1)
    if not size:
        findings.add(f"{model} is empty; expected a segment per line", 1)
    findings.stop()
    return size


def documents_of(lines: list[str], path: Path) -> dict[str, list[str | None]]:
    """Document and domain per line."""
    pairs = [line.split(maxsplit=1) for line in lines]
    findings = Findings(path)
    for number, (line, pair) in enumerate(zip(lines, pairs, strict=True), start=1):
        if len(pair) != 2:
            message = "expected a domain and a document with a space between"
            findings.add(message, number, None, line[:80])
    findings.stop(rows=len(lines))
    columns: dict[str, list[str | None]] = {}
    docs = [pair[1].rstrip() for pair in pairs]
    if set(docs) != {NOTHING}:
        columns["doc"] = list(docs)
    domains = [None if pair[0] == NOTHING else pair[0] for pair in pairs]
    if any(domains):
        columns["domain"] = list(domains)
    return columns


def human_files(folder: EvalFolder) -> list[Path]:
    """All files of human scores and ratings."""
    place, beginning = folder.path / "human-scores", f"{folder.lp}."
    return [p for end in (SCORE, RATING) for p in score_files(place, beginning, end).values()]


def _answered(folder: EvalFolder, path: Path) -> pl.DataFrame:
    """System and segment of what has a score or a rating in a file."""
    if path.name.endswith(SCORE):
        return scores_of(folder, path).frame.drop_nulls("score").select("system", "seg")
    raw, seg = ratings_of(folder, path)
    frame = raw.frame.select("system", pl.Series("seg", seg, dtype=pl.String), "rating")
    return frame.filter(pl.col("rating") != "None").select("system", "seg")


def ratings_of(folder: EvalFolder, path: Path) -> tuple[Raw, list[str]]:
    """A file of ratings, as text, and the segment of every line."""
    lines = numbered(path, expected="lines with a system, a rating as JSON and a rater")
    raw = split_tabs(lines, ("system", "rating", "rater"), path, at_least=2)
    return raw, folder.blocks(raw, raw.frame["system"])


def scores_of(folder: EvalFolder, path: Path) -> Raw:
    """A score file as system, seg and score, its blocks checked against the texts."""
    lines = numbered(path, expected="lines with a system and a score", loose=True)
    raw = split_tabs(lines, ("system", "score"), path)
    seg = pl.Series("seg", folder.blocks(raw, raw.frame["system"]), dtype=pl.String)
    findings = Findings(raw)
    score = to_number(raw.frame["score"], findings, "score")
    findings.stop()
    frame = pl.DataFrame([raw.frame["system"], seg, score.alias("score")])
    return replace(raw, frame=frame)


LP_AND_HUMAN = ("lp", "human_scores")
REFERENCE = "ref"
HUMAN = "human"
MAX_NAME_BYTES = 200
"""Bytes of a name that still fit into the name of a file with its endings."""

Files = dict[str, str]
"""Contents by place in the folder."""


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write the test set as a new folder, or ratings into a new one or one written before."""
    need_columns(frame.columns, ("system", "seg"), str(path))
    lp = _language_pair(frame, options.lp)
    frame = frame.with_columns(to_text(frame[name]) for name in ("system", "seg"))
    if kind == "scores":
        return _new_folder(path, _test_set(frame, lp, path))
    human = options.human_scores or HUMAN
    _need_names({"human_scores": [human]}, path)
    if kind == "errors":
        return _add_marks(frame, path, lp, human)
    if path.is_dir() and any(path.iterdir()):
        return _add_ratings(frame, path, lp, human)
    return _new_folder(path, _written_ratings(frame, lp, human, path))


def _language_pair(frame: pl.DataFrame, lp: str | None) -> str:
    here = frame["lp"].drop_nulls().unique(maintain_order=True).to_list() if "lp" in frame else []
    pairs = [str(pair) for pair in here]
    if len(pairs) > 1:
        fault = f"has several values in the table: {', '.join(pairs[:20])}"
        raise OptionError("lp", lp, fault, "write one language pair at a time")
    if pairs and lp not in (None, pairs[0]):
        raise OptionError("lp", lp, f"is not what the table has: {pairs[0]}", "leave it out")
    name = lp or (pairs[0] if pairs else None)
    if name is None:
        raise OptionError("lp", lp, "is needed to name the files", "give it, as in en-de")
    if "." in name or _bad_name(name):
        raise OptionError("lp", name, "cannot be part of a file's name", "write it as in en-de")
    return name


def _bad_name(name: str) -> bool:
    """Whether no file can have the name, or no line of scores hold it."""
    unfit = set(name) & set("/\\\0") or name.startswith(".") or name != "".join(name.split())
    return bool(unfit) or not name or len(name.encode()) > MAX_NAME_BYTES


def _need_names(names: dict[str, list[str]], path: Path) -> None:
    findings = Findings(path)
    for what, listed in names.items():
        for name in listed:
            if _bad_name(name):
                message = f"'{name}' cannot be the name of a file"
                remedy = "leave out spaces, slashes and a leading point"
                findings.add(f"{message}; {remedy}", None, what, name)
    findings.stop()


def _test_set(frame: pl.DataFrame, lp: str, path: Path) -> Files:
    """Texts, documents and metrics."""
    metrics = [n for n in frame.columns if n not in RESERVED and frame[n].dtype.is_numeric()]
    systems = frame["system"].unique(maintain_order=True).to_list()
    _need_names({"system": systems, "metric": metrics}, path)
    if not metrics and "target" not in frame.columns:
        raise refuse(path, "the table has neither target texts nor metrics to write; add one")
    size = _need_lines(frame, path)
    lines = pl.DataFrame([line_numbers(size)])
    kept = [n for n in ("doc", "domain", "source", "reference") if n in frame.columns]
    _need_texts(frame, path)
    segments = frame.group_by("seg").agg(pl.col(kept).drop_nulls().first())
    segments = lines.join(segments, on="seg", how="left", maintain_order="left")
    files = _documents(segments, lp, path)
    if "source" in kept:
        files[f"sources/{lp}.txt"] = _lines(segments["source"])
    if "reference" in kept:
        files[f"references/{lp}.{REFERENCE}.txt"] = _lines(segments["reference"])
    grid = outputs_of(systems, lines)
    grid = grid.join(frame, on=["system", "seg"], how="left", maintain_order="left")
    if "target" in frame.columns:
        for system, part in zip(systems, grid["target"].reshape((-1, size)), strict=True):
            files[f"system-outputs/{lp}/{system}.txt"] = _lines(part)
    against = REFERENCE if "reference" in kept else "src"
    for name in metrics:
        files[f"metric-scores/{lp}/{name}-{against}{SCORE}"] = _score_lines(grid, name)
    return files


def _need_lines(frame: pl.DataFrame, path: Path) -> int:
    """The number of segments, if they are numbered by line and every output stands once."""
    seg, size = frame["seg"], frame["seg"].n_unique()
    known = seg.is_in(line_numbers(size).to_list()).fill_null(False)
    repeated = frame.select("system", "seg").is_duplicated()
    findings = Findings(path)
    message = (
        "segment '{}' is not the number of its line, and this format has no other names; number"
        f" the segments 1 to {size} across the whole test set"
    )
    findings.rows(~known, "seg", seg, message)
    message = "this output appears twice; write one of them, or one rater at a time"
    findings.rows(known & repeated, "seg", seg, message)
    findings.stop(rows=frame.height)
    return size


def _need_texts(frame: pl.DataFrame, path: Path) -> None:
    """Refuse texts that are not one line of a text file."""
    findings = Findings(path)
    for name in ("source", "target", "reference"):
        if name in frame.columns:
            message = "a line break cannot be written in this format; replace it by a space"
            refuse_pattern(findings, frame[name], BREAKS, message)
            message = "the text begins with a byte-order mark, which readers drop; remove it"
            refuse_pattern(findings, frame[name], "^\ufeff", message)
    findings.stop(rows=frame.height)


def _documents(segments: pl.DataFrame, lp: str, path: Path) -> Files:
    """The file of domains and documents; none where the table has neither."""
    if not {"doc", "domain"} & set(segments.columns):
        return {}
    parts = []
    findings = Findings(path)
    for name in ("domain", "doc"):
        if name in segments.columns:
            message = f"a {name} is one word other than '{NOTHING}' in this format; rename it"
            refuse_pattern(findings, segments[name], rf"\s|^{NOTHING}?$|^\ufeff", message)
            parts.append(segments[name].fill_null(NOTHING).alias(name))
        else:
            parts.append(pl.Series(name, [NOTHING] * segments.height))
    docs = parts[1]
    begins = docs.ne_missing(docs.shift(1))
    places = begins.arg_true()
    for place in places.filter(docs.filter(begins).is_duplicated()).to_list():
        message = f"document '{docs[place]}' is split up; give its segments consecutive numbers"
        findings.add(message, place + 1, "doc", docs[place])
    findings.stop()
    joined = pl.DataFrame(parts).select(pl.concat_str("domain", "doc", separator="\t"))
    return {f"documents/{lp}.docs": _lines(joined.to_series())}


def _lines(values: pl.Series) -> str:
    return "".join(f"{text or ''}\n" for text in values.to_list())


def _score_lines(grid: pl.DataFrame, name: str) -> str:
    score = pl.col(name).cast(pl.Float64).fill_nan(None).cast(pl.String).fill_null("None")
    return _lines(grid.select(pl.concat_str("system", score, separator="\t")).to_series())


def _written_ratings(
    frame: pl.DataFrame, lp: str, human: str, path: Path, folder: EvalFolder | None = None
) -> Files:
    """A score for every line of every rated system, and the documents where all are known."""
    need_columns(frame.columns, ("score",), str(path))
    systems = frame["system"].unique(maintain_order=True).to_list()
    _need_names({"system": systems}, path)
    size = _need_lines(frame, path) if folder is None else folder.size or 0
    lines = pl.DataFrame([line_numbers(size)])
    rated = frame.select("system", "seg", "score")
    grid = outputs_of(systems, lines)
    grid = grid.join(rated, on=["system", "seg"], how="left", maintain_order="left")
    files: Files = {}
    if folder is None and "doc" in frame.columns:
        known = frame.group_by("seg").agg(pl.col("doc").first())
        files = _documents(lines.join(known, on="seg", how="left", maintain_order="left"), lp, path)
    return files | {f"human-scores/{lp}.{human}{SCORE}": _score_lines(grid, "score")}


def _add_ratings(frame: pl.DataFrame, path: Path, lp: str, human: str) -> list[Path]:
    """Ratings for a folder that has the texts already."""
    folder = open_folder(path, lp)
    target = path / "human-scores" / f"{lp}.{human}{SCORE}"
    if target.exists():
        raise refuse(target, "already exists; remove it or give the scores another name")
    if folder.size is None:
        raise refuse(path, f"has no texts or documents of {lp}; write the scores there first")
    _need_fit(frame, folder, path)
    content = _written_ratings(frame, lp, human, path, folder)[f"human-scores/{lp}.{human}{SCORE}"]
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise refuse(target.parent, f"cannot be made: {error.strerror}") from None
    return write_text(target, content)


def _add_marks(frame: pl.DataFrame, path: Path, lp: str, human: str) -> list[Path]:
    """Marked errors for a folder that has the texts already.

    A file holds one rater per output: the second raters of outputs go to ``NAME-2``, and so on.
    """
    folder = open_folder(path, lp)
    if folder.size is None:
        raise refuse(path, f"has no texts or documents of {lp}; write the scores there first")
    key = ["system", "seg", "rater"]
    frame = frame.with_columns(rater=pl.lit(None)) if "rater" not in frame.columns else frame
    _need_fit(frame.unique(["system", "seg"], maintain_order=True), folder, path)
    found: dict[tuple[str, str], list[str]] = {}
    for (system, seg, rater), part in frame.group_by(key, maintain_order=True):
        errors = [_written_error(row) for row in part.to_dicts() if row["category"] != NO_ERROR]
        line = json.dumps({"errors": errors}, ensure_ascii=False)
        found.setdefault((str(system), str(seg)), []).append(
            "\t".join([line, *([] if rater is None else [str(rater)])])
        )
    written = []
    places = [str(number) for number in range(1, folder.size + 1)]
    systems = frame["system"].unique(maintain_order=True).to_list()
    for turn in range(max(map(len, found.values()))):
        name = human if not turn else f"{human}-{turn + 1}"
        lines = [
            f"{system}\t{said[turn] if turn < len(said) else 'None'}\n"
            for system in systems
            for place in places
            for said in [found.get((system, place), [])]
        ]
        target = path / "human-scores" / f"{lp}.{name}{RATING}"
        target.parent.mkdir(exist_ok=True)
        written += write_text(target, "".join(lines))
    return written


def _written_error(row: dict[str, Any]) -> dict[str, Any]:
    named = {name: row.get(name) for name in ("start", "end", "category", "severity")}
    return named | {"is_source_error": row.get("side") == "source"}


def _need_fit(frame: pl.DataFrame, folder: EvalFolder, path: Path) -> None:
    """Refuse ratings of what the folder does not have."""
    size = folder.size or 0
    segments, seg, system = folder.segments(size), frame["seg"], frame["system"]
    findings = Findings(path)
    message = f"segment '{{}}' is not a line of the folder, which has 1 to {size}"
    findings.rows(~seg.is_in(segments["seg"].to_list()), "seg", seg, message)
    if folder.outputs:
        message = f"the folder has no outputs of this system; it has {', '.join(folder.outputs)}"
        findings.rows(~system.is_in(list(folder.outputs)), "system", system, message)
    if "doc" in frame.columns and "doc" in segments.columns:
        there = frame.select("seg", pl.col("doc").alias("given")).join(
            segments.select("seg", "doc"), on="seg", how="left", maintain_order="left"
        )
        for row in (there["given"] != there["doc"]).fill_null(False).arg_true().to_list():
            message = f"line {there['seg'][row]} of the folder is in document '{there['doc'][row]}'"
            findings.add(message, row + 1, "doc", there["given"][row])
    repeated = frame.select("system", "seg").is_duplicated()
    message = "this output has several ratings; write one rater at a time, or their means"
    findings.rows(repeated, "seg", seg, message)
    findings.stop(rows=frame.height)


def _new_folder(path: Path, files: Files) -> list[Path]:
    """Write everything to a temporary folder, then move it into place."""
    path = path if path.name else path.absolute()  # the current folder has a name and a parent, too
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise refuse(path, "already exists; name a new or empty folder")
    if not path.parent.is_dir():
        raise refuse(path, f"the folder '{path.parent}' does not exist; make it first")
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        temporary.mkdir()
        for name, content in files.items():
            target = temporary / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode())
        if path.is_dir():
            path.rmdir()
        temporary.replace(path)
    except OSError as error:
        raise refuse(path, f"cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [path / name for name in files]


PROVIDES = (
    Format("mt-metrics-eval", "folder of the WMT metrics task: texts, documents and scores",
           read, {"scores": ("lp",), "ratings": LP_AND_HUMAN, "errors": LP_AND_HUMAN},
           write, {"scores": ("lp",), "ratings": LP_AND_HUMAN, "errors": LP_AND_HUMAN}),
)  # fmt: skip
