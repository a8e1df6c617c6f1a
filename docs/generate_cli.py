"""Write ``docs/cli.md`` from the commands themselves; a test keeps it up to date."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from assay.cli import PANELS, make_app

TARGET = Path(__file__).with_name("cli.md")
SEVERAL = 3
"""An option of as many commands is explained once, in front of them."""
TYPES = {"str": "TEXT", "path": "FILE", "int": "N", "float": "NUMBER",
         "int range": "N"}  # fmt: skip
"""Values that have no better name."""
INTRODUCTION = """# The command line

Made from what `--help-all` shows; `--help` shows the everyday options alone. Every command prints
readable tables, and with `--json` exactly one JSON object on stdout; progress, notes and warnings
go to stderr. Exit code 0: done; 2: bad input, with a message that says where and what to do; 1:
anything else.

`assay --version` shows the version, `--debug` where in the code a command failed, `--limits
columns=20000,rows=1e9` allows larger files; after `--install-completion` your shell completes
commands.

## Options of several commands
"""


def page() -> str:
    """The whole page, from a fresh process, in which nothing is loaded already."""
    command = [sys.executable, "-X", "utf8", __file__, "--print"]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def _page() -> str:
    commands = dict(_commands())
    options = [item for command in commands.values() for item in _own(command)]
    used = Counter((_name(item), item.help) for item in options)
    several = [item for item in options if used[_name(item), item.help] >= SEVERAL]
    often = {_name(item): _line(item) for item in sorted(several, key=_name)}
    blocks = [_block(name, command, often) for name, command in commands.items()]
    return "\n".join([INTRODUCTION, *often.values(), "", *blocks])


def _commands() -> Iterator[tuple[str, Any]]:
    """Every command in the order of use, groups by their members."""
    app = get_command(make_app())
    assert isinstance(app, TyperGroup)
    for name in (name for names in PANELS.values() for name in names):
        command = app.commands[name]
        if isinstance(command, TyperGroup):
            yield from ((f"{name} {member}", item) for member, item in command.commands.items())
        else:
            yield name, command


def _own(command: Any) -> list[TyperOption]:
    """Its options, without those that explain it."""
    return [item for item in command.params if isinstance(item, TyperOption) and not item.hidden]


def _name(item: TyperOption) -> str:
    return max(item.opts, key=len)


def _line(item: TyperOption) -> str:
    """An option in one line."""
    names = ", ".join(f"`{name}`" for name in sorted(item.opts, key=len))
    value = "" if item.is_flag else f" {_value(item)}"
    default = item.default
    known = default is not None and not callable(default) and default not in (False, ())
    text = item.help or ""
    if known and not item.is_flag:
        text = f"{text.rstrip('.')}; default: {default}."
    return f"- {names}{value}: {text}"


def _value(item: TyperOption) -> str:
    """What is to be given: a word for it, its type, or the choices, which come in any order."""
    known = item.display_type(cast(Any, None)).strip("<>")
    word = item.metavar or "|".join(sorted(known.split("|")))
    return f"`{TYPES.get(word, word)}`"


def _block(name: str, command: Any, often: dict[str, str]) -> str:
    about: list[str] = []
    examples: list[str] = []
    for part in (command.help or "").split("\n\n"):
        text = " ".join(part.split())
        (examples if text.startswith("Example: ") else about).append(text)
    needed = [item for item in command.params if isinstance(item, TyperArgument)]
    words = " ".join(("assay", name, *(_argument(item) for item in needed)))
    shown = [text.removeprefix("Example: ") for text in examples]
    lines = [f"## assay {name}\n", "\n\n".join(about), "", "```text", words, *shown, "```", ""]
    lines += [f"- {_argument(item)}: {item.help}" for item in needed if item.help]
    also = [f"`{_name(item)}`" for item in _own(command) if _name(item) in often]
    lines += [_line(item) for item in _own(command) if _name(item) not in often]
    lines += [f"- Also {', '.join(also)}."] if also else []
    return "\n".join([*lines, ""])


def _argument(item: TyperArgument) -> str:
    word = item.metavar or (item.name or "").upper()
    return word if item.required or word.startswith("[") else f"[{word}]"


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(_page())
    else:
        TARGET.write_text(_page(), encoding="utf-8")
