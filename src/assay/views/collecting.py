"""Who rates what, sheets and campaigns, and where a project stands, as sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from assay.collecting.results import (
    Assignment,
    CampaignStatus,
    CollectedSheets,
    Created,
    Exported,
    Imported,
    RaterLoad,
    Simulation,
    WrittenSheets,
)  # fmt: skip
from assay.collecting.status import ProjectStatus
from assay.results import money_text, percent, plural, time_text
from assay.views.section import Block, Section, Table, table


def assignment_section(result: Assignment) -> Section:
    """Who rates what."""
    raters: dict[str, set[str]] = {}
    for item in result.tasks:
        raters.setdefault(item.task, set()).add(item.rater)
    shared = sum(len(who) > result.per_output for who in raters.values())
    each = "one rater" if result.per_output == 1 else f"{result.per_output} raters"
    return Section(
        "assignment", "Who rates what", stage="collect",
        lead=f"{plural(len(raters), 'task')} for {plural(len(result.raters), 'rater')}: each goes"
        f" to {each}, {shared:,} of them ({percent(round(shared / len(raters), 3))}) to one more.",
        blocks=(_loads(result.loads),), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def _loads(loads: Sequence[RaterLoad]) -> Table:
    return table(
        "loads", "What every rater has to do; shared tasks are those that another rater has too.",
        "rater:text; tasks:count; outputs:count; shared:count = shared tasks; "
        "repeats:count = repeated tasks; checks:count",
        [asdict(load) for load in loads],
    )  # fmt: skip


def sheets_written_section(result: WrittenSheets) -> Section:
    """The sheets that raters get."""
    ratings = sum(load.outputs for load in result.loads)
    return Section(
        "sheets-written", "Sheets for raters", stage="collect",
        lead=f"{plural(len(result.loads), 'sheet')} in {result.folder}, a file for each rater:"
        f" {result.pay.counted(ratings, 'ratings')} in all. Key: {result.key} (keep it from the"
        " raters).",
        blocks=(_loads(result.loads),), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def sheets_collected_section(result: CollectedSheets) -> Section:
    """What came back from raters."""
    gaps = f", {result.unrated:,} of them without a score" if result.unrated else ""
    return Section(
        "sheets-collected", "What raters sent back", stage="collect",
        lead=f"{plural(result.rows, 'rating')} by {plural(len(result.raters), 'rater')}{gaps},"
        f" written to {result.written}.",
        blocks=(), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def campaign_created_section(result: Created) -> Section:
    """A campaign that was made."""
    once = f"; {result.merged:,} equal another system's and are shown once" if result.merged else ""
    watched = f", and {plural(result.checks, 'check')} of attention" if result.checks else ""
    return Section(
        "campaign-created", "A new campaign", stage="collect",
        lead=f"{plural(result.tasks, 'task')} with {plural(result.outputs, 'output')} for"
        f" {plural(len(result.links.raters), 'rater')}{watched}{once}, in {result.dir}.",
        blocks=(table(
            "links", "Everybody's link; hand it over as you would a password.",
            "who:text; token:text",
            [{"who": link.rater, "token": link.token} for link in result.links.raters],
        ),),
        signature=result.signature,
    )  # fmt: skip


def campaign_status_section(result: CampaignStatus) -> Section:
    """How a campaign stands."""
    waiting = ""
    if result.waiting:
        verb = "waits" if result.waiting == 1 else "wait"
        waiting = f"; {plural(result.waiting, 'answer')} {verb} for earlier tasks"
    complete = "is complete" if result.beginning == 1 else "are complete"
    excluded = any(rater.state == "excluded" for rater in result.raters)
    without = " without the excluded raters" if excluded else ""
    spent, currency = result.spent, result.currency or ""
    cost = "" if spent is None else f" Spent: {spent:,.2f}{' ' * bool(currency)}{currency}."
    raters = table(
        "raters", "Tasks done and open, minutes of work, and checks of attention passed.",
        "rater:text; state:text; done:count; open:count; minutes; "
        "checks_passed,checks:of = checks",
        [asdict(rater) | {"minutes": rater.seconds / 60} for rater in result.raters],
    )  # fmt: skip
    return Section(
        "campaign-status", f"{result.name}: {result.state}", stage="collect",
        lead=f"{result.done:,} of {plural(result.tasks, 'task')} are done,"
        f" {plural(result.answers, 'answer')} in; the first {plural(result.beginning, 'task')}"
        f" {complete}{without}{waiting}.{_looks(result)}{cost}",
        blocks=(raters,), signature=result.signature, notes=tuple(result.told),
    )  # fmt: skip


def _looks(result: CampaignStatus) -> str:
    """The looks that took place, and the next one."""
    if not result.looks and result.next_look is None:
        return ""
    line = f" {plural(len(result.looks), 'look')} taken"
    if result.looks:
        last = result.looks[-1]
        line += f", {last['decided']:,} of {last['pairs']:,} decided at the last"
    return line + ("." if result.next_look is None else f"; the next at {result.next_look:,}.")


def campaign_export_section(result: Exported) -> Section:
    """The tables that were written."""
    files = [
        {"file": path, "rows": rows}
        for path, rows in zip(result.written, result.tables.values(), strict=True)
    ]
    return Section(
        "campaign-export", "Tables of a campaign", stage="collect",
        lead=f"{plural(len(result.written), 'table')} with {plural(result.rows, 'row')}.",
        blocks=(table(
            "tables", "The files and their rows.",
            "file:text; rows:count", files,
        ),),
        signature=result.signature,
        next=() if result.project is None else (
            "`assay estimate`, `raters` and the others repeat the campaign's numbers in that"
            f" folder: {result.project} holds its metrics and its scale",
        ),
    )  # fmt: skip


def campaign_import_section(result: Imported) -> Section:
    """Answers of another tool in a campaign."""
    new = f" New raters: {', '.join(result.new_raters)}." if result.new_raters else ""
    rows = [
        {"what": "new", "answers": result.answers},
        {"what": "there already", "answers": result.same},
        {"what": "changed, a new revision", "answers": result.changed},
    ]
    return Section(
        "campaign-import", "Answers of another tool", stage="collect",
        lead=f"{plural(result.answers, 'answer')} by {plural(len(result.raters), 'rater')} came in"
        f" from {result.file} ({result.format}); {plural(result.tasks, 'task')} became"
        f" complete.{new}",
        blocks=(table(
            "answers", "What became of the answers in the file.",
            "what:text = answers that are; answers:count = number", rows,
        ),),
        signature=result.signature, notes=result.notes,
    )  # fmt: skip


def campaign_simulation_section(result: Simulation) -> Section:
    """A campaign that simulated raters worked through."""
    careless = {one.rater for one in result.raters if one.manner == "careless"}
    caught, wrong = careless & set(result.named), set(result.named) - careless
    lead = (
        f"{plural(len(result.raters), 'simulated rater')} did {plural(result.tasks, 'task')} with"
        f" {plural(result.answers, 'answer')} in {result.hours:,.1f} hours of the campaign's clock."
    )
    if careless:
        lead += (
            f" Checks and agreement give away {len(caught)} of {len(careless)} careless raters,"
            f" and {len(wrong)} of the others."
        )
    return Section(
        "campaign-simulation", "A rehearsal", stage="collect", lead=lead,
        blocks=(table(
            "raters", "How every rater worked, and how much.",
            "rater:text; manner:text; tasks:count; answers:count; hours",
            result.raters,
        ),),
        signature=result.signature,
        next=() if caught == careless else (
            "more checks (checks.share) or more overlap (raters.overlap) give away more careless"
            " raters",
        ),
    )  # fmt: skip


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
