"""Verdicts on pairs of systems while judgments come in, valid at any number of looks.

An ordinary test at every look calls equal systems different far too often, especially if earlier
results decide which pair is shown next. Here every judgment of a pair is the toss of a coin, and a
pair is decided when bets against a fair coin have won enough (see
:func:`assay.stats.betting.coin_evidence`). That is valid at all looks together, whatever rule
chooses the pairs and the time to stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.errors import need_level
from assay.pay import pay_of
from assay.ranking.counts import all_systems, block_numbers, first_judgments
from assay.ranking.counts import count as count_judgments
from assay.results import UNPAID, Costs, Note, Result, signature
from assay.stats.betting import coin_evidence, coin_interval
from assay.stats.intervals import LEVEL
from assay.tables.answers import Judgments

MAX_MORE = 1_000_000
"""The most further judgments of a pair that advice asks for."""


@dataclass(frozen=True, slots=True)
class WatchedPair:
    """A pair of systems, the one with more wins on the ``left``.

    ``share`` is the left's share of the judgments (ties count half), with an interval that holds at
    all looks together. ``evidence`` is the decimal logarithm of the factor by which bets against
    equal systems multiplied their money. ``more`` is the number of further judgments that decide
    the pair if the share stays: 0 once decided, None if out of reach.
    """

    left: str
    right: str
    wins: int
    losses: int
    ties: int
    share: float
    low: float
    high: float
    evidence: float
    decided: bool
    better: str | None
    more: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentsMonitoring(Result, kind="monitoring-judgments", listing="pairs"):
    """The pairs decided so far, valid at any number of looks and for any choice of pairs.

    ``family`` says whether the level holds for all pairs together or for each pair; a pair is
    decided when its evidence reaches ``needed``. ``best`` is decidedly better than all others.
    """

    stop: bool
    systems: tuple[str, ...]
    best: str | None
    pairs: tuple[WatchedPair, ...]
    decided: int
    judgments: int
    level: float
    family: bool
    needed: float
    pay: Costs = UNPAID
    """What a judgment costs."""
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """The settings behind the verdicts, in one line."""
        return signature(
            "any-time", n=len(self.systems), judgments=self.judgments, ties="half",
            family="yes" if self.family else "no", level=f"{self.level:g}",
        )  # fmt: skip


def monitor_judgments(
    judgments: Judgments,
    *,
    systems: Sequence[str] | None = None,
    family: bool = True,
    level: float = LEVEL,
    pay: Costs | str | None = None,
) -> JudgmentsMonitoring:
    """Find the pairs that the judgments so far decide, at any look and for any choice of pairs.

    With W wins (ties are half) among n judgments of a pair, e = B(W + 1/2, n - W + 1/2) /
    B(1/2, 1/2) 2^n; the pair is decided when e >= m / (1 - level). family: the chance that any
    of the m pairs is ever decided wrongly is at most 1 - level; else that of each (m = 1).
    systems: all competing systems, if some have not been judged yet. pay: the cost of a judgment.
    Of a rater's judgments of a pair on a segment, the first counts.

    >>> from assay import simulate_judgments
    >>> table = simulate_judgments([0, 5, 10], 300, per_set=2, rng=1)
    >>> watched = monitor_judgments(table)
    >>> [(pair.left, pair.right, pair.decided) for pair in watched.pairs]
    [('S3', 'S1', True), ('S3', 'S2', True), ('S2', 'S1', False)]
    """
    need_level(level)
    judgments, repeated = first_judgments(judgments, screens=False)
    counts = count_judgments(judgments)
    names = all_systems(counts.systems, systems)
    number = len(names) * (len(names) - 1) // 2
    needed = (number if family else 1) / (1 - level)
    pairs = _watched(counts.systems, counts.wins, counts.ties, needed)
    notes = [*judgments.notes, *repeated]
    if len(pairs) < number:
        text = f"{number - len(pairs):,} of {number:,} pairs have no judgment yet"
        notes.append(Note("not-judged-yet", text))
    decided = sum(pair.decided for pair in pairs)
    return JudgmentsMonitoring(
        stop=decided == number, systems=names, best=_best(names, pairs), pairs=pairs,
        decided=decided, judgments=len(judgments), level=level, family=family, needed=needed,
        pay=UNPAID if pay is None else pay_of(pay), notes=(*notes, *_same_segment(judgments)),
    )  # fmt: skip


def _watched(
    systems: tuple[str, ...], wins: np.ndarray, ties: np.ndarray, needed: float
) -> tuple[WatchedPair, ...]:
    """The judged pairs, those with the most evidence first."""
    i, j = np.nonzero(np.triu(wins + wins.T + ties, 1))
    ahead = wins[i, j] >= wins[j, i]
    i, j = np.where(ahead, i, j), np.where(ahead, j, i)
    won, lost, tied = wins[i, j], wins[j, i], ties[i, j]
    n, total = won + lost + tied, won + tied / 2
    log = coin_evidence(total, n)
    low, high = coin_interval(total, n, needed)
    # Evidence and interval reach the threshold together, up to rounding.
    decided = (log >= math.log(needed)) & (won > lost)
    order = np.lexsort((np.arange(len(n)), -log))
    return tuple(
        WatchedPair(
            systems[i[k]], systems[j[k]], int(won[k]), int(lost[k]), int(tied[k]),
            float(total[k] / n[k]), float(low[k]), float(high[k]), float(log[k] / math.log(10)),
            bool(decided[k]), systems[i[k]] if decided[k] else None,
            0 if decided[k] else _more(float(total[k] / n[k]), int(n[k]), needed),
        )
        for k in order
    )  # fmt: skip


def _more(share: float, n: int, needed: float) -> int | None:
    """The further judgments that decide a pair if its share stays."""
    grid = np.unique(np.geomspace(n, n + MAX_MORE, 4000).astype(np.int64))
    enough = np.flatnonzero(coin_evidence(share * grid, grid) >= math.log(needed))
    return int(grid[enough[0]] - n) if len(enough) else None


def _best(names: tuple[str, ...], pairs: tuple[WatchedPair, ...]) -> str | None:
    """The system that is decidedly better than every other."""
    beaten = [pair.better for pair in pairs]
    return next((name for name in names if beaten.count(name) == len(names) - 1), None)


def _same_segment(judgments: Judgments) -> list[Note]:
    """Note the judgments of a pair on a segment where it was judged before."""
    segment = block_numbers(judgments, "segment")
    if segment is None:
        return []
    sides = pl.concat_list("left", "right").list.sort()
    frame = judgments.frame.select(pair=sides).with_columns(segment=pl.Series(segment))
    again = frame.height - frame.n_unique()
    if not again:
        return []
    text = (
        f"{again:,} of {frame.height:,} judgments repeat a pair on a segment judged before;"
        " verdicts are for these segments, and hold if every screen drew its segment at random"
    )
    return [Note("segments-judged-again", text)]
