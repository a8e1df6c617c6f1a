"""XLIFF 1.2: files read, tables there and back, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.formats.xliff import child, children, read_xml
from assay.tables.answers import read_edits
from assay.tables.load import conform

FIXTURE = Path(__file__).parent / "fixtures" / "edits.xlf"
SIGNS = st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff")
SIGNS |= st.sampled_from("\n\r\t\x7f<>&\"' ש😀\u2028\x85")
NAMES = st.sampled_from(["A", "TM", "MT", "tm", "a&b", 'x"y', " ", "ש\n"])
NAMES |= st.text(SIGNS, min_size=1, max_size=3)
TEXTS = st.text(SIGNS, max_size=8)


@st.composite
def edits(draw: st.DrawFn) -> pl.DataFrame:
    keys = draw(st.lists(st.tuples(*[NAMES] * 4), min_size=1, max_size=6, unique=True))
    for column in (0, 3):  # systems and editors: those spelled in two ways are refused
        names = {key[column] for key in keys}
        assume(len({"".join(name.split()).casefold() for name in names}) == len(names))
    rows: list[dict[str, Any]] = [
        dict(zip(("system", "doc", "seg", "editor"), key, strict=True))
        | {"source": draw(TEXTS.filter(bool) | st.none())}
        | {"mt": draw(TEXTS), "edited": draw(TEXTS)}
        | {
            "seconds": draw(
                st.floats(0, 1e9, allow_subnormal=False).map(lambda x: round(x, 9)) | st.none()
            )
        }
        | {"position": draw(st.integers(1, 10**9) | st.none())}
        for key in keys
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    drop = draw(st.sampled_from([[], ["seconds"], ["position"], ["source", "seconds"]]))
    optional = ("source", "seconds", "position")
    empty = [name for name in optional if frame[name].null_count() == frame.height]
    return frame.drop({*drop, *empty})


@given(edits())
def test_edits_there_and_back(tmp_path: Path, frame: pl.DataFrame) -> None:
    path = tmp_path / "x.xlf"
    assert save_format(frame, path, "xliff", "edits") == [path]
    found = read_edits(load_format(path, "xliff", "edits")).frame
    expected, _ = conform(frame, "edits")
    assert_frame_equal(found, expected, check_row_order=False, check_exact=True)


def test_what_is_written(tmp_path: Path) -> None:
    rows = [
        {"system": s, "doc": "tea", "seg": "1", "editor": e, "mt": "so", "edited": f"so {e}"}
        for s, e in (("A", "Ann"), ("B", "Ann"), ("A", "Bo"))
    ]
    path = tmp_path / "x.xlf.gz"
    save_format(pl.DataFrame(rows), path, "xliff", "edits", Options(lp="en-de"))
    files = list(children(read_xml(path), "file"))
    assert [file.get("original") for file in files] == ["tea"] * 3
    assert {(f.get("source-language"), f.get("target-language")) for f in files} == {("en", "de")}
    header = child(files[2], "header")
    assert header is not None
    assert [tool.get("tool-name") for tool in children(header, "tool")] == ["A"]
    assert [phase.get("contact-name") for phase in header.iter("{*}phase")] == ["Bo"]


def test_control_characters_are_not_written(tmp_path: Path) -> None:
    row = {"system": "A", "doc": "d", "seg": "1", "editor": "E", "mt": "a\x01", "edited": "\ufffe"}
    with pytest.raises(TableError) as caught:
        save_format(pl.DataFrame([row]), tmp_path / "x.xlf", "xliff", "edits")
    said = [(problem.line, problem.column, problem.message) for problem in caught.value.problems]
    assert said == [
        (1, "mt", "holds U+0001, which XML cannot; take it out"),
        (1, "edited", "holds U+FFFE, which XML cannot; take it out"),
    ]
    assert list(tmp_path.iterdir()) == []


def test_languages_must_be_two(tmp_path: Path) -> None:
    row = {"system": "A", "doc": "d", "seg": "1", "editor": "E", "mt": "a", "edited": "b"}
    with pytest.raises(OptionError, match="does not name two languages"):
        save_format(pl.DataFrame([row]), tmp_path / "x", "xliff", "edits", Options(lp="en"))


def test_a_file_from_elsewhere() -> None:
    raw = load_format(FIXTURE, "xliff")
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Beta"],
            "doc": ["tea.txt"] * 2,
            "seg": ["1", "2"],
            "editor": ["Ann", "Bo"],
            "source": ["The tea is hot 🍵", '"Drink" & rest'],
            "mt": ["Die Tee ist heiß", "kept לשתות"],
            "edited": ["Der Tee ist heiß 🍵", 'שתה\n"לאט"'],
        }
    )
    assert_frame_equal(read_edits(raw).frame, expected)
    assert raw.lines([0, 1]) == [14, 21]
    assert raw.notes == (
        "units without a machine translation left out: 2",
        "units without a target left out: 1",
    )


def test_options_name_system_and_editor() -> None:
    raw = load_format(FIXTURE, "xliff", None, Options(system="X", editor="Y"))
    assert raw.frame["system"].to_list() == ["X", "X"]
    assert raw.frame["editor"].to_list() == ["Y", "Y"]


def xliff(unit: str, *, original: str = 'original="d"', header: str = "") -> str:
    return (
        f'<xliff version="1.2"><file {original}>{header}\n<body>\n<trans-unit id="1">'
        f"<source>s</source><target>t</target>\n{unit}</trans-unit></body></file></xliff>"
    )


def alternative(attributes: str, text: str = "m") -> str:
    return f"<alt-trans {attributes}><target>{text}</target></alt-trans>"


def save(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "x.xlf"
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("unit", "system", "mt"),
    [
        (alternative('origin="engine"'), None, "m"),
        (alternative('origin="engine"') + alternative('origin="TM"', "no"), None, "m"),
        (alternative('origin="engine"', "no") + alternative('origin="my-mt"'), None, "m"),
        (alternative('tool="X"') + alternative('origin="mt"', "no"), "X", "m"),
        (alternative('origin="mt"', ""), None, ""),
    ],
)
def test_the_machines_alternative(tmp_path: Path, unit: str, system: str | None, mt: str) -> None:
    path = save(tmp_path, xliff(unit))
    raw = load_format(path, "xliff", None, Options(system=system, editor="E"))
    assert raw.frame["mt"].to_list() == [mt]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (xliff(alternative('origin="mt"')), 3, "does not name the editor; give it with `editor`"),
        (xliff(alternative("")), 3, "does not name the system; give it with `system`"),
        (xliff(alternative('origin="a"') + alternative('origin="b"')), 3, "2 alternatives may be"),
        (xliff(alternative('origin="mt"'), original=""), 1, "expected the document's name in orig"),
        (xliff(""), None, "the machine translation is not in the file .units without a machine"),
        ("<tmx version='1.4'/>", 1, "expected an xliff element, found tmx"),
        ("<xliff version='2.0'/>", 1, "expected XLIFF 1.x, found 2.0; read it as xliff2"),
        ("<xliff/>", 1, "expected XLIFF 1.x, found no version"),
        ("<xliff", 1, "is not well-formed XML"),
    ],
)
def test_other_files(tmp_path: Path, content: str, line: int | None, message: str) -> None:
    with pytest.raises(TableError, match=message) as caught:
        load_format(save(tmp_path, content), "xliff")
    assert caught.value.problems[0].line == line


def test_the_same_fault_is_told_once(tmp_path: Path) -> None:
    content = xliff(alternative('origin="mt"'))
    unit = re.search("(?s)<trans-unit.*</trans-unit>", content)
    assert unit is not None
    content = content.replace("</body>", unit.group() + "</body>")
    with pytest.raises(TableError) as caught:
        load_format(save(tmp_path, content), "xliff")
    assert len(caught.value.problems) == 1


def test_faults_found_by_the_checks_point_to_the_unit(tmp_path: Path) -> None:
    content = xliff(alternative('origin="mt"'))
    unit = re.search("(?s)<trans-unit.*</trans-unit>", content)
    assert unit is not None
    content = content.replace("</body>", "\n" + unit.group() + "</body>")
    raw = load_format(save(tmp_path, content), "xliff", None, Options(editor="E"))
    with pytest.raises(TableError, match="line 5, column editor: .* is already in line 3"):
        read_edits(raw)


def test_seconds_that_are_none(tmp_path: Path) -> None:
    content = xliff(alternative('origin="mt"')).replace(
        'id="1"', 'xmlns:a="urn:x-assay:edits" id="1" a:seconds="soon"'
    )
    raw = load_format(save(tmp_path, content), "xliff", None, Options(editor="E"))
    with pytest.raises(TableError, match="line 3, column seconds: 'soon' is not a number"):
        read_edits(raw)
