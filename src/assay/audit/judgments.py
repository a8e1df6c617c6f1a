"""``audit_judgments``: a finished campaign of pairwise judgments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from scipy import special

from assay.audit.differences import POWER
from assay.audit.findings import judgments_findings, judgments_next
from assay.audit.power import normal_detectable
from assay.audit.published import judge, plain_order, read_published, unclaimed, verdicts
from assay.audit.results import (
    Audit,
    AuditedPair,
    AuditedSystem,
    Coverage,
    Matching,
    Power,
    Raters,
    Representation,
)
from assay.designs.population import Population
from assay.errors import InputError
from assay.planning.judgments import JudgmentsPlan, plan_judgments
from assay.ranking.counts import Counts, count
from assay.ranking.rank import rank
from assay.ranking.results import Ranking
from assay.ranking.uncertainty import Watch, unwatched
from assay.sampling.representation import bin_name, length_shares
from assay.stats.agreement import krippendorff_alpha
from assay.stats.multiplicity import holm
from assay.stats.random import Rng, seeded, spawn
from assay.tables.judgments import Judgments
from assay.tables.raw import Source
from assay.tables.test_set import TestSet


def audit_judgments(
    judgments: Judgments,
    test_set: TestSet | None = None,
    *,
    published: Source | None = None,
    level: float = 0.95,
    rng: Rng = None,
    watch: Watch = unwatched,
) -> Audit:
    """Audit a finished campaign of judgments: who met whom how often, power, and what holds.

    Pairs are decided by expected win with segments (else screens) drawn anew, as
    :func:`assay.rank` does by default, one-sided; beside it stands common practice, single
    judgments drawn anew and sign tests (koehn2012). What could be expected, and what it would take,
    comes from the model of koehn2012 with sigma fitted to these judgments.

    test_set: what there was to judge, for coverage, where the judgments name segments.
    published: a table of what was claimed, as in :func:`assay.audit_ratings`; without it, the order
    of the scores is audited. watch: see the batches of resamples pass.

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
    ranking = rank(judgments, level=level, rng=first, watch=watch)
    usual = rank(judgments, resample="pair", level=level, rng=second, watch=watch)
    signs = rank(judgments, ranges="sign", level=level)
    counts = count(judgments)
    pairs = _pairs(ranking, 1 - level)
    scores = {item.system: item.score for item in ranking.systems}
    claims = judge(
        plain_order(scores, "higher")
        if published is None
        else read_published(published, list(scores)),
        pairs,
    )
    coverage, representation = _coverage(judgments, counts, test_set)
    plan, said = _plan(judgments, level)
    result = Audit(
        source="judgments",
        findings=(),
        coverage=coverage,
        matched=_matching(counts),
        representation=representation,
        systems=_systems(judgments, ranking, usual),
        pairs=pairs,
        published=verdicts(claims, given=published is not None),
        claims=claims,
        power=_power(pairs, ranking, signs, plan),
        raters=_raters(judgments, counts),
        unit=ranking.unit,
        blocks=ranking.blocks,
        assumption="as-judged",
        target="new-segments" if ranking.unit == "segment" else "new-judgments",
        practice="bootstrap pair",
        better="higher",
        level=level,
        sides=1,
        seed=seed,
        # Advice on options of another command is of no use here.
        notes=(
            *(line for line in ranking.notes if "--resample" not in line),
            *said,
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
    found = []
    for k, item in enumerate(ranking.comparisons):
        wins, losses, ties = (int(x or 0) for x in (item.wins, item.losses, item.ties))
        found.append(
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
    return tuple(found)


def _systems(judgments: Judgments, ranking: Ranking, usual: Ranking) -> tuple[AuditedSystem, ...]:
    practice = {item.system: item for item in usual.systems}
    named = "rater" in judgments.frame.columns
    found = []
    for item in ranking.systems:
        own = judgments.frame.filter(
            (pl.col("left") == item.system) | (pl.col("right") == item.system)
        )
        key = [name for name in ("doc", "seg") if name in own.columns]
        found.append(
            AuditedSystem(
                system=item.system,
                n=own.select(key).n_unique() if "seg" in key else own.height,
                share=None,
                answers=own.height,
                raters=own["rater"].n_unique() if named else None,
                luck=None,
                score=item.score,
                low=None,
                high=None,
                rank=item.rank,
                low_rank=item.low_rank,
                high_rank=item.high_rank,
                cluster=item.cluster,
                practice_low_rank=practice[item.system].low_rank,
                practice_high_rank=practice[item.system].high_rank,
                practice_cluster=practice[item.system].cluster,
            )
        )
    return tuple(found)


def _matching(counts: Counts) -> Matching:
    i, j = np.triu_indices(len(counts.systems), 1)
    met = (counts.wins + counts.wins.T + counts.ties)[i, j]
    return Matching(
        pairs=len(met),
        never=int((met == 0).sum()),
        least=int(met.min()),
        typical=float(np.median(met)),
        most=int(met.max()),
    )


def _coverage(
    judgments: Judgments, counts: Counts, test_set: TestSet | None
) -> tuple[Coverage, tuple[Representation, ...]]:
    """Segments and documents judged, and how their lengths mirror the test set's."""
    frame = judgments.frame
    key = [name for name in ("doc", "seg") if name in frame.columns]
    seen = frame.select(key).unique() if "seg" in key else None
    mask = None if test_set is None else _judged(test_set, seen)
    documents = frame["doc"].n_unique() if "doc" in key else None
    whole = None
    shares: tuple[Representation, ...] = ()
    if test_set is not None and mask is not None and test_set.has_documents:
        layout = Population(test_set).layout
        held = np.bincount(layout.document, mask, minlength=len(layout.lengths))
        documents, whole = int((held > 0).sum()), int((held == layout.lengths).sum())
        shares = tuple(
            Representation("length", bin_name(part.name), part.full, part.sample)
            for part in length_shares(layout, mask)
            if part.full
        )
    rest = () if test_set is None else tuple(
        name for name in test_set.systems if name not in counts.systems
    )  # fmt: skip
    found = Coverage(
        answers=len(judgments),
        systems=len(counts.systems),
        unrated_systems=rest,
        segments=None if seen is None else seen.height,
        of_segments=None if mask is None else len(mask),
        documents=documents,
        of_documents=test_set.documents.height if shares and test_set is not None else None,
        whole_documents=whole,
        outputs=None,
        of_outputs=None,
        per_output=None,
        raters=frame["rater"].n_unique() if "rater" in frame.columns else None,
    )
    return found, shares


def _judged(test_set: TestSet, seen: pl.DataFrame | None) -> np.ndarray:
    """Which segments of the test set were judged."""
    if seen is None:
        raise InputError(
            "the judgments do not name segments (no column seg), so the scores say nothing of"
            " them; leave the scores out"
        )
    key = [name for name in seen.columns if name in test_set.key]
    numbered = test_set.segments.select(test_set.key).with_row_index("_row")
    found = seen.join(numbered, on=key, how="left")
    unknown = found.filter(pl.col("_row").is_null())
    if unknown.height:
        raise InputError(
            f"segment '{unknown['seg'][0]}' of the judgments is not in the scores, and"
            f" {unknown.height - 1} others; give the scores of this test set, or none"
        )
    if found.height > seen.height:
        raise InputError("a seg of the judgments stands in several documents; add doc to them")
    mask = np.zeros(numbered.height, dtype=bool)
    mask[found["_row"].to_numpy()] = True
    return mask


def _plan(judgments: Judgments, level: float) -> tuple[JudgmentsPlan | None, tuple[str, ...]]:
    """What the model of koehn2012 says; nothing where it cannot be fitted."""
    try:
        plan = plan_judgments(pilot=judgments, level=level)
    except InputError as error:
        return None, (f"no model fits these judgments: {error}",)
    return plan, plan.notes


def _power(
    pairs: tuple[AuditedPair, ...], ranking: Ranking, signs: Ranking, plan: JudgmentsPlan | None
) -> Power:
    least = np.array([pair.detectable for pair in pairs])
    least = least[np.isfinite(least)]
    found = ranking.significant_pairs / ranking.pairs
    seen = {"sign": signs.significant_pairs / signs.pairs, "bootstrap": found}
    middle = float(np.median(least)) if len(least) else None
    worst = float(least.max()) if len(least) else None
    if plan is None:
        chance = float(np.mean([pair.power for pair in pairs]))
        return Power(POWER, middle, worst, None, chance, found, None, found_by=seen)
    reached = plan.reached or {}
    interval = plan.sigma_interval or (float("nan"), float("nan"))
    # By the fitted model, since observed differences are larger than true ones by chance.
    return Power(
        power=POWER,
        detectable=middle,
        detectable_worst=worst,
        powered=None,
        expected=reached.get("pooled", 0.0),
        found=found,
        needed=plan.needed_by["pooled"],
        expected_by=plan.reached,
        found_by=seen,
        needed_by=plan.needed_by,
        needed_by_curve=plan.needed_by_curve if _misfits(plan) else None,
        sigma=plan.sigma,
        sigma_low=interval[0],
        sigma_high=interval[1],
    )


def _raters(judgments: Judgments, counts: Counts) -> Raters | None:
    """Agreement on who wins (or a tie) between judges, and of judges with themselves."""
    frame = judgments.frame
    if not {"rater", "seg"} <= set(frame.columns):
        return None
    swap = counts.left > counts.right
    low, high = np.where(swap, counts.right, counts.left), np.where(swap, counts.left, counts.right)
    key = [name for name in ("doc", "seg") if name in frame.columns]
    rows = frame.select(*key, "rater").with_columns(
        low=low, high=high, said=np.where(swap, -counts.outcome, counts.outcome)
    )
    item = [*key, "low", "high"]
    once = rows.unique([*item, "rater"], keep="first", maintain_order=True)
    several, alpha = _alpha(once, item)
    repeated, within = _alpha(rows, [*item, "rater"])
    return Raters(frame["rater"].n_unique(), several, alpha, repeated, within)


def _alpha(rows: pl.DataFrame, item: list[str]) -> tuple[int, float]:
    """How many items have two values, and Krippendorff's alpha of them (nominal)."""
    told = rows.filter(pl.len().over(item) > 1)
    if not told.height:
        return 0, float("nan")
    unit = told.select(pl.struct(item).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    values = told["said"].to_numpy().astype(float)
    return len(np.unique(unit)), krippendorff_alpha(values, unit, metric="nominal")


def _misfits(plan: JudgmentsPlan) -> bool:
    """Whether the plan itself warns that the model expects too much or too little."""
    return any(line.startswith("warning: the pilot tells") for line in plan.notes)
