"""Choose the segments to rate next from the ratings so far.

``docs-incr-human`` and ``docs-incr-metrics`` are in :mod:`assay.stats.incremental` (saldias2022,
section 4.1). ``adaptive`` spends more on close systems: all systems are rated on the same snippets
for the first third of the budget; then batches go only to systems in a close pair, with |z| < 1,
where z is the matched difference over its standard error. All systems follow one common order, so
any two are compared on the segments rated for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.designs.base import find_design
from assay.designs.population import Population
from assay.errors import InputError, OptionError, need_count, need_known
from assay.results import Note, Result, signature
from assay.sampling.draw import budget_size
from assay.stats.incremental import choose_next
from assay.stats.random import Rng, seeded
from assay.tables.tables import Ratings, Sample, TestSet, places_in

METHODS = ("docs-incr-human", "docs-incr-metrics", "adaptive")
FIRST_SHARE = 1 / 3
"""The share of the budget in which all systems are rated."""
CLOSE_Z = 1.0
"""A pair with |z| below this is close."""
NO_PROBABILITIES = Note(
    "no-probabilities",
    "earlier ratings decide which segments are chosen, so their inclusion probabilities are"
    " unknown: report the stratified mean over documents, without an interval",
)
SEQUENTIAL = Note(
    "sequential",
    "ratings decide what is rated next, so ordinary intervals are too narrow; compare two systems"
    " on the segments rated for both, with a sequential correction",
)


@dataclass(frozen=True, slots=True)
class NextSegment:
    """One segment to rate, for one system or (``system`` None) for all of them."""

    system: str | None
    doc: str | None
    seg: str
    stratum: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class NextSegments(Result, kind="next"):
    """What to rate next, in this order, and why; empty if nothing is left to do (see notes)."""

    segments: tuple[NextSegment, ...]
    method: str
    rated: int
    pool: int
    seed: int | None
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The settings behind the choice, in one line."""
        return signature("next", self.method, rated=f"{self.rated}/{self.pool}", seed=self.seed)

    def to_frame(self) -> pl.DataFrame:
        """One row per segment, or per segment and system."""
        names = NextSegment.__slots__
        rows = [[getattr(item, name) for name in names] for item in self.segments]
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def next_segments(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None = None,
    method: str = "auto",
    count: int = 1,
    budget: int | str | None = None,
    rng: Rng = None,
) -> NextSegments:
    """Choose the next segments to rate.

    ``docs-incr-human`` and ``docs-incr-metrics`` (saldias2022, section 4.1) choose ``count``
    segments for all systems by optimal allocation over documents, from the sample or, without one,
    from the whole test set; with several systems they use the mean score. ``adaptive`` follows the
    order of a matched sample. After the first third of the ``budget`` (segments per system on
    average, by default the size of the sample) it names only systems in a close pair, with the next
    ``count`` segments of each. ``auto`` is adaptive with several systems and a matched sample, else
    docs-incr-human.

    >>> import assay
    >>> world = assay.simulate(documents=20, systems=3, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="10%", rng=7)
    >>> result = next_segments(world.test_set, world.rate(drawn), method="docs-incr-human", rng=1)
    >>> len(result.segments), result.segments[0].system, result.method
    (1, None, 'docs-incr-human')
    """
    need_count("count", count, "segments")
    need_known("method", method, ("auto", *METHODS))
    if method == "auto":
        compare = len(test_set.systems) > 1 and sample is not None and sample.matched
        method = "adaptive" if compare else "docs-incr-human"
    if method == "adaptive":
        return _adaptive(test_set, ratings, sample, count, budget)
    if budget is not None:
        raise OptionError("budget", budget, f"means nothing to {method}", "leave it out")
    return _incremental(test_set, ratings, sample, method, count, rng)


def _incremental(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, method: str, count: int, rng: Rng
) -> NextSegments:
    _need_strata(test_set, method)
    generator, seed = seeded(rng)
    scores, inside, notes = _pool(test_set, ratings, sample)
    pool = np.flatnonzero(inside)
    document = Population(test_set).layout.document[pool]
    x = _segment_scores(scores)[pool]
    strata = np.unique(document, return_inverse=True)[1]
    features = _features(test_set)[pool] if method == "docs-incr-metrics" else None
    chosen = choose_next(x, strata, count, generator, features=features)
    rated = ~np.isnan(x)
    partly = (np.isnan(scores) & test_set.present)[:, pool[rated]].any(axis=0)
    if partly.any():
        text = f"{int(partly.sum())} segments are rated for some of their systems only"
        notes.append(Note("partly-rated", text))
    if not chosen:
        notes.append(_all_rated(sample))
    rows = []
    for item in chosen:
        place = int(pool[item.segment])
        why = (
            f"document has {item.rated} of {item.total - 1} ratings, its share of the next"
            f" {item.total} is {item.target:.2f}"
        )
        rows.append(_row(test_set, place, None, test_set.segments["doc"][place], why))
    notes.append(NO_PROBABILITIES)
    return NextSegments(tuple(rows), method, int(rated.sum()), len(pool), seed, tuple(notes))


def _need_strata(test_set: TestSet, method: str) -> None:
    if not test_set.has_documents:
        raise InputError(
            f"{method} allocates ratings to documents, but the scores have no doc column; add one,"
            " or draw a sample of segments and rate it in its order"
        )
    if method == "docs-incr-metrics" and not test_set.metrics:
        raise InputError(
            "docs-incr-metrics predicts ratings from metrics, but the scores have none; add metric"
            " columns or use docs-incr-human"
        )


def _adaptive(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, count: int, budget: int | str | None
) -> NextSegments:
    drawn = _need_matched(test_set, sample)
    scores, _, notes = _pool(test_set, ratings, drawn)
    order, cluster, stratum = _sample_order(test_set, drawn)
    n = _budget(test_set, budget, len(order))
    present = test_set.present.astype(np.int64)
    step = next_step(scores[:, order], test_set.present[:, order], cluster, present @ present.T, n)
    rated = int((~np.isnan(scores[:, order])).sum())
    left = n * len(scores) - rated
    rows = [
        _row(test_set, int(order[k]), test_set.systems[s], stratum[k], _reason(step, s, test_set))
        for k, s in _places(step, count)[: max(left, 0)]
    ]
    notes += [*_progress(step, drawn, rated, n * len(scores)), SEQUENTIAL]
    return NextSegments(
        tuple(rows), "adaptive", rated, int(test_set.present[:, order].sum()), None, tuple(notes)
    )


def _budget(test_set: TestSet, budget: int | str | None, drawn: int) -> int:
    """The budget in segments per system on average, by default the whole sample."""
    if budget is None:
        return drawn
    n = budget_size(Population(test_set), find_design("segments"), budget)
    if n > drawn:
        raise OptionError(
            "budget", budget, f"is {n} segments and the sample has {drawn}",
            "give at most that, or enlarge the sample",
        )  # fmt: skip
    return n


def _need_matched(test_set: TestSet, sample: Sample | None) -> Sample:
    if len(test_set.systems) < 2:
        raise InputError("adaptive compares systems and the scores have one; use docs-incr-human")
    if sample is None:
        raise InputError("adaptive follows the order of a sample; give a sample")
    if not sample.matched:
        raise InputError(
            "adaptive compares systems on the same segments, and in this sample every system has"
            " its own; draw a matched one"
        )
    if np.ptp(sample.frame["probability"].to_numpy()) > 1e-9:
        raise InputError(
            f"adaptive compares plain means, and the segments of a {sample.design.name} sample have"
            " different probabilities; draw one with the design snippets or segments"
        )
    return sample


def _pool(
    test_set: TestSet, ratings: Ratings, sample: Sample | None
) -> tuple[np.ndarray, np.ndarray, list[Note]]:
    """The scores to use (systems x segments), which segments may be chosen, and notes."""
    scores = ratings.matrix(test_set)
    notes = list(dict.fromkeys((*test_set.notes, *ratings.notes)))
    if sample is None:
        return scores, np.ones(scores.shape[1], dtype=bool), notes
    drawn = ~np.isnan(sample.probabilities(test_set))
    extra = int((~np.isnan(scores) & ~drawn).sum())
    if extra:
        text = f"{extra} rated outputs are outside the sample and not used"
        notes.append(Note("outside-the-sample", text))
    return np.where(drawn, scores, np.nan), drawn.any(axis=0), notes


def _segment_scores(scores: np.ndarray) -> np.ndarray:
    """The mean over systems of their centred scores; NaN for a segment without a score."""
    known = ~np.isnan(scores)
    filled = np.where(known, scores, 0.0)
    centres = filled.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    total = np.where(known, scores - centres, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _features(test_set: TestSet) -> np.ndarray:
    """Metrics as features (segments x metrics): standardised means over systems, 0 if missing."""
    columns = []
    for name in test_set.metrics:
        values = _segment_scores(test_set.matrix(name))
        known = ~np.isnan(values)
        spread = values[known].std() if known.any() else 0.0
        columns.append(np.where(known, values, 0.0) / (spread if spread > 0 else 1.0))
    return np.stack(columns, axis=1)


def _sample_order(
    test_set: TestSet, sample: Sample
) -> tuple[np.ndarray, np.ndarray, list[str | None]]:
    """The positions of the drawn segments in rating order, their snippets and strata."""
    frame = sample.frame
    if "order" in frame.columns:
        frame = frame.sort("order", maintain_order=True)
    order = places_in(frame, test_set)
    cluster = np.arange(len(order))
    if "snippet" in frame.columns:
        cluster = np.unique(frame["snippet"].to_numpy(), return_inverse=True)[1]
    strata = frame.get_column("stratum", default=None)
    return order, cluster, [None] * len(order) if strata is None else strata.to_list()


def _places(step: NextStep, count: int) -> list[tuple[int, int]]:
    """The next places and systems: ``count`` segments of each system, or of all together."""
    outputs = step.outputs
    if step.phase == "first":
        wanted = np.flatnonzero(outputs.any(axis=0))[:count]
        return [(int(k), int(s)) for k in wanted for s in np.flatnonzero(outputs[:, k])]
    return sorted(
        (int(k), s) for s in range(len(outputs)) for k in np.flatnonzero(outputs[s])[:count]
    )


def _reason(step: NextStep, system: int, test_set: TestSet) -> str:
    if step.phase == "first":
        return "the first third of the budget is rated for all systems"
    pairs = zip(*np.triu_indices(len(test_set.systems), 1), step.z, step.pairs, strict=True)
    rivals = ", ".join(
        f"{test_set.systems[j if system == i else i]} (|z| = {abs(z):.2f})"
        for i, j, z, counts in pairs
        if counts and system in (i, j)
    )
    return f"close to {rivals}" if step.phase == "close" else f"least sure: against {rivals}"


def _progress(step: NextStep, sample: Sample, rated: int, total: int) -> list[Note]:
    notes = [Note("rated", f"{rated} of {total} outputs of the budget are rated")]
    if step.phase == "spent":
        notes.append(Note("budget-spent", "the budget is spent"))
    if step.phase == "done":
        doubt = int((np.abs(step.z) < CLOSE_Z).sum())
        decided = Note("nothing-in-doubt", "no pair is close any more")
        notes.append(_all_rated(sample) if doubt or rated >= total else decided)
        if doubt:
            text = f"{doubt} of {len(step.z)} pairs are still close (|z| < {CLOSE_Z:g})"
            notes.append(Note("still-close", text))
    return notes


def _all_rated(sample: Sample | None) -> Note:
    text = "every segment of the test set is rated: nothing left to choose"
    if sample is not None:
        text = text.replace("test set", "sample") + "; enlarge the sample to go on"
    return Note("all-rated", text)


def _row(
    test_set: TestSet, position: int, system: str | None, stratum: str | None, reason: str
) -> NextSegment:
    row = test_set.segments.row(position, named=True)
    return NextSegment(system, row.get("doc"), str(row["seg"]), stratum, reason)


class NextStep(NamedTuple):
    """The next step of an adaptive campaign.

    phase: first (all systems), close (systems in close pairs), surest (no pair is close, so the
    least certain pair), spent (the budget is used up), done (nothing left can change an order).
    outputs: the outputs that may be rated (systems x segments). z and pairs: the reasons.
    """

    phase: str
    outputs: np.ndarray
    z: np.ndarray
    pairs: np.ndarray


def next_step(
    scores: np.ndarray, present: np.ndarray, cluster: np.ndarray, population: np.ndarray, n: int
) -> NextStep:
    """Decide the next step from the ratings so far.

    ``scores`` (NaN: not rated) and ``present`` are systems x segments in rating order, ``cluster``
    numbers the snippet of every segment, ``population`` is that of :func:`pair_z`.
    """
    missing = present & np.isnan(scores)
    systems = len(scores)
    z = pair_z(scores, cluster, population)
    none = NextStep("done", np.zeros_like(missing), z, np.zeros(len(z), dtype=bool))
    if not missing.any():
        return none
    if (~np.isnan(scores)).sum() >= n * systems:
        return none._replace(phase="spent")
    edge = min(int(np.ceil(FIRST_SHARE * n - 1e-9)), len(cluster))
    while edge < len(cluster) and cluster[edge] == cluster[edge - 1]:
        edge += 1
    if missing[:, :edge].any():
        early = missing & (np.arange(len(cluster)) < edge)
        return none._replace(phase="first", outputs=early)
    rated = (~np.isnan(scores)).sum(axis=1)
    chosen, pairs = still_open(z, rated, missing.any(axis=1), CLOSE_Z)
    if not chosen.any():
        return none
    phase = "close" if np.abs(z[pairs]).min() < CLOSE_Z else "surest"
    return NextStep(phase, missing & chosen[:, None], z, pairs)


def pair_z(scores: np.ndarray, cluster: np.ndarray, population: np.ndarray) -> np.ndarray:
    """Z of every pair (i < j) on the segments rated for both (NaN in ``scores``: not rated).

    ``cluster`` numbers the snippet of every segment; ``population[i, j]`` is the number of segments
    that both systems translated.

    >>> rated = np.array([[1.0, 2.0, 2.0, np.nan], [0.0, 0.0, 2.0, 1.0]])
    >>> pair_z(rated, np.arange(4), np.full((2, 2), 12)).round(3).tolist()
    [2.0]
    """
    values = []
    for i, j in zip(*np.triu_indices(len(scores), 1), strict=True):
        gap = scores[i] - scores[j]
        both = ~np.isnan(gap)
        sizes = np.bincount(cluster[both]).astype(float)
        totals = np.bincount(cluster[both], gap[both])
        sums = (totals.sum(), (totals**2).sum(), (totals * sizes).sum(), (sizes**2).sum())
        counts = (both.sum(), (sizes > 0).sum(), population[i, j])
        values.append(float(matched_z(*np.array([*sums, *counts], dtype=float))))
    return np.array(values)


def still_open(
    z: np.ndarray, rated: np.ndarray, left: np.ndarray, close: float
) -> tuple[np.ndarray, np.ndarray]:
    """The systems to rate further, and the pairs (i < j) that are the reason.

    They are the systems with anything ``left`` in a pair with |z| < ``close``; if one of a pair has
    fewer ratings, only that one. If no pair is close, the pair with the smallest finite |z| counts.
    """
    i, j = np.triu_indices(len(rated), 1)
    behind = np.where(rated[i] <= rated[j], left[i], False)
    other = np.where(rated[j] <= rated[i], left[j], False)
    size = np.where((behind | other) & np.isfinite(z), np.abs(z), np.inf)
    pairs = size < close
    if not pairs.any() and np.isfinite(size).any():
        pairs = size == size.min()
    chosen = np.zeros(len(rated), dtype=bool)
    chosen[i[pairs & behind]] = True
    chosen[j[pairs & other]] = True
    return chosen, pairs


def matched_z(
    gap: np.ndarray, gap_square: np.ndarray, gap_size: np.ndarray, size_square: np.ndarray,
    n: np.ndarray, clusters: np.ndarray, population: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Z of matched differences on this test set, from sums over clusters.

    With cluster totals g_c of the difference and sizes m_c, the variance of the mean difference d
    is K/(K-1) * sum_c (g_c - m_c d)^2 / n^2 * (1 - n/N). z is infinite if everything is rated; it
    is 0 (close) if nothing is known: with one cluster, or without any difference so far.
    """
    mean = gap / np.maximum(n, 1)
    square = gap_square - 2 * mean * gap_size + mean**2 * size_square
    square = np.where(square > 1e-12 * gap_square, square, 0.0)
    square = square * clusters / np.maximum(clusters - 1, 1) * (1 - n / population)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = mean / (np.sqrt(square) / n)
    z = np.where(square > 0, z, np.where(np.abs(gap) > 0, np.copysign(np.inf, gap), 0.0))
    return np.where(n >= population, np.inf, np.where(clusters > 1, z, 0.0))
