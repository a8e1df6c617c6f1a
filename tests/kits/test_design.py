"""Designs: balance proved for 2 to 12 systems."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import factorial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Ran

import assay
from assay.errors import InputError, OptionError
from assay.kits.design import graeco_latin, permutation_rows, read_design, williams_rows
from assay.kits.results import KitDocument
from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]
SYSTEMS = [f"M{number}" for number in range(12)]


def _meetings(
    tasks: Sequence[KitDocument], left: str, right: str
) -> Counter[tuple[object, object]]:
    return Counter((getattr(task, left), getattr(task, right)) for task in tasks)


def _carry_over(tasks: Sequence[KitDocument]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for before, after in pairwise(tasks):
        if before.editor == after.editor:
            found[before.system, after.system] += 1
    return found


@given(
    n=st.integers(2, 12),
    times=st.integers(1, 3),
    design=st.sampled_from(["latin", "williams", "graeco-latin", "rotated", "permutations"]),
    seed=st.integers(0, 99),
)
def test_balance(n: int, times: int, design: str, seed: int) -> None:
    if design == "graeco-latin" and n in (2, 6):
        with pytest.raises(OptionError, match=f"does not exist for {n} systems"):
            assay.design_kits(SYSTEMS[:n], n, design=design)
        return
    block = 2 * n if design in ("williams", "rotated") and n % 2 else n
    block *= n if design == "rotated" else 1
    result = assay.design_kits(SYSTEMS[:n], times * block, design=design, rng=seed)
    for kit in range(times * block):
        own = result.kits[kit * n : (kit + 1) * n]
        assert len({task.system for task in own}) == n
        assert len({task.document for task in own}) == n
        assert [task.position for task in own] == list(range(1, n + 1))
    count = times * block // n
    for left, right in (("system", "document"), ("system", "position")):
        meetings = _meetings(result.kits, left, right)
        assert len(meetings) == n * n
        assert set(meetings.values()) == {count}
    assert {"system_document", "system_position"} <= set(result.balance.balanced)
    if design in ("graeco-latin", "rotated"):
        assert set(_meetings(result.kits, "document", "position").values()) == {count}
        assert "document_position" in result.balance.balanced
    if design in ("williams", "rotated"):
        carried = _carry_over(result.kits)
        assert len(carried) == n * (n - 1)
        assert len(set(carried.values())) == 1
        assert "carry_over" in result.balance.balanced


@given(n=st.integers(2, 12), editors=st.integers(1, 40), seed=st.integers(0, 9))
def test_tables_of_balance_are_the_counts(n: int, editors: int, seed: int) -> None:
    result = assay.design_kits(SYSTEMS[:n], editors, rng=seed)
    meetings = _meetings(result.kits, "system", "document")
    for system, row in zip(result.systems, result.balance.system_document, strict=True):
        for document, count in zip(result.documents, row, strict=True):
            assert meetings[system, document] == count
    carried = _carry_over(result.kits)
    for before, row in zip(result.systems, result.balance.carry_over, strict=True):
        for after, count in zip(result.systems, row, strict=True):
            assert carried[before, after] == count


@pytest.mark.parametrize("n", range(2, 7))
def test_all_permutations_are_all_different(n: int) -> None:
    rows = permutation_rows(n, factorial(n))
    assert len({tuple(row) for row in rows.tolist()}) == factorial(n)
    for start in range(0, len(rows), n):
        assert (np.sort(rows[start : start + n], axis=0) == np.arange(n)[:, None]).all()


@pytest.mark.parametrize("n", [3, 4, 5, 7, 8, 9, 10, 11, 12])
def test_squares_are_orthogonal(n: int) -> None:
    squares = graeco_latin(n)
    assert squares is not None
    for square in squares:
        assert (np.sort(square, axis=0) == np.arange(n)[:, None]).all()
        assert (np.sort(square, axis=1) == np.arange(n)).all()
    assert len(set(zip(squares[0].ravel(), squares[1].ravel(), strict=True))) == n * n


def test_williams_by_hand() -> None:
    assert williams_rows(4).tolist() == [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]


def test_seeds_and_names() -> None:
    first = assay.design_kits(["A", "B", "C"], ["Ann", "Bob", "Cem"], rng=0)
    assert first == assay.design_kits(["A", "B", "C"], ["Ann", "Bob", "Cem"], rng=0)
    assert first.design == "graeco-latin"
    assert assay.design_kits(SYSTEMS[:6], 6).design == "rotated"
    assert first.editors == ("Ann", "Bob", "Cem")


def test_two_systems_by_hand() -> None:
    """Stock against custom: four editors see every system with every document in every place."""
    result = assay.design_kits(["stock", "custom"], 4, documents=["x", "y"], rng=1)
    kits = {
        tuple((task.document, task.system) for task in result.kits[start : start + 2])
        for start in range(0, 8, 2)
    }
    assert kits == {
        (("x", "stock"), ("y", "custom")), (("x", "custom"), ("y", "stock")),
        (("y", "stock"), ("x", "custom")), (("y", "custom"), ("x", "stock")),
    }  # fmt: skip
    assert len(result.balance.balanced) == 4
    assert result.notes == ()
    six = assay.design_kits(["stock", "custom"], 6, rng=1)
    assert "6 editors do not complete the design; 8 would" in six.notes
    assert "the order of documents is not quite balanced" in six.notes


@pytest.mark.parametrize("editors", [5, 6, 12, 17])
def test_six_systems_do_not_have_one_order_of_documents(editors: int) -> None:
    """Six systems have no Graeco-Latin square, and hardly anyone has 36 editors."""
    result = assay.design_kits(SYSTEMS[:6], editors, rng=1)
    place = np.array(result.balance.document_position)
    assert np.ptp(place) <= 1
    assert np.array(result.balance.system_document).max() <= 2 + editors // 6
    assert not any("cannot be separated" in line for line in result.notes)
    assert f"{editors} editors do not complete the design; 36 would" in result.notes
    kits = [(task.editor, task.document, task.system) for task in result.kits]
    edits = EditingWorld(dict.fromkeys(SYSTEMS[:6], 9.0), segments=4).edits(kits, rng=1)
    found = assay.effort(edits, measures=["distance"], rng=1)
    assert found.fixed == ("system", "document", "place")
    assert found == assay.effort(edits, measures=["distance"], rng=1)
    assert result == assay.design_kits(SYSTEMS[:6], editors, rng=1)


def test_two_systems_are_compared() -> None:
    design = assay.design_kits(["stock", "custom"], 12, rng=1)
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    world = EditingWorld({"stock": 12.0, "custom": 0.0})
    result = assay.effort(world.edits(kits, rng=1), rng=1)
    assert result.fixed == ("system", "document", "place")
    verdicts = {item.measure: item.verdict for item in result.differences}
    assert verdicts["distance"] == "custom needs less effort"
    assert result.degrees == 24 - 12 - 3


def test_what_is_not_balanced_is_told() -> None:
    result = assay.design_kits(["A", "B", "C"], 4, design="latin", rng=1)
    assert "4 editors do not complete the design; 6 would" in result.notes
    assert any("position and document cannot be separated" in line for line in result.notes)
    same = assay.design_kits(["A", "B"], 4, design="identical")
    assert any("only if the documents are alike" in line for line in same.notes)
    few = assay.design_kits(["A", "B"], 2, design="latin")
    assert "with fewer than three editors no difference can be tested" in few.notes


@pytest.mark.parametrize(
    ("systems", "editors", "options", "message"),
    [
        (["A"], 3, {}, "name 2 to 12"),
        (["A", "A"], 3, {}, "is named twice"),
        (["A", " "], 3, {}, "is not a name"),
        (["A", "B"], 0, {}, "is not a number of editors"),
        (["A", "B"], [], {}, "names nobody"),
        (["A", "B"], ["x", "x"], {}, "is named twice"),
        (["A", "B"], 2, {"design": "latn"}, "did you mean 'latin'"),
        (["A", "B"], 2, {"documents": ["d"]}, "do not match 2 systems"),
        (
            SYSTEMS[:6],
            6,
            {"design": "graeco-latin"},
            "does not exist for 6 systems: .* use rotated",
        ),
    ],
)
def test_bad_input(
    systems: list[str], editors: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        assay.design_kits(systems, editors, **options)


def test_design_tables_are_checked() -> None:
    frame = assay.design_kits(["A", "B"], 2).to_frame()
    assert len(read_design(frame)) == 4
    with pytest.raises(InputError, match="the design lacks doc"):
        read_design(frame.drop("doc"))
    with pytest.raises(InputError, match="twice"):
        read_design(pl.concat([frame, frame]))
    with pytest.raises(InputError, match="row 1 of the design is not filled in"):
        read_design(frame.with_columns(pl.lit("").alias("system")))


def test_command(tmp_path: Path, run_assay: Run) -> None:
    given = ["kits", "design", "--systems", "A,B,C", "--editors", 6, "--design", "williams"]
    ran = run_assay(*given, "--seed", 1, "--json", "-o", tmp_path / "design.tsv")
    result = json.loads(ran.out)
    assert result["balance"]["carry_over"] == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert result["kits"][0].keys() == {"editor", "position", "document", "system"}
    assert pl.read_csv(tmp_path / "design.tsv", separator="\t").height == 18
    ran = run_assay(*given, "--seed", 1)
    assert "How often: system right after system (balanced)" in ran.out
    ran = run_assay("kits", "design", "--systems", ",".join(SYSTEMS[:6]), "--editors", "6",
                    "--design", "graeco-latin")  # fmt: skip
    assert (ran.code, "no two Latin squares of order 6" in ran.err) == (2, True)
