"""Small files that would fill the memory or take for ever are refused, soon and in little memory.

Every bomb is opened in a process of its own, where its seconds and megabytes are measured.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest
from tests.attacks.bounded import Bounded, check_bounded, run_assay_bounded
from tests.conftest import Ran

import assay
from assay.errors import InputError

MOST_SECONDS, MOST_MEGABYTES = 5.0, 500.0

CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/{part}"
 ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>
</Types>"""
RELATION = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}
</Relationships>"""
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(start: bytes, repeated: bytes, megabytes: int, end: bytes = b"") -> bytes:
    """A gzip file of this start and end, with so much of the repeated bytes between."""
    block = gzip.compress(repeated * (1_000_000 // len(repeated)))
    return gzip.compress(start) + block * megabytes + gzip.compress(end)


def archive(members: dict[str, str | Iterable[str]]) -> bytes:
    """A zip file; a member may come in pieces."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, content in members.items():
            with file.open(name, "w", force_zip64=True) as member:
                for piece in [content] if isinstance(content, str) else content:
                    member.write(piece.encode())
    return buffer.getvalue()


def workbook(sheet: str | Iterable[str], strings: str = "") -> bytes:
    """A workbook with one sheet, given as the content of its sheetData."""
    pieces = [sheet] if isinstance(sheet, str) else sheet
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def whole() -> Iterable[str]:
        yield f"<worksheet {space}><sheetData>"
        yield from pieces
        yield "</sheetData></worksheet>"

    relations = [
        f'<Relationship Id="r{i}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(
            [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")]
        )
    ]
    book = f'<Relationship Id="r0" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    return archive({
        "[Content_Types].xml": CONTENT_TYPES.format(
            part="xl/workbook.xml", kind="spreadsheetml.sheet.main"
        ),
        "_rels/.rels": RELATION.format(book),
        "xl/_rels/workbook.xml.rels": RELATION.format("".join(relations)),
        "xl/workbook.xml": f'<workbook {space} xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="r0"/></sheets></workbook>',
        "xl/sharedStrings.xml": f"<sst {space}>{strings}</sst>",
        "xl/worksheets/sheet1.xml": whole(),
    })  # fmt: skip


def document(paragraph: str, megabytes: int) -> bytes:
    """A Word document of this paragraph, again and again."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    block = paragraph * (1_000_000 // len(paragraph))

    def whole() -> Iterable[str]:
        yield f"<w:document {space}><w:body>"
        for _ in range(megabytes):
            yield block
        yield "</w:body></w:document>"

    part = f'<Relationship Id="r0" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    return archive({
        "[Content_Types].xml": CONTENT_TYPES.format(
            part="word/document.xml", kind="wordprocessingml.document.main"
        ),
        "_rels/.rels": RELATION.format(part),
        "word/document.xml": whole(),
    })  # fmt: skip


def cell(place: str, text: str = "system") -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


HEADER = b"system\tseg\tscore\n"
FIRST_ROW = '<row r="1">' + cell("A1") + cell("B1", "seg") + cell("C1", "score") + "</row>"


def table(width: int, rows: int) -> bytes:
    """A scores table with so many metrics."""
    names = "\t".join(f"m{i}" for i in range(width))
    lines = "".join(f"A\t{row}" + "\t1" * width + "\n" for row in range(rows))
    return f"system\tseg\t{names}\n{lines}".encode()


def json_keys(count: int) -> bytes:
    """JSON lines, each with a key of its own."""
    return "".join(f'{{"system": "A", "seg": "{i}", "k{i}": 1}}\n' for i in range(count)).encode()


def many_rows() -> bytes:
    """A Parquet file of a few kilobytes with ten million equal rows."""
    buffer = io.BytesIO()
    one = {"system": "A", "seg": "1", "score": 1.0}
    rows = pl.select(**{k: pl.repeat(v, 10_000_000) for k, v in one.items()})
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


BOMBS: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...]]] = {
    "gzip of rows": (
        "x.tsv.gz", lambda: packed(HEADER, b"A\t1\t2\n", 3000), ("--kind", "ratings")),
    "gzip of one line": ("x.tsv.gz", lambda: packed(b"", b"A", 3000), ("--kind", "ratings")),
    "gzip of tabs": ("x.tsv.gz", lambda: packed(b"", b"\t", 3000), ("--kind", "ratings")),
    "gzip of quotation marks": (
        "x.csv.gz", lambda: packed(b'system,seg,score\n"', b'""', 2000), ("--kind", "ratings")),
    "gzip with noise before it": (
        "x.tsv.gz",
        lambda: packed(HEADER + b"A\t" + os.urandom(500_000).hex().encode(), b"x", 3000),
        ("--kind", "ratings")),
    "gzip in one piece": (
        "x.tsv.gz", lambda: gzip.compress(HEADER + b"A\t1\t2\n" * 15_000_000, 6),
        ("--kind", "ratings")),
    "gzip of JSON lines": (
        "x.jsonl.gz", lambda: packed(b"", b'{"system": "A"}\n', 2000), ("--kind", "ratings")),
    "gzip of JSON": (
        "x.json.gz", lambda: packed(b"[0", b",[]", 1000, b"]"),
        ("--kind", "ratings", "--format", "label-studio")),
    "gzip of little JSON, many values": (
        "x.json.gz", lambda: packed(b"[0", b",[]", 60, b"]"),
        ("--kind", "ratings", "--format", "label-studio")),
    "gzip of XLIFF": (
        "x.xliff.gz", lambda: packed(b"<xliff>", b"<a/>", 1000, b"</xliff>"),
        ("--kind", "edits", "--format", "xliff")),
    "gzip of little XLIFF, many elements": (
        "x.xliff.gz", lambda: packed(b"<xliff>", b"<a/>", 60, b"</xliff>"),
        ("--kind", "edits", "--format", "xliff")),
    "gzip of a workbook of zeros": (
        "x.xlsx.gz", lambda: packed(b"PK\x03\x04", b"\0", 3000), ("--kind", "ratings")),
    "gzip of WMT rankings": (
        "x.csv.gz", lambda: packed(b"srclang,trglang\n", b"a,b\n", 2000),
        ("--kind", "judgments", "--format", "wmt-rnk")),
    "workbook with a far cell": (
        "x.xlsx",
        lambda: workbook(FIRST_ROW + f'<row r="1048576">{cell("XFD1048576")}</row>'),
        ("--kind", "ratings")),
    "workbook with a far cell, places in disguise": (
        "x.xlsx",
        lambda: workbook(
            FIRST_ROW + '<row r="1048576"><c z=">" r = \'XFD1048576\'><v>1</v></c></row>'),
        ("--kind", "ratings")),
    "workbook whose cells have no places": (
        "x.xlsx",
        lambda: workbook([
            "<row>" + "<c><v>1</v></c>" * 16000 + "</row>", *["<row></row>"] * 200_000,
            "<row><c><v>1</v></c></row>"]),
        ("--kind", "ratings")),
    "workbook of many equal cells": (
        "x.xlsx", lambda: workbook(["<row><c><v>1</v></c></row>" * 10000] * 300),
        ("--kind", "ratings")),
    "workbook with a long text in every cell": (
        "x.xlsx",
        lambda: workbook(
            [f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(1, 20_000)],
            f"<si><t>{'x' * 32000}</t></si>"),
        ("--kind", "ratings")),
    "workbook that names a huge sheet": (
        "x.xlsx", lambda: workbook([" " * 1_000_000] * 100), ("--kind", "ratings")),
    "Parquet of equal rows": ("x.parquet", many_rows, ("--kind", "ratings")),
    "100,000 columns": ("x.tsv", lambda: table(100_000, 2), ("--kind", "scores")),
    "a header of a megabyte": (
        "x.tsv", lambda: b"system\tseg\t" + b"x" * 1_200_000 + b"\nA\t1\t2\n",
        ("--kind", "scores")),
    "a quoted header of a megabyte": (
        "x.tsv", lambda: b'system\tseg\t"' + b"x\n" * 600_000 + b'"\nA\t1\t2\n',
        ("--kind", "scores")),
    "JSON lines with 30,000 keys": ("x.jsonl", lambda: json_keys(30_000), ("--kind", "scores")),
    "JSON lines with few keys in many rows": (
        "x.jsonl", lambda: json_keys(4000) + b'{"seg": 1}\n' * 100_000, ("--kind", "scores")),
    "JSON lines nested deeply": (
        "x.jsonl", lambda: b'{"system": ' + b"[" * 900 + b"]" * 900 + b"}\n", ("--kind", "scores")),
    "a cell of 20 million characters": (
        "x.tsv", lambda: HEADER + b"A\t" + b"1" * 20_000_000 + b"\t2\n", ("--kind", "ratings")),
}  # fmt: skip


def need_bounded(ran: Bounded) -> None:
    assert ran.seconds < MOST_SECONDS, ran
    assert ran.megabytes < MOST_MEGABYTES, ran


ALONE = ["gzip in one piece", "workbook with a far cell", "100,000 columns"]
"""Each of these is opened by the command line, the others one after the other in one process."""


@pytest.mark.parametrize("name", ALONE)
def test_a_bomb_is_refused(name: str, tmp_path: Path) -> None:
    file, content, options = BOMBS[name]
    (tmp_path / file).write_bytes(content())
    ran = run_assay_bounded("check", file, *options, cwd=tmp_path, seconds=60)
    assert ran.refused(), ran
    need_bounded(ran)


def test_every_bomb_is_refused(tmp_path: Path) -> None:
    files = {}
    for i, (name, (file, content, (_, kind, *form))) in enumerate(BOMBS.items()):
        path = tmp_path / f"{i}{file}"
        path.write_bytes(content())
        assert path.stat().st_size < 8_000_000 or "cell of" in name
        files[name] = (path, kind, form[1] if form else None)
    found, ran = check_bounded(files)
    for name, one in found.items():
        assert not one.ok, name
        assert one.messages, name
        assert one.seconds < MOST_SECONDS, name
    assert ran.megabytes < MOST_MEGABYTES


@pytest.mark.parametrize(
    ("paragraph", "megabytes"),
    [("<w:p/>", 60), ("<w:p><w:r><w:t>So it is.</w:t></w:r></w:p>", 100)],
)
def test_a_document_bomb_is_refused(paragraph: str, megabytes: int, tmp_path: Path) -> None:
    (tmp_path / "x.docx").write_bytes(document(paragraph, megabytes))
    ran = run_assay_bounded("kits", "find", "x.docx", cwd=tmp_path, seconds=60)
    assert ran.refused(), ran
    need_bounded(ran)


def test_a_device_is_refused() -> None:
    ran = run_assay_bounded("check", "/dev/zero", "--kind", "ratings", seconds=60)
    assert ran.refused(), ran
    need_bounded(ran)


def test_a_pipe_without_end_is_refused() -> None:
    with subprocess.Popen(["yes", "A\t1\t2"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        ran = run_assay_bounded(
            "check", "/dev/stdin", "--kind", "judgments", "--format", "evalica",
            stdin=endless.stdout.fileno(), seconds=60,
        )  # fmt: skip
        endless.terminate()
    assert ran.refused(), ran
    need_bounded(ran)


def test_a_file_over_the_limit_is_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "x.tsv").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="1,099,511,627,776 bytes, and 4,000,000,000 is the limit"):
        assay.read_ratings(tmp_path / "x.tsv")


def test_limits_are_raised_in_python_by_an_option_and_in_the_environment(
    tmp_path: Path, run_assay: Callable[..., Ran]
) -> None:
    path = tmp_path / "x.jsonl"
    wide = {"system": "A", "seg": "x", **{f"c{i}": None for i in range(6000)}}
    path.write_text(json.dumps(wide), encoding="utf-8")
    with pytest.raises(InputError, match=r"6,002 columns.* with `limits` \(columns=6002\)"):
        assay.read_scores(path)
    with assay.limits(assay.FileLimits(columns=7000)):
        assert len(assay.read_scores(path)) == 1
    with pytest.raises(InputError, match="columns"):
        assay.read_scores(path)
    arguments = ("check", path, "--kind", "scores")
    assert "assay --limits (columns=" in " ".join(run_assay(*arguments).out.split())
    assert run_assay("--limits", "columns=7e3", *arguments).code == 0
    assert run_assay(*arguments).code == 2
    ran = run_assay_bounded(*arguments, env={"ASSAY_LIMITS": "columns=7000"})
    assert ran.code == 0, ran.err
    ran = run_assay_bounded(*arguments, env={"ASSAY_LIMITS": "columns"})
    assert ran.refused(), ran


@pytest.mark.parametrize(
    ("text", "says"),
    [("columns", "is not a number"), ("colums=3", "did you mean 'columns'"), ("rows=0", "from 1"),
     ("rows=1e999", "is not a number"), ("rows=nan", "is not a number"), ("=", "is not a limit")],
)  # fmt: skip
def test_limits_that_are_none(text: str, says: str, run_assay: Callable[..., Ran]) -> None:
    ran = run_assay("--limits", text, "check", "x.tsv", "--kind", "scores")
    assert ran.code == 2
    assert says in ran.err


def test_as_many_metrics_as_rows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(table(2000, 300))
    ran = run_assay_bounded("check", "x.tsv", "--kind", "scores", cwd=tmp_path)
    assert ran.refused(), ran
    assert "2,000 metrics" in ran.out
    need_bounded(ran)


def test_thousands_of_unknown_names_are_compared_soon(tmp_path: Path) -> None:
    for file, column in (("known", "chrF"), ("unknown", "score")):
        rows = "".join(f"system-{file}-{i}\t1\t3\n" for i in range(3000))
        (tmp_path / f"{file}.tsv").write_text(f"system\tseg\t{column}\n{rows}", encoding="utf-8")
    ran = run_assay_bounded(
        "check", "unknown.tsv", "--kind", "ratings", "--scores", "known.tsv", cwd=tmp_path,
        seconds=60,
    )  # fmt: skip
    assert ran.refused(), ran
    assert "did you mean 'system-known-" in " ".join(ran.out.split())
    need_bounded(ran)


def test_very_long_names_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"{'x' * 60_000}{i}\t1\t3\n" for i in range(100))
    (tmp_path / "x.tsv").write_text(f"system\tseg\tchrF\n{rows}", encoding="utf-8")
    checked = assay.check(tmp_path / "x.tsv", kind="scores")
    assert "is a name of over 5,000 bytes" in checked.problems[0].message
    assert len(str(checked.problems[0])) < 500
