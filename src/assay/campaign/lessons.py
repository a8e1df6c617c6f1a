"""Tutorials, qualification tests and questions to raters."""

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
    """An example output with the range of good scores."""

    kind: Literal["tutorial", "qualify"]
    source: str
    target: str
    low: float
    high: float
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Questions before the first task or after the last."""

    kind: Literal["before", "after"]
    questions: tuple[FormQuestion, ...]


def read_lessons(path: Path, kind: Literal["tutorial", "qualify"]) -> list[Lesson]:
    """Read examples from a table: source, target, low, high and, optionally, explanation."""
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
    findings.rows(above, "low", raw.frame["low"], "'{}' is above high; swap the two")
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
    """Read questions from a table: question, answers (``yes|no``) and optional."""
    raw = load(path, text=lambda name: True)
    frame, findings = raw.frame, Findings(raw)
    if "question" not in frame.columns:
        findings.header("the column 'question' is missing; add it", "question")
        findings.stop()
    empty = frame["question"].is_null()
    findings.rows(empty, "question", frame["question"], "the question is missing; write one")
    if "optional" in frame.columns:
        odd = ~frame["optional"].is_in(["yes", "no"]).fill_null(True)
        findings.rows(odd, "optional", frame["optional"], "'{}' is not yes or no; write one")
    findings.stop()
    return Form(kind, tuple(
        FormQuestion(
            row["question"],
            tuple(one.strip() for one in (row.get("answers") or "").split("|") if one.strip()),
            row.get("optional") == "yes",
        )
        for row in frame.iter_rows(named=True)
    ))  # fmt: skip
