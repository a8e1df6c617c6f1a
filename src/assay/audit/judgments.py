"""``audit_judgments``: a finished campaign of pairwise judgments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from scipy import special

from assay.audit.coverage import judgments_agreement, judgments_coverage, judgments_matching
from assay.audit.findings import judgments_findings, judgments_next
from assay.audit.published import count_verdicts, judge, plain_order, read_published, unclaimed
from assay.audit.results import Audit, AuditedPair, AuditedSystem, CampaignPower, coded
from assay.errors import InputError
from assay.planning.judgments import JudgmentsPlan, plan_judgments
from assay.ranking.counts import count
from assay.ranking.rank import rank
from assay.ranking.results import Ranking
from assay.results import Note, has_note
from assay.stats.intervals import LEVEL, POWER
from assay.stats.orders import holm
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded, spawn
from assay.tables.answers import Judgments
from assay.tables.files import Source
from assay.tables.test_set import TestSet


def audit_judgments(
    judgments: Judgments,
    test_set: TestSet | None = None,
    *,
    published: Source | None = None,
    level: float = LEVEL,
    rng: Rng = None,
    progress: Progress = silent,
) -> Audit:
    """Audit a finished campaign of judgments: who met whom how often, power, and what holds.

    Pairs are decided by expected win with segments (else screens) drawn anew, as
    :func:`assay.rank` does by default, one-sided; beside it stands common practice, single
    judgments drawn anew and sign tests (koehn2012). What could be expected, and what it would take,
    comes from the model of koehn2012 with sigma fitted to these judgments.

    test_set: what there was to judge, for coverage, where the judgments name segments.
    published: a table of what was claimed, as in :func:`assay.audit_ratings`; without it, the order
    of the scores is audited.

    >>> import assay
    >>> world = assay.simulate(systems={"good": 1.0, "fair": 3.0, "bad": 9.0}, rng=1)
    >>> found = assay.audit_judgments(world.judge(3000, per_set=3, rng=1), rng=1)
    >>> found.published.hold, found.matched.never
    (3, 0)
    """
    if not isinstance(judgments, Judgments):
        raise InputError(
            f"{type(judgments).__name__} where Judgments belong; read them with"
            " assay.read_judgments(...)"
        )
    generator, seed = seeded(rng)
    first, second = spawn(generator, 2)
    ranking = rank(judgments, level=level, rng=first, progress=progress)
    practice = rank(
        judgments, resample="pair", level=level, rng=second,
        progress=progress,
    )  # fmt: skip
    signs = rank(judgments, ranges="sign", level=level)
    counts = count(judgments)
    pairs = _pairs(ranking, 1 - level)
    scores = {item.system: item.score for item in ranking.systems}
    claims = judge(
        plain_order(scores, "higher") if published is None
        else read_published(published, list(scores)),
        pairs,
    )  # fmt: skip
    coverage, representation = judgments_coverage(judgments, counts.systems, test_set)
    plan, plan_notes = _plan(judgments, level)
    result = Audit(
        source="judgments",
        findings=(),
        coverage=coverage,
        matched=judgments_matching(counts),
        representation=representation,
        systems=_systems(judgments, ranking, practice),
        pairs=pairs,
        published=count_verdicts(claims, given=published is not None),
        claims=claims,
        power=_power(pairs, ranking, signs, plan),
        raters=judgments_agreement(judgments, counts),
        unit=ranking.unit,
        blocks=ranking.blocks,
        assumption="as-judged",
        target="new-segments" if ranking.unit == "segment" else "new-judgments",
        practice="bootstrap pair",
        better="higher",
        level=level,
        sides=1,
        seed=seed,
        next=(),
        notes=(
            # An audit does not choose the units that are drawn.
            *(note for note in coded(ranking.notes) if note.code != "other-units"),
            *plan_notes,
            *unclaimed(claims, list(scores)),
        ),
    )
    return replace(result, findings=judgments_findings(result), next=judgments_next(result))


def _pairs(ranking: Ranking, alpha: float) -> tuple[AuditedPair, ...]:
    """Every pair, with the standard error of the bootstrap."""
    score = {item.system: item.score for item in ranking.systems}
    p = np.array([item.p for item in ranking.comparisons])
    gap = np.array([score[item.left] - score[item.right] for item in ranking.comparisons])
    stderr = np.array([item.stderr or np.nan for item in ranking.comparisons])
    z = gap / stderr
    power = special.ndtr(z - special.ndtri(1 - alpha))
    least = normal_detectable(stderr, alpha)
    adjusted = holm(np.minimum(1.0, 2 * p))  # the better system is not known beforehand
    pairs = []
    for k, item in enumerate(ranking.comparisons):
        wins, losses, ties = (int(x or 0) for x in (item.wins, item.losses, item.ties))
        pairs.append(
            AuditedPair(
                left=item.left,
                right=item.right,
                basis="judgments",
                n=wins + losses + ties,
                wins=wins,
                losses=losses,
                ties=ties,
                difference=float(gap[k]),
                low=None,
                high=None,
                stderr=float(stderr[k]),
                p=item.p,
                p_holm=float(adjusted[k]),
                decided=item.decided,
                decided_holm=item.decided and bool(adjusted[k] < alpha),
                better=item.better,
                detectable=float(least[k]),
                power=float(power[k]),
            )
        )
    return tuple(pairs)


def normal_detectable(stderr: np.ndarray, alpha: float) -> np.ndarray:
    """The smallest difference found with the usual probability by a one-sided normal test."""
    return np.asarray(stderr * (special.ndtri(1 - alpha) + special.ndtri(POWER)))


def _systems(
    judgments: Judgments, ranking: Ranking, practice: Ranking
) -> tuple[AuditedSystem, ...]:
    usual = {item.system: item for item in practice.systems}
    systems = []
    for item in ranking.systems:
        rows = judgments.frame.filter(
            (pl.col("left") == item.system) | (pl.col("right") == item.system)
        )
        key = [name for name in ("doc", "seg") if name in rows.columns]
        systems.append(
            AuditedSystem(
                system=item.system,
                n=rows.select(key).n_unique() if "seg" in key else rows.height,
                share=None,
                answers=rows.height,
                raters=rows["rater"].n_unique() if "rater" in rows.columns else None,
                ease=None,
                score=item.score,
                low=None,
                high=None,
                rank=item.rank,
                low_rank=item.low_rank,
                high_rank=item.high_rank,
                cluster=item.cluster,
                practice_low_rank=usual[item.system].low_rank,
                practice_high_rank=usual[item.system].high_rank,
                practice_cluster=usual[item.system].cluster,
            )
        )
    return tuple(systems)


def _plan(judgments: Judgments, level: float) -> tuple[JudgmentsPlan | None, tuple[Note, ...]]:
    """What the model of koehn2012 says; nothing where it cannot be fitted."""
    try:
        plan = plan_judgments(pilot=judgments, level=level)
    except InputError as error:
        return None, (Note("no-model", f"no model fits these judgments: {error}"),)
    return plan, plan.notes


def _power(
    pairs: tuple[AuditedPair, ...], ranking: Ranking, signs: Ranking, plan: JudgmentsPlan | None
) -> CampaignPower:
    least = np.array([pair.detectable for pair in pairs])
    least = least[np.isfinite(least)]
    found = ranking.significant_pairs / ranking.pairs
    found_by = {"sign": signs.significant_pairs / signs.pairs, "bootstrap": found}
    middle = float(np.median(least)) if len(least) else None
    worst = float(least.max()) if len(least) else None
    if plan is None:
        chance = float(np.mean([pair.power for pair in pairs]))
        return CampaignPower(POWER, middle, worst, None, chance, found, None, found_by=found_by)
    reached = plan.reached or {}
    low, high = plan.sigma_interval or (None, None)
    uneven = has_note(plan.notes, "uneven-systems")
    # By the fitted model, since observed differences are larger than true ones by chance.
    return CampaignPower(
        power=POWER,
        detectable=middle,
        detectable_worst=worst,
        powered=None,
        expected=reached.get("pooled", 0.0),
        found=found,
        needed=plan.needed_by["pooled"],
        expected_by=plan.reached,
        found_by=found_by,
        needed_by=plan.needed_by,
        needed_by_curve=plan.needed_by_curve if uneven else None,
        sigma=plan.sigma,
        sigma_low=low,
        sigma_high=high,
    )
