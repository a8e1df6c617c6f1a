"""Copies that are made while raters work, and files that are older than the software."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from tests.campaign.store.world import (
    HandClock,
    body,
    finish,
    make,
    make_scores,
    opened,
    rater_links,
    work,
)

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.exchange.export import tables_of
from assay.campaign.keys import Keys, write_keys
from assay.campaign.records import UnavailableError
from assay.campaign.store.schema import METADATA
from assay.campaign.store.unit import Link
from assay.project.settings import Raters, Settings

FIRST = Path(__file__).with_name("v0001.sql")
"""A file as the first version made it: Ada did a task, Ben has begun one."""


def test_a_copy_made_while_raters_work_is_whole_and_can_be_gone_on_with(tmp_path: Path) -> None:
    plan = Settings(protocol="esa", raters=Raters(number=4))
    made = make(tmp_path / "news", plan, test_set=make_scores(documents=120))
    links = made.links
    tokens = {one.rater: one.token for one in links.raters}
    write_keys(tmp_path / "news", Keys(links.owner, links.viewer, links.join, tokens))
    acknowledged: list[str] = []
    leave, busy = threading.Event(), threading.Event()

    def rate(campaign: Campaign, link: Link) -> None:
        while not leave.wait(0.2):  # so that there is work left when the copy is made
            for task in work(campaign, link, most=1):
                acknowledged.append(task["lease"])
                if len(acknowledged) > 20:
                    busy.set()

    copy = tmp_path / "again" / "campaign.db"
    copy.parent.mkdir()
    with opened(tmp_path / "news") as campaign:
        threads = [
            threading.Thread(target=rate, args=(campaign, link))
            for link in rater_links(campaign, made)
        ]
        for thread in threads:
            thread.start()
        assert busy.wait(30)
        before = set(acknowledged)
        command = ["campaign", "backup", str(tmp_path / "news"), "-o", str(copy)]
        subprocess.run([sys.executable, "-m", "assay", *command], check=True, capture_output=True)
        after = set(acknowledged)
        leave.set()
        for thread in threads:
            thread.join()
    assert before < after, "raters went on while the copy was made"
    shutil.copy(tmp_path / "news" / "campaign.json", copy.parent)
    with open_campaign(copy.parent) as restored:
        assert restored.integrity() == ()
        assert before <= {row.lease for row in restored.collected().answers}
        link = restored.link(links.raters[0].token)
        assert link is not None
        assert len(work(restored, link, most=2)) == 2


def test_a_file_of_the_first_version_opens_in_the_last(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "campaign.db") as db:
        db.executescript(FIRST.read_text("utf-8"))
    db.close()
    with open_campaign(tmp_path) as campaign:
        with campaign.reading() as reading:
            assert compare_metadata(MigrationContext.configure(reading), METADATA) == []
        status = campaign.status()
        assert (status.state, status.tasks, status.answers) == ("open", 2, 2)
        ben = campaign.link(campaign.new_link("Ben"))
        assert ben is not None
        task = campaign.next(ben)
        assert task["drafts"] == {"0": {"half": 1}}
        finish(campaign, ben, task)
        assert len(work(campaign, ben)) > 0
        tables = tables_of(campaign.collected())
        ratings = assay.read_ratings(tables["ratings"], assay.read_scores(tables["scores"]))
        assert ratings.frame["rater"].unique().sort().to_list() == ["Ada", "Ben"]
        assert campaign.rebuild()["leases"] == 3
        assert campaign.integrity() == ()


def test_a_file_that_becomes_read_only_refuses_and_is_read(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        set_to(campaign, "PRAGMA query_only=ON")
        with pytest.raises(UnavailableError, match="will be sent again"):
            campaign.send(link, task["lease"], 0, body(task, 0))
        assert campaign.status().answers == 0
        assert campaign.mine(link) == []
        set_to(campaign, "PRAGMA query_only=OFF")
        assert finish(campaign, link, task)["next"] == "task"


def set_to(campaign: Campaign, line: str) -> None:
    """Change the connection that writes."""
    connection = campaign.writer._engine.raw_connection()  # type: ignore[union-attr]
    connection.cursor().execute(line)
    connection.close()


def test_a_database_that_is_gone_for_a_while(postgres: Callable[[], str]) -> None:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    place = postgres()
    made = make(place)
    name = str(conninfo_to_dict(place)["dbname"])
    with opened(place, HandClock()) as campaign, psycopg.connect(
        place, dbname="postgres", autocommit=True
    ) as other:  # fmt: skip
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        other.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      f" WHERE datname = '{name}'")  # fmt: skip
        with pytest.raises(UnavailableError, match="does not answer"):
            campaign.send(link, task["lease"], 0, body(task, 0))
        with pytest.raises(UnavailableError, match="cannot be read"):
            campaign.status()
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert campaign.send(link, task["lease"], 0, body(task, 0))["revision"] == 1
        assert finish(campaign, link, task)["next"] == "task"
