"""Rankings from judgments or ratings, sigma, and the systems to show next."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict

from assay.errors import InputError
from assay.ranking.monitor import JudgmentsMonitoring
from assay.ranking.next import NextSets
from assay.ranking.rank import Ranking
from assay.ranking.sigma import SigmaFit, SigmaMatch
from assay.results import percent, plural
from assay.views.section import (
    Block,
    Section,
    Table,
    Verdicts,
    are,
    cluster_lines,
    decided_figure,
    shown,
    table,
    verdict,
    winners,
    with_ranks,
)

METHODS = {
    "expected-win": ("the expected win against another system", ("koehn2012",)),
    "bojar": ("the share of wins and losses that are wins", ("koehn2012",)),
    "better-or-equal": ("the share of judgments that are not losses", ("koehn2012",)),
    "lopez": ("the order with the fewest violated judgments", ("koehn2012",)),
    "bradley-terry": ("the strengths of the Bradley-Terry model", ("bradley1952",)),
    "mean": ("the mean rating", ()),
    "z": ("the mean of ratings standardised for each rater", ()),
}
RANGES = {
    "bootstrap": ("a bootstrap", ("koehn2012", "efron1993")),
    "sign": ("sign tests of all pairs of systems", ("koehn2012",)),
    "pooled": ("a test that scores all pairs on one scale", ("koehn2012",)),
}
CLUSTER_ENDS = {
    None: "no rank range reaches across a cluster's end",
    "neighbours": "a cluster ends where a system is significantly better than the next",
    "all": "a cluster ends where all systems above are significantly better than all below",
}
CLUSTERS = {
    None: "systems whose ranges do not overlap fall into different clusters",
    "neighbours": "clusters come from {} tests of neighbours",
    "all": "clusters come from {} tests of all pairs",
}


def ranking_section(result: Ranking, *, pairs_in_terminal: bool = False) -> Section:
    """Systems with rank ranges and clusters, and the pairs that were tested.

    A terminal shows the table of pairs where that is asked for; a page always has it.
    """
    if not result.systems:
        raise InputError("the saved ranking has no systems; save it again")
    systems = [asdict(item) for item in result.systems]
    blocks: list[Block] = [_scores(result)]
    if len(systems) > 2 and result.source == "judgments":
        pairs = [asdict(item) for item in result.comparisons]
        blocks.append(decided_figure(systems, pairs))
    blocks.append(_pairs(result, in_terminal=pairs_in_terminal))
    return Section(
        name="ranking",
        title=f"Ranking by {result.method.replace('-', ' ')}{_direction(result)}",
        stage="rank",
        headline=_headline(result),
        lead=_lead(result),
        facts=(plural(len(systems), "system"), _number(result)),
        details="All pairs",
        blocks=tuple(blocks),
        signature=result.signature,
        question=f"How do {plural(len(systems), 'system')} rank, by {_number(result)}?",
        methods=_methods(result),
        sources=_sources(result),
        next=result.next,
        notes=result.notes,
        verdicts=_verdicts(result),
    )


def _verdicts(result: Ranking) -> Verdicts:
    name = f"{result.method.replace('-', ' ')} ({_tested(result)})"
    clusters = CLUSTERS[result.clusters_by].format(_tests(result))
    alike = ", which treat outputs as independent" if _rank_sums(result) else ""
    why = f"it ranks {result.source} by {_method(result)[0]}; {clusters}{alike}"
    # Tests of ratings are of neighbours, some of them of another question: clusters are compared.
    pairs = result.comparisons if result.source == "judgments" else ()
    return Verdicts(
        "judgments" if result.source == "judgments" else "ratings", name, why,
        {item.system: item.cluster for item in result.systems},
        {frozenset((item.left, item.right)): item.better for item in pairs},
    )  # fmt: skip


def _direction(result: Ranking) -> str:
    return f" ({result.better} is better)" if result.source == "ratings" else ""


def _number(result: Ranking) -> str:
    return f"{result.judgments or result.ratings or 0:,} {result.source}"


def _headline(result: Ranking) -> str:
    names = [item.system for item in result.systems]
    if len(names) == 1:
        return f"{names[0]} is the only system."
    return verdict(names[0], names[1:], _won(result))


def _won(result: Ranking) -> set[tuple[str, str]]:
    """The decided pairs, winner first.

    Where only neighbours were tested, these are systems of different clusters, and those whose rank
    ranges do not meet.
    """
    if result.clusters_by == "neighbours":
        return {
            (one.system, two.system)
            for one, two in itertools.permutations(result.systems, 2)
            if one.cluster < two.cluster or one.high_rank < two.low_rank
        }
    return winners(item for item in result.comparisons if item.better is not None)


def _lead(result: Ranking) -> str:
    first = result.systems[0]
    place = (
        f"the rank range of {first.system} is {shown((first.low_rank, first.high_rank), 'ranks')}"
    )
    beaten = {loser for winner, loser in _won(result) if winner == first.system}
    if first.high_rank == 1 and len(beaten) < len(result.systems) - 1:
        place += (
            f" (ranges use all {result.source} together; a verdict on a pair needs its own test)"
        )
    things = "neighbours" if result.clusters_by == "neighbours" else "pairs"
    return (
        f"From {_number(result)}, at the {percent(result.level)} level, {place}."
        f" {result.significant_pairs:,} of {result.pairs:,} {things}"
        f" {are(result.significant_pairs)} decided ({_tested(result)}), and the systems"
        f" form {plural(result.clusters, 'cluster')}."
    )


def _tested(result: Ranking) -> str:
    """The level, and how many equal pairs it would call different."""
    alpha = 1 - result.level
    if result.holm:
        return f"tests at {alpha:.2g}, corrected for their number by Holm's method"
    if result.sides == 2:
        return f"two-sided tests at {alpha:.2g}, not corrected for their number"
    either = f"; {2 * alpha:.0%} of equal pairs would be decided" if result.judgments else ""
    return f"one-sided tests at {alpha:.2g}, not corrected for their number{either}"


def _scores(result: Ranking) -> Table:
    level = percent(result.level)
    found = table(
        "ranks",
        f"Dot: rank by score; bar: {level} rank range. Best system first{_direction(result)};"
        f" {CLUSTER_ENDS[result.clusters_by]}.",
        "rank:count; system:text; score; low_rank,high_rank:ranks = rank range; cluster:count",
        result.systems,
        cluster_lines(result.systems),
    )  # fmt: skip
    return with_ranks(found, result.systems, _won(result))


def _pairs(result: Ranking, *, in_terminal: bool) -> Table:
    what = "One-sided p" if result.sides == 1 else "Two-sided p"
    if result.holm:
        both = " in both directions" if result.source == "judgments" else ""
        what = f"p corrected for the number of pairs{both} (Holm)"
    test = " of the rank-sum test of single outputs" if _rank_sums(result) else ""
    rows = sorted(result.comparisons, key=lambda item: item.decided)
    return table(
        "pairs",
        f"{what}{test}; the higher-ranked system is on the left. Undecided pairs come first.",
        "left:text; right:text; wins:count; losses:count; ties:count; p:p; better:text",
        [asdict(item) | {"better": item.better or "undecided"} for item in rows],
        where="everywhere" if in_terminal else "page",
    )  # fmt: skip


def _methods(result: Ranking) -> str:
    times = f" of {result.resamples:,} resamples" if result.resamples else ""
    level = f"{percent(result.level)}"
    if result.calibrated is not None:
        level += f" (at a level found by simulation, {result.calibrated:.1%})"
    tests = " Tests of pairs were corrected for their number (Holm)." if result.holm else ""
    seed = "" if result.seed is None else f" (seed {result.seed})"
    ties = {"drop": ", ties left out", "davidson": " with ties"}.get(result.ties or "", "")
    raters = "" if result.raters is None else f", with the tastes of {result.raters:,} raters"
    return (
        f"We ranked {plural(len(result.systems), 'system')} from"
        f" {_number(result).replace(' ', ' human ')} by {_method(result)[0]}{ties}. Rank"
        f" ranges at {level} come from {RANGES[result.ranges][0]}{times} over {result.blocks:,}"
        f" blocks, the unit being the {result.unit}{raters}{seed};"
        f" {CLUSTERS[result.clusters_by].format(_tests(result))}.{tests}"
    )


def _tests(result: Ranking) -> str:
    return "Wilcoxon rank-sum" if _rank_sums(result) else "blockwise"


def _rank_sums(result: Ranking) -> bool:
    return result.source == "ratings" and result.rank_sum is not False


def _method(result: Ranking) -> tuple[str, tuple[str, ...]]:
    return METHODS.get(result.method, (result.method, ()))


def _sources(result: Ranking) -> tuple[str, ...]:
    return (
        *_method(result)[1],
        *RANGES[result.ranges][1],
        *(("davidson1970",) if result.ties == "davidson" else ()),
        *(("wilcoxon1945",) if _rank_sums(result) else ()),
        *(("holm1979",) if result.holm else ()),
    )


def sigma_section(result: SigmaFit) -> Section:
    """How noisy the judgments are, by maximum likelihood."""
    rows = zip(result.systems, result.qualities, strict=True)
    found = (
        f"sigma is at most {result.sigma:.1f} ({percent(result.level)}; all judgments agree with"
        " one order)" if result.agreeing
        else f"sigma is {result.sigma:.1f}, {percent(result.level)} interval"
        f" {shown((result.low, result.high), 'interval')}"
    )  # fmt: skip
    return Section(
        name="sigma",
        title="How noisy the judgments are",
        stage="plan",
        lead=f"{found}, on a scale where the qualities of the"
        f" systems lie between 0 and 10; by {result.judgments:,} judgments without ties.",
        blocks=(table(
            "qualities", "Qualities, best first.",
            "system:text; quality",
            [{"system": name, "quality": q} for name, q in sorted(rows, key=lambda row: -row[1])],
        ),),
        signature=result.signature,
        sources=("koehn2012",),
    )  # fmt: skip


def sigma_curve_section(result: SigmaMatch) -> Section:
    """How noisy the judgments are, by the curve of significant pairs."""
    rows = zip(result.judgments, result.shares, result.model, strict=True)
    return Section(
        name="sigma-curve",
        title="How noisy the judgments are, by the share of significant pairs",
        stage="plan",
        lead=f"sigma is {result.sigma:.1f}: the model then tells apart as many pairs of"
        f" {plural(result.systems, 'system')} as the judgments do, {100 * result.distance:.1f}"
        " points off on average.",
        blocks=(table(
            "curve", "Share of significant pairs by the number of judgments.",
            "judgments:count; share:percent = actual; model:percent",
            [{"judgments": n, "share": share, "model": model} for n, share, model in rows],
        ),),
        signature=result.signature,
        sources=("koehn2012",),
    )  # fmt: skip


def next_sets_section(result: NextSets) -> Section:
    """The systems to show next."""
    likely = sorted(result.systems, key=lambda item: -item.best)
    sets = [
        {"set": number, "systems": ", ".join(names)} for number, names in enumerate(result.sets, 1)
    ]
    ahead = (
        f"After {result.judgments:,} judgments, {result.best} is ahead; {likely[0].system} is"
        f" the best system with {likely[0].best:.0%} probability."
    )
    return Section(
        name="next-sets",
        title="Which systems to show next",
        stage="collect",
        lead=f"{ahead if result.judgments else 'There are no judgments yet.'} Ordinary tests do not"
        " hold for judgments chosen this way; the verdicts of assay monitor do.",
        blocks=(
            table("sets", "Systems to show together.",
                  "set:count; systems:text", sets),
            table("chances", "Probability of being the best.",
                  "system:text; best:percent = chance", likely),
        ),
        signature=result.signature,
    )  # fmt: skip


def monitoring_judgments_section(result: JudgmentsMonitoring) -> Section:
    """Which pairs are decided so far."""
    number = len(result.systems) * (len(result.systems) - 1) // 2
    wrong = "any pair" if result.family else "each pair"
    verdict = "every pair is decided: stop" if result.stop else "go on, or stop when you like"
    best = "" if result.best is None else f" {result.best} is decidedly better than all others."
    open_pairs = [pair for pair in result.pairs if pair.more]
    nearest = min(open_pairs, key=lambda pair: pair.more or 0, default=None)
    return Section(
        name="monitoring-judgments",
        title="Which pairs are decided?",
        stage="collect",
        lead=f"{result.decided:,} of {number:,} pairs {are(result.decided)} decided after"
        f" {result.judgments:,} judgments: {verdict}.{best} However often you look and however"
        f" pairs are chosen, the chance of ever deciding {wrong} wrongly is at most"
        f" {percent(1 - result.level)}.",
        blocks=(table(
            "pairs", f"Evidence: as a power of ten; {math.log10(result.needed):.1f} decides. Share:"
            " of the judgments won by the left system, a tie counting half; its interval holds at"
            " all looks.",
            "left:text; right:text; wins:count; losses:count; ties:count; share:percent; "
            "low,high:interval = interval; evidence; better:text; more:count = more judgments",
            [asdict(item) | {"better": item.better or "undecided"} for item in result.pairs],
        ),),
        signature=result.signature,
        methods=f"Pairs were watched with e-values of a fair coin, valid at any time, at"
        f" {percent(result.level)} for {wrong}.",
        sources=("waudbysmith2024",),
        next=() if nearest is None else (
            f"about {result.pay.counted(nearest.more or 0, 'more judgments')} decide between"
            f" {nearest.left} and {nearest.right}, if {nearest.left} keeps winning"
            f" {nearest.share:.0%} (a tie counts half)",
        ),
        notes=result.notes,
    )  # fmt: skip
