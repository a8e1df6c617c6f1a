"""Compare translation systems by the effort of editing them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load
from threadpoolctl import threadpool_limits

from assay.effort.model import (
    LIMITS,
    EffortModel,
    Measured,
    Names,
    check_names,
    fit_model,
    fixed_columns,
    measure_edits,
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
    relative_effort,
    summarise_documents,
    summarise_systems,
)
from assay.effort.verdict import (
    Verdict,
    difference_warnings,
    judge,
    needed_to_decide,
    next_steps,
)
from assay.errors import OptionError, need_count
from assay.results import Note
from assay.stats.intervals import holm
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded
from assay.tables.edits import Edits, as_edits
from assay.tables.load import Source

ZERO_TIME_SHARE = 0.1
LIKELY_PACE = 0.05, 60.0
"""Seconds a word: less than reading takes, more than thinking does, is another unit."""
"""From this share of segments with 0 s on, a warning is given."""
LONG_TIME_SHARE = 0.25
"""From this share of all time in the longest 5 % of the segments on, a warning is given."""


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

    A mixed model (see :mod:`assay.effort.model`) gives means, differences and their intervals for
    every measure; a randomisation test over the assignments of kits to editors and the differences
    without each editor stand beside it. A difference whose interval holds 0 is undetermined. Each
    difference is judged by itself; ``holm_p`` allows for the number of pairs.

    ``human`` names the human translation and ``margin`` (0.1: a tenth more) how much more effort
    still counts as parity with it. ``measures`` are time, distance, changed (the default) and
    hter. ``time`` is mean, log or winsorised; ``time_weight`` its weight in the placings.
    Documents are alike if the 90 % interval of their share lies within 1/``alike`` and ``alike``.
    ``assume_alike`` takes them as alike, for kits in which a document always has the same system;
    where systems have several documents, how these differ then counts as chance. Unless said, they
    are taken so only where nothing else is possible and each system has several documents.
    ``rate`` is the price of an editor's hour, with its currency (``"40 EUR"``). ``draws`` random
    assignments are tried where there are too many to try all. ``progress`` hears of the segments
    as HTER is computed, and of the measures as they are fitted.

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
        # Only where systems cannot be told from documents, and have several of a kind each.
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
    paid = models.get("time")  # all seconds over all words, which hours and price follow from
    if paid is not None and time != "mean":
        limits = LIMITS["time"]
        paid = fit_model(measured.frame, "pace", names, documents=not assume_alike, limits=limits)
    weights = {"time": time_weight}
    systems = summarise_systems(cells, models, chances, paid, names, level, price)
    verdict = _verdict(systems, differences, measured, measures, human)
    warnings = (
        *(_time_warnings(measured.frame) if "time" in measured.measures else ()),
        *_design_warnings(cells, names, models, assumed=assume_alike),
        *_test_warnings(chances, models),
        *difference_warnings(differences, models, needed, level, verdict, place="place" in used),
    )
    return Effort(
        systems=systems,
        documents=summarise_documents(measured, cells, names, alike, level),
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


def price_of(rate: float | str | None) -> tuple[float | None, str | None]:
    """The price of an hour and its currency, where one is named.

    >>> price_of("40 EUR"), price_of("€38.50"), price_of(40), price_of(None)
    ((40.0, 'EUR'), (38.5, '€'), (40.0, None), (None, None))
    """
    if rate is None:
        return None, None
    text = re.sub(r"\s*(/|per|an?)\s*(h|hour)$", "", str(rate).strip())
    match = re.fullmatch(r"([A-Z]{3}|[€$£])?\s*(\d+(?:\.\d+)?)\s*([A-Z]{3}|[€$£])?", text)
    if match is None or (match[1] and match[3]):
        raise OptionError("rate", rate, "is not the price of an hour", "write 40 EUR, or 40")
    return float(match[2]), match[1] or match[3]


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
    """What an editor worked on average, where every segment has its time."""
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
        # Matrices this small are slower with several threads, which wait for each other.
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
    # What lies between editors loses its share of freedom as what lies within them does.
    share = 1.0 if model.document_degrees else model.without_degrees / model.degrees
    freedom = np.maximum(degrees * share, 1.0)
    half = scipy.special.stdtrit(freedom, (1 + level) / 2) * model.without_stderr[:, *pair]
    turning = ~np.isnan(without) & ((np.abs(without) > half) != decided)
    # Where several editors turn the sign, nobody in particular does: it is just undetermined.
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
    """Segments without time, time that a few segments hold, and time in another unit."""
    seconds = frame["seconds"].drop_nulls().to_numpy()
    warnings = []
    pace = seconds.sum() / max(float(frame.drop_nulls("seconds")["words"].sum()), 1.0)
    if not LIKELY_PACE[0] <= pace <= LIKELY_PACE[1] and seconds.sum() > 0:
        warnings.append(Note(
            "time-unlikely",
            f"1,000 words would take {1000 * pace / 3600:.2g} h, which nobody needs: are these"
            " times in seconds? A column called Time (min), or ms, is read as such",
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


def _design_warnings(
    cells: pl.DataFrame, names: Names, models: Mapping[str, EffortModel], *, assumed: bool
) -> list[Note]:
    """Positions that cannot be told from documents, unbalanced kits, assumptions."""
    warnings = []
    model = next(iter(models.values()))
    if assumed and model.document_degrees:
        warnings.append(Note(
            "documents-random",
            f"documents are assumed alike in kind: how the {len(names.documents)} of them differ"
            f" counts as chance, known with {model.document_degrees} degrees of freedom",
        ))  # fmt: skip
    elif assumed:
        warnings.append(Note(
            "documents-assumed-alike",
            "documents are assumed to be alike: if one is harder, that counts against the system"
            " that translated it",
        ))  # fmt: skip
    if len(names.documents) > 1 and "place" not in model.fixed:
        warnings.append(_place_warning(cells))
    twice = cells.group_by("editor", "system", maintain_order=True).len().filter(pl.col("len") > 1)
    if twice.height:
        row = twice.row(0, named=True)
        warnings.append(Note(
            "system-twice",
            f"{twice.height} times an editor had a system in more than one document (first:"
            f" {row['editor']}, {row['system']}); the kits are not balanced. Degrees of freedom"
            " are approximated for each comparison, so with few editors the intervals are rough",
        ))  # fmt: skip
    return warnings


def _place_warning(cells: pl.DataFrame) -> Note:
    known = cells["place"].null_count() == 0
    order = cells.sort("place", maintain_order=True) if known else cells
    orders = order.group_by("editor", maintain_order=True).agg("doc")["doc"].to_list()
    if all(docs == orders[0] for docs in orders):
        source = "" if known else " (judging by the order of the rows)"
        return Note(
            "place-is-document",
            f"every editor had the documents in the same order{source}: tiredness and document"
            " cannot be separated; rotate the order next time (assay kits design)",
        )
    if known:
        return Note(
            "place-left-out",
            "the model does not allow for the order of documents: it is tied to the systems, or"
            " there are too few editors",
        )
    return Note(
        "place-unknown", "no positions are given, so the model does not allow for tiredness"
    )


def _test_warnings(
    chances: Mapping[str, Chances], models: Mapping[str, EffortModel]
) -> list[Note]:  # fmt: skip
    """Tests that cannot be made: nothing to deal out, or no spread to judge by."""
    groups = (
        ("nothing-to-deal-out",
         [name for name, item in chances.items() if any(p != p for p in item.pairs.values())],
         "some pairs have no randomisation test: exchanging kits among editors with the same"
         " documents never changes who edited these systems"),
        ("not-linked",
         [name for name, model in models.items() if model.unlinked.shape[1]],
         "documents are missing, and no editor's remaining work separates these systems from"
         " their documents; the differences are undetermined, since they would depend on how fast"
         " the editors are"),
        ("no-spread",
         [name for name, item in models.items() if item.fit is None and np.ptp(item.means)],
         "systems, documents, editors and segments explain every value exactly, so there is no"
         " spread by which to judge a difference; only the randomisation test can do that"),
    )  # fmt: skip
    return [Note(code, f"{', '.join(names)}: {text}") for code, names, text in groups if names]
