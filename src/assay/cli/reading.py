"""Reading files as users have them: other tools' answers, several files, other column names, wide.

What has Assay's names, or those that the user gave, is read as it is; anything else is guessed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from assay.cli import (
    Located,
    Reading,
    locate_answers,
    names,
    note,
    only_for,
    pairs,
    read_rated,
    read_test_set,
)
from assay.cli.options import Better, Text
from assay.errors import InputError, OptionError, need_known

if TYPE_CHECKING:
    import polars as pl

    from assay.tables.answers import Judgments
    from assay.tables.guess import Guess
    from assay.tables.load import Raw
    from assay.tables.tables import Ratings, TestSet

ANSWERS = ("judgments", "ratings")


def of_format(
    path: Path, kinds: Sequence[str], format: str, lp: str | None
) -> tuple[str, Raw, bool]:
    """Return the kind of table in another tool's file, the table, and whether ``lp`` chose rows."""
    from assay.formats.catalogue import FORMATS, Options, find_format, load_format

    item = find_format(format)
    held = [kind for kind in item.reads if kind in kinds]
    if not held:
        known = [name for name, other in FORMATS.items() if {*other.reads} & {*kinds}]
        what = f"holds no {' or '.join(kinds)}"
        raise OptionError("format", format, what, f"choose from {', '.join(known)}")
    chosen = lp is not None and "lp" in item.reads[held[0]]
    return held[0], load_format(path, format, held[0], Options(lp=lp if chosen else None)), chosen


def with_history(test_set: TestSet, path: Path, better: Better) -> TestSet:
    """Return the test set with what a file's ratings say about its segments."""
    from assay.tables.history import add_history
    from assay.tables.load import column_names
    from assay.tables.tables import read_ratings

    ratings = read_ratings(path, better=better, only=_own_pair(test_set, column_names(path)))
    return add_history(test_set, ratings)


def read_history(
    test_set: TestSet, path: Path, better: Better
) -> tuple[TestSet, tuple[TestSet, Ratings] | None]:
    """Return the test set with what a file says about its segments, and any earlier campaign.

    Ratings of other systems on these segments show how hard the segments are. A file with some of
    the metrics also shows what these are worth, and may be about other segments.
    """
    from assay.tables.load import column_names
    from assay.tables.tables import read_ratings, read_scores

    columns = column_names(path)
    shared = [name for name in test_set.metrics if name in columns]
    if not shared:
        return with_history(test_set, path, better), None
    only = _own_pair(test_set, columns)
    past = read_scores(path, metrics=shared, only=only)
    ratings = read_ratings(path, past, better=better, only=only)
    key = [name for name in test_set.key if name in past.segments.columns]
    here = past.segments.join(test_set.segments, on=key, how="semi").height
    same = with_history(test_set, path, better) if here else test_set
    return same, (past, ratings)


def _own_pair(test_set: TestSet, columns: Sequence[str]) -> dict[str, str] | None:
    """The language pair to read from a file that may have several; None means all."""
    pairs = test_set.segments["lp"].unique().to_list() if "lp" in test_set.key else []
    one = test_set.part and len(pairs) == 1 and "lp" in columns
    return {"lp": pairs[0]} if one else None


def judged_in(one: Located, read: Reading) -> Judgments:
    """The judgments of a table, without those of the systems to be left out."""
    from assay.tables.answers import read_judgments

    return read_judgments(one.source, columns=one.columns, exclude=read.excluded, only=one.only)


def rated_in(one: Located, read: Reading, better: Better) -> Ratings:
    """The ratings of a table without a test set, and without the systems to be left out."""
    table = one.ratings(better=better)
    return replace(table, frame=without(table.frame, read.excluded))


def read_answers(
    path: Path, *kinds: str, read: Reading, better: Better = "higher"
) -> Judgments | Ratings:
    """Read the judgments or ratings of a file, whichever it has, in one pass."""
    one = locate_answers(path, *kinds, read=read)
    return judged_in(one, read) if one.kind == "judgments" else rated_in(one, read, better)


def read_judged(path: Path, read: Reading) -> Judgments:
    """The judgments that the user chose, without the systems to be left out."""
    return judged_in(locate_answers(path, "judgments", read=read), read)


def kind_of(present: Sequence[str], path: Path, read: Reading) -> Literal["judgments", "ratings"]:
    """Whether a table with these columns has judgments or ratings."""
    from assay.tables.schemas import SCHEMAS

    here = {*present, *read.mapped}
    missing = {
        kind: [name for name in SCHEMAS[kind].required if name not in here] for kind in ANSWERS
    }
    if not missing["judgments"] and not missing["ratings"]:
        raise InputError(
            f"{path}: has the columns of judgments and of ratings; keep one of the two sets"
        )
    if all(missing.values()):
        raise InputError(
            f"{path}: is neither a table of judgments (no {', '.join(missing['judgments'])}) nor"
            f" of ratings (no {', '.join(missing['ratings'])}); map your names with --columns"
        )
    return "ratings" if missing["judgments"] else "judgments"


def without(frame: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The rows of a table of ratings that are not of these systems."""
    import polars as pl

    known = frame["system"].unique(maintain_order=True).to_list() if systems else []
    for name in systems:
        need_known("exclude", name, known, "is not among the rated systems")
    return frame.filter(~pl.col("system").is_in(systems)) if systems else frame


def named_in(path: Path, systems: Sequence[str], columns: Mapping[str, str]) -> set[str]:
    """The systems that a table names; all of them, if it has no column of systems."""
    import polars as pl

    from assay.tables.load import load

    if not path.exists():
        return set()
    frame = load(path, text=lambda _: True).frame
    own = {columns.get(name, name) for name in ("system", "left", "right")}
    held = [frame[name].cast(pl.String).unique() for name in frame.columns if name in own]
    return set(systems) & {name for values in held for name in values} if held else set(systems)


def _own_kind(path: Path, read: Reading) -> str | None:
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
    files: Sequence[Path], read: Reading, kind: str | None = None,
    said: dict[str, str] | None = None,
) -> Guess:  # fmt: skip
    """Guess what files with the same columns are, and say so in one line.

    Ask about what they leave open, or refuse them.
    """
    from assay.tables.layout import joined, rows_alone
    from assay.tables.load import load

    own = _present(files, read.mapped if said is None else said)
    rows = {own.get(n, n): value for n, value in only_for(read, own, files[0]).items()}
    raws = [rows_alone(load(path, text=lambda _: False, only=rows)) for path in files]
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


def read_known(
    scores: Path | None, answers: Sequence[Path], read: Reading, *, better: Better | None,
    range: Text = None,
) -> tuple[TestSet, Ratings | None, bool]:  # fmt: skip
    """A test set and the ratings so far, or one of them; whether there are ratings alone."""
    if scores is None:
        return read_alone(answers, read, better=better, range=range)
    if not answers:
        return read_test_set(scores, read), None, False
    return *read_rated(scores, answers, read, better=better or "higher", range=range), False


def read_alone(
    files: Sequence[Path], read: Reading, *, better: Better | None, range: Text = None
) -> tuple[TestSet, Ratings, bool]:
    """A test set and the ratings of several files, guessed; whether there are ratings alone.

    The first file may be the test set. Without one, the rated outputs are.
    """
    from assay.tables.answers import join_ratings, rated_outputs, scored_in
    from assay.tables.tables import read_scores

    chosen, lower = names(read.metrics), names(read.lower_metrics) or ()
    test_set = None
    if _scores_first(files, read):
        one = locate(files[0], read, "scores")
        test_set = read_scores(
            one.source, columns=one.columns, lower_metrics=lower, exclude=read.excluded,
            metrics=chosen if chosen is not None or one.guess is None else one.metrics,
            only=one.only,
        )  # fmt: skip
        # Guessed metrics are compared with the ratings, as they were not named.
        test_set = replace(test_set, named=chosen is not None)
    tables = []
    for one in _located(files if test_set is None else files[1:], read):
        if better is None and one.guess is not None:
            _need_direction(one.guess)
        table = one.ratings(test_set, better=better or "higher", range=range)
        tables.append((str(one.path), table))
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

    if _own_kind(files[0], read) is None:
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

    from assay.tables.answers import read_judgments
    from assay.tables.guess import tidied

    tables = [tidied(path, guessed([path], read, "judgments")) for path in files]
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
    if _own_kind(files[0], read) is not None:
        return "rater" not in (*column_names(files[0]), *read.mapped)
    return guess(files[0]).table != "ratings"


def _located(files: Sequence[Path], read: Reading) -> list[Located]:
    """How to read files of ratings; those with the same columns are guessed as one table."""
    from assay.tables.layout import labels_of
    from assay.tables.load import column_names

    alike: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        alike.setdefault(tuple(sorted(column_names(path))), []).append(path)
    located: dict[Path, Located] = {}
    for group in alike.values():
        if len(group) == 1 or _own_kind(group[0], read) == "ratings":
            located |= {path: locate(path, read, "ratings") for path in group}
            continue
        found = guessed(group, read, "ratings", _of_kind(read, "ratings"))
        for path, label in zip(group, labels_of(group), strict=True):
            located[path] = as_guessed(path, found, read, label)
    return [located[path] for path in files]


def _of_kind(read: Reading, kind: str) -> dict[str, str]:
    """What the user said of the columns of one kind of table."""
    from assay.tables.schemas import SCHEMAS

    known = {*SCHEMAS[kind].names}
    return {name: user for name, user in read.mapped.items() if {*name.split("+")} <= known}


def locate(path: Path, read: Reading, kind: str) -> Located:
    """How to read one file as a kind of table, guessed if it has others' names."""
    from assay.tables.load import column_names

    said = _of_kind(read, kind)
    if _own_kind(path, read) in (kind, "ratings"):
        present = column_names(path)
        own = {n: user for n, user in said.items() if user in present}
        return Located(path, kind, path, own, only_for(read, own, path), {})
    if "sample" in _fitting(path, read):
        raise InputError(f"{path} is a sample, and {kind} are wanted; give it as `sample`")
    return as_guessed(path, guessed([path], read, kind, said), read)


def as_guessed(path: Path, found: Guess, read: Reading, label: str | None = None) -> Located:
    """How to read a file that was taken for something, alone or as one of several (``label``)."""
    from assay.tables.guess import as_guessed as rows_of

    own = dict(found.columns)
    raw = rows_of(path, found, label)
    return Located(path, str(found.table), raw, own, only_for(read, own, path), {}, found)


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
