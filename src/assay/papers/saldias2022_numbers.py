"""The numbers printed in saldias2022: Tables 1-9 and 12 (10 and 11 describe WMT21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

SIZES = tuple(k / 20 for k in range(1, 11))
"""Sample sizes of all simulations: 5 to 50 % of the segments."""
DRAWS = 100
SIMULATIONS = 54
"""Six raters times nine systems."""
BEST = "docs-prop+cv-knn"
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
"""The ranges R that section 4.3 found to fit."""

METHODS = {
    "docs-prop": "docs-prop",
    "docs-opt": "docs-opt",
    "metrics-prop": "metrics-prop",
    "docs-incr-metrics": "docs-incr-metrics",
    "docs-incr-human": "docs-incr-human",
    "cv-bleurt": "cv-single:BLEURT-20",
    "cv-mean": "cv-mean",
    "cv-multi": "cv-multi",
    "cv-knn": "cv-knn",
    BEST: BEST,
    "metrics-prop+cv-knn": "metrics-prop+cv-knn",
}
"""The paper's names of its methods, and ours."""


class Result(NamedTuple):
    """Mean absolute error, its standard deviation, and wins over the baseline in percent."""

    error: float
    sdev: float
    win: float | None


# Absolute error, standard deviation and win %, first EnDe, then ZhEn.
RESULTS = {
    "Table 1": """
        baseline             .171 .128 –     .290 .217 –
        docs-prop            .158 .118 75.7  .250 .187 92.4
        docs-opt             .213 .145 32.6  .356 .233 27.2
        metrics-prop         .157 .118 77.2  .246 .185 91.1
    """,
    "Table 2": """
        baseline             .171 .128 –     .290 .217 –
        docs-incr-metrics    .183 .132 44.1  .346 .239 25.4
        docs-incr-human      .231 .143 26.7  .418 .251 27.4
    """,
    "Table 3": """
        baseline             .171 .128 –     .290 .217 –
        cv-bleurt            .158 .118 74.3  .260 .193 84.1
        cv-mean              .159 .118 74.8  .251 .188 88.3
        cv-multi             .160 .118 73.3  .254 .188 88.5
        cv-knn               .158 .119 74.1  .246 .185 92.2
    """,
    "Table 4": """
        baseline             .171 .128 –     .290 .217 –
        docs-prop            .158 .118 75.7  .250 .187 92.4
        cv-knn               .158 .119 74.1  .246 .185 92.2
        docs-prop+cv-knn     .147 .110 88.5  .224 .167 98.5
        metrics-prop+cv-knn  .156 .116 77.8  .244 .182 92.0
    """,
}

# Table 5: size in %, estimator, then cal in %, slack and t of EnDe and of ZhEn; t is printed once.
BOUNDS = """
    10 base  92 .36 .61  89 .56 .90
    10 best  96 .40 .61  97 .49 .90
    30 base  93 .19 .31  90 .29 .46
    30 best  96 .20 .31  96 .25 .46
    50 base  92 .12 .20  90 .19 .30
    50 best  96 .13 .20  96 .16 .30
"""

TEST_RESULTS: Mapping[str, Mapping[str, Result]] = {
    "EnDe": {"baseline": Result(0.203, 0.153, None), BEST: Result(0.188, 0.140, 78.1)},
    "ZhEn": {"baseline": Result(0.359, 0.267, None), BEST: Result(0.283, 0.212, 97.9)},
    "EnRu": {"baseline": Result(1.601, 1.197, None), BEST: Result(1.482, 1.117, 77.3)},
}
"""Table 6, on WMT21."""

RATER_SIZES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "EnDe": {
        "rater1": (713, 64), "rater2": (683, 66), "rater3": (705, 66), "rater4": (709, 65),
        "rater5": (722, 64), "rater6": (722, 65), "corpus": (1418, 130),
    },
    "ZhEn": {
        "rater1": (993, 76), "rater2": (992, 76), "rater3": (1012, 78), "rater4": (996, 79),
        "rater5": (1021, 77), "rater6": (986, 79), "corpus": (2000, 155),
    },
}  # fmt: skip
"""Table 7: segments and documents of every rater and of the test set."""

SYSTEM_SCORES: Mapping[str, Mapping[str, float]] = {
    "EnDe": {
        "Human-B": 0.75, "Human-A": 0.91, "Human-P": 1.41, "Tohoku": 2.02, "OPPO": 2.25,
        "eTranslation": 2.33, "Tencent": 2.35, "VolcTrans": 2.45, "Online-B": 2.48,
        "Online-A": 2.99,
    },
    "ZhEn": {
        "Human-A": 3.43, "Human-B": 3.62, "VolcTrans": 5.03, "WeChat": 5.13, "Tencent": 5.19,
        "OPPO": 5.20, "THUNLP": 5.34, "DeepMind": 5.41, "DiDi_NLP": 5.48, "Online-B": 5.85,
    },
}  # fmt: skip
"""Table 8: MQM, the mean of three raters over all segments."""

CORRELATIONS: Mapping[str, Mapping[str, float]] = {
    "EnDe": {
        "BLEURT-extended": 0.410, "COMET-2R": 0.379, "COMET-MQM": 0.364, "COMET-QE": 0.358,
        "COMET": 0.349, "COMET-HTER": 0.326, "OpenKiwi-XLMR": 0.314, "mBERT-L2": 0.306,
        "prism": 0.293, "YiSi-1": 0.279, "target-length": 0.223,
    },
    "ZhEn": {
        "COMET-QE": 0.465, "BLEURT-extended": 0.460, "YiSi-2": 0.453, "COMET-2R": 0.452,
        "BERT-base-L2": 0.446, "OpenKiwi-XLMR": 0.440, "BERT-large-L2": 0.440, "BLEURT": 0.437,
        "COMET": 0.433, "mBERT-L2": 0.425, "target-length": 0.439,
    },
}  # fmt: skip
"""Table 9: correlation with the ratings of one rater for one MT system, averaged."""

RATER_ERRORS: Mapping[str, Mapping[str, float]] = {
    "EnDe": {"rater1": 0.13, "rater2": 0.22, "rater3": 0.47, "rater4": 0.32, "rater5": 0.14,
             "rater6": 0.33, "avgs": 0.27},
    "ZhEn": {"rater1": 0.37, "rater2": 0.60, "rater3": 0.38, "rater4": 1.55, "rater5": 1.40,
             "rater6": 0.69, "avgs": 0.83},
}  # fmt: skip
"""Table 12: how far a rater's mean is from that of the two others on the same segments."""


def printed_results(table: str) -> Iterator[tuple[str, str, Result]]:
    """Language pair, method and numbers of every row of Tables 1-4.

    >>> list(printed_results("Table 4"))[3]
    ('EnDe', 'docs-prop+cv-knn', Result(error=0.147, sdev=0.11, win=88.5))
    """
    rows = [line.split() for line in RESULTS[table].strip().splitlines()]
    for place, lp in ((1, "EnDe"), (4, "ZhEn")):
        for words in rows:
            error, sdev, win = words[place : place + 3]
            yield lp, words[0], Result(float(error), float(sdev), _number(win))


def printed_bounds() -> Iterator[tuple[str, int, str, float, float, float]]:
    """Language pair, size in percent, estimator, cal, slack and t of every row of Table 5."""
    rows = [line.split() for line in BOUNDS.strip().splitlines()]
    for place, lp in ((2, "EnDe"), (5, "ZhEn")):
        for words in rows:
            cal, slack, t = (float(word) for word in words[place : place + 3])
            yield lp, int(words[0]), words[1], cal, slack, t


def _number(word: str) -> float | None:
    return None if word == "–" else float(word)
