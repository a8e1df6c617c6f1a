"""``assay estimate``, ``monitor``, ``raters`` and ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Context

from assay.cli import Reading, deliver, names, numbers, read_drawn, read_rated
from assay.cli.options import Better, Count, File, Number, Text, as_share
from assay.cli.reading import are_batches, is_foreign, read_alone, read_history, stated
from assay.cli.running import Backend, chosen_workers, track
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.estimation.monitor import Monitoring
    from assay.tables.tables import Ratings, TestSet


def estimate(
    context: Context, files: list[Path], *, sample: File = None, assume: Text = None,
    method: str = "auto", interval: str = "auto", target: Text = None, by: Text = None,
    errors: File = None, compare: Text = None, exclude_raters: Text = None,
    remove_severity: bool = False, history: File = None, borrow: bool = False, family: bool = False,
    pay: Text = None, better: Better = "higher", range: Text = None, level: float = 0.95,
    read: Annotated[Reading, "columns metrics lower_metrics exclude only lp"], save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Estimate each system's score on the whole test set, with intervals and rank ranges.

    Without SCORES, the rated outputs are the test set, and verdicts hold for texts like these.

    Methods: auto, mean, regression, cv-single, cv-mean, cv-multi, cv-knn.

    Example: assay estimate scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.estimation.estimate import estimate as run
    from assay.tables.answers import read_errors

    test_set, given, alone = read_files(files, context, read, better=better, range=range, keep=[by])
    past = None
    if history is not None:
        test_set, past = read_history(test_set, history, better)
    result = run(
        test_set,
        given,
        sample=read_drawn(sample, test_set),
        assume=assume,
        method=method,
        interval=interval,
        level=level,
        target="texts" if alone and target is None else target,
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
    files: Sequence[Path], context: Context, read: Reading, *, better: Better, range: Text = None,
    keep: Sequence[Text] = (),
) -> tuple[TestSet, Ratings, bool]:  # fmt: skip
    """The test set, its ratings, and whether there were ratings alone.

    A scores and a ratings table with the names that Assay knows are read as they are; only what
    cannot be read so is guessed.
    """
    if len(files) == 2:
        try:
            test_set, given = read_rated(
                files[0], files[1:], read, better=better, range=range, keep=keep
            )
            alike = {*test_set.frame.columns} == {*given.frame.columns}
            if not alike or "rater" not in given.frame.columns or files[0] == files[1]:
                return test_set, given, False
        except InputError:
            if not is_foreign(files, read) and not are_batches(files):
                raise
    return read_alone(files, read, better=stated(context, better), range=range)


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


def _look_plan(text: str | None) -> int | list[int] | None:
    """``5`` as how many looks, ``100,200,400`` as their sizes.

    >>> _look_plan("5"), _look_plan("100,200,400")
    (5, [100, 200, 400])
    """
    sizes = numbers("looks", text or "", "is not a plan", "write 5, or 100,200,400")
    return sizes if len(sizes) > 1 else next(iter(sizes), None)


def monitor(
    scores: Path, ratings: list[Path] | None = None, *, sample: File = None,
    half_width: Number = None, goal: Literal["score", "ranking"] = "score", looks: Text = None,
    earlier: File = None, per_output: int = 1, guarantee: bool = False, each_pair: bool = False,
    systems: Text = None, pay: Text = None, better: Better = "higher", range: Text = None,
    level: float = 0.95, read: Annotated[Reading, "columns metrics lower_metrics exclude only lp"],
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Check, while ratings come in, whether enough has been rated.

    The goal score wants an interval of the half-width for every score; ranking wants every
    difference decided, or that narrow. Looks are planned: each takes place once all segments up to
    it are rated. From judgments: which pairs are decided, however the pairs are chosen.

    Example: assay monitor scores.tsv ratings.tsv --sample sample.tsv --goal ranking --looks 5
    """
    from assay.cli.ranking import monitor_judged, need_for_ratings
    from assay.estimation.monitor import monitor as run
    from assay.tables.tables import read_sample

    if not ratings:
        of_ratings = {"sample": sample, "half_width": half_width, "range": range, "looks": looks,
                      "before": earlier}  # fmt: skip
        judged = monitor_judged(
            scores, of_ratings, read, family=not each_pair, systems=systems, level=level, pay=pay
        )
        deliver(judged, save, json)
        return
    drawn = need_for_ratings(sample, each_pair=each_pair, systems=systems)
    test_set, given = read_rated(scores, ratings, read, better=better, range=range)
    result = run(
        test_set, given, sample=read_sample(drawn, test_set), half_width=half_width, goal=goal,
        looks=_look_plan(looks), before=_earlier(earlier), per_output=per_output,
        guarantee=guarantee, level=level, pay=pay,
    )  # fmt: skip
    deliver(result, save, json)


def raters(
    context: Context, files: list[Path], *, sample: File = None, assume: Text = None,
    better: Better = "higher", range: Text = None,
    read: Annotated[Reading, "columns metrics exclude only lp"], save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Describe the raters: severity, agreement, attention checks, outliers, and their scores.

    Example: assay raters scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.estimation.raters import rater_report

    # Without a sample that was spread over them metrics play no part, whatever columns there are.
    needed = read.metrics if sample is not None else read.metrics or ""
    test_set, given, _ = read_files(
        files, context, replace(read, metrics=needed), better=better, range=range
    )
    drawn = read_drawn(sample, test_set)
    deliver(rater_report(test_set, given, sample=drawn, assume=assume), save, json)


def evaluate(
    scores: Path, ratings: list[Path], *,
    methods: str = "baseline,docs-prop,docs-prop+cv-knn,rounds+regression,balanced+regression",
    sizes: str = "5%,10%,20%,30%,40%,50%", draws: int = 100, half_width: Number = None,
    level: float = 0.95, better: Better = "higher",
    read: Annotated[Reading, "columns metrics lower_metrics exclude only lp"], seed: Count = None,
    backend: Backend | None = None, workers: Count = None, scheduler: Text = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Try estimators on a fully rated test set: error, bias, coverage and width.

    --half-width also tries stopping rules: how much is rated until intervals are that narrow.

    Example: assay evaluate scores.tsv all-ratings.tsv --methods baseline,balanced+regression
    """
    from assay.estimation.composite_trial import evaluate_composite
    from assay.estimation.evaluate import (
        evaluate_estimators,
        evaluate_stopping,
        summarise_evaluation,
    )
    from assay.estimation.monitor import check_half_width
    from assay.stats.random import seeded

    if half_width is not None:  # the estimators before it take a while
        check_half_width(half_width)
    who = chosen_workers(backend, workers, scheduler)
    test_set, given = read_rated(scores, ratings, read, better=better)
    parts = numbers("--sizes", sizes, "are not shares", "write shares such as 5%,10%", as_share)
    listed, (_, used) = names(methods) or [], seeded(seed)
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
