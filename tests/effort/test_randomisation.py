"""Randomisation tests: which assignments, size, power, and where there is nothing to deal out."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import assay
from assay.effort.model import fixed_columns
from assay.effort.randomisation import deal_kits, overall_p, pair_p, remainder
from assay.worlds.editing import EditingWorld


def _deal(kits: list[str], draws: int = 10) -> tuple[np.ndarray, bool]:
    count = len(kits[0])
    editor = np.repeat(np.arange(len(kits)), count)
    document = np.tile(np.arange(count), len(kits))
    system = np.array(["ABCD".index(name) for kit in kits for name in kit])
    dealt = deal_kits(editor, document, system, draws=draws, rng=np.random.default_rng(1))
    return system[dealt.sources], dealt.exact


@pytest.mark.parametrize(
    ("kits", "count"),
    [(["AB", "BA", "AB", "BA"], 6), (["AB"] * 3, 1), (["AB", "BA"] * 5, 252), (["ABC", "BCA"], 2)],
)
def test_every_different_assignment_once(kits: list[str], count: int) -> None:
    labels, exact = _deal(kits)
    assert exact
    brute = {tuple("ABCD".index(name) for kit in order for name in kit)
             for order in set(permutations(kits))} if len(kits) < 8 else None  # fmt: skip
    rows = [tuple(row) for row in labels.tolist()]
    assert len(rows) == len(set(rows)) == count
    assert rows[0] == tuple("ABCD".index(name) for kit in kits for name in kit)
    assert brute is None or set(rows) == brute


def test_many_kits_are_drawn() -> None:
    labels, exact = _deal(["AB", "BA"] * 10, draws=7)
    assert (labels.shape, exact) == ((8, 40), False)


def _shares(third: float, gap: float, tiredness: float, runs: int, kind: str) -> tuple[float, ...]:
    """Shares of runs with p <= .05: the pair A and B, and whether any system differs."""
    rng = np.random.default_rng(4)
    pair, overall = [], []
    design = assay.design_kits(["A", "B", "C"], 6, design=kind, rng=rng)
    editor = np.array([design.editors.index(task.editor) for task in design.kits])
    document = np.array([design.documents.index(task.document) for task in design.kits])
    system = np.array(["ABC".index(task.system) for task in design.kits])
    place = np.array([task.position for task in design.kits])
    rotated = kind == "graeco-latin"
    dealt = deal_kits(editor, document, system, place if rotated else None, draws=1, rng=rng)
    fixed, _ = fixed_columns(
        system, document, place - 1 if rotated else None, (3, 3), documents=True
    )
    for _ in range(runs):
        y = rng.normal(0, 5, 6)[editor] + rng.normal(0, 3, 3)[document] + tiredness * place
        y = y + np.array([0, gap, third])[system] + rng.normal(0, 3.5, len(editor))
        pair.append(pair_p(y, system, (0, 1), editor, fixed[:, 3:], dealt, places=rotated))
        overall.append(overall_p(remainder(y, editor, fixed[:, 3:]), system, dealt))
    return float(np.mean(np.array(pair) <= 0.05)), float(np.mean(np.array(overall) <= 0.05))


@pytest.mark.slow
def test_a_third_system_does_not_matter_to_a_pair() -> None:
    """Gap 6 at a standard error of 2: the t test has a power of .74; C lies 12 points off."""
    power, _ = _shares(-12.0, 6.0, 0.0, 250, "permutations")
    assert power > 0.6
    alone, _ = _shares(0.0, 6.0, 0.0, 250, "permutations")
    assert power == pytest.approx(alone, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["permutations", "graeco-latin"])
def test_size_of_the_randomisation_tests(kind: str) -> None:
    """In 800 runs: 3 Monte-Carlo errors are .023."""
    size, _ = _shares(-12.0, 0.0, 5.0 if kind == "graeco-latin" else 0.0, 800, kind)
    assert size == pytest.approx(0.05, abs=0.01 + 0.023)
    _, overall = _shares(0.0, 0.0, 5.0 if kind == "graeco-latin" else 0.0, 800, kind)
    assert overall <= 0.05 + 0.01 + 0.023


@pytest.mark.slow
def test_tiredness_does_not_hide_a_difference() -> None:
    power, _ = _shares(0.0, 8.0, 8.0, 150, "graeco-latin")
    rested, _ = _shares(0.0, 8.0, 0.0, 150, "graeco-latin")
    assert power == pytest.approx(rested, abs=1e-9)


def _result(kits: list[tuple[str, str, str]], gap: float, **options: object) -> assay.Effort:
    world = EditingWorld(systems={"A": 5.0, "B": 5.0 + gap, "C": 40.0}, segments=8)
    edits = world.edits(kits, rng=1)
    return assay.effort(edits, measures=["distance"], rng=1, **options)  # type: ignore[arg-type]


def _void(result: assay.Effort) -> bool:
    told = "nothing-to-deal-out" in {note.code for note in result.warnings}
    void = all(math.isnan(item.randomisation_p) for item in result.differences)
    assert told == void
    return void


def test_identical_kits_leave_nothing_to_deal_out() -> None:
    kits = [(f"E{n}", d, s) for n in range(6) for d, s in (("x", "A"), ("y", "B"))]
    assert _void(_result(kits, 20.0, assume_alike=True))


def test_editors_with_other_documents_leave_nothing_to_deal_out() -> None:
    sets = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    kits = [(f"E{n}", f"d{d}", "AB"[(n + k) % 2]) for n, docs in enumerate(sets)
            for k, d in enumerate(docs)]  # fmt: skip
    assert _void(_result(kits, 20.0))


def test_systems_between_editors_are_compared_between_them() -> None:
    kits = [(f"E{n}", f"d{d}", "AB"[n % 2]) for n in range(8) for d in range(3)]
    result = _result(kits, 30.0)
    assert not _void(result)
    # All As below all Bs: 2 of the 70 ways to choose four of eight editors.
    assert result.differences[0].randomisation_p == pytest.approx(2 / 70)
    # The t test has the freedom of eight editors less two systems, not of 24 cells.
    assert result.differences[0].degrees == pytest.approx(6, abs=0.6)


def test_places_are_allowed_for() -> None:
    """Tiredness of 40 points a document, and no noise else: only places hide the gap of 8."""
    design = assay.design_kits(["A", "B", "C"], 6, design="graeco-latin", rng=1)
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    frame = EditingWorld(systems={"A": 0.0, "B": 8.0, "C": 4.0}, level=20.0).values(kits, 1)
    tired = frame.with_columns(pl.col("value") + 40 * pl.col("position"))
    p = []
    for rows in (frame, tired):
        cells = rows.group_by("editor", "doc", "system", "position", maintain_order=True).agg(
            pl.col("value").mean()
        )
        editor, document, system = (
            cells[name].rank("dense").to_numpy().astype(int) - 1
            for name in ("editor", "doc", "system")
        )
        place = cells["position"].to_numpy()
        fixed, used = fixed_columns(system, document, place - 1, (3, 3), documents=True)
        assert "place" in used
        dealt = deal_kits(editor, document, system, place, draws=1, rng=np.random.default_rng(1))
        y = cells["value"].to_numpy()
        p.append(pair_p(y, system, (0, 1), editor, fixed[:, 3:], dealt, places=True))
    assert p[0] == pytest.approx(p[1])
