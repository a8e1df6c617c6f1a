from __future__ import annotations

import math
from typing import Any

import pytest
from tests.campaign.protocols.tasks import FAMILY, TASK, faults, only

from assay.campaign.protocols import make_protocol
from assay.campaign.records import Span
from assay.errors import InputError, OptionError
from assay.project.settings import Scale, Settings, Severity

DA = make_protocol(Settings(protocol="da"))
ESA = make_protocol(Settings(protocol="esa"))
MQM = make_protocol(Settings(protocol="mqm"))


def rated(code: str, place: int, score: Any) -> dict[str, Any]:
    return {"code": code, "place": place, "scores": {"score": score}}


WHOLE = [rated("k3", 2, 71), rated("k3", 3, 0), rated("q7", 2, 100)]


def test_a_whole_screen_becomes_answers_in_the_order_sent() -> None:
    answers = DA.check(WHOLE, TASK, 0)
    assert [(a.code, a.place, a.scores) for a in answers] == [
        ("k3", 2, {"score": 71.0}), ("k3", 3, {"score": 0.0}), ("q7", 2, {"score": 100.0}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "score", ["seventy", "70", True, None, math.nan, math.inf, -1, 9999, 100.5, 10**400, [70], {}]
)
def test_a_score_is_a_number_of_the_scale(score: Any) -> None:
    assert list(faults(DA, [rated("k3", 2, score), *WHOLE[1:]])) == ["answers[0].scores.score"]


def test_every_fault_is_named_at_once() -> None:
    answers = [
        {"code": "k3", "place": 1, "scores": {"score": 5}},
        {"code": "zz", "place": 2, "scores": {"score": 5}},
        {"code": "k3", "place": 2, "scores": {"sore": 5}, "system": "online-A"},
    ]
    assert faults(DA, answers) == {
        "answers[0].place": "is 1; choose from 2, 3",
        "answers[1].code": "is 'zz', not an output of this screen",
        "answers[2].system": "is not a known key; leave it out",
        "answers[2].scores.sore": "is not a known key (did you mean 'score'?); leave it out",
        "answers[2].scores.score": "is missing",
    }


@pytest.mark.parametrize("answers", [None, {}, "x", [], WHOLE[:2], [None], [[]]])
def test_less_than_the_screen_is_refused(answers: Any) -> None:
    assert faults(DA, answers)


def test_the_missing_and_the_doubled_are_named() -> None:
    assert faults(DA, WHOLE[:2]) == {"answers": "output q7 of segment 2 has no answer"}
    assert "answers[1]" in faults(DA, [WHOLE[0], WHOLE[0], WHOLE[1]])
    assert faults(DA, [*WHOLE, WHOLE[0]]) == {"answers": "has 4 entries; send at most 3"}


def test_an_output_may_be_skipped_with_a_reason() -> None:
    answer = only(DA, {"skipped": "cannot judge the language", "comment": "sorry"})
    assert (answer.skipped, answer.scores, answer.comment) == (
        "cannot judge the language", {}, "sorry",
    )  # fmt: skip
    both = [{**WHOLE[0], "skipped": "why"}, *WHOLE[1:]]
    assert list(faults(DA, both)) == ["answers[0].scores"]
    empty = [{"code": "k3", "place": 2, "skipped": " "}, *WHOLE[1:]]
    assert list(faults(DA, empty)) == ["answers[0].skipped"]


def test_scales_have_steps_and_there_may_be_several() -> None:
    scales = (Scale("fluency", 1, 5, 0.5), Scale("adequacy", 0, 1, 0))
    protocol = make_protocol(Settings(protocol="scale", scales=scales, better="lower"))
    assert protocol.better == "lower"
    assert only(protocol, {"scores": {"fluency": 2.5, "adequacy": 0.123}}).scores == {
        "fluency": 2.5, "adequacy": 0.123,
    }  # fmt: skip
    wrong = {"code": "k3", "place": 2, "scores": {"fluency": 2.4}}
    assert set(faults(protocol, [wrong])) >= {
        "answers[0].scores.fluency", "answers[0].scores.adequacy",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "low", "high"), [("da", 0, 100), ("sqm", 0, 6), ("xsts", 1, 5)])
def test_known_scales(name: Any, low: float, high: float) -> None:
    protocol = make_protocol(Settings(protocol=name))
    (scale,) = protocol.wire()["scales"]
    assert (scale["low"], scale["high"], protocol.range) == (low, high, (low, high))


def test_esa_takes_spans_and_a_score() -> None:
    spans = [
        {"side": "target", "start": 4, "end": 8, "severity": "major"},
        {"side": "source", "start": 0, "end": 0, "severity": "minor", "missing": True},
        {"start": 4, "end": 13, "severity": "minor", "category": None, "origin": None},
    ]
    answer = only(ESA, {"spans": spans, "scores": {"score": 40}})
    assert answer.spans == (
        Span("target", 4, 8, "major"), Span("source", 0, 0, "minor", missing=True),
        Span("target", 4, 13, "minor"),
    )  # fmt: skip
    assert only(ESA, {"scores": {"score": 60}, "asked": True, "no_error": True}).asked


def span(**change: Any) -> dict[str, Any]:
    return {"start": 4, "end": 8, "severity": "major", **change}


@pytest.mark.parametrize(
    ("spans", "path"),
    [
        ([span(end=60)], "spans[0].end"),
        ([span(end=4)], "spans[0].end"),
        ([span(start=9)], "spans[0].end"),
        ([span(start=-1)], "spans[0].start"),
        ([span(start=4.0)], "spans[0].start"),
        ([span(start=True)], "spans[0].start"),
        ([span(severity="huge")], "spans[0].severity"),
        ([span(severity=None)], "spans[0].severity"),
        ([span(side="left")], "spans[0].side"),
        ([span(category="Style")], "spans[0].category"),
        ([span(missing=True)], "spans[0].end"),
        ([span(missing=1)], "spans[0].missing"),
        ([span(origin="mine")], "spans[0].origin"),
        ([span(origin="kept")], "spans[0].origin"),
        ([span(), span(severity="minor")], "spans[1]"),
        ([span(text="ship")], "spans[0].text"),
        (["ship"], "spans[0]"),
        ("ship", "spans"),
    ],
)
def test_esa_refuses_what_is_not_a_mark(spans: Any, path: str) -> None:
    wrong = {**WHOLE[0], "spans": spans}
    assert f"answers[0].{path}" in faults(ESA, [wrong, *WHOLE[1:]])


def test_a_character_is_not_cut_in_two() -> None:
    text = TASK.outputs[0].texts[2] or ""
    start = text.index(FAMILY)
    whole = {"code": "k3", "place": 3, "scores": {"score": 1}}
    good = [WHOLE[0], {**whole, "spans": [span(start=start, end=start + 5)]}, WHOLE[2]]
    assert ESA.check(good, TASK, 0)[1].spans[0].end == start + 5
    bad = [WHOLE[0], {**whole, "spans": [span(start=start, end=start + 2)]}, WHOLE[2]]
    assert list(faults(ESA, bad)) == ["answers[1].spans[0].end"]


def test_a_source_that_was_not_shown_cannot_be_marked() -> None:
    bad = {"code": "k3", "place": 3, "scores": {"score": 1}, "spans": [span(side="source")]}
    assert list(faults(ESA, [WHOLE[0], bad, WHOLE[2]])) == ["answers[1].spans[0].side"]


def test_marks_from_before_are_kept_changed_or_deleted() -> None:
    shown = span(start=0, end=3)
    kept = [*WHOLE[:2], {**WHOLE[2], "spans": [{**shown, "origin": "kept"}]}]
    assert ESA.check(kept, TASK, 0)[2].spans[0].origin == "kept"
    other = [
        *WHOLE[:2],
        {**WHOLE[2], "spans": [span(origin="changed"), span(start=5, end=9, origin="changed")]},
    ]
    assert list(faults(ESA, other)) == ["answers[2].spans"]


def test_mqm_weighs_what_is_marked() -> None:
    marks = [
        span(severity="Minor", category="Fluency/Punctuation"),
        span(severity="Major", category="Accuracy/Omission", start=8, end=8, missing=True),
        span(severity="Minor", category="Style/Awkward", side="source"),
    ]
    assert only(MQM, {"spans": marks}).scores == {"score": 6.1}
    many = [span(severity="Major", category=name) for name in MQM.wire()["categories"][:6]]
    assert only(MQM, {"spans": many}).scores == {"score": 25.0}
    assert only(MQM, {"no_error": True, "spans": []}).scores == {"score": 0.0}
    assert (MQM.better, MQM.range) == ("lower", (0, 25))


def test_mqm_wants_a_mark_or_a_word_that_there_is_none() -> None:
    rest = {"code": "k3", "place": 3, "no_error": True}
    assert only(MQM, {"spans": []}).no_error
    for answer in ({}, {"spans": None}, {"no_error": False}, {"no_error": False, "spans": []}):
        assert list(faults(MQM, [{"code": "k3", "place": 2, **answer}, rest], screen=1)) == [
            "answers[0].spans"
        ]
    both = {"code": "k3", "place": 2, "no_error": True,
            "spans": [span(severity="Major", category="Style/Awkward")]}  # fmt: skip
    assert list(faults(MQM, [both, rest], screen=1)) == ["answers[0].no_error"]
    no_kind = {"code": "k3", "place": 2, "spans": [span(severity="Major")]}
    assert list(faults(MQM, [no_kind, rest], screen=1)) == ["answers[0].spans[0].category"]


def test_the_weights_never_leave() -> None:
    assert "weight" not in str(MQM.wire())


def test_own_taxonomy_and_weights() -> None:
    own = Settings(
        protocol="mqm", categories=("Meaning/Lost", "Meaning/Wrong", "Form"),
        severities=(Severity("small", 1), Severity("big", 10)),
        weights={"Meaning/Lost/big": 40, "Form": 0.5},
    )  # fmt: skip
    protocol = make_protocol(own)
    assert protocol.range is None
    marks = [
        span(severity="big", category="Meaning/Lost"), span(severity="big", category="Form"),
        span(severity="big", category="Meaning/Wrong"),
    ]  # fmt: skip
    assert only(protocol, {"spans": marks}).scores == {"score": 50.5}


def test_core_has_a_critical_severity() -> None:
    core = make_protocol(Settings(protocol="mqm", categories=("mqm-core",)))
    mark = span(severity="Critical", category="Accuracy/Do not translate")
    assert only(core, {"spans": [mark]}).scores == {"score": 25.0}


def test_weights_of_what_is_not_there_are_refused() -> None:
    with pytest.raises(OptionError, match=r"weights \(Majr\).*did you mean 'Major'"):
        make_protocol(Settings(protocol="mqm", weights={"Majr": 3}))
    with pytest.raises(InputError, match="no protocol"):
        make_protocol(Settings())
