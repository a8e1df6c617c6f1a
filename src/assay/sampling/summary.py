"""Describe a sample: its size, its design, and how well it represents the test set.

Representation is measured by lengths, domains, vocabulary, positions and context. The quality of
the design is its design effect: its variance relative to that of a simple random sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.designs.plan import DrawPlan, Layout
from assay.designs.population import Population
from assay.designs.rounds import PieceDesign
from assay.designs.snippets import TilesPlan
from assay.errors import InputError, need_known
from assay.results import UNPAID, Costs, Note, Result, signature
from assay.sampling.budget import context_mask
from assay.sampling.draw import expected_effect, expected_likeness
from assay.stats.clustered import prefix_sums, window_sums
from assay.tables.tables import Design, Sample, TestSet

LENGTH_BINS = (0, 10, 20, 30, 40, 50)
"""The lower ends of the bins of document length (lo2023, Table 4)."""
EFFECT_DRAWS = 500
"""Simulated samples for a predicted design effect, whose error is then about 5 %."""
FEWER_LOOKS, MAX_SINGLE_SHARE = 2, 0.5
"""This many looks are proposed if more than this share of the pieces are single segments."""
NUMBERS_AT_ONCE = 4_000_000
"""Samples are drawn in blocks of about this many numbers in memory."""


@dataclass(frozen=True, slots=True)
class SampleShare:
    """The share of a part in the test set (``full``) and in the ``sample``."""

    name: str
    full: float
    sample: float


@dataclass(frozen=True, slots=True)
class SampleSummary(Result, kind="sample"):
    """The size of a sample, its probabilities, and how it represents the test set.

    outputs: the translations to rate; distinct_outputs counts identical ones of several systems
    once. unreachable: the share of segments that could never be drawn. design_effect: the predicted
    variance of system differences relative to a simple random sample of the same size. size_sd: the
    standard deviation of n over draws, if n varies and it is known exactly. If every system has its
    own sample, representation and context are averages over systems.
    """

    n: int
    population: int
    design: str
    parameters: str
    matched: bool
    seed: int | None
    min_probability: float
    max_probability: float
    unreachable: float | None
    design_effect: float | None
    size_sd: float | None
    snippets: int
    outputs: int
    distinct_outputs: int | None
    context_segments: float
    length_bins: tuple[SampleShare, ...]
    domains: tuple[SampleShare, ...]
    positions: tuple[SampleShare, ...]
    vocabulary: float | None
    metrics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    opinions: float | None = None
    """The planned mean number of raters per output."""
    pay: Costs = UNPAID
    """The cost and the time of a rating."""

    @property
    def signature(self) -> str:
        """The settings behind the draw, in one line."""
        brief = Design.parse(self.parameters).brief
        return signature(brief, n=f"{self.n}/{self.population}", seed=self.seed)


def summarise(test_set: TestSet, sample: Sample) -> SampleSummary:
    """Describe a sample drawn from this test set.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="25%", rng=7)
    >>> summary = summarise(world.test_set, drawn)
    >>> summary.design, summary.matched, [share.name for share in summary.length_bins][:2]
    ('rounds', True, ['0-9', '10+'])
    """
    population = Population(test_set)
    layout = population.layout
    masks = _masks(test_set, sample)
    frame = sample.frame
    owner = ["system", "snippet"] if not sample.matched else ["snippet"]
    probability = frame["probability"].to_numpy()
    outputs, distinct = _outputs(test_set, sample)
    unreachable, effect, spread = _predicted(population, sample)
    context = 0.0
    lengths: tuple[SampleShare, ...] = ()
    places: tuple[SampleShare, ...] = ()
    if test_set.has_documents:
        context = float(np.mean([context_segments(layout, mask) for mask in masks]))
        lengths = _mean_shares([length_shares(layout, mask) for mask in masks])
        places = _mean_shares([position_shares(layout, mask) for mask in masks])
    return SampleSummary(
        n=round(float(np.mean([mask.sum() for mask in masks]))), population=population.size,
        design=sample.design.name, parameters=str(sample.design), matched=sample.matched,
        seed=sample.design.seed, min_probability=float(probability.min()),
        max_probability=float(probability.max()), unreachable=unreachable, design_effect=effect,
        size_sd=spread,
        snippets=frame.select(owner).n_unique() if "snippet" in frame.columns else len(frame),
        outputs=outputs, distinct_outputs=distinct, context_segments=context, length_bins=lengths,
        domains=_mean_shares([domain_shares(test_set, mask) for mask in masks]), positions=places,
        vocabulary=_mean([vocabulary_share(test_set, mask) for mask in masks]),
        metrics=test_set.metrics,
        notes=tuple(dict.fromkeys(
            (*test_set.notes, *_watched(sample), *_single(sample, layout))
        )),
    )  # fmt: skip


def _watched(sample: Sample) -> list[Note]:
    """Note, before ratings are paid for, that they cannot be monitored while they come in."""
    try:
        begins = design_of(sample.design).is_sample(len(sample))
    except InputError:
        return []  # a sample drawn elsewhere, by an unknown design
    if begins and sample.matched:
        return []
    text = (
        "the first segments of this sample are not a sample themselves, so its ratings cannot be"
        " monitored; to stop early, draw a matched sample by rounds, interleaved or segments"
    )
    return [Note("cannot-be-watched", text)]


def _single(sample: Sample, layout: Layout) -> list[Note]:
    """Note that many planned looks leave raters mostly single segments, and what would help.

    Documents are cut into looks / share pieces, so that every look falls on whole rounds.
    """
    get = sample.design.parameters
    if not {"looks", "max"} <= set(get) or not sample.matched:
        return []
    sizes = sample.frame.group_by("snippet").len()["len"].to_numpy()
    pieces = np.minimum(layout.lengths, FEWER_LOOKS * layout.population / sizes.sum())
    longer = min(float(layout.population / pieces.sum()), float(get["max"]))
    single = float((sizes == 1).mean())
    if (
        single <= MAX_SINGLE_SHARE
        or float(get["looks"]) <= FEWER_LOOKS
        or longer < 1.2 * sizes.mean()
    ):
        return []
    text = (
        f"raters will see mostly single segments without context ({single:.0%} of the pieces),"
        f" because {get['looks']} planned looks cut the documents small; with {FEWER_LOOKS}"
        f" (design '{sample.design.name}|looks:{FEWER_LOOKS}') pieces have {longer:.1f} segments"
        f" instead of {sizes.mean():.1f}"
    )
    return [Note("single-segments", text)]


def _predicted(
    population: Population, sample: Sample
) -> tuple[float | None, float | None, float | None]:
    """The unreachable share, the design effect and the spread of the size; None if unknown."""
    try:
        design = design_of(sample.design)
        design.need_size(population.test_set)
        sizes = design.sizes
    except InputError:
        return None, None, None
    weights = population.importance(design.importance)
    plans = [design.plan(population, n, weights) for n in sizes]
    missed = np.prod([1 - plan.probabilities() for plan in plans], axis=0)
    unreachable = float((missed >= 1).mean())
    tiles = plans[0] if len(plans) == 1 else None
    spread = tiles.size_sd() if isinstance(tiles, TilesPlan) else None
    test_set = population.test_set
    whole = sizes[0] >= population.size
    if whole or len(plans) > 1 or len(test_set.systems) < 2 or not sample.matched:
        return unreachable, None, spread
    if isinstance(design, PieceDesign) and weights is None:
        parts = expected_likeness(test_set)
        return unreachable, expected_effect(design, population, sizes[0], parts), spread
    return unreachable, _effect_on_metrics(test_set, plans[0], sizes[0]), spread


def _effect_on_metrics(test_set: TestSet, plan: DrawPlan, n: int) -> float | None:
    """The design effect simulated with each metric in place of ratings, averaged over metrics."""
    effects = []
    for name in test_set.metrics:
        if np.isfinite(test_set.matrix(name)).any(axis=1).sum() > 1:
            scores = metric_scores(test_set, name)[1]
            if not np.ptp(scores - scores[0], axis=1).any():
                continue  # the systems do not differ
            rng = np.random.default_rng(0)  # a prediction, not a draw: always the same
            draws = EFFECT_DRAWS if plan.contiguous else EFFECT_DRAWS // 5
            effects.append(design_effect(scores, plan, n, rng, draws, weighted=True).ratio)
    return float(np.mean(effects)) if effects else None


def _masks(test_set: TestSet, sample: Sample) -> list[np.ndarray]:
    """Masks of the drawn segments: one for a matched sample, otherwise one per system."""
    drawn = sample.frame.select(
        *(() if sample.matched else ("system",)), *test_set.key, drawn=pl.lit(True)
    )
    segments = test_set.segments.select(test_set.key)
    parts = [drawn] if sample.matched else drawn.partition_by("system", maintain_order=True)
    masks = []
    for part in parts:
        here = segments.join(part, on=list(test_set.key), how="left", maintain_order="left")
        masks.append(here["drawn"].fill_null(False).to_numpy())
    return masks


def _outputs(test_set: TestSet, sample: Sample) -> tuple[int, int | None]:
    """The number of outputs to rate, and of distinct ones if there are texts."""
    key = list(test_set.key) if sample.matched else ["system", *test_set.key]
    outputs = test_set.frame.join(sample.frame.select(key), on=key, how="semi")
    if "target" not in outputs.columns:
        return outputs.height, None
    return outputs.height, outputs.select(*test_set.key, "target").n_unique()


def _mean_shares(tables: Sequence[Sequence[SampleShare]]) -> tuple[SampleShare, ...]:
    return tuple(
        SampleShare(rows[0].name, rows[0].full, float(np.mean([row.sample for row in rows])))
        for rows in zip(*tables, strict=True)
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def length_bin(layout: Layout) -> np.ndarray:
    """The length bin of every segment's document."""
    number = np.searchsorted(LENGTH_BINS, layout.lengths, side="right") - 1
    return np.asarray(number[layout.document])


def _shares(groups: np.ndarray, names: list[str], drawn: np.ndarray) -> list[SampleShare]:
    full = np.bincount(groups, minlength=len(names)) / len(groups)
    part = np.bincount(groups[drawn], minlength=len(names)) / max(1, int(drawn.sum()))
    return [SampleShare(*row) for row in zip(names, full.tolist(), part.tolist(), strict=True)]


def length_shares(layout: Layout, drawn: np.ndarray) -> list[SampleShare]:
    """Shares by document length (lo2023, Table 4 and Figure 1)."""
    names = ["0-9", *(f"{start}+" for start in LENGTH_BINS[1:])]
    return _shares(length_bin(layout), names, drawn)


def position_shares(layout: Layout, drawn: np.ndarray) -> list[SampleShare]:
    """Shares by position: the first, middle and last third of a document."""
    place = np.arange(layout.population) - layout.starts[layout.document]
    third = (3 * place) // layout.lengths[layout.document]
    return _shares(third, ["first third", "middle third", "last third"], drawn)


def domain_shares(test_set: TestSet, drawn: np.ndarray) -> list[SampleShare]:
    """Shares by domain, if the scores name them."""
    if "domain" not in test_set.segments.columns:
        return []
    domains = test_set.segments["domain"].fill_null("(none)")
    names = domains.unique(maintain_order=True).to_list()
    groups = domains.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    return _shares(groups, names, drawn)


def vocabulary_share(test_set: TestSet, drawn: np.ndarray) -> float | None:
    """The share of the test set's word tokens whose word occurs in the sample.

    Words are split at white space in the lower-case source; None without texts.
    """
    if "source" not in test_set.segments.columns:
        return None
    words = test_set.segments["source"].fill_null("").str.to_lowercase().str.extract_all(r"\S+")
    seen = words.filter(pl.Series(drawn)).explode().drop_nulls().unique()
    everything = words.explode().drop_nulls()
    return float(everything.is_in(seen.implode()).mean()) if len(everything) else None  # type: ignore[arg-type]


def context_segments(layout: Layout, drawn: np.ndarray) -> int:
    """The number of segments to read as context without rating them."""
    return int(context_mask(layout, drawn).sum())


def bin_name(name: str) -> str:
    """The name of a length bin with both ends, such as ``10-19``.

    >>> bin_name("10+"), bin_name("50+"), bin_name("0-9")
    ('10-19', '50+', '0-9')
    """
    if not name.endswith("+"):
        return name
    start = int(name[:-1])
    later = [end for end in LENGTH_BINS if end > start]
    return f"{start}-{later[0] - 1}" if later else name


def metric_scores(test_set: TestSet, metric: str) -> tuple[tuple[str, ...], np.ndarray, list[Note]]:
    """The systems that a metric scores, their scores (higher is better), and notes.

    Systems without any score (such as a reference) are left out; single missing values are replaced
    by the system's mean.
    """
    need_known("metric", metric, test_set.metrics, "is not among the metrics")
    values = test_set.matrix(metric)
    known = np.isfinite(values)
    keep = known.any(axis=1)
    if keep.sum() < 2:
        raise InputError(
            f"the metric {metric} scores {int(keep.sum())} of {len(keep)} systems; a ranking needs"
            " two or more"
        )
    notes = []
    if not keep.all():
        out = [name for name, kept in zip(test_set.systems, keep, strict=True) if not kept]
        text = f"{metric} does not score {', '.join(out)}: left out"
        notes.append(Note("systems-not-scored", text))
    values, known = values[keep], known[keep]
    missing = int((~known).sum())
    if missing:
        text = f"{missing} missing values of {metric} replaced by the system's mean"
        notes.append(Note("metric-values-missing", text))
        means = np.nanmean(values, axis=1, keepdims=True)
        values = np.where(known, values, means)
    systems = tuple(name for name, kept in zip(test_set.systems, keep, strict=True) if kept)
    return systems, -values if metric in test_set.lower_metrics else values, notes


class DesignEffect(NamedTuple):
    """Variances of differences of system means, relative to a matched simple random sample.

    ``ratio`` is the mean over pairs of systems, ``error`` its Monte-Carlo standard error;
    ``bias`` the mean over pairs of the absolute bias in units of the random sample's standard
    error, beyond what chance explains.
    """

    ratio: float
    error: float
    bias: float


def design_effect(
    scores: np.ndarray, plan: DrawPlan, n: int, rng: np.random.Generator, draws: int, *,
    weighted: bool = False,
) -> DesignEffect:  # fmt: skip
    """Simulate the variance of every difference of two systems' sample means under a plan.

    ``scores`` is systems x segments. A simple random sample of n has the variance
    S^2 (1 - n/N) / n, where S^2 is the variance of the differences over segments. The means are
    plain, as in lo2023, or ``weighted`` by 1/pi (Hajek), which removes the bias of unequal
    probabilities.
    """
    population = scores.shape[1]
    prefix = prefix_sums(scores)
    i, j = np.triu_indices(len(scores), 1)
    pi = plan.probabilities() if weighted else np.ones(population)
    weight = np.divide(1.0, pi, out=np.zeros(population), where=pi > 0)
    means = _sample_means(prefix_sums(np.vstack([scores * weight, weight])), plan, rng, draws)
    gaps = means[:, i] - means[:, j]
    spread = np.var(scores[i] - scores[j], axis=1, ddof=1)
    here = spread > 0
    random = spread[here] * (1 - n / population) / n
    ratios = gaps.var(axis=0, ddof=1)[here] / random
    full = prefix[-1] / population
    off = (gaps.mean(axis=0) - (full[i] - full[j]))[here]
    beyond = np.maximum(0.0, off**2 - gaps.var(axis=0, ddof=1)[here] / draws)
    bias = float(np.sqrt(beyond / random).mean())
    return DesignEffect(float(ratios.mean()), _ratio_error(gaps[:, here], random), bias)


def _sample_means(
    prefix: np.ndarray, plan: DrawPlan, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """The mean scores of every draw (draws x systems), in blocks that fit into memory.

    The last column of ``prefix`` has the weights, the others weighted scores.
    """
    means = []
    left, size = draws, min(draws, 200)
    while left > 0:
        drawn = plan.draw(rng, min(size, left))
        left -= len(drawn.starts)
        sums = window_sums(prefix, drawn.starts, drawn.stops).sum(axis=1)
        weights = np.where(drawn.sizes > 0, sums[:, -1], 1.0)
        means.append(sums[:, :-1] / weights[:, None])
        size = max(1, NUMBERS_AT_ONCE // (drawn.starts.shape[1] * prefix.shape[1]))
    return np.concatenate(means)


def _ratio_error(gaps: np.ndarray, random: np.ndarray, parts: int = 20) -> float:
    """The standard error of the ratio, from its spread over parts of the draws."""
    if len(gaps) < 2 * parts:
        return float("nan")
    ratios = [part.var(axis=0, ddof=1) / random for part in np.array_split(gaps, parts)]
    return float(np.std([ratio.mean() for ratio in ratios], ddof=1) / np.sqrt(parts))
