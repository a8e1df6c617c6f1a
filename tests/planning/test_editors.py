"""How many editors: the paper's numbers, a pilot, and clear refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.conftest import Ran

import assay
from assay.errors import OptionError
from assay.results import has_note
from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]


def test_numbers_for_korotaev2022() -> None:
    small = assay.plan_editors(3, 1.43)
    assert small.needed == 95
    assert small.points[0].power == pytest.approx(0.09, abs=0.01)
    assert assay.plan_editors(3, 3.0).needed == 23
    assert small.source == "korotaev2022"
    assert small.complete is not None
    assert small.needed is not None
    assert small.complete % 3 == 0
    assert small.complete >= small.needed


def test_a_pilot_gives_the_spread() -> None:
    kits = [
        (f"E{number}", doc, system)
        for number, order in enumerate(permutations("ABC"))
        for doc, system in zip("xyz", order, strict=True)
    ]
    world = EditingWorld(systems=dict.fromkeys("ABC", 30.0), segments=10)
    pilot = assay.effort(world.edits(kits, rng=1), measures=["distance"], rng=1)
    plan = assay.plan_editors(3, 3.0, pilot=pilot)
    assert plan.source == "pilot"
    assert plan.cell == pilot.components["distance"]["editor x document"]
    assert "6 editors" in plan.notes[0]
    with pytest.raises(OptionError, match="measure .time. is not in the pilot"):
        assay.plan_editors(3, 3.0, pilot=pilot, measure="time")
    with pytest.raises(OptionError, match="has its own variances"):
        assay.plan_editors(3, 3.0, pilot=pilot, cell=1.0, residual=1.0)


def test_places_take_degrees_of_freedom() -> None:
    """(3 - 1)(E - 3) of them; the power by noncentral t of scipy."""
    plain, rotated = (assay.plan_editors(3, 3.0, sizes=[6], place=place) for place in (False, True))
    assert rotated.points[0].power < plain.points[0].power
    shift = 3 / np.sqrt(2 * (8.78 + 79.5 / 23) / 6)
    end = stats.t.ppf(0.975, 6)
    power = stats.nct.sf(end, 6, shift) + stats.nct.cdf(-end, 6, shift)
    assert rotated.points[0].power == pytest.approx(power, abs=1e-6)
    assert rotated.needed is not None
    assert plain.needed is not None
    assert rotated.needed >= plain.needed
    assert "place:allowed for" in rotated.signature
    with pytest.raises(OptionError, match="sizes .3. is not a whole number from 4 on"):
        assay.plan_editors(3, 3.0, sizes=[3], place=True)
    small = assay.plan_editors(2, 8.0, sizes=[6])
    assert has_note(small.notes, "rotated-order")


def test_the_variances_of_cells_and_segments_add_up() -> None:
    plans = [assay.plan_editors(3, 2.0, cell=c, residual=r) for c, r in ((0, 230), (9, 23))]
    assert plans[0].points == plans[1].points
    # Noncentral t, 24 editors and 3 systems: (3 - 1)(24 - 2) degrees, error sqrt(2 x 10 / 24)
    shift, t = 2 / np.sqrt(20 / 24), stats.t.ppf(0.975, 44)
    power = stats.nct.sf(t, 44, shift) + stats.nct.cdf(-t, 44, shift)
    assert plans[0].points[2].power == pytest.approx(power)


def test_a_pilot_without_spread_is_refused() -> None:
    rows = [
        {"system": s, "doc": d, "seg": k, "editor": e, "mt": "a b", "edited": "a b"}
        for e, kit in {"E1": "AB", "E2": "BA", "E3": "AB"}.items()
        for d, s in zip("xy", kit, strict=True)
        for k in range(4)
    ]
    pilot = assay.effort(assay.read_edits(pl.DataFrame(rows)), measures=["distance"], rng=1)
    with pytest.raises(OptionError, match="pilot .distance. has no spread to plan with"):
        assay.plan_editors(2, 3.0, pilot=pilot)


def test_longer_documents_help_up_to_a_point() -> None:
    needed = [
        assay.plan_editors(3, 3.0, segments=count).needed or 0 for count in (5, 20, 100, 10_000)
    ]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] > 10  # editor x document stays, however long the documents


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, 3.0), {}, "systems .1. is not a whole number from 2 on"),
        ((3, 0.0), {}, "gap .0.0. is not a positive number"),
        ((3, 3.0), {"segments": 0}, "segments .0. is not a whole number from 1 on"),
        ((3, 3.0), {"power": 0.01}, "power .0.01. is not between 0.05 and 1"),
        ((3, 3.0), {"level": 2}, "level .2. is not between 0.5 and 1"),
        ((3, 3.0), {"sizes": [2]}, "sizes .2. is not a whole number from 3 on"),
        ((3, 3.0), {"cell": 1.0}, "needs `residual` too"),
        ((3, 3.0), {"cell": -1.0, "residual": 1.0}, "are not variances"),
        ((3, 3.0), {"measure": "hter"}, "measure .hter. has no default variances"),
    ],
)
def test_bad_input(arguments: tuple[int, float], options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        assay.plan_editors(*arguments, **options)


def test_command(tmp_path: Path, run_assay: Run) -> None:
    ran = run_assay("plan", "editors", "--systems", 3, "--gap", 3, "--json")
    result = json.loads(ran.out)
    assert result["needed"] == 23
    assert (result["cell"], result["residual"], result["segments"]) == (8.78, 79.5, 23)
    ran = run_assay("plan", "editors", "--systems", 3, "--gap", 3, "-o", tmp_path / "p.json")
    assert "23 editors; 24 complete the design" in ran.out
    assert json.loads((tmp_path / "p.json").read_text()) == result
    plan = assay.plan_editors(3, 3.0)
    assert type(plan).from_dict(result) == plan
    ran = run_assay("plan", "editors", "--systems", 3, "--gap", "1e-9")
    assert "the gap is too small" in ran.out
    ran = run_assay("plan", "editors", "--systems", 3, "--gap", 3, "--sizes", "x")
    assert (ran.code, "not a list of whole numbers" in ran.err) == (2, True)


def test_sizes_beyond_all_editors_are_refused() -> None:
    assert assay.plan_editors(3, 3.0, sizes=[100_000]).needed is not None
    with pytest.raises(OptionError, match=r"is too many; give at most 100,000"):
        assay.plan_editors(3, 3.0, sizes=[100_001])
