"""``assay effort``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EDITOR,
    FIGURE,
    JSON,
    OUTPUT,
    SEED,
    SYSTEM,
    columns_for,
    figure_file,
    json_file,
    names,
    refuse_overwriting,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.kits.effort_relations import Relation
    from assay.kits.effort_results import Effort
    from assay.tables.answers import Better, Edits


Item = TypeVar("Item")


def effort(
    edits: Annotated[
        list[Path],
        typer.Argument(help="What editors did: one table of edits or several.", metavar="EDITS..."),
    ],
    human: Annotated[
        str | None, typer.Option("--human", help="Which system is the human translation.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Parity: at most this share more effort, such as 0.1."),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option("--measures", help="time, distance, changed, hter; default: not hter."),
    ] = None,
    time: Annotated[
        str, typer.Option("--time", help="mean, log or winsorised seconds per word.")
    ] = "mean",
    time_weight: Annotated[
        float, typer.Option("--time-weight", help="Weight of time in the placings.")
    ] = 1.0,
    alike: Annotated[
        float, typer.Option("--alike", help="Documents are alike within 1/R and R.", metavar="R")
    ] = 1.25,
    assume_alike: Annotated[
        bool,
        typer.Option("--assume-alike", help="Take the documents as alike, for identical kits."),
    ] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="What an editor's hour costs.")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    format: Annotated[
        str | None,
        typer.Option("--format", help="Another tool's: mxliff, sdlxliff, xliff, xliff2."),
    ] = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    columns: COLUMNS = None,
    figure: FIGURE = None,
    figure_by_editor: Annotated[
        Path | None,
        typer.Option("--figure-by-editor", help="Draw every editor's work.", metavar="FILE"),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option("--ratings", help="Ratings of the same systems: do they agree?"),
    ] = None,
    better: BETTER = "higher",
    kits: Annotated[
        Path | None,
        typer.Option(
            "--kits", help="Result of kits find: do harder documents take more?", metavar="FILE"
        ),
    ] = None,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Compare systems by what it took to edit them.

    Example: assay effort edits.tsv --human Human --margin 0.1
    """
    from assay.cli.output import note, number, print_json, save_json
    from assay.kits.effort import effort as run
    from assay.views.effort_figures import draw_effort, draw_effort_by_editor
    from assay.views.figures import save_figure

    for file in (json_file(output), figure_file(figure), figure_file(figure_by_editor)):
        refuse_overwriting(file, *edits)
    table = read_edit_files(edits, format=format, system=system, editor=editor, columns=columns)
    result = run(
        table, human=human, margin=margin, measures=names(measures), time=time,
        time_weight=time_weight, alike=alike, assume_alike=assume_alike, rate=rate, level=level,
        rng=seed, watch=watch_effort,
    )  # fmt: skip
    relations = _relations(result, ratings, better, kits, seed)
    plain = result.to_dict() | {"relations": relations}
    if output is not None:
        save_json(plain, output)
    if figure is not None:
        save_figure(draw_effort(plain), figure)
    if figure_by_editor is not None:
        save_figure(draw_effort_by_editor(plain), figure_by_editor)
    if json:
        print_json(plain)
        return
    note(*result.notes)
    _show(result)
    for item in relations:
        print(
            f"{item['with']} and {item['measure']}: rank correlation"
            f" {number(item['correlation'], 2)} over {item['n']} (p {number(item['p'], 2)})"
        )
    print(f"signature: {result.signature}")
    for line in result.next:
        print(f"next: {line}")
    for written in (output, figure, figure_by_editor):
        if written is not None:
            print(f"written to {written}")


def watch_effort(items: Iterator[Item], total: int, /) -> Iterator[Item]:
    """A progress bar over the segments or measures of an analysis."""
    from assay.cli.output import track

    return track(items, total, "effort")


def _relations(
    result: Effort, ratings: Path | None, better: Better, kits: Path | None, seed: int | None
) -> list[dict[str, Any]]:
    """Effort against ratings and against the documents' LIX; what is positive agrees."""
    from assay.kits.effort_relations import compare_ratings, complexity_effort
    from assay.results import plain
    from assay.tables.answers import read_ratings
    from assay.views.page import read_saved

    found: dict[str, tuple[Relation, ...]] = {}
    if ratings is not None:
        found["ratings"] = compare_ratings(result, read_ratings(ratings, better=better), rng=seed)
    if kits is not None:
        saved = read_saved(kits)
        if saved["kind"] != "kits":
            raise OptionError("--kits", kits, "is no result of kits find", "save one with -o")
        # Documents bear the names that kits find --texts gave the pieces.
        try:
            lix = {f"piece {row['piece']}": row["features"]["lix"] for row in saved["pieces"]}
        except (KeyError, TypeError):
            raise OptionError("--kits", kits, "is not complete", "save it again with -o") from None
        found["LIX"] = complexity_effort(result, lix, rng=seed)
    return [
        {"with": name} | cast("dict[str, Any]", plain(relation))
        for name, listed in found.items()
        for relation in listed
    ]


def read_edit_files(
    files: list[Path],
    *,
    format: str | None = None,
    system: str | None = None,
    editor: str | None = None,
    columns: str | None = None,
) -> Edits:
    """One table of edits from one file or several, which together may not name a row twice."""
    from assay.errors import did_you_mean
    from assay.formats.catalogue import FORMATS, Options, load_format
    from assay.tables.answers import join_edits

    if format is None and (system or editor):
        raise OptionError(
            "--system" if system else "--editor", system or editor, "is of no use here",
            "it is for files of other tools; say which with --format",
        )  # fmt: skip
    for place, file in enumerate(files):
        if file.resolve() in [other.resolve() for other in files[:place]]:
            raise OptionError("EDITS", file, "was given twice", "name each file once")
    if format is None:
        own = [columns_for(columns, ("edits", file))[0] for file in files]
        return join_edits(list(zip(files, own, strict=True)))
    known = [item.name for item in FORMATS.values() if "edits" in item.reads]
    if format not in known:
        raise OptionError(
            "--format", format, f"holds no edits{did_you_mean(format, known)}",
            f"choose from {', '.join(known)}",
        )  # fmt: skip
    options = Options(system=system, editor=editor)
    return join_edits([(load_format(file, format, "edits", options), None) for file in files])


def _show(result: Effort) -> None:
    """Print systems, differences, documents and what to beware of."""
    from assay.cli.output import number, print_table

    rows: list[list[object]] = []
    for item in result.systems:
        for name, level in item.measures.items():
            interval = f"{number(level.low)} – {number(level.high)}"
            narrow = f"{number(level.low83)} – {number(level.high83)}"
            rows.append([item.system, name, number(level.mean), interval, narrow])
    titles = ["system", "measure", "mean", f"{result.level:.0%} interval", "83% interval"]
    print_table("Effort (less is better)", titles, rows)
    _show_costs(result)
    _show_differences(result)
    _show_paper(result)
    shares = [
        [item.document, name, number(share.ratio), f"{number(share.low)} – {number(share.high)}",
         share.verdict]
        for item in result.documents for name, share in item.measures.items()
    ]  # fmt: skip
    inner = f"{2 * result.level - 1:.0%} interval"
    print_table(
        f"Documents against the average one (alike: {1 / result.alike:.2f} to {result.alike:.2f})",
        ["document", "measure", "ratio", inner, "verdict"],
        shares,
    )
    if result.parity:
        print_table(
            f"At most {result.margin:.0%} more effort than {result.human}?",
            ["system", "measure", "more effort", "p", "verdict"],
            [
                [item.system, item.measure, f"{item.excess:+.0%}", number(item.p), item.verdict]
                for item in result.parity
            ],
        )
    for caution in result.warnings:
        print(f"beware ({caution.kind}): {caution.message}")


def _show_costs(result: Effort) -> None:
    from assay.cli.output import number, print_table

    rows: list[list[object]] = []
    for item in result.systems:
        if item.hours_per_1000_words is None:
            return
        hours = f"{number(item.hours_low)} – {number(item.hours_high)}"
        row: list[object] = [item.system, number(item.hours_per_1000_words), hours]
        if item.price_per_1000_words is not None:
            price = f"{number(item.price_low, 2)} – {number(item.price_high, 2)}"
            row += [number(item.price_per_1000_words, 2), price]
        rows.append(row)
    interval = f"{result.level:.0%} interval"
    titles = ["system", "hours", interval, "price", interval]
    print_table("Per 1,000 words", titles[: len(rows[0])], rows)


def _show_differences(result: Effort) -> None:
    from assay.cli.output import number, print_table

    rows = [
        [item.left, item.right, item.measure, number(item.difference),
         f"{number(item.low)} – {number(item.high)}", number(item.p),
         number(item.randomisation_p), f"{number(item.least)} – {number(item.most)}", item.verdict]
        for item in result.differences
    ]  # fmt: skip
    kind = "all" if result.exact else "random"
    freedoms = sorted({f"{item.freedom:.3g}" for item in result.differences}, key=float)
    freedom = freedoms[0] if len(freedoms) == 1 else f"{freedoms[0]} to {freedoms[-1]}"
    print_table(
        f"Differences, left less right ({freedom} degrees of freedom;"
        f" {result.assignments} {kind} assignments of kits)",
        ["left", "right", "measure", "difference", f"{result.level:.0%} interval", "p",
         "randomisation p", "without one editor", "verdict"],
        rows,
    )  # fmt: skip
    overall = ", ".join(f"{name} {number(p)}" for name, p in result.overall_p.items())
    print(f"no system differs from another: randomisation p {overall}")
    if len(result.systems) > 2:
        print("verdicts are of each pair by itself; p for all pairs of a measure (Holm): holm_p")


def _show_paper(result: Effort) -> None:
    """The systems as the tables of korotaev2022 have them."""
    from assay.cli.output import number, print_table

    own = {(row.name, row.measure): row for row in result.relative if row.kind == "system"}
    rows: list[list[object]] = [
        [place.system, *(number(own[place.system, name].described, 2) for name in result.units),
         *(number(own[place.system, name].pooled, 2) for name in result.units),
         " ".join(str(count) for count in place.places), f"{place.score:g}",
         " ".join(str(count) for count in place.inverse_places), f"{place.inverse_score:g}"]
        for place in result.placings
    ]  # fmt: skip
    print_table(
        "Ratios to the mean (of each editor; pooled), and places by their sum (korotaev2022: as"
        " described; as computed, with time as mean speed over speed)",
        ["system", *result.units, *(f"{name}, pooled" for name in result.units),
         "first, second, ...", "score", "as computed", "score"],
        rows,
    )  # fmt: skip
