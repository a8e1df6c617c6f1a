"""``assay collect`` and ``assay status``: sheets for raters, what they return, and progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typer import Context

from assay.cli import (
    Reading,
    deliver,
    people,
    read_drawn,
    read_test_set,
    refuse_alone,
    say,
    score_range,
)
from assay.cli.options import Better, Count, File, Number, Text
from assay.cli.reading import read_known
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    import polars as pl

    from assay.project.project import Project
    from assay.tables.tables import Ratings, TestSet

Tool = Literal["xlsx", "csv", "pearmut", "appraise", "label-studio"]


def collect(
    context: Context, files: list[Path], *, output: Path, sheets: Tool | None = None,
    raters: Text = None, sample: File = None, overlap: Number = None, per_output: Count = None,
    checks: Number = None, repeats: Number = None, range: Text = None, instructions: File = None,
    key: File = None, columns: Text = None, exclude: Text = None, format: Text = None,
    better: Better | None = None, pay: Text = None, seed: Count = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Write a blind sheet for each rater (--sheets), or collect the sheets they return.

    All systems of a snippet go to one rater, loads are equal, and systems are shuffled anew for
    every segment. The key, FOLDER-key.tsv, says which output belongs to which system: keep it from
    the raters.

    Example: assay collect scores.tsv --sample sample.tsv --raters Ada,Ben --sheets xlsx -o sheets

    Example: assay collect sheets-key.tsv answers/*.xlsx -o ratings.tsv

    Example: assay collect sheets-key.tsv export.jsonl --format pearmut -o ratings.tsv
    """
    from dataclasses import replace

    from assay.cli.project import returned_before
    from assay.collecting.answers import collect_sheets, write_collected
    from assay.collecting.assign import assign
    from assay.collecting.sheets import write_sheets
    from assay.pay import pay_of
    from assay.results import UNPAID
    from assay.tables.load import decode_utf8, read_bytes

    dealing = {
        "overlap": overlap, "per_output": per_output, "checks": checks, "repeats": repeats,
    }  # fmt: skip
    first, *answers = files
    if sheets is None:
        others = {
            "raters": raters, "sample": sample, "range": range, "instructions": instructions,
            "key": key, "columns": columns, "exclude": exclude, "pay": pay, "seed": seed,
        }  # fmt: skip
        for name, value in (dealing | others).items():
            refuse_alone(name.replace("_", "-"), value, "sheets", sheets)
        if output.is_dir():
            raise OptionError("output", output, "is a folder", "name a file")
        earlier = [] if context.obj is None else returned_before(context.obj, answers)
        ratings = collect_sheets(
            first, answers, earlier=earlier, better=better or "higher", format=format
        )
        deliver(write_collected(ratings, output), save, json)
        if context.obj is not None and not json:
            say("next: assay status shows what they decide, assay report writes a page")
        return
    if raters is None:
        raise OptionError("raters", "none", "is too few", "name the raters, or give their number")
    if answers:
        raise OptionError("sheets", answers[0], "is a second table", "give only the scores table")
    if better is not None:
        fault = "applies to answers"
        raise OptionError("better", better, fault, "give it when you collect them")
    test_set = read_test_set(first, Reading(columns=columns, exclude=exclude))
    given: dict[str, Any] = {name: value for name, value in dealing.items() if value is not None}
    plan = assign(read_drawn(sample, test_set) or test_set, people(raters), rng=seed, **given)
    result = write_sheets(
        test_set, plan, output, format=sheets, key=key, range=score_range(range) or (0, 100),
        instructions=None if instructions is None
        else decode_utf8(read_bytes(instructions), str(instructions)),
    )  # fmt: skip
    deliver(replace(result, pay=UNPAID if pay is None else pay_of(pay)), save, json)
    if context.obj is not None and not json:
        say("next: send them out; assay collect FILES reads what comes back, even if incomplete")


def status(
    context: Context, *, pay: Text = None, level: float = 0.95, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Show where a project stands: what is rated, what is decided, what deciding the rest costs.

    The campaign may still be running. Scores use the part of the sample that is complete from its
    beginning on; without such a part they are provisional.

    Example: assay status --pay "0.12 EUR per rating"
    """
    from assay.collecting.status import project_status

    project: Project | None = context.obj
    if project is None:
        raise InputError("this is not a project (a folder with assay.toml); assay new makes one")
    of = project.settings
    test_set, ratings, alone = _read(project)
    drawn = None if of.sample.file is None else project.path(of.sample.file)
    result = project_status(
        test_set, ratings,
        sample=read_drawn(drawn if drawn is not None and drawn.exists() else None, test_set),
        key=_sent(project),
        target=of.target or ("texts" if alone else None), pay=pay, level=level,
    )  # fmt: skip
    deliver(result, save, json)


def _sent(project: Project) -> pl.DataFrame | None:
    """The rows of the sheets that were sent out."""
    name = project.settings.key
    if name is None or not project.path(name).exists():
        return None
    from assay.collecting.answers import read_key  # sheets are slow to load

    return read_key(project.path(name))


def _read(project: Project) -> tuple[TestSet, Ratings | None, bool]:
    """The test set of a project, the ratings so far, and whether the ratings are the test set."""
    from assay.project.settings import better_of, range_of

    of = project.settings
    if of.judgments and not of.ratings:
        raise InputError(
            f"{project.file} names judgments; assay monitor shows which pairs they decide"
        )
    scores = None if of.scores is None else project.path(of.scores)
    answers = [path for path in project.paths(of.ratings) if path.exists()]
    if scores is None and not answers:
        raise InputError(f"{project.file} names no test set; `assay new . --from FILES` adds one")
    read = Reading(
        columns=_columns(of.columns, [*([scores] if scores else []), *answers]),
        metrics=None if of.metrics is None else ",".join(of.metrics),
        lower_metrics=",".join(of.lower_metrics) or None,
        exclude=",".join(of.exclude) or None,
    )
    scale = range_of(of)
    limits = None if scale is None else f"{scale[0]:g},{scale[1]:g}"
    return read_known(scores, answers, read, better=better_of(of), range=limits)


def _columns(columns: dict[str, str], files: list[Path]) -> str | None:
    """The project's column names that occur in one of these files."""
    from assay.tables.load import column_names

    present = {name for path in files for name in column_names(path)}
    kept = [f"{name}={user}" for name, user in columns.items() if user in present]
    return ",".join(kept) or None
