"""However much is wrong with a file, the list of it stays short and is made in linear time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assay.errors import Problem, TableError
from assay.formats.catalogue import FORMATS, Options, load_format, save_format
from assay.tables.load import MAX_LISTED, Findings, Raw

MANY = 40_000


def test_problems_are_listed_by_column_and_the_rest_counted() -> None:
    findings = Findings("x")
    findings.stop()
    problems = [Problem("bad", line, "seg") for line in range(MAX_LISTED + 2)]
    for problem in problems:
        findings.add(problem.message, problem.line, problem.column)
    findings.add("worse", 5000, "doc")
    with pytest.raises(TableError) as caught:
        findings.stop(rows=7)
    assert list(caught.value.problems) == [
        *problems[:MAX_LISTED],
        Problem("worse", 5000, "doc"),
        Problem("2 more rows have problems like these", None, "seg"),
    ]
    assert caught.value.rows == 7


def test_rows_with_one_problem_are_of_one_sort() -> None:
    values = pl.Series("score", range(MAX_LISTED + 3))
    findings = Findings(Raw(pl.DataFrame([values]), "frame"))
    findings.rows(values >= 0, "score", values, "{} is bad")
    findings.rows(values == 1, "score", values, "{} is worse")
    with pytest.raises(TableError) as caught:
        findings.stop()
    messages = [problem.message for problem in caught.value.problems]
    assert messages[:3] == ["0 is bad", "1 is bad", "1 is worse"]
    assert messages[-1] == "3 more rows have problems like these"
    assert len(messages) == MAX_LISTED + 2


def scores() -> pl.DataFrame:
    return pl.select(pl.int_range(MANY).cast(pl.String).alias("seg")).with_columns(
        system=pl.lit("A"), source=pl.lit("s"), target=pl.lit("t"), lp=pl.lit("en-de")
    )


def named() -> pl.DataFrame:
    return scores().with_columns(pl.format("s{}", "seg").alias("seg"))


WRITTEN: dict[str, tuple[str, str, Callable[[], pl.DataFrame]]] = {
    "segments that are no numbers": (
        "appraise-batches", "scores", named,
    ),
    "no texts": (
        "appraise-batches", "scores", lambda: scores().with_columns(target=pl.lit(None, pl.String)),
    ),
    "segments that are no lines": (
        "mt-metrics-eval", "scores", named,
    ),
    "documents in pieces": (
        "mt-metrics-eval", "scores",
        lambda: scores().with_columns(
            pl.format("{}", pl.col("seg").cast(pl.Int64) + 1).alias("seg"),
            pl.format("d{}", pl.col("seg").cast(pl.Int64) % 2).alias("doc"),
        ),
    ),
    "control characters": (
        "xliff", "edits",
        lambda: scores().select(
            "system", "seg", doc=pl.lit("d"), editor=pl.lit("e"), mt=pl.lit("a"),
            edited=pl.lit("\x01"),
        ),
    ),
    "screens that are no rankings": (
        "wmt-rnk", "judgments",
        lambda: scores().select(
            set=pl.col("seg"), left=pl.lit("A"), right=pl.lit("B"), winner=pl.lit("left"),
            lp=pl.lit("en-"),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN)
def test_writing_what_is_wrong_everywhere(tmp_path: Path, case: str) -> None:
    name, kind, frame = WRITTEN[case]
    options = Options(lp="en-de") if "lp" in FORMATS[name].writes[kind] else None
    with pytest.raises(TableError) as caught:
        save_format(frame(), tmp_path / "x", name, kind, options)
    assert MAX_LISTED < len(caught.value.problems) <= MAX_LISTED + 2
    assert "more rows have problems like these" in caught.value.problems[-1].message
    assert list(tmp_path.iterdir()) == []


UNIT = (
    '<trans-unit id="1"><source>s</source><target>t</target>'
    '<alt-trans origin="mt"><target>m</target></alt-trans>'
    '<alt-trans origin="mt"><target>n</target></alt-trans></trans-unit>\n'
)
READ: dict[str, tuple[str, str]] = {
    "pearmut": ("[1]\n" * MANY, "ratings"),
    "label-studio": (json.dumps([{}] * MANY), "ratings"),
    "appraise": ("u,A,1,TGT,eng,deu,5,1,2\n" + "u,A,1,XXX,eng,deu,5,1,2\n" * MANY, "ratings"),
    "wmt-seg-scores": ("x\n" * MANY, "scores"),
    "evalica": ("left,right,winner\n" + "A,B\n" * MANY, "judgments"),
    "xliff": (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
        f'<file original="d"><body>\n{UNIT * MANY}</body></file></xliff>',
        "edits",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_reading_what_is_wrong_everywhere(tmp_path: Path, name: str) -> None:
    content, kind = READ[name]
    path = tmp_path / "x"
    path.write_text(content)
    with pytest.raises(TableError) as caught:
        load_format(path, name, kind)
    problems = caught.value.problems
    assert MAX_LISTED < len(problems) <= MAX_LISTED + 2
    assert problems[-1].message == f"{MANY - MAX_LISTED:,} more rows have problems like these"


def test_lines_that_are_no_json_and_ratings_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{\n" * MANY)
    with pytest.raises(TableError, match="is not JSON") as caught:
        load_format(path, "pearmut")
    assert len(caught.value.problems) == MAX_LISTED + 1
    (tmp_path / "human-scores").mkdir()
    (tmp_path / "human-scores/en-de.mqm.seg.rating").write_text("A\tx\n" * MANY)
    with pytest.raises(TableError, match="is not JSON") as caught:
        load_format(tmp_path, "mt-metrics-eval", "errors")
    assert len(caught.value.problems) == MAX_LISTED + 1


def test_many_resets_take_no_longer_than_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    item = {"item_id": "1", "src": "s", "tgt": {"A": "t"}}
    answer = {"user_id": "u", "item": [item], "annotation": [{"A": {"score": 5}}]}
    reset = {"user_id": "v", "annotation": "__RESET__"}
    voided = {**answer, "user_id": "v"}
    lines = [answer, voided, *[reset] * MANY]
    lines += [{**answer, "item": [{**item, "item_id": str(n)}]} for n in range(2, MANY // 2)]
    lines += [reset] * MANY
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    raw = load_format(path, "pearmut")
    assert raw.frame.height == MANY // 2 - 1
    assert raw.notes == ("lines voided by a later reset: 1",)


@pytest.mark.parametrize("name", ["pearmut", "label-studio", "appraise", "evalica", "google-mqm"])
def test_bytes_that_are_no_utf8_are_told_alike(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\nb\xe4c\n\nd\xfc\n")
    with pytest.raises(TableError) as caught:
        load_format(path, name)
    found = [(problem.line, problem.message) for problem in caught.value.problems]
    assert [line for line, _ in found] == [2, 4]
    assert found[0][1].startswith("byte 0xe4 is not UTF-8; save the file as UTF-8")
