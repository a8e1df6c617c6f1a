"""Rank systems from pairwise judgments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.errors import OptionError, need_known, need_level
from assay.pay import pay_of
from assay.ranking.advice import next_steps
from assay.ranking.counts import (
    UNITS,
    Counts,
    check_counts,
    count,
    effective_wins,
    find_units,
    first_judgments,
    screen_size,
    set_effect,
)
from assay.ranking.methods import check_method, find_method, score
from assay.ranking.uncertainty import Rule, Uncertainty, bootstrap
from assay.results import UNPAID, Costs, Note, Result, signature
from assay.stats.intervals import LEVEL, cluster_numbers, competition_ranks
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded, spawn
from assay.tables.answers import Judgments

if TYPE_CHECKING:
    from assay.ranking.calibration import Calibration

RESAMPLES, MAX_RESAMPLES = 1000, 1_000_000


@dataclass(frozen=True, slots=True)
class SystemRank:
    """The rank of one system, its range and its cluster; 1 is best, equal scores share a rank."""

    system: str
    rank: int
    score: float
    low_rank: int
    high_rank: int
    cluster: int


@dataclass(frozen=True, slots=True)
class PairComparison:
    """A pair of systems, the higher-ranked one on the ``left``.

    ``wins`` and ``losses`` are those of the left (None in a ranking from ratings). ``better`` names
    the decidedly better system. ``stderr`` is the standard error of the difference of scores, None
    if the method gives none.
    """

    left: str
    right: str
    wins: int | None
    losses: int | None
    ties: int | None
    p: float
    decided: bool
    better: str | None
    stderr: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result, kind="ranking", listing="systems"):
    """The systems, best first, and the pairs that were tested.

    judgments or ratings: how many there were. unit: what was resampled, or within which judgments
    are correlated. calibrated: the share of resamples in a range, if found by simulation. sides:
    whether ``p`` are one-sided or two-sided. raters: how many raters' tastes the ranges and tests
    take into account. next: what more judgments would bring. For ratings, clusters_by: a cluster
    ends between ``neighbours``, or where ``all`` systems above differ from all below; rank_sum:
    whether single outputs were tested (None in older results: they were).
    """

    method: str
    judgments: int | None = None
    ratings: int | None = None
    ranges: Literal["bootstrap", "sign", "pooled"]
    interval: Literal["shortest", "equal-tailed"] | None
    unit: str
    blocks: int
    raters: int | None = None
    ties: str | None
    level: float
    calibrated: float | None = None
    sides: Literal[1, 2]
    holm: bool
    resamples: int | None
    seed: int | None
    better: Literal["higher", "lower"] = "higher"
    systems: tuple[SystemRank, ...]
    pairs: int
    significant_pairs: int
    clusters: int
    clusters_by: Literal["neighbours", "all"] | None = None
    rank_sum: bool | None = None
    comparisons: tuple[PairComparison, ...]
    notes: tuple[Note, ...] = ()
    next: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """What the ranking is based on: judgments or ratings."""
        return "ratings" if self.judgments is None else "judgments"

    @property
    def signature(self) -> str:
        """The settings behind this ranking, in one line."""
        return signature(
            self.method, judgments=self.judgments, ratings=self.ratings, ties=self.ties,
            ranges="-".join(filter(None, (self.ranges, self.interval))),
            unit=f"{self.unit}-{self.blocks}", raters=self.raters, level=f"{self.level:g}",
            calibrated=None if self.calibrated is None else f"{self.calibrated:.4g}",
            sides=self.sides, holm="yes" if self.holm else "no",
            clusters="all" if self.clusters_by == "all" else None,
            test="rank-sum" if self.rank_sum else None,
            better="lower" if self.better == "lower" else None,
            resamples=self.resamples, seed=self.seed,
        )  # fmt: skip


def rank(
    judgments: Judgments,
    *,
    method: str = "expected-win",
    ranges: Literal["bootstrap", "sign", "pooled"] = "bootstrap",
    resample: Literal["auto", "document", "segment", "set", "rater", "pair"] = "auto",
    range_kind: Literal["shortest", "equal-tailed"] | None = None,
    ties: Literal["drop", "half", "davidson"] = "drop",
    level: float = LEVEL,
    calibrate: bool = False,
    sides: Literal[1, 2] = 2,
    holm: bool = False,
    resamples: int | None = None,
    pay: Costs | str | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> Ranking:
    """Rank systems by pairwise judgments, with rank ranges and clusters (koehn2012).

    method: expected-win, bojar, better-or-equal, lopez or bradley-terry.
    ranges: from resampled judgments (bootstrap), from a sign test of each pair, or from the pooled
    test, which needs far fewer judgments and assumes one scale.
    resample: the unit to resample, within which the pooled test takes judgments as correlated; auto
    is the segment, else the screen (set), else the single judgment.
    range_kind: the shortest range that holds ``level`` of the resamples (default), or the range
    after cutting off equal tails. calibrate: ranges miss fewer than 1 - level of true ranks;
    shorten them as far as simulated campaigns of this size allow (a few seconds).
    ties: dropped, half a win for each side, or, with bradley-terry, modelled (davidson).
    sides: two-sided tests at 1 - level, or one-sided tests as in the paper, which call twice as
    many equal systems different. holm: correct for the number of pairs. pay: the cost of a
    judgment, for the next step.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> ranking = assay.rank(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> [(item.system, item.low_rank, item.high_rank) for item in ranking.systems]
    [('good', 1, 1), ('fair', 2, 2), ('bad', 3, 3)]
    """
    method, paid = find_method(method), UNPAID if pay is None else pay_of(pay)
    _check_options(method, ranges, resample, range_kind, ties, calibrate=calibrate,
                   resamples=resamples)  # fmt: skip
    check_tests(level, sides, range_kind)
    drawn = resamples_for(resamples, level) if ranges == "bootstrap" else None
    kind = None if drawn is None else range_kind or "shortest"
    generator, seed = seeded(rng)
    judgments, repeated = first_judgments(judgments)
    counts = count(judgments)
    notes = [
        *judgments.notes,
        *repeated,
        *check_counts(judgments, counts, method, ranges, ties),
        *check_method(method, counts.systems, effective_wins(counts.wins, counts.ties, ties)),
    ]
    units = find_units(judgments, "pair" if ranges == "sign" else resample)
    rule = Rule(level, sides, holm)
    chosen = _calibration(judgments, str(kind), level, generator, progress) if calibrate else None
    if drawn is None:
        from assay.ranking.pairs import by_pooled_test, by_sign_test

        seed = None
        sure = (
            by_sign_test(counts, rule) if ranges == "sign"
            else by_pooled_test(counts, units, ties, rule)
        )  # fmt: skip
    else:
        sure = bootstrap(
            counts, units, method=method, ties=ties, range_kind=str(kind),
            level=level if chosen is None else chosen.level, rule=rule, resamples=drawn,
            rng=generator, progress=progress,
        )  # fmt: skip
    systems = _systems(counts.systems, score(method, counts.wins, counts.ties, ties), sure)
    comparisons = _comparisons(counts, systems, sure, rule)
    notes += [*units.notes, *sure.notes, *_calibrated(chosen)]
    odd = [item.system for item in systems if not item.low_rank <= item.rank <= item.high_rank]
    if odd:
        text = f"rank by score outside the rank range: {', '.join(odd)}"
        notes.append(Note("rank-outside-range", text))
    return Ranking(
        systems=systems, comparisons=comparisons, pairs=len(comparisons),
        significant_pairs=sum(item.decided for item in comparisons),
        clusters=max(item.cluster for item in systems), judgments=len(judgments),
        method=method, ranges=ranges, interval=kind, unit=units.name, blocks=units.count,
        raters=None if ranges == "sign" else units.raters,
        ties="win" if method == "better-or-equal" else ties, level=level,
        calibrated=None if chosen is None else chosen.level, sides=sides, holm=holm,
        resamples=drawn, seed=seed, notes=tuple(notes),
        next=next_steps(
            comparisons, counts.systems, sure.p, len(judgments), "judgments",
            alpha=rule.alpha_of_closest(sum(not item.decided for item in comparisons)), pay=paid,
        ),
    )  # fmt: skip


def check_tests(level: float, sides: int, range_kind: str | None) -> None:
    """Refuse unknown levels, sides and kinds of ranges."""
    if sides not in (1, 2):
        raise OptionError("sides", sides, "is not known", "choose from 1, 2")
    if range_kind is not None:
        need_known("range_kind", range_kind, ("shortest", "equal-tailed"))
    need_level(level)


def resamples_for(resamples: int | None, level: float) -> int:
    """The number of resamples, by default a thousand; refuse too few for this level."""
    if resamples is None:
        resamples = RESAMPLES
    fewest = round(2 / (1 - level))
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < fewest:
        fault = f"are too few for ranges at {level:g}"
        raise OptionError("resamples", resamples, fault, f"give at least {fewest}, better 1000")
    if resamples > MAX_RESAMPLES:
        fault, remedy = "are too many", f"give at most {MAX_RESAMPLES:,}"
        raise OptionError("resamples", resamples, fault, remedy)
    return resamples


def _check_options(
    method: str, ranges: str, resample: str, range_kind: str | None, ties: str,
    *, calibrate: bool, resamples: int | None,
) -> None:  # fmt: skip
    """Refuse unknown options and those that would have no effect."""
    need_known("ranges", ranges, ("bootstrap", "sign", "pooled"))
    need_known("resample", resample, ("auto", *UNITS))
    need_known("ties", ties, ("drop", "half", "davidson"))
    if ranges == "sign" and resample != "auto":
        remedy = "leave it out, or use pooled"
        raise OptionError("resample", resample, "has no effect on sign tests", remedy)
    resampled = {"range_kind": range_kind, "resamples": resamples, "calibrate": calibrate or None}
    for name, value in resampled.items():
        if ranges != "bootstrap" and value is not None:
            raise OptionError(name, value, "is for ranges from resampling", "leave it out")
    if ties == "davidson" and (method, ranges) != ("bradley-terry", "bootstrap"):
        fault = "is for bradley-terry with ranges from resampling"
        raise OptionError("ties", ties, fault, "choose drop or half")
    if method == "better-or-equal" and ties != "drop":
        fault = "does not go with better-or-equal, where ties are wins"
        raise OptionError("ties", ties, fault, "leave it out")
    if calibrate and method != "expected-win":
        fault = f"is simulated for expected-win, not {method}"
        raise OptionError("calibrate", True, fault, "leave out method, or calibrate")


def _calibration(
    judgments: Judgments, range_kind: str, level: float, rng: np.random.Generator,
    progress: Progress,
) -> Calibration:  # fmt: skip
    """Calibrate the level on simulated campaigns with as many systems, noise and information.

    Judgments of a segment may be more correlated than those of a set in the model; a smaller number
    of model judgments then stands for them.
    """
    # scipy.optimize is slow to load
    from assay.ranking.calibration import MAX_SYSTEMS_CALIBRATED, calibrated_level
    from assay.ranking.sigma import fit_sigma, pilot_needed

    n = len(judgments.systems)
    if n > MAX_SYSTEMS_CALIBRATED:
        fault = f"is simulated for at most {MAX_SYSTEMS_CALIBRATED} systems, not {n}"
        raise OptionError("calibrate", True, fault, "leave it out")
    fit = fit_sigma(judgments)
    k = screen_size(judgments)
    if not math.isfinite(fit.sigma):
        more = pilot_needed(fit, k)
        remedy = "leave it out" if more is None else f"collect {more:,} judgments, or leave it out"
        shown = "are too few to agree by more than chance" if fit.agreeing else "show none"
        fault = f"needs differences to simulate, and these judgments {shown}"
        raise OptionError("calibrate", True, fault, remedy)
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
        f" campaigns with the same information (sigma {chosen.sigma:.1f}, {chosen.judgments:,}"
        f" judgments in sets of {chosen.per_set}) such ranges missed {chosen.violations:.1%} of the"
        " true ranks"
    )
    return [Note("calibrated", text)]


def _systems(
    names: tuple[str, ...], scores: np.ndarray, sure: Uncertainty
) -> tuple[SystemRank, ...]:
    """The systems, best first; equal scores keep the order of the table."""
    ranks = competition_ranks(scores, digits=12)
    columns = ranks, scores, sure.low, sure.high, cluster_numbers(sure.low, sure.high)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return tuple(sorted((SystemRank(*row) for row in rows), key=lambda item: item.rank))


def _comparisons(
    counts: Counts, systems: tuple[SystemRank, ...], sure: Uncertainty, rule: Rule
) -> tuple[PairComparison, ...]:
    """Every pair of systems, with p values corrected by Holm if the rule says so."""
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
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for a, b, wins, losses, ties, above, below, p, error in rows:
        left, right = counts.systems[a], counts.systems[b]
        winner = left if above else right if below else None
        comparisons.append(PairComparison(
            left, right, wins, losses, ties, p, winner is not None, winner,
            None if sure.stderr is None else error,
        ))  # fmt: skip
    return tuple(comparisons)
