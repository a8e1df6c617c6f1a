"""Systems, documents and parity, as read from the models of effort."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy import special

from assay.kits.effort_model import Model, Names, document_shares
from assay.kits.effort_results import DocumentEffort, Level, Parity, Share, SystemEffort
from assay.kits.measures import Measured
from assay.kits.randomisation import randomisation_p

__all__ = ["judge_parity", "summarise_documents", "summarise_systems"]

NARROW = 0.83
"""The level at which intervals that do not touch mean a difference (korotaev2022, Figure 2)."""


def summarise_systems(
    measured: Measured,
    cells: pl.DataFrame,
    models: Mapping[str, Model],
    chances: Mapping[str, np.ndarray],
    names: Names,
    level: float,
    rate: float | None,
) -> tuple[SystemEffort, ...]:
    """Every system's means and costs."""
    found = []
    for number, system in enumerate(names.systems):
        own = cells.filter(pl.col("system") == system)
        levels = {
            name: _level(model, chances[name], number, names, level)
            for name, model in models.items()
        }
        timed = measured.frame.filter(
            (pl.col("system") == system) & pl.col("seconds").is_not_null()
        )
        known = "time" in models and timed.height > 0
        speed = float(timed["seconds"].sum()) / float(timed["words"].sum()) if known else 0.0
        hours = speed * 1000 / 3600 if known else None
        found.append(
            SystemEffort(
                system=system,
                editors=own["editor"].n_unique(),
                segments=int(own["segments"].sum()),
                words=float(own["words"].sum()),
                measures=levels,
                hours_per_1000_words=hours,
                price_per_1000_words=None if rate is None or hours is None else rate * hours,
            )
        )
    return tuple(found)


def _level(model: Model, chances: np.ndarray, number: int, names: Names, level: float) -> Level:
    weights = np.zeros(len(names.systems))
    weights[number] = 1.0
    mean, error = model.contrast(weights)
    freedom = model.mean_freedom(error, len(names.editors), len(names.documents))
    half = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    narrow = float(special.stdtrit(model.freedom, (1 + NARROW) / 2)) * _own_error(model, number)
    rest = np.delete(chances, number, axis=1).mean(axis=1)
    return Level(
        mean=mean,
        stderr=error,
        low=mean - half,
        high=mean + half,
        low83=mean - narrow,
        high83=mean + narrow,
        randomisation_p=randomisation_p(chances[:, number] - rest),
    )


def _own_error(model: Model, number: int) -> float:
    """A standard error of which two make up that of a difference: its variance, halved."""
    variances = []
    for other in range(len(model.means)):
        if other != number:
            weights = np.zeros(len(model.means))
            weights[number], weights[other] = 1.0, -1.0
            variances.append(model.contrast(weights)[1] ** 2)
    return float(np.sqrt(np.mean(variances) / 2))


def summarise_documents(
    measured: Measured, cells: pl.DataFrame, names: Names, alike: float, level: float
) -> tuple[DocumentEffort, ...]:
    """Every document's effort against the average one."""
    shares = {name: _shares(cells, name, names, alike, level) for name in measured.measures}
    found = []
    for number, doc in enumerate(names.documents):
        own = measured.frame.filter(pl.col("doc") == doc)
        once = own.unique("seg", keep="first")
        listed = {name: rows[number] for name, rows in shares.items()}
        found.append(DocumentEffort(doc, once.height, float(once["words"].sum()), listed))
    return tuple(found)


def _shares(
    cells: pl.DataFrame, measure: str, names: Names, alike: float, level: float
) -> list[Share]:
    """Two one-sided tests at 1 - level each: the interval of level 2 level - 1."""
    values = cells[measure].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = np.isfinite(values)
    nan = float("nan")
    unknown = Share(nan, nan, nan, nan, nan, "undetermined")
    logs = measure == "time" and bool((values[known] > 0).all())
    codes = [code[known] for code in names.codes(cells)]
    whole = all(len(np.unique(code)) == code.max() + 1 for code in codes)
    if len(names.documents) < 2 or not known.all() or not whole or values.mean() <= 0:
        return [unknown] * len(names.documents)
    deviation, error, freedom = document_shares(values, *codes, logs=logs)
    if freedom < 1:
        return [unknown] * len(names.documents)
    found = []
    for middle, spread in zip(deviation, error, strict=True):
        half, narrow = (
            float(special.stdtrit(freedom, (1 + q) / 2)) * spread for q in (2 * level - 1, NARROW)
        )
        ends = np.array([middle, middle - half, middle + half, middle - narrow, middle + narrow])
        ratio, low, high, low83, high83 = (np.exp(ends) if logs else 1 + ends).tolist()
        verdict = "undetermined"
        if 1 / alike <= low and high <= alike:
            verdict = "alike"
        elif high < 1 / alike or low > alike:
            verdict = "unlike"
        found.append(Share(ratio, low, high, low83, high83, verdict))
    return found


def judge_parity(
    models: Mapping[str, Model],
    names: Names,
    human: str | None,
    margin: float | None,
    level: float,
) -> tuple[Parity, ...]:
    """Non-inferiority: is ``system - (1 + margin) human`` below 0, by a one-sided test."""
    if human is None or margin is None:
        return ()
    base = names.systems.index(human)
    found = []
    for measure, model in models.items():
        for number, system in enumerate(names.systems):
            if number == base:
                continue
            weights = np.zeros(len(names.systems))
            weights[number], weights[base] = 1.0, -(1 + margin)
            value, error = model.contrast(weights)
            p = float(special.stdtr(model.freedom, value / error)) if error > 0 else float("nan")
            verdict = "parity" if p < 1 - level else "no parity" if p > level else "undetermined"
            usual = model.means[base]
            excess = float(model.means[number] / usual - 1) if usual > 0 else float("nan")
            found.append(Parity(system, human, measure, margin, excess, p, verdict))
    return tuple(found)
