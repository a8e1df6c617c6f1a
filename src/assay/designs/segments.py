"""Single segments: a simple random sample, one inside every stratum, or an interleaved order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.designs.balanced import BalancedPlan
from assay.designs.base import Parameter, SamplingDesign
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.errors import InputError, OptionError
from assay.stats.allocation import capped_shares, largest_remainder, systematic_counts
from assay.stats.selection import interleaved_order, simple_random, within_strata


class Segments(
    SamplingDesign,
    name="segments",
    short={
        "sl": "",
        "docs-prop": "strata:documents",
        "docs-opt": "strata:documents allocation:optimal",
        "metrics-prop": "strata:metrics",
        "metrics-opt": "strata:metrics allocation:optimal",
    },
):
    """Single segments at random: of the whole test set (SL of lo2023), or of every stratum.

    Strata are documents, or bins of similar metric scores (saldias2022, sections 2.1 and 4.1).
    With importance, probabilities are in proportion to it.
    """

    options: ClassVar[Mapping[str, Parameter]] = {
        "strata": Parameter("none", "none, documents or metrics", ("none", "documents", "metrics")),
        "allocation": Parameter("proportional", "how many from each stratum",
                                ("proportional", "optimal", "smoothed")),
        "rounding": Parameter("random", "random or largest (remainder)", ("random", "largest")),
        "bin": Parameter("80", "segments per stratum of metrics", least=1),
    }  # fmt: skip
    sentence = "simple random sampling of segments"
    sources = ("cochran1977",)
    by_segment = True

    @classmethod
    def spelt_out(cls, given: Mapping[str, str]) -> dict[str, str]:
        """Parameters that mean nothing without strata are refused, not repeated."""
        found = super().spelt_out(given)
        if found["strata"] == "none":
            for name, value in given.items():
                if name != "strata":
                    raise OptionError(
                        name, value, "needs strata", "add strata documents or metrics"
                    )
            return {"strata": "none"}
        if found["strata"] == "documents":
            if "bin" in given:
                raise OptionError("bin", given["bin"], "is for strata of metrics", "leave it out")
            found.pop("bin")
        return found

    @property
    def stratified(self) -> bool:
        """Whether it draws inside strata."""
        return self.parameters["strata"] != "none"

    @property
    def simple(self) -> bool:
        """Without strata."""
        return not self.stratified

    @property
    def equal(self) -> bool:
        """Without strata and importance."""
        return self.simple and self.importance is None

    def is_sample(self, count: int) -> bool:
        """Every beginning of a simple random sample, which is in random order."""
        return self.equal and count <= self.sizes[0]

    @property
    def uses_metrics(self) -> bool:
        """For strata of metrics, and to allocate more to strata in which metrics vary more."""
        by_spread = self.stratified and self.parameters["allocation"] != "proportional"
        return self.parameters["strata"] == "metrics" or by_spread

    @property
    def carries(self) -> tuple[str, ...]:
        """The strata with their sizes."""
        return ("stratum", "stratum_start", "stratum_size") if self.stratified else ()

    @property
    def details(self) -> str:
        """The strata, and how many come from each."""
        if not self.stratified:
            return ""
        get = self.parameters
        return f", stratified by {get['strata']} with {get['allocation']} allocation"

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """A simple, weighted or stratified one."""
        if weights is not None:
            if self.stratified:
                raise InputError("importance and strata exclude each other; leave one out")
            flat = np.zeros(population.size)
            return BalancedPlan(population.layout.document, flat, n, 0.0, weights, spread=False)
        if not self.stratified:
            return SegmentsPlan(population.layout, n)
        get = self.parameters
        if get["strata"] == "documents":
            population.need_documents(f"{self.name} with strata of documents", several=False)
            stratum = population.layout.document
        else:
            stratum = metric_bins(population.badness, int(float(get["bin"])))
        sizes = np.bincount(stratum)
        shares = sizes.astype(float)
        if get["allocation"] != "proportional":
            shares = sizes * spreads(population.badness, stratum, get["allocation"] == "smoothed")
        targets = capped_shares(shares, sizes.astype(float), n)
        return StratifiedPlan(stratum, targets, get["rounding"])


@dataclass(frozen=True)
class SegmentsPlan(DrawPlan):
    """A simple random sample of n segments (SL of lo2023): pi = n/N."""

    layout: Layout
    n: int

    def probabilities(self) -> np.ndarray:
        """n/N for every segment."""
        return np.full(self.layout.population, self.n / self.layout.population)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per segment; a single sample comes in random order."""
        return Draws.single(simple_random(self.layout.population, self.n, rng, draws))


@dataclass(frozen=True)
class StratifiedPlan(DrawPlan):
    """A simple random sample inside every stratum (saldias2022, section 2.1).

    ``targets`` are the wanted numbers n_l, not whole in general. With ``random`` rounding they
    are the expectations of the numbers drawn, so pi = n_l / N_l exactly; the strata are put in
    random order first, so that no two are tied together. Largest-remainder rounding is fixed:
    pi is the rounded n_l / N_l, zero in strata that are rounded to nothing.
    """

    stratum: np.ndarray
    targets: np.ndarray
    rounding: str = "random"

    @cached_property
    def sizes(self) -> np.ndarray:
        """N_l, the number of segments in every stratum."""
        return np.bincount(self.stratum, minlength=len(self.targets))

    def probabilities(self) -> np.ndarray:
        """n_l / N_l."""
        counts = self.targets if self.rounding == "random" else largest_remainder(self.targets)
        return np.asarray((counts / np.maximum(self.sizes, 1))[self.stratum])

    def counts(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """How many segments each sample takes from each stratum."""
        if self.rounding != "random":
            return np.tile(largest_remainder(self.targets), (draws, 1))
        order = np.argsort(rng.random((draws, len(self.targets))), axis=1)
        start = rng.random(draws)
        counts = np.empty((draws, len(self.targets)), dtype=np.int64)
        for row in range(draws):
            found = systematic_counts(self.targets[order[row]], start[row : row + 1])[0]
            counts[row, order[row]] = found
        return counts

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in reading order."""
        # Rows may differ by one where the targets do not sum to a whole number.
        return Draws.of(within_strata(self.stratum, self.counts(rng, draws), rng))

    def strata(self) -> np.ndarray:
        """The strata, in their order."""
        return self.stratum


def metric_bins(badness: np.ndarray, size: int) -> np.ndarray:
    """Strata of about ``size`` segments with similar metric scores (saldias2022, section 4.1)."""
    bins = max(1, round(len(badness) / size))
    rank = np.argsort(np.argsort(badness, kind="stable"), kind="stable")
    return np.asarray(rank * bins // len(badness))


def spreads(badness: np.ndarray, stratum: np.ndarray, smoothed: bool) -> np.ndarray:
    """sigma_l for optimal allocation: the spread of the metric scores inside every stratum.

    Smoothed halves the distance to the common spread, so that no stratum is nearly left out.
    """
    counts = np.bincount(stratum)
    means = np.bincount(stratum, badness) / np.maximum(counts, 1)
    squares = np.bincount(stratum, (badness - means[stratum]) ** 2)
    sigma = np.sqrt(squares / np.maximum(counts - 1, 1))
    if not smoothed:
        return np.asarray(sigma)
    pooled = np.sqrt(squares.sum() / max(1, len(badness) - len(counts)))
    return np.asarray((sigma + pooled) / 2)


class Interleaved(SamplingDesign, name="interleaved"):
    """Segments in an order of which every beginning is a sample, to monitor ratings by."""

    sentence = "systematic sampling in an order interleaved by document"
    documents = 1
    rated_in_order = True

    carries = ("stratum", "stratum_start", "stratum_size")  # the documents, with their sizes

    def is_sample(self, count: int) -> bool:
        """Every beginning of the first draw, unless importance made groups of documents."""
        return self.importance is None and count <= self.sizes[0]

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """The first n segments of the order."""
        return InterleavedPlan(population.layout, n)


@dataclass(frozen=True)
class InterleavedPlan(DrawPlan):
    """The first n of an order of all segments in which every beginning is a sample.

    Every document's segments, in random order, stand at equal distances on a circle, each document
    from a random start; reading begins at a random segment and goes once round. Given
    the circle, every segment is equally likely to be the k-th for every k, so pi = n/N exactly for
    every n; and a stretch of the circle has its share of every document, up to about one segment.
    """

    ordered: ClassVar[bool] = True

    layout: Layout
    n: int

    def strata(self) -> np.ndarray:
        """The documents, which every beginning is spread over."""
        return self.layout.document

    def probabilities(self) -> np.ndarray:
        """n/N for every segment."""
        return np.full(self.layout.population, self.n / self.layout.population)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in the order in which to rate."""
        rows = [interleaved_order(self.layout.document, rng)[: self.n] for _ in range(draws)]
        return Draws.single(np.stack(rows))
