"""The test set and samples of it.

The scores table says which systems translated which segments, and what metrics say of them. A
sample knows how it was drawn: the ``design`` column of its file holds one compact string, the same
in every row: ``segments|n:142|N:710|seed:7``. With the probabilities beside it the file alone says
how the sample was drawn, which is what every estimate downstream depends on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.results import Note
from assay.tables.check import (
    MISSING,
    RESERVED,
    SCHEMAS,
    CheckedTable,
    Columns,
    conform,
    place_in,
    refuse_infinite,
    to_number,
)
from assay.tables.files import Findings, Only, Raw, Source

NEARLY_NUMBERS, SOME_NUMBERS = 0.95, 0.3
"""A text column with the first share of numbers is a metric with faults; from the second on, the
user learns that it is not used as one."""

SEGMENT_COLUMNS = ("source", "reference", "words", "cost", "domain", "lp")
"""Columns that belong to the segment, whichever system translated it."""

NOT_THERE = "is not in the scores table"
NOT_A_COLUMN = "is not a column of the scores"
RATED = re.compile(
    r"(?:mqm|[pc]?sqm|da|esa|human|gold|ratings?|scores?)"
    r"(?:[ _.-]*(?:z|n|raw|mean|avg|average|median|sum|scores?|ratings?|sqm|annotated"
    r"|(?:r|rater|a|annotator)?\d+))*",
    re.IGNORECASE,
)
"""Names of columns that hold what people said, such as mqm_r1 or da_z."""
LENGTH = "length"
"""The metric that every table with target texts has for free."""


@dataclass(frozen=True, eq=False)
class TestSet(CheckedTable):
    """Systems, segments in documents, and automatic metrics.

    ``metrics`` are the columns used as such, ``named`` says whether the user chose them; those in
    ``lower_metrics`` are better when lower. ``excluded`` systems were left out when reading.
    ``history`` names the column with what other systems' ratings say, if it was added. ``part``:
    only some rows of the table were asked for, so ratings may be about others. ``source``: the
    file they were read from.
    """

    __test__ = False  # pytest would take the name for a test class

    metrics: tuple[str, ...] = ()
    lower_metrics: frozenset[str] = frozenset()
    excluded: tuple[str, ...] = ()
    named: bool = False
    history: str | None = None
    part: bool = False
    source: str = "frame"

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the file."""
        return tuple(self.frame["system"].unique(maintain_order=True))

    @property
    def has_documents(self) -> bool:
        """Whether the segments are grouped into documents."""
        return "doc" in self.frame.columns

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns that name a segment."""
        return tuple(name for name in ("lp", "doc", "seg") if name in self.frame.columns)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """One row per segment, documents together, in reading order.

        Documents stand in the order of the file; inside a document segments are in numeric order
        of ``seg``, or in the order of the file where some ``seg`` is not a number.
        """
        known = [name for name in SEGMENT_COLUMNS if name in self.frame.columns]
        extra = [name for name in known if name not in self.key]
        group = [name for name in self.key if name != "seg"]
        segments = self.frame.group_by(self.key, maintain_order=True).agg(
            pl.col(name).drop_nulls().first() for name in extra
        )
        segments = segments.with_row_index("_row")
        number = pl.col("seg").cast(pl.Float64, strict=False)
        if group:
            numeric = number.is_not_null().all().over(group)
            first = pl.col("_row").min().over(group)
        else:
            numeric, first = number.is_not_null().all(), pl.col("_row") * 0
        within = pl.when(numeric).then(number).otherwise(pl.col("_row").cast(pl.Float64))
        return segments.sort(first, within, maintain_order=True).drop("_row")

    @cached_property
    def document(self) -> np.ndarray:
        """The number of every segment's document, in reading order."""
        sizes = self.documents["segments"].to_numpy()
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def documents(self) -> pl.DataFrame:
        """One row per document: its name and number of segments, in reading order."""
        group = [name for name in self.key if name != "seg"]
        if not group:
            return pl.DataFrame({"segments": [self.segments.height]})
        return self.segments.group_by(group, maintain_order=True).agg(pl.len().alias("segments"))

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """For every row of the frame, the positions of its system and its segment."""
        systems = {name: i for i, name in enumerate(self.systems)}
        numbered = self.segments.select(self.key).with_row_index("_segment")
        rows = self.frame.select("system", *self.key).join(
            numbered, on=list(self.key), how="left", maintain_order="left", nulls_equal=True
        )
        system = rows["system"].replace_strict(systems, return_dtype=pl.Int64)
        return system.to_numpy(), rows["_segment"].cast(pl.Int64).to_numpy()

    def matrix(self, column: str) -> np.ndarray:
        """A numeric column as systems x segments; NaN where there is no value."""
        return as_matrix(self.frame[column], self)

    @cached_property
    def present(self) -> np.ndarray:
        """Systems x segments: whether the system translated the segment."""
        here = np.zeros((len(self.systems), self.segments.height), dtype=bool)
        here[self.positions] = True
        return here

    def split(self, column: str) -> dict[str, TestSet]:
        """One test set per value of ``column``, for instance of ``lp`` or ``domain``."""
        need_known("by", column, self.frame.columns, NOT_A_COLUMN)
        parts = self.frame.partition_by(column, as_dict=True, maintain_order=True)
        return {str(key[0]): replace(self, frame=part, notes=()) for key, part in parts.items()}

    @cached_property
    def by_system(self) -> dict[str, TestSet]:
        """Every system's own segments, put in order once: samples are drawn again and again."""
        return self.split("system")


def as_matrix(values: pl.Series, test_set: TestSet) -> np.ndarray:
    """A number per row of the test set as systems x segments; NaN where there is no value."""
    matrix = np.full((len(test_set.systems), test_set.segments.height), np.nan)
    matrix[test_set.positions] = values.cast(pl.Float64).to_numpy()
    return matrix


def read_scores(
    source: Source | Raw,
    *,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
    only: Only | None = None,
    keep: Sequence[str] | None = None,
) -> TestSet:
    """Read a scores table, the test set of an evaluation.

    ``columns`` maps Assay's names to the file's own (``{"seg": "seg_id"}``). ``metrics`` names
    the metric columns; without it, all numeric columns that are not reserved are metrics. Where the
    table has the ``target`` texts, ``length`` may be named too: their characters, a free
    metric (longer outputs have more errors). A column that is a rating by its name (``mqm_r1``,
    ``da_z``) is a metric only if it is named.
    ``lower_metrics`` are those where less is better, ``exclude`` the systems to leave out.
    ``only`` reads part of the rows (``{"lp": "en-de"}``), and ``keep`` says which columns, beside
    Assay's own and the metrics named, are wanted at all (None: all); a Parquet file is searched
    for them, and the rest of it is never loaded.

    >>> import polars as pl
    >>> rows = {"system": ["A", "A", "B", "B"], "seg": [1, 2, 1, 2], "chrF": [.6, .5, .7, None]}
    >>> test_set = read_scores(pl.DataFrame(rows))
    >>> test_set.systems, test_set.metrics, test_set.notes
    (('A', 'B'), ('chrF',), ('chrF: 1 of 4 values missing',))
    """
    if keep is not None and metrics is None:
        raise OptionError("keep", ", ".join(keep), "goes with `metrics`", "name the metrics too")
    extra = None if keep is None else [*keep, *(metrics or ())]
    frame, findings = conform(source, "scores", columns=columns, only=only, extra=extra)
    frame, lower_metrics = _with_length(frame, metrics, lower_metrics)
    chosen = _choose_metrics(frame, metrics, findings)
    systems = frame["system"].unique(maintain_order=True).to_list()
    for argument, names, known in (
        ("lower_metrics", lower_metrics, chosen), ("exclude", exclude, systems),
    ):  # fmt: skip
        for name in names:
            need_known(argument, name, known, NOT_THERE)
    frame = _numeric_metrics(frame, chosen, findings)
    findings.stop()
    if exclude:
        frame = frame.filter(~pl.col("system").is_in(list(exclude)))
        if not frame.height:
            raise OptionError(
                "exclude", ", ".join(exclude), "leaves no system", "keep at least one"
            )
    notes = (*findings.notes, *_notes(TestSet(frame), chosen, exclude))
    return TestSet(
        frame, notes, metrics=tuple(chosen), lower_metrics=frozenset(lower_metrics),
        excluded=tuple(exclude), named=metrics is not None, part=bool(only),
        source=findings.raw.source,
    )  # fmt: skip


def _with_length(
    frame: pl.DataFrame, metrics: Sequence[str] | None, lower_metrics: Sequence[str]
) -> tuple[pl.DataFrame, Sequence[str]]:
    """The length of the target as a column, where it is asked for and not there; less is better."""
    if LENGTH in frame.columns or LENGTH not in (metrics or ()) or "target" not in frame.columns:
        return frame, lower_metrics
    length = pl.col("target").str.len_chars().cast(pl.Float64).alias(LENGTH)
    return frame.with_columns(length), [*dict.fromkeys([*lower_metrics, LENGTH])]


def _choose_metrics(
    frame: pl.DataFrame, metrics: Sequence[str] | None, findings: Findings
) -> list[str]:
    """The metric columns; one that is nearly all numbers is taken, and its faults reported."""
    free = [name for name in frame.columns if name not in RESERVED]
    if metrics is not None:
        left = [name for name in findings.raw.left if name not in RESERVED]
        if not {*metrics} <= {*free, *left}:
            for name in metrics:
                need_known("metrics", name, [*free, *left], NOT_THERE)
        return list(dict.fromkeys(metrics))
    chosen, rated = [], []
    for name in free:
        if RATED.fullmatch(name):
            rated.append(name)
            continue
        share, example = _numeric_share(frame[name])
        if share >= NEARLY_NUMBERS:
            chosen.append(name)
        elif share >= SOME_NUMBERS:
            text = f"only {share:.0%} of its values are numbers ('{example}' is not)"
            findings.notes.append(Note("not-a-metric", f"{name} is not used as a metric: {text}"))
    if rated:
        text = f"ratings by their names, not used as metrics unless named: {', '.join(rated)}"
        findings.notes.append(Note("ratings-not-metrics", text))
    return chosen


def is_like(name: str, score: str) -> bool:
    """Whether a column is named like the score: another rater's, or the same in another form.

    >>> is_like("mqm_r2", "mqm_r1"), is_like("mqm", "mqm_r1"), is_like("mqmetric", "mqm")
    (True, True, False)
    """
    stem = re.sub(r"[ _.-]*[a-z]?\d+$", "", score.lower()) or score.lower()
    return re.fullmatch(rf"{re.escape(stem)}(?:[ _.-].*|\d*)", name.lower()) is not None


def _numeric_share(values: pl.Series) -> tuple[float, str]:
    """The share of values that are numbers, a decimal comma forgiven, and a value that is not."""
    if values.dtype.is_numeric():
        return 1.0, ""
    if values.dtype != pl.String:
        return 0.0, ""
    for words in (values.drop_nulls()[:200], values.drop_nulls()):  # most text ends at a glance
        words = words.str.strip_chars()
        words = words.filter(~words.str.to_lowercase().is_in(MISSING))
        number = words.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        share = float(number.is_not_null().mean() or 0.0)  # type: ignore[arg-type]
        if share < SOME_NUMBERS:
            return share, ""
    return share, str(words.filter(number.is_null()).first())


def _numeric_metrics(
    frame: pl.DataFrame, metrics: Sequence[str], findings: Findings
) -> pl.DataFrame:
    """Metrics as floats: NaN counts as missing, infinity is a fault."""
    typed = []
    for name in metrics:
        number = to_number(frame[name], findings, name).fill_nan(None)
        refuse_infinite(number, name, findings)
        typed.append(number.alias(name))
    return frame.with_columns(typed)


def _notes(test_set: TestSet, metrics: Sequence[str], exclude: Sequence[str]) -> list[Note]:
    """What a user should know about the table: what was left out, what is missing."""
    notes = [Note("excluded", f"left out: {', '.join(exclude)}")] if exclude else []
    rows = test_set.frame.height
    for name in metrics:
        missing = test_set.frame[name].null_count()
        if missing:
            notes.append(Note("missing-metric", f"{name}: {missing:,} of {rows:,} values missing"))
    notes += _conflicts(test_set)
    odd = [name for name in test_set.systems if name != name.strip()]
    if odd:
        notes.append(Note("odd-names", f"system names with spaces around them: {odd}"))
    counts = test_set.frame.group_by("system", maintain_order=True).len()
    segments = test_set.frame.select(test_set.key).n_unique()
    short = counts.filter(pl.col("len") < segments)
    if short.height:
        shown = ", ".join(f"{system} {count}" for system, count in short.head(5).rows())
        more = f" and {short.height - 5} more" if short.height > 5 else ""
        text = f"{short.height} of {counts.height} systems lack some of the {segments} segments"
        notes.append(Note("incomplete-systems", f"{text}: {shown}{more}"))
    return notes


def _conflicts(test_set: TestSet) -> list[Note]:
    """Columns of the segment that differ between systems: a sign of misaligned rows."""
    notes = []
    for name in ("source", "reference", "words", "domain"):
        if name not in test_set.frame.columns:
            continue
        differ = test_set.frame.group_by(test_set.key).agg(pl.col(name).drop_nulls().n_unique() > 1)
        count = int(differ[name].sum())
        if count:
            text = f"{name} differs between systems in {count:,} segments; the first is used"
            notes.append(Note("segment-conflict", text))
    return notes


_DESIGN = re.compile(r"[a-z][a-z0-9-]*(?:\|[A-Za-z][A-Za-z0-9_-]*:[^|]*)*")
COUNTED = ("n", "N", "seed", "parts")
"""Parameters that say how much was drawn and by which seed, not how."""
PLAIN = {"strata": "none", "stop": "closest", "limit": "none", "first": "random", "max": "10",
         "length": "10", "rounding": "random", "looks": "5"}  # fmt: skip
"""Parameters as they are where nobody said otherwise."""


@dataclass(frozen=True)
class Design:
    """How a sample is drawn: the design's name and its parameters, as one line of text.

    >>> str(Design("segments", {"n": "142", "N": "710", "seed": "7"}))
    'segments|n:142|N:710|seed:7'
    >>> Design.parse("segments|n:142|N:710|seed:7").parameters["N"]
    '710'
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        if not _DESIGN.fullmatch(str(self)):
            raise InputError(f"'{self}' is not a design; expected name|key:value|key:value")

    @property
    def seed(self) -> int | None:
        """The seed it was drawn, or last topped up, with, where one was recorded."""
        seed = self.parameters.get("seed", "").split("+")[-1]
        return int(seed) if seed.isdecimal() else None

    @property
    def brief(self) -> str:
        """The name and what makes this design another than the plain one of that name.

        >>> Design("segments", {"strata": "metrics", "n": "142", "N": "710", "seed": "7"}).brief
        'segments/strata:metrics'
        """
        special = {
            key: value
            for key, value in self.parameters.items()
            if key not in COUNTED and PLAIN.get(key) != value
        }
        return "/".join([self.name, *(f"{key}:{value}" for key, value in special.items())])

    @classmethod
    def parse(cls, text: str) -> Design:
        """The design a sample file names."""
        if not _DESIGN.fullmatch(text):
            raise InputError(f"'{text}' is not a design; expected name|key:value|key:value")
        name, *parts = text.split("|")
        return cls(name, dict(part.split(":", 1) for part in parts))

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.parameters.items())])


@dataclass(frozen=True, eq=False)
class Sample(CheckedTable):
    """The drawn segments with their inclusion probabilities, and all that a variance needs.

    ``checked`` is the test set that it was checked against.
    """

    checked: TestSet | None = field(default=None, repr=False)

    @cached_property
    def design(self) -> Design:
        """How the sample was drawn."""
        return Design.parse(self.frame["design"][0])

    @property
    def matched(self) -> bool:
        """Whether all systems have the same segments."""
        return "system" not in self.frame.columns

    def placed_in(self, test_set: TestSet) -> Sample:
        """The part of the sample that is about this test set, checked against it."""
        if self.checked is test_set:
            return self
        placed = read_sample(self.frame, test_set)
        return replace(placed, notes=tuple(dict.fromkeys((*self.notes, *placed.notes))))

    def probabilities(self, test_set: TestSet) -> np.ndarray:
        """Systems x segments: the inclusion probability of drawn segments, NaN of the others."""
        key = list(test_set.key) if self.matched else ["system", *test_set.key]
        drawn = self.frame.select(*key, "probability")
        rows = test_set.frame.select("system", *test_set.key)
        rows = rows.join(drawn, on=key, how="left", maintain_order="left")
        return as_matrix(rows["probability"], test_set)

    def order(self, test_set: TestSet) -> np.ndarray:
        """Where the drawn segments of a matched sample stand in the test set, in rating order."""
        rows = self.frame.sort("order") if "order" in self.frame.columns else self.frame
        return places_in(rows, test_set)


def places_in(rows: pl.DataFrame, test_set: TestSet) -> np.ndarray:
    """Where the segments of these rows stand in the reading order of the test set."""
    key = list(test_set.key)
    places = test_set.segments.select(key).with_row_index("_place")
    joined = rows.select(key).join(places, on=key, how="left", maintain_order="left")
    return joined["_place"].cast(pl.Int64).to_numpy()


def make_sample(frame: pl.DataFrame, test_set: TestSet | None = None) -> Sample:
    """A sample from rows just drawn from the test set, its columns in the order of the file."""
    names = [name for name in SCHEMAS["sample"].names if name in frame]
    return Sample(frame.select(names), checked=test_set)


def read_sample(
    source: Source | Raw, test_set: TestSet | None = None, *, columns: Columns | None = None,
    only: Only | None = None,
) -> Sample:  # fmt: skip
    """Read a sample file and check it against the test set it was drawn from.

    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> rows = {"seg": ["3", "8"], "probability": [.2, .2], "design": ["segments|n:2|N:10"] * 2}
    >>> read_sample(pl.DataFrame(rows)).design.name
    'segments'
    """
    frame, findings = conform(source, "sample", columns=columns, only=only)
    _one_design(frame, findings)
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    if not frame.height:
        raise InputError(
            f"{findings.raw.source}: no row belongs to a system of the test set;"
            " check the names of the systems"
        )
    return Sample(frame, tuple(findings.notes), checked=test_set)


def _one_design(frame: pl.DataFrame, findings: Findings) -> None:
    designs = frame["design"]
    first = str(designs.drop_nulls().first())
    message = f"'{{}}' differs from the first row's '{first}'; a sample file holds one sample"
    findings.rows(designs != first, "design", designs, message)
    valid = designs.str.contains(rf"^(?:{_DESIGN.pattern})$")
    message = "'{}' is not a design; expected name|key:value, as assay sample writes it"
    findings.rows(~valid & (designs == first), "design", designs, message)
