"""Segments as the variance of a design needs to know them.

They come from a plan, or from a sample, which carries all that its variance needs. Two things still
need the scores that a sample was drawn from: enlarging it, which needs the probabilities of
segments that it does not have, and reading a file of an older version, which carries less. What
is derived then is compared with what the sample states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.designs.base import SamplingDesign, Strata, design_of
from assay.designs.plan import DrawPlan
from assay.designs.population import Population
from assay.errors import InputError
from assay.results import Note
from assay.tables.history import history_digest
from assay.tables.tables import Design, Sample, TestSet, make_sample, places_in

TOLERANCE = 1e-6
"""Probabilities and positions that differ by no more are the same."""


class DesignUnits(NamedTuple):
    """The segments of one system or pair: what the variance of their ``design`` needs to know.

    ``pi`` are inclusion probabilities, ``document`` numbers documents. ``strata`` and ``position``
    are there where the design has them; of segments that were not drawn they are never looked at.
    """

    design: SamplingDesign
    pi: np.ndarray
    document: np.ndarray
    position: np.ndarray | None = None
    strata: Strata | None = None

    @classmethod
    def of_plan(cls, design: SamplingDesign, plan: DrawPlan, population: Population) -> DesignUnits:
        """All segments of a population, of which samples are drawn by a plan."""
        pi, stratum = plan.probabilities(), plan.strata()
        return cls(
            design,
            np.where(pi > 0, pi, 1.0),  # what can never be drawn never counts
            population.layout.document,
            plan.positions(),
            None if stratum is None else Strata.known(stratum),
        )

    def part(self, inside: np.ndarray, drawn: np.ndarray) -> DesignUnits:
        """Some of the segments, as a mask says; of all, some are drawn."""
        return DesignUnits(
            self.design, self.pi[inside], self.document[inside],
            None if self.position is None else self.position[inside],
            None if self.strata is None else self.strata.part(inside, drawn),
        )  # fmt: skip

    def variance(self, e: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variance of the mean of ``e`` that goes with the design, and its degrees."""
        return self.design.variance(e, drawn, self)


def carried_columns(plan: DrawPlan, places: np.ndarray) -> list[pl.Series]:
    """What a sample carries of its segments: strata with their sizes, positions."""
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


class SampledUnits(NamedTuple):
    """What a sample carries, laid out over a test set as systems x segments.

    ``drawn`` are the segments of the sample, also where a system lacks them; ``pi`` is NaN where
    nothing is drawn or the system lacks it. ``strata`` has an entry per system.
    """

    drawn: np.ndarray
    pi: np.ndarray
    position: np.ndarray | None
    strata: tuple[Strata, ...] | None

    @classmethod
    def of_sample(cls, sample: Sample, test_set: TestSet) -> SampledUnits:
        """From the columns of a sample that lacks nothing."""
        carries = design_of(sample.design).carries
        _need_whole(sample, carries)
        shape = test_set.present.shape
        drawn = np.zeros(shape, dtype=bool)
        position = np.full(shape, np.nan) if "position" in carries else None
        strata = [Strata(np.zeros(shape[1], dtype=np.int64), np.zeros(1))] * shape[0]
        for system, rows in by_system(sample):
            places = places_in(rows, test_set)
            i = np.arange(shape[0])
            if system is not None:
                i = i[[test_set.systems.index(system)]]
            drawn[np.ix_(i, places)] = True
            if position is not None:
                position[np.ix_(i, places)] = rows["position"].to_numpy()
            if "stratum_size" in carries:
                total = shape[1] if system is None else int(test_set.present[i[0]].sum())
                own = _strata_of(rows, places, total, shape[1])
                for k in i:
                    strata[k] = own
        pi = sample.probabilities(test_set)
        return cls(drawn, pi, position, tuple(strata) if "stratum_size" in carries else None)


def _need_whole(sample: Sample, carries: Sequence[str]) -> None:
    """Refuse a sample of which a part was lost, as in a spreadsheet."""
    for name in carries:
        empty = sample.frame[name].null_count()
        if empty:
            raise InputError(
                f"the sample has {empty} empty cells in its column {name}, on which the error"
                " rests; use the file as assay sample wrote it"
            )


def _strata_of(rows: pl.DataFrame, places: np.ndarray, population: int, segments: int) -> Strata:
    """The strata of drawn segments, laid out over the test set."""
    start, size = (rows[name].to_numpy() for name in ("stratum_start", "stratum_size"))
    found = Strata.drawn(start, size, population)
    strata = rows.group_by("stratum_start").agg(pl.col("stratum_size").n_unique() > 1)
    if (
        strata["stratum_size"].any()
        or (np.bincount(found.number) > found.sizes).any()
        or (start + size > population).any()
    ):
        raise InputError(
            "the sample's strata do not fit the test set; use the file as assay sample wrote it,"
            " and the scores it was drawn from"
        )
    number = np.zeros(segments, dtype=np.int64)
    number[places] = found.number
    return found._replace(number=number)


def by_system(sample: Sample) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """The rows of every system; all of them, for no system in particular, of a matched sample."""
    if sample.matched:
        yield None, sample.frame
        return
    for system in sample.frame["system"].unique(maintain_order=True):
        yield str(system), sample.frame.filter(pl.col("system") == system)


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
        plan = first_plan(own, design_of(line), own_sizes(design_of(line), own, test_set))
        parts.append(rows.with_columns(carried_columns(plan, places_in(rows, own.test_set))))
    found = make_sample(pl.concat(parts).with_columns(design=pl.lit(str(line))))
    # Equal probabilities are the same whatever the metrics say.
    flat = np.ptp(sample.frame["probability"].to_numpy()) < TOLERANCE
    agree = ", which agree with what it states"
    if "position" in lacking and flat:
        agree = "; nothing in the file tells whether they are those it was drawn from"
    text = f"the sample file lacks {' and '.join(lacking)}: derived from these scores{agree}"
    return found, [Note("sample-derived", text)]


def _lacking(sample: Sample) -> list[str]:
    """The columns that the file of an older version does not carry."""
    carries = design_of(sample.design).carries
    return [name for name in carries if name not in sample.frame.columns]


def known_population(
    sample: Sample, rows: pl.DataFrame, test_set: TestSet, system: str | None
) -> Population:
    """The test set as the sample knew it, or a refusal of scores that give another sample.

    It knew a history if its design says so. Systems drawn apart are spread by their own metrics,
    unless they were drawn together first.
    """
    design = design_of(sample.design)
    for own in _candidates(sample, test_set, system):
        if _agrees(own, design, own_sizes(design, own, test_set), rows):
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


def need_population(design: SamplingDesign, test_set: TestSet) -> None:
    """Refuse a sample that was drawn from another number of segments."""
    total, size = design.parameters.get("N"), test_set.segments.height
    if total is not None and total != str(size):
        raise InputError(
            f"the sample was drawn from {total} segments and the test set has {size}; give the"
            " scores it was drawn from"
        )


def own_sizes(design: SamplingDesign, own: Population, test_set: TestSet) -> list[int]:
    """The sizes of the draws that a sample is made of, from one system's share of the test set."""
    need_population(design, test_set)
    whole = Population(test_set)
    return [own.share(n, whole) for n in design.sizes]


def first_plan(population: Population, design: SamplingDesign, sizes: list[int]) -> DrawPlan:
    """The plan of the first draw."""
    return design.plan(population, sizes[0], population.importance(design.importance))


def union_probabilities(
    population: Population, design: SamplingDesign, sizes: list[int]
) -> np.ndarray:
    """1 minus the probability that every one of several independent draws misses a segment."""
    weights = population.importance(design.importance)
    found = [design.plan(population, n, weights).probabilities() for n in sizes]
    return found[0] if len(found) == 1 else np.asarray(1 - np.prod(1 - np.array(found), axis=0))


def _agrees(
    population: Population, design: SamplingDesign, sizes: list[int], rows: pl.DataFrame
) -> bool:
    """Whether the scores give what the sample states of its segments."""
    places = places_in(rows, population.test_set)
    pi = union_probabilities(population, design, sizes)[places]
    if np.abs(pi - rows["probability"].to_numpy()).max() > TOLERANCE:
        return False
    for column in carried_columns(first_plan(population, design, sizes), places):
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
