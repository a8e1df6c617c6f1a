"""Claims: a plan of judgments takes at most 50 ms, and its approximation of the expected share of
significant pairs is within 2 % of the exact sum.

The judgments that the plan asks for are put into the exact formula: what share do they reach?
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np

import assay
from assay.ranking.power import judgments_for, sign_share, sign_share_exact
from benchmarks.claims import claim

SYSTEMS, SIGMAS, SETS = (5, 8, 15, 30), (5.0, 7.0, 10.0, 12.0, 20.0), (2, 3, 5)
SHARES = (0.5, 0.7, 0.8, 0.9)


def times() -> np.ndarray:
    """Milliseconds of 80 plans, best of three each."""
    taken = []
    for systems, sigma, share in product(SYSTEMS, SIGMAS, SHARES):
        runs = []
        for repeat in range(3):
            # A sigma never asked for before: nothing is remembered from the last plan.
            own = sigma + share / 1000 + systems / 100_000 + repeat / 10_000_000
            start = time.perf_counter()
            assay.plan_judgments(systems, sigma=own, significant=share)
            runs.append(time.perf_counter() - start)
        taken.append(1e3 * min(runs))
    return np.array(taken)


def share_error() -> float:
    """Largest relative error of the share at given judgments, in %."""
    off = [
        sign_share(n, sigma, J, per_set=k) / sign_share_exact(n, sigma, J, per_set=k) - 1
        for n, sigma, k in product(SYSTEMS, SIGMAS, SETS)
        for J in np.geomspace(1000, 300_000, 12)
    ]
    return 100 * float(np.abs(off).max())


def plan_error(jumps: bool) -> float:
    """Largest relative error of the share that the planned judgments reach, in %.

    With all systems on every screen the exact share jumps where one more win becomes necessary,
    and may pass the target without ever being equal to it.
    """
    off = [
        sign_share_exact(n, sigma, judgments_for(share, n, sigma, per_set=k), per_set=k) / share - 1
        for n, sigma, k in product(SYSTEMS, SIGMAS, SETS)
        if (n == k) == jumps
        for share in SHARES
    ]
    return 100 * float(np.abs(off).max())


def main() -> None:
    assay.plan_judgments(15, sigma=10.0)  # imports
    taken = times()
    claim(
        f"plan of judgments, slowest of {len(taken)}", taken.max(), goal=50, unit="ms",
        peer=f"median {np.median(taken):.0f} ms",
    )  # fmt: skip
    what = "planner against the exact sum, largest relative error of the share of significant pairs"
    claim(f"{what} in 720 campaigns", share_error(), goal=2, unit="%")
    claim(f"{what} that 220 plans ask for", plan_error(False), goal=2, unit="%")
    claim(f"{what}, all systems on every screen, where shares jump", plan_error(True), unit="%")


if __name__ == "__main__":
    main()
