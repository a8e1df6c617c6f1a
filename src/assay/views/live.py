"""A campaign while it runs: where systems stand, what looks decided, what is still to come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from itertools import pairwise

from assay.collecting.live import (
    CampaignResults,
    HowCollected,
    LeftOut,
    LivePair,
    LiveSystem,
    LookTaken,
)
from assay.results import percent, plural
from assay.views.estimation import composite_section, methods_of
from assay.views.monitoring import raters_section
from assay.views.section import (
    Bar,
    Block,
    Section,
    Table,
    cluster_lines,
    section_of,
    some,
    table,
    with_bars,
)

PROTOCOLS = {
    "da": "direct assessment", "sqm": "SQM", "xsts": "XSTS", "scale": "own scales", "esa": "ESA",
    "mqm": "MQM", "pairwise": "pairwise", "ranking": "ranking", "post-edit": "post-editing",
}  # fmt: skip
STATES = {"draft": "draft", "open": "running", "paused": "paused", "closed": "closed"}
MEASURES = {"ratings": "score", "judgments": "score", "edits": "effort"}
MOST_PAIRS = 66
MOST_NAMED = 3
"""Systems or pairs that a headline names."""
MAY_CLAIM = (
    "Only planned looks decide; numbers between looks, and everything without a verdict, are"
    " provisional."
)
ANY_TIME = "Verdicts hold at any time, however the pairs were chosen."
LOOKED_ONCE = (
    "These intervals hold for a single look at the end; the verdicts above come from the planned"
    " looks."
)
AT_THE_END = (
    "Nothing is decided before the last task is done; until then all numbers are provisional."
)


def campaign_results_section(result: CampaignResults) -> Section:
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
    blocks.append(verdicts_explained(result))
    return Section(
        "campaign-results", f"{result.name}: as of {result.as_of[11:16]} UTC", _lead(result),
        tuple(blocks), result.signature, stage="estimate", headline=_headline(result),
        question=f"Which of {plural(len(result.systems), 'system')} are better?",
        facts=_facts(result), details="Pairs, looks and prices", next=result.next,
        notes=result.notes, more=tuple(_more(result)),
    )  # fmt: skip


def _more(result: CampaignResults) -> Iterator[Section]:
    """What stands behind the answer, and the same by another rule."""
    if result.how is not None:
        yield how_section(result, result.how)
    estimates, found = result.outcome.estimates, result.outcome.found
    if estimates is not None and estimates.composite is not None:
        yield composite_section(estimates.composite, estimates)
    if result.raters is not None:
        yield raters_section(result.raters)
    if found is None:
        return
    own = section_of(found)
    if result.collects == "edits":
        yield replace(own, headline="", lead="", question="", more=())
    else:
        lead = f"{LOOKED_ONCE} {own.lead}"
        # The paragraph for a paper says how pairs were decided: at the looks, not here.
        methods = methods_of(estimates, compared=False) if estimates is not None else own.methods
        yield replace(
            own, name="looked-once", lead=lead, question="", folded=True, more=(), methods=methods
        )


def _facts(result: CampaignResults) -> tuple[str, ...]:
    """The campaign in a few words."""
    how = result.how
    if how is None:
        return ()
    given = () if how.began is None or how.ended is None else (days(how.began, how.ended),)
    return (
        *([] if how.languages is None else ["-".join(how.languages)]), PROTOCOLS[how.protocol],
        *given, STATES[how.state], plural(_raters_counted(result, how), "rater"),
        *([f"{len(result.left_out)} excluded"] if result.left_out else []),
        "rule: " + rule_text(result.goal, how.target, len(result.planned), result.level),
    )  # fmt: skip


def _raters_counted(result: CampaignResults, how: HowCollected) -> int:
    """Those who answered and are not excluded."""
    return how.raters - sum(item.answers > 0 for item in result.left_out)


def days(began: str, ended: str) -> str:
    """The days from one time to another.

    >>> days("2026-06-05T08:00:00Z", "2026-06-08T17:30:00Z")
    '5 to 8 June 2026'
    """
    first, last = (datetime.fromisoformat(at) for at in (began, ended))
    end = f"{last.day} {last:%B %Y}"
    if first.date() == last.date():
        return end
    begin = str(first.day)
    if (first.year, first.month) != (last.year, last.month):
        begin += f" {first:%B}" + ("" if first.year == last.year else f" {first.year}")
    return f"{begin} to {end}"


def rule_text(goal: str, target: float | None, looks: int, level: float) -> str:
    """The rule that ends the collecting."""
    when = f"{plural(looks, 'look')}, {percent(level)}"
    if goal == "budget":
        return f"until the last task, {when}"
    if goal == "score":
        return f"scores{'' if target is None else f' to ±{target:g}'}, {when}"
    return f"ranking, {when}"


def how_section(result: CampaignResults, how: HowCollected) -> Section:
    """How the answers were collected, so that others can judge and repeat it."""
    blocks: list[Block] = [" ".join(_told(result, how))]
    if how.acts:
        blocks.append(table(
            "acts", "What the organisers decided during the campaign.",
            "at:text = when; actor:text = who; what:text; reason:text = why",
            [asdict(act) | {"at": _minute(act.at)} for act in how.acts],
        ))  # fmt: skip
    if result.left_out:
        blocks.append(_left_out(result))
    if result.everybody is not None:
        blocks.append(_both(result))
    return Section(
        "how-collected", "How the answers were collected", _drawn(how), tuple(blocks),
        f"collected|{how.version or 'nothing'}", stage="collect", methods=_methods(result, how),
        sources=("lan1983",) if _at_looks(result) else (),
    )  # fmt: skip


def _at_looks(result: CampaignResults) -> bool:
    """Whether verdicts come from planned looks with limits for all of them together."""
    return result.monitoring is not None and bool(result.monitoring.limits)


def _methods(result: CampaignResults, how: HowCollected) -> str:
    """How answers were collected and pairs decided, for a paper."""
    raters = _raters_counted(result, how)
    lines = [
        f"{plural(result.used, 'answer')} by {plural(raters, 'rater')} were collected in the"
        f" browser with Assay ({PROTOCOLS[how.protocol]}), without system names."
    ]
    if number := len(result.left_out):
        lines.append(
            f"The answers by {plural(number, 'rater')} were excluded"
            f" ({some([item.rater for item in result.left_out])}) and are not among them."
        )
    wrong = percent(1 - result.level)
    if _at_looks(result):
        lines.append(
            f"{plural(len(result.planned), 'look')} at the results"
            f" {'was' if len(result.planned) == 1 else 'were'} planned beforehand and"
            f" {len(result.looks)} took place; every pair was tested at each, with limits that"
            f" keep its error over all looks at {wrong} (spending of O'Brien and Fleming's type)."
        )
    elif result.verdicts is not None:
        lines.append(
            f"Pairs were decided by e-values of a fair coin, valid at any time, at {wrong} each."
        )
    return " ".join(lines)


def _drawn(how: HowCollected) -> str:
    """What was asked about."""
    documents = "" if how.documents is None else f" in {plural(how.documents, 'document')}"
    whole = f"{plural(how.population, 'segment')}{documents}"
    if how.segments < how.population:
        whole = f"{how.segments:,} of {whole}"
    chosen = f", chosen by {how.design}" if how.design else ""
    return f"{plural(how.systems, 'system')} on {whole}{chosen}."


def _told(result: CampaignResults, how: HowCollected) -> Iterator[str]:
    """Who answered what, in which order, and by which rule it ends."""
    side = f", {how.side_by_side} outputs side by side" if how.side_by_side > 1 else ""
    when = ""
    if how.began is not None and how.ended is not None:
        when = f" between {_minute(how.began)} and {_minute(how.ended)} UTC"
    yield (
        f"{plural(how.raters, 'rater')} answered{when} in the browser: {PROTOCOLS[how.protocol]}"
        f"{side}, without system names, in a new random order for every task."
    )
    each = "one rater" if how.per_task == 1 else f"{how.per_task} raters"
    more = f", {how.overlap} of the tasks to one more" if how.overlap not in (None, "0%") else ""
    if result.collects == "edits":
        yield "Every editor had every document once; a design assigned the systems."
    else:
        yield (
            f"Each of the {plural(result.tasks, 'task')} goes to {each}{more}, in an order fixed in"
            " advance; numbers rest on its complete beginning."
        )
    if how.checks is not None:
        yield f"Spoiled copies of {how.checks} of the outputs check attention."
    if how.repeats is not None:
        yield f"Raters get {how.repeats} of the tasks a second time."
    rule = rule_text(result.goal, how.target, len(result.planned), result.level)
    yield f"Stopping rule: {rule}. {verdicts_explained(result)}"


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def verdicts_explained(result: CampaignResults) -> str:
    """What its verdicts are worth."""
    if result.verdicts is not None:
        return ANY_TIME
    return MAY_CLAIM if len(result.planned) > 1 else AT_THE_END


def _headline(result: CampaignResults) -> str:
    """Who is best as far as that is decided, and how much is."""
    if not result.systems:
        return "No result yet."
    if result.collects == "edits":
        found = result.outcome.found if result.looks else None
        return section_of(found).headline if found is not None else ""
    if result.goal == "score" and result.goal_met is not None:
        return f"Every score reached the wanted precision at look {result.goal_met}."
    if not result.pairs:
        return ""
    decided, number = sum(pair.decided for pair in result.pairs), len(result.pairs)
    after = f" after look {len(result.looks)}" if result.looks and not result.verdicts else ""
    verb = "is" if decided == 1 else "are"
    count = f"{decided} of {plural(number, 'pair')} {verb} decided{after}."
    if decided == number:
        count = f"Every pair is decided{after}."
    return " ".join(filter(None, (_better(result), count)))


def _better(result: CampaignResults) -> str:
    """The best systems by name, as far as the verdicts separate them from the others."""
    best = [item.system for item in result.systems if item.cluster == 1]
    rest = [item.system for item in result.systems if item.cluster != 1]
    if len(best) == 1:
        return f"{best[0]} is best."
    if rest and len(best) <= MOST_NAMED:
        others = rest[0] if len(rest) == 1 else f"the other {len(rest)} systems"
        return f"{some(best)} are better than {others}; which of them is best is open."
    won = [pair for pair in result.pairs if pair.decided]
    if rest or len(won) > MOST_NAMED:
        return ""
    return " ".join(f"{pair.left} is better than {pair.right}." for pair in won)


def _lead(result: CampaignResults) -> str:
    lines = []
    if result.collects == "edits" and result.looks and result.outcome.found is not None:
        lines.append(section_of(result.outcome.found).lead)
    redo = ""
    if result.redo:
        need = "needs" if result.redo == 1 else "need"
        redo = f" {result.redo:,} of them {need} another rater since one was excluded."
    done = "were" if redo else "are"
    lines.append(
        f"The first {result.n:,} of {plural(result.total, result.unit)} {done} complete,"
        f" {plural(result.used, 'answer')}.{redo}"
    )
    if result.waiting:
        verb = "waits" if result.waiting == 1 else "wait"
        lines.append(f"{plural(result.waiting, 'answer')} {verb} for earlier tasks.")
    look = result.next_look
    if look is not None:
        lines.append(f"Next look at {plural(look.n, result.unit)}: {look.missing:,} to go.")
    resting = [item.system for item in result.systems if item.rests_since is not None]
    if resting:
        lines.append(f"Resting: {some(resting)}.")
    if result.systems and result.orientation and result.verdicts is None:
        lines.append("These scores are provisional.")
    return " ".join(lines)


def order_explained(result: CampaignResults) -> str:
    """Why scores may not stand in the order of the rows; nothing where they do."""
    found = result.outcome.estimates
    if found is None:
        return ""
    sign = 1 if found.better == "higher" else -1
    falls = all(sign * one.estimate >= sign * two.estimate for one, two in pairwise(result.systems))
    return "" if falls else " Rows are ordered by differences on segments that both systems share."


def _systems(result: CampaignResults) -> Table:
    level = percent(result.level)
    both = any(item.basis == "raters" for item in result.systems)
    heading = f"{level}, raters like these" if both else f"{level} interval"
    shown = f"system:text; estimate = {MEASURES[result.collects]}; low,high:interval = {heading}"
    if both:
        shown += f"; answers_low,answers_high:interval = {level}, these answers"
    shown += "; low_rank,high_rank:ranks = ranks; cluster:count; answers:count"
    shown += "; rests_since:count = rests since look"
    caption = "Ranks and clusters rest on decided pairs only." + order_explained(result)
    if result.collects != "judgments":
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
    caption = "The better system is on the left. The interval holds at all looks together;"
    caption += " a provisional one is an ordinary interval."
    return table(
        "pairs", caption if result.monitoring is not None else "The better system is on the left.",
        "left:text; right:text; difference; "
        f"low,high:interval = {percent(result.level)} interval; stands:text = verdict", rows,
    )  # fmt: skip


def _stands(pair: LivePair) -> str:
    if pair.decided:
        return "decided" if pair.look is None else f"decided at look {pair.look}"
    return "open (provisional)" if pair.orientation else "open"


def _looks(result: CampaignResults) -> Table:
    return table(
        "looks", "Planned looks that took place. Limit: for the difference, in standard errors.",
        f"number:count = look; n:count = {result.unit}s; at:text = reached; answers:count; limit; "
        "decided,pairs:of = decided; met:text = goal",
        [_look_row(look) for look in result.looks],
    )  # fmt: skip


def _look_row(look: LookTaken) -> Mapping[str, object]:
    return {
        "number": look.number, "n": look.n, "at": _minute(look.at),
        "answers": look.answers, "limit": look.limit, "decided": look.decided,
        "pairs": look.pairs, "met": "reached" if look.met else None,
    }  # fmt: skip


def _undecided(result: CampaignResults) -> Table:
    rows = [
        asdict(pair) | {"cost": result.pay.cost(pair.ratings) or None}
        for pair in result.undecided[:MOST_PAIRS]
    ]
    return table(
        "undecided", "Open pairs, and about how many more ratings decide each with 80% power."
                     " A pair without a number is too close for this test set.",
        "left:text; right:text; ratings:count = more ratings; cost:text", rows,
    )  # fmt: skip


def _both(result: CampaignResults) -> Table:
    everybody = result.everybody
    found = None if everybody is None else everybody.found
    with_all = {} if found is None else {
        item.system: _number(item, result) for item in found.systems
    }  # fmt: skip
    return table(
        "with-and-without", "Results without and with the excluded raters.",
        "system:text; estimate = without them; everybody = with them",
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
        "left-out", "Excluded raters. Severity and r: relative to the raters who count.",
        "rater:text; at:text = since; reason:text = why; answers:count; severity; correlation = r;"
        " passed,checks:of = checks passed",
        [asdict(item) | {"at": _minute(item.at)} | _measured(item) for item in result.left_out],
    )  # fmt: skip


def _measured(item: LeftOut) -> dict[str, object]:
    """What is known of an excluded rater."""
    own = item.summary
    if own is None:
        return {}
    return {name: getattr(own, name) for name in ("severity", "correlation", "passed", "checks")}
