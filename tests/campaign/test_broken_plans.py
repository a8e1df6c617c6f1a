"""Plans and tables that are wrong: every fault with its place, its value and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Ran

Run = Callable[..., Ran]

SCORES = """system\tdoc\tseg\tsource\ttarget\tmetric
A\td\t1\tEins.\tOne.\t0.5
B\td\t1\tEins.\tAn one.\t0.4
A\td\t2\tZwei.\tTwo.\t0.7
B\td\t2\tZwei.\tToo.\t0.2
"""
GOOD = 'protocol = "esa"\nscores = "scores.tsv"\n'

BROKEN: dict[str, tuple[str, dict[str, str | bytes], str, str]] = {
    "no-protocol": ('scores = "scores.tsv"', {}, "protocol", "is missing; say how"),
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
        "scales[0].low", "exchange them",
    ),
    "weights-without-marks": (
        'protocol = "da"\nscores = "scores.tsv"\nweights = { Major = 5 }', {}, "weights",
        "leave it out",
    ),
    "unknown-weight": (
        'protocol = "mqm"\nscores = "scores.tsv"\nweights = { Majr = 5 }', {}, "plan",
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
        GOOD, {"scores.tsv": SCORES.replace("target", "hypo")}, "plan", "no column 'target'",
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
    "unknown-metric": (GOOD + 'metrics = ["COMET"]', {}, "scores", "COMET"),
    "unknown-system": (GOOD + 'exclude = ["C"]', {}, "scores", "C"),
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
    "too-large-budget": (GOOD + 'sample = { budget = "9" }', {}, "sample", "give at most 2"),
    "unknown-design": (
        GOOD + 'sample = { budget = "50%", design = "round" }', {}, "sample", "rounds",
    ),
    "marks-of-others": (
        GOOD + 'errors = "e.tsv"',
        {"e.tsv": "system\tdoc\tseg\tcategory\tseverity\nC\td\t1\tStyle\tminor\n"},
        "errors: e.tsv", "C",
    ),
    "no-instructions": (GOOD + 'instructions = "i.md"', {}, "instructions", "check the path"),
    "odd-consent": (GOOD + 'consent = "c.md"', {"c.md": b"\xff\xfe"}, "consent", "UTF-8"),
    "odd-lease": (GOOD + 'raters = { lease = "soon" }', {}, "raters.lease", "auto"),
}  # fmt: skip


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
    listed = [(item["column"] or "", item["message"], item["value"]) for item in found["problems"]]
    assert any(where.startswith(place) and remedy in text for where, text, _ in listed), listed
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


def test_a_good_plan(tmp_path: Path, run_assay: Run) -> None:
    before = write(tmp_path, GOOD, {})
    found = json.loads(run_assay("campaign", "check", tmp_path, "--json").out)
    assert (found["ok"], found["problems"], found["rows"]) == (True, [], 2)
    assert set(tmp_path.iterdir()) == before
