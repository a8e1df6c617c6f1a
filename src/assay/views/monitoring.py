"""A monitored campaign: whether it is enough, each pair's state, and what is missing."""

from __future__ import annotations

from assay.estimation.looks import Look
from assay.estimation.monitor import Monitored, Monitoring
from assay.results import plural
from assay.views.section import Block, Section, table


def monitoring_section(result: Monitoring) -> Section:
    """Whether enough has been rated."""
    each = "system" if result.goal == "score" else "pair of systems"
    level = f"{100 * result.level:g}% interval"
    blocks: list[Block] = [
        table(
            "monitoring",
            "Estimates from all segments rated in order so far. Reached at: the look that met the"
            " goal. Missing: segments until the next look, or until the one expected to meet the"
            " goal; after the last look, about how many more a score would take.",
            f"what:text = {each}; estimate; low,high:interval = {level}; "
            "interval:text = interval is; n:count = rated; winner:text = better; "
            "reached:count = reached at; more:count = missing",
            [_row(result, item) for item in result.items],
        )
    ]  # fmt: skip
    if result.looks and not result.guarantee:
        what = "Repeated confidence intervals, valid at all looks together: estimate ± limit ×"
        blocks.append(
            table(
                "looks",
                f"{what} standard error." if result.limits else "Every look.",
                f"what:text = {each}; n:count = look at; estimate; low,high:interval = {level}; "
                "limit; skipped:count; decided:text",
                [_look_row(look) for look in result.looks], where="page",
            )
        )  # fmt: skip
    if result.awaited:
        blocks.append(
            table(
                "awaited", "Segments that the next look waits for.",
                "place:count = place in order; segment:text; systems:text = missing of",
                [{"place": item.place, "segment": item.segment, "systems": ", ".join(item.systems)}
                 for item in result.awaited], where="page",
            )
        )  # fmt: skip
    return Section(
        "monitoring", "Is it enough?", _lead(result, each), tuple(blocks), result.signature,
        stage="collect", methods=_methods(result), sources=("lan1983",) if result.limits else (),
        notes=result.notes,
    )  # fmt: skip


def _methods(result: Monitoring) -> str:
    if not result.limits:
        return ""
    return (
        f"Differences were tested at {plural(len(result.planned), 'planned look')}, with limits"
        " that keep the error of all looks together (spending of O'Brien and Fleming's type)."
    )


def _row(result: Monitoring, item: Monitored) -> dict[str, object]:
    stands = None
    if result.planned:
        stands = "provisional" if item.orientation else "from a look"
        if result.goal == "score" and item.reached is not None and not item.orientation:
            stands = "as narrow as wanted"
    return {
        "what": item.what, "estimate": item.estimate, "low": item.low, "high": item.high,
        "interval": stands, "n": item.n, "winner": item.winner, "reached": item.reached,
        "more": item.more,
    }  # fmt: skip


def _look_row(look: Look) -> dict[str, object]:
    return {
        "what": look.what, "n": look.n, "estimate": look.estimate,
        "low": look.ends[0], "high": look.ends[1],
        "limit": look.limit, "skipped": look.skipped or None, "decided": look.decided or None,
    }  # fmt: skip


def _lead(result: Monitoring, each: str) -> str:
    """The verdict, the goal, and how many looks are past."""
    open_ = [item for item in result.items if item.reached is None]
    if not result.stop:
        verdict = "More has to be rated: go on"
    elif not open_:
        verdict = "Enough has been rated: stop"
    else:
        why = "Everything is rated" if result.n == result.population else "No look is left"
        things = "systems" if result.goal == "score" else "pairs"
        verdict = (
            f"{why}: stop; the goal is not met for {len(open_)} of {len(result.items)} {things}"
        )
    goals = [] if result.goal == "score" else ["a decision"]
    if result.target is not None:
        goals.append(f"an interval of ±{result.target:g}")
    lead = (
        f"{verdict}. {result.n:,} of {result.population:,} segments are rated in order. The goal"
        f" is {' or '.join(goals)} for every {each}."
    )
    if result.guarantee:
        return f"{lead} You may look as often as you like (any-time betting interval)."
    if not result.planned:
        return lead  # saved before looks were planned
    past = sum(any(look.n == n for look in result.looks) for n in result.planned)
    verb = "has" if past == 1 else "have"
    lead += f" {past} of {plural(len(result.planned), 'planned look')} {verb} taken place."
    coming = [n for n in result.planned if all(look.n < n for look in result.looks)]
    if not result.stop and coming:
        away = f", {result.pay.counted(result.ahead)} away" if result.ahead else ""
        lead += f" The next is at {coming[0]:,} segments{away}."
    if any(item.orientation for item in open_):
        lead += " Between looks, numbers are provisional."
    return lead
