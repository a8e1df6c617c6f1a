"""Plans: how much is needed, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from assay.planning.editors import EditorsPlan
from assay.planning.judgments import JudgmentsPlan
from assay.planning.ratings import ComparisonPlan, PrecisionPlan, RatingsPlan
from assay.results import percent, plural
from assay.views.section import Block, Section, Show, Table, shown, table


def ratings_section(plan: RatingsPlan) -> Section:
    """How many segments to rate."""
    lead = "What a number of ratings brings."
    if plan.needed is not None:
        lead = (
            f"For intervals of ±{plan.half_width:g}, {plan.needed:,} of"
            f" {plural(plan.population, 'segment')} have to be rated for each"
            f" system{_with_metrics(plan)}."
        )
    caption = f"Ratings per system, and half the width of their {percent(plan.level)} interval."
    return Section(
        "plan-ratings", "The plan: ratings", lead,
        (_curve("plan-ratings", caption, plan), *_totals(plan)), plan.signature, stage="plan",
        notes=plan.notes,
    )  # fmt: skip


def comparison_section(plan: ComparisonPlan) -> Section:
    """How many segments to rate to find a difference."""
    caption = (
        f"Segments rated for both systems, half the width of the {percent(plan.level)} interval of"
        f" their difference, and the power to find a gap of {plan.gap:g}."
    )
    return Section(
        "plan-comparison", "The plan: two systems",
        f"To find a gap of {plan.gap:g} with {plan.power:.0%} probability, {plan.needed:,} of"
        f" {plural(plan.population, 'segment')} have to be rated for both"
        f" systems{_with_metrics(plan)}.",
        (_curve("plan-comparison", caption, plan), *_totals(plan)), plan.signature, stage="plan",
        notes=plan.notes,
    )  # fmt: skip


def _with_metrics(plan: PrecisionPlan) -> str:
    fewer = plan.needed_with_metrics
    if fewer is None:
        return ""
    return f", or {fewer:,} with the help of metrics (correlation {plan.correlation:.2f})"


def _curve(name: str, caption: str, plan: PrecisionPlan) -> Table:
    return table(
        name, caption,
        {"n": ("segments", "count"), "share": ("share", "percent"),
         "half_width": ("half-width", "number"),
         "half_width_with_metrics": ("with metrics", "number"), "power": ("power", "percent"),
         "power_with_metrics": ("power with metrics", "percent"), "minutes": ("minutes", "count"),
         "money": ("cost", "money")},
        plan.curve,
    )  # fmt: skip


def _totals(plan: PrecisionPlan) -> list[Block]:
    """How sure the number is, and what it comes to."""
    lines: list[Block] = []
    if plan.needed_range is not None:
        low, high = plan.needed_range
        lines.append(f"The pilot leaves the sd uncertain: {low:,} to {high:,} segments.")
    if plan.minutes is not None or plan.money is not None:
        effort = _effort(plan.minutes, plan.money)
        lines.append(f"In all {plan.ratings:,.0f} ratings: {effort}.")
    return lines


def _effort(minutes: float | None, money: float | None) -> str:
    parts = [] if minutes is None else [f"{minutes:,.0f} minutes"]
    parts += [] if money is None else [f"a cost of {money:,.2f}"]
    return " and ".join(parts)


def judgments_section(plan: JudgmentsPlan) -> Section:
    """How many judgments to collect."""
    goal = {
        "significant": f"{percent(plan.target)} of the pairs decided",
        "clusters": f"{plan.target:g} clusters",
        "range_size": f"rank ranges of {plan.target:g} ranks",
    }[plan.goal]
    takes = "is out of reach" if plan.needed is None else f"takes {plan.needed:,} judgments"
    if math.isinf(plan.sigma):
        takes = "cannot be planned from this pilot"
    return Section(
        "plan-judgments", "The plan: judgments",
        f"With {plural(plan.systems, 'system')} and sigma {plan.sigma:.3g}, {goal} {takes}"
        f" ({_by(plan.test)}, {'one' if plan.sides == 1 else 'two'}-sided at"
        f" {1 - plan.level:.2g}).",
        (_judgments_curve(plan), *_judgments_lines(plan)), plan.signature, stage="plan",
        sources=("koehn2012",), notes=plan.notes,
    )  # fmt: skip


def _by(test: str) -> str:
    return "by bootstrap" if test == "bootstrap" else f"by {test} test"


def _judgments_curve(plan: JudgmentsPlan) -> Table:
    columns: dict[str, tuple[str, Show]] = {
        "share": ("decided", "percent"),
        "sign": ("sign test", "count"),
        "pooled": ("pooled test", "count"),
    }
    if plan.judged:  # without a pilot, what is left to collect is everything
        columns["more_sign"] = ("more, sign test", "count")
        columns["more_pooled"] = ("more, pooled test", "count")
    caption = "Judgments for a share of decided pairs, by the test that decides."
    return table("plan-judgments", caption, columns, plan.curve)


def _judgments_lines(plan: JudgmentsPlan) -> list[Block]:
    needed = ", ".join(
        f"{'out of reach' if total is None else f'{total:,}'} {_by(test)}"
        for test, total in plan.needed_by.items()
    )
    lines: list[Block] = [] if math.isinf(plan.sigma) else [f"Needed: {needed}."]
    if plan.judged and plan.more is not None:
        lines.append(f"Still to collect {_by(plan.test)}: {plan.more:,}.")
    if plan.needed_range is not None:
        low, high = (shown(end, "count") for end in plan.needed_range)
        lines.append(f"The pilot leaves sigma uncertain: {low} to {high} {_by(plan.test)}.")
    if plan.minutes is not None or plan.money is not None:
        left = " still" if plan.judged else ""
        lines.append(f"That takes{left} {_effort(plan.minutes, plan.money)} ({_by(plan.test)}).")
    if plan.reached is not None and plan.observed is not None:
        lines.append(
            f"The {plan.judged:,} judgments so far should decide {plan.reached['sign']:.0%} of"
            f" pairs by sign test and {plan.reached['pooled']:.0%} by pooled test; they decide"
            f" {plan.observed['sign']:.0%} and {plan.observed['pooled']:.0%}."
        )
    if plan.votes is not None:
        lines.append(
            f"A further set on every segment is worth {plan.votes.worth:.2f} sets on new segments"
            f" (segments have {plan.votes.per_segment:.1f} sets now)."
        )
    return lines


def editors_section(plan: EditorsPlan) -> Section:
    """How many editors to ask."""
    takes = (
        "no number of editors is enough: the gap is too small" if plan.needed is None
        else f"it takes {plural(plan.needed, 'editor')}"
    )  # fmt: skip
    if plan.complete != plan.needed:
        takes += f"; {plan.complete:,} complete the design"
    points = table(
        "plan-editors", "What a number of editors can find.",
        {"editors": ("editors", "count"), "power": ("power", "percent"),
         "detectable": (f"gap found with power {plan.power:.0%}", "number")},
        plan.points,
    )  # fmt: skip
    assumed = (
        f"Assumed: {plural(plan.segments, 'segment')} a document, the order of documents"
        f" {'' if plan.place else 'not '}allowed for; variances {plan.cell:g} (editor x document)"
        f" and {plan.residual:g} (residual), {plan.source}."
    )
    return Section(
        "plan-editors", "The plan: editors",
        f"To find a gap of {plan.gap:g} in {plan.measure} between two of"
        f" {plural(plan.systems, 'system')} with {plan.power:.0%} probability, {takes}.",
        (points, assumed), plan.signature, stage="plan",
        sources=("korotaev2022",) if plan.source == "korotaev2022" else (), notes=plan.notes,
    )  # fmt: skip


SECTIONS: Mapping[str, Callable[[Any], Section]] = {
    "plan-ratings": ratings_section,
    "plan-comparison": comparison_section,
    "plan-judgments": judgments_section,
    "editors-plan": editors_section,
}
