from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.answers import read_judgments
from formats.line_texts import FIXTURES, WILD_NAMES, WILD_TEXTS, same


def test_all_spellings_of_winners_and_own_columns():
    judgments = read_judgments(load_format(FIXTURES / "evalica.csv", "evalica"))
    assert judgments.frame.rows(named=True) == [
        {"left": "Alpha", "right": "Beta", "winner": "left", "weight": "1.5"},
        {"left": 'Gamma, the "third"', "right": "Beta", "winner": "tie", "weight": None},
        {"left": "Alpha", "right": "Beta", "winner": "right", "weight": "2"},
        {"left": "Beta", "right": "Alpha", "winner": "left", "weight": None},
    ]


def test_evalica_reads_what_is_written(tmp_path: Path):
    main = pytest.importorskip("evalica.__main__")
    frame = pl.DataFrame(
        {"set": ["1", "1", "2"], "left": ["A", 'B "x"', "C, c"], "right": ["D", "E", "F"],
         "winner": ["left", "right", "tie"]}
    )  # fmt: skip
    path = tmp_path / "out.csv"
    assert save_format(frame, path, "evalica", "judgments") == [path]
    with path.open(encoding="utf-8") as stream:
        left, right, winners = main.read_csv(stream)
    assert (left, right) == (["A", 'B "x"', "C, c"], ["D", "E", "F"])
    assert [int(winner) for winner in winners] == [1, 2, 0]


ROW = st.fixed_dictionaries(
    {
        "left": WILD_NAMES,
        "right": WILD_NAMES,
        "winner": st.sampled_from(["left", "right", "tie"]),
        "seg": WILD_NAMES,
        "my notes": WILD_TEXTS.map(lambda text: text or None),
    }
).filter(lambda row: row["left"] != row["right"])


@given(st.lists(ROW, min_size=1, max_size=5))
def test_there_and_back(tmp_path: Path, rows: list[dict[str, str]]):
    names = ["left", "right", "winner", "seg", "my notes"]
    table = read_judgments(pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)))
    save_format(table.frame, tmp_path / "out.csv.gz", "evalica", "judgments")
    again = read_judgments(load_format(tmp_path / "out.csv.gz", "evalica"))
    assert same(again.frame, table.frame)


def test_lp_is_added_or_chosen(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("left,right,winner\nA,B,tie\n")
    assert load_format(path, "evalica", options=Options(lp="en-de")).frame["lp"].to_list() == [
        "en-de"
    ]
    path.write_text("left,right,winner,lp\nA,B,tie,de-en\nA,B,left,en-de\n")
    raw = load_format(path, "evalica", options=Options(lp="en-de"))
    assert raw.frame["winner"].to_list() == ["left"]
    assert raw.lines([0]) == [3]
    with pytest.raises(ValueError, match=r"lp \(en-fr\) is not in .*choose from de-en, en-de"):
        load_format(path, "evalica", options=Options(lp="en-fr"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("left,rihgt,winner\nA,B,tie\n", "no 'right' .did you mean 'rihgt'.*found left, rihgt"),
        (
            "left,right,winner\nA,B\n",
            "line 2: 2 cells where the header has 3; check this line for a comma too few",
        ),
        (
            'left,right,winner\n"A\nB",C,tie\nA,B,won\n',
            "line 4, column winner: 'won' is not a winner",
        ),
        ('left,right,winner\nA,"B,tie\n', "line 2: quotation marks do not pair up"),
        ("left,left,winner\nA,B,tie\n", "has 'left' twice"),
    ],
)
def test_wrong_files(tmp_path: Path, content: str, message: str):
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(TableError, match=message):
        load_format(path, "evalica")


def test_a_missing_winner_points_to_its_line(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("left,right,winner\nA,B,tie\n\nA,B,\n")
    with pytest.raises(TableError, match="line 4, column winner: is empty"):
        read_judgments(load_format(path, "evalica"))
