"""Comparisons: the better of two outputs, or several outputs in order."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.campaign.protocols.base import TIE, Protocol, read_comment, read_skipped
from assay.campaign.protocols.reading import Reader, shown
from assay.campaign.records import Answer, Shown

STRENGTHS = 3
"""How much better: 1 slightly, 3 much."""


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


@dataclass(frozen=True)
class PairwiseProtocol(ComparisonProtocol):
    """The better of two, or a tie; optionally how much better, and why."""

    name: ClassVar[str] = "pairwise"
    keys: ClassVar = ("winner", "strength", "reason")

    def wire(self) -> dict[str, Any]:
        """The number of degrees of preference."""
        return self._wire(strengths=STRENGTHS)

    def compare(
        self, reader: Reader, given: dict[str, Any], path: str, codes: tuple[str, ...]
    ) -> dict[str, Any]:
        """The winner; null if both are equally good."""
        if "winner" not in given:
            reader.fault(f"{path}.winner", "is missing; send a code, or null if both are equal")
            return {}
        winner, strength, reason = (given.get(key) for key in self.keys)
        if winner is not None and winner not in codes:
            message = f"is {shown(winner)}; send the code of one of the two, or null"
            reader.fault(f"{path}.winner", message)
        if strength is not None:
            if winner is None:
                reader.fault(f"{path}.strength", "has no meaning if both are equal; leave it out")
            strength = reader.whole(strength, f"{path}.strength", 1, STRENGTHS)
        if reason is not None:
            reason = reader.text(reason, f"{path}.reason")
        return {"winner": winner or TIE, "strength": strength, "reason": reason}


@dataclass(frozen=True)
class RankingProtocol(ComparisonProtocol):
    """Two to eight outputs in order; equal ranks are ties."""

    name: ClassVar[str] = "ranking"
    keys: ClassVar = ("ranks",)

    def wire(self) -> dict[str, Any]:
        """Only the name."""
        return self._wire()

    def compare(
        self, reader: Reader, given: dict[str, Any], path: str, codes: tuple[str, ...]
    ) -> dict[str, Any]:
        """A rank for every output, 1 for the best."""
        ranks = reader.mapping(given.get("ranks", {}), f"{path}.ranks", codes)
        read = {
            code: reader.whole(rank, f"{path}.ranks.{code}", 1, len(codes))
            for code, rank in (ranks or {}).items()
        }
        for code in codes if ranks is not None else ():
            if code not in read:
                reader.fault(f"{path}.ranks.{code}", "is missing")
        return {"ranks": {code: rank for code, rank in read.items() if rank is not None}}
