"""Text files of other tools: UTF-8 lines, tab-separated and comma-separated fields.

Everything comes back as text with the line it stands on, so that a fault found later still points
to its line; an empty field is null.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from assay.errors import OptionError, Problem, TableError
from assay.tables.check import LISTED, did_you_mean
from assay.tables.raw import Raw, atomic, read_bytes, refuse

__all__ = [
    "choose_lp",
    "need_columns",
    "need_distinct",
    "numbered",
    "read_csv",
    "split_tabs",
    "text_lines",
    "unwritable",
    "write_text",
]

BREAKS = r"[\n\r]"
"""What ends a line, for most readers of text files."""


def text_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, blank ones too, without their ends."""
    content = _text(path)
    lines = content.split("\n") if "\n" in content else content.split("\r")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _text(path: Path) -> str:
    """The content of a file, or every line of it that is not UTF-8."""
    data = read_bytes(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise refuse(str(path), "is UTF-16; save the file as UTF-8", line=1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    problems = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            message = f"byte 0x{line[error.start]:02x} is not UTF-8; save the file as UTF-8"
            near = line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
            problems.append(Problem(message, number, None, near))
    raise TableError(str(path), _capped(problems))


def numbered(path: Path, *, expected: str) -> pl.DataFrame:
    """The lines that are not blank, as ``text``, with their numbers, as ``line``.

    ``expected`` says what belongs in the file, for the error where there is nothing.
    """
    lines = pl.Series("text", text_lines(path), dtype=pl.String)
    frame = pl.DataFrame([lines]).with_row_index("line", offset=1)
    frame = frame.filter(pl.col("text").str.strip_chars() != "")
    if not frame.height:
        raise refuse(str(path), f"the file is empty; expected {expected}")
    return frame


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
    if wrong.any():
        wanted = f"{most}" if least == most else f"{least} to {most}"
        listed = rows.with_columns(found=found).filter(wrong)
        message = f"{{}} fields where {wanted} are expected ({', '.join(names)})"
        problems = [
            Problem(message.format(count), line, None, text[:80])
            for line, text, count in listed.rows()
        ]
        raise TableError(str(path), _capped(problems), rows=rows.height)
    fields = rows["text"].str.split_exact("\t", most - 1).struct.unnest()
    fields.columns = list(names)
    fields = fields.with_columns(pl.all().replace("", None))
    return Raw(fields, str(path), _finder(rows["line"].to_list()))


def read_csv(path: Path, *, expected: str) -> Raw:
    """A comma-separated file with a header, whatever its name ends in, all as text."""
    source = str(path)
    content = io.StringIO(_text(path), newline="")
    reader = csv.reader(content, strict=True)
    header: list[str] = []
    places: list[int] = []
    records: list[list[str]] = []
    problems: list[Problem] = []
    line = 1
    try:
        for row in reader:
            if not header and row:
                header = _header(row, source, line)
            elif row and len(row) != len(header):
                message = f"{len(row)} fields where the header has {len(header)}"
                problems.append(Problem(message, line, None, ",".join(row)[:80]))
            elif row:
                places.append(line)
                records.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(Problem(f"quotation marks do not pair up from here on ({error})", line))
    if problems:
        raise TableError(source, _capped(problems), rows=len(records))
    if not header:
        raise refuse(source, f"the file is empty; expected {expected}")
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


def _capped(problems: list[Problem]) -> list[Problem]:
    """The first problems one by one, the others counted."""
    if len(problems) <= LISTED:
        return problems
    more = Problem(f"{len(problems) - LISTED} more lines have the last problem")
    return [*problems[:LISTED], more]


def need_columns(found: Sequence[str], wanted: Sequence[str], source: str, line: int = 1) -> None:
    """Refuse a header that lacks some of the columns the format has."""
    missing = [name for name in wanted if name not in found]
    if missing:
        shown = ", ".join(found)[:200]
        raise TableError(
            source,
            [
                Problem(
                    f"the header has no '{name}'{did_you_mean(name, found)}; expected"
                    f" {', '.join(wanted)}, found {shown}",
                    line,
                    name,
                )
                for name in missing
            ],
        )


def need_distinct(names: Sequence[str], source: str, line: int = 1) -> None:
    """Refuse a header that names a column twice."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        message = "the name '{}' stands twice in the header; rename one"
        raise TableError(source, [Problem(message.format(n), line, n, n) for n in repeated])


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
    problems = [Problem(message, row + 1, place, str(values[row])[:80]) for row in rows]
    return _capped(problems)


def write_text(path: Path, content: str) -> list[Path]:
    """Write a text file, whole or not at all; packed where its name ends in .gz."""
    data = content.encode()
    if path.suffix.lower() == ".gz":
        import gzip

        data = gzip.compress(data, mtime=0)
    with atomic(path) as temporary:
        temporary.write_bytes(data)
    return [path]
