"""Messages about faults that few files have."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from assay.errors import TableError, did_you_mean, similar_file
from assay.tables.limits import LIMITS
from assay.tables.load import FILE_TYPES, MAX_LISTED, Findings, refuse
from assay.tables.names import OF_EDITORS
from assay.tables.schemas import SCHEMAS, ColumnRule, Schema

if TYPE_CHECKING:
    from assay.tables.answers import Edits

FOLDER = "is a folder; name a file in it, or make a project of it with `assay new`"
PLACES = {
    "cell": "bytes in one cell", "name": "bytes in one name",
    "metrics": "metrics (name those you need with `metrics`)",
}  # fmt: skip
"""What a limit counts, where its name does not say so."""


def unknown_type(path: Path, ending: str) -> TableError:
    """The error for a file whose ending is not that of a table."""
    if path.is_dir():
        return refuse(path, FOLDER)
    if ending in OF_EDITORS:
        return refuse(path, "is a file of a translation tool; `assay effort` reads those")
    known = " ".join(FILE_TYPES)
    return refuse(path, f"file type '{ending}' is not known; use one of {known} (.gz may follow)")


def unreadable(path: Path, error: OSError | ValueError) -> TableError:
    """The error for a file that cannot be opened or read."""
    if isinstance(error, IsADirectoryError):
        return refuse(path, FOLDER)
    if isinstance(error, FileNotFoundError):
        return refuse(path, f"there is no such file{similar_file(path)}")
    return refuse(path, f"cannot be read: {getattr(error, 'strerror', 0) or error}")


def over_the_limit(source: str | Path, what: str, found: int, most: int) -> TableError:
    """The error for a file that holds more of something than the limit allows."""
    return refuse(
        source, f"has {found:,} {PLACES.get(what, what)}, and {most:,} is the limit; if the"
        f" file is right, allow them with `limits` ({what}={found})",
    )  # fmt: skip


def out_of_proportion(path: Path, needed: int, size: int, what: str) -> TableError:
    """The error for a file that would fill far more memory than its size."""
    allowed = needed // max(size, 1) + 1
    return refuse(
        path, f"has {size:,} bytes and would fill {needed:,} of memory ({what}), over"
        f" {LIMITS.get().ratio} times as many; if the file is right, allow it with `limits`"
        f" (ratio={allowed})",
    )  # fmt: skip


def not_a_choice(rule: ColumnRule) -> Callable[[str], str]:
    """The message about a word that is not one of those a column may hold."""

    def message(value: str) -> str:
        hint = did_you_mean(value, rule.choices)
        if rule.spellings and value in ("0", "1"):
            hint = " (where there is no 2, 0 may be a tie or a loss)"
        return f"'{value}' is not one of {', '.join(rule.choices)}{hint}; write one of them"

    return message


def refusal(path: Path, error: BaseException) -> TableError | None:
    """The error for what a library raised; None for an error of Assay's own code."""
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


def twins(names: pl.Series) -> Iterator[str]:
    """Messages about names that look alike but differ: é in one character and in two."""
    alike = pl.DataFrame({"name": names, "form": names.str.normalize("NFC")})
    for _, group in alike.group_by("form", maintain_order=True):
        if group.height > 1:
            shown = " and ".join(sorted(ascii(name) for name in group["name"]))
            yield (
                f"'{group['form'][0]}' is written in several ways that look the same ({shown});"
                " write it in one way (Unicode's form NFC)"
            )


def spelled_twice(names: pl.Series, form: pl.Series, findings: Findings) -> None:
    """Report names that differ only in capitals and spaces."""
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
            f"outputs appear in several rows, and there is a column '{theirs[0]}': this is a table"
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
    """Refuse rows that an earlier table has too, with the places of both."""
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
    """The message about a column that the table should have."""
    others = [column for column in frame.columns if column not in schema.names]
    message = (
        f"column '{name}' is missing{did_you_mean(name, others)}; rename yours or map it with"
        f" `columns` ({name}=YOURS)"
    )
    of_scores = {"source", "target", "reference", "words", "cost", "domain"} & {*frame.columns}
    if schema.kind == "ratings" and name == "score" and of_scores and "rater" not in frame.columns:
        message += "; if this is the table of scores, the two files are probably swapped"
    if frame.width == 1:
        message += " (only one column was found: does the separator match the file's ending?)"
    return message
