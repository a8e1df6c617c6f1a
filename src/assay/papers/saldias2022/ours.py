"""Compute the numbers of saldias2022: the error of every method on the ratings of single raters.

A simulation is one rater and one system (the reference is left out). Samples are 5 to 50 % of what
the rater rated, with 100 draws each. The error of a method is the mean of |estimate - truth| over
draws, simulations and sizes; a win is a simulation and size at which it is below the baseline's.
Where raters are not named, each of three columns of single ratings stands for a rater.
:data:`READINGS` has the other readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import assay
from assay.engine import run as engine_run
from assay.papers.compare import (
    OurNumber,
    PaperRequest,
    PaperWork,
    Reproduction,
    compare,
    do_task,
    no_data_note,
)
from assay.papers.saldias2022.description import description_numbers, scatter, scatter_cells
from assay.papers.saldias2022.draws import (
    LEVEL,
    OTHER,
    UNEVEN,
    RaterRun,
    Step,
    Tallies,
    bound_numbers,
    bound_tasks,
    known_systems,
    mean_tasks,
)
from assay.papers.saldias2022.extras import curve_cells, extra_cells
from assay.papers.saldias2022.ratings import (
    DEVELOPMENT,
    RatedCorpus,
    RatingFile,
    RatingFolder,
    read_folder,
)
from assay.papers.saldias2022.tally import (
    BEST,
    DRAWS,
    MEAN_SHARE,
    METHODS,
    PAPER_SIMULATIONS,
    SIZES,
    TEST_METHODS,
    TRIED,
    MethodSummary,
    MethodTrial,
    TrialKey,
    summarise,
)
from assay.results import Note

FEWEST_DRAWS = 1
READINGS = (
    Note("reading-strata", "reading: strata are rounded at random, and equation 1 weights what was"
         " drawn by 1/probability; docs-opt allocates by standard deviations (table 'literal'"
         " rounds strata to the nearest whole number, table 'other means' has other weights)"),
    Note("reading-incremental", "reading: Table 2 takes equation 1 over the documents visited, the"
         " only estimate that the paper gives for strata, and starts every document with two"
         " pseudo-ratings; table 'other means' has equation 1 to the letter, with 0 for what is not"
         " drawn, and the plain mean of what was rated"),
    Note("reading-cv", "reading: control variates use the centred slope (table 'literal' has"
         " E[XZ]); cv-knn predicts a rated segment from the others, with k = min(25, n // 3)"),
    Note("reading-exchanged", "reading: Table 5 prints the slack of base and best of ZhEn"
         " exchanged, since the bound is the same and best has the smaller error"),
    Note("reading-gains", "errors and their sdev are compared as ratios to the baseline's"),
)  # fmt: skip
RATERS = "other raters, and half of the segments"
METRICS = f"other metrics than the paper's ten; {RATERS}"
REASONS = {
    "baseline": RATERS,
    "docs-prop": RATERS,
    "docs-opt": "the paper does not say what happens to documents of which nothing is drawn:"
    " 'other means' has other readings",
    "docs-incr-metrics": "the paper does not say what happens to documents of which nothing is"
    " drawn, nor of those with one rating: 'other means' has other readings",
    "cv-bleurt": f"BLEURT-20 in place of BLEURT-extended; {RATERS}",
}
"""Why a method's numbers may differ from the paper's; the default is :data:`METRICS`."""
REASONS["docs-incr-human"] = REASONS["docs-incr-metrics"]
Numbers = dict[str, OurNumber]


class Saldias2022(PaperWork):
    """The simulations behind the tables."""

    @property
    def steps(self) -> int:
        """The number of steps that :meth:`run` yields."""
        corpora = self.data.development.values()
        systems = sum(len(rater.test_set.systems) for corpus in corpora for rater in corpus.raters)
        steps: int = sum(run.steps for run in self.runs)
        return steps + systems * (3 * len(OTHER) + len(UNEVEN))

    def run(self) -> Iterator[Step]:
        """Yield a record per method, rater, system and size, then the bounds and the means."""
        rngs = self.request.rng.spawn(len(self.runs) + 2)
        # Files of WMT21 in the folder change no other number: their runs come after the bounds.
        bound_rng = rngs.pop(sum(run.source.year != 21 for run in self.runs))
        mean_rng = rngs.pop()
        for run, rng in zip(self.runs, rngs, strict=True):
            records = assay.evaluate_estimators(
                run.trial.test_set, run.trial.ratings, methods=run.methods, sizes=SIZES,
                draws=self.request.draws, level=LEVEL, rng=rng, workers=self.request.workers,
            )  # fmt: skip
            for record in records:
                key = TrialKey(run.trial.rater, record.system, record.size)
                yield run, MethodTrial(
                    key, record.method, record.draws, record.error, record.sd, record.bias,
                    record.coverage,
                )  # fmt: skip
        systems = [
            known
            for lp, corpus in self.data.development.items()
            for known in known_systems(lp, corpus.raters)
        ]
        draws, workers = self.request.draws, self.request.workers
        for tasks, rng in (
            (bound_tasks(systems, draws), bound_rng),
            (mean_tasks(systems, max(2, draws // MEAN_SHARE)), mean_rng),
        ):
            for _, record in engine_run(do_task, tasks, rng=rng, workers=workers):
                yield None, record

    def finish(self, steps: Iterable[Step]) -> Reproduction:
        """Make the tables from the steps that :meth:`run` yielded."""
        tallies = Tallies.of(steps)
        ours = result_numbers(self.data, tallies) | bound_numbers(self.data, tallies.bounds)
        ours |= description_numbers(self.data)
        cells = list(extra_cells(self.data, tallies))
        panels = scatter(self.data.development.get("EnDe")) if self.request.figures else ()
        if self.request.figures:
            cells += [*curve_cells(tallies), *scatter_cells(panels)]
        notes = [*READINGS, *self.data.notes]
        if not self.data.development and not self.data.tests:
            notes = [no_data_note("saldias2022")]
        return compare("saldias2022", ours, cells, notes=notes, request=self.request, panels=panels)


def list_work(request: PaperRequest) -> Saldias2022:
    """Read the folder and list the simulations; ``draws`` is 100 by default, as in the paper."""
    data = read_folder(request.folder)
    return Saldias2022(data, tuple(_runs(data)), request)


def _runs(data: RatingFolder) -> Iterator[RaterRun]:
    for corpus in data.development.values():
        methods = tuple(m for m in TRIED if _metric(m) in ("", *corpus.metrics))
        for trial in (*corpus.raters, corpus.mean):
            yield RaterRun(corpus.source, trial, methods)
    for corpus in sorted(data.tests.values(), key=lambda corpus: corpus.source.year == 21):
        for trial in corpus.raters:
            yield RaterRun(corpus.source, trial, TEST_METHODS if corpus.metrics else ("baseline",))


def _metric(method: str) -> str:
    return method.partition(":")[2] if method.startswith("cv-single") else ""


def result_numbers(data: RatingFolder, tallies: Tallies) -> Numbers:
    """Tables 1-4 from the ratings of single raters, and Table 6 from those of WMT21."""
    ours: Numbers = {}
    for source in DEVELOPMENT:
        corpus, tally = data.development.get(source.name), tallies.single.get(source.name, {})
        for method in ("baseline", *METHODS):
            ours |= _method_numbers(
                f"{source.name} {method}", summarise(tally, METHODS.get(method, method)),
                lacks=_lacking(source, corpus, METHODS.get(method, method)),
                reason=REASONS.get(method, METRICS), simulations=PAPER_SIMULATIONS,
            )  # fmt: skip
    for source, corpus in data.tests.items():
        if source.year == 21:
            systems = corpus.frame["system"].n_unique() - 1
            for method in ("baseline", BEST):
                ours |= _method_numbers(
                    f"WMT21 {source.name} {method}",
                    summarise(tallies.tests.get(source, {}), method),
                    lacks=f"doc, BLEURT-20 and COMET-MQM_2021 in {source.file}",
                    reason="", simulations=systems,
                )  # fmt: skip
    return ours


def _lacking(source: RatingFile, corpus: RatedCorpus | None, method: str) -> str:
    """The data that a method lacks."""
    if corpus is None:
        return source.file
    if not corpus.raters:
        return f"mqm_r1, mqm_r2, mqm_r3 in {source.file} or {source.raters_file}"
    return f"{_metric(method) or 'metrics'} in {source.file}"


def _method_numbers(
    start: str, summary: MethodSummary | None, *, lacks: str, reason: str, simulations: int
) -> Numbers:
    """Error, sdev and wins of one method, and how much the paper's own draws make them vary."""
    if summary is None:
        return {f"{start} {what}": OurNumber(needs=lacks) for what in ("error", "sdev", "win")}
    cells = simulations * len(SIZES)
    more = float(np.sqrt(summary.cells * summary.draws / (cells * DRAWS)))
    ours = {
        f"{start} {what}": OurNumber(value, noise, noise * more, reason=reason)
        for what, value, noise in (
            ("error", summary.error, summary.error_noise),
            ("sdev", summary.sdev, summary.sdev_noise),
        )
    }  # fmt: skip
    unclear = ""
    if summary.draws != DRAWS:
        # With fewer draws errors are noisier, so wins are nearer to 50 %, and the sdev is too low.
        unclear = f"of {summary.draws} draws; the paper's are of {DRAWS}"
        if start.endswith("baseline"):
            ours[f"{start} sdev"] = ours[f"{start} sdev"]._replace(unclear=unclear)
    ours[f"{start} win"] = OurNumber(
        summary.win, summary.win_noise, summary.win_noise * float(np.sqrt(summary.cells / cells)),
        reason=reason, unclear=unclear,
    )  # fmt: skip
    return ours
