"""The hidden state of a world: how bad every output is, what raters mark, what metrics see.

Arrays have the axes systems (S), segments (G), raters (R); D counts documents. Nothing is checked
here and nothing has a label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from assay.worlds.profiles import ERROR_WEIGHTS, MOST_ERRORS, Kind, Profile

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Small = NDArray[np.int8]


class WorldLayout(NamedTuple):
    """The numbers of systems, raters, documents and segments, and how they are nested."""

    systems: int
    raters: int
    document: Ints  # document of each segment
    domain: Ints  # domain of each document
    length: Floats  # standardised log words of each segment
    human: NDArray[np.bool_]  # which systems are human translations

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.document)

    @property
    def documents(self) -> int:
        """The number of documents."""
        return len(self.domain)


class Latent(NamedTuple):
    """One kind of error: the part shared by all raters (S x G), and by rater (S x G x R)."""

    shared: Floats
    seen: Floats


@dataclass(frozen=True)
class State:
    """Everything raters will ever say: marked errors (S x G x R x 5) and their scores.

    ``badness`` is the continuous value behind a score, with sd 1 inside systems; ``quality``
    (S x G, higher is better) is what all raters share of it.
    """

    kinds: Small
    scores: Floats
    badness: Floats
    quality: Floats


def draw(profile: Profile, layout: WorldLayout, shift: Floats, rng: Generator) -> State:
    """Draw one world: latent values, errors, scores."""
    kinds = (profile.major, profile.minor, profile.punctuation)
    first, second, third = (fields(layout, rng) for _ in kinds)
    drawn = (first, twin(first, second, profile), third)
    latents = [latent(kind, profile, layout, f) for kind, f in zip(kinds, drawn, strict=True)]
    major, minor, punctuation = (
        counts(kind, z.seen, shift) for kind, z in zip(kinds, latents, strict=True)
    )
    moved = latents[0].seen + profile.major.quality * shift[:, None, None]
    non_translation = moved > -ndtri(profile.non_translation)
    marked = marks(non_translation, major, minor, punctuation)
    y = scores(marked)
    weights = slopes(profile)
    rise = weights @ [kind.quality for kind in kinds] * shift
    badness = sum(w * z.seen for w, z in zip(weights, latents, strict=True)) + rise[:, None, None]
    shared = sum(w * z.shared for w, z in zip(weights, latents, strict=True)) + rise[:, None]
    size = badness.std(axis=1).mean() or 1.0  # one segment alone does not vary
    return State(marked, y, badness / size, -shared / size)


def slopes(profile: Profile, step: float = 0.1) -> Floats:
    """The weights of the kinds in badness: how fast the expected score rises with each one's z."""
    names = ("major", "minor", "punctuation")
    rises = []
    for name in names:
        felt = {n: replace(getattr(profile, n), quality=float(n == name)) for n in names}
        low, high = expected_score(replace(profile, **felt), np.array([-step, step]))
        rises.append((high - low) / (2 * step))
    return np.array(rises)


class Fields(NamedTuple):
    """Standard normal draws behind one kind of error, one array per component of variance."""

    system: Floats
    domain: Floats
    document: Floats
    human_document: Floats
    segment: Floats
    human_segment: Floats
    system_document: Floats
    system_segment: Floats
    rater: Floats
    rater_document: Floats
    rater_segment: Floats
    human_rater_segment: Floats
    rest: Floats


RATER_FIELDS = ("rater", "rater_document", "rater_segment", "human_rater_segment", "rest")


def fields(layout: WorldLayout, rng: Generator) -> Fields:
    """Draw the components; human translations have separate difficulties and so separate fields."""
    S, G, R, D = layout.systems, layout.segments, layout.raters, layout.documents
    H = int(layout.human.sum())
    normal = rng.standard_normal
    return Fields(
        system=normal((S, 1)), domain=normal(int(layout.domain.max()) + 1),
        document=normal(D), human_document=normal((H, D)),
        segment=normal(G), human_segment=normal((H, G)),
        system_document=normal((S, D)), system_segment=normal((S, G)),
        rater=normal(R), rater_document=normal((D, R)), rater_segment=normal((G, R)),
        human_rater_segment=normal((H, G, R)), rest=normal((S, G, R)),
    )  # fmt: skip


def twin(first: Fields, second: Fields, profile: Profile) -> Fields:
    """Make ``second`` correlate with ``first``: minor with major errors.

    Difficult texts cause both kinds, but an error that a rater calls major is not also minor.
    """

    def joined(name: str) -> Floats:
        r = profile.rater_kinship if name in RATER_FIELDS else profile.kinship
        return np.asarray(r * getattr(first, name) + np.sqrt(1 - r**2) * getattr(second, name))

    return Fields(*map(joined, Fields._fields))


def latent(kind: Kind, profile: Profile, layout: WorldLayout, f: Fields) -> Latent:
    """Z = system + document + segment + their interactions + the rater's share, variance 1."""
    doc, human, own = layout.document, layout.human, profile.human_own
    document = mix(profile.domain_share, f.domain[layout.domain], f.document)[doc]
    segment = mix(profile.length_share, layout.length, f.segment)
    shared = (
        np.sqrt(kind.system) * f.system
        + np.sqrt(kind.document) * for_humans(document, f.human_document[:, doc], human, own)
        + np.sqrt(kind.segment) * for_humans(segment, f.human_segment, human, own)
        + np.sqrt(kind.system_document) * f.system_document[:, doc]
        + np.sqrt(kind.system_segment) * f.system_segment
    )
    seen = (
        shared[:, :, None]
        + np.sqrt(kind.rater) * f.rater
        + np.sqrt(kind.rater_document) * f.rater_document[doc]
        + np.sqrt(kind.rater_segment)
        * for_humans(f.rater_segment, f.human_rater_segment, human, own)
        + np.sqrt(kind.rest) * f.rest
    )
    return Latent(shared, seen)


def mix(share: float, one: Floats, other: Floats) -> Floats:
    """Mix two standard normal arrays; the first is ``share`` of the variance."""
    return np.asarray(np.sqrt(share) * one + np.sqrt(1 - share) * other)


def for_humans(common: Floats, private: Floats, human: NDArray[np.bool_], own: float) -> Floats:
    """One value per system: ``common`` for machines, of which human translations share a part."""
    full = np.repeat(common[None], len(human), axis=0)
    full[human] = mix(own, private, full[human])
    return full


def counts(kind: Kind, z: Floats, shift: Floats) -> Small:
    """The number of errors: the kind's cut points that the shifted latent value exceeds."""
    moved = z + (kind.quality * shift).reshape((-1,) + (1,) * (z.ndim - 1))
    total = np.zeros(z.shape, dtype=np.int8)
    for cut in -ndtri(np.asarray(kind.shares)):
        total += moved > cut
    return total


def marks(
    non_translation: NDArray[np.bool_], major: Small, minor: Small, punctuation: Small
) -> Small:
    """The marked errors, five slots: 0 none, 1 punctuation, 2 minor, 3 major, 4 non-translation.

    Raters mark the five worst errors of a segment; a non-translation is a single error.
    """
    slot = np.arange(MOST_ERRORS)
    a = major[..., None].astype(int)
    b = a + minor[..., None]
    c = b + punctuation[..., None]
    kinds = np.select([slot < a, slot < b, slot < c], [3, 2, 1], 0)
    alone = np.where(slot == 0, 4, 0)
    return np.where(non_translation[..., None], alone, kinds).astype(np.int8)


def scores(kinds: Small) -> Floats:
    """The MQM score of marked errors, to one decimal like the weights."""
    weights = np.array([0.0, *ERROR_WEIGHTS])
    return np.asarray(np.round(weights[kinds].sum(axis=-1), 1))


def expected_score(profile: Profile, shift: Floats) -> Floats:
    """The mean score of systems with these shifts, over documents, segments and raters."""
    kinds = (profile.major, profile.minor, profile.punctuation)
    p, q, r = (_count_shares(kind, shift) for kind in kinds)
    k, j, i = np.indices((p.shape[1], q.shape[1], r.shape[1]), dtype=np.int8)
    nothing = np.zeros(k.shape, dtype=bool)
    value = scores(marks(nothing, k, j, i))
    regular = np.einsum("ak,aj,ai,kji->a", p, q, r, value)
    alone = ndtr(ndtri(profile.non_translation) + profile.major.quality * shift)
    # a non-translation is the far end of "five major errors or more", which scores the same 25
    worst = np.einsum("aj,ai,ji->a", q, r, value[-1])
    return np.asarray(regular + alone * ERROR_WEIGHTS[-1] - alone * worst)


def _count_shares(kind: Kind, shift: Floats) -> Floats:
    """P(count = 0, 1, ...) of systems with these shifts, one row per system."""
    at_least = ndtr(ndtri(np.asarray(kind.shares)) + kind.quality * shift[:, None])
    return np.asarray(-np.diff(at_least, axis=1, prepend=1.0, append=0.0))


SHIFTS = np.linspace(-4.0, 4.0, 321)


def shifts(profile: Profile, wanted: Floats) -> Floats:
    """The shifts at which systems have the wanted mean scores (inverse of expected_score)."""
    return np.interp(wanted, expected_score(profile, SHIFTS), SHIFTS)


def reachable(profile: Profile) -> tuple[float, float]:
    """The lowest and highest mean score a system of this profile can have."""
    low, high = expected_score(profile, SHIFTS[[0, -1]])
    return float(low), float(high)


# Metrics: automatic scores of a chosen correlation with the ratings

SCALES = ((0.72, 0.10), (0.64, 0.17), (0.45, 0.55), (38.0, 19.0))
"""Means and sds of metrics, in turn: like BLEURT-20, chrF, an early COMET and sentence BLEU."""


def metric_errors(
    count: int, profile: Profile, layout: WorldLayout, rng: Generator
) -> list[Floats]:
    """The errors of ``count`` metrics (S x G each), which they partly have in common."""
    common = _error(profile, layout, rng)
    return [mix(profile.metric_common, common, _error(profile, layout, rng)) for _ in range(count)]


def _error(profile: Profile, layout: WorldLayout, rng: Generator) -> Floats:
    S, G, normal = layout.systems, layout.segments, rng.standard_normal
    shares = (profile.metric_document, profile.metric_segment)
    document, segment = normal(layout.documents)[layout.document], normal(G)
    # a reference that a metric compares with is far from all machines alike, less so from people
    human = normal((int(layout.human.sum()), G))
    segment = for_humans(segment, human, layout.human, profile.human_own)
    rest = np.sqrt(1 - sum(shares)) * normal((S, G))
    return np.asarray(np.sqrt(shares[0]) * document + np.sqrt(shares[1]) * segment + rest)


def greatest_correlation(y: Floats) -> float:
    """The highest possible correlation with single ratings: that of their best linear mean."""
    return float(np.linalg.norm(_target(y)))


def metric(signal: Floats, error: Floats, y: Floats, wanted: float) -> Floats:
    """Mix signal and error so that the correlation with single ratings is exactly ``wanted``.

    signal: S x G, higher is better; y: ratings S x G x R, higher is worse. The correlation is
    within systems, averaged over raters. It is exact because the error is first made orthogonal to
    the signal and the ratings.
    """
    q = -_target(y)  # <x, q> is the mean correlation with the raters, for any x of length 1
    s = _unit(_centred(signal))
    reach, most = float(s @ q), float(np.linalg.norm(q))
    if wanted >= reach:
        # the hidden quality is not enough: the metric must know some of the raters' own chance
        angle = np.arccos(reach / most) - np.arccos((wanted + most) / 2 / most)
        s = np.cos(angle) * s + np.sin(angle) * _unit(q - reach * s)
        reach = (wanted + most) / 2
    basis, _ = np.linalg.qr(np.column_stack([s, q]))
    e = _centred(error)
    e = _unit(e - basis @ (basis.T @ e))
    x = (wanted / reach) * s + np.sqrt(1 - (wanted / reach) ** 2) * e
    # systems differ by as much as the part of the metric that sees quality says
    gap = signal.mean(axis=1) / np.linalg.norm(_centred(signal)) * (wanted / reach)
    return np.asarray(x.reshape(signal.shape) + (gap - gap.mean())[:, None])


def scaled(values: list[Floats]) -> list[Floats]:
    """Put each metric on its own scale."""
    scales = islice(cycle(SCALES), len(values))
    return [m + sd * v / v.std(axis=1).mean() for v, (m, sd) in zip(values, scales, strict=True)]


def _target(y: Floats) -> Floats:
    """The mean over raters of the ratings, centred within systems and scaled to length 1."""
    centred = y - y.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=(0, 1)))
    return np.asarray((centred / np.where(lengths > 0, lengths, 1)).mean(axis=2).ravel())


def _centred(values: Floats) -> Floats:
    return np.asarray((values - values.mean(axis=1, keepdims=True)).ravel())


def _unit(values: Floats) -> Floats:
    return np.asarray(values / np.linalg.norm(values))
