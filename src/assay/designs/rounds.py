"""Designs that draw a piece of every document, their variance, and the design ``rounds``.

``rounds`` shows one piece of every document per round: every beginning of its order is a sample.

Residuals in one document are correlated: its segments share a topic, a style and a rater, and
neighbours share more. The correlation of two segments t apart is modelled as persistent + fading *
FADE_PER_SEGMENT^t, with both numbers estimated from the drawn pairs (:func:`likeness`). A design
that spreads over documents removes the persistent part from the variance; the fading part makes
neighbours that are drawn together worth less.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from assay.designs.base import Parameter, SamplingDesign, segment_name, simple_variance
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.errors import InputError
from assay.stats.selection import length_order

if TYPE_CHECKING:
    from assay.designs.base import DesignUnits
    from assay.tables.tables import Sample, TestSet

FADE_PER_SEGMENT = 0.8
"""How fast the correlation of neighbours fades from segment to segment; from seven MQM sets."""

USUAL, USUAL_LONG, USUAL_WORTH = (0.05, 0.10), (0.0, 0.25), 15.0
"""The usual correlations (persistent, fading), and the number of pairs that they count for.

With few neighbours drawn, the data do not tell the two parts apart. In long documents nothing
persists and more fades: -.01 to .01 and .19 to .42 on the three MQM sets of 20 to 106 segments a
document, .04 to .10 and .05 to .09 on five of 2 to 13. With only three sets of long documents,
their fading part is taken a little below the mean."""

LONG_DOCUMENT = 15
"""Documents with more segments than this, on average, are long."""

MAX_LAG = 25
"""Pairs further apart than this are ignored."""

LEAST_EFFECT = 0.4
"""The smallest design effect, relative to a simple random sample."""


class PieceDesign(SamplingDesign):
    """A design that draws all segments with equal probability, in pieces of documents' sections.

    Its variance is that of a simple random sample times a design effect estimated from the ratings
    (:func:`likeness`): correlated neighbours are worth less together, and what a whole document
    shares cancels because every document is represented.
    """

    documents = 1
    skew_correction = True

    carries = ("position",)  # of segments in their documents, as scores may list them otherwise

    def check(self, sample: Sample, test_set: TestSet) -> None:
        """Also refuse positions that cannot be those of segments in their documents."""
        super().check(sample, test_set)
        frame, key = sample.frame, [name for name in test_set.key if name != "seg"]
        if "position" not in frame.columns or not {*key} <= {*frame.columns}:
            return
        own = [*key, *({"system"} & {*frame.columns})]
        rows = frame.join(test_set.documents, on=key, how="left").drop_nulls("position")
        place, last = rows["position"], rows["segments"]
        odd = (place != place.round()) | (place < 1) | (place > last)
        again = rows.select(*own, "position").is_duplicated()
        for bad, fault in (
            (odd, "is not a whole number from 1 to {last}, its document's length"),
            (again, "stands at another segment of its document too"),
        ):
            if bad.any():
                first = rows.filter(bad)
                value, most = first.select("position", "segments").row(0)
                raise InputError(
                    f"position {value:g} of {segment_name(first)} {fault.format(last=most)}; use"
                    " the sample as assay sample wrote it, and the scores that it was drawn from"
                )

    @property
    def longest(self) -> int:
        """The longest piece."""
        return int(float(self.parameters["max"]))

    @abstractmethod
    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """The lengths of the sections into which documents of these lengths are cut."""

    @abstractmethod
    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """The expected number of pairs at a lag in a section that are both drawn, of L - lag."""

    def lever(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """What persistent and fading correlation add to the variance (:func:`pair_lever`)."""
        if "parts" in self.parameters:  # several draws, each with its own pieces
            f = 1 - float(np.prod([1 - own for own in self._shares]))
        length, count = np.unique(self.sections(lengths, f), return_counts=True)
        lag = np.arange(int(length[-1]))
        pairs = np.maximum(length[:, None] - lag, 0)
        both = np.where(pairs > 0, self._union(length[:, None], lag[None, :], f), 0.0)
        return pair_lever(count @ both, count @ pairs, f)

    @cached_property
    def _levers(self) -> dict[tuple[bytes, float], np.ndarray]:
        """A cache: systems and pairs mostly have the same segments."""
        return {}

    @property
    def _shares(self) -> list[float]:
        """The share of the test set in each draw behind a sample."""
        return [n / int(self.parameters["N"]) for n in self.sizes]

    def _union(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """The expected pairs in one draw, or in the union of several independent draws."""
        if "parts" not in self.parameters:
            return self.together(length, lag, f)
        pairs = np.maximum(length - lag, 1)
        neither = [1 - 2 * own + self.together(length, lag, own) / pairs for own in self._shares]
        lost = np.prod([1 - own for own in self._shares])
        return np.asarray((1 - 2 * lost + np.prod(neither, axis=0)) * pairs)

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """The variance of a simple random sample times the design effect of likeness."""
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
        found = likeness(e - means[:, None], drawn, units.document, units.position)
        effect, noise = serial_effect(found, self._levers[key])
        degrees = 1 / (1 / np.maximum(n - 1.0, 1.0) + noise / 2)
        return plain * effect, np.maximum(degrees, 1.0)


def cut(layout: Layout, sections: np.ndarray) -> Layout:
    """Cut every document into so many sections of nearly equal length."""
    length, count = np.repeat(layout.lengths, sections), np.repeat(sections, sections)
    number = np.arange(len(count)) - np.repeat(np.cumsum(sections) - sections, sections)
    return Layout((number + 1) * length // count - number * length // count)


def short_sections(lengths: np.ndarray, pieces: int, longest: int) -> Layout:
    """Documents cut into sections so short that none of so many pieces is too long."""
    wanted = np.ceil(lengths / (pieces * longest)).astype(np.int64)
    return cut(Layout(lengths), np.maximum(wanted, 1))


def same_piece(length: np.ndarray, pieces: int, lag: np.ndarray) -> np.ndarray:
    """How many pairs at a lag share one of so many pieces of nearly equal length."""
    short, longer = np.divmod(length, pieces)
    return np.asarray(
        (pieces - longer) * np.maximum(short - lag, 0) + longer * np.maximum(short + 1 - lag, 0)
    )


class Likeness(NamedTuple):
    """Persistent and fading correlation, one row per sample, and their covariance matrices."""

    parts: np.ndarray
    covariance: np.ndarray


def fading(lags: np.ndarray) -> np.ndarray:
    """The two components of the correlation: lags x (persistent, fading)."""
    return np.stack([np.ones(len(lags)), FADE_PER_SEGMENT**lags], axis=1)


def usual_likeness(document: np.ndarray) -> np.ndarray:
    """The usual correlations for ratings of these documents (a document number per unit).

    >>> usual_likeness(np.repeat([0, 1], 10)).tolist(), usual_likeness(np.zeros(40, int)).tolist()
    ([0.05, 0.1], [0.0, 0.25])
    """
    long = len(document) > LONG_DOCUMENT * np.count_nonzero(np.bincount(document))
    return np.array(USUAL_LONG if long else USUAL)


def likeness(
    e: np.ndarray, drawn: np.ndarray, document: np.ndarray, position: np.ndarray | None = None
) -> Likeness:
    """The correlation of drawn units in one document, fitted over lags by least squares.

    ``e`` is samples x units, centred at 0. ``position`` is that of drawn units in their documents,
    by default their order. All pairs of drawn units within ``MAX_LAG`` count alike; the usual
    correlations (:func:`usual_likeness`) count for ``USUAL_WORTH`` pairs.

    >>> e = np.tile([1.0, 1.0, -1.0, -1.0], 25)[None, :]
    >>> found = likeness(e, np.ones((1, 100), dtype=bool), np.arange(100) // 2)
    >>> found.parts.round(1).tolist()
    [[0.5, 0.5]]
    """
    samples, units = np.nonzero(drawn)
    values, shape = e[samples, units], (len(drawn), MAX_LAG)
    counts, products = np.zeros(shape), np.zeros(shape)
    text = samples * (document.max(initial=0) + 1) + document[units]
    place = units if position is None else position[units].astype(np.int64)
    if ((text[1:] == text[:-1]) & (place[1:] < place[:-1])).any():  # listed in another order
        order = np.lexsort((place, text))
        samples, values, text, place = (part[order] for part in (samples, values, text, place))
    for step in range(1, MAX_LAG + 1):
        lag = place[step:] - place[:-step]
        near = np.flatnonzero((text[step:] == text[:-step]) & (lag <= MAX_LAG))
        if not len(near):
            break
        cell = samples[near] * MAX_LAG + lag[near] - 1
        both = values[near + step] * values[near]
        counts += np.bincount(cell, minlength=counts.size).reshape(shape)
        products += np.bincount(cell, both, minlength=counts.size).reshape(shape)
    square = (np.where(drawn, e, 0.0) ** 2).sum(axis=1) / np.maximum(drawn.sum(axis=1), 1)
    products /= np.where(square > 0, square, 1.0)[:, None]
    parts = fading(np.arange(1, MAX_LAG + 1))
    gram = np.einsum("st,ta,tb->sab", counts, parts, parts) + USUAL_WORTH * np.eye(2)
    along = products @ parts + USUAL_WORTH * usual_likeness(document)
    inverse = np.linalg.inv(gram)
    return Likeness((inverse @ along[:, :, None])[:, :, 0], inverse)


def serial_effect(found: Likeness, lever: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The design effect max(1 + lever . parts, LEAST_EFFECT), and its relative variance."""
    effect = np.maximum(1 + found.parts @ lever, LEAST_EFFECT)
    return effect, (found.covariance @ lever @ lever) / effect**2


def pair_lever(together: np.ndarray, all_pairs: np.ndarray, f: float) -> np.ndarray:
    """What each part of the correlation adds to the variance, relative to a simple random sample.

    ``together`` has the expected pairs drawn at lags 0 (units), 1, 2, ... within sections,
    ``all_pairs`` all such pairs. The variance of a mean is 1/N^2 sum (pi_ij / f^2 - 1) cov_ij; that
    of a simple random sample is 1/N (1/f - 1) times the variance of a unit.
    """
    if f >= 1:
        return np.zeros(2)
    excess = 2 * (together[1:] / f**2 - all_pairs[1:])
    return np.asarray(excess @ fading(np.arange(1, len(together))) / (all_pairs[0] * (1 / f - 1)))


MOST_PIECES = 20_000_000
"""Pieces, most of them empty, that are laid out at once: about a gigabyte."""
PHASE_STEP = 2**0.5 - 1
"""Steps of it spread the phases of documents, apart from the golden ratio that orders them."""


class Rounds(PieceDesign, name="rounds"):
    """Pieces of documents in rounds. Every beginning is a sample, so ratings can be monitored.

    Every document is cut into T pieces and every round shows one of each, so that raters have
    context and any number of rounds is a sample spread over all documents.
    """

    options: ClassVar[Mapping[str, Parameter]] = {
        "looks": Parameter("5", "planned looks, each after whole rounds", least=1, most=1000),
        "max": Parameter("10", "the longest piece", least=1),
    }
    sentence = "rounds through pieces of all documents, with equal probabilities for all segments"
    rated_in_order = True

    def is_sample(self, count: int) -> bool:
        """Every beginning of the first draw, unless importance made groups of documents."""
        return self.importance is None and "parts" not in self.parameters

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """As many rounds as the budget buys."""
        rounds = self._rounds(n / population.size)
        return RoundsPlan(population.layout, n, rounds, self.longest)

    def _rounds(self, f: float) -> int:
        """T, the rounds that go through the whole test set: looks fall on the ends of rounds."""
        return max(1, round(float(self.parameters["looks"]) / f))

    def _planned(self, f: float) -> int:
        """The T of a sample of which a share f, perhaps a beginning, is used."""
        get = self.parameters
        return self._rounds(self.sizes[0] / int(get["N"]) if "n" in get else f)

    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """As the plan cuts them."""
        return short_sections(lengths, self._planned(f), self.longest).lengths

    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """Pairs in one piece, and pairs in two pieces that have both been drawn.

        After k rounds, k q plus the floor or ceiling of k r / T segments of a section of q T + r
        are drawn, which gives the number of pairs; those of different pieces are spread evenly over
        lags.
        """
        rounds = self._planned(f)
        pairs = np.maximum(length - lag, 0)
        near = same_piece(length, rounds, lag)
        near_all, far_all = _totals(length, rounds)
        k = int(f * rounds + 1e-9)
        found = np.zeros(pairs.shape)
        for done, chance in ((k, k + 1 - f * rounds), (k + 1, f * rounds - k)):
            both = _drawn_pairs(length, rounds, done) - near_all * done / rounds
            share = np.clip(both / np.maximum(far_all, 1), 0.0, 1.0)
            found += max(chance, 0.0) * (near * done / rounds + (pairs - near) * share)
        return found


def _totals(length: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a section that lie in one piece, over all lags, and those that do not."""
    short, longer = np.divmod(length, rounds)
    near = (rounds - longer) * short * (short - 1) / 2 + longer * short * (short + 1) / 2
    return near, length * (length - 1) / 2 - near


def _drawn_pairs(length: np.ndarray, rounds: int, done: int) -> np.ndarray:
    """E n (n - 1) / 2, n the segments that a section has given after so many rounds."""
    short, longer = np.divmod(length, rounds)
    low, part = np.divmod(done * longer, rounds)
    n = done * short + low
    return np.asarray(n * (n - 1) / 2 + part / rounds * n)


@dataclass(frozen=True)
class RoundsPlan(DrawPlan):
    """The first pieces of an order in which every round has one piece of every section.

    Sections (documents, long ones cut) number D. After k rounds and j more pieces every segment
    has been drawn with probability (k + j/D) / T, exactly; the plan ends where that is closest to
    n/N.
    """

    contiguous: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    whole: Layout
    n: int
    rounds: int
    longest: int

    @cached_property
    def layout(self) -> Layout:
        """The documents cut into sections whose pieces are short enough."""
        return short_sections(self.whole.lengths, self.rounds, self.longest)

    @cached_property
    def pieces(self) -> int:
        """How many pieces are drawn, empty ones among them: k D + j."""
        total = self.rounds * len(self.layout.lengths)
        return min(total, max(1, round(self.n / self.whole.population * total)))

    def probabilities(self) -> np.ndarray:
        """(k + j/D) / T for every segment."""
        f = self.pieces / (self.rounds * len(self.layout.lengths))
        return np.full(self.whole.population, f)

    def positions(self) -> np.ndarray:
        """The positions of segments in their documents."""
        return self.whole.position

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in the order in which to rate."""
        rows = [round_order(self.layout, self.rounds, rng, self.pieces) for _ in range(draws)]
        return Draws(*(np.stack(part) for part in zip(*rows, strict=True)))


def round_order(
    layout: Layout, rounds: int, rng: np.random.Generator, pieces: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sections as pieces [start, stop), in an order whose beginnings are all samples.

    Every section is cut into T pieces at the places floor((i L + U) / T), U uniform on 0..T-1. Its
    pieces take the rounds in random order, the longer ones (the only ones that are not empty, in
    a section of fewer than T segments) at equal distances from a uniform start, so that the
    section has had its share after any number of rounds. Inside a round sections come in golden
    order of their lengths.

    >>> starts, stops = round_order(Layout(np.array([4, 6])), 2, np.random.default_rng(1))
    >>> (stops - starts).tolist()
    [2, 3, 2, 3]
    """
    lengths, count = layout.lengths, len(layout.lengths)
    line, place = length_order(lengths, rng)
    phase = np.empty(count, dtype=np.int64)
    phase[line] = ((np.arange(count) * PHASE_STEP + rng.random()) % 1 * rounds).astype(np.int64)
    edges = piece_edges(lengths, rounds, rng.integers(0, rounds, count))
    piece = piece_rounds(lengths, rounds, phase, edges, rng.random((count, rounds)))
    taken = line[place]
    section = np.concatenate([taken] * rounds)[:pieces]
    chosen = piece[taken].T.ravel()[:pieces]
    base = layout.starts[section]
    return base + edges[section, chosen], base + edges[section, chosen + 1]


def piece_edges(lengths: np.ndarray, rounds: int, shift: np.ndarray) -> np.ndarray:
    """Where the pieces of every section begin and end: sections x (T + 1)."""
    if len(lengths) * rounds > MOST_PIECES:
        raise InputError(
            f"the share is so small that the design rounds would cut {len(lengths):,} pieces of"
            f" text for each of {rounds:,} rounds; draw more segments, or choose the design"
            " segments"
        )
    return np.asarray((np.arange(rounds + 1) * lengths[:, None] + shift[:, None]) // rounds)


def piece_rounds(
    lengths: np.ndarray, rounds: int, phase: np.ndarray, edges: np.ndarray, key: np.ndarray
) -> np.ndarray:
    """Which piece of every section each round shows: sections x T.

    Round j shows a longer piece where floor((j r + phase) / T) rises, r = L mod T; ``key`` orders
    the pieces of one size. With a uniform phase a piece is equally likely to be shown in every
    round, and after k rounds floor((k r + phase) / T) longer ones have been.
    """
    short, longer = np.divmod(lengths, rounds)
    is_longer = edges[:, 1:] - edges[:, :-1] > short[:, None]
    steps = piece_edges(longer, rounds, phase)
    rises = steps[:, 1:] > steps[:, :-1]
    found = np.empty(key.shape, dtype=np.int64)
    turns = rises.argsort(axis=1, kind="stable")
    found[np.arange(len(found))[:, None], turns] = (is_longer + key).argsort(axis=1)
    return found
