"""Tables as other people make them, and what is to be guessed of each: right, or asked.

The first fourteen were written before the guesser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Case:
    """A table, and what a person would say of it; ``asks`` is what must be asked instead."""

    name: str
    frame: pl.DataFrame
    kind: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    melted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    not_metrics: Sequence[str] = ()
    asks: str | None = None


TEXTS = (
    "The quick brown fox jumps over the lazy dog near the river.",
    "She opened the letter and read it twice before she answered.",
    "Prices rose by four per cent in the second quarter of the year.",
    "Please restart the device after the update has been installed.",
    "Nobody in the village could remember such a long and cold winter.",
    "The committee will meet again on Thursday to discuss the budget.",
)


def rows(**factors: Sequence[object]) -> pl.DataFrame:
    """Every combination of the values, one row each."""
    return pl.DataFrame(
        [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]
    )


def with_numbers(
    frame: pl.DataFrame, seed: int = 1, **columns: Callable[[np.random.Generator, int], np.ndarray]
) -> pl.DataFrame:
    """The table with columns of numbers, each made by a function of a generator and a size."""
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.Series(name, make(rng, frame.height)) for name, make in columns.items()
    )


def renamed(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The table with these column names, in order."""
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def points(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(20, 101, size)


def shares(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.uniform(0.2, 0.9, size).round(4)


def lengths(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(15, 200, size)


def texts(label: str, count: int) -> list[str]:
    return [f"{TEXTS[k % 6]} {label} {k}" for k in range(count)]


SYSTEMS = ["DeepL", "GPT-4", "NLLB"]
SEGMENTS = list(range(1, 9))

student = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS[:2], c=["Anna", "Ben"]), d=points),
    "SentenceID", "Model", "Annotator", "ESA score",
)  # fmt: skip
german = renamed(
    with_numbers(rows(a=["D1", "D2"], b=[1, 2, 3, 4], c=SYSTEMS, d=["M. Huber"]), e=points),
    "Dokument", "Satz-Nr.", "Engine", "Bewerter", "Punktzahl",
)  # fmt: skip
per_rater = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS), c=points, d=points, e=points),
    "Segment no.", "MT system", "Rater 1", "Rater 2", "Rater 3",
)  # fmt: skip
per_system = renamed(
    with_numbers(rows(a=SEGMENTS, b=["r1", "r2"]), c=points, d=points),
    "segment_id", "evaluator", "DeepL", "Google Translate",
)  # fmt: skip
organiser = renamed(
    with_numbers(rows(a=["d1", "d2"], b=[1, 2, 3, 4], c=SYSTEMS), d=lengths, e=lengths, f=lengths,
                 g=shares, h=shares),
    "document_id", "seg_id", "Model", "doc_seg", "src_chars", "hyp_chars", "COMET", "chrF",
)  # fmt: skip
manager = pl.DataFrame({
    "Project": [f"p{k // 4}" for k in range(12)],
    "Segment ID": [k % 4 + 1 for k in range(12)],
    "Engine": [SYSTEMS[k % 3] for k in range(12)],
    "Translator": [("Marie", "Jean")[k % 2] for k in range(12)],
    "Source": texts("s", 12),
    "MT output": texts("m", 12),
    "Final translation": texts("f", 12),
    "Time (s)": [20 + 3 * k for k in range(12)],
})  # fmt: skip
arena = pl.DataFrame({
    "question_id": [f"q{k}" for k in range(12)],
    "model_a": [SYSTEMS[k % 3] for k in range(12)],
    "model_b": [SYSTEMS[(k + 1) % 3] for k in range(12)],
    "winner": [("model_a", "model_b", "tie")[k % 3] for k in range(12)],
    "judge": [("x", "y")[k % 2] for k in range(12)],
})  # fmt: skip
spans = pl.DataFrame({
    "system_name": [SYSTEMS[k % 3] for k in range(12)],
    "doc_id": [f"d{k // 6}" for k in range(12)],
    "seg_no": [k % 6 for k in range(12)],
    "annotator_id": ["rater1"] * 12,
    "Error type": ["Accuracy/Omission", "Fluency/Grammar"] * 6,
    "Severity": ["Major", "Minor"] * 6,
})  # fmt: skip
dimensions = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS, c=["u1", "u2"]), d=points, e=points),
    "sentence_id", "engine", "user", "Adequacy", "Fluency",
)  # fmt: skip
unknown_names = renamed(with_numbers(rows(a=SEGMENTS), b=points, c=points), "Item", "Anna", "Ben")
french = renamed(
    with_numbers(rows(a=SEGMENTS, b=["Moteur A", "Moteur B"], c=["Luc", "Zoé"]), d=points),
    "N° de phrase", "Système", "Évaluateur", "Note",
)  # fmt: skip
z_scores = with_numbers(
    renamed(rows(a=SEGMENTS, b=SYSTEMS, c=["w1", "w2"]), "segmentId", "systemId", "workerId"),
    rawScore=points,
).with_columns(zScore=(pl.col("rawScore") - 60) / 20)
only_translator = renamed(
    with_numbers(rows(a=SEGMENTS, b=["P. Weiss", "K. Lang"]), c=points),
    "Segment", "Translator", "Rating",
)  # fmt: skip
outputs = pl.DataFrame({
    "ID": SEGMENTS, "Source text": texts("s", 8), "Reference": texts("r", 8),
    "DeepL": texts("d", 8), "Google": texts("g", 8),
})  # fmt: skip

BEFORE = [
    Case(
        "student", student, "ratings",
        {"seg": "SentenceID", "system": "Model", "rater": "Annotator", "score": "ESA score"},
    ),
    Case(
        "german", german, "ratings",
        {"doc": "Dokument", "seg": "Satz-Nr.", "system": "Engine", "rater": "Bewerter",
         "score": "Punktzahl"},
    ),
    Case(
        "a column per rater", per_rater, "ratings",
        {"seg": "Segment no.", "system": "MT system"},
        melted={"rater": ["Rater 1", "Rater 2", "Rater 3"]},
    ),
    Case(
        "a column per system", per_system, "ratings",
        {"seg": "segment_id", "rater": "evaluator"},
        melted={"system": ["DeepL", "Google Translate"]},
    ),
    Case(
        "organiser", organiser, "scores",
        {"doc": "document_id", "seg": "seg_id", "system": "Model"},
        metrics=["COMET", "chrF"], not_metrics=["doc_seg", "src_chars", "hyp_chars"],
    ),
    Case(
        "localisation manager", manager, "edits",
        {"doc": "Project", "seg": "Segment ID", "system": "Engine", "editor": "Translator",
         "source": "Source", "mt": "MT output", "edited": "Final translation",
         "seconds": "Time (s)"},
    ),
    Case(
        "arena", arena, "judgments",
        {"seg": "question_id", "left": "model_a", "right": "model_b", "winner": "winner",
         "rater": "judge"},
    ),
    Case(
        "marked errors", spans, "errors",
        {"system": "system_name", "doc": "doc_id", "seg": "seg_no", "rater": "annotator_id",
         "category": "Error type", "severity": "Severity"},
    ),
    Case("two dimensions", dimensions, asks="Adequacy"),
    Case("raters or systems", unknown_names, asks="Anna"),
    Case(
        "french", french, "ratings",
        {"seg": "N° de phrase", "system": "Système", "rater": "Évaluateur", "score": "Note"},
    ),
    Case(
        "raw and standardised", z_scores, "ratings",
        {"seg": "segmentId", "system": "systemId", "rater": "workerId", "score": "rawScore"},
        not_metrics=["zScore"],
    ),
    Case("a translator, person or engine", only_translator, asks="Translator"),
    Case(
        "outputs side by side", outputs, "scores",
        {"seg": "ID", "source": "Source text", "reference": "Reference"},
        melted={"system": ["DeepL", "Google"]},
    ),
]  # fmt: skip
