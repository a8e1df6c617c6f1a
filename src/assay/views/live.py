"""A campaign while it runs: where systems stand, what looks decided, what is still to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from assay.collecting.live import CampaignResults, LivePair, LiveSystem, LookTaken
from assay.results import percent, plural
from assay.views.effort import costs_table
from assay.views.estimation import composite_section
from assay.views.raters import raters_section
from assay.views.section import (
    Bar,
    Block,
    Section,
    Table,
    cluster_lines,
    some,
    table,
    with_bars,
)

MEASURES = {"ratings": "score", "judgments": "score", "edits": "effort"}
MOST_PAIRS = 66
MAY_CLAIM = (
    "Verdicts are those of the planned looks; numbers between looks, and everything that has no"
    " verdict, are for orientation."
)
ANY_TIME = "Verdicts are any-time ones, which hold however often one looks."
AT_THE_END = (
    "Nothing is decided before the last task is done; until then numbers are for orientation."
)


def results_section(result: CampaignResults) -> Section:
    """What may be said now, and what the next look waits for."""
    blocks: list[Block] = []
    if result.systems:
        blocks.append(_systems(result))
    if result.pairs:
        blocks.append(_pairs(result))
    if result.looks:
        blocks.append(_looks(result))
    if result.undecided:
        blocks.append(_undecided(result))
    if result.outcome.effort is not None and (costs := costs_table(result.outcome.effort)):
        blocks.append(costs)
    if result.everybody is not None:
        blocks.append(_both(result))
    if result.left_out:
        blocks.append(_left_out(result))
    blocks.append(_rule(result))
    more = []
    estimates = result.outcome.estimates
    if estimates is not None and estimates.composite is not None:
        more.append(composite_section(estimates.composite, estimates))
    if result.raters is not None:
        more.append(raters_section(result.raters))
    return Section(
        "campaign-results", f"{result.name}: as of {result.as_of[11:16]} UTC", _lead(result),
        tuple(blocks), result.signature, stage="collect", headline=_headline(result),
        details="Pairs, looks and prices", next=result.next, notes=result.notes, more=tuple(more),
    )  # fmt: skip


def _rule(result: CampaignResults) -> str:
    if result.verdicts is not None:
        return ANY_TIME
    return MAY_CLAIM if len(result.planned) > 1 else AT_THE_END


def _headline(result: CampaignResults) -> str:
    """How many pairs are decided."""
    if not result.systems:
        return "No result yet."
    decided = sum(pair.decided for pair in result.pairs)
    if result.goal_met is not None:
        return f"The goal was reached at look {result.goal_met}."
    if not result.pairs:
        return ""
    after = f" after look {len(result.looks)}" if result.looks else ""
    verb = "is" if decided == 1 else "are"
    return f"{decided} of {plural(len(result.pairs), 'pair')} {verb} decided{after}."


def _lead(result: CampaignResults) -> str:
    lines = [
        f"The first {result.n:,} of {plural(result.total, result.unit)} are complete,"
        f" {plural(result.used, 'answer')}."
    ]
    if result.waiting:
        verb = "waits" if result.waiting == 1 else "wait"
        lines.append(f"{plural(result.waiting, 'answer')} {verb} behind a gap.")
    look = result.next_look
    if look is not None:
        lines.append(f"Next look at {plural(look.n, result.unit)}: {look.missing:,} to go.")
    resting = [item.system for item in result.systems if item.rests_since is not None]
    if resting:
        lines.append(f"Resting: {some(resting)}.")
    if result.systems and result.orientation and result.verdicts is None:
        lines.append("The numbers are for orientation only.")
    return " ".join(lines)


def _systems(result: CampaignResults) -> Table:
    level = percent(result.level)
    both = any(item.basis == "raters" for item in result.systems)
    heading = f"{level}, raters like these" if both else f"{level} interval"
    shown = f"system:text; estimate = {MEASURES[result.collects]}; low,high:interval = {heading}"
    if both:
        shown += f"; answers_low,answers_high:interval = {level}, these answers"
    shown += "; low_rank,high_rank:ranks = ranks; cluster:count; answers:count"
    shown += "; rests_since:count = rests since look"
    caption = "Ranks and clusters follow the decided pairs alone."
    if result.collects == "ratings":
        caption = f"Dot: estimate; bar: {heading}. {caption}"
    rows = [asdict(item) for item in result.systems]
    found = table("systems", caption, shown, rows, cluster_lines(result.systems))
    if any(item.low is None or item.high is None for item in result.systems):
        return found
    return with_bars(
        found, map(_bar, result.systems), MEASURES[result.collects], ranks="roomy",
        cluster="roomy", answers="roomy",
    )  # fmt: skip


def _bar(item: LiveSystem) -> Bar:
    low = item.estimate if item.low is None else item.low
    high = item.estimate if item.high is None else item.high
    return Bar(item.estimate, low, high)


def _pairs(result: CampaignResults) -> Table:
    rows = [asdict(pair) | {"stands": _stands(pair)} for pair in result.pairs[:MOST_PAIRS]]
    caption = "The better system on the left. Interval: that of the looks, right at all of them"
    caption += " together, or an ordinary one where it is for orientation."
    return table(
        "pairs", caption if result.monitoring is not None else "The better system on the left.",
        "left:text; right:text; difference; "
        f"low,high:interval = {percent(result.level)} interval; stands:text = verdict", rows,
    )  # fmt: skip


def _stands(pair: LivePair) -> str:
    if pair.decided:
        return "decided" if pair.look is None else f"decided at look {pair.look}"
    return "open (orientation)" if pair.orientation else "open"


def _looks(result: CampaignResults) -> Table:
    return table(
        "looks", "Planned looks that took place. Limit: of the difference in standard errors.",
        f"number:count = look; n:count = {result.unit}s; at:text = reached; answers:count; limit; "
        "decided,pairs:of = decided; met:text = goal",
        [_look_row(look) for look in result.looks],
    )  # fmt: skip


def _look_row(look: LookTaken) -> Mapping[str, object]:
    return {
        "number": look.number, "n": look.n, "at": look.at[:16].replace("T", " "),
        "answers": look.answers, "limit": look.limit, "decided": look.decided,
        "pairs": look.pairs, "met": "reached" if look.met else None,
    }  # fmt: skip


def _undecided(result: CampaignResults) -> Table:
    rows = [
        asdict(pair) | {"cost": result.pay.cost(pair.ratings) or None}
        for pair in result.undecided[:MOST_PAIRS]
    ]
    return table(
        "undecided", "Open pairs, and about how many more ratings decide each with 80% probability;"
        " where there is no number, more segments of this test set will not do it.",
        "left:text; right:text; ratings:count = more ratings; cost:text", rows,
    )  # fmt: skip


def _both(result: CampaignResults) -> Table:
    everybody = result.everybody
    found = None if everybody is None else everybody.found
    with_all = {} if found is None else {
        item.system: _number(item, result) for item in found.systems
    }  # fmt: skip
    return table(
        "with-and-without", "Both results: without those who are left out, and with everybody.",
        "system:text; estimate = without them; everybody = with everybody",
        [{"system": item.system, "estimate": item.estimate, "everybody": with_all.get(item.system)}
         for item in result.systems],
    )  # fmt: skip


def _number(item: object, result: CampaignResults) -> object:
    """A system's score, whatever it is called."""
    for name in ("estimate", "score"):
        if hasattr(item, name):
            return getattr(item, name)
    measures: Mapping[str, object] = getattr(item, "measures", {})
    first = next(iter(measures.values()), None)
    return getattr(first, "mean", None)


def _left_out(result: CampaignResults) -> Table:
    return table(
        "left-out", "Raters who are left out.",
        "rater:text; at:text = since; reason:text = why; answers:count",
        [asdict(item) | {"at": item.at[:16].replace("T", " ")} for item in result.left_out],
    )  # fmt: skip
