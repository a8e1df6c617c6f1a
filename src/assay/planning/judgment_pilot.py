"""What pilot judgments say about the campaign to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.ranking.counts import block_numbers, count
from assay.ranking.pairs import pooled_counts, pooled_strengths, pooled_test, sign_test
from assay.tables.answers import Judgments


@dataclass(frozen=True, slots=True)
class Votes:
    """Do more votes on the same segments help as much as new segments?

    ``agreement`` is the correlation of what two sets of one segment say beyond the systems'
    averages; ``per_segment`` the sets a segment has on average. One more set on every segment is
    ``worth`` that part of as many sets on new segments, each judged as often as these.
    """

    agreement: float
    per_segment: float
    worth: float


def found_share(pilot: Judgments, test: str, *, alpha: float) -> float:
    """The share of pairs that the pilot tells apart by sign test, or by the pooled test."""
    counts = count(pilot)
    if test == "sign":
        p = sign_test(counts.wins)
    else:
        block = block_numbers(pilot, "segment")
        block = block_numbers(pilot, "set") if block is None else block
        told = counts.outcome != 0
        arrays = counts.left[told], counts.right[told], counts.outcome[told]
        pooled = (
            pooled_counts(counts.wins) if block is None
            else pooled_test(*arrays, block[told], len(counts.systems))
        )  # fmt: skip
        p = pooled.p
    n = len(counts.systems)
    return float((p <= alpha).sum() / (n * (n - 1) / 2))


def votes(pilot: Judgments) -> Votes | None:
    """The variance between and within segments; None where no segment has two sets.

    A set's say is, for every system, the sum of its residuals against the pooled strengths; where
    the table names no sets, every judgment is one. With v sets on each of G segments and the
    correlation r the variance of a mean is that of one set times (1 + (v - 1) r) / (G v). A set
    more on each of them adds (1 - r) / (1 + v r) of the information (one over the variance) that
    G / v new segments with v sets add.
    """
    segment, screen = block_numbers(pilot, "segment"), block_numbers(pilot, "set")
    if segment is None:
        return None
    if screen is None:
        screen = np.arange(len(segment))
    counts = count(pilot)
    n, told = len(counts.systems), counts.outcome != 0
    left, right, y = counts.left[told], counts.right[told], counts.outcome[told].astype(float)
    own, first, screen = np.unique(screen[told], return_index=True, return_inverse=True)
    segment = np.unique(segment[told][first], return_inverse=True)[1]
    size = np.bincount(segment)
    if size.max(initial=0) < 2:
        return None
    strength = pooled_strengths(counts.wins)
    residual = y - strength[left] + strength[right]
    say = np.bincount(screen * n + left, residual, minlength=len(own) * n)
    say -= np.bincount(screen * n + right, residual, minlength=len(own) * n)
    say = say.reshape(len(own), n)
    sums = np.zeros((len(size), n))
    np.add.at(sums, segment, say)
    square = float((say**2).sum())
    together = (float((sums**2).sum()) - square) / float((size * (size - 1)).sum())
    r = min(1.0, max(0.0, together / (square / len(own))))
    v = len(own) / len(size)
    return Votes(r, v, (1 - r) / (1 + v * r))
