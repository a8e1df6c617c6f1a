"""What is said about kits: those found, who edits what, what was built and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from assay.results import Note, Result, signature


@dataclass(frozen=True, slots=True)
class Limits:
    """How much two pieces of a kit may differ or share.

    ``length``: all within ±this share of a common length; ``shared``: share of their best terms;
    ``density``: ratio of the terms' occurrences. None: no limit.
    """

    length: float | None = 0.1
    shared: float | None = 0.2
    density: float | None = 1.3

    @property
    def length_ratio(self) -> float:
        """The longest over the shortest: (1 + x) / (1 - x)."""
        return float("inf") if self.length is None else (1 + self.length) / (1 - self.length)


@dataclass(frozen=True, slots=True)
class TermCheck:
    """One method's verdict on a kit: the worst pair decides."""

    method: str
    shared_terms: float
    density_ratio: float
    accepted: bool


@dataclass(frozen=True, slots=True)
class KitPiece:
    """One piece of the corpus: where it stands, its features and its place in the figure.

    ``place`` is on the first two principal components of the features.
    """

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

    ``diameter``: the largest distance between two of them, features scaled to 0..1;
    ``percentile``: the share of all sets of as many pieces that are as close or closer, in percent.
    ``shared_terms`` and ``density_ratio`` are those of the worst pair, the largest among the
    methods that accept the kit (bigrams aside, which have limits of their own); ``terms`` has
    every method. ``binding``: limits without which there would be a closer kit, with its diameter.
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
    """Kits of pieces, and the settings they were found with.

    ``pieces`` are all pieces of the corpus. ``knee`` is that of the sorted distances to the nearest
    neighbour (``distances``); ``clusters`` are those of the mode ``dbscan``.
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
        """How the kits were found."""
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
        """A row per piece of a kit, kits counted from 1."""
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
    """How often things meet; a table is balanced if all its counts are equal."""

    system_document: tuple[tuple[int, ...], ...]
    """Rows are systems, columns documents."""
    system_position: tuple[tuple[int, ...], ...]
    document_position: tuple[tuple[int, ...], ...]
    carry_over: tuple[tuple[int, ...], ...]
    """How often the column's system comes right after the row's."""
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
    """How many editors make the design complete; any multiple does too."""
    balance: Balance
    seed: int | None
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """How the kits were dealt out."""
        return signature(
            "kits", self.design, systems=len(self.systems), editors=len(self.editors),
            seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """A row for each editor and document: ``editor, position, doc, system``."""
        rows = [(item.editor, item.position, item.document, item.system) for item in self.kits]
        return pl.DataFrame(rows, schema=["editor", "position", "doc", "system"], orient="row")


@dataclass(frozen=True, slots=True)
class Trace:
    """How like a system's output the human translation is."""

    system: str
    segments: int
    """Segments compared: those of at least five words."""
    similarity: float
    """100 - edit distance, on average."""
    near: tuple[str, ...]
    """Segments (document:segment) that are nearly the system's."""
    suspect: bool


@dataclass(frozen=True, slots=True)
class BuiltKits(Result, kind="kits-built"):
    """What was written: a file per editor and format, the instructions, the key."""

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
        """What was written."""
        return signature("kits-built", "+".join(self.formats), editors=self.editors)


@dataclass(frozen=True, slots=True)
class CollectedKits(Result, kind="kits-collected"):
    """What came back, joined with the key and written as a table of edits."""

    rows: int
    editors: tuple[str, ...]
    written: tuple[Path, ...]
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """What came back."""
        return signature("kits-collected", editors=len(self.editors))
