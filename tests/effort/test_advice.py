"""What more editors would bring."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import assay
from assay.effort.results import EffortDifference
from assay.effort.verdict import Verdict, next_steps
from assay.results import money_text, time_text
from assay.stats.reml import gap_power
from assay.worlds.editing import EditingWorld

KITS = [(f"E{e}", f"d{k}", "ABC"[(e + k) % 3]) for e in range(6) for k in range(3)]


def test_the_number_of_editors_has_the_power() -> None:
    result = assay.effort(EditingWorld({"A": 0.0, "B": 1.0, "C": 12.0}).edits(KITS, rng=1), rng=1)
    verdict = result.verdict
    assert verdict is not None
    assert not verdict.decided
    (line,) = result.next
    assert line.startswith(
        f"to decide between {verdict.best} and {verdict.rival} by {verdict.measure}"
    )
    item = _difference(result, verdict)
    total = int(line.split(" in all")[0].split(" ")[-1])
    variance = item.stderr**2 * 6 / 2
    found = gap_power(item.difference, variance=variance, editors=total, systems=3, level=0.95)
    short = gap_power(item.difference, variance=variance, editors=total - 1, systems=3, level=0.95)
    assert short < 0.8 <= found


def test_advice_has_hours_and_a_price() -> None:
    edits = EditingWorld({"A": 0.0, "B": 1.0, "C": 12.0}).edits(KITS, rng=1)
    (line,) = assay.effort(edits, rate="40 EUR", rng=1).next
    hours = edits.frame["seconds"].sum() / 3600 / 6
    more = int(line.split("about ")[1].split(" ")[0])
    spent = time_text(60 * more * hours)
    assert f"({spent}, {money_text(more * hours * 40, 'EUR')})" in line
    (line,) = assay.effort(edits, rng=1).next
    assert f"({spent})," in line


def _difference(result: assay.Effort, verdict: Verdict) -> EffortDifference:
    pair = {verdict.best, verdict.rival}
    return next(
        item for item in result.differences
        if item.measure == verdict.measure and {item.left, item.right} == pair
    )  # fmt: skip


def test_nothing_open_and_nothing_to_see() -> None:
    result = assay.effort(EditingWorld({"A": 0.0, "B": 1.0, "C": 12.0}).edits(KITS, rng=1), rng=1)
    verdict = result.verdict
    assert verdict is not None
    unknown: Any = {"hours": None, "rate": None, "currency": None}
    decided = replace(verdict, decided=True)
    assert next_steps(decided, result.differences, {}, [None] * 9, **unknown) == ()
    assert next_steps(None, result.differences, {}, [None] * 9, **unknown) == ()
    same = replace(_difference(result, verdict), decided=False, difference=0.0, p=1.0)
    (line,) = next_steps(verdict, [same], {}, [None], **unknown)
    assert line == f"these edits show no difference between {verdict.best} and {verdict.rival}"
    small = replace(same, difference=1e-9)
    models: Any = {same.measure: SimpleNamespace(document_degrees=0, editors=6)}
    (line,) = next_steps(verdict, [small], models, [6], **unknown)
    assert "about 1 more editors" in line  # six did not do
    assert "7 in all" in line
    (line,) = next_steps(verdict, [small], models, [None], **unknown)
    assert "no realistic number of editors" in line
