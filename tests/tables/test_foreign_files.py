"""Files that people laid out for themselves: read right or asked about, never wrong in silence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from tests.tables.foreign_files import FILES, Made

from assay.cli import Reading
from assay.cli.reading import read_alone
from assay.errors import InputError
from assay.tables.guess import guess
from assay.tables.layout import labels_of
from assay.tables.load import load
from assay.tables.numerals import understood


def read(folder: Path, made: Made, said: Mapping[str, str]) -> tuple[dict[str, float], str]:
    """The mean of every system's scores, and all that was said on the way."""
    columns = ",".join(f"{name}={own}" for name, own in said.items()) or None
    files = [folder / name for name in made.files]
    test_set, ratings, alone = read_alone(files, Reading(columns=columns), better=None)
    assert alone
    assert not ratings.repeats.height
    means = ratings.frame.group_by("system").agg(pl.col("score").mean()).rows()
    return dict(means), "\n".join([*test_set.notes, *ratings.notes])


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_right_or_asked_about(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = FILES[name](tmp_path)
    if made.asks:
        with pytest.raises(InputError) as asked:
            read(tmp_path, made, {})
        assert made.asks in str(asked.value)
        if not made.answer:
            return
    means, notes = read(tmp_path, made, made.answer)
    assert means == pytest.approx(made.means)
    assert made.says in notes + capsys.readouterr().err


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    for name in ("a_title_above", "a_title_above_semicolons", "the_header_again"):
        (folder := tmp_path / name).mkdir()
        made = FILES[name](folder)
        raw = load(folder / made.files[0], text=lambda _: True)
        first = 4 if "title" in name else 2
        assert raw.lines([0, 5]) == [first, first + 5]


@pytest.mark.parametrize("words", [
    ["1,500", "2,250"],  # thousands, or decimals
    ["1.5", "2,5"], ["4/5", "3/6"], ["80%", "0.8"], ["12 s", "13 s"], ["3 - fair", "3 - good"] * 4,
    ["1. The first sentence.", "2. Another one."], ["", None],
])  # fmt: skip
def test_what_is_not_written_in_one_way_is_not_understood(words: list[str | None]) -> None:
    assert understood(pl.Series(words)) is None


def test_texts_that_look_like_totals_are_kept() -> None:
    rows = {"ID": [1, 2, 3], "Source": ["Summe", "Rest", "Total"], "DeepL": ["a b", "c", "Sum"]}
    frame = pl.DataFrame(rows)
    assert "DeepL" in str(guess(frame, kind="scores").questions[0])
    systems = pl.DataFrame({"Segment": [1, 1], "System": ["A", "Total"], "Score": [3, 4]})
    from assay.tables.layout import rows_alone
    from assay.tables.load import Raw

    assert rows_alone(Raw(frame, "x")).frame.height == 3
    assert rows_alone(Raw(systems, "x")).frame.height == 2


def test_names_of_files_that_differ_in_nothing_else() -> None:
    assert labels_of(["anna.xlsx", "annika.xlsx"]) == ["anna", "annika"]
    assert labels_of(["a/x.csv", "b/x.csv"]) == ["a/x.csv", "b/x.csv"]
    assert labels_of(["WMT DeepL 1.csv", "WMT Google 1.csv"]) == ["DeepL", "Google"]
