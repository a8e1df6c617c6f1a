"""The command line: one module per stage, no logic. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from assay._version import __version__
from assay.cli.stages import PIPELINE, Stages, panel
from assay.errors import AssayError, InputError, OptionError

COMMANDS = {
    "demo": "demo:demo",
    "check": "check:check",
    "convert": "convert:convert",
    "plan": "plan:plan",
    "stability": "stability:stability",
    "sample": "sample:sample",
    "next": "next:next_",
    "monitor": "estimation:monitor",
    "next-set": "next_set:next_set",
    "estimate": "estimation:estimate",
    "raters": "estimation:raters",
    "evaluate": "estimation:evaluate",
    "rank": "rank:rank",
    "kits": "kits_design:kits",
    "effort": "effort:effort",
    "audit": "audit:audit",
    "report": "report:report",
    "reproduce": "reproduce:reproduce",
}
"""Every command or group of commands: its module here, and its name there."""

RENAMED = {
    "rng": "--seed",
    "raters": "--exclude-raters",
    "seconds_per_judgment": "--seconds",
    "cost_per_judgment": "--cost",
    "seconds_per_rating": "--seconds",
    "cost_per_rating": "--cost",
}
"""Arguments of the library that the command line calls otherwise."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(PIPELINE)


def make_app(commands: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands; the modules of others are not loaded."""
    app = typer.Typer(
        name="assay",
        cls=Stages,
        help="Human evaluation of machine translation: how good your systems are, and how sure you"
        " can be, from few judgments.\n\nCommands are listed in the order of use; `assay` alone"
        " shows the pipeline with an example of every stage, `assay COMMAND --help` all of a"
        " command.",
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in commands:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"assay.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel(name))
        else:
            app.command(name, rich_help_panel=panel(name))(command)
    return app


def _as_typed(error: InputError) -> str:
    """The message, with the option as the user typed it where the library has its own name."""
    text = str(error)
    if not isinstance(error, OptionError):
        return text
    option = RENAMED.get(error.argument, f"--{error.argument.replace('_', '-')}")
    typed = any(word.split("=")[0] == option for word in sys.argv[1:])
    return option + text.removeprefix(error.argument) if typed else text


def main() -> None:
    """Run the command line: exit 0 when done, 2 on bad input, 1 on anything else."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets a question mark, not a crash.
            stream.reconfigure(errors="replace")
    # Where the command is named first, the others need not be loaded.
    app = make_app(sys.argv[1:2]) if sys.argv[1:2] and sys.argv[1] in COMMANDS else make_app()
    try:
        app(prog_name="assay")  # also as python -m assay, or completion has another name
    except InputError as error:
        print(f"assay: {_as_typed(error)}", file=sys.stderr)
        sys.exit(2)
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read our output (head, less) has enough; point stdout elsewhere and go.
        sys.stdout = None
        sys.exit(0)
