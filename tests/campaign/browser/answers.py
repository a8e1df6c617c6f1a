"""What the server holds after a browser was at work."""

from __future__ import annotations

from typing import Any

import httpx
from playwright.sync_api import Page
from tests.campaign.served import Served


def ask(
    served: Served, path: str, who: str = "rater-1", method: str = "GET", body: Any = None
) -> Any:
    """A request of a script with somebody's link."""
    headers = {"Authorization": f"Bearer {served.tokens[who]}"}
    reply = httpx.request(method, served.url + path, headers=headers, json=body)
    assert reply.is_success, reply.text
    return reply.json() if reply.content else None


def send(page: Page, how: str = "keyboard") -> None:
    """Send the screen and wait for what comes next."""
    turn = page.locator("main").get_attribute("data-turn")
    if how == "keyboard":
        page.keyboard.press("Control+Enter")
    else:
        page.locator("#send").click()
    page.wait_for_selector(f"main:not([data-turn='{turn}'])")


def stored(served: Served, who: str = "rater-1") -> list[dict[str, Any]]:
    """Every answer of a rater in its latest revision, with the texts that were shown."""
    found = []
    for task in ask(served, "/api/mine", who):
        one = ask(served, f"/api/mine/{task['lease']}", who)
        outputs = {output["code"]: output for output in one["outputs"]}
        places = {segment["place"]: number for number, segment in enumerate(one["segments"])}
        for answers in one["answers"].values():
            for answer in answers:
                if "code" in answer:
                    number = places[answer["place"]]
                    text = outputs[answer["code"]]["texts"][number]
                    source = one["segments"][number]["source"]
                    answer |= {"text": text, "source": source}
                found.append(answer)
    return found


def marked(answer: dict[str, Any]) -> list[str]:
    """The words under every mark, cut out by code points."""
    return [
        (answer["source"] if span["side"] == "source" else answer["text"])[
            span["start"] : span["end"]
        ]
        for span in answer.get("spans", [])
    ]
