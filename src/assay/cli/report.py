"""``assay report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JSON, refuse_overwriting

__all__ = ["report"]


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
    from assay.report import read_result, write_parts, write_report
    from assay.results import result_dict, signature

    refuse_overwriting(output, *results)
    saved = [read_result(path) for path in results]
    written = [write_report(saved, output, title=title)]
    if parts is not None:
        written += write_parts(saved, parts)
    if json:
        sign = signature("report", results=len(results))
        print_json(result_dict("report", sign, written=[str(path) for path in written]))
        return
    print(f"written to {output}")
    if parts is not None:
        print(f"{len(written) - 1} tables and figures in {parts}")
