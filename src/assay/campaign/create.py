"""A campaign from a plan: its files read and checked, and the campaign created with its keys."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from assay.campaign.assignment import share_of
from assay.campaign.contents import Material, prepare, read_form, read_lessons
from assay.campaign.exchange.imports import Origin, foreign_outputs
from assay.campaign.keys import Keys, write_keys
from assay.campaign.store.creating import slug_of, write_campaign
from assay.campaign.store.opening import FILE
from assay.collecting.results import Created
from assay.errors import InputError, OptionError, Problem, TableError, need_known
from assay.kits.results import KitDesign
from assay.project.settings import Drawing, Settings
from assay.sampling.draw import sample as draw_sample
from assay.stats.random import Rng
from assay.tables.answers import Errors, read_errors
from assay.tables.load import Columns, Only, column_names
from assay.tables.schemas import find_schema
from assay.tables.tables import Sample, TestSet, read_sample, read_scores


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
            prepare(material, 0)
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


def create_campaign(
    folder: str | os.PathLike[str], material: Material, *, store: str | None = None, rng: Rng = None
) -> Created:
    """Create a campaign in a folder: its tasks in their order, its raters and their links.

    Without a sample everything is rated, in an order whose beginnings are samples. ``store`` is the
    address of a PostgreSQL database to use instead of a file. The campaign is a draft at first:
    raters get tasks once it is opened.
    """
    contents, settings = prepare(material, rng), material.settings
    links = write_campaign(Path(folder), store, contents)
    genuine = [number for number, task in enumerate(contents.tasks) if task.kind == "rate"]
    outputs = sum(contents.tasks[number].outputs for number in genuine)
    share = share_of("checks.share", settings.checks.share, 0.0) if any(contents.spoiled) else 0.0
    return Created(
        os.fspath(folder), str(settings.protocol), len(genuine), outputs,
        sum(system != leader for number in genuine
            for (_, system), leader in contents.leaders[number].items()),
        round(share * outputs), contents.seed, links,
    )  # fmt: skip


def make_campaign(
    material: Material, folder: Path, *, store: str | None = None, rng: Rng = None
) -> tuple[Created, Keys]:
    """Create a campaign and write its keys to the folder."""
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {folder} ({error.strerror})") from None
    written = False
    try:
        result = create_campaign(folder, material, store=store, rng=rng)
        written = "://" not in (store or "")
        links = result.links
        raters = {one.rater: one.token for one in links.raters}
        keys = Keys(links.owner, links.viewer, links.join, raters, store)
        write_keys(folder, keys)
    except BaseException:  # Ctrl-C too: without its keys a campaign is of no use
        if written:
            (folder / FILE).unlink(missing_ok=True)
        if made:
            with suppress(OSError):
                folder.rmdir()
        raise
    return result, keys


def read_materials(
    settings: Settings, base: Path, by: str, *, source: str = "plan", origin: Origin | None = None
) -> dict[str, Material]:
    """Read the material of one campaign for each value of a column of the scores, by slug.

    The name of each campaign ends with its value. A budget applies to each campaign.
    """
    if settings.sample.file is not None or settings.errors:
        name = "errors" if settings.errors else "sample"
        fault = f"splits the scores but not the {name}"
        raise OptionError("by", by, fault, f"leave out {name}, or create the campaigns one by one")
    if settings.scores is None:
        raise InputError(f"{source} names no scores; name the table with the outputs")
    frame = read_test_set(settings, base / settings.scores, None, origin).frame
    need_known("by", by, frame.columns, "is not a column of the scores")
    values = [str(one) for one in frame[by].unique(maintain_order=True).drop_nulls()]
    return {
        slug_of(value): read_material(
            replace(settings, name=f"{settings.name} {value}"), base, only={by: value},
            source=source, origin=origin,
        )
        for value in values
    }  # fmt: skip


def make_campaigns(
    materials: dict[str, Material], folder: Path, *, rng: Rng = None
) -> Iterator[tuple[Created, Keys]]:
    """Create a campaign in its own folder for each material; nothing if one exists already."""
    for slug in materials:
        if (folder / slug).exists():
            raise InputError(f"'{folder / slug}' already exists; choose another folder")
    for slug, material in materials.items():
        yield make_campaign(material, folder / slug, rng=rng)
