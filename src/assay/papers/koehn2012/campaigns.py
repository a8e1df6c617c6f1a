"""The real and the simulated campaigns behind koehn2012, as tasks.

``wmt12_rankings.parquet`` has one row per output on a screen: ``lp``, ``ranking`` (the screen),
``segment``, ``judge``, ``slot``, ``system`` and ``rank`` (1 is best, -1 means left blank).
Simulated systems are numbered from best to worst, so that the true rank of system i is i + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import assay
from assay.errors import InputError
from assay.papers.compare import Task, Values, read_parquet
from assay.ranking.counts import Counts, block_numbers, count
from assay.ranking.methods import bojar, expected_win, lopez_order
from assay.ranking.pairs import sign_test
from assay.ranking.power import judgments_for, sign_share_exact
from assay.ranking.uncertainty import ranges_of, rank_table, resampled_counts
from assay.stats.intervals import cluster_numbers, competition_ranks, rank_ranges
from assay.worlds.judgments import draw_qualities, draw_screens, screen_ranks, win_counts

FILE = "wmt12_rankings.parquet"
COLUMNS = ("lp", "ranking", "segment", "judge", "slot", "system", "rank")
SYSTEMS = 15
SIZES = (10_000, 20_000, 30_000, 40_000, 50_000)
"""Judgments in Table 1."""
PER_SET = 5
"""Outputs on a screen."""
LEVEL, RESAMPLES = 0.05, 1000
PER_DRAW = 25
"""Campaigns of Figure 3 for each one of Table 1 (the paper has 10,000 and 400)."""
AT_ONCE = {"ranges": 5, "errors": 250, "beyond": 100}
"""Campaigns in a task."""
BEYOND_SIZES = (10_000, 30_000)
"""Judgments in the campaigns that go beyond the paper."""
Rng = np.random.Generator


class WmtCampaign(NamedTuple):
    """One language pair: its judgments with blank ranks as best (the paper's way) and without."""

    judgments: assay.Judgments
    without_blanks: assay.Judgments
    blanks: int


class Variant(NamedTuple):
    """A simulated campaign that may differ from the paper's model in one respect."""

    name: str
    per_set: int = PER_SET
    tie: float = 0.0
    half: bool = False
    qualities: str = "uniform"


VARIANTS = (
    Variant("the paper's model"),
    Variant("sets of 2", per_set=2),
    Variant("ties, dropped", tie=3.0),
    Variant("ties, half", tie=3.0, half=True),
    Variant("normal qualities", qualities="normal"),
)


class RankedSystem(NamedTuple):
    """A row of Tables 2 and 3: a system's score and the first and last rank of its range."""

    system: str
    score: float
    first: int
    last: int


class PaperRanking(NamedTuple):
    """The systems, best first, and the number of clusters, by the paper's bootstrap alone.

    :func:`assay.rank` gives wider ranges: it also allows for raters' tastes and for few units.
    """

    systems: tuple[RankedSystem, ...]
    clusters: int
    judgments: int


class RealCampaign(NamedTuple):
    """The results of one real campaign."""

    named: PaperRanking
    """By the readings that give the paper's numbers."""
    literal: PaperRanking
    """By the letter of the paper."""
    blanks: int
    shift: float
    """The largest change of a score when blank ranks are dropped."""
    sigma: float
    """Sigma by matching the curves of Figure 2, which stay ``distance`` apart."""
    distance: float
    curve: tuple[tuple[float, float, float], ...]
    """Judgments, and the share of significant pairs in the data and in the model."""
    likelihood: tuple[float, float, float]
    """Sigma by maximum likelihood and the ends of its interval."""


def read_campaigns(folder: Path) -> dict[str, WmtCampaign]:
    """The campaigns in the file by language pair; none without the file."""
    path = folder / FILE
    if not path.is_file():
        return {}
    frame = read_parquet(path, COLUMNS).select(
        pl.col("lp", "judge", "system").cast(pl.String),
        pl.col("ranking", "segment", "slot", "rank").cast(pl.Int64, strict=False),
    )
    if frame.null_count().sum_horizontal().item():
        raise InputError(f"{path}: has empty cells or ranks that are not numbers; fill them")
    return {str(lp): _campaign(part) for (lp,), part in sorted(frame.group_by("lp"))}


def _campaign(frame: pl.DataFrame) -> WmtCampaign:
    pairs = _pairs(frame)
    ranked = pairs.filter((pl.col("rank") > 0) & (pl.col("rank_right") > 0))
    blanks = int((frame["rank"] < 0).sum())
    return WmtCampaign(_judgments(pairs), _judgments(ranked), blanks)


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Every pair of outputs on a screen, once, in the order of the slots."""
    other = frame.select("ranking", "slot", "system", "rank")
    pairs = frame.join(other, on="ranking", suffix="_right")
    return pairs.filter(pl.col("slot") < pl.col("slot_right")).sort("ranking", "slot", "slot_right")


def _judgments(pairs: pl.DataFrame) -> assay.Judgments:
    sign = np.sign(pairs["rank"].to_numpy() - pairs["rank_right"].to_numpy())
    return assay.read_judgments(pairs.select(
        set=pl.col("ranking").cast(pl.String), seg=pl.col("segment").cast(pl.String),
        rater="judge", left="system", right="system_right",
        winner=pl.Series(np.array(["left", "tie", "right"])[sign + 1]),
    ))  # fmt: skip


def real_tasks(data: dict[str, WmtCampaign]) -> list[Task]:
    """One task per language pair."""
    return [Task(("pair", lp), partial(_real, campaign)) for lp, campaign in data.items()]


def simulated_tasks(cells: Sequence[tuple[int, float, float, int]], draws: int) -> Iterator[Task]:
    """The simulations and the exact computations; ``cells`` are those of :func:`ours.needs`."""
    for n, sigma, share, judgments in cells:
        yield _share_task(n, sigma, judgments, share)
        if (n, sigma) == (15, 10.0):
            yield _share_task(n, float(np.sqrt(sigma)), judgments)
    yield _share_task(SYSTEMS, 10.0, 13_000)
    for sigma in (10.0, 20.0):
        for part, total in _parts(PER_DRAW * draws, AT_ONCE["errors"]):
            # The exact order of fewest violations costs more than all else: one campaign in 25.
            exact = -(-draws * part // total)
            yield Task(("errors", sigma), partial(simulate_errors, part, sigma, exact))
    for size in BEYOND_SIZES:
        for variant in VARIANTS:
            for part, _ in _parts(2 * draws, AT_ONCE["beyond"]):
                do = partial(simulate_variant, part, variant, size)
                yield Task(("beyond", variant, size), do)
    for part, _ in _parts(draws, AT_ONCE["ranges"]):
        yield Task(("ranges",), partial(simulate_ranges, part))


def _share_task(n: int, sigma: float, judgments: int, share: float = 0.0) -> Task:
    return Task(("share", n, sigma, judgments), partial(_share, n, sigma, judgments, share))


def _parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """The campaigns of each task, and of all together."""
    for start_at in range(0, total, size):
        yield min(size, total - start_at), total


def _qualities(runs: int, n: int, rng: Rng, kind: str = "uniform") -> np.ndarray:
    return np.asarray(-np.sort(-draw_qualities(runs, n, rng, kind), axis=1))


def _wrong(scores: np.ndarray) -> np.ndarray:
    """The percentage of pairs in the wrong order (eq. 5, divided by n (n - 1) / 2)."""
    i, j = np.triu_indices(scores.shape[-1], 1)
    return np.asarray(100 * (scores[..., i] < scores[..., j]).mean(axis=-1))


def _places(wins: np.ndarray) -> np.ndarray:
    return -np.argsort(lopez_order(wins), axis=-1)


def judge_ranges(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The columns of Table 1 along a new last axis, for systems in their true order.

    They are the size of the ranges, their violations (%), the clusters and their violations (%).
    """
    n = low.shape[-1]
    truth = np.arange(1, n + 1)
    missed = ((truth < low) | (truth > high)).mean(axis=-1)
    cluster = cluster_numbers(low, high)
    i, j = np.triu_indices(n, 1)
    exchanged = np.zeros((*low.shape, n), dtype=bool)
    exchanged[..., i, j] = cluster[..., i] > cluster[..., j]
    split = (exchanged | np.swapaxes(exchanged, -1, -2)).any(axis=-1).mean(axis=-1)
    size = (high - low + 1).mean(axis=-1)
    return np.stack([size, 100 * missed, cluster.max(axis=-1), 100 * split], axis=-1)


def simulate_errors(runs: int, sigma: float, exact: int, rng: Rng) -> Values:
    """Figure 3, the pairwise half of Table 1, and how far win ratios are from uniform."""
    mu = _qualities(runs, SYSTEMS, rng)
    wins = win_counts(mu, [size // 10 for size in SIZES], rng, sigma=sigma, per_set=PER_SET)
    p = sign_test(wins)
    scores = expected_win(wins)
    few = wins[:exact]
    lead = (few > np.swapaxes(few, -1, -2)).astype(np.int64)
    return {
        "expected-win": _wrong(scores),
        "bojar": _wrong(bojar(wins)),
        "lopez": _wrong(_places(few)),
        "lopez, pairs counted": _wrong(_places(lead)),
        "pairwise": judge_ranges(*rank_ranges(p <= LEVEL)),
        "two-sided": judge_ranges(*rank_ranges(p <= LEVEL / 2)),
        "distance": uniform_distance(scores[:, -1]),
    }


def uniform_distance(scores: np.ndarray) -> np.ndarray:
    """Kolmogorov's distance between the values inside the extremes and a uniform distribution.

    If all values are uniform, those inside are independent and uniform given the extremes.
    """
    inner = np.sort(scores, axis=-1)
    inner = (inner[..., 1:-1] - inner[..., :1]) / (inner[..., -1:] - inner[..., :1])
    m = inner.shape[-1]
    above, below = np.arange(1, m + 1) / m - inner, inner - np.arange(m) / m
    return np.asarray(np.maximum(above, below).max(axis=-1))


def simulate_ranges(runs: int, rng: Rng) -> Values:
    """The bootstrap half of Table 1: of whole sets, and of single judgments as the paper writes."""
    judged: dict[str, list[np.ndarray]] = {"bootstrap": [], "literal": []}
    for mu in _qualities(runs, SYSTEMS, rng):
        shown, q = draw_screens(mu, SIZES[-1] // 10, rng, sigma=10.0, per_set=PER_SET)
        for size in SIZES:
            counts = _counts(shown[: size // 10], q[: size // 10], SYSTEMS)
            block = np.repeat(np.arange(size // 10), 10)
            for name, blocks, kind in _RESAMPLED:
                ranges = _bootstrap_ranges(counts, block if blocks else None, kind, rng)
                judged[name].append(judge_ranges(*ranges))
    return {name: np.array(v).reshape(runs, len(SIZES), -1) for name, v in judged.items()}


_RESAMPLED = (("bootstrap", True, "shortest"), ("literal", False, "equal-tailed"))
"""The readings of the bootstrap: whether it draws whole sets, and the kind of range."""


def _counts(shown: np.ndarray, q: np.ndarray, n: int, tie: float = 0.0) -> Counts:
    """The judgments of simulated screens as arrays."""
    i, j = np.triu_indices(shown.shape[1], 1)
    left, right = shown[:, i].ravel(), shown[:, j].ravel()
    if tie:
        ranks = screen_ranks(-q, tie)
        outcome = np.sign(ranks[:, j] - ranks[:, i]).ravel()
    else:
        outcome = np.where(q[:, i] > q[:, j], 1, -1).ravel()
    cell = np.where(outcome < 0, right * n + left, left * n + right)
    wins = np.bincount(cell[outcome != 0], minlength=n * n).reshape(n, n)
    ties = np.bincount(cell[outcome == 0], minlength=n * n).reshape(n, n)
    names = tuple(str(k) for k in range(n))
    return Counts(names, left, right, outcome, wins, ties + ties.T)


def _bootstrap_ranges(
    counts: Counts, block: np.ndarray | None, kind: str, rng: Rng
) -> tuple[np.ndarray, np.ndarray]:
    """Rank ranges from resampled blocks, or from single judgments without ``block``."""
    batches = resampled_counts(counts, block, RESAMPLES, rng)
    scores = np.concatenate([expected_win(wins) for wins, _ in batches])
    return ranges_of(rank_table(competition_ranks(scores, digits=12)), kind, 1 - LEVEL)


def simulate_variant(runs: int, variant: Variant, judgments: int, rng: Rng) -> Values:
    """What the paper leaves open: screens of two, ties, qualities that are not uniform."""
    sets = judgments * 2 // (variant.per_set * (variant.per_set - 1))
    wins, ties = [], []
    for mu in _qualities(runs, SYSTEMS, rng, variant.qualities):
        screens = draw_screens(mu, sets, rng, sigma=10.0, per_set=variant.per_set)
        counts = _counts(*screens, SYSTEMS, variant.tie)
        wins.append(counts.wins)
        ties.append(counts.ties)
    won, tied = np.array(wins), np.array(ties)
    counted = won + tied / 2 if variant.half else won
    better = sign_test(won) <= LEVEL
    i, j = np.triu_indices(SYSTEMS, 1)
    return {
        "ties %": 100 * tied.sum(axis=(1, 2)) / 2 / judgments,
        "expected-win error %": _wrong(expected_win(counted)),
        "bojar error %": _wrong(bojar(counted)),
        "lopez error %": _wrong(_places(counted)),
        "significant %": 100 * (better[:, i, j] | better[:, j, i]).mean(axis=1),
        "significant, wrong %": 100 * better[:, j, i].mean(axis=1),
    }


def _share(n: int, sigma: float, judgments: int, share: float, _: Rng) -> Values:
    """Table 4: the share of significant pairs at a number of judgments, and the number for it."""
    reached, need = sign_share_exact(n, sigma, judgments, per_set=PER_SET, level=LEVEL), np.nan
    if share:
        need = judgments_for(share, n, sigma, test="sign", per_set=PER_SET, level=LEVEL)
    return {"share": np.array([reached]), "needed": np.array([need])}


def _real(campaign: WmtCampaign, rng: Rng) -> RealCampaign:
    table, without = campaign.judgments, campaign.without_blanks
    scores, other = (
        dict(zip(part.systems, expected_win(count(part).wins), strict=True))
        for part in (table, without)
    )
    named, literal = (
        rank_systems(table, rng.spawn(1)[0], literal=letter) for letter in (False, True)
    )
    match = assay.match_sigma(table, points=10, orders=20, rng=rng.spawn(1)[0])
    fit = assay.fit_sigma(table, level=1 - LEVEL)
    return RealCampaign(
        named, literal, campaign.blanks,
        float(max(abs(score - other[name]) for name, score in scores.items())),
        match.sigma, match.distance,
        tuple(zip(match.judgments, match.shares, match.model, strict=True)),
        (fit.sigma, fit.low, fit.high),
    )  # fmt: skip


def rank_systems(judgments: assay.Judgments, rng: Rng, *, literal: bool = False) -> PaperRanking:
    """Tables 2 and 3: expected wins (eq. 4) with ranges from whole sets, or single judgments."""
    counts = count(judgments)
    block = None if literal else block_numbers(judgments, "set")
    low, high = _bootstrap_ranges(counts, block, "equal-tailed" if literal else "shortest", rng)
    columns = (expected_win(counts.wins), low, high)
    rows = zip(counts.systems, *(column.tolist() for column in columns), strict=True)
    systems = sorted((RankedSystem(*row) for row in rows), key=lambda item: -item.score)
    return PaperRanking(tuple(systems), int(cluster_numbers(low, high).max()), len(judgments))
