"""Invented content for tests of line-based formats: awkward texts, and files of any content."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import strategies as st

FIXTURES = Path(__file__).resolve().parent / "fixtures"

AWKWARD = (
    'say "hi"', '"', "it's", "a,b", "a;b", "🐈‍⬛ 👩🏽‍🚀", "שלום עולם", "مرحبا", "e\u0301",
    "\u202eabc", "\u2028", "\u00a0x", "-", "None", "NA", "null", "#", "0", "1.50", "=1+1", " x ",
    "\x0b", "\\n",
)  # fmt: skip

_any = st.characters(codec="utf-8")
_lined = st.characters(codec="utf-8", exclude_characters="\n\r\t\ufeff")

TEXTS = st.one_of(st.sampled_from(AWKWARD), st.text(_lined, max_size=8))
"""Texts that stand in one field of one line; possibly empty."""

WILD_TEXTS = st.one_of(
    TEXTS, st.sampled_from(["a\tb", "a\nb", "a\r\nb", "\r", "\n"]), st.text(_any)
)
"""Texts with line breaks and tabs, too."""

NAMES = TEXTS.filter(lambda text: text.strip() != "")
WILD_NAMES = WILD_TEXTS.filter(lambda text: text.strip() != "")
WORDS = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"], exclude_characters="/\\."),
    min_size=1,
    max_size=6,
).filter(lambda word: word != "-")
"""Names that are one word and may name a file."""

TOKENS = st.one_of(
    st.sampled_from(["None", "-1", "1", "0.5", "nan", "inf", "1e999", "", "Alpha", "+", "A+B",
                     "en-de", "<v>", "</v>", "a <v>b", '"', '""', "{}", '{"errors": []}',
                     "No-error", "Major",
                     '{"errors": [{"start": 1, "end": 2, "category": "\\ud800", "severity": "x"}]}',
                     '{"errors": [{"start": -1, "end": 1e999, "score": 1' + "0" * 400 + "}]}",
                     "[" * 3000, "left", "\x00", "_row", "_column", "seg", "lp", "testset"]),
    st.text(_any, max_size=5),
)  # fmt: skip


def lines_of(header: list[str], separators: str = "\t ,") -> st.SearchStrategy[bytes]:
    """Files that look like the format at first: some header, fields of any content."""
    head = st.one_of(st.just(header), st.lists(st.sampled_from([*header, "x"]), max_size=12))
    width = st.integers(max(0, len(header) - 1), len(header) + 1)
    row = width.flatmap(lambda n: st.lists(TOKENS, min_size=n, max_size=n))
    rows = st.lists(st.one_of(row, st.lists(TOKENS, min_size=len(header), max_size=len(header))))
    joined = st.tuples(
        head, rows, st.sampled_from(separators), st.sampled_from(["\n", "\r\n", "\r"])
    )
    return joined.map(lambda p: p[3].join(p[2].join(row) for row in [p[0], *p[1]]).encode())


ANY_BYTES = st.one_of(st.binary(), st.text().map(str.encode), st.binary().map(b"\x1f\x8b".__add__))


def same(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Whether two tables have the same columns, in any order, and the same rows in order."""
    names = sorted(left.columns)
    return names == sorted(right.columns) and left.select(names).equals(right.select(names))
