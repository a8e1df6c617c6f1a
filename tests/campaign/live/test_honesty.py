"""Whole campaigns until their rule ends them: ``benchmarks/campaign_honesty.py`` in short."""

from __future__ import annotations

import numpy as np
from benchmarks.campaign_honesty import campaigns


def test_campaigns_end_at_a_planned_look_and_are_right() -> None:
    equal, clear = list(campaigns("equal", 3)), list(campaigns("clear", 3, seed=2))
    pairs = np.concatenate([one.pairs for one in equal + clear])
    # Of 63 pairs 3 may fail either promise on average; seeds are fixed.
    assert (~pairs[:, 0]).sum() < 9
    assert pairs[:, 2].sum() < 9
    assert any(one.met and one.rated < 1 for one in clear), "none was ended by its rule"
    assert all(one.rated in (0.2, 0.4, 0.6, 0.8, 1.0) or not one.met for one in clear)
    decided = np.concatenate([one.pairs[:, 1] for one in clear])
    assert decided.mean() > 0.8
