"""Commands in a project: what nobody says comes from there, and what is written is found again."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test set with texts, and judgments of it, in a project."""
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=12, systems=3, texts=True, rng=1)
    world.test_set.write("scores.tsv")
    world.judge(300, per_set=3, rng=1).write("judgments.tsv")
    Path("assay.toml").write_text(
        'name = "small"  # mine\nprotocol = "da"\nscores = "scores.tsv"\n', encoding="utf-8"
    )
    return tmp_path


def said() -> dict[str, object]:
    return tomllib.loads(Path("assay.toml").read_text("utf-8"))


def rate(name: str) -> str:
    """A sheet as a rater sends it back."""
    Path("answers").mkdir(exist_ok=True)
    sheet = pl.read_csv(f"sheets/{name}.csv", infer_schema=False)
    points = 40 + pl.col("output").str.len_chars() % 50
    filled = sheet.with_columns(score=pl.when(pl.col("code") != "(context)").then(points))
    filled.write_csv(f"answers/{name}.csv")
    return f"answers/{name}.csv"


def done(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


def test_from_a_sample_to_a_report(project: Path, run_assay: Run) -> None:
    ran = done(run_assay("sample", "--budget", "40%", "--seed", "1"))
    assert "from assay.toml: scores.tsv" in ran.err
    assert said()["sample"] == {"file": "sample.tsv"}
    done(run_assay("collect", "--sheets", "csv", "--raters", "Ada,Ben"))
    assert said()["key"] == "sheets-key.tsv"
    done(run_assay("collect", rate("Ada")))
    one = pl.read_csv("ratings.tsv", separator="\t").height
    done(run_assay("collect", rate("Ben")))
    assert pl.read_csv("ratings.tsv", separator="\t").height > one
    assert said()["ratings"] == ["ratings.tsv"]
    assert said()["returned"] == ["answers/Ben.csv", "answers/Ada.csv"]
    ran = done(run_assay("estimate", "--json"))
    assert "scores.tsv ratings.tsv --sample sample.tsv" in ran.err
    files = ("scores.tsv", "ratings.tsv", "--sample", "sample.tsv")
    own = json.loads(run_assay("estimate", *files, "--json").out)
    assert json.loads(ran.out)["systems"] == own["systems"]
    for command in ("raters", "rank", "audit"):
        done(run_assay(command))
    done(run_assay("report"))
    assert Path("report.html").is_file()
    assert {path.stem for path in Path("results").iterdir()} == {
        "sample", "estimates", "raters", "ranking", "audit",
    }  # fmt: skip
    assert Path("assay.toml").read_text("utf-8").startswith('name = "small"  # mine\n')


def test_shares_come_from_the_project(project: Path, run_assay: Run) -> None:
    with Path("assay.toml").open("a", encoding="utf-8") as file:
        file.write('raters = { overlap = "20%" }\nchecks = { share = "10%", repeats = "5%" }\n')
    ran = done(run_assay("sample", "--budget", "40%", "--seed", "1"))
    assert "--overlap 0.2" in ran.err
    done(run_assay("collect", "--sheets", "csv", "--raters", "Ada,Ben", "--seed", "1"))
    key = pl.read_csv("sheets-key.tsv", separator="\t", infer_schema=False)
    assert {"overlap", "repeat"} <= {*key["reason"]}
    assert "spoiled" in {*key["check"]}


def test_a_report_makes_what_is_missing_or_old(project: Path, run_assay: Run) -> None:
    with Path("assay.toml").open("a", encoding="utf-8") as file:
        file.write('judgments = "judgments.tsv"\n')
    ran = done(run_assay("report"))
    assert "assay rank: run again" in ran.err
    assert "run again" not in done(run_assay("report")).err
    Path("judgments.tsv").touch()
    assert "run again" in done(run_assay("report")).err


def test_from_a_folder_below(
    project: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("below").mkdir()
    monkeypatch.chdir("below")
    done(run_assay("sample", "--budget", "10%"))
    assert (project / "sample.tsv").is_file()
    assert (project / "results" / "sample.json").is_file()


def test_what_is_said_wins(project: Path, run_assay: Run) -> None:
    Path("assay.toml").write_text(
        'scores = "scores.tsv"\nsample = { budget = "10%", design = "SL", seed = 3 }\n', "utf-8"
    )
    assert json.loads(done(run_assay("sample", "--json")).out)["seed"] == 3
    ran = done(run_assay("sample", "--budget", "20%", "-o", "mine.tsv", "--json"))
    found = json.loads(ran.out)
    assert found["n"] == pytest.approx(0.2 * found["population"], abs=1)
    assert said()["sample"]["file"] == "mine.tsv"  # type: ignore[index]
    assert "--budget" not in ran.err


def test_files_that_are_named_are_not_the_projects(project: Path, run_assay: Run) -> None:
    done(run_assay("sample", "--budget", "40%"))
    pl.DataFrame(
        {"system": ["A", "A", "B", "B"], "seg": [1, 2, 1, 2], "score": [70, 71, 50, 55]}
    ).write_csv("other.csv")
    ran = done(run_assay("rank", "other.csv", "--json"))
    assert "sample.tsv" not in ran.err
    assert {item["system"] for item in json.loads(ran.out)["systems"]} == {"A", "B"}


def test_what_is_missing_has_a_remedy(project: Path, run_assay: Run) -> None:
    for command, what in (
        ("estimate", "names no ratings; `assay collect FILES` reads"),
        ("effort", "names no edits"),
        ("next-set", "names no judgments"),
        ("report", "no answers yet"),
        ("collect", "say what to do: --sheets xlsx writes a sheet for each rater"),
    ):
        ran = run_assay(command)
        assert ran.code == 2
        assert what in ran.err


def test_a_sample_that_raters_began_with_is_kept(project: Path, run_assay: Run) -> None:
    done(run_assay("sample", "--budget", "20%"))
    done(run_assay("sample", "--budget", "20%"))  # nobody has seen it
    done(run_assay("collect", "--sheets", "csv", "--raters", "2"))
    ran = run_assay("sample", "--budget", "30%")
    assert ran.code == 2
    assert "raters have begun with it; enlarge it with --top-up sample.tsv" in ran.err
    done(run_assay("sample", "--budget", "30%", "--top-up", "sample.tsv"))
    assert said()["sample"] == {"file": "sample-2.tsv"}


def test_a_faulty_project_is_said_at_once(project: Path, run_assay: Run) -> None:
    Path("assay.toml").write_text("protocl = 'da'\nname = 3\n", "utf-8")
    ran = run_assay("sample", "--budget", "10%", "--json")
    assert ran.code == 2
    assert "protocl is not a setting (did you mean 'protocol'?)" in ran.err
    assert len(json.loads(ran.out)["problems"]) == 2
    assert run_assay("sample", "--help").code == 0


def test_column_names_of_the_project(project: Path, run_assay: Run) -> None:
    ratings = assay.simulate(documents=12, systems=3, texts=True, rng=1).rate()
    ratings.frame.rename({"score": "points", "rater": "who"}).write_csv("theirs.csv")
    Path("assay.toml").write_text(
        'scores = "scores.tsv"\nratings = "theirs.csv"\nbetter = "lower"\n'
        'columns = { score = "points", rater = "who", words = "nobody_has_this" }\n',
        encoding="utf-8",
    )
    ran = done(run_assay("estimate", "--json"))
    assert "--columns score=points,rater=who" in ran.err


def test_patterns_are_expanded_here(project: Path, run_assay: Run) -> None:
    ratings = assay.simulate(documents=12, systems=3, texts=True, rng=1).rate().frame
    for number, part in enumerate(ratings.partition_by("rater")):
        part.write_csv(f"r{number}.csv")
    Path("assay.toml").write_text('scores = "scores.tsv"\nratings = "r?.csv"\n', "utf-8")
    assert len(json.loads(done(run_assay("raters", "--json")).out)["raters"]) == 3
    ran = done(run_assay("raters", "scores.tsv", "r*.csv", "--json"))
    assert len(json.loads(ran.out)["raters"]) == 3


def test_a_reader_that_leaves_loses_nothing(project: Path, run_assay: Run) -> None:
    """`assay sample | head -1` has written a sample, so the project knows it."""
    for words in ("sample --budget 40% --seed 1", "collect --sheets csv --raters Ada,Ben --seed 1"):
        command = f"{sys.executable} -m assay {words} | head -1"
        subprocess.run(command, shell=True, check=True, capture_output=True, timeout=100)
    assert said()["sample"]["file"] == "sample.tsv"  # type: ignore[index]
    assert said()["key"] == "sheets-key.tsv"


class TestSystemsLeftOut:
    """`exclude`: a reference that is also a system, say."""

    def make(self, run_assay: Run, *columns: tuple[str, str]) -> None:
        world = assay.simulate(documents=12, systems=3, texts=True, rng=1)
        names = dict(columns)
        world.test_set.frame.rename(names).write_csv("scores.csv")
        world.rate().frame.rename(names).write_csv("ratings.csv")
        out = world.test_set.systems[0]
        done(run_assay("new", "made", "--from", "scores.csv", "ratings.csv", "--exclude", out,
                       "--protocol", "da", "--raters", "Ada,Ben"))  # fmt: skip

    @pytest.mark.parametrize("columns", [(), (("system", "Model"),)], ids=["ours", "foreign"])
    def test_every_command_of_the_project_leaves_them_out(
        self, run_assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        columns: tuple[tuple[str, str], ...],
    ) -> None:  # fmt: skip
        monkeypatch.chdir(tmp_path)
        self.make(run_assay, *columns)
        monkeypatch.chdir("made")
        (out,) = said()["exclude"]  # type: ignore[misc]
        for words in (
            ("status",), ("plan", "--budget", "100 ratings"), ("sample", "--seed", 1),
            ("estimate",), ("rank", "--seed", 1), ("raters",), ("audit",), ("report",),
            ("collect", "--sheets", "csv", "--raters", "Ada,Ben"),
        ):  # fmt: skip
            ran = done(run_assay(*words))
            shown = "\n".join(line for line in ran.out.splitlines() if "left out" not in line)
            assert out not in shown, words
        key = pl.read_csv("sheets-key.tsv", separator="\t")
        assert key["system"].drop_nulls().n_unique() == 2
        done(run_assay("campaign", "check", "assay.toml"))

    def test_answers_that_never_had_them_are_ranked(self, project: Path, run_assay: Run) -> None:
        out, *rest = assay.read_scores("scores.tsv").systems
        with Path("assay.toml").open("a", encoding="utf-8") as file:
            file.write(f'exclude = ["{out}"]\n')
        done(run_assay("sample", "--budget", "40%", "--seed", "1"))
        done(run_assay("collect", "--sheets", "csv", "--raters", "Ada,Ben"))
        done(run_assay("collect", rate("Ada"), rate("Ben")))
        ranked = json.loads(done(run_assay("rank", "--json", "--seed", "1")).out)
        assert {one["system"] for one in ranked["systems"]} == {*rest}

    def test_a_name_that_no_table_has_is_refused(self, project: Path, run_assay: Run) -> None:
        with Path("assay.toml").open("a", encoding="utf-8") as file:
            file.write('exclude = ["nobody"]\n')
        ran = run_assay("sample", "--budget", "40%")
        assert ran.code == 2
        assert "nobody" in ran.err
