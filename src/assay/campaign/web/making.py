"""New campaigns from uploaded files, for the server's owner."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from assay.campaign import drafting
from assay.campaign.drafting import CampaignDraft, Corrections
from assay.campaign.hub import Hub
from assay.campaign.records import InvalidAnswerError
from assay.campaign.uploads import Upload, begin_upload, find_upload
from assay.campaign.web.public import page
from assay.campaign.web.roles import Host, documented
from assay.campaign.web.wire import Empty, Strict, Text
from assay.errors import InputError
from assay.project.settings import Protocol
from assay.views.planning import plan_campaign_section
from assay.views.section import Table, shown

routes = APIRouter(tags=["making"])
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, Path(max_length=200)]
SAFE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\.][^\x00-\x1f\x7f/\\]*")
STATUSES = (401, 403, 404, 409, 413, 415, 422)
Given = TypeVar("Given")

Short = Annotated[Text, Field(max_length=500)]
Names = Annotated[list[Short], Field(max_length=500)]
Share = Annotated[float, Field(ge=0, le=100)]
Price = Annotated[float, Field(gt=0, le=1e6)]


class Corrected(Strict):
    """A person's corrections of the table; an empty column name means that there is none."""

    columns: dict[Short, Short] = Field(default_factory=dict, max_length=20)
    wide: Names = Field(default_factory=list)
    metrics: Names | None = None
    lower_metrics: Names | None = None
    exclude: Names = Field(default_factory=list)
    only: dict[Short, Short] = Field(default_factory=dict, max_length=20)

    def plain(self) -> Corrections:
        """The corrections for the draft."""
        return Corrections(**self.model_dump())


class Arrangement(Strict):
    """Protocol, raters and pay; shares are percentages."""

    protocol: Protocol
    raters: int = Field(ge=1, le=10_000)
    per_task: int = Field(default=1, ge=1, le=20)
    overlap: Share | None = None
    outputs: int = Field(default=1, ge=1, le=8)
    checks: Share | None = None
    repeats: Share | None = None
    per_rating: Price | None = None
    per_hour: Price | None = None
    seconds_per_rating: Annotated[float, Field(ge=0.1, le=86_400)] | None = None
    currency: Annotated[Text, Field(pattern=r"^([A-Z]{3}|[€$£¥])$")] | None = None
    budget: Short | None = None

    def settings(self) -> dict[str, Any]:
        """The settings by their path in ``assay.toml``."""
        paid = self.per_rating is not None or self.per_hour is not None
        return {
            "protocol": self.protocol, "raters.number": self.raters,
            "raters.per_task": self.per_task if self.per_task > 1 else None,
            "raters.overlap": _percent(self.overlap), "checks.share": _percent(self.checks),
            "checks.repeats": _percent(self.repeats),
            "screen.outputs": self.outputs if self.outputs > 1 else None,
            "pay.per_rating": self.per_rating, "pay.per_hour": self.per_hour,
            "pay.seconds_per_rating": self.seconds_per_rating,
            "pay.currency": self.currency if paid else None,
        }  # fmt: skip


class PlanAsked(Arrangement):
    """A budget to plan for a number of systems and segments."""

    systems: int = Field(ge=1, le=100_000)
    segments: int = Field(ge=2, le=10_000_000)


class NewCampaign(Arrangement):
    """A campaign to create."""

    upload: Annotated[Text, Field(pattern=r"^[0-9a-f]{32}$")]
    name: Annotated[Text, Field(min_length=1, max_length=80, pattern=r"\S")]
    table: Corrected
    languages: Annotated[list[Short], Field(min_length=2, max_length=2)] | None = None
    by: Literal["lp"] | None = None


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.6g}%"


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
    responses=documented(*STATUSES),
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


@routes.delete("/api/uploads/{upload}/files/{name:path}", responses=documented(*STATUSES))
async def remove_file(
    request: Request, link: Host, upload: Id, name: Name
) -> dict[str, list[dict[str, Any]]]:
    """Remove a file."""
    found = _found(request, upload)
    await run_in_threadpool(found.remove, name)
    return {"files": [{"name": one, "bytes": size} for one, size in found.files()]}


@routes.post("/api/uploads/{upload}/table", responses=documented(*STATUSES))
async def examine(request: Request, link: Host, upload: Id, body: Corrected) -> dict[str, Any]:
    """How the files were understood, given the corrections, and what is unclear."""
    return await _at_work(request, drafting.examine, _found(request, upload), body.plain())


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


@routes.post("/api/campaigns", status_code=201, responses=documented(*STATUSES))
async def make(request: Request, link: Host, body: NewCampaign) -> dict[str, Any]:
    """Create the campaign, or one for each language pair; only this reply shows the links."""
    hub: Hub = request.app.state.hub
    if body.languages is not None and not all(tag.strip() for tag in body.languages):
        raise InvalidAnswerError([("languages", "give both languages, or neither")])
    settings = body.settings() | {"screen.languages": body.languages}
    draft = CampaignDraft(body.name.strip(), body.table.plain(), settings, body.budget, body.by)
    made = await run_in_threadpool(drafting.make, hub, _found(request, body.upload), draft)
    return {
        "campaigns": [
            {
                "slug": slug, "name": hub.campaigns[slug].settings.name, "tasks": created.tasks,
                "outputs": created.outputs, "checks": created.checks, "links": keys.links(),
            }
            for slug, created, keys in made
        ]
    }  # fmt: skip
