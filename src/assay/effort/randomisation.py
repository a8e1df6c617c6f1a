"""Randomisation tests, which rest on the design alone: what if other editors had got the kits?

If no system differs from another, an editor would have done the same with any kit. So the systems'
labels are reassigned, kit by kit, among editors with the same documents. The statistic is the mean
of the residuals after removing editors, documents and places.

For a pair of systems the other systems are removed too; otherwise a third system far from both
would make any difference between them look like chance. If other systems or places must be removed,
the residuals of the whole model are permuted and the t statistic is taken (ter Braak 1992), because
the residuals without the pair's difference (Freedman and Lane 1983) reject too often with few
editors. Otherwise the test is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import factorial, prod
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.effort.model import Names, fixed_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
MOST_ASSIGNMENTS = 5040
"""All assignments are tried if there are at most this many."""
CELLS_AT_ONCE = 2_000_000
"""The number of cells of assignments to hold in memory at a time."""
_SLACK = 1e-9
"""Statistics that differ by less, relatively, are equal."""
_ROUNDING = 1e-12
"""A smaller residual, relative to the largest value, is rounding."""


class Assignments(NamedTuple):
    """For every assignment (row) and cell (column), the cell whose system it takes."""

    sources: Ints
    exact: bool


class Chances(NamedTuple):
    """The p values of one measure; NaN if reassigning the kits changes nothing."""

    pairs: Mapping[tuple[int, int], float]
    systems: tuple[float, ...]
    overall: float
    assignments: int
    exact: bool


def randomise(
    cells: pl.DataFrame, fixed: Mapping[str, tuple[str, ...]], names: Names, *, draws: int,
    rng: np.random.Generator,
) -> dict[str, Chances]:  # fmt: skip
    """Test every measure, allowing for the fixed effects of its model.

    Cells without a value are left out; kits are reassigned among editors with values for the same
    documents.
    """
    dealt: dict[bytes, Assignments] = {}
    tests = {}
    for measure, used in fixed.items():
        column = cells["scaled_time" if measure == "time" else measure]
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = np.isfinite(values)
        part = cells.filter(pl.Series(known))
        system, document, editor = names.codes(part)
        key = known.tobytes() + ("place" in used).to_bytes()
        place = part["place"].to_numpy().astype(np.intp) - 1 if "place" in used else None
        if key not in dealt:
            dealt[key] = deal_kits(editor, document, system, place, draws=draws, rng=rng)
        sizes = (len(names.systems), len(names.documents))
        matrix, _ = fixed_columns(system, document, place, sizes, documents="document" in used)
        tests[measure] = _chances(
            values[known], system, editor, matrix[:, sizes[0] :], dealt[key],
            places=place is not None,
        )  # fmt: skip
    return tests


def _chances(
    values: Floats, system: Ints, editor: Ints, nuisance: Floats, dealt: Assignments, *,
    places: bool,
) -> Chances:  # fmt: skip
    # Whether systems vary within editors at all.
    within = any(
        remainder((system == number).astype(float), editor, nuisance).any()
        for number in np.unique(system)
    )
    rest = remainder(values, editor if within else None, nuisance)
    pairs = {
        pair: pair_p(values, system, pair, editor, nuisance, dealt, places=places)
        for pair in combinations(range(int(system.max()) + 1), 2)
    }
    everybody = system_ps(rest, system, dealt), overall_p(rest, system, dealt)
    return Chances(pairs, *everybody, len(dealt.sources), dealt.exact)


def deal_kits(
    editors: Ints, documents: Ints, systems: Ints, places: Ints | None = None, *, draws: int,
    rng: np.random.Generator,
) -> Assignments:  # fmt: skip
    """All different assignments of kits to editors, or ``draws`` random ones; the actual one first.

    A kit is the systems of an editor's documents, with their ``places`` if given.
    """
    groups = _groups(editors, documents)
    kits = [_kits(systems[cells], None if places is None else places[cells]) for cells in groups]
    actual = np.arange(len(systems))
    total = prod(map(_orders, kits))
    if total <= MOST_ASSIGNMENTS:
        rows = [_sources(orders, groups, actual) for orders in product(*map(_distinct, kits))]
        return Assignments(np.array(rows), exact=True)
    rows = [actual]
    for _ in range(draws):
        rows.append(_sources([rng.permutation(len(group)) for group in groups], groups, actual))
    return Assignments(np.array(rows), exact=False)


def _groups(editors: Ints, documents: Ints) -> list[Ints]:
    """Group editors with the same documents, as matrices of cells (editors x documents)."""
    groups: dict[tuple[int, ...], list[Ints]] = {}
    for editor in np.unique(editors):
        cells = np.flatnonzero(editors == editor)
        cells = cells[np.argsort(documents[cells], kind="stable")]
        groups.setdefault(tuple(documents[cells].tolist()), []).append(cells)
    return [np.array(rows) for rows in groups.values()]


def _kits(systems: Ints, places: Ints | None) -> list[int]:
    """The number of each editor's kit; editors with the same kit share it."""
    rows = systems if places is None else np.hstack([systems, places])
    known: dict[tuple[int, ...], int] = {}
    return [known.setdefault(tuple(row), len(known)) for row in rows.tolist()]


def _orders(kits: list[int]) -> int:
    same = np.bincount(kits).tolist()
    return factorial(len(kits)) // prod(factorial(count) for count in same)


def _distinct(kits: list[int]) -> Iterator[Ints]:
    """All different orders of the kits, the actual one first, as places to take them from."""
    where = [[k for k, other in enumerate(kits) if other == kit] for kit in range(max(kits) + 1)]

    def deal(so_far: list[int], used: list[int]) -> Iterator[list[int]]:
        if len(so_far) == len(kits):
            yield so_far
            return
        actual = kits[len(so_far)]
        for kit in (actual, *(k for k in range(len(where)) if k != actual)):
            if used[kit] < len(where[kit]):
                more = [count + (k == kit) for k, count in enumerate(used)]
                yield from deal([*so_far, where[kit][used[kit]]], more)

    yield from (np.array(order) for order in deal([], [0] * len(where)))


def _sources(orders: tuple[Ints, ...] | list[Ints], groups: list[Ints], actual: Ints) -> Ints:
    sources = actual.copy()
    for order, cells in zip(orders, groups, strict=True):
        sources[cells] = cells[order]
    return sources


def remainder(values: Floats, editor: Ints | None, columns: Floats) -> Floats:
    """The residuals of the cells' values after editors (None: a common level) and the columns."""
    basis = _basis(editor, columns)
    rest = _centred(values[:, None], editor)[:, 0]
    rest = rest - basis @ (basis.T @ rest)
    rest[np.abs(rest) <= _ROUNDING * np.abs(values).max()] = 0.0
    return np.asarray(rest)


def _centred(columns: Floats, editor: Ints | None) -> Floats:
    groups = np.zeros(len(columns), dtype=np.intp) if editor is None else editor
    groups = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(groups)
    means = [np.bincount(groups, weights=column) / counts for column in columns.T]
    return np.asarray(columns - np.column_stack(means)[groups]) if means else columns


def _basis(editor: Ints | None, columns: Floats) -> Floats:
    """An orthonormal basis of the columns after removing editors."""
    left, sizes, _ = np.linalg.svd(_centred(columns, editor), full_matrices=False)
    return np.asarray(left[:, sizes > _SLACK])


def pair_p(
    values: Floats, systems: Ints, pair: tuple[int, int], editor: Ints, columns: Floats,
    dealt: Assignments, *, places: bool,
) -> float:  # fmt: skip
    """Test whether two systems differ, given the other systems.

    ``columns`` are of documents and, with ``places``, of places. Editors are removed unless each of
    them had only one of the two systems, which are then compared between editors. NaN if all
    assignments are the same for the two.
    """
    others = [s for s in range(int(systems.max()) + 1) if s not in pair]
    nuisance = np.column_stack([columns, *((systems == other).astype(float) for other in others)])
    first = (systems == pair[0]).astype(float)
    for people in (editor, None):
        weights = remainder(first, people, nuisance)
        if weights @ weights > _SLACK:
            break
    else:
        return float("nan")
    if all(np.abs(weights[rows] - weights).max() <= _SLACK for rows in _parts(dealt)):
        return float("nan")
    rest = remainder(values, people, nuisance)
    if not np.any(rest):
        return 1.0
    unit = weights / np.sqrt(weights @ weights)
    left = rest if not others and not places else rest - unit * (unit @ rest)
    basis, least = _basis(people, nuisance), _SLACK * float(rest @ rest)
    statistic = np.concatenate([_t(left[rows], unit, basis, least) for rows in _parts(dealt)])
    statistic[0] = _t(rest[None], unit, basis, least)[0]
    return _p(statistic)


def _parts(dealt: Assignments) -> Iterator[Ints]:
    """Yield the assignments a few million cells at a time, to limit memory."""
    step = max(1, CELLS_AT_ONCE // dealt.sources.shape[1])
    yield from (dealt.sources[k : k + step] for k in range(0, len(dealt.sources), step))


def _t(rows: Floats, unit: Floats, basis: Floats, least: float) -> Floats:
    """The t statistics of two systems for every row, up to their degrees of freedom.

    Reassigned rows need no removal of editors, because editors exchange whole kits; the effects in
    ``basis`` are removed here.
    """
    value = rows @ unit
    squares = np.sum(rows**2, axis=1) - np.sum((rows @ basis) ** 2, axis=1) - value**2
    return np.asarray(value / np.sqrt(np.maximum(squares, least)))


def system_ps(rest: Floats, systems: Ints, dealt: Assignments) -> tuple[float, ...]:
    """For each system, test whether it differs from the mean of the others."""
    means = _system_means(rest, systems, dealt)
    others = (means.sum(axis=1, keepdims=True) - means) / (means.shape[1] - 1)
    still = _still(rest, systems, dealt)
    return tuple(_p(column) if still is None else still for column in (means - others).T)


def overall_p(rest: Floats, systems: Ints, dealt: Assignments) -> float:
    """Test whether any system differs from another, by the sum of squares between them."""
    still = _still(rest, systems, dealt)
    if still is not None:
        return still
    return _p(_system_means(rest, systems, dealt) ** 2 @ np.bincount(systems))


def _still(rest: Floats, systems: Ints, dealt: Assignments) -> float | None:
    """The p if nothing can be tested: NaN if no assignment differs, 1 if all residuals are 0."""
    if np.all(systems[dealt.sources] == systems):
        return float("nan")
    return None if np.any(rest) else 1.0


def _system_means(rest: Floats, systems: Ints, dealt: Assignments) -> Floats:
    """The mean of ``rest`` over each system's cells, one row per assignment."""
    labels = systems[dealt.sources]
    each = [(labels == system) for system in range(int(systems.max()) + 1)]
    return np.column_stack([(cells @ rest) / cells.sum(axis=1) for cells in each])


def _p(statistic: Floats) -> float:
    """The share of assignments at least as extreme as the actual one, the first."""
    size = np.abs(statistic)
    return float(np.mean(size >= size[0] * (1 - _SLACK)))
