"""What simulated raters think of texts, and how they answer a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import regex

from assay.stats.random import Rng
from assay.tables.tables import TestSet
from assay.worlds.simulate import World, simulate

Lessons = Mapping[tuple[str | None, str | None], float]

SPOILED_QUALITY = 0.4
"""The quality of an unknown text, as a share of the worst output's."""


class Opinions:
    """Every rater's opinion of every output of a test set, from 0 to 1.

    The raters belong to a simulated world with as many systems and documents. They only see texts:
    a text outside the test set, such as a spoiled copy, is worse than all others of its source. All
    raters agree on ``lessons``.
    """

    def __init__(
        self, test_set: TestSet, raters: int, *, lessons: Lessons | None = None, rng: Rng = None
    ) -> None:
        self._lessons = lessons or {}
        sizes = test_set.documents["segments"].to_list()
        count = len(test_set.systems)
        self.world: World = simulate(systems=count, documents=sizes, raters=raters, rng=rng)
        badness = self.world.badness
        low, high = np.quantile(badness, [0.005, 0.995])
        self.quality = np.clip((high - badness) / (high - low), 0.0, 1.0)
        """Systems x segments x raters."""
        system, segment = test_set.positions
        sources = _texts(test_set, "source")
        targets = _texts(test_set, "target")
        self._place: dict[tuple[str | None, str | None], tuple[int, int]] = {}
        self._segments: dict[str | None, int] = {}
        for row, source in enumerate(sources):
            place = int(system[row]), int(segment[row])
            self._place.setdefault((source, targets[row]), place)
            self._segments.setdefault(source, place[1])

    def of(self, rater: int, source: str | None, text: str | None) -> float:
        """The quality of a text as a translation of its source."""
        place = self._place.get((source, text))
        if place is not None:
            return float(self.quality[(*place, rater)])
        if (source, text) in self._lessons:
            return self._lessons[source, text]
        segment = self._segments.get(source)
        if segment is None:
            return 0.5
        return float(self.quality[:, segment, rater].min() * SPOILED_QUALITY)


def _texts(test_set: TestSet, column: str) -> list[str | None]:
    frame = test_set.frame
    return frame[column].to_list() if column in frame.columns else [None] * frame.height


View = Callable[[str | None, str | None], float]
"""Source and text to a quality from 0 to 1."""

WORD = regex.compile(r"(?:(?!\s)\X)+")
MOST_MARKS = 4
EQUAL_WITHIN = 0.03
"""Qualities closer than this are equally good."""
STRONG_GAP = 0.3


def answer_screen(
    task: dict[str, Any], screen: int, view: View, rng: np.random.Generator, seconds: float
) -> list[dict[str, Any]]:
    """The answers to one screen of a task, as the page would send them."""
    if task.get("kind") == "form":
        return [
            {"place": place, "comment": (one["answers"] or ["simulated"])[0]}
            for place, one in enumerate(task["questions"])
        ]
    outputs = {output["code"]: output for output in task["outputs"]}
    codes = task["screens"][screen]
    rated = [
        (number, segment) for number, segment in enumerate(task["segments"]) if segment["rate"]
    ]
    if task["protocol"] in ("pairwise", "ranking"):
        number, segment = rated[0]
        liked = {code: view(segment["source"], outputs[code]["texts"][number]) for code in codes}
        return [_compared(task["protocol"], liked)]
    editing = task["protocol"] == "post-edit"
    found = []
    for code in codes:
        for number, segment in rated:
            text = outputs[code]["texts"][number]
            if text is None and not editing:
                continue
            quality = view(segment["source"], text)
            said = (
                _edited(segment["source"], text, quality, rng, seconds)
                if editing
                else _rated(task, text or "", quality, rng)
            )
            found.append({"code": code, "place": segment["place"], **said})
    return found


def _compared(protocol: str, liked: dict[str, float]) -> dict[str, Any]:
    best = max(liked, key=lambda code: liked[code])
    if protocol == "ranking":
        steps = {code: round((liked[best] - value) / EQUAL_WITHIN) for code, value in liked.items()}
        order = sorted(set(steps.values()))
        return {"ranks": {code: order.index(step) + 1 for code, step in steps.items()}}
    gap = liked[best] - min(liked.values())
    if gap <= EQUAL_WITHIN:
        return {"winner": None}
    return {"winner": best, "strength": 2 if gap > STRONG_GAP else 1}


def _rated(
    task: dict[str, Any], text: str, quality: float, rng: np.random.Generator
) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if task["severities"]:
        marks = _marks(task, text, quality, rng)
        said |= {"spans": marks} if marks else {"no_error": True}
    if task["scales"]:
        said["scores"] = {scale["name"]: _score(scale, quality) for scale in task["scales"]}
    return said


def _score(scale: dict[str, Any], quality: float) -> float:
    low, high, step = scale["low"], scale["high"], scale["step"]
    score = low + (high - low) * quality
    return float(low + step * round((score - low) / step)) if step else float(score)


def _marks(
    task: dict[str, Any], text: str, quality: float, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Marks on different words; the worse the text, the more."""
    words = [found.span() for found in WORD.finditer(text)]
    number = min(round(MOST_MARKS * (1 - quality)), len(words))
    places = sorted(rng.choice(len(words), size=number, replace=False).tolist()) if number else []
    grades = [severity["name"] for severity in task["severities"]]
    marks = []
    for place in places:
        start, end = words[place]
        severity = grades[min(int(rng.random() < 1 - quality), len(grades) - 1)]
        mark = {"side": "target", "start": start, "end": end, "severity": severity}
        if task["categories"]:
            mark["category"] = str(rng.choice(task["categories"]))
        marks.append(mark)
    return marks


def _edited(
    source: str | None, text: str | None, quality: float, rng: np.random.Generator, seconds: float
) -> dict[str, Any]:
    """Reverse some words, more the worse the text is; from scratch, start with the source."""
    words = (text or source or "...").split()
    changed = rng.random(len(words)) < (1 - quality) / 2
    edited = [word[::-1] if change else word for word, change in zip(words, changed, strict=True)]
    letters = int(sum(len(word) for word, change in zip(words, changed, strict=True) if change))
    return {
        "edited": " ".join(edited),
        "keys": {"letter": letters, "erase": letters},
        "pauses": {"n_300": int(changed.sum()), "ms_300": 500 * int(changed.sum())},
        "sessions": [{"active_ms": round(1000 * seconds), "idle_ms": 0, "hidden_ms": 0}],
    }
