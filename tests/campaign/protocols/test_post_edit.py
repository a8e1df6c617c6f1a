from __future__ import annotations

from typing import Any

import pytest
from tests.campaign.protocols.tasks import TASK, faults, only

from assay.campaign.protocols import make_protocol
from assay.project.settings import Settings

EDIT = make_protocol(Settings(protocol="post-edit"))
SESSION = {"opened": "2026-11-18T10:00:00Z", "active_ms": 4100, "idle_ms": 0}


def test_the_text_and_the_work() -> None:
    work = {"keys": {"letter": 12, "undo": 1}, "pauses": {"n_300": 2, "ms_300": 900}}
    answer = only(EDIT, {"edited": "The ship lay.", "sessions": [SESSION], **work})
    assert (answer.edited, answer.keys, answer.pauses) == ("The ship lay.", *work.values())
    assert answer.sessions == (SESSION,)


def test_what_a_system_did_not_translate_is_translated_from_scratch() -> None:
    answers = [
        {"code": code, "place": place, "edited": "Text."}
        for code in ("k3", "q7") for place in (2, 3)
    ]  # fmt: skip
    assert len(EDIT.check(answers, TASK, 0)) == 4
    assert faults(EDIT, answers[:3]) == {"answers": "output q7 of segment 3 has no answer"}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"edited": " "}, ".edited"), ({"edited": None}, ".edited"), ({"edited": 3}, ".edited"),
        ({"edited": "half \ud83d"}, ".edited"), ({"edited": "a\0b"}, ".edited"),
        ({"edited": "x" * 60_000}, ".edited"), ({"keys": {"letters": 1}}, ".keys.letters"),
        ({"keys": {"letter": -1}}, ".keys.letter"), ({"keys": {"letter": 1.5}}, ".keys.letter"),
        ({"pauses": []}, ".pauses"), ({"sessions": [{"active_ms": "1"}]}, ".sessions[0].active_ms"),
        ({"sessions": [{"opened": 12}]}, ".sessions[0].opened"), ({"sessions": {}}, ".sessions"),
    ],
)  # fmt: skip
def test_what_is_no_edit(change: Any, path: str) -> None:
    rest = {"code": "k3", "place": 3, "edited": "Fine."}
    wrong = {"code": "k3", "place": 2, "edited": "Fine.", **change}
    assert list(faults(EDIT, [wrong, rest], screen=1)) == [f"answers[0]{path}"]
