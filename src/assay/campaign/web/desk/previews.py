"""The raters' pages as the owner tries them: a separate application on a copy of the campaign."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.records import NotNowError
from assay.campaign.store.opening import FILE
from assay.campaign.web.owner import Slug
from assay.campaign.web.public import page
from assay.campaign.web.roles import SENTENCES, Owner, campaign_of, documented


@contextmanager
def campaign_copy(campaign: Campaign) -> Iterator[tuple[Campaign, str]]:
    """An open copy of a campaign with an additional rater, and that rater's token."""
    if campaign.folder is None:
        raise NotNowError("only campaigns stored in a file can be previewed, not in PostgreSQL")
    with TemporaryDirectory(prefix="assay-preview-") as folder:
        campaign.backup(Path(folder) / FILE)
        with open_campaign(folder) as copy:
            copy.open("preview")
            (rater,) = copy.add_raters(1, "preview")
            yield copy, rater["token"]


routes = APIRouter(tags=["desk"])
KEPT = ("type", "asgi", "http_version", "method", "scheme", "query_string", "client", "server")


class Preview:
    """A copy of a campaign with the pages for it."""

    def __init__(self, campaign: Campaign) -> None:
        from assay.campaign.web.app import create_app  # which has the routes here

        self._held = ExitStack()
        copy, self.token = self._held.enter_context(campaign_copy(campaign))
        self.app = create_app(copy)

    def disconnect(self) -> None:
        """Throw the copy away."""
        self._held.close()


class Forwarded(Response):
    """The preview's reply to the same request, made as its rater."""

    def __init__(self, app: FastAPI, path: str, token: str) -> None:
        super().__init__()
        self.app, self.path, self.token = app, path, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the preview; the owner's link is not passed on."""
        headers = [one for one in scope["headers"] if one[0] not in (b"cookie", b"authorization")]
        own = {key: scope[key] for key in KEPT if key in scope} | {
            "path": self.path, "raw_path": self.path.encode(), "root_path": "", "state": {},
            "headers": [*headers, (b"authorization", f"Bearer {self.token}".encode())],
        }  # fmt: skip
        await self.app(own, receive, send)


@routes.get(
    "/c/{slug}/preview", status_code=303, response_class=RedirectResponse,
    responses=documented(401, 403, 404, 409),
)  # fmt: skip
async def preview(request: Request, link: Owner, slug: Slug) -> Response:
    """Start a new preview in place of the previous one."""
    campaign, previews = campaign_of(request), request.app.state.hub.previews

    def begin() -> None:
        if (old := previews.pop(campaign.slug, None)) is not None:
            old.disconnect()
        previews[campaign.slug] = Preview(campaign)

    await run_in_threadpool(begin)
    return RedirectResponse(f"/c/{campaign.slug}/preview/rate", 303)


@routes.get(
    "/c/{slug}/preview/rate", response_class=HTMLResponse, responses=documented(401, 403, 404)
)
async def preview_page(request: Request, link: Owner, slug: Slug) -> Response:
    """The rater's page, marked as a preview."""
    return HTMLResponse(page("rate").replace("<html ", "<html data-preview ", 1))


@routes.api_route(
    "/c/{slug}/preview/{path:path}", methods=["GET", "POST", "PUT"], include_in_schema=False
)
async def forwarded(request: Request, link: Owner, slug: Slug, path: Slug) -> Response:
    """Forward a request of the rater's page."""
    found: Preview | None = request.app.state.hub.previews.get(campaign_of(request).slug)
    if found is None:
        raise HTTPException(404, SENTENCES[404])
    return Forwarded(found.app, f"/{path}", found.token)
