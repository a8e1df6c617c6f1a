"""``assay estimate``, ``monitor``, ``raters`` and ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import chosen_workers, names, read_drawn, read_history, read_rated, save_file, shares
from assay.cli.options import (
    ASSUME,
    BACKEND,
    BETTER,
    BY,
    COLUMNS,
    DRAWS,
    EACH_PAIR,
    EXCLUDE,
    FAMILY,
    HALF_WIDTH_OPTION,
    HISTORY,
    JSON,
    LEVEL,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    PAY,
    PER_OUTPUT_OPTION,
    RANGE,
    RATED_FILES,
    RATINGS,
    SAMPLE,
    SAVE,
    SCHEDULER,
    SCORES,
    SEED,
    SYSTEMS,
    TARGET,
    WORKERS,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.estimation.monitor import Monitoring
    from assay.tables.tables import Ratings, TestSet


def estimate(
    context: typer.Context,
    files: RATED_FILES,
    sample: SAMPLE = None,
    assume: ASSUME = None,
    method: Annotated[
        str,
        typer.Option("--method", help="The method, by name (listed above)."),
    ] = "auto",
    interval: Annotated[
        str,
        typer.Option("--interval", help="auto, t, skew-t, betting, hoeffding or bernstein."),
    ] = "auto",
    target: TARGET = None,
    by: BY = None,
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
    family: FAMILY = False,
    pay: PAY = None,
    better: BETTER = "higher",
    range: RANGE = None,
    level: LEVEL = 0.95,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Estimate each system's score on the whole test set, with intervals and rank ranges.

    Without SCORES the rated outputs are the test set, and verdicts are for texts like these.

    Methods: auto, mean, regression, cv-single, cv-mean, cv-multi, cv-knn.

    Example: assay estimate scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.cli import deliver
    from assay.estimation.estimate import estimate as run
    from assay.tables.tables import read_errors

    save_file(save)
    test_set, given, alone = read_files(
        files, context, keep=[by], columns=columns, metrics=metrics,
        lower_metrics=lower_metrics, exclude=exclude, only=only, lp=lp, better=better, range=range,
    )  # fmt: skip
    target = "texts" if alone and target is None else target
    test_set, past = read_history(test_set, history, better)
    result = run(
        test_set,
        given,
        sample=read_drawn(sample, test_set),
        assume=assume,
        method=method,
        interval=interval,
        level=level,
        target=target,
        by=by,
        errors=None if errors is None else read_errors(errors, test_set),
        compare=names(compare),
        exclude_raters=names(exclude_raters) or (),
        remove_severity=remove_severity,
        borrow=borrow,
        history=past,
        family=family,
        pay=pay,
    )
    deliver(result, save, json)


def read_files(
    files: Sequence[Path],
    context: typer.Context,
    *,
    keep: Sequence[str | None] = (),
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None = None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"],
    range: str | None = None,
) -> tuple[TestSet, Ratings, bool]:
    """The test set, its ratings, and whether there were ratings alone.

    A scores and a ratings table with the names that Assay knows are read as they are; only what
    cannot be read so is guessed.
    """
    if len(files) == 2:
        try:
            test_set, given = read_rated(
                *files, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
                exclude=exclude, only=only, lp=lp, better=better, range=range, keep=keep,
            )  # fmt: skip
            alike = {*test_set.frame.columns} == {*given.frame.columns}
            if not alike or "rater" not in given.frame.columns or files[0] == files[1]:
                return test_set, given, False
        except InputError:
            from assay.cli.guessing import are_batches, is_foreign

            if not is_foreign(files, columns) and not are_batches(files):
                raise
    from assay.cli.guessing import read_alone, stated

    return read_alone(
        files, columns=columns, metrics=metrics, lower_metrics=lower_metrics, exclude=exclude,
        only=only, lp=lp, better=stated(context, better), range=range,
    )  # fmt: skip


def _earlier(path: Path | None) -> Monitoring | None:
    """What `assay monitor` saved last time."""
    from assay.estimation.monitor import Monitoring
    from assay.views.page import read_result

    found = None if path is None else read_result(path)
    if found is not None and not isinstance(found, Monitoring):
        raise OptionError(
            "before", path, f"is a result of kind '{found.kind}'", "give what monitor saved"
        )
    return found


def monitor(
    scores: Annotated[
        Path, typer.Argument(help="The test set, or judgments.", metavar="SCORES|JUDGMENTS")
    ],
    ratings: Annotated[
        list[Path] | None,
        typer.Argument(
            help="What the raters answered, in one or more files.", metavar="RATINGS..."
        ),
    ] = None,
    sample: SAMPLE = None,
    half_width: Annotated[float | None, HALF_WIDTH_OPTION] = None,
    goal: Annotated[
        Literal["score", "ranking"],
        typer.Option("--goal", help="What to aim for."),
    ] = "score",
    looks: Annotated[
        str | None,
        typer.Option(
            "--looks", help="Planned looks: how many, or at which sizes.", metavar="K|N,N,..."
        ),
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option("--earlier", help="The result saved last time: its looks are kept."),
    ] = None,
    per_output: Annotated[int, PER_OUTPUT_OPTION] = 1,
    guarantee: Annotated[
        bool,
        typer.Option("--guarantee", help="Valid however often you look; needs --range."),
    ] = False,
    each_pair: EACH_PAIR = False,
    systems: SYSTEMS = None,
    pay: PAY = None,
    better: BETTER = "higher",
    range: RANGE = None,
    level: LEVEL = 0.95,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Say whether enough has been rated, while ratings come in.

    The goal score asks for every score within the half-width; ranking for every difference decided,
    or as narrow. Looks are planned: each takes place once all segments up to it are rated.
    From judgments: which pairs are decided, however pairs are chosen.

    Example: assay monitor scores.tsv ratings.tsv --sample sample.tsv --goal ranking --looks 5
    """
    from assay.cli import deliver, look_plan
    from assay.cli.ranking import monitor_judged, need_for_ratings
    from assay.estimation.monitor import monitor as run
    from assay.tables.tables import read_sample

    if not ratings:
        of_ratings = {"sample": sample, "half_width": half_width, "range": range, "looks": looks,
                      "before": before}  # fmt: skip
        monitor_judged(
            scores, of_ratings, family=not each_pair, systems=systems, level=level, pay=pay,
            columns=columns, exclude=exclude, only=only, lp=lp, save=save, json=json,
        )  # fmt: skip
        return
    drawn = need_for_ratings(sample, each_pair=each_pair, systems=systems)
    save_file(save)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, better=better, range=range,
    )  # fmt: skip
    result = run(
        test_set, given, sample=read_sample(drawn, test_set), half_width=half_width, goal=goal,
        looks=look_plan(looks), before=_earlier(before), per_output=per_output, guarantee=guarantee,
        level=level, pay=pay,
    )  # fmt: skip
    deliver(result, save, json)


def raters(
    context: typer.Context,
    files: RATED_FILES,
    sample: SAMPLE = None,
    assume: ASSUME = None,
    better: BETTER = "higher",
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Describe the raters: severity, agreement, attention checks, outliers, and their scores.

    Example: assay raters scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.cli import deliver
    from assay.estimation.raters import rater_report

    save_file(save)
    # Without a sample that was spread over them metrics play no part, whatever columns there are.
    needed = metrics if sample is not None else metrics or ""
    test_set, given, _ = read_files(
        files, context, columns=columns, metrics=needed, exclude=exclude, only=only, lp=lp,
        better=better, range=range,
    )  # fmt: skip
    drawn = read_drawn(sample, test_set)
    deliver(rater_report(test_set, given, sample=drawn, assume=assume), save, json)


def evaluate(
    scores: SCORES,
    ratings: RATINGS,
    methods: Annotated[
        str, typer.Option("--methods", help="Designs and estimators.", metavar="A,B+C")
    ] = "baseline,docs-prop,docs-prop+cv-knn,rounds+regression,balanced+regression",
    sizes: Annotated[
        str, typer.Option("--sizes", help="Sizes to show results for.", metavar="5%,10%")
    ] = "5%,10%,20%,30%,40%,50%",
    draws: DRAWS = 100,
    half_width: Annotated[float | None, HALF_WIDTH_OPTION] = None,
    level: LEVEL = 0.95,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    backend: BACKEND = None,
    workers: WORKERS = None,
    scheduler: SCHEDULER = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Try estimators on a fully rated test set: error, bias, coverage and width.

    With --half-width also stopping rules: how much is rated until intervals are that narrow.

    Example: assay evaluate scores.tsv all-ratings.tsv --methods baseline,balanced+regression
    """
    from assay.cli import deliver, track
    from assay.estimation.composite_trial import evaluate_composite
    from assay.estimation.evaluate import (
        evaluate_estimators,
        evaluate_stopping,
        summarise_evaluation,
    )
    from assay.estimation.monitor import check_half_width
    from assay.stats.random import seeded

    save_file(save)
    if half_width is not None:  # the estimators before it take a while
        check_half_width(half_width)
    who = chosen_workers(backend, workers, scheduler)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, better=better,
    )  # fmt: skip
    listed, parts, (_, used) = names(methods) or [], shares("--sizes", sizes), seeded(seed)
    records = evaluate_estimators(
        test_set, given, methods=listed, sizes=parts, draws=draws, level=level, rng=used,
        workers=who,
    )  # fmt: skip
    count = len(test_set.systems)
    tried = list(track(records, len(listed) * len(parts) * count, "trying estimators"))
    stops = []
    if half_width is not None:
        runs = evaluate_stopping(
            test_set, given, half_width=half_width, draws=draws, level=level, rng=used, workers=who
        )
        stops = list(track(runs, 2 * count, "trying to stop"))
    orders = evaluate_composite(
        test_set, given, sizes=parts, draws=draws, level=level, rng=used, workers=who
    )
    result = summarise_evaluation(
        tried, seed=used, stopping=stops, half_width=half_width, test_set=test_set,
        composite=track(orders, len(parts), "trying the order with the metrics' help"),
    )  # fmt: skip
    deliver(result, save, json)
