"""Pages rendered on the server: their panels, answers with their marks, and edits as changes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay.campaign.records import Given, GivenText, Span
from assay.results import money_text, percent, plural, time_text, visible
from assay.views.section import cut, sentence, shown, some
from assay.views.terms import explained

LONG_NAME = 80
"""Characters of a name that are shown; longer ones are cut in the middle."""


@cache
def environment() -> Environment:
    """The templates, whose values are always escaped."""
    made = Environment(
        loader=PackageLoader("assay.campaign.web", "pages"), autoescape=True,
        undefined=StrictUndefined, finalize=_tame, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {
        "amount": lambda value: f"{value:,}",
        "number": number,
        "money": money_text,
        "duration": lambda seconds: time_text(seconds / 60),
        "moment": moment,
        "clock": clock,
        "day": lambda at: moment(at, day=True),
        "share": percent,
        "sentence": sentence,
        "cell": shown,
        "name": name,
        "short": lambda value: cut(value, LONG_NAME),
        "plural": lambda value, word: plural(value, word),
        "some": some,
        "explained": explained,
        "address": lambda wanted, **more: urlencode(
            {key: value for key, value in {**wanted, **more}.items() if value}
        ),
    }
    return made


def _tame(value: Any) -> Any:
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(value)


def number(value: float | None, digits: int = 1) -> str:
    """Format a number for reading; a dash stands for an unknown one.

    >>> number(78.123), number(None), number(-0.5, 2), number(-0.04)
    ('78.1', '–', '−0.50', '0.0')
    """
    if value is None or value != value:
        return "–"
    return f"{value:z,.{digits}f}".replace("-", "−")


def name(value: str) -> str:
    """A name, whole where there is room for it; a longer one is whole when it is pointed at.

    >>> name("Compass"), name("x" * 100)[:18]
    ('Compass', Markup('<span title="xxxxx'))
    """
    if len(value) <= LONG_NAME:
        return value
    short = cut(value, LONG_NAME)
    return Markup('<span title="{}">{}</span>').format(visible(value), visible(short))


def moment(milliseconds: int, *, day: bool = False) -> Markup:
    """A time, or only its day, which the page converts to the reader's time zone."""
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    shown = f"{at:%A}" if day else f"{at:%-d %b, %H:%M} UTC"
    kind = Markup(' class="day"') if day else ""
    return Markup('<time datetime="{}"{}>{}</time>').format(
        at.isoformat(timespec="seconds"), kind, shown
    )


def clock(iso: str) -> Markup:
    """A result's ISO time as a :func:`moment`."""
    return moment(round(datetime.fromisoformat(iso).timestamp() * 1000))


def render(template: str, /, **content: Any) -> str:
    """Render a template."""
    return environment().get_template(f"desk/{template}.html").render(content)


def tagged(request: Request, name: str, basis: object, make: Any) -> Response:
    """A panel, or 304 if the reader has it already; ``basis`` is all that the panel depends on."""
    tag = f'"{sha256(repr((name, basis)).encode()).hexdigest()[:20]}"'
    headers = {"ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(make(), headers=headers)


TITLES = {
    401: "This page needs your link", 403: "This link does not open this page",
    404: "Page not found", 429: "Too many requests",
}  # fmt: skip
REMEDIES = {
    401: "Open the link you were given again, or ask the organisers for a new one.",
    403: "Raters, owners and viewers each have their own link. Open the one for this page.",
    404: "The address may be incomplete, or your link may belong to another campaign.",
    429: "Wait a moment, then reload the page.",
}


def refusal(status: int, sentence: str) -> str:
    """A page that says why a request was refused.

    A link followed from another site comes without its strict cookie, so with 401 the page reloads
    itself once.
    """
    title = TITLES.get(status, sentence[:1].upper() + sentence[1:])
    return render("refused", status=status, title=title, remedy=REMEDIES.get(status, ""))


Change = Literal["same", "new", "gone"]


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A stretch of a text, and the marks that lie over it."""

    text: str
    marks: tuple[Span, ...] = ()

    @property
    def severity(self) -> str:
        """The worst severity, for the colour."""
        known = [mark.severity for mark in self.marks]
        return next((name for name in ("critical", "major", "minor") if name in known), "neutral")

    @property
    def said(self) -> str:
        """The marks in words."""
        return "; ".join(in_words(mark) for mark in self.marks)


def in_words(mark: Span) -> str:
    """Describe a mark."""
    what = "missing" if mark.missing else mark.category
    return f"{mark.severity}: {what}" if what else mark.severity


def pieces(text: str, marks: Sequence[Span]) -> list[MarkedPiece]:
    """Cut a text wherever a mark begins or ends; a mark for missing words has no width.

    >>> found = pieces("the port", [Span("target", 4, 8, "minor")])
    >>> [(piece.text, piece.severity) for piece in found]
    [('the ', 'neutral'), ('port', 'minor')]
    """
    cuts = sorted({0, len(text), *(min(end, len(text)) for mark in marks
                                   for end in (mark.start, mark.end))})  # fmt: skip
    found = []
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        empty = tuple(mark for mark in marks if mark.start == mark.end == start)
        if empty:
            found.append(MarkedPiece("", empty))
        if end > start:
            over = tuple(mark for mark in marks if mark.start <= start and end <= mark.end)
            found.append(MarkedPiece(text[start:end], over))
    return found


def changes(before: str, after: str) -> list[tuple[Change, str]]:
    """The changes of an editor, word by word.

    >>> changes("the ship lies", "the ship is")
    [('same', 'the ship '), ('gone', 'lies'), ('new', 'is')]
    """
    old, new = re.findall(r"\s+|\w+|[^\w\s]", before), re.findall(r"\s+|\w+|[^\w\s]", after)
    found: list[tuple[Change, str]] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            found.append(("same", "".join(old[a:b])))
            continue
        if b > a:
            found.append(("gone", "".join(old[a:b])))
        if d > c:
            found.append(("new", "".join(new[c:d])))
    return found


def together(answers: Sequence[Given]) -> list[list[Marked]]:
    """Group the answers of a rater to the outputs of a segment, newest first."""
    groups: dict[tuple[object, ...], list[Marked]] = {}
    for one in answers:
        key = one.rater, one.lp, one.doc, one.seg, one.kind
        groups.setdefault(key, []).append(Marked(one))
    return list(groups.values())


@dataclass(frozen=True)
class Marked:
    """An answer for display."""

    given: Given

    @cached_property
    def source(self) -> list[MarkedPiece]:
        """The source with the marks on it."""
        return pieces(self.given.source or "", self._marks("source"))

    def target(self, text: GivenText) -> list[MarkedPiece]:
        """An output with the marks on it."""
        return pieces(text.text, self._marks("target"))

    def edits(self, text: GivenText) -> list[tuple[Change, str]]:
        """What was changed in an output."""
        return changes(text.text, self.given.answer.edited or "")

    @property
    def marks(self) -> Iterator[str]:
        """Every mark in words, with the text below it."""
        for mark in self.given.answer.spans:
            whole = self.given.source if mark.side == "source" else self.given.texts[0].text
            text = (whole or "")[mark.start : mark.end]
            yield f"{in_words(mark)} “{text}”" if text else in_words(mark)

    def _marks(self, side: str) -> list[Span]:
        return [mark for mark in self.given.answer.spans if mark.side == side]
