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
    "pay": "Money and time",
    "stats": "Shared",
}
"""The rooms in the order of use."""
WIDEST = 96
INTRODUCTION = """# The Python library

This page is generated from the docstrings. `import assay` gives every name below; each is loaded
when it is first used. Tables are the positional arguments, options have names, and `rng` is a seed,
a numpy generator or None. Results are frozen: they repeat the settings they were made with, and
have `.to_dict()`, `.from_dict()` and a `signature` to quote beside the number; most have
`.to_frame()`, and a notebook shows them as tables and figures. Notes are sentences with a `code`.
Bad input raises `assay.errors.InputError` (or `OptionError`, for one argument), which says where,
what and what to do. The examples are run by the tests; names without `assay.` stand for those of
the library.
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
    is_class = inspect.isclass(item)
    head = _fields(item) if is_class else _signature(item, f"assay.{name}")
    lines = [f"### {name}\n", f"```py\n{head}\n```\n", _markdown(inspect.getdoc(item) or "")]
    return "\n".join([*lines, *(_members(item) if is_class else ())])


def _signature(function: object, name: str) -> str:
    """The signature as the source has it: one line, or one line for each argument."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body  # type: ignore[arg-type]
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    first = [argument for argument in given.args if argument.arg not in ("self", "cls")]
    defaults: list[ast.expr | None] = [None] * (len(first) - len(given.defaults))
    parts = [_argument(*pair) for pair in zip(first, [*defaults, *given.defaults], strict=True)]
    if given.kwonlyargs:
        parts.append("*")
        pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        parts += [_argument(*pair) for pair in pairs]
    answer = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(parts)}){answer}"
    if len(line) <= WIDEST:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){answer}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    equals = " = " if kind else "="
    return f"{argument.arg}{kind}" + (f"{equals}{ast.unparse(default)}" if default else "")


def _fields(item: type) -> str:
    """The fields of a dataclass, inherited ones first, with the types as the source has them."""
    fields: dict[str, str] = {}
    for owner in reversed(_own_classes(item)):
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(node, ast.ClassDef)
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                fields[line.target.id] = ast.unparse(line.annotation)
    lines = [f"    {name}: {kind}" for name, kind in fields.items() if not name.startswith("_")]
    return "\n".join([f"class {item.__name__}:", *lines])


def _own_classes(item: type) -> list[type]:
    return [owner for owner in item.__mro__ if owner.__module__.startswith("assay")]


def _members(item: type) -> Iterator[str]:
    """Properties and methods, the class's own first, each with the first sentence about it."""
    seen: set[str] = set()
    for owner in _own_classes(item):
        for name, member in vars(owner).items():
            function = getattr(member, "__func__", member)  # inside a classmethod
            text = inspect.getdoc(function)
            looked_up = isinstance(member, property | cached_property)
            known = looked_up or inspect.isfunction(function)
            if name.startswith("_") or name in seen or not known or not text:
                continue
            seen.add(name)
            first = _prose(" ".join(text.split("\n\n")[0].split()))
            shown = f".{name}" if looked_up else _signature(function, f".{name}")
            yield f"- `{' '.join(shown.split())}`: {first}"
    if seen:
        yield ""


def _markdown(text: str) -> str:
    """A docstring as Markdown: examples become blocks, names become code."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{textwrap.dedent(block)}\n```\n")
        else:
            parts.append(_prose(block) + "\n")
    return "\n".join(parts)


def _prose(text: str) -> str:
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`")


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
