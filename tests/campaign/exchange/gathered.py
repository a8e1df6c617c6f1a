"""What a small campaign gathered: an emoji, a check, a repeat, a formula as a name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from assay.campaign.records import Answer, Collected, Span, Stored, Timing
from assay.project.settings import Screen, Settings

TEXTS = {
    ("A", "d-1", "1"): "Heißer 🍵\nim Haus",
    ("B", "d-1", "1"): "Warmer Tee im Haus",
    ("A", "d-1", "2"): "Ja.",
    ("B", "d-1", "2"): "Jawohl!",
    ("A", "e", "3"): "=Summe",
    ("B", "e", "3"): "Das Ende",
}
SCORES = pl.DataFrame([
    {"system": system, "doc": doc, "seg": seg, "source": f"source {seg}", "target": text}
    for (system, doc, seg), text in TEXTS.items()
])  # fmt: skip
SETTINGS = Settings(name="tea", protocol="esa", screen=Screen(languages=("eng", "deu")))
NOON = 1_790_000_000_000


def stored(system: str, seg: str, answer: Answer, **change: Any) -> Stored:
    """One answer; its text is the one that was judged."""
    doc = "e" if seg == "3" else "d-1"
    plain = Stored(
        number=1, answer=answer, rater="Ada", excluded=False, lp=None, doc=doc, seg=seg,
        system=system, code=f"code-{system}", label=system, column="AB".index(system),
        source=f"source {seg}", text=TEXTS[system, doc, seg], text_hash="ff", kind="rate",
        spoiled=False, passed=None, task=7, order=1, reason="order", snippet="0", stratum=None,
        probability=1.0, block=None, block_probability=None, lease=f"L{seg}", screen=0, revision=1,
        late=False, opened=0, received=NOON, timing=Timing(active_ms=60_000), instructions="aa",
        version="0.2.0",
    )  # fmt: skip
    return replace(plain, **change)


def rated(
    system: str, seg: str, score: float, *spans: Span, comment: str | None = None, **change: Any
) -> Stored:  # fmt: skip
    """A score with marks."""
    answer = Answer(f"code-{system}", 0, {"score": score}, spans, not spans, comment=comment)
    return stored(system, seg, answer, **change)


def collected(*answers: Stored, scores: pl.DataFrame = SCORES) -> Collected:
    """A campaign with these answers."""
    numbered = [replace(item, number=place) for place, item in enumerate(answers)]
    return Collected(tuple(numbered), (), (), scores)


def tea() -> Collected:
    """A campaign with all that formats have trouble with."""
    return collected(
        rated("A", "1", 80, Span("target", 7, 8, "minor"), Span("target", 9, 11, "major")),
        rated("B", "1", 60.0),
        rated("A", "2", 90, Span("target", 3, 3, "major", missing=True), comment="=1+1"),
        rated("B", "2", 70, Span("source", 0, 6, "minor")),
        rated("A", "1", 20, rater="=Ben", lease="M1"),
        rated("B", "3", 35, Span("target", 0, 3, "minor"), rater="=Ben", lease="M3"),
        rated("A", "3", 5, kind="check", spoiled=True, text="kaputt", lease="N"),
        rated("B", "1", 55, kind="repeat", lease="O"),
        rated("A", "3", 1, rater="Eva", excluded=True, lease="P"),
        stored("A", "3", Answer("code-A", 0, skipped="broken"), rater="=Ben", lease="M4"),
    )  # fmt: skip
