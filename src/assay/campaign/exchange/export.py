"""Export: the tables of a campaign as files, all or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from assay.campaign.exchange.project import write_project
from assay.campaign.exchange.rows import answers_of, when
from assay.campaign.records import Collected
from assay.collecting.campaigns import Exported
from assay.errors import InputError, OptionError, did_you_mean
from assay.project.settings import Settings
from assay.tables.typed_files import save

TABLES = (
    "ratings", "errors", "judgments", "edits", "sample", "scores", "raters", "forms", "events",
)  # fmt: skip
ENDINGS = (".tsv", ".csv", ".jsonl", ".parquet", ".xlsx")


def export_tables(
    collected: Collected,
    folder: str | os.PathLike[str],
    *,
    tables: Sequence[str] | None = None,
    ending: str = ".tsv",
    settings: Settings | None = None,
) -> Exported:
    """Write what a campaign gathered as tables that Assay reads back.

    ``tables`` are those wanted, all that there are unless said; ``ending`` is the type of the
    files. Checks and repeats are among the ratings, marked as such, and count in no estimate.
    Answers of raters who are left out are not written. With the campaign's ``settings`` the folder
    of all tables becomes a project, in which ``assay estimate`` repeats the campaign's numbers.
    """
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise OptionError("ending", ending, "is not a type of table", f"choose from {known}")
    for name in tables or ():
        if name not in TABLES:
            fault = f"is not a table of a campaign{did_you_mean(name, TABLES)}"
            raise OptionError("tables", name, fault, f"choose from {', '.join(TABLES)}")
    frames = {
        name: frame
        for name, frame in tables_of(collected).items()
        if tables is None or name.partition("-")[0] in tables
    }
    for name in tables or ():
        if not any(found.partition("-")[0] == name for found in frames):
            raise InputError(f"the campaign has no {name} so far; leave that table out")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: no folder can be made there ({error.strerror})") from None
    written = {name: save(frame, target / f"{name}{ending}") for name, frame in frames.items()}
    rows = {name: frame.height for name, frame in frames.items()}
    project = None
    if settings is not None and tables is None:
        named = {name: Path(path).name for name, path in written.items()}
        project = write_project(settings, named, target)
    paths = tuple(map(str, written.values()))
    return Exported(paths, sum(rows.values()), rows, None if project is None else str(project))


def tables_of(collected: Collected) -> dict[str, pl.DataFrame]:
    """Every table that the campaign has, by name, in the order of :data:`TABLES`."""
    frames = answers_of(collected)
    if collected.sample is not None:
        frames["sample"] = collected.sample
    frames["scores"] = collected.scores
    if collected.raters:
        frames["raters"] = _frame(collected.raters)
    for name, rows in (("forms", collected.forms), ("events", collected.events)):
        if rows:
            frames[name] = _frame([{**row, "at": when(row["at"])} for row in rows])
    return frames


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows whose lists and objects are JSON, as a text file has no other way to hold them."""
    plain = [
        {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    frame = pl.DataFrame(plain, infer_schema_length=None)
    empty = [name for name, kind in frame.schema.items() if kind == pl.Null]
    return frame.with_columns(pl.col(empty).cast(pl.String))
