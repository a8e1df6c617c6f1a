"""A whole evaluation by people with a browser: from a workbook to a report, no command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.campaign.browser.conftest import Open
from tests.campaign.browser.test_looks import violations
from tests.campaign.browser.test_making import enter, write_workbook

from assay.campaign.hub import Hub, open_hub
from assay.campaign.live.refresh import results_kept_current
from assay.campaign.web.server import serving

PUBLIC = "http://127.0.0.1:1"
MOST_SCREENS = 80


@pytest.fixture
def home(tmp_path: Path, context: BrowserContext) -> Iterator[tuple[Hub, str]]:
    """A server of no campaign yet, which keeps results current."""
    folder = tmp_path / "home"
    folder.mkdir()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(15_000)
    with (
        open_hub(folder, PUBLIC) as hub,
        serving(hub) as address,
        results_kept_current(hub, every=0.2),
    ):
        yield hub, address


def make(page: Page, workbook: Path) -> dict[str, str]:
    """Upload, correct a guess, plan, create; the links that were copied."""
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Tables or text files").set_input_files(workbook)
    page.get_by_label("Output (the translation)").select_option("Hypothesis text")
    expect(page.locator(".found")).to_contain_text("3 systems, 30 segments in 10 documents")
    page.get_by_label("Human-A").uncheck()
    expect(page.locator(".found")).to_contain_text("2 systems")
    page.get_by_label("Protocol").select_option("da")
    page.get_by_label("Raters", exact=True).fill("3")
    page.get_by_label("Pay", exact=True).fill("6")
    page.get_by_label("Budget", exact=True).fill("300")
    expect(page.locator(".plan .lead")).to_contain_text("300 EUR buys 48 ratings: 2 systems x 22")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_role("heading", name="Spring news is ready")).to_be_focused()
    page.get_by_role("button", name="Copy all").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Open now").click()
    page.get_by_text("The campaign is open: raters get tasks.").wait_for()
    page.get_by_role("link", name="Go to the campaign").click()
    return dict(line.split("\t") for line in copied.split("\n"))


def rate(browser: Browser, address: str, scores: str, most: int = MOST_SCREENS) -> int:
    """Work until there is no more, by keyboard; how many screens were sent."""
    own = browser.new_context(locale="en")
    own.set_default_timeout(15_000)
    page = own.new_page()
    page.goto(address)
    for sent in range(most):
        page.wait_for_selector("#send:visible, .message")
        if page.locator(".message").count():
            own.close()
            return sent
        assert "Alpha-7B" not in page.content()
        for number, slider in enumerate(page.locator("input[type=range]").all()):
            slider.focus()
            page.keyboard.type(scores.split()[number % len(scores.split())])
        turn = page.locator("main").get_attribute("data-turn")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(f"main:not([data-turn='{turn}'])")
    own.close()
    return most


def test_from_a_workbook_to_a_report_without_a_command_line(
    open_page: Open, home: tuple[Hub, str], tmp_path: Path, browser: Browser
) -> None:
    page = enter(open_page, home, "/campaigns", "text=No campaigns yet")
    links = make(page, write_workbook(tmp_path / "Spring_news.xlsx", 30, 3))
    assert {"rater-1", "rater-2", "rater-3", "Owner", "Viewer", "Join"} <= set(links)
    here = {who: link.replace(PUBLIC, home[1]) for who, link in links.items()}

    rate(browser, here["rater-1"], "82 61 90", 4)
    rate(browser, here["rater-2"], "75 66", 4)
    rate(browser, here["rater-3"], "50", 4)
    done = rate(browser, here["rater-1"], "82 61 90") + rate(browser, here["rater-2"], "75 66")
    assert done > 0
    expect(page.locator("ol.looks li.taken").first).to_contain_text("Look 1", timeout=60_000)
    expect(page.locator(".scores tbody tr")).to_have_count(2)

    page.locator(".tabs").get_by_role("link", name="Raters").click()
    page.wait_for_selector("html[data-ready]")
    page.locator("#exclude-3").click()
    page.locator("#dialog-exclude textarea").fill("gives 50 to everything")
    page.locator("#dialog-exclude").get_by_role("button", name="Exclude").click()
    page.wait_for_selector("tr.out #restore-3")
    page.locator(".tabs").get_by_role("link", name="Events").click()
    expect(page.locator(".events")).to_contain_text("gives 50 to everything")
    for who in ("rater-1", "rater-2"):  # what rater-3 had done goes to others
        rate(browser, here[who], "82 61 90")

    page.wait_for_selector("html[data-ready]")
    page.locator("#do-close").click()
    page.locator("#dialog-close textarea").fill("all of it is rated")
    page.locator("#dialog-close").get_by_role("button", name="Close for good").click()
    expect(page.locator(".pill")).to_have_text("closed")
    page.locator(".tabs").get_by_role("link", name="Results").click()
    expect(page.locator("[data-panel=results]")).to_contain_text(
        re.compile(r"The first (\d+) of \1 segments are complete"), timeout=60_000
    )
    page.get_by_role("link", name="Report").click()
    page.wait_for_selector("main h1")
    for _ in range(60):  # the result that knows of the closing is computed within seconds
        if "all of it is rated" in page.content():
            break
        page.wait_for_timeout(500)
        page.reload()
    said = page.content()
    for part in (
        "Alpha-7B", "Beta", "direct assessment", "closed", "How the answers were collected",
        "gives 50 to everything", "all of it is rated", "with them", "without them",
    ):  # fmt: skip
        assert part in said, part
    assert "Human-A" not in said
    assert violations(page) == []
