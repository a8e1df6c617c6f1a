"""The fuzzer in short, whether it sees what it should, and what it has found."""

from __future__ import annotations

import importlib
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from tests.attacks.bounded import run_assay_bounded
from tests.conftest import ROOT, Ran

import assay
from assay.errors import InputError, OptionError, TableError
from assay.formats.catalogue import FORMATS, Options
from assay.kits.design import read_design

Run = Callable[..., Ran]


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.fuzz")
    monkeypatch.setattr(module, "KEPT", tmp_path)
    return module


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
def test_a_few_hundred_cases(fuzz: ModuleType) -> None:
    found = fuzz.fuzz(seed=15, minutes=3, cases=300, workers=1)
    assert [one for one in found if one.fault] == []
    assert [one.number for one in found] == list(range(300))
    assert {one.code for one in found} == {0, 2}
    assert sum(one.code == 0 for one in found) > 50


def test_every_command_and_format_is_tried(fuzz: ModuleType) -> None:
    cases = importlib.import_module("benchmarks.fuzz_cases")
    assert set(cases.FILES) == {name for name, item in FORMATS.items() if item.read}
    lines = [*cases.all_lines(), *cases.SLOW]
    for command, options in cases.all_options().items():
        if options and command and command.split()[0] not in cases.OF_A_SERVER:
            assert any(f"{line} ".startswith(f"{command} ") for line in lines), command


def test_a_case_is_known_by_its_number(fuzz: ModuleType) -> None:
    cases = importlib.import_module("benchmarks.fuzz_cases")
    corpus = dict.fromkeys(("scores.tsv", "results/1.json"), b"system\tseg\nA\t1\n")
    first, again = ([cases.make_case(3, number, corpus) for number in range(200)] for _ in range(2))
    assert first == again
    assert len({case.words for case in first}) > 100


def test_tables_are_changed_in_every_type() -> None:
    mutations = importlib.import_module("benchmarks.mutations")
    data = b"system\tseg\tscore\nA\t1\t2.5\nB\t1\t3\n"
    made = [mutations.change_file("t.tsv", data, Random(k), table=True) for k in range(300)]
    endings = {"".join(Path(name).suffixes) for name, _ in made}
    assert endings == set(mutations.ENDINGS)
    assert len({content for _, content in made}) > 100


def dying(pipe: Connection, seed: int, corpus: Path, folder: Path) -> None:
    """A worker that ends at case 1, hangs at case 3 and answers otherwise."""
    pipe.send(None)
    while True:
        number = pipe.recv()
        if number == 1:
            os._exit(7)
        if number == 3:
            time.sleep(60)
        pipe.send(f"answer {number}")


def test_a_worker_that_dies_or_hangs_is_counted_and_replaced(
    fuzz: ModuleType, tmp_path: Path
) -> None:
    found: Iterator[Any] = fuzz.drive(iter(range(5)), 1, tmp_path, tmp_path / "w", dying, 0.5)
    first, dead, between, slow, last = found
    assert (first, between, last) == ("answer 0", "answer 2", "answer 4")
    assert (dead.fault, dead.code) == ("abort", 7)
    assert (slow.fault, slow.number) == ("over 0.5 s", 3)


@pytest.mark.parametrize(
    ("words", "code", "out", "err", "fault"),
    [
        ([], 0, "fine", "", ""),
        ([], 2, "", "assay: no such file", ""),
        ([], 2, "", "", "no sentence"),
        ([], 1, "", "assay: this should not have happened (KeyError: 1)", "traceback"),
        ([], 2, "", "thread panicked at src/lib.rs", "traceback"),
        ([], 1, "", "assay: the memory ran out", "over 2 GB"),
        ([], -6, "", "", "exit -6"),
        ([], 0, "", "kernels.py:3: RuntimeWarning: divide by zero", "warning"),
        ([], 0, "clear\x1b[2J", "", "control characters"),
        (["--json"], 0, '{"a": 1}', "", ""),
        (["--json"], 0, '{"a": NaN}', "", "no JSON"),
        (["--json"], 2, "", "assay: no", "no JSON"),
    ],
)
def test_faults_are_seen(
    words: list[str], code: int, out: str, err: str, fault: str, fuzz: ModuleType
) -> None:
    assert fuzz.find_fault(words, code, out, err) == fault


# --- found by the fuzzer -------------------------------------------------------------------------


def test_a_carriage_return_beside_unpaired_quotes_is_refused(tmp_path: Path) -> None:
    """Ended in an error of zip: the lines that were counted were not those that were read."""
    path = tmp_path / "judgments.tsv"
    path.write_bytes(b'left\tright\twinner\nA\t"B\tleft\nA\rx\tB\tleft\n')
    with pytest.raises(TableError, match="line 2: quotation marks do not pair up"):
        assay.read_judgments(path)


def test_a_system_without_a_name_is_none_to_choose_from() -> None:
    frame = pl.DataFrame({"system": ["A", None], "seg": ["1", "2"]})
    with pytest.raises(
        OptionError, match=r"exclude \(B\) is not in the scores table; choose from A"
    ):
        assay.read_scores(frame, exclude=["B"])


def test_the_folder_one_is_in_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no name in the path `.`, beside which another could be made."""
    texts = assay.simulate(documents=3, systems=3, texts=True, rng=1).test_set
    texts.write(tmp_path / "scores.tsv")
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    documents = texts.segments["doc"].unique(maintain_order=True).to_list()
    kits = assay.design_kits(texts.systems, 3, documents=documents, rng=1).kits
    with pytest.raises(OptionError, match="exists; name a new one"):
        assay.build_kits(kits, texts, ".")
    with pytest.raises(OptionError, match="exists; name a new one"):
        assay.write_sheets(texts, assay.assign(texts, 2, rng=1), ".")
    assay.convert(
        tmp_path / "scores.tsv", ".", origin="scores", to="mt-metrics-eval",
        options=Options(lp="en-de"),
    )  # fmt: skip
    assert (tmp_path / "new" / "sources" / "en-de.txt").is_file()


def test_an_empty_column_of_a_workbook_is_no_news(tmp_path: Path) -> None:
    """The reader warned of it on stderr, between the lines of the answer."""
    empty = pl.Series("remark", [None, None], dtype=pl.String)
    frame = pl.DataFrame({"system": ["A", "B"], "seg": ["1", "1"], "score": [1.0, 2.0]})
    frame.with_columns(empty).write_excel(tmp_path / "ratings.xlsx")
    done = run_assay_bounded("check", tmp_path / "ratings.xlsx", "--kind", "ratings")
    assert (done.code, done.err) == (0, "")


def test_options_that_are_no_text_are_refused(run_assay: Run, tmp_path: Path) -> None:
    """Bytes that are not UTF-8 reach a program as halves of characters, which no file takes."""
    path = tmp_path / "ratings.tsv"
    path.write_text("system\tseg\tscore\nA\t1\t2\n")
    words = ["convert", path, tmp_path / "new", "--from", "ratings", "--to", "mt-metrics-eval"]
    ran = run_assay(*words, "--lp", "en-de", "--human-scores", "\udcff")
    assert ran.code == 2
    assert "--human-scores (\\udcff) is not UTF-8; write it in UTF-8" in ran.err


@pytest.mark.parametrize("sd", [1e300, 1e-300])
def test_a_spread_nobody_can_reckon_with_is_refused(sd: float) -> None:
    """With a pilot the square of the standard deviation was too large."""
    with pytest.raises(OptionError, match=r"sd \(1e[+-]300\) is not between 1e-75 and 1e\+50"):
        assay.plan_ratings(population=1400, sd=sd, half_width=0.3)


@pytest.mark.parametrize("position", ["9" * 400, "²", "-1", "", "1.5"])
def test_a_position_in_a_design_of_kits_is_a_number(position: str) -> None:
    """400 digits are a number for Python and none for a table; ² is a digit, but no number."""
    row = {"editor": "e", "position": position, "doc": "d", "system": "A"}
    with pytest.raises(InputError, match="row 1 of the design has no position like 1, 2 or 3"):
        read_design(pl.DataFrame([row]))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("", "100", "low: is not below high"),
        ("x", "100", "'x' is not a number"),
        ("0", "1e300", "is larger than"),
        ("5", "5", "low: is not below high"),
        (None, None, "the key has no rows"),
    ],
)
def test_a_key_of_sheets_without_a_scale_is_refused(
    low: str | None, high: str | None, said: str, tmp_path: Path
) -> None:
    """Ended in an error of polars; a key without rows in one of `next`."""
    names = [
        "rater",
        "file",
        "code",
        "task",
        "place",
        "reason",
        "check",
        "lp",
        "doc",
        "seg",
        "system",
        "source",
        "output",
    ]
    row = {**dict.fromkeys(names, "a"), "low": low, "high": high}
    frame = pl.DataFrame([row])[: 0 if low is None else 1]
    sheet = tmp_path / "a.tsv"
    sheet.write_text("code\tsource\toutput\tscore\nb\ta\ta\t5\n")
    with pytest.raises(InputError, match=said):
        assay.collect_sheets(frame, [sheet])


def test_a_word_document_whose_styles_are_gone_is_refused(tmp_path: Path) -> None:
    """It opens, and fails where a paragraph is asked for its style."""
    docx = pytest.importorskip("docx")
    document, path = docx.Document(), tmp_path / "book.docx"
    document.add_paragraph("Some words.")
    document.save(str(path))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    kind = b"application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(kind, b"text/xml")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(TableError, match="is not a Word document"):
        assay.read_pieces(path, words=1)
