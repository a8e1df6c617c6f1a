"""Connections: how much may come beside a body, and how long a request may take to come."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay.campaign.uploads import MOST_BYTES as MOST_UPLOADED

MOST_BYTES = 64 * 1024
"""Of headers, and of what stands between the pieces of a body and after it."""
MOST_SECONDS = 20.0
"""For the headers, since the connection or the request began."""
LAST_SECONDS = 1.0
"""For a body that is still coming when the server stops: nobody was told that it is kept."""


class Connection(HttpToolsProtocol):
    """A connection that is closed where nobody asks anything in time, or asks without end.

    Uvicorn would wait for ever, and keep whatever comes.
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
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Finish what was asked in full; wait a moment only for the rest of a request."""
        super().shutdown()
        self.loop.call_later(LAST_SECONDS, self._cut_off)

    def data_received(self, data: bytes) -> None:
        """Count what is no body; of the piece in which a request begins, nothing."""
        if self._timer is None and self.cycle is not None and self.cycle.response_complete:
            self._wait()  # what comes now is a request soon, or nothing that anybody reads
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
        """Keep a header, but not what comes after a body."""
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The request is here, but for its body."""
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
            self.transport.close()  # a browser that got ready for more than it needed

    def _cut_off(self) -> None:
        if self.cycle is not None and self.cycle.more_body:
            self.transport.close()
