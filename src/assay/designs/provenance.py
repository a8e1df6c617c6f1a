"""Check that scores are those a sample was drawn from, and derive what older files lack.

A sample carries all that its variance needs. The scores are needed again in two cases: to enlarge
a sample, which takes the probabilities of segments outside it, and to read a file of an older
version, which carries less. What is derived is compared with what the sample states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from assay.designs.base import TOLERANCE, SamplingDesign, by_system, design_of
from assay.designs.plan import DrawPlan
from assay.designs.population import Population
from assay.errors import InputError
from assay.results import Note
from assay.tables.history import history_digest
from assay.tables.tables import Design, Sample, TestSet, make_sample, places_in


def carried_columns(plan: DrawPlan, places: np.ndarray) -> list[pl.Series]:
    """The columns of a sample for its variance: strata with their sizes, and positions."""
    stratum, position = plan.strata(), plan.positions()
    columns = []
    if stratum is not None:
        sizes = np.bincount(stratum)
        own = stratum[places]
        columns += [
            pl.Series("stratum", own + 1).cast(pl.String),
            pl.Series("stratum_start", (np.cumsum(sizes) - sizes)[own]),
            pl.Series("stratum_size", sizes[own]),
        ]
    if position is not None:
        columns.append(pl.Series("position", position[places]))
    return columns


def complete(sample: Sample, test_set: TestSet) -> tuple[Sample, list[Note]]:
    """A sample with all columns that its variance needs, derived for files of older versions.

    Older files lack the sizes of strata, and positions.
    """
    lacking = _lacking(sample)
    if not lacking:
        return sample, []
    parts, line = [], sample.design
    for system, rows in by_system(sample):
        own = known_population(sample, rows, test_set, system)
        if own.test_set.history is not None and "history" not in line.parameters:
            digest = {"history": str(history_digest(test_set))}
            line = Design(line.name, dict(line.parameters) | digest)
        plan = first_plan(own, design_of(line), own_sizes(design_of(line), own, test_set))
        parts.append(rows.with_columns(carried_columns(plan, places_in(rows, own.test_set))))
    found = make_sample(pl.concat(parts).with_columns(design=pl.lit(str(line))))
    # Equal probabilities are the same whatever the metrics say; snippets tell of the order.
    flat = np.ptp(sample.frame["probability"].to_numpy()) < TOLERANCE
    agree = ", which agree with what it states"
    if "position" in lacking and flat and "snippet" not in sample.frame.columns:
        agree = "; nothing in the file tells whether they are those it was drawn from"
    text = f"the sample file lacks {' and '.join(lacking)}: derived from these scores{agree}"
    return found, [Note("sample-derived", text)]


def _lacking(sample: Sample) -> list[str]:
    """The columns that a file of an older version lacks."""
    carries = design_of(sample.design).carries
    return [name for name in carries if name not in sample.frame.columns]


def known_population(
    sample: Sample, rows: pl.DataFrame, test_set: TestSet, system: str | None
) -> Population:
    """The population from which a sample was drawn; refuse scores that give another sample.

    It has a history if the design says so. Systems drawn apart are spread by their own metrics,
    unless they were first drawn together.
    """
    design = design_of(sample.design)
    for own in _candidates(sample, test_set, system):
        if _agrees(own, design, own_sizes(design, own, test_set), rows):
            return own
    raise InputError(
        "the sample states other probabilities, strata, positions or snippets than these scores"
        " give; use the same scores, systems, metrics, directions (lower_metrics) and history as"
        " when it was drawn, with rows in the same order"
    )


def known_table(design: Design, test_set: TestSet) -> TestSet:
    """The test set with the history, if any, with which a sample was drawn."""
    knew = design.parameters.get("history")
    if knew is None:
        return test_set if test_set.history is None else replace(test_set, history=None)
    if knew != history_digest(test_set):
        raise InputError(
            "the sample was drawn with a history, on which its probabilities rest; give the same"
            " one, in the same direction (assay.add_history)"
        )
    return test_set


def _candidates(sample: Sample, test_set: TestSet, system: str | None) -> Iterator[Population]:
    get = sample.design.parameters
    tables = [known_table(sample.design, test_set)]
    if test_set.history is not None and "history" not in get and _lacking(sample):
        tables.append(test_set)  # older files do not say whether they knew one
    for table in tables:
        whole = Population(table)
        if system is None:
            yield whole
            continue
        yield whole.of_system(system)
        if "parts" in get:
            yield whole.of_system(system, common=True)


def own_sizes(design: SamplingDesign, own: Population, test_set: TestSet) -> list[int]:
    """How many segments each draw behind a sample took from one system's share of the test set."""
    design.need_size(test_set)
    whole = Population(test_set)
    return [own.share(n, whole) for n in design.sizes]


def first_plan(population: Population, design: SamplingDesign, sizes: list[int]) -> DrawPlan:
    """The plan of the first draw."""
    return design.plan(population, sizes[0], population.importance(design.importance))


def union_probabilities(
    population: Population, design: SamplingDesign, sizes: list[int]
) -> np.ndarray:
    """The probability of every segment to be in at least one of several independent draws."""
    weights = population.importance(design.importance)
    found = [design.plan(population, n, weights).probabilities() for n in sizes]
    return found[0] if len(found) == 1 else np.asarray(1 - np.prod(1 - np.array(found), axis=0))


def _agrees(
    population: Population, design: SamplingDesign, sizes: list[int], rows: pl.DataFrame
) -> bool:
    """Whether these scores give the probabilities, strata and positions stated in the sample."""
    places = places_in(rows, population.test_set)
    pi = union_probabilities(population, design, sizes)[places]
    if np.abs(pi - rows["probability"].to_numpy()).max() > TOLERANCE:
        return False
    carried = carried_columns(first_plan(population, design, sizes), places)
    if not _contiguous(rows, carried):
        return False
    for column in carried:
        if column.name not in rows.columns:
            continue
        stated = rows[column.name]
        if column.dtype == pl.String:
            same = bool((stated == column).all())
        else:
            same = bool(np.abs(stated.to_numpy() - column.to_numpy()).max() <= TOLERANCE)
        if not same:
            return False
    return True


def _contiguous(rows: pl.DataFrame, carried: list[pl.Series]) -> bool:
    """Whether a snippet without positions has those of neighbours, in the order of the sample."""
    known = {column.name: column for column in carried}
    if "position" in rows.columns or not {"snippet", "order"} <= {*rows.columns}:
        return True
    if "position" not in known:
        return True
    placed = rows.select("snippet", "order").with_columns(known["position"]).sort("order")
    steps = placed.select(pl.col("position").diff().over("snippet").drop_nulls())
    return bool((steps["position"] == 1).all())
