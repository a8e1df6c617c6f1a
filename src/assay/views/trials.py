"""Estimators and stopping rules, tried on a fully rated test set."""

from __future__ import annotations

from assay.estimation.trials import Evaluation
from assay.views.section import Column, Section, Table, Text, metrics_used, table


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
