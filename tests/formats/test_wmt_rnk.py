from __future__ import annotations

from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.answers import read_judgments
from formats.line_texts import FIXTURES, WILD_NAMES, same

HEADER = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,"
    "system2Id,system1rank,system2rank"
)
FILE = FIXTURES / "wmt12_rnk.txt"


def load(path: Path, *lines: str, **options: str):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return load_format(path, "wmt-rnk", options=Options(**options))


def test_all_pairs_of_a_screen_blanks_left_out():
    raw = load_format(FILE, "wmt-rnk")
    judgments = read_judgments(raw)
    assert judgments.frame.columns == ["set", "seg", "rater", "left", "right", "winner", "lp"]
    assert judgments.frame.select("left", "right", "winner").rows() == [
        ("Alpha", "Beta", "left"),
        ("Alpha", "Gamma", "left"),
        ("Alpha", "Delta", "left"),
        ("Alpha", "Epsilon", "left"),
        ("Beta", "Gamma", "tie"),
        ("Beta", "Delta", "left"),
        ("Beta", "Epsilon", "left"),
        ("Gamma", "Delta", "left"),
        ("Gamma", "Epsilon", "left"),
        ("Delta", "Epsilon", "right"),
        ("Alpha", "Beta", "tie"),
    ]
    assert judgments.frame.select("set", "seg", "rater", "lp").unique(
        maintain_order=True
    ).rows() == [
        ("1", "7", "ann", "Czech-English"),
        ("3", "9", "bob", "English-Czech"),
    ]
    assert judgments.notes == ("2 outputs were left unranked; their 3 pairs are left out",)
    assert raw.lines([0, 9, 10]) == [2, 2, 4]


def test_blanks_as_if_best():
    judgments = read_judgments(load_format(FILE, "wmt-rnk", options=Options(blanks="best")))
    rows = judgments.frame.filter(pl.col("set") == "2").select("left", "right", "winner").rows()
    assert rows == [
        ("Alpha", "Gamma", "right"),
        ("Alpha", "Beta", "right"),
        ("Gamma", "Beta", "tie"),
    ]
    assert judgments.notes == ("2 outputs were left unranked and count as ranked best",)


def test_one_language_pair():
    raw = load_format(FILE, "wmt-rnk", options=Options(lp="English-Czech"))
    assert raw.frame.height == 1
    assert raw.lines([0]) == [4]


def test_documents_segments_and_the_index_beside_them(tmp_path: Path):
    raw = load(tmp_path / "a.csv", HEADER, "cs,en,12,d1,3,ann,1,A,2,B,2,1")
    assert read_judgments(raw).frame.rows(named=True) == [
        {"set": "1", "doc": "d1", "seg": "3", "rater": "ann", "left": "A", "right": "B",
         "winner": "right", "lp": "cs-en", "srcIndex": "12"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["srclang,trglang\n"], "no 'srcindex'; expected srclang, trglang"),
        (
            [HEADER, "cs,en,1,-1,-1,ann,1,A,2,B,2"],
            "line 2: 11 cells where the header has 12; check this line for a",
        ),
        (
            [HEADER, "cs,en,1,-1,-1,ann,1,A,2,B,2,first"],
            "line 2, column system2rank: 'first' is no",
        ),
        (
            [HEADER, "cs,en,1,-1,-1,ann,1,A,2,B,0,1"],
            "line 2, column system1rank: '0' is not a rank",
        ),
        ([HEADER, "cs,en,1,-1,-1,ann,1,,2,B,2,1"], "line 2, column system1id: is empty, but has"),
        ([HEADER + ",TrgLang"], "has 'trglang' twice"),
    ],
)
def test_wrong_files(tmp_path: Path, lines: list[str], message: str):
    with pytest.raises(TableError, match=message):
        load(tmp_path / "a.csv", *lines)


def test_wrong_tables_point_to_their_lines(tmp_path: Path):
    with pytest.raises(TableError, match="line 3, column right: 'A' is compared with itself"):
        read_judgments(load(tmp_path / "a.csv", HEADER, "", "cs,en,1,-1,-1,ann,1,A,2,A,2,1"))
    with pytest.raises(TableError, match="no rows"):
        read_judgments(load(tmp_path / "a.csv", HEADER, "cs,en,1,-1,-1,ann,1,A,2,B,-1,-1"))
    with pytest.raises(TableError, match="no rows"):
        read_judgments(load(tmp_path / "a.csv", HEADER))


SYSTEMS = st.lists(WILD_NAMES, min_size=2, max_size=5, unique=True)
FIELD = WILD_NAMES.filter(lambda text: text != "-1")
SCREENS = st.lists(
    st.tuples(SYSTEMS, st.lists(st.integers(1, 5), min_size=5, max_size=5), FIELD, FIELD, FIELD),
    min_size=1,
    max_size=4,
)


@given(SCREENS)
def test_there_and_back(tmp_path: Path, screens):
    rows = []
    for number, (systems, ranks, doc, seg, rater) in enumerate(screens):
        ranked = dict(zip(systems, ranks, strict=False))
        for a, b in combinations(systems, 2):
            won = "left" if ranked[a] < ranked[b] else "right" if ranked[a] > ranked[b] else "tie"
            rows.append((f"s{number}", doc, seg, rater, a, b, won, "en-zh-Hans"))
    names = ["set", "doc", "seg", "rater", "left", "right", "winner", "lp"]
    table = read_judgments(pl.DataFrame(rows, schema=names, orient="row"))
    path = tmp_path / "out.csv"
    assert save_format(table.frame, path, "wmt-rnk", "judgments") == [path]
    assert same(read_judgments(load_format(path, "wmt-rnk")).frame, table.frame)


def test_reading_what_was_written_from_the_fixture(tmp_path: Path):
    first = load_format(FILE, "wmt-rnk", options=Options(blanks="best")).frame
    save_format(first, tmp_path / "out.csv", "wmt-rnk", "judgments")
    again = load_format(tmp_path / "out.csv", "wmt-rnk")
    assert same(again.frame, first)
    assert again.notes == ()


def test_judgments_without_sets_become_lines_of_two(tmp_path: Path):
    frame = pl.DataFrame(
        {"left": ["A", "B", "C"], "right": ["B", "C", "A"], "winner": ["left"] * 3}
    )
    save_format(frame, tmp_path / "out.csv", "wmt-rnk", "judgments", Options(lp="en-de"))
    again = load_format(tmp_path / "out.csv", "wmt-rnk").frame
    assert again.select(frame.columns).equals(frame)
    assert again["set"].to_list() == ["1", "2", "3"]
    assert set(again["lp"]) == {"en-de"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("AB< BC< CA<", "line 1, column set: set 's' is not a ranking: .* contradicts"),
        ("AB= BC= AC<", "set 's' is not a ranking: 'A' against 'C' contradicts|is not a ranking"),
        ("AB< BC<", "set 's' has 2 of the 3 pairs of its 3 systems; add the others, or leave out"),
        ("AB< BA<", "set 's' judges a pair of systems twice"),
        ("AB< AC< AD< AE< AF<", "set 's' has 6 systems, a line holds 5"),
    ],
)
def test_sets_that_are_no_ranking(tmp_path: Path, pairs: str, message: str):
    words = pairs.split()
    frame = pl.DataFrame(
        {
            "set": ["s"] * len(words),
            "left": [word[0] for word in words],
            "right": [word[1] for word in words],
            "winner": ["left" if word[2] == "<" else "tie" for word in words],
        }
    )
    with pytest.raises(TableError, match=message):
        save_format(frame, tmp_path / "out.csv", "wmt-rnk", "judgments")
    assert list(tmp_path.iterdir()) == []


def test_sets_of_several_segments_and_odd_language_pairs(tmp_path: Path):
    frame = pl.DataFrame(
        {"set": ["s", "s", "s"], "seg": ["1", "1", "2"], "left": ["A", "A", "B"],
         "right": ["B", "C", "C"], "winner": ["left"] * 3}
    )  # fmt: skip
    with pytest.raises(TableError, match="set 's' has several values of seg"):
        save_format(frame, tmp_path / "out.csv", "wmt-rnk", "judgments")
    one = pl.DataFrame({"left": ["A"], "right": ["B"], "winner": ["tie"], "lp": ["-de"]})
    with pytest.raises(TableError, match="language pair '-de'; write it as SOURCE-TARGET"):
        save_format(one, tmp_path / "out.csv", "wmt-rnk", "judgments")


def test_wmt12_pairs_from_its_rankings(shared_data: Path, tmp_path: Path):
    text = pl.col("lp", "judge", "system").cast(pl.String)
    cells = pl.read_parquet(shared_data / "wmt12_rankings.parquet").with_columns(text)
    screens = cells.sort("ranking", "slot").group_by(
        "lp", "ranking", "segment", "judge", maintain_order=True
    )
    lines = [_five()]
    for lp, _, segment, judge, systems, ranks in screens.agg("system", "rank").rows():
        numbered = [cell for system in systems for cell in ("0", system)]
        lines.append(
            ",".join([*lp.split("-"), str(segment), "-1", "-1", judge, *numbered, *map(str, ranks)])
        )
    path = tmp_path / "wmt12.RNK_results.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = pl.read_parquet(shared_data / "wmt12_pairs.parquet")
    key = ["lp", "system1", "system2", "outcome"]
    pairs = pairs.with_columns(pl.col(key).cast(pl.String))
    outcome = pl.col("winner").replace({"left": "<", "right": ">", "tie": "="}).alias("outcome")
    for blanks, wanted in (("best", pairs), ("drop", pairs.filter(~pl.col("has_blank")))):
        read = read_judgments(load_format(path, "wmt-rnk", options=Options(blanks=blanks)))
        found = read.frame.rename({"left": "system1", "right": "system2"}).with_columns(outcome)
        counts = [frame.group_by(key).len().sort(key) for frame in (found, wanted)]
        assert counts[0].equals(counts[1])
        assert read.notes[0].startswith("355 outputs were left unranked")


def _five() -> str:
    systems = [f"system{k}{part}" for k in range(1, 6) for part in ("Number", "Id")]
    ranks = [f"system{k}rank" for k in range(1, 6)]
    return ",".join(["srclang,trglang,srcIndex,documentId,segmentId,judgeId", *systems, *ranks])
