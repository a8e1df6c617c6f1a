"""Reading files as users have them: several, with other column names, or wide."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import typer

from assay.cli import Reading, names, note, only_for, pairs, score_range
from assay.cli.options import Better, Text
from assay.cli.reading import without
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.tables.guess import Guess
    from assay.tables.judgments import Judgments
    from assay.tables.load import Raw, Source
    from assay.tables.tables import Ratings, TestSet


def own_kind(path: Path, read: Reading) -> str | None:
    """The kind of a table with Assay's names or those the user gave; None: guess it."""
    fitting = _fitting(path, read)
    return next((kind for kind in ("ratings", "scores") if kind in fitting), None)


def _fitting(path: Path, read: Reading) -> list[str]:
    """The kinds of table whose columns a file has, by Assay's names or those the user gave."""
    from assay.tables.load import column_names
    from assay.tables.schemas import SCHEMAS

    present = column_names(path)
    if any(user not in present and "+" in user for user in read.mapped.values()):
        return []
    here = {*present, *(name for name, user in read.mapped.items() if user in present)}
    return [kind for kind, schema in SCHEMAS.items() if {*schema.required} <= here]


def guessed(
    files: Path | Sequence[Path], read: Reading, kind: str | None = None,
    said: dict[str, str] | None = None,
) -> Guess:  # fmt: skip
    """Guess what files with the same columns are, and say so in one line.

    Ask about what they leave open, or refuse them.
    """
    from assay.tables.layout import joined, rows_alone
    from assay.tables.load import load

    paths = [files] if isinstance(files, Path) else list(files)
    own = _present(paths, read.mapped if said is None else said)
    rows = {own.get(n, n): value for n, value in only_for(read, own, paths[0]).items()}
    raws = [rows_alone(load(path, text=lambda _: False, only=rows)) for path in paths]
    found = answered(joined(raws), kind, own)
    found.need_answers()
    note(found.sentence)
    return found


def answered(raw: Raw, kind: str | None, own: dict[str, str]) -> Guess:
    """Guess what a table is; ask about what it leaves open if there is a terminal."""
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


def _present(paths: Sequence[Path], said: dict[str, str]) -> dict[str, str]:
    """The user's mapping of columns that the files have, for wide ones of all their columns.

    With several files, their names are a column, too: ``file``.
    """
    from assay.tables.load import column_names

    present = {*column_names(paths[0]), *(["file"] if len(paths) > 1 else [])}
    parts = {name: {part.strip() for part in user.split("+")} for name, user in said.items()}
    return {n: user for n, user in said.items() if user in present or parts[n] <= present}


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
    files: Sequence[Path], read: Reading, *, better: Better | None, range: Text = None
) -> tuple[TestSet, Ratings, bool]:
    """A test set and the ratings of several files, guessed; whether there are ratings alone.

    The first file may be the test set. Without one, the rated outputs are.
    """
    from assay.tables.answers import join_ratings, rated_outputs, scored_in
    from assay.tables.tables import read_ratings, read_scores

    chosen, lower = names(read.metrics), names(read.lower_metrics) or ()
    test_set = None
    if _scores_first(files, read):
        source, own, found = _source(files[0], read, "scores")
        test_set = read_scores(
            source, columns=own, lower_metrics=lower, exclude=read.excluded,
            metrics=chosen if chosen is not None or found is None else found.metrics,
            only=only_for(read, own, files[0]),
        )  # fmt: skip
        # Guessed metrics are compared with the ratings, as they were not named.
        test_set = replace(test_set, named=chosen is not None)
    tables = []
    for path, (source, own, found) in _sources(files if test_set is None else files[1:], read):
        if better is None and found is not None:
            _need_direction(found)
        table = read_ratings(
            source, test_set, columns=own, better=better or "higher", range=score_range(range),
            only=only_for(read, own, path),
        )  # fmt: skip
        tables.append((str(path), table))
    ratings = join_ratings(tables)
    if test_set is not None:
        return test_set, ratings, False
    test_set = rated_outputs(
        ratings, metrics=chosen or (), lower_metrics=lower, exclude=read.excluded
    )
    return test_set, scored_in(test_set, ratings).placed_in(test_set), True


def read_foreign(
    files: Sequence[Path], read: Reading, better: Better | None
) -> tuple[Judgments | Ratings, TestSet | None]:
    """The judgments or ratings of several files, guessed, and the test set where one is first."""
    from assay.tables.guess import guess

    if own_kind(files[0], read) is None:
        kind = guess(files[0], columns=_present(files[:1], read.mapped)).table
        if kind == "judgments":
            return _join_judgments(files, read), None
    all_systems = replace(read, metrics="", lower_metrics=None, exclude=None)
    test_set, ratings, alone = read_alone(files, all_systems, better=better)
    ratings = replace(ratings, frame=without(ratings.frame, read.excluded))
    return ratings, None if alone else test_set


def stated(context: typer.Context, better: Better) -> Better | None:
    """Which scores are better, if the user or the project said so."""
    origin = context.get_parameter_source("better")
    return better if origin is not None and origin.name != "DEFAULT" else None


def _join_judgments(files: Sequence[Path], read: Reading) -> Judgments:
    import polars as pl

    from assay.tables.answers import tidied
    from assay.tables.judgments import read_judgments

    tables = [tidied(path, guessed(path, read, "judgments")) for path in files]
    judged = read_judgments(
        pl.concat([frame for frame, _ in tables], how="diagonal_relaxed"), exclude=read.excluded,
        only=only_for(read, {}, tables[0][0]),
    )  # fmt: skip
    said = [line for _, notes in tables for line in notes]
    return replace(judged, notes=(*said, *judged.notes))


def _need_direction(found: Guess) -> None:
    """Refuse to guess which scores are better if the score's name suggests lower ones."""
    if found.lower_likely:
        score = found.columns.get("score") or ", ".join(found.melted)
        raise InputError(
            f"{found.source}: in scores called {score}, lower is usually better. Say which it is"
            " with `better` (lower or higher)"
        )


def _scores_first(files: Sequence[Path], read: Reading) -> bool:
    """Whether the first file is the test set of the others."""
    from assay.tables.guess import guess
    from assay.tables.load import column_names

    if len(files) == 1 or {*column_names(files[0])} == {*column_names(files[1])}:
        return False
    if own_kind(files[0], read) is not None:
        return "rater" not in (*column_names(files[0]), *read.mapped)
    return guess(files[0]).table != "ratings"


Opened: TypeAlias = "tuple[Source | Raw, dict[str, str], Guess | None]"
"""What to read a file from, by which columns, and the guess where one was needed."""


def _sources(files: Sequence[Path], read: Reading) -> list[tuple[Path, Opened]]:
    """How to read files of ratings; those with the same columns are guessed as one table."""
    from assay.tables.answers import as_guessed
    from assay.tables.layout import labels_of
    from assay.tables.load import column_names

    alike: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        alike.setdefault(tuple(sorted(column_names(path))), []).append(path)
    opened: dict[Path, Opened] = {}
    for group in alike.values():
        if len(group) == 1 or own_kind(group[0], read) == "ratings":
            opened |= {path: _source(path, read, "ratings") for path in group}
            continue
        found = guessed(group, read, "ratings", _of_kind(read, "ratings"))
        for path, label in zip(group, labels_of(group), strict=True):
            opened[path] = as_guessed(path, found, label), dict(found.columns), found
    return [(path, opened[path]) for path in files]


def _of_kind(read: Reading, kind: str) -> dict[str, str]:
    """What the user said of the columns of one kind of table."""
    from assay.tables.schemas import SCHEMAS

    known = {*SCHEMAS[kind].names}
    return {name: user for name, user in read.mapped.items() if {*name.split("+")} <= known}


def _source(path: Path, read: Reading, kind: str) -> Opened:
    """How to read one file."""
    from assay.tables.answers import as_guessed
    from assay.tables.load import column_names

    said = _of_kind(read, kind)
    if own_kind(path, read) in (kind, "ratings"):
        present = column_names(path)
        return path, {n: user for n, user in said.items() if user in present}, None
    if "sample" in _fitting(path, read):
        raise InputError(f"{path} is a sample, and {kind} are wanted; give it as `sample`")
    found = guessed(path, read, kind, said)
    return as_guessed(path, found), dict(found.columns), found


class ForeignScores(NamedTuple):
    """A test set under other names: where it is read from, by which columns, and its metrics."""

    source: Source | Raw
    columns: dict[str, str]
    metrics: Sequence[str]


def foreign_scores(path: Path, read: Reading) -> ForeignScores | None:
    """How to read a test set without Assay's names; None if it has them."""
    if not is_foreign([path], read, "scores"):
        return None
    source, own, found = _source(path, read, "scores")
    chosen = names(read.metrics)
    guessed_metrics = () if found is None else found.metrics
    return ForeignScores(source, own, guessed_metrics if chosen is None else chosen)


def is_foreign(files: Sequence[Path], read: Reading, *kinds: str) -> bool:
    """Whether a file fits none of these kinds, by Assay's names or those the user gave."""
    try:
        fitting = [_fitting(path, read) for path in files]
    except InputError:  # a file that cannot be read at all
        return False
    return any(not found or not {*(kinds or found)} & {*found} for found in fitting)


def are_batches(files: Sequence[Path]) -> bool:
    """Whether two files have the same columns, a score among them: parts of one table."""
    from assay.tables.load import column_names

    if len(files) != 2:
        return False
    try:
        first, second = ({*column_names(path)} for path in files)
    except InputError:
        return False
    return first == second and files[0] != files[1] and "score" in first and "rater" in first
