"""What a finished estimation could have found, and what more ratings would bring."""

from __future__ import annotations

import numpy as np

from assay.designs.base import design_of
from assay.errors import OptionError, did_you_mean
from assay.estimation.results import Comparison, Difference, Estimates, SystemEstimate
from assay.stats.precision import POWER, Precision, detectable_shift

ROOT_N = ("t", "skew-t")
"""Intervals whose width goes with the standard error."""


def compare_two(
    estimates: Estimates, left: str | None = None, right: str | None = None, *, power: float = POWER
) -> Comparison:
    """Compare two of the estimated systems; without names, the only two there are.

    The power is that of the t test, with the standard error of the difference as estimated. For
    another n it is taken to change as that of a simple random sample does, sqrt((1 - n/N) / n). A
    power computed from the observed difference says how many ratings to plan if that were the
    true one; it is not a second test. For the target new documents ``needed`` is not known.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> two = assay.compare_two(result)
    >>> two.low <= two.difference <= two.high, two.decided == (two.p < 0.05)
    (True, True)
    """
    if not 0 < power < 1:
        raise OptionError("power", power, "is not a probability", "give a number like 0.8")
    item = _pair(estimates, left, right)
    spread = _precision(item, estimates.level)
    needed = None
    # How new documents would change the error is not a matter of ratings alone.
    here = estimates.target == "test-set"
    if here and spread is not None and item.difference != 0:
        needed = max(2, spread.n_for_power(item.difference, power))
    return Comparison(
        left=item.left,
        right=item.right,
        difference=item.difference,
        low=item.low,
        high=item.high,
        stderr=item.stderr,
        p=item.p,
        n=item.n,
        population=item.population,
        decided=item.decided,
        detectable=_detectable(item, estimates.level, power),
        needed=needed,
        everything=here and (needed == item.population or item.difference == 0),
        power=power,
        level=estimates.level,
        design=estimates.design,
        better=estimates.better,
    )


def _pair(estimates: Estimates, left: str | None, right: str | None) -> Difference:
    systems = [item.system for item in estimates.systems]
    if left is None and right is None and len(systems) == 2:
        return estimates.differences[0]
    for name in (left, right):
        if name not in systems:
            raise OptionError(
                "compare", name, f"is not a system{did_you_mean(str(name), systems)}",
                f"name two of {', '.join(systems)}",
            )  # fmt: skip
    for item in estimates.differences:
        if (item.left, item.right) == (left, right):
            return item
        if (item.right, item.left) == (left, right):
            return item.reversed
    raise OptionError("compare", left, "is compared with itself", "name two systems")


def _detectable(item: Difference, level: float, power: float) -> float:
    """The smallest difference that is found with this probability at the n there is."""
    if not item.stderr > 0:
        return item.stderr  # 0 or NaN
    return detectable_shift(item.degrees, level, power) * item.stderr


def _precision(item: Difference | SystemEstimate, level: float) -> Precision | None:
    """The spread that would give this standard error in a simple random sample."""
    if not item.stderr > 0 or item.n >= item.population:
        return None
    sd = item.stderr * np.sqrt(item.n / (1 - item.n / item.population))
    return Precision(item.population, float(sd), level)


def next_steps(estimates: Estimates) -> tuple[str, ...]:
    """What more ratings would bring: the closest call decided, the widest interval halved.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> len(next_steps(assay.estimate(world.test_set, world.rate(drawn), sample=drawn))) > 0
    True
    """
    if estimates.target == "new-documents":
        return _more_documents(estimates)
    if not design_of(estimates.design).error_falls_with_ratings:
        return (
            "rate more documents: ratings of one document are correlated, so the number of"
            " documents decides",
        )
    lines = []
    rated = {item.system: item.n for item in estimates.systems}
    # Where systems were rated apart, the segments they share by chance are no plan.
    open_pairs = [
        item
        for item in estimates.differences
        if not item.decided
        and np.isfinite(item.p)
        and 2 * item.n >= min(rated[item.left], rated[item.right])
    ]
    if open_pairs:
        lines.append(_to_decide(min(open_pairs, key=lambda item: item.p), estimates.level))
    known = [
        item for item in estimates.systems if np.isfinite(item.high - item.low) and item.stderr > 0
    ]
    if known and estimates.interval in ROOT_N:
        lines.append(_to_halve(max(known, key=lambda item: item.high - item.low), estimates.level))
    elif not known and any(item.n < item.population for item in estimates.systems):
        lines.append("rate more: these ratings are too few, or too alike, for an interval")
    return tuple(lines)


def _more_documents(estimates: Estimates) -> tuple[str, ...]:
    """The error goes down with the root of the number of documents, once each has ratings."""
    known = [item for item in estimates.systems if np.isfinite(item.high - item.low)]
    if not known:
        return ("rate more documents: these are too few, or too alike, for an interval",)
    widest = max(known, key=lambda item: item.high - item.low)
    half = (widest.high - widest.low) / 2
    return (
        f"to halve the widest interval ({widest.system}, ±{half:.3g}): about four times as many"
        " documents, rated as these are",
    )


def _to_decide(item: Difference, level: float) -> str:
    names = f"{item.left} and {item.right}"
    spread = _precision(item, level)
    if spread is None or item.difference == 0:
        return f"{names} are equal in these ratings"
    needed = spread.n_for_power(item.difference, POWER)
    if needed <= item.n:
        return f"{names}: the t interval would decide them; the chosen one asks for more certainty"
    if needed >= item.population:
        return (
            f"to decide {names} (closest to it, p = {item.p:.2g}), all {item.population} segments"
            " would have to be rated, if the difference is as large as it looks"
        )
    return (
        f"to decide {names} (closest to it, p = {item.p:.2g}): about {needed - item.n} more"
        f" ratings per system, {needed} in all, find a difference of {abs(item.difference):.3g}"
        f" with {POWER:.0%} probability"
    )


def _to_halve(item: SystemEstimate, level: float) -> str:
    spread = _precision(item, level)
    half = (item.high - item.low) / 2
    goal = f"to halve the widest interval ({item.system}, ±{half:.3g})"
    if spread is None:
        return f"{goal}: rate more; how many, these ratings do not say"
    needed = spread.n_for_half_width(half / 2)
    return f"{goal}: about {max(needed - item.n, 1)} more ratings per system, {needed} in all"
