"""What editors send back: nothing is joined that does not belong together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError, OptionError

Run = Callable[..., Ran]
Change = Callable[[pl.DataFrame], pl.DataFrame]
SYSTEMS = ("Alpha", "Beta", "Human")
WORDS = {
    "Alpha": "das ist der Satz {} vom Text {}",
    "Beta": "so lautet Nummer {} im Dokument {}",
    "Human": "hier steht Zeile {} aus Teil {}",
}


def make(
    folder: Path, *, editors: int = 3, design: str = "graeco-latin", **options: object
) -> assay.BuiltKits:
    """Kits of three documents of four segments."""
    rows = [
        {"system": name, "doc": doc, "seg": seg, "source": f"This is sentence {seg} of text {doc}",
         "target": text.format(seg, doc)}
        for name, text in WORDS.items() for doc in "xyz" for seg in range(1, 5)
    ]  # fmt: skip
    plan = assay.design_kits(SYSTEMS, editors, design=design, documents=["x", "y", "z"], rng=5)
    texts = assay.read_scores(pl.DataFrame(rows), metrics=[])
    return assay.build_kits(plan.kits, texts, folder / "kits", **options)  # type: ignore[arg-type]


@pytest.fixture
def built(tmp_path: Path) -> assay.BuiltKits:
    """Kits that came back, the first word of every second translation changed."""
    kits = make(tmp_path)
    other = pl.col("target").str.replace(r"^\w+", "jetzt")
    every = pl.when(pl.int_range(pl.len()) % 2 == 0).then(other).otherwise("target")
    for path in kits.files[:-1]:
        change(path, lambda frame: frame.with_columns(target=every))
    return kits


def change(path: Path, how: Change) -> None:
    frame = pl.read_csv(path, separator="\t", infer_schema=False)
    how(frame).write_csv(path, separator="\t")


def refused(built: assay.BuiltKits, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        assay.collect_kits(built.key, built.files[:-1])
    for word in ("editor-01", *words):
        assert word in str(caught.value)


def test_a_good_return(built: assay.BuiltKits) -> None:
    edits = assay.collect_kits(built.key, built.files[:-1])
    assert len(edits) == 36
    assert edits.notes == ()
    assert "seconds" not in edits.frame.columns
    assert (edits.frame["mt"] != edits.frame["edited"]).sum() == 18


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_and_frames(built: assay.BuiltKits, kind: type) -> None:
    files = [kind(path) for path in built.files[:-1]]
    frame = pl.read_csv(built.key, separator="\t")
    for key in (kind(built.key), frame, pd.DataFrame(frame.to_dict(as_series=False))):
        edits = assay.collect_kits(key, files)
        assert len(edits) == 36
    with pytest.raises(OptionError, match="is one path; give a list"):
        assay.collect_kits(built.key, str(files[0]))
    with pytest.raises(OptionError, match="empty .drop. is not known"):
        assay.collect_kits(built.key, files, empty="drop")  # type: ignore[arg-type]


def test_effort_takes_paths_and_frames(built: assay.BuiltKits, tmp_path: Path) -> None:
    edits = assay.collect_kits(built.key, built.files[:-1])
    edits.write(tmp_path / "edits.tsv")
    known = assay.effort(edits, measures=["distance"], rng=1).to_dict()
    for source in (tmp_path / "edits.tsv", str(tmp_path / "edits.tsv"), edits.frame):
        assert assay.effort(source, measures=["distance"], rng=1).to_dict() == known
    with pytest.raises(InputError, match="int: 1 problem\n  is not a table"):
        assay.effort(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        pytest.param(
            lambda f: f.with_columns(pl.col("source", "target").shift(1, fill_value="gone")),
            ("line 2, column source", "k01-1-001", "'gone'", "'This is sentence 1 of text"),
            id="rows shifted",
        ),
        pytest.param(
            lambda f: f.with_columns(source=pl.lit("x")), ("line 13", "is 'x', in the key"),
            id="sources replaced",
        ),
        pytest.param(
            lambda f: f.with_columns(target=pl.col("target").sort()),
            ("translations are those of other rows", "was the column moved"),
            id="one column sorted",
        ),
        pytest.param(
            lambda f: pl.concat([f, f[:1].with_columns(target=pl.lit("other"))]),
            ("line 14, column id", "k01-1-001 appears twice"),
            id="an id twice",
        ),
        pytest.param(
            lambda f: pl.concat([f[3:], f[:1].with_columns(id=pl.lit("9"))]),
            ("line 11, column id: '9' is not a segment of this kit",
             "3 segments are missing: k01-1-001, k01-1-002, k01-1-003;"),
            id="rows missing and foreign",
        ),
        pytest.param(
            lambda f: f.with_columns(
                target=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("\u00a0 "))
                .otherwise("target")),
            ("line 3, column target: the translation of k01-1-002 is empty", "what it means"),
            id="a blank translation",
        ),
        pytest.param(
            lambda f: f.with_columns(seconds=pl.lit("12,5")),
            ("line 2, column seconds: '12,5' has a decimal comma",),
            id="a decimal comma",
        ),
        pytest.param(
            lambda f: f.with_columns(seconds=pl.lit("-4")),
            ("line 2, column seconds: -4.0 is not a time",),
            id="a negative time",
        ),
        pytest.param(lambda f: f.drop("id"), ("there is no column id",), id="no ids"),
    ],
)  # fmt: skip
def test_what_is_refused(built: assay.BuiltKits, how: Change, words: tuple[str, ...]) -> None:
    change(built.files[0], how)
    refused(built, str(built.files[0]), *words)


def test_rows_in_another_order(built: assay.BuiltKits) -> None:
    known = assay.collect_kits(built.key, built.files[:-1]).frame
    change(built.files[0], lambda frame: frame.reverse())
    assert assay.collect_kits(built.key, built.files[:-1]).frame.equals(known)


@pytest.mark.parametrize("design", ["graeco-latin", "permutations", "identical"])
def test_another_editors_kit(tmp_path: Path, design: str) -> None:
    """By the ids, whatever the design."""
    kits = make(tmp_path, design=design)
    kits.files[0].write_bytes(kits.files[1].read_bytes())
    refused(kits, "this is the kit of editor-02, not of editor-01")


@pytest.mark.parametrize("design", ["graeco-latin", "permutations"])
def test_another_editors_kit_where_ids_repeat(tmp_path: Path, design: str) -> None:
    """By the sources, and where these are the same in the same order by the translations."""
    kits = make(tmp_path, design=design)
    for path in (kits.key, *kits.files[:-1]):
        change(path, lambda frame: frame.with_columns(pl.col("id").str.replace("k..-", "")))
    kits.files[0].write_bytes(kits.files[1].read_bytes())
    change(kits.files[0], lambda frame: frame.with_columns(pl.col("target").str.to_titlecase()))
    refused(kits, "this is the kit of editor-02, not of editor-01")


def test_a_file_without_sources(built: assay.BuiltKits) -> None:
    change(built.files[0], lambda frame: frame.select("id", "target"))
    edits = assay.collect_kits(built.key, built.files[:-1])
    assert edits.notes == (
        "editor-01.tsv: no column source, so only ids were compared with the key",
    )


def test_empty_translations(built: assay.BuiltKits, tmp_path: Path, run_assay: Run) -> None:
    blank = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("")).otherwise("target")
    change(built.files[0], lambda frame: frame.with_columns(target=blank))
    given = ["kits", "collect", built.key, *built.files[:-1], "-o", tmp_path / "edits.tsv"]
    ran = run_assay(*given)
    assert ran.code == 2
    assert "3 problems" in ran.err
    assert not (tmp_path / "edits.tsv").exists()
    ran = run_assay(*given, "--empty", "unchanged")
    assert "editor-01.tsv: 3 empty translations: taken as unchanged" in ran.err
    frame = assay.read_edits(tmp_path / "edits.tsv").frame
    assert (frame["edited"] == frame["mt"])[:3].all()
    ran = run_assay(*given, "--empty", "keep")
    assert "3 empty translations: kept" in ran.err
    ran = run_assay("check", tmp_path / "edits.tsv", "--kind", "edits")
    assert "3 edited texts are empty (first: line 2)" in ran.out
    ran = run_assay("effort", tmp_path / "edits.tsv", "--seed", 1)
    assert "3 edited texts are empty" in ran.err


def test_who_is_missing(built: assay.BuiltKits, tmp_path: Path, run_assay: Run) -> None:
    given = ["kits", "collect", built.key, *built.files[1:-1], "-o", tmp_path / "edits.tsv"]
    ran = run_assay(*given, "--json")
    result = json.loads(ran.out)
    assert result["editors"] == ["editor-02", "editor-03"]
    (note,) = result["notes"]
    assert (
        "no file from 1 of 3 editors: editor-01; the design is no longer balanced" in note["text"]
    )
    assert "a system is edited 0 to 1 times in a document; no editor edited " in note["text"]
    assert note["text"] in run_assay(*given).err


def test_missing_editors_and_balance(tmp_path: Path) -> None:
    kits = make(tmp_path, design="identical")
    edits = assay.collect_kits(kits.key, kits.files[:1])
    assert "no file from 2 of 3 editors: editor-02, editor-03" in edits.notes
    (tmp_path / "more").mkdir()
    kits = make(tmp_path / "more", editors=6, design="latin")
    key = pl.read_csv(kits.key, separator="\t")
    parts = key.partition_by("file")
    half = {tuple(part["system"]): part["file"][0] for part in parts}  # one of each kind of kit
    edits = assay.collect_kits(key, [kits.folder / f"{name}.tsv" for name in half.values()])
    assert edits.notes[-1].endswith(
        "; every system is still edited equally often in every document"
    )


def test_who_changed_nothing(tmp_path: Path) -> None:
    kits = make(tmp_path)
    edits = assay.collect_kits(kits.key, kits.files[:-1])
    assert edits.notes[1] == "editor-02 changed nothing; was this file worked on?"


def test_white_space_is_no_edit(built: assay.BuiltKits) -> None:
    known = assay.collect_kits(built.key, built.files[:-1]).frame
    change(built.files[0], lambda frame: frame.with_columns(
        target="\u00a0" + pl.col("target").str.replace_all(" ", "\u00a0") + " "))  # fmt: skip
    edits = assay.collect_kits(built.key, built.files[:-1])
    assert edits.frame.equals(known)
    assert edits.notes == ("white space of the original restored in 12 translations",)


@pytest.mark.parametrize("format", ["tsv", "xlsx"])
def test_times_are_asked_for(tmp_path: Path, format: str) -> None:
    kits = make(tmp_path, formats=[format])
    path = kits.files[0]
    read = pl.read_excel if format == "xlsx" else lambda p: pl.read_csv(p, separator="\t")
    frame = read(path)
    assert frame.columns == ["text", "id", "source", "target", "seconds"]
    assert frame["seconds"].null_count() == 12
    assert "in seconds (90, not" in (tmp_path / "kits" / "instructions.txt").read_text()
    times = pl.Series("seconds", [1.5, None] * 6)
    assay.tables.typed_files.save(frame.with_columns(times), path)
    edits = assay.collect_kits(kits.key, kits.files[:-1]).frame
    assert edits["seconds"][:2].to_list() == [1.5, None]


def test_semicolons(built: assay.BuiltKits) -> None:
    path = built.files[0]
    frame = pl.read_csv(path, separator="\t", infer_schema=False)
    frame.write_csv(path, separator=";")
    refused(built, "its cells are separated by ';'", "rename it to editor-01.csv")
    path.rename(path.with_suffix(".csv"))
    files = [path.with_suffix(".csv"), *built.files[1:-1]]
    assert len(assay.collect_kits(built.key, files)) == 36


def test_one_editor_twice(built: assay.BuiltKits) -> None:
    with pytest.raises(InputError, match="editor-01 was given twice"):
        assay.collect_kits(built.key, [built.files[0], built.files[0]])


def test_names_of_files(built: assay.BuiltKits) -> None:
    path = built.files[0].rename(built.files[0].with_name("editor-02 final (2).tsv"))
    with pytest.raises(InputError, match=r"no editor's file has this name.* \(editor-02\)"):
        assay.collect_kits(built.key, [path])


def test_a_key_with_a_segment_twice(built: assay.BuiltKits) -> None:
    change(built.key, lambda frame: pl.concat([frame, frame[:1]]))
    with pytest.raises(InputError, match="names a segment twice"):
        assay.collect_kits(built.key, built.files[:-1])


def test_ids_of_a_translation_tool(tmp_path: Path) -> None:
    """Some tools number units anew: order and sources still tell which is which."""
    kits = make(tmp_path, formats=["xliff"])
    path = kits.files[0]
    content = path.read_text("utf-8")
    path.write_text(re.sub('id="k01-', 'id="job:', content), "utf-8")
    edits = assay.collect_kits(kits.key, [path])
    assert (edits.frame["mt"] == edits.frame["edited"]).all()
    assert (
        "editor-01.xliff: its ids are not those of the kit; rows were joined in order"
        in edits.notes[0]
    )
    path.write_text(re.sub('id="k01-', 'id="job:', content).replace("sentence 2", "x", 1), "utf-8")
    with pytest.raises(InputError, match="'job:1-001' is not a segment of this kit"):
        assay.collect_kits(kits.key, [path])
    path.write_text(content.replace("k01-1-002", "k01-1-001"), "utf-8")
    with pytest.raises(InputError, match=r"line \d+, column id: k01-1-001 appears twice"):
        assay.collect_kits(kits.key, [path])


def test_languages_of_xliff(tmp_path: Path) -> None:
    assert "name the language pair, such as en-de" in make(tmp_path, formats=["xliff"]).warnings[0]
    (tmp_path / "more").mkdir()
    assert make(tmp_path / "more", formats=["xliff"], languages="en-de").warnings == ()


def test_two_tables_of_edits(built: assay.BuiltKits, tmp_path: Path, run_assay: Run) -> None:
    frame = assay.collect_kits(built.key, built.files[:-1]).frame
    first, second, third = (tmp_path / f"{name}.tsv" for name in "abc")
    frame[:24].write_csv(first, separator="\t")
    frame[24:].write_csv(second, separator="\t")
    frame[23:].write_csv(third, separator="\t")
    assert run_assay("effort", first, second, "--seed", 1).code == 0
    ran = run_assay("effort", first, third)
    assert ran.code == 2
    assert f"{third}: 1 problem" in ran.err
    assert "line 2, column editor: system, doc, seg, editor" in ran.err
    assert f"is already in {first}, line 25" in ran.err
    ran = run_assay("effort", first, first)
    assert ran.code == 2
    assert f"EDITS ({first}) was given twice" in ran.err
    ran = run_assay("effort", first, "--format", "foo")
    assert "holds no edits; choose from xliff, mxliff, sdlxliff, xliff2" in ran.err
    ran = run_assay("effort", first, "--format", "google-mqm")
    assert ran.code == 2
    assert "choose from xliff" in ran.err


def test_what_was_written_is_said(built: assay.BuiltKits, tmp_path: Path, run_assay: Run) -> None:
    table, saved, figure = (tmp_path / name for name in ("edits.tsv", "e.json", "e.svg"))
    assay.collect_kits(built.key, built.files[:-1]).write(table)
    ran = run_assay("effort", table, "--seed", 1, "-o", saved, "--figure", figure)
    assert f"written to {saved}; assay report" in ran.out
    assert f"written to {figure}\n" in ran.out


@pytest.mark.parametrize("number", ["-3", "3.5"])
def test_numbers_that_are_no_editors(run_assay: Run, number: str) -> None:
    ran = run_assay("kits", "design", "--systems", "A,B,C", f"--editors={number}")
    assert ran.code == 2
    assert f"--editors ({number}) is not a number of editors" in ran.err
