"""Judgments: who won against whom, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.results import Note
from assay.tables.load import CheckedTable, Columns, Only, Raw, Source, conform


@dataclass(frozen=True, eq=False)
class Judgments(CheckedTable):
    """Who won against whom; ``set`` joins the judgments made on one screen."""

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems compared, in the order they first appear, left before right."""
        # One column at a time: joining both columns of a million rows is slow.
        firsts = []
        for side in ("left", "right"):
            column = self.frame[side]
            rows = column.arg_unique()
            names = column.gather(rows).to_list()
            firsts += [(row, side, name) for row, name in zip(rows.to_list(), names, strict=True)]
        return tuple(dict.fromkeys(name for _, _, name in sorted(firsts)))


def read_judgments(
    source: Source | Raw,
    *,
    columns: Columns | None = None,
    exclude: Sequence[str] = (),
    only: Only | None = None,
) -> Judgments:
    """Read a judgments table; ``exclude`` leaves out every judgment of these systems.

    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> rows = {"left": ["A", "B"], "right": ["B", "C"], "winner": ["left", "tie"]}
    >>> read_judgments(pl.DataFrame(rows)).systems
    ('A', 'B', 'C')
    """
    frame, findings = conform(source, "judgments", columns=columns, only=only)
    itself = "'{}' is compared with itself; left and right must differ"
    findings.rows(frame["left"] == frame["right"], "right", frame["right"], itself)
    findings.stop()
    notes = list(findings.notes)
    known = Judgments(frame).systems
    for name in exclude:
        need_known("exclude", name, known, "is not among the judged systems")
    if exclude:
        rows = frame.height
        out = pl.col("left").is_in(list(exclude)) | pl.col("right").is_in(list(exclude))
        frame = frame.filter(~out)
        if not frame.height:
            raise OptionError("exclude", ", ".join(exclude), "leaves no judgment", "exclude fewer")
        text = f"{rows - frame.height:,} judgments of excluded systems left out"
        notes.append(Note("excluded-systems", text))
    return Judgments(frame, tuple(notes))


def need_one_lp(frame: pl.DataFrame, what: str) -> None:
    """Refuse answers of several language pairs: systems of different pairs are not compared."""
    if "lp" in frame.columns and frame["lp"].n_unique() > 1:
        pairs = ", ".join(frame["lp"].unique(maintain_order=True)[:40])
        raise InputError(
            f"the {what} are of several language pairs ({pairs}); choose one with `only`"
            f" (lp={pairs.split(', ')[0]})"
        )
