"""A folder of text files, a segment per line: source, references and one file per system.

The names say what a file is: ``source.txt``, ``src.en``, ``newstest2020-ende-src.en.txt``;
``reference.txt``, ``refA.de``; ``docs.txt`` (document per line, or domain and document) and
``domains.txt``. All others are outputs, named for their systems: what all their names have in
common at the beginning or the end is left out. Files may stand one folder deeper
(``sources/``, ``references/``, ``system-outputs/``), whose name then counts too. Line ``n`` of
every file is about the same segment, and ``n`` is our ``seg``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import text_lines
from assay.formats.mt_metrics_eval import (
    documents_of,
    line_numbers,
    outputs_of,
    same_length,
    text_columns,
)
from assay.tables.load import FILE_TYPES, Raw, lines_at, refuse

ROLES = {
    "source": frozenset(["source", "sources", "src", "orig", "original"]),
    "reference": frozenset(["reference", "references", "ref", "refs", "refa", "refb", "gold"]),
    "doc": frozenset(["doc", "docs", "document", "documents", "docid", "docids"]),
    "domain": frozenset(["domain", "domains", "genre", "genres"]),
}
"""What a word in the name of a file says that it has; others are outputs."""
OUTPUTS = frozenset(["hyp", "hyps", "system", "systems", "outputs", "output", "mt", "submissions"])
ENDINGS = ("", ".txt", ".src", ".ref", ".hyp", ".docs", ".out", ".mt")
NO_TEXT = re.compile(r"(readme|license|licence|changelog|copying|makefile)(\..*)?", re.IGNORECASE)
LANGUAGE = re.compile(r"\.[a-z]{2,3}([_-][A-Za-z]{2,4})?")
_SEPARATOR = re.compile(r"[.\s]+")
_PREFIX = re.compile(r"(hyps?|outputs?|systems?|mt)[_-]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextFiles:
    """The files of a folder by what they hold; ``outputs`` by the names of the systems."""

    outputs: dict[str, Path]
    source: Path | None = None
    references: tuple[Path, ...] = ()
    doc: Path | None = None
    domain: Path | None = None

    @property
    def files(self) -> list[Path]:
        """All files."""
        about = [self.source, *self.references, self.doc, self.domain]
        return [*(file for file in about if file is not None), *self.outputs.values()]


def find_texts(folder: Path) -> TextFiles:
    """Tell by their names what the files of a folder hold."""
    found: dict[str, list[Path]] = {role: [] for role in (*ROLES, "output")}
    for file in _text_files(folder):
        found[_role(file.relative_to(folder))].append(file)
    for role in ("source", "doc", "domain"):
        if len(found[role]) > 1:
            names = ", ".join(file.name for file in found[role])
            raise refuse(folder, f"{names}: which has the {role}? leave one in the folder")
    if not found["output"]:
        raise refuse(
            folder,
            "has no outputs; expected text files, a segment per line: source.txt, reference.txt"
            " and one for every system",
        )
    one = {role: next(iter(files), None) for role, files in found.items()}
    return TextFiles(
        dict(zip(_systems(found["output"]), found["output"], strict=True)), one["source"],
        tuple(found["reference"]), one["doc"], one["domain"],
    )  # fmt: skip


def is_text_folder(folder: Path) -> bool:
    """Whether a folder has at least two text files."""
    return folder.is_dir() and len(_text_files(folder)) > 1


def _text_files(folder: Path) -> list[Path]:
    found = []
    for pattern in ("*", "*/*"):
        for file in sorted(folder.glob(pattern)):
            hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
            if is_text_name(file) and not hidden and file.is_file():
                found.append(file)
    return found


def is_text_name(file: Path) -> bool:
    """Whether a file is named like a text, such as ``source.txt`` or ``newstest.de``."""
    ending = file.suffix.lower()
    text = ending in ENDINGS or LANGUAGE.fullmatch(file.suffix) or ending[1:].isdigit()
    table = ending in FILE_TYPES  # of metrics, perhaps
    return bool(text) and not table and not NO_TEXT.fullmatch(file.name)


def _role(name: Path) -> str:
    """What a file has: by the words of its name, or of the folder that it is in."""
    for part in reversed(name.parts):
        words = re.findall(r"[a-z]+", part.lower())
        for role, known in ROLES.items():
            if known & {*words}:
                return role
        if OUTPUTS & {*words}:
            return "output"
    return "output"


def _systems(files: Sequence[Path]) -> list[str]:
    """The names of the systems: the names of their files without what these share.

    >>> _systems([Path("nt20.en-de.A.1590.txt"), Path("nt20.en-de.B.1533.txt")])
    ['A', 'B']
    >>> _systems([Path("DeepL.txt"), Path("GPT-4.txt")])
    ['DeepL', 'GPT-4']
    """
    stems = [_stem(file) for file in files]
    if all(_PREFIX.match(stem) for stem in stems):
        stems = [_PREFIX.sub("", stem, count=1) for stem in stems]
    if len(files) == 1:
        return stems
    parts = [_SEPARATOR.split(stem) for stem in stems]
    whole = min(map(len, parts))
    first = 0
    while first < whole - 1 and len({part[first] for part in parts}) == 1:
        first += 1
    last = 0
    while first + last < whole - 1 and len({part[-1 - last] for part in parts}) == 1:
        last += 1
    while first + last < whole - 1 and all(part[-1 - last].isdigit() for part in parts):
        last += 1  # the number of the submission
    short = [_cut(stem, first, last) for stem in stems]
    return short if len({*short}) == len(short) and all(short) else stems


def _stem(file: Path) -> str:
    name = file.name
    while (ending := Path(name).suffix) and (ending in ENDINGS or LANGUAGE.fullmatch(ending)):
        name = name.removesuffix(ending)
    return name


def _cut(stem: str, first: int, last: int) -> str:
    """A name without its first and last parts."""
    gaps = [match.span() for match in _SEPARATOR.finditer(stem)]
    begin = gaps[first - 1][1] if first else 0
    end = gaps[len(gaps) - last][0] if last else len(stem)
    return stem[begin:end]


def languages_of(found: TextFiles) -> tuple[str, str] | None:
    """Source and target language, if the names of the files tell."""
    if found.source is None or not found.references:
        return None
    codes = []
    for file in (found.source, found.references[0]):
        endings = [s[1:] for s in file.suffixes if LANGUAGE.fullmatch(s) and s not in ENDINGS]
        codes += endings[-1:]
    return (codes[0], codes[1]) if len(codes) == 2 and codes[0] != codes[1] else None


def read(path: Path, kind: str, options: Options) -> Raw:
    """One row per system and line, with the source, the first reference and the document."""
    if not path.is_dir():
        raise refuse(path, "is not a folder; name the one with the texts")
    found = find_texts(path)
    lines = {file: text_lines(file) for file in found.files}
    size = same_length(path, lines) or 0
    columns: dict[str, list[str | None]] = {}
    if found.doc is not None:
        columns |= _documents(lines[found.doc], found.doc)
    if found.domain is not None:
        columns["domain"] = [line.strip() or None for line in lines[found.domain]]
    named = {file.name: lines[file] for file in found.references}
    texts, notes = text_columns(None if found.source is None else lines[found.source], named)
    columns |= texts
    known = [pl.Series(name, values, dtype=pl.String) for name, values in columns.items()]
    frame = outputs_of([*found.outputs], pl.DataFrame([line_numbers(size), *known]))
    targets = [line or None for file in found.outputs.values() for line in lines[file]]
    frame = frame.with_columns(pl.Series("target", targets, dtype=pl.String))
    return Raw(frame, str(path), lines_at(frame["seg"].cast(pl.Int64)), notes)


def _documents(lines: list[str], path: Path) -> dict[str, list[str | None]]:
    """The document of every line; domain and document where there are two words, as WMT has it."""
    pairs = [line.split() for line in lines]
    coarse = len({pair[0] for pair in pairs if pair})
    if all(len(pair) == 2 for pair in pairs) and coarse < len({pair[1] for pair in pairs}):
        return documents_of(lines, path)
    return {"doc": [line.strip() or None for line in lines]}


PROVIDES = (
    Format("text-folder", "folder of text files: source, references, one per system",
           read, {"scores": ()}),
)  # fmt: skip
