"""Write ``docs/cli.md`` from the commands themselves; a test keeps it up to date."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli import PANELS, make_app

TARGET = Path(__file__).with_name("cli.md")
INTRODUCTION = """# The command line

This page is generated from what `--help-all` shows; `--help` alone the everyday options. Every
command prints a readable table, and with `--json` exactly one JSON object on stdout; progress,
notes and warnings go to stderr. Exit code 0: done; 2: bad input, with a message that says where and
what to do; 1: anything else.
"""


def page() -> str:
    """The whole page, from a fresh process: what is loaded already can change the order of choices.

    (``Literal["a", "b"]`` equals ``Literal["b", "a"]``, and typing keeps the one it saw first.)
    """
    command = [sys.executable, "-X", "utf8", __file__, "--print"]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def _page() -> str:
    return "\n".join([INTRODUCTION, *(_block(words) for words in _commands())])


def _commands() -> Iterator[Sequence[str]]:
    """The program, then every command in the order of use, groups by their members."""
    app = get_command(make_app())
    assert isinstance(app, TyperGroup)
    yield ()
    for name in (name for names in PANELS.values() for name in names):
        command = app.commands[name]
        if isinstance(command, TyperGroup):
            yield from ((name, member) for member in command.commands)
        else:
            yield (name,)


def _block(words: Sequence[str]) -> str:
    environment = {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"}
    app = make_app(words[:1]) if words else make_app()
    wanted = "--help-all" if words else "--help"
    done = CliRunner(env=environment).invoke(app, [*words, wanted], prog_name="assay")
    assert done.exit_code == 0, done.output
    lines = [line.rstrip() for line in done.stdout.split("\n")]
    title = " ".join(("assay", *words))
    return f"## {title}\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n"


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(_page())
    else:
        TARGET.write_text(_page(), encoding="utf-8")
