"""From ratings to scores on the whole test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.errors import OptionError, did_you_mean
from assay.estimation.composite import MOST_SYSTEMS, difference_matrices, make_composite
from assay.estimation.results import (
    Comparison,
    Difference,
    Estimates,
    Mean,
    RatingsChange,
    SystemEstimate,
    noted,
    scored,
)
from assay.estimation.study import Features, Study, make_study
from assay.pay import pay_of
from assay.results import UNPAID, Costs, Note, has_note, plural
from assay.stats.intervals import (
    LEVEL,
    POWER,
    UNKNOWN_REACH,
    Precision,
    contrast_covariance,
    detectable_shift,
    holm,
    order_of_differences,
    segments_to_decide,
    shrunk_gap,
    stable_ranking,
)
from assay.tables.history import add_history
from assay.tables.marked_errors import Errors
from assay.tables.tables import Ratings, Sample, TestSet

if TYPE_CHECKING:
    from assay.estimation.raters import SeverityError

MIN_RATINGS_FOR_DIRECTION = 50
"""With fewer, a correlation with metrics says nothing about directions."""
FEW_RATINGS = 30
"""Up to so many ratings of a system, the gain by metrics is itself uncertain."""


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

    Several raters' scores of an output are averaged first. ``method`` is ``mean``; ``regression``
    on all metrics; the control variates of saldias2022 (``cv-single``, ``cv-mean``, ``cv-multi``,
    ``cv-knn``); or ``auto``, which uses regression where there are metrics and enough ratings, and
    the mean where metrics explain nothing. Ratings are weighted by 1/pi, pi the inclusion
    probability that the sample states. The interval is Student's t around it with the variance
    that goes with the design and the finite-population correction. Differences use the segments
    that both systems have rated, so what the systems share drops out.

    ``skew-t`` corrects the intervals of scores for skewness, which ``auto`` does below 60 ratings.
    With a stated range there are guaranteed intervals (``betting``, ``hoeffding``, ``bernstein``)
    for the mean of a simple random sample.

    ``target`` says what the intervals are for. ``raters``: this test set, had raters like these
    answered; it needs tasks that two raters did, and is taken where there are enough. Scores then
    also carry how strict the raters may be as a whole, which drops out of differences. ``texts``:
    texts like these, of which the documents (segments, where there are none) are a sample.
    ``answers``: these answers alone, which everything rated makes certain; no verdict comes from an
    interval of width zero. Without a target and without second raters, intervals are those for
    the answers, and once more than half is rated those for texts, where these are wider.

    Every difference is decided by itself at this ``level``; with ``family`` they are decided so
    that all verdicts together are right at this level (Holm 1979). With ``pay`` ("0.12 EUR per
    rating", or "18 EUR per hour") the next steps also say what they cost.

    Without a ``sample``, every output must be rated, or ``assume`` must state that the rated
    segments (``random``) or documents (``documents``) are a simple random sample; the result
    repeats the assumption.

    ``by`` (and ``errors``) adds the scores of groups, see :func:`assay.estimate_by`. ``compare``
    names two systems whose comparison is added, see :func:`assay.compare_two`; where there are only
    two systems, they are always compared. ``exclude_raters`` and ``remove_severity`` change the
    ratings first, and the result says what that does to every estimate. With ``borrow``, a
    system's estimate learns from the ratings of the others how hard segments are.

    With three systems or more, the result also has a ``composite``: their order with the help of
    what metrics say between systems, and for every pair the probability that one is better. It
    needs fewer ratings and leans on the metrics, so it never decides anything. ``history`` are the
    scores and ratings of an earlier campaign with some of the same metrics, which help to weigh
    these.

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
        from assay.estimation.breakdown import break_down  # seldom wanted

        whole = study if interval in ("auto", "t") else lay_out(steps[-1], "t")
        result = replace(result, breakdown=break_down(whole, by or "category", errors))
    if compare is not None or len(result.systems) == 2:
        result = replace(result, comparison=compare_two(result, *(compare or ())))
    result = _with_stability(replace(result, pay=paid))
    if study.features is not None and len(result.systems) <= MOST_SYSTEMS:
        result = replace(result, composite=make_composite(study, result, history))
    elif study.features is not None:
        text = f"the composite order is left out: it is for at most {MOST_SYSTEMS} systems"
        result = replace(result, notes=(*result.notes, Note("composite-left-out", text)))
    return replace(result, next=next_steps(result))


def _with_stability(result: Estimates) -> Estimates:
    """How likely a repeat of the same size is to give the same order (Riley et al. 2024)."""
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
    """The systems' means and a covariance that gives their differences the stated errors.

    None where a difference has no error, or there is none.
    """
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
    """The ratings as given, then without some raters, then without severity, where asked for."""
    steps, error = [ratings], None
    if excluded or fair:
        from assay.estimation.raters import exclude_raters, without_severity  # seldom wanted

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
        differences = _decided_together(differences, study.level)
    answers = _used(study)
    systems = _systems(study, means, differences)
    return Estimates(
        systems=systems,
        differences=_by_rank(differences, systems),
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
            *_order_notes(systems, differences, better),
        )),
    )  # fmt: skip


def _decided_together(pairs: tuple[Difference, ...], level: float) -> tuple[Difference, ...]:
    """Verdicts that are right together: by p values adjusted for their number."""
    p = np.array([item.p for item in pairs])
    known = np.isfinite(p)
    p[known] = holm(p[known])
    return tuple(
        replace(item, decided=item.decided and bool(adjusted <= 1 - level))
        for item, adjusted in zip(pairs, p, strict=True)
    )


def _used(study: Study) -> pl.DataFrame:
    """The answers behind the estimates: those outside the sample are no part of its work."""
    key = ["system", *study.test_set.key]
    used = ~np.isnan(study.rated.scores[study.test_set.positions])
    outputs = study.test_set.frame.select(key).filter(pl.Series(used))
    return study.ratings.genuine.drop_nulls("score").join(outputs, on=key, how="semi")


def _hours(answers: pl.DataFrame) -> float | None:
    """What the ratings took, where all but a few say so."""
    if "seconds" not in answers.columns or answers["seconds"].null_count() > answers.height / 10:
        return None
    return float(answers["seconds"].drop_nulls().mean() or 0) * answers.height / 3600  # type: ignore[arg-type]


def _direction(study: Study) -> list[Note]:
    """A doubt about the stated direction, where all metrics contradict it."""
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
    """What the metrics contributed, and what had to be done to them."""
    if features is None:
        return []
    helped = [mean for mean in means if mean.method != "mean" and mean.n < mean.population]
    lines = list(features.notes)
    if all(mean.n == mean.population for mean in means):
        return lines
    if not helped:
        text = (
            "the metrics explain nothing here, or there are too few ratings: the plain mean is used"
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


def _order_notes(
    systems: tuple[SystemEstimate, ...], differences: tuple[Difference, ...], better: str
) -> list[Note]:
    """Why ranks need not follow the estimates, and where some system was rated apart."""
    notes = []
    apart = sum(item.apart for item in differences)
    if apart:
        text = (
            f"{apart} of {len(differences)} pairs have less than half of their segments in common"
            " and are compared by the scores on the segments that each system has"
        )
        notes.append(Note("compared-apart", text))
    sign = 1 if better == "higher" else -1
    turned = [
        f"{one.system} before {two.system}"
        for one, two in combinations(systems, 2)
        if one.rank < two.rank and sign * (two.estimate - one.estimate) > 0
    ]
    if turned:
        more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
        text = (
            "ranks follow the differences on the segments rated for both systems, which here put"
            f" systems in another order than the estimates: {', '.join(turned[:3])}{more}"
        )
        notes.append(Note("order-by-differences", text))
    return notes


def _by_rank(
    differences: tuple[Difference, ...], systems: tuple[SystemEstimate, ...]
) -> tuple[Difference, ...]:
    """The differences in the order of the systems, the better-ranked one on the left."""
    place = {item.system: k for k, item in enumerate(systems)}
    ordered = [
        item if place[item.left] < place[item.right] else item.reversed for item in differences
    ]
    return tuple(sorted(ordered, key=lambda item: (place[item.left], place[item.right])))


def _systems(
    study: Study, means: list[Mean], differences: tuple[Difference, ...]
) -> tuple[SystemEstimate, ...]:
    """Systems with ranks and clusters, best first."""
    sign = 1 if study.ratings.better == "higher" else -1
    pairs = np.array(list(combinations(range(len(means)), 2)), dtype=np.int64).reshape(-1, 2)
    # Ranks count the systems ahead in the paired differences, as the ranges do, so that the two
    # agree also where systems have different segments.
    order = order_of_differences(
        len(means), pairs, np.array([sign * item.difference for item in differences]),
        np.array([item.decided for item in differences], dtype=bool),
    )  # fmt: skip
    rows = [
        SystemEstimate(
            system=system,
            **scored(mean),
            method=mean.method,
            interval=mean.kind,
            rank=int(order.rank[i]),
            low_rank=int(order.low[i]),
            high_rank=int(order.high[i]),
            cluster=int(order.cluster[i]),
            basis=mean.basis,
            rater_stderr=mean.rater_stderr,
            severity_stderr=mean.severity_stderr,
        )
        for i, (system, mean) in enumerate(zip(study.test_set.systems, means, strict=True))
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, sign * -row.estimate, row.system)))


HALF_IS_RATED = (
    "that takes more than half of the test set, and beyond half the error is unknown without"
    " second raters; have a tenth of the tasks rated twice"
)
ROOT_N = ("t", "skew-t")
"""Intervals whose width goes with the standard error."""


def compare_two(
    estimates: Estimates, left: str | None = None, right: str | None = None, *, power: float = POWER
) -> Comparison:
    """Compare two of the estimated systems; without names, the only two there are.

    The power is that of the t test, with the standard error of the difference as estimated. For
    another n it is taken to change as that of a simple random sample does, sqrt((1 - n/N) / n). A
    power computed from the observed difference says how many ratings to plan if that were the
    true one; it is not a second test. Where the error is that of texts ``needed`` is not known.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> two = assay.compare_two(result)
    >>> two.low <= two.difference <= two.high, two.decided == (two.p < 0.05)
    (True, True)
    """
    if not 0 < power < 1:
        raise OptionError("power", power, "is not a probability", "give a number like 0.8")
    item = _pair(estimates, left, right)
    spread = _precision(item, estimates)
    needed = None
    # How new documents would change the error is not a matter of ratings alone.
    here = item.basis != "texts"
    if here and spread is not None and item.difference != 0:
        needed = max(2, spread.n_for_power(item.difference, power))
    names = "left right difference low high stderr p n population decided"
    detectable = item.stderr  # 0 or NaN
    if item.stderr > 0:
        detectable *= detectable_shift(item.degrees, estimates.level, power)
    return Comparison(
        **{name: getattr(item, name) for name in names.split()},
        detectable=detectable,
        needed=needed,
        everything=here and (needed == item.population or item.difference == 0),
        power=power,
        level=estimates.level,
        design=estimates.design,
        better=estimates.better,
        holds=not has_note(estimates.notes, "intervals-do-not-hold"),
    )


def _pair(estimates: Estimates, left: str | None, right: str | None) -> Difference:
    systems = [item.system for item in estimates.systems]
    if left is None and right is None and len(systems) == 2:
        return estimates.differences[0]
    for name in (left, right):
        if name not in systems:
            raise OptionError(
                "compare", name, f"is not a system{did_you_mean(str(name), systems)}",
                f"name two of {', '.join(systems)}",
            )  # fmt: skip
    for item in estimates.differences:
        if (item.left, item.right) == (left, right):
            return item
        if (item.right, item.left) == (left, right):
            return item.reversed
    raise OptionError("compare", left, "is compared with itself", "name two systems")


def _precision(item: Difference | SystemEstimate, estimates: Estimates) -> Precision | None:
    """The spread that would give this standard error in a simple random sample, beside raters.

    Where nothing is known of raters, an error is that of texts beyond one half of the test set.
    """
    sampling = item.stderr**2 - item.rater_stderr**2
    if item.basis == "texts" or not sampling > 0 or item.n >= item.population:
        return None
    sd = np.sqrt(sampling * item.n / (1 - item.n / item.population))
    reach = UNKNOWN_REACH if has_note(estimates.notes, "raters-unknown") else 1.0
    sd, floor = float(sd), item.rater_stderr
    return Precision(item.population, sd, estimates.level, floor=floor, reach=reach)


def next_steps(estimates: Estimates) -> tuple[str, ...]:
    """What more ratings would bring: the closest call decided, the widest interval halved.

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
    """The error goes down with the root of the number of texts, once each has ratings."""
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


def ratings_to_decide(item: Difference, estimates: Estimates) -> int | None:
    """The ratings of all systems that decide a pair; None where more segments will not.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> ratings_to_decide(result.differences[0], result)
    0
    """
    if item.decided:
        return 0
    spread = _precision(item, estimates)
    if spread is None or item.difference == 0 or not np.isfinite(item.p):
        return None
    _, needed = _needed(item, spread, estimates)
    if needed is None or not item.n < needed < spread.reach * item.population:
        return None
    return _ratings(needed - item.n, estimates)


def _ratings(segments: int, estimates: Estimates) -> int:
    """Ratings of so many segments of all systems, by as many raters as these have."""
    rated = sum(item.n for item in estimates.systems)
    each = len(estimates.systems) * max(estimates.ratings / max(rated, 1), 1)
    return round(segments * each)


def _amount(segments: int, estimates: Estimates) -> str:
    """So many segments of every system, in ratings and, where known, in hours and money."""
    ratings = _ratings(segments, estimates)
    cost = estimates.paid.cost(ratings)
    return f"{plural(segments, 'segment')} ({ratings:,} more ratings{cost and ': '}{cost})"


def _to_decide(item: Difference, estimates: Estimates) -> str:
    names = f"{item.left} and {item.right}"
    spread = _precision(item, estimates)
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
        f" probably about {gap:.3g}, and they find it with {POWER:.0%} probability"
    )


def _needed(item: Difference, spread: Precision, estimates: Estimates) -> tuple[float, int | None]:
    """The probable difference, and the segments that find it.

    What is observed is the larger the luckier, so it is shrunk towards the differences of all.
    """
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
    spread = _precision(item, estimates)
    half = (item.high - item.low) / 2
    goal = f"to halve the widest interval ({item.system}, ±{half:.3g})"
    if spread is None or float(spread.half_width(np.array(item.population))) > half / 2:
        if spread is not None and spread.reach < 1:
            return f"{goal}: {HALF_IS_RATED}"
        if 2 * item.severity_stderr > item.stderr:
            return (
                f"{goal}, have more raters, each for some of the segments; more segments will not"
                " help"
            )
        more = "raters" if item.rater_stderr > 0 else "ratings"
        return f"{goal}, get more {more} for each segment; more segments alone will not help"
    needed = spread.n_for_half_width(half / 2)
    return f"{goal}, rate another {_amount(max(needed - item.n, 1), estimates)}"
