"""Variances of means that go with a design: target is the finite population at hand.

All take many samples at once: ``e`` has residuals (or plain values) as samples x units, ``drawn``
says which units a sample holds, and what ``e`` says of the others is never looked at. They return
one variance per sample: that of the mean, or of the 1/pi-weighted mean where probabilities differ.

Residuals of a document are alike: by what its segments share from end to end (topic, style, the
rater), and by what they share with those next to them. So the correlation of two segments t apart
in one document is taken as persistent + fading * FADE^t, two numbers estimated from the drawn pairs
(:func:`likeness`). What is persistent, a design that spreads over documents takes out of the
variance; what fades makes neighbours that are drawn together worth less.
"""

from __future__ import annotations

from functools import lru_cache
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


def simple_variance(e: np.ndarray, drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """s^2 / n (1 - n/N): a simple random sample, or snippets of every document.

    With weights that differ it is n/(n-1) sum (w_i (e_i - mean))^2 / (sum w)^2 (1 - n/N).

    >>> drawn = np.array([[True, True, True, False]])
    >>> simple_variance(np.array([[1.0, 2.0, 3.0, 0.0]]), drawn, np.ones(4))
    array([0.08333333])
    """
    n, w = drawn.sum(axis=1), drawn * weights
    total = np.maximum(w.sum(axis=1), 1e-300)
    inside = np.where(drawn, e, 0.0)
    means = (w * inside).sum(axis=1) / total
    squares = ((w * (inside - means[:, None])) ** 2).sum(axis=1)
    found = squares / total**2 * n / np.maximum(n - 1, 1) * (1 - n / drawn.shape[1])
    return np.where(n > 1, found, np.nan)


class Strata(NamedTuple):
    """Strata as a sample knows them: the stratum of every unit, and the sizes N_h of all strata.

    Strata are numbered in the order in which neighbours are alike; of units that were not drawn the
    number is never looked at. Where only some units are asked about (a domain), ``outside`` counts
    the drawn units of every stratum that are not among them.
    """

    number: np.ndarray
    sizes: np.ndarray
    outside: np.ndarray | None = None

    @classmethod
    def known(cls, number: np.ndarray) -> Strata:
        """Strata of which every unit is known."""
        return cls(number, np.bincount(number))

    @classmethod
    def drawn(cls, start: np.ndarray, size: np.ndarray, population: int) -> Strata:
        """From the strata of drawn units: how many units lie in earlier strata, and in their own.

        Strata of which nothing was drawn lie in the gaps. They are joined with the next one of
        which something was, those at the end with the last, as collapsing them would do.

        >>> Strata.drawn(np.array([4, 0, 4, 9]), np.array([3, 2, 3, 2]), 12)[:2]
        (array([1, 0, 1, 2]), array([2, 5, 5]))
        """
        starts, number = np.unique(start, return_inverse=True)
        sizes = np.zeros(len(starts), dtype=np.int64)
        sizes[number] = size
        ends = starts + sizes
        ends[-1:] = population
        return cls(number, np.diff(ends, prepend=0))

    def part(self, inside: np.ndarray, drawn: np.ndarray) -> Strata:
        """The same of some units; drawn ones that are not among them count as outside."""
        others = np.bincount(self.number[drawn & ~inside], minlength=len(self.sizes))
        before = 0 if self.outside is None else self.outside
        return Strata(self.number[inside], self.sizes, others + before)


def collapsed_variance(
    e: np.ndarray, drawn: np.ndarray, strata: Strata, least: int = 2
) -> np.ndarray:
    """Stratified sampling with few units per stratum: neighbouring strata are taken together.

    Strata are collapsed in order until each group has ``least`` drawn units; sum over groups of
    (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977, section 5A.12). Too large rather than too
    small, by what the strata of a group differ.

    The mean of a domain is a ratio, because nobody planned how many of its units are drawn: drawn
    units outside count with e = 0 in n_g and s_g, and N is the estimated size of the domain, the
    sum of N_g times the share of drawn units inside (Sarndal, Swensson and Wretman 1992, section
    10.3). A stratum with drawn units outside alone adds nothing.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), len(strata.sizes))
    one = np.ones(len(units))
    inside = _sums(samples, strata.number[units], one, shape)
    outside = np.zeros(shape) if strata.outside is None else np.tile(strata.outside, (shape[0], 1))
    foreign = (inside == 0) & (outside > 0)
    outside[foreign] = 0
    group = _collapse(inside + outside, least)
    rows = np.repeat(np.arange(shape[0]), shape[1])
    total = _sums(rows, group.ravel(), np.where(foreign, 0, strata.sizes).ravel(), shape)
    zeros = _sums(rows, group.ravel(), outside.ravel(), shape)
    own = group[samples, strata.number[units]]
    here = _sums(samples, own, one, shape)
    n = here + zeros
    values = e[samples, units]
    means = _sums(samples, own, values, shape) / np.maximum(n, 1)
    square = _sums(samples, own, (values - means[samples, own]) ** 2, shape) + zeros * means**2
    size = (total * (here / np.maximum(n, 1))).sum(axis=1, keepdims=True)
    terms = (total / np.maximum(size, 1e-300)) ** 2 * (1 - n / np.maximum(total, 1))
    terms = terms * square / np.maximum(n - 1, 1) / np.maximum(n, 1)
    return np.where(here.sum(axis=1) > 1, terms.sum(axis=1), np.nan)


def _sums(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
          ) -> np.ndarray:  # fmt: skip
    """The sums of values by row and column."""
    flat = np.bincount(rows * shape[1] + columns, values, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def _collapse(counts: np.ndarray, least: int) -> np.ndarray:
    """For every sample the group of each stratum: 0, 1, ... in the order of the strata."""
    if len(counts) == 1:  # the pairs of a matched sample ask for the same again and again
        return _collapse_one(counts.tobytes(), least)
    group = np.zeros(counts.shape, dtype=np.int64)
    number = np.zeros(len(counts), dtype=np.int64)
    held = np.zeros(len(counts))
    for position in range(counts.shape[1]):
        group[:, position] = number
        held += counts[:, position]
        full = held >= least
        number += full
        held[full] = 0
    # What is left over at the end joins the last full group.
    return np.minimum(group, np.maximum(number - 1, 0)[:, None])


@lru_cache(maxsize=16)
def _collapse_one(counts: bytes, least: int) -> np.ndarray:
    """The same of one sample, its counts as the bytes of an array of floats."""
    groups, number, held = [], 0, 0.0
    for count in np.frombuffer(counts).tolist():
        groups.append(number)
        held += count
        if held >= least:
            number, held = number + 1, 0.0
    group = np.minimum(np.array(groups, dtype=np.int64), max(number - 1, 0))[None, :]
    group.flags.writeable = False
    return group


def cluster_variance(
    e: np.ndarray, drawn: np.ndarray, cluster: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Whole documents or one snippet each: the spread between the weighted totals of clusters.

    The jackknife over clusters: (K-1)/K sum_c (t_c / (1 - s_c))^2 / (sum w)^2, t_c the total of w e
    in cluster c around its share s_c of the whole, times 1 - n/N for this test set. A long
    document pulls the mean towards itself, which 1 - s_c makes up for; for clusters of one size it
    is the usual K/(K-1) sum t_c^2.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), int(cluster.max(initial=0)) + 1)
    totals = _sums(samples, cluster[units], weights[units] * e[samples, units], shape)
    size = _sums(samples, cluster[units], weights[units], shape)
    whole = np.maximum(size.sum(axis=1), 1e-300)
    share = size / whole[:, None]
    k = (size > 0).sum(axis=1)
    gap = (totals - share * totals.sum(axis=1)[:, None]) / np.maximum(1 - share, 1e-9)
    spread = (gap**2).sum(axis=1) * (k - 1) / np.maximum(k, 1)
    left = 1 - drawn.mean(axis=1)
    return np.where(k > 1, spread / whole**2 * left, np.nan)


def neighbour_variance(
    e: np.ndarray, drawn: np.ndarray, pi: np.ndarray, position: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """Spatially balanced samples: every drawn unit against its nearest drawn neighbour.

    1/2 sum_i (1 - pi_i) (e_i/pi_i - e_j(i)/pi_j(i))^2 / (sum 1/pi)^2, j(i) the nearest by the
    distance the sample was spread with, (difference in position)^2 and 1 more across groups
    (Grafstrom and Schelin 2014): such samples vary less than the spread of all residuals would
    say, because neighbours stand in for each other.
    """
    samples, units, nearest = _nearest_drawn(drawn, position, group)
    shape = (len(drawn), 1)
    gap = e[samples, units] / pi[units] - e[samples, nearest] / pi[nearest]
    spread = 0.5 * _sums(samples, samples * 0, (1 - pi[units]) * gap**2, shape)[:, 0]
    found = spread / np.maximum(drawn @ (1 / pi), 1e-300) ** 2
    return np.where(drawn.sum(axis=1) > 1, found, np.nan)


def _nearest_drawn(
    drawn: np.ndarray, position: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, their units, and of each the nearest other unit of the same sample.

    The nearest is next to it in position, among all (whoever stands between in another group is
    nearer still) or in the own group; so four candidates are enough.
    """
    best = np.full(drawn.shape, np.inf)
    nearest = np.zeros(drawn.shape, dtype=np.int64)
    for order, inside in (
        (np.lexsort((position, group)), True),
        (np.argsort(position, kind="stable"), False),
    ):
        samples, places = np.nonzero(drawn[:, order])
        units = order[places]
        for step in (1, -1):
            other = np.roll(units, step)
            together = np.roll(samples, step) == samples
            distance = (position[units] - position[other]) ** 2
            same = group[units] == group[other]
            distance = np.where(together & (same | (not inside)), distance + ~same, np.inf)
            distance[units == other] = np.inf
            closer = distance < best[samples, units]
            best[samples[closer], units[closer]] = distance[closer]
            nearest[samples[closer], units[closer]] = other[closer]
    samples, units = np.nonzero(drawn)
    alone = np.isinf(best[samples, units])
    found = np.where(alone, units, nearest[samples, units])
    return samples, units, found


FULL_LEVERAGE = 0.9
"""A point that decides its own prediction has no honest residual; leverages are capped here."""


# Likeness along documents


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
    text = samples * (document.max(initial=0) + 1) + document[units]
    for step in range(1, REACH + 1):
        lag = units[step:] - units[:-step]
        near = np.flatnonzero((text[step:] == text[:-step]) & (lag <= REACH))
        if not len(near):
            break
        cell = samples[near] * REACH + lag[near] - 1
        both = values[near + step] * values[near]
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
