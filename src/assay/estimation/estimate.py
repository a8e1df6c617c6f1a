"""Estimate scores on the whole test set from ratings of a part, and say what more would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.errors import OptionError
from assay.estimation.composite import MOST_SYSTEMS, difference_matrices, make_composite
from assay.estimation.kernels import Features
from assay.estimation.results import (
    UNKNOWN_REACH,
    Difference,
    Estimates,
    Mean,
    Precision,
    RatingsChange,
    SystemEstimate,
    by_rank,
    decided_together,
    noted,
    order_notes,
    ranked,
    segments_to_decide,
)
from assay.estimation.study import Study, make_study
from assay.pay import pay_of
from assay.results import UNPAID, Costs, Note, has_note, plural
from assay.stats.intervals import LEVEL, POWER, contrast_covariance, shrunk_gap, stable_ranking
from assay.tables.answers import Errors
from assay.tables.history import add_history
from assay.tables.tables import Ratings, Sample, TestSet

if TYPE_CHECKING:
    from assay.estimation.severity import SeverityError

MIN_RATINGS_FOR_DIRECTION = 50
"""With fewer ratings, correlations with metrics say nothing about directions."""
FEW_RATINGS = 30
"""Up to so many ratings per system, the gain from metrics is itself uncertain."""


def estimate(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None = None,
    assume: str | None = None,
    method: str = "auto",
    interval: str = "auto",
    level: float = LEVEL,
    target: str | None = None,
    by: str | None = None,
    errors: Errors | None = None,
    compare: Sequence[str] | None = None,
    exclude_raters: Sequence[str] = (),
    remove_severity: bool = False,
    borrow: bool = False,
    history: tuple[TestSet, Ratings] | None = None,
    family: bool = False,
    pay: Costs | str | None = None,
) -> Estimates:
    """Estimate every system's score on the whole test set.

    Several raters' scores of an output are averaged first. Ratings are weighted by 1/pi, pi the
    inclusion probability that the sample states. ``method`` is ``mean``; ``regression`` on all
    metrics; a control variate of saldias2022 (``cv-single``, ``cv-mean``, ``cv-multi``,
    ``cv-knn``); or ``auto``: regression where there are metrics and enough ratings, and the mean
    where metrics explain nothing. Differences use the segments that both systems have rated, so
    what the systems share cancels.

    The ``interval`` is Student's t with the variance of the design and the finite-population
    correction. ``skew-t`` corrects intervals of scores for skewness; ``auto`` does so below 60
    ratings. ``betting``, ``hoeffding`` and ``bernstein`` are guaranteed for the mean of a simple
    random sample of scores with a stated range.

    ``target`` says what the intervals are for. ``raters``: this test set, rated by raters like
    these; this needs tasks that two raters did, and is the default where there are enough. Scores
    then include how strict the raters may be as a whole, which cancels in differences. ``texts``:
    texts like these, of which the documents (without documents, the segments) are a sample.
    ``answers``: these answers alone, about which rating everything leaves no doubt; an interval of
    width zero decides nothing. By default, without second raters, intervals are those for answers,
    and once more than half is rated those for texts where these are wider.

    Every difference is decided on its own at this ``level``; with ``family``, all verdicts together
    are right at this level (Holm 1979). With ``pay`` ("0.12 EUR per rating" or "18 EUR per hour"),
    the next steps also state their cost.

    Without a ``sample``, every output must be rated, or ``assume`` must state that the rated
    segments (``random``) or documents (``documents``) are a simple random sample; the result
    repeats the assumption.

    ``by`` (with ``errors`` for categories) adds scores of groups (:func:`assay.estimate_by`).
    ``compare`` names two systems for a comparison (:func:`assay.compare_two`), which two systems
    alone always get. ``exclude_raters`` and ``remove_severity`` change the ratings first, and the
    result states what that does to every estimate. With ``borrow``, a system's estimate learns from
    the ratings of the others how hard segments are.

    With three systems or more and metrics, the result has a ``composite``: an order that uses what
    metrics say between systems, with the probability that one of two systems is better. It needs
    fewer ratings but relies on the metrics, so it never decides. ``history``, the scores and
    ratings of an earlier campaign with some of the same metrics, helps to weigh them.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> result.systems[0].rank, result.systems[0].low <= result.systems[0].estimate
    (1, True)
    """
    _check(test_set, by, compare, remove_severity, borrow)
    paid = UNPAID if pay is None else pay_of(pay)

    excluded = [exclude_raters] if isinstance(exclude_raters, str) else list(exclude_raters)
    steps, severity = _changed(test_set, ratings, excluded, remove_severity)

    def lay_out(answers: Ratings, interval: str) -> Study:
        known = add_history(test_set, answers) if borrow else test_set
        return make_study(
            known, answers, sample=sample, assume=assume, method=method, interval=interval,
            level=level, target=target, severity=severity if answers is steps[-1] else None,
        )  # fmt: skip

    studies = [lay_out(answers, interval) for answers in steps]
    means = [[study.mean(i) for i in range(len(test_set.systems))] for study in studies]
    study = studies[-1]
    changes = _changes(test_set.systems, means, excluded)
    result = replace(
        _wrapped(study, means[-1], family),
        changed=tuple(change.brief for change in changes),
        changes=changes,
    )
    if by is not None or errors is not None:
        from assay.estimation.breakdown import break_down

        whole = study if interval in ("auto", "t") else lay_out(steps[-1], "t")
        result = replace(result, breakdown=break_down(whole, by or "category", errors))
    if compare is not None or len(result.systems) == 2:
        from assay.estimation.comparison import compare_two

        result = replace(result, comparison=compare_two(result, *(compare or ())))
    result = _with_stability(replace(result, pay=paid))
    if study.features is not None and len(result.systems) <= MOST_SYSTEMS:
        result = replace(result, composite=make_composite(study, result, history))
    elif study.features is not None:
        text = f"the composite order is left out: it is for at most {MOST_SYSTEMS} systems"
        result = replace(result, notes=(*result.notes, Note("composite-left-out", text)))
    return replace(result, next=next_steps(result))


def _with_stability(result: Estimates) -> Estimates:
    """Add how likely a repeat of the same size is to give the same order (Riley et al. 2024)."""
    known = _contrasts(result)
    if known is None:
        return result
    sign = 1 if result.better == "higher" else -1
    whole, pairs = stable_ranking(sign * known[0], known[1])
    place = {item.system: k for k, item in enumerate(result.systems)}
    differences = tuple(
        replace(item, stable=float(pairs[place[item.left], place[item.right]]))
        for item in result.differences
    )
    return replace(result, stable=whole, differences=differences)


def _contrasts(estimates: Estimates) -> tuple[np.ndarray, np.ndarray] | None:
    """The systems' means, and a covariance with the stated errors of differences; None without."""
    if not estimates.differences or not all(item.stderr > 0 for item in estimates.differences):
        return None
    names = [item.system for item in estimates.systems]
    _, stderr = difference_matrices(names, estimates.differences)
    return np.array([item.estimate for item in estimates.systems]), contrast_covariance(stderr)


def _check(
    test_set: TestSet, by: str | None, compare: Sequence[str] | None, fair: bool, borrow: bool
) -> None:
    if fair and by == "category":
        raise OptionError(
            "remove_severity", True, "has no effect on marked errors",
            "leave it out, or break down by something else",
        )  # fmt: skip
    if compare is not None and len(compare) != 2:
        raise OptionError("compare", ",".join(compare), "does not name two systems", "name two")
    if borrow and test_set.history is not None:
        raise OptionError("borrow", True, "adds a second history", "leave one of them out")


def _changed(
    test_set: TestSet, ratings: Ratings, excluded: Sequence[str], fair: bool
) -> tuple[list[Ratings], SeverityError | None]:
    """The ratings as given, then (on request) without some raters, then without severity."""
    steps, error = [ratings], None
    if excluded or fair:
        from assay.estimation.severity import exclude_raters, without_severity

        if excluded:
            steps.append(exclude_raters(steps[-1], excluded))
        if fair:
            fairer, error = without_severity(test_set, steps[-1])
            steps.append(fairer)
    return steps, error


def _changes(
    systems: Sequence[str], means: Sequence[Sequence[Mean]], excluded: Sequence[str]
) -> tuple[RatingsChange, ...]:
    """What each step did to every estimate."""
    scores = [
        dict(zip(systems, (float(mean.center) for mean in row), strict=True)) for row in means
    ]
    return tuple(
        RatingsChange("raters", tuple(excluded), before, after)
        if excluded and k == 0
        else RatingsChange("severity", (), before, after)
        for k, (before, after) in enumerate(pairwise(scores))
    )


def _wrapped(study: Study, means: list[Mean], family: bool) -> Estimates:
    test_set, better = study.test_set, study.ratings.better
    differences = tuple(study.difference(i, j) for i, j in combinations(range(len(means)), 2))
    if family:
        differences = decided_together(differences, study.level)
    answers = _used(study)
    systems = ranked(test_set.systems, means, differences, better)
    return Estimates(
        systems=systems,
        differences=by_rank(differences, systems),
        better=better,
        level=study.level,
        method="+".join(dict.fromkeys(mean.method for mean in means)),
        interval="+".join(dict.fromkeys(mean.kind for mean in means)),
        design=study.rated.design.name,
        seed=study.rated.design.seed,
        drawn=study.rated.line,
        target=study.target,
        metrics=(
            () if study.features is None
            else (*test_set.metrics, *(("history",) if study.features.history else ()))
        ),
        family=family,
        ratings=answers.height,
        hours=_hours(answers),
        notes=noted((
            *study.notes, *_gain(means, study.features), *_direction(study),
            *order_notes(systems, differences, better),
        )),
    )  # fmt: skip


def _used(study: Study) -> pl.DataFrame:
    """The answers behind the estimates; answers outside the sample do not count."""
    key = ["system", *study.test_set.key]
    used = ~np.isnan(study.rated.scores[study.test_set.positions])
    outputs = study.test_set.frame.select(key).filter(pl.Series(used))
    return study.ratings.genuine.drop_nulls("score").join(outputs, on=key, how="semi")


def _hours(answers: pl.DataFrame) -> float | None:
    """The hours that the ratings took, if nine in ten state their time."""
    if "seconds" not in answers.columns or answers["seconds"].null_count() > answers.height / 10:
        return None
    return float(answers["seconds"].drop_nulls().mean() or 0) * answers.height / 3600  # type: ignore[arg-type]


def _direction(study: Study) -> list[Note]:
    """A warning if all metrics contradict the stated direction of the ratings."""
    test_set, signs = study.test_set, []
    for name in test_set.metrics:
        known = np.isfinite(values := test_set.matrix(name)) & np.isfinite(study.rated.scores)
        x, z = study.rated.scores[known], values[known]
        if known.sum() < MIN_RATINGS_FOR_DIRECTION or np.ptp(x) == 0 or np.ptp(z) == 0:
            return []
        worse = (name in test_set.lower_metrics) != (study.ratings.better == "lower")
        signs.append(np.corrcoef(x, z)[0, 1] * (-1 if worse else 1))
    if not signs or max(signs) > -0.1:
        return []
    other = "higher" if study.ratings.better == "lower" else "lower"
    text = (
        f"warning: all metrics contradict the ratings; are {other} ratings better, or lower values"
        " of these metrics? Check the directions you stated"
    )
    return [Note("direction-doubtful", text)]


def _gain(means: list[Mean], features: Features | None) -> list[Note]:
    """What the metrics contributed, and how missing or constant ones were treated."""
    if features is None:
        return []
    helped = [mean for mean in means if mean.method != "mean" and mean.n < mean.population]
    lines = list(features.notes)
    if all(mean.n == mean.population for mean in means):
        return lines
    if not helped:
        text = (
            "the metrics do not help these estimates, or the ratings are too few to tell: the plain"
            " mean is used"
        )
        return [*lines, Note("metrics-unused", text)]
    left = float(np.mean([mean.unexplained for mean in helped]))
    ratings = float(np.mean([mean.n for mean in helped]))
    worth = ratings / max(left, 1e-9)
    text = (
        f"the metrics leave {left:.0%} of the variance unexplained ({helped[0].method}):"
        f" {ratings:.0f} ratings are as precise as {worth:.0f} without metrics"
    )
    lines.append(Note("metrics-gain", text))
    if ratings <= FEW_RATINGS:
        text = f"with {FEW_RATINGS} ratings or fewer, that gain is itself uncertain"
        lines.append(Note("gain-uncertain", text))
    return lines


HALF_IS_RATED = (
    "that takes more than half of the test set, and beyond half the error is unknown without"
    " second raters; have a tenth of the tasks rated twice"
)
ROOT_N = ("t", "skew-t")
"""Intervals whose width is proportional to the standard error."""


def precision_of(item: Difference | SystemEstimate, estimates: Estimates) -> Precision | None:
    """The sd that gives this standard error, without raters, in a simple random sample.

    Where nothing is known about raters, errors beyond half of the test set are those for texts.
    """
    sampling = item.stderr**2 - item.rater_stderr**2
    if item.basis == "texts" or not sampling > 0 or item.n >= item.population:
        return None
    sd = np.sqrt(sampling * item.n / (1 - item.n / item.population))
    reach = UNKNOWN_REACH if has_note(estimates.notes, "raters-unknown") else 1.0
    sd, floor = float(sd), item.rater_stderr
    return Precision(item.population, sd, estimates.level, floor=floor, reach=reach)


def next_steps(estimates: Estimates) -> tuple[str, ...]:
    """What more ratings would bring: a decision on the closest pair, the widest interval halved.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> len(next_steps(assay.estimate(world.test_set, world.rate(drawn), sample=drawn))) > 0
    True
    """
    if estimates.target == "texts":
        return _more_texts(estimates)
    if any(item.basis == "texts" for item in estimates.systems):
        # Most is rated, and nothing tells how far raters differ.
        segments = max(1, round(max(item.population for item in estimates.systems) / 10))
        return (
            "to learn how much raters differ, have a second rater do a tenth of the tasks, about"
            f" {_amount(segments, estimates)}",
        )
    if not design_of(estimates.design).error_falls_with_ratings:
        return (
            "rate more documents: ratings of one document are correlated, so the number of"
            " documents decides",
        )
    lines = []
    open_pairs = [
        item for item in estimates.differences if not item.decided and np.isfinite(item.p)
    ]
    if open_pairs:
        lines.append(_to_decide(min(open_pairs, key=lambda item: item.p), estimates))
    known = [
        item for item in estimates.systems if np.isfinite(item.high - item.low) and item.stderr > 0
    ]
    if known and set(estimates.interval.split("+")) <= set(ROOT_N):
        lines.append(_to_halve(max(known, key=lambda item: item.high - item.low), estimates))
    elif not known and any(item.n < item.population for item in estimates.systems):
        lines.append("rate more: these ratings are too few, or too alike, for an interval")
    return tuple(lines)


def _more_texts(estimates: Estimates) -> tuple[str, ...]:
    """Next steps for texts: the error falls with the root of their number."""
    unit = "segments" if has_note(estimates.notes, "for-segments") else "documents"
    known = [item for item in estimates.systems if np.isfinite(item.high - item.low)]
    if not known:
        return (f"rate more {unit}: these are too few, or too alike, for an interval",)
    widest = max(known, key=lambda item: item.high - item.low)
    half = (widest.high - widest.low) / 2
    return (
        f"to halve the widest interval ({widest.system}, ±{half:.3g}), rate about four times as"
        f" many {unit} in the same way",
    )


def _ratings(segments: int, estimates: Estimates) -> int:
    """The ratings of so many segments of all systems, with as many raters per output as so far."""
    rated = sum(item.n for item in estimates.systems)
    each = len(estimates.systems) * max(estimates.ratings / max(rated, 1), 1)
    return round(segments * each)


def _amount(segments: int, estimates: Estimates) -> str:
    """So many segments of every system, as ratings and, if known, as hours and money."""
    ratings = _ratings(segments, estimates)
    cost = estimates.paid.cost(ratings)
    return f"{plural(segments, 'segment')} ({ratings:,} more ratings{cost and ': '}{cost})"


def _to_decide(item: Difference, estimates: Estimates) -> str:
    names = f"{item.left} and {item.right}"
    spread = precision_of(item, estimates)
    if item.difference == 0:
        return f"{names} are equal in these ratings"
    goal = f"to decide between {names}, the pair closest to a decision"
    if spread is None:
        return (
            f"{goal}: everything is rated; only more raters for each task would make the"
            " error smaller"
        )
    gap, needed = _needed(item, spread, estimates)
    if needed is not None and needed <= item.n:
        rule = "all verdicts together" if estimates.family else f"the interval {estimates.interval}"
        return f"{names}: decided by its own t interval, but not by {rule}"
    if needed is None or needed >= spread.reach * item.population:
        if spread.reach < 1:
            return f"{goal}: {HALF_IS_RATED}"
        raters = ", more of them by two raters," if item.rater_stderr > 0 else ""
        return (
            f"{goal}, rating all {item.population:,} segments{raters} may not be enough: the true"
            f" difference is probably about {gap:.3g}"
        )
    return (
        f"{goal}, rate another {_amount(needed - item.n, estimates)}; the true difference is"
        f" probably about {gap:.3g}, and they detect it with {POWER:.0%} probability"
    )


def _needed(item: Difference, spread: Precision, estimates: Estimates) -> tuple[float, int | None]:
    """The probable true difference, shrunk by those of all systems, and the n to find it."""
    known = _contrasts(estimates)
    if known is None:
        return abs(item.difference), spread.n_for_power(item.difference, POWER)
    place = {one.system: k for k, one in enumerate(estimates.systems)}
    at = place[item.left], place[item.right]
    gap, sd = (float(found[at]) for found in shrunk_gap(*known))
    return abs(gap), segments_to_decide(
        spread, item.n, item.difference, gap=gap, sd=sd, power=POWER
    )


def _to_halve(item: SystemEstimate, estimates: Estimates) -> str:
    spread = precision_of(item, estimates)
    half = (item.high - item.low) / 2
    goal = f"to halve the widest interval ({item.system}, ±{half:.3g})"
    out_of_reach = spread is None or float(spread.half_width(np.array(item.population))) > half / 2
    if out_of_reach and spread is not None and spread.reach < 1:
        return f"{goal}: {HALF_IS_RATED}"
    needed = item.n if out_of_reach or spread is None else spread.n_for_half_width(half / 2)
    if needed <= item.n:
        # With two or three raters, few degrees of freedom make an interval wide, not few segments.
        if not out_of_reach or 2 * item.severity_stderr > item.stderr:
            return (
                f"{goal}, have more raters, each for some of the segments; more segments will not"
                " help"
            )
        more = "raters" if item.rater_stderr > 0 else "ratings"
        return f"{goal}, get more {more} for each segment; more segments alone will not help"
    return f"{goal}, rate another {_amount(needed - item.n, estimates)}"


def ratings_to_decide(item: Difference, estimates: Estimates) -> int | None:
    """How many more ratings, of all systems, decide a pair; None if no number of segments does.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> ratings_to_decide(result.differences[0], result)
    0
    """
    if item.decided:
        return 0
    spread = precision_of(item, estimates)
    if spread is None or item.difference == 0 or not np.isfinite(item.p):
        return None
    _, needed = _needed(item, spread, estimates)
    if needed is None or not item.n < needed < spread.reach * item.population:
        return None
    return _ratings(needed - item.n, estimates)
