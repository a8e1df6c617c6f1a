"""Making a world: documents, systems of known quality, raters, metrics, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from assay.errors import OptionError
from assay.stats.random import Rng, seeded
from assay.tables.check import RESERVED
from assay.tables.test_set import TestSet, read_scores
from assay.worlds.latent import Layout, State, draw, reachable, shifts
from assay.worlds.metrics import greatest_correlation, metric, metric_errors, scaled
from assay.worlds.profiles import PROFILES, Profile
from assay.worlds.texts import write
from assay.worlds.world import World

DOMAINS = ("news", "social", "speech", "reviews")


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
    """A simulated world, by default like the MQM ratings of WMT20 (see ``docs/worlds.md``).

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
    layout, sizes, words = _layout(model, expected, humans, documents, raters, domains, generator)
    wanted = np.array(list(expected.values()))
    state = draw(model, layout, shifts(model, wanted), generator)
    names = model.metrics if metrics is None else metrics
    values = _metrics(names, model, layout, state, generator)
    chances = generator.random((*state.scores.shape, state.kinds.shape[-1]), dtype=np.float32)
    spots = generator.random(state.quality.shape)
    written = write(words, ndtr(-1.6 - 0.6 * state.quality), generator) if texts else None
    table = _table(tuple(expected), layout, sizes, words, domains, values, written)
    return World(
        test_set=table,
        profile=model,
        raters=tuple(f"rater-{i + 1}" for i in range(raters)),
        expected=MappingProxyType(expected),
        scores=state.scores,
        badness=state.badness,
        kinds=state.kinds,
        chances=chances,
        spots=spots,
        targets=None if written is None else tuple(tuple(row) for row in written[1]),
        seed=seed,
    )


def _checked(
    profile: str | Profile,
    systems: int | Mapping[str, float],
    humans: int,
    documents: int | Sequence[int],
    raters: int,
    domains: Sequence[str],
) -> Profile:
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
        raise OptionError(
            "documents",
            min(documents),
            "is no number of segments",
            "give every document one or more",
        )
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
    """Name -> expected score; people first, counted machines in an order that tells nothing."""
    found = {f"human-{i + 1}": x for i, x in enumerate(_spread(profile.humans, humans))}
    if isinstance(systems, Mapping):
        return found | {str(name): float(score) for name, score in systems.items()}
    width = len(str(systems))
    scores = rng.permutation(_spread(profile.machines, systems))
    return found | {f"system-{i + 1:0{width}}": float(x) for i, x in enumerate(scores)}


def _spread(ladder: Sequence[float], count: int) -> list[float]:
    """``count`` values as far apart as the ladder's; a single one is its median."""
    if count == 1:
        return [float(np.median(ladder))]
    places = np.linspace(0, len(ladder) - 1, count)
    return [float(x) for x in np.interp(places, np.arange(len(ladder)), ladder)]


def _layout(
    profile: Profile,
    expected: Mapping[str, float],
    humans: int,
    documents: int | Sequence[int],
    raters: int,
    domains: Sequence[str],
    rng: Generator,
) -> tuple[Layout, NDArray[np.intp], NDArray[np.intp]]:
    """The layout, and the segments of every document and the words of every segment."""
    if isinstance(documents, int):
        sizes = _lengths(profile.document_segments, rng.standard_normal(documents))
    else:
        sizes = np.asarray(documents, dtype=np.intp)
    length = rng.standard_normal(int(sizes.sum()))
    layout = Layout(
        systems=len(expected),
        raters=raters,
        document=np.repeat(np.arange(len(sizes)), sizes),
        domain=rng.permutation(np.arange(len(sizes)) % len(domains)),
        length=length,
        human=np.arange(len(expected)) < humans,
    )
    return layout, sizes, _lengths(profile.segment_words, length)


def _lengths(shape: tuple[float, float, int], normal: NDArray[np.float64]) -> NDArray[np.intp]:
    median, spread, least = shape
    return np.maximum(least, np.rint(median * np.exp(spread * normal))).astype(np.intp)


def _metrics(
    wanted: Mapping[str, float], profile: Profile, layout: Layout, state: State, rng: Generator
) -> dict[str, NDArray[np.float64]]:
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


def _table(
    systems: tuple[str, ...],
    layout: Layout,
    sizes: NDArray[np.intp],
    words: NDArray[np.intp],
    domains: Sequence[str],
    metrics: Mapping[str, NDArray[np.float64]],
    written: tuple[list[str], list[list[str]]] | None,
) -> TestSet:
    width, times = len(str(len(sizes))), len(systems)
    domain = np.array(domains)[layout.domain]
    names = np.array([f"{d}-{i + 1:0{width}}" for i, d in enumerate(domain.tolist())])
    columns: dict[str, object] = {
        "system": np.repeat(systems, layout.segments).tolist(),
        "doc": np.tile(names[layout.document], times).tolist(),
        "seg": [str(i + 1) for i in range(layout.segments)] * times,
    }
    if written is not None:
        columns |= {"source": written[0] * times, "target": [t for row in written[1] for t in row]}
    columns |= {
        "words": np.tile(words, times),
        "domain": np.tile(domain[layout.document], times).tolist(),
    }
    columns |= {name: values.ravel() for name, values in metrics.items()}
    return read_scores(pl.DataFrame(columns), metrics=tuple(metrics))
