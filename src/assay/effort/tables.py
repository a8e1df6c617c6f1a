"""The tables of an analysis: systems, documents, parity, and those of korotaev2022.

Section 3.5 of the paper describes ratios to each editor's own mean. The tables that it prints come
from values pooled over editors, with time as mean speed over speed. Both are given, since the two
put close systems in a different order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from scipy import special

from assay.effort.measures import Measured
from assay.effort.model import EffortModel, Names, document_shares
from assay.effort.randomisation import Chances
from assay.effort.results import (
    DocumentEffort,
    DocumentShare,
    EditorEffort,
    Effort,
    Level,
    Parity,
    Placing,
    Relation,
    RelativeEffort,
    SystemEffort,
)
from assay.errors import InputError, OptionError
from assay.stats.random import Rng, as_rng

if TYPE_CHECKING:
    from assay.tables.answers import Ratings

COMPARING_LEVEL = 0.83
"""The level at which intervals that do not touch mean a difference (korotaev2022, Figure 2)."""
MOST_FOR_ALL_ORDERS = 7
"""Up to this many things, a correlation is tested over all their orders."""


def summarise_systems(
    cells: pl.DataFrame,
    models: Mapping[str, EffortModel],
    chances: Mapping[str, Chances],
    paid: EffortModel | None,
    names: Names,
    level: float,
    rate: float | None,
) -> tuple[SystemEffort, ...]:
    """Every system's means and costs; ``paid`` is the model of the time that is paid for."""
    rows = []
    for number, system in enumerate(names.systems):
        part = cells.filter(pl.col("system") == system)
        hours: tuple[float | None, ...] = (None,) * 3
        if paid is not None:
            # Editors cannot have taken less than no time, whatever the interval says.
            mean, _, low, high = _interval(paid, number, level)
            hours = tuple(1000 / 3600 * max(value, 0.0) for value in (mean, low, high))
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


def _interval(model: EffortModel, number: int, level: float) -> tuple[float, float, float, float]:
    """A system's mean, its standard error, and the ends of its interval."""
    weights = np.eye(len(model.means))[number]
    mean, error = model.contrast(weights)
    half = float(special.stdtrit(model.contrast_degrees(weights), (1 + level) / 2)) * error
    return mean, error, mean - half, mean + half


def _level(model: EffortModel, chances: Chances, number: int, level: float) -> Level:
    mean, error, low, high = _interval(model, number, level)
    half = _comparing_half(model, number)
    return Level(mean, error, low, high, mean - half, mean + half, chances.systems[number])


def _comparing_half(model: EffortModel, number: int) -> float:
    """Half an interval whose standard error twice makes up that of a difference."""
    systems = np.eye(len(model.means))
    pairs = [systems[number] - other for k, other in enumerate(systems) if k != number]
    variances = [model.contrast(weights)[1] ** 2 for weights in pairs]
    degrees = min(model.contrast_degrees(weights) for weights in pairs)
    critical = float(special.stdtrit(degrees, (1 + COMPARING_LEVEL) / 2))
    return critical * float(np.sqrt(np.mean(variances) / 2))


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
    wide, narrow = (
        float(special.stdtrit(degrees, (1 + q) / 2)) for q in (2 * level - 1, COMPARING_LEVEL)
    )
    steps = np.array([0.0, -wide, wide, -narrow, narrow])
    ends = deviation[:, None] + error[:, None] * steps
    return [_share(row, alike) for row in (np.exp(ends) if logs else 1 + ends).tolist()]


def _share(ends: list[float], alike: float) -> DocumentShare:
    ratio, low, high, low83, high83 = ends
    verdict: Literal["alike", "unlike", "undetermined"] = "undetermined"
    if 1 / alike <= low and high <= alike:
        verdict = "alike"
    elif high < 1 / alike or low > alike:
        verdict = "unlike"
    return DocumentShare(ratio, low, high, low83, high83, verdict)


def judge_parity(
    models: Mapping[str, EffortModel],
    names: Names,
    human: str | None,
    margin: float | None,
    level: float,
    *,
    logs: bool,
) -> tuple[Parity, ...]:
    """Non-inferiority: is ``system - (1 + margin) human`` below 0, by a one-sided test.

    With ``logs`` time is a logarithm, and it is ``system - human - log(1 + margin)``.
    """
    if human is None or margin is None:
        return ()
    base = names.systems.index(human)
    return tuple(
        _parity(model, names, number, base, margin, level, log=logs and measure == "time")
        for measure, model in models.items()
        for number in range(len(names.systems))
        if number != base
    )


def _parity(
    model: EffortModel,
    names: Names,
    number: int,
    base: int,
    margin: float,
    level: float,
    *,
    log: bool,
) -> Parity:
    weights = np.eye(len(names.systems))[number]
    weights[base] = -1.0 if log else -(1 + margin)
    value, error = model.contrast(weights)
    value -= np.log1p(margin) if log else 0.0
    degrees = model.contrast_degrees(weights)
    p = float(special.stdtr(degrees, value / error)) if error > 0 else float("nan")
    mean, human = model.means[number], model.means[base]
    if log:
        excess = float(np.expm1(mean - human))
    else:
        excess = float(mean / human - 1) if human > 0 else float("nan")
    return Parity(
        names.systems[number], names.systems[base], model.measure, margin, excess, p,
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


def complexity_effort(
    result: Effort, complexity: Mapping[str, float], *, name: str = "LIX", rng: Rng = None
) -> tuple[Relation, ...]:
    """Do documents of higher complexity take more effort (korotaev2022, section 5.2)?

    ``complexity`` gives every document's score, ``name`` says which. With few documents nothing
    can be said: three of them leave p at 1/3 or more. ``rng`` draws orders where they are too many.
    """
    missing = [item.document for item in result.documents if item.document not in complexity]
    if missing:
        raise OptionError("complexity", missing[0], "has no score", "give one for every document")
    scores = np.array([complexity[item.document] for item in result.documents])
    random = as_rng(rng)
    return tuple(
        _relation(name, measure, scores,
                  [item.measures[measure].ratio for item in result.documents], random)
        for measure in result.units
    )  # fmt: skip


def compare_ratings(result: Effort, ratings: Ratings, *, rng: Rng = None) -> tuple[Relation, ...]:
    """Do the systems that take less effort get the better ratings?

    The correlation is positive where they agree, whichever way the ratings go. ``rng`` draws orders
    where they are too many.
    """
    means = {
        str(name): float(part["score"].mean())  # type: ignore[arg-type]
        for (name,), part in ratings.frame.drop_nulls("score").group_by("system")
    }
    systems = [item for item in result.systems if item.system in means]
    if len(systems) < 2:
        raise InputError("effort and ratings share fewer than two systems; nothing to compare")
    sign = -1.0 if ratings.better == "higher" else 1.0
    scores = np.array([sign * means[item.system] for item in systems])
    random = as_rng(rng)
    return tuple(
        _relation("ratings", measure, scores,
                  [item.measures[measure].mean for item in systems], random)
        for measure in result.units
    )  # fmt: skip


def _relation(
    compared_with: str,
    measure: str,
    left: np.ndarray,
    right: list[float],
    rng: np.random.Generator,
) -> Relation:
    known = np.isfinite(left) & np.isfinite(right)
    a, b = (_mean_ranks(values[known]) for values in (left, np.array(right)))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Relation(compared_with, measure, len(a), float("nan"), float("nan"))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    correlation = float(np.mean(a * b))
    p = _correlation_p(a, b, correlation, rng)
    return Relation(compared_with, measure, len(a), correlation, p)


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).sum(axis=1)
    return np.asarray(below + (values[:, None] == values).sum(axis=1) / 2)


def _correlation_p(
    a: np.ndarray, b: np.ndarray, correlation: float, rng: np.random.Generator
) -> float:
    if len(a) <= MOST_FOR_ALL_ORDERS:
        orders = np.array(list(permutations(range(len(a)))))
    else:
        drawn = [rng.permutation(len(a)) for _ in range(20_000)]
        orders = np.array([np.arange(len(a)), *drawn])
    return float(np.mean(np.abs((a[orders] * b).mean(axis=1)) >= abs(correlation) - 1e-9))
