"""An owner's path through a running campaign, and every page of theirs: readable, calm, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from tests.campaign.browser.conftest import Open, Serve
from tests.campaign.browser.test_looks import sideways, violations
from tests.campaign.served import Served, serving
from tests.campaign.web.test_desk import rate

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.live.results import bring_up_to_date
from assay.project.settings import Checks, Pay, Raters, Settings, Stop

PAGES = ("", "/raters", "/browse", "/events", "/settings")
Visit = Callable[..., Page]


@pytest.fixture
def running(serve: Serve) -> Served:
    """A campaign with three raters, a look taken and a price."""
    return serve(
        "esa", copies=4, raters=Raters(number=3, overlap="100%"), checks=Checks(share="30%"),
        stop=Stop(looks=2), pay=Pay(per_rating=0.25, currency="EUR"),
    )  # fmt: skip


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A visitor with a browser of their own, whose console has to stay clean."""
    faults: list[str] = []
    with ExitStack() as stack:

        def start(address: str) -> Page:
            context: BrowserContext = browser.new_context(
                locale="en", viewport={"width": 1280, "height": 800}, accept_downloads=True,
                reduced_motion="reduce",
            )  # fmt: skip
            stack.callback(context.close)
            context.set_default_timeout(15_000)
            page = context.new_page()
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda said: faults.append(said.text)
                    if said.type in ("error", "warning") else None)  # fmt: skip
            page.goto(address)
            return page

        yield start
    assert faults == []


def test_an_owner_runs_a_campaign(running: Served, visit: Visit, tmp_path: Path) -> None:
    link = f"{running.url}/r/{running.tokens['owner']}"
    page = visit(link)
    assert page.url == f"{running.url}/c/{running.campaign.slug}", "the token left the address"
    assert "No answers yet" in page.locator("[data-panel=results]").inner_text()
    page.locator(".tabs a", has_text="Raters").click()
    assert page.locator("#do-links").count() == 0, "the links are not kept on this server"
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Preview as a rater").click()
    preview = opened.value
    preview.wait_for_selector("#send:visible")
    assert "nothing that is sent here counts" in preview.evaluate(
        "getComputedStyle(document.body, '::before').content"
    )
    assert violations(preview) == []
    preview.close()
    page.locator(".tabs a", has_text="Results").click()
    for who, score in (("rater-1", 80), ("rater-2", 75), ("rater-3", 20)):
        rate(running, who, 20, score)
    bring_up_to_date(running.campaign)
    page.wait_for_selector(".scores circle")  # the panel renews itself
    assert page.locator(".scores tbody tr").count() == 3
    assert page.locator(".looks li.taken").count() > 0

    page.locator("#do-pause").click()
    page.locator("#dialog-pause textarea").fill("lunch")
    page.locator("#dialog-pause [type=submit]").click()
    page.wait_for_selector(".pill.paused")

    page.locator(".tabs a", has_text="Raters").click()
    page.wait_for_selector("html[data-ready]")
    page.locator("#message-2").click()
    page.locator("#dialog-message textarea").fill("Please mark missing words too.")
    page.locator("#dialog-message [type=submit]").click()
    page.wait_for_selector("#dialog-message:not([open])", state="attached")
    page.locator("#exclude-3").click()
    assert "rater-3" in page.locator("#dialog-exclude").inner_text()
    page.locator("#dialog-exclude [type=submit]").click()
    assert page.locator("#dialog-exclude[open]").count() == 1, "a reason is asked for"
    page.locator("#dialog-exclude textarea").fill("all scores are 20")
    page.locator("#dialog-exclude [type=submit]").click()
    page.wait_for_selector("tr.out #restore-3")

    page.locator("#do-raters").click()
    page.locator("#dialog-raters input[type=number]").fill("2")
    page.locator("#dialog-raters [type=submit]").click()
    page.wait_for_selector("#dialog-links-shown[open]")
    assert violations(page) == []
    new = page.locator(".links code").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "links.csv")
    assert all(one in (tmp_path / "links.csv").read_text() for one in new)
    page.locator("#dialog-links-shown .primary").click()

    rater = visit(f"{running.url}/r/{running.tokens['rater-2']}")
    rater.locator(".organisers", has_text="missing words").wait_for()
    assert violations(rater) == []
    rater.locator(".organisers button").click()
    rater.locator(".organisers").wait_for(state="detached")

    page.locator(".tabs a", has_text="Settings").click()
    page.wait_for_selector("html[data-ready]")
    page.locator("#do-rule").click()
    page.locator("#dialog-rule select").select_option("budget")
    page.locator("#dialog-rule textarea").fill("the rest is paid for")
    page.locator("#dialog-rule [type=submit]").click()
    page.locator(".facts-line", has_text="until the last task").wait_for()

    page.locator(".tabs a", has_text="Events").click()
    events = page.locator(".events").inner_text()
    for said in (
        "paused the campaign", "lunch", "excluded rater-3", "all scores are 20",
        "changed the stopping rule to continue to the last task", "the rest is paid for",
    ):  # fmt: skip
        assert said in events
    page.wait_for_selector("html[data-ready]")
    page.locator("#do-close").click()
    page.locator("#dialog-close [type=submit]").click()
    page.wait_for_selector(".pill.closed")
    assert page.locator("#do-close, #do-resume").count() == 0
    bring_up_to_date(running.campaign)
    page.locator(".steer a", has_text="Report").click()
    page.wait_for_selector("main h1")
    assert "rater-3" in page.content()
    assert "all scores are 20" in page.content()
    assert "the rest is paid for" in page.content()


@pytest.mark.parametrize("systems", [0, 1, 12, 40])
def test_every_page_of_an_owner_light_dark_and_on_a_phone(
    tmp_path: Path, visit: Visit, systems: int
) -> None:
    campaign, tokens = many_systems(tmp_path, systems)
    with serving(campaign, tokens) as served:
        page = visit(f"{served.url}/r/{tokens['owner']}")
        for path in PAGES:
            page.set_viewport_size({"width": 1280, "height": 800})
            page.goto(f"{served.url}/c/{campaign.slug}{path}")
            if path == "" and systems:
                assert page.locator(".scores tbody tr").count() == systems
            for summary in page.locator("details > summary").all():
                summary.click()
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                assert violations(page) == [], (path, scheme)
            page.set_viewport_size({"width": 390, "height": 844})
            assert sideways(page) <= 0, path
            assert violations(page) == [], path


def many_systems(folder: Path, systems: int) -> tuple[Campaign, dict[str, str]]:
    """A campaign half done, with long names of systems; of no system, one without answers."""
    names = [f"constrained-track-submission-with-a-long-name-{k:02}" for k in range(systems or 3)]
    gaps = {name: 1 + 10 * k / len(names) for k, name in enumerate(names)}
    world = assay.simulate(
        systems=gaps, documents=6, raters=3, texts=True, metrics={"COMET": 0.5}, rng=2
    )
    settings = Settings(
        name="constrained news", protocol="da", raters=Raters(number=3, overlap="30%"),
        checks=Checks(share="10%"), pay=Pay(per_rating=0.25, currency="EUR"),
        stop=Stop(goal="score", target=2) if systems == 1 else Stop(),
    )  # fmt: skip
    made = create_campaign(folder, Material(settings, folder, world.test_set), rng=1)
    tokens = {"owner": made.links.owner} | {one.rater: one.token for one in made.links.raters}
    campaign = open_campaign(folder)
    campaign.open("owner")
    if systems:
        served = Served("", campaign, tokens, None)  # type: ignore[arg-type]
        for turn in range(4):
            for who in ("rater-1", "rater-2", "rater-3"):
                rate(served, who, 2, 50 + 10 * turn)
        campaign.exclude("rater-3", "gives the same score to everything", "owner")
        bring_up_to_date(campaign)
    return campaign, tokens


def test_the_owners_page_works_from_a_link_on_another_site(serve: Serve, open_page: Open) -> None:
    served = serve("esa")
    other = served.url.replace("127.0.0.1", "localhost")
    page = open_page(f"{other}/healthz", wait="body", allow="40")
    page.evaluate(
        "address => { location.href = address }", f"{served.url}/r/{served.tokens['owner']}"
    )
    page.wait_for_selector("[data-panel=results]")
