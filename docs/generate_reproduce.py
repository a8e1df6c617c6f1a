"""Write docs/reproduce.md from saved reproductions, so that the page says what the runs said.

for paper in koehn2012 korotaev2022 lo2023 saldias2022; do
assay reproduce $paper --data DIR --workers 0 --save $paper.json
done
python docs/generate_reproduce.py koehn2012.json korotaev2022.json lo2023.json saldias2022.json
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from assay.papers.compare import PrintedCell, Reproduction
from assay.views.markup import markdown_table
from assay.views.page import read_result
from assay.views.section import Table, table

PAGE = Path(__file__).parent / "reproduce.md"

HEAD = """\
# Reproducing the papers

Made from saved runs by `docs/generate_reproduce.py`: every number was computed from data.

`assay reproduce PAPER --data DIR` computes what a paper prints from the data in a folder, any part
of it, and says what became of every printed number: **equal**, **different** and why, **cannot
tell**, or **no data** and which file is missing.

```sh
assay reproduce lo2023 --data wmt --workers 0 --save lo2023.json
assay reproduce koehn2012 --data wmt --figures figures    # also the figures, as SVG and PNG
assay report lo2023.json                                  # all tables on a page
```

```python
import assay

result = assay.reproduce("koehn2012", ".", draws=2)  # an empty folder: nothing is claimed
print(result.counts)
```

## How numbers are compared

A number that is printed twice counts once. Two numbers are equal where they differ by no more than
the printed rounding and two Monte-Carlo errors of the difference (ours and the paper's), else
different. A simulated number also has a rival that it must be told from, such as the method that
does nothing; where the mark reaches half of the way to the rival, nothing can be told. Other
readings of a paper, and what goes beyond it, do not count: the saved result has them.
"""

DATA = {
    "koehn2012": """\
**Data.** `wmt12_rankings.parquet`, one row per output on a screen: `lp`, `ranking` (the screen),
`segment`, `judge`, `slot`, `system`, `rank` (-1: left blank). Table 4 is computed exactly, Tables
2 and 3 and Figures 1 and 2 are real, the rest is simulated: with `--draws` D, Table 1's bootstrap
has D campaigns (the paper 400), its pairwise half and Figure 3 25 D (10,000), Lopez' exact order
D.

**Marks.** Table 1: the two methods of the table are each other's rivals. Table 4: the paper
searched a grid, so the exact number must lie between the neighbours of the printed one among all
numbers of the table. Ranks and clusters: exactly.""",
    "korotaev2022": """\
**Data.** `effectiff_corpus.tsv.gz`, a row per paragraph (`text`): Table 1 and section 3.2 (needs
the extra `kits`). `effectiff_segments.tsv.gz`, a row per edited segment (`document`, `seg`,
`engine`, `editor`, `source`, `mt`, `edited`, `src_words`, `edit_time_s`): Tables 2 to 4, the
figures, both hypotheses. Nothing is drawn at random but the `--draws` simulated campaigns of the
table `beyond`.

**Marks.** All printed digits.""",
    "lo2023": """\
**Data.** `wmtYY_metrics_LP.parquet`, one row per system and segment: `system`, `doc`, `seg_id`,
any of the metrics COMET-20 (or `COMET`), YiSi-1, sentBLEU and chrF, and what WMT sampled,
`da_annotated` or `wd_annotated` (by segments or whole documents), `df_selected` (fixed snippets).
`wmtYY_docmetrics.parquet`, one row per language pair, system and document: `lp`, `system`, `doc`,
`n_segs`, `n_da` (annotated) and mean metrics; such scores serve whole documents and not snippets.

**Marks.** Coverage and lengths: all printed digits. A count of language pairs is compared with
all pairs present; with fewer it has no data, unless the paper leaves no room for it. Best, median
and worst are of the first 13 draws; their error is the standard deviation between sets of 13.""",
    "saldias2022": """\
**Data.** `wmtYY_mqm_LP.parquet` (`ende`, `zhen`, `enru`), one row per system and segment:
`system`, `doc`, `seg_id`, `mqm` (the mean of the raters), single ratings `mqm_r1`, `mqm_r2`,
`mqm_r3`, `is_human`, `hyp_chars` (length of the target), metrics as further columns. WMT20 is the
paper's development data, WMT21 its test data; WMT22 and WMT23 are taken through the protocol of
Table 6. Who rated what goes in `wmt20_mqm_LP_raters.parquet`: `rater`, `system`, `doc`, `seg_id`,
`mqm`. Without it every column of single ratings stands for a rater.

**Marks.** The error of a method and its sdev are compared as ratios to the baseline's, with the
baseline as the rival: a method that does nothing fails (a test runs one through them). The rival
of a win rate is 50 %. Wins depend on the draws and are compared with the paper's 100 only.""",
}


def page(results: Iterable[Reproduction]) -> str:
    """The whole page."""
    listed = list(results)
    rows = [{"paper": r.paper, "total": sum(r.counts.values())} | _names(r.counts) for r in listed]
    columns = {"paper": ("paper", "text"), "total": ("printed numbers", "count")} | COUNTED
    overview = markdown_table(table("papers", "", columns, rows))  # type: ignore[arg-type]
    parts = [HEAD, overview]
    for result in listed:
        parts += _paper(result)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


COUNTED = {"equal": ("equal", "count"), "different": ("different", "count"),
           "cannot_tell": ("cannot tell", "count"), "no_data": ("no data", "count")}  # fmt: skip


def _names(counts: dict[str, int]) -> dict[str, int]:
    return {name.replace(" ", "_"): count for name, count in counts.items()}


def _paper(result: Reproduction) -> Iterator[str]:
    yield f"## {result.paper}"
    yield DATA[result.paper]
    readings = [str(note) for note in result.notes if note.code.startswith("reading-")]
    yield "**Readings of the paper.**\n\n" + "\n".join(
        f"- {text.removeprefix('reading: ')}" for text in readings
    )
    yield f"### Outcomes\n\nRun: `{result.signature}`."
    yield markdown_table(
        table("outcomes", "", {"table": ("table", "text")} | COUNTED, result.outcomes)  # type: ignore[arg-type]
    )
    numbers = list({cell.number: cell for cell in reversed(result.tables) if cell.number}.values())
    for outcome in ("different", "cannot tell"):
        cells = [cell for cell in reversed(numbers) if cell.outcome == outcome]
        if cells:
            yield f"### {outcome.capitalize()}"
        reasons = Counter(cell.reason for cell in cells)
        for reason in (reason for reason, number in reasons.items() if number > 1):
            yield f"{reason[:1].upper()}{reason[1:]}:"
            yield markdown_table(_numbers(cell for cell in cells if cell.reason == reason))
        if single := [cell for cell in cells if reasons[cell.reason] == 1]:
            yield markdown_table(_numbers(single, reasons=True))
    missing = list(_missing(cell for cell in reversed(numbers) if cell.outcome == "no data"))
    if missing:
        yield "### No data\n\n" + "\n".join(missing)


def _numbers(cells: Iterable[PrintedCell], *, reasons: bool = False) -> Table:
    """Cells with their numbers in the digits that are worth showing."""
    rows = [
        {"what": f"{cell.table}: {cell.row}, {cell.column}",
         "paper": _shown(cell.paper, cell.digits, cell.paper_of),
         "ours": _shown(cell.ours, (cell.digits or 0) + 1, cell.ours_of),
         "error": _shown(cell.error, (cell.digits or 0) + 1, None),
         "reason": cell.reason if reasons else None}
        for cell in cells
    ]  # fmt: skip
    columns = {"what": ("number", "text"), "paper": ("paper", "number"),
               "ours": ("ours", "number"), "error": ("±", "number"),
               "reason": ("reason", "text")}  # fmt: skip
    return table("numbers", "", columns, rows)  # type: ignore[arg-type]


def _shown(value: float | None, digits: int | None, of: int | None) -> str | None:
    if value is None:
        return None
    whole = of is not None or (float(value).is_integer() and abs(value) >= 1)
    return f"{value:.{0 if whole else digits or 0}f}" + ("" if of is None else f"/{of}")


def _missing(cells: Iterable[PrintedCell]) -> Iterator[str]:
    """What would be needed, and for how many numbers of which tables."""
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        reasons.setdefault(cell.reason.removeprefix("needs "), []).append(cell.table)
    groups: dict[tuple[str, ...], list[str]] = {}
    for reason, tables in reasons.items():
        groups.setdefault(tuple(dict.fromkeys(tables)), []).append(reason)
    for of, needed in groups.items():
        count = sum(len(reasons[reason]) for reason in needed)
        yield f"- {count} of {', '.join(of)}: needs {', '.join(_joined(needed))}"


def _joined(reasons: Iterable[str]) -> list[str]:
    """The files of all reasons, each once, those whose names begin alike together."""
    columns: dict[str, dict[str, None]] = {}
    for reason in reasons:
        wanted: list[str] = []
        for part in reason.split(", "):
            *names, file = part.removeprefix("in ").split(" in ")
            if "." not in file and not names:
                wanted.append(file)  # one of several columns of a file
                continue
            for one in _expanded(file):
                columns.setdefault(one, {}).update(dict.fromkeys([*wanted, *names]))
            wanted = []
    alike: dict[tuple[str, str], list[str]] = {}
    for file, missing in columns.items():
        begin, pair, end = re.fullmatch(r"(.+_)?([a-z-]{4,5})?(.*)", file).groups("")  # type: ignore[union-attr]
        said = f"{', '.join(missing)} in {begin}" if missing else begin
        alike.setdefault((said, end), []).append(pair)
    return [
        begin + (f"{{{','.join(pairs)}}}" if len(pairs) > 1 else pairs[0]) + end
        for (begin, end), pairs in alike.items()
    ]


def _expanded(file: str) -> list[str]:
    """The files of a name with braces."""
    found = re.fullmatch(r"(.*)\{(.*)\}(.*)", file)
    if found is None:
        return [file]
    begin, pairs, end = found.groups()
    return [begin + pair + end for pair in pairs.split(",")]


def main() -> None:
    """Read the saved results that are named, write the page."""
    results = [cast("Reproduction", read_result(path)) for path in sys.argv[1:]]
    PAGE.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
