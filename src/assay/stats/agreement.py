"""How far raters agree: Krippendorff's alpha and correlations between raters.

Ratings come in long form, one entry per rating: its ``values``, and its ``units`` (what was rated)
and ``raters`` as numbers from 0. So there are no missing values.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import OptionError

Metric = Literal["interval", "nominal", "ordinal"]
MIN_COMMON_UNITS = 3
"""The fewest common units for a correlation; with two it is always 1 or -1."""
MIN_VARIANCE = 1e-12
"""A variance below this share of the whole is rounding error."""


def krippendorff_alpha(
    values: np.ndarray, units: np.ndarray, *, metric: Metric = "interval"
) -> float:
    """Krippendorff's alpha, 1 - D_o / D_e: 1 is perfect agreement, 0 that of chance.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C to E. Units with one
    value are left out. With the interval metric (c - k)^2 the observed disagreement is the mean
    of the variances inside units, each weighted by its number of values, and the expected one the
    variance of all values. The ordinal metric is the interval metric of mid-ranks. NaN where no
    unit has two values or where all values are equal.

    >>> krippendorff_alpha(np.array([1, 1, 2, 3.0, 5, 5]), np.array([0, 0, 1, 1, 2, 2]))
    0.950...
    """
    if metric not in ("interval", "nominal", "ordinal"):
        raise OptionError("metric", metric, "is not known", "give interval, ordinal or nominal")
    _, code, counts = np.unique(units, return_inverse=True, return_counts=True)
    kept = counts[code] > 1
    _, units, m = np.unique(code[kept], return_inverse=True, return_counts=True)
    values = np.asarray(values, dtype=float)[kept]
    if len(values) < 2 or np.ptp(values) == 0:
        return float("nan")
    if metric == "nominal":
        return _nominal_alpha(values, units, m)
    if metric == "ordinal":
        _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
        values = (np.cumsum(ties) - (ties - 1) / 2)[place]  # scipy.stats takes 0.4 s to load
    mean = np.bincount(units, values) / m
    squares = np.bincount(units, (values - mean[units]) ** 2)
    observed = float(np.sum(m * squares / (m - 1)) / len(values))
    return 1 - observed / float(np.var(values, ddof=1))


def _nominal_alpha(values: np.ndarray, units: np.ndarray, m: np.ndarray) -> float:
    """Disagreement is 1 for two different values, whichever they are."""
    _, category = np.unique(values, return_inverse=True)
    cells, inside = np.unique(units * (category.max() + 1) + category, return_counts=True)
    same = np.bincount(cells // (category.max() + 1), inside.astype(float) ** 2)
    n = len(values)
    observed = float(np.sum((m**2 - same) / (m - 1)) / n)
    totals = np.bincount(category).astype(float)
    return 1 - observed * n * (n - 1) / float(n**2 - np.sum(totals**2))


class Correlations(NamedTuple):
    """Raters x raters: Pearson's r (NaN where it is not defined) and the number of common units."""

    r: np.ndarray
    common: np.ndarray

    @property
    def mean(self) -> float:
        """Mean r over the pairs of raters that have one; NaN where none has."""
        r = self.r[np.triu_indices(len(self.r), 1)]
        defined = r[~np.isnan(r)]
        return float(defined.mean()) if len(defined) else float("nan")

    @property
    def pairs(self) -> int:
        """How many pairs of raters have an r."""
        return int((~np.isnan(self.r[np.triu_indices(len(self.r), 1)])).sum())


def pairwise_correlations(
    values: np.ndarray, units: np.ndarray, raters: np.ndarray
) -> Correlations:
    """Pearson's r of every two raters over the units that both have rated, all pairs at once.

    >>> x = np.array([1.0, 2, 3, 2, 4, 6])
    >>> pairwise_correlations(x, np.tile([0, 1, 2], 2), np.repeat([0, 1], 3)).mean
    1.0
    """
    count = int(raters.max(initial=-1)) + 1
    shape = (count, int(units.max(initial=-1)) + 1)
    sizes = np.maximum(np.bincount(raters, minlength=count), 1)
    # Centred and scaled by rater, so that differences of large sums stay exact.
    centred = values - (np.bincount(raters, values, minlength=count) / sizes)[raters]
    spread = np.sqrt(np.bincount(raters, centred**2, minlength=count) / sizes)
    centred = centred / np.where(spread > 0, spread, 1.0)[raters]
    here = scipy.sparse.csr_array((np.ones(len(values)), (raters, units)), shape=shape)
    x = scipy.sparse.csr_array((centred, (raters, units)), shape=shape)
    n = (here @ here.T).toarray()
    total = (x @ here.T).toarray()  # row's values on the units it shares with the column
    squares = (x.power(2) @ here.T).toarray()
    with np.errstate(invalid="ignore", divide="ignore"):
        together = (x @ x.T).toarray() - total * total.T / n
        square = squares - total**2 / n
        defined = (n >= MIN_COMMON_UNITS) & (np.minimum(square, square.T) > MIN_VARIANCE * n)
        r = np.where(defined, together / np.sqrt(square * square.T), np.nan)
    np.fill_diagonal(r, np.nan)
    return Correlations(np.clip(r, -1, 1), n.astype(int))


def correlations_with_others(
    values: np.ndarray, units: np.ndarray, raters: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Every rater's r with the mean of the others on each unit, and on how many units.

    The rater's own value is not part of that mean, which would make the agreement look better.

    >>> x = np.array([1.0, 2, 3, 3, 2, 1])
    >>> r, n = correlations_with_others(x, np.tile([0, 1, 2], 2), np.repeat([0, 1], 3))
    >>> r.tolist(), n.tolist()
    ([-1.0, -1.0], [3, 3])
    """
    count = int(raters.max(initial=-1)) + 1
    sizes = np.bincount(units)[units]
    kept = sizes > 1
    x, who = values[kept], raters[kept]
    others = (np.bincount(units, values)[units][kept] - x) / (sizes[kept] - 1)
    n = np.bincount(who, minlength=count)
    least = np.maximum(n, 1)

    def centred(part: np.ndarray) -> np.ndarray:
        return np.asarray(part - (np.bincount(who, part, minlength=count) / least)[who])

    a, b = centred(x), centred(others)
    aa, bb, ab = (np.bincount(who, w, minlength=count) for w in (a * a, b * b, a * b))
    defined = (n >= MIN_COMMON_UNITS) & (np.minimum(aa, bb) > MIN_VARIANCE * n * np.var(values))
    r = np.full(count, np.nan)
    r[defined] = ab[defined] / np.sqrt(aa[defined] * bb[defined])
    return np.clip(r, -1, 1), n
