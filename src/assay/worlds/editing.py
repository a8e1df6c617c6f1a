"""Simulate editors, with a known truth for comparisons by effort.

The effort of a segment is ``level + system + editor + segment + editor x document + noise``, all
but the first two normal. The variances default to those of the edit distances of korotaev2022
(six editors, three documents of some 23 segments): editors 26.4, segments 9.6, editor x document
8.8, noise 79.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.stats.random import Rng, as_rng
from assay.tables.answers import Edits

Seen = tuple[str, str, str]
"""Editor, document and system: one document of a kit, in the order of work."""
_LETTERS = np.array(list("abcdefghiklmnoprstuvw"))
_SIGNS = "xqzjy#¤"
"""Characters that editors write: the first that the text lacks is used."""
_SECONDS_PER_POINT = 4.0


@dataclass(frozen=True, slots=True)
class EditingWorld:
    """The parameters that determine the effort of editing.

    >>> world = EditingWorld(systems={"A": 0.0, "B": 5.0})
    >>> kits = [("E1", "d", "A"), ("E1", "e", "B"), ("E2", "d", "B"), ("E2", "e", "A")]
    >>> len(world.edits(kits, rng=1))
    92
    """

    systems: Mapping[str, float]
    """Each system's true effort above ``level``."""
    level: float = 7.0
    editor: float = 26.4
    """The variances of the random effects."""
    segment: float = 9.6
    cell: float = 8.8
    noise: float = 79.5
    segments: int = 23
    """Segments per document."""
    documents: Mapping[str, float] = field(default_factory=dict)
    """The extra effort of documents, where it is not 0."""

    def values(self, kits: Sequence[Seen], rng: Rng = None) -> pl.DataFrame:
        """Simulate effort as numbers: ``editor, doc, system, seg, value, position``."""
        return self._with_values(self._rows(kits), as_rng(rng))

    def _with_values(self, rows: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
        parts = [
            self._effects(rows.select("editor"), self.editor, random),
            self._effects(rows.select("doc", "seg"), self.segment, random),
            self._effects(rows.select("editor", "doc"), self.cell, random),
            random.normal(0.0, np.sqrt(self.noise), rows.height),
        ]
        mean = rows["system"].replace_strict(dict(self.systems), return_dtype=pl.Float64)
        harder = dict(self.documents)
        extra = rows["doc"].replace_strict(harder, default=0.0, return_dtype=pl.Float64)
        total = self.level + mean.to_numpy() + extra.to_numpy() + np.sum(parts, axis=0)
        return rows.with_columns(pl.Series("value", total))

    def edits(self, kits: Sequence[Seen], rng: Rng = None) -> Edits:
        """Simulate effort as a table of edits: texts changed by that percentage, and seconds.

        Effort below zero means no change, so that about a third of the segments stay as
        they are, as in real data.
        """
        random = as_rng(rng)
        rows = self.values(kits, random)
        texts = [_text(random) for _ in range(rows.height)]
        source = pl.Series("source", [text.swapcase() for text in texts])
        rows = rows.with_columns(source, pl.Series("mt", texts)).with_columns(
            pl.col("source").first().over("doc", "seg")
        )
        return Edits(_worked_on(rows, random))

    def edit(self, rows: pl.DataFrame, rng: Rng = None) -> pl.DataFrame:
        """Edit given texts: add ``edited`` and ``seconds`` to rows with ``mt``.

        ``rows`` has ``editor``, ``doc``, ``system``, ``seg`` and ``mt``, as the key of built kits.

        >>> key = pl.DataFrame({"editor": ["E"], "doc": ["d"], "system": ["A"], "seg": ["1"],
        ...                     "mt": ["a small house"]})
        >>> EditingWorld(systems={"A": 90.0}).edit(key, rng=1)["edited"].to_list()
        ['xxxxxxxxxoxxx']
        """
        random = as_rng(rng)
        return _worked_on(self._with_values(rows, random), random)

    def _rows(self, kits: Sequence[Seen]) -> pl.DataFrame:
        places: dict[str, int] = {}
        rows = []
        for editor, doc, system in kits:
            places[editor] = places.get(editor, 0) + 1
            rows.append((editor, doc, system, places[editor]))
        names = ["editor", "doc", "system", "position"]
        seen = pl.DataFrame(rows, schema=names, orient="row")
        segs = pl.DataFrame({"seg": [str(number + 1) for number in range(self.segments)]})
        return seen.join(segs, how="cross").select("system", "doc", "seg", "editor", "position")

    def _effects(
        self, levels: pl.DataFrame, variance: float, random: np.random.Generator
    ) -> NDArray[np.float64]:
        """One normal draw per level, repeated for all its rows."""
        number = levels.select(pl.struct(levels.columns).rank("dense")).to_series().to_numpy() - 1
        effects: NDArray[np.float64] = random.normal(0.0, variance**0.5, int(number.max()) + 1)
        return np.asarray(effects[number])


def _worked_on(rows: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Change texts by their values, in percent, and add the time."""
    share = np.clip(rows["value"].to_numpy() / 100, 0.0, 1.0)
    edited = [_edit(text, part, random) for text, part in zip(rows["mt"], share, strict=True)]
    pace = random.gamma(2.0, 0.5, rows.height)
    seconds = np.round(_SECONDS_PER_POINT * 100 * share * pace, 1)
    return rows.drop("value").with_columns(
        pl.Series("edited", edited), pl.Series("seconds", seconds)
    )


def _text(random: np.random.Generator) -> str:
    words = random.integers(8, 30)
    return " ".join("".join(random.choice(_LETTERS, random.integers(2, 9))) for _ in range(words))


def _edit(text: str, share: float, random: np.random.Generator) -> str:
    """Replace this share of the text's characters by one that it does not contain."""
    letters = np.array(list(text))
    sign = next((sign for sign in _SIGNS if sign not in text), _SIGNS[-1])
    chosen = random.permutation(len(letters))[: round(share * len(letters))]
    letters[chosen] = sign
    return "".join(letters.tolist())
