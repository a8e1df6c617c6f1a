"""Files as people lay them out for themselves, and the mean of every system in them.

They were written before the reader knew of any of it. A file is read right, or something is asked.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import xlsxwriter

SYSTEMS, RATERS, SEGMENTS = ("DeepL", "Google", "Nova"), ("Anna", "Ben"), 24
BASE = {"DeepL": 80, "Google": 70, "Nova": 61}
NAMES = ("Segment", "System", "Rater", "Score")

Row = tuple[object, ...]
Means = dict[str, float]


@dataclass(frozen=True)
class Made:
    """What a person has, what it should come to, or what must be asked, and the answer to it."""

    files: Sequence[str]
    means: Means = field(default_factory=dict)
    asks: str = ""
    says: str = ""
    """What must be told."""
    answer: Mapping[str, str] = field(default_factory=dict)


Make = Callable[[Path], Made]
FILES: dict[str, Make] = {}


def made(make: Make) -> Make:
    FILES[make.__name__] = make
    return make


def ratings(raters: Sequence[str] = RATERS) -> list[tuple[int, str, str, int]]:
    """Segment, system, rater and score."""
    random = Random(5)
    return [
        (seg, system, rater, max(0, min(100, round(BASE[system] + random.gauss(0, 12)))))
        for seg in range(1, SEGMENTS + 1) for system in SYSTEMS for rater in raters
    ]  # fmt: skip


LONG = ratings()


def means(rows: Iterable[Row]) -> Means:
    scores: dict[str, list[float]] = {}
    for _, system, _, score in rows:
        scores.setdefault(str(system), []).append(float(str(score)))
    return {system: sum(own) / len(own) for system, own in scores.items()}


TRUTH = means(LONG)


def scored(*scores: Callable[[int], object]) -> list[Row]:
    """The rows with these columns in place of the score."""
    return [(*row, *(score(value) for score in scores)) for *row, value in LONG]


def text_file(
    path: Path, names: Sequence[str], rows: Iterable[Row], sign: str = ",", code: str = "utf-8"
) -> Made:
    """Separated text."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=sign)
    writer.writerows([names, *rows])
    path.write_bytes(stream.getvalue().encode(code))
    return Made([path.name], TRUTH)


def workbook(path: Path, **sheets: Iterable[Sequence[object]]) -> Made:
    """A workbook with these sheets, cell by cell."""
    with xlsxwriter.Workbook(str(path)) as book:
        date = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, dt.datetime):
                        sheet.write_datetime(i, j, value, date)
                    elif value is not None:
                        sheet.write(i, j, value)
    return Made([path.name], TRUTH)


def by_output() -> dict[tuple[int, str], list[int]]:
    """The scores of both raters for every output."""
    found: dict[tuple[int, str], list[int]] = {}
    for seg, system, _, score in LONG:
        found.setdefault((seg, system), []).append(score)
    return found


def by_task() -> dict[tuple[int, str], list[int]]:
    """The scores of all systems by segment and rater."""
    found: dict[tuple[int, str], list[int]] = {}
    for seg, _, rater, score in LONG:
        found.setdefault((seg, rater), []).append(score)
    return found


@made
def decimal_commas(folder: Path) -> Made:
    rows = scored(lambda score: f"{score},5")
    made = text_file(
        folder / "x.csv", ["Satz-ID", "System", "Bewerter", "Bewertung"], rows, ";", "utf-8-sig"
    )
    return Made(made.files, {name: mean + 0.5 for name, mean in TRUTH.items()}, says="0,5 as 0.5")


@made
def headers_in_spanish(folder: Path) -> Made:
    return text_file(folder / "x.csv", ["ID de oración", "Sistema", "Anotador", "Nota"], LONG)


@made
def headers_in_chinese(folder: Path) -> Made:
    return workbook(folder / "打分.xlsx", Sheet1=[("段落ID", "翻译系统", "标注员", "得分"), *LONG])


@made
def a_title_above(folder: Path) -> Made:
    made = workbook(folder / "x.xlsx", S=[("Evaluation, May 2024",), (), NAMES, *LONG])
    return Made(made.files, TRUTH, says="above them: Evaluation, May 2024")


@made
def a_title_above_semicolons(folder: Path) -> Made:
    made = text_file(folder / "x.csv", NAMES, LONG, ";")
    path = folder / made.files[0]
    path.write_bytes(b"Results of May\n\n" + path.read_bytes())
    return Made(made.files, TRUTH, says="the column names are in row 3")


@made
def a_mean_below(folder: Path) -> Made:
    made = workbook(folder / "x.xlsx", S=[NAMES, *LONG, ("Average", None, None, 70.1)])
    return Made(made.files, TRUTH, says="line 146, Average")


@made
def a_mean_below_every_rater(folder: Path) -> Made:
    rows = [(seg, system, *scores) for (seg, system), scores in by_output().items()]
    names = ["Segment", "Engine", "Rater Anna", "Rater Ben"]
    return text_file(folder / "x.csv", names, [*rows, ("Mean", "", 70.0, 71.0)])


@made
def a_total_below_every_system(folder: Path) -> Made:
    rows = [(*task, *scores) for task, scores in by_task().items()]
    total = ("TOTAL", "", 3000, 2000, 1000)
    made = workbook(folder / "x.xlsx", S=[("Segment", "Annotator", *SYSTEMS), *rows, total])
    return Made(
        made.files, TRUTH, "Is Nova one more system?", answer={"system": "DeepL+Google+Nova"}
    )


@made
def a_total_in_a_full_row(folder: Path) -> Made:
    """Nothing is missing in it: it would be one more segment."""
    rows: list[Row] = []
    for seg in range(1, SEGMENTS + 1):
        rows.append((seg, *(score for s, _, rater, score in LONG if s == seg and rater == "Anna")))
    rows.append(("Mean", *(80.0, 70.0, 61.0)))
    made = text_file(folder / "x.csv", ["Segment", "DeepL", "Google", "GPT-4"], rows)
    anna = means(row for row in LONG if row[2] == "Anna")
    anna["GPT-4"] = anna.pop("Nova")
    return Made(made.files, anna)


@made
def per_cent(folder: Path) -> Made:
    names = ["segment", "system", "rater", "quality score"]
    made = text_file(folder / "x.csv", names, scored(lambda score: f"{score}%"))
    return Made(made.files, TRUTH, says="85% as 85")


@made
def words_for_scores(folder: Path) -> Made:
    words = ["poor", "fair", "good", "excellent", "excellent"]
    rows = scored(lambda score: words[score // 25])
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "grade"], rows)
    return Made(made.files, asks="grade has words instead of numbers (excellent, fair, good")


@made
def letters_in_ids(folder: Path) -> Made:
    rows = [(f"S-{seg:04d}", *row) for seg, *row in LONG]
    return text_file(folder / "x.csv", ["Item", "MT", "Reviewer", "Points"], rows)


@made
def thousands_in_ids(folder: Path) -> Made:
    rows = [(f"1,{seg:03d}", *row) for seg, *row in LONG]
    return text_file(folder / "x.csv", NAMES, rows)


@made
def two_scores(folder: Path) -> Made:
    names = ["seg", "system", "rater", "Initial score", "Final score"]
    rows = scored(lambda score: score, lambda score: score + 3)
    made = text_file(folder / "x.csv", names, rows)
    return Made(made.files, TRUTH, "Initial score", answer={"score": "Initial score"})


@made
def dates_beside(folder: Path) -> Made:
    start = dt.datetime(2024, 5, 12, 9)
    names = ("Date", "Start", "End", "Segment ID", "System", "Annotator", "Rating")
    rows = [
        (start, start + dt.timedelta(minutes=k), start + dt.timedelta(minutes=k + 1), *row)
        for k, row in enumerate(LONG)
    ]
    return workbook(folder / "x.xlsx", S=[names, *rows])


@made
def systems_called_by_letters(folder: Path) -> Made:
    rows = [(*task, *scores) for task, scores in by_task().items()]
    names = ("ID", "Rater", "System A", "System B", "System C")
    made = workbook(folder / "x.xlsx", S=[names, *rows])
    return Made(made.files, dict(zip(names[2:], TRUTH.values(), strict=True)))


@made
def a_file_per_rater(folder: Path) -> Made:
    for who in RATERS:
        rows = [(seg, system, score) for seg, system, rater, score in LONG if rater == who]
        workbook(folder / f"{who.lower()}.xlsx", S=[("Segment", "System", "Score"), *rows])
    return Made(["anna.xlsx", "ben.xlsx"], TRUTH, says="rater <- file")


@made
def a_file_per_system(folder: Path) -> Made:
    for name in SYSTEMS:
        rows = [(seg, score) for seg, system, rater, score in LONG
                if system == name and rater == "Anna"]  # fmt: skip
        text_file(folder / f"{name}.csv", ["Segment", "Score"], rows)
    anna = means(row for row in LONG if row[2] == "Anna")
    return Made([f"{name}.csv" for name in SYSTEMS], anna, says="system <- file")


@made
def a_file_per_system_with_raters(folder: Path) -> Made:
    files = [f"ratings_{name}_final.csv" for name in SYSTEMS]
    for name, file in zip(SYSTEMS, files, strict=True):
        rows = [(seg, rater, score) for seg, system, rater, score in LONG if system == name]
        text_file(folder / file, ["Segment", "Rater", "Score"], rows)
    return Made(files, TRUTH, says="system <- file")


@made
def a_file_of_whom(folder: Path) -> Made:
    for who in ("first", "second"):
        rows = [(seg, score) for seg, system, _, score in LONG if system == "DeepL"]
        text_file(folder / f"{who}.csv", ["Segment", "Score"], rows[:: 1 if who == "first" else -1])
    asks = "Is each file (first, second) a system or a rater? Say it with `columns` (system=file"
    return Made(["first.csv", "second.csv"], asks=asks)


@made
def a_sheet_per_rater(folder: Path) -> Made:
    sheets = {
        who: [("Segment", "System", "Score"),
              *((seg, system, score) for seg, system, rater, score in LONG if rater == who)]
        for who in RATERS
    }  # fmt: skip
    made = workbook(folder / "x.xlsx", **sheets)
    return Made(made.files, TRUTH, says="2 sheets with the same columns are one table: Anna, Ben")


@made
def a_sheet_per_system(folder: Path) -> Made:
    sheets = {
        name: [("Segment", "Annotator", "Score"),
               *((seg, rater, score) for seg, system, rater, score in LONG if system == name)]
        for name in SYSTEMS
    }  # fmt: skip
    return workbook(folder / "x.xlsx", **sheets)


@made
def instructions_in_front(folder: Path) -> Made:
    how = [("Please rate every segment from 0 to 100.",), ("Do not talk to each other.",)]
    made = workbook(folder / "x.xlsx", Instructions=how, Ratings=[NAMES, *LONG])
    return Made(made.files, TRUTH, says="only Ratings was read (not Instructions)")


@made
def a_legend_behind(folder: Path) -> Made:
    legend = [("Score", "Meaning"), (0, "useless"), (100, "perfect")]
    return workbook(folder / "x.xlsx", Ratings=[NAMES, *LONG], Legend=legend)


@made
def out_of_five(folder: Path) -> Made:
    rows = scored(lambda score: f"{1 + score // 21}/5")
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "score"], rows)
    return Made(made.files, means(scored(lambda score: 1 + score // 21)), says="out of 5")


@made
def steps_with_words(folder: Path) -> Made:
    words = ["", "bad", "weak", "fair", "good", "perfect"]
    rows = scored(lambda score: f"{1 + score // 21} - {words[1 + score // 21]}")
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "score"], rows)
    return Made(made.files, means(scored(lambda score: 1 + score // 21)))


@made
def outputs_without_a_score(folder: Path) -> Made:
    rows = [(*row, "n/a" if row[:2] == [9, "Nova"] else score) for *row, score in LONG]
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "score"], rows)
    rated = means(row for row in LONG if row[:2] != (9, "Nova"))
    return Made(made.files, rated, says="2 rows of outputs without any score left out")


@made
def a_header_in_two_rows(folder: Path) -> Made:
    first: list[object] = [""]
    rows: dict[int, list[object]] = {}
    for name in SYSTEMS:
        first += [name, None]
        for (seg, system), scores in by_output().items():
            if system == name:
                rows.setdefault(seg, [seg]).extend(scores)
    return workbook(folder / "x.xlsx", S=[first, ["Segment", *RATERS * 3], *rows.values()])


@made
def a_column_per_system_and_rater(folder: Path) -> Made:
    rows: dict[int, list[object]] = {}
    for seg, _, _, score in LONG:
        rows.setdefault(seg, [seg]).append(score)
    names = ["segment", *(f"{system}_{rater}" for system in SYSTEMS for rater in RATERS)]
    return text_file(folder / "x.csv", names, map(tuple, rows.values()))


@made
def systems_and_raters_nobody_knows(folder: Path) -> Made:
    rows: dict[int, list[object]] = {}
    for seg, _, _, score in LONG:
        rows.setdefault(seg, [seg]).append(score)
    own = [f"{system}-{rater}" for system in ("Alpha", "Beta", "Nova") for rater in RATERS]
    made = text_file(folder / "x.csv", ["segment", *own], map(tuple, rows.values()))
    truth = dict(zip(("Alpha", "Beta", "Nova"), TRUTH.values(), strict=True))
    asks = "Are Alpha, Beta, Nova the systems and Anna, Ben the raters, or the other way round?"
    return Made(made.files, truth, asks, answer={"system+rater": "+".join(own)})


@made
def a_column_per_segment(folder: Path) -> Made:
    rows: dict[str, list[object]] = {}
    for _, system, rater, score in LONG:
        if rater == "Anna":
            rows.setdefault(system, [system]).append(score)
    names = ["System", *(f"S{seg}" for seg in range(1, SEGMENTS + 1))]
    made = text_file(folder / "x.csv", names, map(tuple, rows.values()))
    return Made(made.files, means(row for row in LONG if row[2] == "Anna"))


@made
def penalties(folder: Path) -> Made:
    rows = scored(lambda score: (100 - score) / 4)
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "Penalty points"], rows)
    return Made(made.files, asks="lower is usually better. Say which it is with `better`")


@made
def numbers_of_errors(folder: Path) -> Made:
    rows = scored(lambda score: (100 - score) // 10)
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "Number of errors"], rows)
    return Made(made.files, asks="lower is usually better")


@made
def german_marks(folder: Path) -> Made:
    rows = scored(lambda score: 6 - min(5, score // 17))
    made = text_file(folder / "x.csv", ["Segment", "System", "Prüfer", "Note"], rows, ";")
    return Made(made.files, asks="`better`")


@made
def ranks(folder: Path) -> Made:
    rows = []
    for (seg, rater), scores in by_task().items():
        order = sorted(scores, reverse=True)
        rows += [(seg, system, rater, order.index(score) + 1)
                 for system, score in zip(SYSTEMS, scores, strict=True)]  # fmt: skip
    made = text_file(folder / "x.csv", ["segment", "system", "judge", "Rank"], rows)
    return Made(made.files, asks="lower is usually better")


@made
def in_utf_16(folder: Path) -> Made:
    names = ["Segment", "Système", "Évaluateur", "Note"]
    return text_file(folder / "x.txt", names, LONG, "\t", "utf-16")


@made
def in_windows_1252(folder: Path) -> Made:
    names = ["Segment", "Maschine", "Prüfer", "Wertung"]
    made = text_file(folder / "x.csv", names, LONG, ";", "cp1252")
    return Made(made.files, TRUTH, says="read as Windows-1252 (Prüfer)")


@made
def an_index_in_front(folder: Path) -> Made:
    names = ["", "sent_id", "mt_system", "annotator", "score"]
    return text_file(folder / "x.csv", names, [(k, *row) for k, row in enumerate(LONG)])


@made
def merged_cells(folder: Path) -> Made:
    rows = [(None if k % 6 else seg, *row) for k, (seg, *row) in enumerate(LONG)]
    made = workbook(folder / "x.xlsx", S=[NAMES, *rows])
    return Made(made.files, TRUTH, says="Segment: 120 empty cells")


@made
def times_beside(folder: Path) -> Made:
    names = ["timestamp", "duration", "item_id", "model", "worker", "answer"]
    rows = [(1715500000 + 37 * k, 12.5 + k % 7, *row) for k, row in enumerate(LONG)]
    return text_file(folder / "x.csv", names, rows)


@made
def sentences_in_place_of_numbers(folder: Path) -> Made:
    rows = [(f"This is the sentence number {seg} of the test.", *row) for seg, *row in LONG]
    made = text_file(folder / "x.csv", ["Source sentence", *NAMES[1:]], rows)
    asks, answer = "seg=Source sentence", {"seg": "Source sentence"}
    return Made(made.files, TRUTH, asks, answer=answer)


@made
def confidence_beside(folder: Path) -> Made:
    names = ["Sentence", "System", "Judge", "Score (0-100)", "Confidence (1-5)"]
    rows = [(*row, 1 + k % 5) for k, row in enumerate(LONG)]
    return text_file(folder / "x.csv", names, rows)


@made
def the_header_again(folder: Path) -> Made:
    made = text_file(folder / "x.csv", NAMES, [*LONG[:40], NAMES, *LONG[40:]])
    return Made(made.files, TRUTH, says="the column names are repeated in line 42")


@made
def two_scales(folder: Path) -> Made:
    """Nobody can tell, but it is said."""
    rows = [(*row, score if row[2] == "Anna" else 1 + score // 21) for *row, score in LONG]
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "score"], rows)
    return Made(made.files, means(rows), says="Ben scores from ")


@made
def a_name_in_several_spellings(folder: Path) -> Made:
    rows = [(seg, system.lower() if k % 9 == 0 else system, *row)
            for k, (seg, system, *row) in enumerate(LONG)]  # fmt: skip
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "score"], rows)
    return Made(made.files, asks="'deepl' and 'DeepL' differ only in capitals or spaces")


@made
def numbers_that_begin_anew(folder: Path) -> Made:
    rows = [(f"batch{1 + seg // 13}", (seg - 1) % 12 + 1, *row) for seg, *row in LONG]
    made = text_file(folder / "x.csv", ["Batch", *NAMES], rows)
    return Made(made.files, TRUTH, "is Batch the document?", answer={"doc": "Batch"})


@made
def a_remark_below(folder: Path) -> Made:
    made = workbook(folder / "x.xlsx", S=[NAMES, *LONG, [], ["* rated by freelancers"]])
    return Made(made.files, TRUTH, says="line 147, * rated by freelancers")


@made
def means_between(folder: Path) -> Made:
    rows: list[Row] = []
    for seg in range(1, SEGMENTS + 1):
        rows += [row for row in LONG if row[0] == seg]
        rows.append(("Mean", None, None, 66.6))
    made = workbook(folder / "x.xlsx", S=[NAMES, *rows])
    return Made(
        made.files, TRUTH, says="24 rows that do not belong to the table left out (line 8, Mean"
    )


@made
def stars(folder: Path) -> Made:
    rows = scored(lambda score: "★" * (1 + score // 21) + "☆" * (4 - score // 21))
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "rating"], rows)
    return Made(made.files, means(scored(lambda score: 1 + score // 21)))


@made
def a_scale_that_ends_with_the_worst(folder: Path) -> Made:
    rows = scored(lambda score: 7 - score // 17)
    names = ["Segment", "System", "Rater", "Rating (1=best, 7=worst)"]
    made = text_file(folder / "x.csv", names, rows)
    return Made(made.files, asks="lower is usually better")


@made
def a_form_with_a_question_per_output(folder: Path) -> Made:
    questions = [f"Sentence {seg} [{name}]" for seg in range(1, SEGMENTS + 1) for name in SYSTEMS]
    rows = [
        ("2024/05/12 10:00", f"{who.lower()}@uni.org", *(row[3] for row in LONG if row[2] == who))
        for who in RATERS
    ]
    return text_file(folder / "x.csv", ["Timestamp", "Email Address", *questions], rows)


@made
def yes_or_no(folder: Path) -> Made:
    rows = scored(lambda score: "Yes" if score > 65 else "No")
    made = text_file(folder / "x.csv", ["segment", "system", "rater", "Acceptable"], rows)
    return Made(made.files, asks="Acceptable has words instead of numbers (No, Yes)")


@made
def headers_in_two_lines(folder: Path) -> Made:
    names = ("Segment\nID", "MT\nsystem", "Rater", "Score\n(0-100)")
    return workbook(folder / "x.xlsx", S=[names, *LONG])


@made
def empty_columns_behind(folder: Path) -> Made:
    made = text_file(
        folder / "x.csv", ["SEGMENT", "SYSTEM", "RATER", "SCORE", "", ""],
        [(*row, None, None) for row in LONG],
    )  # fmt: skip
    return Made(made.files, TRUTH)


@made
def numbers_for_everybody(folder: Path) -> Made:
    rows = [(seg, SYSTEMS.index(system) + 1, RATERS.index(rater) + 1, score)
            for seg, system, rater, score in LONG]  # fmt: skip
    made = text_file(folder / "x.csv", ["Item", "System", "Rater", "Rating"], rows)
    return Made(made.files, dict(zip("123", TRUTH.values(), strict=True)))


@made
def short_names_and_shares(folder: Path) -> Made:
    made = text_file(
        folder / "x.csv", ["sid", "sys", "who", "score"], scored(lambda score: score / 100)
    )
    return Made(made.files, {name: mean / 100 for name, mean in TRUTH.items()})
