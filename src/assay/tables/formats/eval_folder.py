"""The parts of an mt-metrics-eval folder, for one language pair.

``sources/LP.txt``, ``documents/LP.docs`` (domain and document per line),
``references/LP.NAME.txt``, ``system-outputs/LP/SYSTEM.txt``: texts, a segment per line, the same
number of lines in each.
``human-scores/LP.NAME.seg.score`` and ``metric-scores/LP/METRIC-REF.seg.score``: system and score
per line, all segments of a system in a block. Any part may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from assay.errors import OptionError, Problem
from assay.tables.check import Findings, did_you_mean, to_number
from assay.tables.formats.faults import stop
from assay.tables.formats.lines import numbered, split_tabs, text_lines
from assay.tables.raw import Raw, refuse

SCORE = ".seg.score"
RATING = ".seg.rating"
NOTHING = "-"
"""Stands for a document or domain where there is none; the format needs both."""


@dataclass(frozen=True)
class Scores:
    """A score file: ``frame`` has system, seg and score, in the order of its lines."""

    path: Path
    frame: pl.DataFrame
    size: int
    """Segments per system."""
    lines: Callable[[Sequence[int]], list[int]]

    @property
    def systems(self) -> list[str]:
        """The systems, in the order of the file."""
        return self.frame["system"].unique(maintain_order=True).to_list()


@dataclass(frozen=True)
class EvalFolder:
    """One language pair of a folder: its texts, by line; ``size`` is None without any."""

    path: Path
    lp: str
    size: int | None
    columns: dict[str, list[str | None]] = field(default_factory=dict)
    """What is known of the segments: doc, domain, source, reference."""
    outputs: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def segments(self, size: int) -> pl.DataFrame:
        """One row per line: ``seg``, and what the folder has of doc, domain, source, reference."""
        seg = pl.Series("seg", range(1, size + 1), dtype=pl.Int64).cast(pl.String)
        known = [pl.Series(n, values, dtype=pl.String) for n, values in self.columns.items()]
        return pl.DataFrame([seg, *known])

    def blocks(self, raw: Raw, systems: pl.Series) -> list[str]:
        """The segment of every line of a score file; refuses blocks of the wrong length."""
        frame = pl.DataFrame([systems.alias("system")])
        place = frame.select(pl.int_range(1, pl.len() + 1).over("system")).to_series()
        blocks = frame.with_row_index("row").group_by("system", maintain_order=True)
        found = blocks.agg(pl.len().alias("count"), pl.col("row").first())
        size = self.size if self.size is not None else found["count"][0]
        problems = []
        for system, count, row in found.rows():
            line = raw.lines([row])[0]
            if self.outputs and system not in self.outputs:
                known = list(self.outputs)
                message = f"system '{system}' has no file in system-outputs/{self.lp}"
                message += did_you_mean(str(system), known)
                problems.append(Problem(message, line, "system", system))
            if count != size:
                message = f"system '{system}' has {count} lines where {size} are expected"
                problems.append(Problem(f"{message}, one per segment", line, "system", system))
        stop(raw.source, problems, rows=frame.height)
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
    """Files of a place by what stands between ``beginning`` and ``ending`` of their names."""
    found: dict[str, Path] = {}
    for item in _items(place):
        name = item.name
        if name.startswith(beginning) and name.endswith(ending) and item.is_file():
            middle = name[len(beginning) : len(name) - len(ending)]
            if middle:
                found[middle] = item
    return found


def _items(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    try:
        items = sorted(item for item in place.iterdir() if not item.name.startswith("."))
    except OSError as error:
        raise refuse(str(place), f"cannot be read: {error.strerror}") from None
    for item in items:
        if item.name != item.name.encode("utf-8", "replace").decode():  # no table can hold it
            raise refuse(str(place), f"the file name {item.name!r} is not UTF-8; rename it")
    return items


def open_folder(path: Path, lp: str | None) -> EvalFolder:
    """The texts of one language pair, checked to have the same number of lines."""
    if not path.is_dir():
        fault = "is a file where a folder belongs" if path.exists() else "there is no such folder"
        raise refuse(str(path), f"{fault}; name the folder of a test set, with sources/ in it")
    lp = _choose(path, lp)
    files: dict[Path, list[str]] = {}

    def texts(found: dict[str, Path]) -> dict[str, list[str]]:
        files.update({file: text_lines(file) for file in found.values()})
        return {name: files[file] for name, file in found.items()}

    source = texts(_only(score_files(path / "sources", "", ".txt"), lp))
    documents = texts(_only(score_files(path / "documents", "", ".docs"), lp))
    references = texts(score_files(path / "references", f"{lp}.", ".txt"))
    outputs = texts(score_files(path / "system-outputs" / lp, "", ".txt"))
    size = _same_length(path, files)
    columns: dict[str, list[str | None]] = {}
    if documents:
        columns |= _documents(documents[lp], path / "documents" / f"{lp}.docs")
    if source:
        columns["source"] = [line or None for line in source[lp]]
    notes: tuple[str, ...] = ()
    if references:
        first, *others = references
        columns["reference"] = [line or None for line in references[first]]
        if others:
            notes = (f"reference is {first}; left out: {', '.join(others)}",)
    return EvalFolder(path, lp, size, columns, outputs, notes)


def _only(found: dict[str, Path], name: str) -> dict[str, Path]:
    return {name: found[name]} if name in found else {}


def _choose(path: Path, lp: str | None) -> str:
    pairs = language_pairs(path)
    if not pairs:
        parts = "sources/LP.txt, documents/LP.docs, system-outputs/LP or human-scores"
        raise refuse(str(path), f"is no mt-metrics-eval folder; expected {parts} in it")
    if lp is None and len(pairs) > 1:
        fault = f"leaves open which to read of {len(pairs)}: {', '.join(pairs)}"
        raise OptionError("lp", lp, fault, "name one of them")
    if lp is not None and lp not in pairs:
        fault = f"is not in {path}{did_you_mean(lp, pairs)}"
        raise OptionError("lp", lp, fault, f"choose from {', '.join(pairs)}")
    return lp or pairs[0]


def _same_length(path: Path, files: dict[Path, list[str]]) -> int | None:
    """The number of segments, which the first file has and all others must have."""
    sizes = {file: len(lines) for file, lines in files.items()}
    if not sizes:
        return None
    first, size = next(iter(sizes.items()))
    told = first.relative_to(path)
    problems = [
        Problem(
            f"{file.relative_to(path)} has {found} lines where {size} are expected, as in {told}",
            min(found, size) + 1,
        )
        for file, found in sizes.items()
        if found != size
    ]
    if not size:
        problems.append(Problem(f"{told} is empty; expected a segment per line", 1))
    stop(str(path), problems)
    return size


def _documents(lines: list[str], path: Path) -> dict[str, list[str | None]]:
    """Document and domain per line."""
    pairs = [line.split(maxsplit=1) for line in lines]
    problems = [
        Problem("expected a domain and a document with a space between", number, None, line[:80])
        for number, (line, pair) in enumerate(zip(lines, pairs, strict=True), start=1)
        if len(pair) != 2
    ]
    stop(str(path), problems, rows=len(lines))
    found: dict[str, list[str | None]] = {}
    docs = [pair[1].rstrip() for pair in pairs]
    if set(docs) != {NOTHING}:
        found["doc"] = list(docs)
    domains = [None if pair[0] == NOTHING else pair[0] for pair in pairs]
    if any(domains):
        found["domain"] = list(domains)
    return found


def score_paths(folder: EvalFolder) -> dict[str, list[Path]]:
    """All files that say something of outputs, by the part of the folder they are in."""
    metrics = score_files(folder.path / "metric-scores" / folder.lp, "", SCORE)
    place, beginning = folder.path / "human-scores", f"{folder.lp}."
    human = [score_files(place, beginning, ending) for ending in (SCORE, RATING)]
    return {
        "metric": list(metrics.values()),
        "human": [path for found in human for path in found.values()],
    }


def outputs_in(folder: EvalFolder, frame: pl.DataFrame, paths: Sequence[Path]) -> pl.Series:
    """Which rows, by ``system`` and ``seg``, are about an output that exists.

    The format has a line for every segment of every system. Where a system has no output of a
    segment, its line of text is empty and all its scores are None; an empty line with a score is
    an empty translation. ``paths`` are the score files to look into.
    """
    texts = pl.DataFrame({"system": list(folder.outputs), "line": list(folder.outputs.values())},
                         schema={"system": pl.String, "line": pl.List(pl.String)})  # fmt: skip
    lines = texts.explode("line").with_columns(
        pl.int_range(1, pl.len() + 1).over("system").cast(pl.String).alias("seg")
    )
    found = [lines.filter(pl.col("line") != "").select("system", "seg")]
    found += [_said(folder, path) for path in paths]
    there = pl.concat(found).unique().with_columns(pl.lit(True).alias("_there"))
    joined = frame.select("system", "seg").join(
        there, on=["system", "seg"], how="left", maintain_order="left"
    )
    return joined["_there"].fill_null(False)


def _said(folder: EvalFolder, path: Path) -> pl.DataFrame:
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


def scores_of(folder: EvalFolder, path: Path) -> Scores:
    """A score file, its blocks checked against the texts."""
    lines = numbered(path, expected="lines with a system and a score", loose=True)
    raw = split_tabs(lines, ("system", "score"), path)
    seg = pl.Series("seg", folder.blocks(raw, raw.frame["system"]), dtype=pl.String)
    findings = Findings(raw)
    score = to_number(raw.frame["score"], findings, "score")
    findings.stop()
    frame = pl.DataFrame([raw.frame["system"], seg, score.alias("score")])
    return Scores(path, frame, frame["seg"].n_unique(), raw.lines)
