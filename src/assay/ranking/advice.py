"""What more judgments or ratings would bring."""

from __future__ import annotations

from collections.abc import Sequence

from scipy import special

from assay.ranking.results import PairComparison

POWER = 0.8
"""The probability of a find that is commonly asked for."""
FAR = 100
"""A campaign so many times as large is no advice."""


def next_steps(
    comparisons: Sequence[PairComparison], number: int, kind: str, *, level: float, sides: int
) -> tuple[str, ...]:
    """How many more decide the closest of the open pairs, if they are shared out as these were.

    z grows with the root of the number; a pair is found with probability ``POWER`` where its
    expected z is that far above what decides. This takes the observed difference for the true one.

    >>> pair = PairComparison("A", "B", 60, 45, 0, 0.0716, False, None)
    >>> next_steps([pair], 105, "judgments", level=0.95, sides=1)
    ('to decide A and B (closest to it, p = 0.072): about 198 more judgments of all systems, ...)
    """
    still = [item for item in comparisons if not item.decided and item.p == item.p]
    if not still:
        return ()
    item = min(still, key=lambda pair: pair.p)
    z = float(special.ndtri(1 - min(item.p, 1.0) / sides))
    goal = float(special.ndtri(1 - (1 - level) / sides) + special.ndtri(POWER))
    names = f"{item.left} and {item.right}"
    if z <= goal / FAR**0.5:
        return (
            f"the closest call is {names} (p = {item.p:.2g}): no number of {kind} in sight decides"
            " it, if the difference is as small as it looks",
        )
    more = round(number * ((goal / z) ** 2 - 1))
    return (
        f"to decide {names} (closest to it, p = {item.p:.2g}): about {more:,} more {kind} of all"
        f" systems, shared out as these {number:,}, find such a difference with {POWER:.0%}"
        " probability",
    )
