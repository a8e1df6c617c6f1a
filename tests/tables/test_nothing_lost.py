"""Nothing is lost, merged or repaired without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Ran

from assay.errors import InputError, OptionError, TableError
from assay.formats.convert import check, convert
from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.load import atomic
from assay.tables.tables import read_ratings, read_sample, read_scores
from assay.tables.typed_files import save

PLAIN = pl.DataFrame({"system": ["A", "A"], "seg": ["1", "2"]})


@given(
    texts=st.lists(st.text(st.sampled_from('"\t\n\r,;x'), min_size=1), min_size=2, max_size=6),
    ending=st.sampled_from([".tsv", ".csv"]),
)
def test_text_of_nothing_but_separators_survives(
    texts: list[str], ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = {"system": ["A"] * len(texts), "seg": range(len(texts)), "target": texts}
    path = tmp_path_factory.mktemp("t") / f"x{ending}"
    read_scores(pl.DataFrame(rows)).write(path)
    assert read_scores(path).frame["target"].to_list() == texts


def test_a_cell_that_looks_like_rows_is_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    frame = PLAIN.with_columns(target=pl.Series(["x\nfoo\tbar\tbaz", "y"]))
    read_scores(frame).write(path)
    again = read_scores(path)
    assert again.systems == ("A",)
    assert "join several lines into one cell" in again.notes[0]


@given(
    body=st.text(st.sampled_from('",;\t\n\r Aa1.'), max_size=60),
    ending=st.sampled_from([".tsv", ".csv"]),
)
def test_odd_files_are_refused_not_crashed_on(
    body: str, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    separator = "\t" if ending == ".tsv" else ","
    path = tmp_path_factory.mktemp("odd") / f"x{ending}"
    header = separator.join(["system", "seg", "score"])
    path.write_bytes(f"{header}\n{body}".encode())
    report = check(path, kind="ratings")
    assert report.ok or report.problems


@pytest.mark.parametrize(
    "content",
    [b'system,seg,score\nA,1,2\n,,""\n', b'system,seg,score\nA,1,"\n"a",,"\n',
     b"system,seg,score,column 5,\nA,1,2,x,y\n", b'system,seg,score\n"A,1,2\n'],
)  # fmt: skip
def test_quotes_that_readers_disagree_on(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert not check(path, kind="ratings").ok


def test_a_quoting_fault_is_reported_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'system,seg,score\n"A,1,2\n')
    assert check(path, kind="ratings").problems[0].line == 2


def test_unknown_columns_of_ratings_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("system,seg,score,ticket,big\nA,1,2,007,12345678901234567890\n")
    frame = read_ratings(path).frame
    assert frame["ticket"].to_list() == ["007"]
    assert frame["big"].to_list() == ["12345678901234567890"]


def test_errors_to_ratings_keeps_ids(tmp_path: Path) -> None:
    path, target = tmp_path / "e.tsv", tmp_path / "r.tsv"
    path.write_text(
        "system\tdoc\tseg\tcategory\tseverity\nA\t007\t01\tX\tMajor\nA\t007\t1\tX\tMinor\n"
    )
    convert(path, target, origin="errors", to="ratings")
    rows = read_ratings(target).frame.select("doc", "seg", "score").rows()
    assert rows == [("007", "01", 5.0), ("007", "1", 1.0)]


def test_ratings_of_documents_the_test_set_does_not_have() -> None:
    test_set = read_scores(PLAIN)
    ratings = pl.DataFrame(
        {"system": ["A"] * 3, "doc": ["d1", "d2", "d1"], "seg": ["1", "1", "2"],
         "score": [0.0, 100.0, 50.0]}
    )  # fmt: skip
    with pytest.raises(TableError, match="matches several that differ in doc"):
        read_ratings(ratings, test_set)
    sample = pl.DataFrame(
        {"doc": ["d1", "d2"], "seg": ["1", "1"], "probability": [0.5] * 2, "design": ["x"] * 2}
    )
    with pytest.raises(TableError, match="add doc to the scores"):
        read_sample(sample, test_set)


def test_other_language_pairs_are_left_out_and_counted() -> None:
    test_set = read_scores(PLAIN.with_columns(lp=pl.lit("en-de")))
    frame = pl.DataFrame(
        {"system": ["A", "A"], "seg": ["1", "9"], "lp": ["en-de", "en-cs"], "score": [1.0, 2.0]}
    )
    ratings = read_ratings(frame, test_set)
    assert len(ratings) == 1
    assert ratings.notes == ("1 rows of other language pairs left out",)


def test_whole_float_segments_get_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("system,seg,score\nA,1.0,3\n")
    with pytest.raises(TableError, match="did you mean '1'"):
        read_ratings(path, read_scores(PLAIN))


class TestMapping:
    def test_two_names_for_one_column(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "id": ["1"], "score": [1.0]})
        with pytest.raises(InputError, match="`columns` maps two names to 'id'"):
            read_ratings(frame, columns={"seg": "id", "doc": "id"})

    def test_a_typo_is_not_ignored(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": ["1"], "score": [1.0], "mqm": [2.0]})
        with pytest.raises(TableError, match="`columns` maps score to 'mqmm'.*did you mean 'mqm'"):
            read_ratings(frame, columns={"score": "mqmm"})

    def test_a_hidden_column_is_noted(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": ["1"], "score": [1.0], "mqm": [2.0]})
        ratings = read_ratings(frame, columns={"score": "mqm"})
        assert ratings.frame["score"].to_list() == [2.0]
        assert ratings.notes == (
            "not used, because you mapped other columns to these names: score",
        )


class TestRepeatedNames:
    def test_pandas(self) -> None:
        frame = pd.DataFrame([["A", 1, 2, 3]], columns=["system", "seg", "score", "score"])
        with pytest.raises(TableError, match="has 'score' twice"):
            read_ratings(frame)

    def test_workbook(self, tmp_path: Path) -> None:
        import xlsxwriter

        path = tmp_path / "x.xlsx"
        book = xlsxwriter.Workbook(str(path))
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["system", "seg", "score", "score"])
        sheet.write_row(1, 0, ["A", 1, 2, 3])
        book.close()
        with pytest.raises(TableError, match="has 'score' twice"):
            read_ratings(path)


class TestNotes:
    def test_segments_that_differ_between_systems(self) -> None:
        frame = pl.DataFrame(
            {"system": ["A", "B"], "seg": ["1", "1"], "source": ["cat", "dog"], "words": [3, 90]}
        )
        assert read_scores(frame).notes == (
            "source differs between systems in 1 segments; the first is used",
            "words differs between systems in 1 segments; the first is used",
        )

    def test_names_with_spaces(self) -> None:
        frame = pl.DataFrame({"system": ["a", " a "], "seg": ["1", "1"]})
        assert "spaces around" in read_scores(frame).notes[0]

    def test_a_column_of_some_numbers_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text("system,seg,chrF\nA,1,0.5\nA,2,NaN\nA,3,abc\nA,4,NA\n")
        table = read_scores(path)
        assert table.metrics == ()
        assert table.notes == (
            "chrF is not used as a metric: only 67% of its values are numbers ('abc' is not)",
        )


class TestWriting:
    def test_numbers_a_sheet_does_not_have(self, tmp_path: Path) -> None:
        frame = PLAIN.with_columns(x=pl.Series([float("nan"), 1.5]))
        save(frame, tmp_path / "x.xlsx")
        assert read_scores(tmp_path / "x.xlsx", metrics=["x"]).frame["x"].to_list() == [None, 1.5]

    @pytest.mark.parametrize("ending", [".tsv", ".csv", ".xlsx"])
    def test_lists_and_bytes_become_text(self, ending: str, tmp_path: Path) -> None:
        frame = PLAIN.with_columns(x=pl.Series([[1], [2]]), y=pl.Series([b"a", b"b"]))
        save(frame, tmp_path / f"x{ending}")
        assert read_scores(tmp_path / f"x{ending}").frame["x"].to_list() == ["[1]", "[2]"]

    def test_a_link_keeps_pointing(self, tmp_path: Path) -> None:
        real, link = tmp_path / "real.tsv", tmp_path / "link.tsv"
        real.write_text("old")
        link.symlink_to(real)
        read_scores(PLAIN).write(link)
        assert link.is_symlink()
        assert real.read_text().startswith("system")

    def test_a_device_is_not_replaced(self) -> None:
        with atomic(Path(os.devnull)) as target:
            target.write_text("x")
        assert not Path(os.devnull).is_file()

    def test_permissions_are_those_of_a_new_file(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_text("x")
        written = read_scores(PLAIN).write(tmp_path / "x.tsv")
        assert written.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    save(pl.DataFrame({"system": ["A"] * 50, "seg": list(range(50)), "score": [1.5] * 50}), path)
    data = path.read_bytes()
    for place in range(4, len(data) - 4, 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        report = check(path, kind="ratings")  # refused or read, but never a crash
        assert report.ok or report.problems


def test_a_workbook_with_the_wrong_ending(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"PK\x03\x04 and so on")
    assert "give it its right ending (.xlsx)" in check(path, kind="scores").problems[0].message


def test_odd_json_values(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"system": "\\ud800", "seg": 1, "score": 1}\n')
    assert "half a character" in check(path, kind="ratings").problems[0].message
    path.write_text('{"system": "A", "seg": 1, "score": 1' + "0" * 400 + "}\n")
    assert not check(path, kind="ratings").ok


def test_huge_offsets_are_refused() -> None:
    frame = pl.DataFrame(
        {"system": ["A"], "seg": ["1"], "category": ["x"], "severity": ["y"], "start": [1e300]}
    )
    with pytest.raises(TableError, match="is not a whole number"):
        read_errors(frame)


def test_excluding_every_judgment() -> None:
    frame = pl.DataFrame({"left": ["A"], "right": ["B"], "winner": ["tie"]})
    with pytest.raises(OptionError, match="leaves no judgment"):
        read_judgments(frame, exclude=["A"])


def test_edits_keep_ids(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("system,doc,seg,editor,mt,edited\nA,01,007,3,12,1e5\n")
    assert read_edits(path).frame.row(0) == ("A", "01", "007", "3", "12", "1e5")


class TestOptionsThatMeanNothing:
    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("ratings", ["--metrics", "x"]),
            ("ratings", ["--exclude", "x"]),
            ("scores", ["--range", "0,25"]),
            ("ratings", ["--lp", "en-de"]),
            ("ratings", ["--human", "mqm"]),
            ("ratings", ["--system", "A"]),
            ("ratings", ["--weights", "major=3"]),
        ],
    )
    def test_check(
        self, kind: str, options: list[str], tmp_path: Path, run_assay: Callable[..., Ran]
    ) -> None:
        path = tmp_path / "x.tsv"
        path.write_text("system\tseg\tscore\nA\t1\t2\n")
        ran = run_assay("check", path, "--kind", kind, *options)
        assert ran.code == 2
        assert ran.out == ""

    @pytest.mark.parametrize(
        ("weights", "message"),
        [("majr=10", "majr"), ("major=-5", "major"), ("major=nan", "major"), ("major=x", "major")],
    )
    def test_weights(
        self, weights: str, message: str, tmp_path: Path, run_assay: Callable[..., Ran]
    ) -> None:
        path = tmp_path / "e.tsv"
        path.write_text("system\tseg\tcategory\tseverity\nA\t1\tX\tMajor\n")
        ran = run_assay(
            "convert", path, tmp_path / "r.tsv", "--from", "errors", "--to", "ratings",
            "--weights", weights,
        )  # fmt: skip
        assert ran.code == 2
        assert message in ran.err
        assert not (tmp_path / "r.tsv").exists()
