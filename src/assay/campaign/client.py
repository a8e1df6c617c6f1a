"""A client of the wire: JSON over one connection that stays open."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection, HTTPException
from typing import Any, Self
from urllib.parse import urlsplit

from assay.campaign.records import UnavailableError

MAX_TRIES = 40
PAUSE_SECONDS = 0.25
"""Seconds before a request is retried."""
BUSY = (429, 503)


class WireError(UnavailableError):
    """A request that the server refused, with the server's message."""

    def __init__(self, status: int, path: str, reply: object) -> None:
        self.code = status
        self.sentence = str(reply.get("error", reply) if isinstance(reply, dict) else reply)
        super().__init__(f"{path}: {status}, {self.sentence}")


class WireClient:
    """Requests with the token of one link, retried where that is safe."""

    def __init__(self, address: str, token: str, *, tries: int = MAX_TRIES) -> None:
        where = urlsplit(address)
        self._tries = tries
        self._connection = HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, path: str) -> Any:
        """Send a GET request."""
        return self.request("GET", path)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a POST request; a body with a key may be sent twice."""
        return self.request("POST", path, body)

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request, retrying while the server is busy or down; a refusal is an error."""
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        for left in reversed(range(self._tries)):
            try:
                self._connection.request(method, path, data, self._headers)
                response = self._connection.getresponse()
                content = response.read()
            except (OSError, HTTPException):
                self._connection.close()
                if not left:
                    raise
            else:
                if response.status not in BUSY or not left:
                    return self._reply(path, response.status, content)
            time.sleep(PAUSE_SECONDS)
        raise AssertionError("the last try returns or raises")

    @staticmethod
    def _reply(path: str, status: int, content: bytes) -> Any:
        reply = json.loads(content) if content else None
        if status >= 300:
            raise WireError(status, path, reply)
        return reply
