from __future__ import annotations

from typing import Any

import pytest
from tests.campaign.protocols.tasks import PAIR, faults

from assay.campaign.protocols import make_protocol
from assay.project.settings import Settings

PAIRWISE = make_protocol(Settings(protocol="pairwise"))
RANKING = make_protocol(Settings(protocol="ranking"))


def test_one_is_better_or_both_are_equal() -> None:
    (better,) = PAIRWISE.check([{"winner": "q7", "strength": 2, "reason": "closer"}], PAIR, 0)
    assert (better.winner, better.strength, better.reason) == ("q7", 2, "closer")
    (equal,) = PAIRWISE.check([{"winner": None, "comment": "same"}], PAIR, 0)
    assert (equal.winner, equal.comment, equal.place) == ("tie", "same", 2)
    (skipped,) = PAIRWISE.check([{"skipped": "broken text"}], PAIR, 0)
    assert (skipped.winner, skipped.skipped) == (None, "broken text")


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({}, ".winner"),
        ({"winner": "tie"}, ".winner"),
        ({"winner": ["q7"]}, ".winner"),
        ({"winner": "q7", "strength": 4}, ".strength"),
        ({"winner": "q7", "strength": 1.0}, ".strength"),
        ({"winner": None, "strength": 1}, ".strength"),
        ({"winner": "q7", "reason": 3}, ".reason"),
        ({"winner": "q7", "skipped": "x"}, ".winner"),
        ({"winner": "q7", "system": "B"}, ".system"),
    ],
)
def test_what_is_no_comparison(answer: Any, path: str) -> None:
    assert list(faults(PAIRWISE, [answer], PAIR)) == [f"answers[0]{path}"]


@pytest.mark.parametrize("answers", [[], {}, None, [1], [{"winner": "q7"}] * 2])
def test_one_answer_is_wanted(answers: Any) -> None:
    assert faults(PAIRWISE, answers, PAIR)


def test_outputs_in_order_with_ties() -> None:
    (answer,) = RANKING.check([{"ranks": {"k3": 1, "q7": 1}}], PAIR, 0)
    assert answer.ranks == {"k3": 1, "q7": 1}


@pytest.mark.parametrize(
    ("ranks", "path"),
    [
        ({"k3": 1}, ".q7"), ({"k3": 1, "q7": 3}, ".q7"), ({"k3": 0, "q7": 1}, ".k3"),
        ({"k3": 1.5, "q7": 1}, ".k3"), ({"k3": 1, "q7": True}, ".q7"),
        ({"k3": 1, "q7": 2, "x": 1}, ".x"), ([1, 2], ""),
    ],
)  # fmt: skip
def test_what_is_no_order(ranks: Any, path: str) -> None:
    assert list(faults(RANKING, [{"ranks": ranks}], PAIR)) == [f"answers[0].ranks{path}"]
