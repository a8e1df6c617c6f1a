"""What simulated raters think of texts: a simulated world laid over a test set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.stats.random import Rng
from assay.tables.tables import TestSet
from assay.worlds.simulate import World, simulate

Lessons = Mapping[tuple[str | None, str | None], float]

SPOILED = 0.4
"""What is left of the worst output's quality in a text that nobody knows."""


class Opinions:
    """From 0 to 1, what every rater thinks of every output of a test set.

    The raters are those of a world with as many systems and documents. They see texts alone: one
    that is not in the test set, such as a spoiled copy, is worse than all others of its source.
    Of ``lessons``, sources and texts, everybody thinks what these say.
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
        return float(self.quality[:, segment, rater].min() * SPOILED)


def _texts(test_set: TestSet, column: str) -> list[str | None]:
    frame = test_set.frame
    return frame[column].to_list() if column in frame.columns else [None] * frame.height
