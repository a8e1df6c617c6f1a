"""Strata of a sample, and the variance of a stratified mean with few units per stratum."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np


class Strata(NamedTuple):
    """The stratum number of every unit, and the sizes N_h of all strata.

    Strata are numbered so that neighbours are alike; numbers of units that were not drawn are
    ignored. For a domain (some of the units), ``outside`` counts the drawn units of every stratum
    outside it.
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
        """From the strata of drawn units, given by the number of units before and in them.

        Strata without drawn units are merged with the next that has some, or at the end with the
        last, as collapsing would do.

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
        """The strata of a domain; drawn units that are not ``inside`` count as outside."""
        outside = drawn.copy()
        outside[inside] = False
        others = np.bincount(self.number[outside], minlength=len(self.sizes))
        before = 0 if self.outside is None else self.outside
        return Strata(self.number[inside], self.sizes, others + before)


def collapsed_variance(e: np.ndarray, drawn: np.ndarray, strata: Strata) -> np.ndarray:
    """The variance of a stratified mean with few units per stratum, by collapsing neighbours.

    Strata are collapsed in order until each group has two drawn units; the variance is the sum over
    groups of (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977, section 5A.12). Differences between
    the strata of a group make it too large rather than too small.

    The mean of a domain is a ratio, as the number of its drawn units is random: drawn units outside
    count with e = 0 in n_g and s_g, and N is the estimated size of the domain, the sum of N_g times
    the share of drawn units inside (Sarndal, Swensson and Wretman 1992, section 10.3). A stratum
    whose drawn units are all outside adds nothing.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), len(strata.sizes))
    one = np.ones(len(units))
    inside = sums_of_cells(samples, strata.number[units], one, shape)
    outside = np.zeros(shape) if strata.outside is None else np.tile(strata.outside, (shape[0], 1))
    foreign = (inside == 0) & (outside > 0)
    outside[foreign] = 0
    group = _collapse(inside + outside)
    rows = np.repeat(np.arange(shape[0]), shape[1])
    total = sums_of_cells(rows, group.ravel(), np.where(foreign, 0, strata.sizes).ravel(), shape)
    zeros = sums_of_cells(rows, group.ravel(), outside.ravel(), shape)
    own = group[samples, strata.number[units]]
    here = sums_of_cells(samples, own, one, shape)
    n = here + zeros
    values = e[samples, units]
    means = sums_of_cells(samples, own, values, shape) / np.maximum(n, 1)
    square = (
        sums_of_cells(samples, own, (values - means[samples, own]) ** 2, shape) + zeros * means**2
    )
    size = (total * (here / np.maximum(n, 1))).sum(axis=1, keepdims=True)
    terms = (total / np.maximum(size, 1e-300)) ** 2 * (1 - n / np.maximum(total, 1))
    terms = terms * square / np.maximum(n - 1, 1) / np.maximum(n, 1)
    return np.where(here.sum(axis=1) > 1, terms.sum(axis=1), np.nan)


def sums_of_cells(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
          ) -> np.ndarray:  # fmt: skip
    """The sums of values by row and column."""
    flat = np.bincount(rows * shape[1] + columns, values, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def _collapse(counts: np.ndarray) -> np.ndarray:
    """For every sample the group of each stratum: 0, 1, ... in the order of the strata."""
    if len(counts) == 1:  # the pairs of a matched sample ask for the same again and again
        return _collapse_one(counts.tobytes())
    group = np.zeros(counts.shape, dtype=np.int64)
    number = np.zeros(len(counts), dtype=np.int64)
    held = np.zeros(len(counts))
    for position in range(counts.shape[1]):
        group[:, position] = number
        held += counts[:, position]
        full = held >= 2
        number += full
        held[full] = 0
    # A rest at the end joins the last full group.
    return np.minimum(group, np.maximum(number - 1, 0)[:, None])


@lru_cache(maxsize=16)
def _collapse_one(counts: bytes) -> np.ndarray:
    """The groups for one sample, whose counts are the bytes of an array of floats."""
    groups, number, held = [], 0, 0.0
    for count in np.frombuffer(counts).tolist():
        groups.append(number)
        held += count
        if held >= 2:
            number, held = number + 1, 0.0
    group = np.minimum(np.array(groups, dtype=np.int64), max(number - 1, 0))[None, :]
    group.flags.writeable = False
    return group
