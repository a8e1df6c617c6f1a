"""Plans and tables that are wrong: every fault with its place, its value and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]

SCORES = """system\tdoc\tseg\tsource\ttarget\tmetric
A\td\t1\tEins.\tOne.\t0.5
B\td\t1\tEins.\tAn one.\t0.4
A\td\t2\tZwei.\tTwo.\t0.7
B\td\t2\tZwei.\tToo.\t0.2
"""
GOOD = 'protocol = "esa"\nscores = "scores.tsv"\n'

BROKEN: dict[str, tuple[str, dict[str, str | bytes], str, str]] = {
    "no-protocol": ('scores = "scores.tsv"', {}, "protocol", "is missing; choose one"),
    "no-scores": ('protocol = "esa"', {}, "scores", "is missing; name the table"),
    "unknown-key": (GOOD + "protocl = 1", {}, "protocl", "did you mean 'protocol'"),
    "unknown-table": (GOOD + "[rater]\nnumber = 2", {}, "rater", "did you mean 'raters'"),
    "unknown-key-inside": (GOOD + "raters = { nubmer = 2 }", {}, "raters.nubmer", "number"),
    "unknown-protocol": ('protocol = "esaa"', {}, "protocol", "did you mean 'esa'"),
    "not-toml": ("protocol = esa", {}, "", "is not TOML"),
    "text-for-number": (GOOD + 'raters = { number = "two" }', {}, "raters.number", "whole number"),
    "number-for-text": (GOOD + "name = 3", {}, "name", "write it in quotes"),
    "no-raters": (GOOD + "raters = { number = 0 }", {}, "raters.number", "out of range"),
    "nine-outputs": (GOOD + "screen = { outputs = 9 }", {}, "screen.outputs", "from 1 to 8"),
    "odd-share": (GOOD + 'checks = { share = "many" }', {}, "checks.share", "write one such as"),
    "odd-language": (GOOD + 'screen = { languages = ["de"] }', {}, "screen.languages", "give 2"),
    "names-twice": (GOOD + 'raters = { names = ["x", "x"] }', {}, "raters.names", "name each once"),
    "too-many-per-task": (
        GOOD + "raters = { number = 2, per_task = 3 }", {}, "raters.per_task", "fewer",
    ),
    "empty-scale": (
        'protocol = "scale"\nscores = "scores.tsv"\nscales = [{ low = 5, high = 1 }]', {},
        "scales[0].low", "swap them",
    ),
    "weights-without-marks": (
        'protocol = "da"\nscores = "scores.tsv"\nweights = { Major = 5 }', {}, "weights",
        "leave it out",
    ),
    "unknown-weight": (
        'protocol = "mqm"\nscores = "scores.tsv"\nweights = { Majr = 5 }', {}, "weights",
        "did you mean 'Major'",
    ),
    "checks-without-scores": (
        'protocol = "ranking"\nscores = "scores.tsv"\nchecks = { repeats = "5%" }', {},
        "checks.repeats", "leave it out",
    ),
    "score-without-target": (GOOD + 'stop = { goal = "score" }', {}, "stop.goal", "stop.target"),
    "two-prices": (GOOD + "pay = { per_task = 1, per_hour = 9 }", {}, "pay.per_hour", "keep one"),
    "scores-not-there": (
        'protocol = "esa"\nscores = "score.tsv"', {}, "scores", "did you mean 'scores.tsv'",
    ),
    "no-seg": (GOOD, {"scores.tsv": "system\ttarget\nA\tx\n"}, "scores: scores.tsv", "seg"),
    "no-targets": (
        GOOD, {"scores.tsv": SCORES.replace("target", "hypo")}, "scores", "no column 'target'",
    ),
    "empty-table": (GOOD, {"scores.tsv": ""}, "scores: scores.tsv", "empty"),
    "output-twice": (
        GOOD, {"scores.tsv": SCORES + "A\td\t1\tEins.\tOne!\t0.5\n"}, "scores: scores.tsv",
        "line 2",
    ),
    "not-utf8": (
        GOOD, {"scores.tsv": SCORES.encode() + b"A\td\t3\t\xff\tx\t1\n"}, "scores", "UTF-8",
    ),
    "odd-columns": (GOOD + 'columns = { segg = "x" }', {}, "columns.segg", "did you mean 'seg'"),
    "unknown-metric": (GOOD + 'metrics = ["COMET"]', {}, "metrics", "COMET"),
    "unknown-system": (GOOD + 'exclude = ["C"]', {}, "exclude", "C"),
    "sample-not-there": (GOOD + 'sample = "s.tsv"', {}, "sample", "s.tsv"),
    "sample-of-others": (
        GOOD + 'sample = "s.tsv"',
        {"s.tsv": "doc\tseg\tprobability\tdesign\nd\t9\t0.5\tsegments|n:1|N:2\n"}, "sample: s.tsv",
        "not in the test set",
    ),
    "odd-probability": (
        GOOD + 'sample = "s.tsv"',
        {"s.tsv": "doc\tseg\tprobability\tdesign\nd\t1\t1.5\tsegments|n:1|N:2\n"},
        "sample: s.tsv, probability", "1.5",
    ),
    "too-large-budget": (GOOD + 'sample = { budget = "9" }', {}, "sample.budget", "give at most 2"),
    "unknown-design": (
        GOOD + 'sample = { budget = "50%", design = "round" }', {}, "sample.design", "rounds",
    ),
    "marks-of-others": (
        GOOD + 'errors = "e.tsv"',
        {"e.tsv": "system\tdoc\tseg\tcategory\tseverity\nC\td\t1\tStyle\tminor\n"},
        "errors: e.tsv", "C",
    ),
    "no-instructions": (GOOD + 'instructions = "i.md"', {}, "instructions", "check the path"),
    "odd-consent": (GOOD + 'consent = "c.md"', {"c.md": b"\xff\xfe"}, "consent", "UTF-8"),
    "tutorial-not-there": (
        GOOD + 'checks = { tutorial = "t.tsv" }', {}, "checks.tutorial: t.tsv", "no such file",
    ),
    "tutorial-without-scores": (
        GOOD + 'checks = { tutorial = "t.tsv" }', {"t.tsv": "source\ttarget\thigh\na\tb\t9\n"},
        "checks.tutorial: t.tsv, low", "add it",
    ),
    "odd-test": (
        GOOD + 'checks = { qualify = "q.tsv" }',
        {"q.tsv": "source\ttarget\tlow\thigh\na\tb\t90\t10\n"},
        "checks.qualify: q.tsv, low", "swap the two",
    ),
    "form-without-questions": (
        GOOD + 'forms = { after = "f.tsv" }', {"f.tsv": "ask\nWhy?\n"},
        "forms.after: f.tsv, question", "add it",
    ),
    "odd-lease": (GOOD + 'raters = { lease = "soon" }', {}, "raters.lease", "auto"),
}  # fmt: skip


WITHOUT_VALUE = (
    "no-protocol", "no-scores", "unknown-key", "unknown-table", "unknown-key-inside", "not-toml",
    "no-seg", "tutorial-without-scores", "form-without-questions",
)  # fmt: skip
"""What is missing, or is named by its place."""


def write(folder: Path, plan: str, files: dict[str, str | bytes]) -> set[Path]:
    contents: dict[str, str | bytes] = {"scores.tsv": SCORES, "assay.toml": plan, **files}
    for name, content in contents.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return set(folder.iterdir())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plan(name: str, tmp_path: Path, run_assay: Run) -> None:
    plan, files, place, remedy = BROKEN[name]
    before = write(tmp_path, plan, files)
    checked = run_assay("campaign", "check", tmp_path, "--json")
    assert checked.code == 2
    found: dict[str, Any] = json.loads(checked.out)
    assert found["ok"] is False
    fitting = [
        item
        for item in found["problems"]
        if (item["column"] or "").startswith(place) and remedy in item["message"]
    ]
    assert fitting, found["problems"]
    assert fitting[0]["value"] or name in WITHOUT_VALUE
    new = run_assay("campaign", "new", tmp_path / "assay.toml")
    assert new.code == 2
    assert remedy in new.err
    assert set(tmp_path.iterdir()) == before


def test_faults_of_several_files_are_listed_together(tmp_path: Path, run_assay: Run) -> None:
    plan = GOOD + 'sample = "s.tsv"\ninstructions = "i.md"\nerrors = "e.tsv"\n'
    write(tmp_path, plan, {"s.tsv": "seg\n1\n"})
    found = json.loads(run_assay("campaign", "check", tmp_path, "--json").out)
    places = {item["column"].partition(":")[0] for item in found["problems"]}
    assert places == {"sample", "instructions", "errors"}


def test_faults_of_the_plan_hide_none_of_its_files(tmp_path: Path, run_assay: Run) -> None:
    plan = """
        protocol = "esaa"
        scores = "scores.tsv"
        metrics = ["metrik"]
        exclude = ["C"]
        sample = { design = "roundz", budget = "50%" }
        raters = { number = 0, names = ["x", 1] }
        consent = "gone.md"
    """
    (tmp_path / "assay.toml").write_text(plan)
    (tmp_path / "scores.tsv").write_text(SCORES)
    ran = run_assay("campaign", "check", tmp_path, "--json")
    assert ran.code == 2
    assert {problem["column"] for problem in json.loads(ran.out)["problems"]} == {
        "protocol", "metrics", "exclude", "sample.design", "raters.number", "raters.names[1]",
        "consent",
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["assay.toml", "scores.tsv"]


def test_a_broken_project_around_it_stops_no_campaign(
    tmp_path: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD, {})
    assert run_assay("campaign", "new", tmp_path / "assay.toml", "-o", tmp_path / "made").code == 0
    around = tmp_path / "around"
    around.mkdir()
    monkeypatch.chdir(around)
    Path("assay.toml").write_text('protocol = "esaa"\n')
    assert run_assay("campaign", "status", tmp_path / "made").code == 0
    checked = run_assay("campaign", "check", "assay.toml", "--json")
    assert checked.code == 2
    assert json.loads(checked.out)["problems"][0]["column"] == "protocol"


def test_a_good_plan(tmp_path: Path, run_assay: Run) -> None:
    before = write(tmp_path, GOOD, {})
    found = json.loads(run_assay("campaign", "check", tmp_path, "--json").out)
    assert (found["ok"], found["problems"], found["rows"]) == (True, [], 2)
    assert set(tmp_path.iterdir()) == before


WHOLE = """
name = "en-de news"
protocol = "esa"
scores = "scores.parquet"
sample = { design = "rounds", budget = "40%", seed = 7 }
screen = { outputs = 3, context = 5, merge = "stretch" }
raters = { number = 12, per_task = 1, overlap = "10%", lease = "auto" }
checks = { share = "8%", repeats = "4%", qualify = "qualify.tsv", tutorial = "tutorial.tsv" }
stop   = { goal = "ranking", looks = 5, level = 0.95, rest = "decided" }
pay    = { per_task = 1.2, currency = "EUR" }
crowd  = { id = "PROLIFIC_PID", keep = ["STUDY_ID", "SESSION_ID"], done = "URL", screened_out = "URL", full = "URL" }
"""  # noqa: E501


@pytest.mark.parametrize(
    "change",
    [
        ("", ""),
        ('{ design = "rounds", budget = "40%", seed = 7 }', '"sample.tsv"'),
        ('goal = "ranking", looks = 5, level = 0.95, rest = "decided"', 'goal = "budget"'),
        ('goal = "ranking", looks = 5', 'goal = "score", target = 1.5, looks = 5'),
        ('goal = "ranking", looks = 5', "guarantee = true"),
    ],
)
def test_every_key_of_a_plan(change: tuple[str, str], tmp_path: Path, run_assay: Run) -> None:
    """The campaign may be made elsewhere: files are beside the plan."""
    plan = WHOLE.replace(*change)
    if 'score"' in change[1]:
        plan = plan.replace(', rest = "decided"', "")
    world = assay.simulate(systems=4, documents=[6] * 6, texts=True, rng=1)
    world.test_set.write(tmp_path / "scores.parquet")
    sample = assay.sample(world.test_set, design="rounds", budget="40%", rng=7)
    sample.write(tmp_path / "sample.tsv")
    lessons = "source\ttarget\tlow\thigh\nEins.\tOne.\t80\t100\n"
    files = {"tutorial.tsv": lessons, "qualify.tsv": lessons, "assay.toml": plan}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert run_assay("campaign", "check", tmp_path).code == 0
    ran = run_assay("campaign", "new", tmp_path / "assay.toml", "-o", tmp_path / "a", "--json")
    assert ran.code == 0, ran.err
    made = json.loads(ran.out)
    assert (made["protocol"], len(made["links"]["raters"])) == ("esa", 12)
    ran = run_assay("campaign", "status", tmp_path / "a", "--json")
    status = json.loads(ran.out)
    assert (status["name"], status["state"], status["currency"]) == ("en-de news", "draft", "EUR")
