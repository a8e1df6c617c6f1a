"""``assay kits design``, ``build`` and ``collect``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.kits import kits
from assay.cli.options import COLUMNS, JSON, SEED, columns_for, names, refuse_overwriting
from assay.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.kits.designs import KitDesign


TABLE = Annotated[Path | None, typer.Option("-o", "--output", help="Write the table to this file.")]


@kits.command("design")
def design(
    engines: Annotated[
        str, typer.Option("--engines", help="Engines, the human one too.", metavar="A,B,C")
    ],
    editors: Annotated[
        str, typer.Option("--editors", help="How many editors, or their names.", metavar="N|A,B")
    ],
    design: Annotated[
        str,
        typer.Option(
            "--design",
            help="auto, permutations, latin, williams, graeco-latin, rotated or identical.",
        ),
    ] = "auto",
    documents: Annotated[
        str | None, typer.Option("--documents", help="As many as engines.", metavar="A,B,C")
    ] = None,
    seed: SEED = None,
    output: TABLE = None,
    json: JSON = False,
) -> None:
    """Decide who edits which document from which engine, and prove the balance.

    Example: assay kits design --engines A,B,Human --editors 6 --design williams -o design.tsv
    """
    from assay.cli.output import print_json
    from assay.kits.designs import design_kits
    from assay.tables.files import save

    people = names(editors) or []
    number = int(people[0]) if len(people) == 1 and people[0].isdecimal() else None
    if number is None and len(people) == 1 and re.fullmatch(r"[-+]?[\d.]+", people[0]):
        raise OptionError(
            "--editors", editors, "is no number of editors", "give a whole number, or names"
        )
    result = design_kits(
        names(engines) or [], people if number is None else number, design=design,
        documents=names(documents), rng=seed,
    )  # fmt: skip
    if output is not None:
        save(result.to_frame(), output)
    if json:
        print_json(result.to_dict())
        return
    _show(result)
    if output is not None:
        print(f"written to {output}")


def _show(result: KitDesign) -> None:
    from assay.cli.output import note, print_table

    width = len(result.documents)
    kits: dict[str, list[str]] = {}
    for task in result.tasks:
        kits.setdefault(task.editor, []).append(f"{task.document}: {task.system}")
    places = [f"{number + 1}." for number in range(width)]
    print_table(
        f"Kits by a {result.design} design",
        ["editor", *places],
        [[editor, *listed] for editor, listed in kits.items()],
    )
    balance = result.balance
    tables: list[tuple[str, str, Sequence[str], Sequence[str], tuple[tuple[int, ...], ...]]] = [
        ("engine_document", "engine and document", result.engines, result.documents,
         balance.engine_document),
        ("engine_position", "engine and position", result.engines, places,
         balance.engine_position),
        ("document_position", "document and position", result.documents, places,
         balance.document_position),
        ("carry_over", "engine right after engine", result.engines, result.engines,
         balance.carry_over),
    ]  # fmt: skip
    for name, title, rows, columns, counts in tables:
        state = "balanced" if name in balance.balanced else "not balanced"
        print_table(
            f"How often: {title} ({state})",
            ["", *columns],
            [[label, *row] for label, row in zip(rows, counts, strict=True)],
        )
    note(*result.notes)
    print(f"signature: {result.signature}")


@kits.command("build")
def build(
    design: Annotated[
        Path, typer.Argument(help="The table of assay kits design.", metavar="DESIGN")
    ],
    texts: Annotated[
        Path,
        typer.Argument(help="A scores table with source and target.", metavar="TEXTS"),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The new folder of the kits.", metavar="FOLDER")
    ],
    key: Annotated[
        Path | None,
        typer.Option("--key", help="Where the key goes; default: FOLDER-key.tsv.", metavar="FILE"),
    ] = None,
    formats: Annotated[
        str, typer.Option("--formats", help="tsv, xlsx, xliff, or several.", metavar="A,B")
    ] = "tsv",
    human: Annotated[
        str | None,
        typer.Option("--human", help="The human translation, to be checked for traces of MT."),
    ] = None,
    lp: Annotated[
        str | None, typer.Option("--lp", help="Languages for XLIFF.", metavar="A-B")
    ] = None,
    columns: COLUMNS = None,
    json: JSON = False,
) -> None:
    """Write one blind file per editor, an instruction sheet and a key.

    Example: assay kits build design.tsv translations.tsv -o kits --human Human
    """
    from assay.cli.output import note, print_json, print_table
    from assay.kits.build import build_kits
    from assay.kits.designs import read_design
    from assay.tables.files import load
    from assay.tables.test_set import read_scores

    (own,) = columns_for(columns, ("scores", texts))
    result = build_kits(
        read_design(load(design, text=lambda name: True).frame), read_scores(texts, columns=own),
        output, key=key, formats=names(formats) or [], human=human, languages=lp,
    )  # fmt: skip
    if json:
        print_json(result.to_dict())
        return
    if result.traces:
        print_table(
            f"Is {human} like an engine?",
            ["engine", "segments", "similarity", "nearly the same"],
            [[t.engine, t.segments, f"{t.similarity:.1f}", len(t.near)] for t in result.traces],
        )
    note(*(f"beware: {line}" for line in result.warnings))
    print(f"{result.editors} kits of {len(result.files)} files in {result.folder}")
    print(f"key: {result.key} (keep it from the editors)")


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
    json: JSON = False,
) -> None:
    """Join the files that editors sent back with the key, as a table of edits.

    Example: assay kits collect kits-key.tsv returned/*.tsv -o edits.tsv
    """
    from assay.cli.output import note, print_json
    from assay.kits.collect import collect_kits
    from assay.results import result_dict, signature

    refuse_overwriting(output, key, *files)
    if output.exists() and output.is_dir():
        raise OptionError("--output", output, "is a folder", "name a file")
    edits = collect_kits(key, files, empty=empty)
    edits.write(output)
    if json:
        sign = signature("kits-collected", editors=len(edits.editors))
        print_json(
            result_dict(
                "kits-collected", sign, rows=len(edits), editors=edits.editors,
                written=[str(output)], notes=edits.notes,
            )
        )  # fmt: skip
        return
    note(*edits.notes)
    print(f"{len(edits)} edits of {len(edits.editors)} editors written to {output}")
