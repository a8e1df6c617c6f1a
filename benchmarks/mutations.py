"""Files changed at random: bytes, cells, JSON values, tags, and what is packed in archives."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import PurePath
from random import Random
from typing import Any

import polars as pl
import xlsxwriter

ODD = (
    "", " ", "NaN", "inf", "-inf", "1e308", "-1", "0", "1e-320", "1e20", "9" * 400, "1,5", "0x1F",
    "x" * 6000, "\0", "\x1b[2J\x07", "\x85\x9b31m", "\u202egnp.exe", "\ufeff", "\u2028", "\r", "\t",
    "two\nlines", "\ud800", "=1+1", "<b>&amp;</b>", '"', '""', "'", "\\", "系统", "नमस्ते", "ﷺ",
    "e\u0301", "٣", "½", "true", "null", "2024-02-29", "[]", "{}", "../../x", "%s{0}", "--json",
    "left", "tie", "A", "1", "1.0", "system-1", "major",
)  # fmt: skip
"""Cells and texts that nobody expects, and some that stand in the wrong place."""
PLAIN = ("0", "1", "2", "3", "5", "25", "-1", "0.5", "1e6", "7.25", "")
"""Values that a table may have, so that commands have something to do."""
ODD_JSON: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    1e308,
    10**400,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    "",
)
NAMES = ("system", "seg", "doc", "score", "rater", "left", "winner", "probability", "design", "mt")
KINDS = (
    "rows fewer", "rows fewer", "rows fewer", "row again", "rows cut", "rows cut", "name", "cell",
    "names swapped", "row cut", "column gone", "column again", "column the same", "cell", "cells",
    "column the same", "column the same", "cells odd", "cells", "cells", "column of another",
)  # fmt: skip
CHANGES = (0, 1, 1, 1, 1, 2, 3)
"""How often a file is changed."""
BLOCKS = (b"\0" * 64, b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 20_000, b"<a>" * 5_000, b"\t" * 6_000,
          b"\n" * 5_000, b'"', b"&x;", b"\xed\xa0\x80", b"a" * 70_000)  # fmt: skip
ENDINGS = (
    *(".tsv",) * 6, *(".csv", ".jsonl") * 4, ".parquet", ".parquet", ".xlsx", ".txt", ".ndjson",
    ".tsv.gz", ".csv.gz", ".jsonl.gz",
)  # fmt: skip


def change_bytes(data: bytes, rng: Random) -> bytes:
    """Flip, cut, repeat, move, drop or insert something somewhere."""
    start, stop = sorted(rng.randrange(len(data) + 1) for _ in "ab")
    block = data[start:stop]
    match rng.randrange(7):
        case 0:
            changed = bytearray(data)
            for _ in range(rng.choice((1, 2, 8, 64)) if data else 0):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(changed)
        case 1:
            return data[:stop]
        case 2:
            return data[:stop] + block * rng.choice((1, 2, 20 if len(block) < 5000 else 2))
        case 3:
            return data[stop:] + data[:stop]
        case 4:
            return data[:start] + data[stop:]
        case 5:
            return data[:start] + rng.choice(BLOCKS) + data[start:]
        case _:
            odd = rng.choice(ODD).encode("utf-8", "surrogatepass")
            return data[:start] + odd + data[min(start + len(odd), stop) :]


def change_rows(rows: list[list[str]], rng: Random) -> None:
    """Change a cell, a row, a column or the header; mostly so that a table remains."""
    if len(rows) < 2 or not rows[0]:
        return
    line, column, other = (rng.randrange(len(part)) for part in (rows, rows[0], rows[0]))
    numeric = [k for k, cell in enumerate(rows[1]) if k < len(rows[0]) and _is_number(cell)]
    if numeric and rng.random() < 0.6:
        column = rng.choice((numeric[-1], rng.choice(numeric)))  # the last is a score
    kind, odd = rng.choice(KINDS), rng.choice(rng.choice((PLAIN, PLAIN, ODD)))
    match kind:
        case "rows fewer":
            del rows[max(line, 1) : line + rng.choice((1, 1, 3, 20))]
        case "row again":
            rows.insert(rng.randrange(len(rows) + 1), list(rows[line]))
        case "rows cut":
            del rows[rng.randrange(len(rows)) :]
        case "name":
            rows[0][column] = rng.choice((*NAMES, *ODD))
        case "names swapped":
            rows[0][column], rows[0][other] = rows[0][other], rows[0][column]
        case "row cut":
            rows[line] = rows[line][:column]
    for number, row in enumerate(rows):
        if len(row) <= max(column, other):
            continue
        match kind:
            case "column gone":
                del row[column]
            case "column again":
                row.insert(other, row[column])
            case "column the same" if number:
                row[column] = odd
            case "cell" if number == line:
                row[column] = odd
            case "cells odd" | "cells" if number and rng.random() < 0.3:
                row[column] = rng.choice(PLAIN if kind == "cells" else ODD)
            case "column of another" if number:
                row[column] = row[other]


def write_rows(rows: list[list[str]], ending: str) -> bytes:
    """A table as a file of this type."""
    if ending.endswith(".gz"):
        return gzip.compress(write_rows(rows, ending.removesuffix(".gz")), 1, mtime=0)
    if ending in (".tsv", ".txt"):
        return "\n".join("\t".join(row) for row in rows).encode("utf-8", "surrogatepass")
    if ending == ".csv":
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        return text.getvalue().encode("utf-8", "surrogatepass")
    head = rows[0] if rows else []
    if ending in (".jsonl", ".ndjson"):
        lines = [dict(zip(head, map(_number, row), strict=False)) for row in rows[1:]]
        return "\n".join(map(json.dumps, lines)).encode()
    columns: dict[str, list[Any]] = {}
    for place, name in enumerate(head):
        values = [_number(row[place]) if place < len(row) else None for row in rows[1:]]
        if not all(isinstance(value, float | int) for value in values):
            values = [None if value is None else _plain(str(value)) for value in values]
        columns[_plain(name)] = values
    frame, file = pl.DataFrame(columns, strict=False), io.BytesIO()
    if ending == ".parquet":
        frame.write_parquet(file)
    else:
        with xlsxwriter.Workbook(file) as book:
            book.set_properties({"created": datetime(2024, 2, 29)})  # the same file every time
            frame.write_excel(book)
    return file.getvalue()


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def _number(text: str) -> float | str:
    return (float(text) if "." in text else int(text)) if _is_number(text) else text


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def change_json(value: Any, rng: Random) -> Any:
    """Another type, size or structure somewhere inside."""
    if isinstance(value, dict | list) and value and rng.random() < 0.85:
        key: Any = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        match rng.randrange(8):
            case 0:
                del value[key]
            case 1 if isinstance(value, dict):
                value[rng.choice((*NAMES, *ODD))] = value.pop(key)
            case 1 if isinstance(value, list):
                value.extend(value[:50] * rng.choice((1, 20)))
            case _:
                value[key] = change_json(value[key], rng)
        return value
    match rng.randrange(5):
        case 0:
            return [value] * rng.choice((1, 2, 300))
        case 1:
            return {rng.choice(ODD): value}
        case 2:
            for _ in range(150):
                value = [value]
            return value
        case 3:
            return rng.choice(ODD)
        case _:
            return rng.choice(ODD_JSON)


def change_tags(text: str, rng: Random) -> str:
    """Drop, repeat, swap or replace a tag or a text between two."""
    parts = re.split(r"(<[^>]*>)", text)
    place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    match rng.randrange(5):
        case 0:
            del parts[place]
        case 1:
            parts[place] *= rng.choice((2, 3, 300))
        case 2:
            parts[place], parts[other] = parts[other], parts[place]
        case 3:
            parts[place] = rng.choice(ODD)
        case _:
            words = parts[place].split('"')
            words[rng.randrange(len(words))] = rng.choice(ODD)
            parts[place] = '"'.join(words)
    return "".join(parts)


def change_archive(data: bytes, rng: Random) -> bytes:
    """Change, drop or double a file inside a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        names = old.namelist()
        chosen, kind = rng.choice(names), rng.randrange(6)
        for name in names:
            inner = old.read(name)
            if name == chosen and kind == 0:
                continue
            if name == chosen and kind == 1:
                new.writestr(zipfile.ZipInfo(f"{name}x"), inner)
            elif name == chosen and kind == 2:
                inner = change_bytes(inner, rng)
            elif name == chosen:
                text = change_tags(inner.decode("utf-8", "replace"), rng)
                inner = text.encode("utf-8", "surrogatepass")
            new.writestr(zipfile.ZipInfo(name), inner, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _by_kind(name: str, data: bytes, rng: Random) -> bytes:
    """Change what a file of this kind is made of."""
    text, ending = data.decode("utf-8", "replace"), PurePath(name).suffix
    if data[:2] == b"PK":
        return change_archive(data, rng)
    if ending in (".json", ".jsonl"):
        lines = text.splitlines() if ending == ".jsonl" else [text]
        place = rng.randrange(len(lines))
        lines[place] = json.dumps(change_json(json.loads(lines[place]), rng))
        return "\n".join(lines).encode()
    if text.lstrip().startswith("<"):
        return change_tags(text, rng).encode("utf-8", "surrogatepass")
    mark = "," if ending == ".csv" else "\t"
    rows = [line.split(mark) for line in text.splitlines()]
    change_rows(rows, rng)
    return "\n".join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")


def change_file(name: str, data: bytes, rng: Random, *, table: bool = False) -> tuple[str, bytes]:
    """A file changed once or more, in its contents or its bytes; a table is of any type."""
    if table:
        rows = [line.split("\t") for line in data.decode().splitlines()]
        for _ in range(rng.choice(CHANGES)):
            change_rows(rows, rng)
        ending = rng.choice(ENDINGS)
        name, data = str(PurePath(name).with_suffix(ending)), write_rows(rows, ending)
    elif rng.random() < 0.7:
        with suppress(ValueError, zipfile.BadZipFile):
            for _ in range(rng.choice(CHANGES)):
                data = _by_kind(name, data, rng)
    if rng.random() < (0.1 if table else 0.35):
        data = change_bytes(data, rng)
    if not table and rng.random() < 0.1:
        name, data = f"{name}.gz", gzip.compress(data, 1, mtime=0)
        data = change_bytes(data, rng) if rng.random() < 0.5 else data
    return name, data
