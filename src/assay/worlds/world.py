"""A simulated world: it knows every rater's answer to every question one may ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import OptionError
from assay.results import result_dict, signature
from assay.stats.random import Rng, as_rng
from assay.tables.answers import (
    Errors,
    Judgments,
    Ratings,
    read_errors,
    read_judgments,
    read_ratings,
)
from assay.tables.sample import Sample
from assay.tables.test_set import TestSet
from assay.worlds.judging import judgment_columns, screens
from assay.worlds.marking import SEVERITIES, rows, spans
from assay.worlds.profiles import Profile

HIGHEST = 25.0
"""The highest MQM score."""


@dataclass(frozen=True, eq=False)
class World:
    """A test set with the truth about it; made by :func:`assay.worlds.simulate`.

    Arrays have the axes systems, segments, raters. ``expected`` is the mean score each system was
    made for, over all documents and raters there could be; :meth:`truth` is that of this world.
    ``badness`` is the continuous value behind the scores, with sd 1 inside systems.
    """

    test_set: TestSet
    profile: Profile
    raters: tuple[str, ...]
    expected: Mapping[str, float]
    scores: NDArray[np.float64]
    badness: NDArray[np.float64]
    kinds: NDArray[
        np.int8
    ]  # ... x 5 marks: 0 none, 1 punctuation, 2 minor, 3 major, 4 no translation
    chances: NDArray[np.float32]  # ... x 5: decides the category of each mark
    spots: NDArray[np.float64]  # systems x segments: decides where marks stand
    targets: tuple[tuple[str, ...], ...] | None
    seed: int | None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the arrays."""
        return self.test_set.systems

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The segments, in the order of the arrays."""
        return self.test_set.segments

    def truth(self, *, raters: Sequence[str] | str | None = None) -> dict[str, float]:
        """What a campaign that rates everything finds: each system's mean over all segments.

        >>> from assay.worlds.simulate import simulate
        >>> world = simulate(systems={"good": 1.0, "bad": 4.0}, documents=20, rng=1)
        >>> truth = world.truth()
        >>> truth["good"] < truth["bad"]
        True
        """
        means = self.scores[:, :, self._raters(raters)].mean(axis=(1, 2))
        return dict(zip(self.systems, means.tolist(), strict=True))

    def rate(
        self, sample: Sample | None = None, *, raters: Sequence[str] | str | None = None
    ) -> Ratings:
        """What the raters answer on the sample's segments (all without a sample).

        The answers are part of the world: the same rater always gives an output the same score.
        """
        columns = self._raters(raters)
        system, segment = np.nonzero(self._asked(sample))
        rater = np.tile(columns, len(system))
        system, segment = np.repeat(system, len(columns)), np.repeat(segment, len(columns))
        frame = self._rows(system, segment, rater).with_columns(
            score=self.scores[system, segment, rater]
        )
        return read_ratings(frame, self.test_set, better="lower", range=(0.0, HIGHEST))

    def mark(
        self, sample: Sample | None = None, *, raters: Sequence[str] | str | None = None
    ) -> Errors:
        """The errors the raters mark; weighted and added up they are exactly :meth:`rate`.

        Weights: non-translation 25, major 5, minor 1, minor punctuation 0.1. An output without
        errors has one row of category and severity ``No-error``. Offsets need ``texts=True``.
        """
        found = rows(self.kinds, self.chances, self._asked(sample), self._raters(raters))
        frame = self._rows(found.system, found.segment, found.rater).with_columns(
            category=pl.Series(found.category.tolist(), dtype=pl.String),
            severity=pl.Series(np.array(SEVERITIES)[found.kind].tolist(), dtype=pl.String),
        )
        if self.targets is not None:
            start, end = spans(found, self.targets, self.spots)
            frame = frame.with_columns(
                side=pl.lit("target"),
                start=pl.Series(start, dtype=pl.Int64),
                end=pl.Series(end, dtype=pl.Int64),
            )
        return read_errors(frame, self.test_set)

    def judge(
        self,
        judgments: int,
        *,
        per_set: int = 5,
        noise: float = 0.3,
        tie: float = 0.16,
        rng: Rng = None,
    ) -> Judgments:
        """Pairwise judgments from screens of ``per_set`` outputs of one segment.

        A screen of 5 gives 10 judgments; the last one is cut where the number asks for it.
        Segment, rater and systems of a screen are random. The rater orders the outputs by their
        badness in that rater's eyes plus fresh normal ``noise``; neighbours less than ``tie``
        apart are tied. Both are in units of the badness, which has sd 1 inside a system.
        """
        self._check_judge(judgments, per_set, noise, tie)
        per_screen = per_set * (per_set - 1) // 2
        found = screens(
            self.badness,
            ceil(judgments / per_screen),
            per_set,
            noise=noise,
            tie=tie,
            rng=as_rng(rng),
        )
        screen, columns = judgment_columns(found, self.systems, self.raters)
        places = {
            "set": (screen + 1).astype(str).tolist(),
            "doc": self.segments["doc"].gather(found.segment[screen]),
            "seg": self.segments["seg"].gather(found.segment[screen]),
        }
        frame = pl.DataFrame(places | columns)[:judgments]
        return read_judgments(frame)

    @property
    def signature(self) -> str:
        """How the world was made, in one line."""
        size = {"systems": len(self.systems), "segments": self.segments.height}
        return signature(
            "world", self.profile.name, **size, raters=len(self.raters), seed=self.seed
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per system: what it was made for and what it came out as."""
        truth = self.truth()
        return pl.DataFrame(
            {
                "system": self.systems,
                "expected": [self.expected[name] for name in self.systems],
                "truth": [truth[name] for name in self.systems],
            }
        )

    def to_dict(self) -> dict[str, object]:
        """The world's size, seed and systems, for ``--json``."""
        return result_dict(
            "world",
            self.signature,
            profile=self.profile,
            raters=self.raters,
            segments=self.segments.height,
            seed=self.seed,
            systems=self.to_frame().to_dicts(),
        )

    def _rows(
        self, system: NDArray[np.intp], segment: NDArray[np.intp], rater: NDArray[np.intp]
    ) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "doc": self.segments["doc"].gather(segment),
                "seg": self.segments["seg"].gather(segment),
                "rater": pl.Series(self.raters, dtype=pl.String).gather(rater),
            }
        )

    def _asked(self, sample: Sample | None) -> NDArray[np.bool_]:
        if sample is None:
            return np.ones(self.scores.shape[:2], dtype=bool)
        return np.asarray(np.isfinite(sample.probabilities(self.test_set)))

    def _raters(self, raters: Sequence[str] | str | None) -> NDArray[np.intp]:
        wanted = self.raters if raters is None else [raters] if isinstance(raters, str) else raters
        for name in wanted:
            if name not in self.raters:
                remedy = f"choose from {', '.join(self.raters)}"
                raise OptionError("raters", name, "is not a rater of this world", remedy)
        if not wanted:
            raise OptionError("raters", "()", "names nobody", "name a rater or leave it out")
        return np.array([self.raters.index(name) for name in wanted])

    def _check_judge(self, judgments: int, per_set: int, noise: float, tie: float) -> None:
        if judgments < 1:
            raise OptionError("judgments", judgments, "is not a number of them", "give at least 1")
        if not 2 <= per_set <= len(self.systems):
            remedy = f"give 2 to {len(self.systems)}, the number of systems"
            raise OptionError("per_set", per_set, "outputs cannot fill a screen", remedy)
        for name, value in (("noise", noise), ("tie", tie)):
            if not value >= 0:
                raise OptionError(name, value, "is not a distance", "give 0 or more")
