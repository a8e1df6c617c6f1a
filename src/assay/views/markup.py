"""A report as Markdown or LaTeX, and single tables as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable

from assay.results import plain, visible
from assay.tables.irregular_text import defused_words
from assay.views.report import Report
from assay.views.section import Table, cut_words, sentence, shown

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"$<$", ">": r"$>$", "±": r"$\pm$", "−": r"$-$", "–": "--",
}  # fmt: skip


MAX_ROWS_ON_A_PAGE = 40
"""Rows beyond which a LaTeX table runs over pages."""


def markdown(report: Report) -> str:
    """The report without its figures, as Markdown: the answer first."""
    lines = [f"# {_md(report.title)}", ""]
    lines += [_md(" · ".join(report.about)), ""] if report.about else []
    lines += _parts(report, _md, markdown_table, "## {}", "- {}", "Signature: {}", _code)
    lines += ["## Methods, for a paper", "", _md(report.methods), ""]
    lines += [f"- {_md(reference)}" for reference in report.references]
    return "\n".join(lines).rstrip() + "\n"


def latex(report: Report) -> str:
    """The report without its figures, as sections to be included in a paper (needs booktabs)."""
    lines = [
        f"% {_flat(report.title)}: needs \\usepackage{{booktabs,longtable}}; names in other scripts"
        " need XeLaTeX"
    ]
    signature = r"\noindent\texttt{{{}}}"
    lines += _parts(report, _tex, latex_table, r"\section{{{}}}", "{}\n", signature, _tex)
    lines += [r"\section{Methods}", _tex(report.methods), ""]
    if report.references:
        lines += [r"\begin{itemize}"]
        lines += [rf"  \item {_tex(reference)}" for reference in report.references]
        lines += [r"\end{itemize}"]
    return "\n".join(lines).rstrip() + "\n"


def _parts(
    report: Report,
    escape: Callable[[str], str],
    render: Callable[[Table], str],
    heading: str,
    item: str,
    signature: str,
    code: Callable[[str], str],
) -> list[str]:
    """The answers, what to do next, then the rest, each with its tables."""
    lines = []
    for part in (*report.answers, *report.others):
        title = f"{part.label}: {part.title}" if part.label else part.title
        lines += [heading.format(escape(title)), ""]
        lines += [escape(text) + "\n" for text in (part.headline, part.lead) if text]
        blocks = part.shown_in("page")
        lines += _blocks(blocks[:1], escape, render)
        for line in (*part.unknown, *part.next):
            lines.append(item.format(escape(sentence(line))))
        lines += ["", *_blocks(blocks[1:], escape, render)]
        lines += [item.format(escape(sentence(line))) for line in part.notes]
        lines += ["", signature.format(code(part.signature)), ""]
    return lines


def _blocks(
    blocks: Iterable[object], escape: Callable[[str], str], render: Callable[[Table], str]
) -> list[str]:
    lines = []
    for block in blocks:
        if isinstance(block, Table):
            lines += [render(block), ""]
        elif isinstance(block, str):
            lines += [escape(block), ""]
    return lines


def markdown_table(table: Table) -> str:
    r"""The whole table, captioned.

    >>> from assay.views.section import Column
    >>> print(markdown_table(Table("t", "Two.", (Column("A|B", "text"),), (("x",), ("y",)))))
    Two.
    <BLANKLINE>
    | A\|B |
    |---|
    | x |
    | y |
    """
    head = [_md(column.name) for column in table.columns]
    rule = ["---" if column.show == "text" else "---:" for column in table.columns]
    rows = [[_md(cell) for cell in row] for row in _cells(table)]
    lines = [f"| {' | '.join(row)} |" for row in [head, *rows]]
    lines.insert(1, f"|{'|'.join(rule)}|")
    return "\n".join([_md(table.caption), "", *lines])


def latex_table(table: Table) -> str:
    """The whole table with booktabs rules; a line closes a cluster."""
    kinds = "".join("l" if column.show == "text" else "r" for column in table.columns)
    body = []
    for number, row in enumerate(_cells(table)):
        text = " & ".join(_tex(cell) for cell in row)
        # What begins with one of these would be taken for an option of the line before.
        body.append(("{}" if text[:1] in ("[", "*") else "") + text + r" \\")
        if number in table.lines:
            body.append(r"\midrule")
    head = " & ".join(_tex(column.name) for column in table.columns) + r" \\"
    caption = rf"\caption{{{_tex(table.caption)}}}"
    if len(body) > MAX_ROWS_ON_A_PAGE:
        inner = [rf"\begin{{longtable}}{{{kinds}}}", caption + r" \\", r"\toprule", head]
        return "\n".join([*inner, r"\midrule", *body, r"\bottomrule", r"\end{longtable}"])
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", head,
        r"\midrule", *body, r"\bottomrule", r"\end{tabular}", caption, r"\end{table}",
    ])  # fmt: skip


def csv_table(table: Table) -> str:
    """The values as they are, not rounded; empty where nothing is known; formulas defused."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    head: list[object] = [name for col in table.columns for name in col.parts or (col.name,)]
    rows = [
        [plain(part) for value in row for part in (value if isinstance(value, tuple) else (value,))]
        for row in table.rows
    ]
    for line in (head, *rows):
        texts = iter(defused_words([cell for cell in line if isinstance(cell, str)]))
        writer.writerow([next(texts) if isinstance(cell, str) else cell for cell in line])
    return target.getvalue()


def _cells(table: Table) -> list[list[str]]:
    shows = [column.show for column in table.columns]
    return [
        [shown(value, show) for value, show in zip(row, shows, strict=True)] for row in table.rows
    ]


def _flat(text: str) -> str:
    """One line: no break of lines ends a comment, a cell or a heading; long words are cut."""
    return visible(cut_words(" ".join(text.split())))


def _md(text: str) -> str:
    """Names stand as they are: no emphasis, no HTML, no new column, no new line."""
    return re.sub(r"([\\`*_\[\]<>|#~$&])", r"\\\1", _flat(text))


def _code(text: str) -> str:
    """A span of code that no backtick in it can end."""
    flat = _flat(text)
    longest = max(map(len, re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest else f"{fence}{flat}{fence}"


def _tex(text: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in _flat(text))
