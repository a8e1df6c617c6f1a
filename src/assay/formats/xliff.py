"""XLIFF: translation units with the machine's text and the editor's.

**XLIFF 1.2**, with the machine translation in ``alt-trans``.

A row per unit that has both a target (the edited text, perhaps empty) and an ``alt-trans`` from a
machine; units that lack either are left out and counted. ``doc`` is the file's ``original``,
``seg`` the unit's ``id``. Inline tags are taken out: what ``g`` and ``mrk`` enclose is text, what
``ph``, ``it``, ``bpt`` and ``ept`` hold is code.

- **The machine's alt-trans** is the one that names the system asked for, else the one whose
  ``origin`` or ``tool-id`` says so (``mt``, ``machine-trans``), else the only one that does not
  come from a translation memory.
- **The system** is what ``system`` of the options says, else the name of the tool that
  ``tool-id`` refers to, else ``tool`` or ``origin``.
- **The editor** is what ``editor`` of the options says, else the ``contact-name`` of the phase the
  target names, else of the file's last phase.

Written is a ``file`` for every system, document and editor, in the places named above; words,
seconds and position are attributes in a namespace of Assay's. Reading it again gives the same
table, the columns of an edits table only, with the rows of one file together.

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

XML is read without trusting it: nothing is fetched, no DTD is loaded, no entity is expanded, and
sizes are bounded; a file that declares entities is refused, whatever they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from assay.errors import OptionError
from assay.formats.catalogue import Format, Options
from assay.formats.files import FileRows, checked
from assay.tables.load import Findings, Raw, need_room, read_bytes, refuse, write_bytes
from assay.tables.packed import ELEMENT_BYTES
from assay.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from lxml import etree

Element: TypeAlias = "etree._Element"
"""An element of a parsed file."""

CODE = frozenset({"ph", "it", "bpt", "ept", "ut"})
"""Inline elements that hold markup of the original file."""

MACHINE = frozenset({"mt", "nmt", "smt", "machine"})
MEMORY = frozenset({"tm", "memory"})
ALTERNATIVE = ("origin", "tool-id", "tool")
"""Where an ``alt-trans`` says who made it."""
ADDED = ("words", "seconds", "position")
"""What Assay writes in addition to the texts."""

XLIFF = "urn:oasis:names:tc:xliff:document:1.2"
ASSAY = "urn:x-assay:edits"
"""The namespace of what XLIFF has no place for: seconds and position."""

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
DELETED = "x-sdl-deleted"
"""The mark around what tracked changes have taken out (Trados)."""
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ENTITIES = (
    "declares XML entities, which can pull in other files or expand without end, so nothing was"
    " read; export the file without a DOCTYPE"
)


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    rows = FileRows(path, kind)
    for file, doc in named_files(root_of(path, "1."), rows):
        read_file(file, doc, options, rows, _extra)
    return rows.raw(
        nothing="no unit has both a target and an alt-trans from a machine: the machine"
        " translation is not in the file"
    )


def root_of(path: Path, version: str) -> Element:
    """The root of an XLIFF file of this major version (``1.`` or ``2.``)."""
    root = read_xml(path)
    given = root.get("version") or "no version"
    fault = None
    if local(root) != "xliff":
        fault = f"expected an xliff element, found {local(root)}"
    elif not given.startswith(version):
        other = "xliff2" if given.startswith("2") else "xliff"
        fault = f"expected XLIFF {version}x, found {given}; read it as {other}"
    if fault:
        raise refuse(path, fault, line=line_of(root))
    return root


def named_files(
    root: Element, rows: FileRows, names: tuple[str, ...] = ("original",)
) -> Iterator[tuple[Element, str]]:
    """Every ``file`` with its document, which one of these attributes names."""
    for file in children(root, "file"):
        doc = next((file.get(name) for name in names if file.get(name)), None)
        if doc:
            yield file, doc
        else:
            fault = f"expected the document's name in {' or '.join(names)}"
            rows.fault(fault, line_of(file), names[0])


def read_file(
    file: Element, doc: str, options: Options, rows: FileRows,
    extra: Callable[[Element, FileRows], dict[str, Any] | None], *, empty_is_none: bool = False,
) -> None:  # fmt: skip
    """Add the units of one ``file``.

    ``extra`` gives the additional columns of a dialect, or None for a unit that does not count.
    With ``empty_is_none`` an alternative with an empty target does not count as one.
    """
    tools = _named(file, "tool", "tool-id", "tool-name")
    phases = phase_names(file)
    for unit in file.iter("{*}trans-unit"):
        target = child(unit, "target")
        texts = [(item, text_in(item, "target")) for item in children(unit, "alt-trans")]
        written = [item for item, text in texts if text or (text == "" and not empty_is_none)]
        machine = pick_machine(written, ALTERNATIVE, options.system, unit, rows)
        if target is None or machine is None:
            count_lacking(target, "units", rows)
            continue
        more = extra(unit, rows)
        if more is None:
            continue
        phase = target.get("phase-name") or unit.get("phase-name") or next(reversed(phases), "")
        tool = tools.get(machine.get("tool-id", "")) or machine.get("tool")
        row = {
            "system": options.system or tool or machine.get("origin"),
            "doc": doc,
            "seg": unit.get("id"),
            "editor": options.editor or more.get("editor") or phases.get(phase),
            "source": text_in(unit, "source") or None,
            "mt": text_in(machine, "target"),
            "edited": flat_text(target, CODE),
        }
        add_edit(unit, {**more, **row}, rows)


def count_lacking(target: Element | str | None, what: str, rows: FileRows) -> None:
    """Count a unit or segment that has no target, or else no machine translation."""
    lacking = "a target" if target is None else "a machine translation"
    rows.count(f"without {lacking}".replace(" ", "-"), f"{what} without {lacking} left out")


def add_edit(element: Element, row: dict[str, Any], rows: FileRows) -> None:
    """One row; a fault, once per file, where system or editor is not known."""
    for name in ("system", "editor"):
        if not row[name]:
            message = f"the file does not name the {name}; give it with `{name}`"
            rows.fault_once(message, line_of(element), name)
    rows.add(line_of(element), row)


def phase_names(file: Element) -> dict[str, str]:
    """Who worked in each phase of a file, in order."""
    return _named(file, "phase", "phase-name", "contact-name")


def _named(file: Element, group: str, key: str, value: str) -> dict[str, str]:
    """The tools or phases in the file's header by their identifiers, in order."""
    named: dict[str, str] = {}
    header = child(file, "header")
    for item in () if header is None else header.iter(f"{{*}}{group}"):
        identifier, name = item.get(key), item.get(value)
        if identifier is not None and name:
            named[identifier] = name
    return named


def pick_machine(
    alternatives: list[Element], names: tuple[str, ...], system: str | None, unit: Element,
    rows: FileRows,
) -> Element | None:  # fmt: skip
    """The alternative that a machine made, or a fault where several may be meant."""
    asked = [item for item in alternatives if system and system in map(item.get, names)]
    machine = [item for item in alternatives if _words(item, names) & MACHINE]
    other = [item for item in alternatives if not _words(item, names) & MEMORY]
    likely = asked or machine or other
    if len(likely) > 1:
        message = (
            f"{len(likely)} alternatives may be the machine's; give its {names[0]} as `system`,"
            " or keep one"
        )
        rows.fault(message, line_of(unit), names[0])
    return likely[0] if likely else None


def _words(item: Element, names: tuple[str, ...]) -> set[str]:
    return {word for name in names for word in re.split(r"[^a-z]+", (item.get(name) or "").lower())}


def _extra(unit: Element, rows: FileRows) -> dict[str, Any]:
    """What Assay wrote in addition to the texts; the checks report what is not a number."""
    written = {name: unit.get(f"{{{ASSAY}}}{name}") for name in ADDED}
    return {name: value for name, value in written.items() if value is not None}


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write edits as one XLIFF file; ``lp`` of the options gives its languages."""
    from lxml import etree

    edits = checked(frame, kind)
    _need_xml(edits)
    source, _, target = (options.lp or "und-und").partition("-")
    if not (source and target):
        raise OptionError("lp", options.lp, "does not name two languages", "give SOURCE-TARGET")
    spaces: dict[Any, str] = {None: XLIFF, "assay": ASSAY}
    root = etree.Element(f"{{{XLIFF}}}xliff", {"version": "1.2"}, nsmap=spaces)
    for part in edits.partition_by("system", "doc", "editor", maintain_order=True):
        _file(root, part.to_dicts(), source, target)
    data = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return [write_bytes(path, data)]


def _need_xml(edits: pl.DataFrame) -> None:
    """Refuse control characters, which XML cannot hold."""
    findings = Findings("edits")
    for column in SCHEMAS["edits"].columns:
        if column.type != "text" or column.name not in edits.columns:
            continue
        for row, value in enumerate(edits[column.name], start=1):
            sign = _NOT_XML.search(value) if value else None
            if sign:
                message = f"holds U+{ord(sign.group()):04X}, which XML cannot; take it out"
                findings.add(message, row, column.name, value[:80])
    findings.stop(rows=edits.height)


def _file(root: Element, rows: list[dict[str, Any]], source: str, target: str) -> None:
    """A document of plain text, whose white space counts, as one system and editor made it."""
    first = rows[0]
    place = {
        "original": first["doc"], "source-language": source, "target-language": target,
        "datatype": "plaintext", _XML_SPACE: "preserve",
    }  # fmt: skip
    file = _add(root, "file", place)
    header = _add(file, "header")
    phase = {"phase-name": "edit", "process-name": "post-editing", "contact-name": first["editor"]}
    _add(_add(header, "phase-group"), "phase", phase)
    _add(header, "tool", {"tool-id": "mt", "tool-name": first["system"]})
    body = _add(file, "body")
    for row in rows:
        known = {name: row[name] for name in ADDED if row.get(name) is not None}
        added = {f"{{{ASSAY}}}{name}": repr(value) for name, value in known.items()}
        unit = _add(body, "trans-unit", {"id": row["seg"], **added})
        _add(unit, "source").text = row.get("source") or ""
        _add(unit, "target", {"phase-name": "edit"}).text = row["edited"] or ""
        alternative = _add(unit, "alt-trans", {"tool-id": "mt"})
        _add(alternative, "target").text = row["mt"] or ""


def _add(parent: Element, name: str, attributes: dict[str, str] | None = None) -> Element:
    from lxml import etree

    return etree.SubElement(parent, f"{{{XLIFF}}}{name}", attributes or {})


def read_xml(path: Path) -> Element:
    """The root element of an XML file."""
    from lxml import etree

    data = read_bytes(path)
    if not data.strip():
        raise refuse(path, "the file is empty; expected XML")
    need_room(path, ELEMENT_BYTES * data.count(b"<") // 2, "its elements")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        attribute_defaults=False, huge_tree=False,
    )  # fmt: skip
    place = data.find(b"<!ENTITY")
    line = data.count(b"\n", 0, place) + 1 if place >= 0 else 1
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if place >= 0:
            raise refuse(path, _ENTITIES, line=line) from None
        message = f"is not well-formed XML ({error.msg}); export it again"
        raise refuse(path, message, line=error.lineno) from None
    subset: Any = root.getroottree().docinfo.internalDTD
    declared = subset is not None and next(iter(subset.iterentities()), None) is not None
    if declared or next(root.iter(etree.Entity), None) is not None:
        raise refuse(path, _ENTITIES, line=line)
    return root


def line_of(element: Element) -> int:
    """The line on which an element's start tag ends."""
    line: Any = element.sourceline
    return int(line or 1)


def local(element: Element) -> str:
    """The element's name without its namespace; empty for comments and instructions."""
    return _name(element)[1]


def _name(element: Element) -> tuple[str, str]:
    """The namespace and the name; both are empty for comments and instructions."""
    space, _, name = element.tag.rpartition("}") if isinstance(element.tag, str) else ("", "", "")
    return space, name


def children(element: Element, name: str) -> Iterator[Element]:
    """The children of this name in the element's own namespace."""
    wanted = (_name(element)[0], name)
    return (item for item in element if _name(item) == wanted)


def child(element: Element, name: str) -> Element | None:
    """The first child of this name, if any."""
    return next(children(element, name), None)


def text_in(element: Element, name: str, code: frozenset[str] = CODE) -> str | None:
    """The text of the first child of this name."""
    inner = child(element, name)
    return None if inner is None else flat_text(inner, code)


def flat_text(element: Element, code: frozenset[str] = frozenset()) -> str:
    """The text of an element with its inline tags taken out.

    Elements named in ``code`` hold markup of the original file, not text: of those only what
    stands in a ``sub`` element is kept.
    """
    return "".join(_texts(element, code, inside=False))


def _texts(element: Element, code: frozenset[str], *, inside: bool) -> Iterator[str]:
    if element.text and not inside:
        yield element.text
    for item in element:
        name = local(item)
        if name and item.get("mtype") != DELETED:
            yield from _texts(item, code, inside=name in code or (inside and name != "sub"))
        if item.tail and not inside:
            yield item.tail


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
        read_file(file, doc, options, rows, _mxliff_extra(users), empty_is_none=True)
    return rows.raw(
        nothing="no unit has both a target and a machine translation: the machine translation is"
        " not in the file; export the job with its suggestions"
    )


def _m(name: str) -> str:
    return f"{{{MEMSOURCE}}}{name}"


def _mxliff_extra(
    users: dict[str, str | None],
) -> Callable[[Element, FileRows], dict[str, Any] | None]:
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
    Format("xliff", "XLIFF 1.2, with MT in alt-trans", read, WHO, write, {"edits": ("lp",)}),
    Format("mxliff", "Phrase (Memsource) MXLIFF with editing times", read_mxliff, WHO),
    Format("sdlxliff", "Trados SDLXLIFF", read_sdlxliff, WHO),
    Format("xliff2", "XLIFF 2.0", read_xliff2, WHO),
)  # fmt: skip
