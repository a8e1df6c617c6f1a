"""What raters meet beside the outputs: a tutorial, a test to pass first, and questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from assay.campaign.records import FormQuestion
from assay.tables.load import Findings, load

TEXTS, NUMBERS = ("source", "target"), ("low", "high")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One example: an output, and between which scores a good answer lies."""

    kind: Literal["tutorial", "qualify"]
    source: str
    target: str
    low: float
    high: float
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Questions to begin or to end with."""

    kind: Literal["before", "after"]
    questions: tuple[FormQuestion, ...]


def read_lessons(path: Path, kind: Literal["tutorial", "qualify"]) -> list[Lesson]:
    """The examples of a table with the columns source, target, low and high, and explanation."""
    raw = load(path, text=lambda name: name not in NUMBERS)
    frame, findings = raw.frame, Findings(raw)
    missing = [name for name in (*TEXTS, *NUMBERS) if name not in frame.columns]
    for name in missing:
        findings.header(f"the column '{name}' is missing; add it", name)
    findings.stop()
    frame = frame.with_columns(
        *(pl.col(name).cast(pl.String) for name in TEXTS),
        *(pl.col(name).cast(pl.Float64, strict=False) for name in NUMBERS),
    )
    for name in TEXTS:
        empty = frame[name].is_null()
        findings.rows(empty, name, raw.frame[name], "the text is missing; write one")
    for name in NUMBERS:
        wrong = ~frame[name].is_finite().fill_null(False)
        findings.rows(wrong, name, raw.frame[name], "'{}' is not a number; write the score")
    above = (frame["low"] > frame["high"]).fill_null(False)
    findings.rows(above, "low", raw.frame["low"], "'{}' is above high; exchange the two")
    findings.stop()
    has_words = "explanation" in frame.columns
    return [
        Lesson(
            kind, row["source"], row["target"], row["low"], row["high"],
            row["explanation"] if has_words else None,
        )
        for row in frame.iter_rows(named=True)
    ]  # fmt: skip


def read_form(path: Path, kind: Literal["before", "after"]) -> Form:
    """The questions of a table with the columns question, answers (``yes|no``) and optional."""
    raw = load(path, text=lambda name: True)
    frame, findings = raw.frame, Findings(raw)
    if "question" not in frame.columns:
        findings.header("the column 'question' is missing; add it", "question")
        findings.stop()
    empty = frame["question"].is_null()
    findings.rows(empty, "question", frame["question"], "the question is missing; write one")
    if "optional" in frame.columns:
        odd = ~frame["optional"].is_in(["yes", "no"]).fill_null(True)
        findings.rows(odd, "optional", frame["optional"], "'{}' is neither yes nor no; write one")
    findings.stop()
    return Form(kind, tuple(
        FormQuestion(
            row["question"],
            tuple(one.strip() for one in (row.get("answers") or "").split("|") if one.strip()),
            row.get("optional") == "yes",
        )
        for row in frame.iter_rows(named=True)
    ))  # fmt: skip
