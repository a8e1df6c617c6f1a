"""Offsets in UTF-16 units against Python's own UTF-16 encoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.mqm import code_points, from_inclusive, from_utf16

TEXTS = st.text(alphabet=st.sampled_from("aß\n שא😀🏳\u200d🌈\ufe0f"), max_size=12) | st.text(
    max_size=12
)


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(TEXTS)
def test_every_unit_belongs_to_a_code_point(text: str) -> None:
    units = code_points(text)
    assert len(units) == utf16_length(text)
    assert units == sorted(units)
    assert set(units) == set(range(len(text)))


@given(TEXTS, st.data())
def test_offsets_survive_there_and_back(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    there = len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
    assert there == utf16_length(text[:offset])
    assert from_utf16(text, there) == offset


@given(TEXTS.filter(bool), st.data())
def test_inclusive_units_become_half_open_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = utf16_length(text[:start]), utf16_length(text[:end]) - 1
    assert from_inclusive(code_points(text), first, last) == (start, end)


@given(TEXTS, st.data())
def test_skipped_characters_are_not_counted(text: str, data: st.DataObject) -> None:
    plain = text.replace("\n", "")
    units = code_points(text, skip="\n")
    assert [text[place] for place in units] == [plain[place] for place in code_points(plain)]


def test_emoji_by_hand() -> None:
    text = "😀 ok 👍🏽"
    assert from_inclusive(code_points(text), 0, 1) == (0, 1)
    assert from_inclusive(code_points(text), 3, 4) == (2, 4)
    assert from_inclusive(code_points(text), 6, 9) == (5, 7)
    assert text[5:7] == "👍🏽"


@pytest.mark.parametrize(("first", "last"), [(-1, 0), (0, 3), (2, 1), (3, 3)])
def test_spans_outside_the_text_are_none(first: int, last: int) -> None:
    assert from_inclusive(code_points("abc"), first, last) is None


@pytest.mark.parametrize("offset", [-1, 2, 5])
def test_offsets_outside_the_text_or_inside_a_character_are_none(offset: int) -> None:
    assert from_utf16("a😀b", offset) is None
