"""The command line: one module per stage, no logic. Heavy imports wait until a command runs.

Here are the application, and how commands read what they are given and deliver what they found.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from assay._version import __version__
from assay.cli.options import MOST_SHOWN, SHOWN, Backend
from assay.errors import (
    AssayError,
    InputError,
    OptionError,
    TableError,
    did_you_mean,
    need_known,
)

if TYPE_CHECKING:
    import polars as pl
    from rich.progress import Progress as RichProgress

    from assay.engine import Workers
    from assay.results import Result
    from assay.stats.progress import Progress
    from assay.tables.load import Raw, Source
    from assay.tables.tables import Judgments, Ratings, Sample, TestSet

Item = TypeVar("Item")

COMMANDS = {
    "new": "new:new",
    "demo": "demo:demo",
    "check": "tables:check",
    "convert": "tables:convert",
    "plan": "planning:plan",
    "stability": "sampling:stability",
    "sample": "sampling:sample",
    "collect": "collecting:collect",
    "serve": "campaign:serve",
    "status": "status:status",
    "campaign": "steering:campaign",
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
    "bin": "bin_size",
    "max": "max_snippet",
    "limit": "size_limit",
    "first": "longest_first",
    "size": "pieces",
    "methods": "terms",
}
"""Arguments of the library whose parameter here has another name."""

PANELS = {
    "Everyday": ("new", "check", "plan", "sample", "collect", "serve", "status", "report"),
    "Analysis": (
        "estimate", "rank", "effort", "raters", "audit", "campaign", "kits", "monitor", "next",
        "next-set", "convert",
    ),
    "Research": ("demo", "stability", "evaluate", "reproduce"),
}  # fmt: skip
"""The commands: those of a project in the order of use, those behind them, and those to try."""

WRITTEN = {
    "target", "--output", "--save", "--figure", "--figure-by-editor", "--figures", "--parts",
    "--texts", "--key",
}  # fmt: skip
"""The parameters that name files or folders to write; every other path is read."""

OF_STREAMS = (errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG)
"""Errors of a stream that nobody takes: files are written elsewhere, and errors name them."""

HELP = ("-h", "--help")

PIPELINE = """\
Assay: how good your translation systems are, and how sure you can be, from few judgments.

A project is a folder that remembers its files and settings:
  new       what there is to rate      assay new mine --from outputs.csv --protocol esa
                                       cd mine
  plan      what will it find, cost?   assay plan --budget "90 EUR" --pay "0.05 EUR per rating"
  sample    which segments to show?    assay sample --budget 20%
  collect   blind sheets for raters    assay collect --sheets xlsx --raters Ada,Ben
            what they sent back        assay collect answers/*.xlsx
  status    is it enough by now?       assay status
  report    the answer on a page       assay report --open

The analysis behind it works on files, too:
  estimate  scores with intervals      assay estimate scores.tsv ratings.tsv --sample sample.tsv
  rank      an order from judgments    assay rank judgments.tsv
  effort    what post-editing takes    assay effort edits.tsv

A simulated campaign to look at:       assay demo -o demo

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
    debug: Annotated[
        bool, typer.Option("--debug", help="Where a command fails, show where in the code.")
    ] = False,
    limits: Annotated[
        str | None,
        typer.Option(
            "--limits",
            help="Read larger files than usual: columns=20000,rows=1e9.",
            metavar="A=N,...",
        ),
    ] = None,
) -> None:
    if limits is not None:
        from assay.tables.limits import limits as allow
        from assay.tables.limits import parse_limits

        context.with_resource(allow(parse_limits(limits, "--limits")))
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
    """A command of a project, or of none; errors name options where the library has arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; in a project, what was not said comes from there."""
        if "--help-all" in args:
            ctx.meta["assay.whole"] = True
            typer.echo(self.get_help(ctx))
            raise typer.Exit
        if _in_project():
            from assay.cli.project import fill
            from assay.project.project import find_project

            if not ctx.resilient_parsing and not {"--help", "-h"} & {*args}:
                ctx.obj = find_project()
                args = fill(self, ctx, args, ctx.obj)
        rest = super().parse_args(ctx, args)
        for item in self.params:
            if isinstance(item, TyperArgument) and item.nargs == -1:
                ctx.params[item.name] = _expanded(ctx.params[item.name] or ())
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the everyday options; all of them where --help-all was given."""
        if ctx.meta.get("assay.whole"):
            return super().format_help(ctx, formatter)
        listed = [item for item in self.params if isinstance(item, TyperOption) and not item.hidden]
        name = " ".join(ctx.command_path.split()[1:])
        wanted = SHOWN.get(name, "").split() or [item.name for item in listed]
        first = [item for item in listed if item.name in wanted[:MOST_SHOWN]]
        brief = copy(self)
        brief.params = [item for item in self.params if item not in listed or item in first]
        brief.add_help_option = False
        if more := len(listed) - len(first):
            options = "option" if more == 1 else "options"
            brief.epilog = f"{more} more {options}: {ctx.command_path} --help-all"
        return super(Command, brief).format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            self.refuse_bytes(ctx.params)
            self.refuse_overwriting(ctx.params)
            if ctx.obj is None:
                return super().invoke(ctx)
            from assay.cli.project import keep, say_taken

            say_taken(self, ctx, ctx.obj)
            done = super().invoke(ctx)
            keep(ctx, ctx.obj)
            return done
        except InputError as error:
            raise error.renamed(self.option) from error.__cause__

    def refuse_bytes(self, given: Mapping[str, Any]) -> None:
        """Refuse words that are no text; only the name of a file may be any bytes."""
        for name, value in given.items():
            text = (
                value.encode("utf-8", "backslashreplace").decode()
                if isinstance(value, str)
                else value
            )
            if text != value:
                raise OptionError(name, text, "is not UTF-8", "write it in UTF-8")

    def refuse_overwriting(self, given: Mapping[str, Any]) -> None:
        """Refuse to write over a file that the command reads, or twice to one file."""
        files: list[tuple[bool, str, Path]] = []
        for item in self.params:
            value = given.get(item.name or "")
            written = max(item.opts, key=len) in WRITTEN
            for path in value if isinstance(value, list | tuple) else [value]:
                if isinstance(path, Path) and path != Path(os.devnull):
                    files.append((written, item.name or "", path))
        for place, (written, name, path) in enumerate(files):
            for number, (also, _, other) in enumerate(files):
                if written and number != place and (not also or number < place):
                    fault = "is written already" if also else "is an input file"
                    if _same_file(path, other):
                        raise OptionError(name, path, fault, "name another file")

    def option(self, argument: str) -> str | None:
        """The option by which an argument of the library is given here, if there is one."""
        options = {item.name: item for item in self.params if isinstance(item, TyperOption)}
        option = options.get(argument) or options.get(RENAMED.get(argument, ""))
        if option is None:
            return "assay --limits" if argument == "limits" else None
        return max(option.opts, key=len)


def make_app(commands: Iterable[str] = tuple(COMMANDS), *, listed: bool = False) -> typer.Typer:
    """The command line with these commands; the modules of others are not loaded.

    Where they are only ``listed``, as in its own help, their parameters are not looked at: that
    takes longer than all the rest.
    """
    app = typer.Typer(
        name="assay",
        cls=Stages,
        help="Human evaluation of machine translation: how good your systems are, and how sure"
        " you can be, from few judgments.\n\n`assay` alone shows the pipeline with an example of"
        " every stage, `assay COMMAND --help` what one does, `--help-all` all its options.",
        add_completion=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(HELP)},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in commands:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"assay.cli.{module}"), attribute)
        if listed:
            text = command.info.help if isinstance(command, typer.Typer) else command.__doc__
            app.command(name, help=text, rich_help_panel=panel(name))(_listed)
        elif isinstance(command, typer.Typer):
            for registered in command.registered_commands:
                registered.cls = Command
            app.add_typer(command, name=name, rich_help_panel=panel(name))
        else:
            app.command(name, rich_help_panel=panel(name), cls=Command)(command)
    return app


def _listed() -> None:
    """Stands for a command where only its name and first sentence are wanted."""


def _in_project() -> bool:
    """Whether this folder, or one above it, is a project; folders that cannot be read are none."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return False
    return any(os.path.isfile(folder / "assay.toml") for folder in (here, *here.parents))  # noqa: PTH113


def _expanded(files: Sequence[Path]) -> list[Path]:
    """The files, patterns replaced by what they match that is not named before.

    Not every shell does it.
    """
    import glob

    found: list[Path] = []
    for path in files:
        pattern = str(path)
        if path.exists() or not glob.has_magic(pattern):
            found.append(path)
            continue
        matched = sorted(Path(name) for name in glob.glob(pattern))  # noqa: PTH207
        if not matched:
            raise OptionError("FILES", pattern, "matches no file", "check the pattern")
        found += [path for path in matched if path not in found]
    return found


def _same_file(one: Path, two: Path) -> bool:
    """Whether two names, links too, are one file; a device or pipe may be read and written."""
    try:
        if one.samefile(two) and one.is_file():
            return True
    except (OSError, ValueError):  # one of them is not there, or is no name at all
        pass
    return os.path.realpath(one) == os.path.realpath(two)


def main() -> None:
    """Run the command line: exit 0 when done, 2 on bad input, 130 on Ctrl-C, 1 on anything else."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]
    try:
        _open_streams()
        # Where the command is named first, the others need not be loaded.
        first = sys.argv[1] if sys.argv[1:] else ""
        app = make_app([first]) if first in COMMANDS else make_app(listed=first in HELP)
        # By its name: as python -m assay, or completion has another one.
        code = app(prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # also what ends a reader written in Rust
        if debug:
            import traceback

            traceback.print_exc()
        code = _stopped(error)
    sys.exit(code if isinstance(code, int) else 0)


def _open_streams() -> None:
    """Output is UTF-8 whatever the console is: a name never turns into question marks."""
    if sys.stderr is None:  # closed: what is said there must not go to stdout
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        raise OSError(errno.EBADF, "is closed; send it to a file or a program", "standard output")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Half a character, from a file name of another system, is shown by its number.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _stopped(error: BaseException) -> int:
    """Say in one sentence what stopped a command; its exit code."""
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__  # typer found the pipe closed
    if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
        return 130
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, OSError) and error.filename is None and error.errno in OF_STREAMS:
        _drop_stdout()
        if isinstance(error, BrokenPipeError):
            return 0  # whoever read our output (head, less) has enough
        error = OSError(error.errno, f"cannot be written ({error.strerror})", "standard output")
    if hasattr(error, "format_message"):  # a usage error, in typer's words
        return _usage_error(error)
    problems = error.problems if isinstance(error, TableError) else ()
    _say_error(_sentence(error), [asdict(problem) for problem in problems])
    return 2 if isinstance(error, InputError) else 1


def _drop_stdout() -> None:
    """What is still to be written to stdout goes nowhere; nobody takes it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]


def _usage_error(error: Any) -> int:
    from typer.rich_utils import rich_format_error

    text = _shown(error.format_message())
    if "--json" in sys.argv:
        print_json({"error": text, "problems": []})
    error.format_message = lambda: text
    rich_format_error(error)
    return int(error.exit_code)


def _say_error(text: str, problems: Sequence[Mapping[str, Any]] = ()) -> None:
    """The error for people on stderr; for programs that asked for JSON also on stdout."""
    if "--json" in sys.argv:
        with suppress(OSError):
            print_json({"error": text, "problems": list(problems)})
    note(f"assay: {text}")


def _sentence(error: BaseException) -> str:
    if isinstance(error, AssayError):
        return str(error)
    if isinstance(error, MemoryError):
        return "the memory ran out; give fewer rows or columns, or use a larger machine"
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    return (
        f"this should not have happened ({type(error).__name__}: {text[:200]}); please report it"
        " to the developers, with the command and what --debug shows"
    )


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
                tasks[label] = bars.add_task(_shown(label), total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield advance


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Pass items on while a progress bar grows on stderr; silent unless that is a terminal."""
    began, told = time.monotonic(), False
    with ticking(total, label) as tick:
        for done, item in enumerate(items, start=1):
            yield item
            tick()
            if not told:
                told = announce(time.monotonic() - began, done, total)


LONG_WORK = 120.0
"""Seconds from which on a command says beforehand how long it will take."""


def announce(seconds: float, done: int, total: int) -> bool:
    """Say how long the rest takes, where that is minutes, and how to make it shorter."""
    left = seconds * (total - done) / done
    if left < LONG_WORK:
        return False
    note(
        f"this takes about {left / 60:,.0f} minutes more (done: {done:,} of {total:,}); fewer"
        " draws, designs, methods or sizes take less, more workers share it, Ctrl-C ends it"
    )
    return True


@contextmanager
def ticking(total: int, label: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr that grows with every call; silent unless that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with _bars() as progress:
        task = progress.add_task(_shown(label), total=total)
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
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*parts, console=console(sys.stderr), transient=True)


REPORT_SIGNS = ("Made by Assay", "All numbers were computed with Assay")
"""What every report has, in HTML, Markdown or LaTeX."""


def chosen_workers(backend: Backend | None, workers: int | None, scheduler: str | None) -> Workers:
    """Who does the work of a sweep; options that contradict each other are refused.

    >>> chosen_workers(None, 4, None), chosen_workers("processes", None, None)
    (4, 0)
    >>> chosen_workers(None, None, "tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    """
    from assay.engine import Cluster

    if backend == "dask" or (backend is None and scheduler is not None):
        if scheduler is None:
            raise OptionError("--backend", "dask", "needs a cluster", "give --scheduler ADDRESS")
        if workers is not None:
            raise OptionError(
                "--workers", workers, "is for processes of this machine",
                "leave it out: the cluster has as many as were started",
            )  # fmt: skip
        return Cluster(scheduler)
    if scheduler is not None:
        raise OptionError("--scheduler", scheduler, "is for dask", "give --backend dask")
    if backend == "serial":
        if workers not in (None, 1):
            raise OptionError("--workers", workers, "is not serial", "give --backend processes")
        return 1
    if backend == "processes":
        return 0 if workers is None else workers
    return 1 if workers is None else workers


def names(text: str | None) -> list[str] | None:
    """``a,b`` as a list; None where nothing was said.

    >>> names("chrF, BLEU")
    ['chrF', 'BLEU']
    """
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(option: str, text: str | None) -> dict[str, str]:
    """``a=b,c=d`` as a dict.

    >>> pairs("columns", "seg=seg_id,score=mqm")
    {'seg': 'seg_id', 'score': 'mqm'}
    """
    mapping: dict[str, str] = {}
    for part in names(text) or []:
        left, sign, right = part.partition("=")
        if not sign or not left.strip() or not right.strip():
            remedy = "write NAME=YOURS, separated by commas"
            raise OptionError(option, part, "is not a pair", remedy)
        if mapping.setdefault(left.strip(), right.strip()) != right.strip():
            raise OptionError(option, part, "names it again, otherwise", "name each once")
    return mapping


def columns_for(text: str | None, *tables: tuple[str, Source]) -> list[dict[str, str]]:
    """The part of ``--columns`` that concerns each table (kind and file) a command reads.

    One mapping serves all commands: an entry goes to every table of these that has both Assay's
    column by its kind and the user's by its file. An entry that fits none of the files is refused.
    """
    from assay.tables.load import find_schema
    from assay.tables.selection import column_names

    schemas = [find_schema(kind) for kind, _ in tables]
    mapping = pairs("columns", text)
    if not mapping:
        return [{} for _ in tables]
    _need_columns(mapping, [name for schema in schemas for name in schema.names])
    present = [column_names(path) for _, path in tables]
    for user in mapping.values():
        if not any(user in listed for listed in present):
            everything = list(dict.fromkeys(name for listed in present for name in listed))
            raise OptionError(
                "columns", user, f"is not a column of these files{did_you_mean(user, everything)}",
                f"the columns are {', '.join(everything)}",
            )  # fmt: skip
    return [
        {name: user for name, user in mapping.items() if name in schema.names and user in listed}
        for schema, listed in zip(schemas, present, strict=True)
    ]


def _need_columns(mapping: dict[str, str], known: list[str]) -> None:
    """Refuse names that no table of Assay has."""
    from assay.tables.load import RESERVED

    here = list(dict.fromkeys(known))
    for name, user in mapping.items():
        if name not in RESERVED:
            raise OptionError(
                "columns", f"{name}={user}", "is not one of Assay's"
                                             f" columns{did_you_mean(name, here)}",
                f"write Assay's name first, yours second; its columns here are {', '.join(here)}",
            )  # fmt: skip


def only_for(
    only: str | None, lp: str | None, own: dict[str, str], source: Source, *, every: bool = False
) -> dict[str, str]:
    """The rows of ``--only`` and ``--lp`` in one table; with ``every``, it must have all columns.

    Like ``--columns``, one choice serves all tables of a command: those that have the column.
    """
    from assay.tables.selection import column_names

    wanted = pairs("only", only)
    if lp is not None:
        if wanted.get("lp", lp) != lp:
            raise OptionError("lp", lp, f"contradicts --only lp={wanted['lp']}", "give one of them")
        wanted["lp"] = lp
    if not wanted or every:
        return wanted
    present = column_names(source)
    return {name: value for name, value in wanted.items() if own.get(name, name) in present}


def read_test_set(
    path: Path,
    own: dict[str, str],
    *,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None,
    exclude: str | None,
    only: str | None = None,
    lp: str | None = None,
    keep: Sequence[str | None] = (),
) -> TestSet:
    """The scores table of a command, or the rows of it that the user wants.

    A column that is called like the user's score is not a metric. Where the metrics are named,
    columns that are neither Assay's nor in ``keep`` are not loaded.
    """
    from dataclasses import replace

    from assay.results import Note
    from assay.tables.tables import is_like, read_scores

    test_set = read_scores(
        path,
        columns=own,
        metrics=names(metrics),
        lower_metrics=names(lower_metrics) or (),
        exclude=names(exclude) or (),
        only=only_for(only, lp, own, path, every=True),
        keep=None if metrics is None else [name for name in keep if name is not None],
    )
    answer = pairs("columns", columns).get("score")
    if answer is None or test_set.named:
        return test_set
    like = [name for name in test_set.metrics if is_like(name, answer)]
    rest = tuple(name for name in test_set.metrics if name not in like)
    text = f"named like the score '{answer}', not metrics: {', '.join(like)}"
    notes = (*test_set.notes, Note("ratings-not-metrics", text)) if like else test_set.notes
    return replace(test_set, metrics=rest, notes=notes)


def with_history(
    test_set: TestSet, path: Path | None, better: Literal["higher", "lower"]
) -> TestSet:
    """The test set with what the ratings of a file say of its segments."""
    from assay.tables.history import add_history
    from assay.tables.selection import column_names
    from assay.tables.tables import read_ratings

    if path is None:
        return test_set
    ratings = read_ratings(path, better=better, only=_own_pair(test_set, column_names(path)))
    return add_history(test_set, ratings)


class Located(NamedTuple):
    """How a table of answers is read: from where, by which columns, and which of its rows."""

    kind: str
    source: Source | Raw
    columns: dict[str, str]
    only: dict[str, str]
    of_scores: dict[str, str]
    """The columns of the scores that the answers are about."""


def locate_answers(
    path: Path, *kinds: str, columns: str | None, only: str | None, lp: str | None,
    format: str | None = None, scores: Path | None = None,
) -> Located:  # fmt: skip
    """Where the answers of a command are, one of these kinds; of a ``format``: as it reads them.

    Another tool's columns are translated by its format, so that there is nothing to map in it.
    """
    beside: list[tuple[str, Source]] = [] if scores is None else [("scores", scores)]
    if format is not None:
        kind, raw, chosen = _of_format(path, kinds, format, lp)
        of_scores = columns_for(columns, *beside)
        every = scores is None or kind == "judgments"
        rows = only_for(only, None if chosen else lp, {}, raw.frame, every=every)
        return Located(kind, raw, {}, rows, of_scores[0] if of_scores else {})
    source: Source | Raw = path
    kind = kinds[0]
    if len(kinds) > 1:
        from assay.tables.selection import peek

        present, source = peek(path)
        kind = _kind_of(present, path, columns)
    own, *of_scores = columns_for(columns, (kind, path), *beside)
    rows = only_for(only, lp, own, path, every=scores is None or kind == "judgments")
    return Located(kind, source, own, rows, of_scores[0] if of_scores else {})


def _of_format(
    path: Path, kinds: Sequence[str], format: str, lp: str | None
) -> tuple[str, Raw, bool]:
    """The kind of table in another tool's file, the table, and whether ``lp`` chose its rows."""
    from assay.formats.catalogue import FORMATS, Options, find_format, load_format

    item = find_format(format)
    held = [kind for kind in item.reads if kind in kinds]
    if not held:
        known = [name for name, other in FORMATS.items() if {*other.reads} & {*kinds}]
        what = f"holds no {' or '.join(kinds)}"
        raise OptionError("format", format, what, f"choose from {', '.join(known)}")
    chosen = lp is not None and "lp" in item.reading(held[0]).options
    return held[0], load_format(path, format, held[0], Options(lp=lp if chosen else None)), chosen


def read_history(
    test_set: TestSet, path: Path | None, better: Literal["higher", "lower"]
) -> tuple[TestSet, tuple[TestSet, Ratings] | None]:
    """The test set with what a file says of its segments, and the file as an earlier campaign.

    Ratings of other systems of these segments say how hard segments are. Where the file has some
    of the metrics, it also says what these are worth, and may be about other segments.
    """
    from assay.tables.selection import column_names
    from assay.tables.tables import read_ratings, read_scores

    if path is None:
        return test_set, None
    columns = column_names(path)
    shared = [name for name in test_set.metrics if name in columns]
    if not shared:
        return with_history(test_set, path, better), None
    only = _own_pair(test_set, columns)
    past = read_scores(path, metrics=shared, only=only)
    ratings = read_ratings(path, past, better=better, only=only)
    key = [name for name in test_set.key if name in past.segments.columns]
    here = past.segments.join(test_set.segments, on=key, how="semi").height
    same = with_history(test_set, path, better) if here else test_set
    return same, (past, ratings)


def _own_pair(test_set: TestSet, columns: Sequence[str]) -> dict[str, str] | None:
    """The language pair to read of a file that may have several; None where all is meant."""
    pairs = test_set.segments["lp"].unique().to_list() if "lp" in test_set.key else []
    one = test_set.part and len(pairs) == 1 and "lp" in columns
    return {"lp": pairs[0]} if one else None


def read_rated(
    scores: Path,
    ratings: Path | Sequence[Path],
    *,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None = None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"],
    range: str | None = None,
    keep: Sequence[str | None] = (),
    format: str | None = None,
) -> tuple[TestSet, Ratings]:
    """The test set and its ratings, from one file or several, both as the user chose them."""
    from assay.tables.tables import read_ratings

    files = [ratings] if isinstance(ratings, Path) else list(ratings)
    found = [
        locate_answers(
            path, "ratings", columns=columns, only=only, lp=lp, format=format, scores=scores
        )
        for path in files
    ]
    test_set = read_test_set(
        scores, found[0].of_scores, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, keep=keep,
    )  # fmt: skip
    tables = [
        read_ratings(
            one.source, test_set, columns=one.columns, better=better, range=score_range(range),
            only=one.only,
        )
        for one in found
    ]  # fmt: skip
    if len(files) == 1:
        return test_set, tables[0]
    from assay.tables.answers import join_ratings

    return test_set, join_ratings([*zip(map(str, files), tables, strict=True)])


def read_judged(
    path: Path,
    columns: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    format: str | None = None,
) -> Judgments:
    """The judgments that the user chose, without the systems to be left out."""
    from assay.tables.tables import read_judgments

    found = locate_answers(path, "judgments", columns=columns, only=only, lp=lp, format=format)
    return read_judgments(
        found.source, columns=found.columns, exclude=names(exclude) or (), only=found.only
    )


def has_rows(path: Path) -> bool:
    """Whether a table has anything below its header."""
    from assay.tables.load import load

    return load(path, text=lambda _: True).frame.height > 0


def answers_kind(path: Path, columns: str | None) -> Literal["judgments", "ratings"]:
    """Whether the file has judgments or ratings, by its columns."""
    from assay.tables.selection import column_names

    return _kind_of(column_names(path), path, columns)


def _kind_of(
    present: Sequence[str], path: Path, columns: str | None
) -> Literal["judgments", "ratings"]:
    from assay.tables.load import SCHEMAS

    here = {*present, *pairs("columns", columns)}
    missing = {
        kind: [name for name in SCHEMAS[kind].required if name not in here]
        for kind in ("judgments", "ratings")
    }
    if not missing["judgments"] and not missing["ratings"]:
        raise InputError(
            f"{path}: has the columns of judgments and of ratings; keep those of one of them"
        )
    if all(missing.values()):
        raise InputError(
            f"{path}: is neither a table of judgments (no {', '.join(missing['judgments'])}) nor"
            f" of ratings (no {', '.join(missing['ratings'])}); map your names with --columns"
        )
    return "ratings" if missing["judgments"] else "judgments"


def read_answers(
    path: Path,
    *,
    columns: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"] = "higher",
    format: str | None = None,
) -> Judgments | Ratings:
    """The judgments or ratings of a file, whichever it has; it is read once."""
    from dataclasses import replace

    from assay.tables.tables import read_judgments, read_ratings

    kind, source, own, rows, _ = locate_answers(
        path, "judgments", "ratings", columns=columns, only=only, lp=lp, format=format
    )
    left_out = names(exclude) or []
    if kind == "judgments":
        return read_judgments(source, columns=own, exclude=left_out, only=rows)
    table = read_ratings(source, columns=own, better=better, only=rows)
    return replace(table, frame=without(table.frame, left_out))


def without(frame: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The rows of a table of ratings that are not of these systems."""
    import polars as pl

    for name in systems:
        known = frame["system"].unique(maintain_order=True).to_list()
        need_known("exclude", name, known, "is not among the rated systems")
        frame = frame.filter(pl.col("system") != name)
    return frame


def refuse_alone(option: str, value: object, needed: str, given: object) -> None:
    """Refuse an option that means nothing without another."""
    if value is not None and given is None:
        if isinstance(value, list):
            value = " ".join(map(str, value))
        raise OptionError(f"--{option}", value, f"is about --{needed}", f"give --{needed} too")


def refuse_foreign(output: Path) -> None:
    """Refuse to write a report over a file that Assay did not write."""
    if not output.is_file():
        return
    text = output.read_bytes().decode("utf-8", errors="replace")
    if not any(sign in text for sign in REPORT_SIGNS):
        raise OptionError(
            "output", output, "is there, and not such a report of Assay's", "name another one"
        )


def figure_file(figure: Path | None) -> Path | None:
    """The file for a figure; refused before anything is written, not after."""
    endings = (".svg", ".pdf", ".png")
    if figure is not None and figure.suffix.lower() not in endings:
        raise OptionError(
            "figure", figure, "is not a kind of figure", f"end it in {', '.join(endings)}"
        )
    return figure


def save_file(save: Path | None) -> None:
    """Refuse a file for the result that is not JSON."""
    if save is not None and save.suffix.lower() != ".json":
        raise OptionError("save", save, "is not a JSON file", "end its name in .json")


def read_drawn(sample: Path | None, test_set: TestSet) -> Sample | None:
    """The sample of a command, where there is one."""
    from assay.tables.tables import read_sample

    return None if sample is None else read_sample(sample, test_set)


def shares(option: str, text: str) -> list[float]:
    """``5%,10%`` as shares.

    >>> shares("--sizes", "5%, 0.1")
    [0.05, 0.1]
    """
    parts = names(text) or []
    try:
        return [
            float(part.removesuffix("%")) / (100 if part.endswith("%") else 1) for part in parts
        ]
    except ValueError:
        raise OptionError(option, text, "are not shares", "write shares such as 5%,10%") from None


def look_plan(text: str | None) -> int | list[int] | None:
    """``5`` as how many looks, ``100,200,400`` as their sizes.

    >>> look_plan("5"), look_plan("100,200,400")
    (5, [100, 200, 400])
    """
    if text is None:
        return None
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError("looks", text, "is not a plan", "write 5, or 100,200,400") from None
    return sizes if "," in text else sizes[0]


def score_range(text: str | None) -> tuple[float, float] | None:
    """``0,25`` as two numbers.

    >>> score_range("0,25")
    (0.0, 25.0)
    """
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise OptionError("range", text, "is not a range", "write LOW,HIGH such as 0,25") from None
    return low, high


def _shown(text: str) -> str:
    """Text as a terminal shows it, with nothing in it that a terminal would obey."""
    from assay.results import visible

    return visible(text)


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    sys.stdout.write(_shown(_text(result)))


def save_json(result: Mapping[str, Any], path: Path) -> None:
    """Write the JSON object to a file, whole or not at all."""
    from assay.tables.load import atomic

    with atomic(path) as temporary:
        temporary.write_text(_text(result), encoding="utf-8", errors="backslashreplace")


def _text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def deliver(
    result: Result,
    save: Path | None,
    json: bool,
    show: Callable[[], None] | None = None,
) -> None:
    """Save a result where it shall go, and print it as JSON or show it to a person."""
    if save is not None:
        save_json(result.to_dict(), save)
    if json:
        print_json(result.to_dict())
        return
    if show is not None:
        show()
    else:
        from assay.views.section import section_of
        from assay.views.section import show as print_section

        print_section(section_of(result))
    if save is not None:
        own = (save.parent.parent / "assay.toml").is_file()  # a project's report takes all it has
        say(f"written to {save}; assay report {'' if own else f'{save} '}makes a page of it")


def say(*lines: str) -> None:
    """Say something to people on stdout."""
    for line in lines:
        print(_shown(line))


def note(*lines: str) -> None:
    """Say something on stderr that is not the answer itself."""
    for line in lines:
        print(_shown(line), file=sys.stderr)
