"""The way in and the way out: consent, a tutorial, the completion code."""

from __future__ import annotations

from tests.campaign.browser.answers import send
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.browser.test_looks import sideways, violations

from assay.campaign.exchange.export import tables_of
from assay.project.settings import Checks, Crowd, Forms, Raters


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
    assert "All done" in page.locator("h1").inner_text()
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


def test_the_organisers_words_are_shown_before_the_first_task(
    serve: Serve, open_page: Open
) -> None:
    files = {"words.md": "# News\nRate *strictly*."}
    served = serve("esa", systems=1, files=files, instructions="words.md")
    page = open_page(served.rater)
    assert page.locator("dialog em").inner_text() == "strictly"
    page.locator("dialog .primary").click()
    assert "Mark every error" in page.locator(".lead").inner_text()
    page.locator("input[type=range]").focus()
    page.keyboard.type("90")
    send(page)
    assert page.locator("dialog, .lead").count() == 0
    page.reload()
    page.wait_for_selector("#send:visible")
    assert page.locator("dialog").count() == 0


def test_questions_before_the_work(serve: Serve, open_page: Open) -> None:
    table = "question\tanswers\toptional\nIs German your first language?\tyes|no\t\n"
    table += "Which other languages do you speak?\t\tyes\nYour <b>field</b>?\t\t\n"
    served = serve("esa", files={"form.tsv": table}, forms=Forms(before="form.tsv"))
    page = open_page(served.rater)
    assert "first language" in page.locator(".gaps").inner_text()
    page.get_by_label("no", exact=True).check()
    page.locator(".gaps .go").click()
    page.keyboard.type("law")
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    page.reload()
    page.wait_for_selector("#send:visible")
    send(page)
    assert page.locator(".row").count() > 0
    rows = tables_of(served.campaign.collected())["forms"].select("question", "answer").rows()
    assert rows == [("Is German your first language?", "no"), ("Your <b>field</b>?", "law")]


def test_who_is_screened_out_or_comes_too_late_is_sent_back(serve: Serve, open_page: Open) -> None:
    columns = "source", "target", "low", "high"
    table = "\t".join(columns) + "\nGuten Tag.\tGood night.\t10\t40\n"
    crowd = Crowd(done="DONE-7", screened_out="https://platform.example/out", full="FULL-9")
    served = serve(
        "da", systems=1, files={"test.tsv": table}, checks=Checks(qualify="test.tsv"),
        crowd=crowd, raters=Raters(number=2, overlap="0%"),
    )  # fmt: skip
    page = open_page(served.rater, allow="409")
    page.locator("input[type=range]").focus()
    page.keyboard.type("95")
    send(page)
    assert page.locator(".message a").get_attribute("href") == "https://platform.example/out"
    assert "ended" in page.locator("h1").inner_text()
    page.close()  # the next link takes its cookie's place
    other = open_page(f"{served.url}/r/{served.tokens['rater-2']}")
    for score in ("20", "90", "90", "90", "90"):
        other.locator("input[type=range]").focus()
        other.keyboard.type(score)
        send(other)
    assert other.locator(".code").inner_text() == "DONE-7"
    other.close()
    late = open_page(f"{served.url}/r/{served.tokens['join']}", wait=".primary")
    late.locator(".primary").click()
    late.wait_for_selector(".code")
    assert late.locator(".code").inner_text() == "FULL-9"
