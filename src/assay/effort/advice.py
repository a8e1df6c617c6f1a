"""What more editors would bring, and what a comparison hangs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.effort.model import EffortModel
from assay.effort.results import EffortDifference
from assay.effort.verdict import Verdict
from assay.results import Note, p_value
from assay.stats.intervals import POWER, detectable_shift, smallest
from assay.stats.reml import detectable_gap, editors_needed

MOST_DOCUMENTS = 10_000
"""Advice never asks for more documents than this."""


def needed_to_decide(
    differences: Sequence[EffortDifference],
    models: Mapping[str, EffortModel],
    level: float,
    *,
    place: bool,
) -> list[int | None]:
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
    differences: Sequence[EffortDifference],
    models: Mapping[str, EffortModel],
    needed: Sequence[int | None],
    level: float,
    *,
    place: bool,
) -> list[Note]:
    """Differences that hang on one editor, and gaps too small for so few editors."""
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
    verdict: Verdict | None,
    differences: Sequence[EffortDifference],
    models: Mapping[str, EffortModel],
    needed: Sequence[int | None],
    *,
    hours: float | None,
    rate: float | None,
    currency: str | None,
) -> tuple[str, ...]:
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
        f"to decide {names} by {item.measure} ({p_value(item.p)}): about {more} more {like}{spent},"
        f" {now + more} in all, find such a difference with {POWER:.0%} probability",
    )


def _spent(editors: int, hours: float | None, rate: float | None, currency: str | None) -> str:
    """The hours and the money of so many editors, in brackets, where they are known."""
    if not hours:
        return ""
    spent = f"{editors * hours:,.3g} h"
    if rate is not None:
        spent += f", {money(editors * hours * rate, currency)}"
    return f" ({spent})"


def money(amount: float, currency: str | None) -> str:
    """An amount of money with its currency.

    >>> money(20.667, "EUR"), money(7.9, None)
    ('20.67 EUR', '7.90')
    """
    return f"{amount:,.2f}" + (f" {currency}" if currency else "")
