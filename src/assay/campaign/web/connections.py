"""Connections: limits on headers and on the time that a request takes to arrive."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay.campaign.uploads import MOST_BYTES as MOST_UPLOADED

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
