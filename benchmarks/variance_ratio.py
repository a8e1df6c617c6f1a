"""Claim: snippets cost no precision. The variance of system differences under each design, against
a matched simple random sample of the same size, and how far length bins are off.

    python -m benchmarks.variance_ratio [DATA_FOLDER] [--draws 10000]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from assay.designs.base import find_design
from assay.designs.population import Population
from assay.sampling.stability import stability, summarise_stability
from assay.sampling.summary import design_effect, metric_scores
from assay.tables.tables import TestSet, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

SHARES = (0.25, 0.4)
DESIGNS = ("snippets", "snippets-linear", "documents", "fixed-snippets")


def load(folder: Path) -> dict[str, tuple[TestSet, str]]:
    """WMT20 chrF for every pair, and MQM for two."""
    sets = {}
    for path in sorted(folder.glob("wmt20_metrics_*.parquet")):
        frame = pl.read_parquet(path).rename({"seg_id": "seg"})
        sets[path.stem[14:]] = (read_scores(frame, metrics=["chrF"]), "chrF")
    for path in sorted(folder.glob("wmt20_mqm_*.parquet")):
        frame = pl.read_parquet(path).rename({"seg_id": "seg"})
        sets[f"MQM {path.stem[10:]}"] = (read_scores(frame, metrics=["mqm"]), "mqm")
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=10000)
    given = parser.parse_args()
    sets = load(given.folder)
    if not sets:
        skipped(f"{given.folder} has no WMT20 metrics")
        return
    print(f"variance of system differences / matched random sample, {given.draws:,} draws")
    for design in DESIGNS:
        for share in SHARES:
            print(f"  {design:16} f={share:g}  {line(sets, design, share, given.draws)}")
    print("length bins at f=.4, points off per bin: root mean square (of which bias)")
    documents = {k: s for k, (s, m) in sets.items() if m == "chrF" and s.documents.height > 1}
    for design in ("segments", *DESIGNS):
        records = stability(
            documents,
            designs=[design],
            budget="40%",
            metric="chrF",
            draws=max(1, given.draws // 5),
            rng=1,
        )
        row = summarise_stability(records, metric="chrF").designs[0]
        print(f"  {design:16} {row.length_error:.2f} ({row.length_bias:.2f})")


def line(sets: dict[str, tuple[TestSet, str]], design: str, share: float, draws: int) -> str:
    ratios, human = {}, []
    for name, (test_set, metric) in sets.items():
        population = Population(test_set)
        if design in ("documents", "fixed-snippets") and len(population.layout.lengths) == 1:
            continue
        n = round(share * population.size)
        plan = find_design(design).plan(population, n)
        scores = metric_scores(test_set, metric)[1]
        effect = design_effect(scores, plan, n, np.random.default_rng(1), draws)
        if metric == "mqm":
            human.append(f"{name} {effect.ratio:.2f}")
        else:
            ratios[name] = effect.ratio
    worst = max(ratios, key=ratios.__getitem__)
    if design == "snippets":
        claim(
            f"variance of differences between systems, snippets at {share:.0%} against a matched"
            f" random sample, chrF, mean of {len(ratios)} WMT20 pairs",
            float(np.mean(list(ratios.values()))), goal=1, unit="times",
            peer=f"worst {ratios[worst]:.2f} ({worst}); {', '.join(human)}",
        )  # fmt: skip
    return (
        f"chrF mean {np.mean(list(ratios.values())):.3f}, worst {ratios[worst]:.3f} ({worst});"
        f" {', '.join(human)}"
    )


if __name__ == "__main__":
    main()
