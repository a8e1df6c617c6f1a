"""A new campaign: all that is known before the first answer, written at once or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from assay.campaign.assignment.contents import prepare
from assay.campaign.assignment.order import share_of
from assay.campaign.store.creating import write_campaign
from assay.collecting.campaigns import Created
from assay.kits.results import KitDesign
from assay.project.settings import Settings
from assay.stats.random import Rng
from assay.tables.marked_errors import Errors
from assay.tables.tables import Sample, TestSet


def create_campaign(
    folder: str | os.PathLike[str],
    settings: Settings,
    *,
    test_set: TestSet,
    sample: Sample | None = None,
    errors: Errors | None = None,
    kits: KitDesign | None = None,
    files: Path | None = None,
    store: str | None = None,
    rng: Rng = None,
) -> Created:
    """Make a campaign in a folder: its tasks in their order, its raters and their links.

    Without a sample everything is rated, in an order whose beginnings are samples. ``errors`` are
    marks that raters begin with, ``kits`` says which editor post-edits what. ``files`` is where
    the files are that settings and the column ``media`` name, if not in the folder. ``store`` is
    the address of a PostgreSQL database in place of a file in the folder. The campaign begins as
    a draft: raters get tasks once it is opened.
    """
    files = Path(folder) if files is None else files
    contents = prepare(files, settings, test_set, sample, errors, kits, rng)
    links = write_campaign(Path(folder), store, contents)
    genuine = [number for number, task in enumerate(contents.tasks) if task.kind == "rate"]
    outputs = sum(contents.tasks[number].outputs for number in genuine)
    share = share_of("checks.share", settings.checks.share, 0.0) if any(contents.spoiled) else 0.0
    return Created(
        os.fspath(folder), str(settings.protocol), len(genuine), outputs,
        sum(system != leader for number in genuine
            for (_, system), leader in contents.leaders[number].items()),
        round(share * outputs), contents.seed, links,
    )  # fmt: skip
