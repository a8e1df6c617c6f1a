"""ESA and MQM by keyboard alone and by pointer: exact code points in what is stored."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page
from tests.campaign.browser.answers import marked, send, stored
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.served import FAMILY

from assay.project.settings import Scale

PASSAGE = ".cell .passage"
FORWARD = {"de-en": "ArrowRight", "en-ja": "ArrowRight", "en-ar": "ArrowLeft"}


def words(page: Page, passage: str = PASSAGE) -> list[str]:
    """What the arrows go to."""
    return [
        text
        for text in page.locator(f"{passage} >> nth=0").locator("[data-n]").all_inner_texts()
        if text.strip()
    ]


@pytest.mark.parametrize("pair", ["de-en", "en-ar", "en-ja"])
def test_marks_and_scores_by_keyboard_alone(serve: Serve, open_page: Open, pair: str) -> None:
    served = serve("esa", pair, systems=1)
    page = open_page(served.rater)
    expected = words(page)[1:3]
    page.keyboard.press("Tab")
    while page.evaluate("!document.activeElement.matches('.cell .passage')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Home")
    page.keyboard.press(FORWARD[pair])
    page.keyboard.press(f"Shift+{FORWARD[pair]}")
    page.keyboard.press("2")
    page.keyboard.press("Tab")
    page.keyboard.type("71")
    send(page)
    [answer] = stored(served)
    assert answer["scores"] == {"score": 71.0}
    [words_marked] = marked(answer)
    assert words_marked.replace(" ", "") == "".join(expected).replace(" ", "")
    assert answer["spans"][0]["severity"] == "major"
    assert answer["text"].index(words_marked) == answer["spans"][0]["start"]


@pytest.mark.parametrize("pair", ["de-en", "en-ar", "en-ja"])
def test_marks_and_scores_by_pointer(serve: Serve, open_page: Open, pair: str) -> None:
    served = serve("mqm", pair, systems=1)
    page = open_page(served.rater)
    expected = words(page)
    units = (
        page.locator(f"{PASSAGE} >> nth=0").locator("[data-n]").filter(has_text=re.compile(r"\S"))
    )
    units.nth(0).click()
    units.nth(1).click()
    page.locator(".bar button", has_text="major").click()
    page.locator(".choose input").fill("gramm")
    page.locator(".choose li").first.click()
    send(page, "click")
    [answer] = stored(served)
    [words_marked] = marked(answer)
    assert words_marked.replace(" ", "") == "".join(expected[:2]).replace(" ", "")
    assert answer["spans"][0] | {"start": 0, "end": 0} == {
        "side": "target", "start": 0, "end": 0, "severity": "Major", "category": "Fluency/Grammar",
    }  # fmt: skip


@pytest.mark.parametrize("pair", ["en-ar", "en-ja"])
def test_a_family_stays_whole_by_word_and_by_character(
    serve: Serve, open_page: Open, pair: str
) -> None:
    served = serve("esa", pair, systems=1)
    page = open_page(served.rater)
    for _ in range(4):
        if FAMILY in page.locator(PASSAGE).inner_text():
            break
        page.locator(PASSAGE).focus()
        page.keyboard.press("Tab")
        page.keyboard.type("90")
        send(page)
    page.locator(PASSAGE).focus()
    page.keyboard.press("w")
    assert FAMILY in page.locator(f"{PASSAGE} [data-n]").all_inner_texts()
    page.keyboard.press("w")
    page.locator(f"{PASSAGE} [data-n]", has_text=FAMILY).click()
    page.keyboard.press("1")
    page.keyboard.press("Tab")
    page.keyboard.type("60")
    send(page)
    answer = next(one for one in stored(served) if FAMILY in one["text"])
    [span] = answer["spans"]
    assert marked(answer) == [FAMILY]
    assert span["end"] - span["start"] == len(FAMILY) == 7


def test_drag_source_side_missing_words_undo_and_no_errors(serve: Serve, open_page: Open) -> None:
    served = serve("mqm", systems=1)
    page = open_page(served.rater)
    source = page.locator(".row.current .source .passage")
    first = source.locator("[data-n]").first.bounding_box()
    last = source.locator("[data-n]").nth(2).bounding_box()
    assert first is not None
    assert last is not None
    page.mouse.move(first["x"] + 5, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 8, steps=4)
    page.mouse.up()
    page.keyboard.press("1")
    page.keyboard.type("omission")
    page.keyboard.press("Enter")
    target = page.locator(PASSAGE)
    target.focus()
    page.keyboard.press("End")
    page.keyboard.press("Shift+M")
    page.keyboard.type("punct")
    page.keyboard.press("Enter")
    assert page.locator(".marks li").count() == 2
    target.focus()
    for _ in range(2):
        page.keyboard.press("Control+z")
    assert page.locator(".marks li").count() == 1
    for _ in range(2):
        page.keyboard.press("Control+y")
    assert page.locator(".marks li").count() == 2
    send(page)
    [answer] = stored(served)
    on_source, gap = answer["spans"]
    assert on_source["side"] == "source"
    assert on_source["start"] == 0
    assert gap["missing"] is True
    assert gap["start"] == gap["end"] == len(answer["text"]) - 1
    page.locator(PASSAGE).focus()
    page.keyboard.press("0")
    send(page)
    assert any(one.get("no_error") for one in stored(served))


def test_what_is_missing_is_named_and_gone_to(serve: Serve, open_page: Open) -> None:
    served = serve("esa", outputs=3)
    page = open_page(served.rater)
    assert "Missing: the score for" in page.locator(".gaps").inner_text()
    page.locator("#send").click()
    assert page.evaluate("document.activeElement.type") == "range"
    assert stored(served) == []


def test_a_low_score_without_a_mark_is_asked_about_once(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.locator("input[type=range]").focus()
    page.keyboard.type("40")
    hint = page.locator(".hint")
    assert hint.is_visible()
    hint.locator("button").click()
    assert not hint.is_visible()
    send(page)
    assert stored(served)[0]["scores"] == {"score": 40.0}


def test_sending_stops_once_for_low_scores_without_a_mark(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.locator("input[type=range]").focus()
    page.keyboard.type("40")
    page.keyboard.press("Control+Enter")
    assert "below 85" in page.locator(".say").inner_text()
    assert stored(served) == []
    assert page.evaluate("document.activeElement.closest('.hint') !== null")
    send(page)
    [answer] = stored(served)
    assert answer["scores"] == {"score": 40.0}


def test_the_first_translation_has_the_keys_at_once(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.keyboard.press("1")
    assert page.locator(".marks li").count() == 1


def test_a_score_is_typed_and_taken_back(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    value = page.locator(".value")
    page.locator("input[type=range]").focus()
    page.keyboard.type("8100")
    assert value.inner_text() == "100"
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    assert value.inner_text() == "1"
    page.keyboard.type("7")
    assert value.inner_text() == "17"
    for _ in range(2):
        page.keyboard.press("Backspace")
    assert value.inner_text() == "not set"
    assert "Missing: the score" in page.locator(".gaps").inner_text()


def test_an_equal_mark_is_nothing_to_undo(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    for _ in range(3):
        page.keyboard.press("1")
    page.keyboard.press("Control+z")
    assert page.locator(".marks li").count() == 0


def test_what_missing_words_are_is_said_and_can_be_changed(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.keyboard.press("m")
    assert "Press 1 2 to change the severity" in page.locator(".say").inner_text()
    page.keyboard.press("1")
    assert page.locator(".marks .sev").inner_text() == "minor"


def test_what_was_missing_is_not_said_of_a_complete_screen(serve: Serve, open_page: Open) -> None:
    served = serve("da", systems=1)
    page = open_page(served.rater)
    page.keyboard.press("Control+Enter")
    assert "Missing" in page.locator(".say").inner_text()
    page.locator("input[type=range]").focus()
    page.keyboard.type("90")
    assert "Complete" in page.locator(".gaps").inner_text()
    assert "Missing" not in page.locator(".say").inner_text()


def test_the_guide_says_what_severities_and_scores_mean(serve: Serve, open_page: Open) -> None:
    served = serve("esa", systems=1)
    page = open_page(served.rater)
    page.keyboard.press("?")
    guide = page.locator("dialog").inner_text()
    assert "The meaning changes, is lost, or is hard to understand." in guide
    assert "Some meaning preserved" in guide
    assert "finger" in guide


def test_scores_only_with_several_scales(serve: Serve, open_page: Open) -> None:
    scales = (Scale("adequacy"), Scale("fluency", 1, 5, 1, ("poor", "flawless")))
    served = serve("scale", systems=1, scales=scales)
    page = open_page(served.rater)
    page.locator("input[type=range]").focus()
    page.keyboard.type("55")
    page.keyboard.press("Tab")
    page.keyboard.press("4")
    send(page)
    assert stored(served)[0]["scores"] == {"adequacy": 55.0, "fluency": 4.0}


def test_marks_from_before_are_kept_changed_or_removed(serve: Serve, open_page: Open) -> None:
    marks = [
        {
            "system": "secret-engine-0", "doc": "hidden-doc-0", "seg": f"1{place:03}",
            "category": "x", "severity": "minor", "side": "target",
            "start": start, "end": start + 2,
        }
        for place in range(4)
        for start in (0, 3, 6)
    ]  # fmt: skip
    served = serve("esa", systems=1, marks=marks)
    page = open_page(served.rater)
    assert page.locator(".marks li").count() == 3
    page.locator(".marks .sev").nth(1).click()
    page.locator(".marks .quiet").nth(2).click()
    page.locator("input[type=range]").focus()
    page.keyboard.type("70")
    send(page)
    [answer] = stored(served)
    found = [(span["start"], span["severity"], span["origin"]) for span in answer["spans"]]
    assert found == [(0, "minor", "kept"), (3, "major", "changed")]
