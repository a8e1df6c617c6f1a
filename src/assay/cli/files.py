"""How commands read what they are given and deliver what they found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.cli.options import Backend
from assay.errors import InputError, OptionError, did_you_mean, need_known

if TYPE_CHECKING:
    import polars as pl

    from assay.engine import Workers
    from assay.results import Result
    from assay.tables.answers import Judgments, Ratings
    from assay.tables.files import Source
    from assay.tables.test_set import Sample, TestSet


def chosen_workers(backend: Backend | None, workers: int | None, scheduler: str | None) -> Workers:
    """Who does the work of a sweep; options that contradict each other are refused.

    >>> chosen_workers(None, 4, None), chosen_workers("processes", None, None)
    (4, 0)
    >>> chosen_workers(None, None, "tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    """
    from assay.engine import Cluster

    if backend == "dask" or (backend is None and scheduler is not None):
        if scheduler is None:
            raise OptionError("--backend", "dask", "needs a cluster", "give --scheduler ADDRESS")
        if workers is not None:
            raise OptionError(
                "--workers", workers, "is for processes of this machine",
                "leave it out: the cluster has as many as were started",
            )  # fmt: skip
        return Cluster(scheduler)
    if scheduler is not None:
        raise OptionError("--scheduler", scheduler, "is for dask", "give --backend dask")
    if backend == "serial":
        if workers not in (None, 1):
            raise OptionError("--workers", workers, "is not serial", "give --backend processes")
        return 1
    if backend == "processes":
        return 0 if workers is None else workers
    return 1 if workers is None else workers


def names(text: str | None) -> list[str] | None:
    """``a,b`` as a list; None where nothing was said.

    >>> names("chrF, BLEU")
    ['chrF', 'BLEU']
    """
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(option: str, text: str | None) -> dict[str, str]:
    """``a=b,c=d`` as a dict.

    >>> pairs("columns", "seg=seg_id,score=mqm")
    {'seg': 'seg_id', 'score': 'mqm'}
    """
    mapping = {}
    for part in names(text) or []:
        left, sign, right = part.partition("=")
        if not sign or not left.strip() or not right.strip():
            remedy = "write NAME=YOURS, separated by commas"
            raise OptionError(option, part, "is not a pair", remedy)
        mapping[left.strip()] = right.strip()
    return mapping


def columns_for(text: str | None, *tables: tuple[str, Source]) -> list[dict[str, str]]:
    """The part of ``--columns`` that concerns each table (kind and file) a command reads.

    One mapping serves all commands: an entry goes to every table of these that has both Assay's
    column by its kind and the user's by its file. An entry that fits none of the files is refused.
    """
    from assay.tables.check import find_schema
    from assay.tables.files import column_names

    schemas = [find_schema(kind) for kind, _ in tables]
    mapping = pairs("columns", text)
    if not mapping:
        return [{} for _ in tables]
    _need_columns(mapping, [name for schema in schemas for name in schema.names])
    present = [column_names(path) for _, path in tables]
    for user in mapping.values():
        if not any(user in listed for listed in present):
            everything = list(dict.fromkeys(name for listed in present for name in listed))
            raise OptionError(
                "columns", user, f"is not a column of these files{did_you_mean(user, everything)}",
                f"the columns are {', '.join(everything)}",
            )  # fmt: skip
    return [
        {name: user for name, user in mapping.items() if name in schema.names and user in listed}
        for schema, listed in zip(schemas, present, strict=True)
    ]


def _need_columns(mapping: dict[str, str], known: list[str]) -> None:
    """Refuse names that no table of Assay has."""
    from assay.tables.check import RESERVED

    here = list(dict.fromkeys(known))
    for name, user in mapping.items():
        if name not in RESERVED:
            raise OptionError(
                "columns", f"{name}={user}", "is not one of Assay's"
                                             f" columns{did_you_mean(name, here)}",
                f"write Assay's name first, yours second; its columns here are {', '.join(here)}",
            )  # fmt: skip


def only_for(
    only: str | None, lp: str | None, own: dict[str, str], path: Path, *, every: bool = False
) -> dict[str, str]:
    """The rows of ``--only`` and ``--lp`` in one table; with ``every``, it must have all columns.

    Like ``--columns``, one choice serves all tables of a command: those that have the column.
    """
    from assay.tables.files import column_names

    wanted = pairs("only", only)
    if lp is not None:
        if wanted.get("lp", lp) != lp:
            raise OptionError("lp", lp, f"contradicts --only lp={wanted['lp']}", "give one of them")
        wanted["lp"] = lp
    if not wanted or every:
        return wanted
    present = column_names(path)
    return {name: value for name, value in wanted.items() if own.get(name, name) in present}


def read_test_set(
    path: Path,
    own: dict[str, str],
    *,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None,
    exclude: str | None,
    only: str | None = None,
    lp: str | None = None,
    keep: Sequence[str | None] = (),
) -> TestSet:
    """The scores table of a command, or the rows of it that the user wants.

    A column that the user calls the score is not a metric. Where the metrics are named, columns
    that are neither Assay's nor in ``keep`` are not loaded.
    """
    from dataclasses import replace

    from assay.tables.test_set import read_scores

    test_set = read_scores(
        path,
        columns=own,
        metrics=names(metrics),
        lower_metrics=names(lower_metrics) or (),
        exclude=names(exclude) or (),
        only=only_for(only, lp, own, path, every=True),
        keep=None if metrics is None else [name for name in keep if name is not None],
    )
    answer = pairs("columns", columns).get("score")
    if answer in test_set.metrics and not test_set.named:
        rest = tuple(name for name in test_set.metrics if name != answer)
        test_set = replace(test_set, metrics=rest)
    return test_set


def with_history(
    test_set: TestSet, path: Path | None, better: Literal["higher", "lower"]
) -> TestSet:
    """The test set with what the ratings of a file say of its segments."""
    from assay.tables.answers import add_history, read_ratings
    from assay.tables.files import column_names

    if path is None:
        return test_set
    pairs = test_set.segments["lp"].unique().to_list() if "lp" in test_set.key else []
    one = test_set.part and len(pairs) == 1 and "lp" in column_names(path)
    ratings = read_ratings(path, better=better, only={"lp": pairs[0]} if one else None)
    return add_history(test_set, ratings)


def read_rated(
    scores: Path,
    ratings: Path,
    *,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None = None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"],
    range: str | None = None,
    keep: Sequence[str | None] = (),
) -> tuple[TestSet, Ratings]:
    """The test set and its ratings, both as the user chose them."""
    from assay.tables.answers import read_ratings

    own, theirs = columns_for(columns, ("scores", scores), ("ratings", ratings))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, keep=keep,
    )  # fmt: skip
    given = read_ratings(
        ratings, test_set, columns=theirs, better=better, range=score_range(range),
        only=only_for(only, lp, theirs, ratings),
    )  # fmt: skip
    return test_set, given


def read_judged(
    path: Path, columns: str | None, exclude: str | None, only: str | None, lp: str | None
) -> Judgments:
    """The judgments that the user chose, without the systems to be left out."""
    from assay.tables.answers import read_judgments

    (own,) = columns_for(columns, ("judgments", path))
    rows = only_for(only, lp, own, path, every=True)
    return read_judgments(path, columns=own, exclude=names(exclude) or (), only=rows)


def has_rows(path: Path) -> bool:
    """Whether a table has anything below its header."""
    from assay.tables.files import load

    return load(path, text=lambda _: True).frame.height > 0


def answers_kind(path: Path, columns: str | None) -> Literal["judgments", "ratings"]:
    """Whether the file has judgments or ratings, by its columns."""
    from assay.tables.files import column_names

    return _kind_of(column_names(path), path, columns)


def _kind_of(
    present: Sequence[str], path: Path, columns: str | None
) -> Literal["judgments", "ratings"]:
    from assay.tables.check import SCHEMAS

    here = {*present, *pairs("columns", columns)}
    missing = {
        kind: [name for name in SCHEMAS[kind].required if name not in here]
        for kind in ("judgments", "ratings")
    }
    if not missing["judgments"] and not missing["ratings"]:
        raise InputError(
            f"{path}: has the columns of judgments and of ratings; keep those of one of them"
        )
    if all(missing.values()):
        raise InputError(
            f"{path}: is neither a table of judgments (no {', '.join(missing['judgments'])}) nor"
            f" of ratings (no {', '.join(missing['ratings'])}); map your names with --columns"
        )
    return "ratings" if missing["judgments"] else "judgments"


def read_answers(
    path: Path,
    *,
    columns: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
    better: Literal["higher", "lower"] = "higher",
) -> Judgments | Ratings:
    """The judgments or ratings of a file, whichever it has; it is read once."""
    from dataclasses import replace

    from assay.tables.answers import read_judgments, read_ratings
    from assay.tables.files import peek

    present, source = peek(path)
    kind = _kind_of(present, path, columns)
    (users,) = columns_for(columns, (kind, path))
    rows = only_for(only, lp, users, path, every=True)
    left_out = names(exclude) or []
    if kind == "judgments":
        return read_judgments(source, columns=users, exclude=left_out, only=rows)
    table = read_ratings(source, columns=users, better=better, only=rows)
    return replace(table, frame=without(table.frame, left_out))


def without(frame: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The rows of a table of ratings that are not of these systems."""
    import polars as pl

    for name in systems:
        known = frame["system"].unique(maintain_order=True).to_list()
        need_known("exclude", name, known, "is not among the rated systems")
        frame = frame.filter(pl.col("system") != name)
    return frame


def refuse_overwriting(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to write over a file that the command reads."""
    for path in inputs:
        if output is not None and path is not None and output.resolve() == path.resolve():
            raise OptionError("output", output, "is an input file", "name another file")


def figure_file(figure: Path | None) -> Path | None:
    """The file for a figure; refused before anything is written, not after."""
    endings = (".svg", ".pdf", ".png")
    if figure is not None and figure.suffix.lower() not in endings:
        raise OptionError(
            "figure", figure, "is not a kind of figure", f"end it in {', '.join(endings)}"
        )
    return figure


def save_file(save: Path | None, *inputs: Path | None) -> None:
    """Refuse a file for the result that the command reads, or that is not JSON."""
    for path in inputs:
        if save is not None and path is not None and save.resolve() == path.resolve():
            raise OptionError("save", save, "is an input file", "name another file")
    if save is not None and save.suffix.lower() != ".json":
        raise OptionError("save", save, "is not a JSON file", "end its name in .json")


def read_drawn(sample: Path | None, test_set: TestSet) -> Sample | None:
    """The sample of a command, where there is one."""
    from assay.tables.test_set import read_sample

    return None if sample is None else read_sample(sample, test_set)


def shares(option: str, text: str) -> list[float]:
    """``5%,10%`` as shares.

    >>> shares("--sizes", "5%, 0.1")
    [0.05, 0.1]
    """
    parts = names(text) or []
    try:
        return [
            float(part.removesuffix("%")) / (100 if part.endswith("%") else 1) for part in parts
        ]
    except ValueError:
        raise OptionError(option, text, "are not shares", "write shares such as 5%,10%") from None


def score_range(text: str | None) -> tuple[float, float] | None:
    """``0,25`` as two numbers.

    >>> score_range("0,25")
    (0.0, 25.0)
    """
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise OptionError("range", text, "is not a range", "write LOW,HIGH such as 0,25") from None
    return low, high


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    sys.stdout.write(_text(result))


def save_json(result: Mapping[str, Any], path: Path) -> None:
    """Write the JSON object to a file, whole or not at all."""
    from assay.tables.files import atomic

    with atomic(path) as temporary:
        temporary.write_text(_text(result), encoding="utf-8")


def _text(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def deliver(
    result: Result,
    save: Path | None,
    json: bool,
    show: Callable[[], None] | None = None,
) -> None:
    """Save a result where it shall go, and print it as JSON or show it to a person."""
    if save is not None:
        save_json(result.to_dict(), save)
    if json:
        print_json(result.to_dict())
        return
    if show is not None:
        show()
    else:
        from assay.views.section import section_of
        from assay.views.section import show as print_section

        print_section(section_of(result))
    if save is not None:
        print(f"written to {save}; assay report {save} makes a page of it")


def note(*lines: str) -> None:
    """Say something on stderr that is not the answer itself."""
    for line in lines:
        print(line, file=sys.stderr)
