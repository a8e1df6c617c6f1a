"""Reads ``assay.toml`` strictly: every fault at once, each with key, value and remedy.

And changes a key of it; everything else, comments too, stays as it is.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property, reduce
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from assay.errors import InputError, Problem, TableError, did_you_mean
from assay.project.settings import Between, Drawing, Settings, Written, contradictions

Kind = TypeVar("Kind")

SHORT: dict[type, str] = {Drawing: "file"}
"""Tables that a single text may replace, with the key that it stands for."""


@dataclass(frozen=True, slots=True)
class SettingProblem(Problem):
    """One thing wrong with the settings; ``column`` is the path of the key, ``raters.overlap``."""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.message}"


def read_settings(path: str | Path) -> Settings:
    """The settings of a file; one error lists all its faults.

    Raises:
        TableError: The file is not TOML, has unknown keys, values of a wrong kind or out
            of range, or settings that contradict each other.
    """
    from assay.tables.load import decode_utf8, read_bytes

    return parse_settings(decode_utf8(read_bytes(Path(path)), str(path)), str(path))


def parse_settings(text: str, source: str = "assay.toml") -> Settings:
    """The settings that a text says, as :func:`read_settings` reads them.

    >>> parse_settings('protocol = "esa"').protocol
    'esa'
    >>> parse_settings("protocl = 1")
    Traceback (most recent call last):
    ...
    assay.errors.TableError: assay.toml: 1 problem
      line 1: protocl is not a setting (did you mean 'protocol'?)
    """
    settings, problems = parse_leniently(text, source)
    if problems:
        raise TableError(source, problems)
    return settings


def parse_leniently(text: str, source: str) -> tuple[Settings, list[Problem]]:
    """The settings that fit, the others at their defaults, and every problem by its line.

    Raises:
        TableError: The text is not TOML.
    """
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableError(source, [_not_toml(str(error))]) from None
    except RecursionError:
        raise TableError(source, [SettingProblem("nests brackets too deep")]) from None
    reading = _SettingsReader(text)
    settings = reading.table(Settings, said, "")
    if not reading.problems:
        for key, value, fault in contradictions(settings, said):
            reading.refuse(key, value, fault)
    return settings, sorted(reading.problems, key=lambda item: item.line or 0)


def _not_toml(text: str) -> SettingProblem:
    """The parser's message, with its line."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", text)
    said = text if place is None else text[: place.start()]
    message = f"is not TOML: {said}; write KEY = VALUE, and texts in quotes"
    return SettingProblem(message, None if place is None else int(place[1]))


def plain(value: object) -> str:
    """A value as it stands in the file, cut short.

    >>> plain(True), plain("a"), plain([1, 2])
    ('true', '"a"', '[1, 2]')
    """
    from assay.project.reader import written

    try:
        text = written(value)
    except TypeError:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


class _SettingsReader:
    """Turns values into the types of the settings and collects those that do not fit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[SettingProblem] = []

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The line of every key; needed for problems alone."""
        return lines_of_keys(self.text)

    def refuse(self, path: str, value: object, fault: str) -> None:
        shown = "" if value is MISSING else f" ({plain(value)})"
        self.note(path, f"{path}{shown} {fault}", value)

    def note(self, path: str, message: str, value: object = MISSING) -> None:
        parts = re.split(r"[.\[]", path)
        above = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
        line = next((self.lines[key] for key in above if key in self.lines), None)
        said = None if value is MISSING else plain(value)
        self.problems.append(SettingProblem(message, line, path, said))

    def table(self, kind: type[Kind], said: Mapping[str, Any], path: str) -> Kind:
        """A table of the file as its class."""
        hints = _hints(cast(Hashable, kind))
        prefix = f"{path}." if path else ""
        for name in said:
            if name not in hints:
                close = did_you_mean(name, list(hints))
                remedy = close or f"; its settings are {', '.join(hints)}"
                self.note(prefix + name, f"{prefix}{name} is not a setting{remedy}")
        values = {}
        for item in fields(cast(Any, kind)):
            wanted = item.default is MISSING and item.default_factory is MISSING
            if item.name in said:
                before = len(self.problems)
                value = self.value(hints[item.name], said[item.name], prefix + item.name)
                if wanted or value is not None or len(self.problems) == before:
                    values[item.name] = value
            elif wanted:
                self.note(path, f"{path} has no {item.name}; give one")
                values[item.name] = None
        return kind(**values)

    def value(self, hint: Any, value: Any, path: str) -> Any:
        """A value as its type; None where it does not fit."""
        limit = None
        if get_origin(hint) in (Union, UnionType):
            hint = next(one for one in get_args(hint) if one is not NoneType)
        if get_origin(hint) is Annotated:
            hint, limit = get_args(hint)
        if is_dataclass(hint):
            return self._nested(cast(type, hint), value, path)
        reader = self._readers.get(get_origin(hint) or hint)
        assert reader is not None, f"{path}: no way to read {hint}"
        return reader(self, hint, limit, value, path)

    def _nested(self, kind: type, value: Any, path: str) -> Any:
        if isinstance(value, str) and kind in SHORT:
            name = SHORT[kind]
            return kind(**{name: self.value(_hints(kind)[name], value, path)})
        if not isinstance(value, dict):
            example = "{ " + ", ".join(f"{name} = ..." for name in list(_hints(kind))[:2]) + " }"
            self.refuse(path, value, f"is not a table; write {path} = {example}")
            return kind() if kind in SHORT else None
        return self.table(kind, value, path)

    def _text(self, _: Any, limit: Written | None, value: Any, path: str) -> str | None:
        if limit is not None and limit.number and type(value) in (int, float):
            value = _as_text(value, limit)
        if not isinstance(value, str):
            self.refuse(path, value, f"is not a text; write it in quotes{_like(limit)}")
        elif limit is not None and not re.fullmatch(limit.pattern, value):
            self.refuse(path, value, f"does not fit{_like(limit)}")
        else:
            return value
        return None

    def _number(self, hint: Any, limit: Between | None, value: Any, path: str) -> Any:
        whole = hint is int
        fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        low, high = (limit.low, limit.high) if limit else (-1e15, 1e15)
        if not fits or not math.isfinite(value):
            what = "a whole number" if whole else "a number"
            remedy = f"give one from {low:g} to {high:g}" if limit else "write it without quotes"
            self.refuse(path, value, f"is not {what}; {remedy}")
        elif not low <= value <= high:
            self.refuse(path, value, f"is out of range; give one from {low:g} to {high:g}")
        else:
            return value if whole else float(value)
        return None

    def _flag(self, hint: Any, limit: Any, value: Any, path: str) -> bool | None:
        if isinstance(value, bool):
            return value
        self.refuse(path, value, "is not true or false; write one of them, without quotes")
        return None

    def _choice(self, hint: Any, limit: Any, value: Any, path: str) -> Any:
        known = [*get_args(hint)]
        if isinstance(value, str) and value in known:
            return value
        close = did_you_mean(value, known) if isinstance(value, str) else ""
        self.refuse(path, value, f"is not known{close}; choose from {', '.join(known)}")
        return None

    def _list(self, hint: Any, limit: Any, value: Any, path: str) -> tuple[Any, ...] | None:
        kinds = get_args(hint)
        several = kinds[-1] is Ellipsis
        if several and isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            self.refuse(path, value, f"is not a list; write {path} = [..., ...]")
            return None
        if not several and len(value) != len(kinds):
            self.refuse(path, value, f"has {len(value)} entries; give {len(kinds)}")
            return None
        every = [kinds[0]] * len(value) if several else kinds
        before = len(self.problems)
        found = tuple(
            self.value(kind, one, f"{path}[{place}]")
            for place, (kind, one) in enumerate(zip(every, value, strict=True))
        )
        return found if len(self.problems) == before else None

    def _mapping(self, hint: Any, limit: Any, value: Any, path: str) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            self.refuse(path, value, f"is not a table; write {path} = {{ NAME = ... }}")
            return None
        kind, before = get_args(hint)[1], len(self.problems)
        found = {name: self.value(kind, one, f"{path}.{name}") for name, one in value.items()}
        return found if len(self.problems) == before else None

    _readers: Mapping[Any, Callable[[_SettingsReader, Any, Any, Any, str], Any]] = {
        str: _text,
        int: _number,
        float: _number,
        bool: _flag,
        Literal: _choice,
        tuple: _list,
        dict: _mapping,
    }


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    """The fields of a class with their types, resolved."""
    return get_type_hints(kind, include_extras=True)


def _as_text(value: float, limit: Written) -> str:
    """A number as text: 0.1 as a share, 500 as an amount."""
    share = f"{value * 100:.10g}%"
    fits = 0 <= value <= 1 and re.fullmatch(limit.pattern, share)
    return str(value) if not fits or re.fullmatch(limit.pattern, str(value)) else share


def _like(limit: Written | None) -> str:
    return "" if limit is None else f"; write one such as {plain(limit.example)}"


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
