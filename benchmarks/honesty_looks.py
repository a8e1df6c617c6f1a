"""Planned looks at two systems: wrong verdicts, power, how early they stop.

Part of ``python -m benchmarks honesty``. A campaign has 1,420 segments in 142 documents (the size
of WMT20 en-de), two systems with skewed ratings that share how hard a segment is, and a sample of
441 segments, each rated once for both. The truth is the difference on all 1,420. "Equal" is a
difference of exactly 0; one look at the end finds the small gap in about half of the campaigns and
the clear one in about 98 %.

Beyond half of a test set: 800 segments in 40 documents, in rounds, each piece done by one rater
and every fifth by a second one. The truth is what all raters like these would say of all 800: no
difference. Plans take the raters' share of the variance to be 30 %; here it is 10, 30 or 60 %.

Campaigns differ in their ratings. Tables and samples are laid out once for many of them; that such
a campaign ends as ``assay.monitor`` says is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.estimation.looks import LookPlan, Watched, follow
from assay.estimation.monitor import Monitoring, monitor
from assay.estimation.rated_order import items_of, make_rated_order
from assay.estimation.study import make_study
from assay.sampling.draw import sample
from assay.stats.random import as_rng, spawn
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_scores
from benchmarks.claims import claim

GAPS = {"equal": 0.0, "small": 0.49, "clear": 1.0}
DESIGNS = ("segments", "interleaved", "rounds")
EQUAL = 3
"""So many times as many campaigns have equal systems: what is promised of them is narrow."""
LAID_OUT = 20
"""So many samples are drawn of a design, and used in turn."""
CHECKED = 5
"""So many campaigns of a kind are also given to ``assay.monitor`` as a user would."""
RATERS = ((0.1, 800), (0.3, 800), (0.6, 800), (0.3, 560))
"""The raters' share of the variance, and how many of 800 segments are planned."""
SECOND = 5
"""Every fifth piece has a second rater."""


class Answers(NamedTuple):
    """Scores of two systems and all segments, of second raters too; NaN where there is none."""

    first: np.ndarray
    second: np.ndarray | None = None


Draw = Callable[[np.random.Generator, Sample], Answers]
"""Answers at random, to what a sample asks."""


class Laid(NamedTuple):
    """A sample of a test set, what is watched, and the plans of five looks and of one."""

    test_set: TestSet
    sample: Sample
    watched: Watched
    five: LookPlan
    one: LookPlan


class Ended(NamedTuple):
    """How a campaign ended: whether five looks and one decided, after n, and all intervals held."""

    five: bool
    one: bool
    n: int
    held: bool


def test_set_of(segments: int, documents: int) -> TestSet:
    """The outputs of two systems, in documents of one length."""
    frame = pl.DataFrame({
        "doc": [f"d{k:03}" for k in np.repeat(np.arange(documents), segments // documents)],
        "seg": [f"{k:04}" for k in range(segments)],
    })  # fmt: skip
    return read_scores(pl.concat([frame.with_columns(system=pl.lit(name)) for name in "AB"]))


def table(test_set: TestSet, answers: Answers) -> Ratings:
    """The ratings as a table."""
    frame = test_set.frame.select("system", "doc", "seg")
    parts = [frame.with_columns(score=pl.Series(answers.first.ravel()))]
    if answers.second is not None:
        parts = [parts[0].with_columns(rater=pl.lit("first"))]
        more = frame.with_columns(score=pl.Series(answers.second.ravel()), rater=pl.lit("second"))
        parts.append(more.filter(pl.col("score").is_not_nan()))
    return read_ratings(pl.concat(parts), test_set, better="higher")


def lay_out(test_set: TestSet, drawn: Sample, answers: Answers) -> Laid:
    """All that campaigns have in common which differ in their scores alone."""
    ratings = table(test_set, answers)
    five, one = (
        monitor(test_set, ratings, sample=drawn, goal="ranking", looks=looks) for looks in (5, 1)
    )
    study = make_study(test_set, ratings, sample=drawn, assume=None, method="auto", interval="t",
                       level=0.95)  # fmt: skip
    progress = make_rated_order(study, drawn.order(test_set), 1, strict=False)
    plans = [LookPlan(found.planned, found.limits, None) for found in (five, one)]
    watched = Watched(study, drawn, progress, np.array(five.planned))
    return Laid(test_set, drawn, watched, *plans)


def ended(laid: Laid, answers: Answers, gap: float) -> Ended:
    """One campaign, looked at five times as planned, and once at the end."""
    study, scores = laid.watched.study, answers.first
    ratings = study.ratings
    if answers.second is not None:
        both = np.stack([answers.first, answers.second])
        scores = np.nanmean(both, axis=0)
        given = both.reshape(2, -1)
        values = np.concatenate([given[0], given[1][~np.isnan(given[1])]])
        ratings = replace(ratings, frame=ratings.frame.with_columns(score=pl.Series(values)))
    scores = np.where(np.isnan(study.rated.scores), np.nan, scores)
    study = replace(study, ratings=ratings, rated=study.rated._replace(scores=scores))
    watched = replace(laid.watched, study=study, parts={})
    (item,) = items_of(laid.test_set.systems, "ranking")
    found, last = (follow(watched, plan, item, {}) for plan in (laid.five, laid.one))
    reached = found.reached
    return Ended(
        reached is not None, last.reached is not None,
        len(laid.sample) if reached is None else reached.n,
        all(abs(look.estimate - gap) <= look.half_width for look in found.looks),
    )  # fmt: skip


def as_monitored(laid: Laid, answers: Answers, gap: float) -> Ended:
    """The same, from tables."""
    ratings = table(laid.test_set, answers)

    def watch(looks: int) -> Monitoring:
        return monitor(laid.test_set, ratings, sample=laid.sample, goal="ranking", looks=looks)

    five, one = watch(5), watch(1)
    at = five.items[0].reached
    return Ended(
        at is not None, one.items[0].reached is not None, len(laid.sample) if at is None else at,
        all(abs(look.estimate - gap) <= look.half_width for look in five.looks),
    )  # fmt: skip


def campaigns(
    test_set: TestSet, design: str, budget: int, draw: Draw, gap: float, runs: int, seed: int
) -> Iterator[Ended]:
    """So many campaigns of one kind; the first of them are checked."""
    streams = spawn(as_rng(seed), min(runs, LAID_OUT))
    for k, rng in enumerate(streams):
        drawn = sample(test_set, budget=budget, design=design, rng=rng)
        laid = lay_out(test_set, drawn, draw(rng, drawn))
        for run in range(k, runs, len(streams)):
            answers = draw(rng, drawn)
            found = ended(laid, answers, gap)
            if run < CHECKED and found != as_monitored(laid, answers, gap):
                raise AssertionError(f"a campaign of {design} does not end as assay.monitor says")
            yield found


# --- an ordinary plan -----------------------------------------------------------------------------


def skewed(gap: float, segments: int, rng: np.random.Generator) -> np.ndarray:
    """Ratings like MQM: many zeros, a long tail, hard segments hard for both."""
    hard = rng.gamma(1.0, 1.0, segments)
    x = rng.gamma(0.6, 4.0 * hard, (2, segments)).round(1)
    x[1] += x[0].mean() - x[1].mean()
    x[0] += gap
    return np.asarray(x)


def by_nobody(gap: float, rng: np.random.Generator, drawn: Sample) -> Answers:
    """Ratings of all segments, with no names of raters."""
    return Answers(skewed(gap, 1420, rng))


def usual_plans(runs: int) -> Iterator[str]:
    """Error, power and mean n of planned looks, beside one look at the end."""
    test_set, rated = test_set_of(1420, 142), 441
    for design in DESIGNS:
        found = {}
        for seed, (name, gap) in enumerate(GAPS.items()):
            print(f"looks: {design}, {name}", file=sys.stderr, flush=True)
            cell = np.array(list(campaigns(
                test_set, design, rated, partial(by_nobody, gap), gap,
                runs if gap else EQUAL * runs, seed,
            )), dtype=float)  # fmt: skip
            found[name] = cell
            five, one, n, held = cell.mean(axis=0)
            yield (f"{design:12} {name:6} decided {five:.4f} ± {error(cell[:, 0]):.4f} (one look"
                   f" {one:.4f}, difference ± {error(cell[:, 0] - cell[:, 1]):.4f}), after {n:.0f}"
                   f" of {rated}, all intervals held {held:.4f}")  # fmt: skip
        report(design, found, rated)


def error(values: np.ndarray) -> float:
    """The Monte-Carlo error of a mean."""
    return float(values.std() / np.sqrt(len(values)))


def claim_null(what: str, cell: np.ndarray) -> None:
    """Both sides of what is promised of equal systems."""
    five, one = cell[:, 0], cell[:, 1]
    peer = f"{len(cell):,} campaigns, ± {error(five):.4f}; one look {one.mean():.4f}"
    claim(f"equal systems called decided over five planned looks, {what}", five.mean(), goal=0.06,
          peer=peer)  # fmt: skip
    claim(f"the same, not too seldom, {what}", five.mean(), goal=0.04, at_most=False, peer=peer)


def report(design: str, found: dict[str, np.ndarray], rated: int) -> None:
    """What is claimed of one design."""
    claim_null(f"`{design}`", found["equal"])
    for name in ("small", "clear"):
        five, one = found[name][:, 0], found[name][:, 1]
        claim(
            f"power lost by five planned looks at a {name} gap, `{design}`",
            100 * (one - five).mean(), goal=2.0, unit="points",
            peer=f"{five.mean():.3f} against {one.mean():.3f}, ± {100 * error(one - five):.2f}"
            " points",
        )  # fmt: skip
    n = found["clear"][:, 2] / rated
    claim(f"segments rated until a clear gap is decided, `{design}`", n.mean(), goal=0.75,
          unit="of the plan", peer=f"± {error(n):.4f}")  # fmt: skip
    worst = min((cell[:, 3] for cell in found.values()), key=lambda held: float(held.mean()))
    claim(f"repeated intervals of all looks hold together, `{design}`, worst gap", worst.mean(),
          goal=0.94, at_most=False, peer=f"± {error(worst):.4f}")  # fmt: skip


# --- beyond half of a test set --------------------------------------------------------------------


def by_raters(share: float, rng: np.random.Generator, drawn: Sample) -> Answers:
    """Equal systems, pieces with a rater's taste, every fifth piece done by a second rater.

    Of a difference's variance over segments, as tasks show it, the share is the raters': half of
    it noise of single answers, half taste, which goes through a piece of four segments.
    """
    segments = 800
    truth = skewed(0.0, segments, rng)
    spread = (truth[0] - truth[1]).var()
    piece = pieces(drawn, segments)
    noise = share * spread / (2 - 1.25 * share)
    given = []
    for _ in range(2):
        taste = rng.normal(0, np.sqrt(noise / 8), (2, piece.max() + 1))[:, piece]
        given.append(truth + taste + rng.normal(0, np.sqrt(noise / 2), truth.shape))
    again = piece % SECOND == 0
    return Answers(given[0], np.where(again, given[1], np.nan))


def pieces(drawn: Sample, segments: int) -> np.ndarray:
    """The number of the piece of every segment, in the order of rating; of those left out, one."""
    frame = drawn.frame.sort("order")
    number = frame.select(pl.struct("doc", "snippet").rle_id()).to_series().to_numpy()
    found = np.full(segments, int(number.max()) + 1)
    found[frame["seg"].cast(pl.Int64).to_numpy()] = number
    return found


def large_plans(runs: int) -> Iterator[str]:
    """The error where more than half of the test set is to be rated, and some of it twice."""
    test_set = test_set_of(800, 40)
    for seed, (share, budget) in enumerate(RATERS):
        print(f"looks: {budget} of 800, raters {share:.0%}", file=sys.stderr, flush=True)
        cell = np.array(list(campaigns(
            test_set, "rounds", budget, partial(by_raters, share), 0.0, runs, 10 + seed
        )), dtype=float)  # fmt: skip
        five, one, _, held = cell.mean(axis=0)
        yield (f"{budget} of 800, raters {share:.0%}: decided {five:.4f} ± {error(cell[:, 0]):.4f}"
               f" (one look {one:.4f}), all intervals held {held:.4f}")  # fmt: skip
        claim_null(f"{budget} of 800 segments, {share:.0%} of the variance the raters'", cell)


def looks(runs: int = 2000) -> Iterator[str]:
    """All rows; what is claimed is recorded on the way."""
    yield from usual_plans(runs)
    yield from large_plans(runs)
