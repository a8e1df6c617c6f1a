"""What can be ranked, and what must be said about it."""

from __future__ import annotations

import numpy as np

from assay.errors import InputError, OptionError
from assay.ranking.counts import UNITS, Counts, components, repeated
from assay.ranking.methods import effective_wins
from assay.ranking.violations import EXACT, is_exact, lopez_order, order_cost
from assay.tables.answers import Judgments

RESAMPLES, MOST_RESAMPLES = 1000, 1_000_000
SPARSE = 10
"""Judgments of a pair below which the expected win is called unsteady."""


def check_choice(argument: str, value: object, known: tuple[object, ...]) -> None:
    """Refuse a value that is not one of those there are."""
    if value not in known:
        remedy = f"choose from {', '.join(str(item) for item in known)}"
        raise OptionError(argument, value, "is not known", remedy)


def check_level(level: float) -> None:
    """Refuse a level that is none."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError("level", level, "is no level", "give a number between 0 and 1, like .95")


def resamples_for(resamples: int | None, level: float) -> int:
    """How many resamples: as given, if they can show this level, else a thousand."""
    if resamples is None:
        resamples = RESAMPLES
    fewest = round(2 / (1 - level))
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < fewest:
        fault = f"are too few for ranges at {level:g}"
        raise OptionError("resamples", resamples, fault, f"give at least {fewest}, better 1000")
    if resamples > MOST_RESAMPLES:
        raise OptionError(
            "resamples", resamples, "are more than anybody needs",
            f"give at most {MOST_RESAMPLES:,}",
        )  # fmt: skip
    return resamples


def check_options(
    method: str, ranges: str, resample: str, interval: str | None, ties: str, sides: int,
    *, calibrate: bool, resamples: int | None,
) -> None:  # fmt: skip
    """Refuse what is not known, and what would be ignored."""
    check_choice("ranges", ranges, ("bootstrap", "sign", "pooled"))
    check_choice("resample", resample, ("auto", *UNITS))
    check_choice("interval", interval, ("shortest", "equal-tailed", None))
    check_choice("ties", ties, ("drop", "half"))
    check_choice("sides", sides, (1, 2))
    if ranges == "sign" and resample != "auto":
        raise OptionError(
            "resample", resample, "means nothing to sign tests", "leave it out, or use pooled"
        )
    if ranges != "bootstrap":
        for name, value in (("interval", interval), ("resamples", resamples)):
            if value is not None:
                raise OptionError(name, value, "is for ranges from resampling", "leave it out")
    if method == "better-or-equal" and ties != "drop":
        raise OptionError(
            "ties", ties, "does not go with better-or-equal, where ties are wins", "leave it out"
        )
    if calibrate and ranges != "bootstrap":
        fault = "is for ranges from resampling"
        raise OptionError("calibrate", True, fault, "leave out ranges, or calibrate")
    if calibrate and method != "expected-win":
        fault = f"is simulated for expected-win, not {method}"
        raise OptionError("calibrate", True, fault, "leave out method, or calibrate")


def check_counts(
    judgments: Judgments, counts: Counts, method: str, ranges: str, ties: str
) -> list[str]:
    """Refuse what cannot be ranked; say what else the counts show."""
    counted = effective_wins(counts.wins, counts.ties, ties)
    if method == "better-or-equal" and ranges != "pooled":
        counted = counts.wins + counts.ties
    _need_wins(counts, counted, len(judgments), method)
    met = counted + counted.T > 0
    notes = _unmet(counts.systems, met)
    if method == "bradley-terry":
        _need_finite(counts.systems, counted)
    if method == "lopez":
        notes += _violations(counted)
    if method == "expected-win" and ranges == "bootstrap":
        notes += _thin(counted, met)
    tied = int(np.triu(counts.ties).sum())
    if tied:
        treated = "count as half a win for both" if ties == "half" else "are left out"
        treated = "count as wins of both" if method == "better-or-equal" else treated
        tests = "; the sign test leaves them out" if ties == "half" and ranges == "sign" else ""
        notes.append(f"{tied:,} of {len(judgments):,} judgments are ties and {treated}{tests}")
    again = repeated(judgments, counts)
    if again:
        notes.append(
            f"{again:,} judgments repeat a pair that the same screen or rater and segment judged"
            " before; they are counted, so remove them if they are copies"
        )
    return notes


def _need_wins(counts: Counts, counted: np.ndarray, number: int, method: str) -> None:
    """Refuse systems that nothing counted says anything about."""
    ways = "" if method == "better-or-equal" else "count them with --ties half, or "
    if not counted.any():
        raise InputError(
            f"all {number:,} judgments are ties, and ties are dropped: there is nothing to rank;"
            f" {ways}collect judgments that tell systems apart"
        )
    lonely = [counts.systems[k] for k in np.flatnonzero(~(counted + counted.T).any(axis=1))]
    if lonely:
        raise InputError(
            f"{', '.join(lonely)}: only ties, and ties are dropped; {ways}leave these systems out"
            " with --exclude"
        )


def _unmet(systems: tuple[str, ...], met: np.ndarray) -> list[str]:
    """Pairs that were never compared; groups that nothing connects are refused."""
    n = len(systems)
    groups = components(met)
    if len(groups) > 1:
        listed = " | ".join(", ".join(_some([systems[k] for k in group])) for group in groups[:5])
        listed += f" | and {len(groups) - 5} more" if len(groups) > 5 else ""
        raise InputError(
            f"the systems fall into {len(groups)} groups never compared with each other: {listed};"
            " collect judgments between them, or rank each by itself"
        )
    missing = n * (n - 1) // 2 - int(np.triu(met, 1).sum())
    if not missing:
        return []
    i, j = np.nonzero(np.triu(~met, 1))
    listed = ", ".join(_some([f"{systems[a]} - {systems[b]}" for a, b in zip(i, j, strict=True)]))
    return [
        f"{missing:,} of {n * (n - 1) // 2:,} pairs were never compared, or only tied, and are"
        f" skipped: {listed}"
    ]


def _need_finite(systems: tuple[str, ...], wins: np.ndarray) -> None:
    """Refuse a group that never lost to the others: its strength has no maximum."""
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(wins > 0, directed=True, connection="strong")
    for k in range(count if count > 1 else 0):
        own = group == k
        if not wins[~own][:, own].any():
            names = ", ".join(_some([systems[i] for i in np.flatnonzero(own)]))
            raise InputError(
                f"{names}: never lost to any of the other systems, so there is no finite"
                " Bradley-Terry strength; rank by expected-win"
            )


def _violations(counted: np.ndarray) -> list[str]:
    cost = order_cost(counted, lopez_order(counted))
    exact = is_exact(counted)
    how = (
        "the fewest possible, which other orders may share" if exact
        else f"heuristic: more than {EXACT} systems beat in circles"
    )  # fmt: skip
    return [f"surplus of judgments against the order: {cost:g} ({how})"]


def _thin(counted: np.ndarray, met: np.ndarray) -> list[str]:
    games = (counted + counted.T)[np.triu(met, 1)]
    if np.median(games) >= SPARSE:
        return []
    return [
        f"half the pairs have fewer than {SPARSE} judgments; the expected win weighs them like the"
        " others and its p values may be too small: bradley-terry and the pooled test do not"
    ]


def _some(names: list[str], most: int = 8) -> list[str]:
    return names if len(names) <= most else [*names[:most], f"and {len(names) - most} more"]
