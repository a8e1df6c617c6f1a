"""``assay kits``: homogeneous pieces of text, and kits of them for editors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.options import (
    FIGURE,
    JSON,
    OUTPUT,
    SEED,
    figure_file,
    json_file,
    names,
    refuse_overwriting,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.kits.kitset import Kit, KitSet
    from assay.kits.pieces import Pieces


kits = typer.Typer(
    help="Find pieces of text that are alike, and make kits of them for editors.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@kits.callback()
def _kits() -> None:
    pass


@kits.command("find")
def find(
    corpus: Annotated[
        list[Path],
        typer.Argument(
            help="Texts: .txt or .docx files, or tables with a text column.", metavar="CORPUS..."
        ),
    ],
    words: Annotated[int, typer.Option("--words", help="Words of a piece, at least.")] = 500,
    pieces: Annotated[int, typer.Option("--pieces", help="Pieces of a kit.")] = 3,
    number: Annotated[int, typer.Option("--kits", help="How many kits, without overlap.")] = 1,
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
    length: Annotated[
        str, typer.Option("--length", help="Words within ± this share; none: no limit.")
    ] = "0.1",
    shared: Annotated[
        str, typer.Option("--shared", help="Largest share of terms in common, or none.")
    ] = "0.2",
    density: Annotated[
        str, typer.Option("--density", help="Largest ratio of the terms' occurrences, or none.")
    ] = "1.3",
    terms: Annotated[
        str | None,
        typer.Option(
            "--terms", help="Ways to find terms; default: all that can be used.", metavar="A,B"
        ),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option("--texts", help="Write the kits' sentences to this table.", metavar="FILE"),
    ] = None,
    figure: FIGURE = None,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Find pieces of text that should take an editor about the same effort.

    Example: assay kits find book.docx --words 500 --pieces 3
    """  # fmt: skip
    from assay.cli.output import note, print_json, save_json, ticking
    from assay.kits.find import find_kits

    for path in corpus:
        refuse_overwriting(json_file(output), path)
        refuse_overwriting(figure_file(figure), path)
        refuse_overwriting(texts, path)
    read = _read(corpus, words, language, profile, names(clean) or [])
    with ticking(len(read), "terms of pieces") as tick:
        result = find_kits(
            read,
            size=pieces,
            kits=number,
            mode=mode,
            eps=eps,
            length=_limit("--length", length),
            shared=_limit("--shared", shared),
            density=_limit("--density", density),
            methods=names(terms),
            rng=seed,
            tick=tick,
        )
    if not result.kits:
        note(*result.notes[:-1])
        raise InputError(f"no kit was found: {result.notes[-1]}")
    if output is not None:
        save_json(result.to_dict(), output)
    if texts is not None:
        from assay.tables.files import save

        save(result.texts(), texts)
    if figure is not None:
        from assay.views.figures import save_figure
        from assay.views.kit_figures import draw_kits

        save_figure(draw_kits(result.to_dict()), figure)
    if json:
        print_json(result.to_dict())
        return
    note(*result.notes)
    _show(result)
    for written in (output, texts, figure):
        if written is not None:
            print(f"written to {written}")


def _read(
    corpus: list[Path], words: int, language: str, profile: str, clean: list[str]
) -> Pieces:  # fmt: skip
    from assay.cli.output import track
    from assay.kits.corpus import read_text
    from assay.kits.pieces import cut_pieces

    texts = [text for path in corpus for text in read_text(path, clean=clean)]
    return cut_pieces(
        texts,
        words=words,
        language=language,
        profile=profile,
        watch=lambda items, total: track(items, total, "pieces"),
    )


def _limit(option: str, text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(option, text, "is no limit", "give a number, or none") from None


def _show(result: KitSet) -> None:
    from assay.cli.output import number, print_table

    for place, kit in enumerate(result.kits, start=1):
        rows = []
        for piece in kit.pieces:
            item = result.pieces.pieces[piece]
            values = [number(value, 2) for value in result.pieces.features[piece]]
            rows.append([piece, item.doc, f"{item.first}–{item.last}", item.words, *values])
        columns = ["piece", "document", "paragraphs", "words", *result.pieces.names]
        print_table(f"Kit {place}", columns, rows)
        _say(kit, place == 1)
    if result.mode == "dbscan":
        sizes = ", ".join(str(len(cluster)) for cluster in result.clusters) or "none"
        print(f"clusters within {number(result.eps, 4)}: {sizes} (pieces)")
    print(
        f"{len(result.pieces)} pieces; knee of the distances to the nearest neighbour:"
        f" {number(result.knee, 4)}"
    )
    print(f"signature: {result.signature}")


def _say(kit: Kit, first: bool) -> None:
    from assay.cli.output import number

    print(
        f"diameter {number(kit.diameter, 4)}: closer than all but {kit.percentile:.2g} % of sets of"
        f" as many pieces; next best {number(kit.runner_up_diameter, 4)}"
    )
    if kit.terms:
        accepted = [check.method for check in kit.terms if check.accepted]
        line = f"terms: {len(accepted)} of {len(kit.terms)} methods accept it"
        line += f" ({', '.join(accepted)})"
        if kit.shared_terms is not None and kit.density_ratio is not None:
            line += (
                f"; shared at most {number(kit.shared_terms, 2)},"
                f" occurrences {number(kit.density_ratio, 2)}-fold"
            )
        print(line)
    if first:
        binding = ", ".join(f"{name} ({number(size, 4)})" for name, size in kit.binding.items())
        print(f"limits without which it would be closer: {binding or 'none'}")
    print()
