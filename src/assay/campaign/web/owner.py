"""The owner's requests: status, links, the state of the campaign, and its raters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi import Path as PathParameter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign import wire
from assay.campaign.campaign import Campaign
from assay.campaign.keys import FILE, Keys, keep_raters, read_keys
from assay.campaign.store import people
from assay.campaign.web.access import (
    CHANGED,
    IN_CAMPAIGN,
    STEERED,
    Owner,
    Reader,
    campaign_of,
    campaigns_of,
    documented,
    read,
    written,
)

routes = APIRouter(tags=["owner"])
STATES = {"open": "open", "pause": "paused", "resume": "open", "close": "closed"}
"""The state that each act brings."""
NO_LINKS = "this server does not keep the links; create new ones on the Raters page"
Slug = Annotated[str, PathParameter(max_length=200)]


async def current_status(request: Request) -> dict[str, Any]:
    """The campaign's status after a change."""
    return (await read(request, Campaign.status)).to_dict()


@routes.get("/api/campaigns", responses=documented(401, 403))
async def campaigns(request: Request, link: Reader) -> list[dict[str, Any]]:
    """The campaigns that this link may see."""
    here = campaigns_of(request)
    return [{"slug": one.slug, "name": one.settings.name, "role": link.role} for one in here]


@routes.get("/api/campaigns/{slug}", responses=IN_CAMPAIGN)
async def status(request: Request, link: Reader, slug: Slug) -> dict[str, Any]:
    """The status of the campaign."""
    return await current_status(request)


@routes.get("/api/campaigns/{slug}/links", responses=IN_CAMPAIGN)
async def links(request: Request, link: Owner, slug: Slug) -> Any:
    """All links without their tokens, which are shown only when they are created."""
    return await read(request, Campaign.links)


@routes.post("/c/{slug}/exclude", responses=STEERED)
async def exclude(request: Request, link: Owner, slug: Slug, body: wire.Excluded) -> dict[str, Any]:
    """Exclude a rater: their tasks go to others, their answers are kept but not counted."""
    await written(request, people.exclude, body.rater, body.reason, link.actor)
    return await current_status(request)


@routes.post("/c/{slug}/restore", responses=STEERED)
async def restore(request: Request, link: Owner, slug: Slug, body: wire.Person) -> dict[str, Any]:
    """Restore an excluded rater."""
    await written(request, people.restore, body.rater, link.actor)
    return await current_status(request)


@routes.post("/c/{slug}/rule", responses=STEERED)
async def change_rule(
    request: Request, link: Owner, slug: Slug, body: wire.RuleChange
) -> dict[str, Any]:
    """Change the stopping rule; looks already taken stay as they are."""
    await written(request, people.change_rule, body.goal, body.target, body.reason, link.actor)
    return await current_status(request)


@routes.post("/c/{slug}/message", status_code=204, responses=CHANGED)
async def message(request: Request, link: Owner, slug: Slug, body: wire.Message) -> Response:
    """Message a rater, whose page shows it until it is marked as read."""
    await written(request, people.send_message, body.rater, body.text, link.actor)
    return Response(status_code=204)


@routes.post("/c/{slug}/links", responses=CHANGED)
async def renew_link(
    request: Request, link: Owner, slug: Slug, body: wire.Person
) -> dict[str, Any]:
    """Create a new link for a rater, shown once, and revoke the old ones."""
    token = await written(request, people.renew_link, body.rater, link.actor)
    return await run_in_threadpool(_new_links, request, {body.rater: token})


@routes.post("/c/{slug}/raters", responses=CHANGED)
async def add_raters(request: Request, link: Owner, slug: Slug, body: wire.More) -> dict[str, Any]:
    """Add raters, each with a link that is shown once."""
    made = await written(request, people.add_raters, body.number, link.actor)
    tokens = {one["rater"]: one["token"] for one in made}
    return await run_in_threadpool(_new_links, request, tokens)


@routes.get("/c/{slug}/links", responses=IN_CAMPAIGN)
async def kept_links(request: Request, link: Owner, slug: Slug) -> dict[str, Any]:
    """All links, if this server keeps them."""
    keys = await run_in_threadpool(keys_of, request)
    if keys is None:
        raise HTTPException(404, NO_LINKS)
    return keys.links()


def keys_of(request: Request) -> Keys | None:
    """The campaign's keys, if this server keeps them."""
    folder = _keys_folder(request)
    return None if folder is None else read_keys(folder)


def _keys_folder(request: Request) -> Path | None:
    campaign = campaign_of(request)
    folder: Path | None = request.app.state.hub.folders.get(campaign.slug) or campaign.folder
    return folder if folder is not None and (folder / FILE).is_file() else None


def _new_links(request: Request, tokens: dict[str, str]) -> dict[str, Any]:
    """New links as addresses, added to the stored keys if there are any."""
    folder, begin = _keys_folder(request), str(request.base_url).rstrip("/")
    if folder is not None:
        begin = keep_raters(folder, tokens).public
    return {"links": [
        {"rater": rater, "link": f"{begin}/r/{token}"} for rater, token in tokens.items()
    ]}  # fmt: skip


@routes.post("/c/{slug}/{act}", responses=STEERED)
async def steer(
    request: Request,
    link: Owner,
    slug: Slug,
    act: Literal["open", "pause", "resume", "close"],
    body: wire.Why,
) -> dict[str, Any]:
    """Open, pause, resume or close the campaign, and record who did it and why."""
    await written(request, people.set_state, STATES[act], link.actor, body.reason)
    return await current_status(request)
