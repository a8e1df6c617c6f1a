"""Rank systems from ratings, as WMT does.

An output rated by several raters counts once, with the mean of its scores. A cluster ends where two
neighbours differ or, as WMT publishes them, where all systems above are significantly better than
all below. Tests and rank ranges come from resampled documents, because the outputs of a document
are correlated; WMT's test, Wilcoxon's rank-sum test, treats outputs as independent. For scores on
segments without ratings, see :func:`assay.estimate`.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Literal

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.pay import pay_of
from assay.ranking.advice import next_steps
from assay.ranking.counts import MAX_SYSTEMS, MIN_UNITS, listed
from assay.ranking.rank import (
    PairComparison,
    Ranking,
    SystemRank,
    check_tests,
    resamples_for,
)
from assay.ranking.uncertainty import (
    MAX_NUMBERS,
    MIN_BLOCKS,
    Rule,
    Uncertainty,
    Unseen,
    block_weights,
    few_blocks,
    spread,
)
from assay.results import UNPAID, Costs, Note
from assay.stats.intervals import LEVEL, competition_ranks
from assay.stats.intervals import holm as holm_adjusted
from assay.stats.random import Rng, seeded
from assay.tables.answers import need_one_lp
from assay.tables.tables import Ratings


def rank_ratings(
    ratings: Ratings,
    *,
    method: Literal["mean", "z"] = "mean",
    cluster_rule: Literal["neighbours", "all"] = "neighbours",
    rank_sum: bool = False,
    range_kind: Literal["shortest", "equal-tailed"] | None = None,
    level: float = LEVEL,
    sides: Literal[1, 2] = 2,
    holm: bool = False,
    resamples: int | None = None,
    pay: Costs | str | None = None,
    rng: Rng = None,
) -> Ranking:
    """Rank systems by their mean rating, or by the mean of scores standardised per rater.

    method: mean, or z (scores minus the rater's mean, over the rater's standard deviation).
    cluster_rule: a cluster ends where two neighbours differ, or where all systems above differ from
    all below. rank_sum: test single outputs by Wilcoxon's rank-sum test, as WMT does; if outputs of
    a document are correlated, it finds clusters that do not exist. holm: correct the tests for
    their number. The other options are those of :func:`assay.rank`; documents are resampled, or
    segments if the table has no documents.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank_ratings(world.rate(), rng=1)
    >>> [(item.system, item.cluster) for item in ranking.systems]
    [('good', 1), ('fair', 2), ('bad', 3)]
    """
    if not isinstance(ratings, Ratings):
        raise OptionError(
            "ratings", type(ratings).__name__, "is not a table of ratings",
            "read one with assay.read_ratings, which takes files and frames",
        )  # fmt: skip
    need_known("method", method, ("mean", "z"))
    need_known("cluster_rule", cluster_rule, ("neighbours", "all"))
    check_tests(level, sides, range_kind)
    number = resamples_for(resamples, level)
    kind: Literal["shortest", "equal-tailed"] = range_kind or "shortest"
    paid = (UNPAID if pay is None else pay_of(pay)).timed(_seconds(ratings))
    generator, seed = seeded(rng)
    frame, notes = _scored(ratings, method)
    outputs = frame.group_by(_key(frame, "system"), maintain_order=True).agg(pl.col("score").mean())
    unit = "document" if "doc" in frame.columns and frame["doc"].n_unique() > 1 else "segment"
    sums, sizes = _blocks(outputs, unit)
    scores = sums.sum(axis=0) / sizes.sum(axis=0)
    sign = -1.0 if ratings.better == "lower" else 1.0
    drawn = _resampled(sums, sizes, number, generator)
    rule = Rule(level, sides, holm)
    blocks = (sizes > 0).sum(axis=0)
    sure = spread(sign * scores, sign * drawn, blocks, kind, level, rule, unseen=Unseen())
    ranks = competition_ranks(sign * scores, digits=12)
    order = np.argsort(ranks, kind="stable")
    every = range(len(order))
    pairs = np.array(list(combinations(every, 2) if cluster_rule == "all" else pairwise(every)))
    first, second = order[pairs].T
    p = _rank_sums(outputs, sign, first, second) if rank_sum else sure.p[first, second]
    shown, better = _decided(p, rule)
    systems = _systems(outputs, scores, ranks, sure, order, pairs, better)
    comparisons = _comparisons(systems, pairs, shown, better)
    return Ranking(
        systems=systems, comparisons=comparisons, pairs=len(comparisons),
        significant_pairs=sum(item.decided for item in comparisons),
        clusters=systems[-1].cluster, clusters_by=cluster_rule, rank_sum=rank_sum,
        ratings=frame.height,
        method=method, ranges="bootstrap", interval=kind, unit=unit, blocks=len(sums), ties=None,
        level=level, sides=sides, holm=holm, resamples=number, seed=seed, better=ratings.better,
        notes=(
            *ratings.notes,
            *notes,
            *_unit_notes(frame, unit, len(sums)),
            *few_blocks([item.system for item, k in zip(systems, order, strict=True)
                         if blocks[k] < MIN_BLOCKS]),
            *_order_notes(systems, better),
            *sure.notes,
        ),
        next=_advice(comparisons, outputs, (first, second, p), sure, frame.height, rule, paid),
    )  # fmt: skip


def _seconds(ratings: Ratings) -> float | None:
    """The mean seconds of a rating, if the table has them."""
    if "seconds" not in ratings.frame.columns:
        return None
    return ratings.genuine["seconds"].mean()  # type: ignore[return-value]


def _advice(
    comparisons: tuple[PairComparison, ...], outputs: pl.DataFrame,
    tested: tuple[np.ndarray, np.ndarray, np.ndarray], sure: Uncertainty, number: int, rule: Rule,
    pay: Costs,
) -> tuple[str, ...]:  # fmt: skip
    """The next steps, by the tests that decide pairs."""
    first, second, p = tested
    every = sure.p.copy()
    every[first, second], every[second, first] = p, 1 - p
    undecided = sum(not item.decided for item in comparisons)
    names = outputs["system"].unique(maintain_order=True).to_list()
    alpha = rule.alpha / max(undecided, 1) if rule.holm else rule.alpha
    return next_steps(comparisons, names, every, number, "ratings", alpha=alpha, pay=pay)


def _unit_notes(frame: pl.DataFrame, unit: str, blocks: int) -> list[Note]:
    """Note what is resampled and why, and whether it is enough."""
    why = "ratings of one document are correlated"
    if unit == "segment":
        why = "there is one document" if "doc" in frame.columns else "no documents are named"
    notes = [Note("unit", f"unit: {unit} ({blocks:,} of them); {why}")]
    if blocks < MIN_UNITS:
        notes.append(Note("few-units", f"with only {blocks} units, ranges are rough"))
    return notes


def _order_notes(systems: tuple[SystemRank, ...], better: np.ndarray) -> list[Note]:
    """Note where tests, means and ranges disagree."""
    notes = []
    if (better < 0).any():
        text = (
            f"{int((better < 0).sum())} pairs have the opposite order by the rank-sum test and by"
            " their means; no cluster ends there"
        )
        notes.append(Note("opposite-order", text))
    crossing = []
    for item in systems:
        ranks = [other.rank for other in systems if other.cluster == item.cluster]
        if item.low_rank < min(ranks) or item.high_rank > min(ranks) + len(ranks) - 1:
            crossing.append(item.system)
    if crossing:
        text = f"rank ranges that extend beyond their cluster: {listed(crossing)}"
        notes.append(Note("range-beyond-cluster", text))
    return notes


def _scored(ratings: Ratings, method: str) -> tuple[pl.DataFrame, list[Note]]:
    """The rated rows with the scores to rank by, and notes."""
    frame = ratings.frame.drop_nulls("score")
    if not frame.height:
        raise InputError("no row has a score, so there is nothing to rank")
    need_one_lp(frame, "ratings")
    systems = frame["system"].n_unique()
    if systems < 2:
        raise InputError(f"only '{frame['system'][0]}' is rated; a ranking needs two systems")
    if systems > MAX_SYSTEMS:
        raise InputError(
            f"the ratings name {systems:,} systems, and at most {MAX_SYSTEMS:,} can be ranked"
            " together; rank them in parts"
        )
    notes = _uneven(frame)
    if method == "mean":
        return frame, notes
    if "rater" not in frame.columns:
        raise InputError("method z standardises per rater, and the table has no column 'rater'")
    mean, sd = pl.col("score").mean().over("rater"), pl.col("score").std().over("rater")
    flat = frame.select(pl.col("rater").filter(sd.fill_null(0) == 0).n_unique()).item()
    if flat:
        text = f"{flat} raters gave one score only, which counts as average"
        notes.append(Note("one-score-raters", text))
    z = pl.when(sd > 0).then((pl.col("score") - mean) / sd).otherwise(0.0)
    return frame.with_columns(score=z), notes


def _uneven(frame: pl.DataFrame) -> list[Note]:
    """Note whether systems were rated on different segments."""
    per_segment = frame.group_by(_key(frame)).agg(pl.col("system").n_unique())["system"]
    partial = int((per_segment < frame["system"].n_unique()).sum())
    if not partial:
        return []
    text = (
        f"{partial:,} of {len(per_segment):,} segments are not rated for all systems: a system may"
        " rank higher because its segments were easier"
    )
    return [Note("unmatched-segments", text)]


def _key(frame: pl.DataFrame, *more: str) -> list[str]:
    return [*more, *(name for name in ("doc", "seg") if name in frame.columns)]


def _blocks(outputs: pl.DataFrame, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """The sums of scores and the numbers of outputs, blocks x systems."""
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
    """The mean scores of each resample; NaN for a system that was not drawn."""
    means = []
    batch = max(1, MAX_NUMBERS // len(sums))
    for start in range(0, resamples, batch):
        weights = block_weights(len(sums), min(batch, resamples - start), rng).astype(float)
        total, size = weights @ sums, weights @ sizes
        means.append(np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0))
    return np.concatenate(means)


def _rank_sums(
    outputs: pl.DataFrame, sign: float, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """The one-sided p of the rank-sum test for each pair of systems."""
    from scipy.stats import mannwhitneyu  # heavy, and only needed here

    parts = outputs.partition_by("system", maintain_order=True)
    values = [sign * part["score"].to_numpy() for part in parts]
    p = np.full(len(first), 0.5)
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if np.ptp(np.concatenate([values[i], values[j]])) > 0:
            test = mannwhitneyu(values[i], values[j], alternative="greater", method="asymptotic")
            p[k] = test.pvalue
    return p


def _decided(p: np.ndarray, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The p to show, and 1 or -1 if the higher or the lower system is decidedly better, else 0.

    One-sided tests are only in the direction of the means.
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
    """The systems, best first; a cluster ends where all tested pairs across it are decided."""
    names = outputs["system"].unique(maintain_order=True).to_list()
    clusters = [1]
    for line in range(1, len(order)):
        across = (pairs[:, 0] < line) & (pairs[:, 1] >= line)
        clusters.append(clusters[-1] + int((better[across] == 1).all()))
    columns = ranks, scores, sure.low, sure.high
    rows = zip(*(column[order].tolist() for column in columns), clusters, strict=True)
    return tuple(SystemRank(names[k], *row) for k, row in zip(order, rows, strict=True))


def _comparisons(
    systems: tuple[SystemRank, ...], pairs: np.ndarray, p: np.ndarray, better: np.ndarray
) -> tuple[PairComparison, ...]:
    comparisons = []
    for (i, j), value, sign in zip(pairs.tolist(), p.tolist(), better.tolist(), strict=True):
        left, right = systems[i].system, systems[j].system
        winner = left if sign > 0 else right if sign < 0 else None
        comparisons.append(PairComparison(left, right, None, None, None, value, sign != 0, winner))
    return tuple(comparisons)
