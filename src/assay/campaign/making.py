"""A campaign and its keys in a folder: from a plan, one or one for each value of a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.campaign.create import create_campaign
from assay.campaign.exchange.foreign import Origin
from assay.campaign.keys import Keys, write_keys
from assay.campaign.material import Material, read_material, read_test_set
from assay.campaign.store.creating import slug_of
from assay.collecting.campaigns import Created
from assay.errors import InputError, OptionError, need_known
from assay.project.settings import Settings
from assay.stats.random import Rng


def make_campaign(
    material: Material, folder: Path, *, store: str | None = None, rng: Rng = None
) -> tuple[Created, Keys]:
    """The campaign in its folder, and the keys that were written beside it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: no folder can be made there ({error.strerror})") from None
    result = create_campaign(
        folder, material.settings, test_set=material.test_set, sample=material.sample,
        errors=material.errors, kits=material.kits, files=material.folder, store=store, rng=rng,
    )  # fmt: skip
    links = result.links
    keys = Keys(
        links.owner, links.viewer, links.join, {one.rater: one.token for one in links.raters}, store
    )
    write_keys(folder, keys)
    return result, keys


def read_materials(
    settings: Settings, base: Path, by: str, *, source: str = "plan", origin: Origin | None = None
) -> dict[str, Material]:
    """The material of a campaign for each value of a column of the scores, by its slug.

    Each has the value in its name. A budget is that of each campaign.
    """
    if settings.sample.file is not None or settings.errors:
        name = "errors" if settings.errors else "sample"
        fault = "divides the scores, and not what goes with them"
        raise OptionError("by", by, fault, f"leave out {name}, or make the campaigns one by one")
    if settings.scores is None:
        raise InputError(f"{source} names no scores, which the campaigns are made from")
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
    """A campaign in a folder of its own for each material; nothing where one is there."""
    for slug in materials:
        if (folder / slug).exists():
            raise InputError(f"'{folder / slug}' is there already; choose another folder")
    for slug, material in materials.items():
        yield make_campaign(material, folder / slug, rng=rng)
