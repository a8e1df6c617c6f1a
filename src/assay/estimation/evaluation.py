"""A table of methods from the records of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.estimation.evaluate import EvaluationRecord
from assay.results import plain, result_dict, signature


@dataclass(frozen=True, slots=True)
class MethodEvaluation:
    """One method, averaged over systems and sizes (saldias2022, Tables 1 to 4).

    ``gain`` is the reduction of the mean absolute error against ``baseline`` in percent,
    ``gain_error`` its Monte-Carlo standard error, ``win`` the share of systems and sizes where the
    method's error is lower. ``bias`` is relative to the baseline's error, where there is one.
    ``worst_coverage`` is that of the worst system over all sizes.
    """

    method: str
    error: float
    sd: float
    gain: float | None
    gain_error: float | None
    win: float | None
    bias: float
    coverage: float
    worst_coverage: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The methods, and every record behind them."""

    methods: tuple[MethodEvaluation, ...]
    records: tuple[EvaluationRecord, ...]
    draws: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        sizes = sorted({record.size for record in self.records})
        span = f"{sizes[0]:g}-{sizes[-1]:g}" if sizes else "none"
        return signature("evaluate", sizes=span, draws=self.draws, seed=self.seed)

    def to_frame(self) -> pl.DataFrame:
        """One row per method."""
        return pl.DataFrame([plain(item) for item in self.methods], infer_schema_length=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay evaluate``."""
        return result_dict(
            "evaluation",
            self.signature,
            methods=self.methods,
            records=self.records,
            draws=self.draws,
            seed=self.seed,
        )


def summarise_evaluation(
    records: Iterable[EvaluationRecord], *, seed: int | None = None
) -> Evaluation:
    """One row per method, compared with ``baseline`` where it is among them.

    >>> record = EvaluationRecord("baseline", "A", .1, 10, 50, .2, .1, .0, .94, .5)
    >>> summarise_evaluation([record]).methods[0].gain
    0.0
    """
    listed = tuple(records)
    groups: dict[str, list[EvaluationRecord]] = {}
    for record in listed:
        groups.setdefault(record.method, []).append(record)
    base = groups.get("baseline")
    rows = tuple(_row(name, group, base) for name, group in groups.items())
    return Evaluation(rows, listed, listed[0].draws if listed else 0, seed)


def _row(
    name: str, records: list[EvaluationRecord], base: list[EvaluationRecord] | None
) -> MethodEvaluation:
    errors = np.array([record.error for record in records])
    gain = gain_error = win = None
    scale = 1.0
    if base is not None:
        own = np.array([record.error for record in base])
        scale = float(own.mean())
        gain = 100 * (1 - errors.mean() / scale)
        noise = [_noise(records) / errors.mean(), _noise(base) / scale]
        gain_error = (
            100 * errors.mean() / scale * float(np.hypot(*noise)) if name != "baseline" else 0
        )
        win = float((errors < own).mean()) if name != "baseline" else None
    by_system: dict[str, list[float]] = {}
    for record in records:
        if np.isfinite(record.coverage):
            by_system.setdefault(record.system, []).append(record.coverage)
    return MethodEvaluation(
        method=name,
        error=float(errors.mean()),
        sd=float(np.mean([record.sd for record in records])),
        gain=None if gain is None else float(gain),
        gain_error=None if gain_error is None else float(gain_error),
        win=win,
        bias=float(np.mean([record.bias for record in records])) / scale,
        coverage=_mean([record.coverage for record in records]),
        worst_coverage=min((_mean(shares) for shares in by_system.values()), default=float("nan")),
        half_width=_mean([record.half_width for record in records]),
    )


def _mean(values: list[float]) -> float:
    """The mean of what is known; incremental samples have no interval."""
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def _noise(records: list[EvaluationRecord]) -> float:
    """Monte-Carlo standard error of the mean absolute error over all records."""
    variances = [record.sd**2 / record.draws for record in records]
    return float(np.sqrt(np.sum(variances)) / len(records))
