"""What more editors would bring."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import assay
from assay.effort.effort import _next_steps
from assay.stats.reml import gap_power
from assay.worlds.editing import EditingWorld

KITS = [(f"E{e}", f"d{k}", "ABC"[(e + k) % 3]) for e in range(6) for k in range(3)]


def test_the_number_of_editors_has_the_power() -> None:
    result = assay.effort(EditingWorld({"A": 0.0, "B": 1.0, "C": 12.0}).edits(KITS, rng=1), rng=1)
    (line,) = result.next
    still = [item for item in result.differences if not item.decided]
    item = min(still, key=lambda one: one.p)
    assert line.startswith(f"to decide {item.left} and {item.right} by {item.measure}")
    total = int(line.split(", ")[-2].split(" in all")[0]) if " in all" in line else 0
    variance = item.stderr**2 * 6 / 2
    found = gap_power(item.difference, variance=variance, editors=total, systems=3, level=0.95)
    short = gap_power(item.difference, variance=variance, editors=total - 1, systems=3, level=0.95)
    assert short < 0.8 <= found


def test_nothing_open_and_nothing_to_see() -> None:
    result = assay.effort(EditingWorld({"A": 0.0, "B": 1.0, "C": 12.0}).edits(KITS, rng=1), rng=1)
    decided = [replace(item, decided=True) for item in result.differences]
    assert _next_steps(decided, {}, [None] * len(decided)) == ()
    same = replace(result.differences[0], decided=False, difference=0.0, p=1.0)
    (line,) = _next_steps([same], {}, [None])
    assert line == f"these edits show no difference between {same.left} and {same.right}"
    small = replace(same, difference=1e-9)
    models: Any = {same.measure: SimpleNamespace(document_degrees=0, editors=6)}
    (line,) = _next_steps([small], models, [None])
    assert "no realistic number of editors" in line
