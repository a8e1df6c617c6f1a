"""A campaign with raters who have opinions, for results while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.campaign.store.world import make, opened, rater_links

import assay
from assay.campaign.campaign import Campaign
from assay.campaign.store.unit import Link
from assay.project.settings import Raters, Settings
from assay.tables.tables import TestSet
from assay.worlds.simulate import World

NOISE = 8.0
Thinks = Callable[[int, int, int], float]
"""System, segment and rater to a score."""


def with_texts(world: World) -> TestSet:
    """The test set of a world with texts that name nothing."""
    frame = world.test_set.frame.with_row_index("_row")
    frame = frame.with_columns(
        target=pl.format("the output {}", "_row"),
        source=pl.concat_str(pl.lit("die Quelle "), *world.test_set.key, separator=" "),
    ).drop("_row")
    return assay.read_scores(frame)


@dataclass
class Lively:
    """A campaign that simulated raters work through, in process."""

    campaign: Campaign
    links: list[Link]
    thinks: Thinks
    test_set: TestSet

    def __post_init__(self) -> None:
        targets = self.test_set.frame["target"].to_list()
        self._place = {
            text: (int(system), int(segment))
            for text, system, segment in zip(targets, *self.test_set.positions, strict=True)
        }

    def score(self, text: str, rater: int) -> float:
        return self.thinks(*self._place[text], rater)

    def task(self, rater: int) -> bool:
        """Do one task; whether there was one."""
        link = self.links[rater]
        reply = self.campaign.next(link)
        if reply["state"] != "task":
            return False
        for screen in range(len(reply["screens"])):
            body = {"key": f"s{screen}", "timing": {"active_ms": 5000}}
            answers = self.answers(reply, screen, rater)
            self.campaign.send(link, reply["lease"], screen, body | {"answers": answers})
        return True

    def work(self, tasks: int = 10**6, raters: Sequence[int] | None = None) -> int:
        """Do so many tasks, in turn; how many were done."""
        own = range(len(self.links)) if raters is None else raters
        done = 0
        while done < tasks:
            before = done
            for rater in own:
                done += done < tasks and self.task(rater)
            if done == before:
                break
        return done

    def answers(self, reply: dict[str, Any], screen: int, rater: int) -> list[dict[str, Any]]:
        outputs = {one["code"]: one["texts"] for one in reply["outputs"]}
        codes = reply["screens"][screen]
        rated = [one["place"] for one in reply["segments"] if one["rate"]]
        if reply["protocol"] == "pairwise":
            left, right = (self.score(outputs[code][rated[0]], rater) for code in codes)
            best = codes[0] if left > right else codes[1]
            return [{"winner": None if left == right else best}]
        found: list[dict[str, Any]] = []
        for code in codes:
            for place in rated:
                text = outputs[code][place]
                if text is None:
                    continue
                if reply["protocol"] == "post-edit":
                    found.append(self.edit(code, place, text, rater))
                else:
                    score = self.score(text, rater)
                    found.append({"code": code, "place": place, "scores": {"score": score}})
        return found

    def edit(self, code: str, place: int, text: str, rater: int) -> dict[str, Any]:
        seconds = self.score(text, rater)
        edited = f"{text} and more" if seconds > 20 else text
        return {
            "code": code, "place": place, "edited": edited,
            "sessions": [{"active_ms": round(1000 * seconds), "idle_ms": 0, "hidden_ms": 0}],
        }  # fmt: skip


def scores_of(world: World) -> Thinks:
    """Whole scores from 0 to 100, the better the less is wrong."""
    badness = world.badness
    worst, best = np.quantile(badness, 0.995), badness.min()
    noise = np.random.default_rng(5).normal(0, NOISE, badness.shape)
    scores = np.clip(np.round(100 * (worst - badness) / (worst - best) + noise), 0, 100)
    return lambda system, segment, rater: float(scores[system, segment, rater])


def lively(
    place: Path | str, settings: Settings | None = None, *, documents: int = 12,
    systems: Any = 3, raters: int = 3, rng: int = 1, thinks: Thinks | None = None, **more: Any,
) -> Lively:  # fmt: skip
    """A running campaign without answers."""
    world = assay.simulate(documents=documents, systems=systems, raters=raters, rng=rng)
    test_set = with_texts(world)
    settings = settings or Settings(protocol="da", raters=Raters(number=raters, overlap="30%"))
    made = make(place, settings, test_set=test_set, rng=rng, **more)
    campaign = opened(place)
    links = rater_links(campaign, made)
    return Lively(campaign, links, thinks or scores_of(world), test_set)
