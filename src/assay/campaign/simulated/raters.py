"""Simulated raters: what they think of texts, and how they work, quick, slow or careless."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import regex

from assay.campaign.client import WireClient, WireError
from assay.campaign.store.clock import Clock
from assay.collecting.results import Manner, SimulatedRater
from assay.errors import OptionError
from assay.stats.random import Rng, seeded, spawn
from assay.tables.tables import TestSet
from assay.worlds.simulate import World, simulate

Lessons = Mapping[tuple[str | None, str | None], float]

SPOILED_QUALITY = 0.4
"""The quality of an unknown text, as a share of the worst output's."""


class Opinions:
    """Every rater's opinion of every output of a test set, from 0 to 1.

    The raters belong to a simulated world with as many systems and documents. They only see texts:
    a text outside the test set, such as a spoiled copy, is worse than all others of its source. All
    raters agree on ``lessons``.
    """

    def __init__(
        self, test_set: TestSet, raters: int, *, lessons: Lessons | None = None, rng: Rng = None
    ) -> None:
        self._lessons = lessons or {}
        sizes = test_set.documents["segments"].to_list()
        count = len(test_set.systems)
        self.world: World = simulate(systems=count, documents=sizes, raters=raters, rng=rng)
        badness = self.world.badness
        low, high = np.quantile(badness, [0.005, 0.995])
        self.quality = np.clip((high - badness) / (high - low), 0.0, 1.0)
        """Systems x segments x raters."""
        system, segment = test_set.positions
        sources = _texts(test_set, "source")
        targets = _texts(test_set, "target")
        self._place: dict[tuple[str | None, str | None], tuple[int, int]] = {}
        self._segments: dict[str | None, int] = {}
        for row, source in enumerate(sources):
            place = int(system[row]), int(segment[row])
            self._place.setdefault((source, targets[row]), place)
            self._segments.setdefault(source, place[1])

    def of(self, rater: int, source: str | None, text: str | None) -> float:
        """The quality of a text as a translation of its source."""
        place = self._place.get((source, text))
        if place is not None:
            return float(self.quality[(*place, rater)])
        if (source, text) in self._lessons:
            return self._lessons[source, text]
        segment = self._segments.get(source)
        if segment is None:
            return 0.5
        return float(self.quality[:, segment, rater].min() * SPOILED_QUALITY)


def _texts(test_set: TestSet, column: str) -> list[str | None]:
    frame = test_set.frame
    return frame[column].to_list() if column in frame.columns else [None] * frame.height


View = Callable[[str | None, str | None], float]
"""Source and text to a quality from 0 to 1."""

WORD = regex.compile(r"(?:(?!\s)\X)+")
MOST_MARKS = 4
EQUAL_WITHIN = 0.03
"""Qualities closer than this are equally good."""
STRONG_GAP = 0.3


def answer_screen(
    task: dict[str, Any], screen: int, view: View, rng: np.random.Generator, seconds: float
) -> list[dict[str, Any]]:
    """The answers to one screen of a task, as the page would send them."""
    if task.get("kind") == "form":
        return [
            {"place": place, "comment": (one["answers"] or ["simulated"])[0]}
            for place, one in enumerate(task["questions"])
        ]
    outputs = {output["code"]: output for output in task["outputs"]}
    codes = task["screens"][screen]
    rated = [
        (number, segment) for number, segment in enumerate(task["segments"]) if segment["rate"]
    ]
    if task["protocol"] in ("pairwise", "ranking"):
        number, segment = rated[0]
        liked = {code: view(segment["source"], outputs[code]["texts"][number]) for code in codes}
        return [_compared(task["protocol"], liked)]
    editing = task["protocol"] == "post-edit"
    found = []
    for code in codes:
        for number, segment in rated:
            text = outputs[code]["texts"][number]
            if text is None and not editing:
                continue
            quality = view(segment["source"], text)
            said = (
                _edited(segment["source"], text, quality, rng, seconds)
                if editing
                else _rated(task, text or "", quality, rng)
            )
            found.append({"code": code, "place": segment["place"], **said})
    return found


def _compared(protocol: str, liked: dict[str, float]) -> dict[str, Any]:
    best = max(liked, key=lambda code: liked[code])
    if protocol == "ranking":
        steps = {code: round((liked[best] - value) / EQUAL_WITHIN) for code, value in liked.items()}
        order = sorted(set(steps.values()))
        return {"ranks": {code: order.index(step) + 1 for code, step in steps.items()}}
    gap = liked[best] - min(liked.values())
    if gap <= EQUAL_WITHIN:
        return {"winner": None}
    return {"winner": best, "strength": 2 if gap > STRONG_GAP else 1}


def _rated(
    task: dict[str, Any], text: str, quality: float, rng: np.random.Generator
) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if task["severities"]:
        marks = _marks(task, text, quality, rng)
        said |= {"spans": marks} if marks else {"no_error": True}
    if task["scales"]:
        said["scores"] = {scale["name"]: _score(scale, quality) for scale in task["scales"]}
    return said


def _score(scale: dict[str, Any], quality: float) -> float:
    low, high, step = scale["low"], scale["high"], scale["step"]
    score = low + (high - low) * quality
    return float(low + step * round((score - low) / step)) if step else float(score)


def _marks(
    task: dict[str, Any], text: str, quality: float, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Marks on different words; the worse the text, the more."""
    words = [found.span() for found in WORD.finditer(text)]
    number = min(round(MOST_MARKS * (1 - quality)), len(words))
    places = sorted(rng.choice(len(words), size=number, replace=False).tolist()) if number else []
    grades = [severity["name"] for severity in task["severities"]]
    marks = []
    for place in places:
        start, end = words[place]
        severity = grades[min(int(rng.random() < 1 - quality), len(grades) - 1)]
        mark = {"side": "target", "start": start, "end": end, "severity": severity}
        if task["categories"]:
            mark["category"] = str(rng.choice(task["categories"]))
        marks.append(mark)
    return marks


def _edited(
    source: str | None, text: str | None, quality: float, rng: np.random.Generator, seconds: float
) -> dict[str, Any]:
    """Reverse some words, more the worse the text is; from scratch, start with the source."""
    words = (text or source or "...").split()
    changed = rng.random(len(words)) < (1 - quality) / 2
    edited = [word[::-1] if change else word for word, change in zip(words, changed, strict=True)]
    letters = int(sum(len(word) for word, change in zip(words, changed, strict=True) if change))
    return {
        "edited": " ".join(edited),
        "keys": {"letter": letters, "erase": letters},
        "pauses": {"n_300": int(changed.sum()), "ms_300": 500 * int(changed.sum())},
        "sessions": [{"active_ms": round(1000 * seconds), "idle_ms": 0, "hidden_ms": 0}],
    }


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


class SteppedClock(Clock):
    """A clock that can be moved forward, so that days pass in seconds."""

    _passed = 0.0

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self._passed += max(seconds, 0.0)

    def _read(self) -> int:
        return super()._read() + int(1000 * self._passed)


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
    clock: SteppedClock
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
    clock: SteppedClock,
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
