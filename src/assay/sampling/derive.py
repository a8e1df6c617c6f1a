"""What a sample must have known when it was drawn, derived again from the scores.

A sample carries all that its variance needs. Two things still need the scores it was drawn from:
enlarging it, which needs the probabilities of segments that it does not have, and reading a file
of an older version, which carries less. What is derived is compared with what the sample states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.results import Note
from assay.sampling.designs import base_design, drawn_sizes
from assay.sampling.draw import carried_columns, importance_weights, own_size, plan_for
from assay.sampling.plans.base import Plan
from assay.sampling.population import Population
from assay.tables.history import history_digest
from assay.tables.sample import Design, Sample, make_sample, places_in
from assay.tables.test_set import TestSet

SAME = 1e-6
"""Probabilities and positions that differ by no more are the same."""


def complete(sample: Sample, test_set: TestSet) -> tuple[Sample, list[Note]]:
    """A sample that carries all that its variance needs; an older file's is derived and compared.

    Older files have strata without their sizes, and balanced samples without positions.
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
        sizes = own_sizes(sample.design, own, Population(test_set))
        plan = first_plan(own, sample.design, sizes)
        parts.append(rows.with_columns(carried_columns(plan, places_in(rows, own.test_set))))
    found = make_sample(pl.concat(parts).with_columns(design=pl.lit(str(line))))
    return found, [
        Note(
            "sample-derived",
            f"the sample file does not have its {lacking}: derived from these scores, which agree"
            " with what it states",
        )
    ]


def _lacking(sample: Sample) -> str | None:
    """What the file of an older version does not carry."""
    design, columns = base_design(sample.design), sample.frame.columns
    if design.name == "balanced" and "parts" not in sample.design.parameters:
        return None if "position" in columns else "positions"
    stratified = design.name == "interleaved" or design.parameters.get("strata", "none") != "none"
    return "sizes of strata" if stratified and "stratum_size" not in columns else None


def by_system(sample: Sample) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """The rows of every system; all of them, for no system in particular, of a matched sample."""
    if sample.matched:
        yield None, sample.frame
        return
    for system in sample.frame["system"].unique(maintain_order=True):
        yield str(system), sample.frame.filter(pl.col("system") == system)


def known_population(
    sample: Sample, rows: pl.DataFrame, test_set: TestSet, system: str | None
) -> Population:
    """The test set as the sample knew it, or a refusal of scores that give another sample.

    It knew a history if its design says so. Systems drawn apart are spread by their own metrics,
    unless they were drawn together first.
    """
    for own in _candidates(sample, test_set, system):
        sizes = own_sizes(sample.design, own, Population(test_set))
        if _agrees(own, sample.design, sizes, rows):
            return own
    raise InputError(
        "the sample states other probabilities, strata or positions than these scores give; use"
        " the same scores, systems, metrics, directions (lower_metrics) and history as when it was"
        " drawn"
    )


def known_table(design: Design, test_set: TestSet) -> TestSet:
    """The test set with the history that a sample was drawn with, or with none."""
    knew = design.parameters.get("history")
    if knew is None:
        return replace(test_set, history=None)
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


def own_sizes(design: Design, own: Population, whole: Population) -> list[int]:
    """The sizes of the draws that a sample is made of, from one system's share of the test set."""
    return [own_size(n, own, whole) for n in drawn_sizes(design, whole)]


def first_plan(population: Population, design: Design, sizes: list[int]) -> Plan:
    """The plan of the first draw."""
    weights = importance_weights(population, design.parameters.get("importance"))
    return plan_for(population, base_design(design), sizes[0], weights)


def union_probabilities(population: Population, design: Design, sizes: list[int]) -> np.ndarray:
    """1 minus the probability that every one of several independent draws misses a segment."""
    weights = importance_weights(population, design.parameters.get("importance"))
    plans = [plan_for(population, base_design(design), n, weights) for n in sizes]
    if len(plans) == 1:
        return plans[0].probabilities()
    return np.asarray(1 - np.prod([1 - plan.probabilities() for plan in plans], axis=0))


def _agrees(population: Population, design: Design, sizes: list[int], rows: pl.DataFrame) -> bool:
    """Whether the scores give what the sample states of its segments."""
    places = places_in(rows, population.test_set)
    pi = union_probabilities(population, design, sizes)[places]
    if np.abs(pi - rows["probability"].to_numpy()).max() > SAME:
        return False
    for column in carried_columns(first_plan(population, design, sizes), places):
        if column.name not in rows.columns:
            continue
        stated = rows[column.name]
        if column.dtype == pl.String:
            same = bool((stated == column).all())
        else:
            same = bool(np.abs(stated.to_numpy() - column.to_numpy()).max() <= SAME)
        if not same:
            return False
    return True
