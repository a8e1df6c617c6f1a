"""The command line: one module per stage, no logic. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from assay._version import __version__
from assay.cli.stages import PIPELINE, Stages, panel
from assay.errors import AssayError, InputError, OptionError

COMMANDS = {
    "demo": "demo:demo",
    "check": "tables:check",
    "convert": "tables:convert",
    "plan": "planning:plan",
    "stability": "sampling:stability",
    "sample": "sampling:sample",
    "next": "sampling:next_",
    "monitor": "estimation:monitor",
    "next-set": "ranking:next_set",
    "estimate": "estimation:estimate",
    "raters": "estimation:raters",
    "evaluate": "estimation:evaluate",
    "rank": "ranking:rank",
    "kits": "kits:kits",
    "effort": "effort:effort",
    "audit": "audit:audit",
    "report": "report:report",
    "reproduce": "reproduce:reproduce",
}
"""Every command or group of commands: its module here, and its name there."""

RENAMED = {
    "rng": "seed",
    "raters": "exclude_raters",
    "seconds_per_judgment": "seconds",
    "cost_per_judgment": "cost",
    "seconds_per_rating": "seconds",
    "cost_per_rating": "cost",
}
"""Arguments of the library whose parameter here has another name."""


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


class Command(TyperCommand):
    """A command whose errors about an argument name the option by which it is given."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except OptionError as error:
            name = RENAMED.get(error.argument, error.argument)
            for parameter in self.params:
                if parameter.name == name and isinstance(parameter, TyperOption):
                    raise error.renamed(max(parameter.opts, key=len)) from None
            raise


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
            for registered in command.registered_commands:
                registered.cls = Command
            app.add_typer(command, name=name, rich_help_panel=panel(name))
        else:
            app.command(name, rich_help_panel=panel(name), cls=Command)(command)
    return app


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
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except BrokenPipeError:
        # Whoever read our output (head, less) has enough; point stdout elsewhere and go.
        sys.stdout = None
        sys.exit(0)
