"""The bootstrap of a mean and of a difference beside scipy.stats.bootstrap: time, width, coverage.

    python -m benchmarks.bootstrap_speed [--draws 100] [--resamples 1000]

A simulated test set of 2,000 segments; simple random samples of 10 and 50 % of them, the same
samples for all, as many resamples for both. The target is the mean of the test set: scipy's
bootstrap knows no finite population, so its intervals do not shrink when much of it is rated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

import assay
from assay.stats.bounds import skew_t_interval, skew_terms
from assay.stats.finite_bootstrap import finite_bootstrap
from assay.stats.intervals import mean_stderr
from assay.stats.random import as_rng, spawn
from benchmarks.claims import claim

LEVEL, SHARES = 0.95, (0.1, 0.5)

Method = Callable[[np.ndarray, int, np.random.Generator], tuple[float, float]]


def scipy_bootstrap(method: str, resamples: int) -> Method:
    def interval(x: np.ndarray, _: int, rng: np.random.Generator) -> tuple[float, float]:
        found = stats.bootstrap(
            (x,), np.mean, n_resamples=resamples, confidence_level=LEVEL, method=method, rng=rng
        ).confidence_interval
        return float(found.low), float(found.high)

    return interval


def assay_bootstrap(resamples: int) -> Method:
    """What ``interval="bootstrap"`` does."""

    def interval(x: np.ndarray, N: int, rng: np.random.Generator) -> tuple[float, float]:
        found = finite_bootstrap(x, N, rng, resamples, LEVEL, studentised=True)
        return found.low, found.high

    return interval


def skewed(x: np.ndarray, N: int, _: np.random.Generator) -> tuple[float, float]:
    terms = skew_terms(x, N)
    found = skew_t_interval(float(x.mean()), mean_stderr(x, N), *terms, len(x) - 1, LEVEL)
    return found.low, found.high


def trial(method: Method, population: np.ndarray, n: int, draws: int) -> tuple[float, float, float]:
    """Milliseconds per interval, mean width, coverage in %."""
    truth, N = population.mean(), len(population)
    spent, widths, right = 0.0, [], []
    for rng in spawn(as_rng(n), draws):
        x = population[rng.permutation(N)[:n]]
        start = time.process_time()
        low, high = method(x, N, rng)
        spent += time.process_time() - start
        widths.append(high - low)
        right.append(low <= truth <= high)
    return 1e3 * spent / draws, float(np.mean(widths)), 100 * float(np.mean(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    scores = assay.simulate(documents=[10] * 200, systems=2, rng=1).scores.mean(axis=2)
    methods = {
        "scipy percentile": scipy_bootstrap("percentile", given.resamples),
        "scipy BCa": scipy_bootstrap("BCa", given.resamples),
        "assay bootstrap": assay_bootstrap(given.resamples),
        "assay skew-t": skewed,
    }
    print(f"{given.resamples} resamples, {given.draws} draws, processor ms, width, coverage %")
    for label, population in {"a mean": scores[0], "a difference": scores[0] - scores[1]}.items():
        for share in SHARES:
            n = round(share * len(population))
            found = {}
            for name, method in methods.items():
                found[name] = trial(method, population, n, given.draws)
                ms, width, coverage = found[name]
                print(
                    f"  {label:13} n = {n:4} {name:17} {ms:7.2f} {width:.3f} {coverage:5.1f}",
                    flush=True,
                )
            report(label, n, len(population), found)


def report(label: str, n: int, N: int, found: dict[str, tuple[float, float, float]]) -> None:
    ours, skew = found["assay bootstrap"], found["assay skew-t"]
    theirs, best = found["scipy percentile"], found["scipy BCa"]
    what = f"interval of {label}, {n} of {N:,} segments"
    claim(
        f"{what}: time of assay's bootstrap against scipy's BCa", ours[0] / best[0], unit="times",
        peer=f"{ours[0]:.1f} ms, scipy BCa {best[0]:.1f}, percentile {theirs[0]:.1f},"
        f" assay skew-t {skew[0]:.2f}",
    )  # fmt: skip
    claim(
        f"{what}: width of assay's bootstrap against scipy's BCa", ours[1] / best[1],
        unit="times",
        peer=f"coverage {ours[2]:.1f} %, scipy {best[2]:.1f} %, skew-t {skew[2]:.1f} %",
    )  # fmt: skip


if __name__ == "__main__":
    main()
