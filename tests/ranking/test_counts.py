"""Counting judgments and drawing them anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError
from assay.ranking.counts import (
    block_numbers,
    count,
    effective_wins,
    first_judgments,
    need_connected,
)
from assay.ranking.uncertainty import block_table, resampled_counts
from assay.tables.answers import Judgments, read_judgments

ROWS = pl.DataFrame(
    {
        "set": ["1", "1", "1", "2", "2"],
        "seg": ["a", "a", "a", "b", "a"],
        "rater": ["r", "r", "r", "s", "s"],
        "left": ["A", "A", "B", "B", "C"],
        "right": ["B", "C", "C", "A", "A"],
        "winner": ["left", "tie", "right", "left", "right"],
    }
)


def test_by_hand() -> None:
    counts = count(read_judgments(ROWS))
    assert counts.systems == ("A", "B", "C")
    assert counts.wins.tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert counts.ties.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert counts.outcome.tolist() == [1, 0, -1, 1, -1]


def test_blocks() -> None:
    table = read_judgments(ROWS)

    def groups(unit: str) -> list[int]:
        found = block_numbers(table, unit)
        assert found is not None
        return found.tolist()

    assert groups("pair") == [0, 1, 2, 3, 4]
    assert groups("segment") == [0, 0, 0, 1, 0]
    assert groups("rater") == [0, 0, 0, 1, 1]
    # A number of a screen that comes back on another segment is another screen.
    assert len(set(groups("set"))) == 3
    assert block_numbers(read_judgments(ROWS.drop("set")), "set") is None
    documents = ROWS.with_columns(doc=pl.Series(["x", "x", "x", "x", "y"]))
    found = block_numbers(read_judgments(documents), "segment")
    assert found is not None
    assert len(set(found.tolist())) == 3


def test_block_table_adds_up() -> None:
    table = read_judgments(ROWS)
    counts = count(table)
    block = block_numbers(table, "rater")
    assert block is not None
    parts, cells = block_table(counts, block)
    assert parts.shape == (2, len(cells))
    total = np.zeros(18)
    total[cells] = np.asarray(parts.sum(axis=0)).ravel()
    assert total[:9].tolist() == counts.wins.ravel().tolist()
    assert total[9:].sum() == 1


@pytest.mark.parametrize("unit", ["pair", "set", "segment", "rater"])
@pytest.mark.parametrize("thin", [0.0, 1.0])
def test_resamples_have_the_right_mean_and_spread(
    unit: str, thin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20,000 resamples of 120 judgments; tolerances are 5 standard errors."""
    monkeypatch.setattr("assay.ranking.uncertainty.MAX_SPARSE_SHARE", thin)
    rng = np.random.default_rng(1)
    left, right = rng.permuted(np.broadcast_to(list("ABCD"), (120, 4)), axis=1)[:, :2].T
    frame = pl.DataFrame(
        {
            "set": np.arange(120) // 3, "seg": np.arange(120) // 12, "rater": np.arange(120) % 5,
            "left": left, "right": right,
            "winner": rng.choice(["left", "right", "tie"], 120, p=[0.5, 0.3, 0.2]),
        }
    )  # fmt: skip
    table = read_judgments(frame)
    counts, block = count(table), block_numbers(table, unit)
    assert block is not None
    drawn = list(resampled_counts(counts, None if unit == "pair" else block, 20_000, rng))
    wins, ties = (np.concatenate([batch[k] for batch in drawn]) for k in (0, 1))
    assert wins.shape == (20_000, 4, 4)
    assert (ties == ties.swapaxes(1, 2)).all()
    # By hand: each block is drawn Bin(B, 1/B) times, so Var = sum_g c_g^2 - (sum_g c_g)^2 / B.
    won = (left == "A") & (right == "B") & (frame["winner"].to_numpy() == "left")
    won |= (left == "B") & (right == "A") & (frame["winner"].to_numpy() == "right")
    parts = np.bincount(block, won)
    variance = (parts**2).sum() - parts.sum() ** 2 / len(parts)
    assert wins[:, 0, 1].mean() == pytest.approx(
        counts.wins[0, 1], abs=5 * np.sqrt(variance / 20_000)
    )
    assert wins[:, 0, 1].var() == pytest.approx(variance, rel=0.1)
    if unit == "pair":
        assert (wins.sum(axis=(1, 2)) + ties.sum(axis=(1, 2)) / 2 == 120).all()


def test_components() -> None:
    met = np.zeros((5, 5), dtype=bool)
    met[0, 1] = met[1, 3] = met[2, 4] = True
    with pytest.raises(InputError, match=r"fall into 2 groups .*: A, B, D \| C, E; collect"):
        need_connected(tuple("ABCDE"), met)
    met[3, 4] = True
    need_connected(tuple("ABCDE"), met)


def again(table: Judgments) -> int:
    kept, notes = first_judgments(table)
    assert len(table) - len(kept) == (int(notes[0].split(" ")[0]) if notes else 0)
    return len(table) - len(kept)


def test_repeats_count_only_where_screens_or_raters_are_named() -> None:
    twice = pl.concat([ROWS, ROWS[:2]])
    assert again(read_judgments(twice)) == 2
    assert again(read_judgments(ROWS)) == 0
    swapped = ROWS[:1].select("set", "seg", "rater", left="right", right="left", winner="winner")
    assert again(read_judgments(pl.concat([ROWS, swapped]))) == 1
    assert again(read_judgments(twice.select("left", "right", "winner"))) == 0


def test_ten_thousand_systems_are_refused() -> None:
    names = [f"s{k}" for k in range(10_000)]
    frame = pl.DataFrame({"left": names, "right": [*names[1:], "s0"], "winner": ["left"] * 10_000})
    with pytest.raises(InputError, match="name 10,000 systems .* at most 1,000"):
        count(read_judgments(frame))


def test_ties_count_half_for_each_side() -> None:
    wins, ties = np.array([[0, 3], [1, 0]]), np.array([[0, 2], [2, 0]])
    assert effective_wins(wins, ties, "drop").tolist() == [[0, 3], [1, 0]]
    assert effective_wins(wins, ties, "half").tolist() == [[0, 4], [2, 0]]
