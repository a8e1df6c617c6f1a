"""Thompson choice of the next sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.ranking.next import posterior, thompson_sets
from assay.stats.random import as_rng


def test_posterior_by_hand() -> None:
    """Two systems, 30 wins to 10, pairs: precision 2 * 40 of the difference plus the prior's."""
    mean, root = posterior(np.array([[0.0, 30.0], [10.0, 0.0]]), 2)
    gap = mean[0] - mean[1]
    assert gap == pytest.approx(2 * 20 / (2 * 40 + 4))
    cover = root @ root.T
    difference = cover[0, 0] + cover[1, 1] - 2 * cover[0, 1]
    assert difference == pytest.approx(2 / (2 * 40 + 4))


def test_sets_have_different_systems() -> None:
    chosen = thompson_sets(*posterior(np.zeros((3, 6, 6)), 4), 50, 4, as_rng(1))
    assert chosen.shape == (3, 50, 4)
    assert all(len(set(row)) == 4 for row in chosen.reshape(-1, 4).tolist())
    # Nothing is known yet: every system is shown about equally often.
    assert np.abs(np.bincount(chosen.ravel()) / 100 - 1).max() < 0.3


def test_contenders_are_shown() -> None:
    table = assay.simulate_judgments([0, 0, 1, 1, 9, 9.5], 20_000, rng=1)
    found = assay.next_sets(table, per_set=2, count=20, rng=1)
    shown = [name for names in found.sets for name in names]
    assert set(shown) == {"S5", "S6"}
    assert sum(item.best for item in found.systems) == pytest.approx(1)
    assert found.to_frame().height == 40
    assert assay.next_sets(table, per_set=2, count=20, rng=1) == found


def test_a_system_not_judged_yet_is_tried() -> None:
    table = assay.simulate_judgments([0, 5, 6], 3000, per_set=3, rng=1)
    found = assay.next_sets(table, systems=["S1", "S2", "S3", "new"], per_set=2, count=10, rng=1)
    assert any("new" in names for names in found.sets)


def test_refusals() -> None:
    table = assay.simulate_judgments(3, 30, per_set=3, rng=1)
    with pytest.raises(OptionError, match="per_set"):
        assay.next_sets(table, per_set=4)
    with pytest.raises(OptionError, match="count"):
        assay.next_sets(table, per_set=2, count=0)
    with pytest.raises(OptionError, match="lacks"):
        assay.next_sets(table, systems=["S1", "S2"], per_set=2)


def test_command(run_assay: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "judgments.tsv"
    assay.simulate_judgments(6, 500, rng=1).write(file)
    ran = run_assay("next-set", file, "--count", 2, "--seed", 1, "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["sets"]) == 2
    ran = run_assay("next-set", file, "--seed", 1)
    assert "Ordinary tests do not hold" in ran.out
    assert run_assay("next-set", file, "--per-set", 9).code == 2


def test_the_first_sets_come_from_an_empty_table(
    run_assay: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused before: "the table has a header but no rows"."""
    first = assay.next_sets(None, systems=["A", "B", "C"], per_set=2, count=30, rng=1)
    assert first.judgments == 0
    assert {name for names in first.sets for name in names} == {"A", "B", "C"}
    assert sum(item.best for item in first.systems) == pytest.approx(1)
    with pytest.raises(InputError, match="give the systems"):
        assay.next_sets(None)
    with pytest.raises(InputError, match="fewer than two"):
        assay.next_sets(None, systems=["A"])
    monkeypatch.chdir(tmp_path)
    Path("j.tsv").write_text("left\tright\twinner\n", "utf-8")
    assay.simulate(documents=5, systems=4, rng=1).test_set.write("scores.tsv")
    ran = run_assay("next-set", "j.tsv", "--scores", "scores.tsv", "--json")
    assert len(json.loads(ran.out)["sets"][0]) == 4
    ran = run_assay("next-set", "j.tsv", "--systems", "A,B", "--seed", "1")
    assert "There are no judgments yet." in ran.out
    assert run_assay("next-set", "j.tsv").code == 2
    assert "name the systems" in run_assay("next-set", "j.tsv", "--systems", "4").err
    both = run_assay("next-set", "j.tsv", "--systems", "A,B", "--scores", "scores.tsv")
    assert "give one of them" in both.err
