"""Storing results and looks as they were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from assay.campaign.store import schema as s
from assay.campaign.store.units.base import SERVER, Unit
from assay.campaign.store.units.holding import drop_resting


def store_look(unit: Unit, look: Mapping[str, Any]) -> bool:
    """Store a look and let systems rest; a look that is stored already stays as it is."""
    _one_at_a_time(unit)
    number = look["number"]
    if unit.one(select(s.look.c.number).where(s.look.c.number == number)) is not None:
        return False
    row = {name: look[name] for name in ("number", "n", "at", "result", "verdict", "seen")}
    unit.db.execute(insert(s.look).values(**row, signature=f"look|{number}|n:{look['n']}"))
    unit.note(SERVER, "look", number, n=look["n"], **look["verdict"])
    for name in look["rest"]:
        own = (s.system.c.name == name) & s.system.c.rests.is_(None)
        if unit.db.execute(update(s.system).where(own).values(rests=number)).rowcount:
            unit.note(SERVER, "rests", name, look=number, reason="every difference is decided")
    if look["rest"]:
        drop_resting(unit)
    return True


def store_live(
    unit: Unit, basis: str, result: str, sets: Sequence[Sequence[str]] | None = None
) -> int:
    """Store the newest result in place of the one before and return its number."""
    _one_at_a_time(unit)
    before = unit.one(select(s.live.c.number))
    number = 1 if before is None else before.number + 1
    values = {"number": number, "at": unit.now, "basis": basis, "result": result, "sets": sets}
    if before is None:
        unit.db.execute(insert(s.live).values(id=1, **values))
    else:
        unit.db.execute(update(s.live).values(**values))
    return number


def _one_at_a_time(unit: Unit) -> None:
    """Let one transaction at a time store a result."""
    unit.db.execute(select(s.campaign.c.id).with_for_update())
