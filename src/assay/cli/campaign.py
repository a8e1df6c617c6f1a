"""``assay campaign``: create, check, preview, serve, steer and export a campaign."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from assay.cli import (
    deliver,
    names,
    note,
    pairs,
    people,
    print_json,
    progress_bars,
    refuse_alone,
    say,
    tell,
)
from assay.cli.options import CONTEXT, Count, File, Number, Text
from assay.errors import InputError, MissingExtraError, OptionError, TableError, need_known

if TYPE_CHECKING:
    from assay.campaign.campaign import Campaign
    from assay.campaign.contents import Material
    from assay.campaign.exchange.imports import Origin
    from assay.campaign.hub import Hub
    from assay.campaign.keys import Keys
    from assay.errors import Problem
    from assay.project.settings import Settings
    from assay.results import Result

PACKAGES = ("alembic", "fastapi", "multipart", "pydantic", "regex", "sqlalchemy", "uvicorn")
"""What the extra installs."""
PLAN, STORE = "assay.toml", "campaign.db"
LOCAL = ("127.0.0.1", "localhost", "::1")

campaign = typer.Typer(
    help="Collect answers in the browser: create a campaign, serve it, follow it, export it.",
    no_args_is_help=True,
    context_settings=CONTEXT,
)


def need_campaign() -> None:
    """Refuse if the packages of the extra are not installed."""
    if any(find_spec(name) is None for name in PACKAGES):
        raise MissingExtraError("collecting answers in the browser", "campaign")


@campaign.command("new")
def new(
    plan: Path, *, output: File = None, protocol: Text = None, raters: Text = None,
    sample: File = None, overlap: Number = None, checks: Number = None, repeats: Number = None,
    outputs: Count = None, languages: Text = None, marks: File = None, kit_design: File = None,
    instructions: File = None, columns: Text = None, exclude: Text = None,
    origin: Literal["pearmut", "appraise-batches"] | None = None, by: Text = None,
    store: Text = None, seed: Count = None, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Create a campaign from a plan, or from a table of outputs and a few options.

    Options override the plan and the settings of another tool's campaign (--from). The links are
    written to campaign.json in the folder, which only you can read; `assay campaign links` shows
    them again.

    Example: assay campaign new assay.toml

    Example: assay campaign new scores.tsv --protocol esa --raters 3 -o news

    Example: assay campaign new --from pearmut campaign.json -o news
    """
    given: dict[str, Any] = {
        "protocol": protocol, **_people(raters), "raters.overlap": overlap,
        "checks.share": checks, "checks.repeats": repeats, "screen.outputs": outputs,
        "screen.languages": names(languages), "sample.seed": seed, "exclude": names(exclude),
        **{
            key: None if path is None else str(path.absolute())
            for key, path in (
                ("sample.file", sample), ("errors", marks), ("instructions", instructions),
            )
        },
    }  # fmt: skip
    if by is not None:
        _need_one(kits=kit_design, store=store, save=save)
        _make_several(plan, given, columns, by, output, seed, origin, json=json)
        return
    from assay.campaign.create import make_campaign

    name = None if output is None else output.resolve().name
    material, base = read_plan(plan, given, columns, kit_design, origin, name)
    for one in material.test_set.notes if origin else ():
        note(str(one))
    result, keys = make_campaign(material, output or base, store=store, rng=seed)
    if json:
        print_json(result.to_dict() | {"links": keys.links()})
        return
    folder = shlex.quote(result.dir)
    draft = f"A draft: `assay serve {folder}` opens it, `assay campaign preview {folder}` tries it."
    deliver(result, save, False, lambda: say(*links_of(result.dir, keys), draft))


def _need_one(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            fault = "applies to one campaign, but `by` creates several"
            raise OptionError(name, value, fault, "create them one by one")


def _make_several(
    plan: Path, given: dict[str, Any], columns: str | None, by: str, output: Path | None,
    seed: int | None, origin: Origin | None, *, json: bool,
) -> None:  # fmt: skip
    """Create a campaign for each value of a column, in subfolders."""
    from assay.campaign.create import make_campaigns, read_materials
    from assay.campaign.store.creating import slug_of

    settings, faults, base = _read_settings(plan, given, columns, origin)
    if faults:
        raise TableError(str(plan), faults)
    materials = read_materials(settings, base, by, source=str(plan), origin=origin)
    folder = output or base / slug_of(settings.name)
    made = list(make_campaigns(materials, folder, rng=seed))
    campaigns = [one.to_dict() | {"links": keys.links()} for one, keys in made]
    shown = [line for one, keys in made for line in links_of(one.dir, keys)]
    shown.append(f"assay serve {folder} serves them all")
    tell({"dir": str(folder), "campaigns": campaigns}, json, *shown)


def _people(raters: str | None) -> dict[str, Any]:
    if raters is None:
        return {}
    known = people(raters)
    return {"raters.number" if isinstance(known, int) else "raters.names": known}


def read_plan(
    plan: Path, given: dict[str, Any], columns: str | None = None, kits: Path | None = None,
    origin: Origin | None = None, name: str | None = None,
) -> tuple[Material, Path]:  # fmt: skip
    """Read the plan with the options and its tables; also returns its folder.

    Without a plan file the campaign is called ``name``, or after the table.
    """
    from assay.campaign.create import read_material
    from assay.kits.results import KitDesign
    from assay.views.page import read_result

    settings, faults, base = _read_settings(plan, given, columns, origin, name)
    design = None
    if kits is not None:
        remedy = "save one with `assay kits design ... --save design.json`"
        if kits.suffix.lower() != ".json":
            raise OptionError("kits", kits, "is not a saved kit design", remedy)
        saved = read_result(kits)
        if not isinstance(saved, KitDesign):
            raise OptionError("kits", kits, "is not a kit design", remedy)
        design = saved
    read = read_material(
        settings, base, kits=design, source=str(plan), origin=origin, faults=faults
    )
    return read, base


def _read_settings(
    plan: Path,
    given: dict[str, Any],
    columns: str | None,
    origin: Origin | None = None,
    name: str | None = None,
) -> tuple[Settings, list[Problem], Path]:
    """Read the plan with the options, its faults, and its folder."""
    from assay.campaign.exchange.imports import foreign_settings
    from assay.project.reader import parse_leniently, parse_settings, with_key
    from assay.tables.load import decode_utf8, read_bytes

    given = {key: value for key, value in given.items() if value is not None}
    written = plan.suffix == ".toml" and origin is None
    text = decode_utf8(read_bytes(plan), str(plan)) if written else ""
    if written and (given or columns):
        parse_settings(text, str(plan))  # settings are added to a plan that is right
    elif not written:
        asked = {} if origin is None else foreign_settings(plan, origin)
        if {"raters.number", "raters.names"} & given.keys():
            asked = {key: asked[key] for key in asked if not key.startswith("raters.n")}
        given = {
            "name": name or plan.name.partition(".")[0],
            **asked,
            "scores": str(plan.absolute()),
            **given,
        }
    given |= {f"columns.{name}": user for name, user in pairs("columns", columns).items()}
    for key, value in given.items():
        if value is not None:
            text = with_key(text, key, value)
    return *parse_leniently(text, str(plan)), plan.absolute().parent


def links_of(title: str, keys: Keys) -> list[str]:
    """The links as lines to print."""
    links = keys.links()
    people = [(one["rater"], one["link"]) for one in links.pop("raters")]
    rows = [*links.items(), *people]
    wide = max(len(name) for name, _ in rows)
    return [title, *(f"  {name:{wide}}  {link}" for name, link in rows)]


@campaign.command("check")
def check(plan: Path, *, kit_design: File = None, save: File = None, json: bool = False) -> None:
    """Check a plan and its tables, or a campaign's store, and list all problems.

    Nothing is written. The exit code is 2 if there is a problem.

    Example: assay campaign check assay.toml
    """
    from assay.campaign.campaign import open_campaign
    from assay.campaign.contents import prepare
    from assay.errors import Problem
    from assay.formats.convert import Checked

    try:
        if (plan / STORE).is_file():
            with open_campaign(plan, write=False) as opened:
                found = tuple(Problem(fault) for fault in opened.integrity())
            result = Checked(str(plan), "campaign", not found, 0, found)
        else:
            file = plan / PLAN if plan.is_dir() else plan
            material, _ = read_plan(file, {}, kits=kit_design)
            tasks = len(prepare(material, 0).tasks)
            result = Checked(str(file), "plan", True, tasks)
    except TableError as error:
        result = Checked(str(plan), "plan", False, 0, error.problems)
    good = None if not result.ok else lambda: say(f"{result.source}: no problems")
    deliver(result, save, json, good)
    if not result.ok:
        raise typer.Exit(2)


@campaign.command("preview")
def preview(folder: Path, *, port: int = 8018, json: bool = False) -> None:
    """Try the raters' pages on a copy, where nothing counts.

    Example: assay campaign preview news
    """
    from assay.campaign.web import serve
    from assay.campaign.web.desk import campaign_copy

    need_free("127.0.0.1", port)
    with opened_campaign(folder) as opened, campaign_copy(opened) as (copy, token):
        address = f"http://127.0.0.1:{port}"
        link = f"{address}/r/{token}"
        found = {"address": address, "link": link}
        tell(found, json, f"preview: {link}", "Ctrl-C stops it.")
        serve(copy, port=port)


@campaign.command("serve")
def serve_campaign(
    folder: Path, *, host: str = "127.0.0.1", port: int = 8017, public_url: Text = None,
    trusted_proxy: Text = None, json: bool = False,
) -> None:  # fmt: skip
    """Serve a campaign, or all campaigns of a folder, until Ctrl-C or SIGTERM.

    A single campaign that is still a draft is opened; several are opened on their pages.

    Example: assay campaign serve news
    """
    from assay.campaign.campaign import open_campaign
    from assay.campaign.hub import is_hub, open_hub
    from assay.campaign.keys import read_keys, served_at
    from assay.campaign.web import serve

    several = is_hub(folder)
    keys = None if several else read_keys(folder)
    need_free(host, port)
    if host not in LOCAL:
        note(f"listening at {host}: everyone who can reach this machine can open the pages")
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    run = partial(
        serve, host=host, port=port, public_url=public_url, trusted_proxy=trusted_proxy
    )  # fmt: skip
    if keys is None:
        with open_hub(folder, address, public_url) as hub:
            _show_hub(hub, json=json)
            run(hub)
        return
    with open_campaign(keys.store or folder) as opened:
        if opened.status().state == "draft":
            opened.open("owner")
        with served_at(folder, address, public_url) as keys:
            title = f"{opened.settings.name} is served; Ctrl-C stops it."
            found = {"address": keys.served, "links": keys.links()}
            tell(found, json, *links_of(title, keys))
            run(opened)


def _show_hub(hub: Hub, *, json: bool) -> None:
    """Print the owner's link, and list the campaigns."""
    assert hub.keys is not None
    assert hub.folder is not None
    here = [
        {"slug": slug, "name": one.settings.name, "dir": str(hub.folders[slug])}
        for slug, one in hub.campaigns.items()
    ]
    found = {"address": hub.keys.served, "links": {"owner": hub.keys.link}, "campaigns": here}
    count = f"{len(here)} campaign{'' if len(here) == 1 else 's'}"
    lines = [
        f"{hub.folder.resolve()}: {count} served; Ctrl-C stops it.",
        f"  owner  {hub.keys.link}",
    ]
    lines += ["  assay campaign links DIR shows the links of a campaign:"] if here else []
    tell(found, json, *lines, *(f"    {one['dir']}" for one in here))


def need_free(host: str, port: int) -> None:
    """Refuse a port that is in use."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        fault = f"cannot be used at {host} ({error.strerror})"
        raise OptionError("port", port, fault, "choose another") from None


def serve(
    folder: Path = Path(), *, host: str = "127.0.0.1", port: int = 8017, public_url: Text = None,
    trusted_proxy: Text = None, json: bool = False,
) -> None:  # fmt: skip
    """Serve a project's campaign in the browser; the first run makes it from assay.toml.

    Prints all links. Answers are stored in the folder; `assay campaign` has more commands. An
    empty folder, or a folder of campaigns, can be served too: the owner then creates campaigns in
    the browser.

    Example: assay serve demo
    """
    from assay.campaign.hub import is_hub
    from assay.campaign.keys import FILE
    from assay.project.project import project_folder

    run = partial(
        serve_campaign, host=host, port=port, public_url=public_url, trusted_proxy=trusted_proxy,
        json=json,
    )  # fmt: skip
    if is_hub(folder):
        run(folder)
        return
    home = folder if (folder / FILE).is_file() else project_folder(folder)
    if home is None:
        raise InputError(
            f"'{folder}' has no {PLAN}; create a project with assay new, or give an empty folder to"
            " create campaigns in the browser"
        )
    if not (home / FILE).is_file():
        from assay.campaign.create import make_campaign

        material, _ = read_plan(home / PLAN, {})
        make_campaign(material, home)
    run(home)


@campaign.command("links")
def links(folder: Path, *, json: bool = False) -> None:
    """Show all links.

    Example: assay campaign links news
    """
    from assay.campaign.keys import read_keys

    keys = read_keys(folder)
    tell({"links": keys.links()}, json, *links_of(str(folder), keys))


@contextmanager
def opened_campaign(folder: Path, *, write: bool = False) -> Iterator[Campaign]:
    """Open the campaign of a folder, for reading or writing."""
    from assay.campaign.campaign import open_campaign
    from assay.campaign.keys import read_keys

    keys = read_keys(folder)
    with open_campaign(keys.store or folder, write=write) as opened:
        yield opened


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
    status(folder, json=json)


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
    from assay.campaign.web.server import serving

    keys = read_keys(folder)
    with progress_bars() as progress:
        result = rehearse(
            keys.store or folder, serving, keys.raters,
            raters=None if raters is None else people(raters), careless=careless,
            leaving=leaving, rng=seed, progress=progress,
        )  # fmt: skip
    deliver(result, save, json)
