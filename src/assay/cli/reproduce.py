"""``assay reproduce``."""

from __future__ import annotations

from pathlib import Path

from assay.cli import deliver, note
from assay.cli.options import Count, File, Text
from assay.cli.work import Backend, chosen_workers, track


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
