"""What is fixed before the first answer, and how much of the order is complete.

People finish easy work first, so a mean of everything collected looks better than it is, and how
far the order has come at a given hour depends on how hard the work was. A look therefore takes
place when the complete beginning of the order reaches a planned size, on the answers sent by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from assay.campaign.exchange.export import table_of
from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import Kind, Protocol
from assay.campaign.records import Collected
from assay.campaign.store import browsing, looking
from assay.campaign.store.browsing import happened
from assay.campaign.store.clock import iso
from assay.campaign.store.looking import PlacedTask, TaskState
from assay.collecting.assign import USUAL_OVERLAP
from assay.collecting.live import HowCollected, OwnerAct
from assay.designs.base import design_of
from assay.project.settings import Settings, Stop
from assay.results import percent
from assay.stats.looks import planned_sizes
from assay.tables.answers import Edits, Judgments, read_edits, read_judgments
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_sample, read_scores

FIRST_SCORES = 60
"""With the goal ``score``, no look comes before this many segments."""


@dataclass(frozen=True)
class LivePlan:
    """What is fixed before the first answer: tasks, sample and looks.

    ``ends[k]`` is the size of the beginning once the first k tasks are complete: in segments if
    ratings are collected, else in tasks.
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
        """The kind of answers that are collected."""
        return self.protocol.kind

    @property
    def total(self) -> int:
        """The size of the whole order."""
        return int(self.ends[-1])

    @property
    def watched(self) -> bool:
        """Whether every beginning is a sample, so that planned looks may decide."""
        return self.kind == "ratings" and _every_beginning(self.sample)

    def tasks_for(self, n: int) -> int:
        """The number of tasks that make a beginning of this size."""
        return int(np.searchsorted(self.ends, n))


@dataclass(frozen=True, slots=True)
class Beginning:
    """How many tasks of the order are complete without a gap."""

    tasks: int
    with_excluded: int
    """How many would be, with the answers of excluded raters."""


def make_plan(collected: Collected, tasks: Sequence[PlacedTask], settings: Settings) -> LivePlan:
    """Lay out what is fixed: test set, sample, order and planned looks."""
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
    """How many segments of the sample's order the first k tasks complete, for every k.

    A segment without outputs is in no task, so nothing waits for it.
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


def beginning_of(states: Sequence[TaskState]) -> Beginning:
    """How far the order is complete without a gap."""
    complete = sum(1 for _ in takewhile(lambda one: one.closed is not None, states))
    had = sum(1 for _ in takewhile(lambda one: one.closed is not None or one.had, states))
    return Beginning(complete, had)


def reached_at(states: Sequence[TaskState], tasks: int) -> int:
    """When the first ``tasks`` tasks were all complete for the first time."""
    return max(one.closed for one in states[:tasks] if one.closed is not None)


def ratings_of(plan: LivePlan, collected: Collected, scale: str | None = None) -> Ratings | None:
    """The ratings as exported, or None."""
    frame = table_of(collected, "ratings" if scale is None else f"ratings-{scale}")
    if frame is None or frame["score"].null_count() == frame.height:
        return None
    return read_ratings(
        frame, plan.test_set, better=plan.protocol.better, range=plan.protocol.range
    )


def judgments_of(collected: Collected) -> Judgments | None:
    """The judgments as exported, or None."""
    frame = table_of(collected, "judgments")
    return None if frame is None else read_judgments(frame)


def edits_of(collected: Collected) -> Edits | None:
    """The edits as exported, or None."""
    frame = table_of(collected, "edits")
    return None if frame is None else read_edits(frame)


def scales_of(plan: LivePlan) -> tuple[str, ...]:
    """The scales of the protocol; looks use the first."""
    return tuple(str(scale["name"]) for scale in plan.protocol.wire()["scales"])


def how_collected(plan: LivePlan, rule: Stop, db: Any, collected: Collected) -> HowCollected:
    """Describe how the answers were collected, and what people decided on the way."""
    settings, test_set, sample = plan.settings, plan.test_set, plan.sample
    given = sorted(item.received for item in collected.answers)
    raters, overlap = settings.raters, settings.raters.overlap
    if overlap is None and plan.kind != "edits":
        overlap = percent(USUAL_OVERLAP)
    return HowCollected(
        protocol=str(settings.protocol), state=looking.read_state(db),
        languages=settings.screen.languages,
        design="" if sample is None else design_of(sample.design).described,
        segments=test_set.segments.height if sample is None else len(sample),
        population=test_set.segments.height,
        documents=test_set.documents.height if test_set.has_documents else None,
        systems=len(test_set.systems), raters=len({item.rater for item in collected.answers}),
        per_task=raters.per_task, overlap=overlap, checks=settings.checks.share,
        repeats=settings.checks.repeats, side_by_side=settings.screen.outputs,
        looks=len(plan.sizes), target=rule.target,
        began=iso(given[0]) if given else None, ended=iso(given[-1]) if given else None,
        acts=tuple(
            OwnerAct(iso(act.at), act.actor, *happened(act)) for act in browsing.read_acts(db)
        ),
        version=", ".join(sorted({item.version for item in collected.answers})),
    )  # fmt: skip
