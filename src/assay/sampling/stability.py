"""How stable a ranking is: how often a sample ranks the systems otherwise than the full test set.

Automatic metrics take the place of ratings, so that any number of samples costs nothing
(lo2023, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from assay.designs.base import SamplingDesign, choose_design
from assay.designs.population import Population
from assay.engine.run import Workers, run
from assay.errors import InputError, OptionError
from assay.results import plain, result_dict, signature
from assay.sampling.draw import budget_size
from assay.sampling.replicates import Cell, StabilityRecord, run_cell
from assay.stats.random import Rng
from assay.tables.check import did_you_mean
from assay.tables.parts import Parts
from assay.tables.test_set import TestSet


def stability(
    test_sets: Mapping[str, TestSet],
    *,
    designs: Sequence[str],
    budget: int | str | Sequence[int | str] | Mapping[str, int | str],
    metric: str,
    held_out: str | None = None,
    candidates: int = 1,
    draws: int = 1000,
    matched: bool | Sequence[bool] = True,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[StabilityRecord]:
    """Draw many samples of every design from every test set and rank the systems by a metric.

    Yields a record per test set and design, in that order; :func:`assay.summarise_stability`
    makes a table of them. ``budget`` may differ by test set (a mapping), and there may be several
    (a list). ``matched`` may list both ways. Of :func:`assay.read_parts`, one test set after the
    other is in memory.
    With ``candidates`` > 1, every sample is the best of so many by the metric's own ranking,
    which makes that metric look stable and nothing else: a ``held_out`` metric is required.

    >>> import assay
    >>> world = assay.simulate(documents=30, rng=1)
    >>> records = list(stability({"en-de": world.test_set}, designs=["SL", "DB"], budget="30%",
    ...                          metric="neural", draws=50, rng=1))
    >>> [record.design for record in records], records[0].changed.shape
    (['segments', 'snippets'], (50,))
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of samples", "give 1 or more")
    if isinstance(candidates, bool) or not isinstance(candidates, int) or candidates < 1:
        raise OptionError("candidates", candidates, "is no number of samples", "give 1 or more")
    if not designs or len(set(designs)) < len(designs):
        raise OptionError("designs", list(designs), "must be one or more, each once", "name them")
    if candidates > 1 and held_out is None:
        raise InputError(
            "choosing samples by a metric makes that metric look stable; name another one to judge"
            " the choice by (--held-out)"
        )
    ways = [matched] if isinstance(matched, bool) else list(matched)
    if candidates > 1 and not all(ways):
        raise InputError("candidates are chosen among matched samples only; leave out --unmatched")

    def make(name: str, test_set: TestSet) -> Iterator[Cell]:
        for design, way, share in product(designs, ways, _budgets(budget, name)):
            yield _cell(name, test_set, choose_design(test_set, design, None), share, metric,
                        held_out, way, draws, candidates)  # fmt: skip

    if isinstance(test_sets, Parts):
        sizes = [len(designs) * len(ways) * len(_budgets(budget, name)) for name in test_sets]
        return run(run_cell, _Cells(test_sets, make, sum(sizes)), rng=rng, workers=workers)
    cells = [cell for name, test_set in test_sets.items() for cell in make(name, test_set)]
    return run(run_cell, cells, rng=rng, workers=workers)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a file too large to be read at once: made from one part after the other."""

    parts: Parts
    make: Callable[[str, TestSet], Iterator[Cell]]
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Cell]:
        for name, test_set in self.parts.items():
            for cell in self.make(name, test_set):
                yield replace(cell, notes=(*cell.notes, *test_set.notes))


def _budgets(
    budget: int | str | Sequence[int | str] | Mapping[str, int | str], name: str
) -> list[int | str]:
    if isinstance(budget, Mapping):
        return [budget[name]]
    return [budget] if isinstance(budget, int | str) else list(budget)


def _cell(
    name: str,
    test_set: TestSet,
    design: SamplingDesign,
    budget: int | str,
    metric: str,
    held_out: str | None,
    matched: bool,
    draws: int,
    candidates: int,
) -> Cell:
    population = Population(test_set)
    systems, scores, notes = metric_scores(test_set, metric)
    others = None
    if held_out is not None:
        if held_out == metric:
            raise OptionError("held_out", held_out, "is the metric itself", "name another one")
        theirs, values, more = metric_scores(test_set, held_out)
        notes += more
        if theirs != systems:
            keep = [theirs.index(system) for system in systems if system in theirs]
            if len(keep) != len(systems):
                raise OptionError(
                    "held_out", held_out, "does not score all systems", "choose another metric"
                )
            values = values[keep]
        others = values
    n = budget_size(population, design, budget)
    return Cell(
        name,
        population,
        systems,
        scores,
        others,
        design,
        str(budget),
        n,
        matched,
        draws,
        candidates,
    )


def metric_scores(test_set: TestSet, metric: str) -> tuple[tuple[str, ...], np.ndarray, list[str]]:
    """The systems a metric scores, their scores (higher is better), and what had to be done.

    Systems that it does not score at all (a reference, say) are left out; single missing values
    are taken as the system's mean.
    """
    if metric not in test_set.metrics:
        raise OptionError(
            "metric", metric, f"is no metric of the scores{did_you_mean(metric, test_set.metrics)}",
            f"choose from {', '.join(test_set.metrics) or 'none: the scores have no metrics'}",
        )  # fmt: skip
    values = test_set.matrix(metric)
    known = np.isfinite(values)
    keep = known.any(axis=1)
    if keep.sum() < 2:
        raise InputError(
            f"the metric {metric} scores {int(keep.sum())} of {len(keep)} systems; a ranking needs"
            " two or more"
        )
    notes = []
    if not keep.all():
        out = [name for name, kept in zip(test_set.systems, keep, strict=True) if not kept]
        notes.append(f"{metric} does not score {', '.join(out)}: left out")
    values, known = values[keep], known[keep]
    missing = int((~known).sum())
    if missing:
        notes.append(f"{missing} missing values of {metric} taken as the system's mean")
        means = np.nanmean(values, axis=1, keepdims=True)
        values = np.where(known, values, means)
    systems = tuple(name for name, kept in zip(test_set.systems, keep, strict=True) if kept)
    return systems, -values if metric in test_set.lower_metrics else values, notes


@dataclass(frozen=True, slots=True)
class DesignStability:
    """What a design does to rankings, over all test sets and samples.

    ``changed`` is the expected number of test sets with another order, of ``test_sets``;
    ``changed_error`` its Monte-Carlo standard error. ``best``, ``median`` and ``worst`` are those
    of the first ``runs`` samples, the paper's form. ``discordant_pairs`` is a share,
    ``significant_flips`` the expected number of test sets where a pair that differs significantly
    on the full set is turned round. ``length_error`` is the mean over length bins of the root
    mean square difference to the full test set, ``length_bias`` of the absolute mean difference,
    in points. ``context`` counts context segments to read per segment to rate.
    """

    design: str
    matched: bool
    budget: str
    test_sets: int
    changed: float
    changed_error: float
    cluster_changed: float
    discordant_pairs: float
    discordant_error: float
    significant_flips: float
    significant_error: float
    length_error: float
    length_bias: float
    size_sd: float
    context: float
    runs: int
    best: int
    median: float
    worst: int
    held_out_changed: float | None


@dataclass(frozen=True, slots=True)
class Stability:
    """A table of designs, and each design on each test set."""

    designs: tuple[DesignStability, ...]
    parts: tuple[dict[str, object], ...]
    metric: str
    held_out: str | None
    draws: int
    seed: int | None
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        names = "+".join(dict.fromkeys(item.design for item in self.designs))
        return signature("stability", names, metric=self.metric, draws=self.draws, seed=self.seed)

    def to_frame(self) -> pl.DataFrame:
        """One row per design."""
        return pl.DataFrame([plain(item) for item in self.designs], infer_schema_length=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay stability``."""
        return result_dict(
            "stability",
            self.signature,
            designs=self.designs,
            parts=self.parts,
            metric=self.metric,
            held_out=self.held_out,
            draws=self.draws,
            seed=self.seed,
            notes=self.notes,
        )


def summarise_stability(
    records: Iterable[StabilityRecord],
    *,
    metric: str,
    held_out: str | None = None,
    runs: int = 13,
    seed: int | None = None,
) -> Stability:
    """One row per design from the records of :func:`stability`.

    >>> import assay
    >>> world = assay.simulate(documents=30, rng=1)
    >>> records = stability({"a": world.test_set}, designs=["DB"], budget="30%", metric="neural",
    ...                     draws=40, rng=1)
    >>> summarise_stability(records, metric="neural").designs[0].test_sets
    1
    """
    if runs < 1:
        raise OptionError("runs", runs, "is no number of samples", "give 1 or more")
    listed = list(records)
    groups: dict[tuple[str, bool, str], list[StabilityRecord]] = {}
    by_set = _own_budgets(listed)
    for record in listed:
        budget = "by test set" if by_set else record.budget
        groups.setdefault((record.design, record.matched, budget), []).append(record)
    return Stability(
        designs=tuple(_design_row(group, key[2], runs) for key, group in groups.items()),
        parts=tuple(_part_row(record) for record in listed),
        metric=metric,
        held_out=held_out,
        draws=len(listed[0].changed) if listed else 0,
        seed=seed,
        notes=tuple(
            dict.fromkeys(f"{record.name}: {note}" for record in listed for note in record.notes)
        ),
    )


def _own_budgets(records: list[StabilityRecord]) -> bool:
    """Whether every test set has one budget, but not all the same."""
    budgets: dict[str, set[str]] = {}
    for record in records:
        budgets.setdefault(record.name, set()).add(record.budget)
    everything = {budget for own in budgets.values() for budget in own}
    return len(everything) > 1 and all(len(own) == 1 for own in budgets.values())


def _design_row(records: list[StabilityRecord], budget: str, runs: int) -> DesignStability:
    changed = np.stack([record.changed for record in records])
    flips = np.stack([record.flips > 0 for record in records])
    wrong = np.stack([record.discordant for record in records])
    counts = changed.sum(axis=0)[:runs]
    held = [record.held_out for record in records if record.held_out is not None]
    lengths = np.array([_length_errors(record) for record in records]).mean(axis=0)
    return DesignStability(
        design=records[0].design,
        matched=records[0].matched,
        budget=budget,
        test_sets=len(records),
        changed=float(changed.mean(axis=1).sum()),
        changed_error=_sum_error(changed),
        cluster_changed=float(sum(record.clusters.mean() for record in records)),
        discordant_pairs=float(wrong.mean()),
        discordant_error=_sum_error(wrong) / len(records),
        significant_flips=float(flips.mean(axis=1).sum()),
        significant_error=_sum_error(flips),
        length_error=float(lengths[0]),
        length_bias=float(lengths[1]),
        size_sd=float(np.mean([record.sizes.std() / record.n for record in records])),
        context=float(np.mean([record.context.mean() / record.n for record in records])),
        runs=len(counts),
        best=int(counts.min()),
        median=float(np.median(counts)),
        worst=int(counts.max()),
        held_out_changed=float(sum(h.mean() for h in held)) if held else None,
    )


def _sum_error(values: np.ndarray) -> float:
    """Monte-Carlo standard error of the sum over test sets of the means over samples."""
    draws = values.shape[1]
    if draws < 2:
        return float("nan")
    return float(np.sqrt((values.var(axis=1, ddof=1) / draws).sum()))


def _length_errors(record: StabilityRecord) -> tuple[float, float]:
    """Root mean square and absolute mean difference of length shares, over bins, in points."""
    gap = 100 * (record.length_shares - record.full_lengths)
    here = record.full_lengths > 0
    return float(np.sqrt((gap**2).mean(axis=0))[here].mean()), float(
        np.abs(gap.mean(axis=0))[here].mean()
    )


def _part_row(record: StabilityRecord) -> dict[str, object]:
    return {
        "test_set": record.name,
        "design": record.design,
        "matched": record.matched,
        "budget": record.budget,
        "n": record.n,
        "population": record.population,
        "systems": record.systems,
        "significant_pairs": record.significant_pairs,
        "changed": float(record.changed.mean()),
        "cluster_changed": float(record.clusters.mean()),
        "discordant_pairs": float(record.discordant.mean()),
        "significant_flips": float((record.flips > 0).mean()),
        "length_error": _length_errors(record)[0],
        "context": float(record.context.mean()),
        "held_out_changed": None if record.held_out is None else float(record.held_out.mean()),
    }
