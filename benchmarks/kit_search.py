"""Claims: among 100,000 pieces whose features are known, 10 kits of 3 are found in under 10 s and
10 kits of 6 in under 60 s, in under 1 GB, while trying all sets of 3 out of 200 pieces already
takes longer than the search among as many takes for the answer.
"""

from __future__ import annotations

from benchmarks.measure import measure

SETUP = """
import numpy as np
import assay
from itertools import combinations
from assay.kits import pieces_from_features
rng = np.random.default_rng(1)
points = rng.{law}(size=({count}, 5))
pieces = pieces_from_features(points, words=rng.integers(480, 640, size={count}).tolist())
"""
SEARCH = "assay.find_kits(pieces, size={size}, kits={kits}, rng=1)"
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
            kept = cost.seconds <= limit and cost.mebibytes <= 1024
            print(
                f"100,000 pieces ({law}), 10 kits of {size}: {cost.seconds:.1f} s"
                f" (at most {limit}), {cost.mebibytes:.0f} MiB  {'kept' if kept else 'NOT KEPT'}"
            )
    setup = SETUP.format(law="normal", count=200)
    ours = measure(SEARCH.format(size=3, kits=1), setup)
    theirs = measure(ALL_SETS, setup, repeats=1)
    print(
        f"200 pieces, 1 kit of 3: {ours.seconds:.2f} s with the percentile, all sets in a plain"
        f" loop {theirs.seconds:.2f} s  {'kept' if ours.seconds < theirs.seconds else 'NOT KEPT'}"
    )


if __name__ == "__main__":
    main()
