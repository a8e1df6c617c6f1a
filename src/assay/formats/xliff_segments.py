"""The segments of an XLIFF file as they stand, whichever tool wrote it.

The readers of edits want the machine's text and the editor's in one file. Where a file is kept
before editing and after it, each holds one of the two; what is read here is one text per segment,
with what the tool says of it: who wrote it, how long it took, whether it is confirmed or locked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.formats.xliff import (
    CODE,
    Element,
    child,
    children,
    flat_text,
    line_of,
    local,
    phase_names,
    read_xml,
    text_in,
)
from assay.formats.xliff_dialects import (
    MACHINES,
    MEMSOURCE,
    SDL,
    marked,
    unit_seconds,
    value_of,
)
from assay.tables.load import refuse

MEMOQ = "MQXliff"
"""The namespace of memoQ's XLIFF."""
MEMORIES = frozenset({"tm", "document-match", "auto-propagated", "source", "tm-exact"})
"""Origins of a text that no machine translated for this file."""
DONE = frozenset({
    "translated", "final", "signed-off", "reviewed", "approvedtranslation", "approvedsignoff",
    "manuallyconfirmed", "proofread", "reviewer1confirmed", "reviewer2confirmed",
})  # fmt: skip
"""States of a segment that somebody has finished."""
BY_MACHINE = frozenset({"mt-suggestion", "leveraged-mt"})
BY_MEMORY = frozenset({
    "exact-match", "fuzzy-match", "id-match", "leveraged-tm", "leveraged-inherited",
    "leveraged-repository", "leveraged-glossary",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class VersionSegment:
    """One segment of one version of a file; None where the file does not say."""

    seg: str
    source: str | None
    target: str
    line: int
    system: str | None = None
    editor: str | None = None
    seconds: float | None = None
    machine: bool | None = None
    """Whether a machine made the target."""
    confirmed: bool | None = None
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """A file as it stood before or after editing."""

    path: Path
    segments: tuple[VersionSegment, ...]
    languages: tuple[str | None, str | None] = (None, None)
    """Source and target."""


def read_xliff_version(path: Path) -> Version:
    """All segments that may be translated, of XLIFF 1.2 and 2.x, MXLIFF, SDLXLIFF and MQXLIFF."""
    root = read_xml(path)
    if local(root) != "xliff":
        fault = f"expected an XLIFF file, found the element {local(root)}; export it again"
        raise refuse(path, fault, line=line_of(root))
    newer = (root.get("version") or "1").startswith("2")
    files = list(children(root, "file"))
    first = root if newer else next(iter(files), root)
    names = ("srcLang", "trgLang") if newer else ("source-language", "target-language")
    found = [item for file in files for item in (_units2(file) if newer else _units(file, path))]
    return Version(path, tuple(found), (first.get(names[0]), first.get(names[1])))


def _units(file: Element, path: Path) -> Iterator[VersionSegment]:
    phases = phase_names(file)
    users = {u.get("id", ""): u.get("username") for u in file.getroottree().iter(_m("user"))}
    for unit in file.iter("{*}trans-unit"):
        if (unit.get("translate") or "yes").lower() == "no":
            continue
        parts = list(unit.iterfind(f"{{{SDL}}}seg-defs/{{{SDL}}}seg"))
        for part in parts:
            yield _trados(unit, part)
        if not parts:
            yield _unit(unit, phases, users, path)


def _trados(unit: Element, part: Element) -> VersionSegment:
    name, origin = part.get("id", ""), (part.get("origin") or "").lower()
    history = [part, *part.iter(f"{{{SDL}}}prev-origin")]
    machine = next((item for item in history if item.get("origin") in MACHINES), None)
    return VersionSegment(
        seg=name,
        source=marked(child(unit, "seg-source"), name),
        target=marked(child(unit, "target"), name) or "",
        line=line_of(part),
        system=None if machine is None else machine.get("origin-system"),
        editor=value_of(part, "last_modified_by"),
        machine=True if origin in MACHINES else False if origin in MEMORIES else None,
        confirmed=(part.get("conf") or "").lower() in DONE,
        locked=_is_yes(part.get("locked")),
    )


def _unit(
    unit: Element, phases: dict[str, str], users: dict[str, str | None], path: Path
) -> VersionSegment:
    target = child(unit, "target")
    state = None if target is None else target.get("state")
    made = "" if target is None else target.get("state-qualifier") or ""
    origin = unit.get(_m("trans-origin")) or ""
    who = unit.get(_m("modified-by"), "")
    phase = (None if target is None else target.get("phase-name")) or next(reversed(phases), "")
    confirmed = unit.get(_m("confirmed")) or unit.get(f"{{{MEMOQ}}}status") or state
    if confirmed is None and unit.get("approved"):
        confirmed = "final" if _is_yes(unit.get("approved")) else "new"
    try:
        seconds = unit_seconds(unit)
    except ValueError as error:
        name, text = error.args
        fault = f"expected milliseconds in {name}, found '{text}'; export the file again"
        raise refuse(path, fault, line=line_of(unit)) from None
    locked = unit.get(_m("locked")) or unit.get(f"{{{MEMOQ}}}locked")
    return VersionSegment(
        seg=unit.get("id", ""),
        source=text_in(unit, "source"),
        target="" if target is None else flat_text(target, CODE),
        line=line_of(unit),
        editor=(users.get(who) if users else who)
        or unit.get(f"{{{MEMOQ}}}lastchanginguser")
        or phases.get(phase),
        seconds=seconds,
        machine=_by_machine(made, origin.lower()),
        confirmed=None if confirmed is None else _is_yes(confirmed) or confirmed.lower() in DONE,
        locked=_is_yes(locked),
    )


def _by_machine(made: str, origin: str) -> bool | None:
    if made in BY_MACHINE or origin in MACHINES:
        return True
    return False if made in BY_MEMORY or origin in MEMORIES else None


def _units2(file: Element) -> Iterator[VersionSegment]:
    for unit in file.iter("{*}unit"):
        if (unit.get("translate") or "yes").lower() == "no":
            continue
        parts = list(children(unit, "segment"))
        for number, part in enumerate(parts, start=1):
            name, state = unit.get("id", ""), part.get("state")
            yield VersionSegment(
                seg=f"{name}/{part.get('id') or number}" if len(parts) > 1 else name,
                source=text_in(part, "source", frozenset()),
                target=text_in(part, "target", frozenset()) or "",
                line=line_of(part),
                confirmed=None if state is None else state.lower() in DONE,
            )


def _is_yes(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true", "yes", "locked")


def _m(name: str) -> str:
    return f"{{{MEMSOURCE}}}{name}"
