"""``rank_ratings``: systems in order from ratings, as WMT ranks them.

Outputs rated by several raters count once, with the mean of their scores. Wilcoxon's rank-sum test,
one-sided, divides clusters: between neighbours, or, as WMT publishes them, where all systems above
a line are significantly better than all below it. Rank ranges come from documents drawn anew. What
a system would score on segments that nobody rated is another question: :func:`assay.estimate`
answers it.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Literal

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError
from assay.ranking.advice import next_steps
from assay.ranking.checks import check_choice, check_level, resamples_for
from assay.ranking.counts import MOST
from assay.ranking.decisions import Rule
from assay.ranking.resampling import NUMBERS, block_weights
from assay.ranking.results import PairComparison, Ranking, SystemRank
from assay.ranking.uncertainty import ENOUGH, Uncertainty, ranked, spread
from assay.ranking.units import FEW
from assay.stats.multiplicity import holm as holm_adjusted
from assay.stats.random import Rng, seeded
from assay.tables.answers import Ratings
from assay.tables.check import need_one_lp


def rank_ratings(
    ratings: Ratings,
    *,
    method: Literal["mean", "z"] = "mean",
    clusters: Literal["neighbours", "all"] = "neighbours",
    interval: Literal["shortest", "equal-tailed"] | None = None,
    level: float = 0.95,
    sides: Literal[1, 2] = 1,
    holm: bool = False,
    resamples: int | None = None,
    rng: Rng = None,
) -> Ranking:
    """Rank systems by their mean rating, or by the mean of scores standardised per rater.

    method: mean, or z (each rater's scores less the rater's mean, over the rater's standard
    deviation). clusters: a line stands where two neighbours differ, or where all systems above it
    differ from all below. holm: correct the tests for their number. The other options are those of
    :func:`assay.rank`; documents are drawn anew, or segments where the table has none.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank_ratings(world.rate(), rng=1)
    >>> [(item.system, item.cluster) for item in ranking.systems]
    [('good', 1), ('fair', 2), ('bad', 3)]
    """
    if not isinstance(ratings, Ratings):
        raise OptionError(
            "ratings", type(ratings).__name__, "is no table of ratings",
            "read one with assay.read_ratings, which takes files and frames",
        )  # fmt: skip
    check_choice("method", method, ("mean", "z"))
    check_choice("clusters", clusters, ("neighbours", "all"))
    check_choice("interval", interval, ("shortest", "equal-tailed", None))
    check_choice("sides", sides, (1, 2))
    check_level(level)
    number = resamples_for(resamples, level)
    generator, seed = seeded(rng)
    frame, notes = _scored(ratings, method)
    outputs = frame.group_by(_key(frame, "system"), maintain_order=True).agg(pl.col("score").mean())
    unit = "document" if "doc" in frame.columns and frame["doc"].n_unique() > 1 else "segment"
    sums, sizes = _blocks(outputs, unit)
    scores = sums.sum(axis=0) / sizes.sum(axis=0)
    sign = -1.0 if ratings.better == "lower" else 1.0
    drawn = _resampled(sums, sizes, number, generator)
    rule = Rule(level, sides, holm)
    own = (sizes > 0).sum(axis=0)
    sure = spread(sign * scores, sign * drawn, own, interval or "shortest", level, rule)
    order = np.argsort(ranked(sign * scores), kind="stable")
    pairs, p = _tests(outputs, order, sign, clusters)
    shown, better = _decided(p, rule)
    systems = _systems(outputs, scores, ranked(sign * scores), sure, order, pairs, better)
    comparisons = _comparisons(systems, pairs, shown, better)
    return Ranking(
        systems=systems,
        comparisons=comparisons,
        judgments=frame.height,
        kind="ratings",
        method=method,
        ranges="bootstrap",
        interval=interval or "shortest",
        unit=unit,
        blocks=len(sums),
        ties=None,
        level=level,
        sides=sides,
        holm=holm,
        resamples=number,
        seed=seed,
        better=ratings.better,
        notes=(*ratings.notes, *notes, *_about(frame, unit, own, systems, better), *sure.notes),
        clusters_by=clusters,
        next=next_steps(comparisons, frame.height, "ratings", level=level, sides=sides),
    )


def _about(
    frame: pl.DataFrame, unit: str, own: np.ndarray, systems: tuple[SystemRank, ...],
    better: np.ndarray,
) -> list[str]:  # fmt: skip
    """The unit and why, and what is rough or odd."""
    if unit == "document":
        why = "what one document holds hangs together"
    else:
        why = "there is one document" if "doc" in frame.columns else "no documents are named"
    blocks = frame["doc"].n_unique() if unit == "document" else frame.select(_key(frame)).n_unique()
    notes = [f"unit: {unit} ({blocks:,} of them); {why}"]
    if blocks < FEW:
        notes.append(f"with only {blocks} of them, ranges are rough")
    rare = int((own < ENOUGH).sum())
    if rare:
        notes.append(
            f"{rare} systems have fewer than {ENOUGH} of them: ranges are widened by tests"
        )
    if (better < 0).any():
        notes.append(
            f"{int((better < 0).sum())} pairs stand in another order by the rank-sum test than by"
            " their means; no line is drawn there"
        )
    crossing = [item.system for item in systems if _leaves(item, systems)]
    if crossing:
        notes.append(f"rank ranges reach beyond their cluster: {', '.join(crossing[:8])}")
    return notes


def _leaves(item: SystemRank, systems: tuple[SystemRank, ...]) -> bool:
    own = [other.rank for other in systems if other.cluster == item.cluster]
    return item.low_rank < min(own) or item.high_rank > min(own) + len(own) - 1


def _scored(ratings: Ratings, method: str) -> tuple[pl.DataFrame, list[str]]:
    """The rated rows with the score that counts."""
    frame = ratings.frame.drop_nulls("score")
    if not frame.height:
        raise InputError("no row has a score, so there is nothing to rank")
    need_one_lp(frame, "ratings")
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


def _tests(
    outputs: pl.DataFrame, order: np.ndarray, sign: float, clusters: str
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of places (higher, lower), and the one-sided p of the rank-sum test of each."""
    from scipy.stats import mannwhitneyu  # heavy, and only needed here

    parts = outputs.partition_by("system", maintain_order=True)
    values = [sign * parts[k]["score"].to_numpy() for k in order]
    places = list(pairwise(range(len(order))))
    if clusters == "all":
        places = list(combinations(range(len(order)), 2))
    found = []
    for i, j in places:
        one, other = values[i], values[j]
        same = np.ptp(np.concatenate([one, other])) == 0
        test = (
            None if same else mannwhitneyu(one, other, alternative="greater", method="asymptotic")
        )
        found.append(0.5 if test is None else float(test.pvalue))
    return np.array(places), np.array(found)


def _decided(p: np.ndarray, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """What is printed, and 1 where the higher system is decidedly better, -1 where the lower.

    Means name the direction beforehand, so one-sided tests are in that direction only.
    """
    if rule.sides == 1:
        shown = holm_adjusted(p) if rule.holm else p
        return shown, np.where(shown <= rule.alpha, 1, 0)
    both = np.minimum(1.0, 2 * np.minimum(p, 1 - p))
    shown = holm_adjusted(both) if rule.holm else both
    sure = shown <= round(1 - rule.level, 12)
    return shown, np.where(sure, np.where(p <= 0.5, 1, -1), 0)


def _systems(
    outputs: pl.DataFrame, scores: np.ndarray, ranks: np.ndarray, sure: Uncertainty,
    order: np.ndarray, pairs: np.ndarray, better: np.ndarray,
) -> tuple[SystemRank, ...]:  # fmt: skip
    """Best first; a new cluster starts where every tested pair across the line is decided."""
    names = outputs["system"].unique(maintain_order=True).to_list()
    clusters = [1]
    for line in range(1, len(order)):
        across = (pairs[:, 0] < line) & (pairs[:, 1] >= line)
        clusters.append(clusters[-1] + int((better[across] == 1).all()))
    found = []
    for k, cluster in zip(order, clusters, strict=True):
        low, high = int(sure.low[k]), int(sure.high[k])
        found.append(SystemRank(names[k], int(ranks[k]), float(scores[k]), low, high, cluster))
    return tuple(found)


def _comparisons(
    systems: tuple[SystemRank, ...], pairs: np.ndarray, p: np.ndarray, better: np.ndarray
) -> tuple[PairComparison, ...]:
    found = []
    for (i, j), value, sign in zip(pairs.tolist(), p.tolist(), better.tolist(), strict=True):
        one, other = systems[i].system, systems[j].system
        winner = one if sign > 0 else other if sign < 0 else None
        found.append(PairComparison(one, other, None, None, None, value, sign != 0, winner))
    return tuple(found)
