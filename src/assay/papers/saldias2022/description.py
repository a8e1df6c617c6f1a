"""Tables 7 to 12 of saldias2022, which describe its data, and Figure 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from assay.papers.compare import (
    OurNumber,
    PrintedCell,
    PrintedNumber,
    ScatterPanel,
    extra,
    read_printed,
)
from assay.papers.saldias2022.ratings import (
    DEVELOPMENT,
    RatedCorpus,
    RaterTrial,
    RatingFolder,
    correlations,
    machine_systems,
)
from assay.papers.saldias2022.tally import Tally, summarise

FILE_NAMES = {"Tohoku": "Tohoku-AIP-NTT", "Tencent": "Tencent_Translation",
              "VolcTrans": "Huoshan_Translate", "WeChat": "WeChat_AI"}  # fmt: skip
"""The files' names of systems that the paper names differently."""
IN_PLACE_OF = {"BLEURT-extended": "BLEURT-20"}
"""For a metric of the paper, the nearest one that the files have."""
VIRTUAL = "a column of single ratings mixes raters"
Numbers = dict[str, OurNumber]


def description_numbers(data: RatingFolder) -> Numbers:
    """Sizes, scores of systems, correlations of metrics, errors of raters."""
    ours: Numbers = {}
    for source in DEVELOPMENT:
        corpus = data.development.get(source.name)
        if corpus is not None:
            ours |= _size_numbers(corpus) | _score_numbers(corpus, source.name)
            ours |= _correlation_numbers(corpus) | _rater_numbers(corpus)
    for source, corpus in data.tests.items():
        if source.year == 21:
            ours |= _test_size_numbers(corpus, f"WMT21 {source.name}")
            ours |= _score_numbers(corpus, f"WMT21 {source.name}")
    return ours


def description_cells(data: RatingFolder, tallies: Mapping[str, Tally]) -> Iterator[PrintedCell]:
    """The same for metrics, years and raters that the paper does not print."""
    for name, corpus in data.development.items():
        if not corpus.named:
            for trial in corpus.raters:
                for column, size in zip(("segs", "docs"), _sizes(trial), strict=True):
                    yield extra("Table 7", f"{name} {trial.rater}", column, size, note=VIRTUAL,
                                 digits=0)  # fmt: skip
        yield from _correlation_cells(corpus)
        errors = rater_errors(corpus)
        if not corpus.named:
            for rater, error in errors.items():
                yield extra("Table 12", f"{name} {rater}", "abs error", error, note=VIRTUAL,
                             digits=2)  # fmt: skip
        if errors:
            yield from _own_ratings(name, tallies.get(name, {}), errors)
    for source, corpus in data.tests.items():
        if source.year != 21:
            yield from _correlation_cells(corpus)


def _sizes(trial: RaterTrial) -> tuple[int, int]:
    return trial.test_set.segments.height, trial.test_set.documents.height


def _size_numbers(corpus: RatedCorpus) -> Numbers:
    """Table 7: segments and documents of every rater, sorted by name."""
    trials = {"corpus": corpus.mean}
    if corpus.named:
        trials |= {f"rater{k}": trial for k, trial in enumerate(corpus.raters, 1)}
    return {
        f"{corpus.source.name} {rater} {column}": OurNumber(size)
        for rater, trial in trials.items()
        for column, size in zip(("segs", "docs"), _sizes(trial), strict=True)
    }


def _test_size_numbers(corpus: RatedCorpus, start: str) -> Numbers:
    """Table 10: what was rated, and the whole test set."""
    ours = {}
    for who, part in (("rater", corpus.frame.drop_nulls("mqm")), ("corpus", corpus.frame)):
        ours[f"{start} {who} segs"] = OurNumber(part["seg_id"].n_unique())
        if "doc" in part.columns:
            ours[f"{start} {who} docs"] = OurNumber(part["doc"].n_unique())
    return ours


def _score_numbers(corpus: RatedCorpus, start: str) -> Numbers:
    """Tables 8 and 11: the mean score of every system, the reference among them."""
    means = corpus.frame.group_by("system").agg(pl.col("mqm").cast(pl.Float64).mean())
    scores = {str(name).split(".")[0]: mean for name, mean in means.iter_rows()}
    names = [item.row.split()[1] for item in _printed(start, "MQM")]
    return {
        f"{start} {name} MQM": OurNumber(score) if score is not None else _lacks(name, corpus)
        for name in names
        for score in [scores.get(FILE_NAMES.get(name, name))]
    }


def _printed(start: str, column: str) -> list[PrintedNumber]:
    """The printed numbers of one language pair and column."""
    numbers = read_printed("saldias2022")
    return [n for n in numbers if n.number.startswith(f"{start} ") and n.column == column]


def _lacks(what: str, corpus: RatedCorpus) -> OurNumber:
    return OurNumber(needs=f"{what} in {corpus.source.file}")


def _correlation_numbers(corpus: RatedCorpus) -> Numbers:
    """Table 9: the correlation of a metric with the ratings, averaged over raters and systems."""
    ours = {}
    for item in _printed(corpus.source.name, "r"):
        metric = item.row.split()[1]
        here = corpus.raters[0].test_set.frame.columns if corpus.raters else ()
        stand_in = IN_PLACE_OF.get(metric, "")
        if _column(metric) in here or stand_in not in here:
            ours[item.number] = _correlation(corpus, metric)
        else:
            ours[item.number] = OurNumber(
                _correlation(corpus, stand_in).value, needs=f"{metric} in {corpus.source.file}",
                note=f"{stand_in} in its place",
            )  # fmt: skip
    return ours


def _column(metric: str) -> str:
    return "hyp_chars" if metric == "target-length" else metric


def _correlation(corpus: RatedCorpus, metric: str) -> OurNumber:
    column, values = _column(metric), np.array([])
    if corpus.raters and column in corpus.raters[0].test_set.frame.columns:
        values = correlations(corpus.raters, column, machine_systems(corpus.frame))
        values = values[np.isfinite(values)]
    if not len(values):
        return _lacks(column, corpus)
    reason = "other raters, and half of the segments"
    return OurNumber(abs(float(values.mean())), reason=reason)


def _correlation_cells(corpus: RatedCorpus) -> Iterator[PrintedCell]:
    source = corpus.source
    printed = {item.row.split()[1] for item in _printed(source.name, "r")}
    used = {IN_PLACE_OF.get(metric, metric) for metric in printed}
    for metric in (*corpus.metrics, "target-length"):
        ours = _correlation(corpus, metric).value
        if metric not in used and ours is not None:
            yield extra("Table 9", f"{source.name} {metric}", "r", ours, digits=3)


def _rater_numbers(corpus: RatedCorpus) -> Numbers:
    """Table 12: the error when the others' mean predicts a rater's, on the same segments."""
    errors = rater_errors(corpus)
    if not errors:
        return {}
    mean = float(np.mean(list(errors.values())))
    start, needs = corpus.source.name, "" if corpus.named else corpus.source.raters_file
    ours = {f"{start} avgs rater error": OurNumber(
        mean, needs=needs, note="" if corpus.named else VIRTUAL
    )}  # fmt: skip
    if corpus.named:
        ours |= {f"{start} {name} rater error": OurNumber(e) for name, e in errors.items()}
    return ours


def rater_errors(corpus: RatedCorpus) -> dict[str, float]:
    """The gap between a rater's mean and that of the others, averaged over systems."""
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
    gaps = (
        rated.group_by("who", "system")
        .agg(gap=(pl.col("score").mean() - others.mean()).abs())
        .group_by("who")
        .agg(pl.col("gap").mean())
    )
    return dict(sorted(gaps.iter_rows()))


def _own_ratings(lp: str, tally: Tally, errors: Mapping[str, float]) -> Iterator[PrintedCell]:
    """The fewest own ratings that predict a rater better than all scores of the other raters."""
    others = float(np.mean(list(errors.values())))
    sizes = sorted({key.size for key in tally.get("docs-prop+cv-knn", {})})
    for size in sizes:
        best = summarise(tally, "docs-prop+cv-knn", [size])
        if best is not None and best.error < others:
            yield extra("Table 12", f"{lp} own ratings as good as others'", "% of the segments",
                         100 * size, note="the paper, with other raters: less than 10 %",
                         digits=0)  # fmt: skip
            return


def scatter(corpus: RatedCorpus | None) -> tuple[ScatterPanel, ...]:
    """Figure 6: ratings by a metric, for two systems of one rater and two raters of one system."""
    if corpus is None or not corpus.metrics:
        return ()
    metric, machines = corpus.metrics[0], machine_systems(corpus.frame)
    systems = [s for s in corpus.mean.test_set.systems if s in machines]
    if len(corpus.raters) < 2 or len(systems) < 2:
        return ()
    wanted = [(0, systems[0]), (0, systems[-1]), (0, systems[0]), (1, systems[0])]
    return tuple(_panel(corpus.raters[rater], system, metric) for rater, system in wanted)


def _panel(trial: RaterTrial, system: str, metric: str) -> ScatterPanel:
    k = trial.test_set.systems.index(system)
    x, y = trial.test_set.matrix(metric)[k], trial.scores[k]
    slope, start = (float(value) for value in np.polyfit(x, y, 1))
    distance = float(np.abs(y - start - slope * x).mean())
    title = f"{system.split('.')[0]}, {trial.rater}"
    return ScatterPanel(title, metric, tuple(x.tolist()), tuple(y.tolist()), slope, start, distance)


def scatter_cells(panels: tuple[ScatterPanel, ...]) -> Iterator[PrintedCell]:
    """The slopes of Figure 6 and the mean distances from its lines."""
    for panel in panels[:2] + panels[3:]:
        for column, value in (("slope", panel.slope), ("distance", panel.distance)):
            yield extra("Figure 6", f"EnDe {panel.title}", column, value,
                         note=f"by {panel.metric}", digits=2)  # fmt: skip
