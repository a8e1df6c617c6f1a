"""Systems, documents and parity, as read from the models of effort."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy import special

from assay.kits.effort_chance import Chances
from assay.kits.effort_model import Model, Names, document_shares
from assay.kits.effort_results import DocumentEffort, Level, Parity, Share, SystemEffort
from assay.kits.measures import Measured

NARROW = 0.83
"""The level at which intervals that do not touch mean a difference (korotaev2022, Figure 2)."""


def summarise_systems(
    cells: pl.DataFrame,
    models: Mapping[str, Model],
    chances: Mapping[str, Chances],
    paid: Model | None,
    names: Names,
    level: float,
    rate: float | None,
) -> tuple[SystemEffort, ...]:
    """Every system's means and costs; ``paid`` is the model of the time that is paid for."""
    found = []
    for number, system in enumerate(names.systems):
        own = cells.filter(pl.col("system") == system)
        hours: tuple[float | None, ...] = (None,) * 3
        if paid is not None:
            # Editors cannot have taken less than no time, whatever the interval says.
            mean, _, low, high = _interval(paid, number, level)
            hours = tuple(1000 / 3600 * max(value, 0.0) for value in (mean, low, high))
        price = [None if rate is None or value is None else rate * value for value in hours]
        found.append(
            SystemEffort(
                system=system,
                editors=own["editor"].n_unique(),
                segments=int(own["segments"].sum()),
                words=float(own["words"].sum()),
                measures={
                    name: _level(model, chances[name], number, level)
                    for name, model in models.items()
                },
                hours_per_1000_words=hours[0],
                hours_low=hours[1],
                hours_high=hours[2],
                price_per_1000_words=price[0],
                price_low=price[1],
                price_high=price[2],
            )
        )
    return tuple(found)


def _interval(model: Model, number: int, level: float) -> tuple[float, float, float, float]:
    """A system's mean, its standard error, and the ends of its interval."""
    weights = np.zeros(len(model.means))
    weights[number] = 1.0
    mean, error = model.contrast(weights)
    half = float(special.stdtrit(model.contrast_freedom(weights), (1 + level) / 2)) * error
    return mean, error, mean - half, mean + half


def _level(model: Model, chances: Chances, number: int, level: float) -> Level:
    mean, error, low, high = _interval(model, number, level)
    narrow = _narrow(model, number)
    return Level(
        mean=mean,
        stderr=error,
        low=low,
        high=high,
        low83=mean - narrow,
        high83=mean + narrow,
        randomisation_p=chances.systems[number],
    )


def _narrow(model: Model, number: int) -> float:
    """Half an interval whose standard error twice makes up that of a difference."""
    variances, freedoms = [], []
    for other in range(len(model.means)):
        if other != number:
            weights = np.zeros(len(model.means))
            weights[number], weights[other] = 1.0, -1.0
            variances.append(model.contrast(weights)[1] ** 2)
            freedoms.append(model.contrast_freedom(weights))
    critical = float(special.stdtrit(min(freedoms), (1 + NARROW) / 2))
    return critical * float(np.sqrt(np.mean(variances) / 2))


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
    deviation, error, freedom = document_shares(values, system, document, editor, logs=logs)
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
    model: Model, names: Names, number: int, base: int, margin: float, level: float, *, log: bool
) -> Parity:
    weights = np.zeros(len(names.systems))
    weights[number], weights[base] = 1.0, -1.0 if log else -(1 + margin)
    value, error = model.contrast(weights)
    value -= np.log1p(margin) if log else 0.0
    freedom = model.contrast_freedom(weights)
    p = float(special.stdtr(freedom, value / error)) if error > 0 else float("nan")
    verdict = "parity" if p < 1 - level else "no parity" if p > level else "undetermined"
    own, usual = model.means[number], model.means[base]
    if log:
        excess = float(np.expm1(own - usual))
    else:
        excess = float(own / usual - 1) if usual > 0 else float("nan")
    return Parity(names.systems[number], names.systems[base], model.measure, margin, excess, p,
                  verdict)  # fmt: skip
