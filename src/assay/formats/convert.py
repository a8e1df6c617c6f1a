"""Checks a file, and turns one kind of file into another."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from assay.errors import OptionError, Problem, TableError, need_known
from assay.formats.catalogue import FORMATS, Options, load_format, refuse_unused, save_format
from assay.formats.mqm import GOOGLE_WEIGHTS, mqm_scores
from assay.results import Note, Result, signature
from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.load import CheckedTable, Columns, Findings, Only, Raw, Source, printable
from assay.tables.schemas import SCHEMAS, find_schema
from assay.tables.tables import Sample, TestSet, read_ratings, read_sample, read_scores
from assay.tables.typed_files import save


@dataclass(frozen=True, slots=True)
class Checked(Result, kind="check"):
    """What a check found: everything that is wrong, or the table's size and notes."""

    source: str
    table: str
    ok: bool
    """Whether the table can be used."""
    rows: int
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    metrics: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """What was checked, in one line."""
        return signature("check", self.table, rows=self.rows)


@dataclass(frozen=True, slots=True)
class Converted(Result, kind="convert"):
    """What a conversion wrote."""

    rows: int
    written: tuple[str, ...]
    origin: str
    to: str
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """What was converted, in one line."""
        return signature("convert", self.origin, self.to, rows=self.rows)


def check(
    source: Source | Raw,
    *,
    kind: str,
    format: str | None = None,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    range: tuple[float, float] | None = None,
    test_set: TestSet | None = None,
    options: Options | None = None,
    only: Only | None = None,
) -> Checked:
    """Check a file and list every problem in it; nothing is raised for a faulty table.

    ``kind`` is the table (scores, ratings, errors, judgments, edits, sample), ``format`` the
    other tool's format where it is not one of Assay's own. Ratings, errors and samples are also
    checked against ``test_set`` where it is given. ``only`` checks part of the rows
    (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> report = check(pl.DataFrame({"left": ["A"], "right": ["A"], "winner": ["x"]}),
    ...                kind="judgments")
    >>> report.ok, [problem.column for problem in report.problems]
    (False, ['winner', 'right'])
    """
    find_schema(kind)
    for argument, value, kinds in (
        ("metrics", metrics, ("scores",)), ("exclude", exclude or None, ("scores", "judgments")),
        ("range", range, ("ratings",)), ("test_set", test_set, ("ratings", "errors", "sample")),
    ):  # fmt: skip
        if value is not None and kind not in kinds:
            fault, remedy = f"does not apply to {kind}", f"it is for {' and '.join(kinds)}"
            raise OptionError(argument, value, fault, remedy)
    name = printable(source) if isinstance(source, str | os.PathLike) else "frame"
    name = source.source if isinstance(source, Raw) else name
    try:
        raw = _load(source, format, kind, options)
        table = read_table(
            raw, kind, columns=columns, metrics=metrics, exclude=exclude, range=range,
            test_set=test_set, only=only,
        )  # fmt: skip
    except TableError as error:
        return refused(error, kind, source=name)
    used = table.metrics if isinstance(table, TestSet) else ()
    return Checked(name, kind, True, len(table), notes=table.notes, metrics=used)


def refused(error: TableError, kind: str, *, source: str | None = None) -> Checked:
    """The result of a check that failed."""
    return Checked(source or error.source, kind, False, error.rows, error.problems)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    origin: str,
    to: str,
    columns: Columns | None = None,
    exclude: Sequence[str] = (),
    sample: Sample | None = None,
    options: Options | None = None,
) -> Converted:
    r"""Read ``source`` as ``origin`` and write it to ``target`` as ``to``.

    Both are a kind of table (``ratings``; the file type follows from the name's ending) or a
    format (``google-mqm``). Scores can be restricted to the segments of a ``sample``, in its
    order; as ``ratings`` they become a sheet to fill in. Errors become ratings by their weights.
    The table is checked on the way; where it has problems, nothing is written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores, sheet = Path(folder) / "scores.tsv", Path(folder) / "to-rate.csv"
    ...     _ = scores.write_text("system\tseg\tchrF\nA\t1\t0.61\nA\t2\t0.55\n")
    ...     done = convert(scores, sheet, origin="scores", to="ratings")
    ...     print(done.rows, sheet.read_text().splitlines()[0])
    2 system,seg,score
    """
    known = [*SCHEMAS, *FORMATS]
    need_known("origin", origin, known)
    need_known("to", to, known)
    if os.path.realpath(source) == os.path.realpath(target):
        raise OptionError("target", target, "is also the file to read", "name another file")
    options = options or Options()
    kind = _kind_between(origin, to)
    uses = [(FORMATS[origin], FORMATS[origin].reads[kind])] if origin in FORMATS else []
    uses += [(FORMATS[to], FORMATS[to].writes[kind])] if to in FORMATS else []
    weighed = (origin, to) == ("errors", "ratings")
    refuse_unused(replace(options, weights=GOOGLE_WEIGHTS) if weighed else options, *uses)
    raw = _load(source, origin if origin in FORMATS else None, kind, options, checked=True)
    table = read_table(raw, kind, columns=columns, exclude=exclude)
    frame = table.frame if sample is None else _only_sampled(table, sample)
    notes = list(table.notes)
    if kind != to and to in SCHEMAS:
        frame, note = _remade(frame, kind, options, str(source))
        notes.append(note)
    if to in FORMATS:
        written = save_format(frame, Path(target), to, kind, options, checked=True)
    else:
        written = [save(frame, target)]
    return Converted(
        frame.height, tuple(printable(path) for path in written), origin, to, tuple(notes)
    )


def _kind_between(origin: str, to: str) -> str:
    """The kind of table that leads from one to the other."""
    reads = list(FORMATS[origin].reads) if origin in FORMATS else [origin]
    takes = list(FORMATS[to].writes) if to in FORMATS else [to]
    for kind in reads:
        if kind in takes:
            return kind
    if to == "ratings" and origin in ("errors", "scores"):
        return origin
    raise OptionError(
        "to", to, f"cannot be made from {origin}",
        f"{origin} gives {', '.join(reads) or 'nothing: it is only written'},"
        f" {to} takes {', '.join(takes) or 'nothing: it is only read'}",
    )  # fmt: skip


def _load(
    source: Source | Raw,
    format: str | None,
    kind: str,
    options: Options | None,
    *,
    checked: bool = False,
) -> Source | Raw:
    if format is None:
        if not checked:
            refuse_unused(options or Options())
        return source
    if not isinstance(source, str | os.PathLike):
        raise OptionError("format", format, "applies to files", "give a path")
    return load_format(Path(source), format, kind, options, checked=checked)


def read_table(
    source: Source | Raw, kind: str, *, columns: Columns | None = None,
    metrics: Sequence[str] | None = None, exclude: Sequence[str] = (),
    range: tuple[float, float] | None = None, test_set: TestSet | None = None,
    only: Only | None = None,
) -> CheckedTable:  # fmt: skip
    """Read a table of this kind; options that it does not use are ignored."""
    readers: dict[str, Callable[[], CheckedTable]] = {
        "scores": lambda: read_scores(
            source, columns=columns, metrics=metrics, exclude=exclude, only=only
        ),
        "ratings": lambda: read_ratings(source, test_set, columns=columns, range=range, only=only),
        "errors": lambda: read_errors(source, test_set, columns=columns, only=only),
        "judgments": lambda: read_judgments(source, columns=columns, exclude=exclude, only=only),
        "edits": lambda: read_edits(source, columns=columns, only=only),
        "sample": lambda: read_sample(source, test_set, columns=columns, only=only),
    }
    return readers[kind]()


def _remade(
    frame: pl.DataFrame, kind: str, options: Options, source: str
) -> tuple[pl.DataFrame, Note]:
    """Ratings made of another table, and what to know about them."""
    if kind == "scores":
        shown = ["system", "doc", "seg", "source", "target", "lp"]
        sheet = frame.select([name for name in shown if name in frame.columns])
        empty = pl.lit(None, dtype=pl.Float64).alias("score")
        text = "a sheet to fill in: the score column is empty"
        return sheet.with_columns(empty), Note("empty-scores", text)
    kinds = frame.select("category", "severity").unique().rows()
    findings = Findings(source)
    for name in sorted({s for c, s in kinds if options.weights.of(c, s) is None}):
        message = f"severity '{name}' has no weight; give it one with `weights` ({name}=N)"
        findings.add(message, None, "severity", name)
    findings.stop()
    text = "scores are sums of weights: lower is better"
    return mqm_scores(frame, options.weights), Note("weighted-sums", text)


def _only_sampled(table: CheckedTable, sample: Sample) -> pl.DataFrame:
    """The scores of the sampled segments, in the order they are to be rated."""
    if not isinstance(table, TestSet):
        raise OptionError("sample", sample.design, "applies to scores only", "leave it out")
    placed = read_sample(sample.frame, table).frame
    key = list(table.key) if sample.matched else ["system", *table.key]
    placed = placed.select(key) if "order" not in placed.columns else placed.sort("order")
    drawn = placed.select(key).with_row_index("_order")
    return table.frame.join(drawn, on=key).sort("_order", maintain_order=True).drop("_order")
