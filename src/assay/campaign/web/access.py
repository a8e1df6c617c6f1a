"""Who may do what: checks on every request, limits on how many, and the roles of each route."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from re import compile as pattern
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar, TypeVarTuple
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.campaign.campaign import Campaign
from assay.campaign.hub import Access, Hub
from assay.campaign.store.unit import Link, Unit
from assay.campaign.uploads import MOST_BYTES as MOST_UPLOADED

MOST_KEPT = 10_000
"""Buckets in memory; beyond it full buckets are dropped, which loses nothing."""


@dataclass
class Bucket:
    """Tokens left at a moment."""

    tokens: float
    at: float


@dataclass
class Limit:
    """A token bucket per key: ``rate`` requests a second on average, ``burst`` at once.

    >>> limit = Limit(rate=1, burst=2, clock=lambda: 0.0)
    >>> [limit.spend("a"), limit.spend("a"), limit.spend("a"), limit.spend("b")]
    [True, True, False, True]
    """

    rate: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    buckets: dict[str, Bucket] = field(default_factory=dict, repr=False)

    def spend(self, key: str) -> bool:
        """Count one more request if it is allowed; whether it is."""
        now = self.clock()
        bucket = self.buckets.get(key)
        if bucket is None:
            if len(self.buckets) >= MOST_KEPT:
                self._drop_full(now)
            bucket = self.buckets[key] = Bucket(self.burst, now)
        bucket.tokens = self._left(bucket, now)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _left(self, bucket: Bucket, now: float) -> float:
        return min(self.burst, bucket.tokens + (now - bucket.at) * self.rate)

    def _drop_full(self, now: float) -> None:
        self.buckets = {
            key: bucket
            for key, bucket in self.buckets.items()
            if self._left(bucket, now) < self.burst
        }


Given = ParamSpec("Given")
Arguments = TypeVarTuple("Arguments")
Reply = TypeVar("Reply")

log = logging.getLogger("assay.campaign")

MOST_BYTES = 256 * 1024
"""The largest body, uploads aside."""
MOST_SECONDS, MOST_UPLOAD_SECONDS = 60, 1800
"""The time in which a body must arrive, and an upload."""
LATE = "did not come in time; send it again"
UPLOAD = pattern(r"/api/uploads/[^/]+/files/[^/]+")
"""Where a file is uploaded as it is; every other body is JSON."""
OWN_HEADER = "x-assay"
"""Sent by our pages with every write; a form on another site cannot set it."""
COOKIE = "assay"
UNAVAILABLE = "nothing can be stored now; send the same again in a few seconds"

CONTENT_POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "media-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'",
))  # fmt: skip
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuse what no route should see, and add the security headers to every reply."""

    def __init__(self, app: ASGIApp, *, public_url: str | None = None) -> None:
        self.app = app
        self.public_origin = _origin(public_url) if public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        try:
            await self.app(scope, _limited(receive, most_bytes(scope)), send_guarded)
        except Exception as error:
            log.error("failure", extra={"fields": failure(error)})
            if not started:
                await refused(503, UNAVAILABLE)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        if scope["method"] not in ("POST", "PUT", "PATCH", "DELETE"):
            return None
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most_bytes(scope):
            return _too_large(most_bytes(scope))
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = "application/octet-stream" if is_upload(scope) else "application/json"
        if kind != wanted:
            return refused(415, f"send it with the content type {wanted}")
        if headers.get("authorization", "").lower().startswith("bearer "):
            return None  # unlike Basic credentials, a browser never adds this on its own
        if OWN_HEADER not in headers or not self._comes_from_here(headers, scope):
            return refused(403, "a browser may write from Assay's own pages alone")
        return None

    def _comes_from_here(self, headers: Headers, scope: Scope) -> bool:
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        origin = headers.get("origin")
        here = f"{scope['scheme']}://{headers.get('host', '')}".lower()
        return origin is None or _origin(origin) in (here, self.public_origin)


def _origin(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return "none"
    return f"{parts.scheme}://{parts.netloc}".lower()


def is_upload(scope: Scope) -> bool:
    """Whether the body is an upload, which is streamed to disk."""
    return scope["method"] == "PUT" and UPLOAD.fullmatch(scope["path"]) is not None


def most_bytes(scope: Scope) -> int:
    """Return the largest body that a request may have."""
    return MOST_UPLOADED if is_upload(scope) else MOST_BYTES


def _limited(receive: Receive, most: int) -> Receive:
    """Refuse a body that is too large or too slow."""
    read, whole = 0, False
    seconds = MOST_SECONDS if most <= MOST_BYTES else MOST_UPLOAD_SECONDS
    until = asyncio.get_running_loop().time() + seconds

    async def receive_limited() -> Message:
        nonlocal read, whole
        try:
            async with asyncio.timeout_at(None if whole else until):
                message = await receive()
        except TimeoutError:
            raise HTTPException(400, LATE, {"Connection": "close"}) from None
        whole = not message.get("more_body", False)
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413)
        return message

    return receive_limited


def _too_large(most: int) -> JSONResponse:
    size = f"{most // 1024} kB" if most < 1024**2 else f"{most // 1024**2} MB"
    return refused(413, f"the body is larger than {size}")


def failure(error: BaseException) -> dict[str, object]:
    """Kind and place of a failure, without its message, which may quote user data."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "kind": type(error).__name__,
        "where": [f"{one.filename}:{one.lineno} {one.name}" for one in frames],
    }


def refused(status: int, error: str, **more: Any) -> JSONResponse:
    """Make a refusal with a sentence; one that may be tried again says when."""
    headers = {"Retry-After": "5"} if status in (429, 503) else None
    return JSONResponse({"error": error} | more, status, headers)


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


class Visits:
    """Counts requests: per link where there is one, else per address."""

    def __init__(self) -> None:
        self.requests = Limit(rate=20, burst=60)
        self.wrong = Limit(rate=10 / 60, burst=10)


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


def campaigns_of(request: Request) -> list[Campaign]:
    """Return the campaigns that the link of a request may see."""
    own: Campaign | None = request.state.campaign
    return list(request.app.state.hub.campaigns.values()) if own is None else [own]


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


IN_CAMPAIGN = documented(401, 403, 404)
CHANGED = documented(401, 403, 404, 413, 415, 422)
STEERED = documented(401, 403, 404, 409, 413, 415, 422)
"""The refusals of routes that show something of a campaign, change it, or need it in some state."""


async def written(
    request: Request, work: Callable[[Unit, *Arguments], Reply], *args: *Arguments
) -> Reply:
    """Run a unit of work; return its reply once it is on disk."""
    reply: Reply = await asyncio.wrap_future(campaign_of(request).later(work, *args))
    return reply


async def read(
    request: Request, ask: Callable[Concatenate[Campaign, Given], Reply], *args: Given.args,
    **options: Given.kwargs,
) -> Reply:  # fmt: skip
    """Call a method that reads."""
    return await run_in_threadpool(ask, campaign_of(request), *args, **options)
