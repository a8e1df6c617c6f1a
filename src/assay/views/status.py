"""Where a project stands, as a section."""

from __future__ import annotations

from dataclasses import asdict

from assay.collecting.status import ProjectStatus
from assay.results import money_text, percent, plural, time_text
from assay.views.section import Block, Section, table

MOST_PAIRS = 12
"""Open pairs that are listed; of many only the cheapest to decide."""


def status_section(result: ProjectStatus) -> Section:
    """How much is in, what is decided, what is open."""
    lead = [_progress(result), *_figures(result)]
    blocks: list[Block] = [_systems(result)]
    if result.raters:
        blocks.append(_raters(result))
    if result.pairs.undecided:
        blocks.append(_pairs(result))
    return Section(
        "status", "Where the project stands", " ".join(lead), tuple(blocks), result.signature,
        stage="collect", next=result.next, notes=result.warnings,
    )  # fmt: skip


def _progress(result: ProjectStatus) -> str:
    """How much is in, and what it took."""
    if result.state == "new":
        return "Nothing is drawn and nothing is rated yet."
    if result.state == "drawn":
        return f"{plural(result.drawn or 0, 'segment')} are drawn; nothing is rated yet."
    if result.state == "sent":
        return (
            f"{plural(len(result.raters), 'sheet')} with"
            f" {result.pay.counted(result.planned or 0, 'outputs')} are out; nothing has come back"
            " yet."
        )
    of = "" if result.planned is None else f" of {result.planned:,}"
    text = f"{result.rated:,}{of} ratings are in"
    if result.planned:
        text += f" ({percent(round(result.rated / result.planned, 2))})"
    spent = [] if result.spent.hours is None else [time_text(60 * result.spent.hours)]
    if result.spent.money is not None:
        spent.append(money_text(result.spent.money, result.pay.currency))
    return f"{text}: {', '.join(spent)} so far." if spent else f"{text}."


def _figures(result: ProjectStatus) -> list[str]:
    """What the ratings decide, and on what that rests."""
    pairs = result.pairs.decided + result.pairs.open
    if result.basis is None or not result.systems:
        return []
    if result.basis == "orientation":
        return ["Scores are provisional and nothing is decided yet: the beginning of the"
                " sample has gaps."]  # fmt: skip
    lines = []
    if result.basis == "beginning":
        waits = f"; {plural(result.waiting, 'later answer')} wait" if result.waiting else ""
        lines.append(
            f"Scores rest on the first {result.segments:,} of {result.drawn:,} segments, which are"
            f" complete{waits}."
        )
    if pairs:
        best = "" if result.best is None else f" {result.best} is best."
        lines.append(
            f"{result.pairs.decided:,} of {plural(pairs, 'pair')} of systems"
            f" {'is' if result.pairs.decided == 1 else 'are'} decided.{best}"
        )
    return lines


def _systems(result: ProjectStatus) -> Block:
    shown = "system:text; rated:count; planned:count = of; estimate = score"
    caption = "Outputs rated"
    if result.basis == "orientation":
        caption += ", and the provisional mean of the ratings so far."
    elif result.basis is not None:
        shown += f"; low,high:interval = {percent(result.level)} interval; ranks:text"
        caption += ", and scores on the whole test set."
    else:
        caption += "."
    rows = [asdict(item) | {"ranks": _ranks(item.low_rank, item.high_rank)}
            for item in result.systems]  # fmt: skip
    return table("status-systems", caption, shown, rows)


def _ranks(low: int | None, high: int | None) -> str | None:
    if low is None or high is None:
        return None
    return str(low) if low == high else f"{low}–{high}"


def _raters(result: ProjectStatus) -> Block:
    rows = [
        asdict(item) | {
            "checks": f"{item.passed}/{item.checks}" if item.checks else None,
            "doubts": "; ".join(item.doubts) or None,
        }
        for item in result.raters
    ]  # fmt: skip
    return table(
        "status-raters", "What each rater has done.",
        "rater:text; rated:count; planned:count = of; checks:text = checks passed; "
        "doubts:text = stands out",
        rows,
    )  # fmt: skip


def _pairs(result: ProjectStatus) -> Block:
    listed = result.pairs.undecided[:MOST_PAIRS]
    rest = len(result.pairs.undecided) - len(listed)
    caption = "Undecided pairs, and about how many more ratings decide each with 80% probability."
    if all(pair.ratings is None for pair in listed):
        caption = "Undecided pairs; more segments of this test set are unlikely to decide them."
    elif any(pair.ratings is None for pair in listed):
        caption += " Where there is no number, more segments of this test set will not decide it."
    if rest:
        caption += f" {rest} more are undecided."
    return table(
        "status-pairs", caption,
        "left:text; right:text; difference; ratings:count = more ratings; cost:text",
        [asdict(pair) | {"cost": result.pay.cost(pair.ratings) or None} for pair in listed],
    )  # fmt: skip
