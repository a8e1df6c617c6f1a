"""``rank``: systems in order from judgments."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.errors import InputError, OptionError
from assay.ranking.advice import next_steps
from assay.ranking.calibrate import MOST, Calibration, calibrated_level
from assay.ranking.counts import UNITS, Counts, block_numbers, components, count, repeated
from assay.ranking.methods import effective_wins, find_method, score
from assay.ranking.results import PairComparison, Ranking, SystemRank
from assay.ranking.uncertainty import (
    Uncertainty,
    Watch,
    bootstrap,
    by_pooled_test,
    by_sign_test,
    decide,
    ranked,
    unwatched,
)
from assay.ranking.violations import EXACT, is_exact, lopez_order, order_cost
from assay.stats.multiplicity import holm as holm_adjusted
from assay.stats.orders import cluster_numbers
from assay.stats.random import Rng, seeded, spawn
from assay.tables import Judgments

__all__ = ["check_choice", "check_level", "rank"]

FEW = 30
"""Blocks below which ranges from them are called rough."""

WHY = {
    "segment": "judgments of one segment hang together",
    "set": "the judgments of one screen hang together",
    "rater": "the judgments of one rater hang together",
    "pair": "as if no two judgments had anything in common",
}


def rank(
    judgments: Judgments,
    *,
    method: str = "expected-win",
    ranges: Literal["bootstrap", "sign", "pooled"] = "bootstrap",
    resample: Literal["auto", "segment", "set", "rater", "pair"] = "auto",
    interval: Literal["shortest", "equal-tailed"] = "shortest",
    ties: Literal["drop", "half"] = "drop",
    level: float = 0.95,
    calibrate: bool = False,
    sides: Literal[1, 2] = 1,
    holm: bool = False,
    resamples: int = 1000,
    rng: Rng = None,
    watch: Watch = unwatched,
) -> Ranking:
    """Rank systems by pairwise judgments, with rank ranges and clusters (koehn2012).

    method: expected-win, bojar, better-or-equal, lopez or bradley-terry.
    ranges: from judgments drawn anew (bootstrap), from sign tests of each pair by itself, or from
    the pooled test, which needs far fewer judgments and assumes one scale.
    resample: what is drawn anew, and what judgments hang together by in the pooled test. auto is
    the largest unit the table names: segments, else screens (sets), else single judgments.
    interval: the shortest range that holds ``level`` of the resamples, or what is left when as
    many are cut off at both ends. calibrate: such a range misses fewer than 1 - level of true
    ranks; shorten it as far as simulated campaigns of this size allow (a few seconds).
    ties: dropped, or half a win for each side. sides: one-sided tests at 1 - level, as the paper
    has them, or two-sided. holm: correct for the number of pairs. watch: see the work pass.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> [(item.system, item.low_rank, item.high_rank) for item in ranking.systems]
    [('good', 1, 1), ('fair', 2, 2), ('bad', 3, 3)]
    """
    method = find_method(method)
    _check_options(method, ranges, resample, interval, ties, sides)
    check_level(level, resamples if ranges == "bootstrap" else None)
    if calibrate:
        _check_calibrate(method, ranges)
    generator, seed = seeded(rng)
    counts = count(judgments)
    notes = [*judgments.notes, *_check_counts(judgments, counts, method, ranges, ties)]
    unit, block, said = _unit(judgments, "pair" if ranges == "sign" else resample)
    notes += said
    scores = score(method, counts.wins, counts.ties, ties)
    alpha = (1 - level) / sides
    chosen = _calibration(judgments, interval, level, generator, watch) if calibrate else None
    if ranges == "sign":
        sure = by_sign_test(counts, alpha, holm=holm)
    elif ranges == "pooled":
        sure = by_pooled_test(counts, block, ties, alpha, holm=holm)
    else:
        sure = bootstrap(
            counts, block, method=method, ties=ties, interval=interval,
            level=level if chosen is None else chosen.level,
            resamples=resamples, rng=generator, watch=watch,
        )  # fmt: skip
    systems = _systems(counts.systems, scores, sure)
    notes += [*sure.notes, *_calibrated(chosen), *_outside(systems)]
    comparisons = _comparisons(counts, systems, sure.p, alpha, sides, holm=holm)
    return Ranking(
        systems=systems,
        comparisons=comparisons,
        judgments=len(judgments),
        kind="judgments",
        method=method,
        ranges=ranges,
        interval=interval if ranges == "bootstrap" else None,
        unit=unit,
        blocks=len(judgments) if block is None else int(block.max()) + 1,
        ties=ties,
        level=level,
        calibrated=None if chosen is None else chosen.level,
        sides=sides,
        holm=holm,
        resamples=resamples if ranges == "bootstrap" else None,
        seed=seed if ranges == "bootstrap" else None,
        notes=tuple(notes),
        next=next_steps(comparisons, len(judgments), "judgments", level=level, sides=sides),
    )


def check_choice(argument: str, value: object, known: tuple[object, ...]) -> None:
    """Refuse a value that is not one of those there are."""
    if value not in known:
        remedy = f"choose from {', '.join(str(item) for item in known)}"
        raise OptionError(argument, value, "is not known", remedy)


def check_level(level: float, resamples: int | None) -> None:
    """Refuse a level that is none, or too few resamples to show it."""
    if not 0 < level < 1:
        raise OptionError("level", level, "is no level", "give a number between 0 and 1, like .95")
    if resamples is None:
        return
    fewest = round(2 / (1 - level))
    if isinstance(resamples, bool) or resamples < fewest:
        fault = f"are too few for ranges at {level:g}"
        raise OptionError("resamples", resamples, fault, f"give at least {fewest}, better 1000")


def _check_options(
    method: str, ranges: str, resample: str, interval: str, ties: str, sides: int
) -> None:
    check_choice("ranges", ranges, ("bootstrap", "sign", "pooled"))
    check_choice("resample", resample, ("auto", *UNITS))
    check_choice("interval", interval, ("shortest", "equal-tailed"))
    check_choice("ties", ties, ("drop", "half"))
    check_choice("sides", sides, (1, 2))
    if ranges == "sign" and resample != "auto":
        raise OptionError(
            "resample", resample, "means nothing to sign tests", "leave it out, or use pooled"
        )
    if method == "better-or-equal" and ties != "drop":
        raise OptionError(
            "ties", ties, "does not go with better-or-equal, where ties are wins", "leave it out"
        )


def _check_calibrate(method: str, ranges: str) -> None:
    if ranges != "bootstrap":
        fault = "is for ranges from resampling"
        raise OptionError("calibrate", True, fault, "leave out ranges, or calibrate")
    if method != "expected-win":
        fault = f"is simulated for expected-win, not {method}"
        raise OptionError("calibrate", True, fault, "leave out method, or calibrate")


def _calibration(
    judgments: Judgments, interval: Literal["shortest", "equal-tailed"], level: float,
    rng: np.random.Generator, watch: Watch,
) -> Calibration:  # fmt: skip
    """The level for campaigns with as many systems, as noisy, that carry as much information.

    Judgments of one segment may hang together more than those of a set do in the model; fewer
    judgments of the model stand for them.
    """
    from assay.ranking.sigma import fit_sigma  # scipy.optimize is slow to load

    fit = fit_sigma(judgments)
    n = len(fit.systems)
    if n > MOST:
        fault = f"is simulated for at most {MOST} systems, not {n}"
        raise OptionError("calibrate", True, fault, "leave it out")
    block = block_numbers(judgments, "set")
    pairs = 1.0 if block is None else len(judgments) / (int(block.max()) + 1)
    k = int(np.clip(round((1 + np.sqrt(1 + 8 * pairs)) / 2), 2, n))
    worth = min(1.0, (k + 1) / 3 / fit.effect)
    size = max(1, round(fit.judgments * worth))
    return calibrated_level(
        n, size, sigma=fit.sigma, per_set=k, interval=interval, allowed=1 - level,
        rng=spawn(rng, 1)[0], watch=watch,
    )  # fmt: skip


def _calibrated(found: Calibration | None) -> list[str]:
    if found is None:
        return []
    return [
        f"calibrated: ranges hold {found.level:.1%} of the resamples. In {found.runs} simulated"
        f" campaigns like this one (sigma {found.sigma:.1f}, {found.judgments:,} judgments in sets"
        f" of {found.per_set}) such ranges missed {found.violations:.1%} of the true ranks"
    ]


def _check_counts(
    judgments: Judgments, counts: Counts, method: str, ranges: str, ties: str
) -> list[str]:
    """Refuse what cannot be ranked; say what else the counts show."""
    frame = judgments.frame
    if "lp" in frame.columns and frame["lp"].n_unique() > 1:
        found = ", ".join(frame["lp"].unique(maintain_order=True)[:5])
        raise InputError(
            f"the judgments are of several language pairs ({found}); choose one with --lp"
        )
    counted = effective_wins(counts.wins, counts.ties, ties)
    if method == "better-or-equal" and ranges != "pooled":
        counted = counts.wins + counts.ties
    if not counted.any():
        raise InputError(
            f"all {len(judgments):,} judgments are ties, and ties are dropped: there is nothing to"
            " rank; count them with --ties half"
        )
    met = counted + counted.T > 0
    lonely = [counts.systems[k] for k in np.flatnonzero(~met.any(axis=1))]
    if lonely:
        raise InputError(
            f"{', '.join(lonely)}: only ties, and ties are dropped; count them with --ties half,"
            " or leave these systems out with --exclude"
        )
    notes = _unmet(counts.systems, met, strict=method == "bradley-terry" or ranges == "pooled")
    if method == "bradley-terry":
        _need_finite(counts.systems, counted)
    if method == "lopez":
        notes += _violations(counts, counted)
    tied = int(np.triu(counts.ties).sum())
    if tied:
        treated = "count as half a win for both" if ties == "half" else "are left out"
        treated = "count as wins of both" if method == "better-or-equal" else treated
        notes.append(f"{tied:,} of {len(judgments):,} judgments are ties and {treated}")
    again = repeated(judgments, counts)
    if again:
        notes.append(
            f"{again:,} judgments repeat a pair that the same screen or rater and segment judged"
            " before; they are counted, so remove them if they are copies"
        )
    return notes


def _unmet(systems: tuple[str, ...], met: np.ndarray, *, strict: bool) -> list[str]:
    """Pairs that were never compared; groups that nothing connects are refused where it matters."""
    n = len(systems)
    groups = components(met)
    if len(groups) > 1:
        listed = " | ".join(", ".join(_some([systems[k] for k in group])) for group in groups[:5])
        listed += f" | and {len(groups) - 5} more" if len(groups) > 5 else ""
        said = (
            f"the systems fall into {len(groups)} groups never compared with each other: {listed}"
        )
        if strict:
            raise InputError(f"{said}; collect judgments between them, or rank each by itself")
        return [f"{said}; the order between groups means nothing"]
    missing = n * (n - 1) // 2 - int(np.triu(met, 1).sum())
    if not missing:
        return []
    i, j = np.nonzero(np.triu(~met, 1))
    listed = ", ".join(_some([f"{systems[a]} - {systems[b]}" for a, b in zip(i, j, strict=True)]))
    return [f"{missing} of {n * (n - 1) // 2} pairs were never compared and are skipped: {listed}"]


def _need_finite(systems: tuple[str, ...], wins: np.ndarray) -> None:
    """Refuse a group that never lost to the others: its strength has no maximum."""
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(wins > 0, directed=True, connection="strong")
    for k in range(count if count > 1 else 0):
        own = group == k
        if not wins[~own][:, own].any():
            names = ", ".join(_some([systems[i] for i in np.flatnonzero(own)]))
            raise InputError(
                f"{names}: never lost to any other system, so there is no finite Bradley-Terry"
                " strength; rank by expected-win"
            )


def _violations(counts: Counts, counted: np.ndarray) -> list[str]:
    cost = order_cost(counted, lopez_order(counted))
    exact = is_exact(counted)
    how = "fewest possible" if exact else f"heuristic: more than {EXACT} systems beat in circles"
    return [f"violations of the order: {cost:g} ({how})"]


def _some(names: list[str], most: int = 8) -> list[str]:
    return names if len(names) <= most else [*names[:most], f"and {len(names) - most} more"]


def _unit(judgments: Judgments, resample: str) -> tuple[str, np.ndarray | None, list[str]]:
    """What the judgments hang together by: the unit, its block numbers (None: single), and why."""
    notes: list[str] = []
    if resample == "auto":
        for unit in ("segment", "set", "pair"):
            block = block_numbers(judgments, unit)
            if block is not None and block.max() > 0:
                break
            if block is not None:
                notes.append(f"there is only one {unit}, which says nothing about others")
        reason = f"{WHY[unit]}, and this is the largest unit the table names"
    else:
        unit, block, reason = resample, block_numbers(judgments, resample), WHY[resample]
        if block is None:
            column = UNITS[resample][-1]
            raise OptionError(
                "resample", resample, f"needs the column '{column}'", "add it, or use auto"
            )
        if block.max() == 0 and unit != "pair":
            raise OptionError("resample", resample, f"finds only one {unit}", "use a smaller unit")
    if block is None or block.max() == 0:
        raise InputError("one judgment ranks two systems and says nothing else; add judgments")
    blocks = int(block.max()) + 1
    if unit == "pair":
        reason = "single judgments: the table names neither segments nor screens"
        reason = f"{WHY['pair']}: ranges may be too narrow" if resample == "pair" else reason
    notes.append(f"unit: {unit} ({blocks:,} of them); {reason}")
    if blocks < FEW:
        notes.append(f"with only {blocks} of them, ranges and p values are rough")
    return unit, None if unit == "pair" else block, notes


def _systems(
    names: tuple[str, ...], scores: np.ndarray, sure: Uncertainty
) -> tuple[SystemRank, ...]:
    """Best first; equal scores in the order of the table."""
    ranks = ranked(scores)
    clusters = cluster_numbers(sure.low, sure.high)
    found = zip(names, ranks, scores, sure.low, sure.high, clusters, strict=True)
    systems = [
        SystemRank(name, int(rank), float(value), int(low), int(high), int(cluster))
        for name, rank, value, low, high, cluster in found
    ]
    return tuple(sorted(systems, key=lambda item: item.rank))


def _outside(systems: tuple[SystemRank, ...]) -> list[str]:
    odd = [item.system for item in systems if not item.low_rank <= item.rank <= item.high_rank]
    if not odd:
        return []
    return [
        f"the rank by score lies outside the range, which uses other evidence: {', '.join(odd)}"
    ]


def _comparisons(
    counts: Counts, systems: tuple[SystemRank, ...], p: np.ndarray, alpha: float, sides: int,
    *, holm: bool,
) -> tuple[PairComparison, ...]:  # fmt: skip
    """Every pair of systems; with Holm the p values are the corrected ones."""
    place = {name: k for k, name in enumerate(counts.systems)}
    order = np.array([place[item.system] for item in systems])
    wins, ties, p = (table[np.ix_(order, order)] for table in (counts.wins, counts.ties, p))
    i, j = np.triu_indices(len(order), 1)
    better = decide(p, alpha, holm=holm)
    smaller = np.minimum(p[i, j], p[j, i])
    shown = np.minimum(1.0, (holm_adjusted(smaller) if holm else smaller) * sides)
    found = []
    for a, b, value in zip(i.tolist(), j.tolist(), shown.tolist(), strict=True):
        winner = a if better[a, b] else b if better[b, a] else None
        found.append(
            PairComparison(
                left=systems[a].system,
                right=systems[b].system,
                wins=int(wins[a, b]),
                losses=int(wins[b, a]),
                ties=int(ties[a, b]),
                p=value,
                decided=winner is not None,
                better=None if winner is None else systems[winner].system,
            )
        )
    return tuple(found)
