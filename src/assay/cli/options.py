"""Options that several commands share, each with one meaning and one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

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
FORMAT = Annotated[
    str | None,
    typer.Option("--format", help="Another tool's format, such as google-mqm or sdlxliff."),
]
RANGE = Annotated[
    str | None,
    typer.Option("--range", help="The rating scale; scores outside are refused.", metavar="LO,HI"),
]
SCORES = Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")]
RATINGS = Annotated[
    list[Path],
    typer.Argument(help="What the raters answered, in one or more files.", metavar="RATINGS..."),
]
RATED_FILES = Annotated[
    list[Path],
    typer.Argument(
        help="The test set, if there is one, and what the raters answered, in one or more files.",
        metavar="[SCORES] RATINGS...",
    ),
]
SCORES_OPTION = typer.Option("--scores", help="The test set that the file is about.")
SAMPLE_OPTION = typer.Option(
    "--sample", help="The sample: which segments, and how they were drawn."
)
SAMPLE = Annotated[Path | None, SAMPLE_OPTION]
ASSUME = Annotated[
    str | None,
    typer.Option("--assume", help="Without a sample, how segments were chosen: random, documents."),
]
LEVEL = Annotated[float, typer.Option("--level", help="Confidence level.")]
DRAWS = Annotated[int, typer.Option("--draws", help="Samples or campaigns to simulate.")]
HALF_WIDTH_OPTION = typer.Option("--half-width", help="The wanted half-width of the intervals.")
BETTER_OPTION = typer.Option("--better", help="Which ratings are better (MQM: lower).")
BETTER = Annotated[Literal["higher", "lower"], BETTER_OPTION]
BETTER_IF_RATED = Annotated[Literal["higher", "lower"] | None, BETTER_OPTION]
"""For commands that need no ratings: given without them it is refused."""
SIDES = Annotated[
    int, typer.Option("--sides", help="Tests two-sided (2) or one-sided (1).", min=1, max=2)
]
SEED = Annotated[int | None, typer.Option("--seed", help="Random seed; the output repeats it.")]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
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

SYSTEMS = Annotated[
    str | None,
    typer.Option(
        "--systems", help="The systems compared: their names, or how many.", metavar="A,B|N"
    ),
]
EACH_PAIR = Annotated[
    bool,
    typer.Option(
        "--each-pair", help="From judgments: the level is for each pair, not for all together."
    ),
]
PAY = Annotated[
    str | None,
    typer.Option(
        "--pay", help="What one answer costs: '0.12 EUR per rating', '18 EUR per hour, 40 s per"
        " rating'.", metavar="PRICE",
    ),
]  # fmt: skip
TARGET = Annotated[
    str | None,
    typer.Option("--target", help="What intervals are for: raters, texts or answers."),
]
FAMILY = Annotated[
    bool,
    typer.Option("--family", help="Decide so that all verdicts together hold at the level (Holm)."),
]
HISTORY = Annotated[
    Path | None,
    typer.Option(
        "--history",
        help="Other systems' ratings of these segments, to learn from; estimate: also an earlier"
        " campaign with the same metrics.",
    ),
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
BUDGET_OPTION = typer.Option(
    "--budget",
    help="What may be rated or spent: 142 segments, 20%, '15000 ratings', '300 EUR' or '20 hours'.",
    metavar="N|P%|AMOUNT",
)


def _share(text: str) -> float:
    """``10%`` or ``0.1``."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise typer.BadParameter("give a share such as 10% or 0.1") from None


OVERLAP = Annotated[
    float | None,
    typer.Option(
        "--overlap",
        parser=_share,
        metavar="SHARE",
        help="Share of tasks with one rater more. Default: 10%.",
    ),
]
BY = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Results, or campaigns, by group: a column such as domain or lp; estimate: also"
        " document, length, category.",
    ),
]
CHECKS = Annotated[
    float | None,
    typer.Option(
        "--checks",
        parser=_share,
        metavar="SHARE",
        help="Share of outputs with a spoiled copy beside. Default: 0.",
    ),
]
REPEATS = Annotated[
    float | None,
    typer.Option(
        "--repeats",
        parser=_share,
        metavar="SHARE",
        help="Share of tasks that a rater has twice. Default: 0.",
    ),
]
INSTRUCTIONS = Annotated[
    Path | None,
    typer.Option("--instructions", help="Your own words to the raters: a text file."),
]
PER_OUTPUT_OPTION = typer.Option("--per-output", help="Raters of every output; default: 1.")
FROM_HELP = (
    "What there is: tables, a folder of texts, a WMT folder; convert: the table or format of SRC."
)
KIND = Annotated[
    str | None,
    typer.Option(
        "--kind", help="scores, ratings, errors, judgments, edits or sample; default: a guess."
    ),
]
RATERS = Annotated[
    str | None, typer.Option("--raters", help="Who rates: names, or how many.", metavar="A,B|N")
]
KEY = Annotated[
    Path | None,
    typer.Option("--key", help="Where the key goes; default: FOLDER-key.tsv.", metavar="FILE"),
]
LP = Annotated[
    str | None, typer.Option("--lp", help="Language pair, where a format has several or none.")
]

HUMAN_TRANSLATION = Annotated[
    str | None, typer.Option("--human", help="Which system is the human translation.")
]
SYSTEM = Annotated[
    str | None, typer.Option("--system", help="The system, where an XLIFF file does not say.")
]
EDITOR = Annotated[
    str | None, typer.Option("--editor", help="The editor, where an XLIFF file does not say.")
]

SHOWN = {
    "new": "origin protocol raters pay columns metrics better replace",
    "check": "kind format test_set columns metrics range save json",
    "convert": "origin to columns sample lp system list_formats save",
    "sample": "budget design goal top_up seed output save json",
    "collect": "sheets raters sample overlap per_output range key output",
    "report": "output title parts open json",
    "estimate": "sample better method target by compare save json",
    "rank": "method ranges better columns format pairs save json",
    "effort": "before after human margin rate format save json",
    "raters": "sample assume better range columns exclude save json",
    "audit": "published sample assume target better pairs save json",
    "monitor": "sample goal half_width looks before better save json",
    "next": "sample method count budget better columns save json",
    "next-set": "systems scores goal per_set count seed save json",
    "stability": "metric budget designs held_out draws by figure save",
    "evaluate": "methods sizes draws half_width better workers save json",
    "plan campaign": "budget half_width decide pay scores systems save json",
    "plan ratings": "half_width population sd systems pay spend save json",
    "plan comparison": "gap population difference_sd pay spend save json",
    "plan judgments": "pilot systems sigma significant pay spend save json",
    "plan editors": "gap systems measure pilot segments power save json",
    "kits find": "words pieces count language texts figure save json",
    "kits design": "systems editors design documents seed output save json",
    "kits build": "output key formats human lp columns save json",
}
"""The options in the short help of a command, at most eight; others show theirs from the first."""
MOST_SHOWN = 8
