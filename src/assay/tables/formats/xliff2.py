"""XLIFF 2.0: segments in units, with the machine translation in the matches module.

A row per segment that has a target and a match made by a machine (``mtc:match``); segments that
lack either are left out and counted. ``doc`` is the file's ``original``, else its ``id``; ``seg``
the unit's ``id``, with the segment's behind a slash where a unit has several. Inline tags are
taken out.

The machine's match is chosen as in XLIFF 1.2 (``origin`` that names the system, else
``type="mt"`` or an origin that says so, else the only one that is no translation memory's). The
system is what ``system`` of the options says, else the match's ``origin``. XLIFF 2.0 has no place
for the editor: ``editor`` of the options names it.
"""

from __future__ import annotations

from pathlib import Path

from assay.tables.formats import Options
from assay.tables.formats.rows import Rows
from assay.tables.formats.xliff import need_people, pick_machine, root_of
from assay.tables.formats.xml import Element, child, children, flat_text, line_of
from assay.tables.raw import Raw, refuse

MATCHES = "urn:oasis:names:tc:xliff:matches:2.0"


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = root_of(path, "2.")
    absent = (
        "the machine translation is not in the file: XLIFF 2.0 keeps it in mtc:match elements"
        " with a target; export with matches, or use a format that has it"
    )
    if next(root.iter(f"{{{MATCHES}}}match"), None) is None:
        raise refuse(str(path), absent, line=line_of(root))
    rows = Rows(path, kind)
    for file in children(root, "file"):
        doc = file.get("original") or file.get("id")
        if not doc:
            rows.fault("expected the document's name in original or id", line_of(file), "original")
            continue
        for unit in file.iter("{*}unit"):
            _unit(unit, doc, options, rows)
    return rows.raw(nothing=absent)


def _unit(unit: Element, doc: str, options: Options, rows: Rows) -> None:
    segments = list(children(unit, "segment"))
    matches = [
        match
        for match in unit.iterfind(f"{{{MATCHES}}}matches/{{{MATCHES}}}match")
        if _target(match) is not None
    ]
    for number, segment in enumerate(segments, start=1):
        mine = [match for match in matches if len(segments) == 1 or _refers(match, segment)]
        match = pick_machine(mine, ("origin", "type"), options.system, unit, rows)
        target = child(segment, "target")
        machine = None if match is None else _target(match)
        if target is None or match is None or machine is None:
            what = "a target" if target is None else "a machine translation"
            rows.count(f"segments without {what} left out")
            continue
        source = child(segment, "source")
        name = unit.get("id")
        if len(segments) > 1:
            name = f"{name}/{segment.get('id') or number}"
        row = {
            "system": options.system or match.get("origin"),
            "doc": doc,
            "seg": name,
            "editor": options.editor,
            "source": (None if source is None else flat_text(source)) or None,
            "mt": flat_text(machine),
            "edited": flat_text(target),
        }
        need_people(row, line_of(segment), rows)
        rows.add(line_of(segment), row)


def _target(match: Element) -> Element | None:
    """The target of a match; it is in the core's namespace, not the module's."""
    return match.find("{*}target")


def _refers(match: Element, segment: Element) -> bool:
    """Whether a match is about a segment: by its id, or by that of a marker in its source."""
    wanted = (match.get("ref") or "").rpartition("#")[2].rpartition("/")[2]
    if not wanted:
        return False
    return any(item.get("id") == wanted for item in segment.iter("{*}segment", "{*}mrk", "{*}sm"))
