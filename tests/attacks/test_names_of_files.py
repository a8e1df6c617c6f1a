"""Names that look the same, that are not UTF-8, or that share one file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError
from assay.kits.results import KitDocument

Run = Callable[..., Ran]
ONE, TWO = "M\u00fcller", "Mu\u0308ller"
SCORES = pl.DataFrame({"system": ["A", "B"], "seg": ["1", "1"], "chrF": [0.5, 0.6]})


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".parquet", ".xlsx"])
def test_names_that_look_the_same_are_refused(ending: str, tmp_path: Path) -> None:
    from assay.tables.typed_files import save

    path = tmp_path / f"x{ending}"
    save(SCORES.with_columns(system=pl.Series([ONE, TWO])), path)
    with pytest.raises(InputError, match=r"'M\\xfcller' and 'Mu\\u0308ller'"):
        assay.read_scores(path)
    save(SCORES.with_columns(pl.lit(1.0).alias(ONE), pl.lit(2.0).alias(TWO)), path)
    with pytest.raises(InputError, match="several ways that look the same"):
        assay.read_scores(path)


def test_a_name_written_otherwise_in_the_other_table_is_explained() -> None:
    scores = assay.read_scores(SCORES.with_columns(system=pl.Series([ONE, "B"])))
    ratings = pl.DataFrame({"system": [TWO], "seg": ["1"], "score": [1.0]})
    with pytest.raises(InputError, match="other characters that look the same"):
        assay.read_ratings(ratings, scores)


@pytest.mark.parametrize("marks", [1, 2, 3])
def test_byte_order_marks_are_no_part_of_a_name(marks: int, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("\ufeff" * marks + "system\tseg\tchrF\nA\t1\t2\n", encoding="utf-8")
    assert assay.read_scores(path).metrics == ("chrF",)


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".xlsx", ".jsonl"])
def test_names_of_files_that_are_not_utf8(ending: str, tmp_path: Path, run_assay: Run) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff" + os.fsencode(ending)))
    assay.read_scores(SCORES).write(path)
    saved = tmp_path / "x.json"
    ran = run_assay("check", path, "--kind", "scores", "-o", saved)
    assert ran.code == 0, ran.err
    assert json.loads(saved.read_bytes())["source"].endswith("\\xff" + ending)
    path.write_bytes(b"PAR1" if ending == ".parquet" else b"x")
    ran = run_assay("check", path, "--kind", "scores", "-o", saved)
    assert ran.code == 2
    json.loads(saved.read_bytes())
    ran = run_assay("estimate", path, path)
    assert ran.code == 2
    assert "\\xff" in ran.err


def test_every_editor_has_a_file(tmp_path: Path) -> None:
    editors = ["e", "e-3", "e.", "E", "e-2", ".e", "\u00e9", "e\u0301", "e-4"]
    rows = {"system": "A", "doc": "d", "seg": "1", "source": "s", "target": "t"}
    texts = assay.read_scores(pl.DataFrame([rows]))
    kits = [KitDocument(editor, 1, "d", "A") for editor in editors]
    built = assay.build_kits(kits, texts, tmp_path / "kits")
    files = {path.name.lower() for path in (tmp_path / "kits").glob("*.tsv")}
    assert built.editors == len(files) == len(editors)
    assert {path.name.lower() for path in built.files} == {*files, "instructions.txt"}
