"""The pictures of campaigns: a server with one that half a dozen raters have begun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.create import make_campaign, read_material
from assay.campaign.hub import open_hub
from assay.campaign.keys import read_keys
from assay.campaign.live.results import bring_up_to_date, follow_campaign
from assay.campaign.store.clock import Clock
from assay.campaign.web.server import serving
from assay.project.settings import Checks, Pay, Raters, Screen, Settings

WHO = {"Der Hafen": "The port", "Das Museum": "The museum", "Die Brücke": "The bridge",
       "Der Bahnhof": "The station", "Die Bibliothek": "The library", "Das Theater": "The theatre",
       "Die Schule": "The school", "Der Markt": "The market"}  # fmt: skip
WHAT = {"ist seit gestern geschlossen": "has been closed since yesterday",
        "öffnet erst am Montag wieder": "will not reopen until Monday",
        "wird bis zum Sommer umgebaut": "is being rebuilt until summer",
        "bekommt ein neues Dach": "is getting a new roof",
        "zieht jedes Jahr mehr Besucher an": "attracts more visitors every year"}  # fmt: skip
WORSE = {"ist seit gestern geschlossen": "is closed since yesterday",
         "öffnet erst am Montag wieder": "opens first on Monday again",
         "wird bis zum Sommer umgebaut": "becomes rebuilt to the summer",
         "bekommt ein neues Dach": "becomes a new roof",
         "zieht jedes Jahr mehr Besucher an": "pulls each year more visitors on"}  # fmt: skip
ENDS = ("", ", says the mayor", ", according to the town council", ", as was announced today")
QUELLE = ("", ", sagt der Bürgermeister", ", so der Stadtrat", ", wie heute bekannt wurde")
SYSTEMS = {"Harbour-7B": 0.08, "Lighthouse": 0.16, "ONLINE-B": 0.3, "Anchor-small": 0.42,
           "Compass": 0.46, "Baseline": 0.75}  # fmt: skip
"""How often each says the worse."""
DESK = {"width": 1280, "height": 860}
DONE = 0.66
"""The share of the tasks that is done."""


class Days(Clock):
    """A clock that a picture puts forward."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_780_905_600_000

    def _read(self) -> int:
        return self.time


def outputs(systems: Sequence[str]) -> pl.DataFrame:
    """What six systems made of the news of a town, with other people's column names."""
    rng = np.random.default_rng(4)
    rows = []
    for number, (who, what, end) in enumerate(product(WHO, WHAT, range(len(ENDS)))):
        for name in systems:
            worse = rng.random() < SYSTEMS[name]
            said = f"{WHO[who]} {(WORSE if worse else WHAT)[what]}{ENDS[end]}."
            rows.append({
                "SentenceID": number % 20 + 1, "Model": name, "Article": f"town-{number // 20 + 1}",
                "Quelle": f"{who} {what}{QUELLE[end]}.", "Hypothesis text": said,
                "COMET": round(0.9 - 0.2 * SYSTEMS[name] - 0.05 * worse + rng.normal(0, 0.03), 3),
            })  # fmt: skip
    return pl.DataFrame(rows)


def make(folder: Path) -> None:
    """The campaign, begun by its raters."""
    folder.mkdir(parents=True)
    names = {"SentenceID": "seg", "Model": "system", "Article": "doc", "Quelle": "source",
             "Hypothesis text": "target"}  # fmt: skip
    outputs(list(SYSTEMS)).rename(names).write_parquet(folder / "scores.parquet")
    settings = Settings(
        name="Town news de-en", protocol="esa", scores="scores.parquet",
        screen=Screen(outputs=2, languages=("de", "en")), raters=Raters(number=5, overlap="15%"),
        checks=Checks(share="8%", repeats="4%"), pay=Pay(per_rating=0.24, currency="EUR"),
    )  # fmt: skip
    _, keys = make_campaign(read_material(settings, folder), folder, rng=3)
    with open_campaign(folder, clock=Days()) as campaign:
        campaign.open("owner")
        work(campaign, list(keys.raters.values()))
        bring_up_to_date(campaign)


def work(campaign: Campaign, tokens: Sequence[str]) -> None:
    """Raters at work, the last of them with no care at all."""
    rng, live = np.random.default_rng(2), follow_campaign(campaign)
    links = [campaign.link(token) for token in tokens]
    total, clock = campaign.status().tasks, campaign.clock
    assert isinstance(clock, Days)
    turn = 0
    while campaign.status().done < DONE * total:
        rater = turn % len(links)
        turn += 1
        link = links[rater]
        assert link is not None
        task = campaign.next(link)
        clock.time += int(rng.integers(100, 700)) * 1000
        if task["state"] != "task":
            continue
        for screen, codes in enumerate(task["screens"]):
            answers = list(said(task, codes, rater, careless=rater == len(links) - 1, rng=rng))
            timing = {"active_ms": int(rng.integers(9, 22)) * 1000 * len(answers)}
            body = {"key": f"screen-{screen}", "timing": timing, "answers": answers}
            campaign.send(link, task["lease"], screen, body)
        if turn % 10 == 0:
            bring_up_to_date(campaign, live)


def said(
    task: dict[str, Any], codes: Sequence[str], rater: int, *, careless: bool,
    rng: np.random.Generator,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Answers to one screen: the worse wordings are marked and cost points."""
    texts = {one["code"]: one["texts"] for one in task["outputs"]}
    sources = {one["place"]: one["source"] for one in task["segments"] if one["rate"]}
    for code in codes:
        for place, source in sources.items():
            text = texts[code][place]
            if text is None:
                continue
            score, marked = judged(source, text)
            if careless:
                score, marked = float(rng.integers(20, 100)), ""
            start = text.find(marked) if marked else 0
            span = {"side": "target", "start": start, "end": start + len(marked),
                    "severity": "major"}  # fmt: skip
            score = float(np.clip(round(score + rng.normal(0, 6) - 3 * rater), 0, 100))
            yield {"code": code, "place": place, "scores": {"score": score},
                   "spans": [span] if marked else []}  # fmt: skip


def judged(source: str, text: str) -> tuple[float, str]:
    """A score, and what is marked: a worse wording, or all of a text that belongs elsewhere."""
    (german,) = (one for one in WHAT if one in source)
    if WHAT[german] in text:
        return 92, ""
    return (58, WORSE[german]) if WORSE[german] in text else (10, text)


def take(browser: Any, folder: Path, pictures: Path) -> None:
    """All pictures of campaigns."""
    home = folder / "campaigns"
    make(home / "town")
    table = folder / "Town_news.xlsx"
    outputs(["Harbour-7B", "Lighthouse"]).write_excel(table)
    with open_hub(home, "http://127.0.0.1:1") as hub, serving(hub) as address:
        assert hub.keys is not None
        context = browser.new_context(viewport=DESK, locale="en", timezone_id="UTC")
        page = context.new_page()
        page.goto(f"{address}/r/{hub.keys.owner}")
        page.goto(f"{address}/campaigns/new")
        page.get_by_label("Tables or text files").set_input_files(table)
        page.get_by_label("Output (the translation)").select_option("Hypothesis text")
        page.locator(".found").wait_for()
        page.get_by_label("Pay", exact=True).fill("1.10")
        page.get_by_label("Budget", exact=True).fill("300")
        page.locator(".plan .lead").wait_for()
        for number, name in ((1, "columns"), (3, "plan")):
            part = page.locator("section.part").nth(number)
            part.screenshot(path=pictures / f"campaign-{name}.png")
        for path, name, height in (("", "results", 1090), ("/raters", "raters", 600)):
            page.set_viewport_size(DESK | {"height": height})
            page.goto(f"{address}/c/town-news-de-en{path}")
            page.screenshot(path=pictures / f"campaign-{name}.png")
        token = next(iter(read_keys(home / "town").raters.values()))
        rater = browser.new_context(viewport=DESK, locale="en").new_page()
        rater.goto(f"{address}/r/{token}")
        rater.wait_for_selector("#send:visible")
        slider = rater.locator("input[type=range]").first
        slider.focus()
        rater.keyboard.type("84")
        rater.locator(".cell .passage").first.focus()
        for key in ("ArrowRight", "Shift+ArrowRight", "2"):
            rater.keyboard.press(key)
        rater.screenshot(path=pictures / "campaign-rate.png")
        context.close()
