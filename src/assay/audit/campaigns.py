"""``audit_ratings`` and ``audit_judgments``: a finished campaign examined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from assay.audit.coverage import (
    judgments_agreement,
    judgments_coverage,
    judgments_matching,
    ratings_agreement,
    ratings_coverage,
    ratings_matching,
    represent,
    segment_ease,
)
from assay.audit.findings import judgments_findings, judgments_next, ratings_findings, ratings_next
from assay.audit.pairs import (
    count_verdicts,
    distinctions,
    judge,
    judged_pairs,
    judgments_power,
    placed_by_pairs,
    rated_pairs,
    ratings_power,
    unclaimed,
)
from assay.audit.results import Audit, AuditedSystem
from assay.designs.population import Population
from assay.errors import InputError
from assay.estimation.estimate import estimate
from assay.estimation.results import Estimates, SystemEstimate
from assay.pay import pay_of
from assay.planning.judgments import plan_judgments
from assay.ranking.counts import count
from assay.ranking.rank import Ranking, SystemRank, rank
from assay.ranking.ratings import rank_ratings
from assay.results import UNPAID, Costs, Note
from assay.stats.intervals import LEVEL
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded, spawn
from assay.tables.answers import Judgments, need_one_lp
from assay.tables.load import Source
from assay.tables.tables import Ratings, Sample, TestSet

MOST_FEW_RATERS = 5
"""With so few raters, their personal taste is worth a note."""
WHOLE_DOCUMENT = 0.9
"""Ratings of documents that are rated to this part or more were chosen by document."""
SAID_OTHERWISE = ("for-texts", "everything-rated", "for-answers")
"""Notes of an estimate that an audit words for its own units, or knows without a test set."""


def audit_ratings(
    ratings: Ratings,
    test_set: TestSet | None = None,
    *,
    published: Source | None = None,
    sample: Sample | None = None,
    assume: str | None = None,
    target: str | None = None,
    family: bool = False,
    practice: Literal["mean", "z"] = "mean",
    level: float = LEVEL,
    pay: Costs | str | None = None,
    rng: Rng = None,
) -> Audit:
    """Audit a finished campaign of ratings: coverage, matching, power, and what holds.

    Scores, pairs, ranks and clusters are those of :func:`assay.estimate` on the same tables: the
    difference on the segments rated for both systems, or of their scores where they share less than
    half. Beside them stands common practice, Wilcoxon's rank-sum tests, as another rule.

    test_set: what there was to rate; without it, the segments that were rated for any system.
    published: a table of what was claimed, with columns ``system`` and ``cluster`` or ``rank``, or
    ``better`` and ``worse``; without it, the order of the systems is audited.
    sample, assume: how segments were chosen, as in :func:`assay.estimate`; where neither is given
    and not everything is rated, they are taken for random, or random documents where those are
    rated whole, and the result says so; metrics are used only where it is given. target: what a
    distinction is about, as in :func:`assay.estimate`: by default raters like these where tasks
    have two, else texts once more than half is rated. family: decide so that all verdicts together
    are right at this level (Holm 1979), not each by itself. practice: whether the ranking as done
    at WMT uses the mean, or the mean of scores standardised per rater (``z``). pay: what a rating
    costs, for what is to be done next.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> found = assay.audit_ratings(world.rate(), world.test_set, rng=1)
    >>> found.published.claims, found.published.hold, found.matched.apart
    (3, 3, 0)
    """
    generator, seed = seeded(rng)
    ratings = _genuine(ratings)
    known = test_set is not None
    given, ratings, unrated = _rated_systems(
        test_set or _rated_set(ratings), ratings, metrics=(sample or assume) is not None
    )
    scores = ratings.matrix(given)
    rated = ~np.isnan(scores)
    _need_two_segments(given, rated)
    assumed = _assumption(given, rated, sample, assume)
    basis = _basis(given, ratings, rated, target, sample)
    estimates = estimate(
        basis.test_set, basis.ratings, sample=sample, assume=assumed, level=level,
        target=basis.target, family=family, pay=pay,
    )  # fmt: skip
    pairs = rated_pairs(estimates)
    order = {item.system: item.estimate for item in estimates.systems}
    claims = judge(distinctions(published, order), pairs)
    covered = ratings_coverage(given, ratings, scores, unrated, known=known)
    # How likely a repeat is to put a pair in this order, on average.
    chances = [item.stable for item in estimates.differences if item.stable is not None]
    result = Audit(
        source="ratings",
        coverage=covered,
        matched=ratings_matching(scores),
        representation=represent(given, rated) if known else (),
        systems=_rated_rows(
            given, ratings, scores, estimates,
            rank_ratings(
                ratings, method=practice, rank_sum=True, level=level, sides=1, rng=generator
            ),
            known=known,
        ),
        pairs=pairs,
        published=count_verdicts(claims, given=published is not None),
        claims=claims,
        power=ratings_power(
            pairs, estimates, answers=covered.answers, room=float(given.present.sum() / rated.sum())
        ),
        raters=ratings_agreement(ratings, given.key),
        unit=basis.unit,
        blocks=len(np.unique(basis.unit_of[rated.any(axis=0)])),
        assumption=estimates.design, target=_about(estimates, basis.unit), family=family,
        stable=estimates.stable, stable_pairs=float(np.mean(chances)) if chances else None,
        practice=f"wilcoxon {practice}", better=ratings.better, level=level, sides=2, seed=seed,
        notes=(
            *_notes(estimates, basis, known=known, guessed=assumed != assume),
            *_few_raters(ratings, estimates),
            *unclaimed(claims, given.systems),
        ),
    )  # fmt: skip
    return replace(
        result, findings=ratings_findings(result), next=ratings_next(result, estimates.paid)
    )


def audit_judgments(
    judgments: Judgments,
    test_set: TestSet | None = None,
    *,
    published: Source | None = None,
    family: bool = False,
    level: float = LEVEL,
    pay: Costs | str | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> Audit:
    """Audit a finished campaign of judgments: how often pairs were compared, power, and what holds.

    Pairs are decided by expected win with segments (else screens) resampled, as
    :func:`assay.rank` does by default, two-sided; beside it is common practice, single
    judgments resampled and sign tests (koehn2012). What could be expected, and what it would take,
    comes from the model of koehn2012 with sigma fitted to these judgments.

    test_set: what there was to judge, for coverage, where the judgments name segments.
    published: a table of what was claimed, as in :func:`assay.audit_ratings`; without it, the order
    of the scores is audited. family: decide so that all verdicts together are right (Holm 1979);
    clusters and rank ranges are then what the decided pairs leave. pay: what a judgment costs.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> found = assay.audit_judgments(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> found.published.hold, found.matched.never
    (3, 0)
    """
    _need_table(judgments, Judgments)
    paid = UNPAID if pay is None else pay_of(pay)
    generator, seed = seeded(rng)
    first, second = spawn(generator, 2)
    ranking = rank(judgments, level=level, rng=first, progress=progress)
    practice = rank(judgments, resample="pair", level=level, rng=second, progress=progress)
    signs = rank(judgments, ranges="sign", level=level)
    counts = count(judgments)
    pairs = judged_pairs(ranking, 1 - level, family=family)
    if family:
        ranking = replace(ranking, systems=placed_by_pairs(ranking.systems, pairs))
    scores = {item.system: item.score for item in ranking.systems}
    claims = judge(distinctions(published, scores), pairs)
    coverage, representation = judgments_coverage(judgments, counts.systems, test_set)
    plan = None
    try:
        plan = plan_judgments(pilot=judgments, level=level, sides=2)
        said = plan.notes
    except InputError as error:
        said = (Note("no-model", f"no model fits these judgments: {error}"),)
    result = Audit(
        source="judgments",
        coverage=coverage,
        matched=judgments_matching(counts),
        representation=representation,
        systems=_judged_systems(judgments, ranking, practice),
        pairs=pairs,
        published=count_verdicts(claims, given=published is not None),
        claims=claims,
        power=judgments_power(pairs, ranking, signs, plan),
        raters=judgments_agreement(judgments, counts),
        unit=ranking.unit,
        blocks=ranking.blocks,
        assumption="as-judged",
        target="new-segments" if ranking.unit == "segment" else "new-judgments",
        family=family,
        practice="bootstrap pair",
        better="higher",
        level=level,
        sides=ranking.sides,
        seed=seed,
        notes=(
            # An audit does not choose the units that are drawn.
            *(note for note in ranking.notes if note.code != "other-units"),
            *said,
            *unclaimed(claims, list(scores)),
        ),
    )
    return replace(result, findings=judgments_findings(result), next=judgments_next(result, paid))


# --- ratings


class _Basis(NamedTuple):
    """What pairs are compared on: the tables with their units, and each segment's unit."""

    test_set: TestSet
    ratings: Ratings
    unit_of: np.ndarray
    unit: Literal["document", "segment"]
    target: str | None


def _about(
    estimates: Estimates, unit: str
) -> Literal["raters", "texts", "new-segments", "answers"]:
    """What distinctions are about: texts, where any of them is."""
    texts = estimates.target == "texts" or any(
        item.basis == "texts" for item in estimates.differences
    )
    if not texts:
        return estimates.target
    return "texts" if unit == "document" else "new-segments"


def _genuine(ratings: Ratings) -> Ratings:
    """Without attention checks and rows that have no score."""
    _need_table(ratings, Ratings)
    frame = ratings.genuine.drop_nulls("score")
    if not frame.height:
        raise InputError("no row has a score, so there is nothing to audit")
    need_one_lp(frame, "ratings")
    return replace(ratings, frame=frame)


def _rated_set(ratings: Ratings) -> TestSet:
    """Every segment that was rated for any system, for all systems."""
    key = [name for name in ("lp", "doc", "seg") if name in ratings.frame.columns]
    segments = ratings.frame.select(key).unique(maintain_order=True)
    systems = ratings.frame.select("system").unique(maintain_order=True)
    return TestSet(systems.join(segments, how="cross"))


def _rated_systems(
    test_set: TestSet, ratings: Ratings, *, metrics: bool
) -> tuple[TestSet, Ratings, tuple[str, ...]]:
    """The systems that have ratings, their ratings placed in the test set, and the others."""
    if not metrics:  # only a sample needs them, that was spread over them
        none: frozenset[str] = frozenset()
        test_set = replace(test_set, metrics=(), lower_metrics=none, named=True, history=None)
    placed = ratings.placed_in(test_set)
    have = set(placed.frame["system"].unique())
    rest = tuple(name for name in test_set.systems if name not in have)
    if len(test_set.systems) - len(rest) < 2:
        only = ", ".join(have) or "no system"
        raise InputError(f"only {only} is rated; an audit compares at least two systems")
    if not rest:
        return test_set, placed, ()
    frame = test_set.frame.filter(~pl.col("system").is_in(list(rest)))
    kept = replace(test_set, frame=frame, excluded=(*test_set.excluded, *rest), notes=())
    return kept, placed, rest


def _need_two_segments(test_set: TestSet, rated: np.ndarray) -> None:
    for name, row in zip(test_set.systems, rated, strict=True):
        if row.sum() < 2:
            raise InputError(f"{name} is rated on one segment only; rate more, or exclude it")


def _assumption(
    test_set: TestSet, rated: np.ndarray, sample: Sample | None, assume: str | None
) -> str | None:
    """How segments are taken to have been chosen, where nobody says and it matters."""
    if sample is not None or assume is not None or not (test_set.present & ~rated).any():
        return assume
    if not test_set.has_documents:
        return "random"
    document = Population(test_set).layout.document
    held = [row.sum() / np.isin(document, document[row]).sum() for row in rated]
    return "documents" if np.median(held) >= WHOLE_DOCUMENT else "random"


def _basis(
    test_set: TestSet,
    ratings: Ratings,
    rated: np.ndarray,
    target: str | None,
    sample: Sample | None,
) -> _Basis:
    """By documents; where they say nothing, by segments, each taken as its own document."""
    document = test_set.document
    several = all(len(np.unique(document[row])) > 1 for row in rated)
    if test_set.has_documents and several:
        return _Basis(test_set, ratings, document, "document", target)
    numbers = np.arange(len(document))
    if target != "texts" or not test_set.has_documents:
        return _Basis(test_set, ratings, numbers, "segment", target)
    if sample is not None:
        # A design may speak of documents, so they cannot be renamed under it.
        return _Basis(test_set, ratings, numbers, "segment", "answers")
    names = [name for name in ("doc", "seg") if name in test_set.key]
    single = pl.concat_str(names, separator="\t")
    by_segment = replace(test_set, frame=test_set.frame.with_columns(doc=single))
    placed = replace(ratings, frame=ratings.frame.with_columns(doc=single))
    return _Basis(by_segment, placed, by_segment.document, "segment", target)


def _rated_rows(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, estimates: Estimates,
    practice: Ranking, *, known: bool,
) -> tuple[AuditedSystem, ...]:  # fmt: skip
    """Systems, best first."""
    place = {name: k for k, name in enumerate(test_set.systems)}
    ease = segment_ease(scores, 1.0 if ratings.better == "higher" else -1.0)
    rated, present = (~np.isnan(scores)).sum(axis=1), test_set.present.sum(axis=1)
    answers = dict(ratings.frame.group_by("system").len().rows())
    raters = {} if not ratings.raters else dict(
        ratings.frame.group_by("system").agg(pl.col("rater").n_unique()).rows()
    )  # fmt: skip
    usual = {item.system: item for item in practice.systems}
    return tuple(
        AuditedSystem(
            n=int(rated[k]),
            share=float(rated[k] / present[k]) if known else None,
            answers=answers[item.system],
            raters=raters.get(item.system),
            ease=ease[k],
            score=item.estimate,
            low=item.low,
            high=item.high,
            **_places(item, usual[item.system]),
        )
        for item in estimates.systems
        for k in (place[item.system],)
    )


def _few_raters(ratings: Ratings, estimates: Estimates) -> tuple[Note, ...]:
    if estimates.target == "raters" or not 0 < len(ratings.raters) <= MOST_FEW_RATERS:
        return ()
    text = (
        f"with only {len(ratings.raters)} raters, their tastes count as quality, and no interval"
        " shows that"
    )
    return (Note("few-raters", text),)


def _notes(estimates: Estimates, basis: _Basis, *, known: bool, guessed: bool) -> list[Note]:
    """What the numbers rest on."""
    left_out = SAID_OTHERWISE[:1] if known else SAID_OTHERWISE
    notes = [note for note in estimates.notes if note.code not in left_out]
    if basis.target == "texts":
        notes.append(Note(
            "new-units",
            f"intervals are for new {basis.unit}s like the rated ones, treated as a random draw of"
            " their kind",
        ))  # fmt: skip
    if guessed:
        text = "how the segments were chosen is not known; give the sample, or say what to assume"
        notes.append(Note("choice-guessed", text))
    if not known:
        text = "without a scores table, it is not known what was left unrated"
        notes.append(Note("no-test-set", text))
    if basis.unit == "segment" and _about(estimates, basis.unit) == "new-segments":
        notes.append(Note(
            "segments-as-units",
            "a system has no documents, or only one, so each segment counts as a unit; intervals"
            " are too narrow if segments are correlated",
        ))  # fmt: skip
    return notes


# --- judgments


def _judged_systems(
    judgments: Judgments, ranking: Ranking, practice: Ranking
) -> tuple[AuditedSystem, ...]:
    """Systems, best first."""
    frame = judgments.frame
    key = [name for name in ("doc", "seg") if name in frame.columns]
    usual = {item.system: item for item in practice.systems}
    systems = []
    for item in ranking.systems:
        rows = frame.filter((pl.col("left") == item.system) | (pl.col("right") == item.system))
        systems.append(
            AuditedSystem(
                n=rows.select(key).n_unique() if "seg" in key else rows.height,
                answers=rows.height,
                raters=rows["rater"].n_unique() if "rater" in rows.columns else None,
                score=item.score,
                **_places(item, usual[item.system]),
            )
        )
    return tuple(systems)


# --- both


def _need_table(table: object, kind: type[Ratings] | type[Judgments]) -> None:
    name = kind.__name__
    if not isinstance(table, kind):
        raise InputError(
            f"expected {name}, found {type(table).__name__}; read them with"
            f" assay.read_{name.lower()}(...)"
        )


def _places(item: SystemEstimate | SystemRank, usual: SystemRank) -> dict[str, Any]:
    """Where a system stands, and where common practice puts it."""
    names = ("low_rank", "high_rank", "cluster")
    return {
        **{name: getattr(item, name) for name in ("system", "rank", *names)},
        **{f"practice_{name}": getattr(usual, name) for name in names},
    }
