"""Claims: among 100,000 pieces whose features are known, 10 kits of 3 are found in under 10 s and
10 kits of 6 in under 60 s, in under 1 GB, while trying all sets of 3 out of 200 pieces already
takes longer than the search among as many takes for the answer.
"""

from __future__ import annotations

from benchmarks.claims import claim
from benchmarks.measure import measure

SETUP = """
import numpy as np
import assay
from itertools import combinations
from assay.kits.pieces import pieces_from_features
rng = np.random.default_rng(1)
points = rng.{law}(size=({count}, 5))
pieces = pieces_from_features(points, words=rng.integers(480, 640, size={count}).tolist())
"""
SEARCH = "assay.find_kits(pieces, size={size}, count={kits}, rng=1)"
# The authors' way: go through all sets and check every pair of each.
ALL_SETS = """
near = np.linalg.norm(points[:, None] - points[None], axis=2).tolist()
best = min(
    combinations(range(len(points)), 3),
    key=lambda kit: max(near[a][b] for a, b in combinations(kit, 2)),
)
"""


def main() -> None:
    for law in ("normal", "uniform"):
        for size, limit in ((3, 10), (6, 60)):
            setup = SETUP.format(law=law, count=100_000)
            cost = measure(SEARCH.format(size=size, kits=10), setup, repeats=1)
            what = f"10 kits of {size} among 100,000 pieces, {law} features"
            claim(f"{what}: time", cost.seconds, goal=limit, unit="s")
            claim(f"{what}: memory", cost.mebibytes * 2**20 / 1e6, goal=1000, unit="MB")
    setup = SETUP.format(law="normal", count=200)
    ours = measure(SEARCH.format(size=3, kits=1), setup)
    theirs = measure(ALL_SETS, setup, repeats=1)
    claim(
        "1 kit of 3 among 200 pieces, with its percentile: times faster than trying all sets",
        theirs.seconds / ours.seconds, goal=1, at_most=False, unit="times",
        peer=f"{ours.seconds:.2f} s, a plain loop over all sets {theirs.seconds:.2f} s",
    )  # fmt: skip


if __name__ == "__main__":
    main()
