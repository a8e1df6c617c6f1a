"""The pages of one campaign and their panels, each rendered from what is known now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.store.browsing import PAGE, Wanted
from assay.campaign.store.tally import HOUR_MS
from assay.campaign.store.units.people import Link
from assay.campaign.web.desk import charts, marking, words
from assay.campaign.web.desk.rendering import render, tagged
from assay.campaign.web.owner import Slug
from assay.campaign.web.roles import SENTENCES, Owner, Reader, campaign_of, documented
from assay.collecting.live import CampaignResults, NextLook
from assay.results import plain
from assay.views.section import section_of

routes = APIRouter(tags=["desk"])
Panel = Literal["head", "results", "progress", "raters", "looks", "checks", "audit"]
FOR_OWNERS = ("audit",)
OLD_MS = 60_000
"""A result is computed within seconds; one that is this much older than the answers is late."""
MOST_DAYS = 90
"""Farther off nothing is foretold."""
Before = Annotated[int | None, Query(ge=1, le=2**53)]
Choice = Annotated[str | None, Query(max_length=400)]


@dataclass(frozen=True, slots=True)
class Desk:
    """A campaign and who looks at it."""

    campaign: Campaign
    link: Link

    @property
    def content(self) -> dict[str, Any]:
        """What every page and panel may name."""
        campaign = self.campaign
        return {
            "slug": campaign.slug, "name": campaign.settings.name,
            "settings": campaign.settings, "owner": self.link.role == "owner",
            "states": words.STATES, "protocols": words.PROTOCOLS, "acts": words.ACTS,
            "rule": words.rule(campaign.settings),
            "tables": words.table_names(campaign.settings),
        }  # fmt: skip

    def panel(self, name: Panel) -> str:
        """One panel."""
        return render(f"panel-{name}", **self.content, **self._found((name,)))

    def basis(self) -> object:
        """What panels depend on."""
        results = self.campaign.results()
        computed = None if results is None else results.as_of
        return self.campaign.version(), computed, self.campaign.failing(), self.link.role

    def page(self, name: str, /, *panels: Panel, **more: Any) -> str:
        """A whole page."""
        found = self._found(("head", *panels))
        return render(name, **self.content, **found, tab=name, panels=panels, **more)

    def _found(self, panels: Sequence[str]) -> dict[str, Any]:
        """What these panels show."""
        campaign = self.campaign
        if panels == ("audit",):
            return {"events": [(event, *words.happened(event)) for event in campaign.events()]}
        status, results = campaign.status(), live(campaign)
        line = charts.over_time(campaign.pace())
        found: dict[str, Any] = {
            "status": status, "results": results, "failing": campaign.failing(), "line": line,
            "measure": "Effort" if status.protocol == "post-edit" else "Score",
        }  # fmt: skip
        if results is not None:
            report = results.found.raters
            found["drawn"] = charts.drawn(results.found) if "results" in panels else None
            found["due"] = _due(results.found.next_look, line)
            found["costly"] = [pair for pair in results.found.undecided if pair.ratings != 0]
            found["report"] = {one.rater: one for one in report.raters} if report else None
        return dict.fromkeys(("report", "drawn", "due", "costly")) | found


@dataclass(frozen=True, slots=True)
class LivePage:
    """The newest result, in words too."""

    found: CampaignResults
    headline: str
    lead: str
    stale: bool
    """Whether answers have come since that should have made another one."""

    @property
    def as_of(self) -> str:
        """When it was computed."""
        return self.found.as_of


def live(campaign: Campaign) -> LivePage | None:
    """The newest result that was computed, if there is one."""
    found = campaign.results()
    if found is None:
        return None
    section = section_of(found)
    age = campaign.now() - datetime.fromisoformat(found.as_of).timestamp() * 1000
    last = max((hour for hour, _ in campaign.pace()), default=0)
    stale = age > OLD_MS and (last + 1) * HOUR_MS > campaign.now() - age
    return LivePage(found, section.headline, section.lead, stale and not _all_in(campaign, found))


def _all_in(campaign: Campaign, found: CampaignResults) -> bool:
    return campaign.status().beginning == found.beginning


def _due(look: NextLook | None, line: charts.Line | None) -> int | None:
    """About when the next look is, at the pace of the last day."""
    if look is None or line is None or not line.per_day:
        return None
    days = look.answers / line.per_day
    return None if days > MOST_DAYS else round(line.last + days * 24 * HOUR_MS)


def desk_of(request: Request, link: Link) -> Desk:
    """The desk that a request is about."""
    return Desk(campaign_of(request), link)


async def _shown(desk: Desk, name: str, /, *panels: Panel, **more: Any) -> Response:
    return HTMLResponse(await run_in_threadpool(desk.page, name, *panels, **more))


@routes.get("/c/{slug}", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def results(request: Request, link: Reader, slug: Slug) -> Response:
    """What the answers say so far, and how far the work is."""
    return await _shown(desk_of(request, link), "results", "results", "looks", "progress", "checks")


@routes.get("/c/{slug}/raters", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def raters(request: Request, link: Reader, slug: Slug) -> Response:
    """Who works, how much and how well."""
    return await _shown(desk_of(request, link), "raters", "raters")


@routes.get("/c/{slug}/panel/{name}", responses=documented(304, 401, 403, 404))
async def panel(request: Request, link: Reader, slug: Slug, name: Panel) -> Response:
    """One panel of a page, which puts it in the place of the one before."""
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
    """The answers with their marks, newest first."""
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
    """What was done by whom, and why."""
    desk = desk_of(request, link)

    def answer() -> str:
        found = desk.campaign.events(before)
        return desk.page(
            "events", events=[(event, *words.happened(event)) for event in found], before=before,
            older=found[-1].number if len(found) == PAGE else None,
        )  # fmt: skip

    return HTMLResponse(await run_in_threadpool(answer))


@routes.get("/c/{slug}/settings", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def settings(request: Request, link: Owner, slug: Slug) -> Response:
    """What was decided before the campaign began."""
    desk = desk_of(request, link)
    groups = words.settled(plain(desk.campaign.settings))
    return await _shown(desk, "settings", groups=groups)
