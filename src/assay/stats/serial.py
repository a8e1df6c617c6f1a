"""How alike neighbours are, and what it does to a sample of pieces.

The residuals of a document are correlated: by what its segments share from end to end (topic,
style, the rater), and by what they share with those next to them. So the correlation of two
segments t apart in one document is taken as

    rho(t) = persistent + fading * FADE^t,

two numbers estimated from the drawn pairs. What is persistent, a design that spreads over documents
takes out of the variance; what fades makes neighbours that are drawn together worth less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FADE = 0.8
"""How fast the likeness of neighbours fades from segment to segment; frozen on seven MQM sets."""
USUAL, USUAL_WORTH = (0.05, 0.10), 15.0
"""The usual correlations of ratings, and as many pairs of evidence for them; frozen likewise.

With few neighbours drawn the two parts cannot be told apart; these keep them at a middle."""
REACH = 25
"""Pairs further apart than this are not looked at."""
LEAST_EFFECT = 0.4
"""No design is taken to be better than this, relative to a simple random sample."""


class Likeness(NamedTuple):
    """Persistent and fading correlation, one row per sample, and their covariance matrices."""

    parts: np.ndarray
    covariance: np.ndarray


def fading(lags: np.ndarray) -> np.ndarray:
    """The two shapes that a correlation is made of: lags x (persistent, fading)."""
    return np.stack([np.ones(len(lags)), FADE**lags], axis=1)


def likeness(e: np.ndarray, drawn: np.ndarray, document: np.ndarray) -> Likeness:
    """The correlation of drawn units of one document, fitted over their lags by least squares.

    ``e`` is samples x units, around 0; every pair of drawn units within reach counts alike, and
    what is usual as much as ``USUAL_WORTH`` of them.

    >>> e = np.tile([1.0, 1.0, -1.0, -1.0], 25)[None, :]
    >>> found = likeness(e, np.ones((1, 100), dtype=bool), np.arange(100) // 2)
    >>> found.parts.round(1).tolist()
    [[0.5, 0.5]]
    """
    samples, units = np.nonzero(drawn)
    values, shape = e[samples, units], (len(drawn), REACH)
    counts, products = np.zeros(shape), np.zeros(shape)
    for step in range(1, REACH + 1):
        lag = units[step:] - units[:-step]
        near = (
            (samples[step:] == samples[:-step])
            & (document[units[step:]] == document[units[:-step]])
            & (lag <= REACH)
        )
        if not near.any():
            break
        cell = (samples[step:] * REACH + lag - 1)[near]
        both = (values[step:] * values[:-step])[near]
        counts += np.bincount(cell, minlength=counts.size).reshape(shape)
        products += np.bincount(cell, both, minlength=counts.size).reshape(shape)
    square = (np.where(drawn, e, 0.0) ** 2).sum(axis=1) / np.maximum(drawn.sum(axis=1), 1)
    products /= np.where(square > 0, square, 1.0)[:, None]
    parts = fading(np.arange(1, REACH + 1))
    gram = np.einsum("st,ta,tb->sab", counts, parts, parts) + USUAL_WORTH * np.eye(2)
    along = products @ parts + USUAL_WORTH * np.array(USUAL)
    inverse = np.linalg.inv(gram)
    return Likeness((inverse @ along[:, :, None])[:, :, 0], inverse)


def serial_effect(found: Likeness, lever: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The design effect 1 + lever . parts, at least ``LEAST_EFFECT``, and its relative variance."""
    effect = np.maximum(1 + found.parts @ lever, LEAST_EFFECT)
    return effect, (found.covariance @ lever @ lever) / effect**2


def pair_lever(together: np.ndarray, all_pairs: np.ndarray, f: float) -> np.ndarray:
    """What each part of the correlation adds to the variance, relative to a simple random sample.

    ``together`` are the pairs of units at lag 1, 2, ... of one section that are expected to be
    drawn both, ``all_pairs`` all that there are (both with the number of units, lag 0, in front).
    The variance of a mean is 1/N^2 sum (pi_ij / f^2 - 1) cov_ij, and 1/N (1/f - 1) of it is a
    simple random sample's.
    """
    if f >= 1:
        return np.zeros(2)
    excess = 2 * (together[1:] / f**2 - all_pairs[1:])
    return np.asarray(excess @ fading(np.arange(1, len(together))) / (all_pairs[0] * (1 / f - 1)))
