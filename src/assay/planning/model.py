"""The model behind a plan of judgments (koehn2012): fitted to a pilot, and campaigns simulated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import InputError, need_whole
from assay.ranking.calibration import simulated_tables
from assay.ranking.counts import block_numbers, check_per_set, count, screen_size, set_effect
from assay.ranking.pairs import pooled_counts, pooled_judgments, pooled_strengths, sign_test
from assay.ranking.power import Noise, judgments_for, pooled_share, sign_share
from assay.ranking.sigma import SigmaFit, fit_sigma, match_sigma, pilot_needed, pilot_strengths
from assay.ranking.strengths import Strengths
from assay.ranking.uncertainty import MIN_BLOCKS, shortest_ranges
from assay.results import Note
from assay.stats.intervals import cluster_numbers, rank_ranges
from assay.stats.progress import Progress
from assay.tables.answers import Judgments
from assay.worlds.judgments import draw_qualities, win_counts

TESTS = ("sign", "pooled")
SIMULATED_CAMPAIGNS = 100
SIZES_TRIED = 17
MOST_JUDGMENTS = 1_000_000
"""Of simulated plans, those for clusters or range sizes."""


class JudgmentsModel(NamedTuple):
    """What the numbers are computed from; judgments without ties become judgments with them.

    ``strengths`` are what a pilot says of its systems; without them, qualities are random.
    """

    systems: int
    sigma: float
    per_set: int
    alpha: float
    tie_share: float = 0.0
    block_effect: float = 1.0
    strengths: Strengths | None = None

    @property
    def per_screen(self) -> int:
        """Judgments of one screen."""
        return self.per_set * (self.per_set - 1) // 2

    def collected(self, judgments: float, test: str) -> int | None:
        """Judgments to collect, ties and all, for so many independent sets' worth of others."""
        if not math.isfinite(judgments):
            return None
        return math.ceil(judgments * self._effect(test) / (1 - self.tie_share))

    def untied(self, collected: float, test: str) -> float:
        """What the judgments collected are worth."""
        return collected * (1 - self.tie_share) / self._effect(test)

    def _effect(self, test: str) -> float:
        """Only judgments pooled over a segment are correlated in it; sign tests are by sets."""
        return 1.0 if test == "sign" else self.block_effect

    @property
    def noise(self) -> Noise:
        """What is known of how hard systems are to tell apart."""
        return self.sigma if self.strengths is None else self.strengths

    def for_share(self, share: float, test: str, sigma: Noise | None = None) -> int | None:
        """Judgments to collect for an expected share of significant pairs."""
        width = self.noise if sigma is None else sigma
        if width == 0:  # no noise: one screen after the other, until every pair has been shown
            return self.collected(self.per_screen, test)
        if not isinstance(width, Strengths) and not math.isfinite(width):
            return None
        judgments = judgments_for(
            share, self.systems, width, test=test, per_set=self.per_set, level=self.alpha
        )
        return self.collected(judgments, test)

    def expected(self, judged: int) -> dict[str, float]:
        """The expected share of significant pairs with so many judgments, by each test."""
        if not math.isfinite(self.sigma):
            return dict.fromkeys(TESTS, 2 * self.alpha)
        return {
            name: share(
                self.systems, self.noise, self.untied(judged, name), per_set=self.per_set,
                level=self.alpha,
            )
            for name, share in (("sign", sign_share), ("pooled", pooled_share))
        }  # fmt: skip


class JudgmentsPilot(NamedTuple):
    """What a pilot says beyond the model's settings.

    ``observed`` is the share of pairs it tells apart, by each test, ``curve_sigma`` the sigma that
    matches it; ``agreeing`` whether all its judgments agree with one order.
    """

    judged: int
    sigma_interval: tuple[float, float] | None
    curve_sigma: float
    observed: dict[str, float]
    notes: tuple[Note, ...]
    agreeing: bool = False


def make_model(
    systems: int | None, sigma: float | None, pilot: Judgments | None, per_set: int | None,
    alpha: float,
) -> tuple[JudgmentsModel, JudgmentsPilot | None]:  # fmt: skip
    """What was given, else what the pilot says."""
    if pilot is not None:
        return _fitted(pilot, systems, sigma, per_set, alpha)
    if sigma is None:
        raise InputError(
            "neither `sigma` nor `pilot` is given; give a sigma such as 10, or the"
            " judgments of a pilot"
        )
    if systems is None:
        raise InputError("`systems` is not given; say how many systems are compared")
    need_whole("systems", systems, 2)
    return JudgmentsModel(systems, sigma, check_per_set(per_set, systems), alpha), None


def _fitted(
    pilot: Judgments, systems: int | None, sigma: float | None, per_set: int | None, alpha: float
) -> tuple[JudgmentsModel, JudgmentsPilot]:
    fit = fit_sigma(pilot)
    n = len(fit.systems) if systems is None else systems
    need_whole("systems", n, 2)
    size = check_per_set(min(screen_size(pilot), n) if per_set is None else per_set, n)
    low, high = fit.interval.low, fit.interval.high
    known_from = f"{fit.judgments:,} judgments and {fit.ties:,} ties"
    notes = [Note(
        "pilot-sigma",
        f"pilot: sigma {fit.sigma:.2f}, 95% interval {low:.2f} to {high:.2f}, from {known_from}",
    )]  # fmt: skip
    if fit.agreeing and math.isfinite(fit.sigma):
        text = (
            f"pilot: all judgments agree with one order, so sigma is at most {fit.sigma:.2g} (95%);"
            f" the plan takes that, from {known_from}, and fewer may do"
        )
        notes = [Note("pilot-agrees", text)]
    elif not math.isfinite(fit.sigma):
        notes.append(_no_difference(fit, size, alpha))
    effect = 1.0
    if fit.unit == "segment":
        effect = max(1.0, fit.effect / set_effect(size))
        text = f"pilot: the pooled test needs {effect:.2f} times as many judgments as in the model"
        notes.append(Note("pilot-block-effect", text))
    if sigma is not None:
        notes.append(Note("given-by-hand", "pilot: the given sigma replaces the pilot's"))
    total = fit.judgments + fit.ties
    known = JudgmentsPilot(
        judged=total,
        sigma_interval=None if sigma is not None else (low, high),
        curve_sigma=match_sigma(pilot, per_set=min(size, len(fit.systems)), rng=0).sigma,
        observed={name: significant_share(pilot, name, alpha=alpha) for name in TESTS},
        notes=tuple(notes),
        agreeing=fit.agreeing,
    )
    noise = fit.sigma if sigma is None else sigma
    model = JudgmentsModel(n, noise, size, alpha, fit.ties / total, effect)
    if sigma is not None or fit.agreeing or n != len(fit.systems) or math.isinf(fit.sigma):
        return model, known  # other systems than the pilot's, or nothing is known of them
    return model._replace(strengths=pilot_strengths(pilot)), known


def _no_difference(fit: SigmaFit, per_set: int, alpha: float) -> Note:
    """What to do with a pilot that says nothing about sigma."""
    needed = pilot_needed(fit, per_set, alpha)
    if fit.agreeing:
        text = (
            f"pilot: all {fit.judgments} judgments agree with one order, but so few may do so by"
            f" chance, so there is nothing to plan by; {needed} or more that agree would give a"
            " bound"
        )
        return Note("pilot-too-small", text)
    more = "" if needed is None else f"; a pilot of at least {needed:,} judgments may"
    text = (
        "pilot: the judgments show no difference between the systems, so there is nothing to plan"
        " by"
    )
    return Note("pilot-no-difference", f"{text}{more}")


def simulated_needs(
    model: JudgmentsModel, goal: str, target: float, rng: np.random.Generator, progress: Progress
) -> dict[str, int | None]:
    """Judgments until the mean over simulated campaigns reaches the target, by each test."""
    if not math.isfinite(model.sigma):
        return dict.fromkeys((*TESTS, "bootstrap"))
    largest = MOST_JUDGMENTS / model.per_screen
    sizes = np.unique(np.geomspace(2, largest, SIZES_TRIED).round().astype(int))
    mu = draw_qualities(SIMULATED_CAMPAIGNS, model.systems, rng)
    values: dict[str, list[float]] = {name: [] for name in (*TESTS, "bootstrap")}
    for done, sets in enumerate(sizes.tolist(), start=1):
        for name, (low, high) in _ranges(model, mu, sets, rng).items():
            reached = (
                cluster_numbers(low, high).max(axis=-1) if goal == "clusters"
                else -(high - low + 1).mean(axis=-1)
            )  # fmt: skip
            values[name].append(float(reached.mean()))
        progress("simulating", done, len(sizes))
    wanted = target if goal == "clusters" else -target
    steps = np.log(sizes * model.per_screen)
    return {
        name: model.collected(_first(np.maximum.accumulate(curve), steps, wanted), name)
        for name, curve in values.items()
    }


def _first(rising: np.ndarray, steps: np.ndarray, wanted: float) -> float:
    """Where the curve reaches what is wanted, on a logarithmic scale; infinite if it never does."""
    at = int(np.searchsorted(rising, wanted - 1e-9))
    if at == len(rising):
        return math.inf
    if at == 0:
        return float(np.exp(steps[0]))
    part = (wanted - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(np.exp(steps[at - 1] + part * (steps[at] - steps[at - 1])))


def _ranges(
    model: JudgmentsModel, mu: np.ndarray, sets: int, rng: np.random.Generator
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rank ranges of simulated campaigns by each test."""
    k = model.per_set
    wins = win_counts(mu, [sets], rng, sigma=model.sigma, per_set=k)[:, 0]
    z = pooled_counts(np.maximum(wins, 1e-9)).z / np.sqrt(set_effect(k))
    pooled = rank_ranges(scipy.special.ndtr(-z) <= model.alpha)
    resampled = pooled  # with few screens of a system, ranges come from tests
    if sets * k >= MIN_BLOCKS * model.systems:
        table, _ = simulated_tables(model.systems, sets, model.sigma, k, len(mu), rng)
        resampled = shortest_ranges(table, 1 - model.alpha)
    sign = rank_ranges(sign_test(wins) <= model.alpha)
    return {"sign": sign, "pooled": pooled, "bootstrap": resampled}


@dataclass(frozen=True, slots=True)
class Votes:
    """Do more votes on the same segments help as much as new segments?

    ``agreement`` is the correlation of what two sets of one segment say beyond the systems'
    averages; ``per_segment`` the sets a segment has on average. One more set on every segment is
    ``worth`` that part of as many sets on new segments, each judged as often as these.
    """

    agreement: float
    per_segment: float
    worth: float


def significant_share(pilot: Judgments, test: str, *, alpha: float) -> float:
    """The share of pairs that the pilot tells apart by sign test, or by the pooled test."""
    counts = count(pilot)
    if test == "sign":
        p = sign_test(counts.wins)
    else:
        block = block_numbers(pilot, "segment")
        p = pooled_judgments(counts, block_numbers(pilot, "set") if block is None else block).p
    n = len(counts.systems)
    return float((p <= alpha).sum() / (n * (n - 1) / 2))


def votes(pilot: Judgments) -> Votes | None:
    """The variance between and within segments; None where no segment has two sets.

    A set's vote is, for every system, the sum of its residuals against the pooled strengths; where
    the table names no sets, every judgment is one. With v sets on each of G segments and the
    correlation r the variance of a mean is that of one set times (1 + (v - 1) r) / (G v). A set
    more on each of them adds (1 - r) / (1 + v r) of the information (one over the variance) that
    G / v new segments with v sets add.
    """
    segment, screen = block_numbers(pilot, "segment"), block_numbers(pilot, "set")
    if segment is None:
        return None
    if screen is None:
        screen = np.arange(len(segment))
    counts = count(pilot)
    n, untied = len(counts.systems), counts.outcome != 0
    left, right, y = counts.left[untied], counts.right[untied], counts.outcome[untied].astype(float)
    _, first, screen = np.unique(screen[untied], return_index=True, return_inverse=True)
    sets = len(first)
    segment = np.unique(segment[untied][first], return_inverse=True)[1]
    size = np.bincount(segment)
    if size.max(initial=0) < 2:
        return None
    strength = pooled_strengths(counts.wins)
    residual = y - strength[left] + strength[right]
    vote = np.bincount(screen * n + left, residual, minlength=sets * n)
    vote -= np.bincount(screen * n + right, residual, minlength=sets * n)
    vote = vote.reshape(sets, n)
    sums = np.zeros((len(size), n))
    np.add.at(sums, segment, vote)
    square = float((vote**2).sum())
    together = (float((sums**2).sum()) - square) / float((size * (size - 1)).sum())
    r = min(1.0, max(0.0, together / (square / sets)))
    v = sets / len(size)
    return Votes(r, v, (1 - r) / (1 + v * r))
