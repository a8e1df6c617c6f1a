"""Variances of means that go with a design: target is the finite population at hand.

All take many samples at once: ``e`` has residuals (or plain values) as samples x units, ``drawn``
says which units a sample holds, and what ``e`` says of the others is never looked at. They return
one variance per sample: that of the mean, or of the 1/pi-weighted mean where probabilities differ.
"""

from __future__ import annotations

import numpy as np


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


def collapsed_variance(
    e: np.ndarray, drawn: np.ndarray, stratum: np.ndarray, least: int = 2
) -> np.ndarray:
    """Stratified sampling with few units per stratum: neighbouring strata are taken together.

    ``stratum`` numbers the strata of all units. Strata are collapsed in order until each group has
    ``least`` drawn units; sum over groups of (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977,
    section 5A.12). Too large rather than too small, by what the strata of a group differ.
    """
    sizes = np.bincount(stratum)
    samples, units = np.nonzero(drawn)
    counts = _sums(samples, stratum[units], np.ones(len(units)), (len(drawn), len(sizes)))
    group = _collapse(counts, least)
    own = group[samples, stratum[units]]
    shape = group.shape
    rows = np.repeat(np.arange(shape[0]), shape[1])
    n = _sums(samples, own, np.ones(len(units)), shape)
    total = _sums(rows, group.ravel(), np.tile(sizes, shape[0]), shape)
    values = e[samples, units]
    means = _sums(samples, own, values, shape) / np.maximum(n, 1)
    square = _sums(samples, own, (values - means[samples, own]) ** 2, shape)
    terms = (total / sizes.sum()) ** 2 * (1 - n / np.maximum(total, 1))
    terms = terms * square / np.maximum(n - 1, 1) / np.maximum(n, 1)
    return np.where(n.sum(axis=1) > 1, terms.sum(axis=1), np.nan)


def _sums(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
          ) -> np.ndarray:  # fmt: skip
    """The sums of values by row and column."""
    flat = np.bincount(rows * shape[1] + columns, values, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def _collapse(counts: np.ndarray, least: int) -> np.ndarray:
    """For every sample the group of each stratum: 0, 1, ... in the order of the strata."""
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
