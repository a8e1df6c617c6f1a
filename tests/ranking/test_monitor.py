"""Any-time verdicts on judgments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats

import assay
from assay.errors import OptionError
from assay.ranking.next import posterior, thompson_sets
from assay.stats.betting import coin_evidence, coin_interval
from assay.stats.random import as_rng


def rows(wins: int, losses: int, ties: int = 0) -> assay.Judgments:
    winner = ["left"] * wins + ["right"] * losses + ["tie"] * ties
    n = len(winner)
    return assay.read_judgments(
        pl.DataFrame({"left": ["A"] * n, "right": ["B"] * n, "winner": winner})
    )


@pytest.mark.parametrize(("wins", "losses", "ties"), [(0, 0, 0), (7, 2, 0), (12, 3, 5), (1, 1, 9)])
def test_evidence_is_the_integral_over_all_coins(wins: int, losses: int, ties: int) -> None:
    def money(p: float) -> float:
        tie = 2 * math.sqrt(p * (1 - p))
        jeffreys = float(stats.beta(0.5, 0.5).pdf(p))
        return (2 * p) ** wins * (2 * (1 - p)) ** losses * tie**ties * jeffreys

    expected, _ = integrate.quad(money, 0, 1)
    n = wins + losses + ties
    found = float(np.exp(coin_evidence(np.array(wins + ties / 2), np.array(n))))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("tie", [Fraction(0), Fraction(1, 5)])
def test_evidence_does_not_grow_in_expectation(tie: Fraction) -> None:
    """Over all sequences of 6 judgments of equal systems the mean is 1, with ties below 1."""
    chance = {1.0: (1 - tie) / 2, 0.0: (1 - tie) / 2, 0.5: tie}
    mean = sum(
        float(math.prod(chance[x] for x in row))
        * float(np.exp(coin_evidence(np.array(sum(row)), np.array(6))))
        for row in product(chance, repeat=6)
    )
    assert mean == pytest.approx(1.0) if tie == 0 else mean < 1


def test_verdict_by_hand() -> None:
    """16 wins of 20: e = B(16.5, 4.5) / pi 2^20 = 6.5 does not decide; 40 of 50 does."""
    assert not assay.monitor_judgments(rows(16, 4)).stop
    watched = assay.monitor_judgments(rows(40, 10))
    assert watched.stop
    assert watched.best == "A"
    assert watched.needed == pytest.approx(20)
    (pair,) = watched.pairs
    assert pair.evidence == pytest.approx(
        (math.lgamma(40.5) + math.lgamma(10.5) - math.lgamma(51) - math.log(math.pi)
         + 50 * math.log(2)) / math.log(10)
    )  # fmt: skip
    assert pair.low > 0.5


def test_interval_and_evidence_say_the_same() -> None:
    n = np.repeat(np.arange(1, 60), 3)
    wins = as_rng(1).integers(0, 2 * n + 1) / 2
    low, high = coin_interval(wins, n, 20.0)
    decided = coin_evidence(wins, n) >= math.log(20.0)
    assert ((low > 0.5) | (high < 0.5)).tolist() == decided.tolist()
    assert np.all((low <= wins / n) & (wins / n <= high))


def test_more_judgments_at_this_share_decide() -> None:
    (pair,) = assay.monitor_judgments(rows(13, 7)).pairs
    assert pair.more
    more = round(0.65 * (20 + pair.more) * 1.02)
    assert assay.monitor_judgments(rows(more, round((20 + pair.more) * 0.35))).stop
    (even,) = assay.monitor_judgments(rows(9, 9)).pairs
    assert even.more is None


def test_the_family_is_all_systems_that_compete() -> None:
    judgments = rows(26, 8)
    assert assay.monitor_judgments(judgments, family=False).stop
    more = assay.monitor_judgments(judgments, systems=["A", "B", "C", "D", "E"])
    assert more.needed == pytest.approx(10 / 0.05)
    assert more.decided == 0
    assert [note.code for note in more.notes] == ["not-judged-yet"]
    with pytest.raises(OptionError, match="lacks 'B'"):
        assay.monitor_judgments(judgments, systems=["A", "C"])


def adaptive(runs: int, judgments: int, rng: np.random.Generator) -> np.ndarray:
    """Whether some pair of five equal systems was ever decided, pairs by Thompson's choice."""
    wins, ties = np.zeros((2, runs, 5, 5))
    ever = np.zeros(runs, dtype=bool)
    run = np.arange(runs)
    for _ in range(judgments):
        i, j = thompson_sets(*posterior(wins + ties / 2, 2), 1, 2, rng)[:, 0].T
        tied = rng.random(runs) < 0.15
        i, j = np.where(rng.random(runs) < 0.5, (i, j), (j, i))
        wins[run, i, j] += ~tied
        ties[run, i, j] += tied
        ties[run, j, i] += tied
        won, n = wins[run, i, j] + ties[run, i, j] / 2, (wins + wins.swapaxes(1, 2) + ties)
        ever |= coin_evidence(won, n[run, i, j]) >= math.log(10 / 0.05)
    return ever


def test_adaptive_choice_does_not_decide_equal_systems() -> None:
    """0.7 % of campaigns in the long run (benchmarks honesty); here at most 5 % of 200."""
    assert adaptive(200, 600, as_rng(3)).mean() <= 0.03


def test_one_segment_again_is_said() -> None:
    frame = rows(6, 2).frame.with_columns(seg=pl.Series(["1", "2"] * 4))
    watched = assay.monitor_judgments(assay.read_judgments(frame))
    assert [note.code for note in watched.notes] == ["segments-judged-again"]
    # By one rater they are no new evidence, on another screen either.
    again = frame.with_columns(rater=pl.lit("x"), set=pl.Series([str(k) for k in range(8)]))
    watched = assay.monitor_judgments(assay.read_judgments(again))
    assert (watched.pairs[0].wins, watched.pairs[0].losses) == (2, 0)
    assert [note.code for note in watched.notes] == ["repeated-judgments"]


def test_command(run_assay: Callable[..., Any], tmp_path: Path) -> None:
    path = assay.simulate_judgments([0, 9, 10], 400, per_set=2, rng=1).write(tmp_path / "j.tsv")
    found = json.loads(run_assay("monitor", str(path), "--json").out)
    assert found["kind"] == "monitoring-judgments"
    assert found["family"] is True
    assert found["decided"] == sum(pair["decided"] for pair in found["pairs"])


def test_command_refuses(
    run_assay: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assay.simulate_judgments(3, 40, per_set=2, rng=1).write("j.tsv")
    world = assay.simulate(documents=5, systems=2, rng=1)
    world.test_set.write("scores.tsv")
    world.rate().write("ratings.tsv")
    for arguments, message in {
        ("j.tsv", "--half-width", "0.3"): "is for ratings",
        ("ratings.tsv",): "name SCORES first",
        ("scores.tsv", "ratings.tsv", "--half-width", "1"): "give --sample",
        ("scores.tsv", "ratings.tsv", "--each-pair"): "is for judgments",
    }.items():
        ran = run_assay("monitor", *arguments)
        assert ran.code == 2
        assert message in " ".join(ran.err.split()), ran.err


def test_read_back() -> None:
    watched = assay.monitor_judgments(rows(16, 4, 3))
    again = type(watched).from_dict(json.loads(json.dumps(watched.to_dict())))
    assert again == watched
    assert again.to_frame().height == 1
