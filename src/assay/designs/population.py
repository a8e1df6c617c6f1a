"""The test set as sampling sees it: documents, predicted badness, costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from assay.designs.plan import Layout
from assay.errors import InputError, OptionError, need_known
from assay.tables.tables import TestSet, places_in

UNCONFIRMED_WEIGHT = 0.25
"""The weight of a metric that no other confirms; chosen on WMT20 and WMT23."""
UNTRIED_SLOPE, STEEPEST = 1.0, 2.0
"""The slope of balanced samples if metrics agree and nothing was rated, and the largest slope.

Without ratings, 1 gains as much as 2 with good metrics and loses little with bad ones; with
ratings, more than 2 gains nothing. Chosen on four MQM sets."""
MIN_EVIDENCE, EVIDENCE_RIDGE = 50, 10.0
"""The smallest history used to weigh metrics, in segments, and the penalty on the weights."""


@dataclass(frozen=True, eq=False)
class Population:
    """The segments of a test set in reading order, as designs need them."""

    test_set: TestSet

    def __post_init__(self) -> None:
        if not isinstance(self.test_set, TestSet):
            raise InputError(
                f"{type(self.test_set).__name__} where a TestSet belongs; read it with"
                " assay.read_scores(...)"
            )
        pairs = self.test_set.segments.get_column("lp", default=None)
        if pairs is not None and pairs.n_unique() > 1:
            shown = ", ".join(pairs.unique(maintain_order=True).to_list()[:5])
            raise InputError(
                f"the scores have {pairs.n_unique()} language pairs ({shown}, ...); draw from one"
                " at a time (test_set.split('lp'))"
            )

    def of_system(self, system: str, *, common: bool = False) -> Population:
        """The segments that one system translated, for its own sample.

        With ``common``, the metrics of a segment are averaged over all systems.
        """
        own = self.test_set.by_system[system]
        return _SegmentPart(own, self) if common else Population(own)

    def with_layout(self, layout: Layout) -> Population:
        """Some documents of the test set, for a separate plan."""
        return _DocumentPart(self.test_set, layout)

    @property
    def size(self) -> int:
        """N, the number of segments."""
        return self.test_set.segments.height

    @cached_property
    def layout(self) -> Layout:
        """Documents as stretches of the reading order; a single one if there are none."""
        lengths = self.test_set.documents["segments"].to_numpy()
        return Layout(lengths.astype(np.int64))

    def need_documents(self, design: str, *, several: bool) -> None:
        """Refuse a design that draws by documents where there are none, or only one."""
        if not self.test_set.has_documents:
            raise InputError(
                f"the design {design} draws by documents, but the scores have no doc column;"
                " add one, or use the design segments"
            )
        if several and len(self.layout.lengths) == 1:
            raise InputError(
                f"the design {design} draws among documents, but the test set is a single one of"
                f" {self.size} segments; use the design snippets, which cuts it into sections"
            )

    @cached_property
    def badness(self) -> np.ndarray:
        """The predicted badness of each segment: the mean of the standardised metrics.

        Averaged over systems, higher for worse, with mean 0 and standard deviation 1; 0 without any
        metric. Of three metrics or more, one that contradicts the others is reversed, unless its
        direction was stated. A history weighs the metrics, and counts as much as all of them.
        """
        stack, _ = self._metrics
        if not len(stack):
            return self._history
        return _scaled(self._by_metrics + self._history)

    @cached_property
    def _by_metrics(self) -> np.ndarray:
        """The badness by metrics alone: their mean, or their prediction of the history."""
        stack, known = self._metrics
        if self._evidence is not None:
            return _scaled(_predicted(stack, self._evidence))
        signs = np.where(self._stated[:, None], 1.0, _majority_signs(stack))
        return _scaled((stack * signs).sum(axis=0) / np.maximum(known.sum(axis=0), 1))

    @cached_property
    def _evidence(self) -> np.ndarray | None:
        """The history's mean for each segment, NaN where unknown; None if it is too small."""
        if self.test_set.history is None:
            return None
        found = _mean_over_systems(self.test_set.matrix(self.test_set.history))
        return found if np.isfinite(found).sum() >= MIN_EVIDENCE else None

    @cached_property
    def slope(self) -> float:
        """How much more ratings vary for the worst-looking segments than for the best-looking.

        From a history; without one, 1 if metrics agree as stated, else 0.
        """
        if self._evidence is None:
            return UNTRIED_SLOPE if self.metrics_agree else 0.0
        matrix = self.test_set.matrix(str(self.test_set.history))
        return _spread_slope(self.badness, self._evidence, matrix)

    @cached_property
    def _history(self) -> np.ndarray:
        """The history's mean, standardised; 0 where unknown."""
        if self.test_set.history is None:
            return np.zeros(self.size)
        return _scaled(np.nan_to_num(_mean_over_systems(self.test_set.matrix("history"))))

    @property
    def _stated(self) -> np.ndarray:
        """Which of the metrics that vary the user named as better when lower."""
        lower = self.test_set.lower_metrics
        return np.array([name in lower for name in self._varying], dtype=bool)

    @cached_property
    def position(self) -> np.ndarray:
        """The position of a segment for balanced samples: its badness, scaled down if unconfirmed.

        Two documents are 1 apart; spreading a sample over a metric that may be noise would reduce
        its spread over documents.
        """
        return self.badness if self.metrics_agree else UNCONFIRMED_WEIGHT * self.badness

    @cached_property
    def metrics_agree(self) -> bool:
        """Whether the metrics agree, so that the direction of badness is known.

        Their first principal component must represent 1.5 metrics and a third of all; two metrics
        must agree in their stated directions. A single metric may point the wrong way unnoticed. A
        history of at least half of the segments has a direction.
        """
        if self.test_set.history is not None:
            return bool(np.isfinite(self.test_set.matrix("history")).any(axis=0).mean() >= 0.5)
        stack, _ = self._metrics
        if len(stack) < 2:
            return False
        turned = np.flatnonzero(_majority_signs(stack)[:, 0] < 0)
        if self._stated[turned].any():
            return False  # most metrics contradict what was stated
        together = np.corrcoef(stack)
        if len(stack) == 2 and together[0, 1] < 0:
            return False
        largest = float(np.linalg.eigvalsh(together)[-1])
        return largest >= 1.5 and largest >= len(stack) / 3

    @cached_property
    def _varying(self) -> dict[str, np.ndarray]:
        """The metrics that vary between segments, averaged over systems."""
        found = {}
        for name in self.test_set.metrics:
            values = _mean_over_systems(self.test_set.matrix(name))
            if np.isfinite(values).any() and np.nanstd(values) > 0:
                found[name] = values
        return found

    @cached_property
    def _metrics(self) -> tuple[np.ndarray, np.ndarray]:
        """Standardised metrics x segments, more is worse, 0 where missing; and where not."""
        if not self.test_set.metrics and self.test_set.history is None:
            raise InputError(
                "the design needs metrics, but the scores have none; add metric columns or use"
                " a design that needs none, such as snippets or segments"
            )
        rows = []
        for name, values in self._varying.items():
            z = (values - np.nanmean(values)) / np.nanstd(values)
            rows.append(z if name in self.test_set.lower_metrics else -z)
        stack = np.stack(rows) if rows else np.empty((0, self.size))
        known = np.isfinite(stack)
        return np.where(known, stack, 0.0), known

    def column(self, name: str) -> np.ndarray | None:
        """A numeric column of the segments, if the scores have it; missing values are NaN."""
        if name not in self.test_set.segments.columns:
            return None
        return self.test_set.segments[name].cast(pl.Float64).to_numpy()

    def importance(self, name: str | None) -> np.ndarray | None:
        """The weight of every segment from a column of the scores; None without a name."""
        if name is None:
            return None
        frame = self.test_set.frame
        need_known("importance", name, frame.columns, "is not a column of the scores")
        if not frame[name].dtype.is_numeric():
            raise OptionError("importance", name, "is not numeric", "name a column of numbers")
        weights = _mean_over_systems(self.test_set.matrix(name))
        if not (weights > 0).all():
            raise OptionError(
                "importance", name, "must be above 0 for every segment",
                "give parts that do not matter a small weight, or leave them out of the scores",
            )  # fmt: skip
        return weights

    def share(self, n: int, whole: Population) -> int:
        """The system's share of a budget of n segments of the whole."""
        return max(1, round(n * self.size / whole.size))


@dataclass(frozen=True, eq=False)
class _DocumentPart(Population):
    """Some documents of a test set."""

    documents: Layout

    @property
    def layout(self) -> Layout:
        return self.documents

    @property
    def size(self) -> int:
        return self.documents.population


@dataclass(frozen=True, eq=False)
class _SegmentPart(Population):
    """Some segments of a test set, with the badness from the whole."""

    whole: Population

    @cached_property
    def badness(self) -> np.ndarray:
        places = places_in(self.test_set.segments, self.whole.test_set)
        return np.asarray(self.whole.badness[places])

    @property
    def metrics_agree(self) -> bool:
        return self.whole.metrics_agree

    @property
    def slope(self) -> float:
        return self.whole.slope


def _mean_over_systems(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _scaled(values: np.ndarray) -> np.ndarray:
    spread = values.std()
    return np.asarray((values - values.mean()) / spread if spread > 0 else values * 0)


def _majority_signs(z: np.ndarray) -> np.ndarray:
    """1 or -1 for every metric, as a column; -1 if most metrics contradict it.

    The first principal component divides the metrics into two sides; the larger one is right.
    """
    signs = np.sign(np.linalg.eigh(z @ z.T)[1][:, -1])
    if signs.sum() == 0 or len(signs) < 3:
        return np.ones((len(signs), 1))  # no majority: the stated directions stand
    return np.where(signs == np.sign(signs.sum()), 1.0, -1.0)[:, None]


def _predicted(stack: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """The ridge prediction, from metrics (metrics x segments), of evidence for some segments."""
    known = np.isfinite(evidence)
    x = stack[:, known] - stack[:, known].mean(axis=1, keepdims=True)
    y = evidence[known] - evidence[known].mean()
    weights = np.linalg.solve(x @ x.T + EVIDENCE_RIDGE * np.eye(len(x)), x @ y)
    return np.asarray(weights @ stack)


def _spread_slope(badness: np.ndarray, evidence: np.ndarray, history: np.ndarray) -> float:
    """The slope of sd(q) = c (1 + slope q), q the rank of badness in 0..1, between 0 and 2.

    The spread of a segment is that of its systems' ratings, which a history holds where it rated
    these systems; else that of the evidence around its mean in each fifth.
    """
    known = np.isfinite(evidence)
    q = np.argsort(np.argsort(badness[known], kind="stable"), kind="stable") / max(known.sum(), 1)
    fifth = (q * 5).astype(np.int64)
    counts = np.bincount(fifth, minlength=5)
    inside = np.nan_to_num(np.nanvar(history[:, known], axis=0))
    if not inside.any():
        means = np.bincount(fifth, evidence[known], minlength=5) / np.maximum(counts, 1)
        inside = (evidence[known] - means[fifth]) ** 2
    spread = np.sqrt(np.bincount(fifth, inside, minlength=5) / np.maximum(counts, 1))
    rise, base = np.polyfit((np.arange(5) + 0.5) / 5, spread, 1)
    return float(np.clip(rise / base, 0.0, STEEPEST)) if base > 0 else STEEPEST
