"""A full disk, or one that is read-only, leaves no half of a campaign, a backup or an export."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.campaign.store.world import make, make_scores, opened
from tests.conftest import fill

from assay.campaign import create
from assay.campaign.campaign import Campaign
from assay.campaign.contents import Material
from assay.campaign.create import make_campaign
from assay.campaign.exchange.export import export_tables
from assay.campaign.keys import read_keys
from assay.errors import InputError
from assay.project.settings import Raters, Settings

SETTINGS = Settings(protocol="esa", raters=Raters(number=3, overlap="0%"))


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    make(tmp_path / "news")
    return opened(tmp_path / "news")


def material(folder: Path) -> Material:
    return Material(SETTINGS, folder, make_scores(), None, None, None)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "filling")


def test_a_full_disk_holds_no_half_campaign(small_disk: Path, tmp_path: Path) -> None:
    fill(small_disk)
    with pytest.raises(InputError, match=r"campaign.db' cannot be written .*; check the folder"):
        make_campaign(material(tmp_path), small_disk / "news")
    assert left(small_disk) == []


def test_a_campaign_without_its_keys_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody could open it, and a second attempt was refused because it was there.
    def full(*_: object) -> None:
        raise InputError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(create, "write_keys", full)
        with pytest.raises(InputError, match="no room"):
            make_campaign(material(tmp_path), tmp_path / "news")
    assert left(tmp_path) == []
    made, keys = make_campaign(material(tmp_path), tmp_path / "news")
    assert read_keys(tmp_path / "news") == keys
    assert keys.owner == made.links.owner


def test_keys_on_a_full_disk_stay_what_they_were(small_disk: Path, tmp_path: Path) -> None:
    _, keys = make_campaign(material(tmp_path), small_disk / "news")
    fill(small_disk)
    with pytest.raises(InputError, match="campaign.json' cannot be written .No space left"):
        create.write_keys(small_disk / "news", keys)
    assert read_keys(small_disk / "news") == keys
    assert not list((small_disk / "news").glob(".*.part"))


def test_a_full_disk_holds_no_half_backup(small_disk: Path, campaign: Campaign) -> None:
    fill(small_disk)
    with pytest.raises(InputError, match="cannot be copied to .*full"):
        campaign.backup(small_disk / "copy.db")
    assert left(small_disk) == []


def test_a_full_disk_holds_no_half_export(small_disk: Path, campaign: Campaign) -> None:
    fill(small_disk)
    # Room for the first table and not for all.
    with (small_disk / "filling").open("r+b") as file:
        file.truncate(file.seek(0, 2) - 8192)
    with pytest.raises(InputError, match="cannot be written .No space left"):
        export_tables(campaign.collected(), small_disk / "out", ending=".xlsx")
    assert left(small_disk) == []


def test_a_read_only_disk_is_a_sentence(small_disk: Path, campaign: Campaign) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(InputError, match="copy.db.*\n.*cannot be written .Read-only"):
        campaign.backup(small_disk / "copy.db")
    with pytest.raises(InputError, match="no folder can be made there .Read-only"):
        export_tables(campaign.collected(), small_disk / "out")
    with pytest.raises(InputError, match="cannot create the folder .*Read-only"):
        make_campaign(material(small_disk), small_disk / "news")
