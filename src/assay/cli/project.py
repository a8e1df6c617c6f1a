"""What a project fills in for a command, and what it keeps of the command's work."""

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

from assay.cli import note
from assay.cli.options import as_share
from assay.errors import InputError
from assay.pay import parse_pay
from assay.project.project import Project
from assay.project.rules import better_of, range_of
from assay.results import Costs

if TYPE_CHECKING:
    from assay.cli import Command
    from assay.planning.campaign import CampaignPlan
    from assay.project.settings import Pay, Settings

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
    pay = of.pay
    return Costs(pay.per_rating, pay.per_task, pay.per_hour, pay.seconds_per_rating, pay.currency)


def keep_plan(project: Project, plan: CampaignPlan, pay: str | None) -> str:
    """Record how much to draw, and a given price; return a sentence about it."""
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
