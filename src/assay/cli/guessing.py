"""Files as users have them: several, named by a pattern, with other column names, or wide."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import typer

from assay.cli import names, note, only_for, pairs, score_range
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.tables.guess import Guess
    from assay.tables.load import Raw, Source
    from assay.tables.tables import Judgments, Ratings, TestSet


def own_kind(path: Path, columns: str | None) -> str | None:
    """The kind of a table that has Assay's own names, or those the user gave; None: guess."""
    fitting = _fitting(path, columns)
    return next((kind for kind in ("ratings", "scores") if kind in fitting), None)


def _fitting(path: Path, columns: str | None) -> list[str]:
    """The kinds of table whose columns a file has, by Assay's names or those the user gave."""
    from assay.tables.load import SCHEMAS
    from assay.tables.selection import column_names

    present, said = column_names(path), pairs("columns", columns)
    if any(user not in present and "+" in user for user in said.values()):
        return []
    here = {*present, *(name for name, user in said.items() if user in present)}
    return [kind for kind, schema in SCHEMAS.items() if {*schema.required} <= here]


def guessed(
    path: Path | Sequence[Path], columns: str | None, only: str | None, lp: str | None,
    kind: str | None = None,
) -> Guess:  # fmt: skip
    """What files with the same columns seem to be, said in one line; what they do not tell is
    asked, or refused.
    """
    from assay.tables.layout import joined, rows_alone
    from assay.tables.load import load

    paths = [path] if isinstance(path, Path) else list(path)
    own = _present(paths, columns)
    rows = {own.get(n, n): value for n, value in only_for(only, lp, own, paths[0]).items()}
    raws = [rows_alone(load(one, text=lambda _: False, only=rows)) for one in paths]
    found = answered(joined(raws), kind, own)
    found.need_answers()
    note(found.sentence)
    return found


def answered(raw: Raw, kind: str | None, own: dict[str, str]) -> Guess:
    """What a table seems to be, with the answers of a person where there is one to ask."""
    from assay.tables.guess import guess

    found = guess(raw, kind=kind, columns=own)
    while (
        found.questions
        and found.questions[0].argument != "only"
        and sys.stdin.isatty()
        and sys.stderr.isatty()
    ):
        question, answer = found.questions[0], _asked(found)
        if question.argument == "kind":
            kind = answer
        else:
            own = own | pairs("columns", answer)
        found = guess(raw, kind=kind, columns=own)
    return found


def _present(paths: Sequence[Path], columns: str | None) -> dict[str, str]:
    """What the user said of the columns that these files have; of several, also of their names."""
    from assay.tables.selection import column_names

    present = [*column_names(paths[0]), *(["file"] if len(paths) > 1 else [])]
    return {n: user for n, user in pairs("columns", columns).items() if _has(present, user)}


def _has(present: Sequence[str], user: str) -> bool:
    """Whether a table has a column, or all columns of a wide one."""
    return user in present or all(part.strip() in present for part in user.split("+"))


def _asked(found: Guess) -> str:
    question = found.questions[0]
    note(f"{found.source}: {question.text}")
    for number, answer in enumerate(question.answers, start=1):
        note(f"  {number}  {answer}")
    reply = str(typer.prompt("number, or your own", err=True)).strip()
    if reply.isdigit() and 0 < int(reply) <= len(question.answers):
        return question.answers[int(reply) - 1]
    return reply


def read_alone(
    files: Sequence[Path],
    *,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"] | None,
    range: str | None,
) -> tuple[TestSet, Ratings, bool]:
    """A test set and the ratings of several files, guessed; whether there are ratings alone.

    The first file may be the test set. Without one, the rated outputs are.
    """
    from assay.tables.answers import join_ratings, rated_outputs, scored_in
    from assay.tables.tables import read_ratings, read_scores

    left_out = names(exclude) or ()
    test_set = None
    if _scores_first(files, columns):
        source, own, found = _source(files[0], columns, only, lp, "scores")
        chosen = names(metrics)
        test_set = read_scores(
            source, columns=own, lower_metrics=names(lower_metrics) or (), exclude=left_out,
            metrics=chosen if chosen is not None or found is None else found.metrics,
            only=only_for(only, lp, own, files[0]),
        )  # fmt: skip
        # Metrics that were guessed are held against the ratings as if nobody had named them.
        test_set = replace(test_set, named=chosen is not None)
    tables = []
    for path, (source, own, found) in _sources(
        files if test_set is None else files[1:], columns, only, lp
    ):
        if better is None and found is not None:
            _need_direction(found)
        table = read_ratings(
            source, test_set, columns=own, better=better or "higher", range=score_range(range),
            only=only_for(only, lp, own, path),
        )  # fmt: skip
        tables.append((str(path), table))
    ratings = join_ratings(tables)
    if test_set is not None:
        return test_set, ratings, False
    test_set = rated_outputs(
        ratings, metrics=names(metrics) or (), lower_metrics=names(lower_metrics) or (),
        exclude=left_out,
    )  # fmt: skip
    return test_set, scored_in(test_set, ratings).placed_in(test_set), True


def read_foreign(
    files: Sequence[Path],
    *,
    columns: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"] | None,
) -> tuple[Judgments | Ratings, TestSet | None]:
    """The judgments or ratings of several files, guessed, and the test set where one is first."""
    from assay.cli import without
    from assay.tables.guess import guess

    if own_kind(files[0], columns) is None:
        kind = guess(files[0], columns=_present(files[:1], columns)).table
        if kind == "judgments":
            return _join_judgments(files, columns, exclude, only, lp), None
    test_set, ratings, alone = read_alone(
        files, columns=columns, metrics="", lower_metrics=None, exclude=None, only=only, lp=lp,
        better=better, range=None,
    )  # fmt: skip
    ratings = replace(ratings, frame=without(ratings.frame, names(exclude) or []))
    return ratings, None if alone else test_set


def stated(
    context: typer.Context, better: Literal["higher", "lower"]
) -> Literal["higher", "lower"] | None:
    """Which scores are better, where anybody said it."""
    origin = context.get_parameter_source("better")
    return better if origin is not None and origin.name != "DEFAULT" else None


def _join_judgments(
    files: Sequence[Path], columns: str | None, exclude: str | None, only: str | None,
    lp: str | None,
) -> Judgments:  # fmt: skip
    import polars as pl

    from assay.tables.answers import tidy
    from assay.tables.tables import read_judgments

    frames = [tidy(path, guessed(path, columns, only, lp, "judgments")) for path in files]
    return read_judgments(
        pl.concat(frames, how="diagonal_relaxed"), exclude=names(exclude) or (),
        only=only_for(only, lp, {}, frames[0]),
    )  # fmt: skip


def _need_direction(found: Guess) -> None:
    """Ask which scores are better where the name of the score doubts the default."""
    if found.lower_likely:
        score = found.columns.get("score") or ", ".join(found.melted)
        raise InputError(
            f"{found.source}: of scores called {score} fewer is better as a rule. Say it with"
            " `better` (lower, or higher)"
        )


def _scores_first(files: Sequence[Path], columns: str | None) -> bool:
    """Whether the first file is the test set of the others."""
    from assay.tables.guess import guess
    from assay.tables.selection import column_names

    if len(files) == 1 or {*column_names(files[0])} == {*column_names(files[1])}:
        return False
    if own_kind(files[0], columns) is not None:
        return "rater" not in (*column_names(files[0]), *pairs("columns", columns))
    return guess(files[0]).table != "ratings"


Opened: TypeAlias = "tuple[Source | Raw, dict[str, str], Guess | None]"
"""What to read a file from, by which columns, and the guess where one was needed."""


def _sources(
    files: Sequence[Path], columns: str | None, only: str | None, lp: str | None
) -> list[tuple[Path, Opened]]:
    """How to read files of ratings; those with the same columns are guessed as one table."""
    from assay.tables.answers import as_guessed
    from assay.tables.layout import labels_of
    from assay.tables.selection import column_names

    alike: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        alike.setdefault(tuple(sorted(column_names(path))), []).append(path)
    opened: dict[Path, Opened] = {}
    for group in alike.values():
        if len(group) == 1 or own_kind(group[0], columns) == "ratings":
            opened |= {path: _source(path, columns, only, lp, "ratings") for path in group}
            continue
        found = guessed(group, _of_kind(columns, "ratings"), only, lp, "ratings")
        for path, label in zip(group, labels_of(group), strict=True):
            opened[path] = as_guessed(path, found, label), dict(found.columns), found
    return [(path, opened[path]) for path in files]


def _of_kind(columns: str | None, kind: str) -> str | None:
    """The part of ``--columns`` that is about one kind of table."""
    from assay.tables.load import SCHEMAS

    said = pairs("columns", columns).items()
    known = {*SCHEMAS[kind].names}
    return ",".join(f"{n}={user}" for n, user in said if {*n.split("+")} <= known) or None


def _source(path: Path, columns: str | None, only: str | None, lp: str | None, kind: str) -> Opened:
    """How to read one file."""
    from assay.tables.load import SCHEMAS
    from assay.tables.selection import column_names

    said = pairs("columns", columns)
    if own_kind(path, columns) in (kind, "ratings"):
        present = column_names(path)
        own = {n: user for n, user in said.items() if n in SCHEMAS[kind].names and user in present}
        return path, own, None
    if "sample" in _fitting(path, columns):
        raise InputError(f"{path} is a sample, and {kind} are wanted; give it as `sample`")
    from assay.tables.answers import as_guessed

    found = guessed(path, _of_kind(columns, kind), only, lp, kind)
    return as_guessed(path, found), dict(found.columns), found


def is_foreign(files: Sequence[Path], columns: str | None, *kinds: str) -> bool:
    """Whether a file has neither the names of a table, of these kinds, nor those the user gave."""
    try:
        fitting = [_fitting(path, columns) for path in files]
    except InputError:  # a file that cannot be read at all
        return False
    return any(not found or not {*(kinds or found)} & {*found} for found in fitting)


def are_batches(files: Sequence[Path]) -> bool:
    """Whether two files have the same columns, a score among them: parts of one table."""
    from assay.tables.selection import column_names

    if len(files) != 2:
        return False
    try:
        first, second = ({*column_names(path)} for path in files)
    except InputError:
        return False
    return first == second and files[0] != files[1] and "score" in first and "rater" in first
