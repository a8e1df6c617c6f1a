"""``assay demo``: the whole pipeline on a simulated campaign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import print_json, save_json, say
from assay.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from assay.effort.results import Effort
    from assay.estimation.raters import RaterReport
    from assay.estimation.results import Estimates
    from assay.ranking.rank import Ranking
    from assay.sampling.stability import Stability
    from assay.sampling.summary import SampleSummary
    from assay.tables.answers import Edits
    from assay.worlds.simulate import World

TITLE = "A simulated campaign"
FILES = (
    "scores.tsv", "sample.tsv", "ratings.tsv", "judgments.tsv", "edits.tsv", "stability.json",
    "sample.json", "raters.json", "estimates.json", "ranking.json", "effort.json", "report.html",
)  # fmt: skip
MADE = ".assay-demo"
"""The file with the digest of everything that a demo wrote, as sha256sum writes it."""
BUDGET, JUDGMENTS = "20%", 3000
EDITORS, HUMAN, HOURLY = 9, "human", 40.0


def demo(*, output: Path = Path("demo"), seed: int = 1, json: bool = False) -> None:
    """Run the whole pipeline on a simulated campaign, and write a report page.

    Example: assay demo -o demo
    """
    from assay.stats.random import as_rng
    from assay.tables.load import write_bytes
    from assay.tables.typed_files import aside
    from assay.views.page import write_report
    from assay.views.section import section_of, show

    _refuse_foreign(output)
    page = output / "report.html"
    with aside(output) as part:
        run = _run(as_rng(seed), seed)
        for name, table in run.tables.items():
            table.write(part / f"{name}.tsv")
        for name, result in run.results.items():
            save_json(result.to_dict(), part / f"{name}.json")
        write_report(list(run.results.values()), part / page.name, title=TITLE)
        made = "".join(f"{_digest(part / name)}  {name}\n" for name in FILES)
        write_bytes(part / MADE, made.encode())
    estimates = run.results["estimates"]
    if json:
        print_json(estimates.to_dict() | {"report": str(page)})
        return
    show(replace(section_of(estimates), next=(), more=()))
    say(*_summary(run), f"next: {estimates.next[0]}", f"report: {page}")


def _refuse_foreign(folder: Path) -> None:
    """Refuse to write over a file that is not as a demo left it."""
    listed = folder / MADE
    made = listed.read_text("utf-8", errors="replace").splitlines() if listed.is_file() else []
    for name in FILES:
        path = folder / name
        if path.exists() and f"{_digest(path)}  {name}" not in made:
            raise InputError(f"{path} exists and is not as a demo wrote it; name another folder")


def _digest(path: Path) -> str:
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"


@dataclass(frozen=True)
class _Run:
    """The simulated campaign: its tables, and what each stage found, in the report's order."""

    world: World
    tables: dict[str, Any]
    results: dict[str, Any]


def _run(rng: np.random.Generator, seed: int) -> _Run:
    """Draw, rate, judge and edit; estimate and rank."""
    from assay.estimation.estimate import estimate
    from assay.estimation.raters import rater_report
    from assay.ranking.rank import rank
    from assay.sampling.draw import sample
    from assay.sampling.stability import stability, summarise_stability
    from assay.sampling.summary import summarise
    from assay.stats.random import spawn
    from assay.worlds.simulate import simulate

    campaign, drawing, judging, editing = spawn(rng, 4)
    world = simulate(texts=True, rng=campaign)
    drawn = sample(world.test_set, budget=BUDGET, rng=int(drawing.integers(2**32)))
    ratings = world.rate(drawn)
    result = estimate(world.test_set, ratings, sample=drawn)
    result = replace(result, truth=world.truth())
    judgments = world.judge(JUDGMENTS, rng=judging)
    ranking = rank(judgments, rng=int(judging.integers(2**32)))
    edits, effort = _edit(result, world.truth(), editing)
    records = stability(
        {"demo": world.test_set}, designs=["rounds", "documents"], budget=BUDGET,
        metric="neural", draws=500, matched=[True, False], rng=seed,
    )  # fmt: skip
    tables = {
        "scores": world.test_set, "sample": drawn, "ratings": ratings, "judgments": judgments,
        "edits": edits,
    }  # fmt: skip
    return _Run(world, tables, {
        "stability": summarise_stability(records, metric="neural", seed=seed),
        "sample": summarise(world.test_set, drawn),
        "raters": rater_report(world.test_set, ratings, sample=drawn),
        "estimates": result, "ranking": ranking, "effort": effort,
    })  # fmt: skip


def _summary(run: _Run) -> Iterator[str]:
    """What each stage found, in a line each."""
    found, truth = run.results, run.world.truth()
    drawn: SampleSummary = found["sample"]
    estimates: Estimates = found["estimates"]
    yield (
        f"sample: {drawn.n:,} of {drawn.population:,} segments in {drawn.snippets} snippets; every"
        f" segment was drawn with probability {drawn.max_probability:.3f}"
    )
    stability: Stability = found["stability"]
    rows = {(row.design, row.matched): f"{row.discordant_pairs:.0%}" for row in stability.designs}
    yield (
        f"stability: on such samples a metric puts {rows['rounds', True]} of the pairs in the wrong"
        f" order ({rows['documents', False]} if each system has whole documents of its own)"
    )
    report: RaterReport = found["raters"]
    severity = [item.severity for item in report.raters]
    yield (
        f"raters: {len(severity)} with an agreement of {report.alpha:z.2f} (Krippendorff's alpha);"
        f" on the same outputs the strictest gives {max(severity) - min(severity):.2f} points more"
        " than the mildest"
    )
    systems = estimates.systems
    covered = sum(item.low <= truth[item.system] <= item.high for item in systems)
    yield (
        f"truth: {covered} of {len(systems)} intervals contain the true score; the errors of"
        " systems rated on the same segments are correlated"
    )
    rated, everything = len(run.tables["ratings"]), len(run.world.rate())
    widest = max((item.high - item.low) / 2 for item in systems)
    yield (
        f"saved: {rated:,} ratings instead of {everything:,} ({1 - rated / everything:.0%} fewer)"
        f" give intervals of ±{widest:.2f} or narrower"
    )
    ranking: Ranking = found["ranking"]
    scored = {item.system: item.rank for item in systems}
    moved = sum(item.rank != scored[item.system] for item in ranking.systems)
    yield (
        f"ranking: {ranking.judgments:,} judgments of one output against another decide"
        f" {ranking.significant_pairs} of {ranking.pairs} pairs; {moved} of {len(scored)} systems"
        " rank differently than by score"
    )
    yield _effort_line(found["effort"])


def _effort_line(result: Effort) -> str:
    """What the leading systems cost editors, and which differences are decided."""
    from assay.views.section import some

    systems = sorted(result.systems, key=lambda item: item.measures["distance"].mean)
    shares = [f"{item.measures['distance'].mean:.1f}% of {item.system}" for item in systems]
    shares[0] = shares[0].replace(" of ", " of the characters of ", 1)
    prices = some([f"{item.price_per_1000_words:.2f}" for item in systems])
    pairs = [item for item in result.differences if item.measure == "distance"]
    equal = [item.system for item in result.parity
             if item.measure == "distance" and item.verdict == "parity"]  # fmt: skip
    return (
        f"effort: {len(result.editors)} editors changed {some(shares)} (1,000 words cost {prices}"
        f" at {result.rate:.0f} an hour); {sum(item.decided for item in pairs)} of {len(pairs)}"
        f" differences are decided; {', '.join(equal) or 'no system'} is shown to be within"
        f" {result.margin:.0%} of {result.human}"
    )


def _edit(
    estimates: Estimates, truth: dict[str, float], rng: np.random.Generator
) -> tuple[Edits, Effort]:
    """The two leading systems and a human translation, made right by editors."""
    from assay.effort.effort import effort
    from assay.kits.design import design_kits
    from assay.worlds.editing import EditingWorld

    leaders = [item.system for item in estimates.systems[:2]]
    world = EditingWorld(
        {name: 3 * truth[name] for name in leaders} | {HUMAN: 0.0}, level=3.0, segments=15
    )
    design = design_kits([*leaders, HUMAN], EDITORS, rng=rng)
    kits = [(item.editor, item.document, item.system) for item in design.kits]
    edits = world.edits(kits, rng=rng)
    return edits, effort(edits, human=HUMAN, margin=0.2, rate=HOURLY, rng=rng)
