"""Judgments of systems whose qualities are known: the model of koehn2012, section 3.

n systems have average qualities mu. A screen (*set*) shows outputs of ``per_set`` different systems
at random; each output has the quality q ~ N(mu, sigma^2), and the rater orders them by it, which
gives one judgment for every pair. The paper prints the number as a variance; its results follow
only if it is the standard deviation, and so it is read here.

:func:`simulate_judgments` makes a table and knows ties, random answers, segments and raters.
:func:`win_counts` makes counts only, for many campaigns at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, comb
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from assay.errors import OptionError
from assay.stats.random import Rng, as_rng
from assay.tables.answers import Judgments, read_judgments

SCALE = 10.0
"""Qualities range from 0 to this."""
MAX_SETS_LISTED = 60_000
"""If there are at most this many different sets, they are listed and drawn by number."""
SETS_AT_ONCE = 5000
"""The number of sets to simulate at once, which fit into the cache with their pairs."""
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Places = NDArray[np.intp]


def simulate_judgments(
    systems: int | Sequence[float] = 15,
    judgments: int = 10_000,
    *,
    sigma: float = 10.0,
    per_set: int = 5,
    qualities: str = "uniform",
    tie: float = 0.0,
    random_share: float = 0.0,
    segments: int | None = None,
    segment_share: float = 0.0,
    raters: int = 10,
    rater_share: float = 0.0,
    rng: Rng = None,
) -> Judgments:
    """Simulate the judgments of a campaign (koehn2012, section 3).

    systems: how many, or their average qualities; ``qualities`` says how they are drawn:
    ``uniform`` between 0 and 10 as in the paper, or ``normal`` with the same mean and sd.
    judgments: pairs, of which a set of 5 gives 10; the last set is cut where the number says so.
    sigma: standard deviation of the quality of an output. tie: outputs next to each other in
    the order and less than this apart are tied. random_share: sets answered at random.
    segments: how many there are; by default every set has its own. Of the variance sigma^2 the part
    ``segment_share`` belongs to the output and is the same for all who see it, and
    ``rater_share`` is a rater's liking for a system; the rest is new on every screen.

    >>> judged = simulate_judgments(3, 30, per_set=2, rng=1)
    >>> sorted(judged.systems), judged.frame.columns
    (['S1', 'S2', 'S3'], ['set', 'seg', 'rater', 'left', 'right', 'winner'])
    """
    rng = as_rng(rng)
    n = _check_systems(systems)
    _check_counts({"judgments": judgments, "segments": segments, "raters": raters})
    if not 2 <= per_set <= n:
        remedy = f"give 2 to {n}, the systems"
        raise OptionError("per_set", per_set, "outputs cannot fill a screen", remedy)
    _check_noise(sigma, tie, random_share, segment_share, rater_share)
    if isinstance(systems, int | np.integer):
        mu = draw_qualities(1, n, rng, qualities)[0]
    else:
        mu = np.asarray(systems, dtype=float)
    sets = ceil(judgments / comb(per_set, 2))
    total = sets if segments is None else segments
    segment = np.arange(sets) if segments is None else rng.integers(segments, size=sets)
    rater = rng.integers(raters, size=sets)
    shown = rng.permuted(draw_sets(sets, n, per_set, rng), axis=1)
    fresh = max(0.0, 1 - segment_share - rater_share)
    q = np.where(rng.random(sets) < random_share, 0.0, 1.0)[:, None] * mu[shown]
    q += sigma * np.sqrt(fresh) * rng.standard_normal(shown.shape)
    if segment_share:
        output = rng.standard_normal((total, n))
        q += sigma * np.sqrt(segment_share) * output[segment[:, None], shown]
    if rater_share:
        taste = rng.standard_normal((raters, n))
        q += sigma * np.sqrt(rater_share) * taste[rater[:, None], shown]
    seen = Screens(segment, rater, shown, screen_ranks(-q, tie))
    names = [f"S{i + 1}" for i in range(n)]
    screen, columns = judgment_columns(seen, names, [f"rater-{i + 1}" for i in range(raters)])
    places = {"set": (screen + 1).astype(str), "seg": (seen.segment[screen] + 1).astype(str)}
    return read_judgments(pl.DataFrame(places | columns)[:judgments])


def draw_qualities(runs: int, n: int, rng: Generator, kind: str = "uniform") -> Floats:
    """Draw the average qualities of n systems in ``runs`` campaigns (runs x n)."""
    if kind == "uniform":
        return rng.uniform(0.0, SCALE, (runs, n))
    if kind == "normal":
        return rng.normal(SCALE / 2, SCALE / np.sqrt(12), (runs, n))
    raise OptionError("qualities", kind, "is not a way to draw them", "choose uniform or normal")


def draw_sets(count: int, n: int, size: int, rng: Generator) -> Ints:
    """Draw ``count`` sets of ``size`` different systems out of n, each row sorted."""
    if comb(n, size) <= MAX_SETS_LISTED:
        return _every_set(n, size)[rng.integers(comb(n, size), size=count)]
    drawn = np.empty((count, size), dtype=np.int64)
    for i in range(size):
        # The r-th system that is not yet in the set: step over those already there, in order.
        drawn[:, i] = rng.integers(n - i, size=count)
        for j in range(i):
            drawn[:, i] += drawn[:, i] >= drawn[:, j]
        drawn[:, : i + 1].sort(axis=1)
    return drawn


def draw_screens(
    mu: Floats, count: int, rng: Generator, *, sigma: float = 10.0, per_set: int = 5
) -> tuple[Ints, Floats]:
    """Draw ``count`` random sets: their systems and the qualities of their outputs (count x k).

    >>> shown, q = draw_screens(np.array([0.0, 5.0, 10.0]), 4, as_rng(1), per_set=2)
    >>> shown.shape == q.shape == (4, 2)
    True
    """
    shown = draw_sets(count, len(mu), per_set, rng)
    return shown, mu[shown] + sigma * rng.standard_normal(shown.shape)


@lru_cache(maxsize=8)
def _every_set(n: int, size: int) -> Ints:
    return np.array(list(combinations(range(n), size)), dtype=np.int64)


def win_counts(
    mu: Floats, sets: Sequence[int], rng: Generator, *, sigma: float = 10.0, per_set: int = 5,
    random_share: float = 0.0,
) -> Ints:  # fmt: skip
    """Wins of i over j in every campaign after so many sets: runs x len(sets) x n x n.

    mu: average qualities, runs x n. sets: rising numbers of sets. The counts of one campaign grow
    along ``sets``, as they would while judgments come in. A set of k gives k (k - 1) / 2 judgments.

    >>> counts = win_counts(np.array([[9.0, 5.0, 1.0]]), [40, 80], as_rng(1), per_set=2)
    >>> counts.shape, counts.sum(axis=(2, 3)).tolist()
    ((1, 2, 3, 3), [[40, 80]])
    """
    runs, n = mu.shape
    wins = np.empty((runs, len(sets), n, n), dtype=np.int64)
    for run in range(runs):
        scaled = (mu[run] / sigma).astype(np.float32)
        wins[run] = _campaign(scaled, np.asarray(sets), rng, per_set, random_share)
    return wins


def _campaign(scaled: Floats32, sets: Ints, rng: Generator, size: int, random_share: float) -> Ints:
    """Count the wins of one campaign; qualities are in units of sigma.

    Blocks of sets stay in the cache. Every set has a number, from which tables give its
    means and, with the outcome, the cell of the count matrix: no sorting, no loop over sets.
    """
    n = len(scaled)
    listed = comb(n, size) <= MAX_SETS_LISTED
    every, table = (_every_set(n, size).T, _cells(n, size)) if listed else (None, None)
    means = None if every is None else scaled[every]
    wins = np.zeros((len(sets), n * n), dtype=np.int64)
    for start in range(0, int(sets[-1]), SETS_AT_ONCE):
        count = min(SETS_AT_ONCE, int(sets[-1]) - start)
        if means is None or table is None:
            shown = draw_sets(count, n, size, rng).T
            q, number, cells = scaled[shown], np.arange(count), _pair_cells(shown, n)
        else:
            number, cells = rng.integers(means.shape[1], size=count, dtype=np.int32), table
            q = np.take(means, number, axis=1)
        if random_share:
            q *= rng.random(count, dtype=np.float32) >= random_share
        q += rng.standard_normal(q.shape, dtype=np.float32)
        outcomes = _outcomes(q, number, cells)
        cuts = [0, *(int(cut) for cut in np.clip(sets - start, 0, count))]
        for step, (a, b) in enumerate(pairwise(cuts)):
            if b > a:
                wins[step] += np.bincount(outcomes[:, a:b].ravel(), minlength=n * n)
    return wins.cumsum(axis=0).reshape(len(sets), n, n)


def _outcomes(q: Floats32, number: Ints, cells: Ints) -> Ints:
    """The cell (winner, loser) of every pair of every set: pairs x sets."""
    half = cells.shape[1] // 2
    outcomes = np.empty((len(cells), len(number)), dtype=np.int64)
    for p, (i, j) in enumerate(combinations(range(len(q)), 2)):
        np.take(cells[p], number + half * (q[i] > q[j]), out=outcomes[p], mode="clip")
    return outcomes


@lru_cache(maxsize=8)
def _cells(n: int, size: int) -> Ints:
    return _pair_cells(_every_set(n, size).T, n)


def _pair_cells(shown: Ints, n: int) -> Ints:
    """Cell of the count matrix by pair, for each set if the second wins, then if the first."""
    first, second = np.array(list(combinations(range(len(shown)), 2))).T
    return np.hstack([shown[second] * n + shown[first], shown[first] * n + shown[second]])


class Screens(NamedTuple):
    """Judged screens, one per row; ``systems`` and ``ranks`` have one column per output."""

    segment: Places
    rater: Places
    systems: Places
    ranks: Places


def screens(
    badness: Floats, count: int, size: int, *, noise: float, tie: float, rng: Generator
) -> Screens:
    """Draw ``count`` screens of ``size`` random systems, on random segments by random raters.

    badness: S x G x R. A rater sees it with fresh normal noise and gives two neighbours the same
    rank where they are less than ``tie`` apart, so that ties are transitive as on real screens.
    """
    S, G, R = badness.shape
    segment, rater = rng.integers(G, size=count), rng.integers(R, size=count)
    systems = rng.permuted(np.broadcast_to(np.arange(S), (count, S)), axis=1)[:, :size]
    seen = badness[systems, segment[:, None], rater[:, None]]
    seen = seen + noise * rng.standard_normal(seen.shape)
    return Screens(segment, rater, systems, screen_ranks(seen, tie))


def screen_ranks(badness: Floats, tie: float) -> Places:
    """Rank each screen (row), least bad first; neighbours less than ``tie`` apart share a rank."""
    order = np.argsort(badness, axis=1)
    steps = np.diff(np.take_along_axis(badness, order, axis=1), axis=1) >= tie
    ordered = np.column_stack([np.zeros(len(badness), dtype=np.intp), np.cumsum(steps, axis=1)])
    ranks = np.empty_like(ordered)
    np.put_along_axis(ranks, order, ordered, axis=1)
    return ranks


def judgment_columns(
    seen: Screens, systems: Sequence[str], raters: Sequence[str]
) -> tuple[Places, dict[str, list[str]]]:
    """The screen of every judgment, and the columns ``rater, left, right, winner``."""
    i, j = np.triu_indices(seen.systems.shape[1], k=1)
    screen = np.repeat(np.arange(len(seen.segment)), len(i))
    sign = np.sign(seen.ranks[:, i] - seen.ranks[:, j]).ravel()
    shown = np.array(systems)[seen.systems]
    return screen, {
        "rater": np.array(raters)[seen.rater[screen]].tolist(),
        "left": shown[:, i].ravel().tolist(),
        "right": shown[:, j].ravel().tolist(),
        "winner": np.array(["left", "tie", "right"])[sign + 1].tolist(),
    }


def _check_systems(systems: int | Sequence[float]) -> int:
    if isinstance(systems, int | np.integer) and not isinstance(systems, bool):
        n = int(systems)
    else:
        given = np.asarray(systems, dtype=float)
        if given.ndim != 1 or not np.isfinite(given).all():
            remedy = "give a number of systems or their means"
            raise OptionError("systems", systems, "are not qualities", remedy)
        n = len(given)
    if n < 2:
        raise OptionError("systems", n, "leaves nothing to compare", "give at least 2")
    return n


def _check_noise(
    sigma: float, tie: float, random_share: float, segment_share: float, rater_share: float
) -> None:
    if not (np.isfinite(sigma) and sigma > 0):
        raise OptionError("sigma", sigma, "is not a positive number", "give one like 10")
    if not tie >= 0:
        raise OptionError("tie", tie, "is not a distance", "give 0 or more")
    shares = {"random_share": random_share, "segment_share": segment_share}
    for name, value in (shares | {"rater_share": rater_share}).items():
        if not 0 <= value <= 1:
            raise OptionError(name, value, "is not a share", "give a number from 0 to 1")
    if segment_share + rater_share > 1:
        raise OptionError(
            "rater_share", rater_share, f"and segment_share ({segment_share:g}) exceed 1",
            "both are parts of the variance sigma^2",
        )  # fmt: skip


def _check_counts(counts: dict[str, int | None]) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise OptionError(name, value, "is not a number of them", "give at least 1")
