"""Claim: a campaign that its own rule ends is right about all raters as often as it says.

Whole campaigns in process, from the plan to the look that ends them, with the default rule: five
planned looks, 95 %, every tenth task rated twice. Raters differ in severity, in speed, and from
task to task in their taste for a system; hard outputs take longer and get lower scores, and of
every fifty tasks one is left lying until its time is over. The truth is what all raters together
would say of all segments.

Half of the campaigns have three systems that are exactly equal and others with gaps between small
and clear, half have clear gaps alone, so that the rule ends them early. Counted at the look that
ended the campaign (else at the last): intervals of pairs and of scores that hold the truth, and
verdicts that are wrong, of equal systems any verdict.
"""

from __future__ import annotations

import argparse
import heapq
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.live.results import bring_up_to_date, follow_campaign, next_due
from assay.campaign.store.clock import Clock
from assay.campaign.store.unit import Link
from assay.collecting.live import CampaignResults
from assay.project.settings import Raters, Scale, Settings
from assay.stats.random import as_rng, spawn
from assay.tables.tables import TestSet
from benchmarks.claims import claim

GAPS = {
    "equal": {"A": 0.0, "B": 0.0, "C": 0.0, "D": -1.5, "E": -4.0, "F": -9.0},
    "clear": {"A": 0.0, "B": -5.0, "C": -10.0, "D": -16.0},
}
"""Points below the best systems, in the eyes of all raters together."""
DOCUMENTS, SEGMENTS, RATERS = 20, 8, 8
LEFT = 0.02
"""The share of tasks that are left lying."""
EQUAL = 0.01
"""Points: scores have two decimals, so that gaps are what they are said to be but for so much."""
STEP = 0.01


class World(NamedTuple):
    """The texts, and what every rater thinks of every output."""

    test_set: TestSet
    scores: np.ndarray
    """Systems x segments x raters."""
    place: dict[str, tuple[int, int]]

    def truth(self) -> dict[str, float]:
        """What all raters together say of all segments of every system."""
        means = self.scores.mean(axis=(1, 2)).tolist()
        return dict(zip(self.test_set.systems, means, strict=True))


class Ended(NamedTuple):
    """How a campaign ended; of every pair and of every system, what was stated."""

    met: bool
    """Whether the goal ended it before the order was used up."""
    rated: float
    """The share of the segments that the look had."""
    pairs: np.ndarray
    """Pairs x (interval holds the truth, decided, wrongly, equal)."""
    systems: np.ndarray
    """Whether the interval of a score holds the truth."""


class WorkClock(Clock):
    """The time of the work, not of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_800_000_000_000

    def _read(self) -> int:
        return self.time


def make_world(gaps: dict[str, float], rng: np.random.Generator) -> World:
    """Scores whose means lie apart exactly as the gaps say."""
    rows = [
        {"system": name, "doc": f"d{doc:02}", "seg": f"{SEGMENTS * doc + seg:03}",
         "source": f"die Quelle {doc} {seg}", "target": f"the output {doc} {seg} of {k}"}
        for doc in range(DOCUMENTS) for seg in range(SEGMENTS) for k, name in enumerate(gaps)
    ]  # fmt: skip
    test_set = assay.read_scores(pl.DataFrame(rows))
    systems, segments = len(gaps), DOCUMENTS * SEGMENTS
    document = np.repeat(np.arange(DOCUMENTS), SEGMENTS)
    hard = rng.normal(0, 6, DOCUMENTS)[document] + rng.normal(0, 8, segments)
    own = rng.normal(0, 2, (systems, DOCUMENTS))[:, document] + rng.normal(
        0, 6, (systems, segments)
    )
    severity = rng.normal(0, 6, RATERS)
    taste = rng.normal(0, 2.5, (systems, DOCUMENTS, RATERS))[:, document]
    noise = rng.normal(0, 7, (systems, segments, RATERS))
    scores = 60 + hard[:, None] + own[:, :, None] + severity + taste + noise
    scores += np.array(list(gaps.values()))[:, None, None] - (
        scores.mean(axis=(1, 2), keepdims=True) - 60
    )
    where = {row["target"]: (k % systems, k // systems) for k, row in enumerate(rows)}
    return World(test_set, scores.round(2), where)


@dataclass
class Work:
    """Raters at work side by side, each as fast as the outputs before them let them be."""

    campaign: Campaign
    clock: WorkClock
    links: list[Link]
    world: World
    rng: np.random.Generator

    def sends(self) -> Iterator[None]:
        """Do the work; every task that was sent is a step."""
        speed = self.rng.lognormal(0, 0.4, len(self.links))
        queue = [(float(self.rng.uniform(0, 300)), number) for number in range(len(self.links))]
        open_: dict[int, dict[str, Any]] = {}
        heapq.heapify(queue)
        start, waited = self.clock.time, 0
        while queue and waited < 50 * len(self.links):
            seconds, rater = heapq.heappop(queue)
            self.clock.time = start + round(1000 * seconds)
            sent = rater in open_
            if sent:
                self._send(rater, open_.pop(rater))
            reply = self.campaign.next(self.links[rater])
            waited = 0 if reply["state"] == "task" else waited + 1
            if reply["state"] == "wait":
                heapq.heappush(queue, (seconds + 600, rater))
            elif reply["state"] == "task":
                if self.rng.random() < LEFT:  # they come back when somebody else has it
                    heapq.heappush(queue, (seconds + 4 * 3600, rater))
                else:
                    open_[rater] = reply
                    heapq.heappush(queue, (seconds + speed[rater] * self._takes(reply), rater))
            if sent:
                yield

    def _takes(self, reply: dict[str, Any]) -> float:
        """Seconds of work: the worse the outputs, the more."""
        return sum(
            3 + 0.3 * max(0.0, 90 - self._score(text, 0))
            for one in reply["outputs"] for text in one["texts"] if text in self.world.place
        )  # fmt: skip

    def _score(self, text: str, rater: int) -> float:
        return float(self.world.scores[(*self.world.place[text], rater)])

    def _send(self, rater: int, reply: dict[str, Any]) -> None:
        outputs = {one["code"]: one["texts"] for one in reply["outputs"]}
        rated = [one["place"] for one in reply["segments"] if one["rate"]]
        for screen, codes in enumerate(reply["screens"]):
            answers = [
                {"code": code, "place": place,
                 "scores": {"score": self._score(outputs[code][place], rater)}}
                for code in codes for place in rated if outputs[code][place] is not None
            ]  # fmt: skip
            body = {"key": f"s{screen}", "timing": {"active_ms": 1000}, "answers": answers}
            self.campaign.send(self.links[rater], reply["lease"], screen, body)


def run_campaign(folder: Path, gaps: dict[str, float], rng: np.random.Generator) -> Ended:
    """One campaign until its rule ends it."""
    world = make_world(gaps, rng)
    settings = Settings(
        protocol="scale", scales=(Scale(low=-100, high=200, step=STEP),),
        raters=Raters(number=RATERS),
    )  # fmt: skip
    made = create_campaign(folder, Material(settings, folder, world.test_set), rng=rng)
    clock = WorkClock()
    with open_campaign(folder, clock=clock) as campaign:
        campaign.open("benchmark")
        links = [campaign.link(one.token) for one in made.links.raters]
        live = follow_campaign(campaign)
        work = Work(campaign, clock, [link for link in links if link is not None], world, rng)
        for _ in work.sends():
            due = next_due(live)
            if due is not None:
                campaign.keep_look(due.stored())
                if due.taken.met:
                    break
        campaign.close("benchmark")
        return ended(bring_up_to_date(campaign, live), world)


def ended(found: CampaignResults, world: World) -> Ended:
    """What the last look stated, held against the truth."""
    last, truth = found.looks[-1], world.truth()
    assert last.monitoring is not None
    assert last.outcome.estimates is not None
    pairs = []
    for item, (left, right) in zip(last.monitoring.items, combinations(truth, 2), strict=True):
        assert item.what == f"{left} - {right}"
        gap = truth[left] - truth[right]
        equal, decided = abs(gap) < EQUAL, item.winner is not None
        wrong = decided and (equal or item.winner != (left if gap > 0 else right))
        pairs.append((item.low <= gap <= item.high, decided, wrong, equal))
    systems = [one.low <= truth[one.system] <= one.high for one in last.outcome.estimates.systems]
    return Ended(last.met, last.n / found.total, np.array(pairs), np.array(systems))


def campaigns(kind: str, runs: int, seed: int = 1) -> Iterator[Ended]:
    """So many campaigns of one kind of world."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for number, rng in enumerate(spawn(as_rng(seed), runs), 1):
        print(f"\r{kind}: {number} of {runs}", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            yield run_campaign(Path(folder), GAPS[kind], rng)
    print(file=sys.stderr)


def share(values: list[np.ndarray]) -> tuple[float, float]:
    """The mean of all, and its Monte-Carlo error: the campaigns are what is drawn."""
    means = np.array([value.mean() for value in values])
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="campaigns, half of each kind")
    options = parser.parse_args()
    each = options.runs // 2
    equal, clear = list(campaigns("equal", each)), list(campaigns("clear", each, seed=2))
    both = equal + clear
    early = float(np.mean([one.met and one.rated < 1 for one in clear]))
    rated = float(np.mean([one.rated for one in clear]))
    claim("campaigns with clear gaps that the rule ended before the last look", 100 * early,
          unit="%", peer=f"{each} campaigns, {100 * rated:.0f} % rated on average")  # fmt: skip
    held, error = share([one.pairs[:, 0] for one in both])
    claim("what all raters say of a pair lies in the interval stated at the end", 100 * held,
          goal=94, at_most=False, unit="%", peer=f"{len(both)} campaigns, ± {100 * error:.1f}",
          )  # fmt: skip
    held, error = share([one.systems for one in both])
    claim("what all raters say of a system lies in the interval of its score", 100 * held,
          unit="%", peer=f"{len(both)} campaigns, ± {100 * error:.1f}")  # fmt: skip
    wrong, error = share([one.pairs[one.pairs[:, 3], 2] for one in equal])
    claim("equal systems that a campaign calls decided, per pair", 100 * wrong, goal=5, unit="%",
          peer=f"{each} campaigns, ± {100 * error:.1f}")  # fmt: skip
    wrong, error = share([one.pairs[~one.pairs[:, 3], 2] for one in both])
    claim("other pairs that a campaign decides the wrong way round", 100 * wrong, goal=5,
          unit="%", peer=f"{len(both)} campaigns, ± {100 * error:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
