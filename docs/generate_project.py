"""Write the keys of ``docs/project.md`` from the settings; a test keeps them up to date."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from assay.project import settings
from assay.project.reader import written
from assay.project.settings import Between, Settings, Written

TARGET = Path(__file__).with_name("project.md")
FIRST = "## Keys"
"""Where the keys begin on the page; what stands above is written by hand."""


def page() -> str:
    """The whole page, its keys made anew."""
    prose = TARGET.read_text("utf-8").partition(FIRST)[0]
    return prose + "\n".join(_tables(Settings, ""))


def _tables(kind: type, path: str) -> Iterator[str]:
    """The keys of a class as a table, then those of the tables in it."""
    hints = get_type_hints(kind, include_extras=True)
    texts = _docstrings(kind)
    title = f"`{path}`" if path else "Keys"
    about = "" if not path else f"{inspect.getdoc(kind)}\n\n".replace("``", "`")
    rows = [f"## {title}\n\n{about}| key | value | meaning |\n|---|---|---|"]
    for item in fields(kind):
        default = "" if item.default in (None, (), MISSING) or is_dataclass(item.default) else (
            f" Without it: `{written(item.default)}`."
        )  # fmt: skip
        meaning = texts[item.name].replace("``", "`").replace("|", "\\|")
        rows.append(f"| `{item.name}` | {_value(hints[item.name])} | {meaning}{default} |")
    yield "\n".join(rows) + "\n"
    for item in fields(kind):
        inner = _inner(hints[item.name])
        if inner is not None:
            yield from _tables(inner, f"{path}.{item.name}" if path else item.name)


def _plain(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        return next(one for one in get_args(hint) if one is not NoneType)
    return hint


def _inner(hint: Any) -> type | None:
    """The class of a table, or of the tables of a list."""
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        hint = _plain(get_args(hint)[0])
    return hint if is_dataclass(hint) else None  # type: ignore[return-value]


def _value(hint: Any) -> str:
    """What a key takes, in words."""
    hint = _plain(hint)
    limit = None
    if get_origin(hint) is Annotated:
        hint, limit = get_args(hint)
    if is_dataclass(hint):
        return "table"
    if get_origin(hint) is Literal:
        return ", ".join(f"`{written(one)}`" for one in get_args(hint))
    if get_origin(hint) is tuple:
        first, *others = get_args(hint)
        inner = _value(first)
        return f"list of {inner}s" if others == [Ellipsis] else f"{len(others) + 1} × {inner}"
    if get_origin(hint) is dict:
        return "table of names"
    if isinstance(limit, Between):
        what = "whole number" if hint is int else "number"
        return f"{what}, {limit.low:,.10g} to {limit.high:,.10g}" if limit.high < 1e6 else what
    if isinstance(limit, Written):
        if hint_of(settings.FileName) == limit:
            return "file"
        return "text" if hint_of(settings.Word) == limit else f"text such as `{limit.example}`"
    return {bool: "`true`, `false`", float: "number", int: "whole number"}.get(hint, "text")


def hint_of(hint: Any) -> object:
    """What an annotated type says beside its type."""
    return get_args(hint)[1]


def _docstrings(kind: type) -> dict[str, str]:
    """The sentence below every field."""
    tree = ast.parse(inspect.getsource(settings))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    found = {}
    for field, text in pairwise(classes[kind.__name__]):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            value = ast.literal_eval(text.value)
            found[ast.unparse(field.target)] = re.sub(r"\s+", " ", value)
    return found


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
