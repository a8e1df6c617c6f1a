"""What was planned before anything was spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.views.section import Section, Show, need, needed, plural, table


def ratings_section(result: Mapping[str, Any]) -> Section:
    """How many segments to rate."""
    need(result, population=int, level=float, sd=float, signature=str, notes=list)
    wanted, target = result.get("needed"), result.get("target")
    lead = (
        f"For intervals of ±{target:g}, {wanted:,} of {plural(result['population'], 'segment')}"
        " have to be rated for each system"
        if wanted is not None and target is not None
        else "What a number of ratings brings"
    )
    fewer = result.get("needed_with_metrics")
    helped = f", or {fewer:,} with the help of metrics" if fewer is not None and wanted else ""
    curve = table(
        "plan-ratings", "Ratings per system, and the half-width of the interval they give.",
        {"n": ("Rated", "count"), "half_width": ("Half-width", "number"),
         "half_width_with_metrics": ("with metrics", "number"), "minutes": ("Minutes", "count"),
         "money": ("Money", "count")},
        needed(result, "curve", n=int),
    )  # fmt: skip
    return Section("plan-ratings", "The plan: ratings", f"{lead}{helped}.", (curve,),
                   result["signature"], notes=tuple(result["notes"]))  # fmt: skip


def comparison_section(result: Mapping[str, Any]) -> Section:
    """How many segments to rate to find a difference."""
    need(result, population=int, gap=float, power=float, signature=str, notes=list)
    wanted, fewer = result.get("needed"), result.get("needed_with_metrics")
    takes = "cannot be had" if wanted is None else f"takes {wanted:,} of {result['population']:,}"
    helped = f", or {fewer:,} with the help of metrics" if fewer is not None and wanted else ""
    curve = table(
        "plan-comparison", "Segments rated for both systems, and the probability of a find.",
        {"n": ("Rated", "count"), "half_width": ("Half-width", "number"),
         "power": ("Power", "percent"), "power_with_metrics": ("with metrics", "percent")},
        needed(result, "curve", n=int),
    )  # fmt: skip
    return Section(
        "plan-comparison", "The plan: two systems",
        f"To find a difference of {result['gap']:g} with {100 * result['power']:g} % probability"
        f" {takes} segments rated for both{helped}.",
        (curve,), result["signature"], notes=tuple(result["notes"]),
    )  # fmt: skip


def judgments_section(result: Mapping[str, Any]) -> Section:
    """How many judgments to collect."""
    need(result, systems=int, sigma=float, goal=str, target=float, test=str, signature=str,
         notes=list)  # fmt: skip
    goals = {
        "significant": f"{100 * result['target']:g} % of the pairs decided",
        "clusters": f"{result['target']:g} clusters",
        "range_size": f"rank ranges of {result['target']:g} ranks",
    }
    goal = goals[result["goal"]]
    count = result.get("needed")
    takes = "is out of reach" if count is None else f"takes {count:,} judgments"
    columns: dict[str, tuple[str, Show]] = {
        "share": ("Decided", "percent"),
        "sign": ("Sign test", "count"),
        "pooled": ("Pooled test", "count"),
    }
    if result.get("judged"):  # without a pilot, what is left to collect is everything
        columns["more_sign"] = ("more, sign test", "count")
        columns["more_pooled"] = ("more, pooled test", "count")
    curve = table(
        "plan-judgments", "Judgments for a share of decided pairs, by the test that decides.",
        columns,
        needed(result, "curve", share=float),
    )  # fmt: skip
    return Section(
        "plan-judgments", "The plan: judgments",
        f"With {plural(result['systems'], 'system')}, {goal} {takes} (by {result['test']}).",
        (curve,), result["signature"], sources=("koehn2012",), notes=tuple(result["notes"]),
    )  # fmt: skip


def editors_section(result: Mapping[str, Any]) -> Section:
    """How many editors to ask."""
    need(result, engines=int, gap=float, measure=str, power=float, signature=str, notes=list)
    count = result.get("needed")
    takes = "no number of editors is enough" if count is None else f"it takes {count:,} editors"
    points = table(
        "plan-editors", "What a number of editors can find.",
        {"editors": ("Editors", "count"), "power": ("Power", "percent"),
         "detectable": ("Gap found", "number")},
        needed(result, "points", editors=int, power=float),
    )  # fmt: skip
    return Section(
        "plan-editors", "The plan: editors",
        f"To find a gap of {result['gap']:g} in {result['measure']} between two of"
        f" {plural(result['engines'], 'engine')} with {100 * result['power']:g} % probability,"
        f" {takes}.",
        (points,), result["signature"], notes=tuple(result["notes"]),
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "plan-ratings": ratings_section,
    "plan-comparison": comparison_section,
    "plan-judgments": judgments_section,
    "editors-plan": editors_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
