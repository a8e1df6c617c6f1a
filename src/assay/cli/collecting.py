"""``assay collect``: blind sheets for raters, and the sheets that they return."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

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
from assay.errors import OptionError

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
