"""What is said of faults that few files have."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from assay.errors import TableError, did_you_mean
from assay.tables.load import MAX_LISTED, Findings, refuse
from assay.tables.schemas import SCHEMAS, Schema

if TYPE_CHECKING:
    from assay.tables.edits import Edits
    from assay.tables.tables import TestSet


def refusal(path: Path, error: BaseException) -> TableError | None:
    """The sentence for what a library raised; None for an error of our own."""
    if isinstance(error, MemoryError):
        return refuse(path, "does not fit into memory; read a part of it, or use more memory")
    if isinstance(error, RecursionError):
        return refuse(path, "is nested too deeply to be read; export it again")
    ours = isinstance(error, Exception) and not isinstance(
        error, pl.exceptions.PolarsError | csv.Error | OSError | UnicodeError
    )
    if ours:
        return None
    # A panic of a reader in Rust is not an Exception.
    reason = (str(error).strip().splitlines() or ["unreadable"])[0][:200]
    return refuse(path, f"is damaged or cut off ({reason}); fetch or save it again")


def undecodable(data: bytes, source: str) -> TableError:
    """The error with every line that is not UTF-8."""
    findings = Findings(source)
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            near = line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
            message = (
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')"
            )
            findings.add(message, number, None, near)
    return findings.error()


def twins(names: pl.Series) -> Iterator[str]:
    """What to say of names that look the same and are not: é in one character and in two."""
    alike = pl.DataFrame({"name": names, "form": names.str.normalize("NFC")})
    for _, group in alike.group_by("form", maintain_order=True):
        if group.height > 1:
            shown = " and ".join(sorted(ascii(name) for name in group["name"]))
            yield (
                f"'{group['form'][0]}' is written in several ways that look the same ({shown});"
                " write it in one way (Unicode's form NFC)"
            )


def spelled_twice(names: pl.Series, form: pl.Series, findings: Findings) -> None:
    """Report names that are one but for capitals and spaces."""
    alike = pl.DataFrame({"name": names, "form": form}).group_by("form", maintain_order=True)
    for same in alike.agg("name").filter(pl.col("name").list.len() > 1)["name"]:
        shown = " and ".join(f"'{name}'" for name in same)
        message = f"{shown} differ only in capitals or spaces; write the name in one way"
        findings.header(message, names.name)


def repeated_keys(
    frame: pl.DataFrame, keys: pl.DataFrame, schema: Schema, findings: Findings
) -> None:
    """Report every row whose key an earlier row has, with the line of the first."""
    if schema.kind == "scores" and (theirs := [n for n in ("rater", "score") if n in frame]):
        swapped = (
            f"outputs stand in several rows, and there is a column '{theirs[0]}': this is a table"
            " of ratings; the files of scores and ratings are probably swapped"
        )
        findings.header(swapped, theirs[0])
        return
    numbered = keys.with_row_index("row")
    first = numbered.select(pl.col("row").min().over(keys.columns)).to_series()
    repeated = first != numbered["row"]
    lines = dict.fromkeys(first.filter(repeated)[:MAX_LISTED].to_list(), 0)
    lines = dict(zip(lines, findings.raw.lines(list(lines)), strict=True))
    shown = keys.select(pl.concat_str(pl.all().fill_null(""), separator=" / ")).to_series()
    remedy = _duplicate_remedy(frame, schema)
    places, names = iter(first.filter(repeated).to_list()), ", ".join(keys.columns)

    def message(value: str) -> str:
        return f"{names} '{value}' is already in line {lines[next(places)]}; {remedy}"

    findings.rows(repeated, keys.columns[-1], shown, message)


def _duplicate_remedy(frame: pl.DataFrame, schema: Schema) -> str:
    if schema.kind == "ratings" and "rater" not in frame.columns:
        return (
            "add a rater column if several raters scored it, or a doc column if seg restarts"
            " in every document"
        )
    if "doc" not in frame.columns:
        return "add a doc column if seg restarts in every document, or remove one of the rows"
    return "remove one of the rows"


def edited_twice(
    frame: pl.DataFrame, findings: Findings, before: Sequence[tuple[Edits, Findings]]
) -> None:
    """Refuse rows that a table before has too, with the places of both."""
    key = list(SCHEMAS["edits"].key)
    for other, theirs in before:
        rows = other.frame.select(key).with_row_index("_row")
        place = frame.select(key).join(rows, on=key, how="left", maintain_order="left")["_row"]
        repeated = place.is_not_null()
        if not repeated.any():
            continue
        lines = iter(theirs.raw.lines(place.filter(repeated)[:MAX_LISTED].to_list()))
        shown = frame.select(pl.concat_str(key, separator=" / ")).to_series()
        source = theirs.raw.source

        def message(value: str, lines: Iterator[int] = lines, source: str = source) -> str:
            place = f"{source}, line {next(lines)}"
            return f"{', '.join(key)} '{value}' is already in {place}; give each edit once"

        findings.rows(repeated, key[-1], shown, message)
    findings.stop()


def missing_column(name: str, frame: pl.DataFrame, schema: Schema) -> str:
    """What to say of a column that the table should have."""
    others = [column for column in frame.columns if column not in schema.names]
    message = (
        f"column '{name}' is missing{did_you_mean(name, others)}; rename yours or map it with"
        f" `columns` ({name}=YOURS)"
    )
    if schema.kind == "ratings" and name == "score" and _like_scores(frame):
        message += "; if this is the table of scores, the two files are probably swapped"
    if frame.width == 1:
        message += " (only one column was found: does the separator match the file's ending?)"
    return message


def _like_scores(frame: pl.DataFrame) -> bool:
    """Whether a table without ratings has columns that only scores have."""
    only = {"source", "target", "reference", "words", "cost", "domain"}
    return "rater" not in frame.columns and not only.isdisjoint(frame.columns)


def foreign_rows(
    frame: pl.DataFrame, test_set: TestSet, unknown: pl.Series, rows: int, findings: Findings
) -> None:
    """Report, once, that most rows are of segments which the test set does not have."""
    key = [name for name in test_set.key if name in frame.columns]
    count = int(unknown.sum())
    first = unknown.arg_true()[0]
    (line,) = findings.raw.lines([first])
    here, there = (
        ", ".join(f"{name} '{value}'" for name, value in row.items())
        for row in (frame.select(key).row(first, named=True),
                    test_set.segments.select(key).row(0, named=True))
    )  # fmt: skip
    whole = str(frame["seg"][first]).removesuffix(".0")
    known = whole != frame["seg"][first] and whole in test_set.segments["seg"]
    hint = f" (did you mean '{whole}'?)" if known else ""
    findings.add(
        f"{here}{hint} and {count - 1:,} more of {rows:,} rows are not in the test set"
        f" ({test_set.source}; its first segment is {there}): this table belongs to another test"
        f" set; give the two that belong together, or write {' and '.join(key)} alike in both",
        line, "seg", frame["seg"][first],
    )  # fmt: skip
