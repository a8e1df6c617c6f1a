"""The pages of one campaign and their panels, each rendered from what is known now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.store.browsing import PAGE, Wanted
from assay.campaign.store.units.people import Link
from assay.campaign.web.desk import charts, marking, words
from assay.campaign.web.desk.rendering import render, tagged
from assay.campaign.web.owner import Slug
from assay.campaign.web.roles import SENTENCES, Owner, Reader, campaign_of, documented
from assay.results import plain

routes = APIRouter(tags=["desk"])
Panel = Literal["head", "results", "progress", "raters", "looks", "checks", "audit"]
FOR_OWNERS = ("audit",)
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
        return render(f"panel-{name}", **self.content, **self._found(name))

    def basis(self) -> object:
        """What panels depend on."""
        return self.campaign.version(), self.campaign.failing(), self.link.role

    def page(self, name: str, /, *panels: Panel, **more: Any) -> str:
        """A whole page."""
        found: dict[str, Any] = {}
        for panel in ("head", *panels):
            found |= self._found(panel)
        return render(name, **self.content, **found, tab=name, panels=panels, **more)

    def _found(self, name: str) -> dict[str, Any]:
        if name == "audit":
            return {"events": [(event, *words.happened(event)) for event in self.campaign.events()],
                    "older": None}  # fmt: skip
        found: dict[str, Any] = {
            "status": self.campaign.status(), "failing": self.campaign.failing(),
        }  # fmt: skip
        if name == "progress":
            found["line"] = charts.over_time(self.campaign.pace())
        return found


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
