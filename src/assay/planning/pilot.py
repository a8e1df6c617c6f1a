"""What pilot ratings say of the campaign to come: spread, what metrics explain, how surely."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import InputError, OptionError
from assay.estimation.overlap import Overlap, find_overlap
from assay.estimation.results import UNKNOWN_REACH
from assay.planning.spread import RaterPart
from assay.results import Note
from assay.tables.answers import need_one_lp
from assay.tables.tables import SAME_AS_RATINGS, Ratings, TestSet

MIN_SEGMENTS_FOR_CORRELATION = 10
"""With fewer rated segments a correlation would be a guess."""
FEW_TASKS = 10
"""Fewer doubly rated tasks say little of what raters differ by."""
RIDGE = 1e-6
"""Share of a metric's variance added to the normal equations, so that two equal metrics do no
harm."""


class Pilot(NamedTuple):
    """Standard deviation with its interval, and the correlation that metrics reach.

    Both are those of single ratings. ``degrees`` are those of the chi-square interval (``low``,
    ``high``) of the sd, fewer than the ``segments`` where the ratings have long tails.
    ``correlation`` is None where the pilot cannot tell; ``features`` is the number of metrics
    behind it. ``raters`` is None where no output was rated twice, ``widest`` the system (or pair)
    with the largest sd and that sd, ``order`` None where too few segments are rated for all.
    ``alike`` is how far two segments of the test set go together, as those of a document do.
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
    raters: RaterPart | None
    opinions: float
    widest: tuple[str, float] | None
    order: PilotOrder | None
    alike: float
    documents: int | None
    notes: tuple[Note, ...]


class PilotOrder(NamedTuple):
    """The systems' means on n segments that all have, and what their later errors will be.

    ``covariance`` is that of single segments, ``raters`` v and u of a difference (:class:`Spread`)
    by the raters of an output together; None where they are not known.
    """

    means: np.ndarray
    covariance: np.ndarray
    n: int
    population: int
    raters: tuple[float, float] | None
    alike: float = 0.0

    def errors(self, n: int) -> np.ndarray:
        """The covariance of the means of n segments, counted as in :class:`Spread`."""
        share = 1 / n - 1 / self.population
        if self.raters is None:
            texts = n > UNKNOWN_REACH * self.population
            return self.covariance * (1 / n + self.alike if texts else share)
        v, u = self.raters
        beyond = v / self.population + share * max(v - u, 0.0)
        return self.covariance * share + beyond / 2 * np.eye(len(self.means))


def read_pilot(pilot: tuple[TestSet, Ratings], level: float, *, differences: bool = False) -> Pilot:
    """Estimate from a pilot the spread of scores inside systems, or of matched differences.

    The rated segments are treated as a simple random sample. Spread and correlation are pooled
    over systems (or pairs of systems).
    """
    test_set, ratings = _checked(pilot)
    ratings = ratings.placed_in(test_set)
    scores = ratings.matrix(test_set)
    blocks, groups, y, X = _long(test_set, scores, differences)
    segments = len(np.unique(groups))
    rows = ratings.genuine.drop_nulls("score")
    overlap = find_overlap(test_set, ratings, scores)
    opinions = 1.0 if overlap is None else 1 / float(np.nanmean(overlap.share))
    sd, low, high, degrees = _spread(y, blocks, groups, level)
    raters = None if overlap is None else _rater_part(overlap, differences, sd, opinions)
    more = 0.0 if raters is None else raters.noise * (1 - 1 / opinions)
    single = float(np.sqrt(sd**2 + more))
    correlation, features, explained = _explained(y, X, groups, sd / single)
    low, high = low * single / sd, high * single / sd
    seconds = rows["seconds"].mean() if "seconds" in rows.columns else None
    return Pilot(
        sd=single, low=low, high=high, degrees=degrees, correlation=correlation,
        features=features, segments=segments, population=test_set.segments.height,
        ratings_per_output=rows.height / int((~np.isnan(scores)).sum()),
        seconds=None if seconds is None else float(seconds),  # type: ignore[arg-type]
        raters=raters, opinions=opinions,
        widest=_widest(y, blocks, test_set.systems, differences, single / sd),
        order=_order(scores, overlap, opinions, test_set),
        alike=_alike(y, blocks, groups, test_set),
        documents=test_set.documents.height if _has_documents(test_set) else None,
        notes=_notes(
            segments, (single, low, high), degrees, level, explained, raters, differences
        ),
    )  # fmt: skip


def _notes(
    segments: int, sd: tuple[float, float, float], degrees: float, level: float, explained: Note,
    raters: RaterPart | None, differences: bool,
) -> tuple[Note, ...]:  # fmt: skip
    """What the pilot was taken for, and what it says."""
    text = f"pilot: the {segments:,} rated segments are treated as a simple random sample"
    what = "differences of single ratings" if differences else "single ratings"
    said = (
        f"pilot: {what} have sd {sd[0]:.4g}, {level:.0%} interval {sd[1]:.3g} to {sd[2]:.3g}"
        f" (chi-square with {degrees:.1f} degrees of freedom, fewer than segments where scores have"
        " long tails)"
    )
    notes = Note("pilot-random", text), Note("pilot-sd", said), explained
    if raters is None:
        return notes
    rough = ": few, so this is rough" if raters.tasks < FEW_TASKS else ""
    text = (
        f"pilot: the variance between raters is {raters.variance:.3g} per segment by tasks"
        f" ({raters.noise:.3g} by single segments), from {raters.tasks} doubly rated tasks{rough}"
    )
    return (*notes, Note("pilot-raters", text))


def _rater_part(overlap: Overlap, differences: bool, sd: float, opinions: float) -> RaterPart:
    """What raters differ by in scores, or in differences, as `estimate` counts it.

    Single ratings vary with sd^2 + noise (1 - 1/k), of which the noise is a part.
    """
    found = overlap.variance
    v, noise = (
        (found.differences, found.alone[1]) if differences else (found.scores, found.alone[0])
    )  # fmt: skip
    noise = min(noise, opinions * sd**2)
    segments = int((overlap.share < 1).any(axis=0).sum())
    severities = overlap.severities
    rated = ~np.isnan(overlap.share)
    pool = [severities.part(i, row / row.sum()) for i, row in enumerate(rated) if row.any()]
    return RaterPart(
        v, found.degrees, noise, segments / found.tasks, found.tasks,
        0.0 if differences else float(np.mean(pool)), severities.found.degrees,
    )  # fmt: skip


def _widest(
    y: np.ndarray, blocks: np.ndarray, systems: tuple[str, ...], differences: bool, factor: float
) -> tuple[str, float] | None:
    """The system or pair with the largest sd, where there are several to choose from."""
    count = np.bincount(blocks)
    enough = count >= MIN_SEGMENTS_FOR_CORRELATION
    if enough.sum() < 2:
        return None
    variance = np.where(enough, np.bincount(blocks, y**2) / np.maximum(count - 1, 1), -1.0)
    at = int(np.argmax(variance))
    names = [" and ".join(pair) for pair in combinations(systems, 2)] if differences else systems
    return names[at], factor * float(np.sqrt(variance[at]))


def _alike(y: np.ndarray, blocks: np.ndarray, groups: np.ndarray, test_set: TestSet) -> float:
    """The correlation inside documents times the chance that two segments are of the same one."""
    if not _has_documents(test_set):
        return 0.0
    _, cell = np.unique(np.stack([blocks, test_set.document[groups]]), axis=1, return_inverse=True)
    cell = cell.ravel()
    n, sizes = np.bincount(cell), np.bincount(test_set.document).astype(float)
    pairs = float((n * (n - 1)).sum())
    if not pairs:
        return 0.0
    products = float((np.bincount(cell, y) ** 2 - np.bincount(cell, y**2)).sum())
    chance = float((sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1)))
    square = float(np.mean(y**2))
    return chance * float(np.clip(products / pairs / square, 0.0, 1.0)) if square > 0 else 0.0


def _has_documents(test_set: TestSet) -> bool:
    """Whether documents are the texts: one alone says nothing of others."""
    return test_set.has_documents and test_set.documents.height > 1


def _order(
    scores: np.ndarray, overlap: Overlap | None, opinions: float, test_set: TestSet
) -> PilotOrder | None:
    """What the pilot says of the order of its systems.

    The covariance is shrunk towards equal errors with weight (K - 1) / n, as few segments cannot
    tell many systems apart.
    """
    places = np.flatnonzero(~np.isnan(scores).any(axis=0))
    matched = scores[:, places]
    systems, n = matched.shape
    if systems < 2 or n < MIN_SEGMENTS_FOR_CORRELATION:
        return None
    centre = np.eye(systems) - 1 / systems
    rest = centre @ (matched - matched.mean(axis=1, keepdims=True))
    block, segment = np.indices(rest.shape).reshape(2, -1)
    seen = centre @ np.cov(matched) @ centre
    weight = min(1.0, (systems - 1) / n)
    alike = float(np.trace(seen)) / (systems - 1) * np.eye(systems)
    return PilotOrder(
        matched.mean(axis=1), (1 - weight) * seen + weight * alike, n, scores.shape[1],
        None if overlap is None
        else (overlap.variance.differences / opinions, overlap.variance.alone[1] / opinions),
        _alike(rest.ravel(), block, places[segment], test_set),
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
    low = np.sqrt(freedom * variance / scipy.special.chdtri(freedom, tail))
    high = np.sqrt(freedom * variance / scipy.special.chdtri(freedom, 1 - tail))
    return float(np.sqrt(variance)), float(low), float(high), float(freedom)


def _explained(
    y: np.ndarray, X: np.ndarray, groups: np.ndarray, single: float
) -> tuple[float | None, int, Note]:
    """The correlation of single ratings with their prediction from metrics, each segment left out.

    ``single`` turns that of the means of an output's raters into that of single ratings.

    Either all metrics or the mean of the standardised metrics, whichever predicts better: few
    ratings cannot tell many metrics apart.
    """
    spread = X.std(axis=0)
    X = X[:, spread > 0] / spread[spread > 0]
    n = len(np.unique(groups))
    if not X.shape[1]:
        return None, 0, Note("pilot-no-metrics", "pilot: no metrics to plan with")
    if n < MIN_SEGMENTS_FOR_CORRELATION:
        few = f"pilot: {n} segments are too few to tell how much metrics explain"
        return None, 0, Note("pilot-too-few-segments", few)
    candidates = [X.mean(axis=1, keepdims=True)]
    candidates += [X] if 1 < X.shape[1] < n - 2 else []
    shares = [_left_out(y, part, groups) for part in candidates]
    best = int(np.argmax(shares))
    r = float(np.sqrt(max(0.0, shares[best])))
    features = candidates[best].shape[1]
    if r > SAME_AS_RATINGS:
        raise OptionError(
            "metrics", f"correlation {r:.2f}", "nearly equal the ratings: one of them is the"
            " answer, not a metric", "leave it out",
        )  # fmt: skip
    what = "the metrics" if features > 1 else "the mean metric" if X.shape[1] > 1 else "the metric"
    r *= single
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
