from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.answers import read_errors
from assay.tables.tables import read_ratings, read_scores
from formats.line_texts import FIXTURES

FOLDER = FIXTURES / "eval_folder"
NAME = "mt-metrics-eval"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDER, tmp_path / "wmt")


def test_scores_with_texts_documents_and_metrics():
    raw = load_format(FOLDER, NAME)
    test_set = read_scores(raw)
    assert test_set.systems == ("Alpha", "refB")
    assert test_set.metrics == ("COMET-refA", "COMET-refB", "chrF")
    columns = ["lp", "system", "doc", "seg", "domain", "source", "target", "reference"]
    assert test_set.frame.select(columns).rows() == [
        ("en-de", "Alpha", "doc-a", "1", "news", "The cat sleeps.", "Die Kätze 🐈 schläft.",
         "Die Katze schläft."),
        ("en-de", "Alpha", "doc-a", "2", "news", "It rains.", None, "Es regnet."),
        ("en-de", "Alpha", "doc-b", "3", "chat", "Stop.", "Halt!", "Halt."),
        ("en-de", "refB", "doc-a", "1", "news", "The cat sleeps.", "Die Katze ruht.",
         "Die Katze schläft."),
        ("en-de", "refB", "doc-a", "2", "news", "It rains.", "Es regnet.", "Es regnet."),
        ("en-de", "refB", "doc-b", "3", "chat", "Stop.", "Stopp.", "Halt."),
    ]  # fmt: skip
    assert test_set.frame.select(test_set.metrics).rows() == [
        (1.0, 4.0, 0.5), (2.0, 5.0, 0.25), (3.0, 6.0, 1.0),
        (None, None, 1.0), (None, None, None), (None, None, 0.125),
    ]  # fmt: skip
    assert raw.lines([0, 2, 3]) == [1, 3, 1]
    assert raw.notes == ("reference is refA; left out: refB",)


def test_ratings_of_the_named_kind():
    test_set = read_scores(load_format(FOLDER, NAME))
    raw = load_format(FOLDER, NAME, "ratings", Options(human_scores="wmt-z"))
    ratings = read_ratings(raw, test_set)
    assert ratings.frame.select("lp", "system", "doc", "seg", "score").rows() == [
        ("en-de", "refB", "doc-a", "1", 0.5),
        ("en-de", "refB", "doc-a", "2", None),
        ("en-de", "refB", "doc-b", "3", 1.5),
        ("en-de", "Alpha", "doc-a", "1", -1.0),
        ("en-de", "Alpha", "doc-a", "2", -2.0),
        ("en-de", "Alpha", "doc-b", "3", None),
    ]
    assert raw.source.endswith("human-scores/en-de.wmt-z.seg.score")
    assert raw.lines([4]) == [5]
    assert "higher is better" in ratings.notes[0]


def test_errors_and_outputs_without():
    test_set = read_scores(load_format(FOLDER, NAME))
    raw = load_format(FOLDER, NAME, "errors", Options(lp="en-de"))
    errors = read_errors(raw, test_set).frame
    shown = ["doc", "seg", "rater", "category", "severity", "side", "start", "end", "weight"]
    assert errors.select(shown).rows() == [
        ("doc-a", "1", "rater1", "Fluency/Spelling", "major", "target", 4, 9, 5.0),
        ("doc-a", "1", "rater1", "unspecified", "minor", "source", 0, 3, None),
        ("doc-b", "3", "rater2", "No-error", "No-error", None, None, None, None),
    ]
    assert errors["target"][0][4:9] == "Kätze"
    assert errors["source"][1][0:3] == "The"
    assert raw.lines([0, 1, 2]) == [1, 1, 3]


def test_errors_can_go_on_as_google_mqm(tmp_path: Path):
    errors = read_errors(load_format(FOLDER, NAME, "errors")).frame
    save_format(errors, tmp_path / "out.tsv", "google-mqm", "errors")
    ratings = load_format(tmp_path / "out.tsv", "google-mqm", "ratings").frame
    assert ratings.select("lp", "seg", "rater", "score").rows() == [
        ("en-de", "1", "rater1", 6.0),
        ("en-de", "3", "rater2", 0.0),
    ]


def test_ratings_without_raters_take_the_name_of_the_file(folder: Path):
    path = folder / "human-scores" / "en-de.mqm.seg.rating"
    one = '{"errors": []}'
    path.write_text(f"Alpha\t{one}\nAlpha\t{one}\tann\nAlpha\t{one}\n")
    frame = load_format(folder, NAME, "errors").frame
    assert frame["rater"].to_list() == ["mqm", "ann", "mqm"]
    path.write_text(f"Alpha\t{one}\n" * 3)
    assert "rater" not in load_format(folder, NAME, "errors").frame.columns


def test_several_language_pairs_or_human_scores_must_be_chosen(folder: Path):
    (folder / "sources" / "de-en.txt").write_text("x\n")
    with pytest.raises(
        OptionError, match=r"lp \(None\) is needed, as the folder has 2: de-en, en-de"
    ):
        load_format(folder, NAME)
    with pytest.raises(
        OptionError, match=r"lp \(en-d\) is not in .*did you mean.*choose from de-en"
    ):
        load_format(folder, NAME, options=Options(lp="en-d"))
    chosen = Options(lp="en-de")
    assert load_format(folder, NAME, options=chosen).frame.height == 6
    with pytest.raises(
        OptionError, match=r"human_scores \(None\) is needed, as the folder has several: mqm, wmt-z"
    ):
        load_format(folder, NAME, "ratings", chosen)
    with pytest.raises(
        OptionError, match=r"human_scores \(z\) is not among .*choose from mqm, wmt-z"
    ):
        load_format(folder, NAME, "ratings", Options(lp="en-de", human_scores="z"))
    with pytest.raises(TableError, match="has no human scores of de-en; expected"):
        load_format(folder, NAME, "ratings", Options(lp="de-en"))
    with pytest.raises(TableError, match="has no outputs; expected text files in system-outputs"):
        load_format(folder, NAME, options=Options(lp="de-en"))


def test_scores_alone_are_enough(folder: Path):
    for part in ("sources", "documents", "references", "system-outputs"):
        shutil.rmtree(folder / part)
    frame = read_scores(load_format(folder, NAME)).frame
    assert frame.select("system", "seg", "chrF").rows()[:2] == [
        ("Alpha", "1", 0.5),
        ("Alpha", "2", 0.25),
    ]
    ratings = read_ratings(load_format(folder, NAME, "ratings", Options(human_scores="mqm")))
    assert ratings.frame["seg"].to_list() == ["1", "2", "3"]
    assert read_errors(load_format(folder, NAME, "errors")).frame.height == 3


def test_metrics_called_like_columns(folder: Path):
    place = folder / "metric-scores" / "en-de"
    (place / "chrF-refA.seg.score").rename(place / "seg-src.seg.score")
    assert read_scores(load_format(folder, NAME)).metrics == ("COMET-refA", "COMET-refB", "seg-src")
    (place / "seg-src.seg.score").rename(place / "COMET-refA-x.seg.score")
    metrics = read_scores(load_format(folder, NAME)).metrics
    assert metrics == ("COMET-refA-x", "COMET-refA", "COMET-refB")


@pytest.mark.parametrize(
    ("kind", "part", "content", "message"),
    [
        (
            "scores",
            "sources/en-de.txt",
            "a\nb\n",
            "line 3: documents/en-de.docs has 3 lines where 2 are expected, as in sources",
        ),
        (
            "scores",
            "system-outputs/en-de/Alpha.txt",
            "a\nb\nc\nd\n",
            "line 4: system-outputs/en-de/Alpha.txt has 4 lines where 3",
        ),
        (
            "scores",
            "documents/en-de.docs",
            "news a\nnews\nnews b\n",
            "en-de.docs: .*\n.*line 2: expected a domain and a document",
        ),
        (
            "scores",
            "metric-scores/en-de/chrF-refA.seg.score",
            "Alpha 1\n",
            "chrF-refA.seg.score: .*\n.*line 1, column system: system 'Alpha' has 1 lines where 3"
            " are expected, one per segment",
        ),
        (
            "scores",
            "metric-scores/en-de/chrF-refA.seg.score",
            "Alhpa 1\nAlhpa 1\nAlhpa x\n",
            "system 'Alhpa' has no file in system-outputs/en-de .did you mean 'Alpha'",
        ),
        (
            "scores",
            "metric-scores/en-de/chrF-refA.seg.score",
            "Alpha 1\nAlpha 1\nAlpha x\n",
            "line 3, column score: 'x' is not a number",
        ),
        (
            "scores",
            "metric-scores/en-de/chrF-refA.seg.score",
            "Alpha 1 2\n",
            "line 1: 3 fields where 2 are expected",
        ),
        (
            "scores",
            "metric-scores/en-de/chrF-refA.seg.score",
            "",
            "file is empty; expected lines with a system and a score",
        ),
        (
            "ratings",
            "human-scores/en-de.mqm.seg.score",
            "Alpha 1\nAlpha 1\nAlpha x\n",
            "line 3, column score: 'x' is not a number",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            "Alpha\n" * 3,
            "line 1: 1 fields where 2 to 3 are expected",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            "Alpha\t{\n" * 3,
            "line 1, column rating: is not JSON .*expected None or",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            "Alpha\t[]\n" * 3,
            "line 1, column rating: is not a rating; expected None or",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            'Alpha\t{"errors": [{"start": 1.5}]}\n' * 3,
            "start is '1.5', not a number of characters",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            'Alpha\t{"errors": [{"category": 5}]}\n' * 3,
            "category is '5', not a word",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            'Alpha\t{"errors": [{"score": "5"}]}\n' * 3,
            "score is '5', not a number",
        ),
        (
            "errors",
            "human-scores/en-de.mqm.seg.rating",
            "Beta\tNone\n" * 3,
            "system 'Beta' has no file in system-outputs",
        ),
    ],
)
def test_wrong_folders(folder: Path, kind: str, part: str, content: str, message: str):
    (folder / part).write_text(content)
    with pytest.raises(TableError, match=message):
        load_format(folder, NAME, kind, Options(human_scores=None if kind == "scores" else "mqm"))


def test_wrong_values_point_to_their_lines(folder: Path):
    path = folder / "human-scores" / "en-de.mqm.seg.rating"
    bad = json.dumps({"errors": [{"start": 5, "end": 2, "category": "x", "severity": "major"}]})
    path.write_text(f"Alpha\tNone\nAlpha\t{bad}\nAlpha\tNone\n")
    with pytest.raises(
        TableError, match=r"seg.rating: .*\n.*line 2, column end: 2 is before start"
    ):
        read_errors(load_format(folder, NAME, "errors"))


def test_what_is_no_such_folder(tmp_path: Path):
    with pytest.raises(TableError, match="there is no such folder"):
        load_format(tmp_path / "x", NAME)
    with pytest.raises(
        TableError, match="is not an mt-metrics-eval folder; expected sources/LP.txt"
    ):
        load_format(tmp_path, NAME)


def test_numbers_of_segments_must_agree_without_texts_too(folder: Path):
    for part in ("sources", "documents", "references", "system-outputs"):
        shutil.rmtree(folder / part)
    (folder / "metric-scores/en-de/chrF-refA.seg.score").write_text("Alpha 1\nAlpha 2\n")
    with pytest.raises(
        TableError, match=r"chrF-refA.seg.score has 2 segments where 3 are expected"
    ):
        load_format(folder, NAME)


def test_numbers_beyond_all_numbers(folder: Path):
    huge = '{"errors": [{"score": 1' + "0" * 400 + "}]}"
    path = folder / "human-scores" / "en-de.mqm.seg.rating"
    path.write_text(f"Alpha\t{huge}\n" * 3)
    with pytest.raises(TableError, match="column rating: score is too large for a number"):
        load_format(folder, NAME, "errors")


def test_half_a_character_is_no_text(folder: Path):
    half = '{"errors": [{"category": "a\\ud800", "severity": "minor"}]}'
    path = folder / "human-scores" / "en-de.mqm.seg.rating"
    path.write_text(f"Alpha\t{half}\n" * 3)
    with pytest.raises(TableError, match="line 1, column rating: category has half a character"):
        load_format(folder, NAME, "errors")


def test_file_names_that_are_no_text(folder: Path):
    try:
        (folder / "system-outputs" / "en-de" / "B\udcff.txt").write_text("x\n")
    except OSError:
        pytest.skip("this file system has no such names")
    with pytest.raises(TableError, match="is not UTF-8; rename it"):
        load_format(folder, NAME)


def test_files_beside_the_parts_are_passed_over(folder: Path):
    (folder / "sources" / ".txt").write_text("hidden\n")
    (folder / "sources" / "README").write_text("about\n")
    (folder / "system-outputs" / "en-de" / "old.txt").mkdir()
    assert load_format(folder, NAME).frame.height == 6
