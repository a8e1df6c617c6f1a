"""What decides how precise a campaign will be: segments, raters, metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.estimation.results import UNKNOWN_REACH, Precision

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
