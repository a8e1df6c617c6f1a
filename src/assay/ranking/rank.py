"""``rank``: systems in order from judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

from assay.errors import OptionError
from assay.ranking.counts import (
    UNITS,
    Counts,
    check_counts,
    count,
    effective_wins,
    find_units,
    screen_size,
    set_effect,
)
from assay.ranking.methods import check_method, find_method, score
from assay.ranking.results import PairComparison, Ranking, SystemRank
from assay.ranking.uncertainty import Rule, Uncertainty, bootstrap
from assay.results import Note
from assay.stats.intervals import POWER
from assay.stats.orders import cluster_numbers, competition_ranks
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded, spawn
from assay.tables.answers import Judgments

if TYPE_CHECKING:
    from assay.ranking.sigma import Calibration

RESAMPLES, MAX_RESAMPLES = 1000, 1_000_000


MAX_GROWTH = 100
"""A campaign so many times as large is not advice."""


def rank(
    judgments: Judgments,
    *,
    method: str = "expected-win",
    ranges: Literal["bootstrap", "sign", "pooled"] = "bootstrap",
    resample: Literal["auto", "document", "segment", "set", "rater", "pair"] = "auto",
    range_kind: Literal["shortest", "equal-tailed"] | None = None,
    ties: Literal["drop", "half"] = "drop",
    level: float = 0.95,
    calibrate: bool = False,
    sides: Literal[1, 2] = 1,
    holm: bool = False,
    resamples: int | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> Ranking:
    """Rank systems by pairwise judgments, with rank ranges and clusters (koehn2012).

    method: expected-win, bojar, better-or-equal, lopez or bradley-terry.
    ranges: from judgments drawn anew (bootstrap), from sign tests of each pair by itself, or from
    the pooled test, which needs far fewer judgments and assumes one scale.
    resample: the unit that is drawn anew, and whose judgments the pooled test takes to be
    correlated. auto is the segment, else the screen (set), else the single judgment.
    range_kind: the shortest range that holds ``level`` of the resamples (default), or what is left
    when as many are cut off at both ends. calibrate: such a range misses fewer than 1 - level of
    true ranks; shorten it as far as simulated campaigns of this size allow (a few seconds).
    ties: dropped, or half a win for each side. sides: one-sided tests at 1 - level, as the paper
    has them, or two-sided. holm: correct for the number of pairs.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> [(item.system, item.low_rank, item.high_rank) for item in ranking.systems]
    [('good', 1, 1), ('fair', 2, 2), ('bad', 3, 3)]
    """
    method = find_method(method)
    _check_options(method, ranges, resample, range_kind, ties, calibrate=calibrate,
                   resamples=resamples)  # fmt: skip
    check_tests(level, sides, range_kind)
    drawn = resamples_for(resamples, level) if ranges == "bootstrap" else None
    kind = None if drawn is None else range_kind or "shortest"
    generator, seed = seeded(rng)
    counts = count(judgments)
    notes = [
        *table_notes(judgments.notes),
        *check_counts(judgments, counts, method, ranges, ties),
        *check_method(method, counts.systems, effective_wins(counts.wins, counts.ties, ties)),
    ]
    units = find_units(judgments, "pair" if ranges == "sign" else resample)
    rule = Rule(level, sides, holm)
    chosen = _calibration(judgments, str(kind), level, generator, progress) if calibrate else None
    if drawn is None:
        seed = None
        sure = _by_tests(counts, ranges, units.block, ties, rule)
    else:
        sure = bootstrap(
            counts, units.block, method=method, ties=ties, range_kind=str(kind),
            level=level if chosen is None else chosen.level, rule=rule, resamples=drawn,
            rng=generator, progress=progress,
        )  # fmt: skip
    systems = _systems(counts.systems, score(method, counts.wins, counts.ties, ties), sure)
    comparisons = _comparisons(counts, systems, sure, rule)
    return Ranking(
        systems=systems,
        comparisons=comparisons,
        pairs=len(comparisons),
        significant_pairs=sum(item.decided for item in comparisons),
        clusters=max(item.cluster for item in systems),
        judgments=len(judgments),
        method=method,
        ranges=ranges,
        interval=kind,
        unit=units.name,
        blocks=units.count,
        ties="win" if method == "better-or-equal" else ties,
        level=level,
        calibrated=None if chosen is None else chosen.level,
        sides=sides,
        holm=holm,
        resamples=drawn,
        seed=seed,
        notes=(*notes, *units.notes, *sure.notes, *_calibrated(chosen), *_outside(systems)),
        next=next_steps(comparisons, len(judgments), "judgments", level=level, sides=sides),
    )


# --- what was asked ------------------------------------------------------------------------------


def check_choice(argument: str, value: object, known: tuple[object, ...]) -> None:
    """Refuse a value that is not one of those there are."""
    if value not in known:
        remedy = f"choose from {', '.join(str(item) for item in known)}"
        raise OptionError(argument, value, "is not known", remedy)


def check_tests(level: float, sides: int, range_kind: str | None) -> None:
    """Refuse levels, sides and kinds of ranges that do not exist."""
    check_choice("sides", sides, (1, 2))
    check_choice("range_kind", range_kind, ("shortest", "equal-tailed", None))
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        remedy = "give a number between 0 and 1, such as .95"
        raise OptionError("level", level, "is not a confidence level", remedy)


def resamples_for(resamples: int | None, level: float) -> int:
    """How many resamples: as given, if they can show this level, else a thousand."""
    if resamples is None:
        resamples = RESAMPLES
    fewest = round(2 / (1 - level))
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < fewest:
        fault = f"are too few for ranges at {level:g}"
        raise OptionError("resamples", resamples, fault, f"give at least {fewest}, better 1000")
    if resamples > MAX_RESAMPLES:
        fault, remedy = "are more than anybody needs", f"give at most {MAX_RESAMPLES:,}"
        raise OptionError("resamples", resamples, fault, remedy)
    return resamples


def _check_options(
    method: str, ranges: str, resample: str, range_kind: str | None, ties: str,
    *, calibrate: bool, resamples: int | None,
) -> None:  # fmt: skip
    """Refuse what is not known, and what would be ignored."""
    check_choice("ranges", ranges, ("bootstrap", "sign", "pooled"))
    check_choice("resample", resample, ("auto", *UNITS))
    check_choice("ties", ties, ("drop", "half"))
    if ranges == "sign" and resample != "auto":
        remedy = "leave it out, or use pooled"
        raise OptionError("resample", resample, "has no effect on sign tests", remedy)
    bootstrap_only = {
        "range_kind": range_kind,
        "resamples": resamples,
        "calibrate": calibrate or None,
    }
    for name, value in bootstrap_only.items():
        if ranges != "bootstrap" and value is not None:
            raise OptionError(name, value, "is for ranges from resampling", "leave it out")
    if method == "better-or-equal" and ties != "drop":
        fault = "does not go with better-or-equal, where ties are wins"
        raise OptionError("ties", ties, fault, "leave it out")
    if calibrate and method != "expected-win":
        fault = f"is simulated for expected-win, not {method}"
        raise OptionError("calibrate", True, fault, "leave out method, or calibrate")


def table_notes(notes: Sequence[str]) -> tuple[Note, ...]:
    """What was noted when the table was read."""
    return tuple(note if isinstance(note, Note) else Note("table", note) for note in notes)


# --- how sure it is ------------------------------------------------------------------------------


def _by_tests(
    counts: Counts, ranges: str, block: np.ndarray | None, ties: str, rule: Rule
) -> Uncertainty:
    from assay.ranking.pairs import by_pooled_test, by_sign_test

    if ranges == "sign":
        return by_sign_test(counts, rule)
    return by_pooled_test(counts, block, ties, rule)


def _calibration(
    judgments: Judgments, range_kind: str, level: float, rng: np.random.Generator,
    progress: Progress,
) -> Calibration:  # fmt: skip
    """The level for campaigns with as many systems, as noisy, that carry as much information.

    Judgments of one segment may be more correlated than those of a set are in the model; fewer
    judgments of the model stand for them.
    """
    from assay.ranking.sigma import (  # scipy.optimize is slow to load
        MAX_SYSTEMS_CALIBRATED,
        calibrated_level,
        fit_sigma,
    )

    n = len(judgments.systems)
    if n > MAX_SYSTEMS_CALIBRATED:
        fault = f"is simulated for at most {MAX_SYSTEMS_CALIBRATED} systems, not {n}"
        raise OptionError("calibrate", True, fault, "leave it out")
    fit = fit_sigma(judgments)
    k = screen_size(judgments)
    worth = min(1.0, set_effect(k) / fit.effect)
    size = max(1, round(fit.judgments * worth))
    return calibrated_level(
        n, size, sigma=fit.sigma, per_set=k, range_kind=range_kind, allowed=1 - level,
        rng=spawn(rng, 1)[0], progress=progress,
    )  # fmt: skip


def _calibrated(chosen: Calibration | None) -> list[Note]:
    if chosen is None:
        return []
    text = (
        f"calibrated: ranges hold {chosen.level:.1%} of the resamples. In {chosen.runs} simulated"
        f" campaigns like this one (sigma {chosen.sigma:.1f}, {chosen.judgments:,} judgments in"
        f" sets of {chosen.per_set}, as many as carry the same information) such ranges missed"
        f" {chosen.violations:.1%} of the true ranks"
    )
    return [Note("calibrated", text)]


# --- what comes out ------------------------------------------------------------------------------


def _systems(
    names: tuple[str, ...], scores: np.ndarray, sure: Uncertainty
) -> tuple[SystemRank, ...]:
    """Best first; equal scores in the order of the table."""
    ranks = competition_ranks(scores, digits=12)
    columns = ranks, scores, sure.low, sure.high, cluster_numbers(sure.low, sure.high)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return tuple(sorted((SystemRank(*row) for row in rows), key=lambda item: item.rank))


def _outside(systems: tuple[SystemRank, ...]) -> list[Note]:
    odd = [item.system for item in systems if not item.low_rank <= item.rank <= item.high_rank]
    text = f"the rank by score lies outside the rank range: {', '.join(odd)}"
    return [Note("rank-outside-range", text)] if odd else []


def _comparisons(
    counts: Counts, systems: tuple[SystemRank, ...], sure: Uncertainty, rule: Rule
) -> tuple[PairComparison, ...]:
    """Every pair of systems; with Holm the p values are the corrected ones."""
    place = {name: k for k, name in enumerate(counts.systems)}
    order = np.array([place[item.system] for item in systems])
    i, j = order[np.array(np.triu_indices(len(order), 1))]
    better = rule.decide(sure.p)
    stderr = np.full_like(sure.p, np.nan) if sure.stderr is None else sure.stderr
    columns = (
        i, j, counts.wins[i, j], counts.wins[j, i], counts.ties[i, j], better[i, j], better[j, i],
        rule.shown(np.minimum(sure.p[i, j], sure.p[j, i])), stderr[i, j],
    )  # fmt: skip
    comparisons = []
    for a, b, wins, losses, ties, above, below, p, spread in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        left, right = counts.systems[a], counts.systems[b]
        winner = left if above else right if below else None
        stderr_of = None if sure.stderr is None else spread
        comparisons.append(
            PairComparison(
                left, right, wins, losses, ties, p, winner is not None, winner, stderr_of
            )
        )
    return tuple(comparisons)


def next_steps(
    comparisons: Sequence[PairComparison], number: int, kind: str, *, level: float, sides: int
) -> tuple[str, ...]:
    """How many more decide the closest of the open pairs, if they are shared out as these were.

    z grows with the root of the number; a pair is found with probability ``POWER`` where its
    expected z is that far above what decides. This takes the observed difference for the true one.

    >>> pair = PairComparison("A", "B", 60, 45, 0, 0.0716, False, None)
    >>> next_steps([pair], 105, "judgments", level=0.95, sides=1)
    ('to decide A and B (closest to it, p = 0.072): about 198 more judgments of all systems, ...)
    """
    undecided = [item for item in comparisons if not item.decided and item.p == item.p]
    if not undecided:
        return ()
    item = min(undecided, key=lambda pair: pair.p)
    z = float(special.ndtri(1 - min(item.p, 1.0) / sides))
    goal = float(special.ndtri(1 - (1 - level) / sides) + special.ndtri(POWER))
    names = f"{item.left} and {item.right}"
    if z <= goal / MAX_GROWTH**0.5:
        return (
            f"the closest pair is {names} (p = {item.p:.2g}): no number of {kind} in sight decides"
            " it, if the difference is as small as it looks",
        )
    more = round(number * ((goal / z) ** 2 - 1))
    return (
        f"to decide {names} (closest to it, p = {item.p:.2g}): about {more:,} more {kind} of all"
        f" systems, shared out as these {number:,}, find such a difference with {POWER:.0%}"
        " probability",
    )
