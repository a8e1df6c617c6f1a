"""The commands: readable tables, one JSON object, clear refusals."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Demo, Ran

import assay
from assay.cli.demo import FILES, MADE

Run = Callable[..., Ran]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A folder with scores, a sample and ratings."""
    world = assay.simulate(documents=12, systems=3, rng=5)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    drawn.write(tmp_path / "sample.tsv")
    world.rate(drawn).write(tmp_path / "ratings.tsv")
    return tmp_path


def test_sample_estimate_report(run_assay: Run, campaign: Path) -> None:
    ran = run_assay(
        "sample", campaign / "scores.tsv", "--budget", "40%", "--seed", 1,
        "-o", campaign / "again.tsv", "--json",
    )  # fmt: skip
    assert ran.code == 0
    summary = json.loads(ran.out)
    assert summary["kind"] == "sample"
    assert summary["seed"] == 1
    assert (campaign / "again.tsv").read_bytes() == (campaign / "sample.tsv").read_bytes()
    ran = run_assay(
        "estimate", campaign / "scores.tsv", campaign / "ratings.tsv", "--sample",
        campaign / "sample.tsv", "--better", "lower", "--range", "0,25", "-o",
        campaign / "estimates.json", "--json",
    )  # fmt: skip
    assert ran.code == 0
    result = json.loads(ran.out)
    assert result == json.loads((campaign / "estimates.json").read_text())
    assert len(result["systems"]) == 3
    assert len(result["differences"]) == 3
    ran = run_assay("report", campaign / "estimates.json", "-o", campaign / "r.html", "--json")
    assert json.loads(ran.out)["written"] == [str(campaign / "r.html")]


def test_tables_for_people(run_assay: Run, campaign: Path) -> None:
    ran = run_assay("sample", campaign / "scores.tsv", "--budget", 10, "--seed", 1)
    assert " of 127 segments were drawn (rounds)" in ran.out
    assert "not saved" in ran.err
    ran = run_assay(
        "estimate", campaign / "scores.tsv", campaign / "ratings.tsv", "--sample",
        campaign / "sample.tsv", "--better", "lower", "-o", campaign / "e.json",
    )  # fmt: skip
    assert "system-1" in ran.out
    assert "signature: rounds|regression|" in ran.out
    assert "written to" in run_assay("report", campaign / "e.json", "-o", campaign / "r.html").out
    ran = run_assay("check", campaign / "scores.tsv", "--kind", "scores")
    assert "a valid scores table" in ran.out
    assert "metrics: " in ran.out


def test_demo(run_assay: Run, demo: Demo) -> None:
    folder = demo.folder
    assert "saved: " in demo.out
    assert "report: " in demo.out
    names = {path.name for path in folder.iterdir()}
    assert names == {*FILES, MADE}
    # What the demo wrote can be used as a user would.
    ran = run_assay(
        "estimate", folder / "scores.tsv", folder / "ratings.tsv", "--sample",
        folder / "sample.tsv", "--better", "lower", "--json",
    )  # fmt: skip
    assert json.loads(ran.out)["systems"] == json.loads(
        (folder / "estimates.json").read_text()
    )["systems"]  # fmt: skip
    ran = run_assay("effort", folder / "edits.tsv", "--human", "human", "--json")
    saved = json.loads((folder / "effort.json").read_text())
    assert saved["kind"] == "effort"
    assert json.loads(ran.out)["documents"] == saved["documents"]


def test_convert_between_file_types(run_assay: Run, campaign: Path) -> None:
    ran = run_assay(
        "convert", campaign / "ratings.tsv", campaign / "ratings.xlsx", "--from", "ratings", "--to",
        "ratings", "--json",
    )  # fmt: skip
    result = json.loads(ran.out)
    assert result["rows"] == len(assay.read_ratings(campaign / "ratings.xlsx"))
    assert result["written"] == [str(campaign / "ratings.xlsx")]


def test_convert_errors_to_ratings(run_assay: Run, tmp_path: Path) -> None:
    world = assay.simulate(documents=5, systems=2, rng=2, texts=True)
    world.mark().write(tmp_path / "errors.tsv")
    ran = run_assay(
        "convert", tmp_path / "errors.tsv", tmp_path / "ratings.tsv", "--from", "errors", "--to",
        "ratings",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    key = ["system", "doc", "seg", "rater"]
    left = assay.read_ratings(tmp_path / "ratings.tsv").frame.sort(key)
    right = world.rate().frame.sort(key)
    assert left["score"].round(6).to_list() == right["score"].round(6).to_list()


def test_convert_errors_with_a_severity_nobody_weighs(run_assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    path.write_text("system\tseg\tcategory\tseverity\nA\t1\tStyle\thuge\n")
    target = tmp_path / "ratings.tsv"
    ran = run_assay("convert", path, target, "--from", "errors", "--to", "ratings")
    assert ran.code == 2
    assert "severity 'huge' has no weight" in ran.err
    assert not target.exists()
    ran = run_assay(
        "convert", path, target, "--from", "errors", "--to", "ratings", "--weights", "huge=9"
    )
    assert ran.code == 0
    assert assay.read_ratings(target).frame["score"].to_list() == [9.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", "scores.tsv", "--budget", "9999"], "exceeds the"),
        (["sample", "scores.tsv", "--budget", "10", "--design", "x"], "is not known"),
        (["sample", "scores.tsv", "--budget", "10", "--seed", "-1"], "is not a seed"),
        (["sample", "scores.tsv", "--budget", "10", "-o", "no/x.tsv"], "does not exist"),
        (["sample", "scores.tsv"], "--budget"),
        (["sample", "scores.tsv", "--budget", "10", "-o", "x.tsv", "--figure", "x.gif"], ".svg"),
        (["stability", "scores.tsv", "--budget", "10", "--metric", "neural", "-o", "x.json",
          "--figure", "x.gif"], ".svg"),
        (["sample", "scores.tsv", "--budget", "10", "--colour"], "--colour"),
        (["estimate", "scores.tsv", "ratings.tsv"], "no sample says how"),
        (["estimate", "scores.tsv", "ratings.tsv", "--sample", "scores.tsv"], "'design' is"),
        (["estimate", "scores.tsv", "ratings.tsv", "--better", "up"], "--better"),
        (["estimate", "scores.tsv", "ratings.tsv", "--columns", "sgm=x"], "one of Assay's columns"),
        (["estimate", "scores.tsv", "ratings.tsv", "--columns", "seg"], "is not a pair"),
        (["estimate", "scores.tsv", "ratings.tsv", "--range", "0-25"], "is not a range"),
        (["estimate", "scores.tsv", "ratings.tsv", "--exclude", "nobody"], "is not in the scores"),
        (["check", "scores.tsv", "--kind", "poem"], "is not known"),
        (["check", "scores.tsv", "--kind", "scores", "--format", "poem"], "is not known"),
        (["check", "scores.tsv", "--kind", "edits", "--format", "google-mqm"], "cannot be read"),
        (["convert", "scores.tsv", "x.tsv", "--from", "scores", "--to", "poem"], "is not known"),
        (["convert", "scores.tsv", "x.tsv", "--from", "scores", "--to", "edits"], "cannot be"),
        (["convert", "scores.tsv", "x", "--from", "pearmut-campaign", "--to", "scores"], "JSON"),
        (["convert", "ratings.tsv", "x.tsv", "--from", "ratings", "--to", "ratings",
          "--sample", "sample.tsv"], "applies to scores only"),
        (["convert", "errors.tsv", "x.tsv", "--from", "errors", "--to", "ratings",
          "--weights", "major=x"], "is not a weight"),
        (["report", "scores.tsv"], "is not a saved result"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_exit_code_2(
    arguments: list[str],
    message: str,
    run_assay: Run,
    campaign: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(campaign)
    before = sorted(path.name for path in campaign.iterdir())
    code, out, err = run_assay(*arguments)
    assert code == 2, (out, err)
    assert message in err
    assert out == ""
    assert "Traceback" not in err
    assert sorted(path.name for path in campaign.iterdir()) == before


def test_columns_option_reaches_both_tables(run_assay: Run, campaign: Path) -> None:
    for name in ("scores", "ratings"):
        path = campaign / f"{name}.tsv"
        path.write_text(
            path.read_text().replace("\tseg\t", "\tseg_id\t", 1).replace("score", "mqm", 1)
        )
    ran = run_assay(
        "estimate", campaign / "scores.tsv", campaign / "ratings.tsv", "--sample",
        campaign / "sample.tsv", "--columns", "seg=seg_id,score=mqm", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err


def test_scores_restricted_to_a_sample(run_assay: Run, campaign: Path) -> None:
    ran = run_assay(
        "convert", campaign / "scores.tsv", campaign / "part.tsv", "--from", "scores", "--to",
        "scores", "--sample", campaign / "sample.tsv",
    )  # fmt: skip
    assert ran.code == 0
    part = assay.read_scores(campaign / "part.tsv")
    assert part.segments.height == len(assay.read_sample(campaign / "sample.tsv"))


def test_progress_is_silent_when_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from assay.cli.running import track

    assert list(track(iter([1, 2]), 2, "working")) == [1, 2]
    assert capsys.readouterr().err == ""


def test_progress_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from assay.cli.running import track

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    items = []
    for item in track(iter([1, 2]), 2, "working"):
        items.append(item)
        time.sleep(0.05)
    assert items == [1, 2]
    assert "working" in terminal.getvalue()


def test_a_report_names_the_bad_file_and_writes_nothing(
    run_assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good, cut = tmp_path / "good.json", tmp_path / "cut.json"
    plan = assay.plan_ratings(population=500, half_width=0.1, sd=1.0).to_dict()
    good.write_text(json.dumps(plan), "utf-8")
    cut.write_text(json.dumps({key: plan[key] for key in ("kind", "version")}), "utf-8")
    for arguments, said in (
        (("good.json", "cut.json"), "cut.json: the saved result has no"),
        (("good.json", "-o", "x.docx"), "--output (x.docx) is not a kind of report"),
        (("good.json", "--parts", "cut.json"), "no folder can be made there"),
    ):
        ran = run_assay("report", *arguments)
        assert ran.code == 2, ran.out
        assert said in ran.err
        assert {path.name for path in tmp_path.iterdir()} == {"good.json", "cut.json"}


def test_no_command_writes_over_what_it_reads(
    run_assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=10, systems=2, rng=1)
    world.test_set.write("scores.tsv")
    drawn = assay.sample(world.test_set, budget="30%", rng=1)
    drawn.write("sample.tsv")
    world.rate(drawn).write("ratings.tsv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for words in (
        "check ratings.tsv --kind ratings -o ratings.tsv",
        "convert scores.tsv out.csv --from scores --to scores -o scores.tsv",
        "convert scores.tsv sample.tsv --from scores --to ratings --sample sample.tsv",
        "sample scores.tsv --budget 30% --history ratings.tsv -o ratings.tsv",
        "sample scores.tsv --budget 50% --top-up sample.tsv -o sample.tsv",
        "estimate scores.tsv ratings.tsv --sample sample.tsv -o sample.tsv",
    ):
        ran = run_assay(*words.split())
        assert ran.code == 2, words
        assert "is an input file" in ran.err, words
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_demo_as_json_can_be_reported_and_what_report_prints_cannot(
    run_assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run_assay("demo", "-o", "demo", "--json").out
    result = json.loads(printed)
    assert result["kind"] == "estimates"
    assert Path(result["report"]).is_file()
    assert len(result["systems"]) == len(result["truth"])
    Path("demo.json").write_text(printed, "utf-8")
    again = run_assay("report", "demo.json", "-o", "again.html", "--json")
    assert again.code == 0, again.err
    Path("written.json").write_text(again.out, "utf-8")
    refused = run_assay("report", "written.json")
    assert refused.code == 2
    assert "kind 'report' has no section" in refused.err
