"""The command line: one module per stage, no logic. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from assay._version import __version__
from assay.cli.audit import audit
from assay.cli.demo import demo
from assay.cli.effort import effort
from assay.cli.estimation import estimate, evaluate, monitor, raters
from assay.cli.kits import kits
from assay.cli.kits_design import build, collect, design
from assay.cli.planning import plan
from assay.cli.ranking import next_set, rank
from assay.cli.report import report
from assay.cli.reproduce import reproduce
from assay.cli.sampling import next_, sample, stability
from assay.cli.stages import PIPELINE, Stages, panel
from assay.cli.tables import check, convert
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
    "raters": "--exclude-raters",
    "seconds_per_judgment": "--seconds",
    "cost_per_judgment": "--cost",
    "seconds_per_rating": "--seconds",
    "cost_per_rating": "--cost",
}
"""Arguments of the library whose parameter here has another name."""

for name, command in COMMANDS.items():
    app.command(name, rich_help_panel=panel(name))(command)
app.add_typer(plan, name="plan", rich_help_panel=panel("plan"))
for name, command in (("design", design), ("build", build), ("collect", collect)):
    kits.command(name)(command)
app.add_typer(kits, name="kits", rich_help_panel=panel("kits"))


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


for group in (app, plan, kits):
    for registered in group.registered_commands:
        registered.cls = Command


def main() -> None:
    """Run the command line: exit 0 when done, 2 on bad input, 1 on anything else."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets a question mark, not a crash.
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="assay")  # also as python -m assay, or completion has another name
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except BrokenPipeError:
        # Whoever read our output (head, less) has enough; point stdout elsewhere and go.
        sys.stdout = None
        sys.exit(0)
