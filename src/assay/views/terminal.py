"""A section in a terminal: the answer, its tables, how it came about, what to do next."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from assay.views.section import Figure, Section, Table, shown

if TYPE_CHECKING:
    from rich.console import Console


def show(section: Section) -> None:
    """Print the answer on stdout; what was noted on the way goes to stderr."""
    for line in dict.fromkeys(section.notes):
        print(line, file=sys.stderr)
    if section.lead:
        print(f"{section.lead}\n")
    for block in section.shown_in("terminal"):
        if isinstance(block, Table):
            print_table(section.title if block is _first_table(section) else block.caption, block)
        elif not isinstance(block, Figure):
            print(block)
    if section.signature:
        print(f"signature: {section.signature}")
    for part in section.more:
        print()
        show(part)
    for line in section.next:
        print(f"next: {line}")


def _first_table(section: Section) -> Table | None:
    tables = [block for block in section.shown_in("terminal") if isinstance(block, Table)]
    return tables[0] if tables else None


def print_table(title: str, table: Table) -> None:
    """Print a readable table on stdout: text left, numbers right."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text as Words

    grid = Grid(box=box.SIMPLE_HEAD)
    for column in table.columns:
        side = "left" if column.show == "text" else "right"
        grid.add_column(column.name, justify=side, overflow="fold")  # type: ignore[arg-type]
    for number, row in enumerate(table.rows[: table.page]):
        cells = zip(row, table.columns, strict=True)
        grid.add_row(
            *(Words(shown(value, column.show)) for value, column in cells),
            end_section=number in table.lines,
        )
    screen = console(sys.stdout)
    screen.print(Words(title, style="bold"))
    screen.print(grid)
    if len(table.rows) > table.page:
        print(f"the first {table.page} of {len(table.rows):,} rows; --json has them all")


def console(stream: TextIO) -> Console:
    """Where rich writes to."""
    from rich.console import Console

    # Piped output must not wrap at an imagined 80 columns.
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False)
