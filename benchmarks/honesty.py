"""Planned looks on simulated campaigns: wrong verdicts, power, how early they stop, what they cost.

    python -m benchmarks.honesty [--runs 500] [--parts looks,cost,judgments,composite]

A campaign has 1,420 segments in 142 documents (the size of WMT20 en-de), two systems with skewed
ratings that share how hard a segment is, and a sample of 441 segments, each rated once for both.
The truth is the difference on all 1,420. "Equal" is a difference of exactly 0; one look at the end
finds the small gap in about half of the campaigns and the clear one in about 98 %.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from assay.engine import run
from assay.estimation.estimate import estimate
from assay.estimation.looking import usual_sizes
from assay.estimation.monitor import Monitoring, monitor
from assay.sampling.draw import sample
from assay.stats.looks import look_limits
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_scores
from assay.worlds.simulate import simulate
from benchmarks.claims import claim, skipped

SEGMENTS, DOCUMENTS, RATED = 1420, 142, 441
GAPS = {"equal": 0.0, "small": 0.49, "clear": 1.0}
DESIGNS = ("segments", "interleaved")
SIZES = {"judgments": "runs", "composite": "draws"}
"""What the other parts call the number of their repetitions."""
PUBLISHED = {5: (4.877, 3.357, 2.680, 2.290, 2.031), 2: (2.963, 1.969)}
"""Two-sided .05, equal looks; Lan and DeMets (1983) with the spending of O'Brien and Fleming."""


def rows() -> pl.DataFrame:
    """The outputs of two systems."""
    segments = pl.DataFrame({
        "doc": [f"d{k:03}" for k in np.repeat(np.arange(DOCUMENTS), SEGMENTS // DOCUMENTS)],
        "seg": [f"{k:04}" for k in range(SEGMENTS)],
    })  # fmt: skip
    return pl.concat([segments.with_columns(system=pl.lit(name)) for name in "AB"])


def scores(gap: float, rng: np.random.Generator) -> np.ndarray:
    """Ratings like MQM: many zeros, a long tail, hard segments hard for both."""
    hard = rng.gamma(1.0, 1.0, SEGMENTS)
    x = rng.gamma(0.6, 4.0 * hard, (2, SEGMENTS)).round(1)
    x[1] += x[0].mean() - x[1].mean()
    x[0] += gap
    return np.asarray(x)


def campaign(cell: tuple[str, float], rng: np.random.Generator) -> dict[str, float]:
    """One campaign, looked at five times as planned, and once at the end."""
    design, gap = cell
    frame = rows()
    test_set = read_scores(frame)
    given = frame.with_columns(score=pl.Series(scores(gap, rng).ravel()))
    ratings = read_ratings(given, test_set, better="higher")
    drawn = sample(test_set, budget=RATED, design=design, rng=rng)

    def look(looks: int) -> Monitoring:
        return monitor(test_set, ratings, sample=drawn, goal="ranking", looks=looks)

    five, one = look(5), look(1)
    at = five.items[0].reached
    held = all(abs(seen.estimate - gap) <= seen.half_width for seen in five.looks)
    return {
        "five": float(five.items[0].winner is not None),
        "wrong": float(five.items[0].winner == "B"),
        "one": float(one.items[0].winner is not None),
        "n": float(RATED if at is None else at),
        "held": float(held),
    }


def looks(runs: int) -> None:
    """Error, power and mean n of planned looks, beside one look at the end."""
    for design in DESIGNS:
        found = {}
        for name, gap in GAPS.items():
            cells = [(design, gap)] * runs
            records = list(run(campaign, cells, rng=list(GAPS).index(name), workers=1))
            mean = {key: float(np.mean([row[key] for row in records])) for key in records[0]}
            error = float(np.std([row["five"] - row["one"] for row in records]) / runs**0.5)
            found[name] = mean | {"error": error}
            print(f"{design:12} {name:6} decided {mean['five']:.3f} (one look {mean['one']:.3f},"
                  f" difference ± {error:.4f}), wrong way {mean['wrong']:.4f}, after"
                  f" {mean['n']:.0f} of {RATED}, all intervals held {mean['held']:.3f}",
                  flush=True)  # fmt: skip
        report(design, found, runs)


def report(design: str, found: dict[str, dict[str, float]], runs: int) -> None:
    """What is claimed of one design."""
    null = found["equal"]["five"]
    error = (null * (1 - null) / runs) ** 0.5
    peer = f"{runs:,} campaigns, ± {error:.4f}; one look {found['equal']['one']:.4f}"
    claim(f"equal systems called decided over five planned looks, `{design}`", null, goal=0.06,
          peer=peer)  # fmt: skip
    claim(f"the same, not too seldom, `{design}`", null, goal=0.04, at_most=False, peer=peer)
    for name in ("small", "clear"):
        row = found[name]
        claim(
            f"power lost by five planned looks at a {name} gap, `{design}`",
            100 * (row["one"] - row["five"]), goal=2.0, unit="points",
            peer=f"{row['five']:.3f} against {row['one']:.3f}, ± {100 * row['error']:.2f} points",
        )  # fmt: skip
    claim(f"segments rated until a clear gap is decided, `{design}`",
          found["clear"]["n"] / RATED, goal=0.75, unit="of the plan")  # fmt: skip
    held = min(row["held"] for row in found.values())
    claim(f"repeated intervals of all looks hold together, `{design}`, worst gap", held, goal=0.94,
          at_most=False, peer=f"± {(0.05 * 0.95 / runs) ** 0.5:.4f}")  # fmt: skip


def limits() -> None:
    """The limits beside the published ones."""
    worst = 0.0
    for count, published in PUBLISHED.items():
        found = look_limits(tuple((k + 1) / count for k in range(count)), 0.95)
        print(f"{count} looks: {', '.join(f'{limit:.3f}' for limit in found)}")
        worst = max(worst, float(np.abs(np.array(found) - published).max()))
    claim("limits of five and of two looks: largest distance from the published ones", worst,
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


def other(name: str, runs: int) -> None:
    """A part that stands in a file of its own: so many campaigns, or draws of real ratings."""
    try:
        module = importlib.import_module(f"benchmarks.honesty_{name}")
    except ModuleNotFoundError:
        skipped(f"there is no benchmarks/honesty_{name}.py")
        return
    found = []
    for row in getattr(module, name)(**{SIZES[name]: runs}):
        print(row, flush=True)
        found.append(row)
    if hasattr(module, "report"):  # its claims
        module.report(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--parts", default="looks,cost,judgments,composite")
    given = parser.parse_args()
    parts = given.parts.split(",")
    limits()
    if "looks" in parts:
        looks(given.runs)
    if "cost" in parts:
        cost()
    for name, runs in (("judgments", given.runs), ("composite", max(20, given.runs // 10))):
        if name in parts:
            other(name, runs)


if __name__ == "__main__":
    main()
