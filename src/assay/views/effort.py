"""Systems compared by the effort of editing them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.effort.results import Effort, SystemEffort
from assay.effort.verdict import Verdict, less_and_more
from assay.results import p_value, percent, plural
from assay.views.charts import draw_by_editor
from assay.views.figures import ACCENT, INK, new_figure, tidy
from assay.views.section import Bar, Block, Figure, Section, Table, against, table, with_bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def effort_section(result: Effort) -> Section:
    """Systems compared by what it took to edit them."""
    systems = [item.system for item in result.systems]
    total = f"effort, sum of {len(result.units)} ratios to the editor's mean"
    verdict, *rest = _said(result)
    blocks: tuple[Block | None, ...] = (
        _drawn(result),
        Figure(
            "effort", f"Dot: mean. Thin bar: {percent(result.level)} interval; two systems whose"
                      " thick bars do not touch differ at about the 5% level.",
            lambda: draw_effort(result),
        ),
        _levels(result),
        costs_table(result),
        _differences(result),
        _overall(result),
        _documents(result),
        _parity(result),
        _paper(result),
        _relations(result),
        Figure(
            "editors", "Each editor's documents relative to that editor's mean.",
            lambda: draw_by_editor([asdict(row) for row in result.by_editor], y=total),
        ) if result.by_editor else None,
    )  # fmt: skip
    return Section(
        name="effort",
        title="Post-editing effort (less is better)",
        stage="effort",
        headline=verdict,
        lead=" ".join(rest),
        facts=(plural(len(systems), "system"), plural(len(result.editors), "editor")),
        details="All measures and pairs",
        blocks=tuple(block for block in blocks if block is not None),
        signature=result.signature,
        question=(
            f"Which of {plural(len(systems), 'system')} takes"
            f" {plural(len(result.editors), 'editor')} the least effort to edit?"
        ),
        methods=_methods(result),
        sources=("korotaev2022", "patterson1971", *(("schuirmann1987",) if result.parity else ())),
        next=result.next,
        notes=(*result.warnings, *result.notes),
    )


LEAST = {
    "time": "takes the least time to edit", "distance": "needs the fewest changes",
    "changed": "needs the fewest segments changed", "hter": "needs the fewest words edited",
}  # fmt: skip
"""What is best of the best system, by the measure that the verdict follows."""
MOST_DOCUMENTS = 12
"""Of more documents, those that are like the others are not listed."""
OF = {"time": "time", "distance": "characters", "changed": "segments", "hter": "words"}
"""What a share is a share of."""
WHY = {
    "paid-for": "which is what is paid for",
    "no-times": "since no segment has a time",
    "few-times": "since only {timed:.0%} of the segments of a system have a time",
    "time-left-out": "since time was left out",
}
"""Why the verdict follows its measure."""


def _said(result: Effort) -> list[str]:
    """The verdict in a sentence, then what else measures say, and why there may be no price."""
    verdict = result.verdict
    if verdict is None:
        found = _pairs(result) or "nothing is decided"
        return [f"By {plural(len(result.editors), 'editor')}: {found}."]
    best, rival = verdict.best, verdict.rival
    least, amount = LEAST[verdict.measure], _amount(result, best)
    if result.rate is not None and verdict.measure == "time":
        least = "costs least to edit"
    if verdict.decided:
        lines = [
            f"{best} {least}: {amount}, against {_amount(result, rival, short=True)} for {rival}."
        ]
    else:
        lines = [
            f"Whether {best} or {rival} {least} is undecided after"
            f" {plural(len(result.editors), 'editor')}: {amount} against"
            f" {_amount(result, rival, short=True)}."
        ]
    if verdict.beats and (len(verdict.beats) > 1 or not verdict.decided):
        lines.append(f"{verdict.best} beats {_and(verdict.beats)}.")
    if len(verdict.open) > 1:
        lines.append(f"{_and(verdict.open[1:])} cannot be told apart from it either.")
    if result.human is not None and result.human not in (verdict.best, verdict.rival):
        lines.append(f"The human translation, {result.human}: {_amount(result, result.human)}.")
    return [*lines, *_objections(verdict), *_no_price(result)]


def _amount(result: Effort, system: str, *, short: bool = False) -> str:
    """What a system takes by the measure of the verdict; ``short`` where the unit was just said."""
    item = next(item for item in result.systems if item.system == system)
    measure = "" if result.verdict is None else result.verdict.measure
    hours, price = item.hours_per_1000_words, item.price_per_1000_words
    if measure == "time" and hours is not None:
        main = f"{hours:.2f} h" if price is None else _money(price, result.currency)
        more = "" if price is None else f" ({hours:.2f} h)"
        return main if short else f"{main} per 1,000 words{more}"
    mean = item.measures[measure].mean
    share = f"{mean:.0%}" if measure == "changed" else f"{mean:.1f}%"
    return share if short else f"{share} of the {OF[measure]}"


def _objections(verdict: Verdict) -> list[str]:
    """Where measures disagree, and why the verdict follows the one it follows."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for item in verdict.objections:
        pairs.setdefault((item.less, item.more), []).append(item.measure)
    if not pairs:
        return []
    said = "; ".join(
        f"by {_and(measures)} {less} needs less effort than {more}"
        for (less, more), measures in pairs.items()
    )
    why = WHY[verdict.why].format(timed=verdict.timed)
    return [f"Measures disagree: {said}. The verdict follows {verdict.measure}, {why}."]


def _no_price(result: Effort) -> list[str]:
    if result.rate is None or result.systems[0].price_per_1000_words is not None:
        return []
    if result.verdict is not None and result.verdict.why == "time-left-out":
        return ["Time was left out, so no price."]
    return [
        "No time in these files, so no price: that needs the seconds of every segment, as in"
        " MXLIFF (Phrase) or in a table with a column of seconds."
    ]


def _pairs(result: Effort) -> str:
    """Every decided pair with the measures that decide it."""
    measures: dict[tuple[str, str], list[str]] = {}
    for item in result.differences:
        if item.decided:
            measures.setdefault(less_and_more(item), []).append(item.measure)
    return "; ".join(
        f"{less} takes less effort than {more} ({', '.join(names)})"
        for (less, more), names in measures.items()
    )


def _money(amount: float, currency: str | None) -> str:
    """A price to the cent, with its currency.

    >>> _money(20.67, "EUR"), _money(7.9, None)
    ('20.67 EUR', '7.90')
    """
    return f"{amount:,.2f}" + (f" {currency}" if currency else "")


def _and(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _and(["A"]), _and(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _methods(result: Effort) -> str:
    random = any("document" in parts for parts in result.components.values())
    kits = "each editor a different document from each system"
    if random:
        kits = "several documents from each, which are taken to be alike in kind"
    elif result.assume_alike:
        kits = (
            "all editors the same document from each system, assuming that the documents are alike"
        )
    texts = "segments, documents" if random else "segments"
    return (
        f"{plural(len(result.editors), 'editor')} post-edited documents translated by"
        f" {plural(len(result.systems), 'system')}, {kits}."
        f" Effort ({', '.join(result.units)}) was analysed by a mixed model with editors,"
        f" {texts} and documents within editors as random effects (REML)."
    )


def _interval(level: float) -> str:
    return f"{percent(level)} interval"


def _drawn(result: Effort) -> Table:
    """The systems by what the verdict follows, best first."""
    measure = next(iter(result.units)) if result.verdict is None else result.verdict.measure
    won = {less_and_more(pair) for pair in result.differences
           if pair.decided and pair.measure == measure}  # fmt: skip
    rows = sorted(
        ((item.system, *_placed(item, measure)) for item in result.systems), key=lambda row: row[1]
    )
    names = [name for name, *_ in rows]
    bars = [Bar(at, low, high, said=against(name, names, won)) for name, at, low, high in rows]
    first = result.systems[0]
    timed = measure == "time" and first.hours_per_1000_words is not None
    priced = timed and first.price_per_1000_words is not None
    what = measure if not timed else "price" if priced else "hours"
    axis = f"{result.units[measure]} (less is better)"
    if timed:
        money = f"price{f' in {result.currency}' if result.currency else ''}"
        axis = f"{money if priced else 'hours'} of editing 1,000 words (less is better)"
    found = table(
        "systems", f"Dot: mean; bar: {_interval(result.level)}. It includes the spread between"
        " editors and documents, which all systems share, so bars may overlap although a difference"
        " is decided.",
        {"system": ("system", "text"), "at": (what, "money" if priced else "number"),
         ("low", "high"): (_interval(result.level), "money" if priced else "interval")},
        [dict(zip(("system", "at", "low", "high"), row, strict=True)) for row in rows],
        where="page",
    )  # fmt: skip
    return with_bars(found, bars, axis)


def _placed(item: SystemEffort, measure: str) -> tuple[float, float, float]:
    """What a system takes: money, else hours, else the measure, with its interval."""
    level = item.measures[measure]
    prices = item.price_per_1000_words, item.price_low, item.price_high
    hours = item.hours_per_1000_words, item.hours_low, item.hours_high
    for at, low, high in (prices, hours) if measure == "time" else ():
        if at is not None:
            return at, _known(low), _known(high)
    return level.mean, level.low, level.high


def _known(end: float | None) -> float:
    return math.nan if end is None else end


def _levels(result: Effort) -> Table:
    return table(
        "effort", "Effort by system and measure; less is better. The 83% interval leaves out the"
                  " spread that all systems share: if two do not touch, the systems differ at about"
                  " the 5% level.",
        f"system:text; measure:text; mean; low,high:interval = {_interval(result.level)}; "
        "low83,high83:interval = 83% interval",
        _by_measure(result.systems, "system"),
    )  # fmt: skip


def _by_measure(items: Sequence[Any], name: str) -> list[dict[str, object]]:
    """A row for each system or document and measure."""
    return [
        {name: getattr(item, name), "measure": measure}
        | {key: getattr(row, key) for key in row.__dataclass_fields__}
        for item in items
        for measure, row in item.measures.items()
    ]


def costs_table(result: Effort) -> Table | None:
    """Hours and prices, where the time is known."""
    if result.systems[0].hours_per_1000_words is None:
        return None
    interval = _interval(result.level)
    return table(
        "costs", "Per 1,000 words: hours of editing"
        + ("." if result.rate is None else f", and their price at {_rate(result)} an hour."),
        f"system:text; hours_per_1000_words = hours; hours_low,hours_high:interval = {interval}; "
        f"price_per_1000_words:money = price; price_low,price_high:money = price, {interval}",
        result.systems,
    )  # fmt: skip


def _rate(result: Effort) -> str:
    return f"{result.rate:g}" + (f" {result.currency}" if result.currency else "")


def _differences(result: Effort) -> Table:
    degrees = sorted({f"{item.degrees:.3g}" for item in result.differences}, key=float)
    shown = degrees[0] if len(degrees) == 1 else f"{degrees[0]} to {degrees[-1]}"
    count = f"{result.assignments:,}"
    assignments = f"all {count} assignments" if result.exact else f"{count} random assignments"
    dealt = _is_known(item.randomisation_p for item in result.differences)
    anew = f" and from reassigning the kits ({assignments})" if dealt else ""
    return table(
        "effort-differences", f"Left minus right, with p from the mixed model ({shown} degrees of"
                              f" freedom){anew}. Each verdict is for its pair alone; p (Holm) is"
                              " corrected for the number of pairs per measure.",
        "left:text; right:text; measure:text; difference;"
        f" low,high:interval = {_interval(result.level)}; p:p; holm_p:p = p (Holm);"
        f"{' randomisation_p:p;' if dealt else ''} least,most:interval = without one editor;"
        " verdict:text",
        result.differences,
    )  # fmt: skip


def _is_known(values: Iterable[float]) -> bool:
    """Whether any of them is a number."""
    return any(value == value for value in values)


def _overall(result: Effort) -> str | None:
    if not _is_known(result.overall_p.values()):
        return None
    values = ", ".join(
        f"{name} {'unknown' if p != p else p_value(p)}" for name, p in result.overall_p.items()
    )
    return f"Randomisation test that all systems are equal: {values}."


def _documents(result: Effort) -> Table | None:
    rows = [
        row for row in _by_measure(result.documents, "document") if row["ratio"] == row["ratio"]
    ]
    more = ""
    if len(result.documents) > MOST_DOCUMENTS:
        every, rows = len(rows), [row for row in rows if row["verdict"] == "unlike"]
        more = f" Only the unlike ones are shown, {len(rows)} of {every}."
    if not rows:
        return None
    inner = _interval(2 * result.level - 1)
    return table(
        "effort-documents", f"Effort of each document relative to the average, with the {inner}:"
        f" alike if it lies between {1 / result.alike:.2f} and {result.alike:.2f}, unlike if it"
        f" lies wholly outside.{more}",
        f"document:text; measure:text; ratio; low,high:interval = {inner}; "
        "low83,high83:interval = 83% interval; verdict:text",
        rows,
    )  # fmt: skip


def _parity(result: Effort) -> Table | None:
    if not result.parity:
        return None
    return table(
        "parity",
        f"Does a system need at most {result.margin:.0%} more effort than {result.human}?",
        "system:text; measure:text; excess:percent = more effort; p:p; verdict:text",
        result.parity,
    )  # fmt: skip


def _paper(result: Effort) -> Table:
    """The systems as the tables of korotaev2022 have them."""
    ratios = {(row.name, row.measure): row for row in result.relative if row.kind == "system"}
    rows = [
        {"system": item.system, "score": f"{item.score:g}",
         "inverse_score": f"{item.inverse_score:g}",
         "places": " ".join(map(str, item.places)),
         "inverse_places": " ".join(map(str, item.inverse_places))}
        | {f"{name}-{kind}": getattr(ratios[item.system, name], kind)
           for name in result.measures for kind in ("described", "pooled")}
        for item in result.placings
    ]  # fmt: skip
    measures = "".join(
        f"; {name}-{kind} = {name}{end}"
        for kind, end in (("described", ""), ("pooled", ", pooled"))
        for name in result.measures
    )
    return table(
        "placings", "Ratios to each editor's mean, and pooled over editors. Places: how often a"
        " system came first, second, ... by the sum of ratios; score: the sum of its places. Both"
        " as korotaev2022 describes them and as it computes them (time as mean speed over speed).",
        f"system:text{measures}; places:text; score:text;"
        " inverse_places:text = places, as computed; inverse_score:text = score, as computed",
        rows,
    )  # fmt: skip


def _relations(result: Effort) -> Table | None:
    if not result.relations:
        return None
    return table(
        "relations", "Rank correlations of effort with ratings and with the difficulty of"
                     " documents. Positive: worse ratings or harder documents go with more"
                     " effort.",
        "compared_with:text; measure:text; n:count; correlation = rank correlation; p:p",
        result.relations,
    )  # fmt: skip


def draw_effort(result: Effort) -> Drawing:
    """A panel per measure, a row per system; the thick bar is the 83% interval."""
    systems, units = result.systems, result.units
    figure = new_figure(2.9 * len(units) + 0.8, 1.2 + 0.42 * len(systems))
    panels = figure.subplots(1, len(units), sharey=True, squeeze=False)[0]
    for axes, (measure, unit) in zip(panels, units.items(), strict=True):
        for row, item in enumerate(reversed(systems)):
            level = item.measures[measure]
            for low, high, width in (
                (level.low, level.high, 1.2), (level.low83, level.high83, 4.0)
            ):  # fmt: skip
                axes.plot([low, high], [row, row], color=ACCENT, linewidth=width)
            axes.plot(level.mean, row, "o", color=INK, markersize=5)
        axes.set_ylim(-0.6, len(systems) - 0.4)
        tidy(axes, grid="x", title=measure)
        axes.set_xlabel(unit.replace(", ", ",\n"), color=INK, fontsize=8)
    names = [item.system for item in reversed(systems)]
    panels[0].set_yticks(range(len(systems)), names, parse_math=False)  # a name may have a $
    return figure
