"""How many units to draw from each stratum, and rounding to whole numbers."""

from __future__ import annotations

import numpy as np


def capped_shares(shares: np.ndarray, caps: np.ndarray, total: float) -> np.ndarray:
    """Split ``total`` in proportion to ``shares``, no part above its cap.

    Proportional allocation with the sizes N_l as shares, optimal allocation (saldias2022, eq. 2)
    with sigma_l N_l. Where a part would exceed what there is, it takes all of it and the rest is
    split anew among the others (section 2.1). If all shares left are zero, the rest is split in
    proportion to the room that is left.

    >>> capped_shares(np.array([1.0, 1.0, 8.0]), np.array([9.0, 9.0, 2.0]), 6.0).tolist()
    [2.0, 2.0, 2.0]
    """
    found = np.zeros(len(shares))
    open_ = np.ones(len(shares), dtype=bool)
    rest = float(total)
    while rest > 1e-12 and open_.any():
        weights = np.where(open_, shares, 0.0)
        if weights.sum() <= 0:
            weights = np.where(open_, caps, 0.0)
        if weights.sum() <= 0:
            break
        weights = weights / weights.max()  # shares may be so small that products of them vanish
        wanted = rest * weights / weights.sum()
        over = open_ & (wanted > caps * (1 + 1e-12))
        if not over.any():
            found[open_] = np.minimum(wanted, caps)[open_]
            break
        # Capping a part raises the others, so all of these stay over: cap them together.
        found[over] = caps[over]
        rest -= float(caps[over].sum())
        open_ &= ~over
    return found


def largest_remainder(targets: np.ndarray) -> np.ndarray:
    """Whole numbers with the same sum, closest in total absolute difference; no chance involved.

    >>> largest_remainder(np.array([0.4, 0.4, 2.2])).tolist()
    [1, 0, 2]
    """
    whole = np.floor(targets + 1e-9).astype(np.int64)
    missing = round(float(targets.sum())) - int(whole.sum())
    order = np.argsort(-(targets - whole), kind="stable")
    whole[order[:missing]] += 1
    return whole


def systematic_counts(targets: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Random whole numbers with the targets as expectations and an exact total.

    k_d = floor(C_d + u) - floor(C_{d-1} + u), C the running sum of the targets, for every start
    u ~ U(0, 1) (one row each). Every k_d is the floor or the ceiling of its target, and if the
    targets sum to a whole number, so do the counts in every row, as does every stretch of
    neighbours up to one.

    >>> systematic_counts(np.array([0.4, 0.6, 1.0]), np.array([0.0, 0.7])).tolist()
    [[0, 1, 1], [1, 0, 1]]
    """
    running = np.concatenate([[0.0], np.cumsum(targets)])
    whole = np.rint(running)
    # Rounding noise in the sum must not turn 142.0 into 141.999...
    running = np.where(np.abs(running - whole) < 1e-9, whole, running)
    counts = np.diff(np.floor(running[None, :] + start[:, None]), axis=1)
    return np.asarray(counts.astype(np.int64))
