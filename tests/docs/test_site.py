"""The site: built without a warning, with nothing fetched from elsewhere, from README and docs/."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import ROOT

# What a browser loads without being asked: a link to click on is no such thing.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"' >]+)"
    r"|<link\b[^>]*\bhref=[\"']?((?:https?:)?//[^\"' >]+)",
    re.IGNORECASE,
)
IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    pages = [*(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 15
    for page in pages:
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page.name
    for name in ("index.html", "contributing.html", "changelog.html", "licence.txt"):
        assert (site / name).is_file(), name


def test_the_home_page_is_the_readme_with_links_that_work(site: Path) -> None:
    home = (site / "index.html").read_text("utf-8")
    assert "assay new news --from outputs.csv" in re.sub(r"<[^>]+>", "", home)
    for link in ("tables.html", "tutorials/organiser.html", "contributing.html", "licence.txt"):
        assert f'href="{link}"' in home, link
    assert "docs/" not in "".join(re.findall(r'href="([^"]+)"', home))


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not LOADED.findall(page.read_text("utf-8")), page.name
    for style in site.rglob("*.css"):
        assert not IN_STYLES.findall(style.read_text("utf-8")), style.name


def test_the_search_for_addresses_finds_them() -> None:
    assert LOADED.search('<script async src="https://cdn.example/x.js">')
    assert LOADED.search("<link rel=stylesheet href=//fonts.example/css>")
    assert not LOADED.search('<a href="https://example.org">')
    assert IN_STYLES.search("@font-face{src:url(https://fonts.example/a.woff2)}")
