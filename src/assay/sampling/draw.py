"""Draw a sample."""

from __future__ import annotations

import polars as pl

from assay.errors import InputError
from assay.sampling.budget import segments_for
from assay.sampling.designs import design_name
from assay.stats.random import Rng, seeded
from assay.stats.selection import simple_random
from assay.tables import Design, Sample, TestSet

__all__ = ["sample"]


def sample(
    test_set: TestSet, *, budget: int | str, design: str = "segments", rng: Rng = None
) -> Sample:
    """Draw the segments to show the raters.

    ``budget`` is a number of segments or a share (``"20%"``). The design ``segments`` (SL of
    lo2023) is a simple random sample, the same for all systems: every segment has the inclusion
    probability n/N. ``order`` is a random order in which the segments can be rated: the first k
    of them are a simple random sample too.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget=30, rng=7)
    >>> len(drawn), drawn.design.name
    (30, 'segments')
    """
    name = design_name(design)
    _one_language_pair(test_set)
    population = test_set.segments.height
    n = segments_for(budget, population)
    generator, seed = seeded(rng)
    rows = simple_random(population, n, generator)
    settings = {"n": str(n), "N": str(population)}
    settings |= {} if seed is None else {"seed": str(seed)}
    drawn = test_set.segments.select(test_set.key)[rows].with_columns(
        pl.int_range(1, n + 1, dtype=pl.Int64).alias("order"),
        pl.lit(n / population).alias("probability"),
        pl.lit(str(Design(name, settings))).alias("design"),
    )
    return Sample(drawn)


def _one_language_pair(test_set: TestSet) -> None:
    """A sample is drawn from one test set; several in one table are sampled one by one."""
    if "lp" in test_set.key and test_set.segments["lp"].n_unique() > 1:
        pairs = test_set.segments["lp"].unique(maintain_order=True).to_list()
        raise InputError(
            f"the scores hold {len(pairs)} language pairs ({', '.join(pairs[:5])}...);"
            " draw from one at a time: test_set.split('lp')"
        )
