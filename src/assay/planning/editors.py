"""How many editors a comparison by effort needs, before they are recruited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from assay.effort.results import Effort
from assay.errors import OptionError
from assay.results import result_dict, signature
from assay.stats.kit_power import detectable_gap, editors_needed, gap_power

KOROTAEV: Mapping[str, tuple[float, float]] = {
    "distance": (8.78, 79.5),
    "time": (0.260, 3.45),
    "changed": (0.00339, 0.153),
}
"""Variances of editor x document and of the residual, fitted to the edits of korotaev2022: six
editors, three documents of 22 to 24 segments, English to Russian."""

SEGMENTS = 23
CURVE = (6, 12, 24, 48, 96)


@dataclass(frozen=True, slots=True)
class EditorsPoint:
    """What a number of editors can do."""

    editors: int
    power: float
    detectable: float
    """The gap found with the wanted power."""


@dataclass(frozen=True, slots=True)
class EditorsPlan:
    """How many editors are needed, and what was assumed."""

    needed: int | None
    """Editors with the wanted power; None where there can never be enough."""
    complete: int | None
    """The next number that completes a Latin square."""
    points: tuple[EditorsPoint, ...]
    engines: int
    gap: float
    measure: str
    power: float
    level: float
    segments: int
    place: bool
    """Whether the documents' places are allowed for."""
    cell: float
    """Assumed variance of editor x document."""
    residual: float
    source: str
    notes: tuple[str, ...]
    signature: str

    def to_frame(self) -> pl.DataFrame:
        """A row for each number of editors."""
        rows = [(item.editors, item.power, item.detectable) for item in self.points]
        return pl.DataFrame(rows, schema=["editors", "power", "detectable"], orient="row")

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay plan editors``."""
        names = [name for name in self.__dataclass_fields__ if name != "signature"]
        return result_dict(
            "editors-plan", self.signature, **{name: getattr(self, name) for name in names}
        )


def plan_editors(
    engines: int,
    gap: float,
    *,
    measure: str = "distance",
    pilot: Effort | None = None,
    cell: float | None = None,
    residual: float | None = None,
    segments: int = SEGMENTS,
    place: bool = False,
    editors: Sequence[int] = CURVE,
    power: float = 0.8,
    level: float = 0.95,
) -> EditorsPlan:
    """Plan the number of editors that find a ``gap`` between two of the engines.

    Every editor edits one document of every engine (Latin, Williams or all permutations: their
    power is the same). The spread comes from a ``pilot``, or is given as the variances ``cell``
    (editor x document) and ``residual``, or is that of korotaev2022. ``gap`` is in the unit of the
    ``measure``: points of edit distance, seconds per word, or share of changed segments. ``place``
    says that the documents' order is rotated and allowed for, as the default of ``design_kits``
    has it; that takes degrees of freedom, one for each engine but one.

    >>> plan = plan_editors(3, 3.0)
    >>> plan.needed, [round(point.power, 2) for point in plan.points]
    (23, [0.26, 0.52, 0.83, 0.99, 1.0])
    """
    _check(engines, gap, segments, power, level, editors, least=4 if place else 3)
    cell, residual, source = _spread(measure, pilot, cell, residual)
    variance = cell + residual / segments
    given = {"variance": variance, "systems": engines, "level": level, "place": place}
    needed = editors_needed(gap, power=power, **given)  # type: ignore[arg-type]
    points = tuple(
        EditorsPoint(
            number,
            gap_power(gap, editors=number, **given),  # type: ignore[arg-type]
            detectable_gap(editors=number, power=power, **given),  # type: ignore[arg-type]
        )
        for number in editors
    )
    notes = []
    if pilot is not None and len(pilot.editors) < 10:
        notes.append(
            f"the pilot has {len(pilot.editors)} editors: its variances, and so the number needed,"
            " are rough"
        )
    if not place:
        turned = given | {"place": True}
        rotated = editors_needed(gap, power=power, **turned)  # type: ignore[arg-type]
        if rotated is not None and rotated != needed:
            notes.append(
                f"if the documents' order is rotated and allowed for (place): {rotated} editors"
            )
    return EditorsPlan(
        needed=needed,
        complete=None if needed is None else -(-needed // engines) * engines,
        points=points,
        engines=engines,
        gap=gap,
        measure=measure,
        power=power,
        level=level,
        segments=segments,
        place=place,
        cell=cell,
        residual=residual,
        source=source,
        notes=tuple(notes),
        signature=signature(
            "plan-editors", measure, engines=engines, gap=f"{gap:g}", power=f"{power:g}",
            segments=segments, place="allowed for" if place else None,
        ),
    )  # fmt: skip


def _check(
    engines: int,
    gap: float,
    segments: int,
    power: float,
    level: float,
    editors: Sequence[int],
    *,
    least: int,
) -> None:
    if isinstance(engines, bool) or not 2 <= engines <= 100:
        raise OptionError("engines", engines, "is no number of engines", "give 2 or more")
    if not 0 < gap < float("inf"):
        raise OptionError("gap", gap, "is no difference", "give a number above 0")
    if isinstance(segments, bool) or segments < 1:
        raise OptionError("segments", segments, "is no length of a document", "give 1 or more")
    if not 0.5 <= level < 1:
        raise OptionError("level", level, "is not a confidence level", "give .95")
    if not 1 - level < power < 1:
        raise OptionError("power", power, "is no power", "give .8")
    for number in editors:
        if isinstance(number, bool) or not least <= number <= 100_000:
            raise OptionError("editors", number, "cannot be judged", f"give {least} or more")


def _spread(
    measure: str, pilot: Effort | None, cell: float | None, residual: float | None
) -> tuple[float, float, str]:
    """The two variances, and where they come from."""
    if pilot is not None:
        if cell is not None or residual is not None:
            raise OptionError("pilot", "given", "has variances of its own", "leave yours out")
        if measure not in pilot.components:
            known = ", ".join(pilot.components)
            raise OptionError("measure", measure, "is not in the pilot", f"choose from {known}")
        found = pilot.components[measure]
        if not found["editor x document"] + found["residual"] > 0:
            raise OptionError(
                "pilot", measure, "has no spread to plan with",
                "give a pilot in which editors differ, or variances",
            )  # fmt: skip
        return found["editor x document"], found["residual"], "pilot"
    if (cell is None) != (residual is None):
        raise OptionError("cell", cell, "needs residual beside it", "give both or neither")
    if cell is not None and residual is not None:
        if not (0 <= cell < float("inf") and 0 < residual < float("inf")):
            raise OptionError(
                "cell", f"{cell}, {residual}", "are no variances", "give them above 0"
            )
        return cell, residual, "given"
    if measure not in KOROTAEV:
        known = ", ".join(KOROTAEV)
        raise OptionError("measure", measure, "has no usual spread", f"choose from {known}")
    return *KOROTAEV[measure], "korotaev2022"
