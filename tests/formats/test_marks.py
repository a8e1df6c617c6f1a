from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.google_mqm import mark, parse_spans, show_spans, unmark
from formats.line_texts import WILD_TEXTS


@pytest.mark.parametrize(
    ("marked", "plain", "spans", "paired"),
    [
        ("abc", "abc", [], True),
        ("<v>a</v>bc", "abc", [(0, 1)], True),
        ("👩🏽‍🚀 <v>x</v>", "👩🏽‍🚀 x", [(5, 6)], True),
        ("a<v></v>b", "ab", [(1, 1)], True),
        ("<v>a</v>b<v>c</v>", "abc", [(0, 1), (2, 3)], True),
        ("a <v>bc", "a bc", [(2, 4)], False),
        ("a</v> bc", "a bc", [], False),
        ("<v>a<v>b</v>c</v>", "abc", [(0, 2)], False),
        ("", "", [], True),
    ],
)
def test_unmark(marked: str, plain: str, spans: list[tuple[int, int]], paired: bool):
    assert unmark(marked) == (plain, spans, paired)


@given(WILD_TEXTS.filter(lambda text: "v>" not in text), st.lists(st.integers(0, 9)))
def test_marks_come_back(text: str, cuts: list[int]):
    places = sorted(min(cut, len(text)) for cut in cuts)
    spans = list(zip(places[::2], places[1::2], strict=False))
    marked, fault = mark(text, spans)
    assert fault is None
    assert unmark(marked) == (text, spans, True)


@pytest.mark.parametrize(
    ("text", "spans", "fault"),
    [
        ("abc", [(1, 4)], "1 to 4 lies outside its text of 3 characters"),
        (None, [(0, 1)], "of 0 characters; correct it, or add the source and target columns"),
        ("abc", [(2, 1)], "outside"),
        ("abc", [(0, 2), (1, 3)], "1 to 3 overlaps another"),
    ],
)
def test_spans_that_do_not_fit(text: str | None, spans: list[tuple[int, int]], fault: str):
    assert fault in (mark(text, spans)[1] or "")


def test_spans_as_one_cell():
    spans = [("target", 10, 12), ("source", 3, 5)]
    assert show_spans(spans) == "target:10-12 source:3-5"
    assert parse_spans({"more_spans": show_spans(spans)}) == (spans, None)
    assert show_spans([]) is None


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"start": 1, "end": None}, "needs both start and end"),
        ({"start": 1, "end": 2, "side": "both"}, "side is 'both'"),
        ({"more_spans": "target:1"}, "has 'target:1' where side:start-end is expected"),
    ],
)
def test_cells_that_are_no_spans(cells: dict[str, object], fault: str):
    assert fault in (parse_spans(cells)[1] or "")
