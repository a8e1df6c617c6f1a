"""The result of an analysis of effort, with the tables of korotaev2022.

Section 3.5 of the paper describes ratios to each editor's own mean; Tables 2 to 4 come from values
pooled over editors, with time as mean speed over speed. Both are given, because they can put close
systems in a different order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load

from assay.effort.model import EffortModel, Names
from assay.effort.randomisation import Chances
from assay.effort.verdict import COMPARING_LEVEL, DocumentEffort, Verdict
from assay.errors import OptionError
from assay.results import Note, Result, plain, signature

MOST_FOR_ALL_ORDERS = 7
"""A correlation of at most this many items is tested over all their orders."""


@dataclass(frozen=True, slots=True)
class Level:
    """One system's mean on one measure, with equal weights for all documents."""

    mean: float
    stderr: float
    low: float
    high: float
    low83: float
    """The 83% interval for comparing systems: two systems whose intervals do not touch differ at
    about the 5% level. It leaves out the spread that all systems share through their editors."""
    high83: float
    randomisation_p: float
    """The randomisation test of the system against the mean of the others."""


@dataclass(frozen=True, slots=True)
class SystemEffort:
    """One system on every measure, with its cost in hours and money."""

    system: str
    editors: int
    segments: int
    words: float
    measures: Mapping[str, Level]
    hours_per_1000_words: float | None
    """All seconds over all words, adjusted for editors and documents like the mean of time, and
    the ends of its interval."""
    hours_low: float | None
    hours_high: float | None
    price_per_1000_words: float | None
    price_low: float | None
    price_high: float | None


@dataclass(frozen=True, slots=True)
class EffortDifference:
    """Left minus right on one measure; less effort is better."""

    left: str
    right: str
    measure: str
    difference: float
    stderr: float
    degrees: float
    """Degrees of freedom; fewer than the design's if part of the comparison is between editors."""
    low: float
    high: float
    p: float
    holm_p: float
    """p corrected for the number of pairs on this measure (Holm); the verdict follows ``p``."""
    randomisation_p: float
    """p over the assignments of kits to editors, given the other systems; NaN if reassigning the
    kits changes nothing."""
    decided: bool
    verdict: str
    least: float
    """The smallest and the largest difference when one editor is left out."""
    most: float
    deciding_editors: tuple[str, ...]
    """Editors without whom the verdict or the sign of the difference would change."""


@dataclass(frozen=True, slots=True)
class Parity:
    """Whether a system needs at most ``margin`` more effort than the human translation."""

    system: str
    human: str
    measure: str
    margin: float
    excess: float
    """Effort of the system over that of the human translation, minus one."""
    p: float
    verdict: Literal["parity", "no parity", "undetermined"]


@dataclass(frozen=True, slots=True)
class RelativeEffort:
    """Effort relative to the mean, as in Tables 2 and 3 of korotaev2022."""

    kind: Literal["system", "document"]
    name: str
    measure: str
    described: float
    """Each editor's value over that editor's mean, averaged over editors (section 3.5)."""
    pooled: float
    """Pooled over editors, divided by the mean; time as mean speed over speed (Tables 2, 3)."""
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
    """For how many editors a system needed the least effort, the second least, ... (Table 4)."""

    system: str
    places: tuple[int, ...]
    score: float
    inverse_places: tuple[int, ...]
    """The same with time as mean speed over speed."""
    inverse_score: float


@dataclass(frozen=True, slots=True)
class Relation:
    """The rank correlation (Spearman) of a measure with ratings or with complexity."""

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
    """Caveats without which the numbers would mislead."""
    components: Mapping[str, Mapping[str, float]]
    """Variances by measure: editor, segment, editor x document, document if random, residual."""
    overall_p: Mapping[str, float]
    """By measure: the randomisation test of whether any system differs from another."""
    units: Mapping[str, str]
    editors: tuple[str, ...]
    degrees: int
    """Degrees of freedom within editors, the fewest of all measures."""
    fixed: tuple[str, ...]
    """The fixed effects of the model: system, document if it varies, place if it is known."""
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
    """Whether all assignments of kits to editors were tried."""
    seed: int | None
    notes: tuple[Note, ...]
    next: tuple[str, ...]
    """What would decide between the best system and its nearest rival."""
    relations: tuple[Relation, ...] = ()
    """Correlations with ratings and complexity, if asked for."""
    verdict: Verdict | None = None
    """The best system by the decisive measure; None if no measure separates systems."""
    currency: str | None = None
    """The currency of ``rate`` and all prices."""

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        return signature(
            "effort", "+".join(self.measures), f"reml:{'+'.join(self.fixed)}",
            editors=len(self.editors), n=sum(item.segments for item in self.systems),
            time=None if self.time == "mean" else self.time,
            level=f"{self.level:g}".lstrip("0"), seed=None if self.exact else self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per system and measure."""
        return pl.DataFrame(
            {"system": item.system, "measure": name, **plain(level)}
            for item in self.systems
            for name, level in item.measures.items()
        )


def summarise_systems(
    cells: pl.DataFrame, models: Mapping[str, EffortModel], chances: Mapping[str, Chances],
    paid: EffortModel | None, names: Names, level: float, rate: float | None,
) -> tuple[SystemEffort, ...]:  # fmt: skip
    """The means and costs of every system; ``paid`` is the model of the time that is paid."""
    rows = []
    for number, system in enumerate(names.systems):
        part = cells.filter(pl.col("system") == system)
        hours: tuple[float | None, ...] = (None,) * 3
        if paid is not None:
            ends = paid.interval(number, level)
            mean, _ = paid.contrast(np.eye(len(names.systems))[number])
            # Editors cannot have taken less than no time, whatever the model says.
            found = (max(mean, 0.0), ends.low, ends.high)
            hours = tuple(None if np.isnan(x) else 1000 / 3600 * x for x in found)
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


def price_of(rate: float | str | None) -> tuple[float | None, str | None]:
    """The price of an hour and its currency, if it names one.

    >>> price_of("40 EUR"), price_of("€38.50"), price_of(40), price_of(None)
    ((40.0, 'EUR'), (38.5, '€'), (40.0, None), (None, None))
    """
    if rate is None:
        return None, None
    text = re.sub(r"\s*(/|per|an?)\s*(h|hour)$", "", str(rate).strip())
    match = re.fullmatch(r"([A-Z]{3}|[€$£])?\s*(\d+(?:\.\d+)?)\s*([A-Z]{3}|[€$£])?", text)
    if match is None or (match[1] and match[3]):
        raise OptionError("rate", rate, "is not the price of an hour", "write 40 EUR, or 40")
    return float(match[2]), match[1] or match[3]


def _level(model: EffortModel, chances: Chances, number: int, level: float) -> Level:
    mean, error = model.contrast(np.eye(len(model.means))[number])
    ends, near = model.interval(number, level), model.comparing_interval(number, COMPARING_LEVEL)
    return Level(mean, error, ends.low, ends.high, near.low, near.high, chances.systems[number])


def judge_parity(
    models: Mapping[str, EffortModel], names: Names, human: str | None, margin: float | None,
    level: float, *, logs: bool,
) -> tuple[Parity, ...]:  # fmt: skip
    """Test non-inferiority, one-sided: is ``system - (1 + margin) human`` below 0?

    With ``logs``, time is a logarithm and the test is of ``system - human - log(1 + margin)``.
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
    """Effort of systems and documents relative to the mean (korotaev2022, Tables 2 and 3).

    ``decimals`` first rounds the cells' distances and percentages, as the paper's sheets did.
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
    """Each cell over its editor's mean (section 3.5); NaN if the editor did nothing at all."""
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
    """T-scores, 50 + 10 z within each editor (footnote 4); 50 if all the cells are equal."""
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
    """Every editor's documents relative to that editor's mean (Figure 4)."""
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
    """The weighted sum of the measures' ratios; the default weight is 1."""
    weighted = [weights.get(name, 1.0) * values for name, values in ratios.items()]
    return np.asarray(np.sum(weighted, axis=0))


def place_systems(
    cells: pl.DataFrame, measures: Sequence[str], weights: Mapping[str, float]
) -> tuple[Placing, ...]:
    """The systems' places within each editor by aggregate effort, and their sums (Table 4)."""
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
    """The number of first, second, ... places; a shared place counts as the better one."""
    edges = np.arange(1, systems + 2)
    return tuple(int(np.sum((places >= a) & (places < b))) for a, b in pairwise(edges))
