"""Blind sheets for raters, shuffled and with context, task lists for tools, and the key to them.

A sheet has a row for each output: an opaque ``code``, the ``source``, the ``output``, an empty
``score`` and a ``comment``; ``part`` is the number of the rater's task. Grey rows with the code
(context) show the sources before and after a task and are not rated. The key holds the system of
every output, and the texts as shown.

Task lists for annotation tools are as blind, with the same key. An output is identified by the code
of its segment (``q1a2b3-01-0007``) and its position, which together are its code in the key: in
pearmut ``item_id`` and ``out-2``, in Label Studio ``seg`` and ``system``, in Appraise document,
item and ``out-2``.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl

from assay.collecting.assign import spoil
from assay.collecting.results import AssignedTask, Assignment, WrittenSheets
from assay.errors import InputError, OptionError, need_whole
from assay.formats.catalogue import load_format
from assay.formats.files import write_json
from assay.kits.build import check_places, file_names, write_folder
from assay.tables.tables import TestSet
from assay.tables.typed_files import MAX_TEXT, save

OUTPUT = "out-"
Rows = list[dict[str, Any]]


def write_tasks(rows: pl.DataFrame, path: Path, tool: str) -> None:
    """Write one rater's rows of the key as a tool's task list, in the order of work."""
    write_json(MAKERS[tool](rows.to_dicts(), path.stem), path)


def _segments(rows: Iterable[dict[str, Any]]) -> list[Rows]:
    """The outputs grouped by segment, in the order shown."""
    return [list(part) for _, part in groupby(rows, key=lambda row: _split(row["code"])[0])]


def _split(code: str) -> tuple[str, str]:
    """The code of the segment, and the name of the output."""
    segment, _, place = code.rpartition("-")
    return segment, OUTPUT + place


def _pearmut(rows: Rows, name: str) -> dict[str, Any]:
    """A campaign with one task; each screen has segments with equally many outputs."""
    screens = groupby(_segments(rows), key=lambda part: (part[0]["place"], len(part)))
    task = [
        [
            {
                "item_id": _split(part[0]["code"])[0], "src": part[0]["source"],
                "tgt": {_split(row["code"])[1]: row["output"] for row in part},
            }
            for part in parts
        ]
        for _, parts in screens
    ]  # fmt: skip
    campaign = f"{rows[0]['code'].partition('-')[0]}-{name}"
    info = {"assignment": "task-based", "protocol": "ESA"}
    return {"campaign_id": campaign, "info": info, "data": [task]}


def _label_studio(rows: Rows, name: str) -> list[dict[str, Any]]:
    """A task for each output."""
    return [
        {"id": number, "data": {
            "seg": _split(row["code"])[0], "system": _split(row["code"])[1],
            "part": row["place"], "source": row["source"], "target": row["output"],
        }}
        for number, row in enumerate(rows, start=1)
    ]  # fmt: skip


def _appraise(rows: Rows, name: str) -> list[dict[str, Any]]:
    """One batch; items have the numbers of their segments' codes."""
    source, _, target = (rows[0]["lp"] or "").partition("-")
    if not (source and target):
        raise InputError(
            "Appraise needs languages, but the scores have no lp column; add one with values such"
            " as eng-deu"
        )
    items = []
    for number, row in enumerate(rows):
        segment, output = _split(row["code"])
        document, _, item = segment.rpartition("-")
        items.append({
            "_block": row["place"] - 1, "_item": number, "itemID": int(item), "itemType": "TGT",
            "sourceID": row["lp"], "sourceText": row["source"], "targetID": output,
            "targetText": row["output"], "documentID": document, "isCompleteDocument": False,
        })  # fmt: skip
    plan = {"batchNo": 1, "randomSeed": 0, "requiredAnnotations": 1, "sourceLanguage": source,
            "targetLanguage": target}  # fmt: skip
    return [{"items": items, "task": plan}]


MAKERS: Mapping[str, Callable[[Rows, str], Any]] = {
    "pearmut": _pearmut, "appraise": _appraise, "label-studio": _label_studio,
}  # fmt: skip
"""The tools that tasks are written for; formats of the same name read their answers."""


def read_tasks(path: Path, tool: str) -> pl.DataFrame:
    """Read the answers of a tool: ``code``, ``score`` and, if available, ``seconds``."""
    raw = load_format(path, tool, "ratings")
    frame = raw.frame
    system, seg = frame["system"].cast(pl.String), frame["seg"].cast(pl.String)
    if tool == "appraise":
        # The tool may pad numbers or strip zeros; codes have four digits.
        seg = frame["doc"].cast(pl.String) + "-" + seg.str.zfill(4)
    code = seg + "-" + system.str.strip_prefix(OUTPUT)
    kept = [name for name in ("score", "seconds") if name in frame.columns]
    return frame.select(kept).with_columns(code.alias("code"))


SHEET_FORMATS = ("xlsx", "csv", *MAKERS)
SHEET_COLUMNS = ("part", "code", "source", "output", "score", "comment")
CONTEXT = "(context)"
"""The code of rows that are not rated."""
WIDTHS = {"part": 6, "code": 17, "source": 55, "output": 55, "score": 9, "comment": 30}

Place = tuple[str | None, str | None, str]
"""Language pair, document and segment."""


def write_sheets(
    test_set: TestSet,
    assignment: Assignment,
    folder: str | os.PathLike[str],
    *,
    format: str = "xlsx",
    key: str | os.PathLike[str] | None = None,
    range: tuple[float, float] = (0, 100),
    context: int = 2,
    instructions: str | None = None,
) -> WrittenSheets:
    """Write a blind sheet for each rater, all or none.

    ``assignment`` comes from :func:`assay.assign`. ``test_set`` has the texts: ``source`` and
    ``target``. ``folder`` must not exist yet. ``key``, which maps outputs to systems, is written
    next to it (FOLDER-key.tsv) and never overwrites another key. ``format`` is xlsx, whose cells
    accept only scores within ``range``, csv, or the task list of a tool: pearmut, appraise or
    label-studio. ``context`` is the number of sources shown before and after a task.
    ``instructions`` replaces the default text.

    >>> import assay, pathlib, tempfile
    >>> world = assay.simulate(documents=6, systems=2, texts=True, rng=1)
    >>> plan = assay.assign(world.test_set, ["Ada", "Ben"], rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_sheets(world.test_set, plan, folder + "/sheets", format="csv")
    ...     print([file.name for file in written.files], written.key.name)
    ['Ada.csv', 'Ben.csv', 'instructions.txt'] sheets-key.tsv
    """
    target = Path(folder)
    key_file = Path(key) if key is not None else target.parent / f"{target.name}-key.tsv"
    check_places(target, key_file, "sheets")
    low, high = range
    if format not in SHEET_FORMATS:
        raise OptionError(
            "format", format, "is not known", f"choose from {', '.join(SHEET_FORMATS)}"
        )
    if not low < high:
        raise OptionError("range", f"{low:g},{high:g}", "is empty", "give LOW,HIGH with LOW < HIGH")
    need_whole("context", context, 0, 1000)
    rows = _key_rows(test_set, assignment, (low, high))
    if format == "xlsx":
        _need_room(rows)
    around = _context(test_set, assignment, context)
    words = instructions if instructions is not None else instructions_for((low, high))

    def write(place: Path) -> list[str]:
        names = []
        for part in rows.partition_by("rater", maintain_order=True):
            names.append(f"{part['file'][0]}.{'json' if format in MAKERS else format}")
            if format in MAKERS:
                write_tasks(part, place / names[-1], format)
                continue
            sheet = _sheet(part, around)
            if format == "csv":
                save(sheet, place / names[-1])
            else:
                _write_workbook(sheet, place / names[-1], (low, high), words)
        (place / "instructions.txt").write_text(words, encoding="utf-8")
        return [*names, "instructions.txt"]

    names = write_folder(target, key_file, rows, write)
    loads = tuple(load for load in assignment.loads if load.tasks)
    files = tuple(target / name for name in names)
    scale = (float(low), float(high))
    return WrittenSheets(
        target, key_file, files, loads, format, scale, assignment.seed, assignment.notes
    )


def _key_rows(
    test_set: TestSet, assignment: Assignment, range: tuple[float, float]
) -> pl.DataFrame:
    """A row for each output of each rater, in the order of work."""
    texts = _texts(test_set)
    people = file_names([load.rater for load in assignment.loads if load.tasks])
    others: dict[object, list[str]] = defaultdict(list)
    if assignment.checks:
        for (_, doc, seg, _), (_, target) in texts.items():
            others[doc if test_set.has_documents else seg].append(target)
    rows, counts = [], Counter[str]()
    for item, segment, position, system, spoiled in assignment.outputs():
        place = (segment.lp, segment.doc, segment.seg, system)
        if place not in texts:
            raise InputError(
                f"there is no text of segment '{segment.seg}'"
                f"{'' if segment.doc is None else f' of {segment.doc!r}'} by '{system}'; give the"
                " test set of the assignment, with every source and target filled in"
            )
        source, output = texts[place]
        counts[item.rater] += position == 1
        code = f"{list(people).index(item.rater) + 1:02d}-{counts[item.rater]:04d}-{position}"
        if spoiled:
            rng = np.random.default_rng(crc32(f"{code}{output}".encode()))
            home = segment.doc if test_set.has_documents else segment.seg
            elsewhere = [text for doc, found in others.items() if doc != home for text in found]
            output = spoil(output, elsewhere, rng)
        rows.append(
            (item.rater, people[item.rater], code, item.task, item.place, item.reason,
             "spoiled" if spoiled else None, *place, source, output, *map(float, range))
        )  # fmt: skip
    names = ["rater", "file", "code", "task", "place", "reason", "check", "lp", "doc", "seg",
             "system", "source", "output", "low", "high"]  # fmt: skip
    kinds = dict.fromkeys(names, pl.String) | {
        "place": pl.Int64, "low": pl.Float64, "high": pl.Float64,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    # The letter keeps spreadsheets from taking a code for a date or a number.
    campaign = f"q{crc32(repr(rows).encode()) & 0xFFFFF:05x}-"
    return frame.with_columns(code=campaign + pl.col("code"))


def _texts(test_set: TestSet) -> dict[tuple[Any, ...], tuple[str, str]]:
    """Source and output by language pair, document, segment and system, where both exist."""
    frame = test_set.frame
    missing = [name for name in ("source", "target") if name not in frame.columns]
    if missing:
        raise InputError(f"the scores lack {', '.join(missing)}; add the texts for raters")
    found = {}
    for row in frame.iter_rows(named=True):
        if (row["source"] or "").strip() and (row["target"] or "").strip():
            place = (row.get("lp"), row.get("doc"), row["seg"], row["system"])
            found[place] = (row["source"], row["target"])
    return found


def _context(
    test_set: TestSet, assignment: Assignment, size: int
) -> dict[str, tuple[list[str], list[str]]]:
    """The sources before and after every task."""
    if not (size and test_set.has_documents):
        return {}
    segments = test_set.segments
    sources, document = segments["source"].fill_null("").to_list(), test_set.document
    columns = [name if name in segments.columns else None for name in ("lp", "doc", "seg")]
    values = [segments[name] if name else [None] * segments.height for name in columns]
    order: dict[Place, int] = {place: k for k, place in enumerate(zip(*values, strict=True))}
    around = {}

    def home(item: AssignedTask) -> tuple[list[str], list[str]]:
        places = [order[part.lp, part.doc, part.seg] for part in item.segments]
        first, last = min(places), max(places)
        own = np.flatnonzero(document == document[first])
        before = sources[max(own[0], first - size) : first]
        return before, sources[last + 1 : min(own[-1], last + size) + 1]

    for item in assignment.tasks:
        if item.task not in around:
            around[item.task] = home(item)
    return around


def _sheet(rows: pl.DataFrame, around: dict[str, tuple[list[str], list[str]]]) -> pl.DataFrame:
    """One rater's rows, without any trace of the systems."""
    shown: list[tuple[object, ...]] = []
    for part in rows.partition_by("place", maintain_order=True):
        place = part["place"][0]
        before, after = around.get(part["task"][0], ([], []))
        shown += [(place, CONTEXT, text, "") for text in before]
        shown += part.select("place", "code", "source", "output").rows()
        shown += [(place, CONTEXT, text, "") for text in after]
    names = dict.fromkeys(SHEET_COLUMNS[:4], pl.String) | {"part": pl.Int64}
    frame = pl.DataFrame(shown, schema=names, orient="row")
    empty = pl.lit(None, dtype=pl.String)
    return frame.with_columns(score=empty, comment=empty).select(SHEET_COLUMNS)


def _need_room(rows: pl.DataFrame) -> None:
    for name in ("source", "output"):
        if (rows[name].str.len_chars() > MAX_TEXT).any():
            raise InputError(
                f"a {name} of over {MAX_TEXT:,} characters does not fit into a cell; give csv as"
                " `format`"
            )


def _write_workbook(
    sheet: pl.DataFrame, path: Path, range: tuple[float, float], words: str
) -> None:
    """Write a sheet whose cells accept only scores, and a second one with the instructions."""
    import xlsxwriter

    low, high = range
    # In memory, as its library leaves a full disk to a traceback.
    data = BytesIO()
    options = {"strings_to_formulas": False, "in_memory": True}
    with xlsxwriter.Workbook(data, options) as workbook:
        wrapped = {"text_wrap": True, "valign": "top"}
        text = workbook.add_format(wrapped)
        grey = workbook.add_format(wrapped | {"font_color": "#767676", "bg_color": "#EEEEEE"})
        head = workbook.add_format(
            {"bold": True, "valign": "vcenter", "font_color": "#FFFFFF", "bg_color": "#33475B"}
        )
        free = workbook.add_format(wrapped | {"locked": False, "bg_color": "#FFFBE6"})
        begins = workbook.add_format({"top": 1, "top_color": "#33475B"})
        page = workbook.add_worksheet("ratings")
        page.protect("", {"format_columns": True, "format_rows": True})
        page.freeze_panes(1, 0)
        page.set_row(0, 22)
        page.set_landscape()
        page.fit_to_pages(1, 0)
        page.repeat_rows(0)
        # A line where a task begins.
        page.conditional_format(1, 0, sheet.height, len(sheet.columns) - 1, {
            "type": "formula", "criteria": "=$A2<>$A1", "format": begins,
        })  # fmt: skip
        for column, name in enumerate(sheet.columns):
            page.write_string(0, column, name, head)
            page.set_column(column, column, WIDTHS[name])
        score = SHEET_COLUMNS.index("score")
        for row, (part, *texts, _, _) in enumerate(sheet.iter_rows(), start=1):
            rated = texts[0] != CONTEXT
            page.write_number(row, 0, part, text if rated else grey)
            for column, words_of_cell in enumerate(texts, start=1):
                page.write_string(row, column, words_of_cell, text if rated else grey)
            for column in (score, score + 1):
                page.write_blank(row, column, None, free if rated else grey)
            if rated:
                page.data_validation(row, score, row, score, {
                    "validate": "decimal", "criteria": "between", "minimum": low, "maximum": high,
                    "error_title": "Score", "error_message": f"A number from {low:g} to {high:g}.",
                })  # fmt: skip
        behind = workbook.add_worksheet("instructions")
        behind.set_column(0, 0, 100, text)
        for row, line in enumerate(words.splitlines()):
            behind.write_string(row, 0, line)
    path.write_bytes(data.getbuffer())


def instructions_for(range: tuple[float, float]) -> str:
    """The default instructions for raters."""
    low, high = range
    return f"""Instructions

Every row has a source text and a translation of it ("output"). Please rate the translation: write a
number from {low:g} (worst) to {high:g} (best) in "score".

1. Judge whether the translation says what the source says, and how well it is written.
2. Work through the rows from top to bottom. Translations of the same source are next to each
   other: compare them. If some are identical, give them the same score.
3. Grey rows show the text before and after, for context. Do not rate them.
4. Fill in "score" and, if you like, "comment". Do not change anything else or reorder the rows.
5. If you cannot judge a translation, leave its score empty and say why in "comment".
6. Work alone; do not compare notes with colleagues until everyone has finished.
7. Send the file back under the same name.

Thank you!
"""
