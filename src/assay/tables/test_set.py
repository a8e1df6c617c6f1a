"""The scores table: which systems translated which segments, and what metrics say of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import OptionError, need_known
from assay.results import Note
from assay.tables.check import (
    MISSING,
    RESERVED,
    CheckedTable,
    Columns,
    conform,
    refuse_infinite,
    to_number,
)
from assay.tables.files import Findings, Only, Raw, Source, is_plain_parquet

NEARLY_NUMBERS, SOME_NUMBERS = 0.95, 0.3
"""A text column with the first share of numbers is a metric with faults; from the second on, the
user is told that it is not taken for one."""

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
    only some rows of the table were asked for, so ratings may be about others.
    """

    __test__ = False  # pytest would take the name for a test class

    metrics: tuple[str, ...] = ()
    lower_metrics: frozenset[str] = frozenset()
    excluded: tuple[str, ...] = ()
    named: bool = False
    history: str | None = None
    part: bool = False

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
        extra = [name for name in SEGMENT_COLUMNS if name in self.frame.columns]
        extra = [name for name in extra if name not in self.key]
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

    @property
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
        values = np.full((len(self.systems), self.segments.height), np.nan)
        system, segment = self.positions
        values[system, segment] = self.frame[column].cast(pl.Float64).to_numpy()
        return values

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
    table has the ``target`` texts, ``length`` may be named too: their characters, a metric for
    free (longer outputs have more errors).
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
        raise OptionError("keep", ", ".join(keep), "goes with metrics", "name the metrics too")
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
    bare = TestSet(frame)
    notes = (*findings.notes, *_notes(bare, chosen, exclude))
    return TestSet(
        frame,
        notes,
        metrics=tuple(chosen),
        lower_metrics=frozenset(lower_metrics),
        excluded=tuple(exclude),
        named=metrics is not None,
        part=bool(only),
    )


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
        for name in metrics:
            need_known("metrics", name, [*free, *left], NOT_THERE)
        return list(dict.fromkeys(metrics))
    chosen = []
    for name in free:
        share, example = _numeric_share(frame[name])
        if share >= NEARLY_NUMBERS:
            chosen.append(name)
        elif share >= SOME_NUMBERS:
            text = f"{share:.0%} of its values are numbers, but not '{example}'"
            findings.notes.append(Note("not-a-metric", f"{name} is not a metric: {text}"))
    return chosen


def _numeric_share(values: pl.Series) -> tuple[float, str]:
    """The share of values that are numbers, a decimal comma forgiven, and one that is none."""
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
            notes.append(Note("missing-metric", f"{name}: {missing} of {rows} values missing"))
    notes += _conflicts(test_set) + _odd_names(test_set)
    counts = test_set.frame.group_by("system", maintain_order=True).len()
    segments = test_set.frame.select(test_set.key).n_unique()
    short = counts.filter(pl.col("len") < segments)
    if short.height:
        shown = ", ".join(f"{system} {count}" for system, count in short.head(5).rows())
        more = f" and {short.height - 5} more" if short.height > 5 else ""
        text = (
            f"{short.height} of {counts.height} systems lack some of the {segments} segments:"
            f" {shown}{more}"
        )
        notes.append(Note("incomplete-systems", text))
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
            text = f"{count} segments have another {name} for some systems; the first is used"
            notes.append(Note("segment-conflict", text))
    return notes


def _odd_names(test_set: TestSet) -> list[Note]:
    odd = [name for name in test_set.systems if name != name.strip()]
    return [Note("odd-names", f"system names with spaces around them: {odd}")] if odd else []


@dataclass(frozen=True, eq=False)
class Parts(Mapping[str, TestSet]):
    """The test sets of a Parquet file by their name; each is read when it is asked for.

    Nothing is kept: whoever asks twice has it read twice.
    """

    path: Path
    by: str
    parts: dict[str, str | None]
    columns: Columns | None
    metrics: Sequence[str] | None
    lower_metrics: Sequence[str]
    exclude: Sequence[str]
    only: Only
    keep: Sequence[str] | None

    def renamed(self, names: Mapping[str, str]) -> Parts:
        """The same under other names."""
        return replace(self, parts={names[name]: value for name, value in self.parts.items()})

    def __getitem__(self, name: str) -> TestSet:
        part = read_scores(
            self.path, columns=self.columns, metrics=self.metrics,
            lower_metrics=self.lower_metrics, exclude=self.exclude,
            only={**self.only, self.by: self.parts[name]}, keep=self.keep,
        )  # fmt: skip
        # That it is a part of the file goes without saying here.
        return replace(part, notes=tuple(note for note in part.notes if note.code != "part-read"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def read_parts(
    source: Source,
    by: str,
    *,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
    only: Only | None = None,
    keep: Sequence[str] | None = None,
) -> Mapping[str, TestSet]:
    """The test sets of a scores table by the value of a column, such as ``lp``.

    A Parquet file may be larger than memory: its parts are read one by one, each when it is asked
    for. Anything else is read at once. The options are those of :func:`assay.read_scores`.

    >>> import polars as pl
    >>> rows = {"lp": ["de", "de", "fr"], "system": ["A", "B", "A"], "seg": [1, 1, 1]}
    >>> parts = read_parts(pl.DataFrame(rows), "lp")
    >>> {name: test_set.systems for name, test_set in parts.items()}
    {'de': ('A', 'B'), 'fr': ('A',)}
    """
    if isinstance(source, str | os.PathLike) and is_plain_parquet(Path(source)):
        path, users = Path(source), columns or {}
        rows = {users.get(name, name): value for name, value in (only or {}).items()}
        values = _values(path, users.get(by, by), rows)
        return Parts(
            path, by, values, columns, metrics, lower_metrics, exclude, dict(only or {}), keep
        )
    wanted = None if keep is None else [*keep, by]
    whole = read_scores(
        source, columns=columns, metrics=metrics, lower_metrics=lower_metrics, exclude=exclude,
        only=only, keep=wanted,
    )  # fmt: skip
    return whole.split(by)


def _values(path: Path, column: str, only: Only) -> dict[str, str | None]:
    from assay.tables.typed_files import parquet_columns, parquet_values

    need_known("by", column, parquet_columns(path), NOT_A_COLUMN)
    return {str(value): value for value in parquet_values(path, column, only)}
