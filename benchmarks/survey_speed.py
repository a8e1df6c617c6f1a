"""Stratified sampling and estimation beside samplics: the same numbers, and the time they take.

A test set of 10,000 segments in 200 documents, a fifth of every document: drawn by simple random
sampling inside documents, and estimated with the standard error of the stratified mean.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import assay
from assay.designs.base import DesignUnits, find_design
from assay.designs.population import Population
from assay.estimation.kernels import adjusted_means
from benchmarks.claims import claim

DOCUMENTS, LENGTH, SHARE = 200, 50, 0.2


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Processor milliseconds, the best of the repeats."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return 1e3 * min(taken)


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from samplics.estimation import TaylorEstimator
        from samplics.sampling import SampleSelection
        from samplics.utils.types import PopParam, SelectMethod

    world = assay.simulate(documents=[LENGTH] * DOCUMENTS, systems=1, rng=1)
    x, population = world.scores.mean(axis=2)[0], Population(world.test_set)
    stratum, rng = population.layout.document, np.random.default_rng(1)
    each = round(SHARE * LENGTH)
    design = find_design("docs-prop")
    plan = design.plan(population, each * DOCUMENTS)
    units = DesignUnits.of_plan(design, plan, population)
    drawn = plan.draw(rng, 1).masks(len(x))
    at = np.flatnonzero(drawn[0])

    def their_draw(method: SelectMethod) -> object:
        return SampleSelection(method=method, strat=True, wr=False).select(
            samp_unit=np.arange(len(x)), samp_size=dict.fromkeys(range(DOCUMENTS), each),
            stratum=stratum,
        )  # fmt: skip

    def their_estimate() -> TaylorEstimator:
        found = TaylorEstimator(PopParam.mean)
        found.estimate(
            y=x[at], samp_weight=np.full(len(at), 1 / SHARE), stratum=stratum[at],
            fpc=dict.fromkeys(range(DOCUMENTS), 1 - SHARE),
        )  # fmt: skip
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random, regular = (
            best(lambda method=method: their_draw(method))
            for method in (SelectMethod.srs_wor, SelectMethod.sys)
        )
        theirs, their_time = their_estimate(), best(their_estimate)
    ours = adjusted_means(x, drawn, units, "mean")
    our_draw = best(lambda: plan.draw(rng, 1))
    our_time = best(lambda: adjusted_means(x, drawn, units, "mean"))
    off = max(abs(ours.center[0] / theirs.point_est - 1), abs(ours.stderr[0] / theirs.stderror - 1))
    what = f"{len(at):,} of {len(x):,} segments in {DOCUMENTS} strata"
    claim(f"{what}: mean and standard error differ from samplics' by", off, goal=1e-9)
    claim(
        f"{what}: estimating, times faster than samplics", their_time / our_time, unit="times",
        peer=f"{our_time:.2f} ms, samplics {their_time:.1f} ms",
    )  # fmt: skip
    claim(
        f"{what}: drawing, times faster than samplics", random / our_draw, unit="times",
        peer=f"{our_draw:.2f} ms, samplics {random:.1f} ms (systematic {regular:.1f} ms)",
    )  # fmt: skip


if __name__ == "__main__":
    main()
