"""Campaigns that might have been: counts of wins from judgments drawn anew.

Single judgments are drawn as one multinomial over the cells of the count table. Blocks (screens,
segments, raters) are drawn as weights, and the counts of all resamples are one product of the
weights with the counts of each block. Neither needs a loop over judgments.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from assay.ranking.counts import Counts, renumbered

NUMBERS = 4_000_000
"""Numbers held at a time: 32 MiB of each array."""

THIN = 0.06
"""Share of filled cells below which a sparse product is faster."""

WHOLE = 2**23
"""Judgments up to which float32 counts them exactly, a resample with more in a cell included."""


def block_table(counts: Counts, block: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Blocks x cells, how often; and the cells: i * n + j where i beat j, n * n more for a tie."""
    n = len(counts.systems)
    lost = counts.outcome < 0
    first = np.where(lost, counts.right, counts.left)
    second = np.where(lost, counts.left, counts.right)
    cell = first * n + second + n * n * (counts.outcome == 0)
    cells, column = renumbered(cell)
    blocks = int(block.max()) + 1
    table = sparse.coo_array((np.ones(len(cell)), (block, column)), shape=(blocks, len(cells)))
    return table.tocsr(), cells


def batch_size(counts: Counts, blocks: int) -> int:
    """How many resamples are computed at a time."""
    return max(1, NUMBERS // max(blocks, 4 * len(counts.systems) ** 2))


def resampled_counts(
    counts: Counts, block: np.ndarray | None, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield batches of (wins, ties), each resamples x n x n; ``block`` None: single judgments."""
    n = len(counts.systems)
    if block is None:
        total = np.concatenate([counts.wins.ravel(), np.triu(counts.ties).ravel()])
        cells = np.flatnonzero(total)
        size = batch_size(counts, len(cells))
    else:
        table, cells = block_table(counts, block)
        size = batch_size(counts, table.shape[0])
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


def block_weights(blocks: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """How often each block is drawn, as many draws as blocks (rows x blocks)."""
    drawn = rng.integers(blocks, size=(rows, blocks), dtype=np.int32)
    weights = np.empty((rows, blocks), dtype=np.float32)
    for row, own in zip(weights, drawn, strict=True):  # row by row stays in the cache
        row[:] = np.bincount(own, minlength=blocks)
    return weights


def _weighted(table: sparse.csr_array, weights: np.ndarray) -> np.ndarray:
    """The counts of each resample: weights (rows x blocks) times the counts of the blocks."""
    blocks, cells = table.shape
    if table.nnz > THIN * blocks * cells and blocks * cells <= 4 * NUMBERS:
        kind = np.float32 if table.sum() < WHOLE else np.float64
        return np.asarray(weights.astype(kind, copy=False) @ table.toarray().astype(kind))
    return np.asarray((table.T.tocsr() @ weights.T.astype(float)).T)
