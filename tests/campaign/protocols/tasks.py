"""A task as a rater sees it: three segments of which two are rated, two outputs."""

from __future__ import annotations

from typing import Any

import pytest

from assay.campaign.protocols.base import Protocol
from assay.campaign.records import (
    Answer,
    InvalidAnswerError,
    Shown,
    ShownOutput,
    ShownSegment,
    Span,
)

FAMILY = "👨‍👩‍👧"
MARK = Span("target", 0, 3, "major")

TASK = Shown(
    lease="L",
    segments=(
        ShownSegment(1, False, "Davor."),
        ShownSegment(2, True, "Das Schiff liegt im Hafen."),
        ShownSegment(3, True, None),
    ),
    outputs=(
        ShownOutput("k3", "A", ("Before.", "The ship lies.", f"Nobody {FAMILY} knows.")),
        ShownOutput("q7", "B", ("Before.", "A ship is there.", None), ((), (MARK,), ())),
    ),
    screens=(("k3", "q7"), ("k3",)),
)

PAIR = Shown("L", TASK.segments[1:2], (
    ShownOutput("k3", "A", ("The ship lies.",)), ShownOutput("q7", "B", ("A ship is there.",)),
), (("k3", "q7"),))  # fmt: skip


def faults(
    protocol: Protocol, answers: Any, shown: Shown = TASK, screen: int = 0
) -> dict[str, str]:
    """What is wrong, by path."""
    with pytest.raises(InvalidAnswerError) as caught:
        protocol.check(answers, shown, screen)
    return dict(caught.value.faults)


def only(protocol: Protocol, answer: dict[str, Any]) -> Answer:
    """The answer about the first rated segment of the screen with one output, checked."""
    rest = {"code": "k3", "place": 3, "skipped": "not now"}
    answers = [{"code": "k3", "place": 2, **answer}, rest]
    return protocol.check(answers, TASK, 1)[0]
