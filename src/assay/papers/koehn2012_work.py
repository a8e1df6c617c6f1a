"""The simulations and computations behind koehn2012, a piece of work at a time.

Systems are numbered from the best to the worst, so that the true rank of system i is i + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.papers.koehn2012_data import Campaign
from assay.papers.koehn2012_numbers import SIZES, SYSTEMS
from assay.ranking.counts import Counts, count
from assay.ranking.methods import bojar, expected_win, lopez_order
from assay.ranking.pairs import sign_test
from assay.ranking.power import judgments_for, sign_share_exact
from assay.ranking.rank import Ranking, rank
from assay.ranking.sigma import SigmaFit, SigmaMatch, fit_sigma, match_sigma
from assay.ranking.uncertainty import (
    equal_tailed_ranges,
    rank_table,
    resampled_counts,
    shortest_ranges,
)
from assay.stats.orders import cluster_numbers, competition_ranks, rank_ranges
from assay.worlds.judgments import draw_qualities, draw_screens, screen_ranks, win_counts

LEVEL, RESAMPLES = 0.05, 1000


class Variant(NamedTuple):
    """A way in which a campaign may differ from the paper's model."""

    name: str
    per_set: int = 5
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


class Work(NamedTuple):
    """A piece of work: ``kind`` errors, ranges, beyond, share or pair, and what it needs."""

    kind: str
    runs: int = 0
    sigma: float = 10.0
    exact: int = 0
    variant: Variant = VARIANTS[0]
    judgments: int = 0
    systems: int = SYSTEMS
    share: float = 0.0
    campaign: Campaign | None = None
    pair: str = ""


class Real(NamedTuple):
    """What a real campaign says, by the readings that give the paper's numbers, and literally."""

    named: Ranking
    literal: Ranking
    shift: float
    blanks: int
    match: SigmaMatch
    fit: SigmaFit


class Record(NamedTuple):
    """What a piece of work found: values by name, the first axis simulated campaigns."""

    work: Work
    values: dict[str, np.ndarray]
    real: Real | None = None


def do_work(work: Work, rng: np.random.Generator) -> Record:
    """Do one piece of work."""
    if work.kind == "pair":
        assert work.campaign is not None
        return Record(work._replace(campaign=None), {}, _real(work.campaign, rng))
    if work.kind == "share":
        return Record(work, _share(work))
    return Record(
        work, {"errors": _errors, "ranges": _ranges, "beyond": _beyond}[work.kind](work, rng)
    )


def _qualities(runs: int, n: int, rng: np.random.Generator, kind: str = "uniform") -> np.ndarray:
    return np.asarray(-np.sort(-draw_qualities(runs, n, rng, kind), axis=1))


def _wrong(scores: np.ndarray) -> np.ndarray:
    """Pairs in the wrong order, % (eq. 5 with n (n - 1) / 2)."""
    i, j = np.triu_indices(scores.shape[-1], 1)
    return np.asarray(100 * (scores[..., i] < scores[..., j]).mean(axis=-1))


def _places(wins: np.ndarray) -> np.ndarray:
    order = lopez_order(wins)
    scores = np.empty(order.shape)
    n = wins.shape[-1]
    np.put_along_axis(scores, order, np.broadcast_to(-np.arange(n, dtype=float), order.shape), -1)
    return scores


def _judged(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Size of ranges, violations (%), clusters, their violations (%), along a new last axis."""
    n = low.shape[-1]
    truth = np.arange(1, n + 1)
    missed = ((truth < low) | (truth > high)).mean(axis=-1)
    cluster = cluster_numbers(low, high)
    i, j = np.triu_indices(n, 1)
    turned = np.zeros((*low.shape, n), dtype=bool)
    turned[..., i, j] = cluster[..., i] > cluster[..., j]
    torn = (turned | np.swapaxes(turned, -1, -2)).any(axis=-1).mean(axis=-1)
    size = (high - low + 1).mean(axis=-1)
    return np.stack([size, 100 * missed, cluster.max(axis=-1), 100 * torn], axis=-1)


def _errors(work: Work, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Figure 3, the pairwise half of Table 1, and whether win ratios are uniform."""
    mu = _qualities(work.runs, SYSTEMS, rng)
    wins = win_counts(mu, [size // 10 for size in SIZES], rng, sigma=work.sigma)
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


def _ranges(work: Work, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The bootstrap half of Table 1: whole sets, and single judgments as written."""
    found: dict[str, list[list[np.ndarray]]] = {"bootstrap": [], "literal": []}
    for mu in _qualities(work.runs, SYSTEMS, rng):
        shown, q = draw_screens(mu, SIZES[-1] // 10, rng, sigma=work.sigma)
        rows: dict[str, list[np.ndarray]] = {name: [] for name in found}
        for size in SIZES:
            counts = _counts(shown[: size // 10], q[: size // 10], SYSTEMS)
            block = np.repeat(np.arange(size // 10), 10)
            sets = shortest_ranges(_table(counts, block, rng), 1 - LEVEL)
            single = equal_tailed_ranges(_table(counts, None, rng), 1 - LEVEL)
            rows["bootstrap"].append(_judged(*sets))
            rows["literal"].append(_judged(*single))
        for name in found:
            found[name].append(rows[name])
    return {name: np.array(values) for name, values in found.items()}


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


def _beyond(work: Work, rng: np.random.Generator) -> dict[str, np.ndarray]:
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


def _share(work: Work) -> dict[str, np.ndarray]:
    """Table 4: the share of significant pairs at a number of judgments, and the number for it."""
    reached = sign_share_exact(work.systems, work.sigma, work.judgments)
    need = judgments_for(work.share, work.systems, work.sigma) if work.share else np.nan
    return {"share": np.array([reached]), "needed": np.array([need])}


def _real(campaign: Campaign, rng: np.random.Generator) -> Real:
    table, without = campaign.judgments, campaign.without_blanks
    scores = expected_win(count(table).wins)
    other = dict(zip(without.systems, expected_win(count(without).wins), strict=True))
    named = zip(table.systems, scores, strict=True)
    shift = max(abs(score - other[name]) for name, score in named)
    return Real(
        named=rank(table, resample="set", rng=rng.spawn(1)[0]),
        literal=rank(table, resample="pair", range_kind="equal-tailed", rng=rng.spawn(1)[0]),
        shift=float(shift),
        blanks=campaign.blanks,
        match=match_sigma(table, rng=rng.spawn(1)[0]),
        fit=fit_sigma(table),
    )
