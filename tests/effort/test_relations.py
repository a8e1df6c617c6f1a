"""Effort against complexity and ratings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.effort.relations import compare_ratings, complexity_effort
from assay.errors import InputError, OptionError
from assay.kits.pieces import pieces_from_features
from assay.worlds.editing import EditingWorld


@pytest.fixture(scope="module")
def result() -> assay.Effort:
    design = assay.design_kits("ABCD", 12, design="latin", documents=list("wxyz"), rng=1)
    world = EditingWorld(
        systems=dict(zip("ABCD", (10.0, 20.0, 30.0, 40.0), strict=True)),
        documents=dict(zip("wxyz", (0.0, 8.0, 16.0, 24.0), strict=True)),
    )
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    return assay.effort(world.edits(kits, rng=1), measures=["distance"], rng=1)


def test_harder_documents_take_more_effort(result: assay.Effort) -> None:
    (found,) = complexity_effort(result, {"w": 50, "x": 55, "y": 58, "z": 61})
    assert (found.measure, found.n) == ("distance", 4)
    assert found.correlation == pytest.approx(1)
    assert found.p == pytest.approx(2 / 24)  # by hand: two of the 24 orders are as extreme
    (flat,) = complexity_effort(result, dict.fromkeys("wxyz", 1.0))
    assert flat.correlation != flat.correlation
    with pytest.raises(OptionError, match="complexity .w. has no score"):
        complexity_effort(result, {"x": 1})


def test_ratings_that_agree(result: assay.Effort) -> None:
    rows = [
        {"system": name, "seg": str(seg), "score": float(place)}
        for place, name in enumerate("ABCD") for seg in (1, 2)
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    test_set = assay.read_scores(frame.drop("score"))
    worse = assay.read_ratings(frame, test_set, better="lower")
    assert compare_ratings(result, worse)[0].correlation == pytest.approx(1)
    better = assay.read_ratings(frame, test_set, better="higher")
    assert compare_ratings(result, better)[0].correlation == pytest.approx(-1)
    one = frame.filter(pl.col("system") == "A")
    lonely = assay.read_ratings(one, assay.read_scores(one.drop("score")))
    with pytest.raises(InputError, match="fewer than two systems"):
        compare_ratings(result, lonely)


def test_many_documents_are_drawn_from() -> None:
    documents = [f"d{number:02d}" for number in range(9)]
    systems = [f"M{number}" for number in range(9)]
    design = assay.design_kits(systems, 9, design="latin", documents=documents, rng=1)
    world = EditingWorld(systems=dict.fromkeys(systems, 20.0), segments=3)
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    effort = assay.effort(world.edits(kits, rng=1), measures=["distance"], rng=1)
    (found,) = complexity_effort(effort, {name: k for k, name in enumerate(documents)})
    assert 0 < found.p <= 1


def test_command(tmp_path: Path, run_assay: Callable[..., Ran]) -> None:
    documents = ["piece 3", "piece 5", "piece 9"]
    design = assay.design_kits("ABC", 6, documents=documents, rng=1)
    world = EditingWorld(
        systems=dict(zip("ABC", (10.0, 30.0, 50.0), strict=True)),
        documents=dict(zip(documents, (0.0, 15.0, 30.0), strict=True)),
    )
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    edits, ratings, found = (tmp_path / name for name in ("e.tsv", "r.tsv", "k.json"))
    world.edits(kits, rng=1).write(edits)
    scores = pl.DataFrame({"system": list("ABC"), "seg": ["1"] * 3, "score": [9.0, 5.0, 2.0]})
    scores.write_csv(ratings, separator="\t")
    values = [[20.0 + 2 * k] for k in range(12)]
    kits_found = assay.find_kits(pieces_from_features(values, names=["lix"]), rng=1)
    found.write_text(json.dumps(kits_found.to_dict()))
    given = ("effort", edits, "--measures", "distance", "--ratings", ratings, "--kits", found)
    ran = run_assay(*given, "--seed", 1, "--json")
    assert ran.code == 0, ran.err
    result = assay.Effort.from_dict(json.loads(ran.out))
    relations = result.relations
    assert [(item.compared_with, item.n) for item in relations] == [("ratings", 3), ("LIX", 3)]
    assert [item.correlation for item in relations] == pytest.approx([1, 1])
    assert re.search(r"LIX +distance +3 +1\.000 +0\.333", run_assay(*given).out)
    for wrong in (result, assay.find_kits(pieces_from_features(values), rng=1)):
        found.write_text(json.dumps(wrong.to_dict()))
        ran = run_assay(*given)
        assert ran.code == 2
        assert f"--kits ({found}) is not a result of kits find" in ran.err
    found.write_text(json.dumps(kits_found.to_dict() | {"pieces": [{"piece": 3}]}))
    assert "has no 'doc'; save it again" in run_assay(*given).err
    few = assay.find_kits(pieces_from_features(values[:9], names=["lix"]), rng=1)
    found.write_text(json.dumps(few.to_dict()))
    ran = run_assay(*given)
    assert ran.code == 2
    assert "complexity (piece 9) has no score" in ran.err
