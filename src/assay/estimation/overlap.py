"""How much raters differ, from outputs that several of them rated, and what it adds to an error.

Rating more segments reduces the error of sampling, not that of the raters: others like them would
have answered differently. A rater's severity and taste run through a whole task, so differences
between raters are summed over the segments of a task before they are squared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from assay.results import Note
from assay.stats.intervals import chi_squared_quantile
from assay.tables.tables import Ratings, Sample, TestSet

MIN_DOUBLED_TASKS = 2
"""With fewer tasks rated twice, the difference between raters counts as unknown."""
CLEAR_TASTE = 3.0
"""Standard errors from which lasting tastes of raters are reported: in 1 % of cases by chance."""
FEW_RATERS = 3
"""Up to so many raters say little about how strict others would be."""


class RaterVariance(NamedTuple):
    """The variance over raters of one segment's ``scores``, and of the ``differences`` of systems.

    A mean over N segments with k raters each has the variance v / (k N) in addition to that of
    sampling. ``degrees`` belong to both; ``tasks`` counts those with two raters or more; ``alone``
    has both variances computed as if every segment were a task.
    """

    scores: float
    differences: float
    degrees: float
    tasks: int
    alone: tuple[float, float]


class Answers(NamedTuple):
    """One entry per rating: its score, and numbers from 0 for all else."""

    score: np.ndarray
    system: np.ndarray
    segment: np.ndarray
    task: np.ndarray
    rater: np.ndarray


def rater_variance(given: Answers) -> RaterVariance | None:
    """The variance over raters, from all outputs with several raters; None without any.

    With two raters, and e_t the sum over the segments of task t of their differences, v = sum e_t^2
    / 2 / segments. For differences of two systems, each rater's difference takes the place of the
    score, and v is averaged over pairs of systems. With k raters, deviations from their mean over
    sqrt(k - 1) take the place of e_t / sqrt(2).

    >>> score = np.array([1.0, 2.0, 5.0, 4.0, 0.0, 1.0, 6.0, 4.0])
    >>> number = np.arange(8)
    >>> segment = number % 4
    >>> v = rater_variance(Answers(score, 0 * number, segment, segment // 2, number // 4))
    >>> v.scores, v.tasks  # (2^2 + 1^2) / 2 / 4
    (0.625, 2)
    """
    score, system, segment, task, rater = given
    output, _ = _numbered(system, segment)
    counts = np.bincount(output)
    several = counts[output] > 1
    if not several.any():
        return None
    means = np.bincount(output, score) / counts
    deviation = ((score - means[output]) / np.sqrt(np.maximum(counts[output] - 1, 1)))[several]
    system, segment, task, rater = (part[several] for part in (system, segment, task, rater))
    rated = float((1 / counts[output[several]]).sum())
    own, _ = _numbered(system)

    def sums(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of deviations as (group and rater) x systems; where each row occurs first."""
        cell, first = _numbered(group, rater)
        e = np.zeros((len(first), own.max() + 1))
        np.add.at(e, (cell, own), deviation)
        return e, first

    by_task, first = sums(task)
    return RaterVariance(
        *_variances(by_task, rated), _degrees(by_task, task[first]), len(np.unique(task)),
        _variances(sums(segment)[0], rated),
    )  # fmt: skip


def _variances(e: np.ndarray, rated: float) -> tuple[float, float]:
    """The variance of scores, averaged over systems, and of differences, averaged over pairs."""
    k, total = e.shape[1], float((e**2).sum())
    if k == 1:
        return total / rated, 2 * total / rated
    between = k * total - float((e.sum(axis=1) ** 2).sum())
    return total / rated, between / ((k - 1) / 2 * rated)


def _degrees(e: np.ndarray, task: np.ndarray) -> float:
    """Degrees of freedom of a variance averaged over pairs of systems.

    T (tr S)^2 / tr S^2 with T tasks and S the covariance of the systems' sums: between T, if all
    systems vary together, and T (K - 1), if they vary independently. tr S^2 is corrected for its
    bias with few tasks; a task of k raters counts k - 1 times.
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


class SeverityVariance(NamedTuple):
    """The variance of raters' severities, which run through all their tasks, and its degrees."""

    variance: float
    degrees: float


class _Moment(NamedTuple):
    """An estimated variance, its degrees of freedom, and the estimate's ``noise`` if it is 0."""

    variance: float
    degrees: float
    noise: float


def severity_variance(given: Answers) -> SeverityVariance | None:
    """The variance of raters' severities; None if no output has several raters.

    Two estimates, from tasks in common (:func:`_severity_in_common`) and from the raters' mean
    levels in tasks assigned at random (:func:`_severity_apart`), are weighted by their precision
    under no severity. The result is at least 0, and at most what raters of one task can differ by:
    tasks that were not assigned at random must not pass for severity. If every rater did every
    task, it is (MS_raters - MS_rest) / tasks of a two-way analysis of variance, with R - 1 degrees.

    >>> score = np.array([1.0, 2.0, 5.0, 3.0, 4.5, 8.0])  # two raters, 2.5 apart
    >>> number = np.arange(6)
    >>> found = severity_variance(Answers(score, 0 * number, *[number % 3] * 2, number // 3))
    >>> round(found.variance, 3), found.degrees  # 2.5^2 / 2, less the variance of 2, 2.5, 3 over 6
    (3.083, 1.0)
    """
    work = _work_in_common(given)
    if work is None:
        return None
    most, one = _severity_in_common(work)
    two = _severity_apart(given)
    both = [item for item in (one, two) if item is not None]
    if not both:  # one task per rater: the variance over tasks contains all severity
        return SeverityVariance(0.0, 1.0)
    weights = np.array([1 / max(item.noise, 1e-300) for item in both])
    variance, degrees = (
        float(weights @ [item[k] for item in both] / weights.sum()) for k in range(2)
    )
    return SeverityVariance(float(np.clip(variance, 0.0, most)), max(degrees, 1.0))


class _Matrix(NamedTuple):
    """A sparse matrix (loading scipy's takes longer than a small estimation)."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def __matmul__(self, other: _Matrix) -> _Matrix:
        order = np.argsort(other.row, kind="stable")
        rows = other.row[order]
        start, end = (np.searchsorted(rows, self.column, side) for side in ("left", "right"))
        n = end - start
        ours = np.repeat(np.arange(len(n)), n)
        theirs = order[np.arange(len(ours)) + np.repeat(start - np.cumsum(n) + n, n)]
        product = self.value[ours] * other.value[theirs]
        return _summed(self.row[ours], other.column[theirs], product)

    def transposed(self) -> _Matrix:
        return _Matrix(self.column, self.row, self.value)

    def gathered(self, group: np.ndarray) -> _Matrix:
        """Sums over groups of rows and of columns."""
        return _summed(group[self.row], group[self.column], self.value)

    def squares(self) -> float:
        """The sum of squares."""
        return float((self.value**2).sum())


def _summed(row: np.ndarray, column: np.ndarray, value: np.ndarray) -> _Matrix:
    number, first = _numbered(row, column)
    return _Matrix(row[first], column[first], np.bincount(number, value))


class _Work(NamedTuple):
    """Tasks with several raters: one entry per system, task and rater.

    ``d`` sums the rater's deviations from the means of the outputs; ``q`` is the matrix with
    which severities give its expectation (Q_t in :func:`_severity_in_common`).
    """

    system: np.ndarray
    task: np.ndarray
    rater: np.ndarray
    outputs: np.ndarray
    d: np.ndarray
    q: _Matrix


def _work_in_common(given: Answers) -> _Work | None:
    score, system, segment, task, rater = given
    output, _ = _numbered(system, segment)
    counts = np.bincount(output)
    several = counts[output] > 1
    if not several.any():
        return None
    deviation = (score - (np.bincount(output, score) / counts)[output])[several]
    system, task, rater = system[several], task[several], rater[several]
    cell, first = _numbered(system, task, rater)
    each = _Matrix(output[several], cell, 1 / np.sqrt(counts[output[several]]))
    outputs = np.bincount(cell).astype(float)
    q = each.transposed() @ each
    q = q._replace(value=np.where(q.row == q.column, outputs[q.row], 0.0) - q.value)
    d = np.bincount(cell, deviation)
    return _Work(system[first], task[first], rater[first], outputs, d, q)


def _numbered(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number for each distinct row of these columns, and where each occurs first."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        key = key * (int(column.max(initial=0)) + 1) + column
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first


def _severity_in_common(work: _Work) -> tuple[float, _Moment | None]:
    """An upper limit of the variance of severities, and its estimate from tasks in common.

    Summed over the outputs of task t, the deviations of raters with severities b have the
    expectation d_t = Q_t b, with errors that are independent between tasks. Hence the variance of b
    is (|sum d_t|^2 - sum |d_t|^2) / (tr (sum Q_t)^2 - sum tr Q_t^2), numerator and denominator
    summed over systems; its degrees are those of the contrasts between raters in it. None if no two
    such tasks share a rater. The limit is the upper end of a 95% interval for all that raters of a
    task differ by.
    """
    d, q = work.d, work.q
    own, first = _numbered(work.system, work.rater)
    total = np.bincount(own, d)
    whole = q.gathered(own)
    alone, between = q.squares(), whole.squares()
    found, left = float(d @ d) / alone, between - alone
    tasks = len(np.unique(work.task))
    extra = len(_numbered(work.task, work.rater)[1]) - tasks
    most = found * extra / chi_squared_quantile(0.05, extra)
    if left <= 1e-9 * between:
        return most, None
    one, many = (whole @ whole).gathered(work.rater[first]), (q @ q).gathered(work.rater)
    form = _summed(
        *(np.r_[a, b] for a, b in zip(one, many._replace(value=-many.value), strict=True))
    )
    degrees = float(form.value[form.row == form.column].sum()) ** 2 / form.squares()
    noise = 2 * found**2 * alone / (left * tasks)
    return most, _Moment(float(total @ total - d @ d) / left, degrees, noise)


class LastingTaste(NamedTuple):
    """Raters' lasting preferences for systems: sd, and the variance in standard ``errors``."""

    sd: float
    errors: float


def lasting_taste(given: Answers) -> LastingTaste | None:
    """Raters' lasting preferences for systems; None if tasks in common cannot show any.

    Products, over two tasks, of what a rater says of a system less what the rater says of all
    systems there. Without lasting preferences they average 0, and the sum of their squares is the
    variance of their sum.
    """
    work = _work_in_common(given)
    if work is None or len(np.unique(work.system)) < 2:
        return None
    cell, _ = _numbered(work.task, work.rater)
    level = np.bincount(cell, work.d) / np.bincount(cell, work.outputs)
    d = work.d - work.outputs * level[cell]
    own, done = _numbered(work.system, work.rater)[0], _numbered(work.task)[0]
    table = _Matrix(done, own, d) if done.max() < own.max() else _Matrix(own, done, d)
    left = work.q.gathered(own).squares() - work.q.squares()
    # The sum of squared products is the same over tasks as over raters: take the smaller table.
    itself = np.bincount(done, d**2)
    squares = (table @ table.transposed()).squares() - float(itself @ itself)
    if not left > 0 or not squares > 1e-9 * float(itself @ itself):
        return None
    together = float((np.bincount(own, d) ** 2).sum() - d @ d)
    systems = len(np.unique(work.system))
    variance = together / left * systems / (systems - 1)
    return LastingTaste(float(np.sqrt(max(variance, 0.0))), float(together / np.sqrt(2 * squares)))


def _severity_apart(given: Answers) -> _Moment | None:
    """The variance of raters' mean levels, in tasks that were assigned to them at random.

    Half the mean squared difference of two tasks' means, of two raters less of the same rater. None
    if no rater did two tasks, or one rater did all.
    """
    score, system, _, task, rater = given
    cell, first = _numbered(system, task, rater)
    z = np.bincount(cell, score) / np.bincount(cell)
    system, task, rater = system[first], task[first], rater[first]
    z = z - (np.bincount(system, z) / np.maximum(np.bincount(system), 1))[system]
    pairs_in = []
    for columns in ((system,), (system, rater), (system, task)):
        group, _ = _numbered(*columns)
        n, total = np.bincount(group), np.bincount(group, z)
        # Half the sum of squared differences inside groups, and the number of pairs.
        half = n * np.bincount(group, z**2) - total**2
        pairs_in.append((float(half.sum()), float((n * (n - 1)).sum())))
    every, same, together = pairs_in
    pairs = every[1] - same[1] - together[1]
    if not pairs > 0 or not same[1] > 0:
        return None
    inside = same[0] / same[1]
    between = (every[0] - same[0] - together[0]) / pairs
    n = np.bincount(rater[_numbered(task, rater)[1]]).astype(float)
    n = n[n > 0]
    again = n * (n - 1)
    degrees = max(again.sum() ** 2 / (again**2).sum() - 1, 1.0)
    typical = (n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)
    noise = 2 * inside**2 * (1 / degrees + 1 / max(n.sum() - len(n), 1)) / typical**2
    return _Moment(between - inside, degrees, noise)


class Severities(NamedTuple):
    """What a score's error gains because the raters as a whole may be strict or mild.

    One entry per rating: its system, segment, rater, and ``share``, 1 over the number of its
    output's raters; ``tasks`` has one entry per segment.
    """

    found: SeverityVariance
    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    tasks: np.ndarray
    share: np.ndarray

    def part(self, i: int, weight: np.ndarray, scale: float = 1.0) -> float:
        """The variance of a system's score beyond that over tasks.

        With w_rt the weight of rater r's work in task t, severities of variance s^2 add
        s^2 sum_r (sum_t w_rt)^2. The variance over tasks already contains s^2 sum_rt w_rt^2 times
        the ``scale`` of these ratings.
        """
        own = self.system == i
        rater, segment = self.rater[own], self.segment[own]
        w = weight[segment] * self.share[own]
        cell = rater + (rater.max(initial=0) + 1) * self.tasks[segment]
        cells = np.bincount(np.unique(cell, return_inverse=True)[1], w)
        beyond = float((np.bincount(rater, w) ** 2).sum() - scale * (cells**2).sum())
        return self.found.variance * max(beyond, 0.0)


class Overlap(NamedTuple):
    """The raters' part of errors, from the doubly rated outputs of a campaign.

    ``share`` is 1 over the number of raters of an output (systems x segments). The variance is an
    average; for one system or pair it is scaled by the variance of its ratings over the ``typical``
    one, of scores and of differences.
    """

    variance: RaterVariance
    share: np.ndarray
    typical: tuple[float, float]
    raters: int
    severities: Severities
    taste: LastingTaste | None

    def part(self, i: int, j: int, x: np.ndarray, population: int) -> float:
        """The variance over raters of a score or difference, beyond its sampling variance.

        With n segments rated by one rater each, raters contribute v / n. The sampling variance
        (1 - n/N) s^2 / n contains (1/n - 1/N) times their variance v_1 in single segments, so
        that v/N + (1/n - 1/N) (v - v_1) is left.
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

    def scale(self, x: np.ndarray) -> float:
        """The variance of these ratings relative to the typical one; 0 if unknown."""
        typical = self.typical[0]
        return float(x.var(ddof=1)) / typical if typical > 0 and len(x) > 1 else 0.0


def find_overlap(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, sample: Sample | None = None
) -> Overlap | None:
    """How raters differ in these ratings; None if too few tasks have two raters.

    ``scores`` are the ratings in use (systems x segments). Tasks are named by the ratings' column
    ``task``; without it they are the snippets drawn, else documents, else segments.
    """
    if "rater" not in ratings.genuine.columns:
        return None
    return overlap_of(test_set, ratings, scores, find_tasks(test_set, ratings.genuine, sample))


def overlap_of(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, tasks: np.ndarray
) -> Overlap | None:
    """How raters differ, given the number of every segment's task."""
    places = test_set.segments.select(test_set.key).with_row_index("_segment")
    rows = ratings.genuine.drop_nulls(["score", "rater"]).join(places, on=test_set.key)
    numbers = {name: k for k, name in enumerate(test_set.systems)}
    system = rows["system"].replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
    segment = rows["_segment"].cast(pl.Int64).to_numpy()
    used = ~np.isnan(scores[system, segment])
    rater = (rows["rater"].rank("dense").cast(pl.Int64).to_numpy() - 1)[used]
    system, segment = system[used], segment[used]
    given = Answers(rows["score"].to_numpy()[used], system, segment, tasks[segment], rater)
    variance, severity = rater_variance(given), severity_variance(given)
    if variance is None or severity is None or variance.tasks < MIN_DOUBLED_TASKS:
        return None
    count = np.zeros(scores.shape)
    np.add.at(count, (system, segment), 1)
    share = np.where(count > 0, 1 / np.maximum(count, 1), np.nan)
    severities = Severities(severity, system, segment, rater, tasks, share[system, segment])
    return Overlap(
        variance, share, _typical(scores), len(np.unique(rater)), severities, lasting_taste(given)
    )


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
        # Snippets are numbered inside documents; a segment without a task is a task of its own.
        inside = test_set.document if name == "snippet" else np.zeros(len(task), dtype=np.int64)
        alone = np.where(task.is_null().to_numpy(), np.arange(len(task)) + 1, 0)
        names = task.fill_null("").to_numpy().astype(str)
        names = np.unique(names, return_inverse=True)[1]
        return np.unique(np.stack([inside, names, alone]), axis=1, return_inverse=True)[1].ravel()
    return test_set.document if test_set.has_documents else np.arange(test_set.segments.height)


def rater_notes(overlap: Overlap, severity: SeverityVariance | None) -> tuple[Note, ...]:
    """What intervals for raters hold for, and which doubts remain."""
    text = (
        f"intervals are for this test set and raters like these {overlap.raters}:"
        f" {overlap.variance.tasks:,} tasks have two or more raters, which shows how much"
        " they differ; stricter raters would move all systems alike, so differences are more"
        " certain than scores"
    )
    said = [Note("for-raters", text)]
    if overlap.raters <= FEW_RATERS and severity is not None and severity.variance > 0:
        text = (
            f"{overlap.raters} raters say little about how strict others would be, so"
            " intervals of scores are wide; those of differences do not depend on it"
        )
        said.append(Note("few-raters", text))
    if overlap.taste is not None and overlap.taste.errors > CLEAR_TASTE:
        text = (
            "raters have lasting preferences for particular systems (sd"
            f" {overlap.taste.sd:.2g}): with other raters, differences may move by more than"
            " their intervals say"
        )
        said.append(Note("lasting-taste", text))
    return tuple(said)


def raters_by_system(ratings: Ratings) -> tuple[Note, ...]:
    """A warning if every rater rated one system only: then severity looks like a bad system."""
    frame = ratings.genuine.drop_nulls("score")
    if "rater" not in frame.columns or frame["system"].n_unique() < 2:
        return ()
    pairs = frame.select("rater", "system").n_unique()
    # With one rating per rater, the spread of the ratings contains the raters' differences.
    if pairs > frame["rater"].n_unique() or frame.height < 2 * pairs:
        return ()
    text = (
        "warning: every rater rated one system only, so differences between systems include those"
        " between their raters, and no interval shows that; have every rater rate all systems"
    )
    return (Note("raters-by-system", text),)


def _typical(scores: np.ndarray) -> tuple[float, float]:
    """The mean variance of the systems' ratings, and of the differences of two systems'."""

    def mean_variance(rows: list[np.ndarray]) -> float:
        known = [row[~np.isnan(row)] for row in rows]
        spreads = [row.var(ddof=1) for row in known if len(row) > 1]
        return float(np.mean(spreads)) if spreads else 0.0

    pairs = [a - b for k, a in enumerate(scores) for b in scores[:k]]
    return mean_variance(list(scores)), mean_variance(pairs)
