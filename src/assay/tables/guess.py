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
from assay.tables.columns import (
    KNOWN,
    LIKELY,
    OWN,
    SCORED,
    TEXTS,
    TIME,
    SeenColumn,
    _roles_of,
    counts,
    fits,
    is_metric,
    labelled,
    look_at,
    names_score,
    personal,
    score_strength,
    side_by_side,
    strength,
)
from assay.tables.layout import crossed, joined, rows_alone
from assay.tables.load import Columns, Raw, Source, load
from assay.tables.names import (
    AVERAGED,
    BESIDE,
    CONTROLS,
    DIMENSIONS,
    LOWER,
    MACHINES,
    MARKS,
    OF_VERDICTS,
    PERSONAL,
    SIDES,
    STANDARDISED,
    TIES,
    best_is_low,
    known_as,
    listed,
    seconds_in,
    stem_of,
    words_of,
)
from assay.tables.schemas import SCHEMAS, find_schema
from assay.tables.tables import (
    ANSWER,
    MIN_OUTPUTS_COMPARED,
    RATED,
    SAME_AS_RATINGS,
    is_like,
)

LANGUAGE = frozenset(["lang", "language", "locale", "sprache", "langue", "idioma", "lingua"])
MOST_ANSWERS, MOST_KINDS, MOST_WORDS, MIN_NUMBERED = 8, 20, 8, 4
NUMBERED = frozenset(["s", "q", ""])
"""What stands before the number of a segment in the name of its column, beside its usual names."""
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
            parts.append(f"a column per {who}: {_some([*self.melted])}")
        for title, names in (
            ("metrics", self.metrics), ("not metrics (counts)", self.counts),
            ("not metrics (ratings)", self.ratings),
            ("not sure, not used", self.unsure), ("ignored", self.ignored),
        ):  # fmt: skip
            parts += [f"{title}: {', '.join(names)}"] if names else []
        return " ".join("; ".join(parts).split())

    def scaled(self, name: str) -> float:
        """By what the values of a column are multiplied: a time is in seconds."""
        return seconds_in(self.columns[name]) if name == "seconds" else 1.0

    def need_answers(self) -> Guess:
        """The guess itself, or an error with what must be asked first."""
        if self.questions:
            raise InputError(f"{self.source}: {'; '.join(map(str, self.questions))}")
        return self


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
    table = [look_at(raw.frame[name]) for name in raw.frame.columns]
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
        unknown = [c for c in free if c.numeric and not _roles_of(c) and not counts(c)]
        if not unknown or any(c.text for c in table):
            return "scores", None
        return None, Question(
            f"Are {_some(unknown)} ratings, or metrics?", "kind", ("ratings", "scores")
        )
    known = ("scores", "ratings", "judgments", "edits", "errors")
    text = f"What kind of table is it? Its columns are {_some(table)}."
    return None, Question(text, "kind", known)


def _some(columns: Sequence[SeenColumn | str]) -> str:
    names = [c if isinstance(c, str) else c.name for c in columns]
    more = f" and {len(names) - MOST_ANSWERS} more" if len(names) > MOST_ANSWERS else ""
    return ", ".join(names[:MOST_ANSWERS]) + more


@dataclass
class _Reading:
    """A table read as one kind: which columns are which, and what must be asked."""

    source: str
    kind: str
    table: Sequence[SeenColumn]
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
        if self.kind == "judgments" and "winner" not in self.found:
            self._find_verdicts()
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
    def free(self) -> list[SeenColumn]:
        """The columns of which nothing is known yet."""
        taken = {*self.found.values(), *self.melted, *self.places}
        return [column for column in self.table if column.name not in taken]

    def column(self, name: str) -> SeenColumn:
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
        names = {name: labelled(name, words_of(name))[1] for name in columns}
        if len({*names.values()}) < len(names) or into == "seg":
            names = {name: name for name in columns}
        self.into, self.value, self.melted = into, value, names

    def _melt_crossed(self, into: str, columns: Sequence[str]) -> None:
        """Columns that are each called by a system and a rater."""
        split = crossed([(name, labelled(name, words_of(name))[1]) for name in columns])
        if split is None:
            raise InputError(
                f"`columns` ({into}={JOIN.join(columns)}): these names are not every one of some"
                f" {into.replace(JOIN, 's with every one of some ')}s; name columns of one of them"
            )
        self.into, self.value = into, "score"
        self.melted = {name: JOIN.join(both) for name, both in split.items()}

    def _find_by_place(self, place: SeenColumn) -> None:
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
        able = [c for c in self.free if strength(c, role) >= least and self._plausible(c, role)]
        if len(able) > 1 and not self._same(able):
            asked = any(f"`{role}`" in question.text for question in self.asked)
            if not asked and role in (*self.schema.required, "rater", "doc"):
                self.ask(f"Which is `{role}`: {_some(able)}?", *(f"{role}={c.name}" for c in able))
            return
        if able:
            self.found[role] = able[0].name

    def _same(self, able: Sequence[SeenColumn]) -> bool:
        """Whether columns say the same in other words, as the number and name of a document do."""
        pairs = pl.DataFrame([c.values.cast(pl.String).alias(str(k)) for k, c in enumerate(able)])
        return pairs.n_unique() == max(c.distinct for c in able) == min(c.distinct for c in able)

    def _plausible(self, column: SeenColumn, role: str) -> bool:
        """Whether a vague name can be this, given what is known of the other columns."""
        if any(f"={column.name}" in answer for q in self.asked for answer in q.answers):
            return False
        if strength(column, role) > LIKELY:
            return True
        if role == "seg" and "system" in self.found:
            systems = self.column(self.found["system"]).distinct
            # A number that no two rows share numbers rows, not the segments of several systems.
            return column.distinct < len(column.values) or systems == 1
        if role in PERSONAL and personal(column):
            return self._person(column, role)
        return True

    def _person(self, column: SeenColumn, role: str) -> bool:
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
        able = [c for c in self.free if strength(c, "score") >= KNOWN]
        own = [c for c in able if c.name == "score"]
        plain = own or [c for c in able if not {*c.words} & AVERAGED]
        sides = side_by_side(self.free)
        if not plain and "system" not in self.found and self._find_crossed():
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
        named = stems and stems <= known_as("seg") | NUMBERED
        if "seg" in self.found or not named or len(able) < MIN_NUMBERED:
            return False
        self._melt("seg", "score", [c.name for c in able])
        return True

    def _find_crossed(self) -> bool:
        """Whether columns of numbers are all of some with all of others; asks which is which.

        They may be systems and raters, or segments and systems where each row is a rater's.
        """
        open_ = [role for role in ("seg", "system", "rater") if role not in self.found]
        able = [c for c in self.free if c.numeric and not (is_metric(c) or counts(c))]
        split = crossed([(c.name, labelled(c.name, c.words)[1]) for c in able])
        if split is None or len(open_) < 2:
            return False
        parts = [sorted({both[k] for both in split.values()}) for k in range(2)]
        if any(stem_of(words_of(name)) in listed(DIMENSIONS) for part in parts for name in part):
            return False
        roles = [_role_of(part) for part in parts]
        rest = [role for role in open_ if role not in roles]
        if "seg" not in roles:
            rest = [role for role in rest if role != "seg"]
        roles = [role or (rest[0] if len(rest) == 1 else None) for role in roles]
        if None not in roles and len({*roles}) == 2 and {*roles} <= {*open_}:
            self._melt_crossed(JOIN.join(map(str, roles)), list(split))
        elif {"system", "rater"} <= {*open_}:
            first, second = (_some(part) for part in parts)
            text = f"Are {first} the systems and {second} the raters, or the other way round?"
            ways = ("system+rater", "rater+system")
            self.ask(text, *(f"{way}={JOIN.join(split)}" for way in ways))
        else:
            return False
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
        self, able: Sequence[SeenColumn], sides: Mapping[str, Mapping[str, str]]
    ) -> None:  # fmt: skip
        vague = [c for c in self.free if strength(c, "score") == LIKELY]
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

    def _other_scores(self, score: SeenColumn) -> list[SeenColumn]:
        """Columns that may as well be the score, where its name has a qualifier, as theirs have."""
        if not [word for word in score.words if word not in SCORED | {"esa", "da", "sqm", "mqm"}]:
            return []
        return [
            c for c in self.free
            if c is not score and c.numeric and {*c.words} & SCORED and not is_metric(c)
            and not {*c.words} & (STANDARDISED | BESIDE) and not counts(c)
        ]  # fmt: skip

    def _melt_texts(self) -> None:
        """Outputs of several systems side by side."""
        able = {c.name: labelled(c.name, c.words) for c in self.free if c.text}
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
            worded = [c for c in self.free if role == "score" and self._may_be_words(c)]
            if worded:
                text = (
                    f"{worded[0].name} has words, no numbers ({_some(sorted(worded[0].said))}):"
                    " write a number for each."
                )
                self.asked.append(Question(text, "columns", ("score=YOURS",)))
                continue
            # Texts are called for where texts are meant, and names where names are.
            able = [c for c in self.free if fits(c, role) and c.text == (role in TEXTS)]
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

    def _may_be_words(self, column: SeenColumn) -> bool:
        """Whether a column may have words where a score has numbers."""
        if column.numeric or column.text:
            return False
        few = column.distinct <= MOST_WORDS < len(column.values) / 2
        return names_score(column) or (few and {"system", "seg", "rater"} <= {*self.found})

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

    def _find_verdicts(self) -> None:
        """The column that says who won, by what stands in it."""
        able = [
            c for c in self.free
            if not c.numeric and 1 < c.distinct <= MOST_KINDS
            and all(side_of(word, self.found) for word in c.said)
        ]  # fmt: skip
        if len(able) == 1:
            self.found["winner"] = able[0].name

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
        metrics, counted, ratings, unsure, ignored = [], [], [], [], []
        for column in self.free:
            if column.values.null_count() == len(column.values):
                continue
            if not column.numeric:
                ignored.append(column.name)
            elif self._like_the_score(column):
                ratings.append(column.name)
            elif is_metric(column):
                metrics.append(column.name)
            elif counts(column) and not {*column.words} & TIME:
                counted.append(column.name)
            else:
                unsure.append(column.name)
        own = self.kind == "scores" and all(self.found.get(n) == n for n in self.schema.required)
        if own and not metrics:  # by its own names, where no other column is known as a metric
            metrics, unsure = unsure, []
        order = [name for name in self.schema.names if name in self.found]
        return Guess(
            self.source, self.kind, {name: self.found[name] for name in order}, self.melted,
            self.into, self.value, tuple(metrics), tuple(counted), tuple(ratings), tuple(unsure),
            tuple(ignored), tuple(self.asked), self._lower_likely(),
        )  # fmt: skip

    def _lower_likely(self) -> bool:
        """Whether less may be better by the name of the score, or by marks from 1 to 6."""
        own = [self.found[n] for n in ("score",) if n in self.found]
        scores = [self.column(name) for name in (*own, *(self.melted if not own else ()))]
        scores = [column for column in scores if column.numeric]
        if any({*column.words} & LOWER or best_is_low(column.name) for column in scores):
            return True
        marks = [column for column in scores if {*column.words} & MARKS]
        numbers = np.concatenate([column.numbers for column in marks] or [np.array([])])
        known = numbers[np.isfinite(numbers)]
        return bool(len(known) and known.min() >= 1 and known.max() <= 6)

    def _like_the_score(self, column: SeenColumn) -> bool:
        """Whether a column of numbers is another rating: by its name, or almost equal."""
        if RATED.fullmatch(column.name) or {*column.words} & STANDARDISED:
            return True
        if "score" not in self.found:
            return score_strength(column) >= KNOWN
        score = self.column(self.found["score"])
        if is_like(column.name, score.name) and not is_metric(column):
            return True
        x, y = score.numbers, column.numbers
        known = np.isfinite(x) & np.isfinite(y)
        if known.sum() < MIN_OUTPUTS_COMPARED or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
            return False
        return abs(float(np.corrcoef(x[known], y[known])[0, 1])) > SAME_AS_RATINGS


def _role_of(names: Sequence[str]) -> str | None:
    """Whether these are names of segments, of systems or of raters; None: they do not tell."""
    words = [words_of(name) for name in names]
    stems = {"".join(own[:-1]) for own in words if own and own[-1].isdigit()}
    if all(own and own[-1].isdigit() for own in words) and stems <= NUMBERED | known_as("seg"):
        return "seg"
    for role, like in (
        ("system", lambda name: bool(MACHINES.fullmatch(name))),
        ("rater", lambda name: labelled(name, words_of(name))[0] == "rater"),
    ):
        if sum(map(like, names)) > len(names) / 2:
            return role
    return None


def side_of(value: str, columns: Columns) -> str | None:
    """Which side a word in ``winner`` names: by the side, or by the name of its column.

    >>> side_of("model_a", {"left": "model_a"}), side_of("B", {}), side_of("x", {})
    ('left', 'right', None)
    >>> side_of("Output A is slightly better", {}), side_of("Both about equal", {})
    ('left', 'tie')
    """
    words = words_of(value)
    told = [word for word in words if word not in OF_VERDICTS]
    if value.strip() == "=" or {"".join(words), "".join(told)} & listed(TIES):
        return "tie"
    for side in ("left", "right"):
        rest = [word for word in told if word not in SIDES[side]]
        named = len(rest) < len(told) and stem_of(rest) in {*known_as("system"), ""}
        if value == columns.get(side) or (named and not value.strip().isdigit()):
            return side
    return None
