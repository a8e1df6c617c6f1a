"""What an analysis of effort says, and the tables it is read from: systems, documents, parity.

Section 3.5 of korotaev2022 describes ratios to each editor's own mean. The tables that it prints
come from values pooled over editors, with time as mean speed over speed. Both are given, since the
two put close systems in a different order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load

from assay.effort.model import EffortModel, Measured, Names, document_shares
from assay.effort.randomisation import Chances
from assay.effort.verdict import Verdict
from assay.results import Note, Result, plain, signature
from assay.stats.intervals import interval_within, t_quantile

COMPARING_LEVEL = 0.83
"""The level at which intervals that do not touch mean a difference (korotaev2022, Figure 2)."""
MOST_FOR_ALL_ORDERS = 7
"""Up to this many things, a correlation is tested over all their orders."""


@dataclass(frozen=True, slots=True)
class Level:
    """One system's mean on one measure, every document weighing the same."""

    mean: float
    stderr: float
    low: float
    high: float
    low83: float
    """The 83% interval for comparing systems, without the spread that all systems share because
    they have the same editors: two systems whose intervals do not touch differ at about the 5%
    level."""
    high83: float
    randomisation_p: float
    """Against the mean of the others, if no system differs, over the assignments of kits."""


@dataclass(frozen=True, slots=True)
class SystemEffort:
    """One system on every measure, and what it costs in hours and money."""

    system: str
    editors: int
    segments: int
    words: float
    measures: Mapping[str, Level]
    hours_per_1000_words: float | None
    """All seconds over all words, adjusted for editors and documents as the mean of time is; with
    the ends of its interval."""
    hours_low: float | None
    hours_high: float | None
    price_per_1000_words: float | None
    price_low: float | None
    price_high: float | None


@dataclass(frozen=True, slots=True)
class DocumentShare:
    """One document's effort against the average document, on one measure."""

    ratio: float
    low: float
    high: float
    low83: float
    high83: float
    verdict: Literal["alike", "unlike", "undetermined"]
    """Is the interval inside the margin, outside, or neither."""


@dataclass(frozen=True, slots=True)
class DocumentEffort:
    """One document on every measure: is it like the others?"""

    document: str
    segments: int
    words: float
    measures: Mapping[str, DocumentShare]


@dataclass(frozen=True, slots=True)
class EffortDifference:
    """Left minus right on one measure; less effort is better."""

    left: str
    right: str
    measure: str
    difference: float
    stderr: float
    degrees: float
    """Degrees of freedom; fewer than the design's where part of the comparison is of editors."""
    low: float
    high: float
    p: float
    holm_p: float
    """p adjusted for the pairs of systems of this measure (Holm); the verdict goes by ``p``."""
    randomisation_p: float
    """Over the assignments of kits to editors, the other systems being what they are; not a number
    where kits leave nothing to deal out."""
    decided: bool
    verdict: str
    least: float
    """The smallest difference when any one editor is left out, and the largest."""
    most: float
    deciding_editors: tuple[str, ...]
    """Editors without whom the verdict, or the sign of the difference, would be another."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Does a system need at most ``margin`` more effort than the human translation?"""

    system: str
    human: str
    measure: str
    margin: float
    excess: float
    """Effort of the system over that of the human translation, less one."""
    p: float
    verdict: Literal["parity", "no parity", "undetermined"]


@dataclass(frozen=True, slots=True)
class RelativeEffort:
    """Effort relative to the mean, as the tables of korotaev2022 have it."""

    kind: Literal["system", "document"]
    name: str
    measure: str
    described: float
    """Each editor's value over that editor's mean, averaged over editors (section 3.5)."""
    pooled: float
    """Pooled over editors, then over the mean; time as mean speed over speed (Tables 2 and 3)."""
    t_score: float


@dataclass(frozen=True, slots=True)
class EditorEffort:
    """One editor's work on one document, relative to that editor's mean (Figure 4)."""

    editor: str
    document: str
    system: str
    ratios: Mapping[str, float]
    total: float
    """The weighted sum over the measures."""


@dataclass(frozen=True, slots=True)
class Placing:
    """How often a system needed the least effort, the second least, and so on (Table 4)."""

    system: str
    places: tuple[int, ...]
    score: float
    inverse_places: tuple[int, ...]
    """The same with time as mean speed over speed."""
    inverse_score: float


@dataclass(frozen=True, slots=True)
class Relation:
    """Rank correlation (Spearman) of a measure with something else, and how sure its sign is."""

    compared_with: str
    measure: str
    n: int
    correlation: float
    p: float
    """Two-sided, over all orders or 20,000 random ones."""


@dataclass(frozen=True, slots=True)
class Effort(Result, kind="effort"):
    """Systems compared by the effort of editing them; less is better."""

    systems: tuple[SystemEffort, ...]
    documents: tuple[DocumentEffort, ...]
    differences: tuple[EffortDifference, ...]
    parity: tuple[Parity, ...]
    relative: tuple[RelativeEffort, ...]
    by_editor: tuple[EditorEffort, ...]
    placings: tuple[Placing, ...]
    warnings: tuple[Note, ...]
    """What the reader of the numbers must know."""
    components: Mapping[str, Mapping[str, float]]
    """Variances by measure: editor, segment, editor x document, document if random, residual."""
    overall_p: Mapping[str, float]
    """By measure: does any system differ from another, over the assignments of kits?"""
    units: Mapping[str, str]
    editors: tuple[str, ...]
    degrees: int
    """Degrees of freedom within editors, from the design: the fewest of the measures."""
    fixed: tuple[str, ...]
    """The fixed effects of the model: systems, documents where they vary, places where known."""
    level: float
    human: str | None
    margin: float | None
    measures: tuple[str, ...]
    alike: float
    assume_alike: bool
    time: str
    time_weight: float
    rate: float | None
    draws: int
    assignments: int
    exact: bool
    """Whether all assignments of kits to editors were gone through."""
    seed: int | None
    notes: tuple[Note, ...]
    next: tuple[str, ...]
    """What decides between the best system and its nearest rival."""
    relations: tuple[Relation, ...] = ()
    """Correlations with ratings and complexity, where asked for."""
    verdict: Verdict | None = None
    """Which system is best by the measure that is followed; None where nothing is known."""
    currency: str | None = None
    """Of ``rate`` and all prices."""

    @property
    def signature(self) -> str:
        """How the numbers came about."""
        return signature(
            "effort", "+".join(self.measures), f"reml:{'+'.join(self.fixed)}",
            editors=len(self.editors), n=sum(item.segments for item in self.systems),
            time=None if self.time == "mean" else self.time,
            level=f"{self.level:g}".lstrip("0"), seed=None if self.exact else self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """A row for each system and measure."""
        return pl.DataFrame(
            {"system": item.system, "measure": name, **plain(level)}
            for item in self.systems
            for name, level in item.measures.items()
        )


def summarise_systems(
    cells: pl.DataFrame, models: Mapping[str, EffortModel], chances: Mapping[str, Chances],
    paid: EffortModel | None, names: Names, level: float, rate: float | None,
) -> tuple[SystemEffort, ...]:  # fmt: skip
    """Every system's means and costs; ``paid`` is the model of the time that is paid for."""
    rows = []
    for number, system in enumerate(names.systems):
        part = cells.filter(pl.col("system") == system)
        hours: tuple[float | None, ...] = (None,) * 3
        if paid is not None:
            ends = paid.interval(number, level)
            mean, _ = paid.contrast(np.eye(len(names.systems))[number])
            # Editors cannot have taken less than no time, whatever the model says.
            hours = tuple(1000 / 3600 * value for value in (max(mean, 0.0), ends.low, ends.high))
        price = [None if rate is None or value is None else rate * value for value in hours]
        levels = {
            name: _level(model, chances[name], number, level) for name, model in models.items()
        }
        rows.append(
            SystemEffort(
                system, part["editor"].n_unique(), int(part["segments"].sum()),
                float(part["words"].sum()), levels, *hours, *price,
            )
        )  # fmt: skip
    return tuple(rows)


def _level(model: EffortModel, chances: Chances, number: int, level: float) -> Level:
    mean, error = model.contrast(np.eye(len(model.means))[number])
    ends, near = model.interval(number, level), model.comparing_interval(number, COMPARING_LEVEL)
    return Level(mean, error, ends.low, ends.high, near.low, near.high, chances.systems[number])


def summarise_documents(
    measured: Measured, cells: pl.DataFrame, names: Names, alike: float, level: float
) -> tuple[DocumentEffort, ...]:
    """Every document's effort against the average one."""
    shares = {name: _shares(cells, name, names, alike, level) for name in measured.measures}
    rows = []
    for number, doc in enumerate(names.documents):
        segments = measured.frame.filter(pl.col("doc") == doc).unique("seg", keep="first")
        listed = {name: column[number] for name, column in shares.items()}
        words = float(segments["words"].sum())
        rows.append(DocumentEffort(doc, segments.height, words, listed))
    return tuple(rows)


def _shares(
    cells: pl.DataFrame, measure: str, names: Names, alike: float, level: float
) -> list[DocumentShare]:
    """Two one-sided tests at 1 - level each: the interval of level 2 level - 1."""
    values = cells[measure].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = np.isfinite(values)
    unknown = _share([float("nan")] * 5, alike)
    logs = measure == "time" and bool((values[known] > 0).all())
    # Cells without a value are left out, and editors who have none at all with them.
    values = values[known]
    system, document, editor = (code[known] for code in names.codes(cells))
    editor = np.unique(editor, return_inverse=True)[1]
    whole = all(
        len(np.unique(code)) == count
        for code, count in ((system, len(names.systems)), (document, len(names.documents)))
    )
    if len(names.documents) < 2 or not whole or values.mean() <= 0:
        return [unknown] * len(names.documents)
    deviation, error, degrees = document_shares(values, system, document, editor, logs=logs)
    if degrees < 1:
        return [unknown] * len(names.documents)
    levels = (2 * level - 1, COMPARING_LEVEL)
    if logs:
        wide, narrow = (t_quantile((1 + q) / 2, degrees) for q in levels)
        steps = np.array([0.0, -wide, wide, -narrow, narrow])
        ends = np.exp(deviation[:, None] + error[:, None] * steps)
        return [_share(row, alike) for row in ends.tolist()]
    # Of so many documents none has more than all of the effort, or less than none.
    most = float(len(names.documents))
    rows = []
    for ratio, spread in zip((1 + deviation).tolist(), error.tolist(), strict=True):
        both = [interval_within(ratio, spread, degrees, q, 0.0, most) for q in levels]
        rows.append(_share([ratio, *(end for one in both for end in (one.low, one.high))], alike))
    return rows


def _share(ends: list[float], alike: float) -> DocumentShare:
    ratio, low, high, low83, high83 = ends
    verdict: Literal["alike", "unlike", "undetermined"] = "undetermined"
    if 1 / alike <= low and high <= alike:
        verdict = "alike"
    elif high < 1 / alike or low > alike:
        verdict = "unlike"
    return DocumentShare(ratio, low, high, low83, high83, verdict)


def judge_parity(
    models: Mapping[str, EffortModel], names: Names, human: str | None, margin: float | None,
    level: float, *, logs: bool,
) -> tuple[Parity, ...]:  # fmt: skip
    """Non-inferiority: is ``system - (1 + margin) human`` below 0, by a one-sided test.

    With ``logs`` time is a logarithm, and it is ``system - human - log(1 + margin)``.
    """
    if human is None or margin is None:
        return ()
    base, rows = names.systems.index(human), []
    for measure, model in models.items():
        log = logs and measure == "time"
        for number in range(len(names.systems)):
            if number != base:
                rows.append(_parity(model, names.systems, number, base, margin, level, log=log))
    return tuple(rows)


def _parity(
    model: EffortModel, systems: Sequence[str], number: int, base: int, margin: float,
    level: float, *, log: bool,
) -> Parity:  # fmt: skip
    weights = np.eye(len(systems))[number]
    weights[base] = -1.0 if log else -(1 + margin)
    value, error = model.contrast(weights)
    value -= np.log1p(margin) if log else 0.0
    degrees = model.contrast_degrees(weights)
    p = float(scipy.special.stdtr(degrees, value / error)) if error > 0 else float("nan")
    mean, human = model.means[number], model.means[base]
    if log:
        excess = float(np.expm1(mean - human))
    else:
        excess = float(mean / human - 1) if human > 0 else float("nan")
    return Parity(
        systems[number], systems[base], model.measure, margin, excess, p,
        "parity" if p < 1 - level else "no parity" if p > level else "undetermined",
    )  # fmt: skip


def relative_effort(
    cells: pl.DataFrame, measures: Sequence[str], *, decimals: int | None = None
) -> tuple[RelativeEffort, ...]:
    """Tables 2 and 3: systems and documents, relative to the mean.

    ``decimals`` rounds the cells' distances and percentages first, as the paper's sheets were.
    """
    ratios, scores = editor_ratios(cells, measures), _t_scores(cells, measures)
    rows = []
    for kind, column in (("system", "system"), ("document", "doc")):
        for measure in measures:
            for name, pooled in _pooled(cells, column, measure, decimals).items():
                here = (cells[column] == name).to_numpy()
                described, score = _mean(ratios[measure][here]), _mean(scores[measure][here])
                rows.append(RelativeEffort(kind, name, measure, described, pooled, score))  # type: ignore[arg-type]
    return tuple(rows)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _pooled(
    cells: pl.DataFrame, column: str, measure: str, decimals: int | None
) -> dict[str, float]:
    groups = cells.group_by(column, maintain_order=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure == "time":
            worked = (pl.col("words") - pl.col("untimed")).sum().alias("words")
            totals = groups.agg(worked, pl.col("seconds").sum())
            speed = totals["words"].to_numpy() / totals["seconds"].to_numpy()
            values = speed.mean() / speed
        else:
            cell = pl.col(measure) * (100 if measure == "changed" else 1)
            totals = groups.agg((cell if decimals is None else cell.round(decimals)).mean())
            means = totals[measure].to_numpy()
            values = means / means.mean()
    return dict(zip(totals[column], values.tolist(), strict=True))


def editor_ratios(
    cells: pl.DataFrame, measures: Sequence[str], *, inverse_time: bool = False
) -> dict[str, np.ndarray]:
    """Each cell over its editor's mean; not a number where the editor did nothing at all."""
    ratios = {}
    for measure in measures:
        value = pl.col(measure)
        if measure == "time" and inverse_time:
            # mean speed over speed, as Tables 2 to 4 were computed
            ratio = (1 / value).mean().over("editor") * value
        else:
            ratio = value / value.mean().over("editor")
        values = cells.select(ratio.cast(pl.Float64).alias("ratio"))["ratio"].to_numpy().copy()
        values[~np.isfinite(values)] = np.nan
        ratios[measure] = values
    return ratios


def _t_scores(cells: pl.DataFrame, measures: Sequence[str]) -> dict[str, np.ndarray]:
    """50 + 10 z within each editor (footnote 4); 50 where the editor's cells are all equal."""
    scores = {}
    for measure in measures:
        value = pl.col(measure)
        spread = value.std().over("editor")
        z = pl.when(spread > 0).then((value - value.mean().over("editor")) / spread).otherwise(0.0)
        scores[measure] = cells.select((50 + 10 * z).alias("t"))["t"].to_numpy()
    return scores


def effort_by_editor(
    cells: pl.DataFrame, measures: Sequence[str], weights: Mapping[str, float]
) -> tuple[EditorEffort, ...]:
    """Figure 4: every editor's documents relative to that editor's mean."""
    ratios = editor_ratios(cells, measures)
    totals = _aggregate(ratios, weights).tolist()
    return tuple(
        EditorEffort(
            row["editor"], row["doc"], row["system"],
            {name: float(values[number]) for name, values in ratios.items()}, totals[number],
        )
        for number, row in enumerate(cells.iter_rows(named=True))
    )  # fmt: skip


def _aggregate(ratios: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """The weighted sum of the measures' ratios; those without a weight weigh 1."""
    weighted = [weights.get(name, 1.0) * values for name, values in ratios.items()]
    return np.asarray(np.sum(weighted, axis=0))


def place_systems(
    cells: pl.DataFrame, measures: Sequence[str], weights: Mapping[str, float]
) -> tuple[Placing, ...]:
    """Table 4: the systems' places within each editor by aggregate effort, and their sums."""
    systems = list(cells["system"].unique(maintain_order=True))
    both = [
        _places(cells, editor_ratios(cells, measures, inverse_time=inverse), weights)
        for inverse in (False, True)
    ]
    rows = []
    for system in systems:
        here = (cells["system"] == system).to_numpy()
        (counts, score), (inverse_counts, inverse_score) = (
            (_counts(places[here], len(systems)), float(np.nansum(places[here]))) for places in both
        )
        rows.append(Placing(system, counts, score, inverse_counts, inverse_score))
    return tuple(rows)


def _places(
    cells: pl.DataFrame, ratios: Mapping[str, np.ndarray], weights: Mapping[str, float]
) -> np.ndarray:
    total = pl.Series("total", _aggregate(ratios, weights)).fill_nan(None)
    rank = pl.col("total").rank("average").over("editor").cast(pl.Float64)
    return cells.select("editor", total).select(rank)["total"].to_numpy()


def _counts(places: np.ndarray, systems: int) -> tuple[int, ...]:
    """How many places fall to first, second, ...; a shared place counts as the better one."""
    edges = np.arange(1, systems + 2)
    return tuple(int(np.sum((places >= a) & (places < b))) for a, b in pairwise(edges))
