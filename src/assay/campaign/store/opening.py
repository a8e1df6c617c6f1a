"""Opening the store: where it is, who may write, and whether its tables are today's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from assay.errors import InputError, OptionError

FILE, LOCK = "campaign.db", "campaign.lock"
BUSY_MS = 10_000
REMOTE = {
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
}  # fmt: skip
"""File systems over a network, on which SQLite's locks cannot be relied on."""
POSTGRES_WORKERS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where a campaign is kept: a file, or a database by its address."""

    file: Path | None
    url: URL

    @classmethod
    def of(cls, folder_or_url: str | os.PathLike[str]) -> Place:
        """The place of a folder or an address."""
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
        """What opens it again, password and all: for another process, never to be shown."""
        return str(self.file) if self.file else self.url.render_as_string(hide_password=False)

    def __str__(self) -> str:
        return str(self.file) if self.file else self.url.render_as_string(hide_password=True)


def make_engine(place: Place, *, write: bool) -> Engine:
    """Connections to the store; for SQLite one that writes, or several that only read."""
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
        # A connection reads the tables' form when it is opened, which costs more than most reading.
        **({"pool_size": 1, "max_overflow": 0} if write else {"max_overflow": -1}),
    )  # fmt: skip
    event.listen(engine, "connect", _prepare_writer if write else _prepare_reader)
    event.listen(engine, "begin", _begin_at_once if write else _begin)
    return engine


def dump(value: object) -> str:
    """JSON in ASCII, which takes half characters too that no database stores as text."""
    return json.dumps(value, separators=(",", ":"))


def _quoted(file: Path) -> str:
    from urllib.parse import quote

    return quote(str(file.absolute()))


def _prepare_writer(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    for pragma in (
        "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_MS}",
    ):  # fmt: skip
        connection.execute(f"PRAGMA {pragma}")


def _prepare_reader(connection: Any, _: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")
    connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")


def _begin_at_once(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN")


def refuse_remote(folder: Path, mounts: str | None = None) -> None:
    """Refuse a folder on a network, where SQLite may lose what it wrote."""
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
    """The right to write, for one process; whoever comes second learns who has it.

    The system gives the lock back when a process ends, however it ends.
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
    """Refuse a database that does not answer, with its reason."""
    with explained(place):
        engine.connect().close()


@contextmanager
def explained(place: Place) -> Iterator[None]:
    """Say of a database that cannot be used which it is and why."""
    try:
        yield
    except DBAPIError as error:
        raise InputError(
            f"the store {place} cannot be opened ({first_line(error)}); check that it is there and"
            " whole, or put back a backup"
        ) from None


def first_line(error: DBAPIError) -> str:
    """What a database says, in one line."""
    return str(error.orig).strip().partition("\n")[0]
