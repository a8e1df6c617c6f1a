"""Stored answers as rows of Assay's tables: Assay's own columns first, then how they came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import polars as pl

from assay.campaign.protocols.base import TIE
from assay.campaign.protocols.post_edit import KEYS, PAUSES_MS
from assay.campaign.records import GIVEN, Collected, Span, Stored
from assay.formats.mqm import NO_CATEGORY, NO_ERROR

Rows = list[dict[str, Any]]
BEGUN = ("marks_kept", "marks_changed", "marks_removed")
Makes = Callable[[Sequence[Stored]], Rows]

DIVEMT_KEYS = {"space": "white", "navigation": "nav", "undo": "do"}
"""Classes of keys that DivEMT calls otherwise."""


def answers_of(collected: Collected) -> dict[str, pl.DataFrame]:
    """The tables of answers that there are, by name; of several scales each has a table."""
    kept = _given(collected)
    tables = {name: _framed(ratings(kept, scale)) for name, scale in _scales(kept).items()}
    for name, make in _OTHERS.items():
        if rows := make(kept):
            tables[name] = _framed(rows)
    return tables


def table_of(collected: Collected, name: str) -> pl.DataFrame | None:
    """One of these tables, if there is one."""
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
            "comment": answer.comment, "asked": answer.asked, **_begun_with(item),
            **provenance(item),
        })  # fmt: skip
    return rows


def _begun_with(item: Stored) -> dict[str, int | None]:
    """What became of the marks that a rater began with."""
    if not item.begun_with or item.answer.skipped is not None:
        return dict.fromkeys(BEGUN)
    origins = Counter(span.origin for span in item.answer.spans)
    kept, changed = origins["kept"], origins["changed"]
    found = kept, changed, item.begun_with - kept - changed
    return dict(zip(BEGUN, found, strict=True))


def errors(answers: Sequence[Stored]) -> Rows:
    """Marked errors; an output that was found to have none has a row that says so."""
    rows = []
    for item in answers:
        answer = item.answer
        found = answer.no_error or bool(answer.spans)
        # Of checks and repeats nothing may be charged to the system a second time.
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
    """Every two systems of a screen; identical outputs are a tie."""
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
    """Edited outputs with the work that they were, in the columns of DivEMT."""
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
    """How an answer came about."""
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
    """A time of the server's clock in ISO 8601.

    >>> when(0)
    '1970-01-01T00:00:00.000+00:00'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def seconds_of(answers: Sequence[Stored]) -> list[float]:
    """The time of every answer: that of a screen is shared out among its answers."""
    several = {(item.lease, item.screen, item.number) for item in answers}
    shared = Counter((lease, screen) for lease, screen, _ in several)
    return [
        round(item.timing.active_ms / 1000 / shared[item.lease, item.screen], 3) for item in answers
    ]


def _framed(rows: Rows) -> pl.DataFrame:
    """The rows as a frame, without columns of keys that nobody has."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    may_be_unused = ("doc", "lp", "check", "repeat", *BEGUN)
    unused = [name for name in _unused(frame) if name in may_be_unused]
    frame = frame.drop(unused)
    empty = [name for name, kind in frame.schema.items() if kind == pl.Null]
    return frame.with_columns(pl.col(empty).cast(pl.String))


def _unused(frame: pl.DataFrame) -> Iterator[str]:
    return (name for name in frame.columns if frame[name].null_count() == frame.height)
