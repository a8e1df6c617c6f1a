"""Pairwise, ranking and post-editing, by keyboard alone and by pointer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.campaign.browser.answers import ask, send, stored
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.served import FAMILY, Served


@pytest.mark.parametrize("pair", ["de-en", "en-ar"])
def test_pairwise(serve: Serve, open_page: Open, pair: str) -> None:
    served = serve("pairwise", pair, systems=2, outputs=2)
    page = open_page(served.rater)
    code_of = {output["label"]: output["code"] for output in task_of(served)["outputs"]}
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    send(page)
    [answer] = stored(served)
    assert (answer["winner"], answer["strength"]) == (code_of["B"], 3)
    page.locator(".verdict button").nth(1).click()
    page.locator(".comparison > textarea").fill("both fine")
    send(page, "click")
    answer = stored(served)[0]
    assert (answer["winner"], answer["reason"]) == (None, "both fine")


def task_of(served: Served) -> Any:
    return ask(served, "/api/next", method="POST", body={})


def test_ranking(serve: Serve, open_page: Open) -> None:
    served = serve("ranking", "en-ja", systems=3, outputs=3)
    page = open_page(served.rater)
    [codes] = task_of(served)["screens"]
    page.locator(".card input").first.focus()
    page.keyboard.type("211")
    assert page.locator(".order").inner_text() == "B = C > A"
    page.keyboard.press("Control+z")
    assert "the rank of C" in page.locator(".gaps").inner_text()
    page.locator(".card").nth(2).locator("label").nth(2).click()
    send(page)
    assert stored(served)[0]["ranks"] == dict(zip(codes, (2, 1, 3), strict=True))


@pytest.mark.parametrize("pair", ["de-en", "en-ar", "en-ja"])
def test_post_editing_keeps_the_text_and_the_work(serve: Serve, open_page: Open, pair: str) -> None:
    served = serve("post-edit", pair, systems=1)
    page = open_page(served.rater)
    page.clock.install()
    field = page.locator("textarea.edited")
    before = field.input_value()
    field.press("End")
    page.keyboard.type(f" ab1{FAMILY}!")
    page.keyboard.press("Backspace")
    assert page.locator(".diff ins").count() >= 1
    page.clock.run_for(100_000)
    page.keyboard.press("ArrowLeft")
    assert "(plus 0:40 idle, not counted)" in page.locator(".summary").inner_text()
    page.keyboard.press("Control+Enter")
    with page.expect_request("**/answers") as sent:
        page.keyboard.press("Control+Enter")
    [answer] = sent.value.post_data_json["answers"]
    page.clock.resume()
    assert answer["edited"] == f"{before} ab1{FAMILY}"
    assert answer["keys"].items() >= {"letter": 2, "digit": 1, "space": 1, "erase": 1}.items()
    [session] = answer["sessions"]
    assert session["idle_ms"] == pytest.approx(40_000, abs=3000)
    assert session["active_ms"] == pytest.approx(60_000, abs=8000)
    page.wait_for_selector("main[data-turn='2']")
    assert stored(served)[0]["edited"] == f"{before} ab1{FAMILY}"


def test_light_editing_asks_for_less(serve: Serve, open_page: Open) -> None:
    page = open_page(serve("post-edit", editing="light").rater)
    assert "as little as possible" in page.locator(".lead").inner_text()
    page.locator(".top button", has_text="Guide").click()
    assert "as little as possible" in page.locator("dialog").inner_text()


def test_an_output_may_be_left_as_it_is_or_skipped(serve: Serve, open_page: Open) -> None:
    served = serve("post-edit", systems=1)
    page = open_page(served.rater)
    page.keyboard.type("gone")
    page.keyboard.press("Control+.")
    send(page, "click")
    answer = stored(served)[0]
    assert answer["edited"] == answer["text"]
    page.keyboard.type("typed, then thought better of")
    page.keyboard.press("Control+.")
    field = page.locator("textarea.edited")
    field.focus()
    page.keyboard.press("Control+z")
    assert "thought better" in field.input_value()
    page.locator(".tools button", has_text="Comment").click()
    page.keyboard.type("unclear source")
    page.locator(".tools button", has_text="Skip").click()
    page.locator("dialog input[value=offensive]").check()
    page.locator("dialog .primary").click()
    send(page, "click")
    answer = stored(served)[0]
    assert (answer["skipped"], answer["comment"]) == ("offensive", "unclear source")
