"""What all results have in common: a kind, a signature, notes, and one way to JSON and back.

A *signature* is one short line that says how a number came about, so that two papers which print
it can be compared: ``segments|n:142/710|mean|t:.95|seed:7|v:0.2.0``.

A result is a frozen dataclass that inherits :class:`Result`. Its fields are the whole of it:
:meth:`Result.to_dict` writes them, :meth:`Result.from_dict` reads them back by their types.
"""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin

import numpy as np

from assay._version import __version__
from assay.errors import InputError

if typing.TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Note(str):
    """A sentence for people with a code for programs, which never look at the words.

    >>> note = Note("few-ratings", "20 ratings are few for an interval")
    >>> note.code, str(note)
    ('few-ratings', '20 ratings are few for an interval')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> Self:
        """A note; its code is a few words with hyphens."""
        note = super().__new__(cls, text)
        note.code = code
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.code, str(self)


def has_note(notes: Sequence[str], code: str) -> bool:
    """Whether something was said, by its code."""
    return any(getattr(note, "code", None) == code for note in notes)


def signature(*parts: object, **named: object) -> str:
    """Join the parts of a signature; named parts that are None are left out.

    >>> signature("segments", n="142/710", seed=7, cap=None)
    'segments|n:142/710|seed:7|v:...'
    """
    words = [str(part) for part in parts]
    words += [f"{name}:{value}" for name, value in named.items() if value is not None]
    return "|".join([*words, f"v:{__version__}"])


CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""What a terminal or a reader's eye would obey: control characters (C1 too), breaks of lines,
changes of the direction of writing; and halves of characters."""


def visible(text: str) -> str:
    r"""Text for a terminal: what would be obeyed is shown, as JSON writes it.

    >>> print(visible("a\x1b[2Jb"))
    a\u001b[2Jb
    """
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def plural(number: int, thing: str) -> str:
    """``1 system``, ``3 systems``.

    >>> plural(1, "system"), plural(1200, "pair")
    ('1 system', '1,200 pairs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """A stated share, such as a level, with the digits that it has.

    >>> percent(0.95), percent(0.975)
    ('95%', '97.5%')
    """
    return f"{100 * share:g}%"


def p_value(p: float) -> str:
    """A p-value as sentences have it.

    >>> p_value(0.0312), p_value(0.00001)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){0,4}[\w.+-]{0,40}")
MAX_WHOLE = 2**128
"""A seed may be as large; no other whole number of a result is."""
T = typing.TypeVar("T")
KINDS: dict[str, type[Result]] = {}
"""Kind to class, for every class of results that has been loaded."""


@dataclass(frozen=True, slots=True)
class Result:
    """The root of all results: ``class Estimates(Result, kind="estimates")``.

    ``kind`` names it in JSON. ``since`` is the version of Assay whose files it can still read;
    override ``migrate`` to read older ones. ``renamed`` has, by field, values that older versions
    wrote and what they are called today. ``listing`` names the field that :meth:`to_frame` lists.
    """

    kind: ClassVar[str] = ""
    since: ClassVar[str] = "0.2.0"
    renamed: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    listing: ClassVar[str] = ""
    version: str = field(default=__version__, kw_only=True, compare=False, repr=False)
    """The version of Assay that computed it, which its signature names."""

    def __init_subclass__(cls, kind: str = "", listing: str = "", **rest: object) -> None:
        super(Result, cls).__init_subclass__(**rest)
        if kind:  # made anew with slots, the class comes here twice: the last one counts
            cls.kind = kind
        if listing:
            cls.listing = listing
        if cls.kind:
            KINDS[cls.kind] = cls
        if "signature" in cls.__dict__:
            cls.signature = _as_computed(cls.__dict__["signature"])  # type: ignore[method-assign, assignment]

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The JSON object: kind, version and signature first, then every field."""
        head = {"kind": self.kind, "version": self.version, "signature": self.signature}
        return head | {
            part.name: plain(getattr(self, part.name), infinite=True)
            for part in fields(self) if part.name != "version"
        }  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """The result as a table: a row for each of its systems, pairs or whatever it is about."""
        import polars as pl

        own: Any = type(self)
        hints = _hints(get_args(_hints(own)[self.listing])[0])
        types: dict[Any, Any] = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
        known = {
            name: to for name, hint in hints.items() for own, to in types.items()
            if hint in (own, own | None)
        }  # fmt: skip
        rows = [plain(row) for row in getattr(self, self.listing)]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=known if rows else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The result that :meth:`to_dict` wrote; what does not fit is refused with its place."""
        version = data.get("version", "0")
        fits = isinstance(version, str) and VERSION.fullmatch(version) is not None
        _need(fits, version, "the saved result: version", f"a version such as {__version__}")
        if _numbers(version) > _numbers(__version__):
            raise InputError(
                f"the result was saved by Assay {version}, which is newer than this one"
                f" ({__version__}); update Assay"
            )
        if _numbers(version) < _numbers(cls.since):
            data = cls.migrate(data)
        found = _typed(data, cls, "the saved result")
        return typing.cast(Self, found)

    @classmethod
    def migrate(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data of an older version in today's form."""
        raise InputError(
            f"the '{cls.kind}' result was saved by Assay {data.get('version', '(no version)')}"
            " and cannot be read by this version; run the command again"
        )

    def _repr_html_(self) -> str:
        """The result as a notebook shows it."""
        # Imported by name: views import results, not the other way round.
        return str(import_module("assay.views.html").fragment(self))

    def plot(self) -> Figure:
        """The result's figure, for matplotlib to show or save."""
        return typing.cast("Figure", import_module("assay.views.figures").plot(self))


def _as_computed(own: property) -> property:
    """A signature that names the version of the result, which may have been read from a file."""

    def line(result: Result) -> str:
        text: str = own.__get__(result)
        return text.replace(f"|v:{__version__}", f"|v:{result.version}")

    return property(line, doc=own.__doc__)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", version))


def plain(value: object, *, infinite: bool = False) -> Any:
    """The JSON form of a value: dataclasses and arrays become dicts and lists, NaN becomes None.

    Infinity, which JSON does not know, becomes None too, or a word if ``infinite``.

    >>> plain({"a": np.array([1.0, float("nan")])})
    {'a': [1.0, None]}
    >>> plain((1.0, float("-inf")), infinite=True)
    [1.0, '-Infinity']
    """
    if isinstance(value, Note):
        return {"code": value.code, "text": str(value)}
    if isinstance(value, Result) and value.kind:
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float):
        if math.isinf(value) and infinite:
            return "Infinity" if value > 0 else "-Infinity"
        return value if math.isfinite(value) else None
    form = partial(plain, infinite=infinite)
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: form(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): form(item) for key, item in value.items()}
    if isinstance(value, Sequence | frozenset) and not isinstance(value, str):
        return [form(item) for item in value]
    return value


def from_plain(value: Any, kind: type[T], place: str) -> T:
    """The dataclass that :func:`plain` made a dict of."""
    return typing.cast(T, _typed(value, kind, place))


def _typed(value: Any, hint: Any, place: str) -> Any:
    """A JSON value as its type asks for it: the other direction of :func:`plain`."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return _typed_any(value, place)
    if hint is Note:
        _need(isinstance(value, Mapping) and {"code", "text"} <= set(value), value, place, "a note")
        return Note(*(_typed(value[part], str, f"{place}.{part}") for part in ("code", "text")))
    if hint is Path:
        return Path(_typed(value, str, place))
    if isinstance(hint, type) and is_dataclass(hint):
        return _typed_dataclass(value, hint, place)
    if origin in (Union, types.UnionType):
        return _typed_union(value, inside, place)
    if origin is Literal:
        _need(value in inside, value, place, " or ".join(map(repr, inside)))
        return value
    if origin in (tuple, list, Sequence) or hint is np.ndarray:
        _need(isinstance(value, list), value, place, "a list")
        return _typed_list(value, origin, inside, place)
    if origin in (dict, Mapping):
        _need(isinstance(value, Mapping), value, place, "an object")
        return {
            _key(k, inside[0], place): _typed(v, inside[1], f"{place}.{k}")
            for k, v in value.items()
        }
    if hint is float:
        return float(_number(value, place))
    name = {int: "a whole number", str: "a text", bool: "true or false"}.get(hint, "nothing")
    fits = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    _need(fits or (hint is type(None) and value is None), value, place, name)
    return _typed_any(value, place)


def _typed_any(value: Any, place: str) -> Any:
    """A JSON value of any type, if numbers and texts are such as a result can have."""
    if isinstance(value, str):
        _need(value.isascii() or not HALF.search(value), value, place, "whole characters")
    elif isinstance(value, int):
        _need(abs(value) <= MAX_WHOLE, value, place, "a number that a result can have")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _typed_any(item, f"{place}[{number}]")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            _typed_any(name, place)
            _typed_any(item, f"{place}.{name}")
    return value


def _key(text: str, hint: Any, place: str) -> Any:
    """The key of an object, which JSON has as text, by its type."""
    if hint not in (int, float):
        return _typed_any(text, place)
    try:
        return hint(text)
    except ValueError:
        raise InputError(
            f"{place} has the key {_brief(text)}, not a number; save it again"
        ) from None


def _typed_dataclass(value: Any, hint: type, place: str) -> Any:
    _need(isinstance(value, Mapping), value, place, "an object")
    given, renamed = {}, getattr(hint, "renamed", {})
    for part in fields(hint):
        if part.name in value:
            wanted, own = _hints(hint)[part.name], value[part.name]
            if part.name in renamed and isinstance(own, str):
                own = renamed[part.name].get(own, own)
            given[part.name] = _typed(own, wanted, f"{place}: {part.name}")
        elif part.default is MISSING and part.default_factory is MISSING:
            raise InputError(f"{place} has no '{part.name}'; save it again")
    return hint(**given)


INFINITE = ("Infinity", "-Infinity")
HALF = re.compile("[\\ud800-\\udfff]")


def _number(value: Any, place: str) -> Any:
    """A number as it was before :func:`plain`."""
    if value is None or (isinstance(value, str) and value in INFINITE):
        return math.nan if value is None else float(value)
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    _need(fits, value, place, "a number")
    return _typed_any(value, place)


def _typed_union(value: Any, choices: tuple[Any, ...], place: str) -> Any:
    if value is None and type(None) in choices:
        return None
    faults = []
    for choice in choices:
        try:
            return _typed(value, choice, place)
        except InputError as error:
            faults.append(error)
    raise faults[0]


def _typed_list(value: list[Any], origin: Any, inside: tuple[Any, ...], place: str) -> Any:
    if origin is None:
        return np.array([_number(item, f"{place}[{k}]") for k, item in enumerate(value)])
    if origin is tuple and Ellipsis not in inside:
        _need(len(value) == len(inside), value, place, f"a list of {len(inside)}")
        pairs = zip(value, inside, strict=True)
        return tuple(_typed(item, hint, f"{place}[{k}]") for k, (item, hint) in enumerate(pairs))
    found = [_typed(item, inside[0], f"{place}[{k}]") for k, item in enumerate(value)]
    return found if origin is list else tuple(found)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _need(fits: bool, value: object, place: str, wanted: str) -> None:
    if not fits:
        shown = _brief(value)
        raise InputError(f"{place} is {shown}, not {wanted}; save it again")


def _brief(value: object) -> str:
    """A value in a message: its beginning."""
    if isinstance(value, int) and abs(value) > MAX_WHOLE:
        return f"a number of {value.bit_length():,} bits"
    text = repr(value[:40] if isinstance(value, str | list) else value)
    return text if len(text) < 40 else f"{text[:36]} ..."


@dataclass(frozen=True, slots=True)
class Costs:
    """What a rating costs: any one of the three prices, and the time it takes where known."""

    per_rating: float | None = None
    per_task: float | None = None
    per_hour: float | None = None
    seconds_per_rating: float | None = None
    currency: str | None = None

    @property
    def price(self) -> float | None:
        """The money for one rating, where it can be said."""
        if self.per_rating is not None or self.per_hour is None:
            return self.per_rating
        seconds = self.seconds_per_rating
        return None if seconds is None else self.per_hour * seconds / 3600

    def timed(self, seconds: float | None) -> Costs:
        """The same where a rating took so many seconds; what was said beforehand stays."""
        known = self.seconds_per_rating is not None or seconds is None
        return self if known else replace(self, seconds_per_rating=seconds)

    def money(self, ratings: float | None) -> float | None:
        """The money for so many ratings."""
        price = self.price
        return None if ratings is None or price is None else ratings * price

    def minutes(self, ratings: float | None) -> float | None:
        """The time for so many ratings."""
        seconds = self.seconds_per_rating
        return None if ratings is None or seconds is None else ratings * seconds / 60

    def cost(self, ratings: float | None) -> str:
        """Money and time of so many ratings in words; nothing where neither is known.

        >>> Costs(per_rating=0.12, seconds_per_rating=17, currency="EUR").cost(640)
        '77 EUR, 3 h'
        """
        money, minutes = self.money(ratings), self.minutes(ratings)
        parts = [] if money is None else [money_text(money, self.currency)]
        return ", ".join(parts + ([] if minutes is None else [time_text(minutes)]))

    def counted(self, number: float, what: str = "more ratings") -> str:
        """So many ratings with what they cost.

        >>> Costs(per_rating=0.12, currency="EUR").counted(640)
        '640 more ratings (77 EUR)'
        """
        cost = self.cost(number)
        return f"{number:,.0f} {what}" + (f" ({cost})" if cost else "")

    @property
    def text(self) -> str:
        """The same as :func:`~assay.pay.parse_pay` reads it.

        >>> Costs(per_hour=18.0, seconds_per_rating=40.0, currency="EUR").text
        '18 EUR per hour, 40 s per rating'
        """
        prices = {"rating": self.per_rating, "task": self.per_task, "hour": self.per_hour}
        unit = self.currency or "units"
        parts = [f"{x:.12g} {unit} per {what}" for what, x in prices.items() if x is not None]
        if self.seconds_per_rating is not None:
            parts.append(f"{self.seconds_per_rating:.12g} s per rating")
        return ", ".join(parts)


UNPAID = Costs()
"""Where nothing is known of money or time."""


def money_text(money: float, currency: str | None) -> str:
    """An amount of money as it is said.

    >>> money_text(76.8, "EUR"), money_text(0.13, "EUR"), money_text(1216, None)
    ('77 EUR', '0.13 EUR', 'a cost of 1,216')
    """
    if money < 10 and money != round(money):
        number = f"{money:,.2f}" if money >= 0.095 else f"{money:.2g}"
    else:
        number = f"{math.floor(money + 0.5):,}"
    return f"a cost of {number}" if currency is None else f"{number} {currency}"


def time_text(minutes: float) -> str:
    """A time as it is said.

    >>> time_text(190), time_text(25.2), time_text(62.4 * 60), time_text(0.2)
    ('3.2 h', '25 min', '62 h', '1 min')
    """
    if minutes < 59.5:
        return f"{max(1, round(minutes))} min"
    hours = minutes / 60
    return f"{hours:,.0f} h" if hours >= 9.95 else f"{round(hours, 1):g} h"
