"""What raters are shown: segments with sources and media, and outputs, identical ones merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from assay.campaign.records import Span
from assay.collecting.assign import spoil
from assay.errors import InputError, OptionError
from assay.tables.tables import TestSet

Merge = Literal["stretch", "segment", "no"]
MAX_LENDERS = 40
"""How many outputs of other documents may lend a stretch to a spoiled copy."""


def text_hash(text: str) -> str:
    """The hash under which a text is stored once."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Items:
    """The test set by index: segments in reading order, systems in file order."""

    systems: tuple[str, ...]
    lp: tuple[str | None, ...]
    doc: tuple[str | None, ...]
    seg: tuple[str, ...]
    sources: tuple[str | None, ...]
    media: tuple[str | None, ...]
    bounds: tuple[tuple[int, int], ...]
    """For every segment, the half-open range of its document."""
    targets: Mapping[tuple[int, int], str]
    """Segment and system to text."""

    def stretch(self, rated: Sequence[int], context: int) -> range:
        """The rated segments with context before and after, inside their document."""
        low, high = self.bounds[rated[0]]
        return range(max(low, min(rated) - context), min(high, max(rated) + 1 + context))

    def leaders(
        self, rated: Mapping[int, Sequence[int]], stretch: Sequence[int], merge: Merge
    ) -> dict[tuple[int, int], int]:
        """The system under which every output of a task is shown, by segment and system.

        Identical outputs are shown once: if their whole stretch is identical, if their segment is,
        or never.
        """
        first: dict[tuple[object, ...], int] = {}
        found = {}
        for segment, systems in rated.items():
            for system in systems:
                own: tuple[object, ...] = (system,)
                if merge == "segment":
                    own = (segment, self.targets[segment, system])
                elif merge == "stretch":
                    own = tuple(self.targets.get((place, system)) for place in stretch)
                    own += tuple(part for part, names in rated.items() if system in names)
                found[segment, system] = first.setdefault(own, system)
        return found

    def spoiled(self, segment: int, system: int, rng: np.random.Generator) -> str:
        """The output with a stretch replaced from another document of the same language."""
        low, high = self.bounds[segment]
        others = self._by_language[self.lp[segment]]
        outside = others[(others[:, 0] < low) | (others[:, 0] >= high)]
        if not len(outside):
            outside = others[others[:, 0] != segment]
        drawn = outside[rng.integers(len(outside), size=MAX_LENDERS)] if len(outside) else outside
        texts = [self.targets[int(place), int(which)] for place, which in drawn]
        return spoil(self.targets[segment, system], texts, rng)

    @cached_property
    def _by_language(self) -> dict[str | None, np.ndarray]:
        keys = np.array(sorted(self.targets)).reshape(-1, 2)
        lp = np.array([str(name) for name in self.lp])[keys[:, 0]]
        return {name: keys[lp == str(name)] for name in set(self.lp)}


def moved(marks: Sequence[Span], before: str, after: str) -> list[Span]:
    """Move the marks of an output to its spoiled copy; those in the replaced stretch are dropped.

    >>> [mark] = moved([Span("target", 8, 11, "minor")], "one two six", "one hundred six")
    >>> mark.start, mark.end
    (12, 15)
    """
    begins = _same_beginning(before, after)
    rest = min(len(before), len(after)) - begins
    ends = min(rest, _same_beginning(before[::-1], after[::-1]))
    shift = len(after) - len(before)
    found = []
    for mark in marks:
        if mark.side == "source" or mark.end <= begins:
            found.append(mark)
        elif mark.start >= len(before) - ends:
            found.append(replace(mark, start=mark.start + shift, end=mark.end + shift))
    return found


def _same_beginning(one: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))


def read_items(test_set: TestSet) -> Items:
    """The outputs of a test set, which must have the column ``target``."""
    frame, segments = test_set.frame, test_set.segments
    if "target" not in frame.columns:
        raise OptionError(
            "scores", test_set.source, "has no column 'target' with the outputs",
            "add it, or name the column with `columns`",
        )  # fmt: skip
    system, row = test_set.positions
    texts = frame["target"].to_list()
    pairs = zip(row.tolist(), system.tolist(), texts, strict=True)
    targets = {(place, which): text for place, which, text in pairs if text is not None}
    if not targets:
        raise InputError(f"{test_set.source}: every 'target' is empty; add the outputs")
    count = segments.height
    column = {
        name: segments[name].to_list() if name in segments.columns else [None] * count
        for name in ("lp", "doc", "source")
    }
    media: list[str | None] = [None] * count
    if "media" in frame.columns:
        for place, value in zip(row.tolist(), frame["media"].to_list(), strict=True):
            media[place] = media[place] or value
    edges = np.cumsum([0, *test_set.documents["segments"]])
    if not test_set.has_documents:
        edges = np.arange(count + 1)
    bounds = [(low, high) for low, high in pairwise(edges.tolist()) for _ in range(high - low)]
    return Items(
        test_set.systems, tuple(column["lp"]), tuple(column["doc"]),
        tuple(segments["seg"].to_list()), tuple(column["source"]), tuple(media), tuple(bounds),
        targets,
    )  # fmt: skip


TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
    ".m4a": "audio/mp4", ".flac": "audio/flac", ".mp4": "video/mp4", ".webm": "video/webm",
}  # fmt: skip
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Media:
    """A file with the hash of its content, under which it is stored once."""

    hash: str
    type: str
    body: bytes


def read_media(folder: Path, names: Iterable[str | None]) -> dict[str, Media]:
    """Read the files that the column ``media`` names, relative to the folder."""
    found: dict[str, Media] = {}
    faults = []
    for name in dict.fromkeys(name for name in names if name is not None):
        path = folder / name
        kind = TYPES.get(path.suffix.lower())
        if kind is None:
            faults.append(f"'{name}' has an unknown type; give {', '.join(TYPES)}")
        elif not path.is_file():
            faults.append(f"'{name}' is not in '{folder}'; copy it there")
        elif path.stat().st_size > MOST_BYTES:
            faults.append(f"'{name}' is larger than {MOST_BYTES >> 20} MB; make it smaller")
        else:
            body = path.read_bytes()
            found[name] = Media(sha256(body).hexdigest(), kind, body)
    if faults:
        raise InputError("the column 'media' cannot be used:\n  " + "\n  ".join(faults[:20]))
    return found
