"""The command line: one module per stage, no logic. Heavy imports wait until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from assay._version import __version__
from assay.errors import AssayError, InputError

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from assay.stats.progress import Progress

Item = TypeVar("Item")

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
    "bin": "bin_size",
    "max": "max_snippet",
    "limit": "size_limit",
    "first": "longest_first",
    "size": "pieces",
    "methods": "terms",
}
"""Arguments of the library whose parameter here has another name."""

PANELS = {
    "Start": ("demo", "check", "convert"),
    "Plan": ("plan", "stability", "evaluate"),
    "Sample": ("sample",),
    "While ratings come in": ("next", "next-set", "monitor", "raters"),
    "Estimate and rank": ("estimate", "rank"),
    "Kits and effort": ("kits", "effort"),
    "Report": ("audit", "report", "reproduce"),
}
"""The commands by stage, in the order of use."""

PIPELINE = """\
Assay: how good your translation systems are, and how sure you can be, from few judgments.

See it work on a simulated campaign, and begin there:
  assay demo -o demo
  cd demo

The stages, in the order of use:
  check     is my table right?         assay check scores.tsv --kind scores
  plan      how much must be rated?    assay plan ratings --population 1400 --sd 3 --half-width .3
  sample    which segments to show?    assay sample scores.tsv --budget 20% -o drawn.tsv
  convert   a sheet for the raters     assay convert scores.tsv to-rate.xlsx --from scores \\
                                         --to ratings --sample drawn.tsv
  raters    do the raters agree?       assay raters scores.tsv ratings.tsv --better lower
  estimate  scores with intervals      assay estimate scores.tsv ratings.tsv --sample sample.tsv \\
                                         --better lower -o estimates.json
  rank      an order from judgments    assay rank judgments.tsv -o ranking.json
  effort    the same by post-editing   assay effort edits.tsv -o effort.json
  audit     which claims hold?         assay audit scores.tsv ratings.tsv --better lower
  report    a page to send around      assay report estimates.json ranking.json effort.json \\
                                         -o report.html

Usage: assay COMMAND ...; assay --help lists all commands, assay COMMAND --help explains one."""


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


def panel(name: str) -> str | None:
    """The panel of the help that a command stands in."""
    return next((title for title, names in PANELS.items() if name in names), None)


class Stages(TyperGroup):
    """The commands in the order of use, where Typer would list groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the panels; one without a panel comes last."""
        order = [name for names in PANELS.values() for name in names]
        known = super().list_commands(ctx)
        return sorted(known, key=lambda name: order.index(name) if name in order else len(order))


class Command(TyperCommand):
    """A command whose errors name options where the library names arguments."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise error.renamed(self.option) from None

    def option(self, argument: str) -> str | None:
        """The option by which an argument of the library is given here, if there is one."""
        options = {item.name: item for item in self.params if isinstance(item, TyperOption)}
        option = options.get(argument) or options.get(RENAMED.get(argument, ""))
        return None if option is None else max(option.opts, key=len)


def make_app(commands: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with these commands; the modules of others are not loaded."""
    app = typer.Typer(
        name="assay",
        cls=Stages,
        help="Human evaluation of machine translation: how good your systems are, and how sure"
        " you can be, from few judgments.\n\nCommands are listed in the order of use;"
        " `assay` alone shows the pipeline with an example of every stage, `assay COMMAND"
        " --help` everything about one.",
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


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars on stderr for work that reports its progress, one for each label."""
    if not sys.stderr.isatty():
        yield lambda label, done, total: None
        return
    with _bars() as bars:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield advance


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Pass items on while a progress bar grows on stderr; silent unless that is a terminal."""
    with ticking(total, label) as tick:
        for item in items:
            yield item
            tick()


@contextmanager
def ticking(total: int, label: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr that grows with every call; silent unless that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with _bars() as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


def _bars() -> RichProgress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from assay.views.section import console

    parts = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*parts, console=console(sys.stderr), transient=True)
