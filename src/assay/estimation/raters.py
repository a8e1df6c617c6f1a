"""Describe raters: their severity, their agreement, attention checks and outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from assay.estimation.results import Better, noted, scored
from assay.estimation.severity import (
    MODELS,
    LongRatings,
    comparable_groups,
    fit_severity,
    given_ratings,
    not_comparable,
)
from assay.estimation.study import Study, make_study
from assay.results import Note, Result, signature
from assay.stats.agreement import (
    correlations_with_others,
    krippendorff_alpha,
    pairwise_correlations,
)
from assay.stats.effects import RaterEffects
from assay.stats.intervals import LEVEL
from assay.tables.tables import Ratings, Sample, TestSet

OUTLIER_DEVIATIONS, OUTLIER_ERRORS = 3.5, 2.0
"""An outlier is so many robust standard deviations (Iglewicz & Hoaglin 1993), and so many standard
errors, away from the median rater."""
MIN_RATERS, MIN_OUTPUTS, MIN_OUTPUTS_WITHOUT_CORRELATION = 5, 10, 30
"""The fewest raters for a robust spread, the fewest outputs for a correlation that counts, and
those on which a correlation of 0 or less is enough to flag a rater."""
MIN_CHECKS = 5
"""The fewest attention checks by which a rater is judged."""
GUESSING, ATTENTIVE, LIKELIER = 0.5, 0.9, 10.0
"""The shares of checks passed by guessing and with attention; a rater is flagged whose checks are
so many times likelier by guessing."""
MIN_RATINGS_ALONE = 10
"""With fewer ratings of a system, a rater gets no score for it."""

RULE = (
    f"outlier: more than {OUTLIER_DEVIATIONS:g} robust standard deviations (1.4826 MAD, at least"
    f" {MIN_RATERS} raters) and {OUTLIER_ERRORS:g} standard errors from the median rater in"
    f" severity, or below it in correlation with the others (at least {MIN_OUTPUTS} outputs), or"
    " that much faster (logarithm of seconds); or a correlation of 0 or less on at least"
    f" {MIN_OUTPUTS_WITHOUT_CORRELATION} outputs; or the same score for all of at least"
    f" {MIN_OUTPUTS} outputs; or at least {MIN_CHECKS} attention checks passed as seldom as by"
    f" guessing ({LIKELIER:g} times likelier at {GUESSING:.0%} than at {ATTENTIVE:.0%})"
)


def rater_summaries(test_set: TestSet, ratings: Ratings) -> tuple[tuple[RaterSummary, ...], int]:
    """Every rater as in :func:`rater_report`, and how many outputs have two raters or more."""
    given = given_ratings(test_set, ratings)
    _, fit = fit_severity(given)
    checks = attention_checks(given.placed, given.key, given.names, given.sign)
    _, counted = np.unique(given.output, return_counts=True)
    return tuple(_summaries(given, fit, checks)), int((counted > 1).sum())


def rater_report(
    test_set: TestSet, ratings: Ratings, *, sample: Sample | None = None, assume: str | None = None
) -> RaterReport:
    """Describe every rater and how well the raters agree.

    Severity is how much worse a rater scores the same thing than the average rater (weighted by the
    number of ratings): the least-squares rater effect in score = output + rater; if raters do not
    overlap on outputs, in score = segment + system + rater, or in score = system + rater. The first
    model that compares all raters is used. If none does, the groups of comparable raters are named
    and severity is relative to the group.

    Rows with a ``check`` are controls; they only count how often the rater scored a control worse
    than the output itself. With the ``sample``, or an assumption as in :func:`assay.estimate`,
    every system is also scored by each rater alone.

    >>> import assay
    >>> world = assay.simulate(documents=10, raters=3, rng=1)
    >>> report = rater_report(world.test_set, world.rate())
    >>> report.model, [item.rater for item in report.raters], report.outliers
    ('output', ['rater-1', 'rater-2', 'rater-3'], ())
    """
    given = given_ratings(test_set, ratings)
    model, fit = fit_severity(given)
    checks = attention_checks(given.placed, given.key, given.names, given.sign)
    _, counted = np.unique(given.output, return_counts=True)
    pairs = pairwise_correlations(given.score, given.output, given.rater)
    groups = comparable_groups(given, fit)
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


def _with_themselves(given: LongRatings) -> tuple[dict[str, dict[str, Any]], float]:
    """How raters differ from their own first answers: fields of summaries, and alpha."""
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
    """Scores by each rater alone, if it is known how the outputs were chosen."""
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
    """Scores by all raters (rater None), then by each rater with enough ratings of a system.

    Within the classes used for skipped outputs, a rater's outputs count as a random part of all.
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


def _remarks(given: LongRatings, model: str, groups: Sequence[Sequence[str]]) -> list[Note]:
    if len(given.names) == 1:
        return [Note("one-rater", "one rater: nothing to compare with")]
    notes = []
    if model != "output" and len(groups) < len(given.names):
        notes.append(Note("other-model", f"not enough common outputs: {MODELS[model]}"))
    if len(groups) > 1:
        notes.append(Note("severity-not-identified", not_comparable(groups)))
    return notes


def _guessed(passed: int, done: int) -> bool:
    """Whether these checks are far likelier passed by guessing than with attention."""
    ratio = passed * np.log(GUESSING / ATTENTIVE)
    ratio += (done - passed) * np.log((1 - GUESSING) / (1 - ATTENTIVE))
    return bool(ratio > np.log(LIKELIER))


def _summaries(
    given: LongRatings, fit: RaterEffects, checks: AttentionChecks
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
    """-1 or 1 for values far below or above the median rater's, else 0."""
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
    """Per rater, the checks that can be judged and those passed; and notes."""

    done: np.ndarray
    passed: np.ndarray
    notes: tuple[Note, ...]


def attention_checks(
    ratings: Ratings, key: tuple[str, ...], names: tuple[str, ...], sign: int
) -> AttentionChecks:
    """Compare every control with the same rater's score of the genuine output.

    ``sign`` is 1 if lower scores are better. A check is passed if the control has the strictly
    worse score.
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


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """One rater.

    ``severity`` (with ``stderr``) is how much worse this rater scores than the average rater of the
    ``group``, in points. ``spread`` is the standard deviation of the ratings, ``lowest`` and
    ``highest`` are the shares at the ends of the scale (stated or seen), ``seconds`` is the median.
    ``correlation`` is with the mean of the other raters, on ``overlap`` outputs. ``skipped`` counts
    rows without a score, ``checks`` the attention checks that can be judged, ``passed`` those where
    the control was scored worse.
    """

    rater: str
    n: int
    mean: float
    severity: float
    stderr: float
    group: int
    spread: float
    lowest: float
    highest: float
    seconds: float
    correlation: float
    overlap: int
    skipped: int
    checks: int
    passed: int
    outlier: bool
    reasons: tuple[str, ...]
    repeats: int = 0
    """Outputs rated again; ``self_difference`` is the mean absolute change of their scores."""
    self_difference: float = float("nan")


@dataclass(frozen=True, slots=True)
class RaterEstimate:
    """One system's score on the whole test set by one rater alone, or by all (rater None)."""

    rater: str | None
    system: str
    estimate: float
    low: float
    high: float
    stderr: float
    n: int
    population: int


@dataclass(frozen=True, slots=True)
class RaterReport(Result, kind="raters", listing="raters"):
    """Every rater, and how well they agree.

    ``alpha`` and ``alpha_ordinal`` are Krippendorff's, for the interval and the ordinal metric, on
    the ``overlapping`` outputs that several raters scored. ``mean_correlation`` is the mean of
    Pearson's r over the ``pairs`` of raters with enough outputs in common. The ``rule`` flags the
    ``outliers``. ``estimates`` are every system's scores by all raters and by each with enough
    ratings, if it is known how outputs were chosen.
    """

    raters: tuple[RaterSummary, ...]
    alpha: float
    alpha_ordinal: float
    mean_correlation: float
    pairs: int
    ratings: int
    outputs: int
    overlapping: int
    model: str
    identified: bool
    groups: tuple[tuple[str, ...], ...]
    better: Better
    rule: str
    outliers: tuple[str, ...] = ()
    estimates: tuple[RaterEstimate, ...] = ()
    notes: tuple[Note, ...] = ()
    repeats: int = 0
    """Ratings of outputs that the same rater had already rated."""
    self_alpha: float = float("nan")
    """Krippendorff's alpha of raters with themselves on these."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "raters", f"rater+{self.model}", raters=len(self.raters), n=self.ratings,
            overlap=f"{self.overlapping}/{self.outputs}", better=self.better,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per rater."""
        frame = super(RaterReport, self).to_frame()
        return frame.with_columns(pl.Series("reasons", [", ".join(r.reasons) for r in self.raters]))
