"""A test that rests on the design alone: what if the kits had gone to other editors?

Under the hypothesis that no system differs from another, an editor would have done the same with
any kit. So the systems' labels are dealt anew, kit by kit, among editors who have the same
documents. The statistic is the mean of what remains of the measure after editors and documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Assignments", "deal_kits", "randomisation_p", "system_means"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

EXACT = 5040
"""Up to this many assignments all are gone through."""
_SLACK = 1e-9
"""Statistics that differ by rounding alone are equal."""


@dataclass(frozen=True, slots=True)
class Assignments:
    """For every assignment (row) and cell (column) the system that the cell would have had."""

    labels: Ints
    exact: bool


def deal_kits(
    editors: Ints, documents: Ints, systems: Ints, *, draws: int, rng: np.random.Generator
) -> Assignments:
    """All assignments of kits to editors, or ``draws`` random ones; the actual one comes first."""
    groups = _groups(editors, documents)
    total = prod(factorial(len(group)) for group in groups)
    if total <= EXACT:
        rows = [_labels(orders, groups, systems) for orders in _all_orders(groups)]
        return Assignments(np.array(rows), exact=True)
    rows = [systems]
    for _ in range(draws):
        orders = [rng.permutation(len(group)) for group in groups]
        rows.append(_labels(orders, groups, systems))
    return Assignments(np.array(rows), exact=False)


def _groups(editors: Ints, documents: Ints) -> list[Ints]:
    """Editors who have the same documents: a matrix of cells each, editors x documents."""
    found: dict[tuple[int, ...], list[Ints]] = {}
    for editor in range(int(editors.max()) + 1):
        cells = np.flatnonzero(editors == editor)
        cells = cells[np.argsort(documents[cells], kind="stable")]
        found.setdefault(tuple(documents[cells].tolist()), []).append(cells)
    return [np.array(rows) for rows in found.values()]


def _all_orders(groups: list[Ints]) -> Iterator[list[Ints]]:
    # permutations() starts with the identity, so the actual assignment comes first.
    choices = [[np.array(order) for order in permutations(range(len(g)))] for g in groups]
    yield from (list(orders) for orders in product(*choices))


def _labels(orders: list[Ints], groups: list[Ints], systems: Ints) -> Ints:
    labels = systems.copy()
    for order, cells in zip(orders, groups, strict=True):
        labels[cells] = systems[cells[order]]
    return labels


def system_means(rest: Floats, assignments: Assignments, systems: int) -> Floats:
    """The mean of ``rest`` over each system's cells, a row per assignment."""
    means = np.empty((len(assignments.labels), systems))
    for system in range(systems):
        own = assignments.labels == system
        means[:, system] = (own @ rest) / own.sum(axis=1)
    return means


def randomisation_p(statistic: Floats) -> float:
    """The share of assignments at least as extreme as the actual one, which is the first."""
    size = np.abs(statistic)
    return float(np.mean(size >= size[0] - _SLACK * max(1.0, float(size[0]))))
