"""What more editors would bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.kits.effort_results import EffortDifference
from assay.stats.kit_power import editors_needed

POWER = 0.8
"""The probability of a find that is commonly asked for."""


def next_steps(
    differences: Sequence[EffortDifference],
    editors: Mapping[str, int],
    systems: int,
    level: float,
    *,
    place: bool,
) -> tuple[str, ...]:
    """How many editors decide the closest of the open comparisons, if each has a kit like these.

    ``editors`` are those who have a value, by measure, and ``place`` says whether the documents'
    places are allowed for. The variance behind the standard error is taken to stay, and the
    observed difference for the true one.
    """
    still = [item for item in differences if not item.decided and item.p == item.p]
    if not still:
        return ()
    item = min(still, key=lambda one: one.p)
    seen = editors[item.measure]
    names = f"{item.left} and {item.right}"
    if not item.stderr > 0 or item.difference == 0:
        return (f"{names} are equal as far as these edits show",)
    needed = editors_needed(
        abs(item.difference), variance=item.stderr**2 * seen / 2, engines=systems, level=level,
        power=POWER, place=place,
    )  # fmt: skip
    if needed is None:
        return (f"{names}: no number of editors in sight decides a difference as small as this",)
    more = max(1, needed - seen)
    return (
        f"to decide {names} by {item.measure} (closest to it, p = {item.p:.2g}): about {more} more"
        f" editors with kits like these, {seen + more} in all, find such a difference with"
        f" {POWER:.0%} probability",
    )
