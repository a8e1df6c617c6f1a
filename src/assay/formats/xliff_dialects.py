"""The XLIFF of other tools: MXLIFF (Phrase), SDLXLIFF (Trados), and XLIFF 2.0.

**MXLIFF**, the XLIFF 1.2 of Phrase (Memsource), with editing times.

Units are read as XLIFF 1.2 is, with four differences. ``seconds`` is editing time plus thinking
time (``m:editing-stats``, in milliseconds): both are spent on the segment. The editor, unless
given, is the user that ``m:modified-by`` refers to; in a file without a list of users it is the
name itself. An empty ``alt-trans`` is a place where no suggestion was made, not an empty
translation. And a unit that is not confirmed and has no time was never worked on: it is left out
and counted.

**SDLXLIFF**, the XLIFF 1.2 of Trados: several segments in a unit, each with its history.

A row per segment (``mrk`` with ``mtype="seg"``) that a machine translated first. ``seg`` is the
segment's number in the file. The machine's text is that of an ``alt-trans``; a segment that still
has the machine as its origin was not touched, so there it is the target itself. Trados keeps that
a machine was at the beginning of an edited segment, but not what it wrote: a file with such
segments and without ``alt-trans`` is refused, since the untouched ones alone would say that
nothing was ever edited. The system is what ``system`` of the options says, else the
``origin-system``; the editor is what ``editor`` says, else who modified the segment last. There
are no times.

**XLIFF 2.0**: segments in units, with the machine translation in the matches module.

A row per segment that has a target and a match made by a machine (``mtc:match``); segments that
lack either are left out and counted. ``doc`` is the file's ``original``, else its ``id``; ``seg``
the unit's ``id``, with the segment's behind a slash where a unit has several. Inline tags are
taken out.

The machine's match is chosen as in XLIFF 1.2 (``origin`` that names the system, else
``type="mt"`` or an origin that says so, else the only one that is not a translation memory's). The
system is what ``system`` of the options says, else the match's ``origin``. XLIFF 2.0 has no place
for the editor: ``editor`` of the options names it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.formats.catalogue import Format, Options
from assay.formats.rows import FileRows
from assay.formats.xliff import (
    ALTERNATIVE,
    CODE,
    Element,
    add_edit,
    child,
    children,
    count_lacking,
    flat_text,
    line_of,
    named_files,
    pick_machine,
    read_file,
    root_of,
    text_in,
)
from assay.tables.load import Raw, refuse

WHO = {"edits": ("system", "editor")}
"""The options that the readers use."""
MEMSOURCE = "http://www.memsource.com/mxlf/2.0"
SDL = "http://sdl.com/FileTypes/SdlXliff/1.0"
MACHINES = frozenset({"mt", "nmt", "amt"})
MATCHES = "urn:oasis:names:tc:xliff:matches:2.0"
UNKNOWN_MACHINE = (
    "segments were edited whose machine translation is not in the file; `assay effort` takes it"
    " from the files as they were before editing (`before` and `after`)"
)


def _root_with(path: Path, namespace: str) -> Element:
    """The root of an XLIFF 1.2 file that declares a tool's namespace."""
    root = root_of(path, "1.")
    if namespace not in root.nsmap.values():
        message = f"expected the namespace {namespace}, which is not declared; read it as xliff"
        raise refuse(path, message, line=line_of(root))
    return root


def read_mxliff(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = _root_with(path, MEMSOURCE)
    rows = FileRows(path, kind)
    users = {user.get("id", ""): user.get("username") for user in root.iter(_m("user"))}
    for file, doc in named_files(root, rows):
        read_file(file, doc, options, rows, _extra(users), empty_is_none=True)
    return rows.raw(
        nothing="no unit has both a target and a machine translation: the machine translation is"
        " not in the file; export the job with its suggestions"
    )


def _m(name: str) -> str:
    return f"{{{MEMSOURCE}}}{name}"


def _extra(users: dict[str, str | None]) -> Callable[[Element, FileRows], dict[str, Any] | None]:
    """The columns that only MXLIFF has, of one unit."""

    def extra(unit: Element, rows: FileRows) -> dict[str, Any] | None:
        seconds = None
        try:
            seconds = unit_seconds(unit)
        except ValueError as error:
            name, text = error.args
            rows.fault(f"expected milliseconds, found '{text}'", line_of(unit), name, text)
        if unit.get(_m("confirmed")) == "0" and not seconds:
            what = "untouched units (not confirmed, no editing time) left out"
            rows.count("not-worked-on", what)
            return None
        who = unit.get(_m("modified-by"), "")
        return {"seconds": seconds, "editor": users.get(who) if users else who}

    return extra


def unit_seconds(unit: Element) -> float | None:
    """Editing and thinking time of a unit; None without, ValueError(name, text) if unreadable."""
    times = []
    for name in ("editing-time", "thinking-time"):
        spent = unit.find(f"{_m('editing-stats')}/{_m(name)}")
        text = "" if spent is None else (spent.text or "").strip()
        if text and not (text.isascii() and text.isdigit() and len(text) < 18):
            raise ValueError(name, text[:40])
        if text:
            times.append(int(text))
    return sum(times) / 1000 if times else None


def read_sdlxliff(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    rows = FileRows(path, kind)
    for file, doc in named_files(_root_with(path, SDL), rows):
        for unit in file.iter("{*}trans-unit"):
            for segment in unit.iterfind(f"{{{SDL}}}seg-defs/{{{SDL}}}seg"):
                _segment(unit, segment, doc, options, rows)
    return rows.raw(nothing="no segment was translated by a machine: there is nothing to compare")


def _segment(unit: Element, segment: Element, doc: str, options: Options, rows: FileRows) -> None:
    name = segment.get("id", "")
    target = marked(child(unit, "target"), name)
    # An origin holds the one before it, as often as the segment was worked on.
    history = [segment, *segment.iter(f"{{{SDL}}}prev-origin")]
    machine = next((item for item in history if item.get("origin") in MACHINES), None)
    text = _alternative(unit, name, options, rows)
    if target is None or (machine is None and text is None):
        count_lacking(target, "segments", rows)
        return
    if text is None and machine is segment:
        text = target
    if text is None:
        rows.fault_once(UNKNOWN_MACHINE, line_of(segment), "mt")
        return
    row = {
        "system": options.system or (None if machine is None else machine.get("origin-system")),
        "doc": doc,
        "seg": name,
        "editor": options.editor or value_of(segment, "last_modified_by"),
        "source": marked(child(unit, "seg-source"), name),
        "mt": text,
        "edited": target,
    }
    add_edit(segment, row, rows)


def marked(element: Element | None, name: str) -> str | None:
    """The text of one segment inside a source or target."""
    for mark in () if element is None else element.iter("{*}mrk"):
        if mark.get("mtype") == "seg" and mark.get("mid") == name:
            return flat_text(mark, CODE)
    return None


def _alternative(unit: Element, name: str, options: Options, rows: FileRows) -> str | None:
    """What a machine wrote for the segment, where the unit has it."""
    alternatives = [
        item
        for item in children(unit, "alt-trans")
        if item.get("mid") in (None, name) and child(item, "target") is not None
    ]
    picked = pick_machine(alternatives, ALTERNATIVE, options.system, unit, rows)
    target = None if picked is None else child(picked, "target")
    if target is None:
        return None
    inside = marked(target, name)
    return inside if inside is not None else flat_text(target, CODE)


def value_of(segment: Element, key: str) -> str | None:
    """What Trados notes of a segment under this key."""
    for value in segment.iterfind(f"{{{SDL}}}value"):
        if value.get("key") == key and value.text:
            return value.text
    return None


def read_xliff2(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = root_of(path, "2.")
    absent = (
        "the machine translation is not in the file: XLIFF 2.0 keeps it in mtc:match elements"
        " with a target; export with matches, or use a format that has it"
    )
    if next(root.iter(f"{{{MATCHES}}}match"), None) is None:
        raise refuse(path, absent, line=line_of(root))
    rows = FileRows(path, kind)
    for file, doc in named_files(root, rows, ("original", "id")):
        for unit in file.iter("{*}unit"):
            _unit(unit, doc, options, rows)
    return rows.raw(nothing=absent)


def _unit(unit: Element, doc: str, options: Options, rows: FileRows) -> None:
    segments = list(children(unit, "segment"))
    # The target of a match is in the core's namespace, not the module's.
    found = unit.iterfind(f"{{{MATCHES}}}matches/{{{MATCHES}}}match")
    matches = {item: target for item in found if (target := item.find("{*}target")) is not None}
    for number, segment in enumerate(segments, start=1):
        mine = [match for match in matches if len(segments) == 1 or _refers(match, segment)]
        match = pick_machine(mine, ("origin", "type"), options.system, unit, rows)
        target = child(segment, "target")
        if target is None or match is None:
            count_lacking(target, "segments", rows)
            continue
        name = unit.get("id")
        if len(segments) > 1:
            name = f"{name}/{segment.get('id') or number}"
        row = {
            "system": options.system or match.get("origin"),
            "doc": doc,
            "seg": name,
            "editor": options.editor,
            "source": text_in(segment, "source", frozenset()) or None,
            "mt": flat_text(matches[match]),
            "edited": flat_text(target),
        }
        add_edit(segment, row, rows)


def _refers(match: Element, segment: Element) -> bool:
    """Whether a match is about a segment: by its id, or by that of a marker in its source."""
    wanted = (match.get("ref") or "").rpartition("#")[2].rpartition("/")[2]
    if not wanted:
        return False
    return any(item.get("id") == wanted for item in segment.iter("{*}segment", "{*}mrk", "{*}sm"))


PROVIDES = (
    Format("mxliff", "Phrase (Memsource) MXLIFF with editing times", read_mxliff, WHO),
    Format("sdlxliff", "Trados SDLXLIFF", read_sdlxliff, WHO),
    Format("xliff2", "XLIFF 2.0", read_xliff2, WHO),
)
