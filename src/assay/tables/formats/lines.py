"""Text files of other tools: UTF-8 lines, tab-separated and comma-separated fields.

Everything comes back as text with the line it stands on, so that a fault found later still points
to its line; an empty field is null.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from assay.errors import OptionError, Problem
from assay.tables.check import did_you_mean
from assay.tables.formats.faults import stop
from assay.tables.raw import Raw, decode_utf8, read_bytes, refuse, write_bytes

BREAKS = r"[\n\r]"
"""What ends a line, for most readers of text files."""

csv.field_size_limit(2**31 - 1)


def text_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, blank ones too, without their ends."""
    content = read_text(path)
    lines = content.split("\n") if "\n" in content else content.split("\r")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_text(path: Path, *, expected: str | None = None) -> str:
    """The content of a UTF-8 file; a blank one is refused where something is ``expected``."""
    text = decode_utf8(read_bytes(path), str(path))
    if expected is not None and not text.strip():
        raise refuse(str(path), f"the file is empty; expected {expected}")
    return text


def numbered(path: Path, *, expected: str, loose: bool = False) -> pl.DataFrame:
    """The lines that are not blank, as ``text``, with their numbers, as ``line``.

    ``expected`` says what belongs in the file, for the error where there is nothing. In a
    ``loose`` file any space separates fields; it comes back as a tab.
    """
    lines = pl.Series("text", text_lines(path), dtype=pl.String)
    frame = pl.DataFrame([lines]).with_row_index("line", offset=1)
    frame = frame.filter(pl.col("text").str.strip_chars() != "")
    if not frame.height:
        raise refuse(str(path), f"the file is empty; expected {expected}")
    tabs = pl.col("text").str.strip_chars().str.replace_all(r"\s+", "\t")
    return frame.with_columns(tabs) if loose else frame


def split_tabs(
    rows: pl.DataFrame, names: Sequence[str], path: Path, *, at_least: int | None = None
) -> Raw:
    """Numbered lines as a table of text, split at tabs; nothing is quoted.

    Every line has as many fields as ``names``, or ``at_least`` so many where the last ones may be
    left off; all lines that have not are reported.
    """
    least, most = at_least or len(names), len(names)
    found = rows["text"].str.count_matches("\t", literal=True).cast(pl.Int64) + 1
    wrong = (found < least) | (found > most)
    wanted = f"{most}" if least == most else f"{least} to {most}"
    behind = f"fields where {wanted} are expected ({', '.join(names)})"
    listed = rows.with_columns(found=found).filter(wrong)
    problems = (
        Problem(f"{count} {behind}", line, None, text[:80]) for line, text, count in listed.rows()
    )
    stop(str(path), problems, rows=rows.height)
    fields = rows["text"].str.split_exact("\t", most - 1).struct.unnest()
    fields.columns = list(names)
    fields = fields.with_columns(pl.all().replace("", None))
    return Raw(fields, str(path), _finder(rows["line"].to_list()))


def csv_records(
    content: str, fault: Callable[[str, int], object]
) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line it starts on.

    ``fault`` is told of quotation marks that do not pair up, behind which nothing can be read.
    """
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        fault(f"quotation marks do not pair up from here on ({error})", line)


def read_csv(path: Path, *, expected: str) -> Raw:
    """A comma-separated file with a header, whatever its name ends in, all as text."""
    source = str(path)
    header: list[str] = []
    places: list[int] = []
    records: list[list[str]] = []
    problems: list[Problem] = []

    def fault(message: str, line: int) -> None:
        problems.append(Problem(message, line))

    for line, row in csv_records(read_text(path, expected=expected), fault):
        if not header:
            header = _header(row, source, line)
        elif len(row) != len(header):
            message = f"{len(row)} fields where the header has {len(header)}"
            problems.append(Problem(message, line, None, ",".join(row)[:80]))
        else:
            places.append(line)
            records.append(row)
    stop(source, problems, rows=len(records))
    columns = zip(*records, strict=True) if records else [()] * len(header)
    series = [
        pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
        for name, cells in zip(header, columns, strict=True)
    ]
    return Raw(pl.DataFrame(series), source, _finder(places))


def _header(row: list[str], source: str, line: int) -> list[str]:
    names = [name.strip() or f"column {i}" for i, name in enumerate(row, start=1)]
    need_distinct(names, source, line)
    return names


def _finder(places: list[int]) -> Callable[[Sequence[int]], list[int]]:
    return lambda wanted: [places[row] for row in wanted]


def need_columns(found: Sequence[str], wanted: Sequence[str], source: str, line: int = 1) -> None:
    """Refuse a header that lacks some of the columns the format has."""
    behind = f"; expected {', '.join(wanted)}, found {', '.join(found)[:200]}"
    stop(
        source,
        (
            Problem(f"the header has no '{name}'{did_you_mean(name, found)}{behind}", line, name)
            for name in wanted
            if name not in found
        ),
    )


def need_distinct(names: Sequence[str], source: str, line: int = 1) -> None:
    """Refuse a header that names a column twice."""
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    message = "the name '{}' stands twice in the header; rename one"
    stop(source, (Problem(message.format(name), line, name, name) for name in repeated))


def choose_lp(raw: Raw, lp: str | None) -> Raw:
    """The rows of one language pair; a table without the column gets it."""
    if lp is None:
        return raw
    if "lp" not in raw.frame.columns:
        named = raw.frame.with_columns(pl.lit(lp).alias("lp"))
        return Raw(named, raw.source, raw.lines, raw.notes)
    here = raw.frame["lp"] == lp
    if not here.any():
        pairs = raw.frame["lp"].drop_nulls().unique(maintain_order=True).to_list()
        raise OptionError(
            "lp",
            lp,
            f"is not in {raw.source}{did_you_mean(lp, pairs)}",
            f"choose from {', '.join(pairs[:50]) or 'none, as it names no language pair'}",
        )
    kept = here.fill_null(False).arg_true().to_list()

    def lines(rows: Sequence[int]) -> list[int]:
        return raw.lines([kept[row] for row in rows])

    return Raw(raw.frame[kept], raw.source, lines, raw.notes)


def unwritable(
    values: pl.Series, pattern: str, message: str, *, column: str | None = None
) -> list[Problem]:
    """A problem for every row of a table to be written that holds what the format cannot."""
    rows = values.str.contains(pattern).fill_null(False).arg_true().to_list()
    place = values.name if column is None else column
    return [Problem(message, row + 1, place, str(values[row])[:80]) for row in rows]


def write_text(path: Path, content: str) -> list[Path]:
    """Write a text file, whole or not at all; packed where its name ends in .gz."""
    return [write_bytes(path, content.encode())]
