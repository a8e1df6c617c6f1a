"""The mixed model of effort, and what is read from it.

``y ~ system + document (+ place) + (1|editor) + (1|segment) + (1|editor x document)``: one editor's
work on one document has a level of its own, so that its segments are not independent. Leaving
that term out halves the standard errors. Tests use the degrees of freedom of the design, that is
of an analysis of the editors' document means, not of the segments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from assay.errors import InputError
from assay.kits.measures import MEASURES
from assay.stats.reml import MixedDesign, MixedFit, fit_without_each

__all__ = ["Model", "Names", "adjusted", "document_shares", "fit_model", "fixed_columns", "t_p"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Names:
    """The systems, documents and editors, in the order of the table."""

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    editors: tuple[str, ...]

    def codes(self, frame: pl.DataFrame) -> tuple[Ints, Ints, Ints]:
        """System, document and editor of every row, as numbers."""
        return (
            _codes(frame["system"], self.systems),
            _codes(frame["doc"], self.documents),
            _codes(frame["editor"], self.editors),
        )


def _codes(column: pl.Series, names: tuple[str, ...]) -> Ints:
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[name] for name in column], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Model:
    """One measure's fit; the first coefficients are the systems' means."""

    measure: str
    fit: MixedFit | None
    """None where every segment has the same value: there is nothing to fit."""
    means: Floats
    freedom: int
    cell_size: float
    """Segments per editor and document (harmonic mean)."""
    segments: int
    """Different segments."""
    without: Floats
    """The systems' means with each editor left out in turn (editors x systems), and their
    standard errors of differences; not numbers where the rest does not determine them."""
    without_stderr: Floats
    without_freedom: Ints

    def contrast(self, weights: Floats) -> tuple[float, float]:
        """A combination of the systems' means and its standard error."""
        if self.fit is None:
            return float(weights @ self.means), float("nan")
        full = np.zeros(len(self.fit.coefficients))
        full[: len(weights)] = weights
        return self.fit.contrast(full)

    @property
    def cell_variance(self) -> float:
        """Variance of one editor's mean over one document, editor and document known."""
        if self.fit is None:
            return float("nan")
        return float(self.fit.components[2] + self.fit.residual / self.cell_size)

    def mean_freedom(self, stderr: float, editors: int, documents: int) -> float:
        """Degrees of freedom of a system's mean (Satterthwaite).

        Unlike a difference it carries the spread of editors, known from as many as there are less
        one, and that of segments; the rest is spread within editors.
        """
        if self.fit is None:
            return float(self.freedom)
        between = (self.fit.components[0] + self.cell_variance / documents) / editors
        texts = self.fit.components[1] / self.segments
        within = max(stderr**2 - between - texts, 0.0)
        pieces = (between, editors - 1), (texts, self.segments - 1), (within, self.freedom)
        spread = sum(part**2 / max(freedom, 1) for part, freedom in pieces)
        return float((between + texts + within) ** 2 / spread)


def fixed_columns(
    system: Ints, document: Ints, place: Ints | None, sizes: tuple[int, int], *, documents: bool
) -> tuple[Floats, tuple[str, ...]]:
    """Indicators of the systems; documents and places as deviations from their averages.

    Places are left out where they cannot be told from documents and systems.
    """
    parts, used = [np.eye(sizes[0])[system]], ["system"]
    if documents and sizes[1] > 1:
        parts.append(_deviations(document))
        used.append("document")
    matrix = np.hstack(parts)
    if place is not None and place.max() > 0:
        wider = np.hstack([matrix, _deviations(place)])
        if np.linalg.matrix_rank(wider) == wider.shape[1]:
            matrix = wider
            used.append("place")
    return matrix, tuple(used)


def _deviations(codes: Ints) -> Floats:
    levels = int(codes.max()) + 1
    return np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])[codes]


def fit_model(
    frame: pl.DataFrame, measure: str, names: Names, *, documents: bool
) -> tuple[Model, tuple[str, ...]]:
    """Fit one measure; also which fixed effects are in the model."""
    frame = frame.filter(pl.col(measure).is_not_null())
    system, document, editor = names.codes(frame)
    place = None if frame["place"].null_count() else frame["place"].to_numpy().astype(np.intp) - 1
    sizes = (len(names.systems), len(names.documents))
    fixed, used = fixed_columns(system, document, place, sizes, documents=documents)
    if np.linalg.matrix_rank(fixed) < fixed.shape[1]:
        _refuse_confounded(measure, system, document, names)
    cell = editor * sizes[1] + document
    freedom = _freedom(fixed, editor, cell)
    if freedom < 1 and "place" in used:
        # Few editors: better no allowance for tiredness than no test at all. A warning says so.
        fixed, used = fixed_columns(system, document, None, sizes, documents=documents)
        freedom = _freedom(fixed, editor, cell)
    if freedom < 1:
        raise InputError(
            f"{len(names.editors)} editors leave no degree of freedom to judge the spread of"
            f" {measure}; add editors"
        )
    y = frame[measure].to_numpy()
    segment = _dense(document, frame["seg"])
    factors = [editor, segment, np.unique(cell, return_inverse=True)[1]]
    fit = None if np.ptp(y) == 0 else MixedDesign(fixed, factors).fit(y)
    means = np.full(sizes[0], y[0]) if fit is None else fit.coefficients[: sizes[0]]
    counts = np.unique(cell, return_counts=True)[1]
    size = float(len(counts) / np.sum(1 / counts))
    left_out = _without(y, fixed, editor, factors, fit, sizes[0])
    different = int(segment.max()) + 1
    return Model(measure, fit, means, freedom, size, different, *left_out), used


def _dense(document: Ints, seg: pl.Series) -> Ints:
    keys = [f"{doc}\t{name}" for doc, name in zip(document, seg, strict=True)]
    return np.unique(keys, return_inverse=True)[1].astype(np.intp)


def _refuse_confounded(measure: str, system: Ints, document: Ints, names: Names) -> None:
    absent = [name for k, name in enumerate(names.systems) if not np.any(system == k)]
    absent += [name for k, name in enumerate(names.documents) if not np.any(document == k)]
    if absent:
        raise InputError(
            f"{', '.join(absent)} has no segment with {MEASURES[measure]}; leave {measure} out or"
            " fill it in"
        )
    raise InputError(
        "systems cannot be told from documents: no document was edited from two systems in a way"
        " that links them all; rotate the systems over the documents (assay kits design), or say"
        " that the documents are alike (--assume-alike)"
    )


def _freedom(fixed: Floats, editor: Ints, cell: Ints) -> int:
    """Cells less what editors and fixed effects take up."""
    first = np.unique(cell, return_index=True)[1]
    people = np.unique(editor[first], return_inverse=True)[1]
    counts = np.bincount(people)
    rows = fixed[first]
    # The rank of editors and fixed effects together: that of editors, and of what the fixed
    # effects vary within editors. The whole matrix would take a second where editors are many.
    means = np.stack([np.bincount(people, weights=column) / counts for column in rows.T], axis=1)
    within = rows - means[people]
    within[np.abs(within) < _ROUNDING] = 0.0
    return int(len(first) - len(counts) - np.linalg.matrix_rank(within))


def _without(
    y: Floats, fixed: Floats, editor: Ints, factors: list[Ints], fit: MixedFit | None, systems: int
) -> tuple[Floats, Floats, Ints]:
    """The fit without each editor, at the variance ratios of the whole."""
    editors = int(editor.max()) + 1
    means = np.full((editors, systems), np.nan)
    errors = np.full((editors, systems, systems), np.nan)
    freedoms = np.zeros(editors, dtype=np.intp)
    if fit is None:
        return means, errors, freedoms
    cells = np.unique(factors[2], return_index=True)[1]
    every = fit_without_each(y, fixed, (factors[0], factors[1], factors[2]), fit.ratios)
    for gone, (coefficients, covariance) in enumerate(zip(*every, strict=True)):
        keep = editor != gone
        freedoms[gone] = _freedom(fixed[keep], editor[keep], factors[2][keep])
        # A pair of systems that only this editor links has no difference without the editor.
        left = fixed[cells[editor[cells] != gone]]
        if freedoms[gone] < 1 or np.linalg.matrix_rank(left) < fixed.shape[1]:
            continue
        means[gone] = coefficients[:systems]
        own = np.diag(covariance)[:systems]
        cross = covariance[:systems, :systems]
        errors[gone] = np.sqrt(np.maximum(own[:, None] + own - 2 * cross, 0))
    return means, errors, freedoms


def t_p(estimate: float, stderr: float, freedom: float) -> float:
    """Two-sided p; 1 where there is no difference at all, not a number without a spread."""
    if not stderr > 0:
        return 1.0 if estimate == 0 else float("nan")
    return float(2 * special.stdtr(freedom, -abs(estimate) / stderr))


def adjusted(values: Floats, editor: Ints, document: Ints) -> Floats:
    """What remains of the cells' values after editors and documents."""
    matrix = np.hstack([np.eye(editor.max() + 1)[editor], np.eye(document.max() + 1)[document]])
    return np.asarray(values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0])


def document_shares(
    values: Floats, system: Ints, document: Ints, editor: Ints, *, logs: bool
) -> tuple[Floats, Floats, int]:
    """Each document's deviation from the average one, its standard error, and the freedom.

    The cells' values are explained by system, document and editor. The documents are taken as
    they are: nothing is said about other documents of their kind. With ``logs`` deviations are
    logarithms of ratios, otherwise they are shares of the overall mean.
    """
    documents = int(document.max()) + 1
    y = np.log(values) if logs else values / values.mean()
    matrix = np.hstack(
        [_deviations(document), np.eye(editor.max() + 1)[editor], _deviations(system)]
    )
    freedom = len(y) - int(np.linalg.matrix_rank(matrix))
    if np.linalg.matrix_rank(matrix) < matrix.shape[1] or freedom < 1:
        return np.full(documents, np.nan), np.full(documents, np.nan), 0
    inverse = np.linalg.inv(matrix.T @ matrix)
    beta = inverse @ matrix.T @ y
    spread = float(np.sum((y - matrix @ beta) ** 2)) / freedom
    weights = np.vstack([np.eye(documents - 1), -np.ones(documents - 1)])
    covariance = spread * inverse[: documents - 1, : documents - 1]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", weights, covariance, weights))
    return weights @ beta[: documents - 1], errors, freedom
