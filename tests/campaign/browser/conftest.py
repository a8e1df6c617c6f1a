"""Campaigns that are served, and pages that count their faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from tests.campaign.served import Served, make, serving

Serve = Callable[..., Served]
Open = Callable[..., Page]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A campaign that is served until the test ends."""
    with ExitStack() as stack:

        def start(protocol: str, pair: str = "de-en", **more: Any) -> Served:
            made = make(
                tmp_path / f"{protocol}-{len(list(tmp_path.iterdir()))}", protocol, pair, **more
            )
            return stack.enter_context(serving(*made))

        yield start


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en", viewport={"width": 1280, "height": 800})
    made.set_default_timeout(6000)
    yield made
    made.close()


@pytest.fixture
def open_page(context: BrowserContext) -> Iterator[Open]:
    """Pages whose console has to stay clean."""
    faults: list[str] = []
    allowed: list[str] = []

    def start(address: str, wait: str = "#send", allow: str | None = None) -> Page:
        if allow is not None:
            allowed.append(allow)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda said: faults.append(said.text) if said.type in ("error", "warning") else None,
        )
        page.goto(address)
        page.wait_for_selector(wait)
        return page

    yield start
    unexpected = [fault for fault in faults if not any(part in fault for part in allowed)]
    assert not unexpected
