"""Edits of one and of several files, and how far an edit is from its translation."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, TableError
from assay.results import has_note
from assay.tables.answers import as_edits, edit_distance, join_edits, read_edits


def edits(segs: str, editor: str = "E", system: str = "A", **more: str) -> pl.DataFrame:
    rows = [
        {"system": system, "doc": "d", "seg": seg, "editor": editor, "mt": "a", "edited": "b"}
        | more for seg in segs
    ]  # fmt: skip
    return pl.DataFrame(rows)


def write(folder: Path, **tables: pl.DataFrame) -> list[tuple[Path, None]]:
    paths = []
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.tsv", separator="\t")
        paths.append((folder / f"{name}.tsv", None))
    return paths


def test_editors_come_in_the_order_of_the_file() -> None:
    found = read_edits(pl.concat([edits("12", "Zoe"), edits("34", "Ann"), edits("5", "Zoe")]))
    assert found.editors == ("Zoe", "Ann")
    assert as_edits(found) is found
    assert as_edits(found.frame).editors == found.editors


def test_empty_texts_are_texts(tmp_path: Path) -> None:
    ((path, _),) = write(tmp_path, x=edits("1", edited="").vstack(edits("2", mt="")))
    found = read_edits(path)
    assert found.frame.select("mt", "edited").rows() == [("a", ""), ("", "b")]
    (note,) = (note for note in found.notes if note.code == "empty-edits")
    assert "1 edited texts are empty (first: line 2)" in note


def test_several_files_are_one_table(tmp_path: Path) -> None:
    files = write(tmp_path, one=edits("12", time="9"), two=edits("34", "F", edited=""))
    found = join_edits(files)
    assert found.frame["seg"].to_list() == ["1", "2", "3", "4"]
    assert found.frame["time"].to_list() == ["9", "9", None, None]
    assert has_note(found.notes, "empty-edits")
    assert any(str(note).startswith(str(tmp_path / "two.tsv")) for note in found.notes)
    assert join_edits(files[:1]).frame.equals(read_edits(files[0][0]).frame)


def test_an_edit_of_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    files = write(tmp_path, one=edits("12"), two=edits("789"), three=edits("3829"))
    with pytest.raises(TableError) as refused:
        join_edits(files)
    said = [(problem.line, problem.message) for problem in refused.value.problems]
    assert [line for line, _ in said] == [3, 4, 5]
    for (_, message), place in zip(said, ("two.tsv, line 3", "one.tsv, line 3",
                                          "two.tsv, line 4"), strict=True):  # fmt: skip
        assert f"{place}; give each edit once" in message


def test_a_segment_has_one_source(tmp_path: Path) -> None:
    same = pl.concat([edits("1", source="ein  Haus"), edits("1", "F", source=" ein Haus\n")])
    assert len(read_edits(same)) == 2
    with pytest.raises(TableError, match="'ein Hund' is not the source that this segment has"):
        read_edits(pl.concat([edits("1", source="ein Haus"), edits("1", "F", source="ein Hund")]))
    files = write(tmp_path, one=edits("1", source="ein Haus"),
                  two=edits("1", "F", source="ein Hund"))  # fmt: skip
    with pytest.raises(InputError, match="'d', segment '1' has different sources in two files"):
        join_edits(files)


def levenshtein(a: str, b: str) -> int:
    """The textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@given(st.text("abé ", max_size=9), st.text("abé ", max_size=9))
def test_the_distance_is_the_textbooks(mt: str, edited: str) -> None:
    longer = max(len(mt), len(edited), 1)
    assert edit_distance(mt, edited) == pytest.approx(100 * levenshtein(mt, edited) / longer)
