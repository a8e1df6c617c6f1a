"""Randomisation tests of every measure of effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from assay.kits.effort_model import Names, fixed_columns
from assay.kits.randomisation import (
    Assignments,
    deal_kits,
    overall_p,
    pair_p,
    remainder,
    system_ps,
)


@dataclass(frozen=True, slots=True)
class Chances:
    """One measure's randomisation tests; not numbers where the kits leave nothing to deal out."""

    pairs: Mapping[tuple[int, int], float]
    systems: tuple[float, ...]
    overall: float
    assignments: int
    exact: bool


def randomise(
    cells: pl.DataFrame,
    columns: Mapping[str, str],
    names: Names,
    used: Mapping[str, tuple[str, ...]],
    *,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, Chances]:
    """The tests of every measure, whose cell means are in ``columns``.

    ``used`` has the fixed effects of each measure's model: the tests allow for the same. Cells
    without a value are left out, and kits dealt out among editors with values for the same
    documents.
    """
    dealt: dict[bytes, Assignments] = {}
    found = {}
    for measure, column in columns.items():
        values = cells[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = np.isfinite(values)
        part = cells.filter(pl.Series(known))
        system, document, editor = names.codes(part)
        key = known.tobytes() + ("place" in used[measure]).to_bytes()
        place = part["place"].to_numpy().astype(np.intp) if "place" in used[measure] else None
        if key not in dealt:
            dealt[key] = deal_kits(editor, document, system, place, draws=draws, rng=rng)
        fixed, _ = fixed_columns(
            system,
            document,
            None if place is None else place - 1,
            (len(names.systems), len(names.documents)),
            documents="document" in used[measure],
        )
        nuisance = fixed[:, len(names.systems) :]
        found[measure] = _chances(
            values[known], system, editor, nuisance, dealt[key], places=place is not None
        )
    return found


def _chances(
    values: np.ndarray,
    system: np.ndarray,
    editor: np.ndarray,
    nuisance: np.ndarray,
    dealt: Assignments,
    *,
    places: bool,
) -> Chances:
    pairs = list(combinations(range(int(system.max()) + 1), 2))
    within = any(_remains(system, number, editor, nuisance) for number in np.unique(system))
    rest = remainder(values, editor if within else None, nuisance)
    return Chances(
        pairs={
            pair: pair_p(values, system, pair, editor, nuisance, dealt, places=places)
            for pair in pairs
        },
        systems=system_ps(rest, system, dealt),
        overall=overall_p(rest, system, dealt),
        assignments=len(dealt.sources),
        exact=dealt.exact,
    )


def _remains(system: np.ndarray, number: int, editor: np.ndarray, nuisance: np.ndarray) -> bool:
    """Whether anything of a system is left when editors are allowed for."""
    return bool(np.any(remainder((system == number).astype(float), editor, nuisance)))
