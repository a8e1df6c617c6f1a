"""The files that a plan names, read and checked, with all problems reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from assay.campaign.assignment.contents import Contents, prepare
from assay.campaign.exchange.foreign import Origin, foreign_outputs
from assay.campaign.lessons import read_form, read_lessons
from assay.errors import InputError, OptionError, Problem, TableError
from assay.kits.results import KitDesign
from assay.project.settings import Drawing, Settings
from assay.sampling.draw import sample as draw_sample
from assay.stats.random import Rng
from assay.tables.answers import Errors, read_errors
from assay.tables.load import Columns, Only, column_names
from assay.tables.schemas import find_schema
from assay.tables.tables import Sample, TestSet, read_sample, read_scores


@dataclass(frozen=True)
class Material:
    """A plan with its tables."""

    settings: Settings
    folder: Path
    """The folder of the files that the settings name."""
    test_set: TestSet
    sample: Sample | None
    errors: Errors | None
    kits: KitDesign | None

    def prepare(self, rng: Rng = None) -> Contents:
        """The contents of the campaign, drawn but not written."""
        return prepare(
            self.folder, self.settings, self.test_set, self.sample, self.errors, self.kits, rng
        )


def read_material(
    settings: Settings, folder: Path, *, kits: KitDesign | None = None, only: Only | None = None,
    source: str = "plan", origin: Origin | None = None, faults: Sequence[Problem] = (),
) -> Material:  # fmt: skip
    """Read the files that the settings name, relative to ``folder``.

    ``only`` selects rows of the scores; with an ``origin`` they come from another tool.
    ``faults`` of the settings are listed first; what they concern is not checked again.

    Raises:
        TableError: A file is faulty, or the files do not fit together. Every problem names its
            setting and column.
    """
    collect = _Collecting(faults)
    faulty = {str(fault.column) for fault in faults}
    for name in ("instructions", "consent"):
        if path := getattr(settings, name):
            with collect.of(name):
                _need_text(name, folder / path)
    for kind in ("tutorial", "qualify"):
        if path := getattr(settings.checks, kind):
            with collect.of(f"checks.{kind}"):
                read_lessons(folder / path, kind)
    for when in ("before", "after"):
        if path := getattr(settings.forms, when):
            with collect.of(f"forms.{when}"):
                read_form(folder / path, when)
    test_set = None
    if settings.protocol is None and "protocol" not in faulty:
        collect.add("protocol", 'is missing; choose one, such as protocol = "esa"')
    if settings.scores is None:
        if "scores" not in faulty:
            collect.add("scores", "is missing; name the table with the outputs")
    else:
        with collect.of("scores"):
            test_set = collect.test_set(settings, folder / settings.scores, only, origin)
    sample = errors = None
    if test_set is not None:
        with collect.of("sample"):
            sample = _read_sample(settings, folder, test_set)
        with collect.of("errors"):
            errors = _read_errors(settings, folder, test_set)
    if test_set is not None and not collect.problems:
        material = Material(settings, folder, test_set, sample, errors, kits)
        with collect.of("plan"):
            material.prepare(rng=0)
            return material
    raise TableError(source, collect.problems)


class _Collecting:
    """Collects problems, each with its setting."""

    def __init__(self, faults: Sequence[Problem] = ()) -> None:
        self.problems: list[Problem] = list(faults)

    def add(self, setting: str, message: str) -> None:
        self.problems.append(Problem(message, column=setting))

    @contextmanager
    def of(self, setting: str) -> Iterator[None]:
        """Assign problems raised inside to this setting."""
        try:
            yield
        except TableError as error:
            name = Path(error.source).name
            for problem in error.problems:
                inside = problem.column is not None or problem.line is not None
                column = f"{setting}: {name}"
                if problem.column is not None:
                    column += f", {problem.column}"
                value = problem.value if inside else name
                self.problems.append(Problem(problem.message, problem.line, column, value))
        except OptionError as error:
            where = _setting_of(setting, error.argument)
            self.problems.append(Problem(str(error), column=where, value=str(error.value)))
        except InputError as error:
            self.add(setting, str(error))

    def test_set(
        self, settings: Settings, path: Path, only: Only | None, origin: Origin | None
    ) -> TestSet:
        """The outputs; a choice of columns or systems that does not fit hides no other fault."""
        while True:
            try:
                return read_test_set(settings, path, only, origin)
            except OptionError as error:
                chosen = {item.name: item.default for item in fields(Settings)}
                if error.argument not in ("metrics", "lower_metrics", "exclude"):
                    raise
                with self.of("scores"):
                    raise error
                settings = replace(settings, **{error.argument: chosen[error.argument]})


def _setting_of(part: str, argument: str) -> str:
    """The setting that an argument comes from."""
    if part == "sample" and argument in {field.name for field in fields(Drawing)}:
        return f"sample.{argument}"
    first = argument.partition(".")[0]
    return argument if first in {field.name for field in fields(Settings)} else part


def _need_text(name: str, path: Path) -> None:
    try:
        path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError(name, path, "is not UTF-8", "save it as UTF-8") from None
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
        raise OptionError(name, path, fault, "check the path") from None


def read_test_set(
    settings: Settings, path: Path, only: Only | None, origin: Origin | None
) -> TestSet:
    """The outputs that a plan names; ``only`` selects rows."""
    read: dict[str, Any] = {
        "metrics": settings.metrics, "lower_metrics": settings.lower_metrics,
        "exclude": settings.exclude, "only": only,
    }  # fmt: skip
    if origin is not None:
        return read_scores(foreign_outputs(path, origin), **read)
    return read_scores(path, columns=_columns(settings, path, "scores"), **read)


def _read_sample(settings: Settings, folder: Path, test_set: TestSet) -> Sample | None:
    """The sample, drawn now if needed; None if everything is rated."""
    drawing = settings.sample
    if drawing.file is not None:
        path = folder / drawing.file
        return read_sample(path, test_set, columns=_columns(settings, path, "sample"))
    if drawing.budget is None:
        return None
    goal = (settings.goal or "ranking") if drawing.design == "auto" else None
    budget, seed = drawing.budget, drawing.seed
    return draw_sample(test_set, design=drawing.design, budget=budget, goal=goal, rng=seed)


def _read_errors(settings: Settings, folder: Path, test_set: TestSet) -> Errors | None:
    paths = [folder / name for name in settings.errors]
    tables = [
        read_errors(path, test_set, columns=_columns(settings, path, "errors")) for path in paths
    ]
    if not tables:
        return None
    return Errors(pl.concat([table.frame for table in tables], how="diagonal_relaxed"))


def _columns(settings: Settings, path: Path, kind: str) -> Columns:
    """The user's column names that occur in this table."""
    if not settings.columns:
        return {}
    present, known = column_names(path), find_schema(kind).names
    return {
        name: user for name, user in settings.columns.items() if name in known and user in present
    }
