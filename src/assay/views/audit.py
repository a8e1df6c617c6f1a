"""A finished campaign, examined."""

from __future__ import annotations

from dataclasses import replace

from assay.audit.results import Audit
from assay.errors import InputError
from assay.results import has_note, plain, plural
from assay.views.estimation import decided_how, interval_heading
from assay.views.section import (
    Block,
    Section,
    Table,
    Verdicts,
    cluster_lines,
    decided_figure,
    sentence,
    table,
    winners,
    with_ranks,
)

TARGETS = {
    "texts": "documents like those of the test set",
    "new-segments": "segments like those judged",
    "new-judgments": "another round of judgments",
    "answers": "this test set",
    "raters": "this test set and raters like these",
}
VERDICTS = ("contradicted", "open", "holds")
MOST_OPEN_SHOWN = 20
"""Distinctions that do not hold and are listed in a terminal; a page has them all."""


def audit_section(audit: Audit, *, pairs: bool = False) -> Section:
    """Findings first, then systems, what does not hold, and the pairs behind it.

    A terminal shows the table of ``pairs`` only if asked: it can be long.
    """
    if not audit.findings or not audit.systems:
        raise InputError("the saved audit has no systems or findings; save it again")
    first, *rest = audit.findings
    blocks: list[Block] = [_systems(audit), *map(sentence, rest)]
    if any(item.ease for item in audit.systems):
        blocks.append("Ease: how much better a system looks because its segments were easier.")
    blocks += [_practice(audit), *_claims(audit)]
    if audit.representation:
        blocks.append(_representation(audit))
    if len(audit.systems) > 2:
        blocks.append(decided_figure(plain(audit.systems), plain(audit.pairs), _rule(audit)))
    table_of_pairs = _pairs(audit)
    blocks.append(
        replace(table_of_pairs, page=len(audit.pairs)) if pairs
        else replace(table_of_pairs, where="page")
    )  # fmt: skip
    return Section(
        name="audit",
        title="What the campaign can say",
        headline=sentence(first),
        lead="",
        blocks=tuple(blocks),
        signature=audit.signature,
        stage="audit",
        question=_question(audit),
        methods=_methods(audit),
        sources=("koehn2012", "holm1979") if audit.source == "judgments" else (
            "lo2023", "wilcoxon1945", "sarndal1992", "holm1979"
        ),
        next=audit.next,
        notes=audit.notes,
        verdicts=_verdicts(audit),
    )  # fmt: skip


def _verdicts(audit: Audit) -> Verdicts:
    how = "differences" if audit.source == "ratings" else "expected win"
    return Verdicts(
        audit.source,
        f"{how}, {_rule(audit)}, for {TARGETS[audit.target]}",
        f"it asks about {TARGETS[audit.target]}",
        {item.system: item.cluster for item in audit.systems},
        {frozenset((item.left, item.right)): item.better for item in audit.pairs},
    )


def _rule(audit: Audit) -> str:
    return decided_how(audit.level, family=audit.family)


def _interval(audit: Audit) -> str:
    holds = not has_note(audit.notes, "intervals-do-not-hold")
    return interval_heading(audit.level, holds=holds)


def _question(audit: Audit) -> str:
    published = "published " if audit.published.source == "published" else ""
    return (
        f"Which {published}distinctions between {plural(len(audit.systems), 'system')} do"
        f" {audit.coverage.answers:,} {audit.source} support?"
    )


def _systems(audit: Audit) -> Table:
    lower = " (lower scores are better)" if audit.better == "lower" else ""
    rows = audit.systems
    if not any(item.ease for item in rows):  # all were rated on the same segments
        rows = tuple(replace(item, ease=None) for item in rows)
    found = table(
        "systems", f"Dot: rank; bar: rank range. Best system first{lower}; a line ends a cluster"
        f" ({_rule(audit)}).",
        f"rank:count; system:text; score; low,high:interval = {_interval(audit)}; "
        "low_rank,high_rank:ranks = rank range; cluster:count; n:count = segments; "
        f"share:percent; answers:count = {audit.source}; ease",
        rows, cluster_lines(rows),
    )  # fmt: skip
    return with_ranks(found, rows, winners(pair for pair in audit.pairs if pair.better is not None))


def _practice(audit: Audit) -> Table:
    """Where common practice puts the systems, behind the reason why it differs."""
    if audit.source == "judgments":
        name, why = "single judgments resampled", "it treats judgments as independent"
    else:
        name = f"WMT practice ({audit.practice})"
        why = (
            "ranks are from resampled documents, clusters from rank-sum tests of neighbours, which"
            " treat outputs as independent and compare ranks of scores, not their means"
        )
    both = table(
        "practice", f"{name[0].upper()}{name[1:]} may find more or fewer clusters, because {why}.",
        "system:text; low_rank,high_rank:ranks = ranks; cluster:count; "
        "practice_low_rank,practice_high_rank:ranks = practice ranks; practice_cluster:count",
        audit.systems, where="page",
    )  # fmt: skip
    return replace(both, fold=f"By another rule: {name}")


def _claims(audit: Audit) -> list[Block]:
    """Those that do not hold first; a terminal shows only these."""
    if not audit.claims:
        return []
    order = sorted(audit.claims, key=lambda item: VERDICTS.index(item.verdict))
    shown = "better:text; worse:text; p:p; verdict:text"
    full = table(
        "distinctions",
        f"Distinctions, and whether the answers support them ({_rule(audit)}). Those that do not"
        " hold come first.",
        shown, order, where="page",
    )  # fmt: skip
    still = [item for item in order if item.verdict != "holds"]
    if not still:
        return [full]
    brief = table("open", "Distinctions that do not hold", shown, still, where="terminal")
    return [full, replace(brief, page=MOST_OPEN_SHOWN)]


def _representation(audit: Audit) -> Table:
    return table(
        "representation",
        "Shares of the test set and of the answers. Lengths are those of documents, in segments.",
        "what:text = by; name:text = part; full:percent = test set; rated:percent = answers",
        audit.representation,
    )  # fmt: skip


def _pairs(audit: Audit) -> Table:
    sides = "One-sided" if audit.sides == 1 else "Two-sided"
    return table(
        "pairs",
        f"Decided {_rule(audit)}. {sides} p, uncorrected and corrected for the number of pairs"
        f" (Holm). Detectable: the smallest true difference detected with {audit.power.power:.0%}"
        " probability. Undecided pairs come first.",
        "left:text; right:text; basis:text; n:count; wins:count; losses:count; ties:count; "
        f"difference; low,high:interval = {_interval(audit)}; p:p; p_holm:p = p (Holm); "
        "detectable; better:text",
        sorted(audit.pairs, key=lambda item: item.decided),
    )  # fmt: skip


def _methods(audit: Audit) -> str:
    how = (
        "paired differences of scores, or differences of scores where two systems share less than"
        " half of their segments,"
        if audit.source == "ratings"
        else "expected win, resampled,"
    )
    units = ""
    if audit.target not in ("answers", "raters"):
        units = f" with {audit.blocks:,} {audit.unit}s as units,"
    return (
        f"We audited {audit.coverage.answers:,} {audit.source} of"
        f" {plural(len(audit.systems), 'system')}: pairs were compared by {how}{units} for"
        f" {TARGETS[audit.target]}, {_rule(audit)}."
    )
