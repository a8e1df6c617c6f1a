"""``assay demo``: the whole pipeline on a simulated campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JSON

__all__ = ["demo"]

BUDGET = "20%"


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the files.", metavar="DIR")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option("--seed", help="Seed of the simulated campaign.")] = 7,
    json: JSON = False,
) -> None:
    """Run the whole pipeline on a simulated campaign; ends with a report page.

    Example: assay demo -o demo
    """
    from assay.cli.estimate import show_estimates
    from assay.cli.output import print_json, save_json
    from assay.estimation import estimate
    from assay.report import write_report
    from assay.results import result_dict
    from assay.sampling import sample
    from assay.stats.random import as_rng, spawn
    from assay.worlds import simulate

    campaign, drawing = spawn(as_rng(seed), 2)
    world = simulate(texts=True, rng=campaign)
    drawn = sample(world.test_set, budget=BUDGET, rng=int(drawing.integers(2**32)))
    ratings = world.rate(drawn)
    result = estimate(world.test_set, ratings, sample=drawn)
    truth = world.truth()

    output.mkdir(parents=True, exist_ok=True)
    world.test_set.write(output / "scores.tsv")
    drawn.write(output / "sample.tsv")
    ratings.write(output / "ratings.tsv")
    save_json(result.to_dict(), output / "estimates.json")
    page = write_report(
        [result.to_dict()], output / "report.html", title="A simulated campaign", truth=truth
    )
    if json:
        systems = result.to_dict()["systems"]
        print_json(
            result_dict("demo", result.signature, report=str(page), systems=systems, truth=truth)
        )
        return
    show_estimates(result, truth)
    covered = sum(item.low <= truth[item.system] <= item.high for item in result.systems)
    everything = len(world.rate())
    widest = max((item.high - item.low) / 2 for item in result.systems)
    print(f"the truth lies in {covered} of {len(result.systems)} intervals")
    print(
        f"saved: {len(ratings):,} ratings instead of {everything:,}"
        f" ({1 - len(ratings) / everything:.0%} fewer), scores known to ±{widest:.2f} or better"
    )
    print(f"report: {page}")
