"""``assay stability``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.design_options import MATCHED
from assay.cli.options import (
    BACKEND,
    COLUMNS,
    EXCLUDE,
    FIGURE,
    JSON,
    LOWER_METRICS,
    METRICS,
    ONLY,
    OUTPUT,
    SCHEDULER,
    SEED,
    WORKERS,
    chosen_workers,
    columns_for,
    figure_file,
    json_file,
    names,
    only_for,
    read_test_set,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from assay.sampling.stability import Stability
    from assay.tables.test_set import TestSet


def stability(
    scores: Annotated[
        list[Path], typer.Argument(help="Test sets: one file or several.", metavar="SCORES...")
    ],
    metric: Annotated[str, typer.Option("--metric", help="The metric that ranks the systems.")],
    budget: Annotated[
        str,
        typer.Option("--budget", help="Segments to rate; several: 10%,20%,40%.", metavar="N|P%"),
    ],
    designs: Annotated[
        str, typer.Option("--designs", help="Designs to compare.", metavar="A,B")
    ] = "segments,documents,fixed-snippets,snippets-linear,snippets",
    held_out: Annotated[
        str | None, typer.Option("--held-out", help="A second metric to judge the samples by.")
    ] = None,
    candidates: Annotated[
        int,
        typer.Option("--candidates", help="Study: the best of so many samples by the metric."),
    ] = 1,
    draws: Annotated[int, typer.Option("--draws", help="Samples per design.")] = 1000,
    runs: Annotated[
        int, typer.Option("--runs", help="Samples of the best/median/worst form.")
    ] = 13,
    matched: MATCHED = True,
    by: Annotated[
        str | None, typer.Option("--by", help="Split every file by this column (lp, domain).")
    ] = None,
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
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Measure how often samples of a design rank the systems otherwise than the whole test set.

    Example: assay stability scores.tsv --metric chrF --budget 40% --designs SL,WD,DB
    """
    from assay.cli.output import note, print_json, save_json, track
    from assay.sampling.stability import stability as run
    from assay.sampling.stability import summarise_stability
    from assay.stats.random import seeded
    from assay.views.figures import draw_stability, save_figure

    refuse_overwriting(json_file(output), *scores, figure_file(figure))
    who = chosen_workers(backend, workers, scheduler)
    sets = _test_sets(
        scores, by, columns=columns, metrics=metrics or _needed(metric, held_out),
        lower_metrics=lower_metrics, exclude=exclude, only=only,
    )  # fmt: skip
    listed, budgets = names(designs) or [], names(budget) or [budget]
    _, used = seeded(seed)
    records = run(
        sets,
        designs=listed,
        budget=budgets,
        metric=metric,
        held_out=held_out,
        candidates=candidates,
        draws=draws,
        matched=matched,
        rng=used,
        workers=who,
    )
    bar = track(records, len(sets) * len(listed) * len(budgets), "drawing samples")
    result = summarise_stability(bar, metric=metric, held_out=held_out, runs=runs, seed=used)
    if output is not None:
        save_json(result.to_dict(), output)
    if figure is not None:
        save_figure(draw_stability(_figure_rows(result)), figure)
    if json:
        print_json(result.to_dict())
        return
    note(*result.notes)
    show_stability(result)


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
    from assay.cli.output import note
    from assay.tables.test_set import Parts, read_parts

    sets: dict[str, TestSet] = {}
    for path in paths:
        (own,) = columns_for(columns, ("scores", path))
        parts: Mapping[str, TestSet]
        if by is None:
            test_set = read_test_set(
                path, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
                exclude=exclude, only=only,
            )  # fmt: skip
            note(*(f"{path.name}: {line}" for line in test_set.notes))
            parts = {"": test_set}
        else:
            parts = read_parts(
                path, by, columns=own, metrics=names(metrics),
                lower_metrics=names(lower_metrics) or (), exclude=names(exclude) or (),
                only=only_for(only, None, own, path, every=True), keep=(),
            )  # fmt: skip
            if isinstance(parts, Parts) and len(paths) == 1:
                return parts.renamed({part: _name(path, part) for part in parts})
        for part, found in parts.items():
            name = _name(path, part)
            sets[name if name not in sets else str(path)] = found
    return sets


def _figure_rows(result: Stability) -> list[dict[str, object]]:
    """Rank changes by budget, as the figure wants them: in percent of the test sets."""
    population = {(row["budget"], row["n"], row["population"]) for row in result.parts}
    share = {budget: 100 * n / total for budget, n, total in population}  # type: ignore[operator]
    return [
        {
            "design": item.design + ("" if item.matched else " (unmatched)"),
            "budget": round(share.get(item.budget, 0.0)),
            "changed": 100 * item.changed / item.test_sets,
            "error": 100 * item.changed_error / item.test_sets,
        }
        for item in result.designs
    ]


def _needed(metric: str, held_out: str | None) -> str:
    return metric if held_out is None else f"{metric},{held_out}"


def _name(path: Path, part: str) -> str:
    from assay.tables.files import FILE_TYPES

    name = path.name
    for ending in (".gz", *FILE_TYPES):
        name = name.removesuffix(ending)
    return f"{name}:{part}" if part else name


def show_stability(result: Stability) -> None:
    """Print one row per design."""
    from assay.cli.output import number, print_table

    rows = []
    for item in result.designs:
        row: list[object] = [
            item.design + ("" if item.matched else " (unmatched)"),
            item.budget,
            f"{number(item.changed, 2)} ± {number(item.changed_error, 2)} of {item.test_sets}",
            f"{item.best} / {item.median:g} / {item.worst}",
            f"{item.discordant_pairs:.2%}",
            f"{number(item.significant_flips, 2)} of {item.test_sets}",
            f"{number(item.cluster_changed, 2)} of {item.test_sets}",
            number(item.length_error, 2),
            number(item.context, 2),
        ]
        if item.held_out_changed is not None:
            row.append(f"{number(item.held_out_changed, 2)} of {item.test_sets}")
        rows.append(row)
    columns = ["design", "budget", "rank changes",
               f"best / median / worst of {result.designs[0].runs}", "discordant pairs",
               "significant flips", "cluster changes", "length error (points)",
               "context per segment"]  # fmt: skip
    if result.held_out is not None:
        columns.append(f"rank changes by {result.held_out}")
    print_table(f"Rankings by {result.metric} under {result.draws} samples each", columns, rows)
    print(f"signature: {result.signature}")
