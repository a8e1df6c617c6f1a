"""Effort where the data are odd: exact fits, missing times, unbalanced kits, other scales."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.effort.results import Effort
from assay.views.page import write_report

Cell = Callable[[str, str, str, int], tuple[str, str, float | None]]


def _latin(count: int, editors: int) -> list[tuple[str, str, str]]:
    return [(f"E{e}", f"d{p}", "ABC"[(e + p) % count]) for e in range(editors)
            for p in range(count)]  # fmt: skip


def _edits(kits: list[tuple[str, str, str]], cell: Cell, segments: int = 8) -> assay.Edits:
    rows = []
    for editor, doc, system in kits:
        for seg in range(segments):
            mt, edited, seconds = cell(editor, doc, system, seg)
            rows.append({"system": system, "doc": doc, "seg": seg, "editor": editor, "mt": mt,
                         "edited": edited, "seconds": seconds})  # fmt: skip
    return assay.read_edits(pl.DataFrame(rows))


@pytest.fixture
def twice() -> assay.Edits:
    """B takes twice the time of A, 30 s a segment of three words."""
    rng = np.random.default_rng(0)
    return _edits(
        _latin(2, 8),
        lambda e, d, s, k: ("a b c", "a b d", 30.0 * (1 + (s == "B")) * np.exp(rng.normal(0, 0.1))),
        segments=20,
    )


@pytest.mark.parametrize("time", ["mean", "log", "winsorised"])
def test_parity_is_of_ratios_on_any_scale(twice: assay.Edits, time: str) -> None:
    for margin, verdict in ((0.3, "no parity"), (0.9, "no parity"), (1.2, "parity")):
        result = assay.effort(twice, measures=["time"], time=time, human="A", margin=margin, rng=1)
        (item,) = result.parity
        assert item.verdict == verdict
        assert item.excess == pytest.approx(1.0, abs=0.05)


def test_units_and_notes_say_the_scale(twice: assay.Edits) -> None:
    result = assay.effort(twice, measures=["time"], time="log", rng=1)
    assert result.units == {"time": "log(seconds per word)"}
    assert any("hours and price use plain time" in line for line in result.notes)
    nought = twice.frame.with_columns(
        pl.when(pl.col("seg") == "1").then(0.0).otherwise(pl.col("seconds")).alias("seconds")
    )
    result = assay.effort(assay.Edits(nought), measures=["time"], time="log", rng=1)
    mean = (nought["seconds"] / 3).mean()
    assert result.units == {"time": f"log(seconds per word + {0.05 * mean:.3g})"}
    capped = assay.effort(twice, measures=["time"], time="winsorised", rng=1)
    assert "at most" in capped.units["time"]


def test_hours_are_adjusted_for_editors() -> None:
    """An editor who is ten times as slow had system A only; A and B take the same time."""
    rng = np.random.default_rng(0)
    kits = [*_latin(2, 6), ("slow", "d0", "A"), ("slow", "d1", "A")]
    edits = _edits(
        kits,
        lambda e, d, s, k: (
            "a b c", "a b d", 3 * (20.0 if e == "slow" else 2.0) * np.exp(rng.normal(0, 0.1))
        ),
    )  # fmt: skip
    result = assay.effort(edits, measures=["time"], rate=36, rng=1)
    first, second = result.systems
    assert first.hours_per_1000_words == pytest.approx(second.hours_per_1000_words, rel=0.05)
    for item in result.systems:
        level = item.measures["time"]
        assert item.hours_per_1000_words == pytest.approx(level.mean / 3.6)
        assert item.hours_high == pytest.approx(level.high / 3.6)
        assert item.hours_low == pytest.approx(max(level.low, 0) / 3.6)
        assert item.price_high == pytest.approx(36 * item.hours_high)


def test_hours_are_all_seconds_over_all_words() -> None:
    """In balanced kits, whatever the scale of time: long segments weigh by their words."""
    rng = np.random.default_rng(2)
    texts = ["a", "a b c d e f g h", "a b c"]
    edits = _edits(
        _latin(2, 4), lambda e, d, s, k: (texts[k % 3], "x", float(rng.gamma(2, 5))), segments=6
    )
    frame = edits.frame.with_columns(pl.col("mt").str.count_matches(r"\S+").alias("n"))
    for time in ("mean", "log", "winsorised"):
        result = assay.effort(edits, measures=["time"], time=time, rng=1)
        for item in result.systems:
            own = frame.filter(pl.col("system") == item.system)
            plain = own["seconds"].sum() / own["n"].sum() / 3.6
            assert item.hours_per_1000_words == pytest.approx(plain)


def test_an_exact_fit_has_no_spread_to_judge_by() -> None:
    """All of B changed, nothing of A: once an arithmetic error. Only the randomisation speaks."""
    edits = _edits(
        _latin(2, 4),
        lambda e, d, s, k: ("a b c", "a b c" if s == "A" else "x y z", 1.0 + (s == "B")),
    )
    result = assay.effort(edits, measures=["time", "changed"], rng=1)
    for item in result.differences:
        assert item.difference == pytest.approx(-1 if item.measure == "changed" else -1 / 3)
        assert item.verdict == "undetermined"
        assert math.isnan(item.stderr)
        assert math.isnan(item.p)
        assert item.randomisation_p == pytest.approx(2 / 6)
    assert "no-spread" in {note.code for note in result.warnings}
    result.to_dict()


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_editors_and_segments_that_explain_all(noise: float) -> None:
    """Rounding is no spread: it once gave p = 3e-36."""
    rng = np.random.default_rng(1)
    edits = _edits(
        _latin(2, 4),
        lambda e, d, s, k: (
            "a b c", "a b c", 9.0 + (s == "B") + 0.37 * int(e[1]) + k / 7 + noise * rng.normal()
        ),
    )  # fmt: skip
    (item,) = assay.effort(edits, measures=["time"], rng=1).differences
    assert math.isnan(item.p)
    assert item.verdict == "undetermined"


def test_editors_without_times_do_not_count_for_time() -> None:
    rng = np.random.default_rng(3)
    edits = _edits(
        _latin(3, 6),
        lambda e, d, s, k: (
            "a b c", "a b d" if rng.random() < 0.5 else "a b c",
            float(rng.gamma(2, 3) + 10 * int(e[1])) if e in ("E0", "E2", "E4") else None,
        ),
        segments=20,
    )  # fmt: skip
    whole = assay.effort(edits, measures=["time", "changed"], rng=1)
    few = assay.Edits(edits.frame.filter(pl.col("seconds").is_not_null()))
    alone = assay.effort(few, measures=["time"], rng=1)
    for mine, other in zip(whole.systems, alone.systems, strict=True):
        level, same = mine.measures["time"], other.measures["time"]
        assert (level.low, level.high) == pytest.approx((same.low, same.high), rel=1e-4)
        assert level.randomisation_p == same.randomisation_p
    degrees = {item.measure: item.degrees for item in whole.differences}
    assert degrees == {"time": 2, "changed": 8}
    told = [note for note in whole.warnings if note.code == "too-few-editors" and "time" in note]
    assert all(", 3 editors can detect a difference" in note for note in told)


def test_a_cell_without_time_leaves_the_documents_judged() -> None:
    rng = np.random.default_rng(3)
    edits = _edits(
        _latin(3, 6),
        lambda e, d, s, k: (
            "a b c", "a b d", None if (e, d) == ("E0", "d0") else float(rng.gamma(2, 3) + 1)
        ),
    )  # fmt: skip
    result = assay.effort(edits, measures=["time"], rng=1)
    for item in result.documents:
        share = item.measures["time"]
        assert share.low < share.ratio < share.high
    ratios = {(row.name, row.kind): row for row in result.relative}
    assert all(math.isfinite(row.described) for row in ratios.values())
    # The words of segments without time are no part of a speed.
    cells = edits.frame.drop_nulls("seconds")
    pace = {s: cells.filter(system=s)["seconds"].sum() / cells.filter(system=s).height
            for s in "ABC"}  # fmt: skip
    mean = np.mean([1 / value for value in pace.values()])
    for name, value in pace.items():
        assert ratios[name, "system"].pooled == pytest.approx(mean * value)


def test_settings_are_in_the_result(twice: assay.Edits) -> None:
    result = assay.effort(twice, measures=["time"], time_weight=0.5, draws=50, rng=1)
    found = result.to_dict()
    assert [found[name] for name in ("measures", "time_weight", "assume_alike", "draws")] == [
        ["time"], 0.5, False, 50
    ]  # fmt: skip


def test_the_report_has_documents_and_narrow_intervals(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    edits = _edits(_latin(3, 6), lambda e, d, s, k: ("a b c", "a b d", float(rng.gamma(2, 3) + 1)))
    page = write_report(assay.effort(edits, measures=["time"], rng=1), tmp_path / "r.html")
    text = page.read_text("utf-8")
    assert "Effort of each document relative to the average, with the 90% interval" in text
    assert "83% interval" in text
    assert "p (Holm)" in text
    assert "each editor a different document from each system" in text
    kits = [(f"E{n}", d, s) for n in range(4) for d, s in (("x", "A"), ("y", "B"))]
    same = _edits(kits, lambda e, d, s, k: ("a b c", "a b d", float(rng.gamma(2, 3) + 1)))
    result = assay.effort(same, measures=["time"], assume_alike=True, rng=1)
    text = write_report(result, tmp_path / "s.html").read_text("utf-8")
    assert "all editors the same document from each system" in text


def test_many_pairs_have_holms_p() -> None:
    rng = np.random.default_rng(3)
    edits = _edits(_latin(3, 6), lambda e, d, s, k: ("a b c", "a b d", float(rng.gamma(2, 3))))
    result = assay.effort(edits, measures=["time"], rng=1)
    p = sorted(item.p for item in result.differences)
    holm = sorted(item.holm_p for item in result.differences)
    assert holm[0] == pytest.approx(min(1, 3 * p[0]))
    assert holm[1] == pytest.approx(min(1, max(holm[0], 2 * p[1])))


def test_intervals_stay_inside_what_is_possible() -> None:
    """Three editors who differ widely: the t intervals went below nought and beyond 1."""
    rng = np.random.default_rng(1)
    pace = {"E0": 0.1, "E1": 0.4, "E2": 6.0}
    edits = _edits(
        _latin(3, 3),
        lambda e, d, s, k: ("a b c", "a b d" if e != "E0" or k % 3 else "a b c", 3 * pace[e]
                            * float(rng.gamma(2, 0.5))),
    )  # fmt: skip
    result = assay.effort(edits, rng=1)
    most = {"time": math.inf, "distance": 100, "changed": 1}
    for item in result.systems:
        assert item.hours_low is not None
        assert item.hours_low > 0
        for measure, level in item.measures.items():
            assert 0 <= level.low <= level.low83 <= level.high83 <= level.high <= most[measure]
    for document in result.documents:
        for share in document.measures.values():
            assert 0 <= share.low <= share.ratio <= share.high <= 3
    for gap in result.differences:
        assert -most[gap.measure] <= gap.low <= gap.high <= most[gap.measure]


def test_an_unknown_interval_of_hours_is_the_same_once_saved() -> None:
    # It was NaN in the result and None in the file, so that what was read back differed.
    edits = _edits(_latin(3, 3), lambda e, d, s, k: ("a b c", "a b d", 3.0))
    result = assay.effort(edits, rng=1)
    again = Effort.from_dict(json.loads(json.dumps(result.to_dict())))
    ends = [(item.hours_low, item.hours_high) for item in result.systems]
    assert (
        ends == [(item.hours_low, item.hours_high) for item in again.systems] == [(None, None)] * 3
    )
