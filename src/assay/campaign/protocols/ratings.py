"""Rating protocols: scales, ESA (marks and a score), MQM (marks whose weights make the score)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from assay.campaign.protocols.base import OutputProtocol
from assay.campaign.protocols.reading import Reader
from assay.campaign.protocols.spans import RatedText, read_spans
from assay.campaign.records import Span
from assay.formats.mqm import GOOGLE_WEIGHTS, Weights
from assay.project.settings import Scale

DA = Scale("score", 0, 100, 1, ("No meaning preserved", "Perfect meaning and grammar"))
SQM = Scale("score", 0, 6, 1, (
    "Nonsense", "Some meaning preserved", "Most meaning preserved and few grammar mistakes",
    "Perfect meaning and grammar",
))  # fmt: skip
XSTS = Scale("score", 1, 5, 1, (
    "Not equivalent", "Some of the same details", "Mostly equivalent",
    "Paraphrases of one another", "Exactly and completely equivalent",
))  # fmt: skip
ESA_SEVERITIES = ("minor", "major")
ASK_BELOW = 85
"""A lower ESA score without a mark is questioned once."""


@dataclass(frozen=True)
class ScaleProtocol(OutputProtocol):
    """A number on one scale or on several."""

    name: ClassVar[str] = "scale"
    kind: ClassVar = "ratings"
    keys: ClassVar = ("scores",)

    scales: tuple[Scale, ...] = (DA,)

    def wire(self) -> dict[str, Any]:
        """The scales."""
        return self._wire(scales=wire_scales(self.scales))

    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """A number for every scale."""
        return {"scores": read_scores(reader, given, path, self.scales)}


@dataclass(frozen=True)
class ESA(OutputProtocol):
    """Spans with a severity, then a number."""

    name: ClassVar[str] = "esa"
    kind: ClassVar = "ratings"
    keys: ClassVar = ("scores", "spans", "no_error", "asked")

    scales: tuple[Scale, ...] = (DA,)
    severities: tuple[str, ...] = ESA_SEVERITIES

    def wire(self) -> dict[str, Any]:
        """The scale, the severities, and the score below which a mark is expected."""
        return self._wire(
            scales=wire_scales(self.scales), severities=self.severities, ask_below=ASK_BELOW
        )

    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """Marks, a score, and whether a low score without marks was questioned."""
        spans = read_spans(
            reader, given.get("spans", []), f"{path}.spans", item, self.severities, ()
        )
        return {
            "scores": read_scores(reader, given, path, self.scales),
            "spans": spans,
            "no_error": read_no_error(reader, given, path),
            "asked": bool(reader.flag(given.get("asked", False), f"{path}.asked")),
        }


@dataclass(frozen=True)
class MQM(OutputProtocol):
    """Spans with severity and category; their weights make the rating."""

    name: ClassVar[str] = "mqm"
    kind: ClassVar = "ratings"
    keys: ClassVar = ("spans", "no_error")

    severities: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    weights: Weights = GOOGLE_WEIGHTS

    def wire(self) -> dict[str, Any]:
        """The severities and categories, without the weights."""
        return self._wire(severities=self.severities, categories=self.categories)

    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """Marks, or no errors, and their total weight."""
        spans = read_spans(
            reader, given.get("spans", []), f"{path}.spans", item,
            self.severities, self.categories,
        )  # fmt: skip
        no_error = read_no_error(reader, given, path)
        if "no_error" not in given:
            no_error = given.get("spans") == []
        if not given.get("spans") and not no_error:
            reader.fault(f"{path}.spans", "is missing; mark an error, or send [] for no errors")
        return {"scores": {"score": self.weigh(spans)}, "spans": spans, "no_error": no_error}

    def weigh(self, spans: tuple[Span, ...]) -> float:
        """The sum of the weights, at most the cap."""
        total = sum(self.weights.of(span.category or "", span.severity) or 0.0 for span in spans)
        return round(min(total, total if self.weights.cap is None else self.weights.cap), 6)


def wire_scales(scales: tuple[Scale, ...]) -> list[dict[str, Any]]:
    """Scales in the form that the page gets."""
    return [
        {"name": scale.name, "low": scale.low, "high": scale.high, "step": scale.step,
         "anchors": list(scale.anchors)}
        for scale in scales
    ]  # fmt: skip


def read_scores(
    reader: Reader, given: dict[str, Any], path: str, scales: tuple[Scale, ...]
) -> dict[str, float]:
    """A number for every scale."""
    path = f"{path}.scores"
    scores = reader.mapping(given.get("scores", {}), path, [scale.name for scale in scales])
    found = {}
    for scale in scales if scores is not None else ():
        if scale.name not in (scores or {}):
            reader.fault(f"{path}.{scale.name}", "is missing")
            continue
        value = (scores or {})[scale.name]
        number = reader.number(value, f"{path}.{scale.name}", scale.low, scale.high, scale.step)
        if number is not None:
            found[scale.name] = number
    return found


def read_no_error(reader: Reader, given: dict[str, Any], path: str) -> bool:
    """Whether the rater said that there is no error."""
    no_error = reader.flag(given.get("no_error", False), f"{path}.no_error")
    if no_error and given.get("spans"):
        reader.fault(f"{path}.no_error", "is true, but there are marks; send one of them")
    return bool(no_error)
