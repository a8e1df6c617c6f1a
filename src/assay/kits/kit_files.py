"""The files that editors get and send back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from lxml import etree

from assay.errors import InputError, OptionError
from assay.tables.edits import Edits, read_edits
from assay.tables.formats.mxliff import unit_seconds
from assay.tables.formats.xliff import CODE
from assay.tables.formats.xliff_write import add, add_file, start_xliff
from assay.tables.formats.xml import children, flat_text, line_of, read_xml
from assay.tables.raw import load, save

__all__ = ["KIT_FORMATS", "collect_kits", "write_kit"]

KIT_FORMATS = ("tsv", "xlsx", "xliff")


def write_kit(rows: pl.DataFrame, folder: Path, name: str, languages: str) -> str:
    """Write one editor's file, without a word on where its translations come from."""
    file = f"{rows['file'][0]}.{name}"
    if name == "xliff":
        (folder / file).write_bytes(_xliff(rows, languages))
    else:
        blind = rows.select(
            pl.col("position").alias("text"), "id", "source", pl.col("mt").alias("target")
        )
        save(blind, folder / file)
    return file


def _xliff(rows: pl.DataFrame, languages: str) -> bytes:
    source, _, target = languages.partition("-")
    if not (source and target):
        raise OptionError("languages", languages, "does not name two", "give SOURCE-TARGET")
    root = start_xliff()
    for part in rows.partition_by("position", maintain_order=True):
        file = add_file(root, f"text-{part['position'][0]}", source, target)
        body = add(file, "body", {})
        for row in part.iter_rows(named=True):
            unit = add(body, "trans-unit", {"id": row["id"]})
            try:
                add(unit, "source", {}).text = row["source"]
                add(unit, "target", {"state": "needs-review-translation"}).text = row["mt"]
            except ValueError:
                raise InputError(
                    f"segment {row['seg']} of '{row['doc']}' holds a control character, which XML"
                    " cannot; take it out"
                ) from None
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def collect_kits(key: pl.DataFrame, files: Sequence[Path]) -> Edits:
    """Join what editors sent back with the key, as a table of edits.

    A file belongs to the editor whose file name it bears. Segments that are missing from it, or
    that the key does not know, are refused: the order of work would be in doubt.
    """
    need = ("editor", "file", "id", "position", "doc", "seg", "system", "source", "mt")
    lacking = [name for name in need if name not in key.columns]
    if lacking:
        raise InputError(f"the key lacks {', '.join(lacking)}; give the file that build wrote")
    known = {str(part["file"][0]): part for part in key.partition_by("file", maintain_order=True)}
    tables = []
    for path in files:
        rows = known.get(path.stem)
        if rows is None:
            raise InputError(
                f"{path}: no editor's file has this name; keep the names as they were sent"
                f" ({', '.join(sorted(known)[:5])}, ...)"
            )
        done = _read_back(path)
        ids = [str(value) for value in rows["id"]]
        odd = [name for name in ids if name not in done] + [n for n in done if n not in set(ids)]
        if odd:
            raise InputError(
                f"{path}: {len(odd)} segments are missing or not of this kit (first: {odd[0]});"
                " ask for the whole file"
            )
        texts = pl.Series("edited", [done[name][0] for name in ids], dtype=pl.String)
        times = pl.Series("seconds", [done[name][1] for name in ids], dtype=pl.String)
        tables.append(rows.drop("file", "id").with_columns(texts, times))
    if not tables:
        raise InputError("no file was given; name the files that editors sent back")
    joined = pl.concat(tables)
    if joined["seconds"].null_count() == joined.height:
        joined = joined.drop("seconds")
    return read_edits(joined)


def _read_back(path: Path) -> dict[str, tuple[str, str | None]]:
    """Text and seconds (where the file has them) by id."""
    if path.suffix.lower() in (".xliff", ".xlf", ".mxliff", ".sdlxliff"):
        return _read_units(path)
    raw = load(path, text=lambda name: True)
    frame = raw.frame
    for name in ("id", "target"):
        if name not in frame.columns:
            raise InputError(f"{path}: has no column {name}; send the file that editors got")
    seconds = frame["seconds"] if "seconds" in frame.columns else [None] * frame.height
    found: dict[str, tuple[str, str | None]] = {}
    rows = zip(frame["id"], frame["target"], seconds, strict=True)
    for number, (name, text, time) in enumerate(rows):
        if str(name) in found:
            raise _twice(path, raw.lines([number])[0], str(name))
        found[str(name)] = (str(text or ""), None if time is None or time == "" else str(time))
    return found


def _twice(path: Path, line: int, name: str) -> InputError:
    return InputError(
        f"{path}, line {line}: segment {name} is in the file twice; keep the one that holds"
    )


def _read_units(path: Path) -> dict[str, tuple[str, str | None]]:
    """The same from XLIFF 1.2; Phrase's own kind (MXLIFF) has times."""
    found: dict[str, tuple[str, str | None]] = {}
    for unit in read_xml(path).iter("{*}trans-unit"):
        target = next(children(unit, "target"), None)
        text = "" if target is None else flat_text(target, CODE)
        try:
            seconds = unit_seconds(unit)
        except ValueError as error:
            raise InputError(
                f"{path}, line {line_of(unit)}: expected milliseconds, found '{error.args[1]}';"
                " export the file again"
            ) from None
        name = unit.get("id", "")
        if name in found:
            raise _twice(path, line_of(unit), name)
        found[name] = (text, None if seconds is None else str(seconds))
    return found
