"""An open store: connections that read, the writer, the clock, and the campaign's rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError

from assay.campaign.protocols import make_protocol
from assay.campaign.records import UnavailableError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import Clock
from assay.campaign.store.migrating import bring_up_to_date
from assay.campaign.store.opening import (
    Place,
    explained,
    first_line,
    make_engine,
    only_writer,
    reachable,
    refuse_remote,
)
from assay.campaign.store.tally import Tally
from assay.campaign.store.units.base import Rules
from assay.campaign.store.writer import GroupWriter, PooledWriter, Writer, say_why
from assay.errors import InputError
from assay.project.settings import Settings
from assay.results import from_plain

WRITER_LOCK = 17_170_417
TAKE_RIGHT = select(func.pg_try_advisory_lock(WRITER_LOCK))
GIVE_BACK = select(func.pg_advisory_unlock_all())
"""The advisory lock of the one process that computes results; a database holds one campaign."""


@dataclass
class Store:
    """An open campaign: its readers, its writer, its clock and its rules."""

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
    def alone(self) -> Iterator[Callable[[], bool]]:
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

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a unit of work; the future is resolved when it is on disk."""
        if self.writer is None:
            raise InputError("the campaign was opened for reading; open it with `write`")
        return self.writer.submit(work, *arguments)

    def close(self) -> None:
        """Finish what was submitted, then close all connections."""
        self.held.close()


def open_store(
    folder_or_url: str | os.PathLike[str], *, write: bool, clock: Clock | None = None
) -> Store:
    """Open a store; a file has at most one writer."""
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
            kind = GroupWriter if place.file is not None else PooledWriter
            writer = kind(engine, clock, rules)
            held.callback(writer.close)
        return Store(place, readers, clock, rules, slug, writer, held.pop_all())


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
