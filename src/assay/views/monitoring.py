"""Ratings watched: their raters, whether they are enough, and rules tried on a rated set."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.estimation.looks import Look
from assay.estimation.monitor import Monitored, Monitoring
from assay.estimation.raters import RaterEstimate, RaterReport
from assay.estimation.trials import Evaluation
from assay.results import plain, plural
from assay.views.section import (
    Block,
    Column,
    Section,
    Table,
    Text,
    metrics_used,
    sentence,
    shown,
    table,
)

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


def monitoring_section(result: Monitoring) -> Section:
    """Whether enough has been rated."""
    each = "system" if result.goal == "score" else "pair of systems"
    level = f"{100 * result.level:g}% interval"
    blocks: list[Block] = [
        table(
            "monitoring",
            "Estimates from all segments rated in order so far. Reached at: the look that met the"
            " goal. Missing: segments until the next look, or until the one expected to meet the"
            " goal; after the last look, about how many more a score would take.",
            f"what:text = {each}; estimate; low,high:interval = {level}; "
            "interval:text = interval is; n:count = rated; winner:text = better; "
            "reached:count = reached at; more:count = missing",
            [_row(result, item) for item in result.items],
        )
    ]  # fmt: skip
    if result.looks and not result.guarantee:
        what = "Repeated confidence intervals, valid at all looks together: estimate ± limit ×"
        blocks.append(
            table(
                "looks",
                f"{what} standard error." if result.limits else "Every look.",
                f"what:text = {each}; n:count = look at; estimate; low,high:interval = {level}; "
                "limit; skipped:count; decided:text",
                [_look_row(look) for look in result.looks], where="page",
            )
        )  # fmt: skip
    if result.awaited:
        blocks.append(
            table(
                "awaited", "Segments that the next look waits for.",
                "place:count = place in order; segment:text; systems:text = missing of",
                [{"place": item.place, "segment": item.segment, "systems": ", ".join(item.systems)}
                 for item in result.awaited], where="page",
            )
        )  # fmt: skip
    return Section(
        "monitoring", "Is it enough?", _lead(result, each), tuple(blocks), result.signature,
        stage="collect", methods=_methods(result), sources=("lan1983",) if result.limits else (),
        notes=result.notes,
    )  # fmt: skip


def _methods(result: Monitoring) -> str:
    if not result.limits:
        return ""
    return (
        f"Differences were tested at {plural(len(result.planned), 'planned look')}, with limits"
        " that keep the error of all looks together (spending of O'Brien and Fleming's type)."
    )


def _row(result: Monitoring, item: Monitored) -> dict[str, object]:
    stands = None
    if result.planned:
        stands = "provisional" if item.orientation else "from a look"
        if result.goal == "score" and item.reached is not None and not item.orientation:
            stands = "as narrow as wanted"
    return {
        "what": item.what, "estimate": item.estimate, "low": item.low, "high": item.high,
        "interval": stands, "n": item.n, "winner": item.winner, "reached": item.reached,
        "more": item.more,
    }  # fmt: skip


def _look_row(look: Look) -> dict[str, object]:
    return {
        "what": look.what, "n": look.n, "estimate": look.estimate,
        "low": look.ends[0], "high": look.ends[1],
        "limit": look.limit, "skipped": look.skipped or None, "decided": look.decided or None,
    }  # fmt: skip


def _lead(result: Monitoring, each: str) -> str:
    """The verdict, the goal, and how many looks are past."""
    open_ = [item for item in result.items if item.reached is None]
    if not result.stop:
        verdict = "More has to be rated: go on"
    elif not open_:
        verdict = "Enough has been rated: stop"
    else:
        why = "Everything is rated" if result.n == result.population else "No look is left"
        things = "systems" if result.goal == "score" else "pairs"
        verdict = (
            f"{why}: stop; the goal is not met for {len(open_)} of {len(result.items)} {things}"
        )
    goals = [] if result.goal == "score" else ["a decision"]
    if result.target is not None:
        goals.append(f"an interval of ±{result.target:g}")
    lead = (
        f"{verdict}. {result.n:,} of {result.population:,} segments are rated in order. The goal"
        f" is {' or '.join(goals)} for every {each}."
    )
    if result.guarantee:
        return f"{lead} You may look as often as you like (any-time betting interval)."
    if not result.planned:
        return lead  # saved before looks were planned
    past = sum(any(look.n == n for look in result.looks) for n in result.planned)
    verb = "has" if past == 1 else "have"
    lead += f" {past} of {plural(len(result.planned), 'planned look')} {verb} taken place."
    coming = [n for n in result.planned if all(look.n < n for look in result.looks)]
    if not result.stop and coming:
        away = f", {result.pay.counted(result.ahead)} away" if result.ahead else ""
        lead += f" The next is at {coming[0]:,} segments{away}."
    if any(item.orientation for item in open_):
        lead += " Between looks, numbers are provisional."
    return lead


def evaluation_section(result: Evaluation) -> Section:
    """Estimators, and stopping rules, on a fully rated test set."""
    best = min(result.methods, key=lambda row: row.error)
    more = f", {best.gain:.1f}% below the plain mean of a random sample" if best.gain else ""
    methods = table(
        "methods", "Mean absolute error over samples, systems and sizes; its gain over the plain"
        " mean, in percent; coverage of the intervals.",
        "method:text; error = |error|; sd; gain = gain in %; gain_error = ±; win:percent = wins; "
        "bias; coverage:percent; worst_coverage:percent = worst system; half_width = half-width",
        result.methods,
    )  # fmt: skip
    lead = (
        f"Over {result.draws:,} samples of each size, {best.method} has the smallest error,"
        f" {best.error:.3f}{more}."
    )
    return Section(
        "evaluation", "Estimators tried", lead,
        (methods, *_orders(result), *_stops(result),
         Text(metrics_used(result.metrics), where="terminal")),
        result.signature, stage="research", sources=("saldias2022",), notes=result.notes,
    )  # fmt: skip


def _orders(result: Evaluation) -> tuple[Table, ...]:
    if not result.composite:
        return ()
    return (
        table(
            "order", "The order of the systems from matched random samples, by ratings alone and"
            " with the metrics' help: pairs in the right order, root mean square error of a"
            " difference, how sure the composite was of its order, and coverage of its intervals.",
            "size:percent = rated; direct_order:percent = in order; "
            "order:percent = in order, helped; said:percent; direct_rms = error; "
            "rms = error, helped; coverage:percent; worst_coverage:percent = worst system",
            result.composite,
        ),
    )  # fmt: skip


def _stops(result: Evaluation) -> tuple[Table, ...]:
    if not result.stopping:
        return ()
    rows = []
    for method in dict.fromkeys(record.method for record in result.stopping):
        records = [record for record in result.stopping if record.method == method]
        coverage = [record.coverage for record in records]
        share = sum(record.share for record in records) / len(records)
        rows.append((method, share, sum(coverage) / len(records), min(coverage)))
    goal = "narrow enough" if result.half_width is None else f"±{result.half_width:g}"
    columns = ("share", "rated at the stop"), ("coverage", "coverage"), ("worst", "worst system")
    return (
        Table(
            "stopping", f"Rated until every interval is {goal}.",
            (Column("order and estimate", "text"),
             *(Column(name, "percent") for _, name in columns)),
            tuple(rows),
        ),
        table(
            "stopping-systems", "Where rating would have stopped, and how often the interval then"
            " held the truth, by system.",
            "method:text = order and estimate; system:text; share:percent = rated at the stop; "
            "coverage:percent",
            result.stopping, where="page",
        ),
    )  # fmt: skip
