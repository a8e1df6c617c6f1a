"""A report as one self-contained HTML page: no script, no external request."""

from __future__ import annotations

from collections import Counter
from typing import Any

from assay.results import Result, visible
from assay.views.figures import svg_text
from assay.views.references import REFERENCES
from assay.views.section import Column, Figure, Report, Section, Table, cut_words, shown

SHORT = 24
"""Signs of a cell that stay on one line."""


def html(report: Report) -> str:
    """The page."""
    seen: Counter[str] = Counter()
    sections = []
    for part in report.sections:
        seen[part.name] += 1
        number = "" if seen[part.name] == 1 else f"-{seen[part.name]}"
        sections.append(_section(part, f"{part.name}{number}"))
    content = {
        "title": report.title, "version": report.version, "sections": sections,
        "answers": [part for part, own in zip(sections, report.sections, strict=True)
                    if own in report.answers],
        "next": report.next, "methods": report.methods,
        "references": [REFERENCES[key] for key in report.sources],
    }  # fmt: skip
    return str(_template().render(report=content))


def _section(part: Section, anchor: str) -> dict[str, Any]:
    return {
        "title": part.title, "lead": part.lead, "anchor": anchor, "notes": part.notes,
        "question": part.question, "folded": part.folded,
        "signature": part.signature, "blocks": [_block(block) for block in part.shown_in("page")],
    }  # fmt: skip


def _block(block: Table | Figure | str) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Figure):
        return {"kind": "figure", "svg": svg_text(block.draw()), "caption": block.caption}
    rows = block.rows[: block.page]
    return {
        "kind": "table", "caption": block.caption, "columns": block.columns, "lines": block.lines,
        "left_out": len(block.rows) - len(rows), "fold": block.fold,
        "rows": [[_cell(value, column) for value, column in zip(row, block.columns, strict=True)]
                 for row in rows],
    }  # fmt: skip


def _cell(value: object, column: Column) -> dict[str, str]:
    words = ["text"] if column.show == "text" else []
    # What is not decided steps back, so that the eye finds what is.
    words += ["no"] if value is False else []
    text = shown(value, column.show)
    # A short name is not broken at its hyphen.
    words += ["whole"] if len(text) <= SHORT else []
    return {"text": text, "class": " ".join(words)}


def fragment(result: Result) -> str:
    """One result for a notebook: its words and tables, without a page around them."""
    from assay.views.page import with_more
    from assay.views.section import section_of

    sections = with_more(section_of(result))
    parts = [_section(part, part.name) for part in sections]
    return str(_template("fragment.html").render(parts=parts))


def _tame(value: Any) -> Any:
    """Text of a page: control characters shown, very long words cut; a drawing is what it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(cut_words(value))


def _template(name: str = "page.html") -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.views"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_tame,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
