"""Which systems to show next, where only the best one is sought.

Thompson sampling: a system is shown as often as it may still be the best. Judgments chosen so find
the best system with far fewer judgments than random sets (``benchmarks/best_system.py``). They are
no basis for significance: which pairs were compared depends on how earlier ones came out, and a
test that does not know this finds too many differences. Nor do they rank the rest: weak systems
are hardly shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.errors import OptionError
from assay.ranking.counts import count as count_judgments
from assay.results import result_dict, signature
from assay.stats.random import Rng, seeded
from assay.tables import Judgments

__all__ = ["NextSets", "next_sets", "posterior", "thompson_sets"]

PRIOR = 0.5
"""Standard deviation of strengths before any judgment; a win every time is a difference of 2."""


@dataclass(frozen=True, slots=True)
class NextSets:
    """Sets of systems to show next, the best system so far, and how likely each is to be the best.

    ``chances`` are those of a normal posterior of the pooled strengths, in the systems' order.
    """

    sets: tuple[tuple[str, ...], ...]
    best: str
    systems: tuple[str, ...]
    chances: tuple[float, ...]
    judgments: int
    per_set: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How the sets were chosen."""
        return signature(
            "next-sets", "thompson", n=len(self.systems), J=self.judgments, k=self.per_set,
            seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per system of each set."""
        rows = [(k + 1, name) for k, names in enumerate(self.sets) for name in names]
        return pl.DataFrame(rows, schema={"set": pl.Int64, "system": pl.String}, orient="row")

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay next-set``."""
        chances = [
            {"system": name, "best": chance}
            for name, chance in zip(self.systems, self.chances, strict=True)
        ]
        return result_dict(
            "next-sets", self.signature, sets=self.sets, best=self.best, systems=chances,
            judgments=self.judgments, per_set=self.per_set, seed=self.seed,
        )  # fmt: skip


def next_sets(
    judgments: Judgments,
    *,
    systems: Sequence[str] | None = None,
    per_set: int = 5,
    count: int = 1,
    rng: Rng = None,
) -> NextSets:
    """Choose the next sets (``per_set=2``: pairs) to find the best system soon.

    systems: all that compete, where some have not been judged yet. Ties count as half a win each.
    The claim is about finding the best system only; see the module for what must not be claimed.

    >>> from assay.worlds.koehn import simulate_judgments
    >>> found = next_sets(simulate_judgments([0, 0, 0, 9, 10], 3000, rng=1), per_set=2, rng=1)
    >>> sorted(found.sets[0])
    ['S4', 'S5']
    """
    found = count_judgments(judgments)
    names = found.systems if systems is None else tuple(dict.fromkeys(systems))
    for name in found.systems:
        if name not in names:
            raise OptionError(
                "systems", ", ".join(names), f"lacks '{name}', which is judged", "name it too"
            )
    if not 2 <= per_set <= len(names):
        raise OptionError(
            "per_set", per_set, "systems cannot be shown at once", f"give 2 to {len(names)}"
        )
    if count < 1:
        raise OptionError("count", count, "is not a number of sets", "give at least 1")
    generator, seed = seeded(rng)
    place = np.array([names.index(name) for name in found.systems])
    wins = np.zeros((len(names), len(names)))
    wins[np.ix_(place, place)] = found.wins + found.ties / 2
    chosen = thompson_sets(wins, count, per_set, generator)
    mean, root = posterior(wins, per_set)
    drawn = mean + generator.standard_normal((4000, len(names))) @ root.T
    chances = np.bincount(drawn.argmax(axis=1), minlength=len(names)) / len(drawn)
    return NextSets(
        sets=tuple(tuple(names[i] for i in row) for row in chosen),
        best=names[int(mean.argmax())],
        systems=names,
        chances=tuple(chances.tolist()),
        judgments=len(judgments),
        per_set=per_set,
        seed=seed,
    )


def posterior(wins: np.ndarray, per_set: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Mean (..., n) and a root of the covariance (..., n, n) of the pooled strengths.

    Least squares of y = +-1 with a normal prior. Pairs of one set of k hang together: their
    differences have (k + 1) / 3 times the variance of independent ones.
    """
    n = wins.shape[-1]
    games = wins + np.swapaxes(wins, -1, -2)
    noise = (per_set + 1) / 3
    laplacian = games.sum(axis=-1)[..., None] * np.eye(n) - games
    cover = np.linalg.inv(laplacian / noise + np.eye(n) / PRIOR**2)
    net = (wins.sum(axis=-1) - wins.sum(axis=-2)) / noise
    return (cover @ net[..., None])[..., 0], np.linalg.cholesky(cover)


def thompson_sets(
    wins: np.ndarray, count: int, per_set: int, rng: np.random.Generator
) -> np.ndarray:
    """``count`` sets for each table of wins (..., n, n): (..., count, per_set).

    For every place of a set the strengths are drawn anew from the posterior, and the strongest
    system that is not yet in the set takes it.
    """
    mean, root = posterior(wins, per_set)
    lead, n = mean.shape[:-1], mean.shape[-1]
    free = np.ones((*lead, count, n), dtype=bool)
    chosen = np.empty((*lead, count, per_set), dtype=np.intp)
    for k in range(per_set):
        z = rng.standard_normal((*lead, count, n))
        drawn = mean[..., None, :] + z @ np.swapaxes(root, -1, -2)
        chosen[..., k] = np.where(free, drawn, -np.inf).argmax(axis=-1)
        np.put_along_axis(free, chosen[..., k, None], False, axis=-1)
    return chosen
