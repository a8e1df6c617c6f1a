"""Which role each column of another person's table has, once its kind is known.

In a wide table there is a column for each rater, system or segment, or for each pair of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.errors import InputError, need_known
from assay.tables.guess import (
    JOIN,
    KNOWN,
    LIKELY,
    MOST_ANSWERS,
    OWN,
    SCORED,
    TEXTS,
    TIME,
    Guess,
    Question,
    SeenColumn,
    counts,
    fits,
    is_like,
    is_metric,
    labelled,
    names_score,
    personal,
    score_strength,
    side_by_side,
    some,
    strength,
)
from assay.tables.names import (
    AVERAGED,
    BESIDE,
    CONTROLS,
    DIMENSIONS,
    LOWER,
    MACHINES,
    MARKS,
    PERSONAL,
    RATED,
    STANDARDISED,
    best_is_low,
    known_as,
    listed,
    side_of,
    stem_of,
    words_of,
)
from assay.tables.schemas import SCHEMAS
from assay.tables.tables import ANSWER, MIN_OUTPUTS_COMPARED, SAME_AS_RATINGS

LANGUAGE = frozenset(["lang", "language", "locale", "sprache", "langue", "idioma", "lingua"])
MOST_KINDS, MOST_WORDS = 20, 8


@dataclass
class TableReading:
    """A table read as one kind: which column has which role, and what must be asked."""

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
        """Assign roles to columns, and ask what remains open."""
        melt_as_given(self)
        for least in (OWN, KNOWN, LIKELY):
            for role in self.schema.names:
                if role != "score" and role not in self.found and role not in self.spread:
                    self._find(role, least)
        if self.kind == "ratings" and "score" not in self.found and self.value is None:
            self._find_score()
        if self.kind == "scores" and "system" not in self.found and self.into is None:
            melt_texts(self)
        for place in self.places:
            self._find_by_place(self.column(place))
        if self.kind == "judgments" and "winner" not in self.found:
            self._find_verdicts()
        ask_for_required(self)
        ask_for_documents(self)
        ask_for_languages(self)
        ask_for_answers_alone(self)
        if self.kind == "judgments" and "winner" in self.found:
            ask_for_verdicts(self)
        return self._wrapped()

    @property
    def spread(self) -> tuple[str, ...]:
        """What is spread over several columns: raters, systems, or both."""
        return tuple(self.into.split(JOIN)) if self.into else ()

    @property
    def free(self) -> list[SeenColumn]:
        """The columns without a role so far."""
        taken = {*self.found.values(), *self.melted, *self.places}
        return [column for column in self.table if column.name not in taken]

    def column(self, name: str) -> SeenColumn:
        """A column by its own name."""
        return next(column for column in self.table if column.name == name)

    def ask(self, text: str, *answers: str) -> None:
        """Add a question about columns."""
        if self.asked and not self.asked[-1].answers and not answers:
            return
        self.asked.append(Question(text, "columns", answers[:MOST_ANSWERS]))

    def _find_by_place(self, place: SeenColumn) -> None:
        """Find systems or raters that are named only by files or sheets."""
        open_ = self._open_persons()
        asked = " ".join(answer for q in self.asked for answer in q.answers)
        open_ = [role for role in open_ if f"{role}=" not in asked]
        if place.name in self.found.values() or not open_:
            return
        rows, names = self._key_rows(), place.unique_texts
        repeated = rows.width > 0 and rows.n_unique() < rows.height
        machines = sum(bool(MACHINES.fullmatch(name)) for name in names) > len(names) / 2
        if "system" in open_ and (len(open_) == 1 or machines):
            self.found["system"] = place.name
        elif "system" not in open_ and (open_[0] in self.schema.required or repeated):
            self.found[open_[0]] = place.name
        elif "system" in open_:
            what = f"Is each {place.name} ({some(sorted(names))}) a system or a {open_[1]}?"
            self.ask(what, *(f"{role}={place.name}" for role in open_))

    def _open_persons(self) -> list[str]:
        """The roles of people, or machines, that the table has and no column so far."""
        taken = {*self.found, *self.spread}
        return [role for role in PERSONAL if role in self.schema.names and role not in taken]

    def _key_rows(self) -> pl.DataFrame:
        key = [self.found[name] for name in ANSWER if name in self.found]
        return pl.DataFrame([self.column(name).values for name in key])

    def _find(self, role: str, least: int) -> None:
        """Find the column with this role; if several are likely, ask which."""
        able = [c for c in self.free if strength(c, role) >= least and self._plausible(c, role)]
        if len(able) > 1 and not self._same(able):
            asked = any(f"`{role}`" in question.text for question in self.asked)
            if not asked and role in (*self.schema.required, "rater", "doc"):
                self.ask(f"Which is `{role}`: {some(able)}?", *(f"{role}={c.name}" for c in able))
            return
        if able:
            self.found[role] = able[0].name

    def _same(self, able: Sequence[SeenColumn]) -> bool:
        """Whether columns match one to one, like the number and the name of a document."""
        pairs = pl.DataFrame([c.values.cast(pl.String).alias(str(k)) for k, c in enumerate(able)])
        return pairs.n_unique() == max(c.distinct for c in able) == min(c.distinct for c in able)

    def _plausible(self, column: SeenColumn, role: str) -> bool:
        """Whether a column with a vague name can have this role, given the other columns."""
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
        """Whether a column of people, or machines, has this role; asks if it may have another."""
        open_ = self._open_persons()
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
        """Find the column of the scores, or the columns of several raters or systems."""
        able = [c for c in self.free if strength(c, "score") >= KNOWN]
        own = [c for c in able if c.name == "score"]
        plain = own or [c for c in able if not {*c.words} & AVERAGED]
        sides = side_by_side(self.free)
        if not plain and "system" not in self.found and find_crossed(self):
            return
        if not plain and "system" in self.found and find_numbered(self):
            return
        into = spread_over(self, sides)
        if into and own:
            into = None
        if into and plain:
            self.ask(
                f"Is the score {some(plain)}, or in {some([*sides[into]])}?",
                *(f"score={c.name}" for c in plain), f"{into}={JOIN.join(sides[into])}",
            )  # fmt: skip
        elif into:
            melt(self, into, "score", list(sides[into]))
            ask_for_all(self, into, sides[""])
        else:
            self._one_score(plain or able, sides)

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
                self.ask(f"Which is `score`: {some(names)}?", *(f"score={n}" for n in names))
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
            self.ask(f"Are {some(unknown)} {who}, or is one of them the score?", *answers)
        else:
            self.ask(f"Which is `score`: {some(names)}?", *answers)

    def _other_scores(self, score: SeenColumn) -> list[SeenColumn]:
        """Other columns that may be the score, if its name is as specific as theirs."""
        if not [word for word in score.words if word not in SCORED | {"esa", "da", "sqm", "mqm"}]:
            return []
        return [
            c for c in self.free
            if c is not score and c.numeric and {*c.words} & SCORED and not is_metric(c)
            and not {*c.words} & (STANDARDISED | BESIDE) and not counts(c)
        ]  # fmt: skip

    def _find_verdicts(self) -> None:
        """Find the column that says who won by its values."""
        able = [
            c for c in self.free
            if not c.numeric and 1 < c.distinct <= MOST_KINDS
            and all(side_of(word, self.found) for word in c.unique_texts)
        ]  # fmt: skip
        if len(able) == 1:
            self.found["winner"] = able[0].name

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
        """Whether less may be better, by the name of the score or as marks run from 1 to 6."""
        names = [self.found["score"]] if "score" in self.found else self.melted
        scores = [self.column(name) for name in names]
        scores = [column for column in scores if column.numeric]
        if any({*column.words} & LOWER or best_is_low(column.name) for column in scores):
            return True
        marks = [column for column in scores if {*column.words} & MARKS]
        numbers = np.concatenate([column.numbers for column in marks] or [np.array([])])
        known = numbers[np.isfinite(numbers)]
        return bool(len(known) and known.min() >= 1 and known.max() <= 6)

    def _like_the_score(self, column: SeenColumn) -> bool:
        """Whether a column of numbers is another rating: by its name, or by its values."""
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


def ask_for_required(table: TableReading) -> None:
    """Ask for every required column that is not known."""
    have = {*table.found, *table.spread, table.value}
    asked = " ".join(answer for q in table.asked for answer in q.answers)
    missing = [r for r in table.schema.required if r not in have and f"{r}=" not in asked]
    for place, role in enumerate(missing):
        worded = [c for c in table.free if role == "score" and _may_be_words(table, c)]
        if worded:
            words = some(sorted(worded[0].unique_texts))
            text = (
                f"{worded[0].name} has words instead of numbers ({words}): write a number for each."
            )
            table.asked.append(Question(text, "columns", ("score=YOURS",)))
            continue
        # Texts are called for where texts are meant, and names where names are.
        able = [c for c in table.free if fits(c, role) and c.text == (role in TEXTS)]
        if role == "seg" and not able:
            able = [c for c in table.free if c.text]
        columns = f"; the columns are {some(table.table)}" if place == 0 else ""
        table.asked.append(
            Question(
                f"No column is known to be `{role}`{columns}.",
                "columns",
                tuple(f"{role}={c.name}" for c in able[:MOST_ANSWERS]) or (f"{role}=YOURS",),
            )
        )


def _may_be_words(table: TableReading, column: SeenColumn) -> bool:
    """Whether a column may have words where a score has numbers."""
    if column.numeric or column.text:
        return False
    few = column.distinct <= MOST_WORDS < len(column.values) / 2
    return names_score(column) or (few and {"system", "seg", "rater"} <= {*table.found})


def ask_for_documents(table: TableReading) -> None:
    """Ask for the document if outputs appear in several rows that some column tells apart."""
    if table.kind not in ("scores", "ratings") or "doc" in table.found or table.asked:
        return
    rows = table._key_rows()
    if rows.n_unique() == rows.height or any(column.null_count() for column in rows):
        return
    tasks = [table.column(table.found["task"])] if "task" in table.found else []
    able = [
        c for c in (*table.free, *tasks)
        if not c.text and (c.whole or not c.numeric) and c.distinct < rows.height
        and rows.with_columns(c.values.alias("_doc")).n_unique() == rows.height
    ]  # fmt: skip
    if able:
        table.ask(
            f"Outputs appear in several rows: is {some(able)} the document?",
            *(f"doc={c.name}" for c in able),
        )


def ask_for_languages(table: TableReading) -> None:
    """Ask whether a column of several languages is the language pair."""
    several = [c for c in table.free if {*c.words} & LANGUAGE and c.distinct > 1 and not c.text]
    if several and "lp" not in table.found and "lp" in table.schema.names:
        table.ask(
            f"{several[0].name} has {several[0].distinct} languages: is it the language pair?",
            *(f"lp={c.name}" for c in several),
        )


def ask_for_answers_alone(table: TableReading) -> None:
    """Ask which rows count if some are attention checks or of another protocol."""
    for column in table.free:
        if column.text or column.numeric or not 1 < column.distinct <= MOST_KINDS:
            continue
        odd = [value for value in column.unique_texts if "".join(words_of(value)) in CONTROLS]
        if odd or "protocol" in column.words:
            what = f"is {odd[0]} in it an attention check" if odd else "which one is meant"
            common = column.values.cast(pl.String).mode().sort()[0]
            text = f"{column.name} has {some(sorted(column.unique_texts))}: {what}?"
            table.asked.append(Question(text, "only", (f"{column.name}={common}",)))


def ask_for_verdicts(table: TableReading) -> None:
    """Ask about verdicts that name neither a side nor a system."""
    said = table.column(table.found["winner"]).values.cast(pl.String).drop_nulls().unique()
    names = {
        name for side in ("left", "right") if side in table.found
        for name in table.column(table.found[side]).values.cast(pl.String).drop_nulls().unique()
    }  # fmt: skip
    odd = [v for v in said if side_of(v, table.found) is None and v not in names]
    odd = [v for v in odd if v not in ("<", ">", "1", "2", "0")]
    if odd or {"0", "1"} == {*said} or {"-1"} & {*said}:
        table.asked.append(
            Question(
                f"What do {', '.join(sorted(odd or said)[:MOST_ANSWERS])} in"
                f" {table.found['winner']} mean? Write left, right or tie there, or the system.",
                "columns",
                ("winner=YOURS",),
            )
        )


MIN_NUMBERED = 4
NUMBERED = frozenset(["s", "q", ""])
"""What may stand before the number of a segment in a column name, besides its usual names."""
SIGNS = (" / ", "/", " - ", "|", ":", "__", "_", "-", ".", " ")
"""What may stand between the two names in the name of a column."""
BRACKETS = " []()"


def melt_as_given(reading: TableReading) -> None:
    """Melt the columns that the user named."""
    for name, columns in reading.wide.items():
        if not {*name.split(JOIN)} <= {"rater", "system", "seg"} or len(reading.wide) > 1:
            raise InputError(
                f"`columns` ({name}={JOIN.join(columns)}): only rater, system or seg may be"
                " spread over several columns, and only one of them; name one column"
            )
        if JOIN in name:
            melt_crossed(reading, name, columns)
            continue
        texts = not reading.column(columns[0]).numeric
        melt(reading, name, "target" if texts else "score", columns)


def melt(reading: TableReading, into: str, value: str, columns: Sequence[str]) -> None:
    """Turn each column into the rows of one rater, system or segment (``into``)."""
    names = {name: labelled(name, words_of(name))[1] for name in columns}
    if len({*names.values()}) < len(names) or into == "seg":
        names = {name: name for name in columns}
    reading.into, reading.value, reading.melted = into, value, names


def melt_crossed(reading: TableReading, into: str, columns: Sequence[str]) -> None:
    """Melt columns whose names combine two of system, rater and segment."""
    split = crossed([(name, labelled(name, words_of(name))[1]) for name in columns])
    if split is None:
        raise InputError(
            f"`columns` ({into}={JOIN.join(columns)}): these columns do not combine every"
            f" {into.replace(JOIN, ' with every ')}; name the columns of one of them"
        )
    reading.into, reading.value = into, "score"
    reading.melted = {name: JOIN.join(both) for name, both in split.items()}


def find_numbered(reading: TableReading) -> bool:
    """Melt columns of segments, named S1, S2, S3 and so on; False if there are none."""
    able = [c for c in reading.free if c.numeric and c.words and c.words[-1].isdigit()]
    stems = {"".join(c.words[:-1]) for c in able}
    named = stems and stems <= known_as("seg") | NUMBERED
    if "seg" in reading.found or not named or len(able) < MIN_NUMBERED:
        return False
    melt(reading, "seg", "score", [c.name for c in able])
    return True


def find_crossed(reading: TableReading) -> bool:
    """Melt columns that combine two roles, or ask which is which; False if there are none.

    They may be systems and raters, or segments and systems where each row is a rater's.
    """
    open_ = [role for role in ("seg", "system", "rater") if role not in reading.found]
    able = [c for c in reading.free if c.numeric and not (is_metric(c) or counts(c))]
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
        melt_crossed(reading, JOIN.join(map(str, roles)), list(split))
    elif {"system", "rater"} <= {*open_}:
        first, second = (some(part) for part in parts)
        text = f"Are {first} the systems and {second} the raters, or the other way round?"
        ways = ("system+rater", "rater+system")
        reading.ask(text, *(f"{way}={JOIN.join(split)}" for way in ways))
    else:
        return False
    return True


def spread_over(reading: TableReading, sides: Mapping[str, Mapping[str, str]]) -> str | None:
    """Which of raters and systems surely stand side by side, if any."""
    for into, other in (("rater", "system"), ("system", "rater")):
        if len(sides[into]) > 1 and into not in reading.found and not sides[other]:
            return into
    return None


def ask_for_all(reading: TableReading, into: str, others: Mapping[str, str]) -> None:
    """Ask about columns on the same scale whose names are of another sort."""
    known = np.concatenate([reading.column(name).numbers for name in reading.melted])
    high = float(np.nanmax(known))
    tops = {c.name: np.nanmax(c.numbers) for c in reading.table if c.name in others and c.whole}
    like = [name for name, top in tops.items() if 0.5 * high < top < 2 * high]
    if like:
        here = list(reading.melted)
        reading.ask(
            f"Is {some(like)} one more {into}?", f"{into}={JOIN.join([*here, *like])}",
            f"{into}={JOIN.join(here)}",
        )  # fmt: skip


def melt_texts(reading: TableReading) -> None:
    """Melt the outputs of several systems that stand side by side."""
    able = {c.name: labelled(c.name, c.words) for c in reading.free if c.text}
    for name, (into, _) in list(able.items()):
        rest = [w for w in words_of(name) if w not in known_as("target") or w == "mt"]
        if not into and rest and len(rest) < len(words_of(name)):
            able[name] = ("system" if MACHINES.fullmatch(" ".join(rest)) else "", name)
    sure = [name for name, (into, _) in able.items() if into == "system"]
    if len(sure) > 1 and len(sure) == len(able):
        melt(reading, "system", "target", sure)
        reading.found.pop("target", None)
    elif len(able) > 1:
        reading.ask(f"Are {some([*able])} the outputs of systems?", f"system={JOIN.join(able)}")


def _role_of(names: Sequence[str]) -> str | None:
    """Whether these are names of segments, systems or raters; None if they do not tell."""
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


def crossed(names: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]] | None:
    """Both parts of names that combine every name of one group with every name of another.

    >>> crossed([(n, n) for n in ("A_Ann", "A_Ben", "B_Ann", "B_Ben")])["B_Ann"]
    ('B', 'Ann')
    """
    for sign in SIGNS:
        for cut in (str.partition, str.rpartition):
            split = {}
            for name, label in names:
                for text in (name, label):
                    first, found, second = cut(text, sign)
                    if found and first.strip(BRACKETS) and second.strip(BRACKETS):
                        split[name] = (first.strip(BRACKETS), second.strip(BRACKETS))
                        break
            one, two = ({both[k] for both in split.values()} for k in range(2))
            full = len({*split.values()}) == len(split) == len(one) * len(two)
            if full and len(one) > 1 and len(two) > 1:
                return split
    return None
