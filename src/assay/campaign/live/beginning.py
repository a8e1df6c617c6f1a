"""The beginning of the order that is complete: the part of what came in that is a sample.

People finish easy work first, so "all that is in" looks better than it is, and how far the order
has come at an hour depends on how hard it was. So a look takes place when the beginning reaches a
size that was planned, on what had been sent at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from assay.campaign.exchange.rows import table_of
from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import Kind, Protocol
from assay.campaign.records import Collected
from assay.campaign.store.looking import PlacedTask, TaskState
from assay.designs.base import design_of
from assay.project.settings import Settings
from assay.stats.looks import planned_sizes
from assay.tables.edits import Edits, read_edits
from assay.tables.judgments import Judgments, read_judgments
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_sample, read_scores

FIRST_SCORES = 60
"""The goal score waits for so many segments."""


@dataclass(frozen=True)
class LivePlan:
    """What is fixed before the first answer: tasks, sample, and when to look.

    ``ends`` says how much of the order is complete after each number of tasks, from none to all:
    segments where ratings are collected, else tasks.
    """

    settings: Settings
    protocol: Protocol
    test_set: TestSet
    sample: Sample | None
    tasks: Sequence[PlacedTask]
    ends: np.ndarray
    sizes: tuple[int, ...]

    @property
    def kind(self) -> Kind:
        """What is collected."""
        return self.protocol.kind

    @property
    def total(self) -> int:
        """How much there is of what ``ends`` counts."""
        return int(self.ends[-1])

    @property
    def watched(self) -> bool:
        """Whether every beginning is a sample, so that planned looks may decide."""
        return self.kind == "ratings" and _every_beginning(self.sample)

    def tasks_for(self, n: int) -> int:
        """The tasks that must be complete for a beginning of this size."""
        return int(np.searchsorted(self.ends, n))


@dataclass(frozen=True, slots=True)
class Begun:
    """How many tasks of the order are complete, and how many would be with everybody's answers."""

    tasks: int
    had: int


def make_plan(collected: Collected, tasks: Sequence[PlacedTask], settings: Settings) -> LivePlan:
    """What is fixed, from what came in."""
    protocol = make_protocol(settings)
    test_set = read_scores(
        collected.scores, metrics=settings.metrics, lower_metrics=settings.lower_metrics
    )
    sample = None if collected.sample is None else read_sample(collected.sample, test_set)
    ends = np.arange(len(tasks) + 1)
    if protocol.kind == "ratings" and sample is not None:
        ends = _segment_ends(sample, test_set, tasks)
    return LivePlan(
        settings, protocol, test_set, sample, tasks, ends,
        _sizes(ends, settings, protocol.kind, _every_beginning(sample)),
    )  # fmt: skip


def _every_beginning(sample: Sample | None) -> bool:
    if sample is None or not sample.matched or "order" not in sample.frame.columns:
        return False
    return design_of(sample.design).is_sample(len(sample))


def _segment_ends(sample: Sample, test_set: TestSet, tasks: Sequence[PlacedTask]) -> np.ndarray:
    """How many segments of the sample's order are in once the first p tasks are, for every p.

    A segment without any output is in no task, and nobody waits for it.
    """
    last = np.full(test_set.segments.height, -1)
    for number, task in enumerate(tasks):
        last[list(task.segments)] = number
    order = sample.order(test_set)
    if not sample.matched:
        order = np.array(list(dict.fromkeys(order.tolist())))
    needed = np.maximum.accumulate(last[order])
    return np.searchsorted(needed, np.arange(len(tasks) + 1))


def _sizes(
    ends: np.ndarray, settings: Settings, kind: Kind, every_beginning: bool
) -> tuple[int, ...]:
    """The planned looks; a single one at the end where no beginning may decide."""
    total = int(ends[-1])
    several = kind == "judgments" or (kind == "ratings" and every_beginning)
    if settings.stop.goal == "budget" or not several:
        return (total,)
    sizes = planned_sizes(total, settings.stop.looks)
    if settings.stop.goal == "score":
        sizes = tuple(n for n in sizes if n >= min(FIRST_SCORES, total))
    reached = ends[np.searchsorted(ends, sizes)]
    return tuple(dict.fromkeys(reached.tolist()))


def begun(states: Sequence[TaskState]) -> Begun:
    """How far the order is complete."""
    complete = sum(1 for _ in takewhile(lambda one: one.closed is not None, states))
    had = sum(1 for _ in takewhile(lambda one: one.closed is not None or one.had, states))
    return Begun(complete, had)


def reached_at(states: Sequence[TaskState], tasks: int) -> int:
    """When the first so many tasks were complete for the first time."""
    return max(one.closed for one in states[:tasks] if one.closed is not None)


def ratings_of(plan: LivePlan, collected: Collected, scale: str | None = None) -> Ratings | None:
    """The ratings as export writes them; None where there are none."""
    frame = table_of(collected, "ratings" if scale is None else f"ratings-{scale}")
    if frame is None or frame["score"].null_count() == frame.height:
        return None
    return read_ratings(
        frame, plan.test_set, better=plan.protocol.better, range=plan.protocol.range
    )


def judgments_of(collected: Collected) -> Judgments | None:
    """The judgments as export writes them."""
    frame = table_of(collected, "judgments")
    return None if frame is None else read_judgments(frame)


def edits_of(collected: Collected) -> Edits | None:
    """The edits as export writes them."""
    frame = table_of(collected, "edits")
    return None if frame is None else read_edits(frame)


def scales_of(plan: LivePlan) -> tuple[str, ...]:
    """The scales that are asked, the one that looks go by first."""
    return tuple(str(scale["name"]) for scale in plan.protocol.wire()["scales"])
