"""Simulated worlds look like WMT20: beside numbers noted once, and beside the data itself.

Tolerance: 10 % for moments on the scale of scores, .03 for shares and correlations, and besides
it three standard errors of the mean over the simulated worlds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.moments import Moments, moments

from assay.worlds.profiles import PROFILES
from assay.worlds.simulate import simulate

WORLDS = 24
ABSOLUTE = {"zeros", "document_icc", "difference_icc", "system_r", "rater_r", "neither_r"}

# python benchmarks/worlds_moments.py DATA: machine systems and people, Human-A left out
WMT20 = {
    ("en-de", "means"): {
        "mean": 2.113, "system_sd": 0.662, "sd": 2.318, "skewness": 2.302, "zeros": 0.124,
        "p90": 4.944, "p99": 10.310, "document_icc": 0.149, "system_r": 0.473,
        "difference_icc": 0.072,
    },
    ("en-de", "single"): {
        "mean": 2.025, "system_sd": 0.622, "sd": 2.948, "skewness": 3.207, "zeros": 0.308,
        "p90": 5.281, "p99": 13.077, "document_icc": 0.162, "system_r": 0.425,
        "rater_r": 0.391, "neither_r": 0.213,
    },
    ("zh-en", "means"): {
        "mean": 5.137, "system_sd": 0.620, "sd": 4.988, "skewness": 1.340, "zeros": 0.080,
        "p90": 12.243, "p99": 21.165, "document_icc": 0.279, "system_r": 0.758,
        "difference_icc": 0.151,
    },
    ("zh-en", "single"): {
        "mean": 4.817, "system_sd": 0.587, "sd": 5.763, "skewness": 1.588, "zeros": 0.269,
        "p90": 12.823, "p99": 24.630, "document_icc": 0.289, "system_r": 0.720,
        "rater_r": 0.591, "neither_r": 0.508,
    },
}  # fmt: skip
FILES = {"en-de": "wmt20_mqm_ende.parquet", "zh-en": "wmt20_mqm_zhen.parquet"}
SIZES = {"en-de": 130, "zh-en": 155}


@cache
def simulated(lp: str) -> dict[str, list[Moments]]:
    profile = PROFILES[lp]
    found: dict[str, list[Moments]] = {"means": [], "single": []}
    for seed in range(WORLDS):
        world = simulate(
            profile=lp,
            systems=len(profile.machines),
            humans=len(profile.humans),
            documents=SIZES[lp],
            metrics={},
            rng=seed,
        )
        documents = world.segments["doc"].to_numpy()
        found["means"].append(moments(world.scores.mean(axis=2), documents))
        found["single"].append(moments(world.scores, documents))
    return found


def real(folder: Path, lp: str, kind: str) -> Moments:
    frame = pl.read_parquet(folder / FILES[lp]).sort("system", "seg_id")
    frame = frame.filter(~pl.col("system").str.starts_with("Human-A"))
    columns = ["mqm"] if kind == "means" else ["mqm_r1", "mqm_r2", "mqm_r3"]
    frame = frame.filter(pl.all_horizontal(pl.col(columns).is_not_null()))
    frame = frame.filter(pl.all_horizontal(pl.col(columns).is_not_nan()))
    count = frame["system"].n_unique()
    ratings = [frame[name].to_numpy().astype(float).reshape(count, -1) for name in columns]
    return moments(np.stack(ratings, axis=2), frame["doc"].to_numpy()[: frame.height // count])


def compare(lp: str, kind: str, name: str, target: float) -> None:
    values = [getattr(one, name) for one in simulated(lp)[kind]]
    error = np.std(values, ddof=1) / np.sqrt(WORLDS)
    allowed = (0.03 if name in ABSOLUTE else 0.1 * abs(target)) + 3 * error
    assert np.mean(values) == pytest.approx(target, abs=allowed), name


@pytest.mark.parametrize(("lp", "kind"), WMT20)
def test_moments_are_near_the_numbers_of_wmt20(lp: str, kind: str) -> None:
    for name, target in WMT20[lp, kind].items():
        compare(lp, kind, name, target)


@pytest.mark.parametrize(("lp", "kind"), WMT20)
def test_the_numbers_are_those_of_the_data(shared_data: Path, lp: str, kind: str) -> None:
    found = real(shared_data, lp, kind)
    for name, target in WMT20[lp, kind].items():
        assert getattr(found, name) == pytest.approx(target, abs=0.0006), name
        compare(lp, kind, name, getattr(found, name))


@pytest.mark.parametrize("lp", FILES)
def test_documents_are_as_long_as_in_wmt20(shared_data: Path, lp: str) -> None:
    wanted = real(shared_data, lp, "means").document_lengths
    found = np.mean([one.document_lengths for one in simulated(lp)["means"]], axis=0)
    np.testing.assert_allclose(found[1:4], wanted[1:4], rtol=0.15)


def test_profiles_differ_as_the_language_pairs_do() -> None:
    ende, zhen = (simulated(lp)["single"][0] for lp in ("en-de", "zh-en"))
    assert zhen.mean > ende.mean
    assert zhen.document_icc > ende.document_icc
    assert zhen.system_r > ende.system_r
    assert zhen.skewness < ende.skewness
