"""Honesty: planned looks, any-time verdicts and rankings of equal systems, how often wrong.

    python -m benchmarks.honesty [--runs 2000] [--parts limits,looks,cost,judgments]

Simulated campaigns whose truth is known, 2,000 of each kind unless a row says fewer: the limits of
planned looks, what they cost, the looks themselves (``honesty_looks``), judgments
(``honesty_judgments``). The order with the metrics' help, on real ratings, is
``python -m benchmarks honesty_composite``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from assay.estimation.estimate import estimate
from assay.estimation.looks import usual_sizes
from assay.estimation.monitor import monitor
from assay.sampling.draw import sample
from assay.stats.looks import look_limits
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings
from assay.worlds.simulate import simulate
from benchmarks.claims import claim
from benchmarks.honesty_judgments import judgments
from benchmarks.honesty_looks import looks

PARTS = "limits,looks,cost,judgments"
PUBLISHED = {
    2: (2.963, 1.969),
    3: (3.710, 2.511, 1.993),
    4: (4.333, 2.963, 2.359, 2.014),
    5: (4.877, 3.357, 2.680, 2.290, 2.031),
}
"""Two-sided .05, equal looks; Lan and DeMets (1983) with the spending of O'Brien and Fleming."""


def limits() -> None:
    """The limits beside the published ones."""
    worst = 0.0
    for count, published in PUBLISHED.items():
        found = look_limits(tuple((k + 1) / count for k in range(count)), 0.95)
        print(f"{count} looks: {', '.join(f'{limit:.3f}' for limit in found)}")
        worst = max(worst, float(np.abs(np.array(found) - published).max()))
    claim("limits of two to five looks: largest distance from the published ones", worst,
          goal=0.003)  # fmt: skip


def cost() -> None:
    """A new look after earlier ones, beside one estimation of the same ratings."""
    world = simulate(documents=120, systems=12, rng=1)
    drawn = sample(world.test_set, budget="100%", design="interleaved", rng=7)
    planned = usual_sizes(len(drawn), "ranking")
    total = 12 * world.test_set.segments.height
    for where, more in (
        ("as it is reached", 0),
        ("and, for orientation, all that came in since", 20),
    ):
        frame = world.rate(raters="rater-1").frame
        past = _first(world.test_set, frame, drawn, planned[0])
        now = _first(world.test_set, frame, drawn, planned[1] + more)
        before = monitor(world.test_set, past, sample=drawn, goal="ranking")
        alone = _seconds(lambda now=now: estimate(world.test_set, now, sample=drawn))
        again = _seconds(
            lambda now=now, before=before: monitor(
                world.test_set, now, sample=drawn, goal="ranking", before=before
            )
        )
        claim(f"a new look of 12 systems, {total:,} outputs, {where}", again / alone,
              goal=None if more else 1.5, unit="estimates",
              peer=f"{again:.2f} s, estimate {alone:.2f} s")  # fmt: skip


def _first(test_set: TestSet, frame: pl.DataFrame, drawn: Sample, n: int) -> Ratings:
    rows = drawn.frame.sort("order").head(n).select("doc", "seg")
    return read_ratings(frame.join(rows, on=["doc", "seg"], how="semi"), test_set, better="lower")


def _seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Processor time, the best of several."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--parts", default=PARTS)
    given = parser.parse_args()
    for part in given.parts.split(","):
        match part:
            case "limits":
                limits()
            case "cost":
                cost()
            case "looks" | "judgments":
                for row in {"looks": looks, "judgments": judgments}[part](given.runs):
                    print(row, flush=True)
            case _:
                parser.error(f"no part {part}; there are {PARTS}")


if __name__ == "__main__":
    main()
