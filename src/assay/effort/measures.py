"""What one edited segment cost: time, edit distance, changed or not, and HTER.

Distances are always computed from the two texts; what a tool reports about them is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError
from assay.results import Note
from assay.stats.progress import Progress, silent
from assay.tables.answers import Edits, edit_distance

MEASURES = {
    "time": "seconds per word",
    "distance": "characters edited, % of the longer text",
    "changed": "share of segments changed",
    "hter": "words edited, % of the edited text (HTER)",
}
"""The measures of effort and their units."""

DEFAULT = ("time", "distance", "changed")
_OFFSET = 0.05
"""What is added to times before their logarithm where some are 0, a share of their mean."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The segments with their measures, and what had to be done on the way.

    ``frame`` has ``system``, ``doc``, ``seg``, ``editor``, ``words``, ``seconds``, ``place`` (the
    document's place in the editor's kit, null where unknown), a column per measure, and ``pace``:
    seconds over the mean words of the editor's segments of the document. The mean of ``pace`` over
    these is all their seconds over all their words, so that it is the time that is paid for; it is
    also ``time``, unless that is on another scale.
    """

    frame: pl.DataFrame
    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    units: Mapping[str, str]

    def cells(self) -> pl.DataFrame:
        """A row for each editor and document: means of the measures.

        ``time`` is all seconds over all words, ``scaled_time`` the mean of the segments' times on
        the scale asked for.
        """
        means = [pl.col(name).mean() for name in self.measures if name != "time"]
        timed = pl.col("seconds").is_not_null()
        words = pl.col("words").filter(timed).sum()
        return self.frame.group_by("editor", "doc", "system", maintain_order=True).agg(
            pl.len().alias("segments"),
            pl.col("words").sum(),
            pl.col("words").filter(~timed).sum().alias("untimed"),
            pl.col("seconds").sum(),
            pl.when(words > 0).then(pl.col("seconds").sum() / words).alias("time"),
            pl.col("time").mean().alias("scaled_time"),
            pl.col("place").first(),
            *means,
        )


def _check_measures(measures: Sequence[str] | None) -> tuple[str, ...]:
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
    edits: Edits,
    measures: Sequence[str] | None = None,
    *,
    time: str = "mean",
    progress: Progress = silent,
) -> Measured:
    """Measure every segment; time is left out, with a note, where the table has none."""
    wanted = _check_measures(measures)
    notes = [line if isinstance(line, Note) else Note("table", line) for line in edits.notes]
    frame = _with_words(edits.frame, notes)
    if "seconds" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("seconds"))
    untimed = frame["seconds"].null_count()
    if "time" in wanted and untimed == frame.height:
        notes.append(Note("no-times", "no segment has seconds: time is left out"))
        wanted = tuple(name for name in wanted if name != "time")
        if not wanted:
            raise InputError("no segment has seconds and time is the only measure; name others")
    elif "time" in wanted and untimed:
        notes.append(
            Note("times-missing", f"{untimed} segments without seconds left out of time")
        )  # fmt: skip
    texts = list(zip(frame["mt"], frame["edited"], strict=True))
    columns = [
        pl.Series("distance", [edit_distance(mt, edited) for mt, edited in texts]),
        pl.Series("changed", [float(mt != edited) for mt, edited in texts]),
        (pl.col("seconds") / _timed_words()).alias("pace"),
    ]
    if "hter" in wanted:
        columns.append(pl.Series("hter", _hter(texts, progress)))
    frame = frame.with_columns(columns).with_columns(_places(frame))
    units = {name: MEASURES[name] for name in wanted}
    scaled, unit = _scaled(frame, time, notes if "time" in wanted else [])
    if "time" in wanted:
        units["time"] = unit
    return Measured(frame.with_columns(scaled.alias("time")), wanted, tuple(notes), units)


def _timed_words() -> pl.Expr:
    """The mean words of an editor's segments of a document that have seconds."""
    timed = pl.when(pl.col("seconds").is_not_null()).then(pl.col("words"))
    return timed.mean().over("editor", "doc")


def _with_words(frame: pl.DataFrame, notes: list[Note]) -> pl.DataFrame:
    """Words per segment: as given, else of the source, else of the machine translation."""
    if "words" in frame.columns and not frame["words"].null_count():
        words = pl.col("words")
    else:
        text = "source" if "source" in frame.columns and frame["source"].null_count() == 0 else "mt"
        notes.append(Note("words-counted", f"words counted in {text}, at white space"))
        words = pl.col(text).str.count_matches(r"\S+").cast(pl.Float64)
    frame = frame.with_columns(words.alias("words"))
    empty = frame.group_by("doc", maintain_order=True).agg(pl.col("words").sum())
    for doc in empty.filter(pl.col("words") == 0)["doc"]:
        raise InputError(f"document '{doc}' is empty: it has no words; leave it out")
    # A segment such as "***" has no word but takes a moment: it counts as one.
    if wordless := int((frame["words"] == 0).sum()):
        notes.append(
            Note("no-words", f"{wordless} segments without a word are counted as one word each")
        )
    return frame.with_columns(pl.col("words").clip(lower_bound=1.0))


def _hter(texts: list[tuple[str, str]], progress: Progress) -> list[float]:
    from sacrebleu.metrics.ter import TER

    ter = TER()
    values = []
    for number, (mt, edited) in enumerate(texts, start=1):
        values.append(0.0 if mt == edited else float(ter.sentence_score(mt, [edited]).score))
        progress("HTER of segments", number, len(texts))
    return values


def _places(frame: pl.DataFrame) -> pl.Expr:
    """The place of each document in its editor's kit, by the first position of its segments."""
    if "position" not in frame.columns or frame["position"].null_count():
        return pl.lit(None, dtype=pl.Int64).alias("place")
    first = pl.col("position").min().over("editor", "doc")
    return first.rank("dense").over("editor").cast(pl.Int64).alias("place")


def _scaled(frame: pl.DataFrame, time: str, notes: list[Note]) -> tuple[pl.Expr, str]:
    """Time on the scale asked for, and its unit.

    A few long segments can dominate the plain mean. Other scales are taken segment by segment.
    """
    unit = MEASURES["time"]
    if time == "mean":
        return pl.col("pace"), unit
    each = pl.col("seconds") / pl.col("words")
    known = frame.select(each.drop_nulls()).to_series().to_numpy()
    if time == "winsorised":
        cap = float(np.quantile(known, 0.95)) if known.size else 0.0
        notes.append(
            Note("time-scale", f"time per word is capped at its 95 % quantile, {cap:.2f} s")
        )
        scaled, unit = each.clip(upper_bound=cap), f"{unit}, at most {cap:.2f}"
    elif time == "log":
        # Without zeros differences of logs are ratios of times. A zero needs something added.
        extra = _OFFSET * float(known.mean()) if known.size and known.min() == 0 else 0.0
        unit = f"log({unit} + {extra:.3g})" if extra else f"log({unit})"
        notes.append(
            Note("time-scale", f"time is on the scale {unit}: differences are logarithms of ratios")
        )
        # Where all times are 0 there is no scale.
        scaled = (each + extra).log() if known.any() else each
    else:
        raise OptionError("time", time, "is not known", "choose from mean, log, winsorised")
    notes.append(
        Note("plain-time", "shares of documents, ratios, placings, hours and price use plain time")
    )
    return scaled, unit
