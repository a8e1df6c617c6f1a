"""Profiles: the documented parameters of simulated worlds, fitted to WMT20 MQM ratings.

The model is an ordered probit with crossed effects. Every system's output of every segment has,
in every rater's eyes, one standard normal value per kind of error, z; the number of errors of the
kind is the number of cut points below z + the system's shift. A :class:`Kind` says where the cuts
are and which part of the variance of z systems, documents, segments and raters have in common.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from assay.errors import OptionError

MOST_ERRORS = 5
"""WMT20 raters marked at most the five worst errors of a segment."""
ERROR_WEIGHTS = (0.1, 1.0, 5.0, 25.0)
"""Minor punctuation, other minor, major, non-translation."""


PARTS = (
    "system", "document", "segment", "system_document", "system_segment", "rater",
    "rater_document", "rater_segment",
)  # fmt: skip
"""The components of the variance of z."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of error: its frequency and the components of its variance.

    ``shares`` are the shares of ratings with at least 1, 2, ... errors of the kind, for a system of
    shift 0; ``quality`` is how much of a system's shift affects the kind. The others are shares of
    the variance of z; the remaining ``rest`` is random for each rater and output.
    """

    shares: tuple[float, ...]
    quality: float
    system: float = 0.0  # a system's own habit, beyond its quality
    document: float  # documents are hard for all systems and all raters
    segment: float  # ... and segments
    system_document: float  # a document one system fails in
    system_segment: float  # an output that all raters find bad
    rater: float  # severity
    rater_document: float  # severity that changes with the document
    rater_segment: float  # a rater's view of a segment, the same for all its outputs

    def __post_init__(self) -> None:
        falling = all(a >= b for a, b in pairwise((1.0, *self.shares, 0.0)))
        if len(self.shares) != MOST_ERRORS or not falling or {0.0, 1.0} & set(self.shares):
            remedy = f"give {MOST_ERRORS} falling shares between 0 and 1"
            raise OptionError("shares", self.shares, "are not the shares of counts", remedy)
        parts = self._parts()
        if min(parts) < 0 or sum(parts) > 1 + 1e-9:
            fault = "is not what parts of the variance may add up to"
            remedy = "give parts from 0, at most 1 in all"
            raise OptionError("kind", f"{sum(parts):g}", fault, remedy)

    def _parts(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in PARTS)

    @property
    def rest(self) -> float:
        """The share of the variance that the other components leave."""
        return max(0.0, 1.0 - sum(self._parts()))


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The parameters of a world; vary one of :data:`PROFILES` with ``dataclasses.replace``."""

    name: str
    major: Kind
    minor: Kind
    punctuation: Kind
    non_translation: float  # share of ratings; the far end of the major errors' z
    kinship: float  # correlation of major and minor errors: of what systems and texts cause
    rater_kinship: float  # ... and of what raters cause (below 0: an error is either or)
    machines: tuple[float, ...]  # mean scores of machine systems, best first
    humans: tuple[float, ...]  # mean scores of human translations, best first
    human_own: float  # part of difficulty that human translations do not share with machines
    document_segments: tuple[float, float, int]  # log-normal: median, sd of the log; least
    segment_words: tuple[float, float, int]
    length_share: float  # part of segment difficulty that is length
    domain_share: float  # part of document difficulty that is the domain
    metrics: Mapping[str, float]  # default metrics: |correlation| with single ratings
    metric_document: float  # shares of the variance of a metric's error
    metric_segment: float
    metric_common: float  # ... and what metrics' errors have in common

    def __post_init__(self) -> None:
        names = ("human_own", "length_share", "domain_share", "metric_common")
        shares = {name: getattr(self, name) for name in names}
        shares["metric_document + metric_segment"] = self.metric_document + self.metric_segment
        for name, value in shares.items():
            if not 0 <= value <= 1:
                raise OptionError(name, value, "is not a share", "give 0 to 1")
        for name in ("kinship", "rater_kinship"):
            if not -1 <= getattr(self, name) <= 1:
                raise OptionError(name, getattr(self, name), "is not a correlation", "give -1 to 1")
        if not 0 < self.non_translation <= self.major.shares[-1]:
            # a non-translation is the far end of five major errors, so it cannot be more frequent
            most = f"{self.major.shares[-1]:g}, that of 5 major errors"
            remedy = f"give more than 0 and at most {most}"
            raise OptionError("non_translation", self.non_translation, "is not its share", remedy)


def _read_profiles() -> Mapping[str, Profile]:
    text = (resources.files("assay.worlds") / "profiles.toml").read_text(encoding="utf-8")
    return MappingProxyType({
        name: Profile(name=name, **{key: _value(value) for key, value in fields.items()})
        for name, fields in tomllib.loads(text).items()
    })  # fmt: skip


def _value(value: Any) -> Any:
    """Convert a field read from JSON: kinds of error, metrics, lists to tuples."""
    if isinstance(value, dict) and "shares" in value:
        return Kind(**{key: _value(item) for key, item in value.items()})
    if isinstance(value, dict):
        return MappingProxyType(value)
    return tuple(value) if isinstance(value, list) else value


PROFILES = _read_profiles()
"""Fitted to the WMT20 MQM ratings of the same name; ``docs/worlds.md`` compares them."""
