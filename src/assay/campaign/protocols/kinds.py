"""The protocols: scales, ESA, MQM with its taxonomies, post-editing, and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.campaign.protocols.base import TIE, ComparisonProtocol, OutputProtocol
from assay.campaign.protocols.reading import RatedText, Reader, read_spans, shown
from assay.campaign.records import Span
from assay.errors import OptionError, did_you_mean
from assay.formats.mqm import GOOGLE_WEIGHTS, NO_ERROR, Weights
from assay.project.settings import Scale, Severity


@dataclass(frozen=True)
class Taxonomy:
    """Categories (nested, such as ``Accuracy/Omission``), severities and weights."""

    categories: tuple[str, ...]
    severities: tuple[str, ...]
    weights: Weights


def _tree(**kinds: str) -> tuple[str, ...]:
    return tuple(
        f"{name.replace('_', ' ')}/{kind.strip()}" if kind.strip() else name.replace("_", " ")
        for name, below in kinds.items()
        for kind in below.split(",")
    )


GOOGLE = Taxonomy(
    (*_tree(
        Accuracy="Addition,Omission,Mistranslation,Untranslated text,Creative Reinterpretation",
        Fluency="Character encoding,Grammar,Inconsistency,Punctuation,Register,Spelling",
        Terminology="Inappropriate for context,Inconsistent",
        Style="Awkward",
        Locale_convention="Address format,Currency format,Date format,Name format,"
        "Telephone format,Time format",
        Other="", Source_error="",
    ), "Non-translation!"),
    ("Minor", "Major", "Neutral"), GOOGLE_WEIGHTS,
)  # fmt: skip
"""Freitag et al. (2021), as used at WMT."""

CORE = Taxonomy(
    _tree(
        Terminology="Inconsistent with terminology resource,Inconsistent use of terminology,"
        "Wrong term",
        Accuracy="Mistranslation,Overtranslation,Undertranslation,Addition,Omission,"
        "Do not translate,Untranslated",
        Linguistic_conventions="Grammar,Punctuation,Spelling,Unintelligible,Character encoding,"
        "Textual conventions",
        Style="Organizational style,Third-party style,Inconsistent with external reference,"
        "Language register,Awkward style,Unidiomatic style,Inconsistent style",
        Locale_conventions="Number format,Currency format,Measurement format,Time format,"
        "Date format,Address format,Telephone format,Shortcut key",
        Audience_appropriateness="Culture-specific reference,Offensive",
        Design_and_markup="Layout,Markup tag,Truncation or text expansion,Missing text,"
        "Link or cross-reference",
        Custom="",
    ),
    ("Neutral", "Minor", "Major", "Critical"),
    Weights({"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}, {}, None),
)
"""MQM Core with the weights of its scoring model, which have no cap."""

PRESETS = {"google": GOOGLE, "mqm-core": CORE}


def make_taxonomy(
    categories: tuple[str, ...], severities: tuple[Severity, ...], weights: dict[str, float]
) -> Taxonomy:
    """Google's taxonomy, a named preset, or the user's own categories, with changed weights.

    A weight applies to a severity, a category, or ``category/severity``.
    """
    base = PRESETS.get(categories[0]) if len(categories) == 1 else None
    taxonomy = base or GOOGLE
    if categories and base is None:
        own = replace(GOOGLE_WEIGHTS, categories={NO_ERROR.lower(): 0.0}, cap=None)
        taxonomy = Taxonomy(categories, GOOGLE.severities, own)
    if severities:
        names = tuple(severity.name for severity in severities)
        given = {severity.name.lower(): severity.weight for severity in severities}
        taxonomy = replace(
            taxonomy, severities=names, weights=replace(taxonomy.weights, severities=given)
        )
    return replace(taxonomy, weights=_changed(taxonomy, weights))


def _changed(taxonomy: Taxonomy, changes: dict[str, float]) -> Weights:
    by_severity = dict(taxonomy.weights.severities)
    by_category = dict(taxonomy.weights.categories)
    severities = [name.lower() for name in taxonomy.severities]
    categories = [name.lower().rstrip("!") for name in taxonomy.categories]
    for name, weight in changes.items():
        category, _, severity = name.lower().rpartition("/")
        if name.lower() in severities:
            by_severity[name.lower()] = weight
        elif severity in severities and _begins(categories, category):
            by_category[f"{category.rstrip('!')}:{severity}"] = weight
        elif _begins(categories, name.lower()):
            by_category[name.lower().rstrip("!")] = weight
        else:
            known = [*taxonomy.severities, *taxonomy.categories]
            fault = f"names neither a severity nor a category{did_you_mean(name, known)}"
            remedy = "write a listed severity, category or category/severity"
            raise OptionError("weights", name, fault, remedy)
    return replace(taxonomy.weights, severities=by_severity, categories=by_category)


def _begins(categories: list[str], name: str) -> bool:
    """Whether it is a category, or a parent of one."""
    name = name.rstrip("!")
    return any(f"{category}/".startswith(f"{name}/") for category in categories)


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


KEYS = (
    "letter", "digit", "space", "symbol", "navigation", "erase", "copy", "cut", "paste", "undo",
)  # fmt: skip
"""Classes of keys that are counted."""
IDLE_MS = 60_000
"""Longer pauses do not count as work."""
PAUSES_MS = (300, 1000)
PAUSES = tuple(f"{unit}_{least}" for least in PAUSES_MS for unit in ("n", "ms"))
"""Number and total length of pauses of at least this many milliseconds."""
SESSION = ("opened", "closed", "active_ms", "idle_ms", "hidden_ms")
"""One stay in a segment: the client's times, and how the time was spent."""
MOST_SESSIONS = 10_000


@dataclass(frozen=True)
class PostEdit(OutputProtocol):
    """The corrected text, or a translation from scratch if a system has no output."""

    name: ClassVar[str] = "post-edit"
    kind: ClassVar = "edits"
    keys: ClassVar = ("edited", "keys", "pauses", "sessions")
    from_scratch: ClassVar = True

    editing: str = "full"

    def wire(self) -> dict[str, Any]:
        """The kind of editing, the keys that are counted, and the limits of pauses."""
        return self._wire(
            editing=self.editing, idle_ms=IDLE_MS, pauses_ms=list(PAUSES_MS), keys=list(KEYS)
        )

    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """The corrected text and the effort."""
        if "edited" not in given:
            reader.fault(f"{path}.edited", "is missing")
        edited = given.get("edited")
        if edited is not None:
            edited = reader.text(edited, f"{path}.edited", filled=True)
        sessions = reader.items(given.get("sessions", []), f"{path}.sessions", MOST_SESSIONS)
        return {
            "edited": edited,
            "keys": reader.counts(given.get("keys", {}), f"{path}.keys", KEYS),
            "pauses": reader.counts(given.get("pauses", {}), f"{path}.pauses", PAUSES),
            "sessions": tuple(
                _session(reader, session, f"{path}.sessions[{number}]")
                for number, session in enumerate(sessions)
            ),
        }


def _session(reader: Reader, value: object, path: str) -> dict[str, Any]:
    given = reader.mapping(value, path, SESSION) or {}
    return {
        name: reader.text(entry, f"{path}.{name}")
        if name in SESSION[:2]
        else reader.whole(entry, f"{path}.{name}")
        for name, entry in given.items()
    }


STRENGTHS = 3
"""How much better: 1 slightly, 3 much."""


@dataclass(frozen=True)
class PairwiseProtocol(ComparisonProtocol):
    """The better of two, or a tie; optionally how much better, and why."""

    name: ClassVar[str] = "pairwise"
    keys: ClassVar = ("winner", "strength", "reason")

    def wire(self) -> dict[str, Any]:
        """The number of degrees of preference."""
        return self._wire(strengths=STRENGTHS)

    def compare(
        self, reader: Reader, given: dict[str, Any], path: str, codes: tuple[str, ...]
    ) -> dict[str, Any]:
        """The winner; null if both are equally good."""
        if "winner" not in given:
            reader.fault(f"{path}.winner", "is missing; send a code, or null if both are equal")
            return {}
        winner, strength, reason = (given.get(key) for key in self.keys)
        if winner is not None and winner not in codes:
            message = f"is {shown(winner)}; send the code of one of the two, or null"
            reader.fault(f"{path}.winner", message)
        if strength is not None:
            if winner is None:
                reader.fault(f"{path}.strength", "has no meaning if both are equal; leave it out")
            strength = reader.whole(strength, f"{path}.strength", 1, STRENGTHS)
        if reason is not None:
            reason = reader.text(reason, f"{path}.reason")
        return {"winner": winner or TIE, "strength": strength, "reason": reason}


@dataclass(frozen=True)
class RankingProtocol(ComparisonProtocol):
    """Two to eight outputs in order; equal ranks are ties."""

    name: ClassVar[str] = "ranking"
    keys: ClassVar = ("ranks",)

    def wire(self) -> dict[str, Any]:
        """Only the name."""
        return self._wire()

    def compare(
        self, reader: Reader, given: dict[str, Any], path: str, codes: tuple[str, ...]
    ) -> dict[str, Any]:
        """A rank for every output, 1 for the best."""
        ranks = reader.mapping(given.get("ranks", {}), f"{path}.ranks", codes)
        read = {
            code: reader.whole(rank, f"{path}.ranks.{code}", 1, len(codes))
            for code, rank in (ranks or {}).items()
        }
        for code in codes if ranks is not None else ():
            if code not in read:
                reader.fault(f"{path}.ranks.{code}", "is missing")
        return {"ranks": {code: rank for code, rank in read.items() if rank is not None}}
