"""Simulated metrics: automatic scores of a chosen correlation with the ratings."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from assay.worlds.latent import Layout, for_humans, mix
from assay.worlds.profiles import Profile

Floats = NDArray[np.float64]

SCALES = ((0.72, 0.10), (0.64, 0.17), (0.45, 0.55), (38.0, 19.0))
"""Mean and sd, taken in turn: like BLEURT-20, chrF, an early COMET and sentence BLEU."""


def metric_errors(count: int, profile: Profile, layout: Layout, rng: Generator) -> list[Floats]:
    """What ``count`` metrics see besides quality (S x G each): in part the same thing."""
    common = _error(profile, layout, rng)
    return [mix(profile.metric_common, common, _error(profile, layout, rng)) for _ in range(count)]


def _error(profile: Profile, layout: Layout, rng: Generator) -> Floats:
    S, G, normal = layout.systems, layout.segments, rng.standard_normal
    shares = (profile.metric_document, profile.metric_segment)
    document, segment = normal(layout.documents)[layout.document], normal(G)
    # a reference that a metric compares with is far from all machines alike, less so from people
    own = normal((int(layout.human.sum()), G))
    segment = for_humans(segment, own, layout.human, profile.human_own)
    rest = np.sqrt(1 - sum(shares)) * normal((S, G))
    return np.asarray(np.sqrt(shares[0]) * document + np.sqrt(shares[1]) * segment + rest)


def greatest_correlation(y: Floats) -> float:
    """No metric can correlate better with single ratings than their best linear mean does."""
    return float(np.linalg.norm(_target(y)))


def metric(signal: Floats, error: Floats, y: Floats, wanted: float) -> Floats:
    """Signal + error, weighted so that the correlation with single ratings is ``wanted``.

    signal: S x G, higher is better; y: ratings S x G x R, higher is worse. The correlation is
    taken inside systems and averaged over raters; it is met exactly, since the error is first
    cleared of its chance correlation with the signal and the ratings.
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
    """Each metric on a scale of its own."""
    scales = islice(cycle(SCALES), len(values))
    return [m + sd * v / v.std(axis=1).mean() for v, (m, sd) in zip(values, scales, strict=True)]


def _target(y: Floats) -> Floats:
    """Mean over raters of the ratings, centred inside systems and each of length 1."""
    centred = y - y.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=(0, 1)))
    return np.asarray((centred / np.where(lengths > 0, lengths, 1)).mean(axis=2).ravel())


def _centred(values: Floats) -> Floats:
    return np.asarray((values - values.mean(axis=1, keepdims=True)).ravel())


def _unit(values: Floats) -> Floats:
    return np.asarray(values / np.linalg.norm(values))
