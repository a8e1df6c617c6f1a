"""What an analysis of effort says, as frozen results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from assay.results import plain, result_dict


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
class Share:
    """One document's effort against the average document, on one measure."""

    ratio: float
    low: float
    high: float
    low83: float
    high83: float
    verdict: str
    """alike, unlike or undetermined: is the interval inside the margin, outside, or neither."""


@dataclass(frozen=True, slots=True)
class DocumentEffort:
    """One document on every measure: is it like the others?"""

    document: str
    segments: int
    words: float
    measures: Mapping[str, Share]


@dataclass(frozen=True, slots=True)
class EffortDifference:
    """Left minus right on one measure; less effort is better."""

    left: str
    right: str
    measure: str
    difference: float
    stderr: float
    freedom: float
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
    verdict: str
    """parity, no parity or undetermined."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Effort relative to the mean, as the tables of korotaev2022 have it."""

    kind: str
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
class Caution:
    """Something the reader of the numbers must know."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Effort:
    """Systems compared by the effort of editing them; less is better."""

    systems: tuple[SystemEffort, ...]
    documents: tuple[DocumentEffort, ...]
    differences: tuple[EffortDifference, ...]
    parity: tuple[Parity, ...]
    relative: tuple[Relative, ...]
    by_editor: tuple[EditorEffort, ...]
    placings: tuple[Placing, ...]
    warnings: tuple[Caution, ...]
    components: Mapping[str, Mapping[str, float]]
    """Variances by measure: editor, segment, editor x document, residual."""
    overall_p: Mapping[str, float]
    """By measure: does any system differ from another, over the assignments of kits?"""
    units: Mapping[str, str]
    editors: tuple[str, ...]
    freedom: int
    """Degrees of freedom within editors, from the design: the fewest of the measures."""
    fixed: tuple[str, ...]
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
    notes: tuple[str, ...]
    next: tuple[str, ...]
    """What more editors would bring."""
    signature: str

    def to_frame(self) -> pl.DataFrame:
        """A row for each system and measure."""
        rows = [
            {"system": item.system, "measure": name, **_fields(level)}
            for item in self.systems
            for name, level in item.measures.items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay effort``."""
        names = [name for name in self.__dataclass_fields__ if name != "signature"]
        return result_dict(
            "effort", self.signature, **{name: getattr(self, name) for name in names}
        )


def _fields(level: Level) -> dict[str, object]:
    found = plain(level)
    assert isinstance(found, dict)
    return found
