"""Wide tables: a column for each rater, system or segment, or for each pair of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.tables.columns import counts, is_metric, labelled
from assay.tables.guess import JOIN, some
from assay.tables.names import DIMENSIONS, MACHINES, known_as, listed, stem_of, words_of

if TYPE_CHECKING:
    from assay.tables.roles import TableReading

MIN_NUMBERED = 4
NUMBERED = frozenset(["s", "q", ""])
"""What may stand before the number of a segment in a column name, besides its usual names."""
SIGNS = (" / ", "/", " - ", "|", ":", "__", "_", "-", ".", " ")
"""What may stand between the two names in the name of a column."""
BRACKETS = " []()"


def melt_as_given(reading: TableReading) -> None:
    """Melt the columns that the user named."""
    for name, columns in reading.wide.items():
        if not {*name.split(JOIN)} <= {"rater", "system", "seg"} or len(reading.wide) > 1:
            raise InputError(
                f"`columns` ({name}={JOIN.join(columns)}): only rater, system or seg may be"
                " spread over several columns, and only one of them; name one column"
            )
        if JOIN in name:
            melt_crossed(reading, name, columns)
            continue
        texts = not reading.column(columns[0]).numeric
        melt(reading, name, "target" if texts else "score", columns)


def melt(reading: TableReading, into: str, value: str, columns: Sequence[str]) -> None:
    """Turn each column into the rows of one rater, system or segment (``into``)."""
    names = {name: labelled(name, words_of(name))[1] for name in columns}
    if len({*names.values()}) < len(names) or into == "seg":
        names = {name: name for name in columns}
    reading.into, reading.value, reading.melted = into, value, names


def melt_crossed(reading: TableReading, into: str, columns: Sequence[str]) -> None:
    """Melt columns whose names combine two of system, rater and segment."""
    split = crossed([(name, labelled(name, words_of(name))[1]) for name in columns])
    if split is None:
        raise InputError(
            f"`columns` ({into}={JOIN.join(columns)}): these columns do not combine every"
            f" {into.replace(JOIN, ' with every ')}; name the columns of one of them"
        )
    reading.into, reading.value = into, "score"
    reading.melted = {name: JOIN.join(both) for name, both in split.items()}


def find_numbered(reading: TableReading) -> bool:
    """Melt columns of segments, named S1, S2, S3 and so on; False if there are none."""
    able = [c for c in reading.free if c.numeric and c.words and c.words[-1].isdigit()]
    stems = {"".join(c.words[:-1]) for c in able}
    named = stems and stems <= known_as("seg") | NUMBERED
    if "seg" in reading.found or not named or len(able) < MIN_NUMBERED:
        return False
    melt(reading, "seg", "score", [c.name for c in able])
    return True


def find_crossed(reading: TableReading) -> bool:
    """Melt columns that combine two roles, or ask which is which; False if there are none.

    They may be systems and raters, or segments and systems where each row is a rater's.
    """
    open_ = [role for role in ("seg", "system", "rater") if role not in reading.found]
    able = [c for c in reading.free if c.numeric and not (is_metric(c) or counts(c))]
    split = crossed([(c.name, labelled(c.name, c.words)[1]) for c in able])
    if split is None or len(open_) < 2:
        return False
    parts = [sorted({both[k] for both in split.values()}) for k in range(2)]
    if any(stem_of(words_of(name)) in listed(DIMENSIONS) for part in parts for name in part):
        return False
    roles = [_role_of(part) for part in parts]
    rest = [role for role in open_ if role not in roles]
    if "seg" not in roles:
        rest = [role for role in rest if role != "seg"]
    roles = [role or (rest[0] if len(rest) == 1 else None) for role in roles]
    if None not in roles and len({*roles}) == 2 and {*roles} <= {*open_}:
        melt_crossed(reading, JOIN.join(map(str, roles)), list(split))
    elif {"system", "rater"} <= {*open_}:
        first, second = (some(part) for part in parts)
        text = f"Are {first} the systems and {second} the raters, or the other way round?"
        ways = ("system+rater", "rater+system")
        reading.ask(text, *(f"{way}={JOIN.join(split)}" for way in ways))
    else:
        return False
    return True


def spread_over(reading: TableReading, sides: Mapping[str, Mapping[str, str]]) -> str | None:
    """Which of raters and systems surely stand side by side, if any."""
    for into, other in (("rater", "system"), ("system", "rater")):
        if len(sides[into]) > 1 and into not in reading.found and not sides[other]:
            return into
    return None


def ask_for_all(reading: TableReading, into: str, others: Mapping[str, str]) -> None:
    """Ask about columns on the same scale whose names are of another sort."""
    known = np.concatenate([reading.column(name).numbers for name in reading.melted])
    high = float(np.nanmax(known))
    tops = {c.name: np.nanmax(c.numbers) for c in reading.table if c.name in others and c.whole}
    like = [name for name, top in tops.items() if 0.5 * high < top < 2 * high]
    if like:
        here = list(reading.melted)
        reading.ask(
            f"Is {some(like)} one more {into}?", f"{into}={JOIN.join([*here, *like])}",
            f"{into}={JOIN.join(here)}",
        )  # fmt: skip


def melt_texts(reading: TableReading) -> None:
    """Melt the outputs of several systems that stand side by side."""
    able = {c.name: labelled(c.name, c.words) for c in reading.free if c.text}
    for name, (into, _) in list(able.items()):
        rest = [w for w in words_of(name) if w not in known_as("target") or w == "mt"]
        if not into and rest and len(rest) < len(words_of(name)):
            able[name] = ("system" if MACHINES.fullmatch(" ".join(rest)) else "", name)
    sure = [name for name, (into, _) in able.items() if into == "system"]
    if len(sure) > 1 and len(sure) == len(able):
        melt(reading, "system", "target", sure)
        reading.found.pop("target", None)
    elif len(able) > 1:
        reading.ask(f"Are {some([*able])} the outputs of systems?", f"system={JOIN.join(able)}")


def _role_of(names: Sequence[str]) -> str | None:
    """Whether these are names of segments, systems or raters; None if they do not tell."""
    words = [words_of(name) for name in names]
    stems = {"".join(own[:-1]) for own in words if own and own[-1].isdigit()}
    if all(own and own[-1].isdigit() for own in words) and stems <= NUMBERED | known_as("seg"):
        return "seg"
    for role, like in (
        ("system", lambda name: bool(MACHINES.fullmatch(name))),
        ("rater", lambda name: labelled(name, words_of(name))[0] == "rater"),
    ):
        if sum(map(like, names)) > len(names) / 2:
            return role
    return None


def crossed(names: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]] | None:
    """Both parts of names that combine every name of one group with every name of another.

    >>> crossed([(n, n) for n in ("A_Ann", "A_Ben", "B_Ann", "B_Ben")])["B_Ann"]
    ('B', 'Ann')
    """
    for sign in SIGNS:
        for cut in (str.partition, str.rpartition):
            split = {}
            for name, label in names:
                for text in (name, label):
                    first, found, second = cut(text, sign)
                    if found and first.strip(BRACKETS) and second.strip(BRACKETS):
                        split[name] = (first.strip(BRACKETS), second.strip(BRACKETS))
                        break
            one, two = ({both[k] for both in split.values()} for k in range(2))
            full = len({*split.values()}) == len(split) == len(one) * len(two)
            if full and len(one) > 1 and len(two) > 1:
                return split
    return None
