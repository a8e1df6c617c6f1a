"""MQM annotations and average scores as Google publishes them.

**Annotations** (``google-mqm``): tab-separated, a line per error, nothing quoted. The header is
``system doc doc_id seg_id rater source target category severity``, with a comment, metadata or
other columns behind it. ``seg_id`` is our ``seg``; ``doc_id``, the position inside the document, is
kept as ``doc_seg``. ``<v>..</v>`` in a text marks where the error stands: it becomes ``side``,
``start`` and ``end``, half-open code points of the text without marks, and the texts lose the
marks. An error marked in several places keeps the others in ``more_spans`` (``target:10-12
source:3-5``). Outputs without errors have a ``No-error`` line, which stays a row, so that they are
known to be rated.

**Averages** (``avg-seg-scores``): a header line ``system mqm_avg_score seg_id``, then a line per
system and segment, separated by spaces or tabs (both occur in one file). Scores are negated MQM:
0 is perfect, lower is worse; ``None`` is an output that was not rated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import (
    BREAKS,
    choose_lp,
    need_columns,
    numbered,
    refuse_pattern,
    split_tabs,
    write_text,
)  # fmt: skip
from assay.formats.mqm import NO_ERROR, Weights, error_weights, mqm_scores
from assay.results import Note
from assay.tables.load import Findings, Lines, Raw, clean_header, need_distinct, to_text

COLUMNS = {
    "system": "system", "doc": "doc", "doc_id": "doc_seg", "seg_id": "seg", "rater": "rater",
    "source": "source", "target": "target", "category": "category", "severity": "severity",
}  # fmt: skip
"""The format's columns, in order, and ours."""
ALIASES = {"docsegid": "doc_id", "doc_seg_id": "doc_id", "globalsegid": "seg_id"}
"""How the annotation tool itself spells two of them."""
SPAN = {"side": pl.String, "start": pl.Int64, "end": pl.Int64, "more_spans": pl.String}
AVERAGES = {"system": "system", "mqm_avg_score": "score", "seg_id": "seg"}

Span: TypeAlias = tuple[str, int, int]
"""Side, start and end."""

MARKS = "</?v>"
_MARK = re.compile(f"({MARKS})")
_SHOWN = re.compile(r"(source|target):(\d{1,9})-(\d{1,9})")


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read the errors, the ratings they add up to, or the outputs they are about."""
    raw = choose_lp(_annotations(path), options.lp)
    if kind == "errors":
        return raw
    return _ratings(raw, options.weights) if kind == "ratings" else _outputs(raw)


def _annotations(path: Path) -> Raw:
    lines = numbered(path, expected=f"the header '{' '.join(COLUMNS)}'")
    header = _header(lines["text"][0].split("\t"), path, lines["line"][0])
    # Some tools leave off empty remarks at the end of a line.
    fewest = max(header.index(name) for name in COLUMNS.values() if name in header) + 1
    raw = split_tabs(lines[1:], header, path, at_least=fewest)
    frame, wrong = _without_marks(raw.frame)
    frame, respelled = _plain_no_error(frame)
    optional = [name for name in ("doc", "doc_seg", "rater") if name in frame]
    empty = [name for name in optional if frame[name].null_count() == frame.height]
    notes = []
    if wrong:
        text = (
            f"{wrong} texts have <v> marks that do not pair up: a mark that is not closed"
            " reaches to the end, one that was not opened is left out"
        )
        notes.append(Note("unpaired-marks", text))
    if respelled:
        text = f"{respelled:,} rows spell 'no error' in another way; read as {NO_ERROR}"
        notes.append(Note("no-error-respelled", text))
    return replace(raw, frame=frame.drop(empty), notes=tuple(notes))


def _header(cells: list[str], path: Path, line: int) -> list[str]:
    """The columns of the file under our names."""
    cells = clean_header(cells)
    known = {cell.lower() for cell in cells}
    named = []
    for cell in cells:
        name = cell.lower()
        if ALIASES.get(name, name) not in known:
            name = ALIASES.get(name, name)
        named.append(name if name in COLUMNS else cell)
    need_columns(named, [name for name in COLUMNS if name != "doc_id"], path, line)
    ours = [COLUMNS.get(name, name) for name in named]
    findings = Findings(path)
    for name in sorted(n for n, count in Counter(ours).items() if count > 1 or n in SPAN):
        message = f"'{name}' is the name of another column or of the marked span; rename the column"
        findings.add(message, line, name, name)
    findings.stop()
    return ours


def _without_marks(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The texts without marks, the spans they marked, and how many texts had unpaired marks."""
    texts: dict[str, list[str | None]] = {}
    spans: list[list[Span]] = [[] for _ in range(frame.height)]
    wrong = 0
    for side in ("target", "source"):
        texts[side] = []
        for row, text in enumerate(frame[side].to_list()):
            plain, marked, paired = unmark(text or "")
            texts[side].append(plain or None)
            spans[row] += [(side, start, end) for start, end in marked]
            wrong += not paired
    first = [marked[0] if marked else (None, None, None) for marked in spans]
    more = [show_spans(marked[1:]) for marked in spans]
    columns = [pl.Series(side, values, dtype=pl.String) for side, values in texts.items()]
    columns += [
        pl.Series(name, [span[i] for span in first], dtype=SPAN[name])
        for i, name in enumerate(("side", "start", "end"))
    ]
    if any(more):
        columns.append(pl.Series("more_spans", more, dtype=pl.String))
    return frame.with_columns(columns), wrong


def _plain_no_error(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """One spelling of rows without errors, and how many had another."""
    names = ("category", "severity")
    plain = [pl.col(name).str.to_lowercase().str.replace_all(r"[ _]", "-") for name in names]
    none = [words.fill_null("") == "no-error" for words in plain]
    blank = [pl.col(name).is_null() for name in names]
    without = none[0] & (none[1] | blank[1]) | blank[0] & none[1]
    spelled = pl.all_horizontal(pl.col(*names).eq_missing(NO_ERROR))
    return _as_no_error(frame, without), int(frame.select((without & ~spelled).sum()).item())


def _as_no_error(errors: pl.DataFrame, chosen: pl.Expr) -> pl.DataFrame:
    """The table with the chosen rows as rows without errors."""
    no_error = pl.when(chosen).then(pl.lit(NO_ERROR))
    return errors.with_columns(
        no_error.otherwise(pl.col(name)).alias(name) for name in ("category", "severity")
    )


def _ratings(raw: Raw, weights: Weights) -> Raw:
    """The weighted sum of every output's errors, by rater."""
    errors, tests = _without_tests(raw.frame)
    findings = Findings(raw)
    for name in ("category", "severity"):
        findings.rows(errors[name].is_null(), name, errors[name], "is empty; expected a word")
    findings.stop()
    known = ", ".join(weights.severities)
    message = (
        "severity '{}' has no weight; correct it, or give it a weight with `weights` (known:"
        f" {known})"
    )
    unknown = error_weights(errors, weights).is_null()
    findings.rows(unknown, "severity", errors["severity"], message)
    findings.stop()
    ratings = mqm_scores(errors, weights)
    sums = "scores are sums of error weights: lower is better and 0 is perfect"
    notes = [*raw.notes, Note("weighted-sums", sums)]
    if tests:
        text = f"{tests:,} rows are attention checks (HOTW) and carry no penalty"
        notes.append(Note("attention-checks", text))
    key = [name for name in ratings.columns if name != "score"]
    return Raw(ratings, raw.source, _first_lines(raw, errors, key), tuple(notes))


def _without_tests(errors: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Errors planted to test attention say nothing of the output; the output was still rated."""
    words = pl.col("category", "severity").str.to_lowercase()
    planted = pl.any_horizontal(words.str.starts_with("hotw").fill_null(False))
    return _as_no_error(errors, planted), int(errors.select(planted.sum()).item())


def _outputs(raw: Raw) -> Raw:
    """One row per output, with its texts; nothing in the file is a metric."""
    key: list[str] = [n for n in ("lp", "system", "doc", "seg") if n in raw.frame.columns]
    grouped = raw.frame.group_by(key, maintain_order=True)
    table = grouped.agg(pl.col("source", "target").drop_nulls().first())
    texts = grouped.agg(pl.col("source", "target").drop_nulls().n_unique())
    differ = int(texts.select(pl.max_horizontal("source", "target") > 1).to_series().sum())
    notes = raw.notes
    if differ:
        text = f"{differ:,} outputs have several texts; the first is used"
        notes = (*notes, Note("several-texts", text))
    return Raw(table, raw.source, _first_lines(raw, raw.frame, key), notes)


def _first_lines(raw: Raw, frame: pl.DataFrame, key: list[str]) -> Lines:
    """Lines of a grouped table: the first line of every group."""
    grouped = frame.with_row_index("_row").group_by(key, maintain_order=True)
    return raw.lines_of(grouped.agg(pl.col("_row").first())["_row"].to_list())


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write the errors, with marks in the texts; columns of our own stand behind the format's."""
    need_columns(frame.columns, ("system", "seg", "category", "severity"), str(path))
    names = {ours: theirs for theirs, ours in COLUMNS.items()}
    rest = [name for name in frame.columns if name not in names and name not in SPAN]
    text = frame.with_columns(to_text(frame[name]) for name in frame.columns if name not in SPAN)
    missing = [name for name in names if name not in text.columns]
    text = text.with_columns(pl.lit(None, dtype=pl.String).alias(name) for name in missing)
    _need_writable(text.select(*names, *rest), rest, path)
    text = _with_marks(text, path).select(*names, *rest).rename(names)
    header = "\t".join(text.columns)
    body = text.select(pl.concat_str(pl.all().fill_null(""), separator="\t")).to_series()
    return write_text(path, "\n".join([header, *body.to_list()]) + "\n")


def _need_writable(text: pl.DataFrame, rest: list[str], path: Path) -> None:
    """Refuse names and cells that no line of the format can hold."""
    findings = Findings(path)
    taken = {*COLUMNS, *ALIASES}
    for name in rest:
        if name.lower() in taken or name != name.strip() or any(sign in name for sign in "\t\n\r"):
            message = f"the column '{name}' would be taken for one of the format's own; rename it"
            findings.add(message, None, name)
    for name in text.columns:
        message = "a tab or line break cannot be written in this format; replace it by a space"
        refuse_pattern(findings, text[name], rf"\t|{BREAKS}", message)
    for name in ("source", "target"):
        message = "the text contains <v> or </v>, which this format takes for a mark"
        refuse_pattern(findings, text[name], MARKS, f"{message}; remove it")
    findings.stop()


def _with_marks(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The texts with marks at their spans; a span that does not fit its text is a problem."""
    columns = [name for name in SPAN if name in frame.columns]
    texts: dict[str, list[str | None]] = {s: frame[s].to_list() for s in ("source", "target")}
    findings = Findings(path)
    for row, cells in enumerate(frame.select(columns).iter_rows(named=True)):
        spans, fault = parse_spans(cells)
        for side, lines in texts.items():
            here = sorted(span[1:] for span in spans if span[0] == side)
            if here and not fault:
                lines[row], fault = mark(lines[row], here)
        if fault:
            findings.add(fault, row + 1, "start", str(cells.get("start")))
    findings.stop()
    return frame.with_columns(pl.Series(s, texts[s], dtype=pl.String) for s in texts)


def unmark(text: str) -> tuple[str, list[tuple[int, int]], bool]:
    """The text without marks, where they stood, and whether they paired up.

    >>> unmark("a <v>bad</v> word")
    ('a bad word', [(2, 5)], True)
    """
    if "v>" not in text:
        return text, [], True
    plain: list[str] = []
    length, opened, paired = 0, -1, True
    spans: list[tuple[int, int]] = []
    for piece in _MARK.split(text):
        if piece == "<v>":
            paired &= opened < 0
            opened = length if opened < 0 else opened
        elif piece == "</v>":
            paired &= opened >= 0
            if opened >= 0:
                spans.append((opened, length))
            opened = -1
        else:
            plain.append(piece)
            length += len(piece)
    if opened >= 0:
        spans.append((opened, length))
        paired = False
    return "".join(plain), spans, paired


def mark(text: str | None, spans: Sequence[tuple[int, int]]) -> tuple[str, str | None]:
    """The text with its spans, in order, marked; or the text and what is wrong with them.

    >>> mark("a bad word", [(2, 5)])
    ('a <v>bad</v> word', None)
    """
    whole = text or ""
    pieces, at = [], 0
    for start, end in spans:
        if not 0 <= start <= end <= len(whole):
            return whole, (
                f"the span {start} to {end} lies outside its text of {len(whole)} characters;"
                " correct it, or add the source and target columns"
            )
        if start < at:
            return whole, f"the span {start} to {end} overlaps another; give each error a row"
        pieces += [whole[at:start], "<v>", whole[start:end], "</v>"]
        at = end
    return "".join([*pieces, whole[at:]]), None


def show_spans(spans: Sequence[Span]) -> str | None:
    """Spans as one cell of a table, null where there are none."""
    return " ".join(f"{side}:{start}-{end}" for side, start, end in spans) or None


def parse_spans(cells: Mapping[str, Any]) -> tuple[list[Span], str | None]:
    """All spans of a row by its ``side``, ``start``, ``end`` and ``more_spans``, or the fault.

    >>> parse_spans({"start": 2, "end": 5, "more_spans": "source:0-1"})
    ([('target', 2, 5), ('source', 0, 1)], None)
    """
    start, end, more = cells.get("start"), cells.get("end"), cells.get("more_spans")
    if (start is None) != (end is None):
        return [], "a span needs both start and end; give both or neither"
    side = cells.get("side") or "target"
    if side not in ("source", "target"):
        return [], f"side is '{side}'; expected source or target"
    spans: list[Span] = []
    if start is not None and end is not None:
        spans.append((side, int(start), int(end)))
    for word in (more or "").split():
        parts = _SHOWN.fullmatch(word)
        if parts is None:
            return [], f"more_spans has '{word}' where side:start-end is expected; correct it"
        spans.append((parts[1], int(parts[2]), int(parts[3])))
    return spans, None


def read_averages(path: Path, kind: str, options: Options) -> Raw:
    """Read the ratings: one per system and segment, null where an output was not rated."""
    lines = numbered(path, expected=f"the header '{' '.join(AVERAGES)}'", loose=True)
    header = lines["text"][0].split("\t")
    need_columns(header, list(AVERAGES), str(path), lines["line"][0])
    names = [AVERAGES.get(name, name) for name in header]
    need_distinct(names, str(path), lines["line"][0])
    raw = split_tabs(lines[1:], names, path)
    text = "scores keep the file's sign: MQM negated, so higher is better and 0 is perfect"
    return choose_lp(replace(raw, notes=(Note("negated-mqm", text),)), options.lp)


PROVIDES = (
    Format("google-mqm", "MQM annotations as published by Google, a line per error",
           read, {"errors": ("lp",), "ratings": ("lp", "weights"), "scores": ("lp",)},
           write, {"errors": ()}),
    Format("avg-seg-scores", "average MQM scores per segment as published by Google",
           read_averages, {"ratings": ("lp",)}),
)  # fmt: skip
