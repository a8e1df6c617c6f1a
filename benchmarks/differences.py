"""Several systems rated together on WMT20 MQM: errors of differences and of each system's score.

    python -m benchmarks.differences [DATA_FOLDER] [--draws 100] [--share 10%]

Machines only, the mean of three raters. Differences: the same segments for both systems against
independent samples, the mean against the regression. Scores: each system's own, where half of the
sample is matched, half spread, and what other systems' ratings say of a segment is borrowed.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from assay.designs.base import DesignUnits, find_design
from assay.designs.population import Population
from assay.estimation.estimate import estimate
from assay.estimation.kernels import adjusted_means, make_features
from assay.sampling.draw import sample, top_up
from assay.tables.history import add_history
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA
from benchmarks.estimators import ANSWERS, FILES, NO_METRICS


def load(path: Path, reference: str) -> tuple[TestSet, Ratings]:
    """The machines of a file with all metrics, and their ratings."""
    frame = pl.read_parquet(path).rename({"seg_id": "seg"})
    frame = frame.filter(~pl.col("is_human") & (pl.col("system") != reference))
    metrics = [
        column for column in frame.columns
        if column not in NO_METRICS and not column.startswith(ANSWERS)
    ]  # fmt: skip
    test_set = read_scores(frame.select("system", "doc", "seg", *metrics), metrics=metrics)
    rows = frame.select("system", "doc", "seg", score="mqm")
    return test_set, read_ratings(rows, test_set, better="lower")


def differences(test_set: TestSet, ratings: Ratings, n: int, draws: int, rng: np.random.Generator
                ) -> dict[str, tuple[float, float]]:  # fmt: skip
    """Mean |error| of a difference by each way, and the share of pairs in the right order."""
    x, features, population = (
        ratings.matrix(test_set),
        make_features(test_set),
        Population(test_set),
    )
    assert features is not None
    size = x.shape[1]

    def masks(design: str) -> np.ndarray:
        return find_design(design).plan(population, n).draw(rng, draws).masks(size)

    shared, snippets = masks("segments"), masks("snippets")
    alone = [masks("segments") for _ in x]
    found: dict[str, list[tuple[float, float]]] = {}
    for i, j in combinations(range(len(x)), 2):
        gap = x[i] - x[j]
        design = find_design("snippets")
        units = DesignUnits.of_plan(design, design.plan(population, n), population)
        known = features.between(i, j, np.ones(size, dtype=bool))
        ways = {
            "independent samples, means": (alone[i] @ x[i] - alone[j] @ x[j]) / n,
            "matched, means": shared @ gap / n,
            "matched snippets, means": snippets @ gap / snippets.sum(axis=1),
            "matched snippets, regression": adjusted_means(
                gap, snippets, units, "auto", known
            ).center,
        }
        for way, values in ways.items():
            off = np.abs(values - gap.mean()).mean()
            right = (np.sign(values) == np.sign(gap.mean())).mean()
            found.setdefault(way, []).append((float(off), float(right)))
    return {
        way: (float(np.mean([e for e, _ in pairs])), float(np.mean([r for _, r in pairs])))
        for way, pairs in found.items()
    }


def scores(test_set: TestSet, ratings: Ratings, share: str, draws: int
           ) -> dict[str, tuple[float, float]]:  # fmt: skip
    """Mean |error| of a system's own score, and coverage."""
    truth = dict(zip(test_set.systems, ratings.matrix(test_set).mean(axis=1), strict=True))
    half = f"{float(share.rstrip('%')) / 2:g}%"
    found: dict[str, list[tuple[float, bool]]] = {}
    for draw in range(draws):
        matched = sample(test_set, budget=share, design="segments", rng=draw)
        core = sample(test_set, budget=half, design="segments", rng=draw)
        mixed = top_up(test_set, core, budget=share, matched=False, rng=draw)
        for way, drawn, method, borrow in (
            ("matched, means", matched, "mean", False),
            ("matched, regression", matched, "regression", False),
            ("half matched, half spread, regression", mixed, "regression", False),
            ("half matched, half spread, borrowed", mixed, "regression", True),
        ):
            own = drawn.frame
            keys = own.select("system", *test_set.key) if not drawn.matched else None
            rows = ratings.frame.join(
                own.select(test_set.key) if keys is None else keys,
                on=list(test_set.key) if keys is None else ["system", *test_set.key], how="semi",
            )  # fmt: skip
            part = Ratings(rows, better="lower")
            known = add_history(test_set, part) if borrow else test_set
            for item in estimate(known, part, sample=drawn, method=method).systems:
                right = item.low <= truth[item.system] <= item.high
                found.setdefault(way, []).append((abs(item.estimate - truth[item.system]), right))
    return {
        way: (float(np.mean([e for e, _ in all_])), float(np.mean([c for _, c in all_])))
        for way, all_ in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--share", default="10%")
    given = parser.parse_args()
    for name in ("20-ende", "20-zhen"):
        path = given.folder / f"wmt{name.replace('-', '_mqm_')}.parquet"
        if not path.is_file():
            skipped(f"{given.folder} has no {path.name}")
            continue
        test_set, ratings = load(path, FILES[name])
        n = round(float(given.share.rstrip("%")) / 100 * test_set.segments.height)
        rng = np.random.default_rng(2026)
        for title, rows, what in (
            ("a difference", differences(test_set, ratings, n, given.draws, rng), "right order"),
            ("a system's score", scores(test_set, ratings, given.share, given.draws // 5),
             "coverage"),
        ):  # fmt: skip
            base = next(iter(rows.values()))[0]
            print(f"{name}: error of {title}, {len(test_set.systems)} machines, {given.share}")
            for way, (error, share) in rows.items():
                print(f"  {way:40} {error:.4f}  {100 * (error / base - 1):+6.1f} %  {what}"
                      f" {share:.1%}", flush=True)  # fmt: skip
            best = list(rows.values())[-1][0]
            claim(
                f"error of {title}, WMT20 {name[3:]} at {given.share}: {list(rows)[-1]} against"
                f" {next(iter(rows))}", 100 * (best / base - 1), unit="%",
            )  # fmt: skip


if __name__ == "__main__":
    main()
