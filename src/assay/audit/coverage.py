"""What was rated of what: coverage, common ground, and whether it mirrors the test set."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from assay.audit.results import Coverage, Matching, Raters, Representation
from assay.designs.population import Population
from assay.sampling.representation import (
    bin_name,
    domain_shares,
    length_shares,
    position_shares,
)
from assay.stats.agreement import krippendorff_alpha
from assay.tables.ratings import Ratings
from assay.tables.test_set import TestSet

FEW = 10
"""With fewer common segments, a standard deviation of differences is a guess."""


def touched(document: np.ndarray, rated: np.ndarray) -> tuple[int, int]:
    """How many documents have a rated segment, and how many have nothing else."""
    size = np.bincount(document)
    held = np.bincount(document, rated, minlength=len(size))
    return int((held > 0).sum()), int((held == size).sum())


def cover(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, unrated: tuple[str, ...], *,
    known: bool,
) -> Coverage:  # fmt: skip
    """The numbers of what was rated; of how much only where the test set is ``known``."""
    rated = ~np.isnan(scores)
    some = rated.any(axis=0)
    answers = ratings.genuine["score"].len() - ratings.genuine["score"].null_count()
    documents = whole = None
    if test_set.has_documents:
        documents, whole = touched(Population(test_set).layout.document, some)
    return Coverage(
        answers=answers,
        systems=len(test_set.systems),
        unrated_systems=unrated,
        segments=int(some.sum()),
        of_segments=len(some) if known else None,
        documents=documents,
        of_documents=test_set.documents.height if known and test_set.has_documents else None,
        whole_documents=whole if known else None,
        outputs=int(rated.sum()),
        of_outputs=int(test_set.present.sum()) if known else None,
        per_output=answers / int(rated.sum()),
        raters=len(ratings.raters) or None,
    )


def match(scores: np.ndarray) -> Matching:
    """How far systems were rated on the same segments, and what it costs where they were not.

    Over all pairs with enough common segments: sqrt of the sum of var(x_i) + var(x_j) over that of
    var(x_i - x_j), all on the common ones.
    """
    rated = ~np.isnan(scores)
    shares, own, paired = [], 0.0, 0.0
    for i, j in combinations(range(len(scores)), 2):
        both = rated[i] & rated[j]
        shares.append(both.sum() / min(rated[i].sum(), rated[j].sum()))
        if both.sum() >= FEW:
            left, right = scores[i, both], scores[j, both]
            own += float(left.var() + right.var())
            paired += float((left - right).var())
    return Matching(
        pairs=len(shares),
        segments=int(rated.any(axis=0).sum()),
        complete=int(rated.all(axis=0).sum()),
        common=float(np.median(shares)),
        apart=sum(bool(share < 0.5) for share in shares),
        sd_ratio=float(np.sqrt(own / paired)) if paired > 0 else None,
    )


def luck(scores: np.ndarray, sign: float) -> np.ndarray:
    """By how much better systems look because their segments were easier.

    In score = system + segment, by least squares, it is the mean of the segments' effects over the
    system's own segments less that over all ratings. 0 where all are rated alike, NaN where no
    chain of common segments connects all systems.
    """
    rated = (~np.isnan(scores)).astype(float)
    x = np.where(rated > 0, sign * scores, 0.0)
    raters, n = np.maximum(rated.sum(axis=0), 1), rated.sum(axis=1)
    rest = rated * (x - x.sum(axis=0) / raters)
    normal = np.diag(n) - (rated / raters) @ rated.T
    effect, _, rank, _ = np.linalg.lstsq(normal, rest.sum(axis=1), rcond=1e-9)
    if rank < len(scores) - 1:
        return np.full(len(scores), np.nan)
    ease = x.sum(axis=1) / n - effect
    found = ease - float(n @ ease) / float(n.sum())
    return np.asarray(np.where(np.abs(found) < 1e-9, 0.0, found))  # rounding is no luck


def represent(test_set: TestSet, rated: np.ndarray) -> tuple[Representation, ...]:
    """Shares of lengths, positions and domains, averaged over systems by what each has rated."""
    layout = Population(test_set).layout
    kinds = [("domain", [domain_shares(test_set, row) for row in rated])]
    if test_set.has_documents and len(layout.lengths) > 1:
        kinds = [
            ("length", [length_shares(layout, row) for row in rated]),
            ("position", [position_shares(layout, row) for row in rated]),
            *kinds,
        ]
    weight = rated.sum(axis=1) / rated.sum()
    found = []
    for what, tables in kinds:
        for parts in zip(*tables, strict=True):
            share = float(sum(w * part.sample for w, part in zip(weight, parts, strict=True)))
            if parts[0].full or share:
                found.append(
                    Representation(
                        what,
                        bin_name(parts[0].name) if what == "length" else parts[0].name,
                        parts[0].full,
                        share,
                    )
                )
    return tuple(found)


def agreement(ratings: Ratings, key: tuple[str, ...]) -> Raters | None:
    """Krippendorff's alpha of outputs with several raters; None where raters are not named."""
    import polars as pl

    if not ratings.raters:
        return None
    rows = ratings.genuine.drop_nulls("score")
    unit = rows.select(pl.struct("system", *key).rank("dense").cast(pl.Int64) - 1).to_series()
    several = int((unit.value_counts()["count"] > 1).sum())
    score, numbers = rows["score"].to_numpy(), unit.to_numpy()
    return Raters(rows["rater"].n_unique(), several, krippendorff_alpha(score, numbers))
