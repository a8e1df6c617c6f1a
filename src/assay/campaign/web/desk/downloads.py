"""What an owner takes home: tables, links, the report."""

from __future__ import annotations

import csv
import io
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.exchange.export import export_tables, tables_of
from assay.campaign.web.desk.words import PROTOCOLS, STATES, rule, table_names
from assay.campaign.web.owner import Slug, keys_of
from assay.campaign.web.roles import Owner, Reader, campaign_of, documented
from assay.results import Result, plural
from assay.tables.typed_files import save
from assay.views.html import html
from assay.views.page import make_report
from assay.views.section import Section, section_of

routes = APIRouter(tags=["desk"])
NO_LINKS = "the links are not kept on this server; make new ones on the page of raters"
NO_TABLE = "the campaign has no such table so far"
LOOKED_ONCE = (
    "Not the page's verdict, which is that of the planned looks: these intervals are right for"
    " whoever looks once, at the end."
)
FORMULA = ("=", "+", "-", "@", "\t")
"""What a spreadsheet would take for the beginning of a formula."""


@routes.get("/c/{slug}/export", response_class=Response, responses=documented(401, 403, 404))
async def export_all(request: Request, link: Owner, slug: Slug) -> Response:
    """All tables in one file."""
    campaign = campaign_of(request)
    folder = tempfile.TemporaryDirectory(prefix="assay-export-")
    target = await run_in_threadpool(_zipped, campaign, Path(folder.name))
    return FileResponse(
        target, media_type="application/zip", filename=f"{campaign.slug}.zip",
        background=BackgroundTask(folder.cleanup),
    )  # fmt: skip


def _zipped(campaign: Campaign, folder: Path) -> Path:
    written = export_tables(campaign.collected(), folder / "tables").written
    target = folder / "tables.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in map(Path, written):
            archive.write(path, f"{campaign.slug}/{path.name}")
    return target


@routes.get(
    "/c/{slug}/export/{table}", response_class=Response, responses=documented(401, 403, 404)
)
async def export_one(request: Request, link: Owner, slug: Slug, table: Slug) -> Response:
    """One table, tab-separated."""
    campaign = campaign_of(request)
    if table not in table_names(campaign.settings):
        raise HTTPException(404, NO_TABLE)
    folder = tempfile.TemporaryDirectory(prefix="assay-export-")
    target = Path(folder.name) / f"{table}.tsv"
    await run_in_threadpool(_table, campaign, table, target.parent)
    if not target.exists():
        folder.cleanup()
        raise HTTPException(404, NO_TABLE)
    return FileResponse(
        target, media_type="text/tab-separated-values",
        filename=f"{campaign.slug}-{table}.tsv", background=BackgroundTask(folder.cleanup),
    )  # fmt: skip


def _table(campaign: Campaign, name: str, folder: Path) -> None:
    frame = tables_of(campaign.collected()).get(name)
    if frame is not None:
        save(frame, folder / f"{name}.tsv")


@routes.get("/c/{slug}/links.csv", response_class=Response, responses=documented(401, 403, 404))
async def links(request: Request, link: Owner, slug: Slug) -> Response:
    """The links of all raters, where this server keeps them."""
    keys = await run_in_threadpool(keys_of, request)
    if keys is None:
        raise HTTPException(404, NO_LINKS)
    made = io.StringIO()
    rows = csv.writer(made)
    rows.writerow(("rater", "link"))
    for name, token in keys.raters.items():
        rows.writerow((f"'{name}" if name.startswith(FORMULA) else name, keys.link(token)))
    headers = {"Content-Disposition": 'attachment; filename="links.csv"'}
    return Response(made.getvalue(), media_type="text/csv", headers=headers)


@routes.get("/c/{slug}/report", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def report(request: Request, link: Reader, slug: Slug) -> Response:
    """The report of what is known now: one page that can be saved and sent on."""
    text = await run_in_threadpool(_report, campaign_of(request))
    script = re.search(r"script-src ('sha256-[^']+')", text)
    assert script is not None
    # Its style and script are its own; a page in a sandbox can do nothing in our name.
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
        f" script-src {script[1]}; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " sandbox allow-scripts allow-downloads"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def _report(campaign: Campaign) -> str:
    status, results = campaign.status(), campaign.results()
    listed: list[Result | Section] = [status]
    if results is not None:
        listed = [results, status]
        found = results.outcome.found
        if found is not None and results.planned:
            once = section_of(found)
            listed.append(replace(once, lead=f"{LOOKED_ONCE} {once.lead}", folded=True))
    facts = (
        "-".join(campaign.settings.screen.languages or ()), PROTOCOLS[status.protocol],
        _days(campaign.pace()), STATES[status.state],
        plural(sum(one.answers > 0 for one in status.raters), "rater"),
        plural(status.answers, "answer"), f"rule: {rule(campaign.settings)}",
    )  # fmt: skip
    return html(make_report(listed, campaign.settings.name, facts=tuple(filter(None, facts))))


def _days(pace: Sequence[tuple[int, int]]) -> str:
    """The days of the first and of the last answer (UTC), from the hours in which some came.

    >>> _days([(494_620, 3), (494_700, 1)]), _days([])
    ('5 to 8 June 2026', '')
    """
    if not pace:
        return ""
    first, last = (datetime.fromtimestamp(3600 * pace[k][0], UTC) for k in (0, -1))
    end = f"{last.day} {last:%B %Y}"
    if first.date() == last.date():
        return end
    begin = str(first.day)
    if (first.year, first.month) != (last.year, last.month):
        begin += f" {first:%B}" + ("" if first.year == last.year else f" {first.year}")
    return f"{begin} to {end}"
