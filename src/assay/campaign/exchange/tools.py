"""Export to the files of other tools: questions and answers of a campaign."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from assay.campaign.exchange.export import answers_of, seconds_of
from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import Protocol
from assay.campaign.records import GIVEN, IMPORTED, Collected, Span, Stored
from assay.collecting.results import Exported
from assay.errors import InputError, OptionError, need_known
from assay.formats.appraise import write_said as write_appraise
from assay.formats.catalogue import Options, save_format
from assay.formats.files import Again, Mark, Said
from assay.formats.label_studio import write_said as write_label_studio
from assay.formats.pearmut import write_campaign
from assay.formats.pearmut import write_said as write_pearmut
from assay.project.settings import Settings
from assay.tables.tables import TestSet, read_sample, read_scores

Written = dict[str, int]
"""The files of an export, each with its rows."""


@dataclass(frozen=True)
class ExportedPair:
    """A campaign's content in one language pair, to be exported."""

    settings: Settings
    protocol: Protocol
    outputs: pl.DataFrame
    """The outputs that are judged, with their texts, in test-set order."""
    collected: Collected
    """The answers about them."""
    lp: str | None

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        source, _, target = (self.lp or "").partition("-")
        if not (source and target):
            raise OptionError(
                "lp", self.lp or "not given", "does not name two languages",
                "give SOURCE-TARGET, or languages in the plan",
            )  # fmt: skip
        return source, target

    def said(self) -> list[Said]:
        """All answers about outputs, repeats and checks included."""
        answers = self.collected.answers
        (scale,) = {name for item in answers for name in item.answer.scores} or {"score"}
        return [
            _said(item, scale, seconds)
            for item, seconds in zip(answers, seconds_of(answers), strict=True)
        ]  # fmt: skip


def export_format(
    collected: Collected,
    settings: Settings,
    folder: str | os.PathLike[str],
    format: str,
    *,
    lp: str | None = None,
) -> Exported:
    """Write a campaign as the files of another tool to a new folder, all or none.

    ``lp`` chooses one of several language pairs. A format that cannot hold the protocol's answers
    is refused. Answers of excluded raters are not written.
    """
    need_known("format", format, list(TOOLS))
    need_fit(format, settings)
    pair = _exported_pair(collected, settings, lp)
    target = Path(folder).absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"'{folder}' already exists; choose a new or empty folder")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.mkdir(parents=True)
        written = TOOLS[format].write(pair, part)
        if target.is_dir():
            target.rmdir()
        part.replace(target)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    paths = tuple(os.path.join(folder, name) for name in written)  # noqa: PTH118
    return Exported(paths, sum(written.values()), written)


def need_fit(format: str, settings: Settings) -> None:
    """Refuse a format that cannot hold the protocol's answers."""
    protocol = make_protocol(settings)
    if TOOLS[format].fits(protocol):
        return
    fitting = ["tables", *(name for name, tool in TOOLS.items() if tool.fits(protocol))]
    fault = f"holds {TOOLS[format].holds}, not the answers to {settings.protocol}"
    raise OptionError("format", format, fault, f"choose from {', '.join(fitting)}")


def _exported_pair(collected: Collected, settings: Settings, lp: str | None) -> ExportedPair:
    """The content in one language pair; an error if there are several and none is chosen."""
    frame = collected.scores
    pairs = frame["lp"].unique(maintain_order=True).to_list() if "lp" in frame.columns else []
    if len(pairs) > 1 and lp is None:
        fault = f"but the campaign has {', '.join(pairs)}"
        raise OptionError("lp", "not given", fault, "name one; an export has one language pair")
    if pairs and lp is not None:
        need_known("lp", lp, pairs, "is not in the campaign")
    if len(pairs) > 1:
        frame = frame.filter(pl.col("lp") == lp)
    answers = tuple(
        item for item in collected.answers
        if item.kind in GIVEN and not item.excluded and (len(pairs) < 2 or item.lp == lp)
    )  # fmt: skip
    named = settings.screen.languages
    pair = lp or (pairs[0] if pairs else None) or ("-".join(named) if named else None)
    test_set = read_scores(frame, metrics=())
    outputs = _judged(test_set, frame, collected.sample)
    gathered = replace(collected, answers=answers)
    return ExportedPair(settings, make_protocol(settings), outputs, gathered, pair)


def _judged(test_set: TestSet, frame: pl.DataFrame, sample: pl.DataFrame | None) -> pl.DataFrame:
    """The sampled outputs, in test-set order."""
    frame = frame.filter(pl.col("target").is_not_null())
    if sample is None:
        return frame
    drawn = read_sample(sample.filter(_of(sample, frame)), test_set)
    key = list(test_set.key) if drawn.matched else ["system", *test_set.key]
    return frame.join(drawn.frame.select(key), on=key, how="semi", maintain_order="left")


def _of(sample: pl.DataFrame, frame: pl.DataFrame) -> pl.Expr:
    """The rows of a sample in these language pairs."""
    if "lp" in sample.columns and "lp" in frame.columns:
        return pl.col("lp").is_in(frame["lp"].unique().to_list())
    return pl.lit(True)


def _said(item: Stored, scale: str, seconds: float) -> Said:
    again: Again = "spoiled" if item.spoiled else None if item.kind == "rate" else "repeat"
    answer = item.answer
    return Said(
        item.number, item.rater, item.system, item.doc, item.seg, answer.scores.get(scale),
        tuple(_mark(span) for span in answer.spans), item.source, item.text, seconds,
        ended_of(item), answer.comment, again, f"{item.lease}-{item.screen}-{again}", item.lp,
    )  # fmt: skip


def ended_of(item: Stored) -> float:
    """When an answer was given, in seconds since 1970, by our clock or another tool's."""
    if item.reason == IMPORTED and item.timing.sent:
        return datetime.fromisoformat(item.timing.sent).timestamp()
    return item.received / 1000


def _mark(span: Span) -> Mark:
    """The mark of a span; a mark of missing words has no position."""
    if span.missing:
        return Mark(span.category, span.severity, side=span.side)
    return Mark(span.category, span.severity, span.start, span.end, span.side)


def _pearmut(pair: ExportedPair, folder: Path) -> Written:
    protocol = {"esa": "ESA", "mqm": "MQM"}.get(pair.protocol.name, "DA")
    info: dict[str, Any] = {"protocol": protocol}
    scale = pair.protocol.range
    if protocol == "DA" and scale not in (None, (0, 100)):
        own = pair.protocol.wire()["scales"][0]
        info["sliders"] = [{"name": own["name"], "min": own["low"], "max": own["high"],
                            "step": own["step"]}]  # fmt: skip
    if protocol == "MQM":
        wire = pair.protocol.wire()
        info["mqm_severities"] = [one["name"] for one in wire["severities"]]
        info["mqm_categories"] = _tree(wire["categories"])
    name = pair.settings.name
    write_campaign(pair.outputs, folder / "campaign.json", name=name, info=info)
    said = pair.said()
    write_pearmut(said, folder / "annotations.jsonl")
    return {"campaign.json": pair.outputs.height, "annotations.jsonl": len(said)}


def _tree(categories: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in categories:
        above, _, below = name.partition("/")
        found.setdefault(above, []).extend([below] if below else [])
    return found


def _appraise(pair: ExportedPair, folder: Path) -> Written:
    lp = "-".join(pair.languages)
    frame = pair.outputs.drop("lp", strict=False)
    save_format(frame, folder / "batches.json", "appraise-batches", "scores", Options(lp=lp))
    said = [one for one in pair.said() if one.score is not None]
    write_appraise(said, folder / "results.csv", pair.languages)
    return {"batches.json": frame.height, "results.csv": len(said)}


def _label_studio(pair: ExportedPair, folder: Path) -> Written:
    path = folder / "tasks.json"
    if pair.protocol.kind == "judgments":
        frame = _table(pair, "judgments")
        save_format(frame, path, "label-studio", "judgments")
        return {path.name: frame.height}
    said = pair.said()
    key = [name for name in ("lp", "doc", "seg", "system") if name in pair.outputs.columns]
    done = {tuple(getattr(one, name) for name in key) for one in said}
    shown = [*key, *(name for name in ("source", "target") if name in pair.outputs.columns)]
    rest = [
        row for row in pair.outputs.select(shown).to_dicts()
        if tuple(row[name] for name in key) not in done
    ]  # fmt: skip
    write_label_studio(said, path, rest)
    return {path.name: len(said) + len(rest)}


def _table(pair: ExportedPair, name: str) -> pl.DataFrame:
    frames = answers_of(pair.collected)
    if name not in frames:
        raise InputError(f"the campaign has no {name} yet, and this format holds nothing else")
    return frames[name]


def _google_mqm(pair: ExportedPair, folder: Path) -> Written:
    key = [name for name in ("lp", "system", "doc", "seg") if name in pair.outputs.columns]
    texts = pair.outputs.select(*key, *_texts(pair.outputs))
    frame = _table(pair, "errors").select(
        *key, "rater", "category", "severity", "side", "start", "end",
        # In this format a line is an error, so comments must not break lines.
        pl.col("comment").str.replace_all(r"\s+", " "),
    )  # fmt: skip
    frame = frame.join(texts, on=key, how="left", maintain_order="left", nulls_equal=True)
    save_format(frame, folder / "errors.tsv", "google-mqm", "errors")
    return {"errors.tsv": frame.height}


def _texts(frame: pl.DataFrame) -> list[str]:
    return [name for name in ("source", "target") if name in frame.columns]


def _mt_metrics_eval(pair: ExportedPair, folder: Path) -> Written:
    """The test set as numbered lines, mean scores, and every rater's marks."""
    options = Options(lp="-".join(pair.languages))
    key = [name for name in ("doc", "seg") if name in pair.outputs.columns]
    order = pair.outputs.select(key).unique(maintain_order=True)
    order = order.with_columns(pl.int_range(1, pl.len() + 1).cast(pl.String).alias("_line"))

    def numbered(frame: pl.DataFrame) -> pl.DataFrame:
        placed = frame.join(order, on=key, how="inner", maintain_order="left", nulls_equal=True)
        return placed.drop("seg", "lp", strict=False).rename({"_line": "seg"})

    target = folder / "data"
    frame = numbered(pair.outputs)
    save_format(frame, target, "mt-metrics-eval", "scores", options)
    rated = _table(pair, "ratings")
    genuine = pl.all_horizontal(
        pl.col(name).is_null() for name in ("check", "repeat") if name in rated.columns
    ) if {"check", "repeat"} & set(rated.columns) else pl.lit(True)  # fmt: skip
    means = numbered(rated.filter(genuine)).group_by("system", "seg", maintain_order=True)
    scores = means.agg(pl.col("score").mean()).drop_nulls("score")
    human = Options(lp=options.lp, human_scores=pair.settings.protocol)
    save_format(scores, target, "mt-metrics-eval", "ratings", human)
    marks = answers_of(pair.collected).get("errors")
    if marks is not None:
        save_format(numbered(marks), target, "mt-metrics-eval", "errors", human)
    for path in target.iterdir():
        path.rename(folder / path.name)
    target.rmdir()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().count(b"\n") for path in files
    }  # fmt: skip


def _wmt_rnk(pair: ExportedPair, folder: Path) -> Written:
    frame = _table(pair, "judgments")
    options = Options() if "lp" in frame.columns else Options(lp=pair.lp)
    save_format(frame, folder / "judgments.csv", "wmt-rnk", "judgments", options)
    return {"judgments.csv": frame["set"].n_unique()}


def _xliff(pair: ExportedPair, folder: Path) -> Written:
    frame = _table(pair, "edits")
    save_format(frame, folder / "edits.xlf", "xliff", "edits", Options(lp=pair.lp))
    return {"edits.xlf": frame.height}


def _rates(protocol: Protocol) -> bool:
    return protocol.kind == "ratings" and len(protocol.wire()["scales"]) < 2


def _marks(protocol: Protocol) -> bool:
    return bool(protocol.wire()["severities"])


def _compares(protocol: Protocol) -> bool:
    return protocol.kind == "judgments"


@dataclass(frozen=True)
class Tool:
    """A format: its writer, the protocols it fits, and its content in words."""

    write: Callable[[ExportedPair, Path], Written]
    fits: Callable[[Protocol], bool]
    holds: str


ONE_SCALE = "ratings on one scale"
TOOLS: Mapping[str, Tool] = {
    "mt-metrics-eval": Tool(_mt_metrics_eval, _rates, ONE_SCALE),
    "google-mqm": Tool(_google_mqm, _marks, "marked errors"),
    "appraise": Tool(_appraise, _rates, ONE_SCALE),
    "pearmut": Tool(_pearmut, _rates, ONE_SCALE),
    "label-studio": Tool(
        _label_studio, lambda one: _rates(one) or _compares(one), f"{ONE_SCALE}, or judgments"
    ),
    "wmt-rnk": Tool(_wmt_rnk, _compares, "judgments"),
    "xliff": Tool(_xliff, lambda one: one.kind == "edits", "post-edited outputs"),
}
"""The formats of other tools, by name."""
