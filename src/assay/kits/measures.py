"""What one edited segment cost: time, edit distance, changed or not, and HTER.

Distances are always computed from the two texts; what a tool reports about them is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError
from assay.tables.edits import Edits

__all__ = [
    "MEASURES",
    "Measured",
    "Watch",
    "check_measures",
    "edit_distance",
    "measure_edits",
    "unwatched",
]

Item = TypeVar("Item")


class Watch(Protocol):
    """Hands on the items of a long piece of work and their number, to show progress."""

    def __call__(self, items: Iterator[Item], total: int, /) -> Iterable[Item]:
        """The same items."""
        ...


def unwatched(items: Iterator[Item], total: int, /) -> Iterable[Item]:
    """Hand the items on and show nothing."""
    return items


MEASURES = {
    "time": "seconds per word",
    "distance": "characters edited, % of the longer text",
    "changed": "share of segments changed",
    "hter": "words edited, % of the edited text (HTER)",
}
"""The measures of effort and their units."""

DEFAULT = ("time", "distance", "changed")


@dataclass(frozen=True, slots=True)
class Measured:
    """The segments with their measures, and what had to be done on the way.

    ``frame`` has ``system``, ``doc``, ``seg``, ``editor``, ``words``, ``seconds``, ``place`` (the
    document's place in the editor's kit, null where unknown) and a column per measure.
    """

    frame: pl.DataFrame
    measures: tuple[str, ...]
    notes: tuple[str, ...]

    def cells(self) -> pl.DataFrame:
        """A row for each editor and document: means of the measures.

        ``time`` is seconds per word over all segments, ``scaled_time`` the mean of the segments'
        times on the scale asked for.
        """
        means = [pl.col(name).mean() for name in self.measures if name != "time"]
        timed = pl.col("seconds").is_not_null()
        words = pl.col("words").filter(timed).sum()
        return self.frame.group_by("editor", "doc", "system", maintain_order=True).agg(
            pl.len().alias("segments"),
            pl.col("words").sum(),
            pl.col("seconds").sum(),
            (pl.col("seconds").sum() / words).alias("time"),
            pl.col("time").mean().alias("scaled_time"),
            pl.col("place").first(),
            *means,
        )


def edit_distance(mt: str, edited: str) -> float:
    """100 x character Levenshtein distance / length of the longer text (korotaev2022).

    >>> edit_distance("the cat", "the hat"), edit_distance("", "")
    (14.285714285714285, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    return 100 * float(Levenshtein.normalized_distance(mt, edited))


def check_measures(measures: Sequence[str] | None) -> tuple[str, ...]:
    """The measures asked for, in the order of :data:`MEASURES`."""
    if measures is None:
        return DEFAULT
    for name in measures:
        if name not in MEASURES:
            raise OptionError(
                "measures", name, "is not known", f"choose from {', '.join(MEASURES)}"
            )
    if not measures:
        raise OptionError("measures", "", "names none", f"choose from {', '.join(MEASURES)}")
    return tuple(name for name in MEASURES if name in measures)


def measure_edits(
    edits: Edits, measures: Sequence[str] | None, *, time: str, watch: Watch = unwatched
) -> Measured:
    """Measure every segment; time is left out, with a note, where the table has none."""
    wanted = check_measures(measures)
    notes = list(edits.notes)
    frame = _with_words(edits.frame, notes)
    if "seconds" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("seconds"))
    timed = frame.height - frame["seconds"].null_count()
    if "time" in wanted and not timed:
        notes.append("no segment has seconds: time is left out")
        wanted = tuple(name for name in wanted if name != "time")
        if not wanted:
            raise InputError("no segment has seconds and time is the only measure; name others")
    elif timed < frame.height and "time" in wanted:
        notes.append(f"{frame.height - timed} segments without seconds left out of time")
    texts = list(zip(frame["mt"], frame["edited"], strict=True))
    columns = [
        pl.Series("distance", [edit_distance(mt, edited) for mt, edited in texts]),
        pl.Series("changed", [float(mt != edited) for mt, edited in texts]),
        (pl.col("seconds") / pl.col("words")).alias("time"),
    ]
    if "hter" in wanted:
        columns.append(pl.Series("hter", _hter(texts, watch)))
    frame = frame.with_columns(columns).with_columns(_places(frame))
    return Measured(_robust(frame, time, notes), wanted, tuple(notes))


def _with_words(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Words per segment: as given, else of the source, else of the machine translation."""
    if "words" in frame.columns and not frame["words"].null_count():
        words = pl.col("words")
    else:
        text = "source" if "source" in frame.columns and frame["source"].null_count() == 0 else "mt"
        notes.append(f"words counted in {text}, at white space")
        words = pl.col(text).str.count_matches(r"\S+").cast(pl.Float64)
    frame = frame.with_columns(words.alias("words"))
    empty = frame.group_by("doc", maintain_order=True).agg(pl.col("words").sum())
    for doc in empty.filter(pl.col("words") == 0)["doc"]:
        raise InputError(f"document '{doc}' is empty: it has no words; leave it out")
    # A segment such as "***" has no word but takes a moment: it counts as one.
    none = int((frame["words"] == 0).sum())
    if none:
        notes.append(f"{none} segments without a word count as one word")
    return frame.with_columns(pl.col("words").clip(lower_bound=1.0))


def _hter(texts: list[tuple[str, str]], watch: Watch) -> list[float]:
    from sacrebleu.metrics.ter import TER

    ter = TER()
    return [
        0.0 if mt == edited else ter.sentence_score(mt, [edited]).score
        for mt, edited in watch(iter(texts), len(texts))
    ]


def _places(frame: pl.DataFrame) -> pl.Expr:
    """The place of each document in its editor's kit, by the first position of its segments."""
    if "position" not in frame.columns or frame["position"].null_count():
        return pl.lit(None, dtype=pl.Int64).alias("place")
    first = pl.col("position").min().over("editor", "doc")
    return first.rank("dense").over("editor").cast(pl.Int64).alias("place")


def _robust(frame: pl.DataFrame, time: str, notes: list[str]) -> pl.DataFrame:
    """Time on the scale asked for; the plain mean is at the mercy of a few long segments."""
    if time == "winsorised":
        known = frame["time"].drop_nulls().to_numpy()
        cap = float(np.quantile(known, 0.95)) if known.size else 0.0
        notes.append(f"time per word capped at its 95 % quantile, {cap:.2f} s")
        return frame.with_columns(pl.col("time").clip(upper_bound=cap))
    if time == "log":
        notes.append("time on the scale log(1 + seconds per word)")
        return frame.with_columns(pl.col("time").log1p())
    if time != "mean":
        raise OptionError("time", time, "is not known", "choose from mean, log, winsorised")
    return frame
