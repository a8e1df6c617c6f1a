"""How the answers of a campaign were collected: its plan, and what people decided on the way."""

from __future__ import annotations

from typing import Any

from assay.campaign.assignment.order import DEFAULT_OVERLAP
from assay.campaign.events import happened
from assay.campaign.live.beginning import LivePlan
from assay.campaign.records import Collected
from assay.campaign.store import browsing, looking
from assay.campaign.store.clock import iso
from assay.collecting.live import HowCollected, OwnerAct
from assay.designs.base import design_of
from assay.project.settings import Stop
from assay.results import percent


def how_collected(plan: LivePlan, rule: Stop, db: Any, collected: Collected) -> HowCollected:
    """What is known of it by now."""
    settings, test_set, sample = plan.settings, plan.test_set, plan.sample
    given = sorted(item.received for item in collected.answers)
    raters, overlap = settings.raters, settings.raters.overlap
    if overlap is None and plan.kind != "edits":
        overlap = percent(DEFAULT_OVERLAP)
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
