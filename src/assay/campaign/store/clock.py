"""One clock for everything the server writes down; it never goes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime


class Clock:
    """Milliseconds since 1970, each later than the one before.

    The computer's clock is asked once: if somebody sets it afterwards, nothing changes here.
    """

    def __init__(self, start: Callable[[], float] = time.time) -> None:
        self._ahead = start() - time.monotonic()
        self._last = 0
        self._lock = threading.Lock()

    def _read(self) -> int:
        return int((self._ahead + time.monotonic()) * 1000)

    def not_before(self, moment: int) -> None:
        """Go on after this moment, the last that was written down.

        If the computer's clock is behind it, time passes from there: leases end as they should.
        """
        with self._lock:
            self._ahead += max(0, moment - self._read()) / 1000
            self._last = max(self._last, moment)

    def now(self) -> int:
        """The time."""
        with self._lock:
            self._last = max(self._last + 1, self._read())
            return self._last


def iso(moment: int) -> str:
    """A moment as people and JSON have it.

    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    text = datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
