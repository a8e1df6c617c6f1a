"""``assay campaign``: what an owner does with a campaign that runs, or has run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli import deliver, names, progress_bars, refuse_alone, say
from assay.cli.campaign import Folder, campaign, need_campaign, opened_campaign
from assay.cli.options import FORMAT, HALF_WIDTH_OPTION, JSON, LP, RATERS, SAVE, SAVE_ONLY, SEED
from assay.errors import InputError, OptionError, need_known
from assay.results import Result

REASON = Annotated[str | None, typer.Option("--reason", help="Why; kept in the list of events.")]
RATER = Annotated[str, typer.Argument(help="The rater.", metavar="RATER")]


@campaign.command("status")
def status(folder: Folder, save: SAVE = None, json: JSON = False) -> None:
    """How a campaign stands: tasks, answers, raters, cost, and what its looks decided.

    Results are computed where they are not current and no server is at work.

    Example: assay campaign status news
    """
    need_campaign()
    _compute_results(folder)
    with opened_campaign(folder) as opened:
        deliver(opened.status(), save, json)


def _steer(folder: Path, method: str, body: dict[str, Any], json: bool) -> None:
    """Ask the running server, or do it here where there is none; then say how things stand."""
    need_campaign()
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
    """Take the looks that are due and compute the results, unless a server does."""
    from assay.campaign.keys import read_keys
    from assay.campaign.live.results import bring_up_to_date

    keys = read_keys(folder)
    if keys.served is not None and _answers(keys.served):
        return
    try:
        with opened_campaign(folder, write=True) as opened:
            if opened.status().answers:
                bring_up_to_date(opened)
    except (InputError, OSError):
        return  # others work on it, or nothing can be written here: what is stored is shown


def campaign_results(folder: Path) -> Result:
    """What a report says of a campaign: its newest results, else how it stands."""
    need_campaign()
    _compute_results(folder)
    with opened_campaign(folder) as opened:
        return opened.results() or opened.status()


def _answers(address: str) -> bool:
    """Whether a server is there; one that was killed could not say that it is gone."""
    from assay.campaign.client import WireClient

    try:
        with WireClient(address, "", tries=1) as client:
            client.get("/healthz")
    except OSError:
        return False
    return True


@campaign.command("open")
def open_(folder: Folder, reason: REASON = None, json: JSON = False) -> None:
    """Let raters begin.

    Example: assay campaign open news
    """
    _steer(folder, "open", {"reason": reason}, json)


@campaign.command("pause")
def pause(folder: Folder, reason: REASON = None, json: JSON = False) -> None:
    """Hand out no tasks for now; what raters have open they may send.

    Example: assay campaign pause news --reason "new guidelines"
    """
    _steer(folder, "pause", {"reason": reason}, json)


@campaign.command("resume")
def resume(folder: Folder, reason: REASON = None, json: JSON = False) -> None:
    """Go on after a pause.

    Example: assay campaign resume news
    """
    _steer(folder, "resume", {"reason": reason}, json)


@campaign.command("close")
def close(folder: Folder, reason: REASON = None, json: JSON = False) -> None:
    """End a campaign for good: no answer is taken any more.

    Example: assay campaign close news
    """
    _steer(folder, "close", {"reason": reason}, json)


@campaign.command("exclude")
def exclude(
    folder: Folder,
    rater: RATER,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the list of events.")],
    json: JSON = False,
) -> None:
    """Leave a rater out: their tasks are dealt again, their answers are kept and not counted.

    Example: assay campaign exclude news rater-3 --reason "answers at random"
    """
    _steer(folder, "exclude", {"rater": rater, "reason": reason}, json)


@campaign.command("restore")
def restore(folder: Folder, rater: RATER, json: JSON = False) -> None:
    """Take a rater in again.

    Example: assay campaign restore news rater-3
    """
    _steer(folder, "restore", {"rater": rater}, json)


@campaign.command("rule")
def rule(
    folder: Folder,
    goal: Annotated[
        Literal["ranking", "score", "budget"],
        typer.Argument(help="The planned goal, or budget: go on to the last task."),
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the list of events.")],
    half_width: Annotated[float | None, HALF_WIDTH_OPTION] = None,
    json: JSON = False,
) -> None:
    """Change when a running campaign ends; looks that took place stay as they are.

    The change is in the list of events and in the report.

    Example: assay campaign rule news budget --reason "the rest is paid already"
    """
    _steer(folder, "change_rule", {"goal": goal, "target": half_width, "reason": reason}, json)


@campaign.command("export")
def export(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The folder; default: one in the campaign's, with the format's"
            " name.", metavar="DIR",
        ),
    ] = None,
    format: FORMAT = None,
    lp: LP = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables", metavar="A,B",
            help="Of: ratings, errors, judgments, edits, sample, scores, raters, events.",
        ),
    ] = None,
    type: Annotated[
        Literal["tsv", "csv", "jsonl", "parquet", "xlsx"] | None,
        typer.Option("--type", help="The type of the tables; default: tsv."),
    ] = None,
    look: Annotated[
        int | None,
        typer.Option("--look", help="What this planned look saw, and no more.", min=1),
    ] = None,
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:  # fmt: skip
    """Write what came in as tables, which `assay estimate`, `rank` and `effort` read.

    Checks and repeats are marked and count in no estimate; raters who are left out are not there.
    With --format, what was asked and answered becomes the files of another tool: mt-metrics-eval,
    google-mqm, appraise, pearmut, label-studio, wmt-rnk or xliff. With --look, `assay estimate`
    and the others repeat the numbers of that look digit by digit.

    Example: assay campaign export news -o tables

    Example: assay campaign export news --look 2 -o look-2

    Example: assay campaign export news --format pearmut
    """
    need_campaign()
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
                raise OptionError(f"--{name}", value, "is about tables", "leave out --format")
        result = export_format(found, settings, output or folder / format, format, lp=lp)
        deliver(result, save, json)
        return
    refuse_alone("lp", lp, "format", None)
    wanted = names(tables)
    result = export_tables(
        found, output or folder / "tables", tables=wanted, ending=f".{type or 'tsv'}"
    )
    deliver(result, save, json)


@campaign.command("import")
def import_(
    folder: Folder,
    file: Annotated[
        Path, typer.Argument(help="The answers, as the tool wrote them.", metavar="FILE")
    ],
    format: FORMAT = None,
    lp: LP = None,
    save: SAVE_ONLY = None,
    json: JSON = False,
) -> None:  # fmt: skip
    """Bring in answers that raters gave in pearmut, Appraise or Label Studio (--format).

    All of a file comes in, or nothing. Outputs, texts, scores and marks are held against the
    campaign; a file that has grown may be given again. Stop the server first.

    Example: assay campaign import news annotations.jsonl --format pearmut
    """
    need_campaign()
    from assay.campaign.exchange.imports import READERS, import_answers

    if format is None:
        fault, remedy = "so what wrote the file is not known", f"choose from {', '.join(READERS)}"
        raise OptionError("--format", "not given", fault, remedy)
    with opened_campaign(folder, write=True) as opened:
        deliver(import_answers(opened, file, format, lp=lp), save, json)


@campaign.command("backup")
def backup(
    folder: Folder,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The file of the copy.", metavar="FILE")
    ],
) -> None:
    """Copy a campaign's store while it runs.

    Example: assay campaign backup news -o news-monday.db
    """
    need_campaign()
    if output.exists():
        raise InputError(f"'{output}' is there already; name another file")
    with opened_campaign(folder) as opened:
        opened.backup(output)
    say(f"written to {output}")


@campaign.command("rebuild")
def rebuild(folder: Folder, json: JSON = False) -> None:
    """Make the state of tasks and raters again from the answers and events.

    Example: assay campaign rebuild news
    """
    need_campaign()
    with opened_campaign(folder, write=True) as opened:
        opened.rebuild()
        deliver(opened.status(), None, json)


@campaign.command("forget")
def forget(folder: Folder, rater: RATER) -> None:
    """Remove what names a person; the answers stay, under a new code name.

    Example: assay campaign forget news rater-3
    """
    need_campaign()
    from assay.campaign.keys import read_keys, write_keys

    with opened_campaign(folder, write=True) as opened:
        opened.forget(rater)
    keys = read_keys(folder)
    rest = {name: token for name, token in keys.raters.items() if name != rater}
    write_keys(folder, replace(keys, raters=rest))
    say(f"what named {rater} is gone; the answers are kept")


@campaign.command("simulate")
def simulate(
    folder: Folder,
    raters: RATERS = None,
    careless: Annotated[
        int, typer.Option("--careless", help="How many of them answer at random.", min=0)
    ] = 0,
    leaving: Annotated[
        int, typer.Option("--leaving", help="How many of them leave in the middle.", min=0)
    ] = 0,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:  # fmt: skip
    """Rehearse: simulated raters work through a campaign that has no answers yet.

    They speak HTTP as pages do, and the campaign's clock runs fast. What they send stays. Where
    the campaign has fewer raters, some are added.

    Example: assay campaign simulate rehearsal --careless 3 --leaving 4
    """
    need_campaign()
    from assay.campaign.keys import read_keys
    from assay.campaign.simulated.rehearsal import rehearse
    from assay.campaign.web.background import serving

    keys, people = read_keys(folder), names(raters) or ["20"]
    number = int(people[0]) if len(people) == 1 and people[0].isdecimal() else None
    with progress_bars() as progress:
        result = rehearse(
            keys.store or folder, serving, keys.raters,
            raters=people if number is None else number, careless=careless, leaving=leaving,
            rng=seed, progress=progress,
        )  # fmt: skip
    deliver(result, save, json)
