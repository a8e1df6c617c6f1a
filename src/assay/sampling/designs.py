"""The designs by name: their parameters, their short names in the papers, and their plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.sampling.plans.base import Plan
from assay.sampling.plans.documents import DocumentsPlan, FixedSnippetsPlan
from assay.sampling.plans.segments import (
    BalancedPlan,
    InterleavedPlan,
    SegmentsPlan,
    StratifiedPlan,
)
from assay.sampling.plans.snippets import CircularPlan, LinearPlan, TilesPlan
from assay.sampling.population import Population
from assay.stats.allocation import capped_shares
from assay.tables.check import did_you_mean
from assay.tables.sample import Design


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a design: its default and what it may be."""

    default: str
    about: str
    choices: tuple[str, ...] = ()
    least: float | None = None


_STOP = Parameter("closest", "where to stop: under, over or closest to the budget",
                  ("under", "over", "closest"))  # fmt: skip

SLOPE = 2.0
"""The slope of balanced samples where metrics agree; frozen on WMT20."""

DESIGNS: Mapping[str, Mapping[str, Parameter]] = {
    "segments": {
        "strata": Parameter("none", "none, documents or metrics", ("none", "documents", "metrics")),
        "allocation": Parameter("proportional", "how many from each stratum",
                                ("proportional", "optimal", "smoothed")),
        "rounding": Parameter("random", "random or largest (remainder)", ("random", "largest")),
        "bin": Parameter("80", "segments per stratum of metrics", least=1),
    },
    "documents": {
        "stop": _STOP,
        "limit": Parameter("none", "documents longer than this are never drawn", least=1),
    },
    "fixed-snippets": {
        "length": Parameter("10", "segments per snippet", least=1),
        "stop": _STOP,
        "first": Parameter("random", "order of the documents", ("random", "longest")),
    },
    "snippets-linear": {},
    "snippets": {"max": Parameter("10", "the longest snippet", least=1)},
    "interleaved": {},
    "balanced": {"slope": Parameter("auto", "how much more often bad-looking segments are drawn:"
                                    " 2 where metrics agree, else 0", least=0)},
}  # fmt: skip

SHORT_NAMES = {
    "sl": "segments",
    "wd": "documents",
    "df": "fixed-snippets",
    "db": "snippets",
    "db-linear": "snippets-linear",
    "docs-prop": "segments|strata:documents",
    "docs-opt": "segments|strata:documents|allocation:optimal",
    "metrics-prop": "segments|strata:metrics",
    "metrics-opt": "segments|strata:metrics|allocation:optimal",
}
"""The papers' names, in lower case, and what they stand for."""


def find_design(text: str | Design) -> Design:
    """The design meant by a name, a short name, or ``name|parameter:value``, fully spelt out.

    >>> str(find_design("DF"))
    'fixed-snippets|length:10|stop:closest|first:random'
    >>> str(find_design("snippets|max:5"))
    'snippets|max:5'
    """
    given = str(text)
    head, *rest = given.split("|")
    head = SHORT_NAMES.get(head.lower(), head.lower())
    design = Design.parse("|".join([head, *rest]))
    if design.name not in DESIGNS:
        known = [*DESIGNS, *(name for name in SHORT_NAMES if name not in DESIGNS)]
        raise OptionError(
            "design", given, f"is not known{did_you_mean(design.name, known)}",
            f"choose from auto, {', '.join(DESIGNS)} or {', '.join(SHORT_NAMES)}",
        )  # fmt: skip
    for name, value in design.parameters.items():
        _check_parameter(design.name, name, value)
    defaults = {name: parameter.default for name, parameter in DESIGNS[design.name].items()}
    spelt = defaults | dict(design.parameters)
    if spelt.get("strata") == "none":
        _refuse_without_strata(design)
        spelt = {"strata": "none"}
    if spelt.get("strata") == "documents":
        if "bin" in design.parameters:
            raise OptionError("bin", spelt["bin"], "is for strata of metrics", "leave it out")
        spelt.pop("bin")
    return Design(design.name, spelt)


def short_design(design: Design) -> str:
    """The design by its name and what differs from the defaults.

    >>> short_design(find_design("docs-prop")), short_design(find_design("DB"))
    ('segments|strata:documents', 'snippets')
    """
    known = DESIGNS[design.name]
    own = {k: v for k, v in design.parameters.items() if k in known and v != known[k].default}
    return str(Design(design.name, own))


def _refuse_without_strata(design: Design) -> None:
    for name, value in design.parameters.items():
        if name != "strata":
            raise OptionError(name, value, "needs strata", "add strata documents or metrics")


def _check_parameter(design: str, name: str, value: str) -> None:
    known = DESIGNS[design]
    if name not in known:
        raise OptionError(
            name, value, f"is no parameter of the design {design}{did_you_mean(name, list(known))}",
            f"it has {', '.join(known) or 'none'}",
        )  # fmt: skip
    parameter = known[name]
    if parameter.choices and value not in parameter.choices:
        raise OptionError(
            name, value, "is not known", f"choose from {', '.join(parameter.choices)}"
        )
    if parameter.least is not None and value != parameter.default:
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not number >= parameter.least or number == float("inf"):
            raise OptionError(name, value, "is no such number", f"give {parameter.least:g} or more")
        if name != "slope" and number != int(number):
            raise OptionError(name, value, "is not whole", "give a whole number")


def uses_metrics(design: Design) -> bool:
    """Whether the design looks at what metrics, or a history, say of the segments."""
    get = design.parameters
    by_strata = get.get("strata", "none") != "none" and get.get("allocation") != "proportional"
    return design.name == "balanced" or get.get("strata") == "metrics" or by_strata


def base_design(design: Design) -> Design:
    """The design that a sample names, without what the sample adds to it (n, N, seed, ...)."""
    known = DESIGNS.get(design.name, {})
    own = {name: value for name, value in design.parameters.items() if name in known}
    return find_design(Design(design.name, own))


def drawn_sizes(design: Design, population: Population) -> list[int]:
    """The sizes of the draws that a sample is made of; several, where it was topped up."""
    get = design.parameters
    try:
        sizes = [int(part) for part in get.get("parts", get["n"]).split("+")]
        total = int(get["N"])
    except (KeyError, ValueError):
        raise InputError(
            f"the design '{design}' does not say n and N; only a sample that assay drew will do"
        ) from None
    if total != population.size:
        raise InputError(
            f"the sample was drawn from {total} segments and the test set has {population.size};"
            " give the scores it was drawn from"
        )
    return sizes


def make_plan(
    population: Population, design: Design, n: int, weights: np.ndarray | None = None
) -> Plan:
    """The plan of a spelt-out design for a budget of n segments.

    ``weights`` make segments more or less likely in proportion (importance).
    """
    layout, get = population.layout, design.parameters
    match design.name:
        case "segments":
            return _segments_plan(population, design, n, weights)
        case "balanced":
            flat = np.ones(population.size) if weights is None else weights
            return BalancedPlan(
                layout.document, population.position, n, _slope(population, get["slope"]), flat
            )
        case "documents":
            population.need_documents(design.name, several=True)
            limit = None if get["limit"] == "none" else int(float(get["limit"]))
            return DocumentsPlan(layout, n, get["stop"], limit)
        case "fixed-snippets":
            population.need_documents(design.name, several=True)
            length, longest = int(float(get["length"])), get["first"] == "longest"
            return FixedSnippetsPlan(layout, n, length, get["stop"], longest)
        case "interleaved":
            population.need_documents(design.name, several=False)
            return InterleavedPlan(layout, n)
        case "snippets-linear":
            population.need_documents(design.name, several=False)
            return LinearPlan(layout, n)
        case _:
            population.need_documents(design.name, several=False)
            longest_snippet = int(float(get["max"]))
            if 2 * n <= layout.population:
                return TilesPlan(layout, n, longest_snippet)
            return CircularPlan(layout, n, longest_snippet)


def _slope(population: Population, given: str) -> float:
    """The slope of a balanced sample; bad-looking segments need metrics that agree on them."""
    if given != "auto":
        return float(given)
    return SLOPE if population.metrics_agree else 0.0


def _segments_plan(
    population: Population, design: Design, n: int, weights: np.ndarray | None
) -> Plan:
    get = design.parameters
    if weights is not None:
        if get["strata"] != "none":
            raise InputError("importance and strata exclude each other; leave one out")
        flat = np.zeros(population.size)
        return BalancedPlan(population.layout.document, flat, n, 0.0, weights, spread=False)
    if get["strata"] == "none":
        return SegmentsPlan(population.layout, n)
    if get["strata"] == "documents":
        population.need_documents(f"{design.name} with strata of documents", several=False)
        stratum = population.layout.document
    else:
        stratum = metric_bins(population.badness, int(float(get["bin"])))
    sizes = np.bincount(stratum)
    shares = sizes.astype(float)
    if get["allocation"] != "proportional":
        shares = sizes * spreads(population.badness, stratum, get["allocation"] == "smoothed")
    return StratifiedPlan(stratum, capped_shares(shares, sizes.astype(float), n), get["rounding"])


def metric_bins(badness: np.ndarray, size: int) -> np.ndarray:
    """Strata of about ``size`` segments with similar metric scores (saldias2022, section 4.1)."""
    bins = max(1, round(len(badness) / size))
    rank = np.argsort(np.argsort(badness, kind="stable"), kind="stable")
    return np.asarray(rank * bins // len(badness))


def spreads(badness: np.ndarray, stratum: np.ndarray, smoothed: bool) -> np.ndarray:
    """sigma_l for optimal allocation: the spread of the metric scores inside every stratum.

    Smoothed halves the distance to the common spread, so that no stratum is nearly left out.
    """
    counts = np.bincount(stratum)
    means = np.bincount(stratum, badness) / np.maximum(counts, 1)
    squares = np.bincount(stratum, (badness - means[stratum]) ** 2)
    sigma = np.sqrt(squares / np.maximum(counts - 1, 1))
    if not smoothed:
        return np.asarray(sigma)
    pooled = np.sqrt(squares.sum() / max(1, len(badness) - len(counts)))
    return np.asarray((sigma + pooled) / 2)
