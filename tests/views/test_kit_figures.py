"""The figure about kits."""

from __future__ import annotations

import numpy as np

import assay
from assay.kits.pieces import pieces_from_features
from assay.views.figures import svg_text
from assay.views.kit_figures import draw_kits


def test_kits_are_marked() -> None:
    points = np.random.default_rng(1).random((40, 3))
    found = assay.find_kits(pieces_from_features(points), kits=2, mode="dbscan", eps=0.6, rng=0)
    figure = draw_kits(found.to_dict())
    left, right = figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["kit 1", "kit 2"]
    assert len(left.texts) == 40
    assert left.lines[1].get_xydata().tolist() == found.places[list(found.kits[0].pieces)].tolist()
    assert right.lines[0].get_ydata().tolist() == found.distances.tolist()
    assert "<svg" in svg_text(draw_kits(found.to_dict()))


def test_many_pieces_have_no_numbers() -> None:
    points = np.random.default_rng(1).random((150, 1))
    found = assay.find_kits(pieces_from_features(points), rng=0)
    assert len(draw_kits(found.to_dict()).axes[0].texts) == 0


def test_no_kit_and_no_knee() -> None:
    found = assay.find_kits(
        pieces_from_features(np.ones((3, 2)), words=[100, 500, 900]), rng=0
    )  # fmt: skip
    assert found.kits == ()
    assert "<svg" in svg_text(draw_kits(found.to_dict()))
