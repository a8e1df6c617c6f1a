"""Find designs by name, by the papers' short names, or by the goal of a campaign."""

from __future__ import annotations

from collections.abc import Mapping

from assay.designs.base import CLASSES, SHORT_NAMES, SamplingDesign, design_of, load_designs
from assay.errors import OptionError, did_you_mean, need_known
from assay.tables.tables import Design, TestSet

GOALS: Mapping[str, tuple[str, ...]] = {
    "ranking": ("rounds", "segments"),
    "score": ("balanced", "rounds", "segments"),
}
"""The designs for a goal, best first; the first that the test set allows is taken."""


def design_names() -> dict[str, type[SamplingDesign]]:
    """The designs that samples can be drawn by, by name."""
    load_designs()
    return {name: known for name, known in sorted(CLASSES.items()) if known.drawable}


def watchable_designs() -> list[str]:
    """The designs of which every beginning is a sample, so that ratings can be monitored.

    >>> "interleaved" in watchable_designs(), "snippets" in watchable_designs()
    (True, False)
    """
    return [name for name in design_names() if design_of(f"{name}|n:2|N:2").is_sample(2)]


def short_names() -> dict[str, str]:
    """The papers' names of designs, in lower case, with their meanings."""
    load_designs()
    return dict(sorted(SHORT_NAMES.items()))


def find_design(text: str | Design) -> SamplingDesign:
    """The design with this name, short name, or ``name|parameter:value``, with all parameters.

    >>> str(find_design("DF"))
    'fixed-snippets|length:10|stop:closest|first:random'
    >>> str(find_design("snippets|max:5"))
    'snippets|max:5'
    """
    given = str(text)
    head, *rest = given.split("|")
    head = short_names().get(head.lower(), head.lower())
    line = Design.parse("|".join([head, *rest]))
    known = design_names()
    if line.name not in known:
        short = [name for name in short_names() if name not in known]
        raise OptionError(
            "design", given, f"is not known{did_you_mean(line.name, [*known, *short])}",
            f"choose from auto, {', '.join(known)} or {', '.join(short)}",
        )  # fmt: skip
    chosen = known[line.name]
    return chosen(line.name, chosen.spelt_out(line.parameters))


def choose_design(test_set: TestSet, design: str | Design, goal: str | None) -> SamplingDesign:
    """The design with all parameters; ``auto`` follows the goal and the table."""
    if goal is not None:
        need_known("goal", goal, list(GOALS))
    if str(design).lower() != "auto":
        if goal is not None:
            remedy = "leave it out, or leave the design to it"
            raise OptionError("goal", goal, "is for the design auto", remedy)
        return find_design(design)
    wanted = GOALS[goal or ("ranking" if len(test_set.systems) > 1 else "score")]
    known = design_names()
    return find_design(next(name for name in wanted if known[name].suits(test_set)))
