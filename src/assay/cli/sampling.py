"""``assay sample``, ``assay next`` and ``assay stability``, with the options of the designs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Context

from assay.cli import (
    Reading,
    columns_for,
    deliver,
    names,
    note,
    only_for,
    read_drawn,
    read_rated,
    read_test_set,
    refuse_alone,
    say,
)
from assay.cli.options import Better, Count, File, Number, Text
from assay.cli.reading import with_history
from assay.cli.running import Backend, chosen_workers, track
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.tables.tables import TestSet


def sample(
    context: Context, scores: Path, *, budget: str, design: str = "auto",
    goal: Literal["ranking", "score"] | None = None, matched: bool = True, top_up: File = None,
    strata: Literal["none", "documents", "metrics"] | None = None,
    allocation: Literal["proportional", "optimal", "smoothed"] | None = None,
    rounding: Literal["random", "largest"] | None = None, bin_size: Count = None,
    stop: Literal["under", "over", "closest"] | None = None, size_limit: Count = None,
    length: Count = None, longest_first: bool = False, max_snippet: Count = None,
    slope: Number = None, importance: Text = None, seconds_per_word: Number = None,
    allow_unreachable: bool = False,
    read: Annotated[Reading, "columns metrics lower_metrics exclude only lp"], history: File = None,
    better: Better | None = None, pay: Text = None, overlap: Number = None,
    per_output: Count = None, seed: Count = None, figure: File = None, output: File = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Draw the segments that raters will see, each with its inclusion probability.

    -o writes the sample, a table that raters' sheets and the estimate need; --save keeps its
    description for the report. A budget of ratings, money or hours (with --pay) is divided by
    systems and raters.

    Designs: auto (by --goal, else by the number of systems), segments (SL), documents (WD),
    fixed-snippets (DF), snippets (DB), snippets-linear, rounds, interleaved, balanced, docs-prop,
    docs-opt, metrics-prop, metrics-opt.

    Example: assay sample scores.tsv --budget 20% --seed 7 -o sample.tsv
    """
    from assay.pay import pay_of
    from assay.results import UNPAID
    from assay.sampling.budget import divide_budget
    from assay.sampling.draw import sample as draw
    from assay.sampling.draw import top_up as enlarge
    from assay.sampling.summary import summarise
    from assay.tables.tables import read_sample
    from assay.views.figures import save_figure
    from assay.views.sampling import sample_figure

    refuse_alone("better", better, "history", history)
    test_set = read_test_set(scores, read, keep=[importance])
    if history is not None:
        test_set = with_history(test_set, history, better or "higher")
    times, once_more = per_output or 1, 0.1 if overlap is None else overlap
    divided = divide_budget(
        budget, len(test_set.systems), test_set.segments.height,
        pay=UNPAID if pay is None else pay_of(pay), per_output=times, overlap=once_more,
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
            test_set, budget=budget, design=_design_text(design, given), goal=goal, matched=matched,
            importance=importance, seconds_per_word=seconds_per_word,
            allow_unreachable=allow_unreachable, rng=seed,
        )  # fmt: skip
    summary = summarise(test_set, drawn)
    if pay is not None:
        summary = replace(summary, pay=pay_of(pay), opinions=times + once_more)
    if output is not None:
        drawn.write(output)
    if figure is not None:
        save_figure(sample_figure(summary), figure)
    deliver(summary, save, json)
    if json:
        return
    if output is None:
        note("not saved; give -o FILE to keep the sample, which the estimate needs")
    else:
        say(f"written to {output}")
    if context.obj is not None:
        say("next: assay collect --sheets xlsx --raters NAMES, or assay serve for the browser")


def _design_text(design: str, given: Mapping[str, object]) -> str:
    """The design with its parameters as one string."""
    parts = [
        f"{name}:{value:g}" if isinstance(value, float) else f"{name}:{value}"
        for name, value in given.items()
        if value is not None
    ]
    if parts and design == "auto":
        raise OptionError(
            "--design", "auto", "takes no parameters", "name the design they belong to"
        )
    return "|".join([design, *parts])


def next_(
    scores: Path, ratings: list[Path], *, sample: File = None, method: str = "auto", count: int = 1,
    budget: Text = None, better: Better = "higher",
    read: Annotated[Reading, "columns metrics exclude only lp"], seed: Count = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Choose the segments or the systems to rate next.

    Methods: auto, adaptive (which systems to continue with, --count segments each),
    docs-incr-human, docs-incr-metrics. Segments come from the sample, if there is one, else from
    the whole test set. The adaptive method's budget is the mean number of segments per system;
    without one it is the sample.

    Example: assay next scores.tsv ratings.tsv --sample sample.tsv --count 30
    """
    from assay.sampling.next import next_segments

    test_set, given = read_rated(scores, ratings, read, better=better)
    result = next_segments(
        test_set, given, sample=read_drawn(sample, test_set), method=method, count=count,
        budget=budget, rng=seed,
    )  # fmt: skip
    deliver(result, save, json)


def stability(
    scores: list[Path], *, metric: str, budget: str,
    designs: str = "segments,documents,fixed-snippets,snippets-linear,snippets,rounds",
    held_out: Text = None, candidates: int = 1, draws: int = 1000, runs: int = 13,
    matched: bool = True, by: Text = None,
    read: Annotated[Reading, "columns metrics lower_metrics exclude only"], seed: Count = None,
    backend: Backend | None = None, workers: Count = None, scheduler: Text = None,
    figure: File = None, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Measure how often samples of a design rank systems differently from the whole test set.

    --budget 10%,20%,40% compares several budgets.

    Example: assay stability scores.tsv --metric chrF --budget 40% --designs SL,WD,DB
    """
    from assay.sampling.stability import stability as run
    from assay.sampling.stability import summarise_stability
    from assay.stats.random import seeded
    from assay.views.figures import save_figure
    from assay.views.sampling import stability_figure

    who = chosen_workers(backend, workers, scheduler)
    needed = metric if held_out is None else f"{metric},{held_out}"
    sets = _test_sets(scores, by, replace(read, metrics=read.metrics or needed))
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


def _test_sets(paths: list[Path], by: str | None, read: Reading) -> Mapping[str, TestSet]:
    """The test sets of all files, split by a column where one is named.

    One Parquet file that is split may be larger than memory, so its parts are read as they come.
    """
    from assay.tables.selection import Parts, read_parts

    sets: dict[str, TestSet] = {}
    for path in paths:
        parts: Mapping[str, TestSet]
        if by is None:
            whole = read_test_set(path, read)
            note(*(f"{path.name}: {line}" for line in whole.notes))
            parts = {"": whole}
        else:
            (own,) = columns_for(read.columns, ("scores", path))
            parts = read_parts(
                path, by, columns=own, metrics=names(read.metrics),
                lower_metrics=names(read.lower_metrics) or (), exclude=read.excluded,
                only=only_for(read, own, path, every=True), keep=(),
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
