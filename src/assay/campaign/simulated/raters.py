"""Simulated raters at work: quick, slow, careless, or leaving in the middle."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np

from assay.campaign.client import WireClient, WireError
from assay.campaign.simulated.answering import Opinions, answer_screen
from assay.collecting.campaigns import Manner, SimulatedRater
from assay.errors import OptionError
from assay.stats.random import Rng, seeded, spawn

SECONDS: Mapping[str, float] = {"quick": 8.0, "slow": 25.0, "careless": 3.0, "leaving": 12.0}
"""Median seconds for one output."""
LOG_TIME_SD = 0.35
"""The standard deviation of the logarithm of the time of a screen."""
TASKS_BEFORE_LEAVING = (1, 4)
EXCLUDED_STATUS = 409
"""The status for raters who failed the test or too many checks."""
FIRST_WAIT = 600.0
LONGEST_WAIT = 8 * 24 * 3600.0
"""Seconds that a rater waits for work at first, and in all."""


class Forwards(Protocol):
    """A clock that can be put forward."""

    def now(self) -> int:
        """Milliseconds since 1970."""

    def forward(self, seconds: float) -> None:
        """Let time pass."""


def manners(raters: int, careless: int, leaving: int, rng: np.random.Generator) -> list[Manner]:
    """The manner of every rater in random order; honest raters are quick or slow."""
    odd: tuple[tuple[Manner, int], ...] = (("careless", careless), ("leaving", leaving))
    for name, value in odd:
        if value < 0:
            raise OptionError(name, value, "is not a number of raters", "give 0 or more")
    if raters < 1 or careless + leaving >= raters:
        fault = f"is not more than the {careless} careless and {leaving} leaving raters"
        raise OptionError("raters", raters, fault, f"give {careless + leaving + 1} or more")
    honest = raters - careless - leaving
    every = [way for way, number in odd for _ in range(number)]
    turns: tuple[Manner, ...] = ("quick", "quick", "slow")
    every += [turns[number % 3] for number in range(honest)]
    return [every[place] for place in rng.permutation(raters)]


@dataclass
class _Worker:
    """One rater at work, from one request to the next."""

    name: str
    manner: Manner
    number: int
    client: WireClient
    opinions: Opinions
    rng: np.random.Generator
    clock: Forwards
    task: dict[str, Any] | None = None
    screen: int = 0
    tasks: int = 0
    answers: int = 0
    active: float = 0.0
    waited: float = 0.0
    last: int = 0
    leaves_at: int | None = None
    pending: dict[str, Any] | None = field(default=None, repr=False)

    def step(self) -> float | None:
        """Act once; returns the seconds until the next act, or None if the rater is done."""
        try:
            if self.pending is not None:
                self._send(self.pending)
            return self._fetch() if self.task is None else self._work(self.task)
        except WireError as error:
            if error.code != EXCLUDED_STATUS:
                raise
            return None

    def _fetch(self) -> float | None:
        reply = self.client.post("/api/next", {})
        if reply["state"] == "wait" and self.waited < LONGEST_WAIT and self.leaves_at is None:
            longer = max(FIRST_WAIT, self.waited / 2)
            self.waited += longer
            return longer
        if reply["state"] != "task":
            return None
        self.waited = 0.0
        self.task = reply
        todo = [n for n in range(len(reply["screens"])) if n not in reply.get("sent", [])]
        self.screen = todo[0] if todo else 0
        if self.leaves_at is not None and self.tasks >= self.leaves_at:
            if len(todo) > 1:  # send a part, and never come back
                self._send(self._answered(reply, 1.0))
            return None
        return self._work(reply)

    def _work(self, task: dict[str, Any]) -> float:
        segments = sum(segment["rate"] for segment in task["segments"])
        outputs = segments * len(task["screens"][self.screen])
        seconds: float = SECONDS[self.manner] * outputs * self.rng.lognormal(0.0, LOG_TIME_SD)
        self.pending = self._answered(task, seconds)
        return seconds

    def _answered(self, task: dict[str, Any], seconds: float) -> dict[str, Any]:
        opened = self.clock.now()
        times = {
            name: datetime.fromtimestamp(opened / 1000 + part * seconds, UTC).isoformat()
            for name, part in (("opened", 0.0), ("first", 0.2), ("sent", 1.0))
        }
        timing = {**times, "active_ms": round(1000 * seconds), "idle_ms": 0, "away": 0}
        answers = answer_screen(task, self.screen, self._view, self.rng, seconds)
        return {"key": self.rng.bytes(12).hex(), "timing": timing, "answers": answers}

    def _view(self, source: str | None, text: str | None) -> float:
        if self.manner == "careless":
            return float(self.rng.random())
        return self.opinions.of(self.number, source, text)

    def _send(self, body: dict[str, Any]) -> None:
        assert self.task is not None
        path = f"/api/leases/{self.task['lease']}/screens/{self.screen}/answers"
        reply = self.client.post(path, body)
        self.pending = None
        self.answers += reply["stored"]
        self.active += body["timing"]["active_ms"] / 1000
        self.last = self.clock.now()
        if reply["next"] == "screen":
            self.screen += 1
        else:
            self.tasks += 1
            self.task = None


def simulate_raters(
    address: str,
    tokens: Mapping[str, str],
    ways: Sequence[Manner],
    opinions: Opinions,
    clock: Forwards,
    *,
    rng: Rng = None,
) -> Iterator[tuple[SimulatedRater, ...]]:
    """Let the raters of these tokens work until there is nothing left to do.

    Everything goes through HTTP at ``address``, and the campaign's clock is moved forward, so that
    days pass in seconds. Yields the progress of all raters after each act.
    """
    generator, _ = seeded(rng)
    with ExitStack() as stack:
        workers = [
            _Worker(
                name, way, number, stack.enter_context(WireClient(address, token)), opinions, own,
                clock, leaves_at=int(own.integers(*TASKS_BEFORE_LEAVING))
                if way == "leaving" else None,
            )
            for number, ((name, token), way, own) in enumerate(
                zip(tokens.items(), ways, spawn(generator, len(ways)), strict=True)
            )
        ]  # fmt: skip
        begun = clock.now()
        waiting = [(float(own.number), own.number) for own in workers]
        heapq.heapify(waiting)
        while waiting:
            due, number = heapq.heappop(waiting)
            clock.forward(due - (clock.now() - begun) / 1000)
            seconds = workers[number].step()
            if seconds is not None:
                heapq.heappush(waiting, ((clock.now() - begun) / 1000 + seconds, number))
            yield tuple(
                SimulatedRater(own.name, own.manner, own.tasks, own.answers, own.active / 3600)
                for own in workers
            )
