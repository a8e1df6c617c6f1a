"""What was published about a campaign, or what its order says, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations, pairwise
from typing import Literal, NamedTuple

import polars as pl

from assay.audit.results import AuditedPair, Claim, ClaimCounts
from assay.errors import InputError, OptionError, need_known
from assay.results import Note
from assay.tables.load import Source, load


class Distinction(NamedTuple):
    """One system was said to be better than another."""

    better: str
    worse: str
    neighbours: bool


def read_published(source: Source, systems: Sequence[str]) -> list[Distinction]:
    """The distinctions that a small table makes between these systems.

    Columns ``better`` and ``worse``: a row is a distinction. Columns ``system`` and ``cluster``:
    systems of different clusters are distinct; ``system`` and ``rank``: those of different ranks.
    Number 1 is best; with both, clusters decide what is distinct and ranks who are neighbours.
    """
    raw = load(source, text=lambda name: name in ("system", "better", "worse"))
    frame, place = raw.frame, raw.source
    if {"better", "worse"} <= set(frame.columns):
        rows = frame.select("better", "worse").rows()
        half = [k for k, row in enumerate(rows, start=1) if None in row and any(row)]
        if half:
            raise InputError(
                f"{place}: row {half[0]} names one system only; name the other, or remove the row"
            )
        found = [
            Distinction(str(better).strip(), str(worse).strip(), True)
            for better, worse in rows
            if better is not None
        ]
    elif "system" in frame.columns and {"rank", "cluster"} & set(frame.columns):
        found = _from_places(frame, place)
    else:
        raise InputError(
            f"{place}: has no published distinctions; its columns must be system with rank or"
            f" cluster, or better and worse, not {', '.join(frame.columns)}"
        )
    if not found:
        raise InputError(f"{place}: makes no distinction between two systems; give at least one")
    return _checked(found, systems, place)


def _from_places(frame: pl.DataFrame, place: str) -> list[Distinction]:
    by = "cluster" if "cluster" in frame.columns else "rank"
    along = "rank" if "rank" in frame.columns else "cluster"
    numbers = {}
    for name in dict.fromkeys((by, along)):
        number = frame[name].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        if number.null_count():
            row = int(number.is_null().arg_max() or 0)
            bad = frame[name][row]
            value = "empty" if bad is None else f"'{bad}'"
            raise InputError(
                f"{place}: row {row + 1}: {name} is {value}, not a number; write 1 for the best"
            )
        numbers[name] = number.to_list()
    names = [str(name).strip() for name in frame["system"].to_list()]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"{place}: {twice[0]} is listed twice; keep one of the rows")
    for a, b in combinations(range(len(names)), 2):
        apart = (numbers[by][a] - numbers[by][b]) * (numbers[along][a] - numbers[along][b])
        if apart < 0:
            raise InputError(
                f"{place}: cluster and rank contradict each other for {names[a]} and {names[b]};"
                " correct one of them"
            )
    order = sorted(range(len(names)), key=lambda k: (numbers[by][k], numbers[along][k]))
    step = {value: k for k, value in enumerate(sorted(set(numbers[along])))}
    return [
        Distinction(names[a], names[b], step[numbers[along][b]] - step[numbers[along][a]] <= 1)
        for a, b in combinations(order, 2)
        if numbers[by][a] < numbers[by][b]
    ]


def _checked(found: list[Distinction], systems: Sequence[str], place: str) -> list[Distinction]:
    for item in found:
        for name in (item.better, item.worse):
            need_known("published", name, systems, f"of {place} has no answers")
        if item.better == item.worse:
            raise OptionError("published", item.better, "is better than itself", "name two systems")
    both = dict.fromkeys((item.better, item.worse) for item in found)
    for better, worse in both:
        if (worse, better) in both:
            raise OptionError(
                "published", f"{better}, {worse}", "are each said to be better than the other",
                "keep one of the two",
            )  # fmt: skip
    return list(dict.fromkeys(found))


def distinctions(published: Source | None, scores: Mapping[str, float]) -> list[Distinction]:
    """What was published; where nothing is given, what the order of the systems says."""
    if published is None:
        return plain_order(scores)
    return read_published(published, list(scores))


def plain_order(scores: Mapping[str, float]) -> list[Distinction]:
    """Every pair of systems whose scores differ, in the order given, best first.

    That of differences on common segments, by which systems are ranked, need not be that of scores.

    >>> [(item.better, item.worse) for item in plain_order({"B": 2.0, "A": 1.9, "C": 1.9})]
    [('B', 'A'), ('B', 'C')]
    """
    values = list(scores.values())
    rises = [0, *(a != b for a, b in pairwise(values))]
    step = dict(zip(scores, accumulate(rises), strict=True))
    return [
        Distinction(a, b, step[b] - step[a] == 1)
        for a, b in combinations(scores, 2)
        if scores[a] != scores[b]
    ]


def judge(said: Sequence[Distinction], pairs: Sequence[AuditedPair]) -> tuple[Claim, ...]:
    """Every distinction with its verdict."""
    known = {frozenset((pair.left, pair.right)): pair for pair in pairs}
    claims = []
    for item in said:
        pair = known[frozenset((item.better, item.worse))]
        decided: Literal["holds", "contradicted"]
        decided = "holds" if pair.better == item.better else "contradicted"
        verdict = decided if pair.decided else "open"
        holm = decided if pair.decided_holm else "open"
        claims.append(Claim(item.better, item.worse, item.neighbours, verdict, holm, pair.p))
    return tuple(claims)


def count_verdicts(claims: Sequence[Claim], *, given: bool) -> ClaimCounts:
    """The claims counted."""
    verdicts = [item.verdict for item in claims]
    return ClaimCounts(
        source="published" if given else "order of the scores",
        claims=len(claims),
        hold=verdicts.count("holds"),
        open=verdicts.count("open"),
        contradicted=verdicts.count("contradicted"),
        hold_holm=sum(item.verdict_holm == "holds" for item in claims),
        neighbours=sum(item.neighbours for item in claims),
        neighbours_hold=sum(item.neighbours and item.verdict == "holds" for item in claims),
    )


def unclaimed(claims: Sequence[Claim], systems: Sequence[str]) -> tuple[Note, ...]:
    """A note on systems with answers that are in no distinction."""
    named = {name for item in claims for name in (item.better, item.worse)}
    rest = ", ".join(name for name in systems if name not in named)
    return (Note("unclaimed", f"no distinction concerns {rest}"),) if rest else ()
