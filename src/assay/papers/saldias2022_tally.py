"""Records of simulations gathered into the numbers of saldias2022's tables.

A *simulation* is one rater and one system. The Monte-Carlo error of a mean is what other draws
would change; the error between simulations is what other raters and systems would.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from assay.estimation.results import EvaluationRecord


class Key(NamedTuple):
    """One simulation at one size."""

    rater: str
    system: str
    size: float


Tally = dict[str, dict[Key, EvaluationRecord]]
"""The records by method."""


class Summary(NamedTuple):
    """A method over all simulations and sizes; gain and win against the baseline in percent."""

    error: float
    error_noise: float
    sdev: float
    sdev_noise: float
    gain: float
    gain_noise: float
    win: float
    win_spread: float
    bias: float
    coverage: float
    simulations: int
    draws: int


def summarise(tally: Tally, method: str, sizes: Iterable[float] | None = None) -> Summary | None:
    """The summary of a method, of some sizes only where they are given; None without records."""
    wanted = None if sizes is None else set(sizes)
    own, base = tally.get(method, {}), tally.get("baseline", {})
    keys = [key for key in own if key in base and (wanted is None or key.size in wanted)]
    if not keys:
        return None
    x, b = _columns(own, keys), _columns(base, keys)
    error, reference = x.error.mean(), b.error.mean()
    noise, base_noise = _noise(x), _noise(b)
    wins = x.error < b.error
    simulation = np.unique([f"{k.rater}\t{k.system}" for k in keys], return_inverse=True)[1]
    share = np.bincount(simulation, wins) / np.bincount(simulation)
    ratio = error / reference if reference > 0 else 1.0
    relative = float(np.hypot(noise / error, base_noise / reference)) if error > 0 else 0.0
    return Summary(
        error=float(error),
        error_noise=noise,
        sdev=float((x.sd * np.sqrt(x.draws / np.maximum(x.draws - 1, 1))).mean()),
        # The sd of half-normal errors: its own relative error is .85 / sqrt(draws).
        sdev_noise=float(0.85 * np.sqrt(np.sum(x.sd**2 / x.draws)) / len(keys)),
        gain=float(100 * (1 - ratio)),
        gain_noise=0.0 if method == "baseline" else float(100 * ratio * relative),
        win=float(100 * wins.mean()),
        win_spread=_spread(100 * share),
        bias=float(100 * x.bias.mean() / reference) if reference > 0 else 0.0,
        coverage=float(100 * x.coverage.mean()),
        simulations=len(share),
        draws=int(x.draws.min()),
    )


def gap_noise(one: Summary, two: Summary) -> float:
    """Monte-Carlo error of the difference of two gains."""
    return float(np.hypot(one.gain_noise, two.gain_noise))


class _Columns(NamedTuple):
    error: np.ndarray
    sd: np.ndarray
    draws: np.ndarray
    bias: np.ndarray
    coverage: np.ndarray


def _columns(records: dict[Key, EvaluationRecord], keys: list[Key]) -> _Columns:
    found = [records[key] for key in keys]
    return _Columns(*(np.array([getattr(r, name) for r in found]) for name in _Columns._fields))


def _noise(x: _Columns) -> float:
    return float(np.sqrt(np.sum(x.sd**2 / x.draws)) / len(x.sd))


def _spread(values: np.ndarray) -> float:
    """Standard error of a mean over simulations."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
