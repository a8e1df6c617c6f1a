"""Finds the table in a file that people made for people.

Above the column names there may be a title, or they fill two rows; below the last row there may be
a mean or a remark; each rater or system may have a sheet or a file; a merged cell has its value in
its first row alone. A note says what was left out or filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from assay.results import Note, plural
from assay.tables.load import MISSING, Raw, lines_at
from assay.tables.names import TOTALS, words_of

TOP_ROWS = 12
"""So many rows may stand above the first row of data."""
LONG_NAME = 40
"""Longer texts in a second row are texts, and no names of columns."""
MERGED_SHARE = 0.25
"""Where fewer cells of a column are empty, they are missing rather than merged."""
MAX_NAMED, MAX_FOOT = 3, 6
TOTAL_WORDS = sorted({*TOTALS, *(f"{word}:" for word in TOTALS)})

Cells = Sequence[str | None]


def header_place(rows: Sequence[Cells]) -> int:
    """Which of the first rows has the column names: the first, unless that is a title.

    >>> header_place([["Results of May", None, None], [None] * 3, ["Segment", "System", "Score"]])
    2
    """
    begins = next((place for place, row in enumerate(rows) if _filled(row)), 0)
    width = max((len(_filled(row)) for row in rows), default=0)
    if width < 2 or len(_filled(rows[begins])) > 1:
        return begins
    for place, row in enumerate(rows):
        cells = _filled(row)
        if len(cells) >= max(2, width / 2):
            return place if not any(map(_is_number, cells)) else begins
    return begins


def two_rows(first: Cells, second: Cells) -> list[str] | None:
    """The column names of a header that fills two rows, as merged cells above others make it.

    >>> two_rows(["", "DeepL", None, "Google", None], ["Segment", "Ann", "Ben", "Ann", "Ben"])
    ['Segment', 'DeepL / Ann', 'DeepL / Ben', 'Google / Ann', 'Google / Ben']
    """
    below = _filled(second)
    gaps = [k for k, cell in enumerate(first) if k and not cell and first[k - 1]]
    if not gaps or len({*below}) == len(below) or len(second) > len(first):
        return None
    if any(_is_number(cell) or len(cell) > LONG_NAME for cell in below):
        return None
    names, group = [], ""
    for top, sub in zip(first, [*second, *[None] * (len(first) - len(second))], strict=True):
        group = top or group
        names.append(" / ".join(part for part in (group, sub) if part))
    return names if len({*names}) == len(names) and all(names) else None


def _filled(row: Cells) -> list[str]:
    return [cell.strip() for cell in row if cell is not None and cell.strip()]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ".").rstrip("% "))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Top:
    """The head of a table: its column names, in which row they begin (from 0), and how many."""

    names: list[str]
    place: int = 0
    rows: int = 1
    notes: tuple[Note, ...] = ()


def top_of(rows: Sequence[Cells]) -> Top:
    """The head of a table by the first rows of its file."""
    if not rows:
        return Top([])
    place = header_place(rows)
    names, count = _filled(rows[place]), 1
    if place + 1 < len(rows) and (both := two_rows(rows[place], rows[place + 1])):
        names, count = both, 2
    said = [" ".join(_filled(row)) for row in rows[:place] if _filled(row)]
    text = f"the column names are in row {place + 1}; above them: {'; '.join(said)}"
    return Top(names, place, count, (Note("header-below", text),) if said else ())


def stacked(parts: Sequence[tuple[str, pl.DataFrame]], place: str) -> pl.DataFrame:
    """Tables with the same columns as one, with a column that says where each row was found."""
    first = parts[0][1].columns
    frames = [frame.select(first) for _, frame in parts]
    mixed = [name for name in first if len({str(frame.schema[name]) for frame in frames}) > 1]
    words = [
        name for name in mixed
        if not all(frame.schema[name].is_numeric() or frame.schema[name] == pl.Null
                   for frame in frames)
    ]  # fmt: skip
    whole = pl.concat(
        [frame.with_columns(pl.col(words).cast(pl.String)) for frame in frames],
        how="vertical_relaxed",
    )
    if place in first:
        return whole
    labels = [label for (label, _), frame in zip(parts, frames, strict=True)
              for _ in range(frame.height)]  # fmt: skip
    return whole.with_columns(pl.Series(place, labels, dtype=pl.String))


def joined(raws: Sequence[Raw]) -> Raw:
    """Files with the same columns as one table, whose column ``file`` says which row is whose."""
    if len(raws) == 1:
        return raws[0]
    sources = [raw.source for raw in raws]
    frame = stacked([*zip(labels_of(sources), (raw.frame for raw in raws), strict=True)], "file")
    lines = [line for raw in raws for line in raw.lines(range(raw.frame.height))]
    places = raws[0].places if "file" in raws[0].frame.columns else (*raws[0].places, "file")
    more = f" and {len(sources) - MAX_NAMED} more" if len(sources) > MAX_NAMED else ""
    notes = tuple(Note(n.code, f"{raw.source}: {n}") for raw in raws for n in raw.notes)
    return Raw(frame, ", ".join(sources[:MAX_NAMED]) + more, lines_at(lines), notes, places=places)


def labels_of(paths: Sequence[str | Path]) -> list[str]:
    """The parts in which the names of files differ: whose each file is.

    >>> labels_of(["in/ratings_DeepL_v2.csv", "in/ratings_Google_v2.csv"])
    ['DeepL', 'Google']
    """
    stems = [Path(path).name.partition(".")[0] for path in paths]
    parts = [re.split(r"([\s_-]+)", stem) for stem in stems]
    if len({*stems}) < len(stems):
        return [str(path) for path in paths]
    while len({part[0] for part in parts}) == 1 and all(len(part) > 2 for part in parts):
        parts = [part[2:] for part in parts]
    while len({part[-1] for part in parts}) == 1 and all(len(part) > 2 for part in parts):
        parts = [part[:-2] for part in parts]
    return ["".join(part) for part in parts]


def rows_alone(raw: Raw) -> Raw:
    """Drop rows that are not data: repeated headers, means and totals, remarks below."""
    return _without_foot(_without_totals(_without_headers(raw)))


def _without_totals(raw: Raw) -> Raw:
    """Drop means and totals among the rows; they have fewer cells."""
    words = [name for name in raw.frame.columns if raw.frame.schema[name] == pl.String]
    if not words or raw.frame.height < 2:
        return raw
    said = raw.frame.select(pl.col(words).str.strip_chars().str.to_lowercase().is_in(TOTAL_WORDS))
    places = said.select(pl.any_horizontal(pl.all()).fill_null(False)).to_series().arg_true()
    filled = raw.frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    usual = filled.median() or 0
    totals = [
        place for place in places
        if filled[place] < usual and _is_total(_cells(raw.frame.row(place)))
    ]  # fmt: skip
    if not totals or 2 * len(totals) > raw.frame.height:
        return raw
    kept = [place for place in range(raw.frame.height) if place not in {*totals}]
    return _left_out(raw, kept, totals)


def _left_out(raw: Raw, kept: Sequence[int], places: Sequence[int]) -> Raw:
    """The table without some rows, with a note that names the first of them."""
    shown = "; ".join(
        f"line {line}, {_cells(raw.frame.row(place))[0]}"
        for line, place in zip(raw.lines(places[:MAX_NAMED]), places, strict=False)
    )
    more = f" and {len(places) - MAX_NAMED} more" if len(places) > MAX_NAMED else ""
    text = f"{plural(len(places), 'row')} that do not belong to the table left out ({shown}{more})"
    return raw.with_rows(kept, Note("rows-left-out", text))


def _cells(row: Sequence[object]) -> list[str]:
    """The cells of a row that are not empty."""
    return _filled([None if cell is None else str(cell) for cell in row])


def _is_total(cells: Sequence[str]) -> bool:
    """Whether a row has a word such as mean in its first cell and only numbers after it."""
    said = [cell for cell in cells if not _is_number(cell)]
    return said == list(cells[:1]) and bool(said) and "".join(words_of(said[0])) in TOTALS


def _without_headers(raw: Raw) -> Raw:
    """Drop repeated column names, as in files that were joined."""
    words = [name for name in raw.frame.columns if raw.frame.schema[name] == pl.String]
    if not words or len(words) < raw.frame.width - len(raw.places):
        return raw  # a column of numbers has no name in it
    again = raw.frame.select(
        pl.all_horizontal(pl.col(name) == name for name in words if name not in raw.places)
    ).to_series().fill_null(False)  # fmt: skip
    if not again.any():
        return raw
    kept = (~again).arg_true()
    lines = ", ".join(map(str, raw.lines(again.arg_true().to_list()[:MAX_NAMED])))
    text = f"the column names are repeated in line {lines}: left out"
    return raw.with_rows(kept, Note("header-again", text))


def _without_foot(raw: Raw) -> Raw:
    """Drop what stands below the table: means and totals, and remarks in a single cell."""
    frame, foot = raw.frame, 0
    for row in reversed(frame.tail(MAX_FOOT).rows()):
        cells = _cells(row)
        remark = len(cells) == 1 and frame.width > 2 and not _is_number(cells[0])
        if frame.width < 2 or not (remark or _is_total(cells)):
            break
        foot += 1
    if not foot or foot == frame.height:
        return raw
    kept = range(frame.height - foot)
    return _left_out(raw, kept, range(frame.height - foot, frame.height))


def filled_down(raw: Raw, names: Iterable[str], key: Sequence[str]) -> Raw:
    """Fill merged cells: every row gets the value above it.

    A column is taken for merged where many of its cells are empty, where a value always begins
    something new, and where rows that ``key`` does not tell apart are told apart afterwards.
    """
    filled = []
    for name in names:
        values = raw.frame[name]
        empty = values.is_null() | values.cast(pl.String).str.strip_chars().is_in(["", *MISSING])
        known = values.filter(~empty)
        new = not (known == known.shift(1)).fill_null(False).any()
        if not empty[:1].any() and empty.mean() >= MERGED_SHARE and new and len(known) > 1:  # type: ignore[operator]
            filled.append(values.set(empty, None).forward_fill())
    if not filled:
        return raw
    frame = raw.frame.with_columns(filled)
    if frame.select(key).is_duplicated().any():
        return raw
    count = sum(raw.frame[column.name].null_count() for column in filled)
    which = ", ".join(column.name for column in filled)
    text = f"{which}: {count:,} empty cells, as merged ones are, have the value above them"
    return replace(raw, frame=frame, notes=(*raw.notes, Note("filled-down", text)))
