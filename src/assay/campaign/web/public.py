"""Requests that need no link: entry by link, empty pages, static files, health."""

from __future__ import annotations

import hashlib
import mimetypes
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign import wire
from assay.campaign.campaign import Campaign
from assay.campaign.store import people
from assay.campaign.web.access import (
    COOKIE,
    IN_CAMPAIGN,
    SENTENCES,
    STEERED,
    Anyone,
    Joiner,
    Reader,
    Uncounted,
    campaign_of,
    documented,
    find_access,
    read,
    written,
)
from assay.campaign.web.rendering import environment

routes = APIRouter(tags=["public"])
HOME = {"rater": "/rate", "owner": "/", "viewer": "/"}
YEAR = 365 * 24 * 3600
Name = Annotated[str, PathParameter(max_length=200)]


@cache
def static_files() -> dict[str, tuple[bytes, str, str]]:
    """Every static file: content, type and tag."""
    root, found = Path(__file__).parent / "static", {}
    for path in root.rglob("[!.]*.*"):
        content = path.read_bytes()
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        kind = "text/javascript" if path.suffix == ".js" else kind
        found[path.relative_to(root).as_posix()] = content, kind, tag
    return found


@cache
def page(name: str) -> str:
    """An empty page, which its modules fill with what the link may see."""
    return environment().get_template(f"{name}.html").render()


def with_cookie(response: Response, request: Request, token: str) -> Response:
    """The reply with the link's token in a cookie that scripts cannot read."""
    secure = request.app.state.secure or request.url.scheme == "https"
    response.set_cookie(
        COOKIE, token, max_age=YEAR, httponly=True, samesite="strict", secure=secure, path="/"
    )
    return response


@routes.get(
    "/r/{token}", response_class=RedirectResponse, status_code=303, responses=documented(401)
)
async def enter(request: Request, visitor: Anyone, token: Name) -> Response:
    """Move a link's token from the address bar to a cookie and go to its page."""
    found = await find_access(request.app.state.hub, token)
    if found is None:
        wrong = request.client.host if request.client else ""
        allowed = request.app.state.visits.wrong.spend(wrong)
        return HTMLResponse(page("unknown"), 401 if allowed else 429)
    role, query = found.link.role, ""
    home = "/campaigns" if found.campaign is None else HOME.get(role, "")
    if role == "join" and found.campaign is not None:
        home = f"/join/{found.campaign.slug}"
        query = f"?{request.url.query}" if request.url.query else ""
    elif role in ("owner", "viewer") and found.campaign is not None:
        home = f"/c/{found.campaign.slug}"
    return with_cookie(RedirectResponse(home + query, 303), request, token)


@routes.get("/rate", response_class=HTMLResponse, responses=documented(401, 403))
async def rate_page(visitor: Anyone) -> Response:
    """The rater's page; without a rater's link it is empty and says so."""
    return HTMLResponse(page("rate"), _status(visitor, "rater"))


@routes.get("/", response_class=RedirectResponse, status_code=303, responses=documented(401, 403))
async def home(request: Request, link: Reader) -> Response:
    """The page of the link's campaign, or the list of all campaigns."""
    own = request.state.campaign
    return RedirectResponse("/campaigns" if own is None else f"/c/{own.slug}", 303)


def _status(visitor: Any, *roles: str) -> int:
    """The page's status; a page opened from another site has no cookie yet and asks again."""
    if visitor is None:
        return 401
    return 200 if visitor.role in roles else 403


@routes.get("/join/{slug}", response_class=HTMLResponse, responses=documented(404))
async def join_page(request: Request, visitor: Anyone, slug: Name) -> Response:
    """The consent page."""
    if slug not in request.app.state.hub.campaigns:
        raise HTTPException(404, SENTENCES[404])
    return HTMLResponse(page("join"))


@routes.get("/api/join/{slug}", responses=IN_CAMPAIGN)
async def consent(request: Request, link: Joiner, slug: Name) -> dict[str, Any]:
    """The campaign's name and consent text."""
    return {
        "campaign": campaign_of(request).settings.name,
        "consent": await read(request, Campaign.consent),
    }


@routes.post("/api/join/{slug}", responses=STEERED)
async def join(request: Request, link: Joiner, slug: Name, body: wire.Joining) -> Response:
    """Become a rater; the same outside id always leads to the same rater."""
    token = await written(request, people.join, body.params, body.consent)
    return with_cookie(JSONResponse({"next": HOME["rater"]}), request, token)


@routes.get("/static/{path:path}", response_class=Response, responses=documented(404))
async def static(request: Request, visitor: Uncounted, path: Name) -> Response:
    """A module, style sheet or catalogue of the pages."""
    found = static_files().get(path)
    if found is None:
        raise HTTPException(404, SENTENCES[404])
    content, kind, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@routes.get("/healthz", responses=documented())
async def healthz(visitor: Uncounted) -> dict[str, str]:
    """Whether the server answers."""
    return {"state": "ok"}


@routes.get("/readyz", responses=documented())
async def readyz(request: Request, visitor: Anyone) -> dict[str, str]:
    """Whether the stores answer too."""
    await run_in_threadpool(request.app.state.hub.ready)
    return {"state": "ready"}


@routes.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, visitor: Anyone) -> dict[str, Any]:
    """Every route, body and refusal."""
    schema: dict[str, Any] = request.app.openapi()
    return schema
