"""Kits of pieces that are as alike as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, OptionError
from assay.kits.clusters import dbscan, knee_place, nearest_distances
from assay.kits.kitset import Kit, KitSet
from assay.kits.likeness import Limits, TermBook
from assay.kits.pieces import Pieces
from assay.kits.search import Found, Neighbours, PairStream, closest_kits, diameters
from assay.kits.terms import choose_methods
from assay.stats.random import Rng, seeded

ALL_SETS = 100_000
"""Up to this many sets the percentile is over all of them, else over as many random ones."""
MODES = ("closest", "dbscan")


@dataclass
class _Task:
    """One search: where the pieces lie, and what keeps two of them apart."""

    pieces: Pieces
    points: NDArray[np.float64]
    size: int
    limits: Limits
    book: TermBook | None
    groups: NDArray[np.int64] | None
    near: Neighbours = field(init=False)
    lengths: NDArray[np.float64] | None = field(init=False)
    refused: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.near = Neighbours(self.points)
        lengths = self.pieces.lengths
        self.lengths = lengths if lengths.all() else None

    def run(self, kits: int, *, without: str = "", runner_up: bool = True) -> list[Found]:
        ratio = np.inf if without == "length" else self.limits.length_ratio
        stream = PairStream(self.near, self.lengths, ratio, self.groups)
        checks = None if self.book is None else _TermBits(self.book, without)
        found = closest_kits(
            iter(stream), size=self.size, kits=kits, checks=checks, runner_up=runner_up
        )
        self.refused = stream.refused
        return found


class _TermBits:
    """The methods that accept a pair, with or without one of the two limits on terms."""

    def __init__(self, book: TermBook, without: str) -> None:
        self.book = book
        self.needed = book.needed
        self.without = without

    def accepting(self, left: int, right: int) -> int:
        shared, density = self.book.accepting(left, right)
        every = (1 << len(self.book.methods)) - 1
        shared = every if self.without == "shared" else shared
        return shared & (every if self.without == "density" else density)


def find_kits(
    pieces: Pieces,
    *,
    size: int = 3,
    kits: int = 1,
    mode: Literal["closest", "dbscan"] = "closest",
    eps: float | None = None,
    length: float | None = 0.1,
    shared: float | None = 0.2,
    density: float | None = 1.3,
    methods: Sequence[str] | None = None,
    rng: Rng = None,
    tick: Callable[[], None] = lambda: None,
) -> KitSet:
    """Find ``kits`` disjoint kits of ``size`` pieces that are as alike as possible.

    The first kit has the smallest diameter (largest distance between two of its pieces, features
    scaled to 0..1) of all that meet the limits; each further kit the smallest of what is left.
    Mode ``dbscan`` is korotaev2022's: kits lie inside a cluster of DBSCAN with radius ``eps``, by
    default the knee of the sorted distances to the nearest neighbour.

    Limits, None for none: words within ±``length`` of a common length; two pieces have at most the
    share ``shared`` of their best terms in common, and these occur at most ``density`` times as
    often in one as in the other, by more than half of the ``methods`` of :mod:`assay.kits.terms`
    (default: all that can be used). ``rng`` draws the random sets of the percentile where there
    are too many to go through. ``tick`` is called after every piece whose terms were looked for,
    at most as often as there are pieces: that takes most of the time.

    >>> import assay, numpy as np
    >>> from assay.kits.pieces import pieces_from_features
    >>> points = np.random.default_rng(0).random((40, 2))
    >>> found = assay.find_kits(pieces_from_features(points), size=3, rng=0)
    >>> [(kit.pieces, round(kit.diameter, 3)) for kit in found.kits]
    [((17, 20, 21), 0.076)]
    """
    _check(pieces, size, kits, mode, eps)
    generator, seed = seeded(rng)
    limits = _limits(length, shared, density)
    points, notes = _scaled(pieces)
    book, left_out = _term_book(pieces, limits, methods, tick)
    distances = nearest_distances(points)
    place = knee_place(distances)
    knee = None if place is None else float(distances[place])
    groups, eps = _clusters(points, mode, eps, knee, size)
    task = _Task(pieces, points, size, limits, book, groups)
    found = task.run(kits)
    notes += left_out + _shortfall(task, found, kits)
    return KitSet(
        kits=_describe(task, found, generator),
        pieces=pieces,
        size=size,
        wanted=kits,
        mode=mode,
        limits=limits,
        methods=tuple(book.methods) if book else (),
        knee=knee,
        eps=eps,
        clusters=_members(groups),
        distances=distances,
        places=_principal(points),
        seed=seed,
        notes=(*pieces.notes, *notes),
    )


def _check(pieces: Pieces, size: int, kits: int, mode: str, eps: float | None) -> None:
    if mode not in MODES:
        raise OptionError("mode", mode, "is no mode", f"choose {' or '.join(MODES)}")
    if size < 2:
        raise OptionError("size", size, "is no kit", "give at least 2 pieces")
    if kits < 1:
        raise OptionError("kits", kits, "is no number of kits", "give at least 1")
    if eps is not None and mode != "dbscan":
        raise OptionError("eps", eps, "is for the mode dbscan", "leave it out or set mode dbscan")
    if eps is not None and not 0 < eps < np.inf:
        raise OptionError("eps", eps, "is no radius", "give a number above 0")
    if len(pieces) < size * kits:
        count = f"{len(pieces)} piece{'s' if len(pieces) != 1 else ''}"
        raise InputError(
            f"{count} cannot make {kits} kit{'s' if kits > 1 else ''} of {size};"
            " give more text, shorter pieces or ask for less"
        )


def _limits(length: float | None, shared: float | None, density: float | None) -> Limits:
    if length is not None and not 0 <= length < 1:
        raise OptionError("length", length, "is no share", "give 0.1 for ±10 %")
    if shared is not None and not 0 <= shared <= 1:
        raise OptionError("shared", shared, "is no share", "give a number from 0 to 1")
    if density is not None and not 1 <= density < np.inf:
        raise OptionError("density", density, "is no ratio", "give a number from 1 up")
    return Limits(length, shared, density)


def _scaled(pieces: Pieces) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Every feature from 0 to 1; one that never varies says nothing and becomes 0."""
    low, spread = pieces.features.min(axis=0), np.ptp(pieces.features, axis=0)
    constant = [name for name, width in zip(pieces.names, spread, strict=True) if width == 0]
    points = (pieces.features - low) / np.where(spread == 0, 1.0, spread)
    notes = (f"the same in all pieces: {', '.join(constant)}",) if constant else ()
    return points, notes


def _term_book(
    pieces: Pieces, limits: Limits, methods: Sequence[str] | None, tick: Callable[[], None]
) -> tuple[TermBook | None, tuple[str, ...]]:
    if limits.shared is None and limits.density is None:
        return None, ("terms were not compared: there is no limit on them",)
    if not pieces.has_text:
        if methods:
            raise OptionError("methods", ",".join(methods), "need text", "give pieces with text")
        return None, ("terms were not compared: the pieces have no text",)
    chosen, notes = choose_methods(methods, pieces.language)
    if not chosen:
        raise OptionError("methods", "", "names none", "name at least one method")
    return TermBook(pieces, chosen, limits, tick), notes


def _clusters(
    points: NDArray[np.float64], mode: str, eps: float | None, knee: float | None, size: int
) -> tuple[NDArray[np.int64] | None, float | None]:
    if mode != "dbscan":
        return None, None
    if eps is None and knee is None:
        raise InputError(
            "the distances to the nearest neighbour have no knee (too few or equal pieces);"
            " give eps, or use the mode closest"
        )
    radius = eps if eps is not None else knee
    assert radius is not None
    return dbscan(points, radius, size), radius


def _members(groups: NDArray[np.int64] | None) -> tuple[tuple[int, ...], ...]:
    if groups is None:
        return ()
    return tuple(
        tuple(np.flatnonzero(groups == number).tolist()) for number in range(groups.max() + 1)
    )


def _shortfall(task: _Task, found: list[Found], kits: int) -> tuple[str, ...]:
    """How many kits there are too few, which limits refused them, and what would help."""
    if len(found) == kits:
        return ()
    limits, reasons = task.limits, []
    if task.groups is not None:
        reasons.append(f"{task.groups.max() + 1} clusters have {sum(task.groups >= 0)} pieces")
    if task.refused:
        reasons.append(f"length (±{limits.length:.0%}) refuses {task.refused} pairs")
    if task.book is not None and task.book.extracted:
        terms = []
        if limits.shared is not None:
            terms.append(f"shared (at most {limits.shared:.0%} of the terms)")
        if limits.density is not None:
            terms.append(f"density (at most {limits.density:g}-fold)")
        reasons.append(f"{' and '.join(terms)} leave too few of the others")
    remedy = "widen a limit, or take more text" if found else _remedy(task)
    refused = f" ({'; '.join(reasons)})" if reasons else ""
    return (
        f"{len(found)} of {kits} kits of {task.size} pieces meet the limits{refused}: {remedy}",
    )


def _remedy(task: _Task) -> str:
    """The limits of which each alone, left out, would let a kit through."""
    names = ["length"] if task.refused else []
    if task.book is not None:
        names += [name for name in ("shared", "density") if getattr(task.limits, name) is not None]
    refused = task.refused
    alone = [name for name in names if task.run(1, without=name, runner_up=False)]
    task.refused = refused
    if alone:
        return f"without {' or '.join(alone)} there would be one; widen it, or take more text"
    if task.groups is not None:
        return "give a larger eps, use the mode closest, or take more text"
    return "no limit alone is in the way; widen several, ask for fewer pieces, or take more text"


def _describe(task: _Task, found: list[Found], rng: np.random.Generator) -> tuple[Kit, ...]:
    if not found:
        return ()
    others = np.sort(_other_sets(task.points, task.size, rng))
    return tuple(
        _kit(task, item, others, _binding(task, item) if number == 0 else {})
        for number, item in enumerate(found)
    )


def _kit(
    task: _Task, item: Found, others: NDArray[np.float64], binding: dict[str, float]
) -> Kit:  # fmt: skip
    checks = () if task.book is None else task.book.check(item.members)
    telling = [check for check in checks if check.accepted and check.method != "bigrams"]
    lengths = None if task.lengths is None else task.lengths[list(item.members)]
    # A hair's breadth more, or rounding could leave the kit itself out.
    closer = int(np.searchsorted(others, item.diameter * (1 + 1e-12), side="right"))
    return Kit(
        pieces=item.members,
        diameter=item.diameter,
        percentile=100 * max(closer, 1) / len(others),
        shared_terms=max((check.shared_terms for check in telling), default=None),
        density_ratio=max((check.density_ratio for check in telling), default=None),
        length_ratio=None if lengths is None else float(lengths.max() / lengths.min()),
        terms=checks,
        binding=binding,
        runner_up=item.runner_up,
        runner_up_diameter=item.runner_up_diameter,
    )


def _other_sets(
    points: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The diameters of all sets of as many pieces, or of random ones where they are too many."""
    count = len(points)
    if comb(count, size) <= ALL_SETS:
        return diameters(points, np.array(list(combinations(range(count), size))))
    sets = rng.integers(count, size=(ALL_SETS, size))
    while True:
        ordered = np.sort(sets, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not twice.any():
            return diameters(points, sets)
        sets[twice] = rng.integers(count, size=(int(twice.sum()), size))


def _binding(task: _Task, item: Found) -> dict[str, float]:
    """The limits without which the first kit would be closer, and how close."""
    names = ["length"] if task.limits.length is not None and task.refused else []
    if task.book is not None:
        names += [name for name in ("shared", "density") if getattr(task.limits, name) is not None]
    found = {}
    for name in names:
        closer = task.run(1, without=name, runner_up=False)
        if closer and closer[0].diameter < item.diameter * (1 - 1e-12):
            found[name] = closer[0].diameter
    return found


def _principal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every piece on the first two principal components, their signs fixed by the loadings."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    places = centred @ axes.T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
