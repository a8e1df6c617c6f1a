"""A finished campaign under the loupe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import InputError
from assay.views.figures import draw_pairs
from assay.views.ranking import draw_ranges
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

TARGETS = {
    "new-documents": "documents like those of the test set",
    "new-segments": "segments like those judged",
    "new-judgments": "another round of judgments",
    "test-set": "this test set",
}


def audit_section(result: Mapping[str, Any]) -> Section:
    """Findings first, then systems, what does not hold, and the pairs behind it."""
    need(result, source=str, findings=list, signature=str, notes=list, level=float, unit=str,
         blocks=int, target=str, practice=str, better=str, sides=int, coverage=dict, matched=dict,
         power=dict, published=dict, next=list)  # fmt: skip
    need(result["coverage"], answers=int)
    need(result["published"], claims=int, hold=int, open=int, contradicted=int, source=str)
    systems = needed(result, "systems", system=str, score=float, rank=int, low_rank=int,
                     high_rank=int, cluster=int, practice_cluster=int)  # fmt: skip
    pairs = needed(result, "pairs", left=str, right=str, decided=bool)
    claims = needed(result, "claims", better=str, worse=str, verdict=str)
    if not systems or not result["findings"]:
        raise InputError("the saved audit has no systems or findings; write it again with --json")
    parts = needed(result, "representation", what=str, name=str, full=float, rated=float)
    blocks: list[Table | Figure | str] = [_sentence(line) for line in result["findings"][1:]]
    blocks += [_figure(result, systems), _systems(result, systems)]
    blocks += [_claims(claims)] if claims else []
    blocks += [_representation(parts)] if parts else []
    if len(systems) > 2:
        blocks.append(Figure(
            "decided", "Row against column: filled where the row's system is decided to be better,"
            " a dot where nothing is decided.", lambda: draw_pairs(systems, pairs),
        ))  # fmt: skip
    return Section(
        name="audit",
        title="What the campaign can say",
        lead=_sentence(result["findings"][0]),
        blocks=(*blocks, _pairs(result, pairs)),
        signature=result["signature"],
        question=_question(result, systems),
        methods=_methods(result, systems),
        sources=("koehn2012", "holm1979") if result["source"] == "judgments" else (
            "lo2023", "wilcoxon1945", "sarndal1992", "holm1979"
        ),
        next=tuple(result["next"]),
        notes=tuple(result["notes"]),
    )  # fmt: skip


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _question(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> str:
    what = "published distinctions" if result["published"]["source"] == "published" else (
        "distinctions"
    )  # fmt: skip
    return (
        f"Which {what} between {plural(len(systems), 'system')} do"
        f" {result['coverage']['answers']:,} {result['source']} bear out?"
    )


def _figure(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> Figure:
    level = 100 * result["level"]
    return Figure(
        "ranks", f"Dot: rank. Bar: {level:g} % rank range. A line closes a cluster.",
        lambda: draw_ranges(systems),
    )  # fmt: skip


def _systems(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> Table:
    rows = [
        dict(item)
        | {"range": ranks(item), "practice": ranks({
            "low_rank": item["practice_low_rank"], "high_rank": item["practice_high_rank"]})}
        for item in systems
    ]  # fmt: skip
    lower = " (lower scores are better)" if result["better"] == "lower" else ""
    return table(
        "systems",
        f"Systems, best first{lower}; a line closes a cluster. {_practice(result)}",
        {"system": ("System", "text"), "score": ("Score", "number"), "low": ("Low", "number"),
         "high": ("High", "number"), "range": ("Ranks", "count"), "cluster": ("Cluster", "count"),
         "practice": ("Practice", "count"), "practice_cluster": ("Its cluster", "count"),
         "n": ("Segments", "count"), "share": ("Share", "percent"),
         "answers": (result["source"].capitalize(), "count"), "luck": ("Luck", "number")},
        rows,
        cluster_lines(systems),
    )  # fmt: skip


def _practice(result: Mapping[str, Any]) -> str:
    """What the columns beside ours are."""
    if result["source"] == "judgments":
        return "Practice: single judgments drawn anew, as if no two had anything in common."
    return (
        "Practice: ranks from documents drawn anew, clusters from rank-sum tests of neighbours,"
        " which take every output for independent. Luck: by how much better a system looks because"
        " its segments were easier."
    )


def _claims(claims: list[Mapping[str, Any]]) -> Table:
    order = {"contradicted": 0, "open": 1, "holds": 2}
    return table(
        "distinctions",
        "Distinctions and what the answers say of them; those that do not hold come first. Holm:"
        " corrected for the number of pairs.",
        {"better": ("Better", "text"), "worse": ("Worse", "text"), "p": ("p", "p"),
         "verdict": ("Verdict", "text"), "verdict_holm": ("Holm", "text")},
        sorted(claims, key=lambda item: order.get(item["verdict"], 1)),
    )  # fmt: skip


def _representation(parts: list[Mapping[str, Any]]) -> Table:
    return table(
        "representation",
        "Parts of the test set, and of the answers. Lengths are those of documents, in segments.",
        {"what": ("By", "text"), "name": ("Part", "text"), "full": ("Test set", "percent"),
         "rated": ("Answers", "percent")},
        parts,
    )  # fmt: skip


def _pairs(result: Mapping[str, Any], pairs: list[Mapping[str, Any]]) -> Table:
    sides = "One-sided" if result["sides"] == 1 else "Two-sided"
    return table(
        "pairs",
        f"{sides} p, by itself and corrected for the number of pairs (Holm). Detectable: the"
        " smallest true difference that is found with 80 % probability. Undecided pairs first.",
        {"left": ("Left", "text"), "right": ("Right", "text"), "basis": ("Basis", "text"),
         "n": ("n", "count"), "wins": ("Wins", "count"), "losses": ("Losses", "count"),
         "ties": ("Ties", "count"), "difference": ("Difference", "number"),
         "low": ("Low", "number"), "high": ("High", "number"), "p": ("p", "p"),
         "p_holm": ("Holm", "p"), "detectable": ("Detectable", "number"),
         "decided": ("Decided", "text")},
        sorted(pairs, key=lambda item: bool(item["decided"])),
    )  # fmt: skip


def _units(result: Mapping[str, Any]) -> str:
    if result["target"] == "test-set":
        return ""
    return f" with {result['blocks']:,} {result['unit']}s as units,"


def _methods(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> str:
    how = (
        "paired differences of mean ratings, or differences of means where two systems share less"
        " than half of their segments,"
        if result["source"] == "ratings"
        else "expected win, resampled,"
    )
    goal = TARGETS.get(result["target"], result["target"])
    return (
        f"We audited {result['coverage']['answers']:,} {result['source']} of"
        f" {plural(len(systems), 'system')}: pairs were compared by {how}"
        f"{_units(result)} for {goal}, at the"
        f" {100 * result['level']:g} % level, also with Holm's correction."
    )


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "audit": audit_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
