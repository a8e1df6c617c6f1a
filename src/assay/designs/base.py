"""What all designs share: names, parameters, strata, the line in a sample, and what samples carry.

Variances are those of a finite population, for many samples at once: ``e`` holds residuals (or
plain values) as samples x units, and ``drawn`` says which units each sample has; values of other
units are ignored. There is one variance per sample: of the mean, or of the mean weighted by 1/pi
where probabilities differ.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl

from assay.designs.plan import DrawPlan, GroupedPlan, Layout
from assay.designs.population import Population
from assay.errors import InputError, OptionError, did_you_mean, need_known
from assay.stats.allocation import capped_shares, systematic_counts
from assay.tables.tables import Design, Sample, TestSet, places_in

TOLERANCE = 1e-6
"""Probabilities and positions that differ by no more count as equal."""
MAX_IMPORTANCE_LEVELS = 10
"""Most groups of documents with separate budgets; more would leave too little for each."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a design: its default and its possible values."""

    default: str
    about: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    whole: bool = True
    most: float | None = None

    def check(self, name: str, value: str) -> None:
        """Refuse a value outside the possible ones."""
        if self.choices:
            need_known(name, value, self.choices)
        if self.least is None or value == self.default:
            return
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not self.least <= number < float("inf"):
            remedy = f"give {self.least:g} or more"
            raise OptionError(name, value, "is outside what it can be", remedy)
        if self.most is not None and number > self.most:
            raise OptionError(name, value, "is too many", f"give {self.most:g} or fewer")
        if self.whole and number != int(number):
            raise OptionError(name, value, "is not whole", "give a whole number")


CLASSES: dict[str, type[SamplingDesign]] = {}
SHORT_NAMES: dict[str, str] = {}


class SamplingDesign(Design):
    """How segments are chosen: a design's name and parameters, and all that follows from them.

    A subclass states its ``name`` and, in lower case, the papers' ``short`` names with the
    parameters they stand for. It overrides what differs from drawing single segments with unequal
    probabilities.
    """

    options: ClassVar[Mapping[str, Parameter]] = {}
    """The parameters and their defaults."""
    sentence: ClassVar[str] = ""
    """What it does, after "segments chosen by ..."."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Keys of the references that describe it."""
    documents: ClassVar[int] = 0
    """How many documents it needs at least; 0: it does not need to know them."""
    even: ClassVar[bool] = False
    """Whether every segment has the probability n/N unless importance says otherwise."""
    metrics: ClassVar[bool] = False
    """Whether it always uses metrics."""
    by_segment: ClassVar[bool] = False
    """Whether importance may differ inside documents."""
    drawable: ClassVar[bool] = True
    """Whether it draws samples; if not, it stands for ratings without a sample."""
    everything: ClassVar[bool] = False
    """Whether it rates everything, without sampling error."""
    rated_in_order: ClassVar[bool] = False
    """Whether raters follow the sample's order, so that its rated beginning is a sample."""
    error_falls_with_ratings: ClassVar[bool] = True
    """Whether more ratings reduce errors; for some designs only more documents do."""

    def __init_subclass__(cls, *, name: str = "", short: Mapping[str, str] | None = None) -> None:
        if name:
            CLASSES[name] = cls
        SHORT_NAMES.update({key: "|".join([name, *value.split()])
                             for key, value in (short or {}).items()})  # fmt: skip

    # What estimates may do with a sample of this design.

    @property
    def simple(self) -> bool:
        """Whether it is a simple random sample of segments."""
        return False

    @property
    def equal(self) -> bool:
        """Whether every segment has the probability n/N."""
        return self.even and self.importance is None

    @property
    def skew_correction(self) -> bool:
        """Whether correcting t intervals for skewness was found to help."""
        return self.simple

    @property
    def uses_metrics(self) -> bool:
        """Whether samples depend on metrics or a history."""
        return self.metrics

    @property
    def carries(self) -> tuple[str, ...]:
        """The columns of a sample that its variance needs."""
        return ()

    def is_sample(self, count: int) -> bool:
        """Whether the first ``count`` segments of a sample, in order, are a sample themselves."""
        return False

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """The variance of the mean of ``e`` over drawn units, and its degrees of freedom.

        One of each per sample (row of ``drawn``); within strata, if the units have any.
        """
        degrees = np.maximum(drawn.sum(axis=1) - 1.0, 1.0)
        if units.strata is not None:
            return collapsed_variance(e, drawn, units.strata), degrees
        return simple_variance(e, drawn, 1 / units.pi), degrees

    # How it draws.

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """The plan for a budget of n segments; with weights only if importance is by segment."""
        raise InputError(f"no sample can be drawn by the design {self.name}")

    def plan(self, population: Population, n: int, weights: np.ndarray | None = None) -> DrawPlan:
        """The plan for a budget of n segments with probabilities in proportion to weights.

        Designs that draw by documents need one weight per document; documents of equal weight form
        a group with its own budget.
        """
        if self.documents:
            population.need_documents(self.name, several=self.documents > 1)
        if weights is None or self.by_segment:
            return self.make_plan(population, n, weights)
        layout = population.layout
        first = weights[layout.starts]
        if not np.allclose(weights, np.repeat(first, layout.lengths)):
            raise InputError(
                f"the importance differs inside documents, which the design {self.name} draws as"
                " pieces; use the design segments or balanced, or one importance per document"
            )
        levels, group = np.unique(first, return_inverse=True)
        if len(levels) > MAX_IMPORTANCE_LEVELS:
            raise InputError(
                f"the importance has {len(levels)} different values, each of which the design"
                f" {self.name} draws separately; use at most {MAX_IMPORTANCE_LEVELS}, or the design"
                " segments or balanced"
            )
        sizes = np.bincount(group, layout.lengths).astype(np.int64)
        budgets = capped_shares(levels * sizes, sizes.astype(float), float(n))
        counts = systematic_counts(budgets, np.array([0.5]))[0]
        plans = []
        for number, count in enumerate(counts.tolist()):
            own = population.with_layout(Layout(layout.lengths[group == number]))
            plans.append(self.plan(own, count) if count else None)
        return GroupedPlan(layout, group, plans)

    @classmethod
    def suits(cls, test_set: TestSet) -> bool:
        """Whether the test set has the documents and metrics that it needs."""
        known = bool(test_set.metrics) or test_set.history is not None
        return (test_set.has_documents or not cls.documents) and (known or not cls.metrics)

    def need_size(self, test_set: TestSet) -> None:
        """Refuse scores with another number of segments than the sample was drawn from."""
        total, size = self.parameters.get("N"), test_set.segments.height
        if total is not None and total != str(size):
            raise InputError(
                f"the sample was drawn from {total} segments, but the test set has {size}; give the"
                " scores it was drawn from"
            )

    def check(self, sample: Sample, test_set: TestSet) -> None:
        """Refuse a sample that cannot be one of this design from this test set."""
        self.need_size(test_set)
        needs = self.documents or "position" in self.carries
        if needs and "doc" in sample.frame.columns and not test_set.has_documents:
            raise InputError(
                "the sample names documents, on which its standard errors depend, but the scores"
                " have no doc column; add one"
            )
        get, probability = self.parameters, sample.frame["probability"].to_numpy()
        stated = get.get("n", "").isdecimal() and "parts" not in get
        # In an unmatched sample, systems may lack segments and have sizes of their own.
        if not self.equal or not stated or not sample.matched:
            return
        fault = None
        if np.abs(probability - int(get["n"]) / test_set.segments.height).max() > TOLERANCE:
            fault = f"the sample's probabilities are not those of its design {sample.design}"
        elif self.simple and len(sample) != int(get["n"]):
            fault = f"the sample has {len(sample)} rows where its design says {get['n']}"
        if fault is not None:
            raise InputError(f"{fault}; use the file as assay sample wrote it")

    # Its line of text.

    @classmethod
    def spelt_out(cls, given: Mapping[str, str]) -> dict[str, str]:
        """All parameters: the given ones, checked, and defaults for the others."""
        for name, value in given.items():
            if name not in cls.options:
                own = next(known for known, one in CLASSES.items() if one is cls)
                fault = (
                    f"is not a parameter of the design {own}{did_you_mean(name, list(cls.options))}"
                )
                remedy = f"it has {', '.join(cls.options) or 'none'}"
                raise OptionError(name, value, fault, remedy)
            cls.options[name].check(name, value)
        return {name: option.default for name, option in cls.options.items()} | dict(given)

    @property
    def short(self) -> str:
        """The name, and the parameters that differ from their defaults.

        >>> design_of("segments|strata:documents|n:9|N:20").short
        'segments|strata:documents'
        """
        own = {
            name: self.parameters[name]
            for name, option in self.options.items()
            if self.parameters.get(name, option.default) != option.default
        }
        return str(Design(self.name, own))

    @property
    def importance(self) -> str | None:
        """The column to which probabilities are proportional."""
        return self.parameters.get("importance")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The budgets of the draws behind a sample; several if it was topped up."""
        get = self.parameters
        try:
            int(get["N"])
            return tuple(int(part) for part in get.get("parts", get["n"]).split("+"))
        except (KeyError, ValueError):
            raise InputError(
                f"the design '{self}' does not give n and N; use a sample that assay drew"
            ) from None

    @property
    def described(self) -> str:
        """The design in words, after "chosen by"."""
        words = self.sentence + self.details
        if self.importance is not None:
            words += f", with probabilities that go with {self.importance}"
        if self.parameters.get("matched") == "no":
            words += ", each system on a sample of its own"
        return words

    @property
    def details(self) -> str:
        """What the parameters add to the sentence."""
        return ""


@cache
def load_designs() -> None:
    """Import every module of this package: classes register themselves."""
    package = import_module("assay.designs")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"assay.designs.{module.name}")


def design_of(line: str | Design) -> SamplingDesign:
    """The design named by a sample or a result, with the sample's own parameters (n, seed, ...).

    >>> design_of("segments|n:142|N:710|seed:7").sizes, design_of("census").everything
    ((142,), True)
    """
    load_designs()
    given = Design.parse(line) if isinstance(line, str) else line
    chosen = CLASSES.get(given.name)
    if chosen is None:
        raise InputError(
            f"no estimator knows the design '{given.name}'; use a sample that assay drew"
        )
    own = {name: value for name, value in given.parameters.items() if name in chosen.options}
    return chosen(given.name, chosen.spelt_out(own) | dict(given.parameters))


def simple_variance(e: np.ndarray, drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The variance of a simple random sample: s^2 / n (1 - n/N).

    With unequal weights: n/(n-1) sum (w_i (e_i - mean))^2 / (sum w)^2 (1 - n/N).

    >>> drawn = np.array([[True, True, True, False]])
    >>> simple_variance(np.array([[1.0, 2.0, 3.0, 0.0]]), drawn, np.ones(4))
    array([0.08333333])
    """
    n, w = drawn.sum(axis=1), drawn * weights
    total = np.maximum(w.sum(axis=1), 1e-300)
    inside = np.where(drawn, e, 0.0)
    means = (w * inside).sum(axis=1) / total
    squares = ((w * (inside - means[:, None])) ** 2).sum(axis=1)
    found = squares / total**2 * n / np.maximum(n - 1, 1) * (1 - n / drawn.shape[1])
    return np.where(n > 1, found, np.nan)


class DesignUnits(NamedTuple):
    """The segments of one system or pair, as the variance of their ``design`` needs them.

    ``pi`` are inclusion probabilities, ``document`` numbers documents. ``strata`` and ``position``
    depend on the design; their values for segments that were not drawn are ignored.
    """

    design: SamplingDesign
    pi: np.ndarray
    document: np.ndarray
    position: np.ndarray | None = None
    strata: Strata | None = None

    @classmethod
    def of_plan(cls, design: SamplingDesign, plan: DrawPlan, population: Population) -> DesignUnits:
        """All segments of a population from which a plan draws."""
        pi, stratum = plan.probabilities(), plan.strata()
        return cls(
            design,
            np.where(pi > 0, pi, 1.0),  # what can never be drawn never counts
            population.layout.document,
            plan.positions(),
            None if stratum is None else Strata.known(stratum),
        )

    def part(self, inside: np.ndarray, drawn: np.ndarray) -> DesignUnits:
        """The segments ``inside`` a group; ``drawn`` is for all segments."""
        return DesignUnits(
            self.design, self.pi[inside], self.document[inside],
            None if self.position is None else self.position[inside],
            None if self.strata is None else self.strata.part(inside, drawn),
        )  # fmt: skip

    def variance(self, e: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The design's variance of the mean of ``e``, and its degrees of freedom."""
        return self.design.variance(e, drawn, self)


def by_system(sample: Sample) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """The rows of every system; of a matched sample, all rows with the system None."""
    if sample.matched:
        yield None, sample.frame
        return
    for system in sample.frame["system"].unique(maintain_order=True):
        yield str(system), sample.frame.filter(pl.col("system") == system)


class SampledUnits(NamedTuple):
    """The columns of a sample as systems x segments.

    ``drawn`` marks the segments of the sample, also where a system lacks them; ``pi`` is NaN where
    a segment is not drawn or lacking. ``strata`` has an entry per system.
    """

    drawn: np.ndarray
    pi: np.ndarray
    position: np.ndarray | None
    strata: tuple[Strata, ...] | None

    @classmethod
    def of_sample(cls, sample: Sample, test_set: TestSet) -> SampledUnits:
        """From a sample with all columns that its design needs."""
        carries = design_of(sample.design).carries
        _need_whole(sample, carries)
        shape = test_set.present.shape
        drawn = np.zeros(shape, dtype=bool)
        position = np.full(shape, np.nan) if "position" in carries else None
        strata = [Strata(np.zeros(shape[1], dtype=np.int64), np.zeros(1))] * shape[0]
        for system, rows in by_system(sample):
            places = places_in(rows, test_set)
            i = np.arange(shape[0])
            if system is not None:
                i = i[[test_set.systems.index(system)]]
            drawn[np.ix_(i, places)] = True
            if position is not None:
                position[np.ix_(i, places)] = rows["position"].to_numpy()
            if "stratum_size" in carries:
                total = shape[1] if system is None else int(test_set.present[i[0]].sum())
                own = _strata_of(rows, places, total, shape[1])
                for k in i:
                    strata[k] = own
        pi = sample.probabilities(test_set)
        return cls(drawn, pi, position, tuple(strata) if "stratum_size" in carries else None)


def _need_whole(sample: Sample, carries: Sequence[str]) -> None:
    """Refuse a sample with empty cells, as after editing in a spreadsheet."""
    for name in carries:
        empty = sample.frame.filter(pl.col(name).is_null())
        if not empty.is_empty():
            more = f" (and {empty.height - 1:,} more)" if empty.height > 1 else ""
            raise InputError(
                f"the sample has no {name} for {segment_name(empty)}{more}, on which the error"
                " depends; use the file as assay sample wrote it"
            )


def segment_name(rows: pl.DataFrame) -> str:
    """The segment of the first row, as messages call it."""
    key = [name for name in ("doc", "seg") if name in rows.columns]
    return f"{', '.join(key)} '{' / '.join(map(str, rows.select(key).row(0)))}'"


def _strata_of(rows: pl.DataFrame, places: np.ndarray, population: int, segments: int) -> Strata:
    """The strata of drawn segments, laid out over the test set."""
    start, size = (rows[name].to_numpy() for name in ("stratum_start", "stratum_size"))
    found = Strata.drawn(start, size, population)
    strata = rows.group_by("stratum_start").agg(pl.col("stratum_size").n_unique() > 1)
    if (
        strata["stratum_size"].any()
        or (np.bincount(found.number) > found.sizes).any()
        or (start + size > population).any()
    ):
        raise InputError(
            "the sample's strata do not fit the test set; use the file as assay sample wrote it,"
            " and the scores it was drawn from"
        )
    number = np.zeros(segments, dtype=np.int64)
    number[places] = found.number
    return found._replace(number=number)


class Strata(NamedTuple):
    """The stratum number of every unit, and the sizes N_h of all strata.

    Strata are numbered so that neighbours are alike; numbers of units that were not drawn are
    ignored. For a domain (some of the units), ``outside`` counts the drawn units of every stratum
    outside it.
    """

    number: np.ndarray
    sizes: np.ndarray
    outside: np.ndarray | None = None

    @classmethod
    def known(cls, number: np.ndarray) -> Strata:
        """Strata of which every unit is known."""
        return cls(number, np.bincount(number))

    @classmethod
    def drawn(cls, start: np.ndarray, size: np.ndarray, population: int) -> Strata:
        """From the strata of drawn units, given by the number of units before and in them.

        Strata without drawn units are merged with the next that has some, or at the end with the
        last, as collapsing would do.

        >>> Strata.drawn(np.array([4, 0, 4, 9]), np.array([3, 2, 3, 2]), 12)[:2]
        (array([1, 0, 1, 2]), array([2, 5, 5]))
        """
        starts, number = np.unique(start, return_inverse=True)
        sizes = np.zeros(len(starts), dtype=np.int64)
        sizes[number] = size
        ends = starts + sizes
        ends[-1:] = population
        return cls(number, np.diff(ends, prepend=0))

    def part(self, inside: np.ndarray, drawn: np.ndarray) -> Strata:
        """The strata of a domain; drawn units that are not ``inside`` count as outside."""
        outside = drawn.copy()
        outside[inside] = False
        others = np.bincount(self.number[outside], minlength=len(self.sizes))
        before = 0 if self.outside is None else self.outside
        return Strata(self.number[inside], self.sizes, others + before)


def collapsed_variance(e: np.ndarray, drawn: np.ndarray, strata: Strata) -> np.ndarray:
    """The variance of a stratified mean with few units per stratum, by collapsing neighbours.

    Strata are collapsed in order until each group has two drawn units; the variance is the sum over
    groups of (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977, section 5A.12). Differences between
    the strata of a group make it too large rather than too small.

    The mean of a domain is a ratio, as the number of its drawn units is random: drawn units outside
    count with e = 0 in n_g and s_g, and N is the estimated size of the domain, the sum of N_g times
    the share of drawn units inside (Sarndal, Swensson and Wretman 1992, section 10.3). A stratum
    whose drawn units are all outside adds nothing.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), len(strata.sizes))
    one = np.ones(len(units))
    inside = sums_of_cells(samples, strata.number[units], one, shape)
    outside = np.zeros(shape) if strata.outside is None else np.tile(strata.outside, (shape[0], 1))
    foreign = (inside == 0) & (outside > 0)
    outside[foreign] = 0
    group = _collapse(inside + outside)
    rows = np.repeat(np.arange(shape[0]), shape[1])
    total = sums_of_cells(rows, group.ravel(), np.where(foreign, 0, strata.sizes).ravel(), shape)
    zeros = sums_of_cells(rows, group.ravel(), outside.ravel(), shape)
    own = group[samples, strata.number[units]]
    here = sums_of_cells(samples, own, one, shape)
    n = here + zeros
    values = e[samples, units]
    means = sums_of_cells(samples, own, values, shape) / np.maximum(n, 1)
    square = (
        sums_of_cells(samples, own, (values - means[samples, own]) ** 2, shape) + zeros * means**2
    )
    size = (total * (here / np.maximum(n, 1))).sum(axis=1, keepdims=True)
    terms = (total / np.maximum(size, 1e-300)) ** 2 * (1 - n / np.maximum(total, 1))
    terms = terms * square / np.maximum(n - 1, 1) / np.maximum(n, 1)
    return np.where(here.sum(axis=1) > 1, terms.sum(axis=1), np.nan)


def sums_of_cells(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
          ) -> np.ndarray:  # fmt: skip
    """The sums of values by row and column."""
    flat = np.bincount(rows * shape[1] + columns, values, minlength=shape[0] * shape[1])
    return flat.reshape(shape)


def _collapse(counts: np.ndarray) -> np.ndarray:
    """For every sample the group of each stratum: 0, 1, ... in the order of the strata."""
    if len(counts) == 1:  # the pairs of a matched sample ask for the same again and again
        return _collapse_one(counts.tobytes())
    group = np.zeros(counts.shape, dtype=np.int64)
    number = np.zeros(len(counts), dtype=np.int64)
    held = np.zeros(len(counts))
    for position in range(counts.shape[1]):
        group[:, position] = number
        held += counts[:, position]
        full = held >= 2
        number += full
        held[full] = 0
    # A rest at the end joins the last full group.
    return np.minimum(group, np.maximum(number - 1, 0)[:, None])


@lru_cache(maxsize=16)
def _collapse_one(counts: bytes) -> np.ndarray:
    """The groups for one sample, whose counts are the bytes of an array of floats."""
    groups, number, held = [], 0, 0.0
    for count in np.frombuffer(counts).tolist():
        groups.append(number)
        held += count
        if held >= 2:
            number, held = number + 1, 0.0
    group = np.minimum(np.array(groups, dtype=np.int64), max(number - 1, 0))[None, :]
    group.flags.writeable = False
    return group


GOALS: Mapping[str, tuple[str, ...]] = {
    "ranking": ("rounds", "segments"),
    "score": ("balanced", "rounds", "segments"),
}
"""The designs for a goal, best first; the first that the test set allows is taken."""


def design_names() -> dict[str, type[SamplingDesign]]:
    """The designs that samples can be drawn by, by name."""
    load_designs()
    return {name: known for name, known in sorted(CLASSES.items()) if known.drawable}


def watchable_designs() -> list[str]:
    """The designs of which every beginning is a sample, so that ratings can be monitored.

    >>> "interleaved" in watchable_designs(), "snippets" in watchable_designs()
    (True, False)
    """
    return [name for name in design_names() if design_of(f"{name}|n:2|N:2").is_sample(2)]


def short_names() -> dict[str, str]:
    """The papers' names of designs, in lower case, with their meanings."""
    load_designs()
    return dict(sorted(SHORT_NAMES.items()))


def find_design(text: str | Design) -> SamplingDesign:
    """The design with this name, short name, or ``name|parameter:value``, with all parameters.

    >>> str(find_design("DF"))
    'fixed-snippets|length:10|stop:closest|first:random'
    >>> str(find_design("snippets|max:5"))
    'snippets|max:5'
    """
    given = str(text)
    head, *rest = given.split("|")
    head = short_names().get(head.lower(), head.lower())
    line = Design.parse("|".join([head, *rest]))
    known = design_names()
    if line.name not in known:
        short = [name for name in short_names() if name not in known]
        raise OptionError(
            "design", given, f"is not known{did_you_mean(line.name, [*known, *short])}",
            f"choose from auto, {', '.join(known)} or {', '.join(short)}",
        )  # fmt: skip
    chosen = known[line.name]
    return chosen(line.name, chosen.spelt_out(line.parameters))


def choose_design(test_set: TestSet, design: str | Design, goal: str | None) -> SamplingDesign:
    """The design with all parameters; ``auto`` follows the goal and the table."""
    if goal is not None:
        need_known("goal", goal, list(GOALS))
    if str(design).lower() != "auto":
        if goal is not None:
            remedy = "leave it out, or leave the design to it"
            raise OptionError("goal", goal, "is for the design auto", remedy)
        return find_design(design)
    wanted = GOALS[goal or ("ranking" if len(test_set.systems) > 1 else "score")]
    known = design_names()
    return find_design(next(name for name in wanted if known[name].suits(test_set)))
