"""What another person's table is: its kind, its columns, long or wide; and the table so read.

A guess is shown and never acted on in silence; what is ambiguous becomes a question, which names
the argument that answers it. Names are compared in :mod:`~assay.tables.names`; values decide where
a name can mean a text, a number or a name. What the user says of a column always wins. How sure a
role is: :data:`OWN`, by Assay's name; :data:`KNOWN`, by a known name; :data:`LIKELY`, by a vague or
near one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from assay.errors import InputError, need_known
from assay.results import Note, Result, signature
from assay.tables.layout import filled_down, joined, rows_alone
from assay.tables.load import MISSING, Findings, Raw, Source, load, to_number, to_text
from assay.tables.names import (
    AVERAGED,
    COUNTS,
    DIMENSIONS,
    FILLERS,
    MACHINES,
    METRIC,
    PEOPLE,
    PERSONAL,
    RANKS,
    SIDES,
    STANDARDISED,
    YES_OR_NO,
    headed,
    known_as,
    listed,
    nearly,
    seconds_in,
    side_of,
    stem_of,
    without_language,
    words_of,
)
from assay.tables.numerals import seconds_of, understood
from assay.tables.schemas import RESERVED, SCHEMAS, find_schema

NEARLY_NUMBERS, SOME_NUMBERS = 0.95, 0.3
"""A text column with the first share of numbers is a metric with faults; from the second on, the
user learns that it is not used as one."""

OWN, KNOWN, LIKELY = 3, 2, 1
"""How sure a column is what it seems: by Assay's name, by a known name, by a vague or near one."""
TEXTS = ("source", "target", "reference", "mt", "edited")
NUMBERS = ("score", "seconds", "words", "start", "end", "position", "probability", "cost")
LONG_TEXT = 30
"""Characters on average from which on a column holds texts and no names."""
GENERIC = frozenset(["id", "ids", "no", "nr", "num", "number", "n", "idx", "index", "key", "uuid"])
TIME = frozenset(["time", "duration", "zeit", "dauer", "temps", "duree", "tiempo", "tempo"])
SCORED = frozenset(["score", "scores", "rating", "ratings", "points", "grade"])
"""Words in the name of any score, whatever it is of."""


@dataclass(frozen=True)
class SeenColumn:
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
    """The values of a numeric column, NaN for an empty cell."""

    @property
    def joined(self) -> str:
        """The words of the name as one."""
        return "".join(self.words)

    @property
    def unique_texts(self) -> list[str]:
        """The values, each once, as text."""
        return self.values.drop_nulls().unique().cast(pl.String).to_list()


def _numbers(values: pl.Series) -> np.ndarray:
    if values.dtype == pl.String:
        values = values.str.strip_chars().str.replace(",", ".", literal=True)
    return values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def look_at(values: pl.Series) -> SeenColumn:
    """Describe a column without looking at the others."""
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
    return SeenColumn(
        values.name, words, stem_of(words), values, numeric, whole, text, values.n_unique(), numbers
    )


def numeric_share(values: pl.Series) -> tuple[float, str]:
    """The share of values that are numbers (decimal commas count), and a value that is not."""
    if values.dtype.is_numeric():
        return 1.0, ""
    if values.dtype != pl.String or values.null_count() == len(values):
        return 0.0, ""
    values = values.drop_nulls().alias("word")
    for some in (values[:200], values)[len(values) <= 200 :]:  # most text ends at a glance
        word = pl.col("word").str.strip_chars()
        words = some.to_frame().lazy().select(word).filter(~word.str.to_lowercase().is_in(MISSING))
        number = word.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        found = words.select(
            number.is_not_null().mean().fill_null(0.0).alias("share"),
            word.filter(number.is_null()).first(),
        )
        share, example = found.collect().row(0)
        if share < SOME_NUMBERS:
            break
    return share, str(example)


def is_like(name: str, score: str) -> bool:
    """Whether a column is named like the score: another rater's, or the same in another form.

    >>> is_like("mqm_r2", "mqm_r1"), is_like("mqm", "mqm_r1"), is_like("mqmetric", "mqm")
    (True, True, False)
    """
    stem = re.sub(r"[ _.-]*[a-z]?\d+$", "", score.lower()) or score.lower()
    return re.fullmatch(rf"{re.escape(stem)}(?:[ _.-].*|\d*)", name.lower()) is not None


def fits(column: SeenColumn, role: str) -> bool:
    """Whether the values of a column allow this role."""
    if role in NUMBERS:
        return column.numeric
    if role in TEXTS:
        return column.values.dtype == pl.String and not column.numeric
    written = role in ("doc", "seg") and column.values.dtype == pl.String  # 1,001 is a name, too
    if column.text or (column.numeric and not column.whole and not written):
        return False
    if role == "check":
        return {value.lower() for value in column.unique_texts} <= YES_OR_NO
    if role in ("left", "right", "winner", "category", "severity"):
        return role == "winner" or not column.numeric
    # Names repeat: what differs in every row is a number of rows, or a text.
    return role in ("doc", "seg") or column.distinct < len(column.values) or column.distinct < 10


def strength(column: SeenColumn, role: str) -> int:
    """How strongly a column's name suggests this role; 0 if its values rule it out."""
    if column.name == role:
        return OWN
    if not fits(column, role):
        return 0
    if role == "score":
        return score_strength(column)
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
    if role in PERSONAL and personal(column):
        return LIKELY
    if role == "seg" and column.words and {*column.words} <= GENERIC:
        return LIKELY
    plain = all(len(word) > 1 and not word.isdigit() for word in column.words)
    near = plain and role not in NUMBERS and headed(column.joined, role)
    return LIKELY if near or (plain and nearly(column.stem, role)) else 0


def personal(column: SeenColumn) -> bool:
    """Whether a column has names of people, or of machines that do their work."""
    return bool({column.joined, column.stem} & listed(PEOPLE))


def is_metric(column: SeenColumn) -> bool:
    """Whether a column of numbers has the name of an automatic metric."""
    names = (column.name, column.joined, " ".join(column.words))
    trimmed = " ".join(word for word in column.words if word not in FILLERS)
    return column.numeric and any(METRIC.fullmatch(name) for name in (*names, trimmed))


def score_strength(column: SeenColumn) -> int:
    """How strongly the name of a column of numbers suggests the score."""
    if is_metric(column) or {*column.words} & STANDARDISED:
        return 0
    rest = [word for word in column.words if word not in FILLERS]
    said = {*column.words} & (SCORED - {"points", "grade"})
    if stem_of(rest) in known_as("score") or (said and not rest):
        return KNOWN
    if column.stem in known_as("score"):
        return KNOWN
    return LIKELY if stem_of(rest) in listed(DIMENSIONS) or (rest == [] and column.words) else 0


def names_score(column: SeenColumn) -> bool:
    """Whether a column without numbers is named like a score."""
    words = {column.stem, stem_of([word for word in column.words if word not in FILLERS])}
    return not column.numeric and bool(words & (known_as("score") | SCORED))


def _side_strength(column: SeenColumn, role: str) -> int:
    """How strongly a name suggests one of the two systems compared."""
    if column.stem in known_as(role):
        return KNOWN
    sides = [word for word in column.words if word in SIDES[role]]
    rest = stem_of([word for word in column.words if word not in SIDES[role]])
    if len(sides) == 1 and rest in known_as("system"):
        return KNOWN
    return LIKELY if len(sides) == 1 and not rest else 0


def has_role(column: SeenColumn) -> bool:
    """Whether this may be one of Assay's columns."""
    return any(strength(column, role) for role in RESERVED)


def counts(column: SeenColumn) -> bool:
    """Whether a column holds counts or numbers of something, by its name."""
    return column.whole and bool({*column.words} & COUNTS or "id" in column.words)


def side_by_side(free: Sequence[SeenColumn]) -> dict[str, dict[str, str]]:
    """Columns of numbers that may stand side by side, with their labels, by what they name."""
    found: dict[str, dict[str, str]] = {"rater": {}, "system": {}, "": {}}
    for column in free:
        averaged = {*column.words} & (AVERAGED | STANDARDISED)
        if not column.numeric or is_metric(column) or averaged or column.name in RESERVED:
            continue
        into, label = labelled(column.name, column.words)
        ranked = label != column.name and bool({*column.words} & RANKS)
        if into or ranked or not (counts(column) or has_role(column) or {*column.words} & TIME):
            found[into][column.name] = label
    return found


def labelled(name: str, words: Sequence[str]) -> tuple[str, str]:
    """Whether a column is named after a rater or a system, and the bare name."""
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


def tidy(source: Source, found: Guess) -> pl.DataFrame:
    """A table in Assay's layout, as it was guessed: Assay's names, one answer per row.

    >>> import assay
    >>> wide = pl.DataFrame({"Segment": [1, 2], "Engine": ["A", "A"], "Rater 1": [70, 80],
    ...                      "Rater 2": [75, None]})
    >>> tidy(wide, assay.guess(wide)).rows()
    [('1', 'A', 'Rater 1', 70), ('1', 'A', 'Rater 2', 75), ('2', 'A', 'Rater 1', 80)]
    """
    return tidied(source, found)[0]


def tidied(source: Source, found: Guess) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    """The table that :func:`tidy` gives, and its notes."""
    raw = as_guessed(source, found)
    names = {user: name for name, user in found.columns.items()}
    taken = [name for name in found.columns if name not in names]
    return raw.frame.drop(taken, strict=False).rename(names), raw.notes


def as_guessed(source: Source, found: Guess, file: str | None = None) -> Raw:
    """A table with one answer per row; its other columns keep their names.

    ``file`` is what its name says where it is one of several: a rater, or a system.
    """
    found.need_answers()
    if isinstance(source, pl.DataFrame):
        texts = [found.columns[name] for name in ("doc", "seg") if name in found.columns]
        source = source.with_columns(to_text(source[name]) for name in texts)
    raw = load(source, text=lambda name: name not in (*found.melted, *found.metrics))
    if file is not None and "file" in found.columns.values() and "file" not in raw.frame.columns:
        raw = replace(raw, frame=raw.frame.with_columns(file=pl.lit(file)))
    return rows_as_guessed(raw, found)


def rows_as_guessed(raw: Raw, found: Guess) -> Raw:
    """The same for a table that is already loaded."""
    own = found.columns
    key = [own[n] for n in ("lp", "system", "doc", "seg", "rater", "editor") if n in own]
    names = [*key, *(own[n] for n in ("source", "reference") if n in own)]
    raw = _with_numbers(filled_down(rows_alone(raw), names, key), found)
    if found.melted:
        return _long(raw, found)
    return _with_sides(raw, found) if found.table == "judgments" else raw


def _with_numbers(raw: Raw, found: Guess) -> Raw:
    """Turn numbers written for people into plain numbers, and times into seconds."""
    own, changed, said = found.columns, list[pl.Series](), dict[str, list[str]]()
    texts = {own[n] for n in ("doc", "seg") if n in own}
    wanted = [own[n] for n in ("score", "words") if n in own]
    wanted += [*found.metrics, *(found.melted if found.value == "score" else ())]
    for name in wanted:
        if name not in texts and (read := understood(raw.frame[name])) is not None:
            changed.append(read[0].alias(name))
            said.setdefault(read[1], []).append(name)
    if "seconds" in own:
        times, how = _in_seconds(raw, raw.frame[own["seconds"]], found.scaled("seconds"))
        changed.append(times)
        if how:
            said.setdefault(how, []).append(times.name)
    if not changed:
        return raw
    read_as = "; ".join(f"{', '.join(names)} (read {how})" for how, names in said.items())
    notes = (Note("numbers-read", f"numbers written for people: {read_as}"),) if said else ()
    return replace(raw, frame=raw.frame.with_columns(changed), notes=(*raw.notes, *notes))


def _in_seconds(raw: Raw, times: pl.Series, scale: float) -> tuple[pl.Series, str]:
    """Times in seconds, by the unit in the column's name, and how they were written."""
    if (clock := seconds_of(times)) is not None:
        return clock.alias(times.name), "hours, minutes and seconds"
    if (read := understood(times)) is not None:
        return (read[0] * scale).alias(times.name), read[1]
    if scale == 1:
        return times, ""
    findings = Findings(raw)
    number = to_number(times, findings, times.name)
    findings.stop()
    return (number * scale).alias(times.name), ""


def _long(raw: Raw, found: Guess) -> Raw:
    """Turn every column of a rater or system into rows; an empty cell is no answer."""
    into, value = str(found.into), str(found.value)
    spread = into.split(JOIN)
    kept = [n for n in raw.frame.columns if n not in found.melted and n not in (*spread, value)]
    kinds = [raw.frame.schema[name] for name in found.melted]
    whole = all(kind.is_integer() for kind in kinds)
    number = pl.Int64 if whole else pl.Float64
    kind = number if all(kind.is_numeric() for kind in kinds) else pl.String
    numbered = raw.frame.with_row_index("_row")

    def labels(label: str) -> list[str]:
        return label.split(JOIN) if len(spread) > 1 else [label]

    parts = [
        numbered.select(
            "_row", *kept, *(pl.lit(who).alias(what) for what, who in
                             zip(spread, labels(label), strict=True)),
            pl.col(name).cast(kind).alias(value),
        )
        for name, label in found.melted.items()
    ]  # fmt: skip
    long = pl.concat(parts).sort("_row", maintain_order=True)
    empty = pl.col(value).is_null()
    if kind == pl.String:
        empty |= pl.col(value).str.strip_chars() == ""
    long = long.filter(~empty)
    return replace(raw, frame=long.drop("_row"), lines=raw.lines_of(long["_row"]))


def _with_sides(raw: Raw, found: Guess) -> Raw:
    """Judgments whose winner is a side, even if the file names a column or a system."""
    left, right, winner = (found.columns[name] for name in ("left", "right", "winner"))
    said = {*to_text(raw.frame[winner]).drop_nulls().str.strip_chars()}
    if any(
        said <= words.keys() for rule in SCHEMAS["judgments"].columns for words in rule.spellings
    ):
        return raw  # the reader knows these

    def side(a: str, b: str, said: str | None) -> str | None:
        if said is None or said in (a, b):
            return said if said is None else "left" if said == a else "right"
        return side_of(said, found.columns) or said

    rows = raw.frame.select(pl.col(left, right, winner).cast(pl.String)).rows()
    read: dict[str, set[str]] = {}
    for _, _, word in rows:
        if word is not None and (known := side_of(word, found.columns)):
            read.setdefault(known, set()).add(word)
    steps = [f"{', '.join(sorted(words))} as {to}" for to, words in read.items() if len(words) > 1]
    text = f"{winner}: {'; '.join(steps)}; by how much is not used"
    notes = (Note("values-read", text),) if steps else ()
    return replace(
        raw, frame=raw.frame.with_columns(pl.Series(winner, [side(*row) for row in rows])),
        notes=(*raw.notes, *notes),
    )  # fmt: skip
