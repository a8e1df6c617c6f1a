"""Files with judgments or ratings: which of the two, and of which systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.options import pairs
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    import polars as pl


def answers_kind(path: Path, columns: str | None) -> str:
    """Whether the file has judgments or ratings, by its columns."""
    from assay.tables.raw import column_names
    from assay.tables.schema import find_schema

    present = {*column_names(path), *pairs("--columns", columns)}
    missing = {kind: [c for c in find_schema(kind).required if c not in present]
               for kind in ("judgments", "ratings")}  # fmt: skip
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


def without(frame: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The rows of a table of ratings that are not of these systems."""
    import polars as pl

    for name in systems:
        if name not in frame["system"]:
            known = ", ".join(frame["system"].unique(maintain_order=True))
            raise OptionError(
                "exclude", name, "is not among the rated systems", f"choose from {known}"
            )
        frame = frame.filter(pl.col("system") != name)
    return frame
