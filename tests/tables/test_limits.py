"""How limits are written, and what a file may hold at most."""

from __future__ import annotations

import pytest

import assay
from assay.errors import OptionError
from assay.tables.limits import LIMITS, parse_limits


def test_as_they_are_written() -> None:
    found = parse_limits("rows=1e9, columns = 20")
    assert (found.rows, found.columns) == (10**9, 20)
    assert found.bytes == assay.FileLimits().bytes


@pytest.mark.parametrize(
    ("text", "says"),
    [("columns", "is not a number"), ("colums=3", "did you mean 'columns'"), ("rows=0", "from 1"),
     ("rows=1e999", "is not a number"), ("rows=nan", "is not a number"), ("=", "is not a limit"),
     ("rows=1,rows=2", "names it again")],
)  # fmt: skip
def test_limits_that_are_none(text: str, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        parse_limits(text)


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "9"])
def test_a_limit_is_a_number_from_one_on(value: object) -> None:
    with pytest.raises(OptionError, match="give a number from 1 on"):
        assay.FileLimits(rows=value)  # type: ignore[arg-type]


def test_the_usual_ones_come_back() -> None:
    before = LIMITS.get()
    with (
        pytest.raises(RuntimeError, match="inside"),
        assay.limits(assay.FileLimits(rows=7)) as now,
        assay.limits(assay.FileLimits(rows=8)),
    ):
        assert now.rows == 7
        assert LIMITS.get().rows == 8
        raise RuntimeError("inside")
    assert LIMITS.get() is before
