"""One verdict where measures may disagree, and what would decide what it leaves open.

Time is what is paid for, so the verdict follows it where tools kept it; else distance, which every
segment has. The other measures are heard: where one of them decides against the verdict, or decides
what the verdict leaves open, the result says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.effort.model import EffortModel
from assay.results import Note, p_value
from assay.stats.intervals import POWER, detectable_shift, smallest
from assay.stats.reml import detectable_gap, editors_needed

if TYPE_CHECKING:
    from assay.effort.results import EffortDifference

MOST_DOCUMENTS = 10_000
"""Advice never asks for more documents than this."""
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


def needed_to_decide(
    differences: Sequence[EffortDifference], models: Mapping[str, EffortModel], level: float, *,
    place: bool,
) -> list[int | None]:  # fmt: skip
    """How many editors would find each difference if the one seen is the true one.

    Documents, where they are what limits it. The variance behind the standard error is taken to
    stay, kits being what they are. None for those that are decided or equal, and where no number
    would do.
    """
    needed: list[int | None] = []
    for item in differences:
        model = models[item.measure]
        if item.decided or not item.stderr > 0 or item.difference == 0:
            needed.append(None)
        elif model.document_degrees:
            needed.append(_documents_needed(item, model, level))
        else:
            needed.append(editors_needed(
                item.difference, variance=_variance(item, models), level=level, power=POWER,
                systems=len(model.means), place=place,
            ))  # fmt: skip
    return needed


def _documents_needed(item: EffortDifference, model: EffortModel, level: float) -> int | None:
    now, lost = len(model.document_sizes), len(model.document_sizes) - model.document_degrees

    def enough(documents: int) -> bool:
        shift = abs(item.difference) / item.stderr * (documents / now) ** 0.5
        return bool(shift >= detectable_shift(float(documents - lost), level, POWER))

    number = smallest(enough, MOST_DOCUMENTS, lost + 1)
    return None if number == MOST_DOCUMENTS else number


def _variance(item: EffortDifference, models: Mapping[str, EffortModel]) -> float:
    """The variance of one editor's mean over one document, behind the standard error."""
    return item.stderr**2 * models[item.measure].editors / 2


def difference_warnings(
    differences: Sequence[EffortDifference], models: Mapping[str, EffortModel],
    needed: Sequence[int | None], level: float, verdict: Verdict | None, *, place: bool,
) -> list[Note]:  # fmt: skip
    """Differences that hang on one editor, and gaps to the best too small for so few editors."""
    warnings = []
    for item, number in zip(differences, needed, strict=True):
        pair = f"{item.left} and {item.right}, {item.measure}"
        if item.deciding_editors:
            warnings.append(Note(
                "one-editor-decides",
                f"{pair}: leaving out {' or '.join(item.deciding_editors)} changes the verdict or"
                f" the sign of the difference ({item.least:.3g} to {item.most:.3g})",
            ))  # fmt: skip
        if item.decided or not item.stderr > 0 or item.difference == 0:
            continue
        if verdict is not None and verdict.best not in (item.left, item.right):
            continue
        model = models[item.measure]
        if model.document_degrees:
            visible = detectable_shift(item.degrees, level, POWER) * item.stderr
        else:
            visible = detectable_gap(
                variance=_variance(item, models), editors=model.editors, systems=len(model.means),
                level=level, power=POWER, place=place,
            )  # fmt: skip
        now, what = _limit(model)
        count = f"more {what} than can be had" if number is None else f"about {number} {what}"
        warnings.append(Note(
            f"too-few-{what}",
            f"{pair}: {now} {what} find a difference of {visible:.3g} with {POWER:.0%}"
            f" probability; for the one seen, {abs(item.difference):.3g}, {count} are needed",
        ))  # fmt: skip
    return warnings


def _limit(model: EffortModel) -> tuple[int, str]:
    """What the precision hangs on, and how many there are of it."""
    if model.document_degrees:
        return len(model.document_sizes), "documents"
    return model.editors, "editors"


def next_steps(
    verdict: Verdict | None, differences: Sequence[EffortDifference],
    models: Mapping[str, EffortModel], needed: Sequence[int | None], *, hours: float | None,
    rate: float | None, currency: str | None,
) -> tuple[str, ...]:  # fmt: skip
    """How many more editors (documents) decide between the best system and its nearest rival.

    ``hours`` is what one editor of this comparison worked, at ``rate`` an hour.
    """
    if verdict is None or verdict.decided:
        return ()
    pair = {verdict.best, verdict.rival}
    item, number = next(
        both for both in zip(differences, needed, strict=True)
        if both[0].measure == verdict.measure and {both[0].left, both[0].right} == pair
    )  # fmt: skip
    names = f"{verdict.best} and {verdict.rival}"
    if not item.stderr > 0 or item.difference == 0:
        return (f"these edits show no difference between {names}",)
    now, what = _limit(models[item.measure])
    if number is None:
        return (f"{names}: no realistic number of {what} decides a difference as small as this",)
    more = max(1, number - now)
    like = f"{what} with kits like these" if what == "editors" else f"{what} like these"
    spent = _spent(more, hours, rate, currency) if what == "editors" else ""
    return (
        f"to decide between {names} by {item.measure} ({p_value(item.p)}): about {more} more"
        f" {like}{spent}, {now + more} in all, find such a difference with {POWER:.0%}"
        " probability",
    )


def _spent(editors: int, hours: float | None, rate: float | None, currency: str | None) -> str:
    """The hours and the money of so many editors, in brackets, where they are known."""
    if not hours:
        return ""
    from assay.results import money_text, time_text

    spent = time_text(60 * editors * hours)
    if rate is not None:
        spent += f", {money_text(editors * hours * rate, currency)}"
    return f" ({spent})"
