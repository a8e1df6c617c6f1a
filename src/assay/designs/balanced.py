"""Segments spread evenly over metrics and documents, bad-looking ones more often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.designs.base import DesignUnits, Parameter, SamplingDesign, sums_of_cells
from assay.designs.plan import DrawPlan, Draws
from assay.designs.population import Population
from assay.stats.allocation import capped_shares
from assay.stats.pivotal import pivotal

if TYPE_CHECKING:
    from assay.designs.base import DesignUnits


class Balanced(SamplingDesign, name="balanced"):
    """Segments spread evenly over metrics and documents by the local pivotal method.

    Bad-looking segments are drawn more often where metrics agree on them.
    """

    options: ClassVar[Mapping[str, Parameter]] = {
        "slope": Parameter(
            "auto", "how much more often bad-looking segments are drawn; auto: as a history tells,"
            " else 1 where metrics agree, else 0", least=0, whole=False,
        ),
    }  # fmt: skip
    sentence = "sampling that is balanced on the automatic metrics (local pivotal method)"
    sources = ("grafstrom2012",)
    metrics = True
    by_segment = True

    skew_correction = True

    @property
    def carries(self) -> tuple[str, ...]:
        """The positions; a topped-up sample has none, as it is no longer spread evenly."""
        return () if "parts" in self.parameters else ("position",)

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """The variance between neighbours, if their positions are known."""
        if units.position is None:
            return super().variance(e, drawn, units)
        found = neighbour_variance(e, drawn, units.pi, units.position, units.document)
        return found, np.maximum(drawn.sum(axis=1) - 1.0, 1.0)

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """A plan that prefers bad-looking segments if evidence shows that they vary more."""
        flat = np.ones(population.size) if weights is None else weights
        given = self.parameters["slope"]
        slope = population.slope if given == "auto" else float(given)
        return BalancedPlan(population.layout.document, population.position, n, slope, flat)


@dataclass(frozen=True)
class BalancedPlan(DrawPlan):
    """Unequal probabilities, spread by the local pivotal method over metrics and documents.

    Segments with a high predicted ``badness`` are drawn more often, because their ratings vary
    more: pi, at most 1, is proportional to ``weights`` * (1 + slope * q), with q the rank of the
    badness in 0..1.
    """

    document: np.ndarray
    badness: np.ndarray
    n: int
    slope: float
    weights: np.ndarray
    spread: bool = True
    """Whether the sample is spread over the badness."""

    def positions(self) -> np.ndarray | None:
        """The positions over which the sample is spread."""
        return self.badness if self.spread else None

    @cached_property
    def _pi(self) -> np.ndarray:
        rank = np.argsort(np.argsort(self.badness, kind="stable"), kind="stable")
        q = rank / max(1, len(rank) - 1)
        share = self.weights * (1 + self.slope * q)
        return capped_shares(share, np.ones(len(share)), float(self.n))

    def probabilities(self) -> np.ndarray:
        """Proportional to weight and predicted badness, at most 1."""
        return self._pi

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in reading order."""
        return Draws.of(pivotal(self._pi, self.badness, self.document, rng, draws))


def neighbour_variance(
    e: np.ndarray, drawn: np.ndarray, pi: np.ndarray, position: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """The variance of spatially balanced samples: every drawn unit against its nearest neighbour.

    1/2 sum_i (1 - pi_i) (e_i/pi_i - e_j(i)/pi_j(i))^2 / (sum 1/pi)^2 (Grafstrom and Schelin 2014).
    Unit j(i) is the nearest drawn one by the distance of the design: (difference in position)^2,
    plus 1 across groups. Such samples vary less than all residuals, as neighbours represent each
    other.
    """
    samples, units, nearest = _nearest_drawn(drawn, position, group)
    shape = (len(drawn), 1)
    gap = e[samples, units] / pi[units] - e[samples, nearest] / pi[nearest]
    spread = 0.5 * sums_of_cells(samples, samples * 0, (1 - pi[units]) * gap**2, shape)[:, 0]
    found = spread / np.maximum(drawn @ (1 / pi), 1e-300) ** 2
    return np.where(drawn.sum(axis=1) > 1, found, np.nan)


def _nearest_drawn(
    drawn: np.ndarray, position: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample numbers, their units, and the nearest other unit of the same sample.

    The nearest unit is adjacent in position, among all units or within the group, so there are four
    candidates.
    """
    best = np.full(drawn.shape, np.inf)
    nearest = np.zeros(drawn.shape, dtype=np.int64)
    for order, inside in (
        (np.lexsort((position, group)), True),
        (np.argsort(position, kind="stable"), False),
    ):
        samples, places = np.nonzero(drawn[:, order])
        units = order[places]
        for step in (1, -1):
            other = np.roll(units, step)
            together = np.roll(samples, step) == samples
            distance = (position[units] - position[other]) ** 2
            same = group[units] == group[other]
            distance = np.where(together & (same | (not inside)), distance + ~same, np.inf)
            distance[units == other] = np.inf
            closer = distance < best[samples, units]
            best[samples[closer], units[closer]] = distance[closer]
            nearest[samples[closer], units[closer]] = other[closer]
    samples, units = np.nonzero(drawn)
    alone = np.isinf(best[samples, units])
    found = np.where(alone, units, nearest[samples, units])
    return samples, units, found
