"""From a workbook to raters at work, in the browser alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.campaign.browser.conftest import Open
from tests.campaign.browser.test_looks import sideways, violations

from assay.campaign.hub import Hub, open_hub
from assay.campaign.web.server import serving

WORDS = (
    "harbour",
    "captain",
    "crew",
    "port",
    "night",
    "storm",
    "sail",
    "letter",
    "window",
    "river",
)


def text(segment: int, system: int) -> str:
    chosen = (WORDS[(7 * segment + 3 * k + system) % len(WORDS)] for k in range(8))
    return f"{' '.join(chosen).capitalize()}."


def write_workbook(path: Path, segments: int, each: int) -> Path:
    """Outputs with other people's column names, in documents of so many segments each."""
    rows = [
        {
            "SentenceID": segment, "Model": name, "Article": f"a{segment // each:02}",
            "Quelle": f"Quelle {text(segment, 9)}", "Hypothesis text": text(segment, system),
            "COMET": 0.9 - system / 50 + segment / 9000, "src_chars": 40 + segment,
        }
        for segment in range(segments)
        for system, name in enumerate(("Alpha-7B", "Beta", "Human-A"))
    ]  # fmt: skip
    pl.DataFrame(rows).write_excel(path)
    return path


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    return write_workbook(tmp_path / "Spring_news.xlsx", 400, 10)


@pytest.fixture
def home(tmp_path: Path, context: BrowserContext) -> Iterator[tuple[Hub, str]]:
    folder = tmp_path / "home"
    folder.mkdir()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    with open_hub(folder, "http://127.0.0.1:1") as hub, serving(hub) as address:
        yield hub, address


def enter(open_page: Open, home: tuple[Hub, str], page: str, wait: str) -> Page:
    hub, address = home
    assert hub.keys is not None
    opened = open_page(f"{address}/r/{hub.keys.owner}", wait="h1, h2", allow="422")
    opened.goto(f"{address}{page}")
    opened.wait_for_selector(wait)
    return opened


def looks_well(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    assert violations(page) == []
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_person_without_a_command_line_makes_a_campaign(
    open_page: Open, home: tuple[Hub, str], workbook: Path
) -> None:
    page = enter(open_page, home, "/campaigns", "text=No campaigns yet")
    looks_well(page)
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Tables or text files").set_input_files(workbook)
    output = page.get_by_label("Output (the translation)")
    expect(output).to_have_attribute("aria-invalid", "true")
    assert (
        "choose the column with the outputs" in page.locator("#table .fault:visible").inner_text()
    )
    looks_well(page)
    output.select_option("Hypothesis text")
    expect(page.locator(".found")).to_have_text(
        "3 systems, 400 segments in 40 documents, with sources and outputs."
    )
    page.get_by_label("Human-A").uncheck()
    expect(page.locator(".found")).to_contain_text("2 systems, 400 segments")
    expect(page.get_by_label("Name of the campaign")).to_have_value("Spring news")

    page.get_by_label("Pay", exact=True).fill("0.48")
    page.get_by_label("Budget", exact=True).fill("300")
    lead = page.locator(".plan .lead")
    expect(lead).to_contain_text("300 EUR buys 625 ratings: 2 systems x 284 segments")
    page.get_by_label("Budget", exact=True).fill("150")
    expect(lead).to_contain_text("150 EUR buys 312 ratings: 2 systems x 142 segments")
    page.get_by_label("Budget", exact=True).fill("300")
    expect(lead).to_contain_text("284 segments")
    looks_well(page)
    page.get_by_label("Source language").fill("de")
    page.get_by_label("Target language").fill("not one")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_label("Target language")).to_be_focused()
    assert home[0].campaigns == {}
    page.get_by_label("Target language").fill("en")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_role("heading", name="Spring news is ready")).to_be_focused()
    looks_well(page)

    page.get_by_role("button", name="Copy all").click()
    copied = dict(
        line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").split("\n")
    )
    page.get_by_role("button", name="Copy link for rater-2").click()
    assert page.evaluate("navigator.clipboard.readText()") == copied["rater-2"]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.DictReader(Path(saved.value.path()).read_text("utf-8-sig").splitlines()))
    assert {row["who"]: row["link"] for row in rows} == copied
    page.get_by_role("link", name="All campaigns").click()
    expect(page.get_by_role("link", name="Spring news")).to_have_attribute("href", "/c/spring-news")
    expect(page.locator(".pill")).to_have_text("draft")
    looks_well(page)


def test_refused_files_are_named_and_the_keyboard_is_enough(
    open_page: Open, home: tuple[Hub, str], tmp_path: Path, workbook: Path
) -> None:
    page = enter(open_page, home, "/campaigns/new", "#files")
    bad, large = tmp_path / "page.csv", tmp_path / "large.csv"
    bad.write_text("<html></html>")
    with large.open("wb") as file:
        file.truncate(65 * 1024**2)
    files = page.get_by_label("Tables or text files")
    files.set_input_files([bad, large])
    fault = page.locator("#files-fault")
    expect(fault).to_contain_text("page.csv is neither a table nor a text in UTF-8")
    expect(fault).to_contain_text("large.csv is 65 MB; the limit is 64 MB")
    looks_well(page)
    files.set_input_files(workbook)
    page.get_by_label("Output (the translation)").focus()
    page.keyboard.type("Hypo")
    expect(page.locator(".found")).to_be_visible()
    expect(page.get_by_label("Output (the translation)")).to_be_focused()
    page.get_by_role("button", name="Create the campaign").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Spring news is ready").wait_for()


def test_without_the_servers_link_the_pages_hold_nothing(
    open_page: Open, home: tuple[Hub, str]
) -> None:
    for path in ("/campaigns", "/campaigns/new"):
        page = open_page(f"{home[1]}{path}", wait=".message", allow="401")
        assert page.locator("h1").inner_text() == "This page needs your link"
    assert httpx.get(f"{home[1]}/campaigns").status_code == 401
