"""Printed numbers as data, the marks by hand, and what all four papers have in common."""

from __future__ import annotations

import ast
import json
import math
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from assay.papers.compare import (
    OUTCOMES,
    OurNumber,
    PaperRequest,
    PrintedNumber,
    Reproduction,
    _marked,
    compare,
    read_printed,
)
from assay.papers.reproduce import PAPERS, reproduce, start_paper
from assay.results import Note
from assay.views.markup import markdown
from assay.views.page import as_result
from assay.views.report import Report
from assay.views.section import section_of

REQUEST = PaperRequest(Path(), 3, None, np.random.default_rng(1), 1, figures=False)
COUNTS = {"koehn2012": 199, "korotaev2022": 58, "lo2023": 260, "saldias2022": 260}
"""Distinct printed numbers."""


@pytest.mark.parametrize("paper", PAPERS)
def test_printed_numbers_are_data(paper: str) -> None:
    source = files("assay.papers").joinpath(paper, "printed.csv")
    assert source.is_file()  # the wheel has what the package has: tests/test_packaging.py
    printed = read_printed(paper)
    by_number = {item.number: item for item in printed}
    assert len(by_number) == COUNTS[paper]
    places = Counter((item.table, item.row, item.column) for item in printed)
    assert set(places.values()) == {1}
    for item in printed:
        assert item.value == by_number[item.number].value  # printed again, printed the same
        assert item.needs
        assert not item.per or item.per in by_number
        assert not item.rival or item.rival in by_number or float(item.rival) == 50
        assert item.mark in ("", "grid")


@pytest.mark.parametrize("paper", PAPERS)
def test_an_empty_folder_claims_nothing(paper: str, tmp_path: Path) -> None:
    work = start_paper(paper, tmp_path, draws=2, figures=True)
    assert work.steps == 0
    result = work.finish(work.run())
    assert result.counts == {"equal": 0, "different": 0, "cannot tell": 0, "no data": COUNTS[paper]}
    assert {cell.outcome for cell in result.tables} == {"no data"}
    assert all(cell.ours is None and cell.reason.startswith("needs ") for cell in result.tables)
    assert [note.code for note in result.notes] == ["no-data"]
    section = section_of(result)
    assert section.lead == f"None of the {COUNTS[paper]} printed numbers of {paper} has data."
    assert section.blocks[0].name == "outcomes"  # type: ignore[union-attr]


def number(value: float = 0.8, **more: object) -> PrintedNumber:
    given = {"unit": 0.1, "digits": 1, "number": "x", "needs": "x.tsv"} | more
    return PrintedNumber("Table 1", "row", "column", value, **given)  # type: ignore[arg-type]


def outcome(item: PrintedNumber, ours: OurNumber, *others: PrintedNumber, **more: OurNumber) -> str:
    printed = {other.number: other for other in (item, *others)}
    return _marked(item, printed, {item.number: ours} | more)[0]


def test_the_mark_is_rounding_and_two_errors() -> None:
    assert outcome(number(), OurNumber(0.849)) == "equal"
    assert outcome(number(), OurNumber(0.851)) == "different"
    # .05 + 2 hypot(.03, .04) = .15
    assert outcome(number(), OurNumber(0.949, 0.03, 0.04)) == "equal"
    assert outcome(number(), OurNumber(0.951, 0.03, 0.04)) == "different"
    assert outcome(number(), OurNumber(0.8, float("nan"))) == "cannot tell"
    assert outcome(number(), OurNumber(None)) == "no data"
    assert outcome(number(), OurNumber(0.8, needs="y.tsv")) == "no data"
    assert outcome(number(), OurNumber(0.8, unclear="of 2 draws")) == "cannot tell"


def test_what_cannot_be_told_from_its_rival_is_not_equal() -> None:
    rival = number(1.0, number="y")
    near = number(rival="y")
    assert outcome(near, OurNumber(0.8, 0.02), rival) == "equal"  # .05 + .04 <= .2 / 2
    assert outcome(near, OurNumber(0.8, 0.03), rival) == "cannot tell"
    assert outcome(number(rival="50"), OurNumber(0.8, 3.0)) == "equal"


def test_ratios_are_compared_where_a_number_is_per_another() -> None:
    base = number(2.0, number="base")
    item = number(1.0, per="base", rival="base")
    # The printed ratio .5 may be .45 / 2.05 to 1.05 / 1.95: within (.1 + .05) / 2 * .5 = .0375.
    assert outcome(item, OurNumber(5.3), base, base=OurNumber(10.0)) == "equal"
    assert outcome(item, OurNumber(5.4), base, base=OurNumber(10.0)) == "different"
    assert outcome(item, OurNumber(5.4, per=10.8), base) == "equal"
    # 2 (1.2 / 10) = .24, with the rounding more than half of the way to the rival.
    assert outcome(item, OurNumber(5.3, 1.2), base, base=OurNumber(10.0)) == "cannot tell"
    assert outcome(item, OurNumber(5.3), base) == "no data"


def test_a_number_of_a_grid_lies_between_its_neighbours() -> None:
    grid = [number(value, number=str(value), mark="grid") for value in (1.0, 2.0, 4.0)]
    marks = [outcome(grid[1], OurNumber(value), *grid) for value in (0.9, 1.1, 3.9, 4.1)]
    assert marks == ["different", "equal", "equal", "different"]
    assert outcome(grid[2], OurNumber(7.9), *grid) == "equal"  # it goes on in the same ratio
    assert outcome(grid[2], OurNumber(8.1), *grid) == "different"
    assert outcome(grid[0], OurNumber(0.1), *grid) == "equal"


def test_printed_exactly_is_equal_and_beyond_the_mark_different() -> None:
    """A match and a miss are each other's opposite: nothing else comes of a known number."""
    for paper in PAPERS:
        printed = {item.number: item for item in read_printed(paper)}
        same = {name: OurNumber(item.value) for name, item in printed.items()}
        found = compare(paper, same, notes=(), request=REQUEST)
        assert found.counts["different"] == found.counts["no data"] == 0
        far = {name: OurNumber(3 * abs(item.value) + 7.0 + k * 1e-3)
               for k, (name, item) in enumerate(printed.items())}  # fmt: skip
        off = compare(paper, far, notes=(), request=REQUEST)
        assert off.counts["equal"] <= 0.05 * len(printed)


def made() -> Reproduction:
    ours = {
        "Doc I words": OurNumber(534),
        "Doc I Flesch": OurNumber(32.9, reason="one syllable"),
        "Doc I time": OurNumber(0.9, float("nan")),
    }
    return compare("korotaev2022", ours, notes=[Note("x", "A note.")], request=REQUEST)


def test_result_and_json() -> None:
    result = made()
    assert result.counts == {"equal": 1, "different": 1, "cannot tell": 1, "no data": 55}
    said = result.to_dict()
    assert (said["kind"], said["paper"], said["draws"]) == ("reproduction", "korotaev2022", 3)
    wanted = {"table", "row", "column", "paper", "ours", "error", "matches", "outcome", "reason"}
    assert all(wanted <= set(item) for item in said["tables"])
    first = {"table": "Table 1", "equal": 1, "different": 1, "cannot_tell": 0, "no_data": 25}
    assert said["outcomes"][0] == first
    text = json.dumps(said, allow_nan=False)
    assert Reproduction.from_dict(json.loads(text)) == result
    assert as_result(json.loads(text)) == result
    assert result.to_frame().height == len(result.tables)
    for cell in result.tables:
        assert cell.matches is {"equal": True, "different": False}.get(cell.outcome)


def test_section_has_the_outcomes_first() -> None:
    section = section_of(made())
    said = "58 printed numbers of korotaev2022: 1 equal, 1 different, 1 cannot tell, 55 no data."
    assert section.lead == said
    text = markdown(Report("", (section,), "0"))
    assert text.index("| Table 1 | 1 | 1 | 0 | 25 |") < text.index("one syllable")
    assert OUTCOMES == ("equal", "different", "cannot tell", "no data")


def test_a_number_counts_where_it_stands_first() -> None:
    result = reproduce("saldias2022", files("assay.papers"), draws=2)  # type: ignore[arg-type]
    by_table = {item.table: item.no_data for item in result.outcomes}
    # The baseline and docs-prop stand in Table 1 and again in Table 4.
    assert (by_table["Table 1"], by_table["Table 4"]) == (2 * (2 + 3 * 3), 2 * 2 * 3)
    assert sum(by_table.values()) == COUNTS["saldias2022"]
    assert not math.isnan(sum(result.counts.values()))


INTERNAL = {"assay.engine", "assay.errors", "assay.results", "assay.stats.random"}
"""What any room may use."""


def test_papers_use_public_names_where_there_are_any() -> None:
    """Everything else that the papers import has no public function; the list is kept short."""
    import assay

    public = set(assay.__all__)  # type: ignore[attr-defined]
    own = Path(str(files("assay.papers")))
    rooms: Counter[str] = Counter()
    for path in own.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay."):
                names = {name.name for name in node.names}
                if not node.module.startswith("assay.papers") and node.module not in INTERNAL:  # type: ignore[union-attr]
                    assert not names & public, f"{path}: import assay, then assay.{names & public}"
                    rooms[node.module.split(".")[1]] += len(names)  # type: ignore[union-attr]
    assert sum(rooms.values()) <= 34, rooms
