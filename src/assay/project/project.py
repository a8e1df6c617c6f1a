"""A folder with ``assay.toml``: its files, and its results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.project.settings import Settings

FILE = "assay.toml"
RESULTS = "results"


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its folder, and what its ``assay.toml`` says."""

    folder: Path
    settings: Settings

    @property
    def file(self) -> Path:
        """The file with the settings."""
        return self.folder / FILE

    def path(self, name: str) -> Path:
        """A file that the settings name; names are relative to the folder."""
        return self.folder / name

    def paths(self, names: tuple[str, ...]) -> list[Path]:
        """The files of a list, such as ``ratings``, with patterns replaced by what they match."""
        from glob import glob, has_magic

        found: list[Path] = []
        for name in names:
            path = self.path(name)
            if path.exists() or not has_magic(name):
                found.append(path)
            else:
                found += sorted(Path(one) for one in glob(str(path)))  # noqa: PTH207
        return list(dict.fromkeys(found))

    def result(self, name: str) -> Path:
        """Where a result is saved, such as ``estimates``."""
        return self.folder / RESULTS / f"{name}.json"

    def results(self) -> list[Path]:
        """The results saved so far, the oldest first."""
        found = (self.folder / RESULTS).glob("*.json")
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def relative(self, path: str | Path) -> str:
        """A path as the settings name it: relative where it lies in the folder."""
        whole, folder = Path(path).resolve(), self.folder.resolve()
        inside = whole.is_relative_to(folder)
        return (whole.relative_to(folder) if inside else whole).as_posix()

    def record(self, changes: Mapping[str, object]) -> Project:
        """The project with settings changed, by their paths (``sample.file``), in its file too.

        Raises:
            TableError: What the file would say is not valid; nothing is written.
        """
        from assay.project.reader import parse_settings, with_key
        from assay.tables.load import decode_utf8, read_bytes, write_bytes

        text = before = decode_utf8(read_bytes(self.file), str(self.file))
        for path, value in changes.items():
            text = with_key(text, path, value)
        settings = parse_settings(text, str(self.file))
        if text != before:
            write_bytes(self.file, text.encode())
        return Project(self.folder, settings)


def project_folder(start: str | Path = ".") -> Path | None:
    """The nearest folder with ``assay.toml``, from here upwards."""
    here = Path(start).absolute()
    folders = (here, *here.parents)
    return next((one for one in folders if os.path.isfile(one / FILE)), None)  # noqa: PTH113


def find_project(start: str | Path = ".") -> Project | None:
    """The project that a folder belongs to, if any."""
    folder = project_folder(start)
    return None if folder is None else open_project(folder)


def open_project(folder: str | Path) -> Project:
    """The project in a folder.

    Raises:
        TableError: Its settings are wrong.
    """
    from assay.project.reader import read_settings

    return Project(Path(folder), read_settings(Path(folder) / FILE))
