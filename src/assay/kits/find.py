"""Find kits of pieces that are as alike as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import InputError, OptionError, need_count
from assay.kits.pieces import Pieces, split_sentences
from assay.kits.results import Kit, KitPiece, KitSet, Limits
from assay.kits.search import (
    Found,
    PairStream,
    PointPairs,
    closest_kits,
    dbscan,
    diameters,
    knee_place,
    nearest_distances,
)
from assay.kits.terms import TermBook, choose_methods
from assay.results import Note
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded

MOST_SETS = 100_000
"""The percentile is over all sets if there are at most this many, else over as many random ones."""
MODES = ("closest", "dbscan")


@dataclass
class _Search:
    """One search: the pieces as points, and the limits on pairs."""

    pieces: Pieces
    points: NDArray[np.float64]
    size: int
    limits: Limits
    book: TermBook | None
    groups: NDArray[np.int64] | None
    near: PointPairs = field(init=False)
    lengths: NDArray[np.float64] | None = field(init=False)
    refused: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.near = PointPairs(self.points)
        lengths = self.pieces.lengths
        self.lengths = lengths if lengths.all() else None

    def run(self, count: int, *, without: str = "", runner_up: bool = True) -> list[Found]:
        """Find the closest kits; ``without`` names a limit to ignore."""
        ratio = np.inf if without == "length" else self.limits.length_ratio
        stream = PairStream(self.near, self.lengths, ratio, self.groups)
        checks = None if self.book is None else _TermBits(self.book, without)
        kits = closest_kits(
            iter(stream), size=self.size, kits=count, checks=checks, runner_up=runner_up
        )
        self.refused = stream.refused
        return kits

    def diameters_without(self, *, length: bool) -> dict[str, float]:
        """By limit, the diameter of the closest kit without it, if there is one."""
        names = ["length"] if length else []
        if self.book is not None:
            limits = ("shared", "density")
            names += [name for name in limits if getattr(self.limits, name) is not None]
        refused = self.refused
        kits = {name: self.run(1, without=name, runner_up=False) for name in names}
        self.refused = refused
        return {name: kit[0].diameter for name, kit in kits.items() if kit}


class _TermBits:
    """The methods that accept a pair, possibly without one of the limits on terms."""

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
    count: int = 1,
    mode: Literal["closest", "dbscan"] = "closest",
    eps: float | None = None,
    length_tolerance: float | None = 0.1,
    shared: float | None = 0.2,
    density: float | None = 1.3,
    methods: Sequence[str] | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> KitSet:
    """Find ``count`` disjoint kits of ``size`` pieces that are as alike as possible.

    The first kit has the smallest diameter (largest distance between two of its pieces, features
    scaled to 0..1) of all that meet the limits; each further kit has the smallest of the rest. With
    mode ``dbscan`` (korotaev2022) kits lie inside a cluster of DBSCAN with radius ``eps``, by
    default the knee of the sorted distances to the nearest neighbour.

    Limits (None: no limit): words within ±``length_tolerance`` of a common length; at most the
    share ``shared`` of the best terms in common to two pieces, and occurring at most ``density``
    times as often in one as in the other, by more than half of the ``methods`` of
    :mod:`assay.kits.terms` (default: all). rng: draws random sets for the percentile if there are
    too many to try all. progress: called for every piece whose terms are extracted, which takes
    most of the time.

    >>> import assay, numpy as np
    >>> from assay.kits.pieces import pieces_from_features
    >>> points = np.random.default_rng(0).random((40, 2))
    >>> found = assay.find_kits(pieces_from_features(points), size=3, rng=0)
    >>> [(kit.pieces, round(kit.diameter, 3)) for kit in found.kits]
    [((17, 20, 21), 0.076)]
    """
    _check(pieces, size, count, mode, eps)
    generator, seed = seeded(rng)
    limits = _limits(length_tolerance, shared, density)
    points, notes = _scaled(pieces)
    book, more = _term_book(pieces, limits, methods, progress)
    distances = nearest_distances(points)
    place = knee_place(distances)
    knee = None if place is None else float(distances[place])
    groups, eps = _clusters(points, mode, eps, knee, size)
    search = _Search(pieces, points, size, limits, book, groups)
    kits = search.run(count)
    shortfall = _shortfall(search, len(kits), count)
    return KitSet(
        mode=mode,
        size=size,
        wanted=count,
        seed=seed,
        settings=pieces.settings,
        limits=limits,
        methods=tuple(book.methods) if book else (),
        pieces=_placed(pieces, points),
        kits=_describe(search, kits, generator),
        knee=knee,
        eps=eps,
        clusters=_members(groups),
        distances=tuple(distances.tolist()),
        notes=(*pieces.notes, *notes, *more, *shortfall),
    )


def kit_texts(found: KitSet, pieces: Pieces) -> pl.DataFrame:
    r"""The sentences of the kits to translate: kit, doc, seg, paragraph, source.

    ``pieces`` are those in which the kits were found.

    >>> import assay, pathlib, tempfile
    >>> book = pathlib.Path(tempfile.mkdtemp()) / "book.txt"
    >>> lines = [f"The {name} sat on the mat. It was very glad." for name in ("cat", "dog", "hen")]
    >>> _ = book.write_text("\n\n".join(lines))
    >>> pieces = assay.read_pieces(book, words=8, language="xx", shortest=1)
    >>> kits = assay.find_kits(pieces, size=2, shared=None, density=None, rng=1)
    >>> assay.kit_texts(kits, pieces).select("kit", "doc", "seg").rows()
    [(1, 'piece 0', 1), (1, 'piece 0', 2), (1, 'piece 1', 1), (1, 'piece 1', 2)]
    """
    rows = [
        (number, f"piece {k}", place, source)
        for number, kit in enumerate(found.kits, start=1)
        for k in kit.pieces
        for place, paragraph in enumerate(
            pieces.pieces[k].paragraphs, start=pieces.pieces[k].first
        )
        for source in split_sentences(paragraph)
    ]  # fmt: skip
    schema = {"kit": int, "doc": str, "paragraph": int, "source": str}
    seg = pl.int_range(1, pl.len() + 1).over("doc").alias("seg")
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(seg)
    return frame.select("kit", "doc", "seg", "paragraph", "source")


def _check(pieces: Pieces, size: int, count: int, mode: str, eps: float | None) -> None:
    if mode not in MODES:
        raise OptionError("mode", mode, "is not a mode", f"choose {' or '.join(MODES)}")
    if size < 2:
        raise OptionError("size", size, "is too few for a kit", "give at least 2 pieces")
    need_count("count", count, "kits")
    if eps is not None and mode != "dbscan":
        raise OptionError(
            "eps", eps, "is for the mode dbscan", "leave it out, or set `mode` to dbscan"
        )
    if eps is not None and not 0 < eps < np.inf:
        raise OptionError("eps", eps, "is not a radius", "give a number above 0")
    if len(pieces) < size * count:
        number = f"{len(pieces)} piece{'s' if len(pieces) != 1 else ''}"
        raise InputError(
            f"{number} cannot make {count} kit{'s' if count > 1 else ''} of {size};"
            " give more text, shorter pieces or ask for less"
        )


def _limits(length: float | None, shared: float | None, density: float | None) -> Limits:
    if length is not None and not 0 <= length < 1:
        raise OptionError("length_tolerance", length, "is not a share", "give 0.1 for ±10%")
    if shared is not None and not 0 <= shared <= 1:
        raise OptionError("shared", shared, "is not a share", "give a number from 0 to 1")
    if density is not None and not 1 <= density < np.inf:
        raise OptionError("density", density, "is not a ratio", "give a number from 1 up")
    return Limits(length, shared, density)


def _scaled(pieces: Pieces) -> tuple[NDArray[np.float64], list[Note]]:
    """Scale every feature from 0 to 1; a constant one becomes 0."""
    low, spread = pieces.features.min(axis=0), np.ptp(pieces.features, axis=0)
    constant = [name for name, width in zip(pieces.names, spread, strict=True) if width == 0]
    points = (pieces.features - low) / np.where(spread == 0, 1.0, spread)
    text = f"features ignored, being equal in all pieces: {', '.join(constant)}"
    return points, [Note("constant-features", text)] if constant else []


def _placed(pieces: Pieces, points: NDArray[np.float64]) -> tuple[KitPiece, ...]:
    rows = zip(pieces.pieces, pieces.features.tolist(), _principal(points).tolist(), strict=True)
    return tuple(
        KitPiece(
            number, item.doc, item.first, item.last, item.words, len(item.sentences),
            dict(zip(pieces.names, features, strict=True)), (place[0], place[1]),
        )
        for number, (item, features, place) in enumerate(rows)
    )  # fmt: skip


def _term_book(
    pieces: Pieces, limits: Limits, methods: Sequence[str] | None, progress: Progress
) -> tuple[TermBook | None, list[Note]]:
    if limits.shared is None and limits.density is None:
        return None, [Note("no-terms", "terms were not compared: there is no limit on them")]
    if not pieces.has_text:
        if methods:
            raise OptionError("methods", ",".join(methods), "need text", "give pieces with text")
        return None, [Note("no-terms", "terms were not compared: the pieces have no text")]
    chosen = choose_methods(methods)
    if not chosen:
        raise OptionError("methods", "", "names none", "name at least one method")
    return TermBook(pieces, chosen, limits, progress), []


def _clusters(
    points: NDArray[np.float64], mode: str, eps: float | None, knee: float | None, size: int
) -> tuple[NDArray[np.int64] | None, float | None]:
    if mode != "dbscan":
        return None, None
    if eps is None and knee is None:
        raise InputError(
            "the distances to the nearest neighbour have no knee (too few pieces, or equal ones);"
            " give `eps`, or set `mode` to closest"
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


def _shortfall(search: _Search, kits: int, wanted: int) -> list[Note]:
    """Note that there are too few kits, which limits refused them, and what would help."""
    if kits == wanted:
        return []
    limits, reasons = search.limits, []
    if search.groups is not None:
        reasons.append(f"{search.groups.max() + 1} clusters have {sum(search.groups >= 0)} pieces")
    if search.refused:
        reasons.append(f"length (±{limits.length:.0%}) rules out {search.refused:,} pairs")
    if search.book is not None and search.book.extracted:
        terms = []
        if limits.shared is not None:
            terms.append(f"shared (at most {limits.shared:.0%} of the terms)")
        if limits.density is not None:
            terms.append(f"density (at most {limits.density:g}-fold)")
        reasons.append(f"{' and '.join(terms)} leave too few of the others")
    remedy = "widen a limit, or take more text" if kits else _remedy(search)
    refused = f" ({'; '.join(reasons)})" if reasons else ""
    text = f"{kits} of {wanted} kits of {search.size} pieces meet the limits{refused}: {remedy}"
    return [Note("too-few-kits", text)]


def _remedy(search: _Search) -> str:
    """Name the limits that each prevent a kit on their own, or another remedy."""
    alone = search.diameters_without(length=search.refused > 0)
    if alone:
        return f"without {' or '.join(alone)} there would be one; widen it, or take more text"
    if search.groups is not None:
        return "a larger radius, the mode closest, or more text would help"
    return "no single limit prevents one; widen several, ask for fewer pieces, or take more text"


def _describe(search: _Search, kits: list[Found], rng: np.random.Generator) -> tuple[Kit, ...]:
    if not kits:
        return ()
    others = np.sort(_other_sets(search.points, search.size, rng))
    return tuple(
        _kit(search, item, others, _binding(search, item) if number == 0 else {})
        for number, item in enumerate(kits)
    )


def _kit(
    search: _Search, item: Found, others: NDArray[np.float64], binding: dict[str, float]
) -> Kit:  # fmt: skip
    checks = () if search.book is None else search.book.check(item.members)
    telling = [check for check in checks if check.accepted and check.method != "bigrams"]
    lengths = None if search.lengths is None else search.lengths[list(item.members)]
    # Slightly more, or rounding could exclude the kit itself.
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
    """The diameters of all sets of this size, or of random ones if there are too many."""
    count = len(points)
    if comb(count, size) <= MOST_SETS:
        return diameters(points, np.array(list(combinations(range(count), size))))
    sets = rng.integers(count, size=(MOST_SETS, size))
    while True:
        ordered = np.sort(sets, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not twice.any():
            return diameters(points, sets)
        sets[twice] = rng.integers(count, size=(int(twice.sum()), size))


def _binding(search: _Search, item: Found) -> dict[str, float]:
    """The limits without which the first kit would be closer, with its diameter then."""
    closest = search.diameters_without(length=search.refused > 0)
    return {name: size for name, size in closest.items() if size < item.diameter * (1 - 1e-12)}


def _principal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first two principal components of every piece, with signs fixed by the loadings."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    places = centred @ axes.T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
