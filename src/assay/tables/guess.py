"""What another person's table is: its kind, what its columns are, long or wide.

A guess is shown and never acted on in silence; what is ambiguous becomes a question, which names
the argument that answers it. Names are compared in :mod:`~assay.tables.names`; values decide where
a name can mean a text, a number or a name. What the user says of a column always wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import InputError, need_known
from assay.results import Result, signature
from assay.tables.columns import (
    KNOWN,
    LIKELY,
    OWN,
    SeenColumn,
    counts,
    has_role,
    is_metric,
    look_at,
    side_by_side,
    strength,
)
from assay.tables.layout import joined, rows_alone
from assay.tables.load import Raw, Source, load
from assay.tables.names import seconds_in
from assay.tables.schemas import find_schema

MOST_ANSWERS = 8
"""How many answers a question suggests, and how many names a sentence lists."""
JOIN = "+"
"""Between the columns of a wide table in ``columns``: ``rater=Anna+Ben``."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the table leaves open; ``argument`` takes one of the ``answers``."""

    text: str
    argument: str
    answers: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = " or ".join(self.answers) or "Assay's name first, yours second"
        return f"{self.text} Say it with `{self.argument}` ({said})"


@dataclass(frozen=True, slots=True)
class Guess(Result, kind="guess"):
    """What a table seems to be.

    ``columns`` maps Assay's names to the table's. Of a wide table, ``melted`` has each column that
    becomes rows, with the name of the rater or system (``into``) whose ``value`` it holds.
    ``counts`` and ``ratings`` are numbers that are not metrics, ``unsure`` those that may be.
    """

    source: str
    table: str | None
    columns: Mapping[str, str] = field(default_factory=dict)
    melted: Mapping[str, str] = field(default_factory=dict)
    into: str | None = None
    value: str | None = None
    metrics: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    lower_likely: bool = False
    """Whether less may be better, as with MQM or German marks; the user must say so."""

    @property
    def signature(self) -> str:
        """What was guessed, in one line."""
        return signature("guess", self.table or "unknown", layout=self.layout)

    @property
    def layout(self) -> str:
        """Whether answers stand below each other or side by side."""
        return "wide" if self.melted else "long"

    @property
    def sentence(self) -> str:
        """What was guessed, for people, in one line."""
        own = [
            f"{name} <- {user}" + (f" x {times:g}" if (times := self.scaled(name)) != 1 else "")
            for name, user in self.columns.items() if name != user
        ]  # fmt: skip
        parts = [f"{self.source}: read as {self.table or 'a table of unknown kind'}"]
        parts += [f"columns: {', '.join(own)}"] if own else []
        if self.melted:
            who = str(self.into).replace(JOIN, " and ")
            parts.append(f"a column per {who}: {some([*self.melted])}")
        for title, names in (
            ("metrics", self.metrics), ("not metrics (counts)", self.counts),
            ("not metrics (ratings)", self.ratings),
            ("not sure, not used", self.unsure), ("ignored", self.ignored),
        ):  # fmt: skip
            parts += [f"{title}: {', '.join(names)}"] if names else []
        return " ".join("; ".join(parts).split())

    def scaled(self, name: str) -> float:
        """The factor for the values of a column: a time is read in seconds."""
        return seconds_in(self.columns[name]) if name == "seconds" else 1.0

    def need_answers(self) -> Guess:
        """The guess itself; raises if questions are open."""
        if self.questions:
            raise InputError(f"{self.source}: {'; '.join(map(str, self.questions))}")
        return self


def guess(
    source: Source | Raw | Sequence[Source],
    *,
    kind: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
) -> Guess:
    """Guess what a table is; several are taken together and must have the same columns.

    ``kind`` (scores, ratings, judgments, edits, errors) and ``columns`` (Assay's names to the
    table's) are what is known already. The columns of a wide table are a list, or joined:
    ``{"rater": "Anna+Ben"}``. Nothing is read by it yet: see :func:`assay.tidy`.

    >>> import polars as pl
    >>> found = guess(pl.DataFrame({
    ...     "SentenceID": [1, 1, 2, 2], "Model": ["A", "B"] * 2, "ESA score": [80, 71, 65, 90],
    ... }))
    >>> found.table, dict(found.columns), found.questions
    ('ratings', {'system': 'Model', 'seg': 'SentenceID', 'score': 'ESA score'}, ())
    """
    if kind is not None:
        find_schema(kind)
    raw = _as_one(source)
    table = [look_at(raw.frame[name]) for name in raw.frame.columns]
    long, wide = _given(columns or {}, raw.frame.columns)
    if kind is None:
        kind, question = _kind(table, long, wide)
        if kind is None:
            return Guess(raw.source, None, long, questions=(question,) if question else ())
    from assay.tables.roles import TableReading

    return TableReading(raw.source, kind, table, long, wide, raw.places).guess()


def _as_one(source: Source | Raw | Sequence[Source]) -> Raw:
    if isinstance(source, Raw):
        return rows_alone(source)
    if not isinstance(source, list | tuple):
        return rows_alone(load(source, text=lambda _: False))
    raws = [rows_alone(load(item, text=lambda _: False)) for item in source]
    if not raws:
        raise InputError("no table was given; give at least one")
    for other in raws[1:]:
        if {*other.frame.columns} != {*raws[0].frame.columns}:
            raise InputError(
                f"{other.source} has other columns than {raws[0].source}; give tables of one kind"
            )
    return joined(raws)


def _given(
    columns: Mapping[str, str | Sequence[str]], present: Sequence[str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """What the user gave: one column for a name, or several side by side."""
    long: dict[str, str] = {}
    wide: dict[str, list[str]] = {}
    for name, own in columns.items():
        several = [own] if isinstance(own, str) else list(own)
        if isinstance(own, str) and own not in present and JOIN in own:
            several = [part.strip() for part in own.split(JOIN)]
        for part in several:
            need_known("columns", part, present, "is not a column of the table")
        if len(several) > 1:
            wide[name] = several
        else:
            long[name] = several[0]
    return long, wide


def _kind(
    table: Sequence[SeenColumn], long: Mapping[str, str], wide: Mapping[str, Sequence[str]]
) -> tuple[str | None, Question | None]:
    """The kind of a table by its columns, or what to ask."""

    def has(role: str, least: int = KNOWN) -> bool:
        return role in long or role in wide or any(strength(c, role) >= least for c in table)

    kinds = [
        kind for kind, there in (
            ("sample", has("probability", OWN) and has("design", OWN)),
            ("judgments", (has("left") and has("right"))
             or (has("left", LIKELY) and has("right", LIKELY) and has("winner"))),
            ("errors", has("category") and has("severity")),
            ("edits", has("edited") and (has("mt") or has("target"))),
        ) if there
    ]  # fmt: skip
    free = [c for c in table if c.name not in long.values()]
    rated = has("score") or (has("rater") and "sample" not in kinds)
    sides = side_by_side(free)
    rated = rated or any(len(sides[into]) > 1 for into in ("rater", "system"))
    metrics = any(is_metric(column) for column in table)
    scored = "score" in long or any(strength(c, "score") >= KNOWN for c in table)
    if scored and kinds and kinds != ["sample"] and kinds != ["judgments"]:
        kinds.append("ratings")
    if not kinds and rated and metrics and not has("rater"):
        kinds = ["scores", "ratings"]
    elif not kinds and rated:
        kinds = ["ratings"]
    elif not kinds and metrics:
        kinds = ["scores"]
    elif not kinds and has("score", LIKELY) and not any(c.text for c in table):
        kinds = ["scores", "ratings"]
    if len(kinds) > 1:
        text = f"It has the columns of {' and of '.join(kinds)}: which is it?"
        return None, Question(text, "kind", tuple(kinds))
    if kinds:
        return kinds[0], None
    if has("seg", LIKELY) and (has("system") or any(c.text for c in table)):
        unknown = [c for c in free if c.numeric and not has_role(c) and not counts(c)]
        if not unknown or any(c.text for c in table):
            return "scores", None
        return None, Question(
            f"Are {some(unknown)} ratings, or metrics?", "kind", ("ratings", "scores")
        )
    known = ("scores", "ratings", "judgments", "edits", "errors")
    text = f"What kind of table is it? Its columns are {some(table)}."
    return None, Question(text, "kind", known)


def some(columns: Sequence[SeenColumn | str]) -> str:
    """The names of the first columns, and how many more there are."""
    names = [c if isinstance(c, str) else c.name for c in columns]
    more = f" and {len(names) - MOST_ANSWERS} more" if len(names) > MOST_ANSWERS else ""
    return ", ".join(names[:MOST_ANSWERS]) + more
