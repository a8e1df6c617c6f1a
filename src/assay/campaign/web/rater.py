"""The routes of raters: tasks, drafts, answers, corrections."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from assay.campaign.web import wire
from assay.campaign.web.roles import Rater, Worker, campaign_of, documented

routes = APIRouter(tags=["rater"])
Lease = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Screen = Annotated[int, Path(ge=0, le=100_000)]
Number = Annotated[int, Path(ge=1, le=wire.MOST_NUMBER)]
MEDIA_TYPES = ("image/", "audio/", "video/")


async def written(request: Request, method: str, *args: Any) -> Any:
    """Call a method that writes; return its reply once it is on disk."""
    return await asyncio.wrap_future(campaign_of(request).later(method, *args))


async def read(request: Request, method: str, *args: Any) -> Any:
    """Call a method that reads."""
    return await run_in_threadpool(getattr(campaign_of(request), method), *args)


@routes.post("/api/next", responses=documented(401, 403, 409, 413, 415, 422))
async def next_task(request: Request, link: Worker, body: wire.Empty) -> dict[str, Any]:
    """The task to do now: the open one, else the next of the order."""
    reply: dict[str, Any] = await written(request, "next", link)
    return reply


@routes.put(
    "/api/leases/{lease}/screens/{screen}/draft",
    status_code=204,
    responses=documented(401, 403, 404, 409, 413, 415, 422),
)
async def keep_draft(
    request: Request, link: Worker, lease: Lease, screen: Screen, body: wire.Draft
) -> Response:
    """Keep unfinished work, so that the rater can continue on any device."""
    await written(request, "draft", link, lease, screen, body.body)
    return Response(status_code=204)


@routes.post(
    "/api/leases/{lease}/screens/{screen}/answers",
    responses=documented(401, 403, 404, 409, 413, 415, 422),
)
async def send_answers(
    request: Request, link: Worker, lease: Lease, screen: Screen, body: wire.Sent
) -> dict[str, Any]:
    """Store the answers of a screen; sent again they are a revision, with the same key nothing."""
    sent = body.model_dump(exclude_unset=True)
    reply: dict[str, Any] = await written(request, "send", link, lease, screen, sent)
    return reply


@routes.post(
    "/api/leases/{lease}/beat",
    status_code=204,
    responses=documented(401, 403, 404, 409, 413, 415, 422),
)
async def keep_lease(request: Request, link: Worker, lease: Lease, body: wire.Empty) -> Response:
    """Say that the task is still being worked on."""
    await written(request, "beat", link, lease)
    return Response(status_code=204)


@routes.post(
    "/api/leases/{lease}/decline",
    status_code=204,
    responses=documented(401, 403, 404, 409, 413, 415, 422),
)
async def decline_task(request: Request, link: Rater, lease: Lease, body: wire.Reason) -> Response:
    """Hand a task back, with a reason."""
    await written(request, "decline", link, lease, body.reason)
    return Response(status_code=204)


@routes.post(
    "/api/leases/{lease}/problem",
    status_code=204,
    responses=documented(401, 403, 404, 409, 413, 415, 422),
)
async def report_problem(
    request: Request, link: Rater, lease: Lease, body: wire.ProblemText
) -> Response:
    """Tell the owner that something is wrong with an item."""
    await written(request, "problem", link, lease, body.text)
    return Response(status_code=204)


@routes.get("/api/mine", responses=documented(401, 403))
async def mine(request: Request, link: Rater) -> list[dict[str, Any]]:
    """The rater's own tasks so far, newest first."""
    tasks: list[dict[str, Any]] = await read(request, "mine", link)
    return tasks


@routes.get("/api/mine/{lease}", responses=documented(401, 403, 404))
async def mine_one(request: Request, link: Rater, lease: Lease) -> dict[str, Any]:
    """One own task with the answers given, to look at or to correct."""
    task: dict[str, Any] = await read(request, "mine_one", link, lease)
    return task


@routes.get("/api/messages", responses=documented(401, 403))
async def messages(request: Request, link: Rater) -> list[dict[str, Any]]:
    """What the organisers said to the rater, until it is read."""
    found: list[dict[str, Any]] = await read(request, "messages", link)
    return found


@routes.post(
    "/api/messages/{number}/read",
    status_code=204,
    responses=documented(401, 403, 404, 413, 415, 422),
)
async def read_message(request: Request, link: Rater, number: Number, body: wire.Empty) -> Response:
    """Say that a message was read."""
    await written(request, "message_read", link, number)
    return Response(status_code=204)


@routes.put("/api/language", status_code=204, responses=documented(401, 403, 413, 415, 422))
async def choose_language(request: Request, link: Rater, body: wire.Language) -> Response:
    """The language that the pages speak to this rater."""
    await written(request, "language", link, body.language)
    return Response(status_code=204)


@routes.get("/finish", responses=documented(401, 403, 409))
async def finish(request: Request, link: Rater) -> dict[str, Any]:
    """The completion code, or the address to return to."""
    reply: dict[str, Any] = await written(request, "finish", link)
    return reply


@routes.get("/media/{code}", response_class=Response, responses=documented(401, 403, 404))
async def media(request: Request, link: Rater, code: Lease) -> Response:
    """A picture, sound or film that belongs to a source."""
    content, kind = await read(request, "media", link, code)
    if not kind.startswith(MEDIA_TYPES) or kind.startswith("image/svg"):
        kind = "application/octet-stream"
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})
