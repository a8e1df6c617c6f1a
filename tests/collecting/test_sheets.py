"""Sheets: blind, in no order that tells, filled by simulated raters, read back, and altered."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.collecting.assign import spoil
from assay.errors import InputError, OptionError, TableError
from assay.results import has_note

Change = Callable[[pl.DataFrame], pl.DataFrame]
QUALITY = {"Zeus-MT": 80.0, "Hera-XL": 70.0, "Ares 3": 55.0}
RATERS = ("rater-1", "rater-2", "rater-3")


@pytest.fixture(scope="module")
def test_set() -> assay.TestSet:
    """30 documents of 6 segments, three systems, all texts different."""
    words = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "theta", "zeta"]
    rng = np.random.default_rng(1)
    rows = [
        {"system": system, "doc": f"d{doc:02d}", "seg": seg,
         "source": f"Quelle {seg} aus Text {doc}",
         "target": " ".join([*rng.choice(words, 8), f"{doc}.{seg}.{k}"])}
        for k, system in enumerate(QUALITY) for doc in range(30) for seg in range(1, 7)
    ]  # fmt: skip
    return assay.read_scores(pl.DataFrame(rows), metrics=[])


@pytest.fixture(scope="module")
def drawn(test_set: assay.TestSet) -> assay.Sample:
    return assay.sample(test_set, budget="50%", design="snippets", rng=1)


def read(path: Path) -> pl.DataFrame:
    if path.suffix == ".csv":
        return pl.read_csv(path, infer_schema=False)
    return pl.read_excel(path, infer_schema_length=None)


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_excel(path, worksheet="ratings")


def fill(written: assay.WrittenSheets, folder: Path) -> tuple[list[Path], dict[str, float]]:
    """Sheets filled by raters who see only the sheet; the truth comes from the key's system."""
    key = pl.read_csv(written.key, separator="\t", infer_schema=False)
    rng = np.random.default_rng(3)
    wanted = {
        row["code"]: float(np.clip(
            round(QUALITY[row["system"]] - 30 * (row["check"] == "spoiled") + rng.normal(0, 6)),
            0, 100,
        ))
        for row in key.iter_rows(named=True)
    }  # fmt: skip
    folder.mkdir()
    paths = []
    for file in written.files[:-1]:
        sheet = read(file)
        scores = [wanted.get(code) for code in sheet["code"]]
        write(sheet.with_columns(score=pl.Series(scores, dtype=pl.Float64)), folder / file.name)
        paths.append(folder / file.name)
    return paths, wanted


Made = tuple[assay.WrittenSheets, list[Path], dict[str, float]]


@pytest.fixture(params=["xlsx", "csv"])
def made(
    request: pytest.FixtureRequest, tmp_path: Path, test_set: assay.TestSet, drawn: assay.Sample
) -> Made:
    plan = assay.assign(drawn, RATERS, overlap=0.2, checks=0.05, repeats=0.1, rng=4)
    written = assay.write_sheets(test_set, plan, tmp_path / "sheets", format=request.param)
    return written, *fill(written, tmp_path / "answers")


def test_sheets_say_nothing_about_systems(made: Made) -> None:
    written, _, _ = made
    assert [path.stem for path in written.files] == [*RATERS, "instructions"]
    assert written.key.parent == written.folder.parent
    for path in written.files:
        data = path.read_bytes()
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as archive:
                data = b"".join(archive.read(name) for name in archive.namelist())
        for system in QUALITY:
            assert system.encode() not in data
        assert b"spoiled" not in data
        assert b"overlap" not in data
    for path in written.files[:-1]:
        sheet = read(path)
        assert sheet.columns == ["part", "code", "source", "output", "score", "comment"]
        assert sheet["score"].null_count() == sheet.height


def test_rows_context_and_loads(made: Made, test_set: assay.TestSet, drawn: assay.Sample) -> None:
    written, _, _ = made
    key = pl.read_csv(written.key, separator="\t", infer_schema=False)
    sizes = []
    for path in written.files[:-1]:
        sheet = read(path).with_columns(pl.col("part").cast(int))
        rows = sheet.filter(pl.col("code") != "(context)")
        own = key.filter(rater=path.stem)
        assert rows["code"].to_list() == own["code"].to_list()
        assert rows["output"].to_list() == own["output"].to_list()
        assert sheet["part"].is_sorted()
        sizes.append(rows.height)
        for part in sheet.partition_by("part"):
            # Context is the text of the same document right before and right after.
            numbers = [int(text.split()[1]) for text in part["source"].unique(maintain_order=True)]
            assert numbers == list(range(numbers[0], numbers[-1] + 1))
            assert part["source"].str.split(" ").list.last().n_unique() == 1
            context = part.filter(pl.col("code") == "(context)")
            assert context.height <= 4
            assert (context["output"].fill_null("") == "").all()
    largest = key.group_by("rater", "place").len()["len"].max()
    assert max(sizes) - min(sizes) <= int(largest)  # type: ignore[call-overload]
    first = key.filter(pl.col("reason") != "repeat", pl.col("check").is_null())
    raters = first.group_by("task").agg(pl.col("rater").n_unique())["rater"]
    assert (raters == 2).sum() == round(0.2 * len(raters))
    assert first.select("doc", "seg", "system").n_unique() == drawn.frame.height * 3


def test_codes_and_places_do_not_tell_systems_apart_in_1000_segments(tmp_path: Path) -> None:
    """The place in the sheet and the code of each system's rows, against 999 reshuffles."""
    rows = [
        (system, str(seg), f"source {seg}", f"output {seg} {k}")
        for k, system in enumerate(QUALITY) for seg in range(1000)
    ]  # fmt: skip
    names = ["system", "seg", "source", "target"]
    texts = assay.read_scores(pl.DataFrame(rows, schema=names, orient="row"), metrics=[])
    plan = assay.assign(texts, 4, rng=6)
    written = assay.write_sheets(texts, plan, tmp_path / "sheets", format="csv")
    system = pl.read_csv(written.key, separator="\t").select("code", "system")
    sheets = pl.concat([read(path) for path in written.files[:-1]]).join(system, on="code")
    assert sheets.height == 3300
    place = sheets["code"].str.slice(-1).cast(int).to_numpy().reshape(-1, 3)
    assert (place == [1, 2, 3]).all()
    of = sheets["system"].replace_strict({name: k for k, name in enumerate(QUALITY)}).to_numpy()

    def spread(of: np.ndarray) -> float:
        counts = np.array([np.bincount(of[:, k], minlength=3) for k in range(3)])
        return float(((counts - len(of) / 3) ** 2).sum())

    rng, order = np.random.default_rng(1), of.reshape(-1, 3)
    chance = [spread(rng.permuted(order, axis=1)) for _ in range(999)]
    assert np.mean([value >= spread(order) for value in chance]) > 0.01


def test_score_cells_accept_only_the_scale(made: Made) -> None:
    written, _, _ = made
    if written.format != "xlsx":
        return
    with zipfile.ZipFile(written.files[0]) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        pages = archive.read("xl/workbook.xml").decode()
    cells = re.findall(r'<dataValidation type="decimal"[^>]*sqref="(E\d+)"', sheet)
    assert len(cells) == written.loads[0].outputs
    assert "<formula1>0</formula1><formula2>100</formula2>" in sheet
    assert "<sheetProtection" in sheet
    assert 'name="instructions"' in pages


def test_read_back_whole_and_estimated(
    made: Made, test_set: assay.TestSet, drawn: assay.Sample
) -> None:
    written, paths, wanted = made
    ratings = assay.collect_sheets(written.key, paths)
    key = pl.read_csv(written.key, separator="\t", infer_schema=False)
    assert len(ratings.frame) + len(ratings.repeats) == key.height
    assert ratings.raters == RATERS
    assert ratings.range == (0, 100)
    assert {note.code for note in ratings.notes} == {"repeated-ratings", "attention-checks"}
    place = ["rater", "doc", "seg", "system"]
    first = key.filter(pl.col("reason") != "repeat", pl.col("check").is_null())
    told = first.with_columns(score=pl.col("code").replace_strict(wanted)).sort(place)
    found = ratings.genuine.sort(place)
    assert found.select(*place, "task").equals(told.select(*place, "task"))
    assert found["score"].to_list() == told["score"].to_list()
    estimates = assay.estimate(test_set, ratings, sample=drawn)
    scores = {item.system: item.estimate for item in estimates.systems}
    for system, quality in QUALITY.items():
        assert abs(scores[system] - quality) < 1.5
    report = assay.rater_report(test_set, ratings)
    assert report.repeats == (key["reason"] == "repeat").sum()
    assert report.overlapping > 0
    assert len(ratings.controls) == (key["check"] == "spoiled").sum()


FIRST, SECOND = "{c}-01-0001-1", "{c}-01-0001-2"
rated = pl.col("code") != "(context)"
at = pl.when(rated).then(pl.int_range(pl.len())).min()


def set_score(value: str) -> Change:
    first = pl.int_range(pl.len()) == at
    return lambda frame: frame.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col("score").cast(pl.String)).alias("score")
    )


def rows_only(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(rated)


def swap_codes(frame: pl.DataFrame) -> pl.DataFrame:
    codes = frame["code"].to_list()
    one, two = (k for k, code in enumerate(codes) if code.endswith(("01-0001-1", "01-0001-2")))
    codes[one], codes[two] = codes[two], codes[one]
    return frame.with_columns(code=pl.Series(codes))


def sort_scores(frame: pl.DataFrame) -> pl.DataFrame:
    rows = rows_only(frame)
    return rows.with_columns(score=rows["score"].cast(float).sort())


def edit_first(column: str, value: str) -> Change:
    first = pl.int_range(pl.len()) == at
    return lambda frame: frame.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )


def added(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame, rows_only(frame)[:1].with_columns(code=pl.lit("mine"))])


ALTERED: dict[str, tuple[Change, list[str]]] = {
    "row deleted": (
        lambda f: f.filter(~pl.col("code").str.ends_with("01-0001-1")),
        ["missing: 1 row", FIRST, "ask for the whole file"],
    ),
    "row doubled": (
        lambda f: pl.concat([f, rows_only(f)[:1]]), ["line ", FIRST, "appears twice; keep the"],
    ),
    "codes swapped": (swap_codes, ["line ", FIRST, SECOND, "were codes or rows moved?"]),
    "output altered": (
        edit_first("output", "something better"), ["column output", "something better", FIRST],
    ),
    "source altered": (edit_first("source", "Etwas"), ["column source", "'Etwas'", FIRST]),
    "text in a score cell": (
        set_score("sehr gut"), ["column score", "'sehr gut' is not a number; correct it"],
    ),
    "decimal comma": (set_score("77,5"), ["'77,5' has a decimal comma; write decimals"]),
    "out of range": (set_score("780"), ["780", "outside the scale, 0 to 100; ask the rater"]),
    "scores sorted by themselves": (sort_scores, ["column was sorted without the rows; ask"]),
    "header changed": (
        lambda f: f.rename({"score": "scroe"}),
        ["line 1", "no column score (did you mean 'scroe'?)", "put the first row back"],
    ),
    "rows added": (added, ["'mine' is a row that is not in this key; restore the code"]),
    "no rows": (lambda f: f.clear(), ["rater-1", "the sheet has no rows; ask the rater"]),
    "a code lost": (
        lambda f: edit_first("code", "")(f), ["is in a row without a code", "move it"],
    ),
    "another rater's row": (
        lambda f: edit_first("code", rows_only(f)["code"][0].replace("-01-", "-02-"))(f),
        ["is a row of rater-2's sheet"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERED)
def test_altered_sheets_are_named(made: Made, name: str) -> None:
    written, paths, _ = made
    how, words = ALTERED[name]
    write(how(read(paths[0])), paths[0])
    with pytest.raises(InputError) as caught:
        assay.collect_sheets(written.key, paths)
    campaign = pl.read_csv(written.key, separator="\t")["code"][0].split("-")[0]
    message = str(caught.value)
    assert str(paths[0]) in message
    for word in words:
        assert word.replace("{c}", campaign) in message, message


def test_wrong_files_are_named(
    made: Made, tmp_path: Path, test_set: assay.TestSet, drawn: assay.Sample
) -> None:
    written, (one, two, three), _ = made
    ending = one.suffix

    def refused(*paths: Path) -> str:
        with pytest.raises(InputError) as caught:
            assay.collect_sheets(written.key, paths)
        return str(caught.value)

    (tmp_path / "swap").mkdir()
    swapped = tmp_path / "swap" / f"rater-2{ending}"
    swapped.write_bytes(one.read_bytes())
    assert "this sheet of rater-1 has the name of rater-2" in refused(swapped, three)
    again = tmp_path / f"rater-1 (copy){ending}"
    again.write_bytes(one.read_bytes())
    assert f"another sheet of rater-1 was given ({one})" in refused(one, again, two)
    empty = tmp_path / f"empty{ending}"
    empty.write_bytes(b"")
    assert str(empty) in refused(empty)
    plan = assay.assign(drawn, RATERS, rng=9)
    other = assay.write_sheets(test_set, plan, tmp_path / "other", format=written.format)
    message = refused(one, other.files[0])
    assert str(other.files[0]) in message
    assert "sheet is from another campaign: give that campaign's key" in message
    # Several faulty files are named together.
    write(set_score("gut")(read(two)), two)
    assert {str(two), str(swapped)} <= set(re.findall(r"^[^:]+", refused(two, swapped), re.M))
    # A sheet under a name of its own is known by its codes.
    assert len(assay.collect_sheets(written.key, [again])) > 0


def test_rows_in_another_order_are_joined_by_code(made: Made) -> None:
    written, paths, _ = made
    whole = assay.collect_sheets(written.key, paths)
    sheet = read(paths[0]).with_columns(pl.col("score").cast(float))
    write(sheet.sort("score", descending=True, nulls_last=True), paths[0])
    ratings = assay.collect_sheets(written.key, paths)
    assert ratings.frame.equals(whole.frame)
    assert has_note(ratings.notes, "other-order")


def test_half_a_campaign(made: Made, test_set: assay.TestSet) -> None:
    written, paths, _ = made
    sheet = read(paths[0])
    half = pl.int_range(pl.len()) < sheet.height // 2
    write(sheet.with_columns(pl.when(half).then("score").alias("score")), paths[0])
    ratings = assay.collect_sheets(written.key, paths[:2])
    text = next(note for note in ratings.notes if note.code == "sheets-missing")
    assert re.fullmatch(
        r"no sheet from 1 of 3 raters \(rater-3\); \d+ outputs were assigned only to them", text
    )
    assert ratings.unrated == 0
    (waits,) = [note for note in ratings.notes if note.code == "not-reached"]
    assert re.fullmatch(r"rater-1\.\w+: \d+ outputs after the last score, not counted yet", waits)
    places = pl.int_range(pl.len())
    hole = pl.when(places != places.filter(rated).first()).then("score")
    write(sheet.with_columns(score=hole), paths[0])
    skipped = assay.collect_sheets(written.key, paths[:2])
    assert skipped.unrated == 1
    assert has_note(skipped.notes, "not-rated")
    write(sheet.with_columns(score=pl.lit(None)), paths[0])
    write(read(paths[1]).with_columns(score=pl.when(rated).then(70)), paths[1])
    ratings = assay.collect_sheets(written.key, paths[:2])
    assert has_note(ratings.notes, "no-scores")
    assert has_note(ratings.notes, "one-score")


def test_a_fuller_sheet_follows_half_of_it(made: Made, tmp_path: Path) -> None:
    """What came back earlier is given up only where the rater says otherwise."""
    written, paths, _ = made
    sheet, rows = read(paths[0]), pl.int_range(pl.len())
    half, first = sheet.height // 2, tmp_path / "earlier" / paths[0].name
    first.parent.mkdir()
    write(sheet.with_columns(score=pl.when(rows < half).then("score")), first)
    assay.collect_sheets(written.key, [first, *paths[1:]])
    whole = assay.collect_sheets(written.key, paths, earlier=[first])
    assert whole.frame.equals(assay.collect_sheets(written.key, paths).frame)
    assert not has_note(whole.notes, "earlier-sheet")
    # The rest alone: nothing is lost. Another score: the newer counts.
    write(sheet.with_columns(score=pl.when(rows >= half).then("score")), paths[0])
    rest = assay.collect_sheets(written.key, paths, earlier=[first])
    assert rest.frame.equals(whole.frame)
    (note,) = [note for note in rest.notes if note.code == "earlier-sheet"]
    assert re.search(r"comes after .*earlier.*: \d+ scores missing in it kept$", note)
    write(set_score("1")(sheet), paths[0])
    changed = assay.collect_sheets(written.key, paths, earlier=[first])
    assert changed.frame["score"].to_list() != whole.frame["score"].to_list()
    assert "1 score changed since" in str(changed.notes)
    alone = assay.collect_sheets(written.key, [], earlier=[first])
    assert alone.raters == ("rater-1",)
    with pytest.raises(InputError, match="another sheet of rater-1 was given"):
        assay.collect_sheets(written.key, [*paths, first])


def test_comments_come_with_the_ratings(made: Made) -> None:
    written, paths, _ = made
    write(edit_first("comment", "0012 unclear")(read(paths[0])), paths[0])
    ratings = assay.collect_sheets(written.key, paths)
    assert ratings.frame["comment"].drop_nulls().to_list() == ["0012 unclear"]


def test_difficult_texts_survive(tmp_path: Path) -> None:
    texts = ["=1+1", "'quoted'", 'a;b,c\t"d"', "line\none", "控制 \x07 sign", "1/2", "007", " x "]
    rows = [("A", str(k), text, text + "!") for k, text in enumerate(texts)]
    names = ["system", "seg", "source", "target"]
    table = assay.read_scores(pl.DataFrame(rows, schema=names, orient="row"), metrics=[])
    plan = assay.assign(table, 1, overlap=0, rng=1)
    for kind in ("xlsx", "csv"):
        written = assay.write_sheets(table, plan, tmp_path / kind, format=kind)
        ratings = assay.collect_sheets(written.key, written.files[:1])
        assert has_note(ratings.notes, "no-scores")
        assert len(ratings) == len(texts)


def test_spoiled_copies() -> None:
    rng = np.random.default_rng(1)
    other = ["eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"] * 3
    for length, replaced in ((2, 2), (5, 2), (8, 3), (15, 4), (20, 5), (40, 10)):
        words = [f"w{k}" for k in range(length)]
        made = spoil(" ".join(words), other, rng).split()
        assert len(made) == length
        assert sum(a != b for a, b in zip(words, made, strict=True)) == replaced
    long = " ".join(f"w{k}" for k in range(200))
    assert len(spoil(long, other, rng).split()) == 200
    poem = "one two\n\n three  four\n"
    spaces = [made for made in spoil(poem, other, rng) if made.isspace()]
    assert spaces == [sign for sign in poem if sign.isspace()]
    made = spoil("今日はとても良い天気です", ["犬が庭で走り回っている"], rng)
    assert len(made) == 12
    with pytest.raises(InputError, match="no other text has 2 words"):
        spoil("a b c", [], rng)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "pdf"}, "format (pdf) is not known; choose from xlsx, csv"),
        ({"range": (5, 5)}, "range (5,5) is empty; give LOW,HIGH with LOW < HIGH"),
        ({"context": -1}, "context (-1) is not a whole number from 0 on"),
        ({"key": "sheets/key.tsv"}, "is inside the folder of the sheets; keep it elsewhere"),
    ],
)
def test_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test_set: assay.TestSet, options: Any,
    words: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    plan = assay.assign(test_set, 2, rng=1)
    with pytest.raises(OptionError, match=re.escape(words)):
        assay.write_sheets(test_set, plan, "sheets", **options)
    assert list(tmp_path.iterdir()) == []


def test_texts_must_be_there(tmp_path: Path, test_set: assay.TestSet) -> None:
    plan = assay.assign(test_set, 2, rng=1)
    bare = assay.read_scores(test_set.frame.drop("target"), metrics=[])
    with pytest.raises(InputError, match="the scores lack target; add the texts for raters"):
        assay.write_sheets(bare, plan, tmp_path / "sheets")
    gap = pl.when((pl.col("seg") == "3") & (pl.col("doc") == "d04")).then(None).otherwise("target")
    holes = assay.read_scores(test_set.frame.with_columns(target=gap), metrics=[])
    with pytest.raises(InputError, match="no text of segment '3' of 'd04' by"):
        assay.write_sheets(holes, plan, tmp_path / "sheets")
    written = assay.write_sheets(test_set, plan, tmp_path / "sheets", instructions="Be kind.")
    assert written.files[-1].read_text("utf-8") == "Be kind."
    with pytest.raises(OptionError, match="exists; name a new one; sheets are never overwritten"):
        assay.write_sheets(test_set, plan, tmp_path / "sheets")
    with pytest.raises(InputError, match="the key lacks rater, file"):
        assay.collect_sheets(test_set.frame, written.files[:1])
    with pytest.raises(OptionError, match="is one path"):
        assay.collect_sheets(written.key, written.files[0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no file was given"):
        assay.collect_sheets(written.key, [])
    assert issubclass(TableError, InputError)


def test_a_spoiled_stretch_differs_in_more_than_half_of_its_words() -> None:
    """The other text has the same words, so that a stretch may be the one that was there."""
    text = "a b a b a b a b"
    for seed in range(50):
        made = spoil(text, [text], np.random.default_rng(seed)).split()
        assert sum(new != old for new, old in zip(made, text.split(), strict=True)) == 3
