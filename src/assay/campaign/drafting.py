"""A campaign drafted from uploaded files: its columns guessed and corrected, planned, created."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.campaign.create import make_campaign, read_material
from assay.campaign.hub import Hub, take_in
from assay.campaign.keys import Keys, read_keys
from assay.campaign.records import InvalidAnswerError
from assay.campaign.store.creating import slug_of
from assay.campaign.uploads import READING, Upload
from assay.campaign.wire import Corrected, NewCampaign
from assay.collecting.assign import USUAL_OVERLAP
from assay.collecting.results import Created
from assay.errors import InputError, OptionError, Problem, TableError, rename_arguments
from assay.planning.campaign import CampaignPlan, plan_campaign
from assay.project.project import FILE
from assay.project.reader import parse_settings, with_key
from assay.project.sources import Choices, Part, create_project, read_sources, settings_of
from assay.results import Costs
from assay.tables.guess import Guess, Question, guess
from assay.tables.limits import limits
from assay.tables.load import Raw, column_names, to_text
from assay.tables.schemas import find_schema
from assay.tables.tables import TestSet

RATED = ("esa", "da", "sqm", "xsts", "scale", "mqm")
"""Protocols that collect ratings, for which a budget can be planned."""
MOST_NAMED = 500
MAX_EXAMPLE = 60
"""Characters of a value that are shown as an example."""


@dataclass
class _Examined:
    """The table and the guess, kept even if the files are then refused."""

    raw: Raw | None = None
    found: Guess | None = None


def examine(upload: Upload, said: Corrected) -> dict[str, Any]:
    """Say how the files were understood, what is unclear, and what they hold."""
    files = [{"name": name, "bytes": size} for name, size in upload.files()]
    reply: dict[str, Any] = {
        "files": files, "table": None, "summary": None, "questions": [], "problems": []
    }  # fmt: skip
    if not files:
        return reply
    seen = _Examined()
    try:
        part = _read(upload, said, seen)
        reply["summary"] = _summary(part)
    except InputError as error:
        reply["problems"] = [
            {"path": path, "message": message} for path, message in faults_of(error, upload)
        ]
    if seen.raw is not None and seen.found is not None:
        reply["table"] = _shown(seen.raw, seen.found)
        reply["questions"] = [
            {"path": _path(one), "message": one.text, "answers": [*one.answers]}
            for one in seen.found.questions
        ]
        if reply["questions"]:
            reply["problems"] = []
    return reply


def _read(
    upload: Upload, said: Corrected, seen: _Examined, only: Mapping[str, str] | None = None
) -> Part:
    """Read the outputs, with the guesses as corrected."""

    def ask(raw: Raw, _: str | None) -> Guess:
        seen.raw, seen.found = raw, _guessed(raw, said)
        return seen.found

    choices = Choices(
        kind="scores", only={**said.only, **(only or {})} or None, metrics=said.metrics,
        lower_metrics=said.lower_metrics, exclude=said.exclude,
    )  # fmt: skip
    sources = upload.sources()
    with limits(READING):
        _need_one_kind(sources)
        parts = read_sources(sources, choices, ask)
    table = parts[0].table
    assert isinstance(table, TestSet)
    if "target" not in table.frame.columns:
        fault = "choose the column with the outputs"
        raise TableError("files", [Problem(fault, column="columns.target")])
    return parts[0]


def _need_one_kind(sources: Sequence[Path]) -> None:
    """Refuse files that cannot be one table."""
    tables = [path for path in sources if path.is_file()]
    if len(sources) > len(tables) > 0:
        raise InputError("there are both tables and text files; keep one kind")
    first = set(column_names(tables[0])) if tables else set()
    for other in tables[1:]:
        if set(column_names(other)) != first:
            raise InputError(
                f"{tables[0].name} and {other.name} have different columns; use the same column"
                " names in all files, or remove one"
            )


def _guessed(raw: Raw, said: Corrected) -> Guess:
    chosen: dict[str, str | Sequence[str]] = {r: c for r, c in said.columns.items() if c}
    if len(said.wide) > 1:
        chosen["system"] = list(said.wide)
        chosen.pop("target", None)
    found = guess(raw, kind="scores", columns=chosen)
    kept = {r: c for r, c in found.columns.items() if said.columns.get(r) != ""}
    settled = {f"columns.{role}" for role in said.columns} - _required(found)
    questions = tuple(
        one for one in found.questions
        if _path(one) not in settled and not (one.argument == "only" and said.only)
    )  # fmt: skip
    return replace(found, columns=kept, questions=questions)


def _required(found: Guess) -> set[str]:
    """The roles that need a column."""
    return {f"columns.{name}" for name in find_schema("scores").required if name != found.into}


def _path(question: Question) -> str:
    """The field of the page that answers a question."""
    if question.argument != "columns" or not question.answers:
        return question.argument
    return f"columns.{question.answers[0].partition('=')[0]}"


def _shown(raw: Raw, found: Guess) -> dict[str, Any]:
    """The table as shown on the page, where every guess can be corrected."""
    frame = raw.frame
    examples = {}
    for name in frame.columns[:MOST_NAMED]:
        first = to_text(frame[name].drop_nulls().head(1)).to_list()
        value = (first[0] or "") if first else ""
        examples[name] = value if len(value) <= MAX_EXAMPLE else f"{value[: MAX_EXAMPLE - 1]}…"
    numbers = [*found.metrics, *found.unsure, *found.counts, *found.ratings]
    return {
        "columns": frame.columns[:MOST_NAMED], "examples": examples, "rows": frame.height,
        "roles": dict(found.columns), "wide": list(found.melted), "metrics": list(found.metrics),
        "unsure": list(found.unsure), "numbers": numbers,
    }  # fmt: skip


def _summary(part: Part) -> dict[str, Any]:
    """What a test set holds, with its languages if known."""
    table = part.table
    assert isinstance(table, TestSet)
    frame = table.frame
    pairs = sorted(set(frame["lp"].drop_nulls())) if "lp" in frame.columns else []
    languages = list(part.languages) if part.languages else _languages(pairs)
    return {
        "systems": list(table.systems[:MOST_NAMED]), "segments": table.segments.height,
        "documents": table.documents.height if table.has_documents else None,
        "texts": [name for name in ("source", "target", "reference") if name in frame.columns],
        "metrics": list(table.metrics), "lower_metrics": sorted(table.lower_metrics),
        "pairs": pairs, "languages": languages, "notes": [str(note) for note in table.notes],
        "first": {
            name: (frame[name][0] or "")[:300]
            for name in ("source", "target") if name in frame.columns
        },
    }  # fmt: skip


def _languages(pairs: Sequence[str]) -> list[str]:
    """The two languages, if there is a single pair that names two."""
    both = pairs[0].replace("_", "-").split("-") if len(pairs) == 1 else []
    return both if len(both) == 2 else []


def plan(
    systems: int, segments: int, settings: Mapping[str, Any], budget: str | None
) -> CampaignPlan | None:
    """What a budget buys; None without a budget, or if the protocol collects no ratings."""
    if settings.get("protocol") not in RATED or budget is None:
        return None
    given = {name: settings.get(f"pay.{name}") for name in ("per_rating", "per_hour")}
    paid = Costs(
        **given, seconds_per_rating=settings.get("pay.seconds_per_rating"),
        currency=settings.get("pay.currency"),
    )  # fmt: skip
    overlap, checks, repeats = (
        float(str(settings.get(name) or default).removesuffix("%")) / 100
        for name, default in (
            ("raters.overlap", 100 * USUAL_OVERLAP),
            ("checks.share", 0),
            ("checks.repeats", 0),
        )
    )
    return plan_campaign(
        systems, segments, budget=budget, pay=paid, protocol=str(settings["protocol"]),
        raters=settings.get("raters.number"), per_output=settings.get("raters.per_task") or 1,
        overlap=overlap, checks=checks + repeats,
    )  # fmt: skip


def make(hub: Hub, upload: Upload, draft: NewCampaign) -> list[tuple[str, Created, Keys]]:
    """Create and serve the campaigns of a draft, each in its own project folder.

    Raises:
        InvalidAnswerError: The draft has faults; nothing is written.
    """
    assert hub.folder is not None
    made: list[tuple[Path, Path]] = []
    created: list[Created] = []
    with hub.making, _explained(upload):
        try:
            for name, only in _campaigns(upload, draft):
                folder = hub.folder / slug_of(name)
                if folder.exists() or folder in [place for _, place in made]:
                    raise OptionError("name", name, "already exists", "choose another name")
                staged = hub.folder / f".making.{secrets.token_hex(6)}"
                made.append((staged, folder))
                created.append(_make_one(upload, draft, name, only, staged))
            for staged, folder in made:
                staged.replace(folder)
        except BaseException:
            for staged, _ in made:
                shutil.rmtree(staged, ignore_errors=True)
            raise
        upload.discard()
        return [
            (take_in(hub, folder).slug, one, read_keys(folder))
            for (_, folder), one in zip(made, created, strict=True)
        ]


def _campaigns(upload: Upload, draft: NewCampaign) -> list[tuple[str, dict[str, str]]]:
    """The names of the campaigns, and the rows of each."""
    if draft.by is None:
        return [(draft.name.strip(), {})]
    seen = _Examined()
    pairs = _summary(_read(upload, draft.table, seen))["pairs"]
    if len(pairs) < 2:
        raise OptionError("by", draft.by, "needs several language pairs", "leave it out")
    column = seen.found.columns.get("lp", "lp") if seen.found else "lp"
    return [(f"{draft.name.strip()} {pair}", {column: pair}) for pair in pairs]


def _make_one(
    upload: Upload, draft: NewCampaign, name: str, only: dict[str, str], staged: Path
) -> Created:
    """One campaign in a project folder, as ``assay new`` writes it."""
    part = _read(upload, draft.table, _Examined(), only)
    said = _settings(draft, name, part)
    text = ""
    for key, value in said.items():
        text = with_key(text, key, value)
    parse_settings(text, FILE)  # reports a fault with its field
    tables = {key: value for key, value in settings_of([part], staged).items() if key != "screen"}
    tables |= {"exclude": list(draft.table.exclude)} if draft.table.exclude else {}
    project = create_project(staged, [part], _nested(said) | tables)
    return make_campaign(read_material(project.settings, staged, source=FILE), staged)[0]


def _settings(draft: NewCampaign, name: str, part: Part) -> dict[str, Any]:
    """The settings of a campaign in ``assay.toml``, without its tables."""
    table = part.table
    assert isinstance(table, TestSet)
    said = {key: value for key, value in draft.settings().items() if value is not None}
    if part.languages is not None:
        said.setdefault("screen.languages", list(part.languages))
    segments = wanted = table.segments.height
    if draft.budget is not None:
        planned = plan(len(table.systems), segments, draft.settings(), draft.budget)
        if planned is not None and planned.needed is not None:
            wanted = planned.needed
            said["raters.overlap"] = f"{100 * planned.overlap:.6g}%"
        else:
            wanted = _segments(draft.budget, segments)
    if wanted < segments:
        said["sample.design"] = "rounds" if table.has_documents else "segments"
        said["sample.budget"] = str(wanted)
    said["sample.seed"] = secrets.randbelow(2**31)
    return {"name": name, **said}


def _segments(budget: str, population: int) -> int:
    """The segments of a budget that is a number or a share of them."""
    number = budget.strip().removesuffix("%")
    if not number.replace(".", "", 1).isdecimal():
        fault = "can only be planned for ratings"
        raise OptionError("budget", budget, fault, "give a number or a percentage of segments")
    wanted = float(number) * (population / 100 if budget.strip().endswith("%") else 1)
    if not 1 <= wanted <= population:
        fault = f"is not between 1 and all {population:,} segments"
        raise OptionError("budget", budget, fault, "give a number or a percentage of segments")
    return round(wanted)


def _nested(said: Mapping[str, Any]) -> dict[str, Any]:
    """``{"raters.number": 3}`` as ``{"raters": {"number": 3}}``."""
    nested: dict[str, Any] = {}
    for key, value in said.items():
        first, _, rest = key.partition(".")
        if rest:
            nested.setdefault(first, {})[rest] = value
        else:
            nested[first] = value
    return nested


@contextmanager
def _explained(upload: Upload) -> Iterator[None]:
    try:
        yield
    except InvalidAnswerError:
        raise
    except InputError as error:
        raise InvalidAnswerError(faults_of(error, upload)) from None


def faults_of(error: InputError, upload: Upload | None = None) -> list[tuple[str, str]]:
    """The faults of an error, each with its field, worded for the browser."""

    def plain(text: str) -> str:
        if upload is not None:
            for folder in ("tables/", "texts/", "texts", ""):
                text = text.replace(f"{upload.folder}/{folder}", "")
        return rename_arguments(text, lambda name: name.replace("_", " "))

    if isinstance(error, TableError):
        return [_placed(error.source, one, plain) for one in error.problems[:20]]
    if isinstance(error, OptionError):
        return [(error.argument, plain(str(error)))]
    return [("files", plain(str(error)))]


def _placed(source: str, problem: Problem, plain: Callable[[str], str]) -> tuple[str, str]:
    """A problem with its field, or with its line and column if it is in a file."""
    path = problem.column or "files"
    if path.startswith("columns."):
        return path, problem.message
    text = plain(str(problem))
    return path, text if problem.line is None else f"{Path(source).name}, {text}"
