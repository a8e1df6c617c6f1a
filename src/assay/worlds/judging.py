"""Screens of several outputs, put in order by one rater."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Screens:
    """Who judged what: one row per screen; ``systems`` and ``ranks`` have one column per output."""

    segment: Ints
    rater: Ints
    systems: Ints
    ranks: Ints


def screens(
    badness: Floats, count: int, size: int, *, noise: float, tie: float, rng: Generator
) -> Screens:
    """``count`` screens of ``size`` random systems on random segments by random raters.

    badness: S x G x R. A rater sees it with fresh normal noise and gives two neighbours the same
    rank where they are less than ``tie`` apart, so that ties are transitive as on real screens.
    """
    S, G, R = badness.shape
    segment, rater = rng.integers(G, size=count), rng.integers(R, size=count)
    systems = rng.permuted(np.broadcast_to(np.arange(S), (count, S)), axis=1)[:, :size]
    seen = badness[systems, segment[:, None], rater[:, None]]
    seen = seen + noise * rng.standard_normal(seen.shape)
    return Screens(segment, rater, systems, screen_ranks(seen, tie))


def screen_ranks(badness: Floats, tie: float) -> Ints:
    """Ranks on each screen (row), the least bad first; neighbours less than ``tie`` apart share."""
    order = np.argsort(badness, axis=1)
    steps = np.diff(np.take_along_axis(badness, order, axis=1), axis=1) >= tie
    ordered = np.column_stack([np.zeros(len(badness), dtype=np.intp), np.cumsum(steps, axis=1)])
    ranks = np.empty_like(ordered)
    np.put_along_axis(ranks, order, ordered, axis=1)
    return ranks


def pairs(found: Screens) -> tuple[Ints, Ints, Ints, Ints]:
    """All pairs of each screen: screen, left system, right system, -1 left wins, 0 tie, 1 right."""
    i, j = np.triu_indices(found.systems.shape[1], k=1)
    screen = np.repeat(np.arange(len(found.segment)), len(i))
    left, right = found.systems[:, i].ravel(), found.systems[:, j].ravel()
    sign = np.sign(found.ranks[:, i] - found.ranks[:, j]).ravel()
    return screen, left, right, sign


def judgment_columns(
    found: Screens, systems: Sequence[str], raters: Sequence[str]
) -> tuple[Ints, dict[str, list[str]]]:
    """The screen of every judgment, and its columns ``rater``, ``left``, ``right``, ``winner``."""
    screen, left, right, sign = pairs(found)
    names = np.array(systems)
    return screen, {
        "rater": np.array(raters)[found.rater[screen]].tolist(),
        "left": names[left].tolist(),
        "right": names[right].tolist(),
        "winner": np.array(["left", "tie", "right"])[sign + 1].tolist(),
    }
