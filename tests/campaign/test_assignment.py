"""How the outputs of a task are dealt out, and how many raters it wants."""

from __future__ import annotations

import numpy as np
import pytest

from assay.campaign.assignment import Dealer, PlannedTask, _overlapping, _sets, block_sizes
from assay.project.settings import Raters, Settings


@pytest.mark.parametrize(
    ("systems", "segments", "sizes"),
    [
        (6, 10, [6]),  # at most 60 outputs at once
        (6, 20, [3, 3]),
        (5, 40, [3, 2]),  # a block has two systems at least, also where these are too many
        (3, 40, [3]),
        (2, 100, [2]),
    ],
)
def test_blocks_have_two_systems_at_least(systems: int, segments: int, sizes: list[int]) -> None:
    assert block_sizes(systems, segments, 60) == sizes


def test_a_system_is_in_a_block_with_the_probability_of_its_size() -> None:
    settings = Settings()
    segments = 2 * settings.screen.most_outputs // 5
    long = PlannedTask("rate", 0, dict.fromkeys(range(segments), (0, 1, 2, 3, 4)))
    found = _sets(long, settings, "ratings", Dealer(5, np.random.default_rng(1)))
    assert [share for _, share in found] == [3 / 5, 2 / 5]
    assert sorted(system for block, _ in found for system in block) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("number", "wanted"), [(2, [2] * 20), (3, [2] * 18 + [3] * 2)])
def test_no_task_wants_more_raters_than_there_are(number: int, wanted: list[int]) -> None:
    # A tenth of the tasks wants one rater more, unless nobody is left who could be that one.
    tasks = [PlannedTask("rate", k, {k: (0, 1)}) for k in range(20)]
    settings = Settings(raters=Raters(number=number, per_task=2))
    found = _overlapping(tasks, settings, np.random.default_rng(1))
    assert sorted(task.wanted for task in found) == wanted
