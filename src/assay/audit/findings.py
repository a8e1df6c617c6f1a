"""What an audit found, in plain words, the weightiest first."""

from __future__ import annotations

from assay.audit.results import Audit, Representation, Verdicts
from assay.designs.base import design_of

APART = 0.05
"""A share of the answers that is so far from the share of the test set is worth a word."""

LUCKY = 0.25
"""Luck that is worth a word: part of the median smallest detectable difference."""


def ratings_findings(audit: Audit) -> tuple[str, ...]:
    """The sentences about a campaign of ratings."""
    said = [*_claims(audit), *_unmatched(audit), *_covered(audit), *_represented(audit)]
    said += [*_practice(audit), *_power(audit), *_agreement(audit, "outputs")]
    return tuple(said)


def judgments_findings(audit: Audit) -> tuple[str, ...]:
    """The sentences about a campaign of judgments."""
    said = [*_claims(audit), *_met(audit), *_covered(audit), *_represented(audit)]
    said += [*_practice(audit), *_model(audit), *_agreement(audit, "pairs of outputs")]
    return tuple(said)


def _claims(audit: Audit) -> list[str]:
    found = audit.published
    if not found.claims:
        return ["all scores are equal, so no distinction is made"]
    what = _plural(found.claims, "published distinction")
    if found.source != "published":
        what = f"{_plural(found.claims, 'distinction')} that the order of the scores makes"
    where = {
        "new-documents": "for new documents like these",
        "test-set": "on this test set",
        "new-segments": "for new segments like these",
        "new-judgments": "if judged anew",
    }[audit.target]
    lines = [
        f"of {what}, {_hold(found.hold)} {where}, {_are(found.open)} not supported"
        f" and {_are(found.contradicted)} contradicted; corrected for the number of pairs,"
        f" {_hold(found.hold_holm)}{_neighbours(found)}"
    ]
    against = [f"{item.worse} is better than {item.better}" for item in audit.claims
               if item.verdict == "contradicted"]  # fmt: skip
    if against:
        more = f", and {len(against) - 5} more" if len(against) > 5 else ""
        left = sum(item.verdict_holm == "contradicted" for item in audit.claims)
        lines.append(
            f"contradicted: {', '.join(against[:5])}{more}; {left} of {len(against)} after"
            " correction for the number of pairs"
        )
    if audit.target == "test-set" and design_of(audit.assumption).everything:
        lines.append(
            "everything is rated, so any difference on this test set is decided; whether it would"
            " show on other documents is the question of the target new-documents"
        )
    return lines


def _neighbours(found: Verdicts) -> str:
    if not found.neighbours or found.neighbours == found.claims:
        return ""
    return f"; of the {found.neighbours} between neighbours, {_hold(found.neighbours_hold)}"


def _unmatched(audit: Audit) -> list[str]:
    found, lines = audit.matched, []
    complete, segments = found.complete or 0, found.segments or 0
    if complete == segments:
        return []
    cost = ""
    if found.sd_ratio is not None and found.sd_ratio > 1:
        cost = (
            "; differences on segments of their own have"
            f" {found.sd_ratio:.2f} times the standard error of matched ones if segments are taken"
            f" for independent, so {found.sd_ratio**2:.1f} times the ratings are needed"
        )
    if found.apart:
        lines.append(
            f"systems were rated on different segments: {found.apart} of {found.pairs} pairs have"
            f" less than half of them in common, and {complete:,} of {segments:,} rated segments"
            f" are rated for all systems{cost}"
        )
    else:
        lines.append(
            f"{segments - complete:,} of {segments:,} rated segments are not rated for all systems;"
            f" a pair has {found.common or 0:.0%} in common (median)"
        )
    return lines + _luck(audit)


def _luck(audit: Audit) -> list[str]:
    """Systems whose segments were easier, as far as other systems show."""
    known = [item for item in audit.systems if item.luck is not None and item.luck == item.luck]
    least = audit.power.detectable
    if not known or not least:
        return []
    top = max(known, key=lambda item: abs(item.luck or 0.0))
    size = abs(top.luck or 0.0)
    if size < LUCKY * least:
        return []
    how = "easier" if (top.luck or 0.0) > 0 else "harder"
    return [
        f"{top.system} got {how} segments: it looks {size:.2g} points"
        f" {'better' if how == 'easier' else 'worse'} by them than on those of all ratings"
    ]


def _covered(audit: Audit) -> list[str]:
    found, lines = audit.coverage, []
    if found.unrated_systems:
        rest = found.unrated_systems
        more = f" and {len(rest) - 5} more" if len(rest) > 5 else ""
        lines.append(
            f"{_plural(len(rest), 'system')} without any answer: {', '.join(rest[:5])}{more}"
        )
    if found.segments is None or found.of_segments is None:
        return lines
    whole = ""
    if found.documents is not None and found.of_documents is not None:
        whole = (
            f"; of {found.of_documents:,} documents {found.documents:,} are touched and"
            f" {found.whole_documents or 0:,} covered whole"
        )
    if found.segments < found.of_segments:
        lines.append(
            f"{found.segments:,} of {found.of_segments:,} segments"
            f" ({found.segments / found.of_segments:.0%}) have an answer{whole}"
        )
    if found.outputs is not None and found.of_outputs and found.outputs < found.of_outputs:
        shares = [item.share or 0.0 for item in audit.systems]
        lines.append(
            f"{found.outputs:,} of {found.of_outputs:,} outputs are rated"
            f" ({found.outputs / found.of_outputs:.0%}), from {min(shares):.0%} to"
            f" {max(shares):.0%} of a system's"
        )
    return lines


def _represented(audit: Audit) -> list[str]:
    far = [item for item in audit.representation if abs(item.rated - item.full) >= APART]
    far.sort(key=lambda item: -abs(item.rated - item.full))
    return [_share(item) for item in far[:3]]


def _share(item: Representation) -> str:
    what = {
        "length": f"documents of {item.name} segments",
        "position": f"segments of the {item.name} of their documents",
        "domain": f"segments of the domain {item.name}",
    }[item.what]
    how = "over" if item.rated > item.full else "under"
    return f"{what} are {how}-represented: {item.rated:.0%} instead of {item.full:.0%}"


def _practice(audit: Audit) -> list[str]:
    ours = max(item.cluster for item in audit.systems)
    usual = max(item.practice_cluster for item in audit.systems)
    size = _mean_size([(item.low_rank, item.high_rank) for item in audit.systems])
    if audit.source == "ratings":
        how = "by rank-sum tests of neighbours, which take every output for independent,"
        sizes = f"mean rank range {size:.1f} ranks"
    else:
        how = "with single judgments drawn anew, as if they were independent,"
        usual_size = _mean_size(
            [(item.practice_low_rank, item.practice_high_rank) for item in audit.systems]
        )
        sizes = f"mean rank range {usual_size:.1f} and {size:.1f} ranks"
    ours_by = (
        "by what is decided on this test set" if audit.target == "test-set"
        else f"with each {audit.unit} as the unit"
    )  # fmt: skip
    return [
        f"{how} the systems fall into {_plural(usual, 'cluster')}; {ours_by} into {ours} ({sizes})"
    ]


def _mean_size(ranges: list[tuple[int, int]]) -> float:
    return sum(high - low + 1 for low, high in ranges) / len(ranges)


def _power(audit: Audit) -> list[str]:
    found = audit.power
    if found.detectable is None:
        return ["there is no standard error, so nothing can be said of what could be found"]
    if audit.target == "test-set" and design_of(audit.assumption).everything:
        return []
    return [
        f"differences of {found.detectable:.3g} (median over pairs; {found.detectable_worst:.3g} in"
        f" the worst case) are found with {found.power:.0%} probability; {found.powered or 0:.0%}"
        f" of pairs differ by enough, and {found.expected:.0%} of pairs could be expected to be"
        f" decided ({found.found:.0%} are)"
    ]


def _met(audit: Audit) -> list[str]:
    found = audit.matched
    lines = []
    if found.never:
        lines.append(f"{found.never} of {found.pairs} pairs were never compared head to head")
    lines.append(
        f"a pair was compared {found.typical:,.0f} times (median), the least compared"
        f" {found.least:,}, the most {found.most:,} times"
    )
    return lines


def _model(audit: Audit) -> list[str]:
    found = audit.power
    if found.sigma is None:
        return ["no model of judgments could be fitted, so what was to be expected is not known"]
    expected, seen = found.expected_by or {}, found.found_by or {}
    return [
        f"one judgment has the noise sigma = {found.sigma:.1f} on a scale where systems lie between"
        f" 0 and 10; then {expected.get('sign', 0):.0%} of pairs are expected to be significant by"
        f" sign tests ({seen.get('sign', 0):.0%} are) and {expected.get('pooled', 0):.0%} by a"
        f" test that pools all judgments ({seen.get('bootstrap', 0):.0%} are by the bootstrap)"
    ]


def _agreement(audit: Audit, what: str) -> list[str]:
    found = audit.raters
    if found is None:
        return ["raters are not named, so their agreement is not known"]
    if not found.overlapping or found.alpha != found.alpha:
        return [f"no two raters share {what}, so their agreement is not known"]
    own = ""
    if found.repeated and found.within == found.within:
        own = f"; with themselves on {found.repeated:,} repeated ones: {found.within:.2f}"
    return [
        f"{found.raters} raters agree with alpha = {found.alpha:.2f} on the {found.overlapping:,}"
        f" {what} that two or more of them answered{own}"
    ]


def ratings_next(audit: Audit) -> tuple[str, ...]:
    """What it would take."""
    found, now = audit.power, audit.coverage.answers
    if found.expected >= found.power or found.detectable is None:
        return ()
    share = f"{found.power:.0%} of pairs to be decided"
    if audit.target == "test-set":
        if found.needed is None:
            return (f"for {share}, not even rating everything is enough",)
        return (f"for {share}: about {found.needed:,} ratings of this test set",)
    if found.needed is None:
        return (f"for {share}: more than 1,000 times as many {audit.unit}s",)
    return (
        f"for {share}: about {found.needed:,} ratings, {found.needed / now:.1f} times as many"
        f" {audit.unit}s rated as these are, if differences are as large as they look less chance",
    )


def judgments_next(audit: Audit) -> tuple[str, ...]:
    """What it would take."""
    needed, now = audit.power.needed_by or {}, audit.coverage.answers
    parts = []
    for name, words in (("sign", "sign tests"), ("pooled", "the pooled test")):
        total = needed.get(name)
        if total is not None and total > now:
            parts.append(f"{total:,} judgments by {words} ({total - now:,} more)")
    if not parts:
        return ()
    if audit.power.needed_by_curve is not None:
        parts.append(
            f"but {audit.power.needed_by_curve:,} by sign tests if it goes on as these judgments"
            " show, because systems are not spread evenly"
        )
    return (f"for {audit.power.power:.0%} of pairs to be significant: {', '.join(parts)}",)


def _plural(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def _hold(number: int) -> str:
    return f"{number} {'holds' if number == 1 else 'hold'}"
