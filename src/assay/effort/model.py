"""The mixed model of post-editing effort.

``y ~ system + document (+ place) + (1|editor) + (1|segment) + (1|editor x document)``: the last
term lets the segments that one editor edits in one document be correlated; without it standard
errors would be half as large. Degrees of freedom come from the design: from the means of each
editor's documents (the cells), not from the segments. If kits are not balanced, part of a
comparison lies between editors, and its precision depends on their number.

If documents are assumed alike and systems have several, documents are random, ``(1|document)``:
alike in kind, each with its own effort. A comparison of systems with different documents then has
the degrees of freedom of the documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load
from numpy.typing import NDArray

from assay.errors import InputError, need_known
from assay.stats.intervals import Interval, interval_within, t_interval
from assay.stats.reml import MixedDesign, MixedFit, fit_without_each

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Factors = tuple[Ints, ...]
"""For every row its editor, segment, cell (editor x document), and document if that is random."""
_ROUNDING = 1e-12
_SHARE = 1e-9
"""A smaller share of a variance is rounding."""
_LINKED = 1e-6
"""A smaller part of a comparison is rounding."""
_EXACT = 1e-10
"""A smaller spread, relative to the largest value, is rounding."""
MEASURES = {
    "time": "seconds per word",
    "distance": "characters edited, % of the longer text",
    "changed": "share of segments changed",
    "hter": "words edited, % of the edited text (HTER)",
}
"""The measures of effort and their units."""
Limits = tuple[float, float]
UNLIMITED: Limits = (-np.inf, np.inf)
LIMITS: Mapping[str, Limits] = {
    "time": (0.0, np.inf), "distance": (0.0, 100.0), "changed": (0.0, 1.0), "hter": (0.0, np.inf),
}  # fmt: skip
"""The least and the largest possible value of each measure."""


class Names(NamedTuple):
    """The systems, documents and editors, in the order of the table."""

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    editors: tuple[str, ...]

    def codes(self, frame: pl.DataFrame) -> tuple[Ints, Ints, Ints]:
        """The numbers of the system, document and editor of every row."""
        columns = (("system", self.systems), ("doc", self.documents), ("editor", self.editors))
        places = [(name, {label: k for k, label in enumerate(known)}) for name, known in columns]
        system, document, editor = (
            np.array([place[label] for label in frame[name]], dtype=np.intp)
            for name, place in places
        )
        return system, document, editor


def check_names(frame: pl.DataFrame, human: str | None) -> Names:
    """The names in a table of edits; refuse one by which systems cannot be compared."""
    columns = ("system", "doc", "editor")
    names = Names(*(tuple(frame[name].unique(maintain_order=True)) for name in columns))
    if len(names.systems) < 2:
        raise InputError(
            f"only one system ('{names.systems[0]}'): nothing to compare it with; add edits of"
            " another one"
        )
    if len(names.editors) < 2:
        raise InputError(
            f"only one editor ('{names.editors[0]}'): the editor's effort cannot be separated"
            " from the system's; add editors"
        )
    if human is not None:
        need_known("human", human, names.systems, "is not among the systems")
    both = frame.group_by("editor", "doc", maintain_order=True).agg(pl.col("system").n_unique())
    for row in both.filter(pl.col("system") > 1).iter_rows(named=True):
        raise InputError(
            f"editor '{row['editor']}' edited document '{row['doc']}' from {row['system']}"
            " systems: the second time differs from the first; keep one of them"
        )
    return names


class EffortModel(NamedTuple):
    """The fit of one measure; the first coefficients are the means of the systems."""

    measure: str
    fixed: tuple[str, ...]
    """The names of the fixed effects: system, document, place."""
    fit: MixedFit | None
    """None if there is no spread within editors by which to judge a difference."""
    means: Floats
    degrees: int
    """Degrees of freedom of comparisons within editors, then those between editors and between
    the segments of a document."""
    between_degrees: int
    text_degrees: int
    cell_sizes: Floats
    """The number of segments of each cell (editor x document), its editor and its document."""
    cell_editor: Ints
    cell_document: Ints
    document_sizes: Floats
    """The number of segments of each document."""
    document_degrees: int
    """Degrees of freedom between documents; 0 if documents are not random."""
    without: Floats
    """The means of the systems without each editor in turn (editors x systems), the standard
    errors of their differences, and the degrees of freedom; NaN if the rest cannot tell."""
    without_stderr: Floats
    without_degrees: Ints
    unlinked: Floats
    """A basis of the combinations of coefficients that no editor's own work determines."""
    limits: Limits
    """The least and the largest possible mean."""

    def contrast(self, weights: Floats) -> tuple[float, float]:
        """A combination of the systems' means and its standard error; NaN if it is not linked."""
        if not self.is_linked(weights):
            return float("nan"), float("nan")
        if self.fit is None:
            return float(weights @ self.means), float("nan")
        return self.fit.contrast(self._padded(weights))

    def is_linked(self, weights: Floats) -> bool:
        """Whether editors' own work determines a comparison (or a mean relative to the others).

        Otherwise it would depend on how fast or thorough one editor is compared with another.
        """
        full = self._padded(weights - weights.sum() / len(weights))
        return bool(np.abs(full @ self.unlinked).max(initial=0.0) < _LINKED)

    def interval(self, number: int, level: float) -> Interval:
        """The interval of a system's mean, within the limits; NaN if it is unknown."""
        weights = np.eye(len(self.means))[number]
        mean, error = self.contrast(weights)
        return self._inside(mean, error, self.contrast_degrees(weights), level, self.limits)

    def comparing_interval(self, number: int, level: float) -> Interval:
        """An interval whose standard error, for two systems, adds up to that of a difference."""
        systems = np.eye(len(self.means))
        pairs = [systems[number] - other for k, other in enumerate(systems) if k != number]
        error = float(np.sqrt(np.mean([self.contrast(pair)[1] ** 2 for pair in pairs]) / 2))
        degrees = min(self.contrast_degrees(pair) for pair in pairs)
        mean, _ = self.contrast(systems[number])
        return self._inside(mean, error, degrees, level, self.limits)

    def difference_interval(self, weights: Floats, level: float) -> Interval:
        """The interval of a difference; its end next to 0 is that of the t test, so both agree."""
        value, error = self.contrast(weights)
        degrees, most = self.contrast_degrees(weights), self.limits[1] - self.limits[0]
        inside = self._inside(value, error, degrees, level, (-most, most))
        plain = t_interval(value, error, degrees, level)
        if plain.low > 0:
            return Interval(plain.low, inside.high, level)
        return Interval(inside.low, plain.high, level) if plain.high < 0 else inside

    @staticmethod
    def _inside(
        value: float, error: float, degrees: float, level: float, limits: Limits
    ) -> Interval:
        if np.isnan(error):
            return Interval(float("nan"), float("nan"), level)
        return interval_within(value, error, degrees, level, *limits)

    def _padded(self, weights: Floats) -> Floats:
        """Extend weights of the systems to weights of all coefficients."""
        return np.pad(weights, (0, len(self.unlinked) - len(weights)))

    @property
    def editors(self) -> int:
        """The number of editors with a value."""
        return len(np.unique(self.cell_editor))

    def contrast_degrees(self, weights: Floats) -> float:
        """Degrees of freedom of a combination of the systems' means (Satterthwaite 1946).

        The variance has a part between editors, one between segments of a document, one between
        documents if they are random, and one within editors, each with its own degrees of freedom.
        With balanced kits a difference of two systems lies within editors alone and its degrees of
        freedom are exact; no difference has more. A mean contains all parts.
        """
        if self.fit is None:
            return float(self.degrees)
        full = self._padded(weights)
        by_editor, by_segment, by_cell = (loads @ full for loads in self.fit.loads[:3])
        spread = self.fit.components[2] + self.fit.residual / self.cell_sizes
        shared = by_editor[self.cell_editor] / _sizes(self.cell_editor)
        between = float(self.fit.components[0] * (by_editor @ by_editor) + shared**2 @ spread)
        texts = float(self.fit.components[1] * (by_segment @ by_segment))
        rest, of_documents = by_cell - shared, 0.0
        if self.document_degrees:
            by_document = self.fit.loads[3] @ full
            common = by_document[self.cell_document] / _sizes(self.cell_document)
            of_texts = self.fit.components[1] * by_document**2 / self.document_sizes
            own = self.fit.components[3] * (by_document @ by_document) + common**2 @ spread
            rest, texts = rest - common, texts - float(of_texts.sum())
            of_documents = float(own + of_texts.sum())
        within = max(self.fit.contrast(full)[1] ** 2 - between - texts - of_documents, 0.0)
        parts = (
            (between, self.between_degrees),
            (texts, self.text_degrees),
            (of_documents, self.document_degrees),
            (within, self._within_degrees(rest, spread)),
        )
        total = sum(part for part, _ in parts)
        degrees = float(total**2 / sum(part**2 / max(own, 1) for part, own in parts))
        difference = abs(float(weights.sum())) <= _SHARE
        most = max(self.degrees, self.document_degrees)
        return float(most) if difference and degrees > most * (1 - _SHARE) else degrees

    def _within_degrees(self, loads: Floats, spread: Floats) -> float:
        """Those of the design if all cells have one size; fewer if a few long cells dominate.

        Each cell informs about the spread of cells with a weight of one over its variance squared.
        """
        square = float(loads @ loads)
        if not square > 0:
            return float(self.degrees)
        share = float(loads**2 @ spread) ** 2 * float(np.mean(spread**-2.0)) / square**2
        return min(self.degrees * share, float(self.degrees))


def fixed_columns(
    system: Ints, document: Ints, place: Ints | None, sizes: tuple[int, int], *, documents: bool
) -> tuple[Floats, tuple[str, ...]]:
    """The matrix of fixed effects and their names.

    Systems are indicators, documents and places deviations from their averages. Places are left
    out if they are confounded with documents and systems.
    """
    parts, used = [np.eye(sizes[0])[system]], ["system"]
    if documents and sizes[1] > 1:
        parts.append(deviations(document))
        used.append("document")
    matrix = np.hstack(parts)
    if place is not None and place.max() > 0:
        wider = np.hstack([matrix, deviations(place)])
        if np.linalg.matrix_rank(wider) == wider.shape[1]:
            matrix = wider
            used.append("place")
    return matrix, tuple(used)


def deviations(codes: Ints) -> Floats:
    """Indicator columns of the codes as deviations from their average."""
    levels = int(codes.max()) + 1
    return np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])[codes]


def fit_model(
    frame: pl.DataFrame, measure: str, names: Names, *, documents: bool, limits: Limits = UNLIMITED
) -> EffortModel:
    """Fit the model to one measure of the segments, with fixed ``documents`` or without."""
    frame = frame.filter(pl.col(measure).is_not_null())
    system, document, editor = names.codes(frame)
    place = None if frame["place"].null_count() else frame["place"].to_numpy().astype(np.intp) - 1
    sizes = (len(names.systems), len(names.documents))
    cell = np.unique(editor * sizes[1] + document, return_inverse=True)[1]
    fixed, used = fixed_columns(system, document, place, sizes, documents=documents)
    if np.linalg.matrix_rank(fixed) < fixed.shape[1]:
        _refuse_confounded(measure, system, document, names)
    degrees, unlinked = _degrees(fixed, editor, cell), _unlinked(fixed, editor, cell, sizes[0])
    if "place" in used and (degrees < 1 or unlinked.shape[1]):
        # Better no allowance for fatigue than no test. A warning says so.
        fixed, used = fixed_columns(system, document, None, sizes, documents=documents)
        degrees, unlinked = _degrees(fixed, editor, cell), _unlinked(fixed, editor, cell, sizes[0])
    if degrees < 1:
        raise InputError(
            f"{len(names.editors)} editors are too few to estimate the spread of {measure}; add"
            " editors"
        )
    y = frame[measure].to_numpy()
    keys = [f"{doc}\t{name}" for doc, name in zip(document, frame["seg"], strict=True)]
    starts, segment = np.unique(keys, return_index=True, return_inverse=True)[1:]
    segment = segment.astype(np.intp)
    first = np.unique(cell, return_index=True)[1]
    text = np.unique(document, return_inverse=True)[1]
    factors: Factors = (editor, segment, cell)
    between = 0 if documents else _random_degrees(fixed[first], text[first])
    if between:
        factors = (*factors, text)
        apart = np.hstack([fixed, deviations(text)])
        degrees = max(_degrees(apart, editor, cell), 1)
    fit = None if _without_spread(y, fixed, factors) else MixedDesign(fixed, factors).fit(y)
    means = np.linalg.lstsq(fixed, y, rcond=None)[0] if fit is None else fit.coefficients
    without = _without(y, fixed, factors, fit, sizes[0], len(names.editors))
    return EffortModel(
        measure, used, fit, means[: sizes[0]], degrees,
        between_degrees=_between_degrees(fixed[first], editor[first]),
        text_degrees=int(segment.max()) + 1 - len(np.unique(document)),
        cell_sizes=np.bincount(cell).astype(float), cell_editor=editor[first],
        cell_document=text[first], document_sizes=np.bincount(text[starts]).astype(float),
        document_degrees=between, without=without[0], without_stderr=without[1],
        without_degrees=without[2], unlinked=unlinked, limits=limits,
    )  # fmt: skip


def _random_degrees(rows: Floats, document: Ints) -> int:
    """Documents less the rank of the fixed effects between them.

    0 if every document belongs to one cell: its effort is then that of its only editor.
    """
    if len(np.unique(document)) == len(document):
        return 0
    return _between_degrees(rows, document)


def _sizes(codes: Ints) -> Ints:
    """For every entry, the number of entries with the same code."""
    return np.asarray(np.bincount(codes)[codes])


def _without_spread(y: Floats, fixed: Floats, factors: Factors) -> bool:
    """Whether editors, segments and fixed effects explain every value up to rounding."""
    limit = _EXACT * float(np.abs(y).max())
    editor, segment, cell = factors[:3]
    means = _means(y, cell)
    first = np.unique(cell, return_index=True)[1]
    # Documents' means first: what remains of them when editors and fixed effects are known.
    columns = np.column_stack([_means(column, cell) for column in (*fixed.T, y)])
    people = np.unique(editor[first], return_inverse=True)[1]
    within = columns - np.column_stack([_means(c, people)[people] for c in columns.T])
    beta = np.linalg.lstsq(within[:, :-1], within[:, -1], rcond=_ROUNDING)[0]
    if np.abs(within[:, -1] - within[:, :-1] @ beta).max() > limit:
        return False
    rest = y - means[cell]
    return bool(np.abs(rest - _means(rest, segment)[segment]).max() <= limit)


def _means(values: Floats, codes: Ints) -> Floats:
    return np.asarray(np.bincount(codes, weights=values) / np.bincount(codes))


def _refuse_confounded(measure: str, system: Ints, document: Ints, names: Names) -> None:
    absent = [name for k, name in enumerate(names.systems) if not np.any(system == k)]
    absent += [name for k, name in enumerate(names.documents) if not np.any(document == k)]
    if absent:
        raise InputError(
            f"{', '.join(absent)} has no segment with {MEASURES[measure]}; leave {measure} out or"
            " fill it in"
        )
    raise InputError(
        "systems cannot be separated from documents: the systems are not all linked by documents"
        " that were edited from two or more of them; rotate the systems over the documents (assay"
        " kits design), or assume that the documents are alike (`assume_alike`)"
    )


def _degrees(fixed: Floats, editor: Ints, cell: Ints) -> int:
    """Cells less the rank of editors and fixed effects together."""
    # This rank is the number of editors plus the rank of the fixed effects within editors. The
    # rank of the whole matrix would take a second if there are many editors.
    within = _within(fixed, editor, cell)
    return int(len(within) - len(np.unique(editor)) - np.linalg.matrix_rank(within))


def _within(fixed: Floats, editor: Ints, cell: Ints) -> Floats:
    """The fixed effects of every cell less their mean over the editor's cells."""
    first = np.unique(cell, return_index=True)[1]
    people = np.unique(editor[first], return_inverse=True)[1]
    rows = fixed[first]
    means = np.column_stack([_means(column, people) for column in rows.T])
    within = rows - means[people]
    within[np.abs(within) < _ROUNDING] = 0.0
    return np.asarray(within)


def _unlinked(fixed: Floats, editor: Ints, cell: Ints, systems: int) -> Floats:
    """A basis of the combinations of coefficients that no editor's own work determines.

    The common level of all systems is not among them. If every editor had a single system, it is
    the editors that are compared, and nothing is unlinked either.
    """
    within = _within(fixed, editor, cell)
    if not within[:, :systems].any():
        return np.zeros((fixed.shape[1], 0))
    null = scipy.linalg.null_space(within, rcond=1e-9)
    level = np.zeros(fixed.shape[1])
    level[:systems] = 1.0
    rest = null - np.outer(level, level @ null) / systems
    # Absolute sizes: what is left of the level itself is rounding.
    basis, size, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(basis[:, size > _LINKED])


def _between_degrees(rows: Floats, group: Ints) -> int:
    """Groups (editors or documents) less the rank of the fixed effects between them."""
    groups = np.unique(group, return_inverse=True)[1]
    means = np.column_stack([_means(column, groups) for column in rows.T])
    return int(len(means) - np.linalg.matrix_rank(means))


def _without(
    y: Floats, fixed: Floats, factors: Factors, fit: MixedFit | None, systems: int, editors: int
) -> tuple[Floats, Floats, Ints]:
    """The fit without each editor in turn, at the variance ratios of the whole.

    NaN for an editor without a value, where there is nothing to leave out.
    """
    means = np.full((editors, systems), np.nan)
    errors = np.full((editors, systems, systems), np.nan)
    degrees = np.zeros(editors, dtype=np.intp)
    if fit is None:
        return means, errors, degrees
    editor, cell = factors[0], factors[2]
    first = np.unique(cell, return_index=True)[1]
    every = fit_without_each(y, fixed, factors, fit.ratios)
    for gone, (coefficients, covariance) in enumerate(zip(*every, strict=True)):
        keep = editor != gone
        if keep.all():
            continue
        degrees[gone] = _degrees(fixed[keep], editor[keep], cell[keep])
        # Without this editor some systems may no longer be linked.
        left = fixed[first[editor[first] != gone]]
        if degrees[gone] < 1 or np.linalg.matrix_rank(left) < fixed.shape[1]:
            continue
        if _unlinked(fixed[keep], editor[keep], cell[keep], systems).shape[1]:
            continue
        means[gone] = coefficients[:systems]
        variance = np.diag(covariance)[:systems]
        cross = covariance[:systems, :systems]
        errors[gone] = np.sqrt(np.maximum(variance[:, None] + variance - 2 * cross, 0))
    return means, errors, degrees


def t_p(estimate: float, stderr: float, degrees: float) -> float:
    """Two-sided p; 1 for a difference of 0 without spread, NaN for any other without spread."""
    if not stderr > 0:
        return 1.0 if estimate == 0 else float("nan")
    return float(2 * scipy.special.stdtr(degrees, -abs(estimate) / stderr))
