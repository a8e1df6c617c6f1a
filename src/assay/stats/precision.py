"""How precise a mean of n out of N segments will be, and the n that a wanted precision takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.intervals import CERTAIN, power_of, smallest, t_quantile


@dataclass(frozen=True, slots=True)
class RaterPart:
    """What an answer owes to who gave it, from segments that two raters or more rated.

    ``variance`` is v, by tasks (:func:`assay.stats.rater_variance.rater_variance`), with its
    ``degrees``; ``noise`` is the variance between raters of single segments, which a second opinion
    halves; ``task`` the segments of a task.
    """

    variance: float
    degrees: float
    noise: float
    task: float = 1.0


THESE_ANSWERS = RaterPart(0.0, float("inf"), 0.0)
"""As if everybody would have answered the same: for what is said of these answers alone."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What decides the precision of a mean of n out of ``population`` segments.

    ``sd`` is that of single ratings, ``opinions`` the (harmonic) mean number of raters of an
    output. With ``raters`` the interval is for raters like these. None where their part is not
    known: then ratings beyond one half of the test set make no interval narrower (that of the half
    is, without metrics, as wide as the one for texts like these with everything rated).
    """

    population: int
    sd: float
    level: float
    effect: float = 1.0
    correlation: float = 0.0
    features: int = 0
    raters: RaterPart | None = None
    opinions: float = 1.0

    def stderr(self, n: np.ndarray) -> np.ndarray:
        """Of the mean: the root of D s^2 (1 + p/n) (1 - n/N) / n + v / (k N).

        s^2 = sd^2 (1 - r^2) less the noise that k opinions take from it. Infinite without degrees.
        """
        return np.asarray(np.sqrt(self._segments(n) + self._raters()))

    def half_width(self, n: np.ndarray) -> np.ndarray:
        """Half the t interval: falls with n, and to 0 only for these answers alone."""
        quantile = np.vectorize(t_quantile, otypes=[float])(0.5 + self.level / 2, self.degrees(n))
        return np.asarray(quantile * self.stderr(n))

    def power(self, n: np.ndarray, gap: float) -> np.ndarray:
        """The probability that the interval of a difference ``gap`` leaves out zero.

        By the noncentral t distribution, both tails.
        """
        with np.errstate(divide="ignore"):
            shift = np.minimum(abs(gap) / self.stderr(n), CERTAIN)
        power = power_of(shift, self.degrees(n), self.level)
        return np.where(np.isinf(self.stderr(n)), 0.0, power)

    def n_for_half_width(self, target: float) -> int:
        """The smallest n whose half-width is at most ``target``, or everything."""
        return smallest(lambda n: float(self.half_width(np.array(n))) <= target, self.population)

    def n_for_power(self, gap: float, power: float) -> int:
        """The smallest n that finds ``gap`` with at least this probability, or everything."""
        return smallest(lambda n: float(self.power(np.array(n), gap)) >= power, self.population)

    def degrees(self, n: np.ndarray) -> np.ndarray:
        """Of the interval: n - 1 - p, joined with those of the raters' part (Satterthwaite)."""
        n = np.asarray(n, dtype=float)
        own = np.asarray(np.maximum(n - 1 - self.features, 1.0))
        if self.raters is None:
            return own
        segments, raters = self._segments(n), self._raters()
        doubled = min(1.0, 2 - 2 / self.opinions) * n / self.raters.task
        known = self.raters.degrees + doubled
        with np.errstate(invalid="ignore"):
            joined = (segments + raters) ** 2 / (segments**2 / own + raters**2 / known)
        return np.asarray(np.where(np.isfinite(joined), np.maximum(joined, 1.0), own))

    def _segments(self, n: np.ndarray) -> np.ndarray:
        """The variance that more segments make smaller."""
        n = np.asarray(n, dtype=float)
        counted = n if self.raters is not None else np.minimum(n, self.population / 2)
        noise = 0.0 if self.raters is None else self.raters.noise * (1 - 1 / self.opinions)
        rest = max(self.sd**2 * (1 - self.correlation**2) - noise, 0.0)
        spread = rest * self.effect * (1 + self.features / n)
        variance = spread * (1 - counted / self.population) / counted
        return np.where(n - 1 - self.features < 1, np.inf, variance)

    def _raters(self) -> float:
        """The variance that only other raters make smaller."""
        if self.raters is None:
            return 0.0
        return self.raters.variance / (self.opinions * self.population)
