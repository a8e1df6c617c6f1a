"""The order of the commands: in the help, and in what ``assay`` alone prints."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

PANELS = {
    "Start": ("demo", "check", "convert"),
    "Plan": ("plan", "stability", "evaluate"),
    "Sample": ("sample",),
    "While ratings come in": ("next", "next-set", "monitor", "raters"),
    "Estimate and rank": ("estimate", "rank"),
    "Kits and effort": ("kits", "effort"),
    "Report": ("audit", "report", "reproduce"),
}
"""The commands by stage, in the order of use."""

PIPELINE = """\
Assay: how good your translation systems are, and how sure you can be, from few judgments.

See it work on a simulated campaign, and begin there:
  assay demo -o demo
  cd demo

The stages, in the order of use:
  check     is my table right?         assay check scores.tsv --kind scores
  plan      how much must be rated?    assay plan ratings --population 1400 --sd 3 --half-width .3
  sample    which segments to show?    assay sample scores.tsv --budget 20% -o drawn.tsv
  convert   a sheet for the raters     assay convert scores.tsv to-rate.xlsx --from scores \\
                                         --to ratings --sample drawn.tsv
  raters    do the raters agree?       assay raters scores.tsv ratings.tsv --better lower
  estimate  scores with intervals      assay estimate scores.tsv ratings.tsv --sample sample.tsv \\
                                         --better lower -o estimates.json
  rank      an order from judgments    assay rank judgments.tsv -o ranking.json
  effort    the same by post-editing   assay effort edits.tsv -o effort.json
  audit     which claims hold?         assay audit scores.tsv ratings.tsv --better lower
  report    a page to send around      assay report estimates.json ranking.json effort.json \\
                                         -o report.html

Usage: assay COMMAND ...; assay --help lists all commands, assay COMMAND --help explains one."""


def panel(name: str) -> str | None:
    """The panel of the help that a command stands in."""
    return next((title for title, names in PANELS.items() if name in names), None)


class Stages(TyperGroup):
    """The commands in the order of use, where Typer would list groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the panels; one without a panel comes last."""
        order = [name for names in PANELS.values() for name in names]
        known = super().list_commands(ctx)
        return sorted(known, key=lambda name: order.index(name) if name in order else len(order))
