"""What other systems' ratings say of an output: by hand and by a plain loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError
from assay.tables.history import add_history, history_digest
from assay.tables.tables import Ratings, read_ratings, read_scores
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=20, systems=5, raters=2, rng=3)


def test_by_hand() -> None:
    # A rated 1 and 3 (mean 2), B 5 and 9 (mean 7), lower is better: -1, 1 and -2, 2.
    frame = pl.DataFrame({"system": ["A", "A", "B", "B"], "seg": ["1", "2", "1", "2"],
                          "score": [1.0, 3.0, 5.0, 9.0]})  # fmt: skip
    test_set = read_scores(
        pl.DataFrame({"system": ["A", "A", "C", "C"], "seg": ["1", "2", "1", "2"]})
    )
    found = add_history(test_set, read_ratings(frame, better="lower"))
    assert found.frame["history"].to_list() == [-2.0, 2.0, -1.5, 1.5]
    turned = add_history(test_set, read_ratings(frame, better="higher"))
    assert turned.frame["history"].to_list() == [2.0, -2.0, 1.5, -1.5]
    assert "4 ratings of other systems cover 4 of 4 outputs" in found.notes[-1]


def test_segments_without_ratings_are_missing(world: World) -> None:
    first = world.test_set.frame["doc"][0]
    part = Ratings(world.rate().frame.filter(pl.col("doc") == first), better="lower")
    found = add_history(world.test_set, part)
    known = found.frame.filter(pl.col("history").is_not_null())["doc"].unique().to_list()
    assert known == [first]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop("doc"), "the history has no column doc"),
        (lambda frame: frame.with_columns(doc=pl.lit("elsewhere")), "no rating in the history"),
    ],
)
def test_a_history_of_something_else(change: object, message: str, world: World) -> None:
    frame = change(world.rate().frame)  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        add_history(world.test_set, Ratings(frame, better="lower"))


def test_twice_is_refused(world: World) -> None:
    known = add_history(world.test_set, world.rate())
    with pytest.raises(InputError, match="already"):
        add_history(known, world.rate())


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_loop_over_outputs_gives_the_same(world: World, better: str) -> None:
    rows = world.rate().frame.sample(fraction=0.4, seed=1)
    ratings = Ratings(rows, better=better)  # type: ignore[arg-type]
    found = add_history(world.test_set, ratings).frame
    sign = 1 if better == "lower" else -1
    mean = dict(rows.group_by("system").agg(pl.col("score").mean()).iter_rows())
    seen: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for system, doc, seg, score in rows.select("system", "doc", "seg", "score").iter_rows():
        seen.setdefault((doc, seg), []).append((system, sign * (score - mean[system])))
    columns = found.select("system", "doc", "seg", "history").iter_rows()
    for system, doc, seg, history in columns:
        others = [worse for other, worse in seen.get((doc, seg), []) if other != system]
        assert history == (pytest.approx(np.mean(others)) if others else None)


def test_ratings_of_other_systems_alone_count_for_all(world: World) -> None:
    first, *rest = world.test_set.systems
    own = world.rate().frame.filter(system=first)
    found = add_history(world.test_set, Ratings(own, better="lower")).frame
    assert found.filter(system=first)["history"].null_count() == own.select("doc", "seg").n_unique()
    assert found.filter(pl.col("system").is_in(rest))["history"].null_count() == 0


def test_two_language_pairs_need_a_column_of_them(world: World) -> None:
    rows = world.rate().frame
    half = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("de-en")).otherwise(pl.lit("en-de"))
    with pytest.raises(InputError, match="the history has several language pairs"):
        add_history(world.test_set, Ratings(rows.with_columns(lp=half), better="lower"))
    one = Ratings(rows.with_columns(lp=pl.lit("en-de")), better="lower")
    assert add_history(world.test_set, one).history == "history"


def test_the_digest_tells_histories_apart(world: World) -> None:
    assert history_digest(world.test_set) is None
    full, again = (add_history(world.test_set, world.rate()) for _ in range(2))
    part = add_history(world.test_set, Ratings(world.rate().frame.head(99), better="lower"))
    assert history_digest(full) == history_digest(again) != history_digest(part)
    # What is not known and what is rounding make no difference.
    noisy = full.frame.with_columns(pl.col("history") + 1e-9)
    assert history_digest(replace(full, frame=noisy)) == history_digest(full)
