"""The server's clock, which never goes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime


class Clock:
    """Milliseconds since 1970, each later than the one before.

    The computer's clock is read once: setting it later changes nothing here.
    """

    def __init__(self, start: Callable[[], float] = time.time) -> None:
        self._ahead = start() - time.monotonic()
        self._last = 0
        self._lock = threading.Lock()

    def _read(self) -> int:
        return int((self._ahead + time.monotonic()) * 1000)

    def not_before(self, moment: int) -> None:
        """Continue after this moment, the last that was stored.

        If the computer's clock is behind, time passes from there, so that leases still end.
        """
        with self._lock:
            self._ahead += max(0, moment - self._read()) / 1000
            self._last = max(self._last, moment)

    def now(self) -> int:
        """Return the time."""
        with self._lock:
            self._last = max(self._last + 1, self._read())
            return self._last


def iso(moment: int) -> str:
    """Format a moment as ISO 8601.

    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    text = datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
