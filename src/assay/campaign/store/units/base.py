"""What every transaction has at hand, and the changes that several of them make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from assay.campaign.protocols.base import Protocol
from assay.campaign.records import NotNowError, NotYoursError, Shown
from assay.campaign.store import schema as s
from assay.project.settings import Settings

Record = Row[Any]
MOST_REMEMBERED = 2000


@dataclass
class Rules:
    """What does not change while a campaign runs; what was shown is remembered here."""

    name: str
    settings: Settings
    protocol: Protocol
    seed: int
    languages: tuple[str | None, str | None]
    instructions: str | None = None
    instructions_hash: str | None = None
    has_marks: bool = False
    views: dict[str, Shown] = field(default_factory=dict)
    minutes: tuple[int, float] = (0, 0.0)
    """When the time of a lease was last computed, and the minutes per output."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction."""

    db: Connection
    now: int
    rules: Rules

    def one(self, statement: Any) -> Record | None:
        """The first row, if there is one."""
        return self.db.execute(statement).first()

    def all(self, statement: Any) -> list[Record]:
        """All rows."""
        return list(self.db.execute(statement).all())

    def count(self, statement: Any) -> int:
        """A single number."""
        return int(self.db.execute(statement).scalar_one() or 0)

    def note(self, actor: str, kind: str, subject: object, **body: object) -> None:
        """Append to the events: who did what to whom."""
        self.db.execute(insert(s.event).values(
            at=self.now, actor=actor, kind=kind, subject=str(subject), body=body
        ))  # fmt: skip

    @property
    def state(self) -> str:
        """The state of the campaign."""
        return str(self.db.execute(select(s.campaign.c.state)).scalar_one())

    def rater(self, number: int) -> Record:
        """A rater, theirs alone until the transaction ends; refused if they were left out."""
        found = self.one(select(s.rater).where(s.rater.c.id == number).with_for_update())
        if found is None:
            raise NotYoursError("nobody has this link any more; ask the organisers for another")
        if found.state != "active":
            raise NotNowError(
                "your work in this campaign has ended; what you sent is kept. Write to the"
                " organisers if this comes as a surprise"
            )
        return found

    def lease(self, rater: int, lease: str) -> Record:
        """A lease of this rater."""
        wanted = select(s.lease).where(s.lease.c.id == lease).with_for_update()
        found = self.one(wanted)
        if found is None or found.rater != rater:
            raise NotYoursError("you have no such task; reload the page")
        return found

    def set_lease(self, lease: Record, actor: str, **changes: Any) -> None:
        """Change a lease, write that down, and count the free copies of its task again."""
        self.db.execute(update(s.lease).where(s.lease.c.id == lease.id).values(**changes))
        self.log_lease(lease.id, actor)
        self.recount(lease.task)

    def log_lease(self, lease: str, actor: str, **more: object) -> None:
        """Write down how a lease stands, so that it can be made again from events alone."""
        row = self.one(select(s.lease).where(s.lease.c.id == lease))
        assert row is not None
        self.note(actor, "lease", lease, **row._asdict(), **more)

    def recount(self, task: int) -> None:
        """How many copies of a task nobody holds."""
        held = (
            select(func.count())
            .select_from(s.lease)
            .where(s.lease.c.task == task, s.HELD)
            .scalar_subquery()
        )
        free = s.task.c.wanted - held
        self.db.execute(update(s.task).where(s.task.c.id == task).values(free=free))

    def free_copy(self, task: int) -> int | None:
        """The first copy of a task that nobody holds."""
        wanted = self.db.execute(select(s.task.c.wanted).where(s.task.c.id == task)).scalar_one()
        held = {
            row.copy
            for row in self.all(select(s.lease.c.copy).where(s.lease.c.task == task, s.HELD))
        }
        return next((copy for copy in range(wanted) if copy not in held), None)
