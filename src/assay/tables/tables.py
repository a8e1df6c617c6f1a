"""The test set, samples of it, and what people answered: ratings, errors, judgments and edits.

The scores table says which systems translated which segments, and what metrics say of them. A
sample knows how it was drawn: the ``design`` column of its file holds one compact string, the same
in every row: ``segments|n:142|N:710|seed:7``. Together with the probabilities, the file alone says
how the sample was drawn, which is what every estimate downstream depends on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal
from zlib import crc32

import numpy as np
import polars as pl

from assay.errors import SMALLEST, InputError, OptionError, need_known
from assay.results import Note, plural
from assay.tables.load import (
    CheckedTable,
    Columns,
    Findings,
    Only,
    Raw,
    Source,
    conform,
    need_at_most,
    refuse_infinite,
    to_number,
)
from assay.tables.names import RATED
from assay.tables.schemas import RESERVED, SCHEMAS

SEGMENT_COLUMNS = ("source", "reference", "words", "cost", "domain", "lp")
"""Columns that belong to the segment, whichever system translated it."""

NOT_THERE = "is not in the scores table"
NOT_A_COLUMN = "is not a column of the scores"
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
        system = self.frame["system"].replace_strict(systems, return_dtype=pl.Int64)
        return system.to_numpy(), places_in(self.frame, self)

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
        """The test set of each system, made once: samples are drawn again and again."""
        return self.split("system")


def rows_among(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Whether each row of the frame, in the columns of ``rows``, is one of them."""
    known, wanted = rows.with_columns(_known=True), frame.select(rows.columns)
    joined = wanted.join(known, on=rows.columns, how="left", maintain_order="left")
    return joined["_known"].fill_null(False)


def place_in(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.DataFrame:
    """The rows that are about the test set, each with its full segment key; faults are reported.

    Rows of systems that the test set left out, of other language pairs, and of segments that a
    part of a table does not have, are left out and counted. A missing ``doc`` is filled in where
    ``seg`` alone names one segment.
    """
    names = [name for name in ("lp", "system", "doc", "seg") if name in frame.columns]
    whole = {*names} - {"system"} == {*test_set.key}
    if whole and frame.join(test_set.frame, on=names, how="anti").is_empty():
        return frame
    from assay.tables.placement import place_rows

    return place_rows(frame, test_set, findings)


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
    table has the ``target`` texts, ``length`` may be named too: their number of characters, a
    free metric (longer outputs have more errors). A column that is a rating by its name
    (``mqm_r1``, ``da_z``) is a metric only if you name it. ``lower_metrics`` are those where less
    is better, ``exclude`` the systems to leave out. ``only`` reads part of the rows (``{"lp":
    "en-de"}``), and ``keep`` names the columns to read besides Assay's own and the metrics named
    (None: all); a Parquet file is searched for them, and the rest of it is never loaded.

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
    need_at_most(findings.raw.source, "metrics", len(chosen))
    systems = frame["system"].drop_nulls().unique(maintain_order=True).to_list()
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
    """The length of the target as a metric, if it is named and not there; less is better."""
    if LENGTH in frame.columns or LENGTH not in (metrics or ()) or "target" not in frame.columns:
        return frame, lower_metrics
    length = pl.col("target").str.len_chars().cast(pl.Float64).alias(LENGTH)
    return frame.with_columns(length), [*dict.fromkeys([*lower_metrics, LENGTH])]


def _choose_metrics(
    frame: pl.DataFrame, metrics: Sequence[str] | None, findings: Findings
) -> list[str]:
    """The metric columns; one with nearly all numbers counts, and its faults are reported."""
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
        if frame[name].dtype.is_numeric():
            chosen.append(name)
            continue
        from assay.tables.guess import NEARLY_NUMBERS, SOME_NUMBERS, numeric_share

        share, example = numeric_share(frame[name])
        if share >= NEARLY_NUMBERS:
            chosen.append(name)
        elif share >= SOME_NUMBERS:
            text = f"only {share:.0%} of its values are numbers ('{example}' is not)"
            findings.notes.append(Note("not-a-metric", f"{name} is not used as a metric: {text}"))
    if rated:
        text = f"ratings by their names, not used as metrics unless named: {', '.join(rated)}"
        findings.notes.append(Note("ratings-not-metrics", text))
    return chosen


def _numeric_metrics(
    frame: pl.DataFrame, metrics: Sequence[str], findings: Findings
) -> pl.DataFrame:
    """Metrics as floats: NaN counts as missing, infinity is a fault.

    Where no words match, some metrics are not quite 0: NLTK's BLEU is 1e-232 then.
    """
    typed = []
    for name in metrics:
        number = to_number(frame[name], findings, name).fill_nan(None)
        tiny = ((number.abs() < SMALLEST) & (number != 0)).fill_null(False)
        if count := int(tiny.sum()):
            text = f"{name}: {plural(count, 'value')} closer to 0 than {SMALLEST:g} read as 0"
            findings.notes.append(Note("tiny-metric", text))
            number = number.set(tiny, 0.0)
        refuse_infinite(number, name, findings)
        typed.append(number.alias(name))
    return frame.with_columns(typed)


def _notes(test_set: TestSet, metrics: Sequence[str], exclude: Sequence[str]) -> list[Note]:
    """What a user should know about the table: what was left out, what is missing."""
    notes = [Note("excluded", f"left out: {', '.join(exclude)}")] if exclude else []
    frame = test_set.frame
    for name in metrics:
        if missing := frame[name].null_count():
            text = f"{name}: {missing:,} of {frame.height:,} values missing"
            notes.append(Note("missing-metric", text))
    shared = [n for n in ("source", "reference", "words", "domain") if n in frame.columns]
    differ = frame.group_by(test_set.key).agg(pl.col(shared).drop_nulls().n_unique() > 1)
    for name in shared:  # a difference is a sign of misaligned rows
        if count := int(differ[name].sum()):
            text = f"{name} differs between systems in {count:,} segments; the first is used"
            notes.append(Note("segment-conflict", text))
    odd = [name for name in test_set.systems if name != name.strip()]
    if odd:
        notes.append(Note("odd-names", f"system names with spaces around them: {odd}"))
    counts = frame.group_by("system", maintain_order=True).len()
    short = counts.filter(pl.col("len") < differ.height)
    if short.height:
        shown = ", ".join(f"{system} {count}" for system, count in short.head(5).rows())
        more = f" and {short.height - 5} more" if short.height > 5 else ""
        text = (
            f"{short.height} of {counts.height} systems lack some of the {differ.height} segments"
        )
        notes.append(Note("incomplete-systems", f"{text}: {shown}{more}"))
    return notes


_DESIGN = re.compile(r"[a-z][a-z0-9-]*(?:\|[A-Za-z][A-Za-z0-9_-]*:[^|]*)*")
COUNTED = ("n", "N", "seed", "parts")
"""Parameters that say how much was drawn and by which seed, not how."""
PLAIN = {"strata": "none", "stop": "closest", "limit": "none", "first": "random", "max": "10",
         "length": "10", "rounding": "random", "looks": "5"}  # fmt: skip
"""Parameters with their default values."""


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
        """The name, and the parameters that differ from the defaults.

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
        parameters = dict(part.split(":", 1) for part in parts)
        if len(parameters) < len(parts):
            raise InputError(f"'{text}' states a parameter twice; give each once")
        return cls(name, parameters)

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.parameters.items())])


DRAWN = "drawn"
"""The parameter of a sample file's design with the digest of its units."""


def signed(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of a sample whose design carries a digest of its units, so that a cut shows."""
    line = unsigned(str(frame["design"].first()))
    return frame.with_columns(design=pl.lit(f"{line}|{DRAWN}:{units_digest(frame)}"))


def unsigned(line: str) -> str:
    """A design without the digest of a sample's units."""
    return re.sub(rf"\|{DRAWN}:[^|]*", "", line)


def units_digest(frame: pl.DataFrame) -> str:
    """A digest of which units these rows are, whatever their order."""
    key = [name for name in ("system", "lp", "doc", "seg") if name in frame.columns]
    rows = sorted(frame.select(pl.col(key).cast(pl.String).fill_null("")).rows())
    return f"{crc32(repr(rows).encode()):08x}"


@dataclass(frozen=True, eq=False)
class Sample(CheckedTable):
    """The drawn segments with their inclusion probabilities, and all that a variance needs.

    ``checked`` is the test set that it was checked against.
    """

    checked: TestSet | None = field(default=None, repr=False)

    @cached_property
    def design(self) -> Design:
        """How the sample was drawn."""
        return Design.parse(unsigned(self.frame["design"][0]))

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
    joined = rows.select(key).join(
        places, on=key, how="left", maintain_order="left", nulls_equal=True
    )
    return joined["_place"].cast(pl.Int64).to_numpy()


def make_sample(frame: pl.DataFrame, test_set: TestSet | None = None) -> Sample:
    """A sample from rows just drawn from the test set, its columns in the order of the file."""
    names = [name for name in SCHEMAS["sample"].names if name in frame]
    return Sample(signed(frame).select(names), checked=test_set)


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
    # A frame may be a sample that was placed in a test set, without the systems left out there.
    if not (only or isinstance(source, pl.DataFrame) or findings.problems):
        stated = Design.parse(frame["design"][0]).parameters.get(DRAWN)
        if stated not in (None, units_digest(frame)):  # older files do not state it
            findings.header(
                "these are not the segments that were drawn: rows are missing, added or changed;"
                " use the file as assay sample wrote it",
                "seg",
            )
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


Better = Literal["higher", "lower"]

ANSWER: tuple[str, ...] = ("lp", "system", "doc", "seg", "rater")
"""What a rater's answer is about."""

REPEATED = "repeated-ratings"
"""The note on outputs that a rater had twice."""

GENUINE = ("", "0", "false", "no")
"""What ``check`` and ``repeat`` hold, in upper or lower case, in a row that they do not mark."""

SAME_AS_RATINGS, MIN_OUTPUTS_COMPARED = 0.95, 10
"""A column correlated with the ratings beyond the first, on at least so many outputs, is them."""


@dataclass(frozen=True, eq=False)
class Ratings(CheckedTable):
    """Scores that raters gave. A row without a score is an output that was not rated.

    A row with a ``check`` is a control: a spoiled copy of the output, shown to see whether the
    rater pays attention. It says nothing about the system, and only reports on raters use it.
    A row with a ``repeat`` is what a rater said of an output that was shown again.
    ``task``, where the table has it, names what a rater did in one go.
    ``better`` says which end of the scale is good; ``range`` is the scale, where it was stated.
    """

    better: Better = "higher"
    range: tuple[float, float] | None = None
    checked: TestSet | None = field(default=None, repr=False)
    """The test set that they were checked against."""
    repeats: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    """What raters answered when they had an output again, kept apart from their first answers."""

    @cached_property
    def genuine(self) -> pl.DataFrame:
        """The rows that are about the systems' own outputs."""
        return self.frame.filter(_unmarked(self.frame, "check"))

    @cached_property
    def controls(self) -> pl.DataFrame:
        """The rows that check the raters' attention."""
        return self.frame.filter(~_unmarked(self.frame, "check"))

    @cached_property
    def genuine_repeats(self) -> pl.DataFrame:
        """The repeats that are about the systems' own outputs."""
        return self.repeats.filter(_unmarked(self.repeats, "check"))

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The raters, in the order of the file; empty where the table does not name them."""
        if "rater" not in self.frame.columns:
            return ()
        return tuple(self.frame["rater"].unique(maintain_order=True))

    @cached_property
    def unrated(self) -> int:
        """How many rows have no score."""
        return self.frame["score"].null_count()

    def placed_in(self, test_set: TestSet) -> Ratings:
        """The ratings that are about this test set, checked against it."""
        if self.checked is test_set:
            return self
        rows = self.frame
        if len(self.repeats):
            # Of an answer that is gone the repeat is not to take the place.
            key = [name for name in ANSWER if name in rows.columns]
            again = self.repeats.join(rows, on=key, how="semi")
            rows = pl.concat([rows, again], how="diagonal")
        placed = read_ratings(rows, test_set, better=self.better, range=self.range)
        known = [note for note in self.notes if note.code != REPEATED]
        return replace(placed, notes=tuple(dict.fromkeys((*known, *placed.notes))))

    def matrix(self, test_set: TestSet, *, rater: str | None = None) -> np.ndarray:
        """Systems x segments of the test set: the score, the mean where several raters gave one.

        NaN where nothing was rated. ``rater`` restricts it to one of them.
        """
        frame = self.genuine if rater is None else self.genuine.filter(pl.col("rater") == rater)
        key = ["system", *test_set.key]
        means = frame.drop_nulls("score").group_by(key).agg(pl.col("score").mean())
        rows = test_set.frame.select(key).join(means, on=key, how="left", maintain_order="left")
        return as_matrix(rows["score"], test_set)


def read_ratings(
    source: Source | Raw,
    test_set: TestSet | None = None,
    *,
    columns: Columns | None = None,
    better: Better = "higher",
    range: tuple[float, float] | None = None,
    only: Only | None = None,
) -> Ratings:
    """Read a ratings table and check it against the test set it is about.

    ``better`` says whether higher or lower scores are better (MQM: lower); ``range`` is the scale,
    and scores outside it are refused. Ratings of systems the test set excludes are left out. Where
    a rater had an output twice, the first rating counts and the others are kept in ``repeats``.
    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> ratings = read_ratings(pl.DataFrame({"system": ["A"], "seg": ["1"], "score": [3.5]}))
    >>> len(ratings), ratings.better
    (1, 'higher')
    """
    check_direction(better)
    frame, findings = conform(source, "ratings", columns=columns, only=only)
    if range is not None:
        _check_range(frame, range, findings)
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    notes = list(findings.notes)
    frame, repeats = _first_answers(frame, notes)
    ratings = Ratings(frame, (), better, range, test_set, repeats)
    if ratings.unrated:
        text = f"{ratings.unrated:,} of {frame.height:,} rows have no score and count as not rated"
        notes.append(Note("not-rated", text))
    if len(ratings.controls):
        text = f"{len(ratings.controls):,} attention checks are left out of all estimates"
        notes.append(Note("attention-checks", text))
    if test_set is not None:
        notes += refuse_answers(test_set, ratings, (columns or {}).get("score"))
    return replace(ratings, notes=tuple(notes))


def refuse_answers(
    test_set: TestSet, ratings: Ratings, called: str | None = None
) -> tuple[Note, ...]:
    """Refuse metrics that are almost the same as the ratings: they are the answer.

    Every use of metrics together with ratings passes here. Each metric is compared on its own,
    over all outputs and inside systems, and all together, since the ratings may be the mean of
    several columns; ``called`` is the user's name of the score. For metrics that the user named,
    a note is enough.
    """
    faults, alike = [], {}
    scores = ratings.matrix(test_set)
    stack = np.array([test_set.matrix(name) for name in test_set.metrics])
    for name, values in zip(test_set.metrics, stack, strict=True):
        r = max(_same(scores, values), _same(_centred(scores), _centred(values)))
        alike[name] = r
        if r > SAME_AS_RATINGS:
            text = (
                f"is almost the same as the ratings (r = {r:.2f}): it is the answer, not a metric"
            )
            faults.append((name, text))
        elif called is not None:
            from assay.tables.guess import is_like

            if is_like(name, called):
                faults.append((name, f"is named like the score '{called}'"))
    several = len(stack) > 1 and not test_set.named and not faults
    if several and (r := _together(scores, stack)) > SAME_AS_RATINGS:
        rest = f"and {len(stack) - 3} more " if len(stack) > 3 else ""
        text = (
            f"{rest}together are almost the same as the ratings (R = {r:.2f}): the answer is"
            " among them"
        )
        nearest = sorted(alike, key=alike.__getitem__, reverse=True)[:3]
        faults.append((", ".join(nearest), text))
    if faults and not test_set.named:
        remedy = "name the metrics to use; if this column really is one, name it too"
        raise OptionError("metrics", *faults[0], remedy)
    return tuple(Note("metric-like-answers", f"the metric {' '.join(fault)}") for fault in faults)


def _same(scores: np.ndarray, values: np.ndarray) -> float:
    """The size of the correlation; 0 where too little is known."""
    both = ~np.isnan(scores) & ~np.isnan(values)
    x, y = scores[both], values[both]
    if len(x) < MIN_OUTPUTS_COMPARED or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return abs(float(np.corrcoef(x, y)[0, 1]))


def _centred(values: np.ndarray) -> np.ndarray:
    """Deviations from each system's mean over the outputs that have a value."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=1, keepdims=True)
    rest = values - total / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.where(np.abs(rest) < 1e-9 * np.abs(values), 0.0, rest)


def _together(scores: np.ndarray, stack: np.ndarray) -> float:
    """The multiple correlation of the ratings with all metrics; 0 where too little is known."""
    known = ~np.isnan(scores) & ~np.isnan(stack).any(axis=0)
    y, x = scores[known], stack[:, known].T
    if len(y) < MIN_OUTPUTS_COMPARED * (len(stack) + 1) or np.ptp(y) == 0:
        return 0.0
    x, y = x - x.mean(axis=0), y - y.mean()
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return float(np.sqrt(min((fitted @ fitted) / (y @ y), 1.0)))


def _unmarked(frame: pl.DataFrame, column: str) -> pl.Series:
    """The rows that ``check`` or ``repeat`` does not mark."""
    if column not in frame.columns:
        return pl.Series([True] * frame.height, dtype=pl.Boolean)
    return frame[column].fill_null("").str.strip_chars().str.to_lowercase().is_in(list(GENUINE))


def _first_answers(frame: pl.DataFrame, notes: list[Note]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first score of every output by each rater, and what the same rater gave it later."""
    if "rater" not in frame.columns:
        return frame, frame.clear()
    again = ~_unmarked(frame, "repeat")
    rows = frame.select(name for name in ANSWER if name in frame.columns)
    if "check" in frame.columns:
        ordinary = pl.lit(_unmarked(frame, "check"))
        rows = rows.with_columns(
            _check=pl.when(ordinary).then(pl.lit("")).otherwise(frame["check"])
        )
    if rows.n_unique() == frame.height and not again.any():
        return frame, frame.clear()
    order = rows.with_columns(_again=again, _unscored=frame["score"].is_null()).with_row_index(
        "_row"
    )
    first = order.sort("_again", "_unscored", "_row").unique(rows.columns, keep="first")["_row"]
    again |= ~order["_row"].is_in(first.implode())
    text = (
        f"{int(again.sum()):,} rows rate an output again for the same rater: the first rating"
        " counts; the others only show how far raters agree with themselves"
    )
    if copies := int((frame.is_duplicated() & again).sum()):
        text += f"; {copies:,} of them are equal to another row in all columns: were they copied?"
    notes.append(Note(REPEATED, text))
    return frame.filter(~again), frame.filter(again).drop_nulls("score")


def check_direction(better: str) -> None:
    """Refuse a direction other than higher and lower."""
    if better not in ("higher", "lower"):
        raise OptionError("better", better, "is not a direction", "give higher or lower")


def _check_range(frame: pl.DataFrame, limits: tuple[float, float], findings: Findings) -> None:
    low, high = limits
    if not low < high:
        raise OptionError("range", f"{low:g},{high:g}", "is empty", "give LOW,HIGH with LOW < HIGH")
    score = frame["score"]
    outside = score.is_finite() & ((score < low) | (score > high))
    message = f"{{}} is outside the stated range {low:g} to {high:g}; correct it or the range"
    findings.rows(outside, "score", score, message)
