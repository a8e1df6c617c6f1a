"""Pages as people meet them: in a browser, on a desk and a phone, light and dark, and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.views.page import write_report

DESK, PHONE = (1280, 800), (390, 844)
LONG = "A system whose name has forty characters"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of 3 and of 40 systems, of effort, and of two test sets."""
    folder = tmp_path_factory.mktemp("pages")
    world = assay.simulate(documents=12, systems={LONG: 1.0, "B": 1.2, "C": 2.0}, rng=1)
    drawn = assay.sample(world.test_set, budget="50%", rng=1)
    estimates = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    raters = assay.rater_report(world.test_set, world.rate(drawn), sample=drawn)
    judged = assay.rank(world.judge(400, per_set=3, rng=1), rng=1)
    many = {f"{k:02} {LONG[3:]}": 1.0 + k / 20 for k in range(40)}
    crowd = assay.simulate(documents=4, systems=many, rng=1)
    other = assay.simulate(documents=8, systems=3, rng=2)
    found = {
        "three": [raters, estimates, judged],
        "forty": [assay.estimate(crowd.test_set, crowd.rate(), target="texts")],
        "two": [estimates, assay.estimate(other.test_set, other.rate())],
    }
    return {name: write_report(listed, folder / f"{name}.html") for name, listed in found.items()}


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    opened = []

    def visit(path: Path, size: tuple[int, int] = DESK, **options: Any) -> Any:
        width, height = size
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        opened.append(page)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(path.as_uri())
        return page

    yield visit
    for page in opened:
        page.close()


@pytest.mark.parametrize("name", ["three", "forty", "two"])
def test_the_answer_is_on_the_first_screen(
    name: str, pages: dict[str, Path], visit: Callable[..., Any]
) -> None:
    page = visit(pages[name])
    end = page.evaluate("document.querySelector('table.bars').getBoundingClientRect().bottom")
    assert end <= DESK[1]
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * DESK[1]
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("name", ["three", "forty", "two"])
def test_a_phone_scrolls_down_only_and_cuts_no_name(
    name: str, pages: dict[str, Path], visit: Callable[..., Any]
) -> None:
    page = visit(pages[name], PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    cut = """[...document.querySelectorAll('.bars th.name')].filter(
        name => name.scrollWidth > name.clientWidth + 1).length"""
    assert page.evaluate(cut) == 0
    # The figure is laid out anew: bars as wide as the screen, not a picture made small.
    wide = page.evaluate("document.querySelector('td.scale').getBoundingClientRect().width")
    assert wide > 0.8 * PHONE[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(
    scheme: str, pages: dict[str, Path], visit: Callable[..., Any]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(pages["three"], color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [
        (item["id"], item["nodes"][0]["html"][:200])
        for item in found if item["impact"] in ("serious", "critical")
    ] == []  # fmt: skip


def test_tables_sort_terms_explain_and_rows_answer(
    pages: dict[str, Path], visit: Callable[..., Any]
) -> None:
    page = visit(pages["three"])
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    pairs = page.locator("#estimates-details table.sorts").first
    pairs.get_by_role("button", name="Sort by difference").click()
    shown = [float(text) for text in pairs.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert shown == sorted(shown)
    pairs.get_by_role("button", name="Sort by difference").click()
    assert pairs.locator("th[aria-sort=descending]").count() == 1
    backwards = [float(text) for text in pairs.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert backwards == shown[::-1]
    page.mouse.move(0, 0)
    first = page.locator("table.bars").first
    first.locator("th.name").first.focus()
    assert page.locator(".said").first.inner_text().startswith(f"{LONG}: ")
    page.locator("dfn").first.focus()
    tip = "getComputedStyle(document.querySelector('dfn'), '::after').content"
    assert "interval" in page.evaluate(tip) or "rank" in page.evaluate(tip)


def test_print_opens_everything(pages: dict[str, Path], visit: Callable[..., Any]) -> None:
    page = visit(pages["three"])
    hidden = "document.querySelectorAll('details:not([open])').length"
    before = page.evaluate(hidden)
    assert before > 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(hidden) == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(hidden) == before


def test_without_script_everything_is_there(
    pages: dict[str, Path], visit: Callable[..., Any]
) -> None:
    page = visit(pages["three"], java_script_enabled=False)
    assert page.locator("h1").inner_text().startswith(LONG)
    page.locator("#methods summary").click()
    assert page.locator(".copied").is_visible()
    assert page.locator("#files a[download]").count() > 4
