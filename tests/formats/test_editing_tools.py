"""Files of editing tools: the same two documents in every format, and files not to be trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_edits

Run = Callable[..., Ran]

HEADS = {
    "xliff": '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
    "mxliff": '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"'
    ' xmlns:m="http://www.memsource.com/mxlf/2.0">',
    "sdlxliff": '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"'
    ' xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0">',
    "xliff2": '<xliff version="2.0" srcLang="en" trgLang="fr"'
    ' xmlns="urn:oasis:names:tc:xliff:document:2.0"'
    ' xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0">',
}
OLD = """<file original="{doc}"><body><trans-unit id="1"{attributes}>
 <source>Salt &amp; <g id="1">pepper</g> &lt;3</source>
 <target>Sel &amp; <g id="1">poivre</g><x id="2"/> &lt;3 caf&#233;</target>
 <alt-trans origin="machine-trans"><target>Sel <bpt id="3">&lt;b&gt;</bpt>et poivre</target>
 </alt-trans>{stats}</trans-unit></body></file>"""
BODIES = {
    "xliff": OLD.replace("{attributes}", "").replace("{stats}", ""),
    "mxliff": OLD.replace("{attributes}", ' m:confirmed="1" m:modified-by="ann"').replace(
        "{stats}",
        "<m:editing-stats><m:thinking-time>500</m:thinking-time>"
        "<m:editing-time>2000</m:editing-time></m:editing-stats>",
    ),
    "sdlxliff": """<file original="{doc}"><body><trans-unit id="u">
 <source>Salt &amp; <g id="1">pepper</g> &lt;3</source>
 <seg-source><mrk mtype="seg" mid="1">Salt &amp; <g id="1">pepper</g> &lt;3</mrk></seg-source>
 <target><mrk mtype="seg" mid="1">Sel &amp; <g id="1">poivre</g><x id="2"/> &lt;3 caf&#233;</mrk>
 </target><alt-trans origin="nmt" mid="1"><target>Sel <bpt id="3">&lt;b&gt;</bpt>et poivre</target>
 </alt-trans><sdl:seg-defs><sdl:seg id="1" origin="interactive"><sdl:prev-origin origin="nmt"/>
 </sdl:seg></sdl:seg-defs></trans-unit></body></file>""",
    "xliff2": """<file id="{doc}" original="{doc}"><unit id="1">
 <mtc:matches><mtc:match ref="#s" origin="MT"><source>Salt</source>
 <target>Sel <pc id="3">et poivre</pc></target></mtc:match></mtc:matches>
 <segment id="s"><source>Salt &amp; <pc id="1">pepper</pc> &lt;3</source>
 <target>Sel &amp; <pc id="1">poivre</pc><ph id="2"/> &lt;3 caf&#233;</target></segment>
 </unit></file>""",
}
FORMATS = sorted(HEADS)
WHO = Options(system="Alpha", editor="Ann")


def write(tmp_path: Path, name: str, *, doctype: str = "", entity: str = "") -> Path:
    path = tmp_path / f"x.{name}"
    files = "".join(BODIES[name].replace("{doc}", doc) for doc in ("salt.docx", "tea.docx"))
    files = files.replace("pepper", f"pepper{entity}")
    path.write_text(f'<?xml version="1.0"?>\n{doctype}{HEADS[name]}{files}</xliff>', "utf-8")
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_two_documents_with_tags_and_entities(tmp_path: Path, name: str) -> None:
    frame = read_edits(load_format(write(tmp_path, name), name, None, WHO)).frame
    assert frame["doc"].to_list() == ["salt.docx", "tea.docx"]
    assert set(frame["seg"]) == {"1"}
    assert frame.select("system", "editor", "source", "mt", "edited").unique().rows() == [
        ("Alpha", "Ann", "Salt & pepper <3", "Sel et poivre", "Sel & poivre <3 café")
    ]
    assert ("seconds" in frame.columns) == (name == "mxliff")
    if name == "mxliff":
        assert frame["seconds"].to_list() == [2.5, 2.5]


def bombs(secret: Path) -> dict[str, str]:
    """Declarations that would stand for endless text, for a file, or for a DTD elsewhere."""
    laughs = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))
    return {
        "billion laughs": f'<!DOCTYPE xliff [<!ENTITY a0 "ha">{laughs}<!ENTITY z "&a9;">]>',
        "external file": f'<!DOCTYPE xliff [<!ENTITY z SYSTEM "{secret.as_uri()}">]>',
        "parameter": f'<!DOCTYPE xliff [<!ENTITY % p SYSTEM "{secret.as_uri()}"> %p;'
        '<!ENTITY z "z">]>',
        "declared only": '<!DOCTYPE xliff [<!ENTITY z "z">]>',
    }


@pytest.mark.parametrize("kind", list(bombs(Path("/secret"))))
@pytest.mark.parametrize("name", FORMATS)
def test_bombs_and_external_entities_are_refused(
    tmp_path: Path, run_assay: Run, name: str, kind: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret")
    used = "" if kind == "declared only" else "&z;"
    path = write(tmp_path, name, doctype=bombs(secret)[kind], entity=used)
    with pytest.raises(TableError, match="declares XML entities") as caught:
        load_format(path, name, None, WHO)
    assert "the-secret" not in str(caught.value)
    ran = run_assay("effort", path, "--format", name, "--system", "A", "--editor", "E")
    assert ran.code == 2
    assert "declares XML entities" in ran.err
    assert "Traceback" not in ran.err
    assert "the-secret" not in ran.err + ran.out


@pytest.mark.parametrize("ending", ["xliff", "xlf"])
def test_kits_that_come_back_are_not_trusted_either(
    tmp_path: Path, run_assay: Run, ending: str
) -> None:
    key = tmp_path / "key.tsv"
    names = ("editor", "file", "id", "position", "doc", "seg", "system", "source", "mt")
    key.write_text("\t".join(names) + "\nE\tx\t1\t1\td\t1\tA\ts\tm\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret")
    bad = write(tmp_path, "xliff", doctype=bombs(secret)["external file"], entity="&z;")
    path = bad.rename(tmp_path / f"x.{ending}") if ending != "xliff" else bad
    ran = run_assay("kits", "collect", key, path, "-o", tmp_path / "edits.tsv")
    assert ran.code == 2
    assert "declares XML entities" in ran.err
    assert not (tmp_path / "edits.tsv").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_off_file_says_where(tmp_path: Path, run_assay: Run, name: str) -> None:
    path = write(tmp_path, name)
    path.write_text(path.read_text("utf-8")[:-60], "utf-8")
    ran = run_assay("effort", path, "--format", name, "--system", "A", "--editor", "E")
    assert ran.code == 2
    assert "is not well-formed XML" in ran.err
    assert "Traceback" not in ran.err
