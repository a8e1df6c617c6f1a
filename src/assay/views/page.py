"""Reports from saved results: a page, Markdown or LaTeX, and every table and figure as a file."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from assay._version import __version__
from assay.errors import AssayError, InputError, OptionError
from assay.results import KINDS, Result, plural, signature
from assay.tables.load import read_bytes, write_bytes
from assay.views.figures import draw_bars, save_figure
from assay.views.html import html
from assay.views.markup import csv_table, latex, latex_table, markdown, markdown_table
from assay.views.report import STAGES, Report, file_stem
from assay.views.section import (
    APART,
    Figure,
    Section,
    Table,
    Verdicts,
    section_of,
)

WRITERS = {".html": html, ".md": markdown, ".tex": latex}
TABLES = {".csv": csv_table, ".md": markdown_table, ".tex": latex_table}


Shown = Result | Section | Mapping[str, Any]
Results = Report | Shown | Sequence[Shown]
ROOMS = (
    "formats", "planning", "sampling", "kits", "collecting", "estimation", "ranking", "effort",
    "audit", "papers", *APART.values(),
)  # fmt: skip
"""The views, which know the kinds of results that can be shown."""
FIRST_VERDICT = {"ratings": ("estimates", "audit", "ranking"), "judgments": ("ranking", "audit")}
"""Whose verdict a page has, by what it comes from: the first of these that there is."""


@dataclass(frozen=True, slots=True)
class WrittenReport(Result, kind="report"):
    """The files of a report: the page first, then tables and figures."""

    written: tuple[str, ...]
    results: int

    @property
    def signature(self) -> str:
        """How many results were reported."""
        return signature("report", results=self.results)


def read_result(path: str | os.PathLike[str]) -> Result:
    """A result that a command saved, as the object it was.

    >>> import assay, json, pathlib, tempfile
    >>> world = assay.simulate(documents=20, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "estimates.json"
    >>> _ = target.write_text(json.dumps(result.to_dict()))
    >>> assay.read_result(target) == result
    True
    """
    source = Path(path)
    if source.suffix.lower() not in (".json", ""):
        raise InputError(
            f"{source}: is not a saved result, which ends in .json; save one first, as `assay"
            " estimate ratings.xlsx -o estimates.json` does"
        )
    data = read_bytes(source)
    try:
        saved = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise InputError(
            f"{source}: is not a saved result, or only a part of one; save it again"
        ) from None
    if not isinstance(saved, dict) or "kind" not in saved:
        raise InputError(f"{source}: is JSON but not a saved result")
    try:
        return as_result(saved)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def as_result(saved: Mapping[str, Any]) -> Result:
    """The JSON object of a result as the object it was."""
    kind = saved.get("kind")
    if not isinstance(kind, str):
        raise InputError(f"the saved result: kind is {str(kind)[:40]}, not a text; save it again")
    for room in ROOMS:
        if kind not in KINDS:
            import_module(f"assay.views.{room}")
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise InputError(f"a result of kind '{kind[:40]}' is not known; known kinds are {known}")
    return KINDS[kind].from_dict(saved)


def write_report(
    results: Results,
    path: str | os.PathLike[str],
    *,
    title: str = "Evaluation report",
) -> Path:
    """Write one result or several, or the JSON objects saved of them, as a report.

    The ending of the path says what it becomes: ``.html`` one self-contained page, ``.md``
    Markdown, ``.tex`` LaTeX. Sections stand in the order of the pipeline.

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
        raise OptionError(
            "path", target.name, "is not a kind of report", f"end its name in {known}"
        )
    with _consistent():
        text = WRITERS[ending](make_report(results, title))
    return write_bytes(target, text.encode())


@contextmanager
def _consistent() -> Iterator[None]:
    """A clear error where results contradict themselves, as a file that was edited may."""
    try:
        yield
    except AssayError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(
            f"the saved results contradict themselves ({reason}); save them again"
        ) from error


def write_parts(results: Results, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write every table as CSV, Markdown and LaTeX and every figure as SVG and PDF.

    >>> import assay, tempfile
    >>> world = assay.simulate(documents=20, systems=2, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> written = write_parts(result, tempfile.mkdtemp())
    >>> sorted({path.name for path in written})[:3]
    ['estimates-differences.csv', 'estimates-differences.md', 'estimates-differences.tex']
    """
    from assay.tables.typed_files import aside

    report = make_report(results, "")
    place = Path(folder)
    taken: set[str] = set()
    blocks = [
        (_free(part.name, block, taken), block)
        for part in report.sections
        for block in part.shown_in("page")
        if isinstance(block, Table | Figure)
    ]
    with _consistent(), aside(place) as part:
        written = [path for name, block in blocks for path in _write_block(block, part / name)]
    return tuple(place / path.name for path in written)


def _free(section: str, block: Table | Figure, taken: set[str]) -> str:
    """A unique file name for a block, even if two results are of one kind."""
    kind = "table" if isinstance(block, Table) else "figure"
    stem = re.sub(r"[^\w.-]+", "-", file_stem(section, block.name)).strip(
        ".-"
    )  # a group's name may hold any sign
    name, number = stem, 1
    while f"{kind}:{name}" in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(f"{kind}:{name}")
    return name


def _write_block(block: Table | Figure, stem: Path) -> list[Path]:
    written = []
    if isinstance(block, Table):
        written = [
            write_bytes(
                stem.with_name(stem.name + ending), (text(block).rstrip("\n") + "\n").encode()
            )
            for ending, text in TABLES.items()
        ]
        if not block.bars:
            return written
    drawing = block.draw() if isinstance(block, Figure) else draw_bars(block)
    return written + [
        save_figure(drawing, stem.with_name(stem.name + ending)) for ending in (".svg", ".pdf")
    ]


def make_report(
    results: Results, title: str, *, names: Sequence[str] = (), facts: Sequence[str] = ()
) -> Report:
    """The sections of all results in the order of the pipeline, each once.

    ``names`` are those of the results, which tell several of a kind apart.
    """
    if isinstance(results, Report):
        return results
    listed = [results] if isinstance(results, Mapping | Result | Section) else list(results)
    if not listed:
        raise InputError("there is nothing to report; give at least one saved result")
    with _consistent():
        called = [*names, *([""] * (len(listed) - len(names)))]
        found = [replace(part, label=name) for item, name in zip(listed, called, strict=True)
                 for part in _section(item).all]  # fmt: skip
    # The same estimation by itself and by groups is shown once.
    found = [part for k, part in enumerate(found) if not _repeats(part, found[:k])]
    kinds = Counter(part.name for part in found)
    found = [part if kinds[part.name] > 1 else replace(part, label="") for part in found]
    found = _one_verdict(found)
    # A stable sort: results of one stage stay in the order they were given.
    found.sort(key=lambda part: STAGES.index(part.stage))
    return Report(title, tuple(found), __version__, tuple(facts))


def _one_verdict(found: list[Section]) -> list[Section]:
    """The sections with one verdict for a pair: who says otherwise by another rule is folded."""
    for source, order in FIRST_VERDICT.items():
        own = [part for part in found if part.verdicts and part.verdicts.source == source]
        kind = next((name for name in order if any(part.name == name for part in own)), None)
        first = [part.verdicts for part in own if part.name == kind]
        if len(first) != 1 or first[0] is None:
            continue  # nothing to say, or results of several test sets
        others = {id(part): _folded(part, first[0]) for part in own if part.name != kind}
        found = [others.get(id(part), part) for part in found]
    return found


def _folded(part: Section, first: Verdicts) -> Section:
    """The section; where it says otherwise, with the reason in front."""
    own = part.verdicts
    if own is None or not first.differ(own):
        return part
    ours, theirs = (len(set(item.clusters.values())) for item in (own, first))
    line = (
        f"This is not the page's verdict, which follows {first.rule}. By {own.rule}, there"
        f" {'is' if ours == 1 else 'are'} {plural(ours, 'cluster')} instead of {theirs}: {own.why}."
    )
    return replace(part, lead=f"{line} {part.lead}", folded=True)


def _repeats(part: Section, before: Sequence[Section]) -> bool:
    return any(
        (part.name, part.signature, part.said) == (other.name, other.signature, other.said)
        for other in before
    )


def _section(item: Shown) -> Section:
    if isinstance(item, Section):
        return item
    return section_of(item if isinstance(item, Result) else as_result(item))
