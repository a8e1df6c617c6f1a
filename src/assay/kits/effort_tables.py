"""The tables of korotaev2022 (sections 3.5 and 4): effort relative to the mean, and placings.

Section 3.5 describes ratios to each editor's own mean. The tables that the paper prints come from
values pooled over editors, with time as mean speed over speed. Both are given, since the two put
close systems in a different order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from assay.kits.effort_results import EditorEffort, Placing, Relative


def relative_effort(
    cells: pl.DataFrame, measures: Sequence[str], *, decimals: int | None = None
) -> tuple[Relative, ...]:
    """Tables 2 and 3: systems and documents, relative to the mean.

    ``decimals`` rounds the cells' distances and percentages first, as the paper's sheets were.
    """
    ratios, scores = editor_ratios(cells, measures), _t_scores(cells, measures)
    found = []
    for kind, column in (("system", "system"), ("document", "doc")):
        names = list(cells[column].unique(maintain_order=True))
        for measure in measures:
            pooled = _pooled(cells, column, measure, decimals)
            for name in names:
                own = (cells[column] == name).to_numpy()
                found.append(
                    Relative(
                        kind,
                        name,
                        measure,
                        _mean(ratios[measure][own]),
                        pooled[name],
                        _mean(scores[measure][own]),
                    )
                )
    return tuple(found)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _pooled(
    cells: pl.DataFrame, column: str, measure: str, decimals: int | None
) -> dict[str, float]:
    groups = cells.group_by(column, maintain_order=True)
    if measure == "time":
        worked = (pl.col("words") - pl.col("untimed")).sum().alias("words")
        totals = groups.agg(worked, pl.col("seconds").sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = totals["words"].to_numpy() / totals["seconds"].to_numpy()
            values = speed.mean() / speed
    else:
        cell = pl.col(measure) * (100 if measure == "changed" else 1)
        totals = groups.agg((cell if decimals is None else cell.round(decimals)).mean())
        means = totals[measure].to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            values = means / means.mean()
    return dict(zip(totals[column], values.tolist(), strict=True))


def editor_ratios(
    cells: pl.DataFrame, measures: Sequence[str], *, inverse_time: bool = False
) -> dict[str, np.ndarray]:
    """Each cell over its editor's mean; not a number where the editor did nothing at all."""
    found = {}
    for measure in measures:
        value = pl.col(measure)
        if measure == "time" and inverse_time:
            # mean speed over speed, as Tables 2 to 4 were computed
            ratio = (1 / value).mean().over("editor") * value
        else:
            ratio = value / value.mean().over("editor")
        values = cells.select(ratio.cast(pl.Float64).alias("ratio"))["ratio"].to_numpy().copy()
        values[~np.isfinite(values)] = np.nan
        found[measure] = values
    return found


def _t_scores(cells: pl.DataFrame, measures: Sequence[str]) -> dict[str, np.ndarray]:
    """50 + 10 z within each editor (footnote 4); 50 where the editor's cells are all equal."""
    found = {}
    for measure in measures:
        value = pl.col(measure)
        spread = value.std().over("editor")
        z = pl.when(spread > 0).then((value - value.mean().over("editor")) / spread).otherwise(0.0)
        found[measure] = cells.select((50 + 10 * z).alias("t"))["t"].to_numpy()
    return found


def effort_by_editor(
    cells: pl.DataFrame, measures: Sequence[str], weights: Mapping[str, float]
) -> tuple[EditorEffort, ...]:
    """Figure 4: every editor's documents relative to that editor's mean."""
    ratios = editor_ratios(cells, measures)
    found = []
    for number, row in enumerate(cells.iter_rows(named=True)):
        own = {name: float(values[number]) for name, values in ratios.items()}
        total = sum(weights.get(name, 1.0) * value for name, value in own.items())
        found.append(EditorEffort(row["editor"], row["doc"], row["system"], own, total))
    return tuple(found)


def place_systems(
    cells: pl.DataFrame, measures: Sequence[str], weights: Mapping[str, float]
) -> tuple[Placing, ...]:
    """Table 4: the systems' places within each editor by aggregate effort, and their sums."""
    systems = list(cells["system"].unique(maintain_order=True))
    plain = _places(cells, editor_ratios(cells, measures), weights)
    inverse = _places(cells, editor_ratios(cells, measures, inverse_time=True), weights)
    found = []
    for system in systems:
        own = (cells["system"] == system).to_numpy()
        counts = [_counts(places[own], len(systems)) for places in (plain, inverse)]
        sums = [float(np.nansum(places[own])) for places in (plain, inverse)]
        found.append(Placing(system, counts[0], sums[0], counts[1], sums[1]))
    return tuple(found)


def _places(
    cells: pl.DataFrame, ratios: Mapping[str, np.ndarray], weights: Mapping[str, float]
) -> np.ndarray:
    total = np.sum([weights.get(name, 1.0) * values for name, values in ratios.items()], axis=0)
    frame = cells.select("editor", pl.Series("total", total).fill_nan(None))
    rank = pl.col("total").rank("average").over("editor")
    return frame.select(rank.cast(pl.Float64))["total"].to_numpy()


def _counts(places: np.ndarray, systems: int) -> tuple[int, ...]:
    """How many places fall to first, second, ...; a shared place counts as the better one."""
    edges = np.arange(1, systems + 2)
    return tuple(int(np.sum((places >= a) & (places < b))) for a, b in pairwise(edges))
