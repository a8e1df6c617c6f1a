"""Tables as other people make them, and what is to be guessed of each: right, or asked.

The first fourteen were written before the guesser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Case:
    """A table, and what a person would say of it; ``asks`` is what must be asked instead."""

    name: str
    frame: pl.DataFrame
    kind: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    melted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metrics: Sequence[str] = ()
    not_metrics: Sequence[str] = ()
    asks: str | None = None


TEXTS = (
    "The quick brown fox jumps over the lazy dog near the river.",
    "She opened the letter and read it twice before she answered.",
    "Prices rose by four per cent in the second quarter of the year.",
    "Please restart the device after the update has been installed.",
    "Nobody in the village could remember such a long and cold winter.",
    "The committee will meet again on Thursday to discuss the budget.",
)


def rows(**factors: Sequence[object]) -> pl.DataFrame:
    """Every combination of the values, one row each."""
    return pl.DataFrame(
        [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]
    )


def with_numbers(
    frame: pl.DataFrame, seed: int = 1, **columns: Callable[[np.random.Generator, int], np.ndarray]
) -> pl.DataFrame:
    """The table with columns of numbers, each made by a function of a generator and a size."""
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.Series(name, make(rng, frame.height)) for name, make in columns.items()
    )


def renamed(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The table with these column names, in order."""
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def points(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(20, 101, size)


def shares(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.uniform(0.2, 0.9, size).round(4)


def lengths(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(15, 200, size)


def texts(label: str, count: int) -> list[str]:
    return [f"{TEXTS[k % 6]} {label} {k}" for k in range(count)]


SYSTEMS = ["DeepL", "GPT-4", "NLLB"]
SEGMENTS = list(range(1, 9))

student = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS[:2], c=["Anna", "Ben"]), d=points),
    "SentenceID", "Model", "Annotator", "ESA score",
)  # fmt: skip
german = renamed(
    with_numbers(rows(a=["D1", "D2"], b=[1, 2, 3, 4], c=SYSTEMS, d=["M. Huber"]), e=points),
    "Dokument", "Satz-Nr.", "Engine", "Bewerter", "Punktzahl",
)  # fmt: skip
per_rater = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS), c=points, d=points, e=points),
    "Segment no.", "MT system", "Rater 1", "Rater 2", "Rater 3",
)  # fmt: skip
per_system = renamed(
    with_numbers(rows(a=SEGMENTS, b=["r1", "r2"]), c=points, d=points),
    "segment_id", "evaluator", "DeepL", "Google Translate",
)  # fmt: skip
organiser = renamed(
    with_numbers(rows(a=["d1", "d2"], b=[1, 2, 3, 4], c=SYSTEMS), d=lengths, e=lengths, f=lengths,
                 g=shares, h=shares),
    "document_id", "seg_id", "Model", "doc_seg", "src_chars", "hyp_chars", "COMET", "chrF",
)  # fmt: skip
manager = pl.DataFrame({
    "Project": [f"p{k // 4}" for k in range(12)],
    "Segment ID": [k % 4 + 1 for k in range(12)],
    "Engine": [SYSTEMS[k % 3] for k in range(12)],
    "Translator": [("Marie", "Jean")[k % 2] for k in range(12)],
    "Source": texts("s", 12),
    "MT output": texts("m", 12),
    "Final translation": texts("f", 12),
    "Time (s)": [20 + 3 * k for k in range(12)],
})  # fmt: skip
arena = pl.DataFrame({
    "question_id": [f"q{k}" for k in range(12)],
    "model_a": [SYSTEMS[k % 3] for k in range(12)],
    "model_b": [SYSTEMS[(k + 1) % 3] for k in range(12)],
    "winner": [("model_a", "model_b", "tie")[k % 3] for k in range(12)],
    "judge": [("x", "y")[k % 2] for k in range(12)],
})  # fmt: skip
spans = pl.DataFrame({
    "system_name": [SYSTEMS[k % 3] for k in range(12)],
    "doc_id": [f"d{k // 6}" for k in range(12)],
    "seg_no": [k % 6 for k in range(12)],
    "annotator_id": ["rater1"] * 12,
    "Error type": ["Accuracy/Omission", "Fluency/Grammar"] * 6,
    "Severity": ["Major", "Minor"] * 6,
})  # fmt: skip
dimensions = renamed(
    with_numbers(rows(a=SEGMENTS, b=SYSTEMS, c=["u1", "u2"]), d=points, e=points),
    "sentence_id", "engine", "user", "Adequacy", "Fluency",
)  # fmt: skip
unknown_names = renamed(with_numbers(rows(a=SEGMENTS), b=points, c=points), "Item", "Anna", "Ben")
french = renamed(
    with_numbers(rows(a=SEGMENTS, b=["Moteur A", "Moteur B"], c=["Luc", "Zoé"]), d=points),
    "N° de phrase", "Système", "Évaluateur", "Note",
)  # fmt: skip
z_scores = with_numbers(
    renamed(rows(a=SEGMENTS, b=SYSTEMS, c=["w1", "w2"]), "segmentId", "systemId", "workerId"),
    rawScore=points,
).with_columns(zScore=(pl.col("rawScore") - 60) / 20)
only_translator = renamed(
    with_numbers(rows(a=SEGMENTS, b=["P. Weiss", "K. Lang"]), c=points),
    "Segment", "Translator", "Rating",
)  # fmt: skip
outputs = pl.DataFrame({
    "ID": SEGMENTS, "Source text": texts("s", 8), "Reference": texts("r", 8),
    "DeepL": texts("d", 8), "Google": texts("g", 8),
})  # fmt: skip

BEFORE = [
    Case(
        "student", student, "ratings",
        {"seg": "SentenceID", "system": "Model", "rater": "Annotator", "score": "ESA score"},
    ),
    Case(
        "german", german, "ratings",
        {"doc": "Dokument", "seg": "Satz-Nr.", "system": "Engine", "rater": "Bewerter",
         "score": "Punktzahl"},
    ),
    Case(
        "a column per rater", per_rater, "ratings",
        {"seg": "Segment no.", "system": "MT system"},
        melted={"rater": ["Rater 1", "Rater 2", "Rater 3"]},
    ),
    Case(
        "a column per system", per_system, "ratings",
        {"seg": "segment_id", "rater": "evaluator"},
        melted={"system": ["DeepL", "Google Translate"]},
    ),
    Case(
        "organiser", organiser, "scores",
        {"doc": "document_id", "seg": "seg_id", "system": "Model"},
        metrics=["COMET", "chrF"], not_metrics=["doc_seg", "src_chars", "hyp_chars"],
    ),
    Case(
        "localisation manager", manager, "edits",
        {"doc": "Project", "seg": "Segment ID", "system": "Engine", "editor": "Translator",
         "source": "Source", "mt": "MT output", "edited": "Final translation",
         "seconds": "Time (s)"},
    ),
    Case(
        "arena", arena, "judgments",
        {"seg": "question_id", "left": "model_a", "right": "model_b", "winner": "winner",
         "rater": "judge"},
    ),
    Case(
        "marked errors", spans, "errors",
        {"system": "system_name", "doc": "doc_id", "seg": "seg_no", "rater": "annotator_id",
         "category": "Error type", "severity": "Severity"},
    ),
    Case("two dimensions", dimensions, asks="Adequacy"),
    Case("raters or systems", unknown_names, asks="Anna"),
    Case(
        "french", french, "ratings",
        {"seg": "N° de phrase", "system": "Système", "rater": "Évaluateur", "score": "Note"},
    ),
    Case(
        "raw and standardised", z_scores, "ratings",
        {"seg": "segmentId", "system": "systemId", "rater": "workerId", "score": "rawScore"},
        not_metrics=["zScore"],
    ),
    Case("a translator, person or engine", only_translator, asks="Translator"),
    Case(
        "outputs side by side", outputs, "scores",
        {"seg": "ID", "source": "Source text", "reference": "Reference"},
        melted={"system": ["DeepL", "Google"]},
    ),
]  # fmt: skip


def errors_of(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.choice([0.0, 1.0, 5.0, 0.1], size)


LONG = rows(a=SEGMENTS, b=SYSTEMS, c=["Anna", "Ben"])
ONCE = rows(a=SEGMENTS, b=SYSTEMS)


def rated(*names: str, seed: int = 1) -> pl.DataFrame:
    """Segment, system, rater and score under these names."""
    return renamed(with_numbers(LONG, seed, d=points), *names)


def four(seg: str, system: str, rater: str, score: str) -> dict[str, str]:
    return {"seg": seg, "system": system, "rater": rater, "score": score}


def pairwise(*names: str, said: Sequence[object]) -> pl.DataFrame:
    frame = pl.DataFrame({
        "i": list(range(12)), "a": [SYSTEMS[k % 3] for k in range(12)],
        "b": [SYSTEMS[(k + 1) % 3] for k in range(12)],
        "w": [said[k % len(said)] for k in range(12)],
    })  # fmt: skip
    return renamed(frame, *names)


russian = rated("Номер предложения", "Система", "Оценщик", "Оценка")
chinese = rated("句子编号", "系统", "评估者", "评分")
japanese = rated("文番号", "エンジン", "評価者", "スコア")
spanish = rated("Segmento", "Motor", "Evaluador", "Puntuación")
italian = rated("Frase n.", "Sistema", "Valutatore", "Punteggio")
czech = rated("Věta", "Systém", "Hodnotitel", "Hodnocení")
typing_slips = rated("Sentnece ID", "Sytsem", "Annotatr", "Raitng")
row_numbers = with_numbers(LONG, d=points).with_row_index("ID").rename(
    {"a": "Sentence no", "b": "Model", "c": "User", "d": "DA"}
)  # fmt: skip
only_row_numbers = (
    with_numbers(LONG.drop("a"), d=points).with_row_index("ID")
    .rename({"b": "Model", "c": "User", "d": "DA"})
)  # fmt: skip
two_numbers = rated("Sentence ID", "Engine", "Rater", "Score").with_columns(
    **{"Segment no.": pl.Series([(k * 7) % 5 for k in range(48)])}
)
twice_named = rated("Sentence ID", "Engine", "Rater", "Score").with_columns(
    **{"Segment no.": pl.col("Sentence ID") + 100}
)
score_prefixed = renamed(
    with_numbers(ONCE, c=points, d=points), "seg", "system", "score_rater1", "score_rater2"
)
score_of_whom = renamed(
    with_numbers(rows(a=SEGMENTS), b=points, c=points), "seg_id", "score_nova", "score_atlas"
)
with_mean = with_numbers(ONCE, c=points, d=points).with_columns(e=(pl.col("c") + pl.col("d")) / 2)
with_mean = renamed(with_mean, "Segment", "Engine", "Annotator A", "Annotator B", "Mean score")
vendors_and_ours = renamed(
    with_numbers(rows(a=SEGMENTS, r=["x", "y"]), b=points, c=points, d=points),
    "Item no.", "Judge", "DeepL", "Google", "Nightingale",
)  # fmt: skip
human_and_metrics = renamed(
    with_numbers(ONCE, c=points, d=shares, e=shares), "seg_id", "system", "DA", "BLEURT", "chrF2"
)
quality = renamed(with_numbers(ONCE, c=shares, d=shares), "seg", "system", "quality", "xCOMET-XL")
quality_alone = renamed(with_numbers(ONCE, c=points), "seg", "system", "quality")
post_editing = manager.drop("Engine").with_columns(System=pl.Series(["A", "B", "C"] * 4))
post_editing = post_editing.rename(
    {"Project": "Datei", "Segment ID": "Segment", "Translator": "Übersetzer",
     "Source": "Ausgangstext", "MT output": "Maschinelle Übersetzung",
     "Final translation": "Endfassung", "Time (s)": "Zeit (s)"}
)  # fmt: skip
minutes = manager.rename({"Time (s)": "Time (min)"})
auftraege = manager.rename({
    "Project": "Auftrag", "Segment ID": "Segment-Nr.", "Engine": "Maschine",
    "Translator": "Übersetzer", "Source": "Ausgangstext (en-GB)", "MT output": "MÜ",
    "Final translation": "Endfassung [de-DE]", "Time (s)": "Zeit (h)",
})  # fmt: skip
rated_edits = manager.with_columns(Rating=pl.Series([k % 5 for k in range(12)]))
by_name = pairwise("item", "Left system", "Right system", "Preferred", said=["tie"])
by_name = by_name.with_columns(Preferred=pl.when(pl.col("item") % 2 == 0).then(
    pl.col("Left system")).otherwise(pl.col("Right system")))  # fmt: skip
plus_minus = pairwise("item", "system1", "system2", "preference", said=["-1", "0", "1"])
gewinner = pairwise("Satz", "System A", "System B", "Gewinner", said=["A", "B", "gleich"])
in_sentences = pairwise(
    "Segment", "System A", "System B", "Answer",
    said=["Output A is better", "Output B is better", "Both equal"],
)  # fmt: skip
in_steps = pairwise(
    "item", "system A", "system B", "preference",
    said=["A much better", "A slightly better", "about the same", "B slightly better"],
)  # fmt: skip
two_languages = rated("segment_id", "engine", "annotator", "score").with_columns(
    target_language=pl.Series(["de", "fr"] * 24)
)
esa_and_da = renamed(
    with_numbers(LONG, d=points, e=points), "seg_id", "system_id", "rater_id", "ESA", "DA"
)
mqm_two_raters = renamed(
    with_numbers(ONCE, c=errors_of, d=errors_of), "seg_id", "system", "mqm_r1", "mqm_r2"
)
side_texts = pl.DataFrame({
    "No.": SEGMENTS, "Source": texts("s", 8), "Nova": texts("n", 8), "Atlas": texts("a", 8),
})  # fmt: skip
nothing_known = pl.DataFrame({"alpha": ["x", "y"] * 6, "beta": list(range(12))})
machines_translate = renamed(
    with_numbers(rows(a=SEGMENTS, b=["DeepL", "Google", "GPT-4"], c=["x", "y"]), d=points),
    "Sentence", "Translator", "Reviewer", "Grade score",
)  # fmt: skip
own_names = renamed(
    with_numbers(LONG, d=points, e=shares), "seg", "system", "rater", "score", "COMET"
)
appraise = with_numbers(
    renamed(LONG, "itemID", "systemID", "username"), score=points, start_time=shares
).with_columns(documentID=pl.lit("doc1"), isCompleteDocument=pl.lit(False))
same_again = rated("segment", "model", "evaluator", "rating").with_columns(
    quality_pct=pl.col("rating") * 1.01 + 0.3
)

chapters = rated("Sentence ID", "Engine", "Rater", "Score")
chapters = pl.concat([chapters.with_columns(Novel=pl.lit(name)) for name in ("Emma", "Ulysses")])
names_only = rated("Segment ID", "Name", "Annotator", "Score")

with_bad = rated("segmentID", "systemID", "username", "score").with_columns(
    itemType=pl.Series((["TGT"] * 7 + ["BAD"]) * 6)
)
two_protocols = rated("seg_id", "system", "annotator", "score").with_columns(
    protocol=pl.Series(["ESA", "MQM"] * 24)
)
flagged = rated("seg_id", "system", "annotator", "score").with_columns(
    attention_check=pl.Series(([False] * 7 + [True]) * 6)
)
relations = pairwise("segment", "system1", "system2", "outcome", said=["<", ">", "="])

AFTER = [
    Case("russian", russian, "ratings", four(*russian.columns)),
    Case("chinese", chinese, "ratings", four(*chinese.columns)),
    Case("japanese", japanese, "ratings", four(*japanese.columns)),
    Case("spanish", spanish, "ratings", four(*spanish.columns)),
    Case("italian", italian, "ratings", four(*italian.columns)),
    Case("czech", czech, "ratings", four(*czech.columns)),
    Case("slips of the pen", typing_slips, asks="score"),
    Case("row numbers", row_numbers, "ratings", four("Sentence no", "Model", "User", "DA")),
    Case("row numbers alone", only_row_numbers, asks="`seg`"),
    Case("two segment numbers", two_numbers, asks="Segment no."),
    Case("two numbers of one thing", twice_named, "ratings",
         four("Sentence ID", "Engine", "Rater", "Score")),
    Case("scores named by raters", score_prefixed, "ratings", {"seg": "seg", "system": "system"},
         melted={"rater": ["score_rater1", "score_rater2"]}),
    Case("scores named by whom", score_of_whom, asks="score_nova"),
    Case("raters and their mean", with_mean, "ratings", {"seg": "Segment", "system": "Engine"},
         melted={"rater": ["Annotator A", "Annotator B"]}, not_metrics=["Mean score"]),
    Case("a system of our own", vendors_and_ours, asks="Nightingale"),
    Case("human scores and metrics", human_and_metrics, asks="scores or ratings"),
    Case("quality beside a metric", quality, "scores", {"seg": "seg", "system": "system"},
         metrics=["xCOMET-XL"]),
    Case("quality alone", quality_alone, asks="scores or ratings"),
    Case("german post-editing", post_editing, "edits",
         {"doc": "Datei", "seg": "Segment", "system": "System", "editor": "Übersetzer",
          "source": "Ausgangstext", "mt": "Maschinelle Übersetzung", "edited": "Endfassung",
          "seconds": "Zeit (s)"}),
    Case("time in minutes", minutes, "edits",
         {"doc": "Project", "seg": "Segment ID", "system": "Engine", "editor": "Translator",
          "source": "Source", "mt": "MT output", "edited": "Final translation",
          "seconds": "Time (min)"}),
    Case("german edits with languages", auftraege, "edits",
         {"doc": "Auftrag", "seg": "Segment-Nr.", "system": "Maschine", "editor": "Übersetzer",
          "source": "Ausgangstext (en-GB)", "mt": "MÜ", "edited": "Endfassung [de-DE]",
          "seconds": "Zeit (h)"}),
    Case("edits that were rated", rated_edits, asks="edits or ratings"),
    Case("winner by name", by_name, "judgments",
         {"seg": "item", "left": "Left system", "right": "Right system", "winner": "Preferred"}),
    Case("winner by sign", plus_minus, asks="-1"),
    Case("german judgments", gewinner, "judgments",
         {"seg": "Satz", "left": "System A", "right": "System B", "winner": "Gewinner"}),
    Case("judgments in sentences", in_sentences, "judgments",
         {"seg": "Segment", "left": "System A", "right": "System B", "winner": "Answer"}),
    Case("judgments in steps", in_steps, "judgments",
         {"seg": "item", "left": "system A", "right": "system B", "winner": "preference"}),
    Case("two languages", two_languages, asks="target_language"),
    Case("two kinds of score", esa_and_da, asks="ESA"),
    Case("mqm by two raters", mqm_two_raters, "ratings", {"seg": "seg_id", "system": "system"},
         melted={"rater": ["mqm_r1", "mqm_r2"]}),
    Case("texts of whom", side_texts, asks="Nova"),
    Case("nothing known", nothing_known, asks="kind"),
    Case("machines called translators", machines_translate, "ratings",
         four("Sentence", "Translator", "Reviewer", "Grade score")),
    Case("our own names", own_names, "ratings", four("seg", "system", "rater", "score"),
         metrics=["COMET"]),
    Case("an export of a tool", appraise, "ratings",
         {**four("itemID", "systemID", "username", "score"), "doc": "documentID"}),
    Case("attention checks among items", with_bad, asks="only"),
    Case("two protocols", two_protocols, asks="protocol=ESA"),
    Case("flagged attention checks", flagged, "ratings",
         {**four("seg_id", "system", "annotator", "score"), "check": "attention_check"}),
    Case("relations of WMT", relations, "judgments",
         {"seg": "segment", "left": "system1", "right": "system2", "winner": "outcome"}),
    Case("documents under another name", chapters, asks="doc=Novel"),
    Case("names of whom", names_only, asks="system=Name"),
    Case("the rating again", same_again, "ratings",
         four("segment", "model", "evaluator", "rating"), not_metrics=["quality_pct"]),
]  # fmt: skip
