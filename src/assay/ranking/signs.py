"""The sign test between two systems (koehn2012, section 3)."""

from __future__ import annotations

import numpy as np
from scipy import special


def sign_test(wins: np.ndarray) -> np.ndarray:
    """One-sided p of every pair: ``p[..., i, j]`` for "i is better than j".

    P(X >= win(i, j)) for X binomial with win(i, j) + win(j, i) tosses of a fair coin; ties do not
    count. 1 on the diagonal and where a pair was never compared.

    >>> sign_test(np.array([[0, 8], [2, 0]])).round(4).tolist()
    [[1.0, 0.0547], [0.9893, 1.0]]
    """
    wins = np.asarray(wins, dtype=float)
    lost = np.swapaxes(wins, -1, -2)
    # P(X >= w) = I_{1/2}(w, n - w + 1), the regularised incomplete beta function.
    p = special.betainc(np.maximum(wins, 1), lost + 1, 0.5)
    return np.asarray(np.where(wins > 0, p, 1.0))
