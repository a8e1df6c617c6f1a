"""Scores on the whole test set, for all of it and for its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.designs.base import SamplingDesign, design_of
from assay.errors import InputError
from assay.views.figures import draw_intervals, draw_pairs
from assay.views.section import (
    Figure,
    Section,
    Table,
    cluster_lines,
    need,
    needed,
    plural,
    ranks,
    table,
)

PAIRS_ON_PAGE = 45
"""With more differences than this, a page lists the undecided ones."""

NAMED = ("hoeffding", "bernstein")
"""Intervals that bear a person's name."""
METHODS = {
    "mean": ("the mean of the ratings, weighted by the inclusion probabilities", ("cochran1977",)),
    "regression": (
        "a regression estimator that corrects the mean by what the automatic metrics say of the"
        " segments that were not rated",
        ("sarndal1992", "saldias2022"),
    ),
    "cv": ("automatic metrics as control variates", ("saldias2022",)),
}


def estimates_section(result: Mapping[str, Any]) -> Section:
    """Every system's score with its interval, and what is decided between them."""
    need(result, better=str, level=float, method=str, interval=str, design=str, signature=str,
         notes=list)  # fmt: skip
    systems = needed(result, "systems", system=str, estimate=float, n=int, population=int,
                     rank=int, low_rank=int, high_rank=int, cluster=int)  # fmt: skip
    if not systems:
        raise InputError("the saved result has no systems; write it again with --json")
    pairs = needed(result, "differences", left=str, right=str, decided=bool)
    truth = result.get("truth")
    blocks: list[Table | Figure | str] = [_interval_figure(result, truth), _scores(result, truth)]
    if len(systems) > 2:
        blocks.append(Figure(
            "decided", "Row against column: filled where the row's system is decided to be better,"
            " a dot where nothing is decided.", lambda: draw_pairs(systems, pairs),
        ))  # fmt: skip
    if pairs:
        blocks.append(_differences(pairs))
    if result.get("comparison") and not _design(result).everything:
        blocks.append(_comparison(result["comparison"]))
    return Section(
        name="estimates",
        title="Scores on the whole test set",
        lead=_lead(result, systems, pairs),
        blocks=tuple(blocks),
        signature=result["signature"],
        question=_question(len(systems), systems[0]["population"]),
        methods=_methods(result, systems, pairs),
        sources=_sources(result),
        next=tuple(result.get("next", ())),
        notes=tuple(result["notes"]),
    )


def _question(systems: int, segments: int) -> str:
    if systems == 1:
        return f"How good is the system on a test set of {segments:,} segments?"
    return (
        f"How good are {systems} systems on a test set of {segments:,} segments, and which"
        " differences between them are real?"
    )


def _lead(
    result: Mapping[str, Any], systems: list[Mapping[str, Any]], pairs: list[Mapping[str, Any]]
) -> str:
    best, better = systems[0], result["better"]
    if len(systems) == 1:
        ends = (best.get("low"), best.get("high"))
        width = (
            ""
            if None in ends
            else f", {100 * result['level']:g} % interval {ends[0]:.3f} to {ends[1]:.3f}"
        )
        return (
            f"{best['system']} is estimated at {best['estimate']:.3f}{width} ({better} is better)."
        )
    rivals = [item["system"] for item in systems[1:] if item["low_rank"] == 1]
    decided = sum(item["decided"] for item in pairs)
    alone = (
        "and nothing else can be first"
        if not rivals
        else f"but {_some(rivals)} may be as good or better"
    )
    open_ones = len(pairs) - decided
    rest = f"; the other {open_ones} may go either way" if open_ones else ""
    if _design(result).everything and result.get("target") != "new-documents" and open_ones:
        rest = (
            f"; the other {open_ones} are equal"
            if all(not item.get("difference") for item in pairs if not item["decided"])
            else rest
        )
    verb = "is" if len(pairs) == 1 else "are"
    return (
        f"{best['system']} has the best estimated score, {best['estimate']:.3f} on a scale where"
        f" {better} is better, {alone}. {decided} of {plural(len(pairs), 'difference')} between"
        f" systems {verb} decided at the {100 * result['level']:g} % level{rest}."
    )


def _some(names: list[str], most: int = 4) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) <= most:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def _interval_figure(result: Mapping[str, Any], truth: Mapping[str, float] | None) -> Figure:
    level = 100 * result["level"]
    known = " Diamond: the true score, known because this campaign is simulated." if truth else ""
    return Figure(
        "scores",
        f"Dot: estimate. Bar: {level:g} % interval.{known}",
        lambda: draw_intervals(result["systems"], better=result["better"], truth=truth),
    )


def _scores(result: Mapping[str, Any], truth: Mapping[str, float] | None) -> Table:
    rows = [
        dict(item) | {"range": ranks(item), "truth": (truth or {}).get(item["system"])}
        for item in result["systems"]
    ]
    return table(
        "scores",
        "Systems, best first. A rank range holds the ranks that the decided differences leave"
        " open; a line closes a cluster, a group that nothing decided divides.",
        {"system": ("System", "text"), "estimate": ("Estimate", "number"), "low": ("Low", "number"),
         "high": ("High", "number"), "truth": ("Truth", "number"), "n": ("Rated", "count"),
         "population": ("of", "count"), "rank": ("Rank", "count"), "range": ("Ranks", "count"),
         "cluster": ("Cluster", "count")},
        rows,
        cluster_lines(result["systems"]),
    )  # fmt: skip


def _differences(pairs: list[Mapping[str, Any]]) -> Table:
    undecided_only = len(pairs) > PAIRS_ON_PAGE
    # The undecided ones first where not all are shown: they are what is left to do.
    listed = sorted(pairs, key=lambda item: bool(item["decided"])) if undecided_only else pairs
    return table(
        "differences",
        "Left minus right, on the segments rated for both; decided when the interval leaves out"
        " zero." + (" The undecided ones come first." if undecided_only else ""),
        {"left": ("Left", "text"), "right": ("Right", "text"),
         "difference": ("Difference", "number"), "low": ("Low", "number"),
         "high": ("High", "number"), "p": ("p", "p"), "n": ("Rated", "count"),
         "decided": ("Decided", "text")},
        listed,
    )  # fmt: skip


def _comparison(two: Mapping[str, Any]) -> str:
    """What the ratings of two systems could have found."""
    need(two, left=str, right=str, n=int, power=float, population=int)
    if two.get("detectable") is None:
        return f"{two['left']} against {two['right']}: there are too few ratings to say more."
    more = (
        "" if two.get("needed") is None
        else f" One as large as the observed takes {two['needed']:,} of {two['population']:,}."
    )  # fmt: skip
    return (
        f"{two['left']} against {two['right']}: {two['n']:,} ratings per system find a difference"
        f" of {two['detectable']:.3f} with {100 * two['power']:g} % probability.{more}"
    )


def _methods(
    result: Mapping[str, Any], systems: list[Mapping[str, Any]], pairs: list[Mapping[str, Any]]
) -> str:
    rated, of = sorted({item["n"] for item in systems}), systems[0]["population"]
    number = f"{rated[0]:,}" if len(rated) == 1 else f"{rated[0]:,} to {rated[-1]:,}"
    seed = "" if result.get("seed") is None else f" (seed {result['seed']})"
    new = result.get("target") == "new-documents"
    goal = "on documents like those of a test set" if new else "on a test set"
    begin = (
        f"We estimated the mean human score of {plural(len(systems), 'system')} {goal} of {of:,}"
    )
    if _design(result).everything:
        how = " segments, all of which were rated; scores are plain means."
        how += _uncertainty(result) if new else " They have no sampling error."
        return begin + how + _prepared(result)
    chosen = f" segments, of which {number} were rated for each system, chosen by"
    compared = (
        " Systems were compared on the segments rated for both, without correction for the number"
        " of comparisons." if pairs else ""
    )  # fmt: skip
    return (
        f"{begin}{chosen} {_design(result).described}{seed}. Scores were estimated by"
        f" {_estimator(result)}.{_uncertainty(result)}{compared}{_prepared(result)}"
    )


def _uncertainty(result: Mapping[str, Any]) -> str:
    if result.get("target") == "new-documents":
        return (
            f" {100 * result['level']:g} % intervals come from the spread between documents, as if"
            " these were drawn at random from all of their kind."
        )
    name = result["interval"].capitalize() if result["interval"] in NAMED else result["interval"]
    return (
        f" {100 * result['level']:g} % intervals ({name}) take into account how the segments were"
        " drawn."
    )


def _design(result: Mapping[str, Any]) -> SamplingDesign:
    return design_of(result.get("drawn") or result["design"])


def _estimator(result: Mapping[str, Any]) -> str:
    words, _ = _method(result)
    if result["method"] == "mean":
        return words
    used = [name for name in result.get("metrics") or () if name != "history"]
    named = f" ({', '.join(used)})" if used and "single" not in result["method"] else ""
    other = " and ratings of other systems" if "history" in (result.get("metrics") or ()) else ""
    return f"{words}{named}{other}"


def _prepared(result: Mapping[str, Any]) -> str:
    """What was done to the ratings beforehand."""
    said = ""
    for change in result.get("changed") or ():
        if change.startswith("raters:-"):
            said += f" The ratings of {plural(int(change[8:]), 'rater')} were left out."
        elif change == "severity:removed":
            said += " Differences in severity between raters were removed beforehand."
    return said


def _method(result: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Words and sources; where systems differ in method, those of the one that uses metrics."""
    name = result["method"].split("+")[-1]
    return METHODS.get(name.split("-")[0], (name, ()))


def _sources(result: Mapping[str, Any]) -> tuple[str, ...]:
    _, of_method = _method(result)
    of_interval = ("waudbysmith2024",) if result["interval"] == "betting" else ()
    return (*_design(result).sources, *of_method, *of_interval)


def breakdown_section(result: Mapping[str, Any]) -> Section:
    """Every system in every group of segments."""
    need(result, by=str, better=str, level=float, signature=str, notes=list, intervals=int)
    rows = needed(result, "estimates", group=str, system=str, n=int, population=int)
    groups = needed(result, "groups", group=str, population=int, decided=int, pairs=int)
    decided = sum(item["decided"] for item in groups)
    pairs = sum(item["pairs"] for item in groups)
    lead = (
        f"Seen by {result['by']}, in {plural(len(groups), 'group')}: {decided} of {pairs}"
        f" differences inside the groups are decided. Among {result['intervals']:,} intervals at"
        f" the {100 * result['level']:g} % level, about"
        f" {result['intervals'] * (1 - result['level']):.0f} miss their truth by chance alone."
    )
    sizes = table(
        f"groups-{result['by']}", "The groups.",
        {"group": (result["by"].capitalize(), "text"), "population": ("Segments", "count"),
         "decided": ("Decided", "count"), "pairs": ("of", "count")},
        groups,
    )  # fmt: skip
    scores = table(
        f"by-{result['by']}", f"Scores by {result['by']} ({result['better']} is better).",
        {"group": (result["by"].capitalize(), "text"), "system": ("System", "text"),
         "estimate": ("Estimate", "number"), "low": ("Low", "number"), "high": ("High", "number"),
         "n": ("Rated", "count"), "population": ("of", "count")},
        rows,
    )  # fmt: skip
    return Section(
        f"by-{result['by']}", f"Scores by {result['by']}", lead, (sizes, scores),
        result["signature"], notes=tuple(result["notes"]),
    )  # fmt: skip


def monitoring_section(result: Mapping[str, Any]) -> Section:
    """Whether enough has been rated."""
    need(result, stop=bool, n=int, population=int, target=float, goal=str, signature=str,
         notes=list, guarantee=bool)  # fmt: skip
    items = needed(result, "items", what=str, n=int)
    verdict = "Enough has been rated" if result["stop"] else "More has to be rated"
    each = "system" if result["goal"] == "score" else "pair of systems"
    decision = "" if result["goal"] == "score" else "a decision, or "
    sure = (
        " The verdict may be looked at as often as one likes (any-time betting interval)."
        if result["guarantee"]
        else " The goal must be met at two looks in a row."
    )
    lead = (
        f"{verdict}: {result['n']:,} of {result['population']:,} segments are rated, and the goal"
        f" is {decision}an interval of ±{result['target']:g} for every {each}.{sure}"
    )
    made = table(
        "monitoring",
        "Where each stands; reached is the number of ratings at which the goal was first met, more"
        " how many more are expected.",
        {"what": (each.capitalize(), "text"), "estimate": ("Estimate", "number"),
         "low": ("Low", "number"), "high": ("High", "number"), "n": ("Rated", "count"),
         "reached": ("Reached", "count"), "more": ("More", "count")},
        items,
    )  # fmt: skip
    return Section("monitoring", "Is it enough?", lead, (made,), result["signature"],
                   notes=tuple(result["notes"]))  # fmt: skip


def evaluation_section(result: Mapping[str, Any]) -> Section:
    """Estimators on a fully rated test set."""
    need(result, draws=int, signature=str)
    rows = needed(result, "methods", method=str, error=float)
    best = min(rows, key=lambda row: row["error"])
    gain = best.get("gain")
    more = f", {gain:.1f} % below the plain mean of a random sample" if gain else ""
    shown = table(
        "methods", "Mean absolute error over samples, systems and sizes; gain against the plain"
        " mean in percent; coverage of the intervals.",
        {"method": ("Method", "text"), "error": ("Error", "number"), "sd": ("sd", "number"),
         "gain": ("Gain %", "number"), "gain_error": ("±", "number"), "win": ("Wins", "percent"),
         "bias": ("Bias", "number"), "coverage": ("Coverage", "percent"),
         "worst_coverage": ("worst", "percent"), "half_width": ("Half-width", "number")},
        rows,
    )  # fmt: skip
    lead = (
        f"Over {result['draws']:,} samples of each size, {best['method']} has the smallest error,"
        f" {best['error']:.3f}{more}."
    )
    blocks = (shown, _stops(result)) if result.get("stopping") else (shown,)
    return Section("evaluation", "Estimators tried", lead, blocks, result["signature"],
                   sources=("saldias2022",))  # fmt: skip


def _stops(result: Mapping[str, Any]) -> Table:
    return table(
        "stopping", "Where rating would have stopped, and how often the interval then held the"
        " truth.",
        {"method": ("Method", "text"), "system": ("System", "text"), "share": ("Rated", "percent"),
         "coverage": ("Coverage", "percent")},
        needed(result, "stopping", method=str),
    )  # fmt: skip


def raters_section(result: Mapping[str, Any]) -> Section:
    """Every rater, and how far they agree."""
    need(result, ratings=int, outputs=int, overlapping=int, signature=str, notes=list,
         outliers=list)  # fmt: skip
    raters = needed(result, "raters", rater=str, n=int)
    alpha = result.get("alpha")
    agree = (
        "Nothing can be said of their agreement: "
        + ("no output has two ratings." if not result["overlapping"] else "all ratings are equal.")
        if alpha is None
        else f"Their agreement is {alpha:.2f} (Krippendorff's alpha, 1 is perfect) on"
        f" {result['overlapping']:,} outputs that two or more of them rated."
    )
    apart = result["outliers"]
    stands = f" {', '.join(apart)} stand{'s' if len(apart) == 1 else ''} apart." if apart else ""
    shown = table(
        "raters",
        "Severity: how many points worse than the average rater, on the same outputs.",
        {"rater": ("Rater", "text"), "n": ("Ratings", "count"), "mean": ("Mean", "number"),
         "severity": ("Severity", "number"), "stderr": ("±", "number"),
         "spread": ("Spread", "number"), "correlation": ("Correlation", "number"),
         "seconds": ("Seconds", "number"), "skipped": ("Skipped", "count"),
         "checks": ("Checks", "count"), "passed": ("Passed", "count"),
         "outlier": ("Apart", "text")},
        raters,
    )  # fmt: skip
    return Section(
        "raters",
        "The raters",
        f"{plural(len(raters), 'rater')} gave {result['ratings']:,} ratings. {agree}{stands}",
        (shown, _scores_by_rater(result)) if result.get("estimates") else (shown,),
        result["signature"],
        methods=(
            "" if alpha is None
            else f"Agreement between raters was {alpha:.2f} (Krippendorff's alpha, interval scale)."
        ),
        sources=() if alpha is None else ("krippendorff2011",),
        notes=tuple(result["notes"]),
    )  # fmt: skip


def _scores_by_rater(result: Mapping[str, Any]) -> Table:
    rows = [
        dict(item) | {"rater": item["rater"] or "all"}
        for item in needed(result, "estimates", system=str, estimate=float)
    ]
    return table(
        "scores-by-rater", "Every system's score on the whole test set, by all raters and by each.",
        {"rater": ("Rater", "text"), "system": ("System", "text"),
         "estimate": ("Estimate", "number"), "low": ("Low", "number"), "high": ("High", "number"),
         "n": ("Rated", "count")},
        rows,
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "raters": raters_section,
    "monitoring": monitoring_section,
    "estimates": estimates_section,
    "breakdown": breakdown_section,
    "evaluation": evaluation_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
