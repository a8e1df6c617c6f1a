"""What a table of somebody else's is: its kind, whose names its columns have, long or wide.

A guess is shown and never acted on in silence; what can be meant in two ways is a question, which
names the argument that answers it. Names are compared in :mod:`~assay.tables.names`; values decide
where a name can mean a text, a number or a name. What the user says of a column always wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from assay.errors import InputError, need_known
from assay.results import Result, signature
from assay.tables.layout import crossed, joined, rows_alone
from assay.tables.load import Columns, Raw, Source, load
from assay.tables.names import (
    AVERAGED,
    BESIDE,
    CONTROLS,
    COUNTS,
    DIMENSIONS,
    FILLERS,
    LOWER,
    MACHINES,
    MARKS,
    METRIC,
    PEOPLE,
    PERSONAL,
    RANKS,
    SIDES,
    STANDARDISED,
    TIES,
    YES_OR_NO,
    headed,
    known_as,
    listed,
    nearly,
    seconds_in,
    stem_of,
    without_language,
    words_of,
)
from assay.tables.numerals import seconds_of, understood
from assay.tables.schemas import SCHEMAS, find_schema
from assay.tables.tables import (
    ANSWER,
    MIN_OUTPUTS_COMPARED,
    NEARLY_NUMBERS,
    RATED,
    SAME_AS_RATINGS,
    is_like,
    numeric_share,
)

OWN, KNOWN, LIKELY = 3, 2, 1
"""How sure a column is what it seems: by Assay's name, by a known name, by a vague or near one."""
TEXTS = ("source", "target", "reference", "mt", "edited")
NUMBERS = ("score", "seconds", "words", "start", "end", "position", "probability", "cost")
LONG_TEXT = 30
"""Characters on average from which on a column holds texts and no names."""
GENERIC = frozenset(["id", "ids", "no", "nr", "num", "number", "n", "idx", "index", "key", "uuid"])
SCORED = frozenset(["score", "scores", "rating", "ratings", "points", "grade"])
"""Words in the name of any score, whatever it is of."""
LANGUAGE = frozenset(["lang", "language", "locale", "sprache", "langue", "idioma", "lingua"])
TIME = frozenset(["time", "duration", "zeit", "dauer", "temps", "duree", "tiempo", "tempo"])
MOST_ANSWERS, MOST_KINDS, MIN_NUMBERED = 8, 20, 4
JOIN = "+"
"""Between the columns of a wide table in ``columns``: ``rater=Anna+Ben``."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the table does not tell; ``argument`` takes one of the ``answers``."""

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
    """Whether less may be better, as of MQM or German marks; nothing is said of it yet."""

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
            parts.append(f"a column per {who}: {', '.join(self.melted)}")
        for title, names in (
            ("metrics", self.metrics), ("not metrics (counts)", self.counts),
            ("not metrics (ratings)", self.ratings),
            ("not sure, not used", self.unsure), ("ignored", self.ignored),
        ):  # fmt: skip
            parts += [f"{title}: {', '.join(names)}"] if names else []
        return "; ".join(parts)

    def scaled(self, name: str) -> float:
        """By what the values of a column are multiplied: a time is in seconds."""
        return seconds_in(self.columns[name]) if name == "seconds" else 1.0

    def need_answers(self) -> Guess:
        """The guess itself, or an error with what must be asked first."""
        if self.questions:
            raise InputError(f"{self.source}: {'; '.join(map(str, self.questions))}")
        return self


@dataclass(frozen=True)
class _Column:
    """A column as its name and values show it."""

    name: str
    words: list[str]
    stem: str
    values: pl.Series
    numeric: bool
    whole: bool
    text: bool
    distinct: int
    numbers: np.ndarray
    """The values of a numeric column, NaN where there is none."""

    @property
    def joined(self) -> str:
        return "".join(self.words)

    @property
    def said(self) -> list[str]:
        """The values, each once, as text."""
        return self.values.drop_nulls().unique().cast(pl.String).to_list()


def _numbers(values: pl.Series) -> np.ndarray:
    if values.dtype == pl.String:
        values = values.str.strip_chars().str.replace(",", ".", literal=True)
    return values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def _look(values: pl.Series) -> _Column:
    words = words_of(values.name)
    numeric = values.dtype != pl.Boolean and numeric_share(values)[0] >= NEARLY_NUMBERS
    numeric = numeric and values.drop_nulls().len() > 0
    numbers = _numbers(values) if numeric else np.array([])
    if not numeric and (read := understood(values)) is not None:
        numeric, numbers = True, _numbers(read[0])
    elif not numeric and (clock := seconds_of(values)) is not None:
        numeric, numbers = True, _numbers(clock)
    known = numbers[np.isfinite(numbers)]
    text = False
    if values.dtype == pl.String and not numeric:
        length, gaps = values.str.len_chars().mean(), values.str.count_matches(" ").mean()
        text = float(length or 0) > LONG_TEXT or float(gaps or 0) >= 3  # type: ignore[arg-type]
    whole = bool(numeric and (known == known.round()).all())
    return _Column(
        values.name, words, stem_of(words), values, numeric, whole, text, values.n_unique(), numbers
    )


def guess(
    source: Source | Raw | Sequence[Source],
    *,
    kind: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
) -> Guess:
    """Guess what a table is; several are looked at as one and must have the same columns.

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
    table = [_look(raw.frame[name]) for name in raw.frame.columns]
    long, wide = _said(columns or {}, raw.frame.columns)
    if kind is None:
        kind, question = _kind(table, long, wide)
        if kind is None:
            return Guess(raw.source, None, long, questions=(question,) if question else ())
    return _Reading(raw.source, kind, table, long, wide, raw.places).guess()


def _as_one(source: Source | Raw | Sequence[Source]) -> Raw:
    if isinstance(source, Raw):
        return rows_alone(source)
    if not isinstance(source, list | tuple):
        return rows_alone(load(source, text=lambda _: False))
    raws = [rows_alone(load(item, text=lambda _: False)) for item in source]
    if not raws:
        raise InputError("there is no table to look at; give one")
    for other in raws[1:]:
        if {*other.frame.columns} != {*raws[0].frame.columns}:
            raise InputError(
                f"{other.source} has other columns than {raws[0].source}; give tables of one kind"
            )
    return joined(raws)


def _said(
    columns: Mapping[str, str | Sequence[str]], present: Sequence[str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """What the user said: one column for a name, or several that stand side by side."""
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


def _fits(column: _Column, role: str) -> bool:
    """Whether the values of a column can be what its name says."""
    if role in NUMBERS:
        return column.numeric
    if role in TEXTS:
        return column.values.dtype == pl.String and not column.numeric
    written = role in ("doc", "seg") and column.values.dtype == pl.String  # 1,001 is a name, too
    if column.text or (column.numeric and not column.whole and not written):
        return False
    if role == "check":
        return {value.lower() for value in column.said} <= YES_OR_NO
    if role in ("left", "right", "winner", "category", "severity"):
        return role == "winner" or not column.numeric
    # Names repeat: what differs in every row is a number of rows, or a text.
    return role in ("doc", "seg") or column.distinct < len(column.values) or column.distinct < 10


def _strength(column: _Column, role: str) -> int:
    if column.name == role:
        return OWN
    if not _fits(column, role):
        return 0
    if role == "score":
        return _score_strength(column)
    if role in SIDES:
        return _side_strength(column, role)
    if role == "winner" and column.distinct > max(12, len(column.values) / 4):
        return 0
    if {column.joined, column.stem} & known_as(role):
        return KNOWN
    if role == "seconds" and seconds_in(column.name) != 1:
        return KNOWN if {*column.words[:-1]} & TIME or len(column.words[-1]) > 4 else 0
    if role in TEXTS and stem_of(words_of(without_language(column.name))) in known_as(role):
        return KNOWN
    if role in PERSONAL and _personal(column):
        return LIKELY
    if role == "seg" and column.words and {*column.words} <= GENERIC:
        return LIKELY
    plain = all(len(word) > 1 and not word.isdigit() for word in column.words)
    near = plain and role not in NUMBERS and headed(column.joined, role)
    return LIKELY if near or (plain and nearly(column.stem, role)) else 0


def _personal(column: _Column) -> bool:
    return bool({column.joined, column.stem} & listed(PEOPLE))


def _is_metric(column: _Column) -> bool:
    names = (column.name, column.joined, " ".join(column.words))
    trimmed = " ".join(word for word in column.words if word not in FILLERS)
    return column.numeric and any(METRIC.fullmatch(name) for name in (*names, trimmed))


def _score_strength(column: _Column) -> int:
    """How much a column of numbers is named like the score."""
    if _is_metric(column) or {*column.words} & STANDARDISED:
        return 0
    rest = [word for word in column.words if word not in FILLERS]
    said = {*column.words} & (SCORED - {"points", "grade"})
    if stem_of(rest) in known_as("score") or (said and not rest):
        return KNOWN
    if column.stem in known_as("score"):
        return KNOWN
    return LIKELY if stem_of(rest) in listed(DIMENSIONS) or (rest == [] and column.words) else 0


def _names_score(column: _Column) -> bool:
    """Whether a column without numbers is called like a score."""
    words = {column.stem, stem_of([word for word in column.words if word not in FILLERS])}
    return not column.numeric and bool(words & (known_as("score") | SCORED))


def _side_strength(column: _Column, role: str) -> int:
    """How much a column is named like one of two systems that were compared."""
    if column.stem in known_as(role):
        return KNOWN
    sides = [word for word in column.words if word in SIDES[role]]
    rest = stem_of([word for word in column.words if word not in SIDES[role]])
    if len(sides) == 1 and rest in known_as("system"):
        return KNOWN
    return LIKELY if len(sides) == 1 and not rest else 0


def _kind(
    table: Sequence[_Column], long: Mapping[str, str], wide: Mapping[str, Sequence[str]]
) -> tuple[str | None, Question | None]:
    """The kind of a table by its columns, or what to ask."""

    def has(role: str, least: int = KNOWN) -> bool:
        return role in long or role in wide or any(_strength(c, role) >= least for c in table)

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
    sides = _side_by_side(free)
    rated = rated or any(len(sides[into]) > 1 for into in ("rater", "system"))
    metrics = any(_is_metric(column) for column in table)
    scored = "score" in long or any(_strength(c, "score") >= KNOWN for c in table)
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
        unknown = [c for c in free if c.numeric and not _roles_of(c) and not _counts(c)]
        if not unknown or any(c.text for c in table):
            return "scores", None
        return None, Question(
            f"Are {_some(unknown)} ratings, or metrics?", "kind", ("ratings", "scores")
        )
    known = ("scores", "ratings", "judgments", "edits", "errors")
    text = f"What kind of table is it? Its columns are {_some(table)}."
    return None, Question(text, "kind", known)


def _roles_of(column: _Column) -> list[str]:
    names = dict.fromkeys(name for schema in SCHEMAS.values() for name in schema.names)
    return [role for role in names if _strength(column, role)]


def _counts(column: _Column) -> bool:
    """Whether a column of numbers counts or numbers something, by its name."""
    return column.whole and bool({*column.words} & COUNTS or "id" in column.words)


def _some(columns: Sequence[_Column | str]) -> str:
    names = [c if isinstance(c, str) else c.name for c in columns]
    more = f" and {len(names) - MOST_ANSWERS} more" if len(names) > MOST_ANSWERS else ""
    return ", ".join(names[:MOST_ANSWERS]) + more


def _side_by_side(free: Sequence[_Column]) -> dict[str, dict[str, str]]:
    """Columns of numbers that may stand side by side, by what their names are: column to label."""
    found: dict[str, dict[str, str]] = {"rater": {}, "system": {}, "": {}}
    for column in free:
        averaged = {*column.words} & (AVERAGED | STANDARDISED)
        if not column.numeric or _is_metric(column) or averaged or column.name in ROLE_NAMES:
            continue
        into, label = _labelled(column.name, column.words)
        ranked = label != column.name and bool({*column.words} & RANKS)
        if into or ranked or not (_counts(column) or _roles_of(column) or {*column.words} & TIME):
            found[into][column.name] = label
    return found


ROLE_NAMES = frozenset(name for schema in SCHEMAS.values() for name in schema.names)


def _labelled(name: str, words: Sequence[str]) -> tuple[str, str]:
    """Whether a column is called by a rater or a system, and that one's name."""
    scores = known_as("score") | FILLERS | RANKS
    kept = [word for word in words if word not in scores or word.isdigit()]
    said = {word for word in scores if not word.isdigit()}
    cut = [part for part in name.replace("_", " ").split() if {*words_of(part)} - said]
    label = " ".join(cut).strip(" -:/()") or name
    letters = "".join(word for word in kept if not word.isdigit())
    stem = stem_of([word for word in kept if not word.isdigit() and len(word) > 1])
    numbered = any(word.isdigit() or len(word) == 1 for word in kept)
    person = stem in known_as("rater") or stem in listed(PEOPLE)
    if kept and ((person and (numbered or len(kept) > 1)) or (letters in ("r", "a") and numbered)):
        return "rater", label
    people = [word for word in kept if word in known_as("rater")]
    if people and len(kept) > 1:
        return "rater", label
    system = stem in known_as("system") and numbered
    if system or MACHINES.fullmatch(" ".join(kept)) or MACHINES.fullmatch("".join(kept)):
        return "system", label
    return "", label


@dataclass
class _Reading:
    """A table read as one kind: which columns are which, and what must be asked."""

    source: str
    kind: str
    table: Sequence[_Column]
    long: dict[str, str]
    wide: dict[str, list[str]]
    places: Sequence[str] = ()
    """Columns that say in which file or sheet a row was found."""

    def __post_init__(self) -> None:
        self.asked: list[Question] = []
        self.melted: dict[str, str] = {}
        self.into: str | None = None
        self.value: str | None = None
        self.found: dict[str, str] = dict(self.long)
        self.schema = SCHEMAS[self.kind]
        spread = [part for names in self.wide for part in names.split(JOIN)]
        for name in (*self.long, *spread):
            need_known("columns", name, self.schema.names, f"is not a column of {self.kind}")

    def guess(self) -> Guess:
        """Everything that can be said of the table."""
        self._melt_as_said()
        for least in (OWN, KNOWN, LIKELY):
            for role in self.schema.names:
                if role != "score" and role not in self.found and role not in self.spread:
                    self._find(role, least)
        if self.kind == "ratings" and "score" not in self.found and self.value is None:
            self._find_score()
        if self.kind == "scores" and "system" not in self.found and self.into is None:
            self._melt_texts()
        for place in self.places:
            self._find_by_place(self.column(place))
        self._need_required()
        self._need_documents()
        self._need_one_language()
        self._need_answers_alone()
        if self.kind == "judgments" and "winner" in self.found:
            self._need_winners()
        return self._wrapped()

    @property
    def spread(self) -> tuple[str, ...]:
        """What is spread over several columns: raters, systems, or both."""
        return tuple(self.into.split(JOIN)) if self.into else ()

    @property
    def free(self) -> list[_Column]:
        """The columns of which nothing is known yet."""
        taken = {*self.found.values(), *self.melted, *self.places}
        return [column for column in self.table if column.name not in taken]

    def column(self, name: str) -> _Column:
        """A column by its own name."""
        return next(column for column in self.table if column.name == name)

    def ask(self, text: str, *answers: str) -> None:
        """One more question about columns."""
        if self.asked and not self.asked[-1].answers and not answers:
            return
        self.asked.append(Question(text, "columns", answers[:MOST_ANSWERS]))

    def _melt_as_said(self) -> None:
        for name, columns in self.wide.items():
            if not {*name.split(JOIN)} <= {"rater", "system", "seg"} or len(self.wide) > 1:
                raise InputError(
                    f"`columns` ({name}={JOIN.join(columns)}): only rater, system or seg may be"
                    " spread over several columns, and one of them; name one column"
                )
            if JOIN in name:
                self._melt_crossed(name, columns)
                continue
            texts = not self.column(columns[0]).numeric
            self._melt(name, "target" if texts else "score", columns)

    def _melt(self, into: str, value: str, columns: Sequence[str]) -> None:
        names = {name: _labelled(name, words_of(name))[1] for name in columns}
        if len({*names.values()}) < len(names) or into == "seg":
            names = {name: name for name in columns}
        self.into, self.value, self.melted = into, value, names

    def _melt_crossed(self, into: str, columns: Sequence[str]) -> None:
        """Columns that are each called by a system and a rater."""
        split = crossed([(name, _labelled(name, words_of(name))[1]) for name in columns])
        if split is None:
            raise InputError(
                f"`columns` ({into}={JOIN.join(columns)}): these names are not every one of some"
                " systems with every one of some raters; name a column per system, or per rater"
            )
        self.into, self.value = into, "score"
        self.melted = {name: JOIN.join(both) for name, both in split.items()}

    def _find_by_place(self, place: _Column) -> None:
        """The systems or raters that only the names of files or sheets tell."""
        open_ = [r for r in ("system", "rater", "editor") if r in self.schema.names
                 and r not in self.found and r not in self.spread]  # fmt: skip
        asked = " ".join(answer for q in self.asked for answer in q.answers)
        open_ = [role for role in open_ if f"{role}=" not in asked]
        if place.name in self.found.values() or not open_:
            return
        names = place.said
        machines = sum(bool(MACHINES.fullmatch(name)) for name in names) > len(names) / 2
        if "system" in open_ and (len(open_) == 1 or machines):
            self.found["system"] = place.name
        elif "system" not in open_ and (open_[0] in self.schema.required or self._stand_twice()):
            self.found[open_[0]] = place.name
        elif "system" in open_:
            what = f"Is each {place.name} ({_some(sorted(names))}) a system or a {open_[1]}?"
            self.ask(what, *(f"{role}={place.name}" for role in open_))

    def _stand_twice(self) -> bool:
        """Whether an output stands in several rows."""
        rows = self._key_rows()
        return rows.width > 0 and rows.n_unique() < rows.height

    def _key_rows(self) -> pl.DataFrame:
        key = [self.found[name] for name in ANSWER if name in self.found]
        return pl.DataFrame([self.column(name).values for name in key])

    def _find(self, role: str, least: int) -> None:
        """The one column that is this, if there is one; of several the user must say which."""
        able = [c for c in self.free if _strength(c, role) >= least and self._plausible(c, role)]
        if len(able) > 1 and not self._same(able):
            asked = any(f"`{role}`" in question.text for question in self.asked)
            if not asked and role in (*self.schema.required, "rater", "doc"):
                self.ask(f"Which is `{role}`: {_some(able)}?", *(f"{role}={c.name}" for c in able))
            return
        if able:
            self.found[role] = able[0].name

    def _same(self, able: Sequence[_Column]) -> bool:
        """Whether columns say the same in other words, as the number and name of a document do."""
        pairs = pl.DataFrame([c.values.cast(pl.String).alias(str(k)) for k, c in enumerate(able)])
        return pairs.n_unique() == max(c.distinct for c in able) == min(c.distinct for c in able)

    def _plausible(self, column: _Column, role: str) -> bool:
        """Whether a vague name can be this, given what is known of the other columns."""
        if any(f"={column.name}" in answer for q in self.asked for answer in q.answers):
            return False
        if _strength(column, role) > LIKELY:
            return True
        if role == "seg" and "system" in self.found:
            systems = self.column(self.found["system"]).distinct
            # A number that no two rows share numbers rows, not the segments of several systems.
            return column.distinct < len(column.values) or systems == 1
        if role in PERSONAL and _personal(column):
            return self._person(column, role)
        return True

    def _person(self, column: _Column, role: str) -> bool:
        """Whether the column of people, or machines, is this; asks where it may be both."""
        open_ = [r for r in PERSONAL if r in self.schema.names and r not in self.found
                 and r not in self.spread]  # fmt: skip
        machines = [bool(MACHINES.fullmatch(str(v))) for v in column.values.unique()]
        if sum(machines) > len(machines) / 2 or role == "system":
            return role == "system" and any(machines)
        if len(open_) > 1:
            self.ask(
                f"Does {column.name} name the {' or the '.join(open_)}?",
                *(f"{r}={column.name}" for r in open_),
            )
            return False
        return True

    def _find_score(self) -> None:
        """The column of the scores, or the columns of several raters or systems."""
        able = [c for c in self.free if _strength(c, "score") >= KNOWN]
        own = [c for c in able if c.name == "score"]
        plain = own or [c for c in able if not {*c.words} & AVERAGED]
        sides = _side_by_side(self.free)
        if not plain and not {"system", "rater"} & {*self.found} and self._find_crossed():
            return
        if not plain and "system" in self.found and self._find_numbered():
            return
        into = self._spread_over(sides)
        if into and own:
            into = None
        if into and plain:
            self.ask(
                f"Is the score {_some(plain)}, or in {_some([*sides[into]])}?",
                *(f"score={c.name}" for c in plain), f"{into}={JOIN.join(sides[into])}",
            )  # fmt: skip
        elif into:
            self._melt(into, "score", list(sides[into]))
            self._need_all(into, sides[""])
        else:
            self._one_score(plain or able, sides)

    def _find_numbered(self) -> bool:
        """Whether every segment has a column: S1, S2, S3 and so on."""
        able = [c for c in self.free if c.numeric and c.words and c.words[-1].isdigit()]
        stems = {"".join(c.words[:-1]) for c in able}
        named = stems and stems <= known_as("seg") | {"s", "q"}
        if "seg" in self.found or not named or len(able) < MIN_NUMBERED:
            return False
        self._melt("seg", "score", [c.name for c in able])
        return True

    def _find_crossed(self) -> bool:
        """Whether the columns of numbers are every system with every rater; asks which is which."""
        able = [c for c in self.free if c.numeric and not (_is_metric(c) or _counts(c))]
        split = crossed([(c.name, _labelled(c.name, c.words)[1]) for c in able])
        if split is None:
            return False
        parts = [sorted({both[k] for both in split.values()}) for k in range(2)]
        if any(stem_of(words_of(name)) in listed(DIMENSIONS) for part in parts for name in part):
            return False
        machines = [sum(bool(MACHINES.fullmatch(n)) for n in part) / len(part) for part in parts]
        people = [
            sum(_labelled(n, words_of(n))[0] == "rater" for n in part) / len(part) for part in parts
        ]
        like = [m - p for m, p in zip(machines, people, strict=True)]
        ways = ("system+rater", "rater+system")
        if abs(like[0] - like[1]) > 0.5:
            self._melt_crossed(ways[like[0] < like[1]], list(split))
        else:
            first, second = (_some(part) for part in parts)
            text = f"Are {first} the systems and {second} the raters, or the other way round?"
            self.ask(text, *(f"{way}={JOIN.join(split)}" for way in ways))
        return True

    def _spread_over(self, sides: Mapping[str, Mapping[str, str]]) -> str | None:
        for into, other in (("rater", "system"), ("system", "rater")):
            if len(sides[into]) > 1 and into not in self.found and not sides[other]:
                return into
        return None

    def _need_all(self, into: str, others: Mapping[str, str]) -> None:
        """Ask about columns of the same scale that are called otherwise."""
        known = np.concatenate([self.column(name).numbers for name in self.melted])
        high = float(np.nanmax(known))
        tops = {c.name: np.nanmax(c.numbers) for c in self.table if c.name in others and c.whole}
        like = [name for name, top in tops.items() if 0.5 * high < top < 2 * high]
        if like:
            here = list(self.melted)
            self.ask(
                f"Is {_some(like)} one more {into}?", f"{into}={JOIN.join([*here, *like])}",
                f"{into}={JOIN.join(here)}",
            )  # fmt: skip

    def _one_score(
        self, able: Sequence[_Column], sides: Mapping[str, Mapping[str, str]]
    ) -> None:  # fmt: skip
        vague = [c for c in self.free if _strength(c, "score") == LIKELY]
        unknown = [name for group in sides.values() for name in group]
        only = [self.column(name) for name in unknown] if "rater" in self.found else []
        one = able or vague or only
        if len(one) == 1 and (able or not vague or not unknown):
            if others := self._other_scores(one[0]):
                names = [one[0].name, *(c.name for c in others)]
                self.ask(f"Which is `score`: {_some(names)}?", *(f"score={n}" for n in names))
            else:
                self.found["score"] = one[0].name
            return
        likely = [*vague, *(c for c in self.free if c.numeric and {*c.words} & STANDARDISED)]
        names = [c.name for c in able] or [*(c.name for c in likely), *unknown]
        if not names:
            return  # it is missing, which is asked about with all that is
        answers = [f"score={name}" for name in names]
        open_ = [r for r in ("rater", "system") if r not in self.found]
        if not able and not likely and len(unknown) > 1:
            answers = [f"{r}={JOIN.join(unknown)}" for r in open_] + answers
            who = " or ".join(f"{r}s" for r in open_) or "scores"
            self.ask(f"Are {_some(unknown)} {who}, or is one of them the score?", *answers)
        else:
            self.ask(f"Which is `score`: {_some(names)}?", *answers)

    def _other_scores(self, score: _Column) -> list[_Column]:
        """Columns that may as well be the score, where its name has a qualifier, as theirs have."""
        if not [word for word in score.words if word not in SCORED | {"esa", "da", "sqm", "mqm"}]:
            return []
        return [
            c for c in self.free
            if c is not score and c.numeric and {*c.words} & SCORED and not _is_metric(c)
            and not {*c.words} & (STANDARDISED | BESIDE) and not _counts(c)
        ]  # fmt: skip

    def _melt_texts(self) -> None:
        """Outputs of several systems side by side."""
        able = {c.name: _labelled(c.name, c.words) for c in self.free if c.text}
        for name, (into, _) in list(able.items()):
            rest = [w for w in words_of(name) if w not in known_as("target") or w == "mt"]
            if not into and rest and len(rest) < len(words_of(name)):
                able[name] = ("system" if MACHINES.fullmatch(" ".join(rest)) else "", name)
        sure = [name for name, (into, _) in able.items() if into == "system"]
        if len(sure) > 1 and len(sure) == len(able):
            self._melt("system", "target", sure)
            self.found.pop("target", None)
        elif len(able) > 1:
            self.ask(f"Are {_some([*able])} the outputs of systems?", f"system={JOIN.join(able)}")

    def _need_required(self) -> None:
        have = {*self.found, *self.spread, self.value}
        asked = " ".join(answer for q in self.asked for answer in q.answers)
        missing = [r for r in self.schema.required if r not in have and f"{r}=" not in asked]
        for place, role in enumerate(missing):
            worded = [c for c in self.free if role == "score" and _names_score(c) and not c.text]
            if worded:
                text = (
                    f"{worded[0].name} has words, no numbers ({_some(sorted(worded[0].said))}):"
                    " write a number for each."
                )
                self.asked.append(Question(text, "columns", ("score=YOURS",)))
                continue
            # Texts are called for where texts are meant, and names where names are.
            able = [c for c in self.free if _fits(c, role) and c.text == (role in TEXTS)]
            if role == "seg" and not able:
                able = [c for c in self.free if c.text]
            listed_ = f"; the columns are {_some(self.table)}" if place == 0 else ""
            self.asked.append(
                Question(
                    f"No column is known to be `{role}`{listed_}.",
                    "columns",
                    tuple(f"{role}={c.name}" for c in able[:MOST_ANSWERS]) or (f"{role}=YOURS",),
                )
            )

    def _need_documents(self) -> None:
        """Ask for the document where outputs stand twice and some column tells them apart."""
        if self.kind not in ("scores", "ratings") or "doc" in self.found or self.asked:
            return
        rows = self._key_rows()
        if rows.n_unique() == rows.height or any(column.null_count() for column in rows):
            return
        tasks = [self.column(self.found["task"])] if "task" in self.found else []
        able = [
            c for c in (*self.free, *tasks)
            if not c.text and (c.whole or not c.numeric) and c.distinct < rows.height
            and rows.with_columns(c.values.alias("_doc")).n_unique() == rows.height
        ]  # fmt: skip
        if able:
            self.ask(
                f"Outputs stand in several rows: is {_some(able)} the document?",
                *(f"doc={c.name}" for c in able),
            )

    def _need_one_language(self) -> None:
        several = [c for c in self.free if {*c.words} & LANGUAGE and c.distinct > 1 and not c.text]
        if several and "lp" not in self.found and "lp" in self.schema.names:
            self.ask(
                f"{several[0].name} has {several[0].distinct} languages: is it the language pair?",
                *(f"lp={c.name}" for c in several),
            )

    def _need_answers_alone(self) -> None:
        """Ask which rows count where some are attention checks, or of another protocol."""
        for column in self.free:
            if column.text or column.numeric or not 1 < column.distinct <= MOST_KINDS:
                continue
            odd = [value for value in column.said if "".join(words_of(value)) in CONTROLS]
            if odd or "protocol" in column.words:
                what = f"is {odd[0]} in it an attention check" if odd else "which one is meant"
                common = column.values.cast(pl.String).mode().sort()[0]
                text = f"{column.name} has {_some(sorted(column.said))}: {what}?"
                self.asked.append(Question(text, "only", (f"{column.name}={common}",)))

    def _need_winners(self) -> None:
        said = self.column(self.found["winner"]).values.cast(pl.String).drop_nulls().unique()
        names = {
            name for side in ("left", "right") if side in self.found
            for name in self.column(self.found[side]).values.cast(pl.String).drop_nulls().unique()
        }  # fmt: skip
        odd = [v for v in said if side_of(v, self.found) is None and v not in names]
        odd = [v for v in odd if v not in ("<", ">", "1", "2", "0")]
        if odd or {"0", "1"} == {*said} or {"-1"} & {*said}:
            self.asked.append(
                Question(
                    f"What do {', '.join(sorted(odd or said)[:MOST_ANSWERS])} in"
                    f" {self.found['winner']} mean? Write left, right or tie there, or the system.",
                    "columns",
                    ("winner=YOURS",),
                )
            )

    def _wrapped(self) -> Guess:
        metrics, counts, ratings, unsure, ignored = [], [], [], [], []
        for column in self.free:
            if not column.numeric:
                ignored.append(column.name)
            elif self._like_the_score(column):
                ratings.append(column.name)
            elif _is_metric(column):
                metrics.append(column.name)
            elif _counts(column) and not {*column.words} & TIME:
                counts.append(column.name)
            else:
                unsure.append(column.name)
        own = self.kind == "scores" and all(self.found.get(n) == n for n in self.schema.required)
        if own and not metrics:  # by its own names, where no other column is known as a metric
            metrics, unsure = unsure, []
        order = [name for name in self.schema.names if name in self.found]
        return Guess(
            self.source, self.kind, {name: self.found[name] for name in order}, self.melted,
            self.into, self.value, tuple(metrics), tuple(counts), tuple(ratings), tuple(unsure),
            tuple(ignored), tuple(self.asked), self._lower_likely(),
        )  # fmt: skip

    def _lower_likely(self) -> bool:
        """Whether less may be better by the name of the score, or by marks from 1 to 6."""
        own = [self.found[n] for n in ("score",) if n in self.found]
        scores = [self.column(name) for name in (*own, *(self.melted if not own else ()))]
        scores = [column for column in scores if column.numeric]
        if any({*column.words} & LOWER for column in scores):
            return True
        marks = [column for column in scores if {*column.words} & MARKS]
        numbers = np.concatenate([column.numbers for column in marks] or [np.array([])])
        known = numbers[np.isfinite(numbers)]
        return bool(len(known) and known.min() >= 1 and known.max() <= 6)

    def _like_the_score(self, column: _Column) -> bool:
        """Whether a column of numbers is another rating: by its name, or almost equal."""
        if RATED.fullmatch(column.name) or {*column.words} & STANDARDISED:
            return True
        if "score" not in self.found:
            return _score_strength(column) >= KNOWN
        score = self.column(self.found["score"])
        if is_like(column.name, score.name) and not _is_metric(column):
            return True
        x, y = score.numbers, column.numbers
        known = np.isfinite(x) & np.isfinite(y)
        if known.sum() < MIN_OUTPUTS_COMPARED or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
            return False
        return abs(float(np.corrcoef(x[known], y[known])[0, 1])) > SAME_AS_RATINGS


def side_of(value: str, columns: Columns) -> str | None:
    """Which side a word in ``winner`` names: by the side, or by the name of its column.

    >>> side_of("model_a", {"left": "model_a"}), side_of("B", {}), side_of("x", {})
    ('left', 'right', None)
    """
    words = words_of(value)
    if value.strip() == "=" or "".join(words) in listed(TIES):
        return "tie"
    for side in ("left", "right"):
        rest = [word for word in words if word not in SIDES[side]]
        named = len(rest) < len(words) and stem_of(rest) in {*known_as("system"), "", "translation"}
        if value == columns.get(side) or (named and not value.strip().isdigit()):
            return side
    return None
