"""``assay sample``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.design_options import (
    ALLOCATION,
    BIN_SIZE,
    BUDGET,
    DESIGN,
    LENGTH,
    LONGEST_FIRST,
    MATCHED,
    MAX_SNIPPET,
    ROUNDING,
    SIZE_LIMIT,
    SLOPE,
    STOP,
    STRATA,
)
from assay.cli.options import (
    COLUMNS,
    EXCLUDE,
    FIGURE,
    HISTORY,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OUTPUT,
    SEED,
    columns_for,
    figure_file,
    read_test_set,
    refuse_overwriting,
    with_history,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.sampling.summary import SampleSummary
    from assay.tables.sample import Sample
    from assay.tables.test_set import TestSet


def sample(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    budget: BUDGET,
    design: DESIGN = "auto",
    goal: Annotated[
        Literal["ranking", "score"] | None,
        typer.Option("--goal", help="What auto aims at; default by the number of systems."),
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
        typer.Option("--seconds-per-word", help="For a budget in minutes without cost column."),
    ] = None,
    allow_unreachable: Annotated[
        bool,
        typer.Option("--allow-unreachable", help="Accept a design that can never draw some."),
    ] = False,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    history: HISTORY = None,
    better: Annotated[
        Literal["higher", "lower"],
        typer.Option("--better", help="Which ratings of the history are good (MQM: lower)."),
    ] = "higher",
    seed: SEED = None,
    figure: FIGURE = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Draw the segments to show the raters, each with its inclusion probability.

    Example: assay sample scores.tsv --budget 20% --seed 7 -o sample.tsv
    """
    from assay.sampling.draw import sample as draw
    from assay.sampling.top_up import top_up as enlarge
    from assay.tables.sample import read_sample

    refuse_overwriting(output, scores, figure_file(figure))
    (own,) = columns_for(columns, ("scores", scores))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, keep=[importance],
    )  # fmt: skip
    test_set = with_history(test_set, history, better)
    given = {
        "strata": strata, "allocation": allocation, "rounding": rounding, "bin": bin_size,
        "stop": stop, "limit": size_limit, "length": length,
        "first": "longest" if longest_first else None, "max": max_snippet, "slope": slope,
    }  # fmt: skip
    if top_up is not None:
        others = [goal, importance, seconds_per_word, *given.values()]
        idle = any(value is not None for value in others) or allow_unreachable
        if design != "auto" or idle:
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
    _deliver(test_set, drawn, output=output, figure=figure, json=json)


def _deliver(
    test_set: TestSet, drawn: Sample, *, output: Path | None, figure: Path | None, json: bool
) -> None:
    """Write what was asked for and say what was drawn."""
    from assay.cli.output import note, print_json
    from assay.sampling.summary import summarise
    from assay.views.figures import draw_lengths, save_figure

    summary = summarise(test_set, drawn)
    if output is not None:
        drawn.write(output)
    if figure is not None:
        save_figure(draw_lengths(_figure_rows(summary)), figure)
    if json:
        print_json(summary.to_dict())
        return
    note(*test_set.notes, f"metrics: {', '.join(test_set.metrics) or 'none'}")
    show_summary(summary)
    if output is not None:
        print(f"written to {output}")
    else:
        note("not saved; give -o FILE to keep the sample, the estimate needs it")


def _figure_rows(summary: SampleSummary) -> list[dict[str, object]]:
    """Length shares of test set and sample, as the figure wants them: in percent."""
    return [
        {"pair": summary.design, "sample": name, "length": share.name, "share": 100 * value}
        for share in summary.length_bins
        for name, value in (("full", share.full), ("sample", share.sample))
    ]


def design_text(design: str, given: Mapping[str, object]) -> str:
    """The design with its parameters as one string."""
    parts = [f"{name}:{_short(value)}" for name, value in given.items() if value is not None]
    if parts and design == "auto":
        raise OptionError(
            "--design", "auto", "has no parameters of its own", "name the design they belong to"
        )
    return "|".join([design, *parts])


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def show_summary(summary: SampleSummary) -> None:
    """Print what was drawn, and whether it mirrors the test set."""
    from assay.cli.output import print_table

    chance = f"{summary.min_probability:.4g}"
    if summary.max_probability - summary.min_probability > 1e-9:
        chance += f" to {summary.max_probability:.4g}"
    what = f"{summary.n} of {summary.population} segments"
    if summary.snippets < summary.n:
        what += f" in {summary.snippets} snippets"
    print(f"drawn: {what}{'' if summary.matched else ' per system'}, {summary.outputs} outputs")
    if summary.distinct_outputs is not None and summary.distinct_outputs < summary.outputs:
        print(f"  {summary.distinct_outputs} different outputs: identical ones need rating once")
    print(f"  design {summary.parameters}")
    print(f"  inclusion probability {chance}; context to read {summary.context_segments:.0f}")
    if summary.unreachable:
        print(f"  {summary.unreachable:.1%} of the segments could never be drawn")
    if summary.design_effect is not None:
        print(
            f"  predicted variance of differences: {summary.design_effect:.2f} of a simple random"
            " sample's"
        )
    tables = [("document length", summary.length_bins), ("position", summary.positions)]
    tables += [("domain", summary.domains)] if summary.domains else []
    rows = [
        [title, share.name, f"{share.full:.1%}", f"{share.sample:.1%}"]
        for title, shares in tables
        for share in shares
        if share.full > 0
    ]
    print_table("How the sample mirrors the test set", ["", "", "test set", "sample"], rows)
    if summary.vocabulary is not None:
        print(f"{summary.vocabulary:.1%} of the source words of the test set occur in the sample")
