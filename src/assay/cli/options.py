"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.tables.formats import Options

__all__ = [
    "BETTER",
    "BLANKS",
    "COLUMNS",
    "EDITOR",
    "EXCLUDE",
    "HUMAN",
    "JSON",
    "LOWER_METRICS",
    "LP",
    "METRICS",
    "OUTPUT",
    "RANGE",
    "SEED",
    "SYSTEM",
    "WEIGHTS",
    "WORKERS",
    "columns_for",
    "format_options",
    "names",
    "pairs",
    "score_range",
]

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
RANGE = Annotated[
    str | None,
    typer.Option("--range", help="The rating scale; scores outside are refused.", metavar="LO,HI"),
]
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

WORKERS = Annotated[
    int, typer.Option("--workers", help="Processes to share the work; 0: one per core.")
]
LP = Annotated[
    str | None, typer.Option("--lp", help="Language pair, where a format has several or none.")
]
HUMAN = Annotated[
    str | None, typer.Option("--human", help="Which human scores of an mt-metrics-eval folder.")
]
SYSTEM = Annotated[
    str | None, typer.Option("--system", help="The system, where an XLIFF file does not say.")
]
EDITOR = Annotated[
    str | None, typer.Option("--editor", help="The editor, where an XLIFF file does not say.")
]
WEIGHTS = Annotated[
    str | None,
    typer.Option("--weights", help="MQM weights by severity: major=5,minor=1.", metavar="A=B,..."),
]
BLANKS = Annotated[
    Literal["drop", "best"],
    typer.Option("--blanks", help="Unranked outputs in WMT rankings: drop, or count as best."),
]


def format_options(
    *,
    lp: str | None,
    human: str | None,
    system: str | None,
    editor: str | None,
    weights: str | None,
    blanks: Literal["drop", "best"],
) -> Options:
    """What the user said about another tool's file."""
    from dataclasses import replace

    from assay.tables.formats import GOOGLE_WEIGHTS, Options

    changed = {}
    for name, value in pairs("--weights", weights).items():
        try:
            changed[name.lower()] = float(value)
        except ValueError:
            raise OptionError(
                "--weights", f"{name}={value}", "is no weight", "write SEVERITY=NUMBER"
            ) from None
    severities = {**GOOGLE_WEIGHTS.severities, **changed}
    return Options(
        lp=lp,
        human=human,
        system=system,
        editor=editor,
        weights=replace(GOOGLE_WEIGHTS, severities=severities),
        blanks=blanks,
    )


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

    >>> pairs("--columns", "seg=seg_id,score=mqm")
    {'seg': 'seg_id', 'score': 'mqm'}
    """
    found = {}
    for part in names(text) or []:
        left, sign, right = part.partition("=")
        if not sign or not left.strip() or not right.strip():
            raise OptionError(option, part, "is no pair", "write NAME=YOURS, separated by commas")
        found[left.strip()] = right.strip()
    return found


def columns_for(text: str | None, kinds: Sequence[str]) -> list[dict[str, str]]:
    """The part of ``--columns`` that concerns each kind of table a command reads."""
    from assay.tables.check import did_you_mean
    from assay.tables.schema import find_schema

    mapping = pairs("--columns", text)
    schemas = [find_schema(kind) for kind in kinds]
    known = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    for name, own in mapping.items():
        if name not in known:
            raise OptionError(
                "--columns", f"{name}={own}", f"names no column{did_you_mean(name, known)}",
                f"Assay's name comes first, yours second; its columns here are {', '.join(known)}",
            )  # fmt: skip
    return [
        {name: own for name, own in mapping.items() if name in schema.names} for schema in schemas
    ]


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
        raise OptionError("--range", text, "is no range", "write LOW,HIGH such as 0,25") from None
    return low, high
