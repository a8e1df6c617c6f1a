"""How the sample was drawn, whether it mirrors the test set, and how stable rankings are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.sampling.representation import bin_name
from assay.views.figures import draw_shares
from assay.views.section import Figure, Section, need, needed, plural, table

GROUPS = {"length_bins": "document length", "domains": "domain", "positions": "place in document"}
FAR = 0.05
"""Shares further apart than this are named in words."""


def sample_section(result: Mapping[str, Any]) -> Section:
    """What was drawn, with which probabilities, beside the whole test set."""
    need(result, n=int, population=int, design=str, matched=bool, signature=str, snippets=int,
         min_probability=float, max_probability=float, context_segments=float,
         outputs=int)  # fmt: skip
    rows = [
        {
            "by": what,
            "group": bin_name(item["name"]) if key == "length_bins" else item["name"],
            "full": item["full"],
            "sample": item["sample"],
        }
        for key, what in GROUPS.items()
        for item in needed(result, key, name=str, full=float, sample=float)
        if item["full"] or item["sample"]
    ]
    off = [row for row in rows if abs(row["sample"] - row["full"]) > FAR]
    mirror = (
        _mirrors(rows)
        if not off
        else "It differs from the test set in "
        + "; ".join(
            f"{row['by']} {row['group']} ({100 * row['sample']:.0f} % instead of"
            f" {100 * row['full']:.0f} %)" for row in off[:3]
        ) + "."
    )  # fmt: skip
    chance = (
        f"every segment had the same chance, {result['max_probability']:.3f}"
        if result["max_probability"] - result["min_probability"] < 1e-9
        else f"chances from {result['min_probability']:.3f} to {result['max_probability']:.3f}"
        " are kept with the sample and used later"
    )
    shares = table(
        "shares", "Shares of the segments, in the whole test set and in the sample.",
        {"by": ("By", "text"), "group": ("Group", "text"), "full": ("Test set", "percent"),
         "sample": ("Sample", "percent")},
        rows,
    )  # fmt: skip
    figure = Figure("shares", "Whole test set and sample side by side.", lambda: draw_shares(rows))
    return Section(
        name="sample",
        title="The sample",
        lead=(
            f"{result['n']:,} of {result['population']:,} segments were drawn"
            f" ({result['design']}{'' if result['matched'] else ', each system for itself'});"
            f" {chance}. {mirror}"
        ),
        blocks=(figure, shares, _work(result)),
        signature=result["signature"],
        notes=tuple(result.get("notes", ())),
    )


def _mirrors(rows: list[dict[str, Any]]) -> str:
    """That nothing is off, naming what was looked at."""
    ways = list(dict.fromkeys(row["by"] for row in rows))
    if not ways:
        return "The table has nothing to compare it with the test set by."
    named = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])} or {ways[-1]}"
    return f"It mirrors the test set: no share by {named} is off by more than {100 * FAR:g} points."


def _work(result: Mapping[str, Any]) -> str:
    distinct = result.get("distinct_outputs")
    once = (
        "" if distinct is None or distinct == result["outputs"]
        else f" ({distinct:,} if identical ones are rated once)"
    )  # fmt: skip
    effect = result.get("design_effect")
    predicted = (
        "" if effect is None
        else f" By the metrics, differences between systems vary {effect:.2f} times as much as in"
        " a simple random sample of this size."
    )  # fmt: skip
    context = (
        f", and {result['context_segments']:,.0f} more segments to read as context"
        if result["context_segments"] and result.get("length_bins") else ""
    )  # fmt: skip
    return f"The work: {plural(result['outputs'], 'output')} to rate{once}{context}.{predicted}"


def stability_section(result: Mapping[str, Any]) -> Section:
    """How often samples of each design rank systems otherwise than the whole test set."""
    need(result, metric=str, draws=int, signature=str, notes=list)
    rows = needed(result, "designs", design=str, matched=bool, changed=float,
                  discordant_pairs=float, test_sets=int)  # fmt: skip
    shown = table(
        "stability",
        "Changed: the expected number of test sets with another order; significant: of those where"
        " a significant pair is turned round. Length error: mean difference of length shares, in"
        " points. Context: segments to read for each to rate.",
        {"design": ("Design", "text"), "matched": ("Matched", "text"), "budget": ("Budget", "text"),
         "changed": ("Changed", "number"), "changed_error": ("±", "number"),
         "test_sets": ("of", "count"), "discordant_pairs": ("Pairs turned", "percent"),
         "significant_flips": ("Significant", "number"), "length_error": ("Length error", "number"),
         "context": ("Context", "number")},
        rows,
    )  # fmt: skip
    lead = f"Ranked by {result['metric']} on samples instead of everything: {_steadiest(rows)}."
    return Section("stability", "Stability of rankings", lead, (shown,), result["signature"],
                   sources=("lo2023",), notes=tuple(result["notes"]))  # fmt: skip


def _steadiest(rows: list[Mapping[str, Any]]) -> str:
    """The design with which the fewest pairs change places, at each budget."""
    said = []
    for budget in dict.fromkeys(str(row.get("budget", "")) for row in rows):
        own = [row for row in rows if str(row.get("budget", "")) == budget]
        best = min(own, key=lambda row: float(row["discordant_pairs"]))
        named = f"{best['design']} ({'matched' if best['matched'] else 'unmatched'})"
        share = f"{100 * best['discordant_pairs']:.1f} % of the pairs of systems change places"
        least = "" if len(own) == 1 else ", the fewest"
        said.append(f"at {budget} {share} with {named}{least}")
    return "; ".join(said)


def next_section(result: Mapping[str, Any]) -> Section:
    """The segments, or systems, to rate next."""
    need(result, rated=int, pool=int, method=str, signature=str, notes=list)
    rows = needed(result, "segments")
    keys = dict.fromkeys(key for row in rows for key in row)
    shown = table(
        "next", "To be rated next, in this order.",
        {key: (key.capitalize(), "text") for key in keys}, rows,
    )  # fmt: skip
    return Section(
        "next", "What to rate next",
        f"{result['rated']:,} of {plural(result['pool'], 'output')} are rated;"
        f" {len(rows):,} are to come next ({result['method']}).",
        (shown,) if rows else ("Nothing is left to choose.",), result["signature"],
        notes=tuple(result["notes"]),
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "stability": stability_section,
    "sample": sample_section,
    "next": next_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
