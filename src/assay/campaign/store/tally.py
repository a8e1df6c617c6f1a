"""What has come in, counted as it comes: nobody who looks counts everything again."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from assay.campaign.records import FORMS
from assay.campaign.store import schema as s

SEEN_AGAIN = 200
"""Rows before the last one that are read again: transactions may end in another order."""
HOUR_MS = 3_600_000
UNREMARKABLE = ("lease", "link", "rater")
"""Kinds of events of which every task makes some; nobody reads through them."""

AFTER: BindParameter[int] = bindparam("after")
ANSWERS = (
    select(func.count())
    .select_from(s.answer)
    .where(s.answer.c.sent == s.sent.c.id)
    .scalar_subquery()
)
SENT = (
    select(
        s.sent.c.id, s.sent.c.lease, s.sent.c.screen, s.sent.c.at, s.sent.c.revision,
        s.sent.c.timing, s.lease.c.task, s.lease.c.rater, ANSWERS.label("answers"),
    )
    .join(s.lease, s.lease.c.id == s.sent.c.lease)
    .where(s.sent.c.id > AFTER, s.lease.c.reason.not_in(FORMS))
    .order_by(s.sent.c.id)
)  # fmt: skip
EVENTS = (
    select(s.event.c.id, s.event.c.kind)
    .where(s.event.c.id > AFTER, s.event.c.kind.not_in(UNREMARKABLE))
    .order_by(s.event.c.id)
)
LAST_SENT, LAST_EVENT = select(func.max(s.sent.c.id)), select(func.max(s.event.c.id))
POSITIONS = select(s.task.c.id, s.task.c.position).where(s.task.c.kind == "rate")


class Tally:
    """Counts of answers in their latest revision: by task, by rater and by hour."""

    def __init__(self) -> None:
        self.answers = 0
        self.by_task: Counter[int] = Counter()
        self.by_rater: Counter[int] = Counter()
        self.by_hour: Counter[int] = Counter()
        """Hours since 1970 to the answers first sent in them."""
        self.positions: dict[int, int] = {}
        """Of the tasks that are rated for the first time: task to place in the order."""
        self.events: dict[int, str] = {}
        """What people did and what they should know: event to kind, in order."""
        self._screens: dict[tuple[str, int], tuple[int, int]] = {}
        self._seconds: dict[int, list[float]] = defaultdict(list)
        self._last = (0, 0)
        self._lock = threading.Lock()

    @contextmanager
    def now(self, db: Connection) -> Iterator[Tally]:
        """The counts with all that this connection sees; they stay so until the block ends."""
        with self._lock:
            last = seen(db)
            if last != self._last:
                self._read(db)
                self._last = last
            yield self

    def median_seconds(self, rater: int) -> float | None:
        """The median active time of one answer of a rater."""
        times = self._seconds.get(rater)
        return median(times) if times else None

    def _read(self, db: Connection) -> None:
        if not self.positions:
            self.positions = {row.id: row.position for row in db.execute(POSITIONS)}
        sent, event = self._last
        for row in db.execute(SENT, {"after": sent - SEEN_AGAIN}):
            self._count(row)
        for number, kind in db.execute(EVENTS, {"after": event - SEEN_AGAIN}):
            self.events[number] = kind

    def _count(self, row: Any) -> None:
        key = row.lease, row.screen
        number, before = self._screens.get(key, (0, 0))
        if row.id <= number:
            return
        self._screens[key] = row.id, row.answers
        more = row.answers - before
        self.answers += more
        self.by_task[row.task] += more
        self.by_rater[row.rater] += more
        if not number:
            self.by_hour[row.at // HOUR_MS] += row.answers
            active = row.timing.get("active_ms", 0)
            if active and row.answers:
                self._seconds[row.rater].append(active / 1000 / row.answers)


def seen(db: Connection) -> tuple[int, int]:
    """The last answer and the last event: another pair where anything has changed."""
    return db.execute(LAST_SENT).scalar_one() or 0, db.execute(LAST_EVENT).scalar_one() or 0
