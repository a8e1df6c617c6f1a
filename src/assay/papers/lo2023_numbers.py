"""The numbers printed in lo2023: Tables 1-4 and 6-8 (Table 5 lists language codes)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

RUNS = 13
"""How many runs the paper's best, median and worst are taken of."""

METRICS = ("COMET-20", "YiSi-1", "sentBLEU", "chrF")
"""The columns of Tables 1-3."""

LENGTH_COLUMNS = ("0-9", "10+", "20+", "30+", "40+", "50+")
"""The columns of Table 4."""


class Pair(NamedTuple):
    """A language pair of one year's campaign."""

    year: int
    lp: str

    def __str__(self) -> str:
        return f"WMT{self.year} {self.lp}"

    @property
    def file(self) -> str:
        """The file with its scores of segments."""
        return f"wmt{self.year}_metrics_{self.lp}.parquet"


class Count(NamedTuple):
    """So many language pairs with a changed ranking, of so many."""

    changed: int
    of: int


# Rank changes: what was sampled at WMT, then best, median and worst of the runs of the design
# that WMT used, then of the paper's own (DB).
CHANGES = {
    "Table 1": """
        WMT19         –      5/6    5/6    5/6
        WMT20         2/3    1/3    1/3    1/3
        total         2/3    6/9    6/9    6/9
        SL best       1/3    3/9    3/9    3/9
        SL median     1/3    5/9    6/9    6/9
        SL worst      2/3    7/9    7/9    8/9
        DB best       1/3    5/9    4/9    4/9
        DB median     1/3    6/9    6/9    7/9
        DB worst      2/3    7/9    7/9    9/9
    """,
    "Table 2": """
        WMT19         –      7/8    8/8    6/8
        WMT20         12/15  13/15  13/15  13/15
        WMT21         9/13   9/13   10/13  9/13
        WMT22         5/7    5/7    6/7    6/7
        total         26/35  34/43  37/43  34/43
        WD best       25/35  28/43  32/43  31/43
        WD median     27/35  34/43  35/43  33/43
        WD worst      29/35  36/43  37/43  37/43
        DB best       13/35  15/43  25/43  16/43
        DB median     18/35  18/43  27/43  20/43
        DB worst      21/35  21/43  32/43  23/43
    """,
    "Table 3": """
        WMT22         8/12   8/12   9/12   8/12
        DF best       7/12   6/12   8/12   5/12
        DF median     10/12  8/12   9/12   8/12
        DF worst      11/12  10/12  10/12  10/12
        DB best       4/12   7/12   6/12   6/12
        DB median     7/12   8/12   9/12   8/12
        DB worst      10/12  11/12  11/12  9/12
    """,
}

# Percentages of the data by the length of its documents.
LENGTHS = """
    en-de full     18 44 26  8  2  3
    en-de DF       19 48 24  7  1  1
    en-de DB       18 44 26  8  2  3
    en-ru full     18 44 26  8  2  3
    en-ru DF       20 43 26  8  2  2
    en-ru DB       18 44 26  8  2  3
    zh-en full     25 26 46  3  –  –
    zh-en DF       31 28 39  2  –  –
    zh-en DB       25 26 46  3  –  –
    sah-ru full     7 18 14  6 15 40
    sah-ru DF       7 19 13  7 15 40
    sah-ru DB       7 18 14  6 15 40
    uk-cs full     56 11  7  5  3 19
    uk-cs DF       43 35 11  4  4  4
    uk-cs DB       59 11  7  5  3 19
"""

# Tables 6, 7 and 8: the mean over systems of the share of segments annotated, in percent, for
# the pairs that WMT sampled by segments, whole documents and fixed snippets.
COVERAGE: dict[str, dict[Pair, float]] = {
    "SL": {
        Pair(19, "de-cs"): 76.93, Pair(19, "de-fr"): 35.81, Pair(19, "fi-en"): 79.21,
        Pair(19, "fr-de"): 23.52, Pair(19, "ru-en"): 84.83, Pair(19, "zh-en"): 67.33,
        Pair(20, "iu-en"): 37.02, Pair(20, "km-en"): 41.00, Pair(20, "ps-en"): 43.75,
    },
    "WD": {
        Pair(19, "de-en"): 99.84, Pair(19, "en-de"): 86.80, Pair(19, "en-fi"): 67.10,
        Pair(19, "en-gu"): 63.08, Pair(19, "en-kk"): 82.09, Pair(19, "en-lt"): 74.82,
        Pair(19, "en-ru"): 72.69, Pair(19, "en-zh"): 81.41,
        Pair(20, "cs-en"): 94.53, Pair(20, "de-en"): 92.00, Pair(20, "en-cs"): 85.67,
        Pair(20, "en-de"): 47.48, Pair(20, "en-iu"): 30.54, Pair(20, "en-ja"): 87.07,
        Pair(20, "en-pl"): 75.53, Pair(20, "en-ru"): 62.32, Pair(20, "en-ta"): 52.61,
        Pair(20, "en-zh"): 86.87, Pair(20, "ja-en"): 90.03, Pair(20, "pl-en"): 84.36,
        Pair(20, "ru-en"): 91.01, Pair(20, "ta-en"): 54.29, Pair(20, "zh-en"): 86.02,
        Pair(21, "cs-en"): 90.53, Pair(21, "de-en"): 96.89, Pair(21, "de-fr"): 91.76,
        Pair(21, "en-ha"): 77.23, Pair(21, "en-is"): 98.53, Pair(21, "en-ja"): 99.04,
        Pair(21, "en-ru"): 93.27, Pair(21, "fr-de"): 77.93, Pair(21, "ha-en"): 94.36,
        Pair(21, "is-en"): 89.03, Pair(21, "ja-en"): 90.06, Pair(21, "ru-en"): 89.26,
        Pair(21, "zh-en"): 80.58,
        Pair(22, "cs-en"): 92.13, Pair(22, "de-en"): 86.71, Pair(22, "ja-en"): 82.98,
        Pair(22, "liv-en"): 70.48, Pair(22, "ru-en"): 93.13, Pair(22, "uk-en"): 90.68,
        Pair(22, "zh-en"): 85.42,
    },
    "DF": {
        Pair(22, "cs-uk"): 60.07, Pair(22, "en-cs"): 59.16, Pair(22, "en-de"): 59.89,
        Pair(22, "en-hr"): 69.26, Pair(22, "en-ja"): 57.98, Pair(22, "en-liv"): 69.90,
        Pair(22, "en-ru"): 58.71, Pair(22, "en-uk"): 59.35, Pair(22, "en-zh"): 57.98,
        Pair(22, "sah-ru"): 95.55, Pair(22, "uk-cs"): 12.49, Pair(22, "zh-en"): 59.63,
    },
}  # fmt: skip


def pairs_of(design: str, year: int | None = None) -> tuple[Pair, ...]:
    """The pairs that WMT sampled this way, in the order of the paper.

    >>> len(pairs_of("WD")), [str(pair) for pair in pairs_of("SL", 20)]
    (43, ['WMT20 iu-en', 'WMT20 km-en', 'WMT20 ps-en'])
    """
    return tuple(pair for pair in COVERAGE[design] if year in (None, pair.year))


def printed_changes(table: str) -> Iterator[tuple[str, str, Count | None]]:
    """Row, column and count of every cell of Tables 1-3; None where a dash is printed.

    >>> next(printed_changes("Table 3"))
    ('WMT22', 'COMET-20', Count(changed=8, of=12))
    """
    for row, words in _lines(CHANGES[table], len(METRICS)):
        for column, word in zip(METRICS, words, strict=True):
            yield row, column, None if word == "–" else Count(*map(int, word.split("/")))


def printed_lengths() -> Iterator[tuple[str, str, str, float | None]]:
    """Pair, sample, column and percentage of every cell of Table 4."""
    for row, words in _lines(LENGTHS, len(LENGTH_COLUMNS)):
        lp, sample = row.split()
        for column, word in zip(LENGTH_COLUMNS, words, strict=True):
            yield lp, sample, column, None if word == "–" else float(word)


def _lines(text: str, columns: int) -> Iterator[tuple[str, list[str]]]:
    for line in text.strip().splitlines():
        words = line.split()
        yield " ".join(words[:-columns]), words[-columns:]
