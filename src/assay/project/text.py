"""``assay.toml`` as text: the line of each key, and changes that keep all comments."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from assay.errors import InputError

_BARE = r"[A-Za-z0-9_-]+"
_PART = rf"(?:{_BARE}|\"[^\"\n]*\"|'[^'\n]*')"
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_KEY = re.compile(rf"[ \t]*({_NAME})[ \t]*=[ \t]*")
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_NAME})[ \t]*\]\]?[ \t]*(?:#.*)?(?:\n|$)")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key with its value (from ``start`` to ``end``), or the header of a table (no value)."""

    path: tuple[str, ...]
    line: int
    start: int
    end: int
    after: int
    """Where the next line begins."""
    header: str = ""


def _entries(text: str) -> Iterator[_Entry]:
    """The keys and headers of a text that is TOML, in their order."""
    above: tuple[str, ...] = ()
    place = 0
    while place < len(text):
        line = text.count("\n", 0, place) + 1
        if header := _HEADER.match(text, place):
            above = _parts(header[2])
            yield _Entry(above, line, place, place, header.end(), header[1])
            place = header.end()
        elif key := _KEY.match(text, place):
            end, after = _value_end(text, key.end())
            yield _Entry((*above, *_parts(key[1])), line, key.end(), end, after)
            place = after
        else:
            place = _line_end(text, place)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, name))


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


def _value_end(text: str, start: int) -> tuple[int, int]:
    """Where a value ends, without the comment after it, and where the next line begins."""
    after = start
    while after < len(text):
        after = _line_end(text, after)
        value = _parsed(text[start:after])
        if value is not None:
            break
    last = text.rfind("\n", start, max(start, after - 1)) + 1
    cuts = [m.start() for m in re.finditer("#", text[start:after])]
    for cut in cuts:
        if start + cut >= last and _parsed(text[start : start + cut]) is not None:
            after_value = start + cut
            break
    else:
        after_value = after
    return start + len(text[start:after_value].rstrip()), after


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(f"x = {text}")
    except tomllib.TOMLDecodeError:
        return None


def lines_of_keys(text: str) -> dict[str, int]:
    r"""The line of each key and table, by its path.

    >>> lines_of_keys("name = 'a'\n[raters]\nnumber = 2\n")
    {'name': 1, 'raters': 2, 'raters.number': 3}
    """
    found: dict[str, int] = {}
    for entry in _entries(text):
        found.setdefault(".".join(entry.path), entry.line)
    return found


def written(value: object) -> str:
    """A value written as TOML.

    >>> written({"design": "rounds", "looks": (1, 2.5), "on": True})
    '{ design = "rounds", looks = [1, 2.5], on = true }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(one) for one in value)}]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_quoted(name)} = {written(one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"{type(value).__name__} cannot be written as TOML")


def _quoted(name: str) -> str:
    return name if re.fullmatch(_BARE, name) else written(name)


def with_key(text: str, path: str, value: object) -> str:
    r"""The text with one key changed or added; everything else, comments too, stays as it is.

    >>> print(with_key("name = 'a'  # mine\n", "name", "b"), end="")
    name = "b"  # mine
    >>> print(with_key("sample = { seed = 1 }\n", "sample.file", "s.tsv"), end="")
    sample = { seed = 1, file = "s.tsv" }
    """
    keys = tuple(path.split("."))
    said = tomllib.loads(text)
    wanted = _changed(said, keys, value)
    new = _replaced(text, said, keys, value)
    try:
        same = tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise InputError(f"{path} is written in a way that cannot be changed here; edit it by hand")
    return new


def _changed(said: Mapping[str, Any], keys: tuple[str, ...], value: object) -> dict[str, Any]:
    """What the file says after the change."""
    first, *rest = keys
    if not rest:
        return {**said, first: tomllib.loads(f"x = {written(value)}")["x"]}
    inner = said.get(first)
    return {**said, first: _changed(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


def _replaced(text: str, said: Mapping[str, Any], keys: tuple[str, ...], value: object) -> str:
    entries = list(_entries(text))
    for entry in entries:
        if entry.path == keys and not entry.header:
            return text[: entry.start] + written(value) + text[entry.end :]
    for entry in entries:  # a table written in one line, or a text in its place
        above = len(entry.path)
        if entry.path == keys[:above] and not entry.header:
            inner = reduce(lambda table, key: table[key], entry.path, said)
            table = _changed(inner if isinstance(inner, dict) else {}, keys[above:], value)
            return text[: entry.start] + written(table) + text[entry.end :]
    place = _end_of_table(text, entries, keys[:-1])
    if place is None:
        for name in reversed(keys[1:]):
            value = {name: value}
        keys, place = keys[:1], _end_of_table(text, entries, ()) or 0
    line = f"{_quoted(keys[-1])} = {written(value)}\n"
    if place and not text[:place].endswith("\n"):
        line = f"\n{line}"
    return text[:place] + line + text[place:]


def _end_of_table(text: str, entries: list[_Entry], above: tuple[str, ...]) -> int | None:
    """The end of the last key of a table; None if no header opens it."""
    place = None if above else 0
    inside = not above
    for entry in entries:
        if entry.header:
            inside = entry.path == above
        if inside:
            place = entry.after
    if above == () and place == 0:  # no key yet: below the comments at the top, if only these
        first = next((entry.start for entry in entries if entry.header), len(text))
        place = text.rfind("\n", 0, first) + 1 if first < len(text) else len(text)
    return place
