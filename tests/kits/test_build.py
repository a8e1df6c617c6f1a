"""Kits as files: blind, whole or not at all, and back again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError, OptionError
from assay.kits.build import find_traces
from assay.tables.tables import TestSet

Run = Callable[..., Ran]
SYSTEMS = ("Alpha", "Beta", "Human")


@pytest.fixture
def texts() -> TestSet:
    rows = [
        {"system": system, "doc": doc, "seg": seg, "source": f"Quelle {seg} & <b> von {doc}",
         "target": f"{number} words of {doc} that stand in place {seg} of it, {doc * 3}{number}"}
        for number, system in enumerate(SYSTEMS) for doc in "xyz" for seg in (1, 2, 10)
    ]  # fmt: skip
    return assay.read_scores(pl.DataFrame(rows))


@pytest.fixture
def design() -> assay.KitDesign:
    return assay.design_kits(SYSTEMS, 3, documents=["x", "y", "z"], rng=5)


def _all_text(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.iterdir() if path.suffix != ".xlsx")


def test_files_are_blind(texts: TestSet, design: assay.KitDesign, tmp_path: Path) -> None:
    built = assay.build_kits(
        design.kits, texts, tmp_path / "kits", formats=["tsv", "xlsx", "xliff"], languages="de-en"
    )
    assert len(built.files) == 3 * 3 + 1
    assert all(path.is_file() for path in built.files)
    content = _all_text(tmp_path / "kits")
    for name in (*SYSTEMS, "machine", "MT", "engine"):
        assert name not in content
    assert "one sitting" in (tmp_path / "kits" / "instructions.txt").read_text()
    key = pl.read_csv(tmp_path / "kits-key.tsv", separator="\t")
    assert key.height == 27
    assert key.filter(pl.col("editor") == "editor-01")["seg"].to_list() == [1, 2, 10] * 3


@pytest.mark.parametrize("format", ["tsv", "xlsx", "xliff"])
def test_there_and_back(
    format: str, texts: TestSet, design: assay.KitDesign, tmp_path: Path
) -> None:
    built = assay.build_kits(design.kits, texts, tmp_path / "kits", formats=[format])
    key = pl.read_csv(built.key, separator="\t", infer_schema=False)
    edits = assay.collect_kits(key, built.files[:-1])
    assert len(edits) == 27
    assert (edits.frame["mt"] == edits.frame["edited"]).all()
    order = dict(zip(design.to_frame().select("editor", "doc").rows(),
                     design.to_frame()["system"], strict=True))  # fmt: skip
    for row in edits.frame.iter_rows(named=True):
        assert order[row["editor"], row["doc"]] == row["system"]


def test_edits_and_seconds_come_back(
    texts: TestSet, design: assay.KitDesign, tmp_path: Path, run_assay: Run
) -> None:
    built = assay.build_kits(design.kits, texts, tmp_path / "kits")
    for path in built.files[:-1]:
        frame = pl.read_csv(path, separator="\t", infer_schema=False)
        frame.with_columns(
            (pl.col("target") + "!").alias("target"), pl.lit("2.5").alias("seconds")
        ).write_csv(path, separator="\t")
    ran = run_assay("kits", "collect", built.key, *built.files[:-1], "-o", tmp_path / "edits.tsv")
    assert "27 edits of 3 editors" in ran.out
    edits = assay.read_edits(tmp_path / "edits.tsv")
    assert set(edits.frame["seconds"]) == {2.5}
    assert (edits.frame["edited"] == edits.frame["mt"] + "!").all()


def test_times_of_translation_tools_come_back(
    texts: TestSet, design: assay.KitDesign, tmp_path: Path
) -> None:
    built = assay.build_kits(design.kits, texts, tmp_path / "kits", formats=["xliff"])
    key = pl.read_csv(built.key, separator="\t", infer_schema=False)
    content = built.files[0].read_text("utf-8")
    stats = "<m:editing-stats><m:editing-time>1250</m:editing-time></m:editing-stats></trans-unit>"
    content = content.replace("</trans-unit>", stats)
    content = content.replace("<xliff ", '<xliff xmlns:m="http://www.memsource.com/mxlf/2.0" ', 1)
    path = built.files[0].with_suffix(".mxliff")
    path.write_text(content, "utf-8")
    edits = assay.collect_kits(key, [path])
    assert set(edits.frame["seconds"]) == {1.25}
    path.write_text(content.replace("1250", "soon", 1), "utf-8")
    with pytest.raises(InputError, match=r"line \d+: expected milliseconds, found 'soon'"):
        assay.collect_kits(key, [path])
    trados = path.with_suffix(".sdlxliff")
    marked = (
        built.files[0]
        .read_text("utf-8")
        .replace('translation">', 'translation"><mrk mtype="seg" mid="1">')
    )
    trados.write_text(marked.replace("</target>", "</mrk></target>"), "utf-8")
    back = assay.collect_kits(key, [trados]).frame
    assert (back["mt"] == back["edited"]).all()


def test_incomplete_returns_are_refused(
    texts: TestSet, design: assay.KitDesign, tmp_path: Path
) -> None:
    built = assay.build_kits(design.kits, texts, tmp_path / "kits")
    key = pl.read_csv(built.key, separator="\t", infer_schema=False)
    first = built.files[0]
    lines = first.read_text().splitlines(keepends=True)
    first.write_text("".join(lines[:-1]))
    with pytest.raises(InputError, match="1 segments are missing: k01-3-003; ask for the whole"):
        assay.collect_kits(key, [first])
    other = first.with_name("other.tsv")
    first.rename(other)
    with pytest.raises(InputError, match="no editor's file has this name"):
        assay.collect_kits(key, [other])
    with pytest.raises(InputError, match="no file was given"):
        assay.collect_kits(key, [])
    with pytest.raises(InputError, match="the key lacks mt"):
        assay.collect_kits(key.drop("mt"), [])


def test_nothing_is_overwritten(texts: TestSet, design: assay.KitDesign, tmp_path: Path) -> None:
    built = assay.build_kits(design.kits, texts, tmp_path / "kits")
    before = built.key.read_bytes()
    with pytest.raises(OptionError, match="kits are never overwritten"):
        assay.build_kits(design.kits, texts, tmp_path / "kits", key=tmp_path / "new.tsv")
    with pytest.raises(OptionError, match="a lost key cannot be recreated"):
        assay.build_kits(design.kits, texts, tmp_path / "more", key=built.key)
    assert built.key.read_bytes() == before
    assert not (tmp_path / "more").exists()
    with pytest.raises(OptionError, match="is inside the folder of the kits"):
        assay.build_kits(design.kits, texts, tmp_path / "more", key=tmp_path / "more" / "k.tsv")


def test_nothing_is_half_written(
    texts: TestSet, design: assay.KitDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(InputError, match="No space left"):
        assay.build_kits(design.kits, texts, tmp_path / "kits")
    assert list(tmp_path.iterdir()) == []


def test_control_characters(texts: TestSet, design: assay.KitDesign, tmp_path: Path) -> None:
    bad = texts.frame.with_columns((pl.col("target") + "\x07").alias("target"))
    with pytest.raises(InputError, match="holds a control character"):
        assay.build_kits(design.kits, assay.read_scores(bad), tmp_path / "kits", formats=["xliff"])
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_is_told(texts: TestSet, design: assay.KitDesign, tmp_path: Path) -> None:
    def build(frame: pl.DataFrame, **options: object) -> None:
        assay.build_kits(design.kits, assay.read_scores(frame), tmp_path / "kits", **options)

    frame = texts.frame
    with pytest.raises(InputError, match="lack source"):
        build(frame.drop("source"))
    with pytest.raises(InputError, match="no translation of '.' by 'Beta'"):
        build(frame.filter(pl.col("system") != "Beta"))
    with pytest.raises(InputError, match="has 2 of the 3 segments of 'x'"):
        build(frame.filter(~((pl.col("system") == "Alpha") & (pl.col("doc") == "x")
                             & (pl.col("seg") == "2"))))  # fmt: skip
    empty = pl.when(pl.col("doc") == "y").then(pl.lit(" ")).otherwise(pl.col("target"))
    with pytest.raises(InputError, match="target of segment 1 of 'y' by '.*' is empty .3 in all."):
        build(frame.with_columns(empty.alias("target")))
    with pytest.raises(OptionError, match="formats .pdf. is not known"):
        build(frame, formats=["pdf"])
    with pytest.raises(OptionError, match="human .Humann. has no translations"):
        build(frame, human="Humann")
    assert list(tmp_path.iterdir()) == []


def test_traces_of_an_engine(texts: TestSet) -> None:
    copied = texts.frame.with_columns(
        pl.when(pl.col("system") == "Human")
        .then(pl.col("target").str.replace("^2", "0"))
        .otherwise(pl.col("target"))
        .alias("target")
    ).with_columns(
        pl.when(pl.col("system") == "Beta")
        .then(pl.lit("something else altogether was written by this one"))
        .otherwise(pl.col("target"))
        .alias("target")
    )
    found = {t.system: t for t in find_traces(assay.read_scores(copied), "Human", ["x", "y", "z"])}
    assert found["Alpha"].suspect
    assert len(found["Alpha"].near) == 9
    assert not found["Beta"].suspect


def test_command(texts: TestSet, design: assay.KitDesign, tmp_path: Path, run_assay: Run) -> None:
    texts.write(tmp_path / "texts.tsv")
    design.to_frame().write_csv(tmp_path / "design.tsv", separator="\t")
    given = ["kits", "build", tmp_path / "design.tsv", tmp_path / "texts.tsv"]
    ran = run_assay(*given, "-o", tmp_path / "kits", "--human", "Human", "--json")
    result = json.loads(ran.out)
    assert (result["editors"], result["segments"]) == (3, 27)
    assert {item["system"] for item in result["traces"]} == {"Alpha", "Beta"}
    ran = run_assay(*given, "-o", tmp_path / "two", "--human", "Human")
    assert "keep it from the editors" in ran.out
    assert "may have been made from its output" in ran.err
    ran = run_assay(*given, "-o", tmp_path / "two")
    assert ran.code == 2
