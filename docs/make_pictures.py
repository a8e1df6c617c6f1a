"""Make the pictures of the documentation from real pages: ``python docs/make_pictures.py``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import assay
from assay.views.html import fragment
from assay.views.page import read_result

PICTURES = Path(__file__).parent / "pictures"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)
DESK, PHONE = (1100, 740), (390, 844)
NOTEBOOK = """<!doctype html><meta charset="utf-8"><body style="margin:16px;font:14px sans-serif">
<pre style="background:#f5f5f5;border:1px solid #ddd;padding:8px 12px">{code}</pre>{cell}"""
TERMINAL = """<!doctype html><meta charset="utf-8"><body style="margin:0;background:#14181e">
<pre style="margin:0;padding:16px 20px;color:#e7ebf1;font:13px/1.35 'DejaVu Sans Mono',monospace;
white-space:pre-wrap">{text}</pre>"""


def main() -> None:
    """Run the demo and take a picture of everything a reader should see first."""
    from markupsafe import escape
    from playwright.sync_api import sync_playwright

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        run("demo", "-o", name)
        estimate = ("estimate", "scores.tsv", "ratings.tsv", "--sample", "sample.tsv",
                    "--better", "lower")  # fmt: skip
        printed = run(*estimate, cwd=folder).split("\nnot known")[0]
        texts = {
            "terminal": TERMINAL.format(text=escape(f"$ assay {' '.join(estimate)}\n{printed}")),
            "notebook": NOTEBOOK.format(
                code=escape("assay.estimate(scores, ratings, sample=sample)"),
                cell=fragment(read_result(folder / "estimates.json")),
            ),
        }  # fmt: skip
        for stem, text in texts.items():
            (folder / f"{stem}.html").write_text(text, "utf-8")
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        report = folder / "report.html"
        picture(browser, report, "report", DESK)
        picture(browser, report, "report-dark", DESK, color_scheme="dark")
        picture(browser, report, "report-phone", PHONE, device_scale_factor=1.25)
        picture(browser, folder / "terminal.html", "terminal", (1100, 420))
        picture(browser, folder / "notebook.html", "notebook", (1000, 660))
        browser.close()


def run(*words: str, cwd: Path | None = None) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "assay", *words]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def picture(browser: Any, page: Path, name: str, size: tuple[int, int], **options: Any) -> None:
    """A page as it opens, as a PNG file."""
    width, height = size
    shown = browser.new_page(viewport={"width": width, "height": height}, **options)
    shown.goto(page.as_uri())
    shown.screenshot(path=PICTURES / f"{name}.png")
    shown.close()


if __name__ == "__main__":
    if BROWSER is None:
        print(f"no chromium on this machine: the pictures stay as they are ({assay.__version__})")
    else:
        main()
