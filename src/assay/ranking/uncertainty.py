"""The uncertainty of a ranking: rank ranges, p values, and when a difference counts as decided.

The bootstrap resamples the campaign. Single judgments are drawn as one multinomial over the cells
of the count table. Blocks (screens, segments, raters) are drawn as weights, and the counts of all
resamples are the product of the weights with the counts of each block. Neither loops over
judgments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.ranking.counts import (
    MIN_RATERS,
    Counts,
    JudgmentUnits,
    evidence,
    listed,
    normal_equations,
    renumbered,
    solve,
    winner_cells,
)
from assay.ranking.methods import score
from assay.results import Note
from assay.stats.intervals import competition_ranks, rank_ranges
from assay.stats.intervals import holm as holm_adjusted
from assay.stats.progress import Progress

MIN_BLOCKS = 10
"""The fewest blocks of a system whose resampling shows their uncertainty."""
MAX_NUMBERS = 4_000_000
"""The most numbers in an array: 32 MiB."""
MAX_SPARSE_SHARE = 0.06
"""With a smaller share of filled cells, a sparse product is faster."""
MAX_FLOAT32 = 2**23
"""Fewer judgments are counted exactly in float32, even if a resample repeats many of them."""


class Rule(NamedTuple):
    """When a difference is decided: level, sides of the tests, correction for their number.

    One-sided tests (koehn2012) test each direction of a pair at 1 - level, so two equal systems are
    called different twice as often. Holm's correction covers both directions of all pairs: the
    chance of any false difference is at most 1 - level, whatever the sides.
    """

    level: float
    sides: int
    holm: bool

    @property
    def alpha(self) -> float:
        """The level of one test in one direction."""
        # 1 - .95 is a little more than .05.
        return round((1 - self.level) / self.sides, 12)

    def alpha_of_closest(self, undecided: int) -> float:
        """The one-sided level at which the closest of the undecided pairs is decided."""
        return (1 - self.level) / 2 / max(undecided, 1) if self.holm else self.alpha

    def decide(self, p: np.ndarray) -> np.ndarray:
        """Whether i is better than j, from the one-sided p of every ordered pair.

        >>> Rule(0.95, 1, False).decide(np.array([[0.5, 0.03], [0.97, 0.5]])).tolist()
        [[False, True], [False, False]]
        """
        if not self.holm:
            return np.asarray(p <= self.alpha)
        i, j = np.triu_indices(len(p), 1)
        adjusted = np.ones_like(p)
        adjusted[i, j] = adjusted[j, i] = self.shown(np.minimum(p[i, j], p[j, i]))
        return np.asarray((adjusted <= round(1 - self.level, 12)) & (p < p.T))

    def shown(self, smaller: np.ndarray) -> np.ndarray:
        """The p to show for pairs, from the smaller one-sided p of each."""
        if self.holm:
            return holm_adjusted(np.minimum(1.0, 2 * smaller))
        return np.asarray(np.minimum(1.0, self.sides * smaller))


class Uncertainty(NamedTuple):
    """Rank ranges and, for every pair, the one-sided p of "i is better than j"."""

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    notes: tuple[Note, ...] = ()
    stderr: np.ndarray | None = None


class Unseen(NamedTuple):
    """The uncertainty that resampling units does not show.

    cover: the covariance of the scores on one scale; with few judgments of a pair, these scatter
    less around the pair's observed win ratio than around the true one. taste: the variance that the
    tastes of the ``raters`` add, relative to that of the units. blocks: the number of equal-sized
    blocks that each system's blocks are worth (Kish).
    """

    cover: np.ndarray | None = None
    taste: float = 0.0
    raters: int = 2
    blocks: np.ndarray | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note on how much raters' tastes matter."""
        if self.raters < MIN_RATERS:
            return ()
        text = (
            f"differences in taste between {self.raters:,} raters add {self.taste:.0%} to the"
            " variance of differences; ranges and tests therefore hold for raters like these"
        )
        return (Note("raters-tastes", text),)

    def degrees(self, blocks: np.ndarray) -> np.ndarray:
        """Degrees of freedom of the variance, given the number of blocks of each system."""
        worth = blocks if self.blocks is None else np.minimum(blocks, self.blocks)
        # Satterthwaite's, of a sum of two variances.
        parts = 1 / np.maximum(worth - 1.0, 1.0) + self.taste**2 / (self.raters - 1)
        return np.asarray((1 + self.taste) ** 2 / parts)


def bootstrap(
    counts: Counts, units: JudgmentUnits, *, method: str, ties: str, range_kind: str,
    level: float, rule: Rule, resamples: int, rng: np.random.Generator, progress: Progress,
) -> Uncertainty:  # fmt: skip
    """Rank ranges from resampled campaigns; p from the spread of the differences of scores."""
    block = units.block
    point = score(method, counts.wins, counts.ties, ties)
    parts: list[np.ndarray] = []
    done = 0
    for wins, tied in resampled_counts(counts, block, resamples, rng):
        parts.append(score(method, wins, tied, ties, resampled=True))
        done += len(parts[-1])
        progress("resampling", done, resamples)
    blocks = evidence(counts, block, "half" if method == "better-or-equal" else ties)
    scores, steps = np.concatenate(parts), method in ("bradley-terry", "lopez")
    if method == "bradley-terry":  # differences of logarithms are what the model is about
        point, scores = np.log(point), np.log(scores)
    unseen = find_unseen(counts, units, method, ties)
    sure = spread(
        point, scores, blocks, range_kind, level, rule, steps=steps,
        unseen=None if method == "lopez" else unseen,  # its places would not stay whole
    )  # fmt: skip
    rare = [counts.systems[k] for k in np.flatnonzero(blocks < MIN_BLOCKS)]
    return sure._replace(notes=(*sure.notes, *few_blocks(rare), *unseen.notes))


def few_blocks(systems: list[str]) -> list[Note]:
    """A note on systems with too few blocks to resample."""
    if not systems:
        return []
    text = f"fewer than {MIN_BLOCKS} units each, so tests widen the ranges: {listed(systems, 5)}"
    return [Note("few-units-per-system", text)]


def find_unseen(counts: Counts, units: JudgmentUnits, method: str, ties: str) -> Unseen:
    """Estimate the uncertainty from few judgments per pair and from raters' tastes."""
    ties = "half" if method == "better-or-equal" else ties
    block = np.arange(len(counts.left)) if units.block is None else units.block
    cover = expected_win_cover(counts, block, ties)
    taste, raters = 0.0, units.raters or 2
    if units.rater is not None:
        by_rater = expected_win_cover(counts, units.rater, ties)
        by_both = expected_win_cover(counts, block * raters + units.rater, ties)
        # Averaged over all pairs: one pair's own would be too noisy with a few raters.
        shown, rated, both = (float(np.sum(gap_stderr(c) ** 2)) for c in (cover, by_rater, by_both))
        taste = max(0.0, (rated - both) / shown) if shown > 0 else 0.0
    own = cover if method == "expected-win" else None
    return Unseen(own, taste, raters, _equal_blocks(counts, block))


def _equal_blocks(counts: Counts, block: np.ndarray) -> np.ndarray:
    """The number of equal-sized blocks that each system's are worth: (sum m)^2 / sum m^2."""
    n = len(counts.systems)
    where = np.concatenate([block, block]), np.concatenate([counts.left, counts.right])
    shape = int(block.max()) + 1, n
    size = scipy.sparse.csr_array((np.ones(2 * len(block)), where), shape=shape)
    total, square = (np.asarray(part.sum(axis=0)).ravel() for part in (size, size.multiply(size)))
    return np.asarray(total**2 / np.maximum(square, 1.0))


def expected_win_cover(counts: Counts, block: np.ndarray, ties: str) -> np.ndarray:
    """The covariance of the expected wins over blocks, from each block's first-order influence.

    A judgment of i and j changes their win ratio by (y - expected y) / judgments of the pair, and
    each score by that over the opponents met; y is expected from least-squares strengths. As in a
    jackknife, a block with the share w of all judgments counts 1 / (1 - w) times, because it pulls
    the expected values towards itself.
    """
    n, used = len(counts.systems), counts.outcome != 0
    if ties != "drop":
        used = np.ones_like(used)
    tied = counts.ties if ties != "drop" else None
    strength, _ = solve(*normal_equations(counts.wins, tied))
    games = counts.wins + counts.wins.T + (0 if tied is None else tied)
    i, j = counts.left[used], counts.right[used]
    expected = np.clip(strength[i] - strength[j], -1.0, 1.0)
    change = (counts.outcome[used] - expected) / 2 / games[i, j]
    met = np.maximum((games > 0).sum(axis=1), 1)
    blocks, row = renumbered(block[used])
    share = np.bincount(row) / len(row)
    change = change / np.maximum(1 - share, 0.5)[row]
    values = np.concatenate([change / met[i], -change / met[j]])
    where = np.concatenate([row, row]), np.concatenate([i, j])
    sums = scipy.sparse.csr_array((values, where), shape=(len(blocks), n))
    return np.asarray((sums.T @ sums).toarray()) * (1 - 1 / len(blocks))


def spread(
    point: np.ndarray, scores: np.ndarray, blocks: np.ndarray, range_kind: str, level: float,
    rule: Rule, *, steps: bool = False, unseen: Unseen | None = None,
) -> Uncertainty:  # fmt: skip
    """Rank ranges and p values from resampled scores (resamples x systems); higher is better.

    ``blocks`` is the number of blocks of each system: b resampled blocks scatter (b - 1) / b as
    much as b new ones, and Student's t widens the result further. Scores whose spread is
    meaningless, because they move in ``steps`` or are unbounded, are compared by order alone.
    """
    missing = np.isnan(scores)
    scores = np.where(missing, point, scores)  # a resample without the system has no score
    stderr, degrees = None, np.maximum(blocks - 1.0, 1.0)
    if unseen is not None:
        degrees = unseen.degrees(blocks)
        scores, stderr = _widened(point, scores, blocks, unseen)
        student = scipy.special.stdtrit(degrees, (1 + level) / 2) / scipy.special.ndtri(
            (1 + level) / 2
        )
        scores = point + student * (scores - point)
    low, high = ranges_of(rank_table(competition_ranks(scores, digits=12)), range_kind, level)
    if steps:
        stderr = None
    p = (
        _by_order(scores, blocks) if stderr is None
        else student_p(z_scores(point, stderr), blocks, degrees)
    )  # fmt: skip
    # Resampling few blocks understates their uncertainty, so tests widen the ranges.
    tested_low, tested_high = rank_ranges(rule.decide(p))
    rare = blocks < MIN_BLOCKS
    # The same holds if nothing moves.
    if stderr is None:
        rare |= np.ptp(scores, axis=0) == 0
    else:
        rare |= (stderr + np.eye(len(point)) <= 0).any(axis=1)
    low = np.where(rare, np.minimum(low, tested_low), low)
    high = np.where(rare, np.maximum(high, tested_high), high)
    absent = int(missing.any(axis=1).sum())
    text = f"in {absent} of {len(scores)} resamples a system was missing and kept its score"
    notes = (Note("missing-in-resamples", text),) if absent else ()
    return Uncertainty(low, high, p, notes, stderr)


def _widened(
    point: np.ndarray, scores: np.ndarray, blocks: np.ndarray, unseen: Unseen
) -> tuple[np.ndarray, np.ndarray]:
    """Resampled scores widened to the scatter of new ones, and standard errors of differences."""
    few = np.maximum(blocks, 2.0)
    scores = point + np.sqrt(few / (few - 1) * (1 + unseen.taste)) * (scores - point)
    stderr = gap_stderr(np.atleast_2d(np.cov(scores, rowvar=False)))
    if unseen.cover is None:
        return scores, stderr
    cover = unseen.cover * (1 + unseen.taste)
    found = scores.std(axis=0)
    wider = np.divide(np.sqrt(np.diagonal(cover)), found, out=np.ones_like(found), where=found > 0)
    scores = point + np.maximum(wider, 1.0) * (scores - point)
    return scores, np.maximum(stderr, gap_stderr(cover))


def gap_stderr(cover: np.ndarray) -> np.ndarray:
    """The standard error of every difference, from the covariance of the scores (..., n, n)."""
    variance = np.diagonal(cover, axis1=-2, axis2=-1)
    square = variance[..., :, None] + variance[..., None, :] - 2 * cover
    # Rounding is not spread.
    return np.sqrt(np.where(square > 1e-24, square, 0.0))


def z_scores(point: np.ndarray, stderr: np.ndarray) -> np.ndarray:
    """Every difference (i minus j) over its standard error; infinite if that is 0."""
    gap = point[..., :, None] - point[..., None, :]
    sure = np.where(gap > 1e-12, np.inf, np.where(gap < -1e-12, -np.inf, 0.0))
    return np.asarray(np.divide(gap, stderr, out=sure, where=stderr > 0))


def student_p(z: np.ndarray, blocks: np.ndarray, degrees: np.ndarray | None = None) -> np.ndarray:
    """One-sided p of z by Student's t, with the fewer degrees of freedom of the two systems.

    By default these are one less than the system's blocks. No p is below 2^-b, the probability that
    b blocks agree by chance.

    >>> student_p(np.array([[0.0, np.inf], [-np.inf, 0.0]]), np.array([2, 9])).tolist()
    [[0.5, 0.25], [0.75, 0.5]]
    """
    fewer = np.minimum.outer(blocks, blocks)
    free = np.maximum(fewer - 1.0, 1.0) if degrees is None else np.minimum.outer(degrees, degrees)
    return _floored(scipy.special.stdtr(free, -z), fewer)


def _by_order(scores: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """One-sided p of "i is better than j": the share of resamples in the other order."""
    resamples, n = scores.shape
    p = np.empty((n, n))
    for i in range(n):
        gap = scores[:, i, None] - scores
        p[i] = ((gap < 0).sum(axis=0) + 0.5 * (gap == 0).sum(axis=0) + 0.5) / (resamples + 1)
    return _floored(p, np.minimum.outer(blocks, blocks))


def _floored(p: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    least = 0.5 ** np.maximum(blocks, 1.0)
    return np.asarray(np.clip(p, least, 1 - least))


def rank_table(ranks: np.ndarray) -> np.ndarray:
    """How often each system had each rank: (..., resamples, n) to (..., n, n).

    >>> rank_table(np.array([[1, 2], [1, 2], [2, 1]])).tolist()
    [[2, 1], [1, 2]]
    """
    n = ranks.shape[-1]
    flat = ranks.reshape(-1, ranks.shape[-2], n) - 1
    cell = (np.arange(len(flat))[:, None, None] * n + np.arange(n)) * n + flat
    table = np.bincount(cell.ravel(), minlength=len(flat) * n * n)
    return table.reshape((*ranks.shape[:-2], n, n))


def ranges_of(table: np.ndarray, kind: str, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of every system's range (koehn2012, section 5.1), from a :func:`rank_table`."""
    ranges = shortest_ranges if kind == "shortest" else equal_tailed_ranges
    return ranges(table, level)


def shortest_ranges(table: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The shortest range of ranks that holds ``level`` of the resamples; of equals, the fullest.

    >>> low, high = shortest_ranges(np.array([[90, 8, 2], [1, 9, 90], [9, 83, 8]]), 0.9)
    >>> low.tolist(), high.tolist()
    ([1, 3, 1], [1, 3, 2])
    """
    n = table.shape[-1]
    below = _below(table)
    need = level * below[..., -1] - 1e-9
    low, high = np.ones(need.shape, dtype=np.int64), np.full(need.shape, n)
    missing = np.ones(need.shape, dtype=bool)
    for width in range(1, n + 1):
        held = below[..., width:] - below[..., :-width]
        best = held.argmax(axis=-1)
        enough = missing & (held.max(axis=-1) >= need)
        low, high = np.where(enough, best + 1, low), np.where(enough, best + width, high)
        missing &= ~enough
        if not missing.any():
            break
    return low, high


def equal_tailed_ranges(table: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The range left after cutting off (1 - level) / 2 of the resamples at each end.

    >>> low, high = equal_tailed_ranges(np.array([[90, 8, 2], [1, 9, 90], [9, 83, 8]]), 0.9)
    >>> low.tolist(), high.tolist()
    ([1, 2, 1], [2, 3, 3])
    """
    below = _below(table)
    total = below[..., -1:]
    cut = np.floor((1 - level) / 2 * total + 1e-9)
    low = 1 + (below[..., 1:] <= cut).sum(axis=-1)
    high = (below[..., :-1] < total - cut).sum(axis=-1)
    return low, high


def _below(table: np.ndarray) -> np.ndarray:
    """The number of resamples with a rank of at most 0, 1, ..., n."""
    start = np.zeros((*table.shape[:-1], 1), dtype=table.dtype)
    return np.concatenate([start, np.cumsum(table, axis=-1)], axis=-1)


def resampled_counts(
    counts: Counts, block: np.ndarray | None, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Resample blocks (None: single judgments); yield batches of wins and ties (rows x n x n)."""
    n = len(counts.systems)
    if block is None:
        total = np.concatenate([counts.wins.ravel(), np.triu(counts.ties).ravel()])
        cells = np.flatnonzero(total)
        numbers = len(cells)
    else:
        table, cells = block_table(counts, block)
        numbers = table.shape[0]
    size = max(1, MAX_NUMBERS // max(numbers, 4 * n**2))
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        if block is None:
            chance = total[cells] / total.sum()
            drawn = rng.multinomial(int(total.sum()), chance, size=rows)
        else:
            drawn = _weighted(table, block_weights(table.shape[0], rows, rng))
        full = np.zeros((rows, 2 * n * n))
        full[:, cells] = drawn
        wins, ties = full.reshape(-1, 2, n, n).swapaxes(0, 1)
        yield wins, ties + ties.swapaxes(1, 2)


def block_table(counts: Counts, block: np.ndarray) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Counts (blocks x cells), and the cells: i * n + j if i beat j, n * n more for a tie."""
    n = len(counts.systems)
    cell = winner_cells(counts.left, counts.right, counts.outcome, n)
    cells, column = renumbered(cell + n * n * (counts.outcome == 0))
    blocks = int(block.max()) + 1
    table = scipy.sparse.coo_array(
        (np.ones(len(cell)), (block, column)), shape=(blocks, len(cells))
    )
    return table.tocsr(), cells


def block_weights(blocks: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """How often each block is drawn, with as many draws as blocks (rows x blocks)."""
    drawn = rng.integers(blocks, size=(rows, blocks), dtype=np.int32)
    weights = np.empty((rows, blocks), dtype=np.float32)
    for weight, draws in zip(weights, drawn, strict=True):  # row by row stays in the cache
        weight[:] = np.bincount(draws, minlength=blocks)
    return weights


def _weighted(table: scipy.sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """The counts of each resample: weights (rows x blocks) times the counts of the blocks."""
    blocks, cells = table.shape
    if table.nnz > MAX_SPARSE_SHARE * blocks * cells and blocks * cells <= 4 * MAX_NUMBERS:
        kind = np.float32 if table.sum() < MAX_FLOAT32 else np.float64
        return np.asarray(weights.astype(kind, copy=False) @ table.toarray().astype(kind))
    return np.asarray((table.T.tocsr() @ weights.T.astype(float)).T)
