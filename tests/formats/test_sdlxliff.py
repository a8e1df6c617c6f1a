"""SDLXLIFF: segments in units, and the history that Trados keeps of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_edits

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"
 xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" sdl:version="1.0">"""
UNIT = """
<trans-unit id="u1"><source>Tea is hot. <g id="5">Drink</g> &amp; go.</source>
 <seg-source><mrk mtype="seg" mid="1">Tea is hot.</mrk> <mrk mtype="seg" mid="2"><g id="5">Drink</g>
 &amp; go.</mrk></seg-source>
 <target><mrk mtype="seg" mid="1">Tee ist heiß.</mrk> <mrk mtype="seg" mid="2"><g id="5">Trink</g>
 &amp; geh<x id="6"/>.</mrk></target>
 {alternatives}
 <sdl:seg-defs>
  <sdl:seg id="1" conf="Translated" origin="nmt" origin-system="Alpha">
   <sdl:value key="last_modified_by">ann</sdl:value></sdl:seg>
  <sdl:seg id="2" conf="Translated" origin="interactive">
   <sdl:prev-origin origin="nmt" origin-system="Alpha"/>
   <sdl:value key="last_modified_by">ann</sdl:value></sdl:seg>
 </sdl:seg-defs></trans-unit>
<trans-unit id="u2" translate="no"><source>***</source></trans-unit>"""
ALTERNATIVES = """<alt-trans origin="nmt" mid="2"><target>Trinke &amp; gehe.</target></alt-trans>"""


def _write(tmp_path: Path, alternatives: str = ALTERNATIVES, *, docs: int = 1) -> Path:
    path = tmp_path / "x.sdlxliff"
    body = UNIT.replace("{alternatives}", alternatives)
    files = [f'<file original="d{k}.docx"><body>{body}</body></file>' for k in range(docs)]
    path.write_text(HEAD + "".join(files) + "</xliff>", encoding="utf-8")
    return path


def test_segments_with_their_machine_translation(tmp_path: Path) -> None:
    frame = read_edits(load_format(_write(tmp_path, docs=2), "sdlxliff")).frame
    assert frame["doc"].to_list() == ["d0.docx"] * 2 + ["d1.docx"] * 2
    assert frame.select("system", "seg", "editor", "mt", "edited").rows()[:2] == [
        ("Alpha", "1", "ann", "Tee ist heiß.", "Tee ist heiß."),
        ("Alpha", "2", "ann", "Trinke & gehe.", "Trink\n & geh."),
    ]
    assert frame["source"][1] == "Drink\n & go."


def test_lost_machine_translations_are_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="machine translation is not in the file"):
        load_format(_write(tmp_path, ""), "sdlxliff")


def test_segments_no_machine_made_are_counted(tmp_path: Path) -> None:
    path = _write(tmp_path, "")
    text = path.read_text("utf-8").replace(
        '<sdl:prev-origin origin="nmt" origin-system="Alpha"/>', '<sdl:prev-origin origin="tm"/>'
    )
    path.write_text(text, "utf-8")
    raw = load_format(path, "sdlxliff", None, Options(system="Beta", editor="Cy"))
    assert raw.frame.select("system", "editor").rows() == [("Beta", "Cy")]
    assert raw.notes == ("segments without a machine translation left out: 1",)


def test_a_machine_further_back_is_found(tmp_path: Path) -> None:
    """A segment edited twice: the machine is the origin before the one before."""
    path = _write(tmp_path)
    old = '<sdl:prev-origin origin="nmt" origin-system="Alpha"/>'
    nested = f'<sdl:prev-origin origin="interactive">{old}</sdl:prev-origin>'
    path.write_text(path.read_text("utf-8").replace(old, nested), "utf-8")
    frame = read_edits(load_format(path, "sdlxliff")).frame
    assert frame.select("system", "seg", "mt").rows() == [
        ("Alpha", "1", "Tee ist heiß."),
        ("Alpha", "2", "Trinke & gehe."),
    ]
    text = path.read_text("utf-8").replace(ALTERNATIVES, "")
    path.write_text(text, "utf-8")
    with pytest.raises(TableError, match="machine translation is not in the file"):
        load_format(path, "sdlxliff")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sdl.com", "example.org", "expected the namespace http://sdl.com"),
        (' original="d0.docx"', "", "expected the document's name in original"),
        ('origin-system="Alpha"', "", "does not name the system"),
        ("last_modified_by", "modified_on", "does not name the editor"),
        ("sdl:seg-defs", "sdl:others", "no segment was translated by a machine"),
        ("<?xml", '<!DOCTYPE x [<!ENTITY a "b">]><?xml', "entities"),
    ],
)
def test_faulty_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = _write(tmp_path)
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(TableError, match=message):
        load_format(path, "sdlxliff")


def test_entities_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path)
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<xliff '
    path.write_text(path.read_text("utf-8").replace("<xliff ", bomb, 1), "utf-8")
    with pytest.raises(TableError, match="declares XML entities"):
        load_format(path, "sdlxliff")
