"""A rehearsal: simulated raters work through a campaign, and its checks are tested on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.exchange.export import tables_of
from assay.campaign.protocols import make_protocol
from assay.campaign.records import Collected
from assay.campaign.simulated.raters import Opinions, SteppedClock, manners, simulate_raters
from assay.collecting.results import SimulatedRater, Simulation
from assay.errors import InputError
from assay.estimation.raters import MIN_CHECKS, rater_report
from assay.project.settings import Settings
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded, spawn
from assay.tables.tables import TestSet, read_ratings, read_scores

Serving = Callable[[Campaign], AbstractContextManager[str]]
"""Serves a campaign until the block ends; yields the address."""

USUAL_RATERS = 20
SIGNS = {"checks", "disagrees", "fast", "constant"}
"""Reasons to stand out that suggest a careless rater."""


def rehearse(
    place: str | os.PathLike[str],
    serving: Serving,
    tokens: Mapping[str, str],
    *,
    raters: int | Sequence[str] | None = None,
    careless: int = 0,
    leaving: int = 0,
    rng: Rng = None,
    progress: Progress = silent,
) -> Simulation:
    """Let simulated raters work through a campaign that has no answers yet.

    ``tokens`` are those of the campaign's raters; more raters are added if needed. Some are quick,
    some slow, ``careless`` ones answer at random, ``leaving`` ones stop in the middle of a task.
    Without ``raters`` there are 20, or as many as there are editors.
    """
    generator, seed = seeded(rng)
    choosing, thinking, working = spawn(generator, 3)
    if raters is None:  # the tasks of kits belong to editors, and nobody else gets any
        with open_campaign(place) as campaign:
            fixed = make_protocol(campaign.settings).kind == "edits" and bool(tokens)
        raters = len(tokens) if fixed else USUAL_RATERS
    if isinstance(raters, int):
        more = [f"simulated-{number + 1}" for number in range(raters - len(tokens))]
        raters = [*tokens, *more][:raters]
    ways = manners(len(raters), careless, leaving, choosing)
    clock = SteppedClock()
    with open_campaign(place, clock=clock) as campaign:
        status = campaign.status()
        if status.answers:
            raise InputError(
                f"the campaign already has {status.answers:,} answers; create another to rehearse"
            )
        campaign.open("simulation", None)
        added = campaign.add_raters([name for name in raters if name not in tokens])
        known = {**tokens, **{item["rater"]: item["token"] for item in added}}
        tokens = {name: known[name] for name in raters}
        test_set = read_scores(campaign.collected().scores)
        lessons = _qualities(campaign)
        opinions = Opinions(test_set, len(raters), lessons=lessons, rng=thinking)
        done: tuple[SimulatedRater, ...] = ()
        answers, begun, ended = 0, clock.now(), clock.now()
        with serving(campaign) as address:
            for done in simulate_raters(address, tokens, ways, opinions, clock, rng=working):
                before, answers = answers, sum(one.answers for one in done)
                if answers > before:
                    ended = clock.now()
                progress("tasks", sum(one.tasks for one in done), status.tasks)
        out = [one.rater for one in campaign.status().raters if one.state == "excluded"]
        named = *out, *named_raters(campaign.collected(), test_set, campaign.settings)
    tasks, hours = sum(one.tasks for one in done), (ended - begun) / 3_600_000
    return Simulation(done, tasks, answers, hours, named, seed)


def _qualities(campaign: Campaign) -> dict[tuple[str | None, str | None], float]:
    """The quality of the texts of tutorial and test, from 0 to 1."""
    protocol = make_protocol(campaign.settings)
    low, high = protocol.range or (0.0, 100.0)
    found = {}
    for one in campaign.lessons():
        share = ((one["low"] + one["high"]) / 2 - low) / (high - low)
        found[one["source"], one["target"]] = 1 - share if protocol.better == "lower" else share
    return found


def named_raters(collected: Collected, test_set: TestSet, settings: Settings) -> tuple[str, ...]:
    """The raters who seem careless by their checks, or without checks by agreement and haste.

    Only ratings allow this. Severe or lenient raters are not careless, nor are raters who pass
    their checks.
    """
    tables = tables_of(collected)
    rated = [frame for name, frame in tables.items() if name.partition("-")[0] == "ratings"]
    if not rated:
        return ()
    ratings = read_ratings(rated[0], test_set, better=make_protocol(settings).better)
    return tuple(
        one.rater
        for one in rater_report(test_set, ratings).raters
        if SIGNS & {*one.reasons} and ("checks" in one.reasons or one.checks < MIN_CHECKS)
    )
