"""The base of all protocols: what the page needs to know, and how answers are checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from assay.campaign.protocols.reading import RatedText, Reader, shown
from assay.campaign.records import Answer, Shown
from assay.tables.tables import Better

Kind = Literal["ratings", "judgments", "edits"]

TIE = "tie"
"""The winner if two outputs are equally good."""


@dataclass(frozen=True)
class Protocol(ABC):
    """How outputs are judged."""

    name: ClassVar[str]
    kind: ClassVar[Kind]

    better: Better = "higher"
    range: tuple[float, float] | None = None

    @abstractmethod
    def wire(self) -> dict[str, Any]:
        """What the page needs to know of the protocol."""

    @abstractmethod
    def read(self, reader: Reader, answers: object, shown: Shown, screen: int) -> list[Answer]:
        """Read the answers to a screen; faults go to ``reader``."""

    def check(self, answers: object, shown: Shown, screen: int) -> tuple[Answer, ...]:
        """Read complete answers to a screen, or raise with every fault and its path."""
        reader = Reader()
        found = self.read(reader, answers, shown, screen)
        reader.stop()
        return tuple(found)

    def _wire(
        self, *, scales: list[dict[str, Any]] | None = None, severities: tuple[str, ...] = (),
        categories: tuple[str, ...] = (), **options: object,
    ) -> dict[str, Any]:  # fmt: skip
        return {
            "protocol": self.name,
            "scales": scales or [],
            "severities": [
                {"name": name, "key": str(number)} for number, name in enumerate(severities, 1)
            ],
            "categories": list(categories),
            "options": options,
        }


class OutputProtocol(Protocol):
    """A protocol that asks about every output of a screen separately."""

    keys: ClassVar[tuple[str, ...]]
    from_scratch: ClassVar[bool] = False
    """Whether raters are asked even if a system has no output."""

    @abstractmethod
    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """The fields of an :class:`Answer` that this protocol asks for."""

    def read(self, reader: Reader, answers: object, shown: Shown, screen: int) -> list[Answer]:
        """One answer for every output of every segment of the screen that is rated."""
        wanted = {
            (item.code, item.place): item
            for item in _rated(shown, screen)
            if self.from_scratch or item.text is not None
        }
        found: dict[tuple[str, int], Answer] = {}
        for number, entry in enumerate(reader.items(answers, "answers", len(wanted))):
            path = f"answers[{number}]"
            given = reader.mapping(entry, path, ("code", "place", "skipped", "comment", *self.keys))
            key = _which(reader, given, path, list(wanted)) if given is not None else None
            if given is None or key is None:
                continue
            if key in found:
                reader.fault(path, f"answers output {key[0]} of segment {key[1]} again")
            found[key] = self._one(reader, given, path, wanted[key])
        if not reader.faults:
            for code, place in wanted:
                if (code, place) not in found:
                    reader.fault("answers", f"output {code} of segment {place} has no answer")
        return list(found.values())

    def _one(self, reader: Reader, given: dict[str, Any], path: str, item: RatedText) -> Answer:
        comment = read_comment(reader, given, path)
        skipped = read_skipped(reader, given, path, self.keys)
        asked = {} if "skipped" in given else self.answer(reader, given, path, item)
        return Answer(code=item.code, place=item.place, comment=comment, skipped=skipped, **asked)


class ComparisonProtocol(Protocol):
    """A protocol that asks one question about all outputs of a screen."""

    kind: ClassVar = "judgments"
    keys: ClassVar[tuple[str, ...]]

    @abstractmethod
    def compare(
        self, reader: Reader, given: dict[str, Any], path: str, codes: tuple[str, ...]
    ) -> dict[str, Any]:
        """The fields of an :class:`Answer` that this protocol asks for."""

    def read(self, reader: Reader, answers: object, shown: Shown, screen: int) -> list[Answer]:
        """The one answer of a screen."""
        items = reader.items(answers, "answers", 1)
        if not items:
            if not reader.faults:
                reader.fault("answers", "has no answer; send one")
            return []
        path = "answers[0]"
        keys = ("skipped", "comment", *self.keys)
        given = reader.mapping(items[0], path, keys, nullable="winner")
        if given is None:
            return []
        place = next(segment.place for segment in shown.segments if segment.rate)
        comment = read_comment(reader, given, path)
        skipped = read_skipped(reader, given, path, self.keys)
        codes = shown.screens[screen]
        asked = {} if "skipped" in given else self.compare(reader, given, path, codes)
        return [Answer(place=place, comment=comment, skipped=skipped, **asked)]


def _rated(shown: Shown, screen: int) -> Iterator[RatedText]:
    """The texts that a screen asks about."""
    outputs = {output.code: output for output in shown.outputs}
    for code in shown.screens[screen]:
        output = outputs[code]
        for number, segment in enumerate(shown.segments):
            if segment.rate:
                marks = output.spans[number] if output.spans else ()
                text = output.texts[number]
                yield RatedText(code, segment.place, segment.source, text, marks)


def read_comment(reader: Reader, given: dict[str, Any], path: str) -> str | None:
    """The comment, if there is one."""
    return reader.text(given["comment"], f"{path}.comment") if "comment" in given else None


def read_skipped(
    reader: Reader, given: dict[str, Any], path: str, keys: tuple[str, ...]
) -> str | None:
    """The reason for skipping, if the output was skipped."""
    if "skipped" not in given:
        return None
    for key in keys:
        if given.get(key):
            reader.fault(f"{path}.{key}", "cannot be combined with skipped; send one of them")
    return reader.text(given["skipped"], f"{path}.skipped", filled=True)


def _which(
    reader: Reader, given: dict[str, Any], path: str, wanted: list[tuple[str, int]]
) -> tuple[str, int] | None:
    """The output and segment of an answer, if this screen asks for them."""
    code, place = given.get("code"), given.get("place")
    if not isinstance(code, str) or code not in {code for code, _ in wanted}:
        reader.fault(f"{path}.code", f"is {shown(code)}, not an output of this screen")
        return None
    if isinstance(place, bool) or not isinstance(place, int) or (code, place) not in wanted:
        places = ", ".join(str(place) for name, place in wanted if name == code)
        reader.fault(f"{path}.place", f"is {shown(place)}; choose from {places}")
        return None
    return code, place
