"""Compare translation systems by the effort of editing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
from scipy import special

from assay.errors import InputError, OptionError, did_you_mean
from assay.kits.effort_advice import next_steps
from assay.kits.effort_cautions import (
    chance_cautions,
    design_cautions,
    difference_cautions,
    time_cautions,
)
from assay.kits.effort_chance import Chances, randomise
from assay.kits.effort_model import Model, Names, fit_model, t_p
from assay.kits.effort_results import Effort, EffortDifference
from assay.kits.effort_summary import judge_parity, summarise_documents, summarise_systems
from assay.kits.effort_tables import effort_by_editor, place_systems, relative_effort
from assay.kits.measures import Measured, measure_edits
from assay.kits.watch import Watch, unwatched
from assay.results import signature
from assay.stats.orders import holm as holm_adjusted
from assay.stats.random import Rng, seeded
from assay.tables.answers import Edits, as_edits
from assay.tables.files import Source


def effort(
    edits: Edits | Source,
    *,
    human: str | None = None,
    margin: float | None = None,
    measures: Sequence[str] | None = None,
    time: str = "mean",
    time_weight: float = 1.0,
    alike: float = 1.25,
    assume_alike: bool = False,
    rate: float | None = None,
    level: float = 0.95,
    draws: int = 10_000,
    rng: Rng = None,
    watch: Watch = unwatched,
) -> Effort:
    """Compare systems by what editors did to their translations; less effort is better.

    A mixed model (see :mod:`assay.kits.effort_model`) gives means, differences and their
    intervals for every measure; a randomisation test over the assignments of kits to editors and
    the differences without each editor stand beside it. A difference whose interval holds 0 is
    undetermined. Each difference is judged by itself; ``holm_p`` allows for the number of pairs.

    ``human`` names the human translation and ``margin`` (0.1: a tenth more) how much more effort
    still counts as parity with it. ``measures`` are time, distance, changed (the default) and
    hter. ``time`` is mean, log or winsorised; ``time_weight`` its weight in the placings.
    Documents are alike if the 90 % interval of their share lies within 1/``alike`` and ``alike``.
    ``assume_alike`` takes them as alike, for kits in which a document always has the same system.
    ``rate`` is the price of an editor's hour. ``draws`` random assignments are tried where there
    are too many to try all. ``watch`` sees the segments pass as HTER is computed, and the measures
    as they are fitted, to show progress.

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
    _check_options(margin, human, alike, rate, level, time_weight, draws)
    generator, seed = seeded(rng)
    measured = measure_edits(as_edits(edits), measures, time=time, watch=watch)
    names = _names(measured.frame, human)
    fitted = (
        (name, fit_model(measured.frame, name, names, documents=not assume_alike))
        for name in measured.measures
    )
    fits = dict(watch(fitted, len(measured.measures)))
    models = {name: model for name, (model, _) in fits.items()}
    used = next(iter(fits.values()))[1]
    cells = measured.cells()
    chances = randomise(
        cells, {name: "scaled_time" if name == "time" else name for name in models}, names,
        {name: effects for name, (_, effects) in fits.items()}, draws=draws, rng=generator,
    )  # fmt: skip
    differences = _differences(models, chances, names, level)
    cautions = [
        *(time_cautions(measured.frame) if "time" in measured.measures else []),
        *design_cautions(cells, names, used, assumed=assume_alike),
        *chance_cautions(chances, models),
        *difference_cautions(differences, models, names, level, place="place" in used),
    ]
    exact = all(item.exact for item in chances.values())
    paid = _paid(measured, models, names, time=time, documents=not assume_alike)
    return Effort(
        systems=summarise_systems(cells, models, chances, paid, names, level, rate),
        documents=summarise_documents(measured, cells, names, alike, level),
        differences=differences,
        parity=judge_parity(models, names, human, margin, level, logs=time == "log"),
        relative=relative_effort(cells, measured.measures),
        by_editor=effort_by_editor(cells, measured.measures, {"time": time_weight}),
        placings=place_systems(cells, measured.measures, {"time": time_weight}),
        warnings=tuple(cautions),
        components={name: _components(model) for name, model in models.items()},
        overall_p={name: item.overall for name, item in chances.items()},
        units=measured.units,
        editors=names.editors,
        freedom=min(model.freedom for model in models.values()),
        fixed=used,
        level=level,
        human=human,
        margin=margin,
        measures=measured.measures,
        alike=alike,
        assume_alike=assume_alike,
        time=time,
        time_weight=time_weight,
        rate=rate,
        draws=draws,
        assignments=min(item.assignments for item in chances.values()),
        exact=exact,
        seed=seed,
        notes=measured.notes,
        next=next_steps(
            differences,
            {name: model.editors for name, model in models.items()},
            len(names.systems),
            level,
            place="place" in used,
        ),
        signature=_signature(names, measured, used, time, level, None if exact else seed),
    )


def _paid(
    measured: Measured, models: dict[str, Model], names: Names, *, time: str, documents: bool
) -> Model | None:
    """The model of all seconds over all words, which hours and price follow from."""
    if "time" not in models or time == "mean":
        return models.get("time")
    return fit_model(measured.frame, "pace", names, documents=documents)[0]


def _signature(
    names: Names,
    measured: Measured,
    used: tuple[str, ...],
    time: str,
    level: float,
    seed: int | None,
) -> str:
    return signature(
        "effort",
        "+".join(measured.measures),
        f"reml:{'+'.join(used)}",
        editors=len(names.editors),
        n=measured.frame.height,
        time=None if time == "mean" else time,
        level=f"{level:g}".lstrip("0"),
        seed=seed,
    )


def _check_options(
    margin: float | None,
    human: str | None,
    alike: float,
    rate: float | None,
    level: float,
    time_weight: float,
    draws: int,
) -> None:
    if margin is not None and human is None:
        raise OptionError("margin", margin, "needs a human translation", "name it with human")
    if margin is not None and not 0 <= margin < 10:
        raise OptionError("margin", margin, "is no share", "give 0.1 for a tenth more effort")
    if not 1 < alike < 10:
        raise OptionError("alike", alike, "is no ratio above 1", "give 1.25 for 0.8 to 1.25")
    if rate is not None and not 0 <= rate < float("inf"):
        raise OptionError("rate", rate, "is no price", "give the price of an hour")
    if not 0.5 < level < 1:
        raise OptionError("level", level, "is not a confidence level above .5", "give .95")
    if not 0 <= time_weight < float("inf"):
        raise OptionError("time_weight", time_weight, "is no weight", "give 0 to leave time out")
    if isinstance(draws, bool) or draws < 1:
        raise OptionError("draws", draws, "is no number of assignments", "give 10000")


def _names(frame: pl.DataFrame, human: str | None) -> Names:
    found = [tuple(frame[name].unique(maintain_order=True)) for name in ("system", "doc", "editor")]
    names = Names(*found)
    if len(names.systems) < 2:
        raise InputError(f"only one system ('{names.systems[0]}'): nothing to compare it with")
    if len(names.editors) < 2:
        raise InputError(
            f"only one editor ('{names.editors[0]}'): what is the editor's and what the system's"
            " cannot be told; have more editors"
        )
    if human is not None and human not in names.systems:
        raise OptionError(
            "human",
            human,
            f"is not among the systems{did_you_mean(human, names.systems)}",
            f"choose from {', '.join(names.systems)}",
        )
    both = frame.group_by("editor", "doc", maintain_order=True).agg(pl.col("system").n_unique())
    for row in both.filter(pl.col("system") > 1).iter_rows(named=True):
        raise InputError(
            f"editor '{row['editor']}' edited document '{row['doc']}' from {row['system']} systems:"
            " the second time is not like the first; keep one of them"
        )
    return names


def _differences(
    models: dict[str, Model], chances: dict[str, Chances], names: Names, level: float
) -> tuple[EffortDifference, ...]:
    """All pairs of systems on every measure, with Holm's p within each measure."""
    pairs = list(combinations(range(len(names.systems)), 2))
    found = []
    for name, model in models.items():
        own = [_difference(model, chances[name], pair, names, level) for pair in pairs]
        p = np.array([item.p for item in own])
        known = np.isfinite(p)
        p[known] = holm_adjusted(p[known])
        found += [replace(item, holm_p=float(q)) for item, q in zip(own, p, strict=True)]
    return tuple(found)


def _difference(
    model: Model, chances: Chances, pair: tuple[int, int], names: Names, level: float
) -> EffortDifference:
    left, right = pair
    weights = np.zeros(len(names.systems))
    weights[left], weights[right] = 1.0, -1.0
    value, error = model.contrast(weights)
    freedom = model.contrast_freedom(weights)
    half = float(special.stdtrit(freedom, (1 + level) / 2)) * error
    decided = bool(abs(value) > half)
    others = model.without[:, left] - model.without[:, right]
    known = ~np.isnan(others)
    p = t_p(value, error, freedom)
    return EffortDifference(
        left=names.systems[left],
        right=names.systems[right],
        measure=model.measure,
        difference=value,
        stderr=error,
        freedom=freedom,
        low=value - half,
        high=value + half,
        p=p,
        holm_p=p,
        randomisation_p=chances.pairs[pair],
        decided=decided,
        verdict=_verdict(value, decided, names.systems[left], names.systems[right]),
        least=float(others[known].min()) if known.any() else float("nan"),
        most=float(others[known].max()) if known.any() else float("nan"),
        deciding_editors=_deciding(model, others, pair, value, decided, freedom, names, level),
    )


def _verdict(value: float, decided: bool, left: str, right: str) -> str:
    if not decided:
        return "undetermined"
    return f"{left if value < 0 else right} needs less effort"


def _deciding(
    model: Model,
    others: np.ndarray,
    pair: tuple[int, int],
    value: float,
    decided: bool,
    freedom: float,
    names: Names,
    level: float,
) -> tuple[str, ...]:
    """Editors who turn the verdict, or a single one who turns the sign of an open difference."""
    turning = []
    for number, other in enumerate(others):
        if np.isnan(other):
            continue
        error = float(model.without_stderr[number][pair])
        # What lies between editors loses its share of freedom as what lies within them does.
        left = max(freedom * model.without_freedom[number] / model.freedom, 1.0)
        half = float(special.stdtrit(left, (1 + level) / 2)) * error
        if bool(abs(other) > half) != decided:
            turning.append(names.editors[number])
    # Where several editors turn the sign, nobody in particular does: it is just undetermined.
    reversing = [names.editors[k] for k, other in enumerate(others) if other * value < 0]
    return tuple(turning or (reversing if len(reversing) == 1 else ()))


def _components(model: Model) -> dict[str, float]:
    names = ("editor", "segment", "editor x document")
    if model.fit is None:
        return dict.fromkeys((*names, "residual"), 0.0)
    values = dict(zip(names, model.fit.components.tolist(), strict=True))
    return values | {"residual": model.fit.residual}
