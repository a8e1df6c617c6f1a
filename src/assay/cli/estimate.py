"""``assay estimate``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    HISTORY,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OUTPUT,
    RANGE,
    json_file,
    names,
    read_rated,
    refuse_overwriting,
    with_history,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.estimation.breakdown import Breakdown
    from assay.estimation.power import Comparison
    from assay.estimation.results import Estimates
    from assay.tables.ratings import Ratings
    from assay.tables.test_set import TestSet


def estimate(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="The sample the ratings were drawn with.")
    ] = None,
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume", help="Without a sample file: random or documents (shown in the result)."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", help="auto, mean, regression, cv-single, cv-mean, cv-multi or cv-knn."
        ),
    ] = "auto",
    interval: Annotated[
        str,
        typer.Option("--interval", help="t, skew-t, betting, hoeffding or bernstein."),
    ] = "t",
    target: Annotated[
        str,
        typer.Option("--target", help="What intervals are for: test-set or new-documents."),
    ] = "test-set",
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Also by domain, document, length, category or a column of the scores."
        ),
    ] = None,
    errors: Annotated[
        Path | None, typer.Option("--errors", help="The marked errors, for --by category.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", help="Two systems: difference, p, power.", metavar="A,B"),
    ] = None,
    exclude_raters: Annotated[
        str | None,
        typer.Option(
            "--exclude-raters", help="Raters to leave out; the effect is shown.", metavar="A,B"
        ),
    ] = None,
    remove_severity: Annotated[
        bool, typer.Option("--remove-severity", help="Subtract each rater's severity first.")
    ] = False,
    history: HISTORY = None,
    borrow: Annotated[
        bool,
        typer.Option(
            "--borrow", help="Learn from these ratings of the other systems how hard segments are."
        ),
    ] = False,
    better: BETTER = "higher",
    range: RANGE = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Estimate each system's score on the whole test set, with intervals and rank ranges.

    Example: assay estimate scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.cli.output import deliver
    from assay.estimation.breakdown import estimate_by
    from assay.estimation.estimate import estimate as run
    from assay.tables.ratings import read_errors
    from assay.tables.sample import read_sample

    refuse_overwriting(json_file(output), scores, ratings, sample, errors)
    if remove_severity and by == "category":
        raise OptionError(
            "--remove-severity", "--by category", "does not go with errors", "leave one out"
        )
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, better=better, range=range, keep=[by],
    )  # fmt: skip
    drawn = None if sample is None else read_sample(sample, test_set)

    def how(answers: Ratings) -> Estimates:
        known = _informed(test_set, answers, history, borrow, better)
        return run(
            known, answers, sample=drawn, assume=assume, method=method, interval=interval,
            level=level, target=target,
        )  # fmt: skip

    given, effects = _changed(test_set, given, how, names(exclude_raters) or [], remove_severity)
    result = how(given)
    two = _comparison(result, compare)
    parts = None
    if by is not None or errors is not None:
        marked = None if errors is None else read_errors(errors, test_set)
        known = _informed(test_set, given, history, borrow, better)
        parts = estimate_by(
            known, given, by=by or "category", sample=drawn, assume=assume, method=method,
            level=level, target=target, errors=marked,
        )  # fmt: skip
    changed = (
        *([f"raters:-{len(names(exclude_raters) or [])}"] if exclude_raters else []),
        *(["severity:removed"] if remove_severity else []),
    )
    result = replace(result, notes=(*result.notes, *effects), changed=changed)
    content = result.to_dict()
    if two is not None:
        content["comparison"] = two.to_dict()
    if parts is not None:
        content["breakdown"] = parts.to_dict()
    deliver(content, output, json, lambda: _show(result, two, parts))


def _show(result: Estimates, two: Comparison | None, parts: Breakdown | None) -> None:
    from assay.cli.output import note

    said = () if parts is None else parts.notes
    note(
        *dict.fromkeys((*result.notes, *said)),
        f"metrics used: {', '.join(result.metrics) or 'none'}",
    )
    show_estimates(result)
    if two is not None:
        _show_comparison(two)
    if parts is not None:
        _show_breakdown(parts)
    for line in result.next:
        print(f"next: {line}")


def _changed(
    test_set: TestSet,
    ratings: Ratings,
    how: Callable[[Ratings], Estimates],
    excluded: list[str],
    fair: bool,
) -> tuple[Ratings, list[str]]:
    """The ratings without some raters or their severity, and what that does to each system."""
    from assay.estimation.raters import exclude_raters, remove_severity

    lines = []
    if excluded:
        fewer = exclude_raters(ratings, excluded)
        what = f"leaving out {', '.join(excluded)}"
        lines.append(_effect(what, how(ratings), how(fewer)))
        ratings = fewer
    if fair:
        moved = remove_severity(test_set, ratings)
        lines.append(_effect("removing severity", how(ratings), how(moved)))
        ratings = moved
    return ratings, lines


def _effect(what: str, before: Estimates, after: Estimates) -> str:
    now = {item.system: item.estimate for item in after.systems}
    moves = [
        f"{item.system} {item.estimate:.3f} -> {now[item.system]:.3f}" for item in before.systems
    ]
    return f"effect of {what}: {', '.join(moves)}"


def _comparison(result: Estimates, compare: str | None) -> Comparison | None:
    from assay.estimation.power import compare_two

    if compare is not None:
        wanted = names(compare) or []
        if len(wanted) != 2:
            raise OptionError("--compare", compare, "does not name two systems", "write A,B")
        return compare_two(result, *wanted)
    return compare_two(result) if len(result.systems) == 2 else None


def _show_comparison(two: Comparison) -> None:
    """Print the difference of two systems, and what the ratings could have found."""
    from assay.cli.output import number

    print(
        f"{two.left} − {two.right}: {number(two.difference)}"
        f" ({two.level:.0%} interval {number(two.low)} to {number(two.high)}), p"
        f" {'< 0.001' if two.p < 0.001 else f'= {number(two.p)}'},"
        f" {'decided' if two.decided else 'not decided'}"
    )
    if two.stderr == 0:
        return
    print(
        f"  power: {two.n} ratings per system find a difference of {number(two.detectable)} with"
        f" {two.power:.0%} probability"
    )
    if two.needed is not None:
        what = "all" if two.everything else f"{two.needed} of"
        print(f"  one as large as the observed takes {what} {two.population} ratings per system")


def _show_breakdown(parts: Breakdown) -> None:
    """Print every group and system, and how many differences are decided in each group."""
    from assay.cli.output import number, print_table

    rows = [
        [
            item.group, item.system, number(item.estimate), _interval(item.low, item.high),
            f"{item.n}/{item.population}",
        ]
        for item in parts.estimates
    ]  # fmt: skip
    columns = [parts.by, "system", "estimate", f"{parts.level:.0%} interval", "rated"]
    print_table(f"By {parts.by} ({parts.better} is better)", columns, rows)
    counts = [f"{item.group} {item.decided} of {item.pairs}" for item in parts.groups if item.pairs]
    if counts:
        print(f"differences decided inside the groups: {'; '.join(counts)}")
    print(f"signature: {parts.signature}")


def _informed(
    test_set: TestSet,
    given: Ratings,
    history: Path | None,
    borrow: bool,
    better: Literal["higher", "lower"],
) -> TestSet:
    """The test set with what ratings of other systems say, from a file or from the campaign."""
    from assay.tables.history import add_history

    if borrow and history is not None:
        raise OptionError("--borrow", "--history", "are both histories", "leave one out")
    return add_history(test_set, given) if borrow else with_history(test_set, history, better)


def show_estimates(result: Estimates, truth: dict[str, float] | None = None) -> None:
    """Print the systems, best first, and what is decided between them."""
    from assay.cli.output import number, print_table

    columns = ["system", "estimate", f"{result.level:.0%} interval", "rated", "ranks", "cluster"]
    if truth:
        columns.insert(3, "truth")
    rows = []
    for item in result.systems:
        row: list[object] = [
            item.system,
            number(item.estimate),
            _interval(item.low, item.high),
            f"{item.n}/{item.population}",
            _ranks(item.low_rank, item.high_rank),
            item.cluster,
        ]
        if truth:
            row.insert(3, number(truth[item.system]))
        rows.append(row)
    where = "on the whole test set" if result.target == "test-set" else "on documents like these"
    print_table(f"Scores {where} ({result.better} is better)", columns, rows)
    decided = sum(item.decided for item in result.differences)
    if result.differences:
        print(f"{decided} of {len(result.differences)} differences between systems are decided")
    print(f"signature: {result.signature}")


def _interval(low: float, high: float) -> str:
    from assay.cli.output import number

    known = low == low and abs(low) < float("inf")
    return f"{number(low)} – {number(high)}" if known else "unknown"


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
