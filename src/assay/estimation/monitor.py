"""When to stop rating: looks that are planned before the first rating.

Testing after every batch and stopping at the first significant difference finds differences
between equal systems in a quarter of all campaigns. So looks are planned: each takes place when all
segments up to a number fixed beforehand are rated. (How many are rated "now" depends on how hard
they are.) A look decides a difference beyond a limit that makes all looks together wrong in 5 % of
cases (:mod:`assay.stats.looks`).

For scores the rule is that of fixed-width intervals (Chow and Robbins 1965): the interval stated
at the stop has the width asked for, never less.

The rules only decide when to stop; estimates use all ratings of the complete beginning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.designs.base import design_of, watchable_designs
from assay.errors import InputError, OptionError, need_count, need_known
from assay.estimation.looks import (
    FIRST_LOOK,
    LOOKS,
    Followed,
    Look,
    LookPlan,
    Watched,
    follow,
    follow_at_will,
    make_plan,
)
from assay.estimation.rated_order import (
    Awaited,
    Item,
    awaited_notes,
    find_awaited,
    items_of,
    make_rated_order,
)
from assay.estimation.results import noted
from assay.estimation.skipping import skipping_notes
from assay.estimation.study import Study, make_study
from assay.pay import pay_of
from assay.results import UNPAID, Costs, Note, Result, percent, signature
from assay.stats.intervals import LEVEL
from assay.tables.tables import Ratings, Sample, TestSet

MOST_LOOKS = 50
SAID_BY_ESTIMATE = ("skipped", "mostly-skipped", "skipping-by-metrics", "skipping-by-document",
                    "skipping-by-system", "rated-beginning", "rests")  # fmt: skip
"""Notes of an estimate from the whole sample, which a running campaign has not rated yet."""


@dataclass(frozen=True, slots=True)
class Monitored:
    """One system, or one pair ``A - B``: the estimate so far, and what its looks decided.

    ``estimate`` rests on the first ``n`` segments, the complete beginning. Its interval is that of
    the look at n; without one it is an ordinary interval for ``orientation``. ``reached`` is the
    look that decided it or was precise enough, ``winner`` the system found better there, and
    ``more`` the segments missing until the next look (for scores: until the target is expected,
    perhaps beyond the sample), 0 once reached, None if no look is left.
    """

    what: str
    estimate: float
    low: float
    high: float
    n: int
    reached: int | None
    more: int | None
    winner: str | None = None
    orientation: bool = False


@dataclass(frozen=True, slots=True)
class Monitoring(Result, kind="monitoring", listing="looks"):
    """The verdict on a campaign so far, and every look behind it.

    ``planned`` are the sizes of the looks, ``limits`` the limits of |Z| there (for pairs; wider by
    Student's t with few ratings). The systems in ``rest`` need no more ratings. The first ``n``
    segments are complete for all that is still open; the next look waits for the ``awaited`` gaps.
    """

    stop: bool
    items: tuple[Monitored, ...]
    looks: tuple[Look, ...]
    n: int
    population: int
    target: float | None
    goal: str
    guarantee: bool
    level: float
    design: str
    seed: int | None
    planned: tuple[int, ...] = ()
    limits: tuple[float, ...] = ()
    rest: tuple[str, ...] = ()
    ahead: int = 0
    """Ratings missing until the next look, of systems not at rest."""
    pay: Costs = UNPAID
    """What a rating costs, in money and time."""
    awaited: tuple[Awaited, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """How this verdict was reached, in one line."""
        return signature(
            self.design, "betting" if self.guarantee else f"looks:{len(self.planned)}",
            n=f"{self.n}/{self.population}",
            target=None if self.target is None else f"{self.target:g}",
            goal=self.goal, level=f"{self.level:g}", seed=self.seed,
        )  # fmt: skip


def monitor(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample,
    half_width: float | None = None,
    goal: str = "score",
    looks: int | Sequence[int] | None = None,
    before: Monitoring | None = None,
    per_output: int = 1,
    pay: Costs | str | None = None,
    guarantee: bool = False,
    level: float = LEVEL,
) -> Monitoring:
    """Say at planned looks whether enough has been rated.

    The sample must be rated in its order, and its beginnings must be samples. The ``goal``
    ``score`` asks for every system's interval to be as narrow as ``half_width``; ``ranking`` for
    every difference to be decided (or that narrow, if a half-width is given). ``looks`` is their
    number, in equal steps to the whole sample (default: 5 for a ranking, 10 for scores), or their
    sizes. A look takes place once all segments up to its size are rated for its systems, by
    ``per_output`` raters each. It does not wait for outputs whose row has no score, which were
    skipped. Other gaps delay a look until ratings reach the next one, and then count as skipped
    too, as in :func:`assay.estimate`.

    ``before`` is the earlier result: its looks are kept, and only new ones are computed. With
    ``guarantee`` one may look at any time: the interval is the any-time betting sequence, for
    simple random samples of ratings with a stated range. ``pay`` gives the price of a rating.

    >>> import assay
    >>> world = assay.simulate(documents=40, systems=3, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="60%", design="interleaved", rng=7)
    >>> result = assay.monitor(world.test_set, world.rate(drawn), sample=drawn, goal="ranking")
    >>> result.planned[-1] == len(drawn), [round(limit, 2) for limit in result.limits[-2:]]
    (True, [2.45, 2.0])
    """
    _check(half_width, goal, per_output, guarantee, looks, before)
    paid = UNPAID if pay is None else pay_of(pay)
    if isinstance(sample, Sample) and isinstance(test_set, TestSet):
        sample = sample.placed_in(test_set)  # once, for all that follows
    study = make_study(
        test_set, ratings, sample=sample, assume=None, method="auto", interval="t", level=level,
        target="answers" if guarantee else None,
    )  # fmt: skip
    if goal == "ranking" and len(test_set.systems) < 2:
        raise InputError("a ranking needs two systems, and there is one; choose the goal score")
    ends = _beginnings(sample, guarantee, study.ratings)
    progress = make_rated_order(study, sample.order(test_set), per_output, strict=guarantee)
    watched, items = Watched(study, sample, progress, ends), items_of(test_set.systems, goal)
    if guarantee:
        plan = LookPlan((), (), half_width)
        found = [follow_at_will(watched, plan, item) for item in items]
        return replace(_wrapped(watched, plan, found, goal), pay=paid)
    plan = make_plan(watched, looks, goal, half_width)
    past: dict[str, dict[int, Look]] = {}
    if before is not None:
        _need_same(before, plan, study, goal)
        _need_as_many(before, watched, plan, items)
        for look in before.looks:
            past.setdefault(look.what, {})[look.n] = look
    found = [follow(watched, plan, item, past.get(item.what, {})) for item in items]
    result = _wrapped(watched, plan, found, goal)
    return replace(result, ahead=result.ahead * per_output, pay=paid)


# --- verdicts -----------------------------------------------------------------------------------


def _wrapped(watched: Watched, plan: LookPlan, found: Sequence[Followed], goal: str) -> Monitoring:
    """The result with its notes."""
    study, systems = watched.study, watched.study.test_set.systems
    open_ = [one for one in found if one.reached is None]
    rest = tuple(
        name for k, name in enumerate(systems) if all(k not in one.item[1:] for one in open_)
    )
    size = min((one.following or math.inf for one in open_), default=math.inf)
    end = int(min(size, len(watched.progress.order)))
    waiting = [one.item for one in open_ if not _over(watched, one)]
    awaited = find_awaited(study, watched.progress, waiting, end)
    used = [
        max(one.now.n for one in found if k in one.item[1:]) if found else 0
        for k in range(len(systems))
    ]
    notes = (
        *(note for note in study.notes if note.code not in SAID_BY_ESTIMATE),
        *_caveats(plan, found, goal, study.level),
        *_unmet_note(watched, plan, [one for one in open_ if one.item not in waiting], goal),
        *_skipped_notes(watched, found),
        *awaited_notes(watched.progress, awaited, end if plan.sizes else None, used),
    )
    if rest and waiting:
        why = "precise enough" if goal == "score" else "every difference of theirs is settled"
        notes += (Note("may-rest", f"{', '.join(rest)} may rest: {why}"),)
    design = study.rated.design
    return Monitoring(
        stop=bool(found) and all(_over(watched, one) for one in found),
        items=tuple(_monitored(watched, plan, one) for one in found),
        looks=tuple(look for one in found for look in one.looks),
        n=min((one.now.n for one in open_), default=max(used, default=0)),
        population=watched.population, target=plan.target, goal=goal, guarantee=not plan.sizes,
        level=study.level, design=design.name, seed=design.seed, planned=plan.sizes,
        limits=plan.limits, rest=rest, ahead=_ahead(watched, waiting, end), awaited=awaited,
        notes=noted(notes),
    )  # fmt: skip


def _ahead(watched: Watched, waiting: Sequence[Item], end: int) -> int:
    """The outputs that the next look of all open systems and pairs still misses."""
    systems = sorted({k for item in waiting for k in item[1:]})
    return int((~watched.progress.done[systems, :end]).sum()) if systems else 0


def _over(watched: Watched, one: Followed) -> bool:
    """Whether more ratings cannot change the verdict: reached, or no look or segment is left."""
    if one.sizes:
        used_up = bool(one.looks) and one.following is None
    else:  # looks at will end with the sample
        used_up = watched.latest(one.item) == len(watched.progress.order)
    return one.reached is not None or used_up or one.now.n == watched.population


def _monitored(watched: Watched, plan: LookPlan, one: Followed) -> Monitored:
    now, reached, study = one.now, one.reached, watched.study
    (low, high), winner = now.ends, None
    stated = False
    if reached is not None and not one.item.pair and plan.sizes and plan.target is not None:
        stated = now.half_width <= plan.target  # the interval asked for, also beyond its look
        if stated:  # narrower ones cover less than they say
            low, high = _asked_for(now.estimate, plan.target, study.ratings.range)
    if reached is not None and reached.decided:
        ahead = (reached.estimate > 0) == (study.ratings.better == "higher")
        winner = study.test_set.systems[one.item.i if ahead else one.item.j]
    return Monitored(
        now.what, now.estimate, low, high, now.n,
        reached=None if reached is None else reached.n,
        more=0 if reached is not None else _more(watched, plan, one),
        winner=winner,
        orientation=not (stated or (one.looks and now.n == one.looks[-1].n)),
    )  # fmt: skip


def _asked_for(
    center: float, half_width: float, limits: tuple[float, float] | None
) -> tuple[float, float]:
    """The interval of the wanted width, moved inside the stated range of the scores.

    >>> _asked_for(0.25, 0.5, (0.0, 25.0)), _asked_for(0.25, 0.5, None)
    ((0.0, 1.0), (-0.25, 0.75))
    """
    low, high = limits or (-math.inf, math.inf)
    first = max(min(center - half_width, high - 2 * half_width), low)
    return first, min(first + 2 * half_width, high)


def _more(watched: Watched, plan: LookPlan, one: Followed) -> int | None:
    """Segments missing until the next look, or until the half-width (~ sqrt(1/n - 1/N)) is met."""
    size, last, population = one.following, one.now, watched.population
    if last.n == population:
        return 0
    if not one.item.pair and plan.target and 0 < last.n < population and last.half_width > 0:
        unit = last.half_width**2 / (1 / last.n - 1 / population)
        needed = math.ceil(1 / (1 / population + plan.target**2 / unit))
        size = next((n for n in plan.sizes if n >= max(needed, size or 0)), None)
        if size is None:  # at will, or beyond the sample
            return max(needed - last.n, 1)
    return None if size is None else int(watched.progress.gaps(one.item)[:size].sum())


def _caveats(plan: LookPlan, found: Sequence[Followed], goal: str, level: float) -> list[Note]:
    lines = []
    if not any(one.looks for one in found):
        first = plan.sizes[0] if plan.sizes else FIRST_LOOK
        lines.append(Note("too-few", f"no look yet: the first is at {first:,} segments in order"))
    if not plan.sizes:
        text = "the guarantee is for each system or pair on its own, however often you look"
        return [*lines, Note("guaranteed", text)]
    if goal == "score":
        text = (
            "intervals keep their level although rating stops once they are narrow enough: tested"
            " on real and simulated campaigns, not proved"
        )
        return [*lines, Note("not-guaranteed", text)]
    # fmt: off
    over = "at the one look" if len(plan.sizes) == 1 else f"over all {len(plan.sizes)} looks"
    lines.append(Note("planned-looks", "each pair is judged on its own: of pairs that are truly"
                      f" equal, {percent(1 - level)} are called decided {over}"))
    if any(one.looks and math.isnan(one.looks[-1].half_width) for one in found):
        lines.append(Note("no-width", "some pairs show no spread, so their intervals have no"
                          " width and decide nothing"))
    # fmt: on
    return lines


def _unmet_note(
    watched: Watched, plan: LookPlan, unmet: Sequence[Followed], goal: str
) -> list[Note]:
    """What to do if no look is left and the goal is not met."""
    if not unmet:
        return []
    total = len(watched.progress.order)
    ended = max(plan.sizes, default=total) < total
    what = "no planned look is left" if ended else "the sample is used up"
    text = f"{what}, and the goal is not met for {', '.join(one.item.what for one in unmet)}"
    if total == watched.population and not ended:
        return [Note("goal-not-met", f"{text}; no segment is left to rate")]
    if goal == "score":
        more = max(_more(watched, plan, one) or 0 for one in unmet)
        text += f"; it would take about {more:,} more segments"
        rest = "state the estimates with the intervals they have"
    else:
        rest = "state them as undecided"
    return [Note("goal-not-met", f"{text}; draw a larger sample next time, or {rest}")]


def _skipped_notes(watched: Watched, found: Sequence[Followed]) -> list[Note]:
    """How the skipped outputs of looks are represented, in the words of an estimate."""
    n = max((look.n for one in found for look in one.looks if look.skipped), default=0)
    if not n:
        return []
    study, places = watched.study, watched.progress.order[:n]
    drawn = np.zeros_like(study.test_set.present)
    drawn[:, places] = study.test_set.present[:, places]
    rated = ~np.isnan(study.rated.scores)
    return skipping_notes(study.test_set, drawn, rated, study.rated.classes)


# --- checks -------------------------------------------------------------------------------------


def check_half_width(half_width: float) -> None:
    """Refuse half-widths that are not above 0."""
    if not 0 < half_width < float("inf"):
        raise OptionError("half_width", half_width, "is not a half-width", "give a number above 0")


def _check(
    half_width: float | None, goal: str, per_output: int, guarantee: bool,
    looks: int | Sequence[int] | None, before: Monitoring | None,
) -> None:  # fmt: skip
    need_known("goal", goal, tuple(LOOKS))
    if half_width is not None:
        check_half_width(half_width)
    elif goal == "score":
        raise InputError(
            "the goal score needs a half-width; state the one wanted (`half_width`), or choose"
            " `goal` ranking, which needs none"
        )
    need_count("per_output", per_output, "raters")
    for name, value in (("looks", looks), ("before", before)):
        if guarantee and value is not None:
            raise OptionError(
                name, getattr(value, "kind", value), "is for planned looks",
                "leave it out, or the guarantee, with which one looks at will",
            )  # fmt: skip
    sizes = [looks] if isinstance(looks, int) else looks
    rising = not isinstance(looks, Sequence) or list(looks) == sorted(set(looks))
    if sizes is not None and (not sizes or min(sizes) < 1 or not rising):
        raise OptionError(
            "looks", looks, "is not a plan", "give how many, or rising sizes such as 100,200,400"
        )
    if (looks if isinstance(looks, int) else len(sizes or ())) > MOST_LOOKS:
        raise OptionError("looks", looks, "are too many", f"plan at most {MOST_LOOKS}")


def _beginnings(sample: Sample, guarantee: bool, ratings: Ratings) -> np.ndarray:
    """The sizes of the beginnings that are samples and cut no snippet."""
    design = design_of(sample.design)
    whole = sample.matched and "order" in sample.frame.columns
    if not whole or not design.is_sample(len(sample)):
        raise InputError(
            f"the first segments of a sample of the design '{sample.design}' are not a sample, so"
            " its ratings cannot be monitored; designs that can be are"
            f" {', '.join(watchable_designs())}: draw a matched sample by one of them, do not top"
            " it up, and keep its order column. Once all of this sample is rated, estimate from it"
        )
    if guarantee and not design.simple:
        raise InputError(
            "the guarantee holds for simple random samples, whose order is random throughout;"
            " draw with the design 'segments', or leave the guarantee out"
        )
    if guarantee and ratings.range is None:
        raise InputError("the guarantee needs the range of the ratings; state it (range)")
    last = np.ones(len(sample), dtype=bool)
    if "snippet" in sample.frame.columns:
        snippet = sample.frame.sort("order")["snippet"].to_numpy()
        last[:-1] = snippet[1:] != snippet[:-1]
    sizes = np.flatnonzero(last) + 1
    return np.array([n for n in sizes.tolist() if design.is_sample(n)], dtype=np.int64)


def _need_same(before: Monitoring, plan: LookPlan, study: Study, goal: str) -> None:
    """Refuse an earlier result with another plan."""
    design = study.rated.design
    now = {
        "goal": goal, "planned": plan.sizes, "level": study.level, "design": design.name,
        "seed": design.seed, "target": plan.target, "guarantee": False,
        "population": study.test_set.segments.height,
    }  # fmt: skip
    for name, value in now.items():
        if getattr(before, name) != value:
            raise OptionError(
                "before", before.signature,
                f"has another plan ({name}: {getattr(before, name)}, now {value})",
                "give the result of the same sample, goal, looks, level and half-width",
            )  # fmt: skip


def _need_as_many(
    before: Monitoring, watched: Watched, plan: LookPlan, items: Sequence[Item]
) -> None:
    """Refuse ratings that lack some of those behind the earlier result."""
    had = {item.what: item.n for item in before.items}
    for item in items:
        complete = plan.sizes[: watched.progress.complete(item, plan.sizes)]
        n = max(watched.latest(item), *complete, 0)
        if n < had.get(item.what, 0):
            raise OptionError(
                "before", before.signature,
                f"knew the first {had[item.what]:,} segments of {item.what}, and these ratings have"
                f" only the first {n:,}",
                "give all ratings so far, the earlier ones too; an answer that is taken back keeps"
                " its row, without a score",
            )  # fmt: skip
