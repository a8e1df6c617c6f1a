"""``rank``: systems in order from judgments."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.errors import OptionError
from assay.ranking.advice import next_steps
from assay.ranking.calibrate import MOST, Calibration, calibrated_level
from assay.ranking.checks import check_counts, check_level, check_options, resamples_for
from assay.ranking.counts import Counts, count, screen_size, set_effect
from assay.ranking.decisions import Rule
from assay.ranking.methods import find_method, score
from assay.ranking.results import PairComparison, Ranking, SystemRank
from assay.ranking.uncertainty import (
    Uncertainty,
    Watch,
    bootstrap,
    by_pooled_test,
    by_sign_test,
    ranked,
    unwatched,
)
from assay.ranking.units import find_units
from assay.stats.orders import cluster_numbers
from assay.stats.random import Rng, seeded, spawn
from assay.tables.answers import Judgments


def rank(
    judgments: Judgments,
    *,
    method: str = "expected-win",
    ranges: Literal["bootstrap", "sign", "pooled"] = "bootstrap",
    resample: Literal["auto", "document", "segment", "set", "rater", "pair"] = "auto",
    interval: Literal["shortest", "equal-tailed"] | None = None,
    ties: Literal["drop", "half"] = "drop",
    level: float = 0.95,
    calibrate: bool = False,
    sides: Literal[1, 2] = 1,
    holm: bool = False,
    resamples: int | None = None,
    rng: Rng = None,
    watch: Watch = unwatched,
) -> Ranking:
    """Rank systems by pairwise judgments, with rank ranges and clusters (koehn2012).

    method: expected-win, bojar, better-or-equal, lopez or bradley-terry.
    ranges: from judgments drawn anew (bootstrap), from sign tests of each pair by itself, or from
    the pooled test, which needs far fewer judgments and assumes one scale.
    resample: what is drawn anew, and what judgments hang together by in the pooled test. auto is
    the segment, else the screen (set), else the single judgment.
    interval: the shortest range that holds ``level`` of the resamples (default), or what is left
    when as many are cut off at both ends. calibrate: such a range misses fewer than 1 - level of
    true ranks; shorten it as far as simulated campaigns of this size allow (a few seconds).
    ties: dropped, or half a win for each side. sides: one-sided tests at 1 - level, as the paper
    has them, or two-sided. holm: correct for the number of pairs. watch: see the work pass.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> [(item.system, item.low_rank, item.high_rank) for item in ranking.systems]
    [('good', 1, 1), ('fair', 2, 2), ('bad', 3, 3)]
    """
    method = find_method(method)
    check_options(
        method, ranges, resample, interval, ties, sides, calibrate=calibrate, resamples=resamples
    )
    check_level(level)
    drawn = resamples_for(resamples, level) if ranges == "bootstrap" else None
    generator, seed = seeded(rng)
    counts = count(judgments)
    notes = [*judgments.notes, *check_counts(judgments, counts, method, ranges, ties)]
    units = find_units(judgments, "pair" if ranges == "sign" else resample)
    rule = Rule(level, sides, holm)
    chosen = None
    if calibrate:
        chosen = _calibration(judgments, interval or "shortest", level, generator, watch)
    if drawn is None:
        seed = None
        sure = (
            by_sign_test(counts, rule) if ranges == "sign"
            else by_pooled_test(counts, units.block, ties, rule)
        )  # fmt: skip
    else:
        sure = bootstrap(
            counts, units.block, method=method, ties=ties, interval=interval or "shortest",
            level=level if chosen is None else chosen.level, rule=rule, resamples=drawn,
            rng=generator, watch=watch,
        )  # fmt: skip
    systems = _systems(counts.systems, score(method, counts.wins, counts.ties, ties), sure)
    comparisons = _comparisons(counts, systems, sure, rule)
    return Ranking(
        systems=systems,
        comparisons=comparisons,
        judgments=len(judgments),
        kind="judgments",
        method=method,
        ranges=ranges,
        interval=None if drawn is None else interval or "shortest",
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


def _calibration(
    judgments: Judgments, interval: Literal["shortest", "equal-tailed"], level: float,
    rng: np.random.Generator, watch: Watch,
) -> Calibration:  # fmt: skip
    """The level for campaigns with as many systems, as noisy, that carry as much information.

    Judgments of one segment may hang together more than those of a set do in the model; fewer
    judgments of the model stand for them.
    """
    from assay.ranking.sigma import fit_sigma  # scipy.optimize is slow to load

    n = len(judgments.systems)
    if n > MOST:
        fault = f"is simulated for at most {MOST} systems, not {n}"
        raise OptionError("calibrate", True, fault, "leave it out")
    fit = fit_sigma(judgments)
    k = screen_size(judgments)
    worth = min(1.0, set_effect(k) / fit.effect)
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
        f" of {found.per_set}, so many as carry the same information) such ranges missed"
        f" {found.violations:.1%} of the true ranks"
    ]


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
        "the rank by score lies outside the range, which resamples or tests move elsewhere:"
        f" {', '.join(odd)}"
    ]


def _comparisons(
    counts: Counts, systems: tuple[SystemRank, ...], sure: Uncertainty, rule: Rule
) -> tuple[PairComparison, ...]:
    """Every pair of systems; with Holm the p values are the corrected ones."""
    place = {name: k for k, name in enumerate(counts.systems)}
    order = np.array([place[item.system] for item in systems])
    wins, ties, p = (table[np.ix_(order, order)] for table in (counts.wins, counts.ties, sure.p))
    spread = None if sure.stderr is None else sure.stderr[np.ix_(order, order)]
    i, j = np.triu_indices(len(order), 1)
    better = rule.decide(p)
    shown = rule.shown(np.minimum(p[i, j], p[j, i]))
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
                stderr=None if spread is None else float(spread[a, b]),
            )
        )
    return tuple(found)
