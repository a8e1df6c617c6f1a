"""Every result is the same after it was saved and read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.results import Note, Result

KINDS = ["estimates", "comparison", "breakdown", "raters", "monitoring", "evaluation"]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    world = assay.simulate(documents=25, systems=3, raters=3, rng=1)
    order = assay.sample(world.test_set, design="interleaved", budget="70%", rng=1)
    ratings = world.rate(order)
    estimates = assay.estimate(
        world.test_set, ratings, sample=order, by="domain", compare=("system-2", "system-1"),
        exclude_raters=["rater-2"], remove_severity=True, borrow=True,
    )  # fmt: skip
    tried = assay.evaluate_estimators(
        world.test_set, world.rate(), methods=["baseline", "cv-knn"], sizes=[0.3], draws=3, rng=1
    )
    stops = assay.evaluate_stopping(world.test_set, world.rate(), half_width=0.8, draws=2, rng=1)
    listed: list[Any] = [
        replace(estimates, truth=world.truth()),
        estimates.comparison,
        estimates.breakdown,
        assay.rater_report(world.test_set, ratings, sample=order),
        assay.monitor(world.test_set, ratings, sample=order, half_width=0.5),
        assay.summarise_evaluation(tried, seed=1, stopping=stops, half_width=0.8,
                                   test_set=world.test_set),
    ]  # fmt: skip
    return {item.kind: item for item in listed}


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_read(kind: str, results: dict[str, Result]) -> None:
    result = results[kind]
    saved = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    again = type(result).from_dict(saved)
    assert again.signature == result.signature == saved["signature"]
    assert again.to_dict() == result.to_dict()
    if kind != "raters":  # where nothing is known of seconds, and NaN is not NaN
        assert again == result


def test_notes_keep_their_codes(results: dict[str, Result]) -> None:
    notes = results["estimates"].notes  # type: ignore[attr-defined]
    codes = [note.code for note in notes]
    assert {"raters-excluded", "severity-removed", "metrics-gain"} <= set(codes)
    assert all(isinstance(note, Note) for note in notes)


def test_what_was_done_to_the_ratings_is_one_step_after_the_other() -> None:
    world = assay.simulate(documents=15, systems=2, raters=3, rng=2)
    given = world.rate()
    both = assay.estimate(world.test_set, given, exclude_raters="rater-2", remove_severity=True)
    fewer = assay.exclude_raters(given, ["rater-2"])
    fair = assay.remove_severity(world.test_set, fewer)
    steps = [
        {item.system: item.estimate for item in assay.estimate(world.test_set, part).systems}
        for part in (given, fewer, fair)
    ]
    assert [change.before for change in both.changes] == [
        {name: pytest.approx(value) for name, value in step.items()} for step in steps[:2]
    ]
    assert both.changes[1].after == {n: pytest.approx(v) for n, v in steps[2].items()}
    assert both.changed == ("raters:-1", "severity:removed")
    only = assay.estimate(world.test_set, given, remove_severity=True)
    assert [change.what for change in only.changes] == ["severity"]
