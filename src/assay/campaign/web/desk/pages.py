"""The pages of one campaign and their panels, rendered from its current state."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.events import happened
from assay.campaign.exchange.export import table_names
from assay.campaign.store.browsing import PAGE, Wanted
from assay.campaign.store.tally import HOUR_MS
from assay.campaign.store.units.base import Link
from assay.campaign.web.desk import marking
from assay.campaign.web.desk.rendering import render, tagged
from assay.campaign.web.desk.results import Line, over_time, page_results
from assay.campaign.web.owner import Slug, keys_of
from assay.campaign.web.roles import SENTENCES, Owner, Reader, campaign_of, documented
from assay.campaign.web.wire import MOST_NUMBER, Text
from assay.collecting.live import NextLook
from assay.results import plain
from assay.views.live import PROTOCOLS, STATES, rule_text

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
    own: Campaign | None = request.state.campaign
    here = list(request.app.state.hub.campaigns.values()) if own is None else [own]
    return {
        "campaigns": [(one.settings.protocol, one.status()) for one in here],
        "host": own is None, "owner": link.role == "owner", "states": STATES,
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


@routes.get("/c/{slug}", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def results(request: Request, link: Reader, slug: Slug) -> Response:
    """Results so far, and progress."""
    return await _shown(desk_of(request, link), "results", "results", "looks", "progress", "checks")


@routes.get("/c/{slug}/raters", response_class=HTMLResponse, responses=documented(401, 403, 404))
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
            answers=marking.together(found),
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


@routes.get("/c/{slug}/settings", response_class=HTMLResponse, responses=documented(401, 403, 404))
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
