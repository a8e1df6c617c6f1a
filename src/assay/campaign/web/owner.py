"""What the owner asks: how it stands; to open, pause or close; to leave raters out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.keys import FILE, Keys, keep_raters, read_keys
from assay.campaign.web import wire
from assay.campaign.web.rater import read, written
from assay.campaign.web.roles import Owner, Reader, campaign_of, documented

routes = APIRouter(tags=["owner"])
NO_LINKS = "the links are not kept on this server; make new ones on the page of raters"
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
    await written(request, "exclude", body.rater, body.reason, link.actor)
    return await standing(request)


@routes.post("/c/{slug}/restore", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def restore(request: Request, link: Owner, slug: Slug, body: wire.Person) -> dict[str, Any]:
    """Take a rater in again."""
    await written(request, "restore", body.rater, link.actor)
    return await standing(request)


@routes.post("/c/{slug}/rule", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def change_rule(
    request: Request, link: Owner, slug: Slug, body: wire.RuleChange
) -> dict[str, Any]:
    """End the collecting otherwise than planned; looks that took place stay as they are."""
    await written(request, "change_rule", body.goal, body.target, body.reason, link.actor)
    return await standing(request)


@routes.post(
    "/c/{slug}/message", status_code=204, responses=documented(401, 403, 404, 413, 415, 422)
)
async def message(request: Request, link: Owner, slug: Slug, body: wire.Message) -> Response:
    """Say something to a rater; their page shows it until they have read it."""
    await written(request, "message", body.rater, body.text, link.actor)
    return Response(status_code=204)


@routes.post("/c/{slug}/links", responses=documented(401, 403, 404, 413, 415, 422))
async def renew_link(
    request: Request, link: Owner, slug: Slug, body: wire.Person
) -> dict[str, Any]:
    """A new link for a rater, shown once; the earlier ones end."""
    token = await written(request, "new_link", body.rater, link.actor)
    return await run_in_threadpool(_handed_over, request, {body.rater: token})


@routes.post("/c/{slug}/raters", responses=documented(401, 403, 404, 413, 415, 422))
async def add_raters(request: Request, link: Owner, slug: Slug, body: wire.More) -> dict[str, Any]:
    """More raters, each with a link that is shown once."""
    made = await written(request, "add_raters", body.number, link.actor)
    tokens = {one["rater"]: one["token"] for one in made}
    return await run_in_threadpool(_handed_over, request, tokens)


@routes.get("/c/{slug}/links", responses=documented(401, 403, 404))
async def kept_links(request: Request, link: Owner, slug: Slug) -> dict[str, Any]:
    """Everybody's link, where this server keeps them."""
    keys = await run_in_threadpool(keys_of, request)
    if keys is None:
        raise HTTPException(404, NO_LINKS)
    return keys.links()


def keys_of(request: Request) -> Keys | None:
    """The links of a campaign's raters, where this server keeps them."""
    campaign = campaign_of(request)
    folder = request.app.state.hub.folders.get(campaign.slug) or campaign.folder
    return None if folder is None or not (folder / FILE).is_file() else read_keys(folder)


def _handed_over(request: Request, tokens: dict[str, str]) -> dict[str, Any]:
    """New links as addresses; kept beside the others, where those are kept."""
    campaign = campaign_of(request)
    folder = request.app.state.hub.folders.get(campaign.slug) or campaign.folder
    begin = str(request.base_url).rstrip("/")
    if folder is not None and (folder / FILE).is_file():
        begin = keep_raters(folder, tokens).public
    return {"links": [
        {"rater": rater, "link": f"{begin}/r/{token}"} for rater, token in tokens.items()
    ]}  # fmt: skip


@routes.post("/c/{slug}/{act}", responses=documented(401, 403, 404, 409, 413, 415, 422))
async def steer(
    request: Request,
    link: Owner,
    slug: Slug,
    act: Literal["open", "pause", "resume", "close"],
    body: wire.Why,
) -> dict[str, Any]:
    """Open, pause, resume or close; who did it and why is kept."""
    await written(request, act, link.actor, body.reason)
    return await standing(request)
