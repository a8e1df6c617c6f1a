"""A table that holds several test sets, read one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import OptionError
from assay.tables.check import Columns, did_you_mean
from assay.tables.only import ONLY_NOTE
from assay.tables.raw import Only, Source, is_plain_parquet
from assay.tables.test_set import TestSet, read_scores


@dataclass(frozen=True, eq=False)
class Parts(Mapping[str, TestSet]):
    """The test sets of a Parquet file by their name; each is read when it is asked for.

    Nothing is kept: whoever asks twice has it read twice.
    """

    path: Path
    by: str
    found: dict[str, str | None]
    columns: Columns | None
    metrics: Sequence[str] | None
    lower_metrics: Sequence[str]
    exclude: Sequence[str]
    only: Only
    keep: Sequence[str] | None

    def renamed(self, names: Mapping[str, str]) -> Parts:
        """The same under other names."""
        return replace(self, found={names[name]: value for name, value in self.found.items()})

    def __getitem__(self, name: str) -> TestSet:
        part = read_scores(
            self.path, columns=self.columns, metrics=self.metrics,
            lower_metrics=self.lower_metrics, exclude=self.exclude,
            only={**self.only, self.by: self.found[name]}, keep=self.keep,
        )  # fmt: skip
        # That it is a part of the file goes without saying here.
        notes = tuple(note for note in part.notes if not note.startswith(ONLY_NOTE))
        return replace(part, notes=notes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


def read_parts(
    source: Source,
    by: str,
    *,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
    only: Only | None = None,
    keep: Sequence[str] | None = None,
) -> Mapping[str, TestSet]:
    """The test sets of a scores table by the value of a column, such as ``lp``.

    A Parquet file may be larger than memory: its parts are read one by one, each when it is asked
    for. Anything else is read at once. The options are those of :func:`assay.read_scores`.

    >>> import polars as pl
    >>> rows = {"lp": ["de", "de", "fr"], "system": ["A", "B", "A"], "seg": [1, 1, 1]}
    >>> parts = read_parts(pl.DataFrame(rows), "lp")
    >>> {name: test_set.systems for name, test_set in parts.items()}
    {'de': ('A', 'B'), 'fr': ('A',)}
    """
    if isinstance(source, str | os.PathLike) and is_plain_parquet(Path(source)):
        path, own = Path(source), (columns or {}).get(by, by)
        values = _values(path, own, {(columns or {}).get(k, k): v for k, v in (only or {}).items()})
        return Parts(
            path, by, values, columns, metrics, lower_metrics, exclude, dict(only or {}), keep
        )
    wanted = None if keep is None else [*keep, by]
    whole = read_scores(
        source, columns=columns, metrics=metrics, lower_metrics=lower_metrics, exclude=exclude,
        only=only, keep=wanted,
    )  # fmt: skip
    return whole.split(by)


def _values(path: Path, column: str, only: Only) -> dict[str, str | None]:
    from assay.tables.parquet import parquet_columns, parquet_values

    known = parquet_columns(path)
    if column not in known:
        raise OptionError(
            "by", column, f"is no column of the scores{did_you_mean(column, known)}",
            f"choose one of {', '.join(known)}",
        )  # fmt: skip
    return {str(value): value for value in parquet_values(path, column, only)}
