"""Find versions, systems and editors from the names of folders and files.

Files are compared by the folders below the one given. A folder level that the files before editing
have too can name the system; one that only edited files have names the editor, since a machine
translates once what several people edit. If that is not enough, the contents of the files or the
names of known machines decide; otherwise the user is asked.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.errors import InputError, OptionError
from assay.formats.bilingual import ending_of
from assay.tables.names import MACHINES

ROLES = ("system", "editor")
PARTS = ("system", "editor", "doc", "any")
"""The names that a pattern may contain."""


class BilingualFile(NamedTuple):
    """A file, the folders between it and the one given, and its name."""

    path: Path
    folders: tuple[str, ...]
    name: str

    @property
    def shown(self) -> str:
        """The path below the folder given."""
        return "/".join((*self.folders, self.path.name))


def files_in(where: Sequence[Path], argument: str) -> tuple[list[BilingualFile], list[Path]]:
    """Find the bilingual files below folders, and the other files, which are ignored."""
    found, other = [], []
    roots: list[Path] = []
    for path in where:  # patterns are replaced by what they match
        pattern = not path.exists() and glob.has_magic(str(path))
        roots += (sorted(map(Path, glob.glob(str(path)))) if pattern else []) or [path]  # noqa: PTH207
    for root in roots:
        if not root.exists():
            raise OptionError(argument, root, "does not exist", "give the folder of the files")
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if not path.is_file() or path.name.startswith((".", "~$")):
                continue
            ending = ending_of(path)
            if ending is None:
                other.append(path)
                continue
            folders = () if root.is_file() else path.relative_to(root).parts[:-1]
            name = path.name.lower().rpartition(ending)[0]
            found.append(BilingualFile(path, folders, path.name[: len(name)]))
    if not found:
        kinds = ", ".join(sorted({path.suffix or path.name for path in other})) or "nothing"
        shown = ", ".join(map(str, where))
        raise OptionError(
            argument, shown, f"has no file of a translation tool (found: {kinds})",
            "give the folder with the SDLXLIFF, MXLIFF, XLIFF, Excel, CSV or text files",
        )  # fmt: skip
    return found, other


class Pair(NamedTuple):
    """A file before and after editing."""

    before: BilingualFile
    after: BilingualFile

    @property
    def ending(self) -> str:
        """The end of the edited file's name that the other lacks, as in ``manual_anna``."""
        return self.after.name[len(self.before.name) :].strip("_-. ()")


def pair_files(
    before: Sequence[BilingualFile], after: Sequence[BilingualFile]
) -> tuple[list[Pair], list[str], list[BilingualFile]]:
    """Pair every edited file with its version before editing; also faults and unused files."""
    pairs: list[Pair] = []
    faults: list[str] = []
    known = {folder.casefold() for place in before for folder in place.folders}
    for place in after:
        able = _versions_of(place, before, known)
        if len(able) == 1:
            pairs.append(Pair(able[0], place))
        elif able:
            these = " or ".join(other.shown for other in able[:3])
            faults.append(
                f"{place.shown}: may come from {these}; put it in a folder with the same name as"
                " before editing"
            )
        else:
            faults.append(f"{place.shown}: no such file before editing")
    used = {pair.before.path for pair in pairs}
    return pairs, faults, [place for place in before if place.path not in used]


def _versions_of(
    place: BilingualFile, before: Sequence[BilingualFile], known: set[str]
) -> list[BilingualFile]:
    """The files before editing that an edited one may come from, by name and folders.

    A file in one of the ``known`` folders before editing comes from that folder.
    """
    name = place.name.casefold()
    able = [other for other in before if other.name.casefold() == name]
    if not able:
        starts = [(other, other.name.casefold()) for other in before]
        begun = [
            other for other, start in starts
            if name.startswith(start) and not name[len(start)].isalnum()
        ]  # fmt: skip
        most = max((len(other.name) for other in begun), default=0)
        able = [other for other in begun if len(other.name) == most]
    here = {folder.casefold() for folder in place.folders}
    able = [other for other in able if (here & known) <= {f.casefold() for f in other.folders}]
    inside = [other for other in able if {f.casefold() for f in other.folders} <= here]
    most = max((len(other.folders) for other in inside), default=0)
    return [other for other in inside if len(other.folders) == most] or able


class Roles(NamedTuple):
    """The system, editor and document of every pair, None if segments must name them."""

    system: list[str | None]
    editor: list[str | None]
    doc: list[str]
    said: Mapping[str, str]
    """Where the names of systems and editors come from."""


def name_roles(
    pairs: Sequence[Pair], written: Mapping[str, Sequence[str | None]], given: Mapping[str, str],
    matched: Mapping[str, Sequence[str]],
) -> Roles:  # fmt: skip
    """Find systems and editors: as ``given`` or ``matched``, by folders, else as ``written``.

    ``written`` has what most segments of each pair's files say.
    """
    levels = _levels(pairs)
    found: dict[str, list[str | None]] = {}
    said: dict[str, str] = {}
    for role in ROLES:
        if role in given:
            found[role], said[role] = [given[role]] * len(pairs), "as given"
        elif role in matched:
            found[role], said[role] = list(matched[role]), "by the pattern"
    taken = [list(values) for values in matched.values()]
    levels = {name: values for name, values in levels.items() if values not in taken}
    chosen = _choose(pairs, levels, written, [role for role in ROLES if role not in found])
    for role, level in chosen.items():
        found[role], said[role] = list(levels[level]), "by the names of folders and files"
    for role in ROLES:
        if role not in found:
            if any(value is None for value in written[role]):
                raise _unknown(role, pairs, levels, chosen)
            found[role], said[role] = [None] * len(pairs), "as the files say"
    docs = list(matched.get("doc", [pair.before.name for pair in pairs]))
    return Roles(found["system"], found["editor"], docs, said)


def _levels(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """The levels that distinguish pairs: folders of the edited files, and ends of names."""
    depths = {len(pair.after.folders) for pair in pairs}
    levels = {}
    if len(depths) == 1:
        for k in range(depths.pop()):
            levels[f"folder {k + 1}"] = [pair.after.folders[k] for pair in pairs]
    levels["name"] = [pair.ending for pair in pairs]
    # Folders that only the files before editing are in, such as those of the systems.
    if len({len(pair.before.folders) for pair in pairs}) == 1:
        for k in range(len(pairs[0].before.folders)):
            values = [pair.before.folders[k] for pair in pairs]
            if values not in levels.values():
                levels[f"folder {k + 1} before"] = values
    return {name: values for name, values in levels.items() if len({*values}) > 1 and all(values)}


def _choose(
    pairs: Sequence[Pair], levels: Mapping[str, Sequence[str]],
    written: Mapping[str, Sequence[str | None]], open_: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """The level that names each open role, if it can be determined."""
    folders = [{folder.casefold() for folder in pair.before.folders} for pair in pairs]
    # Levels whose names are not those of folders that the files before editing lie in too.
    alone = [
        name for name, values in levels.items()
        if any(v.casefold() not in own for v, own in zip(values, folders, strict=True))
    ]  # fmt: skip
    able = {
        "system": [n for n, v in levels.items() if n not in alone and _are_machines(v)]
        or [n for n, v in levels.items() if n not in alone and _agree(v, written["system"])],
        "editor": [n for n, v in levels.items() if _agree(v, written["editor"])] or alone,
    }
    chosen = {role: names[0] for role, names in able.items() if role in open_ and len(names) == 1}
    rest = [name for name in levels if name not in chosen.values()]
    for role, other in (ROLES, ROLES[::-1]):
        if role in open_ and role not in chosen and len(rest) == 1:
            known = other in chosen or other not in open_ or _vary(written[other])
            if known and (role == "editor" or rest[0] not in alone):
                chosen[role] = rest[0]
    return chosen


def _are_machines(values: Sequence[str]) -> bool:
    names = {*values}
    return 2 * sum(bool(MACHINES.fullmatch(name.replace("_", " "))) for name in names) > len(names)


def _vary(written: Sequence[str | None]) -> bool:
    return all(written) and len({*written}) > 1


def _agree(values: Sequence[str], written: Sequence[str | None]) -> bool:
    """Whether the files name different people or systems exactly where the level differs."""
    if not _vary(written):
        return False
    both = {*zip(values, written, strict=True)}
    return len(both) == len({*values}) == len({*written})


def _unknown(
    role: str, pairs: Sequence[Pair], levels: Mapping[str, Sequence[str]], chosen: Mapping[str, str]
) -> InputError:
    """The error that asks who made which file."""
    free = [levels[name] for name in levels if name not in chosen.values()]
    shown = "; ".join(", ".join(dict.fromkeys(values)) for values in free[:3])
    seen = f"; candidates: {shown}" if free else ""
    return InputError(
        f"{pairs[0].after.path}: neither the files nor their folders say for sure which {role}"
        f" each is from{seen}. Describe the path of an edited file with `pattern`, such as"
        f" {{system}}/{{editor}}/{{doc}}, or name the one {role} of all with `{role}`"
    )


def by_pattern(pairs: Sequence[Pair], pattern: str) -> dict[str, list[str]]:
    """Extract the parts named by a pattern from the path of every edited file.

    >>> place = BilingualFile(Path("x/DeepL/manual_anna.xlf"), ("DeepL",), "manual_anna")
    >>> by_pattern([Pair(place, place)], "{system}/{doc}_{editor}")
    {'system': ['DeepL'], 'doc': ['manual'], 'editor': ['anna']}
    """
    named = re.findall(r"\{(\w*)\}", pattern)
    if (
        not named
        or any(name not in PARTS for name in named)
        or len({*named} - {"any"}) < len([name for name in named if name != "any"])
    ):
        raise OptionError(
            "pattern", pattern, "is not a pattern",
            "write a path such as {system}/{editor}/{doc}, each name once; {any} is anything",
        )  # fmt: skip
    pieces = re.split(r"\{(\w+)\}", pattern)
    text = "".join(
        re.escape(piece) if k % 2 == 0 else "[^/]+" if piece == "any" else f"(?P<{piece}>[^/]+)"
        for k, piece in enumerate(pieces)
    )
    found: dict[str, list[str]] = {name: [] for name in named if name != "any"}
    for pair in pairs:
        path = "/".join((*pair.after.folders, pair.after.name))
        match = re.fullmatch(text, path)
        if match is None:
            raise OptionError(
                "pattern", pattern, f"does not fit the edited file {path}",
                "write its folders and name with {system}, {editor} and {doc} in their places",
            )  # fmt: skip
        for name, values in found.items():
            values.append(match[name])
    return found
