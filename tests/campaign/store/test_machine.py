"""Anything that raters and owners may do, in any order, against a plain model."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.campaign.store.world import MINUTE, HandClock, body, make, make_scores, rater_links

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.records import NotNowError
from assay.project.settings import Raters, Screen, Settings

RATERS = 4
HOLD = 20 * MINUTE
HELD = ("open", "done")
rater = st.integers(0, RATERS - 1)


@dataclass
class Lease:
    """What the model knows of one."""

    task: int
    until: int
    state: str = "open"
    sent: list[str] = field(default_factory=list)


class Model(RuleBasedStateMachine):
    template: tuple[Path, Any]

    def __init__(self) -> None:
        super().__init__()
        folder, self.made = self.template
        self.folder = Path(tempfile.mkdtemp())
        shutil.copy(folder / "campaign.db", self.folder)
        self.clock = HandClock()
        self.campaign = self._open()
        self.campaign.open("owner")
        self.links = rater_links(self.campaign, self.made)
        self.out: set[int] = set()
        self.leases: dict[tuple[int, int], Lease] = {}
        self.names: dict[tuple[int, int], dict[str, Any]] = {}
        with self.campaign.reading() as db:
            rows = db.exec_driver_sql("SELECT wanted FROM task ORDER BY position").all()
            self.wanted = [row[0] for row in rows]

    def _open(self) -> Campaign:
        return open_campaign(self.folder, clock=self.clock)

    def teardown(self) -> None:
        self.campaign.disconnect()
        shutil.rmtree(self.folder)

    def _free(self, task: int) -> bool:
        held = [x for (_, t), x in self.leases.items() if t == task and x.state in HELD]
        return len(held) < self.wanted[task]

    def _expected(self, who: int) -> int | str:
        """The task that a rater gets, by the rules as people would tell them."""
        own = {task: x for (r, task), x in self.leases.items() if r == who}
        for task, lease in own.items():
            if lease.state == "open":
                lease.until = self.clock.time + HOLD
                return task
        expired = [(x.until, task) for task, x in own.items() if x.state == "expired"]
        if expired and self._free(max(expired)[1]):
            task = max(expired)[1]
            own[task].state, own[task].until = "open", self.clock.time + HOLD
            return task
        for lease in self.leases.values():
            if lease.state == "open" and lease.until < self.clock.time:
                lease.state = "expired"
        for task in range(len(self.wanted)):
            if task not in own and self._free(task):
                self.leases[who, task] = Lease(task, self.clock.time + HOLD)
                return task
        others = [
            x for (_, task), x in self.leases.items() if x.state == "open" and task not in own
        ]
        return "wait" if others else "done"

    @rule(who=rater)
    def ask(self, who: int) -> None:
        self.clock.time += 50  # the store's clock is a few ticks ahead
        if who in self.out:
            with pytest.raises(NotNowError):
                self.campaign.next(self.links[who])
            return
        reply = self.campaign.next(self.links[who])
        expected = self._expected(who)
        if isinstance(expected, str):
            assert reply["state"] == expected
            return
        assert reply["state"] == "task"
        known = self.names.setdefault((who, expected), reply)
        assert known["lease"] == reply["lease"]
        assert known["outputs"] == reply["outputs"]

    @precondition(lambda self: self.names)
    @rule(data=st.data(), again=st.booleans())
    def send(self, data: st.DataObject, again: bool) -> None:
        self.clock.time += 50
        who, task = data.draw(st.sampled_from(sorted(self.names)))
        reply, lease = self.names[who, task], self.leases[who, task]
        key = lease.sent[-1] if again and lease.sent else f"k{len(lease.sent)}"
        if who in self.out:
            with pytest.raises(NotNowError):
                self.campaign.send(self.links[who], reply["lease"], 0, body(reply, 0, key=key))
            return
        found = self.campaign.send(self.links[who], reply["lease"], 0, body(reply, 0, key=key))
        if key not in lease.sent:
            lease.sent.append(key)
            if lease.state in ("open", "expired", "declined"):
                free = lease.state == "open" or self._free(task)
                lease.state = "done" if free else "extra"
        assert found["revision"] == lease.sent.index(key) + 1

    @precondition(lambda self: self.names)
    @rule(data=st.data())
    def decline(self, data: st.DataObject) -> None:
        who, task = data.draw(st.sampled_from(sorted(self.names)))
        reply, lease = self.names[who, task], self.leases[who, task]
        if who in self.out or lease.state not in ("open", "declined"):
            with pytest.raises(NotNowError):
                self.campaign.decline(self.links[who], reply["lease"], "other")
            return
        self.campaign.decline(self.links[who], reply["lease"], "other")
        lease.state = "declined"

    @rule(minutes=st.sampled_from([1, 15, 25]))
    def wait(self, minutes: int) -> None:
        self.clock.pass_minutes(minutes)

    @rule(who=rater)
    def exclude(self, who: int) -> None:
        self.campaign.exclude(f"rater-{who + 1}", "a reason", "owner")
        if who not in self.out:
            self.out.add(who)
            for (r, _), lease in self.leases.items():
                if r == who and lease.state in HELD:
                    lease.state = "aside" if lease.state == "done" else "returned"

    @rule(who=rater)
    def restore(self, who: int) -> None:
        self.campaign.restore(f"rater-{who + 1}", "owner")
        self.out.discard(who)
        for (r, task), lease in self.leases.items():
            if r == who and lease.state == "returned":
                lease.state = "expired"
            elif r == who and lease.state == "aside":
                lease.state = "done" if self._free(task) else "extra"

    @rule()
    def restart(self) -> None:
        self.campaign.disconnect()
        self.campaign = self._open()

    @rule()
    def rebuild(self) -> None:
        self.campaign.rebuild()

    @invariant()
    def the_store_says_the_same(self) -> None:
        with self.campaign.reading() as db:
            states = db.exec_driver_sql("SELECT rater - 1, task - 1, state FROM lease").all()
            answers = db.exec_driver_sql("SELECT count(*) FROM sent").scalar()
        assert {(r, t): state for r, t, state in states} == {
            key: lease.state for key, lease in self.leases.items()
        }
        assert answers == sum(len(lease.sent) for lease in self.leases.values())
        assert self.campaign.integrity() == ()
        for task, wanted in enumerate(self.wanted):
            held = [x for (_, t), x in self.leases.items() if t == task and x.state in HELD]
            assert len(held) <= wanted


def test_the_store_does_what_the_rules_say(tmp_path: Path) -> None:
    plan = Settings(
        protocol="esa", raters=Raters(number=RATERS, overlap="50%"), screen=Screen(outputs=8)
    )
    made = make(tmp_path, plan, test_set=make_scores(documents=3, segments=2))
    Model.template = (tmp_path, made)
    run_state_machine_as_test(Model, settings=settings(
        max_examples=20, stateful_step_count=30, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), derandomize=True,
    ))  # fmt: skip
