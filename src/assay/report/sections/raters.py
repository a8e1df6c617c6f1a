"""The raters: severity, agreement, attention checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.document import Section, Table
from assay.report.parts import need, needed, plural, table

__all__ = ["raters_section"]


def raters_section(result: Mapping[str, Any]) -> Section:
    """Every rater, and how far they agree."""
    need(result, ratings=int, outputs=int, overlapping=int, signature=str, notes=list,
         outliers=list)  # fmt: skip
    raters = needed(result, "raters", rater=str, n=int)
    alpha = result.get("alpha")
    agree = (
        "Nothing can be said of their agreement: "
        + ("no output has two ratings." if not result["overlapping"] else "all ratings are equal.")
        if alpha is None
        else f"Their agreement is {alpha:.2f} (Krippendorff's alpha, 1 is perfect) on"
        f" {result['overlapping']:,} outputs that two or more of them rated."
    )
    apart = result["outliers"]
    stands = f" {', '.join(apart)} stand{'s' if len(apart) == 1 else ''} apart." if apart else ""
    shown = table(
        "raters",
        "Severity: how many points worse than the average rater, on the same outputs.",
        {"rater": ("Rater", "text"), "n": ("Ratings", "count"), "mean": ("Mean", "number"),
         "severity": ("Severity", "number"), "stderr": ("±", "number"),
         "spread": ("Spread", "number"), "correlation": ("Correlation", "number"),
         "seconds": ("Seconds", "number"), "skipped": ("Skipped", "count"),
         "checks": ("Checks", "count"), "passed": ("Passed", "count"),
         "outlier": ("Apart", "text")},
        raters,
    )  # fmt: skip
    return Section(
        "raters",
        "The raters",
        f"{plural(len(raters), 'rater')} gave {result['ratings']:,} ratings. {agree}{stands}",
        (shown, _scores(result)) if result.get("estimates") else (shown,),
        result["signature"],
        methods=(
            "" if alpha is None
            else f"Agreement between raters was {alpha:.2f} (Krippendorff's alpha, interval scale)."
        ),
        sources=() if alpha is None else ("krippendorff2011",),
        notes=tuple(result["notes"]),
    )  # fmt: skip


def _scores(result: Mapping[str, Any]) -> Table:
    rows = [
        dict(item) | {"rater": item["rater"] or "all"}
        for item in needed(result, "estimates", system=str, estimate=float)
    ]
    return table(
        "scores-by-rater", "Every system's score on the whole test set, by all raters and by each.",
        {"rater": ("Rater", "text"), "system": ("System", "text"),
         "estimate": ("Estimate", "number"), "low": ("Low", "number"), "high": ("High", "number"),
         "n": ("Rated", "count")},
        rows,
    )  # fmt: skip
