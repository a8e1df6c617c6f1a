"""Units that arrive in random order until a budget is met: who is among them.

Give every unit an arrival time t ~ U(0, 1). Given its own t, every other unit stands before it
independently with probability t, so that

    pi_d = integral over t of P(sum of the others' sizes that arrived before t <= limit_d) dt.

The distribution of the sum comes from its characteristic function, the product over the others of
1 - t + t exp(i w size), and the integrand is a polynomial in t, so Gauss-Legendre quadrature with
enough nodes is exact.
"""

from __future__ import annotations

import numpy as np

__all__ = ["arrival_probabilities"]

TOLERANCE = 1e-9


def arrival_probabilities(sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """P(the sizes that stand before d in random order sum to at most limits[d]), for every d.

    >>> arrival_probabilities(np.array([1, 1, 2]), np.array([1, 1, 1])).round(6).tolist()
    [0.5, 0.5, 0.666667]
    """
    kinds, which = np.unique(np.stack([sizes, limits]), axis=1, return_inverse=True)
    values, counts = np.unique(sizes, return_counts=True)
    previous = np.full(kinds.shape[1], np.inf)
    found = previous
    for nodes in (16, 32, 64, 128, 256, 512, 1024, 2048):
        times, weights = np.polynomial.legendre.leggauss(nodes)
        found = _quadrature(values, counts, kinds, (times + 1) / 2, weights / 2)
        if np.abs(found - previous).max() < TOLERANCE:
            break
        previous = found
    return np.asarray(np.clip(found, 0.0, 1.0)[which.ravel()])


def _quadrature(
    values: np.ndarray,
    counts: np.ndarray,
    kinds: np.ndarray,
    times: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """The integral for every kind (size, limit); ``values`` are the sizes, ``counts`` of each."""
    length = int((values * counts).sum()) + 1
    # The sum is a whole number, so its characteristic function is needed at the first half of the
    # roots of unity only: the others are conjugates.
    half = np.arange(length // 2 + 1)
    share = np.where((half == 0) | (2 * half == length), 1.0, 2.0) / length
    turns = np.exp(2j * np.pi * ((half[None, :] * values[:, None]) % length) / length)
    tails = [_tail(int(limit), half, length) * share for limit in kinds[1]]
    found = np.zeros(kinds.shape[1])
    place = np.searchsorted(values, kinds[0])
    for t, weight in zip(times, weights, strict=True):
        factor = 1 - t + t * turns
        once_less = factor ** (counts[:, None] - 1)
        whole = once_less * factor
        before = np.cumprod(np.vstack([np.ones_like(whole[:1]), whole[:-1]]), axis=0)
        after = np.cumprod(np.vstack([np.ones_like(whole[:1]), whole[:0:-1]]), axis=0)[::-1]
        others = before * after * once_less
        for kind, tail in enumerate(tails):
            found[kind] += weight * float((others[place[kind]] * tail).real.sum())
    return found


def _tail(limit: int, half: np.ndarray, length: int) -> np.ndarray:
    """Sum over s = 0..limit of exp(-i w s): makes P(sum <= limit) of a characteristic function."""
    count = min(max(limit + 1, 0), length)
    if count == 0:
        return np.zeros(len(half), dtype=complex)
    base = np.exp(-2j * np.pi * half / length)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = (1 - np.exp(-2j * np.pi * (half * count % length) / length)) / (1 - base)
    return np.where(half == 0, float(count), sums)
