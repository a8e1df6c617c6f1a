"""What was answered of what: coverage, matching, agreement, and how it mirrors the test set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl

from assay.audit.results import AnswerCoverage, PartRepresentation, RaterAgreement, SystemMatching
from assay.designs.population import Population
from assay.errors import InputError
from assay.ranking.counts import Counts
from assay.sampling.summary import (
    SampleShare,
    bin_name,
    domain_shares,
    length_shares,
    position_shares,
)
from assay.stats.agreement import krippendorff_alpha
from assay.tables.answers import Judgments
from assay.tables.tables import Ratings, TestSet

MIN_COMMON_FOR_SD = 10
"""With fewer common segments, a standard deviation of differences is a guess."""


def touched(document: np.ndarray, rated: np.ndarray) -> tuple[int, int]:
    """How many documents have a rated segment, and how many have nothing else."""
    size = np.bincount(document)
    held = np.bincount(document, rated, minlength=len(size))
    return int((held > 0).sum()), int((held == size).sum())


def ratings_coverage(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, unrated: tuple[str, ...], *,
    known: bool,
) -> AnswerCoverage:  # fmt: skip
    """The numbers of what was rated; of how much only where the test set is ``known``."""
    rated = ~np.isnan(scores)
    some = rated.any(axis=0)
    answers = ratings.genuine["score"].len() - ratings.genuine["score"].null_count()
    documents = whole = None
    if test_set.has_documents:
        documents, whole = touched(Population(test_set).layout.document, some)
    return AnswerCoverage(
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


def judgments_coverage(
    judgments: Judgments, systems: Sequence[str], test_set: TestSet | None
) -> tuple[AnswerCoverage, tuple[PartRepresentation, ...]]:
    """Segments and documents judged, and how their lengths mirror the test set's."""
    frame = judgments.frame
    key = [name for name in ("doc", "seg") if name in frame.columns]
    seen = frame.select(key).unique() if "seg" in key else None
    judged = None if test_set is None else _judged(test_set, seen)
    documents = frame["doc"].n_unique() if "doc" in key else None
    of_documents = whole = None
    parts: tuple[PartRepresentation, ...] = ()
    if test_set is not None and judged is not None and test_set.has_documents:
        layout = Population(test_set).layout
        documents, whole = touched(layout.document, judged)
        of_documents = test_set.documents.height
        parts = tuple(
            PartRepresentation("length", bin_name(part.name), part.full, part.sample)
            for part in length_shares(layout, judged)
            if part.full
        )
    unjudged = () if test_set is None else tuple(
        name for name in test_set.systems if name not in systems
    )  # fmt: skip
    coverage = AnswerCoverage(
        answers=len(judgments),
        systems=len(systems),
        unrated_systems=unjudged,
        segments=None if seen is None else seen.height,
        of_segments=None if judged is None else len(judged),
        documents=documents,
        of_documents=of_documents,
        whole_documents=whole,
        outputs=None,
        of_outputs=None,
        per_output=None,
        raters=frame["rater"].n_unique() if "rater" in frame.columns else None,
    )
    return coverage, parts


def _judged(test_set: TestSet, seen: pl.DataFrame | None) -> np.ndarray:
    """Which segments of the test set were judged."""
    if seen is None:
        raise InputError(
            "the judgments do not name segments (no column seg), so the scores say nothing about"
            " them; leave the scores out"
        )
    key = [name for name in seen.columns if name in test_set.key]
    numbered = test_set.segments.select(test_set.key).with_row_index("_row")
    placed = seen.join(numbered, on=key, how="left")
    unknown = placed.filter(pl.col("_row").is_null())
    if unknown.height:
        raise InputError(
            f"segment '{unknown['seg'][0]}' of the judgments is not in the scores, and"
            f" {unknown.height - 1} others; give the scores of this test set, or none"
        )
    if placed.height > seen.height:
        raise InputError("a seg of the judgments occurs in several documents; add doc to them")
    judged = np.zeros(numbered.height, dtype=bool)
    judged[placed["_row"].to_numpy()] = True
    return judged


def ratings_matching(scores: np.ndarray) -> SystemMatching:
    """How far systems were rated on the same segments, and what it costs where they were not.

    Over all pairs with enough common segments: sqrt of the sum of var(x_i) + var(x_j) over that of
    var(x_i - x_j), all on the common ones.
    """
    rated = ~np.isnan(scores)
    shares, separate, paired = [], 0.0, 0.0
    for i, j in combinations(range(len(scores)), 2):
        both = rated[i] & rated[j]
        shares.append(both.sum() / min(rated[i].sum(), rated[j].sum()))
        if both.sum() >= MIN_COMMON_FOR_SD:
            left, right = scores[i, both], scores[j, both]
            separate += float(left.var() + right.var())
            paired += float((left - right).var())
    return SystemMatching(
        pairs=len(shares),
        segments=int(rated.any(axis=0).sum()),
        complete=int(rated.all(axis=0).sum()),
        common=float(np.median(shares)),
        apart=sum(bool(share < 0.5) for share in shares),
        sd_ratio=float(np.sqrt(separate / paired)) if paired > 0 else None,
    )


def judgments_matching(counts: Counts) -> SystemMatching:
    """How often the systems of a pair were compared."""
    i, j = np.triu_indices(len(counts.systems), 1)
    met = (counts.wins + counts.wins.T + counts.ties)[i, j]
    return SystemMatching(
        pairs=len(met),
        never=int((met == 0).sum()),
        least=int(met.min()),
        typical=float(np.median(met)),
        most=int(met.max()),
    )


def segment_ease(scores: np.ndarray, sign: float) -> list[float | None]:
    """By how much better each system looks because its segments were easier.

    In score = system + segment, by least squares, it is the mean of the segments' effects over the
    system's segments less that over all ratings. 0 where all are rated alike, None where no
    chain of common segments connects all systems.
    """
    rated = (~np.isnan(scores)).astype(float)
    x = np.where(rated > 0, sign * scores, 0.0)
    raters, n = np.maximum(rated.sum(axis=0), 1), rated.sum(axis=1)
    rest = rated * (x - x.sum(axis=0) / raters)
    normal = np.diag(n) - (rated / raters) @ rated.T
    effect, _, rank, _ = np.linalg.lstsq(normal, rest.sum(axis=1), rcond=1e-9)
    if rank < len(scores) - 1:
        return [None] * len(scores)
    ease = x.sum(axis=1) / n - effect
    ease -= float(n @ ease) / float(n.sum())
    return np.where(np.abs(ease) < 1e-9, 0.0, ease).tolist()  # type: ignore[no-any-return]


def represent(test_set: TestSet, rated: np.ndarray) -> tuple[PartRepresentation, ...]:
    """Shares of lengths, positions and domains, averaged over systems by what each has rated."""
    layout = Population(test_set).layout
    weight = rated.sum(axis=1) / rated.sum()
    tables: list[tuple[Literal["length", "position", "domain"], list[list[SampleShare]]]] = []
    if test_set.has_documents and len(layout.lengths) > 1:
        tables.append(("length", [length_shares(layout, row) for row in rated]))
        tables.append(("position", [position_shares(layout, row) for row in rated]))
    tables.append(("domain", [domain_shares(test_set, row) for row in rated]))
    parts = []
    for what, rows in tables:
        for shares in zip(*rows, strict=True):
            name, full = shares[0].name, shares[0].full
            mean = float(sum(w * share.sample for w, share in zip(weight, shares, strict=True)))
            if full or mean:
                shown = bin_name(name) if what == "length" else name
                parts.append(PartRepresentation(what, shown, full, mean))
    return tuple(parts)


def ratings_agreement(ratings: Ratings, key: tuple[str, ...]) -> RaterAgreement | None:
    """Agreement on the scores of outputs; None where raters are not named."""
    if not ratings.raters:
        return None
    rows = ratings.genuine.drop_nulls("score")
    unit = rows.select(pl.struct("system", *key).rank("dense").cast(pl.Int64) - 1).to_series()
    several = int((unit.value_counts()["count"] > 1).sum())
    alpha = krippendorff_alpha(rows["score"].to_numpy(), unit.to_numpy())
    return RaterAgreement(rows["rater"].n_unique(), several, _known(alpha))


def judgments_agreement(judgments: Judgments, counts: Counts) -> RaterAgreement | None:
    """Agreement on who wins (or a tie) between raters, and of raters with themselves."""
    frame = judgments.frame
    if not {"rater", "seg"} <= set(frame.columns):
        return None
    swap = counts.left > counts.right
    low, high = np.where(swap, counts.right, counts.left), np.where(swap, counts.left, counts.right)
    key = [name for name in ("doc", "seg") if name in frame.columns]
    rows = frame.select(*key, "rater").with_columns(
        low=low, high=high, winner=np.where(swap, -counts.outcome, counts.outcome)
    )
    item = [*key, "low", "high"]
    once = rows.unique([*item, "rater"], keep="first", maintain_order=True)
    several, alpha = _nominal_alpha(once, item)
    repeated, within = _nominal_alpha(rows, [*item, "rater"])
    return RaterAgreement(frame["rater"].n_unique(), several, alpha, repeated, within)


def _nominal_alpha(rows: pl.DataFrame, item: list[str]) -> tuple[int, float | None]:
    """How many items have two values, and Krippendorff's alpha of them."""
    several = rows.filter(pl.len().over(item) > 1)
    if not several.height:
        return 0, None
    unit = several.select(pl.struct(item).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    values = several["winner"].to_numpy().astype(float)
    alpha = krippendorff_alpha(values, unit, metric="nominal")
    return len(np.unique(unit)), _known(alpha)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
