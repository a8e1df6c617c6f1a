"""``assay report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.options import JSON, refuse_overwriting


def report(
    results: Annotated[
        list[Path], typer.Argument(help="Results saved with --json or -o.", metavar="RESULT...")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The report to write: .html, .md or .tex.", metavar="FILE"
        ),
    ] = Path("report.html"),
    parts: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            help="Folder for every table (CSV, Markdown, LaTeX) and figure (SVG, PDF).",
            metavar="DIR",
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="The report's title.")] = (
        "Evaluation report"
    ),
    json: JSON = False,
) -> None:
    """Make one self-contained HTML page from saved results, or Markdown, or LaTeX.

    Example: assay report sample.json estimates.json ranking.json -o report.html --parts tables
    """
    from assay.cli.output import print_json
    from assay.errors import OptionError
    from assay.results import result_dict, signature
    from assay.views.page import WRITERS, write_parts, write_report

    refuse_overwriting(output, *results)
    saved = [_readable(path) for path in results]
    if output.suffix.lower() not in WRITERS:
        raise OptionError(
            "--output", output, "is no kind of report", f"let it end in {', '.join(WRITERS)}"
        )
    # The parts first: if their folder cannot be made, nothing is written.
    written = [] if parts is None else [*write_parts(saved, parts)]
    written.insert(0, write_report(saved, output, title=title))
    if json:
        sign = signature("report", results=len(results))
        print_json(result_dict("report", sign, written=[str(path) for path in written]))
        return
    print(f"written to {output}")
    if parts is not None:
        print(f"{len(written) - 1} tables and figures in {parts}")


def _readable(path: Path) -> dict[str, Any]:
    """A saved result; what is wrong with it is said with its file."""
    from assay.errors import InputError
    from assay.views.page import make_section, read_saved

    saved = read_saved(path)
    try:
        make_section(saved)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return saved
