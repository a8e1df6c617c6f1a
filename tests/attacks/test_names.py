"""Names are data, in every output: shown, not obeyed; whole in files."""

from __future__ import annotations

import csv
import http.server
import io
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest
from lxml import etree
from lxml import html as lxml_html
from playwright.sync_api import Browser
from tests.attacks.names import HOSTILE
from tests.conftest import Ran

import assay
from assay.ranking.rank import Ranking
from assay.results import CONTROLS, visible
from assay.sampling.stability import summarise_stability
from assay.tables.load import column_names, load
from assay.tables.typed_files import save
from assay.views.figures import MAX_TICK
from assay.views.page import write_parts, write_report
from assay.views.section import MAX_WORD, cut_words

Run = Callable[..., Ran]


def judgments() -> pl.DataFrame:
    """Every system against its neighbours; the one that stands first wins more often."""
    pairs = [
        (left, right, "left" if turn else "right")
        for left, right in itertools.combinations(HOSTILE, 2)
        for turn in (1, 1, 0)
    ]
    return pl.DataFrame(pairs, schema=["left", "right", "winner"], orient="row")


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return assay.rank(assay.read_judgments(judgments()), ranges="sign", rng=1)


def shown_as(name: str) -> str:
    return " ".join(visible(cut_words(name)).split())


def test_there_are_forty_names() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) == 40


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".xlsx", ".jsonl", ".parquet", ".tsv.gz"])
def test_files_give_back_what_was_written(ending: str, tmp_path: Path) -> None:
    names = [name for name in HOSTILE if ending != ".xlsx" or len(name) < 32767]
    frame = pl.DataFrame({"system": names, "=cmd|x": ["'=quoted"] * len(names)})
    path = save(frame, tmp_path / f"t{ending}")
    back = load(path, text=lambda _: True).frame
    assert back["system"].to_list() == names
    assert back.columns == frame.columns == column_names(path)
    assert set(back["=cmd|x"]) == {"'=quoted"}


@pytest.mark.parametrize("ending", [".tsv", ".csv"])
def test_no_cell_of_a_text_table_is_a_formula(ending: str, tmp_path: Path) -> None:
    harmless = ["-3", "+4.5e3", "- Yes, she said.", "a=b"]
    path = save(pl.DataFrame({"system": [*HOSTILE, *harmless]}), tmp_path / f"t{ending}")
    text = path.read_text("utf-8")
    cells = [row[0] for row in csv.reader(io.StringIO(text), delimiter="\t,"[ending == ".csv"])]
    assert not [cell for cell in cells if cell[:1] in "=@+-" and cell not in harmless]
    assert set(harmless) <= set(cells)


def test_a_workbook_has_no_formula(tmp_path: Path) -> None:
    path = save(pl.DataFrame({"system": list(HOSTILE)}), tmp_path / "t.xlsx")
    with ZipFile(path) as book:
        sheet = etree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        assert not [part for part in book.namelist() if "external" in part.lower()]
    assert not [node for node in sheet.iter() if etree.QName(node).localname in ("f", "hyperlink")]


def test_a_terminal_is_shown_names_and_obeys_none(
    run_assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(judgments(), "judgments.tsv")
    words = ("rank", "judgments.tsv", "--ranges", "sign", "--seed", "1")
    ran = run_assay(*words)
    assert ran.code == 0, ran.err
    assert not CONTROLS.search(ran.out + ran.err)
    flat = "".join(ran.out.split())
    assert all("".join(shown_as(name).split())[:30] in flat for name in HOSTILE)
    assert max(map(len, ran.out.split())) <= MAX_WORD + 20
    ran = run_assay(*words, "--json")
    assert not CONTROLS.search(ran.out)
    assert {item["system"] for item in json.loads(ran.out)["systems"]} == set(HOSTILE)
    ran = run_assay(*words, "--exclude", "no\x1b]52;c;AA\x07such")
    assert ran.code == 2
    assert not CONTROLS.search(ran.err)


def test_a_page_has_names_and_nothing_else_of_them(ranking: Ranking, tmp_path: Path) -> None:
    page = write_report(ranking, tmp_path / "r.html", title=HOSTILE[20]).read_text("utf-8")
    assert not CONTROLS.search(page)
    tree = lxml_html.fromstring(page)
    assert not tree.xpath("//img | //iframe | //object | //*[@onload or @onerror]")
    assert len(tree.xpath("//script")) == 1  # the page's own, which the policy names by its digest
    assert all(link.startswith(("#", "data:")) for link in tree.xpath("//@href | //@src"))
    cells = {" ".join(cell.text_content().split()) for cell in tree.xpath("//th[@scope='row']")}
    assert {shown_as(name) for name in HOSTILE} <= cells
    assert f"{'long' * 100}" not in page


def test_markdown_and_latex_have_names_as_text(ranking: Ranking, tmp_path: Path) -> None:
    text = write_report(ranking, tmp_path / "r.md").read_text("utf-8")
    assert not CONTROLS.search(text)
    for sign in ("<script", "](", "![", "**bold"):
        assert not re.search(rf"(?<!\\){re.escape(sign)}", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows[:42]}
    assert len(widths) == 1
    text = write_report(ranking, tmp_path / "r.tex").read_text("utf-8")
    assert not CONTROLS.search(text)
    assert not re.search(r"\\(input|write|immediate|frac)\b", text)
    allowed = r"\\(?:text\w+|section|begin|end|caption|centering|toprule|midrule|bottomrule)\b"
    assert r"\_e\textasciicircum{}f" in text
    assert re.search(allowed, text)


def test_a_signature_keeps_its_span_of_code(tmp_path: Path) -> None:
    world, name = assay.simulate(documents=10, systems=2, rng=1), "x` <b>``y"
    scores = assay.read_scores(world.test_set.frame.rename({"neural": name}), metrics=[name])
    draws = assay.stability(
        {"one": scores}, designs=["segments"], budget="30%", metric=name, draws=3, rng=1
    )
    result = summarise_stability(draws, metric=name)
    assert name in result.signature
    text = write_report(result, tmp_path / "r.md").read_text("utf-8")
    assert f"Signature: ``` {result.signature} ```" in text


@pytest.mark.parametrize("sign", ["\r", "\n", "\x0b", "\x0c", "\x85", "\u2028"])
def test_a_title_stays_in_its_comment(sign: str, ranking: Ranking, tmp_path: Path) -> None:
    title = rf"Results{sign}\input{{/etc/passwd}}"
    text = write_report(ranking, tmp_path / "r.tex", title=title).read_bytes().decode()
    assert re.split("[\r\n\x0b\x0c\x85\u2028]", text)[0].endswith("need XeLaTeX")


def test_parts_are_well_formed(ranking: Ranking, tmp_path: Path) -> None:
    written = write_parts(ranking, tmp_path)
    drawings = [path for path in written if path.suffix == ".svg"]
    assert drawings
    for path in drawings:
        nodes = list(etree.parse(path, etree.XMLParser(resolve_entities=False)).iter())
        assert not [node for node in nodes if str(node.tag).endswith(("script", "image"))]
        texts = ["".join(node.itertext()) for node in nodes if str(node.tag).endswith("text")]
        assert max(map(len, texts)) <= 100
        assert any("longlong" in text and "…" in text and len(text) <= MAX_TICK for text in texts)
    tables = [path for path in written if path.suffix == ".csv"]
    named = [load(path, text=lambda _: True).frame for path in tables]
    assert any("system" in frame.columns and set(frame["system"]) == set(HOSTILE)
               for frame in named)  # fmt: skip
    for path in tables:
        rows = csv.reader(io.StringIO(path.read_text("utf-8")))
        assert not [
            cell for row in rows for cell in row if cell.startswith(("=", "@", "+c", "-2+"))
        ]


MEASURE = """() => {
  const root = document.documentElement;
  document.querySelectorAll('details').forEach(part => part.open = true);
  const wide = [...document.querySelectorAll('p, h1, h2, li, code, .wide, figure, summary')]
    .filter(e => e.getBoundingClientRect().right > root.clientWidth + 1).length;
  const hidden = [...document.querySelectorAll('.wide')]
    .filter(e => e.scrollWidth > e.clientWidth + 1).length;
  return {owned: window.owned || 0, wide: wide, hidden: hidden,
    over: root.scrollWidth - root.clientWidth, cells: document.querySelectorAll('td').length};
}"""


@contextmanager
def served(pages: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A server of these pages, and what was asked of it."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_a_browser_runs_nothing_asks_nothing_and_holds_everything(
    ranking: Ranking, tmp_path: Path, browser: Browser
) -> None:
    written = write_report(ranking, tmp_path / "r.html", title=HOSTILE[20]).read_bytes()
    with served({"/report.html": written}) as (address, asked):
        page = browser.new_page(viewport={"width": 1200, "height": 3000})
        page.goto(f"{address}/report.html")
        found = page.evaluate(MEASURE)
        page.close()
    assert found.pop("cells") > len(HOSTILE)
    assert found == {"owned": 0, "over": 0, "wide": 0, "hidden": 0}
    assert set(asked) <= {"/report.html", "/favicon.ico"}


def test_apostrophes_are_not_taken_away_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("system\tseg\ttarget\nA\t1\t'-ing' is a suffix\nA\t2\t'tis so\n")
    found = assay.read_scores(path)
    assert found.frame["target"].to_list() == ["-ing' is a suffix", "'tis so"]
    assert [note.code for note in found.notes] == ["apostrophes-removed"]
    assert "1 cell" in found.notes[0]
