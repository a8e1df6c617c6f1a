"""Creating and migrating the tables; a file from a newer Assay is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from assay.campaign.store.opening import Place
from assay.campaign.store.schema import METADATA
from assay.errors import InputError
from assay.tables.load import atomic

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
