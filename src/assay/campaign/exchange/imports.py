"""Import of answers from another tool, checked against what the campaign asks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from assay.campaign.campaign import Campaign
from assay.campaign.exchange.tools import need_fit
from assay.campaign.protocols import make_protocol
from assay.campaign.protocols.base import OutputProtocol
from assay.campaign.protocols.reading import RatedText, Reader, grapheme_edges
from assay.campaign.records import IMPORTED, Answer, ImportedColumn, ImportedTask, Judged, Stored
from assay.collecting.results import Imported
from assay.errors import OptionError, did_you_mean, need_known
from assay.formats import appraise, label_studio, pearmut
from assay.formats.appraise import read_batches
from assay.formats.catalogue import Options, load_format
from assay.formats.files import Mark, Said
from assay.formats.mqm import code_points, from_inclusive
from assay.formats.pearmut import read_campaign
from assay.results import Note
from assay.tables.load import Findings, Raw, library_errors, shortened

READERS = {
    "pearmut": pearmut.read_said, "appraise": appraise.read_said,
    "label-studio": label_studio.read_said,
}  # fmt: skip
"""The tools whose answers can be imported."""

Place = tuple[int, int, int]
"""Task, place of the segment in it, and the system that the output is shown as."""


def import_answers(
    campaign: Campaign, path: Path, format: str, *, lp: str | None = None, actor: str = "owner"
) -> Imported:
    """Import the answers of another tool's file into a campaign, all or none.

    An answer must be about an output that the campaign asks about, with the same text; the
    protocol checks it like answers from the page. Known answers are passed over; an imported answer
    that has changed becomes a new revision.

    Raises:
        TableError: The file does not fit; every problem has its line.
    """
    need_known("format", format, list(READERS))
    protocol = make_protocol(campaign.settings)
    if not isinstance(protocol, OutputProtocol) or protocol.kind != "ratings":
        raise OptionError(
            "format", format, f"holds ratings, not the answers to {campaign.settings.protocol}",
            "collect those in the browser",
        )  # fmt: skip
    need_fit(format, campaign.settings)
    with library_errors(path):
        said, notes = READERS[format](path, Options(lp=lp))
    findings = Findings(path)
    if not said:
        findings.add("the file has no answers", 1)
        findings.stop()
    matching = _Matching(campaign, protocol, findings, units=format == "appraise")
    for one in said:
        matching.take(one)
    findings.stop(rows=len(said))
    parts = matching.parts()
    made = campaign.bring_in(parts, format, path.name, actor)
    return Imported(
        path.name, format, matching.new, matching.same, matching.changed, made["tasks"],
        tuple(dict.fromkeys(one.rater for one in said)), tuple(made["new_raters"]),
        (*notes, *matching.notes()),
    )  # fmt: skip


class _Matching:
    """Matches the answers of a file with outputs of the campaign."""

    def __init__(
        self, campaign: Campaign, protocol: OutputProtocol, findings: Findings, *, units: bool
    ) -> None:
        self.new = self.same = self.changed = self.merged = 0
        self._protocol, self._findings, self._units = protocol, findings, units
        self._judged: dict[str, list[Judged]] = defaultdict(list)
        self._outputs: dict[Place, Judged] = {}
        for one in campaign.judged():
            self._judged[one.seg].append(one)
            self._outputs.setdefault((one.task, one.place, one.shown_as), one)
        self._systems = {one.system for own in self._judged.values() for one in own}
        self._there = {
            (item.rater, item.task, *_where(item)): item
            for item in campaign.collected().answers
            if item.kind == "rate" and item.answer.code is not None
        }
        self._given: dict[tuple[str, int], dict[Place, tuple[Said, Answer]]] = defaultdict(dict)
        self._lines: dict[tuple[str, Judged], int] = {}
        self._touched: set[tuple[str, int]] = set()

    def take(self, said: Said) -> None:
        """Find the output of an answer, and check the answer with the protocol."""
        output = self._find(said)
        if output is None:
            return
        before = self._lines.get((said.rater, output))
        if before is not None:
            message = f"{said.rater} answered this twice, first in line {before}; keep one"
            self._fault(said, message)
            return
        self._lines[said.rater, output] = said.line
        answer = self._check(said, output)
        if answer is not None:
            self._place(said, output, answer)

    def _place(self, said: Said, output: Judged, answer: Answer) -> None:
        place = (output.task, output.place, output.shown_as)
        own = self._given[said.rater, output.task]
        there = self._there.get((said.rater, output.task, *_where(output)))
        if place in own:
            self.merged += 1  # an identical output, for which the first answer counts too
            return
        own[place] = (said, answer)
        if there is None:
            self.new += 1
        elif _plain(there.answer) == _plain(answer):
            self.same += 1
            return
        elif there.reason != IMPORTED:
            self._fault(
                said, f"{said.rater} already answered this differently in the campaign; leave it"
                      " out of the file",
            )  # fmt: skip
        else:
            self.changed += 1
        self._touched.add((said.rater, output.task))

    def _fault(self, said: Said, message: str, column: str | None = None) -> None:
        self._findings.add(message, said.line, column)

    def _find(self, said: Said) -> Judged | None:
        """The output that an answer is about."""
        where = f"segment '{said.seg}'" + ("" if said.doc is None else f" of '{said.doc}'")
        here = [
            one for one in self._judged.get(said.seg, ())
            if (said.doc is None or one.doc is None or one.doc == said.doc)
            and (said.lp is None or one.lp is None or one.lp == said.lp)
        ]  # fmt: skip
        own = [one for one in here if one.system == said.system]
        if said.system not in self._systems:
            hint = did_you_mean(said.system, list(self._systems))
            message = f"'{said.system}' is not a system of this campaign{hint}"
            self._fault(said, f"{message}; is this another campaign's file?", "system")
        elif not here:
            message = f"this campaign does not ask about {where}"
            self._fault(said, f"{message}; is this another campaign's file?", "seg")
        elif not own:
            message = f"the campaign does not ask about the output of {said.system} for {where}"
            self._fault(said, message, "seg")
        elif len(own) > 1:
            message = f"{where} occurs {len(own)} times, and the file does not say which is meant"
            self._fault(said, message, "doc")
        else:
            return own[0] if self._has_texts(said, own[0]) else None
        return None

    def _has_texts(self, said: Said, output: Judged) -> bool:
        for name, found, known in (
            ("source", said.source, output.source), ("target", said.target, output.text),
        ):  # fmt: skip
            if found is not None and known is not None and found.split() != known.split():
                self._fault(
                    said, f"the {name} of {output.system}, segment '{output.seg}', is"
                    f" '{shortened(found)}', in the campaign it is '{shortened(known)}'; raters saw"
                    " a different text", name,
                )  # fmt: skip
                return False
        return True

    def _check(self, said: Said, output: Judged) -> Answer | None:
        """The answer as the protocol reads it; None with every fault found."""
        reader, protocol = Reader(), self._protocol
        comment = None if said.comment is None else reader.text(said.comment, "comment")
        marks = self._spans(said, output) if "spans" in protocol.keys else []
        answer = Answer(code="", place=output.place, comment=comment)
        if said.score is None and (not marks or "scores" in protocol.keys):
            answer = replace(answer, skipped="no score")
        else:
            item = RatedText("", output.place, output.source, output.text, ())
            given = {
                "scores": dict.fromkeys(self._scales(), said.score), "spans": marks,
                "no_error": not marks,
            }  # fmt: skip
            asked = {name: value for name, value in given.items() if name in protocol.keys}
            answer = replace(answer, **protocol.answer(reader, asked, "answer", item))
        for path, message in reader.faults:
            self._fault(said, f"{path} {message}")
        return None if reader.faults else answer

    def _scales(self) -> list[str]:
        return [scale["name"] for scale in self._protocol.wire()["scales"]]

    def _spans(self, said: Said, output: Judged) -> list[dict[str, Any]]:
        """The marks as the page would send them, without duplicates."""
        wire = self._protocol.wire()
        names = [severity["name"] for severity in wire["severities"]]
        found = {
            tuple(span.items()): span
            for mark in said.marks
            for span in [_span(mark, output, names, wire["categories"], units=self._units)]
        }
        return list(found.values())

    def parts(self) -> list[ImportedTask]:
        """New and changed answers by rater and task; a changed column is sent again completely."""
        asked: dict[int, set[Place]] = defaultdict(set)
        for place in self._outputs:
            asked[place[0]].add(place)
        found = []
        for rater, task in sorted(self._touched, key=lambda key: (key[1], key[0])):
            given = self._given[rater, task]
            kept = {
                place: item.answer
                for place, output in self._outputs.items()
                if place[0] == task and (item := self._there.get((rater, task, *_where(output))))
            }
            answers = kept | {place: answer for place, (_, answer) in given.items()}
            columns = {
                system: self._column(task, system, answers, given)
                for system in sorted({place[2] for place in given})
            }
            found.append(ImportedTask(rater, task, set(answers) >= asked[task], columns))
        return found

    def _column(
        self, task: int, system: int, answers: Mapping[Place, Answer],
        given: Mapping[Place, tuple[Said, Answer]],
    ) -> ImportedColumn:  # fmt: skip
        own = {place: one for place, one in sorted(answers.items()) if place[2] == system}
        said = [given[place][0] for place in own if place in given]
        ends = [one.ended for one in said if one.ended]
        began = [one.ended - (one.seconds or 0.0) for one in said if one.ended]
        return ImportedColumn(
            tuple(replace(one, code="", place=place[1]) for place, one in own.items()),
            {place[1]: self._outputs[place].text_hash for place in own},
            sum(one.seconds or 0.0 for one in said),
            _time(min(began, default=None)), _time(max(ends, default=None)),
        )  # fmt: skip

    def notes(self) -> Sequence[Note]:
        """A note on the answers that were passed over."""
        if not self.merged:
            return ()
        text = (
            f"passed over {self.merged} answers about outputs identical to another system's: the"
            " first answer counts for both"
        )
        return (Note("identical-outputs", text),)


def _where(one: Judged | Stored) -> tuple[str | None, str | None, str, str]:
    return one.lp, one.doc, one.seg, one.system


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _plain(answer: Answer) -> tuple[object, ...]:
    marks = sorted((m.side, m.start, m.end, m.severity, str(m.category)) for m in answer.spans)
    return answer.scores, marks, answer.skipped is None, answer.comment


def _span(
    mark: Mark, output: Judged, severities: Sequence[str], categories: Sequence[str], *, units: bool
) -> dict[str, Any]:  # fmt: skip
    """A mark as the page would send it, widened so that it splits no character."""
    text = (output.source if mark.side == "source" else output.text) or ""
    start, end = mark.start, mark.end
    if units and start is not None and end is not None:
        inside = from_inclusive(code_points(text, skip="\n"), start, end - 1)
        # A mark outside the text stays outside, so that the check reports it.
        start, end = inside or (start + len(text), end + len(text))
    span: dict[str, Any] = {
        "side": mark.side, "severity": _named(mark.severity, severities),
    }  # fmt: skip
    if categories:
        span["category"] = _named(mark.category, categories)
    if start is None or end is None or start == end:
        place = len(text) if start is None else start
        return span | {"start": place, "end": place, "missing": True}
    if end <= len(text):
        edges = sorted(grapheme_edges(text))
        start = max(edge for edge in edges if edge <= start)
        end = min(edge for edge in edges if edge >= end)
    return span | {"start": start, "end": end}


def _named(name: str | None, known: Sequence[str]) -> str | None:
    """The campaign's spelling of a name."""
    return {one.lower(): one for one in known}.get((name or "").lower(), name)


Origin = Literal["pearmut", "appraise-batches"]
FORMATS: Mapping[str, str] = {"pearmut": "pearmut-campaign", "appraise-batches": "appraise-batches"}
"""The origins of campaigns, with the format that reads their outputs."""
PROTOCOLS = {"ESA": "esa", "cESA": "esa", "DA": "da", "MQM": "mqm"}
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
SIDE_BY_SIDE = 3
"""Outputs side by side if the other tool shows all systems at once."""


def foreign_outputs(path: Path, origin: Origin) -> Raw:
    """The outputs of such a file."""
    return load_format(path, FORMATS[origin], "scores", Options())


def foreign_settings(path: Path, origin: Origin) -> dict[str, Any]:
    """The settings in such a file, by their path in ``assay.toml``."""
    with library_errors(path):
        said = _pearmut(path) if origin == "pearmut" else _appraise(path)
        return dict(said)


def _pearmut(path: Path) -> Iterator[tuple[str, Any]]:
    campaign = read_campaign(path)
    info, data = campaign["info"], campaign["data"]
    name = campaign.get("campaign_id")
    yield "name", name if isinstance(name, str) and name.strip() else path.name.partition(".")[0]
    protocol = info.get("protocol", "cESA")
    yield "protocol", PROTOCOLS.get(str(protocol))
    if protocol == "cESA":
        yield "screen.outputs", SIDE_BY_SIDE
    yield from _people(info, data)
    sliders = info.get("sliders")
    if isinstance(sliders, list) and protocol == "DA":
        yield "protocol", "scale"
        yield "scales", [
            {"name": one.get("name"), "low": one.get("min"), "high": one.get("max"),
             "step": one.get("step")}
            for one in sliders if isinstance(one, dict)
        ]  # fmt: skip
    if protocol == "MQM" and isinstance(info.get("mqm_categories"), dict):
        yield "categories", list(_categories(info["mqm_categories"]))


def _people(info: Mapping[str, Any], data: Any) -> Iterator[tuple[str, Any]]:
    """The raters: a number of users, their names, or one for every task."""
    users = info.get("users", len(data) if info.get("assignment") == "task-based" else None)
    if isinstance(users, list):
        users = [one.get("user_id") if isinstance(one, dict) else one for one in users]
        yield "raters.names", users
    elif isinstance(users, int):
        yield "raters.number", users


def _categories(tree: Mapping[str, Any]) -> Iterator[str]:
    for above, below in tree.items():
        yield from [f"{above}/{name}" for name in below] if below else [above]


def _appraise(path: Path) -> Iterator[tuple[str, Any]]:
    tasks = [batch["task"] for batch in read_batches(path)]
    yield "name", path.name.partition(".")[0]
    each = tasks[0].get("requiredAnnotations")
    if isinstance(each, int) and each > 1:
        yield "raters.per_task", each
        yield "raters.number", each
    pairs = {(task.get("sourceLanguage"), task.get("targetLanguage")) for task in tasks}
    (pair, *more) = pairs
    if not more and all(isinstance(name, str) and LANGUAGE.fullmatch(name) for name in pair):
        yield "screen.languages", list(pair)
