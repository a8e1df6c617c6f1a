"""MXLIFF: times, users and suggestions of Phrase."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_edits

FIXTURE = Path(__file__).parent / "fixtures" / "edits.mxliff"


def test_edits() -> None:
    raw = load_format(FIXTURE, "mxliff", None, Options(system="Alpha"))
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Alpha"],
            "doc": ["tea.docx"] * 2,
            "seg": ["job:0", "job:1"],
            "editor": ["ann", "bo 🎯"],
            "source": ["The tea is hot", "Drink {1}slowly{2}"],
            "mt": ["Die Tee ist heiß", "اشرب"],
            "edited": ["Der Tee ist heiß 🍵", 'اشرب {1}"ببطء"{2}'],
            "seconds": [3.75, None],
        }
    )
    assert_frame_equal(read_edits(raw).frame, expected)
    assert raw.lines([0, 1]) == [7, 15]
    assert raw.notes == (
        "units without a machine translation left out: 1",
        "untouched units (not confirmed, no editing time) left out: 1",
    )


def test_the_origin_names_the_system_and_options_the_editor() -> None:
    frame = load_format(FIXTURE, "mxliff", None, Options(editor="Cy")).frame
    assert frame["system"].to_list() == ["machine-trans", "memsource-mt"]
    assert frame["editor"].to_list() == ["Cy", "Cy"]


def test_without_a_list_of_users_the_name_itself_is_the_editor(tmp_path: Path) -> None:
    path = tmp_path / "x.mxliff"
    content = re.sub(r"<m:user .*?/>", "", FIXTURE.read_text("utf-8"))
    path.write_text(re.sub('modified-by="[^"]*"', 'modified-by="anna"', content), "utf-8")
    frame = load_format(path, "mxliff", None, Options(system="Alpha")).frame
    assert frame["editor"].to_list() == ["anna", "anna"]
    given = load_format(path, "mxliff", None, Options(system="Alpha", editor="Cy")).frame
    assert given["editor"].to_list() == ["Cy", "Cy"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (">1500<", ">-1<", "line 7, column thinking-time: expected milliseconds, found '-1'"),
        (">2250<", ">2.5<", "line 7, column editing-time: expected milliseconds, found '2.5'"),
        ('username="ann"', "", "line 7, column editor: the file does not name the editor"),
        ("memsource.com", "example.org", "line 2: expected the namespace http://www.memsource"),
        ("<alt-trans", "<other", "is not well-formed"),
    ],
)
def test_faulty_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "x.mxliff"
    path.write_text(FIXTURE.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(TableError, match=message):
        load_format(path, "mxliff")


def test_no_suggestions(tmp_path: Path) -> None:
    path = tmp_path / "x.mxliff"
    path.write_text(FIXTURE.read_text("utf-8").replace("alt-trans", "m:other"), "utf-8")
    with pytest.raises(TableError, match="export the job with its suggestions"):
        load_format(path, "mxliff")
