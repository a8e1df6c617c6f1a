"""Measure the effort of post-editing and compare translation systems by it.

Distances are always computed from the two texts; those that a tool reports are not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load
from threadpoolctl import threadpool_limits

from assay.effort.model import (
    LIMITS,
    MEASURES,
    UNLIMITED,
    EffortModel,
    Limits,
    Names,
    check_names,
    fit_model,
    fixed_columns,
    t_p,
)
from assay.effort.randomisation import Chances, randomise
from assay.effort.results import (
    Effort,
    EffortDifference,
    SystemEffort,
    effort_by_editor,
    judge_parity,
    place_systems,
    price_of,
    relative_effort,
    summarise_systems,
)
from assay.effort.verdict import (
    Verdict,
    design_warnings,
    difference_warnings,
    judge,
    needed_to_decide,
    next_steps,
    summarise_documents,
    warnings_of_tests,
)
from assay.errors import InputError, OptionError, need_count, need_known
from assay.results import Note
from assay.stats.intervals import holm
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded
from assay.tables.answers import Edits, as_edits, edit_distance
from assay.tables.load import Source

DEFAULT = ("time", "distance", "changed")
"""The measures that are used by default."""
_OFFSET = 0.05
"""Added to times of 0 before taking logarithms, as a share of the mean time."""
ZERO_TIME_SHARE = 0.1
"""A warning is given if at least this share of the segments took 0 s."""
LIKELY_PACE = 0.05, 60.0
"""Seconds per word: fewer than reading takes, or more than thinking takes, mean another unit."""
LONG_TIME_SHARE = 0.25
"""A warning is given if the longest 5 % of the segments take at least this share of all time."""


def effort(
    edits: Edits | Source,
    *,
    human: str | None = None,
    margin: float | None = None,
    measures: Sequence[str] | None = None,
    time: str = "mean",
    time_weight: float = 1.0,
    alike: float = 1.25,
    assume_alike: bool | None = None,
    rate: float | str | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    rng: Rng = None,
    progress: Progress = silent,
) -> Effort:
    """Compare systems by what editors did to their translations; less effort is better.

    A mixed model (:mod:`assay.effort.model`) gives means, differences and their intervals for every
    measure. Each difference also has a randomisation test over the assignments of kits to editors,
    and its range when one editor is left out. A difference is undetermined if its interval contains
    0; each is judged on its own, and ``holm_p`` corrects for the number of pairs.

    human: the name of the human translation. margin: how much more effort still counts as parity
    with it (0.1: a tenth). measures: time, distance, changed (the default) and hter. time: mean,
    log or winsorised; time_weight: its weight in the placings. alike: documents are alike if the
    90 % interval of their share lies within 1/alike and alike. assume_alike: take documents as
    alike, for kits in which a document always has the same system; if systems have several
    documents, their differences count as chance. By default documents are taken as alike only if
    systems cannot be separated from them and each system has several. rate: the price of an
    editor's hour with its currency (``"40 EUR"``). draws: how many random assignments to try if
    there are too many to try all. progress: called for every segment of HTER and every fit.

    >>> import assay, polars as pl
    >>> rows = [
    ...     {"system": s, "doc": d, "seg": k, "editor": e, "mt": "a small house",
    ...      "edited": "a small house" if s == "X" or (k + i) % 3 == 0 else "the tiny home"}
    ...     for e, kit in {"E1": "XY", "E2": "YX", "E3": "XY", "E4": "YX"}.items()
    ...     for i, (d, s) in enumerate(zip("de", kit)) for k in range(5 + int(e[1]))]
    >>> result = effort(assay.read_edits(pl.DataFrame(rows)), measures=["changed"], rng=1)
    >>> [(d.left, d.right, d.verdict) for d in result.differences]
    [('X', 'Y', 'X needs less effort')]
    """
    _check_options(margin, human, alike, level, time_weight, draws)
    price, currency = price_of(rate)
    generator, seed = seeded(rng)
    measured = measure_edits(as_edits(edits), measures, time=time, progress=progress)
    names = check_names(measured.frame, human)
    if assume_alike is None:
        # Only if systems are confounded with documents and have several each.
        system, document, _ = names.codes(measured.frame)
        sizes = (len(names.systems), len(names.documents))
        columns, _ = fixed_columns(system, document, None, sizes, documents=True)
        several = measured.frame.group_by("system").agg(pl.col("doc").n_unique())["doc"].min()
        assume_alike = bool(several > 1 and np.linalg.matrix_rank(columns) < columns.shape[1])  # type: ignore[operator]
    models = _fit_models(measured, names, progress, documents=not assume_alike)
    cells = measured.cells()
    fixed = {name: model.fixed for name, model in models.items()}
    chances = randomise(cells, fixed, names, draws=draws, rng=generator)
    differences = _differences(models, chances, names, level)
    used = next(iter(fixed.values()))
    needed = needed_to_decide(differences, models, level, place="place" in used)
    paid = models.get("time")  # all seconds over all words: the basis of hours and price
    if paid is not None and time != "mean":
        limits = LIMITS["time"]
        paid = fit_model(measured.frame, "pace", names, documents=not assume_alike, limits=limits)
    weights = {"time": time_weight}
    systems = summarise_systems(cells, models, chances, paid, names, level, price)
    verdict = _verdict(systems, differences, measured, measures, human)
    warnings = (
        *(_time_warnings(measured.frame) if "time" in measured.measures else ()),
        *design_warnings(cells, names, models, assumed=assume_alike),
        *warnings_of_tests(chances, models),
        *difference_warnings(differences, models, needed, level, verdict, place="place" in used),
    )
    return Effort(
        systems=systems,
        documents=summarise_documents(
            measured.frame, cells, measured.measures, names, alike, level
        ),
        differences=differences,
        parity=judge_parity(models, names, human, margin, level, logs=time == "log"),
        relative=relative_effort(cells, measured.measures),
        by_editor=effort_by_editor(cells, measured.measures, weights),
        placings=place_systems(cells, measured.measures, weights),
        warnings=warnings,
        components={name: _components(model) for name, model in models.items()},
        overall_p={name: item.overall for name, item in chances.items()},
        units=measured.units, editors=names.editors,
        degrees=min(model.degrees for model in models.values()),
        fixed=used, level=level, human=human, margin=margin, measures=measured.measures,
        alike=alike, assume_alike=assume_alike, time=time, time_weight=time_weight, rate=price,
        draws=draws, assignments=min(item.assignments for item in chances.values()),
        exact=all(item.exact for item in chances.values()), seed=seed, notes=measured.notes,
        next=next_steps(
            verdict, differences, models, needed, hours=_hours(measured, names), rate=price,
            currency=currency,
        ),
        verdict=verdict, currency=currency,
    )  # fmt: skip


class Measured(NamedTuple):
    """The measured segments, with notes on how they were measured.

    ``frame`` has ``system``, ``doc``, ``seg``, ``editor``, ``words``, ``seconds``, ``place`` (of
    the document in the editor's kit, null if unknown), a column per measure, and ``pace``: seconds
    over the mean words of the cell (the editor's segments of the document). The mean of ``pace``
    over a cell is all its seconds over all its words, the time that is paid for. ``time`` equals
    ``pace`` unless another scale was asked for.
    """

    frame: pl.DataFrame
    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    units: Mapping[str, str]
    limits: Mapping[str, Limits]

    def cells(self) -> pl.DataFrame:
        """One row per editor and document, with the means of the measures.

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


def measure_edits(
    edits: Edits, measures: Sequence[str] | None = None, *, time: str = "mean",
    progress: Progress = silent,
) -> Measured:  # fmt: skip
    """Measure every segment; time is left out, with a note, if the table has none."""
    measures = DEFAULT if measures is None else measures
    for name in measures:
        need_known("measures", name, list(MEASURES))
    if not measures:
        raise OptionError("measures", "", "names none", f"choose from {', '.join(MEASURES)}")
    wanted = tuple(name for name in MEASURES if name in measures)
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
        text = f"{untimed:,} segments without seconds left out of time"
        notes.append(Note("times-missing", text))
    texts = list(zip(frame["mt"], frame["edited"], strict=True))
    timed = pl.when(pl.col("seconds").is_not_null()).then(pl.col("words"))
    columns = [
        pl.Series("distance", [edit_distance(mt, edited) for mt, edited in texts]),
        pl.Series("changed", [float(mt != edited) for mt, edited in texts]),
        (pl.col("seconds") / timed.mean().over("editor", "doc")).alias("pace"),
    ]
    if "hter" in wanted:
        from assay.effort.hter import segment_hter

        values, more = segment_hter(texts, progress)
        columns.append(pl.Series("hter", values))
        notes += more
    frame = frame.with_columns(columns).with_columns(_places(frame))
    units = {name: MEASURES[name] for name in wanted}
    scaled, unit, limits = _scaled(frame, time, notes if "time" in wanted else [])
    if "time" in wanted:
        units["time"] = unit
    frame = frame.with_columns(scaled.alias("time"))
    return Measured(frame, wanted, tuple(notes), units, {**LIMITS, "time": limits})


def _with_words(frame: pl.DataFrame, notes: list[Note]) -> pl.DataFrame:
    """Add the words of every segment: as given, else counted in the source, else in the MT."""
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
    # A segment such as "***" has no word but takes a moment: it counts as one word.
    if wordless := int((frame["words"] == 0).sum()):
        text = f"{wordless:,} segments without a word are counted as one word each"
        notes.append(Note("no-words", text))
    return frame.with_columns(pl.col("words").clip(lower_bound=1.0))


def _places(frame: pl.DataFrame) -> pl.Expr:
    """The place of each document in its editor's kit, by the first position of its segments."""
    if "position" not in frame.columns or frame["position"].null_count():
        return pl.lit(None, dtype=pl.Int64).alias("place")
    first = pl.col("position").min().over("editor", "doc")
    return first.rank("dense").over("editor").cast(pl.Int64).alias("place")


def _scaled(frame: pl.DataFrame, time: str, notes: list[Note]) -> tuple[pl.Expr, str, Limits]:
    """Time on the scale asked for, its unit and its limits.

    A few long segments can dominate the plain mean; the other scales are taken segment by segment.
    """
    unit, limits = MEASURES["time"], LIMITS["time"]
    if time == "mean":
        return pl.col("pace"), unit, limits
    each = pl.col("seconds") / pl.col("words")
    known = frame.select(each.drop_nulls()).to_series().to_numpy()
    if time == "winsorised":
        cap = float(np.quantile(known, 0.95)) if known.size else 0.0
        text = f"time per word is capped at its 95% quantile, {cap:.2f} s"
        notes.append(Note("time-scale", text))
        scaled, unit = each.clip(upper_bound=cap), f"{unit}, at most {cap:.2f}"
        limits = (0.0, cap) if cap > 0 else limits
    elif time == "log":
        # Without zeros, differences of logs are ratios of times; with zeros, something is added.
        extra = _OFFSET * float(known.mean()) if known.size and known.min() == 0 else 0.0
        unit = f"log({unit} + {extra:.3g})" if extra else f"log({unit})"
        text = f"time is on the scale {unit}: differences are logarithms of ratios"
        notes.append(Note("time-scale", text))
        # Where all times are 0 there is no scale.
        scaled, limits = (each + extra).log() if known.any() else each, UNLIMITED
    else:
        raise OptionError("time", time, "is not known", "choose from mean, log, winsorised")
    text = "shares of documents, ratios, placings, hours and price use plain time"
    notes.append(Note("plain-time", text))
    return scaled, unit, limits


def _verdict(
    systems: Sequence[SystemEffort], differences: Sequence[EffortDifference], measured: Measured,
    measures: Sequence[str] | None, human: str | None,
) -> Verdict | None:  # fmt: skip
    means = {
        name: {item.system: item.measures[name].mean for item in systems}
        for name in measured.measures
    }
    timed = measured.frame.group_by("system").agg(pl.col("seconds").is_not_null().mean())
    share = None if measures is not None and "time" not in measures else timed["seconds"].min()
    return judge(means, differences, timed=share, human=human)  # type: ignore[arg-type]


def _hours(measured: Measured, names: Names) -> float | None:
    """The mean hours per editor, if every segment has a time."""
    seconds = measured.frame["seconds"]
    if seconds.null_count() or "time" not in measured.measures:
        return None
    return float(seconds.sum()) / 3600 / len(names.editors)


def _check_options(
    margin: float | None, human: str | None, alike: float, level: float, time_weight: float,
    draws: int,
) -> None:  # fmt: skip
    if margin is not None and human is None:
        raise OptionError("margin", margin, "needs a human translation", "name it with `human`")
    if margin is not None and not 0 <= margin < 10:
        raise OptionError("margin", margin, "is not a share", "give 0.1 for a tenth more effort")
    if not 1 < alike < 10:
        raise OptionError("alike", alike, "is not a ratio above 1", "give 1.25 for 0.8 to 1.25")
    if not 0.5 < level < 1:
        raise OptionError("level", level, "is not a confidence level above .5", "give .95")
    if not 0 <= time_weight < float("inf"):
        raise OptionError("time_weight", time_weight, "is not a weight", "give 0 to ignore time")
    need_count("draws", draws, "assignments")


def _fit_models(
    measured: Measured, names: Names, progress: Progress, *, documents: bool
) -> dict[str, EffortModel]:
    models = {}
    progress("measures of effort", 0, len(measured.measures))
    for number, name in enumerate(measured.measures, start=1):
        limits = measured.limits[name]
        # Matrices this small are slower with several threads.
        with threadpool_limits(1, "blas"):
            models[name] = fit_model(
                measured.frame, name, names, documents=documents, limits=limits
            )
        progress("measures of effort", number, len(measured.measures))
    return models


def _components(model: EffortModel) -> dict[str, float]:
    names = ["editor", "segment", "editor x document"]
    if model.document_degrees:
        names.append("document")
    if model.fit is None:
        return dict.fromkeys((*names, "residual"), 0.0)
    values = dict(zip(names, model.fit.components.tolist(), strict=True))
    return values | {"residual": model.fit.residual}


def _differences(
    models: Mapping[str, EffortModel], chances: Mapping[str, Chances], names: Names, level: float
) -> tuple[EffortDifference, ...]:
    """All pairs of systems on every measure, with Holm's p within each measure."""
    pairs = list(combinations(range(len(names.systems)), 2))
    rows: list[EffortDifference] = []
    for name, model in models.items():
        listed = [_difference(model, chances[name], pair, names, level) for pair in pairs]
        p = np.array([item.p for item in listed])
        known = np.isfinite(p)
        p[known] = holm(p[known])
        rows += [replace(item, holm_p=float(q)) for item, q in zip(listed, p, strict=True)]
    return tuple(rows)


def _difference(
    model: EffortModel, chances: Chances, pair: tuple[int, int], names: Names, level: float
) -> EffortDifference:
    left, right = pair
    systems = np.eye(len(names.systems))
    weights = systems[left] - systems[right]
    value, error = model.contrast(weights)
    degrees = model.contrast_degrees(weights)
    interval = model.difference_interval(weights, level)
    decided = interval.low > 0 or interval.high < 0
    without = model.without[:, left] - model.without[:, right]
    known = without[~np.isnan(without)]
    p = t_p(value, error, degrees)
    less = names.systems[left if value < 0 else right]
    # Without an editor, degrees of freedom shrink by the same share between and within editors.
    share = 1.0 if model.document_degrees else model.without_degrees / model.degrees
    freedom = np.maximum(degrees * share, 1.0)
    half = scipy.special.stdtrit(freedom, (1 + level) / 2) * model.without_stderr[:, *pair]
    turning = ~np.isnan(without) & ((np.abs(without) > half) != decided)
    # If several editors turn the sign, none of them decides: the difference is undetermined.
    reversing = without * value < 0
    deciding = turning if turning.any() else reversing & (reversing.sum() == 1)
    return EffortDifference(
        names.systems[left], names.systems[right], model.measure, value, error, degrees,
        interval.low, interval.high, p, holm_p=p, randomisation_p=chances.pairs[pair],
        decided=decided, verdict=f"{less} needs less effort" if decided else "undetermined",
        least=float(known.min()) if known.size else float("nan"),
        most=float(known.max()) if known.size else float("nan"),
        deciding_editors=tuple(np.array(names.editors)[deciding].tolist()),
    )  # fmt: skip


def _time_warnings(frame: pl.DataFrame) -> list[Note]:
    """Warn of segments without time, of a few segments with most of it, and of a wrong unit."""
    seconds = frame["seconds"].drop_nulls().to_numpy()
    warnings = []
    pace = seconds.sum() / max(float(frame.drop_nulls("seconds")["words"].sum()), 1.0)
    if not LIKELY_PACE[0] <= pace <= LIKELY_PACE[1] and seconds.sum() > 0:
        warnings.append(Note(
            "time-unlikely",
            f"1,000 words would take {1000 * pace / 3600:.2g} h, which is implausible: are these"
            " times in seconds? A column called Time (min), or ms, is read in that unit",
        ))  # fmt: skip
    zero = int(np.sum(seconds == 0))
    if zero and zero >= ZERO_TIME_SHARE * seconds.size:
        warnings.append(Note(
            "zero-time",
            f"{zero} of {seconds.size} segments ({zero / seconds.size:.0%}) took exactly 0 s: the"
            " time spent reading unchanged segments is missing",
        ))  # fmt: skip
    longest = np.sort(seconds)[::-1][: max(1, round(0.05 * seconds.size))].sum()
    if seconds.sum() > 0 and longest >= LONG_TIME_SHARE * seconds.sum():
        warnings.append(Note(
            "long-times",
            f"5% of the segments take {longest / seconds.sum():.0%} of all time, so a few breaks"
            " can decide the mean; compare with log or winsorised time, or leave time out",
        ))  # fmt: skip
    return warnings
