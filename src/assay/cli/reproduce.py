"""``assay reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import chosen_workers, save_file
from assay.cli.options import BACKEND, JSON, SAVE, SCHEDULER, WORKERS


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="The paper: koehn2012, korotaev2022, lo2023 or saldias2022.", metavar="PAPER"
        ),
    ],
    data: Annotated[
        Path, typer.Option("--data", help="Folder with the paper's data.", metavar="DIR")
    ],
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            help="Samples or campaigns to simulate.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed; the output repeats it.")] = 13,
    backend: BACKEND = None,
    workers: WORKERS = None,
    scheduler: SCHEDULER = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", help="Folder for the figures (SVG and PNG).", metavar="DIR"),
    ] = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Reproduce a paper's printed numbers and show ours beside the paper's.

    Without --draws: 200 campaigns for koehn2012 and korotaev2022, 1,000 samples for lo2023, 100 for
    saldias2022.

    Example: assay reproduce lo2023 --data wmt --workers 0
    """
    from assay.cli import deliver, note, track
    from assay.papers.reproduce import start_paper

    save_file(save)
    work = start_paper(
        paper, data, draws=draws, rng=seed, workers=chosen_workers(backend, workers, scheduler),
        figures=figures is not None,
    )  # fmt: skip
    result = work.finish(track(work.run(), work.steps, paper))
    if figures is not None:
        from assay.views.papers import save_figures

        note(*(f"written to {path}" for path in save_figures(result, figures)))
    deliver(result, save, json)
