"""What pilot ratings say of the campaign to come: spread, what metrics explain, how surely."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from assay.errors import InputError
from assay.results import Note
from assay.tables.answers import Ratings, need_one_lp
from assay.tables.test_set import TestSet

MIN_SEGMENTS_FOR_CORRELATION = 10
"""With fewer rated segments a correlation would be a guess."""

RIDGE = 1e-6
"""Share of a metric's variance added to the normal equations, so that two equal metrics do no
harm."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """Standard deviation with its interval, and the correlation that metrics reach.

    ``degrees`` are those of the chi-square interval (``low``, ``high``) of the sd, fewer than the
    ``segments`` where the ratings have long tails. ``correlation`` is None where the pilot cannot
    tell; ``features`` is the number of metrics behind it.
    """

    sd: float
    low: float
    high: float
    degrees: float
    correlation: float | None
    features: int
    segments: int
    population: int
    ratings_per_output: float
    seconds: float | None
    notes: tuple[Note, ...]


def read_pilot(pilot: tuple[TestSet, Ratings], level: float, *, differences: bool = False) -> Pilot:
    """Estimate from a pilot the spread of scores inside systems, or of matched differences.

    The rated segments are taken as a simple random sample. Spread and correlation are pooled
    over systems (or pairs of systems).
    """
    test_set, ratings = _checked(pilot)
    ratings = ratings.placed_in(test_set)
    scores = ratings.matrix(test_set)
    blocks, groups, y, X = _long(test_set, scores, differences)
    segments = len(np.unique(groups))
    sd, low, high, degrees = _spread(y, blocks, groups, level)
    correlation, features, explained = _explained(y, X, groups)
    drawn = f"pilot: the {segments:,} rated segments are taken as a simple random sample"
    interval = (
        f"pilot: sd {sd:.3g}, {level:.0%} interval {low:.3g} to {high:.3g} (chi-square with"
        f" {degrees:.1f} degrees of freedom, fewer than segments where scores have long tails)"
    )
    rows = ratings.genuine.drop_nulls("score")
    seconds = rows["seconds"].mean() if "seconds" in rows.columns else None
    return Pilot(
        sd=sd, low=low, high=high, degrees=degrees, correlation=correlation, features=features,
        segments=segments, population=test_set.segments.height,
        ratings_per_output=rows.height / int((~np.isnan(scores)).sum()),
        seconds=None if seconds is None else float(seconds),  # type: ignore[arg-type]
        notes=(Note("pilot-random", drawn), Note("pilot-sd", interval), explained),
    )  # fmt: skip


def _checked(pilot: tuple[TestSet, Ratings]) -> tuple[TestSet, Ratings]:
    match pilot:
        case (TestSet() as test_set, Ratings()) if isinstance(pilot, tuple):
            need_one_lp(test_set.segments, "scores")
            return pilot
    raise InputError("pilot must be a tuple (test_set, ratings), as the readers return them")


def _long(
    test_set: TestSet, scores: np.ndarray, differences: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Block (system or pair), segment, score and metrics of everything rated, centred by block."""
    metrics = np.array([_filled(test_set, name) for name in test_set.metrics])
    metrics = metrics.reshape(len(test_set.metrics), *scores.shape)
    if differences:
        pairs = list(combinations(range(len(scores)), 2))
        if not pairs:
            raise InputError("the pilot has one system; a comparison needs two")
        left, right = np.array(pairs).T
        scores, metrics = scores[left] - scores[right], metrics[:, left] - metrics[:, right]
    enough = (~np.isnan(scores)).sum(axis=1) > 1
    if not enough.any():
        what = "segments rated for both of two systems" if differences else "rated segments"
        raise InputError(
            f"the pilot shows no spread: no system has two {what}; rate more, or give the sd"
        )
    block, segment = np.nonzero(~np.isnan(scores) & enough[:, None])
    rows = np.column_stack([scores[block, segment], metrics[:, block, segment].T])
    sizes = np.maximum(np.bincount(block), 1)
    for column in rows.T:
        column -= (np.bincount(block, column) / sizes)[block]
    return block, segment, rows[:, 0], rows[:, 1:]


def _filled(test_set: TestSet, name: str) -> np.ndarray:
    """A metric, higher is better, the system's mean where it is missing (0 where it has none)."""
    values = test_set.matrix(name) * (-1 if name in test_set.lower_metrics else 1)
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=1), 1)
    means = np.where(known, values, 0.0).sum(axis=1) / count
    return np.where(known, values, means[:, None])


def _spread(
    y: np.ndarray, blocks: np.ndarray, groups: np.ndarray, level: float
) -> tuple[float, float, float, float]:
    """The pooled sd with its chi-square interval.

    The variance of s^2 is sigma^4 (kappa / n + 2 / (n - 1)), kappa the excess kurtosis, so s^2 has
    the degrees 2 / (kappa / n + 2 / (n - 1)) of a chi-square. n counts segments: the outputs of
    one segment are not independent.
    """
    degrees = len(y) - len(np.unique(blocks))
    variance = float(np.sum(y**2) / degrees)
    if variance <= 1e-12 * max(1.0, float(np.abs(y).max())):
        raise InputError("the pilot's ratings are all equal and show no spread; give the sd")
    n = len(np.unique(groups))
    kurtosis = max(0.0, float(np.mean(y**4) / np.mean(y**2) ** 2) - 3)
    freedom = 2 / (kurtosis / n + 2 / max(n - 1, 1))
    tail = (1 - level) / 2
    low = np.sqrt(freedom * variance / special.chdtri(freedom, tail))
    high = np.sqrt(freedom * variance / special.chdtri(freedom, 1 - tail))
    return float(np.sqrt(variance)), float(low), float(high), float(freedom)


def _explained(y: np.ndarray, X: np.ndarray, groups: np.ndarray) -> tuple[float | None, int, Note]:
    """The correlation of scores with their prediction from metrics, each segment left out.

    Either all metrics or the mean of the standardised metrics, whichever predicts better: few
    ratings cannot tell many metrics apart.
    """
    spread = X.std(axis=0)
    X = X[:, spread > 0] / spread[spread > 0]
    n = len(np.unique(groups))
    if not X.shape[1]:
        return None, 0, Note("pilot-no-metrics", "pilot: no metrics to plan with")
    if n < MIN_SEGMENTS_FOR_CORRELATION:
        few = f"pilot: {n} segments are too few to tell what metrics explain"
        return None, 0, Note("pilot-too-few-segments", few)
    candidates = [X.mean(axis=1, keepdims=True)]
    candidates += [X] if 1 < X.shape[1] < n - 2 else []
    shares = [_left_out(y, part, groups) for part in candidates]
    best = int(np.argmax(shares))
    r = float(np.sqrt(max(0.0, shares[best])))
    features = candidates[best].shape[1]
    what = "the metrics" if features > 1 else "the mean metric" if X.shape[1] > 1 else "the metric"
    text = f"pilot: correlation {r:.2f} with {what}, each segment predicted from the others"
    return r, features, Note("pilot-correlation", text)


def _left_out(y: np.ndarray, X: np.ndarray, groups: np.ndarray) -> float:
    """1 - PRESS / SS: the share of variance explained where each segment is left out in turn."""
    _, code = np.unique(groups, return_inverse=True)
    count, p = int(code.max()) + 1, X.shape[1]
    square, product = np.zeros((count, p, p)), np.zeros((count, p))
    np.add.at(square, code, X[:, :, None] * X[:, None, :])
    np.add.at(product, code, X * y[:, None])
    normal = square.sum(axis=0) - square
    normal += RIDGE * len(y) * np.eye(p)
    slopes = np.linalg.solve(normal, (product.sum(axis=0) - product)[:, :, None])[:, :, 0]
    error = y - np.sum(X * slopes[code], axis=1)
    return 1 - float(np.sum(error**2) / np.sum(y**2))
