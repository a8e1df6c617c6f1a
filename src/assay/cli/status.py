"""``assay status``: a project's progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Context

from assay.cli import Reading, deliver, read_drawn, read_rated, read_test_set
from assay.cli.options import File, Text
from assay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from assay.project.project import Project
    from assay.tables.tables import Ratings, TestSet


def status(
    context: Context, *, pay: Text = None, level: float = 0.95, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Show where a project stands: what is rated, what is decided, what deciding the rest costs.

    The campaign may still be running. Scores use the part of the sample that is complete from its
    beginning on; without such a part they are provisional.

    Example: assay status --pay "0.12 EUR per rating"
    """
    from assay.collecting.status import project_status

    project: Project | None = context.obj
    if project is None:
        raise InputError("this is not a project (a folder with assay.toml); assay new makes one")
    of = project.settings
    test_set, ratings, alone = _read(project)
    drawn = None if of.sample.file is None else project.path(of.sample.file)
    result = project_status(
        test_set, ratings,
        sample=read_drawn(drawn if drawn is not None and drawn.exists() else None, test_set),
        key=_sent(project),
        target=of.target or ("texts" if alone else None), pay=pay, level=level,
    )  # fmt: skip
    deliver(result, save, json)


def _sent(project: Project) -> pl.DataFrame | None:
    """The rows of the sheets that were sent out."""
    name = project.settings.key
    if name is None or not project.path(name).exists():
        return None
    from assay.collecting.answers import read_key  # sheets are slow to load

    return read_key(project.path(name))


def _read(project: Project) -> tuple[TestSet, Ratings | None, bool]:
    """The test set of a project, the ratings so far, and whether the ratings are the test set."""
    from assay.project.rules import better_of, range_of

    of = project.settings
    if of.judgments and not of.ratings:
        raise InputError(
            f"{project.file} names judgments; assay monitor shows which pairs they decide"
        )
    scores = [] if of.scores is None else [project.path(of.scores)]
    answers = [path for path in project.paths(of.ratings) if path.exists()]
    if not scores and not answers:
        raise InputError(f"{project.file} names no test set; `assay new . --from FILES` adds one")
    read = Reading(
        columns=_columns(of.columns, [*scores, *answers]),
        metrics=None if of.metrics is None else ",".join(of.metrics),
        lower_metrics=",".join(of.lower_metrics) or None,
        exclude=",".join(of.exclude) or None,
    )
    if not answers:
        return read_test_set(scores[0], read), None, False
    scale, better = range_of(of), better_of(of)
    limits = None if scale is None else f"{scale[0]:g},{scale[1]:g}"
    if scores:
        rated = read_rated(scores[0], answers, read, better=better or "higher", range=limits)
        return *rated, False
    from assay.cli.guessing import read_alone

    return read_alone(answers, read, better=better, range=limits)


def _columns(columns: dict[str, str], files: list[Path]) -> str | None:
    """The project's column names that occur in one of these files."""
    from assay.tables.load import column_names

    present = {name for path in files for name in column_names(path)}
    kept = [f"{name}={user}" for name, user in columns.items() if user in present]
    return ",".join(kept) or None
