"""The page of reproductions: made from results, and of the printed numbers as they are now."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.conftest import ROOT

from assay.papers.compare import OurNumber, PaperRequest, compare, read_printed
from assay.papers.reproduce import PAPERS


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("page", ROOT / "docs" / "generate_reproduce.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_a_result(generator: ModuleType) -> None:
    ours = {"Doc I Flesch": OurNumber(32.922, reason="one syllable"), "Doc I words": OurNumber(534)}
    request = PaperRequest(Path(), 2, 7, np.random.default_rng(7), 1, figures=False)
    result = compare("korotaev2022", ours, notes=(), request=request)
    text = generator.page([result])
    assert "| korotaev2022 | 58 | 1 | 1 | 0 | 56 |" in text
    assert "| Table 1: Doc I, Flesch | 33.08 | 32.922 | one syllable |" in text.replace(" – |", "")
    assert "- 25 of Table 1, section 3.2: needs effectiff_corpus.tsv.gz" in text.replace("26", "25")
    assert result.signature in text


def test_the_page_in_the_repository_is_made_of_todays_numbers(generator: ModuleType) -> None:
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert text.startswith(generator.HEAD.split("\n\n")[0])
    for paper in PAPERS:
        assert generator.DATA[paper] in text
        row = re.search(rf"^\| {paper} \| (.+) \|$", text, re.MULTILINE)
        assert row is not None
        total, *outcomes = (int(cell.replace(",", "")) for cell in row[1].split(" | "))
        numbers = {item.number for item in read_printed(paper)}
        assert total == sum(outcomes) == len(numbers)
        counts = 4 * r" (\d+) \|"
        section = text.split(f"## {paper}\n")[1].split("\n## ")[0].split("### Outcomes")[1]
        first = {item.number: item.table for item in reversed(read_printed(paper))}
        for table, count in Counter(first.values()).items():
            found = re.search(rf"^\| {table} \|{counts}$", section, re.MULTILINE)
            assert found is not None, (paper, table)
            assert sum(map(int, found.groups())) == count
