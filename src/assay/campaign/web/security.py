"""Checks on every request and headers on every reply: sizes, types, origin."""

from __future__ import annotations

import asyncio
import logging
from re import compile as pattern
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.campaign.uploads import MOST_BYTES as MOST_UPLOADED
from assay.campaign.web.logs import failure

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


def refused(status: int, error: str, **more: Any) -> JSONResponse:
    """Make a refusal with a sentence; one that may be tried again says when."""
    headers = {"Retry-After": "5"} if status in (429, 503) else None
    return JSONResponse({"error": error} | more, status, headers)
