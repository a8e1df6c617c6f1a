"""Every page: readable for all (axe), blind, plain texts, no sideways scroll."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.served import TEXTS

from assay.project.settings import Checks, Scale

SECRETS = ("secret-engine", "hidden-doc", "1000", "1001", "1002", "1003", "metric", "spoiled")
SCREENS = {
    "esa": {"outputs": 3},
    "mqm": {"outputs": 1},
    "sqm": {"outputs": 2},
    "pairwise": {"outputs": 2, "systems": 2},
    "ranking": {"outputs": 3},
    "post-edit": {"outputs": 1},
}


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def sideways(page: Page) -> int:
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return int(page.evaluate(width))


@pytest.mark.parametrize("protocol", SCREENS)
def test_every_screen_light_dark_and_on_a_phone(
    serve: Serve, open_page: Open, protocol: str
) -> None:
    pair = "en-ar" if protocol in ("sqm", "ranking") else "de-en"
    served = serve(protocol, pair, **SCREENS[protocol])
    page = open_page(served.rater)
    if protocol in ("esa", "mqm"):
        page.locator(".cell .passage").first.focus()
        page.keyboard.press("1")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    assert violations(page) == []


def test_every_number_of_a_scale_is_there_on_a_phone(serve: Serve, open_page: Open) -> None:
    scales = (Scale("adequacy", 0, 10), Scale("fluency", 1, 4, 0.5))
    page = open_page(serve("scale", scales=scales).rater)
    page.set_viewport_size({"width": 390, "height": 844})
    assert sideways(page) <= 0
    edge = page.locator(".choices").first.bounding_box()
    last = page.locator(".choices label", has_text="10").first.bounding_box()
    assert edge is not None
    assert last is not None
    assert last["width"] > 20
    assert last["x"] + last["width"] <= edge["x"] + edge["width"] <= 390


def test_windows_and_the_other_pages(serve: Serve, open_page: Open) -> None:
    served = serve("mqm", systems=1)
    page = open_page(served.rater)
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press("?")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator(".top button", has_text="Menu").click()
    assert violations(page) == []
    page.locator("#language").select_option("ar")
    page.wait_for_selector("html[dir=rtl]")
    assert violations(page) == []
    page.locator(".top nav button").nth(1).click()
    assert violations(page) == []


def test_a_break_is_suggested_after_long_work_without_one(serve: Serve, open_page: Open) -> None:
    page = open_page(serve("esa").rater, allow="429")  # an hour passes in a second
    page.clock.install()
    page.reload()
    page.wait_for_selector("#send:visible")

    def work(minutes: int) -> None:
        for _ in range(minutes):
            page.keyboard.press("Tab")
            page.clock.run_for(60_000)

    work(40)
    page.clock.run_for(6 * 60_000)
    work(45)
    assert page.locator("aside").count() == 0
    work(6)
    assert "worked for 50 minutes" in page.locator("aside").inner_text()
    assert violations(page) == []
    page.locator("aside button", has_text="Pause").click()
    assert page.locator("dialog.paused").is_visible()
    assert page.locator("aside").count() == 0


def test_pages_without_a_link_say_so(serve: Serve, open_page: Open) -> None:
    served = serve("esa")
    page = open_page(f"{served.url}/rate", wait=".message", allow="401")
    assert "does not work" in page.locator("h1").inner_text()
    wrong = open_page(f"{served.url}/r/{'x' * 22}", wait=".message", allow="401")
    assert violations(wrong) == []
    owner = open_page(f"{served.url}/r/{served.tokens['owner']}", wait="[data-panel]", allow="403")
    owner.goto(f"{served.url}/rate")
    owner.wait_for_selector("h1:has-text('for raters')")


def test_a_link_from_another_site_works(serve: Serve, open_page: Open) -> None:
    """A strict cookie is not sent with the first page, but with what the page asks for."""
    served = serve("esa")
    other = served.url.replace("127.0.0.1", "localhost")
    page = open_page(f"{other}/healthz", wait="body", allow="40")
    page.evaluate("address => { location.href = address }", served.rater)
    page.wait_for_selector("#send:visible")


def test_nothing_that_a_rater_gets_names_a_system(serve: Serve, open_page: Open) -> None:
    for protocol in ("esa", "pairwise", "post-edit"):
        served = serve(protocol, copies=3, checks=Checks(share="30%", repeats="20%"))
        page = open_page(served.rater)
        replies: list[Response] = []
        page.on("response", lambda reply, into=replies: into.append(reply))
        for _ in range(8):
            assert_blind(page, replies)
            if page.locator(".message").count():
                break
            finish_screen(page, protocol)
        page.close()  # the next link takes its cookie's place


def finish_screen(page: Page, protocol: str) -> None:
    turn = page.locator("main").get_attribute("data-turn")
    if protocol == "pairwise":
        page.keyboard.press("=")
    elif protocol == "esa":
        for slider in page.locator("input[type=range]").all():
            slider.focus()
            page.keyboard.type("90")
    else:
        for _ in page.locator("textarea.edited").all():
            page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(f"main:not([data-turn='{turn}'])")


def assert_blind(page: Page, replies: list[Response]) -> None:
    seen: list[Any] = [page.content(), page.url, str(page.context.cookies())]
    seen.append(page.evaluate("JSON.stringify(Object.entries(localStorage))"))
    for reply in replies:
        seen += [reply.url, str(reply.all_headers())]
        if "/static/" not in reply.url and reply.status == 200:
            seen.append(reply.text())
    for text in seen:
        found = [secret for secret in SECRETS if f'"{secret}' in text or f"{secret}-" in text]
        assert found == []


def test_markup_and_controls_in_texts_stay_text(
    serve: Serve, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = '<img src=x onerror="alert(1)"><script>alert(1)</script> =1+1 \u202eabc\u202c'
    long = "word " * 2_000
    texts = [(hostile, [hostile, hostile + "2"]), (long, [long, long + "2"])]
    monkeypatch.setitem(TEXTS, "de-en", texts)
    served = serve("esa", systems=2, outputs=2)
    page = open_page(served.rater)
    assert page.locator("main img, main script").count() == 0
    assert hostile.strip() in page.locator("main").evaluate("element => element.textContent")


def test_three_hundred_segments_are_built_as_they_come_into_view(
    serve: Serve, open_page: Open
) -> None:
    served = serve("esa", systems=6, outputs=6, copies=150, design="documents")
    page = open_page(served.rater)
    assert page.locator(".row").count() == 300
    assert page.locator(".row.unbuilt").count() > 200
    page.keyboard.press("End")
    page.locator(".row").last.scroll_into_view_if_needed()
    page.wait_for_selector(".row:last-child:not(.unbuilt)")
    page.locator(".row").last.locator(".passage").last.focus()
    page.keyboard.press("2")
    assert page.locator(".row").last.locator(".marks li").count() == 1
