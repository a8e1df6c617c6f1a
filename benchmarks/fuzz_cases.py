"""What the fuzzer tries: files of every kind, lines for every command, options for each of them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, get_args

import polars as pl

from benchmarks.mutations import ODD, change_file

FIXTURES = Path(__file__).parents[1] / "tests" / "formats" / "fixtures"
FILES = {
    "appraise": "appraise.csv", "evalica": "evalica.csv", "google-mqm": "google_mqm.tsv",
    "avg-seg-scores": "avg_seg_scores.tsv", "label-studio": "label_studio.json",
    "mt-metrics-eval": "eval_folder", "pearmut": "pearmut.jsonl",
    "wmt-seg-scores": "seg_scores.tsv", "wmt-rnk": "wmt12_rnk.txt", "wmt15-rnk": "wmt15_rnk.csv",
    "xliff": "edits.xlf", "mxliff": "edits.mxliff", "sdlxliff": "edits.sdlxliff",
    "xliff2": "edits2.xlf", "text-folder": "texts", "pearmut-campaign": "campaign.json",
    "appraise-batches": "batches.json",
}  # fmt: skip
"""A file of every format that can be read."""
SDLXLIFF = """<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"
 xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" sdl:version="1.0">
<file original="d.docx"><body><trans-unit id="u1"><source>Tea is hot. Drink.</source>
<seg-source><mrk mtype="seg" mid="1">Tea is hot.</mrk><mrk mtype="seg" mid="2">Drink.</mrk>
</seg-source><target><mrk mtype="seg" mid="1">Tee ist heiß.</mrk><mrk mtype="seg" mid="2">Trink
<x id="6"/>.</mrk></target><alt-trans origin="nmt" mid="2"><target>Trinke.</target></alt-trans>
<sdl:seg-defs><sdl:seg id="1" conf="Translated" origin="nmt" origin-system="A">
<sdl:value key="last_modified_by">ann</sdl:value></sdl:seg>
<sdl:seg id="2" origin="interactive"><sdl:prev-origin origin="nmt" origin-system="A"/>
<sdl:value key="last_modified_by">ann</sdl:value></sdl:seg></sdl:seg-defs></trans-unit>
</body></file></xliff>"""
TABLES = (
    "scores", "ratings", "errors", "judgments", "edits", "sample", "order", "published", "design",
    "translations", "kits-key", "kits/editor-01", "sheets-key", "sheets/rater-1",
)  # fmt: skip
"""Tables of the corpus, which are tried as files of every type."""
QUICK = """
check scores.tsv --kind scores
check ratings.tsv --kind ratings --scores scores.tsv
check judgments.tsv --kind judgments
check edits.tsv --kind edits
check errors.tsv --kind errors --scores scores.tsv
check sample.tsv --kind sample --scores scores.tsv
check label_studio_judgments.json --kind judgments --format label-studio
check edits2.xlf --kind edits --format xliff2 --system A --editor e
check eval_folder --kind ratings --format mt-metrics-eval --human-scores mqm
convert scores.tsv new --from scores --to appraise-batches --lp en-de
convert scores.tsv new --from scores --to mt-metrics-eval --lp en-de
convert ratings.tsv new --from ratings --to mt-metrics-eval --lp en-de
convert edits.tsv . --from edits --to xliff
convert ratings.tsv out.xlsx --from ratings --to ratings
convert scores.tsv out.csv --from scores --to ratings --sample sample.tsv
convert errors.tsv out.jsonl --from errors --to ratings
convert edits.xlf out.tsv --from xliff --to edits --system A --editor e
new more --from scores.tsv --protocol esa
new more --from texts --from ratings.tsv
status
plan campaign --scores scores.tsv --budget 300
plan campaign --systems 3 --population 900 --decide 2
campaign new scores.tsv --protocol esa --raters 2 --checks .2 -o new --seed 1
campaign check scores.tsv --protocol pairwise
plan ratings --population 1400 --sd 3 --half-width .3
plan ratings scores.tsv ratings.tsv --half-width .5 --better lower
plan comparison scores.tsv ratings.tsv --gap .5
plan judgments --systems 5 --sigma 8 --seed 1
plan editors --pilot edits.tsv --gap .5
sample scores.tsv --budget 50% --seed 1
sample scores.tsv --budget 40% --design snippets -o out.tsv --seed 1
sample scores.tsv --budget 90% --top-up sample.tsv --seed 1
sample scores.tsv --budget 9 --design balanced --history ratings.tsv --seed 1
next scores.tsv ratings.tsv --sample sample.tsv --seed 1
next-set judgments.tsv --seed 1
monitor scores.tsv ratings.tsv --sample order.tsv --half-width .5
monitor judgments.tsv
estimate scores.tsv ratings.tsv --sample sample.tsv --better lower
estimate scores.tsv ratings.tsv --assume random --method cv-knn
estimate scores.tsv ratings.tsv --assume documents --by category --errors errors.tsv
raters scores.tsv ratings.tsv --sample sample.tsv
rank judgments.tsv --resamples 40 --seed 1
rank ratings.tsv --seed 1
audit scores.tsv ratings.tsv --published published.tsv --assume random --seed 1
audit judgments.tsv --seed 1
effort edits.tsv --measures time,distance,changed,hter --seed 1
effort effort.xlf --format xliff --seed 1
kits find text.txt --words 30 --seed 1
kits find book.docx --words 30 --seed 1
kits design --systems A,B,C --editors 3 --seed 1
kits build design.tsv translations.tsv -o new --formats tsv,xlsx,xliff
kits collect kits-key.tsv kits/editor-01.tsv kits/editor-02.tsv kits/editor-03.tsv -o out.tsv
kits collect kits-key.tsv kits/editor-01.xlsx kits/editor-02.xliff kits/editor-03.tsv -o out.tsv
collect scores.tsv --sample sample.tsv --raters Ada,Ben --sheets xlsx -o new --seed 1
collect scores.tsv --raters 2 --sheets csv --checks .2 --repeats .2 -o new --seed 1
collect sheets-key.tsv sheets/rater-1.tsv sheets/rater-2.tsv -o out.tsv
report RESULT -o out.md
report RESULT RESULT -o out.tex
reproduce lo2023 --data eval_folder --draws 2
reproduce saldias2022 --data eval_folder --draws 2
reproduce korotaev2022 --data kits --draws 2
""".strip().splitlines()
LONGER = """
plan judgments --pilot judgments.tsv --seed 1
stability scores.tsv --metric neural --budget 50% --draws 3 --seed 1
evaluate scores.tsv ratings.tsv --draws 2 --sizes 50% --methods baseline,docs-prop+cv-knn --seed 1
report RESULT -o out.html
report RESULT -o out.md --parts new
""".strip().splitlines()
SLOW = (*LONGER, *LONGER, *LONGER, "demo -o new")
"""Lines that take longer than most, and are tried less often; a demo takes seconds."""
SLOW_SHARE = 0.03
MAKE = (
    "convert edits.tsv effort.xlf --from edits --to xliff",
    "convert scores.tsv campaign.json --from scores --to pearmut-campaign",
    "convert scores.tsv batches.json --from scores --to appraise-batches --lp en-de",
    "kits design --systems A,B,C --editors 3 --documents x,y,z --seed 1 -o design.tsv",
    "kits build design.tsv translations.tsv -o kits --formats tsv,xlsx,xliff",
    "collect scores.tsv --sample sample.tsv --raters 2 --sheets csv -o sheets --seed 1",
)
FEW = ("0", "-1", "1", "2", "x")
VALUES = {
    "--workers": ("1", "-1", "x", "1000000"), "--scheduler": ("x", "tls://127.0.0.1:1"),
    "--backend": ("serial", "x"), "--draws": FEW, "--runs": FEW, "--candidates": FEW,
    "--resamples": FEW, "--budget": ("5", "20%", "0", "1e20", "50 words", "9 min", "nan%"),
    "--format": (*FILES, "x"), "--by": ("doc", "document", "domain", "length", "category", "x"),
    "--metrics": ("neural", "neural,surface", "x"), "--metric": ("surface", "doc", "x"),
    "--columns": ("seg=doc", "score=neural", "system=rater,rater=system", "x=y", "seg"),
    "--only": ("doc=news-1", "domain=news", "rater=rater-1", "x=1", "system="),
    "--systems": ("2", "system-1,system-2", "A,B", "1", "1e9"), "--range": ("0,25", "5,1", "x"),
    "--design": ("segments", "documents", "snippets", "balanced", "rounds", "DB", "latin", "x"),
    "--method": ("auto", "mean", "cv-multi", "regression", "bradley-terry", "z", "adaptive", "x"),
    "--exclude": ("system-1", "system-1,system-2,system-3", "A", ""), "--lp": ("en-de", "x"),
    "--sizes": ("5", "10,20", "50%", "x"), "--spend": ("40 h", "5 ratings", "x"),
}  # fmt: skip
NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "0.95", "1e300", "nan", "x", "100000000000000000000")
OF_A_SERVER = ("serve", "campaign")
"""Not tried: these serve a campaign, or steer one that is served; making one is tried."""
HELP = ("--json", "--list-formats")
"""Not tried: JSON is asked for in half of all cases; the list is a help text."""
WORDS = (*(word for word in ODD if not {"\0", "\ud800"} & {*word} and word[:2] != "--"), "\udcff")
OUTPUTS = ("out.json", "out.tsv", "out.md", "out.svg", "new", ".", "no/such/folder/x.json", "x")


@dataclass(frozen=True)
class Case:
    """A command, and the files it is given."""

    words: tuple[str, ...]
    command: str
    reader: str
    files: dict[str, bytes] = field(repr=False)

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        folder.mkdir(parents=True)
        for name, data in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


Call = Callable[[Sequence[str]], tuple[int, str, str]]
"""Runs a command line in this process: exit code, output, errors."""


def make_corpus(folder: Path, call: Call) -> None:
    """Write files of every kind, small and right, into a folder."""
    import docx

    import assay
    from assay.worlds.editing import EditingWorld

    shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
    world = assay.simulate(documents=[3, 4, 2, 5, 3, 4], systems=3, texts=True, rng=1)
    world.test_set.write(folder / "scores.tsv")
    for name, design, budget in (("sample", "segments", "60%"), ("order", "interleaved", "100%")):
        drawn = assay.sample(world.test_set, budget=budget, design=design, rng=1)
        drawn.write(folder / f"{name}.tsv")
    world.rate().write(folder / "ratings.tsv")
    world.mark().write(folder / "errors.tsv")
    world.judge(40, per_set=3, rng=1).write(folder / "judgments.tsv")
    order = [
        (f"editor-0{n}", doc, "ABC"[(n + k) % 3]) for n in (1, 2, 3) for k, doc in enumerate("xyz")
    ]
    edits = EditingWorld({"A": 0.0, "B": 2.0, "C": 12.0}, segments=2).edits(order, rng=1)
    edits.write(folder / "edits.tsv")
    edits.frame.select("system", "doc", "seg", "source", target="mt").write_csv(
        folder / "translations.tsv", separator="\t"
    )
    ranks = "".join(f"{name}\t{k}\n" for k, name in enumerate(world.systems, 1))
    (folder / "published.tsv").write_text(f"system\trank\n{ranks}")
    text = [f"Number {k} speaks of {k % 7} things that matter to all of us." * 2 for k in range(40)]
    (folder / "text.txt").write_text("\n\n".join(text))
    (folder / "texts").mkdir()
    for name in ("source", "A", "B"):
        (folder / "texts" / f"{name}.txt").write_text("\n".join(text))
    document = docx.Document()
    for paragraph in text:
        document.add_paragraph(paragraph)
    document.save(str(folder / "book.docx"))
    (folder / "edits.sdlxliff").write_text(SDLXLIFF)
    os.chdir(folder)
    for line in MAKE:
        call(line.split())
    for sheet in (folder / "sheets").glob("*.csv"):
        score = pl.when(pl.col("code").str.contains("-")).then(37 * pl.int_range(pl.len()) % 100)
        scored = pl.read_csv(sheet).with_columns(score=score)
        scored.write_csv(sheet.with_suffix(".tsv"), separator="\t")
    (folder / "results").mkdir()
    lines = [line for line in dict.fromkeys((*QUICK, *SLOW)) if not re.search("RESULT|demo", line)]
    for number, line in enumerate(lines):
        code, out, _ = call([*line.split(), "--json"])
        if code == 0:
            (folder / "results" / f"{number}.json").write_text(out, "utf-8")


def read_corpus(folder: Path) -> dict[str, bytes]:
    """The files by name."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
    return {name: data for name, data in names.items() if not name.startswith(("new", "out"))}


@cache
def all_lines() -> tuple[str, ...]:
    """Quick lines: those above, and every format read and written as every kind of table."""
    from assay.formats.catalogue import FORMATS

    lines = [*QUICK, *QUICK]  # more often than one of the formats
    for name, item in FORMATS.items():
        lines += [f"check {FILES[name]} --kind {kind} --format {name}" for kind in item.reads]
        lines += [f"convert {kind}.tsv new --from {kind} --to {name}" for kind in item.writes]
    return tuple(lines)


Options = dict[str, list[tuple[str, tuple[str, ...]]]]


@cache
def all_options() -> Options:
    """By command, its options and the values to try; a flag has none."""
    from typer.main import get_command

    from assay.cli import WRITTEN, make_app

    def values(item: Any, name: str) -> tuple[str, ...]:
        kind = item.type_descriptor.annotation
        if name in VALUES or item.is_flag:
            return VALUES.get(name, ())
        if kind is Path:
            return OUTPUTS if name in WRITTEN else tuple(f"{table}.tsv" for table in TABLES)
        return NUMBERS if kind in (int, float) else (*get_args(kind), *WORDS)

    def walk(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))
        yield " ".join(words), command

    found: Options = {}
    for words, command in walk(get_command(make_app())):
        options = [item for item in command.params if item.param_type_name == "option"]
        named = [(max(item.opts, key=len), item) for item in options]
        found[words] = [(name, values(item, name)) for name, item in named if name not in HELP]
    return found


def make_case(seed: int, number: int, corpus: Mapping[str, bytes]) -> Case:
    """The case of this number: a line, one or two of its files changed, and some options."""
    rng = Random(f"{seed}-{number}")
    words = shlex.split(rng.choice(SLOW if rng.random() < SLOW_SHARE else all_lines()))
    command = " ".join(words[: 2 if words[0] in ("plan", "kits", "campaign") else 1])
    results = [name for name in corpus if name.startswith("results/")]
    words = [rng.choice(results) if word == "RESULT" else word for word in words]
    given = [k for k in range(len(command.split()), len(words)) if _files(words[k], corpus)]
    chosen = set(rng.sample(given, min(len(given), rng.choice((1, 1, 1, 2)))))
    for place in chosen:
        if rng.random() < 0.04:  # another file than the one that is asked for
            words[place] = rng.choice(list(corpus))
    for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2))):
        option, values = rng.choice(all_options()[command])
        words += [option, rng.choice(values)] if values else [option]
    files, reader = {}, "none"
    for place, word in enumerate(words):
        names = _files(word, corpus) if place >= len(command.split()) else []
        target = rng.choice(names) if place in chosen and names else None
        for name in names:
            new, data = name, corpus[name]
            if name == target:
                table = name.removesuffix(".tsv") in TABLES
                new, data = change_file(name, data, rng, table=table)
                reader = "".join(Path(new).suffixes) if table else Path(name).suffix
            files[new] = data
            words[place] = new if word == name else word
    for flag in ("--format", "--from"):
        if flag in words[:-1] and words[words.index(flag) + 1] in FILES:
            reader = words[words.index(flag) + 1]
    if rng.random() < 0.5:
        words.append("--json")
    return Case(tuple(words), command, reader, files)


def _files(word: str, corpus: Mapping[str, bytes]) -> list[str]:
    """The files that a word of a line stands for: itself, or all of a folder."""
    return [word] if word in corpus else [name for name in corpus if name.startswith(f"{word}/")]
