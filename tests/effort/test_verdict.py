"""One verdict where measures may disagree."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import assay
from assay.effort.model import EffortModel, Names
from assay.effort.results import Effort
from assay.effort.verdict import (
    Objection,
    _document_shares,
    _documents_needed,
    _share,
    _shares,
    judge,
)
from assay.errors import OptionError
from assay.tables.answers import Edits
from assay.views.effort import effort_section
from assay.worlds.editing import EditingWorld

KITS = [(f"E{e}", f"d{k}", "ABC"[(e + k) % 3]) for e in range(9) for k in range(3)]


@pytest.fixture(scope="module")
def edits() -> Edits:
    return EditingWorld({"A": 0.0, "B": 12.0, "C": 12.5}).edits(KITS, rng=1)


def _lead(result: Effort) -> str:
    return effort_section(result).said


def _slow(edits: Edits, system: str, times: float) -> Edits:
    slower = pl.when(pl.col("system") == system).then(pl.col("seconds") * times + 30)
    return replace(
        edits, frame=edits.frame.with_columns(seconds=slower.otherwise(pl.col("seconds")))
    )


def _timed(edits: Edits, share: float) -> Edits:
    """Times for a share of the rows only."""
    kept = pl.int_range(pl.len()) % 100 < 100 * share
    return replace(
        edits, frame=edits.frame.with_columns(seconds=pl.when(kept).then(pl.col("seconds")))
    )


def test_time_comes_first_with_its_price(edits: Edits) -> None:
    result = assay.effort(edits, rate="40 EUR", rng=1)
    verdict = result.verdict
    assert verdict is not None
    assert (verdict.measure, verdict.why, verdict.best) == ("time", "paid-for", "A")
    assert set(verdict.beats) == {"B", "C"}
    assert verdict.decided
    item = next(item for item in result.systems if item.system == "A")
    lead = _lead(result)
    assert lead.startswith(f"A costs least to edit: {item.price_per_1000_words:.2f} EUR per 1,000")
    assert "A beats B and C" in lead or "A beats C and B" in lead
    assert "disagree" not in lead
    plain = _lead(assay.effort(edits, rng=1))
    assert plain.startswith(f"A takes the least time to edit: {item.hours_per_1000_words:.2f} h")
    assert result.next == ()


def test_measures_that_disagree_are_heard(edits: Edits) -> None:
    """A needs the fewest changes, and by far the most time."""
    result = assay.effort(_slow(edits, "A", 3.0), rate="40 EUR", rng=1)
    verdict = result.verdict
    assert verdict is not None
    assert verdict.best in ("B", "C")
    assert Objection("distance", "A", verdict.best) in verdict.objections
    lead = _lead(result)
    assert f"Measures disagree: by distance A needs less effort than {verdict.best}" in lead or (
        f"A needs less effort than {verdict.best}" in lead
    )
    assert "The verdict follows time, which is what is paid for." in lead


@pytest.mark.parametrize(
    ("share", "measure", "why"),
    [(1.0, "time", "paid-for"), (0.5, "distance", "few-times"), (0.0, "distance", "no-times")],
)
def test_which_measure_is_followed(edits: Edits, share: float, measure: str, why: str) -> None:
    verdict = assay.effort(_timed(edits, share), rng=1).verdict
    assert verdict is not None
    assert (verdict.measure, verdict.why) == (measure, why)


def test_without_times_there_is_no_price(edits: Edits) -> None:
    bare = replace(edits, frame=edits.frame.drop("seconds"))
    lead = _lead(assay.effort(bare, rate="40 EUR", rng=1))
    assert lead.startswith("A needs the fewest changes: ")
    assert "No time in these files, so no price: that needs the seconds of every segment" in lead
    assert "No time" not in _lead(assay.effort(bare, rng=1))
    found = assay.effort(edits, measures=["changed"], rate=40, rng=1)
    left = found.verdict
    assert left is not None
    assert _lead(found).endswith("Time was left out, so no price.")
    assert (left.measure, left.why) == ("changed", "time-left-out")


def test_the_human_translation_is_no_rival(edits: Edits) -> None:
    result = assay.effort(edits, human="A", rng=1)
    verdict = result.verdict
    assert verdict is not None
    assert {verdict.best, verdict.rival} == {"B", "C"}
    assert not verdict.decided
    lead = _lead(result)
    assert lead.startswith(f"Whether {verdict.best} or {verdict.rival} takes the least time")
    assert "The human translation, A: " in lead
    pair = f"to decide between {verdict.best} and {verdict.rival} by time"
    assert result.next[0].startswith(pair) or "no realistic number" in result.next[0]


def test_nothing_known_is_no_verdict() -> None:
    means = {"distance": {"A": float("nan"), "B": 3.0}}
    assert judge(means, [], timed=None, human=None) is None


@pytest.mark.parametrize(("timed", "measure"), [(0.8, "time"), (0.79, "distance")])
def test_time_counts_if_four_in_five_segments_have_one(timed: float, measure: str) -> None:
    means = {"time": {"A": 2.0, "B": 3.0}, "distance": {"A": 5.0, "B": 4.0}}
    verdict = judge(means, [], timed=timed, human=None)
    assert verdict is not None
    assert verdict.measure == measure


def test_systems_with_documents_of_their_own(edits: Edits) -> None:
    """Every job is another text: documents are taken as alike in kind, and a warning says so."""
    own = edits.frame.with_columns(doc=pl.col("doc") + pl.col("system") + pl.col("editor"))
    result = assay.effort(replace(edits, frame=own), rng=1)
    assert result.assume_alike
    assert "documents-assumed-alike" in {note.code for note in result.warnings}
    assert not assay.effort(edits, rng=1).assume_alike
    with pytest.raises(ValueError, match="systems cannot be separated from documents"):
        assay.effort(replace(edits, frame=own), assume_alike=False, rng=1)


def test_a_verdict_survives_its_file(edits: Edits) -> None:
    result = assay.effort(edits, rate="40 EUR", rng=1)
    assert Effort.from_dict(result.to_dict()) == result
    old = {k: v for k, v in result.to_dict().items() if k not in ("verdict", "currency")}
    assert "takes less effort than" in _lead(Effort.from_dict(old))


@pytest.mark.parametrize("rate", ["forty", "EUR 40 EUR", "-3", "40 euros a day"])
def test_odd_prices(edits: Edits, rate: str) -> None:
    with pytest.raises(OptionError, match="write 40 EUR, or 40"):
        assay.effort(edits, rate=rate)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.8, 1.25, "alike"),  # 1 / 1.25 = .8
        (0.8, 1.26, "undetermined"),
        (0.79, 1.25, "undetermined"),
        (1.26, 2.0, "unlike"),
        (0.3, 0.79, "unlike"),
        (0.3, 0.8, "undetermined"),
        (1.25, 2.0, "undetermined"),
    ],
)
def test_documents_are_alike_or_unlike_with_their_whole_interval(
    low: float, high: float, verdict: str
) -> None:
    assert _share([1.0, low, high, low, high], 1.25).verdict == verdict


def test_documents_shares_are_least_squares() -> None:
    """statsmodels 0.15.0, OLS with sum contrasts of documents and systems."""
    from statsmodels.api import OLS

    editor, document = (part.ravel() for part in np.indices((6, 3)))
    system = (editor + document) % 3
    values = np.random.default_rng(1).gamma(4.0, size=18)
    share, error, degrees = _document_shares(values, system, document, editor, logs=False)
    sums = np.vstack([np.eye(2), [-1, -1]])
    fit = OLS(values / values.mean(), np.hstack([sums[document], sums[system], np.eye(6)[editor]]))
    fitted = fit.fit()
    third = fitted.t_test(np.array([-1, -1] + [0] * 8))
    assert share == pytest.approx([*fitted.params[:2], third.effect.item()])
    assert error == pytest.approx([*fitted.bse[:2], third.sd.item()])
    assert degrees == fitted.df_resid == 18 - 2 - 2 - 6


def test_documents_needed_have_the_power() -> None:
    """12 documents, of which 3 degrees are lost: an error that falls with their root."""
    item: Any = SimpleNamespace(difference=1.0, stderr=0.355)
    model: Any = SimpleNamespace(document_sizes=np.ones(12), document_degrees=9)

    def power(number: int) -> float:
        shift, t = 1 / 0.355 * np.sqrt(number / 12), stats.t.ppf(0.975, number - 3)
        return float(stats.nct.sf(t, number - 3, shift) + stats.nct.cdf(-t, number - 3, shift))

    found = _documents_needed(item, model, 0.95)
    assert found is not None
    assert power(found - 1) < 0.8 <= power(found)


def test_degrees_within_editors_are_fewer_if_one_cell_decides_and_never_more() -> None:
    # (sum l^2 s)^2 x mean of 1 / s^2 / (sum l^2)^2 of ten degrees
    model = EffortModel(*[None] * 4, 10, *[None] * (len(EffortModel._fields) - 5))  # type: ignore
    spread = np.array([1.0, 4.0])
    assert model._within_degrees(np.array([1.0, 0.0]), spread) == pytest.approx(10 * 17 / 32)
    assert model._within_degrees(np.array([0.0, 1.0]), spread) == 10
    assert model._within_degrees(np.zeros(2), spread) == 10


@pytest.mark.parametrize("by_time", [False, True])
def test_a_measure_objects_where_it_decides_what_the_verdict_leaves_open(by_time: bool) -> None:
    means = {"time": {"A": 2.0, "B": 3.0}, "distance": {"A": 5.0, "B": 9.0}}
    differences: Any = [
        SimpleNamespace(measure=name, left="A", right="B", difference=-1.0, decided=decided)
        for name, decided in (("time", by_time), ("distance", True))
    ]
    verdict = judge(means, differences, timed=1.0, human=None)
    assert verdict is not None
    assert verdict.decided is by_time
    assert verdict.objections == (() if by_time else (Objection("distance", "A", "B"),))


@pytest.mark.parametrize("documents", [2, 3])
def test_documents_are_tested_by_two_one_sided_tests(documents: int) -> None:
    """At 95 %: an interval of 90 %, of logarithms where all times are above 0."""
    editor, document = (part.ravel() for part in np.indices((6, documents)))
    system = (editor + document) % documents
    time = np.random.default_rng(1).gamma(9.0, size=len(editor))
    cells = pl.DataFrame({
        "editor": [f"E{k}" for k in editor], "doc": [f"d{k}" for k in document],
        "system": ["ABC"[k] for k in system], "time": time,
    })  # fmt: skip
    names = Names(
        tuple("ABC"[:documents]), tuple(f"d{k}" for k in range(documents)),
        tuple(f"E{k}" for k in range(6)),
    )  # fmt: skip
    found = _shares(cells, "time", names, 1.25, 0.95)
    log, error, degrees = _document_shares(time, system, document, editor, logs=True)
    for name, level in (("low", 0.95), ("low83", 0.915)):
        wanted = np.exp(log - stats.t.ppf(level, degrees) * error)
        assert [getattr(share, name) for share in found] == pytest.approx(wanted)


class Comparing(EffortModel):
    """Three systems; those next to each other are compared better than the outer two."""

    def contrast(self, weights: np.ndarray) -> tuple[float, float]:
        return 4.0, 2.0 if weights[0] and weights[2] else 1.0

    def contrast_degrees(self, weights: np.ndarray) -> float:
        return 5.0 if weights[0] and weights[2] else 9.0


def test_comparing_intervals_add_up_to_those_of_differences() -> None:
    empty: Any = [None] * (len(EffortModel._fields) - 1)
    model = Comparing(*empty, (-np.inf, np.inf))._replace(means=np.zeros(3))
    # Half of the mean square error of the two differences, and the fewer degrees
    half = stats.t.ppf(0.915, 5) * np.sqrt((1 + 4) / 2 / 2)
    found = model.comparing_interval(0, 0.83)
    assert (found.low, found.high) == pytest.approx((4 - half, 4 + half))
