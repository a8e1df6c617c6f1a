"""Guaranteed intervals by betting, for the mean of a finite population and for a coin.

Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", for
sampling without replacement. For every possible mean m, a gambler bets on each value before seeing
it, at odds that are fair if the mean is m. By Ville's inequality the chance of ever multiplying the
money by 1/alpha is then at most alpha, for any scores. So the values m against which this did not
happen contain the mean, with a guarantee for every n at any time.

Values must lie in [low, high], in the random order in which they were drawn: the bets learn from
the past, so another order gives another (equally valid) interval. For a coin (successive judgments
of a pair of systems) the number of wins is enough.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.stats.intervals import Interval

STAKES = np.linspace(0.02, 0.98, 49)
"""Shares of the money that a bet may put at stake."""
MAX_STAKE = 0.99
"""The largest share of the money staked on one value, to avoid ruin."""
PRIOR_COUNT = 0.25
"""Either end of the range counts as seen this many times before the first value comes."""
REVISION_FACTOR = 1.25
"""Bets are revised each time the number of values has grown by this factor."""
HORIZON_FACTOR = 3.0
"""Any-time bets are smaller than those for a known n, as if n were this many times as large.

Fortunes then grow fastest where the information is exp(3) = 20 times that of the start: chosen for
samples of 3 to 50 % of one to two thousand segments. Any positive number is valid.
"""

CANDIDATE_DISTANCES = np.geomspace(1e-4, 1.0, 600)
"""Distances from the mean, in parts of the range, at which candidates for a limit are tried."""
AIMED_LOG = np.log(2 / 0.05)
"""Bets aim at the 95 % limit, whatever the level: then intervals are nested in the level."""


def betting_interval(
    values: np.ndarray, population: int, low: float, high: float, level: float
) -> Interval:
    """The interval for the mean of N values in [low, high] after n draws, n fixed beforehand.

    Lower limit: the largest m with max_t K_t(m) >= 2/alpha, K_t(m) = prod_{i<=t} (1 + lambda_i
    (x_i - m_i)), where m_i = (N m - sum of x before i) / (N - i + 1) is the mean of what is left if
    the mean is m, 0 <= lambda_i < 1/m_i; the upper limit mirrors it. K falls with m, so that limits
    are found by bisection (to 1e-7 of the range, outwards). What the sum so far rules
    out by itself, below (sum + (N-n) low) / N and above (sum + (N-n) high) / N, is never in.

    >>> scores = np.random.default_rng(1).permutation(np.tile([0.0, 0, 1, 5], 250))
    >>> betting_interval(scores[:300], 1000, 0.0, 25.0, 0.95)
    Interval(low=1.302..., high=1.854..., level=0.95)
    """
    n, threshold = len(values), np.log(2 / (1 - level))
    if n == population:
        return Interval(float(np.mean(values)), float(np.mean(values)), level)
    x = (np.asarray(values, dtype=float) - low) / (high - low)
    weight = population / (population - np.arange(n))
    horizon = np.full(n, np.sum(weight**2))
    lower, upper = (
        _search(side, population, _bets(side, horizon) * weight, threshold) for side in (x, 1 - x)
    )
    # As in betting_sequence, limits may have crossed.
    first, last = min(lower, 1 - upper), max(lower, 1 - upper)
    return Interval(low + (high - low) * first, low + (high - low) * last, level)


def betting_sequence(
    values: np.ndarray, population: int, low: float, high: float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval after 1, 2, ..., n draws, valid at all times together.

    As :func:`betting_interval`, with bets that suit no n in particular: look as often as you
    like and stop when you like, after the first value at the earliest. Each entry depends on the
    values up to it alone, but for the rounding of its ends, outwards, to candidate means
    around the last mean, whose distances from it grow by 1.6 % from one to the next.

    >>> scores = np.random.default_rng(1).permutation(np.tile([0.0, 0, 1, 5], 250))
    >>> lows, highs = betting_sequence(scores, 1000, 0.0, 25.0, 0.95)
    >>> [(f"{lows[t - 1]:.2f}", f"{highs[t - 1]:.2f}") for t in (100, 300, 1000)]
    [('1.32', '2.64'), ('1.33', '1.86'), ('1.50', '1.50')]
    """
    x = (np.asarray(values, dtype=float) - low) / (high - low)
    n, threshold = len(x), np.log(2 / (1 - level))
    weight = population / (population - np.arange(n))
    horizon = HORIZON_FACTOR * np.cumsum(weight**2)
    lower, upper = (
        _follow(side, population, _bets(side, horizon) * weight, threshold) for side in (x, 1 - x)
    )
    certain = np.cumsum(x) / population
    possible = certain + 1 - np.arange(1, n + 1) / population
    first, last = (np.clip(end, certain, possible) for end in (lower, 1 - upper))
    # Limits cross only if the truth has been missed already (as it may with chance 1 - level);
    # then what lies between them is returned.
    ends = np.sort(np.stack([first, last]), axis=0) * (high - low) + low
    return ends[0], ends[1]


def _bets(x: np.ndarray, horizon: np.ndarray) -> np.ndarray:
    """The bet on every value, for an m below the mean: what would have paid best on the past.

    A bet of lambda keeps the limit (average loss + log(2/alpha)/n) / lambda below the mean, the
    loss being -log(1 + lambda (x - mean)); the lambda with the least of it over the values so
    far is played until the next revision. Unlike a bet from the variance alone (eq. 26 of the
    paper) it sees skewness, and so stakes much on the absence of very high scores.
    Per unit of weight: without replacement the i-th value speaks N/(N-i+1) times as loud,
    so that bets grow with it and information is the sum of its squares, n / (1 - n/N).
    """
    bets, start = np.empty(len(x)), 0
    while start < len(x):
        stop = max(start + 1, int(start * REVISION_FACTOR))
        seen = np.append(x[:start], (0.0, 1.0))
        share = np.append(np.ones(start), (PRIOR_COUNT, PRIOR_COUNT)) / (start + 2 * PRIOR_COUNT)
        mean = share @ seen
        loss = -share @ np.log1p(np.multiply.outer(seen / mean - 1, STAKES))
        best = np.argmin((loss + AIMED_LOG / horizon[start]) / STAKES)
        bets[start:stop] = STAKES[best] / mean
        start = stop
    return bets


def _fortunes(x: np.ndarray, population: int, bets: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The logarithm of K_t(m): a row per candidate mean, a column per draw."""
    before = np.cumsum(x) - x
    left = population - np.arange(len(x))
    m = (population * means[:, None] - before) / left
    m = np.clip(m, 1e-12, 1.0)
    return np.cumsum(np.log1p(np.minimum(bets, MAX_STAKE / m) * (x - m)), axis=1)


def _search(x: np.ndarray, population: int, bets: np.ndarray, threshold: float) -> float:
    """The largest m that is ruled out at some time, or else the least m that is possible."""
    below = x.sum() / population
    above = below + 1 - len(x) / population
    for _ in range(5):
        means = np.linspace(below, above, 32)
        fortune = _fortunes(x, population, bets, means).max(axis=1, initial=0.0)
        out = int(np.sum(fortune >= threshold))
        below, above = means[max(out - 1, 0)], means[min(out, 31)]
    return float(below)


def _follow(x: np.ndarray, population: int, bets: np.ndarray, threshold: float) -> np.ndarray:
    """The largest candidate m ruled out by each draw, 0 if none is."""
    center = x.mean()
    # Few candidates above the mean: a lower limit gets there only in unlucky samples.
    means = np.concatenate(
        [center - CANDIDATE_DISTANCES[::-1], [center], center + CANDIDATE_DISTANCES[::10]]
    )
    means = means[(means > 0) & (means < 1)]
    out = np.zeros(len(x), dtype=int)
    for part in np.array_split(means, 1 + len(means) // 32):  # a few rows at a time fit the cache
        out += np.sum(_fortunes(x, population, bets, part) >= threshold, axis=0)
    return np.maximum.accumulate(np.concatenate([[0.0], means])[out])


def coin_evidence(wins: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The logarithm of what bets against a fair coin have won: W wins (a tie is half) of n tosses.

    e = B(W + 1/2, n - W + 1/2) / B(1/2, 1/2) 2^n: money divided among all coins p by Jeffreys' law
    Beta(1/2, 1/2). A tie multiplies the money on p by 2 sqrt(p (1 - p)), at most 1. So e is a
    supermartingale if wins and losses are equally likely at every toss, however the past decides
    which coin is tossed next; by Ville it ever reaches 1/alpha with probability alpha at most.

    >>> np.exp(coin_evidence(np.array([0.0, 8.0, 9.5]), np.array([0, 8, 10]))).round(1).tolist()
    [1.0, 50.3, 32.6]
    """
    lost = np.asarray(n) - wins
    fortune = scipy.special.betaln(wins + 0.5, lost + 0.5) - scipy.special.betaln(0.5, 0.5)
    return np.asarray(fortune + n * np.log(2.0))


def coin_interval(
    wins: np.ndarray, n: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """The shares of wins (ties are half) against which money grew less than ``threshold`` times.

    Those p with B(W + 1/2, n - W + 1/2) / B(1/2, 1/2) / (p^W (1 - p)^(n - W)) below it, at all
    times together with probability 1 - 1/threshold. A share of 1/2 is outside exactly where
    :func:`coin_evidence` reaches the threshold.

    >>> low, high = coin_interval(np.array([30.0]), np.array([40]), 20.0)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.504], [0.918])
    """
    wins, n = np.asarray(wins, dtype=float), np.asarray(n, dtype=float)
    share = np.divide(wins, n, out=np.full(n.shape, 0.5), where=n > 0)
    fortune = scipy.special.betaln(wins + 0.5, n - wins + 0.5) - scipy.special.betaln(0.5, 0.5)
    ends = []
    for edge in (0.0, 1.0):
        inside, outside = share.copy(), np.full(n.shape, edge)
        for _ in range(60):
            p = (inside + outside) / 2
            out = fortune - scipy.special.xlogy(wins, p) - scipy.special.xlog1py(n - wins, -p)
            held = out < np.log(threshold)
            inside, outside = np.where(held, p, inside), np.where(held, outside, p)
        ends.append(outside)
    return ends[0], ends[1]
