"""Tables of edits as translation departments keep them: the same answer however they look."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter
from tests.conftest import Ran

from assay.results import has_note
from assay.views.page import read_result

Run = Callable[..., Ran]
ENGINES, PEOPLE = ("Custom", "DeepL"), ("Anna", "Boris", "Carla", "Dario")


@pytest.fixture(scope="module")
def jobs() -> pl.DataFrame:
    """Every translator edits both engines, another document of each; times are whole seconds."""
    rows = []
    for k, who in enumerate(PEOPLE):
        for e, engine in enumerate(ENGINES):
            doc = (k + e) % 2
            for seg in range(1, 13):
                changed = (seg + k) % 3 < 1 + e
                source = f"Sentence number {seg} of the manual explains part {doc}."
                mt = f"Der {seg}. Satz der Anleitung erklärt das Teil {doc}."
                edited = mt.replace("erklärt", "beschreibt genau") if changed else mt
                rows.append({
                    "Project": f"manual-{doc}", "Segment no.": seg, "Engine": engine,
                    "Translator": who, "Source": source, "MT output": mt,
                    "Final translation": edited, "Time (s)": 8 + 3 * k + 30 * changed + seg,
                })  # fmt: skip
    return pl.DataFrame(rows)


def clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"


def costs(run_assay: Run, *files: object) -> tuple[dict[str, float], str]:
    ran = run_assay("effort", *files, "--rate", "40 EUR", "--seed", 1, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    return {item["system"]: item["price_per_1000_words"] for item in found["systems"]}, ran.err


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, jobs: pl.DataFrame) -> Path:
    """The same jobs in many forms."""
    folder = tmp_path_factory.mktemp("jobs")
    times, rest = jobs["Time (s)"], jobs.drop("Time (s)")
    jobs.write_csv(folder / "seconds.csv")
    rest.with_columns((times / 60).alias("Time (min)")).write_csv(folder / "minutes.csv")
    rest.with_columns((times * 1000).alias("edit_time_ms")).write_csv(folder / "ms.csv")
    commas = [str(value / 60).replace(".", ",") for value in times]
    rest.with_columns(pl.Series("Zeit (min)", commas)).write_csv(
        folder / "commas.csv", separator=";"
    )
    words = [clock(value) for value in times]
    rest.with_columns(pl.Series("Edit time", words)).write_csv(folder / "clock.csv")
    of_day = [dt.time(0, value // 60, value % 60) for value in times]
    rest.with_columns(pl.Series("Edit time", of_day)).write_excel(folder / "clock.xlsx")
    for name, own in (("Translator", PEOPLE), ("Engine", ENGINES)):
        for who in own:
            part = jobs.filter(pl.col(name) == who).drop(name)
            part.write_excel(folder / f"{name}_{who}.xlsx")
    with xlsxwriter.Workbook(str(folder / "laid-out.xlsx")) as book:
        sheet = book.add_worksheet()
        for k, row in enumerate([("Post-editing in May",), (), jobs.columns, *jobs.rows()]):
            sheet.write_row(k, 0, row)
        sheet.write_row(jobs.height + 3, 0, ["Total"])
        sheet.write(jobs.height + 3, 7, int(times.sum()))
    return folder


@pytest.mark.parametrize("files", [
    "minutes.csv", "ms.csv", "commas.csv", "clock.csv", "clock.xlsx", "laid-out.xlsx",
    "Translator_*.xlsx", "Engine_*.xlsx",
])  # fmt: skip
def test_prices_are_the_same_whatever_the_table(files: str, written: Path, run_assay: Run) -> None:
    expected, _ = costs(run_assay, written / "seconds.csv")
    found, said = costs(run_assay, written / files)
    assert found == pytest.approx(expected, rel=1e-6)
    assert said.count("read as edits") == 1


def test_what_is_no_time_is_named(written: Path, tmp_path: Path, run_assay: Run) -> None:
    text = (written / "minutes.csv").read_text("utf-8").splitlines()
    text[4] = ",".join([*text[4].split(",")[:-1], "soon"])
    (tmp_path / "x.csv").write_text("\n".join(text), encoding="utf-8")
    ran = run_assay("effort", tmp_path / "x.csv")
    assert (ran.code, "line 5, column Time (min): 'soon' is not a number" in ran.err) == (2, True)


def test_times_in_another_unit_are_doubted(
    jobs: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    """Nothing says that they are minutes; nobody edits 1,000 words in a minute."""
    (jobs.with_columns(pl.col("Time (s)") / 6000).rename({"Time (s)": "Time spent"})).write_csv(
        tmp_path / "x.csv"
    )
    run_assay("effort", tmp_path / "x.csv", "--seed", 1, "-o", tmp_path / "effort.json")
    result = read_result(tmp_path / "effort.json")
    assert has_note(result.warnings, "time-unlikely")
