"""A sample that knows how it was drawn.

The ``design`` column of a sample file holds one compact string, the same in every row:
``segments|n:142|N:710|seed:7``. With the probabilities beside it the file alone says how the
sample was drawn, which is what every estimate downstream depends on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.tables.check import SCHEMAS, CheckedTable, Columns, conform, place_in
from assay.tables.files import Findings, Raw, Source
from assay.tables.test_set import TestSet

_DESIGN = re.compile(r"[a-z][a-z0-9-]*(\|[A-Za-z][A-Za-z0-9_-]*:[^|]*)*")


COUNTED = ("n", "N", "seed", "parts")
"""Parameters that say how much was drawn and by which seed, not how."""
PLAIN = {"strata": "none", "stop": "closest", "limit": "none", "first": "random", "max": "10",
         "length": "10", "rounding": "random"}  # fmt: skip
"""Parameters as they are where nobody said otherwise."""


@dataclass(frozen=True)
class Design:
    """How a sample is drawn: the design's name and its parameters, as one line of text.

    >>> str(Design("segments", {"n": "142", "N": "710", "seed": "7"}))
    'segments|n:142|N:710|seed:7'
    >>> Design.parse("segments|n:142|N:710|seed:7").parameters["N"]
    '710'
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        if not _DESIGN.fullmatch(str(self)):
            raise InputError(f"'{self}' is not a design; expected name|key:value|key:value")

    @property
    def seed(self) -> int | None:
        """The seed it was drawn, or last topped up, with, where one was recorded."""
        seed = self.parameters.get("seed", "").split("+")[-1]
        return int(seed) if seed.isdecimal() else None

    @property
    def brief(self) -> str:
        """The name and what makes this design another than the plain one of that name.

        >>> Design("segments", {"strata": "metrics", "n": "142", "N": "710", "seed": "7"}).brief
        'segments/strata:metrics'
        """
        told = [
            f"{key}:{value}"
            for key, value in self.parameters.items()
            if key not in COUNTED and PLAIN.get(key) != value
        ]
        return "/".join([self.name, *told])

    @classmethod
    def parse(cls, text: str) -> Design:
        """The design a sample file names."""
        if not _DESIGN.fullmatch(text):
            raise InputError(f"'{text}' is not a design; expected name|key:value|key:value")
        name, *parts = text.split("|")
        return cls(name, dict(part.split(":", 1) for part in parts))

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.parameters.items())])


@dataclass(frozen=True, eq=False)
class Sample(CheckedTable):
    """The drawn segments with their inclusion probabilities, and all that a variance needs.

    ``checked`` is the test set that it was checked against.
    """

    checked: TestSet | None = field(default=None, repr=False)

    @cached_property
    def design(self) -> Design:
        """How the sample was drawn."""
        return Design.parse(self.frame["design"][0])

    @property
    def matched(self) -> bool:
        """Whether all systems have the same segments."""
        return "system" not in self.frame.columns

    def placed_in(self, test_set: TestSet) -> Sample:
        """The part of the sample that is about this test set, checked against it."""
        if self.checked is test_set:
            return self
        placed = read_sample(self.frame, test_set)
        return replace(placed, notes=tuple(dict.fromkeys((*self.notes, *placed.notes))))

    def probabilities(self, test_set: TestSet) -> np.ndarray:
        """Systems x segments: the inclusion probability of drawn segments, NaN of the others."""
        key = list(test_set.key) if self.matched else ["system", *test_set.key]
        drawn = self.frame.select(*key, "probability")
        rows = test_set.frame.select("system", *test_set.key).join(
            drawn, on=key, how="left", maintain_order="left"
        )
        values = np.full((len(test_set.systems), test_set.segments.height), np.nan)
        values[test_set.positions] = rows["probability"].to_numpy()
        return values

    def order(self, test_set: TestSet) -> np.ndarray:
        """Where the drawn segments of a matched sample stand in the test set, in rating order."""
        rows = self.frame.sort("order") if "order" in self.frame.columns else self.frame
        return places_in(rows, test_set)


def places_in(rows: pl.DataFrame, test_set: TestSet) -> np.ndarray:
    """Where the segments of these rows stand in the reading order of the test set."""
    key = list(test_set.key)
    places = test_set.segments.select(key).with_row_index("_place")
    joined = rows.select(key).join(places, on=key, how="left", maintain_order="left")
    return joined["_place"].cast(pl.Int64).to_numpy()


def make_sample(frame: pl.DataFrame) -> Sample:
    """A sample from rows that were just drawn, its columns in the order of the file."""
    return Sample(frame.select([name for name in SCHEMAS["sample"].names if name in frame]))


def read_sample(
    source: Source | Raw, test_set: TestSet | None = None, *, columns: Columns | None = None
) -> Sample:
    """Read a sample file and check it against the test set it was drawn from.

    >>> import polars as pl
    >>> rows = {"seg": ["3", "8"], "probability": [.2, .2], "design": ["segments|n:2|N:10"] * 2}
    >>> read_sample(pl.DataFrame(rows)).design.name
    'segments'
    """
    frame, findings = conform(source, "sample", columns=columns)
    _one_design(frame, findings)
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    if not frame.height:
        raise InputError(f"{findings.raw.source}: no row is about a system of the test set")
    return Sample(frame, tuple(findings.notes), checked=test_set)


def _one_design(frame: pl.DataFrame, findings: Findings) -> None:
    designs = frame["design"]
    first = str(designs.drop_nulls().first())
    findings.rows(
        designs != first,
        "design",
        designs,
        f"'{{}}' differs from the first row's '{first}'; a sample file holds one sample",
    )
    valid = designs.str.contains(rf"^(?:{_DESIGN.pattern})$".replace("(\\|", "(?:\\|"))
    findings.rows(
        ~valid & (designs == first),
        "design",
        designs,
        "'{}' is not a design; expected name|key:value, as assay sample writes it",
    )
