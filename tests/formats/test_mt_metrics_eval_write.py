from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError, OptionError, TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.tables import read_ratings, read_scores
from formats.line_texts import FIXTURES, TEXTS, WORDS, same

FOLDER = FIXTURES / "eval_folder"
NAME = "mt-metrics-eval"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDER, tmp_path / "wmt")


def test_reading_what_was_written_from_the_fixture(tmp_path: Path):
    first = load_format(FOLDER, NAME).frame
    written = save_format(read_scores(first).frame, tmp_path / "out", NAME, "scores")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in written) == [
        "documents/en-de.docs",
        "metric-scores/en-de/COMET-refA-ref.seg.score",
        "metric-scores/en-de/COMET-refB-ref.seg.score",
        "metric-scores/en-de/chrF-ref.seg.score",
        "references/en-de.ref.txt",
        "sources/en-de.txt",
        "system-outputs/en-de/Alpha.txt",
        "system-outputs/en-de/refB.txt",
    ]
    assert same(load_format(tmp_path / "out", NAME).frame, first)
    ratings = load_format(FOLDER, NAME, "ratings", Options(human_scores="mqm")).frame
    assert save_format(ratings, tmp_path / "out", NAME, "ratings") == [
        tmp_path / "out" / "human-scores" / "en-de.human.seg.score"
    ]
    save_format(ratings, tmp_path / "out", NAME, "ratings", Options(human_scores="second"))
    again = load_format(tmp_path / "out", NAME, "ratings", Options(human_scores="second"))
    assert same(again.frame, ratings)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    systems = sorted(draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)))
    size = draw(st.integers(1, 4))
    numbers = st.none() | st.floats(-1e50, 1e50).map(lambda x: x if abs(x) > 1e-75 else 0.0)
    metrics = draw(st.lists(WORDS.map("m{}".format), max_size=2, unique=True))
    text = TEXTS.map(lambda text: text or None)
    cuts = sorted(draw(st.lists(st.integers(1, size), max_size=2)))
    docs = draw(st.lists(WORDS, min_size=3, max_size=3, unique=True))
    segments = [
        {"seg": str(i + 1), "source": draw(text), "reference": draw(text), "lp": "en-de",
         "doc": docs[sum(cut <= i for cut in cuts)]}
        for i in range(size)
    ]  # fmt: skip
    domains = {doc: draw(st.none() | WORDS) for doc in docs}
    rows = [
        {"system": system, "target": draw(text), **segment, "domain": domains[segment["doc"]],
         **{name: draw(numbers) for name in metrics}}
        for system in systems
        for segment in segments
    ]  # fmt: skip
    # Every segment has an output, but not every system has every segment.
    missing = draw(st.sets(st.integers(size, max(size, len(rows) - 1))))
    rows = [row for number, row in enumerate(rows) if number not in missing]
    types = dict.fromkeys(rows[0], pl.String) | dict.fromkeys(metrics, pl.Float64)
    frame = pl.DataFrame(rows, schema=types)
    kept = draw(st.sets(st.sampled_from(["source", "reference", "doc", "domain"])))
    frame = frame.drop(kept)
    if "domain" in frame.columns and frame["domain"].null_count() == frame.height:
        frame = frame.drop("domain")
    return frame


@given(tables(), st.data())
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, frame: pl.DataFrame, data):
    folder = tmp_path_factory.mktemp("there") / "set"
    save_format(read_scores(frame).frame, folder, NAME, "scores")
    content = pl.any_horizontal(
        pl.col("target").is_not_null(), pl.col("^m.*$").cast(pl.Float64).is_not_null()
    )
    there = frame.select(content).to_series()
    assert again_or_nothing(read_scores, folder, "scores", frame.filter(there))
    scores = st.lists(
        st.none() | st.floats(-1e9, 1e9).map(lambda x: round(x, 9)),
        min_size=frame.height,
        max_size=frame.height,
    )
    kept = [name for name in ("lp", "system", "doc", "seg") if name in frame.columns]
    score = pl.Series("score", data.draw(scores), dtype=pl.Float64)
    ratings = read_ratings(frame.select(kept).with_columns(score))
    for place, known in ((folder, there), (folder.with_name("new"), there & False)):
        save_format(ratings.frame, place, NAME, "ratings", Options(human_scores="mqm"))
        kept = ratings.frame.filter(known | score.is_not_null())
        assert again_or_nothing(read_ratings, place, "ratings", kept)


def again_or_nothing(read, place: Path, kind: str, expected: pl.DataFrame) -> bool:
    """Whether reading a folder gives the table, or refuses where there is nothing in it."""
    if expected.height:
        return same(read(load_format(place, NAME, kind)).frame, read(expected).frame)
    with pytest.raises(TableError, match="no rows|has neither a text nor a score"):
        read(load_format(place, NAME, kind))
    return True


def small(**cells: list[object]) -> pl.DataFrame:
    usual = {"system": ["A", "A"], "seg": ["1", "2"], "target": ["x", "y"], "lp": ["en-de"] * 2}
    return pl.DataFrame({**usual, **cells})


def test_gaps_become_empty_lines_and_none(tmp_path: Path):
    frame = small(system=["A", "B"], chrF=[0.5, float("nan")])
    save_format(frame, tmp_path / "out", NAME, "scores")
    place = tmp_path / "out"
    assert (place / "system-outputs/en-de/A.txt").read_text() == "x\n\n"
    assert (place / "system-outputs/en-de/B.txt").read_text() == "\ny\n"
    scores = (place / "metric-scores/en-de/chrF-src.seg.score").read_text()
    assert scores == "A\t0.5\nA\tNone\nB\tNone\nB\tNone\n"


def test_an_output_that_a_system_never_had_stays_missing(tmp_path: Path):
    frame = pl.DataFrame(
        {
            "system": ["A", "A", "A", "B", "B"],
            "seg": ["1", "2", "3", "1", "3"],
            "target": ["a", "b", "c", "d", None],
            "chrF": [0.1, 0.2, None, 0.3, 0.0],
            "lp": ["en-de"] * 5,
        }
    )
    save_format(frame, tmp_path / "out", NAME, "scores")
    raw = load_format(tmp_path / "out", NAME)
    assert same(raw.frame, frame)  # (B, 2) is missing, (B, 3) is an empty translation
    assert raw.lines([3, 4]) == [1, 3]
    assert raw.notes == ("1 outputs have neither a text nor a score in any file and are left out",)
    rated = frame.select("system", "seg", "lp", score=pl.lit(1.0))
    save_format(rated, tmp_path / "out", NAME, "ratings")
    ratings = load_format(tmp_path / "out", NAME, "ratings")
    assert same(ratings.frame, rated)
    assert ratings.lines([4]) == [6]
    assert same(read_ratings(ratings, read_scores(raw)).frame, rated)


def test_whatever_somebody_scored_exists(folder: Path):
    outputs = folder / "system-outputs/en-de/Alpha.txt"
    outputs.write_text("\n\n\n")
    for path in (folder / "metric-scores/en-de").iterdir():
        path.write_text("Alpha None\nAlpha None\nAlpha 1\n")
    for path in (folder / "human-scores").iterdir():
        path.unlink()
    ratings = folder / "human-scores" / "en-de.x.seg.rating"
    ratings.write_text("Alpha\tNone\n" * 3)

    def found() -> list[str]:
        frame = load_format(folder, NAME).frame
        return frame.filter(pl.col("system") == "Alpha")["seg"].to_list()

    assert found() == ["3"]
    ratings.write_text('Alpha\t{"errors": []}\n' + "Alpha\tNone\n" * 2)
    assert found() == ["1", "3"]
    (folder / "human-scores/en-de.y.seg.score").write_text("Alpha None\nAlpha 0\nAlpha None\n")
    assert found() == ["1", "2", "3"]


def test_a_folder_of_nothing_is_refused(tmp_path: Path):
    save_format(small(target=[None, ""]), tmp_path / "out", NAME, "scores")
    with pytest.raises(TableError, match="has neither a text nor a score of any output"):
        load_format(tmp_path / "out", NAME)


def test_an_empty_folder_is_filled_and_a_full_one_left_alone(tmp_path: Path):
    save_format(small(), tmp_path / "out", NAME, "scores")
    (tmp_path / "empty").mkdir()
    save_format(small(), tmp_path / "empty", NAME, "scores")
    with pytest.raises(TableError, match="already exists; name a new or empty folder"):
        save_format(small(), tmp_path / "out", NAME, "scores")
    with pytest.raises(TableError, match="the folder '.*/no' does not exist; make it first"):
        save_format(small(), tmp_path / "no" / "out", NAME, "scores")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            {"target": ["a\nb", "y"]},
            "line 1, column target: a line break cannot be written .* replace it",
        ),
        ({"source": ["a", "b\r"]}, "line 2, column source: a line break cannot be written"),
        (
            {"reference": ["\ufeffa", "b"]},
            "column reference: the text begins with a byte-order mark",
        ),
        (
            {"seg": ["1", "3"]},
            "line 2, column seg: segment '3' is not the number of its line.*the segments 1 to 2",
        ),
        ({"seg": ["1", "x"]}, "segment 'x' is not the number of its line"),
        ({"seg": ["01", "2"]}, "segment '01' is not the number of its line"),
        ({"seg": ["1", "1"]}, "line 1, column seg: this output appears twice"),
        ({"system": ["A b", "A b"]}, "'A b' cannot be the name of a file"),
        ({"system": ["../A", "../A"]}, "cannot be the name of a file"),
        ({"m/n": [1.0, 2.0]}, "column metric: 'm/n' cannot be the name of a file"),
        ({"doc": ["a b", "c"]}, "line 1, column doc: a doc is one word other than '-'"),
        ({"domain": ["-", "c"]}, "line 1, column domain: a domain is one word"),
        ({"seg": ["1", "2", "3"], "doc": ["a", "b", "a"]}, "document 'a' is split up"),
    ],
)
def test_what_the_format_cannot_hold(tmp_path: Path, cells: dict[str, list[object]], message: str):
    longest = max(len(values) for values in cells.values())
    frame = small() if longest == 2 else pl.concat([small(), small().head(1)])
    frame = frame.with_columns(pl.Series(name, values) for name, values in cells.items())
    with pytest.raises(TableError, match=message):
        save_format(frame, tmp_path / "out", NAME, "scores")
    assert list(tmp_path.iterdir()) == []


def test_the_language_pair_must_be_known(tmp_path: Path):
    target = tmp_path / "out"
    with pytest.raises(OptionError, match=r"lp \(None\) is needed to name the files"):
        save_format(small().drop("lp"), target, NAME, "scores")
    with pytest.raises(OptionError, match="several values in the table: en-de, en-fr"):
        save_format(small(lp=["en-de", "en-fr"]), target, NAME, "scores")
    with pytest.raises(OptionError, match=r"lp \(en-fr\) is not what the table has: en-de"):
        save_format(small(), target, NAME, "scores", Options(lp="en-fr"))
    with pytest.raises(OptionError, match="cannot be part of a file's name"):
        save_format(small(lp=["a.b", "a.b"]), target, NAME, "scores")
    with pytest.raises(TableError, match="neither target texts nor metrics to write"):
        save_format(small().drop("target"), target, NAME, "scores")


@pytest.mark.parametrize(
    ("cells", "human", "message"),
    [
        (
            {"seg": ["1", "4"]},
            "a",
            "line 2, column seg: segment '4' is not a line of the folder, which has 1 to 3",
        ),
        (
            {"system": ["Alpha", "Z"]},
            "a",
            "line 2, column system: the folder has no outputs of this system; it has Alpha, refB",
        ),
        (
            {"doc": ["doc-a", "doc-b"]},
            "a",
            "line 2, column doc: line 2 of the folder is in document 'doc-a'",
        ),
        ({"seg": ["1", "1"]}, "a", "this output has several ratings; write one rater at a time"),
        ({}, "mqm", "already exists; remove it or give the scores another name"),
        ({}, "a/b", "'a/b' cannot be the name of a file"),
    ],
)
def test_ratings_must_fit_the_folder(folder: Path, cells, human: str, message: str):
    usual = {"system": ["Alpha", "Alpha"], "seg": ["1", "2"], "score": [1.0, 2.0]}
    before = sorted(folder.rglob("*"))
    with pytest.raises(TableError, match=message):
        frame = pl.DataFrame({**usual, **cells})
        save_format(frame, folder, NAME, "ratings", Options(lp="en-de", human_scores=human))
    assert sorted(folder.rglob("*")) == before


def test_ratings_need_the_language_pair_of_the_folder(folder: Path):
    frame = pl.DataFrame({"system": ["Alpha"], "seg": ["1"], "score": [1.0]})
    with pytest.raises(OptionError, match=r"lp \(en-fr\) is not in"):
        save_format(frame, folder, NAME, "ratings", Options(lp="en-fr", human_scores="a"))
    with pytest.raises(AssayError, match="no 'score'"):
        save_format(frame.drop("score"), folder / "new", NAME, "ratings", Options(lp="en-fr"))


def test_several_raters_of_an_output_are_refused(tmp_path: Path):
    frame = pl.DataFrame(
        {"system": ["A", "A"], "seg": ["1", "1"], "rater": ["x", "y"], "score": [1.0, 2.0]}
    )
    with pytest.raises(TableError, match="this output appears twice; write .* one rater at a time"):
        save_format(frame, tmp_path / "out", NAME, "ratings", Options(lp="en-de"))


def test_wmt20_mqm_becomes_a_folder_and_comes_back(shared_data: Path, tmp_path: Path):
    rated = pl.read_parquet(shared_data / "wmt20_mqm_ende.parquet")
    rated = rated.with_columns(pl.col("system", "doc").cast(pl.String)).sort("system", "seg_id")
    key = [pl.col("system"), pl.col("doc"), pl.col("seg_id").cast(pl.String).alias("seg")]
    metrics = pl.col("chrF", "TER", "BLEURT-20").cast(pl.Float64)
    scores = read_scores(rated.select(*key, metrics, pl.lit("en-de").alias("lp"))).frame
    ratings = read_ratings(
        rated.select(
            *key, pl.col("mqm").cast(pl.Float64).alias("score"), pl.lit("en-de").alias("lp")
        )
    ).frame
    save_format(scores, tmp_path / "wmt20", NAME, "scores")
    save_format(ratings, tmp_path / "wmt20", NAME, "ratings", Options(human_scores="mqm"))
    assert same(read_scores(load_format(tmp_path / "wmt20", NAME)).frame, scores)
    assert same(read_ratings(load_format(tmp_path / "wmt20", NAME, "ratings")).frame, ratings)


def test_ratings_need_texts_to_be_counted_against(folder: Path):
    for part in ("sources", "documents", "references", "system-outputs"):
        shutil.rmtree(folder / part)
    frame = pl.DataFrame({"system": ["Alpha"], "seg": ["1"], "score": [1.0]})
    with pytest.raises(TableError, match="has no texts or documents of en-de; write the scores"):
        save_format(frame, folder, NAME, "ratings", Options(lp="en-de"))


def test_a_file_in_the_place_of_the_human_scores(folder: Path):
    shutil.rmtree(folder / "human-scores")
    (folder / "human-scores").write_text("x")
    frame = pl.DataFrame({"system": ["Alpha"], "seg": ["1"], "score": [1.0]})
    with pytest.raises(TableError, match="human-scores: .*\n.*cannot be made"):
        save_format(frame, folder, NAME, "ratings", Options(lp="en-de"))


def test_a_folder_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(TableError, match="cannot be written: No space left on device"):
        save_format(small(), tmp_path / "out", NAME, "scores")
    assert list(tmp_path.iterdir()) == []
