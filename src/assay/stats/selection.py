"""Which units are drawn: selection kernels that return positions 0..N-1."""

from __future__ import annotations

import numpy as np

__all__ = ["simple_random"]


def simple_random(population: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """A simple random sample of n out of N without replacement, in random order.

    Every unit has inclusion probability n/N, every pair n(n-1) / (N(N-1)).

    >>> len(set(simple_random(10, 4, np.random.default_rng(1)).tolist()))
    4
    """
    return rng.permutation(population)[:n]
