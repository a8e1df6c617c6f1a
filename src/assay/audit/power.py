"""What a campaign could find, and how much larger it would have to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from assay.audit.differences import POWER
from assay.audit.results import AuditedPair, Power
from assay.estimation.results import Difference
from assay.stats.precision import CERTAIN, power_of

LARGEST = 1000.0
"""Campaigns more than so many times as large are out of reach."""


def true_size(difference: np.ndarray, stderr: np.ndarray) -> float:
    """By which factor observed differences exaggerate true ones: chance makes them larger.

    The mean square of observed differences is that of true ones plus the mean of their variances,
    so sqrt(1 - mean(stderr^2) / mean(difference^2)) of each is what is left; 0 where nothing is.

    >>> true_size(np.array([5.0]), np.array([3.0]))
    0.8
    """
    total = float(np.mean(difference**2))
    if not total:
        return 0.0
    return float(np.sqrt(max(0.0, 1 - float(np.mean(stderr**2)) / total)))


def ratings_power(
    pairs: Sequence[AuditedPair], differences: Sequence[Difference], *, answers: int,
    level: float, target: str, room: float,
) -> Power:  # fmt: skip
    """The power of a campaign of ratings.

    Differences are taken as large as observed, less what chance adds. For new documents the
    standard error goes down with the root of the number of documents; for this test set with
    sqrt((1 - n/N) / n), and a campaign can be at most ``room`` times as large.
    """
    known = [item for item in differences if item.stderr >= 0 and np.isfinite(item.difference)]
    found = sum(pair.decided for pair in pairs) / len(pairs)
    least = np.array([pair.detectable for pair in pairs])
    least = least[np.isfinite(least)]
    if not known:
        return Power(POWER, None, None, None, 0.0, found, None)
    gap = np.array([abs(item.difference) for item in known])
    stderr = np.array([item.stderr for item in known])
    degrees = np.array([item.degrees for item in known])
    n, population = (np.array([getattr(item, name) for item in known], dtype=float)
                     for name in ("n", "population"))  # fmt: skip
    gap = gap * true_size(gap, stderr)

    def chances(scale: float) -> np.ndarray:
        if target == "new-documents":
            left = np.full(len(gap), 1 / scale)
        else:
            more = np.minimum(n * scale, population)
            here = np.maximum(1 - n / population, 1e-12)
            left = (1 - more / population) / here / (more / n)
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where(gap > 0, gap / (stderr * np.sqrt(left)), 0.0)
        return power_of(np.minimum(shift, CERTAIN), np.maximum(degrees * scale, 1), level)

    now = chances(1.0)
    largest = LARGEST if target == "new-documents" else room
    scale = _scale(lambda size: float(chances(size).mean()) >= POWER, largest)
    return Power(
        power=POWER,
        detectable=float(np.median(least)) if len(least) else None,
        detectable_worst=float(least.max()) if len(least) else None,
        powered=float((now >= POWER).sum() / len(pairs)),
        expected=float(now.sum() / len(pairs)),
        found=found,
        needed=None if scale is None else int(np.ceil(answers * scale)),
    )


def _scale(enough: Callable[[float], bool], largest: float) -> float | None:
    """The smallest size of a campaign, in sizes of this one, that is enough."""
    if enough(1.0):
        return 1.0
    if not enough(largest):
        return None
    low, high = 1.0, largest
    while high / low > 1.005:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def normal_detectable(stderr: np.ndarray, alpha: float) -> np.ndarray:
    """The smallest difference found with the usual probability by a one-sided normal test."""
    return np.asarray(stderr * (special.ndtri(1 - alpha) + special.ndtri(POWER)))
