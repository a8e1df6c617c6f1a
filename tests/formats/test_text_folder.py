"""A folder of text files, as WMT and everybody else has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.formats.catalogue import load_format
from assay.formats.text_folder import find_texts, is_text_folder, languages_of
from assay.tables.tables import read_scores


def write(folder: Path, **files: list[str]) -> Path:
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


LINES = ["One.", "Two.", "Three."]
FOLDERS = {
    "plain": (
        ["source.txt", "reference.txt", "DeepL.txt", "GPT-4.txt"],
        "docs.txt", {"DeepL", "GPT-4"}, None,
    ),
    "without endings": (
        ["source", "ref", "online-A", "online-B"], "documents", {"online-A", "online-B"}, None,
    ),
    "underlines": (["src", "ref", "mt_DeepL", "mt_NLLB"], "documents", {"DeepL", "NLLB"}, None),
    "wmt": (
        ["newstest2020-ende-src.en.txt", "newstest2020-ende-ref.de.txt",
         "newstest2020.en-de.Online-B.1590.txt", "newstest2020.en-de.Tohoku-AIP-NTT.890.txt"],
        "newstest2020-ende.docs", {"Online-B", "Tohoku-AIP-NTT"}, ("en", "de"),
    ),
    "folders": (
        ["sources/test.en", "references/test.de", "system-outputs/big_model.txt",
         "system-outputs/small_model.txt"],
        "documents/test.docs", {"big_model", "small_model"}, ("en", "de"),
    ),
    "prefixes": (
        ["src.txt", "refA.txt", "hyp.engine1.txt", "hyp.engine2.txt"],
        "doc_ids.txt", {"engine1", "engine2"}, None,
    ),
    "one system": (["src.txt", "ref.txt", "engine.txt"], "docs.txt", {"engine"}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_what_files_are_by_their_names(name: str, tmp_path: Path) -> None:
    files, docs, systems, languages = FOLDERS[name]
    write(tmp_path, **{file: [f"{file} {line}" for line in LINES] for file in files})
    write(tmp_path, **{docs: ["news a", "news a", "news b"], "README.txt": ["Hello."]})
    assert is_text_folder(tmp_path)
    assert languages_of(find_texts(tmp_path)) == languages
    test_set = read_scores(load_format(tmp_path, "text-folder"))
    assert {*test_set.systems} == systems
    assert test_set.has_documents
    one = test_set.frame.filter(seg="3").row(0, named=True)
    assert (one["doc"], one["domain"]) == ("b", "news")
    assert one["source"] == f"{files[0]} Three."
    assert one["reference"] == f"{files[1]} Three."
    assert one["target"].endswith(f"{one['system']}.txt Three.") or one["system"] in one["target"]


def test_a_document_per_line_and_domains_apart(tmp_path: Path) -> None:
    write(tmp_path, **{"src.txt": LINES, "a.txt": LINES, "b.txt": LINES})
    write(tmp_path, **{"docs.txt": ["x y", "x y", "z"], "domains.txt": ["news", "news", "chat"]})
    frame = read_scores(load_format(tmp_path, "text-folder")).frame
    assert frame.filter(system="a")["doc"].to_list() == ["x y", "x y", "z"]
    assert frame.filter(system="a")["domain"].to_list() == ["news", "news", "chat"]


def test_other_references_are_said(tmp_path: Path) -> None:
    write(tmp_path, **{"src.txt": LINES, "refA.txt": LINES, "refB.txt": LINES, "a.txt": LINES})
    raw = load_format(tmp_path, "text-folder")
    assert [str(note) for note in raw.notes] == ["reference is refA.txt; left out: refB.txt"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"src.txt": LINES, "a.txt": LINES[:2]}, "a.txt has 2 lines where 3 are expected"),
        ({"src.txt": LINES, "ref.txt": LINES}, "has no outputs; expected text files"),
        ({"src.txt": LINES, "source.txt": LINES, "a.txt": LINES}, "which has the source?"),
        ({"src.txt": [], "a.txt": []}, "is empty; expected a segment per line"),
    ],
)
def test_faults(files: dict[str, list[str]], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        load_format(write(tmp_path, **files), "text-folder")
    with pytest.raises(InputError, match="is not a folder"):
        load_format(tmp_path / "nowhere", "text-folder")
