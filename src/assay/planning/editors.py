"""How many editors a comparison by effort needs, before they are recruited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import OptionError, need_known, need_positive, need_share, need_whole
from assay.planning.results import Plan
from assay.results import Note, signature
from assay.stats.intervals import LEVEL, POWER
from assay.stats.reml import MOST_EDITORS, detectable_gap, editors_needed, gap_power

if TYPE_CHECKING:
    from assay.effort.results import Effort

KOROTAEV: Mapping[str, tuple[float, float]] = {
    "distance": (8.78, 79.5),
    "time": (0.260, 3.45),
    "changed": (0.00339, 0.153),
}
"""Variances of editor x document and of the residual, fitted to the edits of korotaev2022: six
editors, three documents of 22 to 24 segments, English to Russian."""
SEGMENTS = 23
SIZES = (6, 12, 24, 48, 96)
MOST_SYSTEMS = 100
MIN_EDITORS_FOR_VARIANCES = 10


@dataclass(frozen=True, slots=True)
class EditorsPoint:
    """What a number of editors can do."""

    editors: int
    power: float
    detectable: float
    """The gap found with the wanted power."""


@dataclass(frozen=True, slots=True)
class EditorsPlan(Plan, kind="editors-plan", listing="points"):
    """How many editors are needed, and what was assumed."""

    complete: int | None
    """The next number that completes a Latin square."""
    points: tuple[EditorsPoint, ...]
    systems: int
    gap: float
    measure: str
    power: float
    segments: int
    place: bool
    """Whether the documents' places are allowed for."""
    cell: float
    """Assumed variance of editor x document."""
    residual: float

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "plan-editors", self.measure, systems=self.systems, gap=f"{self.gap:g}",
            power=f"{self.power:g}", segments=self.segments,
            place="allowed for" if self.place else None,
        )  # fmt: skip


def plan_editors(
    systems: int,
    gap: float,
    *,
    measure: str = "distance",
    pilot: Effort | None = None,
    cell: float | None = None,
    residual: float | None = None,
    segments: int = SEGMENTS,
    place: bool = False,
    sizes: Sequence[int] = SIZES,
    power: float = POWER,
    level: float = LEVEL,
) -> EditorsPlan:
    """Plan the number of editors that find a ``gap`` between two of the systems.

    Every editor edits one document of every system (Latin, Williams or all permutations: their
    power is the same). The spread comes from a ``pilot``, or is given as the variances ``cell``
    (editor x document) and ``residual``, or is that of korotaev2022. ``gap`` is in the unit of the
    ``measure``: points of edit distance, seconds per word, or share of changed segments. ``place``
    says that the documents' order is rotated and allowed for, as the default of ``design_kits``
    has it; that takes degrees of freedom, one for each system but one. ``sizes`` are the numbers
    of editors to show.

    >>> plan = plan_editors(3, 3.0)
    >>> plan.needed, [round(point.power, 2) for point in plan.points]
    (23, [0.26, 0.52, 0.83, 0.99, 1.0])
    """
    _check(systems, gap, segments, power, level, sizes, least=4 if place else 3)
    cell, residual, source = _spread(measure, pilot, cell, residual)
    variance = cell + residual / segments
    given: dict[str, Any] = {"variance": variance, "systems": systems, "level": level}
    needed = editors_needed(gap, power=power, place=place, **given)
    rotated = needed if place else editors_needed(gap, power=power, place=True, **given)
    points = tuple(
        EditorsPoint(
            number,
            gap_power(gap, editors=number, place=place, **given),
            detectable_gap(editors=number, power=power, place=place, **given),
        )
        for number in sizes
    )
    return EditorsPlan(
        needed=needed, level=level, source=source, notes=_notes(pilot, needed, rotated),
        complete=None if needed is None else -(-needed // systems) * systems, points=points,
        systems=systems, gap=gap, measure=measure, power=power, segments=segments, place=place,
        cell=cell, residual=residual,
    )  # fmt: skip


def _notes(pilot: Effort | None, needed: int | None, rotated: int | None) -> tuple[Note, ...]:
    notes = []
    if pilot is not None and len(pilot.editors) < MIN_EDITORS_FOR_VARIANCES:
        notes.append(Note(
            "small-pilot",
            f"the pilot has only {len(pilot.editors)} editors, so its variances and the number"
            " needed are rough",
        ))  # fmt: skip
    if rotated is not None and rotated != needed:
        text = f"with the order of documents rotated and allowed for: {rotated} editors"
        notes.append(Note("rotated-order", text))
    return tuple(notes)


def _check(
    systems: int, gap: float, segments: int, power: float, level: float, sizes: Sequence[int], *,
    least: int,
) -> None:  # fmt: skip
    need_whole("systems", systems, 2)
    if systems > MOST_SYSTEMS:
        raise OptionError("systems", systems, "is too many", f"give at most {MOST_SYSTEMS}")
    need_positive("gap", gap, "3")
    need_whole("segments", segments, 1)
    need_share("level", level, "0.95", above=0.5)
    need_share("power", power, "0.8", above=1 - level)
    for number in sizes:
        need_whole("sizes", number, least)
        if number > MOST_EDITORS:
            raise OptionError("sizes", number, "is too many", f"give at most {MOST_EDITORS:,}")


def _spread(
    measure: str, pilot: Effort | None, cell: float | None, residual: float | None
) -> tuple[float, float, Literal["given", "pilot", "korotaev2022"]]:
    """The two variances, and where they come from."""
    if pilot is not None:
        if cell is not None or residual is not None:
            raise OptionError("pilot", "given", "has its own variances", "leave yours out")
        need_known("measure", measure, list(pilot.components), "is not in the pilot")
        parts = pilot.components[measure]
        if not parts["editor x document"] + parts["residual"] > 0:
            remedy = "give a pilot in which editors differ, or variances"
            raise OptionError("pilot", measure, "has no spread to plan with", remedy)
        return parts["editor x document"], parts["residual"], "pilot"
    if (cell is None) != (residual is None):
        raise OptionError("cell", cell, "needs `residual` too", "give both or neither")
    if cell is not None and residual is not None:
        if not (0 <= cell < float("inf") and 0 < residual < float("inf")):
            both = f"{cell}, {residual}"
            raise OptionError("cell", both, "are not variances", "give them above 0")
        return cell, residual, "given"
    need_known("measure", measure, list(KOROTAEV), "has no default variances")
    return *KOROTAEV[measure], "korotaev2022"
