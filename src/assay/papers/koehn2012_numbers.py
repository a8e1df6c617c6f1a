"""The numbers printed in koehn2012 (Tables 1-4, and the text of Figures 2 and 3); readings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SYSTEMS = 15
SIZES = (10_000, 20_000, 30_000, 40_000, 50_000)
"""Judgments in Table 1."""

RANGES = {
    "pairwise": """
        8.1 .8 1.0 0
        6.3 .8 1.1 0
        5.4 .7 1.4 0
        4.9 .9 1.7 .1
        4.5 .9 2.0 .1
    """,
    "bootstrap": """
        4.6 3.4 1.8 .5
        3.7 2.4 3.0 .5
        3.3 2.3 3.9 .4
        3.0 2.0 4.7 .4
        2.9 2.1 5.3 .7
    """,
}
"""Table 1: size of ranges, their violations (%), clusters, their violations (%)."""

RANKINGS = {
    "en-cs": """
        .660 1 1    .616 2 2    .557 3 6    .555 3 6    .541 3 7    .532 4 7    .529 4 7
        .477 8 10   .459 8 11   .443 9 11   .440 9 11   .362 12 12  .328 12 12
    """,
    "fr-en": """
        .626 1 3    .610 1 4    .592 1 5    .571 2 6    .567 3 7    .538 5 8    .522 5 8
        .510 6 9    .463 8 12   .458 9 13   .444 9 14   .441 9 14   .430 10 14  .409 12 14
        .319 15 15
    """,
}
"""Tables 2 and 3: score, first and last rank."""

CLUSTERS = {"en-cs": 6, "fr-en": 2}
JUDGMENTS = {"en-cs": 22_000, "fr-en": 13_000}
SIGMAS = {"en-cs": 9.0, "fr-en": 10.0}
"""The sigma that the text gives; those of the other pairs are in the drawing only."""
SIGMA_ENDS = (7.0, 12.0)

GOALS = (0.5, 0.7, 0.8, 0.9)
_NEEDS = """
    6 8 1 4 8 30        6 10 2 5 10 45       6 12 2 7 20 60
    8 8 2 6 14 60       8 10 3 8 20 90       8 12 4 14 35 140
    10 8 4 10 25 100    10 10 5 16 40 150    10 12 6 20 50 200
    12 8 5 15 35 140    12 10 7 25 60 250    12 12 9 35 80 350
    15 8 8 25 50 200    15 10 12 40 80 350   15 12 15 50 120 500
"""
"""Table 4: systems, sigma, thousands of judgments for 50, 70, 80 and 90 % significant pairs."""

ERRORS = {
    ("bojar", 10_000): 13.2,
    ("expected-win", 10_000): 13.1,
    ("lopez", 10_000): 17.6,
    ("bojar", 50_000): 6.4,
    ("expected-win", 50_000): 6.4,
    ("lopez", 50_000): 17.6,
}
"""Section 4.4 and Figure 3: pairs in the wrong order, %."""

READINGS = (
    "reading: what is printed as the variance sigma^2 is the standard deviation (table 'readings':"
    " as a variance far more pairs are significant at the judgments of Table 4)",
    "reading: the sign test is one-sided at .05 (two-sided, ranges are longer than in Table 1); the"
    " size of a range is last - first + 1",
    "reading: loss(j, k) is the count win(k, j); equation 3 adds up what contradicts an order;"
    " equations 4 and 5 divide by n - 1 and n (n - 1) / 2 (else scores do not average .5)",
    "reading: the bootstrap of Table 1 resamples whole sets and takes the shortest range with 95 %;"
    " single judgments cut at both ends, as written, are in 'Table 1, literal'",
    "reading: blank ranks count as best (dropped, the scores of Tables 2 and 3 move)",
    "Figure 3 comes out at sigma 20, not 10; why is not known, and both are shown",
    "Lopez' 17.6 % at 50,000 judgments repeats that at 10,000: the exact optimum is far lower",
    "Table 2 prints rank 12 for the last of 13 systems, which can only be 13",
    "Figure 2: for cs-en (6 systems) sigma is about 5, below the range of 7 to 12 that the paper"
    " gives for all pairs; the curve of so few systems says more about their gaps than about noise",
    "section 6 has 70 % significant pairs at 13,000 judgments, Table 4 50 % at 12,000",
)


class Placed(NamedTuple):
    """One line of Table 2 or 3."""

    score: float
    low: int
    high: int


def printed_ranking(lp: str) -> list[Placed]:
    """The lines of Table 2 or 3, best first."""
    words = RANKINGS[lp].split()
    lines = zip(words[::3], words[1::3], words[2::3], strict=True)
    return [Placed(float(score), int(low), int(high)) for score, low, high in lines]


def printed_needs() -> Iterator[tuple[int, float, float, int]]:
    """Systems, sigma, share and judgments of every cell of Table 4."""
    words = _NEEDS.split()
    for start in range(0, len(words), 6):
        n, sigma, *needs = words[start : start + 6]
        for share, need in zip(GOALS, needs, strict=True):
            yield int(n), float(sigma), share, 1000 * int(need)
