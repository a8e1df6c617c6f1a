"""What a search for kits found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.kits.likeness import Limits, TermCheck
from assay.kits.pieces import Pieces, split_sentences
from assay.results import result_dict, signature


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
class KitSet:
    """Kits of pieces, and the settings they were found with.

    ``knee`` is that of the sorted distances to the nearest neighbour (``distances``); ``clusters``
    are those of the mode ``dbscan``. ``places`` puts every piece on the first two principal
    components.
    """

    kits: tuple[Kit, ...]
    pieces: Pieces
    size: int
    wanted: int
    mode: str
    limits: Limits
    methods: tuple[str, ...]
    knee: float | None
    eps: float | None
    clusters: tuple[tuple[int, ...], ...]
    distances: NDArray[np.float64]
    places: NDArray[np.float64]
    seed: int | None
    notes: tuple[str, ...]

    @property
    def signature(self) -> str:
        """How the kits were found."""
        limits = self.limits
        return signature(
            "kits",
            self.mode,
            kits=f"{len(self.kits)}x{self.size}",
            pieces=len(self.pieces),
            features=",".join(self.pieces.names),
            profile=self.pieces.settings.get("profile"),
            eps=self.eps,
            length=limits.length,
            shared=limits.shared if self.methods else None,
            density=limits.density if self.methods else None,
            terms=",".join(self.methods) or None,
            seed=self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """A row per piece of a kit, kits counted from 1."""
        rows = self.pieces.to_frame()
        chosen = [piece for kit in self.kits for piece in kit.pieces]
        numbers = [number for number, kit in enumerate(self.kits, start=1) for _ in kit.pieces]
        frame = rows[chosen] if chosen else rows.clear()
        return frame.insert_column(0, pl.Series("kit", numbers, dtype=pl.Int64))

    def texts(self) -> pl.DataFrame:
        """A row per sentence of the kits, to be translated: kit, doc, seg, paragraph, source."""
        rows = [
            (number, f"piece {piece}", place, source)
            for number, kit in enumerate(self.kits, start=1)
            for piece in kit.pieces
            for place, paragraph in enumerate(
                self.pieces.pieces[piece].paragraphs, start=self.pieces.pieces[piece].first
            )
            for source in split_sentences(paragraph)
        ]
        frame = pl.DataFrame(
            rows, schema={"kit": int, "doc": str, "paragraph": int, "source": str}, orient="row"
        )
        seg = pl.int_range(1, pl.len() + 1).over("doc").alias("seg")
        return frame.with_columns(seg).select("kit", "doc", "seg", "paragraph", "source")

    def to_dict(self) -> dict[str, object]:
        """The kits as one JSON object."""
        spots = self.places.tolist()
        return result_dict(
            "kits",
            self.signature,
            mode=self.mode,
            size=self.size,
            wanted=self.wanted,
            seed=self.seed,
            settings=dict(self.pieces.settings),
            limits=self.limits,
            methods=self.methods,
            pieces=[row | {"place": spot}
                    for row, spot in zip(self.pieces.rows(), spots, strict=True)],
            kits=self.kits,
            knee=self.knee,
            eps=self.eps,
            clusters=self.clusters,
            distances=self.distances,
            notes=self.notes,
        )  # fmt: skip
