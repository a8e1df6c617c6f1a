"""``assay campaign``: commands for a campaign that is running or finished."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from assay.cli import deliver, names, people, progress_bars, refuse_alone, tell
from assay.cli.campaign import campaign, need_campaign, opened_campaign
from assay.cli.options import Count, File, Text
from assay.errors import InputError, OptionError, need_known

if TYPE_CHECKING:
    from assay.results import Result


@campaign.command("status")
def status(folder: Path, *, save: File = None, json: bool = False) -> None:
    """Show a campaign's progress: tasks, answers, raters, cost, and what its looks decided.

    Outdated results are computed anew, unless a server is running.

    Example: assay campaign status news
    """
    _compute_results(folder)
    with opened_campaign(folder) as opened:
        deliver(opened.status(), save, json)


def _steer(folder: Path, method: str, body: dict[str, Any], json: bool) -> None:
    """Ask the running server, or act directly if there is none; then print the status."""
    from assay.campaign.client import WireClient, WireError
    from assay.campaign.keys import read_keys

    keys = read_keys(folder)
    if keys.served is not None and _answers(keys.served):
        try:
            with WireClient(keys.served, keys.owner) as client:
                (own,) = client.get("/api/campaigns")
                path = {"change_rule": "rule"}.get(method, method)
                client.post(f"/c/{own['slug']}/{path}", body)
        except WireError as error:
            raise InputError(error.sentence) from None
    else:
        with opened_campaign(folder, write=True) as opened:
            getattr(opened, method)(**body, actor="owner")
    _compute_results(folder)
    with opened_campaign(folder) as opened:
        deliver(opened.status(), None, json)


def _compute_results(folder: Path) -> None:
    """Take the looks that are due and compute the results, unless a server is running."""
    from assay.campaign.keys import read_keys
    from assay.campaign.live.results import bring_up_to_date

    keys = read_keys(folder)
    if keys.served is not None and _answers(keys.served):
        return
    try:
        with opened_campaign(folder, write=True) as opened:
            bring_up_to_date(opened)
    except (InputError, OSError):
        return  # the store is in use or read-only: show what is stored


def campaign_results(folder: Path) -> Result:
    """The newest results of a campaign, for a report; else its status."""
    need_campaign()
    _compute_results(folder)
    with opened_campaign(folder) as opened:
        return opened.results() or opened.status()


def _answers(address: str) -> bool:
    """Whether the server still runs; a killed one leaves its address behind."""
    from assay.campaign.client import WireClient

    try:
        with WireClient(address, "", tries=1) as client:
            client.get("/healthz")
    except OSError:
        return False
    return True


def _turn(name: str, said: str, more: str = "") -> None:
    """A command that changes the state of a campaign."""

    def command(folder: Path, *, reason: Text = None, json: bool = False) -> None:
        _steer(folder, name, {"reason": reason}, json)

    command.__doc__ = f"{said}\n\nExample: assay campaign {name} news{more}"
    campaign.command(name)(command)


_turn("open", "Open a campaign: raters get tasks.")
_turn(
    "pause", "Pause a campaign: raters get no new tasks, but can send the one they have.",
    ' --reason "new guidelines"',
)  # fmt: skip
_turn("resume", "Resume a paused campaign.")


@campaign.command("close")
def close(folder: Path, *, reason: Text = None, yes: bool = False, json: bool = False) -> None:
    """Close a campaign for good: no more answers are accepted.

    On a terminal it asks first; --yes skips the question, scripts are not asked.

    Example: assay campaign close news
    """
    if not (yes or json) and sys.stdin.isatty() and sys.stderr.isatty():
        typer.confirm("A closed campaign cannot be opened again. Close it?", abort=True, err=True)
    _steer(folder, "close", {"reason": reason}, json)


@campaign.command("exclude")
def exclude(folder: Path, rater: str, *, reason: str, json: bool = False) -> None:
    """Exclude a rater: their tasks go to others, their answers are kept but not counted.

    Example: assay campaign exclude news rater-3 --reason "answers at random"
    """
    _steer(folder, "exclude", {"rater": rater, "reason": reason}, json)


@campaign.command("restore")
def restore(folder: Path, rater: str, *, json: bool = False) -> None:
    """Restore an excluded rater.

    Example: assay campaign restore news rater-3
    """
    _steer(folder, "restore", {"rater": rater}, json)


@campaign.command("rule")
def rule(
    folder: Path, goal: Literal["ranking", "score", "budget"], *, reason: str,
    half_width: float | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Change when a running campaign ends; looks already taken stay as they are.

    The event log and the report record the change.

    Example: assay campaign rule news budget --reason "the rest is paid already"
    """
    _steer(folder, "change_rule", {"goal": goal, "target": half_width, "reason": reason}, json)


@campaign.command("export")
def export(
    folder: Path, *, output: File = None, format: Text = None, lp: Text = None, tables: Text = None,
    type: Literal["tsv", "csv", "jsonl", "parquet", "xlsx"] | None = None, look: Count = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Write the answers as tables, which `assay estimate`, `rank` and `effort` read.

    Checks and repeats are marked, and no estimate counts them; answers of excluded raters are left
    out. --format writes the files of another tool: mt-metrics-eval, google-mqm, appraise, pearmut,
    label-studio, wmt-rnk or xliff. With --look, `assay estimate` and the others reproduce the
    numbers of that look exactly.

    Example: assay campaign export news -o tables

    Example: assay campaign export news --look 2 -o look-2

    Example: assay campaign export news --format pearmut
    """
    from assay.campaign.exchange.export import export_tables
    from assay.campaign.exchange.tools import TOOLS, export_format

    if format is not None:
        need_known("format", format, ["tables", *TOOLS])
    if look is not None:
        _compute_results(folder)
    with opened_campaign(folder) as opened:
        found, settings = opened.collected(look), opened.settings
    if format not in (None, "tables"):
        for name, value in (("tables", tables), ("type", type)):
            if value is not None:
                raise OptionError(name, value, "applies to tables", "leave out --format")
        result = export_format(found, settings, output or folder / format, format, lp=lp)
        deliver(result, save, json)
        return
    refuse_alone("lp", lp, "format", None)
    wanted = names(tables)
    result = export_tables(
        found, output or folder / "tables", tables=wanted, ending=f".{type or 'tsv'}",
        settings=settings,
    )  # fmt: skip
    deliver(result, save, json)


@campaign.command("import")
def import_(
    folder: Path, file: Path, *, format: Text = None, lp: Text = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Import answers from pearmut, Appraise or Label Studio (--format).

    A file is imported completely or not at all. Outputs, texts, scores and marks are checked
    against the campaign. A file can be imported again after it has grown. Stop the server first.

    Example: assay campaign import news annotations.jsonl --format pearmut
    """
    from assay.campaign.exchange.imports import READERS, import_answers

    if format is None:
        fault, remedy = "which tool wrote the file?", f"choose from {', '.join(READERS)}"
        raise OptionError("--format", "not given", fault, remedy)
    with opened_campaign(folder, write=True) as opened:
        deliver(import_answers(opened, file, format, lp=lp), save, json)


@campaign.command("backup")
def backup(folder: Path, *, output: Path, json: bool = False) -> None:
    """Copy a campaign's store while it runs.

    Example: assay campaign backup news -o news-monday.db
    """
    if output.exists():
        raise InputError(f"'{output}' already exists; choose another file")
    with opened_campaign(folder) as opened:
        opened.backup(output)
    tell({"written": [str(output)]}, json, f"written to {output}")


@campaign.command("rebuild")
def rebuild(folder: Path, *, json: bool = False) -> None:
    """Rebuild the state of tasks and raters from the answers and events.

    Example: assay campaign rebuild news
    """
    with opened_campaign(folder, write=True) as opened:
        opened.rebuild()
        deliver(opened.status(), None, json)


@campaign.command("forget")
def forget(folder: Path, rater: str, *, json: bool = False) -> None:
    """Remove a rater's personal data; the answers stay, under a new code name.

    Example: assay campaign forget news rater-3
    """
    from assay.campaign.keys import read_keys, write_keys

    with opened_campaign(folder, write=True) as opened:
        code_name = opened.forget(rater)
    keys = read_keys(folder)
    rest = {name: token for name, token in keys.raters.items() if name != rater}
    write_keys(folder, replace(keys, raters=rest))
    said = f"the personal data of {rater} is removed; the answers are kept under {code_name}"
    tell({"rater": code_name}, json, said)


@campaign.command("simulate")
def simulate(
    folder: Path, *, raters: Text = None, careless: int = 0, leaving: int = 0, seed: Count = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Rehearse a campaign that has no answers yet, with simulated raters.

    They use HTTP like the raters' page, and the campaign's clock runs fast. Their answers are
    stored. Raters are added if the campaign has too few.

    Example: assay campaign simulate rehearsal --careless 3 --leaving 4
    """
    from assay.campaign.keys import read_keys
    from assay.campaign.simulated.rehearsal import rehearse
    from assay.campaign.web.background import serving

    keys = read_keys(folder)
    with progress_bars() as progress:
        result = rehearse(
            keys.store or folder, serving, keys.raters,
            raters=None if raters is None else people(raters), careless=careless,
            leaving=leaving, rng=seed, progress=progress,
        )  # fmt: skip
    deliver(result, save, json)
