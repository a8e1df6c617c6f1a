"""The error tree, signatures and the plain form of results."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.errors import AssayError, InputError, MissingExtraError, Problem, TableError
from assay.results import plain, result_dict, signature
from assay.stats.intervals import Interval


def test_input_errors_are_value_errors() -> None:
    assert issubclass(TableError, InputError)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingExtraError, AssayError)


def test_table_error_shows_the_first_twenty() -> None:
    error = TableError("x.tsv", [Problem("bad", line) for line in range(25)])
    assert "x.tsv: 25 problems" in str(error)
    assert "... and 5 more" in str(error)
    assert "1 problem\n" in str(TableError("x.tsv", [Problem("bad")]))


def test_problem_names_its_place() -> None:
    assert str(Problem("bad", 3, "score", "x")) == "line 3, column score: bad"
    assert str(Problem("bad")) == "bad"


def test_missing_extra_says_what_to_install() -> None:
    assert "pip install 'mt-assay[kits]'" in str(MissingExtraError("reading .docx", "kits"))


def test_signature_ends_with_the_version() -> None:
    assert signature("a", n=1, x=None) == f"a|n:1|v:{assay.__version__}"


def test_plain_form() -> None:
    value = {"i": Interval(0.0, float("inf"), 0.95), "n": np.int64(3), "t": (1, "x", None, True)}
    assert plain(value) == {
        "i": {"low": 0.0, "high": None, "level": 0.95}, "n": 3, "t": [1, "x", None, True],
    }  # fmt: skip


def test_result_dict_begins_with_kind_version_signature() -> None:
    assert list(result_dict("x", "s", a=1)) == ["kind", "version", "signature", "a"]


def test_every_public_name_is_there_and_sorted() -> None:
    assert list(assay.__all__) == sorted(assay.__all__)
    for name in assay.__all__:
        assert getattr(assay, name) is not None
    assert dir(assay) == assay.__all__
    with pytest.raises(AttributeError, match="no attribute 'rank_all'"):
        assay.rank_all  # noqa: B018
