"""An open store: connections that read, its writer, its clock, and the campaign's rules.

Writing is one thread that commits many units at once (SQLite), or several workers (PostgreSQL).
A caller gets a future that is resolved after the commit: what was acknowledged is on disk.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from assay.campaign.protocols import make_protocol
from assay.campaign.records import (
    CampaignError,
    InvalidAnswerError,
    NotYoursError,
    UnavailableError,
)
from assay.campaign.store import schema as s
from assay.campaign.store.clock import Clock
from assay.campaign.store.opening import (
    POSTGRES_WORKERS,
    Place,
    bring_up_to_date,
    explained,
    first_line,
    make_engine,
    only_writer,
    reachable,
    refuse_remote,
)
from assay.campaign.store.tally import Tally
from assay.campaign.store.unit import Link, Rules, Unit
from assay.errors import InputError
from assay.project.settings import Settings
from assay.results import from_plain

log = logging.getLogger("assay.campaign")
MOST_AT_ONCE = 256
MAX_TRIES, FIRST_PAUSE = 6, 0.02
MOST_LISTED = 60
"""Refusals of one sender in a minute that are logged one by one."""
AGAIN = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03")
"""SQL states after which a unit is tried again: conflicts, and a server that is shutting down."""

Work = Callable[..., Any]


class Writer(ABC):
    """Runs transactions."""

    def __init__(self, engine: Engine, clock: Clock, rules: Rules) -> None:
        self._engine, self._clock, self._rules = engine, clock, rules
        self.failing = False
        """Whether the last transaction could not be written, for example on a full disk."""

    def unit(self, db: Connection) -> Unit:
        """Begin a unit of work."""
        return Unit(db, self._clock.now(), self._rules)

    @abstractmethod
    def submit(self, work: Work, *arguments: Any) -> Future[Any]:
        """Run ``work(unit, *arguments)`` in a transaction; the result comes after the commit."""

    @abstractmethod
    def close(self) -> None:
        """Finish what was submitted, then stop."""


@dataclass(slots=True)
class _Job:
    work: Work
    arguments: tuple[Any, ...]
    future: Future[Any]
    result: Any = None
    error: BaseException | None = None

    def run(self, unit: Unit) -> None:
        """Keep the result or the refusal; raise a fault of the database."""
        try:
            self.result = self.work(unit, *self.arguments)
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


class GroupWriter(Writer):
    """One thread and one connection: all waiting units go into one transaction.

    Each unit has its own savepoint, so that a refused one leaves nothing behind.
    """

    def __init__(self, engine: Engine, clock: Clock, rules: Rules) -> None:
        super().__init__(engine, clock, rules)
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
            job.run(self.unit(db))
        except BaseException as error:
            if error is not job.error:
                raise
            connection.execute("ROLLBACK TO unit")
            note_refusal(self.unit(db), job.work, job.arguments, error)
        connection.execute("RELEASE unit")


class PooledWriter(Writer):
    """Several workers with one transaction per unit; conflicts are tried again."""

    def __init__(self, engine: Engine, clock: Clock, rules: Rules) -> None:
        super().__init__(engine, clock, rules)
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
                    found = work(self.unit(db), *arguments)
                self.failing = False
                return found
            except CampaignError as error:
                with self._engine.begin() as db:
                    note_refusal(self.unit(db), work, arguments, error)
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


WRITER_LOCK = 17_170_417
TAKE_RIGHT = select(func.pg_try_advisory_lock(WRITER_LOCK))
GIVE_BACK = select(func.pg_advisory_unlock_all())
"""The advisory lock of the one process that computes results; a database holds one campaign."""


@dataclass(eq=False)
class Store:
    """An open store: its readers, its writer, its clock and the campaign's rules."""

    place: Place
    readers: Engine
    clock: Clock
    rules: Rules
    slug: str
    writer: Writer | None
    held: ExitStack
    tally: Tally = field(default_factory=Tally)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection for reading."""
        try:
            with self.readers.connect() as db:
                yield db
        except DBAPIError as error:
            say_why(error, "the store cannot be read")
            raise UnavailableError(
                f"the store cannot be read at the moment ({first_line(error)})"
            ) from error

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """Open a connection whose reads all see the same moment."""
        with self.reading() as db:
            if db.dialect.name == "postgresql":
                db = db.execution_options(isolation_level="REPEATABLE READ")
            yield db

    @contextmanager
    def alone_with_results(self) -> Iterator[Callable[[], bool]]:
        """Give a function that says whether this process may compute results.

        A file has one server, which may. A database releases the right when its holder is gone.
        """
        if self.readers.dialect.name != "postgresql":
            yield lambda: True
            return
        held: list[bool] = []
        with self.readers.connect() as raw:
            db = raw.execution_options(isolation_level="AUTOCOMMIT")

            def alone() -> bool:
                if not held and db.execute(TAKE_RIGHT).scalar():
                    held.append(True)
                return bool(held) and db.execute(select(1)).scalar() == 1

            yield alone
            db.execute(GIVE_BACK)

    def later(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start a unit of work; the future is resolved when what it changed is on disk."""
        if self.writer is None:
            raise InputError("the campaign was opened for reading; open it with `write`")
        return self.writer.submit(work, *arguments)

    def failing(self) -> bool:
        """Whether the last write failed, for example on a full disk."""
        return self.writer is not None and self.writer.failing

    def disconnect(self) -> None:
        """Finish what was submitted, then close all connections."""
        self.held.close()


Opened = TypeVar("Opened", bound=Store)


def open_store(
    kind: type[Opened], folder_or_url: str | os.PathLike[str], *, write: bool, clock: Clock | None
) -> Opened:
    """Open a store as this class of stores; a file has at most one writer."""
    place = Place.of(folder_or_url)
    clock = clock if clock is not None else Clock()
    if place.file is not None and not place.file.exists():
        raise InputError(f"'{place.file}' does not exist; make a campaign first")
    with ExitStack() as held:
        if write:
            if place.file is not None:
                refuse_remote(place.file.parent)
                held.enter_context(only_writer(place.file.parent))
            engine = make_engine(place, write=True)
            held.callback(engine.dispose)
            reachable(engine, place)
            bring_up_to_date(engine, place)
        readers = make_engine(place, write=False)
        held.callback(readers.dispose)
        reachable(readers, place)
        with explained(place), readers.connect() as db:
            rules, slug = read_rules(db)
            clock.not_before(db.execute(select(func.max(s.event.c.at))).scalar_one() or 0)
            clock.not_before(db.execute(select(func.max(s.sent.c.at))).scalar_one() or 0)
        writer: Writer | None = None
        if write:
            how = GroupWriter if place.file is not None else PooledWriter
            writer = how(engine, clock, rules)
            held.callback(writer.close)
        return kind(place, readers, clock, rules, slug, writer, held.pop_all())


def read_rules(db: Connection) -> tuple[Rules, str]:
    """Read what was fixed when the campaign was made, and its slug."""
    row = db.execute(select(s.campaign)).one()
    settings = from_plain(row.settings, Settings, "the settings")
    instructions = None
    if row.instructions_hash is not None:
        wanted = select(s.stored_text.c.body).where(s.stored_text.c.hash == row.instructions_hash)
        instructions = str(db.execute(wanted).scalar_one())
    marks = db.execute(select(func.count()).select_from(s.mark)).scalar_one() > 0
    kinds = frozenset(db.execute(select(s.task.c.kind).distinct()).scalars())
    rules = Rules(
        row.name, settings, make_protocol(settings), row.seed,
        (row.source_language, row.target_language), instructions, row.instructions_hash,
        marks, kinds,
    )  # fmt: skip
    return rules, str(row.slug)
