"""What a sample says of itself: how much was drawn, how, and whether it mirrors the test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.designs.population import Population
from assay.designs.snippets import TilesPlan
from assay.designs.units import need_population
from assay.errors import InputError
from assay.results import result_dict, signature
from assay.sampling.effect import design_effect
from assay.sampling.representation import (
    Share,
    context_segments,
    domain_shares,
    length_shares,
    position_shares,
    vocabulary_share,
)
from assay.sampling.stability import metric_scores
from assay.tables.sample import Design, Sample
from assay.tables.test_set import TestSet

EFFECT_DRAWS = 500
"""Samples behind the predicted design effect: its error is about 5 %."""


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """The size of a sample, its probabilities, and how it represents the test set.

    ``outputs`` are the translations to be rated; ``distinct_outputs`` counts identical ones of
    several systems once, as they need rating only once. ``unreachable`` is the share of segments
    that could never be drawn; ``design_effect`` the variance of system differences that the
    metrics predict, relative to a simple random sample of the same size; ``size_sd`` the standard
    deviation of n over draws, where it is not fixed and known exactly. Representation and
    context are averages over systems where every system has a sample of its own.
    """

    n: int
    population: int
    design: str
    parameters: str
    matched: bool
    seed: int | None
    min_probability: float
    max_probability: float
    unreachable: float | None
    design_effect: float | None
    size_sd: float | None
    snippets: int
    outputs: int
    distinct_outputs: int | None
    context_segments: float
    length_bins: tuple[Share, ...]
    domains: tuple[Share, ...]
    positions: tuple[Share, ...]
    vocabulary: float | None

    @property
    def signature(self) -> str:
        """How the sample was drawn, in one line."""
        brief = Design.parse(self.parameters).brief
        return signature(brief, n=f"{self.n}/{self.population}", seed=self.seed)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay sample``."""
        names = [name for name in self.__slots__ if name != "kind"]
        return result_dict(
            "sample", self.signature, **{name: getattr(self, name) for name in names}
        )


def summarise(test_set: TestSet, sample: Sample) -> SampleSummary:
    """Describe a sample drawn from this test set.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="25%", rng=7)
    >>> summary = summarise(world.test_set, drawn)
    >>> summary.design, summary.matched, [share.name for share in summary.length_bins][:2]
    ('snippets', True, ['0-9', '10+'])
    """
    population = Population(test_set)
    layout = population.layout
    masks = _masks(test_set, sample)
    frame = sample.frame
    sizes = [int(mask.sum()) for mask in masks]
    owner = ["system", "snippet"] if not sample.matched else ["snippet"]
    probability = frame["probability"].to_numpy()
    outputs, distinct = _outputs(test_set, sample)
    unreachable, effect, spread = _predicted(population, sample)
    context = 0.0
    lengths: tuple[Share, ...] = ()
    places: tuple[Share, ...] = ()
    if test_set.has_documents:
        context = float(np.mean([context_segments(layout, mask) for mask in masks]))
        lengths = _mean_shares([length_shares(layout, mask) for mask in masks])
        places = _mean_shares([position_shares(layout, mask) for mask in masks])
    return SampleSummary(
        n=round(float(np.mean(sizes))),
        population=population.size,
        design=sample.design.name,
        parameters=str(sample.design),
        matched=sample.matched,
        seed=sample.design.seed,
        min_probability=float(probability.min()),
        max_probability=float(probability.max()),
        unreachable=unreachable,
        design_effect=effect,
        size_sd=spread,
        snippets=frame.select(owner).n_unique() if "snippet" in frame.columns else len(frame),
        outputs=outputs,
        distinct_outputs=distinct,
        context_segments=context,
        length_bins=lengths,
        domains=_mean_shares([domain_shares(test_set, mask) for mask in masks]),
        positions=places,
        vocabulary=_mean([vocabulary_share(test_set, mask) for mask in masks]),
    )


def _predicted(
    population: Population, sample: Sample
) -> tuple[float | None, float | None, float | None]:
    """Unreachable share, design effect and spread of the size; None where they are not known."""
    try:
        design = design_of(sample.design)
        need_population(design, population.test_set)
        sizes = design.sizes
    except InputError:
        return None, None, None
    weights = population.importance(design.importance)
    plans = [design.plan(population, n, weights) for n in sizes]
    missed = np.prod([1 - plan.probabilities() for plan in plans], axis=0)
    unreachable = float((missed >= 1).mean())
    tiles = plans[0] if len(plans) == 1 else None
    spread = tiles.size_sd() if isinstance(tiles, TilesPlan) else None
    test_set = population.test_set
    whole = sizes[0] >= population.size
    if whole or len(plans) > 1 or len(test_set.systems) < 2 or not sample.matched:
        return unreachable, None, spread
    effects = []
    for name in test_set.metrics:
        if np.isfinite(test_set.matrix(name)).any(axis=1).sum() > 1:
            scores = metric_scores(test_set, name)[1]
            if not np.ptp(scores - scores[0], axis=1).any():
                continue  # the systems do not differ, so there is no difference to speak of
            rng = np.random.default_rng(0)  # a prediction, not a draw: always the same
            draws = EFFECT_DRAWS if plans[0].contiguous else EFFECT_DRAWS // 5
            effects.append(
                design_effect(scores, plans[0], sizes[0], rng, draws, weighted=True).ratio
            )
    return unreachable, float(np.mean(effects)) if effects else None, spread


def _masks(test_set: TestSet, sample: Sample) -> list[np.ndarray]:
    """What is drawn, once for a matched sample and once per system otherwise."""
    drawn = sample.frame.select(
        *(() if sample.matched else ("system",)), *test_set.key, drawn=pl.lit(True)
    )
    segments = test_set.segments.select(test_set.key)
    parts = [drawn] if sample.matched else drawn.partition_by("system", maintain_order=True)
    found = []
    for part in parts:
        here = segments.join(part, on=list(test_set.key), how="left", maintain_order="left")
        found.append(here["drawn"].fill_null(False).to_numpy())
    return found


def _outputs(test_set: TestSet, sample: Sample) -> tuple[int, int | None]:
    """How many outputs are to be rated, and how many different ones, where texts tell."""
    key = list(test_set.key) if sample.matched else ["system", *test_set.key]
    outputs = test_set.frame.join(sample.frame.select(key), on=key, how="semi")
    if "target" not in outputs.columns:
        return outputs.height, None
    return outputs.height, outputs.select(*test_set.key, "target").n_unique()


def _mean_shares(tables: Sequence[Sequence[Share]]) -> tuple[Share, ...]:
    return tuple(
        Share(rows[0].name, rows[0].full, float(np.mean([row.sample for row in rows])))
        for rows in zip(*tables, strict=True)
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
