"""What decides how precise a campaign will be, and what there is to spend shared out among it.

Where there is no pilot, scores and raters vary as they did in published campaigns. Measured with
:func:`assay.planning.pilot.read_pilot` on data with several raters for each output: ESA of WMT23
en-de (Kocmi et al. 2024, two rounds) and MQM of WMT20 en-de and zh-en (Freitag et al. 2021) and of
WMT23 en-de (Riley et al. 2024), three raters each. Standard deviations of single ratings within a
system were 18.6 of 100 points (ESA) and 3.2, 5.9 and 6.4 (MQM); of differences on a segment, both
systems rated by one rater, .92, .66 and .84 times as much. What raters differ by in differences was
.87 to 1.3 times the variance of these by tasks, .65 to .71 by single segments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from assay.errors import OptionError, did_you_mean
from assay.estimation.results import UNKNOWN_REACH, Precision
from assay.results import Costs, Note

LEAST_LEFT = 0.01
"""The part of the variance that is never put down to raters."""


@dataclass(frozen=True, slots=True)
class RaterPart:
    """What an answer owes to who gave it, from outputs that two raters or more rated.

    ``variance`` is v, by ``tasks``, with its ``degrees``; ``noise`` is the same by single segments,
    which the sd holds already; ``task`` the outputs of a system in a task. ``pool`` is the variance
    of a score over other raters as a whole, who may be stricter or milder.
    """

    variance: float
    degrees: float
    noise: float
    task: float = 1.0
    tasks: int = 0
    pool: float = 0.0
    pool_degrees: float = 1.0


class Spread(NamedTuple):
    """How scores, or differences, of a test set vary; ``sd`` is that of single ratings.

    ``correlation`` is that of metrics with single ratings, ``opinions`` the (harmonic) mean number
    of raters of an output. ``raters`` is None where nothing tells what they differ by.
    """

    population: int
    sd: float
    level: float
    effect: float = 1.0
    correlation: float = 0.0
    features: int = 0
    raters: RaterPart | None = None
    opinions: float = 1.0
    alike: float = 0.0
    """The correlation of two segments of the test set: that inside documents, by chance met."""
    documents: int | None = None

    def precision(self, n: int) -> Precision:
        """The precision of n segments, raters doing tasks as long as those that v comes from.

        The variance is D s^2 (1 - r^2) (1 + p/n) (1 - n/N) / n + w / k with s^2 = sd^2 less the
        noise u that k opinions take from it, and w = v/N + (1/n - 1/N) (v - u) as in `estimate`;
        that of scores also has what raters like these may be stricter by as a whole.
        """
        if self.raters is None:
            return Precision(
                self.population, self.sd, self.level, self.effect, self.correlation, self.features,
                reach=UNKNOWN_REACH, alike=self.alike, documents=self.documents,
            )  # fmt: skip
        k, v, u = self.opinions, self.raters.variance, self.raters.noise
        # Raters may differ by more than all scores do; something is left of these all the same.
        rest = max(self.sd**2 - u * (1 - 1 / k), LEAST_LEFT * self.sd**2)
        explained = min((self.correlation * self.sd) ** 2, 0.99 * rest)
        beyond = v / self.population + (1 / n - 1 / self.population) * max(v - u, 0.0)
        twice = min(1.0, 2 - 2 / k) * n / self.raters.task
        parts = np.array([beyond / k, self.raters.pool])
        squares = parts**2 / (self.raters.degrees + twice, self.raters.pool_degrees)
        floor = float(parts.sum())
        return Precision(
            self.population, float(np.sqrt(rest)), self.level, self.effect,
            float(np.sqrt(explained / rest)), self.features, floor=float(np.sqrt(floor)),
            floor_degrees=floor**2 / float(squares.sum()) if floor > 0 else np.inf,
        )  # fmt: skip

    def half_width(self, n: int) -> float:
        """Half the interval of n segments."""
        return float(self.precision(n).half_width(np.array(n)))

    def power(self, n: int, gap: float) -> float:
        """The probability that n segments find a gap."""
        return float(self.precision(n).power(np.array(n), gap))

    def rated_by(self, opinions: float) -> Spread:
        """The same with another number of raters."""
        return self._replace(opinions=opinions)


SCALES: dict[str, tuple[float, float]] = {
    "esa": (0, 100), "da": (0, 100), "scale": (0, 100), "sqm": (0, 6), "xsts": (1, 5),
}  # fmt: skip
"""Protocols whose ratings are points of a scale, with the usual one."""
SCALE_SD, MQM_SD = 0.186, 5.5
"""Of single ratings within a system: as a share of the scale, and in points of MQM."""
PAIR_SD = 0.85
"""The sd of differences, of that of scores, where one rater rates both systems."""
BY_TASKS, BY_SEGMENTS = 1.1, 0.7
"""The variance between raters, of that of single ratings."""
DOUBLED_TASKS, TASK_SEGMENTS = 50, 5.0
"""Doubled tasks behind what is known of raters, and segments in each."""


class TypicalSpread(NamedTuple):
    """Standard deviations of single ratings and of their differences, and what raters add."""

    sd: float
    pair_sd: float
    raters: RaterPart
    pair_raters: RaterPart
    note: Note


def raters_beside(sd: float) -> RaterPart:
    """What raters usually differ by, where single ratings (or differences) have this sd."""
    square = sd**2
    return RaterPart(
        BY_TASKS * square,
        DOUBLED_TASKS * TASK_SEGMENTS,
        BY_SEGMENTS * square,
        task=TASK_SEGMENTS,
        tasks=DOUBLED_TASKS,
    )


def typical_spread(protocol: str, scale: tuple[float, float] | None = None) -> TypicalSpread:
    """What is usual with a protocol of ratings, on its scale or another.

    >>> spread = typical_spread("esa")
    >>> round(spread.sd, 1), round(spread.pair_sd, 1)
    (18.6, 15.8)
    """
    if protocol == "mqm":
        sd, where = MQM_SD, "MQM of WMT20 and WMT23"
    elif protocol in SCALES:
        low, high = scale or SCALES[protocol]
        sd = SCALE_SD * (high - low)
        where = f"ESA of WMT23, for a scale from {low:g} to {high:g}"
    else:
        known = ["mqm", *SCALES]
        raise OptionError(
            "protocol", protocol, f"has no ratings to plan{did_you_mean(protocol, known)}",
            f"choose from {', '.join(known)}; plan judgments and editors by their own commands",
        )  # fmt: skip
    pair = PAIR_SD * sd
    note = Note(
        "typical-spread",
        f"no pilot: sd {sd:.3g} (differences: {pair:.3g}) is taken from published campaigns"
        f" ({where}). Yours may be 1.5 times as large; plan again once some segments are rated",
    )
    return TypicalSpread(sd, pair, raters_beside(sd), raters_beside(pair), note)


OVERLAPS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Second opinions to compare, as a share of the outputs rated; 2 are two more on each."""
TELLING_OVERLAP = 0.1
"""The overlap that makes what raters differ by known."""
ABOUT_AS_GOOD = 1.03
"""Half-widths that differ by less are about the same: a pilot cannot tell them apart."""


@dataclass(frozen=True, slots=True)
class Split:
    """What the same ratings bring if some go to second opinions.

    ``overlap`` is the share of the outputs rated once more (2: twice more); ``segments`` those
    that the ratings are enough for. The ``best`` has the narrowest interval; of equals, the one
    with the fewest second opinions.
    """

    overlap: float
    segments: int
    ratings: float
    half_width: float
    power: float | None
    minutes: float | None
    money: float | None
    best: bool


def opinions_of(overlap: float) -> float:
    """The harmonic mean number of raters where a share of outputs is rated once more.

    >>> opinions_of(0.0), opinions_of(1.0), round(opinions_of(0.1), 3), opinions_of(2.0)
    (1.0, 2.0, 1.053, 3.0)
    """
    whole = int(overlap)
    part = overlap - whole
    return 1 / ((1 - part) / (whole + 1) + part / (whole + 2))


def segments_for(ratings: float, per_segment: float, population: int) -> int:
    """The segments that so many ratings are enough for; a hair short is enough."""
    return min(population, int(ratings / per_segment + 1e-9))


def share_out(
    ratings: float, spread: Spread, systems: int, pay: Costs, *, gap: float | None,
    overlaps: Sequence[float] = OVERLAPS,
) -> tuple[Split, ...]:  # fmt: skip
    """New segments against second opinions for the same number of ratings of all systems.

    Empty where it is not known what raters differ by.
    """
    if spread.raters is None:
        return ()
    rows = []
    for overlap in overlaps:
        per_segment = systems * (1 + overlap)
        n = segments_for(ratings, per_segment, spread.population)
        rated = spread.rated_by(opinions_of(overlap))
        if n < 2 or not math.isfinite(width := rated.half_width(n)):
            continue
        spent = n * per_segment
        power = None if gap is None else rated.power(n, gap)
        rows.append(Split(
            overlap, n, spent, width, power, pay.minutes(spent), pay.money(spent), best=False
        ))  # fmt: skip
    narrowest = min((row.half_width for row in rows), default=0.0)
    chosen = next((k for k, row in enumerate(rows) if row.half_width == narrowest), None)
    return tuple(replace(row, best=k == chosen) for k, row in enumerate(rows))
