"""Writing: many transactions, one commit (SQLite), or several workers (PostgreSQL).

A caller gets a future, which is resolved after the commit: what was acknowledged is on the disk.
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
TRIES, PAUSE = 6, 0.02
MOST_LISTED = 60
"""Refusals of one person in a minute that are written down one by one."""
AGAIN = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03")
"""States in which PostgreSQL asks for another try: conflicts, and a server that stops."""

Work = Callable[..., Any]


class Writer(Protocol):
    """Runs transactions."""

    failing: bool
    """Whether the last of them could not be written, as on a full disk."""

    def submit(self, work: Work, *arguments: Any) -> Future[Any]:
        """Run ``work(unit, *arguments)`` in a transaction; the result comes after the commit."""

    def close(self) -> None:
        """Finish what was submitted, and stop."""


@dataclass(slots=True)
class _Job:
    work: Work
    arguments: tuple[Any, ...]
    future: Future[Any]
    result: Any = None
    error: BaseException | None = None

    def run(self, db: Connection, clock: Clock, rules: Rules) -> None:
        """Keep what comes out; a fault of the database goes to the caller."""
        try:
            self.result = self.work(Unit(db, clock.now(), rules), *self.arguments)
        except OperationalError:
            raise
        except BaseException as error:
            self.error = error
            raise

    def resolve(self) -> None:
        """Tell the caller."""
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupWriter:
    """One thread, one connection: what is waiting goes into one transaction.

    Each unit of work has a savepoint of its own, so that one that is refused leaves nothing.
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
        # Who waits may leave; what was sent is stored all the same.
        job.future.set_running_or_notify_cancel()
        with self._gate:
            if self._closed:
                raise UnavailableError("the campaign is being stopped; try again in a minute")
            self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Finish what was submitted, and stop."""
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
                # One of them may be to blame: the others shall not wait for it.
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
        """Whether all went to the disk; if not, nothing did."""
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
    """Several workers, a transaction each; conflicts are tried again."""

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
        """Finish what was submitted, and stop."""
        self._pool.shutdown()

    def _tried(self, work: Work, arguments: tuple[Any, ...]) -> Any:
        last: Exception | None = None
        for attempt in range(TRIES):
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
                time.sleep(PAUSE * 2**attempt)
        self.failing = True
        say_why(last)
        raise UnavailableError("the database does not answer; what you sent is not stored")


def say_why(error: Exception | None, what: str = "nothing can be written") -> None:
    """Tell who runs the server what cannot be done and why; what was sent is not in it."""
    reason = first_line(error) if isinstance(error, DBAPIError) else ""
    log.error(what, extra={"fields": {
        "kind": type(error).__name__, "reason": reason
    }})  # fmt: skip


def note_refusal(unit: Unit, work: Work, arguments: tuple[Any, ...], error: BaseException) -> None:
    """Count what was forged or did not fit; what was in it is not kept.

    Of a flood some are listed, and with the next one how many more there were.
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
