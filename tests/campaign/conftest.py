"""Stores to try everything on: a file always, PostgreSQL where it starts."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Makes empty databases and gives their addresses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about folders of the desktop
        server = None
        try:
            import pgserver
            import psycopg

            server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
            address = server.get_uri()
        except Exception as error:
            pytest.skip(f"POSTGRESQL IS NOT TESTED: {type(error).__name__}: {error}")

    def database() -> str:
        name = f"campaign_{next(NUMBERS)}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return address.replace("/postgres?", f"/{name}?")

    yield database
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where to make a campaign: a folder, or the address of an empty database."""
    if request.param == "sqlite":
        return tmp_path
    address: str = request.getfixturevalue("postgres")()
    return address
