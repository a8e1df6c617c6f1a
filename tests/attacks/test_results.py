"""Saved results that were tampered with: refused with the path of what is wrong, or shown."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError
from assay.views.page import read_result, write_parts, write_report

WHOLE = 10**400
NESTED: Any = {"a": [{"b": [[]]}]}

REFUSED: list[tuple[str, tuple[str | int, ...], Any, str]] = [
    ("estimates", ("kind",), [], "kind is [], not a text"),
    ("estimates", ("kind",), {}, "kind is {}, not a text"),
    ("estimates", ("kind",), None, "kind is None, not a text"),
    ("estimates", ("kind",), 7, "kind is 7, not a text"),
    ("estimates", ("kind",), "x" * 10**6, "is not known"),
    ("estimates", ("version",), [], "version is [], not a version such as"),
    ("estimates", ("version",), None, "version is None, not a version"),
    ("estimates", ("version",), 2, "version is 2, not a version"),
    ("estimates", ("version",), "9" * 5000, "not a version such as"),
    ("estimates", ("version",), "0.2.0\x1b[2J", "not a version such as"),
    ("estimates", ("version",), "99.0", "newer than this one"),
    ("estimates", ("version",), "0.0.1", "cannot be read by this version"),
    ("estimates", ("systems",), [], "no systems"),
    ("estimates", ("systems",), {}, "systems is {}, not a list"),
    ("estimates", ("systems",), "x", "systems is 'x', not a list"),
    ("estimates", ("systems",), None, "systems is None, not a list"),
    ("estimates", ("systems", 0), [], "systems[0] is [], not an object"),
    ("estimates", ("systems", 0), 1, "systems[0] is 1, not an object"),
    ("estimates", ("systems", 0, "system"), None, "systems[0]: system is None, not a text"),
    ("estimates", ("systems", 0, "system"), ["a"], "systems[0]: system is ['a'], not a text"),
    ("estimates", ("systems", 0, "system"), "\ud800", "system is '\\ud800', not whole characters"),
    ("estimates", ("systems", 0, "estimate"), WHOLE, "estimate is a number of 1,329 bits"),
    ("estimates", ("systems", 0, "estimate"), -WHOLE, "estimate is a number of 1,329 bits"),
    ("estimates", ("systems", 0, "estimate"), "1", "estimate is '1', not a number"),
    ("estimates", ("systems", 0, "estimate"), True, "estimate is True, not a number"),
    ("estimates", ("systems", 0, "estimate"), [1], "estimate is [1], not a number"),
    ("estimates", ("systems", 0, "n"), WHOLE, "n is a number of 1,329 bits"),
    ("estimates", ("systems", 0, "n"), 1.5, "n is 1.5, not a whole number"),
    ("estimates", ("systems", 0, "n"), True, "n is True, not a whole number"),
    ("estimates", ("systems", 0, "n"), None, "n is None, not a whole number"),
    ("estimates", ("notes",), ["text"], "notes[0] is 'text', not a note"),
    ("estimates", ("notes",), [None], "notes[0] is None, not a note"),
    ("estimates", ("notes",), [{"code": [], "text": {}}], "notes[0].code is [], not a text"),
    ("estimates", ("notes",), [{"code": "a", "text": {}}], "notes[0].text is {}, not a text"),
    ("estimates", ("notes",), [{"code": "a", "text": None}], "notes[0].text is None, not a text"),
    ("estimates", ("notes",), [{"code": "a"}], "not a note"),
    ("estimates", ("notes",), [{"code": "a", "text": "\udfff"}], "not whole characters"),
    ("estimates", ("notes",), "abc", "notes is 'abc', not a list"),
    ("estimates", ("level",), [], "level is [], not a number"),
    ("estimates", ("level",), WHOLE, "level is a number of"),
    ("estimates", ("differences",), [1], "differences[0] is 1, not an object"),
    ("estimates", ("differences",), NESTED, "not a list"),
    ("ranking", ("kind",), ["ranking"], "kind is ['ranking'], not a text"),
    ("ranking", ("systems", 1), None, "systems[1] is None, not an object"),
    ("ranking", ("systems", 0, "rank"), "first", "rank is 'first'"),
    ("ranking", ("systems", 0, "score"), {}, "score is {}, not a number"),
    ("ranking", ("systems", 0, "score"), 2**2000, "score is a number of 2,001 bits"),
    ("ranking", ("systems", 0, "low_rank"), 2**2000, "low_rank is a number of"),
    ("ranking", ("ranges",), "\udcff", "ranges is"),
    ("ranking", ("method",), [], "method is []"),
    ("ranking", ("notes",), [[]], "notes[0] is [], not a note"),
    ("plan", ("kind",), True, "kind is True, not a text"),
    ("plan", ("population",), WHOLE, "population is a number of"),
    ("plan", ("population",), "500", "population is '500', not a whole number"),
    ("plan", ("needed",), {"a": 1}, "needed is {'a': 1}"),
]  # fmt: skip
"""Kind of result, place, the value put there, and words of the refusal."""

EITHER: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("estimates", ("systems", 0, "system"), "system-2"),
    ("estimates", ("systems", 0, "system"), "x" * 60_000),
    ("estimates", ("systems", 0, "estimate"), 1e308),
    ("estimates", ("systems", 0, "low"), "-Infinity"),
    ("estimates", ("systems", 0, "n"), 2**100),
    ("estimates", ("systems", 0, "n"), -1),
    ("estimates", ("systems", 0, "cluster"), -5),
    ("estimates", ("differences", 0, "left"), "nobody"),
    ("estimates", ("differences",), []),
    ("estimates", ("level",), 0),
    ("estimates", ("truth",), {"": None}),
    ("ranking", ("systems", 0, "rank"), 10**12),
    ("ranking", ("systems", 0, "high_rank"), 10**12),
    ("ranking", ("systems", 0, "score"), None),
    ("plan", ("population",), 0),
    ("plan", ("needed",), 2**100),
]
"""What fits its type: shown, or refused where it contradicts the rest."""


@pytest.fixture(scope="module")
def saved() -> dict[str, dict[str, Any]]:
    world = assay.simulate(documents=10, systems=3, rng=1)
    found = {
        "estimates": assay.estimate(world.test_set, world.rate()),
        "ranking": assay.rank(world.judge(200, per_set=3, rng=1), rng=1),
        "plan": assay.plan_ratings(population=500, half_width=0.1, sd=1.0),
    }
    return {name: json.loads(json.dumps(result.to_dict())) for name, result in found.items()}


def tampered(data: Any, place: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(data)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


def test_there_are_sixty_and_more() -> None:
    assert len(REFUSED) + len(EITHER) >= 60


@pytest.mark.parametrize(("kind", "place", "value", "said"), REFUSED)
def test_what_is_wrong_is_named_by_its_path(
    kind: str, place: tuple[str | int, ...], value: Any, said: str,
    saved: dict[str, dict[str, Any]], tmp_path: Path,
) -> None:  # fmt: skip
    path = tmp_path / "r.json"
    path.write_text(json.dumps(tampered(saved[kind], place, value)), "utf-8")
    with pytest.raises(InputError) as refused:
        write_report(read_result(path), tmp_path / "r.html")
    assert said in str(refused.value)
    assert len(str(refused.value)) < 2000
    assert not (tmp_path / "r.html").exists()


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
@pytest.mark.parametrize(("kind", "place", "value"), EITHER)
def test_what_fits_its_type_is_shown_or_refused(
    kind: str, place: tuple[str | int, ...], value: Any, saved: dict[str, dict[str, Any]],
    tmp_path: Path,
) -> None:  # fmt: skip
    path = tmp_path / "r.json"
    path.write_text(json.dumps(tampered(saved[kind], place, value)), "utf-8")
    for write, target in ((write_report, "r.html"), (write_report, "r.md"), (write_parts, "parts")):
        try:
            write(read_result(path), tmp_path / target)
        except InputError as error:
            assert "contradict" in str(error) or "r.json" in str(error)


@pytest.mark.parametrize("text", ['{"kind": 1' + "0" * 5000 + "}", "[" * 100_000, '{"kind": NaN}'])
def test_json_that_is_no_result(text: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"r\.json"):
        read_result(path)


def test_parts_are_guarded_like_the_page(
    saved: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise OverflowError("too\nlarge")

    monkeypatch.setattr("assay.views.figures.draw_pairs", broken)
    for write, target in ((write_report, "r.html"), (write_parts, "parts")):
        with pytest.raises(InputError, match=r"contradict themselves \(OverflowError: too large\)"):
            write(saved["estimates"], tmp_path / target)


def test_a_report_names_the_version_that_computed_each_result(
    saved: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    from assay.views.page import as_result

    today = as_result(saved["estimates"])
    old = replace(as_result(saved["ranking"]), version="0.1.9")
    text = write_report(old, tmp_path / "r.md").read_text("utf-8")
    assert "All numbers were computed with Assay 0.1.9." in text
    assert f"v:{today.version}" not in text
    text = write_report([today, old], tmp_path / "r.html").read_text("utf-8")
    assert f"computed with Assay 0.1.9 and {today.version}, as the signatures say." in text
