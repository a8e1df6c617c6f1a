"""Reads, guesses, joins and checks the files that a project is made of, and makes the project."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import replace as replace_frame
from pathlib import Path

import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.formats.catalogue import Options, find_format, load_format
from assay.formats.convert import read_table
from assay.formats.text_folder import find_texts, is_text_folder, languages_of
from assay.project.project import FILE, Project, open_project
from assay.project.reader import parse_settings, with_key
from assay.results import Note, plural
from assay.tables.answers import join_ratings
from assay.tables.guess import Guess, as_guessed
from assay.tables.layout import joined, labels_of, rows_alone
from assay.tables.load import (
    FILE_TYPES,
    CheckedTable,
    Only,
    Raw,
    column_names,
    load,
    refuse,
    write_bytes,
)
from assay.tables.tables import Ratings, TestSet

LESS_IS_BETTER = re.compile(r"(.*[-_ ])?(h?ter|wer|cer|metric-?x.*|perplexity|ppl)", re.IGNORECASE)
"""Names of metrics that count errors."""
PAIR = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?-[a-z]{2,3}(_[A-Z]{2})?")
OF_TOOLS = {".sdlxliff": "sdlxliff", ".mxliff": "mxliff", ".xlf": "xliff", ".xliff": "xliff"}

Ask = Callable[[Raw, str | None], Guess]
"""Says what a table is, and asks a person where the table does not tell."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user says of the files, instead of guesses."""

    kind: str | None = None
    format: str | None = None
    lp: str | None = None
    only: Only | None = None
    metrics: Sequence[str] | None = None
    lower_metrics: Sequence[str] | None = None
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a new project: what it was read from and taken for.

    ``whole`` is the table with the systems that are left out: the project keeps them, and its
    setting `exclude` leaves them out whenever the table is read.
    """

    kind: str
    table: CheckedTable
    files: tuple[Path, ...]
    guess: Guess | None = None
    languages: tuple[str, str] | None = None
    whole: CheckedTable | None = None

    @property
    def as_it_is(self) -> bool:
        """Whether the one file that it was read from has Assay's own names."""
        found = self.guess
        plain = found is not None and not found.melted and len(self.files) == 1
        return plain and all(name == user for name, user in found.columns.items())  # type: ignore[union-attr]


def read_sources(paths: Sequence[Path], choices: Choices, ask: Ask) -> list[Part]:
    """The tables in files and folders, one for each kind; the scores first.

    Files with the same columns are one table, and a table of metrics joins the outputs that it is
    about. What the answers are about must be in the scores, where there are any.
    """
    groups: dict[tuple[str, ...], list[Path]] = {}
    whole: list[Part] = []
    for path in paths:
        format = choices.format or _format_of(path)
        if format is not None:
            whole.append(_of_tool(path, format, choices))
        beside = _tables_of(path) if format == "text-folder" else []  # of metrics, as a rule
        for file in _tables_in(path) if format is None else beside:
            groups.setdefault(tuple(sorted(column_names(file))), []).append(file)
    guessed = []
    for files in groups.values():
        raws = [rows_alone(load(file, text=lambda _: False, only=choices.only)) for file in files]
        guessed.append((files, ask(joined(raws), choices.kind).need_answers()))
    guessed.sort(key=lambda one: one[1].table != "scores")
    parts = list(whole)
    for files, found in guessed:
        scores = next((part.table for part in parts if isinstance(part.table, TestSet)), None)
        parts.append(_read(files, found, choices, scores))
    parts = _with_metrics(parts)
    kinds = [part.kind for part in parts]
    for kind in kinds:
        if kinds.count(kind) > 1:
            names = ", ".join(str(part.files[0]) for part in parts if part.kind == kind)
            raise InputError(
                f"{names}: these are {kind} with different columns; rename them so that all"
                " have the same"
            )
    parts.sort(key=lambda part: part.kind != "scores")
    return _excluding(parts, choices.exclude) if choices.exclude else parts


def _excluding(parts: Sequence[Part], systems: Sequence[str]) -> list[Part]:
    """The parts without these systems, which the first of them must have."""
    names = [name for name in ("system", "left", "right") if name in parts[0].table.frame.columns]
    known = pl.concat([parts[0].table.frame[name] for name in names]).unique(maintain_order=True)
    for name in systems:
        need_known("exclude", name, known.to_list(), f"is not in the {parts[0].kind} table")
    return [replace(part, table=_without(part.table, systems), whole=part.table) for part in parts]


def _without(table: CheckedTable, systems: Sequence[str]) -> CheckedTable:
    """The rows of a table that are not about these systems."""

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        names = [name for name in ("system", "left", "right") if name in frame.columns]
        return frame.filter(~pl.any_horizontal(pl.col(name).is_in(systems) for name in names))

    rest = kept(table.frame)
    if not rest.height:
        raise OptionError("exclude", ", ".join(systems), "leaves no system", "keep at least one")
    fewer = table.frame.height - rest.height
    text = f"left out: {', '.join(systems)} ({plural(fewer, 'row')})"
    table = replace(table, frame=rest, notes=(*table.notes, Note("excluded", text)))
    return replace(table, repeats=kept(table.repeats)) if isinstance(table, Ratings) else table


def _format_of(path: Path) -> str | None:
    """The format of a folder, or of another tool's file, if its name tells."""
    if path.is_dir():
        from assay.formats.mt_metrics_eval import language_pairs

        if any(PAIR.fullmatch(pair) for pair in language_pairs(path)):
            return "mt-metrics-eval"
        return "text-folder" if is_text_folder(path) else None
    return OF_TOOLS.get(path.suffix.lower())


def _tables_of(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.iterdir()) if file.suffix.lower() in FILE_TYPES]


def _tables_in(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.suffix.lower() == ".txt" and len(column_names(path)) == 1:
            raise refuse(path, "is one text of several; give the folder that holds all of them")
        return [path]
    if files := _tables_of(path):
        return files
    tools = sorted({OF_TOOLS.get(file.suffix.lower(), "") for file in path.iterdir()} - {""})
    other = f"its files are of the format {tools[0]}: give them one by one" if tools else (
        "expected tables, or text files, a segment per line: source.txt, reference.txt and one"
        " for every system"
    )  # fmt: skip
    raise refuse(path, f"has no table; {other}")


def _with_metrics(parts: Sequence[Part]) -> list[Part]:
    """The parts, with metrics joined to the part that has their outputs."""
    scores = [part for part in parts if part.kind == "scores"]
    texts = [part for part in scores if "target" in part.table.frame.columns]
    if len(scores) < 2 or len(texts) != 1:
        return list(parts)
    whole = texts[0]
    for part in scores:
        if part is not whole:
            whole = _joined(whole, part)
    return [whole, *(part for part in parts if part.kind != "scores")]


def _joined(texts: Part, metrics: Part) -> Part:
    """Outputs with the metrics that another table has of them."""
    one, two = texts.table, metrics.table
    if not (isinstance(one, TestSet) and isinstance(two, TestSet)):
        raise TypeError("scores are test sets")
    source, both = str(metrics.files[0]), [name for name in two.metrics if name in one.metrics]
    if both:
        raise InputError(f"{source}: {texts.files[0]} has {', '.join(both)} too; keep one of them")
    key = ["system", *(name for name in one.key if name in two.key)]
    values = two.frame.select(*key, *two.metrics)
    twice = values.filter(values.select(key).is_duplicated())
    if twice.height:
        named = ", ".join(map(str, twice.row(0)[: len(key)]))
        raise InputError(
            f"{source}: {' and '.join(key)} do not tell its rows apart ({named}); add the column"
            f" {next(name for name in (*one.key, 'doc') if name not in key)}"
        )
    strange = values.join(one.frame, on=key, how="anti", nulls_equal=True)
    if strange.height:
        named = ", ".join(map(str, strange.row(0)[: len(key)]))
        raise InputError(
            f"{source}: {plural(strange.height, 'row')} of {values.height:,} are about outputs that"
            f" {texts.files[0]} does not have, such as {' and '.join(key)} {named}; name systems"
            " and segments alike in both (in a folder of texts a segment is a line, from 1 on)"
        )
    frame = one.frame.join(values, on=key, how="left", nulls_equal=True, maintain_order="left")
    table = replace(
        one, frame=frame, metrics=(*one.metrics, *two.metrics), notes=(*one.notes, *two.notes),
        lower_metrics=one.lower_metrics | two.lower_metrics,
    )  # fmt: skip
    return replace(
        texts, table=table, files=(*texts.files, *metrics.files),
        guess=texts.guess or metrics.guess,
    )  # fmt: skip


def _of_tool(path: Path, format: str, choices: Choices) -> Part:
    """The table in another tool's file or folder; scores, if it holds several kinds."""
    reads = find_format(format).reads
    kind = choices.kind or ("scores" if "scores" in reads else next(iter(reads), ""))
    lp = choices.lp if "lp" in reads.get(kind, ()) else None
    raw = load_format(path, format, kind, Options(lp=lp))
    table = _typed(kind, raw, {}, choices, None, metrics=choices.metrics)
    languages = languages_of(find_texts(path)) if format == "text-folder" else None
    return Part(kind, table, (path,), None, languages)


def _read(
    files: Sequence[Path], found: Guess, choices: Choices, scores: TestSet | None
) -> Part:  # fmt: skip
    """The table of one kind in files with the same columns."""
    kind = str(found.table)
    labels = labels_of(files) if len(files) > 1 else [None]
    raws = [as_guessed(file, found, label) for file, label in zip(files, labels, strict=True)]
    columns = dict(found.columns)
    metrics = found.metrics if choices.metrics is None else choices.metrics
    if kind == "ratings":
        tables = [_typed(kind, raw, columns, choices, scores) for raw in raws]
        named = [(str(f), t) for f, t in zip(files, tables, strict=True) if isinstance(t, Ratings)]
        return Part(kind, join_ratings(named), tuple(files), found)
    raw = raws[0]
    if len(raws) > 1:
        frame = pl.concat([one.frame for one in raws], how="diagonal_relaxed")
        raw = Raw(frame, ", ".join(map(str, files)), notes=raw.notes)
    return Part(kind, _typed(kind, raw, columns, choices, scores, metrics), tuple(files), found)


def _typed(
    kind: str, raw: Raw, columns: Mapping[str, str], choices: Choices, scores: TestSet | None,
    metrics: Sequence[str] | None = None,
) -> CheckedTable:  # fmt: skip
    if kind == "sample":
        raise InputError(f"{raw.source} is a {kind}; a project starts with scores")
    table = read_table(
        raw, kind, columns=columns, metrics=metrics, test_set=scores, only=choices.only
    )
    if isinstance(table, TestSet):
        table = _with_directions(table, choices.lower_metrics)
    return table


def _with_directions(table: TestSet, said: Sequence[str] | None) -> TestSet:
    """The test set with its metrics where less is better, as given or by their names."""
    from assay.errors import need_known

    for name in said or ():
        need_known("lower_metrics", name, table.metrics, "is not a metric of the scores")
    lower = said
    if lower is None:  # a file that has them negated has no positive one
        named = [name for name in table.metrics if LESS_IS_BETTER.fullmatch(name)]
        lower = [name for name in named if (table.frame[name] > 0).any()]
    return replace(table, lower_metrics=frozenset(lower))


HEADER = "# The settings of this project. Every command in this folder reads them.\n"


def settings_of(parts: Sequence[Part], folder: Path) -> dict[str, object]:
    """The settings that follow from the tables of a project."""
    said: dict[str, object] = {}
    for part in parts:
        name = file_of(part, folder)
        said[part.kind] = name if part.kind == "scores" else [name]
        if isinstance(part.table, TestSet):
            said["metrics"] = list(part.table.metrics)
            if part.table.lower_metrics:
                said["lower_metrics"] = sorted(part.table.lower_metrics)
        if part.languages is not None:
            said["screen"] = {"languages": list(part.languages)}
    return said


def file_of(part: Part, folder: Path) -> str:
    """The file name of a table in the project: its own, if it lies there and has Assay's names."""
    path = Path(os.path.realpath(part.files[0]))
    inside = path.is_relative_to(os.path.realpath(folder))
    if part.as_it_is and inside:
        return path.relative_to(os.path.realpath(folder)).as_posix()
    return f"{part.kind}.tsv"


def create_project(
    folder: Path, parts: Sequence[Part], said: Mapping[str, object], *, replace: bool = False
) -> Project:
    """Write the tables and the settings of a new project; all of it or nothing.

    A project that is there gets the tables that it lacks.

    Raises:
        InputError: It has such a table already, or a file would be written over, and ``replace``
            was not given.
    """
    folder = Path(os.path.normpath(folder.absolute()))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the project")
    if (folder / FILE).exists() and not replace:
        return _add(open_project(folder), parts, said)
    text = HEADER
    for key, value in said.items():
        text = with_key(text, key, value)
    parse_settings(text, str(folder / FILE))
    tables = {name: part for part in parts if (name := file_of(part, folder)) == f"{part.kind}.tsv"}
    tables = {n: part for n, part in tables.items() if not _is_source(folder / n, part)}
    for name in (FILE, *tables):
        if (folder / name).exists() and not replace:
            raise InputError(f"{folder / name} already exists; give `replace` to overwrite it")
    made = not folder.exists()
    place = folder.parent / f".{folder.name[:100]}.{secrets.token_hex(4)}.part"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir()
    except OSError as error:
        raise InputError(f"{folder}: no folder can be made there ({error.strerror})") from None
    try:
        for name, part in tables.items():
            _write(part, place / name)
        write_bytes(place / FILE, text.encode())
        if made:
            place.replace(folder)
        else:
            for name in (*tables, FILE):
                (place / name).replace(folder / name)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return open_project(folder)


def _add(project: Project, parts: Sequence[Part], said: Mapping[str, object]) -> Project:
    """Add tables that the project lacks; settings that were not given stay as they are."""
    for part in parts:
        path = project.path(file_of(part, project.folder))
        if getattr(project.settings, part.kind):
            raise InputError(
                f"{project.file} has {part.kind} already; give `replace` to start over, or write"
                f" {path.name} into it by hand"
            )
        if path.exists() and not _is_source(path, part):
            raise InputError(f"{path} is there; give `replace` to write over it")
    for part in parts:
        path = project.path(file_of(part, project.folder))
        if not path.exists():
            _write(part, path)
    return project.record({key: value for key, value in said.items() if key != "name"})


def _is_source(path: Path, part: Part) -> bool:
    return part.as_it_is and os.path.realpath(path) == os.path.realpath(part.files[0])


def _write(part: Part, path: Path) -> None:
    table = part.whole or part.table
    if isinstance(table, Ratings) and table.repeats.height:  # behind the answers that count
        frame = pl.concat([table.frame, table.repeats], how="diagonal_relaxed")
        table = replace_frame(table, frame=frame)
    table.write(path)
