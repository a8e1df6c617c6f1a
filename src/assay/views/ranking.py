"""A ranking from judgments or ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import InputError
from assay.views.figures import draw_pairs
from assay.views.figures_ranking import draw_ranges
from assay.views.section import (
    Figure,
    Section,
    Table,
    cluster_lines,
    need,
    needed,
    plural,
    ranks,
    table,
)

METHODS = {
    "expected-win": ("the expected win against another system", ("koehn2012",)),
    "bojar": ("the share of wins and losses that are wins", ("koehn2012",)),
    "better-or-equal": ("the share of judgments that are no loss", ("koehn2012",)),
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


def ranking_section(result: Mapping[str, Any]) -> Section:
    """Systems with rank ranges and clusters, and the pairs that were tested."""
    need(result, better=str, level=float, method=str, signature=str, notes=list, ranges=str,
         unit=str, blocks=int, sides=int, holm=bool, pairs=int, significant_pairs=int,
         clusters=int)  # fmt: skip
    source = source_of(result)
    need(result, **{source: int})
    systems = needed(result, "systems", system=str, score=float, rank=int, low_rank=int,
                     high_rank=int, cluster=int)  # fmt: skip
    if not systems:
        raise InputError("the saved result has no systems; write it again with --json")
    pairs = needed(result, "comparisons", left=str, right=str, p=float, decided=bool)
    blocks: list[Table | Figure | str] = [
        Figure(
            "ranks", f"Dot: rank by score. Bar: {100 * result['level']:g} % rank range. A line"
            " closes a cluster.", lambda: draw_ranges(systems),
        ),
        _scores(result, systems),
    ]  # fmt: skip
    if len(systems) > 2 and source == "judgments":
        blocks.append(Figure(
            "decided", "Row against column: filled where the row's system is decided to be better,"
            " a dot where nothing is decided.", lambda: draw_pairs(systems, pairs),
        ))  # fmt: skip
    if pairs:
        blocks.append(_pairs(result, pairs))
    return Section(
        name="ranking",
        title=f"Ranking by {result['method'].replace('-', ' ')}",
        lead=_lead(result, systems, source),
        blocks=tuple(blocks),
        signature=result["signature"],
        question=(
            f"In which order do {plural(len(systems), 'system')} stand, by {result[source]:,}"
            f" {source}?"
        ),
        methods=_methods(result, systems, source),
        sources=_sources(result),
        next=tuple(result.get("next", ())),
        notes=tuple(result["notes"]),
    )


def source_of(result: Mapping[str, Any]) -> str:
    """What was ranked from."""
    return "judgments" if "judgments" in result else "ratings"


def _lead(result: Mapping[str, Any], systems: list[Mapping[str, Any]], source: str) -> str:
    first = systems[0]
    alone = first["high_rank"] == 1
    place = "only the first place is open to it" if alone else f"its rank range is {ranks(first)}"
    things = "neighbours" if result.get("clusters_by") == "neighbours" else "pairs"
    return (
        f"{first['system']} ranks first of {plural(len(systems), 'system')} by"
        f" {result[source]:,} {source}; at the {100 * result['level']:g} % level {place}."
        f" {result['significant_pairs']} of {result['pairs']} {things} are decided, and the systems"
        f" fall into {plural(result['clusters'], 'cluster')}."
    )


def _scores(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> Table:
    lower = " (lower scores are better)" if result["better"] == "lower" else ""
    return table(
        "ranks",
        f"Systems, best first{lower}; a line closes a cluster{_meaning(result)}.",
        {"system": ("System", "text"), "score": ("Score", "number"), "rank": ("Rank", "count"),
         "range": ("Ranks", "count"), "cluster": ("Cluster", "count")},
        [dict(item) | {"range": ranks(item)} for item in systems],
        cluster_lines(systems),
    )  # fmt: skip


def _meaning(result: Mapping[str, Any]) -> str:
    """What a line between clusters means."""
    return {
        "neighbours": ": the system above is significantly better than the next one below",
        "all": ": all systems above are significantly better than all below",
    }.get(str(result.get("clusters_by")), ", a group that no rank range leaves")


def _pairs(result: Mapping[str, Any], pairs: list[Mapping[str, Any]]) -> Table:
    sides = "One-sided p" if result["sides"] == 1 else "Two-sided p"
    both = "" if source_of(result) == "ratings" else " in both directions"
    what = f"p corrected for the number of pairs{both} (Holm)" if result["holm"] else sides
    return table(
        "pairs",
        f"{what}; the system that stands higher is on the left. Undecided pairs first.",
        {"left": ("Left", "text"), "right": ("Right", "text"), "wins": ("Wins", "count"),
         "losses": ("Losses", "count"), "ties": ("Ties", "count"), "p": ("p", "p"),
         "decided": ("Decided", "text")},
        sorted(pairs, key=lambda item: bool(item["decided"])),
    )  # fmt: skip


def _methods(result: Mapping[str, Any], systems: list[Mapping[str, Any]], source: str) -> str:
    words, _ = METHODS.get(result["method"], (result["method"], ()))
    ranges, _ = RANGES.get(result["ranges"], (result["ranges"], ()))
    number = result.get("resamples")
    times = f" of {number:,} resamples" if number and result["ranges"] == "bootstrap" else ""
    level = f"{100 * result['level']:g} %"
    if result.get("calibrated") is not None:
        level += f" (at a level found by simulation, {100 * result['calibrated']:.1f} %)"
    tests = " Tests of pairs were corrected for their number (Holm)." if result["holm"] else ""
    seed = "" if result.get("seed") is None else f" (seed {result['seed']})"
    clusters = {
        "neighbours": "clusters come from Wilcoxon rank-sum tests of neighbours",
        "all": "clusters come from Wilcoxon rank-sum tests of all pairs",
    }.get(str(result.get("clusters_by")), "systems whose ranges do not overlap fall into different"
          " clusters")  # fmt: skip
    ties = "" if result.get("ties") != "drop" else ", ties left out"
    return (
        f"We ranked {plural(len(systems), 'system')} from {result[source]:,} human {source} by"
        f" {words}{ties}. Rank ranges at {level} come from {ranges}{times} over"
        f" {result['blocks']:,} blocks, the unit being the {result['unit']}{seed};"
        f" {clusters}.{tests}"
    )


def _sources(result: Mapping[str, Any]) -> tuple[str, ...]:
    _, of_method = METHODS.get(result["method"], ("", ()))
    _, of_ranges = RANGES.get(result["ranges"], ("", ()))
    return (
        *of_method,
        *of_ranges,
        *(("wilcoxon1945",) if "judgments" not in result else ()),
        *(("holm1979",) if result["holm"] else ()),
    )


def next_sets_section(result: Mapping[str, Any]) -> Section:
    """The systems to show next."""
    need(result, best=str, goal=str, judgments=int, signature=str, sets=list)
    chances = needed(result, "systems", system=str, best=float)
    sets = [
        {"set": number, "systems": ", ".join(names)}
        for number, names in enumerate(result["sets"], start=1)
    ]
    first = max(chances, key=lambda item: float(item["best"]))
    return Section(
        "next-sets", "Which systems to show next",
        f"After {result['judgments']:,} judgments {result['best']} is ahead;"
        f" {first['system']} is the best system with probability {100 * first['best']:.0f} %. No"
        " significance may be claimed from judgments chosen this way.",
        (
            table("sets", "Systems to show together.",
                  {"set": ("Set", "count"), "systems": ("Systems", "text")}, sets),
            table("chances", "Chance to be the best.",
                  {"system": ("System", "text"), "best": ("Chance", "percent")},
                  sorted(chances, key=lambda item: -float(item["best"]))),
        ),
        result["signature"],
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "next-sets": next_sets_section,
    "ranking": ranking_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
