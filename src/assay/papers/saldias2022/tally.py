"""The methods of saldias2022 and the summary of their records in the numbers of its tables.

A *simulation* is one rater and one system. All errors here are Monte-Carlo errors: they say what
other draws with the same raters and systems would change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

SIZES = tuple(k / 20 for k in range(1, 11))
"""Sample sizes of all simulations: 5 to 50 % of the segments."""
DRAWS = 100
MEAN_SHARE = 5
"""Other means, which no table prints, get one in this many draws."""
BEST = "docs-prop+cv-knn"
METHODS = {
    "docs-prop": "docs-prop",
    "docs-opt": "docs-opt",
    "metrics-prop": "metrics-prop",
    "docs-incr-metrics": "docs-incr-metrics",
    "docs-incr-human": "docs-incr-human",
    "cv-bleurt": "cv-single:BLEURT-20",
    "cv-mean": "cv-mean",
    "cv-multi": "cv-multi",
    "cv-knn": "cv-knn",
    BEST: BEST,
    "metrics-prop+cv-knn": "metrics-prop+cv-knn",
}
"""The names of the methods in the paper and in Assay."""
BEYOND = ("docs-prop+regression", "snippets+regression", "balanced+regression")
"""Designs and estimators that the paper lacks."""
LITERAL = {
    "cv-single:BLEURT-20": "cv-single-literal:BLEURT-20",
    "cv-multi": "cv-multi-literal",
}
"""Control variates with the centred slope, and with E[XZ] instead, as equations 3 and 4 print."""
ROUNDED = {
    "docs-prop": "docs-prop|rounding:largest",
    "docs-opt": "docs-opt|rounding:largest",
}
"""Strata rounded at random, and to the nearest whole number, as section 2.1 says."""
TRIED = (
    "baseline",
    *METHODS.values(),
    "metrics-opt",
    *LITERAL.values(),
    *BEYOND,
    *ROUNDED.values(),
)
TEST_METHODS = ("baseline", BEST, "balanced+regression")
TABLES = ("Table 1", "Table 2", "Table 3", "Table 4")
FIGURES = {
    "Figure 2": ("baseline", "docs-prop", "docs-opt", "metrics-prop"),
    "Figure 3": ("baseline", "cv-bleurt", "cv-mean", "cv-multi", "cv-knn"),
    "Figure 4": ("baseline", "docs-prop", "cv-knn", BEST),
}
PAPER_SIMULATIONS = 54
"""Six raters times nine systems."""


class TrialKey(NamedTuple):
    """A simulation and a sample size."""

    rater: str
    system: str
    size: float


class MethodTrial(NamedTuple):
    """The errors of one method in one simulation at one size, over all draws."""

    key: TrialKey
    method: str
    draws: int
    error: float
    sd: float
    bias: float
    coverage: float = float("nan")


Tally = dict[str, dict[TrialKey, MethodTrial]]
"""The trials by method."""


class MethodSummary(NamedTuple):
    """A method over all simulations and sizes, with gain and wins over the baseline in percent.

    ``cells`` is the number of simulations times sizes.
    """

    error: float
    error_noise: float
    sdev: float
    sdev_noise: float
    gain: float
    gain_noise: float
    win: float
    win_noise: float
    bias: float
    coverage: float
    cells: int
    draws: int


def summarise(
    tally: Tally, method: str, sizes: Iterable[float] | None = None
) -> MethodSummary | None:
    """Summarise a method over all sizes or those given; None without records."""
    wanted = None if sizes is None else set(sizes)
    records, base = tally.get(method, {}), tally.get("baseline", {})
    keys = [key for key in records if key in base and (wanted is None or key.size in wanted)]
    if not keys:
        return None
    x, b = _columns(records, keys), _columns(base, keys)
    error, reference = x.error.mean(), b.error.mean()
    # The samples of an incremental run are nested, so their errors add up over sizes.
    runs = [(key.rater, key.system) if "incr" in method else key for key in keys]
    noise, base_noise = _noise(x, runs), _noise(b, keys)
    wins = x.error < b.error
    ratio = error / reference if reference > 0 else 1.0
    relative = float(np.hypot(noise / error, base_noise / reference)) if error > 0 else 0.0
    return MethodSummary(
        error=float(error),
        error_noise=noise,
        sdev=float((x.sd * np.sqrt(x.draws / np.maximum(x.draws - 1, 1))).mean()),
        # The relative error of the sd of half-normal errors is .85 / sqrt(draws).
        sdev_noise=0.85 * noise,
        gain=float(100 * (1 - ratio)),
        gain_noise=0.0 if method == "baseline" else float(100 * ratio * relative),
        win=float(100 * wins.mean()),
        win_noise=_win_noise(x, b),
        bias=float(100 * x.bias.mean() / reference) if reference > 0 else 0.0,
        coverage=float(100 * x.coverage.mean()),
        cells=len(keys),
        draws=int(x.draws.min()),
    )


def gap_noise(one: MethodSummary, two: MethodSummary) -> float:
    """The Monte-Carlo error of the difference of two gains."""
    return float(np.hypot(one.gain_noise, two.gain_noise))


class _Columns(NamedTuple):
    error: np.ndarray
    sd: np.ndarray
    draws: np.ndarray
    bias: np.ndarray
    coverage: np.ndarray


def _columns(records: dict[TrialKey, MethodTrial], keys: list[TrialKey]) -> _Columns:
    listed = [records[key] for key in keys]
    return _Columns(*(np.array([getattr(r, name) for r in listed]) for name in _Columns._fields))


def _noise(x: _Columns, runs: Sequence[tuple[object, ...]]) -> float:
    """The Monte-Carlo error of the mean error, NaN for a single draw."""
    if x.draws.min() < 2:
        return float("nan")
    groups = {run: place for place, run in enumerate(dict.fromkeys(runs))}
    place = np.array([groups[run] for run in runs])
    return float(np.sqrt(np.sum(np.bincount(place, x.sd / np.sqrt(x.draws)) ** 2)) / len(runs))


def _win_noise(x: _Columns, base: _Columns) -> float:
    """The Monte-Carlo error of the share of wins, each a coin weighted by both means' errors."""
    noise = np.hypot(x.sd / np.sqrt(x.draws), base.sd / np.sqrt(base.draws))
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = special.ndtr((base.error - x.error) / noise)
    chance = np.where(np.isnan(chance), 1.0, chance)  # both are exact and equal
    return float(100 * np.sqrt(np.sum(chance * (1 - chance))) / len(chance))
