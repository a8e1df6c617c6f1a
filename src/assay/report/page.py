"""Reports from saved results: a page, Markdown or LaTeX, and every table and figure as a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from assay._version import __version__
from assay.errors import InputError, OptionError
from assay.report.document import Figure, Report, Table
from assay.report.figures import save_figure
from assay.report.html import html
from assay.report.markup import csv_table, latex, latex_table, markdown, markdown_table
from assay.report.sections import SECTIONS, make_section
from assay.tables.raw import read_bytes, write_bytes

__all__ = ["read_result", "write_parts", "write_report"]

WRITERS = {".html": html, ".md": markdown, ".tex": latex}
TABLES = {".csv": csv_table, ".md": markdown_table, ".tex": latex_table}


class Result(Protocol):
    """Anything that can say what it found, such as :class:`assay.Estimates`."""

    def to_dict(self) -> dict[str, object]:
        """The JSON object of the result."""
        ...


Results = Result | Mapping[str, Any] | Sequence[Result | Mapping[str, Any]]


def write_report(
    results: Results,
    path: str | os.PathLike[str],
    *,
    title: str = "Evaluation report",
    truth: Mapping[str, float] | None = None,
) -> Path:
    """Write one result or several, or what ``--json`` saved of them, as a report.

    The ending of the path says what it becomes: ``.html`` one self-contained page, ``.md``
    Markdown, ``.tex`` LaTeX. Sections stand in the order of the pipeline. ``truth`` adds the true
    scores where they are known, as in a simulated campaign.

    >>> import assay, tempfile, pathlib
    >>> world = assay.simulate(documents=20, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(result, target).name
    'report.html'
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in WRITERS:
        known = ", ".join(WRITERS)
        raise OptionError("path", target.name, "is no kind of report", f"let it end in {known}")
    report = _report(results, title, truth)
    try:
        text = WRITERS[ending](report)
    except (KeyError, TypeError, ValueError) as error:
        # A drawing is made late, and a file that was edited may contradict itself.
        raise InputError(
            f"the saved results contradict themselves ({type(error).__name__}: {error}); write them"
            " again with --json"
        ) from None
    return write_bytes(target, text.encode())


def write_parts(
    results: Results,
    folder: str | os.PathLike[str],
    *,
    truth: Mapping[str, float] | None = None,
) -> tuple[Path, ...]:
    """Write every table as CSV, Markdown and LaTeX and every figure as SVG and PDF.

    >>> import assay, tempfile
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> written = write_parts(result, tempfile.mkdtemp())
    >>> sorted({path.name for path in written})[:3]
    ['estimates-differences.csv', 'estimates-differences.md', 'estimates-differences.tex']
    """
    report = _report(results, "", truth)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: no folder can be made there ({error.strerror})") from None
    written: list[Path] = []
    taken: set[str] = set()
    for part in report.sections:
        for block in part.blocks:
            if isinstance(block, Table | Figure):
                written += _write_block(block, place / _free(part.name, block, taken))
    return tuple(written)


def _free(section: str, block: Table | Figure, taken: set[str]) -> str:
    """A file name of its own for every block, also where two results are of one kind."""
    kind = "table" if isinstance(block, Table) else "figure"
    stem = section if block.name == section else f"{section}-{block.name}"
    stem = re.sub(r"[^\w.-]+", "-", stem).strip(".-")  # a group's name may hold any sign
    name, number = stem, 1
    while f"{kind}:{name}" in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(f"{kind}:{name}")
    return name


def _write_block(block: Table | Figure, stem: Path) -> list[Path]:
    if isinstance(block, Figure):
        drawing = block.draw()
        return [save_figure(drawing, stem.with_name(stem.name + end)) for end in (".svg", ".pdf")]
    return [
        write_bytes(stem.with_name(stem.name + ending), (text(block).rstrip("\n") + "\n").encode())
        for ending, text in TABLES.items()
    ]


def read_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A result that a command saved with ``-o`` or ``--json``."""
    source = Path(path)
    data = read_bytes(source)
    try:
        result = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is no saved result ({error}); save one with --json") from None
    if not isinstance(result, dict) or "kind" not in result:
        raise InputError(f"{source}: is JSON but no saved result; save one with --json")
    return result


def _repeats(item: Mapping[str, Any], before: list[Any]) -> bool:
    """Whether the same estimation came before: by groups and by itself, it is shown once."""
    same = [other for other in before if other.get("systems") == item.get("systems")]
    return (
        item.get("kind") == "estimates"
        and "breakdown" not in item
        and any(other.get("signature") == item.get("signature") for other in same)
    )


def _report(results: Results, title: str, truth: Mapping[str, float] | None) -> Report:
    single = isinstance(results, Mapping) or hasattr(results, "to_dict")
    listed: Sequence[Any] = [results] if single else list(results)  # type: ignore[arg-type]
    if not listed:
        raise InputError("there is nothing to report; give at least one saved result")
    plain = [item if isinstance(item, Mapping) else item.to_dict() for item in listed]
    plain = [item for k, item in enumerate(plain) if not _repeats(item, plain[:k])]
    # An estimation by groups holds its groups inside.
    plain += [item["breakdown"] for item in plain if isinstance(item.get("breakdown"), Mapping)]
    order = list(SECTIONS)
    # A stable sort: results of one kind stay in the order they were given.
    plain.sort(key=lambda item: order.index(item["kind"]) if item.get("kind") in order else -1)
    sections = [make_section({**item, "truth": truth} if truth else item) for item in plain]
    return Report(title, tuple(sections), __version__)
