"""Bilingual files as they stand before or after editing: XLIFF of any kind, TMX, tables, text.

What a file is its ending says, and its content: any ending may hold XLIFF. A table has a column of
translations, usually one of sources, and perhaps numbers, systems, editors and seconds; its column
names are compared as those of any table are. A text file has a segment per line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from assay.errors import InputError, need_known
from assay.formats.files import text_lines
from assay.formats.xliff import CODE, Element, child, flat_text, line_of, local, read_xml
from assay.formats.xliff_dialects import MEMSOURCE, SDL
from assay.formats.xliff_segments import Version, VersionSegment, read_xliff_version
from assay.tables.load import FILE_TYPES, Findings, load, refuse, to_number, to_text
from assay.tables.names import known_as, stem_of, words_of

TOOLS = (".sdlxliff", ".mxliff", ".mqxliff", ".xlf", ".xliff", ".xlif")
"""Endings of XLIFF files."""
_NAMES = {"seg": ("seg",), "source": ("source",), "system": ("system",), "editor": ("editor",),
          "seconds": ("seconds",)}  # fmt: skip
_TARGETS = {"before": ("mt", "target"), "after": ("edited", "target")}
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


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
        version = read_xliff_version(path)
    elif ending == ".tmx":
        version = _memory(path)
    elif ending == ".txt":
        lines = enumerate(text_lines(path), start=1)
        version = Version(path, tuple(VersionSegment(str(k), None, text, k) for k, text in lines))
    else:
        version = _table(path, role, columns or {})
    if not version.segments:
        raise refuse(path, "has no segment to translate; export it again, or take it away")
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
        said, written = (_seg(texts[name]) for name in (source, target))
        who = texts[target].get("changeid") or texts[target].get("creationid")
        name = unit.get("tuid") or str(number)
        found.append(VersionSegment(name, said, written, line_of(unit), editor=who))
    return Version(path, tuple(found), (source, target))


def _seg(variant: Element) -> str:
    inner = child(variant, "seg")
    return "" if inner is None else flat_text(inner, CODE)


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
    """Assay's names to the table's: as the user says, else as they are called."""
    for user in columns.values():
        need_known("columns", user, frame.columns, f"is not a column of {path}")
    found = dict(columns)
    for name, roles in {"target": _TARGETS[role], **_NAMES}.items():
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
        words = words_of(name)
        if name != role and {"".join(words), stem_of(words)} & known:
            yield name
