"""What a new campaign shows: items, comparisons, kits, lessons, media, marks."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.campaign.store.world import (
    HandClock,
    body,
    finish,
    make,
    make_scores,
    opened,
    rater_links,
    work,
)

import assay
from assay.campaign.assignment import lease_minutes, screens
from assay.campaign.campaign import Campaign
from assay.campaign.exchange.export import tables_of
from assay.campaign.items import read_items
from assay.campaign.records import InvalidAnswerError, NotNowError
from assay.campaign.store.unit import Link
from assay.errors import InputError, OptionError
from assay.project.settings import Checks, Raters, Screen, Settings

ONE = Raters(number=1)


def scores(texts: dict[str, list[str]], doc: list[str] | None = None) -> Any:
    """One text per system and segment."""
    count = len(next(iter(texts.values())))
    return assay.read_scores(pl.DataFrame([
        {
            "system": system, "doc": (doc or ["d"] * count)[k], "seg": str(k + 1),
            "source": f"Quelle {k + 1}", "target": text,
        }
        for system, own in texts.items()
        for k, text in enumerate(own)
    ]))  # fmt: skip


TWINS = {
    "A": ["same text", "a own", "of A"],
    "B": ["same text", "a own", "of B"],
    "C": ["same text", "c own", "of C"],
}


@pytest.mark.parametrize(
    ("merge", "columns", "asked"), [("stretch", 2, 4), ("segment", 2, 3), ("no", 3, 6)]
)
def test_identical_outputs_are_shown_once(
    tmp_path: Path, merge: Any, columns: int, asked: int
) -> None:
    plan = Settings(protocol="esa", raters=ONE, screen=Screen(merge=merge, outputs=8))
    test_set = scores(TWINS, doc=["d", "d", "e"])
    sample = assay.sample(test_set, design="documents", budget="100%", rng=1)
    made = make(tmp_path, plan, test_set=test_set, sample=sample)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        [task] = [one for one in work(campaign, link) if len(one["segments"]) == 2]
        assert len(task["outputs"]) == columns
        texts = [text for output in task["outputs"] for text in output["texts"]]
        assert sum(text is not None for text in texts) == asked
        rows = campaign.collected().answers
        assert {(row.system, row.seg, row.text) for row in rows} == set(
            test_set.frame.select("system", "seg", "target").rows()
        )
        assert len(rows) == 9
        assert len({row.number for row in rows}) == 3 + asked
    assert made.merged == 6 - asked


def test_context_stays_inside_the_document(tmp_path: Path) -> None:
    test_set = make_scores(documents=2, segments=4)
    sample = assay.sample(test_set, design="segments", budget="100%", rng=1)
    made = make(tmp_path, Settings(protocol="esa", raters=ONE, screen=Screen(context=1)),
                test_set=test_set, sample=sample)  # fmt: skip
    with opened(tmp_path) as campaign:
        sizes = Counter()
        for task in work(campaign, rater_links(campaign, made)[0]):
            assert [one["place"] for one in task["segments"]] == list(range(len(task["segments"])))
            assert sum(one["rate"] for one in task["segments"]) == 1
            assert len({one["source"].split()[2] for one in task["segments"]}) == 1
            sizes[len(task["segments"])] += 1
        assert sizes == {2: 4, 3: 4}


def test_the_order_is_the_samples_and_the_same_everywhere(tmp_path: Path) -> None:
    test_set = make_scores(documents=6, segments=4)
    sample = assay.sample(test_set, design="rounds", budget="50%", rng=3)
    seen = []
    for name in ("one", "two"):
        made = make(tmp_path / name, Settings(protocol="esa", raters=ONE), test_set=test_set,
                    sample=sample, rng=5)  # fmt: skip
        with opened(tmp_path / name) as campaign:
            tasks = work(campaign, rater_links(campaign, made)[0])
            seen.append([
                sorted(output["texts"] for output in task["outputs"]) for task in tasks
            ])  # fmt: skip
            rows = campaign.collected().answers
            segments = list(dict.fromkeys(row.seg for row in rows))
            assert segments == [test_set.segments["seg"][int(k)] for k in sample.order(test_set)]
            assert {row.probability for row in rows} == set(sample.frame["probability"])
    assert seen[0] == seen[1]


def compare(campaign: Campaign, link: Link, answer: Any) -> list[dict[str, Any]]:
    """Answer every comparison."""
    done = []
    while (task := campaign.next(link))["state"] == "task":
        assert len(task["screens"]) == 1
        sent = {"key": "k", "timing": {}, "answers": [answer(task["screens"][0])]}
        campaign.send(link, task["lease"], 0, sent)
        done.append(task)
    return done


def test_every_two_systems_meet_equally_often_in_comparisons(tmp_path: Path) -> None:
    test_set = make_scores(documents=6, segments=5, systems="ABCDEF")
    plan = Settings(protocol="pairwise", raters=ONE)
    made = make(tmp_path, plan, test_set=test_set)
    assert made.tasks == 90  # three pairs of each of 30 segments
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        compare(campaign, link, lambda codes: {"winner": codes[0]})
        sets = defaultdict(set)
        for row in campaign.collected().answers:
            sets[row.number].add(row.system)
            assert row.answer.winner is not None
        met = Counter(pair for own in sets.values() for pair in combinations(sorted(own), 2))
        assert len(met) == 15
        assert max(met.values()) - min(met.values()) <= 2
        own = campaign.mine_one(link, campaign.mine(link)[0]["lease"])["answers"]["0"]
        assert list(own[0]) == ["winner"]


def test_rankings_show_five_of_six(tmp_path: Path) -> None:
    test_set = make_scores(documents=2, segments=3, systems="ABCDEF")
    made = make(tmp_path, Settings(protocol="ranking", raters=ONE), test_set=test_set)
    with opened(tmp_path) as campaign:
        tasks = compare(
            campaign, rater_links(campaign, made)[0],
            lambda codes: {"ranks": {code: place + 1 for place, code in enumerate(codes)}},
        )  # fmt: skip
        assert {len(task["outputs"]) for task in tasks} == {5}
        assert len(campaign.collected().answers) == 30


def test_editors_get_their_kits_in_order(tmp_path: Path) -> None:
    test_set = make_scores(documents=3, segments=2)
    kits = assay.design_kits(
        test_set.systems, ["Ada", "Ben", "Eva"], design="latin",
        documents=test_set.documents["doc"].to_list(), rng=1,
    )  # fmt: skip
    made = make(tmp_path, Settings(protocol="post-edit"), test_set=test_set, kits=kits)
    with opened(tmp_path) as campaign:
        for link in rater_links(campaign, made):
            while (task := campaign.next(link))["state"] == "task":
                [[code]] = task["screens"]
                answers = [
                    {"code": code, "place": one["place"], "edited": "better"}
                    for one in task["segments"]
                ]
                sent = {"key": "k", "timing": {}, "answers": answers}
                reply = campaign.send(link, task["lease"], 0, sent)
            assert (task["state"], reply["next"]) == ("done", "done")
        found = list(dict.fromkeys(
            (row.rater, row.doc, row.system) for row in campaign.collected().answers
        ))  # fmt: skip
        assert found == [(one.editor, one.document, one.system) for one in kits.kits]
    with pytest.raises(OptionError, match="scores do not have"):
        (tmp_path / "b").mkdir()
        make(tmp_path / "b", Settings(protocol="post-edit"), test_set=make_scores(documents=2),
             kits=kits)  # fmt: skip


def test_without_kits_nobody_edits_the_same_text_twice(tmp_path: Path) -> None:
    plan = Settings(protocol="post-edit", raters=Raters(number=2, overlap="0%"))
    made = make(tmp_path, plan, test_set=make_scores(documents=2, segments=1, systems="AB"))
    with opened(tmp_path) as campaign:
        one, two = rater_links(campaign, made)
        for link in (one, two):
            seen = []
            while (task := campaign.next(link))["state"] == "task":
                [[code]] = task["screens"]
                answers = [{"code": code, "place": 0, "edited": "better"}]
                sent = {"key": "k", "timing": {}, "answers": answers}
                campaign.send(link, task["lease"], 0, sent)
                seen.append(task["segments"][0]["source"])
            assert len(seen) == len(set(seen)) == 2
        assert campaign.status().done == 4


def lessons(folder: Path) -> None:
    rows = [("eins", "one", 90, 100, "fine"), ("zwei", "too", 0, 40, None)]
    frame = pl.DataFrame(rows, ["source", "target", "low", "high", "explanation"], orient="row")
    frame.write_csv(folder / "lessons.tsv", separator="\t")


def test_a_tutorial_comes_first_with_its_solution(tmp_path: Path) -> None:
    lessons(tmp_path)
    plan = Settings(protocol="esa", raters=Raters(2), checks=Checks(tutorial="lessons.tsv"))
    made = make(tmp_path, plan)
    with opened(tmp_path) as campaign:
        for link in rater_links(campaign, made):
            task = campaign.next(link)
            assert task["kind"] == "tutorial"
            assert task["solution"] == {"low": 90, "high": 100, "explanation": "fine"}
            assert (task["segments"][0]["source"], task["outputs"][0]["texts"]) == ("eins", ["one"])
            finish(campaign, link, task)
            finish(campaign, link, campaign.next(link))
            after = campaign.next(link)
            assert after["kind"] == "rate"
            assert "solution" not in after
        assert campaign.collected().answers == ()
        assert campaign.integrity() == ()


@pytest.mark.parametrize("passes", [True, False])
def test_a_test_must_be_passed(tmp_path: Path, passes: bool) -> None:
    lessons(tmp_path)
    plan = Settings(protocol="esa", raters=Raters(2), checks=Checks(qualify="lessons.tsv"))
    made = make(tmp_path, plan)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        for right in (95, 20):
            task = campaign.next(link)
            assert task["kind"] == "qualify"
            assert "solution" not in task
            finish(campaign, link, task, score=right if passes else 60)
        if passes:
            assert campaign.next(link)["kind"] == "rate"
        else:
            with pytest.raises(NotNowError, match="has ended"):
                campaign.next(link)


@pytest.mark.parametrize(("right", "passes"), [(7, True), (6, False)])
def test_seven_of_ten_pass_a_test(tmp_path: Path, right: int, passes: bool) -> None:
    rows = [f"Satz {k}\tsentence {k}\t90\t100\n" for k in range(10)]
    (tmp_path / "ten.tsv").write_text("source\ttarget\tlow\thigh\n" + "".join(rows))
    plan = Settings(protocol="esa", raters=Raters(2), checks=Checks(qualify="ten.tsv"))
    made = make(tmp_path, plan)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        for number in range(10):
            finish(campaign, link, campaign.next(link), score=95 if number < right else 20)
        if passes:
            assert campaign.next(link)["kind"] == "rate"
        else:
            with pytest.raises(NotNowError, match="has ended"):
                campaign.next(link)


def test_a_table_of_lessons_with_faults_names_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "lessons.tsv").write_text(
        "source\ttarget\tlow\thigh\neins\tone\thigh\t5\nzwei\t\t9\t3\n"
    )
    with pytest.raises(InputError) as caught:
        make(tmp_path, Settings(protocol="esa", checks=Checks(tutorial="lessons.tsv")))
    text = str(caught.value)
    assert "'high' is not a number" in text
    assert "the text is missing" in text
    assert "'9' is above high" in text
    assert not (tmp_path / "campaign.db").exists()


def test_media_have_codes_and_no_names(tmp_path: Path) -> None:
    (tmp_path / "private-name.png").write_bytes(b"\x89PNG 1")
    frame = make_scores(documents=1, segments=2).frame
    named = frame.with_columns(media=pl.lit("private-name.png"))
    made = make(tmp_path, Settings(protocol="esa", raters=ONE), test_set=assay.read_scores(named))
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        assert "private" not in str(task)
        codes = {code for one in task["segments"] for code in one["media"]}
        assert len(codes) == 1
        assert campaign.media(codes.pop()) == (b"\x89PNG 1", "image/png")


def test_media_that_cannot_be_shown_are_refused(tmp_path: Path) -> None:
    frame = make_scores(documents=1, segments=2).frame
    names = pl.Series("media", ["gone.png", "page.html"] * (frame.height // 2))
    test_set = assay.read_scores(frame.with_columns(names))
    with pytest.raises(InputError, match=r"gone\.png' is not in[\s\S]*page\.html' has an unkn"):
        make(tmp_path, test_set=test_set)


def test_raters_begin_with_earlier_marks(tmp_path: Path) -> None:
    test_set = make_scores(documents=1, segments=1, systems="AB")
    errors = assay.read_errors(pl.DataFrame({
        "system": ["system-A"], "doc": ["doc-0"], "seg": ["1"], "category": ["Accuracy"],
        "severity": ["minor"], "start": [4], "end": [8],
    }))  # fmt: skip
    made = make(tmp_path, Settings(protocol="esa", raters=ONE), test_set=test_set, errors=errors)
    with opened(tmp_path) as campaign:
        task = campaign.next(rater_links(campaign, made)[0])
        marks = {output["texts"][0]: output["spans"][0] for output in task["outputs"]}
        assert [len(own) for _, own in sorted(marks.items())] == [1, 0]
        [mark] = marks[min(marks)]
        assert (mark["start"], mark["end"], mark["severity"]) == (4, 8, "minor")
        assert mark["category"] is None, "ESA asks for none"
        link = rater_links(campaign, made)[0]
        changed = {"side": "target", "start": 0, "end": 3, "severity": "major", "origin": "changed"}
        for number, spans in enumerate(([changed], [])):
            answers = [
                {"code": output["code"], "place": 0, "scores": {"score": 60},
                 "spans": spans if output["spans"][0] else []}
                for output in task["outputs"]
            ]  # fmt: skip
            for screen, codes in enumerate(task["screens"]):
                own = [answer for answer in answers if answer["code"] in codes]
                key = f"{number}-{screen}"
                campaign.send(link, task["lease"], screen, {"key": key, "answers": own})
            ratings = tables_of(campaign.collected())["ratings"].sort("system")
            became = ratings.select("marks_kept", "marks_changed", "marks_removed").rows()
            assert became == [(0, len(spans), 1 - len(spans)), (None, None, None)]


def test_marks_that_a_protocol_does_not_ask_for_are_refused(tmp_path: Path) -> None:
    test_set = make_scores(documents=1, segments=1, systems="AB")
    errors = assay.read_errors(pl.DataFrame({
        "system": ["system-A"], "doc": ["doc-0"], "seg": ["1"], "category": ["Accuracy"],
        "severity": ["dreadful"], "start": [4], "end": [8],
    }))  # fmt: skip
    with pytest.raises(
        InputError, match=r"have Accuracy, dreadful in segment 1.*give `categories`"
    ):
        make(tmp_path, Settings(protocol="esa", raters=ONE), test_set=test_set, errors=errors)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_become_a_campaign_is_refused(tmp_path: Path) -> None:
    empty = assay.read_scores(pl.DataFrame({"system": ["A"], "seg": ["1"], "m": [0.5]}))
    for settings, change, message in (
        (Settings(protocol="esa"), {"test_set": empty}, "no column 'target'"),
        (Settings(), {}, "no protocol"),
        (Settings(protocol="esa", raters=Raters(names=("A", "A"))), {}, "'A' twice"),
        (Settings(protocol="esa", raters=Raters(lease="soon")), {}, "is not a time"),
        (Settings(protocol="esa", raters=Raters(overlap="lots")), {}, "is not a share"),
        (Settings(protocol="esa", instructions="none.md"), {}, "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            make(tmp_path, settings, **change)
    assert not (tmp_path / "campaign.db").exists()


def test_spoiled_copies_differ_and_come_from_other_documents() -> None:
    items = read_items(make_scores(documents=3))
    rng = np.random.default_rng(1)
    for segment, system in items.targets:
        spoiled = items.spoiled(segment, system, rng)
        assert spoiled != items.targets[segment, system]
        assert len(spoiled.split()) == len(items.targets[segment, system].split())


def test_screens_are_even() -> None:
    rng = np.random.default_rng(1)
    parts = screens(range(7), 3, rng, together=False)
    assert [len(part) for part in parts] == [3, 2, 2]
    assert sorted(number for part in parts for number in part) == list(range(7))
    assert len(screens(range(7), 3, rng, together=True)) == 1


def test_who_knows_the_seed_does_not_know_the_systems(tmp_path: Path) -> None:
    shown = []
    for name in ("one", "two"):
        made = make(tmp_path / name, Settings(protocol="esa", raters=ONE), rng=5,
                    test_set=make_scores(documents=6, systems="ABCDEF"))  # fmt: skip
        with opened(tmp_path / name) as campaign:
            work(campaign, rater_links(campaign, made)[0])
            shown.append([(row.seg, row.system) for row in campaign.collected().answers])
    assert sorted(shown[0]) == sorted(shown[1])
    assert shown[0] != shown[1]


def test_a_lease_follows_the_time_that_tasks_take() -> None:
    found = [lease_minutes("auto", 10, seconds) for seconds in (1, 60, 6000)]
    assert found == [20.0, 40.0, 120.0]


def test_people_join_finish_and_are_forgotten(place: Path | str) -> None:
    made = make(place, test_set=make_scores(documents=1, segments=2))
    with opened(place) as campaign:
        token = campaign.join({"PROLIFIC_PID": "person-77", "other": "x"}, False)
        link = campaign.link(token)
        assert link is not None
        assert link.rater == "rater-4"
        again = campaign.link(campaign.join({"PROLIFIC_PID": "person-77"}, False))
        assert again is not None
        assert again.rater == "rater-4"
        assert campaign.link(campaign.join({}, False)) != again
        for wrong in ("", "half \ud800", "zero \0", "x" * 201, 7):
            with pytest.raises(InvalidAnswerError, match="letters, digits or signs"):
                campaign.join({"PROLIFIC_PID": wrong}, False)  # type: ignore[dict-item]
        assert len(work(campaign, link)) == made.tasks
        assert set(campaign.finish(link)) == {"code"}
        campaign.language(link, "de")
        found = campaign.link(token)
        assert found is not None
        assert found.language == "de"
        with pytest.raises(NotNowError, match="no more tasks"):
            campaign.join({"PROLIFIC_PID": "late"}, False)
        name = campaign.forget("rater-4")
        assert campaign.link(token) is None
        rows = campaign.collected()
        assert {row.rater for row in rows.answers} == {name}
        assert "person-77" not in str(rows)
        with campaign.reading() as db:
            assert db.exec_driver_sql("SELECT outside FROM rater").scalars().all() == [None] * 5


def test_no_more_people_join_than_there_are_tasks(place: Path | str) -> None:
    clock = HandClock()
    made = make(place)
    with opened(place, clock) as campaign:
        joined = [campaign.join({}, True) for _ in range(made.tasks)]
        with pytest.raises(NotNowError, match="all places are taken"):
            campaign.join({}, True)
        link = campaign.link(joined[0])
        assert link is not None
        assert campaign.next(link)["state"] == "task"
        with pytest.raises(NotNowError, match="all places are taken"):
            campaign.join({}, True)
        clock.pass_minutes(61)
        assert campaign.join({}, True), "who never began keeps nobody out"


def test_consent_comes_before_work(tmp_path: Path) -> None:
    (tmp_path / "consent.md").write_text("I agree.")
    make(tmp_path, Settings(protocol="esa", consent="consent.md"))
    with opened(tmp_path) as campaign:
        assert campaign.consent() == "I agree."
        with pytest.raises(InvalidAnswerError, match="agree first"):
            campaign.join({}, False)
        assert campaign.link(campaign.join({}, True)) is not None


def test_a_backup_is_a_campaign_and_rebuilding_changes_nothing(tmp_path: Path) -> None:
    made = make(tmp_path / "one")
    with opened(tmp_path / "one") as campaign:
        links = rater_links(campaign, made)
        work(campaign, links[0], most=2)
        half = campaign.next(links[1])
        campaign.send(links[1], half["lease"], 0, body(half, 0))
        campaign.exclude("rater-1", "a reason", "owner")
        (tmp_path / "two").mkdir()
        campaign.backup(tmp_path / "two" / "campaign.db")
        before = campaign.status()
        with campaign.reading() as db:
            tables = [
                db.exec_driver_sql(f"SELECT * FROM {name} ORDER BY 1, 2").all()
                for name in ("lease", "shown", "task", "rater")
            ]
        assert campaign.rebuild()["leases"] == 3
        assert campaign.status() == before
        with campaign.reading() as db:
            assert tables == [
                db.exec_driver_sql(f"SELECT * FROM {name} ORDER BY 1, 2").all()
                for name in ("lease", "shown", "task", "rater")
            ]
        with pytest.raises(InputError, match="the campaign itself"):
            campaign.backup(tmp_path / "one" / "campaign.db")
    with opened(tmp_path / "two") as copy:
        assert copy.status() == before
        assert copy.next(links[1])["sent"] == [0]
