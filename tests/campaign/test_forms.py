"""Questions to the raters, before the work and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.campaign.store.world import make, make_scores, opened, rater_links, work

from assay.campaign.contents import read_form
from assay.campaign.exchange.export import tables_of
from assay.campaign.protocols.reading import check_form
from assay.campaign.records import FormQuestion, InvalidAnswerError, NotNowError, Shown
from assay.errors import TableError
from assay.project.settings import Forms, Raters, Settings

BEFORE = """question\tanswers\toptional
Is German your first language?\tyes|no\t
Which other languages do you speak?\t\tyes
"""
AFTER = "question\nWas anything unclear?\n"


def asked(folder: Path, **raters: Any) -> Any:
    for name, table in (("before.tsv", BEFORE), ("after.tsv", AFTER)):
        (folder / name).write_text(table, encoding="utf-8")
    settings = Settings(
        protocol="esa", raters=Raters(number=2, overlap="0%", **raters),
        forms=Forms("before.tsv", "after.tsv"),
    )  # fmt: skip
    return make(folder, settings, test_set=make_scores(documents=2, segments=1, systems="AB"))


def said(task: dict[str, Any], *texts: str) -> dict[str, Any]:
    code = task["screens"][0][0]
    answers = [{"code": code, "place": k, "comment": text} for k, text in enumerate(texts)]
    return {"key": "k", "timing": {"active_ms": 9000}, "answers": answers}


def test_questions_come_first_and_last_and_are_a_table(tmp_path: Path) -> None:
    made = asked(tmp_path)
    with opened(tmp_path) as campaign:
        one, two = rater_links(campaign, made)
        form = campaign.next(one)
        assert (form["kind"], form["segments"], form["outputs"]) == ("form", [], [])
        assert form["questions"][0] == {
            "place": 0, "text": "Is German your first language?", "answers": ["yes", "no"],
            "optional": False,
        }  # fmt: skip
        reply = campaign.send(one, form["lease"], 0, said(form, "yes"))
        assert reply == {"stored": 1, "revision": 1, "next": "task"}
        assert campaign.mine(one) == []
        tasks = work(campaign, one, most=2)
        assert {task["kind"] for task in tasks} == {"rate"}
        with pytest.raises(NotNowError, match="tasks left"):
            campaign.finish(one)
        last = campaign.next(one)
        assert (last["kind"], last["progress"]["done"]) == ("form", 2)
        assert campaign.send(one, last["lease"], 0, said(last, "=no"))["next"] == "done"
        assert "code" in campaign.finish(one)
        status = campaign.status()
        assert (status.done, status.answers) == (status.tasks, 4)
        tables = tables_of(campaign.collected())
        rows = tables["forms"].select("rater", "form", "question", "answer").rows()
        assert rows == [
            ("rater-1", "before", "Is German your first language?", "yes"),
            ("rater-1", "after", "Was anything unclear?", "=no"),
        ]
        assert tables["ratings"].height == 4
        first = campaign.next(two)
        campaign.send(two, first["lease"], 0, said(first, "no", "French"))
        assert campaign.next(two)["questions"][0]["text"] == "Was anything unclear?"
        campaign.exclude("rater-2", "a test", "owner")
        assert set(tables_of(campaign.collected())["forms"]["rater"]) == {"rater-1"}
        assert campaign.rebuild()["raters"] == 2
        assert campaign.integrity() == ()


def test_whoever_has_done_enough_is_asked_too(tmp_path: Path) -> None:
    made = asked(tmp_path, quota=1)
    with opened(tmp_path) as campaign:
        one, _ = rater_links(campaign, made)
        form = campaign.next(one)
        campaign.send(one, form["lease"], 0, said(form, "yes"))
        work(campaign, one, most=1)
        assert campaign.next(one)["kind"] == "form"


SHOWN = Shown(
    "l", (), (), (("c",),), (FormQuestion("A?", ("yes", "no")), FormQuestion("B?", (), True))
)


@pytest.mark.parametrize(
    ("answers", "path"),
    [
        (None, "answers"), ([], "answers"), ([{"place": 1, "comment": "x"}], "answers"),
        ([{"place": 0, "comment": "maybe"}], "answers[0].comment"),
        ([{"place": 0, "comment": " "}], "answers[0].comment"),
        ([{"place": 2, "comment": "yes"}], "answers[0].place"),
        ([{"place": 0, "comment": "yes"}] * 2, "answers[1]"),
        ([{"place": 0, "comment": "yes", "score": 3}], "answers[0].score"), (["yes"], "answers[0]"),
    ],
)  # fmt: skip
def test_what_is_no_answer(answers: Any, path: str) -> None:
    with pytest.raises(InvalidAnswerError) as refused:
        check_form(answers, SHOWN)
    assert path in dict(refused.value.faults)


def test_tables_that_are_no_form(tmp_path: Path) -> None:
    path = tmp_path / "form.tsv"
    for table, fault in (
        ("ask\nWhy?\n", "'question' is missing"),
        ("question\tanswers\n\tyes|no\n", "the question is missing"),
        ("question\toptional\nWhy?\tperhaps\n", "is not yes or no"),
    ):
        path.write_text(table)
        with pytest.raises(TableError, match=fault):
            read_form(path, "before")
