"""Random numbers: one convention for the whole package.

Public functions take ``rng: int | Generator | None``. An integer (0 included) always gives the
same result; None draws a fresh seed, which the result records, so that any run can be repeated.
Repeated work gets one child generator per run (:func:`spawn`), so that run 17 is the same
whether it is computed alone, after run 16, or on another machine.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from assay.errors import OptionError

Rng: TypeAlias = int | np.random.Generator | None
SEEDS = 2**32
"""Fresh seeds are drawn below this, short enough to be typed again from a report."""


def as_rng(rng: Rng) -> np.random.Generator:
    """The generator meant by ``rng``.

    >>> as_rng(0).integers(10) == as_rng(0).integers(10)
    np.True_
    """
    return seeded(rng)[0]


def seeded(rng: Rng) -> tuple[np.random.Generator, int | None]:
    """The generator meant by ``rng`` and the seed to record (None if a generator was given)."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        seed = int(np.random.default_rng().integers(SEEDS))
    elif isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise OptionError(
            "rng", rng, "is not a seed", "give a whole number from 0 up, a numpy Generator or None"
        )
    else:
        seed = int(rng)
    return np.random.default_rng(seed), seed


def spawn(rng: np.random.Generator, runs: int) -> list[np.random.Generator]:
    """Independent generators for ``runs`` repeated runs.

    >>> [g.integers(100) for g in spawn(as_rng(1), 3)][:2] == [
    ...     g.integers(100) for g in spawn(as_rng(1), 2)]
    True
    """
    return list(rng.spawn(runs))
