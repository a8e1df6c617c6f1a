"""What goes wrong with disks, processes, clocks and files, and what follows."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from tests.campaign.served import serving
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
from tests.campaign.web.test_routes import bearer

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.records import NotYoursError, UnavailableError
from assay.campaign.store import opening
from assay.campaign.store.answers import send
from assay.campaign.store.clock import Clock
from assay.campaign.store.opening import refuse_remote
from assay.campaign.store.tasks import next_task
from assay.errors import InputError, OptionError
from assay.project.settings import Raters, Settings


def run(unit: Any, line: str) -> None:
    unit.db.execute(text(line))


def pragma(campaign: Campaign, line: str) -> Any:
    """A setting of the connection that writes."""

    def unit(unit: Any) -> Any:
        return unit.db.execute(text(f"PRAGMA {line}")).scalar()

    return campaign.later(unit).result()


def test_a_full_disk_refuses_and_takes_up_again(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        one, two, _ = rater_links(campaign, made)
        task = campaign.next(one)
        campaign.send(one, task["lease"], 0, body(task, 0))
        pages = pragma(campaign, "page_count")
        pragma(campaign, f"max_page_count={pages}")
        long = body(task, 1) | {"answers": [
            one | {"comment": "x" * 4000} for one in body(task, 1)["answers"]
        ]}  # fmt: skip
        for _ in range(2):
            with pytest.raises(UnavailableError, match="sent again"):
                for number in range(50):
                    campaign.send(one, task["lease"], 1, long | {"key": f"k{number}"})
        kept = campaign.status().answers
        assert campaign.mine_one(one, task["lease"])["answers"]["0"]
        pragma(campaign, "max_page_count=1000000")
        finish(campaign, one, task, key="again")
        assert campaign.status().answers == max(kept, len(task["screens"]))
        assert campaign.next(two)["state"] == "task"
        assert campaign.integrity() == ()


def test_one_that_is_refused_leaves_the_others_of_its_commit(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        one, two, three = rater_links(campaign, made)
        tasks = [campaign.next(link) for link in (one, two, three)]
        gate = threading.Event()
        held = campaign.later(lambda unit: gate.wait(10))
        waiting: list[Future[Any]] = [
            campaign.later(send, one, tasks[0]["lease"], 0, body(tasks[0], 0)),
            campaign.later(send, two, tasks[0]["lease"], 0, body(tasks[0], 0)),
            campaign.later(send, two, tasks[1]["lease"], 0, body(tasks[1], 0)),
            campaign.later(send, three, tasks[2]["lease"], 0, {"key": "k"}),
        ]
        assert not any(future.done() for future in waiting)
        gate.set()
        held.result()
        assert waiting[0].result()["stored"] == waiting[2].result()["stored"] == 1
        assert waiting[1].exception().status == 404  # type: ignore[union-attr]
        assert waiting[3].exception().status == 422  # type: ignore[union-attr]
        assert campaign.status().answers == 2
        refused = [e for e in campaign.collected().events if e["kind"] == "refused"]
        assert [event["body"]["status"] for event in refused] == [404, 422]


def test_who_asks_may_leave_before_the_answer_is_stored(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        gate = threading.Event()
        held = campaign.later(lambda unit: gate.wait(10))
        left = campaign.later(send, link, task["lease"], 0, body(task, 0))
        assert not left.cancel()
        gate.set()
        held.result()
        assert left.result()["stored"] == 1
        assert campaign.next(link)["sent"] == [0]


def test_what_was_asked_before_the_end_is_done(tmp_path: Path) -> None:
    made = make(tmp_path)
    campaign = opened(tmp_path)
    link = rater_links(campaign, made)[0]
    task = campaign.next(link)
    waiting = [
        campaign.later(send, link, task["lease"], screen, body(task, screen))
        for screen in range(len(task["screens"]))
    ]
    campaign.disconnect()
    assert [future.result()["next"] for future in waiting] == ["screen", "screen", "task"]
    with pytest.raises(UnavailableError, match="being stopped"):
        campaign.next(link)


def test_a_fault_of_ours_reaches_who_asked_and_nobody_else(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:

        def wrong(unit: Any) -> None:
            unit.note("nobody", "half", "done")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            campaign.later(wrong).result()
        assert "half" not in {event["kind"] for event in campaign.collected().events}
        assert campaign.next(rater_links(campaign, made)[0])["state"] == "task"


def test_the_settings_of_the_file_are_the_safe_ones(tmp_path: Path) -> None:
    make(tmp_path)
    with opened(tmp_path) as campaign:
        assert pragma(campaign, "journal_mode") == "wal"
        assert pragma(campaign, "synchronous") == 2  # FULL
        assert pragma(campaign, "foreign_keys") == 1
        with campaign.reading() as db, pytest.raises(Exception, match="readonly|read-only"):
            db.execute(text("DELETE FROM draft"))


@pytest.mark.parametrize("table", ["sent", "answer", "span", "event"])
def test_what_was_appended_cannot_be_changed(place: Path | str, table: str) -> None:
    made = make(place)
    with opened(place) as campaign:
        link = rater_links(campaign, made)[0]
        finish(campaign, link, campaign.next(link))
        for change in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id + 1000"):
            with pytest.raises(Exception, match="append only"):
                campaign.later(lambda unit, line=change: unit.db.execute(text(line))).result()


def test_a_second_writer_learns_who_the_first_is(tmp_path: Path) -> None:
    make(tmp_path)
    script = (
        "import sys\nfrom assay.campaign.campaign import open_campaign\n"
        "campaign = open_campaign(sys.argv[1])\nprint('here', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as first:  # fmt: skip
        assert first.stdout is not None
        assert first.stdout.readline() == "here\n"
        with pytest.raises(InputError, match=f"process {first.pid} works on the campaign"):
            open_campaign(tmp_path)
        with open_campaign(tmp_path, write=False) as reading:
            assert reading.status().state == "draft"
            with pytest.raises(InputError, match="opened for reading"):
                reading.open("owner")
        first.kill()
    with open_campaign(tmp_path) as campaign:  # a killed process leaves no lock behind
        campaign.open("owner")


def test_several_servers_share_postgresql(postgres: Callable[[], str]) -> None:
    address = postgres()
    made = make(address)
    with opened(address) as first, open_campaign(address, clock=HandClock()) as second:
        links = rater_links(first, made)
        waiting = [
            campaign.later(next_task, link)
            for _ in range(5)
            for link in links
            for campaign in (first, second)
        ]
        leases = {future.result()["lease"] for future in waiting}
        assert len(leases) == 3
        done = work(first, links[0], most=3) + work(second, links[1], most=3)
        assert len({task["lease"] for task in done}) == 6
        assert second.status().done == 6


def test_copies_are_counted_right_when_many_take_them_at_once(postgres: Callable[[], str]) -> None:
    address = postgres()
    plan = Settings(protocol="esa", raters=Raters(number=6, per_task=3, overlap="0%"))
    made = make(address, plan, test_set=make_scores(documents=10, systems="A"))
    with opened(address) as first, open_campaign(address, clock=HandClock()) as second:
        links = rater_links(first, made)
        threads = [
            threading.Thread(target=work, args=(campaign, link))
            for link, campaign in zip(links, [first, second] * 3, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert first.integrity() == ()
        for link in links:  # whoever was told to wait
            work(first, link)
        assert first.status().done == made.tasks
        assert first.rebuild()["leases"] == 90


def test_connections_that_are_cut_are_made_anew(postgres: Callable[[], str]) -> None:
    address = postgres()
    made = make(address)
    with opened(address) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)

        def cut(unit: Any) -> None:
            unit.db.execute(text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            ))  # fmt: skip

        campaign.later(cut).result()
        assert campaign.next(link)["lease"] == task["lease"]


def test_the_clock_never_goes_back(tmp_path: Path) -> None:
    clock = Clock(start=lambda: 1000.0)
    clock.not_before(5_000_000)
    first = clock.now()
    assert 5_000_000 < first < clock.now()
    time.sleep(0.25)
    assert clock.now() >= 5_000_200, "it does not stand still until it is right again"
    make(tmp_path)
    ahead = HandClock()
    with opened(tmp_path, ahead) as campaign:
        campaign.pause("owner")
    behind = Clock(start=lambda: 1000.0)
    with open_campaign(tmp_path, clock=behind) as campaign:
        campaign.resume("owner")
        times = [event["at"] for event in campaign.collected().events]
        assert times == sorted(times)
        assert times[-1] > ahead.time


def test_a_file_from_a_newer_version_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with sqlite3.connect(tmp_path / "campaign.db") as db:
        db.execute("UPDATE alembic_version SET version_num = 'v99999'")
    db.close()
    with pytest.raises(InputError, match="newer version of Assay"):
        open_campaign(tmp_path)


def test_an_older_file_is_copied_and_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(tmp_path / "campaign")
    scripts = tmp_path / "migrations"
    shutil.copytree(opening.MIGRATIONS, scripts)
    (scripts / "versions" / "v9999.py").write_text(
        "from alembic import op\nimport sqlalchemy as sa\n"
        "revision, down_revision = 'v9999', 'v0002'\n"
        "def upgrade():\n    op.add_column('rater', sa.Column('mood', sa.Text()))\n"
    )
    monkeypatch.setattr(opening, "MIGRATIONS", scripts)
    with opened(tmp_path / "campaign") as campaign:
        assert len(work(campaign, rater_links(campaign, made)[0], most=1)) == 1
    before = tmp_path / "campaign" / "campaign-before-v9999.db"
    columns = "SELECT name FROM pragma_table_info('rater')"
    for path, there in ((before, False), (tmp_path / "campaign" / "campaign.db", True)):
        with sqlite3.connect(path) as db:
            assert (("mood",) in db.execute(columns).fetchall()) == there
        db.close()


def test_the_migrations_make_todays_tables(place: Path | str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from assay.campaign.store.schema import METADATA

    make(place)
    with open_campaign(place) as campaign, campaign.reading() as db:
        assert compare_metadata(MigrationContext.configure(db), METADATA) == []


def test_places_that_hold_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; make a campaign first"):
        open_campaign(tmp_path)
    (tmp_path / "campaign.db").write_bytes(b"something else entirely" * 50)
    with pytest.raises(InputError, match="cannot be opened"):
        open_campaign(tmp_path)
    assert (tmp_path / "campaign.db").read_bytes().startswith(b"something")
    with pytest.raises(OptionError, match="is not an address"):
        open_campaign("mysql://localhost/x")


@pytest.mark.parametrize("write", [True, False])
def test_a_damaged_file_is_refused_with_a_remedy(tmp_path: Path, write: bool) -> None:
    make(tmp_path)
    file = tmp_path / "campaign.db"
    whole = file.read_bytes()
    pages = range(2 * 4096, len(whole), 4096)
    damaged = bytearray(whole)
    for place in pages:
        damaged[place : place + 200] = b"\xfe" * 200
    file.write_bytes(damaged)
    with pytest.raises(InputError, match="malformed.*put back a backup"):
        open_campaign(tmp_path, write=write)


def test_a_store_and_its_copies_are_read_by_nobody_else(tmp_path: Path) -> None:
    make(tmp_path)
    with open_campaign(tmp_path) as campaign:
        campaign.open("owner")
        campaign.backup(tmp_path / "copy.db")
        for path in tmp_path.glob("*.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def test_what_a_database_cannot_look_for_is_refused_before(place: Path | str) -> None:
    made = make(place)
    tokens = {"owner": made.links.owner, "rater-1": made.links.raters[0].token}
    with serving(opened(place), tokens) as served, httpx.Client(base_url=served.url) as client:
        own, owner = (bearer(tokens, who) for who in ("rater-1", "owner"))
        page = f"/c/{served.campaign.slug}/browse"
        for query in ("rater=%00", "doc=a%00b", f"before={2**31}", f"before={2**53}"):
            assert client.get(f"{page}?{query}", headers=owner).status_code == 422, query
        assert client.get(f"{page}?before={2**31 - 1}&rater=%FF", headers=owner).is_success
        for number, status in ((2**31 - 1, 404), (2**31, 404), (2**53, 404)):
            path = f"/api/messages/{number}/read"
            assert client.post(path, json={}, headers=own).status_code == status


def test_a_folder_on_the_network_is_refused(tmp_path: Path) -> None:
    mounts = f"server:/x / ext4 rw 0 0\nserver:/y {tmp_path} nfs4 rw 0 0\n"
    with pytest.raises(InputError, match="network file system"):
        refuse_remote(tmp_path / "deeper", mounts)
    refuse_remote(Path("/"), mounts)


def test_a_campaign_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import assay.campaign.store.creating as creating

    monkeypatch.setattr(creating, "new_link", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    make(tmp_path)
    with pytest.raises(InputError, match="is there already"):
        make(tmp_path)


def test_links_are_compared_by_their_hash_and_can_end(place: Path | str) -> None:
    made = make(place)
    with opened(place) as campaign:
        token = made.links.raters[0].token
        roles = [made.links.owner, made.links.viewer, made.links.join]
        found = [campaign.link(one) for one in roles]
        assert [one.role for one in found if one] == ["owner", "viewer", "join"]
        assert campaign.link(token[:-1]) is None
        assert campaign.link("") is None
        other = campaign.new_link("rater-1")
        assert campaign.link(token) is None
        assert campaign.link(other) is not None
        assert token not in str(campaign.links())
        owner = campaign.link(made.links.owner)
        assert owner is not None
        with pytest.raises(Exception, match="not a rater's"):
            campaign.next(owner)
        with pytest.raises(NotYoursError):
            campaign.media("none")
