"""Weights of errors: Google's, changed by the user, and slips in the changes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.errors import OptionError
from assay.formats.catalogue import Options, load_format
from assay.formats.mqm import GOOGLE_WEIGHTS, NO_ERROR, make_weights, mqm_scores, unknown_changes
from formats.line_texts import FIXTURES

ERRORS = pl.DataFrame(
    {
        "system": ["A", "A", "A", "B"],
        "seg": ["1", "1", "2", "1"],
        "category": ["Style", "Fluency/Punctuation", "Non-translation!", NO_ERROR],
        "severity": ["Major", "minor", "Major", NO_ERROR],
    }
)


def test_scores_by_hand() -> None:
    assert mqm_scores(ERRORS)["score"].to_list() == [5.1, 25.0, 0.0]
    changed = make_weights({"Major": 10, "minor": 2})
    assert changed.changed == ("major", "minor")
    assert mqm_scores(ERRORS, changed)["score"].to_list() == [10.1, 25.0, 0.0]


def test_no_changes_are_the_usual_weights() -> None:
    assert make_weights({}) == GOOGLE_WEIGHTS
    assert make_weights({"major": 10}) != GOOGLE_WEIGHTS
    assert str(make_weights({"Major": 10, "minor": 0.5})) == "major=10, minor=0.5"


@pytest.mark.parametrize("weight", [-5.0, float("nan"), float("inf"), float("-inf")])
def test_what_is_no_weight(weight: float) -> None:
    message = rf"weights \(major={weight:g}\) is not a weight: .*; write it without a sign"
    with pytest.raises(OptionError, match=message):
        make_weights({"major": weight})


def test_no_error_costs_nothing() -> None:
    with pytest.raises(
        OptionError, match=r"weights \(no-error=1\) gives a weight to what is not an err"
    ):
        make_weights({NO_ERROR: 1})
    assert mqm_scores(ERRORS, make_weights({NO_ERROR: 0})).height == 3
    assert make_weights({"neutral": 0.5}).of("Style", "Neutral") == 0.5


def test_a_change_of_nothing_is_a_slip(tmp_path: Path) -> None:
    message = (
        r"weights \(majr\) names a severity that is neither known nor in the file"
        r" \(did you mean 'major'\?\); choose from critical, major"
    )
    with pytest.raises(OptionError, match=message):
        mqm_scores(ERRORS, make_weights({"majr": 10}))
    assert unknown_changes(ERRORS, make_weights({"majr": 10, "major": 1})) == ["majr"]
    # Known but not here, or here but not known: both mean something.
    assert mqm_scores(ERRORS, make_weights({"critical": 10})).height == 3
    odd = ERRORS.with_columns(pl.col("severity").replace("minor", "Tiny"))
    assert mqm_scores(odd, make_weights({"tiny": 2}))["score"].to_list() == [7.0, 25.0, 0.0]
    path = FIXTURES / "google_mqm.tsv"
    with pytest.raises(OptionError, match=message):
        load_format(path, "google-mqm", "ratings", Options(weights=make_weights({"majr": 10})))
