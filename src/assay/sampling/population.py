"""The test set in the terms of sampling: documents, predicted badness, costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.sampling.plans import Layout
from assay.tables import TestSet

__all__ = ["Population"]


@dataclass(frozen=True, eq=False)
class Population:
    """Segments in reading order, as a design needs to know them."""

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
                f"the scores hold {pairs.n_unique()} language pairs ({shown}, ...); draw from one"
                " at a time: --lp PAIR, or test_set.split('lp') in Python"
            )

    def of_system(self, system: str) -> Population:
        """The segments that one system translated, for a sample of its own."""
        own = self.test_set.frame.filter(pl.col("system") == system)
        return Population(replace(self.test_set, frame=own, notes=()))

    @property
    def size(self) -> int:
        """N, the number of segments."""
        return self.test_set.segments.height

    @cached_property
    def layout(self) -> Layout:
        """Documents as stretches of the reading order; one, where there are none."""
        lengths = self.test_set.documents["segments"].to_numpy()
        return Layout(lengths.astype(np.int64))

    def need_documents(self, design: str, *, several: bool) -> None:
        """Refuse a design that draws by documents where there are none, or only one."""
        if not self.test_set.has_documents:
            raise InputError(
                f"the design {design} draws by documents and the scores have no doc column;"
                " add one, or use --design segments"
            )
        if several and len(self.layout.lengths) == 1:
            raise InputError(
                f"the design {design} draws among documents and the test set is a single one of"
                f" {self.size} segments; use --design snippets, which cuts it into sections"
            )

    @cached_property
    def badness(self) -> np.ndarray:
        """How bad each segment is predicted to be: the mean of the standardised metrics.

        Averaged over systems, turned so that more is worse, with mean 0 and standard deviation 1.
        A segment that no metric scores is taken as average.
        """
        if not self.test_set.metrics:
            raise InputError(
                "the design needs metrics and the scores have none; add metric columns or use"
                " a design that needs none, such as snippets or segments"
            )
        total = np.zeros(self.size)
        known = np.zeros(self.size)
        for name in self.test_set.metrics:
            values = _mean_over_systems(self.test_set.matrix(name))
            spread = np.nanstd(values) if np.isfinite(values).any() else 0.0
            if spread > 0:
                z = (values - np.nanmean(values)) / spread
                z = z if name in self.test_set.lower_metrics else -z
                total += np.nan_to_num(z)
                known += np.isfinite(z)
        mean = total / np.maximum(known, 1)
        spread = mean.std()
        return np.asarray((mean - mean.mean()) / spread if spread > 0 else mean * 0)

    def column(self, name: str) -> np.ndarray | None:
        """A numeric column of the segments, if the scores have it; missing values are NaN."""
        if name not in self.test_set.segments.columns:
            return None
        return self.test_set.segments[name].cast(pl.Float64).to_numpy()


def _mean_over_systems(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
