"""A project made from files: their tables with Assay's names, and ``assay.toml``."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_frame
from pathlib import Path

import polars as pl

from assay.errors import InputError
from assay.project.project import FILE, Project, open_project
from assay.project.reader import parse_settings
from assay.project.sources import Part
from assay.project.text import with_key
from assay.tables.load import write_bytes
from assay.tables.tables import Ratings, TestSet

HEADER = "# The settings of this project. Every command in this folder reads them.\n"


def settings_of(parts: Sequence[Part], folder: Path) -> dict[str, object]:
    """The settings that follow from the tables of a project."""
    said: dict[str, object] = {}
    for part in parts:
        name = file_of(part, folder)
        said[part.kind] = name if part.kind == "scores" else [name]
        if isinstance(part.table, TestSet):
            said["metrics"] = list(part.table.metrics)
            if part.table.lower_metrics:
                said["lower_metrics"] = sorted(part.table.lower_metrics)
        if part.languages is not None:
            said["screen"] = {"languages": list(part.languages)}
    return said


def file_of(part: Part, folder: Path) -> str:
    """The file name of a table in the project: its own, if it lies there and has Assay's names."""
    path = Path(os.path.realpath(part.files[0]))
    inside = path.is_relative_to(os.path.realpath(folder))
    if part.as_it_is and inside:
        return path.relative_to(os.path.realpath(folder)).as_posix()
    return f"{part.kind}.tsv"


def create_project(
    folder: Path, parts: Sequence[Part], said: Mapping[str, object], *, replace: bool = False
) -> Project:
    """Write the tables and the settings of a new project; all of it or nothing.

    A project that is there gets the tables that it lacks.

    Raises:
        InputError: It has such a table already, or a file would be written over, and ``replace``
            was not given.
    """
    folder = Path(os.path.normpath(folder.absolute()))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the project")
    if (folder / FILE).exists() and not replace:
        return _add(open_project(folder), parts, said)
    text = HEADER
    for key, value in said.items():
        text = with_key(text, key, value)
    parse_settings(text, str(folder / FILE))
    tables = {name: part for part in parts if (name := file_of(part, folder)) == f"{part.kind}.tsv"}
    tables = {n: part for n, part in tables.items() if not _is_source(folder / n, part)}
    for name in (FILE, *tables):
        if (folder / name).exists() and not replace:
            raise InputError(f"{folder / name} already exists; give `replace` to overwrite it")
    made = not folder.exists()
    place = folder.parent / f".{folder.name[:100]}.{secrets.token_hex(4)}.part"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir()
    except OSError as error:
        raise InputError(f"{folder}: no folder can be made there ({error.strerror})") from None
    try:
        for name, part in tables.items():
            _write(part, place / name)
        write_bytes(place / FILE, text.encode())
        if made:
            place.replace(folder)
        else:
            for name in (*tables, FILE):
                (place / name).replace(folder / name)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return open_project(folder)


def _add(project: Project, parts: Sequence[Part], said: Mapping[str, object]) -> Project:
    """Add tables that the project lacks; settings that were not given stay as they are."""
    for part in parts:
        path = project.path(file_of(part, project.folder))
        if getattr(project.settings, part.kind):
            raise InputError(
                f"{project.file} has {part.kind} already; give `replace` to start over, or write"
                f" {path.name} into it by hand"
            )
        if path.exists() and not _is_source(path, part):
            raise InputError(f"{path} is there; give `replace` to write over it")
    for part in parts:
        path = project.path(file_of(part, project.folder))
        if not path.exists():
            _write(part, path)
    return project.record({key: value for key, value in said.items() if key != "name"})


def _is_source(path: Path, part: Part) -> bool:
    return part.as_it_is and os.path.realpath(path) == os.path.realpath(part.files[0])


def _write(part: Part, path: Path) -> None:
    table = part.whole or part.table
    if isinstance(table, Ratings) and table.repeats.height:  # behind the answers that count
        frame = pl.concat([table.frame, table.repeats], how="diagonal_relaxed")
        table = replace_frame(table, frame=frame)
    table.write(path)
