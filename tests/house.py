"""What the tests of the house need: the source as trees, and which files a command runs."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "assay"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources() -> dict[str, ast.Module]:
    """Every module below ``src/assay`` by its path there."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def _all_nodes() -> list[tuple[str, ast.AST]]:
    return [(path, node) for path, tree in sources().items() for node in ast.walk(tree)]


def nodes(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[str, Any]]:
    """Every node of a kind, with the path of its module."""
    return ((path, node) for path, node in _all_nodes() if isinstance(node, kind))


def in_room(path: str, *rooms: str) -> bool:
    """Whether a module stands in one of these packages."""
    return path.split("/")[0] in rooms


def body_lines(function: Function) -> int:
    """The lines of a function below its signature and docstring."""
    statements = list(function.body)
    if ast.get_docstring(function) is not None:
        statements = statements[1:]
    if not statements:
        return 0
    return (function.end_lineno or 0) - statements[0].lineno + 1


def texts_compared(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts that a value is compared with, by ``==``, ``in`` or ``match``, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from texts_in(side)
        elif isinstance(node, ast.MatchValue):
            yield from texts_in(node.value)


def text_keys(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts that are keys of a dict, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (text for key in node.keys if key is not None for text in texts_in(key))


def texts_in(node: ast.expr) -> Iterator[tuple[int, str]]:
    """The texts that an expression holds literally, with their lines."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.lineno, part.value


def is_text_of(node: ast.AST) -> bool:
    """Whether an expression is the text of something, as ``note.text`` is."""
    return isinstance(node, ast.Attribute) and node.attr == "text"


def constants() -> Iterator[tuple[str, str, object]]:
    """Numbers and texts with a name in capitals at the top of a module, with its path."""
    for path, tree in sources().items():
        for node in tree.body:
            if isinstance(node, ast.Assign):
                for name, value in _assigned(node.targets[0], node.value):
                    if isinstance(value, ast.Constant) and name.strip("_").isupper():
                        yield path, name.strip("_"), value.value


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its in zip(target.elts, value.elts, strict=True):
            yield from _assigned(one, its)


@cache
def importers() -> dict[str, set[str]]:
    """Which modules import each module, by their paths."""
    paths = {path.removesuffix(".py").removesuffix("/__init__"): path for path in sources()}
    users: dict[str, set[str]] = {path: set() for path in sources()}
    for path, node in nodes(ast.ImportFrom):
        module = str(node.module or "").removeprefix("assay.").replace(".", "/")
        for name in (module, *(f"{module}/{item.name}" for item in node.names)):
            if name in paths:
                users[paths[name]].add(path)
    return users


def maps_of_tree() -> tuple[list[str], dict[str, set[str]]]:
    """The rooms in the tree that CONTRIBUTING.md draws, and the public names of each room."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, tree, _, public = page[page.index("```text\nsrc/assay/\n") :].split("```")[:4]
    names: dict[str, set[str]] = {}
    room = ""
    for line in public.splitlines()[1:]:
        words = line.split()
        if not line.startswith(" "):
            room = words.pop(0)
        names.setdefault(room, set()).update(words)
    rooms = [line.split()[0] for line in tree.splitlines() if re.match(r"  \w", line)]
    return rooms, names


def options(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """Command, option name and help text, for a command of the command line and all below it."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*words, name))
    for parameter in command.params:
        if parameter.param_type_name == "option" and words:
            for name in parameter.opts:
                yield " ".join(words), name, parameter.help or ""


class Executed:
    """Which files below ``src/assay`` have a function that runs, for ``sys.setprofile``.

    What runs while a module is imported does not count: neither modules and class bodies nor the
    functions that these call.
    """

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or path in self.files or not path.startswith(f"{SOURCE}/"):
            return
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and not _importing(frame):
            self.files.add(path)

    @property
    def names(self) -> list[str]:
        """The files, by their path below ``src/assay``."""
        return sorted(Path(path).relative_to(SOURCE).as_posix() for path in self.files)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(f"{SOURCE}/"):
            return True
        frame = frame.f_back
    return False


def files_run(action: Callable[[], object]) -> list[str]:
    """The files of Assay that an action runs."""
    executed = Executed()
    sys.setprofile(executed)
    try:
        action()
    finally:
        sys.setprofile(None)
    return executed.names
