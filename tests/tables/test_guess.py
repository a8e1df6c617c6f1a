"""Other people's tables: guessed right or asked, never wrong in silence."""

from __future__ import annotations

import re

import polars as pl
import pytest
from tests.tables.guess_cases import AFTER, BEFORE, Case

import assay
from assay.errors import InputError, OptionError
from assay.tables.guess import Guess
from assay.views.section import section_of

CASES = [*BEFORE, *AFTER]
GUESSED = [case for case in CASES if case.asks is None]
READERS = {
    "scores": assay.read_scores, "ratings": assay.read_ratings, "edits": assay.read_edits,
    "judgments": assay.read_judgments, "errors": assay.read_errors,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_table_is_guessed_right_or_asked_about(case: Case) -> None:
    found = assay.guess(case.frame)
    if case.asks is not None:
        assert found.questions, found.sentence
        assert case.asks in str(found.questions[0])
        with pytest.raises(InputError, match="Say it with `(kind|columns|only)`"):
            found.need_answers()
        return
    assert found.questions == ()
    assert found.table == case.kind
    assert dict(found.columns) == dict(case.columns)
    for into, columns in case.melted.items():
        assert (found.into, list(found.melted)) == (into, list(columns))
    assert found.layout == ("wide" if case.melted else "long")
    assert list(found.metrics) == list(case.metrics)
    assert {*case.not_metrics} <= {*found.counts, *found.ratings}


@pytest.mark.parametrize("case", GUESSED, ids=lambda case: case.name)
def test_what_was_guessed_can_be_read_and_kept(case: Case) -> None:
    found = assay.guess(case.frame)
    table = READERS[str(found.table)](assay.tidy(case.frame, found))
    assert len(table) >= case.frame.height * max(len(case.melted), 1)
    assert Guess.from_dict(found.to_dict()) == found
    assert section_of(found).lead == found.sentence
    assert "\n" not in found.sentence


def test_there_are_forty_tables() -> None:
    assert len(CASES) >= 40
    assert 3 * len(BEFORE) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_names_in_another_style_are_the_same(case: Case) -> None:
    """snake_case, upper case and spaces do not matter, nor does the order of the columns."""

    def styled(name: str) -> str:
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").upper()

    own = {"our own names", "two numbers of one thing"}
    names = {name: styled(name) for name in case.frame.columns}
    frame = case.frame.rename(names)[:, ::-1]
    found = assay.guess(frame)
    assert bool(found.questions) == (case.asks is not None)
    if case.asks is None and case.name not in own:
        assert found.table == case.kind
        assert dict(found.columns) == {n: names[user] for n, user in case.columns.items()}


def test_what_the_user_says_wins() -> None:
    frame = pl.DataFrame({
        "seg": [1, 2] * 3, "system": ["A", "A", "B", "B", "C", "C"], "Sentence": [5, 6] * 3,
        "score": [1, 2, 3, 4, 5, 6], "DA": [10, 20, 30, 40, 50, 60],
    })  # fmt: skip
    found = assay.guess(frame, kind="ratings", columns={"score": "DA", "seg": "Sentence"})
    assert dict(found.columns) == {"system": "system", "seg": "Sentence", "score": "DA"}
    with pytest.raises(OptionError, match="did you mean 'DA'"):
        assay.guess(frame, columns={"score": "DAA"})
    with pytest.raises(OptionError, match="is not a column of scores"):
        assay.guess(frame, kind="scores", columns={"score": "DA"})


def test_answers_leave_nothing_open() -> None:
    """Taking the first answer again and again ends in a guess, or in a column that is not there."""
    for case in CASES:
        kind, columns = None, {}
        for _ in range(6):
            found = assay.guess(case.frame, kind=kind, columns=columns)
            open_ = [question for question in found.questions if question.argument != "only"]
            if not open_ or "YOURS" in open_[0].answers[0]:
                break
            question = open_[0]
            if question.argument == "kind":
                kind = question.answers[0]
            else:
                name, _, own = question.answers[0].partition("=")
                columns[name] = own
        else:
            pytest.fail(f"{case.name}: {found.questions}")


def test_several_tables_are_one() -> None:
    frame = BEFORE[0].frame
    found = assay.guess([frame[:10], frame[10:]])
    assert found.columns == assay.guess(frame).columns
    with pytest.raises(InputError, match="other columns"):
        assay.guess([frame, frame.rename({"Model": "Engine"})])


def test_times_are_in_seconds_whatever_they_were_in() -> None:
    for name, times in (("Time (s)", 1), ("Time (min)", 60), ("Minuten", 60), ("Zeit (h)", 3600)):
        frame = pl.DataFrame({
            "Engine": ["A", "B"], "File": ["d", "d"], "Segment": [1, 1], "Translator": ["x", "y"],
            "MT": ["a b", "a c"], "Final translation": ["a b", "a d"], name: [0.5, 1.5],
        })  # fmt: skip
        found = assay.guess(frame, kind="edits")
        assert found.columns["seconds"] == name
        assert (f"seconds <- {name} x {times}" in found.sentence) == (times != 1)
        edits = assay.read_edits(assay.tidy(frame, found))
        assert edits.frame["seconds"].to_list() == [0.5 * times, 1.5 * times]
    odd = assay.guess(frame.rename({name: "min"}), kind="edits")
    assert "seconds" not in odd.columns  # the smallest, perhaps
