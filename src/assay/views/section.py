"""A result as a section, independent of where it is shown: terminal, HTML, Markdown or LaTeX.

Every result has one :class:`Section`: plain words first (the ``lead``), then tables and figures,
then how the numbers came about. A report is a list of sections. Headings, captions and sentences
about a result are written in its room's module next to this one, and nowhere else.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TextIO

from assay.errors import InputError
from assay.results import Result, p_value, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from rich.console import Console


Show = Literal["text", "number", "count", "percent", "money", "p", "interval", "ranks", "of"]
Where = Literal["everywhere", "page", "terminal"]
Stage = Literal[
    "plan", "sample", "kits", "collect", "estimate", "rank", "effort", "audit", "research"
]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and how the values below it are shown.

    An ``interval``, ``ranks`` or ``of`` column holds two values, which a CSV file gives a column
    each: ``parts`` names them.
    """

    name: str
    show: Show = "number"
    parts: tuple[str, ...] = ()
    seen: Literal["always", "roomy", "files"] = "always"
    """In a table with bars: not on a narrow screen, or on no page, as the drawing shows it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row drawn: a dot, its interval, and a hollow mark where the truth is known.

    ``said`` is shown to a reader who points at the row.
    """

    at: float
    low: float
    high: float
    truth: float | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values; ``name`` is unique in its section and becomes a file name.

    A line is drawn after the rows numbered in ``lines``. A page shows the first ``page`` rows;
    where there is a ``fold``, behind these words. Where there are ``bars``, one for each row, the
    table is a figure as well; ``axis`` says what they measure.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]
    lines: frozenset[int] = frozenset()
    page: int = 60
    where: Where = "everywhere"
    fold: str = ""
    bars: tuple[Bar, ...] = ()
    axis: str = ""

    @property
    def named(self) -> int:
        """The column with the names of the rows."""
        return next(k for k, column in enumerate(self.columns) if column.show == "text")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing that is made when it is wanted; a terminal does not show it."""

    name: str
    caption: str
    draw: Callable[[], Drawing]


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence that is not for everywhere; one that is can be a plain string."""

    text: str
    where: Where = "everywhere"


Block = Table | Figure | Text | str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Clusters and decided pairs by one rule; a page follows one such rule.

    ``rule`` names it, ``why`` says why other rules may differ. ``winners`` has the better system of
    each pair that was tested, None where the pair is undecided.
    """

    source: Literal["ratings", "judgments"]
    rule: str
    why: str
    clusters: Mapping[str, int]
    winners: Mapping[frozenset[str], str | None]

    def differ(self, other: Verdicts) -> bool:
        """Whether two rules say otherwise of the same systems."""
        if set(self.clusters) != set(other.clusters):
            return False
        both = self.winners.keys() & other.winners.keys()
        apart = any(self.winners[pair] != other.winners[pair] for pair in both)
        return apart or dict(self.clusters) != dict(other.clusters)


@dataclass(frozen=True, slots=True)
class Section:
    """One result: what it says, what shows it, and where it comes from.

    The first of the ``blocks`` is what a page shows of an answer beside its words; the others are
    folded behind ``details``.
    """

    name: str
    title: str
    lead: str
    blocks: tuple[Block, ...]
    signature: str
    stage: Stage = "estimate"
    headline: str = ""
    """The verdict in a plain sentence or two, which goes before the ``lead``."""
    question: str = ""
    """What was asked, where this section is an answer and not a step on the way to one."""
    facts: tuple[str, ...] = ()
    """The campaign in a few words each, such as ``3 raters``."""
    unknown: tuple[str, ...] = ()
    """What this answer leaves open."""
    details: str = "All numbers"
    label: str = ""
    """The test set's name, where a page has several."""
    methods: str = ""
    sources: tuple[str, ...] = ()
    """Keys of :data:`assay.views.report.REFERENCES`."""
    next: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    more: tuple[Section, ...] = ()
    """Sections of results that belong to this one, which follow it."""
    verdicts: Verdicts | None = None
    folded: bool = False
    """Whether it is by another rule than the page's own, and stands behind its title."""
    version: str = ""
    """The version of Assay that computed it, where that is not today's."""

    @property
    def all(self) -> tuple[Section, ...]:
        """The section, followed by those of the results that belong to it."""
        return (self, *(part for more in self.more for part in more.all))

    @property
    def said(self) -> str:
        """The whole answer in words."""
        return " ".join(filter(None, (self.headline, self.lead)))

    def shown_in(self, place: Where) -> tuple[Table | Figure | str, ...]:
        """The blocks for a terminal, or for a page."""
        kept = [
            block
            for block in self.blocks
            if isinstance(block, str | Figure) or block.where in ("everywhere", place)
        ]
        return tuple(block.text if isinstance(block, Text) else block for block in kept)


APART = {
    "raters": "monitoring", "monitoring": "monitoring", "evaluation": "monitoring",
    "campaign-results": "live", "guess": "formats",
}  # fmt: skip
"""Kinds whose view is not in the module of their room."""


def section_of(result: Result) -> Section:
    """The section of a result: the view of its room has a function called after its kind."""
    room = APART.get(result.kind, type(result).__module__.split(".")[1])
    try:
        view = import_module(f"assay.views.{room}")
        make: Callable[[Any], Section] = getattr(view, f"{result.kind.replace('-', '_')}_section")
    except (ModuleNotFoundError, AttributeError):
        raise InputError(f"a result of kind '{result.kind}' has no section to show") from None
    return _computed_by(make(result), result.version)


def _computed_by(section: Section, version: str) -> Section:
    more = tuple(_computed_by(part, version) for part in section.more)
    return replace(section, version=section.version or version, more=more)


def columns(text: str) -> dict[Any, tuple[str, Show]]:
    """Columns by their fields: ``field:show = heading``, a number under its own name if not said.

    >>> columns("system:text; score; n:count = rated; low,high:interval = 95%")[("low", "high")]
    ('95%', 'interval')
    """
    found: dict[Any, tuple[str, Show]] = {}
    for part in text.split("; "):
        said, sign, heading = part.partition(" =")
        names, _, show = said.strip().partition(":")
        key = tuple(names.split(",")) if "," in names else names
        found[key] = heading.strip() if sign else names.replace("_", " "), show or "number"  # type: ignore[assignment]
    return found


def table(
    name: str, caption: str, shown: str | Mapping[Any, tuple[str, Show]], rows: Iterable[Any],
    lines: frozenset[int] = frozenset(), *, where: Where = "everywhere",
) -> Table:  # fmt: skip
    """A table of dataclasses or dicts, which :func:`columns` are ``shown``.

    A pair of fields makes one column of two values. Columns that are all empty go.

    >>> table("t", "", "n:count; low,high:interval = 95%",
    ...       [{"n": 3, "low": 0.5, "high": 1.5}]).rows
    ((3, (0.5, 1.5)),)
    """
    columns_ = columns(shown) if isinstance(shown, str) else shown
    listed = list(rows)
    cells = {key: [_get(row, key) for row in listed] for key in columns_}
    kept = [key for key in columns_ if not listed or any(_known(cell) for cell in cells[key])]
    return Table(
        name,
        caption,
        tuple(Column(*columns_[key], () if isinstance(key, str) else key) for key in kept),
        tuple(zip(*(cells[key] for key in kept), strict=True)) if kept else (),
        lines,
        where=where,
    )


def _get(row: object, key: str | tuple[str, str]) -> object:
    if isinstance(key, tuple):
        return tuple(_get(row, part) for part in key)
    return row.get(key) if isinstance(row, Mapping) else getattr(row, key, None)


def _known(cell: object) -> bool:
    """Whether there is something to show: neither None nor NaN."""
    parts = cell if isinstance(cell, tuple) else (cell,)
    return any(part is not None and part == part for part in parts)


def metrics_used(metrics: Sequence[str]) -> str:
    """Which metrics played a part."""
    return f"metrics used: {', '.join(metrics) or 'none'}"


def cluster_lines(systems: Sequence[Any]) -> frozenset[int]:
    """The rows after which a cluster ends."""
    numbers = [_get(item, "cluster") for item in systems]
    return frozenset(k for k, (one, two) in enumerate(itertools.pairwise(numbers)) if one != two)


def with_bars(found: Table, bars: Iterable[Bar], axis: str, **seen: str) -> Table:
    """A table whose rows are drawn; columns by heading are ``seen`` as said."""
    columns = tuple(
        replace(column, seen=seen.get(column.name, "always"))  # type: ignore[arg-type]
        for column in found.columns
    )
    return replace(found, columns=columns, bars=tuple(bars), axis=axis)


def with_ranks(found: Table, systems: Sequence[Any], won: Set[tuple[str, str]]) -> Table:
    """A table of systems with their rank ranges drawn; ``won`` has the decided pairs."""
    names = [item.system for item in systems]
    bars = (
        # A range of one rank is a short bar, too.
        Bar(item.rank, item.low_rank - 0.15, item.high_rank + 0.15,
            said=against(item.system, names, won))
        for item in systems
    )  # fmt: skip
    return with_bars(found, bars, "rank (1 is best)", rank="files", cluster="roomy")


def sentence(line: str) -> str:
    """A line as a sentence begins and ends, unless it begins with a name such as ``system-4``.

    >>> sentence("to decide A and B"), sentence("system-4 may rest"), sentence("score")
    ('To decide A and B.', 'system-4 may rest.', 'Score.')
    """
    begin = line[:1].upper() + line[1:] if re.match(r"[a-z]+([ ,:]|$)", line) else line
    return begin if begin.endswith((".", "?", "!")) else f"{begin}."


def are(count: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if count == 1 else "are"


def some(names: Sequence[str], most: int = 4) -> str:
    """Names as people list them.

    >>> some(["a", "b", "c"]), some(list("abcd")), some(list("abcdef"))
    ('a, b and c', 'a, b, c and d', 'a, b, c, d and 2 more')
    """
    if len(names) <= 1:
        return "".join(names)
    if len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def verdict(best: str, others: Sequence[str], won: Set[tuple[str, str]]) -> str:
    """Who is best, in a plain sentence; ``won`` has the decided pairs, winner first.

    >>> verdict("B", ["A", "C", "D"], {("B", "C"), ("B", "D")})
    'B is ahead. It beats C and D; whether it beats A is undecided.'
    >>> verdict("B", ["A", "C"], {("B", "A"), ("B", "C")}), verdict("B", ["A"], {("B", "A")})
    ('B is best. It beats A and C.', 'B is better than A.')
    >>> verdict("B", ["A"], set())
    'B is ahead, but whether it beats A is undecided.'
    """
    beaten = [name for name in others if (best, name) in won]
    rest = [name for name in others if name not in beaten]
    if not rest and len(beaten) == 1:
        return f"{best} is better than {beaten[0]}."
    if not rest:
        return f"{best} is best. It beats {_others(beaten, all_of=True)}."
    open_ = f"whether it beats {_others(rest)} is undecided."
    if not beaten:
        return f"{best} is ahead, but {open_}"
    return f"{best} is ahead. It beats {_others(beaten)}; {open_}"


def _others(names: Sequence[str], *, all_of: bool = False) -> str:
    """A few names, or how many there are."""
    listed = some(names)
    if len(names) <= 4 and (len(names) == 1 or len(listed) <= 80):
        return listed
    return f"all {len(names)} others" if all_of else f"{len(names)} others"


def decided_figure(
    systems: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]], rule: str = ""
) -> Figure:
    """Which system is decided to be better than which, by what rule."""

    def draw() -> Drawing:
        from assay.views.figures import draw_pairs

        return draw_pairs(systems, pairs)

    return Figure(
        "decided", "Filled: the row's system is better than the column's (decided"
                   f"{rule and f', {rule}'}). Dot: undecided.", draw,
    )  # fmt: skip


def winners(decided: Iterable[Any]) -> set[tuple[str, str]]:
    """Decided pairs, winner first."""
    ends = ([str(_get(pair, name)) for name in ("left", "right", "better")] for pair in decided)
    return {(better, right if better == left else left) for left, right, better in ends}


def against(name: str, names: Iterable[str], won: Set[tuple[str, str]]) -> str:
    """One system against each of the others.

    >>> against("B", ["A", "B", "C", "D"], {("B", "C"), ("A", "B")})
    'B: better than C, worse than A, undecided against D.'
    """
    others = [other for other in names if other != name]
    better = [other for other in others if (name, other) in won]
    worse = [other for other in others if (other, name) in won]
    rest = [other for other in others if other not in better and other not in worse]
    words = zip(
        ("better than", "worse than", "undecided against"), (better, worse, rest), strict=True
    )
    return f"{name}: {', '.join(f'{word} {some(found)}' for word, found in words if found)}."


MAX_WORD = 200
"""Signs of a word, such as a name, beyond which people are shown its ends; files have all of it."""


def cut_words(text: str, most: int = MAX_WORD) -> str:
    """Text whose very long words are cut.

    >>> cut_words("the name system-with-a-long-name-2", 12)
    'the name system…ame-2'
    """
    if len(text) <= most:
        return text
    return re.sub(rf"\S{{{most + 1},}}", lambda word: cut(word[0], most), text)


def cut(text: str, most: int) -> str:
    """The beginning and the end of a long text: names often differ in their ends."""
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def shown(value: object, show: Show) -> str:
    """A value as people read it; a dash where nothing is known.

    >>> shown(0.00001, "p"), shown(1234, "count"), shown(None, "number"), shown(0.5, "percent")
    ('< 0.001', '1,234', '–', '50.0%')
    >>> shown(-0.0, "number"), shown(-0.0004, "percent"), shown(-0.002, "money")  # zero has no sign
    ('0.000', '0.0%', '0.00')
    >>> shown((0.5, 1.5), "interval"), shown((1, 3), "ranks"), shown((20, 1000), "of")
    ('0.500 to 1.500', '1–3', '20/1,000')
    """
    if isinstance(value, tuple):
        return _shown_pair(value, show)
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if show == "text" or not isinstance(value, int | float):
        return cut_words(str(value))
    if show == "count":
        return f"{value:z,.0f}"
    if show == "percent":
        return f"{value:z.1%}"
    if show == "money":
        return f"{value:z,.2f}"
    if show == "p":
        return p_value(value).removeprefix("p ").removeprefix("= ")
    # A small number keeps the digits that matter.
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:z.3f}"


def _shown_pair(pair: tuple[object, ...], show: Show) -> str:
    inside: Show = {"interval": "number", "money": "money"}.get(show, "count")  # type: ignore[assignment]
    low, high = (shown(part, inside) for part in pair)
    if show in ("interval", "money"):
        return "unknown" if low == high == "–" else f"{low} to {high}"
    if show == "of":
        return f"{low}/{high}"
    return low if low == high else f"{low}–{high}"


def show(section: Section) -> None:
    """Print the answer on stdout, and behind it on stderr what was noted on the way."""
    if section.said:
        _say(section.said)
        print()
    for block in section.shown_in("terminal"):
        if isinstance(block, Table):
            print_table(section.title if block is _first_table(section) else block.caption, block)
        elif not isinstance(block, Figure):
            _say(block)
    if section.signature:
        _say(f"signature: {section.signature}")
    if section.unknown:
        _say(f"not known: {'; '.join(section.unknown)}")
    sys.stdout.flush()  # where both go to one place, the answer stands first
    for line in dict.fromkeys(section.notes):
        _say(line, sys.stderr)
    for part in section.more:
        print()
        show(part)
    for line in section.next:
        _say(f"next: {line}")


def _say(text: str, stream: TextIO | None = None) -> None:
    print(_one_line(text), file=stream)


def _one_line(text: str) -> str:
    """Text for a terminal on one line, even if a name holds a line break."""
    return visible(cut_words(text)).replace("\n", " ")


def _first_table(section: Section) -> Table | None:
    tables = [block for block in section.shown_in("terminal") if isinstance(block, Table)]
    return tables[0] if tables else None


def print_table(title: str, table: Table) -> None:
    """Print a readable table on stdout: text left, numbers right."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text as Words

    grid = Grid(box=box.SIMPLE_HEAD)
    for column in table.columns:
        side = "left" if column.show == "text" else "right"
        # A narrow terminal breaks words, never numbers.
        whole = column.show != "text"
        grid.add_column(Words(_one_line(column.name)), justify=side, overflow="fold", no_wrap=whole)  # type: ignore[arg-type]
    for number, row in enumerate(table.rows[: table.page]):
        cells = zip(row, table.columns, strict=True)
        grid.add_row(
            *(Words(_one_line(shown(value, column.show))) for value, column in cells),
            end_section=number in table.lines,
        )
    screen = console(sys.stdout)
    screen.print(Words(_one_line(title), style="bold"))
    screen.print(grid)
    if len(table.rows) > table.page:
        print(f"the first {table.page} of {len(table.rows):,} rows; the saved result has them all")


def console(stream: TextIO) -> Console:
    """Where rich writes to."""
    from rich.console import Console

    # Piped output must not wrap at an imagined 80 columns.
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False)
