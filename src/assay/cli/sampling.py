"""``assay sample``, ``assay next`` and ``assay stability``, with the options of the designs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import (
    chosen_workers,
    columns_for,
    figure_file,
    names,
    only_for,
    read_rated,
    read_test_set,
    refuse_alone,
    save_file,
    with_history,
)
from assay.cli.options import (
    BACKEND,
    BETTER,
    BETTER_IF_RATED,
    BUDGET_OPTION,
    BY,
    COLUMNS,
    DRAWS,
    EXCLUDE,
    FIGURE,
    HISTORY,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OVERLAP,
    PAY,
    PER_OUTPUT_OPTION,
    RATINGS,
    SAMPLE,
    SAVE,
    SAVE_ONLY,
    SCHEDULER,
    SCORES,
    SEED,
    WORKERS,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.tables.tables import TestSet

DESIGN = Annotated[
    str,
    typer.Option(
        "--design",
        help="The design, by name (listed above).",
    ),
]
MATCHED = Annotated[
    bool,
    typer.Option("--matched/--unmatched", help="The same segments for all systems, or not."),
]
STRATA = Annotated[
    Literal["none", "documents", "metrics"] | None,
    typer.Option("--strata", help="segments: stratify by this."),
]
ALLOCATION = Annotated[
    Literal["proportional", "optimal", "smoothed"] | None,
    typer.Option("--allocation", help="segments: how many from each stratum."),
]
ROUNDING = Annotated[
    Literal["random", "largest"] | None,
    typer.Option("--rounding", help="segments: random, or largest remainder."),
]
BIN_SIZE = Annotated[
    int | None, typer.Option("--bin-size", help="segments: size of metric strata (80).")
]
STOP = Annotated[
    Literal["under", "over", "closest"] | None,
    typer.Option("--stop", help="documents, fixed-snippets: where to stop (closest)."),
]
SIZE_LIMIT = Annotated[
    int | None, typer.Option("--size-limit", help="documents: never draw longer ones.")
]
LENGTH = Annotated[
    int | None, typer.Option("--length", help="fixed-snippets: segments per snippet (10).")
]
LONGEST_FIRST = Annotated[
    bool, typer.Option("--longest-first", help="fixed-snippets: longest documents first.")
]
MAX_SNIPPET = Annotated[
    int | None, typer.Option("--max-snippet", help="snippets, rounds: the longest (10).")
]
SLOPE = Annotated[
    float | None,
    typer.Option("--slope", help="balanced: how much more often to draw bad-looking segments."),
]


def sample(
    context: typer.Context,
    scores: SCORES,
    budget: Annotated[str, BUDGET_OPTION],
    design: DESIGN = "auto",
    goal: Annotated[
        Literal["ranking", "score"] | None,
        typer.Option("--goal", help="What to aim for."),
    ] = None,
    matched: MATCHED = True,
    top_up: Annotated[
        Path | None,
        typer.Option("--top-up", help="Enlarge this sample to the budget.", metavar="SAMPLE"),
    ] = None,
    strata: STRATA = None,
    allocation: ALLOCATION = None,
    rounding: ROUNDING = None,
    bin_size: BIN_SIZE = None,
    stop: STOP = None,
    size_limit: SIZE_LIMIT = None,
    length: LENGTH = None,
    longest_first: LONGEST_FIRST = False,
    max_snippet: MAX_SNIPPET = None,
    slope: SLOPE = None,
    importance: Annotated[
        str | None,
        typer.Option("--importance", help="Numeric column: draw in proportion to it."),
    ] = None,
    seconds_per_word: Annotated[
        float | None,
        typer.Option("--seconds-per-word", help="For a budget in minutes, without a cost column."),
    ] = None,
    allow_unreachable: Annotated[
        bool,
        typer.Option(
            "--allow-unreachable", help="Accept a design that can never draw some segments."
        ),
    ] = False,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    history: HISTORY = None,
    better: BETTER_IF_RATED = None,
    pay: PAY = None,
    overlap: OVERLAP = None,
    per_output: Annotated[int | None, PER_OUTPUT_OPTION] = None,
    seed: SEED = None,
    figure: FIGURE = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the sample, a table.", metavar="SAMPLE"),
    ] = None,
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:
    """Draw the segments to show the raters, each with its inclusion probability.

    The sample is a table, written with -o: raters are shown its segments, and the estimate
    needs it. --save keeps its description for the report. A budget of ratings, money or hours (with
    --pay) is divided by systems and raters.

    Designs: auto (by --goal, else by the number of systems), segments (SL), documents (WD),
    fixed-snippets (DF), snippets (DB), snippets-linear, rounds, interleaved, balanced, docs-prop,
    docs-opt, metrics-prop, metrics-opt.

    Example: assay sample scores.tsv --budget 20% --seed 7 -o sample.tsv
    """
    from dataclasses import replace

    from assay.cli import deliver, note, say
    from assay.pay import pay_of
    from assay.sampling.budget import divide_budget
    from assay.sampling.draw import sample as draw
    from assay.sampling.summary import summarise
    from assay.sampling.top_up import top_up as enlarge
    from assay.tables.tables import read_sample
    from assay.views.figures import save_figure
    from assay.views.sampling import sample_figure

    figure_file(figure)
    save_file(save)
    refuse_alone("better", better, "history", history)
    (own,) = columns_for(columns, ("scores", scores))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, keep=[importance],
    )  # fmt: skip
    test_set = with_history(test_set, history, better or "higher")
    divided = divide_budget(
        budget, len(test_set.systems), test_set.segments.height, pay=pay_of(pay),
        per_output=per_output or 1, overlap=0.1 if overlap is None else overlap,
    )  # fmt: skip
    if divided is not None:
        note(divided.sentence)
        budget = str(divided.segments)
    given = {
        "strata": strata, "allocation": allocation, "rounding": rounding, "bin": bin_size,
        "stop": stop, "limit": size_limit, "length": length,
        "first": "longest" if longest_first else None, "max": max_snippet, "slope": slope,
    }  # fmt: skip
    if top_up is not None:
        others = [goal, importance, seconds_per_word, *given.values()]
        if design != "auto" or allow_unreachable or any(value is not None for value in others):
            raise OptionError(
                "--top-up", top_up, "keeps the design of its sample", "leave design options out"
            )
        drawn = enlarge(
            test_set, read_sample(top_up, test_set), budget=budget, rng=seed,
            matched=None if matched else False,
        )  # fmt: skip
    else:
        drawn = draw(
            test_set, budget=budget, design=design_text(design, given), goal=goal, matched=matched,
            importance=importance, seconds_per_word=seconds_per_word,
            allow_unreachable=allow_unreachable, rng=seed,
        )  # fmt: skip
    opinions = (per_output or 1) + (0.1 if overlap is None else overlap)
    summary = summarise(test_set, drawn)
    if pay is not None:
        summary = replace(summary, pay=pay_of(pay), opinions=opinions)
    if output is not None:
        drawn.write(output)
    if figure is not None:
        save_figure(sample_figure(summary), figure)
    deliver(summary, save, json)
    if json:
        return
    if output is None:
        note("not saved; give -o FILE to keep the sample, the estimate needs it")
    else:
        say(f"written to {output}")
    if context.obj is not None:
        say("next: assay collect --sheets xlsx --raters NAMES, or assay serve for the browser")


def design_text(design: str, given: Mapping[str, object]) -> str:
    """The design with its parameters as one string."""
    parts = [
        f"{name}:{value:g}" if isinstance(value, float) else f"{name}:{value}"
        for name, value in given.items()
        if value is not None
    ]
    if parts and design == "auto":
        raise OptionError(
            "--design", "auto", "has no parameters of its own", "name the design they belong to"
        )
    return "|".join([design, *parts])


def next_(
    scores: SCORES,
    ratings: RATINGS,
    sample: SAMPLE = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="The method, by name (listed above).",
        ),
    ] = "auto",
    count: Annotated[int, typer.Option("--count", help="How many to choose.")] = 1,
    budget: Annotated[str | None, BUDGET_OPTION] = None,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Choose which segments, or which systems, to rate next.

    Methods: auto, adaptive (which systems go on, --count segments for each), docs-incr-human,
    docs-incr-metrics. Segments are chosen from the sample, or from the whole test set. The budget
    of the adaptive method is in segments per system on average; without one it is the sample.

    Example: assay next scores.tsv ratings.tsv --sample sample.tsv --count 30
    """
    from assay.cli import deliver
    from assay.sampling.next import next_segments
    from assay.tables.tables import read_sample

    save_file(save)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, exclude=exclude, only=only, lp=lp,
        better=better,
    )  # fmt: skip
    drawn = None if sample is None else read_sample(sample, test_set)
    result = next_segments(
        test_set, given, sample=drawn, method=method, count=count, budget=budget, rng=seed
    )
    deliver(result, save, json)


def stability(
    scores: Annotated[
        list[Path], typer.Argument(help="Test sets: one file or several.", metavar="SCORES...")
    ],
    metric: Annotated[str, typer.Option("--metric", help="The metric that ranks the systems.")],
    budget: Annotated[str, BUDGET_OPTION],
    designs: Annotated[
        str, typer.Option("--designs", help="Designs to compare.", metavar="A,B")
    ] = "segments,documents,fixed-snippets,snippets-linear,snippets,rounds",
    held_out: Annotated[
        str | None, typer.Option("--held-out", help="A second metric to judge the samples by.")
    ] = None,
    candidates: Annotated[
        int,
        typer.Option("--candidates", help="Keep the best of so many samples, by the metric."),
    ] = 1,
    draws: DRAWS = 1000,
    runs: Annotated[int, typer.Option("--runs", help="Runs behind best / median / worst.")] = 13,
    matched: MATCHED = True,
    by: BY = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    seed: SEED = None,
    backend: BACKEND = None,
    workers: WORKERS = None,
    scheduler: SCHEDULER = None,
    figure: FIGURE = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Measure how often samples of a design rank systems differently from the whole test set.

    Several budgets are compared as --budget 10%,20%,40%.

    Example: assay stability scores.tsv --metric chrF --budget 40% --designs SL,WD,DB
    """
    from assay.cli import deliver, track
    from assay.sampling.stability import stability as run
    from assay.sampling.stability import summarise_stability
    from assay.stats.random import seeded
    from assay.views.figures import save_figure
    from assay.views.sampling import stability_figure

    save_file(save)
    figure_file(figure)
    who = chosen_workers(backend, workers, scheduler)
    needed = metric if held_out is None else f"{metric},{held_out}"
    sets = _test_sets(
        scores, by, columns=columns, metrics=metrics or needed, lower_metrics=lower_metrics,
        exclude=exclude, only=only,
    )  # fmt: skip
    listed, budgets = names(designs) or [], names(budget) or [budget]
    _, used = seeded(seed)
    records = run(
        sets, designs=listed, budget=budgets, metric=metric, held_out=held_out,
        candidates=candidates, draws=draws, matched=matched, rng=used, workers=who,
    )  # fmt: skip
    bar = track(records, len(sets) * len(listed) * len(budgets), "drawing samples")
    result = summarise_stability(bar, metric=metric, held_out=held_out, runs=runs, seed=used)
    if figure is not None:
        save_figure(stability_figure(result), figure)
    deliver(result, save, json)


def _test_sets(
    paths: list[Path],
    by: str | None,
    *,
    columns: str | None,
    metrics: str,
    lower_metrics: str | None,
    exclude: str | None,
    only: str | None,
) -> Mapping[str, TestSet]:
    """The test sets of all files, split by a column where one is named.

    One Parquet file that is split may be larger than memory, so its parts are read as they come.
    """
    from assay.cli import note
    from assay.tables.selection import Parts, read_parts

    sets: dict[str, TestSet] = {}
    for path in paths:
        (own,) = columns_for(columns, ("scores", path))
        parts: Mapping[str, TestSet]
        if by is None:
            whole = read_test_set(
                path, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
                exclude=exclude, only=only,
            )  # fmt: skip
            note(*(f"{path.name}: {line}" for line in whole.notes))
            parts = {"": whole}
        else:
            parts = read_parts(
                path, by, columns=own, metrics=names(metrics),
                lower_metrics=names(lower_metrics) or (), exclude=names(exclude) or (),
                only=only_for(only, None, own, path, every=True), keep=(),
            )  # fmt: skip
            if isinstance(parts, Parts) and len(paths) == 1:
                return parts.renamed({part: _name(path, part) for part in parts})
        for part, test_set in parts.items():
            name = _name(path, part)
            sets[name if name not in sets else str(path)] = test_set
    return sets


def _name(path: Path, part: str) -> str:
    from assay.tables.load import FILE_TYPES

    name = path.name
    for ending in (".gz", *FILE_TYPES):
        name = name.removesuffix(ending)
    return f"{name}:{part}" if part else name
