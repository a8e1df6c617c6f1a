"""Options of the designs, by the parameter each sets."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

BUDGET = Annotated[
    str,
    typer.Option(
        "--budget", help="142, 20%, '5000 words' or '90 min' over all systems.", metavar="N|P%"
    ),
]
DESIGN = Annotated[
    str,
    typer.Option(
        "--design",
        help="auto, segments (SL), documents (WD), fixed-snippets (DF), snippets (DB),"
        " snippets-linear, interleaved, balanced, docs-prop, docs-opt, metrics-prop,"
        " metrics-opt.",
    ),
]
MATCHED = Annotated[
    bool,
    typer.Option("--matched/--unmatched", help="The same segments for all systems, or not."),
]
STRATA = Annotated[
    Literal["none", "documents", "metrics"] | None,
    typer.Option("--strata", help="segments: stratify by this."),
]
ALLOCATION = Annotated[
    Literal["proportional", "optimal", "smoothed"] | None,
    typer.Option("--allocation", help="segments: how many from each stratum."),
]
ROUNDING = Annotated[
    Literal["random", "largest"] | None,
    typer.Option("--rounding", help="segments: random, or largest remainder."),
]
BIN_SIZE = Annotated[
    int | None, typer.Option("--bin-size", help="segments: size of metric strata (80).")
]
STOP = Annotated[
    Literal["under", "over", "closest"] | None,
    typer.Option("--stop", help="documents, fixed-snippets: where to stop (closest)."),
]
SIZE_LIMIT = Annotated[
    int | None, typer.Option("--size-limit", help="documents: never draw longer ones.")
]
LENGTH = Annotated[
    int | None, typer.Option("--length", help="fixed-snippets: segments per snippet (10).")
]
LONGEST_FIRST = Annotated[
    bool, typer.Option("--longest-first", help="fixed-snippets: longest documents first.")
]
MAX_SNIPPET = Annotated[
    int | None, typer.Option("--max-snippet", help="snippets: the longest allowed (10).")
]
SLOPE = Annotated[
    float | None,
    typer.Option("--slope", help="balanced: how much more often bad-looking segments come."),
]
