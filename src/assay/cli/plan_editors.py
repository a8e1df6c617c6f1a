"""``assay plan editors``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import COLUMNS, JSON, OUTPUT, json_file, names, refuse_overwriting
from assay.errors import OptionError


def editors_command(
    engines: Annotated[int, typer.Option("--engines", help="Engines, the human one too.")],
    gap: Annotated[
        float, typer.Option("--gap", help="The difference to be found, in the measure's unit.")
    ],
    measure: Annotated[
        str, typer.Option("--measure", help="distance, time or changed.")
    ] = "distance",
    pilot: Annotated[
        Path | None, typer.Option("--pilot", help="Edits to take the spread from.", metavar="EDITS")
    ] = None,
    cell: Annotated[
        float | None, typer.Option("--cell", help="Variance of editor x document.")
    ] = None,
    residual: Annotated[
        float | None, typer.Option("--residual", help="Variance of segments within it.")
    ] = None,
    segments: Annotated[int, typer.Option("--segments", help="Segments of a document.")] = 23,
    place: Annotated[
        bool, typer.Option("--place", help="The documents' order is rotated and allowed for.")
    ] = False,
    editors: Annotated[
        str, typer.Option("--editors", help="Numbers of editors to show.", metavar="N,...")
    ] = "6,12,24,48,96",
    power: Annotated[float, typer.Option("--power", help="Chance to find the gap.")] = 0.8,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    columns: COLUMNS = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Plan how many editors find a gap between engines.

    Example: assay plan editors --engines 3 --gap 3
    """
    from assay.cli.effort import read_edit_files
    from assay.cli.output import note, number, print_json, print_table, progress_bars, save_json
    from assay.effort.effort import effort
    from assay.planning.editors import plan_editors

    refuse_overwriting(json_file(output), pilot)
    try:
        shown = [int(text) for text in names(editors) or []]
    except ValueError:
        raise OptionError("--editors", editors, "are no numbers", "write 6,12,24") from None
    seen = None
    if pilot is not None:
        edits = read_edit_files([pilot], columns=columns)
        with progress_bars() as progress:
            seen = effort(edits, measures=[measure], rng=0, progress=progress)
    plan = plan_editors(
        engines, gap, measure=measure, pilot=seen, cell=cell, residual=residual,
        segments=segments, place=place, editors=shown, power=power, level=level,
    )  # fmt: skip
    if output is not None:
        save_json(plan.to_dict(), output)
    if json:
        print_json(plan.to_dict())
        return
    note(*plan.notes)
    print_table(
        f"Chance to find a gap of {gap:g} ({measure}) between two of {engines} engines",
        ["editors", "power", f"gap found with power {power:.0%}"],
        [[p.editors, f"{p.power:.0%}", number(p.detectable, 2)] for p in plan.points],
    )
    if plan.needed is None:
        print(f"no number of editors has power {power:.0%}: the gap is too small")
    else:
        print(f"needed for power {power:.0%}: {plan.needed} editors", end="")
        print("" if plan.complete == plan.needed else f"; {plan.complete} complete the design")
    print(
        f"assumed: {segments} segments a document, places {'' if place else 'not '}allowed for;"
        f" variances {plan.cell:g} (editor x document) and"
        f" {plan.residual:g} (residual), {plan.source}"
    )
    print(f"signature: {plan.signature}")
