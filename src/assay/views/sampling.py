"""How the sample was drawn, whether it mirrors the test set, and how stable rankings are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.results import plural
from assay.sampling.next import NextSegments
from assay.sampling.stability import DesignStability, Stability
from assay.sampling.summary import SampleSummary, bin_name
from assay.views.charts import draw_lengths, draw_shares, draw_stability
from assay.views.section import Figure, Section, Table, columns, sentence, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LARGEST_GAP = 0.05
"""Shares further apart than this are named in words."""


class _Group(NamedTuple):
    """A part of the test set beside the same part of the sample."""

    by: str
    group: str
    full: float
    sample: float


def sample_section(result: SampleSummary) -> Section:
    """What was drawn, with which probabilities, beside the whole test set."""
    groups = _groups(result)
    shares = table(
        "shares", "Shares of the segments, in the whole test set and in the sample.",
        "by:text; group:text; full:percent = test set; sample:percent",
        groups,
    )  # fmt: skip
    figure = Figure(
        "shares", "Whole test set and sample side by side.",
        lambda: draw_shares([group._asdict() for group in groups]),
    )  # fmt: skip
    remarks = []
    if result.unreachable:
        remarks.append(f"{result.unreachable:.1%} of the segments could never be drawn.")
    if result.vocabulary is not None:
        remarks.append(
            f"{result.vocabulary:.1%} of the source words of the test set occur in the sample."
        )
    return Section(
        name="sample",
        title="How the sample was drawn",
        lead=f"{_drawn(result)}; {_chance(result)}. {_mirrors(groups)}",
        blocks=(figure, shares, _work(result), *remarks, f"Design: {result.parameters}."),
        signature=result.signature,
        stage="sample",
        notes=(*result.notes, f"metrics: {', '.join(result.metrics) or 'none'}"),
    )


def sample_figure(result: SampleSummary) -> Drawing:
    """Document lengths of the whole test set and of the sample, side by side."""
    return draw_lengths([
        {"pair": result.design, "sample": name, "length": share.name, "share": 100 * value}
        for share in result.length_bins
        for name, value in (("full", share.full), ("sample", share.sample))
    ])  # fmt: skip


def _groups(result: SampleSummary) -> list[_Group]:
    """What can be compared with the test set; parts that are in neither are left out."""
    lengths = [(bin_name(share.name), share) for share in result.length_bins]
    ways = {
        "document length": lengths,
        "domain": [(share.name, share) for share in result.domains],
        "place in document": [(share.name, share) for share in result.positions],
    }
    return [
        _Group(way, name, share.full, share.sample)
        for way, shares in ways.items()
        for name, share in shares
        if share.full or share.sample
    ]


def _drawn(result: SampleSummary) -> str:
    share, pieces = f"{result.n:,} of {result.population:,} segments", ""
    if result.matched:
        if result.snippets < result.n:
            pieces = f" in {plural(result.snippets, 'snippet')}"
        return f"{share}{pieces} were drawn ({result.design})"
    if result.snippets < result.outputs:
        pieces = f", {plural(result.snippets, 'snippet')} in all"
    return f"{share} were drawn for each system separately ({result.design}{pieces})"


def _chance(result: SampleSummary) -> str:
    if result.max_probability - result.min_probability < 1e-9:
        return f"every segment had the same probability, {result.max_probability:.4g}"
    return (
        f"the sample keeps their probabilities ({result.min_probability:.4g} to"
        f" {result.max_probability:.4g}) for the estimate"
    )


def _mirrors(groups: list[_Group]) -> str:
    """Whether shares of the sample are those of the test set, and which are not."""
    off = [
        f"{group.by}, {group.group} ({group.sample:.0%} instead of {group.full:.0%})"
        for group in groups
        if abs(group.sample - group.full) > LARGEST_GAP
    ]
    if off:
        return f"Its shares differ from the test set's in {'; '.join(off[:3])}."
    ways = list(dict.fromkeys(group.by for group in groups))
    if not ways:
        return "The table has no column by which to compare the sample with the test set."
    named = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])} or {ways[-1]}"
    return (
        f"It mirrors the test set: no share by {named} is off by more than"
        f" {100 * LARGEST_GAP:g} points."
    )


def _work(result: SampleSummary) -> str:
    once = ""
    if result.distinct_outputs is not None and result.distinct_outputs != result.outputs:
        once = f" ({result.distinct_outputs:,} if identical ones are rated once)"
    context = ""
    if result.context_segments and result.length_bins:
        context = f", and {result.context_segments:,.0f} more segments to read as context"
    predicted = ""
    if result.design_effect is not None:
        predicted = (
            f" Forecast: the variance of differences between systems will be about"
            f" {result.design_effect:.2f} times that of a simple random sample of this size."
        )
    ratings = "" if result.opinions is None else _ratings(result, result.opinions)
    work = f"The work: {plural(result.outputs, 'output')} to rate{once}{context}.{ratings}"
    return work + predicted


def _ratings(result: SampleSummary, opinions: float) -> str:
    """The ratings that it comes to, and what they cost."""
    each = f"{opinions:.0f} raters each" if opinions == round(opinions) else (
        f"one more rater for {opinions - int(opinions):.0%} of them"
    )  # fmt: skip
    if opinions == 1:
        each = "one rater each"
    return f" With {each}: {result.pay.counted(round(result.outputs * opinions), 'ratings')}."


def stability_section(result: Stability) -> Section:
    """How often samples of each design rank systems differently from the whole test set."""
    several = len({item.budget for item in result.designs}) > 1
    figure = Figure("changes", "Samples that change the ranking.", lambda: stability_figure(result))
    return Section(
        name="stability",
        title="Stability of rankings",
        lead=(
            f"{_steadiest(result)}. Systems were ranked by {result.metric} on"
            f" {plural(result.draws, 'sample')} of each design and on the whole test set."
        ),
        blocks=(_designs_table(result), *((figure,) if several else ())),
        signature=result.signature,
        stage="sample",
        sources=("lo2023",),
        notes=result.notes,
    )


def _designs_table(result: Stability) -> Table:
    rows = [
        {name: getattr(item, name) for name in DesignStability.__slots__}
        | {"design": _named(item), "runs": f"{item.best} / {item.median:g} / {item.worst}"}
        for item in result.designs
    ]
    runs = result.designs[0].runs if result.designs else 0
    return table(
        "stability",
        "Expected numbers of test sets whose ranking changes (with Monte-Carlo error), whose"
        " clusters change, or where a significant pair is reversed (significant flips). Length"
        " error: mean difference of length shares, in points. Context: segments to read for each"
        " segment to rate.",
        columns(
            "design:text; budget:text; changed = rank changes; changed_error = ±;"
            f" test_sets:count = of; runs:text = best / median / worst of {runs};"
            " discordant_pairs:percent; significant_flips; cluster_changed = cluster changes;"
            " length_error; context; held_out_changed"
        ) | {"held_out_changed": (f"rank changes by {result.held_out}", "number")},
        rows,
    )  # fmt: skip


def _named(item: DesignStability) -> str:
    return item.design + ("" if item.matched else " (unmatched)")


def _steadiest(result: Stability) -> str:
    """The design with which the fewest pairs change places, at each budget."""
    lines = []
    for budget in dict.fromkeys(item.budget for item in result.designs):
        items = [item for item in result.designs if item.budget == budget]
        best = min(items, key=lambda item: item.discordant_pairs)
        share = f"{best.discordant_pairs:.1%} of the pairs of systems change places"
        fewest = "" if len(items) == 1 else ", the fewest of all designs"
        way = "matched" if best.matched else "unmatched"
        lines.append(f"at a budget of {budget}, {share} with {best.design} ({way}){fewest}")
    return sentence("; ".join(lines)).rstrip(".")


def stability_figure(result: Stability) -> Drawing:
    """Rank changes by budget, in percent of the test sets."""
    share = {part.budget: 100 * part.n / part.population for part in result.parts}
    return draw_stability([
        {
            "design": _named(item),
            "budget": round(share.get(item.budget, 0.0)),
            "changed": 100 * item.changed / item.test_sets,
            "error": 100 * item.changed_error / item.test_sets,
        }
        for item in result.designs
    ])  # fmt: skip


def next_section(result: NextSegments) -> Section:
    """The segments, or systems, to rate next."""
    rows = [
        {"system": item.system or "all", "doc": item.doc, "seg": item.seg, "reason": item.reason,
         "stratum": None if item.stratum == item.doc else item.stratum}
        for item in result.segments
    ]  # fmt: skip
    listed = table(
        "next", "To be rated next, in this order.",
        "system:text; doc:text = document; seg:text = segment; stratum:text; reason:text = why",
        rows,
    )  # fmt: skip
    unit = "output" if result.method == "adaptive" else "segment"
    coming = f"; {len(rows):,} to rate next" if rows else ""
    return Section(
        name="next",
        title=f"To rate next ({result.method})",
        lead=f"{result.rated:,} of {plural(result.pool, unit)} are rated{coming}.",
        blocks=(listed if rows else "Nothing is left to rate.",),
        signature=result.signature,
        stage="sample",
        notes=result.notes,
    )
