from __future__ import annotations

from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_judgments
from formats.line_texts import FIXTURES

HEADER = (
    "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,"
    "rankingID"
)


def load(path: Path, *lines: str):
    path.write_text("".join(f"{line}\r\n" for line in lines), encoding="utf-8")
    return load_format(path, "wmt15-rnk")


def test_joined_systems_are_taken_apart():
    raw = load_format(FIXTURES / "wmt15_rnk.csv", "wmt15-rnk")
    judgments = read_judgments(raw)
    assert judgments.frame.select("left", "right", "winner").rows() == [
        ("Alpha", "Beta", "left"),
        ("Alpha", "Gamma", "left"),
        ("Alpha", "Delta", "tie"),
        ("Beta", "Delta", "right"),
        ("Gamma", "Delta", "right"),
    ]
    assert judgments.frame.select("set", "seg", "rater", "lp").unique().rows() == [
        ("1", "581", "judge1", "deu-eng")
    ]
    assert raw.lines(range(5)) == [2, 2, 3, 4, 4]
    assert judgments.notes == (
        "1 outputs shared by several systems: 4 lines give 6 judgments, and the 1 pairs of"
        " identical outputs, which were never judged, are left out",
        "1 outputs were left unranked; their 1 pairs are left out",
    )


def test_blanks_as_if_best():
    raw = load_format(FIXTURES / "wmt15_rnk.csv", "wmt15-rnk", options=Options(blanks="best"))
    assert raw.frame.row(-1, named=True)["winner"] == "left"
    assert raw.frame.height == 6


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER.replace("rankingID", "x"), "x"], "no 'rankingid'|cell"),
        (
            [HEADER, "de,en,1,1,j,A,1,B,2"],
            "line 2: 9 cells where the header has 10; check this line for a comma too few",
        ),
        ([HEADER, "de,en,1,1,j,A,1.5,B,2,1"], "line 2, column system1rank: '1.5' is not a rank"),
    ],
)
def test_wrong_files(tmp_path: Path, lines: list[str], message: str):
    with pytest.raises(TableError, match=message):
        load(tmp_path / "a.csv", *lines)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("de,en,1,1,j,A+B,1,B,2,1", "line 2, column right: 'B' is compared with itself"),
        ("de,en,1,1,j,A+,1,B,2,1", "line 2, column left: is empty"),
        ("de,en,1,1,j,,-1,B,2,1", "no rows"),
    ],
)
def test_wrong_tables_point_to_their_lines(tmp_path: Path, line: str, message: str):
    with pytest.raises(TableError, match=message):
        read_judgments(load(tmp_path / "a.csv", HEADER, line))


def test_wmt15_pairs_from_its_rankings(shared_data: Path, tmp_path: Path):
    text = pl.col("lp", "judge", "systems").cast(pl.String)
    cells = pl.read_parquet(shared_data / "wmt15_rankings.parquet").with_columns(text)
    cells = cells.filter(pl.col("lp").is_in(["de-en", "en-fi"]))
    screens = cells.sort("ranking", "slot").group_by(
        "lp", "ranking", "segment", "judge", maintain_order=True
    )
    lines = [HEADER]
    for lp, ranking, segment, judge, systems, ranks in screens.agg("systems", "rank").rows():
        shown = [name.replace("|", "+") for name in systems]
        for (a, i), (b, j) in combinations(zip(shown, ranks, strict=True), 2):
            start = [*lp.split("-"), segment, segment, judge]
            lines.append(",".join(map(str, [*start, a, i, b, j, ranking])))
    path = tmp_path / "wmt15.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_judgments(load_format(path, "wmt15-rnk", options=Options(blanks="best"))).frame
    key = ["lp", "system1", "system2", "outcome"]
    pairs = pl.read_parquet(shared_data / "wmt15_pairs.parquet").with_columns(
        pl.col(key).cast(pl.String)
    )
    wanted = pairs.filter(pl.col("lp").is_in(["de-en", "en-fi"]) & ~pl.col("same_output"))
    outcome = pl.col("winner").replace({"left": "<", "right": ">", "tie": "="}).alias("outcome")
    found = found.rename({"left": "system1", "right": "system2"}).with_columns(outcome)
    counts = [frame.group_by(key).len().sort(key) for frame in (found, wanted)]
    assert counts[0].equals(counts[1])
