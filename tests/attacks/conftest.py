"""The command line for attacks: in this process, built once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest
from tests.conftest import Ran
from typer.main import get_command

from assay.cli import make_app
from assay.errors import InputError

Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def invoke() -> Run:
    """The command line, built once: that takes longer than most of the commands."""
    command = get_command(make_app())

    def run(*arguments: str) -> Ran:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                command.main(list(arguments), prog_name="assay")
                code = 0
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 0
            except InputError as error:  # as in `assay.cli.main`
                err.write(str(error))
                code = 2
        return Ran(code, out.getvalue(), err.getvalue())

    return run
