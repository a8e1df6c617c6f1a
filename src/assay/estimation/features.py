"""What metrics say about each segment, as features for regression.

The features of a system are its standardised metrics, the square of their consensus, and the
document mean of the consensus. The consensus is the mean of the metrics, each turned the way that
agrees with the others, so that neither the sign nor the scale of a metric matters. Where the test
set has a history, it is the last feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.designs.population import documents_of
from assay.results import Note
from assay.tables.test_set import TestSet


@dataclass(frozen=True, slots=True, eq=False)
class Predictors:
    """The features of one system or pair as segments x features.

    The first ``metrics`` columns are the single metrics ``names``. ``known`` is where the last
    feature is known, if that is not everywhere: then its mean over all segments is itself an
    estimate.
    """

    values: np.ndarray
    metrics: int
    names: tuple[str, ...] = ()
    known: np.ndarray | None = None

    @property
    def everywhere(self) -> Predictors | None:
        """The features that are known of all segments; None where there are none."""
        if self.known is None:
            return self
        left = self.values[:, :-1]
        return Predictors(left, self.metrics, self.names) if left.shape[1] else None


@dataclass(frozen=True, slots=True)
class Features:
    """Systems x segments x features, their names, and the consensus as systems x segments."""

    values: np.ndarray
    consensus: np.ndarray
    names: tuple[str, ...]
    metrics: int
    """How many of the features are single metrics; they come first."""
    notes: tuple[Note, ...]
    history: bool = False
    """Whether the last feature is what other systems' ratings say."""
    known: np.ndarray | None = None
    """Systems x segments: where the history is known; None where it is everywhere."""

    def between(self, i: int, j: int, present: np.ndarray) -> Predictors | None:
        """The features of a system (the same one twice), or of the difference of two.

        Those of one system less those of the other; without the history then, which holds the
        ratings of either system for the other. None where nothing else is left.
        """
        if i == j:
            known = None if self.known is None else self.known[i, present]
            return Predictors(self.values[i, present], self.metrics, self.names, known)
        last = self.values.shape[-1] - self.history
        if not last:
            return None
        gap = self.values[i, present, :last] - self.values[j, present, :last]
        return Predictors(gap, self.metrics, self.names)


def make_features(test_set: TestSet) -> Features | None:
    """The features of every system; None where there is no metric to speak of."""
    layers, names, notes = [], [], []
    for name in test_set.metrics:
        values, missing = _standardised(test_set.matrix(name), test_set.present)
        if values is None:
            notes.append(Note("metric-unused", f"{name} is constant or missing: not used"))
            continue
        if missing:
            text = f"{name}: {missing} missing values count as average"
            notes.append(Note("metric-missing", text))
        layers.append(values)
        names.append(name)
    history = _history(test_set)
    if not layers and history is None:
        return None
    parts, consensus = list(layers), np.zeros(test_set.present.shape)
    if layers:
        consensus = _consensus(np.stack(layers, axis=-1))
        parts.append(_scaled(consensus**2, test_set.present))
        names.append("consensus squared")
        if test_set.has_documents and test_set.documents.height > 1:
            parts.append(
                _scaled(_document_mean(consensus, documents_of(test_set)), test_set.present)
            )
            names.append("consensus of the document")
    if history is not None:
        parts.append(history)
        names.append("history")
    values = np.stack(parts, axis=-1)
    return Features(
        values, consensus, tuple(names), len(layers), tuple(notes), history is not None,
        None if history is None else _known(test_set),
    )  # fmt: skip


def _known(test_set: TestSet) -> np.ndarray | None:
    known = np.isfinite(test_set.matrix("history"))
    return None if (known | ~test_set.present).all() else known


def _history(test_set: TestSet) -> np.ndarray | None:
    """What other systems' ratings say, standardised; None where nothing."""
    if test_set.history is None:
        return None
    return _standardised(test_set.matrix(test_set.history), test_set.present)[0]


def _standardised(values: np.ndarray, present: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Every system's scores with mean 0 and sd 1, missing ones 0; how many were missing."""
    known = np.isfinite(values) & present
    missing = int((present & ~known).sum())
    filled = np.where(known, values, 0.0)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = filled.sum(axis=1, keepdims=True) / count
    gap = np.where(known, values - mean, 0.0)
    spread = np.sqrt((gap**2).sum(axis=1, keepdims=True) / count)
    tiny = spread <= 1e-12 * (1 + np.abs(mean))
    if tiny.all():
        return None, missing
    return np.where(tiny, 0.0, gap / np.where(tiny, 1.0, spread)), missing


def _consensus(stack: np.ndarray) -> np.ndarray:
    """The mean of the metrics, each signed to agree with their first principal component.

    Its direction is left open: it is squared, or a regression finds its slope. The badness by which
    samples are drawn must know which side is bad, and so trusts stated directions and majorities.
    """
    flat = stack.reshape(-1, stack.shape[-1])
    _, vectors = np.linalg.eigh(flat.T @ flat)
    signs = np.sign(vectors[:, -1])
    signs = np.where(signs == 0, 1.0, signs)
    mean = stack @ signs / len(signs)
    spread = mean.std(axis=1, keepdims=True)
    return np.asarray(np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0))


def _document_mean(consensus: np.ndarray, document: np.ndarray) -> np.ndarray:
    sizes = np.bincount(document)
    rows = [np.bincount(document, row)[document] / sizes[document] for row in consensus]
    return np.stack(rows)


def _scaled(values: np.ndarray, present: np.ndarray) -> np.ndarray:
    scaled, _ = _standardised(values, present)
    return np.zeros_like(values) if scaled is None else scaled
