"""A short twin of `python -m benchmarks campaign_kill`: processes are killed, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.campaign_kill import Result, kill_again_and_again


def whole(found: Result) -> bool:
    faults = (found.lost, found.doubled, found.failed_starts, found.faults)
    return found.acknowledged > 0 and not any(faults)


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    assert whole(kill_again_and_again(tmp_path, None, 3, segments=600))


def test_nor_when_two_processes_on_postgresql_are(
    tmp_path: Path, postgres: Callable[[], str]
) -> None:
    found = kill_again_and_again(tmp_path, postgres(), 2, processes=2, segments=600)
    assert whole(found)
