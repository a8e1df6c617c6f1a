"""What an analysis of effort says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from assay.results import Note, Result, plain, signature


@dataclass(frozen=True, slots=True)
class Level:
    """One system's mean on one measure, every document weighing the same."""

    mean: float
    stderr: float
    low: float
    high: float
    low83: float
    """The 83 % interval for comparing systems, without the spread that all systems share because
    they have the same editors: where those of two do not touch, they differ at about 5 %."""
    high83: float
    randomisation_p: float
    """Against the mean of the others, if no system differs, over the assignments of kits."""


@dataclass(frozen=True, slots=True)
class SystemEffort:
    """One system on every measure, and what it costs in hours and money."""

    system: str
    editors: int
    segments: int
    words: float
    measures: Mapping[str, Level]
    hours_per_1000_words: float | None
    """All seconds over all words, adjusted for editors and documents as the mean of time is; with
    the ends of its interval."""
    hours_low: float | None
    hours_high: float | None
    price_per_1000_words: float | None
    price_low: float | None
    price_high: float | None


@dataclass(frozen=True, slots=True)
class DocumentShare:
    """One document's effort against the average document, on one measure."""

    ratio: float
    low: float
    high: float
    low83: float
    high83: float
    verdict: Literal["alike", "unlike", "undetermined"]
    """Is the interval inside the margin, outside, or neither."""


@dataclass(frozen=True, slots=True)
class DocumentEffort:
    """One document on every measure: is it like the others?"""

    document: str
    segments: int
    words: float
    measures: Mapping[str, DocumentShare]


@dataclass(frozen=True, slots=True)
class EffortDifference:
    """Left minus right on one measure; less effort is better."""

    left: str
    right: str
    measure: str
    difference: float
    stderr: float
    degrees: float
    """Degrees of freedom; fewer than the design's where part of the comparison is of editors."""
    low: float
    high: float
    p: float
    holm_p: float
    """p adjusted for the pairs of systems of this measure (Holm); the verdict goes by ``p``."""
    randomisation_p: float
    """Over the assignments of kits to editors, the other systems being what they are; not a number
    where kits leave nothing to deal out."""
    decided: bool
    verdict: str
    least: float
    """The smallest difference when any one editor is left out, and the largest."""
    most: float
    deciding_editors: tuple[str, ...]
    """Editors without whom the verdict, or the sign of the difference, would be another."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Does a system need at most ``margin`` more effort than the human translation?"""

    system: str
    human: str
    measure: str
    margin: float
    excess: float
    """Effort of the system over that of the human translation, less one."""
    p: float
    verdict: Literal["parity", "no parity", "undetermined"]


@dataclass(frozen=True, slots=True)
class RelativeEffort:
    """Effort relative to the mean, as the tables of korotaev2022 have it."""

    kind: Literal["system", "document"]
    name: str
    measure: str
    described: float
    """Each editor's value over that editor's mean, averaged over editors (section 3.5)."""
    pooled: float
    """Pooled over editors, then over the mean; time as mean speed over speed (Tables 2 and 3)."""
    t_score: float


@dataclass(frozen=True, slots=True)
class EditorEffort:
    """One editor's work on one document, relative to that editor's mean (Figure 4)."""

    editor: str
    document: str
    system: str
    ratios: Mapping[str, float]
    total: float
    """The weighted sum over the measures."""


@dataclass(frozen=True, slots=True)
class Placing:
    """How often a system needed the least effort, the second least, and so on (Table 4)."""

    system: str
    places: tuple[int, ...]
    score: float
    inverse_places: tuple[int, ...]
    """The same with time as mean speed over speed."""
    inverse_score: float


@dataclass(frozen=True, slots=True)
class Relation:
    """Rank correlation (Spearman) of a measure with something else, and how sure its sign is."""

    compared_with: str
    measure: str
    n: int
    correlation: float
    p: float
    """Two-sided, over all orders or 20,000 random ones."""


@dataclass(frozen=True, slots=True)
class Effort(Result, kind="effort"):
    """Systems compared by the effort of editing them; less is better."""

    systems: tuple[SystemEffort, ...]
    documents: tuple[DocumentEffort, ...]
    differences: tuple[EffortDifference, ...]
    parity: tuple[Parity, ...]
    relative: tuple[RelativeEffort, ...]
    by_editor: tuple[EditorEffort, ...]
    placings: tuple[Placing, ...]
    warnings: tuple[Note, ...]
    """What the reader of the numbers must know."""
    components: Mapping[str, Mapping[str, float]]
    """Variances by measure: editor, segment, editor x document, residual."""
    overall_p: Mapping[str, float]
    """By measure: does any system differ from another, over the assignments of kits?"""
    units: Mapping[str, str]
    editors: tuple[str, ...]
    degrees: int
    """Degrees of freedom within editors, from the design: the fewest of the measures."""
    fixed: tuple[str, ...]
    """The fixed effects of the model: systems, documents where they vary, places where known."""
    level: float
    human: str | None
    margin: float | None
    measures: tuple[str, ...]
    alike: float
    assume_alike: bool
    time: str
    time_weight: float
    rate: float | None
    draws: int
    assignments: int
    exact: bool
    """Whether all assignments of kits to editors were gone through."""
    seed: int | None
    notes: tuple[Note, ...]
    next: tuple[str, ...]
    """What more editors would bring."""
    relations: tuple[Relation, ...] = ()
    """Correlations with ratings and complexity, where asked for."""

    @property
    def signature(self) -> str:
        """How the numbers came about."""
        return signature(
            "effort",
            "+".join(self.measures),
            f"reml:{'+'.join(self.fixed)}",
            editors=len(self.editors),
            n=sum(item.segments for item in self.systems),
            time=None if self.time == "mean" else self.time,
            level=f"{self.level:g}".lstrip("0"),
            seed=None if self.exact else self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """A row for each system and measure."""
        return pl.DataFrame(
            {"system": item.system, "measure": name, **plain(level)}
            for item in self.systems
            for name, level in item.measures.items()
        )
