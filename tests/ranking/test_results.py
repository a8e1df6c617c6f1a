"""Results come back from JSON as they were, and every kind can be shown."""

from __future__ import annotations

import json

import pytest

import assay
from assay.ranking.next import NextSets
from assay.ranking.rank import Ranking
from assay.ranking.sigma import SigmaFit, SigmaMatch
from assay.results import Note, Result
from assay.views.section import section_of


@pytest.fixture(scope="module")
def results() -> list[Result]:
    world = assay.simulate(systems=4, documents=20, rng=1)
    judgments = world.judge(1500, per_set=4, rng=2)
    return [
        assay.rank(judgments, rng=1),
        assay.rank(judgments, ranges="pooled", method="bradley-terry", holm=True),
        assay.rank(judgments, ranges="sign", method="lopez", sides=2, ties="half"),
        assay.rank_ratings(world.rate(), method="z", cluster_rule="all", rng=1),
        assay.fit_sigma(judgments),
        assay.fit_sigma(assay.simulate_judgments([5.0] * 6, 1000, rng=5)),  # no upper end
        assay.match_sigma(judgments, orders=2, rng=1),
        assay.next_sets(judgments, count=3, rng=1),
    ]


def test_they_come_back_as_they_were(results: list[Result]) -> None:
    assert {type(item) for item in results} == {Ranking, SigmaFit, SigmaMatch, NextSets}
    for item in results:
        again = type(item).from_dict(json.loads(json.dumps(item.to_dict(), allow_nan=False)))
        assert again == item
        assert again.signature == item.signature


def test_notes_have_codes(results: list[Result]) -> None:
    for item in results:
        notes = getattr(item, "notes", ())
        assert all(isinstance(note, Note) and note.code for note in notes)
    assert {"unit", "other-units"} <= {note.code for note in results[0].notes}  # type: ignore[attr-defined]


def test_every_kind_has_a_section(results: list[Result]) -> None:
    for item in results:
        section = section_of(item)
        assert section.lead
        assert section.signature == item.signature
        assert "<table" in item._repr_html_()
