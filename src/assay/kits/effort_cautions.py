"""What the reader of an effort comparison must be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from assay.kits.effort_chance import Chances
from assay.kits.effort_model import Model, Names
from assay.kits.effort_results import Caution, EffortDifference
from assay.stats.kit_power import detectable_gap, editors_needed

POWER = 0.8
"""The power at which a number of editors is called enough."""
_ZERO_SHARE, _TOP_SHARE = 0.1, 0.25
"""Shares of untimed segments and of time in the top 5 % from which on a warning is given."""


def time_cautions(frame: pl.DataFrame) -> list[Caution]:
    """Segments without time, and time that a few segments hold."""
    seconds = frame["seconds"].drop_nulls().to_numpy()
    if not seconds.size:
        return []
    found = []
    zero = int(np.sum(seconds == 0))
    if zero >= _ZERO_SHARE * seconds.size:
        found.append(
            Caution(
                "zero-time",
                f"{zero} of {seconds.size} segments ({zero / seconds.size:.0%}) have exactly 0 s:"
                " the time lacks the reading of segments that were not changed",
            )
        )
    top = np.sort(seconds)[::-1][: max(1, round(0.05 * seconds.size))].sum()
    if seconds.sum() > 0 and top >= _TOP_SHARE * seconds.sum():
        found.append(
            Caution(
                "long-times",
                f"5 % of the segments hold {top / seconds.sum():.0%} of all time: a few breaks can"
                " decide its mean; compare with time log or winsorised, or leave time out",
            )
        )
    return found


def design_cautions(
    cells: pl.DataFrame, names: Names, used: Sequence[str], *, assumed: bool
) -> list[Caution]:
    """Positions that cannot be told from documents, unbalanced kits, assumptions."""
    found = []
    if assumed:
        found.append(
            Caution(
                "documents-assumed-alike",
                "documents are assumed alike: what a document costs counts as its system's",
            )
        )
    if len(names.documents) > 1 and "place" not in used:
        found += _place_caution(cells)
    twice = cells.group_by("editor", "system", maintain_order=True).len().filter(pl.col("len") > 1)
    if twice.height:
        row = twice.row(0, named=True)
        found.append(
            Caution(
                "system-twice",
                f"{twice.height} times an editor had a system in more than one document (first:"
                f" {row['editor']}, {row['system']}); the kits are not balanced. Degrees of"
                " freedom are those of each comparison, by approximation: with few editors its"
                " interval is rough",
            )
        )
    return found


def _place_caution(cells: pl.DataFrame) -> list[Caution]:
    given = cells["place"].null_count() == 0
    order = cells.sort("place", maintain_order=True) if given else cells
    orders = order.group_by("editor", maintain_order=True).agg("doc")["doc"].to_list()
    if all(docs == orders[0] for docs in orders):
        told = "" if given else " (as far as the order of the rows tells)"
        return [
            Caution(
                "place-is-document",
                f"every editor had the documents in the same order{told}: tiredness and document"
                " cannot be told apart; rotate the order next time (assay kits design)",
            )
        ]
    if given:
        return [
            Caution(
                "place-left-out",
                "the order of documents is not allowed for: it is tied to the systems, or the"
                " editors are too few",
            )
        ]
    return [Caution("place-unknown", "no positions given: tiredness is not allowed for")]


def chance_cautions(chances: Mapping[str, Chances], models: Mapping[str, Model]) -> list[Caution]:
    """Tests that cannot be made: nothing to deal out, or no spread to judge by."""
    found = []
    void = [name for name, item in chances.items() if any(p != p for p in item.pairs.values())]
    if void:
        found.append(
            Caution(
                "nothing-to-deal-out",
                f"no randomisation test of some pairs ({', '.join(void)}): however the kits are"
                " dealt out among editors with the same documents, these systems stay as they are",
            )
        )
    apart = [name for name, model in models.items() if model.unlinked.shape[1]]
    if apart:
        found.append(
            Caution(
                "not-linked",
                f"{', '.join(apart)}: documents are missing, and what is left does not tell some"
                " systems from documents within any editor's own work; these differences are"
                " undetermined, since they would rest on how fast editors are",
            )
        )
    still = [name for name, model in models.items() if model.fit is None and np.ptp(model.means)]
    if still:
        found.append(
            Caution(
                "no-spread",
                f"{', '.join(still)}: systems, documents, editors and segments explain every value"
                " exactly, so that there is no spread to judge a difference by; only the"
                " randomisation test speaks",
            )
        )
    return found


def difference_cautions(
    differences: Sequence[EffortDifference],
    models: Mapping[str, Model],
    names: Names,
    level: float,
    *,
    place: bool,
) -> list[Caution]:
    """Differences that hang on one editor, and gaps too small for so few editors."""
    found = []
    for item in differences:
        pair = f"{item.left} and {item.right}, {item.measure}"
        if item.deciding_editors:
            found.append(
                Caution(
                    "one-editor-decides",
                    f"{pair}: without {' or '.join(item.deciding_editors)} the verdict or the sign"
                    f" of the difference would be another ({item.least:.3g} to {item.most:.3g})",
                )
            )
        # The variance behind the standard error, kits being what they are.
        editors, engines = models[item.measure].editors, len(names.systems)
        variance = item.stderr**2 * editors / 2
        if item.decided or not variance > 0 or item.difference == 0:
            continue
        visible = detectable_gap(
            variance=variance, editors=editors, engines=engines, level=level, power=POWER,
            place=place,
        )  # fmt: skip
        needed = editors_needed(
            item.difference, variance=variance, engines=engines, level=level, power=POWER,
            place=place,
        )  # fmt: skip
        count = "more editors than can be had" if needed is None else f"about {needed} editors"
        found.append(
            Caution(
                "too-few-editors",
                f"{pair}: {editors} editors find gaps of {visible:.3g} with power"
                f" {POWER:.0%}; for the gap seen, {abs(item.difference):.3g}, {count} are needed",
            )
        )
    return found
