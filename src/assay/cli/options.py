"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from assay.errors import InputError, OptionError, did_you_mean, need_known

if TYPE_CHECKING:
    import polars as pl

    from assay.engine import Workers
    from assay.tables.answers import Judgments, Ratings
    from assay.tables.files import Source
    from assay.tables.test_set import Sample, TestSet


COLUMNS = Annotated[
    str | None,
    typer.Option("--columns", help="Your column names: seg=seg_id,score=mqm.", metavar="A=B,..."),
]
METRICS = Annotated[
    str | None,
    typer.Option("--metrics", help="Metric columns; default: all numeric ones.", metavar="A,B"),
]
LOWER_METRICS = Annotated[
    str | None,
    typer.Option("--lower-metrics", help="Metrics where less is better.", metavar="A,B"),
]
EXCLUDE = Annotated[
    str | None,
    typer.Option("--exclude", help="Systems to leave out, such as a reference.", metavar="A,B"),
]
ONLY = Annotated[
    str | None,
    typer.Option("--only", help="Read only these rows: lp=en-de,domain=news.", metavar="A=B,..."),
]
RANGE = Annotated[
    str | None,
    typer.Option("--range", help="The rating scale; scores outside are refused.", metavar="LO,HI"),
]
SCORES = Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")]
RATINGS = Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")]
SAMPLE_OPTION = typer.Option("--sample", help="The sample the ratings were drawn with.")
SAMPLE = Annotated[Path | None, SAMPLE_OPTION]
ASSUME = Annotated[
    str | None,
    typer.Option("--assume", help="Without a sample, how segments were chosen: random, documents."),
]
LEVEL = Annotated[float, typer.Option("--level", help="Confidence level.")]
DRAWS = Annotated[int, typer.Option("--draws", help="Samples to draw.")]
HALF_WIDTH_OPTION = typer.Option("--half-width", help="The half-width wanted of the intervals.")
BETTER = Annotated[
    Literal["higher", "lower"],
    typer.Option("--better", help="Which ratings are good (MQM: lower)."),
]
SEED = Annotated[
    int | None, typer.Option("--seed", help="Seed of the random choice; the output repeats it.")
]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
OUTPUT = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write to this file.", metavar="FILE")
]
SAVE = Annotated[
    Path | None,
    typer.Option(
        "--save", "-o", help="Save the result (.json) for `assay report`.", metavar="FILE"
    ),
]
SAVE_ONLY = Annotated[
    Path | None,
    typer.Option("--save", help="Save the result (.json) for `assay report`.", metavar="FILE"),
]
"""For commands whose ``-o`` is something else: a table, a folder, a page."""

POWER = Annotated[float, typer.Option("--power", help="Probability of finding the gap.")]
GAP = Annotated[
    float, typer.Option("--gap", help="The difference to be found, in the unit of the scores.")
]
SYSTEM_COUNT = Annotated[
    int | None, typer.Option("--systems", help="How many systems; default: the pilot's.")
]
SYSTEMS = Annotated[
    str | None,
    typer.Option(
        "--systems", help="The systems compared: their names, or how many.", metavar="A,B|N"
    ),
]
SECONDS = Annotated[float | None, typer.Option("--seconds", help="Seconds one answer takes.")]
COST = Annotated[float | None, typer.Option("--cost", help="What one answer costs.")]
SIZES = Annotated[
    str | None, typer.Option("--sizes", help="Sizes to show results for.", metavar="N,...")
]
PILOT = Annotated[
    Path | None, typer.Option("--pilot", help="Answers collected so far.", metavar="FILE")
]
TARGET = Annotated[
    str | None,
    typer.Option("--target", help="What intervals are for: test-set or new-documents."),
]
HISTORY = Annotated[
    Path | None,
    typer.Option("--history", help="Other systems' ratings of these segments, to learn from."),
]
FIGURE = Annotated[
    Path | None,
    typer.Option("--figure", help="Draw it to this .svg, .pdf or .png file.", metavar="FILE"),
]
Backend: TypeAlias = Literal["serial", "processes", "dask"]
BACKEND = Annotated[
    Backend | None,
    typer.Option("--backend", help="How the work runs; default: by --workers and --scheduler."),
]
WORKERS = Annotated[
    int | None,
    typer.Option("--workers", help="Processes to share the work; 0: one per core. Default: 1."),
]
SCHEDULER = Annotated[
    str | None,
    typer.Option("--scheduler", help="A dask cluster: tcp://HOST:8786.", metavar="ADDRESS"),
]
LP = Annotated[
    str | None, typer.Option("--lp", help="Language pair, where a format has several or none.")
]

SYSTEM = Annotated[
    str | None, typer.Option("--system", help="The system, where an XLIFF file does not say.")
]
EDITOR = Annotated[
    str | None, typer.Option("--editor", help="The editor, where an XLIFF file does not say.")
]


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
                "columns", user, f"is in no file{did_you_mean(user, everything)}",
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
                "columns", f"{name}={user}", f"names no column{did_you_mean(name, here)}",
                f"Assay's name comes first, yours second; its columns here are {', '.join(here)}",
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
            raise OptionError("lp", lp, f"is not --only lp={wanted['lp']}", "give one of them")
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
            raise OptionError("output", output, "is a file that is read", "name another one")


def figure_file(figure: Path | None) -> Path | None:
    """The file for a figure; refused before anything is written, not after."""
    endings = (".svg", ".pdf", ".png")
    if figure is not None and figure.suffix.lower() not in endings:
        raise OptionError(
            "figure", figure, "is not a kind of figure", f"end it in {', '.join(endings)}"
        )
    return figure


def json_file(output: Path | None) -> Path | None:
    """The file for a result, which is JSON."""
    if output is not None and output.suffix.lower() != ".json":
        raise OptionError("output", output, "is for a JSON result", "let its name end in .json")
    return output


def save_file(save: Path | None, *inputs: Path | None) -> None:
    """Refuse a file for the result that is not JSON, or that the command reads."""
    if save is not None and save.suffix.lower() != ".json":
        raise OptionError("--save", save, "is for a JSON result", "let its name end in .json")
    for path in inputs:
        if save is not None and path is not None and save.resolve() == path.resolve():
            raise OptionError("--save", save, "is a file that is read", "name another one")


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
