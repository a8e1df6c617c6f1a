"""Tables 7, 8, 9 and 12 of saldias2022, which describe its data, and Figure 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from assay.papers.cells import Cell
from assay.papers.saldias2022_data import (
    DEVELOPMENT,
    Corpus,
    Data,
    Source,
    Trial,
    correlations,
    machine_systems,
)
from assay.papers.saldias2022_numbers import (
    BEST,
    CORRELATIONS,
    RATER_ERRORS,
    RATER_SIZES,
    SIMULATIONS,
    SIZES,
    SYSTEM_SCORES,
)
from assay.papers.saldias2022_tally import Tally, summarise

FILE_NAMES = {"Tohoku": "Tohoku-AIP-NTT", "Tencent": "Tencent_Translation",
              "VolcTrans": "Huoshan_Translate", "WeChat": "WeChat_AI"}  # fmt: skip
"""Systems of the paper that the files name otherwise."""
IN_PLACE_OF = {"BLEURT-extended": "BLEURT-20"}
"""A metric of the paper and the nearest one that the files have."""
VIRTUAL = "a column of single ratings mixes raters"


def rater_cells(data: Data) -> Iterator[Cell]:
    """Table 7: segments and documents of every rater."""
    for source in DEVELOPMENT:
        corpus = data.development.get(source.name)
        own = dict(_numbered(corpus)) if corpus is not None else {}
        for rater, printed in RATER_SIZES[source.name].items():
            ours: tuple[int, int] | None = None
            lack = source.file if rater == "corpus" or corpus is None else source.raters_file
            if rater == "corpus" and corpus is not None:
                ours = _sizes(corpus.mean)
            elif rater in own:
                ours = _sizes(own[rater])
            for k, column in enumerate(("segs", "docs")):
                number = None if ours is None else ours[k]
                matches = None if number is None else number == printed[k]
                note = f"needs {lack}" if number is None else ""
                yield Cell("Table 7", f"{source.name} {rater}", column, printed[k], number, None,
                           matches, note, digits=0)  # fmt: skip
        if corpus is not None and not corpus.named:
            for trial in corpus.raters:
                for column, number in zip(("segs", "docs"), _sizes(trial), strict=True):
                    yield Cell("Table 7", f"{source.name} {trial.rater}", column, None, number,
                               note=VIRTUAL, digits=0)  # fmt: skip


def _numbered(corpus: Corpus) -> Iterator[tuple[str, Trial]]:
    """Named raters as the paper's, in the order of their names."""
    if corpus.named:
        for k, trial in enumerate(corpus.raters, 1):
            yield f"rater{k}", trial


def _sizes(trial: Trial) -> tuple[int, int]:
    return trial.test_set.segments.height, trial.test_set.documents.height


def score_cells(data: Data) -> Iterator[Cell]:
    """Table 8: the mean score of every system, the reference among them."""
    for source in DEVELOPMENT:
        corpus = data.development.get(source.name)
        means: dict[str, float] = {}
        if corpus is not None:
            found = corpus.frame.group_by("system").agg(pl.col("mqm").cast(pl.Float64).mean())
            means = {str(name).split(".")[0]: mean for name, mean in found.iter_rows()}
        for system, paper in SYSTEM_SCORES[source.name].items():
            ours = means.get(FILE_NAMES.get(system, system))
            matches = None if ours is None else abs(ours - paper) < 0.005 + 1e-6
            lack = source.file if corpus is None else f"{system} in {source.file}"
            yield Cell("Table 8", f"{source.name} {system}", "MQM", paper, ours, None, matches,
                       "" if ours is not None else f"needs {lack}", digits=2)  # fmt: skip


def correlation_cells(data: Data) -> Iterator[Cell]:
    """Table 9: metrics and ratings of one rater for one MT system, the correlation averaged."""
    for source in DEVELOPMENT:
        corpus = data.development.get(source.name)
        printed = CORRELATIONS[source.name]
        for metric, paper in printed.items():
            yield _correlation(source, corpus, metric, paper)
        used = {IN_PLACE_OF.get(metric, metric) for metric in printed}
        for metric in corpus.metrics if corpus is not None else ():
            if metric not in used and corpus is not None:
                yield _correlation(source, corpus, metric, None)
    for source, corpus in data.tests.items():
        for metric in (*corpus.metrics, "target-length"):
            cell = _correlation(source, corpus, metric, None)
            if cell.ours is not None:
                yield cell


def _correlation(source: Source, corpus: Corpus | None, metric: str, paper: float | None) -> Cell:
    row = f"{source.name} {metric}"
    name = "hyp_chars" if metric == "target-length" else metric
    found = np.array([])
    stands_in = ""
    if corpus is not None and corpus.raters:
        here = corpus.raters[0].test_set.frame.columns
        if name not in here and IN_PLACE_OF.get(metric) in here:
            stands_in = name = IN_PLACE_OF[metric]
        systems = machine_systems(corpus.frame)
        if name in here:
            found = correlations(corpus.raters, name, systems)
            found = found[np.isfinite(found)]
    if not len(found):
        lack = source.file if corpus is None else f"{name} in {source.file}"
        return Cell("Table 9", row, "r", paper, None, note=f"needs {lack}", digits=3)
    ours = abs(float(found.mean()))
    spread = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else None
    if stands_in:
        return Cell("Table 9", row, "r", paper, ours, spread,
                    note=f"{stands_in} in its place", digits=3)  # fmt: skip
    matches = None
    if paper is not None and spread is not None:
        both = spread * float(np.sqrt(1 + len(found) / SIMULATIONS))
        matches = bool(abs(ours - paper) <= 2 * both)
    note = "other raters and half of the segments" if matches is False else ""
    return Cell("Table 9", row, "r", paper, ours, spread, matches, note, digits=3)


def rater_error_cells(data: Data, tallies: Mapping[str, Tally]) -> Iterator[Cell]:
    """Table 12: a rater's score predicted by the mean of the others on the same segments."""
    for source in DEVELOPMENT:
        corpus = data.development.get(source.name)
        errors = {} if corpus is None else _rater_errors(corpus)
        named = corpus is not None and corpus.named
        for rater, paper in RATER_ERRORS[source.name].items():
            ours = float(np.mean(list(errors.values()))) if rater == "avgs" and errors else None
            if named:
                ours = errors.get(rater, ours)
            matches = abs(ours - paper) < 0.015 if ours is not None and named else None
            note = "" if matches is not None else VIRTUAL
            if ours is None:
                lack = source.file if corpus is None else source.raters_file
                note = f"needs {lack}"
            yield Cell("Table 12", f"{source.name} {rater}", "abs error", paper, ours, None,
                       matches, note, digits=2)  # fmt: skip
        if not named:
            for rater, error in errors.items():
                yield Cell("Table 12", f"{source.name} {rater}", "abs error", None, error,
                           note=VIRTUAL, digits=2)  # fmt: skip
        if errors:
            yield from _own_ratings(source.name, tallies.get(source.name, {}), errors)


def _rater_errors(corpus: Corpus) -> dict[str, float]:
    """Mean over systems of the distance between a rater's mean and that of the others."""
    parts = []
    for k, trial in enumerate(corpus.raters, 1):
        name = f"rater{k}" if corpus.named else trial.rater
        key = ["system", *trial.test_set.key]
        parts.append(trial.ratings.frame.select(*key, "score", who=pl.lit(name)))
    if len(parts) < 2:
        return {}
    rated = pl.concat(parts)
    key = [name for name in rated.columns if name not in ("score", "who")]
    rated = rated.with_columns(
        total=pl.col("score").sum().over(key), raters=pl.len().over(key)
    ).filter(pl.col("raters") > 1)
    others = (pl.col("total") - pl.col("score")) / (pl.col("raters") - 1)
    found = (
        rated.group_by("who", "system")
        .agg(gap=(pl.col("score").mean() - others.mean()).abs())
        .group_by("who")
        .agg(pl.col("gap").mean())
    )
    return dict(sorted(found.iter_rows()))


def _own_ratings(lp: str, tally: Tally, errors: Mapping[str, float]) -> Iterator[Cell]:
    """How many own ratings predict a rater better than the other raters' scores of everything."""
    others = float(np.mean(list(errors.values())))
    for size in SIZES:
        found = summarise(tally, BEST, [size])
        if found is not None and found.error < others:
            yield Cell("Table 12", f"{lp} own ratings as good as others'", "% of the segments",
                       None, 100 * size, None,
                       note="the paper, with other raters: less than 10 %", digits=0)  # fmt: skip
            return


def scatter(corpus: Corpus) -> list[dict[str, object]]:
    """Figure 6: two systems of one rater and two raters of one system, ratings by metric."""
    metric, machines = corpus.metrics[0], machine_systems(corpus.frame)
    systems = [s for s in corpus.mean.test_set.systems if s in machines]
    if len(corpus.raters) < 2 or len(systems) < 2:
        return []
    wanted = [(0, systems[0]), (0, systems[-1]), (0, systems[0]), (1, systems[0])]
    found = []
    for rater, system in wanted:
        trial = corpus.raters[rater]
        k = trial.test_set.systems.index(system)
        x, y = trial.test_set.matrix(metric)[k], trial.scores[k]
        slope, start = np.polyfit(x, y, 1)
        found.append({
            "title": f"{system.split('.')[0]}, {trial.rater}", "metric": metric, "x": x, "y": y,
            "slope": float(slope), "start": float(start),
            "distance": float(np.abs(y - start - slope * x).mean()),
        })  # fmt: skip
    return found


def scatter_cells(data: Data) -> Iterator[Cell]:
    """The slopes and mean distances behind Figure 6."""
    corpus = data.development.get("EnDe")
    panels = [] if corpus is None else scatter(corpus)
    for panel in panels[:2] + panels[3:]:
        for column in ("slope", "distance"):
            yield Cell("Figure 6", f"EnDe {panel['title']}", column, None,
                       float(panel[column]), note=f"by {panel['metric']}", digits=2)  # type: ignore[arg-type]  # fmt: skip
