"""Bilingual files as they stand before or after editing: XLIFF of any kind, TMX, tables, text.

The readers of edits want the machine's text and the editor's in one file. Where a file is kept
before editing and after it, each holds one of the two; what is read here is one text per segment,
with what the tool says of it: who wrote it, how long it took, whether it is confirmed or locked.

What a file is its ending says, and its content: any ending may hold XLIFF. A table has a column of
translations, usually one of sources, and perhaps numbers, systems, editors and seconds; its column
names are compared as those of any table are. A text file has a segment per line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from assay.errors import InputError, need_known
from assay.formats.files import text_lines
from assay.formats.xliff import (
    CODE,
    MACHINES,
    MEMSOURCE,
    SDL,
    Element,
    child,
    children,
    flat_text,
    line_of,
    local,
    marked,
    phase_names,
    read_xml,
    text_in,
    unit_seconds,
    value_of,
)
from assay.tables.load import FILE_TYPES, Findings, load, refuse, to_number, to_text
from assay.tables.names import known_as, stem_of, without_language, words_of

MEMOQ = "MQXliff"
"""The namespace of memoQ's XLIFF."""
MEMORIES = frozenset({"tm", "document-match", "auto-propagated", "source", "tm-exact"})
"""Origins of a text that no machine translated for this file."""
DONE = frozenset({
    "translated", "final", "signed-off", "reviewed", "approvedtranslation", "approvedsignoff",
    "manuallyconfirmed", "proofread", "reviewer1confirmed", "reviewer2confirmed",
})  # fmt: skip
"""States of a finished segment."""
BY_MACHINE = frozenset({"mt-suggestion", "leveraged-mt"})
BY_MEMORY = frozenset({
    "exact-match", "fuzzy-match", "id-match", "leveraged-tm", "leveraged-inherited",
    "leveraged-repository", "leveraged-glossary",
})  # fmt: skip
TOOLS = (".sdlxliff", ".mxliff", ".mqxliff", ".xlf", ".xliff", ".xlif")
"""Endings of XLIFF files."""
_NAMES = ("seg", "source", "system", "editor", "seconds")
_TARGETS = {"before": ("mt", "target"), "after": ("edited", "target")}
_TEXTS = ("source", "target", "mt", "edited")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


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


def ending_of(path: Path) -> str | None:
    """The ending of a bilingual file that can be read, or None."""
    endings = (*TOOLS, ".tmx", ".txt", *FILE_TYPES)
    name = path.name.lower().removesuffix(".gz")
    return next((ending for ending in endings if name.endswith(ending)), None)


def tool_format(path: Path) -> str | None:
    """The format of a translation tool's file, by its ending and content; None for a table."""
    if ending_of(path) not in TOOLS:
        return None
    root = read_xml(path)
    if (root.get("version") or "").startswith("2"):
        return "xliff2"
    spaces = {*root.nsmap.values()}
    return "sdlxliff" if SDL in spaces else "mxliff" if MEMSOURCE in spaces else "xliff"


def read_version(
    path: Path, role: Literal["before", "after"], columns: Mapping[str, str] | None = None
) -> Version:
    """A file's segments; ``columns`` maps Assay's names (source, target) to a table's."""
    ending = ending_of(path)
    if ending in TOOLS:
        version = _read_xliff(path)
    elif ending == ".tmx":
        version = _memory(path)
    elif ending == ".txt":
        lines = enumerate(text_lines(path), start=1)
        version = Version(path, tuple(VersionSegment(str(k), None, text, k) for k, text in lines))
    else:
        version = _table(path, role, columns or {})
    if not version.segments:
        raise refuse(path, "has no segment to translate; export it again, or leave it out")
    return version


def _memory(path: Path) -> Version:
    """A translation memory of one language pair, in the order of its units."""
    root = read_xml(path)
    header = child(root, "header")
    if local(root) != "tmx" or header is None:
        raise refuse(path, f"expected TMX, found the element {local(root)}", line=line_of(root))
    source = (header.get("srclang") or "").lower()
    found, target = [], None
    for number, unit in enumerate(root.iter("{*}tu"), start=1):
        texts = {(t.get(_LANGUAGE) or t.get("lang") or "").lower(): t for t in unit.iter("{*}tuv")}
        other = [name for name in texts if name != source]
        if source not in texts or len(other) != 1:
            fault = f"expected {source} and one other language, found {', '.join(texts) or 'none'}"
            raise refuse(path, f"{fault}; export one language pair", line=line_of(unit))
        target = other[0]
        said, written = (text_in(texts[name], "seg") or "" for name in (source, target))
        who = texts[target].get("changeid") or texts[target].get("creationid")
        name = unit.get("tuid") or str(number)
        found.append(VersionSegment(name, said, written, line_of(unit), editor=who))
    return Version(path, tuple(found), (source, target))


def _table(path: Path, role: Literal["before", "after"], columns: Mapping[str, str]) -> Version:
    raw = load(path, text=lambda _: False)
    found = _columns(path, raw.frame, role, columns)
    texts = {name: to_text(raw.frame[user]) for name, user in found.items() if name != "seconds"}
    frame = pl.DataFrame([values.alias(name) for name, values in texts.items()])
    if "seconds" in found:
        findings = Findings(raw)
        seconds = to_number(raw.frame[found["seconds"]], findings, found["seconds"])
        findings.stop(rows=raw.frame.height)
        frame = frame.with_columns(seconds=seconds)
    lines = raw.lines(range(frame.height))
    rows = zip(lines, frame.iter_rows(named=True), strict=True)
    return Version(path, tuple(_row(number, *row) for number, row in enumerate(rows, start=1)))


def _row(number: int, line: int, cells: dict[str, Any]) -> VersionSegment:
    known = {"source": None, **cells, "target": cells["target"] or ""}
    return VersionSegment(**{**known, "seg": known.get("seg") or str(number)}, line=line)


def _columns(
    path: Path, frame: pl.DataFrame, role: Literal["before", "after"], columns: Mapping[str, str]
) -> dict[str, str]:
    """Assay's names to the table's: as given by the user, else by known names."""
    for user in columns.values():
        need_known("columns", user, frame.columns, f"is not a column of {path}")
    found = dict(columns)
    for name, roles in {"target": _TARGETS[role], **{name: (name,) for name in _NAMES}}.items():
        able = [user for role_ in roles for user in _called(role_, frame.columns)]
        able = [user for user in able if user not in found.values()]
        if name not in found and able:
            found[name] = able[0]
    if "target" not in found:
        names = ", ".join(frame.columns)
        raise InputError(
            f"{path}: no column is known to be the translation; the columns are {names}. Say it"
            " with `columns` (target=YOURS,source=YOURS)"
        )
    return found


def _called(role: str, names: Sequence[str]) -> Iterator[str]:
    """The columns that are called by Assay's name, then those by another known one."""
    yield from (name for name in names if name == role)
    known = known_as(role)
    for name in names:
        words = words_of(without_language(name) if role in _TEXTS else name)
        if name != role and {"".join(words), stem_of(words)} & known:
            yield name


def _read_xliff(path: Path) -> Version:
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
