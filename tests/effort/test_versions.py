"""Files of a translation tool before and after editing: what is joined, and what is refused."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran
from tests.effort.deliveries import TRANSLATORS, deliver, translated, unit, write

import assay
from assay.effort.alignment import align
from assay.effort.versions import read_versions
from assay.errors import InputError
from assay.formats.bilingual import VersionSegment
from assay.tables.answers import Edits


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return deliver(tmp_path, docs=5, segments=14)


def _notes(edits: Edits) -> dict[str, str]:
    return {note.code: str(note) for note in edits.notes}


def test_a_delivery_is_joined(folders: tuple[Path, Path]) -> None:
    edits = read_versions(*folders)
    frame = edits.frame
    assert {*frame["system"]} == {"DeepL", "Google", "Custom"}
    assert {*frame["editor"]} == {*TRANSLATORS}
    assert frame["doc"].n_unique() == 5
    assert frame.height == 5 * 3 * 11  # of 14: one locked, one untouched, one emptied
    notes = _notes(edits)
    assert notes["joined"].startswith("joined: 15 files before and after editing with 165 segments")
    assert (
        "15 locked, 15 unchanged and not confirmed, 15 emptied and not confirmed"
        in (notes["left-out"])
    )
    assert "not-joined" not in notes
    split = frame.filter(seg="7").row(0, named=True)
    assert split["mt"].split() == translated(split["source"]).split()
    assert " " in split["edited"]
    assert not frame["edited"].str.contains("<g").any()


def test_the_cheaper_engine_is_found(folders: tuple[Path, Path]) -> None:
    result = assay.effort(read_versions(*folders), rate="40 EUR", rng=1)
    assert result.verdict is not None
    assert (result.verdict.best, result.verdict.decided) == ("Custom", True)
    assert result.verdict.why == "no-times"


@pytest.mark.parametrize(
    ("layout", "pattern"),
    [
        ("{system}/{editor}/{doc}", None),
        ("{editor}/{system}/{doc}", None),
        ("2024/{system}/{editor}/{doc}", None),
        ("{system}/{doc}_{editor}", None),
        ("{editor}/{doc}_{system}", "{editor}/{doc}_{system}"),
    ],
)
def test_layouts_of_folders(
    folders: tuple[Path, Path], tmp_path: Path, layout: str, pattern: str | None
) -> None:
    before, after = folders
    usual = read_versions(before, after).frame
    moved = tmp_path / "moved"
    for path in after.rglob("*.sdlxliff"):
        engine, editor, name = path.relative_to(after).parts
        parts = {"system": engine, "editor": editor, "doc": name.removesuffix(".sdlxliff")}
        target = moved / f"{layout.format(**parts)}.sdlxliff"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    if pattern is not None:
        for path in [*before.rglob("*.sdlxliff")]:
            name = path.name.removesuffix(".sdlxliff")
            path.rename(before / f"{name}_{path.parent.name}.sdlxliff")
    frame = read_versions(before, moved, pattern=pattern).frame
    key = ["system", "doc", "seg", "editor"]
    assert (
        frame.sort(key)
        .select(*key, "mt", "edited")
        .equals(usual.sort(key).select(*key, "mt", "edited"))
    )


def test_attributes_name_systems_and_editors(tmp_path: Path) -> None:
    """Flat folders: Trados itself says which engine, and who."""
    for number, (engine, editor) in enumerate([("Alpha", "ann"), ("Beta", "bob")]):
        made = f'conf="Draft" origin="nmt" origin-system="{engine}"'
        done = 'conf="Translated" origin="interactive"'
        units = [unit("1", f"Text {number}.", "Txet.", made)]
        write(tmp_path / "before" / f"d{number}.sdlxliff", "d", units)
        units = [unit("1", f"Text {number}.", "TXET.", done, editor)]
        write(tmp_path / "after" / f"d{number}.sdlxliff", "d", units)
    frame = read_versions(tmp_path / "before", tmp_path / "after").frame
    assert frame.select("system", "doc", "editor").rows() == [
        ("Alpha", "d0", "ann"),
        ("Beta", "d1", "bob"),
    ]


def test_files_of_one_name_are_documents_of_their_own(folders: tuple[Path, Path]) -> None:
    """Every translator has a `job.sdlxliff`, and each is another text."""
    before, after = folders
    for root in folders:
        for path in [
            *root.rglob("manual-01*"),
            *root.rglob("manual-02*"),
            *root.rglob("manual-03*"),
        ]:
            path.unlink()
    for folder in [*after.glob("*/*")]:
        if not any(folder.iterdir()):
            folder.rmdir()
    rng = random.Random(3)
    for engine in ("DeepL", "Google"):
        for editor in ("Anna", "Ben"):
            source = " ".join(rng.choice("abcdefgh") * 5 for _ in range(8)) + "."
            made, done = 'conf="Draft" origin="nmt"', 'conf="Translated" origin="interactive"'
            write(before / engine / editor / "job.sdlxliff", "d", [unit("1", source, "x y", made)])
            write(after / engine / editor / "job.sdlxliff", "d", [unit("1", source, "x z", done)])
    frame = read_versions(before, after).frame
    assert {*frame.filter(pl.col("doc").str.contains("job"))["doc"]} == {
        "job", "DeepL/Ben/job.sdlxliff", "Google/Anna/job.sdlxliff", "Google/Ben/job.sdlxliff"
    }  # fmt: skip


def _segments(**texts: str) -> list[VersionSegment]:
    return [VersionSegment(name, text, "", 1) for name, text in texts.items()]


def test_alignment() -> None:
    before = _segments(a="One.", b="Two. Three.", c="Four.", d="Five.", e="Lost.")
    after = _segments(a="One.", b1="Two.", b2="Three.", c="Four. Five.", f="New.")
    groups, left, right = align(before, after)
    assert [([s.seg for s in old], [s.seg for s in new]) for old, new in groups] == [
        (["a"], ["a"]), (["b"], ["b1", "b2"]), (["c", "d"], ["c"]),
    ]  # fmt: skip
    assert [s.seg for s in left] == ["e"]
    assert [s.seg for s in right] == ["f"]


def test_alignment_with_other_numbers_and_another_order() -> None:
    before = _segments(a="One.", b="Two.", c="Two.", d="Three.")
    after = _segments(x="One.", y="Two.", z="Two.", w="Three.")
    groups, left, right = align(before, after)
    assert [new[0].seg for _, new in groups] == ["x", "y", "z", "w"]
    groups, left, right = align(before, [after[3], after[0]])
    assert [(old[0].seg, new[0].seg) for old, new in groups] == [("d", "w"), ("a", "x")]
    assert ([s.seg for s in left], right) == (["b", "c"], [])


# --- What goes wrong ------------------------------------------------------------------------


def _edit(after: Path, old: str, new: str) -> None:
    path = next(after.rglob("manual-01*"))
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def _other_text(after: Path) -> None:
    path = next(after.rglob("manual-01*"))
    path.write_text(next(after.rglob("manual-02*")).read_text("utf-8"), "utf-8")


def _not_xml(after: Path) -> None:
    next(after.rglob("manual-01*")).write_text("PK this is a Word file", "utf-8")


def _several_not_xml(after: Path) -> None:
    for path in after.rglob("manual-02*"):
        path.write_text("<html></html>", "utf-8")


def _cut(after: Path) -> None:
    path = next(after.rglob("manual-01*"))
    path.write_bytes(path.read_bytes()[:2000])


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "not XML": (_not_xml, "not well-formed XML"),
    "cut off": (_cut, "not well-formed XML"),
    "several are not": (_several_not_xml, "3 files cannot be read: .*expected an XLIFF file"),
    "no translatable unit": (
        lambda after: _edit(after, "<trans-unit ", '<trans-unit translate="no" '),
        "has no segment to translate",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(folders: tuple[Path, Path], name: str) -> None:
    damage, message = BROKEN[name]
    damage(folders[1])
    with pytest.raises(InputError, match=message):
        read_versions(*folders)


NAMED: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "another language": (
        lambda after: _edit(after, 'target-language="de-DE"', 'target-language="fr-FR"'),
        "not-joined", "is fr-FR, and its version before editing is de-DE",
    ),
    "another text": (_other_text, "not-joined", "is not the text of"),
    "a missing engine": (
        lambda after: shutil.rmtree(after / "Google"),
        "not-joined", "Google/manual-01.docx.sdlxliff: no edited file belongs to it",
    ),
    "a renamed file": (
        lambda after: next(after.rglob("manual-01*")).rename(after / "Custom" / "final.sdlxliff"),
        "not-joined", "final.sdlxliff: no such file before editing",
    ),
    "other files beside": (
        lambda after: (after / "memory.sdltm").write_text("x"),
        "passed-over", r"1 other file ignored \(.sdltm\)",
    ),
    "an altered source": (
        lambda after: _edit(after, 'mid="1">', 'mid="1">Altered '),
        "segments-not-joined", "manual-01.docx.sdlxliff 1 .line",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_joined_is_named(folders: tuple[Path, Path], name: str) -> None:
    damage, code, message = NAMED[name]
    damage(folders[1])
    notes = _notes(read_versions(*folders))
    assert pl.Series([notes[code]]).str.contains(message).all(), notes[code]


def test_repeated_numbers_are_told_apart_by_their_text(folders: tuple[Path, Path]) -> None:
    usual = read_versions(*folders).frame
    for root in folders:
        for path in root.rglob("*.sdlxliff"):
            text = path.read_text("utf-8").replace('id="2"', 'id="1"').replace('mid="2"', 'mid="1"')
            path.write_text(text, "utf-8")
    frame = read_versions(*folders).frame
    assert frame.height == usual.height
    assert {"1", "1 (2)"} <= {*frame["seg"]}


def test_swapped_folders(folders: tuple[Path, Path]) -> None:
    before, after = folders
    with pytest.raises(InputError, match="swap `before` and `after`"):
        read_versions(after, before)


def test_the_same_folder_or_a_copy(folders: tuple[Path, Path], tmp_path: Path) -> None:
    before, _ = folders
    with pytest.raises(InputError, match="is given as a file before editing too"):
        read_versions(before, before)
    shutil.copytree(before, tmp_path / "copy")
    with pytest.raises(InputError, match="no segment of any file differs"):
        read_versions(before, tmp_path / "copy", editor="ann")


def test_wrong_folders(folders: tuple[Path, Path], tmp_path: Path) -> None:
    before, after = folders
    with pytest.raises(InputError, match="does not exist"):
        read_versions(before, tmp_path / "nothing")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match=r"no file of a translation tool \(found: nothing\)"):
        read_versions(before, other)
    (other / "a.docx").write_text("x")
    with pytest.raises(InputError, match=r"found: \.docx"):
        read_versions(before, other)
    shutil.copy(next(after.rglob("*.sdlxliff")), other / "final.sdlxliff")
    with pytest.raises(InputError, match="no file before editing belongs to one after it"):
        read_versions(before, other)


def test_tables_whose_columns_name_a_language(tmp_path: Path) -> None:
    for folder, target in (("b", "txet eno"), ("a", "txet two")):
        for system in ("DeepL", "Google"):
            place = tmp_path / folder / system / f"d{'_ann' * (folder == 'a')}.xlsx"
            place.parent.mkdir(parents=True)
            rows = {"No.": [1], "Source (en-US)": ["Text one."], "Target (ru-RU)": [target]}
            pl.DataFrame(rows).write_excel(place)
    found = read_versions(tmp_path / "b", tmp_path / "a", editor="ann").frame
    assert found.select("source", "mt", "edited").unique().rows() == [
        ("Text one.", "txet eno", "txet two")
    ]


def test_an_edited_file_without_a_place(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Edited files by translator alone: which engine's was it?"""
    before, after = folders
    flat = tmp_path / "flat"
    flat.mkdir()
    shutil.copy(next(after.rglob("manual-01*")), flat)
    with pytest.raises(InputError, match="may come from Custom/manual-01.* or DeepL/manual-01"):
        read_versions(before, flat)


def test_folders_that_nobody_knows(tmp_path: Path) -> None:
    """Folders of both versions that may be systems or editors."""
    made, done = 'conf="Draft" origin="nmt"', 'conf="Translated"'
    for folder in ("north", "south"):
        write(tmp_path / "b" / folder / "a.xlf", "d", [unit("1", "Text.", "txet", made)])
        write(tmp_path / "a" / folder / "a.xlf", "d", [unit("1", "Text.", "TXET", done)])
    with pytest.raises(InputError, match="which system each is from; candidates: no"):
        read_versions(tmp_path / "b", tmp_path / "a")
    with pytest.raises(InputError, match="which editor each is from"):
        read_versions(tmp_path / "b", tmp_path / "a", pattern="{system}/{doc}")
    frame = read_versions(
        tmp_path / "b", tmp_path / "a", pattern="{editor}/{doc}", system="X"
    ).frame
    assert frame.select("system", "editor").rows() == [("X", "north"), ("X", "south")]
    for pattern, message in (
        ("{system}/{sytem}", "is not a pattern"),
        ("{system}/{system}", "is not a pattern"),
        ("{system}/{editor}/{doc}", "does not fit the edited file north/a"),
    ):
        with pytest.raises(InputError, match=message):
            read_versions(tmp_path / "b", tmp_path / "a", pattern=pattern)


def test_nothing_counts(tmp_path: Path) -> None:
    made = 'conf="Draft" origin="nmt" locked="true"'
    write(tmp_path / "b" / "a.xlf", "d", [unit("1", "Text.", "txet", made)])
    write(tmp_path / "a" / "a.xlf", "d", [unit("1", "Text.", "TXET", made)])
    with pytest.raises(InputError, match="no segment counts as edited: 1 locked"):
        read_versions(tmp_path / "b", tmp_path / "a", system="X", editor="E")


# --- On the command line --------------------------------------------------------------------


def test_the_command(folders: tuple[Path, Path], run_assay: Callable[..., Ran]) -> None:
    before, after = folders
    ran = run_assay("effort", "--before", before, "--after", after, "--rate", "40 EUR")
    assert ran.code == 0
    first = ran.out.splitlines()[0]
    assert first.startswith("Custom needs the fewest changes: ")
    assert "No time in these files, so no price" in first
    assert "joined: 15 files" in ran.err
    ran = run_assay("effort", "--before", before)
    assert (ran.code, "--after" in ran.err) == (2, True)
    ran = run_assay("effort", "--after", before, "--before", after)
    assert (ran.code, "swap --before and --after" in ran.err) == (2, True)
    ran = run_assay("effort", "x.tsv", "--before", before, "--after", after)
    assert (ran.code, "leave out --before" in ran.err) == (2, True)
    ran = run_assay("effort")
    assert (ran.code, "--before and --after" in ran.err) == (2, True)


def test_edited_files_alone(folders: tuple[Path, Path], run_assay: Callable[..., Ran]) -> None:
    """Trados does not keep what the machine wrote: the files from before editing are needed."""
    ran = run_assay("effort", folders[1])
    assert ran.code == 2
    assert "from the files as they were before editing (--before and --after)" in ran.err
    ran = run_assay("effort", folders[1].parent / "nothing")
    assert ran.code == 2


def test_a_text_edited_twice_is_two_documents(folders: tuple[Path, Path]) -> None:
    """A second edition of a manual, for the same translator and engine."""
    for root in folders:
        path = next(root.rglob("Custom/**/manual-01*"))
        shutil.copy(path, path.with_name("manual-01-again.sdlxliff"))
    frame = read_versions(*folders).frame
    assert frame["doc"].n_unique() == 6
    assert frame.filter(doc="manual-01-again").height == 11


def test_several_languages(folders: tuple[Path, Path]) -> None:
    for root in folders:
        for path in root.rglob("manual-01*"):
            path.write_text(path.read_text("utf-8").replace("de-DE", "fr-CA"), "utf-8")
    with pytest.raises(InputError, match=r"several target languages \(.*fr: 3 files.*\); compare"):
        read_versions(*folders)


def test_every_segment_is_somewhere() -> None:
    """Random splits, merges, losses and moves: nothing is joined twice, and nothing vanishes."""
    rng = random.Random(5)
    for _ in range(200):
        words = [rng.choice("abcde") * rng.randint(1, 3) for _ in range(rng.randint(1, 30))]
        sides = []
        for _ in range(2):
            cuts = sorted({0, len(words), *rng.choices(range(len(words) + 1), k=8)})
            parts = [" ".join(words[a:b]) for a, b in pairwise(cuts)]
            side = [VersionSegment(str(k), text, "", k) for k, text in enumerate(parts)]
            for _ in range(rng.randint(0, 2)):
                side.pop(rng.randrange(len(side))) if len(side) > 1 else None
            if rng.random() < 0.2:
                rng.shuffle(side)
            sides.append(side)
        groups, left, right = align(*sides)
        olds = [id(one) for old, _ in groups for one in old] + [id(one) for one in left]
        news = [id(one) for _, new in groups for one in new] + [id(one) for one in right]
        assert sorted(olds) == sorted(map(id, sides[0]))
        assert sorted(news) == sorted(map(id, sides[1]))
        for group in groups:
            one, two = ("".join("".join(s.source or "" for s in g).split()) for g in group)
            assert one == two


def test_a_project_knows_the_price(
    folders: tuple[Path, Path], run_assay: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folders[0].parent
    pay = '[pay]\nper_hour = 40\ncurrency = "EUR"\n'
    (root / "assay.toml").write_text(f'name = "x"\nprotocol = "post-edit"\n{pay}', "utf-8")
    monkeypatch.chdir(root)
    ran = run_assay("effort", "--before", "before", "--after", "after")
    assert (ran.code, "from assay.toml: --rate '40 EUR'" in ran.err) == (0, True)
    assert "No time in these files, so no price" in ran.out
    assert (root / "results" / "effort.json").is_file()
