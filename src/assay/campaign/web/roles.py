"""Which links may use which routes: every route declares its roles with a dependency from here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.hub import Access, Hub
from assay.campaign.store.units.base import Link
from assay.campaign.web.security import COOKIE, UNAVAILABLE

SENTENCES = {
    304: "nothing has changed",
    401: "this page needs the link that you were given",
    403: "this link is for something else",
    404: "nothing of yours has this name",
    405: "this address is asked in another way",
    409: "this cannot be done now; the sentence says why",
    413: "the body is larger than 256 kB, a file than 64 MB",
    415: "the body has another content type than is wanted here",
    422: "what was sent does not fit; every fault is listed with its path",
    429: "too many requests; wait a moment",
    503: UNAVAILABLE,
}
"""What every refusal means, as OpenAPI lists them too."""


class Needs:
    """A dependency that admits links of these roles, or anyone if none is named.

    A page of one campaign is open to links of that campaign and to the owner of the server; a page
    of ``all_campaigns`` to the owner of the server alone. With ``remembered`` a link that was
    looked up before is not looked up again: the unit of work asks whether it still holds.
    """

    def __init__(
        self, *roles: str, counted: bool = True, all_campaigns: bool = False,
        remembered: bool = False,
    ) -> None:  # fmt: skip
        self.roles = roles
        self.counted = counted
        self.all_campaigns = all_campaigns
        self.remembered = remembered

    async def __call__(self, request: Request) -> Link | None:
        """Count and check a request; return its link."""
        if not self.counted:
            return None
        state = request.app.state
        token = token_of(request)
        found = state.hub.remembered(token) if token and self.remembered else None
        if token and found is None:
            found = await find_access(state.hub, token)
        link = found.link if found else None
        address = request.client.host if request.client else ""
        if token and link is None and not state.visits.wrong.spend(address):
            raise HTTPException(429, SENTENCES[429])
        if not state.visits.requests.spend(_counted_as(found) or f"address {address}"):
            raise HTTPException(429, SENTENCES[429])
        request.state.campaign = found.campaign if found else None
        if not self.roles:
            return link
        if found is None:
            raise HTTPException(401, SENTENCES[401])
        if "slug" in request.path_params:
            request.state.campaign = _campaign_named(request, found)
        if found.link.role not in self.roles or (self.all_campaigns and found.campaign):
            raise HTTPException(403, SENTENCES[403])
        return link


def _counted_as(found: Access | None) -> str | None:
    if found is None:
        return None
    return f"link {found.link.id} of {found.campaign.slug if found.campaign else 'all'}"


def _campaign_named(request: Request, found: Access) -> Campaign:
    """Return the campaign that a path names; refuse links of other campaigns."""
    hub: Hub = request.app.state.hub
    campaign = hub.campaigns.get(request.path_params["slug"])
    if campaign is None or found.campaign not in (campaign, None):
        raise HTTPException(404, SENTENCES[404])
    return campaign


def campaign_of(request: Request) -> Campaign:
    """Return the campaign of a request: that of its link, or the one in its path."""
    campaign: Campaign | None = request.state.campaign
    if campaign is None:
        raise HTTPException(404, SENTENCES[404])
    return campaign


async def find_access(hub: Hub, token: str) -> Access | None:
    """Look a token up, unless it cannot be one."""
    if not (token.isascii() and 8 <= len(token) <= 200):
        return None
    return await run_in_threadpool(hub.find, token)


def token_of(request: Request) -> str | None:
    """Return the token of a request: a script's header comes before a browser's cookie."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and value.strip():
        return value.strip()
    return request.cookies.get(COOKIE)


Anyone = Annotated[Link | None, Depends(Needs())]
Uncounted = Annotated[None, Depends(Needs(counted=False))]
"""Anyone, without a limit: for what comes from memory and is the same for all."""
Rater = Annotated[Link, Depends(Needs("rater"))]
Worker = Annotated[Link, Depends(Needs("rater", remembered=True))]
"""A rater at work, whose link is checked in the transaction that stores what they send."""
Joiner = Annotated[Link, Depends(Needs("join"))]
Owner = Annotated[Link, Depends(Needs("owner"))]
Reader = Annotated[Link, Depends(Needs("owner", "viewer"))]
Host = Annotated[Link, Depends(Needs("owner", all_campaigns=True))]
"""The owner of the server, who owns all its campaigns and may make new ones."""


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """List the refusals of a route for OpenAPI; any route may answer 429 or 503."""
    return {
        status: {
            "description": SENTENCES[status],
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
        }
        for status in sorted({*statuses, 429, 503})
    }
