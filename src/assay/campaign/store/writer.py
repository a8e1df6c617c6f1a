"""Writing: one thread that commits many units at once (SQLite), or several workers (PostgreSQL).

A caller gets a future that is resolved after the commit: what was acknowledged is on disk.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from assay.campaign.records import (
    CampaignError,
    InvalidAnswerError,
    NotYoursError,
    UnavailableError,
)
from assay.campaign.store.clock import Clock
from assay.campaign.store.opening import POSTGRES_WORKERS, first_line
from assay.campaign.store.units.base import Link, Rules, Unit

log = logging.getLogger("assay.campaign")
MOST_AT_ONCE = 256
MAX_TRIES, FIRST_PAUSE = 6, 0.02
MOST_LISTED = 60
"""Refusals of one sender in a minute that are logged one by one."""
AGAIN = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03")
"""SQL states after which a unit is tried again: conflicts, and a server that is shutting down."""

Work = Callable[..., Any]


class Writer(Protocol):
    """Runs transactions."""

    failing: bool
    """Whether the last transaction could not be written, for example on a full disk."""

    def submit(self, work: Work, *arguments: Any) -> Future[Any]:
        """Run ``work(unit, *arguments)`` in a transaction; the result comes after the commit."""

    def close(self) -> None:
        """Finish what was submitted, then stop."""


@dataclass(slots=True)
class _Job:
    work: Work
    arguments: tuple[Any, ...]
    future: Future[Any]
    result: Any = None
    error: BaseException | None = None

    def run(self, db: Connection, clock: Clock, rules: Rules) -> None:
        """Keep the result or the refusal; raise a fault of the database."""
        try:
            self.result = self.work(Unit(db, clock.now(), rules), *self.arguments)
        except OperationalError:
            raise
        except BaseException as error:
            self.error = error
            raise

    def resolve(self) -> None:
        """Give the caller the result or the error."""
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupWriter:
    """One thread and one connection: all waiting units go into one transaction.

    Each unit has its own savepoint, so that a refused one leaves nothing behind.
    """

    def __init__(self, engine: Engine, clock: Clock, rules: Rules) -> None:
        self._engine, self._clock, self._rules = engine, clock, rules
        self.failing = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="campaign-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work, *arguments: Any) -> Future[Any]:
        """Run ``work(unit, *arguments)`` in a transaction; the result comes after the commit."""
        job = _Job(work, arguments, Future())
        # A caller that gives up does not cancel the unit: what was sent is stored.
        job.future.set_running_or_notify_cancel()
        with self._gate:
            if self._closed:
                raise UnavailableError("the campaign is being stopped; try again in a minute")
            self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            first = self._jobs.get()
            if first is None:
                return
            batch, last = [first], False
            while len(batch) < MOST_AT_ONCE and not self._jobs.empty():
                job = self._jobs.get()
                if job is None:
                    last = True
                    break
                batch.append(job)
            if not self._commit(batch):
                # One unit may be to blame: try each alone, so that the others are stored.
                for job in batch:
                    if not self._commit([job]):
                        job.error = UnavailableError(
                            "nothing can be written at the moment; what you sent is not stored:"
                            " it will be sent again"
                        )
            for job in batch:
                job.resolve()
            if last:
                return

    def _commit(self, batch: list[_Job]) -> bool:
        """Commit all units or none; whether that worked."""
        try:
            with self._engine.connect() as db, db.begin():
                for job in batch:
                    job.error = None
                    self._savepoint(db, job)
        except Exception as error:
            say_why(error)
            self.failing = True
            return False
        self.failing = False
        return True

    def _savepoint(self, db: Connection, job: _Job) -> None:
        # Asked of the driver: SQLAlchemy's own savepoints cost as much as three statements.
        connection: Any = db.connection.driver_connection
        connection.execute("SAVEPOINT unit")
        try:
            job.run(db, self._clock, self._rules)
        except BaseException as error:
            if error is not job.error:
                raise
            connection.execute("ROLLBACK TO unit")
            note_refusal(Unit(db, self._clock.now(), self._rules), job.work, job.arguments, error)
        connection.execute("RELEASE unit")


class PooledWriter:
    """Several workers with one transaction per unit; conflicts are tried again."""

    def __init__(self, engine: Engine, clock: Clock, rules: Rules) -> None:
        self._engine, self._clock, self._rules = engine, clock, rules
        self.failing = False
        self._pool = ThreadPoolExecutor(POSTGRES_WORKERS, "campaign-writer")

    def submit(self, work: Work, *arguments: Any) -> Future[Any]:
        """Run ``work(unit, *arguments)`` in a transaction; the result comes after the commit."""
        try:
            return self._pool.submit(self._tried, work, arguments)
        except RuntimeError:
            raise UnavailableError("the campaign is being stopped; try again in a minute") from None

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        self._pool.shutdown()

    def _tried(self, work: Work, arguments: tuple[Any, ...]) -> Any:
        last: Exception | None = None
        for attempt in range(MAX_TRIES):
            try:
                with self._engine.begin() as db:
                    found = work(Unit(db, self._clock.now(), self._rules), *arguments)
                self.failing = False
                return found
            except CampaignError as error:
                with self._engine.begin() as db:
                    unit = Unit(db, self._clock.now(), self._rules)
                    note_refusal(unit, work, arguments, error)
                raise
            except DBAPIError as error:
                if not _again(error):
                    raise
                last = error
                time.sleep(FIRST_PAUSE * 2**attempt)
        self.failing = True
        say_why(last)
        raise UnavailableError("the database does not answer; what you sent is not stored")


def say_why(error: Exception | None, what: str = "nothing can be written") -> None:
    """Log what failed and why, without anything that a rater sent."""
    reason = first_line(error) if isinstance(error, DBAPIError) else ""
    log.error(what, extra={"fields": {
        "kind": type(error).__name__, "reason": reason
    }})  # fmt: skip


def note_refusal(unit: Unit, work: Work, arguments: tuple[Any, ...], error: BaseException) -> None:
    """Log a forged or malformed request without its content.

    Of a flood only the first are logged; the next refusal says how many were not.
    """
    if not isinstance(error, NotYoursError | InvalidAnswerError):
        return
    who = f"rater {arguments[0].rater_id}" if isinstance(arguments[0], Link) else "visitor"
    minute = unit.now // 60_000
    last, count = unit.rules.refused.get(who, (minute, 0))
    unlisted = max(0, count - MOST_LISTED) if last != minute else 0
    count = count + 1 if last == minute else 1
    unit.rules.refused[who] = minute, count
    if count <= MOST_LISTED:
        more = {"unlisted": unlisted} if unlisted else {}
        unit.note(who, "refused", work.__name__, status=error.status, **more)


def _again(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None)
    lost = error.connection_invalidated or isinstance(error, OperationalError)
    return isinstance(error, IntegrityError) or lost or state in AGAIN
