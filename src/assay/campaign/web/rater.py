"""The routes of raters: tasks, drafts, answers, corrections."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from assay.campaign import wire
from assay.campaign.campaign import Campaign
from assay.campaign.store import answers, people, tasks
from assay.campaign.web.access import (
    CHANGED,
    IN_CAMPAIGN,
    STEERED,
    Rater,
    Worker,
    documented,
    read,
    written,
)

routes = APIRouter(tags=["rater"])
Lease = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Screen = Annotated[int, Path(ge=0, le=100_000)]
Number = Annotated[int, Path(ge=1, le=wire.MOST_NUMBER)]
MEDIA_TYPES = ("image/", "audio/", "video/")


@routes.post("/api/next", responses=documented(401, 403, 409, 413, 415, 422))
async def next_task(request: Request, link: Worker, body: wire.Empty) -> dict[str, Any]:
    """The task to do now: the open one, else the next of the order."""
    return await written(request, tasks.next_task, link)


@routes.put("/api/leases/{lease}/screens/{screen}/draft", status_code=204, responses=STEERED)
async def keep_draft(
    request: Request, link: Worker, lease: Lease, screen: Screen, body: wire.Draft
) -> Response:
    """Keep unfinished work, so that the rater can continue on any device."""
    await written(request, answers.draft, link, lease, screen, body.body)
    return Response(status_code=204)


@routes.post("/api/leases/{lease}/screens/{screen}/answers", responses=STEERED)
async def send_answers(
    request: Request, link: Worker, lease: Lease, screen: Screen, body: wire.Sent
) -> dict[str, Any]:
    """Store the answers of a screen; sent again they are a revision, with the same key nothing."""
    sent = body.model_dump(exclude_unset=True)
    return await written(request, answers.send, link, lease, screen, sent)


@routes.post("/api/leases/{lease}/beat", status_code=204, responses=STEERED)
async def keep_lease(request: Request, link: Worker, lease: Lease, body: wire.Empty) -> Response:
    """Say that the task is still being worked on."""
    await written(request, tasks.beat, link, lease)
    return Response(status_code=204)


@routes.post("/api/leases/{lease}/decline", status_code=204, responses=STEERED)
async def decline_task(request: Request, link: Rater, lease: Lease, body: wire.Reason) -> Response:
    """Hand a task back, with a reason."""
    await written(request, tasks.decline, link, lease, body.reason)
    return Response(status_code=204)


@routes.post("/api/leases/{lease}/problem", status_code=204, responses=STEERED)
async def report_problem(
    request: Request, link: Rater, lease: Lease, body: wire.ProblemText
) -> Response:
    """Tell the owner that something is wrong with an item."""
    await written(request, tasks.problem, link, lease, body.text)
    return Response(status_code=204)


@routes.get("/api/mine", responses=documented(401, 403))
async def mine(request: Request, link: Rater) -> list[dict[str, Any]]:
    """The rater's own tasks so far, newest first."""
    return await read(request, Campaign.mine, link)


@routes.get("/api/mine/{lease}", responses=IN_CAMPAIGN)
async def mine_one(request: Request, link: Rater, lease: Lease) -> dict[str, Any]:
    """One own task with the answers given, to look at or to correct."""
    return await read(request, Campaign.mine_one, link, lease)


@routes.get("/api/messages", responses=documented(401, 403))
async def messages(request: Request, link: Rater) -> list[dict[str, Any]]:
    """What the organisers said to the rater, until it is read."""
    return await read(request, Campaign.messages, link)


@routes.post("/api/messages/{number}/read", status_code=204, responses=CHANGED)
async def read_message(request: Request, link: Rater, number: Number, body: wire.Empty) -> Response:
    """Say that a message was read."""
    await written(request, people.read_message, link, number)
    return Response(status_code=204)


@routes.put("/api/language", status_code=204, responses=documented(401, 403, 413, 415, 422))
async def choose_language(request: Request, link: Rater, body: wire.Language) -> Response:
    """The language that the pages speak to this rater."""
    await written(request, people.set_language, link, body.language)
    return Response(status_code=204)


@routes.get("/finish", responses=documented(401, 403, 409))
async def finish(request: Request, link: Rater) -> dict[str, Any]:
    """The completion code, or the address to return to."""
    return await written(request, people.finish, link)


@routes.get("/media/{code}", response_class=Response, responses=IN_CAMPAIGN)
async def media(request: Request, link: Rater, code: Lease) -> Response:
    """A picture, sound or film that belongs to a source."""
    content, kind = await read(request, Campaign.media, code)
    if not kind.startswith(MEDIA_TYPES) or kind.startswith("image/svg"):
        kind = "application/octet-stream"
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})
