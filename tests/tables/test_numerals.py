"""Numbers as people write them."""

from __future__ import annotations

import polars as pl

from assay.tables.numerals import as_written


def test_whole_floats_are_whole_numbers_as_far_as_they_are_exact() -> None:
    """Beyond 2^53, and beyond 64 bits, a float stays one: nothing is lost or made up."""
    values = [1.0, -3.0, 2.5, 2.0**60, 1e300, None]
    written = as_written(pl.Series(values)).to_list()
    assert written[:3] == ["1", "-3", "2.5"]
    assert "e" in str(written[3])
    assert [None if text is None else float(text) for text in written] == values
