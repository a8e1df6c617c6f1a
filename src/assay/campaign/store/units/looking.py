"""Results and looks, stored as they were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from assay.campaign.records import LookSeen
from assay.campaign.store import schema as s
from assay.campaign.store.units.base import Unit

SERVER = "server"


def store_look(
    unit: Unit, number: int, n: int, at: int, result: Mapping[str, Any], seen: LookSeen,
    verdict: Mapping[str, Any], rest: Sequence[str],
) -> bool:  # fmt: skip
    """Keep a look, and let systems rest; whoever computed it second changes nothing."""
    _one_at_a_time(unit)
    if unit.one(select(s.look.c.number).where(s.look.c.number == number)) is not None:
        return False
    unit.db.execute(insert(s.look).values(
        number=number, n=n, at=at, result=result, signature=f"look|{number}|n:{n}", verdict=verdict,
        seen={"sent": sorted(seen.sent), "excluded": sorted(seen.excluded)},
    ))  # fmt: skip
    unit.note(SERVER, "look", number, n=n, **verdict)
    for name in rest:
        own = (s.system.c.name == name) & s.system.c.rests.is_(None)
        if unit.db.execute(update(s.system).where(own).values(rests=number)).rowcount:
            why = "every difference to it is decided"
            unit.note(SERVER, "rests", name, look=number, reason=why)
    return True


def store_live(
    unit: Unit, basis: str, result: str, sets: Sequence[Sequence[str]] | None = None
) -> int:
    """Keep the newest result in place of the one before; its number."""
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
    """Whoever stores a result does so alone until the transaction ends."""
    unit.db.execute(select(s.campaign.c.id).with_for_update())
