"""The owner's pages of one campaign, rendered from its current state, with downloads and previews.

A preview is the raters' pages as the owner tries them: another application on a copy.
"""

from __future__ import annotations

import re
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.exchange.export import export_tables, table_names, tables_of
from assay.campaign.records import NotNowError
from assay.campaign.store.browsing import PAGE, Wanted, happened
from assay.campaign.store.opening import FILE
from assay.campaign.store.tally import HOUR_MS
from assay.campaign.store.unit import Link
from assay.campaign.web.access import (
    IN_CAMPAIGN,
    SENTENCES,
    Owner,
    Reader,
    campaign_of,
    campaigns_of,
    documented,
)
from assay.campaign.web.owner import Slug, keys_of
from assay.campaign.web.public import page
from assay.campaign.web.rendering import render, tagged, together
from assay.campaign.web.results import Line, over_time, page_results
from assay.campaign.wire import MOST_NUMBER, Text
from assay.collecting.live import NextLook
from assay.results import plain
from assay.tables.typed_files import save
from assay.views.html import html
from assay.views.live import PROTOCOLS, STATES, rule_text
from assay.views.page import make_report

routes = APIRouter(tags=["desk"])
Panel = Literal["head", "results", "progress", "raters", "looks", "checks", "audit"]
FOR_OWNERS = ("audit",)
ACTS = {"draft": ("open", "close"), "open": ("pause", "close"), "paused": ("resume", "close")}
"""What an owner can do in each state."""
LATE_SECONDS = 60
"""Results are refreshed every second; after this long a page says that they are out of date."""
MOST_DAYS = 90
"""No date is predicted further ahead."""
Before = Annotated[int | None, Query(ge=1, le=MOST_NUMBER)]
Choice = Annotated[Text | None, Query(max_length=400)]


@dataclass(frozen=True, slots=True)
class Desk:
    """A campaign as the holder of a link sees it."""

    campaign: Campaign
    link: Link
    late: bool = False
    """Whether the results are out of date."""

    @property
    def content(self) -> dict[str, Any]:
        """What every page and panel can use."""
        campaign = self.campaign
        return {
            "slug": campaign.slug, "name": campaign.settings.name,
            "settings": campaign.settings, "owner": self.link.role == "owner",
            "states": STATES, "protocols": PROTOCOLS, "acts": ACTS,
            "tables": table_names(campaign.settings),
        }  # fmt: skip

    def panel(self, name: Panel) -> str:
        """Render one panel."""
        return render(f"panel/{name}", **self.content, **self._found((name,)))

    def basis(self) -> object:
        """All that panels depend on."""
        results = self.campaign.results()
        computed = None if results is None else results.as_of
        return self.campaign.version(), computed, self.campaign.failing(), self.late, self.link.role

    def page(self, name: str, /, *panels: Panel, **more: Any) -> str:
        """Render a whole page."""
        found = self._found(("head", *panels))
        return render(name, **self.content, **found, tab=name, panels=panels, **more)

    def _found(self, panels: Sequence[str]) -> dict[str, Any]:
        """The data of these panels."""
        campaign = self.campaign
        if panels == ("audit",):
            return {"events": [(event, *happened(event)) for event in campaign.events()]}
        status, stop = campaign.status(), campaign.rule()
        stored = campaign.results()
        results = None if stored is None else page_results(campaign.slug, stored)
        line = over_time(campaign.pace())
        looks = stop.looks if results is None else len(results.found.planned)
        found: dict[str, Any] = {
            "status": status, "results": results, "stale": self.late, "line": line,
            "failing": campaign.failing(),
            "stop": stop, "rule": rule_text(stop.goal, stop.target, looks, stop.level),
        }  # fmt: skip
        if results is not None:
            report = results.found.raters
            found["due"] = _due(results.found.next_look, line)
            counted = () if report is None else report.raters
            excluded = [one.summary for one in results.found.left_out if one.summary is not None]
            found["report"] = {one.rater: one for one in (*counted, *excluded)} or None
        return dict.fromkeys(("report", "due")) | found


def _due(look: NextLook | None, line: Line | None) -> int | None:
    """The approximate time of the next look, at the pace of the last day."""
    if look is None or line is None or not line.per_day:
        return None
    days = look.answers / line.per_day
    return None if days > MOST_DAYS else round(line.last + days * 24 * HOUR_MS)


def desk_of(request: Request, link: Link) -> Desk:
    """The campaign of a request, as its link sees it."""
    refreshed = request.app.state.hub.refreshed
    late = refreshed is not None and time.monotonic() - refreshed > LATE_SECONDS
    return Desk(campaign_of(request), link, late)


async def _shown(desk: Desk, name: str, /, *panels: Panel, **more: Any) -> Response:
    return HTMLResponse(await run_in_threadpool(desk.page, name, *panels, **more))


def _all(request: Request, link: Link) -> dict[str, Any]:
    """The campaigns that a link may see."""
    here = campaigns_of(request)
    return {
        "campaigns": [(one.settings.protocol, one.status()) for one in here],
        "host": request.state.campaign is None, "owner": link.role == "owner", "states": STATES,
        "protocols": PROTOCOLS,
    }  # fmt: skip


@routes.get("/campaigns", response_class=HTMLResponse, responses=documented(401, 403))
async def campaigns(request: Request, link: Reader) -> Response:
    """All campaigns that the link may see."""
    found = await run_in_threadpool(_all, request, link)
    return HTMLResponse(render("campaigns", **found))


@routes.get("/campaigns/panel/list", responses=documented(304, 401, 403))
async def campaign_list(request: Request, link: Reader) -> Response:
    """The list of campaigns, to refresh the page with."""

    def answer() -> Response:
        found = _all(request, link)
        return tagged(request, "list", found, lambda: render("panel/list", **found))

    return await run_in_threadpool(answer)


@routes.get("/c/{slug}", response_class=HTMLResponse, responses=IN_CAMPAIGN)
async def results(request: Request, link: Reader, slug: Slug) -> Response:
    """Results so far, and progress."""
    return await _shown(desk_of(request, link), "results", "results", "looks", "progress", "checks")


@routes.get("/c/{slug}/raters", response_class=HTMLResponse, responses=IN_CAMPAIGN)
async def raters(request: Request, link: Reader, slug: Slug) -> Response:
    """The raters: how much they have done, and how well."""
    kept = link.role == "owner" and await run_in_threadpool(keys_of, request) is not None
    return await _shown(desk_of(request, link), "raters", "raters", kept=kept)


@routes.get("/c/{slug}/panel/{name}", responses=documented(304, 401, 403, 404))
async def panel(request: Request, link: Reader, slug: Slug, name: Panel) -> Response:
    """One panel, to refresh its page with."""
    if name in FOR_OWNERS and link.role != "owner":
        raise HTTPException(403, SENTENCES[403])
    desk = desk_of(request, link)

    def answer() -> Response:
        return tagged(request, name, desk.basis(), lambda: desk.panel(name))

    return await run_in_threadpool(answer)


@routes.get(
    "/c/{slug}/browse", responses=documented(401, 403, 404, 422), response_class=HTMLResponse
)
async def browse(
    request: Request, link: Reader, slug: Slug, rater: Choice = None, system: Choice = None,
    doc: Choice = None, before: Before = None,
) -> Response:  # fmt: skip
    """Answers with their marks, newest first."""
    desk = desk_of(request, link)
    wanted = Wanted(rater or None, system or None, doc or None)

    def answer() -> str:
        found = desk.campaign.answers(wanted, before)
        names = dict(zip(("rater", "system", "doc"), desk.campaign.names(), strict=True))
        return desk.page(
            "browse", names=names, wanted=plain(wanted), before=before,
            answers=together(found),
            older=found[-1].number if len(found) == PAGE else None,
        )  # fmt: skip

    return HTMLResponse(await run_in_threadpool(answer))


@routes.get(
    "/c/{slug}/events", responses=documented(401, 403, 404, 422), response_class=HTMLResponse
)
async def events(request: Request, link: Owner, slug: Slug, before: Before = None) -> Response:
    """Who did what, and why."""
    desk = desk_of(request, link)

    def answer() -> str:
        found = desk.campaign.events(before)
        return desk.page(
            "events", events=[(event, *happened(event)) for event in found], before=before,
            older=found[-1].number if len(found) == PAGE else None,
        )  # fmt: skip

    return HTMLResponse(await run_in_threadpool(answer))


@routes.get("/c/{slug}/settings", response_class=HTMLResponse, responses=IN_CAMPAIGN)
async def settings(request: Request, link: Owner, slug: Slug) -> Response:
    """The settings that the campaign was created with."""
    desk = desk_of(request, link)
    return await _shown(desk, "settings", groups=chosen_settings(plain(desk.campaign.settings)))


def chosen_settings(settings: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The settings that have a value, by group; those without a group come first."""
    ungrouped = {key: value for key, value in settings.items() if not isinstance(value, dict)}
    groups = [("", ungrouped)]
    groups += [(key, value) for key, value in settings.items() if isinstance(value, dict)]
    texts = [
        (name, [(key, text) for key, value in group.items() if (text := _text(value))])
        for name, group in groups
    ]
    return [(name, rows) for name, rows in texts if rows]


def _text(value: Any) -> str:
    if value is None or value in ((), [], {}, ""):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_text(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items() if part is not None)
    return f"{value:g}" if isinstance(value, float) else str(value)


NO_TABLE = "the campaign has no such table so far"


@routes.get("/c/{slug}/export", response_class=Response, responses=IN_CAMPAIGN)
async def export_all(request: Request, link: Owner, slug: Slug) -> Response:
    """All tables in one zip file."""
    campaign = campaign_of(request)
    folder = tempfile.TemporaryDirectory(prefix="assay-export-")
    target = await run_in_threadpool(_zipped, campaign, Path(folder.name))
    return FileResponse(
        target, media_type="application/zip", filename=f"{campaign.slug}.zip",
        background=BackgroundTask(folder.cleanup),
    )  # fmt: skip


def _zipped(campaign: Campaign, folder: Path) -> Path:
    found = export_tables(campaign.collected(), folder / "tables", settings=campaign.settings)
    written = [*found.written, *([found.project] if found.project else [])]
    target = folder / "tables.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in map(Path, written):
            archive.write(path, f"{campaign.slug}/{path.name}")
    return target


@routes.get("/c/{slug}/export/{table}", response_class=Response, responses=IN_CAMPAIGN)
async def export_one(request: Request, link: Owner, slug: Slug, table: Slug) -> Response:
    """One table, tab-separated."""
    campaign = campaign_of(request)
    if table not in table_names(campaign.settings):
        raise HTTPException(404, NO_TABLE)
    folder = tempfile.TemporaryDirectory(prefix="assay-export-")
    target = Path(folder.name) / f"{table}.tsv"
    await run_in_threadpool(_table, campaign, table, target.parent)
    if not target.exists():
        folder.cleanup()
        raise HTTPException(404, NO_TABLE)
    return FileResponse(
        target, media_type="text/tab-separated-values",
        filename=f"{campaign.slug}-{table}.tsv", background=BackgroundTask(folder.cleanup),
    )  # fmt: skip


def _table(campaign: Campaign, name: str, folder: Path) -> None:
    frame = tables_of(campaign.collected()).get(name)
    if frame is not None:
        save(frame, folder / f"{name}.tsv")


@routes.get("/c/{slug}/report", response_class=HTMLResponse, responses=IN_CAMPAIGN)
async def report(request: Request, link: Reader, slug: Slug) -> Response:
    """The current report: one page that can be saved and shared."""
    text = await run_in_threadpool(_report, campaign_of(request))
    script = re.search(r"script-src ('sha256-[^']+')", text)
    assert script is not None
    # The report has inline style and script; the sandbox keeps it from acting for the owner.
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
        f" script-src {script[1]}; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " sandbox allow-scripts allow-downloads"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def _report(campaign: Campaign) -> str:
    results = campaign.results()
    shown = campaign.status() if results is None else results
    return html(make_report([shown], campaign.settings.name))


@contextmanager
def campaign_copy(campaign: Campaign) -> Iterator[tuple[Campaign, str]]:
    """An open copy of a campaign with an additional rater, and that rater's token."""
    if campaign.folder is None:
        raise NotNowError("only campaigns stored in a file can be previewed, not in PostgreSQL")
    with TemporaryDirectory(prefix="assay-preview-") as folder:
        campaign.backup(Path(folder) / FILE)
        with open_campaign(folder) as copy:
            copy.open("preview")
            (rater,) = copy.add_raters(1, "preview")
            yield copy, rater["token"]


KEPT = ("type", "asgi", "http_version", "method", "scheme", "query_string", "client", "server")


class Preview(ExitStack):
    """A copy of a campaign with the pages for it, thrown away when it is closed."""

    def __init__(self, campaign: Campaign) -> None:
        from assay.campaign.web.app import create_app  # which has the routes here

        super().__init__()
        copy, self.token = self.enter_context(campaign_copy(campaign))
        self.app = create_app(copy)


class Forwarded(Response):
    """The preview's reply to the same request, made as its rater."""

    def __init__(self, app: FastAPI, path: str, token: str) -> None:
        super().__init__()
        self.app, self.path, self.token = app, path, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the preview; the owner's link is not passed on."""
        headers = [one for one in scope["headers"] if one[0] not in (b"cookie", b"authorization")]
        own = {key: scope[key] for key in KEPT if key in scope} | {
            "path": self.path, "raw_path": self.path.encode(), "root_path": "", "state": {},
            "headers": [*headers, (b"authorization", f"Bearer {self.token}".encode())],
        }  # fmt: skip
        await self.app(own, receive, send)


@routes.get(
    "/c/{slug}/preview", status_code=303, response_class=RedirectResponse,
    responses=documented(401, 403, 404, 409),
)  # fmt: skip
async def preview(request: Request, link: Owner, slug: Slug) -> Response:
    """Start a new preview in place of the previous one."""
    campaign, previews = campaign_of(request), request.app.state.hub.previews

    def begin() -> None:
        if (old := previews.pop(campaign.slug, None)) is not None:
            old.close()
        previews[campaign.slug] = Preview(campaign)

    await run_in_threadpool(begin)
    return RedirectResponse(f"/c/{campaign.slug}/preview/rate", 303)


@routes.get("/c/{slug}/preview/rate", response_class=HTMLResponse, responses=IN_CAMPAIGN)
async def preview_page(request: Request, link: Owner, slug: Slug) -> Response:
    """The rater's page, marked as a preview."""
    return HTMLResponse(page("rate").replace("<html ", "<html data-preview ", 1))


@routes.api_route(
    "/c/{slug}/preview/{path:path}", methods=["GET", "POST", "PUT"], include_in_schema=False
)
async def forwarded(request: Request, link: Owner, slug: Slug, path: Slug) -> Response:
    """Forward a request of the rater's page."""
    found: Preview | None = request.app.state.hub.previews.get(campaign_of(request).slug)
    if found is None:
        raise HTTPException(404, SENTENCES[404])
    return Forwarded(found.app, f"/{path}", found.token)
