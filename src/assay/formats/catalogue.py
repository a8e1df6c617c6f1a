"""The formats Assay knows: every module of this package says which ones it has.

A module with ``PROVIDES``, a tuple of :class:`Format`, is all that a new format needs. Its reader
turns a file into the raw columns of one kind of table; the checks are those of every table. A file
that is not in the format is refused with the line, what was expected and what was found. Span
offsets inside Assay are half-open code points; each module converts them on the way in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal, TypeAlias

import polars as pl

import assay.formats
from assay.errors import OptionError, need_known
from assay.formats.mqm import GOOGLE_WEIGHTS, Weights
from assay.tables.load import Raw, library_errors, need_cells


@dataclass(frozen=True, slots=True)
class Options:
    """What some formats leave open; each uses what it needs.

    ``lp``: the language pair, where a file has several or must name one. ``human_scores``: which
    human scores of a folder with several (``mqm``). ``system``, ``editor``: who, where an XLIFF
    file does not say. ``weights``: how marked errors become a score. ``blanks``: whether outputs
    left unranked are dropped or, as the WMT12 tables did, count as ranked best.
    """

    lp: str | None = None
    human_scores: str | None = None
    system: str | None = None
    editor: str | None = None
    weights: Weights = field(default=GOOGLE_WEIGHTS)
    blanks: Literal["drop", "best"] = "drop"


Reader: TypeAlias = Callable[[Path, str, Options], Raw]
"""Reads a file as a kind of table."""

Writer: TypeAlias = Callable[[pl.DataFrame, Path, str, Options], list[Path]]
"""Writes a kind of table and says which files it wrote."""


@dataclass(frozen=True, slots=True)
class Format:
    """What one format is called, what it can be read as and written from."""

    name: str
    about: str
    reads: tuple[str, ...] = ()
    """Kinds of table it can be read as, the usual one first."""
    read: Reader | None = None
    writes: tuple[str, ...] = ()
    """Kinds of table it can be written from."""
    write: Writer | None = None
    options: tuple[str, ...] = ()
    """The fields of :class:`Options` that its reader or writer uses."""
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Those of them that only some uses need: ``read``, ``write``, ``read ratings``."""

    def reading(self, kind: str) -> Format:
        """The format with the options left that reading this kind of table uses."""
        return self._used({"read", f"read {kind}"})

    def writing(self, kind: str) -> Format:
        """The format with the options left that writing this kind of table uses."""
        return self._used({"write", f"write {kind}"})

    def _used(self, ways: set[str]) -> Format:
        kept = [o for o in self.options if o not in self.only or ways & set(self.only[o])]
        return replace(self, options=tuple(kept))


class _Known(Mapping[str, Format]):
    """The formats by name, found in the modules of this package when they are first asked for."""

    @cached_property
    def _formats(self) -> dict[str, Format]:
        names = sorted(module.name for module in iter_modules(assay.formats.__path__))
        modules = [import_module(f"assay.formats.{name}") for name in names]
        return {item.name: item for module in modules for item in getattr(module, "PROVIDES", ())}

    def __getitem__(self, name: str) -> Format:
        return self._formats[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


FORMATS: Mapping[str, Format] = _Known()


def find_format(name: str) -> Format:
    """The format of this name, or an error with the nearest one."""
    need_known("format", name, list(FORMATS))
    return FORMATS[name]


def refuse_unused(options: Options, *formats: Format) -> None:
    """Refuse an option that was given but that none of the formats uses.

    What :meth:`Format.reading` and :meth:`Format.writing` give is judged by that use alone.

    >>> refuse_unused(Options(editor="ann"), FORMATS["evalica"])
    Traceback (most recent call last):
    ...
    assay.errors.OptionError: editor (ann) is not used by evalica; leave it out
    """
    usual = Options()
    used = {name for item in formats for name in item.options}
    for name in [option.name for option in fields(Options)]:
        value = getattr(options, name)
        if value != getattr(usual, name) and name not in used:
            shown = " or ".join(_useless(item, name) for item in formats) or "Assay's own tables"
            raise OptionError(name, value, f"is not used by {shown}", "leave it out")


def _useless(item: Format, option: str) -> str:
    """The format's name, and where an option would be of use to it."""
    where = item.only.get(option)
    return f"{item.name} here (only to {' or '.join(where)})" if where else item.name


def load_format(
    path: Path, name: str, kind: str | None = None, options: Options | None = None, *,
    checked: bool = False,
) -> Raw:  # fmt: skip
    """Read another tool's file as one kind of table, the format's usual one by default.

    An option that is of no use for this is refused, unless all options are ``checked`` already.
    """
    item = find_format(name)
    kind = kind or (item.reads[0] if item.reads else "any")
    if item.read is None or kind not in item.reads:
        can = ", ".join(item.reads) or "nothing (it can only be written)"
        raise OptionError("kind", kind, f"cannot be read from {name}", f"it holds {can}")
    options = options or Options()
    if not checked:
        refuse_unused(options, item.reading(kind))
    with library_errors(Path(path)):
        raw = item.read(Path(path), kind, options)
        need_cells(raw)
    return raw


def save_format(
    frame: pl.DataFrame, path: Path, name: str, kind: str, options: Options | None = None, *,
    checked: bool = False,
) -> list[Path]:  # fmt: skip
    """Write a table as another tool's file; returns what was written.

    An option that is of no use for this is refused, unless all options are ``checked`` already.
    """
    item = find_format(name)
    if item.write is None or kind not in item.writes:
        can = ", ".join(item.writes) or "nothing (it can only be read)"
        raise OptionError("kind", kind, f"cannot be written as {name}", f"it takes {can}")
    options = options or Options()
    if not checked:
        refuse_unused(options, item.writing(kind))
    return item.write(frame, Path(path), kind, options)
