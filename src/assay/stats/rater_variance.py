"""How much an answer depends on who gave it: the variance between raters, by tasks.

A rater's taste goes through everything done in one go, so that what two raters of a segment differ
by says too little: segments of a task are summed before they are squared.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def rater_variance(first: np.ndarray, second: np.ndarray, task: np.ndarray) -> tuple[float, float]:
    """The rater variance v of one segment and its degrees of freedom, from doubly rated segments.

    ``first`` and ``second`` are what two raters say of the same segments: rows are differences of
    pairs of systems (:func:`pair_differences`) or scores of systems, over which v is averaged, and
    columns are segments; NaN where one of the two said nothing. A single row may be a vector.
    ``task`` numbers what one rater did in one go. With e_t the sum of first - second over the
    segments of task t, v = sum e_t^2 / 2 / segments; a mean over N segments, each rated by k
    raters, has the variance v / (k N) beside that of the segments' sampling.

    The degrees are (sum m_t)^2 / sum m_t^2 for tasks of m_t segments: as many as tasks where these
    are of one size. NaN and 0 degrees where nothing is doubly rated.

    >>> first, second = np.array([1.0, 2.0, 5.0, 4.0]), np.array([0.0, 1.0, 6.0, 4.0])
    >>> rater_variance(first, second, np.array([0, 0, 1, 1]))  # (2^2 + 1^2) / 2 / 4
    (0.625, 2.0)
    """
    gap = np.atleast_2d(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))
    known = np.isfinite(gap)
    if not known.any():
        return float("nan"), 0.0
    order = np.argsort(task, kind="stable")
    starts = np.unique(np.asarray(task)[order], return_index=True)[1]
    e = np.add.reduceat(np.where(known, gap, 0.0)[:, order], starts, axis=1)
    m = np.add.reduceat(known.any(axis=0)[order].astype(float), starts)
    v = float((e**2).sum() / 2 / known.sum())
    return v, float(m.sum() ** 2 / (m**2).sum())


def pair_differences(scores: np.ndarray) -> np.ndarray:
    """The differences of every two rows, the first of a pair less the second.

    >>> pair_differences(np.array([[5.0, 1.0], [3.0, 1.0], [0.0, 4.0]])).tolist()
    [[2.0, 0.0], [5.0, -3.0], [3.0, -3.0]]
    """
    pairs = list(combinations(range(len(scores)), 2))
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.asarray(scores[left] - scores[right])
