"""What the owner asks: how it stands; to open, pause or close; to leave raters out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request

from assay.campaign.campaign import Campaign
from assay.campaign.web import wire
from assay.campaign.web.rater import read, written
from assay.campaign.web.roles import Owner, Reader, documented

routes = APIRouter(tags=["owner"])
Slug = Annotated[str, Path(max_length=200)]


async def standing(request: Request) -> dict[str, Any]:
    """How the campaign stands now."""
    state: dict[str, Any] = (await read(request, "status")).to_dict()
    return state


@routes.get("/api/campaigns", responses=documented(401, 403))
async def campaigns(request: Request, link: Reader) -> list[dict[str, Any]]:
    """The campaigns that this link may look at."""
    own: Campaign | None = request.state.campaign
    here = list(request.app.state.hub.campaigns.values()) if own is None else [own]
    return [{"slug": one.slug, "name": one.settings.name, "role": link.role} for one in here]


@routes.get("/api/campaigns/{slug}", responses=documented(401, 403, 404))
async def status(request: Request, link: Reader, slug: Slug) -> dict[str, Any]:
    """How the campaign stands."""
    return await standing(request)


@routes.get("/api/campaigns/{slug}/links", responses=documented(401, 403, 404))
async def links(request: Request, link: Owner, slug: Slug) -> Any:
    """Every link, without its token: those are shown once, when they are made."""
    return await read(request, "links")


@routes.post("/c/{slug}/exclude", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def exclude(request: Request, link: Owner, slug: Slug, body: wire.Excluded) -> dict[str, Any]:
    """Leave a rater out: their tasks are dealt again, and what they sent is kept."""
    await written(request, "exclude", body.rater, body.reason, link.id)
    return await standing(request)


@routes.post("/c/{slug}/restore", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def restore(request: Request, link: Owner, slug: Slug, body: wire.Person) -> dict[str, Any]:
    """Take a rater in again."""
    await written(request, "restore", body.rater, link.id)
    return await standing(request)


@routes.post("/c/{slug}/{act}", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def steer(
    request: Request,
    link: Owner,
    slug: Slug,
    act: Literal["open", "pause", "resume", "close"],
    body: wire.Why,
) -> dict[str, Any]:
    """Open, pause, resume or close; who did it and why is kept."""
    await written(request, act, link.id, body.reason)
    return await standing(request)
