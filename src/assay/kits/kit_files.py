"""The files that editors get and send back, written and read; :mod:`.collect` checks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from lxml import etree

from assay.errors import InputError, OptionError
from assay.formats.xliff import CODE, XLIFF, child, flat_text, line_of, read_xml
from assay.formats.xliff_dialects import unit_seconds
from assay.tables.files import Raw, load, refuse, save

KIT_FORMATS = ("tsv", "xlsx", "xliff")
XLIFF_ENDINGS = (".xliff", ".xlf", ".mxliff", ".sdlxliff")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def write_kit(rows: pl.DataFrame, folder: Path, name: str, languages: str) -> str:
    """Write one editor's file, without a word on where its translations come from."""
    file = f"{rows['file'][0]}.{name}"
    if name == "xliff":
        (folder / file).write_bytes(_xliff(rows, languages))
    else:
        blind = rows.select(
            pl.col("position").alias("text"), "id", "source", pl.col("mt").alias("target"),
            pl.lit(None, dtype=pl.String).alias("seconds"),
        )  # fmt: skip
        save(blind, folder / file)
    return file


def _xliff(rows: pl.DataFrame, languages: str) -> bytes:
    source, _, target = languages.partition("-")
    if not (source and target):
        raise OptionError("languages", languages, "does not name two", "give SOURCE-TARGET")
    spaces: dict[Any, str] = {None: XLIFF}
    root = etree.Element(f"{{{XLIFF}}}xliff", {"version": "1.2"}, nsmap=spaces)
    for part in rows.partition_by("position", maintain_order=True):
        file = _add(root, "file", {
            "original": f"text-{part['position'][0]}", "source-language": source,
            "target-language": target, "datatype": "plaintext", _SPACE: "preserve",
        })  # fmt: skip
        body = _add(file, "body", {})
        for row in part.iter_rows(named=True):
            unit = _add(body, "trans-unit", {"id": row["id"]})
            try:
                _add(unit, "source", {}).text = row["source"]
                _add(unit, "target", {"state": "needs-review-translation"}).text = row["mt"]
            except ValueError:
                raise InputError(
                    f"segment {row['seg']} of '{row['doc']}' holds a control character, which XML"
                    " cannot; take it out"
                ) from None
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _add(parent: etree._Element, name: str, attributes: dict[str, str]) -> etree._Element:
    return etree.SubElement(parent, f"{{{XLIFF}}}{name}", attributes)


def load_kit(path: Path) -> Raw:
    """What an editor sent back: id and target, with source and seconds where the file has them."""
    if path.suffix.lower() in XLIFF_ENDINGS:
        return _load_units(path)
    raw = load(path, text=lambda name: True)
    for name in ("id", "target"):
        if name in raw.frame.columns:
            continue
        first, *more = raw.frame.columns
        sign = next((sign for sign in ";," if not more and sign in first), None)
        if sign is not None:
            raise refuse(
                str(path), f"its cells are separated by '{sign}', not by tabs as the ending"
                f" {path.suffix} says; rename it to {path.stem}.csv",
            )  # fmt: skip
        raise refuse(str(path), f"there is no column {name}; send the file that editors got")
    return raw


def _load_units(path: Path) -> Raw:
    """The same from XLIFF 1.2; Phrase's own kind (MXLIFF) has times."""
    rows, lines = [], []
    for unit in read_xml(path).iter("{*}trans-unit"):
        if unit.get("translate") == "no":
            continue
        source, target = child(unit, "source"), child(unit, "target")
        try:
            seconds = unit_seconds(unit)
        except ValueError as error:
            raise refuse(
                str(path), f"expected milliseconds, found '{error.args[1]}'; export the file again",
                line=line_of(unit),
            ) from None  # fmt: skip
        texts = ["" if item is None else flat_text(item, CODE) for item in (source, target)]
        rows.append((unit.get("id", ""), *texts, seconds))
        lines.append(line_of(unit))
    names = {"id": pl.String, "source": pl.String, "target": pl.String, "seconds": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return Raw(frame, str(path), lambda wanted: [lines[row] for row in wanted])
