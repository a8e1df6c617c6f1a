"""Variances of means that go with a design: target is the finite population at hand.

All take residuals (or plain values) e of the drawn units and return the variance of their mean,
or of their 1/pi-weighted mean where probabilities differ.
"""

from __future__ import annotations

import numpy as np

__all__ = [
    "cluster_variance",
    "collapsed_variance",
    "neighbour_variance",
    "simple_variance",
    "weighted_variance",
]


def simple_variance(e: np.ndarray, population: int) -> float:
    """s^2 / n (1 - n/N): a simple random sample, or snippets of every document."""
    n = len(e)
    return float(np.var(e, ddof=1) / n * (1 - n / population)) if n > 1 else float("nan")


def weighted_variance(e: np.ndarray, weights: np.ndarray, population: int) -> float:
    """The same with weights that differ: n/(n-1) sum (w_i e_i)^2 / (sum w)^2 (1 - n/N).

    ``e`` lies around its weighted mean. Equal weights give simple_variance.

    >>> e = np.array([-1.0, 0.0, 1.0])
    >>> weighted_variance(e, np.ones(3), 6) == simple_variance(e, 6)
    True
    """
    n = len(e)
    if n < 2:
        return float("nan")
    total = ((weights * (e - weights @ e / weights.sum())) ** 2).sum()
    return float(total / weights.sum() ** 2 * n / (n - 1) * (1 - n / population))


def collapsed_variance(
    e: np.ndarray, stratum: np.ndarray, sizes: np.ndarray, least: int = 2
) -> float:
    """Stratified sampling with few units per stratum: neighbouring strata are taken together.

    ``stratum`` numbers the strata of the drawn units, ``sizes`` are N_l. Strata are collapsed in
    order until each group has ``least`` drawn units; sum over groups of
    (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977, section 5A.12). Too large rather than too
    small, by what the strata of a group differ.
    """
    counts = np.bincount(stratum, minlength=len(sizes))
    group = np.zeros(len(sizes), dtype=np.int64)
    number = held = 0
    for position, count in enumerate(counts):
        group[position] = number
        held += int(count)
        if held >= least:
            number, held = number + 1, 0
    if held and number:
        group[group == number] = number - 1
    own = group[stratum]
    n = np.bincount(own)
    total = np.bincount(group, sizes, minlength=len(n))[: len(n)]
    means = np.bincount(own, e) / np.maximum(n, 1)
    square = np.bincount(own, (e - means[own]) ** 2) / np.maximum(n - 1, 1)
    share = total / sizes.sum()
    terms = share**2 * (1 - n / np.maximum(total, 1)) * square / np.maximum(n, 1)
    return float(terms.sum())


def cluster_variance(
    e: np.ndarray, cluster: np.ndarray, weights: np.ndarray, drawn_share: float
) -> float:
    """Whole documents or one snippet each: the spread between the weighted totals of clusters.

    K/(K-1) sum_c (sum in c of w e - mean)^2 / (sum w)^2, times 1 - f for this test set.
    """
    _, own = np.unique(cluster, return_inverse=True)
    totals = np.bincount(own, weights * e)
    k = len(totals)
    if k < 2:
        return float("nan")
    spread = ((totals - totals.mean()) ** 2).sum() * k / (k - 1)
    return float(spread / weights.sum() ** 2 * (1 - drawn_share))


def neighbour_variance(
    e: np.ndarray, pi: np.ndarray, position: np.ndarray, group: np.ndarray
) -> float:
    """Spatially balanced samples: every drawn unit against its nearest drawn neighbour.

    1/2 sum_i (1 - pi_i) (e_i/pi_i - e_j(i)/pi_j(i))^2 / (sum 1/pi)^2, j(i) the nearest by the
    distance the sample was spread with (Grafstrom and Schelin 2014): such samples vary less than
    the spread of all residuals would say, because neighbours stand in for each other.
    """
    n = len(e)
    if n < 2:
        return float("nan")
    y = e / pi
    nearest = np.empty(n, dtype=np.int64)
    for start in range(0, n, 1000):  # blocks, so that the distances fit memory
        part = slice(start, min(start + 1000, n))
        distance = (position[part, None] - position[None, :]) ** 2
        distance += group[part, None] != group[None, :]
        distance[np.arange(part.stop - start), np.arange(start, part.stop)] = np.inf
        nearest[part] = distance.argmin(axis=1)
    spread = 0.5 * ((1 - pi) * (y - y[nearest]) ** 2).sum()
    return float(spread / (1 / pi).sum() ** 2)
