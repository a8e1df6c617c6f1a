"""A project's progress: ratings so far, what they decide, and what to watch.

Ratings arrive sheet by sheet, easy ones first, so they are seldom a sample. Figures rest on the
complete beginning of the sample's order; ratings after its first gap wait. Without such a
beginning, scores are provisional and decide nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.errors import InputError
from assay.estimation.estimate import estimate, ratings_to_decide
from assay.estimation.raters import RaterSummary, rater_summaries
from assay.estimation.results import Estimates
from assay.pay import pay_of
from assay.results import UNPAID, Costs, Note, Result, has_note, plural, signature
from assay.tables.tables import Ratings, Sample, TestSet, as_matrix

State = Literal["new", "drawn", "sent", "begun", "complete"]
Basis = Literal["sample", "beginning", "orientation"]
MIN_BEGINNING = 10
"""Shorter beginnings, in segments, are not used."""
DOUBTS = ("direction-doubtful", "outside-the-sample", "mostly-skipped", "skipping-by-metrics")
"""Notes of an estimate that matter during collecting."""


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """The progress of one rater; ``planned`` is None if unknown."""

    rater: str
    rated: int
    planned: int | None
    checks: int = 0
    passed: int = 0
    doubts: tuple[str, ...] = ()
    """Why the rater stands out."""


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """The progress of one system, with its score if known."""

    system: str
    rated: int
    planned: int | None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    low_rank: int | None = None
    high_rank: int | None = None


@dataclass(frozen=True, slots=True)
class OpenPair:
    """An undecided pair; ``ratings`` more decide it with 80% probability."""

    left: str
    right: str
    difference: float
    ratings: int | None
    """None if more segments of this test set will not decide it."""


@dataclass(frozen=True, slots=True)
class PairsProgress:
    """Decided and open pairs; the cheapest to decide come first."""

    decided: int
    open: int
    undecided: tuple[OpenPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """The effort so far, in ratings, hours and money."""

    ratings: int
    hours: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class ProjectStatus(Result, kind="status"):
    """A project's progress.

    ``basis`` says what scores and verdicts rest on: the whole ``sample``, its ``beginning`` (the
    first ``segments`` in its order), or, for ``orientation`` only, all ratings so far. ``waiting``
    counts ratings after the first gap.
    """

    state: State
    rated: int
    planned: int | None
    raters: tuple[RaterProgress, ...]
    systems: tuple[SystemProgress, ...]
    pairs: PairsProgress
    next: tuple[str, ...]
    spent: Spent
    warnings: tuple[Note, ...]
    basis: Basis | None = None
    segments: int = 0
    drawn: int | None = None
    waiting: int = 0
    best: str | None = None
    """The system that is better than all others, if that is decided."""
    level: float = 0.95
    pay: Costs = UNPAID
    """The cost and time of a rating."""

    @property
    def signature(self) -> str:
        """State and progress."""
        of = "" if self.planned is None else f"/{self.planned}"
        return signature(
            "status", self.state, on=self.basis, ratings=f"{self.rated}{of}",
            segments=None if self.drawn is None else f"{self.segments}/{self.drawn}",
            decided=f"{self.pairs.decided}/{self.pairs.decided + self.pairs.open}",
        )  # fmt: skip


def project_status(
    test_set: TestSet,
    ratings: Ratings | None = None,
    *,
    sample: Sample | None = None,
    key: pl.DataFrame | None = None,
    target: str | None = None,
    pay: Costs | str | None = None,
    level: float = 0.95,
) -> ProjectStatus:
    """Report ratings so far, what they decide, and what deciding the rest costs.

    ``ratings`` may be incomplete. ``key`` holds the rows of the sheets that were sent, which say
    who rates what. ``pay`` is the price of a rating; ``target`` says what verdicts are for, as in
    :func:`assay.estimate`.

    >>> import assay
    >>> world = assay.simulate(documents=30, systems=3, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="50%", design="rounds", rng=7)
    >>> status = project_status(world.test_set, world.rate(drawn), sample=drawn)
    >>> status.state, status.basis, status.waiting, status.pairs.decided + status.pairs.open
    ('complete', 'sample', 0, 3)
    """
    paid = UNPAID if pay is None else pay_of(pay)
    here = None if ratings is None else ratings.placed_in(test_set)
    if sample is not None:
        sample = sample.placed_in(test_set)
    progress = _progress(test_set, here, sample)
    estimates, faults = _estimated(test_set, here, sample, progress, target, level)
    paid = paid if estimates is None else paid.timed(estimates.paid.seconds_per_rating)
    people, doubts = _raters(test_set, here, key)
    rated = 0 if here is None else _answers(here)
    planned = None if key is None else key.height
    decisive = estimates is not None and progress.basis != "orientation"
    pairs = _pairs(test_set, estimates if decisive else None)
    return ProjectStatus(
        state=_state(progress, here, sample, key), rated=rated, planned=planned, raters=people,
        systems=_systems(test_set, here, sample, key, estimates), pairs=pairs,
        next=_next(progress, people, estimates if decisive else None, pairs, paid),
        spent=Spent(rated, _hours(paid, rated), paid.money(rated)),
        warnings=(*faults, *doubts, *_gaps(test_set, here, sample), *_noted(estimates)),
        basis=progress.basis, segments=progress.segments, drawn=progress.drawn,
        waiting=progress.waiting, best=_best(estimates if decisive else None), level=level,
        pay=paid,
    )  # fmt: skip


# --- how far it is -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RatedSoFar:
    basis: Basis | None
    segments: int
    drawn: int | None
    waiting: int
    complete: bool
    places: np.ndarray
    """The segments that the figures rest on, by place in the test set."""


def _progress(test_set: TestSet, ratings: Ratings | None, sample: Sample | None) -> _RatedSoFar:
    """How far the ratings have come, and which of them may be used."""
    everything = np.arange(test_set.segments.height)
    if ratings is None or not _answers(ratings):
        return _RatedSoFar(None, 0, None if sample is None else len(sample), 0, False, everything)
    counts = _answered(test_set, ratings)
    done = (counts > 0) | ~test_set.present
    if sample is None or not sample.matched:
        wanted = test_set.present if sample is None else ~np.isnan(sample.probabilities(test_set))
        complete = bool((done | ~wanted).all())
        size = int((done & wanted).any(axis=0).sum())
        basis: Basis = "sample" if complete else "orientation"
        return _RatedSoFar(basis, size, None, 0, complete, everything)
    order = sample.order(test_set)
    full = done[:, order].all(axis=0)
    begun = int(np.argmin(full)) if not full.all() else len(order)
    behind = int((counts[:, order[begun:]] > 0).sum())
    if begun == len(order):
        return _RatedSoFar("sample", begun, len(order), 0, True, order)
    if begun >= MIN_BEGINNING and design_of(sample.design).is_sample(begun):
        return _RatedSoFar("beginning", begun, len(order), behind, False, order[:begun])
    some = int(done[:, order].any(axis=0).sum())
    return _RatedSoFar("orientation", some, len(order), behind, False, order)


def _answers(ratings: Ratings) -> int:
    """The number of scores, checks and repeats included."""
    repeats = ratings.repeats
    again = repeats["score"].count() if "score" in repeats.columns else 0
    return int(ratings.frame["score"].count() + again)


def _answered(test_set: TestSet, ratings: Ratings) -> np.ndarray:
    """Systems x segments: the number of rows, skipped outputs included."""
    key = ["system", *test_set.key]
    rows = ratings.genuine.group_by(key).agg(pl.len().cast(pl.Float64).alias("_rows"))
    joined = test_set.frame.select(key).join(rows, on=key, how="left", maintain_order="left")
    return np.asarray(np.nan_to_num(as_matrix(joined["_rows"], test_set)))


def _state(
    progress: _RatedSoFar, ratings: Ratings | None, sample: Sample | None, key: pl.DataFrame | None
) -> State:
    if ratings is not None and progress.basis is not None:
        return "complete" if progress.complete else "begun"
    return "sent" if key is not None else "new" if sample is None else "drawn"


# --- figures -------------------------------------------------------------------------------------


def _estimated(
    test_set: TestSet, ratings: Ratings | None, sample: Sample | None, progress: _RatedSoFar,
    target: str | None, level: float,
) -> tuple[Estimates | None, list[Note]]:  # fmt: skip
    """The estimates from the ratings that count; None if there are too few."""
    if ratings is None or progress.basis is None:
        return None, []
    counted, assume = ratings, None
    if progress.basis == "orientation":
        sample, assume = None, "random"
    elif progress.basis == "beginning":
        counted = _within(test_set, ratings, progress.places)
    try:
        found = estimate(
            test_set, counted, sample=sample, assume=assume, target=target, level=level
        )
    except InputError as error:
        return None, [Note("no-estimate", f"no scores yet: {error}")]
    return found, []


def _within(test_set: TestSet, ratings: Ratings, places: np.ndarray) -> Ratings:
    """The ratings of some segments."""
    from dataclasses import replace

    kept = test_set.segments[places].select(test_set.key)
    rows = ratings.frame.join(kept, on=list(test_set.key), how="semi", nulls_equal=True)
    return replace(ratings, frame=rows)


def _systems(
    test_set: TestSet, ratings: Ratings | None, sample: Sample | None, key: pl.DataFrame | None,
    estimates: Estimates | None,
) -> tuple[SystemProgress, ...]:  # fmt: skip
    """All systems, best first if known."""
    rated: dict[str, int] = {}
    if ratings is not None:
        answered = ~np.isnan(ratings.matrix(test_set))
        rated = dict(zip(test_set.systems, answered.sum(axis=1).tolist(), strict=True))
    planned: dict[str, int] = {}
    if key is not None:
        own = key.filter(pl.col("check").is_null()) if "check" in key.columns else key
        outputs = own.select("system", *test_set.key).unique()
        planned = dict(outputs.group_by("system").len().iter_rows())
    elif sample is not None:
        drawn = ~np.isnan(sample.probabilities(test_set))
        planned = dict(zip(test_set.systems, drawn.sum(axis=1).tolist(), strict=True))
    known = {} if estimates is None else {item.system: item for item in estimates.systems}
    rows = []
    for name in [*known, *(name for name in test_set.systems if name not in known)]:
        item = known.get(name)
        values = () if item is None else (
            item.estimate, item.low, item.high, item.low_rank, item.high_rank
        )  # fmt: skip
        rows.append(SystemProgress(name, rated.get(name, 0), planned.get(name), *values))
    return tuple(rows)


def _pairs(test_set: TestSet, estimates: Estimates | None) -> PairsProgress:
    """Decided pairs, and the ratings that deciding the rest takes."""
    number = len(test_set.systems) * (len(test_set.systems) - 1) // 2
    if estimates is None:
        return PairsProgress(0, number)
    open_ = [
        OpenPair(item.left, item.right, item.difference, ratings_to_decide(item, estimates))
        for item in estimates.differences if not item.decided
    ]  # fmt: skip
    open_.sort(key=lambda pair: (pair.ratings is None, pair.ratings or 0))
    return PairsProgress(number - len(open_), len(open_), tuple(open_))


def _best(estimates: Estimates | None) -> str | None:
    """The system that is better than all others, if that is decided."""
    if estimates is None or len(estimates.systems) < 2:
        return None
    first = estimates.systems[0].system
    own = [item for item in estimates.differences if first in (item.left, item.right)]
    return first if all(item.decided for item in own) else None


def _hours(pay: Costs, rated: int) -> float | None:
    minutes = pay.minutes(rated)
    return None if minutes is None else minutes / 60


# --- raters --------------------------------------------------------------------------------------


def _raters(
    test_set: TestSet, ratings: Ratings | None, key: pl.DataFrame | None
) -> tuple[tuple[RaterProgress, ...], list[Note]]:
    """The progress of every rater, and notes on those who stand out."""
    planned = (
        {} if key is None else dict(key.group_by("rater", maintain_order=True).len().iter_rows())
    )
    rated: dict[str, int] = {}
    known: dict[str, RaterSummary] = {}
    notes: list[Note] = []
    if ratings is not None and "rater" in ratings.frame.columns:
        rows = ratings.frame.drop_nulls("score").group_by("rater").len()
        rated = {str(name): count for name, count in rows.iter_rows()}
        known, notes = _known_raters(test_set, ratings, len(rated))
    people = []
    for name in dict.fromkeys([*planned, *sorted(rated)]):
        item = known.get(name)
        more = () if item is None else (item.checks, item.passed, item.reasons)
        people.append(RaterProgress(name, rated.get(name, 0), planned.get(name), *more))
    return tuple(people), [*notes, *_failed(people)]


def _known_raters(
    test_set: TestSet, ratings: Ratings, number: int
) -> tuple[dict[str, RaterSummary], list[Note]]:
    try:
        summaries, overlapping = rater_summaries(test_set, ratings)
    except InputError:
        return {}, []
    notes = []
    if not overlapping:
        who = "one rater has answered" if number == 1 else "no output has two raters"
        text = f"{who}, so verdicts hold only for these answers, not for other raters"
        notes.append(Note("no-overlap", text))
    notes += [
        Note("rater-stands-out", f"{item.rater} stands out: {'; '.join(item.reasons)}")
        for item in summaries if item.outlier
    ]  # fmt: skip
    return {item.rater: item for item in summaries}, notes


def _failed(people: Sequence[RaterProgress]) -> list[Note]:
    """Notes on raters who failed over half of their attention checks."""
    return [
        Note(
            "checks-failed",
            f"{item.rater} passed {item.passed} of {plural(item.checks, 'attention check')}",
        )
        for item in people if item.checks >= 2 and 2 * item.passed < item.checks
    ]  # fmt: skip


# --- what to know, what to do --------------------------------------------------------------------


def _gaps(test_set: TestSet, ratings: Ratings | None, sample: Sample | None) -> list[Note]:
    """Notes on missing outputs, and on segments rated for some systems only."""
    notes = []
    lacking = (~test_set.present).sum(axis=1)
    missing = [
        f"{name} has no output for {plural(int(count), 'segment')}"
        for name, count in zip(test_set.systems, lacking, strict=True) if count
    ]  # fmt: skip
    if missing:
        notes.append(Note("outputs-missing", "; ".join(missing)))
    if ratings is None or (sample is not None and not sample.matched):
        return notes
    rated = ~np.isnan(ratings.matrix(test_set))
    some = rated.any(axis=0)
    uneven = int((some & (test_set.present & ~rated).any(axis=0)).sum())
    # Each rater may be in the middle of a task.
    if uneven > len(ratings.raters):
        text = f"{plural(uneven, 'segment')} of {int(some.sum()):,} are rated for some systems only"
        notes.append(Note("unmatched", text))
    return notes


def _noted(estimates: Estimates | None) -> list[Note]:
    if estimates is None:
        return []
    return [note for note in estimates.notes if any(has_note([note], code) for code in DOUBTS)]


def _next(
    progress: _RatedSoFar, people: Sequence[RaterProgress], estimates: Estimates | None,
    pairs: PairsProgress, pay: Costs,
) -> tuple[str, ...]:  # fmt: skip
    """The next steps, the nearest first."""
    lines = []
    waiting = [item for item in people if item.planned and item.rated == 0]
    if waiting and progress.basis is not None:
        names = ", ".join(item.rater for item in waiting)
        outputs = sum(item.planned or 0 for item in waiting)
        lines.append(f"collect from {names}: {pay.counted(outputs, 'ratings')}")
    left = sum(max(0, (item.planned or 0) - item.rated) for item in people if item.rated)
    if left:
        missing = pay.counted(left, "ratings")
        lines.append(f"{missing} are still missing in the returned sheets")
    if estimates is not None and pairs.undecided and pairs.undecided[0].ratings is not None:
        first = pairs.undecided[0]
        lines.append(
            f"to decide between {first.left} and {first.right}, about"
            f" {pay.counted(first.ratings or 0)}, with 80% probability"
        )
    elif estimates is not None and pairs.open:
        lines += list(estimates.next[:1])
    return tuple(lines)
