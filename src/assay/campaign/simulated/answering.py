"""Answers to a screen, by what the wire says of the task and a rater's opinion of the texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import regex

View = Callable[[str | None, str | None], float]
"""Source and text to a quality from 0 to 1."""

WORD = regex.compile(r"(?:(?!\s)\X)+")
MOST_MARKS = 4
ALIKE = 0.03
"""Qualities no farther apart are equally good."""
STRONG = 0.3


def answer_screen(
    task: dict[str, Any], screen: int, view: View, rng: np.random.Generator, seconds: float
) -> list[dict[str, Any]]:
    """The answers to one screen of a task, as a page would send them."""
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
        steps = {code: round((liked[best] - value) / ALIKE) for code, value in liked.items()}
        order = sorted(set(steps.values()))
        return {"ranks": {code: order.index(step) + 1 for code, step in steps.items()}}
    gap = liked[best] - min(liked.values())
    if gap <= ALIKE:
        return {"winner": None}
    return {"winner": best, "strength": 2 if gap > STRONG else 1}


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
    """As many marks as the text is bad, each on a word of its own."""
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
    """Words put in another way, the more the worse they were; from scratch, the source."""
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
