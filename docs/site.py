"""What the site takes from outside ``docs/``: the README is its home page, so neither can drift."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
TAKEN = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.txt",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository's root."""
    for source, target in TAKEN.items():
        text = (ROOT / source).read_text("utf-8")
        content = moved(text) if source.endswith(".md") else text
        files.append(File.generated(config, target, content=content))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links from ``docs/`` to the root's pages lead to their copies here."""
    for source, target in TAKEN.items():
        markdown = markdown.replace(f"](../{source}", f"]({target}")
    return markdown


def moved(text: str) -> str:
    """Links as they must be one folder further down."""
    text = re.sub(r"\]\(docs/", "](", text)
    for source, target in TAKEN.items():
        text = text.replace(f"]({source}", f"]({target}")
    return text
