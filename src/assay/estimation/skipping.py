"""Weights for outputs that raters skipped, and warnings where weights may not be enough.

If raters skip what is hard, the rated outputs look too good. Within classes, rated outputs
therefore get higher weights (weighting-class adjustment: Sarndal, Swensson and Wretman 1992,
section 15.6). Classes are the strata of the sample and fifths of the badness that metrics predict,
combined by raking (Deming and Stephan 1940); without either, they are documents. A bias unrelated
to these remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.designs.population import Population
from assay.results import Note
from assay.tables.tables import TestSet

RAKING_ROUNDS = 20
"""Raking converges long before."""
MIN_RATINGS_PER_CLASS = 5
"""Classes with fewer ratings are merged with their neighbours."""
BADNESS_CLASSES = 5
SKIPPING_ALARM = 2.5
"""From this z on, skipping is reported to differ between groups."""
MIN_TO_TEST_SKIPPING = 5
"""With fewer skipped or rated segments there is no test."""


class Classes(NamedTuple):
    """The classes of every segment, numbered so that neighbours are alike, and their names.

    The strata of a sample, which may differ by system, are not among the ``numbers``.
    """

    numbers: tuple[np.ndarray, ...]
    what: str


def make_classes(test_set: TestSet, *, stratified: bool) -> Classes | None:
    """The classes from the test set, in addition to the strata of a sample; None without any."""
    found = []
    if test_set.metrics:
        badness = Population(replace(test_set, history=None)).badness
        ranks = np.argsort(np.argsort(badness, kind="stable"), kind="stable")
        found.append((ranks * BADNESS_CLASSES // len(ranks), "fifths by their metrics"))
    if found or stratified:
        what = ["strata"] * stratified + [text for _, text in found]
        return Classes(tuple(number for number, _ in found), " and ".join(what))
    if test_set.has_documents and test_set.documents.height > 1:
        return Classes((test_set.document,), "documents")
    return None


def responded(pi: np.ndarray, rated: np.ndarray, numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Probabilities of drawn units to be drawn and rated.

    In every class of every kind, 1/pi of the rated units add up to that of all drawn ones; classes
    are merged in order until each has MIN_RATINGS_PER_CLASS ratings.

    >>> pi, rated = np.full(14, 0.5), np.array([True] * 9 + [False] * 2 + [True] * 3)
    >>> responded(pi, rated, [np.repeat([0, 1], 7)]).round(2).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.36, ...]
    """
    if rated.all():
        return pi
    weight, factor = 1 / pi, np.ones(len(pi))
    kinds = [_joined(rated, number) for number in numbers]
    wanted = [np.bincount(own, weight) for own in kinds]
    for _ in range(RAKING_ROUNDS if len(kinds) > 1 else 1):
        for own, total in zip(kinds, wanted, strict=True):
            factor *= (total / np.bincount(own, weight * factor * rated))[own]
    return np.minimum(pi / factor, 1.0)


def _joined(rated: np.ndarray, number: np.ndarray) -> np.ndarray:
    _, own = np.unique(number, return_inverse=True)
    counts = np.bincount(own, rated).astype(int)
    group = np.zeros(len(counts), dtype=np.int64)
    current = held = 0
    for position, count in enumerate(counts):
        group[position] = current
        held += count
        if held >= MIN_RATINGS_PER_CLASS:
            current, held = current + 1, 0
    if current:  # too few at the end for a class
        group[group == current] = current - 1
    return np.asarray(group[own])


def skipping_notes(
    test_set: TestSet, drawn: np.ndarray, rated: np.ndarray, classes: Classes | None
) -> list[Note]:
    """How many drawn outputs are not rated, what represents them, and warnings."""
    unrated, total = int((drawn & ~rated).sum()), int(drawn.sum())
    if not unrated:
        return []
    stand = "a random part of all drawn"
    if classes is not None:
        stand = f"a random part of their class ({classes.what}, merged where ratings are few)"
    text = (
        f"{unrated:,} of {total:,} drawn outputs have no rating; the rated ones are treated as"
        f" {stand}"
    )
    notes = [Note("skipped", text)]
    if unrated > total // 2:
        text = "more than half of the sample is not rated; check that this is the right sample"
        notes.append(Note("mostly-skipped", text))
    here = np.asarray(drawn.any(axis=0))
    skipped = (drawn & ~rated).any(axis=0)[here]
    found = _by_system(test_set, drawn, rated)
    if min(skipped.sum(), (~skipped).sum()) >= MIN_TO_TEST_SKIPPING:
        found += _by_metrics(test_set, here, skipped) + _by_document(test_set, here, skipped)
    if found:
        text = (
            "warning: intervals and verdicts do not hold: the outputs without a rating are"
            " different in kind from the rated ones"
        )
        notes.insert(0, Note("intervals-do-not-hold", text))
    return notes + found


def _by_metrics(test_set: TestSet, here: np.ndarray, skipped: np.ndarray) -> list[Note]:
    if not test_set.metrics:
        return []
    badness = Population(replace(test_set, history=None)).badness[here]
    a, b = badness[skipped], badness[~skipped]
    noise = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    z = float((a.mean() - b.mean()) / noise) if noise > 0 else 0.0
    if abs(z) <= SKIPPING_ALARM:
        return []
    word = "harder" if z > 0 else "easier"
    text = (
        f"warning: the skipped segments look {word} than the rated ones by their metrics"
        f" (z = {z:+z.1f}): estimates may be biased, although weights allow for the metrics"
    )
    return [Note("skipping-by-metrics", text)]


def _by_document(test_set: TestSet, here: np.ndarray, skipped: np.ndarray) -> list[Note]:
    own = test_set.document[here]
    if len(np.unique(own)) < 2:
        return []
    group = np.unique(own, return_inverse=True)[1]
    size, share = np.bincount(group), skipped.mean()
    gone, degrees = np.bincount(group, skipped), size.size - 1
    square = ((gone - share * size) ** 2 / (size * share * (1 - share))).sum()
    if (square - degrees) / np.sqrt(2 * degrees) <= SKIPPING_ALARM:  # the z of their chi-square
        return []
    names = test_set.documents[test_set.key[-2]].to_list()
    shares = {k: skipped[own == k].mean() for k in np.unique(own)}
    worst = sorted(shares, key=lambda k: -shares[k])[:3]
    shown = ", ".join(f"{names[k]} {shares[k]:.0%}" for k in worst)
    text = f"warning: skipping differs between documents ({shown} skipped): estimates may be biased"
    return [Note("skipping-by-document", text)]


def _by_system(test_set: TestSet, drawn: np.ndarray, rated: np.ndarray) -> list[Note]:
    counts, done = drawn.sum(axis=1), (drawn & rated).sum(axis=1)
    if len(counts) < 2 or (counts == 0).any() or (counts - done).sum() < MIN_TO_TEST_SKIPPING:
        return []
    share = done.sum() / counts.sum()
    if share in (0, 1):
        return []
    spread = ((done - share * counts) ** 2 / (counts * share * (1 - share))).sum()
    # The two-sided probability of the z that raises the alarm.
    likely = scipy.special.chdtrc(len(counts) - 1, spread)
    if likely > 2 * scipy.special.ndtr(-SKIPPING_ALARM):
        return []
    rates = done / counts
    least, most = int(np.argmin(rates)), int(np.argmax(rates))
    text = (
        f"warning: skipping differs between systems ({test_set.systems[least]} {rates[least]:.0%}"
        f" rated, {test_set.systems[most]} {rates[most]:.0%}): estimates may be biased"
    )
    return [Note("skipping-by-system", text)]
