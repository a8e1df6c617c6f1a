from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign.protocols.tasks import PAIR, TASK

import assay
from assay.campaign.protocols import make_protocol
from assay.campaign.simulated.raters import Opinions, answer_screen
from assay.project.settings import Settings


def wired(protocol: Any, shown: Any) -> dict[str, Any]:
    return {
        **protocol.wire(),
        "segments": [
            {"place": one.place, "rate": one.rate, "source": one.source} for one in shown.segments
        ],
        "outputs": [{"code": one.code, "texts": list(one.texts)} for one in shown.outputs],
        "screens": [list(codes) for codes in shown.screens],
    }


@pytest.mark.parametrize("name", ["da", "xsts", "esa", "mqm", "pairwise", "ranking", "post-edit"])
@given(quality=st.lists(st.floats(0, 1), min_size=2, max_size=2), seed=st.integers(0, 9))
def test_simulated_answers_are_accepted(name: Any, quality: list[float], seed: int) -> None:
    protocol = make_protocol(Settings(protocol=name))
    shown = PAIR if protocol.kind == "judgments" else TASK
    views = iter(quality * 10)
    answers = answer_screen(
        wired(protocol, shown), 0, lambda source, text: next(views), np.random.default_rng(seed), 9
    )
    assert protocol.check(answers, shown, 0)


def test_what_is_not_in_the_test_set_is_worse_than_all_that_is() -> None:
    world = assay.simulate(systems=3, documents=[4, 4], texts=True, rng=1)
    opinions = Opinions(world.test_set, 2, rng=1)
    frame = world.test_set.frame
    source = frame["source"][0]
    texts = frame.filter(frame["source"] == source)["target"].to_list()
    genuine = [opinions.of(1, source, text) for text in texts]
    assert all(0 <= one <= 1 for one in genuine)
    assert opinions.of(1, source, "something else") <= min(genuine)
    assert opinions.of(1, "unheard of", "x") == 0.5
