"""How scores and raters vary where there is no pilot: as they did in published campaigns.

Measured with :func:`assay.planning.pilot.read_pilot` on data with several raters for each output:
ESA of WMT23 en-de (Kocmi et al. 2024, two rounds) and MQM of WMT20 en-de and zh-en (Freitag et al.
2021) and of WMT23 en-de (Riley et al. 2024), three raters each. Standard deviations of single
ratings within a system were 18.6 of 100 points (ESA) and 3.2, 5.9 and 6.4 (MQM); of differences on
a segment, both systems rated by one rater, .92, .66 and .84 times as much. What raters differ by
in differences was .87 to 1.3 times the variance of these by tasks, .65 to .71 by single segments.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.errors import OptionError, did_you_mean
from assay.planning.spread import RaterPart
from assay.results import Note

SCALES: dict[str, tuple[float, float]] = {
    "esa": (0, 100), "da": (0, 100), "scale": (0, 100), "sqm": (0, 6), "xsts": (1, 5),
}  # fmt: skip
"""Protocols whose ratings are points of a scale, with the usual one."""
SCALE_SD, MQM_SD = 0.186, 5.5
"""Of single ratings within a system: as a share of the scale, and in points of MQM."""
PAIR_SD = 0.85
"""The sd of differences, of that of scores, where one rater rates both systems."""
BY_TASKS, BY_SEGMENTS = 1.1, 0.7
"""The variance between raters, of that of single ratings."""
DOUBLED_TASKS, TASK_SEGMENTS = 50, 5.0
"""Doubled tasks behind what is known of raters, and segments in each."""


class TypicalSpread(NamedTuple):
    """Standard deviations of single ratings and of their differences, and what raters add."""

    sd: float
    pair_sd: float
    raters: RaterPart
    pair_raters: RaterPart
    note: Note


def raters_beside(sd: float) -> RaterPart:
    """What raters usually differ by, where single ratings (or differences) have this sd."""
    square = sd**2
    return RaterPart(
        BY_TASKS * square,
        DOUBLED_TASKS * TASK_SEGMENTS,
        BY_SEGMENTS * square,
        task=TASK_SEGMENTS,
        tasks=DOUBLED_TASKS,
    )


def typical_spread(protocol: str, scale: tuple[float, float] | None = None) -> TypicalSpread:
    """What is usual with a protocol of ratings, on its scale or another.

    >>> spread = typical_spread("esa")
    >>> round(spread.sd, 1), round(spread.pair_sd, 1)
    (18.6, 15.8)
    """
    if protocol == "mqm":
        sd, where = MQM_SD, "MQM of WMT20 and WMT23"
    elif protocol in SCALES:
        low, high = scale or SCALES[protocol]
        sd = SCALE_SD * (high - low)
        where = f"ESA of WMT23, for a scale from {low:g} to {high:g}"
    else:
        known = ["mqm", *SCALES]
        raise OptionError(
            "protocol", protocol, f"has no ratings to plan{did_you_mean(protocol, known)}",
            f"choose from {', '.join(known)}; plan judgments and editors by their own commands",
        )  # fmt: skip
    pair = PAIR_SD * sd
    note = Note(
        "typical-spread",
        f"no pilot: sd {sd:.3g} (differences: {pair:.3g}) is taken from published campaigns"
        f" ({where}). Yours may be 1.5 times as large; plan again once some segments are rated",
    )
    return TypicalSpread(sd, pair, raters_beside(sd), raters_beside(pair), note)
