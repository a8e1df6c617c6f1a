"""Writing an mt-metrics-eval folder, whole or not at all.

The format has no names of segments, so ``seg`` must number the lines: 1, 2, ... through the whole
test set. It has no place for raters of scores, seconds, words, costs and text columns of the
user's own, which are left out. Numeric columns are metrics; they are written as computed against
the one reference (``METRIC-ref``) or, without one, against the source (``METRIC-src``).

An output that is not in the table is an empty line and None in all scores. So is one that has
neither a text nor a metric: it comes back only if it has a rating.
"""

from __future__ import annotations

import json
import secrets
import shutil
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError
from assay.formats.catalogue import Format, Options
from assay.formats.files import BREAKS, need_columns, refuse_pattern, write_text
from assay.formats.mqm import NO_ERROR
from assay.formats.mt_metrics_eval import (
    NOTHING,
    RATING,
    SCORE,
    EvalFolder,
    line_numbers,
    open_folder,
    outputs_of,
    read,
)  # fmt: skip
from assay.tables.load import Findings, refuse, to_text
from assay.tables.schemas import RESERVED

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
    return _new_folder(path, _ratings(frame, lp, human, path))


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


def _ratings(
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
    content = _ratings(frame, lp, human, path, folder)[f"human-scores/{lp}.{human}{SCORE}"]
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
        errors = [_error(row) for row in part.to_dicts() if row["category"] != NO_ERROR]
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


def _error(row: dict[str, Any]) -> dict[str, Any]:
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
