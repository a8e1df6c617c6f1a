"""What an audit says, with all its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.estimation.results import FORMER_TARGETS
from assay.results import Note, Result, signature


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCoverage:
    """How much of the test set has answers.

    ``answers`` are ratings or judgments, ``outputs`` those with an answer. Segments and documents
    of the test set are None where none was given or the answers do not name them; ``whole`` counts
    the documents of which every segment has an answer.
    """

    answers: int
    systems: int
    unrated_systems: tuple[str, ...]
    segments: int | None = None
    of_segments: int | None = None
    documents: int | None = None
    of_documents: int | None = None
    whole_documents: int | None = None
    outputs: int | None = None
    of_outputs: int | None = None
    per_output: float | None = None
    raters: int | None = None


@dataclass(frozen=True, slots=True)
class SystemMatching:
    """Whether systems were rated on the same segments.

    From ratings: ``complete`` of the rated ``segments`` are rated for all systems; ``common`` is
    the median over pairs of the share of the smaller system's segments that the other has too, and
    ``apart`` counts the pairs with less than half. ``sd_ratio`` is what not being matched costs:
    the standard error of a difference of segments of their own over that of the same segments.
    From judgments: the ``least``, median (``typical``) and ``most`` judgments of a pair, ``never``
    the pairs that were never compared.
    """

    pairs: int
    segments: int | None = None
    complete: int | None = None
    common: float | None = None
    apart: int | None = None
    sd_ratio: float | None = None
    never: int | None = None
    least: int | None = None
    typical: float | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class PartRepresentation:
    """A part of the test set by ``what`` (length, position, domain), and its part of the answers.

    Lengths are those of documents, in segments.
    """

    what: Literal["length", "position", "domain"]
    name: str
    full: float
    rated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedSystem:
    """One system: what it was given, where it stands, and where common practice puts it.

    ``share`` is the part of the system's segments that have an answer, ``ease`` by how much
    better the system looks because its segments were easier (points of the scale; None where no
    chain of common segments connects all systems). ``low`` and ``high`` are the interval of the
    ``score``. What begins with ``practice`` is what the field does: tests that treat answers as
    independent.
    """

    system: str
    n: int
    share: float | None = None
    answers: int
    raters: int | None = None
    ease: float | None = None
    score: float
    low: float | None = None
    high: float | None = None
    rank: int
    low_rank: int
    high_rank: int
    cluster: int
    practice_low_rank: int
    practice_high_rank: int
    practice_cluster: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedPair:
    """``left`` against ``right``, the one that stands higher first.

    ``difference`` is left minus right, from the ``basis``: the ``common`` segments, each system's
    own where fewer than half are common (``apart``), or ``judgments`` (of expected win).
    ``decided`` is the verdict; ``p_holm`` and ``decided_holm`` are always corrected for the number
    of pairs. ``detectable`` is the smallest true difference that a campaign like this finds with
    the asked probability, ``power`` the probability to find one as large as was observed.
    """

    left: str
    right: str
    basis: Literal["common", "apart", "judgments"]
    n: int
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    difference: float
    low: float | None = None
    high: float | None = None
    stderr: float
    p: float
    p_holm: float
    decided: bool
    decided_holm: bool
    better: str | None
    detectable: float
    power: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A published distinction and what the answers say of it.

    ``verdict`` is holds, contradicted or open; ``verdict_holm`` the same with p values corrected
    for the number of pairs. ``neighbours`` says that the two are next to each other.
    """

    better: str
    worse: str
    neighbours: bool
    verdict: Literal["holds", "contradicted", "open"]
    verdict_holm: Literal["holds", "contradicted", "open"]
    p: float


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """How many distinctions hold, are open or contradicted; ``holm`` counts after correction."""

    source: Literal["published", "order of the scores"]
    claims: int
    hold: int
    open: int
    contradicted: int
    hold_holm: int
    neighbours: int
    neighbours_hold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPower:
    """What the campaign could find.

    ``detectable`` and ``detectable_worst`` are the median and largest smallest difference that is
    found with probability ``power``; ``powered`` the share of pairs whose difference is found so
    often, ``expected`` the mean probability over pairs, ``found`` the share decided. ``needed``
    answers find the share ``power`` of all pairs on average, None where that is out of reach.
    From judgments, ``expected_by``, ``found_by`` and ``needed_by`` say it by test, and ``sigma`` is
    how noisy a judgment is where systems lie between 0 and 10.
    """

    power: float
    detectable: float | None = None
    detectable_worst: float | None = None
    powered: float | None = None
    expected: float
    found: float
    needed: int | None = None
    expected_by: dict[str, float] | None = None
    found_by: dict[str, float] | None = None
    needed_by: dict[str, int | None] | None = None
    needed_by_curve: int | None = None
    """Judgments by sign tests at the sigma that fits what was found, where the model does not."""
    sigma: float | None = None
    sigma_low: float | None = None
    sigma_high: float | None = None


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far raters agree: Krippendorff's alpha on the ``overlapping`` items with two raters.

    ``within`` is the alpha of raters with themselves, on ``repeated`` items. None where nobody
    answered twice.
    """

    raters: int
    overlapping: int
    alpha: float | None
    repeated: int = 0
    within: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Result, kind="audit", listing="pairs"):
    """A finished campaign: ``findings`` in plain words, the weightiest first, and the numbers.

    ``source`` is ratings or judgments. ``unit`` is what is drawn anew or summed over,
    ``assumption`` how the answers are taken to have been chosen, ``target`` what the intervals are
    for; ``practice`` names the common test that the systems' practice ranks come from.
    """

    renamed: ClassVar[Mapping[str, Mapping[str, str]]] = {"target": FORMER_TARGETS}

    source: Literal["ratings", "judgments"]
    findings: tuple[str, ...] = ()
    coverage: AnswerCoverage
    matched: SystemMatching
    representation: tuple[PartRepresentation, ...]
    systems: tuple[AuditedSystem, ...]
    pairs: tuple[AuditedPair, ...]
    published: ClaimCounts
    claims: tuple[Claim, ...]
    power: CampaignPower
    raters: RaterAgreement | None
    unit: str
    blocks: int
    assumption: str
    target: Literal["raters", "texts", "new-segments", "new-judgments", "answers"]
    practice: str
    better: Literal["higher", "lower"]
    level: float
    sides: Literal[1, 2]
    seed: int | None
    family: bool = False
    """Whether verdicts hold together (Holm), not each by itself."""
    stable: float | None = None
    """The chance that a repeat of the same size gives the same order of all systems."""
    stable_pairs: float | None = None
    """The same for a pair, on average over the pairs."""
    next: tuple[str, ...] = ()
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """How this audit came about, in one line."""
        return signature(
            "audit", self.assumption, self.target, *(("family",) if self.family else ()),
            **{self.source: self.coverage.answers},
            unit=f"{self.unit}-{self.blocks}", claims=self.published.claims,
            level=f"{self.level:g}", sides=self.sides, practice=self.practice.replace(" ", "-"),
            better=self.better if self.better == "lower" else None, seed=self.seed,
        )  # fmt: skip
