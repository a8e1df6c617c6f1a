"""The application: its routes, and how it refuses requests."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from assay._version import __version__
from assay.campaign.campaign import Campaign
from assay.campaign.hub import Hub, hub_of
from assay.campaign.records import CampaignError, InvalidAnswerError, NotNowError
from assay.campaign.web import desk, making, observed, owner, public, rater
from assay.campaign.web.access import LATE, SENTENCES, Guard, Visits, refused
from assay.campaign.web.rendering import refusal
from assay.campaign.wire import Refusal
from assay.errors import OptionError


def create_app(served: Campaign | Hub, *, public_url: str | None = None) -> FastAPI:
    """Make the ASGI application of one or several campaigns, which the caller closes."""
    app = FastAPI(
        title="Assay", version=__version__, openapi_url=None, docs_url=None, redoc_url=None
    )
    app.state.hub = hub_of(served)
    app.state.visits = Visits()
    app.state.secure = bool(public_url and public_url.startswith("https:"))
    app.state.requests = observed.Requests()
    for part in (rater, public, owner, desk, making, observed):
        app.include_router(part.routes)
    app.add_middleware(Guard, public_url=public_url)
    app.add_middleware(observed.Observer, requests=app.state.requests)
    for kind in (CampaignError, OptionError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _refused)
    _describe(app)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """Reply to a request that is not carried out, with every fault that is known."""
    match error:
        case InvalidAnswerError():
            return _faulty(error.faults)
        case CampaignError():
            # What a database says about itself, such as its address, goes to the log alone.
            told = error.status not in (401, 404) and error.__cause__ is None
            sentence = str(error) if told else SENTENCES[error.status]
            back = error.address if isinstance(error, NotNowError) else None
            return refused(error.status, sentence, **({"address": back} if back else {}))
        case OptionError():
            return _faulty([(error.argument, str(error))])
        case RequestValidationError():
            faults = error.errors()
            if any(fault["loc"][:1] == ("path",) for fault in faults):
                return refused(404, SENTENCES[404])
            said = [(_path(one["loc"]), one["msg"].removeprefix("Value error, ")) for one in faults]
            return _faulty(said)
        case HTTPException():
            return _http_refused(request, error)
    raise error


def _http_refused(request: Request, error: HTTPException) -> Response:
    if error.status_code == 400:  # a body that cannot even be parsed
        said = LATE if error.detail == LATE else "is not JSON that can be read"
        reply = _faulty([("body", said)])
        reply.headers.update(error.headers or {})
        return reply
    plain = error.detail == HTTPStatus(error.status_code).phrase  # nobody said more
    sentence = SENTENCES.get(error.status_code, error.detail) if plain else error.detail
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        page = refusal(error.status_code, sentence)
        return HTMLResponse(page, error.status_code, error.headers)
    reply = refused(error.status_code, sentence)
    reply.headers.update(error.headers or {})
    return reply


def _faulty(faults: list[tuple[str, str]]) -> JSONResponse:
    error = InvalidAnswerError(faults)
    errors = [{"path": path, "message": message} for path, message in error.faults]
    return refused(422, str(error), errors=errors)


def _path(loc: tuple[Any, ...]) -> str:
    """``answers[2].code`` of ``("body", "answers", 2, "code")``."""
    parts = loc[1:] if loc[:1] == ("body",) and len(loc) > 1 else loc
    joined = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return joined.removeprefix(".")


def _describe(app: FastAPI) -> None:
    """Add the schema of refusals, which the routes refer to, to the OpenAPI description."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        schema: dict[str, Any] = plain()
        parts = schema.setdefault("components", {}).setdefault("schemas", {})
        if "Refusal" not in parts:
            refusal = Refusal.model_json_schema(ref_template="#/components/schemas/{model}")
            parts |= refusal.pop("$defs", {})
            parts["Refusal"] = refusal
        return schema

    app.openapi = described  # type: ignore[method-assign]
