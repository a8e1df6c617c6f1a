"""Judgments of equal systems, of few segments, by raters of different taste: how often wrong.

Part of ``python -m benchmarks honesty``. *Adaptive*: five equal systems, pairs by Thompson's choice
renewed after every judgment, 15 % ties, 2,000 judgments; any-time verdicts and, beside them, sign
tests with Bonferroni's correction at every look. *Equal*: 15 equal systems, 500 judgments, what
``rank`` decides. *Ranges*: 12 systems, 2,000 judgments, how often the true rank is missed.
*Clusters*: ratings of equal systems that have an effect of their own in every document. The last
two take long and have a quarter of the campaigns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import polars as pl

import assay
from assay.ranking.next import posterior, thompson_sets
from assay.ranking.pairs import sign_test
from assay.stats.betting import coin_evidence
from assay.stats.intervals import competition_ranks
from assay.stats.random import as_rng, spawn
from assay.worlds.judgments import draw_qualities
from benchmarks.claims import claim

SYSTEMS, TIES, JUDGMENTS, ALPHA = 5, 0.15, 2000, 0.05
CHUNK = 500
"""Campaigns simulated side by side."""
SEGMENTS = (20, 40, 80, 200)


def adaptive(runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Whether some pair was ever decided, by e-values and by sign tests at every look."""
    n, pairs = SYSTEMS, SYSTEMS * (SYSTEMS - 1) / 2
    wins, ties = np.zeros((2, runs, n, n))
    ever, tested = np.zeros((2, runs), dtype=bool)
    run = np.arange(runs)
    for _ in range(JUDGMENTS):
        i, j = thompson_sets(*posterior(wins + ties / 2, 2), 1, 2, rng)[:, 0].T
        i, j = np.where(rng.random(runs) < 0.5, (i, j), (j, i))
        tied = rng.random(runs) < TIES
        wins[run, i, j] += ~tied
        ties[run, i, j] += tied
        ties[run, j, i] += tied
        won, lost = wins[run, i, j], wins[run, j, i]
        both = ties[run, i, j]
        ever |= coin_evidence(won + both / 2, won + lost + both) >= np.log(pairs / ALPHA)
        table = np.zeros((runs, 2, 2))
        table[:, 0, 1], table[:, 1, 0] = won, lost
        tested |= 2 * sign_test(table)[:, [0, 1], [1, 0]].min(axis=1) <= ALPHA / pairs
    return ever, tested


def error(share: float, runs: int) -> float:
    """The Monte-Carlo error of a share of independent campaigns."""
    return float(np.sqrt(share * (1 - share) / runs))


def adaptive_part(runs: int) -> Iterator[str]:
    """Any-time verdicts under adaptive choice."""
    parts = [adaptive(min(CHUNK, runs), rng) for rng in spawn(as_rng(1), -(-runs // CHUNK))]
    ever, tested = (float(np.concatenate(part).mean()) for part in zip(*parts, strict=True))
    yield f"adaptive: some pair decided {ever:.4f}, sign tests with Bonferroni {tested:.4f}"
    claim("five equal systems, adaptive choice: some pair wrongly decided", ever, goal=0.05,
          peer=f"{runs:,} campaigns, ± {error(ever, runs):.4f}; sign tests with Bonferroni at every"
          f" look {tested:.3f}")  # fmt: skip


def equal_part(runs: int) -> Iterator[str]:
    """Pairs of equal systems that ``rank`` decides."""
    for per_set in (2, 5):
        shares = []
        for seed in range(runs):
            table = assay.simulate_judgments([5.0] * 15, 500, per_set=per_set, rng=seed)
            shares.append(assay.rank(table, resamples=200, rng=1).significant_pairs / 105)
        mean, off = float(np.mean(shares)), float(np.std(shares) / np.sqrt(runs))
        yield f"equal, screens of {per_set}: {mean:.4f} ± {off:.4f} of the pairs decided"
        claim(f"15 equal systems, 500 judgments on screens of {per_set}: pairs decided", mean,
              goal=0.05, peer=f"{runs:,} campaigns, ± {off:.4f}")  # fmt: skip


def missed(seed: int, segments: int, rater_share: float) -> tuple[float, float]:
    """The share of true ranks outside their ranges, and the mean size of a range."""
    first, second = spawn(as_rng(seed), 2)
    mu = draw_qualities(1, 12, first)[0]
    table = assay.simulate_judgments(
        mu, 2000, segments=segments, segment_share=0.3, rater_share=rater_share, rng=second
    )
    true = dict(zip([f"S{k + 1}" for k in range(12)], competition_ranks(mu), strict=True))
    systems = assay.rank(table, rng=1).systems
    out = [not item.low_rank <= true[item.system] <= item.high_rank for item in systems]
    return float(np.mean(out)), float(np.mean([i.high_rank - i.low_rank + 1 for i in systems]))


def ranges_part(runs: int) -> Iterator[str]:
    """True ranks missed with few segments, raters alike or with tastes of their own."""
    for taste, what in ((0.0, "raters alike"), (0.1, "raters of different taste")):
        for segments in SEGMENTS:
            found = np.array([missed(seed, segments, taste) for seed in range(runs)])
            mean, off = found[:, 0].mean(), found[:, 0].std() / np.sqrt(runs)
            yield f"ranges, {segments} segments, {what}: missed {mean:.4f} ± {off:.4f}"
            claim(f"true ranks of 12 systems missed, {segments} segments, {what}", float(mean),
                  goal=0.05, peer=f"{runs:,} campaigns, ± {off:.4f}; mean size of a range"
                  f" {found[:, 1].mean():.2f}")  # fmt: skip


def null_ratings(systems: int, documents: int, rng: np.random.Generator) -> assay.Ratings:
    """Ratings of equal systems, ten segments a document."""
    doc = np.repeat(np.arange(documents), 10)
    frames = [
        pl.DataFrame({
            "system": f"S{k}", "doc": doc.astype(str), "seg": np.arange(len(doc)),
            "score": rng.normal(0, 1, documents)[doc] + rng.normal(0, 1, len(doc)),
        })
        for k in range(systems)
    ]  # fmt: skip
    return assay.read_ratings(pl.concat(frames))


def clusters_part(runs: int) -> Iterator[str]:
    """Clusters of equal systems from ratings."""
    for systems, documents in ((2, 20), (5, 30), (10, 30)):
        found = []
        for seed in range(runs):
            table = null_ratings(systems, documents, as_rng(seed))
            usual = assay.rank_ratings(table, resamples=200, rng=1)
            single = assay.rank_ratings(table, rank_sum=True, sides=1, resamples=200, rng=1)
            found.append((usual.clusters > 1, single.clusters > 1))
        mean, before = np.mean(found, axis=0).tolist()
        yield f"clusters, {systems} systems: {mean:.4f}, by rank-sum tests {before:.4f}"
        claim(f"{systems} equal systems, {documents} documents rated: more than one cluster", mean,
              goal=0.05, peer=f"{runs:,} campaigns, ± {error(mean, runs):.4f}; rank-sum tests of"
              f" outputs {before:.3f}")  # fmt: skip


def judgments(runs: int = 2000) -> Iterator[str]:
    """All rows; what is claimed is recorded on the way."""
    for work, share in ((adaptive_part, 1), (equal_part, 1), (ranges_part, 4), (clusters_part, 4)):
        print(f"judgments: {work.__name__}", file=sys.stderr, flush=True)
        yield from work(max(1, runs // share))
