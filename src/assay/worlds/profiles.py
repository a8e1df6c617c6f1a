"""Profiles: the documented parameters of simulated worlds, fitted to WMT20 MQM ratings.

The model is an ordered probit with crossed effects. Every system's output of every segment has,
in every rater's eyes, one standard normal value per kind of error, z; the number of errors of the
kind is the number of cut points below z + the system's shift. A :class:`Kind` says where the cuts
are and which part of the variance of z systems, documents, segments and raters have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from assay.errors import OptionError

MOST_ERRORS = 5
"""WMT20 raters marked at most five errors in a segment, the worst ones."""

ERROR_WEIGHTS = (0.1, 1.0, 5.0, 25.0)
"""Minor punctuation, other minor, major, non-translation."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of error: how frequent, and who agrees about it.

    ``shares`` are the shares of ratings with at least 1, 2, ... errors of the kind for a system
    of shift 0, ``quality`` is how much of a system's shift the kind feels. The others are shares
    of the variance of z; what they leave (``rest``) is a rater's chance at one output.
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
            raise OptionError(
                "kind", f"{sum(parts):g}", fault, "give parts from 0, at most 1 in all"
            )

    def _parts(self) -> tuple[float, ...]:
        return (
            self.system,
            self.document,
            self.segment,
            self.system_document,
            self.system_segment,
            self.rater,
            self.rater_document,
            self.rater_segment,
        )

    @property
    def rest(self) -> float:
        """The share of variance that nothing else explains."""
        return max(0.0, 1.0 - sum(self._parts()))


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a world is like; vary one of :data:`PROFILES` with ``dataclasses.replace``."""

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
        shares = {
            "human_own": self.human_own,
            "length_share": self.length_share,
            "domain_share": self.domain_share,
            "metric_common": self.metric_common,
            "metric_document + metric_segment": self.metric_document + self.metric_segment,
        }
        for name, value in shares.items():
            if not 0 <= value <= 1:
                raise OptionError(name, value, "is not a share", "give 0 to 1")
        for name in ("kinship", "rater_kinship"):
            if not -1 <= getattr(self, name) <= 1:
                raise OptionError(name, getattr(self, name), "is not a correlation", "give -1 to 1")
        if not 0 < self.non_translation <= self.major.shares[-1]:
            # a non-translation is the far end of five major errors, so it cannot be more frequent
            remedy = (
                f"give more than 0 and at most {self.major.shares[-1]:g}, that of 5 major errors"
            )
            raise OptionError("non_translation", self.non_translation, "is not its share", remedy)


_EN_DE = Profile(
    name="en-de",
    major=Kind(
        shares=(0.164, 0.030, 0.0090, 0.0055, 0.0040),
        quality=1.0,
        document=0.075,
        segment=0.245,
        system_document=0.012,
        system_segment=0.090,
        rater=0.010,
        rater_document=0.245,
        rater_segment=0.136,
    ),
    minor=Kind(
        shares=(0.568, 0.255, 0.097, 0.0266, 0.0055),
        quality=1.33,
        document=0.060,
        segment=0.320,
        system_document=0.004,
        system_segment=0.059,
        rater=0.019,
        rater_document=0.144,
        rater_segment=0.134,
    ),
    punctuation=Kind(
        shares=(0.20, 0.135, 0.032, 0.015, 0.002),
        quality=0.0,
        system=0.33,
        document=0.03,
        segment=0.35,
        system_document=0.03,
        system_segment=0.10,
        rater=0.004,
        rater_document=0.04,
        rater_segment=0.01,
    ),
    non_translation=0.0035,
    kinship=0.60,
    rater_kinship=-0.70,
    machines=(2.018, 2.248, 2.332, 2.353, 2.445, 2.475, 2.987),
    humans=(0.746, 1.410),
    human_own=0.865,
    document_segments=(10.0, 0.44, 3),
    segment_words=(26.0, 0.55, 3),
    length_share=0.28,
    domain_share=0.15,
    metrics=MappingProxyType({"neural": 0.43, "surface": 0.19}),
    metric_document=0.13,
    metric_segment=0.66,
    metric_common=0.42,
)

_ZH_EN = Profile(
    name="zh-en",
    major=Kind(
        shares=(0.466, 0.207, 0.0975, 0.0450, 0.0197),
        quality=1.0,
        document=0.195,
        segment=0.372,
        system_document=0.014,
        system_segment=0.040,
        rater=0.060,
        rater_document=0.144,
        rater_segment=0.071,
    ),
    minor=Kind(
        shares=(0.378, 0.164, 0.0700, 0.0250, 0.0081),
        quality=0.3,
        document=0.014,
        segment=0.159,
        system_document=0.015,
        system_segment=0.028,
        rater=0.030,
        rater_document=0.384,
        rater_segment=0.218,
    ),
    punctuation=Kind(
        shares=(0.16, 0.040, 0.0090, 0.0030, 0.0005),
        quality=0.0,
        system=0.004,
        document=0.110,
        segment=0.400,
        system_document=0.008,
        system_segment=0.020,
        rater=0.040,
        rater_document=0.100,
        rater_segment=0.170,
    ),
    non_translation=0.0130,
    kinship=0.43,
    rater_kinship=-0.46,
    machines=(5.025, 5.127, 5.192, 5.201, 5.338, 5.406, 5.481, 5.848),
    humans=(3.615,),
    human_own=0.572,
    document_segments=(11.6, 0.50, 3),
    segment_words=(30.0, 0.55, 3),
    length_share=0.35,
    domain_share=0.15,
    metrics=MappingProxyType({"neural": 0.50, "surface": 0.20}),
    metric_document=0.28,
    metric_segment=0.59,
    metric_common=0.70,
)

PROFILES: Mapping[str, Profile] = MappingProxyType({p.name: p for p in (_EN_DE, _ZH_EN)})
"""Fitted to the WMT20 MQM ratings of the same name; ``docs/worlds.md`` compares them."""
