"""Small campaigns in three scripts, and a server for them in a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import uvicorn

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.web import create_app
from assay.campaign.web.server import Connection
from assay.project.settings import Raters, Screen, Settings

FAMILY = "👨‍👩‍👧‍👦"
"""One character to a reader, seven code points."""

TEXTS: dict[str, list[tuple[str, list[str]]]] = {
    "de-en": [
        (
            "Er kam spät nach Hause.",
            [
                "He came home late.",
                "He came late at home.",
                "He got home late.",
            ],
        ),
        (
            "Das Schiff liegt seit gestern im Hafen.",
            [
                "The ship lies since yesterday in the port.",
                "The ship has been in port since yesterday.",
                f"The ship {FAMILY} has been at harbour from yesterday.",
            ],
        ),
        (
            "Niemand weiß, warum der Kapitän die Mannschaft noch nicht an Land gelassen hat.",
            [
                "Nobody knows why the captain has not yet let the crew ashore.",
                "Nobody knows, why the captain the crew not yet on land has let.",
                "No one knows why the captain has not let his crew go ashore so far.",
            ],
        ),
        (
            "Die Behörden schweigen.",
            [
                "The authorities are silent.",
                "The authority is silent.",
                "Authorities keep quiet.",
            ],
        ),
    ],
    "en-ar": [
        (
            "The 2002 report was long.",
            [
                "كان تقرير 2002 طويلا.",
                "تقرير عام 2002 كان طويلا جدا.",
                "التقرير طويل في 2002.",
            ],
        ),
        (
            f"The family {FAMILY} came home.",
            [
                f"عادت العائلة {FAMILY} إلى البيت.",
                f"جاءت الأسرة {FAMILY} إلى المنزل.",
                "عادت العائلة.",
            ],
        ),
        (
            "Nobody knows why.",
            [
                "لا أحد يعرف لماذا.",
                "لا يعرف أحد السبب.",
                "لماذا لا أحد يعرف.",
            ],
        ),
        (
            "The port is closed.",
            [
                "الميناء مغلق.",
                "الميناء مغلقة.",
                "أغلق الميناء.",
            ],
        ),
    ],
    "en-ja": [
        (
            "The ship is in the port.",
            [
                "船は港に停泊しています。",
                "船は昨日から港にある。",
                "その船は港の中です。",
            ],
        ),
        (
            f"The family {FAMILY} came home.",
            [
                f"家族{FAMILY}は家に帰りました。",
                f"ファミリー{FAMILY}が家に来た。",
                "家族は帰宅した。",
            ],
        ),
        (
            "Nobody knows why.",
            [
                "理由は誰も知りません。",
                "誰もなぜ知らない。",
                "なぜかは誰にも分からない。",
            ],
        ),
        (
            "The authorities are silent.",
            [
                "当局は沈黙している。",
                "当局は静かです。",
                "権威は黙っています。",
            ],
        ),
    ],
}


def scores(pair: str, systems: int = 3, copies: int = 1) -> assay.TestSet:
    """A test set of one document in a language pair."""
    rows = [
        {
            "system": f"secret-engine-{number}", "doc": f"hidden-doc-{(copy - 1) // 75}",
            "seg": f"{copy}{place:03}", "source": source,
            "target": targets[number % len(targets)], "lp": pair, "metric": float(number + place),
        }
        for copy in range(1, copies + 1)
        for place, (source, targets) in enumerate(TEXTS[pair])
        for number in range(systems)
    ]  # fmt: skip
    return assay.read_scores(pl.DataFrame(rows), metrics=["metric"])


@dataclass(frozen=True)
class Served:
    """A campaign that answers at an address."""

    url: str
    campaign: Campaign
    tokens: dict[str, str]
    app: Any

    @property
    def rater(self) -> str:
        """The address of the first rater's link."""
        return f"{self.url}/r/{self.tokens['rater-1']}"


def make(
    folder: Path, protocol: str, pair: str = "de-en", *, outputs: int = 1, systems: int = 3,
    copies: int = 1, design: str | None = None,
    marks: list[dict[str, Any]] | None = None, **more: Any,
) -> tuple[Campaign, dict[str, str]]:  # fmt: skip
    """An open campaign in a folder, and its tokens by role and rater."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in more.pop("files", {}).items():
        (folder / name).write_text(content)
    settings = Settings(
        name="harbour news", protocol=protocol,  # type: ignore[arg-type]
        screen=Screen(
            outputs, languages=tuple(pair.split("-")), most_outputs=4000,  # type: ignore[arg-type]
            editing=more.pop("editing", "full"),
        ),
        raters=more.pop("raters", Raters(number=2, overlap="100%")), **more,
    )  # fmt: skip
    test_set = scores(pair, systems, copies)
    sample = assay.sample(test_set, design=design, budget="100%", rng=7) if design else None
    errors = assay.read_errors(pl.DataFrame(marks), test_set) if marks else None
    made = create_campaign(folder, Material(settings, folder, test_set, sample, errors), rng=7)
    campaign = open_campaign(folder)
    campaign.open("owner")
    links = made.links
    tokens = {"owner": links.owner, "viewer": links.viewer, "join": links.join}
    return campaign, tokens | {link.rater: link.token for link in links.raters}


@contextmanager
def serving(campaign: Campaign, tokens: dict[str, str], port: int = 0) -> Iterator[Served]:
    """The campaign on a free port, until the block ends."""
    app = create_app(campaign)
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))
        config = uvicorn.Config(
            app, http=Connection, log_level="error", lifespan="off", access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Served(f"http://127.0.0.1:{sock.getsockname()[1]}", campaign, tokens, app)
        finally:
            server.should_exit = True
            thread.join(10)
            app.state.hub.end_previews()
            campaign.disconnect()
