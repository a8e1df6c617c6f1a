"""Bilingual files as one text per segment, with what the tool says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

from assay.errors import InputError
from assay.formats.bilingual import Version, read_version, tool_format

X12 = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"{more}>{file}</xliff>'
FILE = (
    '<file original="d" source-language="en" target-language="de">{header}<body>{units}</body>'
    "</file>"
)


def _write(path: Path, units: str, *, more: str = "", header: str = "") -> Path:
    file = FILE.replace("{units}", units).replace("{header}", header)
    path.write_text(X12.replace("{more}", more).replace("{file}", file), "utf-8")
    return path


def _rows(version: Version, *names: str) -> list[tuple[object, ...]]:
    return [tuple(getattr(one, name) for name in names) for one in version.segments]


def test_states_of_plain_xliff(tmp_path: Path) -> None:
    units = "".join(
        f'<trans-unit id="{k}"{more}><source>S{k}.</source>{target}</trans-unit>'
        for k, (more, target) in enumerate([
            ("", '<target state="translated" phase-name="p">T</target>'),
            ("", '<target state="needs-translation" state-qualifier="mt-suggestion">T</target>'),
            ("", '<target state-qualifier="fuzzy-match">T</target>'),
            (' approved="yes"', "<target>T</target>"),
            (' approved="no"', ""),
            (' translate="no"', "<target>T</target>"),
        ])
    )  # fmt: skip
    header = (
        '<header><phase-group><phase phase-name="p" contact-name="ann"/></phase-group></header>'
    )
    version = read_version(_write(tmp_path / "a.xlf", units, header=header), "after")
    assert version.languages == ("en", "de")
    assert _rows(version, "seg", "target", "editor", "machine", "confirmed") == [
        ("0", "T", "ann", None, True),
        ("1", "T", "ann", True, False),
        ("2", "T", "ann", False, None),
        ("3", "T", "ann", None, True),
        ("4", "", "ann", None, False),
    ]


def test_phrase_and_memoq(tmp_path: Path) -> None:
    m = ' xmlns:m="http://www.memsource.com/mxlf/2.0"'
    header = "<header><m:user id='7' username='bob'/></header>"
    times = "<m:editing-stats><m:editing-time>1500</m:editing-time></m:editing-stats>"
    unit = (
        '<trans-unit id="u:1" m:confirmed="1" m:locked="true" m:trans-origin="mt"'
        f' m:modified-by="7"><source>S.</source><target>T.</target>{times}</trans-unit>'
    )
    path = _write(tmp_path / "a.mxliff", unit, more=m, header=header)
    names = ("editor", "seconds", "machine", "confirmed", "locked")
    assert _rows(read_version(path, "after"), *names) == [("bob", 1.5, True, True, True)]
    assert tool_format(path) == "mxliff"
    path.write_text(path.read_text("utf-8").replace("1500", "soon"), "utf-8")
    with pytest.raises(InputError, match="expected milliseconds in editing-time, found 'soon'"):
        read_version(path, "after")
    q = ' xmlns:mq="MQXliff"'
    unit = (
        '<trans-unit id="1" mq:status="ManuallyConfirmed" mq:lastchanginguser="cy"'
        ' mq:locked="locked"><source>S.</source><target>T.</target></trans-unit>'
    )
    path = _write(tmp_path / "a.mqxliff", unit, more=q)
    assert _rows(read_version(path, "after"), *names) == [("cy", None, None, True, True)]
    assert tool_format(path) == "xliff"


def test_xliff_2(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text(
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.1" version="2.1" srcLang="en"'
        ' trgLang="fr"><file id="f"><unit id="u"><segment id="1" state="final"><source>A</source>'
        '<target>B</target></segment><segment state="initial"><source>C</source></segment></unit>'
        '<unit id="v" translate="no"><segment><source>A</source></segment></unit></file></xliff>',
        "utf-8",
    )
    version = read_version(path, "after")
    assert version.languages == ("en", "fr")
    assert _rows(version, "seg", "source", "target", "confirmed") == [
        ("u/1", "A", "B", True),
        ("u/2", "C", "", False),
    ]
    assert tool_format(path) == "xliff2"


def test_what_tracked_changes_deleted_is_no_text(tmp_path: Path) -> None:
    unit = (
        '<trans-unit id="1"><source>S.</source><target>Ein <mrk mtype="x-sdl-deleted">altes</mrk>'
        '<mrk mtype="x-sdl-added">neues</mrk> Haus.</target></trans-unit>'
    )
    (segment,) = read_version(_write(tmp_path / "a.xlf", unit), "after").segments
    assert segment.target == "Ein neues Haus."


TMX = (
    '<tmx version="1.4"><header srclang="en"/><body><tu tuid="a"><tuv xml:lang="en"><seg>One <ph>x'
    '</ph>two.</seg></tuv><tuv xml:lang="de" changeid="ann"><seg>Eins zwei.</seg></tuv></tu>{more}'
    "</body></tmx>"
)


def test_tmx(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_text(TMX.replace("{more}", ""), "utf-8")
    version = read_version(path, "before")
    assert version.languages == ("en", "de")
    assert _rows(version, "seg", "source", "target", "editor") == [
        ("a", "One two.", "Eins zwei.", "ann")
    ]
    third = '<tu><tuv xml:lang="en"><seg>A</seg></tuv></tu>'
    path.write_text(TMX.replace("{more}", third), "utf-8")
    with pytest.raises(InputError, match="expected en and one other language, found en; export"):
        read_version(path, "before")
    path.write_text("<xliff/>", "utf-8")
    with pytest.raises(InputError, match="expected TMX, found the element xliff"):
        read_version(path, "before")


def test_text_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Eins.\n\nZwei.\n", "utf-8")
    assert _rows(read_version(path, "after"), "seg", "source", "target") == [
        ("1", None, "Eins."), ("2", None, ""), ("3", None, "Zwei."),
    ]  # fmt: skip
    path = tmp_path / "a.csv"
    path.write_text(
        "Segment no.,Source text,MT output,Final translation,Translator,Time (s)\n"
        "1,One.,Ein.,Eins.,Ann,2.5\n2,Two.,Zwei.,,Ann,\n", "utf-8",
    )  # fmt: skip
    assert _rows(read_version(path, "before"), "seg", "source", "target") == [
        ("1", "One.", "Ein."), ("2", "Two.", "Zwei."),
    ]  # fmt: skip
    assert _rows(read_version(path, "after"), "target", "editor", "seconds", "line") == [
        ("Eins.", "Ann", 2.5, 2), ("", "Ann", None, 3),
    ]  # fmt: skip
    path.write_text("English,Deutsch\nOne.,Eins.\n", "utf-8")
    with pytest.raises(InputError, match=r"no column is known to be the translation; .*English, D"):
        read_version(path, "before")
    columns = {"source": "English", "target": "Deutsch"}
    assert _rows(read_version(path, "before", columns), "seg", "target") == [("1", "Eins.")]
    with pytest.raises(InputError, match=r"is not a column of .* \(did you mean 'Deutsch'"):
        read_version(path, "before", {"target": "Deutsh"})
    path.write_text("source,target,seconds\nOne.,Eins.,soon\n", "utf-8")
    with pytest.raises(InputError, match="'soon' is not a number"):
        read_version(path, "after")


def test_files_without_a_segment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no segment to translate"):
        read_version(_write(tmp_path / "a.xlf", ""), "after")
    path = tmp_path / "a.sdlxliff"
    path.write_text("<html/>", "utf-8")
    with pytest.raises(InputError, match="expected an XLIFF file, found the element html"):
        read_version(path, "after")


def test_check_knows_the_format(tmp_path: Path, run_assay: Callable[..., Ran]) -> None:
    unit = (
        '<trans-unit id="1"><source>S.</source><target>T.</target><alt-trans origin="mt"><target>'
        "U.</target></alt-trans></trans-unit>"
    )
    path = _write(tmp_path / "a.xlf", unit)
    ran = run_assay("check", path, "--system", "A", "--editor", "ann")
    assert (ran.code, "a valid edits table with 1 row" in ran.out) == (0, True)


def test_edits_of_many_files_and_names(tmp_path: Path, run_assay: Callable[..., Ran]) -> None:
    """A workbook per translator, with other people's column names and no column of documents."""
    work = [(who, engine) for who in ("Ann", "Bob", "Cy") for engine in ("DeepL", "Google")]
    for k, (who, engine) in enumerate(work):
        pl.DataFrame({
            "Source text": [f"Text {k} {n} is here." for n in range(6)],
            "MT output": [f"txet {n} is here" for n in range(6)],
            "Final translation": [f"txet {n + n * k % 3} is here" for n in range(6)],
            "Translator": [who] * 6,
            "Engine": [engine] * 6,
            "Time (s)": [4.0 + n * k % 5 for n in range(6)],
        }).write_csv(tmp_path / f"job-{k}.csv")  # fmt: skip
    ran = run_assay("effort", tmp_path / "job-*.csv", "--rate", "€30", "--json")
    assert ran.code == 0, ran.err
    assert ran.err.count("read as edits; columns: system <- Engine") == 1
    assert '"currency": "€"' in ran.out
    (tmp_path / "a.csv").write_text("Source,Final\nx,y\n")
    ran = run_assay("effort", tmp_path / "a.csv")
    assert (ran.code, "Say it with --columns" in ran.err) == (2, True)
