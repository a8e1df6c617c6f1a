"""When a difference between two systems counts as decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.multiplicity import holm as holm_adjusted


@dataclass(frozen=True, slots=True)
class Rule:
    """Level, sides of the tests, and whether they are corrected for the number of pairs.

    One-sided (koehn2012): each direction of a pair is tested at 1 - level, so that two equal
    systems are told apart twice as often as that. Holm's correction is over both directions of all
    pairs, so that the chance of any false find is at most 1 - level whatever the sides.
    """

    level: float
    sides: int
    holm: bool

    @property
    def alpha(self) -> float:
        """The level of one test in one direction."""
        # 1 - .95 is a little more than .05.
        return round((1 - self.level) / self.sides, 12)

    def decide(self, p: np.ndarray) -> np.ndarray:
        """Whether i is better than j, from the one-sided p of every ordered pair.

        >>> Rule(0.95, 1, False).decide(np.array([[0.5, 0.03], [0.97, 0.5]])).tolist()
        [[False, True], [False, False]]
        """
        if not self.holm:
            return np.asarray(p <= self.alpha)
        i, j = np.triu_indices(len(p), 1)
        adjusted = np.ones_like(p)
        adjusted[i, j] = adjusted[j, i] = self.shown(np.minimum(p[i, j], p[j, i]))
        return np.asarray((adjusted <= round(1 - self.level, 12)) & (p < p.T))

    def shown(self, smaller: np.ndarray) -> np.ndarray:
        """What is printed for pairs whose smaller one-sided p are these."""
        if self.holm:
            return holm_adjusted(np.minimum(1.0, 2 * smaller))
        return np.asarray(np.minimum(1.0, self.sides * smaller))
