"""Plans: how much is needed, before anything is spent."""

from __future__ import annotations

import math
from dataclasses import asdict

from assay.pay import parse_amount
from assay.planning.campaign import CampaignPlan, PlanChoice
from assay.planning.editors import EditorsPlan
from assay.planning.judgments import JudgmentsPlan
from assay.planning.results import ComparisonPlan, PlanPoint, PrecisionPlan, RatingsPlan, Widest
from assay.planning.spread import ABOUT_AS_GOOD, Split
from assay.results import Costs, has_note, percent, plural
from assay.views.section import Block, Section, Table, shown, table

WAYS = {
    "plan": "this plan", "half": "half of it", "share": "of the test set",
    "second-opinions": "two raters for everything",
}  # fmt: skip
SPREADS = {"pilot": "the pilot", "korotaev2022": "korotaev2022"}


def plan_campaign_section(plan: CampaignPlan) -> Section:
    """What a budget finds, or what a goal takes."""
    first = plan.choices[0] if plan.choices else None
    several = plan.systems > 1
    shown = f"way:text = ; segments:count; ratings:count; finds = finds ({plan.power:.0%})"
    shown += f"; half_width = score ±; minutes:count; money:money = {plan.pay.currency or 'cost'}"
    rows = [
        {**asdict(choice), "way": _way(plan, choice), "finds": choice.finds if several else None}
        for choice in plan.choices
    ]
    caption = (
        "Ways to spend it. Finds: the smallest true difference between two systems that is"
        f" detected with {plan.power:.0%} probability, for raters like these. Score ±: half the"
        f" {percent(plan.level)} interval of a system's score."
    )
    blocks: list[Block] = [table("plan-campaign", caption, shown, rows)] if rows else []
    return Section(
        "plan-campaign", "The plan", " ".join(_campaign_lead(plan, first)), tuple(blocks),
        plan.signature, stage="plan", notes=plan.notes,
    )  # fmt: skip


def _way(plan: CampaignPlan, choice: PlanChoice) -> str:
    if choice.what == "share" and plan.population:
        return f"{choice.segments / plan.population:.0%} {WAYS['share']}"
    return WAYS[choice.what]


def _campaign_lead(plan: CampaignPlan, first: PlanChoice | None) -> list[str]:
    """The answer in sentences."""
    if first is None:
        return ["The goal is out of reach."]
    if plan.goal == "shares" and plan.population:
        return [f"{plural(plan.systems, 'system')} x {plural(plan.population, 'segment')}: what"
                " it takes to rate a share of them, and what that finds."]  # fmt: skip
    extent = _priced(plan, plan.pay, first)
    if plan.goal == "budget":
        goal = _bought_by_budget(plan, first)
    elif plan.goal == "decide":
        goal = f"Detecting a true difference of {plan.decide:g} with {plan.power:.0%} probability"
        goal += f" takes {extent}"
    else:
        goal = f"Intervals of ±{plan.half_width:g} take {extent}"
    sign = "" if goal.endswith("for") else ":"
    lines = [f"{goal}{sign} {plural(plan.systems, 'system')} x {_segments(plan, first)}."]
    if plan.systems > 1:
        if plan.goal != "decide":
            lines.append(
                f"A difference of {first.finds:.2g} is detected with {plan.power:.0%} probability."
            )
        others = {choice.what: choice for choice in plan.choices[1:]}
        said = []
        if "half" in others:
            said.append(f"half of it detects {others['half'].finds:.2g}")
        if "second-opinions" in others:
            said.append(
                "a second opinion on everything instead of new segments detects"
                f" {others['second-opinions'].finds:.2g}"
            )
        if said:
            text = "; ".join(said)
            lines.append(f"{text[0].upper()}{text[1:]}.")
    return lines


def _bought_by_budget(plan: CampaignPlan, first: PlanChoice) -> str:
    """What the budget comes to; what it costs where it does not say so itself."""
    written = (plan.budget or "").strip()
    if written.removesuffix("%").replace(".", "", 1).isdecimal():
        return f"{written} is {_priced(plan, plan.pay, first)}"
    unit, pay = parse_amount(written).unit, plan.pay
    if has_note(plan.notes, "budget-left"):
        everything = _priced(plan, pay, first)
        verb = "are" if unit == "ratings" else "buys"
        return f"{written} {verb} more than there is to rate: everything takes {everything}"
    if unit == "ratings":
        cost = pay.cost(first.ratings * (1 + plan.checks))
        checks = ", checks included," if plan.checks else ""
        return f"{written}{cost and f' ({cost})'}{checks} are enough for"
    time_alone = Costs(seconds_per_rating=pay.seconds_per_rating)
    other = Costs(pay.price, currency=pay.currency) if unit == "minutes" else time_alone
    return f"{written} buys {_priced(plan, other, first)}"


def _priced(plan: CampaignPlan, pay: Costs, choice: PlanChoice) -> str:
    """The ratings of a choice and what they cost, checks included."""
    cost = pay.cost(choice.ratings * (1 + plan.checks))
    more = f" and {percent(plan.checks)} more as checks" if plan.checks else ""
    return f"{choice.ratings:,} ratings{more}" + (f" ({cost})" if cost else "")


def _segments(plan: CampaignPlan, choice: PlanChoice) -> str:
    extra = choice.opinions - plan.per_output
    per_output = plan.per_output
    if extra > 0.9995:
        per_output, extra = per_output + 1, 0.0
    times = {1: "once", 2: "twice"}.get(per_output, f"{per_output} times")
    text = f"{plural(choice.segments, 'segment')} {times}"
    more = {1: "twice"}.get(plan.per_output, "once more")
    return f"{text} + {percent(round(extra, 3))} {more}" if extra > 0.0005 else text


def plan_ratings_section(plan: RatingsPlan) -> Section:
    """How many segments to rate."""
    lead = "What a number of ratings brings."
    if plan.half_width is not None:
        lead = (
            f"Intervals of ±{plan.half_width:g} are out of reach with {_raters(plan)} per output."
        )
        if plan.needed is not None:
            lead = (
                f"For intervals of ±{plan.half_width:g}, rate {plan.needed:,} of"
                f" {plural(plan.population, 'segment')} for each system{_with_metrics(plan)}."
            )
    elif plan.bought is not None:
        lead = _bought(plan, plan.bought)
    caption = f"Ratings per system, and half the width of their {percent(plan.level)} interval."
    if any(point.stable_pairs is not None for point in plan.curve):
        caption += " Same order, same pair: how likely two such campaigns are to agree on it."
    return _precision("ratings", lead, caption, plan)


def plan_comparison_section(plan: ComparisonPlan) -> Section:
    """How many segments to rate to detect a difference."""
    caption = (
        f"Segments rated for both systems, half the width of the {percent(plan.level)} interval of"
        f" their difference, and the power to detect a gap of {plan.gap:g}."
    )
    lead = (
        f"No number of segments detects a gap of {plan.gap:g} with {percent(plan.power)}"
        f" probability and {_raters(plan)} per output."
    )
    if plan.needed is not None:
        lead = (
            f"To detect a gap of {plan.gap:g} with {percent(plan.power)} probability,"
            f" rate {plan.needed:,} of {plural(plan.population, 'segment')} for both"
            f" systems{_with_metrics(plan)}."
        )
    return _precision("two systems", lead, caption, plan)


def _precision(what: str, lead: str, caption: str, plan: PrecisionPlan) -> Section:
    blocks = (_curve(plan.kind, caption, plan), *_totals(plan), *_splits(plan))
    return Section(
        plan.kind, f"The plan: {what}", lead, blocks, plan.signature, stage="plan",
        notes=plan.notes,
    )  # fmt: skip


def _raters(plan: PrecisionPlan) -> str:
    mean = plan.ratings_per_output
    return "one rater" if mean < 1.005 else f"{mean:.3g} raters"


def _with_metrics(plan: PrecisionPlan) -> str:
    fewer = plan.needed_with_metrics
    if fewer is None:
        return ""
    return f", or {fewer:,} with the help of metrics (correlation {plan.correlation:.2f})"


def _curve(name: str, caption: str, plan: PrecisionPlan) -> Table:
    return table(
        name, caption,
        "n:count = segments; share:percent; half_width = half-width; "
        "half_width_with_metrics = with metrics; power:percent; power_with_metrics:percent; "
        "stable_order:percent = same order; stable_pairs:percent = same pair; ratings:count; "
        "minutes:count; money:money = cost",
        plan.curve,
    )  # fmt: skip


def _totals(plan: PrecisionPlan) -> list[Block]:
    """What the number comes to, how sure it is, and what the money brings."""
    lines: list[Block] = []
    if plan.needed is not None:
        lines.append(f"In all: {_counted(plan, plan.needed)}.")
    if plan.needed_with_metrics is not None:
        lines.append(f"With the help of metrics: {_counted(plan, plan.needed_with_metrics)}.")
    if plan.needed_range is not None:
        low, high = (shown(end, "count") for end in plan.needed_range)
        lines.append(
            f"As the pilot leaves the sd uncertain, {low} to {high} segments may be needed."
        )
    if plan.widest is not None and plan.needed is not None:
        lines.append(_for_the_widest(plan, plan.widest))
    if plan.bought is not None and not (isinstance(plan, RatingsPlan) and plan.half_width is None):
        lines.append(_bought(plan, plan.bought))
    return lines


def _counted(plan: PrecisionPlan, segments: int) -> str:
    """Segments as ratings of all systems and raters, hours and money."""
    ratings = plan.ratings_for(segments)
    parts = [plural(segments, "segment"), plural(plan.systems_rated, "system"), _raters(plan)]
    cost = plan.pay.cost(ratings)
    return f"{ratings:,.0f} ratings ({' x '.join(parts)})" + (f": {cost}" if cost else "")


def _for_the_widest(plan: PrecisionPlan, widest: Widest) -> str:
    takes = (
        "cannot reach it" if widest.needed is None else f"takes {_counted(plan, widest.needed)}"
    )  # fmt: skip
    return (
        f"That holds for the average spread in the pilot; the widest, that of {widest.name}"
        f" (sd {widest.sd:.3g}), {takes}."
    )


def _bought(plan: PrecisionPlan, point: PlanPoint) -> str:
    """What there is to spend brings."""
    brings = f"intervals of ±{point.half_width:.3g}"
    if point.half_width_with_metrics is not None:
        brings += f" (±{point.half_width_with_metrics:.3g} with the help of metrics)"
    if point.power is not None:
        brings += f" and a power of {point.power:.0%}"
    return f"{plan.spend} buys {_counted(plan, point.n)}. That gives {brings}."


def _splits(plan: PrecisionPlan) -> list[Block]:
    """More segments, or second opinions: for as many ratings."""
    best = next((split for split in plan.splits if split.best), None)
    if best is None:
        return []
    most = max(split.ratings for split in plan.splits)
    choices = table(
        "plan-splits",
        f"New segments or second opinions, with up to {most:,.0f} ratings. Second opinions: the"
        " share of outputs rated once more (200%: by two more raters).",
        "overlap:percent = second opinions; segments:count; half_width = half-width; "
        "power:percent; ratings:count; minutes:count; money:money = cost; best:text",
        plan.splits,
    )  # fmt: skip
    return [_best_split(plan.splits, best), choices]


def _best_split(splits: tuple[Split, ...], best: Split) -> str:
    once = splits[0]
    if best is not once:
        both = (
            f"{plural(best.segments, 'segment')} {_rated(best.overlap)} give"
            f" ±{best.half_width:.3g}, {plural(once.segments, 'segment')} rated once"
            f" ±{once.half_width:.3g}."
        )
        if once.half_width > ABOUT_AS_GOOD * best.half_width:
            return f"Second opinions pay: {both}"
        return (
            f"Second opinions cost no precision: {both} Take them: only they show how much raters"
            " differ."
        )
    some = next((split for split in splits if split.overlap > 0), best)
    return (
        f"New segments bring more than second opinions: {plural(best.segments, 'segment')} rated"
        f" once give ±{best.half_width:.3g}. Have {percent(some.overlap)} rated twice anyway"
        f" (±{some.half_width:.3g}): only that shows how much raters differ."
    )


def _rated(overlap: float) -> str:
    if overlap < 1:
        return f"with {percent(overlap)} of the outputs rated twice"
    return f"with {overlap + 1:g} raters for each output"


def plan_judgments_section(plan: JudgmentsPlan) -> Section:
    """How many judgments to collect."""
    goal = {
        "significant": f"Deciding {percent(plan.target)} of the pairs",
        "clusters": f"Reaching {plan.target:g} clusters",
        "range_size": f"Reaching rank ranges of {plan.target:g} ranks",
    }[plan.goal]
    takes = "is out of reach" if plan.needed is None else f"takes {plan.needed:,} judgments"
    if math.isinf(plan.sigma):
        takes = "cannot be planned from this pilot"
    return Section(
        "plan-judgments", "The plan: judgments",
        f"{goal} with {plural(plan.systems, 'system')} and sigma {plan.sigma:.3g} {takes}"
        f" ({_by(plan.test)}, {'one' if plan.sides == 1 else 'two'}-sided at"
        f" {1 - plan.level:.2g}).",
        (_judgments_curve(plan), *_judgments_lines(plan)), plan.signature, stage="plan",
        sources=("koehn2012",), notes=plan.notes,
    )  # fmt: skip


def _by(test: str) -> str:
    return "by bootstrap" if test == "bootstrap" else f"by {test} test"


def _judgments_curve(plan: JudgmentsPlan) -> Table:
    shown = "share:percent = decided; sign:count = sign test; pooled:count = pooled test"
    if plan.judged:  # without a pilot, what is left to collect is everything
        shown += "; more_sign:count = more, sign test; more_pooled:count = more, pooled test"
    caption = "Judgments for a share of decided pairs, by the test that decides."
    return table("plan-judgments", caption, shown, plan.curve)


def _judgments_lines(plan: JudgmentsPlan) -> list[Block]:
    needed = ", ".join(
        f"{'out of reach' if total is None else f'{total:,}'} {_by(test)}"
        for test, total in plan.needed_by.items()
    )
    lines: list[Block] = [] if math.isinf(plan.sigma) else [f"Needed: {needed}."]
    if plan.judged and plan.more is not None:
        lines.append(f"Still to collect ({_by(plan.test)}): {plan.more:,}.")
    if plan.needed_range is not None:
        low, high = (shown(end, "count") for end in plan.needed_range)
        lines.append(
            f"As the pilot leaves sigma uncertain, {low} to {high} judgments may be needed"
            f" ({_by(plan.test)})."
        )
    if plan.more is not None and (cost := plan.pay.cost(plan.more)):
        left = " still" if plan.judged else ""
        lines.append(f"That takes{left} {cost} ({_by(plan.test)}).")
    if plan.brings is not None and plan.bought is not None:
        more = " more" if plan.judged else ""
        lines.append(
            f"{plan.spend} buys {plan.bought:,}{more} judgments. They decide"
            f" {plan.brings['sign']:.0%} of pairs by sign test and {plan.brings['pooled']:.0%} by"
            " pooled test."
        )
    if plan.reached is not None and plan.observed is not None:
        lines.append(
            f"The {plan.judged:,} judgments so far should decide {plan.reached['sign']:.0%} of"
            f" pairs by sign test and {plan.reached['pooled']:.0%} by pooled test; they decide"
            f" {plan.observed['sign']:.0%} and {plan.observed['pooled']:.0%}."
        )
    if plan.votes is not None:
        lines.append(
            f"One more set on a segment is worth {plan.votes.worth:.2f} sets on new segments"
            f" (segments have {plan.votes.per_segment:.1f} sets now)."
        )
    return lines


def editors_plan_section(plan: EditorsPlan) -> Section:
    """How many editors to ask."""
    takes = (
        "is out of reach: the gap is too small for any number of editors" if plan.needed is None
        else f"takes {plural(plan.needed, 'editor')}"
    )  # fmt: skip
    if plan.complete != plan.needed:
        takes += f"; {plan.complete:,} complete the design"
    points = table(
        "plan-editors", "What each number of editors can detect.",
        f"editors:count; power:percent; detectable = gap found with power {percent(plan.power)}",
        plan.points,
    )  # fmt: skip
    assumed = (
        f"Assumed: {plural(plan.segments, 'segment')} per document; the analysis"
        f" {'allows' if plan.place else 'does not allow'} for the order of documents; variances"
        f" {plan.cell:g} (editor x document) and {plan.residual:g} (residual),"
        f" {'as given' if plan.source == 'given' else f'from {SPREADS[plan.source]}'}."
    )
    return Section(
        "plan-editors", "The plan: editors",
        f"Detecting a gap of {plan.gap:g} in {plan.measure} between two of"
        f" {plural(plan.systems, 'system')} with {percent(plan.power)} probability {takes}.",
        (points, assumed), plan.signature, stage="plan",
        sources=("korotaev2022",) if plan.source == "korotaev2022" else (), notes=plan.notes,
    )  # fmt: skip
