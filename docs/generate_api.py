"""Write ``docs/api.md`` from the public names themselves; a test keeps it up to date."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path

import assay
from assay.results import Result

TARGET = Path(__file__).with_name("api.md")
STAGES = {
    "tables": "Load: tables",
    "formats": "Load: other tools' files",
    "worlds": "Simulate: worlds with known truth",
    "planning": "Plan",
    "sampling": "Sample",
    "collecting": "Collect",
    "estimation": "Estimate",
    "ranking": "Rank",
    "kits": "Kits",
    "effort": "Effort",
    "audit": "Audit",
    "views": "Report",
    "papers": "Reproduce",
    "engine": "Large work",
    "results": "Money and time",
    "stats": "Shared",
}
"""The rooms in the order of use."""
OF_RESULTS = ("kind", "since", "renamed", "version", "signature", "to_frame", "plot")
"""What all results have and the introduction tells of."""
INTRODUCTION = """# The Python library

Made from the docstrings: the call of every function, what it does, and an example that the tests
run. `help(assay.NAME)` says what each argument means. In examples `assay.` may be left out.

Tables come first and by position, options by name; `rng` is a seed, a numpy generator or None.
Bad input raises `assay.errors.InputError` (or `OptionError`, for one argument), with the place, the
fault and the remedy.

Results are frozen and repeat their settings. Every one has `.signature` to quote beside the number,
`.to_dict()` and `.from_dict()`, `.plot()` where there is something to draw, and shows itself in a
notebook; most have `.to_frame()`. Its `notes` are sentences, each with a `.code`.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    named = [name for name in assay.__all__ if not name.startswith("_")]
    for package, title in STAGES.items():
        here = [name for name in named if assay._homes()[name].split(".")[1] == package]
        if here:
            parts.append(f"## {title}\n")
            # What one calls comes first, what one gets from it after.
            parts += [_entry(name) for name in sorted(here, key=lambda name: name[0].isupper())]
        named = [name for name in named if name not in here]
    assert not named, f"give these a stage: {named}"
    return "\n".join(parts)


def _entry(name: str) -> str:
    item = getattr(import_module(assay._homes()[name]), name)  # effort is a room as well
    said, example = _said(item)
    if inspect.isclass(item):
        return "\n".join([f"### {name}\n", said, "", *_fields(item), *_members(item), ""])
    return "\n".join([f"### {name}\n", f"`{_call(item, f'assay.{name}')}`\n", said, "", example])


def _call(function: object, name: str) -> str:
    """How it is called: the arguments with their defaults, without types."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body  # type: ignore[arg-type]
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    first = [argument.arg for argument in given.args if argument.arg not in ("self", "cls")]
    defaults: list[ast.expr | None] = [None] * (len(first) - len(given.defaults))
    pairs = [*zip(first, [*defaults, *given.defaults], strict=True)]
    names = [argument.arg for argument in given.kwonlyargs]
    pairs += [("*", None)] if names else []
    pairs += zip(names, given.kw_defaults, strict=True)
    parts = [word + ("" if value is None else f"={ast.unparse(value)}") for word, value in pairs]
    return f"{name}({', '.join(parts)})"


def _said(item: object) -> tuple[str, str]:
    """The first sentence about it, and its example."""
    first, *others = re.split(r"\n\s*\n", inspect.getdoc(item) or "")
    blocks = [block for block in others if block.lstrip().startswith(">>>")]
    code = "\n\n".join(map(textwrap.dedent, blocks))
    return _prose(" ".join(first.split())), f"```pycon\n{code}\n```\n" if blocks else ""


def _fields(item: type) -> Iterator[str]:
    """The names of the fields of a dataclass, inherited ones first."""
    names: dict[str, None] = {}
    for owner in reversed(_own_classes(item)):
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(node, ast.ClassDef)
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                names |= {line.target.id: None}
    shown = [name for name in names if not name.startswith("_") and name not in OF_RESULTS]
    if shown:
        yield f"Fields: {', '.join(f'`{name}`' for name in shown)}.\n"


def _own_classes(item: type) -> list[type]:
    """The class and what it is made of, but not what all results have."""
    own = [owner for owner in item.__mro__ if owner.__module__.startswith("assay")]
    return [owner for owner in own if owner is not Result]


def _members(item: type) -> Iterator[str]:
    """Properties and methods, the class's own first, each with the first sentence about it."""
    seen: set[str] = set()
    for owner in _own_classes(item):
        for name, member in vars(owner).items():
            function = getattr(member, "__func__", member)  # inside a classmethod
            looked_up = isinstance(member, property | cached_property)
            known = looked_up or inspect.isfunction(function)
            told = {*seen, *OF_RESULTS} if issubclass(item, Result) else seen
            if name.startswith("_") or name in told or not known or not inspect.getdoc(function):
                continue
            seen.add(name)
            shown = f".{name}" if looked_up else _call(function, f".{name}")
            yield f"- `{shown}`: {_said(function)[0]}"


def _prose(text: str) -> str:
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
