"""Looks at a campaign that runs: their intervals, their beginnings, and how far the next one is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.estimation.looks import Look, LookPlan, _inside, _judged
from assay.estimation.monitor import _asked_for, _beginnings, _more
from assay.estimation.texts import documents_error
from assay.sampling.draw import sample
from assay.stats.intervals import Interval
from assay.worlds.simulate import simulate


def look(estimate: float, half_width: float, n: int = 100) -> Look:
    return Look("A", n, estimate, half_width, met=False)


@pytest.mark.parametrize(
    ("estimate", "half_width", "ends"),
    [(9, 2, (6.5, 9.9)), (1, 2, (6.5, 9.9)), (8, 2, (6, 10)), (2, 2, (0, 4)), (9, 0, (9, 9))],
)
def test_an_interval_that_would_leave_the_range_is_the_estimates(
    estimate: float, half_width: float, ends: tuple[float, float]
) -> None:
    other = Interval(6.5, 9.9, 0.95)
    assert _inside(look(estimate, half_width), other, (0.0, 10.0)).ends == ends
    free = (estimate - half_width, estimate + half_width)
    assert _inside(look(estimate, half_width), other, None).ends == free


@pytest.mark.parametrize(
    ("estimate", "half_width", "target", "met", "decided"),
    [
        (1.0, 0.9, None, True, True),
        (-1.0, 0.9, None, True, True),
        (1.0, 1.0, None, False, False),  # its interval ends at 0
        (1.0, 0.0, None, False, False),  # no width is no verdict
        (0.1, 0.5, 0.5, True, False),
        (0.1, 0.51, 0.5, False, False),
    ],
)
def test_what_a_look_at_a_pair_decides(
    estimate: float, half_width: float, target: float | None, met: bool, decided: bool
) -> None:
    watched: Any = SimpleNamespace(seen=lambda *_: look(estimate, half_width))
    item: Any = SimpleNamespace(pair=True)
    found = _judged(watched, LookPlan((100,), (), target), item, 100, 0)
    assert (found.met, found.decided) == (met, decided)


def test_the_interval_asked_for_stays_inside_the_range() -> None:
    assert _asked_for(24.75, 0.5, (0.0, 25.0)) == (24.0, 25.0)
    assert _asked_for(12.0, 0.5, (0.0, 25.0)) == (11.5, 12.5)
    assert _asked_for(0.5, 2.0, (0.0, 1.0)) == (0.0, 1.0)  # wider than the range


def test_how_many_more_for_half_the_width() -> None:
    """The square of the width goes with 1/n - 1/N: a quarter of 1/100 - 1/1000, plus 1/1000."""
    watched: Any = SimpleNamespace(population=1000)
    plan, item = LookPlan((), (), 0.5), SimpleNamespace(pair=False)
    one: Any = SimpleNamespace(following=None, now=look(3.0, 1.0), item=item)
    assert _more(watched, plan, one) == np.ceil(1 / (0.001 + 0.009 / 4)) - 100 == 208
    narrow: Any = SimpleNamespace(following=None, now=look(3.0, 0.2), item=item)
    assert _more(watched, plan, narrow) == 1  # its own look has not said so yet
    everything: Any = SimpleNamespace(following=None, now=look(3.0, 1.0, 1000), item=item)
    assert _more(watched, plan, everything) == 0


def test_beginnings_cut_no_snippet() -> None:
    world = simulate(documents=30, systems=2, rng=1)
    drawn = sample(world.test_set, budget="40%", design="rounds", rng=1)
    frame = drawn.frame.sort("order")
    piece = frame.select("doc", "snippet").rows()
    ends = [k + 1 for k in range(len(piece)) if piece[k] != (*piece[k + 1 :], None)[0]]
    assert _beginnings(drawn, False, world.rate()).tolist() == ends
    assert len(ends) < len(piece)


def test_error_of_documents_by_hand() -> None:
    # sqrt(k / (k - 1) sum z^2), k - 1 degrees; two that say the same show no spread
    assert documents_error(np.array([0.1, -0.1]), 2) == pytest.approx((0.2, 1.0))
    assert np.isnan(documents_error(np.zeros(2), 2)[0])
    assert np.isnan(documents_error(np.array([0.1]), 1)[0])
