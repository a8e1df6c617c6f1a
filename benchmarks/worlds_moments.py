"""Simulated worlds beside WMT20: prints the comparison table of ``docs/worlds.md``.

    python -m benchmarks.worlds_moments [DATA_FOLDER] [--worlds 50]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``: one row per system and
segment with ``mqm`` (the mean of three raters), ``mqm_r1`` to ``mqm_r3``, ``doc`` and metrics.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay.stats.random import as_rng, spawn
from assay.worlds.profiles import PROFILES
from assay.worlds.simulate import simulate
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA
from benchmarks.moments import moments

FILES = {"en-de": "wmt20_mqm_ende.parquet", "zh-en": "wmt20_mqm_zhen.parquet"}
METRICS = {"neural": "BLEURT-20", "surface": "chrF"}
RATERS = ("mqm_r1", "mqm_r2", "mqm_r3")
SHARED = ("mean", "system_sd", "sd", "skewness", "zeros", "p90", "p99", "most", "document_icc")
MEANS = (*SHARED, "difference_icc", "system_r")
SINGLE = (*SHARED, "system_r", "rater_r", "neither_r", "severity_sd")
LENGTHS = ("least", "10 %", "median", "90 %", "most")
OF_METRIC = ("within_r", "document_icc", "system_r")
WORDS = {
    "mean": "mean over systems",
    "system_sd": "sd of system means",
    "sd": "sd of segments in a system",
    "skewness": "skewness",
    "zeros": "share of zeros",
    "p90": "90 % quantile",
    "p99": "99 % quantile",
    "most": "maximum",
    "document_icc": "ICC in documents",
    "difference_icc": "ICC in documents of differences",
    "system_r": "r of two systems",
    "rater_r": "r of two raters",
    "neither_r": "r of two raters, two systems",
    "severity_sd": "rater severity, sd / mean",
    "within_r": "r with single ratings",
}


@dataclass(frozen=True)
class Rated:
    """A rated test set as arrays; single ratings may cover only part of the segments."""

    means: Any
    documents: Any
    single: Any
    single_documents: Any
    metrics: dict[str, Any]
    single_metrics: dict[str, Any]
    humans: Any

    def numbers(self) -> dict[str, float]:
        """Every moment the table shows, by a name of three parts."""
        machines = ~self.humans
        means = moments(self.means, self.documents)
        single = moments(self.single, self.single_documents)
        found = {f"means|all|{key}": getattr(means, key) for key in MEANS}
        found |= {f"single|all|{key}": getattr(single, key) for key in SINGLE}
        means = moments(self.means[machines], self.documents, metrics=_of(self.metrics, machines))
        rated = _of(self.single_metrics, machines)
        single = moments(self.single[machines], self.single_documents, metrics=rated)
        found |= {f"means|machines|{key}": getattr(means, key) for key in MEANS}
        found |= {f"single|machines|{key}": getattr(single, key) for key in SINGLE}
        for name in METRICS:
            # on all segments, but for the correlation, which needs the single ratings
            parts = {**means.metrics[name], "within_r": single.metrics[name]["within_r"]}
            found |= {f"{name}|machines|{key}": parts[key] for key in OF_METRIC}
        lengths = dict(zip(LENGTHS, means.document_lengths, strict=True))
        return found | {f"lengths|all|{key}": value for key, value in lengths.items()}


def _of(metrics: dict[str, Any], systems: Any) -> dict[str, Any]:
    return {name: values[systems] for name, values in metrics.items()}


def real(path: Path) -> Rated:
    frame = pl.read_parquet(path).sort("system", "seg_id")
    frame = frame.filter(~pl.col("system").str.starts_with("Human-A"))  # the metrics' reference
    count = frame["system"].n_unique()
    given = pl.col(RATERS)
    rated = frame.filter(pl.all_horizontal(given.is_not_null(), given.is_not_nan()))

    def table(rows: pl.DataFrame, column: str) -> Any:
        return rows[column].to_numpy().astype(float).reshape(count, -1)

    return Rated(
        means=table(frame, "mqm"),
        documents=frame["doc"].to_numpy()[: frame.height // count],
        single=np.stack([table(rated, rater) for rater in RATERS], axis=2),
        single_documents=rated["doc"].to_numpy()[: rated.height // count],
        metrics={name: table(frame, column) for name, column in METRICS.items()},
        single_metrics={name: table(rated, column) for name, column in METRICS.items()},
        humans=frame["is_human"].to_numpy().reshape(count, -1)[:, 0],
    )


def simulated(lp: str, like: Rated, worlds: int) -> Iterator[Rated]:
    profile = PROFILES[lp]
    humans = int(like.humans.sum())
    for rng in spawn(as_rng(2020), worlds):
        world = simulate(
            profile=profile,
            systems=len(like.humans) - humans,
            humans=humans,
            documents=len(np.unique(like.documents)),
            rng=rng,
        )
        metrics = {name: world.test_set.matrix(name) for name in world.test_set.metrics}
        documents = world.segments["doc"].to_numpy()
        yield Rated(
            means=world.scores.mean(axis=2),
            documents=documents,
            single=world.scores,
            single_documents=documents,
            metrics=metrics,
            single_metrics=metrics,
            humans=np.array([name.startswith("human") for name in world.systems]),
        )


def label(name: str) -> str:
    kind, who, key = name.split("|")
    if kind == "lengths":
        return f"segments in a document, {key}"
    return f"{WORDS[key]}{', machines only' if who == 'machines' and kind not in METRICS else ''}"


def rows(kind: str) -> list[str]:
    if kind == "lengths":
        return [f"lengths|all|{key}" for key in LENGTHS]
    if kind in METRICS:
        return [f"{kind}|machines|{key}" for key in OF_METRIC]
    names = [f"{kind}|all|{key}" for key in (MEANS if kind == "means" else SINGLE)]
    extra = ("mean", "system_sd", "system_r")[0 if kind == "means" else 2 :]
    return names + [f"{kind}|machines|{key}" for key in extra]


def shown(
    name: str, found: dict[str, float], mean: dict[str, float], spread: dict[str, float]
) -> tuple[str, str]:
    if name.startswith("lengths"):
        return f"{found[name]:.0f}", f"{mean[name]:.1f} ± {spread[name]:.1f}"
    return f"{found[name]:#.3g}", f"{mean[name]:#.3g} ± {spread[name]:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--worlds", type=int, default=50)
    given = parser.parse_args()
    if not (given.folder / FILES["en-de"]).is_file():
        skipped(f"{given.folder} has no WMT20 ratings to compare with")
        return
    columns: dict[str, tuple[dict[str, float], dict[str, float], dict[str, float]]] = {}
    for lp, file in FILES.items():
        data = real(given.folder / file)
        drawn = [world.numbers() for world in simulated(lp, data, given.worlds)]
        mean = {key: float(np.mean([one[key] for one in drawn])) for key in drawn[0]}
        spread = {key: float(np.std([one[key] for one in drawn], ddof=1)) for key in drawn[0]}
        columns[lp] = (data.numbers(), mean, spread)
        far = [abs(value - mean[key]) > 2 * spread[key] for key, value in data.numbers().items()]
        claim(
            f"moments of WMT20 {lp} within two standard deviations of simulated worlds",
            100 * (1 - float(np.mean(far))), unit="%",
            peer=f"{len(far)} moments, {given.worlds} worlds",
        )  # fmt: skip
    titles = {"means": "Mean of three raters", "single": "Single ratings"}
    titles |= {name: f"Metric `{name}` beside {column}" for name, column in METRICS.items()}
    for kind, title in (titles | {"lengths": "Documents"}).items():
        print(f"\n| {title} | en-de WMT20 | simulated | zh-en WMT20 | simulated |")
        print("|---|---|---|---|---|")
        for name in rows(kind):
            cells = [cell for pair in columns.values() for cell in shown(name, *pair)]
            print(f"| {label(name)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
