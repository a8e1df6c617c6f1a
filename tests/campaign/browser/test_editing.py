"""Kits of editors, from their design through the browser to what the editing says of systems."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page
from tests.campaign.browser.answers import send
from tests.campaign.browser.conftest import Open
from tests.campaign.served import Served, serving
from tests.conftest import Ran

import assay
from assay.campaign.campaign import open_campaign
from assay.campaign.exchange.export import export_tables
from assay.campaign.keys import read_keys

EDITORS = ("Ada", "Ben", "Cem", "Eva")
WORK, IDLE, AWAY = 8.0, 90.0, 40.0
"""Seconds: at the text, without a sign of life, and with another window before the page."""
UNCOUNTED = 30.0
"""Of the idle time, what exceeds a minute."""


@pytest.fixture
def kits(tmp_path: Path, run_assay: Callable[..., Ran]) -> Iterator[Served]:
    """Four editors, two documents, two systems: designed and made at the command line."""
    rows = [
        {"system": system, "doc": doc, "seg": f"{doc}{place}", "source": f"Satz {doc} {place}.",
         "target": f"Sentence {doc} {place} of {number}."}
        for number, system in enumerate(("one", "two"))
        for doc in ("x", "y")
        for place in range(2)
    ]  # fmt: skip
    scores, design, folder = tmp_path / "scores.tsv", tmp_path / "design.json", tmp_path / "edits"
    pl.DataFrame(rows).write_csv(scores, separator="\t")
    for words in (
        ("kits", "design", "--systems", "one,two", "--documents", "x,y", "--editors",
         ",".join(EDITORS), "--seed", 1, "--save", design),
        ("campaign", "new", scores, "--protocol", "post-edit", "--kit-design", design,
         "--languages", "de,en", "--seed", 1, "-o", folder),
    ):  # fmt: skip
        ran = run_assay(*words)
        assert ran.code == 0, ran.err
    with open_campaign(folder) as campaign:
        campaign.open("owner")
        with serving(campaign, dict(read_keys(folder).raters)) as served:
            yield served


def edit(page: Page, number: int) -> float:
    """Correct a segment as somebody would who is called away; the seconds at work on it."""
    field = page.locator("textarea.edited").nth(number)
    assert field.evaluate("field => field === document.activeElement")
    page.clock.run_for(int(1000 * WORK / 2))
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.type(", better.", delay=0)
    page.clock.run_for(int(1000 * WORK / 2))
    page.keyboard.press("ArrowLeft")
    spent = WORK
    if number == 0:
        page.clock.run_for(int(1000 * IDLE))
        page.keyboard.press("ArrowRight")
        spent += IDLE - UNCOUNTED
        hide(page, True)
        page.clock.run_for(int(1000 * AWAY))
        hide(page, False)
    page.keyboard.press("Control+Enter")
    return spent


def hide(page: Page, hidden: bool) -> None:
    """What the browser says when another window covers the page, or no longer does."""
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def test_kits_are_edited_and_the_export_says_what_the_work_was(
    kits: Served, open_page: Open, tmp_path: Path, run_assay: Callable[..., Ran]
) -> None:
    spent: list[float] = []
    for name in EDITORS:
        page = open_page(f"{kits.url}/r/{kits.tokens[name]}")
        page.clock.install()
        for _ in range(2):
            page.reload()
            page.wait_for_selector("textarea.edited")
            page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)
            spent += [edit(page, number) for number in range(2)]
            send(page)
            page.clock.resume()
        page.wait_for_selector(".message")
        page.context.clear_cookies()
        page.close()
    tables = tmp_path / "tables"
    export_tables(kits.campaign.collected(), tables)
    edits = assay.read_edits(tables / "edits.tsv").frame
    assert edits["edited"].str.ends_with(", better.").all()
    assert edits["seconds"].to_list() == pytest.approx(spent, rel=0.05)
    apart = edits.select(pl.col("idle_seconds", "hidden_seconds").cast(pl.Float64))
    first = apart.filter(pl.col("idle_seconds") > 1)
    assert first["idle_seconds"].to_list() == pytest.approx([UNCOUNTED] * 8, rel=0.05)
    assert first["hidden_seconds"].to_list() == pytest.approx([AWAY] * 8, rel=0.05)
    ran = run_assay("effort", tables / "edits.tsv", "--json", "--seed", 1)
    assert ran.code == 0, ran.err
    said: dict[str, Any] = json.loads(ran.out)
    assert {one["system"] for one in said["systems"]} == {"one", "two"}
    assert len(said["editors"]) == len(EDITORS)
