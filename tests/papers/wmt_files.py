"""Self-made files in the form of the WMT data that lo2023 is reproduced on."""

from __future__ import annotations

import numpy as np
import polars as pl

SYSTEMS = ("A", "B", "C", "Human")


def made(
    lp: str, documents: list[int], *, scores: dict[str, list[float]] | None = None, seed: int = 1
) -> pl.DataFrame:
    """Scores in the files' form; a reference without metrics is among the systems."""
    rng = np.random.default_rng(seed)
    total = sum(documents)
    frames = []
    for place, system in enumerate(SYSTEMS):
        values = 0.5 + 0.02 * place + 0.2 * rng.standard_normal(total)
        chosen = (scores or {}).get(system, values.tolist())
        chrf: list[float | None] = [None] * total if system == "Human" else list(chosen)
        frames.append(
            pl.DataFrame(
                {
                    "lp": lp,
                    "system": system,
                    "doc": np.repeat([f"d{k}" for k in range(len(documents))], documents),
                    "seg_id": np.arange(1, total + 1),
                    "chrF": pl.Series(chrf, dtype=pl.Float32),
                }
            )
        )
    return pl.concat(frames)


def annotate(frame: pl.DataFrame, name: str, segments: dict[str, list[int]]) -> pl.DataFrame:
    """Mark the annotated segments of every system."""
    wanted = [
        seg in segments.get(system, [])
        for system, seg in frame.select("system", "seg_id").iter_rows()
    ]
    return frame.with_columns(pl.Series(name, wanted))


def by_document(frame: pl.DataFrame) -> pl.DataFrame:
    """The same by document, with a metric that only documents have."""
    return (
        frame.group_by("lp", "system", "doc", maintain_order=True)
        .agg(
            n_segs=pl.len().cast(pl.Int16),
            n_da=pl.col("da_annotated").sum().cast(pl.Int16),
            chrF=pl.col("chrF").mean(),
        )
        .with_columns(COMET=pl.col("chrF"))
    )
