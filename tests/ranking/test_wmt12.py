"""Tables 2 and 3 of koehn2012 from the WMT12 rankings; a twin on a simulated campaign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.formats.catalogue import Options

PAPER = {
    "en-cs": {
        "scores": [.660, .616, .557, .555, .541, .532, .529, .477, .459, .443, .440, .362, .328],
        "low": [1, 2, 3, 3, 3, 4, 4, 8, 8, 9, 9, 12, 12],
        "high": [1, 2, 6, 6, 7, 7, 7, 10, 11, 11, 11, 12, 12],
        "clusters": 6,
        "order": ["cu-depfix", "onlineB", "uedin-wmt12", "cu-tamch-boj", "cu-bojar_2012",
                  "CU_TectoMT", "onlineA"],
    },
    "fr-en": {
        "scores": [.626, .610, .592, .571, .567, .538, .522, .510, .463, .458, .444, .441, .430,
                   .409, .319],
        "low": [1, 1, 1, 2, 3, 5, 5, 6, 8, 9, 9, 9, 10, 12, 15],
        "high": [3, 4, 5, 6, 7, 8, 8, 9, 12, 13, 14, 14, 14, 14, 15],
        "clusters": 2,
        "order": ["LIMSI-Ncode-Constrained-Primary", "KIT_Phrase-Based_SMT_System", "onlineA",
                  "cmu-avenue", "onlineB"],
    },
}  # fmt: skip
"""Read off the paper. Its last rank of en-cs, 12, cannot be: the range of a last system alone
behind a border is 13."""


def read_screens(screens: pl.DataFrame, lp: str, folder: Path, blanks: str) -> assay.Judgments:
    """One row per output (ranking, segment, judge, slot, system, rank), by way of a WMT file."""
    about = ["ranking", "segment", "judge"]
    wide = screens.pivot("slot", index=about, values=["system", "rank"])
    source, target = lp.split("-")
    pl.DataFrame(
        {
            "srclang": [source] * wide.height,
            "trglang": [target] * wide.height,
            "srcIndex": wide["segment"],
            "segmentId": wide["segment"],
            "judgeId": wide["judge"],
            **{f"system{k}Id": wide[f"system_{k}"] for k in range(1, 6)},
            **{f"system{k}rank": wide[f"rank_{k}"] for k in range(1, 6)},
            "rankingID": wide["ranking"],
        }
    ).write_csv(folder / "rankings.csv")
    assay.convert(
        folder / "rankings.csv", folder / "judgments.parquet", origin="wmt-rnk", to="judgments",
        options=Options(blanks=blanks),  # type: ignore[arg-type]
    )  # fmt: skip
    return assay.read_judgments(folder / "judgments.parquet")


@pytest.mark.parametrize("lp", PAPER)
def test_tables_2_and_3(lp: str, shared_data: Path, tmp_path: Path) -> None:
    screens = pl.read_parquet(shared_data / "wmt12_rankings.parquet").with_columns(
        pl.col("lp", "judge", "system").cast(pl.String)
    )
    paper = PAPER[lp]
    table = read_screens(screens.filter(pl.col("lp") == lp), lp, tmp_path, "best")
    result = assay.rank(table, resample="set", rng=1)
    scores = np.array([item.score for item in result.systems])
    assert np.abs(scores - paper["scores"]).max() < 0.0005
    names = [item.system for item in result.systems]
    assert names[: len(paper["order"])] == paper["order"]  # type: ignore[arg-type]
    low, high = (np.array([getattr(i, end) for i in result.systems]) for end in
                 ("low_rank", "high_rank"))  # fmt: skip
    assert np.abs(low - paper["low"]).max() <= 1
    assert np.abs(high - paper["high"]).max() <= 1
    moved = (low != paper["low"]).sum() + (high != paper["high"]).sum()
    assert moved <= 5, "bootstrap noise moves single ends, not most of them"
    assert result.clusters == paper["clusters"]
    dropped = read_screens(screens.filter(pl.col("lp") == lp), lp, tmp_path, "drop")
    assert len(dropped) < len(table)


def test_twin_on_a_simulated_campaign(tmp_path: Path) -> None:
    """Known qualities by way of a WMT file: blanks as best lift whoever is left blank."""
    rng = np.random.default_rng(1)
    quality = np.linspace(6, 0, 7)
    systems = rng.permuted(np.broadcast_to(np.arange(7), (900, 7)), axis=1)[:, :5]
    seen = quality[systems] + 10 * rng.standard_normal(systems.shape)
    ranks = 1 + np.argsort(np.argsort(-seen, axis=1), axis=1)
    ranks[(systems == 6) & (rng.random(systems.shape) < 0.1)] = -1
    screens = pl.DataFrame(
        {
            "ranking": np.repeat(np.arange(900), 5),
            "segment": np.repeat(np.arange(900) % 300, 5),
            "judge": np.repeat([f"judge{k % 9}" for k in range(900)], 5),
            "slot": np.tile(np.arange(1, 6), 900),
            "system": [f"s{k}" for k in systems.ravel()],
            "rank": ranks.ravel(),
        }
    )
    results = {
        blanks: assay.rank(read_screens(screens, "en-cs", tmp_path, blanks), resample="set", rng=1)
        for blanks in ("drop", "best")
    }
    last = {k: next(i for i in v.systems if i.system == "s6") for k, v in results.items()}
    assert results["best"].judgments == 9000 > results["drop"].judgments
    assert last["best"].score > last["drop"].score + 0.02
    assert last["drop"].rank == 7
    for item in results["drop"].systems:
        assert item.low_rank - 1 <= int(item.system[1:]) + 1 <= item.high_rank + 1
