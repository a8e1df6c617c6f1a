"""Files and frames: what is written is read back, and no input makes a traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assay.errors import AssayError, TableError
from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.load import atomic
from assay.tables.tables import read_ratings, read_sample, read_scores
from assay.tables.typed_files import save

ENDINGS = [".tsv", ".csv", ".jsonl", ".parquet", ".xlsx"]
READERS = [read_scores, read_ratings, read_errors, read_judgments, read_edits, read_sample]
SCORES = b"system\tseg\tchrF\nA\t1\t0.5\nA\t2\t0.25\n"

# A sheet cannot hold control characters, and a lone surrogate is no text at all.
texts = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Co"), exclude_characters="\ufffe\uffff"),
    min_size=1,
    max_size=12,
)
awkward = st.sampled_from(
    ["tab\there", 'say "hi"', "two\nlines", "שלום עולם", "😀👩‍👧", "=1+1", "'", '"', "a,b;c", " x ",
     "NA", "null", "1e5", "007", "http://x.y", "-", "\\n", "#"]
)  # fmt: skip
words = st.one_of(texts, awkward)
floats = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@st.composite
def edits(draw: st.DrawFn) -> pl.DataFrame:
    size = draw(st.integers(1, 6))
    column = st.lists(words, min_size=size, max_size=size)
    return pl.DataFrame(
        {
            "system": draw(column),
            "doc": draw(column),
            "seg": [str(i) for i in range(size)],
            "editor": draw(column),
            "source": draw(column),
            "mt": draw(column),
            "edited": draw(column),
            "seconds": draw(st.lists(floats.map(abs), min_size=size, max_size=size)),
        }
    )


@pytest.mark.parametrize("ending", [*ENDINGS, ".tsv.gz", ".jsonl.gz"])
@given(frame=edits())
@example(
    frame=pl.DataFrame(
        {"system": ["NA"], "doc": ["1"], "seg": ["1"], "editor": ["07"], "source": ["a\tb\n\"c\""],
         "mt": ['"'], "edited": ["=1+1"], "seconds": [0.1]}
    )
)  # fmt: skip
def test_what_is_written_is_read_back(
    frame: pl.DataFrame, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("files") / f"edits{ending}"
    table = read_edits(frame)
    table.write(path)
    assert_frame_equal(read_edits(path).frame, table.frame, rel_tol=1e-14)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@pytest.mark.parametrize("ending", [*ENDINGS, ".tsv.gz"])
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_bytes_make_a_traceback(
    read: object, ending: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"file{ending}"
    path.write_bytes(data)
    with pytest.raises(AssayError):
        read(path)  # type: ignore[operator]


cells = st.one_of(
    words,
    st.sampled_from(["A", "B", "1", "2", "0.5", "nan", "inf", "", "left", "tie", "-1", "1,5"]),
)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@given(
    names=st.lists(
        st.sampled_from(
            ["system", "seg", "doc", "score", "chrF", "left", "right", "winner", "probability",
             "design", "editor", "mt", "edited", "rater", "category", "severity", "start", "end"]
        ),
        min_size=1, unique=True,
    ),
    rows=st.lists(st.lists(cells, min_size=0, max_size=18), max_size=5),
    separator=st.sampled_from("\t,;"),
)  # fmt: skip
def test_no_table_makes_a_traceback(
    read: object,
    names: list[str],
    rows: list[list[str]],
    separator: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("tables") / ("file.tsv" if separator == "\t" else "file.csv")
    lines = [separator.join(names), *(separator.join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        table = read(path)  # type: ignore[operator]
    except AssayError as error:
        assert str(error)
    else:
        assert len(table) > 0


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(b"\xef\xbb\xbf" + SCORES.replace(b"\n", b"\r\n"))
    table = read_scores(path)
    assert table.frame.rows() == [("A", "1", 0.5), ("A", "2", 0.25)]


def test_old_mac_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(SCORES.replace(b"\n", b"\r"))
    assert len(read_scores(path)) == 2


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(SCORES.replace(b"0.5\n", b"0.5\n\n") + b"\n\n")
    assert len(read_scores(path)) == 2


def test_blank_lines_with_quotes_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(b'system\tseg\tchrF\n"A"\t1\t0.5\n\nA\t2\t\n')
    assert len(read_scores(path)) == 2


@pytest.mark.parametrize("separator", [",", ";"])
def test_comma_and_semicolon(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(SCORES.replace(b"\t", separator.encode()))
    assert read_scores(path).metrics == ("chrF",)


def test_seg_keeps_leading_zeros(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(b"system\tseg\nA\t007\n")
    assert read_scores(path).frame["seg"].to_list() == ["007"]


def test_whole_floats_of_a_sheet_are_segment_numbers() -> None:
    frame = pl.DataFrame({"system": ["A", "A"], "seg": [1.0, 2.5]})
    assert read_scores(frame).frame["seg"].to_list() == ["1", "2.5"]


def test_late_change_of_type_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    rows = "".join(f"A\t{i}\t1\n" for i in range(2000))
    path.write_text("system\tseg\tchrF\n" + rows + "A\tlast\t0.5\n")
    assert read_scores(path).frame["chrF"][-1] == 0.5


def test_missing_metric_words_count_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("system\tseg\tchrF\nA\t1\t0.5\nA\t2\tNone\nA\t3\t\nA\t4\tnan\n")
    table = read_scores(path, metrics=["chrF"])
    assert table.frame["chrF"].null_count() == 3
    assert table.notes == ("chrF: 3 of 4 values missing",)


def test_unpaired_quotation_marks_in_tab_separated_text(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text('system\tseg\tsource\nA\t1\t"open\nA\t2\t"so" it is\nA\t3\tplain\n')
    table = read_scores(path)
    assert table.frame["source"].to_list() == ['"open', '"so" it is', "plain"]
    assert "without quoting" in table.notes[0]


def test_quotation_mark_inside_a_cell_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text('system\tseg\tsource\nA\t1\tsay "hi now\nA\t2\tb\n')
    assert read_scores(path).frame["source"].to_list() == ['say "hi now', "b"]


def test_column_names_are_stripped_and_unnamed_ones_numbered(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("system , seg,\nA,1,x\n")
    assert read_scores(path).frame.columns == ["system", "seg", "column 3"]


def test_unknown_columns_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "ratings.tsv"
    path.write_text("system\tseg\tscore\tcomment\tticket\nA\t1\t2\tfine\t1234567890123456789\n")
    frame = read_ratings(path).frame
    assert frame["comment"][0] == "fine"
    assert frame["ticket"][0] == "1234567890123456789"


def test_nested_json_values_are_kept_as_text(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text(
        json.dumps({"system": "A", "seg": 1, "score": 2, "x": [1], "y": True}) + "\n"
        + json.dumps({"system": "A", "seg": 2, "score": 2.5, "y": None}) + "\n"
    )  # fmt: skip
    frame = read_ratings(path).frame
    assert frame["x"].to_list() == ["[1]", None]
    assert frame["score"].to_list() == [2.0, 2.5]


def test_jsonl_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_bytes(b'{"system": "A"}\n{"system": "\xff"}\n')
    with pytest.raises(TableError, match="line 2: byte 0xff is not UTF-8"):
        read_ratings(path)


def test_pandas_frame() -> None:
    frame = pd.DataFrame(
        {
            "system": ["A", "A"],
            "seg": [1, 2],
            "score": [2.5, None],
            "rater": pd.Categorical(["R", "R"]),
        }
    )
    ratings = read_ratings(frame)
    assert ratings.frame["score"].to_list() == [2.5, None]
    assert ratings.raters == ("R",)


def test_something_that_is_no_table() -> None:
    with pytest.raises(TableError, match="give a path, or a polars or pandas frame"):
        read_scores(42)  # type: ignore[arg-type]


def test_problems_of_a_frame_are_counted_from_row_one() -> None:
    frame = pl.DataFrame({"system": ["A", "A"], "seg": ["1", "2"], "score": ["2", "x"]})
    with pytest.raises(TableError) as raised:
        read_ratings(frame)
    assert raised.value.problems[0].line == 2


def test_first_of_several_sheets_is_read(tmp_path: Path) -> None:
    import xlsxwriter

    path = tmp_path / "ratings.xlsx"
    workbook = xlsxwriter.Workbook(str(path))
    first, second = workbook.add_worksheet(), workbook.add_worksheet()
    for sheet in (first, second):
        for column, name in enumerate(["system", "seg", "score"]):
            sheet.write(0, column, name)
    for row, number in [(1, 1), (3, 2)]:  # row 2 stays blank
        first.write_row(row, 0, ["A", number, 2.5])
    workbook.close()
    ratings = read_ratings(path)
    assert len(ratings) == 2
    assert ratings.notes == ("the workbook has 2 sheets; only the first was read",)


def test_text_too_long_for_a_cell_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": ["A"], "seg": ["1"], "source": ["x" * 40_000]})
    with pytest.raises(TableError, match="does not fit into a cell; write .tsv or .parquet"):
        read_scores(frame).write(tmp_path / "scores.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_too_many_rows_for_a_sheet_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": pl.int_range(0, 1_048_576, eager=True)})
    with pytest.raises(TableError, match="do not fit into a sheet"):
        save(frame, tmp_path / "x.xlsx")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.tsv"]


def test_writing_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    table = read_scores(pl.DataFrame({"system": ["A"], "seg": ["1"]}))
    with pytest.raises(TableError, match="does not exist; make it first"):
        table.write(tmp_path / "no" / "x.tsv")
    with pytest.raises(TableError, match="is a folder"):
        (tmp_path / "d.tsv").mkdir()
        table.write(tmp_path / "d.tsv")


def test_reading_from_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="does not exist either"):
        read_scores(tmp_path / "no" / "x.tsv")


def test_the_same_table_gives_the_same_gzip(tmp_path: Path) -> None:
    table = read_scores(pl.DataFrame({"system": ["A"], "seg": ["1"]}))
    one, two = table.write(tmp_path / "a.tsv.gz"), table.write(tmp_path / "b.tsv.gz")
    assert one.read_bytes() == two.read_bytes()
    assert gzip.decompress(one.read_bytes()) == b"system\tseg\nA\t1\n"


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".xlsx"])
def test_a_name_that_looks_like_a_pattern_is_a_name(ending: str, tmp_path: Path) -> None:
    """Polars takes ``^...$`` for a pattern of names, also where it is not one that can be."""
    frame = pl.DataFrame({
        "system": ["A", "B"], "seg": ["1", "1"], "m": [0.1, 0.2], "^a(b$": ["x", "y"],
        "^()$": [1.0, 2.0],
    })  # fmt: skip
    path = tmp_path / f"scores{ending}"
    write = {
        ".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet,
        ".xlsx": frame.write_excel,
    }  # fmt: skip
    write[ending](path)
    for source in (path, frame):
        assert read_scores(source).metrics == ("m", "()$")
    odd = frame.rename({"^()$": "m$"}).rename({"m": "^m$"})
    with pytest.raises(TableError, match="the header has 'm\\$' twice"):
        read_scores(odd)
