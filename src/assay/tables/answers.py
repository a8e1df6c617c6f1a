"""Answers in other people's layouts: side by side, in several files, without a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.results import Note, plural
from assay.tables.guess import JOIN, Guess
from assay.tables.layout import filled_down, rows_alone
from assay.tables.load import (
    MAX_LISTED,
    Findings,
    Raw,
    Source,
    load,
    to_number,
    to_text,
)
from assay.tables.names import side_of
from assay.tables.numerals import seconds_of, understood
from assay.tables.schemas import RESERVED, SCHEMAS
from assay.tables.tables import ANSWER, Ratings, TestSet, read_scores

MIN_COMPARED, MUCH_WIDER = 10, 4
"""From so many scores on, and where the others reach so much higher, scales are compared."""


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


def join_ratings(tables: Sequence[tuple[str, Ratings]]) -> Ratings:
    """Join the ratings of several files; an output that one rater rated in two files is refused.

    Each comes with the name of its file, which errors use. Where no file names raters and an output
    stands in several of them, each file is a rater.

    >>> import assay
    >>> rows = pl.DataFrame({"system": ["A", "B"], "seg": [1, 1], "score": [70, 60]})
    >>> files = [(name, assay.read_ratings(rows)) for name in ("anna.xlsx", "ben.xlsx")]
    >>> join_ratings(files).raters
    ('anna', 'ben')
    """
    tables = _with_raters(tables)
    if len(tables) == 1:
        return tables[0][1]
    seen: dict[tuple[object, ...], str] = {}
    for source, table in tables:
        findings = Findings(source)
        key = [name for name in (*ANSWER, "check") if name in table.frame.columns]
        own = dict.fromkeys(table.frame.select(key).rows(), source)
        for row in [row for row in own if row in seen][: MAX_LISTED + 1]:
            shown = ", ".join(f"{n} '{v}'" for n, v in zip(key, row, strict=True) if v is not None)
            findings.add(f"{shown} is rated in {seen[row]} too; give each rating once", None, "seg")
        findings.stop(rows=len(table))
        seen |= own
    first = tables[0][1]
    notes = [Note(n.code, f"{source}: {n}") for source, table in tables for n in table.notes]
    frames = [table.frame for _, table in tables]
    repeats = [table.repeats for _, table in tables if table.repeats.height]
    return replace(
        first,
        frame=pl.concat(frames, how="diagonal_relaxed"),
        notes=tuple(notes),
        repeats=pl.concat(repeats, how="diagonal_relaxed") if repeats else first.repeats,
    )


def _with_raters(tables: Sequence[tuple[str, Ratings]]) -> Sequence[tuple[str, Ratings]]:
    named = [source for source, table in tables if "rater" in table.frame.columns]
    if len(named) == len(tables) or len(tables) == 1:
        return tables
    if named:
        other = next(source for source, _ in tables if source not in named)
        raise InputError(
            f"{named[0]} names its raters and {other} does not; add a rater column to it"
        )
    key = [n for n in ANSWER if n in tables[0][1].frame.columns]
    outputs = pl.concat([table.frame.select(key) for _, table in tables])
    if outputs.n_unique() == outputs.height:
        return tables
    labels = [Path(source).name.partition(".")[0] for source, _ in tables]
    if len({*labels}) < len(labels):
        labels = [source for source, _ in tables]
    text = "outputs stand in several files without raters: each file was taken as one rater"
    return [
        (
            source,
            replace(
                table,
                frame=table.frame.with_columns(rater=pl.lit(label)),
                notes=(*table.notes, *([Note("rater-by-file", text)] if not k else [])),
            ),
        )
        for k, (label, (source, table)) in enumerate(zip(labels, tables, strict=True))
    ]


def rated_outputs(
    ratings: Ratings,
    *,
    metrics: Sequence[str] = (),
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> TestSet:
    """A test set made of the outputs that were rated, for ratings that come without one.

    What is found on it is about texts like these; ``metrics`` are columns of the ratings.

    >>> import assay
    >>> rows = {"system": ["A", "A", "B"], "seg": [1, 1, 1], "rater": ["x", "y", "x"]}
    >>> answers = assay.read_ratings(pl.DataFrame(rows | {"score": [70, 80, 60]}))
    >>> rated_outputs(answers).frame.rows()
    [('A', '1'), ('B', '1')]
    """
    scores = SCHEMAS["scores"]
    rows = ratings.genuine.drop_nulls("score")
    if not rows.height:
        raise InputError("no output has a score; nothing has been rated yet")
    kept = [n for n in rows.columns if n in scores.names or n not in RESERVED]
    key = [name for name in scores.key if name in kept]
    test_set = read_scores(
        rows.select(kept).unique(key, keep="first", maintain_order=True),
        metrics=metrics, lower_metrics=lower_metrics, exclude=exclude,
    )  # fmt: skip
    text = (
        f"no test set was given: the {len(test_set):,} outputs that were rated are the test set,"
        " and verdicts are for texts like these"
    )
    doubts = _scales_apart(rows)
    return replace(test_set, notes=(*doubts, Note("rated-outputs", text), *test_set.notes))


def _scales_apart(rows: pl.DataFrame) -> list[Note]:
    """Notes on raters whose scores lie far below all others', as on a shorter scale."""
    if "rater" not in rows.columns:
        return []
    doubts = []
    for who in rows["rater"].drop_nulls().unique(maintain_order=True):
        own = rows.filter(rater=who)["score"].to_numpy()
        others = rows.filter(pl.col("rater") != who)["score"].to_numpy()
        if len(own) < MIN_COMPARED or len(others) < MIN_COMPARED:
            continue
        if 0 < own.max() < np.quantile(others, 0.05) and others.max() >= MUCH_WIDER * own.max():
            text = (
                f"{who} scores from {own.min():g} to {own.max():g}, the others from"
                f" {others.min():g} to {others.max():g}: if these are two scales, convert them"
                " to one, or their mean is meaningless"
            )
            doubts.append(Note("scales-apart", text))
    return doubts


def scored_in(test_set: TestSet, ratings: Ratings) -> Ratings:
    """The ratings without outputs that have no score and are therefore not in the test set."""
    key = [name for name in ("system", *test_set.key) if name in ratings.frame.columns]
    known = test_set.frame.select(key).with_columns(_known=True)
    here = ratings.frame.join(known, on=key, how="left", nulls_equal=True, maintain_order="left")
    out = here["_known"].is_null() & here["score"].is_null()
    if not out.any():
        return ratings
    text = f"{plural(int(out.sum()), 'row')} of outputs without any score left out"
    notes = [note for note in ratings.notes if note.code != "not-rated"]  # it is counted anew
    frame = ratings.frame.filter(~out)
    return replace(ratings, frame=frame, notes=(*notes, Note("unscored", text)))
