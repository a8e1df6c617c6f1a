"""The command line: one module per stage, no logic. Heavy imports wait until a command runs.

Here are the application, what all its commands refuse, how they read their tables as the user
chose, and how they deliver what they found.
"""

from __future__ import annotations

import errno
import gc
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from assay._version import __version__
from assay.cli.options import (
    COMMANDS,
    CONTEXT,
    ENDINGS,
    HELP,
    HELP_FLAGS,
    METAVARS,
    MOST_SHOWN,
    OWN,
    PANELS,
    PIPELINE,
    RENAMED,
    SHOWN,
    SPECIAL,
    WRITTEN,
    Better,
    Text,
)
from assay.errors import InputError, OptionError, TableError, did_you_mean

if TYPE_CHECKING:
    from assay.results import Result
    from assay.stats.progress import Progress
    from assay.tables.guess import Guess
    from assay.tables.load import Raw, Source
    from assay.tables.tables import Ratings, Sample, TestSet


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context, *,
    version: Annotated[bool, {"callback": _version, "is_eager": True}] = False, debug: bool = False,
    limits: str | None = None,
) -> None:  # fmt: skip
    if limits is not None:
        from assay.tables.limits import limits as allow
        from assay.tables.limits import parse_limits

        context.with_resource(allow(parse_limits(limits, "--limits")))
    if context.invoked_subcommand is None:
        typer.echo(PIPELINE)


def panel(name: str) -> str | None:
    """The panel of the help that lists a command."""
    return next((title for title, names in PANELS.items() if name in names), None)


class Stages(TyperGroup):
    """The commands in the order of use; Typer would list groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names in the order of the panels; those without a panel come last."""
        order = [name for names in PANELS.values() for name in names]
        known = super().list_commands(ctx)
        return sorted(known, key=lambda name: order.index(name) if name in order else len(order))


class Command(TyperCommand):
    """A command, in a project or outside; its errors name options instead of library arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; a project fills in what was not given."""
        if "--help-all" in args:
            ctx.meta["assay.whole"] = True
            typer.echo(self.get_help(ctx))
            raise typer.Exit
        # A campaign has its plan in its own folder, whatever project is around it.
        if ctx.command_path.split()[1:2] != ["campaign"] and _in_project():
            from assay.cli.project import fill
            from assay.project.project import find_project

            if not ctx.resilient_parsing and not {*HELP_FLAGS} & {*args}:
                ctx.obj = find_project()
                args = fill(self, ctx, args, ctx.obj)
        try:
            rest = super().parse_args(ctx, args)
        except Exception as error:
            _name_relatives(error, ctx)
            raise
        for item in self.params:
            if isinstance(item, TyperArgument) and item.nargs == -1:
                ctx.params[item.name] = _expanded(ctx.params[item.name] or ())
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the everyday options, or all of them with --help-all."""
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
            self.refuse_endings(ctx.params)
            if ctx.command_path.split()[1:2] in (["campaign"], ["serve"]) and self.name != "links":
                from assay.cli.campaign import need_campaign

                need_campaign()
            if ctx.obj is None:
                return super().invoke(ctx)
            from assay.cli.project import keep, say_taken

            say_taken(self, ctx, ctx.obj)
            try:
                done = super().invoke(ctx)
            except (BrokenPipeError, SystemExit) as error:
                # The reader (head, less) has closed the pipe, so rich exits; the files are written.
                if isinstance(error.__context__ or error, BrokenPipeError):
                    keep(ctx, ctx.obj)
                raise
            keep(ctx, ctx.obj)
            return done
        except InputError as error:
            raise error.renamed(self.option) from error.__cause__

    def refuse_bytes(self, given: Mapping[str, Any]) -> None:
        """Refuse values that are not UTF-8; only file names may hold any bytes."""
        for name, value in given.items():
            if not isinstance(value, str):
                continue
            text = value.encode("utf-8", "backslashreplace").decode()
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

    def refuse_endings(self, given: Mapping[str, Any]) -> None:
        """Refuse to write a file whose ending does not fit its content."""
        for name, ((kind, remedy), endings) in ENDINGS.items():
            file = given.get(name)
            if file is not None and file.suffix.lower() not in endings:
                raise OptionError(name, file, f"is not {kind}", f"{remedy} {', '.join(endings)}")

    def option(self, argument: str) -> str | None:
        """Return the option that stands for an argument of the library, if there is one."""
        options = {item.name: item for item in self.params if isinstance(item, TyperOption)}
        option = options.get(argument) or options.get(RENAMED.get(argument, ""))
        if option is None:
            return "assay --limits" if argument == "limits" else None
        return max(option.opts, key=len)


def make_app(commands: Iterable[str] = tuple(COMMANDS), *, listed: bool = False) -> typer.Typer:
    """Make the command line with these commands, loading only their modules.

    If they are only ``listed``, as in `assay --help`, their parameters are not examined, which
    would take longer than everything else.
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
        context_settings=CONTEXT,
    )
    app.callback(invoke_without_command=True)(spelled_out(_root, ""))
    for name in commands:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"assay.cli.{module}"), attribute)
        if listed:
            text = command.info.help if isinstance(command, typer.Typer) else command.__doc__
            app.command(name, help=text, rich_help_panel=panel(name))(_listed)
        elif isinstance(command, typer.Typer):
            for registered in command.registered_commands:
                assert registered.callback is not None
                whole = spelled_out(registered.callback, f"{name} {registered.name}")
                registered.cls, registered.callback = Command, whole
            app.add_typer(command, name=name, rich_help_panel=panel(name))
        else:
            app.command(name, rich_help_panel=panel(name), cls=Command)(spelled_out(command, name))
    return app


def spelled_out(command: Callable[..., Any], called: str) -> Callable[..., Any]:
    """Return the command as Typer wants it: every parameter with its flags and help.

    Keyword-only parameters are options; an annotation may add to them. A dataclass parameter stands
    for those of its fields that its annotation names.
    """
    command = inspect.unwrap(command)
    given, groups = inspect.signature(command).parameters, dict[str, tuple[Any, list[str]]]()
    found: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in given.items():
        hint = hints[name]
        kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if kind is typer.Context:
            found.append(parameter.replace(annotation=kind))
        elif is_dataclass(kind):
            groups[name], types = (kind, more[0].split()), get_type_hints(kind)
            parts = (parameter.replace(name=part, default=None) for part in groups[name][1])
            found += [_said(part, types[part.name], called) for part in parts]
        else:
            short = {"flags": ("--save", "-o")} if name == "save" and "output" not in given else {}
            found.append(_said(parameter, kind, called, short, *more))

    @wraps(command)
    def run(**values: Any) -> Any:
        for name, (kind, parts) in groups.items():
            values[name] = kind(**{part: values.pop(part) for part in parts})
        return command(**values)

    run.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in found}
    return run


def _said(
    parameter: inspect.Parameter, kind: Any, called: str, *more: Mapping[str, Any]
) -> inspect.Parameter:
    """Return a parameter with its help, flags and metavar."""
    name, own = parameter.name, f"{called} {parameter.name}"
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        help, metavar = OWN.get(own) or OWN[name]
        info: Any = typer.Argument(help=help, metavar=metavar, **SPECIAL.get(name, {}))
        return parameter.replace(annotation=Annotated[kind, info])
    usual = next((text for text, names in METAVARS.items() if name in names.split()), None)
    said: dict[str, Any] = {"flags": (f"--{name.replace('_', '-')}",)}
    said["help"], said["metavar"] = OWN.get(own) or (HELP.get(name), usual)
    for beside in (SPECIAL.get(name, {}), *more, SPECIAL.get(own, {})):
        said |= beside
    return parameter.replace(annotation=Annotated[kind, typer.Option(*said.pop("flags"), **said)])


def _name_relatives(error: Any, ctx: Any) -> None:
    """If the option is unknown here, name the commands of the group that have it."""
    wanted, group = getattr(error, "option_name", None), ctx.parent
    others = getattr(getattr(group, "command", None), "commands", {})
    having = [
        f"{group.command_path} {name}" for name, other in others.items()
        if any(wanted in item.opts for item in other.params)
    ]  # fmt: skip
    if wanted is not None and having:
        error.possibilities = None
        error.message += f"; it is one of {', '.join(having)}"


def _listed() -> None:
    """Stand in for a command of which only the name and first sentence are needed."""


def _in_project() -> bool:
    """Whether this folder, or a readable one above it, is a project."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return False
    return any(os.path.isfile(folder / "assay.toml") for folder in (here, *here.parents))  # noqa: PTH113


def _expanded(files: Sequence[Path]) -> list[Path]:
    """Replace patterns by the files that they match, each once; not every shell does it."""
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
    """Whether two names, links included, mean one file; devices and pipes are exempt."""
    try:
        if one.samefile(two) and one.is_file():
            return True
    except (OSError, ValueError):  # one of them does not exist, or is not a valid name
        pass
    return os.path.realpath(one) == os.path.realpath(two)


def main() -> None:
    """Run the command line: exit 0 when done, 2 on bad input, 130 on Ctrl-C, 1 on anything else."""
    from assay.cli.running import stopped

    # Imports make many objects that stay and little waste: at Python's own threshold, looking for
    # it takes a tenth of a short command.
    gc.set_threshold(50_000)
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]
    try:
        _open_streams()
        # If the command comes first, the others need not be loaded.
        first = sys.argv[1] if sys.argv[1:] else ""
        app = make_app([first]) if first in COMMANDS else make_app(listed=first in HELP_FLAGS)
        # Under its own name: with python -m assay, or for completion, it would have another.
        code = app(prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # also what ends a reader written in Rust
        if debug:
            import traceback

            traceback.print_exc()
        code = stopped(error)
    sys.exit(code if isinstance(code, int) else 0)


def _open_streams() -> None:
    """Make output UTF-8 whatever the console is, so that names never become question marks."""
    if sys.stderr is None:  # closed: what is said there must not go to stdout
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        raise OSError(errno.EBADF, "is closed; send it to a file or a program", "standard output")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Half a character, from a file name of another system, is shown by its number.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def names(text: str | None) -> list[str] | None:
    """``a,b`` as a list; None if nothing was given.

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
            raise OptionError(option, part, "contradicts an earlier pair", "name each column once")
    return mapping


def people(text: str) -> list[str] | int:
    """``Ada,Ben`` as names, ``3`` as how many.

    >>> people("Ada, Ben"), people("3")
    (['Ada', 'Ben'], 3)
    """
    listed = [name.strip() for name in text.split(",") if name.strip()]
    return int(listed[0]) if len(listed) == 1 and listed[0].isdecimal() else listed


@dataclass(frozen=True, slots=True)
class Reading:
    """Which parts of its tables a command reads; each field is the option of that name."""

    columns: Text = None
    metrics: Text = None
    lower_metrics: Text = None
    exclude: Text = None
    only: Text = None
    lp: Text = None
    format: Text = None

    @property
    def given(self) -> dict[str, str]:
        """The options that were given."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}

    @property
    def excluded(self) -> list[str]:
        """The systems to leave out."""
        return names(self.exclude) or []

    @property
    def mapped(self) -> dict[str, str]:
        """Assay's column names to the user's."""
        return pairs("columns", self.columns)


def columns_for(text: str | None, *tables: tuple[str, Source]) -> list[dict[str, str]]:
    """Return the part of ``--columns`` that concerns each table (kind and file) of a command.

    One mapping serves all tables: an entry goes to every table whose kind has Assay's column and
    whose file has the user's. Refuse an entry that fits none of the files.
    """
    from assay.tables.load import column_names
    from assay.tables.schemas import RESERVED, SCHEMAS

    schemas = [SCHEMAS[kind] for kind, _ in tables]
    mapping = pairs("columns", text)
    if not mapping:
        return [{} for _ in tables]
    known = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    for name, user in mapping.items():
        if name not in RESERVED:
            raise OptionError(
                "columns", f"{name}={user}",
                f"is not one of Assay's columns{did_you_mean(name, known)}",
                f"write Assay's name first, yours second; its columns here are {', '.join(known)}",
            )  # fmt: skip
    present = [column_names(path) for _, path in tables]
    everything = list(dict.fromkeys(name for listed in present for name in listed))
    for user in mapping.values():
        if user not in everything:
            raise OptionError(
                "columns", user, f"is not a column of these files{did_you_mean(user, everything)}",
                f"the columns are {', '.join(everything)}",
            )  # fmt: skip
    return [
        {name: user for name, user in mapping.items() if name in schema.names and user in listed}
        for schema, listed in zip(schemas, present, strict=True)
    ]


def only_for(
    read: Reading, own: dict[str, str], source: Source, *, every: bool = False
) -> dict[str, str]:
    """Return the choice of ``--only`` and ``--lp`` for one table.

    Like ``--columns``, one choice serves all tables of a command that have the column; with
    ``every``, the table must have all of them.
    """
    wanted, lp = pairs("only", read.only), read.lp
    if lp is not None:
        if wanted.get("lp", lp) != lp:
            raise OptionError("lp", lp, f"contradicts --only lp={wanted['lp']}", "give one of them")
        wanted["lp"] = lp
    if not wanted or every:
        return wanted
    from assay.tables.load import column_names

    present = column_names(source)
    return {name: value for name, value in wanted.items() if own.get(name, name) in present}


def read_test_set(
    path: Path, read: Reading, own: dict[str, str] | None = None, *, keep: Sequence[Text] = ()
) -> TestSet:
    """Read the scores table of a command, or those of its rows that the user wants.

    A column named like the user's score is not a metric. If the metrics are named, columns that are
    neither Assay's nor in ``keep`` are not loaded.
    """
    from assay.results import Note
    from assay.tables.guess import is_like
    from assay.tables.tables import read_scores

    own = columns_for(read.columns, ("scores", path))[0] if own is None else own
    options: dict[str, Any] = {
        "lower_metrics": names(read.lower_metrics) or (), "exclude": read.excluded,
        "only": only_for(read, own, path, every=True),
    }  # fmt: skip
    kept = None if read.metrics is None else [name for name in keep if name is not None]
    try:
        test_set = read_scores(path, columns=own, metrics=names(read.metrics), keep=kept, **options)
    except TableError:
        from assay.cli.reading import is_foreign, locate

        if not is_foreign([path], read, "scores"):
            raise
        one = locate(path, read, "scores")
        chosen = one.metrics if read.metrics is None else names(read.metrics)
        test_set = read_scores(one.source, columns=one.columns, metrics=chosen, **options)
        test_set = replace(test_set, named=read.metrics is not None)
    answer = read.mapped.get("score")
    if answer is None or test_set.named:
        return test_set
    like = [name for name in test_set.metrics if is_like(name, answer)]
    rest = tuple(name for name in test_set.metrics if name not in like)
    text = f"named like the score '{answer}', not metrics: {', '.join(like)}"
    notes = (*test_set.notes, Note("ratings-not-metrics", text)) if like else test_set.notes
    return replace(test_set, metrics=rest, notes=notes)


def read_drawn(sample: Path | None, test_set: TestSet) -> Sample | None:
    """Read the sample of a command, if there is one."""
    from assay.tables.tables import read_sample

    return None if sample is None else read_sample(sample, test_set)


class Located(NamedTuple):
    """How to read a table: from where, by which columns, and which of its rows."""

    path: Path
    kind: str
    source: Source | Raw
    columns: dict[str, str]
    only: dict[str, str]
    of_scores: dict[str, str]
    """The columns of the scores that answers are about."""
    guess: Guess | None = None
    """What the table was taken for, where it has others' names."""

    @property
    def metrics(self) -> Sequence[str]:
        """The columns that were taken for metrics."""
        return () if self.guess is None else self.guess.metrics

    def ratings(
        self, test_set: TestSet | None = None, *, better: Better = "higher", range: Text = None
    ) -> Ratings:
        """Read the table as ratings."""
        from assay.tables.tables import read_ratings

        return read_ratings(
            self.source, test_set, columns=self.columns, better=better, range=score_range(range),
            only=self.only,
        )  # fmt: skip


def locate_answers(path: Path, *kinds: str, read: Reading, scores: Path | None = None) -> Located:
    """Find out how to read the answers of a command, which are of one of these kinds.

    A format translates another tool's columns, so there is nothing to map.
    """
    beside: list[tuple[str, Source]] = [] if scores is None else [("scores", scores)]
    if read.format is not None:
        from assay.cli.reading import of_format

        kind, raw, chosen = of_format(path, kinds, read.format, read.lp)
        (of_scores,) = columns_for(read.columns, *beside) or ({},)
        rows_by = replace(read, lp=None) if chosen else read
        rows = only_for(rows_by, {}, raw.frame, every=scores is None or kind == "judgments")
        return Located(path, kind, raw, {}, rows, of_scores)
    source: Source | Raw = path
    kind = kinds[0]
    if len(kinds) > 1:
        from assay.cli.reading import kind_of
        from assay.tables.load import peek

        present, source = peek(path)
        kind = kind_of(present, path, read)
    own, of_scores, *_ = *columns_for(read.columns, (kind, path), *beside), {}
    rows = only_for(read, own, path, every=scores is None or kind == "judgments")
    return Located(path, kind, source, own, rows, of_scores)


def read_rated(
    scores: Path, ratings: Sequence[Path], read: Reading, *, better: Better, range: Text = None,
    keep: Sequence[Text] = (),
) -> tuple[TestSet, Ratings]:  # fmt: skip
    """Read the test set and its ratings, from one file or several."""
    found = [locate_answers(path, "ratings", read=read, scores=scores) for path in ratings]
    test_set = read_test_set(scores, read, found[0].of_scores, keep=keep)
    tables = [one.ratings(test_set, better=better, range=range) for one in found]
    if len(tables) == 1:
        return test_set, tables[0]
    from assay.tables.answers import join_ratings

    return test_set, join_ratings([*zip(map(str, ratings), tables, strict=True)])


def refuse_alone(option: str, value: object, needed: str, given: object) -> None:
    """Refuse an option that means nothing without the other one."""
    if value is not None and given is None:
        if isinstance(value, list):
            value = " ".join(map(str, value))
        raise OptionError(f"--{option}", value, f"needs --{needed}", f"give --{needed} too")


def refuse(options: Mapping[str, object], fault: str, remedy: str = "leave it out") -> None:
    """Refuse those of the options that were given, as they mean nothing here."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise OptionError(name, value, fault, remedy)


def numbers(
    option: str, text: str, fault: str, remedy: str, kind: Callable[[str], Any] = int
) -> list[Any]:
    """``6,12`` as numbers of a kind.

    >>> numbers("sizes", "6,12", "is not a list", "write 6,12")
    [6, 12]
    """
    try:
        return [kind(part) for part in names(text) or []]
    except ValueError:
        raise OptionError(option, text, fault, remedy) from None


def score_range(text: str | None) -> tuple[float, float] | None:
    """``0,25`` as two numbers.

    >>> score_range("0,25")
    (0.0, 25.0)
    """
    fault, remedy = "is not a range", "write LOW,HIGH such as 0,25"
    ends = None if text is None else numbers("range", text, fault, remedy, float)
    if ends is not None and len(ends) != 2:
        raise OptionError("range", text, fault, remedy)
    return None if ends is None else (ends[0], ends[1])


def visible(text: str) -> str:
    """Text for a terminal, without control characters."""
    from assay.results import visible as shown

    return shown(text)


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    sys.stdout.write(visible(_text(result)))


def save_json(result: Mapping[str, Any], path: Path) -> None:
    """Write the JSON object to a file, whole or not at all."""
    from assay.tables.load import atomic

    with atomic(path) as temporary:
        temporary.write_text(_text(result), encoding="utf-8", errors="backslashreplace")


def _text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Draw a progress bar per label on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda label, done, total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    from assay.views.section import console

    text = TextColumn("{task.description}", markup=False)
    parts = (text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*parts, console=console(sys.stderr), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(visible(label), total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield advance


def deliver(
    result: Result,
    save: Path | None,
    json: bool,
    show: Callable[[], None] | None = None,
) -> None:
    """Save a result, and print it as JSON or show it."""
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
        own = (save.parent.parent / "assay.toml").is_file()  # a project reports all its results
        say(f"written to {save}; assay report {'' if own else f'{save} '}makes a page of it")


def say(*lines: str) -> None:
    """Print lines on stdout."""
    for line in lines:
        print(visible(line))


def tell(found: Mapping[str, Any], json: bool, *lines: str) -> None:
    """Print what was found as JSON or in lines, and flush it."""
    if json:
        print_json(found)
    else:
        say(*lines)
    sys.stdout.flush()


def note(*lines: str) -> None:
    """Print lines on stderr that are not part of the answer."""
    for line in lines:
        print(visible(line), file=sys.stderr)
