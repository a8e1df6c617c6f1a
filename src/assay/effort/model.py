"""What an edited segment cost, and the mixed model of it.

Distances are always computed from the two texts; what a tool reports about them is not used.

``y ~ system + document (+ place) + (1|editor) + (1|segment) + (1|editor x document)``: one editor's
work on one document has a level of its own, so that its segments are not independent. Leaving
that term out halves the standard errors. Tests use the degrees of freedom of the design, that is
of an analysis of the editors' document means, not of the segments. What of a comparison lies
between editors, because kits are not balanced, is known from as many editors as there are.

Where documents are assumed alike and systems have several, they are ``(1|document)`` instead: alike
in kind, each with an effort of its own. A comparison of systems that have different documents then
has the degrees of freedom of the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load
from numpy.typing import NDArray

from assay.errors import InputError, OptionError, need_known
from assay.results import Note, plural
from assay.stats.intervals import Interval, interval_within, t_interval
from assay.stats.progress import Progress, silent
from assay.stats.reml import MixedDesign, MixedFit, fit_without_each
from assay.tables.edits import Edits, edit_distance

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Factors = tuple[Ints, ...]
"""Editor, segment, editor x document (cell), and the document if it is random, of every row."""
_ROUNDING = 1e-12
_SHARE = 1e-9
"""A share of a variance that is rounding."""
_LINKED = 1e-6
"""A part of a comparison below this is rounding."""
_EXACT = 1e-10
"""A spread below this share of the largest value is rounding."""
MEASURES = {
    "time": "seconds per word",
    "distance": "characters edited, % of the longer text",
    "changed": "share of segments changed",
    "hter": "words edited, % of the edited text (HTER)",
}
"""The measures of effort and their units."""
DEFAULT = ("time", "distance", "changed")
Limits = tuple[float, float]
UNLIMITED: Limits = (-np.inf, np.inf)
MOST_WORDS_SHIFTED = 150
"""HTER looks for shifted words in segments of up to so many,"""
MOST_WORDS_SEARCHED, MOST_ERRORS_SEARCHED = 1000, 50
"""and of up to so many where only so few words differ: few differences are soon searched."""
LIMITS: Mapping[str, Limits] = {
    "time": (0.0, np.inf), "distance": (0.0, 100.0), "changed": (0.0, 1.0), "hter": (0.0, np.inf),
}  # fmt: skip
"""What a measure can be at least and at most."""
_OFFSET = 0.05
"""What is added to times before their logarithm where some are 0, a share of their mean."""


class Names(NamedTuple):
    """The systems, documents and editors, in the order of the table."""

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    editors: tuple[str, ...]

    def codes(self, frame: pl.DataFrame) -> tuple[Ints, Ints, Ints]:
        """System, document and editor of every row, as numbers."""
        columns = (("system", self.systems), ("doc", self.documents), ("editor", self.editors))
        system, document, editor = (_codes(frame[name], own) for name, own in columns)
        return system, document, editor


def _codes(column: pl.Series, names: tuple[str, ...]) -> Ints:
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[name] for name in column], dtype=np.intp)


def check_names(frame: pl.DataFrame, human: str | None) -> Names:
    """The names in a table of edits, if systems can be compared by it."""
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
    """One measure's fit; the first coefficients are the systems' means."""

    measure: str
    fixed: tuple[str, ...]
    """The fixed effects in the model: system, document, place."""
    fit: MixedFit | None
    """None where nothing is left to judge a difference by: no spread within editors."""
    means: Floats
    degrees: int
    """Degrees of freedom of what is compared within editors."""
    between_degrees: int
    """The same between editors."""
    text_degrees: int
    """The same between segments of a document."""
    cell_sizes: Floats
    """Segments of each editor and document, and whose they are."""
    cell_editor: Ints
    cell_document: Ints
    document_sizes: Floats
    """Segments of each document."""
    document_degrees: int
    """Degrees of freedom between documents; 0 where documents are not random."""
    without: Floats
    """The systems' means with each editor left out in turn (editors x systems), and their
    standard errors of differences; not numbers where the rest does not determine them."""
    without_stderr: Floats
    without_degrees: Ints
    unlinked: Floats
    """Combinations of the coefficients that no editor's own work tells of (coefficients x ...)."""
    limits: Limits
    """What a mean can be at least and at most."""

    def contrast(self, weights: Floats) -> tuple[float, float]:
        """A combination of the systems' means and its standard error; not numbers if unlinked."""
        if not self.is_linked(weights):
            return float("nan"), float("nan")
        if self.fit is None:
            return float(weights @ self.means), float("nan")
        return self.fit.contrast(self._padded(weights))

    def is_linked(self, weights: Floats) -> bool:
        """Whether editors' own work tells of this comparison, or of a mean against the others'.

        Else it would rest on how fast or thorough one editor is against another.
        """
        full = self._padded(weights - weights.sum() / len(weights))
        return bool(np.abs(full @ self.unlinked).max(initial=0.0) < _LINKED)

    def interval(self, number: int, level: float) -> Interval:
        """A system's mean with its interval, inside what is possible; not numbers if unknown."""
        weights = np.eye(len(self.means))[number]
        mean, error = self.contrast(weights)
        return self._inside(mean, error, self.contrast_degrees(weights), level, self.limits)

    def comparing_interval(self, number: int, level: float) -> Interval:
        """An interval whose standard error twice makes up that of a difference."""
        systems = np.eye(len(self.means))
        pairs = [systems[number] - other for k, other in enumerate(systems) if k != number]
        error = float(np.sqrt(np.mean([self.contrast(pair)[1] ** 2 for pair in pairs]) / 2))
        degrees = min(self.contrast_degrees(pair) for pair in pairs)
        mean, _ = self.contrast(systems[number])
        return self._inside(mean, error, degrees, level, self.limits)

    def difference_interval(self, weights: Floats, level: float) -> Interval:
        """The interval of a difference; the end next to 0 is the t test's, so that both agree."""
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
        """Weights of the systems as weights of all coefficients."""
        return np.pad(weights, (0, len(self.unlinked) - len(weights)))

    @property
    def editors(self) -> int:
        """Editors who have a value."""
        return len(np.unique(self.cell_editor))

    def contrast_degrees(self, weights: Floats) -> float:
        """Degrees of freedom of a combination of the systems' means (Satterthwaite).

        Its variance has a part between editors, one between segments of a document, one between
        documents if they are random, and one within editors, each with its own degrees of freedom.
        In balanced kits a difference of two systems lies within editors alone, and its degrees of
        freedom are exact; it never has more than these. A mean carries all parts.
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
        """The design's where cells are of one size; fewer where a few long ones count most.

        Each cell tells of the spread of cells with a weight of one over its variance squared.
        """
        square = float(loads @ loads)
        if not square > 0:
            return float(self.degrees)
        share = float(loads**2 @ spread) ** 2 * float(np.mean(spread**-2.0)) / square**2
        return min(self.degrees * share, float(self.degrees))


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
    frame: pl.DataFrame, measure: str, names: Names, *, documents: bool, limits: Limits = UNLIMITED
) -> EffortModel:
    """Fit one measure of the segments; ``documents`` are allowed for unless assumed alike."""
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
        # Better no allowance for tiredness than no test at all. A warning says so.
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
        apart = np.hstack([fixed, _deviations(text)])
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
    """Documents of the cells less what the fixed effects take up between them.

    0 where every system has one document, which is then all there is of it, and where every
    document has one editor: what a document costs is then what that editor's work on it costs.
    """
    if len(np.unique(document)) == len(document):
        return 0
    return _between_degrees(rows, document)


def _sizes(codes: Ints) -> Ints:
    """For every entry, how many have its code."""
    return np.asarray(np.bincount(codes)[codes])


def _without_spread(y: Floats, fixed: Floats, factors: Factors) -> bool:
    """Whether editors, segments and the fixed part leave nothing but rounding."""
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
    """Cells less what editors and fixed effects take up."""
    # The rank of editors and fixed effects together: that of editors, and of what the fixed
    # effects vary within editors. The whole matrix would take a second where editors are many.
    within = _within(fixed, editor, cell)
    return int(len(within) - len(np.unique(editor)) - np.linalg.matrix_rank(within))


def _within(fixed: Floats, editor: Ints, cell: Ints) -> Floats:
    """What the fixed effects of each editor's documents vary within the editor."""
    first = np.unique(cell, return_index=True)[1]
    people = np.unique(editor[first], return_inverse=True)[1]
    rows = fixed[first]
    means = np.column_stack([_means(column, people) for column in rows.T])
    within = rows - means[people]
    within[np.abs(within) < _ROUNDING] = 0.0
    return np.asarray(within)


def _unlinked(fixed: Floats, editor: Ints, cell: Ints, systems: int) -> Floats:
    """Directions of the coefficients that no editor's own work tells of.

    The common level of all systems is not one of these. Where every editor had one system
    throughout, editors are what is compared, and nothing is unlinked either.
    """
    within = _within(fixed, editor, cell)
    if not within[:, :systems].any():
        return np.zeros((fixed.shape[1], 0))
    null = scipy.linalg.null_space(within, rcond=1e-9)
    level = np.zeros(fixed.shape[1])
    level[:systems] = 1.0
    rest = null - np.outer(level, level @ null) / systems
    # Lengths in all: what is left of the level itself is rounding.
    basis, size, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(basis[:, size > _LINKED])


def _between_degrees(rows: Floats, group: Ints) -> int:
    """Editors, or documents, less what the fixed effects take up between them."""
    groups = np.unique(group, return_inverse=True)[1]
    means = np.column_stack([_means(column, groups) for column in rows.T])
    return int(len(means) - np.linalg.matrix_rank(means))


def _without(
    y: Floats, fixed: Floats, factors: Factors, fit: MixedFit | None, systems: int, editors: int
) -> tuple[Floats, Floats, Ints]:
    """The fit without each editor, at the variance ratios of the whole.

    Without an editor who has no value all stays as it is: there is nothing to leave out.
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
        # A pair of systems that only this editor links has no difference without the editor.
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
    """Two-sided p; 1 where there is no difference at all, not a number without a spread."""
    if not stderr > 0:
        return 1.0 if estimate == 0 else float("nan")
    return float(2 * scipy.special.stdtr(degrees, -abs(estimate) / stderr))


def document_shares(
    values: Floats, system: Ints, document: Ints, editor: Ints, *, logs: bool
) -> tuple[Floats, Floats, int]:
    """Each document's deviation from the average one, its standard error, degrees of freedom.

    The cells' values are explained by system, document and editor. The documents are taken as
    they are: nothing is said about other documents of their kind. With ``logs`` deviations are
    logarithms of ratios, otherwise they are shares of the overall mean.
    """
    documents = int(document.max()) + 1
    y = np.log(values) if logs else values / values.mean()
    matrix = np.hstack(
        [_deviations(document), np.eye(editor.max() + 1)[editor], _deviations(system)]
    )
    degrees = len(y) - int(np.linalg.matrix_rank(matrix))
    if np.linalg.matrix_rank(matrix) < matrix.shape[1] or degrees < 1:
        return np.full(documents, np.nan), np.full(documents, np.nan), 0
    inverse = np.linalg.inv(matrix.T @ matrix)
    beta = inverse @ matrix.T @ y
    spread = float(np.sum((y - matrix @ beta) ** 2)) / degrees
    weights = np.vstack([np.eye(documents - 1), -np.ones(documents - 1)])
    covariance = spread * inverse[: documents - 1, : documents - 1]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", weights, covariance, weights))
    return weights @ beta[: documents - 1], errors, degrees


class Measured(NamedTuple):
    """The segments with their measures, and what had to be done on the way.

    ``frame`` has ``system``, ``doc``, ``seg``, ``editor``, ``words``, ``seconds``, ``place`` (the
    document's place in the editor's kit, null where unknown), a column per measure, and ``pace``:
    seconds over the mean words of the editor's segments of the document. The mean of ``pace`` over
    these is all their seconds over all their words, so that it is the time that is paid for; it is
    also ``time``, unless that is on another scale.
    """

    frame: pl.DataFrame
    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    units: Mapping[str, str]
    limits: Mapping[str, Limits]

    def cells(self) -> pl.DataFrame:
        """A row for each editor and document: means of the measures.

        ``time`` is all seconds over all words, ``scaled_time`` the mean of the segments' times on
        the scale asked for.
        """
        means = [pl.col(name).mean() for name in self.measures if name != "time"]
        timed = pl.col("seconds").is_not_null()
        words = pl.col("words").filter(timed).sum()
        return self.frame.group_by("editor", "doc", "system", maintain_order=True).agg(
            pl.len().alias("segments"),
            pl.col("words").sum(),
            pl.col("words").filter(~timed).sum().alias("untimed"),
            pl.col("seconds").sum(),
            pl.when(words > 0).then(pl.col("seconds").sum() / words).alias("time"),
            pl.col("time").mean().alias("scaled_time"),
            pl.col("place").first(),
            *means,
        )


def measure_edits(
    edits: Edits, measures: Sequence[str] | None = None, *, time: str = "mean",
    progress: Progress = silent,
) -> Measured:  # fmt: skip
    """Measure every segment; time is left out, with a note, where the table has none."""
    measures = DEFAULT if measures is None else measures
    for name in measures:
        need_known("measures", name, list(MEASURES))
    if not measures:
        raise OptionError("measures", "", "names none", f"choose from {', '.join(MEASURES)}")
    wanted = tuple(name for name in MEASURES if name in measures)
    notes = [line if isinstance(line, Note) else Note("table", line) for line in edits.notes]
    frame = _with_words(edits.frame, notes)
    if "seconds" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("seconds"))
    untimed = frame["seconds"].null_count()
    if "time" in wanted and untimed == frame.height:
        notes.append(Note("no-times", "no segment has seconds: time is left out"))
        wanted = tuple(name for name in wanted if name != "time")
        if not wanted:
            raise InputError("no segment has seconds and time is the only measure; name others")
    elif "time" in wanted and untimed:
        text = f"{untimed:,} segments without seconds left out of time"
        notes.append(Note("times-missing", text))
    texts = list(zip(frame["mt"], frame["edited"], strict=True))
    timed = pl.when(pl.col("seconds").is_not_null()).then(pl.col("words"))
    columns = [
        pl.Series("distance", [edit_distance(mt, edited) for mt, edited in texts]),
        pl.Series("changed", [float(mt != edited) for mt, edited in texts]),
        (pl.col("seconds") / timed.mean().over("editor", "doc")).alias("pace"),
    ]
    if "hter" in wanted:
        columns.append(pl.Series("hter", _hter(texts, progress, notes)))
    frame = frame.with_columns(columns).with_columns(_places(frame))
    units = {name: MEASURES[name] for name in wanted}
    scaled, unit, limits = _scaled(frame, time, notes if "time" in wanted else [])
    if "time" in wanted:
        units["time"] = unit
    frame = frame.with_columns(scaled.alias("time"))
    return Measured(frame, wanted, tuple(notes), units, {**LIMITS, "time": limits})


def _with_words(frame: pl.DataFrame, notes: list[Note]) -> pl.DataFrame:
    """Words per segment: as given, else of the source, else of the machine translation."""
    if "words" in frame.columns and not frame["words"].null_count():
        words = pl.col("words")
    else:
        text = "source" if "source" in frame.columns and frame["source"].null_count() == 0 else "mt"
        notes.append(Note("words-counted", f"words counted in {text}, at white space"))
        words = pl.col(text).str.count_matches(r"\S+").cast(pl.Float64)
    frame = frame.with_columns(words.alias("words"))
    empty = frame.group_by("doc", maintain_order=True).agg(pl.col("words").sum())
    for doc in empty.filter(pl.col("words") == 0)["doc"]:
        raise InputError(f"document '{doc}' is empty: it has no words; leave it out")
    # A segment such as "***" has no word but takes a moment: it counts as one.
    if wordless := int((frame["words"] == 0).sum()):
        text = f"{wordless:,} segments without a word are counted as one word each"
        notes.append(Note("no-words", text))
    return frame.with_columns(pl.col("words").clip(lower_bound=1.0))


def _hter(texts: list[tuple[str, str]], progress: Progress, notes: list[Note]) -> list[float]:
    from rapidfuzz.distance import Levenshtein
    from sacrebleu.metrics.ter import TER

    from assay.effort.hter import edit_rate

    ter = TER()
    values, long = [], 0
    progress("HTER of segments", 0, len(texts))
    for number, (mt, edited) in enumerate(texts, start=1):
        given, wanted = mt.lower().split(), edited.lower().split()
        words = max(len(given), len(wanted))
        if mt == edited:
            values.append(0.0)
        # In a long segment with many changes the search for shifts takes minutes.
        elif words <= MOST_WORDS_SHIFTED or (
            words <= MOST_WORDS_SEARCHED
            and Levenshtein.distance(given, wanted) <= MOST_ERRORS_SEARCHED
        ):
            values.append(edit_rate(given, wanted))
        else:
            errors = Levenshtein.distance(given, wanted)
            values.append(100.0 * errors / max(len(wanted), 1))
            long += 1
        progress("HTER of segments", number, len(texts))
    ter.sentence_score("", [""])  # there is a signature once something was scored
    text = "hter: words stand between spaces and keep their punctuation, case does not count"
    notes.append(Note("hter-words", f"{text} (sacrebleu's TER, {ter.get_signature()})"))
    if long:
        text = (
            f"hter: in {plural(long, 'segment')} of over {MOST_WORDS_SHIFTED} words, many of them"
            " changed, shifted words count as deleted and inserted"
        )
        notes.append(Note("hter-no-shifts", text))
    return values


def _places(frame: pl.DataFrame) -> pl.Expr:
    """The place of each document in its editor's kit, by the first position of its segments."""
    if "position" not in frame.columns or frame["position"].null_count():
        return pl.lit(None, dtype=pl.Int64).alias("place")
    first = pl.col("position").min().over("editor", "doc")
    return first.rank("dense").over("editor").cast(pl.Int64).alias("place")


def _scaled(frame: pl.DataFrame, time: str, notes: list[Note]) -> tuple[pl.Expr, str, Limits]:
    """Time on the scale asked for, its unit and its limits.

    A few long segments can dominate the plain mean. Other scales are taken segment by segment.
    """
    unit, limits = MEASURES["time"], LIMITS["time"]
    if time == "mean":
        return pl.col("pace"), unit, limits
    each = pl.col("seconds") / pl.col("words")
    known = frame.select(each.drop_nulls()).to_series().to_numpy()
    if time == "winsorised":
        cap = float(np.quantile(known, 0.95)) if known.size else 0.0
        text = f"time per word is capped at its 95% quantile, {cap:.2f} s"
        notes.append(Note("time-scale", text))
        scaled, unit = each.clip(upper_bound=cap), f"{unit}, at most {cap:.2f}"
        limits = (0.0, cap) if cap > 0 else limits
    elif time == "log":
        # Without zeros differences of logs are ratios of times. A zero needs something added.
        extra = _OFFSET * float(known.mean()) if known.size and known.min() == 0 else 0.0
        unit = f"log({unit} + {extra:.3g})" if extra else f"log({unit})"
        text = f"time is on the scale {unit}: differences are logarithms of ratios"
        notes.append(Note("time-scale", text))
        # Where all times are 0 there is no scale.
        scaled, limits = (each + extra).log() if known.any() else each, UNLIMITED
    else:
        raise OptionError("time", time, "is not known", "choose from mean, log, winsorised")
    text = "shares of documents, ratios, placings, hours and price use plain time"
    notes.append(Note("plain-time", text))
    return scaled, unit, limits
