"""MXLIFF, the XLIFF 1.2 of Phrase (Memsource), with editing times.

Units are read as XLIFF 1.2 is, with four differences. ``seconds`` is editing time plus thinking
time (``m:editing-stats``, in milliseconds): both are spent on the segment. The editor, unless
given, is the user that ``m:modified-by`` refers to; in a file without a list of users it is the
name itself. An empty ``alt-trans`` is a place where no suggestion was made, not an empty
translation. And a unit that is not confirmed and has no time was never worked on: it is left out
and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.tables.formats import Options
from assay.tables.formats.rows import Rows
from assay.tables.formats.xliff import read_file, root_of
from assay.tables.formats.xml import Element, children, line_of
from assay.tables.raw import Raw, refuse

MEMSOURCE = "http://www.memsource.com/mxlf/2.0"


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file as edits."""
    root = root_of(path, "1.")
    if MEMSOURCE not in root.nsmap.values():
        raise refuse(
            str(path),
            f"expected the namespace {MEMSOURCE}, which is not declared; read it as xliff",
            line=line_of(root),
        )
    rows = Rows(path, kind)
    users = {user.get("id", ""): user.get("username") for user in root.iter(_m("user"))}
    for file in children(root, "file"):
        read_file(file, options, rows, _extra(users), empty_is_none=True)
    return rows.raw(
        nothing="no unit has both a target and a machine translation: the machine translation is"
        " not in the file; export the job with its suggestions"
    )


def _m(name: str) -> str:
    return f"{{{MEMSOURCE}}}{name}"


def _extra(users: dict[str, str | None]) -> Callable[[Element, Rows], dict[str, Any] | None]:
    """The columns that only MXLIFF has, of one unit."""

    def extra(unit: Element, rows: Rows) -> dict[str, Any] | None:
        seconds = _seconds(unit, rows)
        if unit.get(_m("confirmed")) == "0" and not seconds:
            rows.count("units that nobody worked on (not confirmed, no time) left out")
            return None
        who = unit.get(_m("modified-by"), "")
        return {"seconds": seconds, "editor": users.get(who) if users else who}

    return extra


def _seconds(unit: Element, rows: Rows) -> float | None:
    try:
        return unit_seconds(unit)
    except ValueError as error:
        name, text = error.args
        rows.fault(f"expected milliseconds, found '{text}'", line_of(unit), name, text)
        return None


def unit_seconds(unit: Element) -> float | None:
    """Editing and thinking time of a unit; None without, ValueError(name, text) if unreadable."""
    times = []
    for name in ("editing-time", "thinking-time"):
        found = unit.find(f"{_m('editing-stats')}/{_m(name)}")
        text = "" if found is None else (found.text or "").strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 18):
            raise ValueError(name, text[:40])
        times.append(int(text))
    return sum(times) / 1000 if times else None
