"""What rated data look like: the moments that simulated worlds are matched on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import OptionError

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Moments:
    """The moments of one rated test set; ``metrics`` holds those of each metric.

    Every number is the mean over systems (and raters) of what one system's ratings by one rater
    show, so that differences between systems do not inflate it; ``system_sd`` and ``severity_sd``
    are those differences. A moment the data cannot show (one rater, one document) is NaN.
    """

    systems: int
    documents: int
    segments: int
    raters: int
    document_lengths: tuple[int, ...]  # least, 10 %, median, 90 %, most
    mean: float
    system_sd: float
    sd: float
    skewness: float
    zeros: float
    p90: float
    p99: float
    most: float
    document_icc: float
    system_r: float  # two systems, same segment, same rater
    rater_r: float  # two raters, same segment, same system
    neither_r: float  # two raters, two systems, same segment
    difference_icc: float  # ICC in documents of the difference between two systems
    severity_sd: float  # sd of the raters' means over their mean
    metrics: Mapping[str, Mapping[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """The moments as plain Python values."""
        return dataclasses.asdict(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per moment; those of a metric are named ``metric:moment``."""
        rows = {k: v for k, v in self.to_dict().items() if isinstance(v, int | float)}
        for name, values in self.metrics.items():
            rows |= {f"{name}:{key}": value for key, value in values.items()}
        return pl.DataFrame(
            {"moment": list(rows), "value": [float(v) for v in rows.values()]},
            schema={"moment": pl.String, "value": pl.Float64},
        )


def moments(ratings: Any, documents: Any, *, metrics: Mapping[str, Any] | None = None) -> Moments:
    """The moments of complete ratings of systems x segments x raters.

    ratings: array of systems x segments, or systems x segments x raters, without gaps.
    documents: one label per segment.
    metrics: name -> array of systems x segments.

    >>> import numpy as np
    >>> ratings = np.array([[0.0, 1.0, 5.0, 6.0], [0.0, 0.0, 5.0, 5.0]])
    >>> found = moments(ratings, ["a", "a", "b", "b"])
    >>> found.mean, found.zeros, round(found.document_icc, 3)
    (2.75, 0.375, 0.98)
    """
    y, labels = _checked(ratings, documents)
    _, doc = np.unique(labels, return_inverse=True)
    lengths = np.bincount(doc)
    quantiles = np.quantile(lengths, [0, 0.1, 0.5, 0.9, 1], method="median_unbiased")
    means = y.mean(axis=1)  # systems x raters
    same_rater, same_system, neither = _correlations(y)
    spread = means.mean(axis=0)
    return Moments(
        systems=y.shape[0],
        documents=len(lengths),
        segments=y.shape[1],
        raters=y.shape[2],
        document_lengths=tuple(round(float(q)) for q in quantiles),
        mean=float(means.mean()),
        system_sd=_sd(means.mean(axis=1)),
        sd=float(np.sqrt(y.var(axis=1, ddof=1).mean())),
        skewness=_mean(_skewness(y)),
        zeros=float((y == 0).mean()),
        p90=float(np.quantile(y, 0.9, axis=1).mean()),
        p99=float(np.quantile(y, 0.99, axis=1).mean()),
        most=float(y.max()),
        document_icc=_icc(y, doc),
        system_r=same_rater,
        rater_r=same_system,
        neither_r=neither,
        difference_icc=_icc(_differences(y), doc),
        severity_sd=_sd(spread) / float(spread.mean()) if spread.mean() else float("nan"),
        metrics={
            name: _metric(np.asarray(values, dtype=float), y, doc)
            for name, values in (metrics or {}).items()
        },
    )


def _checked(ratings: Any, documents: Any) -> tuple[Floats, NDArray[Any]]:
    y = np.asarray(ratings, dtype=float)
    if y.ndim == 2:
        y = y[:, :, None]
    labels = np.asarray(documents)
    if y.ndim != 3 or 0 in y.shape or labels.shape != (y.shape[1],):
        raise OptionError(
            "documents",
            f"of shape {labels.shape}",
            f"does not fit ratings of shape {y.shape}",
            "give systems x segments (x raters) and one document per segment",
        )
    if not np.isfinite(y).all():
        raise OptionError(
            "ratings",
            f"{int((~np.isfinite(y)).sum())} missing",
            "has gaps",
            "give only the segments that every rater rated",
        )
    return y, labels


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _mean(values: Floats) -> float:
    """The mean of what can be computed; a constant column has no correlation."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _r(x: Floats, y: Floats) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.corrcoef(x, y)[0, 1])


def _skewness(y: Floats) -> Floats:
    centred = y - y.mean(axis=1, keepdims=True)
    spread = (centred**2).mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((centred**3).mean(axis=1) / spread**1.5)


def _icc(y: Floats, doc: NDArray[np.intp]) -> float:
    """ANOVA estimate (MSB - MSW) / (MSB + (n0 - 1) MSW) for unequal documents, averaged."""
    n = np.bincount(doc)
    k, total = len(n), len(doc)
    if k < 2 or k == total or not len(y):
        return float("nan")
    flat = np.moveaxis(y, 1, 0).reshape(total, -1)
    sums = np.zeros((k, flat.shape[1]))
    np.add.at(sums, doc, flat)
    inside = sums / n[:, None]
    between = (n[:, None] * (inside - flat.mean(axis=0)) ** 2).sum(axis=0) / (k - 1)
    within = ((flat - inside[doc]) ** 2).sum(axis=0) / (total - k)
    n0 = (total - (n**2).sum() / total) / (k - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _mean((between - within) / (between + (n0 - 1) * within))


def _differences(y: Floats) -> Floats:
    left, right = np.triu_indices(len(y), k=1)
    return np.asarray(y[left] - y[right])


def _correlations(y: Floats) -> tuple[float, float, float]:
    """Mean r over segments of (other system, same rater), (same, other), (other, other)."""
    s, _, r = y.shape
    with np.errstate(invalid="ignore", divide="ignore"):
        full = np.atleast_2d(np.corrcoef(np.moveaxis(y, 1, 2).reshape(s * r, -1)))
    system, rater = np.divmod(np.arange(s * r), r)
    one = system[:, None] == system
    two = rater[:, None] == rater
    kinds = (~one & two, one & ~two, ~one & ~two)
    a, b, c = (_mean(full[k]) for k in kinds)
    return a, b, c


def _metric(x: Floats, y: Floats, doc: NDArray[np.intp]) -> dict[str, float]:
    """Correlation with single ratings (pooled; within systems), document ICC, cross-system r."""
    raters = range(y.shape[2])
    pooled = [_r(x.ravel(), y[:, :, r].ravel()) for r in raters]
    within = [_r(a, b[:, r]) for a, b in zip(x, y, strict=True) for r in raters]
    return {
        "r": _mean(np.array(pooled)),
        "within_r": _mean(np.array(within)),
        "document_icc": _icc(x[:, :, None], doc),
        "system_r": _correlations(x[:, :, None])[0],
    }
