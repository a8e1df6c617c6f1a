"""``assay.toml`` read strictly, and changed without losing what a person wrote into it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, TableError
from assay.project.project import find_project, open_project
from assay.project.reader import lines_of_keys, parse_settings, read_settings, with_key, written
from assay.project.settings import Drawing, Settings

CAMPAIGN = """
name = "en-de news"            # unknown keys are refused with a near name
protocol = "esa"
scores = "scores.parquet"
sample = { design = "rounds", budget = "40%", seed = 7 }       # or "sample.tsv"
screen = { outputs = 3, context = 5, merge = "stretch" }
raters = { number = 12, per_task = 1, overlap = "10%", lease = "auto" }
checks = { share = "8%", repeats = "4%", qualify = "qualify.tsv", tutorial = "tutorial.tsv" }
stop   = { goal = "ranking", looks = 5, level = 0.95, rest = "decided" }   # or goal = "score"
pay    = { per_task = 1.2, currency = "EUR" }
crowd  = { id = "PROLIFIC_PID", keep = ["STUDY_ID", "SESSION_ID"], done = "URL", full = "URL" }
"""


def refused(text: str) -> dict[str | None, str]:
    with pytest.raises(TableError) as error:
        parse_settings(text)
    return {item.column: str(item) for item in error.value.problems}


def test_the_plan_of_a_campaign_is_read() -> None:
    settings = parse_settings(CAMPAIGN)
    assert settings.name == "en-de news"
    assert settings.sample == Drawing(None, "rounds", "40%", 7)
    assert (settings.raters.number, settings.raters.overlap) == (12, "10%")
    assert settings.crowd.keep == ("STUDY_ID", "SESSION_ID")
    assert (settings.pay.per_task, settings.pay.currency) == (1.2, "EUR")


def test_an_empty_file_is_all_defaults() -> None:
    assert parse_settings("") == Settings()


def test_short_forms() -> None:
    settings = parse_settings(
        'sample = "drawn.tsv"\nratings = "a.tsv"\nraters = { overlap = 0.15 }\n[checks]\nshare = 0'
    )
    assert settings.sample.file == "drawn.tsv"
    assert settings.ratings == ("a.tsv",)
    assert settings.raters.overlap == "15%"
    assert settings.checks.share is not None
    assert parse_settings("sample = { budget = 500 }").sample.budget == "500"
    assert parse_settings("range = [0, 25]").range == (0.0, 25.0)


def test_all_faults_are_said_at_once() -> None:
    faults = refused(
        'nme = "x"\nprotocol = "ESA"\nraters = { number = 0, overlap = "tenth" }\n'
        '[stop]\nlevel = 95\n[pay]\nper_rating = "a"\n'
    )
    assert list(faults) == [
        "nme", "protocol", "raters.number", "raters.overlap", "stop.level", "pay.per_rating",
    ]  # fmt: skip
    assert faults["nme"] == "line 1: nme is not a setting (did you mean 'name'?)"
    assert (
        'line 3: raters.overlap ("tenth") does not fit; write one such as'
        in (faults["raters.overlap"])
    )
    assert faults["stop.level"].startswith("line 5: stop.level (95) is out of range; give one from")
    assert "did you mean 'esa'?" in faults["protocol"]


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("name = 3", "name", "is not a text; write it in quotes"),
        ("name = ' '", "name", "does not fit"),
        ("sample = 3", "sample", "is not a table; write sample = {"),
        ("range = [1]", "range", "has 1 entries; give 2"),
        ("range = [5, 1]", "range", "is empty; write the lowest rating first"),
        ("range = [3, 3]", "range", "is empty; write the lowest rating first"),
        ("ratings = 3", "ratings", "is not a list"),
        ("ratings = [3]", "ratings[0]", "is not a text"),
        ("stop = { guarantee = 1 }", "stop.guarantee", "is not true or false; write one of them"),
        ("raters = { number = true }", "raters.number", "is not a whole number"),
        ("raters = { number = 2.5 }", "raters.number", "is not a whole number"),
        ("pay = { per_task = inf }", "pay.per_task", "is not a number"),
        ("pay = { per_task = 1, per_hour = 2 }", "pay.per_hour", "are two prices; keep one"),
        ("pay = { currency = 'euros' }", "pay.currency", 'write one such as "EUR"'),
        ("columns = 3", "columns", "is not a table; write columns = { NAME = ... }"),
        ("columns = { segg = 'x' }", "columns.segg", "did you mean 'seg'?"),
        ("metrics = ['chrF']\nlower_metrics = ['TER']", "lower_metrics[0]", "among the metrics"),
        ("stop = { goal = 'score' }", "stop.goal", "give stop.target"),
        ("stop = { target = 2 }", "stop.target", "is for the goal"),
        ("stop = { goal = 'budget', rest = 'decided' }", "stop.rest", "is for the goal"),
        ("stop = { guarantee = true, looks = 3 }", "stop.looks", "keep one"),
        ("raters = { names = ['a', 'a'] }", "raters.names[1]", "is listed twice"),
        ("protocol = 'pairwise'\nchecks.share = '5%'", "checks.share", "needs scores"),
        ("raters = { names = ['a', 'b'], number = 3 }", "raters.number", "contradicts the 2 names"),
        ("raters = { per_task = 3 }", "raters.per_task", "is more than the 1 raters"),
        ("protocol = 'da'\ncategories = ['x']", "categories", "has no effect with protocol"),
        ("protocol = 'mqm'\n[[scales]]\nname = 's'", "scales", "has no effect with protocol"),
        ("[[scales]]\nlow = 5\nhigh = 1", "scales[0].low", "is not below high"),
        ("[[scales]]\nstep = 1000", "scales[0].step", "is longer than the scale"),
        ("[[scales]]\nlow = 10\nhigh = 20\nstep = 15", "scales[0].step", "is longer than the"),
        ("[[severities]]\nname = 'x'", "severities[0]", "has no weight; give one"),
        ("crowd = { done = 'javascript:x' }", "crowd.done", "does not fit"),
    ],
)  # fmt: skip
def test_a_fault_has_its_key_and_remedy(text: str, key: str, said: str) -> None:
    faults = refused(text)
    assert list(faults) == [key]
    assert said in faults[key]
    assert faults[key].startswith("line ")


def test_what_is_not_toml_is_said_with_its_line() -> None:
    with pytest.raises(TableError, match=r"line 2: is not TOML: .*; write KEY = VALUE"):
        parse_settings("name = 'a'\nprotocol = esa\n")


def test_lines_of_keys_over_several_lines() -> None:
    text = 'ratings = [\n  "a = b",  # [c]\n]\n[raters]\nnumber = 2\n'
    assert lines_of_keys(text) == {"ratings": 1, "raters": 4, "raters.number": 5}


WRITTEN = """# my campaign
name = "a"   # its name
ratings = [  # two
  "a.tsv",
  "b.tsv",
]

[raters]  # people
number = 2  # so far
names = []

# what it costs
[pay]
currency = "EUR"
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("name", "b # c", 'name = "b # c"   # its name'),
        ("ratings", ("c.tsv",), 'ratings = ["c.tsv"]'),
        ("raters.number", 3, "number = 3  # so far"),
        ("raters.overlap", "10%", 'overlap = "10%"'),
        ("pay.per_task", 1.5, "per_task = 1.5"),
        ("protocol", "esa", 'protocol = "esa"'),
        ("sample.file", "s.tsv", 'sample = { file = "s.tsv" }'),
    ],
)
def test_one_key_changes_and_nothing_else(path: str, value: object, line: str) -> None:
    changed = with_key(WRITTEN, path, value)
    assert line in changed.splitlines()
    before = {*WRITTEN.splitlines()}
    key = path.rpartition(".")[2]
    lost = [text for text in before - {*changed.splitlines()} if not text.startswith(key)]
    assert not [text for text in lost if "#" in text]
    assert with_key(changed, path, value) == changed


def test_a_key_that_cannot_be_changed_is_left_alone() -> None:
    with pytest.raises(InputError, match="edit it by hand"):
        with_key("[[raters]]\nnumber = 2\n", "raters.number", 3)


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(VALUES)
def test_every_value_is_read_back_as_it_was(value: object) -> None:
    assert tomllib.loads(f"x = {written(value)}")["x"] == value


@given(
    st.lists(st.tuples(st.sampled_from(["name", "raters.names", "sample.file", "a.b.c"]), VALUES))
)
def test_any_changes_one_after_another(changes: list[tuple[str, object]]) -> None:
    text = WRITTEN
    for path, value in changes:
        text = with_key(text, path, value)
        inner = tomllib.loads(text)
        for key in path.split("."):
            inner = inner[key]
        assert inner == value
    assert all(comment in text for comment in ("# my campaign", "# its name", "# what it costs"))


def test_a_project_is_found_from_below_and_remembers(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None
    (tmp_path / "assay.toml").write_text("name = 'a'  # mine\n", encoding="utf-8")
    below = tmp_path / "answers" / "first"
    below.mkdir(parents=True)
    project = find_project(below)
    assert project is not None
    assert project.folder == tmp_path
    (tmp_path / "r1.tsv").touch()
    (tmp_path / "r2.tsv").touch()
    later = project.record({"sample.file": "sample.tsv", "ratings": ["r*.tsv"]})
    assert later == open_project(tmp_path)
    assert later.settings.sample.file == "sample.tsv"
    assert [path.name for path in later.paths(later.settings.ratings)] == ["r1.tsv", "r2.tsv"]
    assert later.file.read_text("utf-8").startswith("name = 'a'  # mine\n")
    assert later.relative(below / "x.tsv") == "answers/first/x.tsv"
    assert later.result("estimates") == tmp_path / "results" / "estimates.json"


def test_a_record_that_would_be_wrong_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_text("name = 'a'\n", encoding="utf-8")
    with pytest.raises(TableError, match="raters.number"):
        open_project(tmp_path).record({"raters.number": 0})
    assert file.read_text("utf-8") == "name = 'a'\n"


def test_a_file_with_a_mark_and_crlf(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_bytes(b"\xef\xbb\xbfname = 'a'\r\nratings = [\r\n 'x',\r\n]\r\n")
    assert read_settings(file).ratings == ("x",)
    assert open_project(tmp_path).record({"name": "b"}).settings.ratings == ("x",)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_settings(tmp_path / "assay.toml")


KEYS = ["name", "protocol", "sample", "raters", "number", "names", "scales", "low", "stop", "goal",
        "looks", "columns", "seg", "metrics", "range", "pay", "per_task", "screen", "languages",
        "weights", "x"]  # fmt: skip


@given(
    st.recursive(
        st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5),
        lambda inner: st.dictionaries(st.sampled_from(KEYS), inner | st.lists(inner, max_size=2)),
        max_leaves=4,
    )
)
def test_anything_is_read_or_refused_with_its_keys(said: dict[str, object]) -> None:
    text = "".join(f"{key} = {written(value)}\n" for key, value in said.items())
    try:
        assert isinstance(parse_settings(text), Settings)
    except TableError as error:
        assert error.problems
        assert all(item.column and item.line for item in error.problems)
