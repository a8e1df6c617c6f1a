"""Monitoring: a log line for every request, and counts and times for Prometheus.

Nothing here concerns a person: of a request only its declared route, status and duration are kept.
The log is one JSON object per line, on standard error, without tokens, texts, names or addresses.
Assay's events have chosen fields; those of libraries are reduced to their kind, without arguments.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay._version import __version__
from assay.campaign.store.clock import iso
from assay.campaign.web.access import Reader, campaigns_of, documented, failure

OWN = "assay"


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event, and its fields."""
        own = record.name.partition(".")[0] == OWN
        # A library's message before its arguments are filled in.
        event = record.getMessage() if own else str(record.msg).partition("\n")[0]
        line = {
            "time": iso(int(record.created * 1000)), "level": record.levelname.lower(),
            "event": event, **({} if own else {"logger": record.name}),
            **getattr(record, "fields", {}),
        }  # fmt: skip
        if record.exc_info and record.exc_info[1] is not None:
            line |= failure(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr() -> None:
    """Log every request, or only warnings if standard error is a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger(OWN).setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)


log = logging.getLogger("assay.campaign")
routes = APIRouter(tags=["operations"])
METHODS = ("GET", "HEAD", "POST", "PUT")
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of durations, in seconds."""
TEXT = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Requests:
    """Requests since the start, by route."""

    started: float = field(default_factory=time.time)
    counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    classes: defaultdict[str, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0] * (len(BOUNDS) + 1))
    )

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.counts[method, route, status] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]
        self.classes[route][bisect_left(BOUNDS, seconds)] += 1

    def lines(self) -> Iterator[str]:
        """Write the counts and times for Prometheus."""
        yield from metric("assay_start_time_seconds", "gauge", [({}, self.started)])
        yield from metric("assay_requests_total", "counter", (
            ({"method": method, "route": route, "status": status}, count)
            for (method, route, status), count in sorted(self.counts.items())
        ))  # fmt: skip
        name = "assay_request_seconds"
        yield f"# TYPE {name} histogram"
        for route, classes in sorted(self.classes.items()):
            below = 0
            for bound, count in zip((*BOUNDS, "+Inf"), classes, strict=True):
                below += count
                yield sample(f"{name}_bucket", {"route": route, "le": bound}, below)
            yield sample(f"{name}_sum", {"route": route}, round(self.seconds[route], 6))
            yield sample(f"{name}_count", {"route": route}, below)


def metric(name: str, kind: str, values: Iterable[tuple[dict[str, Any], float]]) -> Iterator[str]:
    """A metric with its type."""
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        yield sample(name, labels, value)


def sample(name: str, labels: dict[str, Any], value: float) -> str:
    """One value.

    >>> sample("assay_raters", {"state": "active"}, 3)
    'assay_raters{state="active"} 3'
    """
    inside = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


class Observer:
    """Count and log every request, refused ones too."""

    def __init__(self, app: ASGIApp, *, requests: Requests) -> None:
        self.app, self.requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0

        async def send_noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        finally:
            passed = time.perf_counter() - begun
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = getattr(scope.get("route"), "path", "none")
            self.requests.add(method, route, status, passed)
            level = logging.WARNING if status >= 500 else logging.INFO
            log.log(level, "request", extra={"fields": {
                "method": method, "route": route, "status": status, "ms": round(1000 * passed, 1),
            }})  # fmt: skip


@routes.get("/metrics", response_class=Response, responses=documented(401, 403))
async def metrics(request: Request, link: Reader) -> Response:
    """Counts and times of this server and of the link's campaigns, for Prometheus.

    Raters may not read them: they must not know how far others are.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for campaign in campaigns_of(request):
        for name, by_state in (await run_in_threadpool(campaign.counts)).items():
            counts[name].update(by_state)
    lines = [*metric("assay_info", "gauge", [({"version": __version__}, 1)])]
    lines += request.app.state.requests.lines()
    for name, total in counts.items():
        states = [({"state": state} if state else {}, count) for state, count in total.items()]
        lines += metric(f"assay_{name}", "gauge", states)
    return Response("\n".join([*lines, ""]), media_type=TEXT)
