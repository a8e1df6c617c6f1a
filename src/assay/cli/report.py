"""``assay report`` and ``assay reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli import deliver, note, say
from assay.cli.options import Count, File, Text
from assay.cli.running import Backend, chosen_workers, track
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.results import Result

REPORT_SIGNS = ("Made by Assay", "All numbers were computed with Assay")
"""What every report has, in HTML, Markdown or LaTeX."""


def report(
    results: list[Path], *, output: Path = Path("report.html"), parts: File = None,
    open: bool = False, title: str = "Evaluation report", json: bool = False,
) -> None:  # fmt: skip
    """Turn saved results into one self-contained HTML page, Markdown or LaTeX.

    For a campaign, the report says what its looks decided and how the answers were collected.

    Example: assay report news -o report.html

    Example: assay report sample.json estimates.json ranking.json -o report.html --parts tables
    """
    from assay.views.page import (
        WRITERS,
        WrittenReport,
        make_report,
        write_parts,
        write_report,
    )

    _refuse_foreign(output)
    page = make_report(
        [_read(path) for path in results], title,
        names=[path.stem for path in results], facts=_facts(),
    )  # fmt: skip
    if output.suffix.lower() not in WRITERS:
        raise OptionError(
            "--output", output, "is not a kind of report", f"end it in {', '.join(WRITERS)}"
        )
    # The parts first: if their folder cannot be made, nothing is written.
    written = [] if parts is None else [*write_parts(page, parts)]
    written.insert(0, write_report(page, output))
    made = WrittenReport(tuple(str(path) for path in written), len(results))
    lines = [f"written to {output}"]
    if parts is not None:
        lines.append(f"{len(written) - 1} tables and figures in {parts}")
    deliver(made, None, json, lambda: say(*lines))
    if open:
        typer.launch(str(output.absolute()))


def _read(path: Path) -> Result:
    """A saved result, or what a campaign says now."""
    from assay.views.page import read_result

    if path.is_dir():
        from assay.cli.campaign import campaign_results

        return campaign_results(path)
    return read_result(path)


def _refuse_foreign(output: Path) -> None:
    """Refuse to write a report over a file that Assay did not write."""
    if not output.is_file():
        return
    text = output.read_bytes().decode("utf-8", errors="replace")
    if not any(sign in text for sign in REPORT_SIGNS):
        raise OptionError(
            "output", output, "exists and is not a report by Assay", "name another file"
        )


def _facts() -> tuple[str, ...]:
    """What the project says of its campaign: languages and protocol."""
    from assay.project.project import find_project

    project = find_project()
    if project is None:
        return ()
    languages, protocol = project.settings.screen.languages, project.settings.protocol
    pair = "" if languages is None else "-".join(languages)
    short = protocol or ""
    return tuple(filter(None, (pair, short.upper() if len(short) < 5 else short)))


def reproduce(
    paper: str, *, data: Path, draws: Count = None, seed: int = 13, backend: Backend | None = None,
    workers: Count = None, scheduler: Text = None, figures: File = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Reproduce a paper's printed numbers, and show ours next to them.

    Without --draws: 200 campaigns for koehn2012 and korotaev2022, 1,000 samples for lo2023, 100 for
    saldias2022.

    Example: assay reproduce lo2023 --data wmt --workers 0
    """
    from assay.papers.reproduce import start_paper

    work = start_paper(
        paper, data, draws=draws, rng=seed, workers=chosen_workers(backend, workers, scheduler),
        figures=figures is not None,
    )  # fmt: skip
    result = work.finish(track(work.run(), work.steps, paper))
    if figures is not None:
        from assay.views.papers import save_figures

        note(*(f"written to {path}" for path in save_figures(result, figures)))
    deliver(result, save, json)
