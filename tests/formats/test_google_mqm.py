from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.formats.mqm import Weights
from assay.tables.answers import read_errors
from assay.tables.tables import read_ratings, read_scores
from formats.line_texts import FIXTURES, NAMES, TEXTS, same

FILE = FIXTURES / "google_mqm.tsv"
HEADER = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]


def load(path: Path, *lines: list[str], kind: str = "errors", header: list[str] = HEADER):
    content = "".join("\t".join(line) + "\n" for line in [header, *lines])
    path.write_text(content, encoding="utf-8")
    return load_format(path, "google-mqm", kind)


def line(**cells: str) -> list[str]:
    usual = {"system": "A", "doc": "d", "doc_id": "1", "seg_id": "1", "rater": "r", "source": "s",
             "target": "t", "category": "Style/Awkward", "severity": "Minor"}  # fmt: skip
    return list({**usual, **cells}.values())


def test_errors_with_spans_in_code_points():
    raw = load_format(FILE, "google-mqm")
    errors = read_errors(raw)
    shown = errors.frame.select(
        "system", "seg", "rater", "category", "severity", "side", "start", "end"
    )
    assert shown.rows() == [
        ("Alpha", "1", "rater1", "Fluency/Spelling", "Major", "target", 4, 9),
        ("Alpha", "1", "rater1", "Accuracy/Omission", "minor", "source", 12, 18),
        ("Alpha", "1", "rater2", "Fluency/Punctuation", "Minor", "target", 19, 20),
        ("Beta", "1", "rater1", "No-error", "No-error", None, None, None),
        ("Beta", "2", "rater2", "Style/Awkward", "Neutral", "target", 0, 2),
        ("Alpha", "2", "rater2", "Non-translation!", "Major", None, None, None),
        ("Alpha", "3", "rater2", "Style/Awkward", "Minor", "target", 5, 8),
        ("Beta", "3", "rater2", "Found", "HOTW-test", None, None, None),
    ]
    assert errors.frame["more_spans"].drop_nulls().to_list() == ["target:10-16"]
    assert errors.frame["doc_seg"].to_list() == ["1", "1", "1", "1", "1", "1", "2", "2"]
    assert errors.frame["comment"].drop_nulls().to_list() == ["two dots"]
    assert set(errors.frame["doc"]) == {"news one", "news two"}
    first = errors.frame.row(0, named=True)
    assert first["source"] == 'The "cat" 🐈 sleeps.'
    assert first["target"][first["start"] : first["end"]] == "Kätze"
    assert errors.notes == (
        "1 texts have <v> marks that do not pair up: a mark that is not closed reaches to the"
        " end, one that was not opened is left out",
        "1 rows spell 'no error' in another way; read as No-error",
    )
    assert raw.lines(range(8)) == list(range(2, 10))


def test_ratings_by_weight():
    raw = load_format(FILE, "google-mqm", "ratings")
    ratings = read_ratings(raw, better="lower")
    assert ratings.frame.select("system", "doc", "seg", "rater", "score").rows() == [
        ("Alpha", "news one", "1", "rater1", 6.0),
        ("Alpha", "news one", "1", "rater2", 0.1),
        ("Beta", "news one", "1", "rater1", 0.0),
        ("Beta", "news two", "2", "rater2", 0.0),
        ("Alpha", "news two", "2", "rater2", 25.0),
        ("Alpha", "news two", "3", "rater2", 1.0),
        ("Beta", "news two", "3", "rater2", 0.0),
    ]
    assert ratings.notes[2:] == (
        "scores are sums of error weights: lower is better and 0 is perfect",
        "1 rows are attention checks (HOTW) and carry no penalty",
    )
    assert raw.lines([0, 1, 6]) == [2, 4, 9]


def test_own_weights():
    weights = Weights({"major": 10, "minor": 2, "neutral": 1, "no-error": 0}, {}, cap=None)
    raw = load_format(FILE, "google-mqm", "ratings", Options(weights=weights))
    assert raw.frame["score"].to_list() == [12.0, 2.0, 0.0, 1.0, 10.0, 2.0, 0.0]


def test_outputs_are_a_test_set():
    raw = load_format(FILE, "google-mqm", "scores", Options(lp="en-de"))
    test_set = read_scores(raw)
    assert test_set.metrics == ()
    assert test_set.frame.select("lp", "system", "doc", "seg", "target").rows() == [
        ("en-de", "Alpha", "news one", "1", "Die Kätze 🐈 schläft."),
        ("en-de", "Beta", "news one", "1", "Die Katze 🐈 ruht."),
        ("en-de", "Beta", "news two", "2", "Es regnet Katzen."),
        ("en-de", "Alpha", "news two", "2", "בלה בלה"),
        ("en-de", "Alpha", "news two", "3", "Halt an."),
        ("en-de", "Beta", "news two", "3", "Halt."),
    ]
    assert read_ratings(load_format(FILE, "google-mqm", "ratings"), test_set).frame.height == 7
    assert raw.lines([1, 5]) == [5, 9]


def test_texts_that_differ_are_counted(tmp_path: Path):
    raw = load(tmp_path / "a.tsv", line(target="x"), line(target="y"), kind="scores")
    assert raw.frame["target"].to_list() == ["x"]
    assert raw.notes == ("1 outputs have several texts; the first is used",)


def test_other_spellings_of_the_header(tmp_path: Path):
    header = ["System", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category",
              "severity", "metadata"]  # fmt: skip
    raw = load(tmp_path / "a.tsv", [*line(seg_id="17"), '{"timestamp": 1}'], line(), header=header)
    assert raw.frame.select("doc_seg", "seg", "metadata").rows() == [
        ("1", "17", '{"timestamp": 1}'),
        ("1", "1", None),
    ]
    raw = load(tmp_path / "a.tsv", [*line(), "99"], header=[*HEADER, "globalSegId"])
    assert raw.frame.select("seg", "globalSegId").rows() == [("1", "99")]


def test_columns_without_content_are_not_there(tmp_path: Path):
    raw = load(tmp_path / "a.tsv", line(doc="", doc_id="", rater=""))
    assert not {"doc", "doc_seg", "rater"} & set(raw.frame.columns)
    assert read_errors(raw).frame.height == 1


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ([line()[:8]], HEADER, "line 2: 8 fields where 9 are expected"),
        ([[*line(), "", ""]], HEADER, "line 2: 11 fields where 9 are expected"),
        ([line()[:9]], [*HEADER, "a", "b"], None),
        ([], [*HEADER[:7], "categroy", "severity"], "no 'category' .did you mean 'categroy'"),
        ([], [*HEADER, "start"], "'start' is the name of another column or of the marked span"),
        ([], [*HEADER, "System"], "'system' is the name of another column"),
    ],
)
def test_wrong_shapes(
    tmp_path: Path, rows: list[list[str]], header: list[str], message: str | None
):
    if message is None:
        assert load(tmp_path / "a.tsv", *rows, header=header).frame.height == 1
        return
    with pytest.raises(TableError, match=message):
        load(tmp_path / "a.tsv", *rows, header=header)


def test_wrong_values_point_to_their_lines(tmp_path: Path):
    rows = [line(), line(severity="Huge"), line(severity=""), line(category="", severity="")]
    with pytest.raises(TableError, match="line 3, column severity: severity 'Huge' has no weight"):
        load(tmp_path / "a.tsv", *rows[:2], kind="ratings")
    with pytest.raises(TableError) as caught:
        load(tmp_path / "a.tsv", *rows, kind="ratings")
    assert [(p.line, p.column) for p in caught.value.problems] == [
        (4, "severity"),
        (5, "category"),
        (5, "severity"),
    ]
    with pytest.raises(TableError, match="line 4, column severity: is empty"):
        read_errors(load(tmp_path / "a.tsv", *rows))


def test_reading_what_was_written_from_the_fixture(tmp_path: Path):
    first = read_errors(load_format(FILE, "google-mqm"))
    path = tmp_path / "out.tsv"
    assert save_format(first.frame, path, "google-mqm", "errors") == [path]
    again = read_errors(load_format(path, "google-mqm"))
    assert again.frame.equals(first.frame)
    assert again.notes == ()
    assert (
        path.read_text(encoding="utf-8").splitlines()[1] == FILE.read_text("utf-8").splitlines()[1]
    )


@st.composite
def annotations(draw: st.DrawFn) -> dict[str, object]:
    plain = TEXTS.filter(lambda text: "v>" not in text)
    source, target = draw(plain), draw(plain)
    row = {name: draw(NAMES) for name in ("system", "doc", "seg", "rater", "category", "severity")}
    row |= {"source": source or None, "target": target or None, "doc_seg": draw(NAMES)}
    row |= {"my notes": draw(TEXTS) or None, "side": None, "start": None, "end": None}
    if draw(st.booleans()):
        side = draw(st.sampled_from(["source", "target"]))
        length = len(source if side == "source" else target)
        start = draw(st.integers(0, length))
        row |= {"side": side, "start": start, "end": draw(st.integers(start, length))}
    return row


@given(st.lists(annotations(), min_size=1, max_size=5))
def test_there_and_back(tmp_path: Path, rows: list[dict[str, object]]):
    table = read_errors(pl.DataFrame(rows, infer_schema_length=None))
    save_format(table.frame, tmp_path / "out.tsv.gz", "google-mqm", "errors")
    again = read_errors(load_format(tmp_path / "out.tsv.gz", "google-mqm"))
    assert same(again.frame, table.frame)


ERROR = {"system": ["A"], "seg": ["1"], "category": ["Style"], "severity": ["Minor"]}


def test_the_fewest_columns(tmp_path: Path):
    frame = pl.DataFrame(ERROR)
    save_format(frame, tmp_path / "out.tsv", "google-mqm", "errors")
    again = load_format(tmp_path / "out.tsv", "google-mqm").frame
    assert again.select(frame.columns).equals(frame)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"target": ["a\tb"]}, "line 1, column target: a tab or line break cannot be written"),
        ({"category": ["a\nb"]}, "line 1, column category: a tab or line break cannot be written"),
        ({"notes": ["a\rb"]}, "line 1, column notes: a tab or line break cannot be written"),
        ({"source": ["a</v>b"]}, "line 1, column source: the text contains <v> or </v>"),
        ({"start": [0], "end": [3]}, "line 1, column start: the span 0 to 3 lies outside its text"),
        ({"start": [0], "end": [None]}, "a span needs both start and end"),
        ({"globalSegId": ["x"]}, "'globalSegId' would be taken for one of the format's own"),
        ({"a\tb": ["x"]}, "would be taken for one"),
    ],
)
def test_what_the_format_cannot_hold(tmp_path: Path, cells: dict[str, list[object]], message: str):
    with pytest.raises(TableError, match=message):
        save_format(pl.DataFrame({**ERROR, **cells}), tmp_path / "o.tsv", "google-mqm", "errors")
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_its_columns(tmp_path: Path):
    with pytest.raises(TableError, match="no 'severity'"):
        save_format(
            pl.DataFrame(ERROR).drop("severity"), tmp_path / "o.tsv", "google-mqm", "errors"
        )


def test_ted_errors_weigh_what_they_should(shared_data: Path, tmp_path: Path):
    errors = pl.read_parquet(shared_data / "ted_mqm_ende_errors.parquet")
    errors = errors.with_columns(pl.col("seg_id").cast(pl.String), doc_id=pl.lit(""))
    path = tmp_path / "ted.tsv"
    lines = ["\t".join(row) for row in [HEADER, *errors.select(HEADER).rows()]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ratings = read_ratings(load_format(path, "google-mqm", "ratings"), better="lower").frame
    scores = pl.read_parquet(shared_data / "ted_mqm_ende_scores.parquet")
    scores = scores.with_columns(pl.col("seg_id").cast(pl.String).alias("seg"))
    both = ratings.join(scores, on=["system", "doc", "seg", "rater"], how="inner")
    assert both.height == ratings.height == scores.height
    assert (both["score"] - both["mqm"]).abs().max() < 1e-5
    table = read_errors(load_format(path, "google-mqm"))
    assert table.frame["start"].drop_nulls().len() == 14 + 4017
    save_format(table.frame, tmp_path / "out.tsv", "google-mqm", "errors")
    assert same(read_errors(load_format(tmp_path / "out.tsv", "google-mqm")).frame, table.frame)
