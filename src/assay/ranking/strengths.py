"""The true strengths of a pilot's systems, and the share of pairs that more judgments decide.

Estimated strengths lie further apart than the true ones, because errors spread them, and a single
outlier says little about the other systems. So true strengths are drawn from a posterior: most
systems are spread evenly over some width, like the qualities of koehn2012, a few
(:data:`PRIOR_OUTSIDE`) may lie anywhere, and each was observed with its own error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PRIOR_OUTSIDE = 0.1
"""The prior probability that a system is not spread like the others."""
DRAWS = 400
NODES = 200
"""The number of win probabilities that represent those of all pairs in all draws."""
WIDTHS, PLACES = 40, 60
EXTREME_SHARE = 0.05
"""The share of draws, with the closest or the furthest systems, that represents an extreme."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """Draws of the strengths (draws x systems) in units of sigma; each row is a joint draw."""

    values: Floats

    @cached_property
    def nodes(self) -> tuple[Floats, Floats]:
        """Probabilities that the better of two systems wins a judgment, and their weights."""
        i, j = np.triu_indices(self.values.shape[1], 1)
        gap = np.abs(self.values[:, i] - self.values[:, j])
        middle = (np.arange(NODES) + 0.5) / NODES
        return scipy.special.ndtr(np.quantile(gap, middle) / np.sqrt(2)), np.full(NODES, 1 / NODES)

    def ends(self, share: float) -> tuple[Strengths, Strengths]:
        """The draws in which this share of pairs is furthest apart, then those with the closest."""
        i, j = np.triu_indices(self.values.shape[1], 1)
        apart = np.quantile(np.abs(self.values[:, i] - self.values[:, j]), 1 - share, axis=1)
        order = np.argsort(-apart, kind="stable")
        few = max(1, round(EXTREME_SHARE * len(order)))
        return Strengths(self.values[order[:few]]), Strengths(self.values[order[-few:]])

    def pooled_share(self, m: float, c: float, k: int, level: float) -> float:
        """The expected share of pairs that the pooled test finds after m sets of k systems.

        Like :func:`assay.ranking.power.pooled_share`, but for these systems instead of random ones.
        """
        n = self.values.shape[1]
        i, j = np.triu_indices(n, 1)
        signal, v = self._signal, self._screen_variance(k)
        gap = np.abs(signal[:, i] - signal[:, j])
        mean = (v[:, i] + v[:, j]) / 2
        stderr = np.sqrt(2 * m * mean * (k / n + c / (k - 1))) / (m * c * n)
        bar = -scipy.special.ndtri(level)
        rejects = scipy.special.ndtr(gap / stderr - bar) + scipy.special.ndtr(-gap / stderr - bar)
        return float(rejects.mean())

    @cached_property
    def _lead(self) -> Floats:
        """2 p - 1 of every pair of systems: draws x n x n."""
        gap = self.values[:, :, None] - self.values[:, None, :]
        return np.asarray(2 * scipy.special.ndtr(gap / np.sqrt(2)) - 1)

    @cached_property
    def _signal(self) -> Floats:
        return np.asarray(self._lead.mean(axis=2))

    def _screen_variance(self, k: int) -> Floats:
        """The variance of a system's residual sum on a screen, where all share its own output."""
        n = self.values.shape[1]
        off = 1 - np.eye(n)
        fit = self._signal[:, :, None] - self._signal[:, None, :]
        square = ((1 - 2 * self._lead * fit + fit**2) * off).sum(axis=2) / (n - 1)
        t, w = np.polynomial.hermite_e.hermegauss(12)
        level = (fit * off).sum(axis=2) / (n - 1)
        product = np.zeros_like(level)
        for noise, weight in zip(t, w / w.sum(), strict=True):
            beats = (
                2 * scipy.special.ndtr(self.values[:, :, None] + noise - self.values[:, None, :])
                - 1
            )
            product += weight * ((beats * off).sum(axis=2) / (n - 1) - level) ** 2
        return np.asarray((k - 1) * square + (k - 1) * (k - 2) * product)


def draw_strengths(strength: Floats, stderr: Floats, rng: np.random.Generator) -> Strengths:
    """Draw true strengths s' from the posterior, given estimates s with independent errors e.

    With an even spread from a to a + w, the likelihood of (a, w) is the product over systems of
    (1 - o) [Phi((a + w - s)/e) - Phi((a - s)/e)] / w + o / R, with o = PRIOR_OUTSIDE and the full
    range R.
    """
    span = float(np.ptp(strength) + 2 * stderr.max())
    width = np.geomspace(span / 100, span, WIDTHS)[:, None, None]
    a = strength.min() - stderr.max() - width + (span + width) * np.linspace(0, 1, PLACES)[:, None]
    inside = scipy.special.ndtr((a + width - strength) / stderr) - scipy.special.ndtr(
        (a - strength) / stderr
    )
    core, outside = (1 - PRIOR_OUTSIDE) * inside / width, PRIOR_OUTSIDE / span
    # Grid cells grow with the width; the weights make the prior of a and w flat.
    logs = np.log(core + outside).sum(axis=2) + np.log((span + width[:, 0]) * width[:, 0])
    weight = np.exp(logs - logs.max()).ravel()
    chosen = rng.choice(len(weight), DRAWS, p=weight / weight.sum())
    at = np.unravel_index(chosen, logs.shape)
    low, high = a[at], a[at] + width[at[0], 0]
    ends = (
        scipy.special.ndtr((low - strength) / stderr),
        scipy.special.ndtr((high - strength) / stderr),
    )
    place = ends[0] + rng.random((DRAWS, len(strength))) * (ends[1] - ends[0])
    within = strength + stderr * scipy.special.ndtri(np.clip(place, 1e-12, 1 - 1e-12))
    free = strength + stderr * rng.standard_normal((DRAWS, len(strength)))
    own = core[at] / (core[at] + outside)
    return Strengths(np.where(rng.random(own.shape) < own, np.clip(within, low, high), free))
