"""Kits: pieces of text that are alike, who edits what, what was built and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.kits.results import BuiltKits, CollectedKits, Kit, KitDesign, KitSet
from assay.results import plural
from assay.views.figures import COLOURS, INK, MARKS, MUTED, new_figure, tidy
from assay.views.section import Block, Column, Figure, Section, Table, columns, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

MOST_LABELS = 100
"""Up to this many pieces, every piece bears its number in the figure."""


def kits_section(result: KitSet) -> Section:
    """Pieces of text that are alike."""
    blocks: list[Block] = [
        Figure("kits", "Left: pieces on two principal components. Right: the distance to the"
                       " nearest piece, and its knee.",
               lambda: draw_kits(result)),
        _kits(result),
        _pieces(result),
        *(_terms(number, kit) for number, kit in enumerate(result.kits, start=1) if kit.terms),
    ]  # fmt: skip
    if result.kits:
        binding = ", ".join(f"{name} ({d:.4f})" for name, d in result.kits[0].binding.items())
        blocks.append(f"Limits that keep the first kit from being closer: {binding or 'none'}.")
    if result.mode == "dbscan":
        sizes = ", ".join(str(len(cluster)) for cluster in result.clusters) or "none"
        blocks.append(f"Pieces in each cluster within {result.eps:.4f}: {sizes}.")
    knee = "none" if result.knee is None else f"{result.knee:.4f}"
    blocks.append(f"Knee of the distances to the nearest neighbour: {knee}.")
    pieces, kits = plural(len(result.pieces), "piece"), plural(len(result.kits), "kit")
    return Section(
        "kits", "Alike documents", stage="kits",
        lead=f"Among {pieces} of text: {kits} of {result.size} similar ones.",
        blocks=tuple(blocks), signature=result.signature, sources=("korotaev2022",),
        notes=result.notes,
    )  # fmt: skip


def _kits(result: KitSet) -> Table:
    rows = [
        {"kit": number, "names": ", ".join(map(str, kit.pieces)), "diameter": f"{kit.diameter:.4f}",
         "percentile": f"{kit.percentile:.2g}%", "shared_terms": kit.shared_terms,
         "runner_up": None if kit.runner_up_diameter is None else f"{kit.runner_up_diameter:.4f}",
         "accepting": f"{sum(check.accepted for check in kit.terms)} of {len(kit.terms)}"
         if kit.terms else None,
         "density_ratio": kit.density_ratio, "length_ratio": kit.length_ratio}
        for number, kit in enumerate(result.kits, start=1)
    ]  # fmt: skip
    return table(
        "kits", "Diameter: the largest distance between two pieces of a kit, features scaled to"
                " 0..1; percentile: the share of sets of this size that are as close or closer;"
                " next best: the diameter of the closest other set. Shared terms and density are"
                " those of the worst pair.",
        "kit:count; names:text = pieces; diameter:text; percentile:text; "
        "runner_up:text = next best; accepting:text = methods accepting; shared_terms; "
        "density_ratio; length_ratio",
        rows,
    )  # fmt: skip


def _pieces(result: KitSet) -> Table:
    """The pieces of all kits with their features, a line after each kit."""
    rows = [
        {"kit": number, "piece": piece.piece, "doc": piece.doc, "words": piece.words,
         "paragraphs": f"{piece.first}–{piece.last}"} | dict(piece.features)
        for number, kit in enumerate(result.kits, start=1)
        for piece in (result.pieces[k] for k in kit.pieces)
    ]  # fmt: skip
    features = "".join(f"; {name} = {name}" for name in result.pieces[0].features)
    return table(
        "pieces", "The pieces of the kits and their features.",
        "kit:count; piece:count; doc:text = document; paragraphs:text; words:count" + features,
        rows,
        lines=frozenset(range(result.size - 1, len(rows) - 1, result.size)),
    )  # fmt: skip


def _terms(number: int, kit: Kit) -> str:
    accepting = [check.method for check in kit.terms if check.accepted]
    return (
        f"Kit {number}: {len(accepting)} of {len(kit.terms)} methods of finding terms accept it"
        f" ({', '.join(accepting)})."
    )


def kit_design_section(result: KitDesign) -> Section:
    """Who edits which document of which system."""
    places = tuple(f"{number + 1}." for number in range(len(result.documents)))
    kits: dict[str, list[str]] = {}
    for item in result.kits:
        kits.setdefault(item.editor, []).append(f"{item.document}: {item.system}")
    shown = Table(
        "tasks", "Who edits what, in which order.",
        (Column("editor", "text"), *(Column(place, "text") for place in places)),
        tuple((editor, *listed) for editor, listed in kits.items()),
    )  # fmt: skip
    balance = [
        ("system_document", "system and document", result.systems, result.documents),
        ("system_position", "system and position", result.systems, places),
        ("document_position", "document and position", result.documents, places),
        ("carry_over", "system right after system", result.systems, result.systems),
    ]
    return Section(
        "kit-design", "Who edits what", stage="kits",
        lead=f"{plural(len(result.editors), 'editor')} edit {plural(len(result.kits), 'document')}"
        f" in all, by the design {result.design}.",
        blocks=(shown, *(_balance(result, *each) for each in balance)),
        signature=result.signature, sources=("korotaev2022",), notes=result.notes,
    )  # fmt: skip


def _balance(
    result: KitDesign, name: str, title: str, rows: Sequence[str], columns: Sequence[str]
) -> Table:
    state = "balanced" if name in result.balance.balanced else "not balanced"
    counts = getattr(result.balance, name)
    return Table(
        name.replace("_", "-"), f"How often: {title} ({state})",
        (Column("", "text"), *(Column(label, "count") for label in columns)),
        tuple((label, *row) for label, row in zip(rows, counts, strict=True)),
    )  # fmt: skip


def kits_built_section(result: BuiltKits) -> Section:
    """The files that were written for editors."""
    traces = table(
        "traces", f"How similar {result.human} is to the output of each system.",
        columns("system:text; segments:count; similarity; near:count = nearly the same")
        | {"similarity": (f"similarity to {result.human}, %", "number")},
        [{"system": item.system, "segments": item.segments, "similarity": item.similarity,
          "near": len(item.near)} for item in result.traces],
    )  # fmt: skip
    return Section(
        "kits-built", "Kits for editors", stage="kits",
        lead=f"{plural(result.editors, 'kit')} of {plural(len(result.files), 'file')} in"
        f" {result.folder}. Key: {result.key} (keep it from the editors).",
        blocks=(traces,) if result.traces else (), signature=result.signature,
        sources=("korotaev2022",), notes=result.warnings,
    )  # fmt: skip


def kits_collected_section(result: CollectedKits) -> Section:
    """What came back from editors."""
    files = ", ".join(map(str, result.written))
    return Section(
        "kits-collected", "What editors sent back", stage="collect",
        lead=f"{plural(result.rows, 'edit')} of {plural(len(result.editors), 'editor')} written to"
        f" {files}.",
        blocks=(), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def draw_kits(result: KitSet) -> Drawing:
    """Pieces on two principal components with the kits marked, beside the curve with its knee."""
    return draw_pieces(
        [piece.place for piece in result.pieces], [kit.pieces for kit in result.kits],
        result.distances, {"knee": result.knee, "eps": result.eps},
    )  # fmt: skip


def draw_pieces(
    places: Sequence[tuple[float, float]],
    kits: Sequence[Sequence[int]],
    distances: Sequence[float],
    radii: Mapping[str, float | None],
) -> Drawing:
    """Points with those of each kit marked, beside the sorted distances with named radii."""
    figure = new_figure(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    _draw_points(left, places, kits)
    _draw_knee(right, distances, radii)
    return figure


def _draw_points(
    axes: Axes, places: Sequence[tuple[float, float]], kits: Sequence[Sequence[int]]
) -> None:
    axes.plot([x for x, _ in places], [y for _, y in places], ".", color=MUTED, markersize=5)
    for number, kit in enumerate(kits):
        points = [places[piece] for piece in kit]
        axes.plot(
            [x for x, _ in points], [y for _, y in points], linestyle="none",
            marker=MARKS[number % len(MARKS)], color=COLOURS[number % len(COLOURS)],
            markersize=8, label=f"kit {number + 1}",
        )  # fmt: skip
    if len(places) <= MOST_LABELS:
        for number, place in enumerate(places):
            axes.annotate(
                str(number), place, xytext=(3, 3), textcoords="offset points", fontsize=7, color=INK
            )
    if kits:
        axes.legend(frameon=False, loc="upper right")
    tidy(axes, grid="y", x="first principal component of the features", y="second")


def _draw_knee(axes: Axes, distances: Sequence[float], radii: Mapping[str, float | None]) -> None:
    axes.plot(range(len(distances)), distances, color=COLOURS[0])
    for (name, value), style in zip(radii.items(), ("--", ":"), strict=False):
        if value is not None:
            axes.axhline(
                value, color=INK, linestyle=style, linewidth=1, label=f"{name} {value:.3g}"
            )
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left")
    tidy(axes, grid="y", x="pieces, sorted", y="distance to the nearest piece")
