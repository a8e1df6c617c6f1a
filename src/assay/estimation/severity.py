"""Ratings without some raters, or without raters' severity, and the error that this adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, did_you_mean
from assay.estimation.overlap import (
    Answers,
    Overlap,
    SeverityVariance,
    find_tasks,
    severity_variance,
)
from assay.results import Note
from assay.stats.effects import RaterEffects, rater_effects
from assay.tables.tables import Ratings, TestSet

MODELS = {
    "output": "score = output + rater, on outputs rated by several raters",
    "segment": "score = segment + system + rater, on segments rated by several raters",
    "system": "score = system + rater, taking the segments of each rater as a random part of all",
}
"""Models of severity, the one with the fewest assumptions first."""


class LongRatings(NamedTuple):
    """Ratings in long form, with raters, outputs, segments and systems numbered from 0."""

    placed: Ratings
    key: tuple[str, ...]
    names: tuple[str, ...]
    score: np.ndarray
    rater: np.ndarray
    system: np.ndarray
    segment: np.ndarray
    output: np.ndarray
    task: np.ndarray
    seconds: np.ndarray | None
    ends: tuple[float, float]
    sign: int
    notes: tuple[Note, ...]


def _need_raters(ratings: Ratings) -> None:
    if not isinstance(ratings, Ratings):
        raise InputError(
            f"expected Ratings, found {type(ratings).__name__}; read them with"
            " assay.read_ratings(...)"
        )
    if not ratings.raters:
        raise InputError("the ratings do not say who gave them; add a column rater")


def given_ratings(test_set: TestSet, ratings: Ratings) -> LongRatings:
    """Check the ratings and lay them out in long form."""
    if not isinstance(test_set, TestSet):
        raise InputError(
            f"expected a TestSet, found {type(test_set).__name__}; read it with"
            " assay.read_scores(...)"
        )
    _need_raters(ratings)
    placed = ratings.placed_in(test_set)
    rows = placed.genuine.drop_nulls("score")
    if not rows.height:
        raise InputError("no row has a score; rate something first")
    key = list(test_set.key)
    numbered = test_set.segments.select(key).with_row_index("_segment")
    segment = rows.select(key).join(numbered, on=key, how="left", maintain_order="left")
    names = tuple(rows["rater"].unique(maintain_order=True))
    systems = {name: i for i, name in enumerate(test_set.systems)}
    raters = {name: i for i, name in enumerate(names)}
    system = rows["system"].replace_strict(systems, return_dtype=pl.Int64).to_numpy()
    where = segment["_segment"].cast(pl.Int64).to_numpy()
    score = rows["score"].to_numpy()
    timed = "seconds" in rows.columns and rows["seconds"].count() > 0
    return LongRatings(
        placed=placed,
        key=test_set.key,
        names=names,
        score=score,
        rater=rows["rater"].replace_strict(raters, return_dtype=pl.Int64).to_numpy(),
        system=system,
        segment=where,
        output=system * test_set.segments.height + where,
        task=find_tasks(test_set, rows, None)[where],
        seconds=rows["seconds"].to_numpy() if timed else None,
        ends=ratings.range or (float(score.min()), float(score.max())),
        sign=1 if ratings.better == "lower" else -1,
        notes=tuple(dict.fromkeys((*ratings.notes, *placed.notes))),
    )


def fit_severity(given: LongRatings) -> tuple[str, RaterEffects]:
    """The first model that compares all raters; if none does, the one with the fewest groups."""
    units = {"output": given.output, "segment": given.segment, "system": given.system}
    fits = []
    for model, unit in units.items():
        _, code = np.unique(unit, return_inverse=True)
        beside = given.system if model == "segment" else None
        fit = rater_effects(
            given.score, code, given.rater, given.segment, beside=beside, tasks=given.task
        )
        fits.append((model, fit))
        if not fit.groups.any():
            break
    return min(fits, key=lambda item: item[1].groups.max())


def comparable_groups(given: LongRatings, fit: RaterEffects) -> tuple[tuple[str, ...], ...]:
    """The names of the raters in each group within which they can be compared."""
    names = np.array(given.names, dtype=object)
    return tuple(tuple(names[fit.groups == k]) for k in range(int(fit.groups.max()) + 1))


def not_comparable(groups: Sequence[Sequence[str]]) -> str:
    """The sentence that these groups of raters cannot be compared."""
    shown = "; ".join("{" + ", ".join(group) + "}" for group in groups)
    return f"severity cannot be compared between groups of raters that share nothing: {shown}"


def remove_severity(test_set: TestSet, ratings: Ratings) -> Ratings:
    """Subtract each rater's severity from the ratings; the grand mean stays the same.

    Severity is the rater effect of :func:`rater_report`. If not all raters can be compared, only
    differences inside groups of comparable raters are removed, and a note says so. Severities are
    shrunk until every system's mean is within the stated range (or at least 0, if all ratings are).
    Their error is part of the intervals of ``estimate(..., remove_severity=True)``.

    >>> import assay
    >>> world = assay.simulate(documents=4, raters=3, rng=1)
    >>> ratings = world.rate()
    >>> fair = remove_severity(world.test_set, ratings)
    >>> fair.notes[-2]
    'severity of 3 raters removed (...): scores moved by ... to ..., grand mean kept'
    >>> abs(fair.frame["score"].mean() - ratings.frame["score"].mean()) < 1e-9
    True
    """
    return without_severity(test_set, ratings)[0]


class SeverityError(NamedTuple):
    """The error that subtracted severities add to estimates, because they are estimates too.

    One entry per rating: its system, segment, rater, and ``share``, 1 over the number of its
    output's raters. With severities b and the raters' shares w of a score, the score moves by w'b,
    which has the variance w' Cov(b) w; a difference has the difference of two shares.
    """

    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    share: np.ndarray
    covariance: np.ndarray
    degrees: float
    fitted: int
    """Fitted severities, less one for every group of raters."""
    left: np.ndarray
    """Raters x raters: ``left`` b remains of severities b, which is their mean in each group."""
    found: SeverityVariance | None
    """How much the raters differed before; None if no output has several raters."""

    def inflated(self, overlap: Overlap) -> Overlap:
        """The overlap corrected for the severities that were fitted to the same ratings."""
        old, factor = overlap.variance, 1 + self.fitted / self.degrees
        new = old._replace(scores=old.scores * factor, differences=old.differences * factor)
        return overlap._replace(variance=new)

    def variance(self, w: np.ndarray) -> float:
        """The part of the variance of a score or difference with these shares."""
        return float(max(w @ self.covariance @ w, 0.0))

    def part(self, w: np.ndarray) -> float:
        """The variance of a score from its raters' mean severity, which cannot be subtracted."""
        if self.found is None:
            return 0.0
        return self.found.variance * float(((w @ self.left) ** 2).sum())

    def shares(self, i: int, weight: np.ndarray) -> np.ndarray:
        """The raters' shares of a system's score, given the ``weight`` of every segment."""
        own = self.system == i
        each = weight[self.segment[own]] * self.share[own]
        return np.bincount(self.rater[own], each, minlength=len(self.covariance))


def without_severity(test_set: TestSet, ratings: Ratings) -> tuple[Ratings, SeverityError]:
    """Subtract each rater's severity from the ratings; also return the error this adds."""
    given = given_ratings(test_set, ratings)
    model, fit = fit_severity(given)
    groups = comparable_groups(given, fit)
    if len(groups) == len(given.names):
        raise InputError(
            "severity cannot be removed: no two raters can be compared, as none share outputs,"
            " segments or systems; let raters overlap, or use the scores as they are"
        )
    kept = _possible(given, fit.effects, ratings.range)
    fit = fit._replace(effects=kept * fit.effects)
    effects = dict(zip(given.names, fit.effects.tolist(), strict=True))
    moved = pl.col("score") - pl.col("rater").replace_strict(effects, default=0.0)
    frame = given.placed.frame.with_columns(moved.alias("score"))
    text = (
        f"severity of {len(given.names)} raters removed ({MODELS[model]}): scores moved by"
        f" {-fit.effects.max():+.3g} to {-fit.effects.min():+.3g}, grand mean kept"
    )
    notes = [Note("severity-removed", text)]
    if kept < 1:
        text = f"severities shrunk to {kept:.0%}: more would move a system's mean out of the range"
        notes.append(Note("severity-shrunk", text))
    if len(groups) > 1:
        text = f"{not_comparable(groups)}; removed inside the groups only"
        notes.append(Note("severity-by-group", text))
    limits = ratings.range
    low, high = float(frame["score"].min()), float(frame["score"].max())  # type: ignore[arg-type]
    if limits is not None and not (limits[0] <= low and high <= limits[1]):
        text = f"some scores now lie outside the range {limits[0]:g} to {limits[1]:g}"
        notes.append(Note("outside-range", text))
        limits = None
    moved_ratings = replace(ratings, frame=frame, notes=(*ratings.notes, *notes), range=limits)
    _, output, raters = np.unique(given.output, return_inverse=True, return_counts=True)
    counts = np.bincount(given.rater).astype(float)
    together = (fit.groups[:, None] == fit.groups) * counts
    left = (1 - kept) * np.eye(len(counts)) + kept * together / together.sum(axis=1, keepdims=True)
    error = SeverityError(
        given.system, given.segment, given.rater, 1 / raters[output], fit.covariance, fit.degrees,
        len(given.names) - len(groups), left,
        severity_variance(
            Answers(given.score, given.system, given.segment, given.task, given.rater)
        ),
    )  # fmt: skip
    return moved_ratings, error


def _possible(given: LongRatings, effects: np.ndarray, limits: tuple[float, float] | None) -> float:
    """The largest share of the effects that leaves every system's mean possible."""
    low, high = limits or (0.0 if given.score.min() >= 0 else -np.inf, np.inf)
    # Every output counts once, whatever the number of its raters.
    _, output, raters = np.unique(given.output, return_inverse=True, return_counts=True)
    share = 1 / raters[output]
    count = np.bincount(given.system, share)
    own = np.flatnonzero(count)
    mean = np.bincount(given.system, share * given.score)[own] / count[own]
    move = np.bincount(given.system, share * effects[given.rater])[own] / count[own]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(move > 0, (mean - low) / move, (mean - high) / move)
    return float(np.clip(np.nanmin(np.where(move == 0, np.inf, room)), 0.0, 1.0))


def exclude_raters(ratings: Ratings, raters: Sequence[str]) -> Ratings:
    """Leave out the ratings of the named raters; a note counts them.

    >>> import assay
    >>> ratings = assay.simulate(documents=2, raters=3, rng=1).rate()
    >>> exclude_raters(ratings, ["rater-2"]).raters
    ('rater-1', 'rater-3')
    """
    wanted = [raters] if isinstance(raters, str) else list(dict.fromkeys(raters))
    _need_raters(ratings)
    for name in wanted:
        if name not in ratings.raters:
            raise OptionError(
                "raters", name, f"is not a rater{did_you_mean(str(name), ratings.raters)}",
                f"the raters are {', '.join(ratings.raters)}",
            )  # fmt: skip
    if len(wanted) == len(ratings.raters):
        raise OptionError("raters", ", ".join(wanted), "leaves no rater", "keep at least one")
    if not wanted:
        return ratings
    frame = ratings.frame.filter(~pl.col("rater").is_in(wanted))
    count = len(ratings) - frame.height
    note = Note("raters-excluded", f"{count:,} of {len(ratings):,} ratings left out: those of"
                                   f" {', '.join(wanted)}")  # fmt: skip
    return replace(ratings, frame=frame, notes=(*ratings.notes, note))
