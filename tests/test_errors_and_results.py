"""The error tree, signatures and the plain form of results."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pytest

import assay
from assay.errors import AssayError, InputError, MissingExtraError, Problem, TableError
from assay.results import KINDS, Note, Result, has_note, plain, signature
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


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    value: float
    count: int | None = None
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Example(Result, kind="example-of-a-result"):
    rows: tuple[Row, ...]
    mode: Literal["one", "two"] = "one"
    shares: dict[str, float] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        return signature("example", rows=len(self.rows))


EXAMPLE = Example(
    (Row("a", 1.5, 3, (0.0, 2.0)), Row("b", 2.0)), "two", {"a": 0.25}, (Note("few", "Few rows."),)
)


def test_a_result_comes_back_as_it_was() -> None:
    written = json.loads(json.dumps(EXAMPLE.to_dict()))
    assert list(written)[:3] == ["kind", "version", "signature"]
    assert KINDS["example-of-a-result"].from_dict(written) == EXAMPLE
    assert Example.from_dict(written).notes[0].code == "few"
    unknown = json.loads(json.dumps(Example((Row("a", float("nan")),)).to_dict()))
    assert unknown["rows"][0]["value"] is None
    assert math.isnan(Example.from_dict(unknown).rows[0].value)


def test_infinity_comes_back() -> None:
    endless = Example((Row("a", float("inf"), ends=(-math.inf, 1.0)),), shares={"a": -math.inf})
    written = json.loads(json.dumps(endless.to_dict(), allow_nan=False))
    assert written["rows"][0]["value"] == "Infinity"
    assert Example.from_dict(written) == endless


def test_a_result_keeps_the_version_that_computed_it() -> None:
    old = Example.from_dict(EXAMPLE.to_dict() | {"version": "0.2.0"})
    assert old.signature == "example|rows:2|v:0.2.0"
    assert replace(old, mode="one").to_dict()["version"] == "0.2.0"
    assert old == EXAMPLE
    assert EXAMPLE.signature.endswith(f"|v:{assay.__version__}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 3}, "rows is 3, not a list"),
        ({"rows": [{"name": "a"}]}, "rows\\[0\\] has no 'value'"),
        ({"rows": [{"name": 1, "value": 1}]}, "name is 1, not a text"),
        ({"rows": [{"name": "a", "value": "x"}]}, "value is 'x', not a number"),
        ({"rows": [{"name": "a", "value": 1, "ends": [1]}]}, "not a list of 2"),
        ({"mode": "three"}, "mode is 'three', not 'one' or 'two'"),
        ({"shares": [1]}, "shares is \\[1\\], not an object"),
        ({"notes": ["words"]}, "'words', not a note"),
        ({"version": "0.1.0"}, "saved by Assay 0.1.0"),
        ({"version": "99.0.0"}, "saved by Assay 99.0.0, which is newer"),
    ],
)
def test_what_was_changed_by_hand_is_refused_with_its_place(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Example.from_dict(EXAMPLE.to_dict() | change)


def test_a_note_keeps_its_code_on_the_way_to_a_worker() -> None:
    note = pickle.loads(pickle.dumps(Note("few", "Few rows.")))
    assert (note, note.code) == ("Few rows.", "few")
    assert has_note((note,), "few")
    assert not has_note(("few",), "few")


def test_every_public_name_is_there_and_sorted() -> None:
    assert list(assay.__all__) == sorted(assay.__all__)
    for name in assay.__all__:
        assert getattr(assay, name) is not None
    assert dir(assay) == assay.__all__
    with pytest.raises(AttributeError, match="no attribute 'rank_all'"):
        assay.rank_all  # noqa: B018
