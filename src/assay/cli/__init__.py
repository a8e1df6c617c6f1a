"""The command line: one module per stage, no logic. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from assay._version import __version__
from assay.cli.audit import audit
from assay.cli.check import check
from assay.cli.convert import convert
from assay.cli.demo import demo
from assay.cli.effort import effort
from assay.cli.estimate import estimate
from assay.cli.evaluate import evaluate
from assay.cli.kits import kits
from assay.cli.monitor import monitor
from assay.cli.next import next_
from assay.cli.next_set import next_set
from assay.cli.plan import plan
from assay.cli.rank import rank
from assay.cli.raters import raters
from assay.cli.report import report
from assay.cli.reproduce import reproduce
from assay.cli.sample import sample
from assay.cli.stability import stability
from assay.cli.stages import PIPELINE, Stages, panel
from assay.errors import AssayError, InputError, OptionError

__all__ = ["app", "main"]

app = typer.Typer(
    name="assay",
    cls=Stages,
    help="Human evaluation of machine translation: how good your systems are, and how sure you"
    " can be, from few judgments.\n\nCommands are listed in the order of use; `assay` alone"
    " shows the pipeline with an example of every stage, `assay COMMAND --help` all of a command.",
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(PIPELINE)


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "check": check,
    "convert": convert,
    "stability": stability,
    "sample": sample,
    "next": next_,
    "monitor": monitor,
    "next-set": next_set,
    "estimate": estimate,
    "raters": raters,
    "evaluate": evaluate,
    "rank": rank,
    "effort": effort,
    "audit": audit,
    "report": report,
    "reproduce": reproduce,
}

RENAMED = {
    "rng": "--seed",
    "seconds_per_judgment": "--seconds",
    "cost_per_judgment": "--cost",
    "seconds_per_rating": "--seconds",
    "cost_per_rating": "--cost",
}
"""Arguments of the library that the command line calls otherwise."""

for name, command in COMMANDS.items():
    app.command(name, rich_help_panel=panel(name))(command)
app.add_typer(plan, name="plan", rich_help_panel=panel("plan"))
app.add_typer(kits, name="kits", rich_help_panel=panel("kits"))


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
