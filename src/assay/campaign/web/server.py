"""Serving a campaign: until it is told to stop, or in a background thread."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay._version import __version__
from assay.campaign.campaign import Campaign
from assay.campaign.hub import Hub, hub_of
from assay.campaign.live.refresh import results_kept_current
from assay.campaign.uploads import MOST_BYTES as MOST_UPLOADED
from assay.campaign.web.app import create_app
from assay.campaign.web.observed import log_to_stderr
from assay.errors import AssayError

log = logging.getLogger("assay.campaign")

GRACE_SECONDS = 8
"""For requests in progress when the server is told to stop."""


class QuietServer(uvicorn.Server):
    """A server that stops at a signal without ending the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; uvicorn alone would raise them again at the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def _count(hub: Hub) -> None:
    """Count what came in earlier, so that the first page of an owner need not wait for it."""
    for campaign in list(hub.campaigns.values()):
        with suppress(AssayError):
            campaign.status()


def serve(
    served: Campaign | Hub,
    *,
    host: str = "127.0.0.1",
    port: int = 8017,
    public_url: str | None = None,
    trusted_proxy: str | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish requests in progress.

    ``trusted_proxy`` is the address of the proxy whose ``X-Forwarded-For`` is trusted.
    """
    log_to_stderr()
    hub = hub_of(served)
    config = uvicorn.Config(
        create_app(hub, public_url=public_url),
        host=host,
        port=port,
        http=Connection,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=trusted_proxy is not None,
        forwarded_allow_ips=trusted_proxy,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="off",
    )
    log.info("started", extra={"fields": {"version": __version__, "process": os.getpid()}})
    threading.Thread(target=_count, args=(hub,), daemon=True).start()
    with results_kept_current(hub):
        QuietServer(config).run()
    hub.end_previews()
    log.info("stopped")


STOP_SECONDS = 10


@contextmanager
def serving(served: Campaign | Hub) -> Iterator[str]:
    """Serve on a free local port until the block ends; yields the address."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        app = create_app(served)
        config = uvicorn.Config(
            app, http=Connection, log_level="error", lifespan="off", access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([own],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{own.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STOP_SECONDS)
            app.state.hub.end_previews()


MOST_BYTES = 64 * 1024
"""Of headers, and of chunk framing and trailers."""
MOST_SECONDS = 20.0
"""For the headers, from the start of the connection or the request."""
LAST_SECONDS = 1.0
"""For a body that is still arriving when the server stops: it was not acknowledged."""


class Connection(HttpToolsProtocol):
    """A connection that is closed if no request arrives in time, or one without end.

    Uvicorn alone would wait forever and keep whatever arrives.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._timer: asyncio.TimerHandle | None = None
        self._in_headers = False
        self._body = self._beside = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Finish complete requests; wait a moment for the rest of an incomplete one."""
        super().shutdown()
        self.loop.call_later(LAST_SECONDS, self._cut_off)

    def data_received(self, data: bytes) -> None:
        """Count what is not body, except in the piece in which a request begins."""
        if self._timer is None and self.cycle is not None and self.cycle.response_complete:
            self._wait()  # the next request begins, or something that is not one
        self._beside += len(data)
        super().data_received(data)
        most = MOST_BYTES + min(self._body, MOST_UPLOADED) // 4
        if self._beside > most and not self.transport.is_closing():
            self.send_400_response("The headers are larger than 64 kB.")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._body = self._beside = 0
        self._in_headers = True
        self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, but not a trailer."""
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The headers are complete."""
        self._in_headers = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count what is body."""
        self._beside -= len(body)
        self._body += len(body)
        super().on_body(body)

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(MOST_SECONDS, self._too_late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        if self._in_headers:
            self.send_400_response("The request did not come in time.")
        else:
            self.transport.close()  # a spare connection of a browser

    def _cut_off(self) -> None:
        if self.cycle is not None and self.cycle.more_body:
            self.transport.close()
