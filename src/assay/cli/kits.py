"""``assay kits``: pieces of text that are alike, and kits of them for editors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import columns_for, figure_file, names, save_file, say
from assay.cli.options import (
    COLUMNS,
    FIGURE,
    HUMAN_TRANSLATION,
    JSON,
    KEY,
    LP,
    SAVE,
    SAVE_ONLY,
    SEED,
)
from assay.errors import InputError, OptionError, need_count

kits = typer.Typer(
    help="Find pieces of text that are alike, and make kits of them for editors.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@kits.command("find")
def find(
    corpus: Annotated[
        list[Path],
        typer.Argument(
            help="Texts: .txt or .docx files, or tables with a text column.", metavar="CORPUS..."
        ),
    ],
    words: Annotated[int, typer.Option("--words", help="Words in a piece, at least.")] = 500,
    pieces: Annotated[int, typer.Option("--pieces", help="Pieces in a kit.")] = 3,
    count: Annotated[int, typer.Option("--count", help="How many to choose.")] = 1,
    mode: Annotated[
        Literal["closest", "dbscan"],
        typer.Option("--mode", help="closest: the most alike; dbscan: the paper's clusters."),
    ] = "closest",
    eps: Annotated[
        float | None, typer.Option("--eps", help="Radius of dbscan; default: the knee.")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="en: five features; any other: three of them.")
    ] = "en",
    profile: Annotated[
        Literal["paper", "standard"], typer.Option("--profile", help="How words are counted.")
    ] = "paper",
    clean: Annotated[
        str | None,
        typer.Option(
            "--clean", help="Remove: citations, notes, addresses, headings.", metavar="A,B"
        ),
    ] = None,
    length_tolerance: Annotated[
        str, typer.Option("--length-tolerance", help="Words within ± this share; none: no limit.")
    ] = "0.1",
    shared: Annotated[
        str, typer.Option("--shared", help="Largest share of terms in common, or none.")
    ] = "0.2",
    density: Annotated[
        str, typer.Option("--density", help="Largest ratio of the terms' occurrences, or none.")
    ] = "1.3",
    terms: Annotated[
        str | None,
        typer.Option("--terms", help="Ways to find terms; default: all.", metavar="A,B"),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option("--texts", help="Write the kits' sentences to this table.", metavar="FILE"),
    ] = None,
    figure: FIGURE = None,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Find pieces of text that should take an editor about the same effort.

    Example: assay kits find book.docx --words 500 --pieces 3
    """  # fmt: skip
    from assay.cli import deliver, note, progress_bars
    from assay.kits.find import find_kits, kit_texts
    from assay.kits.pieces import read_pieces

    save_file(save)
    figure_file(figure)
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
        _say_written(texts, figure)


def _limit(option: str, text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(option, text, "is not a limit", "give a number, or none") from None


def _say_written(*files: Path | None) -> None:
    for file in files:
        if file is not None:
            say(f"written to {file}")


@kits.command("design")
def design(
    systems: Annotated[
        str,
        typer.Option(
            "--systems", help="The systems compared: their names, or how many.", metavar="A,B,C"
        ),
    ],
    editors: Annotated[
        str, typer.Option("--editors", help="How many editors, or their names.", metavar="N|A,B")
    ],
    design: Annotated[
        str,
        typer.Option(
            "--design",
            help="The design, by name (listed above).",
        ),
    ] = "auto",
    documents: Annotated[
        str | None,
        typer.Option("--documents", help="The documents: as many as systems.", metavar="A,B,C"),
    ] = None,
    seed: SEED = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The table of the design, for kits build.", metavar="FILE"
        ),
    ] = None,
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:
    """Decide who edits which document from which system, and show the balance.

    Designs: auto, permutations, latin, williams, graeco-latin, rotated, identical.

    Example: assay kits design --systems A,B,Human --editors 6 --design williams -o design.tsv
    """
    from assay.cli import deliver
    from assay.kits.design import design_kits
    from assay.tables.typed_files import save as save_table

    save_file(save)
    people = names(editors) or []
    number = int(people[0]) if len(people) == 1 and people[0].isdecimal() else None
    if number is None and len(people) == 1 and re.fullmatch(r"[-+]?[\d.]+", people[0]):
        raise OptionError(
            "editors", editors, "is not a number of editors", "give a whole number, or names"
        )
    result = design_kits(
        _names_of_systems(systems), people if number is None else number, design=design,
        documents=names(documents), rng=seed,
    )  # fmt: skip
    if output is not None:
        save_table(result.to_frame(), output)
    deliver(result, save, json)
    if not json:
        _say_written(output)


def _names_of_systems(text: str) -> list[str]:
    """The systems by their names, or so many of them."""
    if text.strip().isdecimal():
        need_count("systems", int(text), "systems", most=1000)
        return [f"system-{number}" for number in range(1, int(text) + 1)]
    return names(text) or []


@kits.command("build")
def build(
    design: Annotated[
        Path, typer.Argument(help="The table that assay kits design wrote.", metavar="DESIGN")
    ],
    texts: Annotated[
        Path,
        typer.Argument(help="A scores table with source and target.", metavar="TEXTS"),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The new folder of the kits.", metavar="FOLDER")
    ],
    key: KEY = None,
    formats: Annotated[
        str, typer.Option("--formats", help="tsv, xlsx, xliff, or several.", metavar="A,B")
    ] = "tsv",
    human: HUMAN_TRANSLATION = None,
    lp: LP = None,
    columns: COLUMNS = None,
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:
    """Write one blind file per editor, an instruction sheet and a key.

    With --human, the human translation is searched for traces of the other systems; --lp goes into
    XLIFF files.

    Example: assay kits build design.tsv translations.tsv -o kits --human Human
    """
    from assay.cli import deliver
    from assay.kits.build import build_kits
    from assay.kits.design import read_design
    from assay.tables.load import load
    from assay.tables.tables import read_scores

    save_file(save)
    (mapping,) = columns_for(columns, ("scores", texts))
    result = build_kits(
        read_design(load(design, text=lambda name: True).frame),
        read_scores(texts, columns=mapping), output, key=key, formats=names(formats) or [],
        human=human, languages=lp,
    )  # fmt: skip
    deliver(result, save, json)


@kits.command("collect")
def collect(
    key: Annotated[Path, typer.Argument(help="The key that build wrote.", metavar="KEY")],
    files: Annotated[
        list[Path], typer.Argument(help="What editors sent back.", metavar="FILES...")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The table of edits to write.", metavar="FILE")
    ],
    empty: Annotated[
        Literal["refuse", "unchanged", "keep"],
        typer.Option(
            "--empty", help="Empty translations: refuse, unchanged, or keep (all was deleted)."
        ),
    ] = "refuse",
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:
    """Join the files that editors sent back with the key, as a table of edits.

    Example: assay kits collect kits-key.tsv returned/*.tsv -o edits.tsv
    """
    from assay.cli import deliver
    from assay.kits.collect import collect_kits, summarise_collected

    save_file(save)
    if output.exists() and output.is_dir():
        raise OptionError("output", output, "is a folder", "name a file")
    edits = collect_kits(key, files, empty=empty)
    deliver(summarise_collected(edits, edits.write(output)), save, json)
