"""What a task shows: all of its systems, or those chosen when it is first given out.

A system whose every difference is decided rests: tasks that begin later leave it out. Where sets
are chosen by the results so far, a task has every system and shows some. The choice is made once,
so that a second rater of the task judges the same outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import bindparam, select, update

from assay.campaign.store import schema as s
from assay.campaign.store.units.base import WHICH, Record, Unit

SLOTS = select(s.slot.c.system, s.slot.c.shown_as).distinct().where(s.slot.c.task == WHICH)
RESTING = select(s.system.c.id).where(s.system.c.rests.is_not(None))
BEGUN = select(s.lease.c.id).where(s.lease.c.task == WHICH).limit(1)
PARENT = select(s.task.c.chosen).where(s.task.c.id == WHICH)
CHOOSE = update(s.task).where(s.task.c.id == WHICH).values(chosen=bindparam("held"))
SETS, NAMES = select(s.live.c.sets), select(s.system.c.id, s.system.c.name)


def held_systems(
    unit: Unit, task: Record, slots: Sequence[Record], rng: np.random.Generator
) -> tuple[list[int], list[int] | None]:
    """Return the systems to show, and those the task holds if not all."""
    chosen = task.chosen
    stop, screen = unit.rules.settings.stop, unit.rules.settings.screen
    choosing = stop.rest == "decided" or screen.sets != "planned"
    if choosing and chosen is None and unit.one(BEGUN, which=task.id) is None:
        leaders = {row.system: row.shown_as for row in slots}
        chosen = _choose(unit, task, leaders, rng)
        if chosen is not None:
            unit.db.execute(CHOOSE, {"which": task.id, "held": chosen})
    shown = {row.shown_as for row in slots if chosen is None or row.system in chosen}
    return sorted(shown), chosen


def _choose(
    unit: Unit, task: Record, leaders: Mapping[int, int], rng: np.random.Generator
) -> list[int] | None:
    """Choose the systems of a task that begins now; None for all of them."""
    if task.parent is not None:
        held = unit.db.execute(PARENT, {"which": task.parent}).scalar()
        if held is None:
            return None
        # A check has the displayed outputs alone.
        shown = {row.shown_as for row in unit.all(SLOTS, which=task.parent) if row.system in held}
        return sorted(name for name in leaders if name in held or name in shown)
    if unit.rules.protocol.kind == "judgments":
        if unit.rules.settings.screen.sets == "planned":
            return None
        return _members(leaders, _set(unit, task, leaders, rng))
    resting = {row.id for row in unit.all(RESTING)}
    held = sorted(name for name in leaders if name not in resting)
    return held if held and len(held) < len(leaders) else None


def _members(leaders: Mapping[int, int], shown: Iterable[int]) -> list[int]:
    """All systems whose outputs are shown, under their own or another system's code."""
    wanted = set(shown)
    return sorted(name for name, leader in leaders.items() if leader in wanted)


def _set(
    unit: Unit, task: Record, leaders: Mapping[int, int], rng: np.random.Generator
) -> list[int]:
    """Draw one of the sets that the newest result asks for, filled up at random if it is short."""
    sets = unit.db.execute(SETS).scalar() or []
    wanted: Sequence[str] = sets[int(rng.integers(len(sets)))] if sets else ()
    numbers = {row.name: row.id for row in unit.all(NAMES)} if wanted else {}
    others = rng.permutation(sorted(set(leaders.values()))).tolist()
    own = [leaders[numbers[name]] for name in wanted if numbers[name] in leaders]
    return list(dict.fromkeys([*own, *others]))[: task.outputs]


def drop_resting(unit: Unit) -> None:
    """Withdraw tasks that no rater has begun and whose systems all rest."""
    kept = (
        select(s.slot.c.task)
        .join(s.system, s.system.c.id == s.slot.c.system)
        .where(s.system.c.rests.is_(None))
    )
    idle = (
        s.task.c.kind.in_(("rate", "check", "repeat")),
        s.task.c.id.not_in(kept), s.task.c.id.not_in(select(s.lease.c.task)),
        s.task.c.wanted > 0,
    )  # fmt: skip
    dropped = [row.id for row in unit.all(select(s.task.c.id).where(*idle))]
    for task in dropped:
        free = s.task.c.free - s.task.c.wanted  # below 0 if another transaction just gave it out
        unit.db.execute(update(s.task).where(s.task.c.id == task).values(wanted=0, free=free))
        unit.note("server", "not-wanted", task, reason="its systems rest")
