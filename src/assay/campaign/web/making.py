"""New campaigns from uploaded files, for the server's owner."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from assay.campaign import drafting
from assay.campaign.hub import Hub
from assay.campaign.records import InvalidAnswerError
from assay.campaign.uploads import Upload, begin_upload, find_upload
from assay.campaign.web.access import STEERED, Host, documented
from assay.campaign.web.public import page
from assay.campaign.wire import Corrected, Empty, NewCampaign, PlanAsked
from assay.errors import InputError
from assay.views.planning import plan_campaign_section
from assay.views.section import Table, shown

routes = APIRouter(tags=["making"])
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, Path(max_length=200)]
SAFE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]*")
Given = TypeVar("Given")


async def _at_work(request: Request, work: Callable[..., Given], *arguments: Any) -> Given:
    """Do the work in a thread, one table at a time; faults become a refusal."""
    hub: Hub = request.app.state.hub

    def locked() -> Given:
        with hub.making:
            return work(*arguments)

    try:
        return await run_in_threadpool(locked)
    except InputError as error:
        raise InvalidAnswerError(drafting.faults_of(error)) from None


def _found(request: Request, name: str) -> Upload:
    return find_upload(request.app.state.hub.folder, name)


@routes.get("/campaigns/new", response_class=HTMLResponse, responses=documented(401, 403))
async def new_page(link: Host) -> Response:
    """The page for a new campaign."""
    return HTMLResponse(page("new"))


@routes.post("/api/uploads", responses=documented(401, 403, 413, 415, 422))
async def begin(request: Request, link: Host, body: Empty) -> dict[str, str]:
    """Start an upload for one campaign; it is kept for a day."""
    upload = await run_in_threadpool(begin_upload, request.app.state.hub.folder)
    return {"upload": upload.id}


@routes.put(
    "/api/uploads/{upload}/files/{name}",
    responses=STEERED,
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {
        "schema": {"type": "string", "format": "binary"}}}}},
)  # fmt: skip
async def add_file(
    request: Request, link: Host, upload: Id, name: Name
) -> dict[str, list[dict[str, Any]]]:
    """Upload a file of at most 64 MB. A zip is unpacked; the content determines the type."""
    found = _found(request, upload)
    if not SAFE_NAME.fullmatch(name):
        raise InvalidAnswerError([("name", "is not a file name; rename the file")])
    part = found.part
    try:
        with part.open("wb") as file:
            async for piece in request.stream():
                file.write(piece)
        await _at_work(request, found.take, part, name)
    finally:
        part.unlink(missing_ok=True)
    return {"files": [{"name": one, "bytes": size} for one, size in found.files()]}


@routes.delete("/api/uploads/{upload}/files/{name:path}", responses=STEERED)
async def remove_file(
    request: Request, link: Host, upload: Id, name: Name
) -> dict[str, list[dict[str, Any]]]:
    """Remove a file."""
    found = _found(request, upload)
    await run_in_threadpool(found.remove, name)
    return {"files": [{"name": one, "bytes": size} for one, size in found.files()]}


@routes.post("/api/uploads/{upload}/table", responses=STEERED)
async def examine(request: Request, link: Host, upload: Id, body: Corrected) -> dict[str, Any]:
    """How the files were understood, given the corrections, and what is unclear."""
    return await _at_work(request, drafting.examine, _found(request, upload), body)


@routes.post("/api/plans", responses=documented(401, 403, 413, 415, 422))
async def plan(request: Request, link: Host, body: PlanAsked) -> dict[str, Any]:
    """What a budget buys, and which differences it can detect."""
    found = await _at_work(
        request, drafting.plan, body.systems, body.segments, body.settings(), body.budget
    )
    if found is None:
        return {"lead": "", "notes": [], "headings": [], "rows": [], "needed": body.segments}
    section = plan_campaign_section(found)
    tables = [block for block in section.blocks if isinstance(block, Table)]
    return {
        "lead": section.lead, "notes": [str(note) for note in found.notes],
        "headings": [column.name for table in tables[:1] for column in table.columns],
        "rows": [
            [shown(value, column.show) for value, column in zip(row, table.columns, strict=True)]
            for table in tables[:1] for row in table.rows
        ],
        "needed": found.needed,
    }  # fmt: skip


@routes.post("/api/campaigns", status_code=201, responses=STEERED)
async def make(request: Request, link: Host, body: NewCampaign) -> dict[str, Any]:
    """Create the campaign, or one for each language pair; only this reply shows the links."""
    hub: Hub = request.app.state.hub
    if body.languages is not None and not all(tag.strip() for tag in body.languages):
        raise InvalidAnswerError([("languages", "give both languages, or neither")])
    made = await run_in_threadpool(drafting.make, hub, _found(request, body.upload), body)
    return {
        "campaigns": [
            {
                "slug": slug, "name": hub.campaigns[slug].settings.name, "tasks": created.tasks,
                "outputs": created.outputs, "checks": created.checks, "links": keys.links(),
            }
            for slug, created, keys in made
        ]
    }  # fmt: skip
