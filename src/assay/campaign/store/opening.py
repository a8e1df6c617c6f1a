"""Opening the store: where it is, who may write to it, and migrating older tables."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from assay.campaign.store.schema import METADATA
from assay.errors import InputError, OptionError
from assay.tables.load import atomic

FILE, LOCK = "campaign.db", "campaign.lock"
BUSY_MS = 10_000
REMOTE = {
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
}  # fmt: skip
"""Network file systems, where SQLite's locks are unreliable."""
POSTGRES_WORKERS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where a campaign is stored: a file, or the address of a database."""

    file: Path | None
    url: URL

    @classmethod
    def of(cls, folder_or_url: str | os.PathLike[str]) -> Place:
        """Return the place that a folder or an address names."""
        text = os.fspath(folder_or_url)
        if "://" not in text:
            file = Path(text)
            file = file if file.suffix == ".db" else file / FILE
            return cls(file, URL.create("sqlite", database=str(file)))
        try:
            url = make_url(text)
        except ArgumentError:
            url = None
        if url is None or not url.drivername.startswith("postgres"):
            raise OptionError(
                "store", text, "is not an address", "give postgresql://USER@HOST/NAME, or a folder"
            )
        return cls(None, url.set(drivername="postgresql+psycopg"))

    @property
    def address(self) -> str:
        """The address with its password: for another process, never for display."""
        return str(self.file) if self.file else self.url.render_as_string(hide_password=False)

    def __str__(self) -> str:
        return str(self.file) if self.file else self.url.render_as_string(hide_password=True)


def make_engine(place: Place, *, write: bool) -> Engine:
    """Return an engine; for SQLite one connection that writes, or several that only read."""
    if place.file is None:
        # A unit of work that meets a lost connection is tried again; a read is not.
        return create_engine(
            place.url, pool_size=2 * POSTGRES_WORKERS, pool_pre_ping=not write,
            json_serializer=dump,
        )  # fmt: skip
    mode = "rwc" if write else "ro"
    address = f"sqlite:///file:{_quoted(place.file)}?mode={mode}&uri=true"
    engine = create_engine(
        address, poolclass=QueuePool, json_serializer=dump,
        connect_args={"check_same_thread": False, "timeout": BUSY_MS / 1000},
        # Opening a connection parses the schema, which costs more than most reads: keep them all.
        **({"pool_size": 1, "max_overflow": 0} if write else {"max_overflow": -1}),
    )  # fmt: skip
    event.listen(engine, "connect", _prepare_writer if write else _prepare_reader)
    begin = "BEGIN IMMEDIATE" if write else "BEGIN"
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def dump(value: object) -> str:
    """Encode as ASCII JSON, which also holds lone surrogates that no database stores as text."""
    return json.dumps(value, separators=(",", ":"))


def _quoted(file: Path) -> str:
    from urllib.parse import quote

    return quote(str(file.absolute()))


def _prepare_writer(connection: Any, _: object) -> None:
    connection.isolation_level = None  # no implicit BEGIN
    for pragma in (
        "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_MS}",
    ):  # fmt: skip
        connection.execute(f"PRAGMA {pragma}")


def _prepare_reader(connection: Any, _: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")
    connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")


def refuse_remote(folder: Path, mounts: str | None = None) -> None:
    """Refuse a folder on a network file system, where SQLite may lose answers."""
    if mounts is None:
        listing = Path("/proc/mounts")
        mounts = listing.read_text("utf-8", "replace") if listing.exists() else ""
    where = str(folder.resolve())
    longest, kind = "", ""
    for line in mounts.splitlines():
        _, point, name, *_ = [*line.split(), "", "", ""]
        point = point.replace("\\040", " ")
        inside = where == point or where.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(longest):
            longest, kind = point, name
    if kind in REMOTE:
        raise InputError(
            f"'{folder}' is on a network file system ({kind}), on which answers may get lost; put"
            " the campaign on a local disk, or keep it in PostgreSQL"
        )


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the right to write to a folder; refuse a second process and name the first.

    The system releases the lock when the process ends, even after kill -9.
    """
    path = folder / LOCK
    with path.open("a+", encoding="ascii") as file:
        if not _lock(file):
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise InputError(
                f"process {owner} works on the campaign in '{folder}' already; stop it, or ask it"
            )
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def _lock(file: Any) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            file.seek(1 << 20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def reachable(engine: Engine, place: Place) -> None:
    """Refuse a database that does not answer, and say why."""
    with explained(place):
        engine.connect().close()


@contextmanager
def explained(place: Place) -> Iterator[None]:
    """Turn a database error into a message that names the store and the reason."""
    try:
        yield
    except DBAPIError as error:
        raise InputError(
            f"the store {place} cannot be opened ({first_line(error)}); check that it is there and"
            " whole, or put back a backup"
        ) from None


def first_line(error: DBAPIError) -> str:
    """Return the first line of a database error."""
    return str(error.orig).strip().partition("\n")[0]


MIGRATIONS = Path(__file__).parent / "migrations"


@cache
def _scripts(folder: Path) -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(folder))
    return ScriptDirectory.from_config(config)


def migrate(db: Connection) -> None:
    """Upgrade the tables to the current version; the caller commits."""
    scripts = _scripts(MIGRATIONS)
    environment = EnvironmentContext(
        Config(), scripts, fn=lambda revision, _: scripts._upgrade_revs("head", revision)
    )
    with environment:
        environment.configure(connection=db, target_metadata=METADATA)
        environment.run_migrations()


def bring_up_to_date(engine: Engine, place: Place) -> None:
    """Migrate an older store after a backup; refuse one from a newer Assay."""
    scripts = _scripts(MIGRATIONS)
    head = scripts.get_current_head()
    with engine.connect() as db:
        current = MigrationContext.configure(db).get_current_revision()
    if current == head:
        return
    if current is None:
        raise InputError(f"{place} holds no campaign; make one first")
    if current not in {script.revision for script in scripts.walk_revisions()}:
        raise InputError(
            f"{place} was written by a newer version of Assay (tables {current}); update Assay"
        )
    if place.file is not None:
        copy_file(place.file, place.file.with_name(f"{place.file.stem}-before-{head}.db"))
    with engine.begin() as db:
        migrate(db)


def copy_file(source: Path, target: Path) -> None:
    """Copy a whole SQLite file while others use it, with the same permissions."""
    with atomic(target) as part:
        part.chmod(source.stat().st_mode & 0o777)
        try:
            with (
                closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as old,
                closing(sqlite3.connect(part)) as new,
            ):
                old.backup(new)
        except sqlite3.OperationalError as error:
            raise InputError(
                f"'{source}' cannot be copied to '{target}' ({error}); check the folder and the"
                " disk"
            ) from None
