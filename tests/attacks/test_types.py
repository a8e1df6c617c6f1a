"""Columns of every type that a file can have, in every place: read right, or refused."""

from __future__ import annotations

import datetime as dt
import io
import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError

Run = Callable[..., Ran]
DAY, HOUR = dt.date(2024, 2, 29), dt.timedelta(hours=1, microseconds=3)
MOMENT = dt.datetime(2024, 2, 29, 12, 30, 1, 5)

COLUMNS: dict[str, pl.Series] = {
    str(kind): pl.Series([1, 2, None], dtype=kind)
    for kind in (
        pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32,
        pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.Decimal(38, 0), pl.Null,
    ) if kind != pl.Null
} | {
    "largest": pl.Series([2**64 - 1, 0, 1], dtype=pl.UInt64),
    "nan": pl.Series([float("nan"), float("inf"), -0.0]),
    "null": pl.Series([None] * 3, dtype=pl.Null),
    "boolean": pl.Series([True, False, None]),
    "text": pl.Series(["a", "", None]),
    "numbers as text": pl.Series(["1", "2e400", "1_000"]),
    "bytes that are text": pl.Series([b"a", "ü".encode(), b"c"]),
    "bytes": pl.Series([b"\xff\x00", b"b", None]),
    "date": pl.Series([DAY, None, DAY]),
    "time": pl.Series([MOMENT.time(), None, dt.time(0)]),
    "datetime": pl.Series([MOMENT, None, MOMENT]),
    "datetime ns": pl.Series([MOMENT, None, MOMENT], dtype=pl.Datetime("ns")),
    "datetime ms UTC": pl.Series([MOMENT, None, MOMENT], dtype=pl.Datetime("ms", "UTC")),
    "duration": pl.Series([HOUR, None, -HOUR]),
    "duration ms": pl.Series([HOUR, None, -HOUR], dtype=pl.Duration("ms")),
    "category": pl.Series(["a", "b", None], dtype=pl.Categorical),
    "enum": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b"])),
    "list": pl.Series([[1, 2], [], None]),
    "list of text": pl.Series([["a"], ["b", None], None]),
    "array": pl.Series([[1, 2], [3, 4], None], dtype=pl.Array(pl.Int64, 2)),
    "struct": pl.Series([{"x": 1}, {"x": None}, None]),
    "struct of lists": pl.Series([{"x": [b"\xff"]}, {"x": []}, None]),
    "list of durations": pl.Series([[HOUR], [], None]),
}  # fmt: skip

TABLES: dict[str, dict[str, list[Any]]] = {
    "scores": {"system": ["A", "B", "C"], "seg": ["1", "2", "3"], "chrF": [0.5, 0.6, 0.7]},
    "ratings": {"system": ["A", "B", "C"], "seg": ["1", "2", "3"], "score": [1.0, 2.0, 3.0]},
    "judgments": {"left": ["A"] * 3, "right": ["B"] * 3, "winner": ["left", "tie", "right"]},
    "sample": {"seg": ["1", "2", "3"], "probability": [0.5] * 3,
               "design": ["segments|n:3|N:6|seed:1"] * 3},
    "edits": {"system": ["A"] * 3, "doc": ["d"] * 3, "seg": ["1", "2", "3"], "editor": ["e"] * 3,
              "mt": ["x"] * 3, "edited": ["y"] * 3},
    "errors": {"system": ["A"] * 3, "seg": ["1", "2", "3"], "category": ["c"] * 3,
               "severity": ["minor"] * 3, "start": [0, 1, 2]},
}  # fmt: skip
PLACES = [
    ("scores", "system"), ("scores", "seg"), ("scores", "doc"), ("scores", "chrF"),
    ("scores", "words"), ("scores", "target"), ("ratings", "score"), ("ratings", "rater"),
    ("ratings", "seconds"), ("ratings", "check"), ("judgments", "left"), ("judgments", "winner"),
    ("judgments", "set"), ("sample", "seg"), ("sample", "probability"), ("sample", "order"),
    ("edits", "editor"), ("edits", "mt"), ("edits", "position"), ("errors", "start"),
    ("errors", "severity"),
]  # fmt: skip


def need_answer(source: object, kind: str, said: pytest.CaptureFixture[str]) -> assay.check:  # type: ignore[valid-type]
    checked = assay.check(source, kind=kind)  # type: ignore[arg-type]
    assert checked.ok or checked.problems
    for problem in checked.problems:
        assert len(problem.message) < 2000
        assert "panicked" not in problem.message
    assert not said.readouterr().err
    return checked


@pytest.mark.parametrize(("kind", "column"), PLACES)
def test_parquet(kind: str, column: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, series in COLUMNS.items():
        frame = pl.DataFrame(TABLES[kind]).with_columns(series.alias(column))
        path = tmp_path / f"{name}.parquet"
        frame.write_parquet(path)
        checked = need_answer(path, kind, capfd)
        assert need_answer(frame, kind, capfd).ok == checked.ok or name == "bytes that are text"


@pytest.mark.parametrize("name", COLUMNS)
def test_names_of_every_type_are_themselves_or_refused(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"seg": COLUMNS[name].head(1), "system": ["A"]})
    path = tmp_path / "x.parquet"
    frame.write_parquet(path)
    expected = {
        "bytes that are text": "a", "date": "2024-02-29", "boolean": "true", "list": "[1, 2]",
        "text": "a", "category": "a", "enum": "a", "largest": str(2**64 - 1), "nan": "NaN",
    }  # fmt: skip
    try:
        (seg,) = assay.read_scores(path).frame["seg"]
    except InputError as error:
        assert name in ("bytes", "duration", "duration ms", "null")
        assert "column seg" in str(error)
    else:
        assert isinstance(seg, str)
        assert seg == expected.get(name, seg)
        if COLUMNS[name].dtype.is_integer() and name != "largest":
            assert seg == "1"


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".jsonl", ".parquet", ".xlsx", ".tsv.gz"])
def test_columns_of_every_type_are_written(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, series in COLUMNS.items():
        frame = pl.DataFrame(TABLES["scores"]).with_columns(series.alias("mine"))
        read = assay.read_scores(frame, metrics=["chrF"])
        read.write(tmp_path / f"x{ending}")
        again = assay.read_scores(tmp_path / f"x{ending}", metrics=["chrF"])
        assert again.frame.select("system", "seg", "chrF").equals(
            read.frame.select("system", "seg", "chrF")
        ), name
    assert not capfd.readouterr().err


JSON_VALUES: list[Any] = [
    True, None, 0, -0.0, 1e308, 10**400, -(10**19), 1.5, "", " ", "1", "NaN", [], {}, [1], {"a": 1},
    [[["x"]]], {"a": {"b": [None]}}, "\u0000", "\ufeff", "\u202e", "e\u0301", "x" * 6000,
    [1] * 1000, float("nan"), float("inf"), "\ud800", "=1+1",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "column"), PLACES)
def test_json_lines(
    kind: str, column: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = pl.DataFrame(TABLES[kind]).rows(named=True)
    for number, value in enumerate(JSON_VALUES):
        path = tmp_path / f"{number}.jsonl"
        for every in (False, True):
            rows = [{**row, column: value} if every or not i else row for i, row in enumerate(good)]
            path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
            need_answer(path, kind, capfd)


def sheet(header: list[str], rows: list[list[Any]], formats: bool) -> bytes:
    import xlsxwriter

    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "nan_inf_to_errors": True})
    page = book.add_worksheet()
    date = book.add_format({"num_format": "yyyy-mm-dd"})
    for i, row in enumerate([header, *rows]):
        for j, value in enumerate(row):
            if isinstance(value, dt.date):
                page.write_datetime(i, j, value, date if formats else None)
            elif isinstance(value, dt.timedelta | dt.time):
                page.write_datetime(i, j, value, date if formats else None)  # type: ignore[arg-type]
            else:
                page.write(i, j, value)
    book.close()
    return buffer.getvalue()


XLSX_VALUES: list[Any] = [
    True, None, 0, -1.5, 1e300, "", " ", "text", "007", "=1/0", "=A1", "=NA()", "={1,2}", DAY,
    MOMENT, MOMENT.time(), HOUR, float("nan"), Decimal("1.5"), "http://x.org", "x" * 6000,
]  # fmt: skip


@pytest.mark.parametrize(("kind", "column"), PLACES)
def test_workbooks(
    kind: str, column: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = TABLES[kind] | ({} if column in TABLES[kind] else {column: [None] * 3})
    names = list(good)
    rows = [list(row) for row in zip(*good.values(), strict=True)]
    path = tmp_path / "x.xlsx"
    for number, value in enumerate(XLSX_VALUES):
        odd = [row.copy() for row in rows]
        odd[1][names.index(column)] = value
        path.write_bytes(sheet(names, odd, formats=number % 2 > 0))
        need_answer(path, kind, capfd)


def damaged(whole: bytes, number: int) -> bytes:
    """The file cut off, or with some of its bytes changed."""
    rng = random.Random(number)
    if number % 4 == 0:
        return whole[: rng.randrange(8, len(whole))]
    data = bytearray(whole)
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(4, len(data))] = rng.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("ending", [".parquet", ".xlsx", ".tsv.gz", ".jsonl"])
def test_damaged_files(ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"system": ["A", "B"] * 40, "seg": [str(i) for i in range(80)],
                          "chrF": [i / 7 for i in range(80)]})  # fmt: skip
    path = assay.read_scores(frame).write(tmp_path / f"x{ending}")
    whole = path.read_bytes()
    for number in range(60):
        path.write_bytes(damaged(whole, number))
        need_answer(path, "scores", capfd)


def test_a_boolean_column_becomes_one_in_a_workbook(tmp_path: Path, run_assay: Run) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"system": "A", "seg": 1, "ok": true}\n{"system": "B", "seg": 1, "ok": false}\n'
    )
    ran = run_assay(
        "convert", tmp_path / "x.jsonl", tmp_path / "x.xlsx", "--from", "scores", "--to", "scores"
    )
    assert ran.code == 0, ran.err
    assert assay.read_scores(tmp_path / "x.xlsx").frame["ok"].to_list() == [True, False]
