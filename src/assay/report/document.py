"""What a report is made of, before anybody says whether it becomes HTML, Markdown or LaTeX.

A report is a list of sections, one for each saved result. A section has plain words first (the
``lead``), then tables and figures, then how the numbers came about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["Column", "Figure", "Report", "Section", "Show", "Table", "shown"]

Show = Literal["text", "number", "count", "percent", "p"]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and how the values below it are shown."""

    name: str
    show: Show = "number"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values; ``name`` is unique in its section and becomes a file name.

    A line is drawn after the rows numbered in ``lines``. A page shows the first ``page`` rows.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]
    lines: frozenset[int] = frozenset()
    page: int = 60


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing that is made when it is wanted."""

    name: str
    caption: str
    draw: Callable[[], Drawing]


@dataclass(frozen=True, slots=True)
class Section:
    """One saved result: what it says, what shows it, and where it comes from."""

    name: str
    title: str
    lead: str
    blocks: tuple[Table | Figure | str, ...]
    signature: str
    question: str = ""
    """What was asked, where this section is an answer and not a step on the way to one."""
    methods: str = ""
    sources: tuple[str, ...] = ()
    """Keys of :data:`assay.report.references.REFERENCES`."""
    next: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    title: str
    sections: tuple[Section, ...]
    version: str

    @property
    def answers(self) -> tuple[Section, ...]:
        """The sections that say what was found; all of them where none does."""
        return tuple(part for part in self.sections if part.question) or self.sections

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, from all sections, each thing once."""
        return tuple(dict.fromkeys(line for part in self.sections for line in part.next))

    @property
    def methods(self) -> str:
        """The paragraph for a paper."""
        order = sorted(self.sections, key=lambda part: not part.question)
        said = dict.fromkeys(part.methods for part in order if part.methods)
        return " ".join([*said, f"All numbers were computed with Assay {self.version}."])

    @property
    def sources(self) -> tuple[str, ...]:
        """The references of the paragraph, each once."""
        return tuple(dict.fromkeys(key for part in self.sections for key in part.sources))


def shown(value: object, show: Show) -> str:
    """A value as people read it; a dash where nothing is known.

    >>> shown(0.00001, "p"), shown(1234, "count"), shown(None, "number"), shown(0.5, "percent")
    ('< 0.001', '1,234', '–', '50.0 %')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if show == "text" or not isinstance(value, int | float):
        return str(value)
    if show == "count":
        return f"{value:,.0f}"
    if show == "percent":
        return f"{100 * value:.1f} %"
    if show == "p" and value < 0.001:
        return "< 0.001"
    # A small number keeps the digits that matter.
    return f"{value:.3g}" if 0 < abs(value) < 0.01 else f"{value:.3f}"
