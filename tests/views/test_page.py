"""The report page: complete, self-contained, safe."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lxml import html

import assay
from assay.errors import InputError
from assay.estimation.estimate import estimate
from assay.sampling.draw import sample
from assay.views.page import read_result, write_report
from assay.worlds.simulate import World, simulate


@pytest.fixture(scope="module")
def world() -> World:
    return simulate(documents=20, systems=3, rng=1)


@pytest.fixture
def result(world: World) -> dict[str, object]:
    drawn = sample(world.test_set, budget="30%", rng=1)
    return estimate(world.test_set, world.rate(drawn), sample=drawn).to_dict()


def test_page_has_every_system_and_the_signature(
    result: dict[str, object], world: World, tmp_path: Path
) -> None:
    known = result | {"truth": world.truth()}
    page = write_report([known], tmp_path / "r.html").read_text("utf-8")
    tree = html.fromstring(page)
    names = tree.xpath("(//table)[1]/tbody/tr/th/text()")
    assert names == [item["system"] for item in result["systems"]]  # type: ignore[attr-defined]
    assert result["signature"] in page
    assert ">truth</th>" in page


def test_page_asks_for_nothing_outside(result: dict[str, object], tmp_path: Path) -> None:
    page = write_report([result], tmp_path / "r.html").read_text("utf-8")
    tree = html.fromstring(page)
    assert not tree.xpath("//link | //img | //iframe | //object | //script[@src]")
    addresses = re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?(https?:[^\"')]+)", page)
    assert addresses == []


RANKING = {
    "kind": "ranking", "version": "0.2.0", "better": "higher", "level": 0.95, "method": "bojar",
    "systems": [{"system": "A", "rank": 1, "score": 1, "low_rank": 1, "high_rank": 1,
                 "cluster": 1}],
    "comparisons": [], "ranges": "sign", "interval": None, "unit": "pair", "blocks": 1,
    "ties": None,
    "sides": 1, "holm": False, "resamples": None, "seed": None, "pairs": 0, "significant_pairs": 0,
    "clusters": 0, "judgments": 0,
}  # fmt: skip


@pytest.fixture
def ranking() -> dict[str, object]:
    table = assay.simulate_judgments([9.0, 8.5, 5.0, 1.0], 2000, per_set=4, rng=1)
    return assay.rank(table, rng=1).to_dict()


def test_a_ranking(ranking: dict[str, object], tmp_path: Path) -> None:
    page = write_report([ranking], tmp_path / "r.html").read_text("utf-8")
    tree = html.fromstring(page)
    cells = [
        ["".join(cell.itertext()) for cell in row.xpath("*[not(@class='scale')]")]
        for row in tree.xpath("(//table)[1]/tbody/tr")
    ]
    expected = [
        [i["system"], f"{i['score']:.3f}",
         "–".join(map(str, dict.fromkeys([i["low_rank"], i["high_rank"]]))), str(i["cluster"])]
        for i in ranking["systems"]  # type: ignore[attr-defined]
    ]  # fmt: skip
    assert cells == expected
    assert ranking["signature"] in page
    text = " ".join("".join(tree.xpath("//p[@class='lead']//text()")).split())
    assert text.startswith("From 2,000 judgments, at the 95% level, the rank range of S1 is 1–2.")
    assert "Rank (1 is best)" in page
    undecided = [i for i in ranking["comparisons"] if not i["decided"]]  # type: ignore[attr-defined]
    said = tree.xpath("(//table)[2]/tbody/tr/td[last()]/text()")
    assert said.count("undecided") == len(undecided) > 0
    assert len(said) == ranking["pairs"]


def test_a_ranking_from_ratings_and_one_calibrated(world: World, tmp_path: Path) -> None:
    rated = assay.rank_ratings(world.rate(), rng=1).to_dict()
    table = assay.simulate_judgments(4, 600, per_set=4, rng=1)
    calibrated = assay.rank(table, calibrate=True, rng=1).to_dict()
    page = write_report([rated, calibrated], tmp_path / "r.html").read_text("utf-8")
    assert re.search(r"neighbours (is|are) decided", page)
    assert "at a level found by simulation" in page


def test_names_are_escaped(result: dict[str, object], tmp_path: Path) -> None:
    text = json.dumps(result).replace("system-1", "<script>alert(1)</script>")
    page = write_report([json.loads(text)], tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_same_result_gives_the_same_page(result: dict[str, object], tmp_path: Path) -> None:
    one = write_report([result], tmp_path / "a.html").read_bytes()
    assert write_report([result], tmp_path / "b.html").read_bytes() == one


def test_one_system_with_one_rating(tmp_path: Path) -> None:
    world = simulate(documents=3, systems=1, rng=1)
    drawn = sample(world.test_set, budget=1, design="segments", rng=1)
    result = estimate(world.test_set, world.rate(drawn), sample=drawn)
    page = write_report(result.to_dict(), tmp_path / "r.html").read_text("utf-8")
    assert f"system-1 is estimated at {result.systems[0].estimate:.3f} (lower is better)" in page


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "nothing to report"),
        ([{"kind": "poem"}], "kind 'poem' is not known"),
        ([{"kind": "estimates"}], "saved by Assay \\(no version\\)"),
        ([{"kind": "estimates", "version": "0.2.0"}], "has no 'systems'; save it again"),
        ([{**RANKING, "systems": []}], "the saved ranking has no systems"),
        ([{**RANKING, "ranges": None}], "ranges is None, not 'bootstrap' or 'sign' or 'pooled'"),
    ],
)
def test_what_cannot_be_reported(
    results: list[dict[str, object]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        write_report(results, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_no_saved_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in .json; save one first, as `assay estimate"):
        assay.read_result(tmp_path / "ratings.xlsx")


@pytest.mark.parametrize("content", ["", "nonsense", "[1]", '{"a": 1}', "\udcff"])
def test_files_that_are_no_result(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match="not a saved result"):
        read_result(path)
