"""Other tools' files, read as Assay's tables and written from them; one module per format.

A format module has ``read(path, kind, options) -> Raw`` if :data:`FORMATS` says it reads, and
``write(frame, path, kind, options) -> list[Path]`` if it writes. ``read`` turns the file into
the raw columns of one kind of table; the checks are those of every table. A file that is not
what was said is refused with the line, what was expected and what was found.

Span offsets inside Assay are half-open code points; each module converts at the edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

import polars as pl

from assay.errors import OptionError
from assay.tables.check import did_you_mean
from assay.tables.formats.mqm import GOOGLE_WEIGHTS, Weights, make_weights
from assay.tables.raw import Raw

__all__ = [
    "FORMATS",
    "GOOGLE_WEIGHTS",
    "Format",
    "Options",
    "find_format",
    "load_format",
    "make_weights",
    "refuse_unused",
    "save_format",
]


@dataclass(frozen=True, slots=True)
class Format:
    """What one format is called, what it can be read as and written from."""

    name: str
    about: str
    module: str
    reads: tuple[str, ...] = ()
    """Kinds of table it can be read as, the usual one first."""
    writes: tuple[str, ...] = ()
    """Kinds of table it can be written from."""
    options: tuple[str, ...] = ()
    """The fields of :class:`Options` that its reader or writer uses."""
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Those of them that only some uses need: ``read``, ``write``, ``read ratings``."""

    def reading(self, kind: str) -> Format:
        """The format with the options left that reading this kind of table uses."""
        return self._used(("read", f"read {kind}"))

    def writing(self, kind: str) -> Format:
        """The format with the options left that writing this kind of table uses."""
        return self._used(("write", f"write {kind}"))

    def _used(self, ways: tuple[str, str]) -> Format:
        kept = [o for o in self.options if o not in self.only or set(ways) & set(self.only[o])]
        return replace(self, options=tuple(kept))


@dataclass(frozen=True, slots=True)
class Options:
    """What some formats leave open; each uses what it needs.

    ``lp``: the language pair, where a file has several or must name one. ``human``: which human
    scores of a folder with several (``mqm``). ``system``, ``editor``: who, where an XLIFF file
    does not say. ``weights``: how marked errors become a score. ``blanks``: whether outputs left
    unranked are dropped or, as the WMT12 tables did, count as ranked best.
    """

    lp: str | None = None
    human: str | None = None
    system: str | None = None
    editor: str | None = None
    weights: Weights = field(default=GOOGLE_WEIGHTS)
    blanks: Literal["drop", "best"] = "drop"


_ALL = (
    Format("mt-metrics-eval", "folder of the WMT metrics task: texts, documents and scores",
           "mt_metrics_eval", ("scores", "ratings", "errors"), ("scores", "ratings"),
           ("lp", "human"), {"human": ("read ratings", "read errors", "write ratings")}),
    Format("wmt-seg-scores", "WMT metrics task seg.score file, a line per score",
           "wmt_seg_scores", ("scores",), (), ("lp",)),
    Format("google-mqm", "MQM annotations as published by Google, a line per error",
           "google_mqm", ("errors", "ratings", "scores"), ("errors",),
           ("lp", "weights"), {"lp": ("read",), "weights": ("read ratings",)}),
    Format("avg-seg-scores", "average MQM scores per segment as published by Google",
           "avg_seg_scores", ("ratings",), (), ("lp",)),
    Format("wmt-rnk", "WMT ranking task CSV up to 2014, five systems a line",
           "wmt_rnk", ("judgments",), ("judgments",), ("lp", "blanks"), {"blanks": ("read",)}),
    Format("wmt15-rnk", "WMT ranking task CSV of 2015 and 2016, a pair a line",
           "wmt15_rnk", ("judgments",), (), ("lp", "blanks")),
    Format("evalica", "evalica CSV of comparisons", "evalica", ("judgments",), ("judgments",),
           ("lp",), {"lp": ("read",)}),
    Format("pearmut", "pearmut annotations, JSON lines", "pearmut", ("ratings", "errors")),
    Format("pearmut-campaign", "pearmut campaign JSON", "pearmut_campaign", (), ("scores",),
           ("lp",)),
    Format("appraise", "Appraise result CSV", "appraise", ("ratings", "errors"), (), ("lp",)),
    Format("appraise-batches", "Appraise batches JSON", "appraise_batches", (), ("scores",),
           ("lp",)),
    Format("label-studio", "Label Studio JSON export or import", "label_studio",
           ("ratings", "errors", "judgments"), ("scores", "ratings", "errors", "judgments")),
    Format("xliff", "XLIFF 1.2, with MT in alt-trans", "xliff", ("edits",), ("edits",),
           ("lp", "system", "editor"),
           {"lp": ("write",), "system": ("read",), "editor": ("read",)}),
    Format("mxliff", "Phrase (Memsource) MXLIFF with editing times", "mxliff", ("edits",), (),
           ("system", "editor")),
    Format("sdlxliff", "Trados SDLXLIFF", "sdlxliff", ("edits",), (), ("system", "editor")),
    Format("xliff2", "XLIFF 2.0", "xliff2", ("edits",), (), ("system", "editor")),
)  # fmt: skip

FORMATS: Mapping[str, Format] = {item.name: item for item in _ALL}


def find_format(name: str) -> Format:
    """The format of this name, or an error with the nearest one."""
    if name not in FORMATS:
        raise OptionError(
            "format",
            name,
            f"is not known{did_you_mean(name, list(FORMATS))}",
            f"choose from {', '.join(FORMATS)}",
        )
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


def _useless(found: Format, option: str) -> str:
    """The format's name, and where an option would be of use to it."""
    where = found.only.get(option)
    return f"{found.name} here (only to {' or '.join(where)})" if where else found.name


def load_format(
    path: Path,
    name: str,
    kind: str | None = None,
    options: Options | None = None,
    *,
    checked: bool = False,
) -> Raw:
    """Read another tool's file as one kind of table, the format's usual one by default.

    An option that is of no use for this is refused, unless all options are ``checked`` already.
    """
    found = find_format(name)
    kind = kind or (found.reads[0] if found.reads else "any")
    if kind not in found.reads:
        can = ", ".join(found.reads) or "nothing: it is only written"
        raise OptionError("kind", kind, f"cannot be read from {name}", f"it holds {can}")
    options = options or Options()
    if not checked:
        refuse_unused(options, found.reading(kind))
    raw: Raw = _module(found).read(Path(path), kind, options)
    return raw


def save_format(
    frame: pl.DataFrame,
    path: Path,
    name: str,
    kind: str,
    options: Options | None = None,
    *,
    checked: bool = False,
) -> list[Path]:
    """Write a table as another tool's file; returns what was written.

    An option that is of no use for this is refused, unless all options are ``checked`` already.
    """
    found = find_format(name)
    if kind not in found.writes:
        can = ", ".join(found.writes) or "nothing: it is only read"
        raise OptionError("kind", kind, f"cannot be written as {name}", f"it takes {can}")
    options = options or Options()
    if not checked:
        refuse_unused(options, found.writing(kind))
    written: list[Path] = _module(found).write(frame, Path(path), kind, options)
    return written


def _module(found: Format) -> ModuleType:
    return import_module(f"assay.tables.formats.{found.module}")
