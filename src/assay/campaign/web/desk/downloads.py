"""Downloads of the owner: tables and the report."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from assay.campaign.campaign import Campaign
from assay.campaign.exchange.export import export_tables, table_names, tables_of
from assay.campaign.web.owner import Slug
from assay.campaign.web.roles import Owner, Reader, campaign_of, documented
from assay.tables.typed_files import save
from assay.views.html import html
from assay.views.page import make_report

routes = APIRouter(tags=["desk"])
NO_TABLE = "the campaign has no such table so far"


@routes.get("/c/{slug}/export", response_class=Response, responses=documented(401, 403, 404))
async def export_all(request: Request, link: Owner, slug: Slug) -> Response:
    """All tables in one zip file."""
    campaign = campaign_of(request)
    folder = tempfile.TemporaryDirectory(prefix="assay-export-")
    target = await run_in_threadpool(_zipped, campaign, Path(folder.name))
    return FileResponse(
        target, media_type="application/zip", filename=f"{campaign.slug}.zip",
        background=BackgroundTask(folder.cleanup),
    )  # fmt: skip


def _zipped(campaign: Campaign, folder: Path) -> Path:
    found = export_tables(campaign.collected(), folder / "tables", settings=campaign.settings)
    written = [*found.written, *([found.project] if found.project else [])]
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


@routes.get("/c/{slug}/report", response_class=HTMLResponse, responses=documented(401, 403, 404))
async def report(request: Request, link: Reader, slug: Slug) -> Response:
    """The current report: one page that can be saved and shared."""
    text = await run_in_threadpool(_report, campaign_of(request))
    script = re.search(r"script-src ('sha256-[^']+')", text)
    assert script is not None
    # The report has inline style and script; the sandbox keeps it from acting for the owner.
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
        f" script-src {script[1]}; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " sandbox allow-scripts allow-downloads"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": policy})


def _report(campaign: Campaign) -> str:
    results = campaign.results()
    shown = campaign.status() if results is None else results
    return html(make_report([shown], campaign.settings.name))
