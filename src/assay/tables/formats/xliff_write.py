"""XLIFF 1.2 from an edits table; :mod:`assay.tables.formats.xliff` says what goes where."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
from lxml import etree

from assay.errors import OptionError, Problem
from assay.tables.formats import Options
from assay.tables.formats.faults import stop
from assay.tables.formats.rows import checked
from assay.tables.raw import write_bytes
from assay.tables.schema import SCHEMAS

XLIFF = "urn:oasis:names:tc:xliff:document:1.2"
ASSAY = "urn:x-assay:edits"
"""The namespace of what XLIFF has no place for: seconds and position."""

_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write edits as one XLIFF file; ``lp`` of the options gives its languages."""
    edits = checked(frame, kind)
    _need_xml(edits)
    source, _, target = (options.lp or "und-und").partition("-")
    if not (source and target):
        raise OptionError("lp", options.lp, "does not name two languages", "give SOURCE-TARGET")
    root = start_xliff(assay=ASSAY)
    for part in edits.partition_by("system", "doc", "editor", maintain_order=True):
        _file(root, part.to_dicts(), source, target)
    data = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return [write_bytes(path, data)]


def _need_xml(edits: pl.DataFrame) -> None:
    """XML has no way to write control characters."""
    problems = []
    for column in SCHEMAS["edits"].columns:
        if column.type != "text" or column.name not in edits.columns:
            continue
        for row, value in enumerate(edits[column.name], start=1):
            found = _NOT_XML.search(value) if value else None
            if found:
                sign = f"U+{ord(found.group()):04X}"
                message = f"holds {sign}, which XML cannot; take it out"
                problems.append(Problem(message, row, column.name, value[:80]))
    stop("edits", problems, rows=edits.height)


def _file(root: etree._Element, rows: list[dict[str, Any]], source: str, target: str) -> None:
    first = rows[0]
    file = add_file(root, first["doc"], source, target)
    header = add(file, "header", {})
    phase = {"phase-name": "edit", "process-name": "post-editing", "contact-name": first["editor"]}
    add(add(header, "phase-group", {}), "phase", phase)
    add(header, "tool", {"tool-id": "mt", "tool-name": first["system"]})
    body = add(file, "body", {})
    for row in rows:
        _unit(body, row)


def _unit(body: etree._Element, row: dict[str, Any]) -> None:
    place = {
        f"{{{ASSAY}}}{name}": repr(row[name])
        for name in ("words", "seconds", "position")
        if row.get(name) is not None
    }
    unit = add(body, "trans-unit", {"id": row["seg"], **place})
    add(unit, "source", {}).text = row.get("source") or ""
    add(unit, "target", {"phase-name": "edit"}).text = row["edited"] or ""
    alternative = add(unit, "alt-trans", {"tool-id": "mt"})
    add(alternative, "target", {}).text = row["mt"] or ""


def start_xliff(**spaces: str) -> etree._Element:
    """The root of an XLIFF 1.2 document; ``spaces`` are further namespaces."""
    known: dict[Any, str] = {None: XLIFF, **spaces}
    return etree.Element(f"{{{XLIFF}}}xliff", {"version": "1.2"}, nsmap=known)


def add_file(root: etree._Element, original: str, source: str, target: str) -> etree._Element:
    """A document of plain text, whose white space counts."""
    return add(
        root,
        "file",
        {
            "original": original,
            "source-language": source,
            "target-language": target,
            "datatype": "plaintext",
            _XML_SPACE: "preserve",
        },
    )


def add(parent: etree._Element, name: str, attributes: dict[str, str]) -> etree._Element:
    """An element of XLIFF under another."""
    return etree.SubElement(parent, f"{{{XLIFF}}}{name}", attributes)
