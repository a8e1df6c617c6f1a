"""What an audit found, in plain words: the weightiest first, then what to do next."""

from __future__ import annotations

import numpy as np

from assay.audit.results import Audit
from assay.designs.base import design_of
from assay.ranking.counts import listed
from assay.results import Costs, has_note, percent, plural

PARTS = {
    "length": "documents of {} segments",
    "position": "segments of the {} of their documents",
    "domain": "segments of the domain {}",
}

MIN_SHARE_GAP = 0.05
"""A share of the answers this far from the share of the test set is reported."""

WHERE = {
    "texts": "for new documents like these",
    "answers": "on this test set",
    "raters": "on this test set, with raters like these",
    "new-segments": "for new segments like these",
    "new-judgments": "if judged anew",
}

MIN_EASE = 0.25
"""Ease of segments that is reported: part of the median smallest detectable difference."""


def ratings_findings(audit: Audit) -> tuple[str, ...]:
    """The sentences about a campaign of ratings."""
    return (
        *_claims(audit), *_unmatched(audit), *_covered(audit), *_represented(audit),
        *_practice(audit), *_power(audit), *_stability(audit), *_agreement(audit, "outputs"),
    )  # fmt: skip


def judgments_findings(audit: Audit) -> tuple[str, ...]:
    """The sentences about a campaign of judgments."""
    return (
        *_claims(audit), *_met(audit), *_covered(audit), *_represented(audit),
        *_practice(audit), *_model(audit), *_agreement(audit, "pairs of outputs"),
    )  # fmt: skip


def _claims(audit: Audit) -> list[str]:
    counts = audit.published
    if not counts.claims:
        return ["all scores are equal, so no distinction is made"]
    what = plural(counts.claims, "published distinction")
    if counts.source != "published":
        what = f"{plural(counts.claims, 'distinction')} made by the order of the systems"
    neighbours = ""
    if counts.neighbours and counts.neighbours != counts.claims:
        neighbours = f"; of the {counts.neighbours} between neighbours, "
        neighbours += _hold(counts.neighbours_hold)
    lines = [
        f"{_held(audit)}{counts.hold} of {what} {'holds' if counts.hold == 1 else 'hold'}"
        f" {WHERE[audit.target]}; {_are(counts.open)} not supported and"
        f" {_are(counts.contradicted)} contradicted"
    ]
    against = [f"{item.worse} is better than {item.better}" for item in audit.claims
               if item.verdict == "contradicted"]  # fmt: skip
    if against:
        more = f", and {len(against) - 5} more" if len(against) > 5 else ""
        lines.append(f"contradicted: {', '.join(against[:5])}{more}")
    lines.append(f"distinctions are decided, {_rule(audit)}{neighbours}")
    if audit.target == "answers" and design_of(audit.assumption).everything:
        lines.append(
            "everything is rated, so there is nothing to decide for these answers; the targets"
            " raters and texts show which differences would hold with other raters or texts"
        )
    return lines


def _held(audit: Audit) -> str:
    """Whether anything speaks against all that follows."""
    if not has_note(audit.notes, "intervals-do-not-hold"):
        return ""
    return (
        "these intervals and verdicts do not hold, since the outputs without a rating differ in"
        " kind from the rated ones; at face value, "
    )


def _rule(audit: Audit) -> str:
    """How a distinction is decided, where there are several."""
    level = percent(audit.level)
    if audit.family:
        return f"all together at the {level} level (Holm)"
    together = _hold(audit.published.hold_holm)
    return f"each at the {level} level; corrected for their number (Holm), {together}"


def _unmatched(audit: Audit) -> list[str]:
    matched = audit.matched
    complete, segments = matched.complete or 0, matched.segments or 0
    if complete == segments:
        return []
    cost = ""
    if matched.sd_ratio is not None and matched.sd_ratio > 1:
        cost = (
            f"; if segments are independent, differences on different segments have"
            f" {matched.sd_ratio:.2f} times the standard error of matched ones, so"
            f" {matched.sd_ratio**2:.1f} times the ratings are needed"
        )
    if matched.apart:
        line = (
            f"systems were rated on different segments: {matched.apart} of {matched.pairs} pairs"
            f" share less than half of them, and {complete:,} of {segments:,} rated segments are"
            f" rated for all systems{cost}"
        )
    else:
        line = (
            f"{segments - complete:,} of {segments:,} rated segments are not rated for all systems;"
            f" a pair shares {matched.common or 0:.0%} of them (median)"
        )
    return [line, *_ease(audit)]


def _ease(audit: Audit) -> list[str]:
    """The system whose segments differ most in ease, by what other systems score on them."""
    known = [(item.ease, item.system) for item in audit.systems if item.ease is not None]
    least = audit.power.detectable
    if not known or not least:
        return []
    ease, system = max(known, key=lambda item: abs(item[0]))
    if abs(ease) < MIN_EASE * least:
        return []
    segments, looks = ("easier", "better") if ease > 0 else ("harder", "worse")
    return [f"{system} got {segments} segments, which make it look {abs(ease):.2g} points {looks}"]


def _covered(audit: Audit) -> list[str]:
    covered, lines = audit.coverage, []
    if covered.unrated_systems:
        rest = covered.unrated_systems
        lines.append(f"{plural(len(rest), 'system')} without any answer: {listed(rest, 5)}")
    if covered.segments is None or covered.of_segments is None:
        return lines
    whole = ""
    if covered.documents is not None and covered.of_documents is not None:
        whole = (
            f"; {covered.documents:,} of {covered.of_documents:,} documents have an answer,"
            f" {covered.whole_documents or 0:,} are fully covered"
        )
    if covered.segments < covered.of_segments:
        lines.append(
            f"{covered.segments:,} of {covered.of_segments:,} segments"
            f" ({covered.segments / covered.of_segments:.0%}) have an answer{whole}"
        )
    if covered.outputs and covered.of_outputs and covered.outputs < covered.of_outputs:
        shares = [item.share or 0.0 for item in audit.systems]
        lines.append(
            f"{covered.outputs:,} of {covered.of_outputs:,} outputs"
            f" ({covered.outputs / covered.of_outputs:.0%}) are rated, between {min(shares):.0%}"
            f" and {max(shares):.0%} per system"
        )
    return lines


def _represented(audit: Audit) -> list[str]:
    far = [item for item in audit.representation if abs(item.rated - item.full) >= MIN_SHARE_GAP]
    far.sort(key=lambda item: -abs(item.rated - item.full))
    return [
        f"{PARTS[item.what].format(item.name)} are"
        f" {'over' if item.rated > item.full else 'under'}-represented: {item.rated:.0%} instead"
        f" of {item.full:.0%}"
        for item in far[:3]
    ]


def _practice(audit: Audit) -> list[str]:
    ours = max(item.cluster for item in audit.systems)
    usual = max(item.practice_cluster for item in audit.systems)
    if audit.source == "ratings":
        how = "rank-sum tests between neighbours, which treat outputs as independent"
    else:
        how = "single judgments, resampled as if they were independent"
    ours_by = (
        f"by what is decided {WHERE[audit.target]}" if audit.target in ("answers", "raters")
        else f"with each {audit.unit} as the unit"
    )  # fmt: skip
    both = [
        float(np.mean([high - low + 1 for low, high in ranges]))
        for ranges in (
            [(item.low_rank, item.high_rank) for item in audit.systems],
            [(item.practice_low_rank, item.practice_high_rank) for item in audit.systems],
        )
    ]
    return [
        f"{ours_by}, the systems form {plural(ours, 'cluster')} (mean rank range {both[0]:.1f});"
        f" {how}, give {usual} ({both[1]:.1f})"
    ]


def _power(audit: Audit) -> list[str]:
    power = audit.power
    if audit.target == "answers" and design_of(audit.assumption).everything:
        return []
    if power.detectable is None:
        return ["there is no standard error, so the detectable differences are unknown"]
    return [
        f"differences of {power.detectable:.3g} (median over pairs; {power.detectable_worst:.3g}"
        f" in the worst case) are detected with {power.power:.0%} probability;"
        f" {power.powered or 0:.0%} of the pairs differ by that much. {power.expected:.0%} of the"
        f" pairs were expected to be decided, and {power.found:.0%} are"
    ]


def _stability(audit: Audit) -> list[str]:
    """How likely a repeat is to give this order (Riley et al. 2024)."""
    if audit.stable is None or audit.stable_pairs is None:
        return []
    return [
        f"a repeat of this size would put {audit.stable_pairs:.0%} of the pairs in this order"
        f" {WHERE[audit.target]}, and all systems with probability {audit.stable:.2f}"
    ]


def _met(audit: Audit) -> list[str]:
    matched = audit.matched
    lines = []
    if matched.never:
        lines.append(f"{matched.never} of {matched.pairs} pairs were never compared head to head")
    lines.append(
        f"each pair was compared {matched.least:,} to {matched.most:,} times, in the median"
        f" {matched.typical:,.0f} times"
    )
    return lines


def _model(audit: Audit) -> list[str]:
    power = audit.power
    if power.sigma is None:
        return [
            "no model of the judgments could be fitted, so the expected number of significant"
            " pairs is unknown"
        ]
    expected, seen = power.expected_by or {}, power.found_by or {}
    return [
        f"the noise of a judgment is sigma = {power.sigma:.1f}, on a scale where systems lie"
        f" between 0 and 10. {expected.get('sign', 0):.0%} of the pairs should then be significant"
        f" by sign tests ({seen.get('sign', 0):.0%} are) and {expected.get('pooled', 0):.0%} by a"
        f" test that pools all judgments ({seen.get('bootstrap', 0):.0%} are by the bootstrap)"
    ]


def _agreement(audit: Audit, what: str) -> list[str]:
    raters = audit.raters
    if raters is None:
        return ["raters are not named, so their agreement is unknown"]
    if not raters.overlapping or raters.alpha is None:
        return [f"no two raters share {what}, so their agreement is unknown"]
    within = ""
    if raters.within is not None:
        within = f", and with themselves {raters.within:z.2f} on {raters.repeated:,} repeated ones"
    return [
        f"the agreement of {raters.raters} raters is alpha = {raters.alpha:z.2f} on the"
        f" {raters.overlapping:,} {what} that two or more of them answered{within}"
    ]


def ratings_next(audit: Audit, pay: Costs) -> tuple[str, ...]:
    """How many ratings would decide enough pairs."""
    power, now = audit.power, audit.coverage.answers
    if power.expected >= power.power or power.detectable is None:
        return ()
    share = f"{power.power:.0%} of the pairs"
    about = "" if power.needed is None else f"about {pay.counted(power.needed, 'ratings')}"
    if audit.target == "raters":
        if power.needed is None:
            return (
                f"to decide {share}, give each task to more raters; more segments are not enough",
            )
        return (f"to decide {share}: {about} of this test set by such raters",)
    if audit.target == "answers":
        if power.needed is None:
            return (f"rating everything would not be enough to decide {share}",)
        return (f"to decide {share}: {about} of this test set",)
    if power.needed is None:
        return (f"to decide {share}: more than 1,000 times as many {audit.unit}s",)
    return (
        f"to decide {share}: {about}, {power.needed / now:.1f} times as many {audit.unit}s, rated"
        " like these, if the true differences are as large as the observed ones after allowing"
        " for chance",
    )


def judgments_next(audit: Audit, pay: Costs) -> tuple[str, ...]:
    """How many judgments would decide enough pairs."""
    needed, now = audit.power.needed_by or {}, audit.coverage.answers
    parts = []
    for name, words in (("sign", "sign tests"), ("pooled", "the pooled test")):
        total = needed.get(name)
        if total is not None and total > now:
            cost = pay.cost(total - now)
            parts.append(
                f"{total:,} judgments by {words} ({total - now:,} more{cost and ': '}{cost})"
            )
    if not parts:
        return ()
    if audit.power.needed_by_curve is not None:
        parts.append(
            f"but {audit.power.needed_by_curve:,} by sign tests if the trend of these judgments"
            " continues, because the systems are not evenly spread"
        )
    return (f"to make {audit.power.power:.0%} of the pairs significant: {', '.join(parts)}",)


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def _hold(number: int) -> str:
    return f"{number} {'holds' if number == 1 else 'hold'}"
