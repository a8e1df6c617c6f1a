"""Scores of groups of segments: by domain, document, length, error category, or any column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.estimation.groups import group_differences, group_means
from assay.estimation.overlap import overlap_of
from assay.estimation.results import (
    Breakdown,
    Difference,
    GroupEstimate,
    GroupSummary,
    Mean,
    noted,
    scored,
)
from assay.estimation.study import Study, make_study
from assay.formats.mqm import GOOGLE_WEIGHTS, NO_ERROR
from assay.results import Note, percent
from assay.stats.intervals import LEVEL
from assay.tables.answers import Errors, read_errors
from assay.tables.tables import Ratings, Sample, TestSet

LENGTH_BANDS = 4
MISSING = "(missing)"
NAMES = {"document": "doc"}


def estimate_by(
    test_set: TestSet,
    ratings: Ratings,
    *,
    by: str,
    sample: Sample | None = None,
    assume: str | None = None,
    method: str = "auto",
    level: float = LEVEL,
    target: str | None = None,
    errors: Errors | None = None,
) -> Breakdown:
    """Estimate every system's score in each group of segments, with intervals.

    ``by`` is a column of the scores that describes segments (``domain``), ``document``, or
    ``length``: four bands of about equal size by source words. A group is estimated as in
    :func:`assay.estimate`, with the slopes of metrics fitted on all ratings. Groups with fewer than
    two ratings have no interval, nor, with the target ``texts``, groups with ratings from fewer
    than two documents.

    ``category`` needs the marked ``errors``: the score is the MQM penalty that errors of a category
    add to an output on the whole test set; rated outputs without such errors have 0.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate_by(world.test_set, world.rate(drawn), by="length", sample=drawn)
    >>> len(result.groups), result.intervals
    (4, 32)
    """
    study = make_study(
        test_set, ratings, sample=sample, assume=assume, method=method, interval="t", level=level,
        target=target,
    )  # fmt: skip
    return break_down(study, by, errors)


def break_down(study: Study, by: str, errors: Errors | None) -> Breakdown:
    """Every system's score in each group of segments, by the rule of the study."""
    if (errors is not None) != (by == "category"):
        raise InputError("`errors` and `by` category go together; give both or neither")
    if errors is not None:
        return _by_category(study, errors)
    names, group, notes = _groups(study.test_set, by)
    count = len(study.test_set.systems)
    means = [group_means(study, i, group, len(names)) for i in range(count)]
    pairs = [
        group_differences(study, i, j, group, len(names)) for i, j in combinations(range(count), 2)
    ]
    summaries = [
        _summary(name, int((group == k).sum()), [pair[k] for pair in pairs])
        for k, name in enumerate(names)
    ]
    rows = [[mean[k] for mean in means] for k in range(len(names))]
    return _wrapped(study, by, summaries, rows, notes)


def _summary(name: str, population: int, differences: Sequence[Difference]) -> GroupSummary:
    decided = sum(item.decided for item in differences)
    return GroupSummary(name, population, decided, len(differences))


def _wrapped(
    study: Study, by: str, summaries: Sequence[GroupSummary], rows: Sequence[Sequence[Mean]],
    notes: Sequence[Note],
) -> Breakdown:  # fmt: skip
    """The result; ``rows`` has a list per group, in the order of the systems."""
    estimates = tuple(
        GroupEstimate(summary.group, system, **scored(mean), method=mean.method)
        for summary, row in zip(summaries, rows, strict=True)
        for system, mean in zip(study.test_set.systems, row, strict=True)
    )
    intervals = sum(bool(np.isfinite(item.high - item.low)) for item in estimates)
    missed = (1 - study.level) * sum(item.stderr > 0 for item in estimates)
    text = (
        f"{intervals:,} intervals are shown, each at {percent(study.level)} on its own: expect"
        f" about {missed:.2g} of them to miss the truth by chance"
    )
    remarks = [Note("several-intervals", text)]
    if none := len(estimates) - intervals:
        text = f"{none} of {len(estimates)} have no interval: too few ratings there, or all alike"
        remarks.append(Note("no-interval", text))
    design, said = study.rated.design, noted((*study.notes, *notes, *remarks))
    return Breakdown(
        by=by, groups=tuple(summaries), estimates=estimates, intervals=intervals,
        better=study.ratings.better, level=study.level, design=design.name, seed=design.seed,
        target=study.target, notes=said,
    )  # fmt: skip


def _groups(test_set: TestSet, by: str) -> tuple[list[str], np.ndarray, list[Note]]:
    """The names of the groups, the group of every segment, and remarks."""
    if by == "length":
        return _length_bands(test_set)
    column = NAMES.get(by, by)
    if column == "doc" and not test_set.has_documents:
        raise InputError("a breakdown by document needs a doc column in the scores; add one")
    known = [
        name
        for name in test_set.frame.columns
        if name not in ("system", "seg", "source", "target", "reference", *test_set.metrics)
    ]
    if column not in known:
        choices = list(dict.fromkeys([*known, "document", "length", "category"]))
        need_known("by", by, choices, "is not something to break down by")
    values = _of_segments(test_set, column)
    missing = values.is_null() | (values == "")
    values = values.set(missing, MISSING) if missing.any() else values
    names = values.unique(maintain_order=True).to_list()
    number = {name: k for k, name in enumerate(names)}
    notes = _without(int(missing.sum()), column)
    return names, np.array([number[value] for value in values], dtype=np.int64), notes


def _without(segments: int, what: str) -> list[Note]:
    return [Note("no-group", f"{segments} segments have no {what}")] if segments else []


def _of_segments(test_set: TestSet, column: str) -> pl.Series:
    """A column as text, one value per segment in reading order."""
    if column in test_set.key:
        return test_set.segments[column].cast(pl.String)
    key = list(test_set.key)
    values = test_set.frame.group_by(key).agg(
        pl.col(column).drop_nulls().n_unique().alias("_kinds"),
        pl.col(column).drop_nulls().first().cast(pl.String).alias("_value"),
    )
    several = int((values["_kinds"] > 1).sum())
    if several:
        raise OptionError(
            "by", column, f"differs between the systems of {several} segments",
            "break down by what belongs to the segment",
        )  # fmt: skip
    rows = test_set.segments.select(key).join(values, on=key, how="left", maintain_order="left")
    return rows["_value"]


def _length_bands(test_set: TestSet) -> tuple[list[str], np.ndarray, list[Note]]:
    """Quarters of the segments by source words; segments of equal length stay together."""
    segments = test_set.segments
    if "words" in segments.columns:
        words = segments["words"].cast(pl.Float64).to_numpy()
    elif "source" in segments.columns:
        counted = segments["source"].str.split(by=" ").list.eval(pl.element().filter(
            pl.element().str.strip_chars() != "")).list.len()  # fmt: skip
        words = counted.cast(pl.Float64).to_numpy()
    else:
        raise InputError(
            "a breakdown by length needs a words or source column in the scores; add one"
        )
    known = ~np.isnan(words)
    if not known.any():
        raise InputError(
            "a breakdown by length needs source lengths, but the scores have none; fill them in"
        )
    limits = np.unique(np.quantile(words[known], np.arange(1, LENGTH_BANDS) / LENGTH_BANDS))
    band = np.where(known, np.searchsorted(limits, words, side="left"), -1)
    names: list[str] = []
    group = np.full(len(words), -1)
    for number in np.unique(band[known]):
        inside = band == number
        low, high = words[inside].min(), words[inside].max()
        group[inside] = len(names)
        names.append(f"{low:g}–{high:g} words" if low < high else f"{low:g} words")
    if not known.all():
        group[~known] = len(names)
        names.append(MISSING)
    return names, group, _without(int((~known).sum()), "length")


def _by_category(study: Study, errors: Errors) -> Breakdown:
    """The penalty of each category, on the whole test set."""
    if not isinstance(errors, Errors):
        raise InputError(
            f"expected Errors, found {type(errors).__name__}; read them with assay.read_errors(...)"
        )
    priced, notes = _priced(study, read_errors(errors.frame, study.test_set))
    count = len(study.test_set.systems)
    totals = priced.group_by("category").agg(pl.col("_weight").sum())
    names = totals.sort(["_weight", "category"], descending=[True, False])["category"].to_list()
    if not names:
        raise InputError("no error of a rated output is left to break down; check the errors")
    summaries, rows = [], []
    for name in names:
        part = _penalties(study, priced.filter(pl.col("category") == name))
        gaps = [part.difference(i, j) for i, j in combinations(range(count), 2)]
        summaries.append(_summary(name, study.test_set.segments.height, gaps))
        rows.append([part.mean(i) for i in range(count)])
    lower = replace(study, ratings=replace(study.ratings, better="lower"))
    return _wrapped(lower, "category", summaries, rows, notes)


def _priced(study: Study, errors: Errors) -> tuple[pl.DataFrame, list[Note]]:
    """The errors of rated outputs with their weights."""
    frame = errors.frame.filter(pl.col("category").str.to_lowercase() != NO_ERROR.lower())
    kinds = frame.select("category", "severity").unique(maintain_order=True)
    weights = [GOOGLE_WEIGHTS.of(*kind) for kind in kinds.rows()]
    odd = sorted({kind[1] for kind, w in zip(kinds.rows(), weights, strict=True) if w is None})
    if odd:
        known = ", ".join(name for name, weight in GOOGLE_WEIGHTS.severities.items() if weight)
        raise InputError(f"errors have severities without a weight: {', '.join(odd)}; use {known}")
    frame = frame.join(
        kinds.with_columns(pl.Series("_weight", weights, dtype=pl.Float64)),
        on=["category", "severity"], how="left", maintain_order="left",
    )  # fmt: skip
    key = _rated_key(study, frame)
    rated = study.ratings.genuine.drop_nulls("score").select(key).unique()
    kept = frame.join(rated, on=key, how="semi")
    text = "penalties are MQM weights, without a cap on their sum"
    notes = [*errors.notes, Note("mqm-weights", text)]
    if unrated := frame.height - kept.height:
        text = f"{unrated:,} errors belong to outputs without a rating and are not used"
        notes.append(Note("errors-unrated", text))
    return kept, notes


def _rated_key(study: Study, errors: pl.DataFrame) -> list[str]:
    """The columns that identify a rating, with the rater if both tables name raters."""
    both = "rater" in errors.columns and bool(study.ratings.raters)
    if not both and ("rater" in errors.columns or len(study.ratings.raters) > 1):
        raise InputError(
            "only one of the ratings and the errors names the raters, so errors cannot be counted"
            " per rating; give both tables a rater column, or neither"
        )
    return ["system", *study.test_set.key, *(["rater"] if both else [])]


def _penalties(study: Study, errors: pl.DataFrame) -> Study:
    """The study of one category: its penalty replaces the score of each rated output."""
    key = _rated_key(study, errors)
    weights = errors.group_by(key).agg(pl.col("_weight").sum())
    rows = study.ratings.genuine.filter(pl.col("score").is_not_null())
    penalties = rows.select(key).join(weights, on=key, how="left", maintain_order="left")
    ratings = Ratings(
        penalties.select(*key, score=pl.col("_weight").fill_null(0.0)), better="lower"
    )
    scores = np.where(np.isnan(study.rated.scores), np.nan, ratings.matrix(study.test_set))
    overlap = study.overlap
    if overlap is not None:
        # Raters who are strict overall need not be strict about this category.
        own = overlap_of(study.test_set, ratings, scores, overlap.severities.tasks)
        overlap = own and overlap._replace(severities=own.severities)
    rated = study.rated._replace(scores=scores)
    return replace(study, ratings=ratings, rated=rated, overlap=overlap)
