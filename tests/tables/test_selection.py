"""Part of a table: the same rows from every kind of file, and from Parquet nothing else."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import OptionError, TableError
from assay.tables.answers import read_judgments
from assay.tables.load import column_names
from assay.tables.selection import Parts, read_parts
from assay.tables.tables import read_ratings, read_scores
from assay.tables.typed_files import save

Run = Callable[..., Ran]
ENDINGS = ("tsv", "csv", "jsonl", "parquet", "xlsx", "tsv.gz", "parquet.gz")


def table() -> pl.DataFrame:
    """Two language pairs, one of them in two years, rows mixed."""
    rows = [
        (lp, year, system, f"d{seg // 4}", seg, seg / 10 + len(system), seg % 3, f"note {seg}")
        for seg in range(8)
        for lp, year in (("en-de", 2020), ("zh-en", 2020), ("en-de", 2021))
        for system in ("A", "BB")
        if year == 2020 or seg < 4
    ]
    names = ["lp", "year", "system", "doc", "seg", "chrF", "TER", "remark"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(doc=pl.format("{}-{}", "doc", "year"))


@pytest.fixture(params=ENDINGS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return save(table(), tmp_path / f"scores.{request.param}")


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    return save(table(), tmp_path / "scores.parquet")


def test_every_file_gives_the_same_rows(path: Path) -> None:
    read = read_scores(path, only={"lp": "en-de"})
    whole = read_scores(table().filter(pl.col("lp") == "en-de"))
    assert read.frame.equals(whole.frame.select(read.frame.columns))
    assert read.notes[0] == "only lp=en-de: 24 of 40 rows read"
    assert read.part
    assert not whole.part


def test_several_columns_and_numbers(path: Path) -> None:
    read = read_scores(path, only={"lp": "en-de", "year": "2021"}, metrics=["chrF"])
    assert read.frame.height == 8
    assert set(read.frame["doc"]) == {"d0-2021"}


def test_columns_that_nobody_needs_are_left(path: Path) -> None:
    read = read_scores(path, metrics=["chrF"], keep=["remark"])
    assert set(read.frame.columns) == {"lp", "system", "doc", "seg", "chrF", "remark"}
    with pytest.raises(OptionError, match="metrics .chrf. is not in the scores table.*TER"):
        read_scores(path, metrics=["chrf"], keep=[])
    with pytest.raises(OptionError, match="goes with `metrics`"):
        read_scores(path, keep=[])


def test_the_users_names(parquet: Path) -> None:
    own = save(table().rename({"lp": "pair"}), parquet.with_name("own.parquet"))
    columns = {"lp": "pair"}
    assert read_scores(own, columns=columns, only={"lp": "zh-en"}).frame.height == 16
    assert list(read_parts(own, "lp", columns=columns)) == ["en-de", "zh-en"]
    with pytest.raises(OptionError, match=r"only \(lp=zh\) matches no row|only \(pair=zh\)"):
        read_scores(own, columns=columns, only={"lp": "zh"})


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"pair": "en-de"}, r"only \(pair\) is not a column of the table.*choose from lp, year"),
        ({"lp": "en-fr"}, r"only \(lp=en-fr\) matches no row.*choose from en-de, zh-en"),
        ({"year": "last"}, r"only \(year=last\) matches no row; choose from 2020, 2021"),
        ({"lp": "zh-en", "year": "2021"}, r"only \(lp=zh-en,year=2021\) matches no row"),
    ],
)
def test_what_there_is_not(path: Path, only: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_scores(path, only=only)


def test_problems_keep_their_lines(tmp_path: Path) -> None:
    rows = {"lp": ["x", "y", "x", "y"], "system": ["A", "A", "B", "B"], "seg": ["1", "1", "1", "1"],
            "score": ["1", "2", "3", "bad"]}  # fmt: skip
    frame = pl.DataFrame(rows)
    for ending, line in (("tsv", 5), ("jsonl", 4), ("parquet", 4)):
        file = save(frame, tmp_path / f"r.{ending}")
        assert read_ratings(file, only={"lp": "x"}).frame.height == 2
        with pytest.raises(TableError) as error:
            read_ratings(file, only={"lp": "y"})
        assert [problem.line for problem in error.value.problems] == [line]


def test_judgments(tmp_path: Path) -> None:
    rows = {"lp": ["x", "y"], "left": ["A", "C"], "right": ["B", "D"], "winner": ["left", "tie"]}
    file = save(pl.DataFrame(rows), tmp_path / "j.parquet")
    assert read_judgments(file, only={"lp": "y"}).systems == ("C", "D")


def test_ratings_of_other_parts_are_left_out(tmp_path: Path) -> None:
    # Ratings do not say the year: those about segments of the other year are left out, counted.
    scores = table().filter(pl.col("lp") == "en-de")
    part = read_scores(save(scores, tmp_path / "s.parquet"), only={"year": "2021"})
    rated = scores.select("lp", "system", "doc", "seg", score=pl.col("chrF"))
    ratings = read_ratings(rated, part)
    assert ratings.frame.height == part.frame.height == 8
    assert "16 rows of segments outside the part that was read left out" in ratings.notes
    with pytest.raises(TableError, match="15 more of 24 rows are not in the test set"):
        read_ratings(rated, read_scores(scores.filter(pl.col("year") == 2021)))


@pytest.mark.parametrize("by", ["lp", "year"])
def test_parts_are_what_a_split_gives(parquet: Path, by: str) -> None:
    parts = read_parts(parquet, by, metrics=["chrF"])
    assert isinstance(parts, Parts)
    split = read_scores(parquet, metrics=["chrF"]).split(by)
    assert list(parts) == list(split)
    for name, part in parts.items():
        assert part.frame.equals(split[name].frame)
        assert part.metrics == split[name].metrics
    assert not isinstance(read_parts(table(), by), Parts)


def test_rows_without_a_value_are_a_part(tmp_path: Path) -> None:
    frame = table().with_columns(domain=pl.when(pl.col("seg") < 4).then(pl.lit("news")))
    parts = read_parts(save(frame, tmp_path / "s.parquet"), "domain")
    assert {name: part.frame.height for name, part in parts.items()} == {"news": 24, "None": 16}


def test_parts_of_a_part(parquet: Path) -> None:
    assert list(read_parts(parquet, "lp", only={"year": "2021"})) == ["en-de"]
    with pytest.raises(OptionError, match="matches no row"):
        read_parts(parquet, "lp", only={"year": "1999"})
    with pytest.raises(OptionError, match=r"by \(pair\) is not a column of the scores"):
        read_parts(parquet, "pair")


def test_a_parquet_file_is_not_read_whole(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise AssertionError("the file was read")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert column_names(parquet)[:2] == ["lp", "year"]
    assert read_scores(parquet, only={"lp": "zh-en"}).frame.height == 16
    assert len(read_parts(parquet, "lp")) == 2


def test_names_are_names(tmp_path: Path) -> None:
    folder = tmp_path / "lp=xx" / "a*b[1]"
    folder.mkdir(parents=True)
    assert read_scores(save(table(), folder / "s?.parquet")).frame["lp"].n_unique() == 2


def test_a_packed_file_behind_a_plain_name(tmp_path: Path) -> None:
    packed = tmp_path / "s.parquet"
    packed.write_bytes(gzip.compress(save(table(), tmp_path / "t.parquet").read_bytes()))
    assert read_scores(packed, only={"lp": "zh-en"}).frame.height == 16


def test_stability_reads_one_part_after_the_other(parquet: Path) -> None:
    read: list[str] = []

    class Watched(Parts):
        def __getitem__(self, name: str) -> assay.TestSet:
            read.append(name)
            return super().__getitem__(name)

    parts = read_parts(parquet, "lp", metrics=["chrF"], keep=[])
    assert isinstance(parts, Parts)
    watched = Watched(*(getattr(parts, name) for name in parts.__dataclass_fields__))
    options = {"designs": ["SL", "documents"], "budget": "50%", "metric": "chrF", "draws": 20}
    records = assay.stability(watched, rng=1, **options)  # type: ignore[arg-type]
    found = [next(records)]
    assert read == ["en-de"]
    found.extend(records)
    assert read == ["en-de", "zh-en"]
    whole = assay.stability(read_scores(parquet).split("lp"), rng=1, **options)  # type: ignore[arg-type]
    for ours, theirs in zip(found, whole, strict=True):
        assert ours.name == theirs.name
        assert ours.changed.tobytes() == theirs.changed.tobytes()
        assert ours.discordant.tobytes() == theirs.discordant.tobytes()


def test_on_the_command_line(tmp_path: Path, run_assay: Run) -> None:
    world = assay.simulate(documents=12, systems=2, rng=1)
    pairs = [("en-de", 1), ("zh-en", 2)]
    frames = [world.test_set.frame.with_columns(lp=pl.lit(lp), year=year) for lp, year in pairs]
    rated = [world.rate().frame.with_columns(lp=pl.lit(lp)) for lp, _ in pairs]
    scores = save(pl.concat(frames), tmp_path / "s.parquet")
    ratings = save(pl.concat(rated), tmp_path / "r.parquet")
    tsv = save(pl.concat(frames), tmp_path / "s.tsv")
    for only in (["--only", "lp=en-de"], ["--lp", "en-de"], ["--only", "year=1"]):
        ran = run_assay("estimate", scores, ratings, *only, "--metrics", "neural", "--json")
        assert ran.code == 0, ran.err
        assert '"population": ' in ran.out
    answers = [
        run_assay("stability", file, "--metric", "neural", "--budget", "40%", "--draws", 20,
                  "--seed", 1, "--by", "lp", "--json").out.replace('"s:', '"')
        for file in (scores, tsv)
    ]  # fmt: skip
    assert answers[0] == answers[1] != ""
    ran = run_assay("sample", scores, "--budget", "20%", "--only", "lp=en-fr")
    assert ran.code == 2
    assert "only (lp=en-fr) matches no row" in ran.err
    ran = run_assay("sample", scores, "--budget", "20%", "--only", "lp=en-de", "--lp", "zh-en")
    assert "--lp (zh-en) contradicts --only lp=en-de; give one of them" in ran.err
