"""Check a file, and turn one kind of file into another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.errors import OptionError, Problem, TableError
from assay.results import result_dict, signature
from assay.tables.check import Columns, did_you_mean
from assay.tables.edits import read_edits
from assay.tables.formats import FORMATS, Options, load_format, save_format
from assay.tables.formats.mqm import mqm_scores
from assay.tables.judgments import read_judgments
from assay.tables.ratings import read_errors, read_ratings
from assay.tables.raw import Raw, Source, load, save
from assay.tables.sample import Sample, read_sample
from assay.tables.schema import SCHEMAS, find_schema
from assay.tables.table import Table
from assay.tables.test_set import TestSet, read_scores

__all__ = ["Checked", "Converted", "check", "convert"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: everything that is wrong, or the table's size and notes."""

    source: str
    table: str
    rows: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    metrics: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the table can be used."""
        return not self.problems

    @property
    def signature(self) -> str:
        """What was checked, in one line."""
        return signature("check", self.table, rows=self.rows)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay check``."""
        return result_dict(
            "check",
            self.signature,
            source=self.source,
            table=self.table,
            ok=self.ok,
            rows=self.rows,
            problems=[problem.to_dict() for problem in self.problems],
            notes=self.notes,
            metrics=self.metrics,
        )


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion wrote."""

    rows: int
    written: tuple[str, ...]
    origin: str
    target: str
    notes: tuple[str, ...]

    @property
    def signature(self) -> str:
        """What was converted, in one line."""
        return signature("convert", self.origin, self.target, rows=self.rows)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay convert``."""
        return result_dict(
            "convert", self.signature, rows=self.rows, written=self.written, notes=self.notes
        )


def check(
    source: Source,
    *,
    kind: str,
    format: str | None = None,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    range: tuple[float, float] | None = None,
    test_set: TestSet | None = None,
    options: Options | None = None,
) -> Checked:
    """Check a file and list every problem in it; nothing is raised for a faulty table.

    ``kind`` is the table (scores, ratings, errors, judgments, edits, sample), ``format`` the
    other tool's format where it is not one of Assay's own. Ratings, errors and samples are also
    checked against ``test_set`` where it is given.

    >>> import polars as pl
    >>> report = check(pl.DataFrame({"left": ["A"], "right": ["A"], "winner": ["x"]}),
    ...                kind="judgments")
    >>> report.ok, [problem.column for problem in report.problems]
    (False, ['winner', 'right'])
    """
    find_schema(kind)
    name = str(source) if isinstance(source, str | os.PathLike) else "frame"
    try:
        raw = _load(source, format, kind, options)
        table = _read(
            raw, kind, columns=columns, metrics=metrics, exclude=exclude, range=range,
            test_set=test_set,
        )  # fmt: skip
    except TableError as error:
        return Checked(name, kind, error.rows, error.problems, ())
    used = table.metrics if isinstance(table, TestSet) else ()
    return Checked(name, kind, len(table), (), table.notes, used)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    origin: str,
    to: str,
    columns: Columns | None = None,
    sample: Sample | None = None,
    options: Options | None = None,
) -> Converted:
    """Read ``source`` as ``origin`` and write it to ``target`` as ``to``.

    Both are a kind of table (``ratings``; the file type follows from the name's ending) or a
    format (``google-mqm``). Scores can be restricted to the segments of a ``sample``. The table
    is checked on the way; where it has problems, nothing is written.
    """
    known = [*SCHEMAS, *FORMATS]
    _need_kind("from", origin, known)
    _need_kind("to", to, known)
    kind = _kind_between(origin, to)
    if (origin, to) == ("errors", "ratings"):
        table = _read(_priced(load(source), columns, options or Options()), kind)
    else:
        raw = _load(source, origin if origin in FORMATS else None, kind, options)
        table = _read(raw, kind, columns=columns)
    frame = table.frame if sample is None else _only_sampled(table, sample)
    if to in FORMATS:
        written = save_format(frame, Path(target), to, kind, options)
    else:
        written = [save(frame, target)]
    return Converted(frame.height, tuple(str(path) for path in written), origin, to, table.notes)


def _need_kind(argument: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise OptionError(
            argument,
            name,
            f"is not known{did_you_mean(name, known)}",
            f"choose from {', '.join(known)}",
        )


def _kind_between(origin: str, to: str) -> str:
    """The kind of table that leads from one to the other."""
    reads = FORMATS[origin].reads if origin in FORMATS else (origin,)
    if origin == "errors" and to == "ratings":
        return "ratings"
    takes = FORMATS[to].writes if to in FORMATS else (to,)
    for kind in reads:
        if kind in takes:
            return kind
    raise OptionError(
        "to", to, f"cannot be made from {origin}",
        f"{origin} gives {', '.join(reads) or 'nothing: it is only written'},"
        f" {to} takes {', '.join(takes) or 'nothing: it is only read'}",
    )  # fmt: skip


def _load(source: Source, format: str | None, kind: str, options: Options | None) -> Source | Raw:
    if format is None:
        return source
    if not isinstance(source, str | os.PathLike):
        raise OptionError("format", format, "applies to files", "give a path")
    return load_format(Path(source), format, kind, options)


def _read(
    source: Source | Raw,
    kind: str,
    *,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    range: tuple[float, float] | None = None,
    test_set: TestSet | None = None,
) -> Table:
    match kind:
        case "scores":
            return read_scores(source, columns=columns, metrics=metrics, exclude=exclude)
        case "ratings":
            return read_ratings(source, test_set, columns=columns, range=range)
        case "errors":
            return read_errors(source, test_set, columns=columns)
        case "judgments":
            return read_judgments(source, columns=columns, exclude=exclude)
        case "edits":
            return read_edits(source, columns=columns)
        case _:
            return read_sample(source, test_set, columns=columns)


def _priced(raw: Raw, columns: Columns | None, options: Options) -> Raw:
    """Ratings computed from a table of marked errors; an unknown severity is a problem."""
    errors = read_errors(raw, columns=columns)
    unknown = [
        (category, severity)
        for category, severity in errors.frame.select("category", "severity").unique().rows()
        if options.weights.of(category, severity) is None
    ]
    if unknown:
        known = ", ".join(options.weights.severities)
        raise TableError(
            raw.source,
            [
                Problem(f"severity '{severity}' has no weight; known are {known}", None,
                        "severity", severity)
                for _, severity in sorted(unknown)
            ],
        )  # fmt: skip
    return Raw(mqm_scores(errors.frame, options.weights), raw.source, lambda rows: list(rows))


def _only_sampled(table: Table, sample: Sample) -> pl.DataFrame:
    """The scores of the sampled segments, in the order they are to be shown."""
    if not isinstance(table, TestSet):
        raise OptionError("sample", sample.design, "applies to scores only", "leave it out")
    key = list(table.key) if sample.matched else ["system", *table.key]
    return table.frame.join(sample.frame.select(key), on=key, how="semi", maintain_order="left")
