"""Export: the answers of a campaign as Assay's tables, written as files, all or none.

Each table has Assay's own columns first, then those that say how an answer came about.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import TIE
from assay.campaign.protocols.kinds import KEYS, PAUSES_MS
from assay.campaign.records import GIVEN, Collected, Span, Stored
from assay.collecting.results import Exported
from assay.errors import InputError, OptionError, did_you_mean
from assay.formats.mqm import NO_CATEGORY, NO_ERROR
from assay.project.project import FILE
from assay.project.reader import written
from assay.project.settings import Settings
from assay.tables.load import write_bytes
from assay.tables.typed_files import aside, save

TABLES = (
    "ratings", "errors", "judgments", "edits", "sample", "scores", "raters", "forms", "events",
)  # fmt: skip
ENDINGS = (".tsv", ".csv", ".jsonl", ".parquet", ".xlsx")


def export_tables(
    collected: Collected,
    folder: str | os.PathLike[str],
    *,
    tables: Sequence[str] | None = None,
    ending: str = ".tsv",
    settings: Settings | None = None,
) -> Exported:
    """Write the answers of a campaign as tables that Assay can read.

    ``tables`` selects some of them; ``ending`` is the type of the files. Ratings include checks and
    repeats, marked as such; estimates leave them out. Answers of excluded raters are not written.
    With the campaign's ``settings`` the folder of all tables becomes a project, in which ``assay
    estimate`` repeats the campaign's numbers.
    """
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise OptionError("ending", ending, "is not a type of table", f"choose from {known}")
    for name in tables or ():
        if name not in TABLES:
            fault = f"is not a table of a campaign{did_you_mean(name, TABLES)}"
            raise OptionError("tables", name, fault, f"choose from {', '.join(TABLES)}")
    frames = {
        name: frame
        for name, frame in tables_of(collected).items()
        if tables is None or name.partition("-")[0] in tables
    }
    for name in tables or ():
        if not any(found.partition("-")[0] == name for found in frames):
            raise InputError(f"the campaign has no {name} yet; leave that table out")
    target, named = Path(folder), {name: f"{name}{ending}" for name in frames}
    with aside(target) as part:
        for name, frame in frames.items():
            save(frame, part / named[name])
    rows, project = {name: frame.height for name, frame in frames.items()}, None
    if settings is not None and tables is None:
        project = write_project(settings, named, target)
    paths = tuple(str(target / name) for name in named.values())
    return Exported(paths, sum(rows.values()), rows, None if project is None else str(project))


def tables_of(collected: Collected) -> dict[str, pl.DataFrame]:
    """Every table that the campaign has, by name, in the order of :data:`TABLES`."""
    frames = answers_of(collected)
    if collected.sample is not None:
        frames["sample"] = collected.sample
    frames["scores"] = collected.scores
    if collected.raters:
        frames["raters"] = _frame(collected.raters)
    for name, rows in (("forms", collected.forms), ("events", collected.events)):
        if rows:
            frames[name] = _frame([{**row, "at": when(row["at"])} for row in rows])
    return frames


def table_names(settings: Settings) -> tuple[str, ...]:
    """The tables that a campaign can have, even if some are still empty."""
    kinds = {"pairwise": ("judgments",), "ranking": ("judgments",), "post-edit": ("edits",)}
    scales = [f"ratings-{scale.name}" for scale in settings.scales]
    rated = tuple(scales) if len(scales) > 1 else ("ratings",)
    marked = ("errors",) if settings.protocol in ("esa", "mqm") else ()
    own = kinds.get(settings.protocol or "", rated + marked)
    forms = ("forms",) if settings.forms.before or settings.forms.after else ()
    return (*own, "sample", "scores", "raters", *forms, "events")


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame, with lists and objects as JSON, for text files."""
    plain = [
        {
            name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return _without_null_type(pl.DataFrame(plain, infer_schema_length=None))


def _without_null_type(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its empty columns as text."""
    empty = [name for name, kind in frame.schema.items() if kind == pl.Null]
    return frame.with_columns(pl.col(empty).cast(pl.String))


Rows = list[dict[str, Any]]
INITIAL_MARKS = ("marks_kept", "marks_changed", "marks_removed")
Makes = Callable[[Sequence[Stored]], Rows]

DIVEMT_KEYS = {"space": "white", "navigation": "nav", "undo": "do"}
"""DivEMT's names for classes of keys, where they differ."""


def answers_of(collected: Collected) -> dict[str, pl.DataFrame]:
    """The tables of answers by name; each of several scales has its own."""
    kept = _given(collected)
    tables = {name: _framed(ratings(kept, scale)) for name, scale in _scales(kept).items()}
    for name, make in _OTHERS.items():
        if rows := make(kept):
            tables[name] = _framed(rows)
    return tables


def table_of(collected: Collected, name: str) -> pl.DataFrame | None:
    """One of these tables, or None."""
    kept = _given(collected)
    scale, make = _scales(kept).get(name), _OTHERS.get(name)
    rows = ratings(kept, scale) if scale is not None else make(kept) if make is not None else []
    return _framed(rows) if rows else None


def _given(collected: Collected) -> list[Stored]:
    return [item for item in collected.answers if item.kind in GIVEN and not item.excluded]


def _scales(kept: Sequence[Stored]) -> dict[str, str]:
    """The tables of ratings and their scales."""
    scales = list(dict.fromkeys(name for item in kept for name in item.answer.scores))
    if len(scales) == 1:
        return {"ratings": scales[0]}
    return {f"ratings-{scale}": scale for scale in scales}


def ratings(answers: Sequence[Stored], scale: str) -> Rows:
    """Scores on one scale; a skipped output is a row without a score."""
    rows = []
    for item, seconds in zip(answers, seconds_of(answers), strict=True):
        answer = item.answer
        if scale not in answer.scores and answer.skipped is None:
            continue
        again = item.kind == "repeat" or (item.kind == "check" and not item.spoiled)
        rows.append({
            "system": item.system, "doc": item.doc, "seg": item.seg, "lp": item.lp,
            "rater": item.rater, "task": str(item.task), "score": answer.scores.get(scale),
            "seconds": seconds, "check": "spoiled" if item.spoiled else None,
            "repeat": "yes" if again else None, "skipped": answer.skipped,
            "comment": answer.comment, "asked": answer.asked, **_initial_marks(item),
            **provenance(item),
        })  # fmt: skip
    return rows


def _initial_marks(item: Stored) -> dict[str, int | None]:
    """How many of the marks given in advance were kept, changed and removed."""
    if not item.begun_with or item.answer.skipped is not None:
        return dict.fromkeys(INITIAL_MARKS)
    origins = Counter(span.origin for span in item.answer.spans)
    kept, changed = origins["kept"], origins["changed"]
    found = kept, changed, item.begun_with - kept - changed
    return dict(zip(INITIAL_MARKS, found, strict=True))


def errors(answers: Sequence[Stored]) -> Rows:
    """Marked errors; an output without errors has a row that says so."""
    rows = []
    for item in answers:
        answer = item.answer
        found = answer.no_error or bool(answer.spans)
        # Checks and repeats must not charge a system twice.
        if item.kind != "rate" or item.spoiled or not found:
            continue
        for span in answer.spans or (None,):
            rows.append({
                "system": item.system, "doc": item.doc, "seg": item.seg, "lp": item.lp,
                "rater": item.rater, **_marked(span), "comment": answer.comment,
                **provenance(item),
            })  # fmt: skip
    return rows


def _marked(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"category": NO_ERROR, "severity": NO_ERROR} | dict.fromkeys(
            ("side", "start", "end", "missing", "origin")
        )
    return {
        "category": span.category or NO_CATEGORY, "severity": span.severity, "side": span.side,
        "start": span.start, "end": span.end, "missing": span.missing, "origin": span.origin,
    }  # fmt: skip


def judgments(answers: Sequence[Stored]) -> Rows:
    """Every pair of systems on a screen; identical outputs tie."""
    screens: dict[int, list[Stored]] = {}
    for item in answers:
        if item.kind == "rate" and (item.answer.winner or item.answer.ranks):
            screens.setdefault(item.number, []).append(item)
    rows = []
    for number, shown in screens.items():
        for left, right in combinations(sorted(shown, key=lambda item: item.column), 2):
            rows.append({
                "left": left.system, "right": right.system, "winner": _winner(left, right),
                "set": str(number), "doc": left.doc, "seg": left.seg, "lp": left.lp,
                "rater": left.rater, "strength": left.answer.strength,
                "reason_given": left.answer.reason, "comment": left.answer.comment,
                **provenance(left), "label": f"{left.label}:{right.label}",
                "text_hash": f"{left.text_hash}:{right.text_hash}",
            })  # fmt: skip
    return rows


def _winner(left: Stored, right: Stored) -> str:
    answer = left.answer
    if left.code == right.code:
        return TIE
    if answer.ranks:
        better = answer.ranks[right.code] - answer.ranks[left.code]
        return "left" if better > 0 else "right" if better < 0 else TIE
    return {left.code: "left", right.code: "right"}.get(str(answer.winner), TIE)


def edits(answers: Sequence[Stored]) -> Rows:
    """Edited outputs with their effort, in the columns of DivEMT."""
    order = Counter[str]()
    rows = []
    timed = zip(answers, seconds_of(answers), strict=True)
    for item, seconds in sorted(timed, key=lambda pair: (pair[0].rater, pair[0].received)):
        answer = item.answer
        if item.kind != "rate" or answer.edited is None:
            continue
        order[item.rater] += 1
        spent = {
            name: sum(part.get(f"{name}_ms") or 0 for part in answer.sessions) / 1000
            for name in ("active", "idle", "hidden")
        }
        rows.append({
            "system": item.system, "doc": item.doc or item.seg, "seg": item.seg,
            "editor": item.rater, "source": item.source, "mt": item.text or "",
            "edited": answer.edited,
            "seconds": spent["active"] if answer.sessions else seconds,
            "position": order[item.rater],
            "lp": item.lp, "idle_seconds": spent["idle"], "hidden_seconds": spent["hidden"],
            "sessions": len(answer.sessions), **_keyed(answer.keys), **_paused(answer.pauses),
            "comment": answer.comment, **provenance(item),
        })  # fmt: skip
    return rows


def _keyed(keys: Mapping[str, int]) -> dict[str, int]:
    named = {f"k_{DIVEMT_KEYS.get(name, name)}": keys.get(name, 0) for name in KEYS}
    return {"k_total": sum(named.values())} | named


def _paused(pauses: Mapping[str, int]) -> dict[str, float]:
    return {
        f"{unit}_pause_geq_{least}": pauses.get(f"{ours}_{least}", 0) / scale
        for least in PAUSES_MS
        for unit, ours, scale in (("n", "n", 1), ("len", "ms", 1000))
    }


_OTHERS: dict[str, Makes] = {"errors": errors, "judgments": judgments, "edits": edits}


def provenance(item: Stored) -> dict[str, Any]:
    """How, when and where an answer was given."""
    timing = item.timing
    return {
        "order": item.order, "reason": item.reason, "snippet": item.snippet,
        "stratum": item.stratum, "task_probability": item.probability, "block": item.block,
        "block_probability": item.block_probability, "label": item.label, "place": item.column + 1,
        "screen": item.screen + 1, "text_hash": item.text_hash, "instructions": item.instructions,
        "software": item.version, "lease": item.lease, "revision": item.revision,
        "late": item.late, "given_out": when(item.opened), "opened": timing.opened,
        "first_act": timing.first, "sent": timing.sent, "received": when(item.received),
        "active_seconds": timing.active_ms / 1000, "away": timing.away, "device": timing.device,
        "screen_idle_seconds": timing.idle_ms / 1000,
    }  # fmt: skip


def when(milliseconds: int) -> str:
    """A time of the server's clock as ISO 8601.

    >>> when(0)
    '1970-01-01T00:00:00.000+00:00'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def seconds_of(answers: Sequence[Stored]) -> list[float]:
    """The time of every answer: the time of its screen, shared equally by the answers there."""
    several = {(item.lease, item.screen, item.number) for item in answers}
    shared = Counter((lease, screen) for lease, screen, _ in several)
    return [
        round(item.timing.active_ms / 1000 / shared[item.lease, item.screen], 3) for item in answers
    ]


def _framed(rows: Rows) -> pl.DataFrame:
    """Rows of answers as a frame, without optional columns that are empty."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    optional = ("doc", "lp", "check", "repeat", *INITIAL_MARKS)
    present = [name for name in optional if name in frame.columns]
    empty = [name for name in present if frame[name].null_count() == frame.height]
    return _without_null_type(frame.drop(empty))


HEAD = (
    "# Written by `assay campaign export`: what the campaign's own numbers were computed with.\n"
    "# Commands in this folder, such as `assay estimate`, repeat them. A new export replaces it.\n"
)


def write_project(settings: Settings, tables: Mapping[str, str], folder: Path) -> Path | None:
    """Write ``assay.toml`` for these tables (name to file); None where another one is there."""
    target = folder / FILE
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(
        HEAD
    ):
        return None
    return write_bytes(target, (HEAD + project_text(settings, tables)).encode())


def project_text(settings: Settings, tables: Mapping[str, str]) -> str:
    """The settings that estimates depend on, and where the tables are.

    >>> print(project_text(Settings(protocol="esa"), {"scores": "scores.tsv"}), end="")
    name = "campaign"
    protocol = "esa"
    better = "higher"
    range = [0, 100]
    stop = { level = 0.95 }
    scores = "scores.tsv"
    """
    protocol = make_protocol(settings)
    rated = protocol.kind == "ratings"
    pay = {name: value for name, value in asdict(settings.pay).items() if value is not None}
    answers = [file for name, file in tables.items() if name.startswith(protocol.kind)]
    said = {
        "name": settings.name,
        "protocol": settings.protocol,
        "better": protocol.better if rated else None,
        "range": protocol.range if rated else None,
        "metrics": settings.metrics,
        "lower_metrics": settings.lower_metrics or None,
        "method": settings.method,
        "target": settings.target,
        "pay": pay or None,
        "stop": {"level": settings.stop.level},
        "scores": tables.get("scores"),
        "sample": {"file": tables["sample"]} if "sample" in tables else None,
        protocol.kind: answers[:1] or None,  # of several scales, the one that looks go by
    }
    return "".join(
        f"{name} = {written(value)}\n" for name, value in said.items() if value is not None
    )
