"""Scores from counts of wins: expected win, Bojar, and the older "better or equal".

``wins[..., i, j]`` is how often system i was preferred to system j. Leading axes are other tables
of counts (resamples, simulated campaigns), scored all at once. Counts need not be whole: half a
tie may be half a win. NaN is the score of a system that was never compared.
"""

from __future__ import annotations

import numpy as np


def expected_win(wins: np.ndarray) -> np.ndarray:
    """The mean win ratio over the opponents met (koehn2012, eq. 4 with 1/(n-1) for 1/n).

    A pair that was never compared has no ratio and is left out of the mean.

    >>> expected_win(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]])).tolist()
    [0.625, 0.375, 0.5]
    """
    wins = np.asarray(wins, dtype=float)
    games = wins + np.swapaxes(wins, -1, -2)
    met = games > 0
    ratio = np.divide(wins, games, out=np.zeros_like(wins), where=met)
    return _ratio(ratio.sum(axis=-1), met.sum(axis=-1))


def bojar(wins: np.ndarray) -> np.ndarray:
    """All wins over all wins and losses (koehn2012, eq. 1).

    >>> bojar(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]])).round(3).tolist()
    [0.667, 0.333, 0.5]
    """
    won, lost = wins.sum(axis=-1), wins.sum(axis=-2)
    return _ratio(won, won + lost)


def better_or_equal(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """How often a system was ranked better or equal: ties are wins of both (WMT before 2012).

    >>> wins, ties = np.array([[0, 2], [1, 0]]), np.array([[0, 1], [1, 0]])
    >>> better_or_equal(wins, ties).tolist()
    [0.75, 0.5]
    """
    won, lost, tied = wins.sum(axis=-1), wins.sum(axis=-2), ties.sum(axis=-1)
    return _ratio(won + tied, won + lost + tied)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    empty = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=empty, where=np.asarray(whole) > 0))
