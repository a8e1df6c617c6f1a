"""Every kind of broken file gets line, column and remedy, exit code 2, and no traceback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

GOOD = b"system\tdoc\tseg\tchrF\nA\td1\t1\t0.5\nA\td1\t2\t0.6\nB\td1\t1\t0.4\nB\td1\t2\t0.7\n"


@dataclass(frozen=True)
class Broken:
    """A broken file and one of the problems that must be named."""

    name: str
    kind: str
    content: bytes
    line: int | None
    column: str | None
    says: str
    ending: str = ".tsv"
    options: tuple[str, ...] = ()


def xlsx(rows: list[list[object]]) -> bytes:
    import io

    import xlsxwriter

    buffer = io.BytesIO()
    workbook = xlsxwriter.Workbook(buffer)
    sheet = workbook.add_worksheet()
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell)
    workbook.close()
    return buffer.getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    import io

    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


CASES = [
    Broken("missing column", "ratings", b"system\tseg\nA\t1\n", 1, "score", "is missing"),
    Broken("misspelt column", "ratings", b"system\tseg\tscor\nA\t1\t2\n", 1, "score",
           "did you mean 'scor'"),
    Broken("empty file", "scores", b"", None, None, "the file is empty"),
    Broken("only blank lines", "scores", b"\n\n  \n", None, None, "the file is empty"),
    Broken("blank first line", "scores", b"\nsystem\tseg\nA\t1\n", 1, None, "first line is blank"),
    Broken("no rows", "ratings", b"system\tseg\tscore\n", None, None, "no rows"),
    Broken("word for a score", "ratings", b"system\tseg\tscore\nA\t1\t2\nA\t2\tgood\n", 3, "score",
           "'good' is not a number"),
    Broken("decimal comma", "ratings", b"system;seg;score\nA;1;2,5\n", 2, "score",
           "decimal comma", ".csv"),
    Broken("decimal comma in a metric", "scores", b"system\tseg\tchrF\nA\t1\t0,5\nA\t2\t0,6\n", 2,
           "chrF", "decimal comma"),
    Broken("decimal comma in comma-separated", "ratings", b"system,seg,score\nA,1,2,5\n", 2, None,
           "decimals with a point", ".csv"),
    Broken("NaN score", "ratings", b"system\tseg\tscore\nA\t1\tNaN\n", 2, "score",
           "not a finite number"),
    Broken("infinite score", "ratings", b"system\tseg\tscore\nA\t1\tinf\n", 2, "score",
           "not a finite number"),
    Broken("infinite metric", "scores", b"system\tseg\tchrF\nA\t1\t-inf\nA\t2\t1\n", 2, "chrF",
           "not a finite number"),
    Broken("faulty metric value", "scores",
           b"system\tseg\tchrF\n" + b"".join(b"A\t%d\t.5\n" % i for i in range(99)) + b"A\t99\tx\n",
           101, "chrF", "'x' is not a number"),
    Broken("duplicate scores row", "scores", b"system\tdoc\tseg\nA\td\t1\nA\td\t2\nA\td\t1\n", 4,
           "seg", "is already in line 2"),
    Broken("seg restarts without doc", "scores", b"system\tseg\nA\t1\nA\t2\nA\t1\n", 4, "seg",
           "add a doc column"),
    Broken("duplicate rating", "ratings", b"system\tseg\tscore\nA\t1\t2\nA\t1\t3\n", 3, "seg",
           "add a rater column"),
    Broken("duplicate edit", "edits",
           b"system\tdoc\tseg\teditor\tmt\tedited\nA\td\t1\tE\tx\ty\nA\td\t1\tE\tx\tz\n", 3,
           "editor", "remove one of the rows"),
    Broken("unknown system", "ratings", b"system\tdoc\tseg\tscore\nC\td1\t1\t2\n", 2, "system",
           "'C' is not in the test set", options=("--scores", "GOOD")),
    Broken("unknown segment", "ratings", b"system\tdoc\tseg\tscore\nA\td1\t9\t2\n", 2, "seg",
           "'9' is not in the test set", options=("--scores", "GOOD")),
    Broken("score outside the range", "ratings", b"system\tseg\tscore\nA\t1\t26\n", 2, "score",
           "outside the stated range 0 to 25", options=("--range", "0,25")),
    Broken("unknown winner", "judgments", b"left\tright\twinner\nA\tB\tlefft\n", 2, "winner",
           "did you mean 'left'"),
    Broken("compared with itself", "judgments", b"left\tright\twinner\nA\tA\ttie\n", 2, "right",
           "compared with itself"),
    Broken("empty system", "judgments", b"left\tright\twinner\n\tB\ttie\n", 2, "left", "is empty"),
    Broken("probability of zero", "sample", b"seg\tprobability\tdesign\n1\t0\tsegments|n:1\n", 2,
           "probability", "outside (0, 1]"),
    Broken("probability above one", "sample", b"seg\tprobability\tdesign\n1\t1.2\tsegments\n", 2,
           "probability", "outside (0, 1]"),
    Broken("probability missing", "sample", b"seg\tprobability\tdesign\n1\t\tsegments\n", 2,
           "probability", "is empty"),
    Broken("two designs in one sample", "sample",
           b"seg\tprobability\tdesign\n1\t.5\tsegments|n:1\n2\t.5\tsegments|n:2\n", 3, "design",
           "differs from the first row"),
    Broken("no design at all", "sample", b"seg\tprobability\tdesign\n1\t.5\tWhatever!\n", 2,
           "design", "is not a design"),
    Broken("negative time", "edits",
           b"system\tdoc\tseg\teditor\tmt\tedited\tseconds\nA\td\t1\tE\tx\ty\t-1\n", 2, "seconds",
           "outside [0, inf)"),
    Broken("offset not whole", "errors",
           b"system\tseg\tcategory\tseverity\tstart\nA\t1\tX\tMajor\t1.5\n", 2, "start",
           "not a whole number"),
    Broken("end before start", "errors",
           b"system\tseg\tcategory\tseverity\tstart\tend\nA\t1\tX\tMajor\t5\t3\n", 2, "end",
           "before start"),
    Broken("unknown side", "errors",
           b"system\tseg\tcategory\tseverity\tside\nA\t1\tX\tMajor\tmiddle\n", 2, "side",
           "not one of source, target"),
    Broken("broken UTF-8", "scores", b"system\tseg\nA\t1\nM\x81nchen\t1\n", 3, None,
           "0x81 is not UTF-8"),
    Broken("UTF-16 that is cut off", "scores", "system\tseg\nA\t1\n".encode("utf-16")[:-1], 1,
           None, "begins as UTF-16"),
    Broken("UTF-32", "scores", "system\tseg\nA\t1\n".encode("utf-32"), 1, None, "is UTF-32"),
    Broken("line too short", "scores", b"system\tseg\tchrF\nA\t1\t.5\nA\t2\nA\t3\t.5\n", 3, None,
           "2 cells where the header has 3"),
    Broken("line too long", "scores", b"system\tseg\nA\t1\nA\t2\t3\n", 3, None,
           "3 cells where the header has 2"),
    Broken("open quotation mark", "ratings", b'system,seg,score\nA,1,2\nA,"2,3\nA,3,4\n', 3, None,
           "quotation marks", ".csv"),
    Broken("name twice in the header", "scores", b"system\tseg\tseg\nA\t1\t1\n", 1, "seg",
           "has 'seg' twice"),
    Broken("truncated gzip", "scores", gzip.compress(GOOD)[:-12], None, None, "damaged or cut off",
           ".tsv.gz"),
    Broken("Parquet that is none", "scores", GOOD, None, None, "not a Parquet file", ".parquet"),
    Broken("cut-off Parquet", "scores", parquet(pl.DataFrame({"system": ["A"]}))[:-9], None, None,
           "damaged or cut off", ".parquet"),
    Broken("workbook that is none", "scores", GOOD, None, None, "not an .xlsx workbook", ".xlsx"),
    Broken("damaged workbook", "scores", b"PK\x03\x04nonsense", None, None, "damaged", ".xlsx"),
    Broken("word in a sheet", "ratings",
           xlsx([["system", "seg", "score"], ["A", 1, 2.5], ["A", 2, "good"]]), 3, "score",
           "'good' is not a number", ".xlsx"),
    Broken("truth value for a score", "ratings",
           parquet(pl.DataFrame({"system": ["A"], "seg": ["1"], "score": [True]})), 1, "score",
           "Boolean", ".parquet"),
    Broken("broken JSON line", "ratings", b'{"system": "A", "seg": 1, "score": 2}\n{"system":\n',
           2, None, "is not JSON", ".jsonl"),
    Broken("JSON line that is no object", "ratings", b"[1, 2]\n", 1, None, "not a JSON object",
           ".jsonl"),
    Broken("word in JSON", "ratings", b'\n{"system": "A", "seg": 1, "score": "x"}\n', 2, "score",
           "'x' is not a number", ".jsonl"),
    Broken("unknown file type", "scores", GOOD, None, None, "type '.dat' is not known", ".dat"),
    Broken("wrong separator", "scores", b"system,seg\nA,1\n", 1, "system", "separator"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_file_names_place_and_remedy(
    case: Broken, tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / f"file{case.ending}"
    path.write_bytes(case.content)
    good = tmp_path / "good.tsv"
    good.write_bytes(GOOD)
    options = [str(good) if option == "GOOD" else option for option in case.options]
    code, out, err = run_assay("check", path, "--kind", case.kind, "--json", *options)
    assert code == 2, (out, err)
    assert "Traceback" not in out + err
    report = json.loads(out)
    assert report["ok"] is False
    found = [(p["line"], p["column"]) for p in report["problems"] if case.says in p["message"]]
    assert (case.line, case.column) in found, report["problems"]


def test_there_are_at_least_thirty_kinds() -> None:
    assert len({case.name for case in CASES}) >= 30


def test_directory_where_a_file_belongs(tmp_path: Path, run_assay: Callable[..., object]) -> None:
    code, out, _ = run_assay("check", tmp_path, "--kind", "scores", "--json")
    assert code == 2
    assert "is a folder" in json.loads(out)["problems"][0]["message"]


def test_missing_file_suggests_a_close_name(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    (tmp_path / "scores.tsv").write_bytes(GOOD)
    code, out, _ = run_assay("check", tmp_path / "score.tsv", "--kind", "scores", "--json")
    assert code == 2
    assert "did you mean 'scores.tsv'?" in json.loads(out)["problems"][0]["message"]


def test_all_problems_of_a_file_in_one_run(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / "ratings.tsv"
    path.write_text(
        "system\tseg\trater\tscore\tseconds\n"
        "A\t1\tR\t2\t3\n"
        "A\t\tR\tx\t3\n"
        "A\t1\tR\t30\t-3\n"
        "\t2\tR\tinf\t1\n"
    )
    code, out, _ = run_assay("check", path, "--kind", "ratings", "--range", "0,25", "--json")
    assert code == 2
    found = {(p["line"], p["column"]) for p in json.loads(out)["problems"]}
    assert found == {
        (3, "seg"), (3, "score"), (4, "score"), (4, "seconds"), (5, "system"),
        (5, "score"),
    }  # fmt: skip


def test_problems_are_readable_on_a_terminal(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / "ratings.tsv"
    path.write_text("system\tseg\tscore\nA\t1\tgood\n")
    code, out, _ = run_assay("check", path, "--kind", "ratings")
    assert code == 2
    assert "1 problem" in out
    assert "'good' is not a number; correct it or leave the cell empty" in out


def test_problems_use_the_users_own_column_names(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / "ratings.tsv"
    path.write_text("system\tseg_id\tmqm\nA\t1\tgood\n")
    _, out, _ = run_assay(
        "check", path, "--kind", "ratings", "--json", "--columns", "seg=seg_id,score=mqm"
    )
    assert json.loads(out)["problems"][0]["column"] == "mqm"


def test_lines_are_counted_through_quoted_line_breaks(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text('system,seg,source,chrF\nA,1,"one\ntwo",0.5\n\nA,2,x,inf\n')
    _, out, _ = run_assay("check", path, "--kind", "scores", "--json")
    assert [p["line"] for p in json.loads(out)["problems"]] == [5]


def test_many_faults_are_listed_up_to_a_thousand(
    tmp_path: Path, run_assay: Callable[..., object]
) -> None:
    path = tmp_path / "ratings.tsv"
    rows = "".join(f"A\t{i}\tx\n" for i in range(1500))
    path.write_text("system\tseg\tscore\n" + rows)
    _, out, _ = run_assay("check", path, "--kind", "ratings", "--json")
    problems = json.loads(out)["problems"]
    assert len(problems) == 1001
    assert "500 more rows" in problems[-1]["message"]
