"""The raters: severity, agreement, attention checks, and the scores each of them would give."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.estimation.raters import RaterEstimate, RaterReport
from assay.results import plain, plural
from assay.views.section import Block, Column, Section, Table, sentence, shown, table

COLUMNS = (
    "Severity: how many points worse than the average rater, on the same outputs; s.e.: its"
    " standard error. r: correlation with the other raters; on: the number of outputs behind it."
    " Outlier: by the rule below."
)
INTERVALS = (
    "95% intervals for these answers alone; those of assay estimate may be wider, as they can"
    " allow for other raters"
)


def raters_section(result: RaterReport) -> Section:
    """Every rater, and how far they agree."""
    known = math.isfinite(result.alpha)
    apart = [f"{item.rater} ({', '.join(item.reasons)})" for item in result.raters if item.outlier]
    blocks: list[Block] = [_raters(result), COLUMNS]
    if known:
        blocks.append(
            f"Agreement on {result.overlapping:,} of {result.outputs:,} outputs: Krippendorff's"
            f" alpha {result.alpha:z.2f} (ordinal {shown(result.alpha_ordinal, 'number')}), mean r"
            f" {shown(result.mean_correlation, 'number')} over"
            f" {plural(result.pairs, 'pair')} of raters."
        )
    if result.repeats:
        blocks.append(
            f"Agreement of raters with themselves on {plural(result.repeats, 'repeat')}:"
            f" Krippendorff's alpha {shown(result.self_alpha, 'number')}."
        )
    blocks += [f"Outliers: {'; '.join(apart) or 'none'}.", sentence(result.rule)]
    if result.estimates:
        blocks += [_scores_across(result.estimates), _scores_by_rater(result.estimates)]
    return Section(
        "raters", f"The raters ({result.better} is better)", _agreement(result), tuple(blocks),
        result.signature, stage="collect", facts=(plural(len(result.raters), "rater"),),
        methods=(
            f"Agreement between raters was {result.alpha:z.2f} (Krippendorff's alpha, interval"
            " scale)." if known else ""
        ),
        sources=("krippendorff2011",) if known else (),
        notes=result.notes,
    )  # fmt: skip


def _agreement(result: RaterReport) -> str:
    if math.isfinite(result.alpha):
        agree = (
            f"Their agreement is {result.alpha:z.2f} (Krippendorff's alpha, 1 is perfect) on"
            f" {result.overlapping:,} outputs that two or more of them rated."
        )
    else:
        why = "all ratings are equal" if result.overlapping else "no output has two ratings"
        agree = f"Their agreement is unknown: {why}."
    verb = "stands" if len(result.outliers) == 1 else "stand"
    apart = f" {', '.join(result.outliers)} {verb} out." if result.outliers else ""
    return f"{plural(len(result.raters), 'rater')} gave {result.ratings:,} ratings. {agree}{apart}"


def _raters(result: RaterReport) -> Table:
    checked = any(item.checks for item in result.raters)
    checks = "; passed,checks:of = checks passed" if checked else ""
    if result.repeats:
        checks += "; repeats:count = repeats; self_difference = off by"
    return table(
        "raters", "All raters.",
        "rater:text; n:count = rated; skipped:count; mean; severity; stderr = s.e.; spread = sd;"
        f" correlation = r; overlap:count = on; seconds{checks}; outlier:text",
        result.raters,
    )  # fmt: skip


def _scores_across(estimates: Sequence[RaterEstimate]) -> Table:
    """Systems down, raters across, what each of them alone says."""
    cells = {
        (item.rater, item.system): f"{item.estimate:z.2f} ({item.low:z.2f} to {item.high:z.2f})"
        for item in estimates
    }
    raters = dict.fromkeys(item.rater for item in estimates)
    systems = dict.fromkeys(item.system for item in estimates)
    return Table(
        "scores-across",
        f"Scores on the whole test set by all raters and by each alone ({INTERVALS})",
        (Column("system", "text"), *(Column(rater or "all", "text") for rater in raters)),
        tuple((name, *(cells.get((rater, name)) for rater in raters)) for name in systems),
        where="terminal",
    )


def _scores_by_rater(estimates: Sequence[RaterEstimate]) -> Table:
    return table(
        "scores-by-rater",
        f"Every system's score on the whole test set, by all raters and by each: {INTERVALS}.",
        "rater:text; system:text; estimate; low,high:interval = 95% interval; n:count = rated",
        [plain(item) | {"rater": item.rater or "all"} for item in estimates],
        where="page",
    )  # fmt: skip
