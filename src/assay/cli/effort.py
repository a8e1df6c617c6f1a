"""``assay effort``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import (
    columns_for,
    figure_file,
    names,
    pairs,
    refuse_alone,
    save_file,
    say,
)
from assay.cli.options import (
    BETTER_IF_RATED,
    COLUMNS,
    EDITOR,
    FIGURE,
    FORMAT,
    HUMAN_TRANSLATION,
    JSON,
    ONLY,
    SAVE,
    SEED,
    SYSTEM,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.effort.results import Effort, Relation
    from assay.tables.tables import Better, Edits


def effort(
    edits: Annotated[
        list[Path],
        typer.Argument(help="What editors did: one table of edits or several.", metavar="EDITS..."),
    ],
    human: HUMAN_TRANSLATION = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Parity: at most this share more effort, such as 0.1."),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option("--measures", help="time, distance, changed, hter; default: not hter."),
    ] = None,
    time: Annotated[
        str, typer.Option("--time", help="mean, log or winsorised seconds per word.")
    ] = "mean",
    time_weight: Annotated[
        float, typer.Option("--time-weight", help="Weight of time in the placings.")
    ] = 1.0,
    alike: Annotated[
        float,
        typer.Option(
            "--alike", help="Documents are alike if their effort is within 1/R and R.", metavar="R"
        ),
    ] = 1.25,
    assume_alike: Annotated[
        bool,
        typer.Option(
            "--assume-alike", help="Assume that the documents are alike (identical kits)."
        ),
    ] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="What an editor's hour costs.")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    format: FORMAT = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    columns: COLUMNS = None,
    only: ONLY = None,
    figure: FIGURE = None,
    figure_by_editor: Annotated[
        Path | None,
        typer.Option(
            "--figure-by-editor", help="Draw every editor's work to this file.", metavar="FILE"
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option("--ratings", help="Ratings of the same systems: do they agree?"),
    ] = None,
    better: BETTER_IF_RATED = None,
    kits: Annotated[
        Path | None,
        typer.Option(
            "--kits", help="Result of kits find: do harder documents take more?", metavar="FILE"
        ),
    ] = None,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Compare systems by post-editing effort.

    Example: assay effort edits.tsv --human Human --margin 0.1
    """
    from assay.cli import deliver, progress_bars
    from assay.effort.effort import effort as compare

    save_file(save)
    refuse_alone("better", better, "ratings", ratings)
    figure_file(figure)
    figure_file(figure_by_editor)
    table = read_edit_files(
        edits, format=format, system=system, editor=editor, columns=columns, only=only
    )
    with progress_bars() as progress:
        result = compare(
            table, human=human, margin=margin, measures=names(measures), time=time,
            time_weight=time_weight, alike=alike, assume_alike=assume_alike, rate=rate,
            level=level, rng=seed, progress=progress,
        )  # fmt: skip
    result = replace(result, relations=_relations(result, ratings, better or "higher", kits, seed))
    _draw(result, figure, figure_by_editor)
    deliver(result, save, json)
    for written in (figure, figure_by_editor):
        if written is not None and not json:
            say(f"written to {written}")


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
    files: list[Path],
    *,
    format: str | None = None,
    system: str | None = None,
    editor: str | None = None,
    columns: str | None = None,
    only: str | None = None,
) -> Edits:
    """One table of edits from one file or several, which together may not name a row twice."""
    from assay.tables.tables import join_edits

    if format is None and (system or editor):
        raise OptionError(
            "--system" if system else "--editor", system or editor, "is for files of other tools",
            "name the tool with --format",
        )  # fmt: skip
    for place, file in enumerate(files):
        if os.path.realpath(file) in [os.path.realpath(other) for other in files[:place]]:
            raise OptionError("EDITS", file, "was given twice", "name each file once")
    rows = pairs("only", only)
    if format is None:
        mappings = [columns_for(columns, ("edits", file))[0] for file in files]
        return join_edits(list(zip(files, mappings, strict=True)), only=rows)
    from assay.errors import did_you_mean
    from assay.formats.catalogue import FORMATS, Options, load_format

    known = [item.name for item in FORMATS.values() if "edits" in item.reads]
    if format not in known:
        raise OptionError(
            "--format", format, f"holds no edits{did_you_mean(format, known)}",
            f"choose from {', '.join(known)}",
        )  # fmt: skip
    options = Options(system=system, editor=editor)
    tables = [(load_format(file, format, "edits", options), None) for file in files]
    return join_edits(tables, only=rows)
