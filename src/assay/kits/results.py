"""The results about kits: kits found, kit designs, kits built, kits collected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from assay.results import Note, Result, signature


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on two pieces of a kit (None: no limit).

    length: all within ± this share of a common length. shared: the share of best terms in common.
    density: the ratio of the terms' occurrences.
    """

    length: float | None = 0.1
    shared: float | None = 0.2
    density: float | None = 1.3

    @property
    def length_ratio(self) -> float:
        """The largest ratio of two lengths: (1 + length) / (1 - length)."""
        return float("inf") if self.length is None else (1 + self.length) / (1 - self.length)


@dataclass(frozen=True, slots=True)
class TermCheck:
    """One method's verdict on a kit, by its worst pair."""

    method: str
    shared_terms: float
    density_ratio: float
    accepted: bool


@dataclass(frozen=True, slots=True)
class KitPiece:
    """One piece of the corpus; ``place`` is on the first two principal components of features."""

    piece: int
    doc: str
    first: int
    last: int
    words: int
    sentences: int
    features: Mapping[str, float]
    place: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Kit:
    """Pieces that are alike, and how much.

    diameter: the largest distance between two of them, features scaled to 0..1. percentile: the
    percentage of all sets of this size that are as close or closer. shared_terms, density_ratio:
    those of the worst pair, the largest among the methods that accept the kit (except bigrams,
    which have separate limits). terms: the verdicts of all methods. binding: the limits without
    which there would be a closer kit, with its diameter.
    """

    pieces: tuple[int, ...]
    diameter: float
    percentile: float
    shared_terms: float | None
    density_ratio: float | None
    length_ratio: float | None
    terms: tuple[TermCheck, ...]
    binding: Mapping[str, float]
    runner_up: tuple[int, ...]
    runner_up_diameter: float | None


@dataclass(frozen=True, slots=True)
class KitSet(Result, kind="kits"):
    """Kits of pieces, and the settings of the search.

    pieces: all pieces of the corpus. knee: that of the sorted distances to the nearest neighbour
    (``distances``). clusters: those of the mode ``dbscan``.
    """

    mode: Literal["closest", "dbscan"]
    size: int
    wanted: int
    seed: int | None
    settings: Mapping[str, str | int]
    limits: Limits
    methods: tuple[str, ...]
    pieces: tuple[KitPiece, ...]
    kits: tuple[Kit, ...]
    knee: float | None
    eps: float | None
    clusters: tuple[tuple[int, ...], ...]
    distances: tuple[float, ...]
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The settings of the search, in one line."""
        return signature(
            "kits",
            self.mode,
            kits=f"{len(self.kits)}x{self.size}",
            pieces=len(self.pieces),
            features=",".join(self.pieces[0].features),
            profile=self.settings.get("profile"),
            eps=self.eps,
            length=self.limits.length,
            shared=self.limits.shared if self.methods else None,
            density=self.limits.density if self.methods else None,
            terms=",".join(self.methods) or None,
            seed=self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per piece of a kit; kits are numbered from 1."""
        schema = {"kit": int, "piece": int, "doc": str, "first": int, "last": int, "words": int}
        rows = [
            {"kit": number} | {name: getattr(piece, name) for name in list(schema)[1:]}
            | dict(piece.features)
            for number, kit in enumerate(self.kits, start=1)
            for piece in (self.pieces[k] for k in kit.pieces)
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=schema | dict.fromkeys(self.pieces[0].features, float))


@dataclass(frozen=True, slots=True)
class KitDocument:
    """One document of one editor's kit."""

    editor: str
    position: int
    document: str
    system: str


@dataclass(frozen=True, slots=True)
class Balance:
    """How often systems, documents and positions meet; a table is balanced if all are equal."""

    system_document: tuple[tuple[int, ...], ...]
    """Rows are systems, columns documents."""
    system_position: tuple[tuple[int, ...], ...]
    document_position: tuple[tuple[int, ...], ...]
    carry_over: tuple[tuple[int, ...], ...]
    """How often the column's system comes directly after the row's."""
    balanced: tuple[str, ...]
    """The names of the tables that are balanced."""


@dataclass(frozen=True, slots=True)
class KitDesign(Result, kind="kit-design"):
    """The kits of all editors, with the counts that prove their balance."""

    kits: tuple[KitDocument, ...]
    """Editor by editor, in the order of work."""
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    editors: tuple[str, ...]
    design: str
    block: int
    """The number of editors that completes the design; so does any multiple."""
    balance: Balance
    seed: int | None
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The settings of the design, in one line."""
        return signature(
            "kits", self.design, systems=len(self.systems), editors=len(self.editors),
            seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per editor and document: ``editor, position, doc, system``."""
        rows = [(item.editor, item.position, item.document, item.system) for item in self.kits]
        return pl.DataFrame(rows, schema=["editor", "position", "doc", "system"], orient="row")


@dataclass(frozen=True, slots=True)
class Trace:
    """The similarity of the human translation to a system's output."""

    system: str
    segments: int
    """The number of segments compared: those of at least five words."""
    similarity: float
    """The mean of 100 - edit distance."""
    near: tuple[str, ...]
    """Segments (document:segment) that are nearly identical to the system's."""
    suspect: bool


@dataclass(frozen=True, slots=True)
class BuiltKits(Result, kind="kits-built"):
    """The files written: one per editor and format, the instructions, the key."""

    folder: Path
    key: Path
    files: tuple[Path, ...]
    editors: int
    segments: int
    formats: tuple[str, ...]
    human: str | None
    traces: tuple[Trace, ...]
    warnings: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The kind of files, in one line."""
        return signature("kits-built", "+".join(self.formats), editors=self.editors)


@dataclass(frozen=True, slots=True)
class CollectedKits(Result, kind="kits-collected"):
    """The files sent back, joined with the key and written as a table of edits."""

    rows: int
    editors: tuple[str, ...]
    written: tuple[Path, ...]
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The number of editors, in one line."""
        return signature("kits-collected", editors=len(self.editors))
