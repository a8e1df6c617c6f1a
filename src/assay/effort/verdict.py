"""One verdict where measures may disagree.

Time is what is paid for, so the verdict follows it where tools kept it; else distance, which every
segment has. The other measures are heard: where one of them decides against the verdict, or decides
what the verdict leaves open, the result says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from assay.effort.results import EffortDifference

ENOUGH_TIMES = 0.8
"""From this share of segments with a time on, in every system, the verdict follows time."""
ORDER = ("time", "distance", "hter", "changed")
"""What the verdict follows first."""


@dataclass(frozen=True, slots=True)
class Objection:
    """Another measure that decides for a system where the verdict does not."""

    measure: str
    less: str
    more: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best system by the one measure that is followed, and its nearest rival.

    The rival is the next best of the systems that may still be the best, or of all where none may.
    """

    measure: str
    why: Literal["paid-for", "no-times", "few-times", "time-left-out"]
    """Why this measure is followed."""
    timed: float
    """The share of segments with a time, of the system that has the fewest."""
    best: str
    rival: str
    decided: bool
    """Whether the best differs from its rival, and so from every system that was compared."""
    beats: tuple[str, ...]
    open: tuple[str, ...]
    """Systems that may be as good as the best, or better."""
    objections: tuple[Objection, ...]


def judge(
    means: Mapping[str, Mapping[str, float]], differences: Sequence[EffortDifference], *,
    timed: float | None, human: str | None,
) -> Verdict | None:  # fmt: skip
    """The verdict on systems by their means (measure, system); None where nothing separates them.

    The human translation is what systems are measured by, and competes only with a single one.
    ``timed`` is None where nobody asked for time.
    """
    measures = [name for name in ORDER if name in means]
    if timed is not None and timed < ENOUGH_TIMES and len(measures) > 1:
        measures = [name for name in measures if name != "time"]
    for measure in measures:
        known = {name: value for name, value in means[measure].items() if value == value}
        engines = [name for name in known if name != human]
        ranked = sorted(engines if len(engines) > 1 else known, key=lambda name: known[name])
        if len(ranked) > 1:
            return _verdict(measure, ranked, differences, timed)
    return None


def _verdict(
    measure: str, ranked: Sequence[str], differences: Sequence[EffortDifference],
    timed: float | None,
) -> Verdict:  # fmt: skip
    best, *others = ranked
    decided = {(item.measure, *less_and_more(item)) for item in differences if item.decided}
    beats = tuple(name for name in others if (measure, best, name) in decided)
    still = tuple(name for name in others if name not in beats)
    objections = [
        Objection(name, less, more)
        for name, less, more in sorted(decided)
        if name != measure and {less, more} <= {*ranked}
        and (more == best or (best == less and more in still))
    ]  # fmt: skip
    if measure == "time":
        why: Literal["paid-for", "no-times", "few-times", "time-left-out"] = "paid-for"
    else:
        why = "time-left-out" if timed is None else "few-times" if timed else "no-times"
    return Verdict(
        measure, why, timed or 0.0, best, (still or beats)[0], not still, beats, still,
        tuple(objections),
    )  # fmt: skip


def less_and_more(item: EffortDifference) -> tuple[str, str]:
    """The system of less effort, and the one of more."""
    return (item.left, item.right) if item.difference < 0 else (item.right, item.left)
