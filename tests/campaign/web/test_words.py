"""The catalogues of the pages: the same words in every language, all of them used, none missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import assay

STATIC = Path(assay.__file__).parent / "campaign" / "web" / "static"
FORMS = {"zero", "one", "two", "few", "many", "other"}
COMPUTED = (
    "how-",
    "state-",
    "kind-",
    "strength-",
    "reason.",
    "severity.",
    "anchor.",
    "said.",
    "means.",
)
"""Beginnings of names that the modules put together."""


def base(name: str) -> str:
    head, _, form = name.rpartition(".")
    return head if form in FORMS else name


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((STATIC / "words" / f"{language}.json").read_text("utf-8"))
    return found


def test_every_word_that_is_used_is_there_and_the_other_way_round() -> None:
    code = "\n".join(path.read_text("utf-8") for path in STATIC.glob("*.js"))
    names = {base(name) for name in words("en")}
    used = set(re.findall(r'\bt\(\s*"([\w-]+)"', code))
    assert used - names == set()
    pages = "\n".join(path.read_text("utf-8") for path in STATIC.parent.glob("pages/*.html"))
    quoted = set(re.findall(r'"([\w-]+)"', code + pages))
    left = {name for name in names if name not in quoted and not name.startswith(COMPUTED)}
    assert left == set()


@pytest.mark.parametrize("path", sorted((STATIC / "words").glob("*.json")), ids=lambda p: p.stem)
def test_every_language_has_all_words_with_their_slots(path: Path) -> None:
    english, own = words("en"), words(path.stem)
    assert {base(name) for name in own} == {base(name) for name in english}
    for name, text in own.items():
        model = english.get(name) or english[f"{base(name)}.other"]
        slots = set(re.findall(r"\{\w+\}", text))
        assert slots <= set(re.findall(r"\{\w+\}", model)), name
        assert text.strip() == text != "", name
    assert f"{path.stem}: " in (STATIC / "i18n.js").read_text("utf-8")


def test_what_the_server_says_is_translated_as_it_says_it() -> None:
    """Sentences and words of scales that the catalogues translate are those of the code."""
    folder = Path(assay.__file__).parent / "campaign"
    code = " ".join(
        re.sub(r'"\s+"', "", path.read_text("utf-8")) for path in folder.rglob("*.py")
    ).lower()
    names = [
        name.partition(".")[2] for name in words("en") if name.startswith(("anchor.", "said."))
    ]
    assert len(names) > 15
    assert [name for name in names if f'"{name}"' not in code] == []


def test_the_page_asks_for_all_modules_at_once() -> None:
    page = (STATIC.parent / "pages" / "rate.html").read_text("utf-8")
    wanted, queue = set[str](), ["main.js"]
    while queue:
        name = queue.pop()
        if name not in wanted:
            wanted.add(name)
            queue += re.findall(r'from "\./([\w.]+)"', (STATIC / name).read_text("utf-8"))
    assert set(re.findall(r'modulepreload" href="/static/([\w.]+)"', page)) == wanted
