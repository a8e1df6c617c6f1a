"""Text, CSV and JSON files of other tools.

Everything comes back with the line it stands on, so that a fault found later still points to its
line; an empty field is null. What is written is written whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import did_you_mean, need_known
from assay.tables.irregular_text import read_by_rows
from assay.tables.json_text import JsonError, json_lines, parse_json
from assay.tables.load import (
    Findings,
    Raw,
    clean_header,
    decode_utf8,
    lines_at,
    read_bytes,
    read_header,
    refuse,
    write_bytes,
)

BREAKS = r"[\n\r]"
"""What ends a line, for most readers of text files."""


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
        raise refuse(path, f"the file is empty; expected {expected}")
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
        raise refuse(path, f"the file is empty; expected {expected}")
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
    counts = rows["text"].str.count_matches("\t", literal=True).cast(pl.Int64) + 1
    wrong = (counts < least) | (counts > most)
    wanted = f"{most}" if least == most else f"{least} to {most}"
    findings = Findings(path)
    for line, text, count in rows.with_columns(count=counts).filter(wrong).rows():
        message = f"{count} fields where {wanted} are expected ({', '.join(names)})"
        findings.add(message, line, None, text[:80])
    findings.stop(rows=rows.height)
    fields = rows["text"].str.split_exact("\t", most - 1).struct.unnest()
    fields.columns = list(names)
    fields = fields.with_columns(pl.all().replace("", None))
    return Raw(fields, str(path), lines_at(rows["line"].to_list()))


def read_csv(path: Path, *, expected: str) -> Raw:
    """A comma-separated file with a header, whatever its name ends in, all as text."""
    data = read_text(path, expected=expected).encode()
    header = clean_header(read_header(data, ",", path))
    return read_by_rows(data, ",", header, str(path))


def need_columns(
    found: Sequence[str], wanted: Sequence[str], source: str | Path, line: int = 1
) -> None:
    """Refuse a header that lacks some of the columns the format has."""
    findings = Findings(source)
    lists = f"expected {', '.join(wanted)}, found {', '.join(found)[:200]}"
    for name in wanted:
        if name not in found:
            message = f"the header has no '{name}'{did_you_mean(name, found)}; {lists}"
            findings.add(message, line, name)
    findings.stop()


def choose_lp(raw: Raw, lp: str | None) -> Raw:
    """The rows of one language pair; a table without the column gets it."""
    if lp is None:
        return raw
    if "lp" not in raw.frame.columns:
        return replace(raw, frame=raw.frame.with_columns(pl.lit(lp).alias("lp")))
    here = raw.frame["lp"] == lp
    if not here.any():
        pairs = raw.frame["lp"].drop_nulls().unique(maintain_order=True).to_list()
        need_known("lp", lp, pairs, f"is not in {raw.source}")
    return raw.with_rows(here.fill_null(False).arg_true())


def refuse_pattern(findings: Findings, values: pl.Series, pattern: str, message: str) -> None:
    """Report every row of a table to be written that holds what the format cannot."""
    for row in values.str.contains(pattern).fill_null(False).arg_true().to_list():
        findings.add(message, row + 1, values.name, str(values[row])[:80])


def write_text(path: Path, content: str) -> list[Path]:
    """Write a text file, whole or not at all; packed where its name ends in .gz."""
    return [write_bytes(path, content.encode())]


def read_json(path: Path) -> Any:
    """A file with one JSON value."""
    text = read_text(path, expected="one JSON value")
    try:
        return parse_json(text, "expected one JSON value")
    except JsonError as error:
        raise refuse(path, str(error), line=error.line) from None


def read_json_lines(path: Path) -> list[tuple[int, Any]]:
    """The JSON values of a file with one per line, with their lines; blank lines are skipped."""
    findings = Findings(path)
    text = read_text(path, expected="a JSON object per line")
    values = list(json_lines(text, findings, "expected one object"))
    findings.stop(rows=len(values))
    return values


def write_json(value: Any, path: Path) -> Path:
    """Write one JSON value, readable for people too, atomically."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return write_bytes(path, text.encode())
