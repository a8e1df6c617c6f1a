"""XLIFF 2.0: segments and the matches that belong to them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_edits

FIXTURE = Path(__file__).parent / "fixtures" / "edits2.xlf"
ANN = Options(editor="Ann")


def test_edits() -> None:
    raw = load_format(FIXTURE, "xliff2", None, ANN)
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Alpha MT"],
            "doc": ["tea.html"] * 2,
            "seg": ["u1", "u2/s2"],
            "editor": ["Ann"] * 2,
            "source": ["The tea 🍵", "Drink"],
            "mt": ["Die Tee", 'שתה "לאט"'],
            "edited": ["Der Tee 🍵", "שתה"],
        }
    )
    assert_frame_equal(read_edits(raw).frame, expected)
    assert raw.lines([0, 1]) == [9, 17]
    assert raw.notes == (
        "segments without a machine translation left out: 1",
        "segments without a target left out: 1",
    )


def test_options_name_the_system() -> None:
    frame = load_format(FIXTURE, "xliff2", None, Options(system="X", editor="Y")).frame
    assert frame["system"].to_list() == ["X", "X"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("matches:2.0", "other:2.0", "line 3: the machine translation is not in the file: XLIFF"),
        ('version="2.0"', 'version="1.2"', "expected XLIFF 2.x, found 1.2; read it as xliff"),
        ('id="f1" original="tea.html"', "", "line 4, column original: expected the document's"),
        ('origin="Alpha"', "", "line 9, column system: the file does not name the system"),
        ("<mtc:match ", "<mtc:other ", "not well-formed"),
    ],
)
def test_faulty_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "x.xlf"
    path.write_text(FIXTURE.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(TableError, match=message):
        load_format(path, "xliff2", None, ANN)


def test_a_match_of_a_unit_with_several_segments_must_say_which(tmp_path: Path) -> None:
    path = tmp_path / "x.xlf"
    path.write_text(FIXTURE.read_text("utf-8").replace('ref="#m1"', ""), "utf-8")
    assert load_format(path, "xliff2", None, ANN).frame["seg"].to_list() == ["u1"]


def test_the_editor_must_be_given() -> None:
    with pytest.raises(TableError, match="does not name the editor; give it with `editor`"):
        load_format(FIXTURE, "xliff2")
