"""Whether a sample mirrors the test set: lengths, domains, vocabulary, position, context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.designs.plan import Layout
from assay.tables.test_set import TestSet

LENGTH_BINS = (0, 10, 20, 30, 40, 50)
"""Lower ends of the bins of document length (lo2023, Table 4)."""

CONTEXT = 10
"""How many segments before a drawn one a rater reads (as at WMT22)."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the test set: how much of it there is, and how much of the sample it makes up."""

    name: str
    full: float
    sample: float


def length_bin(layout: Layout) -> np.ndarray:
    """For every segment, the number of its document's length bin."""
    number = np.searchsorted(LENGTH_BINS, layout.lengths, side="right") - 1
    return np.asarray(number[layout.document])


def _bin_name(number: int) -> str:
    return "0-9" if number == 0 else f"{LENGTH_BINS[number]}+"


def _shares(groups: np.ndarray, names: list[str], drawn: np.ndarray) -> list[Share]:
    full = np.bincount(groups, minlength=len(names)) / len(groups)
    part = np.bincount(groups[drawn], minlength=len(names)) / max(1, int(drawn.sum()))
    return [Share(*row) for row in zip(names, full.tolist(), part.tolist(), strict=True)]


def length_shares(layout: Layout, drawn: np.ndarray) -> list[Share]:
    """Shares by document length (lo2023, Table 4 and Figure 1)."""
    names = [_bin_name(number) for number in range(len(LENGTH_BINS))]
    return _shares(length_bin(layout), names, drawn)


def position_shares(layout: Layout, drawn: np.ndarray) -> list[Share]:
    """Shares by position: the first, middle and last third of a document."""
    place = np.arange(layout.population) - layout.starts[layout.document]
    third = (3 * place) // layout.lengths[layout.document]
    return _shares(third, ["first third", "middle third", "last third"], drawn)


def domain_shares(test_set: TestSet, drawn: np.ndarray) -> list[Share]:
    """Shares by domain, if the scores name them."""
    if "domain" not in test_set.segments.columns:
        return []
    domains = test_set.segments["domain"].fill_null("(none)")
    names = domains.unique(maintain_order=True).to_list()
    groups = domains.replace_strict(
        {name: i for i, name in enumerate(names)}, return_dtype=pl.Int64
    )
    return _shares(groups.to_numpy(), names, drawn)


def vocabulary_share(test_set: TestSet, drawn: np.ndarray) -> float | None:
    """The share of the test set's word tokens whose word occurs in the sample.

    Words are what stands between white space in the source, in lower case; None without texts.
    """
    if "source" not in test_set.segments.columns:
        return None
    words = test_set.segments["source"].fill_null("").str.to_lowercase().str.extract_all(r"\S+")
    seen = words.filter(pl.Series(drawn)).explode().drop_nulls().unique()
    everything = words.explode().drop_nulls()
    return float(everything.is_in(seen.implode()).mean()) if len(everything) else None  # type: ignore[arg-type]


def context_mask(layout: Layout, drawn: np.ndarray) -> np.ndarray:
    """Which segments are not drawn but stand within ten before one that is, in its document."""
    population = layout.population
    running = np.concatenate([[0], np.cumsum(drawn)])
    end = (layout.starts + layout.lengths)[layout.document]
    place = np.arange(population)
    ahead = running[np.minimum(place + CONTEXT + 1, end)] - running[place + 1]
    return np.asarray(~drawn & (ahead > 0))


def context_segments(layout: Layout, drawn: np.ndarray) -> int:
    """How many segments must be read though not rated; each is counted once."""
    return int(context_mask(layout, drawn).sum())


def bin_name(name: str) -> str:
    """``10-19`` for the bin that begins at 10.

    >>> bin_name("10+"), bin_name("50+"), bin_name("0-9")
    ('10-19', '50+', '0-9')
    """
    if not name.endswith("+"):
        return name
    start = int(name[:-1])
    later = [end for end in LENGTH_BINS if end > start]
    return f"{start}-{later[0] - 1}" if later else name
