"""Reload, no connection, two tabs, an expired lease, a pause: nothing lost, nothing twice."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route
from tests.campaign.browser.answers import ask, send, stored
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.served import Served

from assay.project.settings import Raters

PASSAGE = ".cell .passage"


def work(page: Page, score: int = 80) -> None:
    """A mark and a score."""
    page.locator(PASSAGE).focus()
    page.keyboard.press("Home")
    page.keyboard.press("1")
    page.keyboard.press("Tab")
    page.keyboard.type(str(score))


def sends(served: Served) -> int:
    return len(ask(served, "/api/mine"))


def test_a_reload_keeps_marks_score_and_comment(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    work(page)
    page.locator(".tools button", has_text="Comment").click()
    page.keyboard.type("<b>bold</b> =1+1")
    page.reload()
    page.wait_for_selector(".marks li")
    assert page.locator(".value").inner_text() == "80"
    send(page)
    [answer] = stored(served)
    assert answer["comment"] == "<b>bold</b> =1+1"
    assert len(answer["spans"]) == 1


def test_a_draft_is_gone_on_with_in_another_browser(
    serve: Serve, open_page: Open, context: BrowserContext
) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    with page.expect_response("**/draft"):
        work(page, 77)
    page.evaluate("localStorage.clear()")
    page.close()
    other = open_page(f"{served.url}/rate")
    assert other.locator(".value").inner_text() == "77"
    assert other.locator(".marks li").count() == 1


def test_a_draft_reaches_the_server_as_the_page_closes(
    serve: Serve, open_page: Open, context: BrowserContext
) -> None:
    """The pause after which drafts are sent is not needed: a reload sends what there is."""
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    with page.expect_response("**/draft", timeout=15_000):
        work(page, 77)
    page.keyboard.press("Backspace")
    page.reload()
    page.wait_for_selector(".marks li")
    lease = ask(served, "/api/next", method="POST", body={})
    assert lease["drafts"]["0"]["cells"]
    page.evaluate("localStorage.clear()")
    page.close()
    other = open_page(f"{served.url}/rate")
    assert other.locator(".value").inner_text() == "7"


def test_without_a_connection_answers_wait_and_go_out_once(
    serve: Serve, open_page: Open, context: BrowserContext
) -> None:
    served = serve("esa", systems=2)  # two screens
    page = open_page(served.rater, allow="ERR_INTERNET_DISCONNECTED")
    context.set_offline(True)
    work(page, 61)
    send(page)
    assert "1 answer is saved" in page.locator(".net").inner_text()
    work(page, 62)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".message")
    assert sends(served) == 0
    context.set_offline(False)
    page.wait_for_selector("#send:visible", timeout=15_000)
    assert sorted(one["scores"]["score"] for one in stored(served)) == [61.0, 62.0]
    assert (
        page.evaluate("Object.keys(localStorage).filter(name => name.includes('outbox')).length")
        == 0
    )


@pytest.mark.parametrize("other", ["rater-2", "owner", None])
def test_what_waits_goes_out_with_its_own_link_though_another_was_opened_meanwhile(
    serve: Serve, open_page: Open, context: BrowserContext, other: str | None
) -> None:
    served = serve("esa", systems=1)
    context.route("**/answers", lambda route: route.abort())
    page = open_page(served.rater, allow="ERR_FAILED")
    work(page, 61)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".net:not(:empty)", state="attached")
    page.close()
    context.clear_cookies()
    if other is not None:
        context.request.get(f"{served.url}/r/{served.tokens[other]}")
    context.unroute("**/answers")
    wait = "#send:visible" if other == "rater-2" else ".message"
    open_page(f"{served.url}/rate", wait, allow="Failed to load resource").close()
    assert sends(served) == 0
    open_page(served.rater).close()
    assert [one["scores"]["score"] for one in stored(served)] == [61.0]


def test_an_answer_whose_reply_was_lost_is_stored_once(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=2)
    page = open_page(served.rater, allow="ERR_FAILED")

    def lose_the_reply(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/answers", lose_the_reply, times=1)
    work(page, 55)
    send(page)
    page.wait_for_selector(".net:empty", state="attached", timeout=10_000)
    [task] = ask(served, "/api/mine")
    answers = ask(served, f"/api/mine/{task['lease']}")["answers"]
    assert [len(found) for found in answers.values()] == [1]


def test_two_tabs_show_the_same_work(
    serve: Serve, open_page: Open, context: BrowserContext
) -> None:
    served = serve("esa", systems=1)
    first = open_page(served.rater)
    second = open_page(f"{served.url}/rate")
    work(first, 70)
    second.wait_for_selector(".marks li")
    assert second.locator(".value").inner_text() == "70"
    before = second.locator("main").get_attribute("data-turn")
    send(first)
    second.wait_for_selector(f"main:not([data-turn='{before}'])")
    assert second.locator(".marks li").count() == 0
    assert len(stored(served)) == 1


def test_an_answer_after_the_lease_expired_is_stored(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1, raters=Raters(number=2, lease="0.02"))
    page = open_page(served.rater)
    work(page, 44)
    page.wait_for_timeout(1500)
    [code] = task(served, "rater-1")["screens"][0]
    page.wait_for_timeout(1500)
    assert task(served, "rater-2")["state"] == "task"
    send(page)
    [answer] = stored(served)
    assert (answer["code"], answer["scores"]) == (code, {"score": 44.0})


def task(served: Served, who: str) -> Any:
    return ask(served, "/api/next", who, method="POST", body={})


def test_a_page_left_open_over_the_holidays_still_sends(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.clock.install()
    page.reload()
    page.wait_for_selector("#send:visible")
    page.clock.fast_forward(10 * 24 * 3_600_000)
    work(page, 51)
    send(page)
    assert stored(served)[0]["scores"] == {"score": 51.0}


def test_an_answer_during_a_pause_is_stored(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    work(page, 66)
    served.campaign.pause("owner")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=The campaign is paused")
    served.campaign.resume("owner")
    page.reload()
    page.wait_for_selector("#send:visible")
    assert len(stored(served)) == 1


def test_after_the_close_the_text_stays_in_the_browser(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater, allow="409")
    work(page, 66)
    served.campaign.close("owner")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".say:has-text('closed')")
    assert page.locator(".value").inner_text() == "66"
    assert stored(served) == []


def test_an_earlier_answer_can_be_corrected(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    work(page, 50)
    send(page)
    page.locator(".top button", has_text="Menu").click()
    page.locator("dialog button", has_text="My answers").click()
    page.locator("dialog button", has_text="View or correct").click()
    page.wait_for_selector("text=You are correcting")
    assert page.locator(".value").inner_text() == "50"
    page.locator("input[type=range]").focus()
    page.keyboard.type("95")
    send(page)
    [answer] = stored(served)
    assert answer["scores"] == {"score": 95.0}
    assert len(answer["spans"]) == 1


def test_a_comparison_and_an_edit_can_be_looked_at_again(serve: Serve, open_page: Open) -> None:
    for protocol, shown in (("pairwise", ".verdict [aria-pressed=true]"), ("post-edit", "ins")):
        served = serve(protocol, systems=2, outputs=2 if protocol == "pairwise" else 1)
        page = open_page(served.rater)
        while page.locator(".message").count() == 0:
            if protocol == "pairwise":
                page.keyboard.press("=")
            else:
                page.keyboard.type("new")
                page.keyboard.press("Control+Enter")
            send(page)
        page.locator(".top button", has_text="Menu").click()
        page.locator("dialog button", has_text="My answers").click()
        page.locator("dialog button", has_text="View or correct").last.click()
        page.wait_for_selector(shown)
        send(page)
        page.close()  # cookies are a host's, whatever the port: the next server would refuse this


def test_a_task_can_be_handed_back_and_a_problem_told(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    first = ask(served, "/api/next", method="POST", body={})["lease"]
    page.locator(".top button", has_text="Menu").click()
    page.locator("dialog button", has_text="Report a problem").click()
    page.locator("dialog textarea").fill("the source is cut off")
    page.locator("dialog .primary").click()
    page.wait_for_selector(".say:has-text('have your message')")
    page.locator(".top button", has_text="Menu").click()
    page.locator("dialog button", has_text="Return this task").click()
    assert page.locator("dialog .primary").is_disabled()
    page.locator("dialog input[value=language]").check()
    page.locator("dialog .primary").click()
    page.wait_for_selector("main[data-turn='2']")
    assert ask(served, "/api/next", method="POST", body={})["lease"] != first


def test_a_message_is_shown_after_the_next_send(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=2)  # two screens
    page = open_page(served.rater)
    page.wait_for_timeout(2000)  # the first look for messages is over, the next far off
    slug = ask(served, "/api/campaigns", "owner")[0]["slug"]
    words = {"rater": "rater-1", "text": "Mind the names."}
    headers = {"Authorization": f"Bearer {served.tokens['owner']}", "X-Assay": "1"}
    said = httpx.post(f"{served.url}/c/{slug}/message", headers=headers, json=words)
    assert said.is_success, said.text
    work(page)
    send(page)
    page.wait_for_selector(".organisers:has-text('Mind the names.')")


def test_a_finger_undoes_and_redoes(serve: Serve, browser: Browser) -> None:
    served = serve("esa", systems=1)
    phone = browser.new_context(
        locale="en", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = phone.new_page()
    page.goto(served.rater)
    page.wait_for_selector("#send")
    page.keyboard.press("1")
    marks = page.locator(".marks li")
    assert marks.count() == 1
    page.get_by_role("button", name="Undo").tap()
    assert marks.count() == 0
    page.get_by_role("button", name="Redo").tap()
    assert marks.count() == 1
    phone.close()


def test_what_becomes_of_a_returned_task_is_said(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=2)
    page = open_page(served.rater)
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Return this task").click()
    dialog = page.locator("dialog:has(fieldset)")
    assert "Someone else will get this task." in dialog.inner_text()
    dialog.locator("input[type=radio]").first.check()
    dialog.get_by_role("button", name="Return task").click()
    page.wait_for_selector(".say:has-text('Task returned.')")
