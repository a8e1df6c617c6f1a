"""``assay kits`` and ``assay effort``: alike pieces of text for editors, and what editing took."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from assay.cli import (
    columns_for,
    deliver,
    names,
    note,
    pairs,
    people,
    progress_bars,
    refuse,
    refuse_alone,
    say,
)
from assay.cli.options import CONTEXT, Better, Count, File, Number, Text
from assay.errors import InputError, OptionError, need_count, need_known

if TYPE_CHECKING:
    from assay.effort.results import Effort, Relation
    from assay.tables.answers import Edits
    from assay.tables.load import Raw, Source

kits = typer.Typer(
    help="Find similar pieces of text, and build kits for editors from them.",
    no_args_is_help=True,
    context_settings=CONTEXT,
)


@kits.command("find")
def find(
    corpus: list[Path], *, words: int = 500, pieces: int = 3, count: int = 1,
    mode: Literal["closest", "dbscan"] = "closest", eps: Number = None, language: str = "en",
    profile: Literal["paper", "standard"] = "paper", clean: Text = None,
    length_tolerance: str = "0.1", shared: str = "0.2", density: str = "1.3", terms: Text = None,
    texts: File = None, figure: File = None, seed: Count = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Find pieces of text that should take editors about the same effort.

    Example: assay kits find book.docx --words 500 --pieces 3
    """
    from assay.kits.find import find_kits, kit_texts
    from assay.kits.pieces import read_pieces

    with progress_bars() as progress:
        read = read_pieces(
            *corpus, words=words, language=language, profile=profile, clean=names(clean) or (),
            progress=progress,
        )  # fmt: skip
        result = find_kits(
            read, size=pieces, count=count, mode=mode, eps=eps,
            length_tolerance=_limit("length_tolerance", length_tolerance),
            shared=_limit("shared", shared), density=_limit("density", density),
            methods=names(terms), rng=seed, progress=progress,
        )  # fmt: skip
    if not result.kits:
        shortfall = [line for line in result.notes if line.code == "too-few-kits"]
        note(*(line for line in result.notes if line not in shortfall))
        raise InputError(f"no kit was found: {'; '.join(shortfall)}")
    if texts is not None:
        from assay.tables.typed_files import save as save_table

        save_table(kit_texts(result, read), texts)
    if figure is not None:
        from assay.views.figures import save_figure
        from assay.views.kits import draw_kits

        save_figure(draw_kits(result), figure)
    deliver(result, save, json)
    if not json:
        say(*(f"written to {path}" for path in (texts, figure) if path is not None))


def _limit(option: str, text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(option, text, "is not a limit", "give a number, or none") from None


@kits.command("design")
def design(
    *, systems: str, editors: str, design: str = "auto", documents: Text = None, seed: Count = None,
    output: File = None, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Decide who edits which document from which system, and show the balance.

    Designs: auto, permutations, latin, williams, graeco-latin, rotated, identical.

    Example: assay kits design --systems A,B,Human --editors 6 --design williams -o design.tsv
    """
    from assay.kits.design import design_kits
    from assay.tables.typed_files import save as save_table

    known = people(editors)
    if known == [editors.strip()] and re.fullmatch(r"[-+]?[\d.]+", editors.strip()):
        raise OptionError(
            "editors", editors, "is not a number of editors", "give a whole number, or names"
        )
    result = design_kits(
        _names_of_systems(systems), known, design=design, documents=names(documents), rng=seed
    )
    if output is not None:
        save_table(result.to_frame(), output)
    deliver(result, save, json)
    if output is not None and not json:
        say(f"written to {output}")


def _names_of_systems(text: str) -> list[str]:
    """The systems by their names, or so many of them."""
    if text.strip().isdecimal():
        need_count("systems", int(text), "systems", most=1000)
        return [f"system-{number}" for number in range(1, int(text) + 1)]
    return names(text) or []


@kits.command("build")
def build(
    design: Path, texts: Path, *, output: Path, key: File = None, formats: str = "tsv",
    human: Text = None, lp: Text = None, columns: Text = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Write one blind file per editor, an instruction sheet and a key.

    With --human, the human translation is checked for traces of the systems' outputs. XLIFF files
    get the language pair from --lp.

    Example: assay kits build design.tsv translations.tsv -o kits --human Human
    """
    from assay.kits.build import build_kits
    from assay.kits.design import read_design
    from assay.tables.load import load
    from assay.tables.tables import read_scores

    (mapping,) = columns_for(columns, ("scores", texts))
    result = build_kits(
        read_design(load(design, text=lambda name: True).frame),
        read_scores(texts, columns=mapping), output, key=key, formats=names(formats) or [],
        human=human, languages=lp,
    )  # fmt: skip
    deliver(result, save, json)


@kits.command("collect")
def collect(
    key: Path, files: list[Path], *, output: Path,
    empty: Literal["refuse", "unchanged", "keep"] = "refuse", save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Join the files that editors sent back with the key, as a table of edits.

    Example: assay kits collect kits-key.tsv returned/*.tsv -o edits.tsv
    """
    from assay.kits.collect import collect_kits, summarise_collected

    if output.exists() and output.is_dir():
        raise OptionError("output", output, "is a folder", "name a file")
    edits = collect_kits(key, files, empty=empty)
    deliver(summarise_collected(edits, edits.write(output)), save, json)


Opened: TypeAlias = "tuple[Source | Raw, dict[str, str] | None]"
"""What to read a file from, and by which columns."""


def effort(
    edits: list[Path] | None = None, *, before: list[Path] | None = None,
    after: list[Path] | None = None, pattern: Text = None, human: Text = None,
    margin: Number = None, measures: Text = None, time: str = "mean", time_weight: float = 1.0,
    alike: float = 1.25, assume_alike: bool = False, rate: Text = None, level: float = 0.95,
    format: Text = None, system: Text = None, editor: Text = None, columns: Text = None,
    only: Text = None, figure: File = None, figure_by_editor: File = None, ratings: File = None,
    better: Better | None = None, kits: File = None, seed: Count = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Compare systems by post-editing effort.

    EDITS are tables, or files of a translation tool. If the tool keeps only one text per segment,
    give --before and --after instead.

    Example: assay effort --before before --after after --rate "40 EUR"
    """
    from assay.effort.effort import effort as compare

    refuse_alone("better", better, "ratings", ratings)
    with progress_bars() as progress:
        if before or after:
            from assay.effort.versions import read_versions

            refuse(
                {"EDITS": edits[0] if edits else None, "--format": format, "--only": only},
                "is not for files from before and after editing",
                "leave it out, or leave out --before and --after",
            )
            refuse_alone("before", before or None, "after", after or None)
            refuse_alone("after", after or None, "before", before or None)
            table = read_versions(
                before or [], after or [], system=system, editor=editor, pattern=pattern,
                columns=pairs("columns", columns), progress=progress,
            )  # fmt: skip
        else:
            refuse_alone("pattern", pattern, "before", before)
            table = read_edit_files(
                edits or [], format=format, system=system, editor=editor, columns=columns, only=only
            )
        result = compare(
            table, human=human, margin=margin, measures=names(measures), time=time,
            time_weight=time_weight, alike=alike, assume_alike=assume_alike or None, rate=rate,
            level=level, rng=seed, progress=progress,
        )  # fmt: skip
    result = replace(result, relations=_relations(result, ratings, better or "higher", kits, seed))
    _draw(result, figure, figure_by_editor)
    deliver(result, save, json)
    if not json:
        say(*(f"written to {path}" for path in (figure, figure_by_editor) if path is not None))


def _draw(result: Effort, figure: Path | None, figure_by_editor: Path | None) -> None:
    """The figures of the result's section, to the files that were asked for."""
    if figure is None and figure_by_editor is None:
        return
    from assay.views.effort import effort_section
    from assay.views.figures import save_figure
    from assay.views.section import Figure

    files = {"effort": figure, "editors": figure_by_editor}
    for block in effort_section(result).blocks:
        if isinstance(block, Figure) and (path := files[block.name]) is not None:
            save_figure(block.draw(), path)


def _relations(
    result: Effort, ratings: Path | None, better: Better, kits: Path | None, seed: int | None
) -> tuple[Relation, ...]:
    """Effort against ratings and against the documents' LIX; what is positive agrees."""
    found: tuple[Relation, ...] = ()
    if ratings is not None:
        from assay.effort.relations import compare_ratings
        from assay.tables.tables import read_ratings

        found += compare_ratings(result, read_ratings(ratings, better=better), rng=seed)
    if kits is not None:
        from assay.effort.relations import complexity_effort
        from assay.kits.results import KitSet
        from assay.views.page import read_result

        saved = read_result(kits)
        if not isinstance(saved, KitSet) or "lix" not in saved.pieces[0].features:
            raise OptionError("kits", kits, "is not a result of kits find", "save one with --save")
        # Documents bear the names that kits find --texts gave the pieces.
        lix = {f"piece {piece.piece}": piece.features["lix"] for piece in saved.pieces}
        found += complexity_effort(result, lix, rng=seed)
    return found


def read_edit_files(
    files: list[Path], *, format: Text = None, system: Text = None, editor: Text = None,
    columns: Text = None, only: Text = None,
) -> Edits:  # fmt: skip
    """One table of edits from one file or several, which together may not name a row twice."""
    from assay.tables.answers import join_edits
    from assay.tables.load import column_names

    if not files:
        raise InputError(
            "no edits are given; name tables of edits, or give a translation tool's folders with"
            " --before and --after"
        )
    files = [found for file in files for found in _in_folder(file)]
    for place, file in enumerate(files):
        if os.path.realpath(file) in [os.path.realpath(other) for other in files[:place]]:
            raise OptionError("EDITS", file, "was given twice", "name each file once")
    given = {k: v for k, v in (("system", system), ("editor", editor)) if v is not None}
    sources: dict[Path, Opened] = {}
    foreign: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        name = _tool_format(file) if format is None else _known_format(format)
        if name is None and not _is_own(file, columns):
            foreign.setdefault(tuple(sorted(column_names(file))), []).append(file)
        else:
            sources[file] = _source(file, name, columns, given)
    for alike in foreign.values():  # one table in several files is guessed as one
        sources |= dict(zip(alike, _guessed(alike, columns, given), strict=True))
    return join_edits([sources[file] for file in files], only=pairs("only", only))


def _source(file: Path, format: str | None, columns: str | None, given: dict[str, str]) -> Opened:
    """What to read a file of a tool from, or a table with Assay's names, and by which columns."""
    if format is not None:
        from assay.formats.catalogue import Options, load_format

        options = Options(system=given.get("system"), editor=given.get("editor"))
        return load_format(file, format, "edits", options), None
    refuse(given, "is in the table already")
    return file, columns_for(columns, ("edits", file))[0]


def _in_folder(file: Path) -> list[Path]:
    """The files of a folder, or the file."""
    if not file.is_dir():
        return [file]
    from assay.effort.folders import files_in

    return [place.path for place in files_in([file], "EDITS")[0]]


def _tool_format(file: Path) -> str | None:
    """The format of a translation tool's file; None for a table."""
    from assay.tables.load import FILE_TYPES

    if file.suffix.lower() in FILE_TYPES:
        return None
    from assay.formats.bilingual import tool_format

    return tool_format(file)


def _is_own(file: Path, columns: str | None) -> bool:
    """Whether a table has Assay's own names, or those that the user gave."""
    from assay.tables.load import column_names
    from assay.tables.schemas import SCHEMAS

    present = column_names(file)
    said = {name for name, user in pairs("columns", columns).items() if user in present}
    return {*SCHEMAS["edits"].required} <= {*present, *said}


def _guessed(
    files: Sequence[Path], columns: str | None, given: dict[str, str]
) -> list[tuple[Raw, dict[str, str]]]:
    """Tables with other people's names, the same in all, and what they seem to mean.

    That is said in one line. Where there is no column of documents, a file is a document; segments
    without numbers are numbered by their source.
    """
    from assay.tables.guess import Guess, guess, rows_as_guessed
    from assay.tables.layout import joined, labels_of, rows_alone
    from assay.tables.load import load

    raws = [_with(rows_alone(load(file, text=lambda _: True)), **given) for file in files]

    def found() -> Guess:
        whole = joined(raws)
        said = pairs("columns", columns).items()
        here = {name: user for name, user in said if user in whole.frame.columns}
        return guess(whole, kind="edits", columns=here)

    first = found()
    if "doc" not in first.columns and (
        _one_system_each(joined(raws), first.columns)
        or (
            _other_texts(raws, first.columns)
            and all(_one_system_each(raw, first.columns) for raw in raws)
        )
    ):
        raws = [_with(raw, doc=file.stem) for raw, file in zip(raws, files, strict=True)]
    if "seg" not in first.columns and "source" in first.columns:
        raws = [_with_numbers(raw, first.columns) for raw in raws]
    last = found()
    note(last.sentence)
    last.need_answers()
    if "file" in last.columns.values():
        raws = [_with(raw, file=label) for raw, label in zip(raws, labels_of(files), strict=True)]
    return [(rows_as_guessed(raw, last), dict(last.columns)) for raw in raws]


def _with(raw: Raw, **constants: str) -> Raw:
    import polars as pl

    frame = raw.frame.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    return replace(raw, frame=frame)


def _one_system_each(raw: Raw, columns: Mapping[str, str]) -> bool:
    """Whether no editor had two systems, as no editor has in one document."""
    if not {"system", "editor"} <= {*columns}:
        return False
    editor, system = columns["editor"], columns["system"]
    each = raw.frame.group_by(editor).n_unique()
    return bool((each[system] == 1).all())


def _other_texts(raws: Sequence[Raw], columns: Mapping[str, str]) -> bool:
    """Whether every file has texts of its own, as documents have."""
    if "source" not in columns:
        return False
    sources = [set(raw.frame[columns["source"]]) for raw in raws]
    return len(set().union(*sources)) == sum(map(len, sources))


def _with_numbers(raw: Raw, columns: Mapping[str, str]) -> Raw:
    """Segments numbered by their source; one that comes again in a file is another segment."""
    import polars as pl

    who = [columns[name] for name in ("system", "editor", "doc") if name in columns]
    who = [name for name in who if name in raw.frame.columns]
    source = pl.col(columns["source"])
    again = pl.int_range(pl.len()).over([*who, columns["source"]]).alias("_again")
    rows = raw.frame.with_columns(again)
    number = pl.struct(source, "_again").rank("dense").cast(pl.String)
    return replace(raw, frame=rows.with_columns(seg=number).drop("_again"))


def _known_format(format: str) -> str:
    from assay.formats.catalogue import FORMATS

    known = [item.name for item in FORMATS.values() if "edits" in item.reads]
    need_known("--format", format, known, "holds no edits")
    return format
