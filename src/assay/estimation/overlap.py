"""How far an answer depends on who gave it, from outputs that several people rated.

Rating more segments takes away the error of sampling, not that of the raters: others like them
would have said otherwise. What they would have said is known from tasks that two or more did. A
rater's taste goes through everything done in one go, so that what two raters of a segment differ
by says too little: segments of a task are summed before they are squared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.results import Note
from assay.tables.answers import Ratings
from assay.tables.test_set import Sample, TestSet

MIN_DOUBLED_TASKS = 2
"""With fewer tasks rated twice, how far raters differ is taken as unknown."""


class RaterVariance(NamedTuple):
    """The variance of one segment's answer over raters, of a score and of a difference.

    A mean over N segments, each rated by k raters, has the variance v / (k N) beside that of the
    segments' sampling. ``tasks`` were rated by two or more; ``degrees`` of freedom go with both.
    ``alone`` are the same two by segments, as if every segment were a task.
    """

    scores: float
    differences: float
    degrees: float
    tasks: int
    alone: tuple[float, float]


def rater_variance(
    score: np.ndarray,
    system: np.ndarray,
    segment: np.ndarray,
    task: np.ndarray,
    rater: np.ndarray,
) -> RaterVariance | None:
    """The variance over raters from all outputs that several rated; None where there are none.

    The arrays have an entry per rating; all but the scores are numbers from 0. With two raters and
    e_t the sum over the segments of task t of what the first says less what the second says, it is
    v = sum e_t^2 / 2 / segments; for differences of two systems with the difference by each rater,
    averaged over the pairs. With k raters of an output, deviations from their mean over sqrt(k - 1)
    take the place of e_t / sqrt(2).

    >>> score = np.array([1.0, 2.0, 5.0, 4.0, 0.0, 1.0, 6.0, 4.0])
    >>> number = np.arange(8)
    >>> v = rater_variance(score, 0 * number, number % 4, number % 4 // 2, number // 4)
    >>> v.scores, v.tasks  # (2^2 + 1^2) / 2 / 4
    (0.625, 2)
    """
    output = system * (segment.max(initial=0) + 1) + segment
    _, output, counts = np.unique(output, return_inverse=True, return_counts=True)
    several = counts[output] > 1
    if not several.any():
        return None
    means = np.bincount(output, score) / counts
    deviation = ((score - means[output]) / np.sqrt(np.maximum(counts[output] - 1, 1)))[several]
    system, task, rater = system[several], task[several], rater[several]
    rated = float((1 / counts[output[several]]).sum())
    number = task * (rater.max() + 1) + rater
    by_task, cells = _sums(deviation, system, number)
    segment = segment[several]
    by_segment, _ = _sums(deviation, system, segment * (rater.max() + 1) + rater)
    return RaterVariance(
        *_variances(by_task, rated), _degrees(by_task, cells // (rater.max() + 1)),
        len(np.unique(task)), _variances(by_segment, rated),
    )  # fmt: skip


def _sums(
    deviation: np.ndarray, system: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What each rater adds up to in each task, a row, for every system, and the rows' numbers."""
    cells, cell = np.unique(number, return_inverse=True)
    systems, own = np.unique(system, return_inverse=True)
    e = np.zeros((len(cells), len(systems)))
    np.add.at(e, (cell, own), deviation)
    return e, cells


def _variances(e: np.ndarray, rated: float) -> tuple[float, float]:
    """Of scores, averaged over systems, and of differences, averaged over pairs of systems."""
    k, total = e.shape[1], float((e**2).sum())
    if k == 1:
        return total / rated, 2 * total / rated
    between = k * total - float((e.sum(axis=1) ** 2).sum())
    return total / rated, between / ((k - 1) / 2 * rated)


def _degrees(e: np.ndarray, task: np.ndarray) -> float:
    """Degrees of freedom of a variance averaged over pairs of systems.

    With T tasks and the covariance S of the systems' sums it is T (tr S)^2 / tr S^2: T where all
    systems move together, up to T (K - 1) where each moves by itself. The trace of the square is
    freed from its bias at few tasks; S is that of two raters' tasks, others count by their
    raters less one.
    """
    _, number = np.unique(task, return_inverse=True)
    extra = np.bincount(number) - 1.0
    degrees = float(np.maximum(extra, 0).sum())
    k = e.shape[1]
    if k < 3 or degrees < 3:
        return max(degrees, 1.0)
    centred = e - e.mean(axis=1, keepdims=True)
    s = centred.T @ centred / degrees
    trace = float(np.trace(s))
    if trace == 0:
        return degrees
    square = float((s**2).sum()) - trace**2 / degrees
    square *= degrees**2 / ((degrees - 1) * (degrees + 2))
    return float(degrees * np.clip(trace**2 / max(square, 1e-300), 1.0, k - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """The raters' part of an error: what is known from doubly rated outputs of one campaign.

    ``share`` is 1 over the number of raters of an output, as systems x segments. A system or pair
    whose ratings vary more than others' has raters that differ more, in proportion: the averaged
    variance is scaled by its own spread over the ``typical`` one of scores and of differences.
    """

    variance: RaterVariance
    share: np.ndarray
    typical: tuple[float, float]
    raters: int

    def part(self, i: int, j: int, x: np.ndarray, population: int) -> float:
        """The variance of an estimate over raters that its sampling variance does not have.

        Of a score, or a difference: with n segments rated by one rater each it is v / n in all. The
        variance (1 - n/N) s^2 / n holds (1 - n/N) / n times the raters' variance of single
        segments; the rest is v/N + (1/n - 1/N) (v - that of single segments).
        """
        different, n = int(i != j), len(x)
        typical, alone = self.typical[different], self.variance.alone[different]
        if not typical > 0 or n < 2:
            return 0.0
        v = self.variance.differences if different else self.variance.scores
        v = v / population + max(v - alone, 0.0) * (1 / n - 1 / population)
        rated = ~np.isnan(self.share[i]) & ~np.isnan(self.share[j])
        once = float((self.share[i, rated] + self.share[j, rated]).mean()) / 2
        return v * float(x.var(ddof=1)) / typical * once


@dataclass(frozen=True, slots=True, eq=False)
class SeverityError:
    """What it adds to an error that the severities taken off the ratings are estimates.

    One entry per rating: its system, segment, rater and 1 over the raters of its output. A score
    moves by w'b, b the severities and w the raters' shares of it, so that its variance has the part
    w' Cov(b) w; a difference that of the difference of the shares.
    """

    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    share: np.ndarray
    covariance: np.ndarray
    degrees: float
    fitted: int
    """Severities that were fitted, less one for every group of raters."""

    def inflated(self, overlap: Overlap) -> Overlap:
        """What raters differ by, found after severities were fitted to the same ratings."""
        old, factor = overlap.variance, 1 + self.fitted / self.degrees
        new = old._replace(scores=old.scores * factor, differences=old.differences * factor)
        return replace(overlap, variance=new)

    def variance(self, w: np.ndarray) -> float:
        """What is added to the variance of a score or difference with these shares."""
        return float(max(w @ self.covariance @ w, 0.0))

    def shares(self, i: int, weight: np.ndarray) -> np.ndarray:
        """The raters' shares of a system's score, with the ``weight`` of every segment in it."""
        own = self.system == i
        each = weight[self.segment[own]] * self.share[own]
        return np.bincount(self.rater[own], each, minlength=len(self.covariance))


def find_overlap(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, sample: Sample | None = None
) -> Overlap | None:
    """What the outputs with several raters say; None where too few tasks were rated twice.

    ``scores`` are the ratings in use, as systems x segments. A task is what the ratings' column
    ``task`` says, else the snippet that was drawn, else the document, else the segment.
    """
    frame = ratings.genuine
    if "rater" not in frame.columns:
        return None
    places = test_set.segments.select(test_set.key).with_row_index("_segment")
    tasks = find_tasks(test_set, frame, sample)
    rows = frame.drop_nulls(["score", "rater"]).join(places, on=test_set.key)
    numbers = {name: k for k, name in enumerate(test_set.systems)}
    system = rows["system"].replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
    segment = rows["_segment"].cast(pl.Int64).to_numpy()
    used = ~np.isnan(scores[system, segment])
    rater = rows["rater"].rank("dense").cast(pl.Int64).to_numpy() - 1
    variance = rater_variance(
        rows["score"].to_numpy()[used], system[used], segment[used], tasks[segment[used]],
        rater[used],
    )  # fmt: skip
    if variance is None or variance.tasks < MIN_DOUBLED_TASKS:
        return None
    count = np.zeros(scores.shape)
    np.add.at(count, (system[used], segment[used]), 1)
    share = np.where(count > 0, 1 / np.maximum(count, 1), np.nan)
    return Overlap(variance, share, _typical(scores), len(np.unique(rater[used])))


def find_tasks(test_set: TestSet, frame: pl.DataFrame, sample: Sample | None) -> np.ndarray:
    """The number of the task that each segment of the test set belongs to."""
    key = list(test_set.key)
    for name, rows in (("task", frame), ("snippet", None if sample is None else sample.frame)):
        if rows is None or name not in rows.columns or rows[name].null_count() == rows.height:
            continue
        own = rows.drop_nulls(name).unique(key, keep="first", maintain_order=True)
        task = test_set.segments.select(key).join(
            own.select(*key, name), on=key, how="left", maintain_order="left"
        )[name]
        # Snippets are numbered inside documents; a segment without a task is one by itself.
        inside = test_set.document if name == "snippet" else np.zeros(len(task), dtype=np.int64)
        alone = np.where(task.is_null().to_numpy(), np.arange(len(task)) + 1, 0)
        names = task.fill_null("").to_numpy().astype(str)
        names = np.unique(names, return_inverse=True)[1]
        return np.unique(np.stack([inside, names, alone]), axis=1, return_inverse=True)[1].ravel()
    return test_set.document if test_set.has_documents else np.arange(test_set.segments.height)


def raters_by_system(ratings: Ratings) -> list[Note]:
    """A warning where no rater compares systems: who is severe and what is bad look the same."""
    frame = ratings.genuine.drop_nulls("score")
    if "rater" not in frame.columns or frame["system"].n_unique() < 2:
        return []
    pairs = frame.select("rater", "system").n_unique()
    # Where a rater gave one rating each, what raters differ by is in the spread of ratings.
    if pairs > frame["rater"].n_unique() or frame.height < 2 * pairs:
        return []
    text = (
        "warning: every rater rated one system only, so differences of systems are also those of"
        " their raters, and no interval shows that; have every rater rate all systems"
    )
    return [Note("raters-by-system", text)]


def _typical(scores: np.ndarray) -> tuple[float, float]:
    """The mean variance of the systems' ratings, and of the differences of two systems'."""

    def mean_variance(rows: list[np.ndarray]) -> float:
        known = [row[~np.isnan(row)] for row in rows]
        spreads = [row.var(ddof=1) for row in known if len(row) > 1]
        return float(np.mean(spreads)) if spreads else 0.0

    pairs = [a - b for k, a in enumerate(scores) for b in scores[:k]]
    return mean_variance(list(scores)), mean_variance(pairs)
