"""Whatever is sent, it is an answer or it is refused with paths that can be written down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign.protocols.tasks import PAIR, TASK

from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.reading import grapheme_edges
from assay.campaign.records import InvalidAnswerError
from assay.project.settings import Settings

NAMES = ("da", "esa", "mqm", "pairwise", "ranking", "post-edit")
WORDS = (
    "code", "place", "scores", "score", "spans", "no_error", "asked", "side", "start", "end",
    "severity", "category", "origin", "missing", "skipped", "comment", "winner", "strength",
    "reason", "ranks", "edited", "keys", "pauses", "sessions", "letter", "n_300", "active_ms",
)  # fmt: skip
VALUES = (
    "k3", "q7", "target", "source", "major", "minor", "Major", "Minor", "Style/Awkward", "kept",
    0, 1, 2, 3, 4, 8, 14, 71, True, None, "half \ud83d",
)  # fmt: skip

leaves = st.one_of(
    st.sampled_from(VALUES), st.integers(), st.floats(), st.text(st.characters(), max_size=5)
)
keys = st.one_of(st.sampled_from(WORDS), st.text(st.characters(), max_size=3))
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=8),
    max_leaves=12,
)
span = st.fixed_dictionaries(
    {"start": st.integers(-1, 20) | leaves, "end": st.integers(-1, 20) | leaves},
    optional=dict.fromkeys(("side", "severity", "category", "origin", "missing"), leaves),
)
item = st.fixed_dictionaries(
    {"code": st.sampled_from(["k3", "q7"]), "place": st.sampled_from([2, 3])},
    optional={
        "scores": st.dictionaries(st.just("score"), leaves) | anything,
        "spans": st.lists(span, max_size=4) | anything,
        "no_error": leaves, "edited": leaves, "skipped": leaves, "ranks": anything,
    },
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@given(answers=anything | st.lists(item, max_size=4))
def test_only_answers_or_faults_come_out(name: Any, answers: Any) -> None:
    protocol = make_protocol(Settings(protocol=name))
    shown = PAIR if protocol.kind == "judgments" else TASK
    try:
        checked = protocol.check(answers, shown, 0)
    except InvalidAnswerError as error:
        assert error.faults
        assert all(path.startswith("answers") and text for path, text in error.faults)
        str(error).encode("utf-8")
        return
    assert len(checked) == (1 if protocol.kind == "judgments" else len(answers))
    for answer in checked:
        texts = {segment.place: segment.source for segment in shown.segments}
        for mark in answer.spans:
            output = next(output for output in shown.outputs if output.code == answer.code)
            here = [segment.place for segment in shown.segments].index(answer.place or 0)
            text = output.texts[here] if mark.side == "target" else texts[answer.place or 0]
            assert 0 <= mark.start <= mark.end <= len(text or "")
            assert mark.missing == (mark.start == mark.end)


@given(st.text(max_size=30))
def test_characters_follow_one_another(text: str) -> None:
    edges = sorted(grapheme_edges(text))
    assert edges[0] == 0
    assert edges[-1] == len(text)
