"""Everything that a new campaign holds, drawn and checked before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from assay.campaign.assignment import PlannedTask, fixed_minutes, plan_kits, plan_tasks
from assay.campaign.items import Items, Media, read_items, read_media
from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import Protocol
from assay.campaign.records import FormQuestion, Side, Span
from assay.errors import InputError
from assay.kits.results import KitDesign
from assay.project.settings import Settings
from assay.sampling.draw import sample as draw_sample
from assay.stats.random import Rng, seeded
from assay.tables.answers import Errors
from assay.tables.load import Findings, load
from assay.tables.tables import Sample, TestSet

TEXTS, NUMBERS = ("source", "target"), ("low", "high")


@dataclass(frozen=True, slots=True)
class Lesson:
    """An example output with the range of good scores."""

    kind: Literal["tutorial", "qualify"]
    source: str
    target: str
    low: float
    high: float
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Questions before the first task or after the last."""

    kind: Literal["before", "after"]
    questions: tuple[FormQuestion, ...]


def read_lessons(path: Path, kind: Literal["tutorial", "qualify"]) -> list[Lesson]:
    """Read examples from a table: source, target, low, high and, optionally, explanation."""
    raw = load(path, text=lambda name: name not in NUMBERS)
    frame, findings = raw.frame, Findings(raw)
    missing = [name for name in (*TEXTS, *NUMBERS) if name not in frame.columns]
    for name in missing:
        findings.header(f"the column '{name}' is missing; add it", name)
    findings.stop()
    frame = frame.with_columns(
        *(pl.col(name).cast(pl.String) for name in TEXTS),
        *(pl.col(name).cast(pl.Float64, strict=False) for name in NUMBERS),
    )
    for name in TEXTS:
        empty = frame[name].is_null()
        findings.rows(empty, name, raw.frame[name], "the text is missing; write one")
    for name in NUMBERS:
        wrong = ~frame[name].is_finite().fill_null(False)
        findings.rows(wrong, name, raw.frame[name], "'{}' is not a number; write the score")
    above = (frame["low"] > frame["high"]).fill_null(False)
    findings.rows(above, "low", raw.frame["low"], "'{}' is above high; swap the two")
    findings.stop()
    has_words = "explanation" in frame.columns
    return [
        Lesson(
            kind, row["source"], row["target"], row["low"], row["high"],
            row["explanation"] if has_words else None,
        )
        for row in frame.iter_rows(named=True)
    ]  # fmt: skip


def read_form(path: Path, kind: Literal["before", "after"]) -> Form:
    """Read questions from a table: question, answers (``yes|no``) and optional."""
    raw = load(path, text=lambda name: True)
    frame, findings = raw.frame, Findings(raw)
    if "question" not in frame.columns:
        findings.header("the column 'question' is missing; add it", "question")
        findings.stop()
    empty = frame["question"].is_null()
    findings.rows(empty, "question", frame["question"], "the question is missing; write one")
    if "optional" in frame.columns:
        odd = ~frame["optional"].is_in(["yes", "no"]).fill_null(True)
        findings.rows(odd, "optional", frame["optional"], "'{}' is not yes or no; write one")
    findings.stop()
    return Form(kind, tuple(
        FormQuestion(
            row["question"],
            tuple(one.strip() for one in (row.get("answers") or "").split("|") if one.strip()),
            row.get("optional") == "yes",
        )
        for row in frame.iter_rows(named=True)
    ))  # fmt: skip


WHOLE = "100%"


@dataclass(frozen=True)
class Material:
    """A plan with its tables; without a sample everything is rated."""

    settings: Settings
    folder: Path
    """The folder of the files that settings and the column ``media`` name."""
    test_set: TestSet
    sample: Sample | None = None
    errors: Errors | None = None
    """Marks that raters start from."""
    kits: KitDesign | None = None
    """Which editor gets which document."""


@dataclass(frozen=True)
class Contents:
    """A campaign before it is stored."""

    material: Material
    """With the sample that was drawn."""
    items: Items
    tasks: Sequence[PlannedTask]
    leaders: Sequence[dict[tuple[int, int], int]]
    """Of every task: segment and system to the system it is shown as."""
    spoiled: Sequence[dict[tuple[int, int], str]]
    """Of every task: the texts shown in place of outputs."""
    lessons: Sequence[Lesson | Form]
    marks: Sequence[tuple[int, int, Span]]
    """Segment, system and a mark that raters begin with."""
    media: dict[str, Media]
    raters: tuple[str, ...]
    seed: int
    instructions: str | None
    consent: str | None


def prepare(material: Material, rng: Rng) -> Contents:
    """Draw everything and find every fault, before anything is written."""
    settings, test_set = material.settings, material.test_set
    sample, kits, folder = material.sample, material.kits, material.folder
    protocol = make_protocol(settings)
    if settings.raters.lease != "auto":
        fixed_minutes(settings.raters.lease)
    generator, seed = seeded(rng if rng is not None else settings.sample.seed)
    seed = seed if seed is not None else int(generator.integers(2**32))
    items = read_items(test_set)
    if kits is None:
        if sample is None:
            design = "rounds" if test_set.has_documents else "segments"
            sample = draw_sample(test_set, design=design, budget=WHOLE, rng=generator)
        elif sample.checked is not test_set:
            sample = sample.placed_in(test_set)
        tasks = plan_tasks(sample, settings, protocol.kind, generator)
    else:
        tasks = plan_kits(test_set, kits)
    tasks = [with_texts(task, items) for task in tasks]
    if not any(task.rated for task in tasks):
        raise InputError("none of the drawn segments has an output to show; check 'target'")
    context = settings.screen.context
    stretches = [items.stretch(list(task.rated), context) for task in tasks]
    leaders = [
        items.leaders(task.rated, stretch, settings.screen.merge)
        for task, stretch in zip(tasks, stretches, strict=True)
    ]
    return Contents(
        replace(material, sample=sample), items, tasks, leaders,
        _spoil(tasks, leaders, items, generator), _lessons(folder, settings),
        _marks(material.errors, items, test_set, protocol), read_media(folder, items.media),
        _names(settings, kits), seed, _read(folder, settings.instructions),
        _read(folder, settings.consent),
    )  # fmt: skip


def with_texts(task: PlannedTask, items: Items) -> PlannedTask:
    """Remove outputs that do not exist from a task."""
    rated = {
        segment: tuple(one for one in systems if (segment, one) in items.targets)
        for segment, systems in task.rated.items()
    }
    return replace(task, rated={segment: own for segment, own in rated.items() if own})


def _spoil(
    tasks: Sequence[PlannedTask], leaders: Sequence[dict[tuple[int, int], int]], items: Items,
    rng: np.random.Generator,
) -> list[dict[tuple[int, int], str]]:  # fmt: skip
    """Spoil every output of a check, so that none stands out."""
    return [
        {
            (segment, system): items.spoiled(segment, system, rng)
            for (segment, system), leader in own.items()
            if system == leader
        }
        if task.kind == "check"
        else {}
        for task, own in zip(tasks, leaders, strict=True)
    ]


def _lessons(folder: Path, settings: Settings) -> list[Lesson | Form]:
    found: list[Lesson | Form] = []
    if settings.checks.tutorial is not None:
        found += read_lessons(folder / settings.checks.tutorial, "tutorial")
    if settings.checks.qualify is not None:
        found += read_lessons(folder / settings.checks.qualify, "qualify")
    if settings.forms.before is not None:
        found.append(read_form(folder / settings.forms.before, "before"))
    if settings.forms.after is not None:
        found.append(read_form(folder / settings.forms.after, "after"))
    return found


def _marks(
    errors: Errors | None, items: Items, test_set: TestSet, protocol: Protocol
) -> list[tuple[int, int, Span]]:
    """Read the marks of an errors table that have a position, in the terms of the protocol."""
    asked = protocol.wire()
    severities = {one["name"].lower(): one["name"] for one in asked["severities"]}
    if errors is None or not severities:
        return []
    key = list(test_set.key)
    place = {row: k for k, row in enumerate(test_set.segments.select(key).iter_rows())}
    system = {name: k for k, name in enumerate(items.systems)}
    found = []
    for row in errors.frame.iter_rows(named=True):
        segment = place.get(tuple(row.get(name) for name in key))
        which = system.get(row["system"])
        start, end = row.get("start"), row.get("end")
        if segment is None or which is None or start is None or end is None:
            continue
        side: Side = "source" if row.get("side") == "source" else "target"
        text = items.sources[segment] if side == "source" else items.targets.get((segment, which))
        if text is None or not 0 <= start <= end <= len(text):
            raise InputError(
                f"the errors mark {start}-{end} of segment {row['seg']}, system {row['system']},"
                " which the text does not have; check `errors`"
            )
        severity = severities.get(row["severity"].lower())
        category = row["category"] if asked["categories"] else None
        if severity is None or (category is not None and category not in asked["categories"]):
            raise InputError(
                f"the errors have {row['category']}, {row['severity']} in segment {row['seg']},"
                " which the protocol does not ask for; give `categories` and `severities`"
            )
        span = Span(side, start, end, severity, category, missing=start == end)
        found.append((segment, which, span))
    return found


def _names(settings: Settings, kits: KitDesign | None) -> tuple[str, ...]:
    if kits is not None:
        return kits.editors
    names = settings.raters.names or tuple(
        f"rater-{number}" for number in range(1, settings.raters.number + 1)
    )
    twice = [name for name, often in Counter(names).items() if often > 1]
    if twice:
        raise InputError(f"raters.names has '{twice[0]}' twice; name every rater once")
    return names


def _read(folder: Path, name: str | None) -> str | None:
    if name is None:
        return None
    path = folder / name
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}' cannot be read ({error}); give a text file in UTF-8") from None
