"""Make the pictures of the documentation from real pages: ``python docs/make_pictures.py``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import assay
from assay.results import Result
from assay.views.html import fragment
from assay.views.page import read_result, write_report

PICTURES = Path(__file__).parent / "pictures"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)
DESK, PHONE = (1100, 740), (390, 844)
TITLES = {"organiser": "Findings of the task", "small_budget": "Ours and the baseline",
          "localisation": "Which engine?"}  # fmt: skip
NOTEBOOK = """<!doctype html><meta charset="utf-8"><body style="margin:16px;font:14px sans-serif">
<pre style="background:#f5f5f5;border:1px solid #ddd;padding:8px 12px">{code}</pre>{cell}"""
TERMINAL = """<!doctype html><meta charset="utf-8"><body style="margin:0;background:#14181e">
<pre style="margin:0;padding:16px 20px;color:#e7ebf1;font:13px/1.35 'DejaVu Sans Mono',monospace;
white-space:pre-wrap">{text}</pre>"""


def main() -> None:
    """Run the demo and take a picture of everything a reader should see first."""
    from campaign_pictures import take
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
        for stem, result in tutorials(folder).items():
            write_report(result, folder / f"{stem}.html", title=TITLES[stem])
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        report = folder / "report.html"
        picture(browser, report, "report", DESK)
        picture(browser, report, "report-dark", DESK, color_scheme="dark")
        picture(browser, report, "report-phone", PHONE, device_scale_factor=1.25)
        picture(browser, folder / "terminal.html", "terminal", (1100, 420))
        picture(browser, folder / "notebook.html", "notebook", (1000, 660))
        for stem, height in {"organiser": 740, "small_budget": 460, "localisation": 440}.items():
            picture(browser, folder / f"{stem}.html", stem, (1100, height))
        take(browser, folder, PICTURES)
        browser.close()


def tutorials(folder: Path) -> dict[str, Result]:
    """The results that the tutorials come to, from the same seeds."""
    sys.path.insert(0, str(PICTURES.parent.parent))
    from tests.effort.deliveries import deliver

    task = assay.simulate(documents=90, systems=10, raters=2, texts=True, rng=2025)
    drawn = assay.sample(task.test_set, budget="25%", rng=7)
    two = assay.simulate(
        systems={"baseline": 2.6, "ours": 2.1}, metrics={"COMET": 0.55, "chrF": 0.35},
        documents=60, raters=1, texts=True, rng=11,
    )  # fmt: skip
    order = assay.sample(two.test_set, design="interleaved", budget="100%", rng=5)
    first = assay.Sample(order.frame.sort("order").head(260))
    deliver(folder)
    run("effort", "jobs.xlsx", "--rate", "40 EUR", "--seed", "1", "-o", "jobs.json", cwd=folder)
    return {
        "organiser": assay.estimate(task.test_set, task.rate(drawn), sample=drawn),
        "small_budget": assay.estimate(two.test_set, two.rate(first), sample=order),
        "localisation": read_result(folder / "jobs.json"),
    }


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
