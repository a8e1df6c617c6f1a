"""``audit_ratings``: a finished campaign of ratings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from assay.audit.coverage import agreement, cover, luck, match, represent
from assay.audit.differences import Order, audited_pairs, in_order, with_apart
from assay.audit.findings import ratings_findings, ratings_next
from assay.audit.power import ratings_power
from assay.audit.published import (
    Distinction,
    judge,
    plain_order,
    read_published,
    unclaimed,
    verdicts,
)
from assay.audit.results import Audit, AuditedSystem
from assay.designs.population import Population, documents_of
from assay.errors import InputError
from assay.estimation.estimate import estimate
from assay.estimation.results import Estimates
from assay.ranking.ratings import rank_ratings
from assay.ranking.results import Ranking
from assay.stats.random import Rng, seeded
from assay.tables.check import need_one_lp
from assay.tables.ratings import Ratings
from assay.tables.raw import Source
from assay.tables.sample import Sample
from assay.tables.test_set import TestSet

FEW_RATERS = 5
"""With so few raters, their taste is worth a note."""

WHOLE = 0.9
"""Ratings of documents that are rated to this part or more were chosen by document."""


def audit_ratings(
    ratings: Ratings,
    test_set: TestSet | None = None,
    *,
    published: Source | None = None,
    sample: Sample | None = None,
    assume: str | None = None,
    target: str = "new-documents",
    practice: Literal["mean", "z"] = "mean",
    level: float = 0.95,
    rng: Rng = None,
) -> Audit:
    """Audit a finished campaign of ratings: coverage, matching, power, and what holds.

    Every pair of systems is compared by its mean difference on the segments rated for both, with
    the documents as units, as :func:`assay.estimate` does; where two systems share less than half
    of their segments, by the difference of their means over segments of their own. Without
    documents every segment is a unit.

    test_set: what there was to rate; without it, the segments that were rated for any system.
    published: a table of what was claimed, with columns ``system`` and ``cluster`` or ``rank``, or
    ``better`` and ``worse``; without it, the order of the plain means is audited.
    sample, assume: how segments were chosen, as in :func:`assay.estimate`; where neither is given
    and not everything is rated, they are taken for random, or random documents where those are
    rated whole, and the result says so. target: what a distinction is about, new documents
    like these (the default), or this test set only. practice: what the ranking as done at WMT goes
    by, the mean or the mean of scores standardised per rater (``z``).

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> found = assay.audit_ratings(world.rate(), world.test_set, rng=1)
    >>> found.published.claims, found.published.hold, found.matched.apart
    (3, 3, 0)
    """
    generator, seed = seeded(rng)
    ratings = _genuine(ratings)
    known = test_set is not None
    whole = test_set or _rated_set(ratings)
    given, ratings, unrated = _rated_systems(whole, ratings, metrics=sample is not None)
    scores = ratings.matrix(given)
    rated = ~np.isnan(scores)
    _need_two_segments(given, rated)
    assumed = _assumption(given, rated, sample, assume)
    basis = _basis(given, ratings, rated, target, sample)
    estimates = estimate(
        basis.test_set, basis.ratings, sample=sample, assume=assumed, method="mean", level=level,
        target=basis.target,
    )  # fmt: skip
    rows = dict(zip(given.systems, basis.ratings.matrix(basis.test_set), strict=True))
    estimates, apart = with_apart(estimates, rows, basis.document, sampled=sample is not None)
    order = Order(estimates)
    estimates = in_order(estimates, order)
    pairs = audited_pairs(estimates, apart, level)
    ranking = rank_ratings(ratings, method=practice, level=level, rng=generator)
    claims = judge(_distinctions(published, rows, ratings.better), pairs)
    covered = cover(given, ratings, scores, unrated, known=known)
    result = Audit(
        source="ratings",
        findings=(),
        coverage=covered,
        matched=match(scores),
        representation=represent(given, rated) if known else (),
        systems=_systems(given, ratings, scores, estimates, order, ranking, known=known),
        pairs=pairs,
        published=verdicts(claims, given=published is not None),
        claims=claims,
        power=ratings_power(
            pairs, estimates.differences, answers=covered.answers, level=level,
            target=basis.target, room=float(given.present.sum() / rated.sum()),
        ),
        raters=agreement(ratings, given.key),
        unit=basis.unit,
        blocks=len(np.unique(basis.document[_any(rows)])),
        assumption=estimates.design,
        target=_target(basis),
        practice=f"wilcoxon {practice}",
        better=ratings.better,
        level=level,
        sides=2,
        seed=seed,
        notes=(
            *_notes(estimates, basis, apart, known=known, guessed=assumed != assume),
            *_few_raters(ratings),
            *unclaimed(claims, given.systems),
        ),
    )  # fmt: skip
    return replace(result, findings=ratings_findings(result), next=ratings_next(result))


@dataclass(frozen=True, slots=True)
class _Basis:
    """What pairs are compared on: the test set by its units, and their number for each segment."""

    test_set: TestSet
    ratings: Ratings
    document: np.ndarray
    unit: str
    target: str


def _genuine(ratings: Ratings) -> Ratings:
    """Without attention checks and rows that have no score; two systems or more."""
    if not isinstance(ratings, Ratings):
        raise InputError(
            f"{type(ratings).__name__} where Ratings belong; read them with assay.read_ratings(...)"
        )
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
            raise InputError(
                f"{name} is rated on one segment, which says nothing about others; rate more, or"
                " leave it out with --exclude"
            )


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
    return "documents" if np.median(held) >= WHOLE else "random"


def _basis(
    test_set: TestSet, ratings: Ratings, rated: np.ndarray, target: str, sample: Sample | None
) -> _Basis:
    """By documents; where they say nothing, by segments, each taken as a document of its own."""
    document = documents_of(test_set)
    several = all(len(np.unique(document[row])) > 1 for row in rated)
    if test_set.has_documents and several:
        return _Basis(test_set, ratings, document, "document", target)
    numbers = np.arange(len(document))
    if target != "new-documents":
        return _Basis(test_set, ratings, numbers, "segment", target)
    if sample is not None:
        # A design may speak of documents, so they cannot be renamed under it.
        return _Basis(test_set, ratings, numbers, "segment", "test-set")
    names = [name for name in ("doc", "seg") if name in test_set.key]
    single = pl.concat_str(names, separator="\t")
    own = replace(test_set, frame=test_set.frame.with_columns(doc=single))
    placed = replace(ratings, frame=ratings.frame.with_columns(doc=single))
    return _Basis(own, placed, documents_of(own), "segment", target)


def _target(basis: _Basis) -> str:
    new = basis.target == "new-documents"
    return f"new-{basis.unit}s" if new else basis.target


def _any(rows: dict[str, np.ndarray]) -> np.ndarray:
    return np.asarray((~np.isnan(np.stack(list(rows.values())))).any(axis=0))


def _distinctions(
    published: Source | None, rows: dict[str, np.ndarray], better: str
) -> list[Distinction]:
    if published is not None:
        return read_published(published, list(rows))
    return plain_order({name: float(np.nanmean(row)) for name, row in rows.items()}, better)


def _systems(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, estimates: Estimates, order: Order,
    ranking: Ranking, *, known: bool,
) -> tuple[AuditedSystem, ...]:  # fmt: skip
    """Systems, best first."""
    place = {name: k for k, name in enumerate(test_set.systems)}
    own = luck(scores, 1.0 if ratings.better == "higher" else -1.0)
    rated, present = (~np.isnan(scores)).sum(axis=1), test_set.present.sum(axis=1)
    counts = dict(ratings.frame.group_by("system").len().rows())
    who = {} if not ratings.raters else dict(
        ratings.frame.group_by("system").agg(pl.col("rater").n_unique()).rows()
    )  # fmt: skip
    usual = {item.system: item for item in ranking.systems}
    found = []
    for item in estimates.systems:
        name, k = item.system, place[item.system]
        found.append(
            AuditedSystem(
                system=name,
                n=int(rated[k]),
                share=float(rated[k] / present[k]) if known else None,
                answers=counts[name],
                raters=who.get(name),
                luck=float(own[k]),
                score=item.estimate,
                low=item.low,
                high=item.high,
                rank=order.rank[name],
                low_rank=order.low[name],
                high_rank=order.high[name],
                cluster=order.cluster[name],
                practice_low_rank=usual[name].low_rank,
                practice_high_rank=usual[name].high_rank,
                practice_cluster=usual[name].cluster,
            )
        )
    sign = 1 if ratings.better == "higher" else -1
    return tuple(sorted(found, key=lambda item: (item.rank, -sign * item.score, item.system)))


def _few_raters(ratings: Ratings) -> tuple[str, ...]:
    if not 0 < len(ratings.raters) <= FEW_RATERS:
        return ()
    return (
        f"{len(ratings.raters)} raters: what they prefer as persons counts as quality, and no"
        " interval shows it",
    )


def _notes(
    estimates: Estimates, basis: _Basis, apart: set[frozenset[str]], *, known: bool, guessed: bool
) -> tuple[str, ...]:
    """What the numbers rest on."""
    left_out = ("intervals are for new", *(() if known else ("everything is rated",)))
    notes = [line for line in estimates.notes if not line.startswith(left_out)]
    if basis.target == "new-documents":
        notes.append(
            f"intervals are for new {basis.unit}s like the rated ones, as if these were drawn at"
            " random from all of their kind"
        )
    if guessed:
        notes.append("how segments were chosen is not known: give the sample, or state it (assume)")
    if not known:
        notes.append("no scores are given, so it is not known what was left unrated")
    if basis.unit == "segment":
        notes.append(
            "there are no documents, or one only, for some system: every segment is a unit, which"
            " is too sure where segments hang together"
        )
    if apart:
        notes.append(
            f"{len(apart)} pairs have less than half of their segments in common and are compared"
            " by the means of each system's own segments"
        )
    return tuple(notes)
