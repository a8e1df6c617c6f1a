"""SDLXLIFF, the XLIFF 1.2 of Trados: several segments in a unit, each with its history.

A row per segment (``mrk`` with ``mtype="seg"``) that a machine translated first. ``seg`` is the
segment's number in the file. The machine's text is that of an ``alt-trans``; a segment that still
has the machine as its origin was not touched, so there it is the target itself. Trados keeps that
a machine was at the beginning of an edited segment, but not what it wrote: a file with such
segments and without ``alt-trans`` is refused, since the untouched ones alone would say that
nothing was ever edited. The system is what ``system`` of the options says, else the
``origin-system``; the editor is what ``editor`` says, else who modified the segment last. There
are no times.
"""

from __future__ import annotations

from pathlib import Path

from assay.tables.formats import Options
from assay.tables.formats.rows import Rows
from assay.tables.formats.xliff import CODE, need_people, pick_machine, root_of
from assay.tables.formats.xml import Element, child, children, flat_text, line_of
from assay.tables.raw import Raw, refuse

SDL = "http://sdl.com/FileTypes/SdlXliff/1.0"
MACHINES = frozenset({"mt", "nmt", "amt"})


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = root_of(path, "1.")
    if SDL not in root.nsmap.values():
        raise refuse(
            str(path),
            f"expected the namespace {SDL}, which is not declared; read it as xliff",
            line=line_of(root),
        )
    rows = Rows(path, kind)
    for file in children(root, "file"):
        doc = file.get("original")
        if not doc:
            rows.fault("expected the document's name in original", line_of(file), "original")
            continue
        for unit in file.iter("{*}trans-unit"):
            for segment in unit.iterfind(f"{{{SDL}}}seg-defs/{{{SDL}}}seg"):
                _segment(unit, segment, doc, options, rows)
    return rows.raw(nothing="no segment was translated by a machine: there is nothing to compare")


def _segment(unit: Element, segment: Element, doc: str, options: Options, rows: Rows) -> None:
    name = segment.get("id", "")
    target = _marked(child(unit, "target"), name)
    # An origin holds the one before it, as often as the segment was worked on.
    history = [segment, *segment.iter(f"{{{SDL}}}prev-origin")]
    machine = next((item for item in history if item.get("origin") in MACHINES), None)
    text = _alternative(unit, name, options, rows)
    if target is None or (machine is None and text is None):
        what = "a target" if target is None else "a machine translation"
        rows.count(f"segments without {what} left out")
        return
    if text is None and machine is segment:
        text = target
    if text is None:
        rows.fault_once(
            "segments were edited whose machine translation is not in the file; export it with"
            " alt-trans, or build a table from the file before and after",
            line_of(segment),
            "mt",
        )
        return
    row = {
        "system": options.system or (None if machine is None else machine.get("origin-system")),
        "doc": doc,
        "seg": name,
        "editor": options.editor or _value(segment, "last_modified_by"),
        "source": _marked(child(unit, "seg-source"), name),
        "mt": text,
        "edited": target,
    }
    need_people(row, line_of(segment), rows)
    rows.add(line_of(segment), row)


def _marked(element: Element | None, name: str) -> str | None:
    """The text of one segment inside a source or target."""
    for mark in () if element is None else element.iter("{*}mrk"):
        if mark.get("mtype") == "seg" and mark.get("mid") == name:
            return flat_text(mark, CODE)
    return None


def _alternative(unit: Element, name: str, options: Options, rows: Rows) -> str | None:
    """What a machine wrote for the segment, where the unit has it."""
    found = [
        item
        for item in children(unit, "alt-trans")
        if item.get("mid") in (None, name) and child(item, "target") is not None
    ]
    if not found:
        return None
    picked = pick_machine(found, ("origin", "tool-id", "tool"), options.system, unit, rows)
    target = None if picked is None else child(picked, "target")
    if target is None:
        return None
    marked = _marked(target, name)
    return marked if marked is not None else flat_text(target, CODE)


def _value(segment: Element, key: str) -> str | None:
    for value in segment.iterfind(f"{{{SDL}}}value"):
        if value.get("key") == key and value.text:
            return value.text
    return None
