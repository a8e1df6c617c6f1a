"""``assay new``, what a project fills in for a command, and what it keeps of the command's work."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument

from assay.cli import _expanded, names, note, pairs, people, print_json, say
from assay.cli.options import Better, Text, as_share
from assay.errors import InputError
from assay.project.project import Project
from assay.project.settings import Protocol, better_of, range_of

if TYPE_CHECKING:
    from assay.cli import Command
    from assay.planning.campaign import CampaignPlan
    from assay.project.settings import Pay, Settings
    from assay.project.sources import Part
    from assay.results import Costs
    from assay.tables.guess import Guess
    from assay.tables.load import Raw


def new(
    folder: Path, more: list[Path] | None = None, *, origin: list[Path] | None = None,
    protocol: Protocol | None = None, raters: Text = None, pay: Text = None, columns: Text = None,
    metrics: Text = None, lower_metrics: Text = None, exclude: Text = None,
    better: Better | None = None, kind: Text = None, format: Text = None, lp: Text = None,
    only: Text = None, replace: bool = False, json: bool = False,
) -> None:  # fmt: skip
    """Make a project from your files, or change its settings.

    The guesses are shown. Inside the project, every command finds its files and settings.

    Example: assay new demo --from outputs.csv --protocol esa
    """
    from assay.project.project import open_project
    from assay.project.sources import file_of

    sources = [*(origin or ()), *(more or ())] if origin else []
    if more and not origin:
        raise InputError(f"{more[0]} is a second folder; name files with --from")
    said = _said(protocol, raters, pay, better)
    there = (folder / "assay.toml").is_file()
    if not sources and not there:
        raise InputError(
            f"{folder} is not a project yet; say with --from what to make it of: a table, a folder"
            " of text files, or a WMT folder"
        )
    if sources:
        of_files = {
            "kind": kind, "format": format, "lp": lp, "columns": columns, "metrics": metrics,
            "lower_metrics": lower_metrics, "exclude": exclude, "only": only,
        }  # fmt: skip
        project, parts = _made(folder, sources, of_files, said, replace=replace)
    else:
        if raters is not None:
            said["raters"] = _other_raters(folder / "assay.toml", said["raters"])
        listed = {"metrics": metrics, "lower_metrics": lower_metrics, "exclude": exclude}
        said |= {name: names(text) for name, text in listed.items() if text is not None}
        said |= {"columns": pairs("columns", columns)} if columns else {}
        project, parts = open_project(folder).record(said), []
    if json:
        print_json(_as_json(project, parts))
        return
    for part in parts:
        _show(part)
    written = [folder / "assay.toml", *(folder / file_of(part, folder) for part in parts)]
    say(f"  wrote {', '.join(map(str, written))}; {_next(project, folder)}")


def _said(protocol: Text, raters: Text, pay: Text, better: Text) -> dict[str, object]:
    """The settings that the options say."""
    named = {"protocol": protocol, "better": better}
    said: dict[str, object] = {name: text for name, text in named.items() if text is not None}
    if raters is not None:
        known = people(raters)
        said["raters"] = {"number" if isinstance(known, int) else "names": known}
    if pay is not None:
        from dataclasses import asdict

        from assay.pay import parse_pay

        said["pay"] = {name: x for name, x in asdict(parse_pay(pay)).items() if x is not None}
    return said


def _other_raters(file: Path, said: Any) -> dict[str, object]:
    """Other raters; what else was said of them stays."""
    import tomllib

    known = tomllib.loads(file.read_text("utf-8")).get("raters", {})
    return {**{k: v for k, v in known.items() if k not in ("number", "names")}, **said}


def _made(
    folder: Path, sources: Sequence[Path], given: Mapping[str, str | None],
    said: Mapping[str, object], *, replace: bool,
) -> tuple[Project, list[Part]]:  # fmt: skip
    """A new project, and the tables that it has."""
    from assay.cli.reading import answered
    from assay.project.sources import Choices, create_project, read_sources, settings_of
    from assay.tables.guess import guess

    own = pairs("columns", given["columns"])

    def ask(raw: Raw, kind: str | None) -> Guess:
        here = {
            name: user for name, user in own.items()
            if {user, *(part.strip() for part in user.split("+"))} & {*raw.frame.columns}
        }  # fmt: skip
        if kind is None and _has_our_names(raw):
            open_ = any(item.argument == "kind" for item in guess(raw, columns=here).questions)
            kind = "scores" if open_ else None
        return answered(raw, kind, here)

    choices = Choices(
        given["kind"], given["format"], given["lp"], pairs("only", given["only"]) or None,
        names(given["metrics"]), names(given["lower_metrics"]), names(given["exclude"]) or (),
    )  # fmt: skip
    parts = read_sources(_expanded(sources), choices, ask)
    _need_direction(parts, said)
    exclude = {} if not choices.exclude else {"exclude": list(choices.exclude)}
    name = folder.resolve().name or "project"
    settings = {"name": name, **said, **settings_of(parts, folder), **exclude}
    return create_project(folder, parts, settings, replace=replace), parts


def _has_our_names(raw: Raw) -> bool:
    """Whether a table has Assay's names of a test set, one beside those that ratings have too."""
    own = {"source", "target", "reference", "words", "cost", "domain"}
    return {"system", "seg"} <= {*raw.frame.columns} and bool(own & {*raw.frame.columns})


def _need_direction(parts: Sequence[Part], said: Mapping[str, object]) -> None:
    """Refuse to guess which scores are better if a score's name suggests lower ones."""
    for part in parts:
        doubted = part.guess is not None and part.guess.lower_likely
        if part.kind == "ratings" and doubted and not {"better", "protocol"} & {*said}:
            raise InputError(
                f"{part.files[0]}: in scores with this name, lower is usually better. Say which it"
                " is with `better` (lower or higher), or with --protocol mqm"
            )


def _show(part: Part) -> None:
    """Print what a table was taken for; what was done to it goes to stderr."""
    note(*map(str, part.table.notes))
    found = part.guess
    lines = [f"  {_size(part)}."]
    if found is not None:
        own = [f"{name} <- {user}" for name, user in found.columns.items() if name != user]
        own += [f"{found.into} <- {_some(list(found.melted))}"] if found.melted else []
        lines[0] += f"   Columns: {', '.join(own)}." if own else ""
    if part.kind == "scores":
        lines.append(f"  {_metrics(part)}")
    say(*(line for line in lines if line.strip()))


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _size(part: Part) -> str:
    from assay.results import plural

    frame = part.table.frame
    known = {name: frame[name].n_unique() for name in frame.columns}
    if part.kind == "scores":
        segments = frame.n_unique([name for name in ("lp", "doc", "seg") if name in known])
        text = f"{plural(known['system'], 'system')}, {plural(segments, 'segment')}"
        text += f" in {plural(known['doc'], 'document')}" if "doc" in known else ""
        texts = {"source": "sources", "target": "outputs", "reference": "references"}
        held = " and ".join(words for name, words in texts.items() if name in known)
        return f"{text}, with {held}" if held else f"{text}, without texts"
    what = {"edits": "edit", "errors": "marked error"}.get(part.kind, part.kind.removesuffix("s"))
    text = plural(frame.height, what)
    for name, who in (("system", "of"), ("rater", "by"), ("editor", "by")):
        text += f" {who} {plural(known[name], name)}" if name in known else ""
    return text


def _metrics(part: Part) -> str:
    from assay.tables.tables import TestSet

    table, found = part.table, part.guess
    if not isinstance(table, TestSet):
        return ""
    named = [f"{m} (less is better)" if m in table.lower_metrics else m for m in table.metrics]
    parts = [f"Metrics: {', '.join(named) or 'none'}."]
    if found is not None:
        for what, names_ in (("counts", found.counts), ("ratings", found.ratings)):
            others = ", ".join(name for name in names_ if name not in table.metrics)
            parts += [f"Not metrics ({what}): {others}."] if others else []
        unsure = [f"`{name}`" for name in found.unsure if name not in table.metrics]
        if unsure:
            are, a = ("is", "a metric") if len(unsure) == 1 else ("are", "metrics")
            parts.append(f"Not sure: {are} {', '.join(unsure)} {a}? (--metrics)")
    return "   ".join(parts)


def _next(project: Project, folder: Path) -> str:
    """What to do now, by what the project has."""
    of = project.settings
    if of.judgments or of.edits:
        return f"in it, assay {'rank' if of.judgments else 'effort'} compares the systems"
    if of.ratings:
        return "in it, assay estimate gives the scores, assay report a page"
    if of.protocol is None:
        return f"say how it will be rated: assay new {folder} --protocol esa"
    return "in it, assay plan says how much to rate, assay sample draws what"


def _as_json(project: Project, parts: Sequence[Part]) -> dict[str, Any]:
    from assay._version import __version__

    of = project.settings
    return {
        "kind": "project",
        "version": __version__,
        "signature": f"project|{of.name}|protocol:{of.protocol or 'open'}|v:{__version__}",
        "folder": str(project.folder),
        "tables": [
            {
                "table": part.kind,
                "sources": [str(file) for file in part.files],
                "rows": len(part.table),
                "columns": {} if part.guess is None else dict(part.guess.columns),
                "unsure": [] if part.guess is None else list(part.guess.unsure),
            }
            for part in parts
        ],
        "scores": of.scores,
        "metrics": None if of.metrics is None else list(of.metrics),
    }


SETTINGS = {
    "plan campaign": "scores pay protocol raters overlap per_output checks repeats range better"
    " columns exclude",
    "sample": "columns metrics lower_metrics exclude goal budget design seed pay overlap"
    " per_output",
    "stability": "columns metrics lower_metrics exclude",
    "next": "sample better columns metrics exclude",
    "monitor": "sample better range level columns metrics lower_metrics exclude half_width looks"
    " goal guarantee per_output pay",
    "estimate": "sample better range level columns metrics lower_metrics exclude target method pay",
    "raters": "sample better range columns exclude",
    "evaluate": "better level columns metrics lower_metrics exclude",
    "rank": "better level columns exclude pay",
    "audit": "sample better level columns metrics lower_metrics exclude target pay",
    "next-set": "columns exclude",
    "effort": "rate",
    "report": "title",
    "status": "pay level",
    "sheets": "sample columns exclude raters overlap per_output checks repeats range instructions"
    " pay",
}
"""The parameters that a command takes from the settings; ``sheets`` is collect writing sheets."""
OF_JUDGMENTS = frozenset(["columns", "exclude", "level", "pay"])
"""Those that a command takes if its answers are judgments."""
OF_FILES = frozenset(["sample", "columns", "scores"])
"""Those that are about the project's own files."""
RESULTS = {
    "plan campaign": "plan", "sample": "sample", "stability": "stability", "monitor": "monitoring",
    "raters": "raters", "estimate": "estimates", "evaluate": "evaluation", "rank": "ranking",
    "effort": "effort", "audit": "audit",
}  # fmt: skip
"""What the result of a command is called, in the order of the report."""
CAMPAIGN = "campaign.json"
"""The file beside `assay.toml` once a campaign was made from it."""
LACKING = {
    "scores": "no test set; `assay new . --from FILES` adds one",
    "ratings": "no ratings; `assay collect FILES` reads what raters sent back",
    "judgments": 'no judgments; write judgments = "FILE" there',
    "edits": 'no edits; write edits = "FILE" there',
    "results": "no answers yet; `assay status` shows what is missing",
}


def fill(command: Command, context: Any, words: list[str], project: Project) -> list[str]:
    """Return the words of a command line, and put what the project fills in into the context.

    What was typed always wins: values in the context count only for options that were not given.
    """
    name = " ".join(context.command_path.split()[1:])
    if name not in (*SETTINGS, *RESULTS, "collect", "report"):
        return words
    given = command.make_parser(context).parse_args(list(words))[0]
    filling = _Filling(name, command, project, {k: v for k, v in given.items() if v is not None})
    context.default_map = filling.values
    return filling.words(words)


class _Filling:
    """What a project fills into one command line."""

    def __init__(
        self, name: str, command: Command, project: Project, given: Mapping[str, Any]
    ) -> None:
        self.name, self.command, self.project, self.given = name, command, project, given
        self.settings = project.settings
        arguments = [item.name for item in command.params if isinstance(item, TyperArgument)]
        self.named = any(name in given for name in (*arguments, "scores"))
        # The files of a translation tool, in place of tables of edits.
        self.named |= name == "effort" and "before" in given
        self.sheets = name == "collect" and "sheets" in given

    def near(self, *files: str | None) -> list[str]:
        """Files of the project as they are called from here."""
        paths = self.project.paths(tuple(name for name in files if name is not None))
        return [os.path.relpath(path) for path in paths]

    @property
    def values(self) -> dict[str, Any]:
        """The values of parameters that were not given."""
        files = {} if self.named else self.files()
        wanted = SETTINGS.get("sheets" if self.sheets else self.name, "").split()
        if self.judged:
            wanted = [name for name in wanted if name in OF_JUDGMENTS]
        if self.named and not self.sheets:
            wanted = [name for name in wanted if name not in OF_FILES]
        said = {k: v for k, v in self.said().items() if k in wanted and v is not None}
        if self.name == "audit" and not {"sample", "assume"} & {*self.given, *said}:
            said = {k: v for k, v in said.items() if "metrics" not in k}
        if self.name == "sample" and "budget" not in {**self.given, **said}:
            raise InputError(
                "no budget is set; assay plan --budget '300 EUR' shows what that finds and keeps it"
                " for assay sample, or give a --budget such as 20%"
            )
        if "columns" in said:
            said["columns"] = self.columns(files)
        if "exclude" in said:
            said["exclude"] = self.exclude(files)
        return {**said, **files, **self.outputs()}

    @property
    def judged(self) -> bool:
        """Whether the answers that the command is about are judgments."""
        comparing = self.name in ("rank", "audit", "monitor")
        return comparing and bool(self.settings.judgments) and not self.named

    def files(self) -> dict[str, Any]:
        """The tables a command reads, by its arguments."""
        of = self.settings
        scores, edits = self.near(of.scores), self.near(*of.edits)
        answers, judgments = self.near(*of.ratings), self.near(*of.judgments)
        rated = [*scores, *answers] if answers else []
        either = ("judgments", judgments) if judgments else ("ratings", answers)
        two = {"scores": ("scores", scores), "ratings": ("ratings", answers)}
        tables: dict[str, dict[str, tuple[str, list[str]]]] = {
            "sample": {"scores": ("scores", scores)},
            "stability": {"scores": ("scores", scores)},
            "next": two,
            "evaluate": two,
            "monitor": {"scores": either} if judgments else two,
            "estimate": {"files": ("ratings", rated)},
            "raters": {"files": ("ratings", rated)},
            "rank": {"files": either},
            "audit": {"tables": (either[0], either[1] and [*scores, *either[1]])},
            "next-set": {"judgments": ("judgments", judgments)},
            "effort": {"edits": ("edits", edits)},
            "report": {"results": ("results", self.results())} if self.name == "report" else {},
            "collect": {"files": ("scores", scores)} if self.sheets else {},
        }
        return {
            parameter: self.of_parameter(parameter, kind, paths)
            for parameter, (kind, paths) in tables.get(self.name, {}).items()
        }

    def of_parameter(self, parameter: str, kind: str, paths: list[str]) -> Any:
        if not paths:
            raise InputError(f"{self.project.file} names {LACKING[kind]}")
        item = next(item for item in self.command.params if item.name == parameter)
        if item.nargs == -1:
            return paths
        if len(paths) > 1:
            raise InputError(
                f"{self.project.file} names {len(paths)} tables of {kind}, and assay {self.name}"
                " reads one; name it"
            )
        return paths[0]

    def said(self) -> dict[str, Any]:
        """Every setting that any command takes, in the form of its option."""
        of, raters, stop = self.settings, self.settings.raters, self.settings.stop
        scale = range_of(of)
        ranked = stop.goal != "score" and not stop.guarantee
        return {
            "sample": next(iter(self.near(of.sample.file)), None),
            "budget": of.sample.budget,
            "design": None if of.sample.design == "auto" else of.sample.design,
            "seed": of.sample.seed,
            "goal": stop.goal if self.name == "monitor" and stop.goal != "budget" else of.goal,
            "columns": _joined(f"{name}={user}" for name, user in of.columns.items()),
            "metrics": None if of.metrics is None else ",".join(of.metrics),
            "lower_metrics": _joined(of.lower_metrics),
            "exclude": _joined(of.exclude),
            "better": better_of(of),
            "range": None if scale is None else f"{scale[0]:g},{scale[1]:g}",
            "level": stop.level,
            "half_width": stop.target,
            "looks": str(stop.looks) if ranked else None,
            "guarantee": stop.guarantee or None,
            "target": of.target,
            "method": of.method,
            "title": of.name,
            "pay": pay_of_settings(of).text or None,
            "scores": next(iter(self.near(of.scores)), None),
            "protocol": of.protocol,
            "rate": None if of.pay.per_hour is None else _hourly(of.pay),
            "raters": _joined(raters.names) or (str(raters.number) if raters.number > 1 else None),
            "per_output": raters.per_task if raters.per_task > 1 else None,
            "overlap": self.overlap(),
            "checks": share_of(of.checks.share),
            "repeats": share_of(of.checks.repeats),
            "instructions": next(iter(self.near(of.instructions)), None),
        }

    def overlap(self) -> float | None:
        """The project's overlap, or for a sample that of the plan it follows.

        A plan has more overlap if everything is rated and the budget also buys second opinions.
        """
        from assay.planning.campaign import CampaignPlan
        from assay.views.page import read_result

        saved = self.project.result(RESULTS["plan campaign"])
        plan = read_result(saved) if self.name == "sample" and saved.exists() else None
        if isinstance(plan, CampaignPlan) and str(plan.needed) == self.settings.sample.budget:
            return plan.overlap
        return share_of(self.settings.raters.overlap)

    def columns(self, files: Mapping[str, Any]) -> str | None:
        """The column names that at least one of these files has."""
        from assay.tables.load import column_names

        listed = [[given] if isinstance(given, str) else given for given in files.values()]
        present = {name for paths in listed for path in paths for name in column_names(Path(path))}
        return _joined(
            f"{name}={user}" for name, user in self.settings.columns.items()
            if {part.strip() for part in user.split("+")} & present
        )  # fmt: skip

    def exclude(self, files: Mapping[str, Any]) -> str | None:
        """The systems to leave out that these files have, and those that no table has.

        Raters never see them, so the answers need not have them; wrong names are refused later.
        """
        from assay.cli.reading import named_in

        of = self.settings

        def named(files: Iterable[str]) -> set[str]:
            return {name for file in files for name in named_in(Path(file), of.exclude, of.columns)}

        listed = [[given] if isinstance(given, str) else given for given in files.values()]
        here = named(file for paths in listed for file in paths)
        gone = len(here) < len(of.exclude)
        elsewhere = named(self.near(of.scores, *of.ratings, *of.judgments)) if gone else set()
        return _joined(name for name in of.exclude if name in here or name not in elsewhere)

    def outputs(self) -> dict[str, Any]:
        """The places in the project that a command writes to."""
        path, found = self.project.path, dict[str, Path]()
        if self.name in RESULTS:
            found["save"] = self.project.result(RESULTS[self.name])
        if self.name == "sample":
            found["output"] = self.new_sample()
        elif self.name == "report":
            found["output"] = path("report.html")
        elif self.name == "collect":
            found["output"] = path("sheets" if self.sheets else "ratings.tsv")
        if self.sheets:
            found["key"] = path("sheets-key.tsv")
        return {name: os.path.relpath(file) for name, file in found.items()}

    def new_sample(self) -> Path:
        """The file for a sample; refuse to draw one again that raters have begun with."""
        of = self.settings
        path = self.project.path("sample.tsv")
        if "top_up" in self.given:
            number = 2
            while (path := self.project.path(f"sample-{number}.tsv")).exists():
                number += 1
        elif path.exists() and "output" not in self.given and (of.key or of.ratings):
            raise InputError(
                f"{os.path.relpath(path)} exists, and raters have begun with it; enlarge it with"
                f" --top-up {os.path.relpath(path)}, or name another file with -o"
            )
        return path

    def words(self, words: list[str]) -> list[str]:
        """The words; the key goes before answers."""
        if self.name != "collect" or self.sheets:
            return words
        of = self.settings
        files = [Path(file) for file in self.given.get("files", ())]
        if not files and not of.returned:
            raise InputError(
                "say what to do: --sheets xlsx writes a sheet for each rater; to read what raters"
                " sent back, name the files"
            )
        if of.key is None:
            return words
        (key,) = self.near(of.key)
        here = {os.path.realpath(file) for file in files}
        return [*([] if os.path.realpath(key) in here else [key]), *words]

    def results(self) -> list[str]:
        """The saved results, after bringing those up to date that depend on the answers."""
        of = self.settings
        rated = of.ratings if self.names_raters() else ()
        for command, answers in (
            ("estimate", of.ratings), ("raters", rated), ("rank", of.judgments),
            ("effort", of.edits),
        ):  # fmt: skip
            read = [*answers, *filter(None, [of.scores, of.sample.file])]
            if answers and self.is_stale(RESULTS[command], read):
                _run(command)
        order = [*RESULTS.values()]
        saved = [path for path in self.project.results() if path.stem != "plan"]
        saved.sort(key=lambda p: order.index(p.stem) if p.stem in order else len(order))
        home = self.project.folder
        campaign = [home] if (home / CAMPAIGN).is_file() else []
        return [os.path.relpath(path) for path in [*campaign, *saved]]

    def names_raters(self) -> bool:
        """Whether the ratings say who gave them."""
        from assay.tables.load import column_names

        paths = self.project.paths(self.settings.ratings)
        return any("rater" in column_names(path) for path in paths if path.exists())

    def is_stale(self, name: str, read: Sequence[str]) -> bool:
        """Whether a result is missing, or older than what it was made from."""
        made = self.project.result(name)
        files = [path for path in self.project.paths(tuple(read)) if path.exists()]
        times = [path.stat().st_mtime_ns for path in files]
        return not made.exists() or made.stat().st_mtime_ns < max(times, default=0)


def _run(command: str) -> None:
    """Run a command of the project silently."""
    from assay.cli import make_app

    note(f"assay {command}: run again for the report")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        make_app([command])([command], prog_name="assay", standalone_mode=False)


def _joined(names: Iterable[str]) -> str | None:
    return ",".join(names) or None


def _hourly(pay: Pay) -> str:
    return f"{pay.per_hour:.12g}" + (f" {pay.currency}" if pay.currency else "")


def pay_of_settings(of: Settings) -> Costs:
    """What a rating costs in a project."""
    from assay.results import Costs

    pay = of.pay
    return Costs(pay.per_rating, pay.per_task, pay.per_hour, pay.seconds_per_rating, pay.currency)


def keep_plan(project: Project, plan: CampaignPlan, pay: str | None) -> str:
    """Record how much to draw, and a given price; return a sentence about it."""
    from assay.pay import parse_pay

    of, changes = project.settings, {}
    if pay is not None and not pay_of_settings(of).text:
        said = asdict(parse_pay(pay))
        changes = {f"pay.{name}": value for name, value in said.items() if value is not None}
    file = os.path.relpath(project.file)
    drawn = of.sample.file is not None and project.path(of.sample.file).exists()
    if drawn and (of.key or of.ratings):
        project.record(changes)
        return (
            f"raters have begun with {of.sample.file}; to enlarge it, assay sample --top-up"
            f" {of.sample.file} --budget {plan.needed}"
        )
    project.record({"sample.budget": str(plan.needed), **changes})
    anew = " anew" if drawn else ""
    raters = plan.per_output + 1 if plan.overlap > 0.9995 else None
    twice = f", each for {raters} raters" if raters else ""
    return f"kept in {file}: assay sample draws {plan.needed:,} segments{anew}{twice}"


def share_of(text: str | None) -> float | None:
    """``10%`` as 0.1."""
    return None if text is None else as_share(text)


def say_taken(command: Command, context: Any, project: Project) -> None:
    """Print in one line what the project filled in."""
    files: list[object] = []
    options = []
    for item in command.params:
        value = context.params.get(item.name)
        source = context.get_parameter_source(item.name)
        if source is None or source.name != "DEFAULT_MAP" or value in (None, False):
            continue
        if isinstance(item, TyperArgument):
            files += value if isinstance(value, list | tuple) else [value]
        elif item.name not in ("save", "output", "key", "level"):
            name = max(item.opts, key=len)
            options.append(name if value is True else f"{name} {shlex.quote(str(value))}")
    taken = [*(shlex.quote(str(file)) for file in files), *options]
    if taken:
        note(f"from {os.path.relpath(project.file)}: {' '.join(taken)}")
    if "save" in context.params and context.params["save"] is not None:
        folder = project.result("any").parent
        if os.path.realpath(Path(context.params["save"]).parent) == os.path.realpath(folder):
            folder.mkdir(exist_ok=True)


def keep(context: Any, project: Project) -> None:
    """Record what a command wrote, for the next one to find."""
    name = " ".join(context.command_path.split()[1:])
    given = context.params
    output, of = given.get("output"), project.settings
    if output is None:
        return
    written = project.relative(output)
    if name == "sample":
        project.record({"sample.file": written, **_other_overlap(of, given["overlap"])})
    elif name == "kits collect":
        project.record({"edits": _with(of.edits, written)})
    elif name == "collect" and given["sheets"]:
        project.record({"key": project.relative(given["key"])})
    elif name == "collect":
        answers = given["files"][1:]
        returned = [project.relative(file) for file in answers]
        returned += [project.relative(file) for file in returned_before(project, answers)]
        project.record({"ratings": _with(of.ratings, written), "returned": returned})


def _other_overlap(of: Settings, overlap: float | None) -> dict[str, object]:
    """The overlap that a sample was drawn for, if it differs from the project's."""
    from assay.collecting.assign import USUAL_OVERLAP

    known = share_of(of.raters.overlap)
    if overlap is None or abs(overlap - (USUAL_OVERLAP if known is None else known)) < 0.005:
        return {}
    return {"raters.overlap": f"{overlap:.0%}"}


def returned_before(project: Project, answers: Sequence[Path]) -> list[Path]:
    """The files that came back earlier, newest first, without those given again."""
    here = {os.path.realpath(file) for file in answers}
    found = []
    for name in project.settings.returned:
        path = Path(os.path.relpath(project.path(name)))
        if os.path.realpath(path) in here:
            continue
        if not path.exists():
            raise InputError(
                f"{path}, which came back earlier, is gone; put it back, or take it out of"
                f" `returned` in {os.path.relpath(project.file)}"
            )
        found.append(path)
    return found


def _with(names: tuple[str, ...], name: str) -> list[str]:
    return list(dict.fromkeys([*names, name]))
