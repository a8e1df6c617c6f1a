"""``assay kits``: pieces of text that are alike, and kits of them for editors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import typer

from assay.cli import columns_for, deliver, names, note, people, progress_bars, say
from assay.cli.options import CONTEXT, Count, File, Number, Text
from assay.errors import InputError, OptionError, need_count

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
