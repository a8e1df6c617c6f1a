"""Likeness along documents: by hand, against a naive form, and what it does to a variance."""

from __future__ import annotations

import numpy as np
import pytest

from assay.designs.base import design_of, find_design
from assay.designs.rounds import (
    FADE_PER_SEGMENT,
    MAX_LAG,
    USUAL,
    USUAL_LONG,
    USUAL_WORTH,
    PieceDesign,
    likeness,
    pair_lever,
    serial_effect,
    usual_likeness,
)


def naive(e: np.ndarray, drawn: np.ndarray, document: np.ndarray) -> np.ndarray:
    """The same, pair by pair."""
    gram = USUAL_WORTH * np.eye(2)
    along = USUAL_WORTH * usual_likeness(document)
    square = (e[drawn] ** 2).mean()
    places = np.flatnonzero(drawn)
    for a in places:
        for b in places:
            if 0 < b - a <= MAX_LAG and document[a] == document[b]:
                shape = np.array([1.0, FADE_PER_SEGMENT ** (b - a)])
                gram += np.outer(shape, shape)
                along += shape * e[a] * e[b] / square
    return np.linalg.solve(gram, along)


def test_likeness_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(1)
    document = np.repeat(np.arange(6), [1, 4, 9, 30, 50, 6])
    e, drawn = rng.normal(size=(3, 100)), rng.random((3, 100)) < 0.4
    found = likeness(e, drawn, document)
    for row in range(3):
        assert found.parts[row] == pytest.approx(naive(e[row], drawn[row], document))


def test_without_pairs_likeness_is_the_usual_one() -> None:
    drawn = np.zeros((2, 9), dtype=bool)
    drawn[0, ::3] = True
    found = likeness(np.ones((2, 9)), drawn, np.repeat([0, 1, 2], 3))
    assert found.parts == pytest.approx(np.array([USUAL, USUAL]))


def test_more_fades_and_nothing_persists_in_long_documents() -> None:
    drawn = np.zeros((1, 32), dtype=bool)
    drawn[0, ::16] = True
    assert likeness(np.ones((1, 32)), drawn, np.repeat([0, 1], 16)).parts[0] == pytest.approx(
        np.array(USUAL_LONG)
    )
    assert usual_likeness(np.repeat([0, 1], 15)).tolist() == list(USUAL)


def test_many_pairs_tell_what_fades_from_what_stays() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(400, 20))
    for t in range(1, 20):
        z[:, t] = FADE_PER_SEGMENT * z[:, t - 1] + np.sqrt(1 - FADE_PER_SEGMENT**2) * z[:, t]
    e = np.sqrt(0.3) * z + np.sqrt(0.2) * rng.normal(size=(400, 1))
    e = (e + np.sqrt(0.5) * rng.normal(size=z.shape)).reshape(1, -1)
    found = likeness(e, np.ones(e.shape, dtype=bool), np.repeat(np.arange(400), 20))
    assert found.parts[0] == pytest.approx([0.2, 0.3], abs=0.06)
    assert np.all(np.linalg.eigvalsh(found.covariance[0]) > 0)


def test_the_lever_by_hand() -> None:
    # Two documents of two segments; one whole document is drawn, so f = 1/2 and both of a pair
    # come with probability 1/2: a correlation of 1 doubles the variance, (1/f^2 1/2 - 1) = 1.
    lever = pair_lever(np.array([2.0, 1.0]), np.array([4.0, 2.0]), 0.5)
    assert lever == pytest.approx([1.0, FADE_PER_SEGMENT])
    # One of each pair: they never come together, and a correlation of 1 leaves no variance.
    lever = pair_lever(np.array([2.0, 0.0]), np.array([4.0, 2.0]), 0.5)
    assert lever == pytest.approx([-1.0, -FADE_PER_SEGMENT])
    assert pair_lever(np.array([4.0, 2.0]), np.array([4.0, 2.0]), 1.0).tolist() == [0.0, 0.0]


def test_the_effect_has_a_floor() -> None:
    found = likeness(np.ones((1, 4)), np.ones((1, 4), dtype=bool), np.zeros(4, dtype=int))
    assert serial_effect(found, np.array([-50.0, 0.0]))[0].tolist() == [0.4]


@pytest.mark.parametrize("line", ["snippets", "rounds", "snippets|parts:9+9|n:18|N:60"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_what_documents_share_drops_out(line: str, share: float) -> None:
    # Every document has its share in every sample, so persistent likeness takes variance away.
    design = design_of(line) if "parts" in line else find_design(line)
    assert isinstance(design, PieceDesign)
    persistent, fades = design.lever(np.array([10, 20, 30]), share)
    assert -1.001 <= persistent < 0
    assert fades > persistent
