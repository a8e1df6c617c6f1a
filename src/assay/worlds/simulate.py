"""Simulate a world in which every rater's answer to every question is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, comb
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from assay.errors import OptionError
from assay.results import signature
from assay.stats.random import Rng, as_rng, seeded
from assay.tables.answers import Errors, Judgments, read_errors, read_judgments
from assay.tables.schemas import RESERVED
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_scores
from assay.worlds.judgments import judgment_columns, screens
from assay.worlds.latent import (
    Floats,
    Ints,
    State,
    WorldLayout,
    draw,
    greatest_correlation,
    metric,
    metric_errors,
    reachable,
    scaled,
    shifts,
)  # fmt: skip
from assay.worlds.profiles import PROFILES, Profile
from assay.worlds.texts import SEVERITIES, rows, spans, write

DOMAINS = ("news", "social", "speech", "reviews")
HIGHEST = 25.0
"""The highest MQM score."""


@dataclass(frozen=True, eq=False)
class World:
    """A test set with the truth about it, made by :func:`assay.simulate`.

    Arrays have the axes systems, segments, raters. ``expected`` is the mean score that each system
    was made for, over all possible documents and raters; :meth:`truth` is that in this world.
    ``badness`` is the continuous value behind the scores, with sd 1 within systems.
    """

    test_set: TestSet
    profile: Profile
    raters: tuple[str, ...]
    expected: Mapping[str, float]
    scores: Floats
    badness: Floats
    kinds: NDArray[np.int8]
    """... x 5 marks: 0 none, 1 punctuation, 2 minor, 3 major, 4 no translation."""
    chances: NDArray[np.float32]  # ... x 5: decides the category of each mark
    spots: Floats  # systems x segments: decides where marks stand
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
        """Each system's mean over all segments: what a campaign that rates everything finds.

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
        """The raters' scores of the sample's segments (of all without a sample).

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
        """The errors that the raters mark; their weighted sums are exactly :meth:`rate`.

        Weights: non-translation 25, major 5, minor 1, minor punctuation 0.1. An output without
        errors has one row of category and severity ``No-error``. Offsets need ``texts=True``.
        """
        marks = rows(self.kinds, self.chances, self._asked(sample), self._raters(raters))
        frame = self._rows(marks.system, marks.segment, marks.rater).with_columns(
            category=pl.Series(marks.category.tolist(), dtype=pl.String),
            severity=pl.Series(np.array(SEVERITIES)[marks.kind].tolist(), dtype=pl.String),
        )
        if self.targets is not None:
            schema = {"start": pl.Int64, "end": pl.Int64}
            places = pl.DataFrame(spans(marks, self.targets, self.spots), schema, orient="row")
            frame = frame.with_columns(pl.lit("target").alias("side"), *places)
        return read_errors(frame, self.test_set)

    def judge(
        self, judgments: int, *, per_set: int = 5, noise: float = 0.3, tie: float = 0.16,
        rng: Rng = None,
    ) -> Judgments:  # fmt: skip
        """Pairwise judgments from screens of ``per_set`` outputs of one segment.

        A screen of 5 gives 10 judgments; the last one is cut where the number asks for it.
        Segment, rater and systems of a screen are random. The rater orders the outputs by their
        badness in that rater's eyes plus fresh normal ``noise``; neighbours less than ``tie``
        apart are tied. Both are in units of the badness, which has sd 1 inside a system.
        """
        self._check_judge(judgments, per_set, noise, tie)
        count = ceil(judgments / comb(per_set, 2))
        seen = screens(self.badness, count, per_set, noise=noise, tie=tie, rng=as_rng(rng))
        screen, columns = judgment_columns(seen, self.systems, self.raters)
        places = self.segments.select("doc", "seg")[seen.segment[screen]].to_dict()
        sets = {"set": (screen + 1).astype(str).tolist()}
        return read_judgments(pl.DataFrame(sets | places | columns)[:judgments])

    @property
    def signature(self) -> str:
        """The settings of the world, in one line."""
        return signature(
            "world", self.profile.name, systems=len(self.systems), segments=self.segments.height,
            raters=len(self.raters), seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per system: the score it was made for and its true score in this world."""
        truth = self.truth()
        rows = [(name, self.expected[name], truth[name]) for name in self.systems]
        return pl.DataFrame(rows, schema=["system", "expected", "truth"], orient="row")

    def _rows(self, system: Ints, segment: Ints, rater: Ints) -> pl.DataFrame:
        places = self.segments.select("doc", "seg")[segment]
        return places.select(
            pl.Series("system", self.systems, dtype=pl.String).gather(system),
            "doc",
            "seg",
            pl.Series("rater", self.raters, dtype=pl.String).gather(rater),
        )

    def _asked(self, sample: Sample | None) -> NDArray[np.bool_]:
        if sample is None:
            return np.ones(self.scores.shape[:2], dtype=bool)
        return np.asarray(np.isfinite(sample.probabilities(self.test_set)))

    def _raters(self, raters: Sequence[str] | str | None) -> Ints:
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


def simulate(
    *,
    profile: str | Profile = "en-de",
    systems: int | Mapping[str, float] = 8,
    humans: int = 0,
    documents: int | Sequence[int] = 100,
    metrics: Mapping[str, float] | None = None,
    raters: int = 3,
    domains: Sequence[str] = DOMAINS,
    texts: bool = False,
    rng: Rng = None,
) -> World:
    """Simulate a world, by default like the MQM ratings of WMT20 (see ``docs/worlds.md``).

    profile: "en-de", "zh-en", or a Profile of your own.
    systems: how many machine systems, with mean scores as far apart as the profile's, or the
        name and expected mean score of each. humans: human translations besides them.
    documents: how many, or the number of segments of each.
    metrics: name -> correlation with single ratings inside systems, 0 to 1; higher is better.
    domains: their names; documents are dealt out evenly. texts: with source and target.

    >>> world = simulate(profile="zh-en", systems=4, documents=30, metrics={"m": .5}, rng=3)
    >>> world.scores.shape[0], world.raters, world.test_set.metrics
    (4, ('rater-1', 'rater-2', 'rater-3'), ('m',))
    """
    model = _checked(profile, systems, humans, documents, raters, domains)
    generator, seed = seeded(rng)
    expected = _expected(model, systems, humans, generator)
    if isinstance(documents, int):
        sizes = _lengths(model.document_segments, generator.standard_normal(documents))
    else:
        sizes = np.asarray(documents, dtype=np.intp)
    length = generator.standard_normal(int(sizes.sum()))
    layout = WorldLayout(
        systems=len(expected),
        raters=raters,
        document=np.repeat(np.arange(len(sizes)), sizes),
        domain=generator.permutation(np.arange(len(sizes)) % len(domains)),
        length=length,
        human=np.arange(len(expected)) < humans,
    )
    words = _lengths(model.segment_words, length)
    state = draw(model, layout, shifts(model, np.array(list(expected.values()))), generator)
    names = model.metrics if metrics is None else metrics
    values = _metrics(names, model, layout, state, generator)
    chances = generator.random((*state.scores.shape, state.kinds.shape[-1]), dtype=np.float32)
    spots = generator.random(state.quality.shape)
    written = write(words, ndtr(-1.6 - 0.6 * state.quality), generator) if texts else None
    columns: dict[str, object] = {}
    if written is not None:
        targets = [text for row in written[1] for text in row]
        columns |= {"source": written[0] * len(expected), "target": targets}
    columns["words"] = np.tile(words, len(expected))
    return World(
        test_set=_test_set(tuple(expected), layout, domains, columns, values),
        profile=model,
        raters=tuple(f"rater-{i + 1}" for i in range(raters)),
        expected=MappingProxyType(expected),
        scores=state.scores, badness=state.badness, kinds=state.kinds, chances=chances, spots=spots,
        targets=None if written is None else tuple(tuple(row) for row in written[1]),
        seed=seed,
    )  # fmt: skip


def _checked(
    profile: str | Profile, systems: int | Mapping[str, float], humans: int,
    documents: int | Sequence[int], raters: int, domains: Sequence[str],
) -> Profile:  # fmt: skip
    if isinstance(profile, str) and profile not in PROFILES:
        remedy = f"choose from {', '.join(PROFILES)} or give a Profile"
        raise OptionError("profile", profile, "is not a profile", remedy)
    model = PROFILES[profile] if isinstance(profile, str) else profile
    counts = (
        ("systems", systems if isinstance(systems, int) else len(systems), 1),
        ("humans", humans, 0),
        ("documents", documents if isinstance(documents, int) else len(documents), 1),
        ("raters", raters, 1),
    )
    for name, value, least in counts:
        if value < least:
            raise OptionError(name, value, "is too few", f"give at least {least}")
    if not isinstance(documents, int) and min(documents) < 1:
        fault, remedy = "is not a number of segments", "give every document one or more"
        raise OptionError("documents", min(documents), fault, remedy)
    if isinstance(domains, str) or not domains or len(set(domains)) < len(domains):
        raise OptionError("domains", domains, "is not a list of different names", "name each once")
    if isinstance(systems, Mapping):
        low, high = reachable(model)
        for name, score in systems.items():
            if not low <= score <= high:
                fault = f"cannot be the mean score of '{name}'"
                raise OptionError("systems", score, fault, f"give {low:.2g} to {high:.3g}")
    return model


def _expected(
    profile: Profile, systems: int | Mapping[str, float], humans: int, rng: Generator
) -> dict[str, float]:
    """Name -> expected score; human translations first, counted machines in random order."""
    expected = {f"human-{i + 1}": x for i, x in enumerate(_spread(profile.humans, humans))}
    if isinstance(systems, Mapping):
        return expected | {str(name): float(score) for name, score in systems.items()}
    width = len(str(systems))
    scores = rng.permutation(_spread(profile.machines, systems))
    return expected | {f"system-{i + 1:0{width}}": float(x) for i, x in enumerate(scores)}


def _spread(ladder: Sequence[float], count: int) -> list[float]:
    """``count`` values spread like the ladder; a single value is its median."""
    if count == 1:
        return [float(np.median(ladder))]
    places = np.linspace(0, len(ladder) - 1, count)
    return [float(x) for x in np.interp(places, np.arange(len(ladder)), ladder)]


def _lengths(shape: tuple[float, float, int], normal: Floats) -> Ints:
    median, spread, least = shape
    return np.maximum(least, np.rint(median * np.exp(spread * normal))).astype(np.intp)


def _metrics(
    wanted: Mapping[str, float], profile: Profile, layout: WorldLayout, state: State, rng: Generator
) -> dict[str, Floats]:
    most = greatest_correlation(state.scores)
    if wanted and (most == 0 or layout.systems * (layout.segments - 1) < 3):
        fault = "cannot correlate with ratings so few or so equal"
        raise OptionError("metrics", ", ".join(wanted), fault, "give more documents or metrics={}")
    for name, value in wanted.items():
        if name in RESERVED:
            raise OptionError("metrics", name, "is the name of another column", "choose another")
        if not 0 <= value < most:
            fault = f"cannot be the correlation of '{name}' with single ratings of this world"
            raise OptionError("metrics", value, fault, f"give 0 or more and less than {most:.2f}")
    errors = metric_errors(len(wanted), profile, layout, rng)
    values = [
        metric(state.quality, error, state.scores, value)
        for error, value in zip(errors, wanted.values(), strict=True)
    ]
    return dict(zip(wanted, scaled(values), strict=True))


def _test_set(
    systems: tuple[str, ...], layout: WorldLayout, domains: Sequence[str],
    texts: Mapping[str, object], metrics: Mapping[str, Floats],
) -> TestSet:  # fmt: skip
    width, times = len(str(layout.documents)), len(systems)
    domain = np.array(domains)[layout.domain]
    names = np.array([f"{d}-{i + 1:0{width}}" for i, d in enumerate(domain.tolist())])
    columns: dict[str, object] = {
        "system": np.repeat(systems, layout.segments).tolist(),
        "doc": np.tile(names[layout.document], times).tolist(),
        "seg": [str(i + 1) for i in range(layout.segments)] * times,
        **texts,
        "domain": np.tile(domain[layout.document], times).tolist(),
        **{name: values.ravel() for name, values in metrics.items()},
    }
    return read_scores(pl.DataFrame(columns), metrics=tuple(metrics))
