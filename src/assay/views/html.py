"""A report as one self-contained HTML page, and a result as a notebook shows it."""

from __future__ import annotations

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from assay.results import Result, visible
from assay.views.figures import draw_bars, finite, page_svg, svg_text
from assay.views.markup import csv_table, latex_table
from assay.views.report import Report, file_stem
from assay.views.section import (
    Column,
    Figure,
    Section,
    Table,
    cut_words,
    section_of,
    sentence,
    shown,
)
from assay.views.terms import explained

MAX_SHORT, MAX_NAME = 24, 48
"""Signs of a cell that stay on one line, and of the name of a row that is drawn; half a short
name leaves room for the numbers beside it on a phone."""
MAX_SPACED_ROWS = 14
"""Rows of a table with bars that stand apart; more of them stand close, to fit a screen."""
SCALE_TICKS = 4
"""Marks on the scale of the bars, about."""
MOST_OPEN = 36
"""Rows of all answers together that stand open; where there are more, the first answer's do."""


def html(report: Report) -> str:
    """The page."""
    seen: Counter[str] = Counter()
    parts = {}
    for part in report.sections:
        seen[part.name] += 1
        number = "" if seen[part.name] == 1 else f"-{seen[part.name]}"
        parts[id(part)] = _section(part, f"{part.name}{number}")
    answers = report.answers
    rows = sum(len(block.rows) for part in answers for block in part.blocks[:1]
               if isinstance(block, Table))  # fmt: skip
    content = {
        "title": report.title, "version": report.version, "facts": report.about,
        "answers": [parts[id(part)] for part in answers],
        "others": [parts[id(part)] for part in report.others],
        "all_open": len(answers) == 1 or rows <= MOST_OPEN,
        "next": report.next, "methods": report.methods,
        "references": report.references,
        "files": [_files(part) for part in report.sections],
    }  # fmt: skip
    script = _text("page.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return str(_template("page.html").render(
        report=content, style=_text("style.css"), script=script, digest=digest
    ))  # fmt: skip


def fragment(result: Result) -> str:
    """One result for a notebook: the same view, with a style that stays inside it."""
    parts = [_section(part, part.name) for part in section_of(result).all]
    return str(_template("fragment.html").render(parts=parts, style=_text("style.css")))


def _section(part: Section, anchor: str) -> dict[str, Any]:
    blocks = [
        _block(block, f"{anchor}-{number}")
        for number, block in enumerate(part.shown_in("page"))
    ]  # fmt: skip
    drawn = bool(blocks) and blocks[0]["kind"] != "text"
    return {
        "title": part.title, "headline": part.headline, "lead": part.lead, "anchor": anchor,
        "label": part.label, "facts": part.facts, "unknown": part.unknown, "notes": part.notes,
        "gist": part.headline or part.lead.split(". ")[0].rstrip(".") + ".",
        "next": part.next, "question": part.question, "details": part.details,
        "signature": part.signature,
        "folded": part.folded, "first": blocks[:1] if drawn else [],
        "rest": blocks[1:] if drawn else blocks,
    }  # fmt: skip


def _block(block: Table | Figure | str, name: str) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Figure):
        return {"kind": "figure", "svg": page_svg(block.draw(), name), "caption": block.caption}
    if block.bars:
        return {"kind": "bars", "caption": block.caption, **_bars(block)}
    rows = block.rows[: block.page]
    return {
        "kind": "table", "caption": block.caption, "columns": block.columns, "lines": block.lines,
        "fold": block.fold, "left_out": len(block.rows) - len(rows),
        "rows": _cells(block.columns, rows),
    }  # fmt: skip


def _cells(
    columns: Sequence[Column], rows: Iterable[Sequence[object]], *, named: int | None = None
) -> list[Any]:
    return [
        [_cell(value, column, named=k == named) for k, (value, column) in enumerate(pairs)]
        for pairs in (zip(row, columns, strict=True) for row in rows)
    ]


def _cell(value: object, column: Column, *, named: bool = False) -> dict[str, Any]:
    words = ["text"] if column.show == "text" else []
    # What is not decided steps back, so that the eye finds what is.
    words += ["no"] if value is False else []
    text = shown(value, column.show)
    # A short name is not broken at its hyphen.
    words += ["whole"] if len(text) <= (MAX_NAME if named else MAX_SHORT) else []
    words += ["short"] if named and len(text) <= MAX_SHORT // 2 else []
    words += [column.show] if column.show == "ranks" else []
    words += [column.seen] if column.seen != "always" else []
    first = value[0] if isinstance(value, tuple) and value else value
    number = isinstance(first, int | float) and math.isfinite(first)
    # What a table is sorted by: what is shown may be rounded, or "< 0.001".
    return {"text": text, "class": " ".join(words), "value": f"{first:.6g}" if number else ""}


def _bars(table: Table) -> dict[str, Any]:
    """The rows with their bars, and marks of the scale, in percent of the width."""
    ends = [end for bar in table.bars
            for end in (finite(bar.low, bar.at), bar.at, finite(bar.high, bar.at), bar.truth)
            if end is not None and math.isfinite(end)] or [0.0]  # fmt: skip
    low, high = min(ends), max(ends)
    whole = all(float(bar.at).is_integer() for bar in table.bars)
    edge = 0.5 if whole else 0.03 * (high - low) or 0.5
    low, high = low - edge, high + edge

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (value - low) / (high - low), 2)

    bars = [
        {"left": place(start := finite(bar.low, bar.at)), "at": place(bar.at),
         "width": round(100 * (finite(bar.high, bar.at) - start) / (high - low), 2),
         "truth": place(bar.truth), "said": bar.said}
        for bar in table.bars
    ]  # fmt: skip
    kept = [k for k, column in enumerate(table.columns) if column.seen != "files"]
    return {
        "bars": bars, "columns": [table.columns[k] for k in kept], "lines": table.lines,
        "rows": [[row[k] for k in kept]
                 for row in _cells(table.columns, table.rows, named=table.named)],
        "named": kept.index(table.named), "axis": table.axis, "dense": len(bars) > MAX_SPACED_ROWS,
        "ticks": [{"at": place(value), "text": f"{value:g}"}
                  for value in ticks(low, high, least=1.0 if whole else 0.0)],
    }  # fmt: skip


def ticks(low: float, high: float, *, least: float = 0.0) -> list[float]:
    """Round numbers inside a scale.

    >>> ticks(1.63, 3.4), ticks(0.9, 3.1, least=1.0)
    ([2.0, 2.5, 3.0], [1.0, 2.0, 3.0])
    """
    rough = max(least, (high - low) / SCALE_TICKS)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((size * power for size in (1, 2, 5, 10)), key=lambda x: abs(math.log(x / rough)))
    first = math.ceil(low / step)
    return [round(float(k * step), 10) for k in np.arange(first, math.floor(high / step) + 1)]


def _files(part: Section) -> dict[str, Any]:
    """Everything that a section shows as files that the page itself holds."""
    title = f"{part.label}: {part.title}" if part.label else part.title
    blocks = [block for block in part.shown_in("page") if not isinstance(block, str)]
    files: dict[str, list[dict[str, str]]] = {}
    for block in blocks:
        files.setdefault(block.name, []).extend(_links(block, file_stem(part.name, block.name)))
    return {"title": title, "files": files}


def _links(block: Table | Figure, stem: str) -> list[dict[str, str]]:
    texts = {}
    if isinstance(block, Table):
        texts = {"CSV": (".csv", "text/csv", csv_table(block)),
                 "LaTeX": (".tex", "text/plain", latex_table(block))}  # fmt: skip
    if isinstance(block, Figure) or block.bars:
        drawing = block.draw() if isinstance(block, Figure) else draw_bars(block)
        texts["SVG"] = (".svg", "image/svg+xml", svg_text(drawing))
    return [
        {"kind": kind, "file": stem + ending,
         "data": f"data:{form};base64,{b64encode(text.encode()).decode()}"}
        for kind, (ending, form, text) in texts.items()
    ]  # fmt: skip


def _tame(value: Any) -> Any:
    """Text of a page: control characters shown, very long words cut; a drawing is what it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(cut_words(value))


def _explained(text: str, whole: bool = False) -> Any:
    return explained(_tame(text), whole=whole)


@cache
def _text(name: str) -> str:
    return files("assay.views").joinpath("templates", name).read_text("utf-8")


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.views"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_tame,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"explained": _explained, "sentence": sentence}
    return environment.get_template(name)
