"""Excel workbooks: the first sheet, its first row the column names.

A cell holds at most 32,767 characters and about 16 digits; what does not fit is refused, never
cut. Empty text and an empty cell are the same thing in a sheet.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path

import polars as pl

from assay.tables.raw import Raw, refuse

MAX_ROWS, MAX_TEXT = 1_048_575, 32_767


def read_xlsx(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read the first sheet; a column with any text in it is read as text."""
    import fastexcel

    if data[:2] != b"PK":
        raise refuse(
            str(path), "is not an .xlsx workbook; save it as .xlsx, or give it its right ending"
        )
    try:
        workbook = fastexcel.read_excel(data)
        frame = workbook.load_sheet(0, schema_sample_rows=None).to_polars()
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0]
        raise refuse(
            str(path), f"the workbook is damaged or empty ({reason}); save it again"
        ) from None
    _refuse_repeated(workbook.load_sheet(0, header_row=None, n_rows=1).to_polars(), str(path))
    kept = (
        pl.Series(range(frame.height))
        if not frame.width
        else frame.select(~pl.all_horizontal(pl.all().is_null())).to_series().arg_true()
    )
    notes = []
    if len(workbook.sheet_names) > 1:
        notes.append(f"read the first of {len(workbook.sheet_names)} sheets")
    return Raw(
        frame[kept], str(path), lambda rows: [int(kept[row]) + 2 for row in rows], tuple(notes)
    )


def _refuse_repeated(header: pl.DataFrame, source: str) -> None:
    names = [str(name) for name in (header.row(0) if header.height else ()) if name is not None]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise refuse(
            source, f"the name '{name}' stands twice in the header; rename one", line=1, column=name
        )


def xlsx_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as a workbook; text stays text, also where it looks like a formula or a link."""
    import xlsxwriter

    if frame.height > MAX_ROWS:
        raise refuse(
            str(path),
            f"{frame.height} rows do not fit a sheet ({MAX_ROWS} do); write .tsv or .parquet",
        )
    for name in frame.columns:
        if frame.schema[name] == pl.String and (frame[name].str.len_chars() > MAX_TEXT).any():
            raise refuse(
                str(path),
                f"text of over {MAX_TEXT} characters does not fit a cell; write .tsv or .parquet",
                column=name,
            )
    buffer = io.BytesIO()
    workbook = xlsxwriter.Workbook(buffer, {"in_memory": True})
    sheet = workbook.add_worksheet("table")
    for column, name in enumerate(frame.columns):
        sheet.write_string(0, column, name)
        write = sheet.write_number if frame.schema[name].is_numeric() else sheet.write_string
        for row, value in enumerate(frame[name], start=1):
            if isinstance(value, float) and not math.isfinite(value):
                sheet.write_string(row, column, str(value))  # a sheet has no such numbers
            elif value is not None:
                write(row, column, value if isinstance(value, int | float | str) else str(value))
    workbook.close()
    return buffer.getvalue()
