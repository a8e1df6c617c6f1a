"""The raters behind the ratings: who is severe, who is an outlier, and how well they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, did_you_mean
from assay.estimation.kernels import (
    Answers,
    Overlap,
    SeverityVariance,
    find_tasks,
    severity_variance,
)
from assay.estimation.results import RaterEstimate, RaterReport, RaterSummary, noted, scored
from assay.estimation.study import Study, make_study
from assay.results import Note
from assay.stats.agreement import (
    correlations_with_others,
    krippendorff_alpha,
    pairwise_correlations,
)
from assay.stats.effects import RaterEffects, rater_effects
from assay.stats.intervals import LEVEL
from assay.tables.tables import Ratings, Sample, TestSet

OUTLIER_DEVIATIONS, OUTLIER_ERRORS = 3.5, 2.0
"""Robust standard deviations that make an outlier (Iglewicz & Hoaglin 1993), and the standard
errors a deviation must exceed to be more than chance."""
MIN_RATERS, MIN_OUTPUTS, MIN_OUTPUTS_WITHOUT_CORRELATION = 5, 10, 30
"""The fewest raters for a robust spread, the fewest outputs for a correlation that counts, and
those on which a correlation of 0 or less is a verdict by itself."""
MIN_CHECKS = 5
"""The fewest attention checks that say something about a rater."""
GUESSING, ATTENTIVE, LIKELIER = 0.5, 0.9, 10.0
"""The share of checks that guessing passes, and attention; a rater stands apart whose checks are so
many times likelier by guessing."""
MIN_RATINGS_ALONE = 10
"""With fewer ratings of a system, a rater alone says nothing about it."""

RULE = (
    f"outlier: more than {OUTLIER_DEVIATIONS:g} robust standard deviations (1.4826 MAD, at least"
    f" {MIN_RATERS} raters) and {OUTLIER_ERRORS:g} standard errors from the median rater in"
    f" severity, or below it in correlation with the others (at least {MIN_OUTPUTS} outputs), or"
    " that much faster (logarithm of seconds); or a correlation of 0 or less on at least"
    f" {MIN_OUTPUTS_WITHOUT_CORRELATION} outputs; or the same score for all of at least"
    f" {MIN_OUTPUTS} outputs; or at least {MIN_CHECKS} attention checks passed as seldom as by"
    f" guessing ({LIKELIER:g} times likelier at {GUESSING:.0%} than at {ATTENTIVE:.0%})"
)

MODELS = {
    "output": "score = output + rater, on outputs rated by several raters",
    "segment": "score = segment + system + rater, on segments rated by several raters",
    "system": "score = system + rater, taking the segments of each rater as a random part of all",
}
"""Ways to tell raters apart, the one that assumes least first."""


def rater_summaries(test_set: TestSet, ratings: Ratings) -> tuple[tuple[RaterSummary, ...], int]:
    """Every rater as in :func:`rater_report`, and how many outputs have two raters or more."""
    given = _given(test_set, ratings)
    _, fit = _severity(given)
    checks = attention_checks(given.placed, given.key, given.names, given.sign)
    _, counted = np.unique(given.output, return_counts=True)
    return tuple(_summaries(given, fit, checks)), int((counted > 1).sum())


def rater_report(
    test_set: TestSet, ratings: Ratings, *, sample: Sample | None = None, assume: str | None = None
) -> RaterReport:
    """Describe every rater and how well the raters agree.

    Severity is by how much worse a rater scores the same thing than the average rater (weighted
    by the number of ratings): the least-squares rater effect in score = output + rater, or, where
    raters do not overlap on outputs, score = segment + system + rater, or score = system + rater;
    the first model in which all raters can be compared. Where there is none, the groups of
    comparable raters are named and severity is relative to the group.

    Rows with a ``check`` are controls, and used for nothing but counting how many of them the
    rater scored worse than the output itself. With the ``sample``, or an assumption as in
    :func:`assay.estimate`, every system's score by each rater alone is shown beside the pooled one.

    >>> import assay
    >>> world = assay.simulate(documents=10, raters=3, rng=1)
    >>> report = rater_report(world.test_set, world.rate())
    >>> report.model, [item.rater for item in report.raters], report.outliers
    ('output', ['rater-1', 'rater-2', 'rater-3'], ())
    """
    given = _given(test_set, ratings)
    model, fit = _severity(given)
    checks = attention_checks(given.placed, given.key, given.names, given.sign)
    _, counted = np.unique(given.output, return_counts=True)
    pairs = pairwise_correlations(given.score, given.output, given.rater)
    groups = _groups(given, fit)
    estimates, notes = _estimates(test_set, ratings, sample, assume)
    again, self_alpha = _with_themselves(given)
    raters = tuple(
        replace(item, **again[item.rater]) if item.rater in again else item
        for item in _summaries(given, fit, checks)
    )
    return RaterReport(
        raters=raters,
        alpha=krippendorff_alpha(given.score, given.output),
        alpha_ordinal=krippendorff_alpha(given.score, given.output, metric="ordinal"),
        mean_correlation=pairs.mean,
        pairs=pairs.pairs,
        ratings=len(given.score),
        outputs=len(counted),
        overlapping=int((counted > 1).sum()),
        model=model,
        identified=len(groups) == 1,
        groups=groups,
        better=ratings.better,
        rule=RULE,
        outliers=tuple(item.rater for item in raters if item.outlier),
        estimates=estimates,
        notes=noted((*given.notes, *notes, *checks.notes, *_remarks(given, model, groups))),
        repeats=sum(item.repeats for item in raters),
        self_alpha=self_alpha,
    )


def _with_themselves(given: _Given) -> tuple[dict[str, dict[str, Any]], float]:
    """How often and by how much raters differ from their own first answers, and alpha of it."""
    key = ["system", *given.key, "rater"]
    first = given.placed.genuine.drop_nulls("score").select(*key, first="score")
    later = given.placed.genuine_repeats
    if not len(later):
        return {}, float("nan")
    pairs = later.select(*key, "score").join(first, on=key, how="inner", maintain_order="left")
    away = (pl.col("score") - pl.col("first")).abs().mean().alias("self_difference")
    by_rater = pairs.group_by("rater").agg(pl.len().alias("repeats"), away)
    firsts = pairs.select(*key, pl.col("first").alias("score")).unique(key, maintain_order=True)
    every = pl.concat([firsts, pairs.select(*key, "score")])
    unit = every.select(pl.struct(key).rank("dense")).to_series().to_numpy()
    alpha = krippendorff_alpha(every["score"].to_numpy(), unit)
    return {row.pop("rater"): row for row in by_rater.iter_rows(named=True)}, alpha


def _estimates(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, assume: str | None
) -> tuple[tuple[RaterEstimate, ...], tuple[Note, ...]]:
    """Scores by each rater alone, where it is known how the outputs were chosen."""
    stated = sample is not None or assume is not None
    if not stated:
        rated = ~np.isnan(ratings.placed_in(test_set).matrix(test_set))
        pairs = test_set.segments["lp"].n_unique() if "lp" in test_set.key else 1
        if (test_set.present & ~rated).any() or pairs > 1:
            text = "no scores by rater: they need the sample that the ratings were drawn with"
            return (), (Note("no-scores-by-rater", text),)
    study = make_study(
        test_set, ratings, sample=sample, assume=assume, method="auto", interval="t", level=LEVEL,
        target="answers",
    )  # fmt: skip
    return _by_rater(study), study.rated.notes if stated else ()


def _by_rater(study: Study) -> tuple[RaterEstimate, ...]:
    """Pooled first (rater None), then each rater with enough ratings of a system.

    What a rater scored is taken as a random part of what all did, inside the classes by which
    skipped outputs are weighted.
    """
    systems = study.test_set.systems
    rows = [RaterEstimate(None, name, **scored(study.mean(i))) for i, name in enumerate(systems)]
    for rater in study.ratings.raters:
        scores = study.ratings.matrix(study.test_set, rater=rater)
        scores = np.where(np.isnan(study.rated.scores), np.nan, scores)
        alone = replace(study, rated=study.rated._replace(scores=scores))
        enough = (~np.isnan(scores)).sum(axis=1) >= MIN_RATINGS_ALONE
        rows += [
            RaterEstimate(rater, name, **scored(alone.mean(i)))
            for i, name in enumerate(systems)
            if enough[i]
        ]
    return tuple(rows)


def remove_severity(test_set: TestSet, ratings: Ratings) -> Ratings:
    """The ratings with each rater's severity subtracted; their grand mean stays what it was.

    The rater effect is that of :func:`rater_report`. Where not all raters can be compared, only
    the differences inside each group of comparable raters are removed, and a note says so. No
    system's mean leaves the range that is stated, or goes below 0 where no rating does: severities
    are shrunk until none does. They are estimates, and their error is part of the intervals
    of ``estimate(..., remove_severity=True)``, which does both.

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
    left: np.ndarray
    """Raters x raters: what is left of severities b is left b, their mean inside each group."""
    found: SeverityVariance | None
    """How far the raters differed before, None where no output has several."""

    def inflated(self, overlap: Overlap) -> Overlap:
        """What raters differ by, found after severities were fitted to the same ratings."""
        old, factor = overlap.variance, 1 + self.fitted / self.degrees
        new = old._replace(scores=old.scores * factor, differences=old.differences * factor)
        return overlap._replace(variance=new)

    def variance(self, w: np.ndarray) -> float:
        """What is added to the variance of a score or difference with these shares."""
        return float(max(w @ self.covariance @ w, 0.0))

    def part(self, w: np.ndarray) -> float:
        """The variance of a score over the mean severity of its raters, which nothing takes off."""
        if self.found is None:
            return 0.0
        return self.found.variance * float(((w @ self.left) ** 2).sum())

    def shares(self, i: int, weight: np.ndarray) -> np.ndarray:
        """The raters' shares of a system's score, with the ``weight`` of every segment in it."""
        own = self.system == i
        each = weight[self.segment[own]] * self.share[own]
        return np.bincount(self.rater[own], each, minlength=len(self.covariance))


def without_severity(test_set: TestSet, ratings: Ratings) -> tuple[Ratings, SeverityError]:
    """The ratings with each rater's severity subtracted, and the error this brings."""
    given = _given(test_set, ratings)
    model, fit = _severity(given)
    groups = _groups(given, fit)
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
        text = f"{_not_identified(groups)}; removed inside the groups only"
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


def _possible(given: _Given, effects: np.ndarray, limits: tuple[float, float] | None) -> float:
    """The part of the effects that leaves every system's mean within what is possible."""
    low, high = limits or (0.0 if given.score.min() >= 0 else -np.inf, np.inf)
    # Outputs count alike, whatever the number of their raters.
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
    """The ratings without those of the named raters; a note counts what was left out.

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


class _Given(NamedTuple):
    """Ratings in long form, raters, outputs, segments and systems numbered from 0."""

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


def _given(test_set: TestSet, ratings: Ratings) -> _Given:
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
    return _Given(
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


def _severity(given: _Given) -> tuple[str, RaterEffects]:
    """The first model in which all raters can be compared, else the one with fewest groups."""
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


def _groups(given: _Given, fit: RaterEffects) -> tuple[tuple[str, ...], ...]:
    names = np.array(given.names, dtype=object)
    return tuple(tuple(names[fit.groups == k]) for k in range(int(fit.groups.max()) + 1))


def _not_identified(groups: Sequence[Sequence[str]]) -> str:
    shown = "; ".join("{" + ", ".join(group) + "}" for group in groups)
    return f"severity cannot be compared between groups of raters that share nothing: {shown}"


def _remarks(given: _Given, model: str, groups: Sequence[Sequence[str]]) -> list[Note]:
    if len(given.names) == 1:
        return [Note("one-rater", "one rater: nothing to compare with")]
    notes = []
    if model != "output" and len(groups) < len(given.names):
        notes.append(Note("other-model", f"not enough common outputs: {MODELS[model]}"))
    if len(groups) > 1:
        notes.append(Note("severity-not-identified", _not_identified(groups)))
    return notes


def _guessed(passed: int, done: int) -> bool:
    """Whether so many passed checks are far likelier by guessing than with attention."""
    ratio = passed * np.log(GUESSING / ATTENTIVE)
    ratio += (done - passed) * np.log((1 - GUESSING) / (1 - ATTENTIVE))
    return bool(ratio > np.log(LIKELIER))


def _summaries(
    given: _Given, fit: RaterEffects, checks: AttentionChecks
) -> tuple[RaterSummary, ...]:
    count = len(given.names)
    compared = np.bincount(fit.groups)[fit.groups] > 1
    severity = np.where(compared, given.sign * fit.effects, np.nan)
    r, overlap = correlations_with_others(given.score, given.output, given.rater)
    parts = [given.score[given.rater == i] for i in range(count)]
    seconds = np.full(count, np.nan)
    if given.seconds is not None:
        for i in range(count):
            known = given.seconds[given.rater == i]
            known = known[~np.isnan(known)]
            seconds[i] = np.median(known) if len(known) else np.nan
    reasons = _reasons(parts, severity, fit.stderr, r, overlap, seconds)
    for i in range(count):
        if checks.done[i] >= MIN_CHECKS and _guessed(checks.passed[i], checks.done[i]):
            reasons[i].append("checks")
    empty = given.placed.genuine.filter(pl.col("score").is_null())["rater"].to_list()
    return tuple(
        RaterSummary(
            rater=name,
            n=len(part),
            mean=float(part.mean()),
            severity=float(severity[i]),
            stderr=float(fit.stderr[i]),
            group=int(fit.groups[i]) + 1,
            spread=float(part.std(ddof=1)) if len(part) > 1 else float("nan"),
            lowest=float(np.mean(part == given.ends[0])),
            highest=float(np.mean(part == given.ends[1])),
            seconds=float(seconds[i]),
            correlation=float(r[i]),
            overlap=int(overlap[i]),
            skipped=empty.count(name),
            checks=int(checks.done[i]),
            passed=int(checks.passed[i]),
            outlier=bool(reasons[i]),
            reasons=tuple(reasons[i]),
        )
        for i, (name, part) in enumerate(zip(given.names, parts, strict=True))
    )


def _reasons(
    parts: list[np.ndarray],
    severity: np.ndarray,
    stderr: np.ndarray,
    r: np.ndarray,
    overlap: np.ndarray,
    seconds: np.ndarray,
) -> list[list[str]]:
    """Why each rater is an outlier by RULE; empty for most."""
    known = overlap >= MIN_OUTPUTS
    fisher = np.arctanh(np.clip(np.where(known, r, np.nan), -0.999, 0.999))
    noise = 1 / np.sqrt(np.maximum(overlap - 3, 1))
    with np.errstate(divide="ignore"):
        pace = np.log(seconds)
    far = _far(severity, stderr)
    low = _far(fisher, noise) < 0
    low |= (overlap >= MIN_OUTPUTS_WITHOUT_CORRELATION) & (r <= 0)
    fast = _far(pace, np.zeros(len(pace))) < 0
    constant = np.array([len(part) >= MIN_OUTPUTS and np.ptp(part) == 0 for part in parts])
    holds = {
        "severe": far > 0, "lenient": far < 0, "disagrees": low, "fast": fast, "constant": constant,
    }  # fmt: skip
    return [[reason for reason, which in holds.items() if which[i]] for i in range(len(parts))]


def _far(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """-1 or 1 where a value lies far below or above the median rater's, else 0."""
    known = np.isfinite(values)
    if known.sum() < MIN_RATERS:
        return np.zeros(len(values), dtype=int)
    away = np.where(known, values - np.median(values[known]), 0.0)
    robust = 1.4826 * np.median(np.abs(away[known]))
    beyond = (np.abs(away) > OUTLIER_DEVIATIONS * robust) & (
        np.abs(away) > OUTLIER_ERRORS * np.nan_to_num(noise)
    )
    return np.where(beyond & known, np.sign(away), 0).astype(int)


class AttentionChecks(NamedTuple):
    """Per rater, in the order asked for: comparable checks and those passed; and remarks."""

    done: np.ndarray
    passed: np.ndarray
    notes: tuple[Note, ...]


def attention_checks(
    ratings: Ratings, key: tuple[str, ...], names: tuple[str, ...], sign: int
) -> AttentionChecks:
    """Every control against the same rater's score of the same system's output of the segment.

    ``sign`` is 1 where lower scores are better. A check is passed when the control has the
    strictly worse score.
    """
    place = ["system", *key, "rater"]
    controls = ratings.controls
    genuine = ratings.genuine.select(*place, _genuine="score")
    pairs = controls.join(genuine, on=place, how="left").drop_nulls(["score", "_genuine"])
    worse = sign * (pairs["score"] - pairs["_genuine"]) > 0
    counted = pairs.select("rater", passed=worse).group_by("rater").agg(pl.len(), pl.sum("passed"))
    counts = {name: (done, passed) for name, done, passed in counted.rows()}
    done, passed = np.array([counts.get(name, (0, 0)) for name in names], dtype=int).T
    alone = controls.height - pairs.height
    notes = () if not alone else (
        Note(
            "checks-unmatched",
            f"for {alone:,} of {controls.height:,} attention checks the same rater did not score"
            " the original output, so there is nothing to compare with",
        ),
    )  # fmt: skip
    return AttentionChecks(done, passed, notes)
