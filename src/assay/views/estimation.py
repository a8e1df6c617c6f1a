"""Scores on the whole test set and its groups, the raters behind them, when to stop, and trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.designs.base import SamplingDesign, design_of
from assay.errors import InputError
from assay.estimation.composite import Composite
from assay.estimation.results import Breakdown, Comparison, Estimates
from assay.results import has_note, p_value, percent, plain, plural
from assay.stats.intervals import order_of_differences
from assay.views.section import (
    Bar,
    Block,
    Column,
    Section,
    Table,
    Text,
    Verdicts,
    against,
    are,
    cluster_lines,
    columns,
    decided_figure,
    metrics_used,
    shown,
    some,
    table,
    verdict,
    winners,
    with_bars,
)

MAX_PAIRS_IN_ORDER = 45
"""With more differences than this, a table lists the undecided ones first."""


HELD_FOR = {
    "raters": "this test set and raters like these",
    "texts": "texts like these",
    "answers": "these raters' answers on this test set",
}
DOES_NOT_HOLD = "These intervals and verdicts do not hold."
WHY_NOT = (
    "The outputs that were not rated are different in kind from the rated ones (see the"
    " warnings). Taken as they are: "
)
REPEATED = {
    "raters": "other raters and the same number of ratings",
    "texts": "other texts",
    "answers": "another sample of this size",
}
NAMED = ("hoeffding", "bernstein")
"""Intervals that bear a person's name."""
METHODS = {
    "mean": ("the mean of the ratings, weighted by the inclusion probabilities", ("cochran1977",)),
    "regression": (
        "a regression estimator that corrects the mean by what automatic metrics predict for the"
        " segments without a rating",
        ("sarndal1992", "saldias2022"),
    ),
    "cv": ("automatic metrics as control variates", ("saldias2022",)),
}


def estimates_section(result: Estimates) -> Section:
    """Every system's score with its interval, and what is decided between them."""
    if not result.systems:
        raise InputError("the saved result has no systems; save it again")
    result = _without_certainties(result)
    holds = _holds(result.notes)
    blocks: list[Block] = [_scores(result)]
    if len(result.systems) > 2:
        blocks.append(decided_figure(plain(result.systems), _winners(result), _rule(result)))
    if result.differences:
        blocks.append(_differences(result))
    if result.changes:
        blocks.append(_changes(result))
    blocks.append(Text(metrics_used(result.metrics), where="terminal"))
    more = [] if result.comparison is None else [comparison_section(result.comparison)]
    if result.composite is not None:
        more.append(composite_section(result.composite, result))
    if result.breakdown is not None:
        part = breakdown_section(result.breakdown)
        fresh = tuple(note for note in part.notes if note not in result.notes)
        more.append(replace(part, notes=fresh))
    where = "texts like these" if result.basis == "texts" else "the whole test set"
    return Section(
        name="estimates",
        title=f"Scores on {where} ({result.better} is better)",
        headline=_headline(result) if holds else DOES_NOT_HOLD,
        lead=_lead(result) if holds else f"{WHY_NOT}{_headline(result)} {_lead(result)}".strip(),
        facts=_facts(result),
        unknown=_unknown(result),
        details="All pairs" if result.differences else "How it was estimated",
        blocks=tuple(blocks),
        signature=result.signature,
        question=_question(len(result.systems), result.systems[0].population),
        methods=methods_of(result),
        sources=_sources(result),
        next=result.next,
        notes=result.notes,
        more=tuple(more),
        verdicts=_verdicts(result),
    )


def _without_certainties(result: Estimates) -> Estimates:
    """No verdict from an interval of width zero: results of version 0.2 may hold some."""
    two = result.comparison
    if two is not None and two.decided and two.low == two.high:
        result = replace(result, comparison=replace(two, decided=False, p=math.nan))
    if not any(item.decided and item.low == item.high for item in result.differences):
        return result
    pairs = tuple(
        replace(item, decided=False, p=math.nan) if item.low == item.high else item
        for item in result.differences
    )
    place = {item.system: k for k, item in enumerate(result.systems)}
    sign = 1 if result.better == "higher" else -1
    order = order_of_differences(
        len(place), np.array([(place[item.left], place[item.right]) for item in pairs]),
        np.array([sign * item.difference for item in pairs]),
        np.array([item.decided for item in pairs]),
    )  # fmt: skip
    ends = zip(order.low.tolist(), order.high.tolist(), order.cluster.tolist(), strict=True)
    systems = tuple(
        replace(item, low_rank=low, high_rank=high, cluster=cluster)
        for item, (low, high, cluster) in zip(result.systems, ends, strict=True)
    )
    return replace(result, systems=systems, differences=pairs)


def _rule(result: Estimates) -> str:
    """How verdicts are reached, where there are several."""
    return decided_how(result.level, family=result.family)


def decided_how(level: float, *, family: bool) -> str:
    """How each of several verdicts is reached.

    >>> decided_how(0.95, family=False), decided_how(0.9, family=True)
    ('each at the 95% level', 'all together at the 90% level (Holm)')
    """
    if family:
        return f"all together at the {percent(level)} level (Holm)"
    return f"each at the {percent(level)} level"


def _winners(result: Estimates) -> list[dict[str, Any]]:
    """The pairs with who is better."""
    sign = 1 if result.better == "higher" else -1
    return [
        {
            "left": item.left,
            "right": item.right,
            "decided": item.decided,
            "better": item.left if sign * item.difference > 0 else item.right,
        }
        for item in result.differences
    ]


def _verdicts(result: Estimates) -> Verdicts:
    return Verdicts(
        "ratings",
        f"differences of estimates, {_rule(result)}, for {HELD_FOR[result.basis]}",
        "it asks about " + HELD_FOR[result.basis],
        {item.system: item.cluster for item in result.systems},
        {
            frozenset((item["left"], item["right"])): item["better"] if item["decided"] else None
            for item in _winners(result)
        },
    )


def _question(systems: int, segments: int) -> str:
    if systems == 1:
        return f"How good is the system on a test set of {segments:,} segments?"
    return (
        f"How good are {systems} systems on a test set of {segments:,} segments, and which"
        " differences between them are real?"
    )


def _headline(result: Estimates) -> str:
    best, *others = result.systems
    if not others:
        known = math.isfinite(best.high - best.low)
        name = _interval(result)
        width = f", {name} {best.low:z.3f} to {best.high:z.3f}" if known else ""
        score = f"{best.estimate:z.3f}{width}"
        return f"{best.system} is estimated at {score} ({result.better} is better)."
    if not _has_width(result):
        return f"{best.system} has the best score by these answers, {best.estimate:z.3f}."
    return verdict(best.system, [item.system for item in others], _won(result))


def _won(result: Estimates) -> set[tuple[str, str]]:
    """The decided pairs, winner first."""
    return winners(item for item in _winners(result) if item["decided"])


def _lead(result: Estimates) -> str:
    if len(result.systems) == 1:
        return _of_a_pool(result).strip()
    if not _has_width(result):
        return _held(result)
    pairs = result.differences
    decided = sum(item.decided for item in pairs)
    if len(pairs) == 1:
        said = "is" if decided else "is not"
        return f"The difference {said} decided at {percent(result.level)}.{_held(result)}"
    return (
        f"{decided} of {len(pairs):,} differences between systems {are(decided)} decided,"
        f" {_rule(result)}.{_held(result)}"
    )


def _facts(result: Estimates) -> tuple[str, ...]:
    """The campaign in a few words each."""
    rated, of = {item.n for item in result.systems}, {item.population for item in result.systems}
    number = f"{min(rated):,}" + ("" if len(rated) == 1 else f" to {max(rated):,}")
    share = f"all {number}" if rated == of else f"{number} of {max(of):,}"
    return tuple(filter(None, (
        plural(len(result.systems), "system"),
        f"{share} segments rated{'' if len(result.systems) == 1 or rated == of else ' per system'}",
        plural(result.ratings, "rating") if result.ratings else "",
        result.paid.cost(result.ratings) if result.ratings else "",
    )))  # fmt: skip


def _unknown(result: Estimates) -> tuple[str, ...]:
    """What the estimates leave open."""
    pairs = [f"{pair.left} or {pair.right}" for pair in result.differences if not pair.decided]
    beyond = {
        "raters": "whether the order holds for other texts",
        "texts": "whether other raters would agree",
        "answers": "whether other raters or other texts would give the same order",
    }[result.basis]
    if not result.differences:
        beyond = beyond.replace("the same order", "the same score").replace("order", "score")
    if not pairs or not _has_width(result):
        return (beyond,)
    where = "" if len(pairs) == 1 else f" in {len(pairs)} pairs"
    return f"which system is better{where}: {some(pairs)}", beyond


def _holds(notes: Sequence[str]) -> bool:
    return not has_note(notes, "intervals-do-not-hold")


def _held(result: Estimates) -> str:
    """What the verdicts hold for."""
    if not _holds(result.notes):
        return ""
    if not _has_width(result):
        return "Everything is rated, so nothing is left to decide for these answers."
    return f" Verdicts hold for {HELD_FOR[result.basis]}.{_of_a_pool(result)}{_stable(result)}"


def _has_width(result: Estimates) -> bool:
    """Whether anything is left uncertain; from intervals of no width nothing is concluded."""
    return any(item.high > item.low for item in result.systems)


def _stable(result: Estimates) -> str:
    """How likely a repeat is to give this order."""
    if result.stable is None:
        return ""
    pairs = [item.stable for item in result.differences if item.stable is not None]
    share = f"{sum(pairs) / len(pairs):.0%} of the pairs" if len(pairs) > 1 else "the pair"
    chance = f"{result.stable:.2f}" if result.stable >= 0.005 else "below 0.01"
    whole = (
        f". The whole order would recur with probability {chance}"
        if len(pairs) > 1
        else f" with probability {chance}"
    )
    return f" A repeat with {REPEATED[result.basis]} would put {share} in this order{whole}."


def _scores(result: Estimates) -> Table:
    truth = result.truth or {}
    known = " Diamond: the true score, known because this campaign is simulated."
    found = table(
        "scores",
        "Dot: estimate; bar:"
        f" {_interval(result)}.{known if truth else ''}"
        " Rank range: the ranks that the decided differences leave possible. A line separates"
        f" clusters: every difference across it is decided ({_rule(result)}).{_ranked(result)}",
        "system:text; estimate = score; "
        f"low,high:interval = {_interval(result)}; truth; "
        "n,population:of = rated; rank:count; low_rank,high_rank:ranks = rank range; "
        "cluster:count",
        [plain(item) | {"truth": truth.get(item.system)} for item in result.systems],
        cluster_lines(result.systems),
    )  # fmt: skip
    names = [item.system for item in result.systems]
    won = _won(result)
    bars = (
        Bar(item.estimate, item.low, item.high, truth.get(item.system),
            against(item.system, names, won) if _has_width(result) else "")
        for item in result.systems
    )  # fmt: skip
    where = "texts like these" if result.basis == "texts" else "the whole test set"
    axis = f"score on {where} ({result.better} is better)"
    return with_bars(found, bars, axis, truth="roomy", rated="roomy", rank="files", cluster="roomy")


def _ranked(result: Estimates) -> str:
    if not has_note(result.notes, "order-by-differences"):
        return ""
    return " Ranks follow the differences, whose order differs here from that of the estimates."


def _of_a_pool(result: Estimates) -> str:
    """For whom scores and differences hold, where raters as a whole may be strict or mild."""
    if not any(item.severity_stderr > 0 for item in result.systems):
        return ""
    if len(result.systems) == 1:
        return " The interval is for raters like these, who may be stricter or milder as a group."
    return (
        " Scores hold for raters like these. A stricter pool would shift all systems alike, so"
        " differences are more certain than scores."
    )


def _interval(result: Estimates | Breakdown) -> str:
    return interval_heading(result.level, holds=_holds(result.notes))


def interval_heading(level: float, *, holds: bool) -> str:
    """What an interval is called.

    >>> interval_heading(0.95, holds=True), interval_heading(0.95, holds=False)
    ('95% interval', 'interval (does not hold)')
    """
    return f"{percent(level)} interval" if holds else "interval (does not hold)"


def _differences(result: Estimates) -> Table:
    pairs = result.differences
    many = len(pairs) > MAX_PAIRS_IN_ORDER
    apart = any(item.apart for item in pairs)
    # The undecided ones first where not all are shown: they are what is left to do.
    return table(
        "differences",
        "Left minus right, on the segments rated for both. A difference is decided if its interval"
        f" excludes zero{' and Holm’s rule allows it' if result.family else ''} ({_rule(result)})."
        + _unlike(result) + (" Undecided differences come first." if many else ""),
        "left:text; right:text; difference; "
        f"low,high:interval = {_interval(result)}; p:p; n:count = rated; "
        "segments:text; decided:text; stable",
        [plain(item) | {"segments": ("each its own" if item.apart else "common") if apart else None}
         for item in (sorted(pairs, key=lambda item: item.decided) if many else pairs)],
        where="page",
    )  # fmt: skip


def _unlike(result: Estimates) -> str:
    """Why a difference is not exactly that of the two estimates, where it is not."""
    score = {item.system: item.estimate for item in result.systems}
    same = all(
        math.isclose(
            item.difference, score[item.left] - score[item.right], rel_tol=1e-6, abs_tol=1e-9
        )
        for item in result.differences
        if math.isfinite(item.difference)
    )
    if same:
        return ""
    fits = "" if result.method == "mean" else " with the metrics of these two"
    return (
        " It may differ slightly from the difference of the two estimates, as it is computed on"
        f" the segments rated for both{fits}."
    )


def _changes(result: Estimates) -> Table:
    """Every estimate as the ratings were changed step by step."""
    steps = [("as given", result.changes[0].before)]
    for change in result.changes:
        removed = change.what == "severity"
        name = "severity removed" if removed else f"without {', '.join(change.raters)}"
        steps.append((name, change.after))
    return Table(
        "changes",
        "Estimates before and after each change to the ratings.",
        (Column("system", "text"), *(Column(name) for name, _ in steps)),
        tuple(
            (item.system, *(scores[item.system] for _, scores in steps)) for item in result.systems
        ),
    )


def comparison_section(two: Comparison) -> Section:
    """Two systems: their difference, and what the ratings could have found."""
    p = p_value(two.p) if math.isfinite(two.p) else "no test"
    verdict = "decided" if two.decided else "not decided"
    lead = (
        f"{two.left} − {two.right}: {shown(two.difference, 'number')}"
        f" ({interval_heading(two.level, holds=two.holds)}: {shown(two.low, 'number')} to"
        f" {shown(two.high, 'number')}),"
        f" {p}, {verdict if two.holds else 'which does not hold either'}."
    )
    return Section(
        "comparison", f"{two.left} and {two.right} compared", lead,
        () if two.stderr == 0 else (_power(two),), two.signature,
    )  # fmt: skip


def _power(two: Comparison) -> str:
    if not math.isfinite(two.detectable):
        return "There are too few ratings to say what difference they could have detected."
    more = ""
    if two.needed is not None:
        needed = "all" if two.everything else f"{two.needed:,} of"
        more = f" To detect one as large as observed, rate {needed} {two.population:,} segments."
    return (
        f"{two.n:,} ratings per system detect a difference of {two.detectable:.3f} with"
        f" {percent(two.power)} probability.{more}"
    )


def _design(result: Estimates) -> SamplingDesign:
    return design_of(result.drawn or result.design)


def methods_of(result: Estimates, *, compared: bool = True) -> str:
    """The paragraph for a paper; ``compared`` says that pairs were decided by these intervals."""
    rated, of = sorted({item.n for item in result.systems}), result.systems[0].population
    number = f"{rated[0]:,}" if len(rated) == 1 else f"{rated[0]:,} to {rated[-1]:,}"
    seed = "" if result.seed is None else f" (seed {result.seed})"
    new = result.target == "texts"
    goal = "on documents like those of a test set" if new else "on a test set"
    begin = (
        f"We estimated the mean human score of {plural(len(result.systems), 'system')} {goal} of"
        f" {of:,}"
    )
    if _design(result).everything:
        how = " segments, all of which were rated; scores are plain means."
        how += " They have no sampling error." if result.basis == "answers" else ""
        how += "" if result.basis == "answers" else _uncertainty(result)
        return begin + how + _prepared(result)
    chosen = f" segments, of which {number} were rated for each system, chosen by"
    pairs = (
        " Systems were compared on the segments rated for both,"
        f" {'with Holm’s' if result.family else 'without'} correction for the number of"
        " comparisons." if result.differences and compared else ""
    )  # fmt: skip
    return (
        f"{begin}{chosen} {_design(result).described}{seed}. Scores were estimated by"
        f" {_estimator(result)}.{_uncertainty(result)}{pairs}{_prepared(result)}"
    )


def _uncertainty(result: Estimates) -> str:
    fails = "" if _holds(result.notes) else (
        " They do not hold, because the outputs without a rating differ in kind from the rated"
        " ones."
    )  # fmt: skip
    if result.basis == "texts":
        return (
            f" {percent(result.level)} intervals come from the spread between texts, as if those"
            f" were a random draw of their kind.{fails}"
        )
    name = result.interval.capitalize() if result.interval in NAMED else result.interval
    raters = " and how much raters of the same task differ" if result.target == "raters" else ""
    return (
        f" {percent(result.level)} intervals ({name}) take into account how the segments were"
        f" drawn{raters}.{fails}"
    )


def _estimator(result: Estimates) -> str:
    words, _ = _method(result)
    if result.method == "mean":
        return words
    used = [name for name in result.metrics if name != "history"]
    named = f" ({', '.join(used)})" if used and "single" not in result.method else ""
    other = " and ratings of other systems" if "history" in result.metrics else ""
    return f"{words}{named}{other}"


def _prepared(result: Estimates) -> str:
    """What was done to the ratings beforehand."""
    return "".join(
        f" The ratings of {plural(len(change.raters), 'rater')} were left out."
        if change.what == "raters"
        else " Differences in severity between raters were removed beforehand."
        for change in result.changes
    )


def _method(result: Estimates) -> tuple[str, tuple[str, ...]]:
    """Words and sources; where systems differ in method, those of the one that uses metrics."""
    name = result.method.split("+")[-1]
    return METHODS.get(name.split("-")[0], (name, ()))


def _sources(result: Estimates) -> tuple[str, ...]:
    _, of_method = _method(result)
    of_interval = ("waudbysmith2024",) if result.interval == "betting" else ()
    return (*_design(result).sources, *of_method, *of_interval)


# --- with the metrics' help -------------------------------------------------------------------

COMPOSITE_LIMITS = (
    "This is the best guess at the order while ratings are few, not a verdict: it relies on the"
    " metrics, and only the ratings above decide. On fully rated WMT data its intervals held for"
    " 92 to 97% of pairs on average, but for only 75% of the pairs of a system that the metrics"
    " misjudge."
)
"""Measured by ``benchmarks/honesty_composite.py``."""


def composite_section(result: Composite, whole: Estimates) -> Section:
    """The order with the metrics' help, and how probable it is of every pair."""
    direct = {item.system: item.rank for item in whole.systems}
    past = " and an earlier campaign" if result.history else ""
    lead = (
        f"With the metrics'{past} help, {result.systems[0].system} most probably comes first. The"
        f" help is worth {result.worth:.1f} times as many ratings."
    )
    order = table(
        "composite",
        "The most probable order, the rank by ratings alone, and the probability that a system is"
        " better than the next.",
        "system:text; score; rank:count; direct:count = rank by ratings; "
        "ahead:percent = better than the next",
        [plain(item) | {"direct": direct[item.system]} for item in result.systems],
    )  # fmt: skip
    pairs = table(
        "composite-pairs", "Left minus right, and the probability that left is better.",
        f"left:text; right:text; difference; low,high:interval = {percent(whole.level)} interval; "
        "probability:percent = left is better",
        result.pairs, where="page",
    )  # fmt: skip
    return Section(
        "composite", "The order with the metrics' help", lead, (order, pairs, COMPOSITE_LIMITS),
        f"composite|{whole.signature}", sources=("fay1979", "armstrong2022"),
        notes=result.notes,
    )  # fmt: skip


# --- groups -----------------------------------------------------------------------------------


def breakdown_section(result: Breakdown) -> Section:
    """Every system in every group of segments."""
    decided = sum(item.decided for item in result.groups)
    pairs = sum(item.pairs for item in result.groups)
    inside = (
        f"{decided} of {pairs} differences within groups {are(decided)} decided. " if pairs else ""
    )
    lead = (
        f"By {result.by}, in {plural(len(result.groups), 'group')}: {inside}Of"
        f" {result.intervals:,} intervals at the {percent(result.level)} level, about"
        f" {result.intervals * (1 - result.level):.0f} will miss the truth by chance."
    )
    title = f"Scores by {result.by} ({result.better} is better)"
    scores = table(
        f"by-{result.by}", f"{title}.",
        columns(
            "group; system:text; estimate;"
            f" low,high:interval = {_interval(result)}; n,population:of = rated"
        ) | {"group": (result.by, "text")},
        result.estimates,
    )  # fmt: skip
    groups = table(
        f"groups-{result.by}", "Differences between systems that are decided within each group.",
        columns("group; population:count = segments; decided,pairs:of = decided")
        | {"group": (result.by, "text")},
        result.groups,
    )  # fmt: skip
    return Section(
        f"by-{result.by}", title, lead, (scores, groups), result.signature,
        notes=result.notes,
    )  # fmt: skip
