"""What all designs share: names, parameters, the line of text that a sample carries."""

from __future__ import annotations

import pkgutil
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.designs.plan import DrawPlan, GroupedPlan, Layout
from assay.designs.population import Population
from assay.errors import InputError, OptionError, did_you_mean
from assay.stats.allocation import capped_shares, systematic_counts
from assay.stats.variances import (
    cluster_variance,
    collapsed_variance,
    likeness,
    pair_lever,
    serial_effect,
    simple_variance,
)
from assay.tables.test_set import Design, TestSet

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

    def check(self, name: str, value: str) -> None:
        """Refuse a value that the parameter cannot have."""
        if self.choices and value not in self.choices:
            raise OptionError(name, value, "is not known", f"choose from {', '.join(self.choices)}")
        if self.least is None or value == self.default:
            return
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not self.least <= number < float("inf"):
            raise OptionError(
                name, value, "is not a number that it can be", f"give {self.least:g} or more"
            )
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
                raise OptionError(
                    name, value, f"is not a parameter of the design {_name_of(cls)}"
                    f"{did_you_mean(name, list(cls.options))}",
                    f"it has {', '.join(cls.options) or 'none'}",
                )  # fmt: skip
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
    because every document has its part (:func:`assay.stats.variances.likeness`).
    """

    documents = 1

    @property
    def skew_correction(self) -> bool:
        """It was found to help."""
        return True

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
        lever = self.lever(lengths[lengths > 0], f)
        w = drawn / units.pi
        means = (w * np.where(drawn, e, 0.0)).sum(axis=1) / np.maximum(w.sum(axis=1), 1e-300)
        found = likeness(e - means[:, None], drawn, units.document)
        effect, noise = serial_effect(found, lever)
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


def _name_of(wanted: type[SamplingDesign]) -> str:
    return next(name for name, known in _CLASSES.items() if known is wanted)


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
    if goal is not None and goal not in GOALS:
        raise OptionError("goal", goal, "is not known", f"choose from {', '.join(GOALS)}")
    if str(design).lower() != "auto":
        if goal is not None:
            raise OptionError(
                "goal", goal, "is for the design auto", "leave it out, or leave the design to it"
            )
        return find_design(design)
    wanted = GOALS[goal or ("ranking" if len(test_set.systems) > 1 else "score")]
    known = design_names()
    return find_design(next(name for name in wanted if known[name].suits(test_set)))
