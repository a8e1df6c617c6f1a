"""``assay report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JSON

__all__ = ["report"]


def report(
    results: Annotated[
        list[Path], typer.Argument(help="Results saved with --json or -o.", metavar="RESULT...")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The page to write.", metavar="FILE")
    ] = Path("report.html"),
    title: Annotated[str, typer.Option("--title", help="The page's title.")] = "Evaluation report",
    json: JSON = False,
) -> None:
    """Make one self-contained HTML page from saved results.

    Example: assay report estimates.json -o report.html
    """
    from assay.cli.output import print_json
    from assay.report import read_result, write_report
    from assay.results import result_dict, signature

    written = write_report([read_result(path) for path in results], output, title=title)
    if json:
        sign = signature("report", results=len(results))
        print_json(result_dict("report", sign, written=[str(written)]))
        return
    print(f"written to {written}")
