"""Which segments to rate: our designs beside subset2evaluate, on simulated worlds.

    python -m benchmarks.subset_selection [--worlds 20] [--share 0.1]

Worlds like WMT20 en-de with eight systems and two metrics; the truth is the mean of all ratings of
all segments. Each way picks a tenth of the segments and all systems are rated on these. The peer's
methods choose by a metric of all outputs and average what was chosen; ours draw snippets or a
balanced sample and estimate. Errors of a system's score; of a difference between two; pairs in the
right order. What is random is drawn five times. Methods of the peer that need language models are
not tried. The order by the metric alone, without any rating, stands beside: a method that chooses
segments on which the metric confirms its own ranking can hardly find another one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from itertools import combinations, product
from pathlib import Path

import numpy as np

import assay
from assay.worlds.simulate import World
from benchmarks.claims import claim
from benchmarks.environment import peer_python

PACKAGE = "subset2evaluate==1.0.27"
METHODS = ("random", "metric_avg", "metric_var", "metric_cons")
METRIC, DRAWS = "neural", 5

THEIRS = """
import json, sys, time
from subset2evaluate import select_subset
worlds, methods, metric, draws = json.load(open(sys.argv[1]))
answer, spent = [], dict.fromkeys(methods, 0.0)
for number, scores in enumerate(worlds):  # segments x systems
    chosen = {}
    for method in methods:
        data = [
            {"i": i, "scores": {f"s{k}": {metric: v} for k, v in enumerate(row)}}
            for i, row in enumerate(scores)
        ]
        chosen[method] = []
        for draw in range(draws if method == "random" else 1):
            start = time.process_time()
            ranked = select_subset.basic(
                data, method=method, metric=metric, seed=draws * number + draw
            )
            spent[method] += time.process_time() - start
            chosen[method].append([item["i"] for item in ranked])
    answer.append(chosen)
json.dump([answer, spent], open(sys.argv[2], "w"))
"""

Quality = tuple[float, float, float]


def peer(
    python: Path, worlds: list[World]
) -> tuple[list[dict[str, list[list[int]]]], dict[str, float]]:
    """For every world all segments in the orders of each method; milliseconds of a method."""
    with tempfile.TemporaryDirectory() as name:
        data, answer = Path(name) / "data.json", Path(name) / "answer.json"
        scores = [world.test_set.matrix(METRIC).T.tolist() for world in worlds]
        data.write_text(json.dumps([scores, METHODS, METRIC, DRAWS]), "utf-8")
        subprocess.run([str(python), "-c", THEIRS, str(data), str(answer)], check=True)
        chosen, spent = json.loads(answer.read_text("utf-8"))
    return chosen, {name: 1e3 * seconds / len(worlds) for name, seconds in spent.items()}


def gaps(scores: np.ndarray) -> np.ndarray:
    """Differences of all pairs."""
    i, j = np.triu_indices(len(scores), 1)
    return np.asarray(scores[i] - scores[j])


def quality(found: np.ndarray, gap: np.ndarray, truth: np.ndarray) -> Quality:
    """Mean error of a score and of a difference, share of pairs in the right order in %."""
    right = np.sign(gap) == np.sign(gaps(truth))
    return (
        float(np.abs(found - truth).mean()),
        float(np.abs(gap - gaps(truth)).mean()),
        100 * float(right.mean()),
    )


def ours(
    world: World, share: float, design: str, method: str, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the systems, and differences of all pairs, as a user gets them."""
    drawn = assay.sample(world.test_set, budget=f"{100 * share:g}%", design=design, rng=seed)
    result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn, method=method)
    score = {item.system: item.estimate for item in result.systems}
    gap = {(item.left, item.right): item.difference for item in result.differences}
    gap |= {(right, left): -value for (left, right), value in gap.items()}
    scores = np.array([score[system] for system in world.systems])
    return scores, np.array([gap[pair] for pair in combinations(world.systems, 2)])


def tried(
    world: World, chosen: dict[str, list[list[int]]], share: float, seed: int,
    spent: dict[str, float],
) -> dict[str, Quality]:  # fmt: skip
    """Every way in one world, averaged over its draws."""
    x = world.scores.mean(axis=2)
    truth, n = x.mean(axis=1), round(share * x.shape[1])
    rows: dict[str, list[Quality]] = {}
    for method, orders in chosen.items():
        for order in orders:
            means = x[:, order[:n]].mean(axis=1)
            rows.setdefault(method, []).append(quality(means, gaps(means), truth))
    alone = -world.test_set.matrix(METRIC).mean(axis=1)
    rows["metric alone"] = [(np.nan, np.nan, quality(alone, gaps(alone), truth)[2])]
    for design, method in product(("snippets", "balanced"), ("mean", "auto")):
        for draw in range(DRAWS):
            start = time.process_time()
            found = ours(world, share, design, method, DRAWS * seed + draw)
            spent[f"{design}, {method}"] = 1e3 * (time.process_time() - start)
            rows.setdefault(f"assay {design}, {method}", []).append(quality(*found, truth))
    return {name: tuple(np.mean(found, axis=0)) for name, found in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.1)
    given = parser.parse_args()
    python = peer_python("subset2evaluate", PACKAGE)
    if python is None:
        return
    worlds = [assay.simulate(systems=8, rng=seed) for seed in range(given.worlds)]
    chosen, spent = peer(python, worlds)
    spent["random"] /= DRAWS
    rows: dict[str, list[Quality]] = {}
    for seed, world in enumerate(worlds):
        for name, found in tried(world, chosen[seed], given.share, seed, spent).items():
            rows.setdefault(name, []).append(found)
    report(rows, spent, given)


def report(
    rows: dict[str, list[Quality]], spent: dict[str, float], given: argparse.Namespace
) -> None:
    print(f"{given.worlds} worlds: error of a score, of a difference, pairs in order % (± error)")
    means = {name: np.mean(found, axis=0) for name, found in rows.items()}
    for name, found in rows.items():
        error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        cells = (f"{m:8.3f} ± {e:.3f}" for m, e in zip(means[name], error, strict=True))
        print(f"  {name:30}", *cells)
    print("processor ms:", ", ".join(f"{name} {ms:.0f}" for name, ms in spent.items()))
    mine, theirs = means["assay snippets, auto"], [means[m] for m in METHODS]
    least = [METHODS[k] for k in np.argmin(theirs, axis=0)]
    orders = {m: means[m][2] for m in METHODS}
    first = max(orders, key=orders.__getitem__)
    what = f"eight systems on {given.share:.0%} of the segments, snippets and regression"
    for k, label in enumerate(("score", "difference")):
        best = min(one[k] for one in theirs)
        claim(
            f"{what}: error of a {label} against the best of subset2evaluate", mine[k] / best,
            unit="times", peer=f"{mine[k]:.3f}, {least[k]} {best:.3f}",
        )  # fmt: skip
    claim(
        f"{what}: pairs in the right order less those of the best of subset2evaluate",
        mine[2] - orders[first], unit="points",
        peer=f"{mine[2]:.1f} %, {first} {orders[first]:.1f} %, random {orders['random']:.1f} %, the"
        f" metric alone {means['metric alone'][2]:.1f} %",
    )  # fmt: skip


if __name__ == "__main__":
    main()
