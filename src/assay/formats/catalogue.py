"""The formats Assay knows: every module of this package lists its own.

A module with ``PROVIDES``, a tuple of :class:`Format`, is all that a new format needs. Its reader
turns a file into the raw columns of one kind of table; the checks are those of every table. A file
that is not in the format is refused with the line, what was expected and what was found. Span
offsets inside Assay are half-open code points; each module converts them on the way in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
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
    """What one format is called, and which kinds of table it is read as and written from.

    ``reads`` and ``writes`` give, for every kind, the fields of :class:`Options` that it uses; the
    usual kind stands first.
    """

    name: str
    about: str
    read: Reader | None = None
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    write: Writer | None = None
    writes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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


def refuse_unused(options: Options, *uses: tuple[Format, Sequence[str]]) -> None:
    """Refuse an option that was given but is not used: ``uses`` are formats with what each uses.

    >>> evalica = FORMATS["evalica"]
    >>> refuse_unused(Options(editor="ann"), (evalica, evalica.reads["judgments"]))
    Traceback (most recent call last):
    ...
    assay.errors.OptionError: editor (ann) is not used by evalica; leave it out
    """
    usual = Options()
    for name in [option.name for option in fields(Options)]:
        value = getattr(options, name)
        if value != getattr(usual, name) and not any(name in used for _, used in uses):
            shown = " or ".join(_useless(item, name) for item, _ in uses) or "Assay's own tables"
            raise OptionError(name, value, f"is not used by {shown}", "leave it out")


def _useless(item: Format, option: str) -> str:
    """The format's name, and where it would use the option."""
    where = [f"read {kind}" for kind, used in item.reads.items() if option in used]
    where += [f"write {kind}" for kind, used in item.writes.items() if option in used]
    return f"{item.name} here (only to {' or '.join(where)})" if where else item.name


def load_format(
    path: Path, name: str, kind: str | None = None, options: Options | None = None, *,
    checked: bool = False,
) -> Raw:  # fmt: skip
    """Read another tool's file as one kind of table, the format's usual one by default.

    An option that this does not use is refused, unless the options are ``checked`` already.
    """
    item, options = find_format(name), options or Options()
    kind = kind or next(iter(item.reads), "any")
    if item.read is None or kind not in item.reads:
        can = ", ".join(item.reads) or "nothing (it can only be written)"
        raise OptionError("kind", kind, f"cannot be read from {name}", f"it holds {can}")
    if not checked:
        refuse_unused(options, (item, item.reads[kind]))
    with library_errors(Path(path)):
        raw = item.read(Path(path), kind, options)
        need_cells(raw)
    return raw


def save_format(
    frame: pl.DataFrame, path: Path, name: str, kind: str, options: Options | None = None, *,
    checked: bool = False,
) -> list[Path]:  # fmt: skip
    """Write a table as another tool's file; returns what was written, and refuses as above."""
    item, options = find_format(name), options or Options()
    if item.write is None or kind not in item.writes:
        can = ", ".join(item.writes) or "nothing (it can only be read)"
        raise OptionError("kind", kind, f"cannot be written as {name}", f"it takes {can}")
    if not checked:
        refuse_unused(options, (item, item.writes[kind]))
    return item.write(frame, Path(path), kind, options)
