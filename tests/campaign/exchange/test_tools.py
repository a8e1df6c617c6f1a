"""What a campaign gathered as the files of other tools, read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.campaign.exchange.gathered import NOON, SCORES, SETTINGS, collected, rated, stored, tea

import assay
from assay.campaign.exchange.export import tables_of
from assay.campaign.exchange.tools import TOOLS, export_format
from assay.campaign.records import Answer, Collected, Span
from assay.errors import AssayError, InputError, OptionError
from assay.formats.catalogue import Options, load_format
from assay.project.settings import Scale, Settings

FILES = {
    "pearmut": "annotations.jsonl", "appraise": "results.csv", "label-studio": "tasks.json",
}  # fmt: skip
KEY = ["system", "doc", "seg", "rater"]


def genuine(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Scores with their places, of what was shown for itself."""
    for name in ("check", "repeat"):
        if name in frame.columns:
            frame = frame.filter(pl.col(name).is_null())
    return sorted(frame.drop_nulls("score").select(*KEY, "score", "seconds").rows())


@pytest.mark.parametrize("format", FILES)
def test_ratings_come_back_equal(format: str, tmp_path: Path) -> None:
    export_format(tea(), SETTINGS, tmp_path / "out", format)
    raw = load_format(tmp_path / "out" / FILES[format], format, "ratings")
    read = assay.read_ratings(raw.frame)
    frame = read.genuine.with_columns(pl.col("seconds").round(3))
    assert genuine(frame) == genuine(tables_of(tea())["ratings"])


@pytest.mark.parametrize("format", [*FILES, "google-mqm", "mt-metrics-eval"])
def test_marks_come_back_as_code_points(format: str, tmp_path: Path) -> None:
    given = tea()
    if format in ("google-mqm", "mt-metrics-eval"):  # a line is a line
        flat = SCORES.with_columns(pl.col("target").str.replace("\n", " "))
        given = replace(given, scores=flat)
    export_format(given, SETTINGS, tmp_path / "out", format)
    files = FILES | {"google-mqm": "errors.tsv", "mt-metrics-eval": ""}
    named = {
        "mt-metrics-eval": Options(lp="eng-deu", human_scores="esa"),
        "appraise": Options(lp="eng-deu"),
    }
    options = named.get(format)
    raw = load_format(tmp_path / "out" / files[format], format, "errors", options)
    marks = raw.frame.filter(pl.col("category") != "No-error")
    found = set(marks.select("system", "seg", "severity", "start", "end").rows())
    # Appraise keeps no texts by which its units could be told.
    units = [("A", "1", "minor", 7, 9), ("A", "1", "major", 9, 11)]
    points = [("A", "1", "minor", 7, 8), ("A", "1", "major", 9, 11)]
    assert found >= set(units if format == "appraise" else points)
    assert ("B", "3", "minor", 0, 3) in found


def test_pearmut_has_second_showings_apart(tmp_path: Path) -> None:
    made = export_format(tea(), SETTINGS, tmp_path / "out", "pearmut")
    assert made.tables == {"campaign.json": 6, "annotations.jsonl": 9}
    text = (tmp_path / "out" / "annotations.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    apart = [line for line in lines if str(line["item_i"]).startswith("random_")]
    assert [line["item"][0]["tgt"] for line in apart] == [
        {"A": "kaputt"}, {"B": "Warmer Tee im Haus"},
    ]  # fmt: skip
    assert lines[0]["actions"][-1]["time"] == NOON / 1000
    campaign = json.loads((tmp_path / "out" / "campaign.json").read_text("utf-8"))
    assert (campaign["campaign_id"], campaign["info"]["protocol"]) == ("tea", "ESA")
    assert (
        load_format(tmp_path / "out" / "campaign.json", "pearmut-campaign", "scores")
        .frame.select(SCORES.columns)
        .sort(SCORES.columns)
        .equals(SCORES.sort(SCORES.columns))
    )


def test_other_scales_are_pearmuts_sliders(tmp_path: Path) -> None:
    settings = Settings(name="x", protocol="sqm")
    given = collected(rated("A", "1", 4))
    export_format(given, settings, tmp_path / "out", "pearmut")
    campaign = json.loads((tmp_path / "out" / "campaign.json").read_text("utf-8"))
    assert campaign["info"]["sliders"] == [{"name": "score", "min": 0, "max": 6, "step": 1}]
    settings = Settings(name="x", protocol="mqm", categories=("Style/Awkward", "Style", "Other"))
    export_format(given, settings, tmp_path / "mqm", "pearmut")
    campaign = json.loads((tmp_path / "mqm" / "campaign.json").read_text("utf-8"))
    assert campaign["info"]["mqm_categories"] == {"Style": ["Awkward"], "Other": []}


def test_appraise_knows_broken_outputs_and_repeats(tmp_path: Path) -> None:
    export_format(tea(), SETTINGS, tmp_path / "out", "appraise")
    text = (tmp_path / "out" / "results.csv").read_text("utf-8")
    kinds = [line.split(",")[3] for line in text.splitlines()]
    assert kinds == ["TGT"] * 6 + ["BAD", "CHK"]
    assert "\n'=Ben,A,1" in text
    batches = load_format(tmp_path / "out" / "batches.json", "appraise-batches", "scores")
    assert batches.frame.height == 6


def test_mt_metrics_eval_has_means_and_a_file_for_second_raters(tmp_path: Path) -> None:
    flat = SCORES.with_columns(pl.col("target").str.replace("\n", " "))
    export_format(replace(tea(), scores=flat), SETTINGS, tmp_path / "out", "mt-metrics-eval")
    options = Options(lp="eng-deu", human_scores="esa")
    read = load_format(tmp_path / "out", "mt-metrics-eval", "ratings", options).frame
    scores = {(row["system"], row["seg"]): row["score"] for row in read.to_dicts()}
    assert (scores["A", "1"], scores["B", "1"], scores["A", "2"]) == (50, 60, 90)
    folder = tmp_path / "out" / "human-scores"
    second = (folder / "eng-deu.esa-2.seg.rating").read_text("utf-8").splitlines()
    assert second[0] == 'A\t{"errors": []}\t=Ben'


def test_judgments(tmp_path: Path) -> None:
    settings = replace(SETTINGS, protocol="ranking")
    order = Answer(ranks={"code-A": 2, "code-B": 1})
    screen = [stored("A", "1", order), stored("B", "1", order)]
    given = replace(collected(), answers=tuple(screen))
    for format, file in (("wmt-rnk", "judgments.csv"), ("label-studio", "tasks.json")):
        made = export_format(given, settings, tmp_path / format, format)
        raw = load_format(tmp_path / format / file, format, "judgments")
        judgments = assay.read_judgments(raw.frame).frame
        assert judgments.select("left", "right", "winner", "rater").rows() == [
            ("A", "B", "right", "Ada")
        ]
        assert made.rows == 1
    with pytest.raises(InputError, match="has no judgments yet"):
        export_format(collected(), settings, tmp_path / "none", "wmt-rnk")
    assert not (tmp_path / "none").exists()


def test_edits(tmp_path: Path) -> None:
    settings = replace(SETTINGS, protocol="post-edit")
    given = collected(stored("A", "2", Answer("code-A", 0, edited="Ja!")))
    export_format(given, settings, tmp_path / "out", "xliff")
    frame = assay.read_edits(load_format(tmp_path / "out" / "edits.xlf", "xliff", "edits").frame)
    assert frame.frame.select("mt", "edited", "editor").rows() == [("Ja.", "Ja!", "Ada")]


def test_only_what_was_drawn_and_of_one_pair(tmp_path: Path) -> None:
    world = assay.simulate(documents=6, systems=2, texts=True, rng=1)
    sample = assay.sample(world.test_set, budget="30%", rng=1)
    given = Collected((), (), (), world.test_set.frame, sample.frame)
    made = export_format(given, SETTINGS, tmp_path / "out", "pearmut")
    assert made.tables["campaign.json"] == 2 * len(sample.frame)
    pairs = SCORES.with_columns(lp=pl.Series(["en-de"] * 4 + ["en-cs"] * 2))
    with pytest.raises(OptionError, match="the campaign has en-de, en-cs; name one"):
        export_format(collected(scores=pairs), SETTINGS, tmp_path / "two", "pearmut")
    made = export_format(collected(scores=pairs), SETTINGS, tmp_path / "two", "pearmut", lp="en-cs")
    assert made.tables["campaign.json"] == 2


@pytest.mark.parametrize(
    ("protocol", "format", "fault"),
    [
        ("esa", "wmt-rnk", "holds judgments, not the answers to esa; choose from tables, mt-metr"),
        ("da", "google-mqm", "holds marked errors, not the answers to da; choose from tables, "),
        ("pairwise", "pearmut", "holds ratings on one scale, not .* choose from tables, label-stu"),
        ("post-edit", "appraise", "choose from tables, xliff$"),
        ("esa", "pearmot", "did you mean 'pearmut'"),
    ],
)
def test_a_format_that_does_not_fit(
    protocol: Any, format: str, fault: str, tmp_path: Path
) -> None:  # fmt: skip
    with pytest.raises(OptionError, match=fault):
        export_format(tea(), replace(SETTINGS, protocol=protocol), tmp_path / "out", format)
    assert not list(tmp_path.iterdir())


def test_several_scales_fit_no_tool() -> None:
    settings = Settings(protocol="scale", scales=(Scale("a"), Scale("b")))
    with pytest.raises(OptionError, match="to scale; choose from tables$"):
        export_format(tea(), settings, "nowhere", "pearmut")


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    for format in TOOLS:
        if format in ("wmt-rnk", "xliff"):
            continue
        (tmp_path / format).mkdir()
        (tmp_path / format / "old").touch()
        with pytest.raises(InputError, match="already exists; choose a new or empty folder"):
            export_format(tea(), SETTINGS, tmp_path / format, format)
    named = collected(scores=SCORES.with_columns(seg=pl.lit("s-") + pl.col("seg")))
    with pytest.raises(AssayError, match="'s-1' is not a whole number"):
        export_format(named, SETTINGS, tmp_path / "names", "appraise")
    with pytest.raises(AssayError, match="a line break cannot be written in this format"):
        export_format(tea(), SETTINGS, tmp_path / "names", "mt-metrics-eval")
    bare = replace(SETTINGS, screen=Settings().screen)
    with pytest.raises(OptionError, match=r"lp \(not given\) does not name two languages"):
        export_format(tea(), bare, tmp_path / "names", "appraise")
    assert not (tmp_path / "names").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_span_of_two_missing_words(tmp_path: Path) -> None:
    marks = [Span("target", place, place, "major", missing=True) for place in (0, 2)]
    given = collected(rated("A", "2", 50, *marks))
    export_format(given, SETTINGS, tmp_path / "out", "pearmut")
    raw = load_format(tmp_path / "out" / "annotations.jsonl", "pearmut", "errors")
    assert raw.frame["category"].to_list() == ["missing", "missing"]
