"""The real and the simulated campaigns behind koehn2012, a piece of work at a time.

``wmt12_rankings.parquet`` has one row per output on a screen: ``lp``, ``ranking`` (the screen),
``segment``, ``judge``, ``slot``, ``system`` and ``rank`` (1 is best, -1 was left blank). Simulated
systems are numbered from the best to the worst, so that the true rank of system i is i + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import assay
from assay.errors import InputError
from assay.papers.compare import read_parquet
from assay.ranking.counts import Counts, block_numbers, count
from assay.ranking.methods import bojar, expected_win, lopez_order
from assay.ranking.pairs import sign_test
from assay.ranking.power import judgments_for, sign_share_exact
from assay.ranking.sigma import SigmaFit, SigmaMatch
from assay.ranking.uncertainty import (
    equal_tailed_ranges,
    rank_table,
    resampled_counts,
    shortest_ranges,
)
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
"""Campaigns of Figure 3 for each of Table 1: the paper has 10,000 and 400."""
AT_ONCE = {"ranges": 5, "errors": 250, "beyond": 100}
"""Campaigns in a piece of work."""
BEYOND_SIZES = (10_000, 30_000)
"""Judgments of the campaigns that go beyond the paper."""


class WmtCampaign(NamedTuple):
    """The judgments of one language pair: blanks as best, as the paper has them, and without."""

    judgments: assay.Judgments
    without_blanks: assay.Judgments
    blanks: int


class Variant(NamedTuple):
    """A way in which a campaign may differ from the paper's model."""

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


class CampaignWork(NamedTuple):
    """A piece of work: ``kind`` errors, ranges, beyond, share or pair, and what it needs."""

    kind: str
    runs: int = 0
    sigma: float = 10.0
    exact: int = 0
    variant: Variant = VARIANTS[0]
    judgments: int = 0
    systems: int = SYSTEMS
    share: float = 0.0
    campaign: WmtCampaign | None = None
    pair: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What belongs together."""
        if self.kind == "share":
            return "share", self.systems, self.sigma, self.judgments
        if self.kind == "beyond":
            return "beyond", self.variant, self.judgments
        return self.kind, self.sigma


class RankedSystem(NamedTuple):
    """A line of Tables 2 and 3."""

    system: str
    score: float
    low_rank: int
    high_rank: int


class PaperRanking(NamedTuple):
    """A table of systems, the best first, and its clusters.

    It is not what :func:`assay.rank` says today, whose ranges also know of raters' tastes and of
    few units, but the paper's bootstrap and nothing else.
    """

    systems: tuple[RankedSystem, ...]
    clusters: int
    judgments: int


class RealCampaign(NamedTuple):
    """What a real campaign says, by the readings that give the paper's numbers, and literally."""

    named: PaperRanking
    literal: PaperRanking
    shift: float
    blanks: int
    match: SigmaMatch
    fit: SigmaFit


class CampaignRecord(NamedTuple):
    """What a piece of work found: values by name, the first axis simulated campaigns."""

    work: CampaignWork
    values: dict[str, np.ndarray]
    real: RealCampaign | None = None


def read_campaigns(folder: Path) -> dict[str, WmtCampaign]:
    """The campaigns of the file, by language pair; none where there is no file."""
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
    return WmtCampaign(
        _judgments(pairs),
        _judgments(pairs.filter((pl.col("rank") > 0) & (pl.col("rank_right") > 0))),
        int((frame["rank"] < 0).sum()),
    )


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Every pair of outputs of a screen once, in the order of their slots."""
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


def real_work(data: dict[str, WmtCampaign]) -> Iterator[CampaignWork]:
    """A piece of work for every language pair."""
    for lp, campaign in data.items():
        yield CampaignWork("pair", campaign=campaign, pair=lp)


def simulated_work(
    needs: Sequence[tuple[int, float, float, int]], draws: int
) -> Iterator[CampaignWork]:
    """What is simulated or computed exactly.

    ``needs`` has systems, sigma, share and judgments of the cells of Table 4.
    """
    for n, sigma, share, judgments in needs:
        yield CampaignWork("share", sigma=sigma, judgments=judgments, systems=n, share=share)
        if (n, sigma) == (15, 10.0):
            yield CampaignWork("share", sigma=float(np.sqrt(sigma)), judgments=judgments)
    yield CampaignWork("share", judgments=13_000)
    for sigma in (10.0, 20.0):
        for part, total in _parts(PER_DRAW * draws, AT_ONCE["errors"]):
            # The exact order of fewest violations costs more than all else: a campaign in 25.
            yield CampaignWork("errors", part, sigma, exact=-(-draws * part // total))
    for size in BEYOND_SIZES:
        for variant in VARIANTS:
            for part, _ in _parts(2 * draws, AT_ONCE["beyond"]):
                yield CampaignWork("beyond", part, variant=variant, judgments=size)
    for part, _ in _parts(draws, AT_ONCE["ranges"]):
        yield CampaignWork("ranges", part)


def _parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Campaigns of every piece of work, and of all together."""
    for start_at in range(0, total, size):
        yield min(size, total - start_at), total


def do_work(work: CampaignWork, rng: np.random.Generator) -> CampaignRecord:
    """Do one piece of work."""
    if work.kind == "pair":
        assert work.campaign is not None
        return CampaignRecord(work._replace(campaign=None), {}, _real(work.campaign, rng))
    if work.kind == "share":
        return CampaignRecord(work, _share(work))
    do = {"errors": _errors, "ranges": _ranges, "beyond": _beyond}[work.kind]
    return CampaignRecord(work, do(work, rng))


def _qualities(runs: int, n: int, rng: np.random.Generator, kind: str = "uniform") -> np.ndarray:
    return np.asarray(-np.sort(-draw_qualities(runs, n, rng, kind), axis=1))


def _wrong(scores: np.ndarray) -> np.ndarray:
    """Pairs in the wrong order, % (eq. 5 with n (n - 1) / 2)."""
    i, j = np.triu_indices(scores.shape[-1], 1)
    return np.asarray(100 * (scores[..., i] < scores[..., j]).mean(axis=-1))


def _places(wins: np.ndarray) -> np.ndarray:
    return -np.argsort(lopez_order(wins), axis=-1)


def _judged(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Size of ranges, violations (%), clusters, their violations (%), along a new last axis."""
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


def _errors(work: CampaignWork, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Figure 3, the pairwise half of Table 1, and whether win ratios are uniform."""
    mu = _qualities(work.runs, SYSTEMS, rng)
    sets = [size // 10 for size in SIZES]
    wins = win_counts(mu, sets, rng, sigma=work.sigma, per_set=PER_SET)
    p = sign_test(wins)
    scores = expected_win(wins)
    few = wins[: work.exact]
    lead = (few > np.swapaxes(few, -1, -2)).astype(np.int64)
    return {
        "expected-win": _wrong(scores),
        "bojar": _wrong(bojar(wins)),
        "lopez": _wrong(_places(few)),
        "lopez, pairs counted": _wrong(_places(lead)),
        "pairwise": _judged(*rank_ranges(p <= LEVEL)),
        "two-sided": _judged(*rank_ranges(p <= LEVEL / 2)),
        "distance": uniform_distance(scores[:, -1]),
    }


def uniform_distance(scores: np.ndarray) -> np.ndarray:
    """Kolmogorov's distance from uniform of the values between the lowest and the highest.

    Given the ends, those between are independent and uniform if all are.
    """
    inner = np.sort(scores, axis=-1)
    inner = (inner[..., 1:-1] - inner[..., :1]) / (inner[..., -1:] - inner[..., :1])
    m = inner.shape[-1]
    above, below = np.arange(1, m + 1) / m - inner, inner - np.arange(m) / m
    return np.asarray(np.maximum(above, below).max(axis=-1))


def _ranges(work: CampaignWork, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The bootstrap half of Table 1: whole sets, and single judgments as written."""
    found: dict[str, list[np.ndarray]] = {"bootstrap": [], "literal": []}
    for mu in _qualities(work.runs, SYSTEMS, rng):
        shown, q = draw_screens(mu, SIZES[-1] // 10, rng, sigma=work.sigma, per_set=PER_SET)
        for size in SIZES:
            counts = _counts(shown[: size // 10], q[: size // 10], SYSTEMS)
            block = np.repeat(np.arange(size // 10), 10)
            sets = shortest_ranges(_table(counts, block, rng), 1 - LEVEL)
            single = equal_tailed_ranges(_table(counts, None, rng), 1 - LEVEL)
            found["bootstrap"].append(_judged(*sets))
            found["literal"].append(_judged(*single))
    return {name: np.array(v).reshape(work.runs, len(SIZES), -1) for name, v in found.items()}


def _counts(shown: np.ndarray, q: np.ndarray, n: int, tie: float = 0.0) -> Counts:
    """The judgments of screens as arrays."""
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


def _table(counts: Counts, block: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    batches = resampled_counts(counts, block, RESAMPLES, rng)
    scores = np.concatenate([expected_win(wins) for wins, _ in batches])
    return rank_table(competition_ranks(scores, digits=12))


def _beyond(work: CampaignWork, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What the paper leaves open: screens of two, ties, qualities that are not uniform."""
    variant = work.variant
    sets = work.judgments * 2 // (variant.per_set * (variant.per_set - 1))
    wins, ties = [], []
    for mu in _qualities(work.runs, SYSTEMS, rng, variant.qualities):
        screens = draw_screens(mu, sets, rng, sigma=work.sigma, per_set=variant.per_set)
        counts = _counts(*screens, SYSTEMS, variant.tie)
        wins.append(counts.wins)
        ties.append(counts.ties)
    won, tied = np.array(wins), np.array(ties)
    counted = won + tied / 2 if variant.half else won
    better = sign_test(won) <= LEVEL
    i, j = np.triu_indices(SYSTEMS, 1)
    return {
        "ties %": 100 * tied.sum(axis=(1, 2)) / 2 / work.judgments,
        "expected-win error %": _wrong(expected_win(counted)),
        "bojar error %": _wrong(bojar(counted)),
        "lopez error %": _wrong(_places(counted)),
        "significant %": 100 * (better[:, i, j] | better[:, j, i]).mean(axis=1),
        "significant, wrong %": 100 * better[:, j, i].mean(axis=1),
    }


def _share(work: CampaignWork) -> dict[str, np.ndarray]:
    """Table 4: the share of significant pairs at a number of judgments, and the number for it."""
    n, sigma, need = work.systems, work.sigma, np.nan
    reached = sign_share_exact(n, sigma, work.judgments, per_set=PER_SET, level=LEVEL)
    if work.share:
        need = judgments_for(work.share, n, sigma, test="sign", per_set=PER_SET, level=LEVEL)
    return {"share": np.array([reached]), "needed": np.array([need])}


def _real(campaign: WmtCampaign, rng: np.random.Generator) -> RealCampaign:
    table, without = campaign.judgments, campaign.without_blanks
    scores = expected_win(count(table).wins)
    other = dict(zip(without.systems, expected_win(count(without).wins), strict=True))
    named = zip(table.systems, scores, strict=True)
    shift = max(abs(score - other[name]) for name, score in named)
    return RealCampaign(
        named=rank_systems(table, rng.spawn(1)[0]),
        literal=rank_systems(table, rng.spawn(1)[0], literal=True),
        shift=float(shift),
        blanks=campaign.blanks,
        match=assay.match_sigma(table, points=10, orders=20, rng=rng.spawn(1)[0]),
        fit=assay.fit_sigma(table, level=1 - LEVEL),
    )


def rank_systems(
    judgments: assay.Judgments, rng: np.random.Generator, *, literal: bool = False
) -> PaperRanking:
    """Expected wins with the ranges of Tables 2 and 3: whole sets, or single judgments."""
    counts = count(judgments)
    scores = expected_win(counts.wins)
    block = None if literal else block_numbers(judgments, "set")
    ranges = equal_tailed_ranges if literal else shortest_ranges
    low, high = ranges(_table(counts, block, rng), 1 - LEVEL)
    rows = zip(counts.systems, scores.tolist(), low.tolist(), high.tolist(), strict=True)
    systems = sorted((RankedSystem(*row) for row in rows), key=lambda item: -item.score)
    return PaperRanking(tuple(systems), int(cluster_numbers(low, high).max()), len(judgments))
