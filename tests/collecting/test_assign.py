"""Who rates what: all systems of a snippet to one rater, equal loads, planned overlap, no order."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.results import has_note


@pytest.fixture(scope="module")
def world() -> assay.World:
    return assay.simulate(documents=40, systems=4, rng=3)


def loads(plan: assay.Assignment) -> list[int]:
    return [load.outputs for load in plan.loads]


def largest(plan: assay.Assignment) -> int:
    return max(item.outputs for item in plan.tasks)


@pytest.mark.parametrize("design", ["rounds", "snippets", "documents", "segments", "interleaved"])
@pytest.mark.parametrize("options", [{}, {"per_output": 2}, {"repeats": 0.2, "checks": 0.1}])
def test_all_systems_of_a_task_go_to_one_rater_and_loads_are_equal(
    world: assay.World, design: str, options: dict[str, Any]
) -> None:
    drawn = assay.sample(world.test_set, budget="40%", design=design, rng=1)
    plan = assay.assign(drawn, 5, rng=2, **options)
    frame = plan.to_frame()
    each = frame.filter(~pl.col("check")).group_by("rater", "place", "doc", "seg")
    assert each.agg(pl.col("system").n_unique(), pl.len()).select("system", "len").unique().row(
        0
    ) == (4, 4)
    assert max(loads(plan)) - min(loads(plan)) <= largest(plan)
    assert sum(loads(plan)) == frame.height
    # Everything that was drawn is rated by as many as planned, and nothing else is.
    first = frame.filter(pl.col("reason") != "repeat", ~pl.col("check"))
    often = first.group_by("doc", "seg", "system").agg(pl.col("rater").n_unique(), pl.len())
    assert often.height == drawn.frame.height * 4
    assert (often["rater"] == often["len"]).all()
    tasks = first.group_by("task").agg(pl.col("rater").n_unique())["rater"]
    wanted = options.get("per_output", 1)
    assert Counter(tasks) == {
        wanted: len(tasks) - round(0.1 * len(tasks)), wanted + 1: round(0.1 * len(tasks)),
    }  # fmt: skip


def test_a_task_is_a_snippet_and_stands_in_reading_order(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="40%", design="snippets", rng=1)
    plan = assay.assign(drawn, 3, rng=2)
    snippets = drawn.frame.group_by("doc", "snippet").agg(pl.col("seg").sort())
    wanted = {(row["doc"], tuple(row["seg"])) for row in snippets.iter_rows(named=True)}
    found = {
        (item.segments[0].doc, tuple(sorted(part.seg for part in item.segments)))
        for item in plan.tasks
    }
    assert found == wanted
    for item in plan.tasks:
        places = [int(part.seg) for part in item.segments]
        assert all(later == earlier + 1 for earlier, later in pairwise(places))


def test_a_whole_test_set_goes_by_documents_else_by_segments(world: assay.World) -> None:
    plan = assay.assign(world.test_set, 3, rng=2)
    assert len({item.task for item in plan.tasks}) == world.test_set.documents.height
    rows = [(system, str(seg)) for system in "AB" for seg in range(30)]
    alone = assay.read_scores(pl.DataFrame(rows, schema=["system", "seg"], orient="row"))
    plan = assay.assign(alone, 3, overlap=0, rng=2)
    assert len(plan.tasks) == 30
    assert "doc" not in plan.to_frame().columns
    assert has_note(plan.notes, "no-overlap")
    assert loads(plan) == [20, 20, 20]


def test_one_rater_shares_nothing_and_that_is_said(world: assay.World) -> None:
    plan = assay.assign(world.test_set, ["Kim"], rng=2)
    assert (plan.overlap, {item.reason for item in plan.tasks}) == (0.0, {"order"})
    (note,) = [note for note in plan.notes if note.code == "no-overlap"]
    assert str(note) == "there is one rater: how much raters differ will remain unknown"
    assert assay.assign(world.test_set, 2, per_output=2, rng=2).overlap == 0
    assert assay.assign(world.test_set, 2, rng=2).overlap == 0.1


def test_systems_that_lack_segments_and_samples_of_their_own(world: assay.World) -> None:
    frame = world.test_set.frame.filter(
        (pl.col("system") != "system-1") | (pl.col("seg").cast(int) > 2)
    )
    part = assay.read_scores(frame)
    plan = assay.assign(part, 2, overlap=0, rng=1)
    assert plan.to_frame().height == frame.height
    for design in ("snippets", "segments"):
        own = assay.sample(
            world.test_set, budget="20%", design=design, matched=False, rng=1
        )  # fmt: skip
        plan = assay.assign(own, 2, overlap=0, rng=1)
        assert has_note(plan.notes, "unmatched")
        key = ["system", "doc", "seg"]
        assert plan.to_frame().select(key).sort(key).equals(own.frame.select(key).sort(key))


def test_the_same_seed_gives_the_same_result(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    options: dict[str, Any] = {"checks": 0.1, "repeats": 0.1}
    one, two, three = (assay.assign(drawn, 3, rng=seed, **options) for seed in (0, 0, 1))
    assert one == two
    assert one != three
    assert one.seed == 0
    assert "raters:3" in one.signature
    assert "seed:0" in one.signature
    assert type(one).from_dict(one.to_dict()) == one
    assert assay.assign(drawn, 3, rng=assay.assign(drawn, 3).seed).seed is not None


def test_no_order_tells_systems_apart_in_1000_segments() -> None:
    """Places of the systems, against 999 reshuffles; and every rater has an order of their own."""
    rows = [(system, str(seg)) for seg in range(1000) for system in ("X", "B", "K", "A")]
    test_set = assay.read_scores(pl.DataFrame(rows, schema=["system", "seg"], orient="row"))
    plan = assay.assign(test_set, 2, overlap=1.0, rng=5)
    shown = [part.systems for item in plan.tasks for part in item.segments]
    order = np.array([["ABKX".index(system) for system in systems] for systems in shown])
    assert len(order) == 2000

    def spread(order: np.ndarray) -> float:
        """How uneven places are, and how uneven what follows what."""
        places = np.array([np.bincount(order[:, k], minlength=4) for k in range(4)])
        follows = np.bincount((4 * order[:, :-1] + order[:, 1:]).ravel(), minlength=16)
        return float(((places - 500) ** 2).sum() + ((follows[follows > 0] - 500) ** 2).sum())

    rng = np.random.default_rng(1)
    chance = [spread(rng.permuted(order, axis=1)) for _ in range(999)]
    assert np.mean([value >= spread(order) for value in chance]) > 0.01
    # The same segment stands in another order with the other rater: 1 in 24 agree by chance.
    by_rater: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    lines: dict[str, list[str]] = defaultdict(list)
    for item in plan.tasks:
        by_rater[item.rater][item.task] = item.segments[0].systems
        lines[item.rater].append(item.task)
    one, two = by_rater.values()
    same = sum(one[task] == two[task] for task in one)
    assert abs(same - 1000 / 24) < 4 * (1000 / 24) ** 0.5
    places = [[line.index(f"t{k:04d}") for k in range(1, 1001)] for line in lines.values()]
    assert abs(np.corrcoef(places[0], places[1])[0, 1]) < 4 / 1000**0.5
    assert abs(np.corrcoef(places[0], np.arange(1000))[0, 1]) < 4 / 1000**0.5


def test_every_task_has_the_same_chance_to_be_each_raters(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="40%", design="snippets", rng=1)
    runs, counts, doubled = 400, Counter[tuple[str, str]](), Counter[str]()
    for seed in range(runs):
        for item in assay.assign(drawn, 3, rng=seed).tasks:
            counts[item.task, item.rater] += item.reason == "order"
            doubled[item.task] += item.reason == "overlap"
    shares = np.array(list(counts.values())) / runs
    z = (shares - 1 / 3) / (1 / 3 * 2 / 3 / runs) ** 0.5
    assert np.mean(np.abs(z) > 2.58) < 0.04
    tasks = len({task for task, _ in counts})
    share = round(0.1 * tasks) / tasks
    z = (np.array(list(doubled.values())) / runs - share) / (share * (1 - share) / runs) ** 0.5
    assert np.mean(np.abs(z) > 2.58) < 0.06


def test_shared_tasks_link_all_raters(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="40%", design="segments", rng=1)
    plan = assay.assign(drawn, 6, overlap=0.2, rng=1)
    assert plan.notes == ()
    raters = defaultdict(list)
    for item in plan.tasks:
        raters[item.task].append(item.rater)
    pairs = Counter(tuple(sorted(who)) for who in raters.values() if len(who) == 2)
    assert len(pairs) == 15
    few = assay.assign(drawn, 6, overlap=0.001, rng=1)
    assert has_note(few.notes, "raters-not-linked")


def test_loads_and_overlap_are_as_planned_whatever_is_asked(world: assay.World) -> None:
    """60 campaigns of documents of all lengths, with random numbers of raters and shares."""
    rng, sizes = np.random.default_rng(7), world.test_set.documents.height
    linked = 0
    for seed in range(60):
        raters = int(rng.integers(2, 9))
        per_output = int(rng.integers(1, raters))
        overlap = float(rng.choice([0.05, 0.1, 0.5, 1.0]))
        repeats = float(rng.choice([0.0, 0.1, 0.5]))
        plan = assay.assign(
            world.test_set, raters, overlap=overlap, per_output=per_output, repeats=repeats,
            rng=seed,
        )  # fmt: skip
        assert max(loads(plan)) - min(loads(plan)) <= largest(plan)
        extra = [item for item in plan.tasks if item.reason == "overlap"]
        assert len(extra) == len({item.task for item in extra}) == round(overlap * sizes)
        assert len({(i.rater, i.task, i.reason == "repeat") for i in plan.tasks}) == len(plan.tasks)
        linked += not has_note(plan.notes, "raters-not-linked")
    assert linked >= 50


def test_shared_tasks_have_their_share_of_the_outputs() -> None:
    """Snippets are of all lengths, and a budget of so many ratings holds all the same."""
    world = assay.simulate(documents=60, systems=3, rng=3)
    drawn = assay.sample(world.test_set, budget="80%", rng=1)
    outputs = 3 * drawn.frame.height
    for seed in range(20):
        plan = assay.assign(drawn, 4, overlap=0.1, rng=seed)
        rated = sum(load.outputs for load in plan.loads)
        assert abs(rated - 1.1 * outputs) <= 6


def test_repeats_come_half_of_the_tasks_later_and_checks_stand_beside_their_output(
    world: assay.World,
) -> None:
    drawn = assay.sample(world.test_set, budget="40%", design="segments", rng=1)
    plan = assay.assign(drawn, 4, repeats=0.1, checks=0.05, rng=1)
    tasks = len({item.task for item in plan.tasks})
    assert sum(load.repeats for load in plan.loads) == round(0.1 * tasks)
    assert {load.checks for load in plan.loads} == {round(0.05 * drawn.frame.height * 4 / 4)}
    first: dict[tuple[str, str], int] = {}
    for item in plan.tasks:
        if item.reason == "repeat":
            assert item.place - first[item.rater, item.task] >= 0.4 * tasks / 4
            assert not any(part.checks for part in item.segments)
        else:
            first[item.rater, item.task] = item.place
        for part in item.segments:
            for place in part.checks:
                assert part.systems.count(part.systems[place - 1]) == 2


@pytest.mark.parametrize(
    ("raters", "options", "words"),
    [
        ("Ada", {}, "raters (Ada) is one name; give a list of names, or a number"),
        (0, {}, "raters (0) is not a number of raters; give 1 or more"),
        ([], {}, "raters () names nobody; give names or a number"),
        (["A", "A "], {}, "raters (A) is named twice; name each once"),
        (["A", " "], {}, "raters ('') is not a name; give each a name"),
        (1, {"overlap": 0.1}, "overlap (0.1) needs more than 1 rater; name one more, or give 0"),
        (2, {"per_output": 3}, "per_output (3) exceeds the 2 raters; name more of them"),
        (2, {"overlap": 1.5}, "overlap (1.5) is not a share; give a number from 0 to 1"),
        (2, {"checks": -1}, "checks (-1) is not a share; give a number from 0 to 0.5"),
        (2, {"repeats": 0.6}, "repeats (0.6) is not a share; give a number from 0 to 0.5"),
    ],
)
def test_refusals(world: assay.World, raters: Any, options: Any, words: str) -> None:
    with pytest.raises(OptionError) as caught:
        assay.assign(world.test_set, raters, **options)
    assert str(caught.value) == words


def test_a_sample_needs_its_test_set_and_idle_raters_are_named(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="10%", design="documents", rng=1)
    with pytest.raises(InputError, match="read it with `test_set`"):
        assay.assign(assay.read_sample(drawn.frame), 2)
    assert has_note(assay.assign(drawn, 100, rng=1).notes, "idle-raters")
