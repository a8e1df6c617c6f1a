"""Two systems compared: their difference, the power behind it, and the segments it would take."""

from __future__ import annotations

from assay.errors import OptionError, did_you_mean
from assay.estimation.estimate import precision_of
from assay.estimation.results import (
    Comparison,
    Difference,
    Estimates,
)
from assay.results import has_note
from assay.stats.intervals import (
    POWER,
)
from assay.stats.power import detectable_shift


def compare_two(
    estimates: Estimates, left: str | None = None, right: str | None = None, *, power: float = POWER
) -> Comparison:
    """Compare two of the estimated systems; without names, the only two there are.

    The power is that of the t test, with the standard error of the difference as estimated. For
    another n it is taken to change as that of a simple random sample does, sqrt((1 - n/N) / n). A
    power computed from the observed difference says how many ratings to plan if that were the
    true one; it is not a second test. Where the error is that of texts ``needed`` is not known.

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
    spread = precision_of(item, estimates)
    needed = None
    # How new documents would change the error is not a matter of ratings alone.
    here = item.basis != "texts"
    if here and spread is not None and item.difference != 0:
        needed = max(2, spread.n_for_power(item.difference, power))
    names = "left right difference low high stderr p n population decided"
    detectable = item.stderr  # 0 or NaN
    if item.stderr > 0:
        detectable *= detectable_shift(item.degrees, estimates.level, power)
    return Comparison(
        **{name: getattr(item, name) for name in names.split()},
        detectable=detectable,
        needed=needed,
        everything=here and (needed == item.population or item.difference == 0),
        power=power,
        level=estimates.level,
        design=estimates.design,
        better=estimates.better,
        holds=not has_note(estimates.notes, "intervals-do-not-hold"),
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
