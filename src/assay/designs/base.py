"""What all designs share: names, parameters, the line a sample carries, and variances of means.

The target of a variance is the finite population at hand. Variances take many samples at once:
``e`` has residuals (or plain values) as samples x units, ``drawn`` says which units a sample holds,
and what ``e`` says of the others is never looked at. They return one variance per sample: that of
the mean, or of the 1/pi-weighted mean where probabilities differ.

Residuals of a document are alike: by what its segments share from end to end (topic, style, the
rater), and by what they share with those next to them. So the correlation of two segments t apart
in one document is taken as persistent + fading * FADE^t, two numbers estimated from the drawn pairs
(:func:`likeness`). What is persistent, a design that spreads over documents takes out of the
variance; what fades makes neighbours that are drawn together worth less.
"""

from __future__ import annotations

import pkgutil
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from assay.designs.plan import DrawPlan, GroupedPlan, Layout
from assay.designs.population import Population
from assay.errors import InputError, OptionError, did_you_mean, need_known
from assay.stats.allocation import capped_shares, systematic_counts
from assay.tables.tables import Design, TestSet

if TYPE_CHECKING:
    from assay.designs.units import DesignUnits

MAX_IMPORTANCE_LEVELS = 10
"""Groups of documents with budgets of their own; more would leave too little for each."""

GOALS: Mapping[str, tuple[str, ...]] = {
    "ranking": ("rounds", "segments"),
    "score": ("balanced", "rounds", "segments"),
}
"""The designs for a goal, best first; the first that the test set allows is taken."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a design: its default and what it may be."""

    default: str
    about: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    whole: bool = True
    most: float | None = None

    def check(self, name: str, value: str) -> None:
        """Refuse a value that the parameter cannot have."""
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


_CLASSES: dict[str, type[SamplingDesign]] = {}
_SHORT_NAMES: dict[str, str] = {}


class SamplingDesign(Design):
    """How segments are chosen: a design's name and parameters, and what follows from them.

    A subclass names itself (``name="..."``) and, in lower case, the ``short`` names that papers
    use, each with the parameters it stands for. It overrides what differs from a design that
    draws single segments with unequal probabilities.
    """

    options: ClassVar[Mapping[str, Parameter]] = {}
    """The parameters and their defaults."""
    sentence: ClassVar[str] = ""
    """What it does, after "segments chosen by ..."."""
    sources: ClassVar[tuple[str, ...]] = ()
    """Keys of the references that describe it."""
    documents: ClassVar[int] = 0
    """How many documents it needs at least; 0: it need not know them."""
    even: ClassVar[bool] = False
    """Whether every segment has the probability n/N unless importance says otherwise."""
    metrics: ClassVar[bool] = False
    """Whether it always looks at metrics."""
    by_segment: ClassVar[bool] = False
    """Whether importance may differ inside documents."""
    drawable: ClassVar[bool] = True
    """Whether samples can be drawn by it; it stands for ratings without a sample otherwise."""
    everything: ClassVar[bool] = False
    """Whether it rates everything, so that no estimate has a sampling error."""
    rated_in_order: ClassVar[bool] = False
    """Whether raters follow the order of a sample, so that what is rated so far is a sample."""
    error_falls_with_ratings: ClassVar[bool] = True
    """Whether more ratings make errors smaller; where few documents decide, only more of these."""

    def __init_subclass__(cls, *, name: str = "", short: Mapping[str, str] | None = None) -> None:
        if name:
            _CLASSES[name] = cls
        _SHORT_NAMES.update({key: "|".join([name, *value.split()])
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
        """Whether samples depend on what metrics, or a history, say of the segments."""
        return self.metrics

    @property
    def carries(self) -> tuple[str, ...]:
        """The columns of its samples that its variance needs."""
        return ()

    def is_sample(self, count: int) -> bool:
        """Whether the first segments of a sample, in order, are a sample of their own."""
        return False

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """The variance of the mean of ``e`` over drawn units, and its degrees of freedom.

        One of each per sample, a row of ``drawn``. Inside strata, where the units have any.
        """
        degrees = np.maximum(drawn.sum(axis=1) - 1.0, 1.0)
        if units.strata is not None:
            return collapsed_variance(e, drawn, units.strata), degrees
        return simple_variance(e, drawn, 1 / units.pi), degrees

    # How it draws.

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """The plan for a budget of n segments; weights only where importance is by segment."""
        raise InputError(f"no sample can be drawn by the design {self.name}")

    def plan(self, population: Population, n: int, weights: np.ndarray | None = None) -> DrawPlan:
        """The plan for a budget of n segments, each more or less likely in proportion to weights.

        Designs that draw by documents take weights that are the same for all of a document:
        documents of one weight form a group with a budget of its own.
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
                f"the importance has {len(levels)} different values and the design {self.name}"
                f" draws each by itself; use at most {MAX_IMPORTANCE_LEVELS}, or the design"
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

    # Its line of text.

    @classmethod
    def spelt_out(cls, given: Mapping[str, str]) -> dict[str, str]:
        """The given parameters, checked, and the defaults of the others."""
        for name, value in given.items():
            if name not in cls.options:
                own = next(known for known, one in _CLASSES.items() if one is cls)
                fault = (
                    f"is not a parameter of the design {own}{did_you_mean(name, list(cls.options))}"
                )
                remedy = f"it has {', '.join(cls.options) or 'none'}"
                raise OptionError(name, value, fault, remedy)
            cls.options[name].check(name, value)
        return {name: option.default for name, option in cls.options.items()} | dict(given)

    @property
    def short(self) -> str:
        """The name and what differs from the defaults.

        >>> find_design("docs-prop").short, find_design("DB").short
        ('segments|strata:documents', 'snippets')
        """
        own = {
            name: self.parameters[name]
            for name, option in self.options.items()
            if self.parameters.get(name, option.default) != option.default
        }
        return str(Design(self.name, own))

    @property
    def importance(self) -> str | None:
        """The column that a sample was drawn in proportion to."""
        return self.parameters.get("importance")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The budgets of the draws that a sample is made of; several, where it was topped up."""
        get = self.parameters
        try:
            int(get["N"])
            return tuple(int(part) for part in get.get("parts", get["n"]).split("+"))
        except (KeyError, ValueError):
            raise InputError(
                f"the design '{self}' does not say n and N; use a sample that assay drew"
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
        """What its parameters add to the sentence."""
        return ""


class DocumentDesign(SamplingDesign):
    """A design under which the ratings of a document are correlated: few documents decide."""

    error_falls_with_ratings = False

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """Between the totals of documents."""
        held = np.stack([np.bincount(units.document[row]).astype(bool).sum() for row in drawn])
        variance = cluster_variance(e, drawn, units.document, 1 / units.pi)
        return variance, np.maximum(held - 1.0, 1.0)


class PieceDesign(SamplingDesign):
    """A design that draws every segment alike, in pieces of the sections of documents.

    Its variance is a simple random sample's times a design effect, which the ratings tell:
    neighbours that are alike are worth less together, and what a whole document shares drops out
    because every document has its part (:func:`likeness`).
    """

    documents = 1
    skew_correction = True

    @property
    def longest(self) -> int:
        """The longest piece."""
        return int(float(self.parameters["max"]))

    @abstractmethod
    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """The lengths of the sections that documents of these lengths are cut into."""

    @abstractmethod
    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """How many pairs at a lag of a section are expected to be drawn both, of L - lag."""

    def lever(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """What persistent and fading correlation in documents add to the variance."""
        if "parts" in self.parameters:  # several draws, each with its own pieces
            f = 1 - float(np.prod([1 - own for own in self._shares]))
        length, count = np.unique(self.sections(lengths, f), return_counts=True)
        lag = np.arange(int(length[-1]))
        pairs = np.maximum(length[:, None] - lag, 0)
        both = np.where(pairs > 0, self._union(length[:, None], lag[None, :], f), 0.0)
        return pair_lever(count @ both, count @ pairs, f)

    @cached_property
    def _levers(self) -> dict[tuple[bytes, float], np.ndarray]:
        """Those found so far: systems and their pairs mostly have the same segments."""
        return {}

    @property
    def _shares(self) -> list[float]:
        """The shares of the test set that the draws of a sample have."""
        return [n / int(self.parameters["N"]) for n in self.sizes]

    def _union(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """Of one draw, or of several independent ones: both are in unless some draw lacks one."""
        if "parts" not in self.parameters:
            return self.together(length, lag, f)
        pairs = np.maximum(length - lag, 1)
        neither = [1 - 2 * own + self.together(length, lag, own) / pairs for own in self._shares]
        lost = np.prod([1 - own for own in self._shares])
        return np.asarray((1 - 2 * lost + np.prod(neither, axis=0)) * pairs)

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """A simple random sample's, times the effect of likeness along documents."""
        plain = simple_variance(e, drawn, 1 / units.pi)
        n = np.maximum(drawn.sum(axis=1), 1)
        held = drawn.any(axis=0)
        if not held.any():
            return plain, np.ones(len(drawn))
        f = min(1.0, float(units.pi[held].mean()))
        lengths = np.bincount(units.document)
        lengths = lengths[lengths > 0]
        if (key := (lengths.tobytes(), f)) not in self._levers:
            self._levers[key] = self.lever(lengths, f)
        w = drawn / units.pi
        means = (w * np.where(drawn, e, 0.0)).sum(axis=1) / np.maximum(w.sum(axis=1), 1e-300)
        found = likeness(e - means[:, None], drawn, units.document)
        effect, noise = serial_effect(found, self._levers[key])
        degrees = 1 / (1 / np.maximum(n - 1.0, 1.0) + noise / 2)
        return plain * effect, np.maximum(degrees, 1.0)


def cut(layout: Layout, sections: np.ndarray) -> Layout:
    """Cut every document into so many sections of nearly equal length."""
    length, count = np.repeat(layout.lengths, sections), np.repeat(sections, sections)
    number = np.arange(len(count)) - np.repeat(np.cumsum(sections) - sections, sections)
    return Layout((number + 1) * length // count - number * length // count)


def short_sections(lengths: np.ndarray, pieces: int, longest: int) -> Layout:
    """Documents cut into sections of which so many pieces are none too long."""
    wanted = np.ceil(lengths / (pieces * longest)).astype(np.int64)
    return cut(Layout(lengths), np.maximum(wanted, 1))


def same_piece(length: np.ndarray, pieces: int, lag: np.ndarray) -> np.ndarray:
    """How many pairs at a lag lie in one of so many pieces of nearly equal length."""
    short, longer = np.divmod(length, pieces)
    return np.asarray(
        (pieces - longer) * np.maximum(short - lag, 0) + longer * np.maximum(short + 1 - lag, 0)
    )


@cache
def _load() -> None:
    """Import every module of this package: classes register themselves."""
    package = import_module("assay.designs")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"assay.designs.{module.name}")


def design_names() -> dict[str, type[SamplingDesign]]:
    """The designs that samples can be drawn by, by name."""
    _load()
    return {name: known for name, known in sorted(_CLASSES.items()) if known.drawable}


def watchable_designs() -> list[str]:
    """Those of which every beginning is a sample, so that ratings can be watched as they come.

    >>> "interleaved" in watchable_designs(), "snippets" in watchable_designs()
    (True, False)
    """
    return [name for name in design_names() if design_of(f"{name}|n:2|N:2").is_sample(2)]


def short_names() -> dict[str, str]:
    """The papers' names, in lower case, and what they stand for."""
    _load()
    return dict(sorted(_SHORT_NAMES.items()))


def find_design(text: str | Design) -> SamplingDesign:
    """The design meant by a name, a short name, or ``name|parameter:value``, fully spelt out.

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


def design_of(line: str | Design) -> SamplingDesign:
    """The design that a sample or a result names, with what the sample adds to it (n, seed, ...).

    >>> design_of("segments|n:142|N:710|seed:7").sizes, design_of("census").everything
    ((142,), True)
    """
    _load()
    given = Design.parse(line) if isinstance(line, str) else line
    chosen = _CLASSES.get(given.name)
    if chosen is None:
        raise InputError(
            f"no estimator knows the design '{given.name}'; use a sample that assay drew"
        )
    own = {name: value for name, value in given.parameters.items() if name in chosen.options}
    return chosen(given.name, chosen.spelt_out(own) | dict(given.parameters))


def choose_design(test_set: TestSet, design: str | Design, goal: str | None) -> SamplingDesign:
    """The design that is meant, fully spelt out; ``auto`` follows the goal and the table."""
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


FADE = 0.8
"""How fast the likeness of neighbours fades from segment to segment; frozen on seven MQM sets."""
USUAL, USUAL_LONG, USUAL_WORTH = (0.05, 0.10), (0.0, 0.25), 15.0
"""The usual correlations of ratings, and as many pairs of evidence for them; frozen likewise.

With few neighbours drawn the two parts cannot be told apart, and they pull in opposite directions:
these keep them at a middle. In long documents nothing persists and more fades: -.01 to .01 and .19
to .42 on the three MQM sets of 20 to 106 segments a document, .04 to .10 and .05 to .09 on five
of 2 to 13. Three sets are few, so that the fading part is a little below their mean."""
LONG = 15
"""Documents of more segments than this, on average, are long."""
REACH = 25
"""Pairs further apart than this are not looked at."""
LEAST_EFFECT = 0.4
"""No design is taken to be better than this, relative to a simple random sample."""


def simple_variance(e: np.ndarray, drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """s^2 / n (1 - n/N): a simple random sample, or snippets of every document.

    With weights that differ it is n/(n-1) sum (w_i (e_i - mean))^2 / (sum w)^2 (1 - n/N).

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


class Strata(NamedTuple):
    """Strata as a sample knows them: the stratum of every unit, and the sizes N_h of all strata.

    Strata are numbered in the order in which neighbours are alike; of units that were not drawn the
    number is never looked at. Where only some units are asked about (a domain), ``outside`` counts
    the drawn units of every stratum that are not among them.
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
        """From the strata of drawn units: how many units lie in earlier strata, and in their own.

        Strata of which nothing was drawn lie in the gaps. They are joined with the next one of
        which something was, those at the end with the last, as collapsing them would do.

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
        """The same of some units; drawn ones that are not among them count as outside."""
        outside = drawn.copy()
        outside[inside] = False
        others = np.bincount(self.number[outside], minlength=len(self.sizes))
        before = 0 if self.outside is None else self.outside
        return Strata(self.number[inside], self.sizes, others + before)


def collapsed_variance(e: np.ndarray, drawn: np.ndarray, strata: Strata) -> np.ndarray:
    """Stratified sampling with few units per stratum: neighbouring strata are taken together.

    Strata are collapsed in order until each group has two drawn units; sum over groups of
    (N_g/N)^2 (1 - n_g/N_g) s_g^2 / n_g (Cochran 1977, section 5A.12). Too large rather than too
    small, by what the strata of a group differ.

    The mean of a domain is a ratio, because nobody planned how many of its units are drawn: drawn
    units outside count with e = 0 in n_g and s_g, and N is the estimated size of the domain, the
    sum of N_g times the share of drawn units inside (Sarndal, Swensson and Wretman 1992, section
    10.3). A stratum with drawn units outside alone adds nothing.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), len(strata.sizes))
    one = np.ones(len(units))
    inside = _sums(samples, strata.number[units], one, shape)
    outside = np.zeros(shape) if strata.outside is None else np.tile(strata.outside, (shape[0], 1))
    foreign = (inside == 0) & (outside > 0)
    outside[foreign] = 0
    group = _collapse(inside + outside)
    rows = np.repeat(np.arange(shape[0]), shape[1])
    total = _sums(rows, group.ravel(), np.where(foreign, 0, strata.sizes).ravel(), shape)
    zeros = _sums(rows, group.ravel(), outside.ravel(), shape)
    own = group[samples, strata.number[units]]
    here = _sums(samples, own, one, shape)
    n = here + zeros
    values = e[samples, units]
    means = _sums(samples, own, values, shape) / np.maximum(n, 1)
    square = _sums(samples, own, (values - means[samples, own]) ** 2, shape) + zeros * means**2
    size = (total * (here / np.maximum(n, 1))).sum(axis=1, keepdims=True)
    terms = (total / np.maximum(size, 1e-300)) ** 2 * (1 - n / np.maximum(total, 1))
    terms = terms * square / np.maximum(n - 1, 1) / np.maximum(n, 1)
    return np.where(here.sum(axis=1) > 1, terms.sum(axis=1), np.nan)


def _sums(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
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
    # What is left over at the end joins the last full group.
    return np.minimum(group, np.maximum(number - 1, 0)[:, None])


@lru_cache(maxsize=16)
def _collapse_one(counts: bytes) -> np.ndarray:
    """The same of one sample, its counts as the bytes of an array of floats."""
    groups, number, held = [], 0, 0.0
    for count in np.frombuffer(counts).tolist():
        groups.append(number)
        held += count
        if held >= 2:
            number, held = number + 1, 0.0
    group = np.minimum(np.array(groups, dtype=np.int64), max(number - 1, 0))[None, :]
    group.flags.writeable = False
    return group


def cluster_variance(
    e: np.ndarray, drawn: np.ndarray, cluster: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Whole documents or one snippet each: the spread between the weighted totals of clusters.

    The jackknife over clusters: (K-1)/K sum_c (t_c / (1 - s_c))^2 / (sum w)^2, t_c the total of w e
    in cluster c around its share s_c of the whole, times 1 - n/N for this test set. A long
    document pulls the mean towards itself, which 1 - s_c makes up for; for clusters of one size it
    is the usual K/(K-1) sum t_c^2.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), int(cluster.max(initial=0)) + 1)
    totals = _sums(samples, cluster[units], weights[units] * e[samples, units], shape)
    size = _sums(samples, cluster[units], weights[units], shape)
    whole = np.maximum(size.sum(axis=1), 1e-300)
    share = size / whole[:, None]
    k = (size > 0).sum(axis=1)
    gap = (totals - share * totals.sum(axis=1)[:, None]) / np.maximum(1 - share, 1e-9)
    spread = (gap**2).sum(axis=1) * (k - 1) / np.maximum(k, 1)
    left = 1 - drawn.mean(axis=1)
    return np.where(k > 1, spread / whole**2 * left, np.nan)


def neighbour_variance(
    e: np.ndarray, drawn: np.ndarray, pi: np.ndarray, position: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """Spatially balanced samples: every drawn unit against its nearest drawn neighbour.

    1/2 sum_i (1 - pi_i) (e_i/pi_i - e_j(i)/pi_j(i))^2 / (sum 1/pi)^2, j(i) the nearest by the
    distance the sample was spread with, (difference in position)^2 and 1 more across groups
    (Grafstrom and Schelin 2014): such samples vary less than the spread of all residuals would
    say, because neighbours stand in for each other.
    """
    samples, units, nearest = _nearest_drawn(drawn, position, group)
    shape = (len(drawn), 1)
    gap = e[samples, units] / pi[units] - e[samples, nearest] / pi[nearest]
    spread = 0.5 * _sums(samples, samples * 0, (1 - pi[units]) * gap**2, shape)[:, 0]
    found = spread / np.maximum(drawn @ (1 / pi), 1e-300) ** 2
    return np.where(drawn.sum(axis=1) > 1, found, np.nan)


def _nearest_drawn(
    drawn: np.ndarray, position: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, their units, and of each the nearest other unit of the same sample.

    The nearest is next to it in position, among all (whoever stands between in another group is
    nearer still) or in the own group; so four candidates are enough.
    """
    best = np.full(drawn.shape, np.inf)
    nearest = np.zeros(drawn.shape, dtype=np.int64)
    for order, inside in (
        (np.lexsort((position, group)), True),
        (np.argsort(position, kind="stable"), False),
    ):
        samples, places = np.nonzero(drawn[:, order])
        units = order[places]
        for step in (1, -1):
            other = np.roll(units, step)
            together = np.roll(samples, step) == samples
            distance = (position[units] - position[other]) ** 2
            same = group[units] == group[other]
            distance = np.where(together & (same | (not inside)), distance + ~same, np.inf)
            distance[units == other] = np.inf
            closer = distance < best[samples, units]
            best[samples[closer], units[closer]] = distance[closer]
            nearest[samples[closer], units[closer]] = other[closer]
    samples, units = np.nonzero(drawn)
    alone = np.isinf(best[samples, units])
    found = np.where(alone, units, nearest[samples, units])
    return samples, units, found


FULL_LEVERAGE = 0.9
"""A point that decides its own prediction has no honest residual; leverages are capped here."""


# Likeness along documents


class Likeness(NamedTuple):
    """Persistent and fading correlation, one row per sample, and their covariance matrices."""

    parts: np.ndarray
    covariance: np.ndarray


def fading(lags: np.ndarray) -> np.ndarray:
    """The two shapes that a correlation is made of: lags x (persistent, fading)."""
    return np.stack([np.ones(len(lags)), FADE**lags], axis=1)


def usual_likeness(document: np.ndarray) -> np.ndarray:
    """What is usual of ratings of these documents, of which each unit's number is given.

    >>> usual_likeness(np.repeat([0, 1], 10)).tolist(), usual_likeness(np.zeros(40, int)).tolist()
    ([0.05, 0.1], [0.0, 0.25])
    """
    long = len(document) > LONG * np.count_nonzero(np.bincount(document))
    return np.array(USUAL_LONG if long else USUAL)


def likeness(e: np.ndarray, drawn: np.ndarray, document: np.ndarray) -> Likeness:
    """The correlation of drawn units of one document, fitted over their lags by least squares.

    ``e`` is samples x units, around 0; every pair of drawn units within reach counts alike, and
    what is usual (:func:`usual_likeness`) as much as ``USUAL_WORTH`` of them.

    >>> e = np.tile([1.0, 1.0, -1.0, -1.0], 25)[None, :]
    >>> found = likeness(e, np.ones((1, 100), dtype=bool), np.arange(100) // 2)
    >>> found.parts.round(1).tolist()
    [[0.5, 0.5]]
    """
    samples, units = np.nonzero(drawn)
    values, shape = e[samples, units], (len(drawn), REACH)
    counts, products = np.zeros(shape), np.zeros(shape)
    text = samples * (document.max(initial=0) + 1) + document[units]
    for step in range(1, REACH + 1):
        lag = units[step:] - units[:-step]
        near = np.flatnonzero((text[step:] == text[:-step]) & (lag <= REACH))
        if not len(near):
            break
        cell = samples[near] * REACH + lag[near] - 1
        both = values[near + step] * values[near]
        counts += np.bincount(cell, minlength=counts.size).reshape(shape)
        products += np.bincount(cell, both, minlength=counts.size).reshape(shape)
    square = (np.where(drawn, e, 0.0) ** 2).sum(axis=1) / np.maximum(drawn.sum(axis=1), 1)
    products /= np.where(square > 0, square, 1.0)[:, None]
    parts = fading(np.arange(1, REACH + 1))
    gram = np.einsum("st,ta,tb->sab", counts, parts, parts) + USUAL_WORTH * np.eye(2)
    along = products @ parts + USUAL_WORTH * usual_likeness(document)
    inverse = np.linalg.inv(gram)
    return Likeness((inverse @ along[:, :, None])[:, :, 0], inverse)


def serial_effect(found: Likeness, lever: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The design effect 1 + lever . parts, at least ``LEAST_EFFECT``, and its relative variance."""
    effect = np.maximum(1 + found.parts @ lever, LEAST_EFFECT)
    return effect, (found.covariance @ lever @ lever) / effect**2


def pair_lever(together: np.ndarray, all_pairs: np.ndarray, f: float) -> np.ndarray:
    """What each part of the correlation adds to the variance, relative to a simple random sample.

    ``together`` are the pairs of units at lag 1, 2, ... of one section that are expected to be
    drawn both, ``all_pairs`` all that there are (both with the number of units, lag 0, in front).
    The variance of a mean is 1/N^2 sum (pi_ij / f^2 - 1) cov_ij, and 1/N (1/f - 1) of it is a
    simple random sample's.
    """
    if f >= 1:
        return np.zeros(2)
    excess = 2 * (together[1:] / f**2 - all_pairs[1:])
    return np.asarray(excess @ fading(np.arange(1, len(together))) / (all_pairs[0] * (1 / f - 1)))
