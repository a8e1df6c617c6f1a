"""The way in and the way out: consent, a tutorial, the completion code."""

from __future__ import annotations

from tests.campaign.browser.answers import send
from tests.campaign.browser.conftest import Open, Serve

from assay.project.settings import Checks


def test_from_the_join_link_to_the_completion_code(serve: Serve, open_page: Open) -> None:
    files = {"consent.md": "# Consent\nWe *keep* your answers."}
    served = serve("esa", systems=1, files=files, consent="consent.md")
    address = f"{served.url}/r/{served.tokens['join']}?PROLIFIC_PID=p1"
    page = open_page(address, wait=".consent")
    assert page.locator(".consent em").inner_text() == "keep"
    begin = page.locator(".primary")
    assert begin.is_disabled()
    page.locator("#agree").check()
    begin.click()
    page.wait_for_selector("#send:visible")
    assert served.tokens["join"] not in page.url
    for _ in range(4):
        page.locator("input[type=range]").focus()
        page.keyboard.type("90")
        send(page)
    assert "that was all" in page.locator("h1").inner_text()
    assert len(page.locator(".code").inner_text()) == 8


def test_a_tutorial_says_what_a_good_answer_is(serve: Serve, open_page: Open) -> None:
    columns = "source", "target", "low", "high", "explanation"
    example = "Guten Tag.", "Good night.", "10", "40", "Day, not night."
    table = "\t".join(columns) + "\n" + "\t".join(example) + "\n"
    served = serve("esa", files={"tutorial.tsv": table}, checks=Checks(tutorial="tutorial.tsv"))
    page = open_page(served.rater)
    assert "Tutorial" in page.locator("h1").inner_text()
    page.locator("input[type=range]").focus()
    page.keyboard.type("85")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("dialog")
    assert "between 10 and 40" in page.locator("dialog").inner_text()
    assert "Day, not night." in page.locator("dialog").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector("main[data-turn='2']")
    assert "Tutorial" not in page.locator("h1").inner_text()
