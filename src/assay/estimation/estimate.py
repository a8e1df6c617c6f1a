"""From ratings to scores on the whole test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from assay.errors import OptionError
from assay.estimation.features import Features
from assay.estimation.power import compare_two, next_steps
from assay.estimation.results import (
    Difference,
    Estimates,
    RatingsChange,
    SystemEstimate,
    noted,
    scored,
)
from assay.estimation.study import Mean, Study, make_study
from assay.results import Note
from assay.stats.orders import order_of_differences
from assay.stats.precision import LEVEL
from assay.tables.answers import Errors, Ratings, add_history
from assay.tables.test_set import Sample, TestSet

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
    interval: str = "t",
    level: float = LEVEL,
    target: str = "test-set",
    by: str | None = None,
    errors: Errors | None = None,
    compare: Sequence[str] | None = None,
    exclude_raters: Sequence[str] = (),
    remove_severity: bool = False,
    borrow: bool = False,
) -> Estimates:
    """Estimate every system's score on the whole test set.

    Several raters' scores of an output are averaged first. ``method`` is ``mean``; ``regression``
    on all metrics; the control variates of saldias2022 (``cv-single``, ``cv-mean``, ``cv-multi``,
    ``cv-knn``); or ``auto``, which uses regression where there are metrics and enough ratings, and
    the mean where metrics explain nothing. Ratings are weighted by 1/pi, pi the inclusion
    probability that the sample states. The interval is Student's t around it with the variance
    that goes with the design and the finite-population correction. Differences use the segments
    that both systems have rated, so what the systems share drops out.

    ``skew-t`` corrects it for skewed scores, also after regression and for snippets and balanced
    samples. With a stated range there are guaranteed intervals (``betting``, ``hoeffding``,
    ``bernstein``) for the mean of a simple random sample.

    With the ``target`` ``new-documents`` the intervals are not for this test set but for the mean
    over all documents of the kind that these were drawn from, which no rating of everything makes
    certain: the spread between documents counts, without a finite-population correction.

    Without a ``sample``, every output must be rated, or ``assume`` must state that the rated
    segments (``random``) or documents (``documents``) are a simple random sample; the result
    repeats the assumption.

    ``by`` (and ``errors``) adds the scores of groups, see :func:`assay.estimate_by`. ``compare``
    names two systems whose comparison is added, see :func:`assay.compare_two`; the only two
    systems there are, are always compared. ``exclude_raters`` and ``remove_severity`` change the
    ratings first, and the result says what that does to every estimate. With ``borrow``, a
    system's estimate learns from the ratings of the others how hard segments are.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> result.systems[0].rank, result.systems[0].low <= result.systems[0].estimate
    (1, True)
    """
    _check(test_set, by, compare, remove_severity, borrow)

    def lay_out(answers: Ratings, interval: str) -> Study:
        known = add_history(test_set, answers) if borrow else test_set
        return make_study(
            known, answers, sample=sample, assume=assume, method=method, interval=interval,
            level=level, target=target,
        )  # fmt: skip

    excluded = [exclude_raters] if isinstance(exclude_raters, str) else list(exclude_raters)
    steps = _changed(test_set, ratings, excluded, remove_severity)
    studies = [lay_out(answers, interval) for answers in steps]
    means = [[study.mean(i) for i in range(len(test_set.systems))] for study in studies]
    study = studies[-1]
    changes = _changes(test_set.systems, means, excluded)
    result = replace(
        _wrapped(study, means[-1]),
        changed=tuple(change.brief for change in changes),
        changes=changes,
    )
    if by is not None or errors is not None:
        from assay.estimation.breakdown import break_down  # seldom wanted

        whole = study if interval == "t" else lay_out(steps[-1], "t")
        result = replace(result, breakdown=break_down(whole, by or "category", errors))
    if compare is not None or len(result.systems) == 2:
        result = replace(result, comparison=compare_two(result, *(compare or ())))
    return replace(result, next=next_steps(result))


def _check(
    test_set: TestSet,
    by: str | None,
    compare: Sequence[str] | None,
    remove_severity: bool,
    borrow: bool,
) -> None:
    if remove_severity and by == "category":
        raise OptionError(
            "remove_severity", True, "does nothing to marked errors",
            "leave it out, or break down by something else",
        )  # fmt: skip
    if compare is not None and len(compare) != 2:
        raise OptionError("compare", ",".join(compare), "does not name two systems", "name two")
    if borrow and test_set.history is not None:
        raise OptionError("borrow", True, "adds a second history", "leave one of them out")


def _changed(
    test_set: TestSet, ratings: Ratings, excluded: Sequence[str], fair: bool
) -> list[Ratings]:
    """The ratings as given, then without some raters, then without severity, where asked for."""
    steps = [ratings]
    if excluded or fair:
        from assay.estimation.raters import exclude_raters, remove_severity  # seldom wanted

        if excluded:
            steps.append(exclude_raters(steps[-1], excluded))
        if fair:
            steps.append(remove_severity(test_set, steps[-1]))
    return steps


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


def _wrapped(study: Study, means: list[Mean]) -> Estimates:
    test_set, better = study.test_set, study.ratings.better
    differences = tuple(study.difference(i, j) for i, j in combinations(range(len(means)), 2))
    systems = _systems(study, means, differences)
    return Estimates(
        systems=systems,
        differences=_by_rank(differences, systems),
        better=better,
        level=study.level,
        method="+".join(dict.fromkeys(mean.method for mean in means)),
        interval=study.interval,
        design=study.rated.design.name,
        seed=study.rated.design.seed,
        drawn=study.rated.line,
        target=study.target,
        metrics=(
            () if study.features is None
            else (*test_set.metrics, *(("history",) if study.features.history else ()))
        ),
        notes=noted((*study.notes, *_gain(means, study.features), *_direction(study))),
    )  # fmt: skip


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
    return [
        Note(
            "direction-doubtful",
            f"warning: all metrics contradict the ratings; are {other} ratings better, or lower"
            " values of these metrics? State it (better, lower_metrics)",
        )
    ]


def _gain(means: list[Mean], features: Features | None) -> list[str]:
    """What the metrics contributed, and what had to be done to them."""
    if features is None:
        return []
    helped = [mean for mean in means if mean.method != "mean" and mean.n < mean.population]
    lines: list[str] = list(features.notes)
    if all(mean.n == mean.population for mean in means):
        return lines
    if not helped:
        return [
            *lines,
            Note("metrics-unused", "the metrics explain nothing here, or ratings are too few: the"
                 " mean is used"),
        ]  # fmt: skip
    left = float(np.mean([mean.unexplained for mean in helped]))
    ratings = float(np.mean([mean.n for mean in helped]))
    worth = ratings / max(left, 1e-9)
    lines.append(
        Note(
            "metrics-gain",
            f"the metrics leave {left:.0%} of the variance unexplained ({helped[0].method}):"
            f" {ratings:.0f} ratings are as precise as {worth:.0f} without metrics",
        )
    )
    if ratings <= FEW_RATINGS:
        lines.append(
            Note("gain-uncertain", f"with {FEW_RATINGS} ratings or fewer, that gain is itself"
                 " uncertain")
        )  # fmt: skip
    return lines


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
            interval=study.interval,
            rank=int(order.rank[i]),
            low_rank=int(order.low[i]),
            high_rank=int(order.high[i]),
            cluster=int(order.cluster[i]),
        )
        for i, (system, mean) in enumerate(zip(study.test_set.systems, means, strict=True))
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, sign * -row.estimate, row.system)))
