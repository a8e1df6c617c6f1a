"""Counts of what has come in, kept up to date so that no page counts everything again."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from sqlalchemy import BindParameter, Connection, ScalarSelect, bindparam, case, func, select

from assay.campaign.records import FORMS
from assay.campaign.store import schema as s

SEEN_AGAIN = 200
"""Rows before the last one that are read again, as transactions may commit out of order."""
HOUR_MS = 3_600_000
UNREMARKABLE = ("lease", "link", "rater")
"""Kinds of events that every task causes, which no page lists."""

AFTER: BindParameter[int] = bindparam("after")
BEFORE = s.sent.alias("before")


def _answers(sent: Any) -> ScalarSelect[int]:
    """The answers of something sent."""
    return select(func.count()).where(s.answer.c.sent == sent).scalar_subquery()


EARLIER = (
    select(BEFORE.c.id)
    .where(
        BEFORE.c.lease == s.sent.c.lease, BEFORE.c.screen == s.sent.c.screen,
        BEFORE.c.revision == s.sent.c.revision - 1,
    )
    .correlate(s.sent)
    .scalar_subquery()
)  # fmt: skip
SENT = (
    select(
        s.sent.c.id, s.sent.c.at, s.sent.c.revision, s.sent.c.timing["active_ms"].as_integer(),
        s.lease.c.task, s.lease.c.rater, _answers(s.sent.c.id),
        case((s.sent.c.revision > 1, _answers(EARLIER)), else_=0),
    )
    .join(s.lease, s.lease.c.id == s.sent.c.lease)
    .where(s.sent.c.id > AFTER, s.lease.c.reason.not_in(FORMS))
)  # fmt: skip
"""With the answers that each revision takes the place of."""
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
        """The place in the order of every task that is not a second showing or a lesson."""
        self.events: dict[int, str] = {}
        """The kind of every event that a page lists, by number."""
        self._seconds: dict[int, list[float]] = defaultdict(list)
        self._last = (0, 0)
        self._counted: set[int] = set()
        """What was sent lately and is counted, by number."""
        self._lock = threading.Lock()

    @contextmanager
    def now(self, db: Connection) -> Iterator[Tally]:
        """Count what this connection sees; the counts do not change until the block ends."""
        with self._lock:
            last = seen(db)
            if last != self._last:
                self._read(db, last[0])
                self._last = last
            yield self

    def median_seconds(self, rater: int) -> float | None:
        """The median active time of one answer of a rater."""
        times = self._seconds.get(rater)
        return median(times) if times else None

    def _read(self, db: Connection, last_sent: int) -> None:
        if not self.positions:
            self.positions = {row.id: row.position for row in db.execute(POSITIONS)}
        before, self._counted = self._counted, set()
        sent, event = self._last
        for number, at, revision, active, task, rater, answers, replaced in db.execute(
            SENT, {"after": sent - SEEN_AGAIN}
        ).all():
            if number > last_sent - SEEN_AGAIN:
                self._counted.add(number)
            if number in before:
                continue
            self.answers += answers - replaced
            self.by_task[task] += answers - replaced
            self.by_rater[rater] += answers - replaced
            if revision == 1:
                self.by_hour[at // HOUR_MS] += answers
                if active and answers:
                    self._seconds[rater].append(active / 1000 / answers)
        for number, kind in db.execute(EVENTS, {"after": event - SEEN_AGAIN}):
            self.events[number] = kind


def seen(db: Connection) -> tuple[int, int]:
    """Return the last answer and the last event, which differ after any change."""
    return db.execute(LAST_SENT).scalar_one() or 0, db.execute(LAST_EVENT).scalar_one() or 0
