"""Rate limits per link and per address, kept in memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_KEPT = 10_000
"""Buckets in memory; beyond it full buckets are dropped, which loses nothing."""


@dataclass
class Bucket:
    """Tokens left at a moment."""

    tokens: float
    at: float


@dataclass
class Limit:
    """A token bucket per key: ``rate`` requests a second on average, ``burst`` at once.

    >>> limit = Limit(rate=1, burst=2, clock=lambda: 0.0)
    >>> [limit.spend("a"), limit.spend("a"), limit.spend("a"), limit.spend("b")]
    [True, True, False, True]
    """

    rate: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    buckets: dict[str, Bucket] = field(default_factory=dict, repr=False)

    def spend(self, key: str) -> bool:
        """Count one more request if it is allowed; whether it is."""
        now = self.clock()
        bucket = self.buckets.get(key)
        if bucket is None:
            if len(self.buckets) >= MOST_KEPT:
                self._drop_full(now)
            bucket = self.buckets[key] = Bucket(self.burst, now)
        bucket.tokens = self._left(bucket, now)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _left(self, bucket: Bucket, now: float) -> float:
        return min(self.burst, bucket.tokens + (now - bucket.at) * self.rate)

    def _drop_full(self, now: float) -> None:
        self.buckets = {
            key: bucket
            for key, bucket in self.buckets.items()
            if self._left(bucket, now) < self.burst
        }


class Visits:
    """Counts requests: per link where there is one, else per address."""

    def __init__(self) -> None:
        self.requests = Limit(rate=20, burst=60)
        self.wrong = Limit(rate=10 / 60, burst=10)
