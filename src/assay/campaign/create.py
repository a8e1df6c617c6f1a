"""Create a campaign with its keys in a folder: one, or one for each value of a column."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from assay.campaign.assignment.contents import prepare
from assay.campaign.assignment.order import share_of
from assay.campaign.exchange.foreign import Origin
from assay.campaign.keys import Keys, write_keys
from assay.campaign.material import Material, read_material, read_test_set
from assay.campaign.store.creating import slug_of, write_campaign
from assay.campaign.store.opening import FILE
from assay.collecting.campaigns import Created
from assay.errors import InputError, OptionError, need_known
from assay.kits.results import KitDesign
from assay.project.settings import Settings
from assay.stats.random import Rng
from assay.tables.answers import Errors
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
    """Create a campaign in a folder: its tasks in their order, its raters and their links.

    Without a sample everything is rated, in an order whose beginnings are samples. ``errors`` are
    marks that raters start from; ``kits`` assigns documents to editors. ``files`` is the folder of
    the files that settings and the column ``media`` name, by default ``folder``. ``store`` is the
    address of a PostgreSQL database to use instead of a file. The campaign is a draft at first:
    raters get tasks once it is opened.
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


def make_campaign(
    material: Material, folder: Path, *, store: str | None = None, rng: Rng = None
) -> tuple[Created, Keys]:
    """Create a campaign and write its keys to the folder."""
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {folder} ({error.strerror})") from None
    written = False
    try:
        result = create_campaign(
            folder, material.settings, test_set=material.test_set, sample=material.sample,
            errors=material.errors, kits=material.kits, files=material.folder, store=store, rng=rng,
        )  # fmt: skip
        written = "://" not in (store or "")
        links = result.links
        raters = {one.rater: one.token for one in links.raters}
        keys = Keys(links.owner, links.viewer, links.join, raters, store)
        write_keys(folder, keys)
    except BaseException:  # Ctrl-C too: without its keys a campaign is of no use
        if written:
            (folder / FILE).unlink(missing_ok=True)
        if made:
            with suppress(OSError):
                folder.rmdir()
        raise
    return result, keys


def read_materials(
    settings: Settings, base: Path, by: str, *, source: str = "plan", origin: Origin | None = None
) -> dict[str, Material]:
    """Read the material of one campaign for each value of a column of the scores, by slug.

    The name of each campaign ends with its value. A budget applies to each campaign.
    """
    if settings.sample.file is not None or settings.errors:
        name = "errors" if settings.errors else "sample"
        fault = f"splits the scores but not the {name}"
        raise OptionError("by", by, fault, f"leave out {name}, or create the campaigns one by one")
    if settings.scores is None:
        raise InputError(f"{source} names no scores; name the table with the outputs")
    frame = read_test_set(settings, base / settings.scores, None, origin).frame
    need_known("by", by, frame.columns, "is not a column of the scores")
    values = [str(one) for one in frame[by].unique(maintain_order=True).drop_nulls()]
    return {
        slug_of(value): read_material(
            replace(settings, name=f"{settings.name} {value}"), base, only={by: value},
            source=source, origin=origin,
        )
        for value in values
    }  # fmt: skip


def make_campaigns(
    materials: dict[str, Material], folder: Path, *, rng: Rng = None
) -> Iterator[tuple[Created, Keys]]:
    """Create a campaign in its own folder for each material; nothing if one exists already."""
    for slug in materials:
        if (folder / slug).exists():
            raise InputError(f"'{folder / slug}' already exists; choose another folder")
    for slug, material in materials.items():
        yield make_campaign(material, folder / slug, rng=rng)
