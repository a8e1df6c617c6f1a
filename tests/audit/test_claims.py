"""Published distinctions: how they are read, and judged."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.audit.pairs import Distinction, count_verdicts, judge, plain_order, read_published
from assay.audit.results import AuditedPair
from assay.errors import InputError, OptionError

SYSTEMS = ("A", "B", "C")


def pair(left: str, right: str, better: str | None, *, holm: bool = False) -> AuditedPair:
    return AuditedPair(
        left=left, right=right, basis="common", n=10, wins=None, losses=None, ties=None,
        difference=1.0, low=0.0, high=2.0, stderr=0.5, p=0.04, p_holm=0.04 if holm else 0.2,
        decided=better is not None, decided_holm=better is not None and holm, better=better,
        detectable=1.4, power=0.5,
    )  # fmt: skip


def test_clusters_divide_and_ranks_say_who_are_neighbours() -> None:
    table = pl.DataFrame({"system": ["A", "B", "C"], "cluster": [1, 1, 2], "rank": [1, 2, 3]})
    assert read_published(table, SYSTEMS) == [
        Distinction("A", "C", False), Distinction("B", "C", True),
    ]  # fmt: skip


def test_equal_ranks_make_no_distinction() -> None:
    table = pl.DataFrame({"system": ["C", "A", "B"], "rank": ["2", "1", "2"]})
    found = read_published(table, SYSTEMS)
    assert {(item.better, item.worse) for item in found} == {("A", "B"), ("A", "C")}
    assert all(item.neighbours for item in found)


def test_pairs_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("better\tworse\nB\tA\n")
    assert read_published(tmp_path / "p.tsv", SYSTEMS) == [Distinction("B", "A", True)]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"system": ["A", "Bee"], "rank": [1, 2]}, "published (Bee)"),
        ({"name": ["A"], "place": [1]}, "its columns must be system with rank or cluster"),
        ({"system": ["A", "B"], "rank": ["1-2", "1-2"]}, "row 1: rank is '1-2', not a number"),
        ({"system": ["A", "B"], "rank": [1, 1]}, "makes no distinction"),
        ({"system": ["A", "A"], "rank": [1, 2]}, "A is listed twice"),
        ({"better": ["A"], "worse": ["A"]}, "better than itself"),
        ({"better": ["A", "B"], "worse": ["B", "A"]}, "each said to be better"),
        ({"better": [], "worse": []}, "makes no distinction"),
    ],
)
def test_bad_tables_are_refused(table: dict[str, list[object]], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_published(pl.DataFrame(table), SYSTEMS)
    assert said in str(caught.value)


def test_an_unknown_name_gets_a_hint() -> None:
    table = pl.DataFrame({"better": ["online-b"], "worse": ["Tohoku"]})
    with pytest.raises(OptionError, match="did you mean 'Online-B'"):
        read_published(table, ["Online-B", "Tohoku"])


def test_plain_order_of_scores() -> None:
    found = plain_order({"B": 1.0, "D": 1.0, "C": 2.0, "A": 3.0})
    assert [(item.better, item.worse) for item in found] == [
        ("B", "C"), ("B", "A"), ("D", "C"), ("D", "A"), ("C", "A"),
    ]  # fmt: skip
    assert [item.neighbours for item in found] == [True, False, True, False, True]


def test_verdicts_by_hand() -> None:
    pairs = [pair("A", "B", "A", holm=True), pair("A", "C", "C"), pair("B", "C", None)]
    claims = judge(plain_order({"A": 3.0, "B": 2.0, "C": 1.0}), pairs)
    assert [item.verdict for item in claims] == ["holds", "contradicted", "open"]
    assert [item.verdict_holm for item in claims] == ["holds", "open", "open"]
    found = count_verdicts(claims, given=True)
    assert (found.claims, found.hold, found.open, found.contradicted) == (3, 1, 1, 1)
    assert (found.hold_holm, found.neighbours, found.neighbours_hold) == (1, 2, 1)
    assert found.source == "published"
