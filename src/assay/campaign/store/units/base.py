"""What every transaction has at hand, and the changes that several of them make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, func, insert, select, update

from assay.campaign.protocols.base import Protocol
from assay.campaign.records import NotNowError, NotYoursError, Shown
from assay.campaign.store import schema as s
from assay.project.settings import Settings

Record = Row[Any]
MOST_REMEMBERED = 2000


@dataclass(frozen=True, slots=True)
class View:
    """What a lease shows, and under which hash every output that is judged is stored."""

    shown: Shown
    hashes: dict[tuple[str, int], str]


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
    kinds: frozenset[str] = frozenset()
    """The kinds of tasks that there are."""
    views: dict[str, View] = field(default_factory=dict)
    minutes: tuple[int, float] = (0, 0.0)
    """When the time of a lease was last computed, and the minutes per output."""
    refused: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Who sent what was refused: the minute since 1970 of the last, and how many in it."""


WHICH: BindParameter[Any] = bindparam("which")
CAMPAIGN_STATE = select(s.campaign.c.state)
RATER = select(s.rater).where(s.rater.c.id == WHICH).with_for_update()
LEASE = select(s.lease).where(s.lease.c.id == WHICH).with_for_update()
WANTED = select(s.task.c.wanted).where(s.task.c.id == WHICH)
LOCK_TASK = select(s.task.c.id).where(s.task.c.id == WHICH).with_for_update()
HELD_COPIES = select(s.lease.c.copy).where(s.lease.c.task == WHICH, s.HELD)
RECOUNT = (
    update(s.task)
    .where(s.task.c.id == WHICH)
    .values(
        free=s.task.c.wanted
        - select(func.count())
        .select_from(s.lease)
        .where(s.lease.c.task == WHICH, s.HELD)
        .scalar_subquery()
    )
)
ADD_EVENT = insert(s.event)


@dataclass(frozen=True, slots=True)
class Unit:
    """One transaction."""

    db: Connection
    now: int
    rules: Rules

    def one(self, statement: Any, **values: object) -> Record | None:
        """The first row, if there is one."""
        return self.db.execute(statement, values).first()

    def all(self, statement: Any, **values: object) -> list[Record]:
        """All rows."""
        return list(self.db.execute(statement, values).all())

    def count(self, statement: Any, **values: object) -> int:
        """A single number."""
        return int(self.db.execute(statement, values).scalar_one() or 0)

    def note(self, actor: str, kind: str, subject: object, **body: object) -> None:
        """Append to the events: who did what to whom."""
        self.db.execute(ADD_EVENT, {
            "at": self.now, "actor": actor, "kind": kind, "subject": str(subject), "body": body,
        })  # fmt: skip

    @property
    def state(self) -> str:
        """The state of the campaign."""
        return str(self.db.execute(CAMPAIGN_STATE).scalar_one())

    def need_running(self) -> str:
        """The state of the campaign, in which something may be sent."""
        state = self.state
        if state == "closed":
            raise NotNowError("the campaign is closed and takes no more answers; keep your text")
        if state == "draft":
            raise NotNowError("the campaign has not begun yet; try again later")
        return state

    def rater(self, number: int) -> Record:
        """A rater, theirs alone until the transaction ends; refused if they were left out."""
        found = self.one(RATER, which=number)
        if found is None:
            raise NotYoursError("nobody has this link any more; ask the organisers for another")
        if found.state != "active":
            raise NotNowError(
                "your work in this campaign has ended; what you sent is kept. Write to the"
                " organisers if this comes as a surprise",
                self.rules.settings.crowd.screened_out,
            )
        return found

    def lease(self, rater: int, lease: str) -> Record:
        """A lease of this rater."""
        found = self.one(LEASE, which=lease)
        if found is None or found.rater != rater:
            raise NotYoursError("you have no such task; reload the page")
        return found

    def set_lease(self, lease: Record, actor: str, **changes: Any) -> Record:
        """Change a lease, write that down, and count the free copies of its task again."""
        self.db.execute(update(s.lease).where(s.lease.c.id == lease.id).values(**changes))
        return self.log_lease(lease.id, actor)

    def log_lease(self, lease: str, actor: str, **more: object) -> Record:
        """Write down how a lease stands, so that it can be made again from events alone."""
        row = self.one(LEASE, which=lease)
        assert row is not None
        self.note(actor, "lease", lease, **row._asdict(), **more)
        # Only a statement that begins when the task is ours sees what others did to it before.
        self.db.execute(LOCK_TASK, {"which": row.task})
        self.db.execute(RECOUNT, {"which": row.task})
        return row

    def free_copy(self, task: int) -> int | None:
        """The first copy of a task that nobody holds."""
        held = {row.copy for row in self.all(HELD_COPIES, which=task)}
        copies = range(self.count(WANTED, which=task))
        return next((copy for copy in copies if copy not in held), None)
