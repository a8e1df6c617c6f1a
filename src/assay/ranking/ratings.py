"""``rank_ratings``: systems in order from ratings, as WMT ranks them.

Outputs rated by several raters count once, with the mean of their scores. Clusters are divided
where a system's outputs are significantly better than those of the next (Wilcoxon's rank-sum test,
one-sided); rank ranges come from documents drawn anew. What a system would score on segments that
nobody rated is another question: :func:`assay.estimate` answers it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.ranking.advice import next_steps
from assay.ranking.counts import MOST
from assay.ranking.rank import check_choice, check_level
from assay.ranking.resampling import block_weights
from assay.ranking.results import PairComparison, Ranking, SystemRank
from assay.ranking.uncertainty import Uncertainty, ranked, spread
from assay.stats.multiplicity import holm as holm_adjusted
from assay.stats.random import Rng, seeded
from assay.tables import Ratings

__all__ = ["rank_ratings"]

NUMBERS = 4_000_000
"""Weights held at a time."""


def rank_ratings(
    ratings: Ratings,
    *,
    method: Literal["mean", "z"] = "mean",
    interval: Literal["shortest", "equal-tailed"] = "shortest",
    level: float = 0.95,
    sides: Literal[1, 2] = 1,
    holm: bool = False,
    resamples: int = 1000,
    rng: Rng = None,
) -> Ranking:
    """Rank systems by their mean rating, or by the mean of scores standardised per rater.

    method: mean, or z (each rater's scores less the rater's mean, over the rater's standard
    deviation). holm: correct the tests between neighbours for their number. The other options are
    those of :func:`assay.rank`; documents are drawn anew, or segments where the table has none.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank_ratings(world.rate(), rng=1)
    >>> [(item.system, item.cluster) for item in ranking.systems]
    [('good', 1), ('fair', 2), ('bad', 3)]
    """
    check_choice("method", method, ("mean", "z"))
    check_choice("interval", interval, ("shortest", "equal-tailed"))
    check_choice("sides", sides, (1, 2))
    check_level(level, resamples)
    generator, seed = seeded(rng)
    frame, notes = _scored(ratings, method)
    key = _key(frame, "system")
    outputs = frame.group_by(key, maintain_order=True).agg(pl.col("score").mean())
    unit = "document" if "doc" in frame.columns and frame["doc"].n_unique() > 1 else "segment"
    sums, sizes = _blocks(outputs, unit)
    scores = sums.sum(axis=0) / sizes.sum(axis=0)
    sign = -1.0 if ratings.better == "lower" else 1.0
    drawn = _resampled(sums, sizes, resamples, generator)
    sure = spread(sign * scores, sign * drawn, interval, level)
    p = _neighbours(outputs, ranked(sign * scores), sign)
    p = np.minimum(1.0, (holm_adjusted(p) if holm else p) * sides)
    decided = p < 1 - level
    systems = _systems(outputs, scores, ranked(sign * scores), sure, decided)
    why = "what one document holds hangs together" if unit == "document" else "no documents named"
    said = f"unit: {unit} ({len(sums):,} of them); {why}"
    comparisons = _comparisons(systems, p, decided)
    return Ranking(
        systems=systems,
        comparisons=comparisons,
        judgments=frame.height,
        kind="ratings",
        method=method,
        ranges="bootstrap",
        interval=interval,
        unit=unit,
        blocks=len(sums),
        ties=None,
        level=level,
        sides=sides,
        holm=holm,
        resamples=resamples,
        seed=seed,
        better=ratings.better,
        notes=(*ratings.notes, *notes, said, *sure.notes),
        next=next_steps(comparisons, frame.height, "ratings", level=level, sides=sides),
    )


def _scored(ratings: Ratings, method: str) -> tuple[pl.DataFrame, list[str]]:
    """The rated rows with the score that counts."""
    frame = ratings.frame.drop_nulls("score")
    if not frame.height:
        raise InputError("no row has a score, so there is nothing to rank")
    if "lp" in frame.columns and frame["lp"].n_unique() > 1:
        found = ", ".join(frame["lp"].unique(maintain_order=True)[:5])
        raise InputError(
            f"the ratings are of several language pairs ({found}); choose one with --lp"
        )
    systems = frame["system"].n_unique()
    if systems < 2:
        raise InputError(f"only '{frame['system'][0]}' is rated; a ranking needs two systems")
    if systems > MOST:
        raise InputError(
            f"the ratings name {systems:,} systems; at most {MOST:,} can be ranked together"
        )
    notes = _uneven(frame)
    if method == "mean":
        return frame, notes
    if "rater" not in frame.columns:
        raise InputError("method z standardises per rater, and the table has no column 'rater'")
    mean, sd = pl.col("score").mean().over("rater"), pl.col("score").std().over("rater")
    flat = frame.select(pl.col("rater").filter(sd.fill_null(0) == 0).n_unique()).item()
    if flat:
        notes.append(f"{flat} raters gave one score only: it counts as average")
    z = pl.when(sd > 0).then((pl.col("score") - mean) / sd).otherwise(0.0)
    return frame.with_columns(score=z), notes


def _uneven(frame: pl.DataFrame) -> list[str]:
    """Say it where systems were not rated on the same segments."""
    per_segment = frame.group_by(_key(frame)).agg(pl.col("system").n_unique())["system"]
    partial = int((per_segment < frame["system"].n_unique()).sum())
    if not partial:
        return []
    return [
        f"{partial:,} of {len(per_segment):,} segments are not rated for all systems: a system may"
        " stand higher because its segments were easier"
    ]


def _key(frame: pl.DataFrame, *more: str) -> list[str]:
    return [*more, *(name for name in ("doc", "seg") if name in frame.columns)]


def _blocks(outputs: pl.DataFrame, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Sums and numbers of outputs, blocks x systems."""
    key = ["doc"] if unit == "document" else _key(outputs)
    block = outputs.select(pl.struct(key).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    names = pl.Enum(outputs["system"].unique(maintain_order=True))
    system = outputs["system"].cast(names).to_physical().to_numpy().astype(np.int64)
    shape = int(block.max()) + 1, int(system.max()) + 1
    if shape[0] < 2:
        raise InputError("all ratings are of one segment, which says nothing about others")
    cell = block * shape[1] + system
    size = shape[0] * shape[1]
    sums = np.bincount(cell, outputs["score"].to_numpy(), minlength=size).reshape(shape)
    return sums, np.bincount(cell, minlength=size).reshape(shape).astype(float)


def _resampled(
    sums: np.ndarray, sizes: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean scores of each resample; NaN where a system was not drawn."""
    found = []
    batch = max(1, NUMBERS // len(sums))
    for start in range(0, resamples, batch):
        weights = block_weights(len(sums), min(batch, resamples - start), rng).astype(float)
        total, size = weights @ sums, weights @ sizes
        found.append(np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0))
    return np.concatenate(found)


def _neighbours(outputs: pl.DataFrame, ranks: np.ndarray, sign: float) -> np.ndarray:
    """One-sided p of the rank-sum test of each system against the next."""
    from scipy.stats import mannwhitneyu  # heavy, and only needed here

    parts = outputs.partition_by("system", maintain_order=True)
    values = [sign * parts[k]["score"].to_numpy() for k in np.argsort(ranks, kind="stable")]
    found = []
    for one, other in pairwise(values):
        same = np.ptp(np.concatenate([one, other])) == 0
        test = (
            None if same else mannwhitneyu(one, other, alternative="greater", method="asymptotic")
        )
        found.append(1.0 if test is None else float(test.pvalue))
    return np.array(found)


def _systems(
    outputs: pl.DataFrame, scores: np.ndarray, ranks: np.ndarray, sure: Uncertainty,
    decided: np.ndarray,
) -> tuple[SystemRank, ...]:  # fmt: skip
    """Best first; a new cluster starts behind every decided difference between neighbours."""
    names = outputs["system"].unique(maintain_order=True).to_list()
    clusters = 1 + np.cumsum(np.append(False, decided))
    found = []
    for k, cluster in zip(np.argsort(ranks, kind="stable"), clusters, strict=True):
        low, high = int(sure.low[k]), int(sure.high[k])
        found.append(SystemRank(names[k], int(ranks[k]), float(scores[k]), low, high, int(cluster)))
    return tuple(found)


def _comparisons(
    systems: tuple[SystemRank, ...], p: np.ndarray, decided: np.ndarray
) -> tuple[PairComparison, ...]:
    return tuple(
        PairComparison(
            one.system,
            other.system,
            None,
            None,
            None,
            float(p[k]),
            bool(decided[k]),
            one.system if decided[k] else None,
        )
        for k, (one, other) in enumerate(pairwise(systems))
    )
