"""What is asked of a table whose columns do not tell everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.tables.columns import TEXTS, SeenColumn, fits, names_score
from assay.tables.guess import MOST_ANSWERS, Question, some
from assay.tables.names import CONTROLS, side_of, words_of

if TYPE_CHECKING:
    from assay.tables.roles import TableReading

LANGUAGE = frozenset(["lang", "language", "locale", "sprache", "langue", "idioma", "lingua"])
MOST_KINDS, MOST_WORDS = 20, 8


def ask_for_required(reading: TableReading) -> None:
    """Ask for every required column that is not known."""
    have = {*reading.found, *reading.spread, reading.value}
    asked = " ".join(answer for q in reading.asked for answer in q.answers)
    missing = [r for r in reading.schema.required if r not in have and f"{r}=" not in asked]
    for place, role in enumerate(missing):
        worded = [c for c in reading.free if role == "score" and _may_be_words(reading, c)]
        if worded:
            text = (
                f"{worded[0].name} has words, no numbers ({some(sorted(worded[0].said))}):"
                " write a number for each."
            )
            reading.asked.append(Question(text, "columns", ("score=YOURS",)))
            continue
        # Texts are called for where texts are meant, and names where names are.
        able = [c for c in reading.free if fits(c, role) and c.text == (role in TEXTS)]
        if role == "seg" and not able:
            able = [c for c in reading.free if c.text]
        listed_ = f"; the columns are {some(reading.table)}" if place == 0 else ""
        reading.asked.append(
            Question(
                f"No column is known to be `{role}`{listed_}.",
                "columns",
                tuple(f"{role}={c.name}" for c in able[:MOST_ANSWERS]) or (f"{role}=YOURS",),
            )
        )


def _may_be_words(reading: TableReading, column: SeenColumn) -> bool:
    """Whether a column may have words where a score has numbers."""
    if column.numeric or column.text:
        return False
    few = column.distinct <= MOST_WORDS < len(column.values) / 2
    return names_score(column) or (few and {"system", "seg", "rater"} <= {*reading.found})


def ask_for_documents(reading: TableReading) -> None:
    """Ask for the document where outputs stand twice and some column tells them apart."""
    if reading.kind not in ("scores", "ratings") or "doc" in reading.found or reading.asked:
        return
    rows = reading._key_rows()
    if rows.n_unique() == rows.height or any(column.null_count() for column in rows):
        return
    tasks = [reading.column(reading.found["task"])] if "task" in reading.found else []
    able = [
        c for c in (*reading.free, *tasks)
        if not c.text and (c.whole or not c.numeric) and c.distinct < rows.height
        and rows.with_columns(c.values.alias("_doc")).n_unique() == rows.height
    ]  # fmt: skip
    if able:
        reading.ask(
            f"Outputs stand in several rows: is {some(able)} the document?",
            *(f"doc={c.name}" for c in able),
        )


def ask_for_languages(reading: TableReading) -> None:
    """Ask whether a column of several languages is the language pair."""
    several = [c for c in reading.free if {*c.words} & LANGUAGE and c.distinct > 1 and not c.text]
    if several and "lp" not in reading.found and "lp" in reading.schema.names:
        reading.ask(
            f"{several[0].name} has {several[0].distinct} languages: is it the language pair?",
            *(f"lp={c.name}" for c in several),
        )


def ask_for_answers_alone(reading: TableReading) -> None:
    """Ask which rows count where some are attention checks, or of another protocol."""
    for column in reading.free:
        if column.text or column.numeric or not 1 < column.distinct <= MOST_KINDS:
            continue
        odd = [value for value in column.said if "".join(words_of(value)) in CONTROLS]
        if odd or "protocol" in column.words:
            what = f"is {odd[0]} in it an attention check" if odd else "which one is meant"
            common = column.values.cast(pl.String).mode().sort()[0]
            text = f"{column.name} has {some(sorted(column.said))}: {what}?"
            reading.asked.append(Question(text, "only", (f"{column.name}={common}",)))


def ask_for_verdicts(reading: TableReading) -> None:
    """Ask what those verdicts mean that name neither a side nor a system."""
    said = reading.column(reading.found["winner"]).values.cast(pl.String).drop_nulls().unique()
    names = {
        name for side in ("left", "right") if side in reading.found
        for name in reading.column(reading.found[side]).values.cast(pl.String).drop_nulls().unique()
    }  # fmt: skip
    odd = [v for v in said if side_of(v, reading.found) is None and v not in names]
    odd = [v for v in odd if v not in ("<", ">", "1", "2", "0")]
    if odd or {"0", "1"} == {*said} or {"-1"} & {*said}:
        reading.asked.append(
            Question(
                f"What do {', '.join(sorted(odd or said)[:MOST_ANSWERS])} in"
                f" {reading.found['winner']} mean? Write left, right or tie there, or the system.",
                "columns",
                ("winner=YOURS",),
            )
        )
