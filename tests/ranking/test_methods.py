"""The ranking methods: by hand, by relabelling, against evalica, and the best of all orders."""

from __future__ import annotations

import time
from itertools import permutations

import evalica
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize

from assay.errors import ConvergenceError, InputError, OptionError
from assay.ranking.methods import (
    METHODS,
    better_or_equal,
    bojar,
    bradley_terry,
    check_method,
    expected_win,
    find_method,
    is_exact,
    lopez_order,
    order_cost,
    score,
)
from assay.stats.random import as_rng


@st.composite
def tables(draw: st.DrawFn, *, least: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Wins and ties of two to seven systems."""
    n = draw(st.integers(2, 7))
    cells = st.lists(st.integers(least, 6), min_size=n * n, max_size=n * n)
    wins = np.array(draw(cells)).reshape(n, n)
    ties = np.triu(np.array(draw(cells)).reshape(n, n), 1)
    np.fill_diagonal(wins, 0)
    return wins, ties + ties.T


def spelt_out(
    wins: np.ndarray, ties: np.ndarray
) -> tuple[list[int], list[int], list[evalica.Winner]]:
    """One entry per judgment, as evalica takes them."""
    xs, ys, winners = [], [], []
    for i, j in np.ndindex(wins.shape):
        for kind, many in (
            (evalica.Winner.X, wins[i, j]),
            (evalica.Winner.Draw, ties[i, j] if i < j else 0),
        ):
            xs += [i] * int(many)
            ys += [j] * int(many)
            winners += [kind] * int(many)
    return xs, ys, winners


def test_shares_of_wins_by_hand() -> None:
    wins = np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]])
    assert expected_win(wins).tolist() == [(3 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2, 0.5]
    assert bojar(wins).tolist() == [4 / 6, 2 / 6, 2 / 4]
    ties = np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    assert better_or_equal(wins, ties).tolist() == [6 / 8, 4 / 8, 2 / 4]


def test_a_pair_never_compared_is_left_out_of_the_mean() -> None:
    wins = np.array([[0, 3, 0], [1, 0, 1], [0, 1, 0]])
    assert expected_win(wins).tolist() == [0.75, 0.375, 0.5]
    alone = np.zeros((2, 2))
    assert np.isnan(expected_win(alone)).all()
    assert np.isnan(bojar(alone)).all()


@given(tables(), st.sampled_from([0.0, 0.5]))
def test_expected_win_is_evalicas_average_win_rate(
    table: tuple[np.ndarray, np.ndarray], tie: float
) -> None:
    wins, ties = table
    ours = expected_win(wins + tie * ties)
    xs, ys, winners = spelt_out(wins, ties)
    assume(winners)
    found = evalica.average_win_rate(xs, ys, winners, tie_weight=tie).scores
    for system, value in found.items():
        assert np.nan_to_num(ours[system]) == pytest.approx(value, abs=1e-9)


@given(tables(least=1), st.sampled_from([0.0, 0.5]))
def test_bradley_terry_is_evalicas(table: tuple[np.ndarray, np.ndarray], tie: float) -> None:
    wins, ties = table
    ours = bradley_terry(wins + tie * ties)
    found = evalica.bradley_terry(
        *spelt_out(wins, ties), tie_weight=tie, tolerance=1e-12, limit=10_000
    ).scores
    assert ours == pytest.approx(found.sort_index().to_numpy(), abs=1e-6)


@given(tables(least=1))
def test_without_ties_newmans_model_gives_the_same_strengths(
    table: tuple[np.ndarray, np.ndarray],
) -> None:
    wins, ties = table
    result = evalica.newman(*spelt_out(wins, 0 * ties), v_init=0.0, tolerance=1e-12, limit=10_000)
    assume(result.iterations < result.limit)  # its updates all at once may go round for ever
    found = result.scores.sort_index().to_numpy()
    assert bradley_terry(wins) == pytest.approx(found / np.exp(np.log(found).mean()), abs=1e-6)


@given(tables(least=1))
def test_davidsons_ties_are_newmans(table: tuple[np.ndarray, np.ndarray]) -> None:
    """evalica.newman has the same model of ties, with 2 v for nu."""
    wins, ties = table
    assume(ties.any())
    result = evalica.newman(*spelt_out(wins, ties), tolerance=1e-12, limit=10_000)
    assume(result.iterations < result.limit)
    found = result.scores.sort_index().to_numpy()
    ours = bradley_terry(wins + ties / 2, ties)
    assert ours == pytest.approx(found / np.exp(np.log(found).mean()), rel=1e-5)


@given(tables(least=1), st.sampled_from(METHODS), st.sampled_from(["drop", "half"]))
def test_relabelling_permutes_scores(
    table: tuple[np.ndarray, np.ndarray], method: str, treat: str
) -> None:
    wins, ties = table
    order = np.random.default_rng(1).permutation(len(wins))
    scores = score(method, wins, ties, treat)
    again = score(method, wins[np.ix_(order, order)], ties[np.ix_(order, order)], treat)
    if method == "lopez":  # several orders may be best
        likes = expected_win(wins + ties / 2 if treat == "half" else wins)
        assume(len(np.unique(likes.round(9))) == len(wins))
        assume(len(np.unique(wins - wins.T)) > 2 * len(wins))
    assert again == pytest.approx(scores[order], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_many_tables_at_once_are_the_same_as_one_by_one(method: str) -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(1, 30, (4, 3, 6, 6))
    ties = rng.integers(0, 9, (4, 3, 6, 6))
    ties += ties.swapaxes(-1, -2)
    many = score(method, wins, ties, "drop")
    assert many.shape == (4, 3, 6)
    for k in np.ndindex(4, 3):
        assert many[k] == pytest.approx(score(method, wins[k], ties[k], "drop"), abs=1e-9)


def test_strengths_of_known_odds() -> None:
    strength = np.array([4.0, 2.0, 1.0])
    wins = 1000 * strength[:, None] / (strength[:, None] + strength)
    np.fill_diagonal(wins, 0)
    assert bradley_terry(wins) == pytest.approx(strength / 2)


def test_no_convergence_is_an_error_but_not_in_a_resample() -> None:
    wins = np.array([[0, 5, 4], [3, 0, 2], [1, 2, 0]])
    with pytest.raises(ConvergenceError, match="did not settle in 2 rounds"):
        bradley_terry(wins, limit=2)
    unbeaten = np.array([[0, 5, 4], [0, 0, 2], [0, 2, 0]])
    strength = bradley_terry(unbeaten, limit=50, strict=False)
    assert strength[0] > 1e6 * strength[1:].max()


def test_names() -> None:
    assert [find_method(name) for name in ("BOJAR", "expected", "BT", "LOPEZ")] == [
        "bojar", "expected-win", "bradley-terry", "lopez",
    ]  # fmt: skip
    with pytest.raises(OptionError, match=r"method \(bojer\) is not known \(did you mean 'bojar'"):
        find_method("bojer")


@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.sampled_from([2, 5, 100]))
def test_brute_force(n: int, seed: int, most: int) -> None:
    wins = np.random.default_rng(seed).integers(0, most, (n, n))
    order = lopez_order(wins)
    assert sorted(order) == list(range(n))
    best = min(order_cost(wins, np.array(other)) for other in permutations(range(n)))
    assert order_cost(wins, order) == best


def test_fewest_violations_by_hand() -> None:
    # A beats B 5:3, B beats C 4:1, C beats A 3:2: breaking C - A costs least.
    wins = np.array([[0, 5, 2], [3, 0, 4], [3, 1, 0]])
    assert lopez_order(wins).tolist() == [0, 1, 2]
    assert order_cost(wins, np.array([0, 1, 2])) == 1
    assert order_cost(wins, np.array([2, 1, 0])) == 5


def test_halves_agree_with_single_moves_where_there_is_no_circle() -> None:
    strength = np.linspace(1, 0, 30)
    wins = (100 * (strength[:, None] - strength + 1)).astype(int)
    shuffled = np.random.default_rng(1).permutation(30)
    order = lopez_order(wins[np.ix_(shuffled, shuffled)])
    assert shuffled[order].tolist() == list(range(30))


def test_a_circle_of_more_than_twenty_is_a_heuristic_and_says_so() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 100, (25, 25))
    assert not is_exact(wins)
    cost = order_cost(wins, lopez_order(wins))
    assert cost < min(order_cost(wins, rng.permutation(25)) for _ in range(200))
    assert is_exact(wins[:20, :20])


def test_equal_systems_share_a_place() -> None:
    wins = np.array([[0, 2, 5], [2, 0, 5], [1, 1, 0]])
    assert score("lopez", wins, np.zeros((3, 3)), "drop").tolist() == [0.75, 0.75, 0.0]


@pytest.mark.slow
def test_speed() -> None:
    """Twenty systems in one circle: 2^20 subsets. 30 ms on the machine this was written on."""
    wins = np.random.default_rng(1).integers(0, 100, (20, 20))
    lopez_order(wins)
    start = time.process_time()
    lopez_order(wins)
    assert time.process_time() - start < 0.3


def davidson_by_search(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Davidson's strengths by numerical maximisation of the likelihood."""
    n = len(wins)

    def loss(x: np.ndarray) -> float:
        s, nu = np.exp(np.append(x[: n - 1], 0.0)), np.exp(x[-1])
        root = nu * np.sqrt(s[:, None] * s)
        log = np.log(s[:, None] + s + root)
        likelihood = wins * (np.log(s)[:, None] - log) + np.triu(ties, 1) * (np.log(root) - log)
        return -float(likelihood.sum())

    found = optimize.minimize(loss, np.zeros(n), method="BFGS", options={"gtol": 1e-7})
    s = np.append(found.x[: n - 1], 0.0)
    return np.asarray(np.exp(s - s.mean()))


@pytest.mark.parametrize("seed", range(5))
def test_davidson_is_the_maximum_of_its_likelihood(seed: int) -> None:
    rng = as_rng(seed)
    wins = rng.integers(1, 30, (5, 5)) * (1 - np.eye(5, dtype=int))
    ties = np.triu(rng.integers(0, 20, (5, 5)), 1)
    ties = ties + ties.T
    ours = bradley_terry(wins + ties / 2, ties)
    assert ours == pytest.approx(davidson_by_search(wins, ties), rel=1e-4)
    # Without any ties it is the plain model.
    plain = bradley_terry(wins, np.zeros_like(ties))
    assert plain == pytest.approx(bradley_terry(wins))


def test_davidson_by_hand_and_many_at_once() -> None:
    """Two systems, 16 wins, 4 losses, 8 ties: s^2 = 16 / 4, nu = 8 / sqrt(16 * 4) = 1."""
    wins, ties = np.array([[0, 16], [4, 0]]), np.array([[0, 8], [8, 0]])
    assert bradley_terry(wins + ties / 2, ties) == pytest.approx([2.0, 0.5])
    both = bradley_terry(np.stack([wins + ties / 2, wins.T + ties / 2]), np.stack([ties, ties]))
    assert both == pytest.approx(np.array([[2.0, 0.5], [0.5, 2.0]]))


def test_the_one_loser_is_named() -> None:
    """Nineteen systems that beat each other and the twentieth: before, the nineteen were listed."""
    wins = np.ones((20, 20)) - np.eye(20)
    wins[19] = 0
    names = tuple(f"S{k + 1}" for k in range(20))
    with pytest.raises(InputError, match=r"^S20: never won against any"):
        check_method("bradley-terry", names, wins)
    with pytest.raises(InputError, match=r"^S20: never lost to any"):
        check_method("bradley-terry", names, wins.T)
