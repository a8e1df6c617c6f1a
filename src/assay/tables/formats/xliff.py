"""XLIFF 1.2: translation units with the machine translation in ``alt-trans``.

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
seconds and position are attributes in a namespace of their own. Reading it again gives the same
table, the columns of an edits table only, with the rows of one file together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from assay.tables.formats import Options
from assay.tables.formats.rows import Rows
from assay.tables.formats.xliff_write import ASSAY
from assay.tables.formats.xml import Element, child, children, flat_text, line_of, local, read_xml
from assay.tables.raw import Raw, refuse

CODE = frozenset({"ph", "it", "bpt", "ept", "ut"})
"""Inline elements that hold markup of the original file."""

MACHINE = frozenset({"mt", "nmt", "smt", "machine"})
MEMORY = frozenset({"tm", "memory"})


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = root_of(path, "1.")
    rows = Rows(path, kind)
    for file in children(root, "file"):
        read_file(file, options, rows, _extra)
    return rows.raw(
        nothing="no unit has both a target and an alt-trans from a machine: the machine"
        " translation is not in the file"
    )


def root_of(path: Path, version: str) -> Element:
    """The root of an XLIFF file of this major version (``1.`` or ``2.``)."""
    root = read_xml(path)
    found = root.get("version") or "no version"
    if local(root) != "xliff":
        raise refuse(
            str(path), f"expected an xliff element, found {local(root)}", line=line_of(root)
        )
    if not found.startswith(version):
        other = "xliff2" if found.startswith("2") else "xliff"
        raise refuse(
            str(path),
            f"expected XLIFF {version}x, found {found}; read it as {other}",
            line=line_of(root),
        )
    return root


def read_file(
    file: Element,
    options: Options,
    rows: Rows,
    extra: Callable[[Element, Rows], dict[str, Any] | None],
    *,
    empty_is_none: bool = False,
) -> None:
    """Add the units of one ``file``.

    ``extra`` gives the columns a dialect has beside, or None for a unit that does not count.
    """
    doc = file.get("original")
    if not doc:
        rows.fault("expected the document's name in original", line_of(file), "original")
        return
    tools = _named(file, "tool", "tool-id", "tool-name")
    phases = _named(file, "phase", "phase-name", "contact-name")
    for unit in file.iter("{*}trans-unit"):
        source, target = child(unit, "source"), child(unit, "target")
        machine = _machine(unit, options.system, rows, empty_is_none=empty_is_none)
        if target is None or machine is None:
            what = "a target" if target is None else "a machine translation"
            rows.count(f"units without {what} left out")
            continue
        beside = extra(unit, rows)
        if beside is None:
            continue
        phase = target.get("phase-name") or unit.get("phase-name") or next(reversed(phases), "")
        row = {
            "system": options.system or _system(machine, tools),
            "doc": doc,
            "seg": unit.get("id"),
            "editor": options.editor or beside.get("editor") or phases.get(phase),
            "source": (None if source is None else flat_text(source, CODE)) or None,
            "mt": _target_text(machine),
            "edited": flat_text(target, CODE),
        }
        need_people(row, line_of(unit), rows)
        rows.add(line_of(unit), {**beside, **row})


def need_people(row: dict[str, Any], line: int, rows: Rows) -> None:
    """A fault, once per file, where system or editor is not known."""
    for name in ("system", "editor"):
        if not row[name]:
            rows.fault_once(f"the file does not name the {name}; give it with --{name}", line, name)


def _named(file: Element, group: str, key: str, value: str) -> dict[str, str]:
    """The tools or phases in the file's header by their identifiers, in order."""
    found: dict[str, str] = {}
    header = child(file, "header")
    for item in () if header is None else header.iter(f"{{*}}{group}"):
        identifier, name = item.get(key), item.get(value)
        if identifier is not None and name:
            found[identifier] = name
    return found


def _system(machine: Element, tools: dict[str, str]) -> str | None:
    return tools.get(machine.get("tool-id", "")) or machine.get("tool") or machine.get("origin")


def _target_text(alternative: Element) -> str:
    target = child(alternative, "target")
    return "" if target is None else flat_text(target, CODE)


def _machine(
    unit: Element, system: str | None, rows: Rows, *, empty_is_none: bool
) -> Element | None:
    found = [item for item in children(unit, "alt-trans") if child(item, "target") is not None]
    if empty_is_none:
        found = [item for item in found if _target_text(item)]
    return pick_machine(found, ("origin", "tool-id", "tool"), system, unit, rows)


def pick_machine(
    found: list[Element], names: tuple[str, ...], system: str | None, unit: Element, rows: Rows
) -> Element | None:
    """The alternative that a machine made, or a fault where several may be meant."""
    asked = [item for item in found if system and system in [item.get(name) for name in names]]
    said = [item for item in found if _words(item, names) & MACHINE]
    other = [item for item in found if not _words(item, names) & MEMORY]
    for some in (asked, said, other):
        if len(some) == 1:
            return some[0]
        if some:
            rows.fault(
                f"{len(some)} alternatives may be the machine's; give its {names[0]} with --system"
                " or keep one",
                line_of(unit),
                names[0],
            )
            return some[0]
    return None


def _words(item: Element, names: tuple[str, ...]) -> set[str]:
    return {word for name in names for word in re.split(r"[^a-z]+", (item.get(name) or "").lower())}


def _extra(unit: Element, rows: Rows) -> dict[str, Any]:
    """What Assay wrote beside the texts; what is no number the checks will tell."""
    names = ("words", "seconds", "position")
    found = {name: unit.get(etree.QName(ASSAY, name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}
