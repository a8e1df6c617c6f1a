from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay
from assay.campaign.exchange.export import export_tables, project_text, tables_of
from assay.campaign.protocols import make_protocol
from assay.campaign.records import Answer, Collected, Span, Stored, Timing
from assay.collecting.results import Exported
from assay.errors import InputError, OptionError
from assay.project.reader import parse_settings
from assay.project.settings import Pay, Scale, Settings, Stop, better_of

SCORES = pl.DataFrame({
    "system": ["A", "B", "A", "B"], "doc": ["d"] * 4, "seg": ["1", "1", "2", "2"],
    "target": ["Ein Haus.", "Haus.", "Ja.", "Ja."],
})  # fmt: skip


def stored(system: str, seg: str, answer: Answer, **change: Any) -> Stored:
    plain = Stored(
        number=1, answer=answer, rater="Ada", excluded=False, lp=None, doc="d", seg=seg,
        system=system, code=f"code-{system}", label=system, column="AB".index(system),
        source="Quelle", text="Ein Haus.", text_hash="ff", kind="rate", spoiled=False, passed=None,
        task=7, order=1, reason="order", snippet="0", stratum=None, probability=0.5, block=None,
        block_probability=None, lease="L", screen=0, revision=1, late=False, opened=0,
        received=90_000, timing=Timing(active_ms=60_000), instructions="aa", version="0.2.0",
    )  # fmt: skip
    return replace(plain, **change)


def rated(system: str, seg: str, score: float, **change: Any) -> Stored:
    return stored(system, seg, Answer(f"code-{system}", 0, {"score": score}), **change)


def collected(*answers: Stored) -> Collected:
    numbered = [replace(item, number=place) for place, item in enumerate(answers)]
    raters = ({"rater": "Ada", "state": "active", "tasks": 2, "note": None},)
    events = ({"at": 1000, "actor": "owner", "kind": "opened", "subject": "", "body": {"a": 1}},)
    return Collected(tuple(numbered), raters, events, SCORES)


def test_ratings_checks_and_repeats(tmp_path: Path) -> None:
    found = export_tables(collected(
        rated("A", "1", 80), rated("B", "1", 60), rated("A", "2", 90), rated("B", "2", 70),
        rated("B", "1", 50, kind="repeat", lease="M"),
        rated("A", "1", 10, kind="check", spoiled=True, lease="N"),
        rated("A", "1", 1, kind="tutorial", lease="O"),
        rated("A", "1", 2, rater="Ben", excluded=True, lease="P"),
        stored("A", "2", Answer("code-A", 0, skipped="broken text"), rater="Eva", lease="Q"),
    ), tmp_path)  # fmt: skip
    assert [Path(name).name for name in found.written] == [
        "ratings.tsv", "scores.tsv", "raters.tsv", "events.tsv",
    ]  # fmt: skip
    assert found.rows == sum(found.tables.values())
    assert Exported.from_dict(found.to_dict()) == found
    test_set = assay.read_scores(tmp_path / "scores.tsv")
    ratings = assay.read_ratings(tmp_path / "ratings.tsv", test_set)
    assert ratings.genuine.height == 5
    assert ratings.unrated == 1
    assert ratings.genuine["score"].drop_nulls().to_list() == [80, 60, 90, 70]
    assert ratings.genuine["seconds"].to_list()[:4] == [15.0] * 4
    assert ratings.controls["score"].to_list() == [10]
    assert ratings.genuine_repeats["score"].to_list() == [50]
    estimates = assay.estimate(test_set, ratings)
    assert {row.system: row.estimate for row in estimates.systems} == {"A": 85, "B": 65}
    ada = assay.rater_report(test_set, ratings).raters[0]
    assert (ada.rater, ada.checks, ada.passed, ada.repeats, ada.self_difference) == (
        "Ada", 1, 1, 1, 10,
    )  # fmt: skip
    assert pl.read_csv(tmp_path / "events.tsv", separator="\t")["body"].to_list() == ['{"a": 1}']


def test_several_scales_are_several_files() -> None:
    both = Answer("code-A", 0, {"fluency": 3, "adequacy": 4})
    tables = tables_of(collected(stored("A", "1", both)))
    assert list(tables)[:2] == ["ratings-fluency", "ratings-adequacy"]
    assert tables["ratings-adequacy"]["score"].to_list() == [4]


def test_one_answer_counts_for_all_systems_with_that_output() -> None:
    one = Answer("code-A", 0, {"score": 70})
    shared = [stored("A", "2", one), stored("B", "2", one, code="code-A", column=0)]
    frame = tables_of(replace(collected(), answers=tuple(shared)))["ratings"]
    assert frame.select("system", "score", "seconds").rows() == [("A", 70, 60.0), ("B", 70, 60.0)]


def test_errors_with_and_without_a_mark(tmp_path: Path) -> None:
    spans = (
        Span("target", 0, 3, "minor"),
        Span("source", 4, 4, "major", "Accuracy/Omission", None, True),
    )  # fmt: skip
    marked = Answer("code-A", 0, {"score": 6}, spans)
    clean = Answer("code-B", 0, {"score": 0}, no_error=True)
    export_tables(collected(
        stored("A", "1", marked), stored("B", "1", clean), rated("B", "2", 3),
        stored("A", "2", marked, kind="check", spoiled=True),
    ), tmp_path, tables=["errors"], ending=".csv")  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["errors.csv"]
    errors = assay.read_errors(tmp_path / "errors.csv", assay.read_scores(SCORES)).frame
    names = ["system", "seg", "category", "severity", "side", "start", "end"]
    assert errors.select(names).rows() == [
        ("A", "1", "unspecified", "minor", "target", 0, 3),
        ("A", "1", "Accuracy/Omission", "major", "source", 4, 4),
        ("B", "1", "No-error", "No-error", None, None, None),
    ]


def test_a_comparison_becomes_pairs(tmp_path: Path) -> None:
    order = Answer(ranks={"x": 2, "y": 1})
    first = [
        stored("A", "1", order, code="x", column=1), stored("B", "1", order, code="y", column=0),
    ]  # fmt: skip
    other = replace(first[0], system="C", seg="1")  # the same text as A's, under one code
    better = Answer(winner="y", strength=2, reason="closer")
    pair = [replace(item, answer=better, number=2, seg="2") for item in first]
    tie = [replace(item, answer=Answer(winner="tie"), number=3, seg="3") for item in first]
    answers = tuple(replace(item, number=item.number) for item in (*first, other, *pair, *tie))
    export_tables(replace(collected(), answers=answers), tmp_path, tables=["judgments"])
    judgments = assay.read_judgments(tmp_path / "judgments.tsv").frame
    assert judgments.select("left", "right", "winner", "set").rows() == [
        ("B", "A", "left", "1"), ("B", "C", "left", "1"), ("A", "C", "tie", "1"),
        ("B", "A", "left", "2"), ("B", "A", "tie", "3"),
    ]  # fmt: skip


def test_edits_have_the_columns_of_divemt(tmp_path: Path) -> None:
    work = Answer(
        "code-A", 0, edited="Das Haus.", keys={"letter": 4, "undo": 1},
        pauses={"n_300": 2, "ms_300": 1500},
        sessions=({"active_ms": 4000, "idle_ms": 61_000}, {"active_ms": 1500}),
    )  # fmt: skip
    export_tables(collected(stored("A", "1", work)), tmp_path, tables=["edits"])
    frame = assay.read_edits(tmp_path / "edits.tsv").frame
    (row,) = frame.to_dicts()
    assert (row["mt"], row["edited"], row["seconds"], row["position"]) == (
        "Ein Haus.", "Das Haus.", 5.5, 1,
    )  # fmt: skip
    assert {name: float(row[name]) for name in ("k_letter", "k_do", "k_total", "idle_seconds")} == {
        "k_letter": 4, "k_do": 1, "k_total": 5, "idle_seconds": 61,
    }  # fmt: skip
    assert float(row["len_pause_geq_300"]) == 1.5
    plain = tables_of(collected(stored("A", "1", Answer("code-A", 0, edited="Das Haus."))))
    assert plain["edits"]["seconds"].item() > 0, "of the screen, where no sessions were sent"


def test_a_sample_comes_back_as_it_was(tmp_path: Path) -> None:
    world = assay.simulate(documents=10, rng=1)
    sample = assay.sample(world.test_set, budget="30%", rng=1)
    given = Collected((), (), (), world.test_set.frame, sample.frame)
    export_tables(given, tmp_path)
    test_set = assay.read_scores(tmp_path / "scores.tsv")
    again = assay.read_sample(tmp_path / "sample.tsv", test_set)
    assert again.frame.equals(sample.frame)


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".xlsx", ".parquet", ".jsonl"])
def test_formulas_are_text_and_come_back(ending: str, tmp_path: Path) -> None:
    text = '=HYPERLINK("http://x";"y")'
    answer = Answer("code-A", 0, {"score": 5}, comment=text)
    export_tables(collected(stored("A", "1", answer)), tmp_path, ending=ending)
    read = assay.read_ratings(tmp_path / f"ratings{ending}")
    assert read.frame["comment"].to_list() == [text]
    if ending in (".tsv", ".csv"):
        assert "\n=" not in (tmp_path / f"ratings{ending}").read_text().replace("\t", "\n")


def test_what_is_not_there_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no edits yet"):
        export_tables(collected(rated("A", "1", 3)), tmp_path / "new", tables=["edits"])
    with pytest.raises(OptionError, match=r"tables \(rating\).*did you mean 'ratings'"):
        export_tables(collected(), tmp_path / "new", tables=["rating"])
    with pytest.raises(OptionError, match=r"ending \(\.doc\)"):
        export_tables(collected(), tmp_path / "new", ending=".doc")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("settings", [
    Settings(protocol="da"), Settings(protocol="mqm", name="Größe \"1\""),
    Settings(protocol="pairwise"), Settings(protocol="post-edit", pay=Pay(per_hour=30.0)),
    Settings(protocol="scale", scales=(Scale("fluency", 1, 4), Scale("adequacy", 1, 4))),
    Settings(protocol="sqm", metrics=("a", "b"), lower_metrics=("b",), stop=Stop(level=0.9)),
], ids=lambda settings: str(settings.protocol))  # fmt: skip
def test_the_project_beside_the_tables_is_one(settings: Settings) -> None:
    files = ("ratings-fluency", "ratings-adequacy", "judgments", "edits", "scores", "sample")
    if settings.protocol != "scale":
        files = ("ratings", *files[2:])
    read = parse_settings(project_text(settings, {name: f"{name}.tsv" for name in files}))
    protocol = make_protocol(settings)
    assert read.name == settings.name
    (answers,) = getattr(read, protocol.kind)
    assert answers == next(f"{name}.tsv" for name in files if name.startswith(protocol.kind))
    assert read.stop.level == settings.stop.level
    assert (read.metrics, read.lower_metrics) == (settings.metrics, settings.lower_metrics)
    if protocol.kind == "ratings":
        assert (better_of(read), read.range) == (protocol.better, protocol.range)
